//! Every other system: no file can be asked.

use std::ffi::CStr;
use std::io;
use std::ops::Range;

use super::Mapped;
use crate::sys::{Handle, Stat};

/// Asks nothing.
///
/// # Errors
/// Always.
pub fn map_extents(
    _: Option<&Handle>,
    _: &CStr,
    _: &Stat,
    _: impl FnMut(Range<u64>),
) -> io::Result<Mapped> {
    Err(io::ErrorKind::Unsupported.into())
}
