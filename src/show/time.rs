//! Times as people read them, in the styles of GNU `ls` and `du`.

use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

use crate::base::escape::harmless;
use crate::base::invalid::InvalidValue;
use crate::base::measure::DAY;

/// How times are written.
#[derive(Clone, Debug)]
pub struct TimeFormat {
    /// The style.
    pub style: Style,
    /// The time zone. Finding it may read a file, so this waits until a time is written.
    pub zone: Arc<LazyLock<TimeZone>>,
    /// The current time, for relative times, in seconds since the epoch.
    pub now: i64,
}

/// A style of writing times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Style {
    /// A format as strftime(3) has it.
    Format(String),
    /// How long it was ago: `3 days ago`.
    Relative,
}

impl Default for TimeFormat {
    /// In UTC, since the epoch.
    fn default() -> Self {
        let zone = Arc::new(LazyLock::new((|| TimeZone::UTC) as fn() -> TimeZone));
        Self { style: Style::default(), zone, now: 0 }
    }
}

impl Default for Style {
    /// What dust writes: `2026-11-20T23:59:59`.
    fn default() -> Self {
        Style::Format("%Y-%m-%dT%H:%M:%S".to_owned())
    }
}

impl Style {
    /// Reads a style of GNU `du --time-style`, or `relative`, which is new. There are no fractions of a second,
    /// because weigh does not ask for them.
    ///
    /// # Errors
    /// Lists the styles, or says what is wrong with a format.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let format = match text {
            "full-iso" => "%Y-%m-%d %H:%M:%S %z",
            "long-iso" => "%Y-%m-%d %H:%M",
            "iso" => "%Y-%m-%d",
            "relative" => return Ok(Style::Relative),
            _ => text.strip_prefix('+').ok_or(InvalidValue::TimeStyle)?,
        };
        let [whole, fraction] = [0, 123_456_789].map(|nanos| {
            let time = Timestamp::from_nanosecond(nanos)?.to_zoned_datetime(TimeZone::UTC);
            strtime::format(format, &time)
        });
        let whole = whole.map_err(|_| InvalidValue::TimeFormat(text.to_owned()))?;
        match fraction {
            Ok(fraction) if fraction == whole => Ok(Style::Format(format.to_owned())),
            _ => Err(InvalidValue::TimeFraction(text.to_owned())),
        }
    }
}

impl TimeFormat {
    /// The time of so many `seconds` since the epoch, as text that is safe to print.
    pub fn write(&self, seconds: i64) -> String {
        match &self.style {
            Style::Relative => ago(self.now.saturating_sub(seconds)),
            // Like GNU, it writes the plain number for a year that no calendar has.
            Style::Format(format) => Timestamp::from_second(seconds)
                .and_then(|time| {
                    strtime::format(format, &time.to_zoned_datetime((**self.zone).clone()))
                })
                .map_or_else(|_| seconds.to_string(), |text| harmless(text.as_bytes())),
        }
    }

    /// The same, with a day near to today as people call it: `yesterday 12:37`. Only if nobody chose a style.
    pub(super) fn write_near(&self, seconds: i64) -> String {
        const MINUTES: &str = "%Y-%m-%d %H:%M";
        let day = |seconds| {
            let time = Timestamp::from_second(seconds).ok()?;
            Some(time.to_zoned_datetime((**self.zone).clone()))
        };
        let is_usual = matches!(&self.style, Style::Format(format) if format == MINUTES);
        let Some((then, now)) = day(seconds).zip(day(self.now)).filter(|_| is_usual) else {
            return self.write(seconds);
        };
        let yesterday = now.date().yesterday().ok();
        match then.date() {
            date if date == now.date() => format!("today {}", then.strftime("%H:%M")),
            date if Some(date) == yesterday => format!("yesterday {}", then.strftime("%H:%M")),
            _ => self.write(seconds),
        }
    }

    /// How long ago a time was, in words: `today`, `3 days`, `9 months`, `2 years`.
    pub fn age_in_words(&self, seconds: i64) -> String {
        match self.now.saturating_sub(seconds) {
            ..0 => "future".to_owned(),
            0..DAY => "today".to_owned(),
            past => ago(past).trim_end_matches(" ago").to_owned(),
        }
    }

    /// How long ago a time was, in few letters: `today`, `3 d`, `9 mo`, `2 y`.
    pub fn age(&self, seconds: i64) -> String {
        const MONTH: i64 = 2_629_746;
        let ago = self.now.saturating_sub(seconds);
        match ago / DAY {
            ..0 => "future".to_owned(),
            0 => "today".to_owned(),
            days @ ..60 => format!("{days} d"),
            _ if ago < 24 * MONTH => format!("{} mo", ago / MONTH),
            _ => format!("{} y", ago / (12 * MONTH)),
        }
    }
}

/// `seconds` in the largest unit that fits at least once. Months and years are averages, of a year with 365.2425
/// days.
fn ago(seconds: i64) -> String {
    const UNITS: [(u64, &str); 7] = [
        (31_556_952, "year"),
        (2_629_746, "month"),
        (604_800, "week"),
        (DAY.unsigned_abs(), "day"),
        (3_600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let length = seconds.unsigned_abs();
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| length >= *unit) else {
        return "now".to_owned();
    };
    let count = length / unit;
    let plural = if count == 1 { "" } else { "s" };
    if seconds < 0 {
        format!("in {count} {name}{plural}")
    } else {
        format!("{count} {name}{plural} ago")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(style: &str, seconds: i64) -> String {
        let zone: fn() -> TimeZone = || TimeZone::fixed(jiff::tz::offset(-3));
        let (style, zone) = (Style::parse(style).expect(style), Arc::new(LazyLock::new(zone)));
        let times = TimeFormat { style, zone, now: 1_000_000_000 };
        times.write(seconds)
    }

    #[test]
    fn styles() {
        for (style, seconds, expected) in [
            ("full-iso", 1_763_683_441, "2025-11-20 21:04:01 -0300"),
            ("long-iso", 1_763_683_441, "2025-11-20 21:04"),
            ("iso", -1, "1969-12-31"),
            ("+%s!", -62_135_596_801, "-62135596801!"),
            ("+%Y", -62_135_596_801, "0000"),
            ("+a\nb", 0, "a\\nb"),
            ("relative", 1_000_000_000, "now"),
            ("relative", 999_999_999, "1 second ago"),
            ("relative", 1_000_000_000 - 3 * 86_400, "3 days ago"),
            ("relative", 1_000_007_200, "in 2 hours"),
            ("relative", i64::MAX, "in 292277024595 years"),
        ] {
            assert_eq!(write(style, seconds), expected, "{style} {seconds}");
        }
        for style in ["", "iso8601", "+%", "+%!", "Full-iso", "+%N", "+%S%.3f"] {
            assert!(Style::parse(style).is_err(), "{style}");
        }
    }

    #[test]
    fn no_time_is_absurd() {
        for seconds in [i64::MIN, i64::MIN + 1, i64::MAX, 1 << 40, -(1 << 40), 253_402_207_200] {
            for style in ["full-iso", "long-iso", "iso", "relative", "+%c %U %Z %Q %s"] {
                assert!(!write(style, seconds).is_empty());
            }
        }
        assert_eq!(write("iso", i64::MAX), i64::MAX.to_string());
    }
}
