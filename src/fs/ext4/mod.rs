//! Reads ext2, ext3 and ext4 from their device: inode tables and the blocks of directories, in the order in which they
//! are stored.
//!
//! * `layout`: the superblock and the group descriptors.
//! * `inode`: one inode, as stat(2) returns it.
//! * `map`: the blocks of a directory, from extents or from the older block map.
//! * `directory`: the names in a block.
//! * `sound`: whether the kernel may refuse an inode.
//! * `packed_inodes`: the attributes of all inodes, packed.
//!
//! Written from Documentation/filesystems/ext4 and fs/ext4 of Linux 6.18. The device is never written. If the
//! file system is mounted, reads see the kernel's cache of the device.
//!
//! This part imports nothing else of weigh, and could be a crate of its own.
//!
//! Nothing that is read is trusted. Every offset is checked, trees have a limit of levels, and each reference to
//! blocks is charged to a [`Budget`]: a block belongs to one directory, so all directories together have no more blocks
//! than the device. On an error the caller asks the kernel instead.

mod directory;
mod inode;
mod layout;
mod map;
mod packed_inodes;
mod sound;

use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Advice, fadvise};
use rustix::io::{ReadWriteFlags, pread, preadv2, retry_on_intr};

use super::{u16_at, u32_at};

pub use directory::{DirectoryEntry, entries};
pub use inode::{Attributes, RawInode};
pub use layout::{InodeTables, Layout};
pub use map::{GAP, MOST_RUNS, Run, joined, runs};
pub use packed_inodes::{InodePacker, Kept, PackedInodes};

/// The inode number of the root directory.
pub const ROOT: u64 = 2;

/// No name leads to inodes up to this one, except that of the root.
pub const RESERVED: u64 = 10;

/// That of the journal.
const JOURNAL: u64 = 8;

/// A device, or a file, with a file system on it.
#[derive(Debug)]
pub struct RawVolume {
    device: File,
    /// What its superblock says.
    pub layout: Layout,
    /// Where its inodes are.
    pub groups: InodeTables,
}

/// How many more blocks directories may have.
#[derive(Debug)]
pub struct Budget(AtomicU64);

impl RawVolume {
    /// The file system on `device`.
    ///
    /// # Errors
    /// The system's, and an error if the file system is damaged or has features that are not known here.
    pub fn open(device: File) -> io::Result<Self> {
        let layout = Layout::read(&device)?;
        let groups = InodeTables::read(&device, &layout)?;
        let mut volume = Self { device, layout, groups };
        let mut buffer = Vec::new();
        let journal = inode(&volume, JOURNAL, &mut buffer);
        let journal = journal.and_then(|raw| runs(&volume, &raw, &volume.budget()));
        // If it is damaged, the kernel protects none of it either.
        let own = volume.groups.tables.iter().copied().chain(journal.unwrap_or_default());
        volume.groups.own = joined(own.collect(), 0);
        Ok(volume)
    }

    /// Whether files may have these blocks: the file system does not need them for itself (ext4_inode_block_valid).
    fn has_data_at(&self, start: u64, count: u64) -> bool {
        let Some(end) = start.checked_add(count) else { return false };
        let before = self.groups.own.partition_point(|own| own.start < end);
        let is_own = before > 0 && start < self.groups.own[before - 1].end();
        count > 0 && start > self.layout.first_data_block && end <= self.layout.blocks && !is_own
    }

    /// Tells the kernel how these bytes of the device will be read; without a `length`, all from `start` on. Only
    /// advice, so an error does not matter.
    pub fn advise(&self, start: u64, length: Option<NonZeroU64>, advice: Advice) {
        let _ = fadvise(&self.device, start, length, advice);
    }

    /// Fills `buffer` from block number `block` on.
    pub fn read_blocks(&self, block: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read_at(block, 0, buffer)
    }

    /// Fills `buffer` from `offset` bytes after the beginning of `block` on. `read_exact_at` would call libc's pread,
    /// which is a cancellation point, and that alone took 3 % of the CPU time of a warm run.
    fn read_at(&self, block: u64, offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        let start = block.checked_mul(self.layout.block_size).and_then(|at| at.checked_add(offset));
        let end = start.and_then(|start| start.checked_add(buffer.len() as u64));
        let Some(mut start) = start.filter(|_| end.is_some_and(|end| end <= self.layout.bytes()))
        else {
            return Err(damaged("a block beyond its end"));
        };
        while !buffer.is_empty() {
            let read = retry_on_intr(|| pread(&self.device, &mut *buffer, start))?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            buffer = &mut buffer[read..];
            start += read as u64;
        }
        Ok(())
    }

    /// Whether `block` can be read without waiting for the device.
    pub fn is_cached(&self, block: u64) -> bool {
        let mut byte = [0];
        let (mut buffers, start) = ([IoSliceMut::new(&mut byte)], block * self.layout.block_size);
        preadv2(&self.device, &mut buffers, start, ReadWriteFlags::NOWAIT).is_ok()
    }

    /// A budget for all blocks of all directories.
    pub fn budget(&self) -> Budget {
        Budget(AtomicU64::new(self.layout.blocks))
    }
}

impl Budget {
    /// Takes `blocks` from it. Relaxed, because it is only a bound and guards no other data.
    pub fn take(&self, blocks: u64) -> io::Result<()> {
        let order = Ordering::Relaxed;
        let taken = self.0.fetch_update(order, order, |left| left.checked_sub(blocks));
        taken.map(drop).map_err(|_| damaged("more blocks of directories than it has"))
    }
}

/// The error for a damaged file system.
pub fn damaged(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the file system is damaged: {what}"))
}

/// The number with these upper and lower 32 bits.
fn wide(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

// What the file system needs for itself, block by block.

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

// Reads inodes from their tables: all of a group in order, or one.

/// How much of a table is read at a time, in bytes.
const CHUNK: usize = 1 << 20;

/// Calls `look` with the number of each inode in the used part of a group's table, and with the inode. Some of these
/// are free. Reads into `buffer`, and returns how many bytes were read.
///
/// # Errors
/// The system's, an error if the table is damaged, and those of `look`.
pub fn each_inode(
    volume: &RawVolume,
    group: usize,
    buffer: &mut Vec<u8>,
    mut look: impl FnMut(u64, RawInode<'_>) -> io::Result<()>,
) -> io::Result<u64> {
    let layout = &volume.layout;
    let Some(found) = volume.groups.groups.get(group) else { return Ok(0) };
    let (size, mut number) = (layout.inode_size, 1 + group as u64 * layout.inodes_per_group);
    let (mut left, mut block) = (found.used * size as u64, found.table);
    let total = left;
    while left > 0 {
        let some = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        // Up to the end of a block. What follows the last inode there was never used.
        let whole = some.next_multiple_of(layout.block_size as usize);
        buffer.resize(whole, 0);
        volume.read_blocks(block, buffer)?;
        for bytes in buffer[..some].chunks_exact(size) {
            look(number, RawInode { bytes })?;
            number += 1;
        }
        block += whole as u64 / layout.block_size;
        left -= some as u64;
    }
    Ok(total)
}

/// Reads the inode with this number into `buffer`.
///
/// # Errors
/// The system's, and an error if there is no such inode.
pub fn inode<'b>(
    volume: &RawVolume,
    number: u64,
    buffer: &'b mut Vec<u8>,
) -> io::Result<RawInode<'b>> {
    let layout = &volume.layout;
    let index = number.checked_sub(1).ok_or_else(|| damaged("the number of an inode"))?;
    let (group, within) = (index / layout.inodes_per_group, index % layout.inodes_per_group);
    let group = usize::try_from(group).ok().and_then(|group| volume.groups.groups.get(group));
    let table = group.ok_or_else(|| damaged("the number of an inode"))?.table;
    let at = within * layout.inode_size as u64;
    buffer.resize(layout.inode_size, 0);
    volume.read_at(table, at, buffer)?;
    Ok(RawInode { bytes: buffer })
}

#[cfg(test)]
mod tests;
