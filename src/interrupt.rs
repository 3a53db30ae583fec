//! Ctrl-C ends the program at once, but for two steps that end by themselves soon after it, because there
//! is something to be shown or cleared up: a walk, and saving a snapshot. In those a second one ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{listen, listen_for_screen, outlive_size_limit, stop};
#[cfg(windows)]
pub use windows::{listen, listen_for_screen, outlive_size_limit, stop};

/// What the signal's handler and the program tell each other. Nothing else is handed over by these, so
/// their order among themselves is enough.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// Set by the handler: somebody pressed Ctrl-C.
    pub is_asked: Arc<AtomicBool>,
    /// Whether the handler ends the program. It sets this too, so that the second one does.
    pub ends_at_once: Arc<AtomicBool>,
}

impl Default for Interrupt {
    /// Where a walk is what comes first.
    fn default() -> Self {
        Self::new(false)
    }
}

impl Interrupt {
    /// `ends_at_once`, or, where a walk is what comes first, not yet.
    pub fn new(ends_at_once: bool) -> Self {
        let ends_at_once = Arc::new(AtomicBool::new(ends_at_once));
        Self { is_asked: Arc::default(), ends_at_once }
    }

    /// What `step` comes to, which looks whether somebody asked for its end.
    pub fn put_off<T>(&self, step: impl FnOnce() -> T) -> T {
        self.ends_at_once.store(self.is_asked(), Ordering::SeqCst);
        let done = step();
        self.ends_at_once.store(true, Ordering::SeqCst);
        done
    }

    /// Whether somebody asked for the end.
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
