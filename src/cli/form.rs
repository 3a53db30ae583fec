//! How results are shown: as a picture, or in a form for programs, and what does not fit that.

use clap::builder::{PossibleValue, PossibleValuesParser};

use super::flags::{FileTime, Flags};
use crate::measure::Measure;
use crate::render::size::{Format, Formats, Unit};
use crate::render::{Form, Output, json, summary};
use crate::report::Keep;
use crate::scan::{self, Destination};
use crate::sys;
use crate::terminal;

impl Flags {
    /// The form that programs are to read it in, if they are.
    pub(super) fn form(&self) -> Option<Form> {
        let named = |name: &String| Form::ALL.iter().find(|(known, ..)| known == name);
        let named = self.print.form.as_ref().and_then(named).map(|(_, form, _)| *form);
        if self.print.output_json { Some(Form::Json) } else { named }
    }

    /// Whether times are shown that are, or will be, in a saved scan.
    pub(super) fn is_by_saved_time(&self) -> bool {
        self.filetime().is_some() && (self.scans.load.is_some() || self.scans.save.is_some())
    }

    /// What is wrong with the form, in one line.
    pub(super) fn misfit(&self, keep: &Keep) -> Option<&'static str> {
        let is_whole = matches!(keep, Keep::Everything(_));
        let is_bytes = matches!(self.measure(), Measure::Disk | Measure::Apparent);
        if self.is_by_saved_time() && !matches!(self.filetime(), Some(FileTime::Modified)) {
            return Some("a saved scan has times of last change: -m m, but neither -m a nor -m c");
        }
        if self.scans.fail_over.is_some() && self.filetime().is_some() {
            return Some("--fail-over bounds sizes, and not times");
        }
        if self.scans.since.is_some() && self.filetime().is_some() {
            return Some("--since shows what became of sizes, and not of times");
        }
        if matches!(keep, Keep::Groups(by, _) if by.needs().bytes) && !is_bytes {
            return Some("such groups need sizes in bytes: leave out -f, --inodes and -m");
        }
        let is_shown = matches!(self.form(), None | Some(Form::Json)) && self.filetime().is_none();
        if self.show.df && !is_shown {
            return Some("--df is shown beside sizes, in a picture or by -j");
        }
        let fits = self.form()?.fits();
        if !fits.changes && self.scans.since.is_some() {
            return Some("that form knows no changes: --as csv and --as ndjson do");
        }
        if !fits.times && self.count.filetime.is_some() {
            return Some("times can be drawn, or printed by -j");
        }
        if !fits.parts && !is_whole {
            return Some("that form shows everything: leave out limits and groups");
        }
        if !fits.counts && !is_bytes {
            return Some("--as ncdu needs sizes in bytes: leave out -f, --inodes and -m");
        }
        None
    }

    /// Where to save it, if anywhere, or in one line why not there.
    pub(super) fn destination(&self) -> Result<Option<Destination>, &'static str> {
        let Some(path) = &self.scans.save else { return Ok(None) };
        let to = Destination::new(path.clone());
        if to.is_stdout && self.form().is_some() {
            return Err("--save to standard output leaves no room for -j or --as: \
                save to a file, or leave them out");
        }
        if to.is_stdout && scan::is_compressed(path) && terminal::is_stdout() {
            return Err("compressed data is not written to a terminal: \
                save to a file, or redirect standard output");
        }
        Ok(Some(to))
    }

    /// How to show what comes of it: in the form that is asked for, or as a picture.
    pub(super) fn output(&self, formats: Formats, terminal: Option<(usize, usize)>) -> Output {
        match self.form() {
            Some(form) => Output::Form(
                form,
                json::Options {
                    full_paths: self.full_paths(),
                    order: self.order(),
                    threads: self.print.threads,
                    time: sys::now(),
                    ..json::Options::default()
                },
            ),
            None => Output::Tree(Box::new(self.tree(terminal)), formats),
        }
    }

    /// How to show a line a root, if that is asked for: as du has it, unless a format is asked for.
    pub(super) fn summary(&self, formats: &Formats) -> Option<summary::Options> {
        let is_bytes = matches!(self.measure(), Measure::Disk | Measure::Apparent);
        self.show.summarize.then(|| summary::Options {
            format: match self.print.output_format {
                Some(_) if is_bytes => formats.bytes.clone(),
                _ => Format::Fixed(Unit { name: "", bytes: 1 }),
            },
            is_raw: !terminal::is_stdout(),
        })
    }

    /// What `--as` takes.
    pub(super) fn forms() -> PossibleValuesParser {
        let value = |(name, _, help): (&'static str, Form, &'static str)| {
            PossibleValue::new(name).help(help)
        };
        PossibleValuesParser::new(Form::ALL.map(value))
    }
}
