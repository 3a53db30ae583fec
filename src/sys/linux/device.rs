//! The device of a mount, and how much memory is available to read it.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use rustix::fs::{major, minor};

use crate::sys::mount_table::unescape;

/// The block device with the number `device`, whose ext2, ext3 or ext4 is mounted as `mount`, from its root on.
///
/// # Errors
/// The system's, and an error if there is no such mount or device.
pub(super) fn device_of(device: u64, mount: u64) -> io::Result<PathBuf> {
    let number = format!("{}:{}", major(device), minor(device));
    let table = fs::read("/proc/self/mountinfo")?;
    let mount = mount.to_string();
    let source = table.split(|b| *b == b'\n').find_map(|line| {
        let mut fields = line.split(|b| *b == b' ');
        let is_it = fields.next()? == mount.as_bytes() && fields.nth(1)? == number.as_bytes();
        let is_all = fields.next()? == b"/";
        // The owners that stat(2) returns there are not those on the device.
        let is_mapped = fields.nth(1)?.split(|b| *b == b',').any(|option| option == b"idmapped");
        // Before the hyphen there are optional fields.
        let mut rest = fields.skip_while(|field| *field != b"-").skip(1);
        let is_known = matches!(rest.next()?, b"ext4" | b"ext3" | b"ext2");
        (is_it && is_all && is_known && !is_mapped).then(|| rest.next().map(unescape))?
    });
    let source =
        source.ok_or_else(|| io::Error::other("no ext2, ext3 or ext4 is mounted there"))?;
    let by_number = PathBuf::from(format!("/dev/block/{number}"));
    let is_it = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|it| it.file_type().is_block_device() && it.rdev() == device)
    };
    let found = [crate::sys::to_path(&source).into_owned(), by_number].into_iter().find(is_it);
    found.ok_or_else(|| io::Error::other("its device was not found"))
}

/// Whether this process sees other user or group IDs than those on devices (user_namespaces(7)).
pub(super) fn are_owners_mapped() -> bool {
    let is_same = |map: String| map.split_whitespace().eq(["0", "0", "4294967295"]);
    let is_mapped = |path| !fs::read_to_string(path).is_ok_and(is_same);
    ["/proc/self/uid_map", "/proc/self/gid_map"].into_iter().any(is_mapped)
}

/// How much memory a process could get, in bytes (proc_meminfo(5)).
pub(super) fn memory_to_spare() -> Option<u64> {
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}
