//! The inodes with several links that a worker has found, so that it need not examine them again.
//!
//! A listing has the inode number of every name. In a package store, most files are hard links to a few thousand
//! inodes, and nearly all the time of a walk went into examining the same inodes again; with this it takes half as
//! long. If links are far apart, as in a row of backups, it does not help and took a tenth longer. So it soon stops
//! trying.

use std::collections::HashMap;
use std::hint::black_box;

use foldhash::fast::RandomState;

use crate::base::inode::Identity;
use crate::sys::Stat;

/// What a worker knows. Each worker has its own, so that none waits.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The attributes of each inode, and how many more links it had at that time. After the last link it is
    /// forgotten. When they were kept until there was no more room, inodes of two links took a third longer.
    stats: HashMap<Identity, (Stat, u32), RandomState>,
    /// How often it helped since it was empty.
    hits: usize,
    /// How many inodes to skip before the next attempt.
    rest: usize,
}

impl Known {
    /// The attributes of an inode of which this is one more link, if they are known.
    #[inline]
    pub(super) fn recall(&mut self, identity: Identity) -> Option<Stat> {
        let (stat, left) = self.stats.get_mut(&identity)?;
        *left -= 1;
        let (stat, is_last) = (*stat, *left == 0);
        self.hits += 1;
        if is_last {
            self.stats.remove(&identity);
        }
        Some(stat)
    }

    /// Reads what is known of these inodes, so that the processor waits for many cache lines at once.
    pub(super) fn fetch(&self, inodes: impl Iterator<Item = Identity>) {
        let read = inodes.filter_map(|identity| self.stats.get(&identity));
        black_box(read.fold(0, |read, (stat, left)| read ^ stat.blocks ^ u64::from(*left)));
    }

    /// Remembers the attributes of the inode of a link seen through `mount`, if that promises to help.
    #[inline]
    pub(super) fn remember(&mut self, mount: u64, stat: &Stat) {
        /// As many as fit 8,192 slots, of 1 MB. Inodes with many links soon come back.
        const MOST: usize = 7_168;
        /// How many times as long to pause as the attempt that did not help.
        const REST: usize = 31;
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        if self.stats.len() >= MOST {
            let rest = if self.hits < MOST { REST * MOST } else { 0 };
            *self = Self { rest, ..Self::default() };
        }
        let left = stat.links.saturating_sub(1);
        if left > 0 {
            self.stats.insert(stat.identity_on(mount), (*stat, left));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inode(inode: u64, links: u32) -> Stat {
        Stat { inode, links, ..Stat::default() }
    }

    fn on(mount: u64, number: u64) -> Identity {
        Identity { mount, device: 0, number }
    }

    #[test]
    fn an_inode_is_forgotten_once_all_its_links_are_met() {
        let mut known = Known::default();
        known.remember(7, &inode(1, 3));
        known.remember(7, &inode(2, 1));
        assert!(known.recall(on(8, 1)).is_none());
        assert_eq!(known.recall(on(7, 1)).map(|stat| stat.links), Some(3));
        assert!(known.recall(on(7, 1)).is_some());
        assert!(known.recall(on(7, 1)).is_none());
        assert!(known.recall(on(7, 2)).is_none());
    }

    #[test]
    fn what_is_of_no_use_is_left_alone_for_a_while() {
        let mut known = Known::default();
        let mut recalled = |number| {
            known.remember(7, &inode(number, 9));
            known.recall(on(7, number / 2)).is_some()
        };
        let useful = (0..100_000).filter(|number| recalled(*number)).count();
        assert!((1..20_000).contains(&useful), "{useful}");
    }
}
