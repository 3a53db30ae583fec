//! Every other Unix, by std alone, which tells none of it.

use std::fs::File;
use std::io;
use std::path::Path;

/// std cannot tell.
pub fn is_rotational(_: u64) -> bool {
    false
}

/// std can neither tell nor raise the limit. The lowest that is usual is macOS's 256; should there
/// be fewer, opening fails with EMFILE and is tried again when others have closed theirs.
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

/// There is none to set.
pub fn set_access_list(_: &File, _: &[u8]) -> io::Result<()> {
    Ok(())
}
