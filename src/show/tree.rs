//! The tree: size, branches, name, bar and percentage of each line. `lines` chooses the lines, in which a directory may
//! share one with the entry that makes up nearly all of it; `columns` says how wide each part is.
//!
//! Lines are laid out from the root down, largest first, and printed in that order or in reverse. Nothing recurses,
//! and a deep line costs no more than its width allows.

mod columns;

use std::io::{self, Write};
use std::iter;

use columns::{Columns, PERCENT};
use nu_ansi_term::Style;

use super::colors::Colors;
use super::diff;
use super::lines::{self, Line, Outer, choose, join, lay_out};
use super::name::{Hyperlinks, cells, cut, right_aligned, shorten};
use super::palette::{Charset, Palette};
use super::partial::Partial;
use super::size::Format;
use super::time::TimeFormat;
use crate::base::escape::escape;
use crate::base::path;
use crate::tree::tally::Limits;
use crate::tree::{Order, Shape, Totals, Tree};

pub(super) use columns::Rest;

/// How a picture is drawn.
#[derive(Clone, Debug, Default)]
pub struct PictureOptions {
    /// How many cells a line may take at most.
    pub width: usize,
    /// How bytes are written; once it is known what sizes measure, how these are.
    pub format: Format,
    /// How to write times, if the lines are chosen by them. Then sizes stand beside times.
    pub times: Option<TimeFormat>,
    /// Where to draw the bars.
    pub bars: Bars,
    /// How dates are written.
    pub dates: TimeFormat,
    /// The order of siblings, beginning next to their directory.
    pub order: Order,
    /// The root on top and the largest first, rather than last.
    pub is_root_first: bool,
    /// How many lines there are at most below the root's, where lines are joined; and whether each of several roots has
    /// one.
    pub limits: Limits,
    /// The key of the groups, if there are groups.
    pub by: String,
    /// Paths rather than base names.
    pub full_paths: bool,
    /// Whether the paths of a list lose their middle where there is no room.
    pub shortens_paths: bool,
    /// Without the root's line.
    pub skip_total: bool,
    /// Whether only the root's line was asked for. Then no line sums up the rest.
    pub root_alone: bool,
    /// Whether all lines are directories, or all are files. Then entries without a line may be larger.
    pub one_kind: bool,
    /// Whether a directory without a size of its own does not count. If not, its own size is unknown.
    pub knows_own: bool,
    /// Whether lines about file systems stand alone, without a tree above.
    pub is_of_space: bool,
    /// Words in columns rather than a drawing: name, depth, size, percentage.
    pub screen_reader: bool,
    /// Bars in grey, where there are colours.
    pub dim: bool,
    /// What can be drawn.
    pub charset: Charset,
    /// Where names lead, if to anywhere.
    pub links: Option<Hyperlinks>,
    /// Colours, if any.
    pub colors: Option<Colors>,
    /// What was not read, to mark figures that lack it.
    pub partial: Partial,
}

impl PictureOptions {
    /// Whether a chain of directories shares a line. Who asks for paths, or for words, gets a line for each entry.
    fn joins(&self) -> bool {
        !self.full_paths && !self.screen_reader
    }

    /// `text` in the style that the palette has for it, if there are colours.
    pub(super) fn paint(&self, text: &str, style: impl Fn(Palette) -> Style) -> String {
        match &self.colors {
            Some(colors) if !text.is_empty() => style(colors.palette).paint(text).to_string(),
            _ => text.to_owned(),
        }
    }
}

/// Where the bars are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bars {
    /// Growing from the names to the right.
    #[default]
    Left,
    /// Growing from the percentages to the left.
    Right,
    /// Neither bars nor percentages.
    None,
}

/// Draws `tree`.
///
/// # Errors
/// The writer's.
pub fn draw(out: &mut dyn Write, tree: &Tree, options: &PictureOptions) -> io::Result<()> {
    with_picture(tree, options, |picture| picture.write(out))
}

/// Calls `then` with the picture of `tree`.
pub(super) fn with_picture<R>(
    tree: &Tree,
    options: &PictureOptions,
    then: impl FnOnce(&Picture<'_>) -> R,
) -> R {
    // Names, ages and groups are read from top to bottom, wherever the root is.
    let is_read = matches!(options.order, Order::Name | Order::Listed(_));
    let is_backwards = is_read && !options.is_root_first;
    let mut lines = lay_out(tree, options.order, is_backwards);
    for line in &mut lines {
        line.aside = options.charset.text(aside(line, tree.shape(), &options.format));
    }
    let may_join = |above: &Line<'_>, line: &Line<'_>| {
        let is_near = above.is_partial == line.is_partial && is_near(above, line, options);
        above.aside == line.aside && (above.figures == line.figures || is_near)
    };
    if options.joins() && tree.shape() == Shape::Directory {
        options.partial.mark_lines(&mut lines, tree);
        columns::write(&mut lines, tree, options);
        let by_time = options.times.is_some();
        lines = choose(lines, &options.limits, by_time, tree.root_depth(), may_join);
    }
    let rest = Rest::of(&lines, tree, options);
    if let Some(rest) = &rest {
        lines.push(Line {
            parent: Some(0),
            depth: 1,
            indent: 1,
            name: rest.name.as_bytes(),
            totals: rest.totals,
            is_rest: true,
            ..Line::default()
        });
    }
    options.partial.mark_lines(&mut lines, tree);
    if let (Some(rest), Some(line)) = (&rest, lines.last_mut()) {
        line.is_partial |= rest.is_at_least;
    }
    let headings = columns::write(&mut lines, tree, options);
    if options.joins() {
        lines = join(lines, tree.root_depth(), may_join);
    }
    let outer = Outer::of(&lines, options.width);
    then(&Picture { lines, headings, outer, root: tree, options })
}

/// The remark after a name: what is known of the node; how it changed, or how much of it has links elsewhere, if that
/// is a tenth or more.
pub(super) fn aside(line: &Line<'_>, shape: Shape, format: &Format) -> String {
    let Totals { size, shared, .. } = line.totals;
    let aside = match &line.change {
        Some(change) => diff::aside(change),
        None if shared == 0 || shared.saturating_mul(10) < size => String::new(),
        // An image shares layers.
        None if shape == Shape::Groups => format!(" ({} shared)", format.write(shared)),
        None => format!(" ({} hard-linked elsewhere)", format.write(shared)),
    };
    if line.note.is_empty() { aside } else { format!(" ({}){aside}", line.note) }
}

/// Whether a directory's size is that of its only child, but for less than a hundredth. What sums up the rest counts
/// it.
fn is_near(directory: &Line<'_>, child: &Line<'_>, options: &PictureOptions) -> bool {
    let [most, weight] = [directory, child].map(|line| u128::from(line.totals.weight));
    let is_size =
        options.times.is_none() && options.order != Order::Count && child.totals.frees.is_none();
    let is_rounded = matches!(options.format, Format::Binary | Format::Decimal);
    is_size && is_rounded && weight * 100 > most * 99
}

/// A tree, laid out in lines.
pub(super) struct Picture<'a> {
    pub(super) lines: Vec<Line<'a>>,
    /// The headings of the columns of figures.
    headings: String,
    /// Where long paths are cut.
    outer: Outer,
    root: &'a Tree,
    options: &'a PictureOptions,
}

impl Picture<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let options = self.options;
        let first = usize::from(options.skip_total);
        let columns = self.columns(first);
        out.write_all(self.headings(&columns).as_bytes())?;
        let mut numbers = first..self.lines.len();
        while let Some(i) = if options.is_root_first { numbers.next() } else { numbers.next_back() }
        {
            let line = match options.screen_reader {
                true => self.words(i, &columns),
                false => self.line(i, &columns),
            };
            writeln!(out, "{}", options.charset.drawing(line.trim_end_matches(' ')))?;
        }
        Ok(())
    }

    /// The headings of the columns, if they need any.
    fn headings(&self, columns: &Columns) -> String {
        let (options, figures) = (self.options, &self.headings);
        let mut headings = match (options.screen_reader, self.has_headings()) {
            (true, _) => {
                let figures: Vec<_> = figures.split_whitespace().collect();
                let share = if columns.percent { ", share" } else { "" };
                format!("name, level, {}{share}\n", figures.join(", "))
            }
            (false, true) => format!("{figures:>0$}{1:7}{2}\n", columns.size, "", options.by),
            (false, false) => String::new(),
        };
        if columns::all_is_freed(&self.lines) {
            headings += "everything shown frees its full size\n";
        }
        let lines =
            headings.lines().map(|line| options.charset.cut(line.trim_end(), options.width));
        lines.map(|line| options.paint(&line, Palette::aside) + "\n").collect()
    }

    fn line(&self, i: usize, columns: &Columns) -> String {
        let tree = self.tree(i, columns.room);
        let room = columns.name.saturating_sub(cells(&tree) + 1);
        let (name, padding, over) = self.name_in(i, room);
        let bar = match columns.bar {
            0 => String::new(),
            width if over == 0 => format!(" {}", self.bar(i, width)),
            // The path takes the place of the bar.
            width => " ".repeat((width + 1).saturating_sub(over)),
        };
        let (figures, percent) = (self.painted_figures(i, columns), self.percent(i, columns));
        let tree = self.options.paint(&tree, Palette::aside);
        format!("{figures} {tree} {name}{padding}{bar}{percent}")
    }

    /// A line for screen readers: words and no drawing.
    fn words(&self, i: usize, columns: &Columns) -> String {
        let level = if columns.level { format!("{} ", self.level(i)) } else { String::new() };
        let (figures, percent) = (self.painted_figures(i, columns), self.percent(i, columns));
        // The percentage may be painted.
        let percentage = if columns.percent { PERCENT } else { 0 };
        let others = cells(&level) + columns.size + percentage + 1;
        match columns.name.min(self.options.width.saturating_sub(others)) {
            0 => format!("{level}{figures}{percent}"),
            room => {
                let (name, padding, _) = self.name_in(i, room);
                format!("{name}{padding} {level}{figures}{percent}")
            }
        }
    }

    /// The name and the remark after it, with colours; the blanks that fill `room` cells; and how many cells of a path
    /// are over. The remark is left out if there would be hardly any room for the name; and if it is a figure, if there would not
    /// be room for all of it.
    fn name_in(&self, i: usize, room: usize) -> (String, String, usize) {
        let (line, name) = (&self.lines[i], self.name(i));
        let mut aside = line.aside.clone();
        let is_figure = line.note.is_empty();
        let least = if is_figure { usize::MAX } else { NAME_AT_LEAST };
        let most = room.saturating_sub(least.min(cells(&name)));
        if !self.has_paths() && cells(&aside) > most {
            aside = if line.note.is_empty() { String::new() } else { shorten(&aside, most) };
        }
        let whole = self.has_paths() && line.has_path() && name.len() <= path::LONGEST;
        let name = match room.saturating_sub(cells(&aside)) {
            _ if whole => name,
            // Without its middle, a count would be another one.
            room if line.is_rest => cut(&name, room),
            room => shorten(&name, room),
        };
        let used = cells(&name) + cells(&aside);
        let (padding, over) = (" ".repeat(room.saturating_sub(used)), used.saturating_sub(room));
        let name = match &self.options.colors {
            _ if name.is_empty() => name,
            None => name,
            Some(colors) if line.is_rest => colors.palette.aside().paint(name).to_string(),
            Some(colors) => colors.name(line.name, line.mode).paint(name).to_string(),
        };
        (self.linked(i, name) + &self.options.paint(&aside, Palette::aside), padding, over)
    }

    /// Whether names are paths, which are shown whole.
    fn has_paths(&self) -> bool {
        self.options.full_paths || self.root.shape() == Shape::List && !self.options.shortens_paths
    }

    /// Levels below the topmost line drawn.
    pub(super) fn level(&self, i: usize) -> usize {
        self.lines[i].indent.saturating_sub(usize::from(self.options.skip_total))
    }

    fn painted_figures(&self, i: usize, columns: &Columns) -> String {
        let line = &self.lines[i];
        let figures = right_aligned(&cut(&line.figures, columns.size), columns.size);
        let whole = self.lines[0].totals.weight;
        self.options.paint(&figures, |palette| match line.is_rest {
            true => palette.aside(),
            false => palette.share(line.totals.weight, whole),
        })
    }

    fn path(&self, i: usize) -> Vec<u8> {
        lines::path(&self.lines, i, self.root, &self.outer)
    }

    /// `name` with a link to the entry, if that is one and links are wanted.
    fn linked(&self, i: usize, name: String) -> String {
        let line = &self.lines[i];
        let is_entry = self.root.shape() != Shape::Groups
            && line.depth >= self.root.root_depth()
            && line.has_path();
        match &self.options.links {
            Some(links) if is_entry && !line.is_rest && !name.is_empty() => {
                links.on(name, &self.path(i))
            }
            _ => name,
        }
    }

    /// The name of a line, escaped; its path, if paths are wanted.
    pub(super) fn name(&self, i: usize) -> String {
        let line = &self.lines[i];
        let name = match self.options.full_paths && !line.is_rest {
            true => escape(&self.path(i)),
            false => escape(&path::join_all(line.chain.iter().copied().chain([line.name]))),
        };
        self.options.charset.text(name)
    }

    /// How many of `room` cells the tree takes before a name.
    fn tree_width(&self, i: usize, room: usize) -> usize {
        (3 + 2 * self.level(i)).min(room.saturating_sub(NAME_AT_LEAST))
    }

    /// The tree before a name: a blank or a stroke for each level, and the branch. If there is no room for all
    /// levels, those nearest to the root are left out.
    pub(super) fn tree(&self, i: usize, room: usize) -> String {
        let width = self.tree_width(i, room);
        let line = &self.lines[i];
        if line.is_rest {
            // Without a branch, nobody takes it for an entry of that name.
            return " ".repeat(width);
        }
        let branch = match (self.options.is_root_first, line.is_last, line.has_children) {
            (false, true, true) => "┌─┴",
            (false, true, false) => "┌──",
            (false, false, true) => "├─┴",
            (true, true, true) => "└─┬",
            (true, true, false) => "└──",
            (true, false, true) => "├─┬",
            (_, false, false) => "├──",
        };
        let Some(levels) = width.checked_sub(3) else {
            return branch.chars().take(width).collect();
        };
        let above = iter::successors(line.parent, |above| self.lines[*above].parent);
        let strokes: Vec<_> = above
            .take(self.level(i).min(levels.div_ceil(2)))
            .map(|above| if self.lines[above].is_last { "  " } else { "│ " })
            .collect();
        let drawn: String = strokes.into_iter().rev().collect();
        let skipped = drawn.chars().count().saturating_sub(levels);
        drawn.chars().skip(skipped).chain(branch.chars()).collect()
    }
}

/// However deep a node is, its name has this much room, in cells.
const NAME_AT_LEAST: usize = 8;
