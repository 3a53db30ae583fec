//! A tree, node by node, from the root down and largest first, without recursion.

use crate::path;
use crate::tally::{Child, Shape, Tree};

/// A step on the way through a tree.
pub(super) enum Visit<'a> {
    /// A node begins.
    Begin(Child<'a>),
    /// It ends, after all that is in it.
    End,
}

/// The way through a tree.
pub(super) struct Visits<'a> {
    root: &'a Tree,
    /// What is still to come, the next one last.
    ahead: Vec<Visit<'a>>,
    /// Where each open node's path ends in `path`.
    open: Vec<usize>,
    path: Vec<u8>,
}

impl<'a> Visits<'a> {
    pub(super) fn new(root: &'a Tree) -> Self {
        let ahead = vec![Visit::Begin(Child::Branch(root))];
        Self { root, ahead, open: Vec::new(), path: Vec::new() }
    }

    /// How many levels below the root the node lies that began last.
    pub(super) fn depth(&self) -> usize {
        let names = self.open.last().map_or(&[][..], |above| &self.path[*above..]);
        let is_list = self.root.shape == Shape::List && self.open.len() > 1;
        let more = names.iter().skip(1).filter(|byte| is_list && **byte == b'/').count();
        (self.open.len() + more).saturating_sub(1)
    }

    /// The path of the node that began last: the root as given, and the names below it.
    pub(super) fn path(&self) -> &[u8] {
        &self.path
    }
}

impl<'a> Iterator for Visits<'a> {
    type Item = Visit<'a>;

    fn next(&mut self) -> Option<Visit<'a>> {
        let visit = self.ahead.pop()?;
        match visit {
            Visit::Begin(child) => {
                self.open.push(self.path.len());
                path::join(&mut self.path, child.name());
                self.ahead.push(Visit::End);
                if let Child::Branch(tree) = child {
                    self.ahead.extend(tree.children().into_iter().rev().map(Visit::Begin));
                }
            }
            Visit::End => self.path.truncate(self.open.pop().unwrap_or(0)),
        }
        Some(visit)
    }
}
