//! The figures before the names: a size or a time, and more columns if they are asked for and there is room.

use std::mem;

use super::PictureOptions;
use super::columns::LEAST_ROOM;
use crate::show::diff;
use crate::show::lines::Line;
use crate::show::name::{right_aligned, widest};
use crate::show::partial;
use crate::show::size::Format;
use crate::tree::{Order, Shape, Tree};

/// Writes the figures of each line. Returns their headings, of a difference.
pub(super) fn write(lines: &mut [Line<'_>], tree: &Tree, options: &PictureOptions) -> String {
    let format = &options.format;
    let mut headings = String::new();
    let is_difference = lines[0].change.is_some();
    if is_difference {
        headings = diff::write_figures(lines, format);
    } else {
        lines.iter_mut().for_each(|line| line.figures = figure(line, options));
    }
    // Times do not add up.
    if options.times.is_none() {
        for line in &mut *lines {
            line.figures = partial::mark(mem::take(&mut line.figures), line.is_partial);
        }
    }
    if !is_difference && options.order == Order::Count {
        add_column(lines, options.width, |line| Format::Count.write(line.totals.entries));
    }
    if options.times.is_some() && tree.shape() != Shape::Groups {
        add_column(lines, options.width, |line| match line.is_rest {
            true => String::new(),
            false => partial::mark(format.write(line.totals.size), line.is_partial),
        });
    }
    if lines.iter().any(|line| line.totals.frees.is_some()) {
        add_column(lines, options.width, |line| match line.totals.frees {
            Some(frees) => format!("frees {}", partial::freed(frees, format, line.is_partial)),
            None => String::new(),
        });
    }
    headings
}

/// The size or the time of a line. A time cannot sum up the rest.
fn figure(line: &Line<'_>, options: &PictureOptions) -> String {
    match (&options.times, line.totals.newest) {
        (None, _) => options.format.write(line.totals.size),
        (Some(_), _) if line.is_rest => String::new(),
        (Some(times), Some(newest)) => times.write(newest),
        (Some(_), None) => "-".to_owned(),
    }
}

/// Adds a column with what `text` says of each line, aligned right, if lines of `width` cells then still have room for
/// names.
fn add_column(lines: &mut [Line<'_>], width: usize, text: impl Fn(&Line<'_>) -> String) {
    let texts: Vec<_> = lines.iter().map(text).collect();
    let (before, own) = (widest(lines.iter().map(|line| &line.figures)), widest(&texts));
    if before + own + 3 + LEAST_ROOM > width {
        return;
    }
    for (line, text) in lines.iter_mut().zip(texts) {
        line.figures =
            format!("{} {}", right_aligned(&line.figures, before), right_aligned(&text, own));
    }
}
