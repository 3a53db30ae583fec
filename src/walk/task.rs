//! What there is to be done, and how a worker does it.
//!
//! A task opens a directory, lists it, states what is in it, hands out a task for each subdirectory,
//! and ends. A large directory is shared as it is open: whoever is free reads the next buffer. Nobody
//! waits for a child and nothing recurses: whoever finishes the last of what was handed out below a
//! directory closes it, and goes on upward in a loop.

use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rayon::Scope;

use super::dir::Dir;
use super::handles::Lease;
use super::progress::Slot;
use super::roots::Root;
use super::visit::Visit;
use super::{Walk, lock};
use crate::problem::Operation;
use crate::sys::{self, Listing};
use crate::tally::{Closed, Entry, Tally};
use crate::total::{self, Directory};

/// Something to be done in a directory, which counts it as outstanding.
#[derive(Debug)]
pub(super) enum Task<P> {
    /// All of it. `parent` is open, or has been let go.
    Directory { dir: Arc<Dir<P>>, parent: Option<Arc<Lease>> },
    /// What has not been listed yet.
    Unlisted { dir: Arc<Dir<P>>, lease: Arc<Lease> },
    /// Entries that have been listed.
    Entries { dir: Arc<Dir<P>>, lease: Arc<Lease>, names: Listing },
}

impl<P> Task<P> {
    /// The directory it is about.
    pub(super) fn dir(&self) -> &Arc<Dir<P>> {
        match self {
            Task::Directory { dir, .. }
            | Task::Unlisted { dir, .. }
            | Task::Entries { dir, .. } => dir,
        }
    }
}

/// A thread at work, and where it puts the tasks that it finds.
pub(super) struct Worker<'a, 's, T: Tally> {
    pub(super) walk: &'s Walk<T>,
    pub(super) slot: &'s Slot<T::Part>,
    /// In first gear, the scope; before and after it, there is a stack for all.
    scope: Option<&'a Scope<'s>>,
}

/// What a thread keeps from one directory to the next, so that listing allocates nothing.
#[derive(Default)]
struct Scratch {
    buffer: Vec<u8>,
    names: Listing,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl<'a, 's, T: Tally> Worker<'a, 's, T> {
    /// The worker that a thread of the scope's pool is.
    pub(super) fn in_first_gear(walk: &'s Walk<T>, scope: &'a Scope<'s>) -> Self {
        let slot = walk.workers.first(rayon::current_thread_index().unwrap_or(0));
        Self { walk, slot, scope: Some(scope) }
    }

    /// The worker that any other thread is, with a slot of its own.
    pub(super) fn on_the_stack(walk: &'s Walk<T>, slot: &'s Slot<T::Part>) -> Self {
        Self { walk, slot, scope: None }
    }

    /// Hands out the roots that are directories, and weighs the others.
    pub(super) fn begin(&self, mut roots: Vec<Root>) {
        let (walk, filter) = (self.walk, &self.walk.options.filter);
        if walk.options.follow {
            for root in roots.iter().filter(|root| root.stat.is_directory()) {
                walk.follows.enter(root.stat.identity());
            }
        }
        if roots.len() > 1 {
            let mut above = Dir::above_roots();
            above.begin(&walk.tally);
            let above = Arc::new(above);
            for root in roots {
                if root.stat.is_directory() && above.hand_out() {
                    self.hand_out_root(Dir::root(Some(Arc::clone(&above)), root, filter));
                } else {
                    let (name, stat, mount) = (root.path.to_bytes(), &root.stat, root.mount.id);
                    let size = stat.weight(walk.options.measure);
                    let entry = Entry::new(name, 0, stat, size, mount);
                    walk.weigh(&above, &mut above.subtotal(), entry);
                }
            }
            settle(walk, above);
        } else if let Some(root) = roots.pop() {
            if root.stat.is_directory() {
                self.hand_out_root(Dir::root(None, root, filter));
            } else {
                let totals = walk.rules.alone(&root.stat);
                let (name, own) = (root.path.to_bytes(), Some(totals.size));
                let (stat, mount) = (&root.stat, root.mount.id);
                let closed = Closed { name, depth: 0, stat, mount, own, totals };
                let report = walk.tally.finish(&closed, T::Part::default());
                *lock(&walk.report) = Some(report);
            }
        }
    }

    fn hand_out_root(&self, mut root: Dir<T::Part>) {
        root.begin(&self.walk.tally);
        self.slot.find(1);
        self.hand_out(Task::Directory { dir: Arc::new(root), parent: None });
    }

    /// Hands out a task.
    pub(super) fn hand_out(&self, task: Task<T::Part>) {
        let walk = self.walk;
        match self.scope {
            Some(scope) if !walk.pool.is_engaged() => {
                // Rayon keeps what it is given to itself. So it is given no task, but word of one: after
                // Ctrl-C, when all of its threads may hang, the tasks can be taken back.
                let from = self.slot;
                from.push(task);
                scope.spawn(move |scope| {
                    let worker = Worker::in_first_gear(walk, scope);
                    if let Some(task) = from.pop(ptr::eq(from, worker.slot)) {
                        worker.run(task);
                    }
                });
            }
            _ => walk.pool.push(task),
        }
    }

    /// Does `task` and hands out what it leads to.
    pub(super) fn look(&self, task: Task<T::Part>) {
        if let Some(next) = self.settle_step(task) {
            self.hand_out(next);
        }
    }

    /// Does `task`; then the last subdirectory found, and so on down. The others are handed out. In
    /// first gear, hands itself over when a higher one is engaged.
    ///
    /// Going on rather than handing out the last one too took a chain of 1,500 directories from 22
    /// to 15 ms of CPU time: nobody is woken for what this thread would do next anyway.
    ///
    /// Where the tally panics, the walk ends, and its caller is told.
    pub(super) fn run(&self, task: Task<T::Part>) {
        self.slot.begin();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.run_on(task))) {
            self.slot.leave();
            self.walk.fail(panic);
        }
        self.slot.end();
    }

    fn run_on(&self, task: Task<T::Part>) {
        let mut next = Some(task);
        while let Some(task) = next {
            if self.scope.is_some() && self.walk.pool.is_engaged() {
                return self.walk.pool.push(task);
            }
            next = self.settle_step(task);
        }
    }

    /// Does one task, and then its directory has one less to wait for, or the one that it returns.
    fn settle_step(&self, task: Task<T::Part>) -> Option<Task<T::Part>> {
        let dir = Arc::clone(task.dir());
        self.slot.enter(&dir);
        let next = self.step(task);
        if !self.slot.leave() {
            // It took so long that somebody else has settled the directory.
            return None;
        }
        let next = next.filter(|_| dir.hand_out());
        settle(self.walk, dir);
        next
    }

    /// Whether what there is to be done may be waited for, and is to be had in small portions.
    pub(super) fn is_cautious(&self) -> bool {
        self.scope.is_none() || self.walk.pool.is_engaged()
    }

    /// Whether this is the calling thread, which nobody watches while it takes its first look.
    pub(super) fn is_unwatched(&self) -> bool {
        self.scope.is_none() && !self.walk.pool.is_engaged()
    }

    /// Does one task. What it returns is not counted as outstanding yet.
    fn step(&self, task: Task<T::Part>) -> Option<Task<T::Part>> {
        if self.walk.is_interrupted() {
            return None;
        }
        match task {
            Task::Directory { dir, parent } => {
                let opened = self.open(&dir, parent);
                self.slot.step();
                match opened {
                    Ok(Some(handle)) => {
                        let scope = self.walk.scope(&dir, &handle);
                        let lease = Arc::new(self.walk.handles.lease(handle, scope));
                        self.walk.handles.keep_if_root(&dir, &lease);
                        return self.list(&dir, &lease);
                    }
                    Ok(None) => {}
                    Err(error) => self.walk.report(dir.path(), Operation::Open, &error),
                }
                None
            }
            Task::Unlisted { dir, lease } => self.list(&dir, &lease),
            Task::Entries { dir, lease, names } => {
                let mut visit = Visit::new(self, &dir, &lease);
                visit.weigh(&names);
                visit.finish()
            }
        }
    }

    /// Weighs what has not been listed yet of an open directory, and hands out its subdirectories,
    /// but for the last one.
    fn list(&self, dir: &Arc<Dir<T::Part>>, lease: &Arc<Lease>) -> Option<Task<T::Part>> {
        /// From so many entries on, weighing them takes so much longer than a task costs that
        /// whatever more there is may as well be read by somebody else.
        const LARGE: usize = 256;
        let walk = self.walk;
        let mut visit = Visit::new(self, dir, lease);
        SCRATCH.with_borrow_mut(|Scratch { buffer, names }| {
            loop {
                names.clear();
                let read = lease.handle.read(buffer, names, dir.mount.end);
                self.slot.call(1);
                let is_end = !matches!(read, Ok(true)) || walk.is_interrupted();
                if let Err(error) = read {
                    self.report_unless_vanished(dir, &error);
                }
                let is_large = names.len() >= LARGE || walk.pool.is_engaged();
                let is_shared = !is_end && is_large && walk.handles.is_plenty() && dir.hand_out();
                if is_shared {
                    lease.missing.hand_out();
                    self.hand_out(Task::Unlisted {
                        dir: Arc::clone(dir),
                        lease: Arc::clone(lease),
                    });
                }
                self.slot.find(names.len());
                if walk.pool.is_engaged() {
                    names.sort_by_inode();
                }
                visit.weigh(names);
                if is_end || is_shared {
                    break;
                }
            }
        });
        visit.finish()
    }
}

/// Tries again while there are no handles to be had. They are counted, so running out means that
/// others took them: other parts of the process or, for ENFILE, other processes.
pub(super) fn with_patience<T: Tally, R>(
    walk: &Walk<T>,
    mut attempt: impl FnMut() -> io::Result<R>,
) -> io::Result<R> {
    /// Two seconds are long enough for a passing burst.
    const TRIES: u32 = 2_000;
    for _ in 0..TRIES {
        match attempt() {
            Err(error) if sys::is_out_of_handles(&error) && !walk.is_interrupted() => {
                walk.handles.forget_waypoints();
                thread::sleep(Duration::from_millis(1));
            }
            other => return other,
        }
    }
    attempt()
}

/// One thing is done in `dir`. If it was the last, closes it, and so on upward.
pub(super) fn settle<T: Tally>(walk: &Walk<T>, mut dir: Arc<Dir<T::Part>>) {
    while dir.hand_in() {
        let parent = dir.parent.clone();
        let directory = Directory {
            name: dir.name.to_bytes(),
            depth: dir.depth,
            stat: &dir.stat,
            mount: dir.mount.id,
            own: dir.is_counted.then(|| dir.stat.weight(walk.rules.measure)),
            beside: walk.rules.beside(&dir.stat),
            known: None,
            is_root: dir.is_root,
            is_shown: parent.as_ref().is_none_or(|parent| parent.is_gathered()),
        };
        let (rules, tally, subtotal) = (&walk.rules, &walk.tally, dir.take_subtotal());
        let Some(parent) = parent else {
            let report = total::finish(rules, tally, &directory, subtotal);
            return *lock(&walk.report) = Some(report);
        };
        total::close(rules, tally, &directory, subtotal, || parent.subtotal());
        dir = parent;
    }
}
