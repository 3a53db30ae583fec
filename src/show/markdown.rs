//! Markdown for a pull request or an issue: the lines of the picture as a table, the root first.
//!
//! Names are in code spans, in which nothing is markup: `@team` notifies nobody, and `#12` is no link.

use std::io::{self, Write};

use super::lines::Line;
use super::partial::mark;
use super::size::{Format, percent};
use super::tree::{Bars, Picture, PictureOptions, with_picture};
use crate::tree::{Order, Tree};

/// Writes `tree` as a table.
///
/// # Errors
/// The writer's.
pub fn write(out: &mut dyn Write, tree: &Tree, options: &PictureOptions) -> io::Result<()> {
    with_picture(tree, options, |picture| write_table(out, picture, options))
}

fn write_table(
    out: &mut dyn Write,
    picture: &Picture<'_>,
    options: &PictureOptions,
) -> io::Result<()> {
    let lines = &picture.lines;
    let has = |column: &&Column| match column.heading {
        "entries" => options.order == Order::Count,
        "share" => options.bars != Bars::None,
        _ => true,
    };
    let columns: Vec<&Column> = [COUNT, SIZE, SHARE].iter().filter(has).collect();
    let headings: String = columns.iter().map(|column| format!("| {} ", column.heading)).collect();
    writeln!(out, "{headings}| entry |\n{}| :-- |", "| --: ".repeat(columns.len()))?;
    let first = usize::from(options.skip_total);
    for (i, line) in lines.iter().enumerate().skip(first) {
        for column in &columns {
            write!(out, "| {} ", (column.cell)(line, &lines[0], &options.format))?;
        }
        let name = picture.name(i) + &line.aside;
        let entry = match picture.level(i) {
            // No entry has this name.
            _ if line.is_rest => name,
            0 => code(&name),
            _ if options.screen_reader => code(&name),
            // Without the stroke to the root. Blanks at the start of a code span may be removed, and others collapse.
            _ => {
                let tree = picture.tree(i, usize::MAX).replace(' ', "\u{a0}");
                code(&format!("{} {name}", tree.chars().skip(2).collect::<String>()))
            }
        };
        writeln!(out, "| {entry} |")?;
    }
    Ok(())
}

/// A column of figures.
struct Column {
    heading: &'static str,
    /// The text for a line, with the line of the root.
    cell: fn(&Line<'_>, &Line<'_>, &Format) -> String,
}

const SIZE: Column = Column {
    heading: "size",
    cell: |line, _, format| mark(format.write(line.totals.size), line.is_partial),
};

const SHARE: Column = Column {
    heading: "share",
    cell: |line, root, _| percent(line.totals.weight, root.totals.weight),
};

const COUNT: Column =
    Column { heading: "entries", cell: |line, _, _| Format::Count.write(line.totals.entries) };

/// `text`, of one line, as a code span in a table (GFM 4.10 and 6.3): between more backticks than it has in a row, and
/// with a backslash before each pipe, which would end the cell. The reader removes both.
pub(super) fn code(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans() {
        for (text, expected) in [
            ("@team", "`@team`"),
            ("a`b", "``a`b``"),
            ("`", "`` ` ``"),
            ("a``b`", "``` a``b` ```"),
            ("a|b", r"`a\|b`"),
        ] {
            assert_eq!(code(text), expected);
        }
    }
}
