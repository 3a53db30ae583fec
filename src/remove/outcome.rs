//! The outcome of a removal, and the events during it.

use std::collections::{BTreeSet, HashMap};
use std::io;

use super::trash::Trashed;
use crate::base::inode::Identity;
use crate::sys::ExactStat;
use crate::sys::problem::{Operation, Problem};

/// The outcome for one target.
#[derive(Debug, Default)]
pub struct TargetOutcome {
    /// Where it is now.
    pub fate: Fate,
    /// The number of deleted entries, itself included.
    pub removed: u64,
    /// Whether it, or something in it, was moved and put back, which sets its time of change.
    pub is_put_back: bool,
    /// The first entries that could not be put back, at the paths where they are now, and why.
    pub left: Vec<Problem>,
    /// The first reasons why some of it is kept.
    pub problems: Vec<Problem>,
}

/// Where a target is after a removal.
#[derive(Debug, Default)]
pub enum Fate {
    /// It is deleted, with its content.
    Deleted,
    /// It is in the trash.
    Trashed(Box<Trashed>),
    /// It has been put back from the trash.
    Restored,
    /// It is in its place, and nothing of it was removed.
    #[default]
    Kept,
    /// Some of it was removed; the rest is in its place.
    Partly,
    /// It, or some of it, could not be put back, and is now at this path.
    Left(Vec<u8>),
}

/// The outcome of all targets.
#[derive(Debug, Default)]
pub struct Removed {
    /// In the order of the targets.
    pub outcomes: Vec<TargetOutcome>,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
    /// Private directories that could not be removed.
    pub left: Vec<Problem>,
    /// The paths of the directories `files` of the trash that was used. It may have been made even if nothing was moved
    /// there.
    pub trashes: BTreeSet<Vec<u8>>,
    /// The path of the log.
    pub log: Vec<u8>,
    /// Why the log is incomplete. Without its `begin` line, nothing was deleted or moved into the trash.
    pub unlogged: Option<Problem>,
    /// The fingerprints, before and now, of inodes that have other links than the removed or moved ones.
    pub relinked: HashMap<Identity, (u32, u32)>,
}

/// An event during a removal.
#[derive(Clone, Copy, Debug)]
pub enum RemovalEvent<'a> {
    /// A system call follows. The removal can be cancelled here.
    Before {
        /// Its purpose.
        step: RemovalStep,
        /// The number of the target.
        target: usize,
        /// The name of the entry.
        name: &'a [u8],
        /// The number of entries so far that were deleted or moved into the trash.
        removed: u64,
    },
    /// A target is finished.
    Done {
        /// Its number.
        target: usize,
        /// Its outcome.
        outcome: &'a TargetOutcome,
    },
    /// All targets in one directory are finished.
    Left {
        /// The number of one of them.
        target: usize,
        /// The directory's attributes now.
        stat: &'a ExactStat,
    },
}

/// The purpose of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalStep {
    /// To open a directory.
    Enter,
    /// To look at an entry.
    Look,
    /// To make a private directory beside it, or an info file in the trash.
    Prepare,
    /// To move it there.
    Move,
    /// To look at it there.
    LookAgain,
    /// To remove it there.
    Remove,
    /// To put it back. This cannot be cancelled.
    PutBack,
}

impl TargetOutcome {
    /// Adds a reason: why the entry at `path` is kept.
    pub(super) fn add(&mut self, path: Vec<u8>, error: &io::Error, message: String) {
        push(
            &mut self.problems,
            Problem { message, ..Problem::new(path, Operation::Remove, error) },
        );
    }

    /// Adds an entry that could not be put back, and is now at `path`.
    pub(super) fn leave(&mut self, path: Vec<u8>, error: &io::Error, message: String) {
        self.fate = Fate::Left(path.clone());
        push(&mut self.left, Problem { message, ..Problem::new(path, Operation::Restore, error) });
    }
}

/// Adds a problem, unless there are many. A tree that cannot be removed may have millions.
fn push(problems: &mut Vec<Problem>, problem: Problem) {
    const NAMED: usize = 1_000;
    if problems.len() < NAMED {
        problems.push(problem);
    }
}

impl Fate {
    /// Its name in the log.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Fate::Deleted => "deleted",
            Fate::Trashed(_) => "trashed",
            Fate::Restored => "restored",
            Fate::Kept => "kept",
            Fate::Partly => "partly",
            Fate::Left(_) => "left",
        }
    }
}
