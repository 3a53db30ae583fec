//! The tasks, and how a worker does them.
//!
//! A task opens a directory, lists it, examines its entries, hands out a task for each subdirectory, and ends.
//! Threads share a large directory while it is open: any free one reads the next buffer. No task waits for a child
//! and nothing recurses. The thread that finishes the last thing below a directory closes it, and continues upward in
//! a loop.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::{io, mem, thread};

use rayon::Scope;

use super::dir::Dir;
use super::handles::{CountedHandle, PATIENCE};
use super::known::Known;
use super::nested::Root;
use super::progress::Slot;
use super::visit::Visit;
use super::{Walk, lock};
use crate::base::measure::Kind;
use crate::scan::filter::{CACHE_TAG, is_cache, may_be_cache_tag};
use crate::sys::problem::Operation;
use crate::sys::{self, Listed, Listing};
use crate::tree::tally::{Entry, Tally};
use crate::tree::total::{self, Shown, Subtotal};

/// Work in a directory, which counts it as outstanding.
#[derive(Debug)]
pub(super) enum Task<P> {
    /// All of it. `parent` is open, or was released.
    Directory { dir: Arc<Dir<P>>, parent: Option<Arc<CountedHandle>> },
    /// The part that is not listed yet.
    Unlisted { dir: Arc<Dir<P>>, open: Arc<CountedHandle> },
    /// Entries that are listed.
    Entries { dir: Arc<Dir<P>>, open: Arc<CountedHandle>, names: Listing },
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

/// A thread that does tasks, and where it puts new ones.
pub(super) struct Worker<'a, 's, T: Tally> {
    pub(super) walk: &'s Walk<T>,
    pub(super) slot: &'s Slot<T::Part>,
    /// On rayon's threads, the scope; before and after it, tasks go to the common stack.
    scope: Option<&'a Scope<'s>>,
}

/// Memory that a thread reuses for every directory, so that listing allocates nothing.
#[derive(Default)]
struct Scratch {
    buffer: Vec<u8>,
    names: Listing,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl<'a, 's, T: Tally> Worker<'a, 's, T> {
    /// The worker for a thread of the scope's pool.
    pub(super) fn on_rayon(walk: &'s Walk<T>, scope: &'a Scope<'s>) -> Self {
        let slot = walk.workers.of_rayon(rayon::current_thread_index().unwrap_or(0));
        Self { walk, slot, scope: Some(scope) }
    }

    /// The worker for any other thread, with a slot of its own.
    pub(super) fn on_the_stack(walk: &'s Walk<T>, slot: &'s Slot<T::Part>) -> Self {
        Self { walk, slot, scope: None }
    }

    /// Hands out the roots that are directories, and weighs the others.
    pub(super) fn begin(&self, mut roots: Vec<Root>) {
        let (walk, filter, rules) = (self.walk, &self.walk.options.filter, self.walk.options.rules);
        let report = |path, error: &_| walk.report(path, Operation::Read, error);
        if roots.len() > 1 {
            let mut above = Dir::above_roots();
            above.begin(&walk.tally);
            let above = Arc::new(above);
            for root in roots {
                if root.stat.is_directory() && above.hand_out() {
                    self.hand_out_root(Dir::root(Some(Arc::clone(&above)), root, filter, report));
                } else {
                    let (name, stat, mount) = (root.path.to_bytes(), &root.stat, root.mount.id);
                    let mut entry = Entry::new(name, 0, stat, rules.figures(stat), mount);
                    let mut subtotal = above.subtotal();
                    if rules.frees {
                        walk.add_sharing(&mut subtotal, root.mount, None, &root.path, &mut entry);
                    }
                    walk.weigh(&above, &mut subtotal, &mut entry);
                }
            }
            settle(walk, above, None);
        } else if let Some(root) = roots.pop() {
            if root.stat.is_directory() {
                self.hand_out_root(Dir::root(None, root, filter, report));
            } else {
                let (name, figures) = (root.path.to_bytes(), rules.figures(&root.stat));
                let mut entry = Entry::new(name, 0, &root.stat, figures, root.mount.id);
                entry.own = Some(figures);
                // It may be met again, as another root of a snapshot.
                rules.identify(&mut entry);
                if rules.frees {
                    let mut alone = Subtotal::default();
                    walk.add_sharing(&mut alone, root.mount, None, &root.path, &mut entry);
                }
                let answer = walk.tally.finish(&entry, T::Part::default());
                *lock(&walk.answer) = Some(answer);
            }
        }
    }

    fn hand_out_root(&self, mut root: Dir<T::Part>) {
        let walk = self.walk;
        if walk.options.rules.follow {
            root.location = walk.location(root.name().to_bytes(), root.mount.id);
            walk.follows.enter(root.stat.identity(), root.location);
        }
        root.begin(&walk.tally);
        self.slot.find(1);
        self.hand_out(Task::Directory { dir: Arc::new(root), parent: None });
    }

    /// Hands out a task.
    pub(super) fn hand_out(&self, task: Task<T::Part>) {
        let walk = self.walk;
        match self.scope {
            Some(scope) if !walk.pool.is_engaged() => {
                // Rayon does not give back what it is given. So it gets no task, but a notice of one. After Ctrl-C,
                // when all of its threads may hang, the tasks can be taken back.
                let from = self.slot;
                from.push(task);
                scope.spawn(move |scope| {
                    Worker::on_rayon(walk, scope).run_next(from);
                });
            }
            _ => walk.pool.push(task),
        }
    }

    /// Does `task`; then the last subdirectory found, and so on down. It hands out the others. On rayon's threads, it
    /// hands over what is left when those of `pool` take over; on the calling thread at the beginning, after one step.
    ///
    /// To continue with the last subdirectory, and not hand it out too, took a chain of 1,500 directories from 22 to
    /// 15 ms of CPU time, because no other thread is woken for it.
    ///
    /// If the tally panics, the walk ends, and its caller panics.
    pub(super) fn run(&self, task: Task<T::Part>) {
        self.work(|| {
            let known = self.slot.enter(task.dir());
            Some((task, known))
        });
    }

    /// Does the same with a task that the worker of `from` has handed out, if there is one left.
    fn run_next(&self, from: &Slot<T::Part>) {
        self.work(|| self.slot.take(from));
    }

    /// Takes a task, and does it.
    fn work(&self, take: impl FnOnce() -> Option<(Task<T::Part>, Known)>) {
        self.slot.begin();
        if let Some((task, known)) = take()
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.go_down(task, known)))
        {
            self.slot.leave(Known::default());
            self.walk.fail(panic);
        }
        self.slot.end();
    }

    /// Does `task`, in whose directory the worker is, and lets a panic through. A directory is not settled while its last
    /// subdirectory is outstanding in its place.
    pub(super) fn go_down(&self, mut task: Task<T::Part>, mut known: Known) {
        let end = loop {
            if self.is_relieved() {
                break ControlFlow::Continue(task);
            }
            match self.step(task, &mut known) {
                ControlFlow::Continue(found) => {
                    if !self.slot.move_to(found.dir()) {
                        return;
                    }
                    if self.is_unwatched() {
                        break ControlFlow::Continue(found);
                    }
                    task = found;
                }
                ControlFlow::Break(rest) => break ControlFlow::Break(rest),
            }
        };
        // None if it took so long that its directory was settled without it.
        let Some(dir) = self.slot.leave(known) else { return };
        match end {
            ControlFlow::Continue(task) => self.walk.pool.push(task),
            ControlFlow::Break(rest) => settle(self.walk, dir, rest),
        }
    }

    /// Whether this is a thread of rayon's, and those of `pool` take over.
    fn is_relieved(&self) -> bool {
        self.scope.is_some() && self.walk.pool.is_engaged()
    }

    /// Whether this is the calling thread at the beginning, while nobody watches it.
    pub(super) fn is_unwatched(&self) -> bool {
        self.scope.is_none() && !self.walk.pool.is_engaged()
    }

    /// Does one task. Returns the one for the last subdirectory that it found; if there is none, the subtotal of the
    /// entries that it weighed, if it weighed any.
    fn step(
        &self,
        task: Task<T::Part>,
        known: &mut Known,
    ) -> ControlFlow<Option<Subtotal<T::Part>>, Task<T::Part>> {
        let walk = self.walk;
        if walk.is_interrupted() {
            return ControlFlow::Break(None);
        }
        let (found, open) = match task {
            Task::Directory { dir, parent } => {
                let opened = self.open(&dir, parent);
                self.slot.step();
                let handle = match opened {
                    Ok(Some(handle)) => handle,
                    Ok(None) => return ControlFlow::Break(None),
                    Err(error) => {
                        walk.report(dir.path(), Operation::Open, &error);
                        return ControlFlow::Break(None);
                    }
                };
                let scope = walk.scope(&dir, &handle);
                let open = Arc::new(walk.handles.count(handle, scope));
                walk.handles.keep_if_root(&dir, &open);
                (self.list(&dir, &open, known, true), open)
            }
            Task::Unlisted { dir, open } => (self.list(&dir, &open, known, false), open),
            Task::Entries { dir, open, names } => {
                let mut visit = Visit::new(self, &dir, &open, known, false);
                visit.weigh(&names);
                (visit.finish(), open)
            }
        };
        found.map_break(Some).map_continue(|dir| Task::Directory { dir, parent: Some(open) })
    }

    /// Weighs the part of an open directory that is not listed yet, and hands out all subdirectories but the last.
    /// Returns the same as [`Visit::finish`].
    fn list(
        &self,
        dir: &Arc<Dir<T::Part>>,
        open: &Arc<CountedHandle>,
        known: &mut Known,
        is_all_unlisted: bool,
    ) -> ControlFlow<Subtotal<T::Part>, Arc<Dir<T::Part>>> {
        /// To weigh so many entries takes so much longer than a task costs that another thread may as well read the
        /// rest.
        const LARGE: usize = 256;
        /// The tag of a cache decides about all entries, wherever it is listed. Of more entries than this, it is looked
        /// up and not waited for: memory is bounded, and one call more is nothing beside so many.
        const MANY: usize = 10_000;
        let walk = self.walk;
        let mut visit = Visit::new(self, dir, open, known, is_all_unlisted);
        let mut may_be_cache = is_all_unlisted && walk.options.filter.leaves_out_caches;
        SCRATCH.with_borrow_mut(|Scratch { buffer, names }| {
            loop {
                names.clear();
                let mut read = open.handle.read(buffer, names, dir.mount.end);
                self.slot.call(1);
                if mem::take(&mut may_be_cache) {
                    while matches!(read, Ok(true)) && names.len() < MANY && !walk.is_interrupted() {
                        read = open.handle.read(buffer, names, dir.mount.end);
                        self.slot.call(1);
                    }
                    if let Some(tag) = self.tag_of_cache(dir, open, names, &read) {
                        self.slot.find(tag.len());
                        visit.weigh(&tag);
                        break;
                    }
                }
                let is_end = !matches!(read, Ok(true)) || walk.is_interrupted();
                if let Err(error) = read {
                    self.report_unless_vanished(dir, &error);
                }
                let is_large = names.len() >= LARGE || walk.pool.is_slow();
                let may_be_shared = !is_end && is_large && walk.handles.is_plenty_for(open);
                let is_shared = may_be_shared && dir.hand_out();
                if is_shared {
                    open.missing.hand_out();
                    self.hand_out(Task::Unlisted { dir: Arc::clone(dir), open: Arc::clone(open) });
                }
                self.slot.find(names.len());
                if walk.pool.is_slow() {
                    names.sort_by_inode();
                } else if self.is_unwatched() {
                    // A listing may be cached where what it lists is not.
                    names.begin_with_a_file();
                }
                visit.weigh(names);
                if is_end || is_shared {
                    break;
                }
            }
        });
        visit.finish()
    }

    /// If an open directory is a cache, whose content filters leave out, its tag, which counts. `names` are listed, and
    /// as `read` says, there may be more. Only if a tag is, or may be, among them, something is opened.
    fn tag_of_cache(
        &self,
        dir: &Dir<T::Part>,
        open: &CountedHandle,
        names: &Listing,
        read: &io::Result<bool>,
    ) -> Option<Listing> {
        let listed = names.iter().find(|listed| may_be_cache_tag(*listed));
        if listed.is_none() && matches!(read, Ok(false)) {
            return None;
        }
        match is_cache(&open.handle) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => {
                self.walk.report(dir.path_of(CACHE_TAG), Operation::Read, &error);
                return None;
            }
        }
        let unlisted = Listed { name: CACHE_TAG, kind: Some(Kind::File), inode: 0, stat: None };
        let mut tag = Listing::default();
        tag.push(listed.unwrap_or(unlisted));
        Some(tag)
    }
}

/// Retries while there are no free handles. Handles are limited, so if they run out, something else took them:
/// another part of the process or, for ENFILE, another process.
pub(super) fn with_patience<T: Tally, R>(
    walk: &Walk<T>,
    mut attempt: impl FnMut() -> io::Result<R>,
) -> io::Result<R> {
    let patience = &walk.handles.patience;
    let tries = patience.load(Ordering::Relaxed);
    for _ in 0..tries {
        match attempt() {
            Err(error) if sys::is_out_of_handles(&error) && !walk.is_interrupted() => {
                walk.handles.close_ancestors();
                thread::sleep(Duration::from_millis(1));
            }
            other => {
                // If two threads add at once, one of both may be lost.
                if tries < PATIENCE {
                    patience.store(tries + 1, Ordering::Relaxed);
                }
                return other;
            }
        }
    }
    patience.store(1, Ordering::Relaxed);
    attempt()
}

/// One thing is done in `dir`, and the `rest` of its entries is weighed, which is not added to it yet. If that was the
/// last thing, closes the directory, and so on upward.
pub(super) fn settle<T: Tally>(
    walk: &Walk<T>,
    mut dir: Arc<Dir<T::Part>>,
    rest: Option<Subtotal<T::Part>>,
) {
    let (tally, rules) = (&walk.tally, &walk.options.rules);
    let mut done = match Dir::alone(&mut dir) {
        Some(dir) => {
            if let Some(rest) = rest {
                dir.subtotal_mut().merge(tally, rest);
            }
            Some(dir.take())
        }
        None => {
            if let Some(rest) = rest {
                dir.subtotal().merge(tally, rest);
            }
            dir.hand_in().then(|| dir.take_shared())
        }
    };
    while let Some((parent, subtotal)) = done {
        // What was closed before is complete.
        if walk.is_interrupted() {
            walk.leave_unfinished(&dir, parent.as_deref());
        }
        let (name, own) = (dir.name().to_bytes(), rules.figures(&dir.stat));
        let mut directory = Entry::new(name, dir.depth, &dir.stat, own, dir.mount.id);
        directory.own = dir.is_counted.then_some(own);
        let Some(mut parent) = parent else {
            let answer = total::finish(Some(rules), tally, directory, subtotal);
            return *lock(&walk.answer) = Some(answer);
        };
        let shown = match dir.is_root {
            _ if !parent.is_gathered() => Shown::Never,
            true => Shown::Always,
            false if dir.is_elsewhere => Shown::Always,
            false => Shown::IfCounted,
        };
        done = match Dir::alone(&mut parent) {
            Some(parent) => {
                let above = parent.subtotal_mut();
                total::close(Some(rules), tally, directory, shown, subtotal, |_| above);
                Some(parent.take())
            }
            None => {
                let above = |child: &mut _| parent.subtotal_for(child);
                total::close(Some(rules), tally, directory, shown, subtotal, above);
                parent.hand_in().then(|| parent.take_shared())
            }
        };
        dir = parent;
    }
}
