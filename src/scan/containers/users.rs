//! What each image and each container comes to. What several have in common counts in each of them, and is
//! shared; so is what another keeps.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::base::measure::Figures;
use crate::tree::sum::{PlainSum, WideFigures};
use crate::tree::{Content, Freeable, Node, Shape, Sums, Tree};

/// An image or a container.
#[derive(Clone, Debug, Default)]
pub struct User {
    /// What people call it.
    pub name: String,
    /// Its directories, and files outside of them, by path.
    pub directories: Vec<Vec<u8>>,
    /// Those of others that stay as long as it is there.
    pub keeps: Vec<Vec<u8>>,
}

impl User {
    /// One that needs only its own `directories`.
    pub(super) fn new(name: String, directories: impl IntoIterator<Item = String>) -> Self {
        let directories = directories.into_iter().map(String::into_bytes).collect();
        Self { name, directories, keeps: Vec::new() }
    }
}

/// A tree with a group for each of the largest `users` in `tree` that come to `least` or more, at most so many `lines`; and
/// one group more for all other files, also those of users without a line. Removing a user frees the files that nobody
/// shares.
pub fn by_user(tree: &Tree, users: &[User], lines: usize, least: u64) -> Tree {
    let view = tree.view();
    // Whose each directory is, and how many need it.
    let mut paths: BTreeMap<Vec<u8>, (Vec<usize>, usize)> = BTreeMap::new();
    for (i, user) in users.iter().enumerate() {
        for directory in &user.directories {
            let (of, needed) = paths.entry(directory.clone()).or_default();
            of.push(i);
            *needed += 1;
        }
    }
    for directory in users.iter().flat_map(|user| &user.keeps) {
        if let Some((_, needed)) = paths.get_mut(directory) {
            *needed += 1;
        }
    }
    let found = tree.at_paths(&paths);
    let used = found.iter().map(|(place, of)| (tree.at(*place).node().sums, *of));
    let mut totals = vec![(PlainSum::default(), WideFigures::default()); users.len()];
    for (Sums { all, entries, .. }, (of, needed)) in used.clone() {
        for i in of {
            let (total, shared) = &mut totals[*i];
            total.absorb(PlainSum { wide: all.into(), entries, newest: all.newest });
            *shared += if *needed > 1 { all } else { Figures::default() };
        }
    }
    let totals = totals.into_iter().map(|(total, shared)| {
        let (all, shared) = (total.figures(), shared.figures());
        let own = view.size(&all).saturating_sub(view.size(&shared));
        let frees = Some(Freeable { least: own, most: own, extents: 0 });
        Sums { all, shared, entries: total.entries, frees }
    });
    let mut groups: Vec<_> = totals.enumerate().collect();
    groups.retain(|(_, sums)| view.size(&sums.all) >= least);
    groups.sort_by_key(|(i, sums)| (Reverse(view.rank(&sums.all, None)), &users[*i].name));
    groups.truncate(lines);
    let mut content = Content::default();
    let mut has_line = vec![false; users.len()];
    for (i, sums) in groups {
        has_line[i] = true;
        let group = Node { name: users[i].name.as_bytes(), sums, ..Node::default() };
        content.close(&group, Content::default());
    }
    let mut others = tree.root().node().sums;
    for (sums, _) in used.filter(|(_, (of, _))| of.iter().any(|i| has_line[*i])) {
        others = others.without(&sums);
    }
    let group = Node { name: b"(everything else)", sums: others, ..Node::default() };
    content.close(&group, Content::default());
    content.finish(&tree.root().node(), Shape::Groups).in_view(view)
}
