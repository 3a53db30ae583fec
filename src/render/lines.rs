//! The lines of a picture: the nodes of a tree, laid out without recursion.

use std::cmp::Ordering;

use crate::measure::{Change, Mode};
use crate::path;
use crate::tree::{Order, Step, Totals, Traversal, Tree};

/// A line of the picture.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) parent: Option<usize>,
    pub(super) depth: usize,
    /// Whether it is the largest of its siblings.
    pub(super) is_largest: bool,
    /// Whether it is drawn farthest from the parent directory, of all siblings.
    pub(super) is_last: bool,
    pub(super) has_children: bool,
    pub(super) name: &'a [u8],
    pub(super) mode: Mode,
    pub(super) totals: Totals,
    /// What else is known of it.
    pub(super) note: &'a str,
    /// How it changed, in a comparison. In a box, because other pictures do not need the room.
    pub(super) change: Option<Box<Change<'a>>>,
    /// Whether it is an inode that counts, as far as the tree knows.
    pub(super) has_own: bool,
    /// Whether it sums up everything without a line of its own.
    pub(super) is_rest: bool,
}

impl<'a> Line<'a> {
    /// The line that sums up everything without a line of its own.
    pub(super) fn of_rest(name: &'a [u8], totals: Totals) -> Self {
        Self {
            parent: Some(0),
            depth: 1,
            name,
            totals,
            has_own: true,
            is_rest: true,
            ..Self::default()
        }
    }

    /// Whether it grew, or shrank.
    pub(super) fn direction(&self) -> Option<Ordering> {
        self.change.as_ref().map(|change| change.difference().cmp(&0))
    }
}

/// The ancestors at which the paths of deep lines are cut. A line shows only the first and last cells of a path, and
/// each level takes at least one cell, for a slash. To build whole paths takes time that grows with the square of the
/// depth.
pub(super) struct Outer {
    /// How many levels are kept at either end of a path.
    levels: usize,
    /// For each line, its ancestor at that depth; the line itself if it is not deeper.
    ends: Vec<usize>,
}

impl Outer {
    /// For `lines` of at most `width` cells.
    pub(super) fn of(lines: &[Line<'_>], width: usize) -> Self {
        let levels = width.max(1);
        let mut ends: Vec<usize> = Vec::with_capacity(lines.len());
        for (i, line) in lines.iter().enumerate() {
            ends.push(match line.parent {
                Some(parent) if lines[parent].depth >= levels => ends[parent],
                _ => i,
            });
        }
        Self { levels, ends }
    }
}

/// The path of a line: the root as given, and the names below it. The middle of a path that is too long to show is
/// missing.
pub(super) fn path(lines: &[Line<'_>], line: usize, root: &Tree, outer: &Outer) -> Vec<u8> {
    let mut names = vec![lines[line].name];
    let mut at = lines[line].parent;
    while let Some(mut above) = at {
        if names.len() == outer.levels {
            above = outer.ends[above];
        }
        if lines[above].depth >= root.root_depth() {
            names.push(lines[above].name);
        }
        at = lines[above].parent;
    }
    path::join_all(names.into_iter().rev())
}

/// A directory whose children are being laid out.
struct OpenLine {
    line: usize,
    /// The number of the next child, of the largest, and of the last.
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
            name: node.shown_name(),
            mode: node.mode(),
            totals: known.seen_as(node.view()),
            note: known.note,
            change: known.change.map(Box::new),
            has_own: !node.is_directory() || known.own.is_some(),
            is_rest: false,
        });
        let largest = (0..children.len()).min_by(|&i, &j| children[i].compare(&children[j]));
        let (largest, last) = (largest.unwrap_or(0), children.len().saturating_sub(1));
        traversal.enter(OpenLine { line, next: 0, largest, last }, children);
    }
    lines
}
