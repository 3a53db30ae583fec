//! Which snapshots of a series are kept, and what becomes of the others.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{Member, files, is_of_roots, members};
use crate::from::snapshot::{Origin, SnapshotInfo, difference, has_end, problem};
use crate::sys;
use crate::sys::problem::{Operation, Problem};

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
