//! The rule that protects the files of others. An entry is moved to a name that no other program expects, and looked
//! at again there. Only if it is what was looked at before, it stays there, or is removed there. In every other case,
//! it is put back.

use std::ffi::{CStr, CString};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::ptr;

use super::outcome::{NO_MOVE, RemovalStep, Stop, because, explain};
use super::run::Removal;
use super::target::CHANGED;
use crate::base::escape::escape;
use crate::base::path;
use crate::sys::problem::reason;
use crate::sys::{ExactStat, HeldDirectory};

/// A move of an entry.
pub(super) struct Move<'a> {
    /// The directory that the entry is in, and its name there.
    pub(super) from: (&'a HeldDirectory, &'a CStr),
    /// The directory that it is moved to, and its name there.
    pub(super) to: (&'a HeldDirectory, &'a CStr),
    /// Its attributes before the move.
    pub(super) before: &'a ExactStat,
    /// The one of the two directories in which nobody else uses the names that weigh chooses.
    pub(super) own: &'a HeldDirectory,
}

impl Move<'_> {
    /// Moves the entry, looks at it again, and calls `commit` with its attributes if it is the same. If it is another
    /// entry, if `commit` fails, or after a cancel, puts it back. `path` is that of the moved entry.
    pub(super) fn commit<'w>(
        &self,
        removal: &mut Removal<'w>,
        path: impl FnOnce() -> Vec<u8>,
        commit: impl FnOnce(&mut Removal<'w>, &ExactStat) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let ((from, name), (to, new)) = (self.from, self.to);
        removal.before(RemovalStep::Move, name.to_bytes())?;
        if let Err(error) = self.rename(self.before, (from, name), (to, new)) {
            if self.may_be_moved(&error) {
                self.put_back(removal, path);
            }
            return Err(error.into());
        }
        let done = self.look_again(removal).and_then(|now| commit(removal, &now));
        if done.is_err() {
            self.put_back(removal, path);
        }
        done
    }

    /// Renames the entry `it`. A file system on a network may lose the answer to a rename that it has made, and then
    /// fails; so what counts is where the entry is.
    fn rename(
        &self,
        it: &ExactStat,
        (from, name): (&HeldDirectory, &CStr),
        (to, new): (&HeldDirectory, &CStr),
    ) -> io::Result<()> {
        let moved = match from.move_to(name, to, new) {
            Err(error) if error.kind() != ErrorKind::InvalidInput => Err(error),
            Err(_) if it.is_directory() => from.rename(name, to, new, true),
            Err(_) => return self.rename_by_link(it, (from, name), (to, new)),
            moved => moved,
        };
        moved.or_else(|error| {
            let is_taken = error.kind() == ErrorKind::AlreadyExists;
            if !is_taken && is_at(it, to, new) { Ok(()) } else { Err(error) }
        })
    }

    /// Renames an entry that is no directory where the file system has no move that never replaces, as NFS. A link never
    /// replaces. So the entry gets the new name first, and then loses the old one.
    fn rename_by_link(
        &self,
        it: &ExactStat,
        (from, name): (&HeldDirectory, &CStr),
        (to, new): (&HeldDirectory, &CStr),
    ) -> io::Result<()> {
        let linked = from.link(name, to, new).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotFound => error,
            _ => io::Error::other(format!("{NO_MOVE}, and no link ({})", reason(&error))),
        });
        if !is_at(it, to, new) {
            linked?;
            // The link of another entry; or what somebody has put in its place since, which stays.
            let other = from.stat_of(name).unwrap_or(*it);
            if self.is_our_name((to, new)) || is_at(&other, to, new) {
                self.drop_name(&other, (to, new))?;
            }
            return Err(io::Error::other(OTHER_INODE));
        }
        self.drop_name(it, (from, name)).or_else(|error| {
            // It, or what somebody has put in its place.
            if self.is_our_name((to, new)) && from.stat_of(name).is_ok() {
                self.drop_name(it, (to, new))?;
            }
            Err(error)
        })
    }

    /// Whether weigh has chosen the name for this move, so that nobody else uses it.
    fn is_our_name(&self, (held, name): (&HeldDirectory, &CStr)) -> bool {
        ptr::eq(held, self.own) && ptr::eq(held, self.to.0) && name == self.to.1
    }

    /// Removes the name `name` of `it`, which has another one. Where somebody else may exchange the entry, it first
    /// gets a random name; and if it is another entry there, its old name back.
    fn drop_name(&self, it: &ExactStat, (held, name): (&HeldDirectory, &CStr)) -> io::Result<()> {
        if self.is_our_name((held, name)) {
            return held.remove(name, false);
        }
        let (own, aside) = (self.own, random_name()?);
        let stays = |error: io::Error| {
            let at = match ptr::eq(self.from.0, self.to.0) {
                // Their directory may be put back elsewhere.
                true => format!("beside it, as {}", escape(aside.to_bytes())),
                false => {
                    let above = own.path().unwrap_or_default();
                    format!("at {}", escape(&path::join_all([&*above, aside.to_bytes()])))
                }
            };
            let why = explain(&error, None, None);
            io::Error::other(format!("what had its name is still {at}: {why}"))
        };
        let moved = held.rename(name, own, &aside, false);
        let now =
            own.stat_of(&aside).map_err(|error| moved.err().unwrap_or_else(|| stays(error)))?;
        if now.is_same_inode(it) {
            return own.remove(&aside, false).map_err(stays);
        }
        let back = match now.is_directory() {
            true => own.rename(&aside, held, name, true),
            false => own.link(&aside, held, name).and_then(|()| own.remove(&aside, false)),
        };
        back.map_err(stays).and(Err(io::Error::other(OTHER_INODE)))
    }

    /// Whether the entry may have been moved although that failed with `error`: it is in the new place, or it is not in
    /// its own, and something is in the new one, or nobody can tell.
    fn may_be_moved(&self, error: &io::Error) -> bool {
        let ((from, name), (to, new)) = (self.from, self.to);
        let is_missing = || to.stat_of(new).is_err_and(|it| it.kind() == ErrorKind::NotFound);
        let is_there = || is_at(self.before, to, new) || !is_at(self.before, from, name);
        error.kind() != ErrorKind::AlreadyExists && is_there() && !is_missing()
    }

    /// Moves the entry to stay there.
    pub(super) fn complete(
        &self,
        removal: &mut Removal<'_>,
        path: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), Stop> {
        self.commit(removal, path, |removal, now| {
            removal.relinked.note(self.before, now);
            Ok(())
        })
    }

    fn look_again(&self, removal: &mut Removal<'_>) -> Result<ExactStat, Stop> {
        let (to, new) = self.to;
        removal.before(RemovalStep::LookAgain, self.from.1.to_bytes())?;
        let now = to.stat_of(new)?;
        match now {
            now if now.is_same(self.before) => Ok(now),
            now if now.is_same_inode(self.before) => Err(because(CHANGED)),
            _ => Err(because(OTHER_INODE)),
        }
    }

    fn put_back(&self, removal: &mut Removal<'_>, path: impl FnOnce() -> Vec<u8>) {
        let ((from, name), (to, new)) = (self.from, self.to);
        // This step cannot be cancelled.
        let _ = removal.before(RemovalStep::PutBack, name.to_bytes());
        removal.outcome.is_put_back = true;
        let it = to.stat_of(new).unwrap_or(*self.before);
        let Err(error) = self.rename(&it, (to, new), (from, name)) else {
            // Its links have a new time of change, too.
            if let Ok(now) = from.stat_of(name) {
                removal.relinked.note(self.before, &now);
            }
            return;
        };
        let why = explain(&error, from.stat().ok().as_ref(), Some(self.before));
        if !is_at(&it, from, name) || is_at(&it, to, new) {
            removal.outcome.leave(path(), &error, why);
        } else {
            removal.outcome.add(path(), &error, format!("it could not be put back: {why}"));
        }
    }

    /// Removes the entry where it was moved to; a directory only if it is empty. For the commit of a delete.
    pub(super) fn remove(&self, removal: &mut Removal<'_>) -> Result<(), Stop> {
        let (to, new) = self.to;
        removal.before(RemovalStep::Remove, self.from.1.to_bytes())?;
        let removed = removal.relinked.remove(to, new, self.before);
        removed.map_err(|error| name_new(to, new, error))?;
        removal.count();
        Ok(())
    }
}

/// Whether the inode `it` has the name `name` in the directory `held`. Somebody may be writing to it.
fn is_at(it: &ExactStat, held: &HeldDirectory, name: &CStr) -> bool {
    held.stat_of(name).is_ok_and(|now| now.is_same_inode(it))
}

/// Overlays and some FUSE file systems give an entry a new number when it is moved.
const OTHER_INODE: &str = "it is another inode since it was moved: somebody replaced it, or its file system gives it another number";

/// The error of removing a directory, with the names of entries that are still in it.
fn name_new(around: &HeldDirectory, name: &CStr, error: io::Error) -> io::Error {
    /// The number of names in the message.
    const NAMED: usize = 3;
    if error.kind() != ErrorKind::DirectoryNotEmpty {
        return error;
    }
    let names = around.descend(&[name]).and_then(|held| held.names(NAMED + 1));
    let Ok(names) = names else { return error };
    let mut named: Vec<_> = names.iter().take(NAMED).map(|name| escape(name.to_bytes())).collect();
    if names.len() > NAMED {
        named.push("…".to_owned());
    }
    io::Error::other(format!("it contains entries that were not scanned: {}", named.join(", ")))
}

// Numbers and names that nobody can guess.

/// A number that nobody can guess: std seeds its hashers with random numbers of the system.
pub(super) fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// How the names begin that entries have while they are removed.
pub const ASIDE: &str = ".weigh-";

/// A name that nobody can guess.
pub(super) fn random_name() -> io::Result<CString> {
    CString::new(format!("{ASIDE}{:016x}", random_number())).map_err(io::Error::other)
}
