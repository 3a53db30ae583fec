//! The flags that save, load and compare snapshots.

use std::num::NonZeroUsize;
use std::path::{self, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, ValueHint};

use super::flags::{Flags, positive};
use crate::program::terminal;
use weigh::internal::escape::escape;
use weigh::internal::measure::parse_size;
use weigh::internal::report::Growth;
use weigh::internal::snapshot::{self, Destination, Share};
use weigh::internal::sys;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Snapshots")]
pub(super) struct SnapshotFlags {
    /// Also save a snapshot in FILE, compressed if it ends in .zst or .gz; - is standard output
    ///
    /// An existing FILE is replaced only if it is empty or a snapshot from --save. If FILE is standard output, the
    /// snapshot is all that is printed. If FILE ends in a slash, it is a directory, and the snapshot is a new file there,
    /// named after the time.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) save: Option<PathBuf>,

    /// With --save DIR/, keep the last snapshot of each of N days, N weeks and N months, and remove the others
    ///
    /// Only snapshots of the same PATHs and host are removed, and only those that were saved with --save DIR/. The last
    /// one that is complete always stays. A line on stderr says what was removed.
    #[arg(long, value_name = "N", requires = "save", allow_negative_numbers = true)]
    #[arg(value_parser = positive())]
    pub(super) keep: Option<NonZeroUsize>,

    /// Save inode numbers, owners and all times in the snapshot, too; or show them, with --ui or --as parquet
    #[arg(long)]
    pub(super) details: bool,

    /// Show the snapshot in FILE instead of a PATH; - is standard input
    ///
    /// Given several times, the snapshots are shown together, like a scan of all their PATHs. Each host has a line if
    /// they are of several. A directory stands for the newest snapshot in it that --save DIR/ wrote.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = [
        "RootFlags", "dereference_links", "count_links", "exact_links", "threads", "limit_filesystem",
        "gitignore", "ignored", "exclude_caches", "atime", "ctime",
    ])]
    pub(super) load: Vec<PathBuf>,

    /// Weigh only one of N shares of PATH: the part numbered I, from 1 to N
    ///
    /// Saved on N machines that see the same PATH, and loaded together, the shares are the snapshot of one walk.
    #[arg(long, value_name = "I/N", value_parser = Share::parse)]
    #[arg(conflicts_with_all = ["load", "since", "df", "unique", "dereference_links", "files0_from", "files_from"])]
    pub(super) shard: Option<Share>,

    /// Show what changed since the snapshot in FILE, largest changes first
    ///
    /// If FILE is a directory, it stands for the newest complete snapshot in it that --save DIR/ wrote of the same PATHs on
    /// the same host.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with = "filetime")]
    pub(super) since: Option<PathBuf>,

    /// Show what became of a tree over time: the snapshots of it in each FILE
    ///
    /// Shows the directories that changed most from the first snapshot to the last: what they come to now, what they
    /// grew by a day, and their sizes as small bars; and when the file system is full if it goes on like that.
    /// A directory stands for all snapshots in it that --save DIR/ wrote.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, num_args = 1..)]
    #[arg(conflicts_with_all = [
        "RootFlags", "load", "since", "save", "shard", "details", "fail_over", "fail_growth", "dereference_links",
        "count_links", "unique", "filetime", "threads", "summarize", "df", "by", "file_types", "only_file", "collapse",
        "sort",
    ])]
    pub(super) history: Vec<PathBuf>,

    /// Exit with status 3 if the total exceeds SIZE
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(super) fail_over: Option<u64>,

    /// Exit with status 3 if the total grew by more than SIZE, as in 500M or 20%
    #[arg(long, value_name = "SIZE", value_parser = Growth::parse, requires = "since")]
    pub(super) fail_growth: Option<Growth>,
}

impl Flags {
    /// Where to save a snapshot, if anywhere; or one line that says why that is impossible.
    pub(super) fn destination(&self) -> Result<Option<Destination>, &'static str> {
        let Some(path) = &self.snapshots.save else { return Ok(None) };
        let is_directory = path.as_os_str().to_string_lossy().ends_with(path::is_separator);
        if is_directory {
            return Ok(Some(snapshot::dated(path, sys::now())));
        }
        if self.snapshots.keep.is_some() {
            return Err("--keep goes with --save DIR/: end the name of the directory in a slash");
        }
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

/// The flags in `given`, arguments of `command`, that change what counts, in their long form.
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
