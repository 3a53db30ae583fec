//! The map: the area of each row in a drawing of 1,200 by 800 units, and its label.
//!
//! The name of a directory is in a strip at its top, and a chain of directories that each have only the next one is
//! drawn as one. Entries without a row are a blank area in their directory. The script lays out the same for each
//! window.
//!
//! Files of the same size have about the same area, however deep they are: a directory gets room for its entries, and
//! for the frames in it, which are estimated first. Only [`FRAMES`] frames lie in one another.

use std::mem;

use super::PageRow;
use super::treemap::{Rectangle, squarify};
use crate::show::name::{MARK, cells, end, start};

/// The width of the drawing.
pub(super) const WIDTH: f64 = 1200.0;
/// The height of the drawing.
pub(super) const HEIGHT: f64 = 800.0;
/// The approximate width of a letter, and the height of a line.
pub(super) const TEXT: (f64, f64) = (7.6, 15.0);
/// Anything smaller is not drawn.
const LEAST: f64 = 0.1;
/// How many directories that lie in one another have a frame: the root and three more. Each frame takes 3 % of a tile
/// that is half of the page; without a limit, 20 of them took half of it.
const FRAMES: usize = 4;

/// Where the rows are drawn.
#[derive(Debug)]
pub(super) struct Map {
    tiles: Vec<Tile>,
    /// The area in each row of its entries without a row, if there are any.
    pub(super) rests: Vec<Option<Rectangle>>,
}

/// Where a row is drawn.
#[derive(Clone, Debug, Default)]
struct Tile {
    area: Rectangle,
    /// How many frames are around it.
    frames: usize,
    /// Its name, after those of the directories that are drawn as one with it; empty if it is drawn as one with what is
    /// in it.
    label: String,
    /// How many letters at the start of its label, and at the end, one beside it has, too.
    common: [usize; 2],
}

impl Map {
    pub(super) fn new(rows: &[PageRow<'_>]) -> Self {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
        for (i, row) in rows.iter().enumerate() {
            row.line.parent.into_iter().for_each(|parent| children[parent].push(i));
        }
        // The only entry of each directory that is drawn as one with that.
        let joined =
            children.iter().zip(rows).enumerate().map(|(i, (children, row))| match children[..] {
                [only] if is_joined(i, row.line.totals.weight, &rows[only]) => Some(only),
                _ => None,
            });
        let joined: Vec<Option<usize>> = joined.collect();
        let area = Rectangle { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT };
        let mut tiles = vec![Tile { area, ..Tile::default() }; rows.len()];
        tiles[0].label.clone_from(&rows[0].name);
        for (i, children) in children.iter().enumerate() {
            let frames = tiles[i].frames + usize::from(joined[i].is_none());
            children.iter().for_each(|child| tiles[*child].frames = frames);
        }
        let scale = scale(rows);
        let areas = areas(rows, &tiles, &joined, scale);
        let mut rests = vec![None; rows.len()];
        for (i, children) in children.iter().enumerate().filter(|(_, it)| !it.is_empty()) {
            if let Some(only) = joined[i] {
                let above = mem::take(&mut tiles[i].label);
                let label = above + "/" + &rows[only].name;
                // The end of the longer label may be that of others, too.
                let common = [tiles[i].common[0], usize::MAX];
                let area = tiles[i].area;
                let tile = &mut tiles[only];
                (tile.area, tile.label, tile.common) = (area, label, common);
                continue;
            }
            let weights = children.iter().map(|child| rows[*child].line.totals.weight);
            // Links are in each of their directories, but count once above them.
            let rest =
                rows[i].line.totals.weight.saturating_sub(weights.fold(0, u64::saturating_add));
            // The rest is always last: sorted by its size, it would move the shown entries.
            let sizes = children.iter().map(|child| areas[*child]);
            let sizes: Vec<_> = sizes.chain([rest as f64 * scale]).collect();
            let mut parts = squarify(&sizes, tiles[i].inside());
            rests[i] = parts.pop().filter(|_| rest > 0);
            // In a list of files, names are paths.
            let names = children.iter().map(|child| rows[*child].name.rsplit('/').next());
            let names: Vec<_> = names.map(Option::unwrap_or_default).collect();
            let common = common_ends(&names);
            for (((child, area), name), common) in children.iter().zip(parts).zip(names).zip(common)
            {
                let tile = &mut tiles[*child];
                (tile.area, tile.label, tile.common) = (area, name.to_owned(), common);
            }
        }
        Self { tiles, rests }
    }

    /// The outline of a row; none if it is too small, or drawn as one with what is in it.
    pub(super) fn outline(&self, i: usize) -> Option<String> {
        let tile = self.tiles.get(i).filter(|tile| !tile.label.is_empty())?;
        outline(tile.area)
    }

    /// The label of a row as an SVG element, if there is room for one.
    pub(super) fn label(&self, i: usize, row: &PageRow<'_>) -> Option<String> {
        let tile = self.tiles.get(i)?;
        let Tile { area, label, common, .. } = tile;
        let (letter, line) = TEXT;
        let room = ((area.width - 8.0) / letter).max(0.0) as usize;
        let is_directory = row.line.has_children;
        let height = if is_directory { tile.inside().y - area.y } else { area.height };
        let name = shorten(label, room, *common).filter(|_| height >= line)?;
        let size = row.figure();
        let (x, y) = (number(area.x + 4.0), number(area.y + 13.0));
        let size = match is_directory {
            true if cells(&name) + cells(size) < room => format!(" <tspan>{size}</tspan>"),
            false if cells(size) <= room && height >= 2.0 * line => {
                format!("<tspan x=\"{x}\" dy=\"{line}\">{size}</tspan>")
            }
            _ => String::new(),
        };
        let (class, name) = (row.class(), super::safe(&name));
        Some(format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{name}{size}</text>"))
    }
}

impl Tile {
    /// The area of what is in a directory: without its frame, if there are few around it.
    fn inside(&self) -> Rectangle {
        let Rectangle { x, y, width, height } = self.area;
        let (strip, margin) = frame(width, height, self.frames);
        Rectangle {
            x: x + margin,
            y: y + strip,
            width: width - 2.0 * margin,
            height: height - strip - margin,
        }
    }
}

/// The frame of a directory with so many frames around it: the height of the strip at its top, for its name if there is
/// room, and its margin on the other sides.
fn frame(width: f64, height: f64, frames: usize) -> (f64, f64) {
    const STRIP: f64 = 18.0;
    const MARGIN: f64 = 2.0;
    if frames >= FRAMES {
        return (0.0, 0.0);
    }
    let margin = MARGIN.min(width.min(height) / 20.0);
    let strip = if width >= 40.0 && height >= 40.0 { STRIP } else { margin };
    (strip, margin)
}

/// The area for a unit of size if there were no frames.
fn scale(rows: &[PageRow<'_>]) -> f64 {
    match rows[0].line.totals.weight {
        0 => 0.0,
        weight => WIDTH * HEIGHT / weight as f64,
    }
}

/// The area for each row, with `scale` for a unit of size: for its size, and for the frames in it, as if each directory
/// were a square.
fn areas(rows: &[PageRow<'_>], tiles: &[Tile], joined: &[Option<usize>], scale: f64) -> Vec<f64> {
    let mut areas: Vec<_> = rows.iter().map(|row| row.line.totals.weight as f64 * scale).collect();
    for (i, row) in rows.iter().enumerate().rev() {
        let without_frames = row.line.totals.weight as f64 * scale;
        if row.line.has_children && joined[i].is_none() {
            let side = areas[i].sqrt();
            let (strip, margin) = frame(side, side, tiles[i].frames);
            areas[i] = (side + 2.0 * margin) * (side + strip + margin);
        }
        if let Some(parent) = row.line.parent {
            areas[parent] += areas[i] - without_frames;
        }
    }
    areas
}

/// Whether the row `above` is drawn as one with `only`, its only entry with a row. The root never is.
fn is_joined(above: usize, weight: u64, only: &PageRow<'_>) -> bool {
    /// The share of what is beside it, that of the directory itself included.
    const MOST: u64 = 100;
    let beside = weight.saturating_sub(only.line.totals.weight);
    above > 0 && only.line.has_children && beside <= weight / MOST
}

/// How many letters at the start of each of `names`, and how many at the end, another one has, too.
fn common_ends(names: &[&str]) -> Vec<[usize; 2]> {
    let mut common: Vec<[usize; 2]> = vec![[0, 0]; names.len()];
    for side in [0, 1] {
        let letters = names.iter().map(|name| name.chars().collect::<Vec<_>>());
        let mut letters: Vec<_> = letters.zip(0_usize..).collect();
        if side == 1 {
            letters.iter_mut().for_each(|(letters, _)| letters.reverse());
        }
        // In order, the one that is most alike comes just before or just after.
        letters.sort_unstable();
        for pair in letters.windows(2) {
            let both = pair[0].0.iter().zip(&pair[1].0);
            let same = both.take_while(|(one, other)| one == other).count();
            pair.iter().for_each(|(_, i)| common[*i][side] = common[*i][side].max(same));
        }
    }
    common
}

/// `label` in at most `room` cells. What is left of a longer one says something, and tells it apart from those beside
/// it; or else there is none.
fn shorten(label: &str, room: usize, common: [usize; 2]) -> Option<String> {
    /// So few letters say nothing.
    const FEW: usize = 3;
    if cells(label) <= room {
        return Some(label.to_owned()).filter(|label| !label.is_empty());
    }
    let room = room.checked_sub(cells(MARK))?;
    const BETWEEN: [char; 4] = [' ', '.', '_', '-'];
    let says = |part: &str, common: usize| part.chars().count() > common.max(FEW);
    let first = start(label, room).trim_end_matches(BETWEEN);
    let last = end(label, room).trim_start_matches(BETWEEN);
    match says(first, common[0]) {
        true => Some([first, MARK].concat()),
        false => says(last, common[1]).then(|| [MARK, last].concat()),
    }
}

/// The outline of a rectangle as an SVG path, with a gap on all sides; none if it is too small.
pub(super) fn outline(Rectangle { x, y, width, height }: Rectangle) -> Option<String> {
    const GAP: f64 = 0.5;
    let is_seen = width >= LEAST && height >= LEAST;
    let gap = GAP.min(width.min(height) / 8.0);
    let [x, y, width, height] =
        [x + gap, y + gap, width - 2.0 * gap, height - 2.0 * gap].map(number);
    is_seen.then(|| format!("M{x} {y}h{width}v{height}h-{width}z"))
}

/// A number of the drawing, rounded to tenths.
fn number(number: f64) -> String {
    let text = format!("{number:.1}");
    text.trim_end_matches(".0").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_label_tells_it_apart() {
        let names = [
            "libfirst.a",
            "libsecond.a",
            "libsecond.so",
            "libfirst-2.so",
            "same-1-same",
            "same-2-same",
        ];
        let of = |i: usize, room| shorten(names[i], room, common_ends(&names)[i]);
        for (i, room, expected) in [
            (0, 10, Some("libfirst.a")),
            // "libfirst…" may be the other one.
            (0, 9, Some("…bfirst.a")),
            (0, 4, None),
            (0, 0, None),
            (1, 8, Some("…econd.a")),
            (3, 12, Some("libfirst-2…")),
            (3, 9, Some("…rst-2.so")),
            (4, 7, Some("same-1…")),
            // Neither "same…" nor "…same" says which.
            (4, 6, None),
        ] {
            assert_eq!(of(i, room).as_deref(), expected, "{} in {room}", names[i]);
        }
        assert_eq!(shorten("日本語日本語", 9, [0, 0]).as_deref(), Some("日本語日…"));
        assert_eq!(shorten("", 9, [0, 0]), None);
    }
}
