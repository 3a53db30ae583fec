//! A line's share of the whole, as a percentage and as a bar.

use super::columns::Columns;
use super::{Bars, Picture};
use crate::render::lines::Line;
use crate::render::percent::percent;
use crate::tree::Shape;

impl Picture<'_> {
    pub(super) fn percent(&self, i: usize) -> String {
        percent(self.lines[i].totals.weight, self.lines[0].totals.weight)
    }

    /// The bar: the node's own share is solid, and the shares of its ancestors behind it are shaded.
    pub(super) fn bar(&self, i: usize, columns: &Columns) -> String {
        const SHADES: [&str; 5] = ["█", "▓", "▒", "░", " "];
        let (width, top) = (columns.bar, usize::from(self.options.skip_total));
        let own = SHADES[0].repeat(self.share(i, width));
        let mut pieces = vec![self.paint(&own, |colors| colors.direction(self.notes[i].direction))];
        let mut drawn = self.share(i, width);
        let mut longer = columns.longer[i];
        while let Some(above) = longer {
            let share = self.share(above, width);
            let below = (self.lines[above].depth + 1).saturating_sub(top);
            let shade = SHADES[5 - below.clamp(1, 4)];
            pieces.push(shade.repeat(share.saturating_sub(drawn)));
            drawn = share;
            longer = columns.longer[above];
        }
        pieces.push(" ".repeat(width.saturating_sub(drawn)));
        if self.options.bars == Bars::Right {
            pieces.reverse();
        }
        pieces.concat()
    }

    /// For each line, the nearest ancestor with a longer bar, if there is one; bars have at most `width` cells. So a
    /// bar is drawn in as many steps as it has cells, however deep the line is.
    pub(super) fn longer(&self, width: usize) -> Vec<Option<usize>> {
        let mut longer: Vec<Option<usize>> = Vec::with_capacity(self.lines.len());
        for (i, line) in self.lines.iter().enumerate() {
            let share = self.share(i, width);
            let mut above = line.parent;
            while let Some(at) = above.filter(|at| self.share(*at, width) <= share) {
                above = longer[at];
            }
            longer.push(above);
        }
        longer
    }

    /// How many cells a node's own share takes: at least one if its weight is not 0.
    fn share(&self, i: usize, width: usize) -> usize {
        let weight = self.lines[i].totals.weight;
        if weight == 0 || !self.has_bar(i) {
            return 0;
        }
        let cells = u128::from(weight) * width as u128 / u128::from(self.scale.max(1));
        // In a forged snapshot, it may be far more than the whole.
        (cells + 1).min(width as u128) as usize
    }

    /// Whether the line has a bar. In a list, the root and the rest have none, because the scale is the largest file.
    fn has_bar(&self, i: usize) -> bool {
        self.root.shape() != Shape::List || i > 0 && !self.lines[i].is_rest
    }
}

/// The size of a full bar: the whole, or in a list the largest file, because no file may be more than a cell of the
/// whole.
pub(super) fn scale(lines: &[Line<'_>], shape: Shape) -> u64 {
    let is_on_scale = |(i, line): &(usize, &Line<'_>)| match shape {
        Shape::List => *i > 0 && !line.is_rest,
        _ => *i == 0,
    };
    let weights = lines.iter().enumerate().filter(is_on_scale).map(|(_, line)| line.totals.weight);
    weights.max().unwrap_or(0)
}
