//! A private directory beside a target. The target is moved into it under its own name, where no other program reaches
//! it by its old path.
//!
//! It contains another private directory. If the target is a directory, its entries are moved there one by one.

use std::ffi::{CStr, CString};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;

use super::outcome::{RemovalStep, Stop, Watcher, because};
use crate::path;
use crate::sys::{ExactStat, HeldDirectory, user_id};

/// A private directory.
#[derive(Debug)]
pub(super) struct Private {
    name: CString,
    path: Vec<u8>,
    made: Option<Made>,
}

#[derive(Debug)]
struct Made {
    held: HeldDirectory,
    inner_name: CString,
    inner: HeldDirectory,
}

impl Private {
    /// A private directory in the directory at `path`. Only its name is chosen; it is not made yet.
    pub(super) fn new(path: &[u8]) -> io::Result<Self> {
        let name = random_name()?;
        let path = path::join_all([path, name.as_bytes()]);
        Ok(Self { name, path, made: None })
    }

    /// Its path, even before it is made.
    pub(super) fn path(&self) -> &[u8] {
        &self.path
    }

    /// The path of the one in it; its own if that has not been made.
    pub(super) fn inner_path(&self) -> Vec<u8> {
        let inner = self.made.iter().map(|made| made.inner_name.as_bytes());
        path::join_all(std::iter::once(&*self.path).chain(inner))
    }

    /// The directory and the one in it, if they have been made.
    pub(super) fn held(&self) -> Option<(&HeldDirectory, &HeldDirectory)> {
        self.made.as_ref().map(|made| (&made.held, &made.inner))
    }

    /// Makes it in `parent`, whose attributes are `around`, unless it exists.
    pub(super) fn make(
        &mut self,
        parent: &HeldDirectory,
        around: &ExactStat,
        watcher: &mut Watcher<'_>,
    ) -> Result<(), Stop> {
        if self.made.is_some() {
            return Ok(());
        }
        watcher.before(RemovalStep::Prepare, self.name.as_bytes())?;
        parent.make_directory(&self.name)?;
        let made = opened(parent, &self.name, around).and_then(|held| {
            let inner_name = random_name()?;
            held.make_directory(&inner_name)?;
            let inner = opened(&held, &inner_name, around);
            let inner = inner.inspect_err(|_| drop(held.remove(&inner_name, true)))?;
            Ok(Made { held, inner_name, inner })
        });
        // If it cannot be used, it is our own and empty, or it does not exist.
        let made = made.inspect_err(|_| drop(parent.remove(&self.name, true)))?;
        self.made = Some(made);
        Ok(())
    }

    /// Removes it from `parent`, if it is empty.
    pub(super) fn take_down(&mut self, parent: &HeldDirectory) -> io::Result<()> {
        let Some(made) = self.made.take() else { return Ok(()) };
        // The next call fails if this one did.
        let _ = made.held.remove(&made.inner_name, true);
        parent.remove(&self.name, true)
    }
}

/// Opens a directory that was just made, and checks that it is this directory.
fn opened(parent: &HeldDirectory, name: &CStr, around: &ExactStat) -> Result<HeldDirectory, Stop> {
    let held = parent.descend(&[name])?;
    let stat = held.stat()?;
    let is_private = stat.stat.mode.0 & 0o777 == 0o700 && stat.stat.owner == user_id();
    let is_here = (stat.mount, stat.stat.device) == (around.mount, around.stat.device);
    let is_empty = held.names(1)?.is_empty();
    match is_private && is_here && is_empty {
        true => Ok(held),
        false => Err(because("no private directory can be made beside it")),
    }
}

/// A name that nobody can guess: std seeds its hashers with random numbers of the system.
pub(super) fn random_name() -> io::Result<CString> {
    let number = RandomState::new().build_hasher().finish();
    CString::new(format!(".weigh-{number:016x}")).map_err(io::Error::other)
}
