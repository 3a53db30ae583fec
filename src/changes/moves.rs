//! Directories that are in another place: gone from one and new in another, the same inode and of
//! the same size. Known only where both scans say which inode a directory is (`--details`).

use std::collections::HashMap;

use crate::changes::Sides;
use crate::changes::join::{is_directory, pairs};
use crate::path;
use crate::sys::Identity;
use crate::tally::{Child, Tree};

/// By inode, where each moved directory was.
#[derive(Debug, Default)]
pub(super) struct Moves {
    origins: HashMap<Identity, Box<[u8]>>,
}

impl Moves {
    /// Looks for them, where there can be any.
    pub(super) fn find(before: &Tree, now: &Tree) -> Self {
        let has_inodes = |tree: &Tree| {
            let knows =
                |child: Child<'_>| matches!(child, Child::Branch(tree) if tree.inode.is_some());
            tree.unsorted().any(knows)
        };
        if !has_inodes(before) || !has_inodes(now) {
            return Self::default();
        }
        let (mut gone, mut new) = (HashMap::new(), HashMap::new());
        let sides = Sides { before: Some(Child::Branch(before)), now: Some(Child::Branch(now)) };
        // What is below each open directory, and the length of the path that leads there.
        let mut ahead = vec![(pairs(sides), 0)];
        let mut way = Vec::new();
        while let Some((pairs_ahead, length)) = ahead.last_mut() {
            way.truncate(*length);
            let Some(sides) = pairs_ahead.pop() else {
                ahead.pop();
                continue;
            };
            if !is_directory(sides) {
                continue;
            }
            match (sides.before, sides.now) {
                (Some(child), None) => {
                    path::join(&mut way, child.name());
                    if let Some(key) = key(child) {
                        gone.insert(key, way.clone().into_boxed_slice());
                    }
                }
                (None, Some(child)) => {
                    path::join(&mut way, child.name());
                    if let Some(key) = key(child) {
                        new.insert(key, ());
                    }
                }
                (Some(child), Some(_)) => path::join(&mut way, child.name()),
                (None, None) => {}
            }
            let length = way.len();
            ahead.push((pairs(sides), length));
        }
        gone.retain(|key, _| new.contains_key(key));
        let origins = gone.into_iter().map(|((identity, _), path)| (identity, path)).collect();
        Self { origins }
    }

    /// Whether what is on one side only is a directory that is, or was, on the other elsewhere.
    pub(super) fn is_moved(&self, sides: &Sides<'_>) -> bool {
        !self.origins.is_empty()
            && match (sides.before, sides.now) {
                (Some(child), None) | (None, Some(child)) => self.of(child).is_some(),
                _ => false,
            }
    }

    /// Where the directory that is at `sides` was before, if it was moved.
    pub(super) fn origin(&self, sides: &Sides<'_>) -> Option<&[u8]> {
        match (sides.before, sides.now) {
            (None, Some(child)) => self.of(child),
            _ => None,
        }
    }

    fn of(&self, child: Child<'_>) -> Option<&[u8]> {
        let (identity, _) = key(child)?;
        self.origins.get(&identity).map(|path| &**path)
    }
}

/// Which inode a directory is, and its size.
fn key(child: Child<'_>) -> Option<(Identity, u64)> {
    match child {
        Child::Branch(tree) => {
            tree.inode.as_ref().map(|inode| (inode.identity.1, tree.totals.size))
        }
        Child::Leaf(_) => None,
    }
}
