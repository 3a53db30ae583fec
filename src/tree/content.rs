//! What a tree grows from: the content of directories that are still open.

use std::cell::Cell;
use std::mem;

use super::{Node, PackedDirectory, Shape, Tree, adopt, record};

/// What is kept of one directory, or of a part of a large one, while it is open: its leaves, packed, and the
/// directories in it with all that is below them.
#[derive(Debug, Default)]
pub struct Content {
    leaves: Vec<u8>,
    directories: Vec<PackedDirectory>,
}

thread_local! {
    /// The room in which this thread has gathered leaves, for those of the next directory.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    /// The room in which it has packed the record of a directory, for that of the next.
    static HEAD: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Room that grew beyond this is not kept for the next directory, in bytes.
const LARGE: usize = 64 << 10;

/// Keeps the room of what is not needed any more, if it is not much, and more than there is to spare.
fn spare(mut leaves: Vec<u8>) {
    let before = SPARE.take();
    let room = leaves.capacity();
    let is_better = room > before.capacity() && room <= LARGE;
    leaves.clear();
    SPARE.set(if is_better { leaves } else { before });
}

impl Content {
    /// Adds an entry that is no directory.
    #[inline]
    pub fn push(&mut self, leaf: &Node<'_>) {
        if self.leaves.capacity() == 0 {
            self.leaves = SPARE.take();
        }
        record::push(&mut self.leaves, leaf);
    }

    /// Adds what is in `other`; where nothing was, in as little room as it takes.
    pub fn append(&mut self, other: Content) {
        self.leaves.extend_from_slice(&other.leaves);
        spare(other.leaves);
        self.append_directories(other.directories);
    }

    /// Adds a directory with its content.
    pub fn close(&mut self, directory: &Node<'_>, content: Content) {
        self.append_directories(content.closed(directory));
    }

    /// The tree of which this is the root's content.
    pub fn finish(self, root: &Node<'_>, shape: Shape) -> Tree {
        Tree { directories: self.closed(root), shape }
    }

    /// The smaller ones move: nobody asks for the order.
    fn append_directories(&mut self, mut others: Vec<PackedDirectory>) {
        if self.directories.len() < others.len() {
            mem::swap(&mut self.directories, &mut others);
        }
        self.directories.append(&mut others);
    }

    fn closed(self, node: &Node<'_>) -> Vec<PackedDirectory> {
        let Self { leaves: mut block, mut directories } = self;
        let mut head = HEAD.take();
        record::push_directory(&mut head, node);
        if block.capacity() <= LARGE {
            // The room in which leaves were gathered one by one is for the next directory.
            let whole = [&*head, &*block].concat();
            spare(mem::replace(&mut block, whole));
        } else {
            // In place: a block may be most of the memory that is taken.
            block.reserve_exact(head.len());
            block.splice(0..0, head.iter().copied());
        }
        head.clear();
        HEAD.set(head);
        let (below, block) = (directories.len() as u32, block.into_boxed_slice());
        directories.push(PackedDirectory { below, up: 0, block });
        adopt(&mut directories, below);
        directories
    }
}
