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

mod glob;
mod globs;
mod names;
mod paths;
mod regexes;
mod rules;
mod times;
mod types;

use std::sync::Arc;

pub use globs::Globs;
pub use names::Names;
pub use paths::Paths;
pub use regexes::{BadPattern, Regexes};
pub use rules::Rules;
pub use times::{Days, Times};
pub use types::{Types, known_types};

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
    /// What is left out for the type that its name tells.
    pub types: Types,
    /// What is left out for its path below a root.
    pub globs: Globs,
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
    /// Whether all in it is asked for by [`Filter::globs`], as it is itself.
    is_included: bool,
}

/// Judges the entries of one directory.
#[derive(Debug)]
pub struct Judge<'a> {
    filter: &'a Filter,
    place: Option<&'a Arc<Place>>,
    /// The directory's path, the root as given and the names below it, for those who look at it. A
    /// name is put at its end to be judged.
    path: Vec<u8>,
    /// The same, but from below the root.
    below_root: Vec<u8>,
}

impl Filter {
    fn is_off(&self) -> bool {
        self.names.is_off()
            && self.paths.is_off()
            && self.types.is_off()
            && self.globs.is_off()
            && self.regexes.is_off()
            && self.times.is_off()
    }

    /// What filters know of the root at `path`; nothing if there are none.
    pub fn root(&self, path: &[u8]) -> Option<Arc<Place>> {
        let place = || Place { left_out: self.paths.below(path), is_included: false };
        (!self.is_off()).then(|| Arc::new(place()))
    }

    /// Who judges what is in a directory. Its `names`, from the root on, are asked for only if
    /// filters look at paths.
    pub fn judge<'a, 'n>(
        &'a self,
        place: Option<&'a Arc<Place>>,
        names: impl FnOnce() -> Vec<&'n [u8]>,
    ) -> Judge<'a> {
        let mut judge = Judge { filter: self, place, path: Vec::new(), below_root: Vec::new() };
        if !self.regexes.is_off() || !self.globs.is_off() {
            let names = names();
            judge.below_root = path::join_all(names[1..].iter().copied());
            judge.path = path::join_all(names);
        }
        judge
    }

    /// Whether the root at `path`, a directory, counts itself. What is in it may even if not.
    pub fn admits_root(&self, path: &[u8], stat: &Stat) -> bool {
        self.types.admit(path, true)
            && self.globs.include.is_empty()
            && self.regexes.admit(path)
            && self.times.admit(stat)
    }
}

impl Judge<'_> {
    /// What becomes of the entry called `name`. Names are looked at first, paths last.
    pub fn verdict(&mut self, name: &[u8], is_directory: bool) -> Verdict {
        let (filter, Some(place)) = (self.filter, self.place) else { return Verdict::Counts };
        if !filter.names.admit(name) || filter.paths.name(name) || place.left_out.end(name) {
            return Verdict::LeftOut;
        }
        let mut is_admitted = filter.types.admit(name, is_directory);
        if !filter.globs.is_off() && (is_admitted || is_directory) {
            let path = At::new(&mut self.below_root, name);
            if filter.globs.excludes(path.0, is_directory) {
                return Verdict::LeftOut;
            }
            is_admitted &= place.is_included || filter.globs.includes(path.0, is_directory);
        }
        if !filter.regexes.is_off() && is_admitted {
            is_admitted = filter.regexes.admit(At::new(&mut self.path, name).0);
        }
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
    pub fn below(&mut self, name: &[u8]) -> Option<Arc<Place>> {
        let (place, globs) = (self.place?, &self.filter.globs);
        let is_included = place.is_included
            || !globs.include.is_empty()
                && globs.includes(At::new(&mut self.below_root, name).0, true);
        if place.left_out.is_empty() && is_included == place.is_included {
            return Some(Arc::clone(place));
        }
        Some(Arc::new(Place { left_out: place.left_out.below(name), is_included }))
    }
}

/// A directory's path with a name at its end, for as long as this is there.
struct At<'a>(&'a mut Vec<u8>, usize);

impl<'a> At<'a> {
    fn new(path: &'a mut Vec<u8>, name: &[u8]) -> Self {
        let length = path.len();
        path::join(path, name);
        Self(path, length)
    }
}

impl Drop for At<'_> {
    fn drop(&mut self) {
        self.0.truncate(self.1);
    }
}
