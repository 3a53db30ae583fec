//! Joins two trees, name by name, without recursion.

use std::collections::HashMap;
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;

use crate::ask::diff::{Moves, Sides, Unchanged};
use crate::base::inode::{Identity, Links};
use crate::base::measure::Change;
use crate::base::parallel::{self, Helpers};
use crate::tree::tally::{Limits, Show, Tally};
use crate::tree::total::{AnyReplay, Replay, Shown};
use crate::tree::{Child, Inode, Named, Node, Step, Sums, Traversal};

/// A thread gets about so many directories at a time.
const SHARE: u64 = 1024;

/// What all threads share.
struct JoinContext<'a> {
    moves: &'a Moves<'a>,
    unchanged: &'a Unchanged,
    limits: Limits,
    root_depth: usize,
    /// If each inode has one line: those so far. If not, the tally gets no root that did not change.
    inodes: Option<ChangedInodes>,
}

/// A directory that is open.
struct OpenPair<'a, T: Tally> {
    sides: Sides<'a>,
    /// Its churn so far.
    churn: Churn,
    /// Whether nothing in it has a line, except what was moved there.
    is_closed: bool,
    /// Parts of it that other threads have been given.
    given: Vec<Receiver<(Feed<'a, T>, Churn)>>,
}

/// A churn, and whether something was moved there.
#[derive(Clone, Copy, Default)]
struct Churn {
    size: u64,
    /// How many entries changed.
    entries: u64,
    /// Whether a directory was moved there.
    has_moved: bool,
}

/// Numbers that stand for changed inodes with several links.
#[derive(Default)]
struct ChangedInodes(Mutex<HashMap<ChangedInode, u64, RandomState>>);

/// Its identity before and now, and its churn.
type ChangedInode = (Option<Identity>, Option<Identity>, u64);

/// Feeds a tally with the changes.
struct Feed<'a, T: Tally> {
    context: &'a JoinContext<'a>,
    replay: Replay<T>,
}

/// What `tally` keeps of the difference, within `limits`. If `is_each_once`, it knows which changes are of
/// the same inode.
pub(super) fn join<T: Tally + Clone>(
    root: Sides<'_>,
    (moves, unchanged): (&Moves<'_>, &Unchanged),
    tally: T,
    limits: Limits,
    is_each_once: bool,
) -> T::Answer {
    let root_depth = root.now.is_some_and(|now| now.is_total()).into();
    let inodes = is_each_once.then(ChangedInodes::default);
    let context = JoinContext { moves, unchanged, limits, root_depth, inodes };
    let mut feed = Feed { context: &context, replay: Replay::new(tally, root_depth, None) };
    let traversal = Traversal::new(root);
    // With less than a share, there is nothing to give away.
    let threads = if root.directories() > SHARE { parallel::cores() } else { 0 };
    let churn = parallel::with_helpers(threads, |helpers| feed.join(traversal, Some(helpers)));
    let size = churn.size.max(saturated_change(root));
    feed.replay.finish(&node(root, None, Churn { size, ..churn }))
}

impl<'a, T: Tally + Clone> Feed<'a, T> {
    /// Joins all that comes in a `traversal`, of which `helpers` may do a part. Returns the churn of that in which it
    /// began.
    fn join(
        &mut self,
        mut traversal: Traversal<Sides<'a>, OpenPair<'a, T>>,
        helpers: Option<&Helpers<'_, 'a>>,
    ) -> Churn {
        let JoinContext { moves, unchanged, limits, root_depth, .. } = *self.context;
        while let Some(step) = traversal.next() {
            let is_inside = matches!(traversal.innermost(), Some(OpenPair { is_closed: true, .. }));
            let churn = match step {
                Step::Node(sides)
                    if traversal.depth() == 0
                        || sides.is_directory() && !moves.is_moved(&sides) =>
                {
                    // A list of files has no line for the directory that was, or is now, in the place of a file.
                    if limits.show == Show::Files && sides.are_two() {
                        let file = sides.files();
                        self.leaf(file, Churn::of(own_churn(file)));
                    }
                    self.replay.open();
                    let is_one_sided = sides.before.is_none() || sides.now.is_none();
                    let is_closed =
                        is_inside || is_one_sided && traversal.depth() > 0 && !limits.opens_new;
                    let churn = Churn::of(own_churn(sides));
                    let mut children = unchanged.children(sides);
                    let mut open = OpenPair { sides, churn, is_closed, given: Vec::new() };
                    // Only roots and changes are shown.
                    if traversal.depth() >= root_depth {
                        children.retain(|sides| is_changed(sides, unchanged));
                        if let Some(helpers) = helpers {
                            open.given = self.give(&open, &mut children, helpers);
                        }
                    }
                    traversal.enter(open, children);
                    continue;
                }
                Step::Node(sides) => {
                    let mut churn = Churn::of(own_churn(sides).max(saturated_change(sides)));
                    match () {
                        // It is shown at its new place.
                        () if moves.is_moved(&sides) && sides.now.is_none() => {}
                        () if sides.is_directory() => {
                            self.replay.open();
                            self.close(sides, churn, true);
                            churn.has_moved = true;
                        }
                        () if is_inside => {}
                        () => self.leaf(sides, churn),
                    }
                    churn
                }
                Step::End(OpenPair { sides, mut churn, given, .. }) => {
                    // If a thread panics, so does the one that waits for all.
                    for (part, below) in given.into_iter().filter_map(|part| part.recv().ok()) {
                        self.replay.merge(part.replay);
                        churn.add(below);
                    }
                    if traversal.depth() == 0 {
                        return churn;
                    }
                    // Changes that are in the totals but not in the sizes of kept entries.
                    churn.size = churn.size.max(saturated_change(sides));
                    self.close(sides, churn, churn.has_moved || !is_inside);
                    churn
                }
            };
            if let Some(above) = traversal.innermost() {
                above.churn.add(churn);
            }
        }
        Churn::default()
    }

    /// Gives `helpers` those of the `children` of an open directory that are small.
    fn give(
        &self,
        &OpenPair { sides, is_closed, .. }: &OpenPair<'a, T>,
        children: &mut Vec<Sides<'a>>,
        helpers: &Helpers<'_, 'a>,
    ) -> Vec<Receiver<(Feed<'a, T>, Churn)>> {
        let shares = parallel::shares(children, SHARE, Sides::directories).into_iter();
        let given = shares.map(|share| {
            let mut part = Feed { context: self.context, replay: self.replay.begin_part() };
            let inside = OpenPair { sides, churn: Churn::default(), is_closed, given: Vec::new() };
            helpers.give(move || {
                let churn = part.join(Traversal::inside(Vec::new(), inside, share), None);
                (part, churn)
            })
        });
        given.collect()
    }
}

impl<T: Tally> Feed<'_, T> {
    fn leaf(&mut self, sides: Sides<'_>, churn: Churn) {
        if self.has(churn) {
            let inodes = self.context.inodes.as_ref();
            let inode = inodes.and_then(|inodes| inodes.inode(sides, churn.size));
            self.replay.leaf(&Node { inode, ..node(sides, None, churn) }, true);
        }
    }

    fn close(&mut self, sides: Sides<'_>, churn: Churn, is_shown: bool) {
        let shown = if is_shown && self.has(churn) { Shown::Always } else { Shown::Never };
        let origin = self.context.moves.origin(&sides);
        self.replay.close(&node(sides, origin.as_deref(), churn), shown);
    }

    fn has(&self, churn: Churn) -> bool {
        churn.size > 0 || self.context.inodes.is_some()
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
    fn inode(&self, sides: Sides<'_>, churn: u64) -> Option<Inode> {
        let [before, now] = [sides.before, sides.now]
            .map(|side| Some(side?.inode().and_then(|inode| inode.linked())));
        // A file without other links is alone, whatever it was or will be.
        if churn == 0 || before == Some(None) || now == Some(None) {
            return None;
        }
        let (before, now) = (before.flatten(), now.flatten());
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = numbers.len() as u64;
        let number = *numbers.entry((before, now, churn)).or_insert(next);
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
        Self { size, entries: (size > 0).into(), has_moved: false }
    }

    fn add(&mut self, other: Self) {
        self.size = self.size.saturating_add(other.size);
        self.entries += other.entries;
        self.has_moved |= other.has_moved;
    }
}

/// The node as it is now, and how it changed; a directory if it is one on either side. If it was moved, it was at this
/// `origin`.
fn node<'a>(
    sides: Sides<'a>,
    origin: Option<&'a [u8]>,
    Churn { size, entries, .. }: Churn,
) -> Node<'a> {
    let Some(child) = sides.now.or(sides.before) else { return Node::default() };
    let kind = (!child.is_group()).then(|| child.mode().kind());
    let (was, is) = sides.sizes();
    let change = Change { kind, was, is, churn: size, entries, moved_from: origin };
    let now = sides.now.map(|now| now.node()).unwrap_or_default();
    // It counts by itself if that changed.
    let own = (own_churn(sides) > 0).then(|| now.own.unwrap_or_default());
    let either = [sides.now, sides.before].into_iter().flatten();
    let child = either.into_iter().find(Child::is_directory).unwrap_or(child);
    let (name, mode, sums) = (child.name(), child.mode(), Sums::of(now.sums.all));
    Node { name, mode, own, sums, change: Some(change), ..Node::default() }
}
