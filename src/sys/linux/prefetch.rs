//! Reads the inode tables and directories of ext2, ext3 and ext4 through the cache of the device, where the kernel
//! looks for them (buffer heads are in the device's own pages).
//!
//! This needs permission to read the device, and a root that is the root directory of its file system, so that the walk
//! needs everything that is read.

use std::ffi::CStr;
use std::io;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::Advice;

use super::device;
use crate::fs::ext4::{self, RawVolume, Run};
use crate::sys::{Mount, Stat};

/// A file system to prefetch.
#[derive(Debug)]
pub struct Prefetch {
    volume: RawVolume,
    bytes: u64,
    most: u64,
}

/// How much is read at a time, in bytes. Between two reads, it can be stopped.
const CHUNK: u64 = 1 << 20;

impl Prefetch {
    /// The file system of the root at `path` in `mount`; none if the root is not that of a file system that is known
    /// here, if the device cannot be read, or if it would not pay or need too much memory. It is one of so many
    /// `roots`, which share the memory. This already reads from the device.
    pub fn of(path: &CStr, stat: &Stat, mount: Mount, roots: usize) -> Option<Self> {
        /// Fewer inodes are walked in seconds even on a slow device.
        const FEW: u64 = 10_000;
        /// At least one of so many inodes in the tables must be in use.
        const SPARSE: u64 = 4;
        /// The largest part of the available memory that may be filled.
        const SHARE: u64 = 2;
        let (volume, _) = device::volume(stat, mount, false).ok()?;
        let space = rustix::fs::statvfs(path).ok()?;
        let used = space.f_files.saturating_sub(space.f_ffree);
        let inodes = volume.groups.used();
        let inode = volume.layout.inode_size as u64;
        // How large directories are is known only later. Mostly they are smaller than the inode tables.
        let bytes = inodes.saturating_mul(inode);
        let most = device::memory_to_spare()? / SHARE / roots.max(1) as u64;
        let pays = used >= FEW && inodes / SPARSE <= used;
        (pays && bytes <= most / 2).then_some(Self { volume, bytes, most })
    }

    /// The size of the inode tables in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads it, until it `is_stopped`. Adds the number of bytes to `read`. The walk reports errors, not this.
    pub fn run(&self, is_stopped: &AtomicBool, read: &AtomicU64) {
        // Without the kernel's read-ahead, because a walk after that took 1.4 times as long: probably it keeps what it
        // reads ahead in large folios, and goes through a list to find a block there.
        self.volume.advise(0, None, Advice::Random);
        let Ok(runs) = self.tables(is_stopped, read) else { return };
        let gap = ext4::GAP / self.volume.layout.block_size;
        self.directories(&ext4::joined(runs, gap), is_stopped, read);
    }

    /// Reads the inode tables. Returns the blocks of directories.
    fn tables(&self, is_stopped: &AtomicBool, read: &AtomicU64) -> io::Result<Vec<Run>> {
        let Self { volume, .. } = self;
        let (mut runs, budget) = (Vec::new(), volume.budget());
        let mut buffer = Vec::new();
        for group in 0..volume.groups.len() {
            let bytes = ext4::each_inode(volume, group, &mut buffer, |_, inode| {
                if inode.has_entries_in_blocks() && runs.len() < ext4::MOST_RUNS {
                    runs.extend(ext4::runs(volume, &inode, &budget).unwrap_or_default());
                }
                if is_stopped.load(Ordering::Relaxed) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Ok(())
            })?;
            read.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(runs)
    }

    /// Reads `runs` of blocks. Some of them are announced to the kernel before, so that it can send several requests at
    /// once, and order them.
    fn directories(&self, runs: &[Run], is_stopped: &AtomicBool, read: &AtomicU64) {
        const AHEAD: usize = 64;
        let (size, mut buffer) = (self.volume.layout.block_size, Vec::new());
        let mut left = self.most.saturating_sub(self.bytes);
        let mut to_announce = runs.iter();
        to_announce.by_ref().take(AHEAD).for_each(|run| self.announce(run));
        for run in runs {
            to_announce.next().into_iter().for_each(|run| self.announce(run));
            let (mut at, end) = (run.start, run.start + run.count);
            while at < end {
                let blocks = (end - at).min(CHUNK / size);
                if is_stopped.load(Ordering::Relaxed) || left < blocks * size {
                    return;
                }
                left -= blocks * size;
                buffer.resize((blocks * size) as usize, 0);
                // The walk reports an error here.
                let _ = self.volume.read_blocks(at, &mut buffer);
                read.fetch_add(blocks * size, Ordering::Relaxed);
                at += blocks;
            }
        }
    }

    /// Asks the kernel to read `run` soon.
    fn announce(&self, run: &Run) {
        let size = self.volume.layout.block_size;
        let length = NonZeroU64::new(run.count * size);
        self.volume.advise(run.start * size, length, Advice::WillNeed);
    }
}
