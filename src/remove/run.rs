//! Removes the targets one by one, in the steps that the module above lists.

use std::ffi::CString;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::aside::Move;
use super::below::Below;
use super::directories::UserDirectories;
use super::explain::{Stop, because};
use super::held::HeldMount;
use super::known::checked;
use super::outcome::{Fate, RemovalEvent, RemovalStep, Removed};
use super::parent::Parent;
use super::protected::ProtectedLocations;
use super::random::random_name;
use super::removal::Removal;
use super::storages::ensure_no_storage_in;
use super::target::Target;
use super::trash::Trashed;
use crate::base::path;
use crate::sys::ExactStat;

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

/// Deletes `targets`, or moves them into the trash. `on_event` is called before each system call and after each target,
/// and can cancel; then what was moved but not removed is put back.
pub fn remove(
    targets: &[Target],
    manner: Manner,
    directories: &UserDirectories,
    on_event: &mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
) -> Removed {
    let (mut removal, mut last) = (Removal::new(directories, on_event), LastTarget::default());
    for target in targets {
        let done = if removal.removed.is_cancelled {
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
