//! How proc is asked about processes, which may end meanwhile: that is no error, and any other error says that files are
//! not seen.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::listing::{FIELDS, stat_and_mount};
use crate::sys::{Stat, unless_vanished};

/// The paths of the entries of a directory of proc; none if its process or thread has ended.
pub(super) fn entries_of(
    directory: &Path,
) -> io::Result<impl Iterator<Item = io::Result<PathBuf>> + use<>> {
    let entries = unless_vanished(fs::read_dir(directory))?.into_iter().flatten();
    Ok(entries.filter_map(|entry| unless_vanished(entry.map(|entry| entry.path())).transpose()))
}

/// The attributes of the file at `path`, as far as the kernel remembers them, and the mount through which it is reached.
/// No server is asked, because it may not answer.
pub(super) fn look(path: &Path) -> io::Result<(Stat, u64)> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    let path = CString::new(path.as_os_str().as_bytes())?;
    Ok(stat_and_mount(CWD, &path, flags, FIELDS | StatxFlags::MNT_ID)?)
}
