//! Reads an engine's files: a bounded number of them, of bounded size, and only regular ones that are in the storage
//! and not elsewhere.

use std::ffi::CString;
use std::io::Read;

use serde::de::DeserializeOwned;

use crate::sys::{Handle, Listing, Source, Symlinks, to_path};

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
    top_length: usize,
    room: &'a mut Room,
    /// Whether all that was asked for was there and was read, and nothing is wrong with it.
    pub(super) is_complete: bool,
}

impl<'a> Files<'a> {
    /// Those in the storage at `path`; none if it cannot be opened.
    pub(super) fn in_directory(path: &[u8], room: &'a mut Room) -> Option<Self> {
        let top_length = path.len();
        let path = CString::new(to_path(path).as_os_str().as_encoded_bytes()).ok()?;
        let top = Source::default().open(&path).ok()?;
        Some(Self { top, top_length, room, is_complete: true })
    }

    /// The directory at `path`, without following symlinks.
    fn open(&self, path: &str) -> Option<Handle> {
        let mut names = path.split('/').filter_map(|name| CString::new(name).ok());
        let mut at = self.top.open_at(&names.next()?, Symlinks::Stay).ok()?;
        for name in names {
            at = at.open_at(&name, Symlinks::Stay).ok()?;
        }
        Some(at)
    }

    /// The names in the directory at `path`, as far as they are text.
    pub(super) fn names(&mut self, path: &str) -> Vec<String> {
        let (mut buffer, mut listing) = (Vec::new(), Listing::default());
        let is_listed = self.open(path).is_some_and(|dir| {
            loop {
                match dir.read(&mut buffer, &mut listing, None) {
                    Ok(true) if listing.len() < MOST_NAMES => {}
                    listed => return matches!(listed, Ok(false)),
                }
            }
        });
        self.is_complete &= is_listed;
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
        let value = self.read(path, name).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        self.is_complete &= value.is_some();
        value
    }

    fn read(&mut self, path: &str, name: &str) -> Option<Vec<u8>> {
        let most = LARGEST.min(self.room.bytes);
        let name = CString::new(name).ok()?;
        let opened = self.open(path)?.open_file_at(&name, Symlinks::Stay, most);
        self.is_complete &= opened.is_ok();
        let mut bytes = Vec::new();
        let read = opened.ok()??.take(most).read_to_end(&mut bytes);
        self.room.bytes = self.room.bytes.saturating_sub(LEAST.max(bytes.len() as u64));
        self.is_complete &= read.is_ok() && self.room.bytes > 0;
        read.ok().map(|_| bytes)
    }

    /// Takes room for the paths of these `layers`. Returns whether there is any left; if not, the result is incomplete.
    pub(super) fn take_room_for(&mut self, layers: &[&str]) -> bool {
        let bytes = layers.iter().map(|layer| (self.top_length + layer.len()) as u64).sum();
        self.room.paths = self.room.paths.saturating_sub(bytes);
        let has_room = self.room.paths > 0;
        self.is_complete &= has_room;
        has_room
    }
}
