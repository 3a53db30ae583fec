//! What the process has used so far, for whoever wants to know what it waits for.

use std::time::Duration;

/// What all threads of the process have used since it started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Time on a core, in the program and in the system.
    pub cpu: Duration,
    /// How often a thread gave up its core to wait for something.
    pub waits: u64,
    /// How often a thread's core was given to somebody else.
    pub preemptions: u64,
}
