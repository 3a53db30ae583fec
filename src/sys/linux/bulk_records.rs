//! What has been read in bulk of a file system.

use crate::base::measure::Mode;
use crate::fs::ext4::{Budget, PackedInodes, RawVolume};
use crate::sys::{MountTable, Stat};

/// Its inodes, and what is needed to read directories.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) volume: RawVolume,
    pub(super) inodes: PackedInodes,
    pub(super) budget: Budget,
    pub(super) mounts: MountTable,
    pub(super) mount: u64,
    pub(super) device: u64,
    /// The kernel lists directories that changed at or after this time, in seconds since the epoch.
    pub(super) since: i64,
}

impl Records {
    /// The attributes of the inode with this number; none if it was free, or if the kernel must be asked.
    pub(super) fn stat(&self, inode: u64) -> Option<Stat> {
        let its = self.inodes.attributes(inode)?;
        Some(Stat {
            device: self.device,
            inode,
            links: its.links.into(),
            mode: Mode(its.mode),
            mount_point: false,
            blocks: its.blocks,
            length: its.length,
            accessed: its.accessed,
            modified: its.modified,
            changed: its.changed,
            changed_nanos: its.changed_nanos,
            born: its.born,
            owner: its.owner,
            group: Some(its.group),
        })
    }
}
