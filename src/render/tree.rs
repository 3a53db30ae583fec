//! The picture: one line a node, with size, tree, name, bar and percentage.
//!
//! Lines are laid out from the root down, largest first, and printed in that order or in the
//! opposite one. Nothing recurses, and what depth costs a line is bounded by the line's width.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::io::{self, Write};

use nu_ansi_term::Style;

use super::changes::{self, Note};
use super::colors::Colors;
use super::lines::{self, Line, lay_out};
use super::name::{cells, escape, fit};
use super::partial::Partial;
use super::size::Format;
use crate::changes::Changes;
use crate::tree::{Order, Tree};

/// How a picture is drawn.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How many cells a line may take.
    pub width: usize,
    /// How sizes are written.
    pub format: Format,
    /// Where the bars are, if anywhere.
    pub bars: Bars,
    /// In which order siblings come, from their directory on.
    pub order: Order,
    /// The root on top and the largest first, rather than last.
    pub is_root_first: bool,
    /// Paths rather than base names.
    pub full_paths: bool,
    /// Without the root's line.
    pub skip_total: bool,
    /// Words in columns rather than a drawing: name, depth, size, percentage.
    pub screen_reader: bool,
    /// Bars in grey, where there are colours.
    pub dim: bool,
    /// Colours, if any.
    pub colors: Option<Colors>,
    /// What was not read: figures that lack something are marked.
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

/// The widths that all lines have in common, in cells.
struct Columns {
    size: usize,
    /// The tree and the name beside it.
    name: usize,
    bar: usize,
    /// What the tree and the name may take at most.
    room: usize,
}

/// Draws `tree`; if its sizes are the churn of `changes`, with what changed.
///
/// # Errors
/// The writer's.
pub fn draw(
    out: &mut impl Write,
    tree: &Tree,
    changes: Option<&Changes>,
    options: &Options,
) -> io::Result<()> {
    // Names are read from top to bottom, wherever the root is.
    let is_backwards = options.order == Order::Name && !options.is_root_first;
    let lines = lay_out(tree, options.order, is_backwards);
    let mut notes = match changes {
        Some(changes) => changes::notes(&lines, changes, &options.format),
        None => lines.iter().map(|line| note(line, &options.format)).collect(),
    };
    options.partial.mark(&mut notes, &lines, tree);
    let picture = Picture { lines, notes, root: tree, options };
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

/// What is said of a line: its size, and how much of it has links elsewhere, if that is a tenth or
/// more.
fn note(line: &Line<'_>, format: &Format) -> Note {
    let Line { size, shared, .. } = *line;
    let aside = if shared == 0 || shared.saturating_mul(10) < size {
        String::new()
    } else {
        format!(" ({} shared)", format.write(shared))
    };
    Note { size: format.write(size), aside, direction: None }
}

struct Picture<'a> {
    lines: Vec<Line<'a>>,
    notes: Vec<Note>,
    root: &'a Tree,
    options: &'a Options,
}

impl Picture<'_> {
    /// Widths for the lines from `first` on.
    fn columns(&self, first: usize) -> Columns {
        /// The two frames of the bar, the blanks beside it, and `100%`.
        const AROUND_BAR: usize = 8;
        let lines = first..self.lines.len();
        let size = lines.clone().map(|i| cells(&self.notes[i].size)).max().unwrap_or(0);
        let room = self.options.width.saturating_sub(size + 2);
        let name = |i| {
            let tree = if self.options.screen_reader { 0 } else { self.tree_width(i, room) + 1 };
            tree + cells(&self.name(i)) + cells(&self.notes[i].aside)
        };
        let longest = lines.map(name).max().unwrap_or(0);
        let bar = match self.options.bars {
            Bars::None => 0,
            _ => (room + 1).saturating_sub(longest + AROUND_BAR),
        };
        Columns { size, name: if bar > 0 { longest } else { longest.min(room) }, bar, room }
    }

    fn line(&self, i: usize, columns: &Columns) -> String {
        let tree = self.tree(i, columns.room);
        let room = columns.name.saturating_sub(cells(&tree) + 1);
        let (name, aside, padding) = self.name_in(i, room);
        let mut line = format!("{} {tree} {name}{aside}", self.painted_size(i, columns));
        if columns.bar > 0 {
            let (mut bar, percent) = (self.bar(i, columns.bar), self.percent(i));
            if self.options.dim && self.notes[i].direction.is_none() {
                bar = self.paint(&bar, Colors::dim_bar);
            }
            let _ = write!(line, "{:padding$}│{bar} │ {percent:>4}", "");
        }
        line
    }

    /// For ears: no drawing.
    fn words(&self, i: usize, columns: &Columns) -> String {
        let depth = self.level(i).to_string();
        let percent = match self.options.bars {
            Bars::None => String::new(),
            _ => format!(" {:>4}", self.percent(i)),
        };
        let others = depth.len() + columns.size + cells(&percent) + 2;
        let room = columns.name.min(self.options.width.saturating_sub(others));
        let (name, aside, padding) = self.name_in(i, room);
        let size = self.painted_size(i, columns);
        format!("{name}{aside}{:padding$} {depth} {size}{percent}", "")
    }

    /// The name and what is said after it, painted, and what is left of `room` cells.
    fn name_in(&self, i: usize, room: usize) -> (String, String, usize) {
        let aside = self.notes[i].aside.as_str();
        let (name, aside) = match room.checked_sub(cells(aside)) {
            Some(room) if room > 0 => (fit(&self.name(i), room), aside),
            _ => (fit(&self.name(i), room), ""),
        };
        let padding = room.saturating_sub(cells(&name) + cells(aside));
        (self.painted(i, &name), self.paint(aside, Colors::aside), padding)
    }

    /// Levels below the topmost line drawn.
    fn level(&self, i: usize) -> usize {
        self.lines[i].depth.saturating_sub(usize::from(self.options.skip_total))
    }

    fn painted_size(&self, i: usize, columns: &Columns) -> String {
        let size = &self.notes[i].size;
        let size = " ".repeat(columns.size.saturating_sub(cells(size))) + size;
        if self.lines[i].is_largest { self.paint(&size, Colors::largest) } else { size }
    }

    fn paint(&self, text: &str, style: fn(&Colors) -> Style) -> String {
        match &self.options.colors {
            Some(colors) if !text.is_empty() => style(colors).paint(text).to_string(),
            _ => text.to_owned(),
        }
    }

    fn painted(&self, i: usize, name: &str) -> String {
        match &self.options.colors {
            Some(colors) => {
                let line = &self.lines[i];
                colors.name(line.name, line.mode).paint(name).to_string()
            }
            None => name.to_owned(),
        }
    }

    fn name(&self, i: usize) -> String {
        let line = &self.lines[i];
        if !self.options.full_paths {
            return escape(if i == 0 { line.name } else { self.root.label(line.name) });
        }
        escape(&lines::path(&self.lines, i, self.root))
    }

    /// How many cells the tree takes before a name, of `room`.
    fn tree_width(&self, i: usize, room: usize) -> usize {
        (3 + 2 * self.level(i)).min(room.saturating_sub(NAME_AT_LEAST))
    }

    /// The tree before a name: a blank or a stroke for each level, and the branch. Where there is
    /// no room for all of it, the levels nearest to the root are left out.
    fn tree(&self, i: usize, room: usize) -> String {
        let width = self.tree_width(i, room);
        let line = &self.lines[i];
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

    fn percent(&self, i: usize) -> String {
        let whole = self.lines[0].size;
        if whole == 0 {
            return "0%".to_owned();
        }
        // In a scan that somebody made, a part may be larger than the whole.
        let percent = self.lines[i].size as f64 / whole as f64 * 100.0;
        format!("{:.0}%", percent.min(100.0))
    }

    /// The bar: a node's own share solid, and behind it the shares of those above it, in shades.
    fn bar(&self, i: usize, width: usize) -> String {
        const SHADES: [&str; 5] = ["█", "▓", "▒", "░", " "];
        let own = SHADES[0].repeat(self.share(i, width));
        let mut pieces = vec![match self.notes[i].direction {
            Some(Ordering::Greater) => self.paint(&own, Colors::grown),
            Some(Ordering::Less) => self.paint(&own, Colors::shrunk),
            _ => own,
        }];
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

    /// How many of a bar's cells a node's own size takes: at least one.
    fn share(&self, i: usize, width: usize) -> usize {
        let whole = u128::from(self.lines[0].size.max(1));
        let cells = u128::from(self.lines[i].size) * width as u128 / whole;
        // In a scan that somebody made, it may be far more than the whole.
        (cells + 1).min(width as u128) as usize
    }
}

/// However deep a node is, its name keeps this much room.
const NAME_AT_LEAST: usize = 8;
