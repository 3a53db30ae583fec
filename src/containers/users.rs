//! What each image and each container comes to. What several have in common counts in each of them, and is shared.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::measure::Figures;
use crate::sum::{Amounts, Settled};
use crate::tree::{Content, Node, Shape, Sums, Tree};

/// An image or a container.
#[derive(Clone, Debug)]
pub struct User {
    /// What people call it.
    pub name: String,
    /// Its directories, by path.
    pub directories: Vec<Vec<u8>>,
}

/// A tree with a group for each of `users`, for the `lines` that are largest in `tree`. Removing a user frees what is
/// not shared.
pub fn by_user(tree: &Tree, users: &[User], lines: usize) -> Tree {
    let mut used: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    for (i, user) in users.iter().enumerate() {
        for directory in &user.directories {
            used.entry(directory.clone()).or_default().push(i);
        }
    }
    let mut totals = vec![(Settled::default(), Amounts::default()); users.len()];
    for (directory, of) in tree.at_paths(&used) {
        let Sums { all, entries, .. } = tree.directory(directory).node().sums;
        for i in of {
            let (total, shared) = &mut totals[*i];
            total.absorb(Settled { amounts: all.into(), entries, newest: all.newest });
            *shared += if of.len() > 1 { all } else { Figures::default() };
        }
    }
    let totals = totals.into_iter().map(|(total, shared)| {
        let (all, shared) = (total.figures(), shared.figures());
        Sums { all, shared, entries: total.entries, frees: None }
    });
    let mut groups: Vec<_> = users.iter().zip(totals).collect();
    groups.sort_by_key(|(user, sums)| (Reverse(tree.view().size(&sums.all)), &user.name));
    let mut content = Content::default();
    for (User { name, .. }, sums) in groups.into_iter().take(lines) {
        let group = Node { name: name.as_bytes(), sums, ..Node::default() };
        content.close(&group, Content::default());
    }
    content.finish(&tree.root().node(), Shape::Groups).seen_as(tree.view())
}
