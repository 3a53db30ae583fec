//! How much of the whole a line is, as a percentage and as a bar.

use std::iter;

use nu_ansi_term::Color;

use super::columns::Columns;
use super::{Bars, Picture};
use crate::render::lines::Line;
use crate::render::percent::percent;
use crate::tree::Shape;

impl Picture<'_> {
    /// The percentage after a blank, aligned right, if there are percentages.
    pub(super) fn percent(&self, i: usize, columns: &Columns) -> String {
        match columns.percent {
            true => {
                format!(" {:>4}", percent(self.lines[i].totals.weight, self.lines[0].totals.weight))
            }
            false => String::new(),
        }
    }

    /// The bar: the node's own part is solid, and the parts of its ancestors behind it are shaded.
    pub(super) fn bar(&self, i: usize, columns: &Columns) -> String {
        const SHADES: [&str; 5] = ["█", "▓", "▒", "░", " "];
        let (width, top) = (columns.bar, usize::from(self.options.skip_total));
        let mut drawn = self.length(i, width);
        let own = SHADES[0].repeat(drawn);
        let direction = self.lines[i].direction();
        let mut pieces = vec![self.paint(&own, |palette| palette.change(direction))];
        for above in iter::successors(columns.longer[i], |above| columns.longer[*above]) {
            let length = self.length(above, width);
            let below = (self.lines[above].depth + 1).saturating_sub(top);
            let shade = SHADES[5 - below.clamp(1, 4)];
            pieces.push(shade.repeat(length.saturating_sub(drawn)));
            drawn = length;
        }
        pieces.push(" ".repeat(width.saturating_sub(drawn)));
        if self.options.bars == Bars::Right {
            pieces.reverse();
        }
        match self.options.dim && direction.is_none() {
            true => self.paint(&pieces.concat(), |_| Color::DarkGray.normal()),
            false => pieces.concat(),
        }
    }

    /// For each line, the nearest ancestor with a longer bar, if there is one; bars have at most `width` cells. So a
    /// bar is drawn in as many steps as it has cells, however deep the line is.
    pub(super) fn longer(&self, width: usize) -> Vec<Option<usize>> {
        let mut longer: Vec<Option<usize>> = Vec::with_capacity(self.lines.len());
        for (i, line) in self.lines.iter().enumerate() {
            let length = self.length(i, width);
            let mut above = line.parent;
            while let Some(at) = above.filter(|at| self.length(*at, width) <= length) {
                above = longer[at];
            }
            longer.push(above);
        }
        longer
    }

    /// How many cells a node's own part of the bar takes: at least one if its weight is not 0.
    fn length(&self, i: usize, width: usize) -> usize {
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
    match shape {
        Shape::List => {
            let files = lines.iter().skip(1).filter(|line| !line.is_rest);
            files.map(|line| line.totals.weight).max().unwrap_or(0)
        }
        _ => lines[0].totals.weight,
    }
}
