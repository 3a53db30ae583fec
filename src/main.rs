//! The program: parse, walk, render, exit status.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use weigh::cli::{self, Gather, Output, Plan};
use weigh::render::{errors, json, tree};
use weigh::tally::{Tally, Top, Tree, Whole};
use weigh::terminal::Progress;
use weigh::walk::{self, Walked};

/// What was not read, or could not be written.
const INCOMPLETE: u8 = 1;
/// Ended by Ctrl-C: 128 + SIGINT, as shells have it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let mut plan = cli::parse();
    if let Err(error) = on_interrupt(&plan.walk.interrupt) {
        say(&format!("weigh: cannot listen for Ctrl-C: {error}\n"));
    }
    let walked = match plan.gather {
        Gather::Whole => weigh(&mut plan, Whole),
        Gather::Top(limits) => weigh(&mut plan, Top::new(limits)),
        Gather::Groups(groups) => weigh(&mut plan, groups),
    };

    if let Err(error) = print(&plan, &walked) {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return ExitCode::SUCCESS;
        }
        say(&format!("weigh: cannot write the output: {error}\n"));
        return ExitCode::from(INCOMPLETE);
    }
    let has_totals = walked.report.is_some() && !walked.is_interrupted;
    say(&errors::summary(&walked.problems, plan.print_errors, has_totals));
    if walked.is_interrupted {
        say("weigh: interrupted; totals are a lower bound\n");
        return ExitCode::from(INTERRUPTED);
    }
    ExitCode::from(if walked.is_complete() { 0 } else { INCOMPLETE })
}

fn weigh<T: Tally<Report = Tree> + 'static>(plan: &mut Plan, tally: T) -> Walked<Tree> {
    let mut progress = Progress::new(plan.progress, plan.format.clone());
    let roots = std::mem::take(&mut plan.roots);
    let walked = walk::walk(roots, plan.walk.clone(), tally, |snapshot| progress.draw(snapshot));
    progress.erase();
    walked
}

/// The first Ctrl-C ends the walk, and what is weighed by then is shown; the second ends it all.
fn on_interrupt(interrupt: &Arc<AtomicBool>) -> io::Result<()> {
    flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(interrupt))?;
    flag::register(SIGINT, Arc::clone(interrupt))?;
    Ok(())
}

fn print(plan: &Plan, walked: &Walked<Tree>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match (&plan.output, &walked.report) {
        (Output::Json(options), report) => {
            let (problems, is_complete) = (&walked.problems, walked.is_complete());
            json::write(&mut out, report.as_ref(), problems, is_complete, *options)?;
        }
        (Output::Tree(options), Some(report)) => tree::draw(&mut out, report, options)?,
        (Output::Tree(_), None) => {}
    }
    out.flush()
}

/// Writes to stderr. Where that fails there is nowhere left to say so.
fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
