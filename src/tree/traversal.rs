//! The one traversal of trees, and of everything else in which nodes contain nodes. Nothing recurses, because a tree
//! may be deeper than any stack.

use std::vec;

use crate::base::path;

/// Visits each node, directories before their content. After [`Step::Node`], the caller decides with
/// [`Traversal::enter`] whether a node is entered, which children come next, and in which order.
#[derive(Debug)]
pub struct Traversal<N, S> {
    root: Option<N>,
    open: Vec<Level<N, S>>,
    /// The path of the current node.
    path: Vec<u8>,
}

/// A step of the traversal.
#[derive(Debug)]
pub enum Step<N, S> {
    /// A node. If it is entered now, its children come next.
    Node(N),
    /// The end of a node that was entered, with its state.
    End(S),
}

/// Something that has a name.
pub trait Named {
    /// Its name, as bytes.
    fn name(&self) -> &[u8];
}

/// A node that was entered.
#[derive(Debug)]
struct Level<N, S> {
    /// Its children that are still to come.
    ahead: vec::IntoIter<N>,
    state: S,
    /// The length of its path.
    path: usize,
}

impl<N: Named, S> Traversal<N, S> {
    /// Begins at `root`.
    pub fn new(root: N) -> Self {
        Self { root: Some(root), open: Vec::new(), path: Vec::new() }
    }

    /// Begins inside a node at `path` that was entered.
    pub fn inside(path: Vec<u8>, state: S, children: Vec<N>) -> Self {
        let mut traversal = Self { root: None, open: Vec::new(), path };
        traversal.enter(state, children);
        traversal
    }

    /// Enters the current node: `children` come next, and then its end, with `state`.
    pub fn enter(&mut self, state: S, children: Vec<N>) {
        self.open.push(Level { ahead: children.into_iter(), state, path: self.path.len() });
    }

    /// The state of the innermost open node.
    pub fn innermost(&mut self) -> Option<&mut S> {
        self.open.last_mut().map(|open| &mut open.state)
    }

    /// How many nodes are open above the current one, or above the one that ended last.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The path of the current node.
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
    use crate::base::measure::Mode;
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
