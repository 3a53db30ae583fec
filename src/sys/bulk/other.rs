//! On other systems than Linux, no file system is read in bulk.

use std::ffi::CStr;
use std::io;
use std::sync::atomic::AtomicBool;

use crate::sys::{Handle, Mount, Query, Stat};

/// Never exists.
#[derive(Clone, Debug)]
pub enum Bulk {}

impl Bulk {
    /// Reads nothing.
    ///
    /// # Errors
    /// Always, with the reason.
    pub fn read(
        _: &CStr,
        _: &Stat,
        _: Mount,
        _: Query,
        _: usize,
        _: &AtomicBool,
    ) -> io::Result<Self> {
        Err(io::Error::other("that works on Linux only"))
    }

    /// Whether the root is that file system.
    pub fn is_of(&self, _: &Stat, _: Mount) -> bool {
        match *self {}
    }

    /// How many bytes of inodes were read.
    pub fn bytes(&self) -> u64 {
        match *self {}
    }

    /// Its root directory.
    pub fn open(&self, _: Handle) -> Handle {
        match *self {}
    }
}
