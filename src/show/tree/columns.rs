//! The columns of the tree: sizes, names, bars and percentages, how wide each is; and the last line, for the rest.

use std::mem;

use nu_ansi_term::Style;

use super::{Bars, NAME_AT_LEAST, Picture, PictureOptions};
use crate::show::lines::Line;
use crate::show::name::{cells, right_aligned, widest};
use crate::show::palette::{Palette, bar};
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
    /// The widths for the lines from `first` on. Beside bars, names take what bars of a quarter of the width leave, and at
    /// least 45% of the width; paths, all that short bars leave. If that leaves too little for bars, there are only
    /// percentages; and if there is no room for those, only names.
    pub(super) fn columns(&self, first: usize) -> Columns {
        let figures = self.lines[first..].iter().map(|line| &line.figures);
        let headings = Some(&self.headings).filter(|_| self.has_headings());
        let size = widest(figures.chain(headings)).min(self.options.width);
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
        let width = self.options.width;
        let beside = |bar: usize| (room + 1).saturating_sub(bar + AROUND_BAR);
        let narrow = match self.has_paths() {
            true => beside(LEAST_BAR),
            false => {
                room.min((width.saturating_mul(45) / 100).max(beside(LEAST_BAR.max(width / 4))))
            }
        };
        let beside_bar = self.without_bars(first, size, narrow, true);
        let bar = (room + 1).saturating_sub(beside_bar.name + AROUND_BAR);
        match (room + 1).saturating_sub(PERCENT) {
            _ if bar >= LEAST_BAR => Columns { bar, ..beside_bar },
            beside if beside >= LEAST_ROOM => self.without_bars(first, size, beside, true),
            _ => self.without_bars(first, size, room, false),
        }
    }

    /// Whether a line above the others names the columns: where these are not only sizes and names.
    pub(super) fn has_headings(&self) -> bool {
        let PictureOptions { times, order, .. } = self.options;
        let is_grouped = self.root.shape() == Shape::Groups;
        times.is_some() || *order == Order::Count || is_grouped
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

/// Writes the figures of each line. Returns their headings.
pub(super) fn write(lines: &mut [Line<'_>], tree: &Tree, options: &PictureOptions) -> String {
    let format = &options.format;
    let mut headings = if options.times.is_some() { "newest" } else { "size" }.to_owned();
    lines.iter_mut().for_each(|line| line.figures = figure(line, options));
    // Times do not add up.
    if options.times.is_none() {
        for line in &mut *lines {
            line.figures = partial::mark(mem::take(&mut line.figures), line.is_partial);
        }
    }
    if options.order == Order::Count {
        let entries = |line: &Line<'_>| Format::Count.write(line.totals.entries);
        add_column(lines, options.width, (&mut headings, "entries"), entries);
    }
    if options.times.is_some() && tree.shape() != Shape::Groups {
        add_column(lines, options.width, (&mut headings, "size"), |line| match line.is_rest {
            true => String::new(),
            false => partial::mark(format.write(line.totals.size), line.is_partial),
        });
    }
    if lines.iter().any(frees_less) {
        add_column(lines, options.width, (&mut headings, ""), |line| match line.totals.frees {
            Some(frees) if frees_less(line) => {
                format!("frees {}", partial::freed(frees, format, line.is_partial))
            }
            _ => String::new(),
        });
    }
    headings
}

/// Whether deleting each entry frees its size, as far as is known.
pub(super) fn all_is_freed(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|line| line.totals.frees.is_some()) && !lines.iter().any(frees_less)
}

/// Whether deleting the entry of a line does not free its size, as far as is known.
fn frees_less(line: &Line<'_>) -> bool {
    let size = line.totals.size;
    line.totals.frees.is_some_and(|frees| (frees.least, frees.most) != (size, size))
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
/// names. Its heading comes after the other `headings`.
fn add_column(
    lines: &mut [Line<'_>],
    width: usize,
    (headings, heading): (&mut String, &str),
    text: impl Fn(&Line<'_>) -> String,
) {
    let texts: Vec<_> = lines.iter().map(text).collect();
    let (before, own) = (widest(lines.iter().map(|line| &line.figures)), widest(&texts));
    if before + own + 3 + LEAST_ROOM > width {
        return;
    }
    *headings = format!("{headings:>before$} {heading:>own$}");
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

    /// The bar. What sums up the rest has none, because it is no entry.
    pub(super) fn bar(&self, i: usize, width: usize) -> String {
        let line = &self.lines[i];
        let part = if line.is_rest { 0 } else { line.totals.weight };
        let mut own = bar(part, self.lines[0].totals.weight, width, self.options.charset);
        // Each character of a bar is one cell.
        let blanks = " ".repeat(width.saturating_sub(own.chars().count()));
        if self.options.bars == Bars::Right {
            own = own.chars().rev().map(mirrored).collect();
            return blanks + &self.options.paint(&own, |palette| self.bar_style(i, palette));
        }
        self.options.paint(&own, |palette| self.bar_style(i, palette)) + &blanks
    }

    fn bar_style(&self, i: usize, palette: Palette) -> Style {
        let line = &self.lines[i];
        match self.options.dim {
            true => palette.quiet(),
            false => palette.bar(line.totals.weight, self.lines[0].totals.weight),
        }
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

// The last line, which sums up everything without a line of its own.
//
// A line for a directory without lines for its content stands for the content. All other inodes below the root that
// have no line are counted here. Their size is the root's size less the sizes of all lines without lines below them;
// it includes the blocks of the directories whose content has lines. So this line and the lines without lines below
// them add up to the root. The walk does not have to remember anything for it.
//
// If two lines may share inodes, their sum may be too large, and the rest is a lower bound: at most a directory's own size
// is subtracted for the lines below it. So it is if the root's size is one, because it is larger than 16 EiB.

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
        let lines: Vec<_> = lines.into_iter().collect();
        let root = lines.first()?;
        if lines.len() == 1 && options.root_alone {
            return None;
        }
        // The size and the entries that the lines below each line cover. A line comes after the one that it is below.
        let mut below = vec![(0_u64, 0_u64); lines.len()];
        let mut sharing = 0;
        for (i, line) in lines.iter().enumerate().skip(1).rev() {
            let Totals { weight, entries, shared, .. } = line.totals;
            let covered = if line.has_children {
                let own = u64::from(is_inode(line, tree, options));
                (weight.min(below[i].0), entries.min(below[i].1.saturating_add(own)))
            } else {
                sharing += usize::from(shared > 0);
                (weight, entries)
            };
            let above = &mut below[line.parent.unwrap_or(0)];
            *above = (above.0.saturating_add(covered.0), above.1.saturating_add(covered.1));
        }
        let Totals { weight, entries, .. } = root.totals;
        let is_bound = weight == u64::MAX;
        let own = u64::from(is_inode(root, tree, options));
        let weight = weight.saturating_sub(below[0].0);
        let entries = entries.saturating_sub(below[0].1.saturating_add(own));
        let count = Format::Count.write(entries);
        let is_time = options.times.is_some();
        let noun = if entries == 1 { "entry" } else { "entries" };
        let name = match tree.shape() {
            _ if options.one_kind => format!("{count} other {noun}"),
            Shape::Groups => format!("{count} {noun} in smaller groups"),
            _ if is_time => format!("{count} older {noun}"),
            _ => format!("{count} smaller {noun}"),
        };
        // In a list of files, directories are among the others, and have no size there.
        let is_worth_a_line = entries > 0 && (weight > 0 || !options.one_kind || is_time);
        let weight = if is_time { 0 } else { weight };
        let totals = Totals { size: weight, weight, entries, ..Totals::default() };
        let is_at_least = is_bound || sharing > 1;
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
