//! What lies below mount points, under what is mounted there: seen through a clone of the mount without the mounts in
//! it (open_tree(2)). The clone is mounted nowhere, and is gone when it is closed. It needs root.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};

/// Clones the mount of the directory at `path`, from that directory on. Returns also the path by which this process
/// reaches the clone until it is closed.
///
/// # Errors
/// The system's, and in words what its EINVAL means.
pub fn clone_mount(path: &CStr) -> io::Result<(OwnedFd, Vec<u8>)> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    match open_tree(CWD, path, flags | OpenTreeFlags::AT_NO_AUTOMOUNT) {
        Ok(clone) => {
            let path = format!("/proc/self/fd/{}", clone.as_raw_fd());
            Ok((clone, path.into()))
        }
        // A user namespace must not look below mounts that it was given (fs/namespace.c, has_locked_children).
        Err(Errno::INVAL) => Err(io::Error::other("not allowed in this user namespace")),
        Err(error) => Err(error.into()),
    }
}
