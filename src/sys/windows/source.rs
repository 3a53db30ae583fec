//! Windows, through std::fs and winapi-util. A listing has sizes, times and attributes, so files need no call of their
//! own; links and file ids cost an open each. There are two sources: [`listing`] asks for links and ids of directories
//! only, and takes every file for the only link to its inode; [`exact`] asks for those of files too.
//!
//! An open directory is its path, in verbatim form (`\\?\`), so that it may be longer than 260 characters, and a name
//! may be `NUL` or end in a dot.
//!
//! No file's content is read. Symlinks, junctions and mounted volumes are symlinks here, as in std. Files that a cloud
//! drive keeps online only take nothing on the disk; a directory that would have to be fetched is not entered.

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::fs::{self, File, Metadata, OpenOptions, ReadDir};
use std::io;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use filesize::PathExt;
use winapi_util::file::information;

use crate::inode::Identity;
use crate::measure::{Kind, Mode};
use crate::sys::source::{Source, each_of_next};
use crate::sys::{
    Carries, Listed, Listing, Mount, Query, Stat, Symlinks, seconds_since_epoch, to_path,
};

/// Files are described by the listing alone.
pub mod listing {
    use super::*;

    pub use super::stat;

    /// An open directory.
    pub type Handle = super::Handle<false>;

    /// All mounts of Windows are symlinks here.
    pub fn mount_of(_: &CStr, _: Symlinks) -> io::Result<Mount> {
        Ok(Handle::mount())
    }
}

/// Every file is opened for its number of links and its file id.
pub mod exact {
    use super::*;

    pub use super::stat;

    /// An open directory.
    pub type Handle = super::Handle<true>;

    /// All mounts of Windows are symlinks here.
    pub fn mount_of(_: &CStr, _: Symlinks) -> io::Result<Mount> {
        Ok(Handle::mount())
    }
}

/// FILE_FLAG_BACKUP_SEMANTICS, to open a directory; FILE_FLAG_OPEN_NO_RECALL, to fetch nothing (CreateFileW).
const FLAGS: u32 = 0x0200_0000 | 0x0010_0000;
/// FILE_FLAG_OPEN_REPARSE_POINT, to open a symlink itself.
const REPARSE_POINT: u32 = 0x0020_0000;
/// FILE_ATTRIBUTE_COMPRESSED and FILE_ATTRIBUTE_SPARSE_FILE ("File Attribute Constants").
const PACKED: u32 = 0x800 | 0x200;
/// FILE_ATTRIBUTE_OFFLINE and FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS.
const ELSEWHERE: u32 = 0x1000 | RECALL_ON_OPEN | 0x0040_0000;
/// FILE_ATTRIBUTE_RECALL_ON_OPEN.
const RECALL_ON_OPEN: u32 = 0x0004_0000;

/// A directory, by its path. `ASKS` says whether files are opened for their links and ids.
#[derive(Debug)]
pub struct Handle<const ASKS: bool> {
    path: PathBuf,
    /// The volume that it is on.
    device: u64,
    /// Guards the position in the listing while the next names are read. None if it was opened without reading.
    entries: Option<Mutex<ReadDir>>,
}

impl<const ASKS: bool> Handle<ASKS> {
    fn mount() -> Mount {
        let source = if ASKS { Source::Exact } else { Source::Listing };
        Mount { source, ..Mount::default() }
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
        let path = as_path(path);
        // Drives made by some drivers have only the name that was given.
        let path = fs::canonicalize(&path).or_else(|_| std::path::absolute(&path))?;
        let device = stat_path(&path, Symlinks::Follow)?.device;
        Ok(Self { path, device, entries: None })
    }

    /// Opens the parent directory without reading it; the uppermost directory is its own parent.
    pub fn up(&self) -> io::Result<Self> {
        let path = self.path.parent().unwrap_or(&self.path).to_owned();
        fs::metadata(&path)?;
        Ok(Self { path, device: self.device, entries: None })
    }

    /// Opens the directory called `name` in this one.
    pub fn open_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<Self> {
        let path = self.path.join(as_path(name));
        let device = match symlinks {
            Symlinks::Follow => stat_path(&path, symlinks)?.device,
            Symlinks::Stay if fs::symlink_metadata(&path)?.is_dir() => self.device,
            Symlinks::Stay => return Err(io::ErrorKind::NotADirectory.into()),
        };
        Self::at(path, device)
    }

    /// The attributes of the entry called `name`. Windows returns all of them, whatever is asked for.
    pub fn stat_at(&self, name: &CStr, symlinks: Symlinks, _: Query) -> io::Result<Stat> {
        let path = self.path.join(as_path(name));
        stat_path(&path, symlinks).or_else(|error| {
            // Nobody may open the page file, but its directory lists it.
            let told = fs::symlink_metadata(&path).ok().filter(Metadata::is_file);
            told.map(|told| convert(&told, &path, self.device)).ok_or(error)
        })
    }

    /// The identity of this directory.
    pub fn identity(&self) -> io::Result<Identity> {
        Ok(stat_path(&self.path, Symlinks::Follow)?.identity())
    }

    /// The identity of this directory.
    pub fn place(&self) -> io::Result<Identity> {
        Ok(Identity { mount: Self::mount().id, ..self.identity()? })
    }

    /// Whether the directory must be fetched before it can be listed.
    pub fn mount_at(&self, name: &CStr, _: Symlinks) -> io::Result<Mount> {
        let path = self.path.join(as_path(name));
        let is_elsewhere = fs::symlink_metadata(path)?.file_attributes() & RECALL_ON_OPEN != 0;
        let carries = if is_elsewhere { Carries::Automount } else { Carries::Data };
        Ok(Mount { carries, ..Self::mount() })
    }

    /// Opens the file at `path`, relative to this directory, for reading.
    pub fn open_file_at(&self, path: &CStr, _: Symlinks) -> io::Result<File> {
        File::open(self.path.join(as_path(path)))
    }

    /// Appends the next names to `names`. Returns whether there may be more. The other arguments are for other
    /// systems.
    ///
    /// # Errors
    /// The system's, from FindNextFileW. Names read before the error have been appended.
    pub fn read(&self, _: &mut Vec<u8>, names: &mut Listing, _: Option<u64>) -> io::Result<bool> {
        let before = names.len();
        each_of_next(self.entries.as_ref(), |entry| {
            // Both come from the listing.
            let (name, told) = (entry.file_name(), entry.metadata()?);
            let kind = kind(&told);
            // Directories need their file ids. Files are opened only if asked for.
            let is_enough = kind != Kind::Directory && !ASKS;
            let stat = is_enough.then(|| convert(&told, &entry.path(), self.device));
            // The system never returns a name with a NUL.
            if let Ok(name) = CString::new(name.into_encoded_bytes()) {
                let stat = stat.as_ref();
                names.push(Listed { name: &name, kind: Some(kind), inode: 0, stat });
            }
            Ok(())
        })?;
        Ok(names.len() > before)
    }
}

/// The attributes of what `path` names.
pub fn stat(path: &CStr, symlinks: Symlinks, _: Query) -> io::Result<Stat> {
    stat_path(&as_path(path), symlinks)
}

fn as_path(name: &CStr) -> Cow<'_, Path> {
    to_path(name.to_bytes())
}

/// The attributes of what is at `path`: opens it, without asking for any access right.
fn stat_path(path: &Path, symlinks: Symlinks) -> io::Result<Stat> {
    let reparse = if symlinks == Symlinks::Stay { REPARSE_POINT } else { 0 };
    let file = OpenOptions::new().access_mode(0).custom_flags(FLAGS | reparse).open(path)?;
    let information = information(&file)?;
    Ok(Stat {
        inode: information.file_index(),
        links: u32::try_from(information.number_of_links()).unwrap_or(u32::MAX),
        ..convert(&file.metadata()?, path, information.volume_serial_number())
    })
}

fn kind(metadata: &Metadata) -> Kind {
    if metadata.is_dir() {
        Kind::Directory
    } else if metadata.is_symlink() {
        Kind::Symlink
    } else {
        Kind::File
    }
}

/// Converts the metadata `told` of what is at `path`, which may have other links.
fn convert(told: &Metadata, path: &Path, device: u64) -> Stat {
    let kind = kind(told);
    let seconds = |time: io::Result<SystemTime>| time.map_or(0, seconds_since_epoch);
    let modified = seconds(told.modified());
    Stat {
        device,
        inode: 0,
        links: 1,
        mode: Mode::usual(kind),
        // It may have to be fetched, or be bound to a directory above it (CreateBindLink).
        mount_point: kind == Kind::Directory,
        blocks: if kind == Kind::File { blocks(told, path) } else { 0 },
        length: told.len(),
        accessed: seconds(told.accessed()),
        modified,
        // Windows stores it, but no listing has it.
        changed: modified,
        changed_nanos: 0,
        born: seconds(told.created()),
        owner: 0,
        group: None,
    }
}

/// The disk usage of the file at `path`, in blocks of 512 bytes. Compressed and sparse files are asked for it. For
/// others, the length is rounded up to whole clusters of 4 KiB, which nearly every volume has.
fn blocks(told: &Metadata, path: &Path) -> u64 {
    const CLUSTER: u64 = 4096;
    let attributes = told.file_attributes();
    if attributes & ELSEWHERE != 0 {
        return 0;
    }
    let packed = (attributes & PACKED != 0).then(|| path.size_on_disk().ok()).flatten();
    packed.unwrap_or(told.len()).div_ceil(CLUSTER).saturating_mul(CLUSTER / 512)
}
