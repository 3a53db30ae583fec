//! The header of schema 1, beside the root: what was measured, where the snapshot comes from, and the errors.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::io::{self, Write};

use super::SCHEMA;
use crate::escape::{json_bytes as bytes, json_string as string};
use crate::filter::Share;
use crate::measure::{Figures, Measure, Measures, View};
use crate::problem::{Operation, Problem};
use crate::snapshot::tokens::Tokens;
use crate::snapshot::{FileSystem, GivenRoot, Glance, Origin, Snapshot, Volume, Wanted};
use crate::sys::errors::codes;
use crate::sys::{Space, Unseen};
use crate::tree::Tree;
use crate::weighed::Weighed;

/// More figures than any version writes.
const MOST_FIGURES: usize = 64;

/// The header.
#[derive(Default)]
pub(in crate::snapshot) struct Header {
    pub(in crate::snapshot) schema: Option<u64>,
    pub(in crate::snapshot) measure: Option<Measure>,
    /// The figures that nodes have besides their sizes.
    pub(in crate::snapshot) figures: Measures,
    is_complete: Option<bool>,
    is_interrupted: bool,
    problems: Vec<Problem>,
    /// Where the snapshot comes from; none if `-j` printed it.
    origin: Option<Origin>,
    /// Whether `details` was read. A saved snapshot has it before its tree.
    knows_details: bool,
    /// Whether weigh wrote it.
    is_ours: bool,
}

impl Header {
    /// Reads the member whose key was taken last, or skips it if it is not one of the header.
    pub(in crate::snapshot) fn read(&mut self, tokens: &mut Tokens) -> io::Result<()> {
        match tokens.text() {
            b"schema" => {
                let schema = tokens.number()?;
                tokens.is_recognized = true;
                if schema > SCHEMA {
                    return Err(tokens.error(format_args!(
                        "it has schema {schema}, and this weigh reads schema {SCHEMA}"
                    )));
                }
                self.schema = Some(schema);
            }
            b"measure" => {
                let measure = Measure::named(tokens.utf8()?);
                let measure = measure.ok_or_else(|| tokens.error("a measure that is not known"))?;
                self.measure = Some(measure);
            }
            b"tool" => self.is_ours = tokens.utf8()? == "weigh",
            b"complete" => self.is_complete = Some(tokens.boolean()?),
            b"interrupted" => self.is_interrupted = tokens.boolean()?,
            b"errors" => {
                let codes = LazyCell::new(codes);
                self.problems = tokens.list(usize::MAX, |tokens| read_problem(tokens, &codes))?;
            }
            b"figures" => {
                let figures = strings(tokens, MOST_FIGURES)?;
                self.figures = figures.iter().filter_map(|figure| Measure::named(figure)).collect();
                self.origin().has_times |= figures.iter().any(|figure| figure == Figures::TIME);
            }
            b"time" => self.origin().time = tokens.time()?,
            b"host" => self.origin().host = tokens.utf8()?.into(),
            b"roots" => self.origin().roots = tokens.list(usize::MAX, GivenRoot::read)?,
            b"details" => {
                let has_details = tokens.boolean()?;
                self.origin().has_details = has_details;
                self.origin().has_times |= has_details;
                self.knows_details = true;
            }
            b"modes" => self.origin().lacks_modes = !tokens.boolean()?,
            b"share" => self.origin().share = Some(Share::read(tokens)?),
            b"options" => {
                /// More than a command line of 6 MiB can have (execve(2)).
                const MOST: usize = 1 << 20;
                self.origin().options = Some(strings(tokens, MOST)?);
            }
            _ => tokens.skip()?,
        }
        Ok(())
    }

    /// What it says, if it is that of a snapshot of weigh, and not only of what was printed.
    pub(in crate::snapshot) fn glance(self) -> Option<Glance> {
        let (origin, is_complete) = (self.origin?, self.is_complete?);
        self.schema.filter(|_| self.is_ours).map(|_| Glance { origin, is_complete })
    }

    fn origin(&mut self) -> &mut Origin {
        self.origin.get_or_insert_default()
    }

    /// The view that is `wanted` of it.
    pub(in crate::snapshot) fn view(&self, wanted: Wanted) -> View {
        wanted.view(self.measure.unwrap_or_default(), self.figures)
    }

    /// The origin, if all that matters before the tree was read by now.
    pub(in crate::snapshot) fn known(&self) -> Option<&Origin> {
        self.schema.and(self.measure)?;
        self.origin.as_ref().filter(|_| self.knows_details)
    }

    pub(in crate::snapshot) fn loaded(
        self,
        wanted: Wanted,
        report: Option<Tree>,
    ) -> Result<Snapshot, &'static str> {
        let (Some(measure), Some(is_complete)) = (self.measure, self.is_complete) else {
            return Err("a snapshot that does not say what was measured, and whether all");
        };
        // Earlier versions do not say it.
        let is_interrupted =
            self.is_interrupted || !is_complete && !self.problems.iter().any(Problem::is_loss);
        let view = self.view(wanted);
        let report = report.map(|tree| tree.seen_as(view));
        let weighed = Weighed { report, problems: self.problems, is_interrupted, unfinished: None };
        let has = |it: &Measure| *it == measure || self.figures.contains(*it);
        let known = Measure::ALL.into_iter().filter(has).collect();
        Ok(Snapshot { weighed, view, known, origin: self.origin })
    }
}

/// Reads a list of at most `most` strings.
fn strings(tokens: &mut Tokens, most: usize) -> io::Result<Vec<String>> {
    tokens.list(most, |tokens| Ok(tokens.utf8()?.to_owned()))
}

/// Reads an error. `codes` has this system's error number for each symbol.
fn read_problem(tokens: &mut Tokens, codes: &HashMap<String, i32>) -> io::Result<Problem> {
    let (mut path, mut exact_path) = (Vec::new(), None);
    let (mut operation, mut code, mut message) = (None, None, String::new());
    tokens.object(|tokens| {
        match tokens.text() {
            b"path" => path = tokens.utf8()?.into(),
            b"path_bytes" => exact_path = Some(tokens.base64()?),
            b"operation" => operation = Operation::named(tokens.utf8()?),
            b"error" => code = codes.get(tokens.utf8()?).copied(),
            b"message" => message = tokens.utf8()?.to_owned(),
            _ => tokens.skip()?,
        }
        Ok(())
    })?;
    let operation = operation.ok_or_else(|| tokens.error("an error of no known operation"))?;
    // The system has no error number for a directory that is its own ancestor.
    let code = code.filter(|_| operation != Operation::Enter);
    Ok(Problem { path: exact_path.unwrap_or(path), operation, code, message })
}

/// Writes the first members of every document.
pub fn head(out: &mut dyn Write, view: View) -> io::Result<()> {
    write!(out, r#"{{"schema":{SCHEMA},"tool":"weigh""#)?;
    bytes(out, r#","version":"#, env!("CARGO_PKG_VERSION").as_bytes())?;
    let (measure, unit) = (view.name(), view.unit());
    write!(out, r#","measure":"{measure}","unit":"{unit}""#)
}

/// Writes everything after the root's members: the errors.
pub fn end(out: &mut dyn Write, weighed: &Weighed) -> io::Result<()> {
    list(out, r#","errors":"#, &weighed.problems, |out, problem| {
        bytes(out, r#"{"path":"#, &problem.path)?;
        write!(out, r#","operation":"{}""#, problem.operation.name())?;
        bytes(out, r#","error":"#, problem.symbol().as_bytes())?;
        bytes(out, r#","message":"#, problem.message.as_bytes())?;
        out.write_all(b"}")
    })?;
    out.write_all(b"}\n")
}

/// Where a snapshot comes from.
pub(super) fn origin(out: &mut dyn Write, origin: &Origin, known: Measures) -> io::Result<()> {
    write!(out, r#","time":{}"#, origin.time)?;
    bytes(out, r#","host":"#, &origin.host)?;
    list(out, r#","roots":"#, &origin.roots, |out, root| {
        bytes(out, r#"{"path":"#, &root.path)?;
        if let Some(name) = &root.name {
            bytes(out, r#","name":"#, name)?;
        }
        if let Some(Volume { kind, size, free, available }) = &root.volume {
            bytes(out, r#","file_system":{"type":"#, kind)?;
            write!(out, r#","size":{size},"free":{free}"#)?;
            if let Some(available) = available {
                write!(out, r#","available":{available}"#)?;
            }
            out.write_all(b"}")?;
        }
        out.write_all(b"}")
    })?;
    if let Some(options) = &origin.options {
        list(out, r#","options":"#, options, |out, option| string(out, option))?;
    }
    if let Some(Share { number, of, depth }) = origin.share {
        write!(out, r#","share":{{"number":{number},"of":{of},"depth":{depth}}}"#)?;
    }
    let known = Measure::ALL.into_iter().filter(|measure| known.contains(*measure));
    let mut figures: Vec<_> = known.map(Measure::name).collect();
    if figures.len() == 1 {
        // It is the measure of the sizes.
        figures.clear();
    }
    // It is among the details.
    figures.extend((origin.has_times && !origin.has_details).then_some(Figures::TIME));
    if !figures.is_empty() {
        write!(out, r#","figures":["{}"]"#, figures.join(r#"",""#))?;
    }
    if origin.lacks_modes {
        out.write_all(br#","modes":false"#)?;
    }
    write!(out, r#","details":{}"#, origin.has_details)
}

/// What file systems hold besides the files that the walk saw.
pub(super) fn space(out: &mut dyn Write, file_systems: &[FileSystem]) -> io::Result<()> {
    if file_systems.is_empty() {
        return Ok(());
    }
    list(out, r#","file_systems":"#, file_systems, |out, one| {
        bytes(out, r#"{"path":"#, &one.root)?;
        let Space { size, free, available, .. } = one.space;
        write!(out, r#","size":{size},"free":{free},"available":{available}"#)?;
        if let Some((unseen, unexplained)) = one.unseen().zip(one.unexplained()) {
            write!(out, r#","unseen":{unseen},"unexplained":{unexplained}"#)?;
        }
        list(out, r#","causes":"#, &one.causes, |out, cause| {
            let name = cause.name.replace(' ', "_");
            write!(out, r#"{{"cause":"{name}","size":{}"#, cause.size)?;
            if cause.shared > 0 {
                write!(out, r#","shared":{}"#, cause.shared)?;
            }
            if let Some(files) = cause.files {
                write!(out, r#","files":{files}"#)?;
            }
            list(out, r#","parts":"#, &cause.parts, part)?;
            out.write_all(b"}")
        })?;
        list(out, r#","not_in_df":"#, &one.left_out, part)?;
        list(out, r#","not_looked_at":"#, &one.unknown, |out, what| string(out, what))?;
        out.write_all(b"}")
    })
}

/// A part of what is in no file that was seen.
fn part(out: &mut dyn Write, Unseen { size, name, holders, held_by }: &Unseen) -> io::Result<()> {
    bytes(out, r#"{"name":"#, name)?;
    if let Some(size) = size {
        write!(out, r#","size":{size}"#)?;
    }
    if *held_by > 0 {
        write!(out, r#","held_by":{held_by}"#)?;
        list(out, r#","holders":"#, holders, |out, holder| {
            write!(out, r#"{{"pid":{}"#, holder.pid)?;
            bytes(out, r#","command":"#, &holder.command)?;
            out.write_all(b"}")
        })?;
    }
    out.write_all(b"}")
}

/// Writes a list of `items`, each of which `write` writes, and what comes `before` it: its name, as in [`bytes`].
pub fn list<I>(
    out: &mut dyn Write,
    before: &str,
    items: &[I],
    write: impl Fn(&mut dyn Write, &I) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, "{before}[")?;
    for (i, item) in items.iter().enumerate() {
        out.write_all(if i == 0 { b"" } else { b"," })?;
        write(out, item)?;
    }
    out.write_all(b"]")
}
