//! The work itself: one task a directory, one more for each further part of a large one.
//!
//! A task lists its directory, states what is in it, hands out a task for each subdirectory, and
//! ends. A large directory is shared as it is open: whoever is free reads the next buffer. Nobody
//! waits for a child and nothing recurses: whoever finishes the last of what was handed out below a
//! directory closes it, and goes on upward in a loop.

use std::cell::RefCell;
use std::ffi::CStr;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rayon::Scope;

use super::Walk;
use super::dir::{Dir, Gathered};
use super::handles::Lease;
use crate::filter::{Judge, Verdict};
use crate::measure::Kind;
use crate::problem::{Operation, Problem};
use crate::sys::{self, Carries, Handle, Listed, Mount, Names, Stat, Symlinks};
use crate::tally::{Closed, Tally};

/// What a thread keeps from one directory to the next, so that listing allocates nothing.
#[derive(Default)]
struct Scratch {
    buffer: Vec<u8>,
    names: Names,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// What a task has at hand while it weighs the entries of a directory.
struct Visit<'a, 's, T: Tally> {
    walk: &'s Walk<T>,
    scope: &'a Scope<'s>,
    dir: &'a Arc<Dir<T::Part>>,
    lease: &'a Arc<Lease<'s>>,
    gathered: Gathered<T::Part>,
    judge: Judge<'a>,
    /// The last subdirectory found, which this thread goes on with; so it may keep the parent open
    /// however scarce handles are.
    last: Option<Arc<Dir<T::Part>>>,
}

/// A directory that is to be weighed, with its parent, or without if that has been let go.
type Next<'s, T> = (Arc<Dir<<T as Tally>::Part>>, Option<Arc<Lease<'s>>>);

/// Weighs `dir`, whose parent is open as `parent`, or has been let go; then the last subdirectory
/// found in it, and so on down. The others are tasks of their own.
///
/// Going on rather than spawning the last one too took a chain of 1,500 directories from 22 to 15
/// ms of CPU time: no worker is woken for what this one would do next anyway.
pub(super) fn directory<'s, T: Tally>(
    walk: &'s Walk<T>,
    scope: &Scope<'s>,
    dir: Arc<Dir<T::Part>>,
    parent: Option<Arc<Lease<'s>>>,
) {
    let mut next = Some((dir, parent));
    while let Some((dir, parent)) = next {
        next = None;
        if !walk.is_interrupted() {
            walk.progress.at(|| dir.path());
            match open(walk, &dir, parent) {
                Ok(handle) => {
                    let lease = Arc::new(walk.handles.lease(handle));
                    next = list(walk, scope, &dir, &lease);
                }
                Err(error) if sys::is_vanished(&error) => {}
                Err(error) => walk.report(dir.path(), Operation::Open, &error),
            }
        }
        settle(walk, dir);
    }
}

/// Opens `dir` relative to its parent, and lets go of that.
fn open<T: Tally>(
    walk: &Walk<T>,
    dir: &Arc<Dir<T::Part>>,
    mut parent: Option<Arc<Lease<'_>>>,
) -> io::Result<Handle> {
    with_patience(walk, || match (parent.take(), &dir.parent) {
        _ if dir.is_root => Handle::open(&dir.name, walk.options.query),
        (Some(lease), _) => lease.handle.open_at(&dir.name, walk.symlinks()),
        (None, Some(above)) => {
            let above = walk.handles.reopen(above, walk.symlinks(), walk.options.query)?;
            above.open_at(&dir.name, walk.symlinks())
        }
        (None, None) => Err(io::ErrorKind::NotFound.into()),
    })
}

/// Tries again while there are no handles to be had. They are counted, so running out means that
/// others took them: other parts of the process or, for ENFILE, other processes.
fn with_patience<T: Tally, R>(
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

/// Weighs what has not been listed yet of an open directory, and hands out its subdirectories, but
/// for the last one.
fn list<'s, T: Tally>(
    walk: &'s Walk<T>,
    scope: &Scope<'s>,
    dir: &Arc<Dir<T::Part>>,
    lease: &Arc<Lease<'s>>,
) -> Option<Next<'s, T>> {
    /// From so many entries on, weighing them takes so much longer than a task costs that whatever
    /// more there is may as well be read by somebody else.
    const LARGE: usize = 256;
    let judge = walk.options.filter.judge(dir.place.as_ref(), || dir.names());
    let gathered = Gathered::default();
    let mut visit = Visit { walk, scope, dir, lease, gathered, judge, last: None };
    SCRATCH.with_borrow_mut(|Scratch { buffer, names }| {
        loop {
            names.clear();
            let read = lease.handle.read(buffer, names);
            let is_end = names.is_empty() || read.is_err() || walk.is_interrupted();
            if let Err(error) = read
                && !sys::is_vanished(&error)
            {
                walk.report(dir.path(), Operation::Read, &error);
            }
            let is_shared = !is_end && names.len() >= LARGE && walk.handles.is_plenty();
            if is_shared {
                share(walk, scope, Arc::clone(dir), Arc::clone(lease));
            }
            visit.weigh_all(names);
            if is_end || is_shared {
                break;
            }
        }
    });
    visit.finish()
}

/// Hands out what has not been listed yet of an open directory.
fn share<'s, T: Tally>(
    walk: &'s Walk<T>,
    scope: &Scope<'s>,
    dir: Arc<Dir<T::Part>>,
    lease: Arc<Lease<'s>>,
) {
    dir.hand_out();
    scope.spawn(move |scope| {
        let last = list(walk, scope, &dir, &lease);
        drop(lease);
        settle(walk, dir);
        if let Some((dir, parent)) = last {
            directory(walk, scope, dir, parent);
        }
    });
}

impl<'s, T: Tally> Visit<'_, 's, T> {
    /// Weighs every entry in `names`; subdirectories are handed out.
    fn weigh_all(&mut self, names: &Names) {
        let (mut entries, mut size) = (0, 0_u64);
        for listed in names.iter() {
            if self.walk.is_interrupted() {
                break;
            }
            let name = listed.name;
            let verdict = self.judge_listed(listed);
            if verdict == Some(Verdict::LeftOut) {
                continue;
            }
            match self.stat(name) {
                Ok((stat, symlinks)) => {
                    let is_directory = stat.is_directory();
                    let judge = || self.judge.verdict(name.to_bytes(), is_directory);
                    let verdict = verdict.unwrap_or_else(judge);
                    let verdict = self.judge.confirm(verdict, &stat);
                    if verdict == Verdict::LeftOut {
                        continue;
                    }
                    entries += 1;
                    size = size.saturating_add(stat.weight(self.walk.options.measure));
                    if is_directory {
                        self.enter(name, stat, symlinks, verdict);
                    } else {
                        self.weigh(name, &stat);
                    }
                }
                Err(error) if sys::is_vanished(&error) => {}
                Err(error) => {
                    self.walk.report(self.dir.path_of(name), Operation::Stat, &error);
                }
            }
        }
        self.walk.progress.add(entries, size);
    }

    /// What becomes of an entry, if the listing already says enough to tell.
    fn judge_listed(&mut self, Listed { name, kind }: Listed<'_>) -> Option<Verdict> {
        match kind? {
            // It may be a directory once it is followed.
            Kind::Symlink if self.walk.options.follow => None,
            kind => Some(self.judge.verdict(name.to_bytes(), kind == Kind::Directory)),
        }
    }

    /// What the entry called `name` is, and whether a symlink was followed to find out.
    fn stat(&self, name: &CStr) -> io::Result<(Stat, Symlinks)> {
        let handle = &self.lease.handle;
        let stat = handle.stat_at(name, Symlinks::Stay)?;
        if self.walk.options.follow && stat.mode.kind() == Kind::Symlink {
            // A link that leads nowhere counts as itself.
            if let Ok(target) = handle.stat_at(name, Symlinks::Follow) {
                return Ok((target, Symlinks::Follow));
            }
        }
        Ok((stat, Symlinks::Stay))
    }

    fn weigh(&mut self, name: &CStr, stat: &Stat) {
        let dir = self.dir;
        let is_elsewhere = stat.mount_point && stat.device != dir.stat.device;
        if is_elsewhere && self.walk.options.one_file_system {
            return;
        }
        let depth = dir.depth.saturating_add(1);
        self.walk.weigh(&mut self.gathered, name.to_bytes(), depth, stat, dir.mount);
    }

    /// Hands out the subdirectory called `name`, if it is to be entered.
    fn enter(&mut self, name: &CStr, stat: Stat, symlinks: Symlinks, verdict: Verdict) {
        let walk = self.walk;
        let dir = self.dir;
        let is_elsewhere = stat.device != dir.stat.device;
        if is_elsewhere && walk.options.one_file_system {
            return;
        }
        let mut mount = dir.mount;
        if is_elsewhere || stat.mount_point {
            let handle = &self.lease.handle;
            match with_patience(walk, || handle.mount_at(name, symlinks)) {
                Ok(Mount { carries: Carries::Synthetic, .. }) if !dir.is_synthetic => return,
                Ok(Mount { carries: Carries::Automount, .. }) => return,
                Ok(Mount { id, .. }) => mount = id,
                Err(error) if sys::is_vanished(&error) => return,
                Err(error) => {
                    return walk.report(dir.path_of(name), Operation::Open, &error);
                }
            }
            if symlinks == Symlinks::Stay && dir.is_within(stat.identity()) {
                return walk.record(Problem::cycle(dir.path_of(name)));
            }
        }
        let is_followed = symlinks == Symlinks::Follow;
        if walk.options.follow && !is_followed && !walk.follows.enter(stat.identity()) {
            return;
        }
        dir.hand_out();
        let mut below = Dir::below(Arc::clone(dir), name.into(), stat, mount);
        below.is_counted = verdict == Verdict::Counts;
        below.place = self.judge.below(name.to_bytes());
        let below = Arc::new(below);
        if is_followed {
            walk.follows.wait(below);
        } else if let Some(earlier) = self.last.replace(below) {
            let lease = walk.handles.is_plenty().then(|| Arc::clone(self.lease));
            self.scope.spawn(move |scope| directory(walk, scope, earlier, lease));
        }
    }

    /// Adds what was gathered to the directory; what remains is the last subdirectory.
    fn finish(self) -> Option<Next<'s, T>> {
        let Visit { walk, dir, lease, gathered: Gathered { sum, part }, last, .. } = self;
        {
            let mut gathered = dir.gathered();
            gathered.sum.absorb(sum);
            walk.tally.merge(&mut gathered.part, part);
        }
        Some((last?, Some(Arc::clone(lease))))
    }
}

/// One thing is done in `dir`. If it was the last, closes it, and so on upward.
pub(super) fn settle<T: Tally>(walk: &Walk<T>, mut dir: Arc<Dir<T::Part>>) {
    while dir.hand_in() {
        let Gathered { mut sum, part } = dir.take_gathered();
        let own = dir.is_counted.then(|| dir.stat.weight(walk.options.measure));
        if let Some(own) = own {
            sum.add(own);
        }
        let mut totals = sum.totals(walk.options.measure);
        if walk.options.follow {
            totals.shared = 0;
        }
        let (name, depth, stat, mount) = (dir.name.to_bytes(), dir.depth, &dir.stat, dir.mount);
        let closed = Closed { name, depth, stat, mount, own, totals };
        let Some(parent) = dir.parent.clone() else {
            return walk.finish(&closed, part);
        };
        {
            let mut above = parent.gathered();
            above.sum.absorb(sum);
            // A directory where filters left nothing to count is not worth a word.
            if totals.entries > 0 || dir.is_root {
                walk.tally.close(&mut above.part, &closed, part);
            }
        }
        dir = parent;
    }
}
