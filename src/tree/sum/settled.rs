//! Sums of figures.

use std::ops::{AddAssign, SubAssign};

use crate::base::measure::Figures;

/// A sum of figures. It has 128 bits, because sparse files can have nearly 2^63 bytes each, and a saturated sum could
/// not be corrected.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Amounts {
    pub(crate) disk: u128,
    pub(crate) length: u128,
    pub(crate) files: u128,
    pub(crate) inodes: u128,
}

/// The sum of inodes that are found once, and need not be remembered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settled {
    pub(crate) amounts: Amounts,
    pub(crate) entries: u64,
    /// The maximum, which includes inodes with several links, because counting them twice does not change it.
    pub(crate) newest: Option<i64>,
}

impl Settled {
    #[inline]
    pub(crate) fn add(&mut self, figures: &Figures) {
        self.amounts += *figures;
        self.entries += 1;
        self.newest = self.newest.max(figures.newest);
    }

    pub(crate) fn absorb(&mut self, other: Settled) {
        self.amounts += other.amounts;
        self.entries += other.entries;
        self.newest = self.newest.max(other.newest);
    }

    /// The figures that they come to.
    pub(crate) fn figures(&self) -> Figures {
        Figures { newest: self.newest, ..self.amounts.figures() }
    }
}

impl Amounts {
    /// The figures that they come to, without a time.
    pub(crate) fn figures(self) -> Figures {
        let Self { disk, length, files, inodes } = self;
        let [disk, length, files, inodes] = [disk, length, files, inodes].map(saturate);
        Figures { disk, length, files, inodes, newest: None }
    }
}

impl<T: Into<Amounts>> AddAssign<T> for Amounts {
    #[inline]
    fn add_assign(&mut self, other: T) {
        let other = other.into();
        self.disk += other.disk;
        self.length += other.length;
        self.files += other.files;
        self.inodes += other.inodes;
    }
}

impl<T: Into<Amounts>> SubAssign<T> for Amounts {
    #[inline]
    fn sub_assign(&mut self, other: T) {
        let other = other.into();
        self.disk -= other.disk;
        self.length -= other.length;
        self.files -= other.files;
        self.inodes -= other.inodes;
    }
}

impl From<Figures> for Amounts {
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
