//! A file system's own records of what is in it, read in the order in which they lie on its device: on Linux, from
//! ext2, ext3 and ext4. The kernel keeps what it has read, so that a walk finds it in memory.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub use linux::Prefetch;
#[cfg(not(target_os = "linux"))]
pub use other::Prefetch;
