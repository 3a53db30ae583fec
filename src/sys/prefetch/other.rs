//! On other systems than Linux, nothing is prefetched.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::sys::{Mount, Stat};

/// Never exists.
#[derive(Debug)]
pub enum Prefetch {}

impl Prefetch {
    /// There is nothing to prefetch.
    pub fn of(_: &CStr, _: &Stat, _: Mount, _: usize) -> Option<Self> {
        None
    }

    /// How much is to be read, in bytes.
    pub fn bytes(&self) -> u64 {
        match *self {}
    }

    /// Reads it.
    pub fn run(&self, _: &AtomicBool, _: &AtomicU64) {
        match *self {}
    }
}
