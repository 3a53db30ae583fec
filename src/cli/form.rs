//! The forms that results are printed in, and what each asks of those who gather.

use clap::ValueEnum;

use super::flags::Flags;
use super::{Gather, Plan};
use crate::measure::Measure;
use crate::render::{Output, json};
use crate::sys;
use crate::tally::Inodes;

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

    /// What of inodes is to be kept, if everything is, because it is to be saved, to be compared, or
    /// for ncdu to add up anew.
    pub(super) fn everything(&self) -> Option<Inodes> {
        let scans = &self.scans;
        let if_so = |is_so: bool, inodes| is_so.then_some(inodes);
        let to_save = if scans.details { Inodes::All } else { Inodes::Linked };
        if_so(scans.save.is_some(), to_save)
            .max(if_so(scans.since.is_some(), Inodes::Directories))
            .max(if_so(self.form() == Some(Form::Ncdu), Inodes::Linked))
    }

    /// What is wrong with the form, in one line.
    pub(super) fn misfit(&self, gather: &Gather) -> Option<&'static str> {
        let is_whole = matches!(gather, Gather::Whole);
        let is_bytes = matches!(self.measure(), Measure::Disk | Measure::Apparent);
        match self.form() {
            None | Some(Form::Json) => None,
            Some(_) if self.scans.since.is_some() => Some("changes can be drawn, or printed by -j"),
            Some(_) if self.count.filetime.is_some() => {
                Some("times can be drawn, or printed by -j")
            }
            Some(Form::Ncdu) if !is_whole => Some("ncdu wants everything, without limits"),
            Some(Form::Ncdu) if !is_bytes => Some("ncdu wants bytes"),
            Some(_) => None,
        }
    }
}

impl Plan {
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
                })
            }
            Some(Form::Csv) => Output::Csv,
            Some(Form::Ndjson) => Output::Ndjson,
            Some(Form::Ncdu) => Output::Ncdu { measure, time: sys::now() },
            None => Output::Tree(Box::new(flags.tree(flags.format(measure), self.terminal))),
        }
    }
}
