//! How to show the result: as a picture or in a form for programs; and which flags do not fit together.

use std::path::PathBuf;

use super::flags::{Flags, Read, SnapshotFlags};
use crate::app::terminal;
use weigh::internal::ask::{Input, Keep};
use weigh::internal::base::measure::Time;
use weigh::internal::from::snapshot::Origin;
use weigh::internal::show::page::{self, PageOptions};
use weigh::internal::show::palette::Charset;
use weigh::internal::show::size::{Format, Unit};
use weigh::internal::show::tree::PictureOptions;
use weigh::internal::show::{ExportOptions, Form, Output, rows};
use weigh::internal::sys;
use weigh::internal::tree::tally::{By, Limits};

impl Flags {
    /// The form for programs, if one is asked for.
    pub(super) fn form(&self) -> Option<Form> {
        self.print.output_json.then_some(Form::Json).or(self.print.form)
    }

    /// Refuses requests that the format cannot show. Pairs of flags are in `refusals`; these here depend on the terminal, on
    /// several flags together, or on standard input.
    pub(super) fn ensure_fit(&self, keep: &Keep) -> Result<(), String> {
        let is_by_time = self.filetime().is_some();
        let is_history = self.snapshots.history.is_some();
        let is_shown = matches!(self.form(), None | Some(Form::Json));
        let shows_df = matches!(
            self.form(),
            Some(Form::Page(page::PageForm::Html) | Form::Prometheus | Form::Markdown)
        );
        let is_saved = self.is_loaded() || self.snapshots.save.is_some();
        let is_unsaved = is_saved && is_by_time && self.filetime() != Some(Time::Modified);
        let SnapshotFlags { from, since, history, .. } = &self.snapshots;
        let read_once = from.iter().chain(since);
        let is_input = |file: &&PathBuf| file.as_os_str() == "-";
        let inputs = read_once.filter(is_input).count();
        // A history looks at each file before it reads it.
        let is_input_again = inputs > 1 || history.iter().flatten().any(|file| is_input(&file));
        let refused = [
            (is_input_again, "standard input can be read only once\nsave it in a file first"),
            (
                self.screen.ui && inputs > 0 && terminal::is_stdin(),
                "ui takes keys from standard input, which is a terminal\nname a file, or use a pipe",
            ),
            (
                is_unsaved,
                "-m a and -m c need a scan: a snapshot has only times of modification\nuse -m m",
            ),
            (
                self.snapshots.since.is_some() && is_by_time,
                "diff compares sizes, not times\nleave out {time}",
            ),
            (
                matches!(keep, Keep::Groups(By::Image, _))
                    && (self.snapshots.since.is_some()
                        || self.is_loaded() && self.hosts.is_empty()),
                "--by image reads an engine's files\nleave out --from and --since",
            ),
            (
                is_history && !is_shown && self.form() != Some(Form::Markdown),
                "history prints a table, -j or --as md\nleave out {form}",
            ),
            (
                self.print.rate.is_some() && self.print.read.flatten() == Some(Read::Bulk),
                "--read bulk reads whole inode tables, and --rate counts entries\nleave out one of them",
            ),
            (self.show.df && is_by_time, "df prints sizes, not times\nleave out {time}"),
            (
                self.show.df && !is_shown && !shows_df,
                "df prints lines, -j, --as md, --as html or --as prometheus\nleave out {form}",
            ),
            (
                self.show.reclaimable
                    && !matches!(self.form(), None | Some(Form::Json | Form::Csv | Form::Markdown)),
                "clean prints a list, -j, --as csv or --as md\nleave out {form}",
            ),
        ];
        if let Some((_, why)) = refused.into_iter().find(|(is_refused, _)| *is_refused) {
            let time = if self.count.filetime.is_some() { "-m" } else { "--sort time" };
            let form = self.form().map(typed).unwrap_or_default();
            return Err(why.replace("{time}", time).replace("{form}", &form));
        }
        self.form().map_or(Ok(()), |form| self.ensure_form_fits(form))
    }

    fn ensure_form_fits(&self, form: Form) -> Result<(), String> {
        let name = typed(form);
        if !form.is_for_terminals() && terminal::is_stdout() {
            return Err(format!(
                "{name} is not written to a terminal\nredirect it: weigh {name} PATH >FILE"
            ));
        }
        if !form.shows_changes() && self.snapshots.since.is_some() {
            return Err(format!(
                "{name} cannot show changes\nuse -j, --as md, --as csv or --as ndjson"
            ));
        }
        Ok(())
    }

    /// How to show the result.
    pub(super) fn output(
        &self,
        terminal: Option<(usize, usize)>,
        limits: Limits,
        source: &Input,
    ) -> Output {
        if self.show.summarize {
            return Output::Summary(self.summary(source));
        }
        match self.form() {
            Some(Form::Page(form)) => {
                let is_given = self.show.number_of_lines.is_some();
                Output::Page(Box::new(PageOptions {
                    form,
                    picture: self.picture(None),
                    max_bytes: if is_given { usize::MAX } else { page::BYTES },
                    times: self.times_as("%A, %-d %B %Y, %H:%M"),
                    origin: self.origin(source),
                }))
            }
            Some(Form::Markdown) => Output::Markdown(Box::new(PictureOptions {
                // Who reads it has no terminal.
                width: usize::MAX,
                charset: Charset::Unicode,
                is_root_first: true,
                links: None,
                colors: None,
                limits,
                ..self.picture(None)
            })),
            Some(form) => Output::Form(
                form,
                ExportOptions {
                    full_paths: self.full_paths(),
                    order: self.order(),
                    threads: self.print.threads,
                    time: sys::now(),
                    host: sys::host(),
                    origin: (form == Form::Json).then(|| self.origin(source)).flatten(),
                    by: self.by_name(),
                    ..ExportOptions::default()
                },
            ),
            None if self.show.reclaimable => Output::List(Box::new(self.list(terminal))),
            None => Output::Picture(Box::new(PictureOptions { limits, ..self.picture(terminal) })),
        }
    }

    /// When and where a scan of roots is made.
    fn origin(&self, source: &Input) -> Option<Origin> {
        match source {
            Input::Roots(roots) => Some(Origin::named(roots)),
            _ => None,
        }
    }

    /// How to show a line for each root: like du, unless a format is asked for.
    fn summary(&self, source: &Input) -> rows::SummaryOptions {
        let roots = match source {
            Input::Roots(roots) => {
                roots.iter().map(|root| root.as_encoded_bytes().to_vec()).collect()
            }
            _ => Vec::new(),
        };
        let is_bytes = self.is_in_bytes();
        rows::SummaryOptions {
            format: match self.print.output_format {
                Some(_) if is_bytes => self.format(),
                _ => Format::Fixed(Unit { name: "", bytes: 1 }),
            },
            is_raw: !terminal::is_stdout(),
            roots,
        }
    }
}

/// The flag that asks for a form.
fn typed(form: Form) -> String {
    let name = Form::ALL.iter().find(|it| it.1 == form).map_or("", |it| it.0);
    format!("--as {name}")
}
