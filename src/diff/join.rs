//! Two trees side by side, name by name, without recursion.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::diff::Sides;
use crate::diff::moves::Moves;
use crate::diff::unchanged::Unchanged;
use crate::sys::MountedIdentity;
use crate::tally::Tally;
use crate::total::Replay;
use crate::tree::{Child, Inode, Named, Node, Step, Totals, Traversal};

/// A directory on its way.
struct OpenPair<'a> {
    sides: Sides<'a>,
    /// What it comes to by now.
    churn: Churn,
}

/// What changed.
#[derive(Clone, Copy, Default)]
pub(super) struct Churn {
    size: u64,
    /// How many entries it is.
    entries: u64,
}

/// Numbers for what became of inodes with several links.
#[derive(Default)]
struct ChangedInodes(
    HashMap<(Option<MountedIdentity>, Option<MountedIdentity>, u64), u64, RandomState>,
);

/// Feeds `tally` with what is at `root` and below, with its churn as its size. Of an inode, the tally knows
/// several links for one if `is_each_once`.
pub(super) fn feed<T: Tally>(
    root: Sides<'_>,
    moves: &Moves,
    unchanged: &Unchanged,
    tally: T,
    is_each_once: bool,
) -> T::Report {
    let mut inodes = ChangedInodes::default();
    let is_above_roots = |child: Child<'_>| child.name().is_empty();
    let mut replay = Replay::new(tally, root.now.is_some_and(is_above_roots));
    let mut traversal = Traversal::new(root);
    let mut root_churn = Churn::default();
    while let Some(step) = traversal.next() {
        let churn = match step {
            // Whoever shows what changed has no use for the rest.
            Step::Node(sides) if traversal.depth() > 0 && unchanged.has(&sides) => continue,
            Step::Node(sides)
                if traversal.depth() == 0 || sides.is_directory() && !moves.is_moved(&sides) =>
            {
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
                    // It is shown where it is now.
                    () if moves.is_moved(&sides) && sides.now.is_none() => {}
                    () if sides.is_directory() => {
                        replay.open();
                        replay.close(&node(sides, churn), true, true);
                    }
                    () if is_each_once => {
                        let inode = inodes.inode(sides, churn.size);
                        replay.leaf(&Node { inode, ..node(sides, churn) }, true);
                    }
                    () => replay.leaf(&node(sides, churn), true),
                }
                churn
            }
            Step::End(OpenPair { sides, churn }) => {
                // What is not in either tree's own weights is in their totals.
                let churn = Churn { size: churn.size.max(saturated_change(sides)), ..churn };
                if traversal.depth() > 0 {
                    replay.close(&node(sides, churn), true, true);
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

/// What its own weight changed by: of a directory, without what is in it, if both sides know it.
fn own_churn(sides: Sides<'_>) -> u64 {
    let own = |child: Option<Child<'_>>| match child {
        Some(child) if child.is_directory() => child.node().own,
        child => Some(child.map_or(0, |child| child.size())),
    };
    own(sides.before).zip(own(sides.now)).map_or(0, |(was, is)| was.abs_diff(is))
}

fn saturated_change(sides: Sides<'_>) -> u64 {
    u64::try_from(sides.change().unsigned_abs()).unwrap_or(u64::MAX)
}

impl ChangedInodes {
    /// An inode that stands for what became of this one. A number is used anew once its inode is gone, so
    /// what is gone and what is new under one number are two; and what differs in churn cannot
    /// share a line.
    fn inode(&mut self, sides: Sides<'_>, churn: u64) -> Option<Inode> {
        let linked = |child: Option<Child<'_>>| child?.inode()?.linked();
        let (before, now) = (linked(sides.before), linked(sides.now));
        if churn == 0 || before.or(now).is_none() {
            return None;
        }
        let next = self.0.len() as u64;
        let number = *self.0.entry((before, now, churn)).or_insert(next);
        Some(Inode { identity: (0, (0, number)), links: Some(u32::MAX), details: None })
    }
}

impl Named for Sides<'_> {
    fn name(&self) -> &[u8] {
        self.now.as_ref().or(self.before.as_ref()).map_or(b"", Named::name)
    }
}

impl Churn {
    /// One entry's, which is none if nothing changed.
    fn of(size: u64) -> Self {
        Self { size, entries: (size > 0).into() }
    }

    /// Whether nothing changed of a directory itself, nor of what it comes to.
    pub(super) fn is_none_of(sides: Sides<'_>) -> bool {
        own_churn(sides) == 0 && sides.change() == 0
    }
}

/// As it is now, or was; with its churn as its size.
fn node<'a>(sides: Sides<'a>, Churn { size, entries }: Churn) -> Node<'a> {
    let totals = Totals { size, entries, ..Totals::default() };
    let own = Some(own_churn(sides)).filter(|own| *own > 0);
    let child = sides.now.or(sides.before);
    let (name, mode) = child.map_or_else(Default::default, |child| (child.name(), child.mode()));
    Node { name, mode, own, totals, inode: None }
}
