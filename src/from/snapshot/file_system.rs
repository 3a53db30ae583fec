//! What a file system holds besides the files that the walk saw: the reason why `df` reports more.

use std::cmp::Reverse;
use std::ffi::{CString, OsString};
use std::io;

pub use crate::sys::{Cause, Unseen};

use crate::sys::{self, MountTable, Space};
use crate::tree::Tree;

/// A file system whose mount point is a root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystem {
    /// The root, as given.
    pub root: Vec<u8>,
    /// Its size and free space.
    pub space: Space,
    /// How much is free but available to root alone, in bytes, as far as that is known.
    pub for_root: u64,
    /// The total of the root, in bytes, if it is known.
    pub seen: Option<u64>,
    /// What uses the rest, as far as that was found out: the largest first.
    pub causes: Vec<Cause>,
    /// What could not be looked at.
    pub unknown: Vec<String>,
    /// What the file system needs for itself, and df leaves out of its size.
    pub left_out: Vec<Unseen>,
}

impl FileSystem {
    /// How much of it is used, in bytes.
    pub fn used(&self) -> u64 {
        self.space.size.saturating_sub(self.space.free)
    }

    /// How much is used but in no file that the walk saw. Negative where files share blocks.
    pub fn unseen(&self) -> Option<i128> {
        self.seen.map(|seen| i128::from(self.used()) - i128::from(seen))
    }

    /// How much of that has no known cause. Negative where files share blocks.
    pub fn unexplained(&self) -> Option<i128> {
        let known: i128 = self.causes.iter().map(|cause| i128::from(cause.size)).sum();
        self.unseen().map(|unseen| unseen - known)
    }
}

/// The file systems whose mount points are among `roots`, each once, and the roots that are no mount points. `tree`
/// has their totals.
pub fn file_systems(roots: &[OsString], tree: &Tree) -> (Vec<FileSystem>, Vec<Vec<u8>>) {
    let (mut found, mut others) = (Vec::<FileSystem>::new(), Vec::new());
    for root in roots {
        let name = root.as_encoded_bytes();
        // The walk reports a root that cannot be found.
        let path = CString::new(name).ok();
        let space =
            path.as_deref().and_then(|path| sys::space(path).ok().flatten().zip(Some(path)));
        let Some((space, path)) = space else {
            others.push(name.to_vec());
            continue;
        };
        // Of a root that is given in two spellings, the tree has one.
        let seen = tree.roots().find(|root| root.name() == name).map(|root| root.size());
        if seen.is_some() && found.iter().all(|known| known.root != name) {
            let (root, for_root) = (name.to_vec(), sys::for_root(path, &space));
            found.push(FileSystem { root, space, for_root, seen, ..FileSystem::default() });
        }
    }
    (found, others)
}

/// The file systems that have devices and are mounted, the fullest in bytes first. Nothing in them was seen.
///
/// # Errors
/// The system's, if it does not tell what is mounted.
pub fn mounted() -> io::Result<Vec<FileSystem>> {
    let mut found = Vec::new();
    for root in MountTable::try_read()?.of_devices(b"/") {
        let space = CString::new(&*root).ok().and_then(|path| sys::space_around(&path).ok());
        // Some that the kernel needs have no size.
        if let Some(space) = space.filter(|space| space.size > 0) {
            found.push(FileSystem { root, space, ..FileSystem::default() });
        }
    }
    if found.is_empty() {
        return Err(io::Error::other("it lists no file system with a device"));
    }
    found.sort_by_key(|one| Reverse(one.used()));
    Ok(found)
}
