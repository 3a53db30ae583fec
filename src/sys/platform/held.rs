//! Directories that are held open to move and remove their entries by name, never by a path. Only Linux has all the
//! necessary system calls. On other systems no directory is held, and so nothing is removed.

#[cfg(target_os = "linux")]
mod linux;
/// Compiled for tests on Linux, too, to find mistakes in it.
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code))]
mod other;

#[cfg(target_os = "linux")]
pub use linux::{HeldDirectory, open_to_append, user_id};
#[cfg(not(target_os = "linux"))]
pub use other::{HeldDirectory, open_to_append, user_id};
