//! The only module that touches the file system: it opens, lists and stats, relative to an open directory.
//!
//! * [`Source`]: what lists directories and stats entries. The choice for a root or a mount is made at run time, and
//!   stored in its [`Mount`]. If a source lists an entry with its attributes ([`Listed`]), no stat is needed.
//! * [`Handle`]: an open directory, of any source.
//! * The same everywhere: `real_path`, [`MountTable`], [`mount_around`], `now` and `time_zone`; `is_root`: whether no
//!   other user may read more; `is_read_only`: whether nothing can be changed at a path.
//! * [`answers`]: asks storage that may never answer, within a bound.
//! * `system`: Linux, another Unix, or Windows, chosen here and nowhere else. Each has the same items. In `unix` is
//!   what Linux and the others do in the same way; `refused` refuses, elsewhere, what only Linux does.
//!   * The sources of listings, and paths from bytes (`to_path`, `into_path`; the other way is std's
//!     `as_encoded_bytes`).
//!   * `is_vanished` (`unless_vanished`), `is_out_of_handles`, `not_found`, `errors`: what the system's errors mean.
//!   * `free_handles`: how many handles the process may still open, after asking for more.
//!   * `threads_with_room`: how many threads the limits of the process allow.
//!   * `terminal`, `is_capable_terminal`, `read_keys_without_waiting`, `typed`, `silence`, `forget_typed`, `asked`,
//!     `stop_others`: the terminal of the process.
//!   * `ensure_output`: whether standard output can be written to.
//!   * `usage`, `own_usage`: what the process has used, and what this thread has.
//!   * `host`, `user_id`, `user_name`, `user_number`, `user_home`, `user_homes`, `HOME`: the names and numbers of the
//!     machine and its users, and their home directories.
//!   * `space_around`: the capacity of the file system that holds a path.
//!   * `make_directories`, `make_private_directory`, `open_to_append`, `read_private_file`: files and directories of the
//!     user's own.
//!   * `open_outside`, `OPENER`: the program that opens a file for the desktop.
//!   * `has_dos_name`: whether one of the links of an entry is a name that no listing has.
//!   * On Unix, `access_list`: who else may access a file (acl(5)), empty if there is no list or the system does not
//!     tell; `set_access_list`, for an open file.
//!   * `snapshot_file`: who may read a snapshot, and who is writing it.
//!   * `map_extents`: which parts of a file share their space with others. It opens regular files, but reads none.
//!   * [`HeldDirectory`]: a directory that is held open to move and remove its entries by name, never by a path.
//!   * `unlinked_files`, `clone_mount`, `own_space`, `for_root`: what takes space besides files with names, and what only
//!     root may use (`--df`).
//!   * `Events`: changes on a file system, by entry and process (`file_id`: how they name an inode). `writer`: who a
//!     process is. `open_for_writing`: the files that others write.
//!   * `in_use`: which files and directories other processes have open, and which processes may not be looked at.
//!   * [`Bulk`]: a file system whose inodes are read from its device, so that listings in it have attributes.
//!     [`Prefetch`]: reads a file system's metadata from its device before a walk. Both read ext4 (`ext4`).
//!
//! It opens only directories, never triggering an automount, and files that were asked for: files named by the user
//! (`open_file`, `read_file`), git's rules, configuration and index, the tags of caches and other proofs of what can
//! go, and the files of container engines (`open_file_at`), snapshots ([`Draft`], [`open_snapshot`]), the time zone's
//! and the user database; files that are mapped, only to ask about them; the device of a file system that is prefetched
//! or read in bulk, or asked what it needs for itself; and the system's own tables ([`MountTable`]). Errors are the
//! system's own.

mod by_path;
pub mod changes;
mod listing;
mod mount_table;
pub mod problem;
mod snapshot_file;
mod source;
mod space;
mod time_zone;

use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use foldhash::fast::FixedState;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(all(unix, not(target_os = "linux")))]
use other as system;
#[cfg(windows)]
use windows as system;

use crate::base::inode::Identity;
use crate::base::measure::{Figures, Kind, Mode, Time};

pub use changes::{Event, FileId, Writer};
pub use listing::{Listed, Listing};
pub use mount_table::{
    AUTOMOUNT_NAME, KERNEL_FILE_SYSTEMS, Location, MountTable, Overlay, hash_below,
};
pub use snapshot_file::{
    Destination, Draft, ReadFrom, SnapshotFile, directories_in, exists, files_in, has_content,
    is_directory, length, lock, open as open_snapshot, pipe, remove_file, temporary_space,
    unnamed_file,
};
pub use source::{Handle, Source};
pub use space::{
    Cause, Holder, InUse, Mapped, MountAround, Space, UnlinkedFiles, Unseen, Usage, answers,
    mount_around, mounted_below, used_inodes,
};
pub use std::fs::File;
pub use system::{
    Bulk, Events, HOME, HeldDirectory, OPENER, Prefetch, Silence, asked, clone_mount,
    ensure_output, errors, file_id, for_root, forget_typed, free_handles, has_dos_name, host,
    in_use, into_path, is_capable_terminal, is_out_of_handles, is_vanished, make_directories,
    make_private_directory, map_extents, mount_list, not_found, open_for_writing, open_outside,
    open_to_append, own_space, own_usage, read_keys_without_waiting, read_private_file, silence,
    space_around, stop_others, terminal, threads_with_room, to_path, typed, unlinked_files, usage,
    user_home, user_homes, user_id, user_name, user_number, writer,
};
pub use time_zone::time_zone;

/// Names of Windows; its tests run everywhere.
#[cfg(any(windows, test))]
mod wtf8;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(target_os = "linux")))]
mod other;
#[cfg(not(target_os = "linux"))]
mod refused;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

/// As many symlinks as Linux follows in one path (path_resolution(7)).
const MOST_SYMLINKS: usize = 40;

/// Whether a call follows a symlink in the last component of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symlinks {
    /// Acts on the symlink itself.
    Stay,
    /// Acts on the symlink's target.
    Follow,
}

/// The answer of the system; none if the entry has vanished: another program removed it, or the process has ended.
///
/// # Errors
/// The system's other answers.
pub fn unless_vanished<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Err(error) if is_vanished(&error) => Ok(None),
        answer => answer.map(Some),
    }
}

/// Which attributes to ask for, beyond those that [`Stat`] always has. Attributes that are not asked for are 0, which
/// saves asking a server for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The times of the last read, write and change, and of creation.
    pub times: bool,
    /// The owner: user and group.
    pub owner: bool,
    /// Cached attributes are good enough: no server need confirm them.
    pub cached: bool,
}

impl Query {
    /// All attributes.
    pub const ALL: Self = Self { times: true, owner: true, cached: false };
}

/// A mount; the default is for systems that cannot tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// The mount's id; 0 if the system does not tell.
    pub id: u64,
    /// The source that lists it.
    pub source: Source,
    /// What it carries.
    pub content: MountContent,
    /// What serves it.
    pub storage: Storage,
    /// Whether a listing's inode numbers equal those of stat, unless something is mounted on the entry.
    pub lists_inodes: bool,
    /// The position that only the last entry of a listing leads to, if there is one.
    pub end: Option<u64>,
    /// Whether files on it share space with others.
    pub sharing: SharedSpace,
}

/// Whether files on a file system share space with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SharedSpace {
    /// They may, and nothing tells.
    #[default]
    Unknown,
    /// Only by hard links.
    Never,
    /// They may, and [`map_extents`] tells which parts of a file do.
    Mapped,
}

/// What serves a file system.
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
pub enum MountContent {
    /// Stored files.
    #[default]
    Data,
    /// What other directories store: an overlay, which shows its layers as one directory.
    Overlay,
    /// The kernel's own state as files: proc, sysfs, cgroup, debugfs, …
    Synthetic,
    /// Nothing to weigh there: entering it would mount or fetch something, or it is weighed in its own place.
    Automount,
}

/// The attributes of an inode, as far as weigh needs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Device number of the file system.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
    /// Number of hard links.
    pub links: u32,
    /// File type and permissions.
    pub mode: Mode,
    /// Whether this may be a mount point or an automount. Its file system may then be another one, or the same one
    /// again.
    pub mount_point: bool,
    /// Allocated blocks of 512 bytes.
    pub blocks: u64,
    /// Length in bytes.
    pub length: u64,
    /// When it was last read, in seconds since the epoch, like the next three; if asked for.
    pub accessed: i64,
    /// When its content was last written; if asked for.
    pub modified: i64,
    /// When it was last written, renamed, linked, or changed in owner or mode; if asked for.
    pub changed: i64,
    /// The nanoseconds of that second, if asked for and known.
    pub changed_nanos: u32,
    /// When it was created; if asked for, and 0 if the file system does not tell.
    pub born: i64,
    /// The user id of its owner; if asked for.
    pub owner: u32,
    /// The group id of its owner; if asked for and known.
    pub group: Option<u32>,
}

impl Stat {
    /// The identity of this inode, through any mount.
    pub fn identity(&self) -> Identity {
        self.identity_on(0)
    }

    /// The identity of this inode as reached through a `mount`.
    pub fn identity_on(&self, mount: u64) -> Identity {
        Identity { mount, device: self.device, number: self.inode }
    }

    /// What it comes to, with one of its times if that is kept.
    #[inline]
    pub fn figures(&self, time: Option<Time>) -> Figures {
        let newest = time.map(|time| match time {
            Time::Accessed => self.accessed,
            Time::Changed => self.changed,
            Time::Modified => self.modified,
        });
        Figures::of(self.mode.kind(), self.blocks, self.length, newest)
    }

    /// A fingerprint that tells this inode from another that later gets its name or its number. It covers the identity
    /// and the time of creation; unless it is a directory, also the length, the time of the last write, and that of the
    /// last change in nanoseconds, which no program can set back.
    ///
    /// Two different inodes have the same fingerprint once in four billion times. It is valid for one run of the
    /// program.
    pub fn fingerprint(&self) -> u32 {
        let mut hasher = FixedState::default().build_hasher();
        (self.device, self.inode, self.mode.file_type(), self.born).hash(&mut hasher);
        if !self.is_directory() {
            (self.length, self.modified, self.changed, self.changed_nanos).hash(&mut hasher);
        }
        hasher.finish() as u32
    }

    /// Whether this is a directory.
    pub fn is_directory(&self) -> bool {
        self.mode.kind() == Kind::Directory
    }
}

/// Whether the name of a terminal in TERM says that it shows plain lines only.
fn is_plain_terminal(term: &OsStr) -> bool {
    ["", "dumb", "unknown"].iter().any(|plain| term == *plain)
}

fn too_large(most: u64) -> io::Error {
    let message = format!("it is larger than {} MiB", most >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Opens the file at `path`, which the user named.
///
/// # Errors
/// The system's.
pub fn open_file(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// The content of the file at `path`, which the user named.
///
/// # Errors
/// The system's, and an error if it is larger than 100 MiB.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    /// No configuration or list of patterns is that large, but a device may have no end.
    const MOST: u64 = 100 << 20;
    let mut content = Vec::new();
    open_file(path)?.take(MOST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MOST { Err(too_large(MOST)) } else { Ok(content) }
}

/// Whether a pipe, a socket or a device is at `path`: to open or to read it may never end.
pub fn is_special_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// How many directories are directly in the one at `path`, counting up to `most`, as far as it can be read.
pub fn subdirectories(path: &Path, most: usize) -> usize {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let types = entries.filter_map(|entry| entry.file_type().ok());
    types.filter(fs::FileType::is_dir).take(most).count()
}

/// The absolute path of what `path` names, without symlinks, `.` or `..`.
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

/// The target of the symlink at `path`, as it was written.
///
/// # Errors
/// The system's.
pub fn link_target(path: &Path) -> io::Result<Vec<u8>> {
    fs::read_link(path).map(|target| target.as_os_str().as_encoded_bytes().to_vec())
}

/// The fingerprint of what is at `path` now ([`Stat::fingerprint`]). A symlink there is not followed.
///
/// # Errors
/// The system's.
pub fn fingerprint(path: &Path) -> io::Result<u32> {
    Ok(system::by_path::stat_path(path, Symlinks::Stay)?.fingerprint())
}

/// Whether nothing can be changed at `path`, whoever asks: its mount is read-only, or its subvolume.
pub fn is_read_only(path: &Path) -> bool {
    let is = |error: io::Error| error.kind() == io::ErrorKind::ReadOnlyFilesystem;
    system::snapshot_file::ensure_writable(path).is_err_and(is)
}

/// Whether the user may do what root may; always, where users have no numbers.
pub fn is_root() -> bool {
    user_id() == 0
}

/// Starts a clock. The function that it returns tells how much time has passed since.
pub fn stopwatch() -> impl Fn() -> Duration {
    let begin = Instant::now();
    move || begin.elapsed()
}

/// Seconds since the epoch.
pub fn now() -> i64 {
    seconds_since_epoch(SystemTime::now())
}

fn seconds_since_epoch(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    }
}

// The attributes of an entry before it is moved or removed: more than a walk asks for, with times in nanoseconds.

/// Seconds since the epoch, and nanoseconds of a second.
pub type Moment = (i64, u32);

/// Everything that tells an inode from another that gets its name or its number.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactStat {
    /// The attributes that a walk asks for, with times.
    pub stat: Stat,
    /// The ID of its mount; 0 if the system does not tell.
    pub mount: u64,
    /// When it was made; zeros if the file system does not tell.
    pub born: Moment,
    /// When it was last written to.
    pub modified: Moment,
    /// When it was last written to, renamed, linked, or changed in owner or mode.
    pub changed: Moment,
    /// Whether it is immutable (chattr(1), `i`).
    pub is_immutable: bool,
    /// Whether it is append-only (chattr(1), `a`).
    pub is_append_only: bool,
}

impl ExactStat {
    /// Whether `other` is the same inode and, unless it is a directory, has the same content, as far as its length and
    /// its time of writing tell. A move keeps both, but sets `changed`.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same_content =
            (self.stat.length, self.modified) == (other.stat.length, other.modified);
        self.is_same_inode(other) && (self.is_directory() || is_same_content)
    }

    /// Whether `other` is the same inode.
    pub fn is_same_inode(&self, other: &Self) -> bool {
        self.inode() == other.inode()
    }

    fn inode(&self) -> (u64, Identity, u16, Moment) {
        (self.mount, self.stat.identity(), self.stat.mode.file_type(), self.born)
    }

    /// Whether it has not changed at all since `earlier`. A directory only has to be the same inode, because changes of
    /// its content change its times.
    pub fn is_untouched_since(&self, earlier: &Self) -> bool {
        self.is_same(earlier) && (self.is_directory() || self.changed == earlier.changed)
    }

    /// Whether this is a directory.
    pub fn is_directory(&self) -> bool {
        self.stat.is_directory()
    }

    /// Whether only owners may remove entries of this directory (the sticky bit, inode(7)).
    pub fn is_sticky(&self) -> bool {
        self.stat.mode.0 & 0o1000 != 0
    }
}
