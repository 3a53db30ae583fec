//! Ctrl-C ends the program at once, except during a walk, while saving a snapshot, and while lines go to a terminal.
//! These end soon after it, because there is something to show or to clean up. A second Ctrl-C ends the first two at
//! once.

// Some of it only the screen uses.
#![cfg_attr(not(feature = "tui"), allow(dead_code, unused_imports))]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{
    SecondCtrlC, listen, listen_for_lines, listen_for_screen, outlive_size_limit, stop,
};

/// The exit status of what a signal ended, less its number, as in shells: 129 if the terminal hung up.
pub const SIGNALLED: u8 = 128;
/// The number of the signal for a terminal that is gone.
pub const HANGUP: u8 = 1;

/// What signals tell a program that draws on the terminal. It ends, or stops, once the terminal is as it was.
#[derive(Clone, Debug, Default)]
pub struct TerminalSignals {
    /// The number of the one that ends it; 0 if none has come.
    pub ended: Arc<AtomicUsize>,
    /// Whether it is to stop until it is continued.
    pub is_stopped: Arc<AtomicBool>,
    /// Whether it was stopped, also by a signal that it cannot see, and others used the terminal meanwhile.
    pub is_continued: Arc<AtomicBool>,
}

impl TerminalSignals {
    /// The number of the signal that ends the program, if one has come.
    pub fn ended_by(&self) -> Option<u8> {
        u8::try_from(self.ended.load(Ordering::SeqCst)).ok().filter(|signal| *signal > 0)
    }
}

/// How long a terminal that takes nothing keeps a signal from ending the program.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// From now on, a signal that ends the program does so within twice [`PATIENCE`]: a terminal that takes nothing keeps a
/// write from ending. If no thread can be started, it keeps the program from ending, too.
pub fn end_soon(signals: &TerminalSignals) {
    let signals = signals.clone();
    let _ = thread::Builder::new().spawn(move || {
        loop {
            let ended = signals.ended_by();
            thread::sleep(PATIENCE);
            if let Some(signal) = ended {
                process::exit(i32::from(SIGNALLED + signal));
            }
        }
    });
}
