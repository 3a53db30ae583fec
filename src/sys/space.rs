//! What a file system has room for, as `df` has it.

use std::ffi::CStr;
use std::io;

use super::{Query, Source, Symlinks, space_around};

/// What a file system has room for, in bytes (statvfs(3)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub size: u64,
    /// What is not used.
    pub free: u64,
    /// What of that is for every user. The rest is for root.
    pub available: u64,
}

/// What the file system has room for that is mounted at `path`; none if that is no mount point.
///
/// What is mounted from the file system that the mount point itself lies on, as a bind mount within one, is none:
/// nothing there is all of what that holds.
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
    // Above the uppermost directory there is itself.
    if here.device == above.device && here.inode != above.inode {
        return Ok(None);
    }
    space_around(path).map(Some)
}
