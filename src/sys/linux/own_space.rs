//! What a file system needs for itself: ext2, ext3 and ext4 tell on their device, and btrfs in sysfs.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor, statfs};

use super::device;
use crate::sys::{MountTable, Query, Source, Space, Symlinks, Unseen, to_path};

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

/// How many bytes of what is free in the file system around `path`, which has this `space`, are available to root alone.
/// 0 if that is unknown: on btrfs, for example, the difference is room for metadata that no file can use.
pub fn for_root(path: &CStr, space: &Space) -> u64 {
    let Ok(answer) = statfs(path) else { return 0 };
    let difference = space.free.saturating_sub(space.available);
    // The numbers have 32 bits; the field's width is the platform's.
    match answer.f_type as u32 {
        // ext2, ext3 and ext4 keep up to 4096 clusters that root cannot use either (fs/ext4/super.c, 6.18,
        // ext4_set_resv_clusters). A cluster is a block unless mkfs.ext4 was given bigalloc.
        0x0000_ef53 => kept_by_ext4(path).map_or(0, |clusters| {
            let block = u64::try_from(answer.f_bsize).unwrap_or(0);
            difference.saturating_sub(clusters.saturating_mul(block))
        }),
        // f2fs and ubifs keep nothing else (f2fs_statfs, ubifs_statfs).
        0xf2f5_2010 | 0x2405_1905 => difference,
        _ => 0,
    }
}

/// How many clusters the ext4 around `path` keeps for itself (/sys/fs/ext4/DEVICE/reserved_clusters).
fn kept_by_ext4(path: &CStr) -> Option<u64> {
    let stat = Source::default().stat(path, Symlinks::Follow, Query::default()).ok()?;
    let (major, minor) = (major(stat.device), minor(stat.device));
    let device = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let file = Path::new("/sys/fs/ext4").join(device.file_name()?).join("reserved_clusters");
    fs::read_to_string(file).ok()?.trim().parse().ok()
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
