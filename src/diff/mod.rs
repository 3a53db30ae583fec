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

pub use lookup::Lookup;

use crate::tally::{Limits, Top};
use crate::tree::{Child, Order, Tree};
use moves::Moves;

/// Two trees, and what went from one place to another.
#[derive(Debug)]
pub struct Diff {
    before: Tree,
    now: Tree,
    moves: Moves,
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
        let sorted = |child: Child<'a>| child.children(Order::Name);
        let [mut before, mut now] =
            [self.before, self.now].map(|side| side.map_or_else(Vec::new, sorted));
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
    /// What became of `before`, which is `now`. A root that is the only one left of several is compared with itself.
    pub fn new(before: Tree, now: Tree) -> Self {
        let (before, now) = match (before.is_above_roots(), now.is_above_roots()) {
            (true, false) => (before, now.below_total()),
            (false, true) => (before.below_total(), now),
            _ => (before, now),
        };
        let moves = Moves::find(&before, &now);
        Self { before, now, moves }
    }

    /// The entries with the largest churn, which is their size in the tree: each inode once. Without
    /// limits, all that changed, under every name.
    pub fn largest(&self, limits: Option<Limits>) -> Tree {
        let is_each_once = limits.is_some();
        let limits = limits.unwrap_or(Limits::NONE);
        // What did not change is not worth a line.
        let limits = Limits { min_size: limits.min_size.max(1), ..limits };
        join::feed(self.root(), &self.moves, Top::new(limits), is_each_once)
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
