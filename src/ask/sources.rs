//! The result now: of a walk here, of walks on other machines, of snapshots, or of a list.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Input, Keep, Now, Request, Watch};
use crate::base::escape::escape;
use crate::base::interrupt::Interrupt;
use crate::base::measure::{Measure, Measures, Time, View};
use crate::from::list;
use crate::from::remote::Remote;
use crate::from::series::{self, Expired, Remembering};
use crate::from::snapshot::{self, Destination, Opened, Origin, Snapshot};
use crate::scan::containers;
use crate::scan::filter::{Filter, MANY};
use crate::scan::stats::{OverlayStats, WalkStats};
use crate::scan::walk::{self, Progress, Walked};
use crate::sys::problem::{Operation, Problem, hinted};
use crate::sys::{self, Storage, Symlinks};
use crate::tree::tally::{By, Groups, Inodes, Limits, Tally, Top, Whole};
use crate::tree::total::{BeginReplay, replay_to};
use crate::tree::{Report, Tree};

/// What is said of a list where times are needed.
pub const NO_TIMES_LISTED: &str = "the list has no times";

/// What is said of a list where owners are needed.
pub const NO_OWNERS_LISTED: &str = "the list has no owners";

/// A tree with nothing beside it.
fn alone(tree: Tree) -> (Tree, Option<Tree>) {
    (tree, None)
}

/// Whether what is in `tree` has lengths and no blocks.
fn has_only_lengths(tree: &Tree) -> bool {
    let all = tree.root().node().sums.all;
    all.disk == 0 && all.length > 0
}

impl Request {
    /// Walks, to be seen in a `view`, or loads.
    pub(super) fn now(&self, view: View, watch: Watch<'_>) -> Result<Now, Problem> {
        match (self.kept(), self.keep, &self.source) {
            (Some(inodes), Keep::Largest(limits), Input::Roots(roots)) if self.since.is_none() => {
                let both = (Whole { inodes }, Top::new(view, limits));
                let part = |(whole, largest)| (whole, Some(largest));
                Ok(self.walked(roots, view, both, part, watch))
            }
            (Some(inodes), ..) | (None, Keep::Everything(inodes), _) => {
                self.with(view, move |_| Whole { inodes }, watch)
            }
            (None, Keep::Largest(limits), _) => {
                self.with(view, move |view| Top::new(view, limits), watch)
            }
            (None, Keep::Groups(by, limits), _) => {
                // A group that is small now may have been large before.
                let limits = if self.since.is_some() { Limits::NONE } else { limits };
                self.with(view, move |view| Groups::new(by, view, limits), watch)
            }
        }
    }

    pub(super) fn with<T: Tally<Answer = Tree>>(
        &self,
        view: View,
        tally: impl FnOnce(View) -> T + Send + 'static,
        watch: Watch<'_>,
    ) -> Result<Now, Problem> {
        let mut stats = WalkStats::default();
        let (path, snapshot) = match &self.source {
            Input::Roots(roots) => return Ok(self.walked(roots, view, tally(view), alone, watch)),
            Input::Remote(remote, roots) => {
                return self.arrived(remote, roots, replay_to(tally), watch);
            }
            Input::FileSystems | Input::History(..) => {
                return Ok(self.walked(&[], view, tally(view), alone, watch));
            }
            Input::Files(paths, options) => {
                let paths: Vec<_> =
                    paths.iter().map(|path| series::newest(path)).collect::<Result<_, _>>()?;
                let read = |path: &Path, wanted, begin: BeginReplay<'_>| match snapshot::open(path)?
                {
                    list @ Opened::List(..) => {
                        list::load([Ok((path, list))], *options, wanted, begin)
                    }
                    opened => snapshot::load_opened(path, opened, wanted, begin),
                };
                let mut snapshot;
                if let [path] = &paths[..] {
                    snapshot = read(path, self.wanted(), replay_to(tally))?;
                    snapshot.report_missing_shares();
                } else if paths.iter().all(|path| snapshot::is_list(path)) {
                    let lists = paths.iter().map(|path| Ok((&**path, snapshot::open(path)?)));
                    snapshot = list::load(lists, *options, self.wanted(), replay_to(tally))?;
                } else {
                    let inodes = self.kept().unwrap_or_default();
                    (snapshot, stats.measures_differ) =
                        snapshot::load_all(&paths, self.wanted(), inodes, read)?;
                }
                (paths.into_iter().next().unwrap_or_default(), snapshot)
            }
        };
        let snapshot = self.reweighed(snapshot);
        let mut snapshot =
            snapshot.map_err(|error| snapshot::problem(&path, Operation::Show, &error))?;
        snapshot.report.check_totals();
        Ok(Now { snapshot, stats, beside: None })
    }

    /// Walks `roots`. `part` divides what the `tally` answers: into the tree of the snapshot, and what is beside it.
    pub(super) fn walked<T: Tally, B>(
        &self,
        roots: &[OsString],
        view: View,
        tally: T,
        part: impl FnOnce(T::Answer) -> (Tree, Option<B>),
        watch: Watch<'_>,
    ) -> Now<B> {
        let kept = self.kept().unwrap_or_default();
        let (has_details, time) = (kept.has_details(), self.kept_time());
        let has_times = time == Some(Time::Modified);
        let share = self.walk.filter.share.zip(roots.first());
        let share =
            share.map(|(share, root)| share.of_root_with(sys::subdirectories(root.as_ref(), MANY)));
        let is_to_be_known = self.is_saved() || self.since.is_some() || self.is_loaded();
        let origin =
            is_to_be_known.then(|| Origin { share, has_details, has_times, ..self.here(roots) });
        let mut options = walk::WalkOptions { view, ..self.walk.clone() };
        options.rules.time = time;
        options.filter.share = share;
        options.query.times |= has_details
            || kept.fingerprints
            || time.is_some()
            || self.is_by_age()
            || options.filter.query().times;
        options.query.owner |= has_details || self.is_by_owner() || options.filter.query().owner;
        let given = roots;
        let roots = roots.to_owned();
        options.interrupt = Arc::clone(&self.interrupt.is_asked);
        let Walked { report, mut stats } = self.interrupt.put_off(|| {
            let walked = walk::walk(roots, options, tally, |progress| watch(Some(progress)));
            watch(None);
            walked
        });
        let Report { answer, problems, is_interrupted, unfinished } = report;
        let (tree, beside) = answer.map(part).unzip();
        let answer = tree.map(|tree| tree.in_view(view));
        let mut report = Report { answer, problems, is_interrupted, unfinished };
        stats.has_no_blocks = view.measure == Measure::Disk
            && report.answer.as_ref().is_some_and(has_only_lengths)
            && given.iter().any(|root| self.is_served(root));
        if !report.is_interrupted {
            stats.known = containers::look_at(&stats.storages);
        }
        // Without these files, an image has too few directories.
        if matches!(self.keep, Keep::Groups(By::Image, _)) {
            report.problems.append(&mut stats.known.problems);
            report.problems.sort_unstable();
        }
        for OverlayStats { path, layer } in &stats.overlays {
            let note = layer.as_ref().map(|layer| format!("counts in {}", escape(layer)));
            stats.known.notes.extend(note.map(|note| (path.clone(), note)));
        }
        report.check_totals();
        let snapshot =
            Snapshot { report, view, known: Measures::ALL, origin, ..Snapshot::default() };
        Now { snapshot, stats, beside: beside.flatten() }
    }

    /// Whether another machine or a process serves the file system of `root`. The kernel would know its blocks.
    fn is_served(&self, root: &OsStr) -> bool {
        let path = CString::new(root.as_encoded_bytes()).unwrap_or_default();
        let mount = self.walk.source.mount_of(&path, Symlinks::Follow);
        mount.is_ok_and(|mount| mount.storage != Storage::Local)
    }

    /// What arrives from the machines of `remote`, and a walk of `roots`, as one result. Fails if there is nothing to
    /// show.
    fn arrived(
        &self,
        remote: &Remote,
        roots: &[OsString],
        begin: BeginReplay<'static>,
        watch: Watch<'_>,
    ) -> Result<Now, Problem> {
        let inodes = self.kept().unwrap_or_default();
        let whole = move || Whole { inodes: inodes.and(Inodes::DIRECTORIES) };
        let is_one = remote.hosts.len() + roots.len() == 1;
        let replays = match is_one {
            true => vec![begin],
            false => remote.hosts.iter().map(|_| replay_to(move |_| whole())).collect(),
        };
        // On Ctrl-C, the connections to the machines have to be ended, too.
        self.interrupt.hold();
        let arriving = remote.begin(self.wanted(), replays);
        let (mut snapshots, mut problems) = (Vec::new(), Vec::new());
        let mut stats = WalkStats::default();
        if !roots.is_empty() {
            // When the walk here ends, the connections are still open: Ctrl-C must end them first.
            let interrupt = Interrupt { ends_at_once: Arc::default(), ..self.interrupt.clone() };
            let request = Self { interrupt, ..self.clone() };
            let mut here = request.walked(roots, self.walk.view, whole(), alone, &mut |_| ());
            if let Some(origin) = &mut here.snapshot.origin {
                // It has the name of none of the others.
                origin.host = Vec::new();
            }
            snapshots.push(here.snapshot);
            stats = here.stats;
        }
        let arrived = self.interrupt.put_off(|| {
            arriving.collect(&self.interrupt, |entries, host| {
                let directory = host.to_vec();
                watch(Some(&Progress { entries, directory, ..Progress::default() }));
            })
        });
        watch(None);
        for (arrived, host) in arrived.into_iter().zip(&remote.hosts) {
            let checked = arrived.and_then(|snapshot| {
                self.reweighed(snapshot)
                    .map_err(|error| Problem::new(host.first(), Operation::Show, &error))
            });
            match checked {
                Ok(snapshot) => snapshots.push(snapshot),
                Err(problem) => problems.push(problem),
            }
        }
        // Several problems are all named, like several PATHs that do not exist.
        if snapshots.is_empty()
            && (is_one || problems.iter().all(|it| it.operation == Operation::Show))
            && let Some(problem) = problems.pop()
        {
            return Err(problem);
        }
        let only = snapshots.pop_if(|_| is_one);
        let mut snapshot =
            only.unwrap_or_else(|| snapshot::joined(snapshots, inodes, !problems.is_empty()));
        if snapshot.origin.is_none() {
            snapshot.view = self.walk.view;
        }
        snapshot.report.problems.append(&mut problems);
        snapshot.report.problems.sort_unstable();
        snapshot.report.is_interrupted |= self.interrupt.is_asked();
        snapshot.report.check_totals();
        Ok(Now { snapshot, stats, beside: None })
    }

    /// Applies filters to a loaded snapshot, if it contains what they need. weigh on another machine has applied them.
    pub(super) fn reweighed(&self, mut snapshot: Snapshot) -> io::Result<Snapshot> {
        let needs = (self.needs_details(), self.needs_times());
        self.ensure_enough(snapshot.origin.as_ref(), needs, snapshot.is_list)?;
        let unit = snapshot.view.measure.unit();
        let is_bytes = unit == Measure::Disk.unit();
        let is_by_size = matches!(self.keep, Keep::Groups(By::Size, _));
        if (self.bytes_only || is_by_size) && !is_bytes {
            let message = format!("what is asked for needs bytes, and it counts {unit}");
            return Err(io::Error::other(message));
        }
        let kept = self.kept().unwrap_or_default();
        if let Some(origin) = &mut snapshot.origin {
            // The snapshot may be saved again.
            origin.has_details = kept.has_details();
        }
        let mut filter = self.walk.filter.clone();
        let options = snapshot.origin.as_ref().and_then(|origin| origin.options.as_ref());
        let has_options = options.is_some_and(|options| !options.is_empty());
        if has_options && matches!(self.source, Input::Remote(..)) {
            // That is no filter for what counts.
            filter = Filter { collapse: filter.collapse, ..Filter::default() };
        }
        snapshot::reweigh(&mut snapshot, &filter, kept)?;
        Ok(snapshot)
    }

    /// Checks that a snapshot, perhaps from a list, has details and times if those are needed.
    pub(super) fn ensure_enough(
        &self,
        origin: Option<&Origin>,
        (details, times): (bool, bool),
        is_list: bool,
    ) -> io::Result<()> {
        let missing = match origin {
            Some(origin) if details && !origin.has_details && is_list => NO_OWNERS_LISTED,
            Some(origin) if times && !origin.has_times && is_list => NO_TIMES_LISTED,
            Some(origin) if details && !origin.has_details => {
                "it was saved without --details, and so without owners\nsave it again with --details"
            }
            Some(origin) if times && !origin.has_times => {
                "it has no times\nleave out the flag that needs them, or save it again"
            }
            _ => return Ok(()),
        };
        Err(hinted(io::ErrorKind::Other, missing))
    }
}

// What stays on the disk: the snapshot that is saved, the one that is remembered, and not what is expired.

impl Request {
    /// Where to save `snapshot`. In a directory, it is named after its own time, which is not now if it was loaded: the
    /// names there are in the order of the times.
    pub(super) fn destination(&self, snapshot: &Snapshot) -> Option<Destination> {
        let to = self.save.as_ref()?;
        let dated = to.directory_of_new().zip(snapshot.origin.as_ref());
        let dated = dated.map(|(directory, origin)| series::dated(directory, origin.time));
        Some(dated.unwrap_or_else(|| to.clone()))
    }

    /// Half a snapshot is not saved, because later it would be taken for a whole one.
    pub(super) fn save(
        &self,
        to: &Destination,
        snapshot: &mut Snapshot,
    ) -> Result<PathBuf, Problem> {
        if snapshot.report.is_interrupted {
            let interrupted = io::Error::other("interrupted");
            return Err(snapshot::problem(&to.path, Operation::Save, &interrupted));
        }
        // It has sizes, the largest first, whatever is shown.
        let shown = snapshot.view;
        snapshot.set_view(View { by_time: false, ..shown });
        let saved = snapshot::save(to, &self.interrupt, snapshot, self.walk.threads);
        snapshot.set_view(shown);
        saved
    }

    /// Remembers a walk of directories, if that is asked for. It may be incomplete, unless it was interrupted.
    pub(super) fn remember(&self, snapshot: &mut Snapshot) -> Option<Remembering> {
        let remembered = self.remember.as_ref()?;
        let tree = snapshot.report.answer.as_ref();
        let (Some(tree), Some(origin)) = (tree, snapshot.origin.clone()) else {
            return Some(Remembering::Unfit("nothing could be read"));
        };
        if snapshot.report.is_interrupted {
            return Some(Remembering::Unfit("the scan was interrupted"));
        }
        if !tree.roots().all(|root| root.is_directory()) {
            return Some(Remembering::Unfit("only scans of directories are"));
        }
        let mut keep = || {
            let failed = |error| snapshot::problem(&remembered.directory, Operation::Save, &error);
            let to = remembered.destination(&origin).map_err(failed)?;
            let saved = self.save(&to, snapshot)?;
            let expired = remembered.thin(&saved, &origin).map_err(failed)?;
            Ok((saved, expired))
        };
        Some(match keep() {
            Ok((file, expired)) => {
                let length = sys::length(&file);
                Remembering::Kept { file, length, expired }
            }
            Err(problem) => Remembering::Failed(problem),
        })
    }

    /// Removes expired snapshots from the directory in which a dated one from `origin` was saved in a `file`, if that
    /// was asked for.
    pub(super) fn remove_old(&self, file: &Path, origin: &Origin) -> Expired {
        let directory = self.save.as_ref().and_then(Destination::directory_of_new);
        directory.zip(self.keep_saved).map_or_else(Expired::default, |(directory, count)| {
            series::remove_old(directory, (file, origin), count.get())
        })
    }
}
