//! A private directory beside a target. The target is moved into it under its own name, where no other program reaches
//! it by its old path.
//!
//! It contains another private directory. If the target is a directory, its entries are moved there one by one.

use std::ffi::{CStr, CString};
use std::io::{self, ErrorKind};

use super::aside::random_name;
use super::outcome::{RemovalStep, Stop, because};
use super::run::Removal;
use super::target::is_beside;
use crate::base::path;
use crate::sys::{ExactStat, HeldDirectory, user_id};

/// A private directory, and the one in it.
#[derive(Debug)]
pub(super) struct Private {
    name: CString,
    inner_name: CString,
    /// Both, if they have been made.
    held: Option<(HeldDirectory, HeldDirectory)>,
}

impl Private {
    /// Chooses the names. Nothing is made yet.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { name: random_name()?, inner_name: random_name()?, held: None })
    }

    /// Its path, even before it is made, in the directory at `parent`.
    pub(super) fn path(&self, parent: &[u8]) -> Vec<u8> {
        path::join_all([parent, self.name.as_bytes()])
    }

    /// The path of the one in it.
    pub(super) fn inner_path(&self, parent: &[u8]) -> Vec<u8> {
        path::join_all([parent, self.name.as_bytes(), self.inner_name.as_bytes()])
    }

    /// Makes both in `parent`, whose attributes are `around`, unless they exist.
    pub(super) fn make(
        &mut self,
        parent: &HeldDirectory,
        around: &ExactStat,
        removal: &mut Removal<'_>,
    ) -> Result<(&HeldDirectory, &HeldDirectory), Stop> {
        let made = match &mut self.held {
            Some(made) => made,
            none => {
                removal.before(RemovalStep::Prepare, self.name.as_bytes())?;
                let held = make_directory(parent, &self.name, around)?;
                let inner = make_directory(&held, &self.inner_name, around);
                // It is our own and empty.
                let inner = inner.inspect_err(|_| drop(parent.remove(&self.name, true)))?;
                none.insert((held, inner))
            }
        };
        Ok((&made.0, &made.1))
    }

    /// Removes both from `parent`, if they are empty.
    pub(super) fn remove(self, parent: &HeldDirectory) -> io::Result<()> {
        /// Closing a file on NFS takes some milliseconds.
        const TRIES: usize = 20;
        let Some((held, inner)) = self.held else { return Ok(()) };
        let remove = || {
            let _ = held.remove(&self.inner_name, true);
            // This fails if that did.
            parent.remove(&self.name, true)
        };
        for _ in 1..TRIES {
            match remove() {
                Err(_) if held.waits_for_nfs() || inner.waits_for_nfs() => {}
                done => return done,
            }
        }
        remove()
    }
}

/// Makes a directory, and opens it if it is this directory. If not, it is removed. On a network, a directory may be made
/// although the answer is lost.
fn make_directory(
    parent: &HeldDirectory,
    name: &CStr,
    around: &ExactStat,
) -> Result<HeldDirectory, Stop> {
    let made = match parent.make_directory(name) {
        // It may be somebody else's.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error.into()),
        made => made,
    };
    opened(parent, name, around).map_err(|stop| {
        // If it cannot be used, it is our own and empty, or it does not exist.
        let _ = parent.remove(name, true);
        made.err().map_or(stop, Stop::from)
    })
}

fn opened(parent: &HeldDirectory, name: &CStr, around: &ExactStat) -> Result<HeldDirectory, Stop> {
    let held = parent.descend(&[name])?;
    let stat = held.stat()?;
    // FAT has no modes: a mount gives all directories the same, such as 0755. Others must not be able to write.
    let mode = stat.stat.mode.0;
    let is_closed = mode & 0o777 == 0o700 || mode & 0o022 == 0 && held.is_local();
    let is_private = is_closed && stat.stat.owner == user_id();
    let is_empty = held.names(1)?.is_empty();
    let is_beside = is_beside(&stat, around);
    if is_private && is_beside && is_empty {
        return Ok(held);
    }
    // It was made with mode 0700.
    if is_beside && is_empty && !is_closed {
        return Err(because(format!(
            "D needs a private directory beside it, which gets mode {:04o} here: t moves it into the trash, and rm \
             deletes it",
            mode & 0o7777
        )));
    }
    Err(because("no private directory can be made beside it"))
}

#[cfg(test)]
mod tests;
