//! What Windows does for snapshots. Who may read one is inherited from the directory that it is in.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::Path;

use tempfile::Builder;
use winapi_util::file::{information, typ};

/// Standard input, as a file of our own.
pub fn stdin() -> io::Result<File> {
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

/// Standard output at its current offset: a file is appended to where the shell left off.
pub fn stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}

/// Whether `path` leads to what is open as `file`.
pub fn is_same(path: &Path, file: &File) -> io::Result<bool> {
    // What is no file on a disk may wait for somebody when it is opened.
    Ok(typ(file)?.is_disk() && identity(&open(path)?)? == identity(file)?)
}

/// Nothing on Windows leads to what has no name.
pub fn is_still(_: &Path, _: &Metadata) -> bool {
    true
}

/// To ask about what is at `path`, neither reading nor writing it.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().access_mode(0).open(path)
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let information = information(file)?;
    Ok((information.volume_serial_number(), information.file_index()))
}

/// Whether what is at `path` is not read-only. What else forbids to write to it is known only when that is tried.
pub fn ensure_writable(path: &Path) -> io::Result<()> {
    let is_read_only = std::fs::metadata(path)?.permissions().readonly();
    if is_read_only { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
}

/// Whether there is a directory at `path`. Who may make files in it is known only when that is tried.
pub fn ensure_makes_files(path: &Path) -> io::Result<()> {
    let is_directory = std::fs::metadata(path)?.is_dir();
    if is_directory { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// What is said of a directory that is to be written to.
pub fn is_a_directory() -> io::Error {
    io::ErrorKind::IsADirectory.into()
}

/// Waits until `file` is safe on the device. A pipe has none, nor has the console.
pub fn sync(file: &File) -> io::Result<()> {
    if typ(file)?.is_disk() { file.sync_all() } else { Ok(()) }
}

/// How a file is made that takes the place of another one.
pub fn new_for(_: Option<&Metadata>) -> Builder<'static, 'static> {
    Builder::new()
}

/// That it is open says it.
pub fn claim(_: &File) -> io::Result<()> {
    Ok(())
}

/// Whether nobody is writing the file at `path`: nobody else gets it while we have it, if nobody has it yet.
pub fn is_unclaimed(path: &Path) -> bool {
    OpenOptions::new().read(true).share_mode(0).open(path).is_ok()
}

/// Nothing is to be done: the directory says who may read what is in it.
pub fn hand_over(_: &File, _: &Path, _: &Metadata) -> io::Result<()> {
    Ok(())
}
