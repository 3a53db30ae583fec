//! Reads a file system in bulk, from its device: on Linux ext2, ext3 and ext4.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub use linux::Bulk;
#[cfg(target_os = "linux")]
pub(super) use linux::Records;
#[cfg(not(target_os = "linux"))]
pub use other::Bulk;
