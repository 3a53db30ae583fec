//! Where listings come from: which source serves a root or a mount is decided at run time, and stands in its
//! [`Mount`].
//!
//! A source is a module of a system, with the same items as the others: its `Handle`, `stat` and `mount_of`. A system
//! lists its sources in `Source` and `Handle`, and has an arm for each in `by_source!` and `by_handle!`. A `match` avoids a
//! call through a pointer for each file.

use std::ffi::CStr;
use std::fs::{DirEntry, File, ReadDir};
use std::sync::{Mutex, PoisonError};
use std::{io, iter};

pub use super::system::{Handle, Source};

use super::system::{by_handle, by_source, known_below};
use super::{Listing, Mount, Query, Stat, Symlinks, is_vanished, too_large};
use crate::inode::Identity;
use crate::measure::Kind;

/// Declares a system's [`Handle`]: an open directory of any of these sources.
macro_rules! handles {
    ($($(#[$about:meta])* $source:ident($handle:ty),)*) => {
        /// An open directory, of any source.
        #[derive(Debug)]
        pub enum Handle {
            $($(#[$about])* $source($handle),)*
        }
        $(impl From<$handle> for Handle {
            fn from(handle: $handle) -> Self {
                Handle::$source(handle)
            }
        })*
    };
}
pub(super) use handles;

impl Source {
    /// The sources that can be chosen by name; native is the system's default.
    pub fn named() -> impl Iterator<Item = (&'static str, Self)> {
        iter::once(("native", Self::default())).chain(Self::OTHERS.iter().copied())
    }

    /// Opens the directory at `path`, a root, following symlinks.
    ///
    /// # Errors
    /// The system's.
    pub fn open(self, path: &CStr) -> io::Result<Handle> {
        by_source!(self, source => source::Handle::open(path).map(Handle::from))
    }

    /// Opens the directory at `path` without reading it, following symlinks. It need not be readable.
    ///
    /// # Errors
    /// The system's.
    pub fn look(self, path: &CStr) -> io::Result<Handle> {
        by_source!(self, source => source::Handle::look(path).map(Handle::from))
    }

    /// The attributes of what `path` names.
    ///
    /// # Errors
    /// The system's.
    pub fn stat(self, path: &CStr, symlinks: Symlinks, query: Query) -> io::Result<Stat> {
        by_source!(self, source => source::stat(path, symlinks, query))
    }

    /// The mount that `path` is on.
    ///
    /// # Errors
    /// The system's.
    pub fn mount_of(self, path: &CStr, symlinks: Symlinks) -> io::Result<Mount> {
        by_source!(self, source => source::mount_of(path, symlinks))
    }
}

impl Handle {
    /// Opens the directory called `name` in this one, by the same source.
    ///
    /// # Errors
    /// The system's.
    pub fn open_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<Self> {
        by_handle!(self, dir => dir.open_at(name, symlinks).map(Self::from))
    }

    /// Opens the directory called `name` in this one. Its attributes are `stat`.
    ///
    /// # Errors
    /// The system's.
    pub fn open_known_at(&self, name: &CStr, stat: &Stat, symlinks: Symlinks) -> io::Result<Self> {
        match known_below(self, name, stat, symlinks) {
            Some(below) => Ok(below),
            None => self.open_at(name, symlinks),
        }
    }

    /// Opens the parent directory without reading it; the uppermost directory is its own parent.
    ///
    /// # Errors
    /// The system's.
    pub fn up(&self) -> io::Result<Self> {
        by_handle!(self, dir => dir.up().map(Self::from))
    }

    /// The attributes of the entry called `name`. Called for each file: without the attribute, the compiler makes it a
    /// call, which takes 50 more instructions.
    ///
    /// # Errors
    /// The system's.
    #[inline(always)]
    pub fn stat_at(&self, name: &CStr, symlinks: Symlinks, query: Query) -> io::Result<Stat> {
        by_handle!(self, dir => dir.stat_at(name, symlinks, query))
    }

    /// The identity of this directory.
    ///
    /// # Errors
    /// The system's.
    pub fn identity(&self) -> io::Result<Identity> {
        by_handle!(self, dir => dir.identity())
    }

    /// The identity of this directory, and the mount through which it is reached.
    ///
    /// # Errors
    /// The system's.
    pub fn place(&self) -> io::Result<Identity> {
        by_handle!(self, dir => dir.place())
    }

    /// The mount at `name`, without entering or triggering it.
    ///
    /// # Errors
    /// The system's.
    pub fn mount_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<Mount> {
        by_handle!(self, dir => dir.mount_at(name, symlinks))
    }

    /// Opens the file at `path`, relative to this directory, for reading; none if there is no regular file.
    ///
    /// # Errors
    /// The system's, and if it has more than `most` bytes.
    pub fn open_file_at(
        &self,
        path: &CStr,
        symlinks: Symlinks,
        most: u64,
    ) -> io::Result<Option<File>> {
        let file = match self.stat_at(path, symlinks, Query::default()) {
            Ok(stat) if stat.mode.kind() != Kind::File => Ok(None),
            Ok(stat) if stat.length > most => Err(too_large(most)),
            Ok(_) => by_handle!(self, dir => dir.open_file_at(path, symlinks)).map(Some),
            Err(error) => Err(error),
        };
        file.or_else(|error| if is_vanished(&error) { Ok(None) } else { Err(error) })
    }

    /// Appends the names of about one system call, read through `buffer`, to `names`, without `.` and `..`; none at
    /// the end. Returns whether there may be more; false after an entry that leads to `end`.
    ///
    /// Each call continues where the last one ended, so that several threads can share a listing.
    ///
    /// # Errors
    /// The system's. Names read before the error have been appended.
    pub fn read(
        &self,
        buffer: &mut Vec<u8>,
        names: &mut Listing,
        end: Option<u64>,
    ) -> io::Result<bool> {
        by_handle!(self, dir => dir.read(buffer, names, end))
    }
}

/// Calls `look` on the next of `entries`, as std lists them: about as many as Linux returns in one call. A directory
/// that was opened without reading has none.
///
/// # Errors
/// The system's, and those of `look`.
pub(super) fn each_of_next(
    entries: Option<&Mutex<ReadDir>>,
    mut look: impl FnMut(DirEntry) -> io::Result<()>,
) -> io::Result<()> {
    const NAMES: usize = 2_000;
    let entries = entries.ok_or(io::ErrorKind::Unsupported)?;
    let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
    entries.by_ref().take(NAMES).try_for_each(|entry| entry.and_then(&mut look))
}
