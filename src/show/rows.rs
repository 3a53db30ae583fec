//! One line for each node: CSV (RFC 4180), JSON lines and folded stacks; and one for each root, as `du -s` prints it.

use std::collections::HashMap;
use std::io::{self, Write};

use super::json;
use super::size::Format;
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

// The total of each root, one line each, as `du -s` prints it.

/// How the lines are written.
#[derive(Clone, Debug, Default)]
pub struct SummaryOptions {
    /// How sizes are written.
    pub format: Format,
    /// Whether names are written unchanged. On a terminal they are escaped.
    pub is_raw: bool,
    /// The names of the roots, in the order of their lines. Roots that are not among them come first, sorted.
    pub roots: Vec<Vec<u8>>,
}

/// Writes a line for each root of `tree`.
///
/// # Errors
/// The writer's.
pub fn summary(out: &mut dyn Write, tree: &Tree, options: &SummaryOptions) -> io::Result<()> {
    let mut roots: Vec<_> = tree.roots().collect();
    let mut order = HashMap::new();
    for (i, name) in options.roots.iter().enumerate() {
        order.entry(name.as_slice()).or_insert(i);
    }
    roots.sort_unstable_by_key(|root| (order.get(root.name()).copied(), root.name()));
    for root in roots {
        write!(out, "{}\t", options.format.write(root.size()))?;
        match options.is_raw {
            true => out.write_all(root.name())?,
            false => write!(out, "{}", escape(root.name()))?,
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

// Folded stacks, for flame graph viewers: a line for each node, with the names from the root to it, separated by
// semicolons, and its own size without its content.

/// Writes every node that has a size of its own. An inode with several links has a line for each.
///
/// # Errors
/// The writer's.
pub fn folded(out: &mut dyn Write, tree: &Tree) -> io::Result<()> {
    let mut stack = String::new();
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        let Step::Node(node) = step else { continue };
        let above = traversal.innermost().copied();
        stack.truncate(above.unwrap_or(0));
        let is_path = tree.shape() == Shape::List && above.is_some();
        let name = match node.name() {
            b"" => "(total)".to_owned(),
            name => escape(name).replace(';', "\\x3b"),
        };
        if above.is_some() {
            stack.push(';');
        }
        stack += &if is_path { name.replace('/', ";") } else { name };
        let children = node.children(Order::Size);
        let within = children.iter().fold(0, |sum: u64, child| sum.saturating_add(child.size()));
        let rest = node.size().saturating_sub(within);
        // Links to one file add up to more than it. Groups have what is the root's own among them.
        let own = match tree.shape() {
            Shape::Groups => rest,
            Shape::Directory | Shape::List => rest.max(node.own().unwrap_or(0)),
        };
        if own > 0 {
            writeln!(out, "{stack} {own}")?;
        }
        if node.id().is_some() {
            traversal.enter(stack.len(), children);
        }
    }
    Ok(())
}
