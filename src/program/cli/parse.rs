//! Reads flags from the command line, and settings from the config file.

use std::borrow::Cow;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{io, iter};

use clap::error::{ContextKind, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, Error, FromArgMatches};

use super::config::{self, Mistake, Setting};
use super::filters::FilterFlags;
use super::flags::Flags;
use super::near;
use super::{HOME, remote, rules, snapshots};
use weigh::internal::escape::harmless;
use weigh::internal::problem::reason;
use weigh::internal::sys::{self, Source};

/// Flags, those that they go with, and what the values of those end in.
const GOES_WITH: [(&str, &[(&str, &str)]); 9] = [
    ("details", &[("save", ""), ("ui", ""), ("form", "parquet")]),
    ("fail_growth", &[("since", "")]),
    ("keep", &[("save", "/")]),
    ("list_duplicates", &[("list", "")]),
    ("list_totals", &[("list", "")]),
    ("older", &[("reclaimable", "")]),
    ("print0", &[("ui", "")]),
    ("read_only", &[("ui", "")]),
    ("save_as", &[("save", "")]),
];

/// Calls `make` with the flags in `args`, which begin with the program's name, and in the config file.
pub(super) fn flags<T>(
    args: &[OsString],
    make: impl Fn(Flags) -> Result<T, String>,
) -> Result<T, Error> {
    let (source, args) = &source(args)?;
    let flags = parse(args)?;
    // Not if the config file says so.
    let (is_df_alone, is_remember_typed) = (flags.is_df_alone, flags.snapshots.remember);
    let typed = flags.filters.as_typed();
    let make = |flags: Flags| {
        let filters = FilterFlags { typed: typed.clone(), ..flags.filters };
        make(Flags { source: *source, is_df_alone, is_remember_typed, filters, ..flags })
    };
    if flags.is_question() {
        return make(flags).map_err(bad);
    }
    match file(flags.print.config.as_deref()) {
        Ok(None) => make(flags).map_err(bad),
        Ok(Some((path, text))) => over(args, &path, &text, make),
        Err(message) => Err(bad(message)),
    }
}

/// The source of listings, and the other arguments. `--source` is for tests and not a flag: help, man page,
/// completions and config file do not know it, and it may come before flags that exclude all others.
fn source(args: &[OsString]) -> Result<(Source, Cow<'_, [OsString]>), Error> {
    match args {
        [name, flag, source, others @ ..] if flag == "--source" => {
            let Some((_, source)) = Source::named().find(|(name, _)| *source == **name) else {
                let names: Vec<_> = Source::named().map(|(name, _)| name).collect();
                let (names, source) = (names.join(" or "), harmless(source.as_encoded_bytes()));
                return Err(bad(format!("--source is {names}, not {source}")));
            };
            Ok((source, iter::once(name).chain(others).cloned().collect()))
        }
        _ => Ok((Source::default(), args.into())),
    }
}

fn parse(args: &[OsString]) -> Result<Flags, Error> {
    let paths = args.get(1..).unwrap_or_default();
    if !paths.iter().any(|arg| arg.as_encoded_bytes().starts_with(b"-")) {
        // For clap to learn all flags takes a tenth of the time of a small tree.
        let mut flags = Flags::default();
        flags.roots.paths = paths.to_vec();
        return Ok(flags);
    }
    with_flags(args)
}

fn with_flags(args: &[OsString]) -> Result<Flags, Error> {
    // Not dropped, because that is a tenth of the time to start.
    let command = Box::leak(Box::new(Flags::command()));
    let matches = match command.try_get_matches_from_mut(args) {
        // It may be a counterpart. They are added only now, because there is one for each switch, and they are rarely
        // used.
        Err(error) if error.kind() == ErrorKind::UnknownArgument => {
            matches(&config::with_counterparts(Flags::command()), args.to_vec())
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            Err(help_among_others(args).map_or(error, bad))
        }
        matches => matches.map_err(|error| near::suggest(error, command)),
    }?;
    interpret(command, matches)
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
        "-h prints help, and is not combined with other flags as in '{letters}': sizes are for humans \
         already, and `weigh -d 0 PATH` shows what `du -sh PATH` prints"
    ))
}

fn interpret(command: &Command, mut matches: ArgMatches) -> Result<Flags, Error> {
    for (flag, others) in GOES_WITH {
        // Not with clap's `requires`, which is dropped where another flag excludes what is required.
        if let [(other, _)] = others
            && is_typed(flag, &matches)
            && !is_typed(other, &matches)
        {
            let [flag, other] = [flag, *other].map(|id| id.replace('_', "-"));
            return Err(bad(format!("--{flag} needs --{other}")));
        }
    }
    let names = ["save", "since", "history"];
    let is_wanted =
        names.iter().any(|name| matches.contains_id(name)) || matches.get_flag("remember");
    let counting = if is_wanted { snapshots::counting(command, &matches) } else { Vec::new() };
    let passed = remote::passed(command, &matches);
    let is_df_alone = is_alone("df", command, &matches);
    let is_disk = matches!(matches.try_get_one("no-apparent-size"), Ok(Some(true)));
    // Without `_mut`, it would clone everything.
    let flags = Flags::from_arg_matches_mut(&mut matches)?;
    Ok(Flags { counting, passed, is_df_alone, is_disk, ..flags })
}

/// Whether `flag` is `given` with no others but those that say how to print.
fn is_alone(flag: &str, command: &Command, given: &ArgMatches) -> bool {
    let others = command.get_arguments().filter(|arg| arg.get_help_heading() != Some("Output"));
    let mut typed = others.filter(|arg| is_typed(arg.get_id().as_str(), given));
    given.get_flag(flag) && typed.all(|arg| arg.get_id() == flag)
}

/// Whether a flag is on the command line.
pub(super) fn is_typed(flag: &str, given: &ArgMatches) -> bool {
    given.value_source(flag) == Some(ValueSource::CommandLine)
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

/// Calls `make` with the flags in `args` and the settings in `text`, the config file at `path`.
fn over<T>(
    args: &[OsString],
    path: &Path,
    text: &str,
    make: impl Fn(Flags) -> Result<T, String>,
) -> Result<T, Error> {
    let command = &config::with_counterparts(Flags::command());
    let wrong = |mistake: Mistake| at(path, mistake.line, &mistake.message);
    let settings = config::read(text, command).map_err(wrong)?;
    let rules = rules::read(text).map_err(wrong)?;
    let make = |flags| make(Flags { rules: rules.clone(), ..flags });
    let (name, typed) = args.split_at(args.len().min(1));
    let given = matches(command, args.to_vec())?;
    let mut standing: Vec<&Setting> =
        settings.iter().filter(|setting| !is_overridden(setting, &given, command)).collect();
    standing.retain(|setting| !is_idle(setting, &settings, &given));
    let error = match made(command, arguments(name, &standing, typed), &make) {
        Err(error) => error,
        made => return made,
    };
    // What is typed also takes the place of a setting whose value it cannot be combined with, unless that is a limit.
    // Only flags decide that: not what is there, such as the snapshot of --since.
    let fits = |settings: &[&Setting], typed: &[OsString]| {
        let ensure = |flags: Flags| flags.ensure_fit(&flags.keep(None));
        made(command, arguments(name, settings, typed), &ensure).is_ok()
    };
    if fits(&[], typed) {
        let stays = |setting: &&Setting| {
            matches!(&*setting.flag, "fail_over" | "fail_growth")
                || fits(&[setting], typed)
                || !fits(&[setting], &[])
        };
        let fitting: Vec<_> = standing.iter().copied().filter(stays).collect();
        if fitting.len() < standing.len()
            && let Ok(plan) = made(command, arguments(name, &fitting, typed), &make)
        {
            return Ok(plan);
        }
    }
    let message = message(&error);
    if is_refused(made(command, args.to_vec(), &make), &message) {
        return Err(error);
    }
    for setting in standing {
        if !is_refused(made(command, arguments(name, &[setting], &[]), &make), &message) {
            continue;
        }
        // clap removes terminal escapes. So the message is made again from escaped arguments.
        let shown = setting.arguments.iter().map(|text| harmless(text.as_bytes())).collect();
        let shown = Setting { arguments: shown, ..setting.clone() };
        let error = made(command, arguments(name, &[&shown], &[]), &make).err();
        return Err(at(path, setting.line, &error.map_or(message, |error| self::message(&error))));
    }
    // Each setting is valid by itself, but not all together.
    Err(bad(format!("{}: {message}", printable(path))))
}

/// The name of the program, the settings as arguments, and what was typed.
fn arguments(name: &[OsString], settings: &[&Setting], typed: &[OsString]) -> Vec<OsString> {
    let settings = settings.iter().flat_map(|setting| &setting.arguments).map(OsString::from);
    name.iter().cloned().chain(settings).chain(typed.iter().cloned()).collect()
}

fn matches(command: &Command, args: Vec<OsString>) -> Result<ArgMatches, Error> {
    command.clone().try_get_matches_from(args).map_err(|error| near::suggest(error, command))
}

/// What `make` makes of the flags in `args`.
fn made<T>(
    command: &Command,
    args: Vec<OsString>,
    make: &impl Fn(Flags) -> Result<T, String>,
) -> Result<T, Error> {
    make(interpret(command, matches(command, args)?)?).map_err(bad)
}

fn is_refused<T>(made: Result<T, Error>, with: &str) -> bool {
    made.is_err_and(|error| message(&error) == with)
}

/// The error that a line of the config file is.
fn at(path: &Path, line: usize, message: &str) -> Error {
    bad(format!("{}:{line}: {}", printable(path), harmless(message.as_bytes())))
}

/// The error in one line, with a suggestion if there is one.
fn message(error: &Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    match (error.get(ContextKind::SuggestedValue), error.get(ContextKind::ValidValue)) {
        (Some(near), _) => format!("{line}: did you mean '{near}'?"),
        (None, Some(values)) => format!("{line}: use one of {values}"),
        (None, None) => line.to_owned(),
    }
}

/// Whether the command line overrides the setting. Repeatable flags add up instead.
fn is_overridden(setting: &Setting, given: &ArgMatches, command: &Command) -> bool {
    let Some(arg) = command.get_arguments().find(|arg| *arg.get_id() == setting.flag) else {
        return false;
    };
    let undone = arg.get_long().map(config::counterpart);
    let mut typed = command.get_arguments().filter(|it| is_typed(it.get_id().as_str(), given));
    typed.any(|other| {
        if other.get_id() == arg.get_id() {
            return !matches!(arg.get_action(), ArgAction::Append);
        }
        excludes(command, arg, other)
            || excludes(command, other, arg)
            || undone.is_some() && other.get_long() == undone.as_deref()
    })
}

/// Whether the setting goes with other flags, none of which is there. Such a run is not concerned.
fn is_idle(setting: &Setting, settings: &[Setting], given: &ArgMatches) -> bool {
    let Some((_, others)) = GOES_WITH.iter().find(|(flag, _)| *flag == setting.flag) else {
        return false;
    };
    !others.iter().any(|(flag, end)| {
        values(flag, settings, given).any(|value| value.ends_with(end.as_bytes()))
    })
}

/// The values of a flag on the command line, and in the file.
fn values<'a>(
    flag: &'a str,
    settings: &'a [Setting],
    given: &'a ArgMatches,
) -> impl Iterator<Item = &'a [u8]> {
    let typed = given.get_raw(flag).filter(|_| is_typed(flag, given)).into_iter().flatten();
    let set = settings.iter().filter(move |setting| setting.flag == flag);
    let set = set.flat_map(|setting| &setting.arguments).map(String::as_bytes);
    typed.map(OsStr::as_encoded_bytes).chain(set)
}

fn excludes(command: &Command, one: &Arg, other: &Arg) -> bool {
    command.get_arg_conflicts_with(one).iter().any(|arg| arg.get_id() == other.get_id())
}

fn bad(message: String) -> Error {
    Flags::command().error(ErrorKind::ValueValidation, message)
}

fn printable(path: &Path) -> String {
    harmless(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_alone_are_what_clap_makes_of_them() {
        let text = |flags: Result<Flags, Error>| match flags {
            Ok(flags) => format!("{flags:?}"),
            Err(error) => error.to_string(),
        };
        for paths in [&[] as &[&str], &["a"], &["", ".", "host:/a", "a b", "/?", "@a"]] {
            let args: Vec<_> = ["weigh"].iter().chain(paths).map(OsString::from).collect();
            assert_eq!(text(parse(&args)), text(with_flags(&args)));
        }
    }
}
