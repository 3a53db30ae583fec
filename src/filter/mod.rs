//! What does not count. Filters change totals; they do not merely hide lines.
//!
//! Each kind of filter is a value in a file of its own. [`Judge::verdict`] asks them about an entry
//! as soon as it is listed, in the order of what the answer costs, before anything has been asked
//! of the system. An entry counts if every filter admits it.
//!
//! Some filters leave a directory out with all that is in it, which is then not even read: hidden
//! names, paths. The others look at entries one by one, and at a directory's own weight like at
//! any other; what is in it may count although it does not ([`Verdict::Passes`]).
//!
//! What filters know of a directory, from those above it, is its [`Place`]. Where nothing filters
//! there is none, and nobody is asked.

mod names;
mod paths;
mod regexes;
mod times;

use std::sync::Arc;

pub use names::Names;
pub use paths::Paths;
pub use regexes::{BadPattern, Regexes};
pub use times::{Days, Times};

use crate::path;
use crate::sys::Stat;
use paths::Ends;

/// All that is left out of a walk. Roots are always weighed: they were asked for by name.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// What is left out for its name.
    pub names: Names,
    /// What is left out by name or path.
    pub paths: Paths,
    /// What is left out for its path.
    pub regexes: Regexes,
    /// What is left out for its age.
    pub times: Times,
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Counts,
    /// A directory that does not count itself. What is in it may.
    Passes,
    /// It does not count, nor does anything in it.
    LeftOut,
}

impl Verdict {
    /// The verdict of a filter that looks at entries one by one.
    fn of_one(is_admitted: bool, is_directory: bool) -> Self {
        match (is_admitted, is_directory) {
            (true, _) => Verdict::Counts,
            (false, true) => Verdict::Passes,
            (false, false) => Verdict::LeftOut,
        }
    }
}

/// A directory as filters know it.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// What [`Filter::paths`] still leaves out from here on down.
    left_out: Ends,
}

/// Judges the entries of one directory.
#[derive(Debug)]
pub struct Judge<'a> {
    filter: &'a Filter,
    place: Option<&'a Arc<Place>>,
    /// The directory's path, where filters look at paths: the root as given, and the names below it.
    /// A name is put at its end to be judged.
    path: Vec<u8>,
}

impl Filter {
    /// What filters know of the root at `path`; nothing if there are none.
    pub fn root(&self, path: &[u8]) -> Option<Arc<Place>> {
        let looks_at_names = !self.names.is_off() || !self.paths.is_off();
        if !looks_at_names && self.regexes.is_off() && self.times.is_off() {
            return None;
        }
        Some(Arc::new(Place { left_out: self.paths.below(path) }))
    }

    /// Who judges what is in a directory. Its `path` is put together only if filters look at paths.
    pub fn judge<'a>(
        &'a self,
        place: Option<&'a Arc<Place>>,
        path: impl FnOnce() -> Vec<u8>,
    ) -> Judge<'a> {
        let path = if self.regexes.is_off() { Vec::new() } else { path() };
        Judge { filter: self, place, path }
    }

    /// Whether the root at `path`, a directory, counts itself. What is in it may even if not.
    pub fn admits_root(&self, path: &[u8], stat: &Stat) -> bool {
        self.regexes.admit(path) && self.times.admit(stat)
    }
}

impl Judge<'_> {
    /// What becomes of the entry called `name`. Names are looked at first, paths last.
    pub fn verdict(&mut self, name: &[u8], is_directory: bool) -> Verdict {
        let (filter, Some(place)) = (self.filter, self.place) else { return Verdict::Counts };
        if !filter.names.admit(name) || filter.paths.name(name) || place.left_out.end(name) {
            return Verdict::LeftOut;
        }
        let length = self.path.len();
        if length > 0 {
            path::join(&mut self.path, name);
        }
        let is_admitted = filter.regexes.admit(&self.path);
        self.path.truncate(length);
        Verdict::of_one(is_admitted, is_directory)
    }

    /// What becomes of it after all, now that the system has been asked about it.
    pub fn confirm(&self, verdict: Verdict, stat: &Stat) -> Verdict {
        if self.place.is_none() || verdict != Verdict::Counts {
            return verdict;
        }
        Verdict::of_one(self.filter.times.admit(stat), stat.is_directory())
    }

    /// What filters know of the directory called `name`.
    pub fn below(&self, name: &[u8]) -> Option<Arc<Place>> {
        let place = self.place?;
        if place.left_out.is_empty() {
            return Some(Arc::clone(place));
        }
        Some(Arc::new(Place { left_out: place.left_out.below(name) }))
    }
}
