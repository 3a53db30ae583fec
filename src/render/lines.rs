//! The lines of a picture: the nodes of a tree, laid out without recursion.

use crate::measure::Mode;
use crate::path;
use crate::tree::{Order, Step, Totals, Traversal, Tree};

/// A node as it is drawn.
pub(super) struct Line<'a> {
    pub(super) parent: Option<usize>,
    pub(super) depth: usize,
    /// Whether it is the largest of its siblings.
    pub(super) is_largest: bool,
    /// Whether it is the one of its siblings that is drawn farthest from their directory.
    pub(super) is_last: bool,
    pub(super) has_children: bool,
    pub(super) name: &'a [u8],
    pub(super) mode: Mode,
    pub(super) totals: Totals,
    /// Whether it is an inode that counts itself, as far as the tree knows.
    pub(super) has_own: bool,
    /// Whether it stands for all that has no line.
    pub(super) is_rest: bool,
}

impl<'a> Line<'a> {
    /// The line of what has none.
    pub(super) fn of_rest(name: &'a [u8], totals: Totals) -> Self {
        Self {
            parent: Some(0),
            depth: 1,
            is_largest: false,
            is_last: false,
            has_children: false,
            name,
            mode: Mode::default(),
            totals,
            has_own: true,
            is_rest: true,
        }
    }
}

/// The path of a line: the root as given, and the names below it.
pub(super) fn path(lines: &[Line<'_>], line: usize, root: &Tree) -> Vec<u8> {
    let mut names = vec![lines[line].name];
    let mut at = lines[line].parent;
    while let Some(parent) = at {
        if parent > 0 || !root.is_above_roots() {
            names.push(lines[parent].name);
        }
        at = lines[parent].parent;
    }
    path::join_all(names.into_iter().rev())
}

/// A node whose children come to their lines.
struct OpenLine {
    line: usize,
    /// Which child is next, and which ones are the largest and the last.
    next: usize,
    largest: usize,
    last: usize,
}

/// The lines from the root down, siblings in `order`; backwards, if `is_backwards`.
pub(super) fn lay_out(tree: &Tree, order: Order, is_backwards: bool) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        let Step::Node(node) = step else { continue };
        let mut children = node.children(order);
        if is_backwards {
            children.reverse();
        }
        let (line, depth) = (lines.len(), traversal.depth());
        let (mut parent, mut is_largest, mut is_last) = (None, true, true);
        if let Some(OpenLine { line, next, largest, last }) = traversal.innermost() {
            (parent, is_largest, is_last) = (Some(*line), next == largest, next == last);
            *next += 1;
        }
        let known = node.node();
        lines.push(Line {
            parent,
            depth,
            is_largest,
            is_last,
            has_children: !children.is_empty(),
            name: if depth == 0 && tree.is_above_roots() { b"(total)" } else { node.name() },
            mode: node.mode(),
            totals: known.totals,
            has_own: !node.is_directory() || known.own.is_some(),
            is_rest: false,
        });
        let largest = (0..children.len()).min_by(|&i, &j| children[i].compare(&children[j]));
        let (largest, last) = (largest.unwrap_or(0), children.len().saturating_sub(1));
        traversal.enter(OpenLine { line, next: 0, largest, last }, children);
    }
    lines
}
