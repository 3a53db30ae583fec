//! The commands. A command is the first word; without one, weigh shows the tree. Each command has a file, which lists the
//! flags that it takes.

mod clean;
mod df;
mod diff;
mod help;
mod history;
mod tree;
mod ui;
mod watch;

use std::ffi::OsString;

use clap::{Arg, Command};

use super::elsewhere::nearest;
use super::filters::FILTERS;
use super::flags::Flags;
use super::parse::Given;
use super::{config, elsewhere};
use help::{COMPLETIONS, HELP};
use weigh::internal::base::escape::harmless;

pub(super) use clean::{CLEAN, CleanFlags};
pub(super) use diff::{DIFF, neither};
pub(super) use help::answer;
pub(super) use tree::TREE;
pub(super) use ui::UI;
pub(super) use watch::WatchFlags;

/// Something that weigh does.
#[derive(Debug)]
pub(super) struct CommandInfo {
    /// Its word; empty for the tree.
    pub(super) name: &'static str,
    /// Its purpose, in one line without a full stop.
    pub(super) about: &'static str,
    /// The words that can follow its name and flags.
    pub(super) operands: &'static str,
    /// Lines to type, each with its effect.
    pub(super) examples: &'static [(&'static str, &'static str)],
    /// What else its help says, in lines of at most 80 columns; perhaps nothing.
    pub(super) notes: &'static str,
    /// The flags that its help explains: groups of ids, separated by spaces.
    pub(super) own: &'static [&'static str],
    /// The flags that it takes, too.
    pub(super) also: &'static [&'static str],
    /// Gives its words and flags their meaning.
    pub(super) take: fn(&mut Flags) -> Result<(), String>,
}

/// The commands, in the order of help.
pub(super) const ALL: [&CommandInfo; 9] =
    [&TREE, &UI, &CLEAN, &DIFF, &history::HISTORY, &df::DF, &watch::WATCH, &HELP, &COMPLETIONS];

/// Groups of flags, which commands share. These say where entries come from.
const SOURCES: &str = "paths from from_format files_from files0_from rsh series";
/// These choose the measure.
const MEASURES: &str = "apparent_size filecount inodes";
/// These change which links and layers count.
const COUNT: &str = "count_links exact_links dereference_links overlays";
/// These limit the entries that are shown.
const LIMITS: &str = "number_of_lines depth min_size only_dir only_file";
/// These save the scan.
const SAVED: &str = "save keep details remember remember_bound";
/// These draw lines.
const DRAWN: &str = "full_paths reverse no_percent_bars bars_on_right dim screen_reader terminal_width skip_total sort";
/// These choose the format and the colours.
const PRINTED: &str = "output_json form output_format time_style color no_colors force_colors theme color_of hyperlink";
/// These are about the work, and messages on the way.
const WORK: &str = "threads rate read config no_progress quiet print_errors stats";
/// Questions that any command answers.
const ASKED: &str = "help version";

impl CommandInfo {
    /// The command that the first of `args` after the program's name is; the tree if it is none.
    pub(super) fn of(args: &[OsString]) -> &'static Self {
        let word = args.get(1).and_then(|word| word.to_str());
        word.and_then(named).unwrap_or(&TREE)
    }

    /// Whether it is the same command as `other`.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.name == other.name
    }

    /// Whether it takes a flag.
    pub(super) fn takes(&self, id: &str) -> bool {
        has(self.own, id) || has(self.also, id) || has(&[ASKED], id)
    }

    /// Whether it takes a flag beside what is `given`: without a PATH, `df` scans nothing.
    pub(super) fn takes_beside(&self, id: &str, given: &Given) -> bool {
        let paths = ["paths", "files_from", "files0_from"];
        let is_list = self.is(&df::DF) && !paths.iter().any(|name| given.has(name));
        let drawn = "terminal_width screen_reader no_percent_bars";
        let is_of_lists = || has(&[PRINTED, WORK, ASKED, drawn], id);
        self.takes(id) && (!is_list || is_of_lists())
    }

    /// The flags among `all` that its help explains, or all that it takes; and the others that it takes, but for those
    /// that any command answers.
    pub(super) fn flags<'c>(&self, all: &'c Command, is_all: bool) -> (Vec<&'c Arg>, Vec<&'c Arg>) {
        let id = |arg: &Arg| arg.get_id().to_string();
        let taken = all.get_arguments().filter(|arg| self.takes(&id(arg)));
        let taken = taken.filter(|arg| !arg.is_positional() && !arg.is_hide_set());
        let (own, others): (Vec<_>, Vec<_>) =
            taken.partition(|arg| is_all || has(self.own, &id(arg)));
        (own, others.into_iter().filter(|arg| !has(&[ASKED], &id(arg))).collect())
    }

    /// It, as one types it.
    pub(super) fn typed(&self) -> String {
        format!("weigh {}", self.name).trim_end().to_owned()
    }

    /// Refuses the first flag in `given` that it does not take, with a line to type instead.
    pub(super) fn ensure_takes(&self, all: &Command, given: &Given) -> Result<(), String> {
        let takes = |arg: &Arg| self.takes_beside(arg.get_id().as_str(), given);
        // A flag that undoes another is taken where that is.
        let undone = |arg: &Arg| {
            let long = arg.get_long().map(config::counterpart);
            all.get_arguments().find(|it| long.is_some() && it.get_long() == long.as_deref())
        };
        let mut typed = all.get_arguments().filter(|arg| given.has(arg.get_id().as_str()));
        let other = typed.find(|arg| !takes(arg) && !undone(arg).is_some_and(takes));
        other.map_or(Ok(()), |other| Err(self.refusal_of(other)))
    }

    /// The reason why it does not take a flag, and the way out.
    fn refusal_of(&self, flag: &Arg) -> String {
        let (name, id, typed) = (shown(flag), flag.get_id().as_str(), self.typed());
        if self.takes(id) {
            return format!(
                "{name} needs a PATH: without one, df lists file systems\nname one, as in weigh df {name} /"
            );
        }
        if flag.is_positional() {
            return format!("{typed} takes no PATH\nleave it out");
        }
        let long = format!("--{}", flag.get_long().unwrap_or_default());
        let others: Vec<_> = ALL.into_iter().filter(|it| it.takes(id)).collect();
        let instead = match (elsewhere::instead(&long), &*others) {
            (Some(instead), _) => instead.to_owned(),
            (None, [only]) => format!("{} takes it; here, leave it out", only.typed()),
            (None, _) => "leave it out".to_owned(),
        };
        format!("{name} does nothing in {typed}\n{instead}")
    }
}

/// Whether a flag is in one of these `groups`.
fn has(groups: &[&str], id: &str) -> bool {
    groups.iter().any(|ids| ids.split(' ').any(|it| it == id))
}

impl Default for &CommandInfo {
    fn default() -> Self {
        &TREE
    }
}

/// The command called `name`; the tree has no name.
fn named(name: &str) -> Option<&'static CommandInfo> {
    ALL.into_iter().find(|command| command.name == name && !name.is_empty())
}

/// A flag as one types it.
pub(super) fn shown(arg: &Arg) -> String {
    match (arg.get_short(), arg.get_long()) {
        (Some(letter), _) => format!("-{letter}"),
        (None, Some(long)) => format!("--{long}"),
        (None, None) => "PATH".to_owned(),
    }
}

/// A hint for a missing PATH called `word` that is, or nearly is, the name of a command.
pub(super) fn meant(word: &str) -> Option<String> {
    let instead = match word {
        // As in dua and gdu.
        "i" | "interactive" | "a" => UI.name,
        _ => nearest(word, names())?,
    };
    let word = harmless(word.as_bytes());
    Some(format!("a command comes first: weigh {instead}; a PATH of this name is ./{word}"))
}

/// The names of all commands.
fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(|command| command.name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn each_flag_is_one_and_has_a_command() {
        let flags = Flags::command();
        let ids = |groups: &[&'static str]| -> Vec<&'static str> {
            groups.iter().flat_map(|group| group.split_whitespace()).collect()
        };
        for command in ALL {
            for id in ids(command.own).into_iter().chain(ids(command.also)) {
                assert!(
                    flags.get_arguments().any(|arg| arg.get_id() == id),
                    "{} {id}",
                    command.name
                );
            }
        }
        for arg in flags.get_arguments() {
            let id = arg.get_id().as_str();
            assert!(ALL.into_iter().any(|command| command.takes(id)), "{id}");
        }
    }

    #[test]
    fn what_is_meant() {
        assert!(meant("dif").is_some_and(|hint| hint.contains("weigh diff")));
        assert!(meant("ui").is_some_and(|hint| hint.contains("weigh ui;")));
        assert_eq!(meant("src"), None);
    }
}
