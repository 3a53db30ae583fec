//! One directory during the walk: from being handed out until everything below it is weighed.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{io, iter, mem};

use smallvec::SmallVec;

use super::handles::CountedHandle;
use super::lock;
use super::nested::Root;
use crate::base::inode::Identity;
use crate::base::measure::Mode;
use crate::base::path;
use crate::scan::filter::{Filter, Scope};
use crate::sys::{Mount, MountContent, Stat};
use crate::tree::tally::Tally;
use crate::tree::total::Subtotal;

/// A directory that is being weighed. `P` is what the tally keeps for it.
#[derive(Debug)]
pub(super) struct Dir<P> {
    pub(super) parent: Option<Arc<Dir<P>>>,
    /// Only in every [`STRIDE`]th directory of a chain.
    stretch: Option<Box<Stretch<P>>>,
    /// Its name, with a NUL.
    name: Name,
    pub(super) stat: Stat,
    /// Levels below the root; a root is at 0, as is the node above several.
    pub(super) depth: u32,
    /// Whether `name` is a path from the current directory and not a name in `parent`.
    pub(super) is_root: bool,
    /// Whether its root lies on a kernel file system.
    pub(super) is_synthetic: bool,
    /// The mount through which it is seen.
    pub(super) mount: Mount,
    /// The hash of its location, if symlinks are followed and that is known.
    pub(super) location: Option<u64>,
    /// Whether it is an overlay that counts in its layers. Then it has a line of its own, and comes to nothing.
    pub(super) is_elsewhere: bool,
    /// Whether it counts. Entries in it may count even if it does not.
    pub(super) is_counted: bool,
    /// What filters know about it, if there are filters.
    pub(super) scope: Option<Arc<Scope>>,
    /// An open root, if it stays open as long as something below it is being weighed.
    pub(super) kept: OnceLock<Arc<CountedHandle>>,
    /// Set once, when it is found to be removed. Relaxed: a thread that sees it late finds out by itself.
    pub(super) is_removed: AtomicBool,
    /// How much is still to be done: its own listing, and each subdirectory or further part that was handed out.
    ///
    /// Each thread that finishes one releases it. The thread that finishes the last one acquires it, and then sees
    /// everything that was gathered. (A lock guards that as well; the count orders the decision to look.)
    outstanding: AtomicUsize,
    /// Guards the subtotal of all parts that are finished. No system call is made under it.
    subtotal: Mutex<Subtotal<P>>,
}

/// Most names fit in place. That saves one of five allocations for each directory.
type Name = SmallVec<[u8; 24]>;

/// The path of a deep directory is joined from stretches of so many names. Joined name by name for each directory, it made
/// filters of paths take 12 s in a chain of 30,000.
const STRIDE: u32 = 256;

/// A directory that is [`STRIDE`] levels above another, and the path from there.
#[derive(Debug)]
struct Stretch<P> {
    above: Arc<Dir<P>>,
    path: Vec<u8>,
}

impl<P> Dir<P> {
    /// Its name in the parent; a root's path as given; empty for the node above several roots.
    pub(super) fn name(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.name).unwrap_or_default()
    }
}

impl<P: Default> Dir<P> {
    /// The node above several roots.
    pub(super) fn above_roots() -> Self {
        let stat = Stat { mode: Mode::DIRECTORY, ..Stat::default() };
        let mut dir = Self::new(None, c"", stat);
        dir.is_counted = false;
        dir
    }

    /// A root, below the node above several if there are several. What `filter` cannot read above it is reported.
    pub(super) fn root(
        parent: Option<Arc<Self>>,
        root: Root,
        filter: &Filter,
        report: impl FnMut(Vec<u8>, &io::Error),
    ) -> Self {
        let path = root.path.to_bytes();
        let scope = filter.root(path, report);
        let is_counted = filter.admits_root(scope.as_ref(), path, &root.stat);
        let mut dir = Self::new(parent, &root.path, root.stat);
        dir.is_root = true;
        dir.is_synthetic = root.mount.content == MountContent::Synthetic;
        dir.mount = root.mount;
        dir.is_counted = is_counted;
        dir.scope = scope;
        dir
    }

    /// The directory called `name` in `parent`, seen through `mount`.
    pub(super) fn below(parent: Arc<Self>, name: &CStr, stat: Stat, mount: Mount) -> Self {
        let (depth, is_synthetic) = (parent.depth.saturating_add(1), parent.is_synthetic);
        let mut dir = Self::new(Some(parent), name, stat);
        dir.depth = depth;
        if depth % STRIDE == 0 {
            dir.stretch = dir.new_stretch();
        }
        dir.is_synthetic = is_synthetic;
        dir.mount = mount;
        dir
    }

    fn new(parent: Option<Arc<Self>>, name: &CStr, stat: Stat) -> Self {
        let name = Name::from_slice(name.to_bytes_with_nul());
        Self {
            parent,
            stretch: None,
            name,
            stat,
            depth: 0,
            is_root: false,
            is_synthetic: false,
            mount: Mount::default(),
            location: None,
            is_elsewhere: false,
            is_counted: true,
            scope: None,
            kept: OnceLock::new(),
            is_removed: AtomicBool::new(false),
            outstanding: AtomicUsize::new(1),
            subtotal: Mutex::default(),
        }
    }

    /// Whether its content is kept. If not, it only counts.
    pub(super) fn is_gathered(&self) -> bool {
        !self.scope.as_ref().is_some_and(|scope| scope.is_collapsed)
    }

    /// What is gathered in it begins with what `tally` makes of it, if that wants to know where directories begin.
    pub(super) fn begin<T: Tally<Part = P>>(&mut self, tally: &T) {
        if !tally.is_live() {
            return;
        }
        let name = self.name().to_bytes();
        let part = match &self.parent {
            // What is in it only counts.
            Some(parent) if !parent.is_gathered() => P::default(),
            Some(parent) => tally.open(Some(&parent.subtotal().part), name),
            None => tally.open(None, name),
        };
        self.subtotal().part = part;
    }

    /// Adds one more thing to be done. False if the directory is finished: then the caller was given up in the
    /// meantime, and must not touch the directory. Otherwise the caller itself has something to finish there, so the
    /// count stays above 0, and relaxed ordering is enough.
    #[must_use]
    pub(super) fn hand_out(&self) -> bool {
        let before = self.outstanding.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |some| {
            (some > 0).then_some(some + 1)
        });
        before.is_ok()
    }

    /// One thing is done. True for the thread that finishes the last one.
    pub(super) fn hand_in(&self) -> bool {
        self.outstanding.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// The subtotal. A tally that panicked while adding to it has ended the walk.
    pub(super) fn subtotal(&self) -> MutexGuard<'_, Subtotal<P>> {
        lock(&self.subtotal)
    }

    /// The subtotal, locked to add that of a `child` to it. If both have many links, what is here is moved to the
    /// child's first, without the lock. Other threads can add theirs meanwhile.
    ///
    /// Under the lock, 16 threads waited for each other in the root of a package store, which took 1.28 times as long
    /// (on 16 cores, medians of 7 runs in turns, 2026-11-26).
    pub(super) fn subtotal_for(&self, child: &mut Subtotal<P>) -> MutexGuard<'_, Subtotal<P>> {
        loop {
            let mut subtotal = self.subtotal();
            let Some(taken) = subtotal.take_if_long(child) else { return subtotal };
            drop(subtotal);
            child.add_taken(taken);
        }
    }

    /// The subtotal, which needs no lock.
    pub(super) fn subtotal_mut(&mut self) -> &mut Subtotal<P> {
        self.subtotal.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The directory, if nobody else holds it. Each thread that has something to do in it or below it holds it. So nothing
    /// else is outstanding then, and neither the lock nor the count is needed.
    pub(super) fn alone(this: &mut Arc<Self>) -> Option<&mut Self> {
        // An attempt that fails would take the cache line away from the others.
        if Arc::strong_count(this) > 1 { None } else { Arc::get_mut(this) }
    }

    /// Takes out the parent and the subtotal, when everything in it is done.
    pub(super) fn take(&mut self) -> (Option<Arc<Self>>, Subtotal<P>) {
        debug_assert_eq!(
            *self.outstanding.get_mut(),
            1,
            "something is to be done, and nobody holds it"
        );
        (self.parent.take(), mem::take(self.subtotal_mut()))
    }

    /// The same, while others hold it.
    pub(super) fn take_shared(&self) -> (Option<Arc<Self>>, Subtotal<P>) {
        (self.parent.clone(), mem::take(&mut *self.subtotal()))
    }

    /// This directory and those above it which have this `identity`. In some file systems, several directories may have
    /// one inode number.
    pub(super) fn above_with(&self, identity: Identity) -> impl Iterator<Item = &Self> {
        let with_above = iter::successors(Some(self), |dir| dir.parent.as_deref());
        with_above.filter(move |dir| dir.stat.identity() == identity)
    }

    /// Its path, as bytes. It is built only for messages.
    pub(super) fn path(&self) -> Vec<u8> {
        path::join_all(self.names())
    }

    /// The names that lead to it: the root's path as given, and those below, some of them joined.
    pub(super) fn names(&self) -> Vec<&[u8]> {
        let (mut names, mut next) = (Vec::new(), Some(self));
        while let Some(dir) = next {
            let (above, name) = match &dir.stretch {
                Some(stretch) => (Some(&stretch.above), &*stretch.path),
                None => (dir.parent.as_ref().filter(|_| !dir.is_root), dir.name().to_bytes()),
            };
            names.push(name);
            next = above.map(|above| &**above);
        }
        names.reverse();
        names
    }

    fn new_stretch(&self) -> Option<Box<Stretch<P>>> {
        let (mut names, mut above) = (vec![self.name().to_bytes()], self.parent.as_ref()?);
        for _ in 1..STRIDE {
            names.push(above.name().to_bytes());
            above = above.parent.as_ref()?;
        }
        let path = path::join_all(names.into_iter().rev());
        Some(Box::new(Stretch { above: Arc::clone(above), path }))
    }

    /// The path of the entry called `name` in it.
    pub(super) fn path_of(&self, name: &CStr) -> Vec<u8> {
        path::join_all([&*self.path(), name.to_bytes()])
    }
}

/// Drops the parents in a loop. In a deep chain, nested drops would overflow the stack.
impl<P> Drop for Dir<P> {
    fn drop(&mut self) {
        // The parents hold what this holds.
        self.stretch = None;
        let mut parent = self.parent.take();
        while let Some(mut dir) = parent.and_then(Arc::into_inner) {
            parent = dir.parent.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_dir<P: Default>(parent: Option<Arc<Dir<P>>>, path: &CStr) -> Dir<P> {
        let root = Root { path: path.into(), stat: Stat::default(), mount: Mount::default() };
        Dir::root(parent, root, &Filter::default(), |_, _| ())
    }

    #[test]
    fn the_last_holder_of_a_deep_chain_drops_it_without_recursion() {
        let mut dir = Arc::new(root_dir::<()>(None, c"r"));
        for _ in 0..200_000 {
            dir = Arc::new(Dir::below(dir, c"d", Stat::default(), Mount::default()));
        }
        assert_eq!(dir.depth, 200_000);
        drop(dir);
    }

    #[test]
    fn whoever_hands_in_last_is_told() {
        let dir = root_dir::<()>(None, c"r");
        assert!(dir.hand_out());
        assert!(!dir.hand_in());
        assert!(dir.hand_in());
    }

    /// Otherwise it would be finished twice, and count twice in its parent.
    #[test]
    fn nothing_is_handed_out_in_a_directory_that_is_finished() {
        let dir = root_dir::<()>(None, c"r");
        assert!(dir.hand_in());
        assert!(!dir.hand_out());
    }

    /// On Miri (`tests/README.md`), in many of the orders that threads may run in.
    #[test]
    fn of_many_who_hand_in_at_once_one_is_told_and_sees_everything() {
        // What `settle` does, with a number for what was gathered.
        let settle = |mut dir: Arc<Dir<u32>>| {
            let mut found = 0;
            loop {
                let (parent, subtotal) = match Dir::alone(&mut dir) {
                    Some(dir) => {
                        dir.subtotal_mut().part += found;
                        dir.take()
                    }
                    None => {
                        dir.subtotal().part += found;
                        if !dir.hand_in() {
                            return None;
                        }
                        dir.take_shared()
                    }
                };
                found = subtotal.part + 1;
                let Some(parent) = parent else { return Some(found) };
                dir = parent;
            }
        };
        let root = Arc::new(root_dir::<u32>(None, c"r"));
        let mut dirs = vec![Arc::clone(&root)];
        let below = |dir: &Arc<Dir<u32>>| {
            assert!(dir.hand_out());
            Arc::new(Dir::below(Arc::clone(dir), c"d", Stat::default(), Mount::default()))
        };
        for _ in 0..2 {
            let middle = below(&root);
            dirs.extend([below(&middle), below(&middle), middle]);
        }
        let threads: Vec<_> =
            dirs.into_iter().map(|dir| std::thread::spawn(move || settle(dir))).collect();
        let totals = threads.into_iter().filter_map(|thread| thread.join().expect("no panic"));
        assert_eq!(totals.collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn the_path_of_a_deep_directory_has_all_names() {
        let mut dir = Arc::new(root_dir::<()>(Some(Arc::new(Dir::above_roots())), c"r"));
        let mut expected = b"r".to_vec();
        for level in 1..=3 * STRIDE {
            let name = std::ffi::CString::new(level.to_string()).expect("no NUL");
            dir = Arc::new(Dir::below(dir, &name, Stat::default(), Mount::default()));
            path::join(&mut expected, level.to_string().as_bytes());
            assert_eq!(dir.path(), expected);
            assert!(dir.names().len() <= 2 * STRIDE as usize);
        }
    }

    #[test]
    fn paths() {
        let total = Arc::new(Dir::<()>::above_roots());
        let root = Arc::new(root_dir(Some(total), c"/"));
        let usr = Arc::new(Dir::below(root, c"usr", Stat::default(), Mount::default()));
        assert_eq!(usr.path_of(c"bin"), b"/usr/bin");
    }
}
