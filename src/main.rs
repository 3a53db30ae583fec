//! The program: parse, report, render, exit status.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use weigh::cli;
use weigh::interrupt;
use weigh::problem::{Operation, Problem, reason, unless_closed};
use weigh::render::{self, Output, bounds, doubts, errors, stats};
use weigh::report::{self, Outcome, Request};
use weigh::terminal::ProgressLine;

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
    let messages = &plan.messages;
    let mut progress = ProgressLine::new(plan.progress, messages.formats.of(request.walk.measure));
    let outcome = report::run(request, |so_far| match so_far {
        Some(so_far) => progress.draw(so_far),
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
    let Outcome { snapshot, saved, unmounted, doubts, exceeded, course, .. } = outcome;
    let weighed = &snapshot.weighed;
    if let Err(problem) = saved {
        fail(problem);
    }
    if let Err(error) = &printed {
        say(&format!("weigh: cannot write the output: {}\n", reason(error)));
    }
    say(&errors::not_in_bulk(&course.not_in_bulk));
    say(&errors::unmounted(unmounted));
    let has_totals = weighed.report.is_some() && !weighed.is_interrupted;
    say(&errors::summary(&weighed.problems, messages.print_errors, has_totals));
    if let Some(earlier) = &request.since {
        say(&doubts::summary(doubts, earlier.as_os_str().as_encoded_bytes()));
    }
    if messages.stats {
        say(&stats::table(&course.gears));
    }
    if weighed.is_interrupted {
        say("weigh: interrupted; totals are a lower bound\n");
    }
    let format = messages.formats.of(snapshot.measure);
    for exceeded in &*exceeded {
        say(&bounds::message(exceeded, &format, !weighed.is_complete()));
    }
    ExitCode::from(match (&printed, saved) {
        (Err(_), _) => INCOMPLETE,
        _ if weighed.is_interrupted => INTERRUPTED,
        (_, Err(_)) => INCOMPLETE,
        // Of a lower bound, too: the rest cannot make it less.
        _ if !exceeded.is_empty() => OVER,
        _ => u8::from(!weighed.is_complete()) * INCOMPLETE,
    })
}

fn print(request: &Request, outcome: &Outcome, output: Output) -> io::Result<()> {
    if request.save.as_ref().is_some_and(|to| to.is_stdout) {
        return Ok(());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let Outcome { snapshot, changes, file_systems, .. } = outcome;
    render::write(&mut out, snapshot, changes.as_ref(), file_systems, output)?;
    out.flush()
}

fn fail(problem: &Problem) -> ExitCode {
    say(&errors::one(problem));
    let is_mistake = problem.operation == Operation::Compare;
    ExitCode::from(if is_mistake { MISTAKE } else { INCOMPLETE })
}

/// Writes to stderr. Where that fails there is nowhere left to say so.
fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
