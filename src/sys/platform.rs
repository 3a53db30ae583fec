//! What belongs to the system, whichever source lists directories: the meaning of its errors, the limits of the
//! process, devices and users. Each platform has a file with the same items; one file has what all Unix systems share.

mod held;
#[cfg(target_os = "linux")]
mod linux;
/// On Linux it is compiled for tests, so that its errors show.
#[cfg(all(unix, any(test, not(target_os = "linux"))))]
#[cfg_attr(target_os = "linux", allow(dead_code))]
mod other;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use held::{HeldDirectory, open_to_append, user_id};
#[cfg(target_os = "linux")]
pub use linux::{access_list, free_handles, is_rotational, set_access_list, threads_with_room};
#[cfg(all(unix, not(target_os = "linux")))]
pub use other::{access_list, free_handles, is_rotational, set_access_list, threads_with_room};
#[cfg(unix)]
pub use unix::{
    host, is_out_of_handles, is_root, is_vanished, not_found, space_around, stop_others, terminal,
    usage, user_home, user_homes, user_name,
};
#[cfg(windows)]
pub use windows::{
    free_handles, host, is_out_of_handles, is_root, is_rotational, is_vanished, not_found,
    space_around, stop_others, terminal, threads_with_room, usage, user_home, user_homes,
    user_name,
};
