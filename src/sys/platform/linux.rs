//! What Linux tells of itself, of the limits of the process and of devices; and access lists.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{self, CWD, Mode, OFlags, XattrFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard one; returns about how many more may be opened.
pub fn free_handles() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    let limit = if raised { maximum } else { current };
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    // The lowest free number tells how many are taken, but for gaps (open(2)).
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let open = || fs::openat(CWD, c"/", flags, Mode::empty());
    let taken = retry_on_intr(open).map_or(0, |fd| fd.as_raw_fd());
    limit.saturating_sub(usize::try_from(taken).unwrap_or(0))
}

/// How many threads have room in the address space that the process may have (RLIMIT_AS). Each takes a
/// stack of 2 MiB, and 64 MiB that glibc reserves for what it allocates, twice as much while it aligns
/// that (malloc/arena.c, 2.36).
pub fn threads_with_room() -> usize {
    const ROOM: u64 = 128 << 20;
    let room = |limit| usize::try_from(limit / ROOM).unwrap_or(usize::MAX).max(1);
    getrlimit(Resource::As).current.map_or(usize::MAX, room)
}

/// Where a file has its access list (acl(5)).
const ACCESS_LIST: &CStr = c"system.posix_acl_access";

/// The access list of the file at `path`, as its file system has it; empty if there is none.
pub fn access_list(path: &Path) -> io::Result<Vec<u8>> {
    /// No attribute is longer (linux/limits.h, XATTR_SIZE_MAX).
    const MOST: usize = 1 << 16;
    let mut list = Vec::with_capacity(MOST);
    without_none(fs::getxattr(path, ACCESS_LIST, spare_capacity(&mut list)).map(drop))?;
    Ok(list)
}

/// Gives `file` an access list, or takes it away if `list` is empty.
pub fn set_access_list(file: &File, list: &[u8]) -> io::Result<()> {
    if list.is_empty() {
        return without_none(fs::fremovexattr(file, ACCESS_LIST));
    }
    Ok(fs::fsetxattr(file, ACCESS_LIST, list, XattrFlags::empty())?)
}

/// Nothing is wrong with a file that has no list, nor with a file system that knows none.
fn without_none(done: Result<(), Errno>) -> io::Result<()> {
    match done {
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        done => Ok(done?),
    }
}

/// Whether the device with this number has to move a head to where the data is; false where the
/// system does not tell. A partition is asked by way of its disk.
pub fn is_rotational(device: u64) -> bool {
    let (major, minor) = (fs::major(device), fs::minor(device));
    ["queue", "../queue"].iter().any(|queue| {
        let flag = format!("/sys/dev/block/{major}:{minor}/{queue}/rotational");
        std::fs::read(flag).is_ok_and(|flag| flag.starts_with(b"1"))
    })
}
