//! What arrives from another machine: it is counted, and its roots get the name of the machine before their own. They
//! must be those that were asked for, each once: the program there may be broken, or lie.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexSet;

use super::connection::MOST_SHOWN;
use crate::tree::total::{AnyReplay, Shown};
use crate::tree::{Node, Tree};

/// The roots that were asked for, and whether each has arrived.
#[derive(Debug, Default)]
pub(super) struct ArrivedRoots {
    asked: HashMap<Vec<u8>, bool>,
    /// What is wrong with the first that should not have arrived.
    wrong: Option<String>,
}

impl ArrivedRoots {
    /// None of the `paths` yet.
    pub(super) fn new(paths: &IndexSet<Vec<u8>>) -> Arc<Mutex<Self>> {
        let asked = paths.iter().map(|path| (path.clone(), false)).collect();
        Arc::new(Mutex::new(Self { asked, wrong: None }))
    }

    fn arrive(&mut self, name: &[u8]) {
        let why = match self.asked.get_mut(name) {
            Some(has_arrived) if !*has_arrived => {
                *has_arrived = true;
                return;
            }
            Some(_) => "twice",
            None => "which was not asked for",
        };
        let name = String::from_utf8_lossy(&name[..name.len().min(MOST_SHOWN)]);
        self.wrong.get_or_insert_with(|| format!("it lists {name}, {why}"));
    }

    /// Fails if a root arrived that was not asked for, or one arrived twice.
    pub(super) fn ensure_asked(this: &Mutex<Self>) -> io::Result<()> {
        let wrong = this.lock().unwrap_or_else(PoisonError::into_inner).wrong.take();
        wrong.map_or(Ok(()), |wrong| Err(io::Error::other(wrong)))
    }
}

/// A replay of what arrives.
pub(super) struct Arriving {
    pub(super) replay: Box<dyn AnyReplay>,
    /// How many directories are open above roots, and how many are open now.
    pub(super) root_depth: usize,
    pub(super) open: usize,
    /// How the names of roots begin.
    pub(super) prefix: Vec<u8>,
    pub(super) roots: Arc<Mutex<ArrivedRoots>>,
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
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).arrive(node.name);
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
