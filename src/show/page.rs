//! A page to look at, or its map alone: the lines of a picture as a treemap and a table, in one file that loads
//! nothing else.

mod html;
mod map;
pub mod treemap;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::iter;

use map::Map;

use super::kinds::{self, DIRECTORY, KINDS};
use super::lines::{Line, lay_out};
use super::partial::{self, MARK};
use super::size::{entries, percent};
use super::time::TimeFormat;
use super::tree::{PictureOptions, Rest, aside};
use super::{diff, file_systems};
use crate::ask::Outcome;
use crate::base::escape::escape;
use crate::base::measure::{Kind, Measure};
use crate::base::path;
use crate::from::snapshot::Origin;
use crate::tree::tally::{AGE_NAMES, age};
use crate::tree::{Order, Shape, Tree};

/// The style of the map, in both forms.
const MAP_STYLE: &str = include_str!("page/map.css");

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
    /// The maximal size in bytes, if limited. The smallest nodes are then summed up.
    pub max_bytes: usize,
    /// How to write when the shown state was recorded.
    pub times: TimeFormat,
    /// When and where a scan is made. A snapshot says that itself.
    pub origin: Option<Origin>,
}

/// The default number of nodes on a page.
pub const NODES: usize = 5_000;
/// The default size limit: mail and issue trackers accept such a file, and a browser draws it at once.
pub const BYTES: usize = 1_000_000;

/// A node, for its row and its shape.
struct PageRow<'a> {
    line: Line<'a>,
    /// Its name, escaped.
    name: String,
    /// What each of [`COLORINGS`] says of it: which of its values.
    colors: [Option<usize>; COLORINGS.len()],
    kind: &'static str,
    size: String,
    percent: String,
    /// By how much its size changed, also as text.
    change: Option<(i128, String)>,
    /// When it, or what is in it, was last modified; empty if that is unknown.
    date: String,
    /// A remark after the name.
    note: String,
}

/// What colours can say, the best first: its name, the letter of its classes, and what each of those means.
const COLORINGS: [(&str, char, &[&str]); 4] = [
    ("group", 'g', &[]),
    // In the order of `std::cmp::Ordering`.
    ("growth", 'c', &["shrank", "same size", "grew"]),
    ("kind", 'k', &KINDS),
    ("age", 'a', &AGE_NAMES),
];

/// What colours say on a page.
struct Coloring {
    name: &'static str,
    /// The classes of everything in the map, and what they mean.
    legend: Vec<(String, String)>,
}

/// The colouring where kinds, ages, groups and growth say nothing.
const DEPTH: &str = "depth";

/// The content of a page.
struct PageContent<'a> {
    /// The absolute paths of the roots.
    heading: String,
    rows: Vec<PageRow<'a>>,
    map: Map,
    /// What colours can say of these rows: one at least. The first is shown first.
    colorings: Vec<Coloring>,
    /// The nodes without a row: name and size.
    rest: Option<(String, String)>,
    is_partial: bool,
    /// What the figures measure.
    measure: Measure,
    /// Where and when the shown state was recorded, as a sentence without a full stop.
    recorded: String,
    /// Of a difference: when and where the earlier snapshot was made.
    since: String,
    /// What uses file systems besides the files, as lines.
    file_systems: String,
}

/// Writes a page about `tree`, which is that of the `outcome`. If it is a difference, the page is about the changes.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut dyn Write,
    tree: &Tree,
    outcome: &Outcome,
    options: &PageOptions,
) -> io::Result<()> {
    let page = PageContent::new(tree, outcome, options);
    match options.form {
        PageForm::Html => html::write(out, &page),
        PageForm::Svg => treemap::write(out, &page),
    }
}

impl<'a> PageContent<'a> {
    fn new(tree: &'a Tree, outcome: &Outcome, options: &PageOptions) -> Self {
        let PageOptions { picture, times, .. } = options;
        let origin = outcome.snapshot.origin.as_ref().or(options.origin.as_ref());
        let saved = origin.map(|origin| origin.time).filter(|time| *time != 0);
        let time = times.write(saved.unwrap_or(times.now));
        let mut lines = lay_out(tree, Order::Size, false);
        picture.partial.mark_lines(&mut lines, tree);
        let is_partial = lines[0].is_partial;
        let is_difference = lines[0].change.is_some();
        let whole = lines[0].totals.weight;
        let mut rows: Vec<PageRow<'_>> = Vec::with_capacity(lines.len());
        for (i, line) in lines.into_iter().enumerate() {
            let group = (tree.shape() == Shape::Groups && line.depth > 0).then(|| i - 1);
            rows.push(PageRow::new(line, tree.shape(), group, whole, picture));
        }
        keep(&mut rows, options);
        let rest = Rest::of(rows.iter().map(|row| &row.line), tree, picture);
        let rest = rest.map(|rest| match is_difference {
            true => (rest.name, String::new()),
            false => (rest.name, picture.format.write(rest.totals.size)),
        });
        let map = Map::new(&rows);
        let colorings = colorings(&rows, map.rests.iter().any(Option::is_some));
        Self {
            heading: heading(tree, origin).unwrap_or_else(|| rows[0].name.clone()),
            rows,
            map,
            colorings,
            rest,
            is_partial,
            measure: outcome.snapshot.view.measure,
            recorded: match origin.map(|origin| escape(&origin.host)).unwrap_or_default().as_str() {
                "" => time,
                host => format!("On {host}, {time}"),
            },
            since: diff::since_then(outcome.earlier.as_ref(), origin, times),
            file_systems: file_systems::lines(outcome, picture),
        }
    }

    /// What colours say first.
    fn coloring(&self) -> &'static str {
        self.colorings[0].name
    }

    /// The subject of the page, as a sentence without a full stop.
    fn title(&self) -> String {
        let root = &self.rows[0];
        let bound = if self.is_partial { "at least " } else { "" };
        let size = root.size.trim_start_matches(MARK);
        let what = match self.measure {
            Measure::Disk => " on disk",
            Measure::Apparent => " of file lengths",
            Measure::Files => " files",
            Measure::Inodes => " inodes",
        };
        let entries = entries(root.line.totals.entries);
        match &root.change {
            Some((_, change)) => {
                let since = &self.since;
                format!("{bound}{size}{what}, {change} {since}; areas show how much changed")
            }
            None => format!("{bound}{size}{what}, {entries}"),
        }
    }
}

impl<'a> PageRow<'a> {
    /// The row of a line, which may be the heading of the group with this number, and is a part of a `whole`.
    fn new(
        line: Line<'a>,
        shape: Shape,
        group: Option<usize>,
        whole: u64,
        options: &PictureOptions,
    ) -> Self {
        /// As many groups as there are colours for them.
        const GROUPS: usize = 8;
        let PictureOptions { format, dates, .. } = options;
        let direction = line.direction().map(|direction| (direction as i8 + 1) as usize);
        let newest = line.totals.newest.filter(|_| group.is_none());
        let kind = group.is_none().then(|| kinds::kind(line.name, line.mode));
        let colors = [
            group.filter(|_| direction.is_none()).map(|group| group % GROUPS),
            direction,
            kind,
            newest.map(|newest| age(dates.now, newest)),
        ];
        let change = line.change.as_deref();
        let kind = match (change, kind) {
            (_, Some(kind)) if line.mode.kind() == Kind::File => KINDS[kind],
            (Some(change), _) => change.kind_name(),
            (None, None) => "group",
            (None, Some(_)) => line.mode.kind().name(),
        };
        let change = change.map(|change| change.difference());
        let change = change.map(|change| (change, format.write_change(change)));
        let date = newest.map_or_else(String::new, |newest| dates.write(newest));
        let (name, note) = (escape(line.name), aside(&line, shape, format));
        let size = partial::mark(format.write(line.totals.size), line.is_partial);
        let percent = percent(line.totals.weight, whole);
        Self { line, name, colors, kind, size, percent, change, date, note }
    }

    /// How much it changed, or else its size.
    fn figure(&self) -> &str {
        self.change.as_ref().map_or(&self.size, |(_, change)| change)
    }

    /// The classes of its shape.
    fn class(&self) -> String {
        if self.line.has_children {
            return "dir".to_owned();
        }
        let colors = self.colors.iter().zip(COLORINGS);
        let classes = colors.map(|(color, (_, letter, _))| Some(format!("{letter}{}", (*color)?)));
        classes.flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The absolute paths of the roots of `tree`, or how many there are; none if its origin does not say on which host they
/// are, or has other roots.
fn heading(tree: &Tree, origin: Option<&Origin>) -> Option<String> {
    /// More are only counted.
    const MOST: usize = 3;
    let origin = origin.filter(|origin| !origin.host.is_empty())?;
    // A list of files has no roots, and old snapshots have no names.
    let names: BTreeSet<_> = tree.roots().map(|root| root.name()).collect();
    let is_shown = |name: &Vec<u8>| names.is_empty() || names.contains(&**name);
    let given = origin.roots.iter().filter(|root| root.name.as_ref().is_none_or(is_shown));
    let mut paths: Vec<_> = given.map(|root| escape(&root.path)).collect();
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    match &paths[..] {
        paths if paths.is_empty() || paths.len() < names.len() => None,
        [only] => Some(only.clone()),
        [paths @ .., last] if paths.len() < MOST => {
            Some(format!("{} and {last}", paths.join(", ")))
        }
        paths => Some(format!("{} paths", paths.len())),
    }
}

/// What colours can say of `rows`. Some directories may have entries without a row (`has_rests`).
fn colorings(rows: &[PageRow<'_>], has_rests: bool) -> Vec<Coloring> {
    let frames = rows.iter().any(|row| row.line.has_children);
    let frames = frames.then(|| ("dir key".to_owned(), "directory".to_owned()));
    let hatched =
        |is_shown: bool| is_shown.then(|| ("rest".to_owned(), KINDS[DIRECTORY].to_owned()));
    let mut colorings = Vec::new();
    for (i, (name, letter, meanings)) in COLORINGS.into_iter().enumerate() {
        let tiles = || rows.iter().filter(|row| !row.line.has_children);
        let mut shown: BTreeSet<_> = tiles().filter_map(|row| row.colors[i]).collect();
        let is_hatched = name == "kind" && shown.remove(&DIRECTORY);
        // Where all are directories, their kind says nothing.
        if shown.is_empty() {
            continue;
        }
        // Groups share colours if there are many. Then only their labels say which is which.
        let groups: Vec<_> = tiles().map(|row| &*row.name).collect();
        let groups = if groups.len() == shown.len() { groups } else { Vec::new() };
        let meanings = if name == "group" { &groups[..] } else { meanings };
        let legend = meanings.iter().enumerate().filter(|(color, _)| shown.contains(color));
        let legend =
            legend.map(|(color, meaning)| (format!("{letter}{color}"), (*meaning).to_owned()));
        let legend = legend.chain(frames.clone()).chain(hatched(has_rests || is_hatched));
        colorings.push(Coloring { name, legend: legend.collect() });
    }
    if colorings.is_empty() {
        let legend = frames.into_iter().chain(hatched(true)).collect();
        colorings.push(Coloring { name: DEPTH, legend });
    }
    colorings
}

/// Keeps the largest rows that take at most as many bytes as the page may.
fn keep(rows: &mut Vec<PageRow<'_>>, options: &PageOptions) {
    // The map alone has the path of each.
    let mut paths: Vec<usize> = Vec::with_capacity(rows.len());
    for row in rows.iter() {
        let above = row.line.parent.map_or(0, |parent| paths[parent] + 1);
        paths.push(if options.form == PageForm::Svg { above + safe(&row.name).len() } else { 0 });
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|i| (Reverse(rows[*i].line.totals.weight), *i));
    let (mut bytes, mut is_kept) = (html::FIXED, vec![false; rows.len()]);
    for i in order {
        bytes = bytes.saturating_add(html::length(&rows[i]) + paths[i]);
        if i > 0 && bytes > options.max_bytes {
            break;
        }
        is_kept[i] = rows[i].line.parent.is_none_or(|parent| is_kept[parent]);
    }
    // How many rows before each are kept, which is its new number; and which rows have a kept row in them.
    let (mut numbers, mut is_open) = (Vec::with_capacity(rows.len()), vec![false; rows.len()]);
    let mut kept = 0;
    for (row, is_kept) in rows.iter().zip(&is_kept) {
        numbers.push(kept);
        if *is_kept {
            kept += 1;
            row.line.parent.into_iter().for_each(|parent| is_open[parent] = true);
        }
    }
    for (row, is_open) in rows.iter_mut().zip(is_open) {
        row.line.has_children = is_open;
        row.line.parent = row.line.parent.map(|parent| numbers[parent]);
    }
    let mut is_kept = is_kept.into_iter();
    rows.retain(|_| is_kept.next().unwrap_or(true));
}

/// Escapes `text` for HTML, XML and their attributes.
fn safe(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// The path of a row, escaped.
fn path_of(rows: &[PageRow<'_>], row: usize) -> String {
    let rows = iter::successors(Some(&rows[row]), |row| row.line.parent.map(|above| &rows[above]));
    let mut names: Vec<_> = rows.map(|row| row.name.as_bytes()).collect();
    // What is above several roots has no name.
    if names.len() > 1 && names.last() == Some(&b"(total)".as_slice()) {
        names.pop();
    }
    names.reverse();
    String::from_utf8_lossy(&path::join_all(names)).into_owned()
}
