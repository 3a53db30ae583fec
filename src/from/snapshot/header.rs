//! The header of a snapshot: what was measured, where it comes from, and the errors. It is JSON, with the members that
//! `-j` prints beside the root.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::io::{self, Write};

use super::packed::blocks::{FORMAT, damaged};
use super::tokens::Tokens;
use super::{GivenRoot, Origin, Snapshot, SnapshotInfo, Volume, Wanted};
use crate::base::escape::{json_bytes as bytes, json_string as string};
use crate::base::measure::{Figures, Measure, Measures, View};
use crate::scan::filter::Share;
use crate::sys::errors::codes;
use crate::sys::problem::{Operation, Problem};
use crate::tree::{Report, Tree};

/// The newest schema that can be read, and the one that is written.
const SCHEMA: u64 = 1;

/// More figures than any version writes.
const MOST_FIGURES: usize = 64;

/// The header.
#[derive(Default)]
pub struct Header {
    measure: Measure,
    /// The figures that nodes have.
    figures: Measures,
    is_complete: bool,
    problems: Vec<Problem>,
    /// Where the snapshot comes from.
    pub(super) origin: Origin,
    /// How many directories there are.
    pub directories: u64,
}

impl Header {
    /// Reads it.
    ///
    /// # Errors
    /// The system's, and those of an invalid header.
    pub(super) fn read(tokens: &mut Tokens) -> io::Result<Self> {
        let mut header = Self::default();
        let (mut measure, mut is_complete, mut directories) = (None, None, None);
        let (mut schema, mut format) = (None, None);
        tokens.object(|tokens| {
            match tokens.text() {
                b"schema" => schema = Some(version(tokens, "schema", SCHEMA)?),
                b"format" => format = Some(version(tokens, "format", FORMAT)?),
                b"directories" => directories = Some(tokens.number()?),
                b"measure" => {
                    measure = Measure::named(tokens.utf8()?);
                    if measure.is_none() {
                        return Err(tokens.error("a measure that is not known"));
                    }
                }
                b"complete" => is_complete = Some(tokens.boolean()?),
                b"errors" => {
                    let codes = LazyCell::new(codes);
                    header.problems =
                        tokens.list(usize::MAX, |tokens| read_problem(tokens, &codes))?;
                }
                b"figures" => {
                    let figures = strings(tokens, MOST_FIGURES)?;
                    let measures = figures.iter().filter_map(|figure| Measure::named(figure));
                    header.figures = measures.collect();
                    header.origin.has_times |= figures.iter().any(|it| it == Figures::TIME);
                }
                b"details" => {
                    header.origin.has_details = tokens.boolean()?;
                    header.origin.has_times |= header.origin.has_details;
                }
                b"time" => header.origin.time = tokens.time()?,
                b"host" => header.origin.host = tokens.utf8()?.into(),
                b"roots" => header.origin.roots = tokens.list(usize::MAX, GivenRoot::read)?,
                b"modes" => header.origin.lacks_modes = !tokens.boolean()?,
                b"share" => header.origin.share = Some(Share::read(tokens)?),
                b"options" => {
                    /// More than a command line of 6 MiB can have (execve(2)).
                    const MOST: usize = 1 << 20;
                    header.origin.options = Some(strings(tokens, MOST)?);
                }
                // A later version may write more.
                _ => tokens.skip()?,
            }
            Ok(())
        })?;
        tokens.end()?;
        let (Some(_), Some(_), Some(directories)) = (schema, format, directories) else {
            return Err(damaged("a header without schema, format or directories"));
        };
        let (Some(measure), Some(is_complete)) = (measure, is_complete) else {
            return Err(damaged("a snapshot without measure or complete"));
        };
        Ok(Self { measure, is_complete, directories, ..header })
    }

    /// Its origin, and whether the scan is complete.
    pub(super) fn info(self) -> SnapshotInfo {
        SnapshotInfo { origin: self.origin, is_complete: self.is_complete }
    }

    /// The view that is `wanted` of it.
    pub(super) fn view(&self, wanted: Wanted) -> View {
        wanted.view(self.measure, self.figures)
    }

    /// The snapshot that it is with this tree.
    pub(super) fn loaded(self, wanted: Wanted, answer: Option<Tree>) -> Snapshot {
        let view = self.view(wanted);
        // Without an error that names a loss, much may be missing.
        let is_interrupted = !self.is_complete && !self.problems.iter().any(Problem::is_loss);
        let answer = answer.map(|tree| tree.in_view(view));
        let report = Report { answer, problems: self.problems, is_interrupted, unfinished: None };
        let has = |it: &Measure| *it == self.measure || self.figures.contains(*it);
        let known = Measure::ALL.into_iter().filter(has).collect();
        Snapshot { report, view, known, origin: Some(self.origin), ..Snapshot::default() }
    }
}

/// Takes the version of what is `newest` here.
fn version(tokens: &mut Tokens, what: &str, newest: u64) -> io::Result<u64> {
    let version = tokens.number()?;
    if version > newest {
        let message = format!("it has {what} {version}, and this weigh reads {what} {newest}");
        return Err(tokens.error(message));
    }
    Ok(version)
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
    Ok(Problem { path: exact_path.unwrap_or(path), operation, code, message, hint: None })
}

/// Writes the members with which every document begins: the schema and the program.
pub fn tool(out: &mut dyn Write) -> io::Result<()> {
    write!(out, r#"{{"schema":{SCHEMA},"tool":"weigh""#)?;
    bytes(out, r#","version":"#, env!("CARGO_PKG_VERSION").as_bytes())
}

/// Writes the first members of every document that has sizes.
pub fn head(out: &mut dyn Write, view: View) -> io::Result<()> {
    tool(out)?;
    let (measure, unit) = (view.name(), view.unit());
    write!(out, r#","measure":"{measure}","unit":"{unit}""#)
}

/// Writes the last member of every document: the errors.
pub fn end(out: &mut dyn Write, problems: &[Problem]) -> io::Result<()> {
    list(out, r#","errors":"#, problems, |out, problem| {
        bytes(out, r#"{"path":"#, &problem.path)?;
        write!(out, r#","operation":"{}""#, problem.operation.name())?;
        bytes(out, r#","error":"#, problem.symbol().as_bytes())?;
        bytes(out, r#","message":"#, problem.message.as_bytes())?;
        out.write_all(b"}")
    })?;
    out.write_all(b"}\n")
}

/// Writes the header of a `snapshot` with so many `directories`.
pub(super) fn write(out: &mut dyn Write, snapshot: &Snapshot, directories: u64) -> io::Result<()> {
    let Snapshot { report, view, known, origin: from, .. } = snapshot;
    head(out, *view)?;
    write!(out, r#","complete":{}"#, report.is_complete())?;
    from.as_ref().map_or(Ok(()), |from| origin(out, from, *known))?;
    write!(out, r#","format":{FORMAT},"directories":{directories}"#)?;
    end(out, &report.problems)
}

/// Where a snapshot comes from.
fn origin(out: &mut dyn Write, origin: &Origin, known: Measures) -> io::Result<()> {
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
