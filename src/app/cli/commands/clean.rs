//! `weigh clean`: lists build output and caches, and removes them with `--apply`.

use std::ffi::OsString;
use std::sync::Arc;
use std::{env, io, mem};

use clap::Args;

use super::{CommandInfo, PRINTED, WORK};
use crate::app::clean::Cleaning;
use crate::app::cli::flags::Flags;
use crate::app::cli::screen::{homes, user_directories};
use crate::app::terminal;
use weigh::internal::ask::reclaimable::{ReclaimPlan, quoted};
use weigh::internal::base::escape::{harmless, is_control};
use weigh::internal::base::measure::parse_size;
use weigh::internal::base::path;
use weigh::internal::base::when::{Unit, When};
use weigh::internal::remove::Manner;
use weigh::internal::show::reclaimable::ListOptions;
use weigh::internal::sys;
use weigh::internal::sys::problem::reason;

/// The flags of `clean` alone.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What can go")]
pub(in crate::app::cli) struct CleanFlags {
    /// Remove the entries under "Can go"; weigh first asks you to type the number of files and directories
    #[arg(long)]
    pub(in crate::app::cli) apply: bool,

    /// Choose entries until they free SIZE, the least recently written first
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(in crate::app::cli) free: Option<u64>,

    /// Only these kinds, as in cargo,npm: names of rules, or how these begin
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(in crate::app::cli) only: Vec<String>,

    /// Move entries into the trash instead
    #[arg(long)]
    pub(in crate::app::cli) trash: bool,

    /// List your trash on the file system of PATH, and delete it after the same question
    #[arg(long)]
    pub(in crate::app::cli) empty_trash: bool,

    /// Show a line for each entry, and not for each kind
    #[arg(short, long)]
    pub(in crate::app::cli) all: bool,

    /// Also show the command that removes each entry (in clean, also -v)
    #[arg(long)]
    pub(in crate::app::cli) verbose: bool,

    /// The plan in the file that --from names.
    #[arg(skip)]
    pub(in crate::app::cli) plan: Option<Arc<ReclaimPlan>>,
}

pub(in crate::app::cli) const CLEAN: CommandInfo = CommandInfo {
    name: "clean",
    about: "Find build output and caches, and remove them",
    operands: "[PATH]...",
    examples: &[
        ("weigh clean ~", "list them; nothing is removed"),
        ("weigh clean --apply ~", "remove them, after you typed their number"),
        ("weigh clean -a ~", "a line for each directory"),
        ("weigh clean --apply --free 20G ~", "only as much as frees 20 GiB, oldest first"),
        ("weigh clean --only cargo,npm ~", "only these kinds"),
        ("weigh clean --older 3mo ~", "only entries nobody wrote to in 3 months"),
        ("weigh clean --older 0h ~", "also entries that were written today"),
        ("weigh clean --empty-trash ~", "delete everything in your trash"),
    ],
    notes: "A directory needs more than the right name: target counts only beside a\n\
        Cargo.toml, node_modules only beside a package.json and its lock file.\n\
        Entries that only their own program can remove: -v shows what to type.\n\
        To take back what --trash moved, use your file manager.\n\
        A plan asks nothing: weigh clean -j ~ >plan.json makes it, weigh clean\n\
        --from plan.json shows it, and with --apply removes what it names.\n",
    own: &["apply free only older trash empty_trash all verbose"],
    also: &[
        "min_size ignore_directory exclude exclude_from owner limit_filesystem skip output_json",
        "number_of_lines",
        PRINTED,
        WORK,
        "from remember remember_bound series paths frees files_from files0_from terminal_width screen_reader",
    ],
    take: |flags| {
        flags.show.reclaimable = true;
        if flags.clean.empty_trash {
            // A mount in the trash is not part of it.
            flags.filters.limit_filesystem = true;
            return flags.ensure_may_ask("--empty-trash");
        }
        look_for_unused(flags);
        flags.take_plan()?;
        match flags.clean.apply {
            true => flags.ensure_may_ask("--apply"),
            false => Ok(()),
        }
    },
};

/// Entries that were written in the last day may be in use.
pub(super) const TODAY: When = When::Ago(1, Unit::Days);

/// Takes `--older` for the time in which nobody may have written to an entry. As a filter, it would hide newer files.
pub(super) fn look_for_unused(flags: &mut Flags) {
    let older = flags.filters.older.take().unwrap_or(TODAY);
    flags.show.unused = Some(older);
}

impl Flags {
    /// Takes `--from` for a plan, and its roots for PATHs.
    fn take_plan(&mut self) -> Result<(), String> {
        let files = mem::take(&mut self.snapshots.from);
        let file = match &files[..] {
            [] => return Ok(()),
            [file] => file,
            [..] => return Err("clean takes one plan\nleave out the others".to_owned()),
        };
        if !self.roots.paths.is_empty() {
            return Err("a plan has PATHs of its own\nleave out PATH".to_owned());
        }
        let shown = harmless(file.as_os_str().as_encoded_bytes());
        let plan = ReclaimPlan::read(file)
            .map_err(|error| format!("the plan {shown} cannot be used: {}", reason_of(&error)))?;
        self.roots.paths = plan.roots().map(Into::into).collect();
        self.clean.plan = Some(Arc::new(plan));
        Ok(())
    }

    /// Refuses to remove anything where nobody can be asked, or where a pattern of the shell may have given the flag.
    fn ensure_may_ask(&self, flag: &str) -> Result<(), String> {
        let is_listed = self.clean.empty_trash && self.form().is_some();
        let refused = [
            (
                sys::exists(flag.as_ref()),
                "an entry here is called {flag}, and weigh clean * would mean the flag\nrename it, or change to another directory",
            ),
            (
                self.clean.apply && self.clean.plan.is_none() && !terminal::is_for_questions(),
                "{flag} shows a list and asks for a number on a terminal, and there is none\nmake a plan: weigh clean -j PATH >plan.json; look at it: weigh clean --from plan.json; then add --apply",
            ),
            (self.show.number_of_lines.is_some(), "{flag} shows all that would go\nleave out -n"),
            (
                self.clean.apply && self.form().is_some(),
                "{flag} prints a list and a question\nleave out -j and --as",
            ),
            (
                self.print.quiet && self.clean.plan.is_none() && !is_listed,
                "{flag} asks a question, and -q asks none\nleave out -q",
            ),
        ];
        let refused = refused.into_iter().find(|(is_refused, _)| *is_refused);
        refused.map_or(Ok(()), |(_, why)| Err(why.replace("{flag}", flag)))
    }

    /// What removing needs, if that is asked for.
    pub(in crate::app::cli) fn cleaning(&self) -> Option<Cleaning> {
        let is_emptied = self.clean.empty_trash && self.form().is_none();
        (self.clean.apply || is_emptied).then(|| Cleaning {
            directories: user_directories(),
            manner: if self.clean.trash { Manner::Trash } else { Manner::Delete },
        })
    }

    /// How to draw the list of what can go.
    pub(in crate::app::cli) fn list(&self, terminal: Option<(usize, usize)>) -> ListOptions {
        let picture = self.picture(terminal);
        let removes = self.clean.apply || self.clean.empty_trash;
        ListOptions {
            title: if removes { "" } else { "Nothing was removed." },
            nothing: match self.clean.plan {
                _ if self.clean.empty_trash => "the trash is empty",
                Some(_) => "nothing that the plan names can go",
                None => "found nothing that can be made or downloaded again",
            },
            is_unfolded: self.clean.all || self.clean.verbose || self.clean.plan.is_some(),
            has_commands: self.clean.verbose,
            lines: self.show.number_of_lines.unwrap_or(usize::MAX),
            is_of_today: matches!(self.show.unused, Some(When::Ago(1, Unit::Days))),
            apply: apply_line().filter(|_| !removes).unwrap_or_default(),
            picture,
        }
    }
}

/// The reason for an error of the system, or of ours with its way out.
fn reason_of(error: &io::Error) -> String {
    if error.raw_os_error().is_some() { reason(error) } else { error.to_string() }
}

/// The line that removes what these arguments list, if it can be typed.
fn apply_line() -> Option<String> {
    const SHOWN: [&str; 4] = ["-a", "--all", "-v", "--verbose"];
    let home = homes().into_iter().next();
    let mut line = String::from("weigh clean --apply");
    let args = env::args_os().skip_while(|arg| arg != CLEAN.name).skip(1);
    let args: Vec<_> = args.collect();
    // After `--`, nothing is a flag; and --apply shows all lines.
    let is_no_line = |arg: &OsString| {
        let arg = arg.as_encoded_bytes();
        arg == b"--" || arg.starts_with(b"-n") || arg.starts_with(b"--number-of-lines")
    };
    if args.iter().any(is_no_line) {
        return None;
    }
    for arg in args.into_iter().filter(|arg| !SHOWN.iter().any(|it| arg == *it)) {
        let arg = arg.to_str().filter(|arg| !arg.contains(is_control))?.to_owned();
        let below = home
            .as_ref()
            .and_then(|home| path::below(arg.as_bytes(), home.as_os_str().as_encoded_bytes()));
        let below = below.and_then(|below| str::from_utf8(below).ok());
        line.push(' ');
        match below.filter(|below| below.is_empty() || quoted(below) == *below) {
            Some("") => line.push('~'),
            Some(below) => line += &format!("~/{below}"),
            None => line += &quoted(&arg),
        }
    }
    Some(line)
}
