//! `weigh help`, `weigh completions`, and the help of each command.

use clap::{Arg, Command};
use clap_complete::Shell;
use nu_ansi_term::Style;

use super::{ALL, CommandInfo, TREE, flags, shown};
use crate::program::cli::flags::Flags;
use crate::program::cli::near::nearest;
use crate::program::cli::{filters, pages};
use crate::program::terminal;
use weigh::internal::escape::harmless;
use weigh::internal::list::FIND_FORMAT;

pub(in crate::program::cli) const HELP: CommandInfo = CommandInfo {
    name: "help",
    about: "Show help for a command; with --man, the man page",
    operands: "[COMMAND]",
    examples: &[
        ("weigh help", "what to type, on one screen"),
        ("weigh help diff", "one command, on one screen"),
        ("weigh help --man | man -l -", "the man page"),
    ],
    own: &["man"],
    also: &["paths"],
    take: |_| Ok(()),
};

pub(in crate::program::cli) const COMPLETIONS: CommandInfo = CommandInfo {
    name: "completions",
    about: "Print the completions for a shell: bash, elvish, fish, powershell or zsh",
    operands: "SHELL",
    examples: &[("weigh completions bash >~/.local/share/bash-completion/completions/weigh", "")],
    own: &[],
    also: &["paths"],
    take: |_| Ok(()),
};

/// The output of `-h`: what to type, on 24 lines of 80 columns.
const SHORT: &str = include_str!("../../../../man/short-help.txt");

/// The text to print instead of a scan, if the `command` or a flag asks for one; or a mistake.
pub(in crate::program::cli) fn answer(
    command: &CommandInfo,
    flags: &Flags,
    is_all: bool,
) -> Result<Option<Vec<u8>>, String> {
    if flags.print.version {
        return Ok(Some(format!("weigh {}\n", env!("CARGO_PKG_VERSION")).into()));
    }
    if flags.print.help {
        return Ok(Some(help(command, is_all).into()));
    }
    if flags.filters.type_list {
        return Ok(Some(filters::type_list().into()));
    }
    if flags.lists.find_format {
        return Ok(Some(format!("{FIND_FORMAT}\n").into()));
    }
    if flags.print.man {
        return Ok(Some(pages::man()));
    }
    let words: Vec<_> =
        flags.roots.paths.iter().map(|word| harmless(word.as_encoded_bytes())).collect();
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    if command.name == HELP.name {
        return match &*words {
            [] | ["weigh"] => Ok(Some(help(&TREE, false).into())),
            [word] => match ALL.into_iter().find(|it| it.name == *word) {
                Some(command) => Ok(Some(help(command, false).into())),
                None => Err(unknown("command", word, ALL.map(|it| it.name).into_iter())),
            },
            [..] => Err("help takes one command\nweigh help diff".to_owned()),
        };
    }
    if command.name == COMPLETIONS.name {
        return match &*words {
            [word] => match word.parse::<Shell>() {
                Ok(shell) => Ok(Some(pages::completions(shell))),
                Err(_) => Err(unknown("shell", word, SHELLS.into_iter())),
            },
            _ => Err("completions needs the name of a shell\nweigh completions bash".to_owned()),
        };
    }
    Ok(None)
}

fn unknown<'n>(what: &str, word: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
    let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
    let hint = match nearest(word, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => names.join(", "),
    };
    format!("there is no {what} '{word}'\n{hint}")
}

/// The help of a command: on one screen, or all of it.
pub(in crate::program::cli) fn help(command: &CommandInfo, is_all: bool) -> String {
    let text = match (command.name, is_all) {
        ("", false) => SHORT.to_owned(),
        ("", true) => return pages::all_flags(),
        _ => of(command, is_all),
    };
    if !terminal::wants_colors() {
        return text;
    }
    let bold = |line: &str| {
        let is_line_to_type = line.trim_start().starts_with("weigh") && line.contains("  ");
        let end = line.trim_start().find("  ").filter(|_| is_line_to_type);
        let is_title = line.ends_with(':') && !line.starts_with(' ');
        let length = match end {
            Some(end) => line.len() - line.trim_start().len() + end,
            None if is_title => line.len(),
            None => 0,
        };
        let (start, rest) = line.split_at(length);
        match start.is_empty() {
            true => format!("{line}\n"),
            false => format!("{}{rest}\n", Style::new().bold().paint(start)),
        }
    };
    text.lines().map(bold).collect()
}

fn of(command: &CommandInfo, is_all: bool) -> String {
    let CommandInfo { about, operands, examples, .. } = command;
    let typed = command.typed();
    let widest = examples.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
    let mut text = format!("{about}\n\n");
    for (line, what) in *examples {
        text += format!("  {line:widest$}  {what}").trim_end();
        text.push('\n');
    }
    let flags = flags();
    let takes = |arg: &&Arg| command.takes(arg.get_id().as_str()) && !arg.is_positional();
    let (explained, others): (Vec<&Arg>, Vec<&Arg>) = flags
        .get_arguments()
        .filter(takes)
        .filter(|arg| !arg.is_hide_set())
        .partition(|arg| is_all || command.explains(arg.get_id().as_str()));
    let options = if explained.is_empty() { "" } else { " [OPTION]..." };
    text += &format!("\nUsage: {typed}{options} {operands}\n");
    if !explained.is_empty() {
        let explained = explained.into_iter().cloned().map(|arg| {
            let hides = arg.get_action().takes_values() && !is_all;
            arg.help_heading("Options").hide_possible_values(hides)
        });
        let only = Command::new("weigh").disable_help_flag(true).max_term_width(if is_all {
            100
        } else {
            80
        });
        let help = only.args(explained).help_template("{options}").render_help().to_string();
        text += &format!("\nOptions:\n{}\n", help.trim_end());
    }
    let is_asked = |arg: &&Arg| matches!(arg.get_id().as_str(), "help" | "version");
    let others: Vec<String> = others.into_iter().filter(|arg| !is_asked(arg)).map(shown).collect();
    if !others.is_empty() {
        text += "\nAlso (weigh --help explains them):\n";
        text += &wrapped(&others);
    }
    text
}

/// The words in lines of at most 78 columns.
fn wrapped(words: &[String]) -> String {
    let mut lines = vec![String::from(" ")];
    for word in words {
        if lines.last().is_some_and(|line| line.len() + 1 + word.len() > 78) {
            lines.push(String::from(" "));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The shells that completions can be made for.
const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];
