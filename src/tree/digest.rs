//! Digests, by which directories of two trees are compared. `.weigh` files have them, so docs/format.md says how they
//! are made. Whoever knows that can make names by which two different directories have one digest: where that matters,
//! compare sizes, too.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::{Child, DirectoryId, Node, PackedDirectory, Tree, record};
use crate::base::measure::{Figures, View};
use crate::base::parallel;

/// An odd number without a pattern, by which every word is multiplied: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a `word` makes of a digest so far.
#[inline]
fn mixed(digest: u64, word: u64) -> u64 {
    let product = u128::from(digest ^ word) * u128::from(FACTOR);
    (product >> 64) as u64 ^ product as u64
}

#[inline]
fn with_figures(digest: u64, figures: &Figures, seen: Option<View>) -> u64 {
    if let Some(view) = seen {
        return mixed(digest, view.size(figures));
    }
    let Figures { disk, length, files, inodes, .. } = *figures;
    mixed(mixed(mixed(digest, disk), length), files << 32 ^ inodes)
}

#[inline]
fn with_name(digest: u64, name: &[u8]) -> u64 {
    let (words, rest) = name.as_chunks();
    let digest = words.iter().fold(digest, |digest, word| mixed(digest, u64::from_le_bytes(*word)));
    let last = match name.last_chunk() {
        // Where there is a word, its last bytes are the rest: to copy these would take longer.
        Some(last) if !rest.is_empty() => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
        _ => rest.iter().rev().fold(0, |last, byte| last << 8 | u64::from(*byte)),
    };
    mixed(mixed(digest, last), name.len() as u64)
}

impl Tree {
    /// A digest of each directory, by its number. It covers the directory's name, its own figures, its total, and the
    /// names and figures of everything below it, in any order; of the figures only those that are `seen`, if two trees
    /// are compared of which one may know no other. Two different directories have equal digests about once in 2^64,
    /// unless somebody makes them so.
    pub fn digests(&self, seen: Option<View>) -> Vec<u64> {
        let own = parallel::collect(0, &self.directories, |it: &PackedDirectory| it.digest(seen));
        self.added_up(own)
    }

    /// The digests of all directories, by their numbers, from their `own` ones in any order.
    pub fn with_below(&self, own: &[(DirectoryId, u64)]) -> Vec<u64> {
        let mut digests = vec![0; self.directories.len()];
        for (id, digest) in own {
            digests[id.index()] = *digest;
        }
        self.added_up(digests)
    }

    fn added_up(&self, mut digests: Vec<u64>) -> Vec<u64> {
        for (id, directory) in self.directories.iter().enumerate() {
            let digest = mixed(digests[id], 0);
            digests[id] = digest;
            if directory.up > 0
                && let Some(above) = digests.get_mut(id + directory.up as usize)
            {
                *above = above.wrapping_add(digest);
            }
        }
        digests
    }
}

impl PackedDirectory {
    /// That of the directory without its subdirectories.
    fn digest(&self, seen: Option<View>) -> u64 {
        let (mut rest, mut leaves) = (self.leaves(), 0_u64);
        while let Some((name, (figures, _))) = record::take_brief(&mut rest) {
            leaves = leaves.wrapping_add(of_leaf(name, &figures, seen));
        }
        of_directory(&self.node(), leaves, seen)
    }
}

/// The digest of an entry that is not a directory.
#[inline]
pub fn of_leaf(name: &[u8], figures: &Figures, seen: Option<View>) -> u64 {
    with_name(with_figures(FACTOR, figures, seen), name)
}

/// The digest of a directory without its subdirectories; `leaves` is the sum of those of its other entries.
pub fn of_directory(node: &Node<'_>, leaves: u64, seen: Option<View>) -> u64 {
    let digest = with_figures(mixed(FACTOR, leaves), &node.sums.all, seen);
    let digest = match &node.own {
        Some(own) => with_figures(mixed(digest, 1), own, seen),
        None => mixed(digest, 0),
    };
    with_name(digest, node.name)
}

// What is known to be the same in a tree and in an earlier one that lacks it. `snapshot` finds it, and `diff` uses it.

/// What is unchanged in the directories of a tree.
#[derive(Debug, Default)]
pub struct UnchangedParts {
    /// Of each directory, by its number, whether it is as it was. The earlier tree lacks it then.
    pub directories: Vec<bool>,
    /// Of others that are in both trees, the leaves before and now that differ, packed. All other leaves of these are
    /// as they were, and the earlier tree lacks all of them.
    pub others: HashMap<DirectoryId, [Box<[u8]>; 2], RandomState>,
}

impl UnchangedParts {
    /// Forgets what differs in a directory of the tree `now`, and below it, unless it is unchanged; whether it is.
    pub fn leave_out(&mut self, now: &Tree, directory: DirectoryId) -> bool {
        let is_unchanged = self.directories.get(directory.index()) == Some(&true);
        if !is_unchanged {
            let below = now.directory(directory).all_directories();
            below.filter_map(|it| it.id()).for_each(|id| _ = self.others.remove(&id));
        }
        is_unchanged
    }

    /// What may differ in a directory, by name, if that is known: what was in it `before`, and what is `now`.
    pub fn others<'a>(&'a self, before: Child<'a>, now: Child<'a>) -> Option<[Vec<Child<'a>>; 2]> {
        let id = now.id()?;
        let [was, is] = self.others.get(&id)?;
        let (was, is) = (before.leaves_in(was), now.leaves_in(is));
        let directories = now.tree.subdirectories(id);
        let differing = directories.filter(|id| self.directories.get(id.index()) != Some(&true));
        let differing = differing.map(|id| now.tree.directory(id));
        let mut others: [Vec<_>; 2] =
            [before.directories().chain(was).collect(), differing.chain(is).collect()];
        for side in &mut others {
            side.sort_unstable_by_key(Child::name);
        }
        Some(others)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::base::measure::{Figures, Mode};
    use crate::tree::{Child, Content, DirectoryId, Node, Order, Shape, Sums};

    #[test]
    fn digests_are_of_what_is_there_in_whatever_order() {
        let of = |disk| Sums::of(Figures { disk, ..Figures::default() });
        let file =
            |name, size| Node { sums: of(size), name, mode: Mode(0o100_644), ..Node::default() };
        let directory =
            |name| Node { name, sums: of(100), mode: Mode::DIRECTORY, ..Node::default() };
        let tree = |files: [&[Node<'_>]; 2]| {
            let mut content = Content::default();
            for (name, files) in [b"a", b"b"].into_iter().zip(files) {
                let mut below = Content::default();
                files.iter().for_each(|file| below.push(file));
                content.close(&directory(name), below);
            }
            content.finish(&directory(b"root"), Shape::default())
        };
        let (one, two, more) = (file(b"one", 1), file(b"two", 2), file(b"more", 3));
        let usual = tree([&[one, two], &[two]]).digests(None);
        assert_eq!(usual, tree([&[two, one], &[two]]).digests(None));
        assert_eq!(usual.len(), 3);
        for other in [file(b"one", 3), file(b"on", 1), file(b"two", 1), two] {
            let other = tree([&[other, two], &[two]]).digests(None);
            assert!(other[0] != usual[0] && other[1] == usual[1] && other[2] != usual[2]);
        }
        assert_ne!(usual[2], tree([&[two], &[one, two]]).digests(None)[2], "each in its directory");

        let mut tree = tree([&[one, more, two], &[two]]);
        assert_ne!(usual, tree.digests(None));
        let is_more = |leaf: &Child<'_>| leaf.name() == b"more";
        let place = tree.directory(DirectoryId(0)).children(Order::Name).into_iter().find(is_more);
        let place = place.and_then(|more| more.place()).unwrap();
        tree.remove_all(&BTreeSet::from([place]));
        assert_eq!(usual, tree.digests(None));
    }
}
