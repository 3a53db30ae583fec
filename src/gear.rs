//! What a walk did with one number of threads, as a value. The walk adds it up; render shows it.

use std::time::Duration;

/// What was done in one gear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gear {
    /// How many threads were at work at most.
    pub threads: usize,
    /// For how long.
    pub wall: Duration,
    /// Time on a core, of all threads of the process.
    pub cpu: Duration,
    /// Entries weighed.
    pub entries: u64,
    /// System calls made to list and to state them.
    pub calls: u64,
    /// Bytes read ahead of the walk, if that is what was done.
    pub ahead: u64,
}
