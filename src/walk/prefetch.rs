//! What is read ahead of the walk, where storage keeps it waiting: a file system's own records, in the order in which
//! they lie, by one thread. The walk rests meanwhile, so as not to send the head of a disk to and fro, nor to use up
//! the requests that a volume grants; then it finds all that it asks for in memory.
//!
//! No total depends on it. It begins once the gears find that threads are waited for, which they are not for what is
//! in memory; a walk that is over by then is not delayed.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use super::WalkOptions;
use super::roots::Root;
use crate::sys::{self, Mount, Stat};

/// A root that may be all of a file system.
#[derive(Debug)]
pub(super) struct Candidate {
    path: CString,
    stat: Stat,
    mount: Mount,
}

/// Reading ahead, as it goes on.
#[derive(Debug)]
pub(super) struct ReadAhead {
    thread: JoinHandle<()>,
    is_stopped: Arc<AtomicBool>,
    /// Bytes read. Relaxed, as it is for looking at.
    read: Arc<AtomicU64>,
    /// How many there are in all, as far as that is known.
    bytes: u64,
}

/// The roots that may be read ahead of, if all below them is to be walked.
pub(super) fn candidates(roots: &[Root], options: &WalkOptions) -> Vec<Candidate> {
    if options.bulk || !options.prefetch || !options.filter.is_off() {
        return Vec::new();
    }
    let roots = roots.iter().filter(|root| root.stat.is_directory());
    let candidate =
        |root: &Root| Candidate { path: root.path.clone(), stat: root.stat, mount: root.mount };
    roots.map(candidate).collect()
}

impl ReadAhead {
    /// Begins, if there is something to be read ahead of `candidates`, and it can be read.
    pub(super) fn begin(candidates: &[Candidate]) -> Option<Self> {
        let found = candidates.iter();
        let found = found.filter_map(|root| sys::Prefetch::of(&root.path, &root.stat, root.mount));
        let found: Vec<_> = found.collect();
        let bytes = found.iter().map(sys::Prefetch::bytes).sum();
        let (is_stopped, read) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (stop, count) = (Arc::clone(&is_stopped), Arc::clone(&read));
        let work = move || found.iter().for_each(|one| one.run(&stop, &count));
        let thread = thread::Builder::new().name("weigh ahead".into());
        let thread = (bytes > 0).then(|| thread.spawn(work))?.ok()?;
        Some(Self { thread, is_stopped, read, bytes })
    }

    /// Whether it is over.
    pub(super) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    /// How many bytes were read, and how many there are, as far as that is known.
    pub(super) fn progress(&self) -> (u64, u64) {
        let read = self.read.load(Ordering::Relaxed);
        (read, self.bytes.max(read))
    }
}

impl Drop for ReadAhead {
    /// Nobody waits for it any more. A device may never answer, so its end is not waited for.
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}
