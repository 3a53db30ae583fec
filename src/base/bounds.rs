//! Limits for the total and for its growth.

use crate::base::invalid::InvalidValue;
use crate::base::measure::parse_size;

/// The limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// The largest total, in the measure's unit.
    pub size: Option<u64>,
    /// The largest growth.
    pub growth: Option<Growth>,
}

/// A growth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// In the measure's unit.
    By(u64),
    /// In percent of the earlier total.
    Percent(f64),
}

/// A bound that is exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exceeded {
    /// The total is too large.
    Size {
        /// The limit.
        most: u64,
        /// The total.
        now: u64,
    },
    /// The growth is too large.
    Growth {
        /// The limit.
        most: Growth,
        /// The earlier total.
        before: u64,
        /// The total now.
        now: u64,
    },
}

impl Bounds {
    /// The bounds that a total exceeds, if it was `before` and is `now`.
    pub fn exceeded(&self, (before, now): (Option<u64>, Option<u64>)) -> Vec<Exceeded> {
        let (before, now) = (before.unwrap_or(0), now.unwrap_or(0));
        let size = self.size.filter(|most| now > *most);
        let growth = self.growth.filter(|most| most.excess(before, now) > 0.0);
        let size = size.map(|most| Exceeded::Size { most, now });
        let growth = growth.map(|most| Exceeded::Growth { most, before, now });
        [size, growth].into_iter().flatten().collect()
    }
}

impl Exceeded {
    /// By how much it is exceeded.
    pub fn excess(&self) -> u64 {
        match *self {
            Exceeded::Size { most, now } => now - most,
            // A cast from a float saturates.
            Exceeded::Growth { most, before, now } => most.excess(before, now).ceil() as u64,
        }
    }
}

impl Growth {
    /// Reads a growth: a size or a percentage.
    ///
    /// # Errors
    /// What a valid value looks like.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        match text.trim().strip_suffix('%') {
            None => parse_size(text).map(Growth::By),
            Some(percent) => match percent.parse() {
                Ok(percent) if (0.0..=f64::MAX).contains(&percent) => Ok(Growth::Percent(percent)),
                _ => Err(InvalidValue::Percentage),
            },
        }
    }

    /// By how much the growth from `before` to `now` exceeds this; 0 or less if it does not.
    fn excess(self, before: u64, now: u64) -> f64 {
        let most = match self {
            Growth::By(size) => size as f64,
            Growth::Percent(percent) => before as f64 * percent / 100.0,
        };
        now.saturating_sub(before) as f64 - most
    }
}
