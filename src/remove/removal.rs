//! The state of a removal, from the first target to the last.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::directories::UserDirectories;
use super::explain::{Stop, explain};
use super::log::Log;
use super::outcome::{RemovalEvent, RemovalStep, Removed, TargetOutcome};
use super::relinked::Relinked;
use super::target::Target;
use super::trash::TrashDirectory;
use crate::sys::ExactStat;

/// The state of a removal. Before each system call it is reported.
pub(super) struct Removal<'w> {
    on_event: &'w mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
    pub(super) log: Log,
    pub(super) relinked: Relinked,
    /// The trash directories so far. Each stays open as long as something in it can be put back.
    pub(super) trashes: Vec<Arc<TrashDirectory>>,
    /// The outcome of the current target so far.
    pub(super) outcome: TargetOutcome,
    /// The number of entries of all targets that were deleted or moved into the trash.
    pub(super) entries: u64,
    /// The outcome of the targets before.
    pub(super) removed: Removed,
}

impl<'w> Removal<'w> {
    pub(super) fn new(
        directories: &UserDirectories,
        on_event: &'w mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
    ) -> Self {
        Self {
            on_event,
            log: Log::open(directories),
            relinked: Relinked::default(),
            trashes: Vec::new(),
            outcome: TargetOutcome::default(),
            entries: 0,
            removed: Removed::default(),
        }
    }

    /// The number of the current target.
    pub(super) fn target(&self) -> usize {
        self.removed.outcomes.len()
    }

    /// Reports the next system call. After a cancel, it is not to be made, unless it puts an entry back.
    pub(super) fn before(&mut self, step: RemovalStep, name: &[u8]) -> Result<(), Stop> {
        let (target, removed) = (self.target(), self.entries);
        self.report(RemovalEvent::Before { step, target, name, removed });
        let may_stop = step != RemovalStep::PutBack;
        if self.removed.is_cancelled && may_stop { Err(Stop::Cancelled) } else { Ok(()) }
    }

    pub(super) fn report(&mut self, event: RemovalEvent<'_>) {
        self.removed.is_cancelled |= (self.on_event)(event).is_break();
    }

    /// Counts a deleted entry.
    pub(super) fn count(&mut self) {
        self.entries += 1;
        self.outcome.removed += 1;
    }

    /// Ends the current `target`: logs and reports its outcome. The attributes of its directory and its own, if they
    /// are known, explain an error.
    pub(super) fn finish(
        &mut self,
        target: &Target,
        done: Result<(), Stop>,
        around: Option<&ExactStat>,
        it: Option<&ExactStat>,
    ) {
        let (number, mut outcome) = (self.target(), std::mem::take(&mut self.outcome));
        if let Err(Stop::Because(error)) = done {
            outcome.add(target.path(), &error, explain(&error, around, it));
        }
        self.log.end(target, &outcome);
        self.report(RemovalEvent::Done { target: number, outcome: &outcome });
        self.removed.outcomes.push(outcome);
    }

    /// Ends the removal.
    pub(super) fn end(self) -> Removed {
        let relinked = self.relinked.fingerprints();
        let log = self.log.path.into_os_string().into_encoded_bytes();
        Removed { log, unlogged: self.log.trouble, relinked, ..self.removed }
    }
}
