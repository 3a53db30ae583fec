//! Hard links: the inodes with several links below a directory, each once.
//!
//! Sets are merged upward, the smaller into the larger, and an inode in both is one. Every inode stays in its set to
//! the end, as with `du`. While links are renamed, a walk may find as many links as an inode has and still not all of
//! them: when such inodes were dropped, up to 12.6% too much was counted.
//!
//! Therefore they are packed: in a sum 48 bytes an inode in one list, which grows as needed, and 5 bytes for each place
//! in a table of positions. In a plain hash table, an inode took up to 120 bytes while the table grew.

use std::hash::BuildHasher;
use std::hint::black_box;
use std::mem;
use std::num::NonZeroU32;
use std::ops::{AddAssign, SubAssign};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use indexmap::IndexSet;

use super::saturate;
use crate::base::inode::{Identity, Links, MountedDevice};
use crate::tree::{DirectoryId, Freeable, Inode, Place, Totals, Tree};

/// Inodes, and what is known of each.
#[derive(Debug, Default)]
pub struct LinkedInodes<V> {
    inodes: Vec<LinkedInode<V>>,
    /// The position of each inode in the list.
    positions: HashTable<u32>,
    hasher: RandomState,
    /// The mounts and devices of the inodes. Nearly always there is one.
    devices: IndexSet<MountedDevice, RandomState>,
}

/// Inodes with several links, and what they come to.
#[derive(Debug, Default)]
pub(crate) struct LinkedSum<V, A> {
    pub(crate) inodes: LinkedInodes<V>,
    /// What all of them come to.
    pub(crate) all: A,
    /// What those come to that have links that were not found.
    pub(crate) with_others: A,
}

#[derive(Clone, Copy, Debug)]
struct LinkedInode<V> {
    number: u64,
    /// The number of its device in the set.
    device: u32,
    link: Link<V>,
}

/// An inode, and how many of its links were found.
#[derive(Clone, Copy, Debug)]
pub struct Link<V> {
    /// What is known of it.
    pub value: V,
    met: u32,
    /// How many links it has; none if nobody knows.
    links: Option<NonZeroU32>,
}

impl<V> Link<V> {
    /// One of the `links` of an inode.
    pub fn new(value: V, links: Links) -> Self {
        let links = match links {
            Links::Alone => Some(NonZeroU32::MIN),
            Links::Of(links) => NonZeroU32::new(links).or(Some(NonZeroU32::MIN)),
            Links::Unknown => None,
        };
        Self { value, met: 1, links }
    }

    /// The same with another value.
    pub fn map(self, f: impl FnOnce(V) -> V) -> Self {
        Self { value: f(self.value), ..self }
    }

    /// Whether it has links that were not found.
    pub fn has_others(&self) -> bool {
        self.links.is_none_or(|links| self.met < links.get())
    }
}

impl<V: Copy> LinkedInodes<V> {
    /// How many inodes there are.
    pub(crate) fn len(&self) -> usize {
        self.inodes.len()
    }

    /// How many inodes it has room for.
    pub fn capacity(&self) -> usize {
        self.inodes.capacity()
    }

    /// Adds links of an inode. If it is known already, `join` makes one value of both. Returns what was known before,
    /// if anything, and what is known now.
    pub fn meet(
        &mut self,
        identity: Identity,
        link: Link<V>,
        join: impl FnOnce(V, V) -> V,
    ) -> (Option<Link<V>>, Link<V>) {
        let key = (self.device(identity.mounted_device()), identity.number);
        let (inodes, hasher) = (&mut self.inodes, &self.hasher);
        let entry = self.positions.entry(
            hasher.hash_one(key),
            |at| inodes[*at as usize].key() == key,
            |at| hasher.hash_one(inodes[*at as usize].key()),
        );
        match entry {
            Entry::Vacant(vacant) => {
                // A longer list would take 128 GiB. An inode that does not fit counts once for each link.
                if let Ok(position) = u32::try_from(inodes.len()) {
                    vacant.insert(position);
                    let (device, number) = key;
                    inodes.push(LinkedInode { number, device, link });
                }
                (None, link)
            }
            Entry::Occupied(occupied) => {
                let known = &mut inodes[*occupied.get() as usize].link;
                let before = *known;
                *known = Link {
                    value: join(before.value, link.value),
                    met: before.met.saturating_add(link.met),
                    // It may have got another link between the two.
                    links: before.links.zip(link.links).map(|(one, two)| one.max(two)),
                };
                (Some(before), *known)
            }
        }
    }

    /// Meets one link of an inode less. Returns what was known before, if anything, and what is now.
    pub fn part(&mut self, identity: Identity) -> Option<(Link<V>, Link<V>)> {
        let link = self.find(identity)?;
        let before = *link;
        link.met = before.met.saturating_sub(1);
        Some((before, *link))
    }

    /// Whether all links of an inode were met.
    pub fn has_all(&mut self, identity: Identity) -> bool {
        self.find(identity).is_some_and(|link| !link.has_others())
    }

    fn find(&mut self, identity: Identity) -> Option<&mut Link<V>> {
        let key = (self.device(identity.mounted_device()), identity.number);
        let (inodes, hash) = (&mut self.inodes, self.hasher.hash_one(key));
        let at = *self.positions.find(hash, |at| inodes[*at as usize].key() == key)?;
        Some(&mut inodes[at as usize].link)
    }

    /// Takes every inode out of the set.
    pub fn drain(&mut self) -> impl Iterator<Item = (Identity, Link<V>)> {
        self.positions.clear();
        let devices = &self.devices;
        self.inodes.drain(..).map(|inode| inode.identified(devices))
    }

    /// Reads what this set knows of these inodes of another set, so that the processor waits for many cache lines at
    /// once. With this and `Known::fetch`, a package store takes 0.96 to 0.99 times as long.
    fn fetch(&self, inodes: &[LinkedInode<V>]) {
        let mut read = 0;
        for inode in inodes {
            // Nearly always its device has the same number in both sets, and the first position found is its own.
            let hash = self.hasher.hash_one(inode.key());
            if let Some(at) = self.positions.find(hash, |_| true) {
                let known = &self.inodes[*at as usize];
                read ^= known.number ^ u64::from(known.link.met);
            }
        }
        black_box(read);
    }

    /// The value of each inode.
    pub fn values(&self) -> impl Iterator<Item = V> {
        self.inodes.iter().map(|inode| inode.link.value)
    }

    /// The value of each inode that has links that were not found.
    pub fn with_others(&self) -> impl Iterator<Item = V> {
        let links = self.inodes.iter().map(|inode| inode.link);
        links.filter(Link::has_others).map(|link| link.value)
    }

    /// The number of a device.
    fn device(&mut self, device: MountedDevice) -> u32 {
        match self.devices.first() {
            Some(first) if *first == device => 0,
            _ => self.devices.insert_full(device).0 as u32,
        }
    }
}

impl<V> LinkedInode<V> {
    /// Its identity, by the set's `devices`, and its link.
    fn identified(self, devices: &IndexSet<MountedDevice, RandomState>) -> (Identity, Link<V>) {
        let known = devices.get_index(self.device as usize).copied().unwrap_or_default();
        let MountedDevice { mount, device } = known;
        (Identity { mount, device, number: self.number }, self.link)
    }

    fn key(&self) -> (u32, u64) {
        (self.device, self.number)
    }
}

impl<V: Copy + Into<A>, A: AddAssign + SubAssign> LinkedSum<V, A> {
    /// Adds what is in `other` to `sum`, the smaller to the larger. Returns the one that it leaves empty.
    pub(crate) fn absorb(
        sum: &mut Option<Box<Self>>,
        mut other: Option<Box<Self>>,
        join: impl Fn(V, V) -> V,
    ) -> Option<Box<Self>> {
        /// How many inodes are read ahead.
        const AHEAD: usize = 32;
        let [len, other_len] =
            [&*sum, &other].map(|one| one.as_ref().map_or(0, |one| one.inodes.len()));
        if len < other_len {
            mem::swap(sum, &mut other);
        }
        if let (Some(sum), Some(other)) = (sum, &mut other) {
            for few in other.inodes.inodes.chunks(AHEAD) {
                sum.inodes.fetch(few);
                for inode in few {
                    let (identity, link) = inode.identified(&other.inodes.devices);
                    sum.meet(identity, link, &join);
                }
            }
            // Empties it, and keeps its memory for the next one.
            drop(other.inodes.drain());
        }
        other
    }

    /// Adds links of an inode ([`LinkedInodes::meet`]).
    pub(crate) fn meet(&mut self, identity: Identity, link: Link<V>, join: impl FnOnce(V, V) -> V) {
        let (before, now) = self.inodes.meet(identity, link, join);
        self.change(before, now);
    }

    /// Takes one link of an inode away again.
    pub(crate) fn part(&mut self, identity: Identity) {
        if let Some((before, now)) = self.inodes.part(identity) {
            self.change(Some(before), now);
        }
    }

    /// Counts an inode as it is now, and no more as it was before.
    fn change(&mut self, before: Option<Link<V>>, now: Link<V>) {
        if let Some(before) = before.filter(|before| before.met > 0) {
            self.all -= before.value.into();
            if before.has_others() {
                self.with_others -= before.value.into();
            }
        }
        if now.met == 0 {
            return;
        }
        self.all += now.value.into();
        if now.has_others() {
            self.with_others += now.value.into();
        }
    }
}

// The total of marked entries, how many entries go with them, and the space that it would free: that of the inodes
// all of whose links are marked. Each mark updates both; only the marked links are remembered for that.

/// The marked inodes, each counted once.
#[derive(Debug, Default)]
pub struct Freed {
    /// The number of entries that removing the marked ones removes.
    entries: u64,
    /// The total of inodes with one link. 128 bits, so that unmarking can subtract without overflow.
    single: u128,
    /// The inodes with several links.
    linked: LinkedSum<u64, u128>,
    /// What the marks free at least, each by itself, if the walk asked what files share.
    least: u128,
    /// What the files in one mark share with each other, and so is freed once.
    shared: u128,
}

impl Freed {
    /// The total of the marked entries, counting each inode once, and the number of entries that removing them removes.
    pub fn marked(&self) -> Totals {
        let size = saturate(self.single + self.linked.all);
        Totals { size, entries: self.entries, ..Totals::default() }
    }

    /// How much removing them frees, in the measure's unit: between two bounds, if the walk asked what files share.
    ///
    /// Which extents are in several marks is not known. So those count for each.
    pub fn freed(&self, is_asked: bool) -> Freeable {
        let all = self.single + self.linked.all - self.linked.with_others;
        let most = all.saturating_sub(self.shared);
        let least = if is_asked { self.least.min(most) } else { all };
        Freeable { least: saturate(least), most: saturate(most), extents: 0 }
    }

    /// Whether no inode below the `directory` of `tree` has links elsewhere.
    pub fn is_apart(tree: &Tree, directory: DirectoryId) -> bool {
        let mut freed = Self::default();
        freed.mark(tree, directory.into());
        freed.linked.inodes.with_others().next().is_none()
    }

    /// Whether all links of an inode are marked.
    pub fn has_all(&mut self, identity: Identity) -> bool {
        self.linked.inodes.has_all(identity)
    }

    /// Adds the entry at `place`, with everything below it.
    pub fn mark(&mut self, tree: &Tree, place: Place) {
        let child = tree.at(place);
        self.add_sharing(child.freed(), child.node().sums.frees);
        self.entries += child.removable();
        for (figures, inode) in child.counted() {
            self.add(tree.view().size(&figures), inode);
        }
    }

    /// Adds what counts by itself: inodes with one link, or one of the links of an `inode`.
    pub fn add(&mut self, size: u64, inode: Option<Inode>) {
        let Some(Inode { identity, links, .. }) = inode else {
            self.single += u128::from(size);
            return;
        };
        self.linked.meet(identity, Link::new(size, links), u64::max);
    }

    /// Adds what is known of shared space in an entry that frees so much by its link counts.
    pub fn add_sharing(&mut self, freed: u64, frees: Option<Freeable>) {
        let (least, shared) = sharing(freed, frees);
        self.least += least;
        self.shared += shared;
    }

    /// Removes the entry at `place`, with everything below it.
    pub fn unmark(&mut self, tree: &Tree, place: Place) {
        let child = tree.at(place);
        let (least, shared) = sharing(child.freed(), child.node().sums.frees);
        self.least = self.least.saturating_sub(least);
        self.shared = self.shared.saturating_sub(shared);
        self.entries = self.entries.saturating_sub(child.removable());
        for (figures, inode) in child.counted() {
            match inode {
                Some(inode) => self.linked.part(inode.identity),
                None => {
                    let size = tree.view().size(&figures);
                    self.single = self.single.saturating_sub(size.into());
                }
            }
        }
    }
}

/// What removing an entry frees at least, and what the files in it share with each other; 0 if that is not known.
fn sharing(freed: u64, frees: Option<Freeable>) -> (u128, u128) {
    let Some(frees) = frees else { return (0, 0) };
    (frees.least.into(), freed.saturating_sub(frees.most).into())
}
