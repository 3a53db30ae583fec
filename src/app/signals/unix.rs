//! Signals.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::{SigId, flag, low_level};
use weigh::internal::base::interrupt::Interrupt;

use super::TerminalSignals;

/// What has a second Ctrl-C end the program at once.
pub type SecondCtrlC = SigId;

/// From now on, Ctrl-C ends the program with `status` if `ends_at_once` is set, and sets both flags.
///
/// # Errors
/// The system's.
pub fn listen(interrupt: &Interrupt, status: u8) -> io::Result<SecondCtrlC> {
    let Interrupt { is_asked, ends_at_once } = interrupt;
    // In the order in which the handler runs them.
    flag::register_conditional_shutdown(SIGINT, status.into(), Arc::clone(ends_at_once))?;
    flag::register(SIGINT, Arc::clone(is_asked))?;
    flag::register(SIGINT, Arc::clone(ends_at_once))
}

/// From now on, writing past RLIMIT_FSIZE fails with EFBIG and does not end the process.
///
/// # Errors
/// The system's.
pub fn outlive_size_limit() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// From now on, a signal that ends the program puts its number into `ended`, Ctrl-Z sets `is_stopped`, and fg sets
/// `is_continued`.
///
/// # Errors
/// The system's.
pub fn listen_for_screen(signals: &TerminalSignals) -> io::Result<()> {
    flag::register_usize(SIGQUIT, Arc::clone(&signals.ended), SIGQUIT as usize)?;
    flag::register(SIGCONT, Arc::clone(&signals.is_continued))?;
    // The log of what is deleted must not end the program.
    outlive_size_limit()?;
    record(signals)
}

/// From now on, these only record that they came, Ctrl-C also when it comes a `second` time. SIGQUIT still ends the
/// program.
///
/// # Errors
/// The system's.
pub fn listen_for_lines(
    signals: &TerminalSignals,
    interrupt: &Interrupt,
    second: Option<SecondCtrlC>,
) -> io::Result<()> {
    record(signals)?;
    second.map(low_level::unregister);
    interrupt.ends_at_once.store(false, Ordering::SeqCst);
    Ok(())
}

fn record(signals: &TerminalSignals) -> io::Result<()> {
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        flag::register_usize(signal, Arc::clone(&signals.ended), signal as usize)?;
    }
    flag::register(SIGTSTP, Arc::clone(&signals.is_stopped)).map(drop)
}

/// Stops the process until it is continued.
///
/// # Errors
/// The system's.
pub fn stop() -> io::Result<()> {
    low_level::emulate_default_handler(SIGTSTP)
}
