//! What the process has used so far, for whoever wants to know what it waits for.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

/// What all threads of the process have used since it started (getrusage(2)).
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Time on a core, in the program and in the system.
    pub cpu: Duration,
    /// How often a thread gave up its core to wait for something.
    pub waits: u64,
    /// How often a thread's core was given to somebody else.
    pub preemptions: u64,
}

/// What the process has used until now; nothing where the system does not tell.
pub fn usage() -> Usage {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Usage::default() };
    let count = |switches| u64::try_from(switches).unwrap_or(0);
    Usage {
        cpu: duration(usage.user_time()) + duration(usage.system_time()),
        waits: count(usage.voluntary_context_switches()),
        preemptions: count(usage.involuntary_context_switches()),
    }
}

fn duration(time: TimeVal) -> Duration {
    // Its two parts are not of one type on every system: macOS has microseconds in 32 bits.
    Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0))
}
