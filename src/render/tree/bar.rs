//! What share a line has of the whole: as a percentage, and as a bar.

use super::{Bars, Picture};
use crate::render::lines::Line;
use crate::tree::Shape;

impl Picture<'_> {
    pub(super) fn percent(&self, i: usize) -> String {
        percent(self.lines[i].totals.size, self.lines[0].totals.size)
    }

    /// The bar: a node's own share solid, and behind it the shares of those above it, in shades.
    pub(super) fn bar(&self, i: usize, width: usize) -> String {
        const SHADES: [&str; 5] = ["█", "▓", "▒", "░", " "];
        let own = SHADES[0].repeat(self.share(i, width));
        let mut pieces = vec![self.paint(&own, |colors| colors.direction(self.notes[i].direction))];
        let mut drawn = self.share(i, width);
        let mut at = i;
        while let (true, Some(parent)) = (drawn < width, self.lines[at].parent) {
            let share = self.share(parent, width);
            let shade = SHADES[5 - self.level(at).clamp(1, 4)];
            pieces.push(shade.repeat(share.saturating_sub(drawn)));
            drawn = drawn.max(share);
            at = parent;
        }
        pieces.push(" ".repeat(width.saturating_sub(drawn)));
        if self.options.bars == Bars::Right {
            pieces.reverse();
        }
        pieces.concat()
    }

    /// How many of a bar's cells a node's own size takes: at least one, if it has any.
    fn share(&self, i: usize, width: usize) -> usize {
        let size = self.lines[i].totals.size;
        if size == 0 || !self.has_bar(i) {
            return 0;
        }
        let cells = u128::from(size) * width as u128 / u128::from(self.scale.max(1));
        // In a snapshot that somebody made, it may be far more than the whole.
        (cells + 1).min(width as u128) as usize
    }

    /// Whether it is on the scale of the bars: in a list, that is no scale for the whole.
    fn has_bar(&self, i: usize) -> bool {
        self.root.shape() != Shape::List || i > 0 && !self.lines[i].is_rest
    }
}

/// What share of the whole something has, as text.
pub(in crate::render) fn percent(size: u64, whole: u64) -> String {
    if size == 0 || whole == 0 {
        return "0%".to_owned();
    }
    // In a snapshot that somebody made, a part may be larger than the whole.
    let percent = size as f64 / whole as f64 * 100.0;
    match format!("{:.0}%", percent.min(100.0)) {
        percent if percent == "0%" => "<1%".to_owned(),
        percent => percent,
    }
}

/// What a full bar stands for: the whole, or in a list, where nothing may be more than a cell of that, the
/// largest in it.
pub(super) fn scale(lines: &[Line<'_>], shape: Shape) -> u64 {
    let is_on_scale = |(i, line): &(usize, &Line<'_>)| match shape {
        Shape::List => *i > 0 && !line.is_rest,
        _ => *i == 0,
    };
    let sizes = lines.iter().enumerate().filter(is_on_scale).map(|(_, line)| line.totals.size);
    sizes.max().unwrap_or(0)
}
