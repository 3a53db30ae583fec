//! The program: parse, walk, render, exit status.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use weigh::cli::{self, Output, Plan};
use weigh::gather;
use weigh::problem::Problem;
use weigh::render::{errors, json, stats, tree};
use weigh::scan::Scan;
use weigh::tally::Tree;

/// What was not read, or could not be written.
const INCOMPLETE: u8 = 1;
/// Ended by Ctrl-C: 128 + SIGINT, as shells have it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let plan = cli::parse();
    if let Err(error) = on_interrupt(&plan.walk.interrupt) {
        say(&format!("weigh: cannot listen for Ctrl-C: {error}\n"));
    }
    let mut scan = match gather::gather(&plan) {
        Ok(scan) => scan,
        Err(problem) => return fail(&problem),
    };
    let kept = gather::keep(&plan, &mut scan);

    if let Err(error) = print(&plan, &scan) {
        // Whoever read it has what he wants.
        if error.kind() == io::ErrorKind::BrokenPipe {
            return kept.err().map_or(ExitCode::SUCCESS, |problem| fail(&problem));
        }
        say(&format!("weigh: cannot write the output: {error}\n"));
        return ExitCode::from(INCOMPLETE);
    }
    let walked = scan.walked;
    let has_totals = walked.report.is_some() && !walked.is_interrupted;
    say(&errors::summary(&walked.problems, plan.print_errors, has_totals));
    if let Err(problem) = &kept {
        fail(problem);
    }
    if plan.stats {
        say(&stats::table(&walked.gears));
    }
    if walked.is_interrupted {
        say("weigh: interrupted; totals are a lower bound\n");
        return ExitCode::from(INTERRUPTED);
    }
    ExitCode::from(if walked.is_complete() && kept.is_ok() { 0 } else { INCOMPLETE })
}

/// The first Ctrl-C ends the walk, and what is weighed by then is shown; the second ends it all.
fn on_interrupt(interrupt: &Arc<AtomicBool>) -> io::Result<()> {
    flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(interrupt))?;
    flag::register(SIGINT, Arc::clone(interrupt))?;
    Ok(())
}

fn print(plan: &Plan, scan: &Scan<Tree>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match (plan.output(scan.measure), &scan.walked.report) {
        (Output::Json(options), _) => json::write(&mut out, &scan.walked, &options)?,
        (Output::Tree(options), Some(report)) => tree::draw(&mut out, report, &options)?,
        (Output::Tree(_), None) => {}
    }
    out.flush()
}

fn fail(problem: &Problem) -> ExitCode {
    say(&errors::summary(slice::from_ref(problem), true, false));
    ExitCode::from(INCOMPLETE)
}

/// Writes to stderr. Where that fails there is nowhere left to say so.
fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
