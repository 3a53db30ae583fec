//! Feeds a tally with known nodes as a walk would. So the tally alone decides what is kept, whether nodes come from
//! the file system, from a file or from memory.

use super::{Rules, Shown, Subtotal, close, finish};
use crate::base::inode::Links;
use crate::base::measure::{Kind, View};
use crate::sys::Stat;
use crate::tree::sum::PlainSum;
use crate::tree::tally::{Entry, Tally, Whole};
use crate::tree::{Details, DirectoryId, Inode, Node, Step, Sums, Traversal, Tree};

/// Feeds a tally of any type from one thread, node by node. A directory is opened before its content and closed after
/// it. Memory grows only with depth.
pub trait AnyReplay<A = Tree> {
    /// Opens a directory inside the innermost open one.
    fn open(&mut self);

    /// Adds an entry that is not a directory to the innermost open one. If it is not `is_shown`, it only counts.
    fn leaf(&mut self, node: &Node<'_>, is_shown: bool);

    /// Closes the innermost open directory.
    fn close(&mut self, node: &Node<'_>, shown: Shown);

    /// Closes the root, which may also be a file. That is all.
    fn finish(&mut self, node: &Node<'_>) -> A;
}

/// Begins a replay, to be seen in a view, as [`Replay::new`] does. What reads files gets this, so that it is in
/// the program once, and not once for each kind of answer. A walk knows the type of its tally: calls through a table,
/// one for each entry, would slow it down more than they slow down reading a file.
pub type BeginReplay<'t> =
    Box<dyn FnOnce(View, usize, Option<Rules>) -> Box<dyn AnyReplay> + Send + 't>;

/// Replays for what `tally` makes.
pub fn replay_to<'t, T: Tally<Answer = Tree>>(
    tally: impl FnOnce(View) -> T + Send + 't,
) -> BeginReplay<'t> {
    Box::new(|view, root_depth, rules| Box::new(Replay::new(tally(view), root_depth, rules)))
}

/// Feeds a tally of a known type.
#[derive(Debug)]
pub struct Replay<T: Tally> {
    tally: T,
    /// How to compute what directories come to, if the nodes do not say it.
    rules: Option<Rules>,
    open: Vec<Subtotal<T::Part>>,
    /// How many more directories are open around these, less those around the roots.
    around: isize,
}

impl<T: Tally> Replay<T> {
    /// Begins. Roots are at `root_depth` ([`Tree::root_depth`]). Adds up the totals of directories by these `rules`, if
    /// there are any; else they have those of their nodes.
    pub fn new(tally: T, root_depth: usize, rules: Option<Rules>) -> Self {
        Self { tally, rules, open: Vec::new(), around: -(root_depth as isize) }
    }

    /// Begins another part of the innermost open directory, for another thread.
    pub fn begin_part(&self) -> Self
    where
        T: Clone,
    {
        let part = self.open.last().map(|open| open.begin_part(&self.tally)).unwrap_or_default();
        let around = self.around + self.open.len() as isize - 1;
        Self { tally: self.tally.clone(), open: vec![part], around, ..*self }
    }

    /// Adds a part to the innermost open directory.
    pub fn merge(&mut self, mut part: Self) {
        if let (Some(open), Some(part)) = (self.open.last_mut(), part.open.pop()) {
            open.merge(&self.tally, part);
        }
    }

    /// The depth below the root; the node above several roots does not count.
    pub fn depth(&self) -> u32 {
        let levels = self.around + self.open.len() as isize;
        u32::try_from(levels.max(0)).unwrap_or(u32::MAX)
    }
}

impl<T: Tally> AnyReplay<T::Answer> for Replay<T> {
    fn open(&mut self) {
        self.open.push(Subtotal::default());
    }

    fn leaf(&mut self, node: &Node<'_>, is_shown: bool) {
        let depth = self.depth();
        let Some(subtotal) = self.open.last_mut() else { return };
        let stat = stat_of(node);
        let entry = entry(node, &stat, depth);
        match &self.rules {
            Some(_) => subtotal.add(&self.tally, &entry, is_shown),
            None => self.tally.leaf(&mut subtotal.part, &entry),
        }
    }

    fn close(&mut self, node: &Node<'_>, shown: Shown) {
        let Some(subtotal) = self.open.pop() else { return };
        let (depth, stat) = (self.depth(), stat_of(node));
        if let Some(above) = self.open.last_mut() {
            let directory = entry(node, &stat, depth);
            close(self.rules.as_ref(), &self.tally, directory, shown, subtotal, |_| above);
        }
    }

    fn finish(&mut self, node: &Node<'_>) -> T::Answer {
        let subtotal = self.open.pop().unwrap_or_default();
        let rules = self.rules.take().filter(|_| node.mode.kind() == Kind::Directory);
        finish(rules.as_ref(), &self.tally, entry(node, &stat_of(node), 0), subtotal)
    }
}

impl Replay<Whole> {
    /// Adds a directory of another tree, under `name`, to the one that has begun last: with all that is below it,
    /// as it is, for that comes to what it did. Only what is above it is added up. Nothing is left of it in `tree`.
    pub fn graft(&mut self, tree: &mut Tree, directory: DirectoryId, name: &[u8]) {
        let Some(Subtotal { sum, part, .. }) = self.open.last_mut() else { return };
        if self.rules.is_some() {
            sum.add_counted(tree.directory(directory).counted());
        }
        part.adopt(tree.detach(directory, name));
    }
}

/// What `parts` come to together, of which no two have links of the same inode.
pub fn sum_of_disjoint(parts: impl Iterator<Item = Sums>) -> Sums {
    let [mut all, mut shared] = [PlainSum::default(); 2];
    let mut entries: u64 = 0;
    for part in parts {
        all.add(&part.all);
        shared.add(&part.shared);
        entries = entries.saturating_add(part.entries);
    }
    Sums { all: all.figures(), shared: shared.figures(), entries, frees: None }
}

fn entry<'a>(node: &'a Node<'_>, stat: &'a Stat, depth: u32) -> Entry<'a> {
    let Node { name, sums, inode, ref change, .. } = *node;
    let own = if node.mode.kind() == Kind::Directory { node.own } else { Some(sums.all) };
    let mount = inode.map_or(0, |inode| inode.identity.mount);
    let links = inode.map_or(Links::Alone, |inode| inode.links);
    Entry { name, depth, stat, mount, links, own, sums, change: change.as_ref() }
}

/// The attributes of its inode, as far as a node knows them.
pub fn stat_of(node: &Node<'_>) -> Stat {
    let modified = node.modified().unwrap_or(0);
    let mut stat = Stat { mode: node.mode, modified, ..Stat::default() };
    if let Some(Inode { identity, links, details }) = node.inode {
        (stat.device, stat.inode) = (identity.device, identity.number);
        stat.links = if let Links::Of(links) = links { links } else { 1 };
        if let Some(Details { changed, born, owner, group, .. }) = details {
            stat = Stat { changed, born, owner, group, ..stat };
        }
    }
    stat
}

/// What `tally` answers of `tree`.
pub fn replay<T: Tally>(tree: &Tree, tally: T) -> T::Answer {
    let mut replay = Replay::new(tally, tree.root_depth(), None);
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        match step {
            Step::Node(node) if node.is_directory() => {
                replay.open();
                node.leaf_nodes().for_each(|leaf| replay.leaf(&leaf, true));
                traversal.enter(node, node.directories().collect());
            }
            Step::End(node) if traversal.depth() > 0 => replay.close(&node.node(), Shown::Always),
            // A root; or a group, of which the tally has no use.
            Step::Node(_) | Step::End(_) => {}
        }
    }
    replay.finish(&tree.root().node())
}
