//! Of a file, only what differs from a tree in memory: every directory's digest is compared first, and only the
//! listings of those that differ are read.

use std::collections::HashMap;
use std::io;

use foldhash::fast::RandomState;

use super::SavedListings;
use crate::tally::{Inodes, Whole};
use crate::total::Replay;
use crate::tree::{Child, Node, Tree};

/// The listings of a file, and the digests of its directories, by their numbers, if it has them.
#[derive(Debug)]
pub struct Digested {
    pub(super) listings: SavedListings,
    pub(super) digests: Vec<u64>,
}

impl Digested {
    /// The tree in the file, with these `inodes`, and without what is in directories that are the same in `now`; and
    /// of each directory of `now`, by its number, whether it is one of these. What is in roots is always there.
    ///
    /// # Errors
    /// The system's, and those of a damaged file.
    pub fn changed(mut self, now: &Tree, inodes: Inodes) -> io::Result<(Tree, Vec<bool>)> {
        let root = now.root();
        let is_total = root.is_total();
        let is_alike = root.is_directory() && is_total == self.listings.is_total();
        let is = now.digests(None);
        let mut search = SideBySide {
            was: &self.digests,
            unchanged: vec![false; is.len()],
            is,
            is_total,
            ahead: [(0, Some(root).filter(|_| is_alike))].into_iter().collect(),
            children: HashMap::default(),
        };
        let is_read = |above, node: &Node<'_>, number| search.is_changed(above, node, number);
        let begin = |depth| Box::new(Replay::new(Whole { inodes }, depth)) as _;
        self.listings.expect_many();
        let tree = self.listings.replay(begin, is_read, None)?;
        Ok((tree, search.unchanged))
    }
}

/// Goes down a file and a tree side by side.
struct SideBySide<'t> {
    was: &'t [u64],
    is: Vec<u64>,
    unchanged: Vec<bool>,
    /// Whether the root is the node above several roots.
    is_total: bool,
    /// The directories of the file that are to be read, and which one each is now.
    ahead: HashMap<u64, Option<Child<'t>>, RandomState>,
    /// What is now in the one that is read.
    children: HashMap<&'t [u8], Child<'t>, RandomState>,
}

impl SideBySide<'_> {
    /// Whether the directory with this `number`, in the one with the number `above`, is to be read.
    fn is_changed(&mut self, above: u64, node: &Node<'_>, number: u64) -> bool {
        if let Some(directory) = self.ahead.remove(&above) {
            let now = directory.into_iter().flat_map(Child::directories);
            self.children = now.map(|child| (child.name(), child)).collect();
        }
        let now = self.children.get(node.name).copied();
        let is_root = self.is_total && above == 0;
        if let Some(now) = now.filter(|now| !is_root && self.is_same(number, node, now))
            && let Some(id) = now.id()
            && let Some(is_unchanged) = self.unchanged.get_mut(id.index())
        {
            *is_unchanged = true;
            return false;
        }
        self.ahead.insert(number, now);
        true
    }

    /// Whether the directory with this `number` is the same `now`. Somebody may choose names so that digests are, and
    /// nothing should grow unseen.
    fn is_same(&self, number: u64, node: &Node<'_>, now: &Child<'_>) -> bool {
        let digest = usize::try_from(number).ok().and_then(|number| self.was.get(number));
        digest.is_some()
            && digest == now.id().and_then(|id| self.is.get(id.index()))
            && now.view().size(&node.sums.all) == now.size()
    }
}
