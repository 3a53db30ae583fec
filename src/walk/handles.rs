//! Open directories: how many there may be, and how to open one again.
//!
//! A directory stays open while entries handed out below it still have to be opened or examined relative to it. Each
//! thread that does so holds a lease, and the last lease closes it. If handles are scarce, only the entry that is
//! visited next gets a lease. The others find their parent again from the nearest open directory, step by step. On
//! the way they leave a few waypoints open, each half as far from the goal as the one before, because the next thread
//! comes from nearby. A root stays open, unless there are too many roots: later, another directory may be at its
//! path.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::dir::Dir;
use super::find::{AllMissing, open_again};
use super::lock;
use crate::filter::Scope;
use crate::sys::{self, Handle, Symlinks};

/// How many directories are left open as waypoints.
const WAYPOINTS: usize = 4;
/// One handle for the root that is kept open.
const ROOT: usize = 1;
/// What a worker holds at most: its directory, and two steps of a way back. Looking for a renamed directory takes one
/// of the spare ones for a moment.
const PER_WORKER: usize = 3;
/// For everything else that the process opens: a terminal, an output file.
const SPARE: usize = 2;

/// An open directory that counts against the limit.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) handle: Handle,
    /// What filters know about the directory, if there are filters.
    pub(super) scope: Option<Arc<Scope>>,
    /// The names listed in it that were not found.
    pub(super) missing: AllMissing,
    /// Its existence counts. None on the way to another directory, for which room is reserved.
    _count: Option<Arc<()>>,
}

/// The limit, and the waypoints.
#[derive(Debug)]
pub(super) struct Handles<P> {
    /// Each lease holds a reference. The reserve for each worker covers the two references that it may hold at the
    /// same time.
    leases: Arc<()>,
    /// How many leases may be held while there is plenty. Relaxed: it changes only before more than
    /// one thread looks.
    plenty: AtomicUsize,
    /// Whether a root is kept open. Relaxed: it is read and set at once.
    has_root: AtomicBool,
    /// Guards the list alone; no system call is made under it.
    waypoints: Mutex<Vec<Waypoint<P>>>,
}

#[derive(Debug)]
struct Waypoint<P> {
    dir: Arc<Dir<P>>,
    lease: Arc<Lease>,
}

/// The open directory at which the way begins, unless it begins at a root that is not open; and its steps, the last
/// one first.
type Way<P> = (Option<Arc<Lease>>, Vec<Arc<Dir<P>>>);

/// Opens a root again by its path.
fn open_root<P>(root: &Dir<P>) -> io::Result<Handle> {
    let handle = root.mount.source.open(&root.name)?;
    let is_it = !root.mount.lists_inodes || handle.identity()? == root.stat.identity();
    if is_it { Ok(handle) } else { Err(sys::not_found()) }
}

/// How many workers `free` handles are enough for, if `wanted` are wanted; at least one.
pub(super) fn workers(wanted: usize, free: usize) -> usize {
    wanted.min(free.saturating_sub(WAYPOINTS + ROOT + SPARE) / PER_WORKER).max(1)
}

fn plenty(free: usize, workers: usize) -> usize {
    free.saturating_sub(WAYPOINTS + ROOT + SPARE + PER_WORKER * workers)
}

impl<P: Default> Handles<P> {
    /// With `free` handles, and for one worker at first.
    pub(super) fn new(free: usize) -> Self {
        let plenty = AtomicUsize::new(plenty(free, 1));
        let has_root = AtomicBool::new(false);
        Self { leases: Arc::new(()), plenty, has_root, waypoints: Mutex::default() }
    }

    /// Shares `free` handles among `workers` from now on.
    pub(super) fn share(&self, free: usize, workers: usize) {
        self.plenty.store(plenty(free, workers), Ordering::Relaxed);
    }

    /// Counts an open directory.
    pub(super) fn lease(&self, handle: Handle, scope: Option<Arc<Scope>>) -> Lease {
        let _count = Some(Arc::clone(&self.leases));
        Lease { handle, scope, missing: AllMissing::new(), _count }
    }

    /// Whether directories may stay open for entries that are visited later.
    pub(super) fn is_plenty(&self) -> bool {
        // One reference is our own.
        Arc::strong_count(&self.leases) <= self.plenty.load(Ordering::Relaxed)
    }

    /// Keeps a root open as long as something below it is being weighed: always the first one, and more if that takes
    /// no more than a quarter of the handles.
    pub(super) fn keep_if_root(&self, dir: &Dir<P>, lease: &Arc<Lease>) {
        let has_room =
            || Arc::strong_count(&self.leases) <= self.plenty.load(Ordering::Relaxed) / 4;
        if dir.is_root && (!self.has_root.swap(true, Ordering::Relaxed) || has_room()) {
            dir.kept.get_or_init(|| Arc::clone(lease));
        }
    }

    /// Closes the waypoints, because handles ran out although they were counted.
    pub(super) fn forget_waypoints(&self) {
        let forgotten = std::mem::take(&mut *self.waypoints());
        drop(forgotten);
    }

    /// Opens `dir` again, which was open before; nothing if it, or a directory above it, was removed.
    ///
    /// # Errors
    /// The system's, and if a root is not found any more.
    pub(super) fn reopen(
        &self,
        dir: &Arc<Dir<P>>,
        symlinks: Symlinks,
    ) -> io::Result<Option<Arc<Lease>>> {
        let Some((mut start, way)) = self.way_to(dir) else { return Ok(None) };
        let mut mark = way.len() / 2;
        for (to_go, step) in (0..way.len()).rev().zip(way.iter().rev()) {
            let handle = match &start {
                Some(above) if !step.is_root => open_again(&above.handle, step, symlinks)?,
                _ => Some(open_root(step)?),
            };
            let Some(handle) = handle else {
                step.is_removed.store(true, Ordering::Relaxed);
                return Ok(None);
            };
            let missing = AllMissing::new();
            let lease = Arc::new(Lease { handle, scope: None, missing, _count: None });
            if to_go <= mark {
                mark = to_go / 2;
                self.leave_waypoint(step, &lease, dir.depth);
            }
            start = Some(lease);
        }
        Ok(start)
    }

    /// The way to `dir` from the nearest open directory at or above it. Nothing if a directory on the way is known to
    /// be removed.
    fn way_to(&self, dir: &Arc<Dir<P>>) -> Option<Way<P>> {
        let waypoints = self.waypoints();
        let mut way = Vec::new();
        let mut at = Some(dir);
        while let Some(dir) = at {
            if let Some(waypoint) = waypoints.iter().find(|point| Arc::ptr_eq(&point.dir, dir)) {
                return Some((Some(Arc::clone(&waypoint.lease)), way));
            }
            if let Some(root) = dir.kept.get() {
                return Some((Some(Arc::clone(root)), way));
            }
            if dir.is_removed.load(Ordering::Relaxed) {
                return None;
            }
            way.push(Arc::clone(dir));
            at = if dir.is_root { None } else { dir.parent.as_ref() };
        }
        Some((None, way))
    }

    /// Leaves `dir` open on the way to a directory `goal` levels deep.
    fn leave_waypoint(&self, dir: &Arc<Dir<P>>, lease: &Arc<Lease>, goal: u32) {
        let mut waypoints = self.waypoints();
        // Closes waypoints that are of no more use: those deeper than the goal, and those that only this list holds.
        let is_useful =
            |point: &Waypoint<P>| point.dir.depth <= goal && Arc::strong_count(&point.dir) > 1;
        let (mut useful, mut passed): (Vec<_>, Vec<_>) = waypoints.drain(..).partition(is_useful);
        useful.push(Waypoint { dir: Arc::clone(dir), lease: Arc::clone(lease) });
        if useful.len() > WAYPOINTS {
            useful.sort_unstable_by_key(|point| point.dir.depth);
            let depths: Vec<_> = useful.iter().map(|point| point.dir.depth).collect();
            passed.push(useful.swap_remove(least_missed(&depths, goal)));
        }
        *waypoints = useful;
        // Closing is a system call, so it happens outside of the lock.
        drop(waypoints);
        drop(passed);
    }

    fn waypoints(&self) -> MutexGuard<'_, Vec<Waypoint<P>>> {
        lock(&self.waypoints)
    }
}

/// Which of the waypoints at `depths`, sorted, leaves the shortest gap, in relation to its distance from the goal. If
/// that one is removed, the distances still grow by about the same factor.
fn least_missed(depths: &[u32], goal: u32) -> usize {
    let detour = |i: usize| {
        let above = if i == 0 { 0 } else { depths[i - 1] };
        let below = depths.get(i + 1).copied().unwrap_or(goal);
        f64::from(below - above) / f64::from((goal - depths[i]).max(1))
    };
    let worst_first = |one: &usize, two: &usize| detour(*one).total_cmp(&detour(*two));
    (0..depths.len()).min_by(worst_first).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_handles_mean_few_workers() {
        for (wanted, free, expected) in
            [(8, 1 << 20, 8), (8, 13, 2), (1, 3, 1), (64, usize::MAX, 64), (2, 0, 1)]
        {
            assert_eq!(workers(wanted, free), expected, "{wanted} wanted, {free} free");
        }
    }

    #[test]
    fn waypoints_thin_out_with_distance() {
        for (depths, goal, expected) in [
            (vec![1, 2, 3, 500, 1000], 1000, 0),
            (vec![500, 750, 875, 937, 938], 1000, 3),
            (vec![0, 0, 0], 0, 0),
        ] {
            assert_eq!(least_missed(&depths, goal), expected, "{depths:?} to {goal}");
        }
    }
}
