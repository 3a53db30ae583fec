//! The mounts that the process can reach, as Linux lists them; elsewhere, none.

use std::collections::{HashMap, HashSet};
use std::fs;

use foldhash::fast::RandomState;

/// Which mounts there are, and what their mount points are called.
#[derive(Debug, Default)]
pub struct MountTable {
    /// The type of the file system of each, by its id.
    types: HashMap<u64, Vec<u8>, RandomState>,
    /// Without the way to them.
    names: HashSet<Vec<u8>, RandomState>,
}

impl MountTable {
    /// The system's, from proc_pid_mountinfo(5); empty if it cannot be read.
    pub fn read() -> Self {
        let mut table = Self::default();
        for line in fs::read("/proc/self/mountinfo").unwrap_or_default().split(|b| *b == b'\n') {
            let mut fields = line.split(|b| *b == b' ');
            let (Some(id), Some(point)) = (fields.next(), fields.nth(3)) else { continue };
            let id = str::from_utf8(id).ok().and_then(|id| id.parse::<u64>().ok());
            // There may be fields before a hyphen that later kernels have more of.
            let kind = fields.skip_while(|field| *field != b"-").nth(1).unwrap_or_default();
            table.types.extend(id.map(|id| (id, unescape(kind))));
            table.names.extend(point.rsplit(|b| *b == b'/').next().map(unescape));
        }
        table
    }

    /// The type of the file system that `mount` carries, as mount(8) calls it, if it is listed.
    pub fn file_system_type(&self, mount: u64) -> Option<&[u8]> {
        self.types.get(&mount).map(Vec::as_slice)
    }

    /// Whether nothing is mounted on what is called `name` and seen through `mount`, so that it is what
    /// the directory's listing says.
    ///
    /// Whatever is mounted below a mount that is listed is listed too. One that is not belongs to
    /// another mount namespace, or lies beyond the process's root: what is mounted there is unknown.
    #[inline]
    pub fn is_bare(&self, mount: u64, name: &[u8]) -> bool {
        self.types.contains_key(&mount) && !self.names.contains(name)
    }
}

/// A name in which blanks, line ends and backslashes are written as a backslash and three octal digits.
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
