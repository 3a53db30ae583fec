//! Unix: the bytes of a name are the name, and a slash at the beginning makes a path absolute.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// No path that can be opened is longer, in bytes (limits.h, PATH_MAX). One that is put together may be, and one
/// in a snapshot.
pub const LONGEST: usize = 4096;

/// The path that `bytes` are.
pub fn from_bytes(bytes: &[u8]) -> Cow<'_, Path> {
    Path::new(OsStr::from_bytes(bytes)).into()
}

/// The path that `bytes` are.
pub fn from_vec(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// Whether a path does not depend on where the process stands.
pub fn is_absolute(path: &[u8]) -> bool {
    path.starts_with(b"/")
}
