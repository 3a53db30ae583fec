//! Adds up inodes, each once, and what removing some of them frees.

mod freed;
mod linked;
mod settled;

use std::cell::RefCell;

use crate::base::inode::{Identity, Links};
use crate::base::measure::Figures;
use crate::tree::{Inode, Sums};
pub use freed::Freed;
pub(crate) use linked::LinkedSum;
pub use linked::{Link, LinkedInodes};
pub use settled::saturate;
pub(crate) use settled::{Amounts, Settled};

/// The exact sum of a directory.
#[derive(Debug, Default)]
pub struct Sum {
    /// Inodes with one link.
    settled: Settled,
    /// Inodes with several links. They are boxed, because most directories have none.
    linked: Option<Box<LinkedFiguresSum>>,
}

type LinkedFiguresSum = LinkedSum<LinkedFigures, Amounts>;

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
        self.settled.add(figures);
    }

    /// Adds one link of an inode that has `links`.
    pub fn add_link(&mut self, identity: Identity, figures: &Figures, links: Links) {
        self.settled.newest = self.settled.newest.max(figures.newest);
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
        self.settled.absorb(other.settled);
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
        let mut settled = self.settled;
        let mut shared = Figures::default();
        if let Some(linked) = &self.linked {
            settled.amounts += linked.all;
            settled.entries += linked.inodes.len() as u64;
            shared = linked.with_others.figures();
        }
        Sums { all: settled.figures(), shared, entries: settled.entries, ..Sums::default() }
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

impl From<LinkedFigures> for Amounts {
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
