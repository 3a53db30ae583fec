//! What changed between two snapshots: what grew, what shrank, what is new, gone, or somewhere else.
//!
//! The churn of an entry is what its size changed by; that of a directory, the sum of all below it
//! and of its own. So a directory's churn is at least that of anything in it, as its size is at
//! least that of anything in it, and the largest by churn are chosen by the same tally as the
//! largest by size. What they were before and are now is looked up in the two trees.
//!
//! Both trees are in memory, and so is nothing else but the directories that are gone, new or moved, and, to
//! show each inode once, those with several links that changed.

mod join;
mod lookup;
mod moves;
mod unchanged;

pub use lookup::Lookup;

use crate::tally::{Limits, Top};
use crate::tree::{Child, Order, Tree};
use moves::Moves;
use unchanged::Unchanged;

/// Two trees, and what went from one place to another.
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
    /// What it was.
    pub before: Option<Child<'a>>,
    /// What it is.
    pub now: Option<Child<'a>>,
}

impl<'a> Sides<'a> {
    /// Whether it is a directory on either side.
    fn is_directory(&self) -> bool {
        [self.before, self.now].iter().flatten().any(Child::is_directory)
    }

    /// What is in either of two directories, by name.
    fn children(&self) -> Vec<Sides<'a>> {
        self.join(|side| side.children(Order::Name))
    }

    /// What is in either of two directories and a directory on one side at least, by name. The rest is most of
    /// what there is, and not looked at.
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
        // On the other side there may be something else of that name.
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
    /// What became of `before`, which is `now`.
    pub fn new(before: Tree, now: Tree) -> Self {
        let root = Sides { before: Some(before.root()), now: Some(now.root()) };
        let unchanged = Unchanged::find(root);
        let moves = Moves::find(&before, &now, &unchanged);
        Self { before, now, moves, unchanged }
    }

    /// The entries with the largest churn, which is their size in the tree: each inode once. Without
    /// limits, all that changed, under every name.
    pub fn largest(&self, limits: Option<Limits>) -> Tree {
        let is_each_once = limits.is_some();
        let limits = limits.unwrap_or(Limits::NONE);
        // What did not change is not worth a line.
        let limits = Limits { min_size: limits.min_size.max(1), ..limits };
        join::feed(self.root(), &self.moves, &self.unchanged, Top::new(limits), is_each_once)
    }

    /// The roots.
    pub fn root(&self) -> Sides<'_> {
        Sides { before: Some(self.before.root()), now: Some(self.now.root()) }
    }

    /// Where the directory that is at `sides` was before, as a path below the root, if it was
    /// moved.
    pub fn moved_from(&self, sides: &Sides<'_>) -> Option<&[u8]> {
        self.moves.origin(sides)
    }
}

impl Sides<'_> {
    /// Its size before, and now.
    pub fn sizes(&self) -> (Option<u64>, Option<u64>) {
        (self.before.map(|child| child.size()), self.now.map(|child| child.size()))
    }

    /// What its size changed by.
    pub fn change(&self) -> i128 {
        let (before, now) = self.sizes();
        i128::from(now.unwrap_or(0)) - i128::from(before.unwrap_or(0))
    }
}
