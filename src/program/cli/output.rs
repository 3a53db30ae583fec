//! How to show the result: as a picture or in a form for programs; and which flags do not fit together.

use clap::builder::{PossibleValue, PossibleValuesParser};

use super::flags::{FileTime, Flags};
use crate::program::terminal;
use weigh::internal::render::history::HistoryOptions;
use weigh::internal::render::page::{self, PageOptions};
use weigh::internal::render::size::{Format, Formats, Unit};
use weigh::internal::render::time::{Style, TimeFormat};
use weigh::internal::render::{Form, Output, summary};
use weigh::internal::report::{Input, Keep};
use weigh::internal::snapshot::schema;
use weigh::internal::sys;

impl Flags {
    /// The form for programs, if one is asked for.
    pub(super) fn form(&self) -> Option<Form> {
        let named = |name: &String| Form::ALL.iter().find(|(known, ..)| known == name);
        let named = self.print.form.as_ref().and_then(named).map(|(_, form, _)| *form);
        if self.print.output_json { Some(Form::Json) } else { named }
    }

    /// Whether to show times that are in a snapshot, or will be.
    pub(super) fn is_by_saved_time(&self) -> bool {
        self.filetime().is_some()
            && (!self.snapshots.load.is_empty() || self.snapshots.save.is_some())
    }

    /// Checks whether the form can show what is asked for, and says in one line why not. What depends on flags alone is in
    /// `conflicts_with`; here it depends on a flag's value, as `--sort time` does, or on what several flags come to.
    pub(super) fn ensure_fit(&self, keep: &Keep) -> Result<(), String> {
        let is_whole = matches!(keep, Keep::Everything(_));
        let is_bytes = self.is_in_bytes();
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
        let is_history = !self.snapshots.history.is_empty();
        if is_history && !self.filters.filter()?.is_off() {
            return Err("--history shows snapshots as they are: leave out filters".into());
        }
        if is_history && !matches!(self.form(), None | Some(Form::Json)) {
            return Err("--history is shown as a picture or with -j: leave out --as".into());
        }
        let is_shown = matches!(self.form(), None | Some(Form::Json)) && self.filetime().is_none();
        if self.show.frees && !is_shown {
            return Err(
                "--frees is shown with sizes, in a picture or with -j: leave out --sort time and --as".into()
            );
        }
        if self.show.df && !is_shown {
            return Err(
                "--df is shown with sizes, in a picture or with -j: leave out -m and --as".into()
            );
        }
        let shows_details = self.screen.ui || self.form().is_some_and(Form::shows_details);
        if self.snapshots.details && self.snapshots.save.is_none() && !shows_details {
            return Err("--details goes with --save, --ui, or --as parquet".into());
        }
        let Some(form) = self.form() else { return Ok(()) };
        if !form.is_for_terminals() && terminal::is_stdout() {
            let form = self.print.form.as_deref().unwrap_or_default();
            return Err(format!(
                "--as {form} is not written to a terminal: redirect standard output"
            ));
        }
        let fits = form.fits();
        if !fits.changes && self.snapshots.since.is_some() {
            return Err("this format cannot show changes: use -j, --as csv or --as ndjson".into());
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

    /// How to show the result.
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
                    measure: self.view().measure,
                    max_bytes: if is_given { usize::MAX } else { page::BYTES },
                    time: String::new(),
                };
                Output::Page(Box::new(options), formats, self.times())
            }
            Some(form) => Output::Form(
                form,
                schema::ExportOptions {
                    full_paths: self.full_paths(),
                    order: self.order(),
                    threads: self.print.threads,
                    time: sys::now(),
                    host: sys::host(),
                    ..schema::ExportOptions::default()
                },
            ),
            None if matches!(source, Input::History(..)) => {
                Output::History(self.history(&formats, terminal))
            }
            None => Output::Tree(Box::new(self.tree(terminal)), formats),
        }
    }

    /// How to show a history.
    fn history(&self, formats: &Formats, terminal: Option<(usize, usize)>) -> HistoryOptions {
        let picture = self.tree(terminal);
        HistoryOptions {
            format: formats.of(self.view().measure),
            dates: TimeFormat {
                style: self.print.time_style.clone().unwrap_or(Style::Format("%Y-%m-%d".into())),
                ..self.times()
            },
            width: picture.width,
            full_paths: picture.full_paths,
            screen_reader: picture.screen_reader,
        }
    }

    /// How to show a line for each root: like du, unless a format is asked for.
    fn summary(&self, formats: &Formats, source: &Input) -> summary::SummaryOptions {
        let roots = match source {
            Input::Roots(roots) => {
                roots.iter().map(|root| root.as_encoded_bytes().to_vec()).collect()
            }
            Input::Snapshots(..) | Input::History(..) => Vec::new(),
        };
        let is_bytes = self.is_in_bytes();
        summary::SummaryOptions {
            format: match self.print.output_format {
                Some(_) if is_bytes => formats.bytes.clone(),
                _ => Format::Fixed(Unit { name: "", bytes: 1 }),
            },
            is_raw: !terminal::is_stdout(),
            roots,
        }
    }

    /// The values of `--as`.
    pub(super) fn forms() -> PossibleValuesParser {
        let value = |(name, _, help): (&'static str, Form, &'static str)| {
            PossibleValue::new(name).help(help)
        };
        PossibleValuesParser::new(Form::ALL.map(value))
    }
}
