//! What Windows does for snapshots. A snapshot inherits from its directory who may read it.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::path::Path;
use std::process::ChildStdout;

use tempfile::Builder;
use winapi_util::file::{information, typ};

/// A duplicate of a standard stream: it goes on where the shell left off.
pub fn duplicate(stream: impl AsHandle) -> io::Result<File> {
    Ok(File::from(stream.as_handle().try_clone_to_owned()?))
}

/// Reads what is at a place in `file`.
pub fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    file.seek_read(buffer, place)
}

/// The output of a program, as a file.
pub fn pipe(stdout: ChildStdout) -> File {
    File::from(OwnedHandle::from(stdout))
}

/// Whether `path` leads to the open file `file`.
pub fn is_same(path: &Path, file: &File) -> io::Result<bool> {
    // Opening what is not a disk file may block.
    Ok(typ(file)?.is_disk() && identity(&open(path)?)? == identity(file)?)
}

/// On Windows, no path leads to a file without a name.
pub fn is_still(_: &Path, _: &Metadata) -> bool {
    true
}

/// Whether it is a file with content.
pub fn has_content(there: &Metadata) -> bool {
    there.is_file() && there.len() > 0
}

/// Opens `path` to ask about it, neither to read nor to write it.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().access_mode(0).open(path)
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let information = information(file)?;
    Ok((information.volume_serial_number(), information.file_index()))
}

/// Whether the file at `path` is not read-only. Other obstacles to writing show only when it is tried.
pub fn ensure_writable(path: &Path) -> io::Result<()> {
    let is_read_only = std::fs::metadata(path)?.permissions().readonly();
    if is_read_only { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
}

/// Directories have no locks.
pub fn lock(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Whether there is a directory at `path`. Whether files may be created in it shows only when it is tried.
pub fn ensure_makes_files(path: &Path) -> io::Result<()> {
    let is_directory = std::fs::metadata(path)?.is_dir();
    if is_directory { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// The error for writing to a directory.
pub fn is_a_directory() -> io::Error {
    io::ErrorKind::IsADirectory.into()
}

/// Waits until `file` is synced to the device. Neither a pipe nor the console has one.
pub fn sync(file: &File) -> io::Result<()> {
    if typ(file)?.is_disk() { file.sync_all() } else { Ok(()) }
}

/// How to create a file that will replace another.
pub fn new_for(_: Option<&Metadata>, _: bool) -> Builder<'static, 'static> {
    Builder::new()
}

/// An open file needs no lock: being open is the sign.
pub fn claim(_: &File) -> io::Result<()> {
    Ok(())
}

/// Removes the file at `path` unless somebody is writing it: opens it exclusively, which fails while another has it
/// open.
pub fn remove_unclaimed(path: &Path) -> io::Result<()> {
    drop(OpenOptions::new().read(true).share_mode(0).open(path)?);
    std::fs::remove_file(path)
}

/// Nothing to do: files inherit their access from the directory.
pub fn hand_over(_: &File, _: &Path, _: &Metadata) -> io::Result<()> {
    Ok(())
}
