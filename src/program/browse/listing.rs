//! The entries of the current directory, sorted, without those that do not match the pattern. Built once for each
//! change of directory, order or pattern; only a few of them are drawn.
//!
//! A directory whose only entry is a directory shares its line: `share/doc/rust`. The line is about the last one.

use std::collections::HashMap;
use std::iter;

use foldhash::fast::RandomState;

use super::item::Item;
use super::pattern::NamePattern;
use super::sorting::{SortKey, SortedEntry, Sorting};
use weigh::internal::escape::escape;
use weigh::internal::render::name::cells;
use weigh::internal::tree::{Child, DirectoryId, Place, Tree};

/// How many directories share a line at most: a screen has no room for more, and each line is drawn often.
const MOST_JOINED: usize = 64;

/// How wide a remark beside a name is, about.
const ASIDE: usize = 18;

/// The list of a directory.
#[derive(Debug, Default)]
pub(super) struct SortedDirectory {
    places: Vec<Place>,
    /// The former entries by name, if changes are shown.
    before: Option<HashMap<Box<[u8]>, u64, RandomState>>,
    /// The size of the largest entry.
    pub(super) largest: u64,
    /// The longest name of the first entries with its remark, in cells. So columns stay where they are when the list scrolls.
    pub(super) longest: usize,
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
            let names = chain(child).map(|it| it.name());
            let is_admitted = pattern
                .is_none_or(|it| names.into_iter().any(|name| it.is_match(name, is_directory)));
            let last = chain(child).last().unwrap_or(child);
            let Some(place) = last.place().filter(|_| is_admitted) else { continue };
            index.largest = index.largest.max(last.size());
            // Most sort keys are at hand.
            let number = match sorting.by {
                SortKey::Size => (last.size().into(), 0),
                SortKey::Name => (0, 0),
                SortKey::Change => (index.change(&child).map_or(0, i128::abs), last.size()),
                key => Item::of(&last).number(key),
            };
            let name = child.name();
            entries.push(SortedEntry { number, name, is_directory, place });
        }
        sorting.sort(&mut entries);
        index.places = entries.into_iter().map(|sorted| sorted.place).collect();
        let firsts = index.places.iter().take(1_000).map(|place| tree.at(*place));
        let lengths = firsts.map(|last| {
            let item = Item::of(&last);
            let aside = if item.freed() == item.totals.size { 0 } else { ASIDE };
            let names = below(&last, directory).into_iter().map(|name| cells(&escape(name)) + 1);
            names.sum::<usize>() + aside
        });
        index.longest = lengths.max().unwrap_or(0);
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

    /// The line of the entry of `directory` called `name`.
    pub(super) fn position(
        &self,
        tree: &Tree,
        directory: DirectoryId,
        name: &[u8],
    ) -> Option<usize> {
        let mut lines = self.places.iter().map(|place| tree.at(*place));
        lines.position(|last| below(&last, directory).first() == Some(&name))
    }
}

/// `child`, and the directories that share its line, each in the one before it.
fn chain(child: Child<'_>) -> impl Iterator<Item = Child<'_>> {
    iter::successors(Some(child), |outer| only_directory(*outer)).take(MOST_JOINED)
}

/// The directory that is the only entry of `directory`, if it has no other.
pub(super) fn only_directory(directory: Child<'_>) -> Option<Child<'_>> {
    let mut directories = directory.directories();
    let only = directories.next().filter(|_| directories.next().is_none())?;
    directory.leaf_nodes().next().is_none().then_some(only)
}

/// The names on the path from `directory` to `last`, which is below it.
pub(super) fn below<'a>(last: &Child<'a>, directory: DirectoryId) -> Vec<&'a [u8]> {
    let up = iter::successors(Some(*last), Child::parent);
    let inside = up.take_while(|it| it.id() != Some(directory));
    let mut names: Vec<_> = inside.map(|it| it.name()).collect();
    names.reverse();
    names
}
