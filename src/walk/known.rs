//! The inodes with several links that a worker has met, so that it need not ask about them again.
//!
//! A listing gives the inode number of every name. In a store of packages, where most files are hard
//! links to a few thousand inodes, nearly all that a walk did was to ask about the same ones again:
//! with this it takes half as long. Where links are far apart, as in a row of backups, it brings
//! nothing, took a tenth longer, and so is soon left alone.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::sys::{MountedIdentity, Stat};

/// What a worker knows. Each has its own, so that nobody waits for anybody.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// What each inode is, and how many more links it had when that was asked. With the last of them it
    /// is forgotten: kept until there is no more room, inodes of two links took a third longer.
    stats: HashMap<MountedIdentity, (Stat, u32), RandomState>,
    /// How often it was of use since it was empty.
    hits: usize,
    /// How many inodes are let pass before it is tried again.
    rest: usize,
}

impl Known {
    /// What is known of the inode of one more link.
    #[inline]
    pub(super) fn recall(&mut self, identity: MountedIdentity) -> Option<Stat> {
        let (stat, left) = self.stats.get_mut(&identity)?;
        *left -= 1;
        let (stat, is_last) = (*stat, *left == 0);
        self.hits += 1;
        if is_last {
            self.stats.remove(&identity);
        }
        Some(stat)
    }

    /// Remembers what was said of the inode of a link seen through `mount`, if that promises to be of
    /// use.
    #[inline]
    pub(super) fn remember(&mut self, mount: u64, stat: &Stat) {
        /// What fits 8,192 slots, of 1 MB. Those that are met again and again are soon back.
        const MOST: usize = 7_168;
        /// So many times as long as an attempt that was of no use.
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
            self.stats.insert((mount, stat.identity()), (*stat, left));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inode(inode: u64, links: u32) -> Stat {
        Stat { inode, links, ..Stat::default() }
    }

    #[test]
    fn an_inode_is_forgotten_once_all_its_links_are_met() {
        let mut known = Known::default();
        known.remember(7, &inode(1, 3));
        known.remember(7, &inode(2, 1));
        assert!(known.recall((8, (0, 1))).is_none());
        assert_eq!(known.recall((7, (0, 1))).map(|stat| stat.links), Some(3));
        assert!(known.recall((7, (0, 1))).is_some());
        assert!(known.recall((7, (0, 1))).is_none());
        assert!(known.recall((7, (0, 2))).is_none());
    }

    #[test]
    fn what_is_of_no_use_is_left_alone_for_a_while() {
        let mut known = Known::default();
        let mut recalled = |number| {
            known.remember(7, &inode(number, 9));
            known.recall((7, (0, number / 2))).is_some()
        };
        let useful = (0..100_000).filter(|number| recalled(*number)).count();
        assert!((1..20_000).contains(&useful), "{useful}");
    }
}
