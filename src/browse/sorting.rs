//! In which order the entries of a directory are listed.

use std::cmp::{Ordering, Reverse};

/// What entries are listed by, and which way round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sorting {
    /// By what.
    pub by: SortKey,
    /// The other way round than usual.
    pub is_reversed: bool,
    /// Directories before all else.
    pub directories_first: bool,
}

/// What entries are listed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The largest first.
    #[default]
    Size,
    /// By name, as bytes.
    Name,
    /// The one with the most inodes first.
    Count,
    /// What was written to last first.
    Modified,
    /// What changed most first.
    Change,
}

impl Sorting {
    /// The same by `key`; the other way round if it is by that already.
    pub fn by(self, key: SortKey) -> Self {
        Self { by: key, is_reversed: self.by == key && !self.is_reversed, ..self }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match (self.by, self.is_reversed) {
            (SortKey::Size, false) => "by size",
            (SortKey::Size, true) => "smallest first",
            (SortKey::Name, false) => "by name",
            (SortKey::Name, true) => "by name, backwards",
            (SortKey::Count, false) => "by entries",
            (SortKey::Count, true) => "fewest entries first",
            (SortKey::Modified, false) => "newest first",
            (SortKey::Modified, true) => "oldest first",
            (SortKey::Change, false) => "by change",
            (SortKey::Change, true) => "least change first",
        }
    }

    /// Sorts `entries`, each with the number it is sorted by, the larger first, and whether it is a directory; what
    /// is equal comes by name.
    pub(super) fn sort<'a, T>(self, entries: &mut [SortedEntry<T>], name: impl Fn(&T) -> &'a [u8])
    where
        T: Copy + 'a,
    {
        let by_name =
            |one: &SortedEntry<T>, other: &SortedEntry<T>| name(&one.entry).cmp(name(&other.entry));
        entries.sort_unstable_by(|one, other| {
            let directories = match self.directories_first {
                true => other.is_directory.cmp(&one.is_directory),
                false => Ordering::Equal,
            };
            let numbers = Reverse(one.number).cmp(&Reverse(other.number));
            let order = numbers.then_with(|| by_name(one, other));
            directories.then(if self.is_reversed { order.reverse() } else { order })
        });
    }
}

/// An entry, and what it is sorted by; then by its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortedEntry<T> {
    pub(super) number: (u64, u64),
    pub(super) is_directory: bool,
    pub(super) entry: T,
}
