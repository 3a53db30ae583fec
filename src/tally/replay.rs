//! A tree that is known already, fed to a tally as a walk would: so that what is kept of it is
//! chosen in one place, whether it comes from the file system, from a file or from memory.

use crate::measure::Kind;
use crate::sys::Stat;
use crate::tally::{Closed, Entry, Tally};
use crate::tree::{Inode, Node, Step, Totals, Traversal, Tree};

/// Feeds a tally from one thread, node by node, each directory opened before and closed after what
/// is in it. Memory grows with depth alone.
#[derive(Debug)]
pub struct Replay<T: Tally> {
    tally: T,
    open: Vec<T::Part>,
    is_above_roots: bool,
}

impl<T: Tally> Replay<T> {
    /// Nothing so far. The first node may stand above several roots.
    pub fn new(tally: T, is_above_roots: bool) -> Self {
        Self { tally, open: Vec::new(), is_above_roots }
    }

    /// A directory begins, in the one that has begun last.
    pub fn open(&mut self) {
        self.open.push(T::Part::default());
    }

    /// An entry that is not a directory, in the directory that has begun last.
    pub fn leaf(&mut self, node: &Node<'_>) {
        let depth = self.depth();
        let Some(part) = self.open.last_mut() else { return };
        let Node { name, totals: Totals { size, .. }, .. } = *node;
        let stat = stat(node);
        let identity = node.inode.and_then(|inode| inode.linked());
        let (links, mount) = (stat.links, mount(node));
        self.tally.leaf(part, &Entry { name, depth, stat: &stat, size, identity, links, mount });
    }

    /// The directory that has begun last ends.
    pub fn close(&mut self, node: &Node<'_>) {
        let Some(part) = self.open.pop() else { return };
        let depth = self.depth();
        if let Some(parent) = self.open.last_mut() {
            self.tally.close(parent, &closed(node, &stat(node), depth), part);
        }
    }

    /// The directory that has begun last ends, and is as if it had never been.
    pub fn forget(&mut self) {
        self.open.pop();
    }

    /// The root ends, be it a directory or not.
    pub fn finish(mut self, node: &Node<'_>) -> T::Report {
        let part = self.open.pop().unwrap_or_default();
        self.tally.finish(&closed(node, &stat(node), 0), part)
    }

    /// Levels below the root that it lies in; the node above several roots is none.
    fn depth(&self) -> u32 {
        let levels = self.open.len().saturating_sub(usize::from(self.is_above_roots));
        u32::try_from(levels).unwrap_or(u32::MAX)
    }
}

fn mount(node: &Node<'_>) -> u64 {
    node.inode.map_or(0, |inode| inode.identity.0)
}

fn stat(node: &Node<'_>) -> Stat {
    let mut stat = Stat { mode: node.mode, ..Stat::default() };
    if let Some(Inode { identity: (_, (device, inode)), links, details }) = node.inode {
        (stat.device, stat.inode) = (device, inode);
        stat.links = links.unwrap_or(1);
        if let Some(details) = details {
            (stat.modified, stat.owner) = (details.modified, details.owner);
        }
    }
    stat
}

fn closed<'a>(node: &Node<'a>, stat: &'a Stat, depth: u32) -> Closed<'a> {
    let Node { name, totals, .. } = *node;
    let is_directory = node.mode.kind() == Kind::Directory;
    let own = if is_directory { node.own } else { Some(totals.size) };
    Closed { name, depth, stat, mount: mount(node), own, totals }
}

/// Feeds `tally` with `tree`.
pub fn replay<T: Tally>(tree: &Tree, tally: T) -> T::Report {
    let mut replay = Replay::new(tally, tree.is_above_roots());
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        match step {
            Step::Node(node) if node.is_directory() => {
                replay.open();
                node.leaves().for_each(|leaf| replay.leaf(&leaf.node()));
                traversal.enter(node, node.directories().collect());
            }
            Step::End(node) if traversal.depth() > 0 => replay.close(&node.node()),
            // A root; or a heading, which is fed to nobody.
            Step::Node(_) | Step::End(_) => {}
        }
    }
    replay.finish(&tree.root().node())
}
