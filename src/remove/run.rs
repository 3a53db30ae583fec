//! Removes the targets one by one, or moves them into the trash, in the steps that the module above lists; and puts back
//! entries from the trash.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::aside::{Move, random_name};
use super::below::Below;
use super::consent::Consent;
use super::held::{HeldMount, Parent};
use super::log::{Log, UserDirectories};
use super::outcome::{
    Fate, RemovalEvent, RemovalStep, Removed, Stop, TargetOutcome, because, explain,
};
use super::protected::{ProtectedLocations, ensure_no_storage_in};
use super::target::{Target, checked};
use super::trash::{TrashDirectory, Trashed};
use crate::base::inode::Identity;
use crate::base::path;
use crate::sys::{ExactStat, HeldDirectory, Moment, Stat};

/// What happens to targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// They are deleted.
    Delete,
    /// They are moved into the trash. This frees nothing until the trash is emptied.
    Trash,
}

/// The names in the log of what happens.
const DELETE: &str = "delete";
const TRASH: &str = "trash";
const RESTORE: &str = "restore";

/// Deletes `targets`, or moves them into the trash, if `consent` is to exactly that. `on_event` is called before each
/// system call and after each target, and can cancel; then what was moved but not removed is put back.
pub fn remove(
    targets: &[Target],
    manner: Manner,
    consent: Consent,
    directories: &UserDirectories,
    on_event: &mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
) -> Removed {
    let (mut removal, mut last) = (Removal::new(directories, on_event), LastTarget::default());
    let is_meant = consent.covers(targets, manner == Manner::Delete);
    for target in targets {
        let done = if !is_meant {
            Err(because("nobody consented to remove just that"))
        } else if removal.removed.is_cancelled || target.is_info && !removal.is_last_deleted() {
            Err(Stop::Cancelled)
        } else {
            last.next(target, &mut removal).and_then(|it| match manner {
                Manner::Delete => it.delete(&mut removal),
                Manner::Trash => it.trash(directories, &mut removal),
            })
        };
        let around = last.parent.as_ref().map(|parent| &parent.directory.stat);
        removal.finish(target, done, around, target.seen.as_ref());
    }
    if let Some(parent) = last.parent {
        parent.leave(&mut removal);
    }
    removal.end()
}

/// Puts an entry back from the trash, unless something else has its name now.
pub fn undo(
    trashed: &Trashed,
    directories: &UserDirectories,
    on_event: &mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
) -> Removed {
    let mut removal = Removal::new(directories, on_event);
    let done = restore(trashed, &mut removal);
    removal.finish(&trashed.target, done, None, None);
    removal.end()
}

fn restore(trashed: &Trashed, removal: &mut Removal<'_>) -> Result<(), Stop> {
    let Trashed { trash, name, stat, target, .. } = trashed;
    let old = checked(&target.name)?;
    let Parent { directory, .. } = Parent::open(target, removal)?;
    removal.before(RemovalStep::Look, name.to_bytes())?;
    let before = match trash.files.stat_of(name) {
        Ok(before) if before.is_same(stat) => before,
        _ => return Err(because("it is not in the trash any more, or has changed there")),
    };
    // Putting it back loses nothing, even if it cannot be logged.
    let _ = removal.log.begin(RESTORE, target, &trash.path, name.to_bytes());
    let (from, to) = ((&trash.files, &**name), (&directory.held, &*old));
    Move { from, to, before: &before, own: &trash.files }.complete(removal, || target.path())?;
    removal.outcome.fate = Fate::Restored;
    // If this fails, the info file stays until the trash is emptied.
    let _ = trash.forget(name);
    Ok(())
}

/// What the next target may have in common with the last one.
#[derive(Default)]
struct LastTarget {
    parent: Option<Parent>,
    /// Its mount, and what is protected on it.
    protected: Option<(Arc<HeldMount>, ProtectedLocations)>,
}

/// A target that is what was scanned and reviewed.
struct CheckedTarget<'t> {
    target: &'t Target,
    name: CString,
    /// Its attributes.
    now: ExactStat,
    parent: &'t mut Parent,
    protected: &'t ProtectedLocations,
}

impl LastTarget {
    /// Goes on to `target`, which must be what was scanned and reviewed.
    fn next<'t>(
        &'t mut self,
        target: &'t Target,
        removal: &mut Removal<'_>,
    ) -> Result<CheckedTarget<'t>, Stop> {
        let name = checked(&target.name)?;
        if let Some(other) = self.parent.take_if(|parent| !parent.is_of(target)) {
            other.leave(removal);
        }
        let parent = match &mut self.parent {
            Some(parent) => parent,
            none => none.insert(Parent::open(target, removal)?),
        };
        removal.before(RemovalStep::Look, &target.name)?;
        // Asked again: the review may have been long ago.
        self.protected.take_if(|(mount, _)| !Arc::ptr_eq(mount, &target.mount));
        let (_, protected) = match &mut self.protected {
            Some(known) => {
                // Something may have been mounted since the last target.
                if target.is_directory() {
                    known.1.look_at_mounts()?;
                }
                known
            }
            none => none.insert((Arc::clone(&target.mount), target.mount.protected_now()?)),
        };
        if let Some(below) = &target.below
            && let Some(id) = below.root().id()
            && let Some(refusal) = protected.refusal_within(below, id)
        {
            return Err(because(refusal));
        }
        let now = target.look(&parent.directory, &name, protected, &removal.relinked)?;
        let Some(seen) = &target.seen else { return Err(because("it has not been reviewed")) };
        if !now.is_untouched_since(seen) {
            return Err(because("it has changed since the review"));
        }
        // The log would no longer be found, and weigh would make a new one in its place: so it could not be put back.
        if removal.log.is_in(&now) {
            return Err(because("it is weigh's log or contains it"));
        }
        Ok(CheckedTarget { target, name, now, parent, protected })
    }
}

impl CheckedTarget<'_> {
    fn delete(self, removal: &mut Removal<'_>) -> Result<(), Stop> {
        let Self { target, name, now, parent, protected } = self;
        let Parent { directory, private, .. } = parent;
        let around = &directory.path;
        let (private_path, inner_path) = (private.path(around), private.inner_path(around));
        removal.log.begin(DELETE, target, &private_path, &target.name)?;
        let made = private.make(&directory.held, &directory.stat, removal);
        let (to, to_path, new, inner) = match made {
            Ok((held, inner)) => (held, &private_path, name.clone(), Some((inner, &*inner_path))),
            // A new directory needs a block or an inode. Often people delete because there is none left.
            Err(Stop::Because(error)) if is_full(&error) => {
                let new = random_name()?;
                removal.log.begin(DELETE, target, around, new.as_bytes())?;
                (&directory.held, around, new, None)
            }
            Err(stop) => return Err(stop),
        };
        let (from, to) = ((&directory.held, &*name), (to, &*new));
        let step = Move { from, to, before: &now, own: to.0 };
        let new_path = path::join_all([to_path, new.as_bytes()]);
        let deleted = step.commit(
            removal,
            || new_path,
            |removal, _| {
                if now.is_directory() {
                    Below { inner, around, protected, removal }.remove_content(target, to, &now)?;
                }
                step.remove(removal)
            },
        );
        let outcome = &mut removal.outcome;
        if deleted.is_ok() {
            outcome.fate = Fate::Deleted;
        } else if outcome.removed > 0 && matches!(outcome.fate, Fate::Kept) {
            outcome.fate = Fate::Partly;
        }
        deleted
    }

    fn trash(self, directories: &UserDirectories, removal: &mut Removal<'_>) -> Result<(), Stop> {
        let Self { target, name, now, parent, .. } = self;
        removal.before(RemovalStep::Prepare, &target.name)?;
        let trash = parent.trash(directories, removal).map_err(no_trash)?;
        let directory = &parent.directory;
        if trash.is_in(&now) {
            return Err(because("it is the trash or contains it"));
        }
        if now.is_directory() {
            ensure_no_storage_in(&directory.held, &name, removal)?;
        }
        let old_path = target.path();
        let noted = trash.note(&target.name, &old_path);
        let noted = noted.map_err(|error| no_trash(error.into()))?;
        let (from, to) = ((&directory.held, &*name), (&trash.files, &*noted));
        let logged = removal.log.begin(TRASH, target, &trash.path, noted.as_bytes());
        let new_path = path::join_all([&*trash.path, noted.as_bytes()]);
        let step = Move { from, to, before: &now, own: to.0 };
        let moved = logged.map_err(Stop::from).and_then(|()| step.complete(removal, || new_path));
        if let Err(stop) = moved {
            if !matches!(removal.outcome.fate, Fate::Left(_)) {
                // If this fails, the info file stays, and names a file that is still in its place.
                let _ = trash.forget(&noted);
            }
            return Err(no_trash(stop));
        }
        removal.entries += target.totals.0;
        let target = Target { below: None, ..target.clone() };
        let trashed = Trashed { trash, name: noted, stat: now, target, old_path };
        removal.outcome.fate = Fate::Trashed(Box::new(trashed));
        Ok(())
    }
}

/// Whether the file system, or the user's share of it, has no room.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// The same, but explains a full disk.
fn no_trash(stop: Stop) -> Stop {
    match stop {
        Stop::Because(error) if is_full(&error) => because(
            "the disk is full: there is no room for its info file in the trash; D deletes it",
        ),
        stop => stop,
    }
}

// The state of a removal, from the first target to the last.

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

    /// Whether the target before the current one is deleted.
    fn is_last_deleted(&self) -> bool {
        self.removed.outcomes.last().is_some_and(|last| matches!(last.fate, Fate::Deleted))
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

// The inodes of which this run has removed or moved one of several links. That sets the time of change for all links.
// Any other change of that time was made by somebody else.

/// These inodes, each with its time of change before and after.
#[derive(Debug, Default)]
pub(super) struct Relinked(HashMap<Identity, Relink>);

#[derive(Debug)]
struct Relink {
    before: Moment,
    after: Moment,
    /// The fingerprints before and after it.
    fingerprints: (u32, u32),
}

impl Relinked {
    /// `now` with the time of change from before this run, if nobody else has changed the inode.
    pub(super) fn as_before_this_run(&self, now: ExactStat) -> ExactStat {
        match self.0.get(&now.stat.identity()) {
            Some(relink) if relink.after == now.changed => {
                let (changed, changed_nanos) = relink.before;
                let stat = Stat { changed, changed_nanos, ..now.stat };
                ExactStat { stat, changed: relink.before, ..now }
            }
            _ => now,
        }
    }

    /// Removes the entry `name` of `held`; a directory only if it is empty. `before` are its attributes, with the time
    /// of change from before this run.
    pub(super) fn remove(
        &mut self,
        held: &HeldDirectory,
        name: &CStr,
        before: &ExactStat,
    ) -> io::Result<()> {
        if before.is_directory() || before.stat.links < 2 {
            self.0.remove(&before.stat.identity());
            return held.remove(name, before.is_directory());
        }
        if let Some(after) = held.remove_link(name)? {
            self.note(before, &after);
        }
        Ok(())
    }

    /// Notes that this run has made `after` of `before`, unless somebody else has changed it too.
    pub(super) fn note(&mut self, before: &ExactStat, after: &ExactStat) {
        let identity = before.stat.identity();
        if after.stat.links == 0 || before.stat.links < 2 || !after.is_same(before) {
            self.0.remove(&identity);
            return;
        }
        let fingerprints = (before.stat.fingerprint(), after.stat.fingerprint());
        let relink = Relink { before: before.changed, after: after.changed, fingerprints };
        self.0.insert(identity, relink);
    }

    /// The fingerprints that each of them had before this run, and has now.
    pub(super) fn fingerprints(self) -> HashMap<Identity, (u32, u32)> {
        self.0.into_iter().map(|(identity, relink)| (identity, relink.fingerprints)).collect()
    }
}
