//! Shows changes, as lines and as JSON: each node with its size before, its size now, and the difference.

use std::cmp::Ordering;
use std::io::{self, Write};

use super::lines::Line;
use super::name::cells;
use super::size::Format;
use crate::escape::escape;
use crate::escape::json_bytes as bytes;
use crate::measure::{Change, Kind};
use crate::snapshot::schema;
use crate::tree::{Step, Traversal, Tree};
use crate::weighed::Weighed;

/// The text around the name in a line.
#[derive(Default)]
pub(super) struct Note {
    /// Before the name.
    pub(super) size: String,
    /// After the name.
    pub(super) aside: String,
    /// Whether it grew, or shrank.
    pub(super) direction: Option<Ordering>,
}

/// What it is, in JSON and tables.
pub(super) fn kind(change: &Change<'_>) -> &'static str {
    change.kind.map_or("group", Kind::name)
}

/// A remark after its name.
pub(super) fn aside(change: &Change<'_>) -> String {
    match (change.moved_from, change.was, change.is) {
        (Some(origin), ..) => format!(" (moved from {})", escape(origin)),
        (_, None, _) => " (new)".to_owned(),
        (_, _, None) => " (gone)".to_owned(),
        _ => String::new(),
    }
}

/// Writes JSON members that follow others.
pub(super) fn members(out: &mut impl Write, change: &Change<'_>) -> io::Result<()> {
    out.write_all(br#","before":"#)?;
    serde_json::to_writer(&mut *out, &change.was)?;
    out.write_all(br#","size":"#)?;
    serde_json::to_writer(&mut *out, &change.is)?;
    write!(out, r#","change":{}"#, change.difference())?;
    change.moved_from.map_or(Ok(()), |origin| {
        out.write_all(b",")?;
        bytes(out, "moved_from", origin)
    })
}

/// The notes for `lines`: the size now, and the change.
pub(super) fn notes(lines: &[Line<'_>], format: &Format) -> Vec<Note> {
    let changes = || lines.iter().filter_map(|line| line.change.as_deref());
    let sizes: Vec<_> = changes().map(|one| format.write(one.is.unwrap_or(0))).collect();
    let differences: Vec<_> = changes().map(|one| format.write_change(one.difference())).collect();
    let width = |texts: &[String]| texts.iter().map(|text| cells(text)).max().unwrap_or(0);
    let (size_width, change_width) = (width(&sizes), width(&differences));
    changes()
        .zip(sizes.iter().zip(&differences))
        .map(|(one, (size, change))| Note {
            size: format!("{size:>size_width$} {change:>change_width$}"),
            aside: aside(one),
            direction: Some(one.difference().cmp(&0)),
        })
        .collect()
}

/// Writes `tree`, a difference, as JSON, schema 1 with `before`, `change` and `churn` beside `size`.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut impl Write,
    weighed: &Weighed,
    tree: &Tree,
    options: &schema::ExportOptions,
) -> io::Result<()> {
    schema::begin(out, weighed, options)?;
    out.write_all(b",")?;
    nodes(out, tree, options)?;
    schema::end(out, weighed)
}

fn nodes(out: &mut impl Write, tree: &Tree, options: &schema::ExportOptions) -> io::Result<()> {
    let (mut traversal, mut is_first) = (Traversal::new(tree.root()), true);
    while let Some(step) = traversal.next() {
        let depth = traversal.depth();
        let Step::Node(node) = step else {
            // The root ends after the errors.
            out.write_all(if depth == 0 { b"]" } else { b"]}" })?;
            continue;
        };
        if depth > 0 {
            out.write_all(if is_first { b"{" } else { b",{" })?;
        }
        let name = match options.full_paths {
            true => traversal.path(),
            false if depth == 0 => node.name(),
            false => tree.label(node.name()),
        };
        bytes(out, "name", if node.is_total() { node.shown_name() } else { name })?;
        if let Some(change) = node.change() {
            let kind = if node.is_total() { node.kind() } else { kind(&change) };
            write!(out, r#","kind":"{kind}""#)?;
            members(out, &change)?;
            write!(out, r#","churn":{}"#, change.churn)?;
        }
        let children = node.children(options.order);
        is_first = !children.is_empty();
        if is_first {
            out.write_all(br#","children":["#)?;
            traversal.enter((), children);
        } else if depth > 0 {
            out.write_all(b"}")?;
        }
    }
    Ok(())
}
