//! Formats on disk: git's own files, and ext2, ext3 and ext4 on a device.

#[cfg(target_os = "linux")]
pub(crate) mod ext4;
pub mod git;
