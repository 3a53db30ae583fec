//! Digests, by which directories of two trees are compared.

use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::{PackedDirectory, Tree, record};
use crate::measure::View;
use crate::parallel;

/// The hash of `what`. Its seed differs in each run, which makes collisions hard to prepare.
#[inline]
fn of(what: impl Hash) -> u64 {
    static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::default);
    STATE.hash_one(what)
}

/// The digest of what is in a directory under a `name`: of a size, or of a subdirectory's digest. What a directory
/// contains is the sum of these.
#[inline]
pub fn of_entry(name: &[u8], what: u64) -> u64 {
    of((name, what))
}

/// The digest of a directory: of its own size, if it counts, of its total, and of what it contains.
pub fn of_directory(own: Option<u64>, size: u64, content: u64) -> u64 {
    of((own, size, content))
}

/// The sum of the digests of `leaves` of a directory: of their names and sizes. None if they are no records.
pub fn of_leaves(view: View, mut leaves: &[u8]) -> Option<u64> {
    let mut sum = 0_u64;
    while !leaves.is_empty() {
        let (name, (figures, _)) = record::take_brief(&mut leaves)?;
        sum = sum.wrapping_add(of_entry(name, view.size(&figures)));
    }
    Some(sum)
}

impl Tree {
    /// A digest of each directory, by its number. It covers the directory's own size, its total, and the names and
    /// sizes of everything below it, in any order, as the tree's view measures them: of two trees that are compared,
    /// one may know only that figure. Only digests from the same run can be compared. Two different directories have
    /// equal digests about once in 2^64.
    pub fn digests(&self) -> Vec<u64> {
        // Most of the work, and of each directory by itself.
        let view = self.view;
        let mut digests: Vec<u64> =
            parallel::collect(0, &self.directories, |directory: &PackedDirectory| {
                of_leaves(view, directory.leaves()).unwrap_or_default()
            });
        for (id, directory) in self.directories.iter().enumerate() {
            let node = directory.node();
            let own = node.own.map(|own| view.size(&own));
            let whole = of_directory(own, view.size(&node.sums.all), digests[id]);
            digests[id] = whole;
            if directory.up > 0
                && let Some(above) = digests.get_mut(id + directory.up as usize)
            {
                *above = above.wrapping_add(of_entry(node.name, whole));
            }
        }
        digests
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds no entry should stop there")]
mod tests {
    use std::collections::BTreeSet;

    use crate::measure::{Figures, Mode};
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
        let usual = tree([&[one, two], &[two]]).digests();
        assert_eq!(usual, tree([&[two, one], &[two]]).digests());
        assert_eq!(usual.len(), 3);
        for other in [file(b"one", 3), file(b"on", 1), file(b"two", 1), two] {
            let other = tree([&[other, two], &[two]]).digests();
            assert!(other[0] != usual[0] && other[1] == usual[1] && other[2] != usual[2]);
        }
        assert_ne!(usual[2], tree([&[two], &[one, two]]).digests()[2], "each in its directory");

        let mut tree = tree([&[one, more, two], &[two]]);
        assert_ne!(usual, tree.digests());
        let is_more = |leaf: &Child<'_>| leaf.name() == b"more";
        let place = tree.directory(DirectoryId(0)).children(Order::Name).into_iter().find(is_more);
        let place = place.and_then(|more| more.place()).unwrap();
        tree.remove_all(&BTreeSet::from([place]));
        assert_eq!(usual, tree.digests());
    }
}
