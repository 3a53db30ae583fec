//! Values that cannot be read, with what a valid one looks like.

use thiserror::Error;

/// A text that is no value of its kind.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidValue {
    /// It is no size.
    #[error("a size is a number and a unit, as in 512, 10k, 10KiB, 10kB, 1.5G")]
    Size,
    /// It is no percentage.
    #[error("a percentage is a number, as in 20%")]
    Percentage,
    /// It is no number of days.
    #[error(
        "give a number of days, as in 0 (the last 24 hours), -7 (the last week), +365 (over a year ago)"
    )]
    Days,
    /// It is no time.
    #[error("a time is 12h, 7d, 2w, 3mo, 1y, yesterday, monday, or a date as in 2026-11-01")]
    Time,
    /// It is no length of time.
    #[error("a length of time is a number and a unit, as in 10s, 5min, 1h")]
    Duration,
    /// It is no share of a tree.
    #[error("a share is 1/8, 2/8 … or 8/8")]
    Share,
    /// It is no style of times.
    #[error(
        "a time style is full-iso, long-iso, iso, relative, or + and a format, as in +%d.%m.%Y"
    )]
    TimeStyle,
    /// It is no format of times.
    #[error("{0} is no format of strftime(3), as +%d.%m.%Y is")]
    TimeFormat(String),
    /// It is a format with fractions of a second.
    #[error(
        "{0} has fractions of a second, and weigh has whole seconds: leave them out, as in +%T"
    )]
    TimeFraction(String),
    /// It is no pattern for what is left out.
    #[error("{0}")]
    Pattern(String),
}
