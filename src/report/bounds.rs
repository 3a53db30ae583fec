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

impl Bounds {
    /// Whether what came to `before` and comes to `now` is out of bounds.
    pub(super) fn are_exceeded(&self, (before, now): (Option<u64>, Option<u64>)) -> bool {
        let now = now.unwrap_or(0);
        self.size.is_some_and(|most| now > most)
            || self.growth.is_some_and(|most| most.is_exceeded(before.unwrap_or(0), now))
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

    /// Whether `now` is more than that above `before`.
    fn is_exceeded(self, before: u64, now: u64) -> bool {
        let most = match self {
            Growth::By(size) => size as f64,
            Growth::Percent(percent) => before as f64 * percent / 100.0,
        };
        now > before && (now - before) as f64 > most
    }
}
