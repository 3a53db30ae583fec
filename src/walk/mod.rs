//! The walk: visits every directory once, in parallel, and bubbles finished directories up.
//!
//! It knows nothing of what is gathered ([`Tally`]) and touches the file system only through `sys`.
//! One rayon task a directory, in one scope; no task waits for another, and none recurses, so that
//! depth costs memory on the heap and never stack. In the order of what it costs to coordinate:
//!
//! 1. `visit`: the way of a file. No lock, no allocation; one relaxed load (interrupted?).
//! 2. `progress`, once a buffer of entries: two additions on the worker's own cache line.
//! 3. `dir`, once a directory or part of one: one lock around what was gathered, one atomic count of
//!    what is outstanding. Whoever brings it to 0 goes on to the parent.
//! 4. `handles`, once a directory: one atomic count. A lock only when handles are scarce.
//! 5. `tally::Sum`: under the directory's lock, the smaller set of hard links merges into the larger.
//! 6. `follow`: a lock a directory, only with `-L`.

mod dir;
mod follow;
mod handles;
mod progress;
mod roots;
mod visit;

use std::ffi::OsString;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

pub use crate::sys::Query;
pub use progress::Snapshot;

use crate::filter::Filter;
use crate::measure::Measure;
use crate::problem::{Operation, Problem};
use crate::sys::{self, MountedIdentity, Stat, Symlinks};
use crate::tally::{Closed, Entry, Tally, Totals};
use dir::{Dir, Gathered};
use follow::Follows;
use handles::Handles;
use progress::Progress;
use roots::Root;

/// How to walk.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the totals count.
    pub measure: Measure,
    /// What does not count.
    pub filter: Filter,
    /// How many threads; one for each available core if not said.
    pub threads: Option<NonZeroUsize>,
    /// Stay on the file system of each root.
    pub one_file_system: bool,
    /// Follow symlinks below the roots.
    pub follow: bool,
    /// Count every hard link each time.
    pub count_links: bool,
    /// What else the tally and the filter want to know of an inode.
    pub query: Query,
    /// Set from outside, ends the walk early.
    pub interrupt: Arc<AtomicBool>,
}

/// What a walk came to.
#[derive(Debug)]
pub struct Walked<R> {
    /// The tally's report; none if no root could be read.
    pub report: Option<R>,
    /// What could not be read, sorted by path.
    pub problems: Vec<Problem>,
    /// Whether it was ended early, so that all totals are lower bounds.
    pub is_interrupted: bool,
}

impl<R> Walked<R> {
    /// Whether everything was read; if not, all totals are lower bounds.
    pub fn is_complete(&self) -> bool {
        !self.is_interrupted && !self.problems.iter().any(Problem::is_loss)
    }
}

/// A walk on its way, shared by all its tasks.
struct Walk<T: Tally> {
    options: Options,
    tally: T,
    handles: Handles<T::Part>,
    follows: Follows<T::Part>,
    progress: Arc<Progress>,
    /// Guards the list of what could not be read; taken once an error.
    problems: Mutex<Vec<Problem>>,
    /// Guards the tally's report; set once, when the root closes.
    report: Mutex<Option<T::Report>>,
}

/// More than any storage serves at the same time.
const MOST_THREADS: usize = 1_024;

/// Between two looks at the progress.
const TICK: Duration = Duration::from_millis(100);

/// Weighs `roots` and everything below, gathering with `tally`. While it goes on, `watch` is called
/// about ten times a second, on the calling thread.
///
/// With one readable root, that is what the report is about; with several, a node above them, whose
/// name is empty. A root that is another one, or lies inside another, is weighed once.
///
/// What cannot be read is among the problems, and the rest is weighed.
pub fn walk<T: Tally + 'static>(
    roots: Vec<OsString>,
    options: Options,
    tally: T,
    mut watch: impl FnMut(&Snapshot),
) -> Walked<T::Report> {
    let (roots, problems) = roots::resolve(roots, &options);
    let free = sys::free_handles();
    let wanted = options.threads.or_else(|| thread::available_parallelism().ok());
    let wanted = wanted.map_or(1, NonZeroUsize::get).min(MOST_THREADS);
    let pool = pool(handles::workers(wanted, free));
    let workers = pool.as_ref().map_or(1, ThreadPool::current_num_threads);
    let progress = Arc::new(Progress::new(workers));
    let walk = Walk {
        options,
        tally,
        handles: Handles::new(free, workers),
        follows: Follows::default(),
        progress: Arc::clone(&progress),
        problems: Mutex::new(problems),
        report: Mutex::new(None),
    };
    let Some(pool) = pool else { return walk.run_here(roots) };

    // The scope lives in the pool, so that this thread is free to watch.
    let (sender, receiver) = mpsc::sync_channel(1);
    pool.spawn(move || {
        // If nobody receives, the watching thread is gone, and nobody wants the result.
        let _ = sender.send(walk.run(roots));
    });
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(walked) => return walked,
            Err(RecvTimeoutError::Timeout) => watch(&progress.snapshot()),
            Err(RecvTimeoutError::Disconnected) => unreachable!("a worker sends or ends us all"),
        }
    }
}

/// As many threads as can be started, up to `workers`; none if none can.
fn pool(mut workers: usize) -> Option<ThreadPool> {
    while workers > 0 {
        match ThreadPoolBuilder::new().num_threads(workers).build() {
            Ok(pool) => return Some(pool),
            Err(_) => workers /= 2,
        }
    }
    None
}

impl<T: Tally> Walk<T> {
    /// Walks on the calling thread alone, where no other can be started.
    fn run_here(self, roots: Vec<Root>) -> Walked<T::Report> {
        match ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
            Ok(pool) => pool.install(|| self.run(roots)),
            // This thread belongs to a pool already, and the scope will use that one.
            Err(_) => self.run(roots),
        }
    }

    fn run(self, roots: Vec<Root>) -> Walked<T::Report> {
        rayon::scope(|scope| self.begin(scope, roots));
        if self.options.follow {
            self.follows.walk(&self);
        }
        let mut problems = self.problems.into_inner().unwrap_or_else(PoisonError::into_inner);
        problems.sort_unstable_by(|one, two| {
            (&one.path, one.operation).cmp(&(&two.path, two.operation))
        });
        problems.dedup();
        Walked {
            report: self.report.into_inner().unwrap_or_else(PoisonError::into_inner),
            problems,
            is_interrupted: self.options.interrupt.load(Ordering::Relaxed),
        }
    }

    fn begin<'s>(&'s self, scope: &Scope<'s>, mut roots: Vec<Root>) {
        if self.options.follow {
            for root in roots.iter().filter(|root| root.stat.is_directory()) {
                self.follows.enter(root.stat.identity());
            }
        }
        let filter = &self.options.filter;
        if roots.len() > 1 {
            let above = Arc::new(Dir::above_roots());
            for root in roots {
                if root.stat.is_directory() {
                    above.hand_out();
                    let dir = Arc::new(Dir::root(Some(Arc::clone(&above)), root, filter));
                    scope.spawn(move |scope| visit::directory(self, scope, dir, None));
                } else {
                    let (name, mount) = (root.path.to_bytes(), root.mount.id);
                    self.weigh(&mut above.gathered(), name, 0, &root.stat, mount);
                }
            }
            visit::settle(self, above);
        } else if let Some(root) = roots.pop() {
            if root.stat.is_directory() {
                let dir = Arc::new(Dir::root(None, root, filter));
                visit::directory(self, scope, dir, None);
            } else {
                let size = root.stat.weight(self.options.measure);
                let totals = Totals { size, entries: 1, shared: 0 };
                let name = root.path.to_bytes();
                let (stat, mount, own) = (&root.stat, root.mount.id, Some(size));
                let closed = Closed { name, depth: 0, stat, mount, own, totals };
                self.finish(&closed, T::Part::default());
            }
        }
    }

    /// Adds an entry that is no directory, seen through `mount`, to what is gathered.
    #[inline]
    fn weigh(
        &self,
        gathered: &mut Gathered<T::Part>,
        name: &[u8],
        depth: u32,
        stat: &Stat,
        mount: u64,
    ) {
        let size = stat.weight(self.options.measure);
        let identity = self.identity(stat, mount);
        // Symlinks that are followed add ways to an inode that its link count does not know.
        let links = if self.options.follow { u32::MAX } else { stat.links };
        match identity {
            Some(identity) => gathered.sum.add_link(identity, size, links),
            None => gathered.sum.add(size),
        }
        let entry = Entry { name, depth, stat, size, identity, links, mount };
        self.tally.leaf(&mut gathered.part, &entry);
    }

    /// Which inode this is, if it may be met again.
    fn identity(&self, stat: &Stat, mount: u64) -> Option<MountedIdentity> {
        if self.options.count_links {
            None
        } else if self.options.follow {
            // Symlinks lead through any mount.
            Some((0, stat.identity()))
        } else if stat.links > 1 && !stat.mount_point {
            Some((mount, stat.identity()))
        } else {
            None
        }
    }

    /// The root is closed.
    fn finish(&self, root: &Closed<'_>, part: T::Part) {
        let report = self.tally.finish(root, part);
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    fn symlinks(&self) -> Symlinks {
        if self.options.follow { Symlinks::Follow } else { Symlinks::Stay }
    }

    fn is_interrupted(&self) -> bool {
        self.options.interrupt.load(Ordering::Relaxed)
    }

    fn report(&self, path: Vec<u8>, operation: Operation, error: &io::Error) {
        self.record(Problem::new(path, operation, error));
    }

    fn record(&self, problem: Problem) {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).push(problem);
    }
}
