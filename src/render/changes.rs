//! What changed, line by line and as JSON: each node with what it was, what it is, and the
//! difference.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::{self, Write};

use super::json::{self, bytes};
use super::lines::{Line, lay_out};
use super::name::{cells, escape};
use super::size::Format;
use crate::changes::{Changes, Sides};
use crate::tally::{Shape, Tree};
use crate::walk::Walked;

/// What is said of a line beside its name.
#[derive(Default)]
pub(super) struct Note {
    /// Before it.
    pub(super) size: String,
    /// After it.
    pub(super) aside: String,
    /// Whether it grew, or shrank.
    pub(super) direction: Option<Ordering>,
}

/// What is said of each of `lines`, which are those of `tree`: the size now, and the change.
pub(super) fn notes(
    lines: &[Line<'_>],
    tree: &Tree,
    changes: &Changes,
    format: &Format,
) -> Vec<Note> {
    let sides = sides(lines, tree, changes);
    let sizes: Vec<_> = sides.iter().map(|sides| format.write(now(sides))).collect();
    let differences: Vec<_> =
        sides.iter().map(|sides| signed(shown(sides, changes), format)).collect();
    let width = |texts: &[String]| texts.iter().map(|text| cells(text)).max().unwrap_or(0);
    let (size_width, change_width) = (width(&sizes), width(&differences));
    sides
        .iter()
        .zip(sizes.iter().zip(&differences))
        .map(|(sides, (size, change))| Note {
            size: format!("{size:>size_width$} {change:>change_width$}"),
            aside: match (sides.sizes(), changes.moved_from(sides)) {
                (_, Some(origin)) => format!(" (moved from {})", escape(origin)),
                ((None, _), _) => " (new)".to_owned(),
                ((_, None), _) => " (gone)".to_owned(),
                _ => String::new(),
            },
            direction: Some(shown(sides, changes).cmp(&0)),
        })
        .collect()
}

/// Writes the lines of the report as JSON, schema 1 with `before` and `change` beside `size`.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut impl Write,
    walked: &Walked<Tree>,
    changes: &Changes,
    options: &json::Options,
) -> io::Result<()> {
    json::begin(out, walked, options)?;
    if let Some(tree) = &walked.report {
        out.write_all(b",")?;
        nodes(out, tree, changes, options)?;
    }
    json::end(out, walked)
}

fn nodes(
    out: &mut impl Write,
    tree: &Tree,
    changes: &Changes,
    options: &json::Options,
) -> io::Result<()> {
    let lines = lay_out(tree, options.order, false);
    let all_sides = sides(&lines, tree, changes);
    for (i, (line, sides)) in lines.iter().zip(&all_sides).enumerate() {
        if i > 0 {
            out.write_all(if lines[i - 1].depth < line.depth { b"{" } else { b",{" })?;
        }
        let path;
        let name = match (line.parent, options.full_paths) {
            (None, _) => line.name,
            (_, false) => tree.label(line.name),
            (_, true) => {
                path = super::lines::path(&lines, i, tree);
                &path
            }
        };
        bytes(out, "name", name)?;
        let is_total = i == 0 && tree.is_above_roots();
        let kind = if is_total { "total" } else { line.mode.kind().name() };
        let (before, now) = sides.sizes();
        write!(out, r#","kind":"{kind}","before":"#)?;
        serde_json::to_writer(&mut *out, &before)?;
        out.write_all(br#","size":"#)?;
        serde_json::to_writer(&mut *out, &now)?;
        let (change, churn) = (shown(sides, changes), line.size);
        write!(out, r#","change":{change},"churn":{churn}"#)?;
        if let Some(origin) = changes.moved_from(sides) {
            out.write_all(b",")?;
            bytes(out, "moved_from", origin)?;
        }
        let next = lines.get(i + 1).map_or(0, |next| next.depth);
        if next > line.depth {
            out.write_all(br#","children":["#)?;
        } else if i > 0 {
            // Its own end, and those of all that end with it; the root's comes after the errors.
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

/// What was moved has not changed, wherever it was.
fn shown(sides: &Sides<'_>, changes: &Changes) -> i128 {
    if changes.moved_from(sides).is_some() { 0 } else { sides.change() }
}

fn now(sides: &Sides<'_>) -> u64 {
    sides.sizes().1.unwrap_or(0)
}

fn signed(change: i128, format: &Format) -> String {
    let size = format.write(u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX));
    match change.cmp(&0) {
        Ordering::Less => format!("-{size}"),
        Ordering::Equal => size,
        Ordering::Greater => format!("+{size}"),
    }
}

/// Each line in both trees.
fn sides<'a>(lines: &[Line<'_>], tree: &Tree, changes: &'a Changes) -> Vec<Sides<'a>> {
    let nowhere = Sides { before: None, now: None };
    let mut all: Vec<Sides<'a>> = Vec::with_capacity(lines.len());
    let mut children: HashMap<usize, HashMap<&'a [u8], Sides<'a>>> = HashMap::new();
    for line in lines {
        let sides = match line.parent {
            None => Some(changes.root()),
            Some(parent) if tree.shape == Shape::List => all[parent].at(line.name),
            Some(parent) => {
                let known = children.entry(parent).or_insert_with(|| all[parent].children());
                known.get(line.name).copied()
            }
        };
        all.push(sides.unwrap_or(nowhere));
    }
    all
}
