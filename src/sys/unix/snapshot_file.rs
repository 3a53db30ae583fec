//! What Unix does for snapshots: owners, permissions and locks.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt, fchown};
use std::path::Path;
use std::process::ChildStdout;

use rustix::fs::{Access, AtFlags, CWD, FlockOperation, accessat, flock};
use rustix::io::Errno;
use tempfile::Builder;

use crate::sys::system::{access_list, set_access_list};

/// A duplicate of a standard stream: it goes on where the shell left off.
pub fn duplicate(stream: impl AsFd) -> io::Result<File> {
    Ok(File::from(rustix::io::dup(stream)?))
}

/// Reads what is at a place in `file`.
pub fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    file.read_at(buffer, place)
}

/// The output of a program, as a file.
pub fn pipe(stdout: ChildStdout) -> File {
    File::from(OwnedFd::from(stdout))
}

/// Whether `path` leads to the open file `file`.
pub fn is_same(path: &Path, file: &File) -> io::Result<bool> {
    Ok(identity(&std::fs::metadata(path)?) == identity(&file.metadata()?))
}

/// Whether `path`, without following it as a symlink, is still the file described by `old`.
pub fn is_still(path: &Path, old: &Metadata) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| identity(&there) == identity(old))
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Whether it is a file with content, or a disk.
pub fn has_content(there: &Metadata) -> bool {
    there.is_file() && there.len() > 0 || there.file_type().is_block_device()
}

/// Whether the system would let us write to the file at `path`.
pub fn ensure_writable(path: &Path) -> io::Result<()> {
    ensure(path, Access::WRITE_OK)
}

/// Whether the system would let us create files in the directory at `path`.
pub fn ensure_makes_files(path: &Path) -> io::Result<()> {
    // With the slash, the system says of a file that it is no directory; without, only that it may not be executed.
    ensure(&path.join(""), Access::WRITE_OK | Access::EXEC_OK)
}

fn ensure(path: &Path, access: Access) -> io::Result<()> {
    match accessat(CWD, path, access, AtFlags::EACCESS) {
        // By Docker's rules of before 2021, for each call that they do not know. faccessat(2), which they know, asks for
        // the real user, and that is another one only in a program with the set-user-ID bit.
        Err(Errno::PERM) => Ok(accessat(CWD, path, access, AtFlags::empty())?),
        answer => Ok(answer?),
    }
}

/// The system's error for writing to a directory.
pub fn is_a_directory() -> io::Error {
    Errno::ISDIR.into()
}

/// Waits until `file` is synced to the device. A pipe has no device, and not every file system supports this.
pub fn sync(file: &File) -> io::Result<()> {
    file.sync_all().or_else(|error| match Errno::from_io_error(&error) {
        Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
        _ => Err(error),
    })
}

/// How to create a file that will replace `old`, if that exists, and may be for this user alone.
pub fn new_for(old: Option<&Metadata>, is_private: bool) -> Builder<'static, 'static> {
    /// As other programs create their files: the umask says who may read it.
    const PERMISSIONS: u32 = 0o666;
    /// Until it has the owner of `old`: the owner's permissions, and none for anybody else.
    const OWNERS: u32 = 0o600;
    let usual = if is_private { OWNERS } else { PERMISSIONS };
    let permissions = old.map_or(usual, |old| old.mode() & OWNERS);
    let mut builder = Builder::new();
    builder.permissions(Permissions::from_mode(permissions));
    builder
}

/// Locks `file` while it is open, to show that it is being written.
pub fn claim(file: &File) -> io::Result<()> {
    match flock(file, FlockOperation::LockExclusive) {
        // A file system without locks is fine: nobody there can mistake the file for an abandoned one.
        Ok(()) | Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A lock of `directory`, while it is open. None where there are no locks.
///
/// # Errors
/// The system's; [`io::ErrorKind::WouldBlock`] if somebody else has it.
pub fn lock(directory: &Path) -> io::Result<Option<File>> {
    let directory = File::open(directory)?;
    match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(directory)),
        Err(Errno::WOULDBLOCK) => Err(Errno::WOULDBLOCK.into()),
        Err(_) => Ok(None),
    }
}

/// Removes the file at `path` unless somebody is writing it. It stays locked meanwhile, so that nobody claims a file
/// that is about to go.
pub fn remove_unclaimed(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    std::fs::remove_file(path)
}

/// Gives `draft` the owner, the group and the permissions of `old`, the file at `path`, as far as allowed. If not all
/// of it is allowed, nobody can read more than before.
pub fn hand_over(draft: &File, path: &Path, old: &Metadata) -> io::Result<()> {
    // Root may give a file to any user; others only to a group of theirs.
    let (owner, group) = (Some(old.uid()), Some(old.gid()));
    if fchown(draft, owner, group).is_err() {
        let _ = fchown(draft, None, group);
    }
    let has_group = draft.metadata()?.gid() == old.gid();
    let list = access_list(path);
    let has_list = !list.as_ref().is_ok_and(Vec::is_empty);
    // The directory may have given it a default list.
    let wanted = list.ok().filter(|_| has_group).unwrap_or_default();
    let is_set = set_access_list(draft, &wanted).is_ok();
    let (mode, owners) = (old.mode() & 0o777, old.mode() & 0o700);
    let mode = if has_group && is_set {
        mode
    } else if is_set && !has_list {
        // Members of the old group now count as others, and the other way round.
        let both = mode >> 3 & mode & 0o7;
        owners | both << 3 | both
    } else {
        owners
    };
    // If this fails, the file keeps its first permissions, which allow less.
    let _ = draft.set_permissions(Permissions::from_mode(mode));
    Ok(())
}
