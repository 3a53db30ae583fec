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
use crate::base::measure::{Figures, View};
use crate::tree::sum::{Link, LinkedFigures, LinkedInodes, PlainSum, WideFigures};
use crate::tree::tally::by::By;
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
