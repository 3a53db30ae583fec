//! Hard links: which inodes below a directory may still have links elsewhere.
//!
//! Each directory carries the set of inodes that it has met but not yet met all links of. On the
//! way up sets merge, the smaller into the larger, and an inode met on both sides counts once. An
//! inode whose last link is met leaves the set: nobody above can meet it again. What remains in a
//! directory's set is what it shares with places outside.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;

use foldhash::fast::RandomState;

use crate::sys::MountedIdentity;

/// What a directory comes to, exactly: every inode once. 128 bits, because sparse files can be
/// nearly 2^63 bytes each, and a saturated sum could not give back what turns out to count twice.
#[derive(Debug, Default)]
pub(super) struct Sum {
    /// The weight of what cannot be met again.
    settled: u128,
    /// Inodes that cannot be met again.
    entries: u64,
    links: Links,
}

#[derive(Debug, Default)]
struct Links {
    open: HashMap<MountedIdentity, Link, RandomState>,
    /// The weight of all that is open.
    weight: u128,
}

/// An inode with links that have not been met.
#[derive(Clone, Copy, Debug)]
struct Link {
    weight: u64,
    met: u32,
    links: u32,
}

impl Sum {
    /// Adds an inode that cannot be met again.
    #[inline]
    pub(super) fn add(&mut self, weight: u64) {
        self.settled += u128::from(weight);
        self.entries += 1;
    }

    /// Adds one link of an inode that has `links`.
    pub(super) fn add_link(&mut self, identity: MountedIdentity, weight: u64, links: u32) {
        self.meet(identity, Link { weight, met: 1, links });
    }

    /// Adds what another directory, or another part of the same one, comes to.
    pub(super) fn absorb(&mut self, mut other: Sum) {
        self.settled += other.settled;
        self.entries += other.entries;
        if self.links.open.len() < other.links.open.len() {
            mem::swap(&mut self.links, &mut other.links);
        }
        for (identity, link) in other.links.open {
            self.meet(identity, link);
        }
    }

    /// The weight of every inode, each once.
    pub(super) fn size(&self) -> u64 {
        saturate(self.settled + self.links.weight)
    }

    /// The weight of the inodes that have links outside.
    pub(super) fn shared(&self) -> u64 {
        saturate(self.links.weight)
    }

    /// The number of inodes.
    pub(super) fn entries(&self) -> u64 {
        self.entries + self.links.open.len() as u64
    }

    fn meet(&mut self, identity: MountedIdentity, link: Link) {
        let links = &mut self.links;
        match links.open.entry(identity) {
            Entry::Vacant(place) => {
                place.insert(link);
                links.weight += u128::from(link.weight);
            }
            Entry::Occupied(mut place) => {
                let known = place.get_mut();
                // A file that grows while it is weighed, or is linked anew, has its larger self.
                links.weight -= u128::from(known.weight);
                known.weight = known.weight.max(link.weight);
                known.links = known.links.max(link.links);
                known.met = known.met.saturating_add(link.met);
                if known.met < known.links {
                    links.weight += u128::from(known.weight);
                } else {
                    self.settled += u128::from(known.weight);
                    self.entries += 1;
                    place.remove();
                }
            }
        }
    }
}

fn saturate(weight: u128) -> u64 {
    u64::try_from(weight).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(links: &[(u64, u64, u32)]) -> Sum {
        let mut sum = Sum::default();
        for &(inode, weight, links) in links {
            sum.add_link((0, (1, inode)), weight, links);
        }
        sum
    }

    #[test]
    fn an_inode_counts_once_and_leaves_with_its_last_link() {
        let mut above = sum(&[(1, 10, 3), (2, 5, 2)]);
        assert_eq!((above.size(), above.shared(), above.entries()), (15, 15, 2));
        above.absorb(sum(&[(1, 10, 3)]));
        assert_eq!((above.size(), above.shared(), above.entries()), (15, 15, 2));
        above.absorb(sum(&[(1, 10, 3), (2, 5, 2), (3, 7, 2)]));
        assert_eq!((above.size(), above.shared(), above.entries()), (22, 7, 3));
        assert_eq!(above.links.open.len(), 1);
    }

    #[test]
    fn all_links_in_one_directory_share_nothing() {
        let within = sum(&[(1, 10, 2), (1, 10, 2)]);
        assert_eq!((within.size(), within.shared(), within.entries()), (10, 0, 1));
    }

    #[test]
    fn sums_saturate_and_still_give_back_what_counts_twice() {
        let mut huge = sum(&[(1, u64::MAX, 2)]);
        huge.absorb(sum(&[(1, u64::MAX, 2)]));
        assert_eq!((huge.size(), huge.entries()), (u64::MAX, 1));
        huge.add(1);
        assert_eq!(huge.size(), u64::MAX);
    }
}
