//! What only Linux does; other systems refuse.
//!
//! No directory is held: without a move that never replaces, and a way to open a directory without following symlinks,
//! weigh could remove another file than the marked one. No file system is read from its device, and no file is asked
//! what it shares.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::sys::{ExactStat, Handle, Mapped, Mount, Query, Stat};

/// Never exists.
#[derive(Clone, Debug)]
pub enum Bulk {}

impl Bulk {
    /// Reads nothing.
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

/// Asks nothing.
pub fn map_extents(
    _: Option<&Handle>,
    _: &CStr,
    _: &Stat,
    _: impl FnMut(Range<u64>),
) -> io::Result<Mapped> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A held directory: there is none.
#[derive(Debug)]
pub enum HeldDirectory {}

/// Refuses: nothing is removed that could be logged.
pub fn open_to_append(_: &Path) -> io::Result<File> {
    Err(io::Error::new(ErrorKind::Unsupported, "weigh deletes only on Linux"))
}

impl HeldDirectory {
    /// Refuses.
    pub fn open(_: &CStr) -> io::Result<Self> {
        Err(io::Error::new(ErrorKind::Unsupported, "weigh deletes only on Linux"))
    }

    /// There is none.
    pub fn descend<N: AsRef<CStr>>(&self, _: &[N]) -> io::Result<Self> {
        match *self {}
    }

    /// There is none.
    pub fn up(&self) -> io::Result<Self> {
        match *self {}
    }

    /// There is none.
    pub fn path(&self) -> io::Result<Vec<u8>> {
        match *self {}
    }

    /// There is none.
    pub fn stat(&self) -> io::Result<ExactStat> {
        match *self {}
    }

    /// There is none.
    pub fn stat_of(&self, _: &CStr) -> io::Result<ExactStat> {
        match *self {}
    }

    /// There is none.
    pub fn make_directory(&self, _: &CStr) -> io::Result<()> {
        match *self {}
    }

    /// There is none.
    pub fn move_to(&self, _: &CStr, _: &Self, _: &CStr) -> io::Result<()> {
        match *self {}
    }

    /// There is none.
    pub fn remove(&self, _: &CStr, _: bool) -> io::Result<()> {
        match *self {}
    }

    /// There is none.
    pub fn remove_link(&self, _: &CStr) -> io::Result<Option<ExactStat>> {
        match *self {}
    }

    /// There is none.
    pub fn create(&self, _: &CStr, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    /// There is none.
    pub fn names(&self, _: usize) -> io::Result<Vec<CString>> {
        match *self {}
    }
}
