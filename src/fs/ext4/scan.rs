//! Reads inodes from their tables: all of a group in order, or one.

use std::io;

use super::{RawInode, RawVolume, damaged};

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
