//! The map: the place of each row in a drawing of 1,200 by 800 units, and its label.
//!
//! The name of a directory is in a strip at its top. The height of the strip suits the whole map, and also any part
//! that is zoomed to fill the screen. Entries without a row are a blank area in their directory.

use std::fmt::Write as _;

use super::PageRow;
use super::treemap::{Rectangle, squarify};
use crate::render::name::{cells, shorten};

/// The width of the drawing.
pub(super) const WIDTH: f64 = 1200.0;
/// The height of the drawing.
pub(super) const HEIGHT: f64 = 800.0;
/// The approximate width of a letter, and the height of a line.
const TEXT: (f64, f64) = (7.0, 14.0);
/// Anything smaller is not drawn: zoomed in a hundred times, it would be a dot.
const LEAST: f64 = 0.01;

/// The places of the rows.
#[derive(Debug)]
pub(super) struct Map {
    pub(super) places: Vec<Rectangle>,
    /// The area of the entries without a row, in the directory with this number.
    pub(super) rests: Vec<(usize, Rectangle)>,
}

impl Map {
    pub(super) fn new(rows: &[PageRow]) -> Self {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
        for (i, row) in rows.iter().enumerate() {
            row.parent.into_iter().for_each(|parent| children[parent].push(i));
        }
        let whole = Rectangle { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT };
        let mut map = Self { places: vec![whole; rows.len()], rests: Vec::new() };
        for (i, row) in rows.iter().enumerate().filter(|(i, _)| !children[*i].is_empty()) {
            // Links are in each of their directories, but count once above them.
            let shown =
                children[i].iter().fold(0u64, |sum, child| sum.saturating_add(rows[*child].area));
            let rest = row.area.saturating_sub(shown);
            let mut sizes: Vec<f64> =
                children[i].iter().map(|child| rows[*child].area as f64).collect();
            // Always last: sorted by its size, it would move the shown entries.
            sizes.push(rest as f64);
            let mut parts = squarify(&sizes, map.places[i].below(strip(&map.places[i])));
            map.rests.extend(parts.pop().filter(|_| rest > 0).map(|part| (i, part)));
            for (child, part) in children[i].iter().zip(parts) {
                map.places[*child] = part;
            }
        }
        map
    }

    /// The outline of a rectangle as an SVG path; none if it is too small.
    pub(super) fn outline(place: &Rectangle) -> Option<String> {
        let Rectangle { x, y, width, height } = *place;
        let is_seen = width >= LEAST && height >= LEAST;
        is_seen.then(|| {
            let [x, y, width, height] = [x, y, width, height].map(number);
            format!("M{x} {y}h{width}v{height}h-{width}z")
        })
    }

    /// The label of a row as an SVG element, if there is room for it.
    pub(super) fn label(&self, i: usize, row: &PageRow) -> Option<String> {
        let place = self.places.get(i)?;
        let (letter, line) = TEXT;
        let room = if row.is_open { strip(place) } else { place.height };
        let fitting = ((place.width - 8.0) / letter).floor();
        if room < line || fitting < 4.0 {
            return None;
        }
        let mut name = shorten(&row.name, fitting as usize);
        let more = format!("{name} {}", row.size_text);
        if cells(&more) as f64 <= fitting {
            name = more;
        }
        let (x, y) = (number(place.x + 4.0), number(place.y + (room - 3.0).min(line)));
        let mut label = String::new();
        // Writing to a string cannot fail.
        let _ = write!(label, "<text x=\"{x}\" y=\"{y}\">{}</text>", super::safe(&name));
        Some(label)
    }
}

/// The height of the strip with the name of a directory.
fn strip(directory: &Rectangle) -> f64 {
    /// A share of the height. If that is too low for a name, the height of a name, unless the directory itself is low.
    const SHARE: f64 = 0.04;
    const NAME: f64 = 18.0;
    const LOW: f64 = 100.0;
    let strip = directory.height * SHARE;
    if directory.height < LOW { strip } else { strip.max(NAME) }
}

/// A number of the drawing, rounded to hundredths.
fn number(number: f64) -> String {
    let text = format!("{number:.2}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
