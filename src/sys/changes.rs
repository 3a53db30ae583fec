//! Changes on a file system, as the system reports them, and the processes that make them.

use super::Holder;

/// An inode of a file system, as the system's events name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The subvolume of btrfs; 0 on other file systems.
    pub subvolume: u64,
    /// The inode number.
    pub inode: u64,
}

/// A directory, and a name in it.
pub type NameAt = (FileId, Vec<u8>);

/// Something that happened. Several things that a process did with one entry may be one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The process that did it, as this process sees it; 0 if it does not see that one.
    pub pid: u32,
    /// The inode, if it is known.
    pub object: Option<FileId>,
    /// Where the entry is, or was before it was renamed.
    pub at: Option<NameAt>,
    /// Its new place, if it was renamed.
    pub to: Option<NameAt>,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether the name is new.
    pub is_created: bool,
    /// Whether the name was removed.
    pub is_deleted: bool,
    /// Whether the inode is gone.
    pub is_freed: bool,
    /// Whether content was written or cut.
    pub is_changed: bool,
    /// Whether events were lost before this one.
    pub is_lost: bool,
}

/// A process that writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// The number and the name of the command, never its arguments. The name is empty if the process has ended.
    pub process: Holder,
    /// The id of its user.
    pub user: Option<u32>,
    /// The unit of systemd or the container that it belongs to; empty if there is none.
    pub unit: String,
}
