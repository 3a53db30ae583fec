//! `weigh help`, `weigh completions`, and the help of each command.

use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use nu_ansi_term::Style;

use super::{CommandInfo, TREE, named, names, shown};
use crate::app::cli::elsewhere::nearest;
use crate::app::cli::flags::Flags;
use crate::app::cli::{completions, filters, pages};
use crate::app::terminal;
use weigh::internal::base::escape::harmless;
use weigh::internal::from::list::FIND_FORMAT;

pub(in crate::app::cli) const HELP: CommandInfo = CommandInfo {
    name: "help",
    about: "Show help for a command; with --man, the man page",
    operands: "[COMMAND]",
    examples: &[
        ("weigh help", "lines to type, on one screen"),
        ("weigh help diff", "one command, on one screen"),
        ("weigh help --man | man -l -", "the man page"),
    ],
    notes: "",
    own: &["man"],
    also: &["paths"],
    take: |_| Ok(()),
};

pub(in crate::app::cli) const COMPLETIONS: CommandInfo = CommandInfo {
    name: "completions",
    about: "Print the completions for a shell: bash, elvish, fish, powershell or zsh",
    operands: "SHELL",
    examples: &[("weigh completions bash >~/.local/share/bash-completion/completions/weigh", "")],
    notes: "",
    own: &[],
    also: &["paths"],
    take: |_| Ok(()),
};

/// The output of `-h`: lines to type, 24 of 80 columns.
const SHORT: &str = include_str!("../../../../man/short-help.txt");

/// The text to print instead of a scan, if the `command` or a flag asks for one; or the error.
pub(in crate::app::cli) fn answer(
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
    if flags.snapshots.find_format {
        return Ok(Some(format!("{FIND_FORMAT}\n").into()));
    }
    if flags.print.man {
        return Ok(Some(pages::man()));
    }
    let words = flags.roots.paths.iter().map(|word| harmless(word.as_encoded_bytes()));
    let words: Vec<String> = words.collect();
    if command.is(&HELP) {
        return help_for(&words).map(|text| Some(text.into()));
    }
    if command.is(&COMPLETIONS) {
        return completions_for(&words).map(Some);
    }
    Ok(None)
}

fn help_for(words: &[String]) -> Result<String, String> {
    match words {
        [] => Ok(help(&TREE, false)),
        [word] if word == "weigh" => Ok(help(&TREE, false)),
        [word] => match named(word) {
            Some(command) => Ok(help(command, false)),
            None => Err(unknown("command", word, names())),
        },
        [..] => Err("help takes one command\nweigh help diff".to_owned()),
    }
}

fn completions_for(words: &[String]) -> Result<Vec<u8>, String> {
    let [word] = words else {
        return Err("completions needs the name of a shell\nweigh completions bash".to_owned());
    };
    let shell = Shell::from_str(word, false);
    shell.map(completions::completions).map_err(|_| {
        let shells: Vec<_> = Shell::value_variants().iter().map(Shell::to_string).collect();
        unknown("shell", word, shells.iter().map(String::as_str))
    })
}

/// An error for a `word` that is none of these `names` of a kind.
fn unknown<'n>(kind: &str, word: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.collect();
    let hint = match nearest(word, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => names.join(", "),
    };
    format!("there is no {kind} '{word}'\n{hint}")
}

/// The help of a command: on one screen, or all of it.
pub(in crate::app::cli) fn help(command: &CommandInfo, is_all: bool) -> String {
    let text = match (command.name, is_all) {
        ("", false) => SHORT.to_owned(),
        ("", true) => return pages::all_flags(),
        _ => of(command, is_all),
    };
    match terminal::wants_colors() {
        true => text.lines().map(with_bold_start).collect(),
        false => text,
    }
}

/// A line of help, with its newline. Lines to type and titles begin bold.
fn with_bold_start(line: &str) -> String {
    let typed = line.trim_start();
    let indent = line.len() - typed.len();
    let bold = match typed.find("  ") {
        Some(end) if typed.starts_with("weigh") => indent + end,
        _ if indent == 0 && line.ends_with(':') => line.len(),
        _ => return format!("{line}\n"),
    };
    let (start, rest) = line.split_at(bold);
    format!("{}{rest}\n", Style::new().bold().paint(start))
}

/// The help of a command other than the tree.
fn of(command: &CommandInfo, is_all: bool) -> String {
    let CommandInfo { about, operands, examples, notes, .. } = command;
    let widest = examples.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
    let mut text = format!("{about}\n\n");
    for (line, effect) in *examples {
        text += format!("  {line:widest$}  {effect}").trim_end();
        text.push('\n');
    }
    if !notes.is_empty() {
        text += &format!("\n{notes}");
    }
    let flags = Flags::command();
    let (explained, others) = command.flags(&flags, is_all);
    let options = if explained.is_empty() { "" } else { " [OPTION]..." };
    text += &format!("\nUsage: {}{options} {operands}\n", command.typed());
    if !explained.is_empty() {
        let explained = explained.into_iter().cloned().map(|arg| {
            let hides = arg.get_action().takes_values() && !is_all;
            arg.help_heading("Options").hide_possible_values(hides)
        });
        let width = if is_all { 100 } else { 80 };
        let only = Command::new("weigh").disable_help_flag(true).max_term_width(width);
        let help = only.args(explained).help_template("{options}").render_help().to_string();
        text += &format!("\nOptions:\n{}\n", help.trim_end());
    }
    let others: Vec<String> = others.into_iter().map(shown).collect();
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
