//! The inodes that count, with their sizes, and the directories that lead to them. A scan fills it, and events change it.
//!
//! The inodes that a scan found are one sorted list, 32 bytes each. Later changes are beside it.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::base::inode::{Identity, Links};
use crate::base::path;
use crate::tree::Tree;

/// An inode: the number of its device in the table, and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub device: u32,
    pub inode: u64,
}

/// An inode as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its size on disk, in bytes.
    pub size: u64,
    /// A directory that it is in; of a directory, itself.
    pub directory: u32,
    /// How many names lead to it.
    pub links: u32,
}

/// A directory by its number. The root, or what is above several, is 0.
#[derive(Debug)]
struct Directory {
    key: Key,
    /// The root is its own parent.
    parent: u32,
    name: Box<[u8]>,
}

/// Of the node above several roots.
const NOWHERE: Key = Key { device: u32::MAX, inode: 0 };

#[derive(Debug, Default)]
pub struct Table {
    /// Device numbers.
    devices: Vec<u64>,
    directories: Vec<Directory>,
    /// The numbers of directories that are gone.
    free: Vec<u32>,
    numbers: HashMap<Key, u32, RandomState>,
    scanned: Vec<(Key, Entry)>,
    /// Later changes; none if the inode is gone.
    changed: HashMap<Key, Option<Entry>, RandomState>,
}

impl Table {
    /// The number that a device has in keys.
    pub fn device(&mut self, device: u64) -> u32 {
        self.known_device(device).unwrap_or_else(|| {
            self.devices.push(device);
            (self.devices.len() - 1) as u32
        })
    }

    /// The same, unless the table has no inode on it.
    pub fn known_device(&self, device: u64) -> Option<u32> {
        self.devices.iter().position(|known| *known == device).map(|number| number as u32)
    }

    /// The device with that number.
    pub fn device_number(&self, key: Key) -> Option<u64> {
        self.devices.get(key.device as usize).copied()
    }

    pub fn get(&self, key: Key) -> Option<Entry> {
        match self.changed.get(&key) {
            Some(entry) => *entry,
            None => {
                let at = self.scanned.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                Some(self.scanned[at].1)
            }
        }
    }

    /// Changes what is known of an inode, or removes it. Returns what was known before.
    pub fn put(&mut self, key: Key, entry: Option<Entry>) -> Option<Entry> {
        let before = self.get(key);
        match entry {
            // Another inode may get its number, and many come and go.
            None if self.scanned.binary_search_by_key(&key, |(key, _)| *key).is_err() => {
                self.changed.remove(&key);
            }
            entry => _ = self.changed.insert(key, entry),
        }
        before
    }

    /// The number of a directory.
    pub fn number(&self, key: Key) -> Option<u32> {
        self.numbers.get(&key).copied()
    }

    pub fn key(&self, number: u32) -> Key {
        self.directories.get(number as usize).map_or(NOWHERE, |it| it.key)
    }

    pub fn parent(&self, number: u32) -> Option<u32> {
        let parent = self.directories.get(number as usize)?.parent;
        (parent != number).then_some(parent)
    }

    /// The directory called `name` in another. None if it would contain itself: events are older than the table then.
    pub fn add(&mut self, key: Key, parent: u32, name: &[u8]) -> Option<u32> {
        let directory = Directory { key, parent, name: name.into() };
        if let Some(number) = self.number(key) {
            let mut above = Some(parent);
            while let Some(it) = above {
                if it == number {
                    return None;
                }
                above = self.parent(it);
            }
            self.directories[number as usize] = directory;
            return Some(number);
        }
        let number = self.free.pop().unwrap_or(self.directories.len() as u32);
        match self.directories.get_mut(number as usize) {
            Some(place) => *place = directory,
            None => self.directories.push(directory),
        }
        self.numbers.insert(key, number);
        Some(number)
    }

    /// Forgets a directory. Returns its parent; none for the root, which stays.
    pub fn forget(&mut self, number: u32) -> Option<u32> {
        let parent = self.parent(number)?;
        // Of directories below it, which must be gone, nobody asks any more.
        if self.numbers.remove(&self.key(number)).is_some() {
            self.free.push(number);
        }
        Some(parent)
    }

    /// The names on the path to a directory, from the root on.
    fn names(&self, mut number: u32) -> Vec<&[u8]> {
        let mut names = Vec::new();
        while let Some(directory) = self.directories.get(number as usize) {
            names.push(&*directory.name);
            let Some(parent) = self.parent(number) else { break };
            number = parent;
        }
        names.reverse();
        names
    }

    pub fn path(&self, number: u32) -> Vec<u8> {
        path::join_all(self.names(number))
    }

    /// The path of the root that a directory is below, and the names from there.
    pub fn below_root(&self, number: u32) -> (&[u8], Vec<&[u8]>) {
        let mut names = self.names(number);
        // Above several roots is a node without a name.
        let first = names.iter().position(|name| !name.is_empty()).unwrap_or(0);
        let below = names.split_off((first + 1).min(names.len()));
        (names.last().copied().unwrap_or_default(), below)
    }

    /// Whether each directory is the one with this number, or below it.
    fn within(&self, number: u32) -> Vec<bool> {
        let mut known: Vec<Option<bool>> = vec![None; self.directories.len()];
        if let Some(itself) = known.get_mut(number as usize) {
            *itself = Some(true);
        }
        for start in 0..known.len() {
            let (mut way, mut at) = (Vec::new(), start as u32);
            let is_within = loop {
                match (known[at as usize], self.parent(at)) {
                    (Some(is_within), _) => break is_within,
                    (None, None) => break false,
                    (None, Some(parent)) => {
                        way.push(at);
                        at = parent;
                    }
                }
            };
            known[at as usize] = Some(is_within);
            way.into_iter().for_each(|it| known[it as usize] = Some(is_within));
        }
        known.into_iter().map(|it| it == Some(true)).collect()
    }

    /// Takes the result of a scan: of everything, or of the directory `at`. Returns each change: the inode, what was
    /// known of it, and what is known now; the directories that are gone; and the first directory on each device, with
    /// its mount.
    pub fn take(&mut self, tree: &Tree, at: Option<u32>) -> Taken {
        let (mut taken, mut found) = (Taken::default(), Vec::new());
        let identity = tree.root().inode().map(|inode| inode.identity);
        let key = at.and_then(|_| identity.map(|it| self.key_of(it)));
        if at.is_some_and(|at| key != Some(self.key(at))) {
            // Another directory has its path now, of which events tell.
            return taken;
        }
        let within = at.map(|at| self.within(at));
        let mut numbers = HashMap::<_, u32, RandomState>::default();
        // Each comes before what is below it.
        for directory in tree.root().all_directories().rev() {
            let node = directory.node();
            let identity = node.inode.map(|inode| inode.identity);
            let known = self.devices.len();
            let key = identity.map_or(NOWHERE, |it| self.key_of(it));
            let parent = directory.parent().and_then(|it| numbers.get(&it.id()?).copied());
            let number = match (at, parent) {
                (Some(at), None) => at,
                // The first has the number 0, and is its own parent.
                (_, parent) => {
                    let Some(number) =
                        self.add(key, parent.unwrap_or(0), node.name).or_else(|| self.number(key))
                    else {
                        continue;
                    };
                    number
                }
            };
            // Something else may be mounted there now, on a device with a known number.
            let is_entered = parent.is_some_and(|it| self.key(it).device != key.device);
            let is_first = self.devices.len() > known || is_entered;
            if let Some(identity) = identity.filter(|_| is_first) {
                taken.devices.push((identity, number));
            }
            numbers.extend(directory.id().map(|id| (id, number)));
            let own = node.own.map_or(0, |own| own.disk);
            found.push((key, Entry { size: own, directory: number, links: 1 }));
            for leaf in directory.leaf_nodes() {
                let Some(inode) = leaf.inode else { continue };
                let links = match inode.links {
                    Links::Of(links) => links,
                    Links::Alone | Links::Unknown => 1,
                };
                let size = leaf.sums.all.disk;
                found.push((self.key_of(inode.identity), Entry { size, directory: number, links }));
            }
        }
        found.sort_unstable_by_key(|(key, entry)| (*key, std::cmp::Reverse(entry.size)));
        found.dedup_by_key(|(key, _)| *key);
        let is_found = |key: Key| found.binary_search_by_key(&key, |(key, _)| *key).is_ok();
        let is_within = |entry: &Entry| {
            within.as_ref().is_none_or(|it| it.get(entry.directory as usize) == Some(&true))
        };
        let known = self.scanned.iter().filter(|(key, _)| !self.changed.contains_key(key));
        let known =
            known.copied().chain(self.changed.iter().filter_map(|(k, e)| Some((*k, (*e)?))));
        // Another name of it may be elsewhere, and the kernel says when the inode is gone.
        let may_be_elsewhere = |entry: &Entry| at.is_some() && entry.links > 1;
        let gone = known
            .filter(|(key, entry)| is_within(entry) && !is_found(*key) && !may_be_elsewhere(entry));
        taken.changes.extend(gone.map(|(key, entry)| (key, Some(entry), None)));
        let seen: std::collections::HashSet<_, RandomState> = numbers.into_values().collect();
        let within =
            |number: &u32| within.as_ref().is_none_or(|it| it.get(*number as usize) == Some(&true));
        let gone = self.numbers.values().copied().filter(within);
        taken.gone = gone.filter(|number| !seen.contains(number) && Some(*number) != at).collect();
        for (key, entry) in &found {
            let before = self.get(*key);
            if before != Some(*entry) {
                taken.changes.push((*key, before, Some(*entry)));
            }
        }
        match at {
            None => {
                self.scanned = found;
                self.changed = HashMap::default();
            }
            Some(_) => {
                for (key, _, entry) in &taken.changes {
                    self.put(*key, *entry);
                }
            }
        }
        taken
    }

    fn key_of(&mut self, identity: Identity) -> Key {
        Key { device: self.device(identity.device), inode: identity.number }
    }
}

/// The changes that a scan found.
#[derive(Debug, Default)]
pub struct Taken {
    pub changes: Vec<(Key, Option<Entry>, Option<Entry>)>,
    pub gone: Vec<u32>,
    pub devices: Vec<(Identity, u32)>,
}
