//! The content of open directories, from which a tree is built.

use std::cell::Cell;
use std::mem;

use super::{Child, DirectoryId, Node, PackedDirectory, Shape, Tree, adopt, children, record};
use crate::measure::View;

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
    #[inline]
    pub fn push(&mut self, leaf: &Node<'_>) {
        if self.leaves.capacity() == 0 {
            self.leaves = SPARE.take();
        }
        record::push(&mut self.leaves, leaf);
    }

    /// Adds everything in `other`. If this was empty, it takes only as much memory as needed.
    pub fn append(&mut self, other: Content) {
        self.leaves.extend_from_slice(&other.leaves);
        spare(other.leaves);
        self.append_directories(other.below.directories);
    }

    /// What is directly in it so far, in no particular order, in a `view`.
    pub fn children(&self, view: View) -> impl Iterator<Item = Child<'_>> {
        let tree = &self.below;
        // The root would come next.
        let root = DirectoryId(tree.directories.len() as u32);
        let directories = children(&tree.directories, 0, root.0);
        let directories = directories.map(move |id| tree.directory_in(view, DirectoryId(id)));
        directories.chain(tree.leaves_in(view, &self.leaves, root))
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
        // Its own record comes first.
        let end = leaves.len();
        record::push_directory(&mut leaves, node);
        leaves.rotate_left(end);
        let block = if leaves.capacity() <= LARGE {
            // The memory in which leaves were collected is for the next directory.
            let block = leaves.as_slice().into();
            spare(leaves);
            block
        } else {
            // In place, because a block may be most of the memory in use.
            leaves.into_boxed_slice()
        };
        let below = directories.len() as u32;
        directories.push(PackedDirectory { below, up: 0, block });
        adopt(&mut directories, below);
        directories
    }
}
