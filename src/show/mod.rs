//! Turns a finished report into text. It uses no file system, no clock and no terminal: width, colours and everything
//! else are options.

pub mod colors;
mod diff;
pub mod errors;
pub mod file_systems;
pub mod history;
pub mod json;
pub mod kept;
pub mod kinds;
mod lines;
mod markdown;
pub mod name;
pub mod ncdu;
pub mod page;
pub mod palette;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "without_parquet.rs"]
mod parquet;
pub mod partial;
mod plot;
pub mod progress;
mod prometheus;
pub mod reclaimable;
pub mod rows;
pub mod size;
pub mod time;
pub mod tree;
pub mod watch;

use std::io::{self, Write};

use page::PageForm;
use palette::{Charset, Theme};
use partial::Partial;
use tree::Bars;

use crate::ask::Outcome;
use crate::from::snapshot::{Doubt, Snapshot};

pub use json::ExportOptions;

/// How to show the result.
#[derive(Debug)]
pub enum Output {
    /// For people on a terminal: as a picture, a list of what can go, or what changed over time.
    Picture(Box<tree::PictureOptions>),
    /// As a list of what can go.
    List(Box<reclaimable::ListOptions>),
    /// As a table in Markdown.
    Markdown(Box<tree::PictureOptions>),
    /// In a form for programs.
    Form(Form, ExportOptions),
    /// As a page.
    Page(Box<page::PageOptions>),
    /// As one line for each root.
    Summary(rows::SummaryOptions),
}

impl Output {
    /// In the colours for a terminal with this `theme`.
    pub fn on(mut self, theme: Theme) -> Self {
        if let Output::Picture(options) = &mut self
            && let Some(colors) = &mut options.colors
        {
            colors.palette = colors.palette.on(theme);
        }
        self
    }
}

/// A form for programs to read, or for a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Schema 1.
    Json,
    /// Comma-separated values.
    Csv,
    /// JSON lines.
    Ndjson,
    /// ncdu's export.
    Ncdu,
    /// Folded stacks.
    Folded,
    /// Prometheus's text format.
    Prometheus,
    /// Parquet.
    Parquet,
    /// A page, or its map alone.
    Page(PageForm),
    /// A table in Markdown.
    Markdown,
}

impl Form {
    /// All forms: name, value and help.
    pub const ALL: [(&str, Form, &str); 10] = [
        ("json", Form::Json, "The same as -j"),
        ("csv", Form::Csv, "A table, one line per entry: path, kind, size, entries, depth"),
        ("ndjson", Form::Ndjson, "The same table as JSON, one object per line"),
        ("ncdu", Form::Ncdu, "The export format of ncdu, for ncdu -f"),
        ("folded", Form::Folded, "Stacks for flame graphs"),
        ("prometheus", Form::Prometheus, "Metrics of the PATHs; with -d, -n or -z, of more"),
        (
            "parquet",
            Form::Parquet,
            "A table for DuckDB, Spark and pandas; more columns with --details",
        ),
        ("md", Form::Markdown, "A short table in Markdown, for a pull request"),
        ("html", Form::Page(PageForm::Html), "A page with a map and a table, in one file"),
        ("svg", Form::Page(PageForm::Svg), "The map alone"),
    ];

    /// Whether it can show changes.
    pub fn shows_changes(self) -> bool {
        matches!(self, Form::Json | Form::Csv | Form::Ndjson | Form::Page(_) | Form::Markdown)
    }

    /// Whether it only shows all of a tree, and bytes.
    pub fn is_whole(self) -> bool {
        self == Form::Ncdu
    }

    /// Whether its reader adds up sizes, and so has to know which names are links to the same inode.
    pub fn adds_up(self) -> bool {
        matches!(self, Form::Ncdu | Form::Parquet)
    }

    /// Whether a terminal can show it. Parquet is binary, and pages are for browsers.
    pub fn is_for_terminals(self) -> bool {
        !matches!(self, Form::Parquet | Form::Page(_))
    }

    /// Whether it can show times and owners, if the walk asks for them.
    pub fn shows_details(self) -> bool {
        self == Form::Parquet
    }
}

/// Writes what came of a request.
///
/// # Errors
/// The writer's.
pub fn write(out: &mut dyn Write, outcome: &Outcome, mut output: Output) -> io::Result<()> {
    let Outcome { snapshot, history, reclaimable, .. } = outcome;
    if let Output::Picture(options) | Output::Markdown(options) = &mut output {
        adapt(options, snapshot);
    }
    if let Output::List(options) = &mut output {
        adapt(&mut options.picture, snapshot);
    }
    match (output, history, reclaimable) {
        (Output::Picture(options), Some(history), _) => history::draw(out, history, &options),
        (Output::Markdown(options), Some(history), _) => history::markdown(out, history, &options),
        (_, Some(history), _) => history::json(out, history, snapshot.view.measure),
        (Output::List(options), _, Some(found)) => reclaimable::draw(out, found, &options),
        (Output::Markdown(options), _, Some(found)) => reclaimable::markdown(out, found, &options),
        (Output::Form(Form::Csv, _), _, Some(found)) => reclaimable::csv(out, found),
        (_, _, Some(found)) => reclaimable::json(out, found, &snapshot.report),
        (output, None, None) => write_tree(out, outcome, output),
    }
}

/// Writes the result of a walk, or a difference to an earlier snapshot. File systems are shown beside the root.
fn write_tree(out: &mut dyn Write, outcome: &Outcome, output: Output) -> io::Result<()> {
    let Outcome { snapshot, file_systems, earlier, doubts, .. } = outcome;
    let Snapshot { report, view, known, origin, .. } = snapshot;
    let since = |options: &tree::PictureOptions| {
        diff::since_then(earlier.as_ref(), origin.as_ref(), &options.dates)
    };
    match (output, &report.answer) {
        (Output::Form(form, options), tree) => {
            let file_systems = file_systems.to_vec();
            let origin = origin.clone().or_else(|| options.origin.clone());
            let (view, known) = (*view, *known);
            let lacks_earlier = doubts.iter().any(Doubt::is_loss);
            let options =
                ExportOptions { view, known, file_systems, origin, lacks_earlier, ..options };
            match (form, tree) {
                (Form::Json, _) => json::write(out, report, &options),
                (Form::Ncdu, _) => ncdu::write(out, report, &options),
                (Form::Prometheus, _) => prometheus::write(out, report, &options),
                (Form::Csv, Some(tree)) => rows::csv(out, tree, options.order),
                (Form::Ndjson, Some(tree)) => rows::ndjson(out, tree, options.order),
                (Form::Folded, Some(tree)) => rows::folded(out, tree),
                (Form::Parquet, Some(tree)) => parquet::write(out, tree, &options),
                // These have options of their own.
                (Form::Page(_) | Form::Markdown, _) | (_, None) => Ok(()),
            }
        }
        (Output::Picture(options), Some(tree)) if tree.root().change().is_some() => {
            diff::draw(out, tree, &since(&options), &options)
        }
        (Output::Picture(options), Some(tree)) => {
            if !options.is_of_space {
                tree::draw(out, tree, &options)?;
            }
            match &file_systems[..] {
                [] => Ok(()),
                _ => out.write_all(file_systems::parts(outcome, outcome.took, &options).as_bytes()),
            }
        }
        (Output::Markdown(options), Some(tree)) if tree.root().change().is_some() => {
            diff::markdown(out, tree, &since(&options), &options)
        }
        (Output::Markdown(options), _) if !file_systems.is_empty() => {
            out.write_all(file_systems::markdown(outcome, &options).as_bytes())
        }
        (Output::Markdown(options), Some(tree)) => markdown::write(out, tree, &options),
        (Output::Page(mut options), Some(tree)) => {
            adapt(&mut options.picture, snapshot);
            // A browser shows them, whatever the terminal can show.
            options.picture.charset = Charset::Unicode;
            page::write(out, tree, outcome, &options)
        }
        (Output::Summary(mut options), Some(tree)) => {
            if let (true, Some(origin)) = (options.roots.is_empty(), origin) {
                options.roots = origin.roots.iter().filter_map(|root| root.name.clone()).collect();
            }
            rows::summary(out, tree, &options)
        }
        // A list is of what was found.
        (Output::List(_), Some(_)) => Ok(()),
        // Nothing is shown of a tree that could not be read. How full file systems are was shown at once.
        (_, None) => Ok(()),
    }
}

/// Has a picture show what was weighed.
fn adapt(options: &mut tree::PictureOptions, snapshot: &Snapshot) {
    let Snapshot { report, view, origin, .. } = snapshot;
    options.format = options.format.of(view.measure);
    options.times = options.times.take().filter(|_| view.by_time);
    if options.times.is_some() {
        // Times do not add up.
        options.bars = Bars::None;
    }
    let change = report.answer.as_ref().and_then(|tree| tree.root().change());
    options.knows_own |= origin.is_some() || change.is_some();
    options.partial = Partial::of(report);
    // Nobody can open what is on another host.
    options.links = options.links.take().filter(|links| match origin {
        Some(origin) => origin.host == links.host,
        None => !links.directory.is_empty(),
    });
}
