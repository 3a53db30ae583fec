//! The forms that results are printed in, and what each asks of those who gather.

use clap::ValueEnum;

use super::flags::{FileTime, Flags, GroupBy};
use super::{Gather, Plan};
use crate::filter::Filter;
use crate::measure::Measure;
use crate::render::{Output, json};
use crate::scan::{self, Destination};
use crate::sys;
use crate::tally::Inodes;
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

impl Form {
    /// Whether sizes that count what `measure` says can be printed so.
    fn fits(self, measure: Measure) -> bool {
        self != Form::Ncdu || matches!(measure, Measure::Disk | Measure::Apparent)
    }
}

impl Flags {
    /// The form that programs are to read it in, if they are.
    pub(super) fn form(&self) -> Option<Form> {
        if self.print.output_json { Some(Form::Json) } else { self.print.form }
    }

    /// What of inodes is to be kept, if everything is, because it is to be saved, to be compared, to
    /// be weighed anew, or for ncdu to add up.
    pub(super) fn everything(&self, filter: &Filter) -> Option<Inodes> {
        let scans = &self.scans;
        let if_so = |is_so: bool, inodes| is_so.then_some(inodes);
        let kept = if self.wants_details() { Inodes::All } else { Inodes::Linked };
        // A scan knows when directories were written to, and a walk does not ask. What is saved again has
        // details of everything, or of nothing.
        let is_dated = scans.load.is_some() && scans.save.is_none();
        let directories = if is_dated { Inodes::DatedDirectories } else { Inodes::Directories };
        let is_anew = scans.load.is_some() && !filter.is_off() || self.is_by_saved_time();
        if_so(scans.save.is_some() || is_anew, kept)
            .max(if_so(scans.since.is_some() && !self.is_grouped(), directories))
            .max(if_so(self.form() == Some(Form::Ncdu), Inodes::Linked))
    }

    /// Whether a scan, saved or loaded, has to have times and owners.
    pub(super) fn wants_details(&self) -> bool {
        self.scans.details
            || self.is_by_saved_time()
            || self.scans.load.is_some() && self.leave.mtime.is_some()
            || matches!(self.show.by, Some(GroupBy::Owner | GroupBy::Age))
    }

    /// Whether times are shown that are, or will be, in a saved scan.
    pub(super) fn is_by_saved_time(&self) -> bool {
        self.filetime().is_some() && (self.scans.load.is_some() || self.scans.save.is_some())
    }

    /// What is wrong with the form, in one line.
    pub(super) fn misfit(&self, gather: &Gather) -> Option<&'static str> {
        let is_whole = matches!(gather, Gather::Whole);
        if self.is_by_saved_time() && !matches!(self.filetime(), Some(FileTime::Modified)) {
            return Some("a saved scan has times of last change: -m m, but neither -m a nor -m c");
        }
        if self.scans.since.is_some() && self.filetime().is_some() {
            return Some("--since shows what became of sizes, and not of times");
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
            Some(form) if !form.fits(self.measure()) => Some("ncdu wants bytes"),
            Some(_) => None,
        }
    }
}

impl Flags {
    /// Where to save it, if anywhere, or in one line why not there.
    pub(super) fn destination(&self) -> Result<Option<Destination>, &'static str> {
        let Some(path) = &self.scans.save else { return Ok(None) };
        let to = Destination::new(path.clone());
        if to.is_stdout && self.form().is_some() {
            return Err("--save and -j or --as would both write to standard output: \
                save in a file, or leave out -j and --as");
        }
        if to.is_stdout && scan::is_compressed(path) && terminal::is_stdout() {
            return Err("standard output is a terminal, and no place for what is compressed: \
                save in a file, or send it to a pipe");
        }
        Ok(Some(to))
    }
}

impl Plan {
    /// What is wrong with printing a loaded scan whose sizes count what `measure` says.
    pub fn misfit(&self, measure: Measure) -> Option<String> {
        let is_misfit = self.flags.form().is_some_and(|form| !form.fits(measure));
        is_misfit.then(|| format!("ncdu wants bytes, and it counts {}", measure.unit()))
    }

    /// How to show sizes that count what `measure` says.
    pub fn output(&self, measure: Measure) -> Output {
        let flags = &self.flags;
        match flags.form() {
            Some(Form::Json) => {
                let full_paths = flags.full_paths();
                Output::Json(json::Options {
                    measure,
                    full_paths,
                    order: flags.order(),
                    origin: None,
                    threads: self.walk.threads,
                })
            }
            Some(Form::Csv) => Output::Csv,
            Some(Form::Ndjson) => Output::Ndjson,
            Some(Form::Ncdu) => Output::Ncdu { measure, time: sys::now() },
            None => Output::Tree(Box::new(flags.tree(flags.format(measure), self.terminal))),
        }
    }
}
