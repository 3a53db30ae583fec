//! Hard links: the inodes with several links below a directory, each once.
//!
//! Sets are merged upward, the smaller into the larger, and an inode in both is one. Every inode stays in its set to
//! the end, as with `du`. While links are renamed, a walk may find as many links as an inode has and still not all of
//! them: when such inodes were dropped, up to 12.6% too much was counted.
//!
//! Therefore they are packed: 32 bytes an inode in one list, which grows as needed, and 5 bytes for each place in a
//! table of positions. In a plain hash table, an inode took up to 120 bytes while the table grew.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use indexmap::IndexSet;

use crate::sys::MountedIdentity;

/// Inodes, and what is known of each.
#[derive(Debug)]
pub(crate) struct Links<V> {
    inodes: Vec<LinkedInode<V>>,
    /// The position of each inode in the list.
    positions: HashTable<u32>,
    hasher: RandomState,
    /// The mounts and devices of the inodes. Nearly always there is one.
    volumes: IndexSet<(u64, u64), RandomState>,
}

#[derive(Clone, Copy, Debug)]
struct LinkedInode<V> {
    number: u64,
    /// The number of its volume.
    volume: u32,
    link: Link<V>,
}

/// An inode, and how many of its links were found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<V> {
    pub(crate) value: V,
    met: u32,
    links: u32,
}

impl<V> Link<V> {
    /// One link of an inode that has `links` in total.
    pub(crate) fn new(value: V, links: u32) -> Self {
        Self { value, met: 1, links }
    }

    /// Whether none of its links has been met, or all that were are parted with.
    pub(crate) fn is_unmet(&self) -> bool {
        self.met == 0
    }

    /// Whether it has links that were not found.
    pub(crate) fn has_others(&self) -> bool {
        self.met < self.links
    }
}

impl<V: Copy> Links<V> {
    /// How many inodes there are.
    pub(crate) fn len(&self) -> usize {
        self.inodes.len()
    }

    /// How many inodes it has room for.
    pub(crate) fn capacity(&self) -> usize {
        self.inodes.capacity()
    }

    /// Adds links of an inode. If it is known already, `join` makes one value of both. Returns what was known before,
    /// if anything, and what is known now.
    pub(crate) fn meet(
        &mut self,
        (mount, (device, number)): MountedIdentity,
        link: Link<V>,
        join: impl FnOnce(V, V) -> V,
    ) -> (Option<Link<V>>, Link<V>) {
        let volume = self.volume((mount, device));
        let inodes = &mut self.inodes;
        let is_it = |at: &u32| {
            let inode = &inodes[*at as usize];
            inode.number == number && inode.volume == volume
        };
        let hash = |volume: u32, number: u64| self.hasher.hash_one((volume, number));
        let rehash = |at: &u32| {
            let inode = &inodes[*at as usize];
            hash(inode.volume, inode.number)
        };
        match self.positions.entry(hash(volume, number), is_it, rehash) {
            Entry::Vacant(place) => {
                // A longer list would take 128 GiB. An inode that does not fit counts once for each link.
                if let Ok(position) = u32::try_from(inodes.len()) {
                    place.insert(position);
                    inodes.push(LinkedInode { number, volume, link });
                }
                (None, link)
            }
            Entry::Occupied(place) => {
                let known = &mut inodes[*place.get() as usize].link;
                let before = *known;
                *known = Link {
                    value: join(before.value, link.value),
                    met: before.met.saturating_add(link.met),
                    // It may have got another link between the two.
                    links: before.links.max(link.links),
                };
                (Some(before), *known)
            }
        }
    }

    /// Meets one link of an inode less. Returns what was known before, if anything, and what is now.
    pub(crate) fn part(
        &mut self,
        (mount, (device, number)): MountedIdentity,
    ) -> Option<(Link<V>, Link<V>)> {
        let volume = self.volume((mount, device));
        let hash = self.hasher.hash_one((volume, number));
        let is_it = |at: &u32| {
            let inode = &self.inodes[*at as usize];
            inode.number == number && inode.volume == volume
        };
        let at = *self.positions.find(hash, is_it)?;
        let link = &mut self.inodes[at as usize].link;
        let before = *link;
        link.met = before.met.saturating_sub(1);
        Some((before, *link))
    }

    /// Takes every inode out of the set.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (MountedIdentity, Link<V>)> {
        self.positions.clear();
        let volumes = &self.volumes;
        self.inodes.drain(..).map(|LinkedInode { number, volume, link }| {
            let (mount, device) = volumes.get_index(volume as usize).copied().unwrap_or_default();
            ((mount, (device, number)), link)
        })
    }

    /// The value of each inode.
    pub(crate) fn values(&self) -> impl Iterator<Item = V> {
        self.inodes.iter().map(|inode| inode.link.value)
    }

    /// The value of each inode that has links that were not found.
    pub(crate) fn with_others(&self) -> impl Iterator<Item = V> {
        let links = self.inodes.iter().map(|inode| inode.link);
        links.filter(Link::has_others).map(|link| link.value)
    }

    /// The number of a volume.
    fn volume(&mut self, volume: (u64, u64)) -> u32 {
        match self.volumes.first() {
            Some(first) if *first == volume => 0,
            _ => self.volumes.insert_full(volume).0 as u32,
        }
    }
}

impl<V> Link<V> {
    /// The same with another value.
    pub(crate) fn map(self, f: impl FnOnce(V) -> V) -> Self {
        Self { value: f(self.value), ..self }
    }
}

impl<V> Default for Links<V> {
    fn default() -> Self {
        Self {
            inodes: Vec::new(),
            positions: HashTable::new(),
            hasher: RandomState::default(),
            volumes: IndexSet::default(),
        }
    }
}
