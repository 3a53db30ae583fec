//! macOS: what a directory is beyond what any Unix tells. Written from its documentation, and untried.

use std::fs;
use std::os::macos::fs::MetadataExt;
use std::path::Path;

use crate::sys::Carries;

/// SF_DATALESS (sys/stat.h): what is in it is on a server, and listing it would fetch that.
const DATALESS: u32 = 0x4000_0000;

/// The volume with all that is not the system's. Firmlinks lead from the root to what is in it, `/Users` and more,
/// so a walk that comes from above has it already.
const DATA: &str = "/System/Volumes/Data";

/// What the directory at `path` carries.
pub fn carries(path: &Path) -> Carries {
    let is_dataless = fs::symlink_metadata(path).is_ok_and(|it| it.st_flags() & DATALESS != 0);
    let is_data =
        || path.ends_with("Data") && fs::canonicalize(path).is_ok_and(|it| it == Path::new(DATA));
    if is_dataless || is_data() { Carries::Automount } else { Carries::Data }
}
