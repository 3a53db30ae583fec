//! The picture: one line for each node, with size, tree, name, bar and percentage.
//!
//! Lines are laid out from the root down, largest first, and printed in that order or in reverse. Nothing recurses,
//! and a deep line costs no more than its width allows.

mod bar;
mod columns;
mod rest;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::mem;

use nu_ansi_term::Style;

use super::colors::Colors;
use super::diff::{self, Note};
use super::lines::{self, Line, Outer, lay_out};
use super::name::{cells, cut, shorten};
use super::partial::{self, Partial};
use super::size::Format;
use super::time::TimeFormat;
use crate::escape::escape;
use crate::tree::{Freeable, Order, Shape, Totals, Tree};
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
    let is_difference = lines[0].change.is_some();
    let mut notes = match is_difference {
        true => diff::notes(&lines, &options.format),
        false => lines.iter().map(|line| note(line, options)).collect(),
    };
    let rest = Rest::of(&lines, tree, options);
    if let Some(rest) = &rest {
        // The earlier and the later size of the rest are unknown, and a time cannot sum it up.
        let is_sum = !is_difference && options.times.is_none();
        let size = if is_sum { options.format.write(rest.totals.size) } else { String::new() };
        let aside = if rest.is_at_least { " (at least)" } else { "" }.to_owned();
        notes.push(Note { size, aside, direction: None });
        lines.push(Line::of_rest(rest.name.as_bytes(), rest.totals));
    }
    let are_partial = options.partial.lines(&lines, tree);
    // Times do not add up.
    if options.times.is_none() {
        for (note, is_partial) in notes.iter_mut().zip(&are_partial) {
            note.size = partial::mark(mem::take(&mut note.size), *is_partial);
        }
    }
    if !is_difference && options.order == Order::Count {
        let counts = lines.iter().map(|line| Format::Count.write(line.totals.entries));
        add_column(&mut notes, counts.collect(), options.width);
    }
    if options.times.is_some() && tree.shape() != Shape::Groups {
        let size = |(line, is_partial): (&Line<'_>, &bool)| match line.is_rest {
            true => String::new(),
            false => partial::mark(options.format.write(line.totals.size), *is_partial),
        };
        let sizes = lines.iter().zip(&are_partial).map(size).collect();
        add_column(&mut notes, sizes, options.width);
    }
    if lines.iter().all(|line| line.is_rest || line.totals.frees.is_some()) {
        let write = |i: usize, frees: Freeable| {
            format!("frees {}", partial::freed(frees, &options.format, are_partial[i]))
        };
        let frees = lines.iter().map(|line| line.totals.frees).enumerate();
        let texts = frees.map(|(i, frees)| frees.map(|it| write(i, it)).unwrap_or_default());
        add_column(&mut notes, texts.collect(), options.width);
    }
    let scale = bar::scale(&lines, tree.shape());
    let outer = match options.full_paths {
        true => Outer::of(&lines, options.width),
        false => Outer::default(),
    };
    let picture = Picture { lines, notes, scale, outer, root: tree, options };
    let first = usize::from(options.skip_total);
    let columns = picture.columns(first);
    let mut numbers = first..picture.lines.len();
    while let Some(i) = if options.is_root_first { numbers.next() } else { numbers.next_back() } {
        let line = if options.screen_reader {
            picture.words(i, &columns)
        } else {
            picture.line(i, &columns)
        };
        writeln!(out, "{}", line.trim_end_matches(' '))?;
    }
    Ok(())
}

/// The note for a line: its size, and how much of it has links elsewhere, if that is a tenth or more; or its time.
fn note(line: &Line<'_>, options: &PictureOptions) -> Note {
    let size = match (&options.times, line.totals.newest) {
        (None, _) => options.format.write(line.totals.size),
        (Some(times), Some(newest)) => times.write(newest),
        (Some(_), None) => "-".to_owned(),
    };
    Note { size, aside: shared(line, &options.format), direction: None }
}

/// How much of a line has links elsewhere, if that is a tenth or more.
pub(super) fn shared(line: &Line<'_>, format: &Format) -> String {
    let Totals { size, shared, .. } = line.totals;
    match shared == 0 || shared.saturating_mul(10) < size {
        true => String::new(),
        false => format!(" ({} shared)", format.write(shared)),
    }
}

/// Adds a column beside the sizes, aligned right, if lines of `line` cells then still have room for names.
fn add_column(notes: &mut [Note], texts: Vec<String>, line: usize) {
    let sizes = notes.iter().map(|note| cells(&note.size)).max().unwrap_or(0);
    let width = texts.iter().map(|text| cells(text)).max().unwrap_or(0);
    if sizes + width + 3 + columns::LEAST_ROOM > line {
        return;
    }
    for (note, text) in notes.iter_mut().zip(texts) {
        let blanks =
            [sizes - cells(&note.size), width - cells(&text)].map(|cells| " ".repeat(cells));
        note.size = format!("{}{} {}{text}", blanks[0], note.size, blanks[1]);
    }
}

struct Picture<'a> {
    lines: Vec<Line<'a>>,
    notes: Vec<Note>,
    /// The size of a full bar.
    scale: u64,
    /// Where long paths are cut.
    outer: Outer,
    root: &'a Tree,
    options: &'a PictureOptions,
}

impl Picture<'_> {
    fn line(&self, i: usize, columns: &Columns) -> String {
        let tree = self.tree(i, columns.room);
        let room = columns.name.saturating_sub(cells(&tree) + 1);
        let (name, aside, padding) = self.name_in(i, room);
        let mut line = format!("{} {tree} {name}{aside}", self.painted_size(i, columns));
        let percent = if columns.percent { self.percent(i) } else { String::new() };
        // Writing to a string cannot fail.
        let _ = match columns.bar {
            0 if columns.percent => write!(line, "{padding} {percent:>4}"),
            0 => Ok(()),
            _ => {
                let mut bar = self.bar(i, columns);
                if self.options.dim && self.notes[i].direction.is_none() {
                    bar = self.paint(&bar, Colors::dim_bar);
                }
                write!(line, "{padding}│{bar} │ {percent:>4}")
            }
        };
        line
    }

    /// A line for screen readers: words and no drawing.
    fn words(&self, i: usize, columns: &Columns) -> String {
        let level = if columns.level { format!("{} ", self.level(i)) } else { String::new() };
        let percent =
            if columns.percent { format!(" {:>4}", self.percent(i)) } else { String::new() };
        let others = cells(&level) + columns.size + cells(&percent) + 1;
        let size = self.painted_size(i, columns);
        match columns.name.min(self.options.width.saturating_sub(others)) {
            0 => format!("{level}{size}{percent}"),
            room => {
                let (name, aside, padding) = self.name_in(i, room);
                format!("{name}{aside}{padding} {level}{size}{percent}")
            }
        }
    }

    /// The name and the remark after it, with colours, and the blanks that fill `room` cells. The remark is left out
    /// if there would be hardly any room for the name, or too little for a count.
    fn name_in(&self, i: usize, room: usize) -> (String, String, String) {
        let (name, aside) = (self.name(i), self.notes[i].aside.as_str());
        let least = if self.lines[i].is_rest { usize::MAX } else { NAME_AT_LEAST };
        let least = cells(&name).min(least);
        let (name, aside) = match room.checked_sub(cells(aside)) {
            Some(room) if room >= least => (shorten(&name, room), aside),
            _ => (shorten(&name, room), ""),
        };
        let padding = " ".repeat(room.saturating_sub(cells(&name) + cells(aside)));
        (self.painted(i, &name), self.paint(aside, Colors::aside), padding)
    }

    /// Levels below the topmost line drawn.
    fn level(&self, i: usize) -> usize {
        self.lines[i].depth.saturating_sub(usize::from(self.options.skip_total))
    }

    fn painted_size(&self, i: usize, columns: &Columns) -> String {
        let size = cut(&self.notes[i].size, columns.size);
        let size = " ".repeat(columns.size.saturating_sub(cells(&size))) + &size;
        let (is_largest, direction) = (self.lines[i].is_largest, self.notes[i].direction);
        self.paint(&size, |colors| colors.size(is_largest, direction))
    }

    fn paint(&self, text: &str, style: impl Fn(&Colors) -> Style) -> String {
        match &self.options.colors {
            Some(colors) if !text.is_empty() => style(colors).paint(text).to_string(),
            _ => text.to_owned(),
        }
    }

    fn painted(&self, i: usize, name: &str) -> String {
        match &self.options.colors {
            Some(colors) if self.lines[i].is_rest => colors.aside().paint(name).to_string(),
            Some(colors) => {
                let line = &self.lines[i];
                colors.name(line.name, line.mode).paint(name).to_string()
            }
            None => name.to_owned(),
        }
    }

    fn name(&self, i: usize) -> String {
        let line = &self.lines[i];
        if !self.options.full_paths || line.is_rest {
            return escape(line.name);
        }
        escape(&lines::path(&self.lines, i, self.root, &self.outer))
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
        let mut strokes = Vec::new();
        let mut at = line.parent;
        for _ in 0..self.level(i).min(levels.div_ceil(2)) {
            let Some(above) = at else { break };
            strokes.push(if self.lines[above].is_last { "  " } else { "│ " });
            at = self.lines[above].parent;
        }
        let drawn: String = strokes.into_iter().rev().collect();
        let skipped = drawn.chars().count().saturating_sub(levels);
        drawn.chars().skip(skipped).chain(branch.chars()).collect()
    }
}

/// However deep a node is, its name has this much room, in cells.
const NAME_AT_LEAST: usize = 8;
