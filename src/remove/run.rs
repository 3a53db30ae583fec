//! Removes the targets one by one, in the steps that the module above lists.

use std::ffi::CStr;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::below::{Below, name_new};
use super::explain::explain;
use super::held::HeldMount;
use super::log::{Log, Places};
use super::outcome::{
    Fate, RemovalEvent, RemovalStep, Removed, Stop, TargetOutcome, Watcher, because,
};
use super::private::{Private, random_name};
use super::protected::ProtectedPlaces;
use super::relinked::Relinked;
use super::target::{Target, checked};
use super::trash::{TrashDirectory, Trashed};
use crate::path;
use crate::problem::{Operation, Problem};
use crate::sys::{ExactStat, HeldDirectory};

/// What happens to targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// They are deleted.
    Delete,
    /// They are moved into the trash. This frees nothing until the trash is emptied.
    Trash,
}

impl Manner {
    /// Its name in the log.
    pub(super) fn name(self) -> &'static str {
        match self {
            Manner::Delete => "delete",
            Manner::Trash => "trash",
        }
    }
}

/// The name in the log of putting an entry back from the trash.
const RESTORE: &str = "restore";

/// Deletes `targets`, or moves them into the trash. `watch` is called before each system call and after each target,
/// and can cancel; then what was moved but not removed is put back.
pub fn remove(
    targets: &[Target],
    manner: Manner,
    places: &Places,
    watch: &mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
) -> Removed {
    let mut run = Removal::new(places, watch);
    let mut removed = Removed::default();
    for (number, target) in targets.iter().enumerate() {
        run.watcher.target = number;
        let mut outcome = TargetOutcome::kept();
        if !run.watcher.is_cancelled {
            let gone = match manner {
                Manner::Trash => run.trash(target, &mut outcome),
                Manner::Delete => run.delete(target, &mut outcome),
            };
            if let Err(Stop::Because(error)) = gone {
                let around = run.parent.as_ref().map(|parent| parent.stat);
                let message = explain(&error, around.as_ref(), target.seen.as_ref());
                outcome.add_as(target.path(), &error, message);
            }
            if run.has_begun {
                run.log.end(manner.name(), target, &outcome);
            }
        }
        run.watcher.done(&outcome);
        removed.outcomes.push(outcome);
    }
    run.leave();
    removed.left = run.left;
    removed.is_cancelled = run.watcher.is_cancelled;
    removed.unlogged = run.log.trouble;
    removed.relinked = run.relinked.fingerprints();
    removed
}

/// Puts an entry back from the trash, unless something else has its name now.
pub fn undo(
    trashed: &Trashed,
    places: &Places,
    watch: &mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
) -> Removed {
    let mut run = Removal::new(places, watch);
    let mut outcome = TargetOutcome::kept();
    let Trashed { target, .. } = trashed;
    if let Err(Stop::Because(error)) = run.restore(trashed, &mut outcome) {
        let message = match error.kind() {
            ErrorKind::AlreadyExists => "something else has its name now".to_owned(),
            _ => explain(&error, None, None),
        };
        outcome.add_as(target.path(), &error, message);
    }
    if run.has_begun {
        run.log.end(RESTORE, target, &outcome);
    }
    run.watcher.done(&outcome);
    let is_cancelled = run.watcher.is_cancelled;
    Removed {
        outcomes: vec![outcome],
        is_cancelled,
        left: Vec::new(),
        unlogged: run.log.trouble,
        relinked: run.relinked.fingerprints(),
    }
}

/// The state of a removal.
struct Removal<'w> {
    places: &'w Places,
    log: Log,
    watcher: Watcher<'w>,
    /// The directory of the last target.
    parent: Option<Parent>,
    /// The mount of the last target, and what is protected on it.
    protected: Option<(Arc<HeldMount>, ProtectedPlaces)>,
    /// Whether the log has a line for the current target.
    has_begun: bool,
    relinked: Relinked,
    /// Private directories that could not be removed.
    left: Vec<Problem>,
}

/// A directory with targets.
struct Parent {
    mount: Arc<HeldMount>,
    way: Vec<Vec<u8>>,
    held: HeldDirectory,
    stat: ExactStat,
    path: Vec<u8>,
    private: Private,
    trash: Option<Arc<TrashDirectory>>,
    /// The number of one target in it.
    target: usize,
}

impl<'w> Removal<'w> {
    fn new(
        places: &'w Places,
        watch: &'w mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
    ) -> Self {
        let (log, watcher) = (Log::open(places), Watcher::new(watch));
        Self {
            places,
            log,
            watcher,
            parent: None,
            protected: None,
            has_begun: false,
            relinked: Relinked::default(),
            left: Vec::new(),
        }
    }

    /// Opens the directory of `target`, and leaves the one before.
    fn enter(&mut self, target: &Target) -> Result<(), Stop> {
        self.has_begun = false;
        if let Some(parent) = &self.parent
            && Arc::ptr_eq(&parent.mount, &target.mount)
            && parent.way == target.way
            // If it has been renamed, the log would say where it was.
            && parent.held.path().map_or(true, |now| now == parent.path)
        {
            return Ok(());
        }
        self.leave();
        self.watcher.before(RemovalStep::Enter, target.way.last().map_or(b"", |name| name))?;
        let (held, stat) = target.enter()?;
        let path = held.path().unwrap_or_else(|_| target.directory_path());
        let private = Private::new(&path)?;
        let (mount, way) = (Arc::clone(&target.mount), target.way.clone());
        self.parent = Some(Parent {
            mount,
            way,
            held,
            stat,
            path,
            private,
            trash: None,
            target: self.watcher.target,
        });
        Ok(())
    }

    /// Leaves the directory of the last target, and removes its private directory.
    fn leave(&mut self) {
        let Some(mut parent) = self.parent.take() else { return };
        let taken_down = parent.private.take_down(&parent.held);
        if let Ok(stat) = parent.held.stat() {
            self.watcher.left(&stat, parent.target);
        }
        let Err(error) = taken_down else { return };
        let message = format!(
            "weigh could not remove its private directory: {}",
            explain(&error, Some(&parent.stat), None)
        );
        let (path, code) = (parent.private.path().to_vec(), error.raw_os_error());
        self.left.push(Problem { path, operation: Operation::Remove, code, message });
    }

    /// Looks at `target`: returns its attributes if it is what was scanned and reviewed.
    fn look(&mut self, target: &Target, name: &CStr) -> Result<ExactStat, Stop> {
        self.watcher.before(RemovalStep::Look, &target.name)?;
        let parent = self.parent.as_ref().ok_or(Stop::Cancelled)?;
        // Asked again: the review may have been long ago.
        let protected = match &mut self.protected {
            Some((mount, protected)) if Arc::ptr_eq(mount, &target.mount) => {
                // Something may have been mounted since the last target.
                if target.is_directory() {
                    protected.look_at_mounts()?;
                }
                protected
            }
            other => {
                let protected = target.mount.protected_now()?;
                &mut other.insert((Arc::clone(&target.mount), protected)).1
            }
        };
        if let Some(below) = &target.below
            && let Some(refusal) =
                below.root().id().and_then(|id| protected.refusal_within(below, id))
        {
            return Err(because(refusal));
        }
        let now = target.look(&parent.held, &parent.stat, name, protected, &self.relinked)?;
        match &target.seen {
            None => Err(because("it has not been reviewed")),
            Some(seen) if !now.is_untouched_since(seen) => {
                Err(because("it has changed since the review"))
            }
            Some(_) => Ok(now),
        }
    }

    fn delete(&mut self, target: &Target, outcome: &mut TargetOutcome) -> Result<(), Stop> {
        let name = checked(&target.name)?;
        self.enter(target)?;
        let now = self.look(target, &name)?;
        let (Some(parent), Some((_, protected))) = (&mut self.parent, &self.protected) else {
            return Err(Stop::Cancelled);
        };
        self.log.begin(Manner::Delete.name(), target, parent.private.path(), &target.name)?;
        self.has_begun = true;
        let random = match parent.private.make(&parent.held, &parent.stat, &mut self.watcher) {
            Ok(()) => None,
            // A new directory needs a block or an inode. Often people delete because there is none left.
            Err(Stop::Because(error)) if is_full(&error) => Some(random_name()?),
            Err(stop) => return Err(stop),
        };
        let (place, place_path, new, inner) = match (&random, parent.private.held()) {
            (Some(new), _) => (&parent.held, &*parent.path, &**new, None),
            (None, Some((held, inner))) => (held, parent.private.path(), &*name, Some(inner)),
            (None, None) => return Err(Stop::Cancelled),
        };
        if random.is_some() {
            self.log.begin(Manner::Delete.name(), target, place_path, new.to_bytes())?;
        }
        self.watcher.before(RemovalStep::Move, &target.name)?;
        parent.held.move_to(&name, place, new)?;
        let moved = Moved {
            name: new,
            before: &now,
            place,
            inner,
            inner_path: &parent.private.inner_path(),
            around: &parent.path,
            protected,
        };
        let removed = moved.remove(target, &mut self.watcher, &mut self.relinked, outcome);
        let Err(stop) = removed else {
            outcome.fate = Fate::Deleted;
            outcome.removed += 1;
            self.watcher.removed += 1;
            return Ok(());
        };
        // This step cannot be cancelled.
        let _ = self.watcher.before(RemovalStep::PutBack, &target.name);
        let is_back = place.move_to(new, &parent.held, &name);
        match is_back {
            Ok(()) if matches!(outcome.fate, Fate::Left(_)) => {}
            Ok(()) if outcome.removed > 0 => outcome.fate = Fate::Partly,
            Ok(()) => {}
            Err(error) => {
                let at = path::join_all([place_path, new.to_bytes()]);
                let why = match error.kind() {
                    ErrorKind::AlreadyExists => "something else has its name now".to_owned(),
                    _ => explain(&error, Some(&parent.stat), Some(&now)),
                };
                outcome.add_as(at.clone(), &error, format!("it could not be put back: {why}"));
                outcome.fate = Fate::Left(at);
            }
        }
        Err(stop)
    }

    fn trash(&mut self, target: &Target, outcome: &mut TargetOutcome) -> Result<(), Stop> {
        let name = checked(&target.name)?;
        self.enter(target)?;
        let now = self.look(target, &name)?;
        self.watcher.before(RemovalStep::Prepare, &target.name)?;
        let Some(parent) = &mut self.parent else { return Err(Stop::Cancelled) };
        let trash = match &parent.trash {
            Some(trash) => Arc::clone(trash),
            None => {
                let found =
                    TrashDirectory::find(&parent.held, &parent.stat, &parent.path, self.places);
                let found = found.map_err(no_trash)?;
                Arc::clone(parent.trash.insert(Arc::new(found)))
            }
        };
        if trash.is_in(&now) {
            return Err(because("it is the trash or contains it"));
        }
        if trash.is_in(&parent.stat) && parent.path.starts_with(&trash.path) {
            return Err(because("it is already in the trash; D deletes it"));
        }
        let noted =
            trash.note(&target.name, &target.path()).map_err(|error| no_trash(error.into()))?;
        let moved = (|| {
            self.log.begin(Manner::Trash.name(), target, &trash.path, noted.to_bytes())?;
            self.has_begun = true;
            self.watcher.before(RemovalStep::Move, &target.name)?;
            parent.held.move_to(&name, &trash.files, &noted)?;
            Ok(())
        })();
        if let Err(stop) = moved {
            // If this fails, the info file stays, and names a file that is still in its place.
            let _ = trash.forget(&noted);
            return Err(no_trash(stop));
        }
        let looked = self.watcher.before(RemovalStep::LookAgain, &target.name);
        let there = trash.files.stat_of(&noted);
        let is_same = there.as_ref().is_ok_and(|there| there.is_same(&now));
        if let Ok(there) = &there {
            self.relinked.note(&now, there);
        }
        if let (Ok(()), true) = (looked, is_same) {
            let (target, stat) = (target.without_content(), now);
            let trashed = Trashed { trash, name: noted, stat, target };
            outcome.fate = Fate::Trashed(Box::new(trashed));
            return Ok(());
        }
        let _ = self.watcher.before(RemovalStep::PutBack, &target.name);
        match trash.files.move_to(&noted, &parent.held, &name) {
            Ok(()) => {
                let _ = trash.forget(&noted);
            }
            Err(error) => {
                let at = path::join_all([&*trash.path, noted.to_bytes()]);
                let why = explain(&error, Some(&parent.stat), Some(&now));
                outcome.add_as(at.clone(), &error, format!("it could not be put back: {why}"));
                outcome.fate = Fate::Left(at);
            }
        }
        match is_same {
            true => Err(Stop::Cancelled),
            false => Err(because("it was replaced while it was moved")),
        }
    }

    fn restore(&mut self, trashed: &Trashed, outcome: &mut TargetOutcome) -> Result<(), Stop> {
        let Trashed { trash, name, stat, target } = trashed;
        let old = checked(&target.name)?;
        self.enter(target)?;
        let Some(parent) = &self.parent else { return Err(Stop::Cancelled) };
        self.watcher.before(RemovalStep::Look, name.to_bytes())?;
        let is_same = |now: &ExactStat| now.is_same(stat);
        let before = trash.files.stat_of(name).ok().filter(is_same);
        let Some(before) = before else {
            return Err(because("it is not in the trash any more, or has changed there"));
        };
        // Putting it back loses nothing, even if it cannot be logged.
        self.has_begun = self.log.begin(RESTORE, target, &parent.path, &target.name).is_ok();
        self.watcher.before(RemovalStep::Move, name.to_bytes())?;
        trash.files.move_to(name, &parent.held, &old)?;
        let after = parent.held.stat_of(&old).ok().filter(is_same);
        let Some(after) = after else {
            let _ = self.watcher.before(RemovalStep::PutBack, name.to_bytes());
            if let Err(error) = parent.held.move_to(&old, &trash.files, name) {
                let message = format!("it could not be put back: {}", explain(&error, None, None));
                outcome.add_as(target.path(), &error, message);
                outcome.fate = Fate::Left(target.path());
            }
            return Err(because("it was replaced while it was moved"));
        };
        self.relinked.note(&before, &after);
        outcome.fate = Fate::Restored;
        // If this fails, the info file stays until the trash is emptied.
        let _ = trash.forget(name);
        Ok(())
    }
}

/// A target that was moved.
struct Moved<'a> {
    /// Its name at its current place.
    name: &'a CStr,
    /// Its attributes before the move.
    before: &'a ExactStat,
    /// The directory that it is in now.
    place: &'a HeldDirectory,
    /// The private directory for its entries, if there is one.
    inner: Option<&'a HeldDirectory>,
    inner_path: &'a [u8],
    around: &'a [u8],
    protected: &'a ProtectedPlaces,
}

impl Moved<'_> {
    /// Looks at it again, and removes it with its scanned content.
    fn remove(
        &self,
        target: &Target,
        watcher: &mut Watcher<'_>,
        relinked: &mut Relinked,
        outcome: &mut TargetOutcome,
    ) -> Result<(), Stop> {
        let Self { name, before, place, inner, inner_path, around, protected } = *self;
        watcher.before(RemovalStep::LookAgain, &target.name)?;
        if !place.stat_of(name)?.is_same(before) {
            return Err(because("it was replaced while it was moved"));
        }
        if before.is_directory() {
            let scanned =
                target.below.as_ref().ok_or_else(|| because("nothing in it was scanned"))?;
            let mut below = Below {
                inner,
                inner_path,
                around,
                protected,
                watcher,
                relinked,
                outcome,
                left: None,
            };
            let removed = below.remove(place, name, before, scanned);
            if let Some(at) = below.left.take() {
                outcome.fate = Fate::Left(at);
            }
            if !removed? {
                // The reasons have been reported.
                return Err(Stop::Cancelled);
            }
        }
        watcher.before(RemovalStep::Remove, &target.name)?;
        let removed = relinked.remove(place, name, before);
        Ok(removed.map_err(|error| name_new(place, name, error))?)
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
