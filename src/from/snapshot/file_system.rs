//! The space on a file system in none of the files that the scan saw: the reason why `df` reports more.

use std::collections::HashSet;
use std::ffi::{CString, OsString};
use std::{fmt, io};

pub use crate::sys::{Cause, Space, Unseen};

use crate::sys::problem::{Operation, Problem, reason};
use crate::sys::{self, MountAround, MountTable};
use crate::tree::Tree;

/// A file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystem {
    /// Its mount point, as a root of the scan is called.
    pub root: Vec<u8>,
    /// Its size and free space.
    pub space: Space,
    /// How much is free but available to root alone, in bytes, as far as that is known.
    pub for_root: u64,
    /// Whether nothing there waits for another machine or a process: only then more is asked about it without a scan.
    pub is_near: bool,
    /// The total of the root, in bytes, if it is known.
    pub seen: Option<u64>,
    /// The known uses of the rest, the largest first.
    pub causes: Vec<Cause>,
    /// Processes that could not be looked at: they may have more files open that are deleted.
    pub unseen_processes: Vec<Unknown>,
    /// Anything else that could not be looked at.
    pub unknown: Vec<Unknown>,
    /// What the file system needs for itself, and df leaves out of its size.
    pub left_out: Vec<Unseen>,
}

/// Something that could not be looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unknown {
    /// Its name, such as `metadata`.
    pub what: String,
    /// The reason, unless the name says it.
    pub why: Option<String>,
    /// Whether root could look at it.
    pub needs_root: bool,
}

impl Unknown {
    /// Something with a name that says all.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Something, and the reason, which holds for root, too.
    pub fn because(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { why: Some(why.into()), ..Self::new(what) }
    }

    /// Something, and the error of the system, which root may not get.
    pub fn failed(what: impl Into<String>, error: &io::Error) -> Self {
        let needs_root = error.kind() == io::ErrorKind::PermissionDenied && !sys::is_root();
        Self { needs_root, ..Self::because(what, reason(error)) }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            None => f.write_str(&self.what),
            Some(why) => write!(f, "{} ({why})", self.what),
        }
    }
}

impl FileSystem {
    /// That is mounted at `root`, and of which no more is known yet.
    pub fn new(root: Vec<u8>, space: Space, for_root: u64) -> Self {
        Self { root, space, for_root, is_near: true, ..Self::default() }
    }

    /// How much of it is used, in bytes.
    pub fn used(&self) -> u64 {
        self.space.size.saturating_sub(self.space.free)
    }

    /// All that could not be looked at.
    pub fn all_unknown(&self) -> impl Iterator<Item = &Unknown> {
        self.unseen_processes.iter().chain(&self.unknown)
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

/// The file systems around PATHs, before a scan of them.
#[derive(Debug, Default)]
pub struct Around {
    /// Where to scan: each file system once.
    pub roots: Vec<OsString>,
    /// The file systems, in the same order.
    pub file_systems: Vec<FileSystem>,
    /// Each PATH that is no mount point, and the mount point of its file system.
    pub inside: Vec<(Vec<u8>, Vec<u8>)>,
    /// Why the others cannot be scanned. The storage may not answer.
    pub unread: Vec<Problem>,
}

impl Around {
    /// The file systems that contain `paths`.
    pub fn of(paths: &[OsString]) -> Self {
        let bytes = paths.iter().map(|path| path.as_encoded_bytes());
        let asked = bytes.clone().map(|path| CString::new(path).unwrap_or_default());
        let answers = sys::answers(asked.collect(), |path| {
            let around = sys::mount_around(path)?;
            let for_root = sys::for_root(&CString::new(&*around.point)?, &around.space);
            Ok::<_, io::Error>((around, for_root))
        });
        let (mut found, mut points) = (Self::default(), HashSet::new());
        for (path, answer) in bytes.zip(answers) {
            match answer {
                None => found.unread.push(Problem::unanswered(path.to_vec())),
                Some(Err(error)) => {
                    found.unread.push(Problem::new(path.to_vec(), Operation::Stat, &error));
                }
                Some(Ok((MountAround { point, is_here, space }, for_root))) => {
                    let root = if is_here { path.to_vec() } else { point.clone() };
                    if !is_here {
                        found.inside.push((path.to_vec(), point.clone()));
                    }
                    if points.insert(point) {
                        found.roots.push(sys::into_path(root.clone()).into());
                        found.file_systems.push(FileSystem::new(root, space, for_root));
                    }
                }
            }
        }
        found
    }
}

/// The file systems whose mount points are among `roots`, each once. `tree` has their totals.
pub fn file_systems(roots: &[OsString], tree: &Tree) -> Vec<FileSystem> {
    let mut found = Vec::<FileSystem>::new();
    for root in roots {
        let name = root.as_encoded_bytes();
        // The walk reports a root that cannot be found.
        let around = CString::new(name).map(|path| Some((sys::mount_around(&path).ok()?, path)));
        let Ok(Some((MountAround { is_here: true, space, .. }, path))) = around else { continue };
        // Of a root that is given in two spellings, the tree has one.
        let seen = tree.roots().find(|root| root.name() == name).map(|root| root.size());
        if seen.is_some() && found.iter().all(|known| known.root != name) {
            let for_root = sys::for_root(&path, &space);
            found.push(FileSystem { seen, ..FileSystem::new(name.to_vec(), space, for_root) });
        }
    }
    found
}

/// The file systems that are mounted and can fill up, the fullest in bytes first. Nothing in them was seen. Also those
/// that do not answer.
///
/// # Errors
/// The system's, if it does not tell what is mounted.
pub fn mounted() -> io::Result<(Vec<FileSystem>, Vec<Problem>)> {
    let mounts = MountTable::try_read()?.of_space();
    let points = mounts.iter().map(|(point, ..)| CString::new(&**point).unwrap_or_default());
    let answers = sys::answers(points.collect(), sys::space_around);
    let (mut found, mut silent) = (Vec::new(), Vec::new());
    for ((root, is_in_memory, is_near), answer) in mounts.into_iter().zip(answers) {
        match answer {
            None => silent.push(Problem::unanswered(root)),
            // A file system of another user, for example (FUSE).
            Some(Err(_)) => {}
            Some(Ok(space)) => {
                let one = FileSystem { is_near, ..FileSystem::new(root, space, 0) };
                // Some that the kernel needs have no size, and most of those in memory are empty.
                let is_idle = is_in_memory && one.used() == 0;
                found.extend(Some(one).filter(|_| space.size > 0 && !is_idle));
            }
        }
    }
    if found.is_empty() && silent.is_empty() {
        return Err(io::Error::other("it lists no file system that can fill up"));
    }
    found.sort_by(|one, other| (other.used(), &one.root).cmp(&(one.used(), &other.root)));
    Ok((found, silent))
}
