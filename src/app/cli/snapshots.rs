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
use crate::app::kept::{KeptScans, typed_roots};
use crate::app::terminal::{self, Message, say};
use weigh::internal::ask::Input;
use weigh::internal::base::escape::harmless;
use weigh::internal::from::series::{self, Day, Member, Remembered};
use weigh::internal::from::snapshot::{Destination, Origin};
use weigh::internal::scan::walk;
use weigh::internal::show::Form;
use weigh::internal::show::kept::{self, KeptScan};
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
        // With --fail-growth, a scan must be complete: what was not read then would count as growth.
        let kept = self.kept_scans(roots);
        if let Some((file, note)) = kept.find(day, &now)? {
            return Ok(Since { file: Some(file), note, first: None });
        }
        let (why, instead) = kept.nothing(&now);
        // A date does not come again.
        if !is_kept || matches!(day, Day::On(_)) {
            return Err(format!("{why}\n{instead}"));
        }
        self.snapshots.since = None;
        Ok(Since { first: Some(why), ..Since::default() })
    }

    /// The kept scans that one of these `roots` can be compared with.
    pub(super) fn kept_scans(&self, roots: &[OsString]) -> KeptScans {
        let [minutes, days] = [MINUTES, DAYS].map(|style| self.times_as(style));
        KeptScans {
            remembered: self.remembered(),
            needs_complete: self.snapshots.fail_growth.is_some(),
            paths: typed_roots(roots),
            minutes,
            days,
        }
    }

    /// What would be known of a walk that started now.
    fn here(&self, roots: &[OsString]) -> Origin {
        let here = Origin::here(roots, self.source, self.counting.clone());
        here.in_series(self.snapshots.series().as_deref())
    }

    /// The files that `weigh history` reads for these `files`: in the place of a directory without snapshots, the kept scans
    /// of it. If there are none of a single directory, the kept scans of a directory above, of which it is a part.
    pub(super) fn remembered_history(
        &self,
        files: Vec<PathBuf>,
    ) -> Result<(Vec<PathBuf>, Option<Origin>), String> {
        if files.is_empty() {
            const NONE: &str = "no scan of this directory is remembered\n\
                run weigh diff today and again later, or put remember = true into the config file";
            let kept = self.history_of(Path::new(".")).map(|files| (files, None));
            return kept
                .or_else(|| self.history_above(Path::new(".")))
                .ok_or_else(|| NONE.to_owned());
        }
        let is_nothing = |file: &Path| sys::is_directory(file) && series::all_in(file).is_err();
        if let [file] = &files[..]
            && is_nothing(file)
            && self.history_of(file).is_none()
            && let Some(above) = self.history_above(file)
        {
            return Ok(above);
        }
        let mut all = Vec::new();
        for file in files {
            let remembered = if is_nothing(&file) { self.history_of(&file) } else { None };
            all.extend(remembered.unwrap_or_else(|| vec![file]));
        }
        Ok((all, None))
    }

    /// The kept scans of the directory at `path`, if there are any: those without flags, or else those with the flags of
    /// the newest, for example `-x`.
    fn history_of(&self, path: &Path) -> Option<Vec<PathBuf>> {
        let (remembered, now) = (self.remembered(), self.here(&[path.into()]));
        let (mut files, others) = remembered.history(&now);
        let mut others = others.iter().rev().map(|member| &member.header.origin);
        if files.is_empty()
            && let Some(newest) = others.find(|it| it.host == now.host && it.has_paths_of(&now))
        {
            (files, _) = remembered.history(newest);
        }
        (!files.is_empty()).then(|| files.into_iter().map(|member| member.file).collect())
    }

    /// The kept scans of a directory above the one at `path`, if there are any, and the part of them that this one is.
    fn history_above(&self, path: &Path) -> Option<(Vec<PathBuf>, Option<Origin>)> {
        let now = self.here(&[path.into()]);
        let files = self.remembered().history_above(&now);
        let files: Vec<_> = files.into_iter().map(|member| member.file).collect();
        (!files.is_empty()).then_some((files, Some(now)))
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
        for member in remembered.all() {
            let origin = &member.header.origin;
            if are_named && !origin.paths().iter().any(|path| paths.contains(path)) {
                continue;
            }
            let is_of_one = are_named || self.snapshots.series.is_some();
            if is_of_one && origin.host != now.host {
                others += 1;
                continue;
            }
            list.push(KeptScan { length: sys::length(&member.file), member });
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
            (!list.is_empty() && !is_forgotten && terminal::is_stdout() && !self.print.full_paths)
                .then(|| {
                    let directory = remembered.directory.as_os_str().as_encoded_bytes();
                    format!("these files are in {}", harmless(directory))
                }),
        ];
        say(Message::Note, notes.into_iter().flatten().filter(|_| !self.print.quiet));
        // They are said before they go.
        let mut shown = Vec::new();
        if self.form() == Some(Form::Json) {
            kept::json(&mut shown, &list).map_err(|error| error.to_string())?;
        } else {
            let (headings, lines) = kept::list(&list, &now.host, &times, self.print.full_paths);
            let has_headings = !is_forgotten && !list.is_empty();
            for line in has_headings.then_some(headings).into_iter().chain(lines) {
                shown.extend(line.bytes().chain(*b"\n"));
            }
        }
        let mut out = io::stdout();
        out.write_all(&shown).and_then(|()| out.flush()).map_err(|error| error.to_string())?;
        for KeptScan { member: Member { file, .. }, .. } in
            list.into_iter().filter(|_| is_forgotten)
        {
            let named = |error: io::Error| format!("{}: {}", file.display(), reason(&error));
            sys::remove_file(&file).map_err(named)?;
        }
        process::exit(0)
    }
}
