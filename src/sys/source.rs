//! Where listings come from: which source serves a root or a mount is decided at run time, and stands in its
//! [`Mount`].
//!
//! Every system has two, but only on Linux and Windows does the native one differ from the portable one. The open
//! directories of both have `open`, `look`, `stat` and `mount_of` for paths. All have what [`Handle`] has, also those
//! of a file system that is read in bulk.

use std::ffi::CStr;
use std::fs::File;
use std::{io, iter};

use super::by_path::PathHandle;
use super::system::{BulkHandle, NativeHandle};
use super::{Listing, Mount, Query, Stat, Symlinks, too_large, unless_vanished};
use crate::base::inode::Identity;
use crate::base::measure::Kind;

/// What lists directories and stats entries; by default, the best for the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The system's own.
    #[default]
    Native,
    /// `std::fs`, by paths. Every file is asked for what no listing has.
    Portable,
}

/// An open directory, of any source. A `match` avoids a call through a pointer for each file.
#[derive(Debug)]
pub enum Handle {
    /// Of [`Source::Native`].
    Native(NativeHandle),
    /// Of [`Source::Portable`].
    Portable(PathHandle<true>),
    /// Of [`Source::Native`], in a file system that is read in bulk.
    Bulk(BulkHandle),
}

impl From<PathHandle<true>> for Handle {
    fn from(handle: PathHandle<true>) -> Self {
        Handle::Portable(handle)
    }
}

/// Evaluates `$asked`, where `$dir` is the open directory in `$handle`.
macro_rules! by_handle {
    ($handle:expr, $dir:ident => $asked:expr) => {
        match $handle {
            Handle::Native($dir) => $asked,
            Handle::Portable($dir) => $asked,
            Handle::Bulk($dir) => $asked,
        }
    };
}

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
        match self {
            Source::Native => NativeHandle::open(path).map(Handle::from),
            Source::Portable => PathHandle::open(path).map(Handle::Portable),
        }
    }

    /// Opens the directory at `path` without reading it, following symlinks. It need not be readable.
    ///
    /// # Errors
    /// The system's.
    pub fn look(self, path: &CStr) -> io::Result<Handle> {
        match self {
            Source::Native => NativeHandle::look(path).map(Handle::from),
            Source::Portable => PathHandle::look(path).map(Handle::Portable),
        }
    }

    /// The attributes of what `path` names.
    ///
    /// # Errors
    /// The system's.
    pub fn stat(self, path: &CStr, symlinks: Symlinks, query: Query) -> io::Result<Stat> {
        match self {
            Source::Native => NativeHandle::stat(path, symlinks, query),
            Source::Portable => PathHandle::<true>::stat(path, symlinks, query),
        }
    }

    /// The mount that `path` is on.
    ///
    /// # Errors
    /// The system's.
    pub fn mount_of(self, path: &CStr, symlinks: Symlinks) -> io::Result<Mount> {
        match self {
            Source::Native => NativeHandle::mount_of(path, symlinks),
            Source::Portable => PathHandle::<true>::mount_of(path, symlinks),
        }
    }
}

impl Handle {
    /// Opens the directory called `name` in this one, by the same source.
    ///
    /// # Errors
    /// The system's.
    #[allow(clippy::useless_conversion, reason = "a handle of some sources opens several kinds")]
    pub fn open_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<Self> {
        by_handle!(self, dir => dir.open_at(name, None, symlinks).map(Self::from))
    }

    /// Opens the directory called `name` in this one. Its attributes are `stat`.
    ///
    /// # Errors
    /// The system's.
    #[allow(clippy::useless_conversion, reason = "a handle of some sources opens several kinds")]
    pub fn open_known_at(&self, name: &CStr, stat: &Stat, symlinks: Symlinks) -> io::Result<Self> {
        by_handle!(self, dir => dir.open_at(name, Some(stat), symlinks).map(Self::from))
    }

    /// The system's number of it. When it was opened, the numbers below it were taken. None if nobody knows.
    #[inline]
    pub fn number(&self) -> Option<usize> {
        by_handle!(self, dir => dir.number())
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
        Ok(self.mounted_identity()?.on_any_mount())
    }

    /// The identity of this directory, and the mount through which it is reached.
    ///
    /// # Errors
    /// The system's.
    pub fn mounted_identity(&self) -> io::Result<Identity> {
        by_handle!(self, dir => dir.mounted_identity())
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
        Ok(unless_vanished(file)?.flatten())
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
