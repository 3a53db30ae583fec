//! The lines of a picture: the nodes of a tree, laid out without recursion.

use crate::measure::Mode;
use crate::path;
use crate::tree::{Child, Order, Step, Traversal, Tree};

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
pub(super) fn lay_out(tree: &Tree, order: Order, is_backwards: bool) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        let node = match step {
            Step::Node(node) => node,
            Step::End(Open { line, children: Some((largest, last)) }) => {
                lines[line].has_children = true;
                lines[largest].is_largest = true;
                lines[last].is_last = true;
                continue;
            }
            Step::End(_) => continue,
        };
        let line = lines.len();
        let parent = traversal.innermost().map(|above| {
            let largest = match above.children {
                Some((largest, _)) if !lines[largest].is_smaller_than(&node) => largest,
                _ => line,
            };
            above.children = Some((largest, line));
            above.line
        });
        let is_root = parent.is_none();
        lines.push(Line {
            parent,
            depth: traversal.depth(),
            is_largest: is_root,
            is_last: is_root,
            has_children: false,
            name: if is_root && tree.is_above_roots() { b"(total)" } else { node.name() },
            mode: node.mode(),
            size: node.size(),
            shared: node.totals().shared,
        });
        let mut children = node.children(order);
        if is_backwards {
            children.reverse();
        }
        traversal.enter(Open { line, children: None }, children);
    }
    lines
}

/// A node all of whose children may not have their lines yet.
struct Open {
    line: usize,
    /// The lines of the largest child so far, and of the last one.
    children: Option<(usize, usize)>,
}

impl Line<'_> {
    fn is_smaller_than(&self, other: &Child<'_>) -> bool {
        (other.size(), self.name) > (self.size, other.name())
    }
}
