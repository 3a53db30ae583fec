//! How wide the columns are: sizes, tree and names, bars, percentages.

use super::{Bars, NAME_AT_LEAST, Picture};
use crate::render::name::cells;

/// The widths of the columns, in cells.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) size: usize,
    /// Whether lines for a screen reader have room for the level.
    pub(super) level: bool,
    /// The tree and the name beside it.
    pub(super) name: usize,
    /// 0 if there are no bars.
    pub(super) bar: usize,
    /// For each line, the nearest ancestor with a longer bar.
    pub(super) longer: Vec<Option<usize>>,
    /// Whether there are percentages.
    pub(super) percent: bool,
    /// How much the tree and the name may take at most.
    pub(super) room: usize,
}

/// The two frames of the bar, the blanks beside it, and `100%`.
const AROUND_BAR: usize = 8;
/// With fewer cells, each would be more than a tenth of the whole.
const LEAST_BAR: usize = 10;
/// A blank and `100%`.
const PERCENT: usize = 5;
/// A branch, a blank, and a name that can hardly be recognized.
pub(super) const LEAST_ROOM: usize = 4 + NAME_AT_LEAST;

impl Picture<'_> {
    /// The widths for the lines from `first` on. Beside bars, names take up to 45% of the width. If that leaves too
    /// little for bars, there are only percentages; and if there is no room for those, only names.
    pub(super) fn columns(&self, first: usize) -> Columns {
        let lines = first..self.lines.len();
        let width = self.options.width;
        let size = lines.clone().map(|i| cells(&self.notes[i].size)).max().unwrap_or(0).min(width);
        let longest = |room| {
            let name = |i| {
                let drawing = !self.options.screen_reader;
                let tree = if drawing { self.tree_width(i, room) + 1 } else { 0 };
                tree + cells(&self.name(i)) + cells(&self.notes[i].aside)
            };
            lines.clone().map(name).max().unwrap_or(0).min(room)
        };
        let columns = |room, percent| Columns {
            size,
            name: longest(room),
            percent,
            room,
            ..Columns::default()
        };
        let room = width.saturating_sub(size + 2);
        if self.options.screen_reader {
            let deepest = lines.clone().map(|i| self.level(i)).max().unwrap_or(0);
            let numbers = deepest.to_string().len() + 1 + size;
            let percent = self.options.bars != Bars::None && numbers + PERCENT <= width;
            return Columns { level: numbers <= width, ..columns(room, percent) };
        }
        if self.options.bars == Bars::None {
            return columns(room, false);
        }
        let beside_bar = columns(room.min(width.saturating_mul(45) / 100), true);
        let bar = (room + 1).saturating_sub(beside_bar.name + AROUND_BAR);
        match (room + 1).saturating_sub(PERCENT) {
            _ if bar >= LEAST_BAR => Columns { bar, longer: self.longer(bar), ..beside_bar },
            beside_percent if beside_percent >= LEAST_ROOM => columns(beside_percent, true),
            _ => columns(room, false),
        }
    }
}
