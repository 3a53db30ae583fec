//! What grew and what shrank: the answer in one line, and then a line for each entry that explains it, in the order of
//! their changes. These changes add up to that of the root.

use std::io::{self, Write};

use super::markdown::code;
use super::name::{cells, right_aligned, shorten, widest};
use super::palette::{Charset, Palette, bar};
use super::partial::mark;
use super::time::TimeFormat;
use super::tree::{Bars, PictureOptions};
use crate::base::escape::escape;
use crate::base::measure::{Change, Measure, Mode};
use crate::base::path;
use crate::from::snapshot::Origin;
use crate::tree::{Child, Order, Step, Traversal, Tree};

/// Draws the difference `tree`, with answers about the time `since` the earlier snapshot.
///
/// # Errors
/// The writer's.
pub(super) fn draw(
    out: &mut dyn Write,
    tree: &Tree,
    since: &str,
    options: &PictureOptions,
) -> io::Result<()> {
    let growth = Growth::of(tree, options);
    let mut lines = Vec::new();
    if !options.skip_total {
        let answers = answers(tree, since, options.width, options).into_iter();
        lines.extend(answers.map(|answer| options.charset.cut(&answer, options.width)));
    }
    lines.extend(growth.lines(options));
    lines.extend(growth.moved().map(|text| {
        let text = options.charset.cut(&text, options.width);
        options.paint(&text, Palette::aside)
    }));
    lines.iter().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// Writes it as a table in Markdown, the largest growth first.
///
/// # Errors
/// The writer's.
pub(super) fn markdown(
    out: &mut dyn Write,
    tree: &Tree,
    since: &str,
    options: &PictureOptions,
) -> io::Result<()> {
    let growth = Growth::of(tree, options);
    for answer in answers(tree, since, usize::MAX, options) {
        writeln!(out, "{}\n", code(&answer))?;
    }
    if !growth.rows.is_empty() {
        writeln!(out, "| change | entry | |\n| --: | :-- | :-- |")?;
    }
    for row in growth.rows.iter().rev() {
        let name = if row.is_rest { row.name.clone() } else { code(&row.name) };
        writeln!(out, "| {} | {name} | {} |", row.figure(options), row.remark)?;
    }
    growth.moved().map_or(Ok(()), |moved| writeln!(out, "\n{}", code(&moved)))
}

/// A remark after its name.
pub(super) fn aside(change: &Change<'_>) -> String {
    match (change.moved_from, change.was, change.is) {
        (Some(origin), ..) => format!(" (moved from {})", escape(origin)),
        (_, None, _) => " (new)".to_owned(),
        (_, _, None) => " (gone)".to_owned(),
        _ => String::new(),
    }
}

/// When and where the earlier snapshot was made, as far as its origin says so.
fn since(earlier: Option<&Origin>, dates: &TimeFormat) -> String {
    let time = earlier.map(|origin| origin.time).filter(|time| *time != 0);
    let time = time.map_or_else(|| "an earlier snapshot".to_owned(), |time| dates.write(time));
    format!("since {time}{}", on_host(earlier))
}

/// The same, with a host only if that is another one now, and a day near to today as people call it.
pub(super) fn since_then(
    earlier: Option<&Origin>,
    now: Option<&Origin>,
    dates: &TimeFormat,
) -> String {
    let time = earlier.map(|origin| origin.time).filter(|time| *time != 0);
    let Some(time) = time else { return since(earlier, dates) };
    let is_here = now.is_some_and(|now| earlier.is_some_and(|earlier| earlier.host == now.host));
    let host = if is_here { String::new() } else { on_host(earlier) };
    format!("since {}{host}", dates.write_near(time))
}

/// On which host a snapshot was made, if its origin says so.
fn on_host(origin: Option<&Origin>) -> String {
    let origin = origin.filter(|origin| !origin.host.is_empty());
    origin.map_or_else(String::new, |origin| format!(" on {}", escape(&origin.host)))
}

/// The answers for the roots of `tree`, and that for all of them: by how much each grew `since` then.
fn answers(tree: &Tree, since: &str, width: usize, options: &PictureOptions) -> Vec<String> {
    let mut roots: Vec<_> = tree.roots().collect();
    if roots.len() != 1 {
        roots.sort_unstable_by_key(Child::name);
        roots.push(tree.root());
    }
    roots.into_iter().map(|root| answer(root, since, width, options)).collect()
}

/// The answer for a root, in so many cells if that is possible without its middle.
fn answer(root: Child<'_>, since: &str, width: usize, options: &PictureOptions) -> String {
    let format = &options.format;
    let Some(change) = root.change() else { return String::new() };
    let [was, is] = [change.was, change.is].map(|size| format.write(size.unwrap_or(0)));
    let is = mark(is, options.partial.has(&root));
    let what = match root.view().measure {
        Measure::Disk | Measure::Apparent => "",
        Measure::Files => " files",
        Measure::Inodes => " inodes",
    };
    let grew = change.difference();
    let by = format.write(u64::try_from(grew.unsigned_abs()).unwrap_or(u64::MAX));
    let said = match (change.was, change.is) {
        (None, _) => format!("is new {since}: {is}{what}"),
        (_, None) => format!("is gone {since}: it had {was}{what}"),
        _ if grew > 0 => format!("grew by {by}{what} {since}: {was} → {is}"),
        _ if grew < 0 => format!("shrank by {by}{what} {since}: {was} → {is}"),
        _ if change.churn == 0 => format!("did not change {since}: {is}{what}"),
        _ => format!("neither grew nor shrank {since}: {is}{what}"),
    };
    let name = match root.name() {
        b"" => "All".to_owned(),
        b"." => "This directory".to_owned(),
        name => options.charset.text(escape(name)),
    };
    format!("{} {said}", shorten(&name, width.saturating_sub(cells(&said) + 1).max(LEAST_NAME)))
}

/// However much is to be said of it, a root has so many cells for its name.
const LEAST_NAME: usize = 8;

/// What explains the growth of a tree.
struct Growth {
    /// The one that shrank most first.
    rows: Vec<Row>,
    /// The directories that were moved: from where, and to where.
    moves: Vec<(String, String)>,
}

/// An entry whose change is not that of entries in it.
struct Row {
    change: i128,
    /// Its path as it is shown, its whole path, its last name, and its kind.
    name: String,
    path: Vec<u8>,
    base: Vec<u8>,
    mode: Mode,
    remark: &'static str,
    /// Whether it sums up what has no line.
    is_rest: bool,
    /// Whether there is nothing at its path, to which a link could lead.
    is_gone: bool,
    is_partial: bool,
}

/// A directory whose content is being gone through.
struct OpenDirectory<'a> {
    child: Child<'a>,
    path: Vec<u8>,
    change: i128,
    /// What is left of that without what is in it so far.
    rest: i128,
    /// How many rows there were before it.
    rows: usize,
}

/// Sizes that moved from one directory into another, by path. Nothing grew by them.
#[derive(Default)]
struct Moved {
    gone: Vec<(Vec<u8>, u64)>,
    new: Vec<(Vec<u8>, u64)>,
}

impl Moved {
    fn in_tree(tree: &Tree, moves: &mut Vec<(Vec<u8>, Vec<u8>)>) -> Self {
        let mut moved = Moved::default();
        let mut traversal = Traversal::new(tree.root());
        while let Some(step) = traversal.next() {
            let Step::Node(node) = step else { continue };
            let moved_from = node.change().and_then(|change| Some((change.moved_from?, change.is)));
            if let Some((origin, size)) = moved_from {
                let path = below_root(tree, traversal.path());
                let size = size.unwrap_or(0);
                moved.gone.push((sorted_by_parts(origin), size));
                moved.new.push((sorted_by_parts(path), size));
                moves.push((origin.to_vec(), path.to_vec()));
            }
            traversal.enter((), node.children(Order::Size));
        }
        moved.gone.sort_unstable();
        moved.new.sort_unstable();
        moves.sort_unstable();
        moved
    }

    /// The change of the directory at `path` that comes only from moves out of it, and into it, taken back.
    fn taken_back(&self, path: &[u8]) -> i128 {
        let path = sorted_by_parts(path);
        let within = |moved: &[(Vec<u8>, u64)]| -> i128 {
            let first = moved.partition_point(|(it, _)| *it <= path);
            let moved = moved[first..].iter();
            let within = moved.take_while(|(it, _)| {
                path.is_empty() || it.strip_prefix(&*path).is_some_and(|it| it.starts_with(b"\0"))
            });
            within.map(|(_, size)| i128::from(*size)).sum()
        };
        within(&self.gone) - within(&self.new)
    }
}

/// A path whose order is that of its parts: no name has a zero byte.
fn sorted_by_parts(path: &[u8]) -> Vec<u8> {
    path.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect()
}

/// The part of the `path` of a node that is below the root of `tree`. With several roots, it begins with that of one.
fn below_root<'p>(tree: &Tree, path: &'p [u8]) -> &'p [u8] {
    match tree.root().is_total() {
        true => path,
        false => path::below(path, tree.root().name()).unwrap_or_default(),
    }
}

impl Growth {
    fn of(tree: &Tree, options: &PictureOptions) -> Self {
        /// A directory of which no entry has so large a part of its change is one line.
        const FEW: u128 = 8;
        let mut moves = Vec::new();
        let moved = Moved::in_tree(tree, &mut moves);
        let (mut rows, mut rests): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
        // What is in directories that have no line of their own.
        let mut smaller = 0;
        let mut traversal: Traversal<Child<'_>, OpenDirectory<'_>> = Traversal::new(tree.root());
        while let Some(step) = traversal.next() {
            match step {
                Step::Node(node) => {
                    let Some(change) = node.change() else { continue };
                    let path = below_root(tree, traversal.path()).to_vec();
                    let is_moved = change.moved_from.is_some();
                    let difference = match is_moved {
                        true => 0,
                        false => change.difference() + moved.taken_back(&path),
                    };
                    if let Some(above) = traversal.innermost() {
                        above.rest -= difference;
                    }
                    let children = node.children(Order::Size);
                    let is_root = traversal.depth() < 1 + tree.root_depth();
                    if is_root || !children.is_empty() && !is_moved {
                        let (change, rows) = (difference, rows.len());
                        let open = OpenDirectory { child: node, path, change, rest: change, rows };
                        traversal.enter(open, children);
                    } else if difference != 0 {
                        rows.push(Row::new(node, path, difference, options));
                    }
                }
                Step::End(OpenDirectory { child, path, change, rest, rows: first }) => {
                    let inside = rows.get(first..).unwrap_or_default();
                    let largest = inside.iter().map(|row| row.change.unsigned_abs()).max();
                    let are_all_small = largest.unwrap_or(0) < change.unsigned_abs() / FEW;
                    if traversal.depth() <= tree.root_depth() {
                        smaller += rest;
                    } else if are_all_small {
                        rows.truncate(first);
                        rests.retain(|row| path::below(&row.path, &child.path()).is_none());
                        rows.push(Row::new(child, path, change, options));
                    } else if rest != 0 {
                        rests.push(Row::new(child, path, rest, options));
                    }
                }
            }
        }
        // What is left of a directory has a line if that is no less than what has one anyway.
        let least = rows.iter().map(|row| row.change.unsigned_abs()).min().unwrap_or(1);
        for row in rests {
            match row.change.unsigned_abs() >= least {
                true => rows.push(Row { remark: "the rest", ..row }),
                false => smaller += row.change,
            }
        }
        rows.sort_by(|one, other| {
            one.change.cmp(&other.change).then_with(|| one.path.cmp(&other.path))
        });
        if smaller != 0 && !rows.is_empty() {
            rows.insert(0, Row::smaller(smaller));
        }
        let shown = |path: &[u8]| options.charset.text(escape(path));
        let moves = moves.iter().map(|(from, to)| (shown(from), shown(to))).collect();
        Self { rows, moves }
    }

    /// The lines of the rows, the largest growth last or, with the root on top, first.
    fn lines(&self, options: &PictureOptions) -> Vec<String> {
        /// A bar, and what is between columns.
        const LEAST_BAR: usize = 4;
        const MOST_BAR: usize = 32;
        const GAP: usize = 2;
        let rows = &self.rows;
        let figures: Vec<_> = rows.iter().map(|row| row.figure(options)).collect();
        let figure = widest(&figures);
        let remark = rows.iter().map(|row| cells(row.remark)).max().unwrap_or(0);
        let remark = if remark > 0 { remark + GAP } else { 0 };
        let room = options.width.saturating_sub(figure + GAP);
        let bars = match options.bars {
            Bars::None => 0,
            _ if options.screen_reader => 0,
            _ => Some(room / 3).filter(|room| *room >= LEAST_BAR).unwrap_or(0).min(MOST_BAR),
        };
        let [shrank, grew] = [-1, 1].map(|sign| {
            rows.iter().map(|row| (row.change * sign).max(0)).max().unwrap_or(0).unsigned_abs()
        });
        let axis = Axis::new([shrank, grew], bars);
        let room = room.saturating_sub(if bars > 0 { bars + GAP } else { 0 });
        let names = widest(rows.iter().map(|row| &row.name)).min(room.saturating_sub(remark));
        let mut lines: Vec<_> = rows
            .iter()
            .zip(figures)
            .map(|(row, text)| {
                let direction = Some(row.change.cmp(&0));
                let paint = |text: &str| options.paint(text, |palette| palette.change(direction));
                let figure = paint(&right_aligned(&text, figure));
                let bar = match axis.bar(row.change, options.charset) {
                    Some([before, bar, after]) => {
                        let axis = options.paint(axis.stroke, Palette::aside);
                        match row.change < 0 {
                            true => format!("{before}{}{axis}{after}  ", paint(&bar)),
                            false => format!("{before}{axis}{}{after}  ", paint(&bar)),
                        }
                    }
                    None => String::new(),
                };
                let name = row.painted(&shorten(&row.name, names), options);
                let padding = " ".repeat(names.saturating_sub(cells(&row.name)));
                let remark = options.paint(row.remark, Palette::aside);
                let line = format!("{figure}  {bar}{name}{padding}  {remark}");
                options.charset.drawing(line.trim_end_matches(' ')).into_owned()
            })
            .collect();
        if options.is_root_first {
            lines.reverse();
        }
        lines
    }

    /// The line about directories that were moved.
    fn moved(&self) -> Option<String> {
        let (from, to) = self.moves.first()?;
        Some(match self.moves.len() {
            1 => format!("1 directory moved, same size: {from} → {to}"),
            count => format!("{count} directories moved, same size: {from} → {to}, … (-j has all)"),
        })
    }
}

impl Row {
    fn new(node: Child<'_>, path: Vec<u8>, change: i128, options: &PictureOptions) -> Self {
        let known = node.change();
        let (was, is) = known.map_or((None, None), |change| (change.was, change.is));
        let whole = node.path();
        let shown = if options.full_paths || path.is_empty() { &whole } else { &path };
        Self {
            change,
            name: options.charset.text(escape(shown)),
            base: node.name().to_vec(),
            mode: node.mode(),
            remark: match (was, is) {
                (None, _) => "new",
                (_, None) => "gone",
                _ => "",
            },
            is_rest: node.is_group(),
            is_gone: is.is_none(),
            is_partial: options.partial.has(&node),
            path: whole,
        }
    }

    /// The sum of what has no line.
    fn smaller(change: i128) -> Self {
        Self {
            change,
            name: "smaller changes".to_owned(),
            path: Vec::new(),
            base: Vec::new(),
            mode: Mode::default(),
            remark: "",
            is_rest: true,
            is_gone: true,
            is_partial: false,
        }
    }

    /// Its change, marked if something in it could not be read.
    fn figure(&self, options: &PictureOptions) -> String {
        mark(options.format.write_change(self.change), self.is_partial)
    }

    /// Its name as it is `shown`, in its colour, and with a link to it.
    fn painted(&self, shown: &str, options: &PictureOptions) -> String {
        let name = match &options.colors {
            Some(_) if self.is_rest => options.paint(shown, Palette::aside),
            Some(colors) if !shown.is_empty() => {
                colors.name(&self.base, self.mode).paint(shown).to_string()
            }
            _ => shown.to_owned(),
        };
        let links = options.links.as_ref().filter(|_| !self.is_gone && !self.is_rest);
        let links = links.filter(|_| self.path.len() <= path::LONGEST && !name.is_empty());
        match links {
            Some(links) => links.on(name, &self.path),
            None => name,
        }
    }
}

/// Where bars begin: to the left of it, what shrank.
struct Axis {
    /// The cells on either side.
    sides: [usize; 2],
    /// The change of a bar that fills its side.
    whole: [u128; 2],
    /// What stands between them; nothing if there is only one.
    stroke: &'static str,
}

impl Axis {
    /// In `width` cells, for changes of at most so much down and up, all to one scale.
    fn new([shrank, grew]: [u128; 2], width: usize) -> Self {
        let stroke = if shrank > 0 && grew > 0 { "│" } else { "" };
        let width = width.saturating_sub(cells(stroke));
        let all = (shrank + grew).max(1);
        let left = (width as u128 * shrank).div_ceil(all) as usize;
        let left = if grew > 0 { left.min(width.saturating_sub(1)) } else { width };
        let left = if shrank > 0 { left } else { 0 };
        let sides = [left, width - left];
        // A cell is as much on one side as on the other.
        let per_cell = [(shrank, sides[0]), (grew, sides[1])]
            .map(|(change, cells)| change.div_ceil(cells.max(1) as u128));
        let per_cell = per_cell[0].max(per_cell[1]).max(1);
        Self { sides, whole: sides.map(|cells| per_cell * cells as u128), stroke }
    }

    /// The bar of a `change`, with the blanks before and after it; none if there is no room for bars.
    fn bar(&self, change: i128, charset: Charset) -> Option<[String; 3]> {
        let [left, right] = self.sides;
        if left + right == 0 {
            return None;
        }
        let side = usize::from(change >= 0);
        let (part, whole) = (change.unsigned_abs(), self.whole[side]);
        // Of more than a number can be, both lose the same.
        let shift = (128 - whole.leading_zeros()).saturating_sub(64);
        let [part, whole] = [part, whole].map(|size| (size >> shift) as u64);
        Some(match side {
            1 => {
                let bar = bar(part, whole, right, charset);
                let after = " ".repeat(right.saturating_sub(cells(&bar)));
                [" ".repeat(left), bar, after]
            }
            _ => {
                // No character fills a cell from its right.
                let cells = cells(&bar(part, whole, left, Charset::Ascii));
                let sign = if charset == Charset::Ascii { "-" } else { "░" };
                [" ".repeat(left - cells), sign.repeat(cells), " ".repeat(right)]
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_share_a_scale() {
        let axis = Axis::new([30, 90], 13);
        assert_eq!(axis.sides, [3, 9]);
        let shown = |change| axis.bar(change, Charset::Unicode).expect("there is room").concat();
        assert_eq!(shown(-30), "░░░         ");
        assert_eq!(shown(-10), "  ░         ");
        assert_eq!(shown(90), "   █████████");
        assert_eq!(shown(45), "   ████▌    ");
        let axis = Axis::new([0, u128::MAX >> 1], 4);
        assert_eq!(axis.bar(i128::MAX, Charset::Ascii).expect("room").concat(), "####");
        assert_eq!(Axis::new([7, 0], 4).sides, [4, 0]);
        assert!(Axis::new([7, 1], 0).bar(1, Charset::Unicode).is_none());
    }
}
