//! The capacity of a file system, as `df` shows it.

use std::ffi::{CStr, CString};
use std::io;
use std::path::Path;

use super::{MountTable, Query, Source, Symlinks, space_around};

/// The capacity of a file system, in bytes (statvfs(3)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Total.
    pub size: u64,
    /// Not used.
    pub free: u64,
    /// Available to every user. The rest of what is free is reserved for root.
    pub available: u64,
    /// How many inodes are in use; 0 if it does not tell.
    pub used_inodes: u64,
}

/// How many inodes the file system that is mounted at `path` has in use, if it can tell. An overlay would tell those
/// of the file system that its upper directory is on.
pub fn used_inodes(path: &Path) -> Option<u64> {
    let real = super::real_path(path, Symlinks::Follow).ok()?;
    let real = real.as_os_str().as_encoded_bytes();
    let table = MountTable::read();
    if table.file_system_type(table.mount_at(real)) == Some(b"overlay") {
        return None;
    }
    let space = space(&CString::new(real).ok()?).ok()??;
    Some(space.used_inodes).filter(|inodes| *inodes > 0)
}

/// The capacity of the file system that is mounted at `path`; none if that is not a mount point.
///
/// Also none if the mount is of the same file system that the mount point itself is on, as a bind mount within one:
/// the directory then holds only a part of that file system.
///
/// # Errors
/// The system's.
pub fn space(path: &CStr) -> io::Result<Option<Space>> {
    let above = [path.to_bytes(), b"/..\0"].concat();
    let above = CStr::from_bytes_with_nul(&above).map_err(io::Error::other)?;
    let here = Source::default().stat(path, Symlinks::Follow, Query::default())?;
    if !here.is_directory() {
        return Ok(None);
    }
    let above = Source::default().stat(above, Symlinks::Follow, Query::default())?;
    // The parent of the uppermost directory is itself.
    if here.device == above.device && here.inode != above.inode {
        return Ok(None);
    }
    space_around(path).map(Some)
}
