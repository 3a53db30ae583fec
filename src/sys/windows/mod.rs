//! Windows, through std, winapi-util and fs4.

pub mod by_path;
pub mod errors;
mod path;
pub mod snapshot_file;
pub mod time_zone;

use std::env;
use std::ffi::{CStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use winapi_util::sysinfo::{ComputerNameKind, get_computer_name};

pub use super::refused::*;
pub use by_path::mount_content;
pub use path::{into_path, to_path};

use crate::sys::by_path::PathHandle;
use crate::sys::{Handle, Source, Space, Usage};

/// An open directory of the native source: listings for files; only directories are asked for links and allocated size.
pub type NativeHandle = PathHandle<false>;

impl From<NativeHandle> for Handle {
    fn from(handle: NativeHandle) -> Self {
        Handle::Native(handle)
    }
}

impl Source {
    /// Whether the default source knows how many links a file has, and which inode it is.
    pub const LISTS_LINKS: bool = false;

    /// No other source can be chosen by name: the portable one is only for flags that need links.
    pub(in crate::sys) const OTHERS: &[(&str, Self)] = &[];

    /// The source that knows how many links a file has, and which inode it is.
    pub fn with_links(self) -> Self {
        Self::Portable
    }
}

/// The environment variable with the user's home directory.
pub const HOME: &str = "USERPROFILE";

/// ERROR_TOO_MANY_OPEN_FILES ("System Error Codes").
const TOO_MANY_OPEN_FILES: i32 = 4;

/// ERROR_FILE_NOT_FOUND.
const FILE_NOT_FOUND: i32 = 2;

/// Whether an entry has disappeared, or become something else, since it was listed.
pub fn is_vanished(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Makes the terminal interpret escape sequences, which it does only on request, and before Windows 10 not at all.
/// Returns whether it shows more than plain lines.
pub fn is_capable_terminal() -> bool {
    match env::var_os("TERM") {
        // Emulators of a Unix terminal set it, and are no console for Windows.
        Some(term) => !crate::sys::is_plain_terminal(&term),
        None => nu_ansi_term::enable_ansi_support().is_ok(),
    }
}

/// Makes the directory at `path` and its parents.
///
/// # Errors
/// The system's. That they exist is no error.
pub fn make_directories(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Windows says itself that standard output cannot be written to.
///
/// # Errors
/// None.
pub fn ensure_output() -> io::Result<()> {
    Ok(())
}

/// The console of the process, whatever its standard streams are.
///
/// # Errors
/// The system's, for example if there is none.
pub fn terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("CONOUT$")
}

/// Keys are events there, and nobody waits for one.
///
/// # Errors
/// None.
pub fn read_keys_without_waiting() -> io::Result<()> {
    Ok(())
}

/// Its consoles are not silenced.
#[derive(Debug)]
pub enum Silence {}

/// Refuses.
///
/// # Errors
/// Always.
pub fn silence() -> io::Result<Silence> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Its consoles are not asked.
///
/// # Errors
/// None.
pub fn typed(_: Duration) -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}

/// Its consoles are not asked.
///
/// # Errors
/// None.
pub fn asked(_: &[u8], _: Duration, _: fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}

/// Nothing would be opened by it on Windows.
pub const OPENER: &str = "explorer";

/// Nothing is opened on Windows.
///
/// # Errors
/// Always.
pub fn open_outside(_: &Path) -> io::Result<ExitStatus> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Windows has no job control.
pub fn stop_others() -> bool {
    false
}

/// The system's error for a path that does not exist.
pub fn not_found() -> io::Error {
    io::Error::from_raw_os_error(FILE_NOT_FOUND)
}

/// Whether the process has reached its limit of open files.
pub fn is_out_of_handles(error: &io::Error) -> bool {
    error.raw_os_error() == Some(TOO_MANY_OPEN_FILES)
}

/// A process may have 16 million ("Kernel Objects"), but each takes kernel memory that cannot be swapped out. No walk
/// is slower with this many.
pub fn free_handles() -> usize {
    8_192
}

/// The machine's own name.
pub fn host() -> Vec<u8> {
    let name = get_computer_name(ComputerNameKind::PhysicalDnsHostname);
    name.map(OsString::into_encoded_bytes).unwrap_or_default()
}

/// Windows users have no numeric ids.
pub fn user_name(_: u32) -> Option<String> {
    None
}

/// So none has a name that leads to one.
///
/// # Errors
/// Always.
pub fn user_number(_: &str) -> io::Result<Option<u32>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nothing is removed there.
///
/// # Errors
/// Always.
pub fn forget_typed() -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Nobody knows whose file it is.
pub fn read_private_file(_: &Path) -> io::Result<Vec<u8>> {
    Err(ErrorKind::Unsupported.into())
}

/// Nor has the user of this process.
pub fn user_id() -> u32 {
    0
}

/// Deleting needs Linux, so no home directory needs to be known here.
pub fn user_home(_: u32) -> Option<PathBuf> {
    None
}

/// The same.
pub fn user_homes() -> Vec<PathBuf> {
    Vec::new()
}

/// Finding out takes a call that std does not have. The number of threads stays as it began.
pub fn usage() -> Usage {
    Usage::default()
}

/// The same.
pub fn own_usage() -> Usage {
    Usage::default()
}

/// The capacity and free space of the volume that holds `path`.
///
/// # Errors
/// The system's.
pub fn space_around(path: &CStr) -> io::Result<Space> {
    let stats = fs4::statvfs(to_path(path.to_bytes()))?;
    let (size, available) = (stats.total_space(), stats.available_space());
    Ok(Space { size, free: stats.free_space(), available, ..Space::default() })
}
