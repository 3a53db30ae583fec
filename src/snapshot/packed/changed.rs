//! Of a file, only what differs from a tree in memory: every directory's digest is compared first, and only the
//! listings of those that differ are read. Meanwhile another thread looks for the leaves that differ in these.

use std::collections::HashMap;
use std::{io, mem};

use foldhash::fast::RandomState;

use super::SavedListings;
use super::listings::Choice;
use super::pieces::Piece;
use super::read::set_times;
use crate::parallel;
use crate::tally::{Inodes, Whole};
use crate::total::Replay;
use crate::tree::{Alike, Child, DirectoryId, Node, Tree, record};

/// A batch has about this many bytes of leaves, and more if one listing has more. Up to three batches are in memory.
const AT_A_TIME: usize = 2 << 20;

/// Leaves before and now, packed.
type Leaves = [Box<[u8]>; 2];

/// The listings of a file, and the digests of its directories, by their numbers, if it has them.
#[derive(Debug)]
pub struct Digested {
    pub(super) listings: SavedListings,
    pub(super) digests: Vec<u64>,
}

impl Digested {
    /// The tree in the file, with these `inodes`, and without what is the same in `now`; and what that is. Roots are
    /// always there.
    ///
    /// # Errors
    /// The system's, and those of a damaged file.
    pub fn changed<'t>(self, now: &'t Tree, inodes: Inodes) -> io::Result<(Tree, Alike)> {
        let has_times = self.listings.has_times;
        let ((tree, directories), differing) = parallel::beside(
            |compare| self.read(now, inodes, compare),
            |batch: Batch<'t>| batch.differing(has_times),
        )?;
        let mut others = HashMap::default();
        for differing in differing {
            others.extend(differing?);
        }
        Ok((tree, Alike { directories, others }))
    }

    /// The tree of [`changed`](Self::changed); and of each directory of `now`, by its number, whether it is the same.
    /// Has the leaves of the others compared.
    fn read<'t>(
        mut self,
        now: &'t Tree,
        inodes: Inodes,
        compare: &mut dyn FnMut(Batch<'t>),
    ) -> io::Result<(Tree, Vec<bool>)> {
        let root = now.root();
        let is_alike = root.is_directory() && root.is_total() == self.listings.is_total;
        let is = now.digests(None);
        let directories = vec![false; is.len()];
        let mut search = SideBySide {
            was: &self.digests,
            is,
            are_roots: false,
            ahead: [(0, Some(root).filter(|_| is_alike))].into_iter().collect(),
            children: HashMap::default(),
            batch: Batch::default(),
            compare,
            directories,
        };
        let begin = |depth| Box::new(Replay::new(Whole { inodes }, depth, None)) as _;
        self.listings.expect_many();
        let tree = self.listings.replay(begin, &mut search, None)?;
        let SideBySide { batch, directories, .. } = search;
        compare(batch);
        Ok((tree, directories))
    }
}

/// Listings whose leaves are compared.
#[derive(Default)]
struct Batch<'t> {
    /// Pieces of leaves.
    packed: Vec<u8>,
    /// Where each listing begins in these, and which directory it is now.
    listings: Vec<(usize, Child<'t>)>,
}

/// Goes down a file and a tree side by side.
struct SideBySide<'t, 'c> {
    was: &'c [u64],
    is: Vec<u64>,
    /// Whether roots are in the directory that is read, the one above them.
    are_roots: bool,
    /// The directories of the file that are to be read, and which one each is now.
    ahead: HashMap<u64, Option<Child<'t>>, RandomState>,
    /// What is now in the one that is read, and has not been found in the file.
    children: HashMap<&'t [u8], Child<'t>, RandomState>,
    batch: Batch<'t>,
    compare: &'c mut dyn FnMut(Batch<'t>),
    /// The directories that are alike, by their numbers now.
    directories: Vec<bool>,
}

impl Choice for SideBySide<'_, '_> {
    fn begin(&mut self, number: u64) -> io::Result<bool> {
        if self.batch.packed.len() > AT_A_TIME {
            (self.compare)(mem::take(&mut self.batch));
        }
        let now = self.ahead.remove(&number).flatten();
        let children = now.into_iter().flat_map(Child::directories);
        self.children.clear();
        self.children.extend(children.map(|child| (child.name(), child)));
        // What is above several roots shows all of them.
        self.are_roots = now.is_some_and(|now| now.is_total());
        let compared = now.filter(|_| !self.are_roots);
        let Batch { packed, listings } = &mut self.batch;
        listings.extend(compared.map(|now| (packed.len(), now)));
        Ok(compared.is_some())
    }

    fn is_read(&mut self, node: &Node<'_>, number: u64) -> bool {
        let now = self.children.remove(node.name);
        if let Some(now) = now.filter(|now| !self.are_roots && self.is_same(number, node, now))
            && let Some(id) = now.id()
            && let Some(is_alike) = self.directories.get_mut(id.index())
        {
            *is_alike = true;
            return false;
        }
        self.ahead.insert(number, now);
        true
    }

    fn shows_unread(&self) -> bool {
        false
    }

    fn take_leaves(&mut self, leaves: Piece<'_>) {
        leaves.push(&mut self.batch.packed);
    }
}

impl SideBySide<'_, '_> {
    /// Whether the directory with this `number` is the same `now`. Somebody may choose names so that digests are, and
    /// nothing should grow unseen.
    fn is_same(&self, number: u64, node: &Node<'_>, now: &Child<'_>) -> bool {
        let digest = usize::try_from(number).ok().and_then(|number| self.was.get(number));
        digest.is_some()
            && digest == now.id().and_then(|id| self.is.get(id.index()))
            && now.view().size(&node.sums.all) == now.size()
    }
}

impl Batch<'_> {
    /// The leaves that differ in each directory, by its number.
    fn differing(&self, has_times: bool) -> io::Result<Vec<(DirectoryId, Leaves)>> {
        let of_each = self.listings.iter().filter_map(|(begin, now)| {
            let packed = self.packed.get(*begin..).unwrap_or_default();
            let number = now.id()?;
            Some(differing(packed, *now, has_times).map(|leaves| (number, leaves)))
        });
        of_each.collect()
    }
}

/// The leaves that differ between a listing, whose pieces `packed` begins with, and the directory `now`: those of each.
/// Where several have one name, or are not in their order, the result may have leaves that do not differ.
fn differing(mut packed: &[u8], now: Child<'_>, has_times: bool) -> io::Result<Leaves> {
    let mut is: Vec<_> = now.leaf_records().collect();
    is.sort_unstable_by_key(|(name, size, _)| (*name, *size));
    let (mut is, mut only_was, mut only_is) = (is.into_iter().peekable(), Vec::new(), Vec::new());
    loop {
        let piece = Piece::take(&mut packed)?;
        piece.each_leaf(false, |leaf| {
            while let Some((.., new)) = is.next_if(|(name, ..)| *name < leaf.name) {
                only_is.extend_from_slice(new);
            }
            let size = now.view().size(&leaf.sums.all);
            if is.next_if(|(name, is, _)| (*name, *is) == (leaf.name, size)).is_none() {
                set_times(leaf, has_times);
                record::push(&mut only_was, leaf);
            }
        })?;
        if piece.is_last {
            break;
        }
    }
    is.for_each(|(.., new)| only_is.extend_from_slice(new));
    Ok([only_was.into(), only_is.into()])
}
