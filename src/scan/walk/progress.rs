//! How far the walk has come, and where each worker is, for the monitor.
//!
//! Each worker writes to a slot on its own cache line: for each entry, a count of what it has done, and for each
//! directory, where it is. No thread waits. Only the monitor reads all slots, ten times a second.

use std::collections::VecDeque;
use std::iter;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crossbeam_utils::CachePadded;

use super::MOST_CHOSEN;
use super::dir::Dir;
use super::known::Known;
use super::lock;
use super::task::Task;

/// What has been weighed so far.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Entries weighed.
    pub entries: u64,
    /// Their weight, in the measure's unit. Each link of an inode that counts once adds its part: the weight divided
    /// by the number of links. That takes no memory, and agrees with the totals if the walk finds all links. If an
    /// inode has links elsewhere, it is too little.
    pub size: u64,
    /// How much could not be read.
    pub problems: usize,
    /// A directory that is being weighed, as bytes; empty if none is.
    pub directory: Vec<u8>,
    /// During a prefetch: the bytes that have been read, and how many there are.
    pub prefetch: Option<(u64, u64)>,
}

/// The slots of all workers. Those of a pool are made when it begins.
#[derive(Debug, Default)]
pub(super) struct Workers<P> {
    /// That of the calling thread.
    pub(super) caller: CachePadded<Slot<P>>,
    rayon: OnceLock<Slots<P>>,
    pool: OnceLock<Slots<P>>,
}

type Slots<P> = Box<[CachePadded<Slot<P>>]>;

/// What one worker has done. All orderings are relaxed, because the numbers are only shown, and sampled to
/// choose the number of threads.
#[derive(Debug, Default)]
pub(super) struct Slot<P> {
    found: AtomicU64,
    done: AtomicU64,
    calls: AtomicU64,
    entries: AtomicU64,
    /// The bits of a floating-point number.
    size: AtomicU64,
    /// Only a watcher, and a thread that steals a task, contend for it.
    at: Mutex<Place<P>>,
    /// Whether the worker has something to do, in a directory or between two. The worker releases it, and the monitor
    /// acquires it and then sees everything that the worker did before.
    is_at_work: AtomicBool,
}

/// Where a worker is, and the tasks that it has handed out.
#[derive(Debug, Default)]
struct Place<P> {
    dir: Option<Arc<Dir<P>>>,
    /// What the worker knows, while it is in no directory.
    known: Known,
    /// The tasks that the worker has handed out to rayon, and that no thread has begun.
    tasks: VecDeque<Task<P>>,
}

/// What was done, by one worker or by all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Steps found: entries to examine and directories to open.
    pub(super) found: u64,
    /// Steps done.
    pub(super) done: u64,
    /// System calls made.
    pub(super) calls: u64,
    /// Entries weighed.
    pub(super) entries: u64,
    /// Their weight. A floating-point number, because a link may be a fraction of a file.
    pub(super) size: f64,
}

impl<P: Default> Workers<P> {
    /// Makes room for rayon's `workers`.
    pub(super) fn make_room_for(&self, workers: usize) {
        self.rayon.get_or_init(|| slots(workers));
    }

    /// The slot of one of rayon's workers, by its number; the calling thread's if it is the worker.
    pub(super) fn of_rayon(&self, worker: usize) -> &Slot<P> {
        self.rayon.get().and_then(|slots| slots.get(worker)).map_or(&self.caller, |slot| &**slot)
    }

    /// The slot of a worker of `pool`, by its number.
    pub(super) fn of_pool(&self, worker: usize) -> &Slot<P> {
        &self.pool.get_or_init(|| slots(MOST_CHOSEN))[worker % MOST_CHOSEN]
    }

    fn slots(&self) -> impl Iterator<Item = &Slot<P>> {
        let engaged = [&self.rayon, &self.pool].into_iter().filter_map(OnceLock::get).flatten();
        iter::once(&self.caller).chain(engaged).map(|slot| &**slot)
    }

    /// What all workers have done.
    pub(super) fn counts(&self) -> Counts {
        Counts {
            found: self.sum(|slot| &slot.found),
            done: self.sum(|slot| &slot.done),
            calls: self.sum(|slot| &slot.calls),
            entries: self.sum(|slot| &slot.entries),
            size: self.slots().map(Slot::size).sum(),
        }
    }

    fn sum(&self, count: fn(&Slot<P>) -> &AtomicU64) -> u64 {
        let counts = self.slots().map(|slot| count(slot).load(Ordering::Relaxed));
        counts.fold(0, u64::saturating_add)
    }

    /// The directories that the workers are in.
    pub(super) fn dirs(&self) -> Vec<Arc<Dir<P>>> {
        self.slots().filter_map(|slot| lock(&slot.at).dir.clone()).collect()
    }

    /// Takes every task that no thread has begun.
    pub(super) fn take_tasks(&self) -> Vec<Task<P>> {
        self.slots().flat_map(|slot| mem::take(&mut lock(&slot.at).tasks)).collect()
    }

    /// Whether a worker is between two directories, and will go on by itself.
    pub(super) fn is_between(&self) -> bool {
        // In this order, because a worker that is in no directory and not at work has closed its last one.
        self.slots()
            .any(|slot| lock(&slot.at).dir.is_none() && slot.is_at_work.load(Ordering::Acquire))
    }

    /// Takes the directory of every worker away. The caller has to settle them.
    pub(super) fn give_up(&self) -> Vec<Arc<Dir<P>>> {
        let mut dirs = Vec::new();
        for slot in self.slots() {
            if let Some(dir) = lock(&slot.at).dir.take() {
                slot.end();
                dirs.push(dir);
            }
        }
        dirs
    }
}

fn slots<P: Default>(workers: usize) -> Slots<P> {
    (0..workers).map(|_| CachePadded::default()).collect()
}

impl<P> Slot<P> {
    /// The worker has something to do.
    pub(super) fn begin(&self) {
        self.is_at_work.store(true, Ordering::Release);
    }

    /// The worker has nothing to do, or no thread waits for it any more.
    pub(super) fn end(&self) {
        self.is_at_work.store(false, Ordering::Release);
    }

    /// The worker is in `dir` now. Returns what it knows.
    pub(super) fn enter(&self, dir: &Arc<Dir<P>>) -> Known {
        lock(&self.at).enter(dir)
    }

    /// Takes a task that the worker `from` has handed out, and is in its directory now: the worker's own last one, or
    /// the first one of another, which is likely to lead to more. Returns also what the worker knows.
    pub(super) fn take(&self, from: &Self) -> Option<(Task<P>, Known)> {
        if !ptr::eq(self, from) {
            let task = lock(&from.at).tasks.pop_front()?;
            let known = self.enter(task.dir());
            return Some((task, known));
        }
        let mut at = lock(&self.at);
        let task = at.tasks.pop_back()?;
        let known = at.enter(task.dir());
        Some((task, known))
    }

    /// The worker goes on to `dir`. False if it took so long in the last one that it was given up in the meantime, and
    /// its directory settled.
    pub(super) fn move_to(&self, dir: &Arc<Dir<P>>) -> bool {
        let before = match &mut lock(&self.at).dir {
            Some(at) => mem::replace(at, Arc::clone(dir)),
            None => return false,
        };
        drop(before);
        true
    }

    /// The worker is done with the directory, which it gets back, and leaves here what it knows. None if the worker was
    /// given up in the meantime and its directory settled.
    pub(super) fn leave(&self, known: Known) -> Option<Arc<Dir<P>>> {
        let mut at = lock(&self.at);
        at.known = known;
        at.dir.take()
    }

    /// Found `steps` more that are to be done.
    pub(super) fn find(&self, steps: usize) {
        add(&self.found, steps as u64);
    }

    /// Did one of them.
    pub(super) fn step(&self) {
        add(&self.done, 1);
    }

    /// Made `calls` system calls.
    pub(super) fn call(&self, calls: usize) {
        add(&self.calls, calls as u64);
    }

    /// Did all this.
    pub(super) fn add(&self, counts: Counts) {
        add(&self.found, counts.found);
        add(&self.done, counts.done);
        add(&self.calls, counts.calls);
        add(&self.entries, counts.entries);
        self.size.store((self.size() + counts.size).to_bits(), Ordering::Relaxed);
    }

    fn size(&self) -> f64 {
        f64::from_bits(self.size.load(Ordering::Relaxed))
    }

    /// The worker hands out a task.
    pub(super) fn push(&self, task: Task<P>) {
        lock(&self.at).tasks.push_back(task);
    }
}

impl<P> Place<P> {
    /// The worker is in `dir` now. Returns what it knows.
    fn enter(&mut self, dir: &Arc<Dir<P>>) -> Known {
        self.dir = Some(Arc::clone(dir));
        mem::take(&mut self.known)
    }
}

/// Adds to a counter to which only this thread writes, and so needs no locked instruction.
fn add(counter: &AtomicU64, number: u64) {
    counter.store(counter.load(Ordering::Relaxed).saturating_add(number), Ordering::Relaxed);
}
