//! Every other system: no directory is held. Without a move that never replaces, and a way to open a directory without
//! following symlinks, weigh could remove another file than the marked one.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::sys::ExactStat;

/// A held directory: there is none.
#[derive(Debug)]
pub enum HeldDirectory {}

/// Not used here.
pub fn user_id() -> u32 {
    0
}

/// Refuses: nothing is removed that could be logged.
///
/// # Errors
/// Always.
pub fn open_to_append(_: &Path) -> io::Result<File> {
    Err(io::Error::new(ErrorKind::Unsupported, "weigh deletes only on Linux"))
}

impl HeldDirectory {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &CStr) -> io::Result<Self> {
        Err(io::Error::new(ErrorKind::Unsupported, "weigh deletes only on Linux"))
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn descend<N: AsRef<CStr>>(&self, _: &[N]) -> io::Result<Self> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn up(&self) -> io::Result<Self> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn path(&self) -> io::Result<Vec<u8>> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn stat(&self) -> io::Result<ExactStat> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn stat_of(&self, _: &CStr) -> io::Result<ExactStat> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn make_directory(&self, _: &CStr) -> io::Result<()> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn move_to(&self, _: &CStr, _: &Self, _: &CStr) -> io::Result<()> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn remove(&self, _: &CStr, _: bool) -> io::Result<()> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn remove_link(&self, _: &CStr) -> io::Result<Option<ExactStat>> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn create(&self, _: &CStr, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn names(&self, _: usize) -> io::Result<Vec<CString>> {
        match *self {}
    }
}
