//! The lines of a picture: the nodes of a tree, laid out without recursion.

use std::cmp::Ordering;
use std::{iter, mem};

use crate::base::measure::{Change, Mode};
use crate::base::path;
use crate::tree::{Order, Step, Totals, Traversal, Tree};

/// A line of the picture.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) parent: Option<usize>,
    pub(super) depth: usize,
    /// How many levels of the tree are drawn above it.
    pub(super) indent: usize,
    /// Whether it is drawn farthest from the parent directory, of all siblings.
    pub(super) is_last: bool,
    /// Whether it has no siblings.
    pub(super) is_only: bool,
    pub(super) has_children: bool,
    /// The directories before its name, if it stands for them as well.
    pub(super) chain: Vec<&'a [u8]>,
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
    /// Whether its figures lack something that was not read.
    pub(super) is_partial: bool,
    /// What a picture has before its name, and after it.
    pub(super) figures: String,
    pub(super) aside: String,
}

impl Line<'_> {
    /// Whether its path may be short enough to be opened, with a slash and a byte for each level.
    pub(super) fn has_path(&self) -> bool {
        self.depth <= path::LONGEST / 2
    }

    /// Whether it grew, or shrank.
    pub(super) fn direction(&self) -> Option<Ordering> {
        self.change.as_ref().map(|change| change.difference().cmp(&0))
    }
}

/// The ancestors at which the paths of deep lines are cut. A line shows only the first and last cells of a path that is
/// too long to be opened, and each level takes at least one cell, for a slash. To build whole paths takes time that
/// grows with the square of the depth.
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

/// The path of a line: the root as given, and the names below it. The middle of a path that cannot
/// be opened is missing.
pub(super) fn path(lines: &[Line<'_>], line: usize, root: &Tree, outer: &Outer) -> Vec<u8> {
    let mut names = names_of(&lines[line]);
    let mut at = lines[line].parent;
    while let Some(mut above) = at {
        if !lines[line].has_path() && names.len() == outer.levels {
            above = outer.ends[above];
        }
        if lines[above].depth >= root.root_depth() {
            names.extend(names_of(&lines[above]));
        }
        at = lines[above].parent;
    }
    path::join_all(names.into_iter().rev())
}

/// Joins chains of directories: the line of an only child stands for the directories above it, too, if they are
/// below `root_depth`, and each line `says` the same as the one above it.
pub(super) fn join<'a>(
    lines: Vec<Line<'a>>,
    root_depth: usize,
    says: impl Fn(&Line<'_>, &Line<'_>) -> bool,
) -> Vec<Line<'a>> {
    let mut joined: Vec<Line<'a>> = Vec::with_capacity(lines.len());
    // For each line, the number of the one that stands for it.
    let mut stand: Vec<usize> = Vec::with_capacity(lines.len());
    for (i, mut line) in lines.into_iter().enumerate() {
        stand.push(joined.len());
        let Some(parent) = line.parent else {
            joined.push(line);
            continue;
        };
        let (at, above) = (stand[parent], &mut joined[stand[parent]]);
        if line.is_only && above.depth > root_depth && says(above, &line) {
            line.chain = mem::take(&mut above.chain);
            line.chain.push(above.name);
            (line.parent, line.indent) = (above.parent, above.indent);
            (line.is_last, line.is_only) = (above.is_last, above.is_only);
            joined[at] = line;
            stand[i] = at;
        } else {
            (line.parent, line.indent) = (Some(at), above.indent + 1);
            joined.push(line);
        }
    }
    joined
}

/// The name of a line and of the directories it stands for, innermost first.
fn names_of<'a>(line: &Line<'a>) -> Vec<&'a [u8]> {
    iter::once(line.name).chain(line.chain.iter().rev().copied()).collect()
}

/// A directory whose children are being laid out.
struct OpenLine {
    line: usize,
    /// The number of the next child, and of all.
    next: usize,
    children: usize,
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
        let (mut parent, mut is_last, mut is_only) = (None, true, false);
        if let Some(OpenLine { line, next, children }) = traversal.innermost() {
            *next += 1;
            (parent, is_last, is_only) = (Some(*line), next == children, *children == 1);
        }
        let known = node.node();
        lines.push(Line {
            parent,
            depth,
            indent: depth,
            is_last,
            is_only,
            has_children: !children.is_empty(),
            name: node.shown_name(),
            mode: node.mode(),
            totals: known.totals_in(node.view()),
            note: known.note,
            change: known.change.map(Box::new),
            has_own: !node.is_directory() || known.own.is_some(),
            ..Line::default()
        });
        traversal.enter(OpenLine { line, next: 0, children: children.len() }, children);
    }
    lines
}
