//! The tree that a walk comes to: what every picture and every JSON is drawn from.
//!
//! A directory's leaves are packed into one block (length of name, name, type and permissions,
//! size: lengths and sizes as LEB128), so that keeping everything costs little more than the names.
//! Nothing here recurses: a tree may be deeper than any stack.

use std::cmp::Ordering;
use std::mem;

use crate::measure::Mode;
use crate::tally::Totals;

/// A directory with what is kept of its content, or a root that is no directory.
#[derive(Debug, Default)]
pub struct Tree {
    /// Its name, as bytes; a root's path as given; empty for the node above several roots.
    pub name: Box<[u8]>,
    /// File type and permissions.
    pub mode: Mode,
    /// What it comes to, whatever is kept of it here.
    pub totals: Totals,
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

/// An entry below a [`Tree`] that is not a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// Its name, as bytes; in a flat list, its path below the root.
    pub name: &'a [u8],
    /// File type and permissions.
    pub mode: Mode,
    /// Its weight, in the measure's unit.
    pub size: u64,
}

/// What lies directly below a [`Tree`].
#[derive(Clone, Copy, Debug)]
pub enum Child<'a> {
    /// A directory.
    Branch(&'a Tree),
    /// Anything else.
    Leaf(Leaf<'a>),
}

/// A directory's leaves, packed.
#[derive(Debug, Default)]
pub(super) struct Leaves(Vec<u8>);

impl Tree {
    pub(super) fn new(
        name: &[u8],
        mode: Mode,
        totals: Totals,
        leaves: Leaves,
        branches: Vec<Tree>,
    ) -> Self {
        let leaves = leaves.0.into_boxed_slice();
        Self { name: name.into(), mode, totals, shape: Shape::Directory, leaves, branches }
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
    fn leaves(&self) -> impl Iterator<Item = Leaf<'_>> {
        let mut rest: &[u8] = &self.leaves;
        std::iter::from_fn(move || take_leaf(&mut rest))
    }

    /// Everything directly below, largest first, then by name as bytes.
    pub fn children(&self) -> Vec<Child<'_>> {
        let branches = self.branches.iter().map(Child::Branch);
        let mut children: Vec<_> = branches.chain(self.leaves().map(Child::Leaf)).collect();
        children.sort_unstable_by(Child::compare);
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

    fn compare(&self, other: &Self) -> Ordering {
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

impl Leaves {
    pub(super) fn push(&mut self, name: &[u8], mode: Mode, size: u64) {
        push_number(&mut self.0, name.len() as u64);
        self.0.extend_from_slice(name);
        self.0.extend_from_slice(&mode.0.to_le_bytes());
        push_number(&mut self.0, size);
    }

    pub(super) fn append(&mut self, mut other: Leaves) {
        if self.0.is_empty() {
            self.0 = other.0;
        } else {
            self.0.append(&mut other.0);
        }
    }
}

fn push_number(block: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        block.push(number as u8 | 0x80);
        number >>= 7;
    }
    block.push(number as u8);
}

fn take_number(block: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = block.split_first()?;
        *block = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take_leaf<'a>(block: &mut &'a [u8]) -> Option<Leaf<'a>> {
    let length = usize::try_from(take_number(block)?).ok()?;
    let (name, rest) = block.split_at_checked(length)?;
    let (mode, rest) = rest.split_first_chunk()?;
    *block = rest;
    Some(Leaf { name, mode: Mode(u16::from_le_bytes(*mode)), size: take_number(block)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_come_back_as_they_went_in() {
        let long = vec![b'x'; 255];
        let kept = [
            (b"a".as_slice(), 0, 0),
            (b"", 0o100_644, 127),
            (b"\xff\n", 0o120_777, 128),
            (&long, u16::MAX, u64::MAX),
        ];
        let mut leaves = Leaves::default();
        for (name, mode, size) in kept {
            leaves.push(name, Mode(mode), size);
        }
        let tree = Tree::new(b"t", Mode::DIRECTORY, Totals::default(), leaves, Vec::new());
        let back: Vec<_> = tree.leaves().map(|leaf| (leaf.name, leaf.mode.0, leaf.size)).collect();
        assert_eq!(back, kept);
    }

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
