//! FIEMAP (Documentation/filesystems/fiemap.rst), through the crate `fiemap`, which asks for 8 extents a call and
//! keeps no others.

use std::ffi::CStr;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::fd::AsFd;

use fiemap::{Fiemap, FiemapExtent, FiemapExtentFlags as Flags};
use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::listing::{open_file, stat_and_mount};
use crate::base::measure::Kind;
use crate::sys::{Handle, Mapped, Stat, Symlinks};

/// The physical place is not known, or is not in an extent of its own.
const NO_PLACE: Flags = Flags::UNKNOWN.union(Flags::DELALLOC).union(Flags::DATA_INLINE);

/// These may free less than they hold. What has no place yet may still be compressed (btrfs).
const NOT_OWN: Flags =
    Flags::SHARED.union(Flags::ENCODED).union(Flags::DATA_INLINE).union(Flags::DELALLOC);

/// What the kernel says of an extent, in bytes.
#[derive(Clone, Copy, Debug)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    flags: Flags,
}

/// Maps the regular file `name` in `directory`, or at the path `name` if there is none, which had the attributes
/// `stat`. Tells `shared` where in its file system's address space the extents are that may not be its own: shared
/// ones, and encoded ones, which may take less than they hold.
///
/// All else that is allocated is its own. That includes what FIEMAP does not list: space that XFS reserves to write
/// shared extents anew, and the maps of large files.
///
/// The file is opened, but not read: its time of access stays as it is. Nothing waits, neither for a pipe nor for a
/// lease on the file (fcntl(2)). Nothing is written first (FIEMAP_FLAG_SYNC): what has no place yet counts as doubtful.
///
/// # Errors
/// The system's; also if the file was replaced or is no regular file, and if its extents do not end. Extents passed to
/// `shared` before an error are valid.
pub fn map_extents(
    directory: Option<&Handle>,
    name: &CStr,
    stat: &Stat,
    shared: impl FnMut(Range<u64>),
) -> io::Result<Mapped> {
    let file = match directory {
        Some(Handle::Native(directory)) => directory.open_file_at(name, Symlinks::Stay)?,
        Some(_) => return Err(ErrorKind::Unsupported.into()),
        // In proc, a link leads to a file without a name. Another file than `stat` is an error below.
        None => open_file(CWD, name, Symlinks::Follow)?,
    };
    let fields = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::BLOCKS;
    let (now, _) = stat_and_mount(file.as_fd(), c"", AtFlags::EMPTY_PATH, fields)?;
    if now.identity() != stat.identity() || now.mode.kind() != Kind::File {
        return Err(io::Error::other("it was replaced during the walk"));
    }
    let extents = Fiemap::new(&file).map(|extent| extent.map(Extent::from));
    add_up(extents, now.blocks.min(stat.blocks), now.blocks, shared)
}

/// Adds up the extents of a file that has at least `allocated` blocks of 512 bytes, and at most `most`. Each extent has
/// at least one, unless the file grows as fast as it is asked.
fn add_up(
    extents: impl Iterator<Item = io::Result<Extent>>,
    allocated: u64,
    most: u64,
    mut shared: impl FnMut(Range<u64>),
) -> io::Result<Mapped> {
    let (mut not_own, mut unplaced, mut end) = (0_u64, 0_u64, 0);
    for (before, extent) in (0..).zip(extents) {
        let Extent { logical, physical, length, flags } = extent?;
        if before >= most {
            return Err(io::Error::other("it grew while its extents were listed"));
        }
        // The crate asks on from the end of the last extent: for ever, if that does not advance.
        end = match logical.checked_add(length) {
            Some(next) if next > end => next,
            _ => return Err(io::Error::other("its extents are not in order")),
        };
        if flags.intersects(NOT_OWN) {
            not_own = not_own.saturating_add(length);
            if flags.intersects(NO_PLACE) {
                unplaced = unplaced.saturating_add(length);
            } else {
                shared(physical..physical.saturating_add(length));
            }
        }
    }
    Ok(Mapped { own: allocated.saturating_mul(512).saturating_sub(not_own), unplaced })
}

impl From<FiemapExtent> for Extent {
    fn from(extent: FiemapExtent) -> Self {
        let FiemapExtent { fe_logical, fe_physical, fe_length, fe_flags, .. } = extent;
        Self { logical: fe_logical, physical: fe_physical, length: fe_length, flags: fe_flags }
    }
}

#[cfg(test)]
mod tests;
