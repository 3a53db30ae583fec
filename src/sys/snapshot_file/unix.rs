//! What Unix does for snapshots: owners, permissions and locks.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, FlockOperation, accessat, flock};
use rustix::io::Errno;
use tempfile::Builder;

use crate::sys::platform::{access_list, set_access_list};

/// Standard input, as a file of our own.
pub fn stdin() -> io::Result<File> {
    Ok(File::from(rustix::io::dup(io::stdin())?))
}

/// Standard output at its current offset: a file is appended to where the shell left off.
pub fn stdout() -> io::Result<File> {
    Ok(File::from(rustix::io::dup(io::stdout())?))
}

/// Whether `path` leads to what is open as `file`.
pub fn is_same(path: &Path, file: &File) -> io::Result<bool> {
    Ok(identity(&std::fs::metadata(path)?) == identity(&file.metadata()?))
}

/// Whether what is at `path`, a symlink itself, is what was told of as `old`.
pub fn is_still(path: &Path, old: &Metadata) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| identity(&there) == identity(old))
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Whether the system would let us write to what is at `path`.
pub fn ensure_writable(path: &Path) -> io::Result<()> {
    ensure(path, Access::WRITE_OK)
}

/// Whether the system would let us make files in the directory at `path`.
pub fn ensure_makes_files(path: &Path) -> io::Result<()> {
    ensure(path, Access::WRITE_OK | Access::EXEC_OK)
}

fn ensure(path: &Path, access: Access) -> io::Result<()> {
    Ok(accessat(CWD, path, access, AtFlags::EACCESS)?)
}

/// What the system says of a directory that is to be written to.
pub fn is_a_directory() -> io::Error {
    Errno::ISDIR.into()
}

/// Waits until `file` is safe on the device. A pipe has none, and not every file system can tell.
pub fn sync(file: &File) -> io::Result<()> {
    file.sync_all().or_else(|error| match Errno::from_io_error(&error) {
        Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
        _ => Err(error),
    })
}

/// How a file is made that takes the place of `old`, if that is there.
pub fn new_for(old: Option<&Metadata>) -> Builder<'static, 'static> {
    /// As other programs make their files: the umask says who may read it.
    const PERMISSIONS: u32 = 0o666;
    /// Until it has the owner of another file: what that one's may do, for nobody else.
    const OWNERS: u32 = 0o600;
    let permissions = old.map_or(PERMISSIONS, |old| old.mode() & OWNERS);
    let mut builder = Builder::new();
    builder.permissions(Permissions::from_mode(permissions));
    builder
}

/// Says that somebody is writing `file`, for as long as it is open.
pub fn claim(file: &File) -> io::Result<()> {
    match flock(file, FlockOperation::LockExclusive) {
        // A file system without locks does as well: nobody can take it for stale there.
        Ok(()) | Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether nobody is writing the file at `path`.
pub fn is_unclaimed(path: &Path) -> bool {
    let lock = |file| Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?);
    File::open(path).and_then(lock).is_ok()
}

/// Gives `draft` the owner, the group and the permissions of `old`, the file at `path`, as far as that
/// is allowed; and where it is not, nobody gets to read what they could not read before.
pub fn hand_over(draft: &File, path: &Path, old: &Metadata) -> io::Result<()> {
    // Root gives a file to anybody; others give it to a group of theirs, and to nobody.
    let (owner, group) = (Some(old.uid()), Some(old.gid()));
    if fchown(draft, owner, group).is_err() {
        let _ = fchown(draft, None, group);
    }
    let has_group = draft.metadata()?.gid() == old.gid();
    let list = access_list(path);
    let has_list = !list.as_ref().is_ok_and(Vec::is_empty);
    // A directory may have given it another one.
    let wanted = list.ok().filter(|_| has_group).unwrap_or_default();
    let is_set = set_access_list(draft, &wanted).is_ok();
    let (mode, owners) = (old.mode() & 0o777, old.mode() & 0o700);
    let mode = if has_group && is_set {
        mode
    } else if is_set && !has_list {
        // Who was of the group is among the others now, and the other way round.
        let both = mode >> 3 & mode & 0o7;
        owners | both << 3 | both
    } else {
        owners
    };
    // Where that is not allowed, it stays as it was made, which is for fewer.
    let _ = draft.set_permissions(Permissions::from_mode(mode));
    Ok(())
}
