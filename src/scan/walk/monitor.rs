//! The monitor shows the progress, changes the number of threads, and begins a prefetch. It does not wait for storage
//! that never answers.
//!
//! It is the thread that called the walk, which has nothing else to do. A look costs a few microseconds, and a walk
//! that ends within the first 2 milliseconds gets none.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::nested::Root;
use super::progress::{Counts, Progress};
use super::task::settle;
use super::thread_count::{Sample, ThreadChooser};
use super::{Walk, WalkOptions, lock, pool};
use crate::scan::stats::Stage;
use crate::sys::problem::Problem;
use crate::sys::{self, Storage, Usage};
use crate::tree::tally::Tally;

/// The time between two updates of the progress. A worker notices an interrupt sooner, unless it waits for storage.
const SHOWN: Duration = Duration::from_millis(100);

/// Watches one walk.
pub(super) struct Monitor<T: Tally> {
    walk: Arc<Walk<T>>,
    /// How many threads may work now.
    threads: usize,
    /// None if the number of threads is fixed.
    chooser: Option<ThreadChooser>,
    /// The counts at the last look, and when the current stage began.
    last: Look,
    engaged: Look,
    stages: Vec<Stage>,
    /// The roots that may be prefetched, until that is tried.
    candidates: Vec<Root>,
    prefetch: Option<RunningPrefetch>,
    /// Whether the walk waits for it.
    is_resting: bool,
    /// How many threads may work as soon as it is known whether there is something to prefetch.
    next: Option<usize>,
}

/// The counts at one time.
#[derive(Clone, Copy, Debug)]
struct Look {
    at: Instant,
    usage: Usage,
    counts: Counts,
}

impl<T: Tally> Monitor<T> {
    /// Watches `walk`, which begins now, from the calling thread. Before it, so many bytes were `read` in bulk, in so
    /// much time.
    pub(super) fn new(walk: Arc<Walk<T>>, candidates: Vec<Root>, read: (u64, Duration)) -> Self {
        let now = Look { at: Instant::now(), usage: sys::usage(), counts: Counts::default() };
        let (bulk, wall) = read;
        let stage = Stage { threads: 1, wall, bulk, ..Stage::default() };
        let stages = if bulk > 0 { vec![stage] } else { Vec::new() };
        Self {
            walk,
            threads: 1,
            chooser: None,
            last: now,
            engaged: now,
            stages,
            candidates,
            prefetch: None,
            is_resting: false,
            next: None,
        }
    }

    /// Watches `workers` go on with the walk until it is `done`, or until nothing more can be expected. Reports the
    /// progress about ten times a second. Returns what was done with each number of threads.
    pub(super) fn watch(
        mut self,
        workers: usize,
        chooser: Option<ThreadChooser>,
        done: &Receiver<()>,
        mut show: impl FnMut(&Progress),
    ) -> Vec<Stage> {
        self.threads = workers;
        self.chooser = chooser;
        let mut shown = Instant::now();
        loop {
            let interval = self.chooser.as_ref().map_or(SHOWN, ThreadChooser::interval);
            match done.recv_timeout(interval) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.look(),
            }
            if self.walk.is_interrupted() {
                self.give_up(done);
                break;
            }
            if shown.elapsed() >= SHOWN {
                shown = Instant::now();
                show(&self.progress());
            }
        }
        self.end()
    }

    /// The walk is over. Returns what was done with each number of threads.
    pub(super) fn end(mut self) -> Vec<Stage> {
        let now = Look::now(&self.walk);
        self.end_stage(now);
        self.stages
    }

    /// Changes the number of threads if necessary.
    fn look(&mut self) {
        /// How long to wait until it is known whether there is something to prefetch. A device may never answer.
        const PATIENCE: Duration = Duration::from_secs(1);
        self.look_at_prefetch();
        let is_unknown = self.prefetch.is_some() && self.last.at.elapsed() < PATIENCE;
        let is_waiting = self.is_resting || is_unknown;
        let Some(chooser) = self.chooser.as_mut().filter(|_| !is_waiting) else { return };
        let (walk, now) = (&self.walk, Look::now(&self.walk));
        let sample = now.since(&self.last);
        // What kind of storage a worker waits for now.
        let storage =
            || walk.workers.dirs().first().map_or(Storage::Local, |dir| dir.mount.storage);
        let next = self.next.take().or_else(|| chooser.look(&sample, storage));
        self.last = now;
        let Some(threads) = next else { return };
        if threads > self.threads && !self.candidates.is_empty() {
            // Only now, because more threads mean that the storage is slow. Their requests would delay the prefetch.
            self.prefetch = RunningPrefetch::begin(mem::take(&mut self.candidates));
            self.next = next;
            pool::engage(&self.walk, self.threads, true);
            return;
        }
        let is_slow = chooser.is_slow();
        self.end_stage(now);
        pool::engage(&self.walk, threads, is_slow);
        self.threads = threads;
    }

    /// Lets the walk rest once a prefetch reads, and go on when that is done.
    fn look_at_prefetch(&mut self) {
        let Some(prefetch) = &self.prefetch else { return };
        let (is_reading, is_done) = (prefetch.is_reading(), prefetch.is_done());
        if is_reading && !self.is_resting {
            self.end_stage(Look::now(&self.walk));
            self.is_resting = true;
            self.walk.pool.rest();
        }
        if is_done {
            if self.is_resting {
                self.next = None;
                self.end_stage(Look::now(&self.walk));
                // The storage is not what it was.
                self.threads =
                    self.chooser.as_mut().map_or(self.threads, ThreadChooser::begin_again);
                self.is_resting = false;
                pool::engage(&self.walk, self.threads, false);
            }
            self.prefetch = None;
        }
    }

    /// After an interrupt, waits until the workers notice it, but not for workers to which storage does not answer:
    /// their directories are settled without them.
    fn give_up(&self, done: &Receiver<()>) {
        let walk = &self.walk;
        let mut before: Option<Vec<Arc<_>>> = None;
        while !walk.is_finished() && done.recv_timeout(SHOWN) == Err(RecvTimeoutError::Timeout) {
            for task in walk.pool.take_all().into_iter().chain(walk.workers.take_tasks()) {
                settle(walk, Arc::clone(task.dir()), None);
            }
            let is_between = walk.workers.is_between();
            let dirs = walk.workers.dirs();
            let are_stuck = before.as_ref().is_some_and(|before| {
                dirs.iter().all(|dir| before.iter().any(|other| Arc::ptr_eq(other, dir)))
            });
            if !is_between && are_stuck {
                for dir in walk.workers.give_up() {
                    walk.record(Problem::unanswered(dir.path()));
                    settle(walk, dir, None);
                }
                walk.follows.give_up(walk);
                if before.is_some_and(|before| before.is_empty()) {
                    break;
                }
            }
            before = Some(dirs);
        }
    }

    fn progress(&self) -> Progress {
        let Counts { entries, size, .. } = self.walk.workers.counts();
        let dirs = self.walk.workers.dirs();
        let directory = dirs.first().map(|dir| dir.path()).unwrap_or_default();
        let prefetch =
            self.prefetch.as_ref().filter(|_| self.is_resting).map(RunningPrefetch::progress);
        let problems = lock(&self.walk.problems).len();
        // A cast from a float saturates.
        Progress { entries, size: size as u64, problems, directory, prefetch }
    }

    /// Adds up what was done since the current number of threads began, or since the prefetch did.
    fn end_stage(&mut self, now: Look) {
        let threads = self.threads;
        if let Some(prefetch) = self.prefetch.as_ref().filter(|_| self.is_resting) {
            let (wall, (prefetched, _)) = (now.at - self.engaged.at, prefetch.progress());
            self.stages.push(Stage { threads: 1, wall, prefetched, ..Stage::default() });
            (self.engaged, self.last) = (now, now);
            return;
        }
        let i = self
            .stages
            .iter()
            .position(|stage| stage.threads == threads && stage.is_walk())
            .unwrap_or_else(|| {
                self.stages.push(Stage { threads, ..Stage::default() });
                self.stages.len() - 1
            });
        let (stage, before) = (&mut self.stages[i], &self.engaged);
        stage.wall += now.at - before.at;
        stage.cpu += now.usage.cpu.saturating_sub(before.usage.cpu);
        stage.entries += now.counts.entries - before.counts.entries;
        stage.calls += now.counts.calls - before.counts.calls;
        self.engaged = now;
    }
}

impl Look {
    fn now<T: Tally>(walk: &Walk<T>) -> Self {
        Self { at: Instant::now(), usage: sys::usage(), counts: walk.workers.counts() }
    }

    fn since(&self, before: &Look) -> Sample {
        Sample {
            wall: self.at - before.at,
            cpu: self.usage.cpu.saturating_sub(before.usage.cpu),
            waits: self.usage.waits.saturating_sub(before.usage.waits),
            preemptions: self.usage.preemptions.saturating_sub(before.usage.preemptions),
            done: self.counts.done - before.counts.done,
            waiting: self.counts.found.saturating_sub(self.counts.done),
        }
    }
}

// Prefetches the metadata of a file system, if the walk has to wait for its storage: one thread reads it in the order
// in which it is stored. Meanwhile the walk rests, because it would make the head of a disk seek, or use up the
// requests that a volume grants. Then it finds what it needs in memory.
//
// No total depends on it. It starts when the samples show that threads wait, which they do not if everything is in
// memory. A walk that ends before is not delayed.

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
