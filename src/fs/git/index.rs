//! What git tracks: the names in the index of a work tree (gitformat-index(5), versions 2 to 4).
//!
//! It is read here and not by a crate, because only names are needed: gix-index 0.58 adds 43 packages and 199 KB,
//! this 17 KB; and gix-index does not find out whether ids are SHA-256.

use std::ffi::CString;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Take};
use std::ops::Range;
use std::sync::OnceLock;

use super::repository::ensure_absent;
use super::{WorkTreeDirectory, invalid, within};

/// The tracked files of a work tree.
#[derive(Debug)]
pub(super) struct Tracked {
    /// The path of its repository, from the current directory.
    repository: Vec<u8>,
    /// How many bytes of a path lead to the top of the work tree.
    from: usize,
    /// Whether case is ignored.
    folds: bool,
    /// Set by the first thread that reads it; to none if it cannot be read, and everything may be tracked. At worst,
    /// several threads read it at once and find the same; so no thread waits while another makes system calls.
    index: OnceLock<Option<Index>>,
}

impl Tracked {
    pub(super) fn new(repository: Vec<u8>, from: usize, folds: bool) -> Self {
        Self { repository, from, folds, index: OnceLock::new() }
    }

    /// Reads the index once. Without an index, nothing is tracked.
    pub(super) fn read<D: WorkTreeDirectory>(&self) -> io::Result<()> {
        if self.index.get().is_some() {
            return Ok(());
        }
        let repository = D::open(&CString::new(&*self.repository)?)?;
        let mut index = match repository.file_at(c"index", true, u64::MAX)? {
            Some(file) => Index::read(file)?,
            None => ensure_absent(&repository, c"index").map(|()| Index::default())?,
        };
        if self.folds {
            index.fold();
        }
        // If another thread was faster, it found the same.
        let _ = self.index.set(Some(index));
        Ok(())
    }

    /// The id of the tree that the index was last written as; none if something was staged since.
    pub(super) fn tree(&self) -> Option<&[u8]> {
        self.index()?.tree.as_deref()
    }

    /// Continues as if everything were tracked, or nothing, because the index cannot be read.
    pub(super) fn give_up(&self, is_all: bool) {
        let _ = self.index.set((!is_all).then(Index::default));
    }

    /// The path of the index.
    pub(super) fn index_path(&self) -> Vec<u8> {
        within(&self.repository, b"index")
    }

    /// The index, once it is read.
    fn index(&self) -> Option<&Index> {
        self.index.get()?.as_ref()
    }

    /// Whether the entry at `path`, in lower case if case is ignored, is tracked or contains something tracked. True
    /// as long as the index is not read.
    pub(super) fn has(&self, path: &[u8], is_directory: bool) -> bool {
        self.index().is_none_or(|index| {
            let path = &path[self.from..];
            match index.find(path) {
                Some(entry) if entry.is_submodule || !is_directory => true,
                _ => is_directory && index.has_below(path),
            }
        })
    }

    /// Whether a directory around `path` is one entry: then it is not known what is tracked in it. In a sparse index,
    /// its name ends in a slash. A submodule's does not; if so many bytes of the path are the top of a work tree
    /// (`is_top`), that one tells.
    pub(super) fn has_around(&self, path: &[u8], is_top: impl Fn(usize) -> bool) -> bool {
        let path = &path[self.from..];
        let Some(index) = self.index() else { return true };
        let mut around = (0..path.len()).filter(|at| path[*at] == b'/');
        around.any(|at| {
            let is_entry = index.find(&path[..at]).is_some() && !is_top(self.from + at);
            is_entry || index.find(&path[..=at]).is_some()
        })
    }

    /// Whether the directory at `path` is the work tree of a repository that this one tracks.
    pub(super) fn has_submodule(&self, path: &[u8]) -> bool {
        let entry = self.index().and_then(|index| index.find(&path[self.from..]));
        entry.is_some_and(|entry| entry.is_submodule)
    }
}

/// How much memory names may take, in bytes, beyond about 16 times their size in the file.
const ROOM_FOR_NAMES: u64 = 16 << 20;

/// The names in an index, sorted as bytes.
#[derive(Debug, Default)]
struct Index {
    /// All names, one after the other.
    names: Vec<u8>,
    entries: Vec<IndexEntry>,
    /// Whether an entry has no name. In a split index, the shared index has it.
    has_nameless: bool,
    /// The id of the tree that it was last written as; none if something was staged since.
    tree: Option<Vec<u8>>,
}

#[derive(Debug)]
struct IndexEntry {
    name: Range<usize>,
    is_submodule: bool,
}

impl Index {
    /// Reads an index that git wrote.
    ///
    /// # Errors
    /// The system's, and for an invalid index.
    fn read(file: impl Read + Seek) -> io::Result<Self> {
        /// The lengths of SHA-1 and SHA-256, in bytes.
        const IDS: [usize; 2] = [20, 32];
        let mut file = BufReader::with_capacity(64 * 1024, file);
        let length = file.seek(SeekFrom::End(0))?;
        // The repository's configuration says which one it is, but an index is valid with one of them only.
        for id in IDS {
            file.rewind()?;
            let left = length.saturating_sub(id as u64);
            match Self::with_ids_of(id, &mut IndexReader(file.by_ref().take(left))) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
                read => return read,
            }
        }
        Err(invalid("it is damaged, or newer than version 4"))
    }

    /// Reads an index in which an object's id takes `id` bytes. Git may have left out the checksum at the end. Only
    /// damage to order and lengths is found.
    fn with_ids_of<R: Read + Seek>(id: usize, source: &mut IndexReader<'_, R>) -> io::Result<Self> {
        let is_index = source.take()? == *b"DIRC";
        let (version, count) = (source.number()?, source.number()?);
        ensure(is_index && (2..=4).contains(&version))?;
        let (mut index, length) = (Index::default(), source.left());
        for _ in 0..count {
            index.add(source, version, id)?;
            // In version 4, a few bytes can repeat a long name again and again.
            let most = ROOM_FOR_NAMES + 16 * (length - source.left());
            ensure(index.names.len() as u64 <= most)?;
        }
        let mut unknown = None;
        while source.left() > 0 {
            let extension: [u8; 4] = source.take()?;
            let length = source.number()?;
            if extension == *b"TREE" {
                index.tree = source.tree(length.into(), id)?;
                continue;
            }
            source.skip(length.into())?;
            match &extension {
                b"link" => unknown = Some("it is split, and the other half is not read"),
                // In a sparse index, one entry is a whole directory of which nothing is checked out.
                b"sdir" | [b'A'..=b'Z', ..] => {}
                _ => unknown = Some("it has an extension that is not known"),
            }
        }
        ensure(unknown.is_some() || !index.has_nameless)?;
        unknown.map_or(Ok(index), |unknown| Err(invalid(unknown)))
    }

    /// Adds the next entry.
    fn add<R: Read + Seek>(
        &mut self,
        source: &mut IndexReader<'_, R>,
        version: u32,
        id: usize,
    ) -> io::Result<()> {
        /// Times, device, inode, mode, owner, group and size. The mode is the seventh number.
        const STAT: usize = 40;
        const SUBMODULE: u32 = 0o160_000;
        const IS_EXTENDED: u8 = 0x40;
        /// A longer name ends at a NUL.
        const LONGEST: usize = 0xfff;
        let left = source.left();
        let stat: [u8; STAT] = source.take()?;
        let mode = u32::from_be_bytes([stat[24], stat[25], stat[26], stat[27]]);
        source.skip(id as u64)?;
        let [high, low] = source.take()?;
        if high & IS_EXTENDED != 0 {
            ensure(version > 2)?;
            source.skip(2)?;
        }
        let last = self.entries.last().map_or(0..0, |entry| entry.name.clone());
        // From version 4 on, a name begins with the start of the one before.
        let kept = if version == 4 { last.len().checked_sub(source.offset()?) } else { Some(0) };
        let kept = kept.ok_or_else(damaged)?;
        let start = self.names.len();
        self.names.extend_from_within(last.start..last.start + kept);
        let said = usize::from(u16::from_be_bytes([high & 0x0f, low]));
        let mut zeros = 0;
        if said < LONGEST {
            let own = said.checked_sub(kept).ok_or_else(damaged)?;
            source.append(own, &mut self.names)?;
        } else {
            source.append_to_zero(&mut self.names)?;
            zeros = 1;
        }
        let length = left - source.left() - zeros;
        let padding = if version == 4 { 1 } else { 8 - length % 8 };
        for _ in zeros..padding {
            ensure(source.take()? == [0])?;
        }

        let name = start..self.names.len();
        if name.is_empty() {
            // A sparse file could have such entries without end.
            ensure(mode != 0)?;
            self.has_nameless = true;
            return Ok(());
        }
        ensure(mode != 0 && self.names[last] <= self.names[name.clone()])?;
        self.entries.push(IndexEntry { name, is_submodule: mode == SUBMODULE });
        Ok(())
    }

    /// Turns all names into lower case.
    fn fold(&mut self) {
        self.names.make_ascii_lowercase();
        let names = &self.names;
        self.entries
            .sort_unstable_by(|one, other| names[one.name.clone()].cmp(&names[other.name.clone()]));
    }

    fn name(&self, entry: &IndexEntry) -> &[u8] {
        &self.names[entry.name.clone()]
    }

    fn find(&self, path: &[u8]) -> Option<&IndexEntry> {
        self.first_from(path).filter(|entry| self.name(entry) == path)
    }

    fn has_below(&self, directory: &[u8]) -> bool {
        let start = [directory, b"/"].concat();
        self.first_from(&start).is_some_and(|entry| self.name(entry).starts_with(&start))
    }

    /// The first name that is `path` or sorts after it.
    fn first_from(&self, path: &[u8]) -> Option<&IndexEntry> {
        let at = self.entries.partition_point(|entry| self.name(entry) < path);
        self.entries.get(at)
    }
}

/// Reads an index up to the checksum, because a sparse file may be far longer than what was written to it.
struct IndexReader<'a, R>(Take<&'a mut BufReader<R>>);

impl<R: Read + Seek> IndexReader<'_, R> {
    /// How many bytes are left before the checksum.
    fn left(&self) -> u64 {
        self.0.limit()
    }

    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut taken = [0; N];
        self.0.read_exact(&mut taken)?;
        Ok(taken)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        self.0.set_limit(self.left().checked_sub(length).ok_or_else(damaged)?);
        self.0.get_mut().seek_relative(i64::try_from(length).map_err(|_| damaged())?)
    }

    fn append(&mut self, length: usize, to: &mut Vec<u8>) -> io::Result<()> {
        ensure(self.0.by_ref().take(length as u64).read_to_end(to)? == length)
    }

    /// Appends everything up to a NUL, and takes the NUL as well.
    fn append_to_zero(&mut self, to: &mut Vec<u8>) -> io::Result<()> {
        let read = self.0.read_until(0, to)?;
        ensure(read > 0 && to.pop() == Some(0))
    }

    /// The id of the topmost tree in an extension of `length` bytes with all trees: after its name, which is empty, how
    /// many entries and trees it has, as text. Of a tree that was changed, the first number is negative.
    fn tree(&mut self, length: u64, id: usize) -> io::Result<Option<Vec<u8>>> {
        const MOST: usize = 64;
        let end = self.left().checked_sub(length).ok_or_else(damaged)?;
        let mut start = Vec::new();
        self.append(usize::try_from(length).map_or(MOST, |length| length.min(MOST)), &mut start)?;
        self.skip(self.left().checked_sub(end).ok_or_else(damaged)?)?;
        let numbers = start.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        ensure(start.first() == Some(&0))?;
        let tree = start.get(numbers + 1..numbers + 1 + id).filter(|_| start.get(1) != Some(&b'-'));
        Ok(tree.map(<[u8]>::to_vec))
    }

    fn number(&mut self) -> io::Result<u32> {
        self.take().map(u32::from_be_bytes)
    }

    /// A number in groups of 7 bits, like offsets in a pack (gitformat-pack(5)).
    fn offset(&mut self) -> io::Result<usize> {
        let mut value = 0_usize;
        loop {
            let [byte] = self.take()?;
            let next = value.checked_mul(128).and_then(|v| v.checked_add(usize::from(byte & 127)));
            value = next.ok_or_else(damaged)?;
            if byte & 128 == 0 {
                return Ok(value);
            }
            value = value.checked_add(1).ok_or_else(damaged)?;
        }
    }
}

/// The error of a file that ends too early. Then it is read with ids of the other length, and refused if that fails
/// as well.
fn damaged() -> io::Error {
    ErrorKind::UnexpectedEof.into()
}

fn ensure(is_whole: bool) -> io::Result<()> {
    if is_whole { Ok(()) } else { Err(damaged()) }
}
