//! The lines of a picture: the nodes of a tree, laid out without recursion.

use crate::measure::Mode;
use crate::path;
use crate::tally::{Child, Order, Tree};

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
    pub(super) size: u64,
    pub(super) shared: u64,
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

/// The lines from the root down, siblings in `order`; backwards, if `is_backwards`.
pub(super) fn lay_out(root: &Tree, order: Order, is_backwards: bool) -> Vec<Line<'_>> {
    let mut lines = vec![Line {
        parent: None,
        depth: 0,
        is_largest: true,
        is_last: true,
        has_children: false,
        name: if root.is_above_roots() { b"(total)" } else { &root.name },
        mode: root.mode,
        size: root.totals.size,
        shared: root.totals.shared,
    }];
    let mut ahead = Vec::new();
    let mut opened = Some(root);
    loop {
        if let Some(tree) = opened {
            let parent = lines.len() - 1;
            let mut children = tree.children_in(order);
            if is_backwards {
                children.reverse();
            }
            let largest = (0..children.len()).min_by(|&i, &j| children[i].compare(&children[j]));
            let last = children.len().saturating_sub(1);
            lines[parent].has_children = !children.is_empty();
            ahead.extend(children.into_iter().enumerate().rev().map(|(i, child)| {
                let shared = match child {
                    Child::Branch(tree) => tree.totals.shared,
                    Child::Leaf(_) => 0,
                };
                let line = Line {
                    parent: Some(parent),
                    depth: lines[parent].depth + 1,
                    is_largest: Some(i) == largest,
                    is_last: i == last,
                    has_children: false,
                    name: child.name(),
                    mode: child.mode(),
                    size: child.size(),
                    shared,
                };
                (line, child)
            }));
        }
        let Some((line, child)) = ahead.pop() else { return lines };
        lines.push(line);
        opened = match child {
            Child::Branch(tree) => Some(tree),
            Child::Leaf(_) => None,
        };
    }
}
