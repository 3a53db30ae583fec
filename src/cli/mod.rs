//! Every flag, and the options that each stage gets from them.
//!
//! Flags are parsed first and interpreted second: [`parse`] turns them into what [`report`] is asked for
//! and how it is shown, and neither sees a flag.
//!
//! [`report`]: crate::report

pub mod config;
mod filters;
mod flags;
mod git;
mod near;
mod numbers;
mod options;
mod output;
mod pages;
mod parse;
mod roots;
mod screen;
mod snapshots;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::mem;
use std::process;

use clap::error::ErrorKind;

use crate::browse::BrowseOptions;
use crate::interrupt::Interrupt;
use crate::problem::unless_closed;
use crate::render::Output;
use crate::render::name::escape;
use crate::render::size::Formats;
use crate::report::{Bounds, Input, Request};
use crate::terminal;
use flags::Flags;

/// The variable of the environment that says where the user's own files are.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// What to do, and how to show it.
#[derive(Debug)]
pub struct Plan {
    /// What is asked for.
    pub request: Request,
    /// How to show what comes of it.
    pub output: Output,
    /// Whether to show the progress.
    pub progress: bool,
    /// How to browse in it, if it is to be browsed in rather than shown.
    pub browse: Option<BrowseOptions>,
    /// What is said on stderr.
    pub messages: Messages,
}

/// What is said on stderr.
#[derive(Clone, Debug)]
pub struct Messages {
    /// How sizes are written.
    pub formats: Formats,
    /// Whether every problem gets a line.
    pub print_errors: bool,
    /// Whether to say what the walk did.
    pub stats: bool,
}

/// Reads the command line, and the config file beneath it. Ends the process with status 2 after a
/// usage error, and with 0 after `--help`, `--version` and `--type-list`.
pub fn parse() -> Plan {
    let args: Vec<OsString> = env::args_os().collect();
    let plan = parse::flags(&args, |flags| {
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
            let harmless = |arg: &OsString| OsString::from(escape(arg.as_encoded_bytes()));
            let harmless: Vec<OsString> = args.iter().map(harmless).collect();
            let error = parse::flags(&harmless, |_| Ok(())).err().unwrap_or(error);
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
    if flags.filters.type_list {
        return Some(filters::type_list().into());
    }
    if flags.print.man {
        return Some(pages::man());
    }
    flags.print.completions.map(pages::completions)
}

/// Prints it, and ends with 0 unless it was lost.
fn print(answer: &[u8]) -> ! {
    let mut out = io::stdout();
    let printed = out.write_all(answer).and_then(|()| out.flush());
    process::exit(unless_closed(printed).is_err().into())
}

impl Plan {
    /// What to do, or in one line why not.
    fn new(mut flags: Flags) -> Result<Self, String> {
        let terminal = terminal::size();
        let keep = flags.keep(terminal);
        flags.ensure_fit(&keep)?;
        let (walk, formats) = (flags.walk()?, flags.formats());
        let is_read_first = flags.snapshots.load.is_some() || flags.snapshots.since.is_some();
        let source = match flags.snapshots.load.clone() {
            Some(path) => Input::Snapshot(path, flags.size_measure()),
            None => Input::Roots(mem::take(&mut flags.roots).roots()?),
        };
        Ok(Self {
            browse: flags.browse(&walk, &formats)?,
            messages: Messages {
                formats: formats.clone(),
                print_errors: flags.print.print_errors,
                stats: flags.print.stats,
            },
            output: flags.output(formats, terminal, &source),
            progress: !flags.print.no_progress && terminal::wants_progress(),
            request: Request {
                walk,
                keep,
                details: flags.snapshots.details,
                newest: flags.is_by_saved_time(),
                bytes_only: flags.form().is_some_and(|form| !form.fits().counts),
                save: flags.destination()?,
                bounds: Bounds {
                    size: flags.snapshots.fail_over,
                    growth: flags.snapshots.fail_growth,
                },
                source,
                since: flags.snapshots.since,
                options: flags.counting,
                file_systems: flags.show.df,
                interrupt: Interrupt::new(is_read_first),
            },
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
