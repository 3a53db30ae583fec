//! The topmost scanned directory of a mount, held open. Whatever happens to the paths that led to it, everything that
//! is removed is below it.

use std::ffi::CString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::explain::explain;
use super::known::KnownEntry;
use super::protected::{ProtectedLocations, ProtectedPaths, Refusal};
use crate::scan::containers::StorageSearch;
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
