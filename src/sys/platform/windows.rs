//! Windows, through std, winapi-util and fs4.

use std::ffi::{CStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use winapi_util::sysinfo::{ComputerNameKind, get_computer_name};

use crate::path::from_bytes;
use crate::sys::{Space, Usage};

/// ERROR_TOO_MANY_OPEN_FILES ("System Error Codes").
const TOO_MANY_OPEN_FILES: i32 = 4;

/// ERROR_FILE_NOT_FOUND.
const FILE_NOT_FOUND: i32 = 2;

/// Whether an entry has disappeared, or become something else, since it was listed.
pub fn is_vanished(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The console of the process, whatever its standard streams are.
///
/// # Errors
/// The system's, for example if there is none.
pub fn terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("CONOUT$")
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

/// There is no such limit.
pub fn threads_with_room() -> usize {
    usize::MAX
}

/// Finding out takes a call that std does not have.
pub fn is_rotational(_: u64) -> bool {
    false
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

/// Deleting needs Linux, and so no home directory must be known here.
pub fn user_home(_: u32) -> Option<PathBuf> {
    None
}

/// The same.
pub fn user_homes() -> Vec<PathBuf> {
    Vec::new()
}

/// Windows has no root user.
pub fn is_root() -> bool {
    true
}

/// Finding out takes a call that std does not have. The number of threads stays as it began.
pub fn usage() -> Usage {
    Usage::default()
}

/// The capacity and free space of the volume that holds `path`.
///
/// # Errors
/// The system's.
pub fn space_around(path: &CStr) -> io::Result<Space> {
    let stats = fs4::statvfs(from_bytes(path.to_bytes()))?;
    let (size, available) = (stats.total_space(), stats.available_space());
    Ok(Space { size, free: stats.free_space(), available })
}
