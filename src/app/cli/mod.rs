//! All flags, and the options for each stage.
//!
//! Flags are parsed first and interpreted second: `parse` turns them into a request for [`ask`] and into options
//! for the output, and neither of these contains a flag.
//!
//! [`ask`]: weigh::internal::ask

mod commands;
mod completions;
pub mod config;
mod elsewhere;
mod filters;
mod flags;
mod options;
mod output;
mod pages;
mod parse;
mod refusals;
mod roots;
mod screen;
mod snapshots;

use std::ffi::OsString;
use std::{env, io, mem, process};

use commands::CommandInfo;
use flags::Flags;
use snapshots::Since;

use crate::app::browse::BrowseOptions;
use crate::app::clean::Cleaning;
use crate::app::terminal::{self, Message, say};
use crate::app::watch::Watching;
use weigh::internal::ask::{Bounds, Input, Keep, Request};
use weigh::internal::base::escape::harmless;
use weigh::internal::base::interrupt::Interrupt;
use weigh::internal::scan::filter::Filter;
use weigh::internal::show::size::Format;
use weigh::internal::show::{Form, Output};
use weigh::internal::sys::problem::{Operation, Problem, reason, unless_closed};
use weigh::internal::sys::{self, HOME};

/// The exit status after a usage error.
pub const MISTAKE: u8 = 2;

/// What to do, and how to show it.
#[derive(Debug)]
pub struct Plan {
    /// The request.
    pub request: Request,
    /// How to show the result.
    pub output: Output,
    /// Whether to ask the terminal for its background first.
    pub asks_background: bool,
    /// Whether to show the progress.
    pub progress: bool,
    /// How to browse the result, if it is to be browsed and not shown.
    pub browse: Option<BrowseOptions>,
    /// How to remove what is found, if it is to be removed.
    pub cleaning: Option<Cleaning>,
    /// How to watch, if that is asked for.
    pub watching: Option<Watching>,
    /// What to say on stderr.
    pub messages: Messages,
}

/// What to say on stderr.
#[derive(Clone, Debug)]
pub struct Messages {
    /// How to write bytes.
    pub format: Format,
    /// Whether to say more than errors.
    pub notes: bool,
    /// Whether to print a line for every problem.
    pub print_errors: bool,
    /// Whether root could read what this user may not.
    pub may_need_root: bool,
    /// Whether to say what the walk did.
    pub stats: bool,
    /// That the comparison is with a scan of another host, if it is.
    pub compared: Option<String>,
    /// Why there is no earlier scan to compare with yet.
    pub first: Option<String>,
    /// Why this scan is not to be remembered, if that is to be said.
    pub unremembered: Option<&'static str>,
    /// The flags that select what counts, with their values.
    pub selected_by: Option<String>,
    /// A note about a pattern that may be meant as PATH.
    pub swallowed: Option<String>,
    /// Whether to say where a scan is remembered, and why it could not be.
    pub remembering: (bool, bool),
}

/// Reads the command line, and the config file. Ends the process with status 2 after a usage error, and with 0 after
/// help and other answers.
pub fn parse() -> Plan {
    let args: Vec<OsString> = env::args_os().collect();
    let is_all = args.iter().any(|arg| arg == "--help");
    let answer = |flags: &Flags| {
        let CommandInfo { name, .. } = flags.command;
        let is_shadowed = || !name.is_empty() && sys::exists(name.as_ref());
        if !flags.print.quiet && terminal::is_stderr() && is_shadowed() {
            say(Message::Note, [format!("{name} is a command here, and ./{name} the entry")]);
        }
        commands::answer(flags.command, flags, is_all)?.map_or(Ok(()), |text| print(&text))
    };
    let plan = parse::flags(&args, answer, |flags| match flags.snapshots.lists_kept() {
        true => flags.list_or_forget().map(|never| match never {}),
        false => Plan::new(flags),
    });
    plan.unwrap_or_else(|error| {
        // The message quotes arguments, which may come from a pattern of the shell. So it is made again from
        // escaped arguments, which cannot forge a line.
        let shown = |arg: &OsString| OsString::from(harmless(arg.as_encoded_bytes()));
        let shown: Vec<OsString> = args.iter().map(shown).collect();
        let error = parse::flags(&shown, |_| Ok(()), |_| Ok(())).err().unwrap_or(error);
        let lines: Vec<_> = error.lines().map(|line| harmless(line.as_bytes())).collect();
        terminal::fail(&lines.join("\n"), parse::asks_for_json(&args));
        process::exit(MISTAKE.into())
    })
}

/// How to browse the directory at `path`, as `weigh ui` would.
///
/// # Errors
/// Says why that cannot be done.
pub fn browsing(path: OsString) -> Result<(Request, BrowseOptions), String> {
    let args = ["weigh".into(), "ui".into(), path];
    let plan = parse::flags(&args, |_| Ok(()), Plan::new)?;
    plan.browse.map(|browse| (plan.request, browse)).ok_or_else(|| "there is no screen".to_owned())
}

/// A hint for a missing PATH that may be meant as a command.
pub fn meant(problems: &[Problem]) -> Option<String> {
    let missing = problems.iter().filter(|it| it.operation == Operation::Stat);
    let mut words = missing.filter_map(|it| str::from_utf8(&it.path).ok());
    words.find_map(commands::meant)
}

/// Prints it, and ends the process with 0 unless writing failed.
fn print(answer: &[u8]) -> ! {
    let printed = unless_closed(terminal::print(answer));
    say(Message::Error, printed.as_ref().err().map(unprinted));
    process::exit(printed.is_err().into())
}

/// The line that says why the output could not be written.
pub fn unprinted(error: &io::Error) -> String {
    format!("cannot write the output: {}", reason(error))
}

impl Plan {
    /// The plan, or one line that says what is wrong.
    fn new(mut flags: Flags) -> Result<Self, String> {
        let terminal = terminal::size();
        flags.hosts = flags.roots.hosts()?;
        if flags.snapshots.series.is_some() && !flags.hosts.is_empty() {
            return Err(
                "--series names scans made here, and another machine has a series of its own\nleave it out"
                    .into(),
            );
        }
        let limits = flags.limits(terminal);
        let keep = flags.keep(limits);
        flags.ensure_fit(&keep)?;
        let walk = flags.walk()?;
        let are_listed = flags.roots.are_listed();
        let source = flags.source(&keep, &walk.filter)?;
        let (remember, unfit) = match flags.remember(&walk, &source, are_listed) {
            None => (None, None),
            Some(Ok(remember)) => (Some(remember), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let Since { file: since, note: compared, first } =
            flags.since(&source, remember.is_some())?;
        // Who has it in the config file need not read of each scan that it is remembered, and of what is no scan that it
        // is not.
        let is_scan = matches!(source, Input::Roots(_));
        let says_unfit = flags.is_remember_typed || is_scan && terminal::is_stderr();
        let is_read_first =
            flags.is_loaded() || flags.snapshots.history.is_some() || since.is_some();
        if matches!(&source, Input::Roots(roots) if flags.snapshots.shard.is_some() && roots.len() > 1)
        {
            return Err(
                "--shard takes one PATH, because each share is of one tree\nleave out the others"
                    .into(),
            );
        }
        Ok(Self {
            browse: flags.browse(&source, first.as_deref().or(compared.as_deref()))?,
            cleaning: flags.cleaning(),
            watching: flags.watching()?,
            messages: Messages {
                format: flags.format(),
                notes: !flags.print.quiet,
                print_errors: flags.print.print_errors,
                // Nobody can read more of a snapshot.
                may_need_root: matches!(source, Input::Roots(_)) && !sys::is_root(),
                stats: flags.print.stats,
                compared,
                first,
                selected_by: flags.selected_by.take(),
                swallowed: flags.swallowed.take(),
                unremembered: unfit.filter(|_| says_unfit),
                remembering: (flags.is_remember_typed, says_unfit),
            },
            output: flags.output(terminal, limits.unwrap_or_default(), &source),
            // A program that reads what is typed would take the answer.
            asks_background: flags.form().is_none()
                && !flags.show.summarize
                && terminal::shows_colors()
                && terminal::is_stdin()
                && flags.wants_colors(terminal::wants_colors)
                && flags.may_ask_background(),
            progress: !flags.print.no_progress && !flags.print.quiet && terminal::wants_progress(),
            request: Request {
                reclaimable: flags.reclaimable()?,
                walk,
                keep,
                measure: flags.size_measure(),
                details: flags.snapshots.details,
                bytes_only: flags.form().is_some_and(Form::is_whole),
                save: flags.destination()?,
                keep_saved: flags.snapshots.keep,
                bounds: Bounds {
                    size: flags.snapshots.fail_over,
                    growth: flags
                        .snapshots
                        .fail_growth
                        .filter(|_| since.is_some() || flags.watch.is_asked),
                },
                source,
                // What is removed would be missing in it.
                remember: remember.filter(|_| !flags.clean.apply && !flags.clean.empty_trash),
                series: flags.snapshots.series(),
                since,
                options: flags.counting,
                file_systems: flags.show.df,
                known: Vec::new(),
                unread: Vec::new(),
                interrupt: Interrupt::new(is_read_first),
            },
        })
    }
}

impl Flags {
    /// What to weigh or load, or one line that says what is wrong.
    fn source(&mut self, keep: &Keep, filter: &Filter) -> Result<Input, String> {
        let remote = self.remote(keep, filter)?;
        if let Some(files) = self.snapshots.history.clone() {
            let (files, part) = self.remembered_history(files)?;
            return Ok(Input::History(files, part.map(Box::new)));
        }
        if !self.snapshots.from.is_empty() {
            let options = self.snapshots.from_format.unwrap_or_default();
            return Ok(Input::Files(self.snapshots.from.clone(), options));
        }
        if self.is_df_alone && !self.is_page() {
            return Ok(Input::FileSystems);
        }
        let roots = mem::take(&mut self.roots).roots(remote.is_none())?;
        Ok(match remote {
            None => Input::Roots(roots),
            Some(remote) => Input::Remote(remote, roots),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn flags_are_consistent() {
        Flags::command().debug_assert();
    }
}
