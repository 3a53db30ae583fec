//! Pages made from the flags: help, the man page, and completions for shells.

use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, ValueHint};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use super::config;
use super::flags::Flags;
use crate::program::terminal;
use weigh::internal::filter::known_types;

/// The flags that `-h` shows: the most used ones, as many as fit 24 lines of 80 columns.
const MOST_USED: [&str; 13] = [
    "apparent_size",
    "filecount",
    "limit_filesystem",
    "ignore_directory",
    "exclude",
    "number_of_lines",
    "depth",
    "only_dir",
    "only_file",
    "file_types",
    "output_json",
    "_help",
    "_version",
];

/// The date of the version, for the foot of the man page.
const DATE: &str = "2026-11-22";

/// Short, because a list of all flags would not help.
const SYNOPSIS: &str = r".SH SYNOPSIS
\fBweigh\fR [\fIOPTION\fR]... [\fIPATH\fR]...
";

/// The sections of the man page after the flags.
const SECTIONS: &str = include_str!("../../../man/sections.roff");

/// The output of `-h`, or of `--help` (`is_all`), which is as terse but has all flags.
pub(super) fn help(is_all: bool) -> String {
    let mut command = Flags::command().mut_args(|arg| {
        let is_hidden = arg.is_hide_set();
        let is_shown = is_all || MOST_USED.contains(&arg.get_id().as_str());
        let arg = arg.hide(is_hidden || !is_shown);
        // Other names would not fit a line.
        if is_all { arg } else { arg.visible_alias(None) }
    });
    command = command.override_usage("weigh [OPTIONS] [PATH]...");
    let help = command.render_help();
    if terminal::wants_colors() { help.ansi().to_string() } else { help.to_string() }
}

/// The completions for `shell`: flags and their counterparts, types by name, and files only for flags that take one.
pub(super) fn completions(shell: Shell) -> Vec<u8> {
    let types: Vec<String> = known_types().into_iter().map(|(name, _)| name).collect();
    let types = PossibleValuesParser::new(types);
    let mut command = config::with_counterparts(Flags::command()).mut_args(|arg| {
        if matches!(arg.get_id().as_str(), "only_type" | "type_not") {
            return arg.value_parser(types.clone());
        }
        match arg.get_value_hint() {
            ValueHint::Unknown if arg.get_action().takes_values() => {
                arg.value_hint(ValueHint::Other)
            }
            _ => arg,
        }
    });
    let mut script = Vec::new();
    generate(shell, &mut command, "weigh", &mut script);
    script
}

/// The man page, weigh(1).
pub(super) fn man() -> Vec<u8> {
    let man = Man::new(Flags::command());
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = man.render_name_section(&mut page);
    page.extend_from_slice(SYNOPSIS.as_bytes());
    let _ = man.render_description_section(&mut page);
    let _ = man.render_options_section(&mut page);
    // mandoc warns of a break after a break, and of a backslash that is not \e.
    let page = String::from_utf8_lossy(&page).replace("\n.br\n\n.br\n", "\n.sp\n");
    let page = page.replace(r"\\", r"\e");
    let version = env!("CARGO_PKG_VERSION");
    format!(".TH WEIGH 1 {DATE} \"weigh {version}\"\n{page}{SECTIONS}").into_bytes()
}
