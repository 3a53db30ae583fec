//! Every other Unix, macOS among them: what Linux does by calls of its own is done through std, or refused.

#[cfg(target_os = "macos")]
mod macos;

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::path::Path;

pub use super::refused::*;
pub use super::unix::*;
#[cfg(target_os = "macos")]
pub use macos::carries;

use crate::sys::source::handles;
use crate::sys::{Stat, Symlinks};

/// What lists directories and stats entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// `std::fs` alone, by paths; on any Unix.
    #[default]
    Portable,
}

handles! {
    /// Of [`Source::Portable`].
    Portable(portable::Handle),
}

/// Evaluates `$asked`, where `$module` is the module of the source `$source`.
macro_rules! by_source {
    ($source:expr, $module:ident => $asked:expr) => {
        match $source {
            Source::Portable => {
                use $crate::sys::unix::portable as $module;
                $asked
            }
        }
    };
}
pub(in crate::sys) use by_source;

/// Evaluates `$asked`, where `$dir` is the source's own handle in `$handle`.
macro_rules! by_handle {
    ($handle:expr, $dir:ident => $asked:expr) => {
        match $handle {
            Handle::Portable($dir) => $asked,
        }
    };
}
pub(in crate::sys) use by_handle;

/// Attributes alone open no directory.
pub fn known_below(_: &Handle, _: &CStr, _: &Stat, _: Symlinks) -> Option<Handle> {
    None
}

/// What the directory at `path` carries, as far as std can tell.
#[cfg(not(target_os = "macos"))]
pub fn carries(_: &Path) -> crate::sys::Carries {
    crate::sys::Carries::Data
}

/// std cannot tell.
pub fn is_rotational(_: u64) -> bool {
    false
}

/// std can neither tell nor raise the limit. The lowest usual limit is 256, on macOS. If it is lower, opening fails
/// with EMFILE, and is tried again when other directories have been closed.
pub fn free_handles() -> usize {
    200
}

/// std cannot tell.
pub fn threads_with_room() -> usize {
    usize::MAX
}

/// std cannot tell.
pub fn access_list(_: &Path) -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}

/// There is none to set through std.
pub fn set_access_list(_: &File, _: &[u8]) -> io::Result<()> {
    Ok(())
}
