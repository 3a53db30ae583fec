//! The console calls a handler, in a thread of its own.

use std::io;
use std::process;
use std::sync::atomic::Ordering;

use weigh::internal::base::interrupt::Interrupt;

use super::TerminalSignals;

/// The handler tells by itself whether it is the second.
pub type SecondCtrlC = ();

/// From now on, Ctrl-C ends the program with `status` if `ends_at_once` is set, and sets both flags.
///
/// # Errors
/// The system's.
pub fn listen(interrupt: &Interrupt, status: u8) -> io::Result<()> {
    let Interrupt { is_asked, ends_at_once } = interrupt.clone();
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
/// None.
pub fn outlive_size_limit() -> io::Result<()> {
    Ok(())
}

/// The console ends the program by itself.
///
/// # Errors
/// None.
pub fn listen_for_screen(_: &TerminalSignals) -> io::Result<()> {
    Ok(())
}

/// The console ends the program by itself.
///
/// # Errors
/// None.
pub fn listen_for_lines(
    _: &TerminalSignals,
    _: &Interrupt,
    _: Option<SecondCtrlC>,
) -> io::Result<()> {
    Ok(())
}

/// Windows has no job control.
///
/// # Errors
/// None.
pub fn stop() -> io::Result<()> {
    Ok(())
}
