//! Shows changes, as lines and as JSON: each node with its size before, its size now, and the difference.

use std::io::{self, Write};

use super::lines::Line;
use super::name::widest;
use super::size::Format;
use super::time::TimeFormat;
use crate::escape::{escape, json_bytes as bytes};
use crate::measure::{Change, Kind};
use crate::snapshot::{Origin, schema};
use crate::tree::{Step, Traversal, Tree};
use crate::weighed::Weighed;

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
pub(super) fn members(out: &mut dyn Write, change: &Change<'_>) -> io::Result<()> {
    let [before, now] = [change.was, change.is]
        .map(|size| size.map_or_else(|| "null".to_owned(), |size| size.to_string()));
    write!(out, r#","before":{before},"size":{now},"change":{}"#, change.difference())?;
    change.moved_from.map_or(Ok(()), |origin| bytes(out, r#","moved_from":"#, origin))
}

/// When and where the earlier snapshot was made, as far as its origin says so.
pub(super) fn since(earlier: Option<&Origin>, dates: &TimeFormat) -> String {
    let time = earlier.map(|origin| origin.time).filter(|time| *time != 0);
    let time = time.map_or_else(|| "an earlier snapshot".to_owned(), |time| dates.write(time));
    format!("since {time}{}", on_host(earlier))
}

/// On which host a snapshot was made, if its origin says so.
pub(super) fn on_host(origin: Option<&Origin>) -> String {
    let origin = origin.filter(|origin| !origin.host.is_empty());
    origin.map_or_else(String::new, |origin| format!(" on {}", escape(&origin.host)))
}

/// Writes the figures of those `lines` that changed: the size now, and the change. Returns the headings of both.
pub(super) fn write_figures(lines: &mut [Line<'_>], format: &Format) -> String {
    let texts = lines.iter().map(|line| {
        let change = line.change.as_ref()?;
        Some([format.write(change.is.unwrap_or(0)), format.write_change(change.difference())])
    });
    let texts: Vec<_> = texts.collect();
    let headings = ["now", "change"].map(str::to_owned);
    let all = texts.iter().flatten().chain([&headings]);
    let [size, difference] = [0, 1].map(|i| widest(all.clone().map(|texts| &texts[i])));
    let joined = |[now, change]: &[String; 2]| format!("{now:>size$} {change:>difference$}");
    for (line, texts) in lines.iter_mut().zip(&texts) {
        // The earlier and the later size of the rest are unknown.
        line.figures = texts.as_ref().map(joined).unwrap_or_default();
    }
    joined(&headings)
}

/// Writes `tree`, a difference, as JSON, schema 1 with `before`, `change` and `churn` beside `size`.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut dyn Write,
    weighed: &Weighed,
    tree: &Tree,
    options: &schema::ExportOptions,
) -> io::Result<()> {
    schema::begin(out, weighed, options)?;
    out.write_all(b",")?;
    nodes(out, tree, options)?;
    schema::end(out, weighed)
}

fn nodes(out: &mut dyn Write, tree: &Tree, options: &schema::ExportOptions) -> io::Result<()> {
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
        bytes(out, r#""name":"#, if node.is_total() { node.shown_name() } else { name })?;
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
