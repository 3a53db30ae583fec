//! Snapshots as files. One is written beside its place and then put there, so that whatever
//! happens meanwhile, what is there is whole: the old one or the new one. A pipe, a device or a dangling
//! symlink is written to in place, and a failure leaves it partly written.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

use crate::path;

/// Opens the snapshot at `path`, standard input for `-`, and says how many bytes it has; 0 where only
/// its end will tell.
///
/// # Errors
/// The system's, from open(2).
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    let file = match path == Path::new("-") {
        true => platform::stdin()?,
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
    /// If it is to be a new file whatever is there, how its name begins and how it ends. Where there is one of that
    /// name, a number comes between.
    new: Option<(String, &'static str)>,
}

impl Destination {
    /// What `path` leads to now; `-` is standard output, and so is `/dev/stdout`, and every other
    /// path to the same file.
    pub fn new(path: PathBuf) -> Self {
        let is_stdout = path == Path::new("-") || leads_to_stdout(&path).unwrap_or(false);
        Self { path, is_stdout, new: None }
    }

    /// A new file in `directory`, whose name begins and ends like this.
    pub fn new_in(directory: &Path, name: &str, ending: &'static str) -> Self {
        let path = directory.join(format!("{name}{ending}"));
        Self { path, is_stdout: false, new: Some((name.to_owned(), ending)) }
    }

    /// The directory that it is a new file in, if it is.
    pub fn directory_of_new(&self) -> Option<&Path> {
        self.new.as_ref().map(|_| directory(&self.path))
    }

    /// Whether what is saved takes the place of what is there: a pipe, or a device, is written to.
    pub fn is_replaced(&self) -> bool {
        !self.is_stdout && self.old_and_place().1.is_some()
    }

    /// What is there, and the path at which to replace it, or at which a file is to be new. No path, if it
    /// is to be written to in place.
    fn old_and_place(&self) -> (Option<Metadata>, Option<PathBuf>) {
        if self.new.is_some() {
            return (None, Some(self.path.clone()));
        }
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
        let (old, place) = self.old_and_place();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return Err(platform::is_a_directory());
        }
        match place {
            Some(path) => platform::ensure_makes_files(directory(&path)),
            None if old.is_some() => platform::ensure_writable(&self.path),
            // A symlink that leads nowhere, as far as we know.
            None => Ok(()),
        }
    }
}

fn leads_to_stdout(path: &Path) -> io::Result<bool> {
    platform::is_same(path, &platform::stdout()?)
}

/// A file that is being written.
#[derive(Debug)]
pub struct Draft {
    file: Written,
    path: PathBuf,
    new: Option<(String, &'static str)>,
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
            let (file, path) = (Written::There(platform::stdout()?), to.path.clone());
            return Ok(Self { file, path, new: None });
        }
        let (old, place) = to.old_and_place();
        let (file, path) = match place {
            Some(path) => {
                let is_new = to.new.is_some();
                let prefix = if is_new { OsString::from(NEW_DRAFT) } else { prefix(&path) };
                (Written::Beside(beside(&path, old.as_ref(), &prefix)?), path)
            }
            None => {
                // As a shell's `>` does. To create a pipe that is there is not allowed everywhere.
                let mut options = OpenOptions::new();
                options.write(true).truncate(true).create(old.is_none());
                (Written::There(options.open(&to.path)?), to.path.clone())
            }
        };
        Ok(Self { file, path, new: to.new.clone() })
    }

    /// Puts the file in its place, once it is safe on the device.
    ///
    /// # Errors
    /// The system's; then what was there before is there still.
    pub fn put(self) -> io::Result<()> {
        match self.file {
            Written::There(file) => platform::sync(&file),
            Written::Beside(draft) => {
                platform::sync(draft.as_file())?;
                match &self.new {
                    None => draft.persist(&self.path).map(|_| ())?,
                    Some((name, ending)) => put_as_new(draft, &self.path, name, ending)?,
                }
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
    platform::is_still(&real, old).then_some(real)
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

/// How the names of drafts begin that will be new files: which ones, is found out in the end.
const NEW_DRAFT: &str = ".weigh-draft-of-new-";

/// Puts `draft` at `path`, or, where there is something, under that name with a number.
fn put_as_new(mut draft: NamedTempFile, path: &Path, name: &str, ending: &str) -> io::Result<()> {
    /// Of one second.
    const MOST: u32 = 1_000;
    let mut path = path.to_owned();
    for number in 2..MOST {
        match draft.persist_noclobber(&path) {
            Ok(_) => return Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => draft = error.file,
            Err(error) => return Err(error.error),
        }
        path = directory(&path).join(format!("{name}-{number}{ending}"));
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// The regular files in `directory`, in no particular order.
///
/// # Errors
/// The system's.
pub fn files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    let files = entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    Ok(files.map(fs::DirEntry::path).collect())
}

/// Removes a file.
///
/// # Errors
/// The system's, from unlink(2).
pub fn remove_file(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// A new file beside `path`, claimed for as long as it is open, so that others can tell it from one
/// whose writer is gone. It is for those who may read `old`, if that is there, and for nobody else.
fn beside(path: &Path, old: Option<&Metadata>, prefix: &OsStr) -> io::Result<NamedTempFile> {
    let directory = directory(path);
    remove_stale(directory, prefix);
    let draft = loop {
        let draft = platform::new_for(old).prefix(prefix).tempfile_in(directory)?;
        platform::claim(draft.as_file())?;
        // Between the two calls, somebody may have.
        let is_gone = |error: io::Error| error.kind() == ErrorKind::NotFound;
        if !fs::symlink_metadata(draft.path()).is_err_and(is_gone) {
            break draft;
        }
    };
    if let Some(old) = old {
        platform::hand_over(draft.as_file(), path, old)?;
    }
    Ok(draft)
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

/// How the names of all drafts of `path` begin.
fn prefix(path: &Path) -> OsString {
    /// A name has 255 bytes at most (limits.h, NAME_MAX), and some are ours.
    const MOST: usize = 200;
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let mut prefix = OsString::from(".weigh-draft-of-");
    prefix.push(path::from_bytes(&name[..name.len().min(MOST)]).as_os_str());
    prefix.push("-");
    prefix
}

/// Removes the drafts that nobody writes. Where one stays, nothing is lost but its room.
fn remove_stale(directory: &Path, prefix: &OsStr) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_draft = name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_draft && is_file && platform::is_unclaimed(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
