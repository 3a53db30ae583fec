//! Filters by the tag that marks a directory as a cache (<https://bford.info/cachedir/>).

use std::ffi::CStr;
use std::io::{self, ErrorKind, Read};

use crate::measure::Kind;
use crate::sys::{Handle, Listed, Symlinks};

/// What the tag begins with.
const SIGNATURE: [u8; 43] = *b"Signature: 8a477f597d28d172789f06886806bc55";

/// Whether the content of caches counts. A cache itself counts, and its tag: the walk lists both anyway.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caches {
    /// Whether to leave it out.
    pub left_out: bool,
}

impl Caches {
    /// What the tag is called.
    pub const TAG: &CStr = c"CACHEDIR.TAG";

    /// Whether everything in caches counts.
    pub fn is_off(self) -> bool {
        !self.left_out
    }

    /// Whether a listed entry may be a tag. Its content tells whether it is.
    pub fn may_be_tag(listed: Listed<'_>) -> bool {
        listed.name == Self::TAG && listed.kind.is_none_or(|kind| kind == Kind::File)
    }

    /// Whether the content of `dir` is left out: whether a valid tag is in it. It reads no more than the signature,
    /// and only of a regular file.
    ///
    /// # Errors
    /// The system's, if there is a file of that name that cannot be read.
    pub fn leave_out(self, dir: &Handle) -> io::Result<bool> {
        if self.is_off() {
            return Ok(false);
        }
        let Some(mut file) = dir.open_file_at(Self::TAG, Symlinks::Stay, u64::MAX)? else {
            return Ok(false);
        };
        let mut start = [0; SIGNATURE.len()];
        match file.read_exact(&mut start) {
            Ok(()) => Ok(start == SIGNATURE),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}
