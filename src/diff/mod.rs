//! The difference between two snapshots: what grew, shrank, appeared, disappeared or moved.
//!
//! The churn of an entry is the amount by which its size changed. The churn of a directory is the sum of everything
//! below it and of its own. So a directory has at least the churn of each entry in it, just as it has at least the
//! size of each entry. Therefore the tally that finds the largest entries by size can find them by churn, too. The
//! sizes before and now come from the two trees.
//!
//! Both trees are in memory. Besides them there are only a digest of each directory (8 bytes), the directories that are
//! gone, new or moved, and the changed inodes with several links, to show each once.

mod join;
mod lookup;
mod moves;
mod unchanged;

pub use lookup::Lookup;

use crate::tally::Limits;
use crate::tree::{Child, Order, Tree};
use moves::Moves;
use unchanged::Unchanged;

/// Two trees, and the directories that moved between them.
#[derive(Debug)]
pub struct Diff {
    before: Tree,
    now: Tree,
    moves: Moves,
    unchanged: Unchanged,
}

/// One entry in both trees, or in one.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// The entry before.
    pub before: Option<Child<'a>>,
    /// The entry now.
    pub now: Option<Child<'a>>,
}

impl<'a> Sides<'a> {
    /// Whether it is a directory on either side.
    fn is_directory(&self) -> bool {
        [self.before, self.now].iter().flatten().any(Child::is_directory)
    }

    /// Whether a directory is in the place of something else, or the other way round: one is gone, the other is new.
    fn are_two(&self) -> bool {
        self.before.zip(self.now).is_some_and(|(was, is)| was.is_directory() != is.is_directory())
    }

    /// Only the sides that are no directory.
    #[must_use]
    pub fn files(self) -> Sides<'a> {
        let is_file = |child: &Child<'_>| !child.is_directory();
        Sides { before: self.before.filter(is_file), now: self.now.filter(is_file) }
    }

    /// The entries of two directories, joined by name.
    fn children(&self) -> Vec<Sides<'a>> {
        self.join(|side| side.children(Order::Name))
    }

    /// The entries of two directories that are a directory on at least one side, joined by name. Most entries are not,
    /// and are not examined.
    fn directories(&self) -> Vec<Sides<'a>> {
        let found = self.join(|side| {
            let mut directories: Vec<_> = side.directories().collect();
            directories.sort_unstable_by_key(Child::name);
            directories
        });
        let is_on_both = |sides: &Sides<'_>| sides.before.is_some() == sides.now.is_some();
        if found.iter().all(is_on_both) {
            return found;
        }
        // On the other side a file may have that name.
        self.children().into_iter().filter(Sides::is_directory).collect()
    }

    fn join(&self, list: impl Fn(Child<'a>) -> Vec<Child<'a>>) -> Vec<Sides<'a>> {
        let [mut before, mut now] =
            [self.before, self.now].map(|side| side.map_or_else(Vec::new, &list));
        let mut pairs = Vec::with_capacity(before.len().max(now.len()));
        loop {
            let names = (before.last().map(Child::name), now.last().map(Child::name));
            let (is_before, is_now) = match names {
                (None, None) => break,
                (Some(was), Some(is)) => (was >= is, is >= was),
                (was, is) => (was.is_some(), is.is_some()),
            };
            let before = if is_before { before.pop() } else { None };
            pairs.push(Sides { before, now: if is_now { now.pop() } else { None } });
        }
        pairs.reverse();
        pairs
    }
}

impl Diff {
    /// The difference between `before` and `now`. If one side has several roots and the other only one, that one is
    /// compared with itself.
    pub fn new(before: Tree, now: Tree) -> Self {
        let (before, now) = match (before.root().is_total(), now.root().is_total()) {
            (true, false) => (before, now.below_total()),
            (false, true) => (before.below_total(), now),
            _ => (before, now),
        };
        let root = Sides { before: Some(before.root()), now: Some(now.root()) };
        let unchanged = Unchanged::new(&before, &now);
        let moves = Moves::find(root, &unchanged);
        Self { before, now, moves, unchanged }
    }

    /// The entries with the largest churn, which is their size in the returned tree: each inode once. Without limits,
    /// everything that changed, under every name.
    pub fn largest(&self, limits: Option<Limits>) -> Tree {
        let is_each_once = limits.is_some();
        let limits = limits.unwrap_or(Limits::NONE);
        // Unchanged entries have no line.
        let limits = Limits { min_size: limits.min_size.max(1), ..limits };
        join::largest(self, limits, is_each_once)
    }

    /// The roots.
    pub fn root(&self) -> Sides<'_> {
        Sides { before: Some(self.before.root()), now: Some(self.now.root()) }
    }

    /// Where the directory at `sides` was before, as a path below the root, if it was moved.
    pub fn moved_from(&self, sides: &Sides<'_>) -> Option<&[u8]> {
        self.moves.origin(sides)
    }
}

impl Sides<'_> {
    /// Its size before, and now.
    pub fn sizes(&self) -> (Option<u64>, Option<u64>) {
        (self.before.map(|child| child.size()), self.now.map(|child| child.size()))
    }

    /// The change of its size.
    pub fn change(&self) -> i128 {
        let (before, now) = self.sizes();
        i128::from(now.unwrap_or(0)) - i128::from(before.unwrap_or(0))
    }
}
