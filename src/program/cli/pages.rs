//! Pages made from the flags: help, the man page, and completions for shells.

use clap::builder::PossibleValuesParser;
use clap::{Arg, CommandFactory, ValueHint};
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
const SECTIONS: &str = r#".SH EXAMPLES
.TP
\fBweigh\fR
Show the current directory.
.TP
\fBweigh \-d 1 /usr\fR
Show one level below /usr.
.TP
\fBweigh \-n 50 \-p ~ /var\fR
Show the fifty largest entries in two places, with their paths. Nothing counts twice.
.TP
\fBweigh \-F \-e '\e.(jpg|png)$' ~/Pictures\fR
List the largest JPEG and PNG files.
.TP
\fBweigh \-x /\fR
Show this file system only.
.TP
\fBweigh \-t \-\-exclude node_modules/\fR
Show totals by file extension, without directories called node_modules.
.TP
\fBweigh \-\-unique \-D ~/backups\fR
Show each directory without what also has links elsewhere.
.TP
\fBweigh \-j /usr > usr.json\fR
Print everything as JSON.
.SH "EXIT STATUS"
.TP
\fB0\fR
Everything was read.
.TP
\fB1\fR
Something was not read, and totals are lower bounds; or the output could not be written.
.TP
\fB2\fR
A usage error on the command line or in the config file; or \fB\-\-since\fR \fIFILE\fR was saved with flags
that count differently, or is a directory without a complete snapshot of the same PATHs and host; or the file in
\fB\-\-save\fR \fIFILE\fR is not a snapshot.
.TP
\fB3\fR
The total exceeds \fB\-\-fail\-over\fR or \fB\-\-fail\-growth\fR, also if something was not read.
.TP
\fB129\fR
Ended because the terminal hung up, or failed.
.TP
\fB130\fR
Interrupted by Ctrl-C.
.TP
\fB143\fR
Ended by SIGTERM.
.SH ENVIRONMENT
.TP
\fBWEIGH_CONFIG_PATH\fR
The config file, instead of the usual one. If it is empty, no file is read.
.TP
\fBLS_COLORS\fR
The colours of names; see \fBdircolors\fR(1).
.TP
\fBNO_COLOR\fR, \fBCLICOLOR_FORCE\fR
If \fBNO_COLOR\fR is set, print no colours. If \fBCLICOLOR_FORCE\fR is set, print colours even without a terminal.
.TP
\fBTZ\fR
The time zone in which times are printed.
.SH FILES
.TP
\fI~/.config/weigh/config.toml\fR
The config file, in TOML. Its keys are the long names of flags, and their values are \fBtrue\fR or \fBfalse\fR,
a value, or a list of values. If \fBXDG_CONFIG_HOME\fR is set, the file is in that directory instead of \fI~/.config\fR.
Every switch has a counterpart that turns it off on the command line: \fB\-\-no\-reverse\fR, and \fB\-\-colors\fR for \fB\-\-no\-colors\fR.
"#;

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
    let of_types = |arg: Arg| arg.value_parser(PossibleValuesParser::new(types.clone()));
    let hinted = |arg: Arg| match arg.get_value_hint() {
        ValueHint::Unknown if arg.get_action().takes_values() => arg.value_hint(ValueHint::Other),
        _ => arg,
    };
    let command = config::with_counterparts(Flags::command()).mut_args(hinted);
    let mut command = command.mut_arg("only_type", of_types).mut_arg("type_not", of_types);
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
