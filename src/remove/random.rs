//! Numbers and names that nobody can guess.

use std::ffi::CString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;

/// A number that nobody can guess: std seeds its hashers with random numbers of the system.
pub(super) fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A name that nobody can guess.
pub(super) fn random_name() -> io::Result<CString> {
    CString::new(format!(".weigh-{:016x}", random_number())).map_err(io::Error::other)
}
