//! Hard links: the inodes with several links that are met below a directory, each once.
//!
//! On the way up sets merge, the smaller into the larger, and an inode met on both sides is one. None
//! ever leaves its set, as none leaves that of `du`: while links are made, removed and renamed, to have
//! met as many as an inode has does not mean to have met them all. A renamed one may be met twice, and
//! one that is met already may be met again under its new name. Up to 12.6 % too much was counted when
//! inodes left.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::RandomState;

use crate::sys::MountedIdentity;

/// Inodes, and what is known of each.
#[derive(Debug)]
pub(super) struct Links<V> {
    inodes: HashMap<MountedIdentity, Link<V>, RandomState>,
}

/// An inode, as far as its links have been met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<V> {
    pub(super) value: V,
    met: u32,
    links: u32,
}

impl<V> Link<V> {
    /// One link of an inode that has `links`, all told.
    pub(super) fn new(value: V, links: u32) -> Self {
        Self { value, met: 1, links }
    }

    /// Whether it has links that have not been met.
    pub(super) fn has_others(&self) -> bool {
        self.met < self.links
    }
}

impl<V: Copy> Links<V> {
    /// How many inodes there are.
    pub(super) fn len(&self) -> usize {
        self.inodes.len()
    }

    /// Meets links of an inode; of what is known of it on both sides, `join` makes one. Returns what
    /// was known before, if anything, and what is now.
    pub(super) fn meet(
        &mut self,
        identity: MountedIdentity,
        link: Link<V>,
        join: impl FnOnce(V, V) -> V,
    ) -> (Option<Link<V>>, Link<V>) {
        match self.inodes.entry(identity) {
            Entry::Vacant(place) => (None, *place.insert(link)),
            Entry::Occupied(mut place) => {
                let known = place.get_mut();
                let before = *known;
                *known = Link {
                    value: join(before.value, link.value),
                    met: before.met.saturating_add(link.met),
                    // It may have been linked anew between the two.
                    links: before.links.max(link.links),
                };
                (Some(before), *known)
            }
        }
    }

    /// How many inodes it has room for.
    pub(super) fn capacity(&self) -> usize {
        self.inodes.capacity()
    }

    /// Takes every inode out of the set.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (MountedIdentity, Link<V>)> {
        self.inodes.drain()
    }

    /// What is known of each inode.
    pub(super) fn values(&self) -> impl Iterator<Item = V> {
        self.inodes.values().map(|link| link.value)
    }
}

impl<V> Link<V> {
    /// The same with something else known of it.
    pub(super) fn map(self, f: impl FnOnce(V) -> V) -> Self {
        Self { value: f(self.value), ..self }
    }
}

impl<V> Default for Links<V> {
    fn default() -> Self {
        Self { inodes: HashMap::default() }
    }
}
