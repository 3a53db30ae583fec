//! More threads than cores, for storage that keeps them waiting.
//!
//! Rayon's deques cost next to nothing, but its number of threads is fixed. Here a task waits for storage a thousand
//! times longer than for a lock. So one stack behind one lock is enough, and the monitor can change at any time how
//! many threads may take tasks from it. It is a stack because the last task found is the deepest. So depth, and not
//! breadth, limits how many tasks are queued. `benches/README.md` says what else was tried.
//!
//! If nothing has to be waited for any more, the threads keep to the stack, but its tasks are as large as rayon's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{io, thread};

use super::task::{Task, Worker};
use super::{Walk, lock};
use crate::tree::tally::Tally;

/// Tasks and the threads that do them.
#[derive(Debug, Default)]
pub(super) struct Pool<P> {
    /// Guards the tasks and the number of threads at work; no system call is made under it.
    state: Mutex<State<P>>,
    /// There may be something to take.
    work: Condvar,
    /// There may be nothing left.
    idle: Condvar,
    /// Whether tasks belong here. Each thread sets it before it takes one. Relaxed: a thread of rayon's that sees it late
    /// hands its task over late.
    is_engaged: AtomicBool,
    /// Whether each entry may take long, so that threads share entries in small portions. Relaxed: a thread that sees
    /// it late shares late.
    is_slow: AtomicBool,
    /// More threads work than may; written under the lock. Relaxed: a thread that sees it late stops late.
    is_crowded: AtomicBool,
}

#[derive(Debug, Default)]
struct State<P> {
    tasks: Vec<Task<P>>,
    /// How many tasks are being done.
    at_work: usize,
    /// How many may be.
    limit: usize,
    /// How many threads have been started.
    threads: usize,
    is_closed: bool,
}

impl<P> Pool<P> {
    /// Whether tasks belong here from now on.
    #[inline]
    pub(super) fn is_engaged(&self) -> bool {
        self.is_engaged.load(Ordering::Relaxed)
    }

    /// Whether each entry may take long.
    #[inline]
    pub(super) fn is_slow(&self) -> bool {
        self.is_slow.load(Ordering::Relaxed)
    }

    /// Whether a thread should stop and hand out the rest of its work.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.is_crowded.load(Ordering::Relaxed)
    }

    /// Adds a task.
    pub(super) fn push(&self, task: Task<P>) {
        let mut state = lock(&self.state);
        state.tasks.push(task);
        let is_wanted = state.at_work < state.limit;
        drop(state);
        if is_wanted {
            self.work.notify_one();
        }
    }

    /// Takes every task that no thread has begun.
    pub(super) fn take_all(&self) -> Vec<Task<P>> {
        std::mem::take(&mut lock(&self.state).tasks)
    }

    /// Waits until nothing is left to do.
    pub(super) fn wait(&self) {
        let idle = self
            .idle
            .wait_while(lock(&self.state), |state| state.at_work > 0 || !state.tasks.is_empty());
        drop(idle.unwrap_or_else(PoisonError::into_inner));
    }

    /// Lets no thread take a task for now. Threads at work stop soon, and hand out the rest of their work.
    pub(super) fn rest(&self) {
        let mut state = lock(&self.state);
        state.limit = 0;
        self.is_crowded.store(state.at_work > 0, Ordering::Relaxed);
    }

    /// Lets every thread end when it is done.
    pub(super) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.work.notify_all();
    }

    /// Waits for a task and takes it; none if the pool is closed. `is_back` if the caller has finished another task.
    fn take(&self, is_back: bool) -> Option<Task<P>> {
        let mut state = lock(&self.state);
        if is_back {
            state.at_work -= 1;
            self.is_crowded.store(state.at_work > state.limit, Ordering::Relaxed);
            if state.at_work == 0 && state.tasks.is_empty() {
                self.idle.notify_all();
            }
        }
        let work = self.work.wait_while(state, |state| {
            !state.is_closed && (state.tasks.is_empty() || state.at_work >= state.limit)
        });
        let mut state = work.unwrap_or_else(PoisonError::into_inner);
        let task = state.tasks.pop().filter(|_| !state.is_closed)?;
        state.at_work += 1;
        Some(task)
    }
}

/// Lets `limit` threads work from now on; fewer if no more can be started. If storage `is_slow`, they share entries.
pub(super) fn engage<T: Tally>(walk: &Arc<Walk<T>>, limit: usize, is_slow: bool) {
    let pool = &walk.pool;
    pool.is_slow.store(is_slow, Ordering::Relaxed);
    let missing = {
        let mut state = lock(&pool.state);
        state.limit = limit;
        pool.is_crowded.store(state.at_work > limit, Ordering::Relaxed);
        let first = state.threads;
        state.threads = first.max(limit);
        first..limit
    };
    pool.work.notify_all();
    for thread in missing {
        if start(walk, thread).is_err() {
            lock(&pool.state).threads = thread;
            break;
        }
    }
}

fn start<T: Tally>(walk: &Arc<Walk<T>>, thread: usize) -> io::Result<()> {
    let walk = Arc::clone(walk);
    let builder = thread::Builder::new().name(format!("weigh {thread}"));
    builder.spawn(move || work(&walk, thread)).map(drop)
}

/// What a thread does until the pool is closed.
fn work<T: Tally>(walk: &Walk<T>, thread: usize) {
    let worker = Worker::on_the_stack(walk, walk.workers.of_pool(thread));
    walk.pool.is_engaged.store(true, Ordering::Relaxed);
    let mut is_back = false;
    while let Some(task) = walk.pool.take(is_back) {
        worker.run(task);
        is_back = true;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;
    use crate::scan::filter::Filter;
    use crate::scan::walk::WalkOptions;
    use crate::scan::walk::dir::Dir;
    use crate::scan::walk::nested::{self, Root};
    use crate::sys::{Mount, Stat};
    use crate::tree::tally::Entry;

    /// On Miri (`tests/README.md`), with threads in many different orders: no task is lost, none is done twice, and
    /// no thread waits for ever, however the limit changes.
    #[test]
    fn every_task_is_done_once_and_whoever_waits_is_told() {
        let (root, mount) = (c"r".into(), Mount::default());
        let root = Root { path: root, stat: Stat::default(), mount };
        let dir = Arc::new(Dir::<()>::root(None, root, &Filter::default(), |_, _| ()));
        let task = || Task::Directory { dir: Arc::clone(&dir), parent: None };
        let (pool, done) = (Pool::default(), AtomicU32::new(0));
        pool.push(task());
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut is_back = false;
                    while pool.take(is_back).is_some() {
                        is_back = true;
                        // The first three find two more each.
                        if done.fetch_add(1, Ordering::Relaxed) < 3 {
                            pool.push(task());
                            pool.push(task());
                        }
                    }
                });
            }
            for limit in [1, 3, 2] {
                lock(&pool.state).limit = limit;
                pool.work.notify_all();
                thread::yield_now();
            }
            pool.wait();
            assert_eq!((done.load(Ordering::Relaxed), pool.take_all().len()), (7, 0));
            pool.close();
        });
    }

    /// Adds the parts of a directory once, and not once for each entry, which takes twice as long.
    #[test]
    fn entries_are_shared_only_if_storage_is_slow() {
        let merges = |is_slow| {
            let walk = walk_of_sources(Counts::default());
            engage(&walk, 2, is_slow);
            walk.pool.wait();
            walk.pool.close();
            walk.tally.merges.load(Ordering::Relaxed)
        };
        let (fast, slow) = (merges(false), merges(true));
        assert!(fast < 10 && slow > 20, "{fast} and {slow}");
    }

    /// A walk of `src/walk` that has begun, and goes on once threads are engaged.
    fn walk_of_sources<T: Tally>(tally: T) -> Arc<Walk<T>> {
        let options = WalkOptions::default();
        let (roots, problems) = nested::resolve(vec!["src/scan/walk".into()], &options);
        let walk = Arc::new(Walk::new(options, tally, problems, 100));
        Worker::on_the_stack(&*walk, &walk.workers.caller).begin(roots);
        walk
    }

    #[derive(Default)]
    struct Counts {
        merges: AtomicU32,
    }

    impl Tally for Counts {
        type Part = ();
        type Answer = ();

        fn leaf(&self, (): &mut (), _: &Entry<'_>) {}

        fn merge(&self, (): &mut (), (): ()) {
            self.merges.fetch_add(1, Ordering::Relaxed);
        }

        fn close(&self, (): &mut (), _: &Entry<'_>, (): ()) {}

        fn finish(&self, _: &Entry<'_>, (): ()) {}
    }

    struct Panics;

    impl Tally for Panics {
        type Part = ();
        type Answer = ();

        fn leaf(&self, (): &mut (), _: &Entry<'_>) {
            panic!("a tally that panics");
        }

        fn merge(&self, (): &mut (), (): ()) {}

        fn close(&self, (): &mut (), _: &Entry<'_>, (): ()) {}

        fn finish(&self, _: &Entry<'_>, (): ()) {}
    }

    /// Otherwise a thread that waits for the task would wait for ever.
    #[test]
    fn a_task_that_panics_is_done() {
        let walk = walk_of_sources(Panics);
        engage(&walk, 2, true);
        walk.pool.wait();
        walk.pool.close();
        assert!(lock(&walk.panic).is_some() && walk.is_interrupted());
    }
}
