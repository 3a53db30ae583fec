//! The capacity of a file system, as `df` shows it; space on it that no walk sees; and the resources that the process
//! has used.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, CString, OsString};
use std::iter::Enumerate;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::vec::IntoIter;
use std::{fmt, io, mem, thread};

use super::{MountTable, Query, Source, Symlinks, space_around};
use crate::base::escape::escape;
use crate::base::inode::Identity;
use crate::base::path;

/// The capacity of a file system, in bytes (statvfs(3)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Total.
    pub size: u64,
    /// Not used.
    pub free: u64,
    /// Available to every user. The rest of what is free may be reserved for root, or for the file system itself.
    pub available: u64,
    /// How many inodes it has room for; 0 if it does not tell.
    pub inodes: u64,
    /// How many inodes are in use; 0 if it does not tell.
    pub used_inodes: u64,
}

/// How many inodes are in use on the file systems mounted at `roots` and, unless a walk stays on `one_file_system` for
/// each root, on those with a device that are mounted below. None if a root is no mount point, or if one of them does
/// not tell. An overlay does not: it would tell those of the file system that its upper directory is on.
pub fn used_inodes(roots: &[OsString], one_file_system: bool) -> Option<u64> {
    /// A file system below a root that has at most so many bytes and does not count its inodes has few, like the FAT that
    /// a machine starts from.
    const SMALL: u64 = 1 << 30;
    let (table, mut points) = (MountTable::read(), BTreeSet::new());
    for root in roots {
        let real = super::real_path(root.as_ref(), Symlinks::Follow).ok()?;
        let real = real.into_os_string().into_encoded_bytes();
        let is_overlay = table.file_system_type(table.mount_at(&real)) == Some(b"overlay");
        let space = space(&CString::new(&*real).ok()?).ok()??;
        if is_overlay || space.used_inodes == 0 {
            return None;
        }
        if !one_file_system {
            points.extend(table.of_devices(&real));
        }
        points.insert(real);
    }
    let (mut all, mut devices) = (0_u64, BTreeSet::new());
    for point in points {
        let point = CString::new(point).ok()?;
        // Nor can the walk go where this is refused.
        let Ok(space) = space_around(&point) else { continue };
        let device = Source::default().stat(&point, Symlinks::Follow, Query::default());
        if device.is_ok_and(|stat| !devices.insert(stat.device)) {
            continue;
        }
        if space.used_inodes == 0 && space.size > SMALL {
            return None;
        }
        all = all.saturating_add(space.used_inodes);
    }
    Some(all)
}

/// How many file systems with a device are mounted below `roots` besides the roots' own, and how many bytes they have in
/// use.
pub fn mounted_below(roots: &[OsString]) -> (usize, u64) {
    if roots.is_empty() {
        return (0, 0);
    }
    let device = |path: &CStr| Source::default().stat(path, Symlinks::Follow, Query::default());
    let (table, mut points, mut devices) = (MountTable::read(), BTreeSet::new(), BTreeSet::new());
    for root in roots {
        let Ok(real) = super::real_path(root.as_ref(), Symlinks::Follow) else { continue };
        let real = real.into_os_string().into_encoded_bytes();
        points.extend(table.of_devices(&real).into_iter().filter_map(|it| CString::new(it).ok()));
        let stat = CString::new(real).ok().and_then(|real| device(&real).ok());
        devices.extend(stat.map(|stat| stat.device));
    }
    let spaces = points.into_iter().filter_map(|point| {
        devices.insert(device(&point).ok()?.device).then(|| space_around(&point).ok())?
    });
    spaces.fold((0, 0), |(count, used), space| {
        (count + 1, used + space.size.saturating_sub(space.free))
    })
}

/// The capacity of the file system that is mounted at `path`; none if that is not a mount point.
///
/// Also none if the mount is of the same file system that the mount point itself is on, as a bind mount within one:
/// the directory then holds only a part of that file system.
///
/// # Errors
/// The system's.
fn space(path: &CStr) -> io::Result<Option<Space>> {
    let above = [path.to_bytes(), b"/..\0"].concat();
    let above = CStr::from_bytes_with_nul(&above).map_err(io::Error::other)?;
    let here = Source::default().stat(path, Symlinks::Follow, Query::default())?;
    if !here.is_directory() {
        return Ok(None);
    }
    // The whole of a drive on Windows (`\\?\C:\`), where a real path takes no `..`.
    if super::to_path(path.to_bytes()).parent().is_none() {
        return space_around(path).map(Some);
    }
    let above = Source::default().stat(above, Symlinks::Follow, Query::default())?;
    // The parent of the uppermost directory is itself.
    if here.device == above.device && here.inode != above.inode {
        return Ok(None);
    }
    space_around(path).map(Some)
}

/// The answers to `ask` about each of `paths`, in their order. A path has none if its storage does not answer in time: a
/// server that is gone, for example. statfs(2) has no flag that would keep it from waiting for one.
///
/// Threads ask. If one of them waits, another one goes on with the next path. A thread without an answer waits on.
pub fn answers<T: Send + 'static>(paths: Vec<CString>, ask: fn(&CStr) -> T) -> Vec<Option<T>> {
    /// After so much silence, another thread begins.
    const SOON: Duration = Duration::from_millis(50);
    /// After so much silence, nobody waits for the other answers.
    const PATIENCE: Duration = Duration::from_secs(1);
    let mut answers: Vec<Option<T>> = paths.iter().map(|_| None).collect();
    let ahead = Arc::new(Mutex::new(paths.into_iter().enumerate()));
    let next = |ahead: &Mutex<Enumerate<IntoIter<CString>>>| {
        ahead.lock().unwrap_or_else(PoisonError::into_inner).next()
    };
    let (sender, receiver) = mpsc::channel();
    let (mut missing, mut heard, mut is_more) = (answers.len(), Instant::now(), true);
    let begin = || {
        let (ahead, sender) = (Arc::clone(&ahead), sender.clone());
        let work = move || {
            while let Some((number, path)) = next(&ahead) {
                // Nobody may wait any more.
                let _ = sender.send((number, ask(&path)));
            }
        };
        thread::Builder::new().spawn(work).is_ok()
    };
    while missing > 0 {
        if mem::take(&mut is_more) && !begin() {
            // The limit of processes may be reached.
            while let Some((number, path)) = next(&ahead) {
                let _ = sender.send((number, ask(&path)));
            }
        }
        match receiver.recv_timeout(SOON) {
            Ok((number, answer)) => {
                answers[number] = Some(answer);
                missing -= 1;
                heard = Instant::now();
            }
            Err(_) if heard.elapsed() > PATIENCE => break,
            Err(_) => {
                let left = ahead.lock().unwrap_or_else(PoisonError::into_inner).len();
                if left > 0 {
                    (is_more, heard) = (true, Instant::now());
                }
            }
        }
    }
    answers
}

/// The file system around a path.
#[derive(Clone, Debug, Default)]
pub struct MountAround {
    /// The real path of its mount point.
    pub point: Vec<u8>,
    /// Whether that is the path itself.
    pub is_here: bool,
    /// Its capacity.
    pub space: Space,
}

/// The file system around `path`. If only a directory of it is mounted there, and all of it elsewhere, the mount point is
/// where all of it is.
///
/// # Errors
/// The system's.
pub fn mount_around(path: &CStr) -> io::Result<MountAround> {
    let real = super::real_path(&super::to_path(path.to_bytes()), Symlinks::Follow)?;
    let real = real.into_os_string().into_encoded_bytes();
    let table = MountTable::read();
    let point = match table.whole_around(&real) {
        Some(point) => point,
        None if space(path)?.is_some() => real.clone(),
        None => first_above(&real)?,
    };
    let space = space_around(&CString::new(&*point)?)?;
    Ok(MountAround { is_here: point == real, point, space })
}

/// The nearest mount point above the real path `path`, where the system lists no mounts.
fn first_above(path: &[u8]) -> io::Result<Vec<u8>> {
    let path = super::to_path(path);
    let mut point = path.as_os_str().as_encoded_bytes();
    for above in path.ancestors().skip(1) {
        point = above.as_os_str().as_encoded_bytes();
        // Windows takes no `..` in the real path of a directory.
        if space(&CString::new(point)?).is_ok_and(|space| space.is_some()) {
            break;
        }
    }
    Ok(point.to_vec())
}

// What the process has used so far, to show what it waits for.

/// What a thread, or all of the process, has used since it started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// CPU time, in the program and in the kernel.
    pub cpu: Duration,
    /// How often a thread gave up its core to wait.
    pub waits: u64,
    /// How often a thread lost its core to another.
    pub preemptions: u64,
    /// How many blocks were read from storage for it, because they were not cached.
    pub reads: u64,
}

// What takes space on a file system although no walk sees it: files without a name that processes hold open, and what
// the file system needs for itself.

/// Why space is used although it is in no file that a walk saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// What it is called.
    pub name: &'static str,
    /// How much, in bytes.
    pub size: u64,
    /// How much of that the files may share with others, which still need it then.
    pub shared: u64,
    /// How many files that is, if that is known.
    pub files: Option<u64>,
    /// The largest parts of it, the largest first.
    pub parts: Vec<Unseen>,
}

/// How much of a file others may share, as the file system maps it (FIEMAP), in bytes. On other systems than Linux, weigh
/// never knows that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    /// What nobody shares: deleting the file frees at least that.
    pub own: u64,
    /// What may be shared, and has no place of its own: content inside the file system's metadata.
    pub unplaced: u64,
}

/// A part of that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Its size on disk in bytes; none if the system refuses to tell.
    pub size: Option<u64>,
    /// Its path, or what it is. If no name leads to it, the path that it had, as its first holder sees paths.
    pub name: Vec<u8>,
    /// The first few processes that hold it open.
    pub holders: Vec<Holder>,
    /// How many processes hold it open.
    pub held_by: u64,
}

/// The deleted files that processes have open.
#[derive(Debug, Default)]
pub struct UnlinkedFiles {
    /// On each file system that was asked about, in their order.
    pub causes: Vec<Cause>,
    /// Their inodes, on all of these file systems together.
    pub inodes: Vec<Identity>,
    /// The first error because of which not all files of a process were seen.
    pub unread: Option<io::Error>,
    /// Whether proc lists all processes.
    pub lists_all: bool,
}

/// A process that holds a file open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// The name of its command, without arguments (proc_pid_comm(5)).
    pub command: Vec<u8>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in use by {}, pid {}", escape(&self.command), self.pid)
    }
}

/// What processes have open, have mapped, run, or work in.
#[derive(Clone, Debug, Default)]
pub struct InUse {
    /// The paths, sorted, each with the number of one of the `holders`.
    pub(super) paths: Vec<(Vec<u8>, usize)>,
    /// The inodes, each with the number of one of the `holders`. A path in a container leads elsewhere here.
    pub(super) inodes: HashMap<Identity, usize>,
    pub(super) holders: Vec<Holder>,
    /// How many processes could not be looked at.
    pub unseen: u64,
}

impl InUse {
    /// A process that uses what is at the real path `path` or below, if there is one.
    pub fn within(&self, path: &[u8]) -> Option<&Holder> {
        let below = path::join_all([path, b""]);
        let find = |from: &[u8]| {
            let first = self.paths.partition_point(|(used, _)| **used < *from);
            let (used, holder) = self.paths.get(first)?;
            path::is_within(used, path).then(|| &self.holders[*holder])
        };
        // Names such as `a-b` sort between `a` and `a/b`.
        find(path).or_else(|| find(&below))
    }

    /// A process that uses the inode, if there is one.
    pub fn of(&self, inode: Identity) -> Option<&Holder> {
        self.inodes.get(&inode.on_any_mount()).map(|holder| &self.holders[*holder])
    }
}

impl Unseen {
    /// What is called `name`, of so many bytes.
    pub fn of(name: impl Into<Vec<u8>>, size: u64) -> Self {
        Self { size: Some(size), name: name.into(), ..Self::default() }
    }
}
