//! Every other Unix, macOS among them: what Linux does by calls of its own is done through std, or refused.

#[cfg(target_os = "macos")]
mod macos;

use std::fs::File;
use std::io;
use std::path::Path;

pub use super::refused::*;
pub use super::unix::*;
#[cfg(target_os = "macos")]
pub use macos::mount_content;

/// An open directory of the native source, which is the portable one.
pub type NativeHandle = crate::sys::by_path::PathHandle<true>;

/// std can neither tell nor raise the limit. The lowest usual limit is 256, on macOS. If it is lower, opening fails
/// with EMFILE, and is tried again when other directories have been closed.
pub fn free_handles() -> usize {
    200
}

/// std cannot tell.
pub fn access_list(_: &Path) -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}

/// There is none to set through std.
pub fn set_access_list(_: &File, _: &[u8]) -> io::Result<()> {
    Ok(())
}
