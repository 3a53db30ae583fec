//! The flags of snapshots: to make one, to look at it again, to compare with it.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, ValueHint};

use super::flags::Flags;
use crate::measure::parse_size;
use crate::render::name::escape;
use crate::report::Growth;
use crate::snapshot::{self, Destination};
use crate::terminal;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Snapshots")]
pub(super) struct SnapshotFlags {
    /// Also save a snapshot in FILE, compressed if it ends in .zst or .gz; - is standard output
    ///
    /// If FILE is standard output, the snapshot is all that is printed.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) save: Option<PathBuf>,

    /// Save inode numbers, owners and times in the snapshot, too; with --ui, show them
    #[arg(long)]
    pub(super) details: bool,

    /// Show the snapshot in FILE instead of a PATH; - is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = [
        "RootFlags", "dereference_links", "count_links", "threads", "limit_filesystem",
        "gitignore", "ignored", "atime", "ctime",
    ])]
    pub(super) load: Option<PathBuf>,

    /// Show what changed since the snapshot in FILE, largest changes first
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with = "filetime")]
    pub(super) since: Option<PathBuf>,

    /// Exit with status 3 if the total exceeds SIZE
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(super) fail_over: Option<u64>,

    /// Exit with status 3 if the total grew by more than SIZE, as in 500M or 20%
    #[arg(long, value_name = "SIZE", value_parser = Growth::parse, requires = "since")]
    pub(super) fail_growth: Option<Growth>,
}

impl Flags {
    /// Where to save it, if anywhere, or in one line why not there.
    pub(super) fn destination(&self) -> Result<Option<Destination>, &'static str> {
        let Some(path) = &self.snapshots.save else { return Ok(None) };
        let to = Destination::new(path.clone());
        if to.is_stdout && self.form().is_some() {
            return Err("--save to standard output excludes -j and --as: \
                save to a file, or leave them out");
        }
        if to.is_stdout && snapshot::is_compressed(path) && terminal::is_stdout() {
            return Err("compressed data is not written to a terminal: \
                save to a file, or redirect standard output");
        }
        Ok(Some(to))
    }
}

/// The flags in `given`, arguments of `command`, that have a say in what counts, spelled out.
pub(super) fn counting(command: &Command, given: &ArgMatches) -> Vec<String> {
    const HEADINGS: [&str; 2] = ["What to weigh", "What to leave out"];
    let mut flags = Vec::new();
    for flag in command.get_arguments() {
        let name = flag.get_id().as_str();
        let has_say = flag.get_help_heading().is_some_and(|title| HEADINGS.contains(&title));
        let (true, Some(long)) = (has_say, flag.get_long()) else { continue };
        if given.value_source(name) != Some(ValueSource::CommandLine) {
            continue;
        }
        if flag.get_action().takes_values() {
            let values = given.get_raw(name).unwrap_or_default();
            flags.extend(
                values.map(|value| format!("--{long}={}", escape(value.as_encoded_bytes()))),
            );
        } else {
            flags.push(format!("--{long}"));
        }
    }
    flags
}
