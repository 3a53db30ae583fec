//! What a walk did with one number of threads, as a value. The walk adds it up; render shows it.

use std::time::Duration;

/// How a walk went.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// What was done with each number of threads, in the order of their first use; nothing where no thread could
    /// be started.
    pub gears: Vec<Gear>,
    /// The roots that were walked, and were to be read in bulk.
    pub not_in_bulk: Vec<NotInBulk>,
}

/// A root that was walked, and was to be read in bulk.
#[derive(Clone, Debug)]
pub struct NotInBulk {
    /// The root, as given.
    pub root: Vec<u8>,
    /// Why, in one line.
    pub reason: String,
}

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
    /// Bytes of inodes read in bulk, before the walk, if that is what was done.
    pub bulk: u64,
}

impl Gear {
    /// Whether it was walked then.
    pub fn is_walk(&self) -> bool {
        self.ahead == 0 && self.bulk == 0
    }
}
