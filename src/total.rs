//! Closes directories: the only place that does, wherever their content comes from. A source says what is in a
//! directory, and this computes the directory's total: from the weights of inodes, how links count, and what is
//! shared.

mod add_up;
mod extents;
mod freeable;
mod replay;

use std::ops::DerefMut;

pub use add_up::add_up;
pub use extents::{ExtentCount, Extents};
pub use freeable::{Doubtful, Sharing, SharingFile};
pub use replay::{Replay, replay};

use crate::inode::Links;
use crate::measure::Measure;
use crate::sum::Sum;
use crate::sys::Stat;
use crate::tally::{Directory, Entry, Tally};
use crate::tree::{Freeable, Totals, Tree};

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

/// Whether a directory is shown in the one above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It is.
    Always,
    /// It is if filters left anything in it.
    IfCounted,
    /// It is not: it only counts.
    Never,
}

impl Rules {
    /// Says of an entry which names lead to its inode.
    #[inline]
    pub fn identify(&self, entry: &mut Entry<'_>) {
        let Entry { stat, .. } = *entry;
        entry.links = match () {
            () if self.count_links => Links::Alone,
            () if self.follow => Links::Unknown,
            () if stat.links > 1 && !stat.mount_point => Links::Of(stat.links),
            () => Links::Alone,
        };
        if entry.links == Links::Unknown {
            entry.mount = 0;
        }
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

    /// Adds up the total of a directory, itself included. All of its content has been added to `sum`.
    fn close<P>(
        &self,
        directory: &mut Directory<'_>,
        Subtotal { sum, sharing, .. }: &mut Subtotal<P>,
    ) {
        if let Some(own) = directory.own {
            sum.add(directory.totals.beside.unwrap_or(own), own);
        }
        let totals =
            if self.unique { sum.unshared(self.measure) } else { sum.totals(self.measure) };
        directory.totals = self.as_known(totals);
        if self.frees {
            directory.totals.frees = Some(Sharing::close(sharing.as_deref(), directory.totals));
        }
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
        match entry.linked() {
            Some(_) if T::ADDS_UP => {}
            Some(identity) => self.sum.add_link(identity, weight, entry.links, entry.size),
            None => self.sum.add(weight, entry.size),
        }
        if rules.unique && entry.links.are_several() {
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
        entry.frees = Some(match entry.links.are_several() {
            // The other links keep it.
            true => Freeable::default(),
            false => Sharing::close(one.as_deref(), Totals::of(entry.size)),
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

/// Closes `directory`, whose content has been added to `subtotal`, and adds it to the one `above` it. Without `rules`,
/// its totals are known.
pub fn close<T: Tally, A: DerefMut<Target = Subtotal<T::Part>>>(
    rules: Option<&Rules>,
    tally: &T,
    mut directory: Directory<'_>,
    shown: Shown,
    mut subtotal: Subtotal<T::Part>,
    above: impl FnOnce() -> A,
) {
    if let Some(rules) = rules {
        rules.close(&mut directory, &mut subtotal);
    }
    let mut above = above();
    above.sum.absorb(subtotal.sum);
    above.absorb_sharing(subtotal.sharing);
    let is_shown = match shown {
        Shown::Always => true,
        Shown::IfCounted => directory.totals.entries > 0 || T::ADDS_UP,
        Shown::Never => false,
    };
    if is_shown {
        tally.close(&mut above.part, &directory, subtotal.part);
    }
}

/// Closes `root`, whose content has been added to `subtotal`. Without `rules`, its totals are known.
pub fn finish<T: Tally>(
    rules: Option<&Rules>,
    tally: &T,
    mut root: Directory<'_>,
    mut subtotal: Subtotal<T::Part>,
) -> Tree {
    if let Some(rules) = rules {
        rules.close(&mut root, &mut subtotal);
        if T::ADDS_UP {
            root.totals = rules.as_known(tally.totals(&root, &subtotal.part));
        }
    }
    tally.finish(&root, subtotal.part)
}
