//! JSON, schema 1: one object, the root node with the header beside it.
//!
//! Written straight to the writer, without recursion: a tree may be deeper than any stack.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::name::is_control;
use crate::measure::{Kind, Measure, time_of_weight};
use crate::path::join;
use crate::problem::Problem;
use crate::tally::{Child, Shape, Tree};

/// The schema's number.
const SCHEMA: u32 = 1;

/// What stands beside the root, and how names are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What the sizes count.
    pub measure: Measure,
    /// Whether `name` is a path, rather than a base name.
    pub full_paths: bool,
}

/// What is still to be written: a child, or the end of its parent's list.
enum Step<'a> {
    Child { child: Child<'a>, is_first: bool },
    End { path: usize },
}

/// Writes `tree` and what went wrong; `is_complete` if nothing is missing from it.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut impl Write,
    tree: Option<&Tree>,
    problems: &[Problem],
    is_complete: bool,
    options: Options,
) -> io::Result<()> {
    write!(out, r#"{{"schema":{SCHEMA},"tool":"weigh","version":"#)?;
    string(out, env!("CARGO_PKG_VERSION"))?;
    let (measure, unit) = (options.measure.name(), options.measure.unit());
    write!(out, r#","measure":"{measure}","unit":"{unit}","complete":{is_complete}"#)?;
    if let Some(tree) = tree {
        out.write_all(b",")?;
        nodes(out, tree, options)?;
    }
    out.write_all(br#","errors":["#)?;
    for (i, problem) in problems.iter().enumerate() {
        out.write_all(if i == 0 { b"{" } else { b",{" })?;
        bytes(out, "path", &problem.path)?;
        write!(out, r#","operation":"{}","error":"#, problem.operation.name())?;
        string(out, &problem.symbol())?;
        out.write_all(br#","message":"#)?;
        string(out, &problem.message)?;
        out.write_all(b"}")?;
    }
    out.write_all(b"]}\n")
}

/// Writes the root's fields and, below it, everything else.
fn nodes(out: &mut impl Write, root: &Tree, options: Options) -> io::Result<()> {
    let mut path = Vec::new();
    if root.is_above_roots() {
        write!(out, r#""name":"(total)","kind":"total""#)?;
    } else {
        path.extend_from_slice(&root.name);
        bytes(out, "name", &root.name)?;
        write!(out, r#","kind":"{}""#, root.mode.kind().name())?;
    }
    size(out, root.totals.size, options.measure)?;
    if root.mode.kind() != Kind::Directory {
        return Ok(());
    }
    let mut ahead = Vec::new();
    open(out, root, 0, &mut ahead)?;
    while let Some(step) = ahead.pop() {
        let (child, is_first) = match step {
            Step::Child { child, is_first } => (child, is_first),
            Step::End { path: length } => {
                path.truncate(length);
                out.write_all(if ahead.is_empty() { b"]" } else { b"]}" })?;
                continue;
            }
        };
        out.write_all(if is_first { b"{" } else { b",{" })?;
        let above = path.len();
        if options.full_paths {
            join(&mut path, child.name());
            bytes(out, "name", &path)?;
        } else {
            bytes(out, "name", root.label(child.name()))?;
        }
        out.write_all(br#","kind":""#)?;
        out.write_all(kind(&child).as_bytes())?;
        out.write_all(b"\"")?;
        size(out, child.size(), options.measure)?;
        match child {
            Child::Branch(tree) if tree.shape == Shape::Group => {
                number(out, br#","entries":"#, tree.totals.entries)?;
                path.truncate(above);
                out.write_all(b"}")?;
            }
            Child::Branch(tree) => open(out, tree, above, &mut ahead)?,
            Child::Leaf(_) => {
                path.truncate(above);
                out.write_all(b"}")?;
            }
        }
    }
    Ok(())
}

fn kind(child: &Child<'_>) -> &'static str {
    match child {
        Child::Branch(tree) if tree.shape == Shape::Group => "group",
        _ => child.mode().kind().name(),
    }
}

/// Writes what only a directory has, and puts its children ahead.
fn open<'a>(
    out: &mut impl Write,
    tree: &'a Tree,
    path: usize,
    ahead: &mut Vec<Step<'a>>,
) -> io::Result<()> {
    number(out, br#","entries":"#, tree.totals.entries)?;
    if tree.totals.shared > 0 {
        number(out, br#","shared":"#, tree.totals.shared)?;
    }
    out.write_all(br#","children":["#)?;
    ahead.push(Step::End { path });
    let children = tree.children();
    let first = ahead.len() + children.len();
    ahead.extend(children.into_iter().rev().map(|child| Step::Child { child, is_first: false }));
    if let Some(Step::Child { is_first, .. }) = ahead[..first].last_mut() {
        *is_first = true;
    }
    Ok(())
}

/// A weight: a number of what it counts, or of seconds before or after the epoch; null where there
/// is nothing that could have a time.
fn size(out: &mut impl Write, weight: u64, measure: Measure) -> io::Result<()> {
    match measure {
        Measure::Newest(_) if weight == 0 => out.write_all(br#","size":null"#),
        Measure::Newest(_) => write!(out, r#","size":{}"#, time_of_weight(weight)),
        _ => number(out, br#","size":"#, weight),
    }
}

/// `before` and then `number`. Formatting by `write!` took a third of all instructions of a run.
fn number(out: &mut impl Write, before: &[u8], number: u64) -> io::Result<()> {
    out.write_all(before)?;
    serde_json::to_writer(out, &number).map_err(io::Error::from)
}

/// A field whose value is bytes: as text, and exactly, in base64, where they are not UTF-8. Most
/// names need no escaping, and are written as they are.
fn bytes(out: &mut impl Write, field: &str, value: &[u8]) -> io::Result<()> {
    out.write_all(b"\"")?;
    out.write_all(field.as_bytes())?;
    out.write_all(b"\":")?;
    if value.iter().all(|byte| is_plain(*byte)) {
        out.write_all(b"\"")?;
        out.write_all(value)?;
        return out.write_all(b"\"");
    }
    match std::str::from_utf8(value) {
        Ok(text) => string(out, text),
        Err(_) => {
            string(out, &String::from_utf8_lossy(value))?;
            write!(out, r#","{field}_bytes":"{}""#, STANDARD.encode(value))
        }
    }
}

/// Whether a byte stands for itself in JSON and on a terminal.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// Control characters are escaped also where JSON would not insist: a terminal may be reading.
fn string(out: &mut impl Write, text: &str) -> io::Result<()> {
    if !text.contains(is_control) {
        return serde_json::to_writer(out, text).map_err(io::Error::from);
    }
    for c in serde_json::to_string(text)?.chars() {
        if is_control(c) {
            write!(out, "\\u{:04x}", c as u32)?;
        } else {
            write!(out, "{c}")?;
        }
    }
    Ok(())
}
