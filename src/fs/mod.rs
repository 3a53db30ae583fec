//! Formats that are read from disk: what git writes, and file systems on a device.

#[cfg(target_os = "linux")]
pub(crate) mod ext4;
pub mod git;
