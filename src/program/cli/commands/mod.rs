//! What weigh does: a command is the first word, and shows the tree if there is none. Each has a file, which says
//! what it takes.

mod clean;
mod df;
mod diff;
mod help;
mod history;
mod tree;
mod ui;

use std::ffi::OsString;

use clap::{Arg, ArgMatches, Command, CommandFactory};

use super::flags::Flags;
use super::near::nearest;
use super::parse::is_typed;
use super::{config, elsewhere};
pub(super) use help::answer;
use help::{COMPLETIONS, HELP};
pub(super) use tree::TREE;
use weigh::internal::escape::harmless;

/// Something that weigh does.
#[derive(Debug)]
pub(super) struct CommandInfo {
    /// Its word; empty for the tree.
    pub(super) name: &'static str,
    /// What it is for, in one line without a full stop.
    pub(super) about: &'static str,
    /// What can follow its word and flags.
    pub(super) operands: &'static str,
    /// Lines to type, each with what it does.
    pub(super) examples: &'static [(&'static str, &'static str)],
    /// The flags that its help explains: groups of ids, separated by spaces.
    pub(super) own: &'static [&'static str],
    /// The flags that it takes, too.
    pub(super) also: &'static [&'static str],
    /// Gives its words and flags their meaning.
    pub(super) take: fn(&mut Flags) -> Result<(), String>,
}

/// The commands, in the order of help.
pub(super) const ALL: [&CommandInfo; 8] =
    [&TREE, &ui::UI, &clean::CLEAN, &diff::DIFF, &history::HISTORY, &df::DF, &HELP, &COMPLETIONS];

/// Groups of flags, which commands share: where entries come from.
const SOURCES: &str =
    "paths load list list_totals list_duplicates files_from files0_from rsh series";
/// What sizes are.
const MEASURES: &str = "apparent_size filecount inodes";
/// What counts.
const COUNT: &str = "count_links exact_links dereference_links overlays";
/// What is left out.
const FILTERS: &str = "limit_filesystem ignore_hidden ignore_directory filter invert_filter ignore_all_in_file exclude \
    include exclude_from gitignore only_ignored exclude_caches only_type type_not older newer mtime atime ctime";
/// How many entries are shown, and which.
const LIMITS: &str = "number_of_lines depth min_size only_dir only_file";
/// What is saved.
const SAVED: &str = "save keep details remember remember_bound";
/// How lines are drawn.
const DRAWN: &str = "full_paths reverse no_percent_bars bars_on_right dim screen_reader terminal_width skip_total sort";
/// How text is printed.
const PRINTED: &str = "output_json form output_format time_style color no_colors force_colors theme color_of hyperlink";
/// How weigh works and what it says on the way.
const WORK: &str = "threads read config no_progress quiet print_errors stats";
/// Questions that any command answers.
const ASKED: &str = "help version";

impl CommandInfo {
    /// The command that the first of `args` after the program's name is; the tree if it is none.
    pub(super) fn of(args: &[OsString]) -> &'static Self {
        let word = args.get(1).and_then(|word| word.to_str());
        let found = ALL.into_iter().find(|command| word == Some(command.name));
        found.filter(|command| !command.name.is_empty()).unwrap_or(&TREE)
    }

    /// Whether it takes a flag.
    pub(super) fn takes(&self, id: &str) -> bool {
        let is_usual = |groups: &[&str]| groups.iter().any(|ids| ids.split(' ').any(|it| it == id));
        is_usual(self.own) || is_usual(self.also) || ASKED.split(' ').any(|it| it == id)
    }

    /// Whether it takes a flag beside what is `given`: without a PATH, `df` scans nothing.
    pub(super) fn takes_beside(&self, id: &str, given: &ArgMatches) -> bool {
        const OF_LISTS: [&str; 3] = [PRINTED, WORK, "terminal_width"];
        let has_paths =
            ["paths", "files_from", "files0_from"].iter().any(|name| is_typed(name, given));
        let is_list = self.name == "df" && !has_paths;
        let is_of_list =
            || OF_LISTS.iter().chain(&[ASKED]).any(|ids| ids.split(' ').any(|it| it == id));
        self.takes(id) && (!is_list || is_of_list())
    }

    /// Whether its help explains a flag.
    fn explains(&self, id: &str) -> bool {
        self.own.iter().any(|ids| ids.split(' ').any(|it| it == id))
    }

    /// It, as one types it.
    pub(super) fn typed(&self) -> String {
        format!("weigh {}", self.name).trim_end().to_owned()
    }

    /// Refuses the first flag in `given` that it does not take: an error, and what to type instead.
    pub(super) fn ensure_takes(&self, all: &Command, given: &ArgMatches) -> Result<(), String> {
        let typed = all.get_arguments().filter(|arg| is_typed(arg.get_id().as_str(), given));
        // What undoes a flag stands for it.
        let undone = |arg: &Arg| {
            let long = arg.get_long().map(config::counterpart);
            all.get_arguments().find(|it| long.is_some() && it.get_long() == long.as_deref())
        };
        let is_taken = |arg: &Arg| {
            let takes = |arg: &Arg| self.takes_beside(arg.get_id().as_str(), given);
            takes(arg) || undone(arg).is_some_and(takes)
        };
        let Some(other) = typed.into_iter().find(|arg| !is_taken(arg)) else { return Ok(()) };
        let (name, id) = (shown(other), other.get_id().as_str());
        if self.takes(id) {
            return Err(format!(
                "{name} needs a PATH: without one, df lists file systems\nname one, as in weigh df {name} /"
            ));
        }
        if let Some(instead) =
            elsewhere::instead(&format!("--{}", other.get_long().unwrap_or_default()))
        {
            return Err(format!("{name} does nothing in {}\n{instead}", self.typed()));
        }
        if other.is_positional() {
            return Err(format!("{} takes no PATH\nleave it out", self.typed()));
        }
        let others: Vec<_> =
            ALL.iter().filter(|it| it.takes(id)).map(|command| command.typed()).collect();
        let only = match &*others {
            [] => "leave it out".to_owned(),
            [only] => format!("{only} takes it; here, leave it out"),
            [..] => "leave it out".to_owned(),
        };
        Err(format!("{name} does nothing in {}\n{only}", self.typed()))
    }
}

impl Default for &CommandInfo {
    fn default() -> Self {
        &TREE
    }
}

/// The command with a name.
pub(super) fn named(name: &str) -> &'static CommandInfo {
    ALL.into_iter().find(|command| command.name == name).unwrap_or(&TREE)
}

/// A flag as one types it.
pub(super) fn shown(arg: &Arg) -> String {
    match (arg.get_short(), arg.get_long()) {
        (Some(letter), _) => format!("-{letter}"),
        (None, Some(long)) => format!("--{long}"),
        (None, None) => "PATH".to_owned(),
    }
}

/// What to type instead of `word`, which is not there and was taken for a PATH, if it is or nearly is a command.
pub(super) fn meant(word: &str) -> Option<String> {
    let names = || ALL.into_iter().map(|command| command.name).filter(|name| !name.is_empty());
    let instead = match word {
        // As in dua and gdu.
        "i" | "interactive" | "a" => Some("ui"),
        _ => names().find(|name| *name == word).or_else(|| nearest(word, names())),
    }?;
    let word = harmless(word.as_bytes());
    Some(format!("a command comes first: weigh {instead}; a PATH of this name is ./{word}"))
}

/// All flags, each once, with those that nobody needs to find hidden.
pub(super) fn flags() -> Command {
    Flags::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flag_is_one_and_has_a_command() {
        let flags = flags();
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
