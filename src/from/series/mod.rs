//! Series of snapshots: the same roots at different times, each snapshot in a file that is named after its time.
//!
//! * Names give the order. To find the newest snapshot, weigh reads no file.
//! * Headers tell of which roots a snapshot is, and with which flags it was made. They are read one by one, the newest
//!   first, until the answer is known.
//! * The end of a file tells whether the rest of it is there. Nothing is unpacked for that.
//!
//! `--keep` is below, too: it keeps some snapshots and removes the others. `remembered`: the scans that weigh keeps by
//! itself.
//!
//! Other files in the directory are left alone. A file is only removed if its name is a time, and its header says that
//! weigh made it, of the same roots on the same host, with the same flags.

mod remembered;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::from::snapshot::{
    Destination, Origin, SnapshotInfo, difference, has_end, other_roots, problem, read_info, way_to,
};
use crate::sys;
use crate::sys::problem::{Operation, Problem, hinted};

pub use remembered::{Day, Remembered, Remembering};

/// A name that sorts by time, and differs from those that people choose.
const NAME: &str = "weigh-%Y-%m-%dT%H%M%SZ";

/// The ending of the names, after a dot.
const ENDING: &str = "weigh";

const NONE_SAVED: &str = "there is no snapshot in it that --save DIR/ wrote";
const NONE_KEPT: &str = "there is no snapshot in it that --save DIR/ wrote, and no scan of it is remembered\n\
    run weigh diff once to keep one, or scan it with --save DIR/";

/// A new file in `directory`, named after the `time`, in seconds since the epoch.
pub fn dated(directory: &Path, time: i64) -> Destination {
    let time = Timestamp::from_second(time).unwrap_or(Timestamp::UNIX_EPOCH);
    Destination::new_in(directory, &time.strftime(NAME).to_string(), ENDING)
}

/// A file that is named after its time. Sorts by time; files of one second, by number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DatedFile {
    /// In seconds since the epoch.
    time: i64,
    /// What was added to the name because it was taken; 0 for nothing.
    number: u64,
    path: PathBuf,
}

impl DatedFile {
    /// The file at `path`, if [`dated`] may have named it.
    fn named(path: PathBuf) -> Option<Self> {
        // The time and the number have no dot.
        let (name, ending) = path.file_name()?.to_str()?.split_once('.')?;
        let (time, number) = name.split_at(name.find('Z')? + 1);
        let number = match number.strip_prefix('-') {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok()?
            }
            None if number.is_empty() => 0,
            _ => return None,
        };
        let time = DateTime::strptime(NAME, time).ok().filter(|_| ending == ENDING)?;
        let time = time.to_zoned_datetime(TimeZone::UTC).ok()?.timestamp().as_second();
        Some(Self { time, number, path })
    }
}

/// The dated files in `directory`, the newest first.
fn files(directory: &Path) -> Result<Vec<DatedFile>, Problem> {
    let files = sys::files_in(directory);
    let files = files.map_err(|error| problem(directory, Operation::Load, &error))?;
    let mut files: Vec<_> = files.into_iter().filter_map(DatedFile::named).collect();
    files.sort_unstable_by(|one, other| other.cmp(one));
    Ok(files)
}

/// A snapshot of a series.
#[derive(Debug)]
pub struct Member {
    /// The file that it is in.
    pub file: PathBuf,
    /// Its header.
    pub header: SnapshotInfo,
}

/// Reads the headers of `files`, one at a time. The problems of those that cannot be read are added to `unread`.
pub fn members(
    files: impl IntoIterator<Item = PathBuf>,
    unread: &mut Vec<Problem>,
) -> impl Iterator<Item = Member> {
    files.into_iter().filter_map(|file| match read_info(&file) {
        Ok(header) => Some(Member { file, header }),
        Err(problem) => {
            unread.push(problem);
            None
        }
    })
}

/// All dated snapshots in `path`, the oldest first, if it is a directory; otherwise `path`.
///
/// # Errors
/// The system's, and an error if there are none.
pub fn all_in(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    if !sys::is_directory(path) {
        return Ok(vec![path.to_owned()]);
    }
    let files = files(path)?;
    if files.is_empty() {
        return Err(none_in(path, NONE_KEPT));
    }
    Ok(files.into_iter().rev().map(|file| file.path).collect())
}

/// The newest of the dated snapshots in `path`, if it is a directory; otherwise `path`. One dated in the future is only
/// taken if all are.
///
/// # Errors
/// The system's, and an error if there is none.
pub fn newest(path: &Path) -> Result<PathBuf, Problem> {
    if !sys::is_directory(path) {
        return Ok(path.to_owned());
    }
    let mut files = files(path)?;
    // A clock that was wrong once would leave its snapshot the newest for years.
    let now = sys::now();
    files.sort_by_key(|file| file.time > now);
    let newest = files.into_iter().next();
    newest.map(|file| file.path).ok_or_else(|| none_in(path, NONE_SAVED))
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
    let files = files(path)?;
    let (mut unread, mut newest) = (Vec::new(), None);
    // None from the future, for the reason in `newest`.
    let members = members(not_after(files, sys::now()), &mut unread).inspect(|member| {
        newest.get_or_insert_with(|| member.header.origin.clone());
    });
    if let Some(found) = newest_of(members, (now, given), true) {
        return Ok(found.file);
    }
    if let Some(problem) = unread.into_iter().next() {
        return Err(problem);
    }
    let why = newest.and_then(|other| other_roots(&other, now));
    let why = why.map_or_else(String::new, |why| format!(": of the newest, {why}"));
    let none = format!("there is no complete snapshot of the same PATHs in it{why}");
    Err(problem(path, Operation::Compare, &hinted(io::ErrorKind::Other, none)))
}

/// The `files` of a time that is at most `until`, in seconds since the epoch.
fn not_after(files: Vec<DatedFile>, until: i64) -> impl Iterator<Item = PathBuf> {
    files.into_iter().filter(move |file| file.time <= until).map(|file| file.path)
}

/// The newest one of `members`, which come in that order, of the same roots as `now`, or else of a directory above it;
/// perhaps only of those that are complete. One that can be compared with the `given` flags comes before others, and then
/// one of the same host: a container has another name each time. Reads no further than to the first one that has both.
fn newest_of(
    members: impl Iterator<Item = Member>,
    (now, given): (&Origin, &[String]),
    needs_complete: bool,
) -> Option<Member> {
    let flags = now.options.as_deref().unwrap_or_default();
    let mut best = None;
    for member in members {
        let SnapshotInfo { origin, is_complete } = &member.header;
        let is_part = !is_of_roots(origin, now);
        if is_part && way_to(origin, now).is_none() || needs_complete && !is_complete {
            continue;
        }
        // If all have other flags, the error says how they differ.
        let has_others = difference(flags, given, origin, false).is_some();
        let differs = (is_part, has_others, origin.host != now.host);
        let is_better = best.as_ref().is_none_or(|(least, _)| differs < *least);
        if is_better && has_end(&member.file) {
            best = Some((differs, member));
        }
        if matches!(best, Some(((false, false, false), _))) {
            break;
        }
    }
    best.map(|(_, member)| member)
}

/// Whether two snapshots are of the same roots, or the same share of them.
fn is_of_roots(one: &Origin, other: &Origin) -> bool {
    one.share == other.share && one.has_paths_of(other)
}

// Which snapshots of a series are kept, and what becomes of the others.

/// What was removed.
#[derive(Debug, Default)]
pub struct Expired {
    /// The snapshots that were removed, newest first.
    pub files: Vec<PathBuf>,
    /// The problems of removing others.
    pub problems: Vec<Problem>,
    /// How many others would have been removed, if their host had the same name.
    pub of_other_hosts: usize,
}

impl Expired {
    /// Removes the snapshot in `file`.
    fn remove(&mut self, file: &Path) {
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
    let (now, mut expired) = (sys::now(), Expired::default());
    let lock = sys::lock(directory).map_err(|error| problem(directory, Operation::Remove, &error));
    let (_lock, files) = match lock.and_then(|lock| Ok((lock, files(directory)?))) {
        Ok(locked) => locked,
        Err(problem) => {
            expired.problems.push(Problem { operation: Operation::Remove, ..problem });
            return expired;
        }
    };
    let flags = origin.options.as_deref().unwrap_or_default();
    let is_like = |Member { header: SnapshotInfo { origin: other, .. }, .. }: &Member| {
        is_of_roots(other, origin)
            && difference(flags, &[], other, false).is_none()
            && other.time <= now
    };
    let (files, mut others) = (files.into_iter().map(|file| file.path), Vec::new());
    let mut series: Vec<_> = members(files, &mut others).filter(is_like).collect();
    // A name that was removed in this second may have been given again.
    series.sort_by_key(|member| (Reverse(member.header.origin.time), member.file != saved));
    let is_here = |member: &Member| member.header.origin.host == origin.host;
    // Other hosts may be other machines, whose snapshots are theirs.
    let of_all = of_days(&series, count);
    let left = series.iter().filter(|member| !is_here(member) && !of_all.contains(&member.file));
    expired.of_other_hosts = left.count();
    series.retain(is_here);
    let mut kept = of_days(&series, count);
    let mut complete = series.iter().filter(|member| member.header.is_complete);
    kept.extend(complete.find(|member| has_end(&member.file)).map(|member| &member.file));
    for Member { file, .. } in &series {
        if !kept.contains(file) && file != saved {
            expired.remove(file);
        }
    }
    expired
}

/// The last file of each of the last days, weeks and months of a `series`, newest first.
fn of_days(series: &[Member], count: usize) -> HashSet<&PathBuf> {
    let zone = sys::time_zone();
    let (mut days, mut weeks, mut months) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut kept = HashSet::new();
    for Member { file, header } in series {
        let Ok(time) = Timestamp::from_second(header.origin.time) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_those_that_people_give() {
        let to = dated(Path::new("d"), 1_700_000_000);
        assert_eq!(to.path, Path::new("d/weigh-2023-11-14T221320Z.weigh"));
        for (name, expected) in [
            ("weigh-2023-11-14T221320Z.weigh", Some((1_700_000_000, 0))),
            ("weigh-2023-11-14T221320Z-2.weigh", Some((1_700_000_000, 2))),
            ("weigh-2023-11-14T221320Z-10.weigh", Some((1_700_000_000, 10))),
            ("weigh-2023-11-14T221320Z-.weigh", None),
            ("weigh-2023-11-14T221320Z-+2.weigh", None),
            ("weigh-2023-11-14T221320Z-old.weigh", None),
            ("weigh-2023-13-14T221320Z.weigh", None),
            ("weigh-2023-11-14T221320Z.json", None),
            ("weigh-2023-11-14T221320Z.txt", None),
            ("weigh-2023-11-14T221320Z.old.weigh", None),
            ("before-the-upgrade.weigh", None),
            ("weigh-Z.weigh", None),
        ] {
            let found = DatedFile::named(name.into()).map(|file| (file.time, file.number));
            assert_eq!(found, expected, "{name}");
        }
    }
}
