//! How much of the whole a line is, as a percentage and as a bar.

use nu_ansi_term::Style;

use super::columns::Columns;
use super::{Bars, Picture};
use crate::show::lines::Line;
use crate::show::palette::{Charset, Palette, bar};
use crate::show::percent::percent;
use crate::tree::Shape;

impl Picture<'_> {
    /// The percentage after a blank, aligned right, if there are percentages.
    pub(super) fn percent(&self, i: usize, columns: &Columns) -> String {
        if !columns.percent {
            return String::new();
        }
        let text = percent(self.lines[i].totals.weight, self.lines[0].totals.weight);
        let style = if self.lines[i].is_rest { Palette::aside } else { |_| Style::new() };
        self.options.paint(&format!(" {text:>4}"), style)
    }

    /// The bar: the node's own part is solid, and behind it is the extent of its parent. That of the root is left out
    /// where it would not be a quiet background.
    pub(super) fn bar(&self, i: usize, width: usize) -> String {
        let (charset, is_mirrored) = (self.options.charset, self.options.bars == Bars::Right);
        let length = |i: usize| match self.has_bar(i) {
            true => bar(self.lines[i].totals.weight, self.scale, width, charset),
            false => String::new(),
        };
        let parent = self.lines[i].parent;
        let track =
            self.options.colors.as_ref().map_or(Style::new(), |colors| colors.palette.track());
        let behind = match (track.background, charset) {
            (Some(_), _) => " ",
            (None, Charset::Unicode | Charset::Console) => "░",
            (None, Charset::Ascii) => ".",
        };
        let extent = match parent.filter(|parent| *parent > 0 || track.background.is_some()) {
            // Each character of a bar is one cell.
            Some(parent) => length(parent).chars().count(),
            None => 0,
        };
        let mut own = length(i);
        let own_width = own.chars().count();
        let rest = extent.saturating_sub(own_width);
        let blanks = width.saturating_sub(own_width + rest);
        if is_mirrored {
            own = own.chars().rev().map(mirrored).collect();
        }
        let background = track.background.filter(|_| extent > 0);
        let own =
            self.options.paint(&own, |palette| Style { background, ..self.bar_style(i, palette) });
        let rest = self.options.paint(&behind.repeat(rest), |_| track);
        let mut pieces = [own, rest, " ".repeat(blanks)];
        if is_mirrored {
            pieces.reverse();
        }
        pieces.concat()
    }

    fn bar_style(&self, i: usize, palette: Palette) -> Style {
        let line = &self.lines[i];
        match line.direction() {
            None if self.options.dim || line.is_rest => palette.quiet(),
            None => palette.bar(line.totals.weight, self.around(i)),
            direction => palette.change(direction),
        }
    }

    /// The weight of the parent; of the root, its own.
    pub(super) fn around(&self, i: usize) -> u64 {
        self.lines[self.lines[i].parent.unwrap_or(i)].totals.weight
    }

    /// Whether the line has a bar. In a list, the root and the rest have none, because the scale is the largest file.
    fn has_bar(&self, i: usize) -> bool {
        self.root.shape() != Shape::List || i > 0 && !self.lines[i].is_rest
    }
}

/// The nearest to `eighths` that fills a cell from the right.
fn mirrored(eighths: char) -> char {
    match eighths {
        '▏' => '▕',
        '▋'..='▎' => '▐',
        '▉' | '▊' => '█',
        whole => whole,
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
