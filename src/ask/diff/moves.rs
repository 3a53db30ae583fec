//! Directories that were moved: gone from one place and new in another, with the same inode. They are known only if
//! both snapshots have the inodes of directories, for which the earlier one needs details.
//!
//! The inode number alone is weak evidence, because ext4 reuses that of a deleted directory at once. So the directory
//! must also have the same names in it, the same total, and, if both snapshots have times, the same time of last
//! modification, which a move does not change. In case of doubt, one directory is gone and the other is new.

use std::collections::HashMap;

use crate::ask::diff::{Sides, Unchanged};
use crate::base::inode::Identity;
use crate::base::path;
use crate::tree::{Child, Node, Step, Traversal};

/// Each moved directory, as it was before, by inode. No path is kept: in a deep tree, those of all directories would take
/// memory that grows with the square of the depth.
#[derive(Debug, Default)]
pub(super) struct Moves<'a> {
    origins: HashMap<Identity, Child<'a>>,
}

impl<'a> Moves<'a> {
    /// Finds moved directories, if the snapshots contain inodes.
    pub(super) fn find(root: Sides<'a>, unchanged: &'a Unchanged) -> Self {
        for side in [root.before, root.now].into_iter().flatten() {
            if !side.directories().any(|it| it.inode().is_some()) {
                return Self::default();
            }
        }
        let (mut gone, mut new) = (HashMap::new(), HashMap::new());
        let mut traversal = Traversal::inside(Vec::new(), (), unchanged.directories(root));
        while let Some(step) = traversal.next() {
            let sides = match step {
                Step::Node(sides) if sides.is_directory() && !unchanged.has(&sides) => sides,
                Step::Node(_) | Step::End(()) => continue,
            };
            match (sides.before, sides.now) {
                (Some(child), None) => gone.extend(identity(child).zip(Some(child))),
                (None, Some(child)) => new.extend(identity(child).zip(Some(child))),
                _ => {}
            }
            traversal.enter((), unchanged.directories(sides));
        }
        gone.retain(|identity, was| {
            new.get(identity).is_some_and(|is| is_same(*was, *is, unchanged))
        });
        Self { origins: gone }
    }

    /// Whether an entry on one side only is a directory that was moved.
    pub(super) fn is_moved(&self, sides: &Sides<'_>) -> bool {
        !self.origins.is_empty()
            && match (sides.before, sides.now) {
                (Some(child), None) | (None, Some(child)) => self.of(child).is_some(),
                _ => false,
            }
    }

    /// Where the directory at `sides` was before, as a path below the root, if it was moved.
    pub(super) fn origin(&self, sides: &Sides<'_>) -> Option<Vec<u8>> {
        match (sides.before, sides.now) {
            (None, Some(child)) => {
                self.of(child).map(|was| path::join_all(was.names().into_iter().skip(1)))
            }
            _ => None,
        }
    }

    fn of(&self, child: Child<'_>) -> Option<Child<'a>> {
        self.origins.get(&identity(child)?).copied()
    }
}

/// Its inode, if it is known.
fn identity(child: Child<'_>) -> Option<Identity> {
    child.inode().map(|inode| inode.identity.on_any_mount())
}

/// Whether a directory that `was` has the content of one that `is`, with the same inode number. An empty directory is
/// no evidence without times.
fn is_same<'a>(was: Child<'a>, is: Child<'a>, unchanged: &'a Unchanged) -> bool {
    let [before, now] = [was, is].map(|child| child.node());
    let times = modified(&before).zip(modified(&now));
    let has_evidence = times.map_or(before.sums.entries > 1, |(was, is)| was == is);
    let sides = Sides { before: Some(was), now: Some(is) };
    let mut children = unchanged.children(sides).into_iter();
    has_evidence
        && (was.size(), before.sums.entries) == (is.size(), now.sums.entries)
        && children.all(|Sides { before, now }| {
            before.zip(now).is_some_and(|(was, is)| {
                let numbers = identity(was).zip(identity(is));
                was.mode().kind() == is.mode().kind() && numbers.is_none_or(|(was, is)| was == is)
            })
        })
}

/// When it was last modified, if its inode's details are known.
fn modified(node: &Node<'_>) -> Option<i64> {
    Some(node.inode?.details?.modified)
}
