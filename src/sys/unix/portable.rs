//! Any Unix, through std::fs alone. An open directory is its path, so paths are bounded by PATH_MAX, and a directory
//! that is renamed during the walk has vanished.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File, FileType, Metadata, ReadDir};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::inode::Identity;
use crate::measure::{Kind, Mode};
use crate::sys::source::{Source, each_of_next};
use crate::sys::system::carries;
use crate::sys::{Listed, Listing, Mount, Query, Stat, Symlinks, seconds_since_epoch};

/// A directory, by its path.
#[derive(Debug)]
pub struct Handle {
    path: PathBuf,
    /// Guards the position in the listing while the next names are read. None if it was opened without reading.
    entries: Option<Mutex<ReadDir>>,
}

impl Handle {
    /// Opens the directory at `path`, following symlinks.
    pub fn open(path: &CStr) -> io::Result<Self> {
        Self::at(as_path(path).to_owned())
    }

    fn at(path: PathBuf) -> io::Result<Self> {
        let entries = Some(Mutex::new(fs::read_dir(&path)?));
        Ok(Self { path, entries })
    }

    /// Opens the directory at `path` without reading it, following symlinks. It need not be readable.
    pub fn look(path: &CStr) -> io::Result<Self> {
        let path = as_path(path).to_owned();
        fs::metadata(&path)?;
        Ok(Self { path, entries: None })
    }

    /// Opens the parent directory without reading it; the uppermost directory is its own parent.
    pub fn up(&self) -> io::Result<Self> {
        let path = self.path.join("..");
        fs::metadata(&path)?;
        Ok(Self { path, entries: None })
    }

    /// Opens the directory called `name` in this one.
    pub fn open_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<Self> {
        let path = self.path.join(as_path(name));
        if symlinks == Symlinks::Stay && !fs::symlink_metadata(&path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Self::at(path)
    }

    /// The attributes of the entry called `name`. std gets all of them, whatever is asked for.
    ///
    /// Not inlined where it is one source of several, beside that of Linux.
    #[inline(never)]
    pub fn stat_at(&self, name: &CStr, symlinks: Symlinks, _: Query) -> io::Result<Stat> {
        stat_path(&self.path.join(as_path(name)), symlinks)
    }

    /// The identity of this directory.
    pub fn identity(&self) -> io::Result<Identity> {
        Ok(stat_path(&self.path, Symlinks::Follow)?.identity())
    }

    /// The identity of this directory. std does not tell the mount.
    pub fn place(&self) -> io::Result<Identity> {
        Ok(Identity { mount: unknown_mount().id, ..self.identity()? })
    }

    /// Whether the directory must not be entered, if the system tells; std knows nothing of mounts.
    pub fn mount_at(&self, name: &CStr, _: Symlinks) -> io::Result<Mount> {
        let carries = carries(&self.path.join(as_path(name)));
        Ok(Mount { carries, ..unknown_mount() })
    }

    /// Opens the file at `path`, relative to this directory, for reading.
    pub fn open_file_at(&self, path: &CStr, _: Symlinks) -> io::Result<File> {
        File::open(self.path.join(as_path(path)))
    }

    /// Appends the next names to `names`. Returns whether there may be more. The other arguments are for other
    /// systems.
    ///
    /// # Errors
    /// The system's, from readdir(3). Names read before the error have been appended.
    pub fn read(&self, _: &mut Vec<u8>, names: &mut Listing, _: Option<u64>) -> io::Result<bool> {
        let before = names.len();
        each_of_next(self.entries.as_ref(), |entry| {
            let kind = entry.file_type().ok().map(kind);
            // The system never returns a name with a NUL.
            if let Ok(name) = CString::new(entry.file_name().into_vec()) {
                // Unix tells no more.
                names.push(Listed { name: &name, kind, inode: entry.ino(), stat: None });
            }
            Ok(())
        })?;
        Ok(names.len() > before)
    }
}

/// The attributes of what `path` names.
pub fn stat(path: &CStr, symlinks: Symlinks, _: Query) -> io::Result<Stat> {
    stat_path(as_path(path), symlinks)
}

/// std cannot tell.
pub fn mount_of(_: &CStr, _: Symlinks) -> io::Result<Mount> {
    Ok(unknown_mount())
}

fn unknown_mount() -> Mount {
    Mount { source: Source::Portable, ..Mount::default() }
}

fn as_path(name: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(name.to_bytes()))
}

fn stat_path(path: &Path, symlinks: Symlinks) -> io::Result<Stat> {
    Ok(convert(&match symlinks {
        Symlinks::Stay => fs::symlink_metadata(path)?,
        Symlinks::Follow => fs::metadata(path)?,
    }))
}

fn kind(listed: FileType) -> Kind {
    if listed.is_dir() {
        Kind::Directory
    } else if listed.is_file() {
        Kind::File
    } else if listed.is_symlink() {
        Kind::Symlink
    } else {
        Kind::Other
    }
}

fn convert(metadata: &Metadata) -> Stat {
    Stat {
        device: metadata.dev(),
        inode: metadata.ino(),
        links: u32::try_from(metadata.nlink()).unwrap_or(u32::MAX),
        // The bits above 16 are not used by any Unix (inode(7)).
        mode: Mode((metadata.mode() & 0xffff) as u16),
        // std does not tell; a file hardly ever is one.
        mount_point: metadata.is_dir(),
        blocks: metadata.blocks(),
        length: metadata.len(),
        accessed: metadata.atime(),
        modified: metadata.mtime(),
        changed: metadata.ctime(),
        changed_nanos: u32::try_from(metadata.ctime_nsec()).unwrap_or(0),
        born: metadata.created().map_or(0, seconds_since_epoch),
        owner: metadata.uid(),
        group: Some(metadata.gid()),
    }
}
