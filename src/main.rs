//! The program: parse, ask, show, exit status.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use weigh::app::browse::{self, BrowseOptions};
use weigh::app::clean;
use weigh::app::cli::{self, MISTAKE, Messages, Plan};
use weigh::app::signals::{self, SIGNALLED, SecondCtrlC};
use weigh::app::terminal::{self, Lines, Message, ProgressLine, say};
use weigh::app::watch;
use weigh::internal::ask::{self, Input, Outcome, Request, causes};
use weigh::internal::base::escape::escape;
use weigh::internal::show::{self, Form, Output, errors, file_systems, progress};
use weigh::internal::sys;
use weigh::internal::sys::problem::{Operation, Problem, unless_closed};

/// musl's own allocator has one lock for all threads: with it, walking took up to twice as long (packaging/README.md).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Something was not read, or could not be written.
const INCOMPLETE: u8 = 1;
/// A bound is exceeded.
const OVER: u8 = 3;
/// Ended by Ctrl-C: 128 + SIGINT.
const INTERRUPTED: u8 = SIGNALLED + 2;

fn main() -> ExitCode {
    let mut plan = cli::parse();
    if plan.request.file_systems && plan.browse.is_none() && show_at_once(&mut plan).is_err() {
        return ExitCode::from(INCOMPLETE);
    }
    let request = &plan.request;
    if let Some(watching) = plan.watching {
        return ExitCode::from(watch::run(request, watching, &plan.messages, plan.progress));
    }
    if let Some(browse) = plan.browse {
        return look_around(request, browse, &plan.messages);
    }
    let second = signals::listen(&request.interrupt, INTERRUPTED);
    // If this fails, weigh ends like any other program.
    let _ = signals::outlive_size_limit();
    let messages = &plan.messages;
    let deaf = second.as_ref().err();
    note(deaf.map(|error| format!("cannot listen for Ctrl-C: {error}")), messages);
    let roots = match &request.source {
        Input::Roots(roots) if request.walk.is_of_all() => roots.clone(),
        _ => Vec::new(),
    };
    let format = messages.format.of(request.walk.view.measure);
    let one_file_system = request.walk.one_file_system;
    // Who reads a file knows what was asked for.
    let mounts = match !one_file_system && terminal::is_stdout() && terminal::is_stderr() {
        true => roots.clone(),
        false => Vec::new(),
    };
    let mut line = plan.progress.then(|| ProgressLine::new(format, roots, one_file_system));
    let outcome = ask::run(request, |progress| {
        if let Some(line) = &mut line {
            line.show(progress);
        }
    });
    let outcome: &Outcome = match outcome {
        // Not dropped, because to take a tree of millions apart at the end takes time for nothing.
        Ok(outcome) => Box::leak(Box::new(outcome)),
        Err(problem) => {
            terminal::fail(&problem.lines(), matches!(plan.output, Output::Form(Form::Json, _)));
            note_hosts(request, std::slice::from_ref(&problem), &plan.messages);
            let is_asked = request.interrupt.is_asked();
            return ExitCode::from(if is_asked {
                INTERRUPTED
            } else {
                status_of(request, &problem)
            });
        }
    };
    let mut second = second.ok();
    // While something is removed, nothing else may end the program.
    let is_plain = plan.cleaning.is_some();
    let of_lines = if is_plain { None } else { second.take() };
    // The first time, weigh diff has no answer but its note.
    let has_answer = messages.first.is_none() || !matches!(plan.output, Output::Picture(_));
    let printed = match has_answer {
        true => {
            let output = (plan.output, plan.asks_background, is_plain);
            unless_closed(print(request, outcome, output, of_lines))
        }
        false => Ok(()),
    };
    let Outcome { unsaved, other_files, exceeded, stats, .. } = outcome;
    let report = &outcome.snapshot.report;
    say(Message::Error, unsaved.iter().chain(other_files).map(Problem::lines));
    note(errors::removed("--keep", &outcome.removed), messages);
    note(errors::of_other_hosts(outcome.of_other_hosts), messages);
    let hosts = outcome.history.as_ref().map_or(&[][..], |history| &history.hosts);
    note(errors::several_hosts(hosts), messages);
    say(Message::Error, printed.as_ref().err().map(cli::unprinted));
    note(errors::sharing(stats.sharing), messages);
    let measure = outcome.snapshot.view.measure;
    if let Input::Roots(_) = request.source {
        note(errors::not_loaded(report.answer.as_ref()), messages);
    }
    if messages.notes {
        let mounted = sys::mounted_below(&mounts);
        say(Message::Note, errors::mounted_below(mounted, &messages.format));
    }
    note(errors::measures(stats.measures_differ, measure), messages);
    let refused = outcome.reclaimable.iter().flat_map(|found| &found.refused);
    note(refused.cloned(), messages);
    let short_of = outcome.reclaimable.as_ref().and_then(|found| found.short_of);
    let short_of = short_of.map(|bytes| messages.format.write(bytes));
    note(short_of.map(|bytes| format!("less than the {bytes} of --free can go")), messages);
    let has_totals = report.answer.is_some() && !report.is_interrupted;
    say_how_it_went(request, outcome, has_totals, messages);
    if report.is_interrupted {
        say(Message::Error, ["interrupted; totals are a lower bound"]);
    }
    let format = messages.format.of(measure);
    let tree = report.answer.as_ref();
    let exceeded_by = |it| errors::exceeded(it, tree, (measure, &format), !report.is_complete());
    say(Message::Error, exceeded.iter().map(exceeded_by));
    let cleaned = match &plan.cleaning {
        Some(cleaning) if printed.is_ok() && !report.is_interrupted => {
            clean::apply(request, outcome, cleaning, &messages.format, second)
        }
        Some(_) => 0,
        None => clean::note_unplanned(outcome),
    };
    ExitCode::from(match (&printed, unsaved) {
        (Err(_), _) => INCOMPLETE,
        _ if cleaned > 0 => cleaned,
        // An interrupted scan in a loaded snapshot does not count.
        _ if report.is_interrupted && request.interrupt.is_asked() => INTERRUPTED,
        (_, Some(problem)) => status_of(request, problem),
        _ if !other_files.is_empty() => INCOMPLETE,
        // Also if the figure is a lower bound, because the rest can only add to it.
        _ if !exceeded.is_empty() => OVER,
        _ => u8::from(!outcome.is_complete()) * INCOMPLETE,
    })
}

/// Prints what is known about file systems before they are scanned: first how full they are, because it takes longer to
/// ask all processes for open files.
fn show_at_once(plan: &mut Plan) -> io::Result<()> {
    let mut found = causes::at_once(&mut plan.request);
    let are_listed = matches!(plan.request.source, Input::FileSystems);
    note(errors::inside(&found.inside), &plan.messages);
    note(errors::without_inodes(&found.without_inodes), &plan.messages);
    let picture = match &plan.output {
        Output::Picture(options) if !found.file_systems.is_empty() => Some(options),
        _ => None,
    };
    let print = |lines: String| {
        let printed = unless_closed(terminal::print(lines.as_bytes()));
        say(Message::Error, printed.as_ref().err().map(cli::unprinted));
        printed
    };
    if let Some(options) = picture {
        print(file_systems::capacities(&found.file_systems, are_listed, options))?;
    }
    if are_listed || picture.is_some() {
        causes::find_deleted(&mut found.file_systems, &plan.request.interrupt.is_asked);
    }
    if let Some(options) = picture {
        print(file_systems::deleted(&found.file_systems, are_listed, options))?;
    }
    if are_listed {
        plan.request.known = found.file_systems;
    }
    Ok(())
}

/// Browses, and prints what came of it.
fn look_around(request: &Request, options: BrowseOptions, messages: &Messages) -> ExitCode {
    if let Input::Remote(remote, _) = &request.source {
        // Before there is a screen, because ssh may ask for a password.
        remote.call();
    }
    let log = options.directories.log().unwrap_or_default();
    let ended = match browse::run(request, options) {
        Ok(ended) => ended,
        Err(problem) => {
            say(Message::Error, [problem.lines()]);
            note_hosts(request, std::slice::from_ref(&problem), messages);
            return ExitCode::from(status_of(request, &problem));
        }
    };
    let printed = ended.printed.map_or(Ok(()), |paths| terminal::print(&paths));
    let printed = unless_closed(printed);
    say(Message::Error, printed.as_ref().err().map(cli::unprinted));
    say(Message::Error, errors::losses(&ended.kept, true, false));
    if ended.unfinished {
        let log = escape(log.as_os_str().as_encoded_bytes());
        let message = "a delete did not finish: the last lines of";
        say(Message::Error, [format!("{message} {log} say where the entries are")]);
    }
    say(Message::Error, &ended.failure);
    let in_trash = ended.in_trash.map(|(count, size)| {
        let (entries, them) = match count {
            1 => ("1 entry is".to_owned(), "it"),
            _ => (format!("{count} entries are"), "them"),
        };
        format!(
            "{entries} in the trash ({size}): your file manager puts {them} back\n\
             weigh clean --empty-trash frees the space"
        )
    });
    note(in_trash, messages);
    if let Some(browsed) = &ended.browsed {
        say_how_it_went(request, browsed, false, messages);
    }
    let is_complete = ended.browsed.is_some_and(|it| it.is_complete());
    ExitCode::from(match ended.signal {
        Some(signal) => SIGNALLED + signal,
        None => u8::from(printed.is_err() || ended.has_failed || !is_complete) * INCOMPLETE,
    })
}

fn print(
    request: &Request,
    outcome: &Outcome,
    (mut output, asks_background, is_plain): (Output, bool, bool),
    second: Option<SecondCtrlC>,
) -> io::Result<()> {
    if request.save.as_ref().is_some_and(|to| to.is_stdout) {
        return Ok(());
    }
    let out = terminal::output()?;
    let mut out: Box<dyn Write> = match terminal::shows_colors() && !is_plain {
        true => {
            let mut lines = Lines::new(out, &request.interrupt, second);
            if asks_background && let Some(theme) = lines.background()? {
                output = output.on(theme);
            }
            Box::new(BufWriter::new(lines))
        }
        false => Box::new(BufWriter::new(out)),
    };
    show::write(&mut *out, outcome, output)?;
    out.flush()
}

/// The status after a `problem` that ended weigh. A file that cannot be used is a mistake in a flag.
fn status_of(request: &Request, problem: &Problem) -> u8 {
    let is_of_file = !matches!(request.source, Input::Remote(..) | Input::FileSystems);
    match problem.operation {
        Operation::Compare | Operation::Replace | Operation::Show => MISTAKE,
        Operation::Load if is_of_file => MISTAKE,
        _ => INCOMPLETE,
    }
}

/// Says how the scan went: what was remembered and found on the way, what could not be read, and what that means for a
/// comparison; and what the walk did, if that is asked for.
fn say_how_it_went(request: &Request, outcome: &Outcome, has_totals: bool, messages: &Messages) {
    let Messages { print_errors, may_need_root, .. } = *messages;
    note(messages.swallowed.clone(), messages);
    note(messages.unremembered.map(errors::unremembered), messages);
    let first = messages.first.as_deref();
    note(errors::remembered(outcome.remembered.as_ref(), messages.remembering, first), messages);
    note(errors::not_in_bulk(&outcome.stats.not_in_bulk), messages);
    note(errors::overlays(&outcome.stats.overlays), messages);
    // A snapshot may have been saved with the same filters.
    let has_entries = matches!(request.source, Input::Roots(_)) || outcome.snapshot.is_list;
    if has_all(request, outcome) {
        let filter = &request.walk.filter;
        let unmet = if has_entries { errors::unmet(&filter.typed) } else { Vec::new() };
        let is_said = !unmet.is_empty();
        note(unmet, messages);
        let tree = outcome.snapshot.report.answer.as_ref().filter(|_| !is_said);
        note(errors::unmatched(messages.selected_by.as_deref(), tree), messages);
    }
    note(errors::no_blocks(outcome.stats.has_no_blocks), messages);
    let problems = &outcome.snapshot.report.problems;
    note(errors::cycles(problems), messages);
    let mut losses = errors::losses(problems, print_errors, may_need_root);
    if let (Some(last), Some(hint)) = (losses.last_mut(), cli::meant(problems)) {
        *last += &format!("\n{hint}");
    }
    say(Message::Error, &losses);
    let is_less = has_totals && !losses.is_empty();
    note(is_less.then(|| "totals are a lower bound".to_owned()), messages);
    note_hosts(request, problems, messages);
    say(Message::Error, outcome.history.as_ref().and_then(errors::incomplete));
    // A key of the screen compares with a scan that no flag names.
    let earlier =
        request.since.as_ref().map_or(errors::KEPT, |it| it.as_os_str().as_encoded_bytes());
    let (losses, others): (Vec<_>, Vec<_>) =
        outcome.doubts.iter().partition(|doubt| doubt.is_loss());
    note(errors::doubts(others, earlier), messages);
    say(Message::Error, errors::doubts(losses, earlier));
    note(messages.compared.clone(), messages);
    if messages.stats {
        terminal::complain(&progress::table(&outcome.stats.stages));
    }
}

/// Says which PATHs were taken for names of machines.
fn note_hosts(request: &Request, problems: &[Problem], messages: &Messages) {
    if let Input::Remote(remote, _) = &request.source {
        note(errors::taken_for_hosts(remote.unreached(problems)), messages);
    }
}

/// Whether the filters were asked about all entries.
fn has_all(request: &Request, outcome: &Outcome) -> bool {
    let report = &outcome.snapshot.report;
    report.answer.is_some() && !report.is_interrupted && request.walk.filter.share.is_none()
}

/// Says what is no error, unless only errors are to be said.
fn note(lines: impl IntoIterator<Item = String>, messages: &Messages) {
    if messages.notes {
        say(Message::Note, lines);
    }
}
