//! The total of each root, one line each, as `du -s` prints it.

use std::collections::HashMap;
use std::io::{self, Write};

use super::size::Format;
use crate::base::escape::escape;
use crate::tree::Tree;

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
pub fn write(out: &mut dyn Write, tree: &Tree, options: &SummaryOptions) -> io::Result<()> {
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
