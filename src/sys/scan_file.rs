//! Saved scans as files. One is written beside its place and then put there, so that whatever
//! happens meanwhile, what is there is whole: the old one or the new one.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::NamedTempFile;

/// Opens the saved scan at `path`, standard input for `-`, and says how many bytes it has; 0 where only
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

/// Whether what is saved at `path` replaces what is there: a pipe, or a device, is written to.
pub fn is_replaced(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |there| there.is_file())
}

/// A file that is being written.
#[derive(Debug)]
pub struct Draft {
    file: Place,
    path: PathBuf,
}

#[derive(Debug)]
enum Place {
    Beside(NamedTempFile),
    /// What is no regular file, such as a pipe, cannot be replaced and is written to.
    There(File),
}

impl Draft {
    /// Begins a file that is to be at `path`. Drafts of it that somebody left behind are removed.
    ///
    /// # Errors
    /// The system's.
    pub fn new(path: &Path) -> io::Result<Self> {
        // A symlink stays one, and what it points to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let file = match is_replaced(&path) {
            true => Place::Beside(beside(&path)?),
            false => Place::There(OpenOptions::new().write(true).open(&path)?),
        };
        Ok(Self { file, path })
    }

    /// Puts the file in its place, once it is safe on the device.
    ///
    /// # Errors
    /// The system's; then what was there before is there still.
    pub fn put(self) -> io::Result<()> {
        match self.file {
            Place::There(mut file) => file.flush(),
            Place::Beside(draft) => {
                draft.as_file().sync_all()?;
                draft.persist(&self.path)?;
                File::open(directory(&self.path))?.sync_all()
            }
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Place::Beside(draft) => draft.as_file_mut().write(bytes),
            Place::There(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A new file beside `path`, locked for as long as it is open, so that others can tell it from one
/// whose writer is gone.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    /// As other programs make their files: the umask says who may read it.
    const PERMISSIONS: u32 = 0o666;
    let directory = directory(path);
    let prefix = prefix(path);
    remove_stale(directory, &prefix);
    loop {
        let draft = tempfile::Builder::new()
            .prefix(&prefix)
            .permissions(fs::Permissions::from_mode(PERMISSIONS))
            .tempfile_in(directory)?;
        flock(draft.as_file(), FlockOperation::LockExclusive)?;
        // Between the two calls, somebody may have taken it for stale.
        if draft.as_file().metadata()?.nlink() > 0 {
            return Ok(draft);
        }
    }
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
