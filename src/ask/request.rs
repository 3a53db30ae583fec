//! What is asked for, and what has to be kept for it.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::ask::reclaimable::Search;
use crate::base::bounds::Bounds;
use crate::base::interrupt::Interrupt;
use crate::base::measure::{Measure, Time};
use crate::from::list::ListOptions;
use crate::from::remote::Remote;
use crate::from::series::Remembered;
use crate::from::snapshot::{Destination, FileSystem, Origin, Wanted};
use crate::scan::walk;
use crate::sys::Query;
use crate::sys::problem::Problem;
use crate::tree::tally::{By, Inodes, Limits};

/// What to weigh, or which snapshots to show, and how. It walks the current directory unless told otherwise.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What to weigh, or the snapshot to show instead.
    pub source: Input,
    /// How to walk, and what counts. [`run`](super::run) adds the attributes that it needs.
    pub walk: walk::WalkOptions,
    /// What to keep in order to show it.
    pub keep: Keep,
    /// What sizes are to measure, if a flag says so. If not, snapshots show what they were saved with.
    pub measure: Option<Measure>,
    /// Whether a snapshot must have all times and owners. A saved one gets them.
    pub details: bool,
    /// Whether the output can only show bytes.
    pub bytes_only: bool,
    /// Where to save a snapshot, if anywhere.
    pub save: Option<Destination>,
    /// How many dated snapshots to keep where this one is saved: the last of each of so many days, weeks and months.
    /// Without a number, all are kept.
    pub keep_saved: Option<NonZeroUsize>,
    /// Where to remember a walk of directories, if it is to be remembered.
    pub remember: Option<Remembered>,
    /// The name of the series that a walk is of, in the place of the host's.
    pub series: Option<Vec<u8>>,
    /// The snapshot to compare with, if any; or a directory with dated ones, for the newest complete one of the same
    /// roots.
    pub since: Option<PathBuf>,
    /// The flags that change what counts, by their long names. A snapshot records them, and two snapshots can be
    /// compared only if their flags agree.
    pub options: Vec<String>,
    /// Limits for the total and its growth.
    pub bounds: Bounds,
    /// What to look for that can go, if anything.
    pub reclaimable: Option<Search>,
    /// Whether to report the file systems whose mount points are roots.
    pub file_systems: bool,
    /// The file systems of which all is known without a scan here: on other machines, or if nothing is scanned.
    pub known: Vec<FileSystem>,
    /// Why other PATHs are not among the roots.
    pub unread: Vec<Problem>,
    /// What can end it early.
    pub interrupt: Interrupt,
}

/// What to weigh or to load.
#[derive(Clone, Debug)]
pub enum Input {
    /// Walks these roots.
    Roots(Vec<OsString>),
    /// Weighs on other machines, and walks these roots, as one walk of all.
    Remote(Remote, Vec<OsString>),
    /// Loads these snapshots and lists together, as one walk of all their roots. A directory stands for the newest dated
    /// snapshot in it.
    Files(Vec<PathBuf>, ListOptions),
    /// Walks nothing, and reports the file systems that are mounted.
    FileSystems,
    /// Loads these snapshots of one tree at different times, or the part of each that is this directory. A directory stands
    /// for all dated snapshots in it.
    History(Vec<PathBuf>, Option<Box<Origin>>),
}

/// What to keep.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// Everything, with the inodes of these entries.
    Everything(Inodes),
    /// The largest, within limits.
    Largest(Limits),
    /// Totals by group, within limits of lines and size.
    Groups(By, Limits),
}

impl Request {
    pub(super) fn is_loaded(&self) -> bool {
        use Input::{Files, History, Remote};
        matches!(self.source, Files(..) | Remote(..) | History(..))
    }

    pub(super) fn is_saved(&self) -> bool {
        self.save.is_some() || self.remember.is_some()
    }

    /// Which inodes to keep, if everything is kept: to be saved, compared, weighed again, or shown.
    pub fn kept(&self) -> Option<Inodes> {
        let (is_loaded, is_saved) = (self.is_loaded(), self.is_saved());
        let of_all = if self.needs_details() { Inodes::ALL } else { Inodes::LINKED };
        // A snapshot has the times of directories, and a walk does not ask for them. A snapshot that is saved again
        // has details of all entries or of none.
        let is_dated = is_loaded && !is_saved;
        let directories = if is_dated { Inodes::DATED_DIRECTORIES } else { Inodes::DIRECTORIES };
        let is_grouped = matches!(self.keep, Keep::Groups(..));
        let are_several = match &self.source {
            Input::Files(files, _) => files.len() != 1,
            Input::Remote(remote, roots) => remote.hosts.len() + roots.len() != 1,
            _ => false,
        };
        let is_anew = is_loaded && !self.walk.filter.is_off() || are_several;
        let to_be_shown = match self.keep {
            Keep::Everything(inodes) => Some(inodes),
            Keep::Groups(By::Image, _) => Some(Inodes::NONE),
            _ => None,
        };
        // The directories of a share show where something is mounted.
        let is_share = is_saved && self.walk.filter.share.is_some();
        let needs = [
            (is_saved || is_anew).then_some(of_all),
            // By these, a later comparison recognizes directories that were moved.
            (is_share || self.remember.is_some()).then_some(Inodes::DIRECTORIES),
            (self.since.is_some() && !is_grouped).then_some(directories),
            to_be_shown,
        ];
        needs.into_iter().flatten().reduce(Inodes::and)
    }

    /// The limits of what is shown of a snapshot, if nothing needs more of it.
    fn limits(&self) -> Option<Limits> {
        let is_all_needed = self.is_saved() || self.since.is_some() || !self.walk.filter.is_off();
        match self.keep {
            Keep::Largest(limits) if limits.are_any() && !is_all_needed => Some(limits),
            _ => None,
        }
    }

    /// Whether a snapshot that is saved or loaded must have details: all times, and owners.
    pub(super) fn needs_details(&self) -> bool {
        self.details || self.is_by_owner() || self.is_loaded() && self.filters_saved().owner
    }

    /// Whether a snapshot must have the times when entries were last modified.
    pub(super) fn needs_times(&self) -> bool {
        self.walk.view.by_time || self.is_by_age() || self.filters_saved().times
    }

    /// The attributes that filters need of a snapshot.
    fn filters_saved(&self) -> Query {
        self.walk.filter.query_of_saved()
    }

    /// The time of which the newest is kept, if any. What is saved has it, so that it can be shown later.
    pub(super) fn kept_time(&self) -> Option<Time> {
        let is_needed = self.is_saved() || self.is_loaded() && self.needs_times();
        self.walk.rules.time.or(is_needed.then_some(Time::Modified))
    }

    /// Whether groups are told apart by owners.
    pub(super) fn is_by_owner(&self) -> bool {
        matches!(self.keep, Keep::Groups(By::Owner { .. }, _))
    }

    /// Whether groups are told apart by times of last modification.
    pub(super) fn is_by_age(&self) -> bool {
        matches!(self.keep, Keep::Groups(By::Age { .. }, _))
    }

    /// What a snapshot is to be seen by.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            measure: self.measure,
            by_time: self.walk.view.by_time,
            times: self.kept_time().is_some(),
            limits: self.limits(),
        }
    }

    /// The origin of a walk of `roots` that starts now.
    pub(super) fn here(&self, roots: &[OsString]) -> Origin {
        let here = Origin::here(roots, self.walk.source, self.options.clone());
        here.in_series(self.series.as_deref())
    }
}

impl Default for Input {
    /// The current directory.
    fn default() -> Self {
        Input::Roots(vec![".".into()])
    }
}

impl Default for Keep {
    fn default() -> Self {
        Keep::Everything(Inodes::NONE)
    }
}
