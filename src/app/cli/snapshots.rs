//! Where a snapshot is saved or remembered, and which flags it records.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf, is_separator};
use std::{mem, process};

use clap::{Arg, Command};

use super::commands::{self, neither};
use super::flags::{Flags, SnapshotFlags};
use super::parse::Given;
use super::screen::user_directories;
use crate::app::terminal::{self, Message, say};
use weigh::internal::ask::Input;
use weigh::internal::base::escape::harmless;
use weigh::internal::from::series::{self, Day, Member, Remembered};
use weigh::internal::from::snapshot::{self, Destination, Origin, SnapshotInfo, sets_apart};
use weigh::internal::scan::walk;
use weigh::internal::show::errors;
use weigh::internal::show::size::Format;
use weigh::internal::show::time::TimeFormat;
use weigh::internal::sys;
use weigh::internal::sys::problem::reason;

impl SnapshotFlags {
    /// The name that takes the place of the host's.
    pub(super) fn series(&self) -> Option<Vec<u8>> {
        self.series.as_ref().map(|name| name.clone().into_bytes())
    }

    /// Whether kept scans are listed, or removed, and nothing else.
    pub(super) fn lists_kept(&self) -> bool {
        self.scans || self.forget
    }
}

impl Flags {
    /// Whether it comes from a file or another machine, and not from a walk.
    pub(super) fn is_loaded(&self) -> bool {
        !self.snapshots.from.is_empty() || !self.hosts.is_empty()
    }

    /// Where to save a snapshot, if anywhere; or one line that says why that is impossible.
    pub(super) fn destination(&self) -> Result<Option<Destination>, &'static str> {
        let Some(path) = &self.snapshots.save else { return Ok(None) };
        let is_directory = path.as_os_str().to_string_lossy().ends_with(is_separator);
        if is_directory {
            return Ok(Some(series::dated(path, sys::now())));
        }
        if self.snapshots.keep.is_some() {
            return Err("--keep goes with --save DIR/\nend the name of the directory in a slash");
        }
        let ending = path.extension().unwrap_or_default();
        if ["json", "gz", "zst"].iter().any(|other| ending.eq_ignore_ascii_case(other)) {
            return Err("--save writes .weigh files, which are compressed already\n\
                end the name in .weigh; weigh -j >FILE.json writes JSON for other programs");
        }
        let to = Destination::new(path.clone());
        if to.is_stdout && self.form().is_some() {
            return Err("--save to standard output excludes -j and --as\n\
                save to a file, or leave them out");
        }
        if to.is_stdout && terminal::is_stdout() {
            return Err("a snapshot is not written to a terminal\n\
                save to a file, or redirect standard output");
        }
        Ok(Some(to))
    }
}

/// The flags in `given`, arguments of `command`, that change what counts, in their long form.
pub(super) fn counting(command: &Command, given: &Given) -> Vec<String> {
    let flags = typed(command, given, has_say);
    flags.iter().map(|flag| harmless(flag.as_encoded_bytes())).collect()
}

/// Whether a flag changes what counts.
pub(super) fn has_say(flag: &Arg) -> bool {
    const HEADINGS: [&str; 2] = ["What to weigh", "What to leave out"];
    flag.get_help_heading().is_some_and(|title| HEADINGS.contains(&title))
}

/// The flags in `given`, arguments of `command`, that are `wanted`, in their long form.
pub(super) fn typed(
    command: &Command,
    given: &Given,
    wanted: impl Fn(&Arg) -> bool,
) -> Vec<OsString> {
    let mut flags = Vec::new();
    for flag in command.get_arguments() {
        let Some(values) = given.values(flag.get_id().as_str()) else { continue };
        let (true, Some(long)) = (wanted(flag), flag.get_long()) else { continue };
        if flag.get_action().takes_values() {
            for value in values {
                let mut flag = OsString::from(format!("--{long}="));
                flag.push(value);
                flags.push(flag);
            }
        } else {
            flags.push(format!("--{long}").into());
        }
    }
    flags
}

// What `--remember` keeps: where, and which of it is meant by `--since`, `--history` and `--forget`.

/// What a scan is compared with.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// The earlier snapshot.
    pub(super) file: Option<PathBuf>,
    /// What is to be said of it.
    pub(super) note: Option<String>,
    /// Why there is none yet. This scan is kept for a later run.
    pub(super) first: Option<String>,
}

/// How the times of scans are written, and their days.
const MINUTES: &str = "%Y-%m-%d %H:%M";
const DAYS: &str = "%Y-%m-%d";

/// The `roots`, after a blank, as one types them; nothing for the current directory.
fn typed_roots(roots: &[OsString]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-~+".contains(byte);
    match roots {
        [one] if one == "." => String::new(),
        [one] if one.as_encoded_bytes().iter().all(is_plain) => format!(" {}", one.display()),
        _ => " PATH".to_owned(),
    }
}

/// The note for a comparison of `now` with an `earlier` scan of a directory above. `paths` are the PATHs as they are typed.
fn compared_with_above(earlier: &Origin, now: &Origin, paths: &str) -> Option<String> {
    snapshot::way_to(earlier, now)?;
    let part = if paths.is_empty() { " this directory" } else { paths };
    let above = earlier.paths().first().map_or_else(String::new, |path| harmless(path));
    Some(format!("compared with the scan of {above}, which contains{part}"))
}

impl Flags {
    /// Where to remember a scan of all that is in a directory, if that is asked for; or why this is none.
    pub(super) fn remember(
        &self,
        walk: &walk::WalkOptions,
        source: &Input,
        are_listed: bool,
    ) -> Option<Result<Remembered, &'static str>> {
        let reasons = [
            (!matches!(source, Input::Roots(_)), "nothing is scanned here"),
            (are_listed, "the PATHs are from a list"),
            (self.show.df, "df is about file systems"),
            (!walk.filter.is_off(), "a filter leaves something out"),
        ];
        let why = reasons.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why);
        let is_kept = self.snapshots.remember || self.keeps();
        is_kept.then(|| why.map_or_else(|| Ok(self.remembered()), Err))
    }

    /// Whether this scan is kept without a flag: weigh diff compares with kept scans, and so keeps this one for the next
    /// time.
    fn keeps(&self) -> bool {
        let since = self.snapshots.since.as_ref().and_then(|since| since.to_str());
        let is_of_kept = since.is_some_and(|since| Day::named(since).is_some());
        self.command.is(&commands::DIFF)
            && is_of_kept
            && !self.keeps_nothing
            && self.snapshots.save.is_none()
    }

    fn remembered(&self) -> Remembered {
        /// The default of `remember-bound`, in bytes.
        const BOUND: u64 = 1 << 30;
        // Without a home, there is no directory, and saving says so.
        let directory = user_directories().remembered().unwrap_or_default();
        Remembered { directory, bound: self.snapshots.remember_bound.unwrap_or(BOUND) }
    }

    /// What to compare with, or one line that says that nothing was kept of that day. If this scan is kept (`is_kept`), a
    /// later run will find it, and this one has nothing to compare with yet.
    pub(super) fn since(&mut self, source: &Input, is_kept: bool) -> Result<Since, String> {
        let Some(file) = self.snapshots.since.clone() else { return Ok(Since::default()) };
        let day = file.to_str().and_then(Day::named);
        // A time comes first.
        let name = file.to_str().filter(|_| day.is_some() || !sys::exists(&file));
        if let (Some(name), true) = (name, sys::exists(&file)) {
            let note = format!("{name} is a time here, and ./{name} the entry");
            say(Message::Note, Some(note).filter(|_| !self.print.quiet && terminal::is_stderr()));
        }
        let (Some(name), Input::Roots(roots)) = (name, source) else {
            if day.is_some() {
                return Err(
                    "kept scans are of PATHs here\nname a snapshot: weigh diff OLD NEW".to_owned()
                );
            }
            return Ok(Since { file: Some(file), ..Since::default() });
        };
        let Some(day) = day else {
            // As a rule, a FILE has a directory or an ending. What has neither is a day in other words.
            let is_file = name == "-" || name.contains(|sign| sign == '.' || is_separator(sign));
            if is_file {
                return Ok(Since { file: Some(file), ..Since::default() });
            }
            return Err(neither(name));
        };
        let now = self.here(roots);
        // What was not read then would count as growth.
        let needs_complete = self.snapshots.fail_growth.is_some();
        let found = self.remembered().find(day, &now, needs_complete);
        if let Some(Member { file, header }) = found.map_err(|problem| problem.lines())? {
            let host = &header.origin.host;
            let note = (*host != now.host).then(|| errors::other_host(host, &now.host));
            let note =
                note.or_else(|| compared_with_above(&header.origin, &now, &typed_roots(roots)));
            return Ok(Since { file: Some(file), note, first: None });
        }
        let (why, instead) = self.nothing(&now, &typed_roots(roots), needs_complete);
        // A date does not come again.
        if !is_kept || matches!(day, Day::On(_)) {
            return Err(format!("{why}\n{instead}"));
        }
        self.snapshots.since = None;
        Ok(Since { first: Some(why), ..Since::default() })
    }

    /// Why there is no kept scan to compare `now` with, and what to do instead; perhaps only one that is complete.
    /// `paths` are those of `now` as they are typed.
    fn nothing(&self, now: &Origin, paths: &str, needs_complete: bool) -> (String, String) {
        let of = if paths.is_empty() { " ." } else { paths };
        let meanwhile = format!("weigh -F --newer 7d{paths} lists what was written this week");
        let [minutes, days] = [MINUTES, DAYS].map(|style| self.times_as(style));
        let (like, others) = self.remembered().history(now);
        let is_usable = |member: &&Member| member.header.is_complete || !needs_complete;
        if let Some(Member { header, .. }) = like.iter().find(is_usable) {
            let [oldest, day] = [&minutes, &days].map(|times| times.write(header.origin.time));
            return (
                format!("no scan of{of} from then or before was kept: the oldest is of {oldest}"),
                format!(
                    "weigh diff {day}{paths} compares with the last scan of that day, and {meanwhile}"
                ),
            );
        }
        if let Some(Member { header, .. }) = like.last() {
            let time = minutes.write(header.origin.time);
            return (
                format!(
                    "no complete scan of{of} was kept: that of {time} lacks what could not be read"
                ),
                format!(
                    "leave out --fail-growth, or run it as a user who can read everything; {meanwhile}"
                ),
            );
        }
        let mut others = others.iter().rev().map(|member| &member.header.origin);
        if let Some(other) = others.find(|other| other.has_paths_of(now)) {
            let flags: Vec<_> =
                other.options.iter().flatten().filter(|flag| sets_apart(flag)).cloned().collect();
            let with = match flags.is_empty() {
                true => "without flags".to_owned(),
                false => format!("with {}", harmless(flags.join(" ").as_bytes())),
            };
            return (
                format!("the kept scans of{of} were made {with}"),
                format!("make this one {with}, too; {meanwhile}"),
            );
        }
        (
            format!("no earlier scan of{of} was kept"),
            format!(
                "run weigh diff{paths} once to keep one, and again later; until then, {meanwhile}"
            ),
        )
    }

    /// What would be known of a walk that started now.
    fn here(&self, roots: &[OsString]) -> Origin {
        let here = Origin::here(roots, self.source, self.counting.clone());
        here.in_series(self.snapshots.series().as_deref())
    }

    /// The files with the history that `--history` is to show: those of `files` that are directories without snapshots
    /// stand for what is remembered of them.
    pub(super) fn remembered_history(&self, files: Vec<PathBuf>) -> Result<Vec<PathBuf>, String> {
        if files.is_empty() {
            const NONE: &str = "no scan of this directory is remembered\n\
                run weigh diff today and again later, or put remember = true into the config file";
            return self.history_of(Path::new(".")).ok_or_else(|| NONE.to_owned());
        }
        let mut all = Vec::new();
        for file in files {
            let has_none = sys::is_directory(&file) && series::all_in(&file).is_err();
            let remembered = if has_none { self.history_of(&file) } else { None };
            all.extend(remembered.unwrap_or_else(|| vec![file]));
        }
        Ok(all)
    }

    /// What is remembered of the directory at `path`, if anything is.
    fn history_of(&self, path: &Path) -> Option<Vec<PathBuf>> {
        let (files, _) = self.remembered().history(&self.here(&[path.into()]));
        (!files.is_empty()).then(|| files.into_iter().map(|member| member.file).collect())
    }

    /// Prints what this host remembers of the PATHs, or everything if there are none; removes it if that is asked for, and
    /// ends the process.
    pub(super) fn list_or_forget(mut self) -> Result<Infallible, String> {
        let (remembered, times) = (self.remembered(), self.times_as(MINUTES));
        let are_named = self.roots.are_named();
        let roots = mem::take(&mut self.roots).roots(true)?;
        let now = self.here(&roots);
        let paths = now.paths();
        let (mut list, mut others) = (Vec::new(), 0);
        for Member { file, header } in remembered.all() {
            let origin = &header.origin;
            if are_named && !origin.paths().iter().any(|path| paths.contains(path)) {
                continue;
            }
            let is_of_one = are_named || self.snapshots.series.is_some();
            if is_of_one && origin.host != now.host {
                others += 1;
                continue;
            }
            list.push((kept_scan(&file, &header, &now.host, &times), file));
        }
        let is_forgotten = self.snapshots.forget;
        let what = if are_named { "no scan of that" } else { "nothing" };
        let notes = [
            (others > 0).then(|| match is_forgotten {
                true => format!(
                    "left {others} of other hosts\n--series HOST forgets those of one, weigh history --forget everything"
                ),
                false => format!("{others} more are of other hosts\n--series HOST lists those of one"),
            }),
            list.is_empty().then(|| format!("{what} is remembered")),
            (!list.is_empty() && !is_forgotten && terminal::is_stdout())
                .then(|| {
                    let directory = remembered.directory.as_os_str().as_encoded_bytes();
                    format!("these files are in {}", harmless(directory))
                }),
        ];
        say(Message::Note, notes.into_iter().flatten().filter(|_| !self.print.quiet));
        // They are said before they go.
        let mut out = io::stdout();
        let lines: Vec<_> = list.iter().flat_map(|(line, _)| line.bytes().chain(*b"\n")).collect();
        out.write_all(&lines).and_then(|()| out.flush()).map_err(|error| error.to_string())?;
        for (_, file) in list.into_iter().filter(|_| is_forgotten) {
            let named = |error: io::Error| format!("{}: {}", file.display(), reason(&error));
            sys::remove_file(&file).map_err(named)?;
        }
        process::exit(0)
    }
}

/// A line about the kept scan in `file`: its time, its length, its PATHs, its flags, and another host or missing parts.
fn kept_scan(file: &Path, header: &SnapshotInfo, host: &[u8], times: &TimeFormat) -> String {
    let origin = &header.origin;
    let time = times.write(origin.time);
    let length = Format::Binary.write(sys::length(file));
    let paths = origin.paths().into_iter().map(harmless);
    let flags = origin.options.iter().flatten().map(|flag| harmless(flag.as_bytes()));
    let of_another = (origin.host != host).then(|| format!("(host {})", harmless(&origin.host)));
    let incomplete = (!header.is_complete).then(|| "(incomplete)".to_owned());
    let rest: Vec<_> = paths.chain(flags).chain(of_another).chain(incomplete).collect();
    format!("{time}  {length:>6}  {}", rest.join(" "))
}
