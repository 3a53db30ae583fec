//! Of a file, only what differs from a tree in memory: every directory's digest is compared first, and only the
//! listings of those that differ are kept.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use super::SavedListings;
use crate::tally::{Inodes, Whole};
use crate::total::Replay;
use crate::tree::{DirectoryId, Tree};

/// The listings of a file, and the digests of its directories, each after those of the directories below.
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
        let is = now.digests();
        let mut search = SideBySide {
            was: &self.digests,
            now,
            unchanged: vec![false; is.len()],
            is,
            root_depth: is_total.into(),
            ahead: HashMap::from([(0, (0, root.id().filter(|_| is_alike)))]),
            depth: 0,
            children: HashMap::new(),
        };
        let is_read = |above, name: &[u8], numbers: &_| search.is_changed(above, name, numbers);
        let begin = |depth| Box::new(Replay::new(Whole { inodes }, depth)) as _;
        let tree = self.listings.replay(begin, is_read, None)?;
        Ok((tree, search.unchanged))
    }
}

/// Goes down a file and a tree side by side.
struct SideBySide<'t> {
    was: &'t [u64],
    now: &'t Tree,
    is: Vec<u64>,
    unchanged: Vec<bool>,
    root_depth: u64,
    /// The directories of the file that are to be read: the depth of each, and which one it is now.
    ahead: HashMap<u64, (u64, Option<DirectoryId>)>,
    /// The depth of what is in the one that is read, and what is there now.
    depth: u64,
    children: HashMap<&'t [u8], DirectoryId>,
}

impl SideBySide<'_> {
    /// Whether the directory with the first of these `numbers`, in the one with the number `above`, is to be read.
    fn is_changed(&mut self, above: u64, name: &[u8], numbers: &Range<u64>) -> bool {
        if let Some((depth, directory)) = self.ahead.remove(&above) {
            self.depth = depth + 1;
            let now = directory.map(|directory| self.now.directory(directory).directories());
            let children = now.into_iter().flatten();
            self.children =
                children.filter_map(|child| Some((child.name(), child.id()?))).collect();
        }
        let there = self.children.get(name).copied();
        // Before it are the digests of all before it but those above, and of all below it.
        let place = numbers.end.checked_sub(1 + self.depth);
        let was = place.and_then(|place| self.was.get(usize::try_from(place).ok()?));
        let is = there.and_then(|there| self.is.get(there.index()));
        if self.depth > self.root_depth
            && was.is_some()
            && was == is
            && let Some(is_same) = there.and_then(|there| self.unchanged.get_mut(there.index()))
        {
            *is_same = true;
            return false;
        }
        self.ahead.insert(numbers.start, (self.depth, there));
        true
    }
}
