//! What a listing tells of a directory's entries, before anything has been asked about them.

use std::ffi::CStr;

use crate::measure::Kind;

/// An entry as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Its name.
    pub name: &'a CStr,
    /// What it is, where the listing says so.
    pub kind: Option<Kind>,
    /// Its inode number; on most file systems, the one that stating it would give.
    pub inode: u64,
}

/// The names of a directory's entries, or of a part of them, in the order of the listing. Kept and
/// filled again, so that listing allocates nothing.
#[derive(Debug, Default)]
pub struct Names {
    /// Each ends in a NUL, one after the other.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    inode: u64,
    /// Where its name begins. A listing comes in buffers of far less than 4 GiB.
    start: u32,
    kind: Option<Kind>,
}

impl Names {
    /// Forgets the names and keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, in the order they were listed, or sorted.
    pub fn iter(&self) -> impl Iterator<Item = Listed<'_>> {
        let listed = |entry: &Entry| {
            let Entry { inode, kind, .. } = *entry;
            Listed { name: self.name(entry), kind, inode }
        };
        self.entries.iter().map(listed)
    }

    /// Sorts by inode number: the order in which inodes lie on a disk. A listing may be in any.
    pub fn sort_by_inode(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.inode);
    }

    /// The entries from number `first` on, in parts of at most `size`.
    pub fn parts(&self, first: usize, size: usize) -> impl DoubleEndedIterator<Item = Names> {
        let rest = self.entries.get(first..).unwrap_or_default();
        rest.chunks(size).map(|entries| {
            let mut part = Names::default();
            for entry in entries {
                part.push(self.name(entry), entry.kind, entry.inode);
            }
            part
        })
    }

    pub(super) fn push(&mut self, name: &CStr, kind: Option<Kind>, inode: u64) {
        let start = self.bytes.len() as u32;
        self.entries.push(Entry { inode, start, kind });
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
    }

    fn name(&self, entry: &Entry) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes[entry.start as usize..]).unwrap_or_default()
    }
}
