//! The columns of the tree: sizes, names, bars and percentages, how wide each is; and the last line, for the rest.

use std::mem;

use nu_ansi_term::Style;

use super::{Bars, NAME_AT_LEAST, Picture, PictureOptions};
use crate::show::lines::Line;
use crate::show::name::{cells, right_aligned, widest};
use crate::show::palette::{Charset, Palette, bar};
use crate::show::partial;
use crate::show::size::{Format, percent};
use crate::tree::{Order, Shape, Totals, Tree};

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

// The figures before the names: a size or a time, and more columns if they are asked for and there is room.

/// Writes the figures of each line. Returns their headings, of a difference.
pub(super) fn write(lines: &mut [Line<'_>], tree: &Tree, options: &PictureOptions) -> String {
    let format = &options.format;
    let headings = String::new();
    lines.iter_mut().for_each(|line| line.figures = figure(line, options));
    // Times do not add up.
    if options.times.is_none() {
        for line in &mut *lines {
            line.figures = partial::mark(mem::take(&mut line.figures), line.is_partial);
        }
    }
    if options.order == Order::Count {
        add_column(lines, options.width, |line| Format::Count.write(line.totals.entries));
    }
    if options.times.is_some() && tree.shape() != Shape::Groups {
        add_column(lines, options.width, |line| match line.is_rest {
            true => String::new(),
            false => partial::mark(format.write(line.totals.size), line.is_partial),
        });
    }
    if lines.iter().any(|line| line.totals.frees.is_some()) {
        add_column(lines, options.width, |line| match line.totals.frees {
            Some(frees) => format!("frees {}", partial::freed(frees, format, line.is_partial)),
            None => String::new(),
        });
    }
    headings
}

/// The size or the time of a line. A time cannot sum up the rest.
fn figure(line: &Line<'_>, options: &PictureOptions) -> String {
    match (&options.times, line.totals.newest) {
        (None, _) => options.format.write(line.totals.size),
        (Some(_), _) if line.is_rest => String::new(),
        (Some(times), Some(newest)) => times.write(newest),
        (Some(_), None) => "-".to_owned(),
    }
}

/// Adds a column with what `text` says of each line, aligned right, if lines of `width` cells then still have room for
/// names.
fn add_column(lines: &mut [Line<'_>], width: usize, text: impl Fn(&Line<'_>) -> String) {
    let texts: Vec<_> = lines.iter().map(text).collect();
    let (before, own) = (widest(lines.iter().map(|line| &line.figures)), widest(&texts));
    if before + own + 3 + LEAST_ROOM > width {
        return;
    }
    for (line, text) in lines.iter_mut().zip(texts) {
        line.figures =
            format!("{} {}", right_aligned(&line.figures, before), right_aligned(&text, own));
    }
}

// How much of the whole a line is, as a percentage and as a bar.

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

// The last line, which sums up everything without a line of its own.
//
// A line for a directory without lines for its content stands for the content. All other inodes below the root that
// have no line are counted here. Their size is the root's size less the sizes of all lines without lines below them;
// it includes the blocks of the directories whose content has lines. So this line and the lines without lines below
// them add up to the root. The walk does not have to remember anything for it.
//
// If lines share inodes, their sum is too large, and the rest is a lower bound. So it is if the root's size is one,
// because it is larger than 16 EiB.

/// The inodes without a line.
pub(in crate::show) struct Rest {
    pub(in crate::show) totals: Totals,
    pub(in crate::show) name: String,
    /// Whether this is a lower bound.
    pub(super) is_at_least: bool,
}

impl Rest {
    /// The inodes that have none of `lines`, if there are any.
    pub(in crate::show) fn of<'l, 'n: 'l>(
        lines: impl IntoIterator<Item = &'l Line<'n>>,
        tree: &Tree,
        options: &PictureOptions,
    ) -> Option<Self> {
        let mut lines = lines.into_iter().peekable();
        let root = lines.next()?;
        if lines.peek().is_none() && options.root_alone {
            return None;
        }
        let Totals { mut weight, mut entries, .. } = root.totals;
        entries = entries.saturating_sub(is_inode(root, tree, options).into());
        let mut is_at_least = weight == u64::MAX;
        for line in lines {
            if line.has_children {
                entries = entries.saturating_sub(is_inode(line, tree, options).into());
            } else {
                entries = entries.saturating_sub(line.totals.entries);
                weight = weight.saturating_sub(line.totals.weight);
                is_at_least |= line.totals.shared > 0;
            }
        }
        let count = Format::Count.write(entries);
        let is_time = options.times.is_some();
        let name = match tree.shape() {
            _ if options.one_kind && entries == 1 => "1 other".to_owned(),
            _ if options.one_kind => format!("{count} others"),
            Shape::Groups => format!("{count} in smaller groups"),
            _ if is_time => format!("{count} older"),
            _ => format!("{count} smaller"),
        };
        // In a list of files, directories are among the others, and have no size there.
        let is_worth_a_line = entries > 0 && (weight > 0 || !options.one_kind || is_time);
        let weight = if is_time { 0 } else { weight };
        let totals = Totals { size: weight, weight, entries, ..Totals::default() };
        is_worth_a_line.then_some(Self { totals, name, is_at_least })
    }
}

/// Whether a line is for an inode that counts, and not for a group or for several roots.
fn is_inode(line: &Line<'_>, tree: &Tree, options: &PictureOptions) -> bool {
    match tree.shape() {
        Shape::Groups => false,
        _ if line.parent.is_none() && tree.root().is_total() => false,
        _ => line.has_own || !options.knows_own,
    }
}
