//! What a walk did with one number of threads. The walk measures it, and render shows it.

use std::time::Duration;

/// What was done in one gear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gear {
    /// The largest number of threads at work.
    pub threads: usize,
    /// The time it lasted.
    pub wall: Duration,
    /// CPU time of all threads of the process.
    pub cpu: Duration,
    /// Entries weighed.
    pub entries: u64,
    /// System calls made to list and examine them.
    pub calls: u64,
}
