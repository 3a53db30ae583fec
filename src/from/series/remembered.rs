//! Walks that weigh remembers by itself (`--remember`): snapshots in a directory of the user's own, which has a
//! directory for each series. A series has the walks of the same roots, with the same flags as far as those count
//! apart, on the same host.
//!
//! Like everywhere else, a file is only removed if its name is a time, and its header says that weigh made it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::{DatedFile, Expired, Member, dated, files, members, newest_of, not_after, remove_old};
use crate::base::when::{self, Unit, When};
use crate::from::snapshot::{
    DIGEST, Destination, Origin, SnapshotInfo, difference, digest, problem, read_info, sets_apart,
    way_to,
};
use crate::sys;
use crate::sys::problem::{Operation, Problem};

/// How many days, weeks and months have a snapshot of each series.
const COUNT: usize = 7;

/// The directory of what is remembered.
#[derive(Clone, Debug)]
pub struct Remembered {
    /// Its path; empty if the user has no home.
    pub directory: PathBuf,
    /// How many bytes all of it may take.
    pub bound: u64,
}

/// What came of a walk that was to be remembered.
#[derive(Debug)]
pub enum Remembering {
    /// It is kept.
    Kept {
        /// Its file.
        file: PathBuf,
        /// How many bytes that takes.
        length: u64,
        /// What had to make room for it.
        expired: Expired,
    },
    /// It is no walk that is kept, for this reason.
    Unfit(&'static str),
    /// It could not be kept.
    Failed(Problem),
}

/// A day, at the end of which a walk is to be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    /// Today.
    Last,
    /// So many days before today.
    Ago(u16),
    /// This day.
    On(Date),
    /// The last such day before today.
    Weekday(Weekday),
    /// This time, and not the end of its day.
    Before(When),
}

impl Day {
    /// The day or time that `text` names, if it does: `last`, `yesterday`, `monday`, `7d`, `12h` or `2026-11-01`.
    pub fn named(text: &str) -> Option<Self> {
        if text == "last" {
            return Some(Day::Last);
        }
        Some(match When::parse(text).ok()? {
            // A number that is too large is before any scan.
            When::Ago(days, Unit::Days) | When::DaysBefore(days) => {
                Day::Ago(days.try_into().unwrap_or(u16::MAX))
            }
            When::On(date) => Day::On(date),
            When::Weekday(day) => Day::Weekday(day),
            when @ When::Ago(..) => Day::Before(when),
        })
    }

    /// The last second of the day that is not after `now`, in seconds since the epoch. None if there is no such time.
    fn end(self, now: i64, zone: &TimeZone) -> Option<i64> {
        let today = Timestamp::from_second(now).ok()?.to_zoned_datetime(zone.clone()).date();
        let date = match self {
            Day::Last => today,
            Day::Ago(days) => today.checked_sub(i64::from(days).days()).ok()?,
            Day::On(date) => date,
            Day::Weekday(day) => when::last(day, today)?,
            Day::Before(when) => return Some(when.moment(now, || zone.clone())),
        };
        let next = date.tomorrow().ok()?.to_zoned_datetime(zone.clone()).ok()?;
        Some(now.min(next.timestamp().as_second() - 1))
    }
}

impl Remembered {
    /// The directory of the series of `origin`.
    pub fn series(&self, origin: &Origin) -> PathBuf {
        let (paths, options) = kind(origin);
        let parts = [&*origin.host].into_iter().chain(paths).chain([&b""[..]]).chain(options);
        let digest = parts.fold(DIGEST, digest);
        self.directory.join(format!("{digest:016x}"))
    }

    /// The newest walk of the series of `now` until the end of a `day`. If there is none, the newest one of another host,
    /// or else of a directory above. Perhaps only complete walks count.
    ///
    /// # Errors
    /// The system's, and that of a file that cannot be read.
    pub fn find(
        &self,
        day: Day,
        now: &Origin,
        needs_complete: bool,
    ) -> Result<Option<Member>, Problem> {
        let Some(until) = day.end(now.time, &sys::time_zone()) else { return Ok(None) };
        let given = now.options.as_deref().unwrap_or_default();
        let series = self.series(now);
        let (mut unread, mut unread_of_others) = (Vec::new(), Vec::new());
        if sys::is_directory(&series) {
            let private = sys::make_private_directory(&series);
            private.map_err(|error| problem(&series, Operation::Compare, &error))?;
            let members = members(not_after(files(&series)?, until), &mut unread);
            if let Some(found) = newest_of(members, (now, given), needs_complete) {
                return Ok(Some(found));
            }
        }
        let others = members(not_after(self.files(), until), &mut unread_of_others)
            .filter(|member| is_like(member, now) && member.header.origin.host != now.host);
        let found = newest_of(others, (now, given), needs_complete);
        match (found, unread.into_iter().next()) {
            (None, Some(problem)) => Err(problem),
            (Some(found), _) => Ok(Some(found)),
            (None, None) => Ok(self.find_above(until, (now, given), needs_complete)),
        }
    }

    /// The newest walk until then of a directory above the one of `now`, with the same flags.
    fn find_above(
        &self,
        until: i64,
        (now, given): (&Origin, &[String]),
        needs_complete: bool,
    ) -> Option<Member> {
        let mut unread = Vec::new();
        let above = members(not_after(self.files(), until), &mut unread).filter(|member| {
            let origin = &member.header.origin;
            way_to(origin, now).is_some() && difference(given, given, origin, false).is_none()
        });
        newest_of(above, (now, given), needs_complete)
    }

    /// All walks of the series of `now`, and if that has not two, those of other hosts; and all walks of other series.
    /// Oldest first, with nothing that cannot be read.
    pub fn history(&self, now: &Origin) -> (Vec<Member>, Vec<Member>) {
        let all = self.all().into_iter();
        let (mut like, others): (Vec<_>, _) = all.partition(|member| is_like(member, now));
        let is_here = |member: &Member| member.header.origin.host == now.host;
        if like.iter().filter(|member| is_here(member)).count() > 1 {
            like.retain(is_here);
        }
        (like, others)
    }

    /// The walks of a directory above the one of `now`, with the same flags, oldest first: of the one that was walked last.
    pub fn history_above(&self, now: &Origin) -> Vec<Member> {
        let given = now.options.as_deref().unwrap_or_default();
        let mut above = self.all();
        above.retain(|Member { header: SnapshotInfo { origin, .. }, .. }| {
            way_to(origin, now).is_some() && difference(given, given, origin, false).is_none()
        });
        let newest = above.last().map(|member| member.header.origin.clone());
        above.retain(|member| newest.as_ref().is_some_and(|it| is_like(member, it)));
        above
    }

    /// Where to save a walk from `origin`. Makes the directory, for the user alone.
    ///
    /// # Errors
    /// The system's, and an error if other users may write there.
    pub fn destination(&self, origin: &Origin) -> io::Result<Destination> {
        if self.directory.as_os_str().is_empty() {
            return Err(io::Error::other("neither XDG_STATE_HOME nor HOME is set"));
        }
        let series = self.series(origin);
        sys::make_private_directory(&series)?;
        Ok(dated(&series, origin.time).private())
    }

    /// Removes what is expired, now that a walk from `origin` is in the file `saved`: of the same series as `--keep`
    /// does, and then the oldest of all series of its host, until all of them fit. Returns those that had to make room,
    /// and how many of other hosts stay although they do not fit.
    ///
    /// # Errors
    /// If the walk alone takes more than the bound. Then it is removed.
    pub fn thin(&self, saved: &Path, origin: &Origin) -> io::Result<Expired> {
        if sys::length(saved) > self.bound {
            sys::remove_file(saved)?;
            return Err(io::Error::other(
                "this scan alone takes more than remember-bound in the config file allows",
            ));
        }
        let of_series = remove_old(&self.series(origin), (saved, origin), COUNT);
        let mut expired = Expired { problems: of_series.problems, ..Expired::default() };
        let files = self.files();
        let lengths = files.iter().map(|file| sys::length(&file.path));
        let mut length = lengths.fold(0, u64::saturating_add);
        for DatedFile { path: file, .. } in files.into_iter().rev() {
            if length <= self.bound {
                break;
            }
            match read_info(&file) {
                Ok(other) if other.origin.host != origin.host => expired.of_other_hosts += 1,
                Ok(_) if file != saved => {
                    length = length.saturating_sub(sys::length(&file));
                    expired.remove(&file);
                }
                _ => {}
            }
        }
        // Other hosts' snapshots were skipped, but removing the rest freed enough.
        if length <= self.bound {
            expired.of_other_hosts = 0;
        }
        Ok(expired)
    }

    /// The files of all series, the newest first. Those that cannot be listed have none.
    fn files(&self) -> Vec<DatedFile> {
        let mut series = sys::directories_in(&self.directory).unwrap_or_default();
        series.retain(|series| is_series(series) && sys::make_private_directory(series).is_ok());
        let files = series.iter().flat_map(|series| files(series).unwrap_or_default());
        let mut files: Vec<_> = files.collect();
        files.sort_unstable_by(|one, other| other.cmp(one));
        files
    }

    /// Everything that is remembered, the oldest first.
    pub fn all(&self) -> Vec<Member> {
        let files = self.files().into_iter().rev().map(|file| file.path);
        members(files, &mut Vec::new()).collect()
    }
}

/// Whether it is of the series of `now`, or would be if their hosts had the same name.
fn is_like(Member { header, .. }: &Member, now: &Origin) -> bool {
    kind(&header.origin) == kind(now) && header.origin.share == now.share
}

/// What a series has in common besides its host: paths, and flags as far as those count apart.
fn kind(origin: &Origin) -> (Vec<&[u8]>, BTreeSet<&[u8]>) {
    let mut paths = origin.paths();
    paths.sort_unstable();
    let options = origin.options.iter().flatten().filter(|flag| sets_apart(flag));
    (paths, options.map(String::as_bytes).collect())
}

/// Whether the name may be from [`Remembered::series`].
fn is_series(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.len() == 16 && name.iter().all(u8::is_ascii_hexdigit)
}
