//! Filters by time: how many days ago an entry was modified, accessed or changed. Days are counted like those of
//! `find`, in steps of 24 hours back from now.

use crate::base::invalid::InvalidValue;
use crate::base::measure::DAY;
use crate::sys::Stat;

/// Which ages count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// The current time, in seconds since the epoch.
    pub now: i64,
    /// When it was last written to.
    pub modified: Option<Days>,
    /// When it was last read from.
    pub accessed: Option<Days>,
    /// When it was last written to, renamed, linked, or changed in owner or mode.
    pub changed: Option<Days>,
    /// It was last written to before this time, in seconds since the epoch.
    pub older: Option<i64>,
    /// It was last written to at this time, or since.
    pub newer: Option<i64>,
}

/// An age in whole days, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Days {
    /// `N`: exactly so many days.
    Exactly(u32),
    /// `+N`: more days.
    MoreThan(u32),
    /// `-N`: fewer days. A time in the future is fewer than any.
    LessThan(u32),
}

impl Times {
    /// Whether every time counts.
    pub fn is_off(&self) -> bool {
        !self.are_of_modification() && self.accessed.is_none() && self.changed.is_none()
    }

    /// Whether times of modification decide.
    pub fn are_of_modification(&self) -> bool {
        self.modified.is_some() || self.older.is_some() || self.newer.is_some()
    }

    /// Whether an inode with these times counts.
    pub(super) fn admit(&self, stat: &Stat) -> bool {
        let wanted = [
            (self.modified, stat.modified),
            (self.accessed, stat.accessed),
            (self.changed, stat.changed),
        ];
        wanted
            .into_iter()
            .all(|(days, time)| days.is_none_or(|days| days.admit(self.now.saturating_sub(time))))
            && self.older.is_none_or(|older| stat.modified < older)
            && self.newer.is_none_or(|newer| stat.modified >= newer)
    }
}

impl Days {
    /// Reads `N`, `+N` or `-N`.
    ///
    /// # Errors
    /// What a valid value looks like.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let (days, number): (fn(u32) -> Self, _) = match text.split_at_checked(1) {
            Some(("+", number)) => (Days::MoreThan, number),
            Some(("-", number)) => (Days::LessThan, number),
            _ => (Days::Exactly, text),
        };
        // The standard library would accept a second sign.
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        match number.parse() {
            Ok(number) if is_number => Ok(days(number)),
            _ => Err(InvalidValue::Days),
        }
    }

    /// Whether an age, in seconds, is this one.
    pub fn admit(self, age: i64) -> bool {
        let days = age.div_euclid(DAY);
        match self {
            Days::Exactly(number) => days == i64::from(number),
            Days::MoreThan(number) => days > i64::from(number),
            Days::LessThan(number) => days < i64::from(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_rounded_down() {
        for (text, youngest, oldest) in [
            ("0", 0, DAY - 1),
            ("1", DAY, 2 * DAY - 1),
            ("-1", i64::MIN, DAY - 1),
            ("-0", i64::MIN, -1),
            ("+0", DAY, i64::MAX),
            ("+30", 31 * DAY, i64::MAX),
        ] {
            let days = Days::parse(text).expect("days");
            assert!(days.admit(youngest) && days.admit(oldest), "{text}");
            assert!(youngest == i64::MIN || !days.admit(youngest - 1), "{text}");
            assert!(oldest == i64::MAX || !days.admit(oldest + 1), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_of_days() {
        for text in ["", "+", "-", "x", "1.5", "1d", "--1", "-+1", " 1", "99999999999", "+é"] {
            assert!(Days::parse(text).is_err(), "{text}");
        }
    }
}
