//! The sum of inodes that need not be remembered.

use crate::measure::Measure;

/// The sum of inodes that are found once. It has 128 bits, because sparse files can have nearly 2^63 bytes each, and
/// a saturated sum could not be corrected.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settled {
    pub(crate) sum: u128,
    /// The maximum, which includes inodes with several links, because counting them twice does not change it.
    pub(crate) largest: u64,
    pub(crate) entries: u64,
}

impl Settled {
    #[inline]
    pub(crate) fn add(&mut self, weight: u64, newest: u64) {
        self.sum += u128::from(weight);
        self.largest = self.largest.max(newest);
        self.entries += 1;
    }

    pub(crate) fn absorb(&mut self, other: Settled) {
        self.sum += other.sum;
        self.largest = self.largest.max(other.largest);
        self.entries += other.entries;
    }

    /// The sum in `measure`, or the maximum.
    pub(crate) fn size(self, measure: Measure) -> u64 {
        match measure {
            Measure::Newest(_) => self.largest,
            _ => saturate(self.sum),
        }
    }
}

/// A weight that fits 64 bits.
pub(crate) fn saturate(weight: u128) -> u64 {
    u64::try_from(weight).unwrap_or(u64::MAX)
}
