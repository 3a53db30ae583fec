//! The config file, which has a lower priority than flags: TOML, whose keys are the long names of flags.
//!
//! Except for rules, this file contains no names of keys. The [`Command`] says which keys there are and which values
//! they take, and settings become arguments for the parser of the command line.

use std::sync::Arc;

use clap::{Arg, ArgAction, Command};
use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, ValueDeserializer};

use super::elsewhere::{self, names, nearest};
use weigh::internal::ask::reclaimable::ReclaimRule;

/// The content of a config file.
#[derive(Debug)]
pub struct Config {
    /// The settings of flags, in the order of the file.
    pub settings: Vec<Setting>,
    /// The rules for `clean`, in the order of the file.
    pub rules: Vec<Arc<ReclaimRule>>,
}

/// A setting in a config file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its line, from 1.
    pub line: usize,
    /// Its key, or in a table such as `[keys]` the key there.
    pub key: String,
    /// The id of its flag.
    pub flag: String,
    /// Its arguments on the command line; none for a switch that is off.
    pub arguments: Vec<String>,
}

/// An invalid setting in a config file.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// A key and its value.
type Entry<'t, 'i> = (&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>);

/// Reads `text` as rules, and as settings of `command`'s flags.
///
/// # Errors
/// The first line that is not TOML, that names no flag, whose value has the wrong type, or that is wrong in a rule.
/// Whether a setting's value is valid is decided by the parser of the command line.
pub fn read(text: &str, command: &Command) -> Result<Config, Mistake> {
    /// Several times as many as there are flags, actions and colours. To find a wrong one, each is parsed by itself.
    const MOST: usize = 1_000;
    let table = DeTable::parse(text).map_err(|error| Mistake {
        line: line_at(text, error.span().map_or(0, |span| span.start)),
        message: error.message().replace('\n', ", "),
    })?;
    let mut table = table.into_inner();
    let rules = table.remove(KEY);
    let mut settings = Vec::new();
    for (key, value) in in_order(&table) {
        // A table [things] is for --thing-of, which takes NAME=VALUE and can be repeated.
        let pairs = key.get_ref().strip_suffix('s').map(|thing| format!("{thing}-of"));
        let pairs = pairs.unwrap_or_default();
        let entries = match value.get_ref() {
            DeValue::Table(entries) if long(&pairs, command).is_some() => {
                let entries = in_order(entries).into_iter();
                entries
                    .map(|(name, value)| (&*pairs, format!("{}=", name.get_ref()), name, value))
                    .collect()
            }
            _ => vec![(&**key.get_ref(), String::new(), key, value)],
        };
        for (flag, before, key, value) in entries {
            let line = line_at(text, key.span().start);
            let setting = setting(line, (flag, &before), value, command);
            settings.push(setting.map_err(|message| Mistake { line, message })?);
            if settings.len() > MOST {
                let message = format!("more than {MOST} settings (a list of values counts as one)");
                return Err(Mistake { line, message });
            }
        }
    }
    let rules = rules.map_or_else(|| Ok(Vec::new()), |rules| rules_of(text, rules))?;
    Ok(Config { settings, rules })
}

/// The flag with this long name.
fn long<'c>(name: &str, command: &'c Command) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| {
        arg.get_long() == Some(name)
            || arg.get_visible_aliases().is_some_and(|aliases| aliases.contains(&name))
    })
}

/// The entries of a table in the order of the file.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| key.span().start);
    entries
}

/// The start of the id of a counterpart.
const TWIN: &str = "--";

/// `command` with a counterpart for every switch: `--no-reverse` for `--reverse`, and `--colors` for `--no-colors`.
/// The last of the two wins.
pub fn with_counterparts(command: Command) -> Command {
    let switches =
        command.get_arguments().filter(|arg| is_setting(arg) && !arg.get_action().takes_values());
    let counterparts: Vec<Arg> = switches
        .filter_map(|switch| {
            let name = counterpart(switch.get_long()?);
            let is_taken = command.get_arguments().any(|arg| arg.get_long() == Some(&name));
            let help = format!("Undo --{}", switch.get_long()?);
            let arg = Arg::new(format!("{TWIN}{name}")).long(&name).help(help);
            let arg = arg.action(ArgAction::SetTrue).hide(true);
            let arg = arg.visible_aliases(names(switch).into_iter().skip(1).map(counterpart));
            (!is_taken).then(|| arg.overrides_with(switch.get_id()))
        })
        .collect();
    command.args(counterparts)
}

/// The long name of the flag that undoes the switch with this one.
pub fn counterpart(long: &str) -> String {
    match long.strip_prefix("no-") {
        Some(positive) => positive.to_owned(),
        None => format!("no-{long}"),
    }
}

/// Whether a flag is a setting. Others print something and end the program, or undo a switch.
fn is_setting(arg: &Arg) -> bool {
    let is_built_in =
        !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append | ArgAction::SetTrue);
    let is_once = matches!(
        arg.get_long(),
        Some(
            "apply"
                | "cd"
                | "config"
                | "empty-trash"
                | "forget"
                | "help"
                | "print0"
                | "rsh"
                | "scans"
                | "since"
                | "ui"
                | "version"
        )
    );
    !is_built_in && !arg.is_exclusive_set() && !is_once && !is_twin(arg)
}

/// Whether a flag undoes a switch.
fn is_twin(arg: &Arg) -> bool {
    arg.get_id().as_str().starts_with(TWIN)
}

fn setting(
    line: usize,
    (key, before): (&str, &str),
    value: &Spanned<DeValue<'_>>,
    command: &Command,
) -> Result<Setting, String> {
    let arg = long(key, command).filter(|arg| is_setting(arg));
    let arg = arg.ok_or_else(|| unknown(key, command))?;
    let arguments = match (value.get_ref(), arg.get_action().takes_values()) {
        (DeValue::Boolean(true), false) => vec![format!("--{key}")],
        (DeValue::Boolean(false), false) => Vec::new(),
        (value, false) => return Err(format!("{key} takes true or false, not {}", kind(value))),
        // It would change nothing: with `delete = []`, `d` still deletes.
        (DeValue::Array(values), true) if values.is_empty() && !before.is_empty() => {
            return Err(format!("{} needs at least one value", before.trim_end_matches('=')));
        }
        (DeValue::Array(values), true) if matches!(arg.get_action(), ArgAction::Append) => {
            let values = values.iter().map(|value| argument(key, before, value.get_ref()));
            values.collect::<Result<_, _>>()?
        }
        (value, true) => vec![argument(key, before, value)?],
    };
    let key = before.strip_suffix('=').unwrap_or(key).to_owned();
    Ok(Setting { line, key, flag: arg.get_id().to_string(), arguments })
}

fn argument(key: &str, before: &str, value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(format!("--{key}={before}{text}")),
        DeValue::Integer(number) => Ok(format!("--{key}={before}{number}")),
        DeValue::Float(number) => Ok(format!("--{key}={before}{}", number.as_str())),
        _ => {
            let key = before.strip_suffix('=').unwrap_or(key);
            Err(format!("{key} takes a string or a number, not {}", kind(value)))
        }
    }
}

/// The line, from 1, of the byte at `offset`.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

fn unknown(key: &str, command: &Command) -> String {
    let flags: Vec<&Arg> = command.get_arguments().filter(|arg| is_setting(arg)).collect();
    for flag in &flags {
        if let (Some(letter), Some(long)) = (flag.get_short(), flag.get_long())
            && key == letter.to_string()
        {
            return format!("unknown key {key}\nuse the long name of the flag, {long}");
        }
    }
    if long(key, command).is_some_and(|arg| !is_twin(arg)) {
        return format!("unknown key {key}: it is only for the command line");
    }
    if let Some(instead) = elsewhere::instead(&format!("--{key}")) {
        return format!("unknown key {key}\n{instead}");
    }
    match nearest(key, flags.into_iter().flat_map(names)) {
        Some(near) => format!("unknown key {key}\ndid you mean {near}?"),
        None => format!("unknown key {key}\nkeys are the long names of flags"),
    }
}

/// The type of a value, with its article.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

// Rules of what can be made or downloaded again: those that come with weigh, and those in the config file, as
// `[[rule]]`.

/// The key of the list of rules.
pub(super) const KEY: &str = "rule";

/// The rules in the `value` of that key in `text`, in its order.
///
/// # Errors
/// The first line that is wrong, with its key.
fn rules_of(text: &str, value: Spanned<DeValue<'_>>) -> Result<Vec<Arc<ReclaimRule>>, Mistake> {
    let rules = Vec::<Spanned<ReclaimRule>>::deserialize(ValueDeserializer::from(value));
    let rules = rules.map_err(|error| {
        let (line, key) = key_at(text, error.span().map_or(0, |span| span.start));
        Mistake { line, message: format!("{key}: {}", explained(key, error.message())) }
    })?;
    for rule in &rules {
        rule.get_ref().ensure_proves().map_err(|(key, why)| {
            let line = line_of(text, rule.span().start, key);
            Mistake { line, message: format!("{key}: {why}") }
        })?;
    }
    Ok(rules.into_iter().map(|rule| Arc::new(rule.into_inner())).collect())
}

/// What the parser says of the value of a `key`, in our words.
fn explained(key: &str, message: &str) -> String {
    if message.starts_with("unknown field") {
        // All that it expects are in backticks, after the one that it found.
        let known = message.split('`').skip(3).step_by(2);
        let near = nearest(key, known).map(|near| format!("\ndid you mean {near}?"));
        return format!("a rule has no such key{}", near.unwrap_or_default());
    }
    let takes = match message.rsplit_once("expected ") {
        _ if key == KEY => "tables, as in [[rule]]",
        Some((_, "a boolean")) => "true or false",
        Some((_, "a sequence")) => "a list of strings",
        Some((_, other)) => other,
        None => return message.replace('\n', ", "),
    };
    format!("it takes {takes}")
}

/// The key of a line that begins with one.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once('=')?.0.trim();
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_key.then_some(key)
}

/// The line, from 1, of the key whose value has the byte at `offset`.
fn key_at(text: &str, offset: usize) -> (usize, &str) {
    let lines = text.lines().take(line_at(text, offset)).enumerate();
    let keys = lines.filter_map(|(i, line)| Some((i + 1, key_of(line)?)));
    keys.last().unwrap_or((line_at(text, offset), KEY))
}

/// The line, from 1, that has a `key` of the rule that begins at `start`; or where that begins.
fn line_of(text: &str, start: usize, key: &str) -> usize {
    let first = line_at(text, start);
    let rest = text.lines().enumerate().skip(first);
    let mut own = rest.take_while(|(_, line)| !line.trim_start().starts_with('['));
    own.find(|(_, line)| key_of(line) == Some(key)).map_or(first, |(i, _)| i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weigh::internal::ask::reclaimable::BUILT_IN;

    fn command() -> Command {
        let long = |name| Arg::new(name).long(name);
        Command::new("weigh").args([
            long("reverse").action(ArgAction::SetTrue),
            long("no-colors").action(ArgAction::SetTrue),
            long("depth").short('d').action(ArgAction::Set),
            long("exclude").action(ArgAction::Append),
            long("config").action(ArgAction::Set),
            long("man").action(ArgAction::SetTrue).exclusive(true),
        ])
    }

    #[test]
    fn settings_are_arguments_in_the_order_of_the_file() {
        let text = "# mine\nreverse = true\nno-colors = false\ndepth = 3\n\
                    exclude = [\n  'a b',\n  \"c\",\n]\n";
        let settings = read(text, &command()).expect("it makes sense").settings;
        let found: Vec<_> =
            settings.iter().map(|one| (one.line, &*one.flag, one.arguments.join("|"))).collect();
        assert_eq!(
            found,
            [
                (2, "reverse", "--reverse".to_owned()),
                (3, "no-colors", String::new()),
                (4, "depth", "--depth=3".to_owned()),
                (5, "exclude", "--exclude=a b|--exclude=c".to_owned()),
            ]
        );
    }

    #[test]
    fn rules_that_come_with_weigh_prove_what_they_find() {
        let rules = read(BUILT_IN, &command()).expect("they make sense").rules;
        assert!(rules.iter().any(|rule| rule.name == "cargo-target"));
    }

    #[test]
    fn mistakes_say_where_and_what() {
        for (text, line, message) in [
            ("\nrevers = true", 2, "unknown key revers\ndid you mean reverse?"),
            ("xyz = true", 1, "unknown key xyz\nkeys are the long names of flags"),
            ("d = 1", 1, "unknown key d\nuse the long name of the flag, depth"),
            ("n = 1", 1, "unknown key n\nkeys are the long names of flags"),
            ("config = 'a'", 1, "unknown key config: it is only for the command line"),
            ("man = true", 1, "unknown key man: it is only for the command line"),
            ("reverse = 1", 1, "reverse takes true or false, not a number"),
            ("depth = true", 1, "depth takes a string or a number, not true or false"),
            ("depth = [1]", 1, "depth takes a string or a number, not a list"),
            ("exclude = [1, [2]]", 1, "exclude takes a string or a number, not a list"),
            ("[depth]\nx = 1", 1, "depth takes a string or a number, not a table"),
        ] {
            let mistake = read(text, &command()).expect_err(text);
            assert_eq!((mistake.line, &*mistake.message), (line, message), "{text}");
        }
        assert_eq!(read("depth = 1\n\ndepth = 2\n", &command()).expect_err("twice").line, 3);
        assert_eq!(read("a\n=", &command()).expect_err("no TOML").line, 1);
    }

    #[test]
    fn every_switch_has_a_counterpart() {
        let command = with_counterparts(command());
        let is_on = |args: &[&str], id| {
            let args = ["weigh"].iter().chain(args);
            command.clone().try_get_matches_from(args).expect("they parse").get_flag(id)
        };
        assert!(!is_on(&["--reverse", "--no-reverse"], "reverse"));
        assert!(is_on(&["--no-reverse", "--reverse"], "reverse"));
        assert!(!is_on(&["--no-colors", "--colors"], "no-colors"));
        assert!(!command.get_arguments().any(|arg| arg.get_long() == Some("no-depth")));
    }
}
