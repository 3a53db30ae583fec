//! Totals by group: by type, owner, age or size ([`By`]).
//!
//! Every inode counts once, so that the groups add up to the total of the root; directories belong to groups like
//! everything else. The links of one inode may belong to several groups (`a.txt` and `a.bak`). It counts in the group
//! whose key sorts first, so that the order of the walk does not matter.
//!
//! Memory grows with the number of groups, and with the number of inodes with several links. There are as many ages and
//! sizes as their tables have, and as many owners as users; only by type may each file be a group of its own.

use std::mem;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use crate::base::inode::Identity;
use crate::base::measure::{DAY, Figures, View};
use crate::sys::Stat;
use crate::tree::sum::{Link, LinkedFigures, LinkedInodes, PlainSum, WideFigures};
use crate::tree::tally::top::Limits;
use crate::tree::tally::{Entry, Tally};
use crate::tree::{Content, Node, Shape, Sums, Tree};

/// Adds up groups.
#[derive(Clone, Copy, Debug)]
pub struct Groups {
    by: By,
    view: View,
    limits: Limits,
}

/// The groups in one directory and below.
#[derive(Debug, Default)]
pub struct GroupPart {
    groups: IndexMap<Box<[u8]>, PlainSum, RandomState>,
    /// Inodes with several links, which are not in a group yet.
    links: LinkedInodes<Linked>,
}

/// An inode with several links, and the number of the group in which it counts.
#[derive(Clone, Copy, Debug, Default)]
struct Linked {
    group: u32,
    figures: LinkedFigures,
    /// Its time; the least there is for none, which saves 8 bytes.
    newest: i64,
}

impl Groups {
    /// Keeps the groups that rank highest in `view`, within `limits` of lines and size. All others become one group
    /// more, as what has no line in a tree is one line more.
    pub fn new(by: By, view: View, limits: Limits) -> Self {
        Self { by, view, limits }
    }

    fn add_directory(&self, part: &mut GroupPart, directory: &Entry<'_>) {
        if let Some(own) = &directory.own {
            let size = self.view.size(own);
            let group =
                self.by.with_key(directory.name, directory.stat, size, |key| part.group(key));
            part.groups[group as usize].add(own);
        }
    }
}

impl Tally for Groups {
    type Part = GroupPart;
    type Answer = Tree;

    fn adds_up(&self) -> bool {
        true
    }

    #[inline]
    fn leaf(&self, part: &mut GroupPart, entry: &Entry<'_>) {
        let figures = &entry.sums.all;
        let size = self.view.size(figures);
        let group = self.by.with_key(entry.name, entry.stat, size, |key| part.group(key));
        match entry.linked() {
            Some(identity) => {
                part.meet(identity, Link::new(Linked::new(group, figures), entry.links));
            }
            None => part.groups[group as usize].add(figures),
        }
    }

    fn merge(&self, part: &mut GroupPart, mut other: GroupPart) {
        // The smaller one is moved. There may be as many groups as files, if all names end in another way.
        if part.len() < other.len() {
            mem::swap(part, &mut other);
        }
        let numbers = other.groups.iter().map(|(key, group)| {
            let number = part.group(key);
            part.groups[number as usize].absorb(*group);
            number
        });
        let numbers: Vec<u32> = numbers.collect();
        for (identity, link) in other.links.drain() {
            let renumbered = link.map(|one| Linked { group: numbers[one.group as usize], ..one });
            part.meet(identity, renumbered);
        }
    }

    fn close(&self, parent: &mut GroupPart, directory: &Entry<'_>, mut part: GroupPart) {
        self.add_directory(&mut part, directory);
        self.merge(parent, part);
    }

    fn sums(&self, root: &Entry<'_>, part: &GroupPart) -> Sums {
        let mut all = PlainSum::default();
        part.groups.values().for_each(|group| all.absorb(*group));
        part.links.values().for_each(|one| all.add(&one.figures()));
        root.own.iter().for_each(|own| all.add(own));
        let mut shared = WideFigures::default();
        part.links.with_others().for_each(|one| shared += one.figures);
        Sums { shared: shared.figures(), ..sums_of(&all) }
    }

    fn finish(&self, root: &Entry<'_>, mut part: GroupPart) -> Tree {
        self.add_directory(&mut part, root);
        for linked in part.links.values() {
            part.groups[linked.group as usize].add(&linked.figures());
        }
        let Limits { lines, min_size, .. } = self.limits;
        let mut groups: Vec<(Box<[u8]>, PlainSum)> = part.groups.into_iter().collect();
        groups
            .retain(|(_, group)| group.entries > 0 && self.view.size(&group.figures()) >= min_size);
        groups.sort_unstable_by(|(key, group), (other_key, other)| {
            let [rank, other] = [group, other].map(|it| self.view.rank(&it.figures(), None));
            other.cmp(&rank).then_with(|| key.cmp(other_key))
        });
        let mut others = PlainSum::default();
        let beyond = groups.split_off(lines.min(groups.len()));
        beyond.iter().for_each(|(_, group)| others.absorb(*group));
        let mut named: Vec<_> =
            groups.into_iter().map(|(key, group)| (self.by.label(&key), group)).collect();
        if !beyond.is_empty() && lines > 0 {
            named.push((b"(others)".into(), others));
        }
        let mut content = Content::default();
        for (name, group) in &named {
            content
                .close(&Node { name, sums: sums_of(group), ..Node::default() }, Content::default());
        }
        content.finish(&root.node(), Shape::Groups).in_view(self.view)
    }
}

impl GroupPart {
    /// How many groups and inodes it has.
    fn len(&self) -> usize {
        self.groups.len() + self.links.len()
    }

    /// The number of the group with this `key`.
    #[inline]
    fn group(&mut self, key: &[u8]) -> u32 {
        let number = match self.groups.get_index_of(key) {
            Some(number) => number,
            None => self.groups.insert_full(key.into(), PlainSum::default()).0,
        };
        number as u32
    }

    fn meet(&mut self, identity: Identity, link: Link<Linked>) {
        let groups = &self.groups;
        self.links.meet(identity, link, |one, two| {
            let [first, second] = [one, two].map(|it| groups.get_index(it.group as usize));
            let is_first = first.map(|(key, _)| key) <= second.map(|(key, _)| key);
            Linked {
                group: if is_first { one.group } else { two.group },
                figures: one.figures.larger(two.figures),
                newest: one.newest.max(two.newest),
            }
        });
    }
}

impl Linked {
    fn new(group: u32, figures: &Figures) -> Self {
        Self { group, figures: figures.into(), newest: figures.newest.unwrap_or(i64::MIN) }
    }

    fn figures(&self) -> Figures {
        let newest = Some(self.newest).filter(|newest| *newest > i64::MIN);
        Figures { newest, ..self.figures.into() }
    }
}

fn sums_of(group: &PlainSum) -> Sums {
    Sums { all: group.figures(), entries: group.entries, ..Sums::default() }
}

// What groups are made of: the extension of a name, the owner, the age, or the size.
//
// The key of a group is bytes. An entry finds its group by what it already contains, and nothing is allocated if the
// group is known.

/// By what to group.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// By file extension; directories are a group of their own.
    Type,
    /// By owner.
    Owner {
        /// The name of the user with this id. It is called at the end, and only for groups that are shown.
        name: fn(u32) -> Option<String>,
    },
    /// By the time of the last modification.
    Age {
        /// The time at which the age is 0, in seconds since the epoch.
        now: i64,
    },
    /// By size; directories are a group of their own.
    Size,
    /// By image and container, whose directories are known only after the walk.
    Image,
}

/// The key of directories, by type. No name contains a slash.
const DIRECTORIES: &[u8] = b"/";

/// The ages, by their upper limit in seconds. A file from less than a day in the future is new: it was written during
/// the walk, or by a machine whose clock is a little ahead.
const AGES: [(i64, &str); 9] = [
    (-DAY, "in the future"),
    (DAY, "under 1 day"),
    (7 * DAY, "1 to 7 days"),
    (30 * DAY, "7 to 30 days"),
    (90 * DAY, "30 to 90 days"),
    (365 * DAY, "90 to 365 days"),
    (2 * 365 * DAY, "1 to 2 years"),
    (5 * 365 * DAY, "2 to 5 years"),
    (i64::MAX, "5 years or more"),
];

/// The groups by size, by their upper limit in bytes.
const SIZES: [(u64, &str); 7] = [
    (0, "empty"),
    (4 << 10, "up to 4 KiB"),
    (64 << 10, "up to 64 KiB"),
    (1 << 20, "up to 1 MiB"),
    (16 << 20, "up to 16 MiB"),
    (256 << 20, "up to 256 MiB"),
    (u64::MAX, "more than 256 MiB"),
];

/// The names of groups by age and by size, in their own order.
pub const AGE_NAMES: [&str; AGES.len()] = names(&AGES);
const SIZE_NAMES: [&str; SIZES.len()] = names(&SIZES);

const fn names<T: Copy, const N: usize>(groups: &[(T, &'static str); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = groups[i].1;
        i += 1;
    }
    names
}

impl By {
    /// The name of each.
    pub const NAMES: [&str; 5] = ["type", "owner", "age", "size", "image"];

    /// The one with this `name`. `user` returns the name of a user, and `now` the current time.
    pub fn named(
        name: &str,
        user: fn(u32) -> Option<String>,
        now: impl FnOnce() -> i64,
    ) -> Option<Self> {
        match name {
            "type" => Some(By::Type),
            "owner" => Some(By::Owner { name: user }),
            "age" => Some(By::Age { now: now() }),
            "size" => Some(By::Size),
            "image" => Some(By::Image),
            _ => None,
        }
    }

    /// The names of the groups in their own order, if they have one.
    pub fn order(self) -> Option<&'static [&'static str]> {
        match self {
            By::Type | By::Owner { .. } | By::Image => None,
            By::Age { .. } => Some(&AGE_NAMES),
            By::Size => Some(&SIZE_NAMES),
        }
    }

    /// Calls `with` with the key of the group of an entry of this `size`.
    #[inline]
    pub fn with_key<R>(
        self,
        name: &[u8],
        stat: &Stat,
        size: u64,
        with: impl FnOnce(&[u8]) -> R,
    ) -> R {
        match self {
            By::Type | By::Size if stat.is_directory() => with(DIRECTORIES),
            By::Type => with(ending(name)),
            By::Image => with(b""),
            By::Owner { .. } => with(&stat.owner.to_be_bytes()),
            By::Age { now } => with(&[age(now, stat.modified) as u8]),
            By::Size => {
                let bucket = SIZES.iter().take_while(|(most, _)| size > *most).count();
                with(&[bucket as u8])
            }
        }
    }

    /// The name of the group with this `key`.
    pub fn label(self, key: &[u8]) -> Vec<u8> {
        match (self, key) {
            (By::Image, _) => Vec::new(),
            (By::Type, b"") => b"(no extension)".into(),
            (By::Type | By::Size, DIRECTORIES) => b"(directories)".into(),
            (By::Type, ending) => ending.into(),
            (By::Owner { name }, id) => {
                let id = id.try_into().map_or(0, u32::from_be_bytes);
                name(id).unwrap_or_else(|| id.to_string()).into()
            }
            (By::Age { .. } | By::Size, bucket) => {
                let bucket = bucket.first().map_or(0, |bucket| usize::from(*bucket));
                let names = self.order().unwrap_or_default();
                names.get(bucket).copied().unwrap_or_default().into()
            }
        }
    }
}

/// Which of [`AGE_NAMES`] it has `now` that was last `modified` then, both in seconds since the epoch.
pub fn age(now: i64, modified: i64) -> usize {
    let age = now.saturating_sub(modified);
    let bucket = AGES.iter().take_while(|(end, _)| age >= *end).count();
    bucket.min(AGES.len() - 1)
}

/// The extension of a name: what follows its last dot, with the dot, if that is not the first character. An extension has
/// 1 to 16 characters, which are letters, digits, `+`, `-`, `_` or `~`; otherwise this is empty. With all others, each mail
/// of a maildir was a group (`1764327969.M1P2.host,S=340:2,S`), and took 340 bytes of memory.
fn ending(name: &[u8]) -> &[u8] {
    const MOST: usize = 16;
    /// A character of UTF-8 has at most so many bytes.
    const WIDEST: usize = 4;
    let dot = name.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0);
    let ending = dot.map_or(&b""[..], |dot| &name[dot..]);
    if !(2..=1 + MOST * WIDEST).contains(&ending.len()) {
        return b"";
    }
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '+' | '-' | '_' | '~');
    match str::from_utf8(&ending[1..]) {
        Ok(text) if text.chars().all(is_plain) && text.chars().count() <= MOST => ending,
        _ => b"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        for (name, expected) in [
            (b"a.rs".as_slice(), b".rs".as_slice()),
            (b"a.tar.gz", b".gz"),
            (b".bashrc", b""),
            (b".a.swp", b".swp"),
            (b"a.", b""),
            (b"", b""),
            (b"a.\xff", b""),
            (b"..", b""),
            (b"a.c++", b".c++"),
            (b"a.7z", b".7z"),
            (b"a.c~", b".c~"),
            (b"a.x86_64", b".x86_64"),
            ("a.данные".as_bytes(), ".данные".as_bytes()),
            ("a.\u{301}".as_bytes(), b""),
            (b"Mr. Smith", b""),
            (b"a.0123456789abcdef", b".0123456789abcdef"),
            (b"a.0123456789abcdef0", b""),
            (b"1764327969.M1P2.host:2,S", b""),
            (b"1764327969.M1P2.host,S=340", b""),
            (b"1764327969.M1P2.host", b".host"),
        ] {
            assert_eq!(ending(name), expected);
        }
    }

    #[test]
    fn ages() {
        let now = 1_000_000_000;
        for (modified, expected) in [
            (now, "under 1 day"),
            (now + DAY, "under 1 day"),
            (now + DAY + 1, "in the future"),
            (now - DAY + 1, "under 1 day"),
            (now - DAY, "1 to 7 days"),
            (now - 5 * 365 * DAY, "5 years or more"),
            (i64::MIN, "5 years or more"),
            (i64::MAX, "in the future"),
        ] {
            let by = By::Age { now };
            let stat = Stat { modified, ..Stat::default() };
            let label = by.with_key(b"", &stat, 0, |key| by.label(key));
            assert_eq!(String::from_utf8_lossy(&label), expected, "{modified}");
        }
    }
}
