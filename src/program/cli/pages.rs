//! Pages made from the flags: help, the man page, and completions for shells.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use super::commands::{ALL, CommandInfo, TREE};
use super::flags::Flags;
use crate::program::terminal;
use weigh::internal::filter::known_types;
use weigh::internal::list::TAR_LINE;

/// The flags that `--help` and the man page have in their last group.
const RARE: &str = "\
    files0_from files_from exact_links overlays skip_total shard remember_bound print0 key_of bars_on_right \
    dim terminal_width theme color_of hyperlink print_errors stats threads read type_list rsh \
    from_format find_format config man help version";

/// The date of the version, for the foot of the man page.
const DATE: &str = "2026-11-23";

/// Short, because a list of all flags would not help.
const SYNOPSIS: &str = r".SH SYNOPSIS
\fBweigh\fR [\fIOPTION\fR]... [\fIPATH\fR]...
";

/// The sections of the man page after the flags.
const SECTIONS: &str = include_str!("../../../man/sections.roff");

/// All flags of the tree, and the commands.
pub(super) fn all_flags() -> String {
    let usage = "weigh [OPTION]... [PATH]...\n       weigh COMMAND [OPTION]... [PATH]...";
    let commands = ALL.iter().filter(|command| !command.name.is_empty());
    let commands = commands.map(|it| format!("  {:<12} {}\n", it.name, it.about));
    let commands = commands.collect::<String>();
    let commands = format!(
        "Commands (weigh help COMMAND):\n{commands}\nFiles in a tar archive:\n  {TAR_LINE}\n"
    );
    let help = grouped().override_usage(usage).after_help(commands).render_help();
    if terminal::wants_colors() { help.ansi().to_string() } else { help.to_string() }
}

/// All flags, with rare ones last.
fn grouped() -> Command {
    let command = Flags::command();
    let about = command.get_about().cloned().unwrap_or_default();
    let is_usual = |arg: &Arg| RARE.split(' ').all(|rare| arg.get_id() != rare);
    let own = command.get_arguments().filter(|arg| TREE.takes(arg.get_id().as_str()));
    let (usual, rare): (Vec<_>, Vec<_>) = own.cloned().partition(is_usual);
    let rare = rare.into_iter().map(|arg| arg.help_heading("Rarely needed"));
    let grouped = Command::new("weigh").disable_help_flag(true).disable_version_flag(true);
    let grouped = grouped.max_term_width(100).about(about).version(env!("CARGO_PKG_VERSION"));
    grouped.args(usual).args(rare)
}

/// The completions for `shell`: commands, their flags, types by name, and files only for flags that take one.
pub(super) fn completions(shell: Shell) -> Vec<u8> {
    let types: Vec<String> = known_types().into_iter().map(|(name, _)| name).collect();
    let types = PossibleValuesParser::new(types);
    let flags = Flags::command().mut_args(|arg| {
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
    let of = |info: &CommandInfo, command: Command| {
        let own = flags.get_arguments().filter(|arg| info.takes(arg.get_id().as_str()));
        let shown = own.filter(|arg| !arg.is_hide_set()).cloned();
        let command = command.about(info.about).disable_help_flag(true).disable_version_flag(true);
        command.args(shown)
    };
    let mut command = of(&TREE, Command::new("weigh")).disable_help_subcommand(true);
    for info in ALL.into_iter().filter(|info| !info.name.is_empty()) {
        command = command.subcommand(of(info, Command::new(info.name)));
    }
    let mut script = Vec::new();
    generate(shell, &mut command, "weigh", &mut script);
    script
}

/// The man page, weigh(1).
pub(super) fn man() -> Vec<u8> {
    let man = Man::new(grouped());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_flags_are_flags() {
        let command = Flags::command();
        for rare in RARE.split(' ') {
            assert!(command.get_arguments().any(|arg| arg.get_id() == rare), "{rare}");
        }
    }
}
