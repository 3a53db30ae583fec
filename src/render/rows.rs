//! One line a node, for what reads tables: CSV (RFC 4180) and JSON lines.

use std::io::{self, Write};

use super::changes::{Change, change};
use super::json;
use super::name::escape;
use crate::changes::{Changes, Lookup};
use crate::tree::{Order, Shape, Step, Traversal, Tree};

/// A node as a row.
struct Row<'a> {
    path: &'a [u8],
    kind: &'static str,
    size: u64,
    entries: u64,
    depth: usize,
    /// What became of it, if that is what is shown.
    change: Option<Change<'a>>,
}

/// Writes CSV with a header. Paths are text: what is none is escaped, as in a picture.
///
/// # Errors
/// The writer's.
pub fn csv(out: &mut impl Write, tree: &Tree, changes: Option<&Changes>) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table
        .write_record(match changes {
            None => &["path", "kind", "size", "entries", "depth"][..],
            Some(_) => &["path", "kind", "before", "size", "change", "depth", "moved_from"],
        })
        .map_err(of_writer)?;
    let field = |size: Option<u64>| size.map_or_else(String::new, |size| size.to_string());
    each(tree, changes, |Row { path, kind, size, entries, depth, change }| {
        let (path, depth) = (escape(path), depth.to_string());
        match change {
            None => {
                table.write_record([&path, kind, &size.to_string(), &entries.to_string(), &depth])
            }
            Some(Change { before, now, difference, moved_from, .. }) => table.write_record([
                &path,
                kind,
                &field(before),
                &field(now),
                &difference.to_string(),
                &depth,
                &moved_from.map_or_else(String::new, escape),
            ]),
        }
        .map_err(of_writer)
    })?;
    table.flush()
}

/// The writer's own error, which csv wraps: whoever closes a pipe is told by it.
fn of_writer(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Writes an object a line. What of a path is not UTF-8 is in `path_bytes`, as in JSON.
///
/// # Errors
/// The writer's.
pub fn ndjson(out: &mut impl Write, tree: &Tree, changes: Option<&Changes>) -> io::Result<()> {
    each(tree, changes, |Row { path, kind, size, entries, depth, change }| {
        out.write_all(b"{")?;
        json::bytes(out, "path", path)?;
        write!(out, r#","kind":"{kind}""#)?;
        match change {
            None => write!(out, r#","size":{size},"entries":{entries}"#)?,
            Some(change) => change.write(out)?,
        }
        writeln!(out, r#","depth":{depth}}}"#)
    })
}

fn each(
    tree: &Tree,
    changes: Option<&Changes>,
    mut write: impl FnMut(Row<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut lookup = changes.map(|changes| (changes, Lookup::new(changes.root())));
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        let Step::Node(node) = step else { continue };
        let above = traversal.innermost().copied();
        let (mut number, mut known) = (Lookup::ROOT, None);
        if let Some((changes, lookup)) = &mut lookup {
            number = above.map_or(Lookup::ROOT, |above| lookup.find(above, node.name()));
            known = Some(change(&lookup.sides(number), changes));
        }
        let is_total = above.is_none() && tree.is_above_roots();
        let kind = known.as_ref().map_or_else(|| json::kind(&node), |change| change.kind);
        let (path, kind) =
            if is_total { (b"(total)".as_slice(), "total") } else { (traversal.path(), kind) };
        // An absolute path begins with one.
        let slashes = || node.name().iter().skip(1).filter(|byte| **byte == b'/').count();
        let is_path = tree.shape() == Shape::List && above.is_some();
        let depth = traversal.depth() + if is_path { slashes() } else { 0 };
        let (size, entries) = (node.size(), node.totals().entries);
        write(Row { path, kind, size, entries, depth, change: known })?;
        if node.id().is_some() {
            traversal.enter(number, node.children(Order::Size));
        }
    }
    Ok(())
}
