//! What is the system's, whichever source lists directories: limits of the process, devices, access lists.
//! Each platform has a file with the same items.

#[cfg(target_os = "linux")]
mod linux;
/// Elsewhere. On Linux it is compiled for tests, so that what is wrong with it is seen.
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code))]
mod unix;

#[cfg(target_os = "linux")]
pub use linux::{access_list, free_handles, is_rotational, set_access_list, threads_with_room};
#[cfg(not(target_os = "linux"))]
pub use unix::{access_list, free_handles, is_rotational, set_access_list, threads_with_room};
