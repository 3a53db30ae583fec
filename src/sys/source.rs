//! Where listings come from: which source serves a root or a mount is decided at run time, and stands in its
//! [`Mount`].
//!
//! A source is a file here with the same items as the others: its `Handle`, `stat` and `mount_of`. A new one gets
//! a variant and an arm in each of what follows. All of it is a `match`, so that the way of a file has no call
//! through a pointer.

use std::ffi::CStr;
use std::fs::{DirEntry, File, ReadDir};
use std::io;
use std::sync::{Mutex, PoisonError};

use super::{
    Identity, Listing, Mount, MountedIdentity, Query, Stat, Symlinks, is_vanished, too_large,
};
use crate::measure::Kind;

#[cfg(target_os = "linux")]
pub(super) mod bulk;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod portable;
#[cfg(windows)]
mod windows;

/// What lists directories and stats entries; by default, what is best for the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Linux' own calls, relative to an open directory.
    #[cfg(target_os = "linux")]
    #[default]
    Linux,
    /// `std::fs` alone, by paths; on any Unix.
    #[cfg(unix)]
    #[cfg_attr(not(target_os = "linux"), default)]
    Portable,
    /// What Windows' listings tell, of files; links, and what is allocated, are asked of directories alone.
    #[cfg(windows)]
    #[default]
    Listing,
    /// Windows, asked of every file what no listing tells.
    #[cfg(windows)]
    Exact,
}

/// What can be asked for besides the system's best.
#[cfg(unix)]
const OTHER: (&str, Source) = ("portable", Source::Portable);
#[cfg(windows)]
const OTHER: (&str, Source) = ("exact", Source::Exact);

/// An open directory, of any source.
#[derive(Debug)]
pub enum Handle {
    /// Of [`Source::Linux`].
    #[cfg(target_os = "linux")]
    Linux(linux::Handle),
    /// Of the same, in a file system that is read in bulk.
    #[cfg(target_os = "linux")]
    Bulk(bulk::Handle),
    /// Of [`Source::Portable`].
    #[cfg(unix)]
    Portable(portable::Handle),
    /// Of [`Source::Listing`].
    #[cfg(windows)]
    Listing(windows::listing::Handle),
    /// Of [`Source::Exact`].
    #[cfg(windows)]
    Exact(windows::exact::Handle),
}

/// `$asked`, where `$module` is the one of the source `$source`.
macro_rules! by_source {
    ($source:expr, $module:ident => $asked:expr) => {
        match $source {
            #[cfg(target_os = "linux")]
            Source::Linux => {
                use self::linux as $module;
                $asked
            }
            #[cfg(unix)]
            Source::Portable => {
                use self::portable as $module;
                $asked
            }
            #[cfg(windows)]
            Source::Listing => {
                use self::windows::listing as $module;
                $asked
            }
            #[cfg(windows)]
            Source::Exact => {
                use self::windows::exact as $module;
                $asked
            }
        }
    };
}

/// `$asked`, where `$dir` is what the handle `$handle` is to its source.
macro_rules! by_handle {
    ($handle:expr, $dir:ident => $asked:expr) => {
        match $handle {
            #[cfg(target_os = "linux")]
            Handle::Linux($dir) => $asked,
            #[cfg(target_os = "linux")]
            Handle::Bulk($dir) => $asked,
            #[cfg(unix)]
            Handle::Portable($dir) => $asked,
            #[cfg(windows)]
            Handle::Listing($dir) => $asked,
            #[cfg(windows)]
            Handle::Exact($dir) => $asked,
        }
    };
}

#[cfg(target_os = "linux")]
impl From<linux::Handle> for Handle {
    fn from(handle: linux::Handle) -> Self {
        Handle::Linux(handle)
    }
}

#[cfg(target_os = "linux")]
impl From<bulk::Handle> for Handle {
    fn from(handle: bulk::Handle) -> Self {
        Handle::Bulk(handle)
    }
}

#[cfg(unix)]
impl From<portable::Handle> for Handle {
    fn from(handle: portable::Handle) -> Self {
        Handle::Portable(handle)
    }
}

#[cfg(windows)]
impl From<windows::listing::Handle> for Handle {
    fn from(handle: windows::listing::Handle) -> Self {
        Handle::Listing(handle)
    }
}

#[cfg(windows)]
impl From<windows::exact::Handle> for Handle {
    fn from(handle: windows::exact::Handle) -> Self {
        Handle::Exact(handle)
    }
}

impl Source {
    /// What they are called where one is asked for; native is what is best for the system.
    pub const NAMES: [&str; 2] = ["native", OTHER.0];

    /// The one that is called `name`.
    pub fn named(name: &str) -> Option<Self> {
        let named = [("native", Self::default()), OTHER];
        named.into_iter().find(|(known, _)| *known == name).map(|(_, source)| source)
    }

    /// Opens the directory at `path`, a root, following symlinks.
    ///
    /// # Errors
    /// The system's.
    pub fn open(self, path: &CStr) -> io::Result<Handle> {
        by_source!(self, source => source::Handle::open(path).map(Handle::from))
    }

    /// Looks at the directory at `path`, following symlinks: it cannot be read, and need not be readable.
    ///
    /// # Errors
    /// The system's.
    pub fn look(self, path: &CStr) -> io::Result<Handle> {
        by_source!(self, source => source::Handle::look(path).map(Handle::from))
    }

    /// What `path` names.
    ///
    /// # Errors
    /// The system's.
    pub fn stat(self, path: &CStr, symlinks: Symlinks, query: Query) -> io::Result<Stat> {
        by_source!(self, source => source::stat(path, symlinks, query))
    }

    /// What `path` lies on.
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

    /// Opens the directory called `name` in this one, of which is known what it is.
    ///
    /// # Errors
    /// The system's.
    #[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
    pub fn open_known_at(&self, name: &CStr, stat: &Stat, symlinks: Symlinks) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Handle::Bulk(dir) = self
            && let Some(below) = dir.below(name, stat, symlinks)
        {
            return Ok(below.into());
        }
        self.open_at(name, symlinks)
    }

    /// Looks at the directory that this one lies in; one that lies in none is its own.
    ///
    /// # Errors
    /// The system's.
    pub fn up(&self) -> io::Result<Self> {
        by_handle!(self, dir => dir.up().map(Self::from))
    }

    /// What the entry called `name` is. On the way of a file: left to itself, the compiler makes it a call, of 50
    /// instructions more.
    ///
    /// # Errors
    /// The system's.
    #[inline(always)]
    pub fn stat_at(&self, name: &CStr, symlinks: Symlinks, query: Query) -> io::Result<Stat> {
        by_handle!(self, dir => dir.stat_at(name, symlinks, query))
    }

    /// Which directory is open here.
    ///
    /// # Errors
    /// The system's.
    pub fn identity(&self) -> io::Result<Identity> {
        by_handle!(self, dir => dir.identity())
    }

    /// Which directory is open here, and through which mount.
    ///
    /// # Errors
    /// The system's.
    pub fn place(&self) -> io::Result<MountedIdentity> {
        by_handle!(self, dir => dir.place())
    }

    /// What is mounted at `name`, told without entering or triggering it.
    ///
    /// # Errors
    /// The system's.
    pub fn mount_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<Mount> {
        by_handle!(self, dir => dir.mount_at(name, symlinks))
    }

    /// The file at `path` from here, to be read; none if nothing is there, or no regular file.
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

    /// Appends the next names to `names`, read through `buffer`: about those of one system call, without `.` and
    /// `..`, and none at the end. Returns whether there may be more; not so after an entry that leads to `end`.
    ///
    /// Whoever reads goes on where the last one ended, so that several threads can share a listing.
    ///
    /// # Errors
    /// The system's. What was read before has been appended.
    pub fn read(
        &self,
        buffer: &mut Vec<u8>,
        names: &mut Listing,
        end: Option<u64>,
    ) -> io::Result<bool> {
        by_handle!(self, dir => dir.read(buffer, names, end))
    }
}

/// Lets `look` see the next of `entries`, as std lists them: about as many as Linux gives in one call. A directory
/// that was only looked at has none to be listed.
///
/// # Errors
/// The system's, and those of `look`.
fn each_of_next(
    entries: Option<&Mutex<ReadDir>>,
    mut look: impl FnMut(DirEntry) -> io::Result<()>,
) -> io::Result<()> {
    const NAMES: usize = 2_000;
    let entries = entries.ok_or(io::ErrorKind::Unsupported)?;
    let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
    entries.by_ref().take(NAMES).try_for_each(|entry| entry.and_then(&mut look))
}
