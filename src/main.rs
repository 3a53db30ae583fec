//! The program: parse, walk, render, exit status.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::slice;
use std::sync::Arc;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use weigh::cli::{self, Plan};
use weigh::gather::{self, Gathered};
use weigh::interrupt::Interrupt;
use weigh::problem::Problem;
use weigh::render::{self, errors, stats};
use weigh::scan::Scan;

/// What was not read, or could not be written.
const INCOMPLETE: u8 = 1;
/// It is more than it may be.
const OVER: u8 = 3;
/// Ended by Ctrl-C: 128 + SIGINT, as shells have it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let plan = cli::parse();
    if let Err(error) = on_interrupt(&plan.interrupt) {
        say(&format!("weigh: cannot listen for Ctrl-C: {error}\n"));
    }
    let gathered = match gather::gather(&plan) {
        // Left to the end of the process: taking a tree of millions apart takes time for nothing.
        Ok(gathered) => Box::leak(Box::new(gathered)),
        Err(problem) => {
            let failed = fail(&problem);
            let is_asked = plan.interrupt.is_asked();
            return if is_asked { ExitCode::from(INTERRUPTED) } else { failed };
        }
    };

    let printed = print(&plan, gathered);
    let is_over = plan.bounds.are_exceeded(gathered.sizes());
    let Gathered { scan: Scan { walked, .. }, saved, .. } = gathered;
    if let Err(problem) = saved {
        fail(problem);
    }
    if let Err(error) = printed {
        // Whoever read it has what he wants.
        if error.kind() == io::ErrorKind::BrokenPipe {
            return status(is_over, saved.is_ok());
        }
        say(&format!("weigh: cannot write the output: {error}\n"));
        return ExitCode::from(INCOMPLETE);
    }
    let has_totals = walked.report.is_some() && !walked.is_interrupted;
    say(&errors::summary(&walked.problems, plan.print_errors, has_totals));
    if plan.stats {
        say(&stats::table(&walked.gears));
    }
    if walked.is_interrupted {
        say("weigh: interrupted; totals are a lower bound\n");
        return ExitCode::from(INTERRUPTED);
    }
    status(is_over, walked.is_complete() && saved.is_ok())
}

fn status(is_over: bool, is_complete: bool) -> ExitCode {
    ExitCode::from(if is_over { OVER } else { u8::from(!is_complete) * INCOMPLETE })
}

/// In the order in which the handler does it.
fn on_interrupt(interrupt: &Interrupt) -> io::Result<()> {
    let Interrupt { is_asked, ends_at_once } = interrupt;
    flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(ends_at_once))?;
    flag::register(SIGINT, Arc::clone(is_asked))?;
    flag::register(SIGINT, Arc::clone(ends_at_once))?;
    Ok(())
}

fn print(plan: &Plan, gathered: &Gathered) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let Gathered { scan: Scan { walked, measure, .. }, changes, .. } = gathered;
    render::write(&mut out, walked, changes.as_ref(), &plan.output(*measure))?;
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
