//! What a listing tells about a directory's entries, before any of them is statted.

use std::ffi::CStr;

use super::Stat;
use crate::base::measure::Kind;

/// A listed entry.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Its name.
    pub name: &'a CStr,
    /// Its kind, if the listing tells.
    pub kind: Option<Kind>,
    /// Its inode number; on most file systems, the same as that of stat.
    pub inode: u64,
    /// Its attributes (of a symlink, its own), if the listing has them: then no call is needed.
    pub stat: Option<&'a Stat>,
}

/// The names of a directory's entries, or of a part of them, in the order of the listing. The buffer is reused, so
/// that listing allocates nothing.
#[derive(Debug, Default)]
pub struct Listing {
    /// The names, one after the other, each ending in a NUL.
    bytes: Vec<u8>,
    entries: Vec<PackedName>,
    /// The attributes of each entry, in the order of the entries, if the listing has them. Kept apart, and empty if no
    /// listing has them, so that entries stay small.
    stats: Vec<Option<Stat>>,
}

#[derive(Clone, Copy, Debug)]
struct PackedName {
    inode: u64,
    /// Where its name begins. Listings come in buffers far smaller than 4 GiB.
    start: u32,
    kind: Option<Kind>,
}

impl Listing {
    /// Clears the names, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.stats.clear();
    }

    /// Keeps only the first `length` names. Only used on Linux.
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

    /// The inode numbers of so many entries, from number `first` on.
    pub fn inodes(&self, first: usize, count: usize) -> impl Iterator<Item = u64> {
        let rest = self.entries.get(first..).unwrap_or_default();
        rest.iter().take(count).map(|entry| entry.inode)
    }

    /// Sorts by inode number, the order of inodes on a disk. A listing may be in any order. If it has the attributes,
    /// no inode is read, and no sorting is needed.
    pub fn sort_by_inode(&mut self) {
        if self.stats.is_empty() {
            self.entries.sort_unstable_by_key(|entry| entry.inode);
        }
    }

    /// Exchanges the first entry and the first regular file, if one is listed as such.
    pub fn begin_with_a_file(&mut self) {
        let file = self.entries.iter().position(|entry| entry.kind == Some(Kind::File));
        if let Some(file) = file.filter(|_| self.stats.is_empty()) {
            self.entries.swap(0, file);
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

    /// Whatever the order becomes, each entry has its own attributes.
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

    #[test]
    fn the_first_file_comes_first_and_nothing_is_lost() {
        let kinds = [None, Some(Kind::Directory), Some(Kind::File), Some(Kind::File)];
        for (count, order) in [(4, &[2, 1, 0, 3][..]), (2, &[0, 1]), (0, &[])] {
            let mut names = Listing::default();
            for (inode, kind) in (0..).zip(kinds).take(count) {
                names.push(Listed { name: c"n", kind, inode, stat: None });
            }
            names.begin_with_a_file();
            assert_eq!(names.iter().map(|listed| listed.inode).collect::<Vec<_>>(), order);
        }
    }
}
