//! A page to look at, or its map alone: the lines of a picture as a treemap and a table, in one file that loads
//! nothing else.

mod html;
mod map;
mod svg;
mod treemap;

use std::cmp::{Ordering, Reverse};
use std::io::{self, Write};

use super::diff;
use super::lines::{Line, lay_out};
use super::partial::MARK;
use super::percent::percent;
use super::size::Format;
use super::tree::{PictureOptions, Rest};
use crate::escape::escape;
use crate::measure::{Kind, Measure};
use crate::path;
use crate::tree::{Order, Shape, Tree};
use map::Map;

/// The style of both forms.
const STYLE: &str = include_str!("page/page.css");

/// The form of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageForm {
    /// A map and a table, with a script.
    Html,
    /// The map alone.
    Svg,
}

/// How to make a page.
#[derive(Clone, Debug)]
pub struct PageOptions {
    /// The form.
    pub form: PageForm,
    /// How to write its figures. Order, width and other settings for terminals have no effect.
    pub picture: PictureOptions,
    /// What the figures measure.
    pub measure: Measure,
    /// The maximal size in bytes, if limited. The smallest nodes are then summed up.
    pub max_bytes: usize,
    /// When the shown state was recorded, as text.
    pub time: String,
}

/// The default number of nodes on a page.
pub const NODES: usize = 5_000;
/// The default size limit: mail and issue trackers accept such a file, and a browser draws it at once.
pub const BYTES: usize = 1_000_000;

/// A node, for its row and its shape.
struct PageRow {
    /// Its name, escaped; and its bytes, if the name does not show them exactly.
    name: String,
    bytes: Option<Vec<u8>>,
    parent: Option<usize>,
    depth: usize,
    is_open: bool,
    class: String,
    kind: &'static str,
    /// The size of its area.
    area: u64,
    /// Its size; 0 if it is gone.
    size: u64,
    size_text: String,
    percent: String,
    entries: u64,
    change: Option<(i128, String)>,
    /// A remark after the name.
    note: String,
}

/// The content of a page.
struct PageContent<'o> {
    rows: Vec<PageRow>,
    map: Map,
    /// The nodes without a row: name and size.
    rest: Option<(String, String)>,
    is_partial: bool,
    options: &'o PageOptions,
}

/// Writes a page about `tree`. If that is a difference, the page is about the changes.
///
/// # Errors
/// The writer's.
pub fn write(out: &mut impl Write, tree: &Tree, options: &PageOptions) -> io::Result<()> {
    let page = PageContent::new(tree, options);
    match options.form {
        PageForm::Html => html::write(out, &page),
        PageForm::Svg => svg::write(out, &page),
    }
}

impl<'o> PageContent<'o> {
    fn new(tree: &Tree, options: &'o PageOptions) -> Self {
        let picture = &options.picture;
        let format = &picture.format;
        let mut lines = lay_out(tree, Order::Size, false);
        let are_partial = picture.partial.lines(&lines, tree);
        let mut groups = 0;
        let mut rows: Vec<PageRow> = Vec::with_capacity(lines.len());
        for (i, line) in lines.iter().enumerate() {
            groups += usize::from(tree.shape() == Shape::Groups && line.depth == 1);
            let mut row = PageRow::new(line, tree, groups);
            let size = line.totals.size;
            let mark = if are_partial[i] { MARK } else { "" };
            row.size = size;
            row.size_text = format!("{mark}{}", format.write(size));
            row.percent = percent(line.totals.weight, lines[0].totals.weight);
            if let Some(change) = line.change.as_deref() {
                let difference = change.difference();
                row.class = match difference.cmp(&0) {
                    _ if row.is_open => row.class,
                    Ordering::Greater => "more".to_owned(),
                    Ordering::Less => "less".to_owned(),
                    Ordering::Equal => "same".to_owned(),
                };
                row.change = Some((difference, format.write_change(difference)));
                row.note = diff::aside(change);
                row.kind = diff::kind(change);
            } else {
                row.note = super::tree::shared(line, format);
            }
            rows.push(row);
        }
        keep(&mut rows, &mut lines, options.max_bytes);
        let rest = Rest::of(&lines, tree, picture);
        let is_difference = lines[0].change.is_some();
        let rest = rest.map(|rest| match is_difference {
            true => (rest.name, String::new()),
            false => (rest.name, format.write(rest.totals.size)),
        });
        let is_partial = are_partial.first().is_some_and(|is_partial| *is_partial);
        let map = Map::new(&rows);
        Self { rows, map, rest, is_partial, options }
    }

    /// The subject of the page, as a sentence without a full stop.
    fn title(&self) -> String {
        let root = &self.rows[0];
        let bound = if self.is_partial { "at least " } else { "" };
        let size = root.size_text.trim_start_matches(MARK);
        let what = match self.options.measure {
            Measure::Disk => " on disk",
            Measure::Apparent => " of file lengths",
            Measure::Files => " files",
            Measure::Inodes => " inodes",
        };
        let entries = Format::Count.write(root.entries);
        match &root.change {
            Some((_, change)) => format!(
                "{bound}{size}{what}, {change} since the snapshot; areas show how much changed: red grew, green shrank"
            ),
            None => format!("{bound}{size}{what}, {entries} entries"),
        }
    }
}

impl PageRow {
    fn new(line: &Line<'_>, tree: &Tree, groups: usize) -> Self {
        let name = escape(line.name);
        let is_told = name.as_bytes() == line.name;
        let kind = line.mode.kind();
        let is_heading = tree.shape() == Shape::Groups && line.depth > 0;
        let class = match kind {
            _ if is_heading => {
                /// The number of colours for groups.
                const COLORS: usize = 8;
                format!("g{}", (groups - 1) % COLORS)
            }
            Kind::Directory => "dir".to_owned(),
            Kind::File => "file".to_owned(),
            Kind::Symlink => "link".to_owned(),
            _ => "other".to_owned(),
        };
        Self {
            bytes: (!is_told).then(|| line.name.to_vec()),
            name,
            parent: line.parent,
            depth: line.depth,
            is_open: line.has_children,
            class,
            kind: if is_heading { "group" } else { kind.name() },
            area: line.totals.weight,
            size: 0,
            size_text: String::new(),
            percent: String::new(),
            entries: line.totals.entries,
            change: None,
            note: String::new(),
        }
    }
}

/// Keeps the largest rows that take at most `max_bytes`, with their lines.
fn keep(rows: &mut Vec<PageRow>, lines: &mut Vec<Line<'_>>, max_bytes: usize) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|i| (Reverse(rows[*i].area), *i));
    let (mut bytes, mut is_kept) = (html::FIXED, vec![false; rows.len()]);
    for i in order {
        bytes = bytes.saturating_add(html::length(&rows[i]));
        if i > 0 && bytes > max_bytes {
            break;
        }
        is_kept[i] = rows[i].parent.is_none_or(|parent| is_kept[parent]);
    }
    if is_kept.iter().all(|is_kept| *is_kept) {
        return;
    }
    let mut next = 0;
    let numbers: Vec<usize> = is_kept
        .iter()
        .map(|is_kept| {
            next += usize::from(*is_kept);
            next - usize::from(*is_kept)
        })
        .collect();
    let parents: Vec<Option<usize>> =
        rows.iter().map(|row| row.parent.map(|parent| numbers[parent])).collect();
    let mut is_open = vec![false; rows.len()];
    for i in (0..rows.len()).filter(|i| is_kept[*i]) {
        rows[i].parent.into_iter().for_each(|parent| is_open[parent] = true);
    }
    for (i, (row, line)) in rows.iter_mut().zip(&mut *lines).enumerate() {
        (row.parent, line.parent) = (parents[i], parents[i]);
        (row.is_open, line.has_children) = (is_open[i], is_open[i]);
    }
    retain(rows, &is_kept);
    retain(lines, &is_kept);
}

fn retain<T>(all: &mut Vec<T>, is_kept: &[bool]) {
    let mut kept = is_kept.iter();
    all.retain(|_| kept.next().is_none_or(|is_kept| *is_kept));
}

/// Escapes `text` for HTML, XML and their attributes.
fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// The path of a row, escaped.
fn path_of(rows: &[PageRow], row: usize) -> String {
    let mut names = vec![rows[row].name.as_bytes()];
    let mut at = rows[row].parent;
    while let Some(parent) = at {
        names.push(rows[parent].name.as_bytes());
        at = rows[parent].parent;
    }
    String::from_utf8_lossy(&path::join_all(names.into_iter().rev())).into_owned()
}
