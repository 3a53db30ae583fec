//! The figures before the names: a size or a time, and more columns if they are asked for and there is room.

use std::mem;

use super::PictureOptions;
use super::columns::LEAST_ROOM;
use crate::render::diff;
use crate::render::lines::Line;
use crate::render::name::{cells, widest};
use crate::render::partial;
use crate::render::size::Format;
use crate::tree::{Order, Shape, Tree};

/// The figures of each line, and of a difference their headings.
pub(super) fn figures(
    lines: &[Line<'_>],
    tree: &Tree,
    options: &PictureOptions,
) -> (Vec<String>, String) {
    let (format, are_partial) = (&options.format, options.partial.lines(lines, tree));
    let is_difference = lines[0].change.is_some();
    let mut figures: Vec<_> = match is_difference {
        true => diff::figures(lines, format),
        false => lines.iter().map(|line| figure(line, options)).collect(),
    };
    let headings = if is_difference { figures.pop() } else { None };
    // The earlier and the later size of the rest are unknown.
    figures.resize(lines.len(), String::new());
    // Times do not add up.
    if options.times.is_none() {
        for (figure, is_partial) in figures.iter_mut().zip(&are_partial) {
            *figure = partial::mark(mem::take(figure), *is_partial);
        }
    }
    if !is_difference && options.order == Order::Count {
        let counts = lines.iter().map(|line| Format::Count.write(line.totals.entries));
        add_column(&mut figures, counts.collect(), options.width);
    }
    let lines = lines.iter().zip(are_partial);
    if options.times.is_some() && tree.shape() != Shape::Groups {
        let sizes = lines.clone().map(|(line, is_partial)| match line.is_rest {
            true => String::new(),
            false => partial::mark(format.write(line.totals.size), is_partial),
        });
        add_column(&mut figures, sizes.collect(), options.width);
    }
    if lines.clone().any(|(line, _)| line.totals.frees.is_some()) {
        let frees = lines.map(|(line, is_partial)| match line.totals.frees {
            Some(frees) => format!("frees {}", partial::freed(frees, format, is_partial)),
            None => String::new(),
        });
        add_column(&mut figures, frees.collect(), options.width);
    }
    (figures, headings.unwrap_or_default())
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

/// Adds a column, aligned right, if lines of `line` cells then still have room for names.
fn add_column(figures: &mut [String], texts: Vec<String>, line: usize) {
    let (before, width) = (widest(&*figures), widest(&texts));
    if before + width + 3 + LEAST_ROOM > line {
        return;
    }
    for (figure, text) in figures.iter_mut().zip(texts) {
        let blanks = [before - cells(figure), width - cells(&text)].map(|cells| " ".repeat(cells));
        *figure = format!("{}{figure} {}{text}", blanks[0], blanks[1]);
    }
}
