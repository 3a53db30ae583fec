//! The topmost scanned directory of a mount, held open. Whatever happens to the paths that led to it, everything that
//! is removed is below it.

use std::ffi::{CString, OsStr};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::log::UserDirectories;
use super::outcome::{RemovalEvent, RemovalStep, Stop, explain};
use super::private::Private;
use super::protected::{ProtectedLocations, ProtectedPaths, Refusal};
use super::run::Removal;
use super::target::{KnownEntry, Target, TargetDirectory};
use super::trash::TrashDirectory;
use crate::base::inode::Identity;
use crate::scan::containers::StorageSearch;
use crate::sys::problem::{Operation, Problem};
use crate::sys::{ExactStat, HeldDirectory};

/// The topmost scanned directory of a mount. It is opened when it is first needed.
#[derive(Debug)]
pub(super) struct HeldMount {
    path: PathBuf,
    known: KnownEntry,
    paths: Arc<ProtectedPaths>,
    /// The result of opening it. The thread that removes opens it, because that may take long.
    opened: OnceLock<Result<OpenedMount, String>>,
    /// The directories around targets that were looked at. System calls are made under this lock: only one thread removes
    /// at a time, or reviews.
    storages: Mutex<StorageSearch>,
}

#[derive(Debug)]
pub(super) struct OpenedMount {
    pub(super) held: HeldDirectory,
    pub(super) stat: ExactStat,
    /// What was protected when this was opened.
    pub(super) protected: ProtectedLocations,
}

impl HeldMount {
    /// The directory at `path`. `known` is from the scan, and `paths` are protected.
    pub(super) fn new(path: PathBuf, known: KnownEntry, paths: Arc<ProtectedPaths>) -> Self {
        Self { path, known, paths, opened: OnceLock::new(), storages: Mutex::default() }
    }

    /// Its path now, if it is open and the system tells, or else when it was scanned.
    pub(super) fn path(&self) -> Vec<u8> {
        let opened = self.opened.get().and_then(|opened| opened.as_ref().ok());
        let now = opened.and_then(|opened| opened.held.path().ok());
        now.unwrap_or_else(|| self.path.as_os_str().as_encoded_bytes().to_vec())
    }

    pub(super) fn opened(&self) -> io::Result<&OpenedMount> {
        let opened =
            self.opened.get_or_init(|| self.open().map_err(|error| explain(&error, None, None)));
        opened.as_ref().map_err(|why| io::Error::other(why.clone()))
    }

    fn open(&self) -> io::Result<OpenedMount> {
        let held = HeldDirectory::open(&CString::new(self.path())?)?;
        let stat = held.stat()?;
        self.known.check_identity(&stat)?;
        let protected = self.paths.ask(Some(&stat))?;
        Ok(OpenedMount { held, stat, protected })
    }

    /// The reason why nothing in the directory at `path`, which is on this mount with the id `mount`, must be removed: it
    /// is in a container engine's storage.
    pub(super) fn refusal_around(
        &self,
        path: &[u8],
        mount: u64,
        protected: &ProtectedLocations,
    ) -> Option<Refusal> {
        let mut storages = self.storages.lock().unwrap_or_else(PoisonError::into_inner);
        storages.around(path, mount, protected.mounts()).map(|storage| storage.refusal)
    }

    /// What is protected now.
    pub(super) fn protected_now(&self) -> io::Result<ProtectedLocations> {
        self.paths.ask(Some(&self.opened()?.stat))
    }
}

// The directory of one or more targets, as long as it is held.

/// A directory with targets.
pub(super) struct Parent {
    pub(super) directory: TargetDirectory,
    pub(super) private: Private,
    mount: Arc<HeldMount>,
    way: Vec<Vec<u8>>,
    trash: Option<Arc<TrashDirectory>>,
    /// The number of one target in it.
    target: usize,
}

impl Parent {
    /// Whether it is the directory of `target`, still at the same path.
    pub(super) fn is_of(&self, target: &Target) -> bool {
        Arc::ptr_eq(&self.mount, &target.mount)
            && self.way == target.way
            && self.directory.held.path().is_ok_and(|now| now == self.directory.path)
    }

    /// Opens the directory of `target`.
    pub(super) fn open(target: &Target, removal: &mut Removal<'_>) -> Result<Self, Stop> {
        let name = target.way.last().map_or(&b""[..], |name| name);
        removal.before(RemovalStep::Enter, name)?;
        Ok(Self {
            directory: target.enter()?,
            private: Private::new()?,
            mount: Arc::clone(&target.mount),
            way: target.way.clone(),
            trash: None,
            target: removal.target(),
        })
    }

    /// Removes its private directory.
    pub(super) fn leave(self, removal: &mut Removal<'_>) {
        let Self { directory, private, target, .. } = self;
        let path = private.path(&directory.path);
        let removed = private.remove(&directory.held);
        if let Ok(stat) = directory.held.stat() {
            removal.report(RemovalEvent::Left { target, stat: &stat });
        }
        let Err(error) = removed else { return };
        let why = explain(&error, Some(&directory.stat), None);
        let message = format!("weigh could not remove its private directory: {why}");
        let problem = Problem::new(path, Operation::Remove, &error);
        removal.removed.left.push(Problem { message, ..problem });
    }

    /// The trash for its entries.
    pub(super) fn trash(
        &mut self,
        directories: &UserDirectories,
        removal: &mut Removal<'_>,
    ) -> Result<Arc<TrashDirectory>, Stop> {
        if let Some(trash) = &self.trash {
            return Ok(Arc::clone(trash));
        }
        let used = &mut removal.removed.trashes;
        let found = TrashDirectory::find(&self.directory, directories, used)?;
        let known = removal.trashes.iter().find(|known| known.is_same(&found)).cloned();
        let trash = known.unwrap_or_else(|| {
            let found = Arc::new(found);
            removal.trashes.push(Arc::clone(&found));
            found
        });
        Ok(Arc::clone(self.trash.insert(trash)))
    }
}

pub(super) fn c_string(path: &OsStr) -> io::Result<CString> {
    Ok(CString::new(path.as_encoded_bytes())?)
}

/// The identities of the directory `held` and of its ancestors.
pub(super) fn ancestors(held: &HeldDirectory) -> io::Result<Vec<Identity>> {
    let mut found = vec![held.stat()?.stat.identity()];
    let mut above = held.up()?;
    loop {
        let identity = above.stat()?.stat.identity();
        // The root directory is its own parent.
        if found.last() == Some(&identity) {
            return Ok(found);
        }
        found.push(identity);
        above = above.up()?;
    }
}
