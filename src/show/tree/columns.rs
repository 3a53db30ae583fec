//! How wide the columns are: sizes, tree and names, bars, percentages.

use super::{Bars, NAME_AT_LEAST, Picture};
use crate::show::name::{cells, widest};

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
    /// Whether there are percentages.
    pub(super) percent: bool,
    /// How much the tree and the name may take at most.
    pub(super) room: usize,
}

/// A blank before the bar, and ` 100%` after it.
const AROUND_BAR: usize = 6;
/// With fewer cells, each would be more than a tenth of the whole.
const LEAST_BAR: usize = 10;
/// A blank and `100%`.
pub(super) const PERCENT: usize = 5;
/// A branch, a blank, and a name that can hardly be recognized.
pub(super) const LEAST_ROOM: usize = 4 + NAME_AT_LEAST;

impl Picture<'_> {
    /// The widths for the lines from `first` on. Beside bars, names take up to 45% of the width, and paths all that
    /// short bars leave. If that leaves too little for bars, there are only percentages; and if there is no room for
    /// those, only names.
    pub(super) fn columns(&self, first: usize) -> Columns {
        let figures = self.lines[first..].iter().map(|line| &line.figures);
        let size = widest(figures).min(self.options.width);
        let room = self.options.width.saturating_sub(size + 2);
        let has_bars = self.options.bars != Bars::None;
        if self.options.screen_reader {
            let deepest = (first..self.lines.len()).map(|i| self.level(i)).max().unwrap_or(0);
            let numbers = deepest.to_string().len() + 1 + size;
            let percent = has_bars && numbers + PERCENT <= self.options.width;
            let level = numbers <= self.options.width;
            return Columns { level, ..self.without_bars(first, size, room, percent) };
        }
        if !has_bars {
            return self.without_bars(first, size, room, false);
        }
        let narrow = match self.has_paths() {
            true => (room + 1).saturating_sub(LEAST_BAR + AROUND_BAR),
            false => room.min(self.options.width.saturating_mul(45) / 100),
        };
        let beside_bar = self.without_bars(first, size, narrow, true);
        let bar = (room + 1).saturating_sub(beside_bar.name + AROUND_BAR);
        match (room + 1).saturating_sub(PERCENT) {
            _ if bar >= LEAST_BAR => Columns { bar, ..beside_bar },
            beside if beside >= LEAST_ROOM => self.without_bars(first, size, beside, true),
            _ => self.without_bars(first, size, room, false),
        }
    }

    /// The widths for the lines from `first` on, with sizes of `size` cells and names that take up to `room`.
    fn without_bars(&self, first: usize, size: usize, room: usize, percent: bool) -> Columns {
        let names = (first..self.lines.len()).map(|i| {
            let tree = if self.options.screen_reader { 0 } else { self.tree_width(i, room) + 1 };
            tree + cells(&self.name(i)) + cells(&self.lines[i].aside)
        });
        let name = names.max().unwrap_or(0).min(room);
        Columns { size, name, room, percent, ..Columns::default() }
    }
}
