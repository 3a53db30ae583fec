//! Keeps a digest of each directory: enough to tell which of them are the same as in a tree in memory.

use std::sync::{Arc, Mutex, PoisonError};

use crate::measure::View;
use crate::tally::{Entry, Tally};
use crate::tree::digest::{of_directory, of_entry};
use crate::tree::{Content, Shape, Tree};

/// Keeps the digests of a snapshot's directories, as [`Tree::digests`] makes them of its tree.
#[derive(Debug)]
pub struct Digests {
    /// By what sizes are compared.
    pub view: View,
    /// Where its maker finds them, each after those of the directories below.
    pub found: Arc<Mutex<Vec<u64>>>,
}

impl Digests {
    fn digest(&self, directory: &Entry<'_>, content: u64) -> u64 {
        let own = directory.own.map(|own| self.view.size(&own));
        let digest = of_directory(own, self.view.size(&directory.sums.all), content);
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(digest);
        digest
    }
}

impl Tally for Digests {
    /// The sum of the digests of what is in a directory.
    type Part = u64;

    fn leaf(&self, part: &mut u64, entry: &Entry<'_>) {
        self.merge(part, of_entry(entry.name, self.view.size(&entry.sums.all)));
    }

    fn merge(&self, part: &mut u64, other: u64) {
        *part = part.wrapping_add(other);
    }

    fn close(&self, parent: &mut u64, directory: &Entry<'_>, part: u64) {
        self.merge(parent, of_entry(directory.name, self.digest(directory, part)));
    }

    fn finish(&self, root: &Entry<'_>, part: u64) -> Tree {
        self.digest(root, part);
        Content::default().finish(&root.node(), Shape::Directory)
    }
}
