//! Prefetches the metadata of a file system, if the walk has to wait for its storage: one thread reads it in the order
//! in which it is stored. Meanwhile the walk rests, because it would make the head of a disk seek, or use up the
//! requests that a volume grants. Then it finds what it needs in memory.
//!
//! No total depends on it. It starts when the samples show that threads wait, which they do not if everything is in
//! memory. A walk that ends before is not delayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use super::WalkOptions;
use super::nested::Root;
use crate::sys;

/// A prefetch in progress.
#[derive(Debug)]
pub(super) struct RunningPrefetch {
    thread: JoinHandle<()>,
    state: Arc<PrefetchState>,
}

/// Shared with the thread. All orderings are relaxed, because the numbers are only shown and guard no other data.
#[derive(Debug, Default)]
struct PrefetchState {
    is_stopped: AtomicBool,
    /// Bytes read.
    read: AtomicU64,
    /// How many bytes there are to read, as far as that is known. 0 until there is something.
    bytes: AtomicU64,
}

/// The roots that may be prefetched: without filters, because otherwise not everything is needed.
pub(super) fn candidates(roots: &[Root], options: &WalkOptions) -> Vec<Root> {
    if options.bulk || !options.prefetch || !options.filter.is_off() {
        return Vec::new();
    }
    roots.iter().filter(|root| root.stat.is_directory()).cloned().collect()
}

impl RunningPrefetch {
    /// Starts a thread for those `candidates` that can be prefetched. To find out already reads from the devices, so
    /// that the thread does it.
    pub(super) fn begin(candidates: Vec<Root>) -> Option<Self> {
        let state = Arc::new(PrefetchState::default());
        let shared = Arc::clone(&state);
        let thread = thread::Builder::new().name("weigh prefetch".into());
        let thread = thread.spawn(move || shared.read(&candidates)).ok()?;
        Some(Self { thread, state })
    }

    /// Whether there is something to read.
    pub(super) fn is_reading(&self) -> bool {
        self.state.bytes.load(Ordering::Relaxed) > 0 && !self.is_done()
    }

    /// Whether it is over.
    pub(super) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    /// How many bytes were read, and how many there are, as far as that is known.
    pub(super) fn progress(&self) -> (u64, u64) {
        let [read, bytes] =
            [&self.state.read, &self.state.bytes].map(|it| it.load(Ordering::Relaxed));
        (read, bytes.max(read))
    }
}

impl PrefetchState {
    fn read(&self, candidates: &[Root]) {
        let found: Vec<_> = candidates
            .iter()
            .filter_map(|Root { path, stat, mount }| {
                sys::Prefetch::of(path, stat, *mount, candidates.len())
            })
            .collect();
        let bytes = found.iter().map(sys::Prefetch::bytes).fold(0, u64::saturating_add);
        self.bytes.store(bytes, Ordering::Relaxed);
        found.iter().for_each(|one| one.run(&self.is_stopped, &self.read));
    }
}

impl Drop for RunningPrefetch {
    /// Stops the thread without waiting for it, because the device may never answer.
    fn drop(&mut self) {
        self.state.is_stopped.store(true, Ordering::Relaxed);
    }
}
