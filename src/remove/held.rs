//! The topmost scanned directory of a mount, held open. Whatever happens to the paths that led to it, everything that
//! is removed is below it.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::explain::explain;
use super::target::KnownEntry;
use crate::inode::Identity;
use crate::path;
use crate::sys::{ExactStat, HeldDirectory, mount_points};

/// The topmost scanned directory of a mount. It is opened when it is first needed.
#[derive(Debug)]
pub struct HeldMount {
    path: PathBuf,
    known: KnownEntry,
    home: Option<PathBuf>,
    by_steps: bool,
    has_room: bool,
    /// The result of opening it. The thread that removes opens it, because that may take long.
    opened: OnceLock<Result<OpenedMount, String>>,
}

#[derive(Debug)]
struct OpenedMount {
    held: HeldDirectory,
    stat: ExactStat,
    /// The user's home directory, and all directories above it.
    homes: Vec<Identity>,
}

impl HeldMount {
    /// The directory at `path`. `known` is from the scan.
    pub fn new(path: PathBuf, known: KnownEntry, home: Option<&Path>) -> Self {
        let (home, opened) = (home.map(Path::to_owned), OnceLock::new());
        Self { path, known, home, by_steps: false, has_room: true, opened }
    }

    /// The same, but opens directories as on a kernel without openat2(2).
    pub fn by_steps(self) -> Self {
        Self { by_steps: true, opened: OnceLock::new(), ..self }
    }

    /// The same, but as on a full file system, without private directories.
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
        let mut held = HeldDirectory::open(&CString::new(self.path())?)?;
        if self.by_steps {
            held.go_by_steps();
        }
        let stat = held.stat()?;
        self.known.check_identity(&stat)?;
        // If it does not exist, nothing contains it.
        let homes = self.homes().unwrap_or_default();
        Ok(OpenedMount { held, stat, homes })
    }

    fn homes(&self) -> Option<Vec<Identity>> {
        let home = CString::new(self.home.as_ref()?.as_os_str().as_encoded_bytes()).ok()?;
        ancestors(&HeldDirectory::open(&home).ok()?).ok()
    }

    pub(super) fn held(&self) -> io::Result<&HeldDirectory> {
        self.opened().map(|opened| &opened.held)
    }

    pub(super) fn stat(&self) -> io::Result<&ExactStat> {
        self.opened().map(|opened| &opened.stat)
    }

    /// Refuses the user's home directory, all directories above it, by whatever path they were found, and the held
    /// directory itself.
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

/// Refuses the directory at `path` if something is mounted on it or below it, as far as the system tells.
pub(super) fn ensure_nothing_mounted(path: &[u8]) -> io::Result<()> {
    let mut below = path.to_vec();
    path::join(&mut below, b"");
    let is_below = |point: &Vec<u8>| point == path || point.starts_with(&below);
    match mount_points().iter().any(is_below) {
        true => Err(io::Error::other("something is mounted in it")),
        false => Ok(()),
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
