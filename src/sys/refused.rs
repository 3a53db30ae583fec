//! What only Linux does; other systems refuse, or do nothing.
//!
//! No directory is held: without a move that never replaces, and a way to open a directory without following symlinks,
//! weigh could remove another file than the marked one. No file system is read from its device, and no file is asked
//! what it shares.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::base::inode::Identity;
use crate::sys::changes::{Event, FileId, Writer};
use crate::sys::{
    ExactStat, Handle, Holder, InUse, Mapped, Mount, Query, Space, Stat, UnlinkedFiles, Unseen,
};

/// A stand-in: no directory is read in bulk.
pub type BulkHandle = crate::sys::by_path::PathHandle<true>;

/// Does nothing: fsync(2) writes all of it at the end.
pub fn begin_sync(_: &File, _: &Range<u64>) {}

/// Methods of a type without values: nobody can call them.
macro_rules! never_called {
    ($($name:ident($($given:ty),*) -> $returned:ty;)*) => {
        $(#[allow(missing_docs)]
        pub fn $name(&self, $(_: $given),*) -> $returned {
            match *self {}
        })*
    };
}

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

    never_called! {
        is_of(&Stat, Mount) -> bool;
        bytes() -> u64;
        open(Handle) -> Handle;
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

    never_called! {
        bytes() -> u64;
        run(&AtomicBool, &AtomicU64) -> ();
    }
}

/// Asks nothing.
pub fn map_extents(
    _: Option<&Handle>,
    _: &CStr,
    _: &Stat,
    _: impl FnMut(Range<u64>),
) -> io::Result<Mapped> {
    Err(ErrorKind::Unsupported.into())
}

/// No process is asked.
pub fn unlinked_files(_: &[Identity], _: &AtomicBool) -> io::Result<UnlinkedFiles> {
    Err(ErrorKind::Unsupported.into())
}

/// Never exists: nobody says what changes.
#[derive(Debug)]
pub enum Events {}

impl Events {
    /// Refuses.
    pub fn of(_: &CStr, _: u64) -> io::Result<Self> {
        Err(ErrorKind::Unsupported.into())
    }

    /// There are none.
    pub fn read(&mut self, _: &mut Vec<Event>, _: usize) -> io::Result<()> {
        match *self {}
    }
}

/// No events name it.
pub fn file_id(_: &CStr) -> io::Result<FileId> {
    Err(ErrorKind::Unsupported.into())
}

/// No process is asked.
pub fn writer(pid: u32) -> Writer {
    Writer { process: Holder { pid, command: Vec::new() }, ..Writer::default() }
}

/// No process is asked.
pub fn open_for_writing() -> io::Result<HashMap<Identity, u32>> {
    Err(ErrorKind::Unsupported.into())
}

/// No process is asked.
pub fn in_use() -> io::Result<InUse> {
    Err(ErrorKind::Unsupported.into())
}

/// Mounts are not listed. A file that has the name of Linux's list is anybody's.
pub fn mount_list() -> io::Result<Vec<u8>> {
    Err(ErrorKind::Unsupported.into())
}

/// Nothing is known of mounts.
pub fn clone_mount(_: &CStr) -> io::Result<((), Vec<u8>)> {
    Err(ErrorKind::Unsupported.into())
}

/// Nothing is known of file systems.
pub fn own_space(_: &CStr, _: u64) -> io::Result<Option<(Vec<Unseen>, u64)>> {
    Err(ErrorKind::Unsupported.into())
}

/// Nothing is known of it.
pub fn for_root(_: &CStr, _: &Space) -> u64 {
    0
}

/// Only a driver of Linux counts such a name as a link.
pub fn has_dos_name(_: &Handle, _: &CStr) -> bool {
    false
}

/// A held directory: there is none.
#[derive(Debug)]
pub enum HeldDirectory {}

/// Refuses: nothing is removed that could be logged.
pub fn open_to_append(_: &Path) -> io::Result<File> {
    Err(io::Error::new(ErrorKind::Unsupported, "weigh deletes only on Linux"))
}

/// Refuses.
pub fn make_private_directory(_: &Path) -> io::Result<()> {
    Err(io::Error::new(ErrorKind::Unsupported, "weigh remembers only on Linux"))
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

    never_called! {
        up() -> io::Result<Self>;
        path() -> io::Result<Vec<u8>>;
        stat() -> io::Result<ExactStat>;
        is_local() -> bool;
        stat_of(&CStr) -> io::Result<ExactStat>;
        make_directory(&CStr) -> io::Result<()>;
        move_to(&CStr, &Self, &CStr) -> io::Result<()>;
        rename(&CStr, &Self, &CStr, bool) -> io::Result<()>;
        link(&CStr, &Self, &CStr) -> io::Result<()>;
        remove(&CStr, bool) -> io::Result<()>;
        remove_link(&CStr) -> io::Result<Option<ExactStat>>;
        create(&CStr, &[u8]) -> io::Result<()>;
        waits_for_nfs() -> bool;
        to_list() -> io::Result<Handle>;
        names(usize) -> io::Result<Vec<CString>>;
    }
}

/// Windows has no such limit; elsewhere, std cannot tell.
pub fn threads_with_room() -> usize {
    usize::MAX
}
