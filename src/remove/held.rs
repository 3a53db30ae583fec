//! A mount that was scanned: its topmost directory that was, held, so that whatever becomes of the paths that led to
//! it, what is removed lies below it.

use std::collections::HashSet;
use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::explain::explain;
use super::target::KnownEntry;
use crate::path;
use crate::sys::{ExactStat, HeldDirectory, Identity, mount_points};

/// The topmost scanned directory of a mount, held from when it is first asked for.
#[derive(Debug)]
pub struct HeldMount {
    path: PathBuf,
    known: KnownEntry,
    home: Option<PathBuf>,
    by_steps: bool,
    has_room: bool,
    /// What came of opening it. Who opens it is the thread that removes, for that may take long.
    opened: OnceLock<Result<OpenedMount, String>>,
}

#[derive(Debug)]
struct OpenedMount {
    held: HeldDirectory,
    stat: ExactStat,
    /// The user's home directory, and all that it lies in.
    homes: HashSet<Identity>,
}

impl HeldMount {
    /// The directory at `path`, of which the scan knows `known`.
    pub fn new(path: PathBuf, known: KnownEntry, home: Option<&Path>) -> Self {
        let (home, opened) = (home.map(Path::to_owned), OnceLock::new());
        Self { path, known, home, by_steps: false, has_room: true, opened }
    }

    /// The same, where ways from it are gone as on a kernel without openat2(2).
    pub fn by_steps(self) -> Self {
        Self { by_steps: true, opened: OnceLock::new(), ..self }
    }

    /// The same, as on a file system that has no room for a private directory.
    pub fn without_room(self) -> Self {
        Self { has_room: false, ..self }
    }

    pub(super) fn has_room(&self) -> bool {
        self.has_room
    }

    /// Its path when it was scanned.
    pub fn path(&self) -> &[u8] {
        self.path.as_os_str().as_encoded_bytes()
    }

    fn opened(&self) -> io::Result<&OpenedMount> {
        let opened =
            self.opened.get_or_init(|| self.open().map_err(|error| explain(&error, None, None)));
        opened.as_ref().map_err(|why| io::Error::other(why.clone()))
    }

    fn open(&self) -> io::Result<OpenedMount> {
        let held = HeldDirectory::open(&CString::new(self.path())?)?;
        let held = if self.by_steps { held.by_steps() } else { held };
        let stat = held.stat()?;
        self.known.check_identity(&stat)?;
        // Where it is not there, it is not below either.
        let homes = self.home.as_deref().and_then(|home| chain(home).ok()).unwrap_or_default();
        Ok(OpenedMount { held, stat, homes })
    }

    pub(super) fn held(&self) -> io::Result<&HeldDirectory> {
        self.opened().map(|opened| &opened.held)
    }

    pub(super) fn stat(&self) -> io::Result<&ExactStat> {
        self.opened().map(|opened| &opened.stat)
    }

    /// Refuses the user's home directory, and what holds it, by whatever path it was come to; and the directory that
    /// is held.
    pub(super) fn ensure_not_protected(&self, it: &ExactStat) -> io::Result<()> {
        if !it.is_directory() {
            return Ok(());
        }
        let OpenedMount { stat, homes, .. } = self.opened()?;
        if it.stat.identity() == stat.stat.identity() {
            return Err(io::Error::other("it is a root of the scan"));
        }
        if homes.contains(&it.stat.identity()) {
            return Err(io::Error::other("it is your home directory or contains it"));
        }
        Ok(())
    }
}

/// Refuses the directory at `path` if something is mounted on it or below, as far as the system tells.
pub(super) fn ensure_nothing_mounted(path: &[u8]) -> io::Result<()> {
    let mut below = path.to_vec();
    path::join(&mut below, b"");
    let is_below = |point: &Vec<u8>| point == path || point.starts_with(&below);
    match mount_points().iter().any(is_below) {
        true => Err(io::Error::other("something is mounted in it")),
        false => Ok(()),
    }
}

/// Which directories the one at `path` is, and lies in.
fn chain(path: &Path) -> io::Result<HashSet<Identity>> {
    let path = CString::new(path.as_os_str().as_encoded_bytes())?;
    let mut held = HeldDirectory::open(&path)?;
    let mut met = HashSet::new();
    // The topmost directory lies in itself.
    while met.insert(held.stat()?.stat.identity()) {
        held = held.up()?;
    }
    Ok(met)
}
