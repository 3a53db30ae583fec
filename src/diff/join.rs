//! Joins two trees, name by name, without recursion.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::diff::{Diff, Sides};
use crate::inode::{Identity, Links};
use crate::measure::Figures;
use crate::tally::{Limits, Show, Top};
use crate::total::{Replay, Shown};
use crate::tree::{Child, Inode, Named, Node, Step, Sums, Traversal, Tree};

/// A directory that is open.
struct OpenPair<'a> {
    sides: Sides<'a>,
    /// Its churn so far.
    churn: Churn,
}

/// A churn.
#[derive(Clone, Copy, Default)]
struct Churn {
    size: u64,
    /// How many entries changed.
    entries: u64,
}

/// Numbers that stand for changed inodes with several links.
#[derive(Default)]
struct ChangedInodes(HashMap<(Option<Identity>, Option<Identity>, u64), u64, RandomState>);

/// The entries with the largest churn, which is their size in the tree. If `is_each_once`, an inode has one line.
pub(super) fn largest(changes: &Diff, limits: Limits, is_each_once: bool) -> Tree {
    let (root, Diff { moves, unchanged, .. }) = (changes.root(), changes);
    let mut inodes = is_each_once.then(ChangedInodes::default);
    let mut add_leaf = |replay: &mut Replay<Top>, sides, churn: Churn| {
        let inode = inodes.as_mut().and_then(|inodes| inodes.inode(sides, churn.size));
        replay.leaf(&Node { inode, ..node(sides, churn) }, true);
    };
    let root_depth = changes.now.root_depth();
    let mut replay = Replay::new(Top::new(changes.now.view(), limits), root_depth);
    let mut traversal = Traversal::new(root);
    let mut root_churn = Churn::default();
    while let Some(step) = traversal.next() {
        let churn = match step {
            // Only roots and changes are shown.
            Step::Node(sides) if traversal.depth() > root_depth && unchanged.has(&sides) => {
                continue;
            }
            Step::Node(sides)
                if traversal.depth() == 0 || sides.is_directory() && !moves.is_moved(&sides) =>
            {
                // A list of files has no line for the directory that was, or is now, in the place of a file.
                if limits.show == Show::Files && sides.are_two() {
                    let file = sides.files();
                    add_leaf(&mut replay, file, Churn::of(own_churn(file)));
                }
                replay.open();
                traversal.enter(
                    OpenPair { sides, churn: Churn::of(own_churn(sides)) },
                    sides.children(),
                );
                continue;
            }
            Step::Node(sides) => {
                let churn = Churn::of(own_churn(sides).max(saturated_change(sides)));
                match () {
                    // It is shown at its new place.
                    () if moves.is_moved(&sides) && sides.now.is_none() => {}
                    () if sides.is_directory() => {
                        replay.open();
                        replay.close(&node(sides, churn), Shown::Always);
                    }
                    () => add_leaf(&mut replay, sides, churn),
                }
                churn
            }
            Step::End(OpenPair { sides, churn }) => {
                // Changes that are in the totals but not in the sizes of kept entries.
                let churn = Churn { size: churn.size.max(saturated_change(sides)), ..churn };
                if traversal.depth() > 0 {
                    replay.close(&node(sides, churn), Shown::Always);
                }
                churn
            }
        };
        match traversal.innermost() {
            Some(OpenPair { churn: above, .. }) => {
                above.size = above.size.saturating_add(churn.size);
                above.entries += churn.entries;
            }
            None => root_churn = churn,
        }
    }
    replay.finish(&node(root, root_churn))
}

/// The churn of its own size; of a directory, without its content, if both sides know it.
fn own_churn(sides: Sides<'_>) -> u64 {
    let own = |child: Option<Child<'_>>| match child {
        Some(child) if child.is_directory() => child.own(),
        child => Some(child.map_or(0, |child| child.size())),
    };
    let (was, is) = (own(sides.before), own(sides.now));
    if sides.are_two() {
        return was.unwrap_or(0).saturating_add(is.unwrap_or(0));
    }
    was.zip(is).map_or(0, |(was, is)| was.abs_diff(is))
}

fn saturated_change(sides: Sides<'_>) -> u64 {
    u64::try_from(sides.change().unsigned_abs()).unwrap_or(u64::MAX)
}

impl ChangedInodes {
    /// An inode that stands for the change of this one; none if no other link changed in the same way. The number of a
    /// deleted inode may be reused, so an inode that is gone and one that is new are different even with the same
    /// number. Links with different churn cannot share a line.
    fn inode(&mut self, sides: Sides<'_>, churn: u64) -> Option<Inode> {
        let linked = |child: Child<'_>| child.inode().and_then(|inode| inode.linked());
        let (before, now) = (sides.before.map(linked), sides.now.map(linked));
        // A file without other links is alone, whatever it was or will be.
        if churn == 0 || before == Some(None) || now == Some(None) {
            return None;
        }
        let (before, now) = (before.flatten(), now.flatten());
        let next = self.0.len() as u64;
        let number = *self.0.entry((before, now, churn)).or_insert(next);
        let identity = Identity { number, ..Identity::default() };
        Some(Inode { identity, links: Links::Unknown, details: None })
    }
}

impl Named for Sides<'_> {
    fn name(&self) -> &[u8] {
        self.now.as_ref().or(self.before.as_ref()).map_or(b"", Named::name)
    }
}

impl Churn {
    /// The churn of one entry; 0 entries if it did not change.
    fn of(size: u64) -> Self {
        Self { size, entries: (size > 0).into() }
    }
}

/// The node as it is now, or as it was, with its churn as its size; a directory if it is one on either side.
fn node<'a>(sides: Sides<'a>, Churn { size, entries }: Churn) -> Node<'a> {
    let Some(child) = sides.now.or(sides.before) else { return Node::default() };
    let churn = |size| Figures::default().with(child.view().measure, size);
    let sums = Sums { all: churn(size), entries, ..Sums::default() };
    let own = Some(own_churn(sides)).filter(|own| *own > 0).map(churn);
    let either = [sides.now, sides.before].into_iter().flatten();
    let child = either.into_iter().find(Child::is_directory).unwrap_or(child);
    Node { name: child.name(), mode: child.mode(), own, sums, ..Node::default() }
}
