//! Shows changes, as lines and as JSON: each node with its size before, its size now, and the difference.

use std::cmp::Ordering;
use std::io::{self, Write};

use super::json::{self, bytes};
use super::lines::{Line, Outer, lay_out};
use super::name::{cells, escape};
use super::size::Format;
use crate::diff::{Diff, Lookup, Sides};
use crate::measure::{Kind, Mode};
use crate::tree::Tree;
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

/// How a node changed.
pub(super) struct Change<'a> {
    pub(super) kind: &'static str,
    pub(super) before: Option<u64>,
    pub(super) now: Option<u64>,
    pub(super) difference: i128,
    pub(super) moved_from: Option<&'a [u8]>,
}

/// How the node at `sides` changed, as far as it has this `mode`: in a list, a file that took the place of a directory
/// is new. A moved directory counts as unchanged, wherever it was.
pub(super) fn change<'a>(sides: Sides<'_>, mode: Mode, changes: &'a Diff) -> Change<'a> {
    let is_directory = mode.kind() == Kind::Directory;
    let sides = if is_directory { &sides } else { &sides.files() };
    let (before, now) = sides.sizes();
    let moved_from = changes.moved_from(sides);
    let difference = if moved_from.is_some() { 0 } else { sides.change() };
    let kind = sides.now.or(sides.before).map_or("other", |child| child.kind());
    Change { kind, before, now, difference, moved_from }
}

impl Change<'_> {
    /// A note after its name.
    pub(super) fn aside(&self) -> String {
        match (self.moved_from, self.before, self.now) {
            (Some(origin), ..) => format!(" (moved from {})", escape(origin)),
            (_, None, _) => " (new)".to_owned(),
            (_, _, None) => " (gone)".to_owned(),
            _ => String::new(),
        }
    }

    /// Writes JSON members that follow others.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(br#","before":"#)?;
        serde_json::to_writer(&mut *out, &self.before)?;
        out.write_all(br#","size":"#)?;
        serde_json::to_writer(&mut *out, &self.now)?;
        write!(out, r#","change":{}"#, self.difference)?;
        self.moved_from.map_or(Ok(()), |origin| {
            out.write_all(b",")?;
            bytes(out, "moved_from", origin)
        })
    }
}

/// The notes for `lines`: the size now, and the change.
pub(super) fn notes(lines: &[Line<'_>], changes: &Diff, format: &Format) -> Vec<Note> {
    let all = all(lines, changes);
    let sizes: Vec<_> = all.iter().map(|one| format.write(one.now.unwrap_or(0))).collect();
    let differences: Vec<_> = all.iter().map(|one| format.write_change(one.difference)).collect();
    let width = |texts: &[String]| texts.iter().map(|text| cells(text)).max().unwrap_or(0);
    let (size_width, change_width) = (width(&sizes), width(&differences));
    all.iter()
        .zip(sizes.iter().zip(&differences))
        .map(|(one, (size, change))| Note {
            size: format!("{size:>size_width$} {change:>change_width$}"),
            aside: one.aside(),
            direction: Some(one.difference.cmp(&0)),
        })
        .collect()
}

/// Writes the lines of the report as JSON, schema 1 with `before` and `change` beside `size`.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut impl Write,
    weighed: &Weighed,
    changes: &Diff,
    options: &json::ExportOptions,
) -> io::Result<()> {
    json::begin(out, weighed, options)?;
    if let Some(tree) = &weighed.report {
        out.write_all(b",")?;
        nodes(out, tree, changes, options)?;
    }
    json::end(out, weighed)
}

fn nodes(
    out: &mut impl Write,
    tree: &Tree,
    changes: &Diff,
    options: &json::ExportOptions,
) -> io::Result<()> {
    let lines = lay_out(tree, options.order, false);
    let all = all(&lines, changes);
    for (i, (line, change)) in lines.iter().zip(&all).enumerate() {
        if i > 0 {
            out.write_all(if lines[i - 1].depth < line.depth { b"{" } else { b",{" })?;
        }
        let path;
        let name = match (line.parent, options.full_paths) {
            (None, _) => line.name,
            (_, false) => tree.label(line.name),
            (_, true) => {
                path = super::lines::path(&lines, i, tree, &Outer::default());
                &path
            }
        };
        bytes(out, "name", name)?;
        let is_total = i == 0 && tree.root().is_total();
        let kind = if is_total { "total" } else { change.kind };
        write!(out, r#","kind":"{kind}""#)?;
        change.write(out)?;
        write!(out, r#","churn":{}"#, line.totals.size)?;
        let next = lines.get(i + 1).map_or(0, |next| next.depth);
        if next > line.depth {
            out.write_all(br#","children":["#)?;
        } else if i > 0 {
            // Ends this node, and all parents whose last child it is; the root ends after the errors.
            out.write_all(b"}")?;
            for _ in next.max(1)..line.depth {
                out.write_all(b"]}")?;
            }
            if next == 0 {
                out.write_all(b"]")?;
            }
        }
    }
    Ok(())
}

/// How each line changed.
pub(super) fn all<'a>(lines: &[Line<'_>], changes: &'a Diff) -> Vec<Change<'a>> {
    let mut lookup = Lookup::new(changes.root());
    let mut numbers: Vec<usize> = Vec::with_capacity(lines.len());
    for line in lines {
        let above = line.parent.map(|parent| numbers[parent]);
        numbers.push(above.map_or(Lookup::ROOT, |above| lookup.find(above, line.name)));
    }
    let all = lines.iter().zip(numbers);
    all.map(|(line, number)| change(lookup.sides(number), line.mode, changes)).collect()
}
