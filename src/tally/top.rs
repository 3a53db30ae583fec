//! The N largest nodes of a tree, exactly, in memory that grows with N and not with the tree.
//!
//! A directory is never smaller than what is in it, so the N largest nodes are closed under
//! ancestors, and a directory on its way up need carry no more than the N largest below it: what
//! is cut here could not have come back further up. Order is by size, largest first, then by path,
//! name by name as bytes, a directory before what is in it. It is a total order, so the result
//! does not depend on when what was cut.
//!
//! One inode takes one line, under the link that sorts first. Dropping a later link when two
//! carriers meet leaves the result exact: whatever that link had crowded out of its carrier is no
//! larger than it, and so no larger than any of the N that remain.
//!
//! With `Show::Files` the directories that lead to a file are carried too, and take no line; there
//! memory grows with N times depth.
//!
//! Roots that were asked for by name take a line however small they are, and the largest of all else the other
//! lines. How many roots there are is known in the end only; until then N others are kept beside them.
//!
//! `floor` is a size that N nodes of some carrier have reached: nothing smaller can be among the N
//! largest of the whole, so a smaller entry is passed over before its name is copied.

use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use crate::tally::carrier::{Candidate, Carrier};
use crate::tally::{Closed, Entry, Tally};
use crate::tree::{Totals, Tree};

/// What may be kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many nodes below the root.
    pub lines: usize,
    /// How many levels below the root.
    pub depth: u32,
    /// The smallest size, in the measure's unit.
    pub min_size: u64,
    /// Which kinds.
    pub show: Show,
    /// Of several roots, each takes a line however small it is, if there are no more than so many. Not in a list
    /// of files.
    pub roots: usize,
}

/// Which kinds of nodes count as lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Directories and what is in them.
    #[default]
    Everything,
    /// Only directories.
    Directories,
    /// Only what is not a directory, as a flat list of paths below the root.
    Files,
}

/// Keeps the N largest.
#[derive(Debug)]
pub struct Top {
    limits: Limits,
    /// Only ever raised, and only ever to a proven bound. A stale value lets more through, never
    /// less: relaxed ordering is enough.
    floor: AtomicU64,
}

impl Limits {
    /// No limit at all.
    pub const NONE: Limits = Limits {
        lines: usize::MAX,
        depth: u32::MAX,
        min_size: 0,
        show: Show::Everything,
        roots: 0,
    };
}

impl Top {
    /// Keeps what `limits` admit.
    pub fn new(limits: Limits) -> Self {
        Self { limits, floor: AtomicU64::new(limits.min_size) }
    }

    /// Makes room when a part has grown to twice what it may keep, so that a cut is paid for by as
    /// many additions.
    fn make_room(&self, part: &mut Carrier) {
        const SLACK: usize = 16;
        let roots = if part.keeps_roots(&self.limits) { part.roots } else { 0 };
        let kept = self.limits.lines.saturating_add(roots);
        if part.lines() > kept.saturating_mul(2).saturating_add(SLACK) {
            part.cut(&self.limits, false);
            if let Some(size) = part.last_size() {
                self.floor.fetch_max(size, Ordering::Relaxed);
            }
        }
    }
}

impl Tally for Top {
    type Part = Carrier;
    type Report = Tree;

    #[inline]
    fn leaf(&self, part: &mut Carrier, entry: &Entry<'_>) {
        let is_root = entry.depth == 0;
        part.roots += usize::from(is_root);
        let is_too_small =
            entry.size < self.floor.load(Ordering::Relaxed) || part.is_past_last(entry);
        if is_too_small && !(is_root && part.keeps_roots(&self.limits))
            || entry.depth > self.limits.depth
            || self.limits.show == Show::Directories
        {
            return;
        }
        part.add(Candidate {
            name: SmallVec::from_slice(entry.name),
            mode: entry.stat.mode,
            own: None,
            totals: Totals { beside: entry.beside, ..Totals::of(entry.size) },
            identity: entry.identity,
            is_line: true,
            is_root,
            parent: None,
        });
        self.make_room(part);
    }

    fn merge(&self, part: &mut Carrier, other: Carrier) {
        part.append(other);
        self.make_room(part);
    }

    fn close(&self, parent: &mut Carrier, directory: &Closed<'_>, mut part: Carrier) {
        let is_line = self.limits.show != Show::Files;
        let is_root = directory.depth == 0;
        parent.roots += usize::from(is_root);
        let is_large = directory.totals.size >= self.floor.load(Ordering::Relaxed);
        let is_admitted = directory.depth <= self.limits.depth
            && (is_large || is_root && parent.keeps_roots(&self.limits));
        // Below a directory that is not admitted, nothing is; one that takes no line is kept for
        // the lines below it.
        if !is_admitted || !(is_line || part.lines() > 0) {
            return;
        }
        part.add_above(Candidate {
            name: SmallVec::from_slice(directory.name),
            mode: directory.stat.mode,
            own: directory.own,
            totals: directory.totals,
            identity: None,
            is_line,
            is_root,
            parent: None,
        });
        parent.append(part);
        self.make_room(parent);
    }

    fn finish(&self, root: &Closed<'_>, mut part: Carrier) -> Tree {
        part.cut(&self.limits, true);
        match self.limits.show {
            Show::Files => part.into_list(root),
            Show::Everything | Show::Directories => part.into_tree(root),
        }
    }
}
