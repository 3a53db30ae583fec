//! The device of a mount, and how much memory is available to read it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use crate::ext4::{self, RawVolume};
use crate::sys::mount_table::device_number;
use crate::sys::{Mount, MountTable, Stat, Storage, to_path};

/// The ext2, ext3 or ext4 whose root has the attributes `stat`, and which is mounted as `mount`, from its root on; with
/// the path of its device. An error if it `needs_owners` and stat(2) returns others than those on the device.
///
/// # Errors
/// The system's, and an error if there is no such mount or device.
pub(super) fn volume(
    stat: &Stat,
    mount: Mount,
    needs_owners: bool,
) -> io::Result<(RawVolume, PathBuf)> {
    const UNKNOWN: &str = "no ext2, ext3 or ext4 is mounted there";
    if stat.inode != ext4::ROOT || mount.storage != Storage::Local {
        return Err(io::Error::other(UNKNOWN));
    }
    if needs_owners && are_owners_mapped() {
        return Err(io::Error::other("this user namespace maps owners"));
    }
    let device = device_of(stat.device, mount.id)?.ok_or_else(|| io::Error::other(UNKNOWN))?;
    let volume = File::open(&device).and_then(RawVolume::open);
    Ok((volume.map_err(|error| at_device(&device, &error))?, device))
}

/// An error of the device at `path`.
pub(super) fn at_device(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The block device with the number `device`, whose ext2, ext3 or ext4 is mounted as `mount`, from its root on; none if
/// nothing such is mounted.
fn device_of(device: u64, mount: u64) -> io::Result<Option<PathBuf>> {
    let (major, minor) = (major(device), minor(device));
    let table = MountTable::try_read()?;
    let Some(listed) = table.listed(mount).filter(|listed| {
        // The owners that stat(2) returns there are not those on the device.
        let is_mapped = listed.options.split(|b| *b == b',').any(|option| option == b"idmapped");
        listed.device == Some(device_number(major, minor))
            && listed.root == b"/"
            && matches!(&*listed.kind, b"ext4" | b"ext3" | b"ext2")
            && !is_mapped
    }) else {
        return Ok(None);
    };
    let by_number = PathBuf::from(format!("/dev/block/{major}:{minor}"));
    for path in [to_path(&listed.source).into_owned(), by_number] {
        let found = fs::metadata(&path);
        if found.is_ok_and(|it| it.file_type().is_block_device() && it.rdev() == device) {
            return Ok(Some(path));
        }
    }
    Err(io::Error::other("its device was not found"))
}

/// Whether this process sees other user or group IDs than those on devices (user_namespaces(7)).
fn are_owners_mapped() -> bool {
    ["/proc/self/uid_map", "/proc/self/gid_map"].into_iter().any(|path| {
        let map = fs::read_to_string(path).unwrap_or_default();
        !map.split_whitespace().eq(["0", "0", "4294967295"])
    })
}

/// How much memory a process could get, in bytes (proc_meminfo(5)).
pub(super) fn memory_to_spare() -> Option<u64> {
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}
