//! The lines of the list, sorted, without those that do not match the pattern. Built once for each change of directory,
//! view, order or pattern; only a few of them are drawn.
//!
//! A directory whose only entry is a directory shares its line: `share/doc/rust`. The line is about the last one.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::iter;

use foldhash::fast::RandomState;

use super::pattern::NamePattern;
use super::scan::Scan;
use weigh::internal::base::escape::escape;
use weigh::internal::base::inode::Links;
use weigh::internal::base::measure::{Kind, Mode};
use weigh::internal::base::path;
use weigh::internal::show::name::cells;
use weigh::internal::tree::{Child, DirectoryId, Inode, Place, Totals, Tree};

/// How many directories share a line at most: a screen has no room for more, and each line is drawn often.
const MOST_JOINED: usize = 64;

/// How wide a remark beside a name is, about.
const ASIDE: usize = 18;

/// The list of a directory, or of what a query found in it.
#[derive(Debug, Default)]
pub(super) struct SortedList {
    lines: Vec<ListLine>,
    others: Vec<Item<'static>>,
    /// Whether the entries are from several directories.
    is_flat: bool,
    /// The sizes of the former entries by name, if changes are shown.
    before: Option<HashMap<Box<[u8]>, u64, RandomState>>,
    /// The size of the largest entry.
    pub(super) largest: u64,
    /// The largest change, if changes are shown: bars show these then.
    pub(super) largest_change: Option<u64>,
    /// The longest name of the first entries with its remark, in cells. So columns stay where they are when the list
    /// scrolls.
    pub(super) longest: usize,
}

/// A line.
#[derive(Clone, Copy, Debug)]
pub(super) enum ListLine {
    /// This entry.
    Entry(Place),
    /// The one with this number, which is no entry of the tree.
    Other(usize),
}

impl SortedList {
    /// Lists what was `found` below the current directory of `scan`, or else what is in it; `before` is its former
    /// state, if known.
    pub(super) fn new(
        scan: &Scan,
        found: Option<&[Place]>,
        (sorting, pattern): (Sorting, Option<&NamePattern>),
        before: Option<Option<Child<'_>>>,
    ) -> Self {
        let former: Vec<_> = before.flatten().into_iter().flat_map(Child::unsorted).collect();
        let sizes = former.iter().map(|child| (child.name().into(), child.size())).collect();
        let before = before.map(|_| sizes);
        let largest_change = before.as_ref().map(|_| 0);
        let is_flat = found.is_some();
        let mut list = Self { before, largest_change, is_flat, ..Self::default() };
        let mut sorted = Vec::new();
        for place in found.unwrap_or_default() {
            sorted.extend(list.sorted(iter::once(scan.tree.at(*place)), sorting, pattern));
        }
        let inside = found.is_none().then(|| scan.here().unsorted());
        for child in inside.into_iter().flatten() {
            sorted.extend(list.sorted(chain(scan, child), sorting, pattern));
        }
        let mut here: HashSet<_, RandomState> = HashSet::default();
        if !former.is_empty() {
            here.extend(scan.here().unsorted().map(|child| child.name()));
        }
        let gone = former.iter().filter(|it| !here.contains(it.name()));
        let gone = gone
            .filter(|it| pattern.is_none_or(|by| by.is_match(it.name(), it.is_directory())))
            .map(|it| Item {
                name: it.name().to_vec().into(),
                mode: it.mode(),
                gone: Some(it.size()),
                ..Item::default()
            });
        let others: Vec<_> = gone.collect();
        let most = others.iter().filter_map(|other| other.gone).max();
        list.largest_change = list.largest_change.max(most);
        sorted.extend(others.iter().enumerate().map(|(number, other)| {
            let is_directory = other.is_directory();
            let (line, name) = (ListLine::Other(number), &*other.name);
            let number = match sorting.by {
                SortKey::Change => (other.gone.unwrap_or(0).into(), 0),
                key => other.number(key),
            };
            SortedEntry { number, name, is_directory, line }
        }));
        sorting.sort(&mut sorted);
        let key = |it: &SortedEntry<'_>| (it.number, it.is_directory);
        for same in sorted.chunk_by_mut(|one, two| key(one) == key(two) && one.name == two.name) {
            // Else each scan would list them in another order.
            same.sort_by_cached_key(|it| match it.line {
                ListLine::Entry(place) => last_names(&scan.tree.at(place)),
                ListLine::Other(_) => Vec::new(),
            });
        }
        list.lines = sorted.into_iter().map(|sorted| sorted.line).collect();
        list.others = others;
        list.measured(&scan.tree, scan.directory)
    }

    /// The line of directories that share one, or of one entry, if a name in it matches.
    fn sorted<'t>(
        &mut self,
        joined: impl Iterator<Item = Child<'t>>,
        sorting: Sorting,
        pattern: Option<&NamePattern>,
    ) -> Option<SortedEntry<'t>> {
        let (mut ends, mut is_admitted) = (None, pattern.is_none());
        for child in joined {
            is_admitted = is_admitted
                || pattern.is_some_and(|it| it.is_match(child.name(), child.is_directory()));
            let (first, _) = ends.unwrap_or((child, child));
            ends = Some((first, child));
        }
        let (first, last) = ends?;
        let place = last.place().filter(|_| is_admitted)?;
        self.largest = self.largest.max(last.size());
        let change = self.change(&first).map(|change| {
            let change = u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX);
            self.largest_change = self.largest_change.max(Some(change));
            change
        });
        // Most sort keys are at hand.
        let number = match sorting.by {
            SortKey::Size => (last.size().into(), 0),
            SortKey::Name => (0, 0),
            SortKey::Change => (change.unwrap_or(0).into(), last.size()),
            key => Item::of(&last).number(key),
        };
        let (name, is_directory) = (first.name(), first.is_directory());
        Some(SortedEntry { number, name, is_directory, line: ListLine::Entry(place) })
    }

    /// With the longest name.
    fn measured(self, tree: &Tree, directory: DirectoryId) -> Self {
        let items = (0..self.len().min(1_000)).filter_map(|line| {
            let item = self.item(tree, line)?;
            let aside = match item.place {
                None if item.gone.is_some() => cells("  gone"),
                // Of the two blanks before it, one is counted with the name, which has no slash.
                None if !item.note.is_empty() => cells(&item.note) + 1,
                _ if item.freed() == item.totals.size => 0,
                _ => ASIDE,
            };
            let names = match item.place.filter(|_| item.branch.is_none()) {
                Some(place) => below(&tree.at(place), directory),
                None => vec![&*item.name],
            };
            // With what is before the name of a kind.
            let aside = aside + if item.branch.is_some() { 4 } else { 0 };
            let lengths = names.into_iter().map(|name| cells(&escape(name)) + 1);
            Some(lengths.sum::<usize>() + aside)
        });
        let longest = items.max().unwrap_or(0);
        Self { longest, ..self }
    }

    /// Lists those of `others`, which are not in the `tree`, that match the pattern.
    pub(super) fn of_others(
        mut others: Vec<Item<'static>>,
        tree: &Tree,
        pattern: Option<&NamePattern>,
    ) -> Self {
        others.retain(|it| pattern.is_none_or(|by| by.is_match(&it.name, it.is_directory())));
        let lines = (0..others.len()).map(ListLine::Other).collect();
        let largest = others.iter().map(|group| group.totals.size).max().unwrap_or(0);
        Self { lines, others, largest, ..Self::default() }.measured(tree, DirectoryId::default())
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The entry or the group on a line.
    pub(super) fn item<'a>(&'a self, tree: &'a Tree, line: usize) -> Option<Item<'a>> {
        match *self.lines.get(line)? {
            ListLine::Entry(place) => Some(Item::of(&tree.at(place))),
            ListLine::Other(number) => self.others.get(number).cloned(),
        }
    }

    /// Where the entry on a line is in the tree.
    pub(super) fn place(&self, line: usize) -> Option<Place> {
        match *self.lines.get(line)? {
            ListLine::Entry(place) => Some(place),
            ListLine::Other(_) => None,
        }
    }

    /// By how much the size of a child has changed, if its former size is known.
    pub(super) fn change(&self, child: &Child<'_>) -> Option<i128> {
        let was = self.before.as_ref()?.get(child.name()).copied().unwrap_or(0);
        Some(i128::from(child.size()) - i128::from(was))
    }

    /// What a line is found by when the list is another: its first name below the current `directory`, or all of them.
    pub(super) fn name(&self, tree: &Tree, directory: DirectoryId, line: usize) -> Option<Vec<u8>> {
        let place = match *self.lines.get(line)? {
            ListLine::Entry(place) => place,
            ListLine::Other(number) => {
                let other = self.others.get(number)?;
                // One kind may be in several groups.
                let group = other.branch.map(|branch| [b'\0', branch.group as u8]);
                return Some([&*other.name, group.as_ref().map_or(&[][..], |it| it)].concat());
            }
        };
        let names = below(&tree.at(place), directory);
        if self.is_flat { Some(path::join_all(names)) } else { names.first().map(|it| it.to_vec()) }
    }
}

/// `child`, and the directories that share its line, each in the one before it.
pub(super) fn chain<'t>(scan: &'t Scan, child: Child<'t>) -> impl Iterator<Item = Child<'t>> {
    iter::successors(Some(child), |outer| scan.only_directory(*outer)).take(MOST_JOINED)
}

/// The last names on the path to an entry, by which equal ones are sorted. A path may have 300,000, and there may be
/// thousands of entries.
pub(super) fn last_names<'a>(entry: &Child<'a>) -> Vec<&'a [u8]> {
    const MOST: usize = 100;
    let up = iter::successors(Some(*entry), Child::parent).take(MOST);
    let mut names: Vec<_> = up.map(|it| it.name()).collect();
    names.reverse();
    names
}

/// The names on the path from `directory` to `last`, which is below it.
pub(super) fn below<'a>(last: &Child<'a>, directory: DirectoryId) -> Vec<&'a [u8]> {
    let up = iter::successors(Some(*last), Child::parent);
    let inside = up.take_while(|it| it.id() != Some(directory));
    let mut names: Vec<_> = inside.map(|it| it.name()).collect();
    names.reverse();
    names
}

/// The first `most` of `all`, in order; and how many there are.
pub(super) fn first<T: Ord>(all: impl Iterator<Item = T>, most: usize) -> (Vec<T>, usize) {
    let mut all: Vec<_> = all.collect();
    let count = all.len();
    if count > most {
        all.select_nth_unstable(most);
        all.truncate(most);
    }
    all.sort_unstable();
    (all, count)
}

// The order of a directory's entries.

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
        const NAMES: [[&str; 2]; 5] = [
            ["by size", "smallest first"],
            ["by name", "by name, backwards"],
            ["by entries", "fewest entries first"],
            ["newest first", "oldest first"],
            ["by change", "least change first"],
        ];
        NAMES[self.by as usize][usize::from(self.is_reversed)]
    }

    /// Sorts `entries` by sort key, the larger first; equal ones by name.
    pub(super) fn sort(self, entries: &mut [SortedEntry<'_>]) {
        entries.sort_unstable_by(|one, other| {
            let directories = match self.directories_first {
                true => other.is_directory.cmp(&one.is_directory),
                false => Ordering::Equal,
            };
            let order = other.number.cmp(&one.number).then_with(|| one.name.cmp(other.name));
            let order = if self.is_reversed { order.reverse() } else { order };
            directories.then(order).then(one.is_directory.cmp(&other.is_directory))
        });
    }
}

/// The line of an entry with its sort key, then its size, and its name. A million entries take twenty million
/// comparisons: looking the names up in the tree each time took 6 s.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortedEntry<'a> {
    pub(super) number: (i128, u64),
    pub(super) name: &'a [u8],
    pub(super) is_directory: bool,
    pub(super) line: ListLine,
}

// A line of the list, with everything that it shows.

/// An entry; or a group, a cause of --df, or an entry that is gone, which have no place in the tree.
#[derive(Clone, Debug, Default)]
pub struct Item<'a> {
    /// Its name, as bytes.
    pub name: Cow<'a, [u8]>,
    /// What else is known of it, in a few words.
    pub note: Cow<'a, str>,
    /// File type and permissions.
    pub mode: Mode,
    /// Its totals; of an open directory, so far.
    pub totals: Totals,
    /// A directory's own weight, if it counts itself.
    pub own: Option<u64>,
    /// Its inode, if the scan keeps it.
    pub inode: Option<Inode>,
    /// Its place in the tree.
    pub place: Option<Place>,
    /// Whether it is a directory that is still open, so that its totals may grow.
    pub is_open: bool,
    /// What it was in the earlier snapshot, if it is gone.
    pub gone: Option<u64>,
    /// Where it is in a list whose lines unfold.
    pub branch: Option<Branch>,
}

/// A line of the view of what can go: a group, a kind in it, or an entry of that kind. All are numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// The group.
    pub group: usize,
    /// The kind; none for the group itself.
    pub kind: Option<usize>,
    /// The entry; none for the kind itself.
    pub entry: Option<usize>,
    /// Whether what is in the group or the kind is listed below it.
    pub is_open: bool,
    /// Whether it is in the sum of what can go.
    pub is_summed: bool,
}

impl<'a> Item<'a> {
    /// The item of `child` in the tree.
    pub fn of(child: &Child<'a>) -> Self {
        let node = child.node();
        Self {
            name: node.name.into(),
            note: node.note.into(),
            mode: node.mode,
            totals: node.sums.totals_in(child.view()),
            own: child.own(),
            inode: node.inode,
            place: child.place(),
            ..Self::default()
        }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.mode.kind() == Kind::Directory
    }

    /// The names that lead to its inode.
    pub fn links(&self) -> Links {
        self.inode.map_or(Links::Alone, |inode| inode.links)
    }

    /// How much removing it alone would free at most, judging by its link count.
    pub fn freed(&self) -> u64 {
        self.totals.freed(self.is_directory(), self.links())
    }

    /// Its sort key: larger keys come first.
    pub(super) fn number(&self, key: SortKey) -> (i128, u64) {
        let number = match key {
            SortKey::Size | SortKey::Change => self.totals.size.into(),
            SortKey::Name => 0,
            SortKey::Count => self.totals.entries.into(),
            SortKey::Modified => self.totals.newest.map_or(i128::MIN, i128::from),
        };
        (number, if key == SortKey::Name { 0 } else { self.totals.size })
    }
}
