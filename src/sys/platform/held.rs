//! Directories that are held to move and remove what is in them, by name, and never by a path from the top. Linux
//! alone has all that takes; elsewhere nothing is held, and so nothing is removed.

#[cfg(target_os = "linux")]
mod linux;
/// On Linux it is compiled for tests, so that what is wrong with it is seen.
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code))]
mod other;

#[cfg(target_os = "linux")]
pub use linux::{HeldDirectory, user_id};
#[cfg(not(target_os = "linux"))]
pub use other::{HeldDirectory, user_id};
