//! Windows, by std, winapi-util and fs4.

use std::ffi::{CStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};

use winapi_util::sysinfo::{ComputerNameKind, get_computer_name};

use crate::path::from_bytes;
use crate::sys::{Space, Usage};

/// ERROR_TOO_MANY_OPEN_FILES ("System Error Codes").
const TOO_MANY_OPEN_FILES: i32 = 4;

/// ERROR_FILE_NOT_FOUND.
const FILE_NOT_FOUND: i32 = 2;

/// Whether an entry was there when it was listed and is not any more, or is something else by now.
pub fn is_vanished(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The console that the process was started from, whatever its standard streams are.
///
/// # Errors
/// The system's, as where there is none.
pub fn terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("CONOUT$")
}

/// Nothing stops here.
pub fn stop_others() -> bool {
    false
}

/// What the system says of what is not there.
pub fn not_found() -> io::Error {
    io::Error::from_raw_os_error(FILE_NOT_FOUND)
}

/// Whether the process has as many open files as it may.
pub fn is_out_of_handles(error: &io::Error) -> bool {
    error.raw_os_error() == Some(TOO_MANY_OPEN_FILES)
}

/// A process may have 16 million ("Kernel Objects"), but each takes memory of the kernel's that cannot be swapped
/// out. No walk is slower with as many as this.
pub fn free_handles() -> usize {
    8_192
}

/// There is no such limit.
pub fn threads_with_room() -> usize {
    usize::MAX
}

/// Nobody can tell without a call that std does not have.
pub fn is_rotational(_: u64) -> bool {
    false
}

/// The machine's own name.
pub fn host() -> Vec<u8> {
    let name = get_computer_name(ComputerNameKind::PhysicalDnsHostname);
    name.map(OsString::into_encoded_bytes).unwrap_or_default()
}

/// Users have no numbers here.
pub fn user_name(_: u32) -> Option<String> {
    None
}

/// There is no root here to ask for more.
pub fn is_root() -> bool {
    true
}

/// Nobody can tell without a call that std does not have. The number of threads stays as it was begun with.
pub fn usage() -> Usage {
    Usage::default()
}

/// The room of the volume that `path` lies on.
///
/// # Errors
/// The system's.
pub fn space_around(path: &CStr) -> io::Result<Space> {
    let stats = fs4::statvfs(from_bytes(path.to_bytes()))?;
    let (size, available) = (stats.total_space(), stats.available_space());
    Ok(Space { size, free: stats.free_space(), available })
}
