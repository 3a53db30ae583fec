//! What deleting a directory frees, between two bounds.
//!
//! Nearly all of a directory's size is its own and in its total already. So this only keeps what is not: shared space,
//! and inodes with links elsewhere. A file that shares nothing costs nothing here.

use std::ops::{AddAssign, SubAssign};

use super::Extents;
use crate::tree::sum::{Link, LinkedSum, saturate};
use crate::tree::tally::Entry;
use crate::tree::{Freeable, Sums};

/// The part of a file's size that may not be its own, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaybeShared {
    /// All of it: the whole size of a file that was not asked.
    pub size: u64,
    /// What of it is in extents, which are added by themselves.
    pub in_extents: u64,
}

/// A file that may share space: how much of it, and where. It is asked once, for all of its links.
#[derive(Clone, Debug)]
pub struct SharingFile {
    /// The part that may not be its own.
    pub maybe_shared: MaybeShared,
    /// The extents that are in doubt.
    pub extents: Extents,
}

/// What may not be a directory's own.
#[derive(Debug)]
pub struct Sharing {
    /// Of inodes with one link.
    alone: MaybeSharedSum,
    /// Of inodes with several links. It is boxed, because most directories have none that share.
    linked: Option<Box<LinkedSum<MaybeShared, MaybeSharedSum>>>,
    extents: Extents,
}

#[derive(Clone, Copy, Debug, Default)]
struct MaybeSharedSum {
    size: u128,
    in_extents: u128,
}

impl Sharing {
    /// What `entry`, one link of a file, may not own.
    pub fn of(entry: &Entry<'_>, SharingFile { maybe_shared, extents }: SharingFile) -> Self {
        let mut one = Self { alone: MaybeSharedSum::default(), linked: None, extents };
        match entry.linked() {
            Some(identity) => {
                let link = Link::new(maybe_shared, entry.links);
                one.linked.get_or_insert_default().meet(identity, link, MaybeShared::joined);
            }
            None => one.alone += maybe_shared.into(),
        }
        one
    }

    /// Adds another part of the same directory, or a closed subdirectory.
    pub fn absorb(&mut self, other: Self) {
        self.alone += other.alone;
        LinkedSum::absorb(&mut self.linked, other.linked, MaybeShared::joined);
        self.extents.absorb(other.extents);
    }

    /// What deleting a directory with these `sums` frees, in bytes on disk. Inodes with links elsewhere stay.
    pub fn close(sharing: Option<&Self>, Sums { all, shared, .. }: &Sums) -> Freeable {
        let all = all.disk.saturating_sub(shared.disk);
        let Some(Self { alone, linked, extents }) = sharing else {
            return Freeable { least: all, most: all, extents: 0 };
        };
        let mut maybe_shared = *alone;
        if let Some(linked) = linked {
            maybe_shared += linked.all;
            maybe_shared -= linked.with_others;
        }
        let least = saturate(u128::from(all).saturating_sub(maybe_shared.size));
        let rest = u128::from(all).saturating_sub(maybe_shared.in_extents);
        // Extents of what stays are covered, too, and encoded ones are longer than what they take.
        let most = extents.covered().map_or(all, |covered| saturate(rest + u128::from(covered)));
        let most = most.min(all);
        Freeable { least, most, extents: extents.listed() }
    }
}

impl MaybeShared {
    /// Joins the answers for two links of a file that changed in between: the wider bounds.
    fn joined(self, other: Self) -> Self {
        Self { size: self.size.max(other.size), in_extents: self.in_extents.min(other.in_extents) }
    }
}

impl From<MaybeShared> for MaybeSharedSum {
    fn from(MaybeShared { size, in_extents }: MaybeShared) -> Self {
        Self { size: size.into(), in_extents: in_extents.into() }
    }
}

impl AddAssign for MaybeSharedSum {
    fn add_assign(&mut self, other: Self) {
        self.size += other.size;
        self.in_extents += other.in_extents;
    }
}

impl SubAssign for MaybeSharedSum {
    fn sub_assign(&mut self, other: Self) {
        self.size -= other.size;
        self.in_extents -= other.in_extents;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::inode::Links;
    use crate::base::measure::Figures;
    use crate::sys::Stat;

    const ALL_IN_EXTENTS: MaybeShared = MaybeShared { size: 40, in_extents: 40 };

    fn sums(all: u64, shared: u64) -> Sums {
        let [all, shared] = [all, shared].map(|disk| Figures { disk, ..Figures::default() });
        Sums { all, shared, ..Sums::default() }
    }

    fn freed(least: u64, most: u64, extents: u64) -> Freeable {
        Freeable { least, most, extents }
    }

    /// A file of 50 bytes, or one link of it, that has 40 of them in an extent.
    fn sharing(links: u32) -> Sharing {
        let mut extents = Extents::new(&Arc::default());
        extents.add(1, 1_000..1_040);
        let stat = Stat { links, ..Stat::default() };
        let figures = Figures { disk: 50, ..Figures::default() };
        let mut entry = Entry::new(b"file", 1, &stat, figures, 1);
        entry.links = if links > 1 { Links::Of(links) } else { Links::Alone };
        Sharing::of(&entry, SharingFile { maybe_shared: ALL_IN_EXTENTS, extents })
    }

    #[test]
    fn what_shares_nothing_is_freed() {
        assert_eq!(Sharing::close(None, &sums(100, 0)), freed(100, 100, 0));
        // An inode with a link elsewhere stays.
        assert_eq!(Sharing::close(None, &sums(100, 30)), freed(70, 70, 0));
    }

    /// Two files of 50 share 40 with each other, and perhaps with others.
    #[test]
    fn clones_count_once_at_most_and_not_at_least() {
        let one = sharing(1);
        assert_eq!(Sharing::close(Some(&one), &sums(50, 0)), freed(10, 50, 1));
        let mut above = sharing(1);
        above.absorb(one);
        assert_eq!(Sharing::close(Some(&above), &sums(100, 0)), freed(20, 60, 2));
    }

    /// One inode of 50 with two links, 40 of it shared.
    #[test]
    fn a_link_to_a_clone_counts_once() {
        let one = sharing(2);
        assert_eq!(Sharing::close(Some(&one), &sums(50, 50)), freed(0, 0, 1));
        let mut above = sharing(2);
        above.absorb(one);
        assert_eq!(Sharing::close(Some(&above), &sums(50, 0)), freed(10, 50, 2));
    }

    #[test]
    fn what_was_not_asked_may_be_shared_as_a_whole() {
        let mut all = sharing(1);
        all.alone += MaybeShared { size: 30, in_extents: 0 }.into();
        assert_eq!(Sharing::close(Some(&all), &sums(120, 0)), freed(50, 120, 1));
    }
}
