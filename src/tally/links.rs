//! Hard links: which inodes below a directory may still have links elsewhere.
//!
//! Each directory carries the set of inodes that it has met but not yet met all links of. On the
//! way up sets merge, the smaller into the larger, and an inode met on both sides is one. An inode
//! whose last link is met leaves the set: nobody above can meet it again. What remains in a
//! directory's set is what it shares with places outside.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::RandomState;

use crate::sys::MountedIdentity;

/// The inodes with links that have not been met, and what is known of each.
#[derive(Debug)]
pub(super) struct Links<V> {
    open: HashMap<MountedIdentity, Link<V>, RandomState>,
}

/// An inode, as far as its links have been met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<V> {
    value: V,
    met: u32,
    links: u32,
}

/// What is known of an inode now, and what was before.
pub(super) struct Met<V> {
    pub(super) before: Option<V>,
    pub(super) now: V,
    /// Whether its last link has been met, and it has left the set.
    pub(super) is_last: bool,
}

impl<V> Link<V> {
    /// One link of an inode that has `links`, all told.
    pub(super) fn new(value: V, links: u32) -> Self {
        Self { value, met: 1, links }
    }
}

impl<V: Copy> Links<V> {
    /// How many inodes there are.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Meets links of an inode; of what is known of it on both sides, `join` makes one.
    pub(super) fn meet(
        &mut self,
        identity: MountedIdentity,
        link: Link<V>,
        join: impl FnOnce(V, V) -> V,
    ) -> Met<V> {
        match self.open.entry(identity) {
            Entry::Vacant(place) => {
                place.insert(link);
                Met { before: None, now: link.value, is_last: false }
            }
            Entry::Occupied(mut place) => {
                let known = place.get_mut();
                let before = known.value;
                known.value = join(before, link.value);
                known.met = known.met.saturating_add(link.met);
                // It may have been linked anew between the two.
                known.links = known.links.max(link.links);
                let met = Met {
                    before: Some(before),
                    now: known.value,
                    is_last: known.met >= known.links,
                };
                if met.is_last {
                    place.remove();
                }
                met
            }
        }
    }

    /// How many inodes it has room for.
    pub(super) fn capacity(&self) -> usize {
        self.open.capacity()
    }

    /// Takes every inode out of the set.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (MountedIdentity, Link<V>)> {
        self.open.drain()
    }

    /// What is known of each inode.
    pub(super) fn values(&self) -> impl Iterator<Item = V> {
        self.open.values().map(|link| link.value)
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
        Self { open: HashMap::default() }
    }
}
