//! The console calls a handler, in a thread of its own.

use std::io;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// From now on, Ctrl-C ends the program with `status` if `ends_at_once` is set, and sets both.
pub fn listen(
    is_asked: &Arc<AtomicBool>,
    ends_at_once: &Arc<AtomicBool>,
    status: u8,
) -> io::Result<()> {
    let (is_asked, ends_at_once) = (Arc::clone(is_asked), Arc::clone(ends_at_once));
    ctrlc::set_handler(move || {
        if ends_at_once.load(Ordering::SeqCst) {
            process::exit(status.into());
        }
        is_asked.store(true, Ordering::SeqCst);
        ends_at_once.store(true, Ordering::SeqCst);
    })
    .map_err(io::Error::other)
}

/// On Windows, a failed write does not end the process.
///
/// # Errors
/// The system's.
pub fn outlive_size_limit() -> io::Result<()> {
    Ok(())
}

/// The console ends the program by itself.
pub fn listen_for_screen(_: &Arc<AtomicUsize>, _: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}

/// Windows has no job control.
///
/// # Errors
/// The system's.
pub fn stop() -> io::Result<()> {
    Ok(())
}
