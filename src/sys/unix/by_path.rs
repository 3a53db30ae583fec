//! Any Unix, through std::fs alone: paths are bounded by PATH_MAX.

use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::base::measure::{Kind, Mode};
use crate::sys::by_path::kind;
use crate::sys::{Source, Stat, Symlinks, seconds_since_epoch};

/// The source that lists directories in this way.
pub fn source(_: bool) -> Source {
    Source::Portable
}

/// The directory at `path`. Files tell their devices.
pub fn located(path: &Path) -> io::Result<(PathBuf, u64)> {
    fs::metadata(path)?;
    Ok((path.to_owned(), 0))
}

/// The parent of the directory at `path`.
pub fn parent(path: &Path) -> PathBuf {
    path.join("..")
}

/// Files tell their devices.
pub fn device_of(_: &Path) -> io::Result<u64> {
    Ok(0)
}

/// What the listing tells of `entry`: its kind and its inode number.
pub fn listed(entry: &DirEntry, _: u64, _: bool) -> io::Result<(Option<Kind>, u64, Option<Stat>)> {
    Ok((entry.file_type().ok().map(kind), entry.ino(), None))
}

/// The attributes of an entry at `path`.
pub fn stat_within(_: u64, path: &Path, symlinks: Symlinks) -> io::Result<Stat> {
    stat_path(path, symlinks)
}

/// The attributes of what is at `path`.
pub fn stat_path(path: &Path, symlinks: Symlinks) -> io::Result<Stat> {
    Ok(convert(&match symlinks {
        Symlinks::Stay => fs::symlink_metadata(path)?,
        Symlinks::Follow => fs::metadata(path)?,
    }))
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
