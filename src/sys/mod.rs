//! The only place that touches the file system: opening, listing and stating, relative to an open
//! directory.
//!
//! * [`Source`]: what lists directories and stats entries. There are several, each a file in `source` with the same
//!   items. Which one serves a root or a mount is decided at run time, and stands in its [`Mount`]. What a source
//!   lists may carry its stat ([`Listed`]), and then nobody asks for that.
//! * [`Handle`]: an open directory, of any source.
//! * The same everywhere: `real_path` (where a path really is), [`MountTable`], [`space`], `now` and `time_zone`.
//! * A file each platform, in `platform`, with the same items:
//!   * `is_vanished`, `is_out_of_handles`, `not_found`: what the system's errors mean.
//!   * `free_handles`: how many handles the process may still open, after asking for more.
//!   * `threads_with_room`: how many threads the limits of the process have room for.
//!   * `is_rotational`: whether a device has to move a head to where the data is.
//!   * `usage`, `host`, `user_name`: what the process has used, what the machine and its users are called.
//!   * On Unix, `access_list`: who else may do what with a file (acl(5)), empty if that is nobody or the system does
//!     not tell; `set_access_list`, of an open file.
//! * [`Bulk`]: a file system whose inodes are read from its device, so that listings in it carry stats; likewise.
//! * [`Prefetch`]: what a file system has on its device, read ahead of a walk; on Linux, of ext4 (`ext4`).
//! * What a platform does for snapshots, in `snapshot_file`: who may read one, and whose it is while it is written.
//!
//! Only directories are ever opened, never triggering an automount, and what was asked for: files
//! that were named (`open_file`, `read_file`), git's rules, configuration and index (`open_file_at`), snapshots ([`Draft`],
//! [`open_snapshot`]); a device that is read ahead of; and what the system tells of itself ([`MountTable`], `is_rotational`). Errors are the system's own.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;

use crate::measure::{Kind, Measure, Mode, Time};

mod bulk;
#[cfg(target_os = "linux")]
mod ext4;
mod listing;
mod mount_table;
mod platform;
mod prefetch;
mod snapshot_file;
mod source;
mod space;
mod usage;

pub use bulk::Bulk;
pub use listing::{Listed, Listing};
pub use mount_table::MountTable;
pub use platform::{
    free_handles, host, is_out_of_handles, is_rotational, is_vanished, not_found, space_around,
    threads_with_room, usage, user_name,
};
pub use prefetch::Prefetch;
pub use snapshot_file::{Destination, Draft, open as open_snapshot};
pub use source::{Handle, Source};
pub use space::{Space, space};
pub use usage::Usage;

/// Whether a call follows a symlink in the last component of what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symlinks {
    /// The symlink itself is meant.
    Stay,
    /// What it points to is meant.
    Follow,
}

/// How an inode is asked for, and what beyond what its [`Stat`] always has. What is not asked for
/// is 0: a server need not be asked for what nobody wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// When it was last read, written to and changed, and when it was made.
    pub times: bool,
    /// Whose it is: user and group.
    pub owner: bool,
    /// What is known of it here is good enough: no server need be asked whether it still holds.
    pub cached: bool,
}

/// What is mounted somewhere; by default, as it is where nobody can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// Which mount it is; 0 where the system does not tell.
    pub id: u64,
    /// What lists it, as it says itself.
    pub source: Source,
    /// What it carries.
    pub carries: Carries,
    /// Who answers for it.
    pub storage: Storage,
    /// Whether a listing's inode numbers are what stating the names would give, unless something is
    /// mounted on one.
    pub lists_inodes: bool,
    /// The position to which only the last entry of a listing leads, if there is one.
    pub end: Option<u64>,
}

/// Who answers for a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// The kernel, from a device or from memory.
    #[default]
    Local,
    /// Another machine.
    Remote,
    /// A process, which may ask another machine (FUSE).
    Process,
}

/// What a mount carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carries {
    /// What somebody stored.
    #[default]
    Data,
    /// The kernel's own state in the shape of files: proc, sysfs, cgroup, debugfs, …
    Synthetic,
    /// Nothing that is to be weighed there: entering it would mount or fetch something, or it is seen in its own place.
    Automount,
}

/// Which inode: device number and inode number.
pub type Identity = (u64, u64);

/// Which inode as it is seen through one mount, by the mount's id. Through another mount, the same
/// links are met once more, and count once more.
pub type MountedIdentity = (u64, Identity);

/// What the system says of an inode, as far as weigh asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stat {
    /// Device number of the file system.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
    /// Number of hard links.
    pub links: u32,
    /// File type and permissions.
    pub mode: Mode,
    /// Whether this may be where something is mounted, or an automount waits: its file system may
    /// be another one, or the same one again.
    pub mount_point: bool,
    /// Allocated blocks, of 512 bytes each.
    pub blocks: u64,
    /// Length in bytes.
    pub length: u64,
    /// When it was last read from, in seconds since the epoch, as the next two; if asked for.
    pub accessed: i64,
    /// When it was last written to; if asked for.
    pub modified: i64,
    /// When it was last written to, renamed, linked, or changed in owner or mode; if asked for.
    pub changed: i64,
    /// When it was made; if asked for, and 0 where the file system does not tell.
    pub born: i64,
    /// The user id of its owner; if asked for.
    pub owner: u32,
    /// The group id of its owner; if asked for, and if known.
    pub group: Option<u32>,
}

impl Stat {
    /// Which inode this is.
    pub fn identity(&self) -> Identity {
        (self.device, self.inode)
    }

    /// What it weighs in `measure`'s unit.
    pub fn weight(&self, measure: Measure) -> u64 {
        measure.weight(self.mode.kind(), self.blocks, self.length, |time| match time {
            Time::Accessed => self.accessed,
            Time::Changed => self.changed,
            Time::Modified => self.modified,
        })
    }

    /// Whether this is a directory.
    pub fn is_directory(&self) -> bool {
        self.mode.kind() == Kind::Directory
    }
}

fn too_large(most: u64) -> io::Error {
    let message = format!("it is larger than {} MiB", most >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Opens the file at `path`, which somebody named to be read.
///
/// # Errors
/// The system's.
pub fn open_file(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// What is in the file at `path`, which somebody named to be read.
///
/// # Errors
/// The system's, and if there are more than 100 MiB in it.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    /// No configuration and no list of patterns is as large; but a device may have no end.
    const MOST: u64 = 100 << 20;
    let mut content = Vec::new();
    open_file(path)?.take(MOST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MOST { Err(too_large(MOST)) } else { Ok(content) }
}

/// The one absolute path, without symlinks, `.` or `..`, of what `path` names.
///
/// # Errors
/// The system's, from realpath(3).
pub fn real_path(path: &Path, symlinks: Symlinks) -> io::Result<PathBuf> {
    match (symlinks, path.parent(), path.file_name()) {
        (Symlinks::Stay, Some(parent), Some(name)) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            Ok(fs::canonicalize(parent)?.join(name))
        }
        _ => fs::canonicalize(path),
    }
}

/// Seconds since the epoch.
pub fn now() -> i64 {
    seconds_since_epoch(SystemTime::now())
}

fn seconds_since_epoch(time: SystemTime) -> i64 {
    let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => seconds(since),
        Err(before) => -seconds(before.duration()),
    }
}

/// The time zone that the system, or the variable TZ, says it is in (tzset(3)); UTC if neither does.
pub fn time_zone() -> TimeZone {
    TimeZone::system()
}
