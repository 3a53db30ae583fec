//! Snapshots in a directory, each named after the time when it was made; and which of them are kept.
//!
//! Other files in the directory are left alone. A file is only removed if its name is a time, and its header says that
//! weigh made it, of the same roots on the same host.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Destination, Glance, Origin, Wanted, glance, problem, read};
use crate::measure::View;
use crate::problem::{Operation, Problem};
use crate::sys;
use crate::tally::{Limits, Top};

/// A name that sorts by time, and differs from those that people choose.
const NAME: &str = "weigh-%Y-%m-%dT%H%M%SZ";
const ENDING: &str = ".json.zst";

/// A new file in `directory`, named after the `time`, in seconds since the epoch.
pub fn dated(directory: &Path, time: i64) -> Destination {
    let time = Timestamp::from_second(time).unwrap_or(Timestamp::UNIX_EPOCH);
    Destination::new_in(directory, &time.strftime(NAME).to_string(), ENDING)
}

/// Whether the name of a file may be from [`dated`].
fn is_dated(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let Some(name) = name.strip_suffix(ENDING) else { return false };
    let Some(end) = name.find('Z') else { return false };
    let (time, number) = name.split_at(end + 1);
    // If the name was taken in the same second, a number follows.
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let is_alone = number.is_empty() || number.strip_prefix('-').is_some_and(is_number);
    is_alone && jiff::civil::DateTime::strptime(NAME, time).is_ok()
}

/// Removes expired snapshots from `directory`, where `saved` has just been saved. Of all snapshots of the same roots,
/// it keeps the last one of each of the last `count` days that have any, the same for weeks and months, in `zone`; and
/// the last complete one, whatever its age. Returns the problems of removing.
pub fn remove_old(directory: &Path, saved: &Origin, count: usize, zone: &TimeZone) -> Vec<Problem> {
    let files = match sys::files_in(directory) {
        Ok(files) => files,
        Err(error) => return vec![problem(directory, Operation::Remove, &error)],
    };
    let series = files.into_iter().filter(|file| is_dated(file)).filter_map(|file| {
        let glance = glance(&file).ok()?;
        is_of(&glance.origin, saved).then_some((file, glance))
    });
    let mut series: Vec<_> = series.collect();
    // Newest first.
    series.sort_by(|one, two| (two.1.origin.time, &two.0).cmp(&(one.1.origin.time, &one.0)));
    let kept = kept(&series, count, zone);
    let old = series.iter().filter(|(file, _)| !kept.contains(file));
    let removed = old.filter_map(|(file, _)| {
        let error = sys::remove_file(file).err()?;
        Some(problem(file, Operation::Remove, &error))
    });
    removed.collect()
}

/// Whether two snapshots are of the same roots, or the same share of them, on the same host.
fn is_of(one: &Origin, other: &Origin) -> bool {
    one.host == other.host && one.share == other.share && one.paths() == other.paths()
}

/// Which files of a `series`, newest first, are kept.
fn kept<'s>(
    series: &'s [(PathBuf, Glance)],
    count: usize,
    zone: &TimeZone,
) -> HashSet<&'s PathBuf> {
    let (mut days, mut weeks, mut months) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut kept = HashSet::new();
    for (file, glance) in series {
        let Ok(time) = Timestamp::from_second(glance.origin.time) else {
            kept.insert(file);
            continue;
        };
        let date = time.to_zoned(zone.clone()).date();
        let week = date.iso_week_date();
        let is_day = days.len() < count && days.insert(date);
        let is_week = weeks.len() < count && weeks.insert((week.year(), week.week()));
        let is_month = months.len() < count && months.insert((date.year(), date.month()));
        if is_day || is_week || is_month {
            kept.insert(file);
        }
    }
    // The header does not show whether the rest was cut off.
    let is_whole = |file: &Path| {
        let nothing = Top::new(View::default(), Limits { lines: 0, ..Limits::NONE });
        read(file, Wanted::default(), nothing).is_ok()
    };
    let whole = series.iter().find(|(file, glance)| glance.is_complete && is_whole(file));
    kept.extend(whole.map(|(file, _)| file));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_those_that_people_give() {
        let to = dated(Path::new("d"), 1_700_000_000);
        assert_eq!(to.path, Path::new("d/weigh-2023-11-14T221320Z.json.zst"));
        assert!(is_dated(&to.path));
        for (name, expected) in [
            ("weigh-2023-11-14T221320Z-2.json.zst", true),
            ("weigh-2023-11-14T221320Z-.json.zst", false),
            ("weigh-2023-11-14T221320Z-old.json.zst", false),
            ("weigh-2023-13-14T221320Z.json.zst", false),
            ("weigh-2023-11-14T221320Z.json", false),
            ("before-the-upgrade.json.zst", false),
            ("weigh-Z.json.zst", false),
        ] {
            assert_eq!(is_dated(Path::new(name)), expected, "{name}");
        }
    }
}
