//! What a listing tells of a directory's entries, before anything has been asked about them.

use std::ffi::CStr;

use super::Stat;
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
    /// What stating it would tell, a symlink itself, where the listing says so: then nobody need ask.
    pub stat: Option<&'a Stat>,
}

/// The names of a directory's entries, or of a part of them, in the order of the listing. Kept and
/// filled again, so that listing allocates nothing.
#[derive(Debug, Default)]
pub struct Listing {
    /// Each ends in a NUL, one after the other.
    bytes: Vec<u8>,
    entries: Vec<PackedName>,
    /// What each entry is, in the order of the entries, as far as that is told. Apart, and empty where no listing
    /// tells it, so that entries stay small.
    stats: Vec<Option<Stat>>,
}

#[derive(Clone, Copy, Debug)]
struct PackedName {
    inode: u64,
    /// Where its name begins. A listing comes in buffers of far less than 4 GiB.
    start: u32,
    kind: Option<Kind>,
}

impl Listing {
    /// Forgets the names and keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.stats.clear();
    }

    /// Forgets all names but the first so many. Linux alone has names to take back.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) fn truncate(&mut self, length: usize) {
        self.entries.truncate(length);
        self.stats.truncate(length);
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
        self.entries.iter().enumerate().map(|(i, entry)| self.listed(i, entry))
    }

    /// Sorts by inode number: the order in which inodes lie on a disk. A listing may be in any. Where it tells
    /// what they are, nobody asks for them, and any order will do.
    pub fn sort_by_inode(&mut self) {
        if self.stats.is_empty() {
            self.entries.sort_unstable_by_key(|entry| entry.inode);
        }
    }

    /// The entries from number `first` on, in parts of at most `size`.
    pub fn parts(&self, first: usize, size: usize) -> impl DoubleEndedIterator<Item = Listing> {
        let rest = self.entries.get(first..).unwrap_or_default();
        rest.chunks(size).enumerate().map(move |(number, entries)| {
            let mut part = Listing::default();
            for (i, entry) in (first + number * size..).zip(entries) {
                part.push(self.listed(i, entry));
            }
            part
        })
    }

    /// Adds an entry.
    #[inline]
    pub(crate) fn push(&mut self, listed: Listed<'_>) {
        let Listed { name, kind, inode, stat } = listed;
        if let Some(stat) = stat {
            self.stats.resize(self.entries.len(), None);
            self.stats.push(Some(*stat));
        }
        let start = self.bytes.len() as u32;
        self.entries.push(PackedName { inode, start, kind });
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
    }

    /// The entry at `i`.
    #[inline]
    fn listed(&self, i: usize, entry: &PackedName) -> Listed<'_> {
        let PackedName { inode, start, kind } = *entry;
        let name = CStr::from_bytes_until_nul(&self.bytes[start as usize..]).unwrap_or_default();
        Listed { name, kind, inode, stat: self.stats.get(i).and_then(Option::as_ref) }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    /// Whatever becomes of the order, each has its own.
    #[test]
    fn stats_stay_with_their_names() {
        let mut names = Listing::default();
        for (number, is_told) in [(5, false), (4, true), (3, false), (2, true), (1, true)] {
            let stat = Stat { inode: number, ..Stat::default() };
            let name = CString::new(number.to_string()).expect("no NUL");
            let (kind, stat) = (Some(Kind::File), is_told.then_some(&stat));
            names.push(Listed { name: &name, kind, inode: number, stat });
        }
        names.sort_by_inode();
        let told = |names: &Listing| {
            let of = |listed: Listed<'_>| (listed.inode, listed.stat.map(|stat| stat.inode));
            names.iter().map(of).collect::<Vec<_>>()
        };
        let mut all = told(&names);
        let parts: Vec<_> = names.parts(1, 2).flat_map(|part| told(&part)).collect();
        assert_eq!(parts, all[1..]);
        all.sort_unstable();
        assert_eq!(all, [(1, Some(1)), (2, Some(2)), (3, None), (4, Some(4)), (5, None)]);
        names.clear();
        assert!(told(&names).is_empty() && names.stats.is_empty());
    }
}
