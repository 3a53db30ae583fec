//! Tables with one line for each node: CSV (RFC 4180) and JSON lines.

use std::io::{self, Write};

use super::json;
use crate::base::escape::{escape, json_bytes};
use crate::tree::{Child, Order, Shape, Step, Traversal, Tree};

/// A node as a row.
pub(super) struct Row<'a> {
    pub(super) node: Child<'a>,
    pub(super) path: &'a [u8],
    pub(super) depth: usize,
}

/// Writes CSV with a header. Paths are text, escaped as in a picture. Every path is in quotes, because DuckDB decides
/// from the first 20,480 lines whether a table has quotes at all.
///
/// # Errors
/// The writer's.
pub fn csv(out: &mut dyn Write, tree: &Tree, order: Order) -> io::Result<()> {
    out.write_all(match tree.root().change() {
        None => b"path,kind,size,entries,depth\n",
        Some(_) => b"path,kind,before,size,change,depth,moved_from\n",
    })?;
    each(tree, order, |Row { node, path, depth }| {
        let (path, kind) = (quoted(path), node.kind());
        let Some(change) = node.change() else {
            let (size, entries) = (node.size(), node.totals().entries);
            return writeln!(out, "{path},{kind},{size},{entries},{depth}");
        };
        let [before, now] = [change.was, change.is]
            .map(|size| size.map_or_else(String::new, |size| size.to_string()));
        let (difference, moved_from) =
            (change.difference(), change.moved_from.map_or_else(String::new, quoted));
        writeln!(out, "{path},{kind},{before},{now},{difference},{depth},{moved_from}")
    })
}

/// A path as a field in quotes.
pub(super) fn quoted(path: &[u8]) -> String {
    format!("\"{}\"", escape(path).replace('"', "\"\""))
}

/// Writes one JSON object for each line. If a path is not UTF-8, `path_bytes` has its bytes, as in JSON.
///
/// # Errors
/// The writer's.
pub fn ndjson(out: &mut dyn Write, tree: &Tree, order: Order) -> io::Result<()> {
    each(tree, order, |Row { node, path, depth }| {
        json_bytes(out, r#"{"path":"#, path)?;
        write!(out, r#","kind":"{}""#, node.kind())?;
        match node.change() {
            None => {
                write!(out, r#","size":{},"entries":{}"#, node.size(), node.totals().entries)?;
            }
            Some(change) => json::change(out, &change)?,
        }
        let note = node.node().note;
        if !note.is_empty() {
            json_bytes(out, r#","note":"#, note.as_bytes())?;
        }
        writeln!(out, r#","depth":{depth}}}"#)
    })
}

/// Calls `write` with each node of `tree`: siblings in this order, and each before its content.
pub(super) fn each(
    tree: &Tree,
    order: Order,
    mut write: impl FnMut(Row<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        let Step::Node(node) = step else { continue };
        let path = if node.is_total() { b"(total)" } else { traversal.path() };
        let mut depth = traversal.depth();
        if tree.shape() == Shape::List && depth > 0 {
            // An absolute path begins with a slash.
            depth += node.name().iter().skip(1).filter(|byte| **byte == b'/').count();
        }
        write(Row { node, path, depth })?;
        if node.id().is_some() {
            traversal.enter((), node.children(order));
        }
    }
    Ok(())
}
