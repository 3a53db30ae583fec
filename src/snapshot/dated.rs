//! Snapshots in a directory, each named after the time when it was made: which of them are kept, and for which of them
//! the directory stands.
//!
//! Other files in the directory are left alone. A file is only removed if its name is a time, and its header says that
//! weigh made it, of the same roots on the same host, with the same flags.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::comparable::difference;
use super::packed::blocks;
use super::{Destination, Glance, Origin, glance, other_roots, problem};
use crate::problem::{Operation, Problem, hinted};
use crate::sys;

/// A name that sorts by time, and differs from those that people choose.
const NAME: &str = "weigh-%Y-%m-%dT%H%M%SZ";

/// The ending of the names, after a dot.
const ENDING: &str = "weigh";

const NONE_SAVED: &str = "there is no snapshot in it that --save DIR/ wrote";
const NONE_KEPT: &str = "there is no snapshot in it that --save DIR/ wrote, and no scan of it is remembered\n\
    to begin, use --remember, or scan it with --save DIR/";

/// A new file in `directory`, named after the `time`, in seconds since the epoch.
pub fn dated(directory: &Path, time: i64) -> Destination {
    let time = Timestamp::from_second(time).unwrap_or(Timestamp::UNIX_EPOCH);
    Destination::new_in(directory, &time.strftime(NAME).to_string(), ENDING)
}

/// The time in the name of a file that may be from [`dated`], and the number that follows if the name was taken in the
/// same second.
fn time_and_number(path: &Path) -> Option<(&str, &str)> {
    // The time and the number have no dot.
    let (name, ending) = path.file_name()?.to_str()?.split_once('.')?;
    let (time, number) = name.split_at(name.find('Z')? + 1);
    let is_number = match number.strip_prefix('-') {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()),
        None => number.is_empty(),
    };
    (is_number && ending == ENDING && DateTime::strptime(NAME, time).is_ok())
        .then_some((time, number))
}

/// A dated file, and its header.
pub(super) type Dated = (PathBuf, Glance);

/// The dated files in `directory`, in no particular order.
pub(super) fn files(directory: &Path) -> Result<Vec<PathBuf>, Problem> {
    let files = sys::files_in(directory);
    let mut files = files.map_err(|error| problem(directory, Operation::Load, &error))?;
    files.retain(|file| time_and_number(file).is_some());
    Ok(files)
}

/// Sorts dated files by time, and those of one second by number.
pub(super) fn sort(files: &mut [PathBuf]) {
    files.sort_by_cached_key(|file| {
        let (time, number) = time_and_number(file).unwrap_or_default();
        (time.to_owned(), number.len(), number.to_owned())
    });
}

/// The dated snapshots in `directory`, newest first. Also returns the problems of those that cannot be read.
pub(super) fn snapshots(directory: &Path) -> Result<(Vec<Dated>, Vec<Problem>), Problem> {
    let (mut dated, mut unread) = (Vec::new(), Vec::new());
    for file in files(directory)? {
        match glance(&file) {
            Ok(glance) => dated.push((file, glance)),
            Err(problem) => unread.push(problem),
        }
    }
    newest_first(&mut dated);
    Ok((dated, unread))
}

/// Sorts dated snapshots. Several may be of the same second: whoever looks at them finds the same order.
pub(super) fn newest_first(dated: &mut [Dated]) {
    dated.sort_by_cached_key(|(file, glance)| {
        Reverse((glance.origin.time, sys::modified(file), file.as_os_str().len(), file.clone()))
    });
}

/// All dated snapshots in `path`, oldest first, if it is a directory; otherwise `path`.
///
/// # Errors
/// The system's, and an error if there are none.
pub fn all_in(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    if !sys::is_directory(path) {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = files(path)?;
    sort(&mut files);
    if files.is_empty() {
        return Err(none_in(path, NONE_KEPT));
    }
    Ok(files)
}

/// The newest of the dated snapshots in `path`, if it is a directory; otherwise `path`. One dated in the future is only
/// taken if all are.
///
/// # Errors
/// The system's, an error if there is none, and that of a snapshot that cannot be read, because it may be the newest.
pub fn newest(path: &Path) -> Result<PathBuf, Problem> {
    if !sys::is_directory(path) {
        return Ok(path.to_owned());
    }
    let (mut dated, unread) = snapshots(path)?;
    // A clock that was wrong once would leave its snapshot the newest for years.
    let now = sys::now();
    dated.sort_by_key(|(_, glance)| glance.origin.time > now);
    match (unread.into_iter().next(), dated.into_iter().next()) {
        (Some(problem), _) => Err(problem),
        (None, newest) => newest.map(|(file, _)| file).ok_or_else(|| none_in(path, NONE_SAVED)),
    }
}

fn none_in(directory: &Path, none: &str) -> Problem {
    problem(directory, Operation::Load, &hinted(io::ErrorKind::Other, none))
}

/// The newest complete one of the dated snapshots in `path` of the same roots as `now`, if `path` is a directory;
/// otherwise `path`. One that can be compared with the `given` flags comes before others, and then one of the same host.
///
/// # Errors
/// The system's; if there is none, the error of a snapshot that cannot be read, or one that says so.
pub fn newest_like(path: &Path, given: &[String], now: &Origin) -> Result<PathBuf, Problem> {
    if !sys::is_directory(path) {
        return Ok(path.to_owned());
    }
    let (dated, unread) = snapshots(path)?;
    let others = dated.first().map(|(_, newest)| newest.origin.clone());
    // None from the future, for the reason in `newest`.
    let found = newest_of(dated, (now, given), sys::now(), true);
    match (found, unread.into_iter().next()) {
        (Some(found), _) => Ok(found),
        (None, Some(problem)) => Err(problem),
        (None, None) => {
            let why = others.and_then(|other| other_roots(&other, now));
            let why = why.map_or_else(String::new, |why| format!(": of the newest, {why}"));
            let none = format!("there is no complete snapshot of the same PATHs in it{why}");
            Err(problem(path, Operation::Compare, &hinted(io::ErrorKind::Other, none)))
        }
    }
}

/// The newest one of the `dated` snapshots, which come in that order, of the same roots as `now`, and of a time that is
/// at most `until`, in seconds since the epoch; perhaps only of those that are complete. One that can be compared with
/// the `given` flags comes before others, and then one of the same host: a container has another name each time.
pub(super) fn newest_of(
    mut dated: Vec<Dated>,
    (now, given): (&Origin, &[String]),
    until: i64,
    needs_complete: bool,
) -> Option<PathBuf> {
    dated.retain(|(_, glance)| {
        is_of_roots(&glance.origin, now)
            && glance.origin.time <= until
            && (glance.is_complete || !needs_complete)
    });
    // The others come last: if there is nothing else, the error says how their flags differ.
    let flags = now.options.as_deref().unwrap_or_default();
    dated.sort_by_key(|(_, Glance { origin, .. })| {
        (difference(flags, given, origin, false).is_some(), origin.host != now.host)
    });
    dated.into_iter().map(|(file, _)| file).find(|file| has_end(file))
}

/// What [`remove_old`] did.
#[derive(Debug, Default)]
pub struct Expired {
    /// The snapshots that it removed, newest first.
    pub files: Vec<PathBuf>,
    /// The problems of removing others.
    pub problems: Vec<Problem>,
    /// How many others it would have removed, if their host had the same name.
    pub of_other_hosts: usize,
}

impl Expired {
    /// Removes the snapshot in `file`.
    pub(super) fn remove(&mut self, file: &Path) {
        match sys::remove_file(file) {
            Ok(()) => self.files.push(file.to_owned()),
            // Somebody else has just removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.problems.push(problem(file, Operation::Remove, &error)),
        }
    }
}

/// Removes expired snapshots from `directory`, where one from `origin` has just been saved as `saved`. Of all snapshots
/// of the same roots with the same flags, it keeps the last one of each of the last `count` days that have any, the same
/// for weeks and months, of local time; the last complete one, whatever its age; and what was just saved. It leaves those
/// alone that are dated later than now: the clock was wrong, or somebody else saves at the same time.
pub fn remove_old(directory: &Path, (saved, origin): (&Path, &Origin), count: usize) -> Expired {
    let (now, mut removed) = (sys::now(), Expired::default());
    let lock = sys::lock(directory).map_err(|error| problem(directory, Operation::Remove, &error));
    let (_lock, mut series) = match lock.and_then(|lock| Ok((lock, snapshots(directory)?.0))) {
        Ok(locked) => locked,
        Err(problem) => {
            removed.problems.push(Problem { operation: Operation::Remove, ..problem });
            return removed;
        }
    };
    let flags = origin.options.as_deref().unwrap_or_default();
    series.retain(|(_, Glance { origin: other, .. })| {
        is_of_roots(other, origin)
            && difference(flags, &[], other, false).is_none()
            && other.time <= now
    });
    let is_here = |glance: &Glance| glance.origin.host == origin.host;
    // Other hosts may be other machines, whose snapshots are theirs.
    let of_all = of_days(&series, count);
    let left = series.iter().filter(|(file, glance)| !is_here(glance) && !of_all.contains(file));
    removed.of_other_hosts = left.count();
    series.retain(|(_, glance)| is_here(glance));
    let kept = kept(&series, count);
    for (file, _) in series.iter().filter(|(file, _)| !kept.contains(file) && file != saved) {
        removed.remove(file);
    }
    removed
}

/// Whether two snapshots are of the same roots, or the same share of them.
pub(super) fn is_of_roots(one: &Origin, other: &Origin) -> bool {
    one.share == other.share && one.has_paths_of(other)
}

/// Which files of a `series`, newest first, are kept.
fn kept(series: &[Dated], count: usize) -> HashSet<&PathBuf> {
    let mut kept = of_days(series, count);
    let mut whole = series.iter().filter(|(_, glance)| glance.is_complete);
    kept.extend(whole.find(|(file, _)| has_end(file)).map(|(file, _)| file));
    kept
}

/// The last file of each of the last days, weeks and months of a `series`, newest first.
fn of_days(series: &[Dated], count: usize) -> HashSet<&PathBuf> {
    let zone = sys::time_zone();
    let (mut days, mut weeks, mut months) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut kept = HashSet::new();
    for (file, glance) in series {
        let Ok(time) = Timestamp::from_second(glance.origin.time) else {
            kept.insert(file);
            continue;
        };
        let date = time.to_zoned_datetime(zone.clone()).date();
        let week = date.iso_week_date();
        let is_day = days.len() < count && days.insert(date);
        let is_week = weeks.len() < count && weeks.insert((week.year(), week.week()));
        let is_month = months.len() < count && months.insert((date.year(), date.month()));
        if is_day || is_week || is_month {
            kept.insert(file);
        }
    }
    kept
}

/// Whether a snapshot was written to its end. Its header does not show whether the rest was cut off.
fn has_end(file: &Path) -> bool {
    sys::open_snapshot(file).and_then(|(file, _)| blocks::ensure_end(file)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_those_that_people_give() {
        let to = dated(Path::new("d"), 1_700_000_000);
        assert_eq!(to.path, Path::new("d/weigh-2023-11-14T221320Z.weigh"));
        assert_eq!(time_and_number(&to.path), Some(("weigh-2023-11-14T221320Z", "")));
        for (name, expected) in [
            ("weigh-2023-11-14T221320Z-2.weigh", true),
            ("weigh-2023-11-14T221320Z-.weigh", false),
            ("weigh-2023-11-14T221320Z-old.weigh", false),
            ("weigh-2023-13-14T221320Z.weigh", false),
            ("weigh-2023-11-14T221320Z.json", false),
            ("weigh-2023-11-14T221320Z.txt", false),
            ("weigh-2023-11-14T221320Z.old.weigh", false),
            ("before-the-upgrade.weigh", false),
            ("weigh-Z.weigh", false),
        ] {
            assert_eq!(time_and_number(Path::new(name)).is_some(), expected, "{name}");
        }
    }
}
