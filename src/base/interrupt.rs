//! Ctrl-C, or a caller in another thread, ends a walk early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What can end a request early. All clones share the same flags: keep one, and give another to the request.
///
/// The flags guard no other data, so their own order is enough.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// Set it, and the walk ends soon, with what it has so far.
    pub is_asked: Arc<AtomicBool>,
    /// Whether nothing is to be shown or cleaned up now, so that a program may end at once. It is unset during a walk
    /// and while a snapshot is saved.
    pub ends_at_once: Arc<AtomicBool>,
}

impl Default for Interrupt {
    /// Before a walk.
    fn default() -> Self {
        Self::new(false)
    }
}

impl Interrupt {
    /// Whether a program may end at once. If a walk comes first, it may not yet.
    pub fn new(ends_at_once: bool) -> Self {
        let ends_at_once = Arc::new(AtomicBool::new(ends_at_once));
        Self { is_asked: Arc::default(), ends_at_once }
    }

    /// Runs `step`, which checks for an interrupt itself, and returns its result.
    pub(crate) fn put_off<T>(&self, step: impl FnOnce() -> T) -> T {
        self.hold();
        let done = step();
        self.ends_at_once.store(true, Ordering::SeqCst);
        done
    }

    /// Makes the first interrupt no longer end a program at once.
    pub(crate) fn hold(&self) {
        self.ends_at_once.store(false, Ordering::SeqCst);
        // In this order, one that comes meanwhile is not forgotten.
        if self.is_asked() {
            self.ends_at_once.store(true, Ordering::SeqCst);
        }
    }

    /// Whether it was asked for.
    pub fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::SeqCst)
    }
}
