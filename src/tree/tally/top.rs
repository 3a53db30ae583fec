//! The N largest nodes of a tree, exactly, in memory that grows with N and not with the tree.
//!
//! A directory is never smaller than anything in it. So the ancestors of the N largest nodes are among them, and a
//! directory need hand to its parent only the N largest nodes below it: a node that is cut here could not be among
//! the N largest further up. The order is by rank, largest first, then by path, name by name as bytes, a directory
//! before its content. It is a total order, so the result does not depend on when nodes are cut.
//!
//! One inode has one line, under the link that sorts first. If two parts are merged, dropping the later link keeps
//! the result exact: the nodes that were cut from its part because of it are no larger than it, and so no larger
//! than any of the N that remain.
//!
//! With `Show::Files`, the directories that lead to a file are handed up without a line. There memory grows with N
//! times the depth.
//!
//! Roots that were given have a line however small they are, and the largest of all other nodes have the other lines.
//! The number of roots is known only at the end, so until then N others are kept besides them.
//!
//! `floor` is a rank that N nodes of some part have reached. Nothing smaller can be among the N largest, so a
//! smaller entry is skipped before its name is copied.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::base::measure::View;
use crate::tree::Tree;
use crate::tree::tally::candidates::{Candidate, Candidates};
use crate::tree::tally::{Entry, Tally};

/// Limits for what is kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many nodes below the root.
    pub lines: usize,
    /// How many levels below the root.
    pub depth: u32,
    /// The smallest size, in the unit of what the view measures; in a comparison, the smallest churn.
    pub min_size: u64,
    /// Which kinds.
    pub show: Show,
    /// If there are several roots, and no more than this, each has a line however small it is; but not in a list of
    /// files.
    pub roots: usize,
    /// In a comparison, whether directories that are new or gone have lines for what is in them.
    pub opens_new: bool,
}

/// Which kinds of nodes count as lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Directories and what is in them.
    #[default]
    Everything,
    /// Only directories.
    Directories,
    /// Only entries that are not directories, as a flat list of paths below the root.
    Files,
}

/// Keeps the N largest.
#[derive(Clone, Debug)]
pub struct Top {
    view: View,
    limits: Limits,
    /// It is only raised, and only to a proven limit. A stale value lets through more, never less, so relaxed
    /// ordering is enough.
    floor: Arc<AtomicI64>,
}

impl Limits {
    /// No limit at all.
    pub const NONE: Limits = Limits {
        lines: usize::MAX,
        depth: u32::MAX,
        min_size: 0,
        show: Show::Everything,
        roots: 0,
        opens_new: true,
    };

    /// Whether they limit anything.
    pub fn are_any(&self) -> bool {
        (self.lines, self.depth, self.min_size) != (usize::MAX, u32::MAX, 0)
    }
}

impl Top {
    /// Keeps what `limits` admit. The largest are those that rank highest in `view`.
    pub fn new(view: View, limits: Limits) -> Self {
        Self { view, limits, floor: Arc::new(AtomicI64::new(i64::MIN)) }
    }

    /// Whether an entry of this `rank` is too small for a line.
    #[inline]
    fn is_too_small(&self, entry: &Entry<'_>, rank: i128) -> bool {
        rank < self.floor.load(Ordering::Relaxed).into()
            || self.view.weight(&entry.sums.all, entry.change) < self.limits.min_size
    }

    /// Cuts a part that has grown to twice what it may keep, so that as many additions pay for each cut.
    fn make_room(&self, part: &mut Candidates) {
        const SLACK: usize = 16;
        let roots = if part.keeps_roots(&self.limits) { part.roots } else { 0 };
        let kept = self.limits.lines.saturating_add(roots);
        if part.lines > kept.saturating_mul(2).saturating_add(SLACK) {
            part.cut(&self.limits, false);
            if let Some((rank, _)) = &part.last {
                // A lower floor lets through more, never less.
                let floor = (*rank).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                self.floor.fetch_max(floor, Ordering::Relaxed);
            }
        }
    }
}

impl Tally for Top {
    type Part = Candidates;
    type Answer = Tree;

    fn begin_part(&self, so_far: &Candidates) -> Candidates {
        so_far.begin_part()
    }

    #[inline]
    fn leaf(&self, part: &mut Candidates, entry: &Entry<'_>) {
        let is_root = entry.depth == 0;
        part.roots += usize::from(is_root);
        let rank = self.view.rank(&entry.sums.all, entry.change);
        let is_too_small = self.is_too_small(entry, rank) || part.is_past_last(rank, entry.name);
        if is_too_small && !(is_root && part.keeps_roots(&self.limits))
            || entry.depth > self.limits.depth
            || self.limits.show == Show::Directories
        {
            return;
        }
        part.add(Candidate::new(entry, self.view, true));
        self.make_room(part);
    }

    fn merge(&self, part: &mut Candidates, other: Candidates) {
        part.append(other);
        self.make_room(part);
    }

    fn close(&self, parent: &mut Candidates, directory: &Entry<'_>, mut part: Candidates) {
        let is_line = self.limits.show != Show::Files;
        let is_root = directory.depth == 0;
        parent.roots += usize::from(is_root);
        let rank = self.view.rank(&directory.sums.all, directory.change);
        let is_admitted = directory.depth <= self.limits.depth
            && (!self.is_too_small(directory, rank) || is_root && parent.keeps_roots(&self.limits));
        // Nothing below a directory that is not admitted can be admitted. A directory without a line of its own is
        // kept for the lines below it.
        if !is_admitted || !(is_line || part.lines > 0) {
            return;
        }
        part.add_above(Candidate::new(directory, self.view, is_line));
        parent.append(part);
        self.make_room(parent);
    }

    fn finish(&self, root: &Entry<'_>, mut part: Candidates) -> Tree {
        part.cut(&self.limits, true);
        let tree = match self.limits.show {
            Show::Files => part.into_list(root),
            Show::Everything | Show::Directories => part.into_tree(root),
        };
        tree.in_view(self.view)
    }
}
