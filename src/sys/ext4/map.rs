//! Which blocks a directory has: a tree of extents, or the block map of ext2 and ext3.

use std::io;

use super::{Budget, RawInode, Volume, damaged, u16_at, u32_at, wide};

/// Blocks that lie one after the other, as they follow one another in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sys) struct Run {
    /// The first.
    pub(in crate::sys) start: u64,
    /// How many.
    pub(in crate::sys) count: u64,
}

/// The blocks of the directory `inode`, in order, at the cost of `budget`: what it refers to, and what it takes to
/// find that.
///
/// # Errors
/// The system's, and what is damaged.
pub(in crate::sys) fn runs(
    volume: &Volume,
    inode: &RawInode<'_>,
    budget: &Budget,
) -> io::Result<Vec<Run>> {
    let length = inode.length(&volume.layout);
    let map =
        Map { volume, budget, blocks: length.div_ceil(volume.layout.block_size), runs: Vec::new() };
    if inode.has_extents() { map.extents(inode.map()) } else { map.pointers(inode.map()) }
}

/// `runs`, sorted, where gaps that take less time to read than to pass over are read, too.
pub(in crate::sys) fn joined(mut runs: Vec<Run>, block_size: u64) -> Vec<Run> {
    /// In bytes.
    const GAP: u64 = 64 << 10;
    let mut joined: Vec<Run> = Vec::new();
    runs.sort_unstable_by_key(|run| run.start);
    for run in runs {
        let end = run.start + run.count;
        match joined.last_mut() {
            Some(last) if run.start <= last.start + last.count + GAP / block_size => {
                last.count = last.count.max(end - last.start);
            }
            _ => joined.push(run),
        }
    }
    joined
}

struct Map<'a> {
    volume: &'a Volume,
    budget: &'a Budget,
    /// How many blocks the directory has by its length.
    blocks: u64,
    runs: Vec<Run>,
}

/// A part of a map that is to be looked at: a block with so many levels below it, for what is from the block
/// number `from` on.
struct Node {
    block: u64,
    levels: u16,
    from: u64,
}

impl Map<'_> {
    /// A tree of extents begins with `root` (ext4_extent_header, ext4_extent_idx, ext4_extent).
    fn extents(mut self, root: &[u8]) -> io::Result<Vec<Run>> {
        /// More levels than 2^32 blocks need (EXT4_MAX_EXTENT_DEPTH).
        const MOST_LEVELS: u16 = 5;
        let levels = u16_at(root, 6);
        if levels > MOST_LEVELS {
            return Err(damaged("a tree of extents with too many levels"));
        }
        // The first one last.
        let mut ahead = Vec::new();
        self.extent_node(root, levels, 0, &mut ahead)?;
        let mut bytes = Vec::new();
        while let Some(Node { block, levels, from }) = ahead.pop() {
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
        ahead: &mut Vec<Node>,
    ) -> io::Result<()> {
        const MAGIC: u16 = 0xf30a;
        const ENTRY: usize = 12;
        /// Beyond that, a length says that nothing has been written there.
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
                ahead.push(Node { block, levels: levels - 1, from: logical });
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

    /// Twelve pointers to blocks, and one each to blocks of pointers, of pointers to those, and so on once more.
    fn pointers(mut self, root: &[u8]) -> io::Result<Vec<Run>> {
        const DIRECT: u64 = 12;
        const LEVELS: u16 = 3;
        let a_block = self.block_size() as u64 / 4;
        let mut ahead = Vec::new();
        let mut from = DIRECT;
        for levels in 0..LEVELS {
            let block = u32_at(root, 4 * (DIRECT as usize + usize::from(levels)));
            ahead.push(Node { block: block.into(), levels, from });
            from += a_block.pow(u32::from(levels) + 1);
        }
        ahead.reverse();
        for number in 0..DIRECT.min(self.blocks) {
            self.pointer(u32_at(root, 4 * number as usize).into())?;
        }
        let mut bytes = Vec::new();
        while let Some(Node { block, levels, from }) = ahead.pop() {
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
                    ahead.extend(below.map(|(from, block)| Node { block, levels, from }));
                }
            }
        }
        Ok(self.runs)
    }

    /// Adds one block; 0 is none.
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
        let found = joined(runs(&[(5, 2), (6, 1), (20, 4), (23, 9), (49, 1), (70, 1)]), 4096);
        assert_eq!(found, runs(&[(5, 27), (49, 1), (70, 1)]));
        let all = joined(runs(&[(5, 2), (23, 1), (40, 1)]), 4096);
        assert_eq!(all, runs(&[(5, 36)]));
    }
}
