//! The lines of the list, sorted, without those that do not match the pattern. Built once for each change of directory,
//! view, order or pattern; only a few of them are drawn.
//!
//! A directory whose only entry is a directory shares its line: `share/doc/rust`. The line is about the last one.

use std::collections::HashMap;
use std::iter;

use foldhash::fast::RandomState;

use super::item::Item;
use super::pattern::NamePattern;
use super::sorting::{SortKey, SortedEntry, Sorting};
use weigh::internal::measure::{Kind, Mode};
use weigh::internal::path;
use weigh::internal::tree::{Child, DirectoryId, Order, Place, Totals, Tree};

/// How many directories share a line at most: a screen has no room for more, and each line is drawn often.
const MOST_JOINED: usize = 64;

/// How wide a remark beside a name is, about.
const ASIDE: usize = 18;

/// The list of a directory, or of what a query found in it.
#[derive(Debug, Default)]
pub(super) struct SortedList {
    lines: Vec<Line>,
    others: Vec<OtherLine>,
    /// Whether the entries are from several directories.
    is_flat: bool,
    /// The former entries by name, if changes are shown.
    before: Option<HashMap<Box<[u8]>, Former, RandomState>>,
    /// The size of the largest entry.
    pub(super) largest: u64,
    /// The longest name of the first entries with its remark, in bytes. So columns stay where they are when the list
    /// scrolls.
    pub(super) longest: usize,
}

/// A line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line {
    /// This entry.
    Entry(Place),
    /// The one with this number, which is no entry of the tree.
    Other(usize),
}

/// A group, or an entry that is gone.
#[derive(Debug)]
struct OtherLine {
    name: Box<[u8]>,
    mode: Mode,
    totals: Totals,
    gone: Option<u64>,
}

/// An entry in the earlier snapshot.
#[derive(Debug)]
struct Former {
    size: u64,
    mode: Mode,
    is_gone: bool,
}

impl SortedList {
    /// Lists the `directory` of `tree`; `before` is its former state, if known.
    pub(super) fn new(
        tree: &Tree,
        directory: DirectoryId,
        sorting: Sorting,
        pattern: Option<&NamePattern>,
        before: Option<Option<Child<'_>>>,
    ) -> Self {
        let before = before.map(|before| {
            let children = before.into_iter().flat_map(Child::unsorted);
            let former = |it: Child<'_>| Former { size: it.size(), mode: it.mode(), is_gone: true };
            children.map(|child| (child.name().into(), former(child))).collect::<HashMap<_, _, _>>()
        });
        let mut list = Self { before, ..Self::default() };
        let mut sorted = Vec::new();
        for child in tree.directory(directory).unsorted() {
            if let Some(it) = list.before.as_mut().and_then(|it| it.get_mut(child.name())) {
                it.is_gone = false;
            }
            list.admit(chain(child), sorting, pattern, &mut sorted);
        }
        let gone = list.before.iter().flatten().filter(|(_, former)| former.is_gone);
        let mut others = Vec::new();
        for (name, Former { size, mode, .. }) in gone {
            let is_directory = mode.kind() == Kind::Directory;
            if pattern.is_none_or(|pattern| pattern.is_match(name, is_directory)) {
                let (mode, totals, gone) = (*mode, Totals::default(), Some(*size));
                others.push(OtherLine { name: name.clone(), mode, totals, gone });
            }
        }
        for (number, other) in others.iter().enumerate() {
            let is_directory = other.mode.kind() == Kind::Directory;
            let (line, name) = (Line::Other(number), &*other.name);
            let number = match sorting.by {
                SortKey::Change => (other.gone.unwrap_or(0).into(), 0),
                key => other.item().number(key),
            };
            sorted.push(SortedEntry { number, name, is_directory, line });
        }
        sorting.sort(&mut sorted);
        list.lines = sorted.into_iter().map(|sorted| sorted.line).collect();
        list.others = others;
        list.measured(tree, directory)
    }

    /// Lists what was found below the `directory` of `tree`.
    pub(super) fn of_found(
        tree: &Tree,
        directory: DirectoryId,
        found: &[Place],
        sorting: Sorting,
        pattern: Option<&NamePattern>,
    ) -> Self {
        let (mut list, mut sorted) = (Self { is_flat: true, ..Self::default() }, Vec::new());
        for place in found {
            list.admit(iter::once(tree.at(*place)), sorting, pattern, &mut sorted);
        }
        sorting.sort(&mut sorted);
        list.lines = sorted.into_iter().map(|sorted| sorted.line).collect();
        list.measured(tree, directory)
    }

    /// Adds the line of directories that share one, or of one entry, if a name in it matches.
    fn admit<'t>(
        &mut self,
        joined: impl Iterator<Item = Child<'t>>,
        sorting: Sorting,
        pattern: Option<&NamePattern>,
        sorted: &mut Vec<SortedEntry<'t>>,
    ) {
        let (mut ends, mut is_admitted) = (None, pattern.is_none());
        for child in joined {
            let is_match = |it: &NamePattern| it.is_match(child.name(), child.is_directory());
            is_admitted = is_admitted || pattern.is_some_and(is_match);
            let (first, _) = ends.unwrap_or((child, child));
            ends = Some((first, child));
        }
        let Some((first, last)) = ends else { return };
        let Some(place) = last.place().filter(|_| is_admitted) else { return };
        self.largest = self.largest.max(last.size());
        // Most sort keys are at hand.
        let number = match sorting.by {
            SortKey::Size => (last.size().into(), 0),
            SortKey::Name => (0, 0),
            SortKey::Change => (self.change(&first).map_or(0, i128::abs), last.size()),
            key => Item::of(&last).number(key),
        };
        let (name, is_directory) = (first.name(), first.is_directory());
        sorted.push(SortedEntry { number, name, is_directory, line: Line::Entry(place) });
    }

    /// With the longest name.
    fn measured(self, tree: &Tree, directory: DirectoryId) -> Self {
        let items = (0..self.len().min(1_000)).filter_map(|line| {
            let item = self.item(tree, line)?;
            let aside = if item.freed() == item.totals.size { 0 } else { ASIDE };
            let names = item.place.map(|place| below(&tree.at(place), directory));
            let length = names.map(|names| names.iter().map(|name| name.len() + 1).sum());
            Some(length.unwrap_or(item.name.len() + 1) + aside)
        });
        let longest = items.max().unwrap_or(0);
        Self { longest, ..self }
    }

    /// Lists the groups of `tree`.
    pub(super) fn of_groups(tree: &Tree, order: Order) -> Self {
        let groups = tree.root().children(order).into_iter();
        let others: Vec<_> = groups
            .map(|it| OtherLine {
                name: it.name().into(),
                mode: it.mode(),
                totals: it.totals(),
                gone: None,
            })
            .collect();
        let lines = (0..others.len()).map(Line::Other).collect();
        let largest = others.iter().map(|group| group.totals.size).max().unwrap_or(0);
        Self { lines, others, largest, ..Self::default() }.measured(tree, DirectoryId::default())
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The place of the entry on a line.
    pub(super) fn place(&self, line: usize) -> Option<Place> {
        match *self.lines.get(line)? {
            Line::Entry(place) => Some(place),
            Line::Other(_) => None,
        }
    }

    /// The entry or the group on a line.
    pub(super) fn item<'a>(&'a self, tree: &'a Tree, line: usize) -> Option<Item<'a>> {
        match *self.lines.get(line)? {
            Line::Entry(place) => Some(Item::of(&tree.at(place))),
            Line::Other(number) => self.others.get(number).map(OtherLine::item),
        }
    }

    /// By how much the size of a child has changed, if its former size is known.
    pub(super) fn change(&self, child: &Child<'_>) -> Option<i128> {
        let was = self.before.as_ref()?.get(child.name()).map_or(0, |former| former.size);
        Some(i128::from(child.size()) - i128::from(was))
    }

    /// What a line is found by when the list is another: its first name below the current `directory`, or all of them.
    pub(super) fn name(&self, tree: &Tree, directory: DirectoryId, line: usize) -> Option<Vec<u8>> {
        let place = match *self.lines.get(line)? {
            Line::Entry(place) => place,
            Line::Other(number) => return Some(self.others.get(number)?.name.to_vec()),
        };
        let names = below(&tree.at(place), directory);
        if self.is_flat { Some(path::join_all(names)) } else { names.first().map(|it| it.to_vec()) }
    }

    /// The line with this name.
    pub(super) fn position(
        &self,
        tree: &Tree,
        directory: DirectoryId,
        name: &[u8],
    ) -> Option<usize> {
        (0..self.len()).find(|line| self.name(tree, directory, *line).as_deref() == Some(name))
    }
}

impl OtherLine {
    fn item(&self) -> Item<'_> {
        Item {
            name: &self.name,
            mode: self.mode,
            totals: self.totals,
            own: None,
            inode: None,
            place: None,
            is_open: false,
            gone: self.gone,
        }
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
