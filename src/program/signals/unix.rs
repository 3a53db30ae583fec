//! Signals.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::{SigId, flag, low_level};
use weigh::internal::interrupt::Interrupt;

use super::ScreenSignals;

/// What has a second Ctrl-C end the program at once.
static SECOND: OnceLock<SigId> = OnceLock::new();

/// From now on, Ctrl-C ends the program with `status` if `ends_at_once` is set, and sets both flags.
///
/// # Errors
/// The system's.
pub fn listen(interrupt: &Interrupt, status: u8) -> io::Result<()> {
    let Interrupt { is_asked, ends_at_once } = interrupt;
    // In the order in which the handler runs them.
    flag::register_conditional_shutdown(SIGINT, status.into(), Arc::clone(ends_at_once))?;
    flag::register(SIGINT, Arc::clone(is_asked))?;
    let second = flag::register(SIGINT, Arc::clone(ends_at_once))?;
    SECOND.get_or_init(|| second);
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
pub fn listen_for_screen(signals: &ScreenSignals) -> io::Result<()> {
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        flag::register_usize(signal, Arc::clone(&signals.ended), signal as usize)?;
    }
    flag::register(SIGTSTP, Arc::clone(&signals.is_stopped))?;
    Ok(())
}

/// From now on, these only record that they came, Ctrl-C as often as it is typed. SIGQUIT still ends the program.
///
/// # Errors
/// The system's.
pub fn listen_for_lines(signals: &ScreenSignals, interrupt: &Interrupt) -> io::Result<()> {
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        flag::register_usize(signal, Arc::clone(&signals.ended), signal as usize)?;
    }
    flag::register(SIGTSTP, Arc::clone(&signals.is_stopped))?;
    SECOND.get().map(|second| low_level::unregister(*second));
    interrupt.ends_at_once.store(false, Ordering::SeqCst);
    Ok(())
}

/// Stops the process until it is continued.
///
/// # Errors
/// The system's.
pub fn stop() -> io::Result<()> {
    low_level::emulate_default_handler(SIGTSTP)
}
