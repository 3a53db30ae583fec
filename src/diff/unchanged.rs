//! Finds unchanged directories on all cores, so that they need not be compared again.
//!
//! Two snapshots are mostly equal, and to compare everything in order took a third of the time of the walk before it. A
//! directory that is not found here is only compared later.

use std::cmp::Reverse;

use crate::diff::Sides;
use crate::diff::join::Churn;
use crate::parallel;
use crate::tree::{Child, DirectoryId, Step, Traversal};

/// Directories below the root with the same names and sizes below them on both sides.
#[derive(Debug, Default)]
pub(super) struct Unchanged {
    /// By the number of the directory in the newer tree; empty if there is none.
    is_unchanged: Vec<bool>,
}

impl Unchanged {
    /// Finds them, if there are many directories.
    pub(super) fn find(root: Sides<'_>) -> Self {
        /// For fewer, starting threads takes longer.
        const MANY: u64 = 2_000;
        let Some(now) = root.now.filter(|now| now.directories_below() >= MANY) else {
            return Self::default();
        };
        let found: Vec<_> = parallel::collect(0, parts(root), below);
        let count = usize::try_from(now.directories_below()).unwrap_or(0) + 1;
        let mut is_unchanged = vec![false; count];
        for id in found.into_iter().flatten() {
            if let Some(is_unchanged) = is_unchanged.get_mut(id.index()) {
                *is_unchanged = true;
            }
        }
        Self { is_unchanged }
    }

    /// Whether `sides` is one of them.
    pub(super) fn has(&self, sides: &Sides<'_>) -> bool {
        let id = sides.now.and_then(|now| now.id()).filter(|_| sides.before.is_some());
        id.and_then(|id| self.is_unchanged.get(id.index())).is_some_and(|is| *is)
    }
}

/// Directories below `root` that are on both sides, and none below another. They are enough to keep all threads busy, if
/// the tree is wide enough near its root.
fn parts(root: Sides<'_>) -> Vec<Sides<'_>> {
    const ENOUGH: usize = 256;
    const LEVELS: usize = 16;
    let mut parts = vec![root];
    for _ in 0..LEVELS {
        if parts.len() >= ENOUGH {
            break;
        }
        parts = parts.iter().flat_map(Sides::directories).filter(are_directories).collect();
    }
    parts
}

fn are_directories(sides: &Sides<'_>) -> bool {
    sides.before.is_some_and(|side| side.is_directory())
        && sides.now.is_some_and(|side| side.is_directory())
}

/// A directory that is being compared.
struct MatchedPair {
    id: Option<DirectoryId>,
    is_unchanged: bool,
}

/// The numbers of unchanged directories at `root` and below.
fn below(root: Sides<'_>) -> Vec<DirectoryId> {
    let mut found = Vec::new();
    let mut leaves = [Vec::new(), Vec::new()];
    let mut traversal = Traversal::new(root);
    while let Some(step) = traversal.next() {
        let (id, is_unchanged) = match step {
            Step::Node(sides) if are_directories(&sides) => {
                let directories = sides.directories();
                let is_unchanged = Churn::is_none_of(sides)
                    && directories.iter().all(are_directories)
                    && has_same_leaves(sides, &mut leaves);
                let id = sides.now.and_then(|now| now.id());
                traversal.enter(MatchedPair { id, is_unchanged }, directories);
                continue;
            }
            Step::Node(_) => (None, false),
            Step::End(MatchedPair { id, is_unchanged }) => (id, is_unchanged),
        };
        found.extend(id.filter(|_| is_unchanged));
        if let Some(above) = traversal.innermost() {
            above.is_unchanged &= is_unchanged;
        }
    }
    found
}

/// Whether all entries that are not directories have the same names and sizes on both sides. `leaves` is memory that is
/// reused.
///
/// They are sorted by size first, as a saved snapshot has them.
fn has_same_leaves<'a>(sides: Sides<'a>, leaves: &mut [Vec<(Reverse<u64>, &'a [u8])>; 2]) -> bool {
    let [before, now] = leaves;
    for (side, leaves) in [(sides.before, &mut *before), (sides.now, &mut *now)] {
        leaves.clear();
        let found = side.into_iter().flat_map(Child::leaf_nodes);
        leaves.extend(found.map(|leaf| (Reverse(leaf.totals.size), leaf.name)));
    }
    if before.len() != now.len() {
        return false;
    }
    before.sort_unstable();
    now.sort_unstable();
    before == now
}
