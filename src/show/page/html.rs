//! The page: the map, the largest directories and files, and a table of the rows of the map. All work without the script.

use std::cmp::Reverse;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::map::{HEIGHT, WIDTH};
use super::{Coloring, DEPTH, PageContent, PageRow, path_of, safe, treemap};
use crate::base::measure::Kind;
use crate::show::name::{MARK, end};
use crate::show::size::{Format, entries};

const STYLE: &str = concat!(include_str!("map.css"), include_str!("page.css"));
const SCRIPT: &str = include_str!("page.js");
/// The SHA-256 of the style and of the script, in base64: a browser accepts no others. A test computes them again.
const STYLE_HASH: &str = "6MqwGGEAYcmH8M9TWKb3g4B36eza9IfqIZrBEcFKQWM=";
const SCRIPT_HASH: &str = "B7oiDL5O6CxmDPdl70x1nhs7L1wxuERpeKUPMQA7LwY=";

/// The kind of a directory's row.
const DIRECTORY: &str = Kind::Directory.name();

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
        heading = safe(&page.heading),
        title = safe(&page.title()),
        style = STYLE,
        coloring = page.coloring(),
        partial = if page.is_partial { PARTIAL } else { "" },
        version = env!("CARGO_PKG_VERSION"),
        recorded = safe(&page.recorded),
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
        if *name != DEPTH {
            let input = format!("<input type=\"radio\" name=\"by\" value=\"{name}\"{checked}>");
            switch += &format!("<label>{input}{name}</label>");
            checked = "";
        }
        lists += &format!("<ul class=\"legend {name}\">");
        for (class, meaning) in legend {
            let path = format!("<path class=\"{class}\" d=\"M0 0h12v12H0z\"/>");
            lists += &format!("<li><svg viewBox=\"0 0 12 12\">{path}</svg>{}", safe(meaning));
        }
        lists += "</ul>";
    }
    (switch, lists)
}

/// The largest directories and files, or those that changed most; nothing if there are none.
fn largest(page: &PageContent<'_>) -> String {
    let rows = &page.rows;
    // A directory that makes up most of the one it is in is listed in its place.
    let mut is_listed: Vec<_> = rows.iter().map(|row| row.kind == DIRECTORY).collect();
    is_listed[0] = false;
    for row in rows.iter().filter(|row| row.kind == DIRECTORY) {
        if let Some(parent) = row.line.parent {
            let [weight, whole] =
                [row, &rows[parent]].map(|row| u128::from(row.line.totals.weight));
            is_listed[parent] &= weight * 5 < whole * 4;
        }
    }
    let directories = list(page, "directories", |i| is_listed[i]);
    let files = list(page, "files", |i| rows[i].line.mode.kind() == Kind::File);
    match [directories, files].concat() {
        lists if lists.is_empty() => lists,
        lists => format!("<aside>{lists}</aside>\n"),
    }
}

/// The largest of the rows that are `wanted`, which are called `what`.
fn list(page: &PageContent<'_>, what: &str, wanted: impl Fn(usize) -> bool) -> String {
    const COUNT: usize = 10;
    /// A path in more cells is shown by its end: the size of the page counts no path.
    const LONGEST: usize = 500;
    let rows = &page.rows;
    let mut listed: Vec<_> = (0..rows.len()).filter(|i| wanted(*i)).collect();
    listed.sort_by_key(|i| Reverse(rows[*i].line.totals.weight));
    if listed.is_empty() {
        return String::new();
    }
    let heading = match rows[0].change {
        Some(_) => format!("{}{} that changed most", what[..1].to_uppercase(), &what[1..]),
        None => format!("Largest {what}"),
    };
    let items = listed.into_iter().take(COUNT).map(|i| {
        let path = path_of(rows, i);
        let path = match end(&path, LONGEST) {
            end if end.len() < path.len() => [MARK, end].concat(),
            _ => path,
        };
        format!("<li><b>{}</b> {}", safe(rows[i].figure()), safe(&path))
    });
    let items: String = items.collect();
    format!("<section class={what}><h2>{heading}</h2><ol>{items}</ol></section>")
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
