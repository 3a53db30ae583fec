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
    let size = volume.layout.block_size;
    let blocks = inode.length(&volume.layout).div_ceil(size);
    let mut map = BlockMap { volume, budget, blocks, runs: Vec::new(), ahead: Vec::new() };
    match inode.has_extents() {
        true => map.extents(inode.map(), extent_levels(inode.map()), 0)?,
        false => map.all_pointers(inode.map())?,
    }
    let mut bytes = Vec::new();
    while let Some(MapBlock { block, levels, from }) = map.ahead.pop() {
        budget.take(1)?;
        bytes.resize(size as usize, 0);
        volume.read_blocks(block, &mut bytes)?;
        match inode.has_extents() {
            true => map.extents(&bytes, levels, from)?,
            false => map.pointers(&bytes, levels, from)?,
        }
    }
    Ok(map.runs)
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

/// No more runs than this are collected of one directory. One of 64 MiB, the largest that is listed in bulk, has 65,536
/// at most.
const MOST_RUNS_OF_ONE: usize = 1 << 20;

struct BlockMap<'a> {
    volume: &'a RawVolume,
    budget: &'a Budget,
    /// The number of blocks that the directory's length stands for.
    blocks: u64,
    runs: Vec<Run>,
    /// The blocks of the map that have to be read: a stack, so the first one is last.
    ahead: Vec<MapBlock>,
}

/// A block of a map that has to be read, with so many levels below it. It maps the directory from block number `from`
/// on.
struct MapBlock {
    block: u64,
    levels: u16,
    from: u64,
}

impl BlockMap<'_> {
    /// Takes what is in a node of a tree of extents.
    fn extents(&mut self, node: &[u8], levels: u16, mut from: u64) -> io::Result<()> {
        let entries = extent_entries(node).filter(|_| extent_levels(node) == levels);
        let first = self.ahead.len();
        for (logical, run) in entries.ok_or_else(|| damaged("a node of a tree of extents"))? {
            if logical < from || !self.volume.has_data_at(run.start, run.count) {
                return Err(damaged("an extent of a directory"));
            }
            from = logical + run.count;
            match levels.checked_sub(1) {
                Some(levels) => {
                    self.ahead.push(MapBlock { block: run.start, levels, from: logical });
                }
                None => {
                    let count = run.count.min(self.blocks.saturating_sub(logical));
                    self.push(Run { count, ..run })?;
                }
            }
        }
        self.ahead[first..].reverse();
        Ok(())
    }

    /// Takes what is in a block map: twelve pointers to blocks, and one pointer each to a single, double and triple
    /// indirect block.
    fn all_pointers(&mut self, root: &[u8]) -> io::Result<()> {
        const DIRECT: usize = 12;
        let (direct, indirect) = root.split_at_checked(4 * DIRECT).unwrap_or_default();
        self.pointers(direct, 0, 0)?;
        let mut from = DIRECT as u64;
        for (levels, pointer) in (1..).zip(indirect.chunks_exact(4)) {
            self.pointers(pointer, levels, from)?;
            from += self.reach(levels);
        }
        self.ahead.reverse();
        Ok(())
    }

    /// Takes these `pointers`, with so many levels of them below. 0 is a hole.
    fn pointers(&mut self, pointers: &[u8], levels: u16, from: u64) -> io::Result<()> {
        let first = self.ahead.len();
        for (i, pointer) in (0..).zip(pointers.chunks_exact(4)) {
            let (from, block) = (from + i * self.reach(levels), u32_at(pointer, 0).into());
            if block == 0 {
                continue;
            }
            if !self.volume.has_data_at(block, 1) {
                return Err(damaged("a block of a directory"));
            }
            if from >= self.blocks {
                continue;
            }
            match levels.checked_sub(1) {
                Some(levels) => self.ahead.push(MapBlock { block, levels, from }),
                None => self.push(Run { start: block, count: 1 })?,
            }
        }
        self.ahead[first..].reverse();
        Ok(())
    }

    /// How many blocks of the directory a pointer with so many levels below it stands for.
    fn reach(&self, levels: u16) -> u64 {
        (self.volume.layout.block_size / 4).pow(levels.into())
    }

    fn push(&mut self, run: Run) -> io::Result<()> {
        let Run { start, count } = run;
        if count == 0 {
            return Ok(());
        }
        self.budget.take(count)?;
        match self.runs.last_mut() {
            Some(last) if last.end() == start => last.count += count,
            _ => self.runs.push(run),
        }
        if self.runs.len() > MOST_RUNS_OF_ONE {
            return Err(damaged("a directory in too many pieces"));
        }
        Ok(())
    }
}

/// How many levels are below this node of a tree of extents.
fn extent_levels(node: &[u8]) -> u16 {
    u16_at(node, 6)
}

/// The entries of a node of a tree of extents (ext4_extent_header): the number of the first block of the directory that
/// each maps, and the extent (ext4_extent), or the node below (ext4_extent_idx). None if the node is damaged
/// (fs/ext4/extents.c, __ext4_ext_check).
pub(super) fn extent_entries(node: &[u8]) -> Option<impl Iterator<Item = (u64, Run)>> {
    const MAGIC: u16 = 0xf30a;
    const ENTRY: usize = 12;
    /// 2^32 blocks need no more levels (EXT4_MAX_EXTENT_DEPTH).
    const MOST_LEVELS: u16 = 5;
    /// A greater length means blocks that were never written.
    const LONGEST: u64 = 32_768;
    let [magic, count, most] = [0, 2, 4].map(|at| u16_at(node, at));
    let levels = extent_levels(node);
    let room = (node.len() / ENTRY).saturating_sub(1);
    let is_sound = magic == MAGIC
        && levels <= MOST_LEVELS
        && (1..=room).contains(&most.into())
        && count <= most
        && (count > 0 || levels == 0);
    let entries = node.chunks_exact(ENTRY).skip(1).take(count.into()).map(move |entry| {
        let logical = u32_at(entry, 0).into();
        if levels > 0 {
            let start = wide(u16_at(entry, 8).into(), u32_at(entry, 4));
            return (logical, Run { start, count: 1 });
        }
        let start = wide(u16_at(entry, 6).into(), u32_at(entry, 8));
        let length = u64::from(u16_at(entry, 4));
        let count = if length > LONGEST { length - LONGEST } else { length };
        (logical, Run { start, count })
    });
    is_sound.then_some(entries)
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
