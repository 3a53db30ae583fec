//! The layout of the map: rectangles whose areas are proportional to sizes, as nearly square as possible.
//!
//! This is the squarified treemap of Bruls, Huizing and van Wijk (2000): rows along the shorter side, each extended as
//! long as its rectangles get squarer. It takes one step for each size. It is our own code, because no maintained
//! crate does this.

use std::io::{self, Write};

use super::map::{HEIGHT, TEXT, WIDTH, outline};
use super::{MAP_STYLE, PageContent, path_of, safe};
use crate::show::name::cells;

/// A rectangle on the map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rectangle {
    /// Its left side.
    pub x: f64,
    /// Its upper side.
    pub y: f64,
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

impl Rectangle {
    /// The rectangle with its sides exchanged.
    fn turned(self) -> Self {
        Self { x: self.y, y: self.x, width: self.height, height: self.width }
    }
}

/// Divides `whole` among `sizes`, the largest of which come first.
pub fn squarify(sizes: &[f64], whole: Rectangle) -> Vec<Rectangle> {
    let mut parts = Vec::with_capacity(sizes.len());
    let (mut rest, mut sizes) = (whole, sizes);
    let mut left: f64 = sizes.iter().sum();
    while !sizes.is_empty() {
        // A row takes the whole height on the left of a wide area. A high one is laid out on its side.
        let is_wide = rest.width >= rest.height;
        let mut area = if is_wide { rest } else { rest.turned() };
        let side = area.height;
        // The remaining area for each unit of size.
        let scale = if left > 0.0 { rest.width * rest.height / left } else { 0.0 };
        let (row, sum) = row(sizes, side, scale);
        let (now, later) = sizes.split_at(row);
        let thickness = if side > 0.0 { sum * scale / side } else { 0.0 };
        let mut along = 0.0;
        for size in now {
            let height = if sum > 0.0 { size / sum * side } else { 0.0 };
            let part = Rectangle { y: area.y + along, width: thickness, height, ..area };
            parts.push(if is_wide { part } else { part.turned() });
            along += height;
        }
        area.x += thickness;
        area.width = (area.width - thickness).max(0.0);
        rest = if is_wide { area } else { area.turned() };
        left = (left - sum).max(0.0);
        sizes = later;
    }
    parts
}

/// How many of `sizes` make the next row, and their sum. A size is added as long as it makes the worst rectangle of
/// the row squarer.
fn row(sizes: &[f64], side: f64, scale: f64) -> (usize, f64) {
    let (mut sum, mut ratio) = (0.0, f64::INFINITY);
    for (i, size) in sizes.iter().enumerate() {
        let next = worst([sizes[0], *size], sum + size, side, scale);
        // Sizes of 0 join the last row, and so does everything if there is no room.
        if *size > 0.0 && next > ratio {
            return (i, sum);
        }
        sum += size;
        ratio = if next.is_nan() { ratio } else { next };
    }
    (sizes.len(), sum)
}

/// How far the worst rectangle of a row is from a square: the ratio of its longer to its shorter side.
fn worst([largest, smallest]: [f64; 2], sum: f64, side: f64, scale: f64) -> f64 {
    let (side, area) = (side * side, sum * sum * scale);
    (side * largest / area).max(area / (side * smallest))
}

// The map alone, as SVG, with a legend below it.

/// The pattern of what has no shape of its own.
pub(super) const PATTERN: &str = "<defs><pattern id=\"rest\" width=\"6\" height=\"6\" \
    patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path d=\"M0 0v6\"/></pattern></defs>";

pub(super) fn write(out: &mut dyn Write, page: &PageContent<'_>) -> io::Result<()> {
    const LINE: f64 = 24.0;
    let title = format!("{}: {}. {}", page.heading, page.title(), page.recorded);
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
    let (mut x, mut y, mut legend) = (4.0, HEIGHT + 10.0, String::new());
    for (class, meaning) in &page.colorings[0].legend {
        let (width, text) = (40.0 + cells(meaning) as f64 * TEXT.0, safe(meaning));
        if x > 4.0 && x + width > WIDTH {
            (x, y) = (4.0, y + LINE);
        }
        legend += &format!(
            "<path class=\"{class}\" d=\"M{x} {y}h14v14h-14z\"/>\
             <text class=\"dir\" x=\"{}\" y=\"{}\">{text}</text>",
            x + 20.0,
            y + 12.0
        );
        x += width;
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
        height = y + 20.0,
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

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Rectangle = Rectangle { x: 10.0, y: 20.0, width: 600.0, height: 400.0 };

    fn area(part: &Rectangle) -> f64 {
        part.width * part.height
    }

    /// The example of the paper: 6, 6, 4, 3, 2, 2 and 1 in 6 by 4.
    #[test]
    fn what_is_known_to_come_out_comes_out() {
        let sizes = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let whole = Rectangle { x: 0.0, y: 0.0, width: 6.0, height: 4.0 };
        let parts = squarify(&sizes, whole);
        let expected = [
            (0.0, 0.0, 3.0, 2.0),
            (0.0, 2.0, 3.0, 2.0),
            (3.0, 0.0, 12.0 / 7.0, 7.0 / 3.0),
            (3.0 + 12.0 / 7.0, 0.0, 9.0 / 7.0, 7.0 / 3.0),
        ];
        for (part, (x, y, width, height)) in parts.iter().zip(expected) {
            let differences = [part.x - x, part.y - y, part.width - width, part.height - height];
            assert!(differences.iter().all(|by| by.abs() < 1e-9), "{part:?}");
        }
    }

    #[test]
    fn areas_are_as_sizes_and_lie_beside_each_other() {
        for sizes in [
            vec![1.0],
            vec![0.0, 0.0],
            vec![5.0, 0.0],
            vec![1e18, 1.0, 1.0],
            (1..=500).rev().map(f64::from).collect(),
            vec![1.0; 1000],
        ] {
            let parts = squarify(&sizes, WHOLE);
            let sum: f64 = sizes.iter().sum();
            assert_eq!(parts.len(), sizes.len());
            for (part, size) in parts.iter().zip(&sizes) {
                let expected = if sum > 0.0 { size / sum * area(&WHOLE) } else { 0.0 };
                assert!((area(part) - expected).abs() < 1e-3, "{part:?} {expected}");
                let ends = (part.x + part.width, part.y + part.height);
                assert!(part.x >= WHOLE.x - 1e-6 && ends.0 <= WHOLE.x + WHOLE.width + 1e-6);
                assert!(part.y >= WHOLE.y - 1e-6 && ends.1 <= WHOLE.y + WHOLE.height + 1e-6);
            }
            if sizes.len() > 600 {
                continue;
            }
            for (i, one) in parts.iter().enumerate() {
                for other in &parts[..i] {
                    let across =
                        one.x.max(other.x) + 1e-6 < (one.x + one.width).min(other.x + other.width);
                    let down = one.y.max(other.y) + 1e-6
                        < (one.y + one.height).min(other.y + other.height);
                    assert!(!(across && down), "{one:?} {other:?}");
                }
            }
        }
    }
}
