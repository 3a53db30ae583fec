//! macOS: which directories must not be entered. Written from its documentation, and untested.

use std::fs;
use std::io;
use std::os::macos::fs::MetadataExt;
use std::path::Path;

use crate::sys::MountContent;

/// SF_DATALESS (sys/stat.h): the content is on a server, and listing it would fetch it.
const DATALESS: u32 = 0x4000_0000;

/// The data volume. Firmlinks lead from the root to its directories, `/Users` and others, so a walk from above has
/// already weighed them.
const DATA: &str = "/System/Volumes/Data";

/// What the directory at `path` carries.
pub fn mount_content(path: &Path) -> io::Result<MountContent> {
    let is_dataless = fs::symlink_metadata(path).is_ok_and(|it| it.st_flags() & DATALESS != 0);
    let is_elsewhere = is_dataless
        || path.ends_with("Data") && fs::canonicalize(path).is_ok_and(|it| it == Path::new(DATA));
    Ok(if is_elsewhere { MountContent::Automount } else { MountContent::Data })
}
