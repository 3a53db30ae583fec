//! What deleting a directory gives back, between two bounds.
//!
//! Nearly all of a directory's size is its own and in its total already. So this only keeps what is not: shared space,
//! and inodes with links elsewhere. A file that shares nothing costs nothing here.

use std::mem;
use std::ops::{AddAssign, SubAssign};

use super::Extents;
use crate::sys::MountedIdentity;
use crate::tally::{Link, Links, saturate};
use crate::tree::Totals;

/// What deleting a directory gives back, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freeable {
    /// At least this: what nobody outside shares, and what all links are in the directory to.
    pub least: u64,
    /// At most this: also what is shared, every byte once.
    pub most: u64,
    /// Whether shared bytes count once in `most`. Otherwise there are too many extents, and some may count several
    /// times.
    pub is_exact: bool,
}

/// The part of a file's size that may not be its own, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubtful {
    /// All of it: the whole size of a file that was not asked.
    pub size: u64,
    /// What of it is in extents, which are added by themselves.
    pub in_extents: u64,
}

/// What may not be a directory's own.
#[derive(Debug, Default)]
pub struct Sharing {
    /// Of inodes with one link.
    alone: DoubtfulSum,
    /// Of inodes with several links. It is boxed, because most directories have none that share.
    linked: Option<Box<LinkedSharing>>,
    extents: Extents,
}

#[derive(Debug, Default)]
struct LinkedSharing {
    links: Links<Doubtful>,
    /// The sum of all of them.
    all: DoubtfulSum,
    /// The sizes of those that have links that were not found.
    with_others: u128,
}

#[derive(Clone, Copy, Debug, Default)]
struct DoubtfulSum {
    size: u128,
    in_extents: u128,
}

impl Sharing {
    /// Adds a file with one link.
    pub fn add(&mut self, file: Doubtful) {
        self.alone += file;
    }

    /// Adds one link of a file that has `links`.
    pub fn add_link(&mut self, identity: MountedIdentity, file: Doubtful, links: u32) {
        self.linked.get_or_insert_default().meet(identity, Link::new(file, links));
    }

    /// The extents of all files that were added.
    pub fn extents(&mut self) -> &mut Extents {
        &mut self.extents
    }

    /// Adds another part of the same directory, or a closed subdirectory.
    pub fn absorb(&mut self, mut other: Self) {
        self.alone.size += other.alone.size;
        self.alone.in_extents += other.alone.in_extents;
        let count = |sharing: &Self| sharing.linked.as_ref().map_or(0, |linked| linked.links.len());
        if count(self) < count(&other) {
            mem::swap(&mut self.linked, &mut other.linked);
        }
        if let (Some(linked), Some(mut other)) = (&mut self.linked, other.linked) {
            other.links.drain().for_each(|(identity, link)| linked.meet(identity, link));
        }
        self.extents.absorb(other.extents);
    }

    /// Closes the directory that has these `totals`, in bytes on disk, to which nothing is added any more.
    pub fn close(&mut self, totals: Totals) -> Freeable {
        let covered = self.extents.close();
        let linked = self.linked.as_ref();
        let (all, with_others) =
            linked.map(|linked| (linked.all, linked.with_others)).unwrap_or_default();
        let least = u128::from(totals.size)
            .saturating_sub(totals.shared.into())
            .saturating_sub(self.alone.size + all.size - with_others);
        let most = u128::from(totals.size).saturating_sub(self.alone.in_extents + all.in_extents)
            + u128::from(covered.bytes);
        let (least, most) = (saturate(least), saturate(most.max(least)));
        Freeable { least, most, is_exact: covered.is_exact }
    }
}

impl LinkedSharing {
    fn meet(&mut self, identity: MountedIdentity, link: Link<Doubtful>) {
        let with_others =
            |link: Link<Doubtful>| if link.has_others() { u128::from(link.value.size) } else { 0 };
        let (before, now) = self.links.meet(identity, link, Doubtful::joined);
        if let Some(before) = before {
            self.all -= before.value;
            self.with_others -= with_others(before);
        }
        self.all += now.value;
        self.with_others += with_others(now);
    }
}

impl Doubtful {
    /// What is said of a file that has changed between two links: the one that promises less.
    fn joined(self, other: Self) -> Self {
        Self { size: self.size.max(other.size), in_extents: self.in_extents.min(other.in_extents) }
    }
}

impl AddAssign<Doubtful> for DoubtfulSum {
    fn add_assign(&mut self, file: Doubtful) {
        self.size += u128::from(file.size);
        self.in_extents += u128::from(file.in_extents);
    }
}

impl SubAssign<Doubtful> for DoubtfulSum {
    fn sub_assign(&mut self, file: Doubtful) {
        self.size -= u128::from(file.size);
        self.in_extents -= u128::from(file.in_extents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL_IN_EXTENTS: Doubtful = Doubtful { size: 40, in_extents: 40 };

    fn totals(size: u64, shared: u64) -> Totals {
        Totals { size, shared, ..Totals::default() }
    }

    fn freed(least: u64, most: u64) -> Freeable {
        Freeable { least, most, is_exact: true }
    }

    #[test]
    fn what_shares_nothing_is_freed() {
        assert_eq!(Sharing::default().close(totals(100, 0)), freed(100, 100));
        // An inode with a link elsewhere may be freed, if that is its only other owner.
        assert_eq!(Sharing::default().close(totals(100, 30)), freed(70, 100));
    }

    /// Two files of 50 share 40 with each other, and perhaps with others.
    #[test]
    fn clones_count_once_at_most_and_not_at_least() {
        let mut one = Sharing::default();
        one.add(ALL_IN_EXTENTS);
        one.extents().add(1, 1_000..1_040);
        assert_eq!(one.close(totals(50, 0)), freed(10, 50));
        let mut above = Sharing::default();
        above.add(ALL_IN_EXTENTS);
        above.extents().add(1, 1_000..1_040);
        above.absorb(one);
        assert_eq!(above.close(totals(100, 0)), freed(20, 60));
    }

    /// One inode of 50 with two links, 40 of it shared.
    #[test]
    fn a_link_to_a_clone_counts_once() {
        let mut one = Sharing::default();
        one.add_link((0, (1, 7)), ALL_IN_EXTENTS, 2);
        one.extents().add(1, 1_000..1_040);
        assert_eq!(one.close(totals(50, 50)), freed(0, 50));
        let mut other = Sharing::default();
        other.add_link((0, (1, 7)), ALL_IN_EXTENTS, 2);
        other.extents().add(1, 1_000..1_040);
        let mut above = Sharing::default();
        above.absorb(other);
        above.absorb(one);
        assert_eq!(above.close(totals(50, 0)), freed(10, 50));
    }

    #[test]
    fn what_was_not_asked_is_doubtful_as_a_whole() {
        let mut all = Sharing::default();
        all.add(Doubtful { size: 30, in_extents: 0 });
        assert_eq!(all.close(totals(100, 0)), freed(70, 100));
    }
}
