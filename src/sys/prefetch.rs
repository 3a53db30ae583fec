//! Reads a file system's metadata in the order in which it is stored on the device: on Linux that of ext2, ext3 and
//! ext4. The kernel keeps it in memory, where the walk finds it.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub use linux::Prefetch;
#[cfg(not(target_os = "linux"))]
pub use other::Prefetch;
