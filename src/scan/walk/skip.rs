//! Mounts that a walk does not enter, by their kind (`--skip`).
//!
//! The kernel's table of mounts has the type of each. The walk looks at it only where something is mounted.

use std::sync::Arc;

use crate::base::path;
use crate::sys::{Mount, MountTable, Storage};

/// A kind of mounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountKind {
    /// File systems of other machines.
    Network,
    /// File systems that a process serves.
    Fuse,
    /// Packages of snapd.
    Snap,
}

/// Types of FUSE whose files are on other machines. statfs(2) knows only that they are FUSE.
const FUSE_OF_OTHERS: [&[u8]; 9] = [
    b"fuse.ceph-fuse",
    b"fuse.curlftpfs",
    b"fuse.gcsfuse",
    b"fuse.glusterfs",
    b"fuse.gvfsd-fuse",
    b"fuse.juicefs",
    b"fuse.rclone",
    b"fuse.s3fs",
    b"fuse.sshfs",
];

/// Types of snapd's mounts, also in a container.
const PACKAGES: [&[u8]; 3] = [b"squashfs", b"fuse.squashfuse", b"fuse.snapfuse"];

/// Where snapd mounts packages.
const SNAPS: [&[u8]; 2] = [b"/snap", b"/var/lib/snapd"];

impl MountKind {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 3] =
        [("network", Self::Network), ("fuse", Self::Fuse), ("snap", Self::Snap)];

    /// Whether a mount is of this kind: one that is served so and, if the table has it, is of this type at this point.
    fn has(self, storage: Storage, listed: Option<(&[u8], &[u8])>) -> bool {
        let is_one_of = |types: &[&[u8]]| listed.is_some_and(|(kind, _)| types.contains(&kind));
        match self {
            Self::Network => storage == Storage::Remote || is_one_of(&FUSE_OF_OTHERS),
            Self::Fuse => match listed {
                // fuseblk is a disk, for example with NTFS.
                Some((kind, _)) => kind == b"fuse" || kind.starts_with(b"fuse."),
                None => storage == Storage::Process,
            },
            Self::Snap => listed.is_some_and(|(_, point)| {
                is_one_of(&PACKAGES) && SNAPS.iter().any(|above| path::is_within(point, above))
            }),
        }
    }
}

/// The mounts that are not entered.
#[derive(Clone, Debug, Default)]
pub struct SkippedMounts {
    kinds: Vec<MountKind>,
    table: Arc<MountTable>,
}

impl SkippedMounts {
    /// The mounts of these `kinds`. None if the system has no table of mounts, unless there are no kinds.
    pub fn of(kinds: &[MountKind]) -> Option<Self> {
        let mut skipped = Self { kinds: kinds.to_vec(), ..Self::default() };
        skipped.look();
        (kinds.is_empty() || !skipped.table.is_empty()).then_some(skipped)
    }

    /// Reads the table of mounts.
    pub(super) fn look(&mut self) {
        if !self.kinds.is_empty() {
            self.table = Arc::new(MountTable::read());
        }
    }

    /// Whether all mounts are entered.
    pub(super) fn is_off(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Whether a walk does not enter `mount`, which it meets on another mount, `from`.
    pub(super) fn has(&self, mount: Mount, from: Mount) -> bool {
        // Before Linux 5.8, all have the number 0. A subvolume is on the mount that it is in.
        if self.is_off() || mount.id == from.id && mount.id != 0 {
            return false;
        }
        let listed = self.table.file_system_type(mount.id).zip(self.table.point(mount.id));
        self.kinds.iter().any(|kind| kind.has(mount.storage, listed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_mounts() {
        use MountKind::{Fuse, Network, Snap};
        for (storage, kind, point, expected) in [
            (Storage::Local, "ext4", "/snap/x", &[] as &[MountKind]),
            (Storage::Remote, "nfs4", "/home", &[Network]),
            (Storage::Process, "fuse", "/mnt", &[Fuse]),
            (Storage::Process, "fuse.portal", "/run/user/1/doc", &[Fuse]),
            (Storage::Process, "fuse.sshfs", "/mnt", &[Network, Fuse]),
            (Storage::Process, "fuseblk", "/mnt/windows", &[]),
            (Storage::Local, "squashfs", "/snap/core/1", &[Snap]),
            (Storage::Local, "squashfs", "/var/lib/snapd/snap/core/1", &[Snap]),
            (Storage::Local, "squashfs", "/mnt/image", &[]),
            (Storage::Local, "squashfs", "/snapshots/image", &[]),
            (Storage::Process, "fuse.squashfuse", "/snap/core/1", &[Fuse, Snap]),
            (Storage::Local, "fusectl", "/sys/fs/fuse/connections", &[]),
        ] {
            let listed = Some((kind.as_bytes(), point.as_bytes()));
            let found = MountKind::ALL.map(|(_, kind)| kind).into_iter();
            let found: Vec<_> = found.filter(|kind| kind.has(storage, listed)).collect();
            assert_eq!(found, expected, "{kind} at {point}");
        }
        assert!(Fuse.has(Storage::Process, None) && !Snap.has(Storage::Local, None));
    }
}
