//! The blocks of a directory: from a tree of extents, or from the block map of ext2 and ext3.

use std::io;

use super::{Budget, RawInode, RawVolume, damaged, u16_at, u32_at, wide};

/// Adjacent blocks, in the order of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first block.
    pub start: u64,
    /// The number of blocks.
    pub count: u64,
}

/// The blocks of the directory `inode`, in order. They, and the blocks of its map, are taken from `budget`.
///
/// # Errors
/// The system's, and an error if the map is damaged.
pub fn runs(volume: &RawVolume, inode: &RawInode<'_>, budget: &Budget) -> io::Result<Vec<Run>> {
    let length = inode.length(&volume.layout);
    let map = BlockMap {
        volume,
        budget,
        blocks: length.div_ceil(volume.layout.block_size),
        runs: Vec::new(),
    };
    if inode.has_extents() { map.extents(inode.map()) } else { map.pointers(inode.map()) }
}

impl Run {
    /// The block after the last one.
    pub(super) fn end(&self) -> u64 {
        self.start + self.count
    }
}

/// A gap that is faster to read than to skip, in bytes.
pub const GAP: u64 = 64 << 10;

/// `runs` in the order of the device, joined across gaps of so many blocks.
pub fn joined(mut runs: Vec<Run>, gap: u64) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::new();
    runs.sort_unstable_by_key(|run| run.start);
    for run in runs {
        match joined.last_mut() {
            Some(last) if run.start <= last.end() + gap => {
                last.count = last.count.max(run.end() - last.start);
            }
            _ => joined.push(run),
        }
    }
    joined
}

/// No more runs than this are collected, of 16 bytes each, so that a damaged file system cannot take all memory. A file
/// system with 8 million directories has so many.
pub const MOST_RUNS: usize = 1 << 23;

/// No more runs than this are collected of one directory. One of 64 MiB, the largest that is listed in bulk, has 65,536 at
/// most.
const MOST_RUNS_OF_ONE: usize = 1 << 20;

struct BlockMap<'a> {
    volume: &'a RawVolume,
    budget: &'a Budget,
    /// The number of blocks that the directory's length stands for.
    blocks: u64,
    runs: Vec<Run>,
}

/// A block of a map that has to be read, with so many levels below it. It maps the directory from block number `from`
/// on.
struct MapBlock {
    block: u64,
    levels: u16,
    from: u64,
}

impl BlockMap<'_> {
    /// Reads the tree of extents with this `root` (ext4_extent_header, ext4_extent_idx, ext4_extent).
    fn extents(mut self, root: &[u8]) -> io::Result<Vec<Run>> {
        /// 2^32 blocks need no more levels (EXT4_MAX_EXTENT_DEPTH).
        const MOST_LEVELS: u16 = 5;
        let levels = u16_at(root, 6);
        if levels > MOST_LEVELS {
            return Err(damaged("a tree of extents with too many levels"));
        }
        // A stack, so the first one comes last.
        let mut ahead = Vec::new();
        self.extent_node(root, levels, 0, &mut ahead)?;
        let mut bytes = Vec::new();
        while let Some(MapBlock { block, levels, from }) = ahead.pop() {
            self.budget.take(1)?;
            bytes.resize(self.block_size(), 0);
            self.volume.read_blocks(block, &mut bytes)?;
            self.extent_node(&bytes, levels, from, &mut ahead)?;
        }
        Ok(self.runs)
    }

    fn extent_node(
        &mut self,
        bytes: &[u8],
        levels: u16,
        mut from: u64,
        ahead: &mut Vec<MapBlock>,
    ) -> io::Result<()> {
        const MAGIC: u16 = 0xf30a;
        const ENTRY: usize = 12;
        /// A greater length means blocks that were never written.
        const LONGEST: u64 = 32_768;
        let count = usize::from(u16_at(bytes, 2));
        let entries = bytes.get(ENTRY..).unwrap_or_default().chunks_exact(ENTRY);
        if u16_at(bytes, 0) != MAGIC || u16_at(bytes, 6) != levels || count > entries.len() {
            return Err(damaged("a node of a tree of extents"));
        }
        let first = ahead.len();
        for entry in entries.take(count) {
            let logical = u64::from(u32_at(entry, 0));
            if logical < from {
                return Err(damaged("extents in the wrong order"));
            }
            if levels > 0 {
                let block = wide(u16_at(entry, 8).into(), u32_at(entry, 4));
                ahead.push(MapBlock { block, levels: levels - 1, from: logical });
                from = logical + 1;
                continue;
            }
            let start = wide(u16_at(entry, 6).into(), u32_at(entry, 8));
            let length = u64::from(u16_at(entry, 4));
            let length = if length > LONGEST { length - LONGEST } else { length };
            self.push(Run { start, count: length.min(self.blocks.saturating_sub(logical)) })?;
            from = logical + length;
        }
        ahead[first..].reverse();
        Ok(())
    }

    /// Reads a block map: twelve pointers to blocks, and one pointer each to a single, double and triple indirect block.
    fn pointers(mut self, root: &[u8]) -> io::Result<Vec<Run>> {
        const DIRECT: u64 = 12;
        const LEVELS: u16 = 3;
        let a_block = self.block_size() as u64 / 4;
        let mut ahead = Vec::new();
        let mut from = DIRECT;
        for levels in 0..LEVELS {
            let block = u32_at(root, 4 * (DIRECT as usize + usize::from(levels)));
            ahead.push(MapBlock { block: block.into(), levels, from });
            from += a_block.pow(u32::from(levels) + 1);
        }
        ahead.reverse();
        for number in 0..DIRECT.min(self.blocks) {
            self.pointer(u32_at(root, 4 * number as usize).into())?;
        }
        let mut bytes = Vec::new();
        while let Some(MapBlock { block, levels, from }) = ahead.pop() {
            if block == 0 || from >= self.blocks {
                continue;
            }
            self.budget.take(1)?;
            bytes.resize(self.block_size(), 0);
            self.volume.read_blocks(block, &mut bytes)?;
            let reach = a_block.pow(levels.into());
            let numbered =
                (0..a_block).map(|i| (from + i * reach, u32_at(&bytes, 4 * i as usize).into()));
            let within = numbered.take_while(|(from, _)| *from < self.blocks);
            let within: Vec<(u64, u64)> = within.filter(|(_, block)| *block != 0).collect();
            match levels.checked_sub(1) {
                None => within.into_iter().try_for_each(|(_, block)| self.pointer(block))?,
                Some(levels) => {
                    let below = within.into_iter().rev();
                    ahead.extend(below.map(|(from, block)| MapBlock { block, levels, from }));
                }
            }
        }
        Ok(self.runs)
    }

    /// Adds one block. 0 is a hole.
    fn pointer(&mut self, block: u64) -> io::Result<()> {
        if block == 0 { Ok(()) } else { self.push(Run { start: block, count: 1 }) }
    }

    fn push(&mut self, run: Run) -> io::Result<()> {
        let Run { start, count } = run;
        if count == 0 {
            return Ok(());
        }
        if start == 0 || start.checked_add(count).is_none_or(|end| end > self.volume.layout.blocks)
        {
            return Err(damaged("a block of a directory beyond its end"));
        }
        self.budget.take(count)?;
        match self.runs.last_mut() {
            Some(last) if last.start + last.count == start => last.count += count,
            _ => self.runs.push(run),
        }
        if self.runs.len() > MOST_RUNS_OF_ONE {
            return Err(damaged("a directory in too many pieces"));
        }
        Ok(())
    }

    fn block_size(&self) -> usize {
        self.volume.layout.block_size as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_gaps_are_read() {
        let runs = |runs: &[(u64, u64)]| -> Vec<Run> {
            runs.iter().map(|&(start, count)| Run { start, count }).collect()
        };
        let found = joined(runs(&[(5, 2), (6, 1), (20, 4), (23, 9), (49, 1), (70, 1)]), GAP / 4096);
        assert_eq!(found, runs(&[(5, 27), (49, 1), (70, 1)]));
        let all = joined(runs(&[(5, 2), (23, 1), (40, 1)]), GAP / 4096);
        assert_eq!(all, runs(&[(5, 36)]));
    }
}
