//! Closes directories: the only place that does, wherever their content comes from. A source says what is in a
//! directory, and this computes the directory's total: from the weights of inodes, how links count, and what is
//! shared.

mod add_up;
mod extents;
mod freeable;
mod replay;
mod sum;

use std::ops::DerefMut;

pub use add_up::add_up;
pub use extents::{ExtentCount, Extents};
pub use freeable::{Doubtful, Sharing, SharingFile};
pub use replay::{Replay, replay};
pub use sum::Sum;

use crate::measure::Measure;
use crate::sys::Stat;
use crate::tally::{Closed, Entry, Tally};
use crate::tree::{Freeable, Totals};

/// How inodes count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// What the totals measure.
    pub measure: Measure,
    /// What the sizes beside them measure, if the totals are times and sizes are known.
    pub sizes: Option<Measure>,
    /// Whether symlinks are followed. They lead to an inode in ways that its link count does not include, and through
    /// any mount.
    pub follow: bool,
    /// Whether a file counts once for each hard link.
    pub count_links: bool,
    /// Whether only inodes without links outside count: a directory without what it shares, and no link by itself.
    pub unique: bool,
    /// Whether to compute what deleting frees. Sizes are bytes on disk then, and no other rule is set.
    pub frees: bool,
}

/// The sum for a directory, or for a part of a large one. `P` is what the tally keeps.
#[derive(Debug, Default)]
pub struct Subtotal<P> {
    sum: Sum,
    /// What may not be the directory's own, if that was asked for.
    sharing: Option<Box<Sharing>>,
    pub(crate) part: P,
}

/// A directory to be closed.
#[derive(Clone, Copy, Debug)]
pub struct Directory<'a> {
    /// Its name, as bytes; a root's path as given.
    pub name: &'a [u8],
    /// Its depth below the root; a root is at 0.
    pub depth: u32,
    /// The attributes of its inode, as far as they are known.
    pub stat: &'a Stat,
    /// The mount through which it is seen.
    pub mount: u64,
    /// Its own weight, if it counts.
    pub own: Option<u64>,
    /// Its own size, if `own` is a time.
    pub beside: Option<u64>,
    /// Its total, if the source knows it. If not, it is added up.
    pub known: Option<Totals>,
    /// Whether it is shown even if filters left nothing in it.
    pub is_root: bool,
    /// Whether its parent is shown with its content.
    pub is_shown: bool,
}

impl Rules {
    /// Sets the inode and link count of an entry, if the walk may find the inode again.
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

    /// The size of an inode, if times are measured.
    pub fn beside(&self, stat: &Stat) -> Option<u64> {
        self.sizes.map(|measure| stat.weight(measure))
    }

    /// The total of a root that is not a directory.
    pub fn alone(&self, stat: &Stat) -> Totals {
        let is_shared = self.unique && stat.links > 1;
        let size = if is_shared { 0 } else { stat.weight(self.measure) };
        Totals { beside: self.beside(stat), ..Totals::of(size) }
    }

    /// The directory with its total, itself included. All of its content has been added to `sum`.
    fn closed<'a, P>(
        &self,
        directory: &Directory<'a>,
        Subtotal { sum, sharing, .. }: &mut Subtotal<P>,
    ) -> Closed<'a> {
        let Directory { name, depth, stat, mount, own, beside, known, .. } = *directory;
        if let Some(own) = own {
            sum.add(beside.unwrap_or(own), own);
        }
        let added_up =
            || if self.unique { sum.unshared(self.measure) } else { sum.totals(self.measure) };
        let mut totals = known.unwrap_or_else(|| self.as_known(added_up()));
        if self.frees {
            totals.frees = Some(Sharing::close(sharing.as_deref(), totals));
        }
        Closed { name, depth, stat, mount, own, totals }
    }

    /// The known part of `totals`: not `shared` if symlinks are followed, and no sizes if none are asked for.
    fn as_known(&self, totals: Totals) -> Totals {
        let shared = if self.follow { 0 } else { totals.shared };
        Totals { shared, beside: totals.beside.filter(|_| self.sizes.is_some()), ..totals }
    }
}

impl<P: Default> Subtotal<P> {
    /// Adds an entry that is not a directory. The tally gets it if the content of its directory `is_shown`.
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

    /// Adds the part of an entry that may not be its own, and sets what deleting it frees.
    pub fn add_sharing(&mut self, entry: &mut Entry<'_>, file: Option<SharingFile>) {
        let file = file.filter(|file| file.doubtful.size > 0);
        let one = file.map(|file| Box::new(Sharing::of(entry, file)));
        entry.frees = Some(match entry.identity {
            // The other links keep it.
            Some(_) => Freeable::default(),
            None => Sharing::close(one.as_deref(), Totals::of(entry.size)),
        });
        self.absorb_sharing(one);
    }

    fn absorb_sharing(&mut self, other: Option<Box<Sharing>>) {
        match (&mut self.sharing, other) {
            (Some(sharing), Some(other)) => sharing.absorb(*other),
            (none, Some(other)) => *none = Some(other),
            (_, None) => {}
        }
    }

    /// Adds another part of the same directory.
    pub fn merge<T: Tally<Part = P>>(&mut self, tally: &T, other: Self) {
        self.sum.absorb(other.sum);
        self.absorb_sharing(other.sharing);
        tally.merge(&mut self.part, other.part);
    }
}

/// Closes `directory`, whose content has been added to `subtotal`, and adds it to the one `above` it.
pub fn close<T: Tally, A: DerefMut<Target = Subtotal<T::Part>>>(
    rules: &Rules,
    tally: &T,
    directory: &Directory<'_>,
    mut subtotal: Subtotal<T::Part>,
    above: impl FnOnce() -> A,
) {
    let closed = rules.closed(directory, &mut subtotal);
    let mut above = above();
    above.sum.absorb(subtotal.sum);
    above.absorb_sharing(subtotal.sharing);
    // A directory in which filters left nothing is not shown.
    if directory.is_shown && (closed.totals.entries > 0 || directory.is_root || T::ADDS_UP) {
        tally.close(&mut above.part, &closed, subtotal.part);
    }
}

/// Closes `root`, whose content has been added to `subtotal`.
pub fn finish<T: Tally>(
    rules: &Rules,
    tally: &T,
    root: &Directory<'_>,
    mut subtotal: Subtotal<T::Part>,
) -> T::Report {
    let mut closed = rules.closed(root, &mut subtotal);
    if T::ADDS_UP && root.known.is_none() {
        closed.totals = rules.as_known(tally.totals(&closed, &subtotal.part));
    }
    tally.finish(&closed, subtotal.part)
}
