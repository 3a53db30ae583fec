//! The page: the map, and a table of the same rows. Both work without the script.

use std::fmt::Write as _;
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
    let root = &page.rows[0];
    let (name, title) = (safe(&root.name), safe(&page.title()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; \
         base-uri 'none'; form-action 'none'"
    );
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{name}: {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{name}</h1>\n<p>{title}. {}Made by weigh {}, {}.</p>\n",
        if page.is_partial {
            "Some entries could not be read: sizes without them are marked with ≥. "
        } else {
            ""
        },
        env!("CARGO_PKG_VERSION"),
        safe(&page.options.time),
    )?;
    write!(
        out,
        "<nav aria-label=\"Directories above the map\" hidden></nav>\n\
         <div id=\"map\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
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
fn line(row: &PageRow) -> String {
    let bytes = row
        .bytes
        .as_ref()
        .map_or(String::new(), |bytes| format!(" data-bytes=\"{}\"", STANDARD.encode(bytes)));
    let note = match row.note.as_str() {
        "" => String::new(),
        note => format!("<span>{}</span>", safe(note)),
    };
    let change = row
        .change
        .as_ref()
        .map_or(String::new(), |(change, text)| format!("<td data-v={change}>{}", safe(text)));
    // The share of the whole, or of all changes.
    let share = match row.change {
        Some(_) => format!(" data-v={}", row.area),
        None => String::new(),
    };
    // HTML needs no end tags of rows and cells. They would be a fifth of the page.
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        line,
        "<tr data-d={}><th scope=row{bytes}>{}{note}<td data-v={}>{}{change}<td{share}>{}<td>{}<td>{}",
        row.depth,
        safe(&row.name),
        row.size,
        safe(&row.size_text),
        safe(&row.percent),
        Format::Count.write(row.entries),
        row.kind,
    );
    line
}

/// How many bytes a row and its shape take.
pub(super) fn length(row: &PageRow) -> usize {
    /// The maximal size of a shape.
    const SHAPE: usize = 80;
    let shapes = if row.is_open { 2 * SHAPE } else { SHAPE };
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
