//! What a directory comes to: the one place where one closes, whatever says what is in it. A source says
//! what there is; this says what it comes to, by what an inode weighs, how links count, and what is shared.

mod add_up;
mod replay;
mod sum;

use std::ops::DerefMut;

pub use add_up::{add_up, add_up_all};
pub use replay::{Replay, replay};
pub use sum::Sum;

use crate::measure::Measure;
use crate::sys::Stat;
use crate::tally::{Closed, Entry, Tally};
use crate::tree::Totals;

/// How things count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// What the totals count.
    pub measure: Measure,
    /// What sizes beside them count, where those are times and sizes are known.
    pub sizes: Option<Measure>,
    /// Whether symlinks are followed: they add ways to an inode that its link count does not know, and lead
    /// through any mount.
    pub follow: bool,
    /// Whether every hard link counts each time.
    pub count_links: bool,
    /// Whether only what has no links outside counts: a directory without what it shares, and no link alone.
    pub unique: bool,
}

/// What has been gathered in a directory, or in a part of a large one. `P` is what the tally gathers.
#[derive(Debug, Default)]
pub struct Subtotal<P> {
    sum: Sum,
    pub(crate) part: P,
}

/// A directory to be closed.
#[derive(Clone, Copy, Debug)]
pub struct Directory<'a> {
    /// Its name, as bytes; a root's path as given.
    pub name: &'a [u8],
    /// How many levels below the root it lies; a root is at 0.
    pub depth: u32,
    /// What is known of its inode.
    pub stat: &'a Stat,
    /// Through which mount it is seen.
    pub mount: u64,
    /// Its own weight, if it counts itself.
    pub own: Option<u64>,
    /// What it weighs by itself, where `own` is a time.
    pub beside: Option<u64>,
    /// What it comes to, where the source says so. Else it is added up.
    pub known: Option<Totals>,
    /// Whether it is shown even where filters left nothing in it to count.
    pub is_root: bool,
    /// Whether the directory that it lies in is shown with what is in it.
    pub is_shown: bool,
}

impl Rules {
    /// Which inode an entry is, if it may be met again, and how many links lead to it.
    #[inline]
    pub fn identify(&self, entry: &mut Entry<'_>) {
        let Entry { stat, mount, .. } = *entry;
        if self.follow {
            entry.links = u32::MAX;
        }
        let may_be_met_again =
            !self.count_links && (self.follow || stat.links > 1 && !stat.mount_point);
        let mount = if self.follow { 0 } else { mount };
        entry.identity = may_be_met_again.then(|| (mount, stat.identity()));
        entry.beside = self.beside(stat);
    }

    /// What an inode weighs beside its time, where times are measured.
    pub fn beside(&self, stat: &Stat) -> Option<u64> {
        self.sizes.map(|measure| stat.weight(measure))
    }

    /// What a root comes to that is no directory.
    pub fn alone(&self, stat: &Stat) -> Totals {
        let is_shared = self.unique && stat.links > 1;
        let size = if is_shared { 0 } else { stat.weight(self.measure) };
        Totals { beside: self.beside(stat), ..Totals::of(size) }
    }

    /// What a directory comes to, all of whose content has been added to `sum`, itself included.
    fn closed<'a>(&self, directory: &Directory<'a>, sum: &mut Sum) -> Closed<'a> {
        let Directory { name, depth, stat, mount, own, beside, known, .. } = *directory;
        if let Some(own) = own {
            sum.add(beside.unwrap_or(own), own);
        }
        let added_up =
            || if self.unique { sum.unshared(self.measure) } else { sum.totals(self.measure) };
        let totals = known.unwrap_or_else(|| self.as_known(added_up()));
        Closed { name, depth, stat, mount, own, totals }
    }

    /// What is known of `totals`: not what is shared if symlinks are followed, nor sizes nobody asked for.
    fn as_known(&self, totals: Totals) -> Totals {
        let shared = if self.follow { 0 } else { totals.shared };
        Totals { shared, beside: totals.beside.filter(|_| self.sizes.is_some()), ..totals }
    }
}

impl<P: Default> Subtotal<P> {
    /// Adds an entry that is no directory. The tally is told of it if the directory `is_shown` with what is
    /// in it.
    #[inline]
    pub fn add<T: Tally<Part = P>>(
        &mut self,
        rules: &Rules,
        tally: &T,
        mut entry: Entry<'_>,
        is_shown: bool,
    ) {
        let weight = entry.beside.unwrap_or(entry.size);
        match entry.identity {
            Some(_) if T::ADDS_UP => {}
            Some(identity) => self.sum.add_link(identity, weight, entry.links, entry.size),
            None => self.sum.add(weight, entry.size),
        }
        if rules.unique && entry.identity.is_some() {
            entry.size = 0;
        }
        if is_shown {
            tally.leaf(&mut self.part, &entry);
        }
    }

    /// Adds what has been gathered in another part of the same directory.
    pub fn merge<T: Tally<Part = P>>(&mut self, tally: &T, other: Self) {
        self.sum.absorb(other.sum);
        tally.merge(&mut self.part, other.part);
    }
}

/// Closes `directory`, all of whose content has been added to `subtotal`, and adds it to that of the one
/// `above` it.
pub fn close<T: Tally, A: DerefMut<Target = Subtotal<T::Part>>>(
    rules: &Rules,
    tally: &T,
    directory: &Directory<'_>,
    mut subtotal: Subtotal<T::Part>,
    above: impl FnOnce() -> A,
) {
    let closed = rules.closed(directory, &mut subtotal.sum);
    let mut above = above();
    above.sum.absorb(subtotal.sum);
    // A directory where filters left nothing to count is not worth a word.
    if directory.is_shown && (closed.totals.entries > 0 || directory.is_root || T::ADDS_UP) {
        tally.close(&mut above.part, &closed, subtotal.part);
    }
}

/// Closes `root`, all of whose content has been added to `subtotal`.
pub fn finish<T: Tally>(
    rules: &Rules,
    tally: &T,
    root: &Directory<'_>,
    mut subtotal: Subtotal<T::Part>,
) -> T::Report {
    let mut closed = rules.closed(root, &mut subtotal.sum);
    if T::ADDS_UP && root.known.is_none() {
        closed.totals = rules.as_known(tally.totals(&closed, &subtotal.part));
    }
    tally.finish(&closed, subtotal.part)
}
