//! Reads flags from the command line, and settings from the config file.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{env, io, iter};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches};

use super::commands::{self, CommandInfo};
use super::config::{self, Config, Mistake, Setting};
use super::filters::{self, FilterFlags};
use super::flags::Flags;
use super::{HOME, elsewhere, refusals, roots, snapshots};
use weigh::internal::base::escape::harmless;
use weigh::internal::sys::problem::reason;
use weigh::internal::sys::{self, Source};

/// The ids of the flags that are given, each with its values as they were typed.
#[derive(Debug, Default)]
pub(super) struct Given(pub(super) Vec<(String, Vec<OsString>)>);

impl Given {
    fn of(matches: &ArgMatches) -> Self {
        let ids = matches.ids().map(|id| id.as_str());
        let typed = ids.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
        let values = |id| matches.get_raw(id).into_iter().flatten().map(OsString::from).collect();
        Self(typed.map(|id| (id.to_owned(), values(id))).collect())
    }

    /// Whether a flag is given.
    pub(super) fn has(&self, id: &str) -> bool {
        self.values(id).is_some()
    }

    /// The values of a flag, if it is given.
    pub(super) fn values(&self, id: &str) -> Option<&[OsString]> {
        self.0.iter().find_map(|(flag, values)| (flag == id).then_some(&**values))
    }
}

/// A flag that does nothing without another one.
struct Need {
    flag: &'static str,
    /// The others, each with the end that its value must have.
    others: &'static [(&'static str, &'static str)],
    /// The others, as an error names them, and perhaps the way out on a line of its own.
    said: &'static str,
}

const NEEDS: [Need; 3] = [
    Need {
        flag: "details",
        others: &[("save", ""), ("remember", ""), ("ui", ""), ("form", "parquet")],
        said: "--save, weigh ui or --as parquet",
    },
    Need { flag: "keep", others: &[("save", "/")], said: "--save DIR/, with a slash at its end" },
    Need { flag: "from_format", others: &[("from", "")], said: "--from" },
];

impl Need {
    /// Whether one of the others is typed or set, or the command itself is one.
    fn is_met(&self, info: &CommandInfo, settings: &[&Setting], given: &Given) -> bool {
        self.others.iter().any(|(other, end)| {
            info.name == *other
                || values(other, settings, given).any(|value| value.ends_with(end.as_bytes()))
        })
    }
}

/// Calls `make` with the flags in `args`, which begin with the program's name, and in the config file; before that file is
/// read, calls `answer` with those in `args`. An error is a line, and perhaps a second one with the way out.
pub(super) fn flags<T>(
    args: &[OsString],
    answer: impl Fn(&Flags) -> Result<(), String>,
    make: impl Fn(Flags) -> Result<T, String>,
) -> Result<T, String> {
    let (source, args) = source(args)?;
    let command = CommandInfo::of(&args);
    let mut args = args.into_owned();
    if !command.name.is_empty() {
        args.remove(1);
    }
    if command.is(&commands::CLEAN) {
        // In the tree, -v is a filter, as in dust.
        let words = args.iter_mut().take_while(|arg| *arg != "--");
        words.filter(|arg| *arg == "-v").for_each(|arg| *arg = "--verbose".into());
    }
    let (flags, given, parser) = parse(command, &args)?;
    answer(&flags)?;
    // Not if the config file says so.
    let is_remember_typed = flags.snapshots.remember;
    let typed = flags.filters.as_typed();
    let swallowed = flags.swallowed();
    let make = |flags: Flags| {
        let filters = FilterFlags { typed: typed.clone(), ..flags.filters };
        make(Flags { source, is_remember_typed, swallowed: swallowed.clone(), filters, ..flags })
    };
    match file(flags.print.config.as_deref())? {
        None => make(flags),
        Some((path, text)) => {
            let parser = parser.unwrap_or_else(parser_of_flags);
            over(flags.command, parser, (&args, &given), (&path, &text), make)
        }
    }
}

/// Whether JSON is asked for in `args`, in which something else may be wrong.
pub(super) fn asks_for_json(args: &[OsString]) -> bool {
    let parser = Flags::command();
    let find = |letter| parser.get_arguments().find(|arg| arg.get_short() == Some(letter));
    let is_switch = |letter: &char| find(*letter).is_some_and(|it| !it.get_action().takes_values());
    let words = args.iter().skip(1).take_while(|arg| *arg != "--");
    let words: Vec<_> = words.map(|arg| arg.to_string_lossy()).collect();
    let is_json = |word: &Cow<str>| match word.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') => {
            letters.chars().take_while(is_switch).any(|letter| letter == 'j')
        }
        _ => word == "--output-json" || word.eq_ignore_ascii_case("--as=json"),
    };
    let is_pair = |pair: &[Cow<str>]| pair[0] == "--as" && pair[1].eq_ignore_ascii_case("json");
    words.iter().any(is_json) || words.windows(2).any(is_pair)
}

/// The source of listings, and the other arguments. `--source` is for tests and not a flag: help, man page,
/// completions and config file do not know it, and it may come before flags that exclude all others.
fn source(args: &[OsString]) -> Result<(Source, Cow<'_, [OsString]>), String> {
    match args {
        [name, flag, source, others @ ..] if flag == "--source" => {
            let Some((_, source)) = Source::named().find(|(name, _)| *source == **name) else {
                let names: Vec<_> = Source::named().map(|(name, _)| name).collect();
                let (names, source) = (names.join(" or "), harmless(source.as_encoded_bytes()));
                return Err(format!("--source is {names}, not {source}"));
            };
            Ok((source, iter::once(name).chain(others).cloned().collect()))
        }
        _ => Ok((Source::default(), args.into())),
    }
}

/// The parser of all flags. It is not dropped, because that is a tenth of the time to start.
fn parser_of_flags() -> &'static mut Command {
    Box::leak(Box::new(Flags::command()))
}

/// The flags in `args`, which of them are given, and their parser if it was needed.
type Parsed = (Flags, Given, Option<&'static mut Command>);

fn parse(info: &'static CommandInfo, args: &[OsString]) -> Result<Parsed, String> {
    let paths = args.get(1..).unwrap_or_default();
    if !paths.iter().any(|arg| arg.as_encoded_bytes().starts_with(b"-")) {
        // For clap to learn all flags takes a tenth of the time of a small tree.
        let mut flags = Flags { command: info, ..Flags::default() };
        flags.roots.paths = paths.to_vec();
        (info.take)(&mut flags)?;
        let given = (!paths.is_empty()).then(|| ("paths".to_owned(), paths.to_vec()));
        return Ok((flags, Given(given.into_iter().collect()), None));
    }
    with_flags(info, args)
}

fn with_flags(info: &'static CommandInfo, args: &[OsString]) -> Result<Parsed, String> {
    let mut words = args.iter().take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str());
    if let Some(error) = words.find_map(elsewhere::setting) {
        return Err(error);
    }
    let mut parser = parser_of_flags();
    let mut matches = parser.try_get_matches_from_mut(args);
    if matches.as_ref().is_err_and(|error| error.kind() == ErrorKind::UnknownArgument) {
        // It may be a counterpart. They are added only now, because there is one for each switch, and they are rarely
        // used.
        parser = Box::leak(Box::new(config::with_counterparts(Flags::command())));
        matches = parser.try_get_matches_from_mut(args);
    }
    let matches = matches.map_err(|error| elsewhere::explained(error, parser))?;
    if matches.get_flag("help")
        && let Some(why) = help_among_others(args)
    {
        return Err(why);
    }
    let given = Given::of(&matches);
    Ok((interpret(info, parser, matches, &given)?, given, Some(parser)))
}

/// Why help among other letters, as in `-sh`, is an error: users of `du` mean human-readable sizes.
fn help_among_others(args: &[OsString]) -> Option<String> {
    if args.iter().any(|arg| arg == "-h" || arg == "--help") {
        return None;
    }
    let mut args = args.iter().skip(1).map(|arg| arg.as_encoded_bytes());
    let letters = harmless(
        args.find(|arg| arg.starts_with(b"-") && !arg.starts_with(b"--") && arg.contains(&b'h'))?,
    );
    Some(format!(
        "-h prints help, and is not combined with other flags as in '{letters}': sizes are for people already\n\
         `weigh -d 0 PATH` shows what `du -sh PATH` prints"
    ))
}

fn interpret(
    info: &'static CommandInfo,
    command: &Command,
    mut matches: ArgMatches,
    given: &Given,
) -> Result<Flags, String> {
    // -u is from before there were commands.
    let is_screen = info.name.is_empty() && given.has("ui");
    let info = if is_screen { &commands::UI } else { info };
    info.ensure_takes(command, given)?;
    let mut used = refusals::used(given);
    if info.is(&commands::DIFF) {
        // The word SINCE is no PATH.
        used.retain(|used| *used != "paths");
    }
    if info.is(&commands::CLEAN) {
        // It is a plan, and weigh scans.
        used.retain(|used| *used != "from");
    }
    refusals::refuse(command, &used)?;
    ensure_unit(given)?;
    for need in &NEEDS {
        if given.has(need.flag) && !need.is_met(info, &[], given) {
            let flag = format!("--{}", need.flag.replace('_', "-"));
            return Err(format!(
                "{flag} needs {}
add it, or leave out {flag}",
                need.said
            ));
        }
    }
    let counting = snapshots::counting(command, given);
    let passed = roots::passed(command, given);
    let selected_by = filters::selected_by(given);
    let is_disk = given.has("--no-apparent-size");
    let keeps_nothing = given.has("--no-remember");
    // Without `_mut`, it would clone everything.
    let flags = Flags::from_arg_matches_mut(&mut matches).map_err(|error| error.to_string())?;
    let mut flags =
        Flags { command: info, counting, passed, selected_by, is_disk, keeps_nothing, ..flags };
    (info.take)(&mut flags)?;
    if !flags.snapshots.from.is_empty() && !used.contains(&"from") {
        // The second of two snapshots is loaded.
        used.push("from");
        refusals::refuse(command, &used)?;
    }
    Ok(flags)
}

/// Refuses a growth in bytes without a unit, which may be meant in percent. Files and inodes have no unit.
fn ensure_unit(given: &Given) -> Result<(), String> {
    let limit = given.values("fail_growth").and_then(|values| values.last()?.to_str());
    let is_bare = |limit: &&str| limit.bytes().all(|byte| byte.is_ascii_digit()) && *limit != "0";
    match limit.filter(is_bare).filter(|_| !given.has("filecount") && !given.has("inodes")) {
        Some(limit) => {
            Err(format!("--fail-growth {limit}: {limit} what?\nas in {limit}% or {limit}M"))
        }
        None => Ok(()),
    }
}

/// The path and the text of the config file, if there is one: the one on the command line, or in the environment
/// (none if that is empty), or the usual one.
fn file(named: Option<&OsStr>) -> Result<Option<(PathBuf, String)>, String> {
    let (path, is_named) = match named.map(PathBuf::from).or(path_in("WEIGH_CONFIG_PATH")) {
        Some(path) if path.as_os_str().is_empty() => return Ok(None),
        Some(path) => (path, true),
        None => {
            // Relative paths are to be ignored (XDG Base Directory Specification).
            let absolute = |variable| path_in(variable).filter(|path| path.is_absolute());
            let own = || absolute(HOME).map(|home| home.join(".config"));
            let Some(directory) = absolute("XDG_CONFIG_HOME").or_else(own) else { return Ok(None) };
            let path = directory.join("weigh/config.toml");
            // A pipe would block, and the user did not ask for this file.
            if sys::is_special_file(&path) {
                return Ok(None);
            }
            (path, false)
        }
    };
    let wrong = match sys::read_file(&path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => return Ok(Some((path, text))),
            Err(_) => "it is not UTF-8".to_owned(),
        },
        // The user did not name this file, and the home may be another user's.
        Err(error) if !is_named && is_absent(&error) => return Ok(None),
        Err(error) => reason(&error),
    };
    Err(format!("cannot read the config file {}: {wrong}", printable(&path)))
}

/// The path in a variable of the environment.
pub(super) fn path_in(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from)
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

/// Calls `make` with the flags in `args`, which are `given`, and the settings in the text of the config file at a path.
fn over<T>(
    info: &'static CommandInfo,
    parser: &mut Command,
    (args, given): (&[OsString], &Given),
    (path, text): (&Path, &str),
    make: impl Fn(Flags) -> Result<T, String>,
) -> Result<T, String> {
    let wrong = |mistake: Mistake| at(path, mistake.line, &mistake.message);
    let Config { settings, rules } = config::read(text, parser).map_err(wrong)?;
    let (name, typed) = args.split_at(args.len().min(1));
    let mut standing: Vec<&Setting> = settings
        .iter()
        .filter(|setting| info.takes_beside(&setting.flag, given))
        .filter(|setting| !is_overridden(setting, given, parser))
        .collect();
    // What is to be removed, only the command line widens.
    standing.retain(|it| !given.has("apply") || !matches!(&*it.flag, "older" | "owner"));
    let others = standing.clone();
    // A setting that needs others does nothing in a run without them.
    standing.retain(|setting| {
        let mut needs = NEEDS.iter().filter(|need| need.flag == setting.flag);
        needs.all(|need| need.is_met(info, &others, given))
    });
    let mut made = |args: Vec<OsString>| {
        let matches = parser.try_get_matches_from_mut(args);
        let matches = matches.map_err(|error| elsewhere::explained(error, parser))?;
        let given = Given::of(&matches);
        let flags = interpret(info, parser, matches, &given)?;
        make(Flags { rules: rules.clone(), ..flags })
    };
    let message = match made(arguments(name, &standing, typed)) {
        Err(message) => message,
        made => return made,
    };
    // Only to find out which line is wrong.
    let is_refused = |made: Result<T, String>| made.is_err_and(|other| other == message);
    if is_refused(made(args.to_vec())) {
        return Err(message);
    }
    for setting in standing {
        if !is_refused(made(arguments(name, &[setting], &[]))) {
            continue;
        }
        // clap removes terminal escapes. So the message is made again from escaped arguments.
        let shown = setting.arguments.iter().map(|text| harmless(text.as_bytes())).collect();
        let shown = Setting { arguments: shown, ..setting.clone() };
        let again = made(arguments(name, &[&shown], &[])).err();
        let message = in_words_of_file(&again.unwrap_or(message), setting, parser);
        return Err(at(path, setting.line, &message));
    }
    // Each setting is valid by itself, but not all together.
    Err(format!("{}: {message}", printable(path)))
}

/// The name of the program, the settings as arguments, and what was typed.
fn arguments(name: &[OsString], settings: &[&Setting], typed: &[OsString]) -> Vec<OsString> {
    let settings = settings.iter().flat_map(|setting| &setting.arguments).map(OsString::from);
    name.iter().cloned().chain(settings).chain(typed.iter().cloned()).collect()
}

/// The error that a line of the config file is.
fn at(path: &Path, line: usize, message: &str) -> String {
    let lines: Vec<_> = message.lines().map(|line| harmless(line.as_bytes())).collect();
    format!("{}:{line}: {}", printable(path), lines.join("\n"))
}

/// The message about a setting, with its key and value as the file has them.
fn in_words_of_file(message: &str, setting: &Setting, parser: &Command) -> String {
    let flag = parser.get_arguments().find(|arg| arg.get_id() == setting.flag.as_str());
    let flag = flag.map(ToString::to_string).unwrap_or_default();
    let key = &setting.key;
    message.replace(&format!("'{flag}'"), key).replace(&format!("'{key}="), "'")
}

/// Whether the command line overrides the setting. Repeatable flags add up instead.
fn is_overridden(setting: &Setting, given: &Given, parser: &Command) -> bool {
    let id = setting.flag.as_str();
    let find = |id: &str| parser.get_arguments().find(|arg| arg.get_id() == id);
    let is_typed_too = given.0.iter().any(|(other, _)| match other == id {
        true => find(id).is_some_and(|arg| !matches!(arg.get_action(), ArgAction::Append)),
        false => {
            let undone = find(id).and_then(|arg| arg.get_long()).map(config::counterpart);
            undone.is_some() && find(other).and_then(|arg| arg.get_long()) == undone.as_deref()
        }
    });
    // A limit that says nothing would not be noticed.
    let is_limit = matches!(id, "fail_over" | "fail_growth");
    is_typed_too || !is_limit && refusals::gives_way(setting, given)
}

/// The values of a flag on the command line, and in the file.
fn values<'a>(
    flag: &'a str,
    settings: &'a [&Setting],
    given: &'a Given,
) -> impl Iterator<Item = &'a [u8]> {
    let typed = given.values(flag).into_iter().flatten().map(|value| value.as_encoded_bytes());
    let set = settings.iter().filter(move |setting| setting.flag == flag);
    typed.chain(set.flat_map(|setting| &setting.arguments).map(String::as_bytes))
}

fn printable(path: &Path) -> String {
    harmless(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::commands::TREE;
    use super::*;

    #[test]
    fn paths_alone_are_what_clap_makes_of_them() {
        let text = |parsed: Result<Parsed, String>| match parsed {
            Ok((flags, given, _)) => format!("{flags:?} {:?}", given.values("paths")),
            Err(error) => error,
        };
        for paths in [&[] as &[&str], &["a"], &["", ".", "host:/a", "a b", "/?", "@a"]] {
            let args: Vec<_> = ["weigh"].iter().chain(paths).map(OsString::from).collect();
            assert_eq!(text(parse(&TREE, &args)), text(with_flags(&TREE, &args)));
        }
    }
}
