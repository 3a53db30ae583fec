//! Pages made from the flags: help, and the man page.

use clap::{Arg, Command, CommandFactory};
use clap_mangen::Man;

use super::commands::{ALL, TREE, shown};
use super::flags::Flags;
use crate::app::terminal;
use weigh::internal::from::list::TAR_LINE;

/// The flags that `--help` and the man page have in their last group.
const RARE: &str = "\
    files0_from files_from exact_links overlays skip_total shard print0 terminal_width print_errors \
    stats threads rate read type_list rsh from_format find_format config man help version";

/// The date of the version, for the foot of the man page.
const DATE: &str = "2026-11-23";

/// Short, because a list of all flags would not help.
const SYNOPSIS: &str = r".SH SYNOPSIS
\fBweigh\fR [\fIOPTION\fR]... [\fIPATH\fR]...
.br
\fBweigh\fR \fICOMMAND\fR [\fIOPTION\fR]... [\fIPATH\fR]...
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

/// The man page, weigh(1).
pub(super) fn man() -> Vec<u8> {
    let man = Man::new(grouped());
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = man.render_name_section(&mut page);
    page.extend_from_slice(SYNOPSIS.as_bytes());
    let _ = man.render_description_section(&mut page);
    page.extend_from_slice(&commands());
    let _ = man.render_options_section(&mut page);
    // mandoc warns of a break after a break, and of a backslash that is not \e.
    let page = String::from_utf8_lossy(&page).replace("\n.br\n\n.br\n", "\n.sp\n");
    let page = page.replace(r"\\", r"\e");
    let version = env!("CARGO_PKG_VERSION");
    format!(".TH WEIGH 1 {DATE} \"weigh {version}\"\n{page}{SECTIONS}").into_bytes()
}

/// A section for each command: lines to type, the flags that its help explains, and the names of others.
fn commands() -> Vec<u8> {
    let roff = |text: &str| text.replace('\\', r"\e").replace('-', r"\-").replace('\'', r"\(aq");
    let flags = Flags::command();
    let mut page = b".SH COMMANDS\n".to_vec();
    for command in ALL.into_iter().filter(|command| !command.name.is_empty()) {
        let title = format!("{} {}", command.typed(), command.operands);
        page.extend(format!(".SS {}\n{}.\n", roff(&title), roff(command.about)).into_bytes());
        for (line, effect) in command.examples {
            // A paragraph with a tag needs a text.
            let start = if effect.is_empty() { "PP" } else { "TP" };
            let example = format!(".{start}\n\\fB{}\\fR\n{}", roff(line), roff(effect));
            page.extend(example.trim_end().bytes().chain([b'\n']));
        }
        if !command.notes.is_empty() {
            page.extend(format!(".PP\n{}", roff(command.notes)).into_bytes());
        }
        // The flags of the tree are explained at length below.
        let is_below = |arg: &Arg| TREE.takes(arg.get_id().as_str());
        let (own, others) = command.flags(&flags, false);
        let (others, unexplained): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|arg| is_below(arg));
        let own = own.into_iter().chain(unexplained).cloned().map(|arg| {
            let is_below = is_below(&arg);
            let hides = is_below && arg.get_action().takes_values();
            let arg = arg.help_heading(None::<&str>).hide_possible_values(hides);
            if is_below { arg.long_help(None::<&str>) } else { arg }
        });
        let only = Command::new("weigh").disable_help_flag(true).args(own);
        let mut options = Vec::new();
        // Writing to memory cannot fail.
        let _ = Man::new(only).render_options_section(&mut options);
        let options = String::from_utf8_lossy(&options).into_owned();
        let options = options.split_once(".SH OPTIONS\n").map_or("", |(_, options)| options);
        page.extend_from_slice(options.as_bytes());
        let others: Vec<_> =
            others.into_iter().map(|arg| format!(r"\fB{}\fR", roff(&shown(arg)))).collect();
        if !others.is_empty() {
            page.extend(format!(".PP\nAlso: {}.\n", others.join(", ")).into_bytes());
        }
    }
    page
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
