//! Inodes in their tables: all of a group in the order in which they lie, or one.

use std::io;

use super::{RawInode, Volume, damaged};

/// So much of a table is read at a time, in bytes.
const CHUNK: usize = 1 << 20;

/// Lets `look` see the inodes of the group with this number that have ever been used, with their numbers, and
/// those that are free among them. Reads through `buffer`. Says how many bytes were read.
///
/// # Errors
/// The system's, what is damaged, and those of `look`.
pub(in crate::sys) fn each_inode(
    volume: &Volume,
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
        // Up to the end of a block: what is after the last inode there was never used.
        let whole = some.next_multiple_of(layout.block_size as usize);
        buffer.resize(whole, 0);
        volume.read_blocks(block, buffer)?;
        for bytes in buffer[..some].chunks_exact(size) {
            look(number, RawInode::new(bytes))?;
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
/// The system's, and what is damaged.
pub(in crate::sys) fn inode<'b>(
    volume: &Volume,
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
    Ok(RawInode::new(buffer))
}
