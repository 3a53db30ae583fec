//! Where a snapshot is saved, and which flags it records.

use std::ffi::OsString;
use std::path;

use clap::{Arg, Command};

use super::flags::{Flags, SnapshotFlags};
use super::parse::Given;
use crate::app::terminal;
use weigh::internal::base::escape::harmless;
use weigh::internal::from::series;
use weigh::internal::from::snapshot::Destination;
use weigh::internal::sys;

impl SnapshotFlags {
    /// The name that takes the place of the host's.
    pub(super) fn series(&self) -> Option<Vec<u8>> {
        self.series.as_ref().map(|name| name.clone().into_bytes())
    }
}

impl Flags {
    /// Whether it comes from a file or another machine, and not from a walk.
    pub(super) fn is_loaded(&self) -> bool {
        !self.snapshots.from.is_empty() || !self.hosts.is_empty()
    }

    /// Where to save a snapshot, if anywhere; or one line that says why that is impossible.
    pub(super) fn destination(&self) -> Result<Option<Destination>, &'static str> {
        let Some(path) = &self.snapshots.save else { return Ok(None) };
        let is_directory = path.as_os_str().to_string_lossy().ends_with(path::is_separator);
        if is_directory {
            return Ok(Some(series::dated(path, sys::now())));
        }
        if self.snapshots.keep.is_some() {
            return Err("--keep goes with --save DIR/\nend the name of the directory in a slash");
        }
        let ending = path.extension().unwrap_or_default();
        if ["json", "gz", "zst"].iter().any(|other| ending.eq_ignore_ascii_case(other)) {
            return Err("--save writes .weigh files, which are compressed already\n\
                end the name in .weigh; weigh -j >FILE.json writes JSON for other programs");
        }
        let to = Destination::new(path.clone());
        if to.is_stdout && self.form().is_some() {
            return Err("--save to standard output excludes -j and --as\n\
                save to a file, or leave them out");
        }
        if to.is_stdout && terminal::is_stdout() {
            return Err("a snapshot is not written to a terminal\n\
                save to a file, or redirect standard output");
        }
        Ok(Some(to))
    }
}

/// The flags in `given`, arguments of `command`, that change what counts, in their long form.
pub(super) fn counting(command: &Command, given: &Given) -> Vec<String> {
    let flags = typed(command, given, has_say);
    flags.iter().map(|flag| harmless(flag.as_encoded_bytes())).collect()
}

/// Whether a flag changes what counts.
pub(super) fn has_say(flag: &Arg) -> bool {
    const HEADINGS: [&str; 2] = ["What to weigh", "What to leave out"];
    flag.get_help_heading().is_some_and(|title| HEADINGS.contains(&title))
}

/// The flags in `given`, arguments of `command`, that are `wanted`, in their long form.
pub(super) fn typed(
    command: &Command,
    given: &Given,
    wanted: impl Fn(&Arg) -> bool,
) -> Vec<OsString> {
    let mut flags = Vec::new();
    for flag in command.get_arguments() {
        let Some(values) = given.values(flag.get_id().as_str()) else { continue };
        let (true, Some(long)) = (wanted(flag), flag.get_long()) else { continue };
        if flag.get_action().takes_values() {
            for value in values {
                let mut flag = OsString::from(format!("--{long}="));
                flag.push(value);
                flags.push(flag);
            }
        } else {
            flags.push(format!("--{long}").into());
        }
    }
    flags
}
