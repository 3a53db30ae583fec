//! Inode tables and the blocks of directories, of ext2, ext3 and ext4, read through the cache of their device, where
//! the kernel looks for them (buffer heads lie in the device's own pages).
//!
//! That takes root, or whoever may read the device; and a root that is the uppermost directory of its file system,
//! so that all that is read is asked for.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{Advice, fadvise, major, minor};

use crate::path;
use crate::sys::ext4::{self, Run, Volume};
use crate::sys::mount_table::unescape;
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
        let device = device_of(stat.device, mount.id)?;
        let volume = Volume::open(File::open(&device).ok()?).ok()?;
        let space = rustix::fs::statvfs(path).ok()?;
        let used = space.f_files.saturating_sub(space.f_ffree);
        let inodes = volume.groups.used();
        let inode = volume.layout.inode_size() as u64;
        // Of directories nobody knows before they are read; mostly, they are less than the inodes.
        let bytes = inodes.saturating_mul(inode);
        let is_worth_it = used >= FEW && inodes / SPARSE <= used;
        let has_room = 2 * bytes <= memory_to_spare()? / 2;
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
        let Ok(mut runs) = self.tables(is_stopped, read) else { return };
        let _ = fadvise(self.volume.device(), 0, None, Advice::Normal);
        runs.sort_unstable_by_key(|run| run.start);
        self.directories(&joined(&runs, self.volume.layout.block_size), is_stopped, read);
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

/// `runs`, sorted, where gaps that take less time to read than to pass over are read, too.
fn joined(runs: &[Run], block_size: u64) -> Vec<Run> {
    /// In bytes.
    const GAP: u64 = 64 << 10;
    let mut joined: Vec<Run> = Vec::new();
    for run in runs {
        let end = run.start + run.count;
        match joined.last_mut() {
            Some(last) if run.start <= last.start + last.count + GAP / block_size => {
                last.count = last.count.max(end - last.start);
            }
            _ => joined.push(*run),
        }
    }
    joined
}

/// The block device with the number `device` from which all of an ext2, ext3 or ext4 is mounted as `mount`.
fn device_of(device: u64, mount: u64) -> Option<PathBuf> {
    let number = format!("{}:{}", major(device), minor(device));
    let table = fs::read("/proc/self/mountinfo").ok()?;
    let mount = mount.to_string();
    let source = table.split(|b| *b == b'\n').find_map(|line| {
        let mut fields = line.split(|b| *b == b' ');
        let is_it = fields.next()? == mount.as_bytes() && fields.nth(1)? == number.as_bytes();
        let is_all = fields.next()? == b"/";
        // There may be fields before a hyphen that later kernels have more of.
        let mut rest = fields.skip_while(|field| *field != b"-").skip(1);
        let is_known = matches!(rest.next()?, b"ext4" | b"ext3" | b"ext2");
        (is_it && is_all && is_known).then(|| rest.next().map(unescape))?
    })?;
    let by_number = PathBuf::from(format!("/dev/block/{number}"));
    let is_it = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|it| it.file_type().is_block_device() && it.rdev() == device)
    };
    [path::from_bytes(&source).into_owned(), by_number].into_iter().find(is_it)
}

/// How much memory could be given to a process, in bytes (proc_meminfo(5)).
fn memory_to_spare() -> Option<u64> {
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_gaps_are_read() {
        let runs = |runs: &[(u64, u64)]| -> Vec<Run> {
            runs.iter().map(|&(start, count)| Run { start, count }).collect()
        };
        let found = joined(&runs(&[(5, 2), (6, 1), (20, 4), (23, 9), (49, 1), (60, 1)]), 4096);
        assert_eq!(found, runs(&[(5, 27), (49, 1), (60, 1)]));
        let all = joined(&runs(&[(5, 2), (23, 1), (40, 1)]), 4096);
        assert_eq!(all, runs(&[(5, 36)]));
    }
}
