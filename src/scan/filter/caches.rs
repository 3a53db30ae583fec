//! Caches, which have a tag in their directory (<https://bford.info/cachedir/>).

use std::ffi::CStr;
use std::io::{self, ErrorKind, Read};

use crate::base::measure::Kind;
use crate::sys::{Handle, Listed, Symlinks};

/// What the tag is called.
pub const CACHE_TAG: &CStr = c"CACHEDIR.TAG";

/// What the tag begins with.
const SIGNATURE: [u8; 43] = *b"Signature: 8a477f597d28d172789f06886806bc55";

/// Whether a listed entry may be a tag. Its content tells whether it is.
pub fn may_be_cache_tag(listed: Listed<'_>) -> bool {
    listed.name == CACHE_TAG && listed.kind.is_none_or(|kind| kind == Kind::File)
}

/// Whether `dir` is a cache: whether a valid tag is in it. It reads no more than the signature, and only of a regular
/// file.
///
/// # Errors
/// The system's, if there is a file of that name that cannot be read.
pub fn is_cache(dir: &Handle) -> io::Result<bool> {
    let Some(mut file) = dir.open_file_at(CACHE_TAG, Symlinks::Stay, u64::MAX)? else {
        return Ok(false);
    };
    let mut start = [0; SIGNATURE.len()];
    match file.read_exact(&mut start) {
        Ok(()) => Ok(start == SIGNATURE),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
