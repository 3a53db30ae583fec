//! What deleting a directory gives back, between two bounds.
//!
//! Nearly all of a directory's size is its own and in its total already. So this only keeps what is not: shared space,
//! and inodes with links elsewhere. A file that shares nothing costs nothing here.

use std::mem;
use std::ops::{AddAssign, SubAssign};

use super::Extents;
use crate::sys::MountedIdentity;
use crate::tally::{Entry, Link, Links, saturate};
use crate::tree::{Freeable, Totals};

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
    /// The sum of those that have links that were not found.
    with_others: DoubtfulSum,
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

    /// What one link of a file may not own, if anything; and what deleting that link alone gives back.
    pub fn of(entry: &Entry<'_>, file: Doubtful, extents: Extents) -> (Option<Self>, Freeable) {
        let mut one = Self { extents, ..Self::default() };
        let is_own = file.size == 0;
        match entry.identity {
            // The other links keep it.
            Some(identity) => {
                one.add_link(identity, file, entry.links);
                let frees = Freeable { is_exact: true, ..Freeable::default() };
                ((!is_own).then_some(one), frees)
            }
            None => {
                one.add(file);
                let frees = Self::close(Some(&mut one), Totals::of(entry.size));
                ((!is_own).then_some(one), frees)
            }
        }
    }

    /// Closes the directory that has these `totals`, in bytes on disk, to which nothing is added any more. What links
    /// elsewhere lead to stays, and so is not given back.
    pub fn close(sharing: Option<&mut Self>, Totals { size, shared, .. }: Totals) -> Freeable {
        let all = size.saturating_sub(shared);
        let Some(sharing) = sharing else {
            return Freeable { least: all, most: all, is_exact: true };
        };
        let covered = sharing.extents.close();
        let mut doubtful = sharing.alone;
        if let Some(linked) = &sharing.linked {
            doubtful.size += linked.all.size - linked.with_others.size;
            doubtful.in_extents += linked.all.in_extents - linked.with_others.in_extents;
        }
        let least = u128::from(all).saturating_sub(doubtful.size);
        let most = u128::from(all).saturating_sub(doubtful.in_extents) + u128::from(covered.bytes);
        // Extents of what stays are covered, too, and encoded ones are longer than what they take.
        let (least, most) = (saturate(least), saturate(most).min(all));
        Freeable { least, most, is_exact: covered.is_exact }
    }
}

impl LinkedSharing {
    fn meet(&mut self, identity: MountedIdentity, link: Link<Doubtful>) {
        let (before, now) = self.links.meet(identity, link, Doubtful::joined);
        if let Some(before) = before {
            self.all -= before.value;
            if before.has_others() {
                self.with_others -= before.value;
            }
        }
        self.all += now.value;
        if now.has_others() {
            self.with_others += now.value;
        }
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
        assert_eq!(Sharing::close(None, totals(100, 0)), freed(100, 100));
        // An inode with a link elsewhere stays.
        assert_eq!(Sharing::close(None, totals(100, 30)), freed(70, 70));
    }

    /// Two files of 50 share 40 with each other, and perhaps with others.
    #[test]
    fn clones_count_once_at_most_and_not_at_least() {
        let mut one = Sharing::default();
        one.add(ALL_IN_EXTENTS);
        one.extents().add(1, 1_000..1_040);
        assert_eq!(Sharing::close(Some(&mut one), totals(50, 0)), freed(10, 50));
        let mut above = Sharing::default();
        above.add(ALL_IN_EXTENTS);
        above.extents().add(1, 1_000..1_040);
        above.absorb(one);
        assert_eq!(Sharing::close(Some(&mut above), totals(100, 0)), freed(20, 60));
    }

    /// One inode of 50 with two links, 40 of it shared.
    #[test]
    fn a_link_to_a_clone_counts_once() {
        let mut one = Sharing::default();
        one.add_link((0, (1, 7)), ALL_IN_EXTENTS, 2);
        one.extents().add(1, 1_000..1_040);
        assert_eq!(Sharing::close(Some(&mut one), totals(50, 50)), freed(0, 0));
        let mut other = Sharing::default();
        other.add_link((0, (1, 7)), ALL_IN_EXTENTS, 2);
        other.extents().add(1, 1_000..1_040);
        let mut above = Sharing::default();
        above.absorb(other);
        above.absorb(one);
        assert_eq!(Sharing::close(Some(&mut above), totals(50, 0)), freed(10, 50));
    }

    #[test]
    fn what_was_not_asked_is_doubtful_as_a_whole() {
        let mut all = Sharing::default();
        all.add(Doubtful { size: 30, in_extents: 0 });
        assert_eq!(Sharing::close(Some(&mut all), totals(100, 0)), freed(70, 100));
    }
}
