//! Windows, through std::fs and winapi-util. A listing has sizes, times and attributes, so files need no call of their
//! own; links and file ids cost an open each. There are two sources: one asks for links and ids of directories only,
//! and takes every file for the only link to its inode; the other asks for those of files too.
//!
//! The paths of directories are in verbatim form (`\\?\`), so that they may be longer than 260 characters, and a name
//! may be `NUL` or end in a dot.
//!
//! No file's content is read. Symlinks, junctions and mounted volumes are symlinks here, as in std. Files that a cloud
//! drive keeps online only take nothing on the disk; a directory that would have to be fetched is not entered.

use std::fs::{self, DirEntry, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use filesize::PathExt;
use winapi_util::file::information;

use crate::base::measure::{Kind, Mode};
use crate::sys::by_path::kind;
use crate::sys::{MountContent, Source, Stat, Symlinks, seconds_since_epoch};

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

/// The source that lists directories in this way.
pub fn source(asks: bool) -> Source {
    if asks { Source::Portable } else { Source::Native }
}

/// The absolute path of the directory at `path`, and the volume that it is on.
pub fn located(path: &Path) -> io::Result<(PathBuf, u64)> {
    // Drives made by some drivers have only the name that was given.
    let path = fs::canonicalize(path).or_else(|_| std::path::absolute(path))?;
    let device = device_of(&path)?;
    Ok((path, device))
}

/// The parent of the directory at `path`; the uppermost directory is its own parent.
pub fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

/// The volume of what `path` leads to.
pub fn device_of(path: &Path) -> io::Result<u64> {
    Ok(stat_path(path, Symlinks::Follow)?.device)
}

/// Whether the directory at `path` must be fetched before it can be listed.
pub fn mount_content(path: &Path) -> io::Result<MountContent> {
    let is_elsewhere = fs::symlink_metadata(path)?.file_attributes() & RECALL_ON_OPEN != 0;
    Ok(if is_elsewhere { MountContent::Automount } else { MountContent::Data })
}

/// What the listing tells of `entry`, on the volume `device`: its kind, and its attributes if they are enough.
/// Directories need their file ids. Files are opened only if the source `asks`.
pub fn listed(
    entry: &DirEntry,
    device: u64,
    asks: bool,
) -> io::Result<(Option<Kind>, u64, Option<Stat>)> {
    // It comes from the listing.
    let told = entry.metadata()?;
    let kind = kind(told.file_type());
    let is_enough = kind != Kind::Directory && !asks;
    Ok((Some(kind), 0, is_enough.then(|| convert(&told, &entry.path(), device))))
}

/// The attributes of an entry at `path` of a directory on the volume `device`.
pub fn stat_within(device: u64, path: &Path, symlinks: Symlinks) -> io::Result<Stat> {
    stat_path(path, symlinks).or_else(|error| {
        // Nobody may open the page file, but its directory lists it.
        let told = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
        told.map(|told| convert(&told, path, device)).ok_or(error)
    })
}

/// The attributes of what is at `path`: opens it, without asking for any access right.
pub fn stat_path(path: &Path, symlinks: Symlinks) -> io::Result<Stat> {
    let reparse = if symlinks == Symlinks::Stay { REPARSE_POINT } else { 0 };
    let file = OpenOptions::new().access_mode(0).custom_flags(FLAGS | reparse).open(path)?;
    let information = information(&file)?;
    Ok(Stat {
        inode: information.file_index(),
        links: u32::try_from(information.number_of_links()).unwrap_or(u32::MAX),
        ..convert(&file.metadata()?, path, information.volume_serial_number())
    })
}

/// Converts the metadata `told` of what is at `path`, which may have other links.
fn convert(told: &Metadata, path: &Path, device: u64) -> Stat {
    let kind = kind(told.file_type());
    let modified = seconds(told.modified());
    Stat {
        device,
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
        born: seconds(told.created()),
        ..Stat::default()
    }
}

fn seconds(time: io::Result<SystemTime>) -> i64 {
    time.map_or(0, seconds_since_epoch)
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
