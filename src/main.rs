//! The program: parse, walk, render, exit status.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGXFSZ};
use signal_hook::flag;

use weigh::cli::{self, Plan};
use weigh::gather::{self, Gathered};
use weigh::problem::{Operation, Problem, reason};
use weigh::render::{self, errors, stats};
use weigh::scan::Scan;

/// What was not read, or could not be written.
const INCOMPLETE: u8 = 1;
/// What was asked for makes no sense.
const MISTAKE: u8 = 2;
/// It is more than it may be.
const OVER: u8 = 3;
/// Ended by Ctrl-C: 128 + SIGINT, as shells have it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let plan = cli::parse();
    if let Err(error) = on_interrupt(&plan.walk.interrupt) {
        say(&format!("weigh: cannot listen for Ctrl-C: {error}\n"));
    }
    if plan.save.is_some() {
        // A file that may not grow any more is an error then (EFBIG, setrlimit(2)), and not the end.
        let _ = flag::register(SIGXFSZ, Arc::default());
    }
    let gathered = match gather::gather(&plan) {
        // Left to the end of the process: taking a tree of millions apart takes time for nothing.
        Ok(gathered) => Box::leak(Box::new(gathered)),
        Err(problem) => return fail(&problem),
    };

    // Whoever closes the pipe has what he wants.
    let printed = print(&plan, gathered)
        .or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) });
    let is_over = plan.bounds.are_exceeded(gathered.sizes());
    let Gathered { scan: Scan { walked, .. }, saved, .. } = gathered;
    if let Err(problem) = saved {
        fail(problem);
    }
    if let Err(error) = &printed {
        say(&format!("weigh: cannot write the output: {}\n", reason(error)));
    }
    let has_totals = walked.report.is_some() && !walked.is_interrupted;
    say(&errors::summary(&walked.problems, plan.print_errors, has_totals));
    if plan.stats {
        say(&stats::table(&walked.gears));
    }
    if walked.is_interrupted {
        say("weigh: interrupted; totals are a lower bound\n");
    }
    match printed {
        Err(_) => ExitCode::from(INCOMPLETE),
        Ok(()) if walked.is_interrupted => ExitCode::from(INTERRUPTED),
        Ok(()) if is_over => ExitCode::from(OVER),
        Ok(()) => ExitCode::from(u8::from(!walked.is_complete() || saved.is_err()) * INCOMPLETE),
    }
}

/// The first Ctrl-C ends the walk, and what is weighed by then is shown; the second ends it all.
fn on_interrupt(interrupt: &Arc<AtomicBool>) -> io::Result<()> {
    flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(interrupt))?;
    flag::register(SIGINT, Arc::clone(interrupt))?;
    Ok(())
}

fn print(plan: &Plan, gathered: &Gathered) -> io::Result<()> {
    if plan.save.as_ref().is_some_and(|to| to.is_stdout) {
        return Ok(());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let Gathered { scan: Scan { walked, measure, .. }, changes, .. } = gathered;
    render::write(&mut out, walked, changes.as_ref(), &plan.output(*measure))?;
    out.flush()
}

fn fail(problem: &Problem) -> ExitCode {
    say(&errors::summary(slice::from_ref(problem), true, false));
    let is_mistake = problem.operation == Operation::Compare;
    ExitCode::from(if is_mistake { MISTAKE } else { INCOMPLETE })
}

/// Writes to stderr. Where that fails there is nowhere left to say so.
fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
