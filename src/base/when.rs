//! Points in time as people write them: `12h`, `7d`, `2w`, `3mo`, `1y`, `2026-11-01`, `yesterday`, `monday`.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

use std::time::Duration;

use crate::base::invalid::InvalidValue;

/// A point in time: a day, or some time before now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So much time before now.
    Ago(u32, Unit),
    /// When the day began that was so many days before today.
    DaysBefore(u32),
    /// When this day began.
    On(Date),
    /// When the last such day before today began.
    Weekday(Weekday),
}

/// A unit of time. Months and years are those of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// An hour.
    Hours,
    /// 24 hours.
    Days,
    /// Seven days.
    Weeks,
    /// A month.
    Months,
    /// A year.
    Years,
}

impl When {
    /// Reads a time.
    ///
    /// # Errors
    /// What a valid one looks like.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "today" => return Ok(When::DaysBefore(0)),
            "yesterday" => return Ok(When::DaysBefore(1)),
            // No time needs no unit.
            "0" => return Ok(When::Ago(0, Unit::Hours)),
            _ => {}
        }
        if let Some((_, day)) = WEEKDAYS.into_iter().find(|(name, _)| *name == text) {
            return Ok(When::Weekday(day));
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = match unit {
            _ if number.is_empty() => return Err(InvalidValue::Time),
            "h" => Unit::Hours,
            "d" => Unit::Days,
            "w" => Unit::Weeks,
            "mo" => Unit::Months,
            "y" => Unit::Years,
            _ => {
                // A year has four digits.
                let date = Date::strptime("%Y-%m-%d", text).ok().filter(|_| text.len() >= 10);
                return date.map(When::On).ok_or(InvalidValue::Time);
            }
        };
        // A number that is too large is before any file.
        Ok(When::Ago(number.parse().unwrap_or(u32::MAX), unit))
    }

    /// Its seconds since the epoch, if it is `now` in this time zone, which hours, days and weeks do not need.
    /// [`i64::MIN`] is before any calendar, and [`i64::MAX`] after it: in some time zones the last days of the year 9999
    /// are.
    pub fn moment(self, now: i64, zone: impl FnOnce() -> TimeZone) -> i64 {
        let zone = match self {
            When::Ago(_, Unit::Hours | Unit::Days | Unit::Weeks) => TimeZone::UTC,
            _ => zone(),
        };
        let beyond = if matches!(self, When::On(_)) { i64::MAX } else { i64::MIN };
        self.checked(now, &zone).unwrap_or(beyond)
    }

    fn checked(self, now: i64, zone: &TimeZone) -> Option<i64> {
        let now = Timestamp::from_second(now).ok()?.to_zoned_datetime(zone.clone());
        let time = match self {
            When::Ago(number, unit) => now.checked_sub(unit.times(number)?).ok()?,
            When::DaysBefore(days) => now
                .date()
                .checked_sub(i64::from(days).days())
                .ok()?
                .to_zoned_datetime(zone.clone())
                .ok()?,
            When::On(date) => date.to_zoned_datetime(zone.clone()).ok()?,
            When::Weekday(day) => last(day, now.date())?.to_zoned_datetime(zone.clone()).ok()?,
        };
        Some(time.timestamp().as_second())
    }
}

/// Reads a length of time, as in `10s`, `5min` or `1h`: a second or more.
///
/// # Errors
/// What a valid one looks like.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidValue> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let seconds: u32 = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        _ => return Err(InvalidValue::Duration),
    };
    let number: u32 = number.parse().map_err(|_| InvalidValue::Duration)?;
    let seconds = u64::from(number) * u64::from(seconds);
    Some(Duration::from_secs(seconds)).filter(|it| !it.is_zero()).ok_or(InvalidValue::Duration)
}

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// The last such `day` before `today`.
pub fn last(day: Weekday, today: Date) -> Option<Date> {
    today.nth_weekday(-1, day).ok()
}

impl Unit {
    fn times(self, number: u32) -> Option<Span> {
        let (span, number) = (Span::new(), i64::from(number));
        match self {
            Unit::Hours => span.try_hours(number),
            Unit::Days => span.try_hours(number * 24),
            Unit::Weeks => span.try_hours(number * 24 * 7),
            Unit::Months => span.try_months(number),
            Unit::Years => span.try_years(number),
        }
        .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;
    /// 2026-03-31 12:00 UTC.
    const NOW: i64 = 1_774_958_400;

    #[test]
    fn times_are_counted_back_from_now() {
        for (text, before) in [
            ("0", 0),
            ("0h", 0),
            ("12h", DAY / 2),
            ("7d", 7 * DAY),
            ("2w", 14 * DAY),
            // To the last day of February.
            ("1mo", 31 * DAY),
            ("1y", 365 * DAY),
            ("today", DAY / 2),
            ("yesterday", DAY + DAY / 2),
            ("2026-03-01", 30 * DAY + DAY / 2),
            // It is a Tuesday.
            ("monday", DAY + DAY / 2),
            ("tuesday", 7 * DAY + DAY / 2),
        ] {
            let when = When::parse(text).expect(text);
            assert_eq!(NOW - when.moment(NOW, || TimeZone::UTC), before, "{text}");
        }
        for text in ["99999999999h", "4294967295d", "99999y"] {
            let when = When::parse(text).expect(text);
            assert_eq!(when.moment(NOW, || TimeZone::UTC), i64::MIN, "{text}");
        }
        let last = When::parse("9999-12-31").expect("a date");
        assert!(last.moment(NOW, || TimeZone::UTC) >= 253_402_214_400);
    }

    #[test]
    fn what_is_no_time() {
        for text in
            ["", "d", "7", "-7d", "7 d", "7D", "1.5d", "7m", "last", "2026-13-01", "0x", "é"]
        {
            assert!(When::parse(text).is_err(), "{text}");
        }
    }
}
