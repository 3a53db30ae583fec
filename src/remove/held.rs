//! The topmost scanned directory of a mount, held open. Whatever happens to the paths that led to it, everything that
//! is removed is below it.

use std::ffi::CString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::explain::explain;
use super::protected::{ProtectedPaths, ProtectedPlaces};
use super::target::KnownEntry;
use crate::inode::Identity;
use crate::sys::{ExactStat, HeldDirectory};

/// The topmost scanned directory of a mount. It is opened when it is first needed.
#[derive(Debug)]
pub struct HeldMount {
    path: PathBuf,
    known: KnownEntry,
    paths: Arc<ProtectedPaths>,
    /// The result of opening it. The thread that removes opens it, because that may take long.
    opened: OnceLock<Result<OpenedMount, String>>,
}

#[derive(Debug)]
struct OpenedMount {
    held: HeldDirectory,
    stat: ExactStat,
    protected: ProtectedPlaces,
}

impl HeldMount {
    /// The directory at `path`. `known` is from the scan, and `paths` are protected.
    pub fn new(path: PathBuf, known: KnownEntry, paths: Arc<ProtectedPaths>) -> Self {
        Self { path, known, paths, opened: OnceLock::new() }
    }

    /// Its path now, if it is open and the system tells, or else when it was scanned.
    pub fn path(&self) -> Vec<u8> {
        let opened = self.opened.get().and_then(|opened| opened.as_ref().ok());
        let now = opened.and_then(|opened| opened.held.path().ok());
        now.unwrap_or_else(|| self.path.as_os_str().as_encoded_bytes().to_vec())
    }

    fn opened(&self) -> io::Result<&OpenedMount> {
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

    pub(super) fn held(&self) -> io::Result<&HeldDirectory> {
        self.opened().map(|opened| &opened.held)
    }

    pub(super) fn stat(&self) -> io::Result<&ExactStat> {
        self.opened().map(|opened| &opened.stat)
    }

    /// What is protected, as it was when this was opened.
    pub(super) fn protected(&self) -> io::Result<&ProtectedPlaces> {
        self.opened().map(|opened| &opened.protected)
    }

    /// What is protected now.
    pub(super) fn protected_now(&self) -> io::Result<ProtectedPlaces> {
        self.paths.ask(Some(self.stat()?))
    }
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
