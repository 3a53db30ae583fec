//! The treemap of the current directory, in cells of the screen. Each line of the list has a tile that can be chosen,
//! if it is large enough. The tiles of a directory's entries are inside its own, as deep as there is room.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::browser::{Browser, largest};
use super::listing::{below, chain, first};
use super::marks::descend;
use weigh::internal::show::kinds;
use weigh::internal::show::page::treemap::{Rectangle, squarify};
use weigh::internal::show::size::Format;
use weigh::internal::tree::{Child, DirectoryId, Place};

/// A cell is about twice as high as it is wide.
const RATIO: f64 = 2.0;

/// The least width and height of a directory that shows its entries: a title, and a tile with a name.
const LEAST: [usize; 2] = [10, 3];

/// How many directories show their entries during a walk, which has to wait for each look.
const MOST_LIVE: usize = 8;

/// The tiles of a directory, in the cells of the screen.
#[derive(Debug)]
pub(super) struct TreeMap {
    pub(super) tiles: Vec<Tile>,
}

/// A rectangle of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cells {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// An entry in the treemap.
#[derive(Debug, Default)]
pub(super) struct Tile {
    pub(super) area: Cells,
    /// Its line in the list, if it can be chosen.
    pub(super) line: Option<usize>,
    pub(super) place: Option<Place>,
    /// Its name, or those of directories that share a line, escaped.
    pub(super) name: String,
    pub(super) size: u64,
    /// Which of [`kinds::KINDS`]; none if it stands for many small entries.
    pub(super) kind: Option<usize>,
    /// Whether it is a directory whose entries have tiles inside it, below a title.
    pub(super) has_inside: bool,
}

impl TreeMap {
    /// The treemap of the current directory in this area.
    pub(super) fn of(browser: &Browser, area: Cells) -> Self {
        let (mut tiles, mut looks) = (Vec::new(), 0);
        let mut next = VecDeque::from(lay_out(listed(browser, most(area)), area));
        // It ends, because the tiles inside a tile have a line less.
        while let Some(mut tile) = next.pop_front() {
            let Cells { x, y, width, height } = tile.area;
            if [width, height].iter().zip(LEAST).all(|(has, least)| *has >= least) {
                let area = Cells { x, y: y + 1, width, height: height - 1 };
                let inside = inside(browser, &tile, most(area), &mut looks);
                tile.has_inside = !inside.is_empty();
                next.extend(lay_out(inside, area));
            }
            tiles.push(tile);
        }
        Self { tiles }
    }

    /// Whether it has a tile that can be chosen.
    pub(super) fn has_lines(&self) -> bool {
        self.tiles.iter().any(|tile| tile.line.is_some())
    }

    /// The tile of a line of the list, if it is large enough to be there.
    pub(super) fn tile(&self, line: usize) -> Option<&Tile> {
        self.tiles.iter().find(|tile| tile.line == Some(line))
    }

    /// The line of the list whose tile has this cell.
    pub(super) fn line_at(&self, (x, y): (usize, usize)) -> Option<usize> {
        let has = |from: usize, length, at| (from..from + length).contains(&at);
        let mut chosen = self.tiles.iter().filter(|tile| tile.line.is_some());
        let at = |it: &&Tile| has(it.area.x, it.area.width, x) && has(it.area.y, it.area.height, y);
        chosen.find(at)?.line
    }

    /// The line of the list whose tile is beside the one of `line`, to the `right` or `down`; to the left or up if these
    /// are negative. That is the nearest tile, and of several the one beside its middle.
    pub(super) fn beside(&self, line: usize, (right, down): (isize, isize)) -> Option<usize> {
        let Some(from) = self.tile(line) else {
            // It has no tile. The largest one is a place to begin.
            return self.tiles.iter().filter(|it| it.line.is_some()).max_by_key(|it| it.size)?.line;
        };
        // Where an area begins and ends: in the direction of the arrow, and across it.
        let spans = |area: Cells| {
            let [x, y] = [(area.x, area.x + area.width), (area.y, area.y + area.height)];
            if right != 0 { (x, y) } else { (y, x) }
        };
        let (start, across) = spans(from.area);
        let middle = usize::midpoint(across.0, across.1);
        let others = self.tiles.iter().filter(|tile| tile.line.is_some_and(|it| it != line));
        let distances = others.filter_map(|tile| {
            let (along, across) = spans(tile.area);
            let distance = match right + down > 0 {
                true => along.0.checked_sub(start.1)?,
                false => start.0.checked_sub(along.1)?,
            };
            let aside = across.0.saturating_sub(middle).max((middle + 1).saturating_sub(across.1));
            Some(((aside > 0, distance, aside), tile.line))
        });
        distances.min_by_key(|(distance, _)| *distance)?.1
    }
}

/// How many tiles have room, about.
fn most(area: Cells) -> usize {
    (area.width * area.height / 2).clamp(1, 500)
}

/// The largest entries of the list, `most` at most, and all others as one.
fn listed(browser: &Browser, most: usize) -> Vec<Tile> {
    let scan = &browser.scan;
    let lines = (0..browser.len()).filter_map(|line| Some((line, scan.index.place(line)?)));
    let mut shown = 0u64;
    let lines = lines.map(|(line, place)| {
        let size = scan.tree.at(place).size();
        shown = shown.saturating_add(size);
        (Reverse(size), line, place)
    });
    let (largest, all) = first(lines, most);
    // A filter hides entries, which are no rest.
    let whole = if browser.shown.pattern.is_none() { scan.here().size() } else { shown };
    let tiles = largest.into_iter().map(|(_, line, place)| {
        let child = scan.tree.at(place);
        Tile { line: Some(line), place: Some(place), ..tile(browser, &child, scan.directory) }
    });
    with_rest(tiles.collect(), whole, all)
}

/// The largest entries in the directory `around` them, `most` at most, and all others as one. Nothing if it is no
/// directory, or if its entries are not known.
fn inside(browser: &Browser, around: &Tile, most: usize, looks: &mut usize) -> Vec<Tile> {
    let scan = &browser.scan;
    let Some(place) = around.place.filter(|it| scan.tree.at(*it).is_directory()) else {
        return Vec::new();
    };
    let live;
    let directory = if browser.has_all() {
        Some(scan.tree.at(place))
    } else {
        let line = around.line.filter(|_| scan.is_walked_now() && *looks < MOST_LIVE);
        let way = line.and_then(|line| browser.way_to(&browser.item(line)?));
        *looks += usize::from(way.is_some());
        live = way.and_then(|way| {
            let tree = browser.listing(&way)?.in_view(scan.tree.view());
            let id = descend(&tree, &way)?.id()?;
            Some((tree, id))
        });
        live.as_ref().map(|(tree, id)| tree.directory(*id))
    };
    let Some(directory) = directory else { return Vec::new() };
    let (places, count) = largest(directory, most);
    let tiles = places.into_iter().map(|place| {
        let child = directory.tree().at(place);
        let last = chain(scan, child).last().unwrap_or(child);
        // Places in a listing of the walk are not those of the tree.
        let place = last.place().filter(|_| browser.has_all());
        Tile { place, ..tile(browser, &last, directory.id().unwrap_or_default()) }
    });
    with_rest(tiles.collect(), directory.size(), count)
}

/// The tile of an entry below `directory`.
fn tile(browser: &Browser, child: &Child<'_>, directory: DirectoryId) -> Tile {
    let names = below(child, directory).into_iter().map(|name| browser.text(name));
    let end = if child.is_directory() { "/" } else { "" };
    let name = names.collect::<Vec<_>>().join("/") + end;
    let kind = Some(kinds::kind(child.name(), child.mode()));
    Tile { name, size: child.size(), kind, ..Tile::default() }
}

/// `tiles`, and a last one for all else in a directory of `count` entries, whose size is the `whole`.
fn with_rest(mut tiles: Vec<Tile>, whole: u64, count: usize) -> Vec<Tile> {
    let shown = tiles.iter().fold(0, |sum: u64, tile| sum.saturating_add(tile.size));
    let (rest, more) = (whole.saturating_sub(shown), count - tiles.len());
    if rest > 0 && !tiles.is_empty() {
        let name = (more > 0).then(|| format!("{} more", Format::Count.write(more as u64)));
        tiles.push(Tile { name: name.unwrap_or_default(), size: rest, ..Tile::default() });
    }
    tiles
}

/// Lays `tiles` out, the largest of which come first. Those without a cell are left out.
fn lay_out(tiles: Vec<Tile>, within: Cells) -> Vec<Tile> {
    let sizes: Vec<f64> = tiles.iter().map(|tile| tile.size as f64).collect();
    let (width, height) = (within.width as f64, within.height as f64 * RATIO);
    let parts = squarify(&sizes, Rectangle { width, height, ..Rectangle::default() });
    let placed = tiles.into_iter().zip(parts).map(|(tile, part)| {
        let [left, right] = [part.x, part.x + part.width].map(|at| at.round() as usize);
        let [top, end] = [part.y, part.y + part.height].map(|at| (at / RATIO).round() as usize);
        let [x, y] = [within.x + left, within.y + top];
        Tile { area: Cells { x, y, width: right - left, height: end - top }, ..tile }
    });
    placed.filter(|tile| tile.area.width > 0 && tile.area.height > 0).collect()
}
