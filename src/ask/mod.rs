//! The front door of the library: takes a request and returns its outcome. It knows no flags and no terminal; the
//! program, tests and other programs all use it.
//!
//! Errors that can be found before a walk are found before it: the place for a new snapshot is checked, and the
//! header of the snapshot to compare with is read. The rest of that snapshot is read during the walk.
//!
//! * `request`: what is asked for, and what has to be kept for it.
//! * `sources`: the result now, of a walk, of other machines, of snapshots, or of a list; and the snapshots that are
//!   saved.
//! * `compared`: the earlier snapshot, and the difference.

pub mod causes;
mod compared;
pub mod diff;
pub mod history;
pub mod reclaimable;
mod request;
mod sources;
pub mod trend;

use std::ffi::OsString;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::ask::diff::Unchanged;
use crate::ask::history::History;
use crate::ask::reclaimable::{EvidenceTally, Reclaimable, RuleTally, Search};
use crate::base::bounds::Exceeded;
use crate::base::measure::View;
use crate::base::parallel;
use crate::from::series::{self, Expired, Remembering};
use crate::from::snapshot::{self, Doubt, FileSystem, Origin, SavedListings, Snapshot, Wanted};
use crate::scan::containers;
use crate::scan::stats::WalkStats;
use crate::scan::walk::{Progress, WalkOptions};
use crate::sys;
use crate::sys::problem::{Operation, Problem};
use crate::tree::tally::{By, Groups, Limits, Live, LiveDirectory, Show, Top, Whole};
use crate::tree::total::replay;
use crate::tree::{Report, Tree};

pub use crate::base::bounds::{Bounds, Growth};
pub use request::{Input, Keep, Request};
pub use sources::{NO_OWNERS_LISTED, NO_TIMES_LISTED};

/// Is told how far a walk is, and once nothing when it is over.
type Watch<'w> = &'w mut dyn FnMut(Option<&Progress>);

/// The result now.
struct Now<B = Tree> {
    snapshot: Snapshot,
    /// What the walk did; empty for a snapshot.
    stats: WalkStats,
    /// What the walk answers beside the tree of the snapshot: if that has everything, the tree of the largest.
    beside: Option<B>,
}

/// Makes the result now in a view. In a box, so that the program does not have all kinds of walks twice.
type Weigh<'n> = Box<dyn FnOnce(View) -> Result<Now, Problem> + 'n>;

/// The earlier result of a comparison; and what is unchanged, if its tree lacks that.
type Earlier = (Snapshot, Option<Unchanged>);

/// The result of a request.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The result to show; in a comparison, the difference: how each node changed.
    pub snapshot: Snapshot,
    /// The earlier tree of a comparison, if the result is to be browsed beside it.
    pub before: Option<Tree>,
    /// The history of a tree, if that was asked for.
    pub history: Option<History>,
    /// What can go, if that was asked for.
    pub reclaimable: Option<Reclaimable>,
    /// Errors about other files: snapshots that could not be read or removed.
    pub other_files: Vec<Problem>,
    /// The expired snapshots that were removed.
    pub removed: Vec<PathBuf>,
    /// Why what was to be saved was not.
    pub unsaved: Option<Problem>,
    /// How many snapshots of other hosts stay that would have been removed, if their host had the same name.
    pub of_other_hosts: usize,
    /// What came of remembering a walk, if that was asked for.
    pub remembered: Option<Remembering>,
    /// The file systems whose mount points are roots, if that was asked for.
    pub file_systems: Vec<FileSystem>,
    /// How long the scan took; none if there was none.
    pub took: Option<Duration>,
    /// Where the earlier snapshot of a comparison comes from, if it says so.
    pub earlier: Option<Origin>,
    /// Doubts about a comparison.
    pub doubts: Vec<Doubt>,
    /// The bounds that it exceeds.
    pub exceeded: Vec<Exceeded>,
    /// What the walk did; empty for a snapshot.
    pub stats: WalkStats,
}

impl Outcome {
    /// Whether everything was read, for earlier snapshots in it, too.
    pub fn is_complete(&self) -> bool {
        let mut moments = self.history.iter().flat_map(|history| &history.moments);
        self.snapshot.report.is_complete()
            && !self.doubts.iter().any(Doubt::is_loss)
            && moments.all(|moment| moment.is_complete)
    }

    /// Has an earlier result to be browsed beside, with these doubts.
    pub fn compare_with(&mut self, before: Snapshot, doubts: Vec<Doubt>) {
        self.snapshot.known = self.snapshot.known.and(before.known);
        (self.before, self.earlier, self.doubts) = (before.report.answer, before.origin, doubts);
    }
}

/// Does what the request asks for, so that the result can be browsed. It saves only what is remembered. During a walk,
/// other threads can read the result so far from `top`, and `watch` is called about ten times a second, on the calling
/// thread.
///
/// # Errors
/// Those of [`run`], except for saving.
pub fn browse(
    request: &Request,
    top: Arc<LiveDirectory>,
    mut watch: impl FnMut(Option<&Progress>),
) -> Result<Outcome, Problem> {
    let (Now { mut snapshot, stats, .. }, before) = request.compared(Box::new(|view| {
        let inodes = request.kept().unwrap_or_default();
        let is_stopped = Arc::clone(&request.interrupt.is_asked);
        let live = Live::new(Whole { inodes }, top, is_stopped);
        request.with(view, move |_| live, &mut watch)
    }))?;
    let remembered = request.remember(&mut snapshot);
    let mut outcome = Outcome { remembered, ..request.outcome(snapshot, stats) };
    if let Some((before, _)) = before {
        let doubts = request.doubts(Some(&before), &outcome.snapshot);
        outcome.compare_with(before, doubts);
    }
    Ok(outcome)
}

/// The snapshot that `request` asks for, to be browsed by its listings without all of it in memory. None if it has to
/// be loaded; or if it cannot be read, which loading it says.
pub fn listings(request: &Request) -> Option<(Outcome, SavedListings)> {
    let Input::Files(files, _) = &request.source else { return None };
    let ([file], None, true) = (&files[..], &request.since, request.walk.filter.is_off()) else {
        return None;
    };
    let times = request.kept_time().is_some();
    let wanted = Wanted { measure: request.measure, times, ..Wanted::default() };
    let (snapshot, listings) = snapshot::listings(&series::newest(file).ok()?, wanted).ok()??;
    let mut snapshot = request.reweighed(snapshot).ok()?;
    snapshot.report.check_totals();
    Some((Outcome { snapshot, ..Outcome::default() }, listings))
}

/// Does what the request asks for. During a walk it calls `watch` about ten times a second, on the calling thread,
/// and once with nothing when the walk is over.
///
/// # Errors
/// If a snapshot cannot be loaded or compared, if one cannot be saved at its place, or if saving was interrupted.
/// Errors of the walk are among the snapshot's problems.
pub fn run(
    request: &Request,
    mut watch: impl FnMut(Option<&Progress>),
) -> Result<Outcome, Problem> {
    if let Some(to) = &request.save {
        snapshot::ensure_savable(to)?;
    }
    match &request.source {
        Input::History(files, part) => return request.history(files, part.as_deref()),
        Input::FileSystems => return request.mounted(),
        Input::Roots(_) | Input::Files(..) | Input::Remote(..) => {}
    }
    if let (Some(search), None, Input::Roots(roots)) =
        (&request.reclaimable, &request.remember, &request.source)
    {
        return Ok(request.reclaimed(search, roots, &mut watch));
    }
    let elapsed = sys::stopwatch();
    let (now, before) = request.compared(Box::new(|view| request.now(view, &mut watch)))?;
    let took = Some(elapsed());
    let Now { mut snapshot, stats, beside: largest } = now;
    let has_answer = snapshot.origin.is_some() || snapshot.report.answer.is_some();
    let to = request.destination(&snapshot).filter(|_| has_answer);
    let saved = to.map(|to| request.save(&to, &mut snapshot)).transpose();
    let remembered = request.remember(&mut snapshot);
    // Even a complete walk is not shown then, because the user wants no more.
    if request.interrupt.is_asked() && !snapshot.report.is_interrupted {
        saved.as_ref().map_err(Clone::clone)?;
        if let Some(Remembering::Failed(problem)) = &remembered {
            return Err(problem.clone());
        }
    }
    let removed = match (&saved, &snapshot.origin) {
        (Ok(Some(file)), Some(origin)) => request.remove_old(file, origin),
        _ => Expired::default(),
    };
    let (before, unchanged) = before.unzip();
    let doubts = request.doubts(before.as_ref(), &snapshot);
    let (before, earlier) = before.map_or((None, None), |it| (it.report.answer, it.origin));
    snapshot.report.answer = match (snapshot.report.answer, before) {
        (Some(mut now), Some(mut before)) => {
            let (mut unchanged, origin) = (unchanged.flatten(), snapshot.origin.as_ref());
            request.leave_out_kept([&mut before, &mut now], origin, unchanged.as_mut());
            Some(request.difference(before, now, snapshot.view, unchanged))
        }
        (Some(whole), None) if request.kept().is_some() => {
            Some(request.shown(whole, largest, snapshot.view, &stats))
        }
        (answer, _) => answer,
    };
    let mut outcome = request.outcome(snapshot, stats);
    if let (Some(search), Some(first), Input::Roots(roots)) =
        (&request.reclaimable, &outcome.reclaimable, &request.source)
        && search.looks_twice
    {
        outcome.reclaimable = request.looked_again(search, roots, first, &mut watch).reclaimable;
    }
    let root = outcome.snapshot.report.answer.as_ref().map(Tree::root);
    let was = root.and_then(|root| root.change()?.was);
    let exceeded = request.bounds.exceeded((was, root.map(|root| root.size())));
    let unsaved = saved.err();
    let Expired { files: removed, problems: other_files, of_other_hosts } = removed;
    Ok(Outcome {
        other_files,
        removed,
        of_other_hosts,
        unsaved,
        remembered,
        earlier,
        took,
        doubts,
        exceeded,
        ..outcome
    })
}

impl Request {
    /// The history of the tree whose snapshots are in `files`, or of a `part` of it.
    fn history(&self, files: &[PathBuf], part: Option<&Origin>) -> Result<Outcome, Problem> {
        let limits = match self.keep {
            Keep::Largest(limits) => limits,
            Keep::Everything(_) | Keep::Groups(..) => Limits::NONE,
        };
        let limits = Limits { show: Show::Directories, ..limits };
        let (mut history, snapshot) = history::history(files, part, self.measure, limits)?;
        let other_files = mem::take(&mut history.unread);
        Ok(Outcome { other_files, history: Some(history), snapshot, ..Outcome::default() })
    }

    /// The file systems that are mounted, and what is known of them without a scan.
    fn mounted(&self) -> Result<Outcome, Problem> {
        let (file_systems, problems) = match &self.known[..] {
            [] => {
                let (mut found, unread) = snapshot::mounted().map_err(|error| {
                    Problem::new(b"/proc/self/mountinfo".into(), Operation::Load, &error)
                })?;
                causes::find_deleted(&mut found, &self.interrupt.is_asked);
                (found, unread)
            }
            known => (known.to_vec(), self.unread.clone()),
        };
        let report = Report { problems, ..Report::default() };
        let snapshot = Snapshot { report, ..Snapshot::default() };
        Ok(Outcome { snapshot, file_systems, ..Outcome::default() })
    }

    /// The file systems whose mount points are roots, with what uses them. None unless that is asked for.
    fn file_systems(&self, snapshot: &Snapshot) -> Vec<FileSystem> {
        let Report { answer, problems, is_interrupted, .. } = &snapshot.report;
        let (Input::Roots(roots) | Input::Remote(_, roots), Some(tree), true) =
            (&self.source, answer, self.file_systems)
        else {
            return Vec::new();
        };
        let mut file_systems = snapshot::file_systems(roots, tree);
        if !is_interrupted {
            let interrupt = Arc::clone(&self.interrupt.is_asked);
            let options = WalkOptions { interrupt, ..self.walk.clone() };
            causes::find(&mut file_systems, &options, problems);
        }
        file_systems.extend(self.known.iter().map(|one| {
            let root = tree.roots().find(|root| root.name() == one.root);
            FileSystem { seen: root.map(|root| root.size()), ..one.clone() }
        }));
        file_systems
    }

    /// What is to be shown of the `whole` tree in this `view`; the walk may have left the `largest` already.
    fn shown(&self, whole: Tree, largest: Option<Tree>, view: View, stats: &WalkStats) -> Tree {
        let shown = match self.keep {
            Keep::Everything(_) => return whole,
            Keep::Largest(limits) => {
                largest.unwrap_or_else(|| replay(&whole, Top::new(view, limits)))
            }
            Keep::Groups(By::Image, limits) => {
                containers::by_user(&whole, &stats.known.users, limits.lines, limits.min_size)
            }
            Keep::Groups(by, limits) => replay(&whole, Groups::new(by, view, limits)),
        };
        parallel::discard(whole);
        shown
    }

    /// That shows `snapshot`, and what is known besides.
    fn outcome(&self, mut snapshot: Snapshot, stats: WalkStats) -> Outcome {
        // A saved snapshot has no notes.
        if let Some(tree) = &mut snapshot.report.answer {
            tree.annotate(&stats.known.notes);
        }
        let reclaimable = self.what_can_go(&snapshot);
        let file_systems = self.file_systems(&snapshot);
        if !self.unread.is_empty() {
            snapshot.report.problems.extend(self.unread.iter().cloned());
            snapshot.report.problems.sort_unstable();
        }
        Outcome { snapshot, reclaimable, file_systems, stats, ..Outcome::default() }
    }

    /// What can go, if that is asked for, in a whole tree.
    fn what_can_go(&self, snapshot: &Snapshot) -> Option<Reclaimable> {
        let search = self.reclaimable.as_ref()?;
        // A filter may leave out the repository that tracks all the rest.
        if !self.walk.filter.is_off() {
            return Some(Reclaimable::default());
        }
        let tree = snapshot.report.answer.as_ref();
        let findable = tree.map(|tree| replay(tree, RuleTally::new(search)).1);
        Some(reclaimable::find(findable.as_ref(), &snapshot.report, search, None))
    }

    /// What can go, and nothing else: no more is kept than that needs.
    fn reclaimed(&self, search: &Search, roots: &[OsString], watch: Watch<'_>) -> Outcome {
        if let Some(directories) = &search.trash {
            return self.in_trash(search, directories, roots, watch);
        }
        let part = |(tree, findable)| (tree, Some(findable));
        let now = self.walked(roots, self.walk.view, RuleTally::new(search), part, watch);
        let Now { snapshot, stats, beside: findable } = now;
        let first = reclaimable::find(findable.as_ref(), &snapshot.report, search, None);
        if !search.looks_twice || snapshot.report.is_interrupted {
            return Outcome { snapshot, reclaimable: Some(first), stats, ..Outcome::default() };
        }
        self.looked_again(search, roots, &first, watch)
    }

    /// What can go of what the `first` look found, with all that removing it needs to know.
    fn looked_again(
        &self,
        search: &Search,
        roots: &[OsString],
        first: &Reclaimable,
        watch: Watch<'_>,
    ) -> Outcome {
        let evidence = EvidenceTally::of(first.found.iter().map(|one| &*one.names));
        let tally = (RuleTally::new(search), evidence);
        let part = |((_, findable), tree)| (tree, Some(findable));
        let request = Self { keep: Keep::Everything(reclaimable::EVIDENCE), ..self.clone() };
        let now = request.walked(roots, self.walk.view, tally, part, watch);
        let Now { snapshot, stats, beside: findable } = now;
        let report = &snapshot.report;
        let reclaimable = Some(reclaimable::find(findable.as_ref(), report, search, Some(first)));
        Outcome { snapshot, reclaimable, stats, ..Outcome::default() }
    }
}
