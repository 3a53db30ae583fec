//! Gathers what is asked for, from a walk or from a saved scan, and saves it if it is to be saved.

use std::io;

use crate::cli::{self, Gather, Plan, Save, Source};
use crate::problem::{Operation, Problem};
use crate::render::json;
use crate::scan::{self, Origin, Scan};
use crate::tally::{Tally, Top, Tree, Whole, replay};
use crate::terminal::Progress;
use crate::walk;

/// What `plan` asks for: everything if there is something else to be done with it than to show it.
///
/// # Errors
/// Why a saved scan cannot be loaded. What cannot be walked is among the scan's problems.
pub fn gather(plan: &Plan) -> Result<Scan<Tree>, Problem> {
    match (&plan.save, plan.gather) {
        (Some(Save { inodes, .. }), _) => with(plan, Whole { inodes: *inodes }),
        (None, Gather::Whole) => with(plan, Whole::default()),
        (None, Gather::Top(limits)) => with(plan, Top::new(limits)),
        (None, Gather::Groups(groups)) => with(plan, groups),
    }
}

fn with<T: Tally<Report = Tree> + 'static>(plan: &Plan, tally: T) -> Result<Scan<Tree>, Problem> {
    let roots = match &plan.source {
        Source::Roots(roots) => roots,
        Source::Scan(path, measure) => return scan::load(path, *measure, tally),
    };
    let origin = plan.save.as_ref().map(|_| Origin::here(roots, cli::counting()));
    let mut progress = Progress::new(plan.progress, plan.format.clone());
    let (roots, options) = (roots.clone(), plan.walk.clone());
    let walked = walk::walk(roots, options, tally, |snapshot| progress.draw(snapshot));
    progress.erase();
    Ok(Scan { walked, measure: plan.walk.measure, origin })
}

/// Saves what was gathered, if it is to be saved, and leaves of it what is to be shown.
///
/// # Errors
/// Why it could not be saved; it is shown all the same.
pub fn keep(plan: &Plan, scan: &mut Scan<Tree>) -> Result<(), Problem> {
    let Some(to) = &plan.save else { return Ok(()) };
    let saved = save(to, scan);
    scan.walked.report = scan.walked.report.take().map(|whole| match plan.gather {
        Gather::Whole => whole,
        Gather::Top(limits) => replay(&whole, Top::new(limits)),
        Gather::Groups(groups) => replay(&whole, groups),
    });
    saved
}

/// Half a scan would be taken for a whole one later, and so is not saved.
fn save(to: &Save, scan: &Scan<Tree>) -> Result<(), Problem> {
    if scan.walked.is_interrupted {
        let interrupted = io::ErrorKind::Interrupted.into();
        return Err(scan::problem(&to.path, Operation::Save, &interrupted));
    }
    let (measure, origin) = (scan.measure, scan.origin.clone());
    let options = json::Options { measure, full_paths: false, origin };
    scan::save(&to.path, |out| json::write(out, &scan.walked, &options))
}
