//! The picture: one line for each node, with size, tree, name, bar and percentage.
//!
//! Lines are laid out from the root down, largest first, and printed in that order or in reverse. Nothing recurses,
//! and a deep line costs no more than its width allows.

mod bar;
mod columns;
mod figures;
mod rest;

use std::io::{self, Write};
use std::iter;

use nu_ansi_term::Style;

use super::colors::{self, Colors};
use super::diff;
use super::lines::{self, Line, Outer, lay_out};
use super::name::{cells, cut, shorten};
use super::partial::Partial;
use super::size::Format;
use super::time::TimeFormat;
use crate::escape::escape;
use crate::tree::{Order, Totals, Tree};
use columns::Columns;
pub(super) use rest::Rest;

/// How a picture is drawn.
#[derive(Clone, Debug, Default)]
pub struct PictureOptions {
    /// How many cells a line may take at most.
    pub width: usize,
    /// How sizes are written.
    pub format: Format,
    /// How to write times, if the lines are chosen by them. Then sizes stand beside times.
    pub times: Option<TimeFormat>,
    /// Where to draw the bars.
    pub bars: Bars,
    /// The order of siblings, beginning next to their directory.
    pub order: Order,
    /// The root on top and the largest first, rather than last.
    pub is_root_first: bool,
    /// Paths rather than base names.
    pub full_paths: bool,
    /// Without the root's line.
    pub skip_total: bool,
    /// Whether only the root's line was asked for. Then no line sums up the rest.
    pub root_alone: bool,
    /// Whether all lines are directories, or all are files. Then entries without a line may be larger.
    pub one_kind: bool,
    /// Whether a directory without a size of its own does not count. If not, its own size is unknown.
    pub knows_own: bool,
    /// Words in columns rather than a drawing: name, depth, size, percentage.
    pub screen_reader: bool,
    /// Bars in grey, where there are colours.
    pub dim: bool,
    /// Colours, if any.
    pub colors: Option<Colors>,
    /// What was not read, to mark figures that lack it.
    pub partial: Partial,
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

/// Draws `tree`. If that is a difference, it shows how each node changed.
///
/// # Errors
/// The writer's.
pub fn draw(out: &mut impl Write, tree: &Tree, options: &PictureOptions) -> io::Result<()> {
    // Names, ages and groups are read from top to bottom, wherever the root is.
    let is_read = matches!(options.order, Order::Name | Order::Listed(_));
    let is_backwards = is_read && !options.is_root_first;
    let mut lines = lay_out(tree, options.order, is_backwards);
    let mut asides: Vec<_> = lines.iter().map(|line| aside(line, &options.format)).collect();
    let rest = Rest::of(&lines, tree, options);
    if let Some(rest) = &rest {
        asides.push(if rest.is_at_least { " (at least)" } else { "" }.to_owned());
        lines.push(Line::of_rest(rest.name.as_bytes(), rest.totals));
    }
    let figures = figures::figures(&lines, tree, options);
    let scale = bar::scale(&lines, tree.shape());
    let outer = options.full_paths.then(|| Outer::of(&lines, options.width));
    let picture = Picture { lines, figures, asides, scale, outer, root: tree, options };
    let first = usize::from(options.skip_total);
    let columns = picture.columns(first);
    let mut numbers = first..picture.lines.len();
    while let Some(i) = if options.is_root_first { numbers.next() } else { numbers.next_back() } {
        let line = match options.screen_reader {
            true => picture.words(i, &columns),
            false => picture.line(i, &columns),
        };
        writeln!(out, "{}", line.trim_end_matches(' '))?;
    }
    Ok(())
}

/// The remark after a name: what is known of the node; how it changed, or how much of it has links elsewhere, if that is a tenth or more.
pub(super) fn aside(line: &Line<'_>, format: &Format) -> String {
    let Totals { size, shared, .. } = line.totals;
    let aside = match &line.change {
        Some(change) => diff::aside(change),
        None if shared == 0 || shared.saturating_mul(10) < size => String::new(),
        None => format!(" ({} shared)", format.write(shared)),
    };
    if line.note.is_empty() { aside } else { format!(" ({}){aside}", line.note) }
}

struct Picture<'a> {
    lines: Vec<Line<'a>>,
    /// The figures before the names.
    figures: Vec<String>,
    /// The remarks after the names.
    asides: Vec<String>,
    /// The size of a full bar.
    scale: u64,
    /// Where long paths are cut.
    outer: Option<Outer>,
    root: &'a Tree,
    options: &'a PictureOptions,
}

impl Picture<'_> {
    fn line(&self, i: usize, columns: &Columns) -> String {
        let tree = self.tree(i, columns.room);
        let room = columns.name.saturating_sub(cells(&tree) + 1);
        let (name, padding) = self.name_in(i, room);
        let bar = match columns.bar {
            0 => String::new(),
            _ => format!("│{} │", self.bar(i, columns)),
        };
        let (figures, percent) = (self.painted_figures(i, columns), self.percent(i, columns));
        format!("{figures} {tree} {name}{padding}{bar}{percent}")
    }

    /// A line for screen readers: words and no drawing.
    fn words(&self, i: usize, columns: &Columns) -> String {
        let level = if columns.level { format!("{} ", self.level(i)) } else { String::new() };
        let (figures, percent) = (self.painted_figures(i, columns), self.percent(i, columns));
        let others = cells(&level) + columns.size + cells(&percent) + 1;
        match columns.name.min(self.options.width.saturating_sub(others)) {
            0 => format!("{level}{figures}{percent}"),
            room => {
                let (name, padding) = self.name_in(i, room);
                format!("{name}{padding} {level}{figures}{percent}")
            }
        }
    }

    /// The name and the remark after it, with colours, and the blanks that fill `room` cells. The remark is left out
    /// if there would be hardly any room for the name, or too little for a count.
    fn name_in(&self, i: usize, room: usize) -> (String, String) {
        let (line, name, mut aside) = (&self.lines[i], self.name(i), self.asides[i].clone());
        let least = if line.is_rest { usize::MAX } else { NAME_AT_LEAST };
        let most = room.saturating_sub(least.min(cells(&name)));
        if cells(&aside) > most {
            aside = if line.note.is_empty() { String::new() } else { shorten(&aside, most) };
        }
        let name = shorten(&name, room.saturating_sub(cells(&aside)));
        let padding = " ".repeat(room.saturating_sub(cells(&name) + cells(&aside)));
        let name = match &self.options.colors {
            None => name,
            Some(_) if line.is_rest => colors::aside().paint(name).to_string(),
            Some(colors) => colors.name(line.name, line.mode).paint(name).to_string(),
        };
        (name + &self.paint(&aside, colors::aside()), padding)
    }

    /// Levels below the topmost line drawn.
    fn level(&self, i: usize) -> usize {
        self.lines[i].depth.saturating_sub(usize::from(self.options.skip_total))
    }

    fn painted_figures(&self, i: usize, columns: &Columns) -> String {
        let (line, figures) = (&self.lines[i], cut(&self.figures[i], columns.size));
        let figures = " ".repeat(columns.size.saturating_sub(cells(&figures))) + &figures;
        let style = colors::direction(line.direction());
        // The largest of siblings is bold.
        self.paint(&figures, Style { is_bold: line.is_largest, ..style })
    }

    fn paint(&self, text: &str, style: Style) -> String {
        match self.options.colors {
            Some(_) if !text.is_empty() => style.paint(text).to_string(),
            _ => text.to_owned(),
        }
    }

    fn name(&self, i: usize) -> String {
        let line = &self.lines[i];
        match &self.outer {
            Some(outer) if !line.is_rest => escape(&lines::path(&self.lines, i, self.root, outer)),
            _ => escape(line.name),
        }
    }

    /// How many of `room` cells the tree takes before a name.
    fn tree_width(&self, i: usize, room: usize) -> usize {
        (3 + 2 * self.level(i)).min(room.saturating_sub(NAME_AT_LEAST))
    }

    /// The tree before a name: a blank or a stroke for each level, and the branch. If there is no room for all
    /// levels, those nearest to the root are left out.
    fn tree(&self, i: usize, room: usize) -> String {
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
