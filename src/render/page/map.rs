//! The map: the area of each row in a drawing of 1,200 by 800 units, and its label.
//!
//! The name of a directory is in a strip at its top. The height of the strip suits the whole map, and also any part
//! that is zoomed to fill the screen. Entries without a row are a blank area in their directory.

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

/// Where the rows are drawn.
#[derive(Debug)]
pub(super) struct Map {
    /// The area of each row.
    pub(super) areas: Vec<Rectangle>,
    /// The area in each row of its entries without a row, if there are any.
    pub(super) rests: Vec<Option<Rectangle>>,
}

impl Map {
    pub(super) fn new(rows: &[PageRow<'_>]) -> Self {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
        for (i, row) in rows.iter().enumerate() {
            row.line.parent.into_iter().for_each(|parent| children[parent].push(i));
        }
        let whole = Rectangle { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT };
        let mut map = Self { areas: vec![whole; rows.len()], rests: vec![None; rows.len()] };
        for (i, children) in children.iter().enumerate().filter(|(_, it)| !it.is_empty()) {
            let weights = children.iter().map(|child| rows[*child].line.totals.weight);
            // Links are in each of their directories, but count once above them.
            let shown = weights.clone().fold(0, u64::saturating_add);
            let rest = rows[i].line.totals.weight.saturating_sub(shown);
            // The rest is always last: sorted by its size, it would move the shown entries.
            let sizes: Vec<_> = weights.chain([rest]).map(|size| size as f64).collect();
            let mut parts = squarify(&sizes, map.areas[i].below(strip(&map.areas[i])));
            map.rests[i] = parts.pop().filter(|_| rest > 0);
            for (child, part) in children.iter().zip(parts) {
                map.areas[*child] = part;
            }
        }
        map
    }

    /// The label of a row as an SVG element, if there is room for it.
    pub(super) fn label(&self, i: usize, row: &PageRow<'_>) -> Option<String> {
        let area = self.areas.get(i)?;
        let (letter, line) = TEXT;
        let room = if row.line.has_children { strip(area) } else { area.height };
        let fitting = ((area.width - 8.0) / letter).floor();
        if room < line || fitting < 4.0 {
            return None;
        }
        let mut name = shorten(&row.name, fitting as usize);
        let more = format!("{name} {}", row.size);
        if cells(&more) as f64 <= fitting {
            name = more;
        }
        let (x, y) = (number(area.x + 4.0), number(area.y + (room - 3.0).min(line)));
        Some(format!("<text x=\"{x}\" y=\"{y}\">{}</text>", super::safe(&name)))
    }
}

/// The outline of a rectangle as an SVG path; none if it is too small.
pub(super) fn outline(Rectangle { x, y, width, height }: Rectangle) -> Option<String> {
    let is_seen = width >= LEAST && height >= LEAST;
    let [x, y, width, height] = [x, y, width, height].map(number);
    is_seen.then(|| format!("M{x} {y}h{width}v{height}h-{width}z"))
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
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
