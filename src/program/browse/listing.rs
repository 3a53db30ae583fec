//! The entries of the current directory, sorted, without those that do not match the pattern. Built once for each
//! change of directory, order or pattern; only a few of them are drawn.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::item::Item;
use super::pattern::NamePattern;
use super::sorting::{SortKey, SortedEntry, Sorting};
use weigh::internal::inode::Links;
use weigh::internal::measure::{Mode, View};
use weigh::internal::tally::LiveDirectory;
use weigh::internal::tree::{Child, DirectoryId, Place, Totals, Tree};

/// The list of a directory in a complete tree.
#[derive(Debug, Default)]
pub(super) struct SortedDirectory {
    places: Vec<Place>,
    /// The former entries by name, if changes are shown.
    before: Option<HashMap<Box<[u8]>, u64, RandomState>>,
    /// The number of entries without a pattern.
    pub(super) all: usize,
    /// The size of the largest entry.
    pub(super) largest: u64,
}

/// The list of a directory that may still be open: the first few entries.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) items: Vec<Item<'static>>,
    /// The number of entries that match the pattern, and of all entries.
    pub(super) admitted: usize,
    pub(super) all: usize,
    /// The size of the largest entry.
    pub(super) largest: u64,
    /// The totals of the directory so far.
    pub(super) totals: Totals,
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
            index.all += 1;
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
            entries.push(SortedEntry { number, name, is_directory, entry: place });
        }
        sorting.sort(&mut entries);
        index.places = entries.into_iter().map(|sorted| sorted.entry).collect();
        index
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn place(&self, position: usize) -> Option<Place> {
        self.places.get(position).copied()
    }

    pub(super) fn places(&self) -> &[Place] {
        &self.places
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

impl Page {
    /// The first `most` entries of the directory at `way` below `top`, in a `view`, from which a walk starts; none if it is gone or
    /// no longer a directory.
    pub(super) fn of(
        top: &Arc<LiveDirectory>,
        view: View,
        way: &[Vec<u8>],
        sorting: Sorting,
        pattern: Option<&NamePattern>,
        most: usize,
    ) -> Option<Self> {
        let mut open = Arc::clone(top);
        let mut way = way.iter();
        while let Some(name) = way.next() {
            match open.below(name) {
                Some(below) => open = below,
                None => {
                    let page = open.closed(view, name, |child| {
                        let closed = way.try_fold(child, |directory, name| {
                            directory.directories().find(|child| child.name() == name)
                        })?;
                        let children = closed.unsorted().map(|child| Item::of(&child));
                        let page = Self { totals: closed.totals(), ..Self::default() };
                        Some(page.filled(children, sorting, pattern, most))
                    });
                    return page.flatten();
                }
            }
        }
        let seen = open.seen();
        let (page, below) = open.look(|content, below| {
            let page = Self { totals: seen.sums().seen_as(view), ..Self::default() };
            let closed = content.children(view).map(|child| Item::of(&child));
            (page.filled(closed, sorting, pattern, most), below.to_vec())
        })?;
        let below = below.iter().map(|open| {
            let seen = open.seen();
            Item {
                name: open.name().into(),
                mode: Mode::DIRECTORY,
                totals: seen.sums().seen_as(view),
                own: None,
                links: Links::Alone,
                details: None,
                is_open: true,
                identification: None,
                place: None,
            }
        });
        Some(page.filled(below, sorting, pattern, most))
    }

    /// Adds these items, and keeps no more than `most` of all.
    fn filled<'a>(
        mut self,
        items: impl Iterator<Item = Item<'a>>,
        sorting: Sorting,
        pattern: Option<&NamePattern>,
        most: usize,
    ) -> Self {
        let mut all: Vec<Item<'a>> = std::mem::take(&mut self.items);
        for item in items {
            self.all += 1;
            if pattern.is_some_and(|pattern| !pattern.is_match(&item.name, item.is_directory())) {
                continue;
            }
            self.admitted += 1;
            self.largest = self.largest.max(item.totals.size);
            all.push(item);
            // So that a large directory is not copied as a whole, and not sorted too often.
            if all.len() >= most.saturating_mul(4).max(1 << 12) {
                all = first(all, sorting, most);
            }
        }
        self.items = first(all, sorting, most).into_iter().map(Item::into_owned).collect();
        self
    }
}

/// The first `most` of `items`, sorted.
fn first<'a>(items: Vec<Item<'a>>, sorting: Sorting, most: usize) -> Vec<Item<'a>> {
    let mut entries: Vec<_> = items
        .iter()
        .map(|item| SortedEntry {
            number: item.number(sorting.by),
            name: &item.name,
            is_directory: item.is_directory(),
            entry: item,
        })
        .collect();
    sorting.sort(&mut entries);
    entries.iter().take(most).map(|sorted| sorted.entry.clone()).collect()
}
