//! What came of a removal, and what is said while it goes on.

use std::io;
use std::ops::ControlFlow;

use super::trash::Trashed;
use crate::problem::{Operation, Problem};
use crate::sys::ExactStat;

/// What came of one target.
#[derive(Debug)]
pub struct TargetOutcome {
    /// What became of it.
    pub fate: Fate,
    /// How many entries were deleted, itself included.
    pub removed: u64,
    /// Why not all is gone: the first of them.
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub unnamed: u64,
}

/// What became of a target.
#[derive(Debug)]
pub enum Fate {
    /// It is gone, with all that was in it.
    Deleted,
    /// It is in the trash.
    Trashed(Box<Trashed>),
    /// It has been put back from the trash.
    Restored,
    /// It is where it was, and nothing of it was removed.
    Kept,
    /// Some of it is gone; the rest is where it was.
    Partly,
    /// It, or some of it, could not be put back: it is at this path now.
    Left(Vec<u8>),
}

/// What came of all targets.
#[derive(Debug, Default)]
pub struct Removed {
    /// In the order of the targets.
    pub outcomes: Vec<TargetOutcome>,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
    /// What could not be tidied up.
    pub left: Vec<Problem>,
    /// Why the log says nothing of some of it.
    pub unlogged: Option<Problem>,
}

/// What is about to be done, or has been.
#[derive(Clone, Copy, Debug)]
pub enum RemovalEvent<'a> {
    /// A call is about to be made; this is where it can be cancelled.
    Before {
        /// What it is for.
        step: RemovalStep,
        /// The number of the target.
        target: usize,
        /// The name of the entry that it is about.
        name: &'a [u8],
        /// How many entries have been deleted.
        removed: u64,
    },
    /// A target is done.
    Done {
        /// Its number.
        target: usize,
        /// What came of it.
        outcome: &'a TargetOutcome,
    },
    /// All targets in one directory are done.
    Left {
        /// The number of one of them.
        target: usize,
        /// What the directory is now.
        stat: &'a ExactStat,
    },
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalStep {
    /// To come to a directory.
    Enter,
    /// To look at an entry.
    Look,
    /// To make a private directory beside it, or a place in the trash.
    Prepare,
    /// To move it there.
    Move,
    /// To look at it there.
    LookAgain,
    /// To remove it there.
    Remove,
    /// To put it back. This is not cancelled.
    PutBack,
}

/// Why something was not done to its end.
#[derive(Debug)]
pub(super) enum Stop {
    Cancelled,
    Because(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Because(error)
    }
}

/// `message` as the reason to stop.
pub(super) fn because(message: impl Into<String>) -> Stop {
    Stop::Because(io::Error::other(message.into()))
}

/// Who is told of each call, and may cancel.
pub(super) struct Watcher<'w> {
    watch: &'w mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
    pub(super) target: usize,
    pub(super) removed: u64,
    pub(super) is_cancelled: bool,
}

impl<'w> Watcher<'w> {
    pub(super) fn new(watch: &'w mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>) -> Self {
        Self { watch, target: 0, removed: 0, is_cancelled: false }
    }

    /// A call is about to be made.
    pub(super) fn before(&mut self, step: RemovalStep, name: &[u8]) -> Result<(), Stop> {
        let (target, removed) = (self.target, self.removed);
        let event = RemovalEvent::Before { step, target, name, removed };
        self.is_cancelled |= (self.watch)(event).is_break();
        let may_stop = step != RemovalStep::PutBack;
        if self.is_cancelled && may_stop { Err(Stop::Cancelled) } else { Ok(()) }
    }

    /// What the directory is now that `target` was in.
    pub(super) fn left(&mut self, stat: &ExactStat, target: usize) {
        let event = RemovalEvent::Left { target, stat };
        self.is_cancelled |= (self.watch)(event).is_break();
    }

    pub(super) fn done(&mut self, outcome: &TargetOutcome) {
        let event = RemovalEvent::Done { target: self.target, outcome };
        self.is_cancelled |= (self.watch)(event).is_break();
    }
}

impl TargetOutcome {
    /// Nothing has been done.
    pub(super) fn kept() -> Self {
        Self { fate: Fate::Kept, removed: 0, problems: Vec::new(), unnamed: 0 }
    }

    /// Says why something at `path` is not gone, in the words of `message`.
    pub(super) fn add_as(&mut self, path: Vec<u8>, error: &io::Error, message: String) {
        /// More are counted. A tree in which nothing can be removed may have millions.
        const NAMED: usize = 1_000;
        if self.problems.len() < NAMED {
            let code = error.raw_os_error();
            self.problems.push(Problem { path, operation: Operation::Remove, code, message });
        } else {
            self.unnamed += 1;
        }
    }
}

impl Fate {
    /// What the log calls it.
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
