//! What the file system needs for itself, block by block.

use std::io;

use super::map::{Run, joined};
use super::{JOURNAL, RESERVED, ROOT, RawVolume, damaged, inode};

/// It has the blocks that are reserved for more descriptors, and these count as such.
const RESIZE: u64 = 7;
/// Those of quotas by user and by group.
const QUOTAS: [u64; 2] = [3, 4];

impl RawVolume {
    /// What the file system needs for itself, in bytes, each part by its name. First comes what df leaves out, unless
    /// it is mounted with minixdf.
    ///
    /// # Errors
    /// The system's, and an error if the file system is damaged.
    pub fn own_space(&self) -> io::Result<Vec<(&'static str, u64)>> {
        let layout = &self.layout;
        let named = [ROOT, RESIZE, JOURNAL, QUOTAS[0], QUOTAS[1]];
        let others = (1..=RESERVED).filter(|number| !named.contains(number)).collect::<Vec<_>>();
        let quotas = [QUOTAS[0], QUOTAS[1], layout.project_quotas];
        let tables = self.blocks_of_tables().saturating_mul(layout.block_size);
        let single = layout.single_blocks().saturating_mul(layout.block_size * layout.cluster);
        Ok(vec![
            ("inode tables and bitmaps", tables),
            ("journal", self.bytes_of(&[JOURNAL])?),
            ("reserved inodes", self.bytes_of(&others)?.saturating_add(single)),
            ("quotas", self.bytes_of(&quotas)?),
            ("orphan file", self.bytes_of(&[layout.orphan_file])?),
        ])
    }

    /// What these inodes take. None has the number 0.
    fn bytes_of(&self, inodes: &[u64]) -> io::Result<u64> {
        let (mut buffer, mut sectors) = (Vec::new(), 0_u64);
        for number in inodes.iter().filter(|number| **number != 0) {
            let more = inode(self, *number, &mut buffer)?.sectors(&self.layout);
            sectors = sectors.saturating_add(more);
        }
        let bytes = sectors.saturating_mul(512);
        if bytes > self.layout.bytes() {
            return Err(damaged("the size of an inode"));
        }
        Ok(bytes)
    }

    /// The blocks, in whole clusters, that no inode has.
    fn blocks_of_tables(&self) -> u64 {
        let before = Run { start: 0, count: self.layout.first_data_block };
        let runs = self.groups.tables.iter().chain([&before]).filter(|run| run.count > 0);
        let cluster = self.layout.cluster;
        let clusters = runs.map(|run| {
            let start = run.start / cluster;
            Run { start, count: run.end().div_ceil(cluster) - start }
        });
        let clusters = joined(clusters.collect(), 0);
        clusters.iter().map(|run| run.count).sum::<u64>().saturating_mul(cluster)
    }
}
