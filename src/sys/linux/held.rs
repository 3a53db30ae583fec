//! Linux: openat2, renameat2, statx and unlinkat, each relative to a held directory.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    self, AtFlags, CWD, Mode, OFlags, RawDir, RenameFlags, ResolveFlags, Statx, StatxAttributes,
    StatxFlags,
};
use rustix::io::{Errno, retry_on_intr};

use super::listing::convert;
use crate::measure::Kind;
use crate::sys::ExactStat;
use crate::sys::user_id;

/// A directory that is held open. It stays the same directory even if it is moved or replaced.
#[derive(Debug)]
pub struct HeldDirectory {
    fd: OwnedFd,
    /// Whether it opens one directory at a time, as before Linux 5.6.
    by_steps: bool,
}

/// Does not allow reading, and triggers no automount (open(2)).
const HOLD: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const FIELDS: StatxFlags =
    StatxFlags::BASIC_STATS.union(StatxFlags::BTIME).union(StatxFlags::MNT_ID);

/// The longest path in a system call, with its NUL (limits.h, PATH_MAX).
const LONGEST: usize = 4096;

/// Opens the file at `path` to append to it. Makes it and its directories, for the user alone.
///
/// Others may own directories on the way: root may have the home of a user, and anybody may make links in /tmp. They
/// must not choose which file is written to. So a symlink is followed, a directory is made and the last directory is
/// used only if it belongs to the user or root, and the symlink's directory too; and the file is nothing but a regular
/// file of the user with one link.
///
/// # Errors
/// The system's, and the reason why the file is not used.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    /// As many symlinks as Linux follows in one path (path_resolution(7)).
    const MOST: usize = 40;
    const THEIRS: &str = "it lies in a directory of another user";
    let refused = |why: &str| io::Error::other(why.to_owned());
    let trusts = |stat: &ExactStat| [user_id(), 0].contains(&stat.stat.owner);
    let names = |path: &[u8]| -> io::Result<Vec<CString>> {
        let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).rev();
        names.map(|name| Ok(CString::new(name)?)).collect()
    };
    let top = || retry_on_intr(|| fs::open("/", HOLD | OFlags::DIRECTORY, Mode::empty()));
    let mut rest = names(path.as_os_str().as_encoded_bytes())?;
    let Some(name) = (!rest.is_empty()).then(|| rest.remove(0)) else {
        return Err(refused("it is a directory"));
    };
    let (mut at, mut links) = (top()?, 0);
    while let Some(name) = rest.pop() {
        let around = stat_of(&at, c"")?;
        let stat = match stat_of(&at, &name) {
            Err(Errno::NOENT) if !trusts(&around) => {
                return Err(refused(THEIRS));
            }
            Err(Errno::NOENT) => match retry_on_intr(|| fs::mkdirat(&at, &name, Mode::RWXU)) {
                Ok(()) | Err(Errno::EXIST) => stat_of(&at, &name)?,
                Err(error) => return Err(error.into()),
            },
            stat => stat?,
        };
        if stat.stat.mode.kind() != Kind::Symlink {
            let flags = HOLD | OFlags::DIRECTORY;
            at = retry_on_intr(|| fs::openat(&at, &name, flags, Mode::empty()))?;
            continue;
        }
        if !trusts(&stat) || !trusts(&around) {
            return Err(refused("a symlink of another user leads to it"));
        }
        links += 1;
        if links > MOST {
            return Err(Errno::LOOP.into());
        }
        let target = fs::readlinkat(&at, &name, Vec::new())?;
        if target.as_bytes().starts_with(b"/") {
            at = top()?;
        }
        rest.extend(names(target.as_bytes())?);
    }
    if !trusts(&stat_of(&at, c"")?) {
        return Err(refused(THEIRS));
    }
    let check = |stat: ExactStat| match stat.stat {
        stat if stat.mode.kind() != Kind::File => Err(refused("it is not a regular file")),
        stat if stat.owner != user_id() => Err(refused("it belongs to another user")),
        stat if stat.links != 1 => Err(refused("it has several hard links")),
        _ => Ok(()),
    };
    // Opening a device may do something.
    match stat_of(&at, &name) {
        Ok(stat) => check(stat)?,
        Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    // Does not wait for the reader of a pipe.
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mode = Mode::RUSR | Mode::WUSR;
    let file = retry_on_intr(|| fs::openat(&at, &name, flags, mode))?;
    check(stat_of(&file, c"")?)?;
    Ok(File::from(file))
}

impl HeldDirectory {
    /// Opens the directory at `path`. Follows symlinks, because the user named it.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &CStr) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| fs::openat(CWD, path, flags, Mode::empty()))?;
        Ok(Self { fd, by_steps: false })
    }

    /// Opens the directory below this one that `names` lead to. Follows no symlink and enters no other mount.
    ///
    /// # Errors
    /// The system's: ELOOP for a symlink, EXDEV for a mount point.
    pub fn descend<N: AsRef<CStr>>(&self, names: &[N]) -> io::Result<Self> {
        let mut held = Self { fd: self.fd.try_clone()?, by_steps: self.by_steps };
        let mut rest = names;
        while !rest.is_empty() {
            let (path, count) = if held.by_steps { step(rest)? } else { stretch(rest)? };
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
            let fd = retry_on_intr(|| fs::openat(&self.fd, path, HOLD, Mode::empty()))?;
            let (here, there) = (stat_of(&self.fd, c"")?, stat_of(&fd, c"")?);
            return match there.stat.mode.kind() {
                Kind::Symlink => Err(Errno::LOOP),
                Kind::Directory if is_mounted(&here, &there) => Err(Errno::XDEV),
                Kind::Directory => Ok(fd),
                _ => Err(Errno::NOTDIR),
            };
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let flags = HOLD | OFlags::DIRECTORY;
        // It may fail if something is renamed meanwhile, and should be called again (openat2(2)).
        const TRIES: usize = 100;
        let mut tried = 0;
        loop {
            tried += 1;
            match fs::openat2(&self.fd, path, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) if tried < TRIES => {}
                opened => return opened,
            }
        }
    }

    /// Opens the parent directory.
    ///
    /// # Errors
    /// The system's.
    pub fn up(&self) -> io::Result<Self> {
        let fd = retry_on_intr(|| fs::openat(&self.fd, c"..", HOLD, Mode::empty()))?;
        Ok(Self { fd, by_steps: self.by_steps })
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
            false => Err(ErrorKind::NotFound.into()),
        }
    }

    /// The attributes of the directory itself.
    ///
    /// # Errors
    /// The system's.
    pub fn stat(&self) -> io::Result<ExactStat> {
        Ok(stat_of(&self.fd, c"")?)
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
    /// The system's: EEXIST if `new` exists, EINVAL if the file system cannot do this.
    pub fn move_to(&self, name: &CStr, to: &Self, new: &CStr) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        Ok(retry_on_intr(|| fs::renameat_with(&self.fd, name, &to.fd, new, flags))?)
    }

    /// Removes the entry `name`; a directory only if it is empty.
    ///
    /// # Errors
    /// The system's.
    pub fn remove(&self, name: &CStr, is_directory: bool) -> io::Result<()> {
        let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(retry_on_intr(|| fs::unlinkat(&self.fd, name, flags))?)
    }

    /// Removes the entry `name`, which is no directory. Returns what is left of its inode, if the system tells.
    ///
    /// # Errors
    /// The system's.
    pub fn remove_link(&self, name: &CStr) -> io::Result<Option<ExactStat>> {
        let fd = retry_on_intr(|| fs::openat(&self.fd, name, HOLD, Mode::empty()));
        self.remove(name, false)?;
        Ok(fd.and_then(|fd| stat_of(&fd, c"")).ok())
    }

    /// Makes a new file with `content` that only the user may access.
    ///
    /// # Errors
    /// The system's. If it cannot be written completely, it is removed.
    pub fn create(&self, name: &CStr, content: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let fd = retry_on_intr(|| fs::openat(&self.fd, name, flags, mode))?;
        File::from(fd).write_all(content).inspect_err(|_| {
            let _ = self.remove(name, false);
        })
    }

    /// The names of at most `most` entries, without `.` and `..`.
    ///
    /// # Errors
    /// The system's.
    pub fn names(&self, most: usize) -> io::Result<Vec<CString>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| fs::openat(&self.fd, c".", flags, Mode::empty()))?;
        let mut buffer = Vec::with_capacity(32 << 10);
        let mut entries = RawDir::new(&fd, buffer.spare_capacity_mut());
        let mut names = Vec::new();
        while let Some(entry) = entries.next().filter(|_| names.len() < most) {
            let entry = match entry {
                Err(Errno::INTR) => continue,
                entry => entry?,
            };
            let name = entry.file_name();
            if name != c"." && name != c".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }
}

/// The next of `names`.
fn step<N: AsRef<CStr>>(names: &[N]) -> io::Result<(CString, usize)> {
    let first = names.first().map(|name| name.as_ref().to_owned()).unwrap_or_default();
    Ok((first, 1))
}

/// A path of as many of `names` as fit, and their number.
fn stretch<N: AsRef<CStr>>(names: &[N]) -> io::Result<(CString, usize)> {
    let (mut path, mut count) = (Vec::new(), 0);
    for name in names {
        let name = name.as_ref().to_bytes();
        if count > 0 && path.len() + 1 + name.len() >= LONGEST {
            break;
        }
        crate::path::join(&mut path, name);
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
    let has = |attribute| stat.stx_attributes.intersects(attribute);
    let has_mount = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    ExactStat {
        stat: convert(stat),
        mount: if has_mount { stat.stx_mnt_id } else { 0 },
        born: (stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec),
        modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
        changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
        is_immutable: has(StatxAttributes::IMMUTABLE),
        is_append_only: has(StatxAttributes::APPEND),
    }
}
