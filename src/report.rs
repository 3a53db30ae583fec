//! The front door of the library: from what is asked for to what came of it. It knows no flag and no
//! terminal; the program, a test and another program come in by the same door.
//!
//! What can be wrong before a walk is found before the walk: the place to save at is looked at, and the
//! snapshot to compare with is opened and read as far as it says what it is. The rest of it is read while the
//! walk goes on.

use std::ffi::OsString;
use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

pub use crate::bounds::{Bounds, Growth};

use crate::bounds::Exceeded;
use crate::diff::Diff;
use crate::filter::Filter;
use crate::gear::Course;
use crate::interrupt::Interrupt;
use crate::measure::Measure;
use crate::problem::{Operation, Problem};
use crate::render::json;
use crate::snapshot::{self, Destination, Doubt, FileSystem, Origin, Snapshot, TIMES};
use crate::tally::{By, Groups, Inodes, Limits, Needs, Tally, Top, Whole};
use crate::total::replay;
use crate::tree::Tree;
use crate::walk::{self, Progress, Walked};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What to weigh, or the snapshot to show instead.
    pub source: Input,
    /// How to walk, and what counts. What it takes to know of an inode is found out here.
    pub walk: walk::WalkOptions,
    /// What to keep of it, to be shown.
    pub keep: Keep,
    /// Whether a snapshot has to have times and owners; if one is saved, it gets them.
    pub details: bool,
    /// Whether to show times of last change in place of sizes. A snapshot that is saved has both.
    pub newest: bool,
    /// Whether it can be shown in bytes only.
    pub bytes_only: bool,
    /// Where to save it, if anywhere.
    pub save: Option<Destination>,
    /// The snapshot to compare it with, if any.
    pub since: Option<PathBuf>,
    /// The flags that change what counts, by their long names: a snapshot records them, and two snapshots are
    /// compared only if theirs agree.
    pub options: Vec<String>,
    /// What it may come to.
    pub bounds: Bounds,
    /// Whether to say what the file systems hold that roots are mounted from.
    pub file_systems: bool,
    /// What ends it early.
    pub interrupt: Interrupt,
}

/// Where what is shown comes from.
#[derive(Clone, Debug)]
pub enum Input {
    /// A walk of these roots.
    Roots(Vec<OsString>),
    /// A snapshot, and what its sizes should count, if that was said.
    Snapshot(PathBuf, Option<Measure>),
}

/// What to keep.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// Everything, and of these entries which inode they are.
    Everything(Inodes),
    /// The largest, within limits.
    Largest(Limits),
    /// Totals by group, within limits of lines and size.
    Groups(By, Limits),
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// What is to be shown; where it is compared, with the churn as sizes.
    pub snapshot: Snapshot<Tree>,
    /// What changed since an earlier snapshot.
    pub changes: Option<Diff>,
    /// Whether it was saved, if it was to be.
    pub saved: Result<(), Problem>,
    /// What the file systems hold that roots are mounted from, if that was asked for.
    pub file_systems: Vec<FileSystem>,
    /// The roots that are no mount points, likewise.
    pub unmounted: Vec<Vec<u8>>,
    /// What a comparison cannot tell.
    pub doubts: Vec<Doubt>,
    /// The bounds that it exceeds.
    pub exceeded: Vec<Exceeded>,
    /// How the walk went; nothing of a snapshot.
    pub course: Course,
}

/// What there is now, what the walk did, and what there was.
type Compared = (Snapshot<Tree>, Course, Option<Snapshot<Tree>>);

/// Does what is asked for. While a walk goes on, `watch` is called about ten times a second, on the calling
/// thread; and with nothing once it is over.
///
/// # Errors
/// Why a snapshot cannot be loaded or compared, or one cannot be saved at its place, or that saving was
/// interrupted. What cannot be walked is among the snapshot's problems.
pub fn run(request: &Request, watch: impl FnMut(Option<&Progress>)) -> Result<Outcome, Problem> {
    if let Some(to) = &request.save {
        snapshot::ensure_savable(to)?;
    }
    let (mut snapshot, course, before) = match &request.source {
        Input::Roots(_) => request.now_and_earlier(watch)?,
        Input::Snapshot(..) => {
            let (mut snapshot, course) = request.now(watch)?;
            let options = snapshot.origin.as_ref().and_then(|origin| origin.options.as_deref());
            let before = request.earlier(snapshot.measure, options, || ())?;
            if let Some(options) =
                snapshot.origin.as_mut().and_then(|origin| origin.options.as_mut())
            {
                // As it may be saved again.
                let is_new = |flag: &&String| !options.contains(flag);
                let new: Vec<_> = request.options.iter().filter(is_new).cloned().collect();
                options.extend(new);
            }
            (snapshot, course, before)
        }
    };
    let saved = match request.save.as_ref().map_or(Ok(()), |to| request.save(to, &snapshot)) {
        // What was walked to its end is not shown either: somebody wants no more.
        Err(problem) if request.interrupt.is_asked() && !snapshot.weighed.is_interrupted => {
            return Err(problem);
        }
        saved => saved,
    };
    let kept = request.kept();
    if request.newest && request.save.is_some() {
        // Nothing is left out, so nothing can be wrong.
        let _ =
            snapshot::reweigh(&mut snapshot, &Filter::default(), TIMES, kept.unwrap_or_default());
    }
    let doubts =
        before.as_ref().map_or_else(Vec::new, |before| snapshot::doubts(before, &snapshot));
    let before = before.and_then(|before| before.weighed.report);
    let mut changes = None;
    snapshot.weighed.report = match (snapshot.weighed.report, before) {
        (Some(now), Some(before)) => Some(match request.keep {
            Keep::Groups(by, limits) => {
                let groups = request.groups(by, Limits::NONE);
                let now = if kept.is_some() { replay(&now, groups) } else { now };
                let both = Diff::new(replay(&before, groups), now);
                changes.insert(both).largest(Some(limits))
            }
            Keep::Largest(limits) => changes.insert(Diff::new(before, now)).largest(Some(limits)),
            Keep::Everything(_) => changes.insert(Diff::new(before, now)).largest(None),
        }),
        (Some(whole), None) if kept.is_some() => Some(match request.keep {
            Keep::Everything(_) => whole,
            Keep::Largest(limits) => replay(&whole, Top::new(limits)),
            Keep::Groups(by, limits) => replay(&whole, request.groups(by, limits)),
        }),
        (report, _) => report,
    };
    let sizes = match &changes {
        Some(changes) => changes.root().sizes(),
        None => (None, snapshot.weighed.report.as_ref().map(|tree| tree.root().size())),
    };
    let (file_systems, unmounted) = match (&request.source, &snapshot.weighed.report) {
        (Input::Roots(roots), Some(tree)) if request.file_systems => {
            snapshot::file_systems(roots, tree)
        }
        _ => Default::default(),
    };
    Ok(Outcome {
        snapshot,
        changes,
        saved,
        file_systems,
        unmounted,
        doubts,
        exceeded: request.bounds.exceeded(sizes),
        course,
    })
}

impl Request {
    /// All of what is at `roots` and below.
    pub fn of_roots(roots: impl IntoIterator<Item = OsString>) -> Self {
        Self { source: Input::Roots(roots.into_iter().collect()), ..Self::default() }
    }

    fn is_loaded(&self) -> bool {
        matches!(self.source, Input::Snapshot(..))
    }

    /// What of inodes is to be kept, if everything is, because it is to be saved, to be compared, to be
    /// weighed anew, or to be shown.
    fn kept(&self) -> Option<Inodes> {
        let (is_loaded, is_saved) = (self.is_loaded(), self.save.is_some());
        let if_so = |is_so: bool, inodes| is_so.then_some(inodes);
        let of_all = if self.needs_details() { Inodes::All } else { Inodes::Linked };
        // A snapshot knows when directories were written to, and a walk does not ask. What is saved again has
        // details of everything, or of nothing.
        let is_dated = is_loaded && !is_saved;
        let directories = if is_dated { Inodes::DatedDirectories } else { Inodes::Directories };
        let is_grouped = matches!(self.keep, Keep::Groups(..));
        let is_anew = is_loaded && !self.walk.filter.is_off() || self.newest;
        let to_be_shown = match self.keep {
            Keep::Everything(inodes) => Some(inodes),
            _ => None,
        };
        if_so(is_saved || is_anew, of_all)
            .max(if_so(self.since.is_some() && !is_grouped, directories))
            .max(to_be_shown)
    }

    /// Whether a snapshot, saved or loaded, has to have times and owners.
    fn needs_details(&self) -> bool {
        self.details
            || self.newest
            || self.is_loaded() && self.walk.filter.times.modified.is_some()
            || self.is_by_details()
    }

    /// What it takes to tell the groups that are to be shown.
    fn needs(&self) -> Needs {
        match self.keep {
            Keep::Groups(by, _) => by.needs(),
            Keep::Everything(_) | Keep::Largest(_) => Needs::default(),
        }
    }

    fn is_by_details(&self) -> bool {
        self.needs().times || self.needs().owners
    }

    fn groups(&self, by: By, limits: Limits) -> Groups {
        Groups::new(by, if self.newest { TIMES } else { self.walk.measure }, limits)
    }

    /// What there is now, and what the walk did.
    fn now(
        &self,
        watch: impl FnMut(Option<&Progress>),
    ) -> Result<(Snapshot<Tree>, Course), Problem> {
        match (self.kept(), self.keep) {
            (Some(inodes), _) | (None, Keep::Everything(inodes)) => {
                self.with(Whole { inodes }, watch)
            }
            (None, Keep::Largest(limits)) => self.with(Top::new(limits), watch),
            (None, Keep::Groups(by, limits)) => {
                // What is in a group of others now may have had one of its own before.
                let limits = if self.since.is_some() { Limits::NONE } else { limits };
                self.with(self.groups(by, limits), watch)
            }
        }
    }

    fn with<T: Tally<Report = Tree> + 'static>(
        &self,
        tally: T,
        watch: impl FnMut(Option<&Progress>),
    ) -> Result<(Snapshot<Tree>, Course), Problem> {
        match &self.source {
            Input::Roots(roots) => Ok(self.walked(roots, tally, watch)),
            Input::Snapshot(path, measure) => {
                let snapshot = snapshot::load(path, *measure, tally)?;
                let snapshot = self.reweighed(snapshot);
                snapshot
                    .map(|snapshot| (snapshot, Course::default()))
                    .map_err(|error| snapshot::problem(path, Operation::Load, &error))
            }
        }
    }

    fn walked<T: Tally<Report = Tree> + 'static>(
        &self,
        roots: &[OsString],
        tally: T,
        mut watch: impl FnMut(Option<&Progress>),
    ) -> (Snapshot<Tree>, Course) {
        let has_details = self.kept() == Some(Inodes::All);
        let is_to_be_known = self.save.is_some() || self.since.is_some();
        let origin = is_to_be_known
            .then(|| Origin::here(roots, self.walk.source, self.options.clone(), has_details));
        let mut options = self.walk.clone();
        options.query.times |= has_details
            || matches!(options.measure, Measure::Newest(_))
            || self.needs().times
            || !options.filter.times.is_off();
        options.query.owner |= has_details || self.needs().owners;
        let measure = options.measure;
        let roots = roots.to_owned();
        options.interrupt = Arc::clone(&self.interrupt.is_asked);
        let Walked { weighed, course } = self.interrupt.put_off(|| {
            let walked = walk::walk(roots, options, tally, |progress| watch(Some(progress)));
            watch(None);
            walked
        });
        (Snapshot { weighed, measure, origin }, course)
    }

    /// What filters leave of a loaded snapshot, if it says what it takes to show that.
    fn reweighed(&self, mut snapshot: Snapshot<Tree>) -> io::Result<Snapshot<Tree>> {
        self.ensure_enough(snapshot.origin.as_ref(), self.needs_details())?;
        let is_bytes = snapshot.measure.unit() == Measure::Disk.unit();
        if (self.bytes_only || self.needs().bytes) && !is_bytes {
            let unit = snapshot.measure.unit();
            let message = format!("what is asked for needs bytes, and it counts {unit}");
            return Err(io::Error::other(message));
        }
        let kept = self.kept().unwrap_or_default();
        if let Some(origin) = &mut snapshot.origin {
            // As it may be saved again.
            origin.has_details = kept == Inodes::All;
        }
        // Sizes are what is saved again.
        let is_by_time = self.newest && self.save.is_none();
        let measure = if is_by_time { TIMES } else { snapshot.measure };
        snapshot::reweigh(&mut snapshot, &self.walk.filter, measure, kept)?;
        Ok(snapshot)
    }

    /// Whether a loaded snapshot says what groups are made of, and has details if those are wanted.
    fn ensure_enough(&self, origin: Option<&Origin>, wants_details: bool) -> io::Result<()> {
        match origin {
            None if wants_details || matches!(self.keep, Keep::Groups(..)) => {
                Err(io::Error::other(snapshot::TOO_LITTLE))
            }
            Some(origin) if wants_details && !origin.has_details => {
                Err(io::Error::other("it was saved without --details, and so without times"))
            }
            _ => Ok(()),
        }
    }

    /// What there is now, what the walk did, and the snapshot to compare it with. That is loaded on a thread of
    /// its own while the walk goes on, but not begun with before it is known to be comparable, as far as it says
    /// so ahead of its tree. What is found wrong later ends the walk.
    fn now_and_earlier(
        &self,
        mut watch: impl FnMut(Option<&Progress>),
    ) -> Result<Compared, Problem> {
        if self.since.is_none() {
            return self.now(watch).map(|(now, course)| (now, course, None));
        }
        let (sender, may_begin) = mpsc::sync_channel(1);
        let (has_begun, has_stopped) = (AtomicBool::new(false), AtomicBool::new(false));
        let load = || {
            let begin = || {
                has_begun.store(true, Ordering::SeqCst);
                // Who waits for it is there until this thread ends.
                let _ = sender.send(true);
            };
            let earlier = self.earlier(self.walk.measure, Some(&self.options), begin);
            if !has_begun.load(Ordering::SeqCst) {
                let _ = sender.send(earlier.is_ok());
            } else if earlier.is_err() {
                let was_asked = self.interrupt.is_asked.swap(true, Ordering::SeqCst);
                has_stopped.store(!was_asked, Ordering::SeqCst);
            }
            earlier
        };
        thread::scope(|scope| {
            let loader = thread::Builder::new().name("weigh load".into());
            let (loaded, now) = match loader.spawn_scoped(scope, load) {
                Ok(loader) => {
                    let may_walk = may_begin.recv().unwrap_or(false);
                    let now = may_walk.then(|| self.now(&mut watch));
                    (loader.join().unwrap_or_else(|panic| resume_unwind(panic)), now)
                }
                // Where there can be no other thread, one comes after the other.
                Err(_) => (load(), None),
            };
            if has_stopped.load(Ordering::SeqCst) {
                // Nobody else asked for the end.
                self.interrupt.is_asked.store(false, Ordering::SeqCst);
            }
            let earlier = loaded?;
            let (snapshot, course) = now.unwrap_or_else(|| self.now(&mut watch))?;
            Ok((snapshot, course, earlier))
        })
    }

    /// The snapshot to compare with, if there is one, without what is left out of this one, which was made
    /// with `options`, as far as that is known. Before its tree is read, and if it says then what it is, and that
    /// can be compared, calls `begin`.
    fn earlier(
        &self,
        measure: Measure,
        options: Option<&[String]>,
        begin: impl FnOnce(),
    ) -> Result<Option<Snapshot<Tree>>, Problem> {
        let Some(path) = &self.since else { return Ok(None) };
        let filter = &self.walk.filter;
        let by_details = self.is_by_details();
        let is_asked = by_details || filter.times.modified.is_some();
        let inodes = if is_asked { Inodes::All } else { Inodes::DatedDirectories };
        let check = |origin: Option<&Origin>| {
            if let (Some(options), Some(origin)) = (options, origin)
                && let Some(message) =
                    snapshot::difference(options, &self.options, origin, self.is_loaded())
            {
                let error = io::Error::other(message);
                return Err(snapshot::problem(path, Operation::Compare, &error));
            }
            let enough = self.ensure_enough(origin, by_details);
            enough.map_err(|error| snapshot::problem(path, Operation::Load, &error))
        };
        let look = |origin: &Origin| check(Some(origin)).map(|()| begin());
        let whole = Whole { inodes };
        let mut snapshot = snapshot::load_after(path, Some(measure), whole, look)?;
        check(snapshot.origin.as_ref())?;
        let compared = move || {
            let has_details = snapshot.origin.as_ref().is_some_and(|origin| origin.has_details);
            snapshot::reweigh(&mut snapshot, &filter.of_saved(has_details), measure, inodes)?;
            match snapshot.weighed.report {
                Some(_) => Ok(Some(snapshot)),
                None => Err(io::Error::other("nothing could be read when it was made")),
            }
        };
        compared().map_err(|error| snapshot::problem(path, Operation::Load, &error))
    }

    /// Half a snapshot would be taken for a whole one later, and so is not saved.
    fn save(&self, to: &Destination, snapshot: &Snapshot<Tree>) -> Result<(), Problem> {
        if snapshot.weighed.is_interrupted {
            let interrupted = io::ErrorKind::Interrupted.into();
            return Err(snapshot::problem(&to.path, Operation::Save, &interrupted));
        }
        let (measure, origin) = (snapshot.measure, snapshot.origin.clone());
        let threads = self.walk.threads;
        let options =
            json::ExportOptions { measure, origin, threads, ..json::ExportOptions::default() };
        snapshot::save(to, &self.interrupt, |out| json::write(out, &snapshot.weighed, &options))
    }
}

impl Default for Input {
    /// Where the process stands.
    fn default() -> Self {
        Input::Roots(vec![".".into()])
    }
}

impl Default for Keep {
    fn default() -> Self {
        Keep::Everything(Inodes::None)
    }
}
