//! Errors as values. The walk records them and continues, and render shows them.

use std::borrow::Cow;
use std::error::Error as _;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::Path;

use thiserror::Error;

use crate::base::escape::{escape, harmless};
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
    /// What to do instead, if weigh knows that.
    pub hint: Option<String>,
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_hint(": "))
    }
}

/// An error whose `text` may have a second line, with what to do instead. Names in the text are escaped, so that only
/// weigh begins that line.
pub(crate) fn hinted(kind: io::ErrorKind, text: impl Into<String>) -> io::Error {
    let text = text.into();
    match text.split_once('\n') {
        None => io::Error::new(kind, text),
        Some((message, hint)) => {
            io::Error::new(kind, Hinted { message: message.to_owned(), hint: hint.to_owned() })
        }
    }
}

/// The hint of `error`, or of an error that is its source.
fn hint_in(mut error: &io::Error) -> Option<&str> {
    loop {
        let inner = error.get_ref()?;
        if let Some(Hinted { hint, .. }) = inner.downcast_ref() {
            return Some(hint);
        }
        error = inner.source()?.downcast_ref()?;
    }
}

/// A message, and what to do instead.
#[derive(Debug, Error)]
#[error("{message}: {hint}")]
struct Hinted {
    message: String,
    hint: String,
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
        let (text, hint) = (reason(error), hint_in(error));
        let message = hint.and_then(|hint| text.strip_suffix(hint)?.strip_suffix(": "));
        let message = message.unwrap_or(&text).to_owned();
        Self { path, operation, code, message, hint: hint.map(str::to_owned) }
    }

    /// In one line; and if there is a hint, in a second one.
    #[doc(hidden)]
    pub fn lines(&self) -> String {
        self.with_hint("\n")
    }

    fn with_hint(&self, separator: &str) -> String {
        let (attempt, path) = (self.attempt(), named(&self.path));
        let space = if attempt.is_empty() { "" } else { " " };
        let message = harmless(self.message.as_bytes());
        let hint =
            self.hint.as_ref().map(|hint| format!("{separator}{}", harmless(hint.as_bytes())));
        format!("{attempt}{space}{path}: {message}{}", hint.unwrap_or_default())
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
        Self { path, operation: Operation::Enter, code: None, message, hint: None }
    }

    /// A directory for which the storage had not answered when the walk was interrupted.
    pub fn unanswered(path: Vec<u8>) -> Self {
        let message = "no answer from the storage".to_owned();
        Self { path, operation: Operation::Read, code: Some(TIMED_OUT), message, hint: None }
    }

    /// A directory whose total is larger than the largest number.
    pub fn too_large(path: Vec<u8>) -> Self {
        let message = "its total is larger than 16 EiB".to_owned();
        Self { path, operation: Operation::Add, code: None, message, hint: None }
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

    /// Whether the system refused it, as it may not to root.
    pub fn is_denied(&self) -> bool {
        matches!(&*self.symbol(), "EACCES" | "EPERM")
    }
}
