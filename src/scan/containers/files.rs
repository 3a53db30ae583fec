//! Reads an engine's files: a bounded number of them, of bounded size, and only regular ones that are in the storage
//! and not elsewhere.

use std::ffi::CString;
use std::io::{self, ErrorKind, Read};

use serde::de::DeserializeOwned;

use crate::base::path;
use crate::fs::bbolt;
use crate::sys::problem::{Operation, Problem};
use crate::sys::{Handle, Listing, Query, Source, Symlinks, to_path};

/// No file is read that is larger, in bytes: 20,000 layers of containers/storage take less.
const LARGEST: u64 = 10 << 20;
/// A file that is smaller counts as if it had so many bytes.
const LEAST: u64 = 1 << 10;
/// No directory has more names.
const MOST_NAMES: usize = 100_000;

/// How many bytes may still be read of all storages, and kept of the paths of layers.
pub(super) struct Room {
    bytes: u64,
    /// A path counts for each image that has it.
    paths: u64,
}

impl Room {
    /// What is read and kept of all storages together.
    pub(super) const ALL: Self = Self { bytes: 100 << 20, paths: 32 << 20 };
}

/// The files of a storage.
pub(super) struct Files<'a> {
    top: Handle,
    path: &'a [u8],
    room: &'a mut Room,
    /// Whether all that was asked for was there and was read, and nothing is wrong with it.
    pub(super) is_complete: bool,
    /// The first file that is there and could not be read.
    pub(super) problem: Option<Problem>,
}

impl<'a> Files<'a> {
    /// Those in the storage at `path`; none if it cannot be opened.
    pub(super) fn in_directory(path: &'a [u8], room: &'a mut Room) -> Option<Self> {
        let name = CString::new(to_path(path).as_os_str().as_encoded_bytes()).ok()?;
        let top = Source::default().open(&name).ok()?;
        Some(Self { top, path, room, is_complete: true, problem: None })
    }

    /// The directory at `path`, without following symlinks.
    fn open(&self, path: &str) -> io::Result<Handle> {
        let mut opened = None;
        for name in path.split('/') {
            let around = opened.as_ref().unwrap_or(&self.top);
            opened = Some(around.open_at(&CString::new(name)?, Symlinks::Stay)?);
        }
        opened.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Notes that what is at `path` could not be read, unless nothing is there.
    pub(super) fn fail(&mut self, path: &str, error: &io::Error) {
        if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            self.is_complete = false;
            let path = path::join_all([self.path, path.as_bytes()]);
            self.problem.get_or_insert_with(|| Problem::new(path, Operation::Read, error));
        }
    }

    /// The names in the directory at `path`, as far as they are text.
    pub(super) fn names(&mut self, path: &str) -> Vec<String> {
        let (mut buffer, mut listing) = (Vec::new(), Listing::default());
        let listed = self.open(path).and_then(|dir| {
            while dir.read(&mut buffer, &mut listing, None)? {
                if listing.len() >= MOST_NAMES {
                    return Err(io::Error::other("more than 100,000 names"));
                }
            }
            Ok(())
        });
        if let Err(error) = listed {
            self.is_complete = false;
            self.fail(path, &error);
        }
        let names = listing.iter().filter_map(|listed| listed.name.to_str().ok());
        names.map(str::to_owned).collect()
    }

    /// The text of the file called `name` in the directory at `path`; none if there is no such file.
    pub(super) fn text(&mut self, path: &str, name: &str) -> Option<String> {
        let text = self.read(path, name).and_then(|bytes| String::from_utf8(bytes).ok());
        text.map(|text| text.trim().to_owned())
    }

    /// What is wanted of the JSON in the file called `name` in the directory at `path`. A missing file leaves the
    /// result incomplete.
    pub(super) fn json<T: DeserializeOwned>(&mut self, path: &str, name: &str) -> Option<T> {
        let value = self.read(path, name).and_then(|bytes| {
            let value = serde_json::from_slice(&bytes).map_err(io::Error::other);
            value.inspect_err(|error| self.fail(&format!("{path}/{name}"), error)).ok()
        });
        self.is_complete &= value.is_some();
        value
    }

    /// What `each` makes of the keys of the bbolt database called `name` in the directory at `path`. A missing file leaves
    /// the result incomplete.
    pub(super) fn database<T: Default>(
        &mut self,
        path: &str,
        name: &str,
        each: impl FnMut(&mut T, &[&[u8]], &[u8]),
    ) -> Option<T> {
        let mut bytes = self.room.bytes;
        let read = || {
            let name = CString::new(name)?;
            let opened = self.open(path)?.open_file_at(&name, Symlinks::Stay, u64::MAX)?;
            opened.map(|mut file| bbolt::read(&mut file, &mut bytes, each)).transpose()
        };
        let value = read();
        self.room.bytes = bytes.saturating_sub(LEAST);
        let value = value.inspect_err(|error| self.fail(&format!("{path}/{name}"), error));
        let value = value.ok().flatten();
        self.is_complete &= value.is_some();
        value
    }

    /// Device and inode of the entry called `name` in the directory at `path`.
    pub(super) fn identity(&self, path: &str, name: &str) -> Option<(u64, u64)> {
        let name = CString::new(name).ok()?;
        let stat = self.open(path).ok()?.stat_at(&name, Symlinks::Stay, Query::default()).ok()?;
        Some((stat.device, stat.inode))
    }

    fn read(&mut self, path: &str, name: &str) -> Option<Vec<u8>> {
        let most = LARGEST.min(self.room.bytes);
        let read = self.try_read(path, name, most);
        let read = read.inspect_err(|error| self.fail(&format!("{path}/{name}"), error));
        let bytes = read.ok()??;
        self.room.bytes = self.room.bytes.saturating_sub(LEAST.max(bytes.len() as u64));
        self.is_complete &= self.room.bytes > 0;
        Some(bytes)
    }

    fn try_read(&self, path: &str, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let opened = self.open(path)?.open_file_at(&CString::new(name)?, Symlinks::Stay, most)?;
        let read = opened.map(|file| {
            let mut bytes = Vec::new();
            file.take(most).read_to_end(&mut bytes).map(|_| bytes)
        });
        read.transpose()
    }

    /// Takes room for the paths of these `layers`. Returns whether there is any left; if not, the result is incomplete.
    pub(super) fn take_room_for(&mut self, layers: &[&str]) -> bool {
        let bytes = layers.iter().map(|layer| (self.path.len() + layer.len()) as u64).sum();
        self.room.paths = self.room.paths.saturating_sub(bytes);
        let has_room = self.room.paths > 0;
        if !has_room {
            self.fail("", &io::Error::other("its images have too many layers"));
        }
        has_room
    }
}
