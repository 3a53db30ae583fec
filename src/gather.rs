//! Gathers what is asked for, from a walk or from a saved scan, saves it if it is to be saved, and
//! compares it with an earlier one if it is to be compared.

use std::ffi::OsString;
use std::io;
use std::num::NonZeroUsize;

use crate::changes::Changes;
use crate::cli::{Gather, Plan, Source};
use crate::measure::Measure;
use crate::problem::{Operation, Problem};
use crate::render::json;
use crate::scan::{self, Destination, Origin, Scan};
use crate::tally::{Inodes, Tally, Top, Whole, replay};
use crate::terminal::Progress;
use crate::tree::Tree;
use crate::walk;

/// What was gathered.
#[derive(Debug)]
pub struct Gathered {
    /// What is to be shown; where it is compared, with the churn as sizes.
    pub scan: Scan<Tree>,
    /// What changed since an earlier scan.
    pub changes: Option<Changes>,
    /// Whether it was saved, if it was to be.
    pub saved: Result<(), Problem>,
}

impl Gathered {
    /// What it comes to, before and now.
    pub fn sizes(&self) -> (Option<u64>, Option<u64>) {
        match &self.changes {
            Some(changes) => changes.root().sizes(),
            None => (None, self.scan.walked.report.as_ref().map(|tree| tree.root().size())),
        }
    }
}

/// Gathers what `plan` asks for: everything, where there is something else to be done with it than
/// to show the largest.
///
/// # Errors
/// Why a saved scan cannot be loaded. What cannot be walked is among the scan's problems.
pub fn gather(plan: &Plan) -> Result<Gathered, Problem> {
    let (mut scan, before) = match &plan.source {
        // A walk takes long, and what it is compared with may be what is saved over.
        Source::Roots(_) => {
            let before = earlier(plan, plan.walk.measure, Some(&plan.counting))?;
            (now(plan)?, before)
        }
        Source::Scan(..) => {
            let scan = now(plan)?;
            let options = scan.origin.as_ref().and_then(|origin| origin.options.as_deref());
            let before = earlier(plan, scan.measure, options)?;
            (scan, before)
        }
    };
    if let Some(options) = scan.origin.as_mut().and_then(|origin| origin.options.as_mut()) {
        // As it may be saved again.
        let is_new = |flag: &&String| !options.contains(flag);
        let new: Vec<_> = plan.counting.iter().filter(is_new).cloned().collect();
        options.extend(new);
    }
    let threads = plan.walk.threads;
    let saved = plan.save.as_ref().map_or(Ok(()), |to| save(to, &scan, threads));
    if plan.is_by_saved_time && plan.save.is_some() {
        scan::by_time(&mut scan, plan.everything.unwrap_or_default());
    }
    let mut changes = None;
    scan.walked.report = match (scan.walked.report, before) {
        (Some(now), Some(before)) => {
            let both = match plan.gather {
                Gather::Groups(groups, _) => {
                    let now = if plan.everything.is_some() { replay(&now, groups) } else { now };
                    Changes::new(replay(&before, groups), now)
                }
                Gather::Whole | Gather::Top(_) => Changes::new(before, now),
            };
            Some(changes.insert(both).largest(match plan.gather {
                Gather::Top(limits) | Gather::Groups(_, limits) => Some(limits),
                Gather::Whole => None,
            }))
        }
        (Some(whole), None) if plan.everything.is_some() => Some(match plan.gather {
            Gather::Whole => whole,
            Gather::Top(limits) => replay(&whole, Top::new(limits)),
            Gather::Groups(groups, _) => replay(&whole, groups),
        }),
        (report, _) => report,
    };
    Ok(Gathered { scan, changes, saved })
}

fn now(plan: &Plan) -> Result<Scan<Tree>, Problem> {
    match (plan.everything, plan.gather) {
        (Some(inodes), _) => with(plan, Whole { inodes }),
        (None, Gather::Whole) => with(plan, Whole::default()),
        (None, Gather::Top(limits)) => with(plan, Top::new(limits)),
        (None, Gather::Groups(groups, _)) => with(plan, groups),
    }
}

fn with<T: Tally<Report = Tree> + 'static>(plan: &Plan, tally: T) -> Result<Scan<Tree>, Problem> {
    match &plan.source {
        Source::Roots(roots) => Ok(walked(plan, roots, tally)),
        Source::Scan(path, measure) => {
            let scan = scan::load(path, *measure, tally)?;
            with_enough(plan, scan).map_err(|error| scan::problem(path, Operation::Load, &error))
        }
    }
}

fn walked<T>(plan: &Plan, roots: &[OsString], tally: T) -> Scan<Tree>
where
    T: Tally<Report = Tree> + 'static,
{
    let has_details = plan.everything == Some(Inodes::All);
    let origin =
        plan.save.as_ref().map(|_| Origin::here(roots, plan.counting.clone(), has_details));
    let mut progress = Progress::new(plan.progress, plan.format.clone());
    let (roots, options) = (roots.to_owned(), plan.walk.clone());
    let walked = walk::walk(roots, options, tally, |snapshot| progress.draw(snapshot));
    progress.erase();
    Scan { walked, measure: plan.walk.measure, origin }
}

/// What filters leave of a loaded scan, if it says what it takes to show that.
fn with_enough(plan: &Plan, mut scan: Scan<Tree>) -> io::Result<Scan<Tree>> {
    ensure_enough(plan, &scan, plan.wants_details)?;
    if let Some(misfit) = plan.misfit(scan.measure) {
        return Err(io::Error::other(misfit));
    }
    let kept = plan.everything.unwrap_or_default();
    if let Some(origin) = &mut scan.origin {
        // As it may be saved again.
        origin.has_details = kept == Inodes::All;
    }
    // Sizes are what is saved again.
    let is_by_time = plan.is_by_saved_time && plan.save.is_none();
    let measure = if is_by_time { scan::TIMES } else { scan.measure };
    scan::sift(&mut scan, &plan.walk.filter, measure, kept)?;
    Ok(scan)
}

/// Whether a loaded scan says what groups are made of, and has details if those are wanted.
fn ensure_enough(plan: &Plan, scan: &Scan<Tree>, wants_details: bool) -> io::Result<()> {
    match &scan.origin {
        None if wants_details || matches!(plan.gather, Gather::Groups(..)) => {
            Err(io::Error::other(scan::TOO_LITTLE))
        }
        Some(origin) if wants_details && !origin.has_details => {
            Err(io::Error::other("it was saved without --details, and so without times"))
        }
        _ => Ok(()),
    }
}

/// The scan to compare with, if there is one, without what is left out of this one, which was made with
/// `options`, as far as that is known.
fn earlier(
    plan: &Plan,
    measure: Measure,
    options: Option<&[String]>,
) -> Result<Option<Tree>, Problem> {
    let Some(path) = &plan.since else { return Ok(None) };
    let filter = &plan.walk.filter;
    let by_details = matches!(plan.gather, Gather::Groups(groups, _) if groups.needs_details());
    let is_asked = by_details || filter.times.modified.is_some();
    let inodes = if is_asked { Inodes::All } else { Inodes::DatedDirectories };
    let mut scan = scan::load(path, Some(measure), Whole { inodes })?;
    if let (Some(options), Some(origin)) = (options, &scan.origin)
        && let Some(difference) = scan::difference(options, &plan.counting, origin)
    {
        let message = difference.message(matches!(plan.source, Source::Scan(..)));
        let error = io::Error::other(message);
        return Err(scan::problem(path, Operation::Compare, &error));
    }
    let compared = || {
        ensure_enough(plan, &scan, by_details)?;
        if let Some(origin) = &scan.origin {
            let filter = filter.of_saved(origin.has_details);
            scan::sift(&mut scan, &filter, measure, inodes)?;
        }
        let nothing = || io::Error::other("nothing could be read when it was made");
        scan.walked.report.ok_or_else(nothing).map(Some)
    };
    compared().map_err(|error| scan::problem(path, Operation::Load, &error))
}

/// Half a scan would be taken for a whole one later, and so is not saved.
fn save(to: &Destination, scan: &Scan<Tree>, threads: Option<NonZeroUsize>) -> Result<(), Problem> {
    if scan.walked.is_interrupted {
        let interrupted = io::ErrorKind::Interrupted.into();
        return Err(scan::problem(&to.path, Operation::Save, &interrupted));
    }
    let (measure, origin) = (scan.measure, scan.origin.clone());
    let options = json::Options { measure, origin, threads, ..json::Options::default() };
    scan::save(to, |out| json::write(out, &scan.walked, &options))
}
