//! What could not be read, as a value. The walk records it and goes on; render shows it.

use std::io;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::codes;
#[cfg(unix)]
use unix::{TIMED_OUT, is_closed, symbol};
#[cfg(windows)]
pub use windows::codes;
#[cfg(windows)]
use windows::{TIMED_OUT, is_closed, symbol};

/// One thing that could not be done, or was not done on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path, as bytes: the root as given, then the names below it.
    pub path: Vec<u8>,
    /// What was tried.
    pub operation: Operation,
    /// The system's error number (errno(3)), where there was one.
    pub code: Option<i32>,
    /// What the system says of it.
    pub message: String,
}

/// What was tried when a [`Problem`] came up. Ordered as the walk does them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Reading an inode's attributes.
    Stat,
    /// Opening a directory.
    Open,
    /// Reading a directory's entries.
    Read,
    /// Entering a directory that is its own ancestor. Nothing is missing: it is weighed above.
    Enter,
    /// Reading a snapshot.
    Load,
    /// Writing one.
    Save,
    /// Comparing with one that counts something else.
    Compare,
    /// Removing what is marked.
    Remove,
}

impl Operation {
    /// The operation's name, as JSON and messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Stat => "stat",
            Operation::Open => "open",
            Operation::Read => "read",
            Operation::Enter => "enter",
            Operation::Load => "load",
            Operation::Save => "save",
            Operation::Compare => "compare with",
            Operation::Remove => "remove",
        }
    }

    /// The operation of a walk that has a name in JSON.
    pub fn named(name: &str) -> Option<Self> {
        let walked = [Operation::Stat, Operation::Open, Operation::Read, Operation::Enter];
        walked.into_iter().find(|operation| operation.name() == name)
    }
}

/// What the system says of `error`. std appends " (os error 13)"; the number goes beside it under
/// its own name, where it is wanted at all.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What came of writing to standard output. A reader that closes the pipe has seen enough.
pub fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if is_closed(&error) { Ok(()) } else { Err(error) })
}

impl Problem {
    /// What `error` says of `path`.
    pub fn new(path: Vec<u8>, operation: Operation, error: &io::Error) -> Self {
        Self { path, operation, code: error.raw_os_error(), message: reason(error) }
    }

    /// A directory that is its own ancestor, and so was not entered again.
    pub fn cycle(path: Vec<u8>) -> Self {
        let message = "is its own ancestor; not entered again".to_owned();
        Self { path, operation: Operation::Enter, code: None, message }
    }

    /// A directory in which the storage did not answer before the walk was ended.
    pub fn unanswered(path: Vec<u8>) -> Self {
        let message = "no answer from the storage".to_owned();
        Self { path, operation: Operation::Read, code: Some(TIMED_OUT), message }
    }

    /// Whether the totals lack something because of it.
    pub fn is_loss(&self) -> bool {
        self.operation != Operation::Enter
    }

    /// The error's symbol (`EACCES`), `ELOOP` for a directory that is its own ancestor.
    pub fn symbol(&self) -> String {
        match self.code {
            Some(code) => symbol(code),
            None if self.operation == Operation::Enter => "ELOOP".to_owned(),
            None => "EIO".to_owned(),
        }
    }
}
