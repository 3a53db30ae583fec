//! The system's own error numbers (errno(3)).

use std::collections::HashMap;
use std::io::{self, ErrorKind};

use nix::errno::Errno;

/// The error of a wait that took too long.
pub const TIMED_OUT: i32 = Errno::ETIMEDOUT as i32;

/// The symbol of an error number.
pub fn symbol(code: i32) -> String {
    match Errno::from_raw(code) {
        Errno::UnknownErrno => format!("E{code}"),
        known => format!("{known:?}"),
    }
}

/// The system's error numbers by their symbols.
pub fn codes() -> HashMap<String, i32> {
    /// No system has more (linux/err.h, MAX_ERRNO).
    const MOST: i32 = 4095;
    (1..=MOST).map(|code| (symbol(code), code)).collect()
}

/// Whether the reader of a pipe is gone.
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == ErrorKind::BrokenPipe
}
