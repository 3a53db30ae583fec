//! The totals of directories in which something was scanned again or removed, and of those above them.

use std::collections::{BTreeSet, HashMap};

use super::Rules;
use crate::tree::sum::Sum;
use crate::tree::{DirectoryId, Tree};

/// Adds up again what `directories`, and all directories above them, come to, from the inodes that are kept: of those
/// with several links, which they are.
///
/// This goes once through everything below the root: if links are elsewhere, no sum of totals is right.
pub fn add_up(tree: &mut Tree, rules: &Rules, directories: impl IntoIterator<Item = DirectoryId>) {
    // In the order of their numbers, which each has after those below it.
    let mut above = BTreeSet::new();
    for directory in directories {
        let mut at = Some(tree.directory(directory));
        while let Some(directory) = at {
            if !directory.id().is_some_and(|id| above.insert(id)) {
                break;
            }
            at = directory.parent();
        }
    }
    let (mut open, mut sums): (HashMap<DirectoryId, Sum>, Vec<_>) = Default::default();
    for &id in &above {
        let mut sum = open.remove(&id).unwrap_or_default();
        // What is in those before has been added.
        let others = tree.directory(id).directories().filter_map(|child| child.id());
        for other in others.filter(|other| !above.contains(other)) {
            sum.add_counted(tree.directory(other).counted());
        }
        sum.add_counted(tree.directory(id).counted_here());
        sums.push((id, rules.sums(&sum)));
        if let Some(parent) = tree.directory(id).parent().and_then(|parent| parent.id()) {
            open.entry(parent).or_default().absorb(sum);
        }
    }
    for (id, sums) in sums {
        tree.set_sums(id, sums);
    }
}
