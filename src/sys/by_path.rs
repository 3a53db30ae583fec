//! Directories by their paths, through std::fs: both sources of all systems but Linux, and its portable one. A directory
//! that is renamed during the walk has vanished.
//!
//! What differs is in the system's own `by_path`: its `source`, `stat_path` and `stat_within`, where a root is
//! (`located`), which directory is above (`parent`), the volume of a directory (`device_of`), and what a listing tells
//! (`listed`). The system's `mount_content` tells whether something is mounted there.

use std::ffi::{CStr, CString};
use std::fs::{self, File, FileType, ReadDir};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::system::by_path::{device_of, listed, located, parent, source, stat_path, stat_within};
use super::system::{mount_content, to_path};
use super::{Listed, Listing, Mount, Query, Stat, Symlinks};
use crate::base::inode::Identity;
use crate::base::measure::Kind;

/// A directory, by its path. `ASKS` says whether files are opened for what no listing has. Only on Windows does that
/// make a difference.
#[derive(Debug)]
pub struct PathHandle<const ASKS: bool> {
    path: PathBuf,
    /// The volume that it is on; 0 if files tell theirs.
    device: u64,
    /// Guards the position in the listing while the next names are read. None if it was opened without reading.
    entries: Option<Mutex<ReadDir>>,
}

impl<const ASKS: bool> PathHandle<ASKS> {
    /// std knows nothing of mounts.
    fn mount() -> Mount {
        Mount { source: source(ASKS), ..Mount::default() }
    }

    /// Opens the directory at `path`, following symlinks.
    pub fn open(path: &CStr) -> io::Result<Self> {
        let Self { path, device, .. } = Self::look(path)?;
        Self::at(path, device)
    }

    fn at(path: PathBuf, device: u64) -> io::Result<Self> {
        let entries = Some(Mutex::new(fs::read_dir(&path)?));
        Ok(Self { path, device, entries })
    }

    /// Opens the directory at `path` without reading it, following symlinks. It need not be readable.
    pub fn look(path: &CStr) -> io::Result<Self> {
        let (path, device) = located(&to_path(path.to_bytes()))?;
        Ok(Self { path, device, entries: None })
    }

    /// std does not tell.
    pub fn number(&self) -> Option<usize> {
        None
    }

    /// The attributes of what `path` names.
    pub fn stat(path: &CStr, symlinks: Symlinks, _: Query) -> io::Result<Stat> {
        stat_path(&to_path(path.to_bytes()), symlinks)
    }

    /// The mount that `path` is on: std cannot tell.
    pub fn mount_of(_: &CStr, _: Symlinks) -> io::Result<Mount> {
        Ok(Self::mount())
    }

    /// Opens the parent directory without reading it; the uppermost directory is its own parent.
    pub fn up(&self) -> io::Result<Self> {
        let path = parent(&self.path);
        fs::metadata(&path)?;
        Ok(Self { path, device: self.device, entries: None })
    }

    /// Opens the directory called `name` in this one. Its attributes are not needed.
    pub fn open_at(&self, name: &CStr, _: Option<&Stat>, symlinks: Symlinks) -> io::Result<Self> {
        let path = self.below(name);
        let device = match symlinks {
            Symlinks::Follow => device_of(&path)?,
            Symlinks::Stay if fs::symlink_metadata(&path)?.is_dir() => self.device,
            Symlinks::Stay => return Err(io::ErrorKind::NotADirectory.into()),
        };
        Self::at(path, device)
    }

    /// The attributes of the entry called `name`. std gets all of them, whatever is asked for.
    ///
    /// Not inlined where it is one source of several, beside that of Linux.
    #[inline(never)]
    pub fn stat_at(&self, name: &CStr, symlinks: Symlinks, _: Query) -> io::Result<Stat> {
        stat_within(self.device, &self.below(name), symlinks)
    }

    /// The identity of this directory. std does not tell the mount.
    pub fn mounted_identity(&self) -> io::Result<Identity> {
        Ok(stat_path(&self.path, Symlinks::Follow)?.identity())
    }

    /// Whether the directory must not be entered, if the system tells.
    pub fn mount_at(&self, name: &CStr, _: Symlinks) -> io::Result<Mount> {
        Ok(Mount { content: mount_content(&self.below(name))?, ..Self::mount() })
    }

    /// Opens the file at `path`, relative to this directory, for reading.
    pub fn open_file_at(&self, path: &CStr, _: Symlinks) -> io::Result<File> {
        File::open(self.below(path))
    }

    /// Appends the next names to `names`, about as many as Linux returns in one call. Returns whether there may be
    /// more. The other arguments are for Linux.
    ///
    /// # Errors
    /// The system's, from readdir(3) or FindNextFileW; names read before the error have been appended. `Unsupported`
    /// for a directory that was opened without reading.
    pub fn read(&self, _: &mut Vec<u8>, names: &mut Listing, _: Option<u64>) -> io::Result<bool> {
        const NAMES: usize = 2_000;
        let before = names.len();
        let entries = self.entries.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in entries.by_ref().take(NAMES) {
            let entry = entry?;
            let (kind, inode, stat) = listed(&entry, self.device, ASKS)?;
            // The system never returns a name with a NUL.
            if let Ok(name) = CString::new(entry.file_name().into_encoded_bytes()) {
                names.push(Listed { name: &name, kind, inode, stat: stat.as_ref() });
            }
        }
        Ok(names.len() > before)
    }

    fn below(&self, name: &CStr) -> PathBuf {
        self.path.join(to_path(name.to_bytes()))
    }
}

/// The kind of a file of this type.
pub(super) fn kind(file_type: FileType) -> Kind {
    if file_type.is_dir() {
        Kind::Directory
    } else if file_type.is_file() {
        Kind::File
    } else if file_type.is_symlink() {
        Kind::Symlink
    } else {
        Kind::Other
    }
}
