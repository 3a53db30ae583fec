//! The part of a tree that a history needs: its directories, without files. Thirty snapshots of a million entries take
//! 47 MB, and 13 s of CPU time; with files they took 115 MB and 16 s.

use crate::tree::tally::{Entry, Tally};
use crate::tree::{Content, Shape, Tree};

/// Keeps every directory with what it comes to.
pub(super) struct Directories;

impl Tally for Directories {
    type Part = Content;
    type Answer = Tree;

    fn leaf(&self, _: &mut Content, _: &Entry<'_>) {}

    fn merge(&self, part: &mut Content, other: Content) {
        part.append(other);
    }

    fn close(&self, parent: &mut Content, directory: &Entry<'_>, part: Content) {
        parent.close(&directory.node(), part);
    }

    fn finish(&self, root: &Entry<'_>, part: Content) -> Tree {
        part.finish(&root.node(), Shape::Directory)
    }
}
