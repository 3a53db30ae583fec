//! What the directories above one come to, after that was looked at anew or is gone.

use super::{Rules, Sum};
use crate::tree::{Child, DirectoryId, Totals, Tree};

/// Adds up anew what `directory` comes to, and each directory above it, from the inodes that are kept: of those with
/// several links, which they are.
///
/// All that is below the root is gone through once: where links lie elsewhere, no sum of totals is right.
pub fn add_up(tree: &mut Tree, rules: &Rules, directory: DirectoryId) {
    let mut above = vec![directory];
    let mut at = tree.directory(directory).parent();
    while let Some(parent) = at {
        above.extend(parent.id());
        at = parent.parent();
    }
    let (mut sum, mut totals) = (Sum::default(), Vec::new());
    let mut inner = None;
    for id in above {
        // What is in the one before has been added.
        for child in tree.directory(id).directories().filter(|child| child.id() != inner) {
            child.id().into_iter().flat_map(|id| tree.directories_within(id)).for_each(|below| {
                add(&mut sum, &below);
            });
        }
        add(&mut sum, &tree.directory(id));
        let now =
            if rules.unique { sum.unshared(rules.measure) } else { sum.totals(rules.measure) };
        totals.push((id, rules.as_known(now)));
        inner = Some(id);
    }
    for (id, now) in totals {
        let Totals { beside, .. } = tree.directory(id).totals();
        tree.set_totals(id, Totals { beside, ..now });
    }
}

/// Adds a directory's own weight, and what is directly in it and no directory.
fn add(sum: &mut Sum, directory: &Child<'_>) {
    if let Some(own) = directory.node().own {
        sum.add(own, own);
    }
    for leaf in directory.leaves() {
        let inode = leaf.inode().filter(|inode| inode.links != Some(u32::MAX));
        match inode.and_then(|inode| Some((inode.linked()?, inode.links?))) {
            Some((identity, links)) => sum.add_link(identity, leaf.size(), links, leaf.size()),
            None => sum.add(leaf.size(), leaf.size()),
        }
    }
}
