//! What is asked of everything below a directory: the largest files, what groups come to, what is called so, and the
//! links to an inode. The tallies answer it, as they do for a walk; in slices, so that keys are answered meanwhile,
//! however large the tree is.

use std::collections::HashMap;

use super::listing::{Item, last_names};
use super::pattern::NamePattern;
use weigh::internal::base::inode::Identity;
use weigh::internal::base::path;
use weigh::internal::tree::tally::{By, Groups, Limits, Show, Top};
use weigh::internal::tree::total::{AnyReplay, Replay, Shown, stat_of};
use weigh::internal::tree::{Child, DirectoryId, Node, Order, Place, Tree};

/// How many entries a slice has: 5 million take 50 slices of about 15 ms.
const SLICE: usize = 100_000;

/// The most lines of an answer.
const MOST: usize = 10_000;

/// About how many names the paths of an answer have at most. They are written often, and kept by a search: a tree
/// 20,000 directories deep took 8 GB.
const MOST_NAMES: usize = 1_000_000;

/// What is asked.
#[derive(Clone, Debug)]
pub(super) enum TreeQuery {
    /// The largest files.
    Files,
    /// What the groups come to.
    Groups(By),
    /// The largest files in the group of this name.
    Group(By, Vec<u8>),
    /// The largest entries whose names match.
    Named(NamePattern),
    /// The links to an inode.
    Links(Identity),
}

/// A query that is being answered.
pub(super) struct RunningQuery {
    pub(super) query: TreeQuery,
    pub(super) below: DirectoryId,
    /// How many directories are done, and how many entries of the next one.
    directories: u64,
    leaves: usize,
    /// If it answers with entries, the name of each ends in its place.
    tally: Box<dyn AnyReplay>,
    /// The path of the next directory, or the end of it, by which entries of one size are sorted: no answer depends on
    /// the order of the walk. Groups do not need it.
    path: Vec<u8>,
    /// Whether the groups with these keys are the one that is asked for.
    keys: HashMap<Box<[u8]>, bool>,
}

/// What a query comes to.
#[derive(Debug)]
pub(super) enum Answer {
    /// Entries, the largest first.
    Entries {
        places: Vec<Place>,
        /// Whether there are more.
        has_more: bool,
    },
    /// Groups, in their order.
    Groups(Vec<Item<'static>>),
    /// What a walk that goes on has found so far: the names on the path to each entry, from the current directory.
    SoFar {
        ways: Vec<Vec<Vec<u8>>>,
        /// Whether there are more.
        has_more: bool,
    },
}

impl RunningQuery {
    /// Asks about everything below a directory of `tree`.
    pub(super) fn new(query: TreeQuery, tree: &Tree, below: DirectoryId) -> Self {
        let limits = Limits { lines: MOST + 1, show: Show::Files, ..Limits::NONE };
        let mut tally: Box<dyn AnyReplay> = match query {
            TreeQuery::Groups(by) => {
                Box::new(Replay::new(Groups::new(by, tree.view(), limits), 0, None))
            }
            _ => Box::new(Replay::new(Top::new(tree.view(), limits), 0, None)),
        };
        tally.open();
        let (path, keys) = (Vec::new(), HashMap::new());
        Self { query, below, directories: 0, leaves: 0, tally, path, keys }
    }

    /// Looks at the next slice of `tree`. Returns false if it was the last.
    pub(super) fn step(&mut self, tree: &Tree) -> bool {
        let (mut room, are_groups) = (SLICE, matches!(self.query, TreeQuery::Groups(_)));
        for directory in tree.directory(self.below).all_directories_from(self.directories) {
            let is_last = directory.id() == Some(self.below);
            if !are_groups {
                self.path = path::join_all(last_names(&directory));
            }
            match self.query {
                _ if self.leaves > 0 || is_last => {}
                TreeQuery::Groups(_) => self.tally.open(),
                TreeQuery::Named(_) => self.add(&directory),
                _ => {}
            }
            let slice = directory.leaves().skip(self.leaves).take(room);
            let seen = slice.map(|leaf| self.add(&leaf)).count();
            room -= seen;
            if room == 0 {
                self.leaves += seen;
                return true;
            }
            if !is_last && are_groups {
                self.tally.close(&directory.node(), Shown::Always);
            }
            self.directories += 1;
            self.leaves = 0;
            room -= 1;
            if room == 0 {
                return true;
            }
        }
        false
    }

    fn add(&mut self, child: &Child<'_>) {
        let is_meant = match &self.query {
            TreeQuery::Groups(_) => return self.tally.leaf(&child.node(), true),
            TreeQuery::Files => true,
            TreeQuery::Named(pattern) => pattern.is_match(child.name(), child.is_directory()),
            TreeQuery::Links(identity) => {
                child.inode().is_some_and(|inode| inode.identity == *identity)
            }
            TreeQuery::Group(by, name) => {
                let stat = stat_of(&child.node());
                by.with_key(child.name(), &stat, child.size(), |key| match self.keys.get(key) {
                    Some(is_it) => *is_it,
                    None => {
                        let is_it = by.label(key) == *name;
                        self.keys.insert(key.into(), is_it);
                        is_it
                    }
                })
            }
        };
        let Some(place) = child.place().filter(|_| is_meant) else { return };
        let node = child.node();
        // Each inode has one line, but each name that is looked for has its own.
        let is_once = matches!(self.query, TreeQuery::Files | TreeQuery::Group(..));
        let inode = node.inode.filter(|_| is_once);
        let end = self.path.len();
        for part in [b"/", child.name(), &place.to_bytes()] {
            self.path.extend_from_slice(part);
        }
        self.tally.leaf(&Node { name: &self.path, inode, ..node }, true);
        self.path.truncate(end);
    }

    /// The answer, after the last slice of `tree`.
    pub(super) fn answer(mut self, tree: &Tree) -> (TreeQuery, Answer) {
        let found = self.tally.finish(&tree.directory(self.below).node()).in_view(tree.view());
        let TreeQuery::Groups(by) = self.query else {
            let places = found.root().children(Order::Size).into_iter();
            let places = places.filter_map(|it| Place::from_bytes(it.name().last_chunk::<8>()?));
            let mut places: Vec<_> = places.collect();
            let (all, mut names) = (places.len(), 0);
            let shown = places.iter().take(MOST).take_while(|place| {
                let has_room = names < MOST_NAMES || matches!(self.query, TreeQuery::Links(_));
                names += tree.at(**place).names().len();
                has_room
            });
            places.truncate(shown.count());
            let has_more = places.len() < all;
            return (self.query, Answer::Entries { places, has_more });
        };
        let order = by.order().map_or(Order::Size, Order::Listed);
        let groups = found.root().children(order).into_iter();
        let groups = groups.map(|it| Item {
            name: it.name().to_vec().into(),
            mode: it.mode(),
            totals: it.totals(),
            ..Item::default()
        });
        (self.query, Answer::Groups(groups.collect()))
    }
}
