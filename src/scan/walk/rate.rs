//! How many entries a second are examined at most (`--rate`), so that a busy server has time for others.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::lock;

/// Threads sleep longer than they asked. At most so much of that is made up for, so that entries do not come all at once.
const MOST_DEBT: Duration = Duration::from_millis(100);
/// Shorter waits are put together, because each sleep takes some 60 µs more than it was asked for.
const SHORTEST: Duration = Duration::from_millis(2);
/// How often a waiting thread looks whether the walk was interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// One limit for all workers of a walk.
#[derive(Debug)]
pub(super) struct RateLimit {
    /// From one entry to the next.
    period: Duration,
    /// Guards the time of the next entry; locked once for each.
    next: Mutex<Instant>,
}

impl RateLimit {
    /// At most so many entries `a_second`.
    pub(super) fn new(a_second: NonZeroU32) -> Self {
        Self { period: Duration::from_secs(1) / a_second.get(), next: Mutex::new(Instant::now()) }
    }

    /// Waits for the turn of one entry, or until `interrupt` is set.
    pub(super) fn wait(&self, interrupt: &AtomicBool) {
        let now = Instant::now();
        let turn = {
            let mut next = lock(&self.next);
            let turn = now.checked_sub(MOST_DEBT).map_or(*next, |earliest| earliest.max(*next));
            *next = turn + self.period;
            turn
        };
        if turn.saturating_duration_since(now) < SHORTEST {
            return;
        }
        while let Some(left) = turn.checked_duration_since(Instant::now())
            && !interrupt.load(Ordering::Relaxed)
        {
            thread::sleep(left.min(LOOK));
        }
    }
}
