//! Linux: raw `getdents64` and `statx`, relative to an open directory, through rustix.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    self, AtFlags, CWD, FileType, Mode as CreateMode, OFlags, RawDir, Statx, StatxAttributes,
    StatxFlags,
};
use rustix::io::{Errno, retry_on_intr};

use super::file_systems;
use crate::base::inode::Identity;
use crate::base::measure::{Kind, Mode};
use crate::sys::{Listed, Listing, Mount, MountContent, Query, Source, Stat, Symlinks};

/// An open directory.
#[derive(Debug)]
pub struct Handle {
    pub(super) fd: OwnedFd,
}

/// The fields that [`Stat`] always has.
pub(super) const FIELDS: StatxFlags = StatxFlags::TYPE
    .union(StatxFlags::MODE)
    .union(StatxFlags::NLINK)
    .union(StatxFlags::INO)
    .union(StatxFlags::SIZE)
    .union(StatxFlags::BLOCKS);

/// The fields for [`Query::times`].
const TIMES: StatxFlags =
    StatxFlags::ATIME.union(StatxFlags::MTIME).union(StatxFlags::CTIME).union(StatxFlags::BTIME);

/// To open a directory to list it.
pub(super) const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::LARGEFILE);

impl Handle {
    /// Opens the directory at `path`, following symlinks.
    pub fn open(path: &CStr) -> io::Result<Self> {
        Ok(Self { fd: open(CWD, path, DIRECTORY)? })
    }

    /// Opens the directory called `name` in this one. Its attributes are not needed.
    pub fn open_at(&self, name: &CStr, _: Option<&Stat>, symlinks: Symlinks) -> io::Result<Self> {
        Ok(Self { fd: open(&self.fd, name, DIRECTORY | nofollow(symlinks))? })
    }

    /// Opens the directory at `path` without reading it, following symlinks. It need not be readable.
    pub fn look(path: &CStr) -> io::Result<Self> {
        Ok(Self { fd: open(CWD, path, LOOK)? })
    }

    /// Its number, which was the lowest free one (open(2)).
    pub fn number(&self) -> Option<usize> {
        usize::try_from(self.fd.as_raw_fd()).ok()
    }

    /// The attributes of what `path` names.
    pub fn stat(path: &CStr, symlinks: Symlinks, query: Query) -> io::Result<Stat> {
        stat_in(CWD, path, symlinks, query)
    }

    /// The mount that `path` is on.
    pub fn mount_of(path: &CStr, symlinks: Symlinks) -> io::Result<Mount> {
        mount(CWD, path, symlinks)
    }

    /// Opens the parent directory without reading it; the uppermost directory is its own parent.
    pub fn up(&self) -> io::Result<Self> {
        Ok(Self { fd: open(&self.fd, c"..", LOOK)? })
    }

    /// The attributes of the entry called `name`.
    #[inline]
    pub fn stat_at(&self, name: &CStr, symlinks: Symlinks, query: Query) -> io::Result<Stat> {
        stat_in(self.fd.as_fd(), name, symlinks, query)
    }

    /// The identity of this directory, and the mount through which it is reached.
    pub fn mounted_identity(&self) -> io::Result<Identity> {
        let fields = StatxFlags::INO | StatxFlags::MNT_ID;
        let (stat, mount) = stat_and_mount(self.fd.as_fd(), c"", AtFlags::EMPTY_PATH, fields)?;
        Ok(stat.identity_on(mount))
    }

    /// The mount at `name`, without entering or triggering it.
    pub fn mount_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<Mount> {
        mount(self.fd.as_fd(), name, symlinks)
    }

    /// Opens the file at `path`, relative to this directory, for reading. If it has become a pipe, this does not
    /// block.
    pub fn open_file_at(&self, path: &CStr, symlinks: Symlinks) -> io::Result<File> {
        open_file(self.fd.as_fd(), path, symlinks)
    }

    /// Appends the names of one system call, read through `buffer`, to `names`. Returns whether there may be more;
    /// false after an entry that leads to `end`.
    ///
    /// # Errors
    /// The system's, from getdents64(2).
    pub fn read(
        &self,
        buffer: &mut Vec<u8>,
        names: &mut Listing,
        end: Option<u64>,
    ) -> io::Result<bool> {
        /// Enough for 2,000 short names. Measured with benches/floor.rs on 100,000 files: half is
        /// no slower, four times as much a tenth slower.
        const BUFFER: usize = 64 * 1024;
        buffer.reserve_exact(BUFFER.saturating_sub(buffer.capacity()));
        let mut entries = RawDir::new(&self.fd, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Err(Errno::INTR) => continue,
                entry => entry?,
            };
            let name = entry.file_name();
            if name != c"." && name != c".." {
                let (kind, inode) = (kind(entry.file_type()), entry.ino());
                names.push(Listed { name, kind, inode, stat: None });
            }
            let is_end = Some(entry.next_entry_cookie()) == end;
            // A buffer of nothing but "." and ".." is not the end.
            if entries.is_buffer_empty() && (is_end || !names.is_empty()) {
                return Ok(!is_end);
            }
        }
        Ok(false)
    }
}

/// To look at what is mounted without entering it: O_PATH triggers no automount (open(2)), but for
/// O_DIRECTORY, which does (fs/namei.c, follow_automount, 6.18).
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Opens the file at `path`, relative to the directory `parent`, as [`Handle::open_file_at`] does.
pub fn open_file(parent: BorrowedFd<'_>, path: &CStr, symlinks: Symlinks) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | nofollow(symlinks);
    Ok(File::from(open(parent, path, flags)?))
}

/// Opens `name`, relative to the directory `parent`. If it is created, only the user may access it.
pub(super) fn open(parent: impl AsFd, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = CreateMode::RUSR | CreateMode::WUSR;
    retry_on_intr(|| fs::openat(parent.as_fd(), name, flags, mode))
}

fn nofollow(symlinks: Symlinks) -> OFlags {
    match symlinks {
        Symlinks::Stay => OFlags::NOFOLLOW,
        Symlinks::Follow => OFlags::empty(),
    }
}

fn at(symlinks: Symlinks) -> AtFlags {
    match symlinks {
        Symlinks::Stay => AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT,
        Symlinks::Follow => AtFlags::NO_AUTOMOUNT,
    }
}

/// The kind that a listing tells. Not every file system does.
pub(super) fn kind(listed: FileType) -> Option<Kind> {
    match listed {
        FileType::Directory => Some(Kind::Directory),
        FileType::RegularFile => Some(Kind::File),
        FileType::Symlink => Some(Kind::Symlink),
        FileType::Unknown => None,
        _ => Some(Kind::Other),
    }
}

#[inline]
fn stat_in(
    parent: BorrowedFd<'_>,
    name: &CStr,
    symlinks: Symlinks,
    query: Query,
) -> io::Result<Stat> {
    let mut fields = FIELDS;
    fields.set(TIMES, query.times);
    fields.set(StatxFlags::UID | StatxFlags::GID, query.owner);
    let mut flags = at(symlinks);
    flags.set(AtFlags::STATX_DONT_SYNC, query.cached);
    match retry_on_intr(|| fs::statx(parent, name, flags, fields)) {
        Ok(stat) => Ok(convert(&stat)),
        Err(error) => Ok(without_statx(error, parent, name, flags)?),
    }
}

/// The attributes of `name`, relative to the directory `parent`, and the id of its mount; 0 if that is unknown.
pub(super) fn stat_and_mount(
    parent: BorrowedFd<'_>,
    name: &CStr,
    flags: AtFlags,
    fields: StatxFlags,
) -> Result<(Stat, u64), Errno> {
    match retry_on_intr(|| fs::statx(parent, name, flags, fields)) {
        Ok(stat) => Ok((convert(&stat), mount_id(&stat))),
        Err(error) => {
            let stat = without_statx(error, parent, name, flags)?;
            Ok((stat, if name.is_empty() { mount_of_open(parent) } else { 0 }))
        }
    }
}

/// The id of the mount through which `fd` was opened (proc_pid_fdinfo(5)); 0 if that is unknown.
fn mount_of_open(fd: BorrowedFd<'_>) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd()));
    let text = text.unwrap_or_default();
    let id = text.lines().find_map(|line| line.strip_prefix("mnt_id:"));
    id.and_then(|id| id.trim().parse().ok()).unwrap_or(0)
}

/// The attributes by fstatat(2), where `error` says that there is no statx(2): before Linux 4.11, and under a filter of
/// system calls that does not know it, such as that of an old Docker. They are without the time of birth and, as before
/// 5.8, without what tells a mount point on the same file system.
#[cold]
fn without_statx(
    error: Errno,
    parent: BorrowedFd<'_>,
    name: &CStr,
    flags: AtFlags,
) -> Result<Stat, Errno> {
    if !matches!(error, Errno::NOSYS | Errno::PERM) {
        return Err(error);
    }
    let flags = flags.difference(AtFlags::STATX_DONT_SYNC);
    let stat = retry_on_intr(|| fs::statat(parent, name, flags))?;
    // The types of the fields differ between platforms.
    let nanos = u32::try_from(stat.st_ctime_nsec).unwrap_or(0);
    let [links, blocks, length] =
        [i128::from(stat.st_nlink), i128::from(stat.st_blocks), i128::from(stat.st_size)];
    Ok(Stat {
        device: stat.st_dev,
        inode: stat.st_ino,
        links: u32::try_from(links).unwrap_or(u32::MAX),
        // The bits above 16 are not used (inode(7)).
        mode: Mode((stat.st_mode & 0xffff) as u16),
        mount_point: false,
        blocks: u64::try_from(blocks).unwrap_or(0),
        length: u64::try_from(length).unwrap_or(0),
        accessed: stat.st_atime,
        modified: stat.st_mtime,
        changed: stat.st_ctime,
        changed_nanos: nanos,
        born: 0,
        owner: stat.st_uid,
        group: Some(stat.st_gid),
    })
}

/// Whether the entry `name` of `directory` has a second name in the form of DOS, as files of Windows have on NTFS
/// (`LONGFI~1.TXT` for `longfilename.txt`). No listing has it, but ntfs-3g counts it as a link, and tells its name in this
/// attribute. The kernel's ntfs3 does not count it (fs/ntfs3/inode.c, 6.18).
#[cold]
pub fn has_dos_name(directory: &super::Handle, name: &CStr) -> bool {
    let super::Handle::Native(directory) = directory else { return false };
    let mut path = format!("/proc/self/fd/{}/", directory.fd.as_raw_fd()).into_bytes();
    path.extend_from_slice(name.to_bytes());
    fs::lgetxattr_query(path, c"system.ntfs_dos_name").is_ok_and(|length| length > 0)
}

/// What a walk takes of what the kernel says.
#[inline]
pub fn convert(stat: &Statx) -> Stat {
    const BOUNDARY: StatxAttributes = StatxAttributes::MOUNT_ROOT.union(StatxAttributes::AUTOMOUNT);
    Stat {
        device: fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        links: stat.stx_nlink,
        mode: Mode(stat.stx_mode),
        mount_point: stat.stx_attributes.intersects(BOUNDARY),
        blocks: stat.stx_blocks,
        length: stat.stx_size,
        accessed: stat.stx_atime.tv_sec,
        modified: stat.stx_mtime.tv_sec,
        changed: stat.stx_ctime.tv_sec,
        changed_nanos: stat.stx_ctime.tv_nsec,
        born: stat.stx_btime.tv_sec,
        owner: stat.stx_uid,
        group: Some(stat.stx_gid),
    }
}

/// Before 5.8 the kernel does not tell, and 0 stands for every mount.
pub(super) fn mount_id(stat: &Statx) -> u64 {
    let has_id = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    if has_id { stat.stx_mnt_id } else { 0 }
}

fn mount(parent: BorrowedFd<'_>, name: &CStr, symlinks: Symlinks) -> io::Result<Mount> {
    let flags = at(symlinks);
    let told = match retry_on_intr(|| fs::statx(parent, name, flags, StatxFlags::MNT_ID)) {
        Ok(stat) if stat.stx_attributes.contains(StatxAttributes::AUTOMOUNT) => {
            let (id, source, content) = (mount_id(&stat), Source::Native, MountContent::Automount);
            return Ok(Mount { id, source, content, ..Mount::default() });
        }
        Ok(stat) => Some(mount_id(&stat)),
        Err(error) => without_statx(error, parent, name, flags).map(|_| None)?,
    };
    let fd = open(parent, name, LOOK | nofollow(symlinks))?;
    let id = told.unwrap_or_else(|| mount_of_open(fd.as_fd()));
    let number = match retry_on_intr(|| fs::fstatfs(&fd)) {
        // The numbers have 32 bits; the field's width is the platform's.
        Ok(answer) => answer.f_type as u32,
        // A file system that does not answer statfs, or may not, is not one of the kernel's own.
        Err(_) => 0,
    };
    Ok(file_systems::mount(id, number))
}
