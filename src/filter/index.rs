//! What git tracks: the names in the index of a work tree (gitformat-index(5), versions 2 to 4).
//!
//! Read here rather than by a crate, because nothing but names is wanted: gix-index 0.58 brings 43
//! packages and 199 KB, this 17 KB, and it has to be told of SHA-256.

use std::ffi::CString;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

use crate::path;
use crate::sys::Handle;

/// What is tracked in a work tree.
#[derive(Debug)]
pub(super) struct Tracked {
    /// Where its repository is, from where the process stands.
    repository: Vec<u8>,
    /// How much of a path leads to the top of the work tree.
    from: usize,
    /// Set by whoever reads it first. At worst several do at once, and find the same; so no system
    /// call is made while others wait.
    index: OnceLock<Index>,
}

impl Tracked {
    pub(super) fn new(repository: Vec<u8>, from: usize) -> Self {
        Self { repository, from, index: OnceLock::new() }
    }

    /// Reads the index, unless that is done. Where there is none, nothing is tracked.
    pub(super) fn read(&self) -> io::Result<()> {
        if self.index.get().is_some() {
            return Ok(());
        }
        let content = Handle::open(&CString::new(&*self.repository)?)?.read_file_at(c"index")?;
        let index = content.map_or(Ok(Index::default()), |content| Index::parse(&content));
        let index = index.map_err(|message| io::Error::new(io::ErrorKind::InvalidData, message))?;
        // Whoever was faster found the same.
        let _ = self.index.set(index);
        Ok(())
    }

    /// Goes on as if nothing were tracked: the index cannot be read.
    pub(super) fn give_up(&self) {
        let _ = self.index.set(Index::default());
    }

    /// Where the index is.
    pub(super) fn index_path(&self) -> Vec<u8> {
        path::join_all([&*self.repository, b"index"])
    }

    /// Whether the entry at `path` is tracked, or something in it. It may be while nobody has read
    /// the index.
    pub(super) fn has(&self, path: &[u8], is_directory: bool) -> bool {
        self.index.get().is_none_or(|index| {
            let path = &path[self.from..];
            match index.find(path) {
                Some(entry) if entry.is_submodule || !is_directory => true,
                _ => is_directory && index.has_below(path),
            }
        })
    }

    /// Whether the directory at `path` is the work tree of a repository that this one tracks.
    pub(super) fn has_submodule(&self, path: &[u8]) -> bool {
        let entry = self.index.get().and_then(|index| index.find(&path[self.from..]));
        entry.is_some_and(|entry| entry.is_submodule)
    }
}

/// The names in an index, ordered by their bytes.
#[derive(Debug, Default)]
struct Index {
    /// One after the other.
    names: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    name: Range<usize>,
    is_submodule: bool,
}

impl Index {
    /// Reads what git wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        /// SHA-1, SHA-256.
        const IDS: [usize; 2] = [20, 32];
        // The repository's configuration says which; but an index makes sense with one of them only.
        let parsed = IDS.iter().find_map(|id| Self::with_ids_of(*id, bytes));
        parsed.unwrap_or(Err("it is damaged, or newer than version 4"))
    }

    /// Reads what git wrote where an object's id takes `id` bytes; none if that makes no sense.
    fn with_ids_of(id: usize, bytes: &[u8]) -> Option<Result<Self, &'static str>> {
        // At the end is a checksum, which git may have left out. What is damaged in another way than
        // its order and its lengths is not found.
        let mut rest = &bytes[..bytes.len().checked_sub(id)?];
        let is_index = take(&mut rest, 4)? == b"DIRC";
        let (version, count) = (number(&mut rest)?, number(&mut rest)?);
        if !is_index || !(2..=4).contains(&version) {
            return None;
        }
        let mut index = Index::default();
        for _ in 0..count {
            index.add(&mut rest, version, id)?;
        }
        let mut unknown = None;
        while !rest.is_empty() {
            let extension = take(&mut rest, 4)?;
            let length = number(&mut rest)?;
            take(&mut rest, usize::try_from(length).ok()?)?;
            match extension {
                b"link" => unknown = Some("it is split, and the other half is not read"),
                // A sparse index has a directory in one entry, of which nothing is checked out.
                b"sdir" | [b'A'..=b'Z', ..] => {}
                _ => unknown = Some("it has an extension that is not known"),
            }
        }
        Some(unknown.map_or(Ok(index), Err))
    }

    /// Adds the entry that `rest` begins with, and takes it off.
    fn add(&mut self, rest: &mut &[u8], version: u32, id: usize) -> Option<()> {
        /// Of times, device, inode, mode, owner, group and size; the mode is the seventh number.
        const STAT: usize = 40;
        const SUBMODULE: u32 = 0o160_000;
        const IS_EXTENDED: u8 = 0x40;
        /// A longer name ends where a zero is.
        const LONGEST: usize = 0xfff;
        let length = rest.len();
        let stat = take(rest, STAT)?;
        let mode = number(&mut &stat[24..])?;
        take(rest, id)?;
        let [high, low] = take(rest, 2)? else { return None };
        if high & IS_EXTENDED != 0 {
            take(rest, if version == 2 { return None } else { 2 })?;
        }
        let last = self.entries.last().map_or(0..0, |entry| entry.name.clone());
        // From version 4 on, a name begins as the last one does.
        let kept = if version == 4 { last.len().checked_sub(offset(rest)?)? } else { 0 };
        let start = self.names.len();
        self.names.extend_from_within(last.start..last.start + kept);
        let said = usize::from(u16::from_be_bytes([high & 0x0f, *low]));
        let own = if said < LONGEST {
            said.checked_sub(kept)?
        } else {
            rest.iter().position(|byte| *byte == 0)?
        };
        self.names.extend_from_slice(take(rest, own)?);
        let padding = if version == 4 { 1 } else { 8 - (length - rest.len()) % 8 };
        let is_padded = take(rest, padding)?.iter().all(|byte| *byte == 0);

        let name = start..self.names.len();
        let is_ordered = self.names[last] <= self.names[name.clone()];
        self.entries.push(Entry { name, is_submodule: mode == SUBMODULE });
        (is_padded && is_ordered).then_some(())
    }

    fn find(&self, path: &[u8]) -> Option<&Entry> {
        self.first_from(path).filter(|entry| self.names[entry.name.clone()] == *path)
    }

    fn has_below(&self, directory: &[u8]) -> bool {
        let start = [directory, b"/"].concat();
        let first = self.first_from(&start);
        first.is_some_and(|entry| self.names[entry.name.clone()].starts_with(&start))
    }

    /// The first that is `path` or comes after it.
    fn first_from(&self, path: &[u8]) -> Option<&Entry> {
        let is_before = |entry: &Entry| self.names[entry.name.clone()] < *path;
        self.entries.get(self.entries.partition_point(is_before))
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    take(rest, 4)?.try_into().ok().map(u32::from_be_bytes)
}

/// A number in groups of 7 bits, as in a pack's offsets (gitformat-pack(5)).
fn offset(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *take(rest, 1)?.first()?;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}
