//! jiff asks the system, and has the database in itself. No file is read.

use jiff::tz::TimeZone;

/// The zone of the system.
pub fn of_system() -> Option<TimeZone> {
    TimeZone::try_system().ok()
}

/// The zone with this name.
pub fn named(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}
