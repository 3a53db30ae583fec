//! Unix: signals.

use std::io;
use std::sync::Arc;

use signal_hook::consts::{SIGINT, SIGXFSZ};
use signal_hook::flag;

use super::Interrupt;

/// From now on Ctrl-C is what `interrupt` says, and ends the program with `status`.
///
/// # Errors
/// The system's.
pub fn listen(interrupt: &Interrupt, status: u8) -> io::Result<()> {
    let Interrupt { is_asked, ends_at_once } = interrupt;
    // In the order in which the handler does it.
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
