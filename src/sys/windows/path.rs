//! A name is 16-bit units, represented in bytes as WTF-8: UTF-8, in which an unpaired surrogate takes three
//! bytes. `as_encoded_bytes` of std returns it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::sys::wtf8;

/// Converts bytes to a path.
pub fn to_path(bytes: &[u8]) -> Cow<'_, Path> {
    /// A path with this prefix is taken as it is: a slash is neither a separator nor part of a name there.
    const VERBATIM: &[u8] = br"\\?\";
    if bytes.starts_with(VERBATIM) && bytes.contains(&b'/') {
        let names: Vec<_> = bytes.split(|byte| *byte == b'/').collect();
        return to_path(&names.join(&b'\\')).into_owned().into();
    }
    match str::from_utf8(bytes) {
        Ok(text) => Path::new(text).into(),
        Err(_) => PathBuf::from(OsString::from_wide(&wtf8::units(bytes))).into(),
    }
}

/// Converts bytes to a path.
pub fn into_path(bytes: Vec<u8>) -> PathBuf {
    to_path(&bytes).into_owned()
}
