//! What the process has used so far, to show what it waits for.

use std::time::Duration;

/// What a thread, or all of the process, has used since it started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// CPU time, in the program and in the kernel.
    pub cpu: Duration,
    /// How often a thread gave up its core to wait.
    pub waits: u64,
    /// How often a thread lost its core to another.
    pub preemptions: u64,
    /// How many blocks were read from storage for it, because they were not cached.
    pub reads: u64,
}
