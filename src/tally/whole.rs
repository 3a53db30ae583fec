//! Everything: for JSON without limits, and whatever wants to browse later.

use crate::tally::tree::{Leaves, Tree};
use crate::tally::{Closed, Entry, Tally};

/// Keeps every entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole;

/// What is kept of one directory.
#[derive(Debug, Default)]
pub struct Part {
    leaves: Leaves,
    branches: Vec<Tree>,
}

impl Tally for Whole {
    type Part = Part;
    type Report = Tree;

    fn leaf(&self, part: &mut Part, entry: &Entry<'_>) {
        part.leaves.push(entry.name, entry.stat.mode, entry.size);
    }

    fn merge(&self, part: &mut Part, mut other: Part) {
        part.leaves.append(other.leaves);
        part.branches.append(&mut other.branches);
    }

    fn close(&self, parent: &mut Part, directory: &Closed<'_>, part: Part) {
        parent.branches.push(self.finish(directory, part));
    }

    fn finish(&self, root: &Closed<'_>, mut part: Part) -> Tree {
        part.branches.shrink_to_fit();
        Tree::new(root.name, root.stat.mode, root.totals, part.leaves, part.branches)
    }
}
