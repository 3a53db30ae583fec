//! Unix: a name is its bytes, and a leading slash makes a path absolute.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// No path that can be opened is longer, in bytes (limits.h, PATH_MAX). A joined path may be, and so may one in a
/// snapshot.
pub const LONGEST: usize = 4096;

/// Converts bytes to a path.
pub fn from_bytes(bytes: &[u8]) -> Cow<'_, Path> {
    Path::new(OsStr::from_bytes(bytes)).into()
}

/// Converts bytes to a path.
pub fn from_vec(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// Whether a path does not depend on the current directory.
pub fn is_absolute(path: &[u8]) -> bool {
    path.starts_with(b"/")
}
