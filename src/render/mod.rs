//! Turns a finished report into text. It uses no file system, no clock and no terminal: width, colours and everything
//! else are options.

pub mod bounds;
pub mod colors;
pub mod diff;
pub mod doubts;
pub mod errors;
mod file_systems;
pub mod folded;
pub mod history;
mod lines;
pub mod name;
pub mod ncdu;
pub mod page;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "without_parquet.rs"]
mod parquet;
pub mod partial;
pub mod percent;
pub mod progress;
pub mod rows;
pub mod size;
pub mod stats;
pub mod summary;
pub mod time;
pub mod tree;

use std::io::{self, Write};
use std::mem;

use crate::history::History;
use crate::measure::{Measure, View};
use crate::snapshot::{FileSystem, Origin, Snapshot, schema};
use crate::weighed::Weighed;
use page::PageForm;
use partial::Partial;
use size::Formats;
use tree::Bars;

/// How to show the result.
#[derive(Debug)]
pub enum Output {
    /// As a picture.
    Tree(Box<tree::PictureOptions>, Formats),
    /// In a form for programs.
    Form(Form, schema::ExportOptions),
    /// As a page.
    Page(Box<page::PageOptions>, Formats, time::TimeFormat),
    /// As one line for each root.
    Summary(summary::SummaryOptions),
    /// As a line for each directory that changed over time.
    History(history::HistoryOptions),
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
    /// Parquet.
    Parquet,
    /// A page, or its map alone.
    Page(PageForm),
}

/// What a form is able to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fits {
    /// Parts of a tree. If not, only all of it.
    pub parts: bool,
    /// Changes.
    pub changes: bool,
    /// Counts. If not, only bytes.
    pub counts: bool,
    /// Times. If not, only sizes.
    pub times: bool,
}

impl Form {
    /// All forms: name, value and help.
    pub const ALL: [(&str, Form, &str); 8] = [
        ("json", Form::Json, "The same as -j"),
        ("csv", Form::Csv, "A table, one line per entry: path, kind, size, entries, depth"),
        ("ndjson", Form::Ndjson, "The same table as JSON, one object per line"),
        ("ncdu", Form::Ncdu, "The export format of ncdu, for ncdu -f"),
        ("folded", Form::Folded, "Stacks for flame graphs"),
        (
            "parquet",
            Form::Parquet,
            "A table for DuckDB, Spark and pandas; more columns with --details",
        ),
        ("html", Form::Page(PageForm::Html), "A page with a map and a table, in one file"),
        ("svg", Form::Page(PageForm::Svg), "The map alone"),
    ];

    /// What it is able to show.
    pub fn fits(self) -> Fits {
        let everything = Fits { parts: true, changes: true, counts: true, times: false };
        match self {
            Form::Json => Fits { times: true, ..everything },
            Form::Csv | Form::Ndjson | Form::Page(_) => everything,
            Form::Folded | Form::Parquet => Fits { changes: false, ..everything },
            Form::Ncdu => Fits { parts: false, changes: false, counts: false, times: false },
        }
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

/// Writes the history of a tree, whose sizes are in `measure`.
///
/// # Errors
/// The writer's.
pub fn write_history(
    out: &mut impl Write,
    history: &History,
    measure: Measure,
    output: &Output,
) -> io::Result<()> {
    match output {
        Output::History(options) => history::draw(out, history, options),
        _ => history::json(out, history, measure),
    }
}

/// Writes the result of a walk, or a difference. `file_systems` are shown beside the root.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut impl Write,
    Snapshot { weighed, view, has_all, origin }: &Snapshot,
    file_systems: &[FileSystem],
    output: Output,
) -> io::Result<()> {
    let (view, measure) = (*view, view.measure);
    let (form, options) = match output {
        // `write_history` writes these.
        Output::History(_) => return Ok(()),
        Output::Summary(mut options) => {
            let tree = weighed.report.as_ref();
            if let (true, Some(origin)) = (options.roots.is_empty(), origin) {
                options.roots = origin.roots.iter().filter_map(|root| root.name.clone()).collect();
            }
            return tree.map_or(Ok(()), |tree| summary::write(out, tree, &options));
        }
        Output::Form(form, options) => {
            let file_systems = file_systems.to_vec();
            // Of others, it says what nodes have.
            let origin = origin.clone().filter(|_| form == Form::Parquet);
            (
                form,
                schema::ExportOptions { view, has_all: *has_all, file_systems, origin, ..options },
            )
        }
        Output::Page(mut options, formats, times) => {
            adapt(&mut options.picture, &formats, weighed, origin.as_ref(), view);
            options.measure = measure;
            let saved = origin.as_ref().filter(|origin| origin.time != 0);
            options.time = times.write(saved.map_or(times.now, |it| it.time));
            let tree = weighed.report.as_ref();
            return tree.map_or(Ok(()), |tree| page::write(out, tree, &options));
        }
        Output::Tree(mut options, formats) => {
            adapt(&mut options, &formats, weighed, origin.as_ref(), view);
            if options.times.is_some() {
                // Times do not add up.
                options.bars = Bars::None;
            }
            let Some(tree) = &weighed.report else { return Ok(()) };
            let mut lines = file_systems::lines(file_systems, &options.format, options.width);
            let below = if options.is_root_first { Vec::new() } else { mem::take(&mut lines) };
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            tree::draw(out, tree, &options)?;
            return below.iter().try_for_each(|line| writeln!(out, "{line}"));
        }
    };
    match (form, &weighed.report) {
        (Form::Json, Some(tree)) if tree.root().change().is_some() => {
            diff::write(out, weighed, tree, &options)
        }
        (Form::Json, _) => schema::write(out, weighed, &options),
        (Form::Ncdu, _) => ncdu::write(out, weighed, &options),
        (Form::Csv, Some(tree)) => rows::csv(out, tree),
        (Form::Ndjson, Some(tree)) => rows::ndjson(out, tree),
        (Form::Folded, Some(tree)) => folded::write(out, tree),
        (Form::Parquet, Some(tree)) => parquet::write(out, tree, &options),
        // A page has options of its own.
        (Form::Page(_), _) | (_, None) => Ok(()),
    }
}

/// Has a picture show what was `weighed`.
fn adapt(
    options: &mut tree::PictureOptions,
    formats: &Formats,
    weighed: &Weighed,
    origin: Option<&Origin>,
    view: View,
) {
    options.format = formats.of(view.measure);
    options.times = formats.times.clone().filter(|_| view.by_time);
    let change = weighed.report.as_ref().and_then(|tree| tree.root().change());
    options.knows_own |= origin.is_some() || change.is_some();
    options.partial = Partial::of(weighed);
}
