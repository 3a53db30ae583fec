//! What arrives from another machine: it is counted, and its roots get the name of the machine before their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::total::{AnyReplay, Shown};
use crate::tree::{Node, Tree};

/// A replay of what arrives.
pub(super) struct Arriving {
    pub(super) replay: Box<dyn AnyReplay>,
    /// How many directories are open above roots, and how many are open now.
    pub(super) root_depth: usize,
    pub(super) open: usize,
    /// How the names of roots begin.
    pub(super) prefix: Vec<u8>,
    /// How many entries have arrived. The number is only shown.
    pub(super) count: Arc<AtomicU64>,
}

impl Arriving {
    /// Counts `node`, and passes it on to `take`; a root, which is not the node above several, under its name here.
    fn pass<R>(
        &mut self,
        node: &Node<'_>,
        take: impl FnOnce(&mut dyn AnyReplay, &Node<'_>) -> R,
    ) -> R {
        self.count.fetch_add(1, Ordering::Relaxed);
        if self.open > self.root_depth || node.name.is_empty() {
            return take(&mut *self.replay, node);
        }
        let name = [&self.prefix, node.name].concat();
        take(&mut *self.replay, &Node { name: &name, ..*node })
    }
}

impl AnyReplay for Arriving {
    fn open(&mut self) {
        self.open += 1;
        self.replay.open();
    }

    fn leaf(&mut self, node: &Node<'_>, is_shown: bool) {
        self.pass(node, |replay, node| replay.leaf(node, is_shown));
    }

    fn close(&mut self, node: &Node<'_>, shown: Shown) {
        self.open = self.open.saturating_sub(1);
        self.pass(node, |replay, node| replay.close(node, shown));
    }

    fn finish(&mut self, node: &Node<'_>) -> Tree {
        self.open = 0;
        self.pass(node, |replay, node| replay.finish(node))
    }
}
