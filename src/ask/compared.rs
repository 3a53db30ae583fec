//! Comparisons: the earlier snapshot, which is loaded while a walk runs, and the difference.

use std::collections::BTreeMap;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};

use super::{Earlier, Input, Keep, Now, Request, Weigh};
use crate::ask::diff::{self, Unchanged};
use crate::base::measure::{Measure, Measures, View};
use crate::base::path;
use crate::from::series;
use crate::from::snapshot::{self, Digested, Doubt, Origin, Snapshot, Wanted};
use crate::sys::problem::{Operation, Problem, hinted};
use crate::sys::{self, Query, Symlinks};
use crate::tree::Tree;
use crate::tree::tally::{Groups, Inodes, Limits, Whole};
use crate::tree::total::replay;

impl Request {
    /// The result `now`, and the earlier result, if they are to be compared: by what both have.
    pub(super) fn compared(&self, now: Weigh<'_>) -> Result<(Now, Option<Earlier>), Problem> {
        let view = self.walk.view;
        if let Input::Roots(roots) = &self.source {
            let Some(since) = &self.since else {
                return now(view).map(|now| (now, None));
            };
            let here = self.here(roots);
            let earlier = self.earlier_file(since, &here)?;
            return self.loaded_during(&earlier, &here, now);
        }
        let mut now = now(view)?;
        let snapshot = &mut now.snapshot;
        let mut before = None;
        if let Some(since) = &self.since {
            let loaded = self.loaded_after(since, snapshot);
            let loaded = loaded.map_err(|problem| match &self.source {
                // It lacks the roots of hosts that did not answer.
                Input::Remote(..) => unanswered(snapshot).unwrap_or(problem),
                _ => problem,
            })?;
            before = Some((loaded, None));
        }
        if let Some(options) = snapshot.origin.as_mut().and_then(|origin| origin.options.as_mut()) {
            // The snapshot may be saved again.
            let saved = options.clone();
            options.extend(self.options.iter().filter(|flag| !saved.contains(flag)).cloned());
        }
        Ok((now, before))
    }

    /// A scan of the roots that began at a `time`, in seconds since the epoch, and is seen in this `view`: all but its tree.
    pub fn unscanned(&self, time: i64, view: View) -> Snapshot {
        let origin = match &self.source {
            Input::Roots(roots) => Some(Origin { time, ..self.here(roots) }),
            _ => None,
        };
        Snapshot { origin, view, known: Measures::ALL, ..Snapshot::default() }
    }

    /// The snapshot that `since` stands for, for a comparison with `now`, which is seen as that from then on.
    ///
    /// # Errors
    /// If it cannot be loaded or compared.
    pub fn loaded_after(&self, since: &Path, now: &mut Snapshot) -> Result<Snapshot, Problem> {
        let file = self.earlier_file(since, &now.origin.clone().unwrap_or_default())?;
        let view = now.view;
        // If no flag asks for a measure, that of the earlier snapshot will do.
        let required = self.measure.or((now.known != Measures::ALL).then_some(view.measure));
        let mut loaded = self.earlier(&file, (view, required), now.origin.as_ref(), |_| ())?;
        ensure_same_roots(&file, &loaded, now)?;
        now.set_view(loaded.view);
        loaded.name_roots_as(now);
        Ok(loaded)
    }

    /// Does the `walk`, and loads the snapshot to compare with, the file `earlier`, on a thread of its own. The walk
    /// begins only after the snapshot's header shows that they can be compared, and in which view, because a walk takes
    /// long; or when all of it is loaded, if it has no such header. An error that is found later ends the walk.
    fn loaded_during(
        &self,
        earlier: &Path,
        here: &Origin,
        walk: Weigh<'_>,
    ) -> Result<(Now, Option<Earlier>), Problem> {
        let has_stopped = AtomicBool::new(false);
        let (sender, may_begin) = mpsc::sync_channel(2);
        let asked = (self.walk.view, self.measure);
        let load = {
            let has_stopped = &has_stopped;
            // The thread owns the sender: so a panic there ends the wait for it, and so does a thread that cannot be
            // started.
            move || {
                // Sending cannot fail, because the receiver outlives this thread. It takes one message, and there is
                // room for the other two.
                let loaded = self.digested(earlier, asked, here, |view| {
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
            let loader = thread::Builder::new().spawn_scoped(scope, load);
            let view = may_begin.recv().ok().flatten();
            let (now, earlier) = match (loader, view) {
                (Ok(loader), Some(view)) => (walk(view), join(loader)?),
                (loader, _) => {
                    let earlier = match loader {
                        Ok(loader) => join(loader)?,
                        // No thread can be started.
                        Err(_) => self.digested(earlier, asked, here, |_| ())?,
                    };
                    (walk(earlier.0.view), earlier)
                }
            };
            now.map(|now| (now, earlier))
        });
        if has_stopped.load(Ordering::SeqCst) {
            // The user did not ask for it.
            self.interrupt.is_asked.store(false, Ordering::SeqCst);
        }
        let (now, (mut before, digested)) = both?;
        let mut unchanged = None;
        if let Some((digested, now)) = digested.zip(now.snapshot.report.answer.as_ref()) {
            let changed = digested.changed(now, Inodes::DATED_DIRECTORIES);
            let (tree, parts) =
                changed.map_err(|error| snapshot::problem(earlier, Operation::Load, &error))?;
            before.report.answer = Some(tree.in_view(before.view));
            unchanged = Some(Unchanged::Parts(parts));
        }
        ensure_same_roots(earlier, &before, &now.snapshot)?;
        before.name_roots_as(&now.snapshot);
        Ok((now, Some((before, unchanged))))
    }

    /// The file that `since` stands for. The origin of the result is `now`.
    fn earlier_file(&self, since: &Path, now: &Origin) -> Result<PathBuf, Problem> {
        series::newest_like(since, &self.options, now)
    }

    /// The doubts about a comparison of `now` with `before`.
    pub(super) fn doubts(&self, before: Option<&Snapshot>, now: &Snapshot) -> Vec<Doubt> {
        let is_chosen = self.since.as_deref().is_some_and(sys::is_directory);
        before.map_or_else(Vec::new, |before| snapshot::doubts(before, now, is_chosen))
    }

    /// The snapshot to compare with, which is in the file `path`. What this one leaves out is left out of it, too.
    /// It is seen in this `view`; or if it does not have that, and its measure is not `required`, by what it has.
    /// The origin of this one is `now`, if it is known. Calls `begin` with the view as soon as the
    /// header shows that they can be compared, and again when all is read.
    fn earlier(
        &self,
        path: &Path,
        (view, required): (View, Option<Measure>),
        now: Option<&Origin>,
        begin: impl Fn(View),
    ) -> Result<Snapshot, Problem> {
        let needs_owners = self.is_by_owner() || self.walk.filter.query_of_saved().owner;
        let inodes = if needs_owners { Inodes::ALL } else { Inodes::DATED_DIRECTORIES };
        let mut snapshot = snapshot::load_after(
            path,
            self.wanted_earlier(view),
            |_| Whole { inodes },
            |seen, origin| {
                self.ensure_comparable((seen, required), now, origin).map(|()| begin(seen))
            },
        )?;
        if let Some(now) = now {
            let part = snapshot::leave_part(&mut snapshot, now);
            part.map_err(|error| snapshot::problem(path, Operation::Compare, &error))?;
        }
        let has = snapshot.origin.as_ref().map(Origin::attributes).unwrap_or_default();
        let filter = self.walk.filter.of_saved(has);
        snapshot::reweigh(&mut snapshot, &filter, inodes)
            .and_then(|()| match snapshot.report.answer {
                Some(_) => Ok(()),
                None => Err(io::Error::other("nothing could be read when it was made")),
            })
            .map_err(|error| snapshot::problem(path, Operation::Compare, &error))?;
        snapshot.report.check_totals();
        Ok(snapshot)
    }

    /// The snapshot that a walk is compared with: with digests instead of its tree, if only the largest changes are
    /// shown, and neither a filter needs it, nor is it a part of that tree.
    fn digested(
        &self,
        path: &Path,
        asked: (View, Option<Measure>),
        here: &Origin,
        begin: impl Fn(View),
    ) -> Result<(Snapshot, Option<Digested>), Problem> {
        let is_part = || {
            // A pipe can be read once.
            let header = !sys::is_special_file(path) && path.as_os_str() != "-";
            let header = header.then(|| snapshot::read_info(path).ok()).flatten();
            header.is_some_and(|header| snapshot::way_to(&header.origin, here).is_some())
        };
        let is_off = self.walk.filter.of_saved(Query::ALL).is_off();
        if matches!(self.keep, Keep::Largest(_)) && is_off && !is_part() {
            let wanted = self.wanted_earlier(asked.0);
            let read = snapshot::digested(path, wanted, |view, origin| {
                self.ensure_comparable((view, asked.1), Some(here), origin).map(|()| begin(view))
            })?;
            if let Some((snapshot, digested)) = read {
                return Ok((snapshot, Some(digested)));
            }
        }
        Ok((self.earlier(path, asked, Some(here), begin)?, None))
    }

    fn wanted_earlier(&self, view: View) -> Wanted {
        Wanted { measure: Some(view.measure), times: self.needs_times(), ..Wanted::default() }
    }

    /// Checks that a snapshot from `origin`, as it is `seen`, can be compared with a result from `now`, as far as both are
    /// known, and has the measure that is `required`.
    fn ensure_comparable(
        &self,
        (seen, required): (View, Option<Measure>),
        now: Option<&Origin>,
        origin: &Origin,
    ) -> io::Result<()> {
        if let Some(message) = snapshot::other_share(origin, now) {
            return Err(hinted(io::ErrorKind::Other, message));
        }
        if let Some(now) = now {
            let options = now.options.as_deref();
            let differs = options.and_then(|options| {
                snapshot::difference(options, &self.options, origin, self.is_loaded())
            });
            let is_part = snapshot::way_to(origin, now).is_some();
            let other = snapshot::other_roots(origin, now).filter(|_| !is_part);
            if let Some(message) = other.or(differs) {
                return Err(hinted(io::ErrorKind::Other, message));
            }
        }
        if let Some(message) = snapshot::lacks_for_filters(origin, &self.options) {
            return Err(hinted(io::ErrorKind::Other, message));
        }
        self.ensure_enough(Some(origin), (self.is_by_owner(), self.is_by_age()), false)?;
        snapshot::ensure_measure(seen.measure, required)
    }

    /// Leaves the scans that weigh keeps out of a comparison of trees of these roots: each one makes them grow.
    pub(super) fn leave_out_kept(
        &self,
        [before, now]: [&mut Tree; 2],
        origin: Option<&Origin>,
        unchanged: Option<&mut Unchanged>,
    ) {
        let (Some(kept), Some(origin)) = (&self.remember, origin) else { return };
        let store = sys::real_path(&kept.directory, Symlinks::Follow);
        let store = store.map(|path| path.into_os_string().into_encoded_bytes());
        let Ok(store) = store else { return };
        let shown = origin.roots.iter().find_map(|root| {
            let (name, below) = (root.name.as_ref()?, path::below(&store, &root.path)?);
            let names = [&**name, below].into_iter().filter(|name| !name.is_empty());
            Some(BTreeMap::from([(path::join_all(names), ())]))
        });
        let Some(shown) = shown else { return };
        let find = |tree: &Tree| {
            let (place, ()) = tree.at_paths(&shown).pop()?;
            tree.at(place).id()
        };
        let (was, is) = (find(before), find(now));
        if let (Some(Unchanged::Parts(parts)), Some(is)) = (unchanged, is)
            && parts.leave_out(now, is)
        {
            // The tree before lacks it.
            return;
        }
        was.into_iter().for_each(|was| before.empty(was));
        is.into_iter().for_each(|is| now.empty(is));
    }

    /// How what is to be shown has changed in this `view`. What is `unchanged` may be missing in the tree `before`.
    pub(super) fn difference(
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
}

/// Checks that `before`, which is in the file `earlier`, is of the roots of `now`, as far as both are known.
fn ensure_same_roots(earlier: &Path, before: &Snapshot, now: &Snapshot) -> Result<(), Problem> {
    let Some(message) = snapshot::of_other_roots(before, now) else { return Ok(()) };
    Err(snapshot::problem(earlier, Operation::Compare, &hinted(io::ErrorKind::Other, message)))
}

/// The problem of the first host that did not answer, with those of others.
fn unanswered(now: &Snapshot) -> Option<Problem> {
    let problems = now.report.problems.iter();
    let mut problems = problems.filter(|problem| problem.operation == Operation::Load);
    let first = problems.next()?.clone();
    let message = problems.fold(first.message, |message, other| format!("{message}; {other}"));
    Some(Problem { message, ..first })
}

/// What `thread` returns, or its panic.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
