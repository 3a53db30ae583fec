//! The capacity of a file system, as `df` shows it.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsString};
use std::io;

use super::{MountTable, Query, Source, Symlinks, space_around};

/// The capacity of a file system, in bytes (statvfs(3)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Total.
    pub size: u64,
    /// Not used.
    pub free: u64,
    /// Available to every user. The rest of what is free may be reserved for root, or for the file system itself.
    pub available: u64,
    /// How many inodes are in use; 0 if it does not tell.
    pub used_inodes: u64,
}

/// How many inodes are in use on the file systems mounted at `roots` and, unless a walk stays on `one_file_system` for
/// each root, on those with a device that are mounted below. None if a root is no mount point, or if one of them does
/// not tell. An overlay does not: it would tell those of the file system that its upper directory is on.
pub fn used_inodes(roots: &[OsString], one_file_system: bool) -> Option<u64> {
    /// A file system below a root that has at most so many bytes and does not count its inodes has few, like the FAT that
    /// a machine starts from.
    const SMALL: u64 = 1 << 30;
    let (table, mut points) = (MountTable::read(), BTreeSet::new());
    for root in roots {
        let real = super::real_path(root.as_ref(), Symlinks::Follow).ok()?;
        let real = real.into_os_string().into_encoded_bytes();
        let is_overlay = table.file_system_type(table.mount_at(&real)) == Some(b"overlay");
        let space = space(&CString::new(&*real).ok()?).ok()??;
        if is_overlay || space.used_inodes == 0 {
            return None;
        }
        if !one_file_system {
            points.extend(table.of_devices(&real));
        }
        points.insert(real);
    }
    let (mut all, mut devices) = (0_u64, BTreeSet::new());
    for point in points {
        let point = CString::new(point).ok()?;
        // Nor can the walk go where this is refused.
        let Ok(space) = space_around(&point) else { continue };
        let device = Source::default().stat(&point, Symlinks::Follow, Query::default());
        if device.is_ok_and(|stat| !devices.insert(stat.device)) {
            continue;
        }
        if space.used_inodes == 0 && space.size > SMALL {
            return None;
        }
        all = all.saturating_add(space.used_inodes);
    }
    Some(all)
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
