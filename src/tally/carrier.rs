//! What a directory hands to its parent for [`Top`](super::Top): nodes, numbered so that children come before
//! parents. All but the first N lines can be cut at any time.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::mem;

use smallvec::SmallVec;

use crate::inode::Identity;
use crate::measure::{Change, Figures, Kind, Mode, View};
use crate::path;
use crate::tally::{Directory, Entry, Limits, Show};
use crate::tree::{self, Content, Shape, Sums, Tree};

/// The largest nodes below one directory. A directory comes after its children, because it is added when it closes.
#[derive(Debug, Default)]
pub struct Carrier {
    nodes: Vec<Candidate>,
    /// The nodes directly in the directory that the carrier belongs to.
    tops: Vec<usize>,
    /// How many nodes count as lines.
    lines: usize,
    /// How many roots there were, whether they are among the nodes or not.
    pub(super) roots: usize,
    /// The rank and the name of the last line, after a cut.
    last: Option<(i128, Name)>,
}

/// A name. Most fit in place, and copying those allocates nothing.
pub(super) type Name = SmallVec<[u8; 24]>;

#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) name: Name,
    pub(super) mode: Mode,
    /// What a directory comes to by itself, if it counts.
    pub(super) own: Option<Figures>,
    pub(super) sums: Sums,
    /// In a comparison, how it changed. In a box, because a walk does not need the room.
    pub(super) change: Option<Box<KeptChange>>,
    pub(super) identity: Option<Identity>,
    /// Whether it has a line. If not, it only leads to one.
    pub(super) is_line: bool,
    /// Whether it is one of several roots.
    pub(super) is_root: bool,
    pub(super) parent: Option<usize>,
}

/// A change, and apart from it where a directory was.
#[derive(Debug)]
pub(super) struct KeptChange {
    change: Change<'static>,
    moved_from: Option<Box<[u8]>>,
}

impl Carrier {
    /// Whether enough lines come before `entry`: lines of at least its rank whose names sort before.
    pub(super) fn is_past_last(&self, view: View, entry: &Entry<'_>) -> bool {
        self.last.as_ref().is_some_and(|(last, name)| {
            let rank = view.rank(&entry.figures, entry.change);
            rank < *last || rank == *last && entry.name > name.as_slice()
        })
    }

    /// Whether each root has a line, however small it is, as far as is known so far.
    pub(super) fn keeps_roots(&self, limits: &Limits) -> bool {
        self.roots <= limits.roots && limits.show != Show::Files
    }

    /// How many lines it carries.
    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// The rank of the last line, after a cut.
    pub(super) fn last_rank(&self) -> Option<i128> {
        self.last.as_ref().map(|(rank, _)| *rank)
    }

    /// Adds a node directly in the directory that the carrier belongs to.
    pub(super) fn add(&mut self, node: Candidate) {
        self.lines += usize::from(node.is_line);
        self.tops.push(self.nodes.len());
        self.nodes.push(node);
    }

    /// Adds the directory that the carrier belonged to; from now on it is the parent's.
    pub(super) fn add_above(&mut self, node: Candidate) {
        let above = self.nodes.len();
        for top in self.tops.drain(..) {
            self.nodes[top].parent = Some(above);
        }
        self.last = None;
        self.add(node);
    }

    /// Adds the nodes of another carrier. The smaller one's nodes are moved.
    pub(super) fn append(&mut self, mut other: Carrier) {
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
    pub(super) fn cut(&mut self, view: View, limits: &Limits, is_end: bool) {
        let ranks = self.ranks();
        let (nodes, keeps_roots) = (&self.nodes, self.keeps_roots(limits));
        let is_kept = |i: usize| keeps_roots && nodes[i].is_root;
        let change = |i: usize| nodes[i].change.as_ref().map(|kept| &kept.change);
        let rank = |i: usize| view.rank(&nodes[i].sums.all, change(i));
        let mut lines: Vec<usize> = (0..nodes.len()).collect();
        lines.retain(|&i| {
            let weight = view.weight(&nodes[i].sums.all, change(i));
            nodes[i].is_line && (weight >= limits.min_size || is_kept(i))
        });
        lines.sort_by_cached_key(|&i| (!is_kept(i), Reverse(rank(i)), ranks[i]));
        let mut seen = HashSet::new();
        lines.retain(|&i| nodes[i].identity.is_none_or(|identity| seen.insert(identity)));
        let roots = lines.partition_point(|&i| is_kept(i));
        let others = if is_end { limits.lines.saturating_sub(roots) } else { limits.lines };
        lines.truncate(roots.saturating_add(others));

        self.last = match lines[roots..].last() {
            Some(&last) if lines.len() - roots == others => {
                Some((rank(last), nodes[self.top_above(last)].name.clone()))
            }
            _ => None,
        };
        self.lines = lines.len();

        let mut is_kept = vec![false; self.nodes.len()];
        for line in lines {
            is_kept[line] = true;
        }
        for i in 0..self.nodes.len() {
            if let (true, Some(parent)) = (is_kept[i], self.nodes[i].parent) {
                is_kept[parent] = true;
            }
        }
        self.compact(&is_kept);
    }

    /// Each node's place when paths are sorted name by name.
    fn ranks(&self) -> Vec<usize> {
        let by_name_backwards =
            |a: &usize, b: &usize| self.nodes[*b].name.cmp(&self.nodes[*a].name);
        let mut below = vec![Vec::new(); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                below[parent].push(i);
            }
        }
        let mut ranks = vec![0; self.nodes.len()];
        let mut rank = 0;
        let mut ahead = self.tops.clone();
        ahead.sort_unstable_by(by_name_backwards);
        while let Some(node) = ahead.pop() {
            ranks[node] = rank;
            rank += 1;
            let children = &mut below[node];
            children.sort_unstable_by(by_name_backwards);
            ahead.append(children);
        }
        ranks
    }

    fn top_above(&self, mut node: usize) -> usize {
        while let Some(parent) = self.nodes[node].parent {
            node = parent;
        }
        node
    }

    fn compact(&mut self, is_kept: &[bool]) {
        let mut kept = 0;
        let moved_to: Vec<usize> = is_kept
            .iter()
            .map(|is_kept| {
                kept += usize::from(*is_kept);
                kept.wrapping_sub(1)
            })
            .collect();
        let mut i = 0;
        self.nodes.retain(|_| {
            i += 1;
            is_kept[i - 1]
        });
        for node in &mut self.nodes {
            node.parent = node.parent.map(|parent| moved_to[parent]);
        }
        self.tops.retain(|&top| is_kept[top]);
        for top in &mut self.tops {
            *top = moved_to[*top];
        }
    }

    /// The nodes as a tree below `root`.
    pub(super) fn into_tree(self, root: &Directory<'_>) -> Tree {
        // One place for the content of each node, and the last for the root's.
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
    pub(super) fn into_list(self, root: &Directory<'_>) -> Tree {
        let mut leaves = Content::default();
        let mut names = Vec::new();
        for line in self.nodes.iter().filter(|node| node.is_line) {
            let mut parent = line.parent;
            names.push(&*line.name);
            while let Some(above) = parent {
                names.push(&self.nodes[above].name);
                parent = self.nodes[above].parent;
            }
            let path = path::join_all(names.drain(..).rev());
            leaves.push(&line.named(&path));
        }
        leaves.finish(&root.node(), Shape::List)
    }
}

impl Candidate {
    /// The node, with its name in a tree.
    fn named<'a>(&'a self, name: &'a [u8]) -> tree::Node<'a> {
        tree::Node {
            name,
            mode: self.mode,
            own: self.own,
            sums: self.sums,
            change: self.change.as_ref().map(|kept| kept.change()),
            ..tree::Node::default()
        }
    }
}

impl KeptChange {
    pub(super) fn of(&change: &Change<'_>) -> Box<Self> {
        let Change { kind, was, is, churn, entries, moved_from } = change;
        let change = Change { kind, was, is, churn, entries, moved_from: None };
        Box::new(Self { change, moved_from: moved_from.map(Into::into) })
    }

    fn change(&self) -> Change<'_> {
        Change { moved_from: self.moved_from.as_deref(), ..self.change }
    }
}
