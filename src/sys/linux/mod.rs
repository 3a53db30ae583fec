//! Linux: its own calls for listings and for deleting, ext4 from its device, and what it tells about the limits of the
//! process, about devices and access lists. The rest is as on any Unix.

mod bulk;
mod bulk_listing;
mod device;
mod events;
mod extents;
mod file_systems;
mod held;
mod hidden;
mod in_use;
pub(super) mod listing;
mod own_space;
mod prefetch;
mod proc;
mod unlinked;
mod writers;

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rustix::buffer::spare_capacity;
use rustix::fs::{self, Advice, CWD, OFlags, XattrFlags};
use rustix::io::Errno;

use crate::sys::Handle;

pub use super::unix::*;
pub use bulk::Bulk;
pub use events::{Events, file_id};
pub use extents::map_extents;
pub use held::{HeldDirectory, make_private_directory, open_to_append};
pub use hidden::clone_mount;
pub use in_use::in_use;
pub use listing::has_dos_name;
pub use own_space::{for_root, own_space};
pub use prefetch::Prefetch;
pub use unlinked::unlinked_files;
pub use writers::{open_for_writing, writer};

/// An open directory of the native source: Linux' own calls, relative to an open directory.
pub type NativeHandle = listing::Handle;

/// An open directory of a file system that is read in bulk.
pub type BulkHandle = bulk_listing::Handle;

impl From<NativeHandle> for Handle {
    fn from(handle: NativeHandle) -> Self {
        Handle::Native(handle)
    }
}

/// The mounts that this process sees (proc_pid_mountinfo(5)).
///
/// # Errors
/// The system's.
pub fn mount_list() -> io::Result<Vec<u8>> {
    std::fs::read("/proc/self/mountinfo")
}

/// Begins to write these bytes of a `file` to its device, and does not wait for it. What is not written yet stays in the
/// cache (mm/fadvise.c), and errors are left to fsync(2).
pub fn begin_sync(file: &File, bytes: &Range<u64>) {
    let length = NonZeroU64::new(bytes.end.saturating_sub(bytes.start));
    let _ = fs::fadvise(file, bytes.start, length, Advice::DontNeed);
}

/// Raises the soft limit of open files to the hard one. Returns about how many more files may be opened.
pub fn free_handles() -> usize {
    /// What systems give without further ado (getrlimit(2)).
    const USUAL: usize = 1024;
    // Asked through nix, because rustix panics where a filter of system calls refuses this.
    let limit = match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((soft, hard)) => {
            let is_raised = setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok();
            usize::try_from(if is_raised { hard } else { soft }).unwrap_or(usize::MAX)
        }
        Err(_) => USUAL,
    };
    // The lowest free number tells how many are in use, apart from gaps (open(2)).
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let taken = listing::open(CWD, c"/", flags).map_or(0, |fd| fd.as_raw_fd());
    limit.saturating_sub(usize::try_from(taken).unwrap_or(0))
}

/// How many threads fit in the address space that the process may use (RLIMIT_AS). Each takes a stack of 2 MiB, and 64
/// MiB that glibc reserves for allocation, twice as much while it aligns that (malloc/arena.c, 2.36).
pub fn threads_with_room() -> usize {
    const ROOM: u64 = 128 << 20;
    getrlimit(Resource::RLIMIT_AS)
        .map_or(usize::MAX, |(limit, _)| usize::try_from(limit / ROOM).unwrap_or(usize::MAX).max(1))
}

/// The attribute that holds a file's access list (acl(5)).
const ACCESS_LIST: &CStr = c"system.posix_acl_access";

/// The access list of the file at `path`, as its file system stores it; empty if there is none.
pub fn access_list(path: &Path) -> io::Result<Vec<u8>> {
    /// No attribute is longer (linux/limits.h, XATTR_SIZE_MAX).
    const MOST: usize = 1 << 16;
    let mut list = Vec::with_capacity(MOST);
    without_none(fs::getxattr(path, ACCESS_LIST, spare_capacity(&mut list)).map(drop))?;
    Ok(list)
}

/// Sets the access list of `file`, or removes it if `list` is empty.
pub fn set_access_list(file: &File, list: &[u8]) -> io::Result<()> {
    if list.is_empty() {
        return without_none(fs::fremovexattr(file, ACCESS_LIST));
    }
    Ok(fs::fsetxattr(file, ACCESS_LIST, list, XattrFlags::empty())?)
}

/// Neither a file without a list nor a file system without access lists is an error.
fn without_none(done: Result<(), Errno>) -> io::Result<()> {
    match done {
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        done => Ok(done?),
    }
}
