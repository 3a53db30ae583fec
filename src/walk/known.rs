//! The inodes with several links that a worker has met, so that it need not ask about them again.
//!
//! A listing gives the inode number of every name. In a store of packages, where most files are hard
//! links to a few thousand inodes, nearly all that a walk did was to ask about the same ones again:
//! with this it takes half as long. Where links are far apart, as in a row of backups, it brings
//! nothing, took a tenth longer, and so is soon left alone.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use crate::sys::{self, MountedIdentity, Stat};

/// What a worker knows. Each has its own, so that nobody waits for anybody.
#[derive(Debug, Default)]
pub(super) struct Known {
    stats: HashMap<MountedIdentity, Stat, RandomState>,
    /// How often it was of use since it was empty.
    hits: usize,
    /// How many inodes are let pass before it is tried again.
    rest: usize,
}

impl Known {
    /// What is known of an inode.
    #[inline]
    pub(super) fn get(&mut self, identity: MountedIdentity) -> Option<&Stat> {
        let stat = self.stats.get(&identity)?;
        self.hits += 1;
        Some(stat)
    }

    /// Remembers an inode seen through `mount`, if that promises to be of use.
    #[inline]
    pub(super) fn remember(&mut self, mount: u64, stat: &Stat) {
        /// What fits 8,192 slots, of 0.9 MB. Those that are met again and again are soon back.
        const MOST: usize = 7_168;
        /// So many times as long as an attempt that was of no use.
        const REST: usize = 31;
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        if self.stats.len() >= MOST {
            self.stats.clear();
            if mem::take(&mut self.hits) < MOST {
                self.rest = REST * MOST;
                return;
            }
        }
        self.stats.insert((mount, stat.identity()), *stat);
    }
}

/// What mount points are called. What a listing tells of such a name is what lies beneath.
#[derive(Debug, Default)]
pub(super) struct MountNames {
    /// Read when first asked for; none where the system does not tell.
    names: OnceLock<Option<HashSet<Vec<u8>>>>,
}

impl MountNames {
    /// Whether something may be mounted on `name`.
    #[inline]
    pub(super) fn may_hide(&self, name: &[u8]) -> bool {
        let names = self.names.get_or_init(sys::mount_names);
        names.as_ref().is_none_or(|names| names.contains(name))
    }
}
