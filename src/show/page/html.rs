//! The page: the map, the largest files, and a table of the rows of the map. All work without the script.

use std::cmp::Reverse;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::map::{HEIGHT, WIDTH};
use super::{Coloring, PageContent, PageRow, path_of, safe, treemap};
use crate::base::measure::Kind;
use crate::show::size::{Format, entries};

const STYLE: &str = concat!(include_str!("map.css"), include_str!("page.css"));
const SCRIPT: &str = include_str!("page.js");
/// The SHA-256 of the style and of the script, in base64: a browser accepts no others. A test computes them again.
const STYLE_HASH: &str = "1ADsqCXIZ+FkDbJLRzTYSjia6p9Cix/8l/FxppoFg00=";
const SCRIPT_HASH: &str = "vsDMwgx5m1D1hpgnGoIvGRozcpzgVR9hhoDltOfCyJs=";

/// The size of a page without rows and shapes, in bytes: style, script, labels.
pub(super) const FIXED: usize = STYLE.len() + SCRIPT.len() + 60_000;

pub(super) fn write(out: &mut dyn Write, page: &PageContent<'_>) -> io::Result<()> {
    const PARTIAL: &str = "Some entries could not be read: sizes without them are marked with ≥. ";
    let rows = &page.rows;
    let file_systems = match &*page.file_systems {
        "" => String::new(),
        lines => format!("<pre>{}</pre>\n", safe(lines)),
    };
    let (switch, legends) = legend(page);
    let has_dates = rows.iter().any(|row| !row.date.is_empty());
    let mut columns = vec!["Name", "Size", "Change", "Share", "Entries", "Modified", "Kind"];
    columns.retain(|column| *column != "Change" || rows[0].change.is_some());
    columns.retain(|column| *column != "Modified" || has_dates);
    let rest = page.rest.as_ref().map(|(name, size)| {
        let (name, size, others) = (safe(name), safe(size), "<td>".repeat(columns.len() - 2));
        format!("<tfoot><tr><th scope=row>{name}<td>{size}{others}</tfoot>\n")
    });
    let columns = columns.iter().map(|column| format!("<th scope=\"col\">{column}</th>"));
    write!(
        out,
        include_str!("page.html"),
        style_hash = STYLE_HASH,
        script_hash = SCRIPT_HASH,
        name = safe(&rows[0].name),
        title = safe(&page.title()),
        style = STYLE,
        coloring = page.coloring(),
        partial = if page.is_partial { PARTIAL } else { "" },
        version = env!("CARGO_PKG_VERSION"),
        time = safe(&page.recorded),
        file_systems = file_systems,
        switch = switch,
        legends = legends,
        width = WIDTH,
        height = HEIGHT,
        pattern = treemap::PATTERN,
        shapes = treemap::shapes(page, |_| "/>".to_owned()),
        labels = treemap::labels(page),
        largest = largest(page),
        count = entries(rows.len() as u64),
        columns = columns.collect::<String>(),
        table = rows.iter().map(|row| line(row, has_dates)).collect::<String>(),
        rest = rest.unwrap_or_default(),
        script = SCRIPT,
    )
}

/// The switch between what colours say, and what they mean.
fn legend(page: &PageContent<'_>) -> (String, String) {
    let (mut switch, mut lists, mut checked) = (String::new(), String::new(), " checked");
    for Coloring { name, legend } in &page.colorings {
        let input = format!("<input type=\"radio\" name=\"by\" value=\"{name}\"{checked}>");
        switch += &format!("<label>{input}{name}</label>");
        checked = "";
        lists += &format!("<ul class=\"legend {name}\">");
        for (class, meaning) in legend {
            let path = format!("<path class=\"{class}\" d=\"M0 0h12v12H0z\"/>");
            lists += &format!("<li><svg viewBox=\"0 0 12 12\">{path}</svg>{meaning}");
        }
        lists += "</ul>";
    }
    (switch, lists)
}

/// The largest files, or those that changed most; nothing if no row is a file.
fn largest(page: &PageContent<'_>) -> String {
    const COUNT: usize = 10;
    let mut files: Vec<_> = page.rows.iter().enumerate().collect();
    files.retain(|(_, row)| row.line.mode.kind() == Kind::File);
    files.sort_by_key(|(_, row)| Reverse(row.line.totals.weight));
    if files.is_empty() {
        return String::new();
    }
    let what = if page.rows[0].change.is_some() { "changes" } else { "files" };
    let files = files.into_iter().take(COUNT);
    let files = files.map(|(i, row)| {
        format!("<li><b>{}</b> {}", safe(row.figure()), safe(&path_of(&page.rows, i)))
    });
    format!("<aside><h2>Largest {what}</h2><ol>{}</ol></aside>\n", files.collect::<String>())
}

/// The table row of a node.
fn line(row: &PageRow<'_>, has_dates: bool) -> String {
    // Its exact name, if the text does not show that.
    let bytes = match row.name.as_bytes() == row.line.name {
        true => String::new(),
        false => format!(" data-bytes=\"{}\"", STANDARD.encode(row.line.name)),
    };
    let note = match row.note.as_str() {
        "" => String::new(),
        note => format!("<span>{}</span>", safe(note)),
    };
    let totals = row.line.totals;
    // The share of the whole, or of all changes.
    let (change, share) = match &row.change {
        None => (String::new(), String::new()),
        Some((change, text)) => {
            (format!("<td data-v={change}>{}", safe(text)), format!(" data-v={}", totals.weight))
        }
    };
    let date = if has_dates { format!("<td>{}", safe(&row.date)) } else { String::new() };
    // HTML needs no end tags of rows and cells. They would be a fifth of the page.
    format!(
        "<tr data-d={}><th scope=row{bytes}>{}{note}<td data-v={}>{}{change}<td{share}>{}<td>{}{date}<td>{}\n",
        row.line.depth,
        safe(&row.name),
        totals.size,
        safe(&row.size),
        safe(&row.percent),
        Format::Count.write(totals.entries),
        row.kind,
    )
}

/// How many bytes a row and its shape take.
pub(super) fn length(row: &PageRow<'_>) -> usize {
    /// The maximal size of a shape.
    const SHAPE: usize = 80;
    line(row, true).len() + SHAPE
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    /// Otherwise a browser would accept neither.
    #[test]
    fn the_policy_admits_style_and_script() {
        for (text, hash) in [(STYLE, STYLE_HASH), (SCRIPT, SCRIPT_HASH)] {
            assert_eq!(STANDARD.encode(Sha256::digest(text)), hash);
        }
    }
}
