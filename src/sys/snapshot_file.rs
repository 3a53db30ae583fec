//! Snapshots as files. One is written beside its place and then put there, so that whatever
//! happens meanwhile, what is there is whole: the old one or the new one. A pipe, a device or a dangling
//! symlink is written to in place, and a failure leaves it partly written.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FlockOperation, accessat, flock};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::{access_list, set_access_list};

/// Opens the snapshot at `path`, standard input for `-`, and says how many bytes it has; 0 where only
/// its end will tell.
///
/// # Errors
/// The system's, from open(2).
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    let file = match path == Path::new("-") {
        true => File::from(rustix::io::dup(io::stdin())?),
        false => File::open(path)?,
    };
    let length = file.metadata().map_or(0, |file| if file.is_file() { file.len() } else { 0 });
    Ok((file, length))
}

/// Where a snapshot is to be saved.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The path, as given.
    pub path: PathBuf,
    /// Whether it leads to standard output. Settled once: what is printed depends on it.
    pub is_stdout: bool,
}

impl Destination {
    /// What `path` leads to now; `-` is standard output, and so is `/dev/stdout`, and every other
    /// path to the same file.
    pub fn new(path: PathBuf) -> Self {
        let is_stdout = path == Path::new("-") || leads_to_stdout(&path).unwrap_or(false);
        Self { path, is_stdout }
    }

    /// Whether what is saved takes the place of what is there: a pipe, or a device, is written to.
    pub fn is_replaced(&self) -> bool {
        !self.is_stdout && self.old_and_place().1.is_some()
    }

    /// What is there, and the path at which to replace it, or at which a file is to be new. No path, if it
    /// is to be written to in place.
    fn old_and_place(&self) -> (Option<Metadata>, Option<PathBuf>) {
        let old = fs::metadata(&self.path);
        let place = match &old {
            Ok(old) => replaceable(&self.path, old),
            Err(error) => free_name(&self.path, error),
        };
        (old.ok(), place)
    }

    /// Whether the system would let us write there: to what is there and cannot be replaced, else to the
    /// directory. Nothing is made for that, which a walk could come across.
    ///
    /// # Errors
    /// The system's, from faccessat2(2).
    pub fn ensure_writable(&self) -> io::Result<()> {
        if self.is_stdout {
            return Ok(());
        }
        let ask = |path: &Path, access| Ok(accessat(CWD, path, access, AtFlags::EACCESS)?);
        let (old, place) = self.old_and_place();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return Err(Errno::ISDIR.into());
        }
        match place {
            Some(path) => ask(directory(&path), Access::WRITE_OK | Access::EXEC_OK),
            None if old.is_some() => ask(&self.path, Access::WRITE_OK),
            // A symlink that leads nowhere, as far as we know.
            None => Ok(()),
        }
    }
}

fn leads_to_stdout(path: &Path) -> io::Result<bool> {
    Ok(identity(&fs::metadata(path)?) == identity(&stdout()?.metadata()?))
}

/// Standard output at its current offset: a file is appended to where the shell left off.
fn stdout() -> io::Result<File> {
    Ok(File::from(rustix::io::dup(io::stdout())?))
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// A file that is being written.
#[derive(Debug)]
pub struct Draft {
    file: Written,
    path: PathBuf,
}

#[derive(Debug)]
enum Written {
    Beside(NamedTempFile),
    There(File),
}

impl Draft {
    /// Begins a file that is to be at `to`. Drafts of it that somebody left behind are removed.
    ///
    /// # Errors
    /// The system's.
    pub fn new(to: &Destination) -> io::Result<Self> {
        if to.is_stdout {
            return Ok(Self { file: Written::There(stdout()?), path: to.path.clone() });
        }
        let (old, place) = to.old_and_place();
        let (file, path) = match place {
            Some(path) => (Written::Beside(beside(&path, old.as_ref())?), path),
            None => {
                // As a shell's `>` does. To create a pipe that is there is not allowed everywhere.
                let mut options = OpenOptions::new();
                options.write(true).truncate(true).create(old.is_none());
                (Written::There(options.open(&to.path)?), to.path.clone())
            }
        };
        Ok(Self { file, path })
    }

    /// Puts the file in its place, once it is safe on the device.
    ///
    /// # Errors
    /// The system's; then what was there before is there still.
    pub fn put(self) -> io::Result<()> {
        match self.file {
            Written::There(file) => sync(&file),
            Written::Beside(draft) => {
                sync(draft.as_file())?;
                draft.persist(&self.path)?;
                // It is in its place now. Not every directory can be opened, or synced.
                let _ =
                    File::open(directory(&self.path)).and_then(|directory| directory.sync_all());
                Ok(())
            }
        }
    }
}

/// The path at which to replace what `path` leads to, a regular file that is there (`old`). A symlink
/// stays one, and what it points to is replaced; if that is to be found under a name: the symlinks in
/// proc also lead to what has none, or another one by now.
fn replaceable(path: &Path, old: &Metadata) -> Option<PathBuf> {
    let real = fs::canonicalize(path).ok().filter(|_| old.is_file())?;
    let is_it = fs::symlink_metadata(&real).is_ok_and(|there| identity(&there) == identity(old));
    is_it.then_some(real)
}

/// The free name that `path` leads to, if there is nothing for that reason alone: symlinks may be
/// forbidden to be followed (proc_sys_fs(5), protected_symlinks).
fn free_name(path: &Path, error: &io::Error) -> Option<PathBuf> {
    /// As many as the system follows (path_resolution(7)).
    const MOST_SYMLINKS: usize = 40;
    let is_free = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    let mut path = Some(path.to_owned()).filter(|_| is_free(error))?;
    for _ in 0..=MOST_SYMLINKS {
        match fs::symlink_metadata(&path) {
            Err(error) => return is_free(&error).then_some(path),
            // Should there be something by now, it is not followed but written to.
            Ok(_) => path = directory(&path).join(fs::read_link(&path).ok()?),
        }
    }
    None
}

/// Waits until `file` is safe on the device. A pipe has none, and not every file system can tell.
fn sync(file: &File) -> io::Result<()> {
    file.sync_all().or_else(|error| match Errno::from_io_error(&error) {
        Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
        _ => Err(error),
    })
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Written::Beside(draft) => draft.as_file_mut().write(bytes),
            Written::There(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A new file beside `path`, locked for as long as it is open, so that others can tell it from one
/// whose writer is gone. It is for those who may read `old`, if that is there, and for nobody else.
fn beside(path: &Path, old: Option<&Metadata>) -> io::Result<NamedTempFile> {
    /// As other programs make their files: the umask says who may read it.
    const PERMISSIONS: u32 = 0o666;
    /// Until it has the owner of another file: what that one's may do, for nobody else.
    const OWNERS: u32 = 0o600;
    let directory = directory(path);
    let prefix = prefix(path);
    remove_stale(directory, &prefix);
    let draft = loop {
        let permissions = old.map_or(PERMISSIONS, |old| old.mode() & OWNERS);
        let draft = tempfile::Builder::new()
            .prefix(&prefix)
            .permissions(Permissions::from_mode(permissions))
            .tempfile_in(directory)?;
        match flock(draft.as_file(), FlockOperation::LockExclusive) {
            // A file system without locks does as well: nobody can take it for stale there.
            Ok(()) | Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
        // Between the two calls, somebody may have.
        let is_gone = |error: io::Error| error.kind() == ErrorKind::NotFound;
        if !fs::symlink_metadata(draft.path()).is_err_and(is_gone) {
            break draft;
        }
    };
    if let Some(old) = old {
        hand_over(draft.as_file(), path, old)?;
    }
    Ok(draft)
}

/// Gives `draft` the owner, the group and the permissions of `old`, the file at `path`, as far as that
/// is allowed; and where it is not, nobody gets to read what they could not read before.
fn hand_over(draft: &File, path: &Path, old: &Metadata) -> io::Result<()> {
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

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

/// How the names of all drafts of `path` begin.
fn prefix(path: &Path) -> std::ffi::OsString {
    /// A name has 255 bytes at most (limits.h, NAME_MAX), and some are ours.
    const MOST: usize = 200;
    let name = path.file_name().unwrap_or_default().as_bytes();
    let name = OsStr::from_bytes(&name[..name.len().min(MOST)]);
    let mut prefix = std::ffi::OsString::from(".weigh-draft-of-");
    prefix.push(name);
    prefix.push("-");
    prefix
}

/// Removes the drafts that nobody has locked. Where one stays, nothing is lost but its room.
fn remove_stale(directory: &Path, prefix: &OsStr) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_draft = entry.file_name().as_bytes().starts_with(prefix.as_bytes());
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_draft
            && is_file
            && let Ok(file) = File::open(entry.path())
            && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}
