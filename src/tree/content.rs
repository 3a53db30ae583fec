//! The content of open directories, from which a tree is built.

use std::cell::Cell;
use std::mem;

use super::{Child, DirectoryId, Node, PackedDirectory, Shape, Tree, adopt, children, record};

/// What is kept of one open directory, or of a part of a large one: its leaves, packed, and its subdirectories with
/// everything below them.
#[derive(Debug, Default)]
pub struct Content {
    leaves: Vec<u8>,
    /// A tree without its root.
    below: Tree,
}

thread_local! {
    /// Memory for leaves that this thread reuses for the next directory.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// More memory than this is not kept for the next directory, in bytes.
const LARGE: usize = 64 << 10;

/// Keeps the memory of `leaves` for the next directory, if it is more than what was kept before, and not too much.
fn spare(mut leaves: Vec<u8>) {
    let before = SPARE.take();
    let capacity = leaves.capacity();
    let is_better = capacity > before.capacity() && capacity <= LARGE;
    leaves.clear();
    SPARE.set(if is_better { leaves } else { before });
}

impl Content {
    /// Adds an entry that is not a directory.
    #[inline(always)]
    pub fn push(&mut self, leaf: &Node<'_>) {
        if self.leaves.capacity() == 0 {
            self.leaves = SPARE.take();
        }
        record::push(&mut self.leaves, leaf);
    }

    /// Adds everything in `other`. If this was empty, it takes only as much memory as needed.
    pub fn append(&mut self, other: Content) {
        if !other.leaves.is_empty() {
            // A directory's own record, which it gets at the end, mostly fits too.
            self.leaves.reserve(other.leaves.len() + 64);
            self.leaves.extend_from_slice(&other.leaves);
        }
        spare(other.leaves);
        self.append_directories(other.below.directories);
    }

    /// A copy of what is directly in it so far, without what is in its subdirectories.
    pub fn copy(&self) -> Content {
        Self::copied(self.directories(), &self.leaves)
    }

    /// A copy of the directory at the path `way` in it, and of what is directly in that. Only the directories on the
    /// way are around it. None if there is no such directory.
    pub fn copy_at(&self, way: &[Vec<u8>]) -> Option<Content> {
        let (first, rest) = way.split_first()?;
        let mut here = self.directories().find(|child| child.name() == first)?;
        let mut around = vec![here];
        for name in rest {
            here = here.directories().find(|child| child.name() == name)?;
            around.push(here);
        }
        let mut copy = Self::copied(here.directories(), here.packed_leaves());
        for directory in around.into_iter().rev() {
            let mut above = Content::default();
            above.close(&directory.node(), copy);
            copy = above;
        }
        Some(copy)
    }

    /// `directories` without what is in them, and packed `leaves`.
    fn copied<'a>(directories: impl Iterator<Item = Child<'a>>, leaves: &[u8]) -> Content {
        let mut copy = Content { leaves: leaves.to_vec(), ..Content::default() };
        for directory in directories {
            copy.close(&directory.node(), Content::default());
        }
        copy
    }

    /// The subdirectories, in no particular order.
    fn directories(&self) -> impl Iterator<Item = Child<'_>> {
        // The root would come next.
        let root = self.below.directories.len() as u32;
        let ids = children(&self.below.directories, 0, root);
        ids.map(|id| self.below.directory(DirectoryId(id)))
    }

    /// Adds a directory with its content.
    pub fn close(&mut self, directory: &Node<'_>, content: Content) {
        self.append_directories(content.closed(directory));
    }

    /// Adds the root of a tree, if it is a directory, with everything below it.
    pub fn adopt(&mut self, tree: Tree) {
        self.append_directories(tree.directories);
    }

    /// The tree whose root has this content.
    pub fn finish(self, root: &Node<'_>, shape: Shape) -> Tree {
        Tree { directories: self.closed(root), shape, ..Tree::default() }
    }

    /// Moves the smaller list, because the order does not matter.
    fn append_directories(&mut self, mut others: Vec<PackedDirectory>) {
        let directories = &mut self.below.directories;
        if directories.len() < others.len() {
            mem::swap(directories, &mut others);
        }
        directories.append(&mut others);
    }

    fn closed(self, node: &Node<'_>) -> Vec<PackedDirectory> {
        let Self { mut leaves, below: Tree { mut directories, .. } } = self;
        if leaves.capacity() == 0 {
            leaves = SPARE.take();
        }
        if leaves.len() > LARGE {
            // Exactly, because a block may be most of the memory in use. Apart from the name, records are short.
            leaves.reserve_exact(node.name.len() + 256);
        }
        // Its own record comes first.
        let end = leaves.len();
        record::push_directory(&mut leaves, node);
        let block = if leaves.capacity() <= LARGE {
            // The memory in which leaves were collected is for the next directory.
            let (leaves_alone, own) = leaves.split_at(end);
            let block = [own, leaves_alone].concat().into_boxed_slice();
            spare(leaves);
            block
        } else {
            // In place, for the same reason.
            leaves.rotate_left(end);
            leaves.into_boxed_slice()
        };
        let below = directories.len() as u32;
        directories.push(PackedDirectory { below, up: 0, block });
        adopt(&mut directories, below);
        directories
    }
}
