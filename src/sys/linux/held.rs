//! Linux: openat2, statx, renameat2, linkat and unlinkat, each relative to a held directory.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{
    self, AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, Statx, StatxAttributes, StatxFlags,
};
use rustix::io::{Errno, retry_on_intr};

use super::file_systems;
use super::listing::{self, convert, mount_id, open};
use crate::base::measure::Kind;
use crate::base::path;
use crate::sys::{ExactStat, Handle, Listing, MOST_SYMLINKS, Stat, Storage, user_id};

/// A directory that is held open. It stays the same directory even if it is moved or replaced.
#[derive(Debug)]
pub struct HeldDirectory {
    fd: OwnedFd,
    /// Whether it opens one directory at a time, as before Linux 5.6.
    by_steps: bool,
}

/// Does not allow reading, and triggers no automount (open(2)).
const HOLD: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The same for what must be a directory.
const DIRECTORY: OFlags = HOLD.union(OFlags::DIRECTORY);

const FIELDS: StatxFlags =
    StatxFlags::BASIC_STATS.union(StatxFlags::BTIME).union(StatxFlags::MNT_ID);

/// Opens the file at `path` to read it and to append to it. Makes it and its directories, for the user alone.
///
/// Others may own directories on the way: root may have the home of a user, and anybody may make links in /tmp. They
/// must not choose which file is written to. So a symlink is followed, a directory is made and the last directory is
/// used only if it belongs to the user or root, and the symlink's directory too; and the file is nothing but a regular
/// file of the user with one link.
///
/// # Errors
/// The system's, and the reason why the file is not used.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    let mut names = components(path.as_os_str().as_encoded_bytes())?;
    if names.is_empty() {
        return Err(io::Error::other("it is a directory"));
    }
    let name = names.remove(0);
    let at = trusted_directory(names)?;
    // Opening a device may do something.
    match stat_of(&at, &name) {
        Ok(stat) => ensure_is_users_file(&stat.stat)?,
        Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    // Does not wait for the reader of a pipe.
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = open(&at, &name, flags)?;
    ensure_is_users_file(&stat_of(&file, c"")?.stat)?;
    Ok(File::from(file))
}

/// Makes the directory at `path`, and those on the way, for the user alone. Like [`open_to_append`], it trusts no
/// directory and no symlink of another user.
///
/// # Errors
/// The system's, and the reason why the directory is not used.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    let names = components(path.as_os_str().as_encoded_bytes())?;
    let Stat { owner, mode, .. } = stat_of(&trusted_directory(names)?, c"")?.stat;
    let others = mode.0 & 0o077;
    Err(io::Error::other(match (owner == user_id(), others) {
        (true, 0) => return Ok(()),
        (true, _) => "other users may read it: its mode has to be 0700",
        (false, _) => "it belongs to another user",
    }))
}

/// Opens the directory that the names in `rest` lead to, the last one first, and makes what does not exist. Follows
/// symlinks of the user or root.
fn trusted_directory(mut rest: Vec<CString>) -> io::Result<OwnedFd> {
    const THEIRS: &str = "it lies in a directory of another user";
    let (mut at, mut links) = (open(CWD, c"/", DIRECTORY)?, 0);
    while let Some(name) = rest.pop() {
        let is_around_trusted = is_trusted(&stat_of(&at, c"")?);
        let stat = match stat_of(&at, &name) {
            Err(Errno::NOENT) if !is_around_trusted => return Err(io::Error::other(THEIRS)),
            Err(Errno::NOENT) => match retry_on_intr(|| fs::mkdirat(&at, &name, Mode::RWXU)) {
                Ok(()) | Err(Errno::EXIST) => stat_of(&at, &name)?,
                Err(error) => return Err(error.into()),
            },
            stat => stat?,
        };
        if stat.stat.mode.kind() != Kind::Symlink {
            at = open(&at, &name, DIRECTORY)?;
            continue;
        }
        if !is_around_trusted || !is_trusted(&stat) {
            return Err(io::Error::other("a symlink of another user leads to it"));
        }
        links += 1;
        if links > MOST_SYMLINKS {
            return Err(Errno::LOOP.into());
        }
        let target = fs::readlinkat(&at, &name, Vec::new())?;
        if target.as_bytes().starts_with(b"/") {
            at = open(CWD, c"/", DIRECTORY)?;
        }
        rest.extend(components(target.as_bytes())?);
    }
    if is_trusted(&stat_of(&at, c"")?) { Ok(at) } else { Err(io::Error::other(THEIRS)) }
}

/// The names in `path`, the last one first.
fn components(path: &[u8]) -> io::Result<Vec<CString>> {
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).rev();
    names.map(|name| Ok(CString::new(name)?)).collect()
}

/// Whether it belongs to the user or root.
fn is_trusted(stat: &ExactStat) -> bool {
    [user_id(), 0].contains(&stat.stat.owner)
}

/// Ensures that it is a regular file of the user with one link.
fn ensure_is_users_file(stat: &Stat) -> io::Result<()> {
    Err(io::Error::other(match stat {
        stat if stat.mode.kind() != Kind::File => "it is not a regular file",
        stat if stat.owner != user_id() => "it belongs to another user",
        stat if stat.links != 1 => "it has several hard links",
        _ => return Ok(()),
    }))
}

impl HeldDirectory {
    /// Opens the directory at `path`. Follows symlinks, because the user named it.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &CStr) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { fd: open(CWD, path, flags)?, by_steps: false })
    }

    /// Opens the directory below this one that `names` lead to. Follows no symlink and enters no other mount.
    ///
    /// # Errors
    /// The system's: ELOOP for a symlink, EXDEV for a mount point.
    pub fn descend<N: AsRef<CStr>>(&self, names: &[N]) -> io::Result<Self> {
        let mut held = Self { fd: self.fd.try_clone()?, by_steps: self.by_steps };
        let mut rest = names;
        while !rest.is_empty() {
            let (path, count) = stretch(if held.by_steps { &rest[..1] } else { rest })?;
            match held.enter(&path) {
                Ok(fd) => (held.fd, rest) = (fd, &rest[count..]),
                // The call does not exist, or a filter of system calls forbids it.
                Err(Errno::NOSYS | Errno::PERM) if !held.by_steps => held.by_steps = true,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(held)
    }

    fn enter(&self, path: &CStr) -> Result<OwnedFd, Errno> {
        if self.by_steps {
            let fd = open(&self.fd, path, HOLD)?;
            let (here, there) = (stat_of(&self.fd, c"")?, stat_of(&fd, c"")?);
            return match there.stat.mode.kind() {
                Kind::Symlink => Err(Errno::LOOP),
                Kind::Directory if is_mounted(&here, &there) => Err(Errno::XDEV),
                Kind::Directory => Ok(fd),
                _ => Err(Errno::NOTDIR),
            };
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        // It may fail if something is renamed meanwhile, and should be called again (openat2(2)).
        const TRIES: usize = 100;
        let mut opened = Err(Errno::AGAIN);
        for _ in 0..TRIES {
            opened = fs::openat2(&self.fd, path, DIRECTORY, Mode::empty(), resolve);
            if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
                break;
            }
        }
        opened
    }

    /// Opens the parent directory.
    ///
    /// # Errors
    /// The system's.
    pub fn up(&self) -> io::Result<Self> {
        Ok(Self { fd: open(&self.fd, c"..", HOLD)?, by_steps: self.by_steps })
    }

    /// Its path now (proc_pid_fd(5)), wherever it has been moved.
    ///
    /// # Errors
    /// The system's, and an error if it has no path in this mount namespace.
    pub fn path(&self) -> io::Result<Vec<u8>> {
        let link = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        let path = fs::readlink(link, Vec::new())?;
        // What is not mounted any more has a path, too: from its own top.
        let (there, here) = (Self::open(&path)?.stat()?, self.stat()?);
        match there.mount == here.mount && there.stat.identity() == here.stat.identity() {
            true => Ok(path.into_bytes()),
            false => Err(io::Error::other("no path leads to its directory any more")),
        }
    }

    /// The attributes of the directory itself.
    ///
    /// # Errors
    /// The system's.
    pub fn stat(&self) -> io::Result<ExactStat> {
        Ok(stat_of(&self.fd, c"")?)
    }

    /// Whether its file system is the kernel's, and not one of another machine or of a process.
    pub fn is_local(&self) -> bool {
        let kind = fs::fstatfs(&self.fd).map(|answer| file_systems::mount(0, answer.f_type as u32));
        kind.is_ok_and(|kind| kind.storage == Storage::Local)
    }

    /// The attributes of the entry `name`. Does not follow symlinks.
    ///
    /// # Errors
    /// The system's.
    pub fn stat_of(&self, name: &CStr) -> io::Result<ExactStat> {
        Ok(stat_of(&self.fd, name)?)
    }

    /// Makes a directory that only the user may access.
    ///
    /// # Errors
    /// The system's.
    pub fn make_directory(&self, name: &CStr) -> io::Result<()> {
        Ok(retry_on_intr(|| fs::mkdirat(&self.fd, name, Mode::RWXU))?)
    }

    /// Moves the entry `name` into the directory `to` as `new`, without replacing anything.
    ///
    /// # Errors
    /// The system's: EEXIST if `new` exists, EINVAL if the file system or the kernel cannot do this.
    pub fn move_to(&self, name: &CStr, to: &Self, new: &CStr) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        let moved = retry_on_intr(|| fs::renameat_with(&self.fd, name, &to.fd, new, flags));
        // Before Linux 3.15, the call does not exist.
        Ok(moved.map_err(|error| if error == Errno::NOSYS { Errno::INVAL } else { error })?)
    }

    /// The same where the file system cannot do this. Replaces only what takes the name `new` at the same moment, and of
    /// a directory only an empty directory. If it `is_directory`, nothing else is moved.
    ///
    /// # Errors
    /// The system's: EEXIST if `new` exists.
    pub fn rename(&self, name: &CStr, to: &Self, new: &CStr, is_directory: bool) -> io::Result<()> {
        let slash: &[u8] = if is_directory { b"/" } else { b"" };
        let name = CString::new([name.to_bytes(), slash].concat())?;
        match stat_of(&to.fd, new) {
            Err(Errno::NOENT) => Ok(retry_on_intr(|| fs::renameat(&self.fd, &name, &to.fd, new))?),
            Err(error) => Err(error.into()),
            Ok(_) => Err(Errno::EXIST.into()),
        }
    }

    /// Gives the entry `name`, which is no directory, another name: `new`, in the directory `to`. Replaces nothing.
    ///
    /// # Errors
    /// The system's: EEXIST if `new` exists.
    pub fn link(&self, name: &CStr, to: &Self, new: &CStr) -> io::Result<()> {
        let flags = AtFlags::empty();
        Ok(retry_on_intr(|| fs::linkat(&self.fd, name, &to.fd, new, flags))?)
    }

    /// Removes the entry `name`; a directory only if it is empty. A network file system may do this, lose the answer,
    /// and fail. So what counts is whether the entry is there afterwards. One that was already missing counts as
    /// removed.
    ///
    /// # Errors
    /// The system's.
    pub fn remove(&self, name: &CStr, is_directory: bool) -> io::Result<()> {
        let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        let removed = retry_on_intr(|| fs::unlinkat(&self.fd, name, flags));
        removed.or_else(|error| match stat_of(&self.fd, name) {
            Err(Errno::NOENT) => Ok(()),
            _ => Err(error.into()),
        })
    }

    /// Removes the entry `name`, which is no directory. Returns what is left of its inode, if the system tells.
    ///
    /// # Errors
    /// The system's.
    pub fn remove_link(&self, name: &CStr) -> io::Result<Option<ExactStat>> {
        let fd = open(&self.fd, name, HOLD);
        self.remove(name, false)?;
        Ok(fd.and_then(|fd| stat_of(&fd, c"")).ok())
    }

    /// Makes a new file with `content` that only the user may access.
    ///
    /// # Errors
    /// The system's. If it cannot be written completely, it is removed.
    pub fn create(&self, name: &CStr, content: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        File::from(open(&self.fd, name, flags)?).write_all(content).inspect_err(|_| {
            let _ = self.remove(name, false);
        })
    }

    /// Waits 10 ms if NFS is about to remove what was open in it, and returns whether it is. What is removed while it is
    /// open has a name like `.nfs…` until it is closed.
    pub fn waits_for_nfs(&self) -> bool {
        /// A directory that was just emptied has no more.
        const MOST: usize = 20;
        let is_open = |name: &CString| name.as_bytes().starts_with(b".nfs");
        let waits = self.names(MOST).is_ok_and(|names| names.iter().any(is_open));
        if waits {
            thread::sleep(Duration::from_millis(10));
        }
        waits
    }

    /// The same directory, opened to list it if it may be listed.
    ///
    /// # Errors
    /// The system's.
    pub fn to_list(&self) -> io::Result<Handle> {
        let fd = match open(&self.fd, c".", listing::DIRECTORY) {
            Err(Errno::ACCESS) => self.fd.try_clone()?,
            fd => fd?,
        };
        Ok(listing::Handle { fd }.into())
    }

    /// The names of at most `most` entries, without `.` and `..`.
    ///
    /// # Errors
    /// The system's.
    pub fn names(&self, most: usize) -> io::Result<Vec<CString>> {
        let listing = listing::Handle { fd: open(&self.fd, c".", listing::DIRECTORY)? };
        let (mut buffer, mut names) = (Vec::new(), Listing::default());
        while names.len() < most && listing.read(&mut buffer, &mut names, None)? {}
        Ok(names.iter().take(most).map(|listed| listed.name.to_owned()).collect())
    }
}

/// A path of as many of `names` as fit, and their number.
fn stretch<N: AsRef<CStr>>(names: &[N]) -> io::Result<(CString, usize)> {
    let (mut path, mut count) = (Vec::new(), 0);
    for name in names {
        let name = name.as_ref().to_bytes();
        if count > 0 && path.len() + 1 + name.len() >= path::LONGEST {
            break;
        }
        path::join(&mut path, name);
        count += 1;
    }
    Ok((CString::new(path).map_err(|_| ErrorKind::InvalidInput)?, count))
}

/// Whether `there`, an entry of the directory `here`, is on another mount, as far as the kernel tells.
fn is_mounted(here: &ExactStat, there: &ExactStat) -> bool {
    let is_other = there.mount == 0 && here.stat.device != there.stat.device;
    here.mount != there.mount || there.stat.mount_point || is_other
}

fn stat_of(at: impl AsFd, name: &CStr) -> Result<ExactStat, Errno> {
    let mut flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    flags.set(AtFlags::EMPTY_PATH, name.is_empty());
    Ok(exact(&retry_on_intr(|| fs::statx(at.as_fd(), name, flags, FIELDS))?))
}

fn exact(stat: &Statx) -> ExactStat {
    ExactStat {
        stat: convert(stat),
        mount: mount_id(stat),
        born: (stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec),
        modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
        changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
        is_immutable: stat.stx_attributes.intersects(StatxAttributes::IMMUTABLE),
        is_append_only: stat.stx_attributes.intersects(StatxAttributes::APPEND),
    }
}
