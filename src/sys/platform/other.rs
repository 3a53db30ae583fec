//! Every other Unix, through std alone, which offers none of these.

use std::fs::File;
use std::io;
use std::path::Path;

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
