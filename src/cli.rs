//! Every flag, and the options that each stage gets from them.
//!
//! Flags are parsed first and interpreted second: [`parse`] turns them into one small value a
//! stage, and no stage sees a flag.

mod flags;
mod form;
mod git;
mod leave;
mod options;
mod pages;
mod read;
mod roots;
mod scans;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process;

use clap::error::ErrorKind;

pub use scans::Bounds;

use crate::measure::Measure;
use crate::render::name::escape;
use crate::render::size::Format;
use crate::scan::Destination;
use crate::tally::{Groups, Inodes, Limits};
use crate::terminal;
use crate::walk;
use flags::Flags;

/// What to do.
#[derive(Debug)]
pub struct Plan {
    /// What to weigh, or the saved scan to show instead.
    pub source: Source,
    /// Where to save it, if anywhere.
    pub save: Option<Destination>,
    /// The flags that have a say in what counts, as they are typed, if it is to be saved
    /// or compared.
    pub counting: Vec<String>,
    /// Whether everything is to be gathered, whatever of it is shown, and then what of inodes is to
    /// be kept.
    pub everything: Option<Inodes>,
    /// Whether a saved scan has to have times and owners.
    pub wants_details: bool,
    /// Whether to show times of last change, by what is saved or loaded.
    pub is_by_saved_time: bool,
    /// The saved scan to compare it with, if any.
    pub since: Option<PathBuf>,
    /// What it may come to.
    pub bounds: Bounds,
    /// How to walk.
    pub walk: walk::Options,
    /// What to gather.
    pub gather: Gather,
    /// Whether to show the progress.
    pub progress: bool,
    /// How sizes are written.
    pub format: Format,
    /// Whether every problem gets a line.
    pub print_errors: bool,
    /// Whether to say what the walk did.
    pub stats: bool,
    /// Columns and lines of the terminal, if there is one.
    terminal: Option<(usize, usize)>,
    flags: Flags,
}

/// Where what is shown comes from.
#[derive(Debug)]
pub enum Source {
    /// A walk of these roots.
    Roots(Vec<OsString>),
    /// A saved scan, and what its sizes should count, if that was said.
    Scan(PathBuf, Option<Measure>),
}

/// What to gather.
#[derive(Clone, Copy, Debug)]
pub enum Gather {
    /// Everything.
    Whole,
    /// The largest, within limits.
    Top(Limits),
    /// Totals by group, and how much of them to show of what changed.
    Groups(Groups, Limits),
}

/// Reads the command line, and the config file beneath it. Ends the process with status 2 if they
/// make no sense, and with 0 after `--help`, `--version` and `--type-list`.
pub fn parse() -> Plan {
    let args: Vec<OsString> = env::args_os().collect();
    let plan = read::flags(&args, |flags| {
        if let Some(answer) = answer(&flags) {
            print(&answer);
        }
        Plan::new(flags)
    });
    match plan {
        Ok(plan) => plan,
        Err(error) if error.use_stderr() => {
            // The message quotes what was typed, or what a pattern of the shell came to. So it is
            // made anew from arguments that can forge no line.
            let harmless = |arg: &OsString| OsString::from(escape(arg.as_bytes()));
            let harmless: Vec<OsString> = args.iter().map(harmless).collect();
            let error = read::flags(&harmless, |_| Ok(())).err().unwrap_or(error);
            let is_bad_value = error.kind() == ErrorKind::ValueValidation;
            // What is wrong with a value is said in one line.
            let most = if is_bad_value { 1 } else { usize::MAX };
            for line in error.render().to_string().lines().take(most) {
                // Where writing to stderr fails there is nowhere left to say so.
                let _ = writeln!(io::stderr(), "{}", escape(line.as_bytes()));
            }
            process::exit(error.exit_code())
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            print(pages::help(args.iter().any(|arg| arg == "--help")).as_bytes())
        }
        Err(version) => print(version.render().to_string().as_bytes()),
    }
}

/// What is to be printed in place of weighing, if anything.
fn answer(flags: &Flags) -> Option<Vec<u8>> {
    if flags.leave.type_list {
        return Some(leave::type_list().into());
    }
    if flags.print.man {
        return Some(pages::man());
    }
    flags.print.completions.map(pages::completions)
}

/// Prints it, and ends with 0 unless it was lost. Whoever closes the pipe has seen enough.
fn print(answer: &[u8]) -> ! {
    let mut out = io::stdout();
    let printed = out.write_all(answer).and_then(|()| out.flush());
    process::exit(match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => 1,
        _ => 0,
    })
}

impl Plan {
    /// What to do, or in one line why not.
    fn new(mut flags: Flags) -> Result<Self, String> {
        let terminal = terminal::size();
        let gather = flags.gather(terminal);
        if let Some(misfit) = flags.misfit(&gather) {
            return Err(misfit.to_owned());
        }
        let mut walk = flags.walk()?;
        let everything = flags.everything(&walk.filter);
        let (wants_details, is_by_saved_time) = (flags.wants_details(), flags.is_by_saved_time());
        if flags.scans.save.is_some() {
            walk.query.times |= wants_details;
            walk.query.owner |= wants_details;
        }
        Ok(Self {
            walk,
            save: flags.destination()?,
            source: match flags.scans.load.take() {
                Some(path) => Source::Scan(path, flags.size_measure()),
                None => Source::Roots(mem::take(&mut flags.roots).roots()?),
            },
            since: flags.scans.since.take(),
            bounds: Bounds { size: flags.scans.fail_over, growth: flags.scans.fail_growth },
            counting: mem::take(&mut flags.counting),
            everything,
            wants_details,
            is_by_saved_time,
            gather,
            progress: !flags.print.no_progress && terminal::wants_progress(),
            format: flags.format(flags.measure()),
            print_errors: flags.print.print_errors,
            stats: flags.print.stats,
            terminal,
            flags,
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
