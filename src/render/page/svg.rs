//! The map alone, as SVG.

use std::io::{self, Write};

use super::map::{HEIGHT, WIDTH, outline};
use super::{PageContent, STYLE, path_of, safe};

pub(super) fn write(out: &mut impl Write, page: &PageContent<'_>) -> io::Result<()> {
    let title = format!("{}: {}", page.rows[0].name, page.title());
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"title\"><title id=\"title\">{}</title><style>{STYLE}</style>",
        safe(&title)
    )?;
    shapes(out, page, |i| {
        let row = &page.rows[i];
        let text = format!("{}{}: {}", path_of(&page.rows, i), row.note, row.size);
        let text = match &row.change {
            Some((_, change)) => format!("{text} ({change})"),
            None => text,
        };
        format!("><title>{}</title></path>", safe(&text))
    })?;
    out.write_all(b"</svg>\n")
}

/// Writes the shapes and labels of all rows. Each shape ends with the text from `end`.
pub(super) fn shapes(
    out: &mut impl Write,
    page: &PageContent<'_>,
    end: impl Fn(usize) -> String,
) -> io::Result<()> {
    for (i, row) in page.rows.iter().enumerate() {
        let class = if row.line.has_children { "dir" } else { row.class };
        if let Some(outline) = outline(page.map.areas[i]) {
            let end = end(i);
            write!(out, "<path id=\"n{i}\" class=\"{class}\" d=\"{outline}\"{end}")?;
        }
        // Directories are drawn before their entries.
        if let Some(outline) = page.map.rests[i].and_then(outline) {
            write!(out, "<path class=\"rest\" d=\"{outline}\"/>")?;
        }
    }
    let mut labels = page.rows.iter().enumerate().filter_map(|(i, row)| page.map.label(i, row));
    labels.try_for_each(|label| out.write_all(label.as_bytes()))
}
