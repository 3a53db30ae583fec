//! ext2, ext3 and ext4 as they lie on a device, read without the kernel's calls for files: inode tables, and the
//! blocks of directories, in the order in which they lie.
//!
//! * `layout`: what the superblock says, and the groups' descriptors.
//! * `inode`: an inode as stat(2) would tell it.
//! * `map`: which blocks a directory has, by extents or by the older block map.
//! * `directory`: the names in a block.
//! * `scan`: all inodes, group by group; `census`: what stat(2) would say of all of them, packed.
//! * `device`: where it is mounted from.
//!
//! Written from Documentation/filesystems/ext4 and fs/ext4 of Linux 6.18. The device is only read, by `read_at`; of
//! a mounted file system that sees what the kernel has in its own cache of the device.
//!
//! Nothing that is read is trusted. Every offset is checked, what comes in levels has no more than it may have, and
//! whatever refers to blocks does so at the cost of a [`Budget`]: blocks belong to one directory each, so all of
//! them together have no more than the device. Where something is wrong, there is an error, and whoever asked has
//! the kernel to ask instead.

mod census;
mod device;
mod directory;
mod inode;
mod layout;
mod map;
mod scan;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) use census::Census;
pub(super) use device::{device_of, memory_to_spare};
pub(super) use directory::{DirectoryEntry, entries};
pub(super) use inode::RawInode;
pub(super) use layout::{GroupTable, Layout};
pub(super) use map::{Run, joined, runs};
pub(super) use scan::{each_inode, inode};

/// The number of the uppermost directory's inode.
pub(super) const ROOT: u64 = 2;

/// A device, or a file, with a file system on it.
#[derive(Debug)]
pub(super) struct Volume {
    device: File,
    /// What its superblock says.
    pub(super) layout: Layout,
    pub(super) groups: GroupTable,
}

/// How many more blocks may be referred to.
#[derive(Debug)]
pub(super) struct Budget(AtomicU64);

impl Volume {
    /// The file system on `device`.
    ///
    /// # Errors
    /// The system's, and in one line what there is that is damaged or not known here.
    pub(super) fn open(device: File) -> io::Result<Self> {
        let layout = Layout::read(&device)?;
        let groups = GroupTable::read(&device, &layout)?;
        Ok(Self { device, layout, groups })
    }

    /// The device that it is on.
    pub(super) fn device(&self) -> &File {
        &self.device
    }

    /// Fills `buffer` with what there is from block number `block` on.
    pub(super) fn read_blocks(&self, block: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read_at(block, 0, buffer)
    }

    /// The same, from so many bytes after the beginning of the block on.
    fn read_at(&self, block: u64, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let start = block.checked_mul(self.layout.block_size).and_then(|at| at.checked_add(offset));
        let end = start.and_then(|start| start.checked_add(buffer.len() as u64));
        match start.filter(|_| end.is_some_and(|end| end <= self.layout.bytes())) {
            Some(start) => self.device.read_exact_at(buffer, start),
            None => Err(damaged("a block beyond its end")),
        }
    }

    /// A budget for all blocks of all directories.
    pub(super) fn budget(&self) -> Budget {
        Budget(AtomicU64::new(self.layout.blocks))
    }
}

impl Budget {
    /// Takes one from it. Relaxed: it is a bound, and orders nothing.
    pub(super) fn take(&self, blocks: u64) -> io::Result<()> {
        let less = |left: u64| left.checked_sub(blocks);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.map(drop).map_err(|_| damaged("more blocks of directories than it has"))
    }
}

/// What is said of a file system that is not as it should be.
pub(super) fn damaged(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the file system is damaged: {what}"))
}

/// The two bytes at `at`, lowest first; 0 beyond the end, as the next.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    let two = bytes.get(at..).and_then(|rest| rest.first_chunk());
    two.map_or(0, |two| u16::from_le_bytes(*two))
}

/// The four bytes at `at`.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk());
    four.map_or(0, |four| u32::from_le_bytes(*four))
}

/// A number of which `high` has the upper 32 bits.
fn wide(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests;
