//! Prefetches the metadata of a file system, if the walk has to wait for its storage: one thread reads it in the order in
//! which it is stored. Meanwhile the walk rests, because it would make the head of a disk seek, or use up the requests
//! that a volume grants. Then it finds what it needs in memory.
//!
//! No total depends on it. It starts when the samples show that threads wait, which they do not if everything is in
//! memory. A walk that ends before is not delayed.

use std::ffi::CString;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use super::WalkOptions;
use super::roots::Root;
use crate::sys::{self, Mount, Stat};

/// A root that may be the root directory of a file system.
#[derive(Debug)]
pub(super) struct PrefetchRoot {
    path: CString,
    stat: Stat,
    mount: Mount,
}

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
pub(super) fn candidates(roots: &[Root], options: &WalkOptions) -> Vec<PrefetchRoot> {
    if options.bulk || !options.prefetch || !options.filter.is_off() {
        return Vec::new();
    }
    let roots = roots.iter().filter(|root| root.stat.is_directory());
    let candidate =
        |root: &Root| PrefetchRoot { path: root.path.clone(), stat: root.stat, mount: root.mount };
    roots.map(candidate).collect()
}

impl RunningPrefetch {
    /// Starts a thread for those `candidates` that can be prefetched; takes all of them. To find out already reads from
    /// the devices, so that the thread does it.
    pub(super) fn begin(candidates: &mut Vec<PrefetchRoot>) -> Option<Self> {
        let candidates = mem::take(candidates);
        let state = Arc::new(PrefetchState::default());
        let shared = Arc::clone(&state);
        let work = move || {
            let prefetch = |root: &PrefetchRoot| {
                sys::Prefetch::of(&root.path, &root.stat, root.mount, candidates.len())
            };
            let found: Vec<_> = candidates.iter().filter_map(prefetch).collect();
            let bytes = found.iter().map(sys::Prefetch::bytes).fold(0, u64::saturating_add);
            shared.bytes.store(bytes, Ordering::Relaxed);
            found.iter().for_each(|one| one.run(&shared.is_stopped, &shared.read));
        };
        let thread = thread::Builder::new().name("weigh prefetch".into());
        let thread = thread.spawn(work).ok()?;
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

impl Drop for RunningPrefetch {
    /// Stops the thread without waiting for it, because the device may never answer.
    fn drop(&mut self) {
        self.state.is_stopped.store(true, Ordering::Relaxed);
    }
}
