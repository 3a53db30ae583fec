//! A tree that is known already, fed to a tally as a walk would: so that what is kept of it is
//! chosen in one place, whether it comes from the file system, from a file or from memory.

use crate::measure::{Kind, Mode};
use crate::sys::Stat;
use crate::tally::leaves::Inode;
use crate::tally::tree::{Child, Tree};
use crate::tally::{Closed, Entry, Tally, Totals};

/// Feeds a tally from one thread, node by node, each directory opened before and closed after what
/// is in it. Memory grows with depth alone.
#[derive(Debug)]
pub struct Replay<T: Tally> {
    tally: T,
    open: Vec<T::Part>,
    is_above_roots: bool,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// Its name, as bytes; empty for the node above several roots.
    pub name: &'a [u8],
    /// File type and permissions.
    pub mode: Mode,
    /// A directory's own weight, without what is in it.
    pub own: Option<u64>,
    /// What it comes to.
    pub totals: Totals,
    /// Which inode it is, if that is known.
    pub inode: Option<Inode>,
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
        let stat = node.stat();
        let identity = node.inode.and_then(|inode| inode.linked());
        let (links, mount) = (stat.links, node.mount());
        self.tally.leaf(part, &Entry { name, depth, stat: &stat, size, identity, links, mount });
    }

    /// The directory that has begun last ends.
    pub fn close(&mut self, node: &Node<'_>) {
        let Some(part) = self.open.pop() else { return };
        let depth = self.depth();
        if let Some(parent) = self.open.last_mut() {
            self.tally.close(parent, &node.closed(&node.stat(), depth), part);
        }
    }

    /// The directory that has begun last ends, and is as if it had never been.
    pub fn forget(&mut self) {
        self.open.pop();
    }

    /// The root ends, be it a directory or not.
    pub fn finish(mut self, node: &Node<'_>) -> T::Report {
        let part = self.open.pop().unwrap_or_default();
        self.tally.finish(&node.closed(&node.stat(), 0), part)
    }

    /// Levels below the root that it lies in; the node above several roots is none.
    fn depth(&self) -> u32 {
        let levels = self.open.len().saturating_sub(usize::from(self.is_above_roots));
        u32::try_from(levels).unwrap_or(u32::MAX)
    }
}

impl Node<'_> {
    fn mount(&self) -> u64 {
        self.inode.map_or(0, |inode| inode.identity.0)
    }

    fn stat(&self) -> Stat {
        let mut stat = Stat { mode: self.mode, ..Stat::default() };
        if let Some(Inode { identity: (_, (device, inode)), links, details }) = self.inode {
            (stat.device, stat.inode) = (device, inode);
            stat.links = links.unwrap_or(1);
            if let Some(details) = details {
                (stat.modified, stat.owner) = (details.modified, details.owner);
            }
        }
        stat
    }

    fn closed<'a>(&'a self, stat: &'a Stat, depth: u32) -> Closed<'a> {
        let Node { name, totals, .. } = *self;
        let is_directory = self.mode.kind() == Kind::Directory;
        let own = if is_directory { self.own } else { Some(totals.size) };
        Closed { name, depth, stat, mount: self.mount(), own, totals }
    }
}

/// Feeds `tally` with `tree`.
pub fn replay<T: Tally>(tree: &Tree, tally: T) -> T::Report {
    let mut replay = Replay::new(tally, tree.is_above_roots());
    let mut open = Vec::new();
    let mut begun = Some(tree);
    loop {
        if let Some(tree) = begun.take()
            && tree.mode.kind() == Kind::Directory
        {
            replay.open();
            for leaf in tree.leaves() {
                replay.leaf(&Child::Leaf(leaf).node());
            }
            open.push((tree, tree.branches().iter()));
        }
        let Some((_, branches)) = open.last_mut() else { break };
        begun = branches.next();
        if begun.is_none()
            && let Some((ended, _)) = open.pop()
            && !open.is_empty()
        {
            replay.close(&Child::Branch(ended).node());
        }
    }
    replay.finish(&Child::Branch(tree).node())
}

impl<'a> Child<'a> {
    /// All that is known of it.
    pub fn node(&self) -> Node<'a> {
        let (name, mode) = (self.name(), self.mode());
        match self {
            Child::Branch(tree) => Node {
                name,
                mode,
                own: tree.own,
                totals: tree.totals,
                inode: tree.inode.as_deref().copied(),
            },
            Child::Leaf(leaf) => Node {
                name,
                mode,
                own: None,
                totals: Totals { size: leaf.size, entries: 1, shared: 0 },
                inode: leaf.inode,
            },
        }
    }
}
