//! The N largest nodes of a tree, exactly, in memory that grows with N and not with the tree.
//!
//! A directory is never smaller than anything in it. So the ancestors of the N largest nodes are among them, and a
//! directory need hand to its parent only the N largest nodes below it: a node that is cut here could not be among
//! the N largest further up. The order is by rank, largest first, then by path, name by name as bytes, a directory
//! before its content. It is a total order, so the result does not depend on when nodes are cut.
//!
//! One inode has one line, under the link that sorts first. If two parts are merged, dropping the later link keeps
//! the result exact: the nodes that were cut from its part because of it are no larger than it, and so no larger
//! than any of the N that remain.
//!
//! With `Show::Files`, the directories that lead to a file are handed up without a line. There memory grows with N
//! times the depth.
//!
//! Roots that were given have a line however small they are, and the largest of all other nodes have the other lines.
//! The number of roots is known only at the end, so until then N others are kept besides them.
//!
//! `floor` is a rank that N nodes of some part have reached. Nothing smaller can be among the N largest, so a
//! smaller entry is skipped before its name is copied.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::{iter, mem};

use smallvec::SmallVec;

use crate::base::inode::Identity;
use crate::base::measure::{Change, Figures, Kind, Mode, View};
use crate::base::path;
use crate::tree::tally::{Entry, Tally};
use crate::tree::{Content, Node, Shape, Sums, Tree};

/// Limits for what is kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many nodes below the root.
    pub lines: usize,
    /// How many levels below the root.
    pub depth: u32,
    /// The smallest size, in the unit of what the view measures; in a comparison, the smallest churn.
    pub min_size: u64,
    /// Which kinds.
    pub show: Show,
    /// If there are several roots, and no more than this, each has a line however small it is; but not in a list of
    /// files.
    pub roots: usize,
    /// In a comparison, whether directories that are new or gone have lines for what is in them.
    pub opens_new: bool,
}

/// Which kinds of nodes count as lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Directories and what is in them.
    #[default]
    Everything,
    /// Only directories.
    Directories,
    /// Only entries that are not directories, as a flat list of paths below the root.
    Files,
}

/// Keeps the N largest.
#[derive(Clone, Debug)]
pub struct Top {
    view: View,
    limits: Limits,
    /// It is only raised, and only to a proven limit. A stale value lets through more, never less, so relaxed
    /// ordering is enough.
    floor: Arc<AtomicI64>,
}

impl Limits {
    /// No limit at all.
    pub const NONE: Limits = Limits {
        lines: usize::MAX,
        depth: u32::MAX,
        min_size: 0,
        show: Show::Everything,
        roots: 0,
        opens_new: true,
    };

    /// The limits for candidates among which lines are chosen as they are drawn. Many may share a line there: a chain of
    /// directories, one in the other.
    pub fn for_candidates(self) -> Limits {
        const IN_A_CHAIN: usize = 16;
        const MOST: usize = 1024;
        let more = self.lines.saturating_mul(IN_A_CHAIN - 1).min(MOST);
        let lines = self.lines.saturating_add(more);
        Limits { lines, roots: self.roots.max(lines), ..self }
    }

    /// Whether they limit anything.
    pub fn are_any(&self) -> bool {
        (self.lines, self.depth, self.min_size) != (usize::MAX, u32::MAX, 0)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::NONE
    }
}

impl Top {
    /// Keeps what `limits` admit. The largest are those that rank highest in `view`.
    pub fn new(view: View, limits: Limits) -> Self {
        Self { view, limits, floor: Arc::new(AtomicI64::new(i64::MIN)) }
    }

    /// Whether an entry of this `rank` is too small for a line.
    #[inline]
    fn is_too_small(&self, entry: &Entry<'_>, rank: i128) -> bool {
        rank < self.floor.load(Ordering::Relaxed).into()
            || self.view.weight(&entry.sums.all, entry.change) < self.limits.min_size
    }

    /// Cuts a part that has grown to twice what it may keep, so that as many additions pay for each cut.
    fn make_room(&self, part: &mut Candidates) {
        const SLACK: usize = 16;
        let roots = if part.keeps_roots(&self.limits) { part.roots } else { 0 };
        let kept = self.limits.lines.saturating_add(roots);
        if part.lines > kept.saturating_mul(2).saturating_add(SLACK) {
            part.cut(&self.limits, false);
            if let Some((rank, _)) = &part.last {
                // A lower floor lets through more, never less.
                let floor = (*rank).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                self.floor.fetch_max(floor, Ordering::Relaxed);
            }
        }
    }
}

impl Tally for Top {
    type Part = Candidates;
    type Answer = Tree;

    fn begin_part(&self, so_far: &Candidates) -> Candidates {
        so_far.begin_part()
    }

    #[inline]
    fn leaf(&self, part: &mut Candidates, entry: &Entry<'_>) {
        let is_root = entry.depth == 0;
        part.roots += usize::from(is_root);
        let rank = self.view.rank(&entry.sums.all, entry.change);
        let is_too_small = self.is_too_small(entry, rank) || part.is_past_last(rank, entry.name);
        if is_too_small && !(is_root && part.keeps_roots(&self.limits))
            || entry.depth > self.limits.depth
            || self.limits.show == Show::Directories
        {
            return;
        }
        part.add(Candidate::new(entry, self.view, true));
        self.make_room(part);
    }

    fn merge(&self, part: &mut Candidates, other: Candidates) {
        part.append(other);
        self.make_room(part);
    }

    fn close(&self, parent: &mut Candidates, directory: &Entry<'_>, mut part: Candidates) {
        let is_line = self.limits.show != Show::Files;
        let is_root = directory.depth == 0;
        parent.roots += usize::from(is_root);
        let rank = self.view.rank(&directory.sums.all, directory.change);
        let is_admitted = directory.depth <= self.limits.depth
            && (!self.is_too_small(directory, rank) || is_root && parent.keeps_roots(&self.limits));
        // Nothing below a directory that is not admitted can be admitted. A directory without a line of its own is
        // kept for the lines below it.
        if !is_admitted || !(is_line || part.lines > 0) {
            return;
        }
        part.add_above(Candidate::new(directory, self.view, is_line));
        parent.append(part);
        self.make_room(parent);
    }

    fn finish(&self, root: &Entry<'_>, mut part: Candidates) -> Tree {
        part.cut(&self.limits, true);
        let tree = match self.limits.show {
            Show::Files => part.into_list(root),
            Show::Everything | Show::Directories => part.into_tree(root),
        };
        tree.in_view(self.view)
    }
}

// The nodes that a directory hands to its parent for `Top`, numbered so that children come before
// parents. All but the first N lines can be cut at any time.

/// The largest nodes below one directory. A directory comes after its children, because it is added when it closes.
#[derive(Debug, Default)]
pub struct Candidates {
    nodes: Vec<Candidate>,
    /// The nodes directly in the directory that these belong to.
    tops: SmallVec<[usize; 4]>,
    /// How many nodes count as lines.
    lines: usize,
    /// How many roots there were, whether they are among the nodes or not.
    roots: usize,
    /// The rank and the name of the last line, after a cut.
    last: Option<(i128, Name)>,
}

/// A name. Most fit in place, and copying those allocates nothing.
type Name = SmallVec<[u8; 24]>;

/// A node, which has a line or leads to one.
#[derive(Debug)]
struct Candidate {
    name: Name,
    mode: Mode,
    /// What a directory comes to by itself, if it counts.
    own: Option<Figures>,
    sums: Sums,
    /// In a comparison, how it changed. In a box, because a walk does not need the room.
    change: Option<Box<KeptChange>>,
    identity: Option<Identity>,
    weight: u64,
    rank: i128,
    /// Whether it has a line. If not, it only leads to one.
    is_line: bool,
    /// Whether it is one of several roots, which have a line however small they are.
    is_root: bool,
    parent: Option<usize>,
}

/// A change, and apart from it where a directory was.
#[derive(Debug)]
struct KeptChange {
    change: Change<'static>,
    moved_from: Option<Box<[u8]>>,
}

impl Candidates {
    /// The candidates of another part of the same directory. They begin with the last line so far, because what comes
    /// after that has no line. Otherwise, a tenth of 100,000 files of the same size became candidates.
    fn begin_part(&self) -> Self {
        Self { last: self.last.clone(), ..Self::default() }
    }

    /// Whether enough lines come before an entry of this `rank` and `name`: lines of at least its rank whose names
    /// sort before.
    fn is_past_last(&self, rank: i128, name: &[u8]) -> bool {
        self.last.as_ref().is_some_and(|(last, last_name)| {
            rank < *last || rank == *last && name > last_name.as_slice()
        })
    }

    /// Whether each root has a line, however small it is, as far as is known so far.
    fn keeps_roots(&self, limits: &Limits) -> bool {
        self.roots <= limits.roots && limits.show != Show::Files
    }

    /// Adds a node directly in the directory that these belong to.
    fn add(&mut self, node: Candidate) {
        self.lines += usize::from(node.is_line);
        self.tops.push(self.nodes.len());
        if self.nodes.is_empty() {
            // A Vec begins with room for four. In a chain, where each directory is open and has one file, the room for
            // three more took half of the memory: 1 KB a directory.
            self.nodes.reserve_exact(1);
        }
        self.nodes.push(node);
    }

    /// Adds the directory that these belonged to; from now on they are the parent's.
    fn add_above(&mut self, node: Candidate) {
        let above = self.nodes.len();
        for top in self.tops.drain(..) {
            self.nodes[top].parent = Some(above);
        }
        self.last = None;
        self.add(node);
    }

    /// Adds the nodes of another part or directory. The smaller one's nodes are moved.
    fn append(&mut self, mut other: Candidates) {
        if self.nodes.len() < other.nodes.len() {
            mem::swap(self, &mut other);
        }
        // Each is a limit for the sum of both. The one that sorts first is stricter.
        self.last = match (self.last.take(), other.last) {
            (Some(one), Some(two)) if two.0 > one.0 || two.0 == one.0 && two.1 < one.1 => Some(two),
            (None, two) => two,
            (one, _) => one,
        };
        let offset = self.nodes.len();
        self.lines += other.lines;
        self.roots += other.roots;
        self.tops.extend(other.tops.into_iter().map(|top| top + offset));
        self.nodes.extend(other.nodes.into_iter().map(|mut node| {
            node.parent = node.parent.map(|parent| parent + offset);
            node
        }));
    }

    /// Keeps the first lines, each inode once, and the nodes that lead to them. If it `is_end`, it keeps as many
    /// lines as there may be in the end, and else as many as may still be among those. Roots that have a line in any
    /// case come first.
    fn cut(&mut self, limits: &Limits, is_end: bool) {
        if !self.keeps_roots(limits) {
            // Nor will it later: there are only ever more of them.
            self.nodes.iter_mut().for_each(|node| node.is_root = false);
        }
        let order = self.path_order();
        let nodes = &self.nodes;
        let mut lines: Vec<usize> = (0..nodes.len()).collect();
        lines.retain(|&i| {
            nodes[i].is_line && (nodes[i].is_root || nodes[i].weight >= limits.min_size)
        });
        lines.sort_unstable_by_key(|&i| (!nodes[i].is_root, Reverse(nodes[i].rank), order[i]));
        let mut seen = HashSet::new();
        lines.retain(|&i| nodes[i].identity.is_none_or(|identity| seen.insert(identity)));
        let roots = lines.partition_point(|&i| nodes[i].is_root);
        let others = if is_end { limits.lines.saturating_sub(roots) } else { limits.lines };
        lines.truncate(roots.saturating_add(others));

        self.last = match lines[roots..].last() {
            Some(&last) if lines.len() - roots == others => {
                let top = self.way_up(last).last();
                top.map(|top| (nodes[last].rank, top.name.clone()))
            }
            _ => None,
        };
        self.lines = lines.len();

        let mut is_kept = vec![false; nodes.len()];
        for line in lines {
            is_kept[line] = true;
        }
        for (i, node) in nodes.iter().enumerate() {
            if let (true, Some(parent)) = (is_kept[i], node.parent) {
                is_kept[parent] = true;
            }
        }
        self.keep(&is_kept);
    }

    /// The number of each node when paths are sorted name by name.
    fn path_order(&self) -> Vec<usize> {
        // The last node of each directory, and the one before each.
        let (mut last, mut before) = (vec![None; self.nodes.len()], vec![None; self.nodes.len()]);
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                before[i] = last[parent].replace(i);
            }
        }
        let mut order = vec![0; self.nodes.len()];
        let mut ahead = self.tops.to_vec();
        ahead.sort_unstable_by_key(|&i| Reverse(&self.nodes[i].name));
        for number in 0.. {
            let Some(node) = ahead.pop() else { break };
            order[node] = number;
            let begin = ahead.len();
            ahead.extend(iter::successors(last[node], |&i| before[i]));
            ahead[begin..].sort_unstable_by_key(|&i| Reverse(&self.nodes[i].name));
        }
        order
    }

    /// A node, and all above it.
    fn way_up(&self, node: usize) -> impl Iterator<Item = &Candidate> {
        iter::successors(Some(&self.nodes[node]), |node| Some(&self.nodes[node.parent?]))
    }

    /// Keeps the nodes for which `is_kept` is true. What leads to one of these is one of them.
    fn keep(&mut self, is_kept: &[bool]) {
        let mut numbers = Vec::with_capacity(is_kept.len());
        let mut kept = 0;
        for is_kept in is_kept {
            numbers.push(kept);
            kept += usize::from(*is_kept);
        }
        let mut is_next_kept = is_kept.iter();
        self.nodes.retain(|_| is_next_kept.next() == Some(&true));
        for node in &mut self.nodes {
            node.parent = node.parent.map(|parent| numbers[parent]);
        }
        self.tops.retain(|top| is_kept[*top]);
        for top in &mut self.tops {
            *top = numbers[*top];
        }
    }

    /// The nodes as a tree below `root`.
    fn into_tree(self, root: &Entry<'_>) -> Tree {
        // The content of each node, and last the root's.
        let above_all = self.nodes.len();
        let mut contents = Vec::new();
        contents.resize_with(above_all + 1, Content::default);
        for (i, node) in self.nodes.into_iter().enumerate() {
            let content = mem::take(&mut contents[i]);
            let parent = &mut contents[node.parent.unwrap_or(above_all)];
            match node.mode.kind() {
                Kind::Directory => parent.close(&node.named(&node.name), content),
                _ => parent.push(&node.named(&node.name)),
            }
        }
        mem::take(&mut contents[above_all]).finish(&root.node(), Shape::Directory)
    }

    /// The lines as a flat list of paths below `root`.
    fn into_list(self, root: &Entry<'_>) -> Tree {
        let mut leaves = Content::default();
        for (i, line) in self.nodes.iter().enumerate().filter(|(_, node)| node.is_line) {
            let names: Vec<&[u8]> = self.way_up(i).map(|node| &*node.name).collect();
            leaves.push(&line.named(&path::join_all(names.into_iter().rev())));
        }
        leaves.finish(&root.node(), Shape::List)
    }
}

impl Candidate {
    /// The node of an `entry`, whose rank is in `view`.
    fn new(entry: &Entry<'_>, view: View, is_line: bool) -> Self {
        let Entry { name, depth, stat, own, sums, change, .. } = *entry;
        Self {
            name: SmallVec::from_slice(name),
            mode: stat.mode,
            own,
            sums,
            change: change.map(KeptChange::of),
            identity: entry.linked().filter(|_| !stat.is_directory()),
            weight: view.weight(&sums.all, change),
            rank: view.rank(&sums.all, change),
            is_line,
            is_root: depth == 0,
            parent: None,
        }
    }

    /// The node, with its name in a tree.
    fn named<'a>(&'a self, name: &'a [u8]) -> Node<'a> {
        let Self { mode, own, sums, .. } = *self;
        let change = self.change.as_ref().map(|kept| kept.change());
        Node { name, mode, own, sums, change, ..Node::default() }
    }
}

impl KeptChange {
    fn of(&change: &Change<'_>) -> Box<Self> {
        let Change { kind, was, is, churn, entries, moved_from } = change;
        let change = Change { kind, was, is, churn, entries, moved_from: None };
        Box::new(Self { change, moved_from: moved_from.map(Into::into) })
    }

    fn change(&self) -> Change<'_> {
        Change { moved_from: self.moved_from.as_deref(), ..self.change }
    }
}
