//! The entries of the current directory, sorted, without those that do not match the pattern. Built once for each
//! change of directory, order or pattern; only a few of them are drawn.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::item::Item;
use super::pattern::NamePattern;
use super::sorting::{SortKey, SortedEntry, Sorting};
use weigh::internal::tree::{Child, DirectoryId, Place, Tree};

/// The list of a directory.
#[derive(Debug, Default)]
pub(super) struct SortedDirectory {
    places: Vec<Place>,
    /// The former entries by name, if changes are shown.
    before: Option<HashMap<Box<[u8]>, u64, RandomState>>,
    /// The size of the largest entry.
    pub(super) largest: u64,
}

impl SortedDirectory {
    /// Lists `directory`; `before` is its former state, if known.
    pub(super) fn new(
        tree: &Tree,
        directory: DirectoryId,
        sorting: Sorting,
        pattern: Option<&NamePattern>,
        before: Option<Option<Child<'_>>>,
    ) -> Self {
        let before = before.map(|before| {
            let children = before.into_iter().flat_map(Child::unsorted);
            children.map(|child| (child.name().into(), child.size())).collect::<HashMap<_, _, _>>()
        });
        let mut index = Self { before, ..Self::default() };
        let mut entries = Vec::new();
        for child in tree.directory(directory).unsorted() {
            let is_directory = child.is_directory();
            let is_admitted =
                pattern.is_none_or(|pattern| pattern.is_match(child.name(), is_directory));
            let Some(place) = child.place().filter(|_| is_admitted) else { continue };
            index.largest = index.largest.max(child.size());
            // Most sort keys are at hand.
            let number = match sorting.by {
                SortKey::Size => (child.size().into(), 0),
                SortKey::Name => (0, 0),
                SortKey::Change => (index.change(&child).map_or(0, i128::abs), child.size()),
                key => Item::of(&child).number(key),
            };
            let name = child.name();
            entries.push(SortedEntry { number, name, is_directory, place });
        }
        sorting.sort(&mut entries);
        index.places = entries.into_iter().map(|sorted| sorted.place).collect();
        index
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn place(&self, position: usize) -> Option<Place> {
        self.places.get(position).copied()
    }

    /// By how much the size of a child has changed, if its former size is known.
    pub(super) fn change(&self, child: &Child<'_>) -> Option<i128> {
        let before = self.before.as_ref()?;
        let was = before.get(child.name()).copied().unwrap_or(0);
        Some(i128::from(child.size()) - i128::from(was))
    }

    /// The line of the entry called `name`.
    pub(super) fn position(&self, tree: &Tree, name: &[u8]) -> Option<usize> {
        self.places.iter().position(|place| tree.at(*place).name() == name)
    }
}
