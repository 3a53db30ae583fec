//! The walk: visits every directory once, in parallel, and adds finished directories to their parents.
//!
//! It does not know what is kept ([`Tally`]), and touches the file system only through `sys`. Each directory is one
//! task. No task waits for another and none recurses, so depth costs memory on the heap and never stack. The calling
//! thread begins alone; if it finds little to do, no other thread is started. Otherwise tasks are rayon's, in one
//! scope, with one thread for each core, or a few more if the first look had to wait: at the listing of the root, and at
//! one file in it. For storage that answers slowly, tasks are on a stack of our own (`pool`), from which any number of
//! threads can take them. In the order of what coordination costs:
//!
//! 1. `visit`, for each file: no lock and no allocation; two relaxed loads (interrupted? more threads?), and a
//!    count on the worker's own cache line (`progress`). If a link to the same inode was examined before
//!    (`known`), or the listing has the attributes, not even a system call.
//! 2. `task`, for each directory: one lock to enter it and one to leave it, for where the worker is, what it knows, and
//!    the tasks that it has handed out; one more to hand out a task. Only a thread that steals a task contends for it.
//! 3. `dir`, for each part of a directory: one lock around the subtotal, and one atomic count of what is outstanding. The
//!    thread that brings it to 0 continues with the parent. A thread that holds a directory alone needs neither.
//! 4. `handles`: an atomic count for each directory, if the system does not tell the numbers of handles; a lock, if they
//!    are scarce. A lock for each part of a directory, around the names that are not found where they were listed
//!    (`find`).
//! 5. `sum`: under the directory's lock, the smaller set of hard links is merged into the larger.
//! 6. `pool`, once there were more threads than cores: one lock for each task, around the stack.
//! 7. Prefetching (`monitor`), once for each slow file system: before most of the walk, which waits meanwhile.
//! 8. `follow`: one lock for each directory, only with `-L`.
//! 9. `sharing`, only with `--frees`: two or more system calls for each large file, and a lock for each of its links if
//!    there are several.
//!
//! Meanwhile the calling thread runs `monitor`: it shows the progress, asks `thread_count` how many threads there
//! should be, and does not wait for storage that never answers.

mod dir;
mod find;
mod follow;
mod handles;
mod known;
mod monitor;
mod nested;
mod overlays;
mod pool;
mod progress;
mod rate;
mod sharing;
mod skip;
mod task;
mod thread_count;
mod visit;

use std::any::Any;
use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use std::{io, mem};

use dir::Dir;
use follow::Follows;
use handles::Handles;
use monitor::Monitor;
use nested::Root;
use overlays::Overlays;
use pool::Pool;
use progress::Workers;
use rate::RateLimit;
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};
use sharing::SharingAnswers;
use task::{Task, Worker};
use thread_count::ThreadChooser;

use crate::base::inode::Identity;
use crate::base::measure::View;
use crate::scan::containers;
use crate::scan::filter::{Filter, Scope};
use crate::scan::stats::{NotInBulk, Stage, WalkStats};
use crate::sys::problem::{Operation, Problem, reason};
use crate::sys::{self, Bulk, Handle, MountContent, MountTable, Source, Storage, Symlinks, Usage};
use crate::tree::Report;
use crate::tree::tally::{Entry, Tally};
use crate::tree::total::Subtotal;

pub use crate::sys::Query;
pub use crate::tree::total::Rules;
pub use progress::Progress;
pub use skip::{MountKind, SkippedMounts};

/// How to walk.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// What is shown of the figures. Its size is that of the progress.
    pub view: View,
    /// How inodes count, and whether symlinks are followed below the roots.
    pub rules: Rules,
    /// The filters.
    pub filter: Filter,
    /// How many threads; by default as many as keep the storage busy.
    pub threads: Option<NonZeroUsize>,
    /// How many entries a second are examined at most.
    pub rate: Option<NonZeroU32>,
    /// Stay on the file system of each root.
    pub one_file_system: bool,
    /// The mounts below roots that are not entered.
    pub skip: SkippedMounts,
    /// Enter overlays whose layers are weighed, too.
    pub overlays: bool,
    /// Prefetch the metadata of file systems from their devices, if these are slow and can be read.
    pub prefetch: bool,
    /// Read roots in bulk from their devices, if that is possible.
    pub bulk: bool,
    /// What lists the roots.
    pub source: Source,
    /// What else the tally and the filter need to know of an inode.
    pub query: Query,
    /// Ends the walk early when it is set from outside.
    pub interrupt: Arc<AtomicBool>,
}

impl WalkOptions {
    /// Whether nothing is left out on the file systems that the walk is to enter.
    pub fn is_of_all(&self) -> bool {
        self.filter.is_off() && self.skip.is_off()
    }

    /// Whether a walk of the file system `from` includes the file system `device`.
    fn is_weighed(&self, from: u64, device: u64) -> bool {
        !self.one_file_system || device == from
    }
}

/// Whether a walk enters a mount with this content. It enters the kernel's own file systems only below a root on one
/// of them (`is_synthetic`), and automounts never.
fn is_entered(content: MountContent, is_synthetic: bool) -> bool {
    match content {
        MountContent::Data | MountContent::Overlay => true,
        MountContent::Synthetic => is_synthetic,
        MountContent::Automount => false,
    }
}

/// The result of a walk.
#[derive(Debug)]
pub struct Walked<A> {
    /// What it weighed.
    pub report: Report<A>,
    /// What it did.
    pub stats: WalkStats,
}

/// A walk in progress, shared by all its workers.
struct Walk<T: Tally> {
    options: WalkOptions,
    rate: Option<RateLimit>,
    tally: T,
    handles: Handles<T::Part>,
    follows: Follows<T::Part>,
    workers: Workers<T::Part>,
    pool: Pool<T::Part>,
    /// The roots that are read in bulk.
    bulk: Vec<Bulk>,
    /// What files share, if it is asked.
    sharing: SharingAnswers,
    overlays: Overlays,
    /// Directories that may be in the storage of a container engine: the first ones by path, in that order. Locked once
    /// for each.
    storages: Mutex<Vec<Vec<u8>>>,
    /// Read when first asked for.
    mounts: OnceLock<MountTable>,
    /// Guards the list of problems; locked once for each.
    problems: Mutex<Vec<Problem>>,
    /// Guards the paths of what an interrupted walk did not finish, and how many bytes these take; none if they are too
    /// many. Locked once for each directory that is open then.
    unfinished: Mutex<Option<(Vec<Vec<u8>>, usize)>>,
    /// Guards the tally's answer; set once, when the root closes.
    answer: Mutex<Option<T::Answer>>,
    /// Guards the panic of the tally on another thread, if there was one.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// More than any storage serves at the same time.
const MOST_THREADS: usize = 1_024;
/// As many as keep a network file system busy (measured on FUSE).
const MOST_CHOSEN: usize = 128;

/// At least so many threads begin a walk whose first look had to wait for storage. Most storage serves several requests
/// at a time, and a small tree ends before another number could be tried.
const FIRST_UNCACHED: usize = 6;

/// Weighs `roots` and everything below them with `tally`. Meanwhile it calls `watch` about ten times a second, on the
/// calling thread.
///
/// The answer is about the root if only one is readable. If there are several, it is about a node above them whose
/// name is empty. A root that is the same as another, or inside another, is weighed once.
///
/// What cannot be read is among the problems, and everything else is weighed.
///
/// # Panics
/// If the tally panics. That also sets [`WalkOptions::interrupt`], which ends the other threads.
pub fn walk<T: Tally>(
    roots: Vec<OsString>,
    mut options: WalkOptions,
    tally: T,
    watch: impl FnMut(&Progress),
) -> Walked<T::Answer> {
    let before = sys::own_usage();
    options.skip.look();
    let (roots, problems) = nested::resolve(roots, &options);
    let free = sys::free_handles();
    let candidates = monitor::candidates(&roots, &options);
    let start = Instant::now();
    let (bulk, not_in_bulk) = in_bulk(&roots, &options);
    let mut walk = Walk::new(options, tally, problems, free);
    let read = (bulk.iter().map(Bulk::bytes).sum(), start.elapsed());
    walk.bulk = bulk;
    walk.overlays = Overlays::of(&roots);
    for path in roots.iter().map(|root| root.path.to_bytes()) {
        let name = path.rsplit(|byte| *byte == b'/').next();
        if name.is_some_and(containers::may_be_storage) {
            walk.remember_storage(path.to_vec());
        }
    }
    let walk = Arc::new(walk);
    let monitor = Monitor::new(Arc::clone(&walk), candidates, read);
    let is_local = roots.iter().all(|root| root.mount.storage == Storage::Local);
    walk.begin(roots);
    let stages = if walk.is_finished() {
        monitor.end()
    } else {
        let is_uncached = !walk.options.bulk && has_waited(&before, is_local);
        go_on(&walk, free, is_uncached, monitor, watch)
    };
    walk.pool.close();
    if let Some(panic) = lock(&walk.panic).take() {
        resume_unwind(panic);
    }
    let (sharing, overlays) = (walk.sharing.stats(), walk.overlays.stats());
    let storages = mem::take(&mut *lock(&walk.storages));
    let stats =
        WalkStats { stages, not_in_bulk, sharing, overlays, storages, ..WalkStats::default() };
    Walked { report: walk.outcome(), stats }
}

/// Whether this thread has waited for storage since `before`. Threads also wait for each other: beside one that loads a
/// snapshot, 6 of 8 walks of a cached tree did so at first (4 cores, 2026-11-27). So if storage `is_local`, what counts
/// is whether it was read. Only Linux says of each thread what was read for it.
fn has_waited(before: &Usage, is_local: bool) -> bool {
    let now = sys::own_usage();
    let is_told = is_local && cfg!(target_os = "linux");
    if is_told { now.reads > before.reads } else { now.waits > before.waits }
}

/// Reads `roots` in bulk, if the options ask for it. Returns also those for which it is not possible.
fn in_bulk(roots: &[Root], options: &WalkOptions) -> (Vec<Bulk>, Vec<NotInBulk>) {
    let (mut bulk, mut others) = (Vec::new(), Vec::new());
    let threads = options.threads.map_or(0, NonZeroUsize::get);
    for root in roots.iter().filter(|_| options.bulk) {
        let Root { path, stat, mount } = root;
        match Bulk::read(path, stat, *mount, options.query, threads, &options.interrupt) {
            Ok(read) => bulk.push(read),
            // The walk ends at once then.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => break,
            Err(error) => {
                let (root, reason) = (path.to_bytes().to_vec(), reason(&error));
                others.push(NotInBulk { root, reason });
            }
        }
    }
    (bulk, others)
}

/// Continues after the first look, on as many threads as are wanted and `free` handles allow. Returns what was done
/// with each number of them. `is_uncached` if that look had to wait, and so probably for storage.
fn go_on<T: Tally>(
    walk: &Arc<Walk<T>>,
    free: usize,
    is_uncached: bool,
    monitor: Monitor<T>,
    watch: impl FnMut(&Progress),
) -> Vec<Stage> {
    let room = sys::threads_with_room().min(MOST_THREADS);
    let fixed = walk.options.threads;
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    // Half of the handles are for directories that wait.
    let most = handles::workers(MOST_CHOSEN.min(room), free / 2);
    let wanted = match fixed {
        Some(threads) => threads.get(),
        None if is_uncached && most > FIRST_UNCACHED => cores.max(FIRST_UNCACHED),
        None => cores,
    };
    let mut workers = handles::workers(wanted.min(room), free);
    let Some((rayon_pool, threads)) = rayon_pool(workers) else {
        walk.run_here();
        return monitor.end();
    };
    // Unless the number of threads is fixed, there may be as many as `most` later.
    walk.handles.reserve(free, if fixed.is_some() { workers } else { workers.max(most) });
    walk.workers.make_room_for(workers);

    let (sender, receiver) = mpsc::sync_channel(1);
    let running = Arc::clone(walk);
    // The scope lives in the pool, so that this thread is free to watch.
    rayon_pool.spawn(move || {
        running.run();
        // If nobody receives it, nobody waits any more.
        let _ = sender.send(());
    });
    // The first thread works while the others are started: on a tree of 500 entries, that took 0.96 to 1.0 times as long
    // with 2 threads, and 0.85 to 0.9 with 16 (medians of 301 and 501 runs in turns, 2 cores, 2026-11-26).
    for (started, thread) in (1..).zip(threads).take_while(|_| !walk.is_finished()) {
        if start(thread).is_err() {
            workers = started;
            break;
        }
    }
    let is_fixed = fixed.is_some() || most <= workers;
    let cores = cores.min(workers);
    let chooser = (!is_fixed).then(|| ThreadChooser::new(cores, workers, most, is_uncached));
    monitor.watch(workers, chooser, &receiver, watch)
}

/// A pool whose first thread is started, and its other threads, which are not; none if no thread can be started.
fn rayon_pool(workers: usize) -> Option<(ThreadPool, impl Iterator<Item = ThreadBuilder>)> {
    let mut threads = Vec::with_capacity(workers);
    let pool = ThreadPoolBuilder::new().num_threads(workers).spawn_handler(|thread| {
        threads.push(thread);
        Ok(())
    });
    let pool = pool.build().ok()?;
    let mut threads = threads.into_iter();
    start(threads.next()?).ok()?;
    Some((pool, threads))
}

fn start(thread: ThreadBuilder) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().spawn(|| thread.run())
}

impl<T: Tally> Walk<T> {
    /// A walk that has not begun, with room for `free` open directories.
    fn new(options: WalkOptions, tally: T, problems: Vec<Problem>, free: usize) -> Self {
        Self {
            rate: options.rate.map(RateLimit::new),
            handles: Handles::new(free, options.bulk),
            options,
            tally,
            follows: Follows::default(),
            workers: Workers::default(),
            pool: Pool::default(),
            bulk: Vec::new(),
            sharing: SharingAnswers::default(),
            overlays: Overlays::default(),
            storages: Mutex::default(),
            mounts: OnceLock::new(),
            problems: Mutex::new(problems),
            unfinished: Mutex::new(Some(<(Vec<_>, usize)>::default())),
            answer: Mutex::new(None),
            panic: Mutex::new(None),
        }
    }

    /// Begins on the calling thread, and leaves the rest of the work on the stack.
    fn begin(&self, roots: Vec<Root>) {
        // Nobody watches yet, and remote storage may not answer, nor a limited rate be over soon.
        let is_near = matches!(&roots[..], [root] if root.mount.storage == Storage::Local)
            && self.rate.is_none();
        let worker = Worker::on_the_stack(self, &self.workers.caller);
        worker.begin(roots);
        if is_near && let Some(task) = self.pool.take_all().pop() {
            let known = worker.slot.enter(task.dir());
            worker.go_down(task, known);
        }
    }

    /// Walks on the calling thread alone, because no other can be started.
    fn run_here(&self) {
        match ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
            Ok(pool) => pool.install(|| self.run()),
            // This thread belongs to a pool already, and the scope would use that one.
            Err(_) => {
                self.workers.make_room_for(rayon::current_num_threads());
                self.run();
            }
        }
    }

    fn run(&self) {
        rayon::scope(|scope| {
            let worker = Worker::on_rayon(self, scope);
            for task in self.pool.take_all() {
                worker.hand_out(task);
            }
        });
        self.pool.wait();
        if self.options.rules.follow {
            self.follows.walk(self);
        }
    }

    /// Weighs a directory that was handed out, and everything below it.
    fn weigh_below(&self, dir: Arc<Dir<T::Part>>) {
        let task = Task::Directory { dir, parent: None };
        rayon::scope(|scope| Worker::on_rayon(self, scope).run(task));
        self.pool.wait();
    }

    fn is_finished(&self) -> bool {
        lock(&self.answer).is_some()
    }

    /// Ends the walk, because the tally has panicked on a thread that nobody waits for.
    fn fail(&self, panic: Box<dyn Any + Send>) {
        lock(&self.panic).get_or_insert(panic);
        self.options.interrupt.store(true, Ordering::Relaxed);
    }

    /// The result.
    fn outcome(&self) -> Report<T::Answer> {
        let mut problems = mem::take(&mut *lock(&self.problems));
        problems.sort_unstable();
        problems.dedup();
        Report {
            answer: lock(&self.answer).take(),
            problems,
            is_interrupted: self.is_interrupted(),
            unfinished: lock(&self.unfinished).take().map(|(paths, _)| paths),
        }
    }

    /// Remembers that `dir` may lack something, because the walk was interrupted. Its `parent` was taken out of it.
    #[cold]
    fn leave_unfinished(&self, dir: &Dir<T::Part>, parent: Option<&Dir<T::Part>>) {
        /// The most bytes of paths. In a deep chain, each directory has a path.
        const MOST: usize = 16 << 20;
        let mut unfinished = lock(&self.unfinished);
        let Some((paths, bytes)) = &mut *unfinished else { return };
        let path = match parent {
            Some(parent) if !dir.is_root => parent.path_of(dir.name()),
            _ => dir.path(),
        };
        *bytes += path.len() + size_of::<Vec<u8>>();
        paths.push(path);
        if *bytes > MOST {
            *unfinished = None;
        }
    }

    /// Adds an entry that is not a directory to the `subtotal` of `dir`.
    #[inline]
    fn weigh(&self, dir: &Dir<T::Part>, subtotal: &mut Subtotal<T::Part>, entry: &mut Entry<'_>) {
        self.options.rules.identify(entry);
        subtotal.add(&self.tally, entry, dir.is_gathered());
    }

    /// Opens a root by its path.
    fn open_root(&self, dir: &Dir<T::Part>) -> io::Result<Handle> {
        let handle = dir.mount.source.open(dir.name())?;
        let bulk = self.bulk.iter().find(|bulk| bulk.is_of(&dir.stat, dir.mount));
        Ok(match bulk {
            Some(bulk) => bulk.open(handle),
            None => handle,
        })
    }

    /// What filters know about `dir` now that it is open.
    fn scope(&self, dir: &Dir<T::Part>, handle: &Handle) -> Option<Arc<Scope>> {
        let filter = &self.options.filter;
        filter.enter(
            dir.scope.as_ref(),
            handle,
            || dir.names(),
            |path, error| {
                self.report(path, Operation::Read, error);
            },
        )
    }

    /// Whether the directory at `path`, which is on `mount`, is `dir` or above it. Its inode number alone is no proof.
    #[cold]
    fn is_within(&self, dir: &Dir<T::Part>, identity: Identity, path: &[u8], mount: u64) -> bool {
        let location = || self.location(path, mount);
        dir.above_with(identity).any(|above| {
            let both = self.location(&above.path(), above.mount.id).zip(location());
            both.is_none_or(|(above, location)| above == location)
        })
    }

    /// The hash of the location of the directory at `path`, which is on `mount`; none if the system does not tell.
    fn location(&self, path: &[u8], mount: u64) -> Option<u64> {
        let mounts = self.mounts.get_or_init(MountTable::read);
        Some(nested::location(mounts, path, mount)?.hashed())
    }

    /// Remembers a directory that may be in the storage of a container engine.
    #[cold]
    fn remember_storage(&self, path: Vec<u8>) {
        /// More than any machine has.
        const MOST: usize = 1_000;
        let mut storages = lock(&self.storages);
        let at = storages.partition_point(|known| *known < path);
        storages.insert(at, path);
        storages.truncate(MOST);
    }

    fn symlinks(&self) -> Symlinks {
        if self.options.rules.follow { Symlinks::Follow } else { Symlinks::Stay }
    }

    fn is_interrupted(&self) -> bool {
        self.options.interrupt.load(Ordering::Relaxed)
    }

    fn report(&self, path: Vec<u8>, operation: Operation, error: &io::Error) {
        self.record(Problem::new(path, operation, error));
    }

    fn record(&self, problem: Problem) {
        lock(&self.problems).push(problem);
    }
}

/// Locks `mutex`. No lock here guards a half-finished update, so a poisoned one is still sound.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
