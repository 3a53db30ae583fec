//! The program: parse, report, render, exit status.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::slice;

use weigh::cli;
use weigh::interrupt;
use weigh::problem::{Operation, Problem, reason, unless_closed};
use weigh::render::{self, Output, errors, stats};
use weigh::report::{self, Outcome, Request};
use weigh::terminal::Progress;

/// What was not read, or could not be written.
const INCOMPLETE: u8 = 1;
/// A usage error.
const MISTAKE: u8 = 2;
/// It is more than it may be.
const OVER: u8 = 3;
/// Ended by Ctrl-C: 128 + SIGINT, as shells have it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let plan = cli::parse();
    let request = &plan.request;
    if let Err(error) = interrupt::listen(&request.interrupt, INTERRUPTED) {
        say(&format!("weigh: cannot listen for Ctrl-C: {error}\n"));
    }
    if request.save.is_some() {
        // If that fails, it is as with any other program.
        let _ = interrupt::outlive_size_limit();
    }
    let mut progress = Progress::new(plan.progress, plan.format);
    let outcome = report::run(request, |snapshot| match snapshot {
        Some(snapshot) => progress.draw(snapshot),
        None => progress.erase(),
    });
    let outcome = match outcome {
        // Left to the end of the process: taking a tree of millions apart takes time for nothing.
        Ok(outcome) => Box::leak(Box::new(outcome)),
        Err(problem) => {
            let failed = fail(&problem);
            let is_asked = request.interrupt.is_asked();
            return if is_asked { ExitCode::from(INTERRUPTED) } else { failed };
        }
    };

    let printed = unless_closed(print(request, outcome, plan.output));
    let Outcome { scan, saved, is_over, .. } = outcome;
    let walked = &scan.walked;
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
        Ok(()) if *is_over => ExitCode::from(OVER),
        Ok(()) => ExitCode::from(u8::from(!walked.is_complete() || saved.is_err()) * INCOMPLETE),
    }
}

fn print(request: &Request, outcome: &Outcome, output: Output) -> io::Result<()> {
    if request.save.as_ref().is_some_and(|to| to.is_stdout) {
        return Ok(());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    render::write(&mut out, &outcome.scan, outcome.changes.as_ref(), output)?;
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
