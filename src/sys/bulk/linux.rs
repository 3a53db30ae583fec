//! ext2, ext3 and ext4 in bulk: first all inodes are read, in the order in which they lie, on all cores; then the
//! blocks of directories are, as a walk comes to them.
//!
//! What is true of an inode when it is read may not be so when a name leads to it. So the kernel is asked, by name,
//! for what was free then, or is of another type by now; and of a directory that has been written to since shortly
//! before, or while its blocks were read, it is asked for all names.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{Advice, fadvise};

use crate::sys::ext4::{self, Budget, Census, Volume};
use crate::sys::source::{Handle, bulk};
use crate::sys::{Mount, MountTable, Query, Stat, Storage, now};

/// A file system whose inodes have been read.
#[derive(Clone, Debug)]
pub struct Bulk {
    records: Arc<Records>,
    bytes: u64,
}

/// What was read of it, and what is needed to read more.
#[derive(Debug)]
pub(in crate::sys) struct Records {
    pub(in crate::sys) volume: Volume,
    pub(in crate::sys) census: Census,
    /// For the blocks of all directories.
    pub(in crate::sys) budget: Budget,
    pub(in crate::sys) mounts: MountTable,
    pub(in crate::sys) mount: u64,
    pub(in crate::sys) device: u64,
    /// Directories that were changed later than this, in seconds since the epoch, are listed by the kernel.
    pub(in crate::sys) since: i64,
}

impl Bulk {
    /// Reads the inodes of the file system that is mounted at `path`, on so many `threads`, and what a [`Query`] asks of
    /// them. Ends early where it `is_stopped`.
    ///
    /// # Errors
    /// The system's, and in one line why it cannot be read in bulk.
    pub fn read(
        path: &CStr,
        stat: &Stat,
        mount: Mount,
        query: Query,
        threads: usize,
        is_stopped: &AtomicBool,
    ) -> io::Result<Self> {
        /// The time that is written to inodes is that of a clock which goes in steps of milliseconds.
        const STEP: i64 = 2;
        /// Of more bytes, no more is read than the device takes at once (mm/readahead.c).
        const ADVICE: usize = 128 << 10;
        /// Of the memory that is free, so much is taken at most.
        const SHARE: u64 = 4;
        if stat.inode != ext4::ROOT || mount.storage != Storage::Local {
            return Err(io::Error::other("no ext2, ext3 or ext4 is mounted there"));
        }
        let device = ext4::device_of(stat.device, mount.id)?;
        let at_device = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", device.display()))
        };
        let volume = File::open(&device).and_then(Volume::open).map_err(at_device)?;
        let needed = volume.groups.used().saturating_mul(Census::bytes_an_inode(query));
        if ext4::memory_to_spare().is_some_and(|spare| needed > spare / SHARE) {
            let message = format!("that would take {} MiB of memory", needed >> 20);
            return Err(io::Error::other(message));
        }
        // What is written to is on the device as far as the kernel's cache of it is concerned.
        let top = rustix::fs::open(path, rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty())?;
        rustix::fs::syncfs(&top)?;
        let since = now() - STEP;
        let read = AtomicU64::new(0);
        let _ = fadvise(volume.device(), 0, None, Advice::Sequential);
        let census = Census::read(&volume, query, threads, is_stopped, &read).map_err(at_device)?;
        let _ = fadvise(volume.device(), 0, None, Advice::Normal);
        let (census, runs) = census;
        let size = volume.layout.block_size;
        // So the device is asked for them in order, before the walk comes to them in another.
        for run in ext4::joined(runs, size) {
            let (start, end) = (run.start * size, (run.start + run.count) * size);
            for at in (start..end).step_by(ADVICE) {
                if is_stopped.load(Ordering::Relaxed) {
                    break;
                }
                let length = NonZeroU64::new((end - at).min(ADVICE as u64));
                let _ = fadvise(volume.device(), at, length, Advice::WillNeed);
            }
        }
        let records = Records {
            budget: volume.budget(),
            volume,
            census,
            mounts: MountTable::read(),
            mount: mount.id,
            device: stat.device,
            since,
        };
        Ok(Self { records: Arc::new(records), bytes: read.into_inner() })
    }

    /// Whether it is what the root that came to `stat` and `mount` is.
    pub fn is_of(&self, stat: &Stat, mount: Mount) -> bool {
        let Records { mount: id, device, .. } = *self.records;
        (mount.id, stat.identity()) == (id, (device, ext4::ROOT))
    }

    /// How many bytes of inodes were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its uppermost directory, which is open as `handle`; and in bulk what is opened in it.
    pub fn open(&self, handle: Handle) -> Handle {
        match handle {
            Handle::Linux(root) => bulk::Handle::root(Arc::clone(&self.records), root).into(),
            other => other,
        }
    }
}
