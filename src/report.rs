//! The front door of the library: takes a request and returns its outcome. It knows no flags and no terminal; the
//! program, tests and other programs all use it.
//!
//! Errors that can be found before a walk are found before it: the place for a new snapshot is checked, and the
//! header of the snapshot to compare with is read. The rest of that snapshot is read during the walk.

use std::ffi::OsString;
use std::io;
use std::mem;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, ScopedJoinHandle};

pub use crate::bounds::{Bounds, Growth};

use crate::bounds::Exceeded;
use crate::causes;
use crate::containers;
use crate::diff::{self, Unchanged};
use crate::escape::escape;
use crate::filter::{Filter, MANY};
use crate::history::{self, History};
use crate::interrupt::Interrupt;
use crate::list::{self, ListOptions};
use crate::measure::{Measure, Measures, Time, View};
use crate::parallel;
use crate::problem::{Operation, Problem};
use crate::reclaimable::{self, MayGo, Reclaimable, Search};
use crate::remote::Remote;
use crate::snapshot::{
    self, Destination, Digested, Doubt, Expired, FileSystem, Origin, Remembered, SavedListings,
    Snapshot, SnapshotForm, Wanted, packed, schema,
};
use crate::stats::{OverlayStats, WalkStats};
use crate::sys;
use crate::tally::{
    By, Groups, Inodes, Limits, Live, LiveDirectory, Needs, Show, Tally, Top, Whole, WithTop,
};
use crate::total::{BeginReplay, replay, replay_to};
use crate::tree::Tree;
use crate::walk::{self, Progress, Walked};
use crate::weighed::Weighed;

/// What to weigh, or which snapshots to show, and how. It walks the current directory unless told otherwise.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What to weigh, or the snapshot to show instead.
    #[doc(hidden)]
    pub source: Input,
    /// How to walk, and what counts. [`run`] adds the attributes that it needs.
    #[doc(hidden)]
    pub walk: walk::WalkOptions,
    /// What to keep in order to show it.
    #[doc(hidden)]
    pub keep: Keep,
    /// What sizes are to measure, if a flag says so. If not, snapshots show what they were saved with.
    #[doc(hidden)]
    pub measure: Option<Measure>,
    /// Whether a snapshot must have all times and owners. A saved one gets them.
    #[doc(hidden)]
    pub details: bool,
    /// Whether the output can only show bytes.
    #[doc(hidden)]
    pub bytes_only: bool,
    /// Where to save a snapshot, if anywhere.
    #[doc(hidden)]
    pub save: Option<Destination>,
    /// In which form to save it, if not in that of the destination's name.
    #[doc(hidden)]
    pub save_as: Option<SnapshotForm>,
    /// How many dated snapshots to keep where this one is saved: the last of each of so many days, weeks and months.
    /// Without a number, all are kept.
    #[doc(hidden)]
    pub keep_saved: Option<NonZeroUsize>,
    /// Where to remember a complete walk, if it is to be remembered.
    #[doc(hidden)]
    pub remember: Option<Remembered>,
    /// The snapshot to compare with, if any; or a directory with dated ones, for the newest complete one of the same
    /// roots.
    #[doc(hidden)]
    pub since: Option<PathBuf>,
    /// The flags that change what counts, by their long names. A snapshot records them, and two snapshots can be
    /// compared only if their flags agree.
    #[doc(hidden)]
    pub options: Vec<String>,
    /// Limits for the total and its growth.
    #[doc(hidden)]
    pub bounds: Bounds,
    /// What to look for that can go, if anything.
    #[doc(hidden)]
    pub reclaimable: Option<Search>,
    /// Whether to report the file systems whose mount points are roots.
    #[doc(hidden)]
    pub file_systems: bool,
    /// What can end it early.
    #[doc(hidden)]
    pub interrupt: Interrupt,
}

/// What to weigh or to load.
#[derive(Clone, Debug)]
pub enum Input {
    /// Walks these roots.
    Roots(Vec<OsString>),
    /// Weighs on other machines, and walks these roots, as one walk of all.
    Remote(Remote, Vec<OsString>),
    /// Loads these snapshots together, as one walk of all their roots. A directory stands for the newest dated snapshot
    /// in it.
    Snapshots(Vec<PathBuf>),
    /// Loads a list of entries, as other programs make it.
    List(PathBuf, ListOptions),
    /// Walks nothing, and reports the file systems that are mounted.
    FileSystems,
    /// Loads these snapshots of one tree at different times. A directory stands for all dated snapshots in it.
    History(Vec<PathBuf>),
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

/// What is said of a list where times are needed.
pub const NO_TIMES_LISTED: &str = "the list has no times";
/// What is said of a list where owners are needed.
pub const NO_OWNERS_LISTED: &str = "the list has no owners";

/// Is told how far a walk is, and once nothing when it is over.
type Watch<'w> = &'w mut dyn FnMut(Option<&Progress>);

/// Makes the result now in a view. In a box, so that the program does not have all kinds of walks twice.
type Now<'n> = Box<dyn FnOnce(View) -> Result<(Snapshot, WalkStats), Problem> + 'n>;

/// The result now, what the walk did, and the earlier result, if they are to be compared.
type NowAndBefore = (Snapshot, WalkStats, Option<Earlier>);

/// The earlier result of a comparison; and what is unchanged, if its tree lacks that.
type Earlier = (Snapshot, Option<Unchanged>);

/// The result of a request.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The result to show; in a comparison, the difference: how each node changed.
    #[doc(hidden)]
    pub snapshot: Snapshot,
    /// The earlier tree of a comparison, if the result is to be browsed beside it.
    #[doc(hidden)]
    pub before: Option<Tree>,
    /// The history of a tree, if that was asked for.
    #[doc(hidden)]
    pub history: Option<History>,
    /// What can go, if that was asked for.
    #[doc(hidden)]
    pub reclaimable: Option<Reclaimable>,
    /// Errors about other files: snapshots that could not be read or removed.
    #[doc(hidden)]
    pub other_files: Vec<Problem>,
    /// The expired snapshots that were removed.
    #[doc(hidden)]
    pub removed: Vec<PathBuf>,
    /// Why what was to be saved was not.
    #[doc(hidden)]
    pub unsaved: Option<Problem>,
    /// What had to make room for a walk that is remembered, or why it is not remembered.
    #[doc(hidden)]
    pub remembered: Option<Result<Expired, Problem>>,
    /// The file systems whose mount points are roots, if that was asked for.
    #[doc(hidden)]
    pub file_systems: Vec<FileSystem>,
    /// The roots that are not mount points, if that was asked for.
    #[doc(hidden)]
    pub unmounted: Vec<Vec<u8>>,
    /// Where the earlier snapshot of a comparison comes from, if it says so.
    #[doc(hidden)]
    pub earlier: Option<Origin>,
    /// Doubts about a comparison.
    #[doc(hidden)]
    pub doubts: Vec<Doubt>,
    /// The bounds that it exceeds.
    #[doc(hidden)]
    pub exceeded: Vec<Exceeded>,
    /// What the walk did; empty for a snapshot.
    #[doc(hidden)]
    pub stats: WalkStats,
}

/// Does what the request asks for, so that the result can be browsed. It saves nothing. During a walk, other threads
/// can read the result so far from `top`, and `watch` is called about ten times a second, on the calling thread.
///
/// # Errors
/// Those of [`run`], except for saving.
pub fn browse(
    request: &Request,
    top: Arc<LiveDirectory>,
    mut watch: impl FnMut(Option<&Progress>),
) -> Result<Outcome, Problem> {
    let (mut snapshot, stats, before) = request.compared(Box::new(|view| {
        let inodes = request.kept().unwrap_or_default();
        let is_stopped = Arc::clone(&request.interrupt.is_asked);
        let live = Live::new(Whole { inodes }, top, is_stopped);
        request.with(view, move |_| live, &mut watch)
    }))?;
    let before = before.map(|(before, _)| before);
    let remembered = request.remember(&mut snapshot);
    let doubts =
        before.as_ref().map_or_else(Vec::new, |before| snapshot::doubts(before, &snapshot));
    let others = before.as_ref().map_or(Measures::ALL, |before| before.known);
    snapshot.known = snapshot.known.and(others);
    let (before, earlier) = before.map_or((None, None), |it| (it.weighed.report, it.origin));
    let outcome = request.outcome(snapshot, stats);
    Ok(Outcome { before, earlier, doubts, remembered: Some(remembered), ..outcome })
}

/// The snapshot that `request` asks for, to be browsed by its listings without all of it in memory. None if it has to
/// be loaded; or if it cannot be read, which loading it says.
pub fn listings(request: &Request) -> Option<(Outcome, SavedListings)> {
    let Input::Snapshots(files) = &request.source else { return None };
    let ([file], None, true) = (&files[..], &request.since, request.walk.filter.is_off()) else {
        return None;
    };
    let times = request.kept_time().is_some();
    let wanted = Wanted { measure: request.measure, times, ..Wanted::default() };
    let (snapshot, listings) = snapshot::listings(&snapshot::newest(file).ok()?, wanted).ok()??;
    let snapshot = request.reweighed(snapshot).ok()?;
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
        Input::History(files) => return request.history(files),
        Input::FileSystems => return request.mounted(),
        Input::Roots(_) | Input::Snapshots(_) | Input::List(..) | Input::Remote(..) => {}
    }
    if let (Some(search), None) = (&request.reclaimable, &request.remember) {
        return request.reclaimed(search, &mut watch);
    }
    // What the walk leaves there.
    let largest = Arc::<Mutex<Option<Tree>>>::default();
    let now = Box::new(|view| request.now(view, &largest, &mut watch));
    let (mut snapshot, stats, before) = request.compared(now)?;
    let largest = largest.lock().unwrap_or_else(PoisonError::into_inner).take();
    let saved = request.save.as_ref().map(|to| {
        let form = request.save_as.unwrap_or(SnapshotForm::of(&to.path));
        request.save(to, form, &mut snapshot)
    });
    let saved = saved.transpose();
    let remembered = request.remember(&mut snapshot);
    // Even a complete walk is not shown then, because the user wants no more.
    if request.interrupt.is_asked() && !snapshot.weighed.is_interrupted {
        saved.as_ref().map_err(Clone::clone)?;
        remembered.as_ref().map_err(Clone::clone)?;
    }
    let removed = match (&saved, &snapshot.origin) {
        (Ok(Some(file)), Some(origin)) => request.remove_old(file, origin),
        _ => Expired::default(),
    };
    let (before, unchanged) = before.unzip();
    let doubts =
        before.as_ref().map_or_else(Vec::new, |before| snapshot::doubts(before, &snapshot));
    let (before, earlier) = before.map_or((None, None), |it| (it.weighed.report, it.origin));
    snapshot.weighed.report = match (snapshot.weighed.report, before) {
        (Some(now), Some(before)) => {
            Some(request.difference(before, now, snapshot.view, unchanged.flatten()))
        }
        (Some(whole), None) if request.kept().is_some() => {
            Some(request.shown(whole, largest, snapshot.view, &stats))
        }
        (report, _) => report,
    };
    let outcome = request.outcome(snapshot, stats);
    let root = outcome.snapshot.weighed.report.as_ref().map(Tree::root);
    let was = root.and_then(|root| root.change()?.was);
    let exceeded = request.bounds.exceeded((was, root.map(|root| root.size())));
    let (unsaved, remembered) = (saved.err(), Some(remembered));
    let Expired { files: removed, problems: other_files } = removed;
    Ok(Outcome { other_files, removed, unsaved, remembered, earlier, doubts, exceeded, ..outcome })
}

impl Request {
    fn is_loaded(&self) -> bool {
        use Input::{History, List, Remote, Snapshots};
        matches!(self.source, Snapshots(..) | List(..) | Remote(..) | History(..))
    }

    fn is_saved(&self) -> bool {
        self.save.is_some() || self.remember.is_some()
    }

    /// The history of the tree whose snapshots are in `files`.
    fn history(&self, files: &[PathBuf]) -> Result<Outcome, Problem> {
        let limits = match self.keep {
            Keep::Largest(limits) => limits,
            Keep::Everything(_) | Keep::Groups(..) => Limits::NONE,
        };
        let limits = Limits { show: Show::Directories, ..limits };
        let (mut history, snapshot) = history::history(files, self.measure, limits)?;
        let other_files = mem::take(&mut history.unread);
        Ok(Outcome { other_files, history: Some(history), snapshot, ..Outcome::default() })
    }

    /// The file systems that are mounted, and what is known of them without a walk.
    fn mounted(&self) -> Result<Outcome, Problem> {
        let mut file_systems = snapshot::mounted().map_err(|error| {
            Problem::new(b"/proc/self/mountinfo".into(), Operation::Load, &error)
        })?;
        causes::find(&mut file_systems, &self.walk, &[]);
        Ok(Outcome { file_systems, ..Outcome::default() })
    }

    /// Removes expired snapshots from the directory in which a dated one from `origin` was saved in a `file`, if that
    /// was asked for.
    fn remove_old(&self, file: &Path, origin: &Origin) -> Expired {
        let directory = self.save.as_ref().and_then(Destination::directory_of_new);
        match (directory, self.keep_saved) {
            (Some(directory), Some(count)) => {
                let zone = sys::time_zone();
                snapshot::remove_old(directory, (file, origin), count.get(), sys::now(), &zone)
            }
            _ => Expired::default(),
        }
    }

    /// Which inodes to keep, if everything is kept: to be saved, compared, weighed again, or shown.
    #[doc(hidden)]
    pub fn kept(&self) -> Option<Inodes> {
        let (is_loaded, is_saved) = (self.is_loaded(), self.is_saved());
        let of_all = if self.needs_details() { Inodes::ALL } else { Inodes::LINKED };
        // A snapshot has the times of directories, and a walk does not ask for them. A snapshot that is saved again
        // has details of all entries or of none.
        let is_dated = is_loaded && !is_saved;
        let directories = if is_dated { Inodes::DATED_DIRECTORIES } else { Inodes::DIRECTORIES };
        let is_grouped = matches!(self.keep, Keep::Groups(..));
        let are_several = match &self.source {
            Input::Snapshots(snapshots) => snapshots.len() != 1,
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
            is_share.then_some(Inodes::DIRECTORIES),
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
    fn needs_details(&self) -> bool {
        self.details || self.needs().owners
    }

    /// Whether a snapshot must have the times when entries were last modified.
    fn needs_times(&self) -> bool {
        self.walk.view.by_time || self.needs().times || self.walk.filter.times.modified.is_some()
    }

    /// The time of which the newest is kept, if any. What is saved has it, so that it can be shown later.
    fn kept_time(&self) -> Option<Time> {
        let is_needed = self.is_saved() || self.is_loaded() && self.needs_times();
        self.walk.time.or(is_needed.then_some(Time::Modified))
    }

    /// What is needed to tell the groups apart.
    fn needs(&self) -> Needs {
        match self.keep {
            Keep::Groups(by, _) => by.needs(),
            Keep::Everything(_) | Keep::Largest(_) => Needs::default(),
        }
    }

    /// The file systems whose mount points are roots, with what uses them; and the roots that are not mount points.
    /// None unless that is asked for.
    fn file_systems(&self, snapshot: &Snapshot) -> (Vec<FileSystem>, Vec<Vec<u8>>) {
        let Weighed { report, problems, is_interrupted } = &snapshot.weighed;
        let (Input::Roots(roots), Some(tree), true) = (&self.source, report, self.file_systems)
        else {
            return Default::default();
        };
        let (mut file_systems, others) = snapshot::file_systems(roots, tree);
        if !is_interrupted {
            causes::find(&mut file_systems, &self.walk, problems);
        }
        (file_systems, others)
    }

    /// How what is to be shown has changed in this `view`. What is `unchanged` may be missing in the tree `before`.
    fn difference(
        &self,
        before: Tree,
        now: Tree,
        view: View,
        unchanged: Option<Unchanged>,
    ) -> Tree {
        match self.keep {
            Keep::Groups(by, limits) => {
                let groups = Groups::new(by, view, Limits::NONE);
                let now = if self.kept().is_some() { replay(&now, groups) } else { now };
                diff::compare(replay(&before, groups), now, Some(limits), None)
            }
            Keep::Largest(limits) => diff::compare(before, now, Some(limits), unchanged),
            Keep::Everything(_) => diff::compare(before, now, None, None),
        }
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
        if let Some(tree) = &mut snapshot.weighed.report {
            tree.annotate(&stats.known.notes);
        }
        let reclaimable = self.what_can_go(&snapshot);
        let (file_systems, unmounted) = self.file_systems(&snapshot);
        Outcome { snapshot, reclaimable, file_systems, unmounted, stats, ..Outcome::default() }
    }

    /// What can go, if that is asked for, in a whole tree.
    fn what_can_go(&self, snapshot: &Snapshot) -> Option<Reclaimable> {
        let search = self.reclaimable.as_ref()?;
        let may_go = MayGo::new(search);
        if let Some(tree) = &snapshot.weighed.report {
            replay(tree, may_go.clone());
        }
        Some(reclaimable::find(&may_go, &snapshot.weighed, search))
    }

    /// What can go, and nothing else: no more is kept than that needs.
    fn reclaimed(&self, search: &Search, watch: Watch<'_>) -> Result<Outcome, Problem> {
        let may_go = MayGo::new(search);
        let tally = may_go.clone();
        let (snapshot, stats) = self.with(self.walk.view, |_| tally, watch)?;
        let reclaimable = Some(reclaimable::find(&may_go, &snapshot.weighed, search));
        Ok(Outcome { snapshot, reclaimable, stats, ..Outcome::default() })
    }

    /// The result `now`, what the walk did, and the earlier result, if they are to be compared: by what both have.
    fn compared(&self, now: Now<'_>) -> Result<NowAndBefore, Problem> {
        let view = self.walk.view;
        if let Input::Roots(roots) = &self.source {
            let Some(earlier) = self.earlier_file(|| self.here(roots))? else {
                return now(view).map(|(now, stats)| (now, stats, None));
            };
            return self.loaded_during(&earlier, now);
        }
        let (mut snapshot, stats) = now(view)?;
        let earlier = self.earlier_file(|| snapshot.origin.clone().unwrap_or_default())?;
        let mut before = None;
        if let Some(earlier) = earlier {
            let options = snapshot.origin.as_ref().and_then(|origin| origin.options.as_deref());
            let view = snapshot.view;
            // If no flag asks for a measure, that of the earlier snapshot will do.
            let required =
                self.measure.or((snapshot.known != Measures::ALL).then_some(view.measure));
            let loaded = self.earlier(&earlier, (view, required), options, |_| ())?;
            snapshot.see_as(loaded.view);
            before = Some((loaded, None));
        }
        if let Some(options) = snapshot.origin.as_mut().and_then(|origin| origin.options.as_mut()) {
            // The snapshot may be saved again.
            let saved = options.clone();
            options.extend(self.options.iter().filter(|flag| !saved.contains(flag)).cloned());
        }
        Ok((snapshot, stats, before))
    }

    /// Does the `walk`, and loads the snapshot to compare with, the file `earlier`, on a thread of its own. The walk
    /// begins only after the snapshot's header shows that they can be compared, and in which view, because a walk takes
    /// long; or when all of it is loaded, if it has no such header. An error that is found later ends the walk.
    fn loaded_during(&self, earlier: &Path, walk: Now<'_>) -> Result<NowAndBefore, Problem> {
        let has_stopped = AtomicBool::new(false);
        let (sender, may_begin) = mpsc::sync_channel(2);
        let asked = (self.walk.view, self.measure);
        let load = {
            let has_stopped = &has_stopped;
            // The thread owns the sender, so that a panic there ends the wait for it.
            move || {
                // Sending cannot fail, because the receiver outlives this thread. It takes one message, and there is
                // room for the other two.
                let loaded = self.digested(earlier, asked, |view| {
                    let _ = sender.send(Some(view));
                });
                let _ = sender.send(loaded.as_ref().ok().map(|(loaded, _)| loaded.view));
                if loaded.is_err() {
                    let was_asked = self.interrupt.is_asked.swap(true, Ordering::SeqCst);
                    has_stopped.store(!was_asked, Ordering::SeqCst);
                }
                loaded
            }
        };
        let both = thread::scope(|scope| {
            let (now, earlier) = match thread::Builder::new().spawn_scoped(scope, load) {
                Ok(loader) => match may_begin.recv() {
                    Ok(Some(view)) => (walk(view), join(loader)?),
                    _ => {
                        let earlier = join(loader)?;
                        (walk(earlier.0.view), earlier)
                    }
                },
                // No thread can be started.
                Err(_) => {
                    let earlier = self.digested(earlier, asked, |_| ())?;
                    (walk(earlier.0.view), earlier)
                }
            };
            now.map(|(now, stats)| (now, stats, earlier))
        });
        if has_stopped.load(Ordering::SeqCst) {
            // The user did not ask for it.
            self.interrupt.is_asked.store(false, Ordering::SeqCst);
        }
        let (now, stats, (mut before, digested)) = both?;
        let mut unchanged = None;
        if let Some((digested, now)) = digested.zip(now.weighed.report.as_ref()) {
            let changed = digested.changed(now, Inodes::DATED_DIRECTORIES);
            let (tree, alike) =
                changed.map_err(|error| snapshot::problem(earlier, Operation::Load, &error))?;
            before.weighed.report = Some(tree.seen_as(before.view));
            unchanged = Some(Unchanged::Alike(alike));
        }
        Ok((now, stats, Some((before, unchanged))))
    }

    /// Walks, to be seen in a `view`, or loads; and returns what the walk did. If a walk keeps more than the `largest`,
    /// it leaves these there.
    fn now(
        &self,
        view: View,
        largest: &Arc<Mutex<Option<Tree>>>,
        watch: Watch<'_>,
    ) -> Result<(Snapshot, WalkStats), Problem> {
        match (self.kept(), self.keep) {
            (Some(inodes), Keep::Largest(limits)) if !self.is_loaded() && self.since.is_none() => {
                let (whole, largest) = (Whole { inodes }, Arc::clone(largest));
                self.with(
                    view,
                    move |view| WithTop { whole, top: Top::new(view, limits), largest },
                    watch,
                )
            }
            (Some(inodes), _) | (None, Keep::Everything(inodes)) => {
                self.with(view, move |_| Whole { inodes }, watch)
            }
            (None, Keep::Largest(limits)) => {
                self.with(view, move |view| Top::new(view, limits), watch)
            }
            (None, Keep::Groups(by, limits)) => {
                // A group that is small now may have been large before.
                let limits = if self.since.is_some() { Limits::NONE } else { limits };
                self.with(view, move |view| Groups::new(by, view, limits), watch)
            }
        }
    }

    fn with<T: Tally>(
        &self,
        view: View,
        tally: impl FnOnce(View) -> T + Send + 'static,
        watch: Watch<'_>,
    ) -> Result<(Snapshot, WalkStats), Problem> {
        let mut stats = WalkStats::default();
        let (path, snapshot) = match &self.source {
            Input::Roots(roots) => return Ok(self.walked(roots, view, tally(view), watch)),
            Input::Remote(remote, roots) => {
                return self.arrived(remote, roots, replay_to(tally), watch);
            }
            Input::FileSystems => return Ok(self.walked(&[], view, tally(view), watch)),
            Input::List(path, options) => {
                let (snapshot, seem_totals) =
                    list::load(path, *options, self.wanted(), replay_to(tally))?;
                stats.seem_totals = seem_totals;
                (path.clone(), snapshot)
            }
            Input::Snapshots(paths) | Input::History(paths) => {
                let paths: Vec<_> =
                    paths.iter().map(|path| snapshot::newest(path)).collect::<Result<_, _>>()?;
                let snapshot = match &paths[..] {
                    [path] => snapshot::load(path, self.wanted(), tally)?,
                    paths => {
                        snapshot::load_all(paths, self.wanted(), self.kept().unwrap_or_default())?
                    }
                };
                (paths.into_iter().next().unwrap_or_default(), snapshot)
            }
        };
        let snapshot = self.reweighed(snapshot);
        snapshot
            .map(|snapshot| (snapshot, stats))
            .map_err(|error| snapshot::problem(&path, Operation::Show, &error))
    }

    /// What a snapshot is to be seen by.
    fn wanted(&self) -> Wanted {
        Wanted {
            measure: self.measure,
            by_time: self.walk.view.by_time,
            times: self.kept_time().is_some(),
            limits: self.limits(),
        }
    }

    /// What arrives from the machines of `remote`, and a walk of `roots`, as one result. Fails if there is nothing to
    /// show.
    fn arrived(
        &self,
        remote: &Remote,
        roots: &[OsString],
        begin: BeginReplay<'static>,
        watch: Watch<'_>,
    ) -> Result<(Snapshot, WalkStats), Problem> {
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
            let (mut here, walked) = request.walked(roots, self.walk.view, whole(), &mut |_| ());
            if let Some(origin) = &mut here.origin {
                // It has the name of none of the others.
                origin.host = Vec::new();
            }
            snapshots.push(here);
            stats = walked;
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
        if snapshots.is_empty()
            && let Some(problem) = problems.pop()
        {
            return Err(problem);
        }
        let only = snapshots.pop_if(|_| is_one);
        let mut snapshot = only.unwrap_or_else(|| snapshot::joined(snapshots, inodes, false));
        snapshot.weighed.problems.append(&mut problems);
        snapshot.weighed.is_interrupted |= self.interrupt.is_asked();
        Ok((snapshot, stats))
    }

    fn walked<T: Tally>(
        &self,
        roots: &[OsString],
        view: View,
        tally: T,
        watch: Watch<'_>,
    ) -> (Snapshot, WalkStats) {
        let kept = self.kept().unwrap_or_default();
        let (has_details, time) = (kept.has_details(), self.kept_time());
        let has_times = time == Some(Time::Modified);
        let share = self.walk.filter.share.zip(roots.first());
        let share =
            share.map(|(share, root)| share.of_root_with(sys::subdirectories(root.as_ref(), MANY)));
        let is_to_be_known = self.is_saved() || self.since.is_some() || self.is_loaded();
        let origin =
            is_to_be_known.then(|| Origin { share, has_details, has_times, ..self.here(roots) });
        let mut options = walk::WalkOptions { view, time, ..self.walk.clone() };
        options.filter.share = share;
        options.query.times |= has_details
            || kept.fingerprints
            || time.is_some()
            || self.needs().times
            || !options.filter.times.is_off();
        options.query.owner |= has_details || self.needs().owners;
        let roots = roots.to_owned();
        options.interrupt = Arc::clone(&self.interrupt.is_asked);
        let Walked { weighed, mut stats } = self.interrupt.put_off(|| {
            let walked = walk::walk(roots, options, tally, |progress| watch(Some(progress)));
            watch(None);
            walked
        });
        if !weighed.is_interrupted {
            stats.known = containers::look_at(&stats.storages);
        }
        for OverlayStats { path, layer } in &stats.overlays {
            let note = layer.as_ref().map(|layer| format!("counts in {}", escape(layer)));
            stats.known.notes.extend(note.map(|note| (path.clone(), note)));
        }
        (Snapshot { weighed, view, known: Measures::ALL, origin }, stats)
    }

    /// The origin of a walk of `roots` that starts now.
    fn here(&self, roots: &[OsString]) -> Origin {
        Origin::here(roots, self.walk.source, self.options.clone())
    }

    /// Applies filters to a loaded snapshot, if it contains what they need. weigh on another machine has applied them.
    fn reweighed(&self, mut snapshot: Snapshot) -> io::Result<Snapshot> {
        let needs = (self.needs_details(), self.needs_times());
        self.ensure_enough(snapshot.origin.as_ref(), needs, self.is_of_list())?;
        let unit = snapshot.view.measure.unit();
        let is_bytes = unit == Measure::Disk.unit();
        if (self.bytes_only || self.needs().bytes) && !is_bytes {
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

    /// Whether it is of a list.
    pub fn is_of_list(&self) -> bool {
        matches!(self.source, Input::List(..))
    }

    /// Checks that a snapshot, perhaps from a list, contains what groups need, and has details and times if those are
    /// needed.
    fn ensure_enough(
        &self,
        origin: Option<&Origin>,
        (details, times): (bool, bool),
        is_list: bool,
    ) -> io::Result<()> {
        let is_grouped = matches!(self.keep, Keep::Groups(..));
        let missing = match origin {
            None if details || times || is_grouped => snapshot::TOO_LITTLE,
            Some(origin) if details && !origin.has_details && is_list => NO_OWNERS_LISTED,
            Some(origin) if times && !origin.has_times && is_list => NO_TIMES_LISTED,
            Some(origin) if details && !origin.has_details => {
                "it was saved without --details, and so without owners: save it again with them"
            }
            Some(origin) if times && !origin.has_times => {
                "it has no times: show sizes, or save it again"
            }
            _ => return Ok(()),
        };
        Err(io::Error::other(missing))
    }

    /// The file of the snapshot to compare with, if there is one. The origin of the result is `now`.
    fn earlier_file(&self, now: impl FnOnce() -> Origin) -> Result<Option<PathBuf>, Problem> {
        self.since.as_ref().map(|path| snapshot::newest_like(path, now)).transpose()
    }

    /// The snapshot to compare with, which is in the file `path`. What this one leaves out is left out of it, too.
    /// It is seen in this `view`; or if it does not have that, and its measure is not `required`, by what it has.
    /// `options` are the flags of this one, if they are known. Calls `begin` with the view as soon as the
    /// header shows that they can be compared, and again when all is read.
    fn earlier(
        &self,
        path: &Path,
        (view, required): (View, Option<Measure>),
        options: Option<&[String]>,
        begin: impl Fn(View),
    ) -> Result<Snapshot, Problem> {
        let inodes = if self.needs().owners { Inodes::ALL } else { Inodes::DATED_DIRECTORIES };
        let mut snapshot = snapshot::load_after(
            path,
            self.wanted_earlier(view),
            |_| Whole { inodes },
            Operation::Compare,
            |seen, origin| {
                self.ensure_comparable((seen, required), options, origin).map(|()| begin(seen))
            },
        )?;
        let has_times = snapshot.origin.as_ref().is_some_and(|origin| origin.has_times);
        let filter = self.walk.filter.of_saved(has_times);
        snapshot::reweigh(&mut snapshot, &filter, inodes)
            .and_then(|()| match snapshot.weighed.report {
                Some(_) => Ok(()),
                None => Err(io::Error::other("nothing could be read when it was made")),
            })
            .map_err(|error| snapshot::problem(path, Operation::Compare, &error))?;
        Ok(snapshot)
    }

    /// The snapshot that a walk is compared with: with digests instead of its tree, if only the largest changes are
    /// shown, and no filter needs it.
    fn digested(
        &self,
        path: &Path,
        asked: (View, Option<Measure>),
        begin: impl Fn(View),
    ) -> Result<(Snapshot, Option<Digested>), Problem> {
        let options = Some(&*self.options);
        if matches!(self.keep, Keep::Largest(_)) && self.walk.filter.of_saved(true).is_off() {
            let wanted = self.wanted_earlier(asked.0);
            let read = snapshot::digested(path, wanted, |view, origin| {
                self.ensure_comparable((view, asked.1), options, origin).map(|()| begin(view))
            })?;
            if let Some((snapshot, digested)) = read {
                return Ok((snapshot, Some(digested)));
            }
        }
        Ok((self.earlier(path, asked, options, begin)?, None))
    }

    fn wanted_earlier(&self, view: View) -> Wanted {
        Wanted { measure: Some(view.measure), times: self.needs_times(), ..Wanted::default() }
    }

    /// Checks that a snapshot from `origin`, as it is `seen`, can be compared with a result made with these `options`,
    /// as far as both are known, and has the measure that is `required`.
    fn ensure_comparable(
        &self,
        (seen, required): (View, Option<Measure>),
        options: Option<&[String]>,
        origin: Option<&Origin>,
    ) -> io::Result<()> {
        if let (Some(options), Some(origin)) = (options, origin)
            && let Some(message) =
                snapshot::difference(options, &self.options, origin, self.is_loaded())
        {
            return Err(io::Error::other(message));
        }
        let Needs { owners, times, .. } = self.needs();
        self.ensure_enough(origin, (owners, times), false)?;
        snapshot::ensure_measure(seen.measure, required)
    }

    /// Half a snapshot is not saved, because later it would be taken for a whole one.
    fn save(
        &self,
        to: &Destination,
        form: SnapshotForm,
        snapshot: &mut Snapshot,
    ) -> Result<PathBuf, Problem> {
        if snapshot.weighed.is_interrupted {
            let interrupted = io::ErrorKind::Interrupted.into();
            return Err(snapshot::problem(&to.path, Operation::Save, &interrupted));
        }
        // It has sizes, the largest first, whatever is shown.
        let shown = snapshot.view;
        let view = View { by_time: false, ..shown };
        snapshot.see_as(view);
        let (origin, known) = (snapshot.origin.clone(), snapshot.known);
        let threads = self.walk.threads;
        let options = schema::ExportOptions {
            view,
            known,
            origin,
            threads,
            ..schema::ExportOptions::default()
        };
        let weighed = &snapshot.weighed;
        let saved = snapshot::save(to, form, &self.interrupt, |out| match form {
            SnapshotForm::Packed => packed::write(out, weighed, &options),
            _ => schema::write(out, weighed, &options),
        });
        snapshot.see_as(shown);
        saved
    }

    /// Remembers a walk of directories, if that is asked for and nothing is missing. Returns what had to make room.
    fn remember(&self, snapshot: &mut Snapshot) -> Result<Expired, Problem> {
        let is_whole = snapshot.weighed.is_complete()
            && snapshot
                .weighed
                .report
                .as_ref()
                .is_some_and(|tree| tree.roots().all(|root| root.is_directory()));
        let (Some(remembered), Some(origin), true) =
            (&self.remember, snapshot.origin.clone(), is_whole)
        else {
            return Ok(Expired::default());
        };
        let failed = |error| snapshot::problem(&remembered.directory, Operation::Save, &error);
        let to = remembered.destination(&origin).map_err(failed)?;
        let saved = self.save(&to, SnapshotForm::Packed, snapshot)?;
        remembered.thin(&saved, &origin).map_err(failed)
    }
}

/// What `thread` returns, or its panic.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
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
