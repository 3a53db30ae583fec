//! Adds up inodes, each once, and what removing some of them frees.

mod linked;

use std::cell::RefCell;
use std::ops::{AddAssign, SubAssign};

use crate::base::inode::{Identity, Links};
use crate::base::measure::Figures;
use crate::tree::{Inode, Sums};

pub(crate) use linked::LinkedSum;
pub use linked::{Freed, Link, LinkedInodes};

/// The exact sum of a directory.
#[derive(Debug, Default)]
pub struct Sum {
    /// Inodes with one link.
    plain: PlainSum,
    /// Inodes with several links. They are boxed, because most directories have none.
    linked: Option<Box<LinkedFiguresSum>>,
}

type LinkedFiguresSum = LinkedSum<LinkedFigures, WideFigures>;

/// What an inode with several links comes to. Its time counts at once, so it is not here; and an inode counts as one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkedFigures {
    disk: u64,
    length: u64,
    files: u8,
    inodes: u8,
}

thread_local! {
    /// Empty sets of this thread, for the next directories with links.
    ///
    /// In a package store, where most files are links, every directory grew its own set in steps: 0.42 allocations an
    /// entry, and now 0.23; that was a twentieth of the time.
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    static SPARE: RefCell<Vec<Box<LinkedFiguresSum>>> = const { RefCell::new(Vec::new()) };
}

impl Sum {
    /// Adds an inode with one link.
    #[inline]
    pub fn add(&mut self, figures: &Figures) {
        self.plain.add(figures);
    }

    /// Adds one link of an inode that has `links`.
    pub fn add_link(&mut self, identity: Identity, figures: &Figures, links: Links) {
        self.plain.newest = self.plain.newest.max(figures.newest);
        let linked =
            self.linked.get_or_insert_with(|| SPARE.with_borrow_mut(Vec::pop).unwrap_or_default());
        let link = Link::new(LinkedFigures::from(figures), links);
        linked.meet(identity, link, LinkedFigures::larger);
    }

    /// Adds inodes of a tree ([`Child::counted`](crate::tree::Child::counted)). The sums of its directories do not say
    /// enough: they are saturated, and tell nothing of links.
    pub fn add_counted(&mut self, counted: impl Iterator<Item = (Figures, Option<Inode>)>) {
        for (figures, inode) in counted {
            match inode {
                Some(Inode { identity, links, .. }) => self.add_link(identity, &figures, links),
                None => self.add(&figures),
            }
        }
    }

    /// Adds the sum of another directory, or of another part of the same one.
    pub fn absorb(&mut self, other: Sum) {
        self.plain.absorb(other.plain);
        let linked = LinkedSum::absorb(&mut self.linked, other.linked, LinkedFigures::larger);
        linked.into_iter().for_each(spare);
    }

    /// Whether it takes long to absorb `other`, because both have many inodes with several links.
    pub fn takes_long_with(&self, other: &Self) -> bool {
        const MANY: usize = 32;
        let has_many = |sum: &Self| sum.linked.as_ref().is_some_and(|one| one.inodes.len() > MANY);
        has_many(self) && has_many(other)
    }

    /// What it comes to so far.
    pub fn sums(&self) -> Sums {
        let mut all = self.plain;
        let mut shared = Figures::default();
        if let Some(linked) = &self.linked {
            all.wide += linked.all;
            all.entries += linked.inodes.len() as u64;
            shared = linked.with_others.figures();
        }
        Sums { all: all.figures(), shared, entries: all.entries, ..Sums::default() }
    }
}

impl LinkedFigures {
    /// If a file grows during the walk, its larger size counts.
    pub(crate) fn larger(self, other: Self) -> Self {
        Self {
            disk: self.disk.max(other.disk),
            length: self.length.max(other.length),
            files: self.files.max(other.files),
            inodes: self.inodes.max(other.inodes),
        }
    }
}

impl From<&Figures> for LinkedFigures {
    fn from(figures: &Figures) -> Self {
        let [files, inodes] = [figures.files, figures.inodes].map(|count| count.min(1) as u8);
        Self { disk: figures.disk, length: figures.length, files, inodes }
    }
}

impl From<LinkedFigures> for Figures {
    fn from(LinkedFigures { disk, length, files, inodes }: LinkedFigures) -> Self {
        Self { disk, length, files: files.into(), inodes: inodes.into(), newest: None }
    }
}

impl From<LinkedFigures> for WideFigures {
    fn from(figures: LinkedFigures) -> Self {
        Figures::from(figures).into()
    }
}

/// Keeps a set that was emptied, unless it takes too much memory.
fn spare(mut linked: Box<LinkedFiguresSum>) {
    const MOST: usize = 8;
    const LARGEST: usize = 512;
    (linked.all, linked.with_others) = Default::default();
    SPARE.with_borrow_mut(|spare| {
        if spare.len() < MOST && linked.inodes.capacity() <= LARGEST {
            spare.push(linked);
        }
    });
}

// Sums in 128 bits.

/// A sum of figures. It has 128 bits, because sparse files can have nearly 2^63 bytes each, and a saturated sum could
/// not be corrected.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WideFigures {
    pub(crate) disk: u128,
    pub(crate) length: u128,
    pub(crate) files: u128,
    pub(crate) inodes: u128,
}

/// The sum of inodes that are found once, and need not be remembered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlainSum {
    pub(crate) wide: WideFigures,
    pub(crate) entries: u64,
    /// The maximum, which includes inodes with several links, because counting them twice does not change it.
    pub(crate) newest: Option<i64>,
}

impl PlainSum {
    #[inline]
    pub(crate) fn add(&mut self, figures: &Figures) {
        self.wide += *figures;
        self.entries += 1;
        self.newest = self.newest.max(figures.newest);
    }

    pub(crate) fn absorb(&mut self, other: PlainSum) {
        self.wide += other.wide;
        self.entries += other.entries;
        self.newest = self.newest.max(other.newest);
    }

    /// The figures that they come to.
    pub(crate) fn figures(&self) -> Figures {
        Figures { newest: self.newest, ..self.wide.figures() }
    }
}

impl WideFigures {
    /// The figures that they come to, without a time.
    pub(crate) fn figures(self) -> Figures {
        let Self { disk, length, files, inodes } = self;
        let [disk, length, files, inodes] = [disk, length, files, inodes].map(saturate);
        Figures { disk, length, files, inodes, newest: None }
    }
}

impl<T: Into<WideFigures>> AddAssign<T> for WideFigures {
    #[inline]
    fn add_assign(&mut self, other: T) {
        let other = other.into();
        self.disk += other.disk;
        self.length += other.length;
        self.files += other.files;
        self.inodes += other.inodes;
    }
}

impl<T: Into<WideFigures>> SubAssign<T> for WideFigures {
    #[inline]
    fn sub_assign(&mut self, other: T) {
        let other = other.into();
        self.disk -= other.disk;
        self.length -= other.length;
        self.files -= other.files;
        self.inodes -= other.inodes;
    }
}

impl From<Figures> for WideFigures {
    #[inline]
    fn from(Figures { disk, length, files, inodes, .. }: Figures) -> Self {
        let [disk, length, files, inodes] = [disk, length, files, inodes].map(u128::from);
        Self { disk, length, files, inodes }
    }
}

/// A weight that fits 64 bits.
pub fn saturate(weight: u128) -> u64 {
    u64::try_from(weight).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(links: &[(u64, u64, u32)]) -> Sum {
        let mut sum = Sum::default();
        for &(inode, weight, links) in links {
            let identity = Identity { number: inode, ..Identity::default() };
            sum.add_link(identity, &of(weight), Links::Of(links));
        }
        sum
    }

    /// A file of this size on disk, half as long.
    fn of(disk: u64) -> Figures {
        Figures { disk, length: disk / 2, files: 1, inodes: 1, newest: None }
    }

    /// On disk: all of it, what is shared, and the entries.
    fn seen(sums: Sums) -> (u64, u64, u64) {
        (sums.all.disk, sums.shared.disk, sums.entries)
    }

    #[test]
    fn an_inode_counts_once_and_is_shared_until_its_last_link() {
        let mut above = sum(&[(1, 10, 3), (2, 5, 2)]);
        assert_eq!(seen(above.sums()), (15, 15, 2));
        above.absorb(sum(&[(1, 10, 3)]));
        assert_eq!(seen(above.sums()), (15, 15, 2));
        above.absorb(sum(&[(1, 10, 3), (2, 5, 2), (3, 7, 2)]));
        assert_eq!(seen(above.sums()), (22, 7, 3));
    }

    /// A renamed link may be found twice, and then an inode has more links than its link count says.
    #[test]
    fn an_inode_counts_once_however_often_it_is_met() {
        let mut above = sum(&[(1, 10, 2), (1, 10, 2)]);
        above.absorb(sum(&[(1, 10, 2)]));
        assert_eq!(seen(above.sums()), (10, 0, 1));
    }

    #[test]
    fn all_links_in_one_directory_share_nothing() {
        assert_eq!(seen(sum(&[(1, 10, 2), (1, 10, 2)]).sums()), (10, 0, 1));
    }

    #[test]
    fn sums_saturate_and_still_give_back_what_counts_twice() {
        let mut huge = sum(&[(1, u64::MAX, 2)]);
        huge.absorb(sum(&[(1, u64::MAX, 2)]));
        assert_eq!(seen(huge.sums()), (u64::MAX, 0, 1));
        huge.add(&of(1));
        assert_eq!(huge.sums().all.disk, u64::MAX);
    }

    #[test]
    fn each_figure_is_added_up_and_shared_by_itself() {
        let mut sum = sum(&[(1, 10, 2)]);
        let newest = Some(-5);
        sum.add(&Figures { disk: 3, inodes: 1, newest, ..Figures::default() });
        let all = Figures { disk: 13, length: 5, files: 1, inodes: 2, newest };
        let sums = Sums { all, shared: of(10), entries: 2, frees: None };
        assert_eq!(sum.sums(), sums);
    }
}
