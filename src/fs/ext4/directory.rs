//! The names in a block of a directory. The nodes of a hash tree look like blocks without names, so that all blocks are
//! read in the same way.

use std::io;

use rustix::fs::FileType;

use super::layout::ENTRY_TYPES;
use super::{Layout, damaged, u16_at, u32_at};

/// A directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryEntry<'a> {
    /// Its inode number.
    pub inode: u64,
    /// Its type, if entries have one.
    pub file_type: Option<FileType>,
    /// Its name: not `.` or `..`, and without a slash or a NUL.
    pub name: &'a [u8],
}

/// Calls `look` with each entry in a block of a directory.
///
/// # Errors
/// An error if the block is damaged (fs/ext4/dir.c, ext4_check_dir_entry), and those of `look`.
pub fn entries<'a>(
    layout: &Layout,
    block: &'a [u8],
    mut look: impl FnMut(DirectoryEntry<'a>) -> io::Result<()>,
) -> io::Result<()> {
    /// Inode number, length of the entry, length of the name, type.
    const HEAD: usize = 8;
    /// Each has room for a name of one byte.
    const SHORTEST: usize = 12;
    let mut rest = block;
    while !rest.is_empty() {
        let length = length(u16_at(rest, 4), block.len());
        let Some((entry, after)) = rest.split_at_checked(length).filter(|_| length >= SHORTEST)
        else {
            return Err(damaged("the length of an entry of a directory"));
        };
        if !length.is_multiple_of(4) {
            return Err(damaged("where an entry of a directory begins"));
        }
        rest = after;
        let inode = u64::from(u32_at(entry, 0));
        let lengths = u16_at(entry, 6);
        // Without a type in entries, the kernel does not look at the upper byte either.
        let has_type = layout.incompatible & ENTRY_TYPES != 0;
        let file_type = if has_type { file_type(lengths >> 8) } else { None };
        let Some(name) = entry[HEAD..].get(..usize::from(lengths & 0xff)) else {
            return Err(damaged("the length of a name"));
        };
        if inode == 0 {
            continue;
        }
        if name.is_empty() || inode > layout.inodes {
            return Err(damaged("an entry of a directory"));
        }
        if name == b"." || name == b".." {
            continue;
        }
        if name.iter().any(|byte| matches!(byte, 0 | b'/')) {
            return Err(damaged("a name"));
        }
        look(DirectoryEntry { inode, file_type, name })?;
    }
    Ok(())
}

/// The length of an entry. In blocks of 64 KiB it needs more than 16 bits (fs/ext4/ext4.h, ext4_rec_len_from_disk).
fn length(stored: u16, block: usize) -> usize {
    let stored = usize::from(stored);
    if block < 1 << 16 {
        return stored;
    }
    match stored {
        0 | 0xffff => block,
        stored => stored & 0xfffc | (stored & 3) << 16,
    }
}

/// The type with this number in an entry.
fn file_type(number: u16) -> Option<FileType> {
    Some(match number {
        1 => FileType::RegularFile,
        2 => FileType::Directory,
        3 => FileType::CharacterDevice,
        4 => FileType::BlockDevice,
        5 => FileType::Fifo,
        6 => FileType::Socket,
        7 => FileType::Symlink,
        _ => return None,
    })
}
