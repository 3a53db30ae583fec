//! Feeds a tally with known nodes as a walk would. So the tally alone decides what is kept, whether nodes come from
//! the file system, from a file or from memory.

use super::{Directory, Rules, Subtotal, Sum, close, finish};
use crate::measure::Kind;
use crate::sys::Stat;
use crate::tally::{Entry, Tally, Whole};
use crate::tree::{Child, Details, DirectoryId, Inode, Node, Step, Totals, Traversal, Tree};

/// Feeds a tally from one thread, node by node. A directory is opened before its content and closed after it. Memory
/// grows only with depth.
#[derive(Debug)]
pub struct Replay<T: Tally> {
    tally: T,
    /// How to compute the totals of directories, if the nodes do not have them.
    rules: Option<Rules>,
    open: Vec<Subtotal<T::Part>>,
    is_above_roots: bool,
}

impl<T: Tally> Replay<T> {
    /// Begins. The first node may be above several roots. Directories have the totals of their nodes.
    pub fn new(tally: T, is_above_roots: bool) -> Self {
        Self { tally, rules: None, open: Vec::new(), is_above_roots }
    }

    /// The same, but adds up the totals of directories by these `rules`.
    pub fn adding_up(tally: T, is_above_roots: bool, rules: Rules) -> Self {
        Self { rules: Some(rules), ..Self::new(tally, is_above_roots) }
    }

    /// Opens a directory inside the innermost open one.
    pub fn open(&mut self) {
        self.open.push(Subtotal::default());
    }

    /// Adds an entry that is not a directory to the innermost open one. If it is not `is_shown`, it only counts.
    pub fn leaf(&mut self, node: &Node<'_>, is_shown: bool) {
        let depth = self.depth();
        let Some(subtotal) = self.open.last_mut() else { return };
        let Node { name, totals: Totals { size, beside, frees, .. }, .. } = *node;
        let stat = stat(node);
        let identity = node.inode.and_then(|inode| inode.linked());
        let (links, mount) = (stat.links, mount(node));
        let stat = &stat;
        let entry = Entry { name, depth, stat, size, beside, identity, links, mount, frees };
        match &self.rules {
            Some(rules) => subtotal.add(rules, &self.tally, entry, is_shown),
            None => self.tally.leaf(&mut subtotal.part, &entry),
        }
    }

    /// Closes the innermost open directory. It `is_shown` in its parent, unless it is no root and nothing is in it.
    pub fn close(&mut self, node: &Node<'_>, is_root: bool, is_shown: bool) {
        let Some(subtotal) = self.open.pop() else { return };
        let (depth, stat) = (self.depth(), stat(node));
        let directory = Directory { is_root, is_shown, ..self.directory(node, &stat, depth) };
        let rules = self.rules.unwrap_or_default();
        if let Some(above) = self.open.last_mut() {
            close(&rules, &self.tally, &directory, subtotal, || above);
        }
    }

    /// Closes the root, which may also be a file.
    pub fn finish(mut self, node: &Node<'_>) -> T::Report {
        let subtotal = self.open.pop().unwrap_or_default();
        let stat = stat(node);
        let directory = self.directory(node, &stat, 0);
        let rules = self.rules.unwrap_or_default();
        finish(&rules, &self.tally, &directory, subtotal)
    }

    fn directory<'a>(&self, node: &Node<'a>, stat: &'a Stat, depth: u32) -> Directory<'a> {
        let Node { name, totals, .. } = *node;
        let is_directory = node.mode.kind() == Kind::Directory;
        let own = if is_directory { node.own } else { Some(totals.size) };
        let is_known = self.rules.is_none() || !is_directory;
        let known = is_known.then_some(totals);
        Directory {
            name,
            depth,
            stat,
            mount: mount(node),
            own,
            beside: totals.beside,
            known,
            is_root: true,
            is_shown: true,
        }
    }

    /// The depth below the root; the node above several roots does not count.
    fn depth(&self) -> u32 {
        let levels = self.open.len().saturating_sub(usize::from(self.is_above_roots));
        u32::try_from(levels).unwrap_or(u32::MAX)
    }
}

impl Replay<Whole> {
    /// Adds a directory of another tree, under `name`, to the one that has begun last: with all that is below it,
    /// as it is, for that comes to what it did. Only what is above it is added up. Nothing is left of it in `tree`.
    pub fn graft(&mut self, tree: &mut Tree, directory: DirectoryId, name: &[u8]) {
        let Some(Subtotal { sum, part, .. }) = self.open.last_mut() else { return };
        sum.add_below(tree.directory(directory));
        part.adopt(tree.detach(directory, name));
    }
}

impl Sum {
    /// Adds a directory of a tree with all below it. Its totals do not say enough: they are saturated, and tell
    /// nothing of links.
    fn add_below(&mut self, directory: Child<'_>) {
        for directory in directory.all_directories() {
            if let Some(own) = directory.node().own {
                self.add(own, own);
            }
            for Node { inode, totals: Totals { size, .. }, .. } in directory.leaf_nodes() {
                match inode.and_then(|inode| Some((inode.linked()?, inode.links?))) {
                    Some((identity, links)) => self.add_link(identity, size, links, size),
                    None => self.add(size, size),
                }
            }
        }
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
        if let Some(Details { modified, changed, born, owner, group }) = details {
            stat = Stat { modified, changed, born, owner, group, ..stat };
        }
    }
    stat
}

/// Feeds `tally` with `tree`.
pub fn replay<T: Tally>(tree: &Tree, tally: T) -> T::Report {
    let mut replay = Replay::new(tally, tree.is_above_roots());
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        match step {
            Step::Node(node) if node.is_directory() => {
                replay.open();
                node.leaf_nodes().for_each(|leaf| replay.leaf(&leaf, true));
                traversal.enter(node, node.directories().collect());
            }
            Step::End(node) if traversal.depth() > 0 => replay.close(&node.node(), true, true),
            // A root; or a group, of which the tally has no use.
            Step::Node(_) | Step::End(_) => {}
        }
    }
    replay.finish(&tree.root().node())
}
