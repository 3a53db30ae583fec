//! Answers for flags that are misspelled, that weigh had before, or that other programs have.

use std::error::Error as _;
use std::num::{IntErrorKind, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use weigh::internal::base::measure::parse_size;
use weigh::internal::scan::filter::known_types;
use weigh::internal::tree::tally::By;

/// Flags of du, ncdu, gdu, dua, fd and ripgrep that weigh does not have, and what to use instead. weigh has those of
/// dust.
const FLAGS: &str = include_str!("elsewhere.txt");

/// Each line: the names of a flag, or a flag and a value as in `--by=user`, a colon, and the way out.
fn flags() -> impl Iterator<Item = (&'static str, &'static str)> {
    FLAGS.lines().filter_map(|line| line.split_once(": "))
}

/// Flags that are only in the config file, each with a line to write there.
const SETTINGS: [(&str, &str); 5] = [
    ("--theme", r#"theme = "dark""#),
    ("--color-of", r#"colors.accent = "cyan""#),
    ("--key-of", r#"keys.delete = "x""#),
    ("--hyperlink", r#"hyperlink = "never""#),
    ("--remember-bound", r#"remember-bound = "2G""#),
];

/// The error for the argument `typed`, if it is a flag that is only in the config file.
pub(super) fn setting(typed: &str) -> Option<String> {
    let typed = typed.split('=').next();
    let (flag, line) = SETTINGS.iter().find(|(flag, _)| Some(*flag) == typed)?;
    Some(format!(
        "{flag} is a setting of the config file\nwrite {line} into ~/.config/weigh/config.toml"
    ))
}

/// What to do instead of giving the flag `typed`, if another program has it.
pub(super) fn instead(typed: &str) -> Option<&'static str> {
    let mut flags = flags();
    flags.find_map(|(names, instead)| names.split(' ').any(|name| name == typed).then_some(instead))
}

// Flags and values that are misspelled.

/// The one of `names` that is nearest to `typed`, if one is near: a name that begins with it, or that differs in at
/// most a third of its letters. clap is more generous: it suggests `--no-print-errors` for `--nope`, and knows no
/// keys of the config file.
pub(super) fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    /// Too many names begin with fewer letters.
    const BEGINNING: usize = 3;
    let most = typed.chars().count() / 3;
    let names = names.map(|name| match name.strip_prefix(typed) {
        Some(_) if typed.len() >= BEGINNING => (0, name),
        _ => (strsim::damerau_levenshtein(typed, name), name),
    });
    names.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// The mistake in the command line, in one line, and in a second one the way out: a flag of `command`, a value, or the
/// help.
pub(super) fn explained(error: Error, command: &Command) -> String {
    let typed = |kind| text(&error, kind);
    if let Some(wrong) = error.source().and_then(|source| source.downcast_ref::<ParseIntError>()) {
        let instead = match wrong.kind() {
            IntErrorKind::PosOverflow => "a smaller number",
            IntErrorKind::Zero => "1 or more",
            _ => "a whole number, as in 20",
        };
        let (value, flag) = (typed(ContextKind::InvalidValue), typed(ContextKind::InvalidArg));
        return format!("invalid value '{value}' for '{flag}'\ngive {instead}");
    }
    let flag = typed(ContextKind::InvalidArg);
    let hint = match (error.kind(), error.get(ContextKind::ValidValue)) {
        (_, Some(ContextValue::Strings(values))) if !values.is_empty() => {
            let typed = typed(ContextKind::InvalidValue);
            let name = flag.split(' ').next().unwrap_or_default();
            let near = || nearest(&typed, values.iter().map(String::as_str));
            match instead(&format!("{name}={typed}")) {
                Some(instead) => Some(instead.to_owned()),
                None if let Some(near) = near() => Some(format!("did you mean {near}?")),
                // As in ncdu and sort.
                None if flag.starts_with("--output-format") && typed.contains(['.', '/']) => Some(
                    "-o is the unit of sizes; --save FILE.weigh keeps a scan, and -j prints JSON"
                        .into(),
                ),
                None => Some(format!("use one of {}", values.join(", "))),
            }
        }
        (ErrorKind::UnknownArgument, _) => instead(&flag).map(str::to_owned).or_else(|| {
            let names = command.get_arguments().flat_map(names);
            let near = flag.strip_prefix("--").and_then(|typed| nearest(typed, names))?;
            Some(format!("did you mean --{near}?"))
        }),
        // clap does not name another.
        (ErrorKind::ArgumentConflict, _) => {
            return format!("{flag} stands alone\nleave out other flags and PATHs");
        }
        _ => None,
    };
    let message = error.render().to_string();
    let message = message.lines().next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    // The values are in the hint.
    let message = message.split(" [possible values").next().unwrap_or(message);
    match (hint, message.split_once(": ")) {
        (Some(hint), _) => format!("{message}\n{hint}"),
        // Most reasons say what a valid value looks like.
        (None, Some((wrong, reason))) if wrong.starts_with("invalid value") => {
            match reason.split_once(" is not in ").and_then(|(value, all)| bound(value, all)) {
                Some(bound) => format!("{wrong}\ngive {bound}"),
                None => format!("{wrong}\n{reason}"),
            }
        }
        (None, _) => format!("{message}\nweigh --help explains all flags"),
    }
}

/// The bound of a range of numbers, as in `1..=9`, that `value` passes.
fn bound(value: &str, range: &str) -> Option<String> {
    let (least, most) = range.split_once("..=")?;
    let is_less = value.parse::<i64>().ok()? < least.parse().ok()?;
    Some(if is_less { format!("{least} or more") } else { format!("{most} or less") })
}

/// What to type instead of `-t VALUE`, where no file is called `value`: here -t takes none.
pub(super) fn instead_of_value(value: &str) -> Option<String> {
    let is_type = || known_types().iter().any(|(name, _)| name == value);
    Some(match value {
        // As in fd.
        "f" => "-F".to_owned(),
        "d" => "-D".to_owned(),
        _ if By::NAMES.contains(&value) => format!("--by {value}"),
        // As in ripgrep.
        _ if is_type() => format!("--type {value}"),
        // As in gdu.
        _ if value.parse::<u16>().is_ok() => format!("-F -n {value}"),
        // As in du.
        _ if parse_size(value).is_ok() => format!("-z {value}"),
        _ => return None,
    })
}

/// The text that `error` has in this `context`.
fn text(error: &Error, context: ContextKind) -> String {
    match error.get(context) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// The long names of a flag.
pub(super) fn names(arg: &Arg) -> Vec<&str> {
    arg.get_long_and_visible_aliases().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::app::cli::commands::TREE;
    use crate::app::cli::config;
    use crate::app::cli::flags::Flags;

    #[test]
    fn each_setting_has_a_line_for_the_config_file() {
        let command = Flags::command();
        for (flag, line) in SETTINGS {
            let read = config::read(line, &command).expect(line).settings;
            let arg = command
                .get_arguments()
                .find(|arg| Some(arg.get_id().as_str()) == read.first().map(|it| &*it.flag));
            let arg = arg.expect(line);
            assert!(
                arg.is_hide_set() && flag == format!("--{}", arg.get_long().unwrap_or_default()),
                "{line}"
            );
            assert!(setting(&format!("{flag}=x")).is_some_and(|error| error.contains(line)));
        }
    }

    #[test]
    fn each_is_no_flag_here_and_names_what_is() {
        let command = Flags::command();
        let long = |long: &str| {
            command.get_arguments().find(|arg| {
                arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long))
            })
        };
        let is_flag = |word: &str| match word.strip_prefix("--") {
            Some(word) => long(word).is_some(),
            None => command
                .get_arguments()
                .any(|arg| arg.get_short().is_some_and(|letter| word == format!("-{letter}"))),
        };
        // Those of weigh ui, too, were flags of the tree.
        let is_tree = |word: &str| {
            let arg = word.strip_prefix("--").and_then(long);
            arg.map_or_else(|| is_flag(word), |arg| TREE.takes(arg.get_id().as_str()))
        };
        assert_eq!(flags().count(), FLAGS.lines().count());
        for (names, instead) in flags() {
            for name in names.split(' ') {
                assert!(name.starts_with('-') && !is_tree(name), "{name}");
                assert_eq!(super::instead(name), Some(instead), "{name} is there twice");
            }
            let words = instead.split(' ').filter_map(|word| word.split(['=', ',', ':']).next());
            let named: Vec<_> = words.filter(|word| word.starts_with('-')).collect();
            let is_command = instead.contains("weigh ");
            assert!(is_command || !named.is_empty(), "{instead}");
            assert!(named.iter().all(|word| is_flag(word)), "{instead}");
        }
    }

    #[test]
    fn what_is_near_differs_in_little() {
        let names = ["no-dim", "no-print-errors", "colors", "number-of-lines", "reverse", "type"];
        for (typed, near) in [
            ("nope", None),
            ("n", None),
            ("x", None),
            ("number", Some("number-of-lines")),
            ("colour", Some("colors")),
            ("revesre", Some("reverse")),
            ("tipe", Some("type")),
            ("no-print-error", Some("no-print-errors")),
            ("tyep", Some("type")),
        ] {
            assert_eq!(nearest(typed, names.into_iter()), near, "{typed}");
        }
    }
}
