//! Joins two trees, name by name, without recursion.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::diff::Sides;
use crate::diff::moves::Moves;
use crate::diff::unchanged::Unchanged;
use crate::inode::{Identity, Links};
use crate::measure::Change;
use crate::tally::{Limits, Show, Tally};
use crate::total::{AnyReplay, Replay, Shown};
use crate::tree::{Child, Inode, Named, Node, Step, Sums, Traversal, Tree};

/// A directory that is open.
struct OpenPair<'a> {
    sides: Sides<'a>,
    /// Its churn so far.
    churn: Churn,
    /// Whether nothing in it has a line, except what was moved there.
    is_closed: bool,
    /// Whether something was.
    has_moved: bool,
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

/// Feeds a tally with the changes.
struct Feed<'a, T: Tally> {
    replay: Replay<T>,
    moves: &'a Moves,
    /// If each inode has one line: those so far. If not, the tally gets no root that did not change.
    inodes: Option<ChangedInodes>,
}

/// What `tally` keeps of the difference, within `limits`. If `is_each_once`, it knows which changes are of
/// the same inode.
pub(super) fn join<'a, T: Tally>(
    root: Sides<'a>,
    (moves, unchanged): (&Moves, &'a Unchanged),
    tally: T,
    limits: Limits,
    is_each_once: bool,
) -> Tree {
    let is_list = limits.show == Show::Files;
    let root_depth = root.now.is_some_and(|now| now.is_total()).into();
    let replay = Replay::new(tally, root_depth, None);
    let mut feed = Feed { replay, moves, inodes: is_each_once.then(ChangedInodes::default) };
    let mut traversal = Traversal::new(root);
    let mut root_churn = Churn::default();
    while let Some(step) = traversal.next() {
        let is_inside = matches!(traversal.innermost(), Some(OpenPair { is_closed: true, .. }));
        let mut has_moved = false;
        let churn = match step {
            Step::Node(sides)
                if traversal.depth() == 0 || sides.is_directory() && !moves.is_moved(&sides) =>
            {
                // A list of files has no line for the directory that was, or is now, in the place of a file.
                if is_list && sides.are_two() {
                    let file = sides.files();
                    feed.leaf(file, Churn::of(own_churn(file)));
                }
                feed.replay.open();
                let is_one_sided = sides.before.is_none() || sides.now.is_none();
                let is_closed =
                    is_inside || is_one_sided && traversal.depth() > 0 && !limits.opens_new;
                let churn = Churn::of(own_churn(sides));
                let mut children = unchanged.children(sides);
                // Only roots and changes are shown.
                if traversal.depth() >= root_depth {
                    children.retain(|sides| is_changed(sides, unchanged));
                }
                traversal.enter(OpenPair { sides, churn, is_closed, has_moved }, children);
                continue;
            }
            Step::Node(sides) => {
                let churn = Churn::of(own_churn(sides).max(saturated_change(sides)));
                match () {
                    // It is shown at its new place.
                    () if moves.is_moved(&sides) && sides.now.is_none() => {}
                    () if sides.is_directory() => {
                        feed.replay.open();
                        feed.close(sides, churn, true);
                        has_moved = true;
                    }
                    () if is_inside => {}
                    () => feed.leaf(sides, churn),
                }
                churn
            }
            Step::End(OpenPair { sides, churn, has_moved: has_lines, .. }) => {
                has_moved = has_lines;
                // Changes that are in the totals but not in the sizes of kept entries.
                let churn = Churn { size: churn.size.max(saturated_change(sides)), ..churn };
                if traversal.depth() > 0 {
                    feed.close(sides, churn, has_moved || !is_inside);
                }
                churn
            }
        };
        match traversal.innermost() {
            Some(OpenPair { churn: above, has_moved: above_has, .. }) => {
                *above_has |= has_moved;
                above.size = above.size.saturating_add(churn.size);
                above.entries += churn.entries;
            }
            None => root_churn = churn,
        }
    }
    feed.replay.finish(&node(root, moves, root_churn))
}

impl<T: Tally> Feed<'_, T> {
    fn leaf(&mut self, sides: Sides<'_>, churn: Churn) {
        if self.has(churn) {
            let inode = self.inodes.as_mut().and_then(|inodes| inodes.inode(sides, churn.size));
            self.replay.leaf(&Node { inode, ..node(sides, self.moves, churn) }, true);
        }
    }

    fn close(&mut self, sides: Sides<'_>, churn: Churn, is_shown: bool) {
        let shown = if is_shown && self.has(churn) { Shown::Always } else { Shown::Never };
        self.replay.close(&node(sides, self.moves, churn), shown);
    }

    fn has(&self, churn: Churn) -> bool {
        churn.size > 0 || self.inodes.is_some()
    }
}

/// Whether there may be a line for it, or for what is in it.
fn is_changed(sides: &Sides<'_>, unchanged: &Unchanged) -> bool {
    if sides.is_directory() { !unchanged.has(sides) } else { own_churn(*sides) > 0 }
}

/// The churn of its own size; of a directory, without its content, if both sides know it.
fn own_churn(sides: Sides<'_>) -> u64 {
    let [was, is] = [sides.before, sides.now].map(|side| match side {
        Some(child) if child.is_directory() => child.own(),
        side => Some(side.map_or(0, |child| child.size())),
    });
    if sides.are_two() {
        return was.unwrap_or(0).saturating_add(is.unwrap_or(0));
    }
    was.zip(is).map_or(0, |(was, is)| was.abs_diff(is))
}

fn saturated_change(sides: Sides<'_>) -> u64 {
    let (before, now) = sides.sizes();
    before.unwrap_or(0).abs_diff(now.unwrap_or(0))
}

impl ChangedInodes {
    /// An inode that stands for the change of this one; none if no other link changed in the same way. The number of a
    /// deleted inode may be reused, so an inode that is gone and one that is new are different even with the same
    /// number. Links with different churn cannot share a line.
    fn inode(&mut self, sides: Sides<'_>, churn: u64) -> Option<Inode> {
        let [before, now] = [sides.before, sides.now]
            .map(|side| Some(side?.inode().and_then(|inode| inode.linked())));
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

/// The node as it is now, and how it changed; a directory if it is one on either side.
fn node<'a>(sides: Sides<'a>, moves: &'a Moves, Churn { size, entries }: Churn) -> Node<'a> {
    let Some(child) = sides.now.or(sides.before) else { return Node::default() };
    let kind = (!child.is_group()).then(|| child.mode().kind());
    let (was, is) = sides.sizes();
    let change = Change { kind, was, is, churn: size, entries, moved_from: moves.origin(&sides) };
    let now = sides.now.map(|now| now.node()).unwrap_or_default();
    // It counts by itself if that changed.
    let own = (own_churn(sides) > 0).then(|| now.own.unwrap_or_default());
    let either = [sides.now, sides.before].into_iter().flatten();
    let child = either.into_iter().find(Child::is_directory).unwrap_or(child);
    let (name, mode, sums) = (child.name(), child.mode(), Sums::of(now.sums.all));
    Node { name, mode, own, sums, change: Some(change), ..Node::default() }
}
