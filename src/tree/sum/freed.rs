//! The total of marked entries, how many entries go with them, and the space that it would free: that of the inodes
//! all of whose links are marked. Each mark updates both; only the marked links are remembered for that.

use super::{Link, LinkedSum, saturate};
use crate::base::inode::Identity;
use crate::tree::{DirectoryId, Freeable, Inode, Place, Totals, Tree};

/// The marked inodes, each counted once.
#[derive(Debug, Default)]
pub struct Freed {
    /// The number of entries that removing the marked ones removes.
    entries: u64,
    /// The total of inodes with one link. 128 bits, so that unmarking can subtract without overflow.
    plain: u128,
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
        let size = saturate(self.plain + self.linked.all);
        Totals { size, entries: self.entries, ..Totals::default() }
    }

    /// How much removing them frees, in the measure's unit: between two bounds, if the walk asked what files share.
    ///
    /// Which extents are in several marks is not known. So those count for each.
    pub fn freed(&self, is_asked: bool) -> Freeable {
        let all = self.plain + self.linked.all - self.linked.with_others;
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
            self.plain += u128::from(size);
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
                    self.plain = self.plain.saturating_sub(size.into());
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
