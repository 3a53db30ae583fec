//! The page: the map, and a table of the same rows. Both work without the script.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::map::{HEIGHT, WIDTH};
use super::{PageContent, PageRow, STYLE, safe, svg};
use crate::render::size::Format;

const SCRIPT: &str = include_str!("page.js");
/// The SHA-256 of the style and of the script, in base64: a browser accepts no others. A test computes them again.
const STYLE_HASH: &str = "7fSzoYtUhacfDNuBIvMcB0azdi3UEGY+OF1q/GwCIKA=";
const SCRIPT_HASH: &str = "3v6DljdoSHgOJ6g5QfXCm5IYdySjMpWH943UMCYUEHw=";

/// The size of a page without rows and shapes, in bytes: style, script, labels.
pub(super) const FIXED: usize = STYLE.len() + SCRIPT.len() + 60_000;

pub(super) fn write(out: &mut impl Write, page: &PageContent<'_>) -> io::Result<()> {
    let partial = match page.is_partial {
        true => "Some entries could not be read: sizes without them are marked with ≥. ",
        false => "",
    };
    write!(
        out,
        include_str!("head.html"),
        style_hash = STYLE_HASH,
        script_hash = SCRIPT_HASH,
        name = safe(&page.rows[0].name),
        title = safe(&page.title()),
        style = STYLE,
        partial = partial,
        version = env!("CARGO_PKG_VERSION"),
        time = safe(&page.options.time),
    )?;
    write!(
        out,
        "<div id=\"map\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Map of the table below: areas are proportional to sizes\">"
    )?;
    svg::shapes(out, page, |_| "/>".to_owned())?;
    out.write_all(
        b"</svg></div>\n<output aria-live=\"polite\"></output>\n\
        <p hidden><label>Search <input type=\"search\" autocomplete=\"off\"></label></p>\n",
    )?;
    table(out, page)?;
    write!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")
}

fn table(out: &mut impl Write, page: &PageContent<'_>) -> io::Result<()> {
    let has_changes = page.rows[0].change.is_some();
    let change = if has_changes { "<th scope=\"col\">Change</th>" } else { "" };
    write!(
        out,
        "<div class=\"scroll\" role=\"region\" aria-label=\"Table\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">Name</th>\
         <th scope=\"col\">Size</th>{change}<th scope=\"col\">Share</th>\
         <th scope=\"col\">Entries</th><th scope=\"col\">Kind</th></tr></thead>\n<tbody>\n"
    )?;
    page.rows.iter().try_for_each(|row| out.write_all(line(row).as_bytes()))?;
    out.write_all(b"</tbody>\n")?;
    if let Some((name, size)) = &page.rest {
        let change = if has_changes { "<td>" } else { "" };
        let (name, size) = (safe(name), safe(size));
        writeln!(out, "<tfoot><tr><th scope=row>{name}<td>{size}{change}<td><td><td></tfoot>")?;
    }
    out.write_all(b"</table></div>\n")
}

/// The table row of a node.
fn line(row: &PageRow<'_>) -> String {
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
    // HTML needs no end tags of rows and cells. They would be a fifth of the page.
    format!(
        "<tr data-d={}><th scope=row{bytes}>{}{note}<td data-v={}>{}{change}<td{share}>{}<td>{}<td>{}\n",
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
    let shapes = if row.line.has_children { 2 * SHAPE } else { SHAPE };
    line(row).len() + shapes
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
