//! What a tree may come to, and by how much it may have grown.

use crate::measure::parse_size;

/// What it may come to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// In the measure's unit.
    pub size: Option<u64>,
    /// How much more than before.
    pub growth: Option<Growth>,
}

/// How much more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// In the measure's unit.
    By(u64),
    /// In percent of what it was.
    Percent(f64),
}

/// A bound that is exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exceeded {
    /// More than it may come to.
    Size {
        /// What it may come to.
        most: u64,
        /// What it comes to.
        now: u64,
    },
    /// More than it may have grown by.
    Growth {
        /// What it may have grown by.
        most: Growth,
        /// What it came to.
        before: u64,
        /// What it comes to.
        now: u64,
    },
}

impl Bounds {
    /// The bounds that are exceeded by what came to `before` and comes to `now`.
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
    /// By how much.
    pub fn excess(&self) -> u64 {
        match *self {
            Exceeded::Size { most, now } => now - most,
            // A cast from a float saturates.
            Exceeded::Growth { most, before, now } => most.excess(before, now).ceil() as u64,
        }
    }
}

impl Growth {
    /// Reads how much more: a size, or a percentage.
    ///
    /// # Errors
    /// What either looks like, if this is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim().strip_suffix('%') {
            None => parse_size(text).map(Growth::By),
            Some(percent) => match percent.parse() {
                Ok(percent) if (0.0..=f64::MAX).contains(&percent) => Ok(Growth::Percent(percent)),
                _ => Err("a percentage is a number, as in 20%".to_owned()),
            },
        }
    }

    /// By how much the growth from `before` to `now` is more than this; nothing or less if it is not.
    fn excess(self, before: u64, now: u64) -> f64 {
        let most = match self {
            Growth::By(size) => size as f64,
            Growth::Percent(percent) => before as f64 * percent / 100.0,
        };
        now.saturating_sub(before) as f64 - most
    }
}
