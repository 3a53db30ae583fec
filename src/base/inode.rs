//! What tells inodes apart, and how many names lead to one.
//!
//! This part imports nothing, so that all others can use it.

/// What tells an inode from all others. Through another mount, the walk finds the same links again, and counts them
/// again; so the mount is a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The id of the mount through which it is reached; 0 if it is unknown or does not matter.
    pub mount: u64,
    /// The device number of the file system.
    pub device: u64,
    /// The inode number on that device.
    pub number: u64,
}

/// A device as reached through one mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MountedDevice {
    /// The id of the mount.
    pub mount: u64,
    /// The device number.
    pub device: u64,
}

/// How many names lead to an inode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Links {
    /// One, or each name counts by itself.
    #[default]
    Alone,
    /// So many hard links, which count once together.
    Of(u32),
    /// Nobody knows how many; they count once together.
    Unknown,
}

impl Identity {
    /// The same inode through any mount.
    #[must_use]
    pub fn on_any_mount(self) -> Self {
        Self { mount: 0, ..self }
    }

    /// Where it is.
    pub fn mounted_device(self) -> MountedDevice {
        MountedDevice { mount: self.mount, device: self.device }
    }
}

impl Links {
    /// Whether other names lead to the inode, which counts once for all of them.
    pub fn are_several(self) -> bool {
        self != Links::Alone
    }

    /// What part of the inode's figures one of the names stands for.
    pub fn share(self) -> f64 {
        match self {
            Links::Of(links) => f64::from(links.max(1)).recip(),
            Links::Alone | Links::Unknown => 1.0,
        }
    }
}
