//! The flags of saved scans: to make one, to look at it again, to compare with it.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, ValueHint};

use super::flags::Flags;
use crate::render::name::escape;

#[derive(Debug, Args)]
#[command(next_help_heading = "Saved scans")]
pub(super) struct ScanFlags {
    /// Save everything in FILE too, compressed if it ends in .zst or .gz
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "filetime")]
    pub(super) save: Option<PathBuf>,

    /// Save inode, owner and time of last change of everything too
    #[arg(long, requires = "save")]
    pub(super) details: bool,

    /// Show what is saved in FILE instead of weighing PATH; - is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = [
        "RootFlags", "filetime", "LeaveFlags", "dereference_links", "count_links", "threads",
    ])]
    pub(super) load: Option<PathBuf>,
}

/// The flags that were given and have a say in what counts, spelled out.
pub fn counting() -> Vec<String> {
    const HEADINGS: [&str; 2] = ["What to weigh", "What to leave out"];
    let mut command = Flags::command();
    let Ok(given) = command.try_get_matches_from_mut(std::env::args_os()) else {
        return Vec::new();
    };
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
            flags.extend(values.map(|value| format!("--{long}={}", escape(value.as_bytes()))));
        } else {
            flags.push(format!("--{long}"));
        }
    }
    flags
}
