//! Nobody has read another system's file systems as yet.

use std::ffi::CStr;
use std::io;
use std::sync::atomic::AtomicBool;

use crate::sys::{Handle, Mount, Query, Stat};

/// There is none.
#[derive(Clone, Debug)]
pub enum Bulk {}

impl Bulk {
    /// None.
    ///
    /// # Errors
    /// Always.
    pub fn read(
        _: &CStr,
        _: &Stat,
        _: Mount,
        _: Query,
        _: usize,
        _: &AtomicBool,
    ) -> io::Result<Self> {
        Err(io::Error::other("only Linux can do that"))
    }

    /// Of nothing.
    pub fn is_of(&self, _: &Stat, _: Mount) -> bool {
        match *self {}
    }

    /// Nothing.
    pub fn bytes(&self) -> u64 {
        match *self {}
    }

    /// Nothing.
    pub fn open(&self, _: Handle) -> Handle {
        match *self {}
    }
}
