//! How far the walk has come, for whoever watches.
//!
//! Each worker counts in a slot of its own, on its own cache line, once a buffer of entries: the
//! way of a file touches nothing here. The directory at hand is named only when asked for.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

/// What has been weighed so far.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Entries weighed.
    pub entries: u64,
    /// Their weight, in the measure's unit; an inode with several links counts for each.
    pub size: u64,
    /// A directory that was being weighed lately, as bytes; empty before the first answer.
    pub directory: Vec<u8>,
}

/// The counters that workers add to. All orderings are relaxed: the numbers are for looking at,
/// nothing is concluded from them.
#[derive(Debug)]
pub(super) struct Progress {
    slots: Box<[CachePadded<Slot>]>,
    is_asked: AtomicBool,
    /// Guards the last answer, a short copy.
    directory: Mutex<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Slot {
    entries: AtomicU64,
    size: AtomicU64,
}

impl Progress {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            slots: (0..workers.max(1)).map(|_| CachePadded::default()).collect(),
            is_asked: AtomicBool::new(false),
            directory: Mutex::default(),
        }
    }

    /// Counts `entries` with their `size` for the worker at hand.
    pub(super) fn add(&self, entries: u64, size: u64) {
        let worker = rayon::current_thread_index().unwrap_or(0) % self.slots.len();
        let slot = &self.slots[worker];
        slot.entries.fetch_add(entries, Ordering::Relaxed);
        slot.size.fetch_add(size, Ordering::Relaxed);
    }

    /// Names the directory at hand if somebody asked; `path` is made only then.
    pub(super) fn at(&self, path: impl FnOnce() -> Vec<u8>) {
        if self.is_asked.load(Ordering::Relaxed) && self.is_asked.swap(false, Ordering::Relaxed) {
            let path = path();
            if let Ok(mut directory) = self.directory.lock() {
                *directory = path;
            }
        }
    }

    /// How far it has come; asks for the directory, which the next snapshot will have.
    pub(super) fn snapshot(&self) -> Snapshot {
        let sum = |field: fn(&Slot) -> &AtomicU64| {
            let values = self.slots.iter().map(|slot| field(slot).load(Ordering::Relaxed));
            values.fold(0, u64::saturating_add)
        };
        self.is_asked.store(true, Ordering::Relaxed);
        Snapshot {
            entries: sum(|slot| &slot.entries),
            size: sum(|slot| &slot.size),
            directory: self.directory.lock().map(|path| path.clone()).unwrap_or_default(),
        }
    }
}
