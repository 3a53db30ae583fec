//! Why an entry is not moved or removed, in words.

use std::io::{self, ErrorKind};

use crate::sys::problem::reason;
use crate::sys::{ExactStat, is_vanished, user_id};

/// Why a step stopped early.
#[derive(Debug)]
pub(super) enum Stop {
    /// It was cancelled, or the reasons have been reported.
    Cancelled,
    Because(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Because(error)
    }
}

pub(super) const NO_MOVE: &str = "its file system has no move that never replaces";

/// `message` as the reason to stop.
pub(super) fn because(message: impl Into<String>) -> Stop {
    Stop::Because(io::Error::other(message.into()))
}

/// The meaning of `error` for the entry `it` in the directory `around`, if these are known.
pub(super) fn explain(
    error: &io::Error,
    around: Option<&ExactStat>,
    it: Option<&ExactStat>,
) -> String {
    if error.raw_os_error().is_none() {
        return error.to_string();
    }
    if error.kind() == ErrorKind::AlreadyExists {
        return "something else has its name now".to_owned();
    }
    let meaning = match error.kind() {
        ErrorKind::ReadOnlyFilesystem => "the file system is mounted read-only",
        ErrorKind::PermissionDenied if it.is_some_and(|it| it.is_immutable) => "it is immutable",
        ErrorKind::PermissionDenied if it.is_some_and(|it| it.is_append_only) => {
            "it is append-only"
        }
        ErrorKind::PermissionDenied if around.is_some_and(|it| it.is_immutable) => {
            "its directory is immutable"
        }
        ErrorKind::PermissionDenied if around.is_some_and(|it| it.is_append_only) => {
            "its directory is append-only"
        }
        ErrorKind::PermissionDenied if is_kept_by_sticky(around, it) => {
            "its directory is sticky, and only its owner may remove it"
        }
        ErrorKind::CrossesDevices => {
            "it cannot be moved within its file system: it is on another mount, in another subvolume or project, or \
             in a lower layer of an overlay"
        }
        ErrorKind::ResourceBusy => "something is mounted on it, or the system uses it",
        ErrorKind::InvalidInput => NO_MOVE,
        ErrorKind::NotFound | ErrorKind::NotADirectory => "it is not there any more",
        ErrorKind::DirectoryNotEmpty => "it contains entries that were not scanned",
        // Of the errors that is_vanished knows, ELOOP is left. std has no stable name for it.
        _ if is_vanished(error) => "there is a symlink on the way to it",
        _ => return reason(error),
    };
    format!("{meaning} ({})", reason(error))
}

fn is_kept_by_sticky(around: Option<&ExactStat>, it: Option<&ExactStat>) -> bool {
    let (Some(around), Some(it)) = (around, it) else { return false };
    let user = user_id();
    around.is_sticky() && user != 0 && it.stat.owner != user && around.stat.owner != user
}
