//! One line a node, for what reads tables: CSV (RFC 4180) and JSON lines.

use std::io::{self, Write};

use super::json;
use super::name::escape;
use super::visits::{Visit, Visits};
use crate::tally::{Child, Tree};

/// A node as a row.
struct Row<'a> {
    path: &'a [u8],
    kind: &'static str,
    size: u64,
    entries: u64,
    depth: usize,
}

/// Writes CSV with a header. Paths are text: what is none is escaped, as in a picture.
///
/// # Errors
/// The writer's.
pub fn csv(out: &mut impl Write, tree: &Tree) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(["path", "kind", "size", "entries", "depth"])?;
    each(tree, |row| {
        let [size, entries] = [row.size, row.entries].map(|number| number.to_string());
        table.write_record([
            &escape(row.path),
            row.kind,
            &size,
            &entries,
            &row.depth.to_string(),
        ])?;
        Ok(())
    })?;
    table.flush()
}

/// Writes an object a line. What of a path is not UTF-8 is in `path_bytes`, as in JSON.
///
/// # Errors
/// The writer's.
pub fn ndjson(out: &mut impl Write, tree: &Tree) -> io::Result<()> {
    each(tree, |Row { path, kind, size, entries, depth }| {
        out.write_all(b"{")?;
        json::bytes(out, "path", path)?;
        writeln!(out, r#","kind":"{kind}","size":{size},"entries":{entries},"depth":{depth}}}"#)
    })
}

fn each(tree: &Tree, mut write: impl FnMut(Row<'_>) -> io::Result<()>) -> io::Result<()> {
    let mut visits = Visits::new(tree);
    while let Some(visit) = visits.next() {
        let Visit::Begin(child) = visit else { continue };
        let (path, depth) = (visits.path(), visits.depth());
        let entries = match child {
            Child::Branch(tree) => tree.totals.entries,
            Child::Leaf(_) => 1,
        };
        let is_total = depth == 0 && tree.is_above_roots();
        let (path, kind) = match is_total {
            true => (b"(total)".as_slice(), "total"),
            false => (path, json::kind(&child)),
        };
        write(Row { path, kind, size: child.size(), entries, depth })?;
    }
    Ok(())
}
