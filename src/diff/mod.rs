//! The difference between two snapshots: what grew, shrank, appeared, disappeared or moved.
//!
//! A difference is a tree. Each node has its sizes before and now, and its churn ([`Change`]), by which the largest are
//! chosen: the amount by which its size changed, and for a directory the sum over everything in it and itself. So a
//! directory has at least the churn of each entry in it, just as it has at least the size of each entry. Therefore the
//! tally that finds the largest entries by size can find them by churn, too.
//!
//! Both trees are in memory until then, or of the one before only what changed. Besides them there are only a digest of
//! each directory (8 bytes), the directories that are gone, new or moved, and the changed inodes with several links, to
//! show each once.
//!
//! [`Change`]: crate::measure::Change

mod join;
mod moves;
mod unchanged;

use crate::tally::{Limits, Top, Whole};
use crate::tree::{Child, Order, Tree};
use join::join;
use moves::Moves;
pub use unchanged::Unchanged;

/// The difference between `before` and `now`: the entries with the largest churn, each inode once. Without limits,
/// everything that changed, under every name. If one side has several roots and the other only one, that one is
/// compared with itself. It has to be `known` what is unchanged if that is not in the tree `before`.
pub fn compare(before: Tree, now: Tree, limits: Option<Limits>, known: Option<Unchanged>) -> Tree {
    let (before, now) = match (before.root().is_total(), now.root().is_total()) {
        (true, false) => (before, now.below_total()),
        (false, true) => (before.below_total(), now),
        _ => (before, now),
    };
    let (root, view) = (Sides { before: Some(before.root()), now: Some(now.root()) }, now.view());
    let unchanged = known.unwrap_or_else(|| Unchanged::new(&before, &now));
    let moves = Moves::find(root, &unchanged);
    let known = (&moves, &unchanged);
    let changes = match limits {
        None => join(root, known, Whole::default(), Limits::NONE, false),
        Some(limits) => {
            // Unchanged entries have no line.
            let limits = Limits { min_size: limits.min_size.max(1), ..limits };
            join(root, known, Top::new(view, limits), limits, true)
        }
    };
    changes.seen_as(view)
}

/// One entry in both trees, or in one.
#[derive(Clone, Copy, Debug)]
struct Sides<'a> {
    /// The entry before.
    before: Option<Child<'a>>,
    /// The entry now.
    now: Option<Child<'a>>,
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
    fn files(self) -> Sides<'a> {
        let [before, now] =
            [self.before, self.now].map(|side| side.filter(|child| !child.is_directory()));
        Sides { before, now }
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
        if found.iter().all(|sides| sides.before.is_some() == sides.now.is_some()) {
            return found;
        }
        // On the other side a file may have that name.
        self.children().into_iter().filter(Sides::is_directory).collect()
    }

    /// Its size before, and now.
    fn sizes(&self) -> (Option<u64>, Option<u64>) {
        (self.before.map(|child| child.size()), self.now.map(|child| child.size()))
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
