//! Inode tables and the blocks of directories, of ext2, ext3 and ext4, read through the cache of their device, where
//! the kernel looks for them (buffer heads lie in the device's own pages).
//!
//! That takes root, or whoever may read the device; and a root that is the uppermost directory of its file system,
//! so that all that is read is asked for.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{Advice, fadvise};

use crate::sys::ext4::{self, Run, Volume};
use crate::sys::{Mount, Stat, Storage};

/// What there is to be read of one file system.
#[derive(Debug)]
pub struct Prefetch {
    volume: Volume,
    device: PathBuf,
    bytes: u64,
}

/// So much is read at a time, in bytes: a Ctrl-C is seen after it.
const CHUNK: u64 = 1 << 20;

impl Prefetch {
    /// What can be read ahead of the root at `path`, seen through `mount`; nothing if it is not all of a file system
    /// that is known here, or the device may not be read, or it is not worth it, or too much.
    pub fn of(path: &CStr, stat: &Stat, mount: Mount) -> Option<Self> {
        /// What is read in as many milliseconds anyway.
        const FEW: u64 = 10_000;
        /// So many inodes that are not in use are read for one that is, at most.
        const SPARSE: u64 = 4;
        if stat.inode != ext4::ROOT || mount.storage != Storage::Local {
            return None;
        }
        let device = ext4::device_of(stat.device, mount.id).ok()?;
        let volume = Volume::open(File::open(&device).ok()?).ok()?;
        let space = rustix::fs::statvfs(path).ok()?;
        let used = space.f_files.saturating_sub(space.f_ffree);
        let inodes = volume.groups.used();
        let inode = volume.layout.inode_size() as u64;
        // Of directories nobody knows before they are read; mostly, they are less than the inodes.
        let bytes = inodes.saturating_mul(inode);
        let is_worth_it = used >= FEW && inodes / SPARSE <= used;
        let has_room = 2 * bytes <= ext4::memory_to_spare()? / 2;
        (is_worth_it && has_room).then_some(Self { volume, device, bytes })
    }

    /// The device that is read.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// How much is to be read, in bytes, without the directories, which are found on the way.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads it, until it `is_stopped`. Adds to `read` the bytes that were read. What cannot be read is left to
    /// whoever walks.
    pub fn run(&self, is_stopped: &AtomicBool, read: &AtomicU64) {
        // It is advice.
        let _ = fadvise(self.volume.device(), 0, None, Advice::Sequential);
        let Ok(runs) = self.tables(is_stopped, read) else { return };
        let _ = fadvise(self.volume.device(), 0, None, Advice::Normal);
        self.directories(&ext4::joined(runs, self.volume.layout.block_size), is_stopped, read);
    }

    /// Reads the inode tables. Returns where directories have their blocks.
    fn tables(&self, is_stopped: &AtomicBool, read: &AtomicU64) -> io::Result<Vec<Run>> {
        /// Of 16 bytes each.
        const MOST_RUNS: usize = 1 << 23;
        let Self { volume, .. } = self;
        let (mut runs, budget) = (Vec::new(), volume.budget());
        let mut buffer = Vec::new();
        for group in 0..volume.groups.len() {
            let look = |_, inode: ext4::RawInode<'_>| {
                let is_listed = inode.is_used() && inode.is_directory() && !inode.is_inline();
                if is_listed && runs.len() < MOST_RUNS {
                    runs.extend(ext4::runs(volume, &inode, &budget).unwrap_or_default());
                }
                if is_stopped.load(Ordering::Relaxed) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Ok(())
            };
            let bytes = ext4::each_inode(volume, group, &mut buffer, look)?;
            read.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(runs)
    }

    /// Reads `runs` of blocks. The kernel is told of some of them ahead, so that it has enough to ask the device for
    /// at the same time, and to put in order.
    fn directories(&self, runs: &[Run], is_stopped: &AtomicBool, read: &AtomicU64) {
        const AHEAD: usize = 64;
        let (size, mut buffer) = (self.volume.layout.block_size, Vec::new());
        let announce = |run: &Run| {
            let length = std::num::NonZeroU64::new(run.count * size);
            let _ = fadvise(self.volume.device(), run.start * size, length, Advice::WillNeed);
        };
        runs.iter().take(AHEAD).for_each(announce);
        for (i, run) in runs.iter().enumerate() {
            runs.get(i + AHEAD).into_iter().for_each(announce);
            let (mut at, end) = (run.start, run.start + run.count);
            while at < end {
                if is_stopped.load(Ordering::Relaxed) {
                    return;
                }
                let blocks = (end - at).min(CHUNK / size);
                buffer.resize((blocks * size) as usize, 0);
                // The walk will say what is wrong there.
                let _ = self.volume.read_blocks(at, &mut buffer);
                read.fetch_add(blocks * size, Ordering::Relaxed);
                at += blocks;
            }
        }
    }
}
