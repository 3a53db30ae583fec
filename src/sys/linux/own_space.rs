//! What a file system needs for itself: ext2, ext3 and ext4 tell on their device, and btrfs in sysfs.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::device;
use crate::sys::{MountTable, Query, Source, Symlinks, Unseen, to_path};

/// What the file system that is mounted at `path` needs for itself, if that can be known of its kind; and how much of
/// this, from the first part on, is not in the size that df shows, which is `shown`.
///
/// # Errors
/// The system's. To read the device of a file system takes root.
pub fn own_space(path: &CStr, shown: u64) -> io::Result<Option<(Vec<Unseen>, u64)>> {
    let source = Source::default();
    let mount = source.mount_of(path, Symlinks::Follow)?;
    let table = MountTable::try_read()?;
    let Some(listed) = table.listed(mount.id) else { return Ok(None) };
    match &*listed.kind {
        b"ext4" | b"ext3" | b"ext2" => {
            let stat = source.stat(path, Symlinks::Follow, Query::default())?;
            let (volume, _) = device::volume(&stat, mount, false)?;
            let parts = volume.own_space()?.into_iter();
            let parts = parts.map(|(name, size)| Unseen::of(name, size)).collect();
            Ok(Some((parts, volume.layout.bytes().saturating_sub(shown))))
        }
        b"btrfs" => Ok(Some((allocated(&to_path(&listed.source))?, 0))),
        _ => Ok(None),
    }
}

/// What btrfs on `device` has allocated for itself (/sys/fs/btrfs/UUID/allocation). Its df counts each copy of a block,
/// divided by the copies of data (fs/btrfs/super.c, btrfs_statfs).
fn allocated(device: &Path) -> io::Result<Vec<Unseen>> {
    let name = fs::canonicalize(device)?;
    let name = name.file_name().unwrap_or_default();
    let volumes = fs::read_dir("/sys/fs/btrfs")?.flatten().map(|volume| volume.path());
    let mut volumes = volumes.filter(|volume| volume.join("devices").join(name).exists());
    let allocation: PathBuf = volumes.next().ok_or(io::ErrorKind::NotFound)?.join("allocation");
    let figure = |name: &str| {
        let text = fs::read_to_string(allocation.join(name))?;
        text.trim().parse::<u64>().map_err(io::Error::other)
    };
    let copies = (figure("data/disk_total")? / figure("data/total_bytes")?.max(1)).max(1);
    let mut own = vec![Unseen::of("reserve", figure("global_rsv_size")?)];
    for name in ["metadata", "system"] {
        // If blocks are mixed, there are none for metadata alone.
        if let Ok(size) = figure(&format!("{name}/disk_used")) {
            own.push(Unseen::of(name, size / copies));
        }
    }
    Ok(own)
}
