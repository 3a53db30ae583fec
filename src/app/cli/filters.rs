//! The flags of filters, and git's configuration.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, io};

use clap::{Args, ValueHint};
use regex::bytes::RegexSet;

use super::HOME;
use super::elsewhere::nearest;
use super::flags::{Flags, named, one_of};
use super::parse::Given;
use super::roots::unreadable;
use weigh::internal::base::escape::harmless;
use weigh::internal::base::when::When;
use weigh::internal::fs::git::{BadFile, Git, GitConfig, Ignored, Text, rule_in, truth};
use weigh::internal::scan::filter::{
    BadPattern, Days, Filter, Globs, Paths, Regexes, Times, Typed, Types, add_glob, any_pattern,
    any_type, escape_braces, known_types,
};
use weigh::internal::scan::walk::{MountKind, SkippedMounts};
use weigh::internal::sys;
use weigh::internal::sys::problem::reason;

/// The ids of the flags below that leave entries out: the group of flags that commands with filters take.
pub(super) const FILTERS: &str = "limit_filesystem skip ignore_hidden ignore_directory filter invert_filter \
    ignore_all_in_file exclude include exclude_from gitignore only_ignored exclude_caches only_type type_not older newer \
    owner mtime atime ctime";

/// The flags that select what counts, each by its id and as one types it.
const SELECTING: [(&str, &str); 10] = [
    ("filter", "-e"),
    ("include", "--include"),
    ("only_ignored", "--only-ignored"),
    ("only_type", "--type"),
    ("older", "--older"),
    ("newer", "--newer"),
    ("owner", "--owner"),
    ("mtime", "-M"),
    ("atime", "-A"),
    ("ctime", "-y"),
];

/// Those of them that are `given`, with their values.
pub(super) fn selected_by(given: &Given) -> Option<String> {
    let mut words = Vec::new();
    for (id, flag) in SELECTING {
        match given.values(id) {
            Some(_) if id == "only_ignored" => words.push(flag.to_owned()),
            values => words.extend(values.into_iter().flatten().map(|value| {
                let value = harmless(value.as_encoded_bytes());
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-+._/:".contains(&byte);
                match !value.is_empty() && value.bytes().all(is_plain) {
                    true => format!("{flag} {value}"),
                    false => format!("{flag} '{value}'"),
                }
            })),
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

impl Flags {
    /// A note about the last glob of --exclude, if an entry is called so and there is no PATH: it may be meant as PATH.
    pub(super) fn swallowed(&self) -> Option<String> {
        let is_alone = !self.roots.are_named() && self.snapshots.from.is_empty();
        let glob =
            self.filters.exclude.last().filter(|glob| is_alone && sys::exists(glob.as_ref()))?;
        let glob = harmless(glob.as_encoded_bytes());
        Some(format!(
            "{glob} is the pattern of --exclude, and the current directory is shown\n\
             add a PATH, as in --exclude {glob} ."
        ))
    }
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What to leave out")]
pub(super) struct FilterFlags {
    /// Stay on the file system of each PATH
    ///
    /// --one-file-system is the same.
    #[arg(short = 'x', long, visible_alias = "one-file-system")]
    pub(super) limit_filesystem: bool,

    /// Do not enter mounts of these KINDs below PATH: network, fuse, snap
    ///
    /// network: file systems of other machines, such as NFS, SMB and sshfs. fuse: file systems that a process serves. snap:
    /// packages below /snap. A PATH that is such a mount is scanned all the same.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = one_of(named(MountKind::ALL)))]
    pub(super) skip: Vec<MountKind>,

    /// Leave out names that begin with a dot
    #[arg(short, long)]
    pub(super) ignore_hidden: bool,

    /// Leave out entries of exactly this name or path; --exclude and -v take patterns
    ///
    /// A name has no slash in it. A path is absolute, or relative to a PATH or to the current directory.
    #[arg(short = 'X', long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(super) ignore_directory: Vec<OsString>,

    /// Count only entries whose path matches, as in -e '\.png$'
    #[arg(short = 'e', long, value_name = "REGEX")]
    pub(super) filter: Vec<OsString>,

    /// Leave out entries if REGEX matches any part of their path, as in -v '/tmp[0-9]+/'
    #[arg(short = 'v', long, value_name = "REGEX")]
    pub(super) invert_filter: Vec<OsString>,

    /// Leave out what -v would, for each line of FILE
    #[arg(short = 'I', long, hide = true)]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) ignore_all_in_file: Vec<PathBuf>,

    /// Leave out entries that match, as in .gitignore: '*.o', /build, tmp/
    ///
    /// GLOB has the syntax of a line of .gitignore: '*.o', '/build', 'tmp/', '!keep.o'. Braces have alternates:
    /// '*.{jpg,png}'.
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<OsString>,

    /// Count only entries that match, and what is in them
    #[arg(long, value_name = "GLOB")]
    pub(super) include: Vec<OsString>,

    /// Leave out what --exclude would, for each line of FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) exclude_from: Vec<PathBuf>,

    /// Leave out ignored files: by .gitignore, and by .ignore
    #[arg(long)]
    pub(super) gitignore: bool,

    /// Count only ignored files; weigh clean lists only what can be made again
    #[arg(long)]
    pub(super) only_ignored: bool,

    /// Leave out the content of directories that a CACHEDIR.TAG marks as caches
    ///
    /// Such a directory and its CACHEDIR.TAG still count, as in tar. The tag is a regular file that begins as
    /// https://bford.info/cachedir/ says.
    #[arg(long)]
    pub(super) exclude_caches: bool,

    /// Count only files of this type; --type-list shows the types
    #[arg(long = "type", value_name = "NAME")]
    pub(super) only_type: Vec<String>,

    /// Leave out files of this type
    #[arg(long, value_name = "NAME")]
    pub(super) type_not: Vec<String>,

    /// List the types of files and their globs
    #[arg(long, exclusive = true)]
    pub(super) type_list: bool,

    /// Count only entries that were not modified since TIME, as in 90d, 2w, 3mo, 1y, 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    pub(super) older: Option<When>,

    /// Count only entries that were modified since TIME, as in 12h, 7d, yesterday
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    pub(super) newer: Option<When>,

    /// Count only entries that belong to user NAME, or to the user with this number
    ///
    /// Repeat it for several users.
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Username)]
    pub(super) owner: Vec<String>,

    /// Count only entries that were modified DAYS ago; -7: in the last week, +365: over a year ago
    #[arg(short = 'M', long, hide = true, value_name = "DAYS", value_parser = Days::parse)]
    #[arg(allow_hyphen_values = true)]
    pub(super) mtime: Option<Days>,

    /// Count only entries that were accessed DAYS ago
    #[arg(short = 'A', long, hide = true, value_name = "DAYS", value_parser = Days::parse)]
    #[arg(allow_hyphen_values = true)]
    pub(super) atime: Option<Days>,

    /// Count only entries whose status (such as owner or mode) changed DAYS ago
    #[arg(short = 'y', long, hide = true, value_name = "DAYS", value_parser = Days::parse)]
    #[arg(allow_hyphen_values = true)]
    pub(super) ctime: Option<Days>,

    /// What of these is on the command line, and not in the config file.
    #[arg(skip)]
    pub(super) typed: Typed,
}

impl FilterFlags {
    /// The filters, or one line that says what is wrong.
    pub(super) fn filter(&self) -> Result<Filter, String> {
        let moment = |when: When| when.moment(sys::now(), sys::time_zone);
        Ok(Filter {
            leaves_out_hidden: self.ignore_hidden,
            paths: Paths::new(self.ignore_directory.iter().cloned()),
            collapse: Paths::default(),
            share: None,
            typed: self.typed.clone(),
            leaves_out_caches: self.exclude_caches,
            types: self.types()?,
            globs: self.globs()?,
            git: self.git()?,
            regexes: self.regexes()?,
            owners: self.owners()?,
            times: Times {
                now: sys::now(),
                modified: self.mtime,
                accessed: self.atime,
                changed: self.ctime,
                older: self.older.map(moment),
                newer: self.newer.map(moment),
            },
        })
    }

    /// The mounts that are not entered.
    pub(super) fn skipped(&self) -> Result<SkippedMounts, &'static str> {
        let unknown = "--skip needs to know what is mounted, which this system does not tell\n\
            use -x, which stays on the file system of each PATH";
        SkippedMounts::of(&self.skip).ok_or(unknown)
    }

    /// The first of these flags that `find` on another machine cannot do, so that weigh has to be there.
    pub(super) fn needs_weigh(&self) -> Option<&'static str> {
        let flags = [
            (!self.skip.is_empty(), "--skip"),
            (self.gitignore, "--gitignore"),
            (self.only_ignored, "--only-ignored"),
            (self.exclude_caches, "--exclude-caches"),
            // The same name may have another number there.
            (self.owner.iter().any(|name| name.parse::<u32>().is_err()), "--owner with a name"),
            (self.atime.is_some(), "--atime"),
            (self.ctime.is_some(), "--ctime"),
        ];
        flags.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }

    /// The lines of files with patterns, as flags.
    pub(super) fn lines_of_files(&self) -> Result<Vec<OsString>, String> {
        let mut flags = Vec::new();
        for line in lines(&self.exclude_from, EXCLUDE_FROM)? {
            flags.extend(
                rule_in(&line.text).map(|rule| [&b"--exclude="[..], &escape_braces(rule)].concat()),
            );
        }
        for line in lines(&self.ignore_all_in_file, IGNORE_ALL_IN_FILE)? {
            flags.push([&b"--invert-filter="[..], &line.text].concat());
        }
        Ok(flags.into_iter().map(|flag| sys::into_path(flag).into()).collect())
    }

    /// These names and globs, of which one that meets nothing may be a mistake.
    pub(super) fn as_typed(&self) -> Typed {
        let globs = [("--exclude", &*self.exclude), ("--include", &*self.include)];
        Typed::new(("-X", &self.ignore_directory), &globs)
    }

    fn types(&self) -> Result<Types, String> {
        Ok(Types {
            only: any_type(&self.only_type).map_err(|name| unknown_type("--type", &name))?,
            never: any_type(&self.type_not).map_err(|name| unknown_type("--type-not", &name))?,
        })
    }

    /// The numbers of the users that --owner names.
    pub(super) fn owners(&self) -> Result<Vec<u32>, String> {
        let number = |name: &String| match sys::user_number(name) {
            Ok(Some(number)) => Ok(number),
            Ok(None) => Err(unknown_user(name)),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                Err("--owner needs a system where owners have numbers\nleave it out".to_owned())
            }
            Err(error) => {
                let name = harmless(name.as_bytes());
                Err(format!("cannot look up the user '{name}': {}\nuse a number", reason(&error)))
            }
        };
        self.owner.iter().map(number).collect()
    }

    fn globs(&self) -> Result<Globs, String> {
        let mut globs = Globs::default();
        for line in lines(&self.exclude_from, EXCLUDE_FROM)? {
            globs.exclude.add_line(&line.text).map_err(|bad| line.blame(&bad, LITERAL))?;
        }
        for glob in given(&self.exclude, "--exclude <GLOB>") {
            add_glob(&mut globs.exclude, &glob.text).map_err(|bad| glob.blame(&bad, LITERAL))?;
        }
        for glob in given(&self.include, "--include <GLOB>") {
            add_glob(&mut globs.include, &glob.text).map_err(|bad| glob.blame(&bad, LITERAL))?;
        }
        Ok(globs)
    }

    fn git(&self) -> Result<Git, String> {
        let ignored = match (self.gitignore, self.only_ignored) {
            (true, _) => Ignored::LeftOut,
            (_, true) => Ignored::Only,
            _ => return Ok(Git::default()),
        };
        Ok(Git { ignored, config: Arc::new(git_config()?), ..Git::default() })
    }

    fn regexes(&self) -> Result<Regexes, String> {
        let only = given(&self.filter, "--filter <REGEX>");
        let mut never = given(&self.invert_filter, "--invert-filter <REGEX>");
        never.extend(lines(&self.ignore_all_in_file, IGNORE_ALL_IN_FILE)?);
        Ok(Regexes { only: any_of(&only)?, never: any_of(&never)? })
    }
}

/// The flags that name files with patterns.
const EXCLUDE_FROM: &str = "--exclude-from <FILE>";
const IGNORE_ALL_IN_FILE: &str = "--ignore-all-in-file <FILE>";

/// The types of files, one per line.
pub(super) fn type_list() -> String {
    let types = known_types().into_iter();
    types.map(|(name, globs)| format!("{name}: {}\n", globs.join(", "))).collect()
}

/// The error for a `flag` that names no type, with the type that may be meant.
fn unknown_type(flag: &str, name: &str) -> String {
    let types = known_types();
    let glob = format!("*.{}", name.trim_start_matches(['*', '.']));
    let of_glob = types.iter().find(|(_, globs)| globs.contains(&glob));
    let of_glob = of_glob.map(|(known, _)| known.as_str());
    let near = of_glob.or(nearest(name, types.iter().map(|(known, _)| known.as_str())));
    let instead = match near {
        Some(near) => format!("did you mean '{near}'?"),
        None if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            let glob = if flag == "--type" { "--include" } else { "--exclude" };
            format!("for an extension, use {glob} '*.{name}';")
        }
        None => String::new(),
    };
    let name = harmless(name.as_bytes());
    let hint = format!("{instead} --type-list lists the types");
    format!("invalid value '{name}' for '{flag} <NAME>'\n{}", hint.trim_start())
}

/// The error for an --owner that is no user, with the user that may be meant.
fn unknown_user(name: &str) -> String {
    // Users may also come from other machines, which are not asked for all of them.
    let users = sys::read_file(Path::new("/etc/passwd")).unwrap_or_default();
    let users = String::from_utf8_lossy(&users);
    let near = nearest(name, users.lines().filter_map(|line| line.split(':').next()));
    let name = harmless(name.as_bytes());
    let hint = match near {
        Some(near) => format!("did you mean '{}'?", harmless(near.as_bytes())),
        None => "use a number, or a name that id NAME knows; weigh --by owner PATH lists owners"
            .to_owned(),
    };
    format!("there is no user '{name}' here\n{hint}")
}

/// A pattern, and words that say where it comes from.
struct PatternFlag {
    text: Vec<u8>,
    origin: String,
}

impl PatternFlag {
    /// The mistake in it in one line, and the way out in another.
    fn blame(&self, message: &str, hint: &str) -> String {
        format!("{}: {message}\n{hint}", self.origin)
    }
}

/// The way out of a glob or a regex that is none.
const LITERAL: &str = "put a backslash before a character that is part of a name";

/// The patterns that are the values of a flag.
fn given(values: &[OsString], flag: &str) -> Vec<PatternFlag> {
    let patterns = values.iter().map(|value| {
        let text = value.as_encoded_bytes().to_vec();
        let origin = format!("invalid value '{}' for '{flag}'", harmless(&text));
        PatternFlag { text, origin }
    });
    patterns.collect()
}

/// The patterns in the files that a flag names, one per line, without empty lines.
fn lines(files: &[PathBuf], flag: &str) -> Result<Vec<PatternFlag>, String> {
    let mut patterns = Vec::new();
    for file in files {
        let name = harmless(file.as_os_str().as_encoded_bytes());
        let content = sys::read_file(file).map_err(|error| unreadable(file, flag, &error))?;
        for (number, line) in (1..).zip(content.split(|byte| *byte == b'\n')) {
            let text = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
            if !text.is_empty() {
                let origin = format!("invalid line {name}:{number} for '{flag}'");
                patterns.push(PatternFlag { text, origin });
            }
        }
    }
    Ok(patterns)
}

/// What matches one of `patterns`, if there are any; or one line that says which of them is a bad regex, and if it may
/// be meant as a glob, where those go.
fn any_of(patterns: &[PatternFlag]) -> Result<Option<RegexSet>, String> {
    let texts: Vec<_> = patterns.iter().map(|pattern| pattern.text.clone()).collect();
    any_pattern(&texts).map_err(|BadPattern { index, message }| {
        let hint = match texts[index].first() {
            Some(b'*') => "--include and --exclude take globs",
            // As regex says it.
            _ if message.starts_with("Compiled regex") => "write a shorter one",
            _ => LITERAL,
        };
        patterns[index].blame(&message, hint)
    })
}

// Git's configuration from the system, the user and the environment (git-config(1)). The walk reads that of each
// repository.

/// Reads the configuration.
///
/// # Errors
/// One line that says what is wrong, if git refuses it, too.
pub(super) fn git_config() -> Result<GitConfig, String> {
    let home = not_empty(HOME);
    let own = not_empty("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let own = own.map(|own| own.join("git"));
    let no_system = env::var_os("GIT_CONFIG_NOSYSTEM").unwrap_or_default().into_encoded_bytes();
    let system = match truth(Some(&no_system)) {
        Some(true) => None,
        Some(false) => env::var_os("GIT_CONFIG_SYSTEM").or_else(|| Some("/etc/gitconfig".into())),
        None => return Err("GIT_CONFIG_NOSYSTEM is neither true nor false".to_owned()),
    };
    let users = match env::var_os("GIT_CONFIG_GLOBAL") {
        Some(file) => [Some(file.into()), None],
        None => [
            own.as_ref().map(|own| own.join("config")),
            home.as_ref().map(|home| home.join(".gitconfig")),
        ],
    };
    let mut config = GitConfig::new(home.map(bytes), own.map(|own| bytes(own.join("ignore"))));
    for file in [system.map(PathBuf::from)].into_iter().chain(users).flatten() {
        config.read(&bytes(file), &text_of).map_err(blame)?;
    }
    for number in 0..count()? {
        let (key, value) = (counted("KEY", number)?, counted("VALUE", number)?);
        config.overrule(&key, &value, &text_of).map_err(blame)?;
    }
    Ok(config.with_excludes(&text_of))
}

/// The content of a file of the user's or the system's. Like git, weigh skips one that cannot be read; and a pipe, which
/// would block.
fn text_of(path: &[u8]) -> Text {
    let path = sys::to_path(path);
    Ok(if sys::is_special_file(&path) { None } else { sys::read_file(&path).ok() })
}

fn count() -> Result<u32, String> {
    let count = env::var_os("GIT_CONFIG_COUNT").filter(|count| !count.is_empty());
    let Some(count) = count else { return Ok(0) };
    let number = count.to_str().and_then(|count| count.trim_ascii_start().parse().ok());
    number.ok_or_else(|| "GIT_CONFIG_COUNT is not a number".to_owned())
}

fn counted(what: &str, number: u32) -> Result<Vec<u8>, String> {
    let name = format!("GIT_CONFIG_{what}_{number}");
    let value = env::var_os(&name).map(OsString::into_encoded_bytes);
    value.ok_or(format!("GIT_CONFIG_COUNT is more than {number}, but {name} is not set"))
}

fn bytes(path: PathBuf) -> Vec<u8> {
    path.into_os_string().into_encoded_bytes()
}

fn blame((file, error): BadFile) -> String {
    format!("cannot read git's file '{}': {}", harmless(&file), reason(&error))
}

fn not_empty(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
