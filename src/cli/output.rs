//! How results are shown: as a picture, or in a form for programs, and what does not fit that.

use clap::builder::{PossibleValue, PossibleValuesParser};

use super::flags::{FileTime, Flags};
use crate::measure::Measure;
use crate::render::page::{self, PageOptions};
use crate::render::size::{Format, Formats, Unit};
use crate::render::{Form, Output, json, summary};
use crate::report::{Input, Keep};
use crate::sys;
use crate::terminal;

impl Flags {
    /// The form that programs are to read it in, if they are.
    pub(super) fn form(&self) -> Option<Form> {
        let named = |name: &String| Form::ALL.iter().find(|(known, ..)| known == name);
        let named = self.print.form.as_ref().and_then(named).map(|(_, form, _)| *form);
        if self.print.output_json { Some(Form::Json) } else { named }
    }

    /// Whether times are shown that are, or will be, in a snapshot.
    pub(super) fn is_by_saved_time(&self) -> bool {
        self.filetime().is_some()
            && (self.snapshots.load.is_some() || self.snapshots.save.is_some())
    }

    /// Whether the form can show what is asked for, or in one line why not.
    pub(super) fn ensure_fit(&self, keep: &Keep) -> Result<(), String> {
        let is_whole = matches!(keep, Keep::Everything(_));
        let is_bytes = matches!(self.measure(), Measure::Disk | Measure::Apparent);
        if self.is_by_saved_time() && !matches!(self.filetime(), Some(FileTime::Modified)) {
            return Err(
                "a snapshot has only times of modification: use -m m, not -m a or -m c".into()
            );
        }
        if self.snapshots.fail_over.is_some() && self.filetime().is_some() {
            return Err("--fail-over limits sizes, not times: leave out -m and --sort time".into());
        }
        if self.snapshots.since.is_some() && self.filetime().is_some() {
            return Err("--since compares sizes, not times: leave out -m and --sort time".into());
        }
        if matches!(keep, Keep::Groups(by, _) if by.needs().bytes) && !is_bytes {
            return Err("--by size needs sizes in bytes: leave out -f, --inodes and -m".into());
        }
        let is_shown = matches!(self.form(), None | Some(Form::Json)) && self.filetime().is_none();
        if self.show.df && !is_shown {
            return Err(
                "--df is shown with sizes, in a picture or with -j: leave out -m and --as".into()
            );
        }
        let Some(form) = self.form() else { return Ok(()) };
        let fits = form.fits();
        if !fits.changes && self.snapshots.since.is_some() {
            return Err("this format cannot show changes: use -j, --as csv or --as ndjson".into());
        }
        if matches!(form, Form::Page(_)) && terminal::is_stdout() {
            return Err("a page is not written to a terminal: redirect standard output".into());
        }
        if !fits.times && self.count.filetime.is_some() {
            return Err("this format cannot show times: leave out --as, or use -j".into());
        }
        if !fits.parts && !is_whole {
            return Err("this format shows everything: leave out limits and groups".into());
        }
        if !fits.counts && !is_bytes {
            let form = self.print.form.as_deref().unwrap_or_default();
            let message =
                format!("--as {form} needs sizes in bytes: leave out -f, --inodes and -m");
            return Err(message);
        }
        Ok(())
    }

    /// How to show what comes of it: in the form that is asked for, or as a picture.
    pub(super) fn output(
        &self,
        formats: Formats,
        terminal: Option<(usize, usize)>,
        source: &Input,
    ) -> Output {
        if self.show.summarize {
            return Output::Summary(self.summary(&formats, source));
        }
        match self.form() {
            Some(Form::Page(form)) => {
                let is_given = self.show.number_of_lines.is_some();
                let options = PageOptions {
                    form,
                    picture: self.tree(None),
                    measure: self.measure(),
                    max_bytes: if is_given { usize::MAX } else { page::BYTES },
                    time: String::new(),
                };
                Output::Page(Box::new(options), formats, self.times())
            }
            Some(form) => Output::Form(
                form,
                json::ExportOptions {
                    full_paths: self.full_paths(),
                    order: self.order(),
                    threads: self.print.threads,
                    time: sys::now(),
                    ..json::ExportOptions::default()
                },
            ),
            None => Output::Tree(Box::new(self.tree(terminal)), formats),
        }
    }

    /// How to show a line for each root: as du has it, unless a format is asked for.
    fn summary(&self, formats: &Formats, source: &Input) -> summary::SummaryOptions {
        let roots = match source {
            Input::Roots(roots) => {
                roots.iter().map(|root| root.as_encoded_bytes().to_vec()).collect()
            }
            Input::Snapshot(..) => Vec::new(),
        };
        let is_bytes = matches!(self.measure(), Measure::Disk | Measure::Apparent);
        summary::SummaryOptions {
            format: match self.print.output_format {
                Some(_) if is_bytes => formats.bytes.clone(),
                _ => Format::Fixed(Unit { name: "", bytes: 1 }),
            },
            is_raw: !terminal::is_stdout(),
            roots,
        }
    }

    /// What `--as` takes.
    pub(super) fn forms() -> PossibleValuesParser {
        let value = |(name, _, help): (&'static str, Form, &'static str)| {
            PossibleValue::new(name).help(help)
        };
        PossibleValuesParser::new(Form::ALL.map(value))
    }
}
