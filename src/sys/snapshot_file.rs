//! Snapshots as files. A snapshot is written to a draft beside its destination, and then renamed to it. Whatever
//! happens meanwhile, the destination holds a complete file: the old one or the new one. A pipe, a device or a
//! dangling symlink is written in place, and a failure leaves it partly written.

use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempPath;

use super::system::{self, snapshot_file as platform};
use super::{MOST_SYMLINKS, Space, space_around, to_path};

/// A snapshot that was opened.
pub type SnapshotFile = File;

pub use platform::pipe;
pub use std::fs::remove_file;
/// A new file without a name, in the directory for temporary files.
pub use tempfile::tempfile as unnamed_file;

/// The capacity of the file system that an [`unnamed_file`] is on, and the directory for them.
///
/// # Errors
/// The system's.
pub fn temporary_space() -> io::Result<(Space, PathBuf)> {
    let directory = env::temp_dir();
    let space = space_around(&CString::new(directory.as_os_str().as_encoded_bytes())?)?;
    Ok((space, directory))
}

/// Opens the snapshot at `path`, standard input for `-`, and returns its size in bytes; 0 if the size is unknown
/// before its end.
///
/// # Errors
/// The system's, from open(2).
pub fn open(path: &Path) -> io::Result<(SnapshotFile, u64)> {
    let file = match path == Path::new("-") {
        true => platform::duplicate(io::stdin())?,
        false => File::open(path)?,
    };
    let length = file.metadata().map_or(0, |file| if file.is_file() { file.len() } else { 0 });
    Ok((file, length))
}

/// Reads `file` from a place `at` on, whatever else is read of it, on any thread.
#[derive(Debug)]
pub struct ReadFrom<'f> {
    /// The file.
    pub file: &'f SnapshotFile,
    /// How many bytes come before what is read next.
    pub at: u64,
}

impl Read for ReadFrom<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = platform::read_at(self.file, buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Whether `path` leads to content that would be lost if a snapshot were saved there: that of a file or of a disk,
/// unlike a pipe or a terminal.
pub fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| platform::has_content(&there))
}

/// Where a snapshot is to be saved.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The path, as given.
    pub path: PathBuf,
    /// Whether it is standard output. Decided once, because it determines what else is printed.
    pub is_stdout: bool,
    /// For a file that is always new: the beginning and the end of its name. If the name is taken, a number is put
    /// between them.
    new: Option<(String, &'static str)>,
    /// Whether the file is for this user alone.
    is_private: bool,
}

impl Destination {
    /// Finds out what `path` leads to now. `-` is standard output; so are `/dev/stdout` and any other path to the same
    /// file.
    pub fn new(path: PathBuf) -> Self {
        let is_stdout = path == Path::new("-") || leads_to_stdout(&path).unwrap_or(false);
        Self { path, is_stdout, new: None, is_private: false }
    }

    /// A new file in `directory`, whose name has this beginning and, after a dot, this ending.
    pub fn new_in(directory: &Path, name: &str, ending: &'static str) -> Self {
        let path = directory.join(format!("{name}.{ending}"));
        let new = Some((name.to_owned(), ending));
        Self { path, is_stdout: false, new, is_private: false }
    }

    /// The same, for a file that only this user may read.
    #[must_use]
    pub fn private(self) -> Self {
        Self { is_private: true, ..self }
    }

    /// The directory of the new file, if it is always a new one.
    pub fn directory_of_new(&self) -> Option<&Path> {
        self.new.as_ref().map(|_| directory(&self.path))
    }

    /// Whether the saved file replaces the existing one. A pipe or a device is written to instead.
    pub fn is_replaced(&self) -> bool {
        !self.is_stdout && self.old_and_place().1.is_some()
    }

    /// The existing file, and the path at which to replace it or to create a new one. No path if it is written in
    /// place.
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

    /// Checks that the system would let us write there: to an existing file that cannot be replaced, otherwise to the
    /// directory. It creates no file to find out, because a walk could come across it.
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
            // A symlink to nothing, as far as we know.
            None => Ok(()),
        }
    }
}

fn leads_to_stdout(path: &Path) -> io::Result<bool> {
    platform::is_same(path, &platform::duplicate(io::stdout())?)
}

/// A file that is being written.
#[derive(Debug)]
pub struct Draft {
    /// Where it is until it is put in its place; none if it is written there. Comes before the file, so that an abandoned
    /// draft stays locked until it is removed.
    beside: Option<TempPath>,
    file: File,
    path: PathBuf,
    new: Option<(String, &'static str)>,
    /// The bytes that the system was not asked to write to the device yet.
    unsynced: Range<u64>,
}

impl Draft {
    /// Creates a draft of the file at `to`. Removes abandoned drafts of it.
    ///
    /// # Errors
    /// The system's.
    pub fn new(to: &Destination) -> io::Result<Self> {
        let (old, place) = if to.is_stdout { (None, None) } else { to.old_and_place() };
        let (file, beside) = match &place {
            Some(path) => {
                let is_new = to.new.is_some();
                let prefix = if is_new { OsString::from(NEW_DRAFT) } else { prefix(path) };
                let (file, beside) = beside(path, old.as_ref(), &prefix, to.is_private)?;
                (file, Some(beside))
            }
            None if to.is_stdout => (platform::duplicate(io::stdout())?, None),
            None => {
                // As a shell's `>` does. Not every system allows O_CREAT on an existing pipe.
                let mut options = OpenOptions::new();
                options.write(true).truncate(true).create(old.is_none());
                (options.open(&to.path)?, None)
            }
        };
        let path = place.unwrap_or_else(|| to.path.clone());
        Ok(Self { beside, file, path, new: to.new.clone(), unsynced: 0..0 })
    }

    /// The path at which it will replace a file, if there is one by then.
    pub fn replaces(&self) -> Option<&Path> {
        (self.beside.is_some() && self.new.is_none()).then_some(&self.path)
    }

    /// Moves the file to its place, after it is synced to the device. Returns its path.
    ///
    /// # Errors
    /// The system's; the previous file is then still in place.
    pub fn put(self) -> io::Result<PathBuf> {
        platform::sync(&self.file)?;
        let path = match (self.beside, &self.new) {
            (None, _) => return Ok(self.path),
            (Some(beside), None) => beside.persist(&self.path).map(|()| self.path)?,
            (Some(beside), Some((name, ending))) => put_as_new(beside, self.path, name, ending)?,
        };
        // The file is in its place now. Not every directory can be opened or synced.
        let _ = File::open(directory(&path)).and_then(|directory| directory.sync_all());
        Ok(path)
    }
}

/// The path at which to replace the existing regular file (`old`) that `path` leads to. A symlink is kept, and its
/// target is replaced, provided that the target has a name: symlinks in proc also lead to files that have none, or
/// whose name now belongs to another file.
fn replaceable(path: &Path, old: &Metadata) -> Option<PathBuf> {
    let real = fs::canonicalize(path).ok().filter(|_| old.is_file())?;
    platform::is_still(&real, old).then_some(real)
}

/// The free name that `path` leads to, if nothing exists there and that is the only reason why it could not be opened:
/// the system may forbid following a symlink (proc_sys_fs(5), protected_symlinks).
fn free_name(path: &Path, error: &io::Error) -> Option<PathBuf> {
    if error.kind() != ErrorKind::NotFound {
        return None;
    }
    let mut path = path.to_owned();
    for _ in 0..=MOST_SYMLINKS {
        match fs::symlink_metadata(&path) {
            Err(error) => return (error.kind() == ErrorKind::NotFound).then_some(path),
            // If a file has appeared there by now, it is written to, and not followed.
            Ok(_) => path = directory(&path).join(fs::read_link(&path).ok()?),
        }
    }
    None
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        /// Bytes. The device writes these while more are made, so that fsync(2) has little left to wait for.
        const MANY: u64 = 4 << 20;
        let written = self.file.write(bytes)?;
        self.unsynced.end += written as u64;
        if self.beside.is_some() && self.unsynced.end - self.unsynced.start >= MANY {
            system::begin_sync(&self.file, &self.unsynced);
            self.unsynced.start = self.unsynced.end;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How the names of drafts of new files begin. Their final names are only known at the end.
const NEW_DRAFT: &str = ".weigh-draft-of-new-";

/// Renames `draft` to `path`; if that exists, to that name with a number. Returns the path.
fn put_as_new(
    mut draft: TempPath,
    mut path: PathBuf,
    name: &str,
    ending: &str,
) -> io::Result<PathBuf> {
    /// Tries for files of the same second.
    const MOST: u32 = 1_000;
    // Without a lock it is put there all the same: only who removes others at the same time could take it for one.
    let _lock = lock(directory(&path));
    for number in 2..MOST {
        match draft.persist_noclobber(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => draft = error.path,
            Err(error) => return Err(error.error),
        }
        path = directory(&path).join(format!("{name}-{number}.{ending}"));
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Whether `path` leads to a directory. Standard input is none.
pub fn is_directory(path: &Path) -> bool {
    path != Path::new("-") && path.is_dir()
}

/// The regular files in `directory`, in no particular order.
///
/// # Errors
/// The system's.
pub fn files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    entries_in(directory, FileType::is_file)
}

fn entries_in(directory: &Path, is_wanted: fn(&FileType) -> bool) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    let wanted = entries.iter().filter(|it| it.file_type().is_ok_and(|kind| is_wanted(&kind)));
    Ok(wanted.map(fs::DirEntry::path).collect())
}

/// The directories in `directory`, in no particular order.
///
/// # Errors
/// The system's.
pub fn directories_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    entries_in(directory, FileType::is_dir)
}

/// The length of the file at `path`, in bytes; 0 if there is none.
pub fn length(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |file| file.len())
}

/// Whether something is at `path`.
pub fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Locks `directory` until the file is dropped, against others who give names to snapshots there or remove them: a name
/// that was removed may be given again. No file where there are no locks.
///
/// # Errors
/// The system's, and if somebody else keeps it locked.
pub fn lock(directory: &Path) -> io::Result<Option<SnapshotFile>> {
    /// As long as it may take to look at all snapshots in a directory.
    const PATIENCE: Duration = Duration::from_secs(30);
    let begin = Instant::now();
    loop {
        match platform::lock(directory) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            Err(_) if begin.elapsed() > PATIENCE => {
                return Err(io::Error::other("another program keeps the directory locked"));
            }
            Err(_) => thread::sleep(Duration::from_millis(10)),
            locked => return locked,
        }
    }
}

/// A new file beside `path`, locked while it is open, so that others can tell it from an abandoned one. Only those who
/// may read `old`, if that exists, may read it.
fn beside(
    path: &Path,
    old: Option<&Metadata>,
    prefix: &OsStr,
    is_private: bool,
) -> io::Result<(File, TempPath)> {
    let directory = directory(path);
    remove_stale(directory, prefix);
    let draft = loop {
        let draft = platform::new_for(old, is_private).prefix(prefix).tempfile_in(directory)?;
        platform::claim(draft.as_file())?;
        // Somebody may have removed or replaced it between the two calls.
        match fs::symlink_metadata(draft.path()) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            _ => break draft,
        }
    };
    if let Some(old) = old {
        platform::hand_over(draft.as_file(), path, old)?;
    }
    Ok(draft.into_parts())
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

/// How the names of all drafts of `path` begin.
fn prefix(path: &Path) -> OsString {
    /// A name has at most 255 bytes (limits.h, NAME_MAX), and we add some.
    const MOST: usize = 200;
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let mut prefix = OsString::from(".weigh-draft-of-");
    prefix.push(to_path(&name[..name.len().min(MOST)]).as_os_str());
    prefix.push("-");
    prefix
}

/// Removes abandoned drafts. One that cannot be removed only takes space.
fn remove_stale(directory: &Path, prefix: &OsStr) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_draft = name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_draft && is_file {
            let _ = platform::remove_unclaimed(&entry.path());
        }
    }
}
