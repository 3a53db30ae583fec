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
//! [`Change`]: crate::base::measure::Change

mod join;
mod moves;
mod unchanged;

use crate::base::parallel;
use crate::tree::tally::{Limits, Top, Whole};
use crate::tree::{Child, Tree};
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
    parallel::discard((before, now, unchanged));
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

    /// About how much there is to compare: how many directories it and all below it were before; or are now, if it is
    /// new.
    fn directories(&self) -> u64 {
        1 + self.before.or(self.now).map_or(0, |it| it.directories_below())
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

    /// Its size before, and now.
    fn sizes(&self) -> (Option<u64>, Option<u64>) {
        (self.before.map(|child| child.size()), self.now.map(|child| child.size()))
    }

    /// The entries `before` and `now` of two directories, by name, joined.
    fn joined([mut before, mut now]: [Vec<Child<'a>>; 2]) -> Vec<Sides<'a>> {
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
