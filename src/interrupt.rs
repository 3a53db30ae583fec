//! Ctrl-C ends the program at once, except during a walk and while saving a snapshot. Those two end soon after it,
//! because there is something to show or to clean up. A second Ctrl-C ends them at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use crate::sys::signals::{outlive_size_limit, stop};

use crate::sys::signals;

/// The number of the signal for a terminal that is gone.
pub const HANGUP: u8 = 1;

/// Flags between the signal handler and the program. They guard no other data, so their own order is enough.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// The handler sets it after Ctrl-C.
    pub is_asked: Arc<AtomicBool>,
    /// Whether the handler ends the program. The handler sets it, too, so that a second Ctrl-C does.
    pub ends_at_once: Arc<AtomicBool>,
}

impl Default for Interrupt {
    /// Before a walk.
    fn default() -> Self {
        Self::new(false)
    }
}

impl Interrupt {
    /// Whether Ctrl-C ends the program at once. If a walk comes first, it does not yet.
    pub fn new(ends_at_once: bool) -> Self {
        let ends_at_once = Arc::new(AtomicBool::new(ends_at_once));
        Self { is_asked: Arc::default(), ends_at_once }
    }

    /// From now on, Ctrl-C sets it, and the program ends with `status`.
    ///
    /// # Errors
    /// The system's.
    pub fn listen(&self, status: u8) -> io::Result<()> {
        signals::listen(&self.is_asked, &self.ends_at_once, status)
    }

    /// Runs `step`, which checks for an interrupt itself, and returns its result.
    pub fn put_off<T>(&self, step: impl FnOnce() -> T) -> T {
        self.ends_at_once.store(self.is_asked(), Ordering::SeqCst);
        let done = step();
        self.ends_at_once.store(true, Ordering::SeqCst);
        done
    }

    /// Whether the user pressed Ctrl-C.
    pub fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::SeqCst)
    }
}

/// What signals tell a program that has the whole screen. It ends, or stops, once the screen is as it was.
#[derive(Clone, Debug, Default)]
pub struct ScreenSignals {
    /// The number of the one that ends it; 0 if none has come.
    pub ended: Arc<AtomicUsize>,
    /// Whether it is to stop until it is continued.
    pub is_stopped: Arc<AtomicBool>,
}

impl ScreenSignals {
    /// From now on, records the signals that concern the screen.
    ///
    /// # Errors
    /// The system's.
    pub fn listen(&self) -> io::Result<()> {
        signals::listen_for_screen(&self.ended, &self.is_stopped)
    }

    /// The number of the signal that ends the program, if one has come.
    pub fn ended_by(&self) -> Option<u8> {
        u8::try_from(self.ended.load(Ordering::SeqCst)).ok().filter(|signal| *signal > 0)
    }
}
