//! Error codes ("System Error Codes"), under the symbols of Unix, so that snapshots of both can be
//! compared.

use std::collections::HashMap;
use std::io::{self, ErrorKind};

/// The error of a wait that took too long: ERROR_TIMEOUT.
pub const TIMED_OUT: i32 = 1460;

/// If several codes mean the same, the usual one is first.
const SYMBOLS: [(i32, &str); 16] = [
    (2, "ENOENT"),
    (3, "ENOENT"),
    (53, "ENOENT"),
    (123, "ENOENT"),
    (4, "EMFILE"),
    (5, "EACCES"),
    (1314, "EACCES"),
    (8, "ENOMEM"),
    (19, "EROFS"),
    (21, "ENODEV"),
    (32, "EBUSY"),
    (87, "EINVAL"),
    (206, "ENAMETOOLONG"),
    (267, "ENOTDIR"),
    (1921, "ELOOP"),
    (TIMED_OUT, "ETIMEDOUT"),
];

/// The symbol of an error code.
pub fn symbol(code: i32) -> String {
    let known = SYMBOLS.iter().find(|(known, _)| *known == code);
    known.map_or_else(|| format!("E{code}"), |(_, symbol)| (*symbol).to_owned())
}

/// The system's error codes by their symbols. Those without a symbol go by their numbers.
pub fn codes() -> HashMap<String, i32> {
    /// Most of them are in this range.
    const MOST: i32 = 15_999;
    let known = SYMBOLS.iter().rev().map(|(code, symbol)| ((*symbol).to_owned(), *code));
    (1..=MOST).map(|code| (format!("E{code}"), code)).chain(known).collect()
}

/// Whether the reader of a pipe is gone. std does not count ERROR_PIPE_NOT_CONNECTED, which Wine returns.
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == ErrorKind::BrokenPipe || error.raw_os_error() == Some(233)
}
