//! Signals.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::{flag, low_level};

/// From now on, Ctrl-C ends the program with `status` if `ends_at_once` is set, and sets both.
pub fn listen(
    is_asked: &Arc<AtomicBool>,
    ends_at_once: &Arc<AtomicBool>,
    status: u8,
) -> io::Result<()> {
    // In the order in which the handler runs them.
    flag::register_conditional_shutdown(SIGINT, status.into(), Arc::clone(ends_at_once))?;
    flag::register(SIGINT, Arc::clone(is_asked))?;
    flag::register(SIGINT, Arc::clone(ends_at_once))?;
    Ok(())
}

/// From now on, writing past RLIMIT_FSIZE fails with EFBIG and does not end the process.
///
/// # Errors
/// The system's.
pub fn outlive_size_limit() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// From now on, a signal that ends the program puts its number into `ended`, and Ctrl-Z sets `is_stopped`.
pub fn listen_for_screen(ended: &Arc<AtomicUsize>, is_stopped: &Arc<AtomicBool>) -> io::Result<()> {
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        flag::register_usize(signal, Arc::clone(ended), signal as usize)?;
    }
    flag::register(SIGTSTP, Arc::clone(is_stopped))?;
    Ok(())
}

/// Stops the process until it is continued.
///
/// # Errors
/// The system's.
pub fn stop() -> io::Result<()> {
    low_level::emulate_default_handler(SIGTSTP)
}
