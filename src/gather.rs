//! Gathers what is asked for, from a walk or from a saved scan, saves it if it is to be saved, and
//! compares it with an earlier one if it is to be compared.

use std::io;
use std::path::Path;

use crate::changes::Changes;
use crate::cli::{Gather, Plan, Source};
use crate::measure::Measure;
use crate::problem::{Operation, Problem};
use crate::render::json;
use crate::scan::{self, Origin, Scan};
use crate::tally::{Inodes, Limits, Tally, Top, Tree, Whole, replay};
use crate::terminal::Progress;
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
            None => (None, self.scan.walked.report.as_ref().map(|tree| tree.totals.size)),
        }
    }
}

/// Gathers what `plan` asks for: everything, where there is something else to be done with it than
/// to show the largest.
///
/// # Errors
/// Why a saved scan cannot be loaded. What cannot be walked is among the scan's problems.
pub fn gather(plan: &Plan) -> Result<Gathered, Problem> {
    let mut scan = match (plan.everything, plan.gather) {
        (Some(inodes), _) => with(plan, Whole { inodes })?,
        (None, Gather::Whole) => with(plan, Whole::default())?,
        (None, Gather::Top(limits)) => with(plan, Top::new(limits))?,
        (None, Gather::Groups(groups)) => with(plan, groups)?,
    };
    let saved = plan.save.as_ref().map_or(Ok(()), |to| save(to, &scan));
    let mut changes = None;
    scan.walked.report = match (scan.walked.report, &plan.since) {
        (Some(now), Some(since)) => {
            let both = changes.insert(Changes::new(earlier(since, scan.measure)?, now));
            Some(both.largest(match plan.gather {
                Gather::Top(limits) => limits,
                Gather::Whole | Gather::Groups(_) => Limits::NONE,
            }))
        }
        (Some(whole), None) if plan.everything.is_some() => Some(match plan.gather {
            Gather::Whole => whole,
            Gather::Top(limits) => replay(&whole, Top::new(limits)),
            Gather::Groups(groups) => replay(&whole, groups),
        }),
        (report, _) => report,
    };
    Ok(Gathered { scan, changes, saved })
}

fn with<T: Tally<Report = Tree> + 'static>(plan: &Plan, tally: T) -> Result<Scan<Tree>, Problem> {
    let roots = match &plan.source {
        Source::Roots(roots) => roots,
        Source::Scan(path, measure) => {
            let scan = scan::load(path, *measure, tally)?;
            let lack = lack(plan, &scan).map(io::Error::other);
            let problem = lack.map(|lack| scan::problem(path, Operation::Load, &lack));
            return problem.map_or(Ok(scan), Err);
        }
    };
    let has_details = plan.everything == Some(Inodes::All);
    let origin =
        plan.save.as_ref().map(|_| Origin::here(roots, plan.counting.clone(), has_details));
    let mut progress = Progress::new(plan.progress, plan.format.clone());
    let (roots, options) = (roots.clone(), plan.walk.clone());
    let walked = walk::walk(roots, options, tally, |snapshot| progress.draw(snapshot));
    progress.erase();
    Ok(Scan { walked, measure: plan.walk.measure, origin })
}

/// What a saved scan does not say and groups are made of.
fn lack(plan: &Plan, scan: &Scan<Tree>) -> Option<&'static str> {
    let Gather::Groups(_) = plan.gather else { return None };
    let needs_details = plan.walk.query.times || plan.walk.query.owner;
    match &scan.origin {
        None => {
            Some("what -j prints says too little to be grouped; what --save writes says enough")
        }
        Some(origin) if needs_details && !origin.has_details => {
            Some("it was saved without --details")
        }
        Some(_) => None,
    }
}

/// The scan to compare with.
fn earlier(path: &Path, measure: Measure) -> Result<Tree, Problem> {
    let scan = scan::load(path, Some(measure), Whole { inodes: Inodes::Directories })?;
    let nothing = || io::Error::other("nothing could be read when it was made");
    scan.walked.report.ok_or_else(|| scan::problem(path, Operation::Load, &nothing()))
}

/// Half a scan would be taken for a whole one later, and so is not saved.
fn save(to: &Path, scan: &Scan<Tree>) -> Result<(), Problem> {
    if scan.walked.is_interrupted {
        let interrupted = io::ErrorKind::Interrupted.into();
        return Err(scan::problem(to, Operation::Save, &interrupted));
    }
    let (measure, origin) = (scan.measure, scan.origin.clone());
    let options = json::Options { measure, origin, ..json::Options::default() };
    scan::save(to, |out| json::write(out, &scan.walked, &options))
}
