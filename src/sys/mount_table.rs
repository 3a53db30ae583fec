//! The mounts that the process can reach, as Linux lists them; empty on other systems.

use std::collections::{HashMap, HashSet};
use std::fs;

use foldhash::fast::RandomState;

/// The mounts, and the names of their mount points.
#[derive(Debug, Default)]
pub struct MountTable {
    /// By mount id.
    mounts: HashMap<u64, ListedMount, RandomState>,
    /// The last components of the mount points' paths.
    names: HashSet<Vec<u8>, RandomState>,
}

#[derive(Debug)]
struct ListedMount {
    /// The type of its file system.
    kind: Vec<u8>,
    /// The device number of its file system, as [`number`] has it.
    device: Option<u64>,
}

impl MountTable {
    /// Reads the system's table from proc_pid_mountinfo(5); empty if it cannot be read.
    pub fn read() -> Self {
        let mut table = Self::default();
        for line in fs::read("/proc/self/mountinfo").unwrap_or_default().split(|b| *b == b'\n') {
            let mut fields = line.split(|b| *b == b' ');
            let (Some(id), Some(device)) = (fields.next(), fields.nth(1)) else { continue };
            let Some(point) = fields.nth(1) else { continue };
            let id = str::from_utf8(id).ok().and_then(|id| id.parse::<u64>().ok());
            // A hyphen ends the optional fields; later kernels may have more of them.
            let kind = fields.skip_while(|field| *field != b"-").nth(1).unwrap_or_default();
            let mount = || ListedMount { kind: unescape(kind), device: number(device) };
            table.mounts.extend(id.map(|id| (id, mount())));
            table.names.extend(point.rsplit(|b| *b == b'/').next().map(unescape));
        }
        table
    }

    /// The type of the file system on `mount`, as mount(8) calls it, if the mount is listed.
    pub fn file_system_type(&self, mount: u64) -> Option<&[u8]> {
        self.mounts.get(&mount).map(|mount| &*mount.kind)
    }

    /// A number for the file system on `mount`, if the mount is listed; not to be compared with `Stat::device`.
    /// Subvolumes of btrfs have device numbers of their own, but get the same number here, because they share space.
    pub fn file_system(&self, mount: u64) -> Option<u64> {
        self.mounts.get(&mount)?.device
    }

    /// Whether nothing is mounted on an entry called `name` that is reached through `mount`. If so, the directory's
    /// listing describes the entry itself.
    ///
    /// If a mount is listed, so is every mount below it. A mount that is not listed belongs to another mount
    /// namespace, or lies outside the process's root, and the mounts below it are unknown.
    #[inline]
    pub fn is_bare(&self, mount: u64, name: &[u8]) -> bool {
        self.mounts.contains_key(&mount) && !self.names.contains(name)
    }
}

/// The paths of all mount points that the process can reach, except the root's; empty if the system does not list
/// them.
pub fn mount_points() -> Vec<Vec<u8>> {
    let lines = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let points = lines.split(|b| *b == b'\n').filter_map(|line| line.split(|b| *b == b' ').nth(4));
    points.map(unescape).filter(|point| point != b"/").collect()
}

/// The number of the device written as `major:minor`.
fn number(device: &[u8]) -> Option<u64> {
    let (major, minor) = str::from_utf8(device).ok()?.split_once(':')?;
    Some(u64::from(major.parse::<u32>().ok()?) << 32 | u64::from(minor.parse::<u32>().ok()?))
}

/// Decodes a name in which blanks, newlines and backslashes are written as a backslash and three octal digits.
pub(super) fn unescape(mut escaped: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(escaped.len());
    while let [first, rest @ ..] = escaped {
        let (byte, rest) = match escaped {
            [b'\\', high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', rest @ ..] => {
                ((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'), rest)
            }
            _ => (*first, rest),
        };
        name.push(byte);
        escaped = rest;
    }
    name
}
