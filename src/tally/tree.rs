//! The tree that a walk comes to: what every picture and every JSON is drawn from. Nothing here
//! recurses: a tree may be deeper than any stack.

use std::cmp::Ordering;
use std::mem;

use crate::measure::Mode;
use crate::tally::Totals;
use crate::tally::leaves::{self, Inode, Leaf, Leaves};

/// A directory with what is kept of its content, or a root that is no directory.
#[derive(Debug, Default)]
pub struct Tree {
    /// Its name, as bytes; a root's path as given; empty for the node above several roots.
    pub name: Box<[u8]>,
    /// File type and permissions.
    pub mode: Mode,
    /// What it comes to, whatever is kept of it here.
    pub totals: Totals,
    /// Its own weight, without what is in it, if that is kept.
    pub own: Option<u64>,
    /// Which inode it is, if that is kept. In a box: most directories are without.
    pub inode: Option<Box<Inode>>,
    /// What its names mean.
    pub shape: Shape,
    leaves: Box<[u8]>,
    branches: Vec<Tree>,
}

/// What the names in a [`Tree`] mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// They lie in one another.
    #[default]
    Directory,
    /// A flat list: its leaves' names are paths below it.
    List,
    /// A heading under which things are counted that lie anywhere below.
    Group,
}

/// What lies directly below a [`Tree`].
#[derive(Clone, Copy, Debug)]
pub enum Child<'a> {
    /// A directory.
    Branch(&'a Tree),
    /// Anything else.
    Leaf(Leaf<'a>),
}

/// In which order siblings come. What is equal comes in the order of size, then of name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The largest first.
    #[default]
    Size,
    /// By name, as bytes.
    Name,
    /// The one with the most inodes first.
    Count,
}

impl Tree {
    pub(super) fn new(
        name: &[u8],
        mode: Mode,
        totals: Totals,
        leaves: Leaves,
        branches: Vec<Tree>,
    ) -> Self {
        let (name, leaves, shape) = (name.into(), leaves.into_block(), Shape::Directory);
        Self { name, mode, totals, own: None, inode: None, shape, leaves, branches }
    }

    /// Whether this is the node above several roots.
    pub fn is_above_roots(&self) -> bool {
        self.name.is_empty()
    }

    /// What a child called `name` is called where its place is clear.
    pub fn label<'a>(&self, name: &'a [u8]) -> &'a [u8] {
        let slash = || name.iter().rposition(|byte| *byte == b'/');
        match (self.shape == Shape::List).then(slash).flatten() {
            Some(slash) => &name[slash + 1..],
            None => name,
        }
    }

    /// The leaves, in no particular order.
    pub(super) fn leaves(&self) -> impl Iterator<Item = Leaf<'_>> {
        leaves::iter(&self.leaves)
    }

    /// The directories directly below, in no particular order.
    pub(super) fn branches(&self) -> &[Tree] {
        &self.branches
    }

    /// Everything directly below, in no particular order.
    pub fn unsorted(&self) -> impl Iterator<Item = Child<'_>> {
        self.branches.iter().map(Child::Branch).chain(self.leaves().map(Child::Leaf))
    }

    /// Everything directly below, largest first, then by name as bytes.
    pub fn children(&self) -> Vec<Child<'_>> {
        self.children_in(Order::Size)
    }

    /// Everything directly below.
    pub fn children_in(&self, order: Order) -> Vec<Child<'_>> {
        let mut children: Vec<_> = self.unsorted().collect();
        children.sort_unstable_by(|one, other| match order {
            Order::Size => one.compare(other),
            Order::Name => one.name().cmp(other.name()),
            Order::Count => other.entries().cmp(&one.entries()).then_with(|| one.compare(other)),
        });
        children
    }
}

impl<'a> Child<'a> {
    /// Its name, as bytes.
    pub fn name(&self) -> &'a [u8] {
        match self {
            Child::Branch(tree) => &tree.name,
            Child::Leaf(leaf) => leaf.name,
        }
    }

    /// Its weight, in the measure's unit.
    pub fn size(&self) -> u64 {
        match self {
            Child::Branch(tree) => tree.totals.size,
            Child::Leaf(leaf) => leaf.size,
        }
    }

    /// File type and permissions.
    pub fn mode(&self) -> Mode {
        match self {
            Child::Branch(tree) => tree.mode,
            Child::Leaf(leaf) => leaf.mode,
        }
    }

    /// How many inodes it comes to.
    pub fn entries(&self) -> u64 {
        match self {
            Child::Branch(tree) => tree.totals.entries,
            Child::Leaf(_) => 1,
        }
    }

    /// The larger comes first, then the name that does.
    pub fn compare(&self, other: &Self) -> Ordering {
        other.size().cmp(&self.size()).then_with(|| self.name().cmp(other.name()))
    }
}

/// Takes the tree apart in a loop: the nested drops of a deep tree would overflow the stack.
impl Drop for Tree {
    fn drop(&mut self) {
        let mut doomed = mem::take(&mut self.branches);
        while let Some(mut tree) = doomed.pop() {
            doomed.append(&mut tree.branches);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_tree_drops_without_recursion() {
        let mut tree = Tree::default();
        for _ in 0..200_000 {
            let below = vec![mem::take(&mut tree)];
            tree = Tree::new(b"d", Mode::DIRECTORY, Totals::default(), Leaves::default(), below);
        }
        drop(tree);
    }
}
