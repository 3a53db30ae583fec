//! The order of a directory's entries.

use std::cmp::{Ordering, Reverse};

/// The order of entries, and its direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sorting {
    /// The sort key.
    pub by: SortKey,
    /// Whether the usual direction is reversed.
    pub is_reversed: bool,
    /// Whether directories come first.
    pub directories_first: bool,
}

/// A sort key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// Largest first.
    #[default]
    Size,
    /// By name, as bytes.
    Name,
    /// Most inodes first.
    Count,
    /// Last written first.
    Modified,
    /// Largest change first.
    Change,
}

impl Sorting {
    /// Sorts by `key`; reverses the direction if it is the key already.
    pub fn by(self, key: SortKey) -> Self {
        Self { by: key, is_reversed: self.by == key && !self.is_reversed, ..self }
    }

    /// Its name.
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

    /// Sorts `entries`, each with its sort key (larger first) and whether it is a directory; equal ones by name.
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

/// An entry with its sort key; then its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortedEntry<T> {
    pub(super) number: (u64, u64),
    pub(super) is_directory: bool,
    pub(super) entry: T,
}
