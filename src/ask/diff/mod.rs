//! The difference between two snapshots: what grew, shrank, appeared, disappeared or moved.
//!
//! A difference is a tree. Each node has its sizes before and now, and its churn ([`Change`]), by which the largest are
//! chosen: the amount by which its size changed, and for a directory the sum over everything in it and itself. So a
//! directory has at least the churn of each entry in it, just as it has at least the size of each entry. Therefore the
//! tally that finds the largest entries by size can find them by churn, too.
//!
//! Both trees are in memory until then, or of the one before only what changed. Besides them there are only a digest of
//! each directory (8 bytes), the directories that are gone, new or moved, and the changed inodes with several links, to
//! show each once.
//!
//! [`Change`]: crate::base::measure::Change

mod join;

use std::collections::HashMap;

use join::join;

use crate::base::inode::Identity;
use crate::base::{parallel, path};
use crate::tree::tally::{Limits, Top, Whole};
use crate::tree::{Child, Node, Order, Step, Traversal, Tree, UnchangedParts};

/// The difference between `before` and `now`: the entries with the largest churn, each inode once. Without limits,
/// everything that changed, under every name. If one side has several roots and the other only one, that one is
/// compared with itself. It has to be `known` what is unchanged if that is not in the tree `before`.
pub fn compare(before: Tree, now: Tree, limits: Option<Limits>, known: Option<Unchanged>) -> Tree {
    let (before, now) = match (before.root().is_total(), now.root().is_total()) {
        (true, false) => (before, now.below_total()),
        (false, true) => (before.below_total(), now),
        _ => (before, now),
    };
    let (root, view) = (Sides { before: Some(before.root()), now: Some(now.root()) }, now.view());
    let unchanged = known.unwrap_or_else(|| Unchanged::new(&before, &now));
    let moves = Moves::find(root, &unchanged);
    let known = (&moves, &unchanged);
    let changes = match limits {
        None => join(root, known, Whole::default(), Limits::NONE, false),
        Some(limits) => {
            // Unchanged entries have no line.
            let limits = Limits { min_size: limits.min_size.max(1), ..limits };
            join(root, known, Top::new(view, limits), limits, true)
        }
    };
    parallel::discard((before, now, unchanged));
    changes.in_view(view)
}

/// One entry in both trees, or in one.
#[derive(Clone, Copy, Debug)]
struct Sides<'a> {
    /// The entry before.
    before: Option<Child<'a>>,
    /// The entry now.
    now: Option<Child<'a>>,
}

impl<'a> Sides<'a> {
    /// Whether it is a directory on either side.
    fn is_directory(&self) -> bool {
        [self.before, self.now].iter().flatten().any(Child::is_directory)
    }

    /// About how much there is to compare: how many directories it and all below it were before; or are now, if it is
    /// new.
    fn directories(&self) -> u64 {
        1 + self.before.or(self.now).map_or(0, |it| it.directories_below())
    }

    /// Whether a directory is in the place of something else, or the other way round: one is gone, the other is new.
    fn are_two(&self) -> bool {
        self.before.zip(self.now).is_some_and(|(was, is)| was.is_directory() != is.is_directory())
    }

    /// Only the sides that are no directory.
    fn files(self) -> Sides<'a> {
        let [before, now] =
            [self.before, self.now].map(|side| side.filter(|child| !child.is_directory()));
        Sides { before, now }
    }

    /// Its size before, and now.
    fn sizes(&self) -> (Option<u64>, Option<u64>) {
        (self.before.map(|child| child.size()), self.now.map(|child| child.size()))
    }

    /// The entries `before` and `now` of two directories, by name, joined.
    fn joined([mut before, mut now]: [Vec<Child<'a>>; 2]) -> Vec<Sides<'a>> {
        let mut pairs = Vec::with_capacity(before.len().max(now.len()));
        loop {
            let names = (before.last().map(Child::name), now.last().map(Child::name));
            let (is_before, is_now) = match names {
                (None, None) => break,
                (Some(was), Some(is)) => (was >= is, is >= was),
                (was, is) => (was.is_some(), is.is_some()),
            };
            let before = if is_before { before.pop() } else { None };
            pairs.push(Sides { before, now: if is_now { now.pop() } else { None } });
        }
        pairs.reverse();
        pairs
    }
}

// Finds unchanged directories by their digests.
//
// Most directories are the same in both snapshots. Comparing all their entries took a third of the time of the walk.
// If only one snapshot has a directory's own size, the digests differ, and the entries are compared.

/// What is known of both trees.
#[derive(Debug)]
pub enum Unchanged {
    /// The digests of all directories before and now ([`Tree::digests`]).
    Digests(Vec<u64>, Vec<u64>),
    /// What is unchanged, which the tree before lacks.
    Parts(UnchangedParts),
}

impl Unchanged {
    /// By the digests of two whole trees.
    pub fn new(before: &Tree, now: &Tree) -> Self {
        let [before, now] = [before, now].map(|tree| tree.digests(Some(tree.view())));
        Self::Digests(before, now)
    }

    /// The entries of two directories, joined by name. Those that are known to be unchanged may be missing.
    fn children<'a>(&'a self, Sides { before, now }: Sides<'a>) -> Vec<Sides<'a>> {
        let known = match (self, before, now) {
            (Self::Parts(parts), Some(before), Some(now)) => parts.others(before, now),
            _ => None,
        };
        Sides::joined(known.unwrap_or_else(|| {
            [before, now].map(|side| side.map_or_else(Vec::new, |it| it.children(Order::Name)))
        }))
    }

    /// Those of them that are a directory on at least one side. Most entries are not, and are examined only where that
    /// is needed.
    fn directories<'a>(&'a self, sides: Sides<'a>) -> Vec<Sides<'a>> {
        if let Self::Digests(..) = self {
            let found = Sides::joined([sides.before, sides.now].map(|side| {
                let mut found: Vec<_> = side.into_iter().flat_map(Child::directories).collect();
                found.sort_unstable_by_key(Child::name);
                found
            }));
            if found.iter().all(|sides| sides.before.is_some() == sides.now.is_some()) {
                return found;
            }
        }
        // On the other side a file may have the name of one.
        self.children(sides).into_iter().filter(Sides::is_directory).collect()
    }

    /// Whether `sides` is a directory that is on both sides, with the same names and sizes below it.
    fn has(&self, sides: &Sides<'_>) -> bool {
        match self {
            Self::Digests(before, now) => {
                let before = digest(sides.before, before);
                before.is_some() && before == digest(sides.now, now)
            }
            // What is unchanged is not among the children.
            Self::Parts(_) => false,
        }
    }
}

fn digest(child: Option<Child<'_>>, digests: &[u64]) -> Option<u64> {
    digests.get(child?.id()?.index()).copied()
}

// Directories that were moved: gone from one place and new in another, with the same inode. They are known only if
// both snapshots have the inodes of directories, for which the earlier one needs details.
//
// The inode number alone is weak evidence, because ext4 reuses that of a deleted directory at once. So the directory
// must also have the same names in it, the same total, and, if both snapshots have times, the same time of last
// modification, which a move does not change. In case of doubt, one directory is gone and the other is new.

/// Each moved directory, as it was before, by inode. No path is kept: in a deep tree, those of all directories would take
/// memory that grows with the square of the depth.
#[derive(Debug, Default)]
struct Moves<'a> {
    origins: HashMap<Identity, Child<'a>>,
}

impl<'a> Moves<'a> {
    /// Finds moved directories, if the snapshots contain inodes.
    fn find(root: Sides<'a>, unchanged: &'a Unchanged) -> Self {
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
    fn is_moved(&self, sides: &Sides<'_>) -> bool {
        !self.origins.is_empty()
            && match (sides.before, sides.now) {
                (Some(child), None) | (None, Some(child)) => self.of(child).is_some(),
                _ => false,
            }
    }

    /// Where the directory at `sides` was before, as a path below the root, if it was moved.
    fn origin(&self, sides: &Sides<'_>) -> Option<Vec<u8>> {
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
