//! The forms that results are printed in, and what each asks of those who gather.

use clap::ValueEnum;

use super::flags::{FileTime, Flags};
use crate::measure::Measure;
use crate::render::size::Formats;
use crate::render::{Output, json};
use crate::report::Keep;
use crate::scan::{self, Destination};
use crate::sys;
use crate::terminal;

/// A form for programs to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Schema 1, as -j
    Json,
    /// One line an entry: path, kind, size, entries, depth
    Csv,
    /// The same as JSON, an object a line
    Ndjson,
    /// What ncdu -f loads
    Ncdu,
}

impl Flags {
    /// The form that programs are to read it in, if they are.
    pub(super) fn form(&self) -> Option<Form> {
        if self.print.output_json { Some(Form::Json) } else { self.print.form }
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
        if self.scans.since.is_some() && self.filetime().is_some() {
            return Some("--since shows what became of sizes, and not of times");
        }
        if matches!(keep, Keep::Groups(by, _) if by.needs().bytes) && !is_bytes {
            return Some("such groups need sizes in bytes: leave out -f, --inodes and -m");
        }
        match self.form() {
            None | Some(Form::Json) => None,
            Some(Form::Ncdu) if self.scans.since.is_some() => {
                Some("ncdu knows sizes, and no changes of them: --as csv and --as ndjson do")
            }
            Some(_) if self.count.filetime.is_some() => {
                Some("times can be drawn, or printed by -j")
            }
            Some(Form::Ncdu) if !is_whole => Some("ncdu wants everything, without limits"),
            Some(Form::Ncdu) if !is_bytes => {
                Some("--as ncdu needs sizes in bytes: leave out -f, --inodes and -m")
            }
            Some(_) => None,
        }
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
            Some(Form::Json) => Output::Json(json::Options {
                full_paths: self.full_paths(),
                order: self.order(),
                threads: self.print.threads,
                ..json::Options::default()
            }),
            Some(Form::Csv) => Output::Csv,
            Some(Form::Ndjson) => Output::Ndjson,
            Some(Form::Ncdu) => Output::Ncdu { time: sys::now() },
            None => Output::Tree(Box::new(self.tree(terminal)), formats),
        }
    }
}
