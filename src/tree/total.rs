//! Closes directories: the only place that does, wherever their content comes from. A source says what is in a
//! directory, and this computes what the directory comes to: from the figures of inodes, how links count, and what is
//! shared.

mod extents;
mod freeable;
mod replay;

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::ops::DerefMut;

use crate::base::inode::Links;
use crate::base::measure::{Figures, Time};
use crate::sys::Stat;
use crate::tree::sum::Sum;
use crate::tree::tally::{Entry, Tally};
use crate::tree::{DirectoryId, Freeable, Sums, Tree};

pub use extents::{ExtentCount, Extents};
pub use freeable::{MaybeShared, Sharing, SharingFile};
pub use replay::{AnyReplay, BeginReplay, Replay, replay, replay_to, stat_of, sum_of_disjoint};

/// How inodes count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The time that is kept, if any.
    pub time: Option<Time>,
    /// Whether symlinks are followed. They lead to an inode in ways that its link count does not include, and through
    /// any mount.
    pub follow: bool,
    /// Whether a file counts once for each hard link.
    pub count_links: bool,
    /// Whether to compute what deleting frees, which opens files. Sizes are bytes on disk then, and every link counts
    /// once.
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
    }

    /// What an inode comes to.
    #[inline]
    pub fn figures(&self, stat: &Stat) -> Figures {
        stat.figures(self.time)
    }

    /// Adds up the total of a directory, itself included. All of its content has been added to `sum`.
    fn close<P>(&self, directory: &mut Entry<'_>, Subtotal { sum, sharing, .. }: &mut Subtotal<P>) {
        if let Some(own) = &directory.own {
            sum.add(own);
        }
        directory.sums = self.sums(sum);
        if self.frees {
            directory.sums.frees = Some(Sharing::close(sharing.as_deref(), &directory.sums));
        }
    }

    /// What `sum` comes to.
    fn sums(&self, sum: &Sum) -> Sums {
        self.as_known(sum.sums())
    }

    /// The known part of `sums`: not what is shared if symlinks are followed.
    fn as_known(&self, sums: Sums) -> Sums {
        let shared = if self.follow { Figures::default() } else { sums.shared };
        Sums { shared, ..sums }
    }
}

impl<P: Default> Subtotal<P> {
    /// Where another part of the same directory begins.
    pub fn begin_part<T: Tally<Part = P>>(&self, tally: &T) -> Self {
        Self { part: tally.begin_part(&self.part), ..Self::default() }
    }

    /// Adds an entry that is not a directory. The tally gets it if the content of its directory `is_shown`.
    #[inline]
    pub fn add<T: Tally<Part = P>>(&mut self, tally: &T, entry: &Entry<'_>, is_shown: bool) {
        match entry.linked() {
            Some(_) if tally.adds_up() => {}
            Some(identity) => self.sum.add_link(identity, &entry.sums.all, entry.links),
            None => self.sum.add(&entry.sums.all),
        }
        if is_shown {
            tally.leaf(&mut self.part, entry);
        }
    }

    /// Adds the part of an entry that may not be its own, and sets what deleting it frees.
    pub fn add_sharing(&mut self, entry: &mut Entry<'_>, file: Option<SharingFile>) {
        let file = file.filter(|file| file.maybe_shared.size > 0);
        let one = file.map(|file| Box::new(Sharing::of(entry, file)));
        entry.sums.frees = Some(match entry.links.are_several() {
            // The other links keep it.
            true => Freeable::default(),
            false => Sharing::close(one.as_deref(), &entry.sums),
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

    /// Takes out what it has so far, if that takes long to be added to `other`.
    pub fn take_if_long(&mut self, other: &Self) -> Option<Sum> {
        self.sum.takes_long_with(&other.sum).then(|| mem::take(&mut self.sum))
    }

    /// Adds what was taken out of another subtotal.
    pub fn add_taken(&mut self, sum: Sum) {
        self.sum.absorb(sum);
    }

    /// Adds another part of the same directory.
    pub fn merge<T: Tally<Part = P>>(&mut self, tally: &T, other: Self) {
        self.sum.absorb(other.sum);
        self.absorb_sharing(other.sharing);
        tally.merge(&mut self.part, other.part);
    }
}

/// Closes `directory`, whose content has been added to `subtotal`, and adds it to the one `above` it, which may
/// first move its own sum into `subtotal`. Without `rules`, its totals are known.
pub fn close<T: Tally, A: DerefMut<Target = Subtotal<T::Part>>>(
    rules: Option<&Rules>,
    tally: &T,
    mut directory: Entry<'_>,
    shown: Shown,
    mut subtotal: Subtotal<T::Part>,
    above: impl FnOnce(&mut Subtotal<T::Part>) -> A,
) {
    if let Some(rules) = rules {
        rules.close(&mut directory, &mut subtotal);
    }
    let mut above = above(&mut subtotal);
    above.sum.absorb(subtotal.sum);
    above.absorb_sharing(subtotal.sharing);
    let is_shown = match shown {
        Shown::Always => true,
        Shown::IfCounted => directory.sums.entries > 0 || tally.adds_up(),
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
    mut root: Entry<'_>,
    mut subtotal: Subtotal<T::Part>,
) -> T::Answer {
    if let Some(rules) = rules {
        rules.close(&mut root, &mut subtotal);
        if tally.adds_up() {
            root.sums = rules.as_known(tally.sums(&root, &subtotal.part));
        }
    }
    tally.finish(&root, subtotal.part)
}

// The totals of directories in which something was scanned again or removed, and of those above them.

/// Adds up again what `directories`, and all directories above them, come to, from the inodes that are kept: of those
/// with several links, which they are.
///
/// This goes once through everything below the root: if links are elsewhere, no sum of totals is right.
pub fn add_up(tree: &mut Tree, rules: &Rules, directories: impl IntoIterator<Item = DirectoryId>) {
    // In the order of their numbers, which each has after those below it.
    let mut above = BTreeSet::new();
    for directory in directories {
        let mut at = Some(tree.directory(directory));
        while let Some(directory) = at {
            if !directory.id().is_some_and(|id| above.insert(id)) {
                break;
            }
            at = directory.parent();
        }
    }
    let (mut open, mut sums): (HashMap<DirectoryId, Sum>, Vec<_>) = Default::default();
    for &id in &above {
        let mut sum = open.remove(&id).unwrap_or_default();
        // What is in those before has been added.
        let others = tree.directory(id).directories().filter_map(|child| child.id());
        for other in others.filter(|other| !above.contains(other)) {
            sum.add_counted(tree.directory(other).counted());
        }
        sum.add_counted(tree.directory(id).counted_here());
        sums.push((id, rules.sums(&sum)));
        if let Some(parent) = tree.directory(id).parent().and_then(|parent| parent.id()) {
            open.entry(parent).or_default().absorb(sum);
        }
    }
    for (id, sums) in sums {
        tree.set_sums(id, sums);
    }
}
