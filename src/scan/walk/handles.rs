//! Open directories: how many there may be, and how to open one again.
//!
//! A directory stays open while entries handed out below it still have to be opened or examined relative to it. Each
//! thread that does so holds a reference to it ([`CountedHandle`]), and the last one closes it. If handles are scarce,
//! only the entry that is visited next gets one. The others find their parent again from the nearest open directory,
//! step by step. On the way they leave a few directories open, each half as far from the goal as the one before,
//! because the next thread comes from nearby. A root stays open, unless there are too many roots: later, another
//! directory may be at its path.
//!
//! Linux gives each handle the lowest free number. So if only handles with low numbers stay open, enough others are free,
//! and nobody has to count them. A count is a cache line that all threads write to for each directory.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::dir::Dir;
use super::find::{AllMissing, open_again};
use super::lock;
use crate::scan::filter::Scope;
use crate::sys::{self, Handle, Symlinks};

/// How many directories are left open on the way to another.
const ANCESTORS: usize = 4;
/// One handle for the root that is kept open.
const ROOT: usize = 1;
/// What a worker holds at most: its directory, and two steps of a way back. Looking for a renamed directory takes one
/// of the spare ones for a moment.
const PER_WORKER: usize = 3;
/// For everything else that the process opens: a terminal, an output file.
const SPARE: usize = 2;
/// The most milliseconds to wait for a free handle: enough for a burst.
pub(super) const PATIENCE: u32 = 2_000;

/// An open directory that counts against the limit.
#[derive(Debug)]
pub(super) struct CountedHandle {
    pub(super) handle: Handle,
    /// What filters know about the directory, if there are filters.
    pub(super) scope: Option<Arc<Scope>>,
    /// The names listed in it that were not found.
    pub(super) missing: AllMissing,
    /// If it is counted, the reference that counts it.
    count: Option<Arc<()>>,
}

impl CountedHandle {
    /// How many handles are taken at most, if no directory with a higher figure stays open.
    #[inline]
    fn taken(&self) -> usize {
        match &self.count {
            // One reference is that of `Handles`.
            Some(counted) => Arc::strong_count(counted) - 1,
            // The first number is 0.
            None => self.handle.number().map_or(0, |number| number + 1),
        }
    }
}

/// The limit, and the directories that are left open on the way to another.
#[derive(Debug)]
pub(super) struct Handles<P> {
    /// Each open directory that is counted holds a reference. The reserve for each worker covers the two references that
    /// it may hold at the same time.
    counted: Arc<()>,
    /// Whether all directories are counted, because the numbers of some are not known.
    counts_all: bool,
    /// A directory may stay open if fewer handles are taken than this. Relaxed: it changes only before more than one
    /// thread looks.
    plenty: AtomicUsize,
    /// Whether a root is kept open. Relaxed: it is read and set at once.
    has_root: AtomicBool,
    /// How many milliseconds to wait for a free handle: 1 after a thread waited in vain, as two seconds for each of a
    /// million directories would be weeks. Each call that does not lack one adds 1. Relaxed: it is only a hint.
    pub(super) patience: AtomicU32,
    /// Guards the list alone; no system call is made under it.
    ancestors: Mutex<Vec<KeptAncestor<P>>>,
}

#[derive(Debug)]
struct KeptAncestor<P> {
    dir: Arc<Dir<P>>,
    open: Arc<CountedHandle>,
}

/// The open directory at which the way begins, unless it begins at a root that is not open; and its steps, the last
/// one first.
type Way<P> = (Option<Arc<CountedHandle>>, Vec<Arc<Dir<P>>>);

/// Opens a root again by its path.
fn open_root<P>(root: &Dir<P>) -> io::Result<Handle> {
    let handle = root.mount.source.open(root.name())?;
    let is_it = !root.mount.lists_inodes || handle.identity()? == root.stat.identity();
    if is_it { Ok(handle) } else { Err(sys::not_found()) }
}

/// How many workers `free` handles are enough for, if `wanted` are wanted; at least one.
pub(super) fn workers(wanted: usize, free: usize) -> usize {
    wanted.min(free.saturating_sub(ANCESTORS + ROOT + SPARE) / PER_WORKER).max(1)
}

fn plenty(free: usize, workers: usize) -> usize {
    free.saturating_sub(ANCESTORS + ROOT + SPARE + PER_WORKER * workers)
}

impl<P: Default> Handles<P> {
    /// With `free` handles, and for one worker at first. If roots are read in bulk, all directories are counted.
    pub(super) fn new(free: usize, is_bulk: bool) -> Self {
        let plenty = AtomicUsize::new(plenty(free, 1));
        let (counted, has_root, ancestors) = Default::default();
        Self {
            counted,
            counts_all: is_bulk,
            plenty,
            has_root,
            patience: AtomicU32::new(PATIENCE),
            ancestors,
        }
    }

    /// Of `free` handles, some are reserved for each of so many `workers` from now on.
    pub(super) fn reserve(&self, free: usize, workers: usize) {
        self.plenty.store(plenty(free, workers), Ordering::Relaxed);
    }

    /// Counts an open directory, unless its number says enough.
    pub(super) fn count(&self, handle: Handle, scope: Option<Arc<Scope>>) -> CountedHandle {
        let is_counted = self.counts_all || handle.number().is_none();
        let count = is_counted.then(|| Arc::clone(&self.counted));
        CountedHandle { handle, scope, missing: AllMissing::default(), count }
    }

    /// Whether a directory may stay open for entries that are visited later.
    #[inline]
    pub(super) fn is_plenty_for(&self, open: &CountedHandle) -> bool {
        open.taken() < self.plenty.load(Ordering::Relaxed)
    }

    /// Keeps a root open as long as something below it is being weighed: always the first one, and more if that takes
    /// no more than a quarter of the handles.
    pub(super) fn keep_if_root(&self, dir: &Dir<P>, open: &Arc<CountedHandle>) {
        if !dir.is_root {
            return;
        }
        let is_first = !self.has_root.swap(true, Ordering::Relaxed);
        if is_first || open.taken() < self.plenty.load(Ordering::Relaxed) / 4 {
            dir.kept.get_or_init(|| Arc::clone(open));
        }
    }

    /// Closes the directories left open, because handles ran out although they were counted.
    pub(super) fn close_ancestors(&self) {
        let forgotten = std::mem::take(&mut *lock(&self.ancestors));
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
    ) -> io::Result<Option<Arc<CountedHandle>>> {
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
            let missing = AllMissing::default();
            let open = Arc::new(CountedHandle { handle, scope: None, missing, count: None });
            if to_go <= mark {
                mark = to_go / 2;
                self.keep_ancestor(step, &open, dir.depth);
            }
            start = Some(open);
        }
        Ok(start)
    }

    /// The way to `dir` from the nearest open directory at or above it. Nothing if a directory on the way is known to
    /// be removed.
    fn way_to(&self, dir: &Arc<Dir<P>>) -> Option<Way<P>> {
        let ancestors = lock(&self.ancestors);
        let mut way = Vec::new();
        let mut at = Some(dir);
        while let Some(dir) = at {
            if let Some(ancestor) = ancestors.iter().find(|kept| Arc::ptr_eq(&kept.dir, dir)) {
                return Some((Some(Arc::clone(&ancestor.open)), way));
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
    fn keep_ancestor(&self, dir: &Arc<Dir<P>>, open: &Arc<CountedHandle>, goal: u32) {
        let mut ancestors = lock(&self.ancestors);
        // Closes ancestors that are of no more use: those deeper than the goal, and those that only this list holds.
        let (mut useful, mut passed): (Vec<_>, Vec<_>) = ancestors
            .drain(..)
            .partition(|kept| kept.dir.depth <= goal && Arc::strong_count(&kept.dir) > 1);
        useful.push(KeptAncestor { dir: Arc::clone(dir), open: Arc::clone(open) });
        if useful.len() > ANCESTORS {
            useful.sort_unstable_by_key(|point| point.dir.depth);
            let depths: Vec<_> = useful.iter().map(|point| point.dir.depth).collect();
            passed.push(useful.swap_remove(least_missed(&depths, goal)));
        }
        *ancestors = useful;
        // Closing is a system call, so it happens outside of the lock.
        drop(ancestors);
        drop(passed);
    }
}

/// Which of the ancestors at `depths`, sorted, leaves the shortest gap, in relation to its distance from the goal. If
/// that one is removed, the distances still grow by about the same factor.
fn least_missed(depths: &[u32], goal: u32) -> usize {
    let detours: Vec<f64> = (0..depths.len()).map(|i| detour(depths, goal, i)).collect();
    (0..depths.len()).min_by(|one, two| detours[*one].total_cmp(&detours[*two])).unwrap_or(0)
}

fn detour(depths: &[u32], goal: u32, i: usize) -> f64 {
    let above = if i == 0 { 0 } else { depths[i - 1] };
    let below = depths.get(i + 1).copied().unwrap_or(goal);
    f64::from(below - above) / f64::from((goal - depths[i]).max(1))
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
    fn ancestors_thin_out_with_distance() {
        for (depths, goal, expected) in [
            (vec![1, 2, 3, 500, 1000], 1000, 0),
            (vec![500, 750, 875, 937, 938], 1000, 3),
            (vec![0, 0, 0], 0, 0),
        ] {
            assert_eq!(least_missed(&depths, goal), expected, "{depths:?} to {goal}");
        }
    }
}
