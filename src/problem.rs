//! Errors as values. The walk records them and continues, and render shows them.

use std::borrow::Cow;
use std::error::Error as _;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::Path;

use thiserror::Error;

use crate::escape::{escape, harmless};
use crate::sys;
use crate::sys::errors::{TIMED_OUT, is_closed, symbol};

/// An error, or something that was skipped on purpose. As text it is one line that is safe to print. Problems are sorted
/// by path, and then by the other fields, in their order.
#[derive(Clone, Debug, Error, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The path, as bytes: the root as given, then the names below it.
    #[doc(hidden)]
    pub path: Vec<u8>,
    /// What weigh tried to do.
    pub operation: Operation,
    /// The system's error number (errno(3)), if there was one.
    pub code: Option<i32>,
    /// The system's message.
    pub message: String,
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (attempt, path) = (self.attempt(), named(&self.path));
        let space = if attempt.is_empty() { "" } else { " " };
        write!(f, "{attempt}{space}{path}: {}", harmless(self.message.as_bytes()))
    }
}

/// A `path` in a message, where an empty one would not be seen.
pub(crate) fn named(path: &[u8]) -> String {
    if path.is_empty() { "an empty name".to_owned() } else { escape(path) }
}

/// What weigh tried to do when a [`Problem`] came up, in the order in which the walk does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Reading an inode's attributes.
    Stat,
    /// Opening a directory.
    Open,
    /// Reading a directory's entries.
    Read,
    /// Entering a directory that is its own ancestor. Nothing is missing, because it is weighed above.
    Enter,
    /// Adding up what is in a directory.
    Add,
    /// Reading a snapshot.
    Load,
    /// Showing what a snapshot does not have, or snapshots that do not go together.
    Show,
    /// Writing a snapshot.
    Save,
    /// Replacing a file that is not a snapshot.
    Replace,
    /// Removing an old snapshot, or a marked entry.
    Remove,
    /// Putting back what is in the trash.
    Restore,
    /// Comparing with a snapshot that counts differently.
    Compare,
    /// Starting a thread.
    Start,
}

impl Operation {
    /// The operation's name, as JSON and messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Stat => "stat",
            Operation::Open => "open",
            Operation::Read => "read",
            Operation::Enter => "enter",
            Operation::Add => "add up",
            Operation::Load => "load",
            Operation::Show => "show",
            Operation::Save => "save",
            Operation::Replace => "replace",
            Operation::Remove => "remove",
            Operation::Restore => "put back",
            Operation::Compare => "compare with",
            Operation::Start => "start",
        }
    }

    /// The operation with this name in JSON: one of a walk, or of loading several snapshots.
    pub fn named(name: &str) -> Option<Self> {
        use Operation::{Add, Enter, Load, Open, Read, Stat};
        [Stat, Open, Read, Enter, Add, Load].into_iter().find(|operation| operation.name() == name)
    }
}

/// The system's message for `error`. std appends " (os error 13)", which is removed; the number is kept apart.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// The result of writing to standard output. A closed pipe is no error, because its reader has seen enough.
pub fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if is_closed(&error) { Ok(()) } else { Err(error) })
}

impl Problem {
    /// The path: the root as given, then the names below it.
    pub fn path(&self) -> Cow<'_, Path> {
        sys::to_path(&self.path)
    }

    /// The problem that `error` is for `path`.
    pub fn new(path: Vec<u8>, operation: Operation, error: &io::Error) -> Self {
        let source = || error.source()?.downcast_ref::<io::Error>()?.raw_os_error();
        let code = error.raw_os_error().or_else(source);
        Self { path, operation, code, message: reason(error) }
    }

    /// What could not be done, as in `cannot open`; empty for a name that is not there, of which its message says enough.
    pub(crate) fn attempt(&self) -> String {
        let is_missing =
            self.operation == Operation::Stat && self.message == reason(&sys::not_found());
        if is_missing { String::new() } else { format!("cannot {}", self.operation.name()) }
    }

    /// A directory that is its own ancestor, and so was not entered again.
    pub fn cycle(path: Vec<u8>) -> Self {
        let message = "is its own ancestor; not entered again".to_owned();
        Self { path, operation: Operation::Enter, code: None, message }
    }

    /// A directory for which the storage had not answered when the walk was interrupted.
    pub fn unanswered(path: Vec<u8>) -> Self {
        let message = "no answer from the storage".to_owned();
        Self { path, operation: Operation::Read, code: Some(TIMED_OUT), message }
    }

    /// A directory whose total is larger than the largest number.
    pub fn too_large(path: Vec<u8>) -> Self {
        let message = "its total is larger than 16 EiB".to_owned();
        Self { path, operation: Operation::Add, code: None, message }
    }

    /// Whether totals lack something because of it.
    pub fn is_loss(&self) -> bool {
        self.operation != Operation::Enter
    }

    /// The error's symbol (`EACCES`); `ELOOP` for a directory that is its own ancestor.
    pub fn symbol(&self) -> String {
        match self.code {
            Some(code) => symbol(code),
            None if self.operation == Operation::Enter => "ELOOP".to_owned(),
            None if self.operation == Operation::Add => "EOVERFLOW".to_owned(),
            None => "EIO".to_owned(),
        }
    }
}
