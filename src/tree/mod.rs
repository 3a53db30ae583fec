//! The tree that a walk results in. Every picture and all JSON are made from it, and snapshots are compared by it. It
//! is packed, with one block for each directory: its own record and those of its leaves.
//!
//! Directories are in one list, each after everything below it, so that a subtree is a slice of the list. They refer
//! to each other by distances, so a subtree can be moved to another place, or to another tree, without change. This
//! takes 32 bytes for each directory besides its block. To drop a tree is to drop a list of blocks, however deep it
//! is.
//!
//! `record` packs what `node` has, and `child` reads it. `edit` changes a tree, and `digest` compares directories.

mod child;
pub mod digest;
mod edit;
mod node;
pub mod record;
pub mod sum;
pub mod tally;
pub mod total;
mod traversal;

use std::iter;
use std::ops::RangeInclusive;

use crate::base::measure::View;
use crate::sys::problem::{Operation, Problem};

pub use child::{Child, LeafRecord, Order};
pub use digest::UnchangedParts;
pub use node::{
    Content, Details, FEW_EXTENTS, Freeable, Inode, LEAST_ASKED, MOST_EXTENTS, Node, Sums, Totals,
};
pub use traversal::{Named, Step, Traversal};

/// A directory and what is kept of its content, or a root that is not a directory.
#[derive(Debug, Default)]
pub struct Tree {
    /// The root is the last.
    directories: Vec<PackedDirectory>,
    shape: Shape,
    view: View,
}

/// The number of a directory in its tree. Valid until something in the tree is replaced or removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId(u32);

/// Where a node is in its tree, as long as nothing in that is replaced or removed. What is below a directory comes
/// before the places of all that comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The directory that it is, or that it is a leaf in.
    directory: DirectoryId,
    /// Where in the block of that it begins: a directory's own record comes first.
    offset: u32,
}

/// There can be at most four billion directories, which would take 200 GB.
#[derive(Clone, Debug)]
struct PackedDirectory {
    /// How many directories are below it. They are right before it in the list.
    below: u32,
    /// How many places after it its parent is; 0 for the root.
    up: u32,
    /// Its record and those of its leaves.
    block: Box<[u8]>,
}

/// What the names in a [`Tree`] mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Entries of a directory.
    #[default]
    Directory,
    /// Paths below the root, in a flat list of leaves.
    List,
    /// Names of groups, whose entries are anywhere below the root.
    Groups,
}

impl DirectoryId {
    /// The number. It is less than the number of directories in the tree.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Tree {
    /// The root.
    pub fn root(&self) -> Child<'_> {
        self.directory(self.root_id())
    }

    /// The view in which its nodes are seen.
    pub fn view(&self) -> View {
        self.view
    }

    /// The same tree in another view. What it keeps stays as it is.
    #[must_use]
    pub fn in_view(self, view: View) -> Self {
        Self { view, ..self }
    }

    /// What its names mean.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The level of the roots that were given: 1 if they are below a [total](Child::is_total), else 0.
    pub fn root_depth(&self) -> usize {
        self.root().is_total().into()
    }

    /// The roots that were given, in no particular order; none of them in a list of files or groups of several roots.
    pub fn roots(&self) -> impl Iterator<Item = Child<'_>> {
        let root = self.root();
        let alone = Some(root).filter(|root| !root.is_total());
        let several = (alone.is_none() && self.shape == Shape::Directory).then(|| root.unsorted());
        alone.into_iter().chain(several.into_iter().flatten())
    }

    /// Whether the files in it have more shared extents than are remembered.
    fn has_too_many_extents(&self) -> bool {
        let frees = self.directories.last().and_then(|root| root.node().sums.frees);
        frees.is_some_and(|frees| frees.extents > MOST_EXTENTS)
    }

    /// The last part of a child's `name`: in a list, the name without the path before it.
    pub fn label<'a>(&self, name: &'a [u8]) -> &'a [u8] {
        match self.shape {
            Shape::List => name.rsplit(|byte| *byte == b'/').next().unwrap_or(name),
            Shape::Directory | Shape::Groups => name,
        }
    }

    /// The directory that has this number.
    pub fn directory(&self, directory: DirectoryId) -> Child<'_> {
        let block = self.block(directory);
        Child::new(self, block, record::figures(block), directory, false)
    }

    /// The records of a directory and of its leaves.
    pub fn block(&self, DirectoryId(id): DirectoryId) -> &[u8] {
        self.directories.get(id as usize).map_or(&[], |it| &it.block)
    }

    /// How many directories are below a directory.
    pub fn below(&self, DirectoryId(id): DirectoryId) -> u64 {
        below(&self.directories, id).into()
    }

    /// The subdirectories of a directory, in no particular order.
    pub fn subdirectories(
        &self,
        DirectoryId(id): DirectoryId,
    ) -> impl Iterator<Item = DirectoryId> {
        let first = id.saturating_sub(below(&self.directories, id));
        children(&self.directories, first, id).map(DirectoryId)
    }

    /// What is at `place`.
    pub fn at(&self, place: Place) -> Child<'_> {
        let directory = self.directory(place.directory);
        match directory.block.get(place.offset as usize..) {
            Some(block) if place.offset > 0 => {
                Child::new(self, block, record::figures(block), place.directory, true)
            }
            _ => directory,
        }
    }

    fn root_id(&self) -> DirectoryId {
        DirectoryId(self.directories.len().saturating_sub(1) as u32)
    }
}

impl Place {
    /// Bytes that stand for it.
    pub fn to_bytes(self) -> [u8; 8] {
        let Self { directory: DirectoryId(directory), offset } = self;
        ((u64::from(directory) << 32) | u64::from(offset)).to_be_bytes()
    }

    /// The place for which these bytes stand.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bits = u64::from_be_bytes(bytes.try_into().ok()?);
        Some(Self { directory: DirectoryId((bits >> 32) as u32), offset: bits as u32 })
    }

    /// All places in the directory with this number, and below it: where one of `tree` is.
    pub fn within(tree: &Tree, DirectoryId(id): DirectoryId) -> RangeInclusive<Place> {
        let first = DirectoryId(id.saturating_sub(below(&tree.directories, id)));
        let last = Place { directory: DirectoryId(id), offset: u32::MAX };
        Place { directory: first, offset: 0 }..=last
    }
}

impl From<DirectoryId> for Place {
    fn from(directory: DirectoryId) -> Self {
        Self { directory, offset: 0 }
    }
}

/// Of the directories from the one with the number `first` on, those that are in no other before `end`, which may be
/// their parent; the last first.
fn children(
    directories: &[PackedDirectory],
    first: u32,
    mut end: u32,
) -> impl Iterator<Item = u32> {
    iter::from_fn(move || {
        let child = end.checked_sub(1).filter(|child| *child >= first)?;
        end = child.saturating_sub(below(directories, child));
        Some(child)
    })
}

/// How many directories are below the one with this `number`.
fn below(directories: &[PackedDirectory], number: u32) -> u32 {
    directories.get(number as usize).map_or(0, |it| it.below)
}

/// Stores in the subdirectories of the one with this `number` how far away it is.
fn adopt(directories: &mut [PackedDirectory], number: u32) {
    let first = number.saturating_sub(below(directories, number));
    let mut end = number;
    while end > first {
        let child = end - 1;
        directories[child as usize].up = number - child;
        end = child.saturating_sub(below(directories, child));
    }
}

/// What weighing came to.
#[derive(Debug, Default)]
pub struct Report<A = Tree> {
    /// The answer: as a rule, the tree of what was kept. None if no root could be read.
    pub answer: Option<A>,
    /// What could not be read, sorted by path.
    pub problems: Vec<Problem>,
    /// Whether it was ended early, so that all totals are lower bounds.
    pub is_interrupted: bool,
    /// The paths of the directories that may lack something because it was ended early; none if nobody knows them.
    pub unfinished: Option<Vec<Vec<u8>>>,
}

impl Report {
    /// Notes which totals are as large as a number can be, and so are lower bounds: a problem for each directory with one
    /// in which no other directory has one.
    pub fn check_totals(&mut self) {
        self.problems.retain(|problem| problem.operation != Operation::Add);
        let is_at_most = |child: &Child<'_>| child.is_directory() && child.size() == u64::MAX;
        let roots = self.answer.iter().flat_map(Tree::roots);
        let mut open: Vec<_> = roots.filter(is_at_most).collect();
        let before = self.problems.len();
        while let Some(directory) = open.pop() {
            let length = open.len();
            open.extend(directory.directories().filter(is_at_most));
            if open.len() == length {
                self.problems.push(Problem::too_large(directory.path()));
            }
        }
        // Of several roots, and of groups.
        let root = self.answer.as_ref().map(Tree::root);
        if self.problems.len() == before && root.is_some_and(|root| root.size() == u64::MAX) {
            self.problems.push(Problem::too_large(b"(total)".to_vec()));
        }
        // Those of a snapshot keep their order.
        if self.problems.len() > before {
            self.problems.sort_unstable();
        }
    }
}

impl<A> Report<A> {
    /// Whether everything was read; if not, all totals are lower bounds.
    pub fn is_complete(&self) -> bool {
        !self.is_interrupted && !self.problems.iter().any(Problem::is_loss)
    }
}
