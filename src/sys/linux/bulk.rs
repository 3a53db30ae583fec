//! Reads ext2, ext3 and ext4 in bulk: first all inodes in the order in which they are stored, on all cores; then the
//! blocks of each directory when the walk comes to it.
//!
//! An inode may change before a name leads to it. So the kernel is asked about names whose inode was free when it was
//! read, or has another type now. A directory is listed by the kernel if it changed since shortly before the start, or
//! since its inode was read.

use std::ffi::CStr;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Advice, Mode as CreateMode, OFlags};

use super::bulk_listing::{self, Records};
use super::device;
use crate::base::inode::Identity;
use crate::base::parallel;
use crate::fs::ext4::{self, InodePacker, Kept, PackedInodes, RawVolume, Run};
use crate::sys::{Handle, Mount, MountTable, Query, Stat, now};

/// A file system whose inodes have been read.
#[derive(Clone, Debug)]
pub struct Bulk {
    records: Arc<Records>,
    bytes: u64,
}

impl Bulk {
    /// Reads all inodes of the file system that is mounted at `path`, with the attributes that the [`Query`] asks for,
    /// on so many `threads`; 0 is one for each core. Ends early if it `is_stopped`.
    ///
    /// # Errors
    /// The system's, and the reason if it cannot be read in bulk.
    pub fn read(
        path: &CStr,
        stat: &Stat,
        mount: Mount,
        query: Query,
        threads: usize,
        is_stopped: &AtomicBool,
    ) -> io::Result<Self> {
        /// In seconds: the clock for times in inodes is up to 10 milliseconds slow.
        const STEP: i64 = 2;
        /// The largest part of the available memory that may be used.
        const SHARE: u64 = 4;
        let (volume, device) = device::volume(stat, mount, query.owner)?;
        let kept = Kept { times: query.times, owners: query.owner };
        let needed = volume.groups.used().saturating_mul(PackedInodes::bytes_an_inode(kept));
        let spare = device::memory_to_spare().unwrap_or(u64::MAX);
        if needed > spare / SHARE {
            let message = format!("that needs {} MiB of memory", needed >> 20);
            return Err(io::Error::other(message));
        }
        // Sizes of files that were just written, and times on a lazytime mount, are in inode tables only after this.
        let top = rustix::fs::open(path, OFlags::RDONLY, CreateMode::empty())?;
        rustix::fs::syncfs(&top)?;
        let since = now() - STEP;
        let packer = InodePacker::new(&volume, kept, is_stopped);
        volume.advise(0, None, Advice::Sequential);
        let groups = 0..volume.groups.len();
        let found: io::Result<Vec<_>> =
            parallel::collect(threads, groups, |group| packer.group(group));
        volume.advise(0, None, Advice::Normal);
        let found = found.map_err(|error| device::at_device(&device, &error))?;
        let (groups, runs): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let runs: Vec<_> = runs.into_iter().flatten().collect();
        let (inodes, bytes) = packer.packed(groups);
        if !are_cached(&volume, &runs) {
            announce(&volume, runs, spare / SHARE, is_stopped);
        }
        let records = Records {
            budget: volume.budget(),
            volume,
            inodes,
            mounts: MountTable::read(),
            mount: mount.id,
            device: stat.device,
            since,
        };
        Ok(Self { records: Arc::new(records), bytes })
    }

    /// Whether the root with this `stat` and `mount` is that file system.
    pub fn is_of(&self, stat: &Stat, mount: Mount) -> bool {
        let Records { mount: id, device, .. } = *self.records;
        stat.identity_on(mount.id) == Identity { mount: id, device, number: ext4::ROOT }
    }

    /// How many bytes of inodes were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its root directory, which is open as `handle`. Directories that are opened from there are read in bulk, too.
    pub fn open(&self, handle: Handle) -> Handle {
        match handle {
            Handle::Native(root) => {
                Handle::Bulk(bulk_listing::Handle::root(Arc::clone(&self.records), root))
            }
            other => other,
        }
    }
}

/// Whether `runs` of blocks are in memory, as far as a sample tells.
fn are_cached(volume: &RawVolume, runs: &[Run]) -> bool {
    const SAMPLE: usize = 64;
    let step = runs.len().div_ceil(SAMPLE).max(1);
    runs.iter().step_by(step).all(|run| volume.is_cached(run.start))
}

/// Asks the kernel to read `runs` of blocks in order, before the walk asks for them in another order; not more than
/// `most` bytes.
fn announce(volume: &RawVolume, runs: Vec<Run>, most: u64, is_stopped: &AtomicBool) {
    /// The kernel ignores the rest of a longer range (mm/readahead.c).
    const ADVICE: usize = 128 << 10;
    let (size, mut left) = (volume.layout.block_size, most);
    for run in ext4::joined(runs, ext4::GAP / size) {
        let (start, end) = (run.start * size, (run.start + run.count) * size);
        for at in (start..end).step_by(ADVICE) {
            let length = (end - at).min(ADVICE as u64);
            if is_stopped.load(Ordering::Relaxed) || left < length {
                return;
            }
            left -= length;
            volume.advise(at, NonZeroU64::new(length), Advice::WillNeed);
        }
    }
}
