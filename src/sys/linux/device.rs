//! The device of a mount, and how much memory is available to read it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use crate::fs::ext4::{self, RawVolume};
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

/// How much memory this process could get, in bytes.
pub(super) fn memory_to_spare() -> Option<u64> {
    memory_in(Path::new("/"))
}

/// The same in the system below `root`: what the machine has (proc_meminfo(5)), or less if its cgroup or one above that
/// allows less (cgroups(7)).
fn memory_in(root: &Path) -> Option<u64> {
    let table = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let mut spare = line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)?;
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (top, files) = match fields.next() {
            Some("") => ("sys/fs/cgroup", &CGROUP_2),
            // Several may be mounted together. Then each has a link to where they are.
            Some(controllers) if controllers.split(',').any(|it| it == "memory") => {
                ("sys/fs/cgroup/memory", &CGROUP_1)
            }
            _ => continue,
        };
        let group = Path::new(fields.next().unwrap_or_default().trim_start_matches('/'));
        // In a container, its own may be the topmost, and have another path here.
        for group in group.ancestors() {
            let room = room_in(&root.join(top).join(group), files);
            spare = spare.min(room.unwrap_or(u64::MAX));
        }
    }
    Some(spare)
}

/// The files of a cgroup with its limits and what it uses, and what memory.stat calls the cache that goes first.
type MemoryFiles = (&'static [&'static str], [&'static str; 2]);
const CGROUP_2: MemoryFiles =
    (&["memory.max", "memory.high"], ["memory.current", "inactive_file "]);
const CGROUP_1: MemoryFiles =
    (&["memory.limit_in_bytes"], ["memory.usage_in_bytes", "total_inactive_file "]);

/// How much more memory a cgroup may use, in bytes; none if it has no limit.
fn room_in(group: &Path, (limits, [used, cache]): &MemoryFiles) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let bytes = |text: &str| text.trim().parse::<u64>().ok();
    let most = limits.iter().filter_map(|limit| bytes(&read(limit)?)).min()?;
    let used = read(used).and_then(|text| bytes(&text)).unwrap_or(0);
    let table = read("memory.stat").unwrap_or_default();
    let cache = table.lines().find_map(|line| line.strip_prefix(cache)).and_then(bytes);
    Some(most.saturating_sub(used.saturating_sub(cache.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job in a small container was killed: only the machine was asked.
    #[test]
    fn the_least_that_a_cgroup_allows_is_to_spare() {
        for (groups, files, spare) in [
            ("", &[][..], 1000 * 1024),
            ("0::/a/b", &[("a/b/memory.max", "max")], 1000 * 1024),
            ("0::/a/b", &[("a/b/memory.max", "900"), ("a/b/memory.current", "100")], 800),
            ("0::/a/b", &[("a/memory.max", "700"), ("a/b/memory.max", "900")], 700),
            // Beyond this, it is slowed down.
            ("0::/a", &[("a/memory.max", "900"), ("a/memory.high", "800")], 800),
            ("0::/a", &[("a/memory.max", "max"), ("a/memory.high", "800")], 800),
            ("0::/a", &[("a/memory.max", "700"), ("a/memory.high", "max")], 700),
            ("4:cpu,memory:/a", &[("memory/a/memory.limit_in_bytes", "600")], 600),
            ("4:cpu,memory2:/a", &[("memory/a/memory.limit_in_bytes", "600")], 1000 * 1024),
            // Its cache gives way.
            (
                "0::/a",
                &[
                    ("a/memory.max", "900"),
                    ("a/memory.current", "950"),
                    ("a/memory.stat", "anon 1\ninactive_file 500\n"),
                ],
                450,
            ),
            // In a container: with its own path, or with that of the machine.
            ("0::/", &[("memory.max", "900")], 900),
            ("0::/docker/x", &[("memory.max", "900")], 900),
            (
                "2:cpu:/c\n1:memory:/a/b\n0::/",
                &[
                    ("memory/memory.limit_in_bytes", "9223372036854771712"),
                    ("memory/a/b/memory.limit_in_bytes", "900"),
                    ("memory/a/b/memory.usage_in_bytes", "600"),
                    ("memory/a/b/memory.stat", "inactive_file 1\ntotal_inactive_file 200\n"),
                ],
                500,
            ),
        ] {
            let root = tempfile::tempdir().unwrap();
            let write = |path: &str, text: &str| {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            };
            write("proc/meminfo", "MemTotal: 4000 kB\nMemAvailable:    1000 kB\n");
            write("proc/self/cgroup", groups);
            files.iter().for_each(|(path, text)| write(&format!("sys/fs/cgroup/{path}"), text));
            assert_eq!(memory_in(root.path()), Some(spare), "{groups}: {files:?}");
        }
    }
}
