//! Windows: a name is 16-bit units, represented in bytes as WTF-8: UTF-8, in which an unpaired surrogate takes three
//! bytes. `as_encoded_bytes` of std returns it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::wtf8;

/// No path that can be opened is longer: 32,767 units ("Maximum Path Length Limitation") of at most three bytes.
pub const LONGEST: usize = 3 * 32_767;

/// Converts bytes to a path.
pub fn from_bytes(bytes: &[u8]) -> Cow<'_, Path> {
    /// A path with this prefix is taken as it is: a slash is neither a separator nor part of a name there.
    const VERBATIM: &[u8] = br"\\?\";
    if bytes.starts_with(VERBATIM) && bytes.contains(&b'/') {
        let slash = |byte: &u8| if *byte == b'/' { b'\\' } else { *byte };
        let bytes: Vec<u8> = bytes.iter().map(slash).collect();
        return from_bytes(&bytes).into_owned().into();
    }
    match str::from_utf8(bytes) {
        Ok(text) => Path::new(text).into(),
        Err(_) => PathBuf::from(OsString::from_wide(&wtf8::units(bytes))).into(),
    }
}

/// Converts bytes to a path.
pub fn from_vec(bytes: Vec<u8>) -> PathBuf {
    from_bytes(&bytes).into_owned()
}

/// Whether a path does not depend on the current directory, except for its drive.
pub fn is_absolute(path: &[u8]) -> bool {
    from_bytes(path).has_root()
}
