//! The outcome of a removal, and the events during it.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, ErrorKind};

use super::trash::Trashed;
use crate::base::inode::Identity;
use crate::sys::problem::{Operation, Problem, reason};
use crate::sys::{ExactStat, is_vanished, user_id};

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

// Why an entry is not moved or removed, in words.

/// Why a step stopped early.
#[derive(Debug)]
pub(super) enum Stop {
    /// It was cancelled, or the reasons have been reported.
    Cancelled,
    Because(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Because(error)
    }
}

pub(super) const NO_MOVE: &str = "its file system has no move that never replaces";

/// `message` as the reason to stop.
pub(super) fn because(message: impl Into<String>) -> Stop {
    Stop::Because(io::Error::other(message.into()))
}

/// The meaning of `error` for the entry `it` in the directory `around`, if these are known.
pub(super) fn explain(
    error: &io::Error,
    around: Option<&ExactStat>,
    it: Option<&ExactStat>,
) -> String {
    if error.raw_os_error().is_none() {
        return error.to_string();
    }
    if error.kind() == ErrorKind::AlreadyExists {
        return "something else has its name now".to_owned();
    }
    let meaning = match error.kind() {
        ErrorKind::ReadOnlyFilesystem => "the file system is mounted read-only",
        ErrorKind::PermissionDenied if it.is_some_and(|it| it.is_immutable) => "it is immutable",
        ErrorKind::PermissionDenied if it.is_some_and(|it| it.is_append_only) => {
            "it is append-only"
        }
        ErrorKind::PermissionDenied if around.is_some_and(|it| it.is_immutable) => {
            "its directory is immutable"
        }
        ErrorKind::PermissionDenied if around.is_some_and(|it| it.is_append_only) => {
            "its directory is append-only"
        }
        ErrorKind::PermissionDenied if is_kept_by_sticky(around, it) => {
            "its directory is sticky, and only its owner may remove it"
        }
        ErrorKind::CrossesDevices => {
            "it cannot be moved within its file system: it is on another mount, in another subvolume or project, or \
             in a lower layer of an overlay"
        }
        ErrorKind::ResourceBusy => "something is mounted on it, or the system uses it",
        ErrorKind::InvalidInput => NO_MOVE,
        ErrorKind::NotFound | ErrorKind::NotADirectory => "it is not there any more",
        ErrorKind::DirectoryNotEmpty => "it contains entries that were not scanned",
        // Of the errors that is_vanished knows, ELOOP is left. std has no stable name for it.
        _ if is_vanished(error) => "there is a symlink on the way to it",
        _ => return reason(error),
    };
    format!("{meaning} ({})", reason(error))
}

fn is_kept_by_sticky(around: Option<&ExactStat>, it: Option<&ExactStat>) -> bool {
    let (Some(around), Some(it)) = (around, it) else { return false };
    let user = user_id();
    around.is_sticky() && user != 0 && it.stat.owner != user && around.stat.owner != user
}
