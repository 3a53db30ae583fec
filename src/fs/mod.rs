//! Formats on disk: git's own files, bbolt databases, and ext2, ext3 and ext4 on a device.

pub(crate) mod bbolt;
#[cfg(target_os = "linux")]
pub(crate) mod ext4;
pub mod git;
