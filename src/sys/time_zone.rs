//! The time zone in which times are shown.
//!
//! jiff finds it, too. But it lists the whole directory of zones, and reads whatever TZ names, even if that has no end
//! or waits for a writer.

use std::env;

use jiff::tz::TimeZone;

use super::system::time_zone::{named, of_system};

/// The time zone according to the variable TZ or the system (tzset(3)); UTC if neither tells.
pub fn time_zone() -> TimeZone {
    let zone = match env::var_os("TZ") {
        Some(value) => value.to_str().and_then(of_value),
        None => of_system(),
    };
    zone.unwrap_or(TimeZone::UTC)
}

/// The zone that a value of TZ means: a rule (`EST5EDT,M3.2.0,M11.1.0`) or a name.
fn of_value(value: &str) -> Option<TimeZone> {
    match value.strip_prefix(':') {
        Some(name) => named(name),
        None => TimeZone::posix(value).ok().or_else(|| named(value)),
    }
}
