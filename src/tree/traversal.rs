//! The one way through a tree, and through whatever else has nodes in nodes. Nothing recurses: a tree may be
//! deeper than any stack.

use std::vec;

use crate::path;

/// Goes from node to node, each directory before what is in it. Which nodes are entered, what of them is come
/// to, and in which order, says whoever goes: after [`Step::Node`], by [`Traversal::enter`].
#[derive(Debug)]
pub struct Traversal<N, S> {
    root: Option<N>,
    open: Vec<Level<N, S>>,
    /// The path of the node come to last.
    path: Vec<u8>,
}

/// A step on the way.
#[derive(Debug)]
pub enum Step<N, S> {
    /// A node. What is in it comes next if it is entered now.
    Node(N),
    /// The end of one that was entered, with what was said of it then.
    End(S),
}

/// What has a name.
pub trait Named {
    /// Its name, as bytes.
    fn name(&self) -> &[u8];
}

/// A node that has been entered.
#[derive(Debug)]
struct Level<N, S> {
    /// What is in it and still to come.
    ahead: vec::IntoIter<N>,
    state: S,
    /// Where its path ends.
    path: usize,
}

impl<N: Named, S> Traversal<N, S> {
    /// Begins at `root`.
    pub fn new(root: N) -> Self {
        Self { root: Some(root), open: Vec::new(), path: Vec::new() }
    }

    /// Begins where a node at `path` has been entered.
    pub fn inside(path: Vec<u8>, state: S, children: Vec<N>) -> Self {
        let mut traversal = Self { root: None, open: Vec::new(), path };
        traversal.enter(state, children);
        traversal
    }

    /// Enters the node come to last: `children` come next, and then its end, with `state`.
    pub fn enter(&mut self, state: S, children: Vec<N>) {
        self.open.push(Level { ahead: children.into_iter(), state, path: self.path.len() });
    }

    /// What was said of the innermost node that has been entered and not ended.
    pub fn innermost(&mut self) -> Option<&mut S> {
        self.open.last_mut().map(|open| &mut open.state)
    }

    /// How many nodes are open around the one come to last, or that ended last.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The path of the node come to last.
    pub fn path(&self) -> &[u8] {
        &self.path
    }
}

impl<N: Named, S> Iterator for Traversal<N, S> {
    type Item = Step<N, S>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (next, above) = match self.open.last_mut() {
            Some(open) => (open.ahead.next(), open.path),
            None => (Some(self.root.take()?), 0),
        };
        let Some(node) = next else { return self.open.pop().map(|open| Step::End(open.state)) };
        self.path.truncate(above);
        path::join(&mut self.path, node.name());
        Some(Step::Node(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Mode;
    use crate::tree::{Content, DirectoryId, Node, Order, Shape};

    #[test]
    fn a_deep_tree_is_gone_through_and_dropped_in_a_loop() {
        const DEPTH: u32 = 200_000;
        let directory = |name| Node { name, mode: Mode::DIRECTORY, ..Node::default() };
        let mut content = Content::default();
        for _ in 0..DEPTH {
            let mut above = Content::default();
            above.close(&directory(b"d"), content);
            content = above;
        }
        let tree = content.finish(&directory(b"root"), Shape::default());
        assert_eq!(tree.directory(DirectoryId(0)).path().len(), 4 + 2 * DEPTH as usize);
        let mut traversal = Traversal::new(tree.root());
        let (mut deepest, mut ended) = (0, 0);
        while let Some(step) = traversal.next() {
            match step {
                Step::Node(node) => traversal.enter((), node.children(Order::Size)),
                Step::End(()) => ended += 1,
            }
            deepest = deepest.max(traversal.depth());
        }
        assert_eq!((deepest, ended), (DEPTH as usize + 1, DEPTH + 1));
    }
}
