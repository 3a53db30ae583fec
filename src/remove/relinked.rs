//! The inodes of which this run has removed or moved one of several links. That sets the time of change for all links.
//! Any other change of that time was made by somebody else.

use std::collections::HashMap;
use std::ffi::CStr;
use std::io;

use crate::base::inode::Identity;
use crate::sys::{ExactStat, HeldDirectory, Moment, Stat};

/// These inodes, each with its time of change before and after.
#[derive(Debug, Default)]
pub(super) struct Relinked(HashMap<Identity, Relink>);

#[derive(Debug)]
struct Relink {
    before: Moment,
    after: Moment,
    /// The fingerprints before and after it.
    fingerprints: (u32, u32),
}

impl Relinked {
    /// `now` with the time of change from before this run, if nobody else has changed the inode.
    pub(super) fn as_before_this_run(&self, now: ExactStat) -> ExactStat {
        match self.0.get(&now.stat.identity()) {
            Some(relink) if relink.after == now.changed => {
                let (changed, changed_nanos) = relink.before;
                let stat = Stat { changed, changed_nanos, ..now.stat };
                ExactStat { stat, changed: relink.before, ..now }
            }
            _ => now,
        }
    }

    /// Removes the entry `name` of `held`; a directory only if it is empty. `before` are its attributes, with the time
    /// of change from before this run.
    pub(super) fn remove(
        &mut self,
        held: &HeldDirectory,
        name: &CStr,
        before: &ExactStat,
    ) -> io::Result<()> {
        if before.is_directory() || before.stat.links < 2 {
            self.0.remove(&before.stat.identity());
            return held.remove(name, before.is_directory());
        }
        if let Some(after) = held.remove_link(name)? {
            self.note(before, &after);
        }
        Ok(())
    }

    /// Notes that this run has made `after` of `before`, unless somebody else has changed it too.
    pub(super) fn note(&mut self, before: &ExactStat, after: &ExactStat) {
        let identity = before.stat.identity();
        if after.stat.links == 0 || before.stat.links < 2 || !after.is_same(before) {
            self.0.remove(&identity);
            return;
        }
        let fingerprints = (before.stat.fingerprint(), after.stat.fingerprint());
        let relink = Relink { before: before.changed, after: after.changed, fingerprints };
        self.0.insert(identity, relink);
    }

    /// The fingerprints that each of them had before this run, and has now.
    pub(super) fn fingerprints(self) -> HashMap<Identity, (u32, u32)> {
        self.0.into_iter().map(|(identity, relink)| (identity, relink.fingerprints)).collect()
    }
}
