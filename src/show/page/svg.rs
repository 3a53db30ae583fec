//! The map alone, as SVG, with a legend below it.

use std::io::{self, Write};

use super::map::{HEIGHT, TEXT, WIDTH, outline};
use super::{MAP_STYLE, PageContent, path_of, safe};
use crate::show::name::cells;

/// The pattern of what has no shape of its own.
pub(super) const PATTERN: &str = "<defs><pattern id=\"rest\" width=\"6\" height=\"6\" \
    patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path d=\"M0 0v6\"/></pattern></defs>";

pub(super) fn write(out: &mut dyn Write, page: &PageContent<'_>) -> io::Result<()> {
    const LEGEND: f64 = 30.0;
    let title = format!("{}: {}", page.rows[0].name, page.title());
    let shapes = shapes(page, |i| {
        let row = &page.rows[i];
        let text = format!("{}{}: {}", path_of(&page.rows, i), row.note, row.size);
        let text = match &row.change {
            Some((_, change)) => format!("{text} ({change})"),
            None => text,
        };
        format!("><title>{}</title></path>", safe(&text))
    });
    let rests = page.map.rests.iter().filter_map(|rest| outline((*rest)?));
    let rests = rests.map(|rest| format!("<path class=\"rest\" d=\"{rest}\"/>"));
    let (mut x, mut legend) = (4.0, String::new());
    for (class, meaning) in page.colorings.iter().take(1).flat_map(|coloring| &coloring.legend) {
        let (y, text) = (HEIGHT + 10.0, safe(meaning));
        legend += &format!(
            "<path class=\"{class}\" d=\"M{x} {y}h14v14h-14z\"/>\
             <text class=\"dir\" x=\"{}\" y=\"{}\">{text}</text>",
            x + 20.0,
            y + 12.0
        );
        x += 40.0 + cells(meaning) as f64 * TEXT.0;
    }
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" class=\"map by-{}\" role=\"img\" \
         aria-labelledby=\"title\"><title id=\"title\">{}</title><style>{MAP_STYLE}</style>{PATTERN}\
         <path class=\"paper\" d=\"M0 0h{WIDTH}v{height}H0z\"/>{shapes}{}{}{legend}</svg>",
        page.coloring(),
        safe(&title),
        rests.collect::<String>(),
        labels(page),
        height = HEIGHT + LEGEND,
    )
}

/// The shapes of all rows. Each ends with the text from `end`.
pub(super) fn shapes(page: &PageContent<'_>, end: impl Fn(usize) -> String) -> String {
    let shapes = page.rows.iter().enumerate().map(|(i, row)| {
        // Directories are drawn before their entries.
        let outline = page.map.outline(i).map_or_else(String::new, |it| format!(" d=\"{it}\""));
        format!("<path class=\"{}\"{outline}{}", row.class(), end(i))
    });
    shapes.collect()
}

/// The labels of all rows.
pub(super) fn labels(page: &PageContent<'_>) -> String {
    page.rows.iter().enumerate().filter_map(|(i, row)| page.map.label(i, row)).collect()
}
