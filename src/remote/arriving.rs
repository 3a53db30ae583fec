//! What arrives from another machine: it is counted, and its roots get the name of the machine before their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::tally::{Entry, Tally};
use crate::tree::{Sums, Tree};

/// A tally that gets what arrives.
#[derive(Debug)]
pub(super) struct Arriving<T> {
    pub(super) tally: T,
    /// How the names of roots begin.
    pub(super) prefix: Vec<u8>,
    /// How many entries have arrived. The number is only shown.
    pub(super) count: Arc<AtomicU64>,
}

impl<T> Arriving<T> {
    /// Counts `entry`, and passes it on to `take`; a root, which is not the node above several, under its name here.
    fn pass<R>(&self, entry: &Entry<'_>, take: impl FnOnce(&T, &Entry<'_>) -> R) -> R {
        self.count.fetch_add(1, Ordering::Relaxed);
        if entry.depth > 0 || entry.name.is_empty() {
            return take(&self.tally, entry);
        }
        let name = [&self.prefix, entry.name].concat();
        take(&self.tally, &Entry { name: &name, ..*entry })
    }
}

impl<T: Tally> Tally for Arriving<T> {
    type Part = T::Part;

    fn adds_up(&self) -> bool {
        self.tally.adds_up()
    }

    fn leaf(&self, part: &mut Self::Part, entry: &Entry<'_>) {
        self.pass(entry, |tally, entry| tally.leaf(part, entry));
    }

    fn merge(&self, part: &mut Self::Part, other: Self::Part) {
        self.tally.merge(part, other);
    }

    fn close(&self, parent: &mut Self::Part, directory: &Entry<'_>, part: Self::Part) {
        self.pass(directory, |tally, directory| tally.close(parent, directory, part));
    }

    fn sums(&self, root: &Entry<'_>, part: &Self::Part) -> Sums {
        self.tally.sums(root, part)
    }

    fn finish(&self, root: &Entry<'_>, part: Self::Part) -> Tree {
        self.pass(root, |tally, root| tally.finish(root, part))
    }
}
