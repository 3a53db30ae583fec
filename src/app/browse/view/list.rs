//! The entries of the current directory, one per line, below the headings of their columns.

use std::cmp::Ordering;
use std::iter;

use ratatui_core::style::{Modifier, Style};

use super::canvas::{Areas, BOLD, Canvas, style};
use super::dialogs;
use super::text::shorten_path;
use crate::app::browse::browser::{BARS, Browser, ListColumns, position};
use crate::app::browse::listing::{Branch, Item};
use crate::app::browse::scan::Scan;
use weigh::internal::base::inode::Links;
use weigh::internal::show::name::{cells, shorten};
use weigh::internal::show::palette;
use weigh::internal::show::size::{Format, percent};
use weigh::internal::tree::Child;

/// What a line shows.
struct Fields<'a> {
    item: Item<'a>,
    mark: char,
    /// What the columns with these headings have.
    columns: [String; 5],
    /// The names on the path to it, escaped.
    name: String,
    aside: String,
    change: Option<i128>,
    /// What its share is of.
    whole: u64,
}

/// The columns, from left to right: what is above each. The bar is between the third and the fourth.
const HEADINGS: [&str; 5] = ["size", "change", "entries", "share", "written"];
const NAME_HEADING: &str = "name";
const SIZE: usize = 0;
const CHANGE: usize = 1;
const COUNT: usize = 2;
const PERCENT: usize = 3;
const TIME: usize = 4;

/// Where each column begins, and its width; and those of the bar. The width is 0 if it is not shown.
#[derive(Default)]
struct ListLayout {
    columns: [(usize, usize); 5],
    bar: (usize, usize),
    /// Where names begin, and how much room they have.
    name: (usize, usize),
}

/// The width of the mark, and of the blanks around it.
const BEFORE: usize = 3;

pub(super) fn draw(browser: &Browser, areas: Areas, canvas: &mut Canvas<'_>) {
    let (whole, height) = (browser.whole(), areas.lines(canvas.height()));
    let shown = browser.shown.first..browser.len().min(browser.shown.first + height);
    let lines: Vec<_> = shown.filter_map(|line| fields(browser, line, whole)).collect();
    if lines.is_empty() {
        let (root, here) = (browser.tree().root(), browser.scan.here());
        let (_, unread) = browser.unread();
        let problem = unread.iter().find(|problem| problem.path == here.path());
        let problem = problem.map(|problem| dialogs::said(browser, problem).concat());
        let none_found = browser.no_unused().filter(|_| browser.shown.pattern.is_none());
        let text = match browser.lacks() {
            Some(why) => why,
            None if browser.is_walking() => "nothing yet",
            None if browser.is_asking() || browser.awaits_unused() => "looking …",
            None if browser.is_cleaning() && none_found.is_some() => {
                none_found.as_deref().unwrap_or_default()
            }
            None if browser.is_searching() || browser.shown.pattern.is_some() => "no name matches",
            None if problem.is_some() => problem.as_deref().unwrap_or_default(),
            None if root.name().is_empty() && browser.shown.way.is_empty() => match unread {
                [problem] => &dialogs::said(browser, problem).concat(),
                _ => "nothing could be read: e says why",
            },
            None if root.seems_snapshot() => "it is a file: --from shows the snapshot in it",
            None if !root.is_directory() => "it is a file",
            None if browser.has_all() => browser.nothing(here.place()),
            None => "nothing in it",
        };
        let width = canvas.width().saturating_sub(BEFORE);
        canvas.write((BEFORE, areas.head), &shorten(text, width), width, Style::new());
        return;
    }
    let layout = layout(browser, &lines, areas.list);
    if areas.head > 1 {
        let are_changes = browser.scan.index.largest_change.is_some();
        headings(canvas, areas.head - 1, &layout, (browser.is_cleaning(), are_changes));
        if browser.len() > height {
            let position = position(browser.shown.chosen + 1, browser.len());
            let x = areas.list.saturating_sub(cells(&position) + 1);
            // The heading of the names stays.
            let ends = layout.columns.iter().map(|(x, width)| x + width);
            let end = ends.max().unwrap_or(0).max(layout.name.0 + cells(NAME_HEADING));
            let room = if x > end { usize::MAX } else { 0 };
            canvas.write((x, areas.head - 1), &position, room, canvas.aside());
        }
    }
    for (i, fields) in lines.iter().enumerate() {
        line(browser, canvas, areas.head + i, fields, &layout);
        if browser.shown.first + i == browser.shown.chosen {
            canvas.band(areas.head + i, areas.list);
        }
    }
}

fn fields(browser: &Browser, line: usize, whole: u64) -> Option<Fields<'_>> {
    let item = browser.item(line)?;
    let (is_marked, has_marks) = match item.branch {
        Some(branch) => browser.are_marked(branch),
        None => {
            let Scan { marks, tree, .. } = &browser.scan;
            let is_marked = item.place.is_some_and(|place| marks.covers(tree, place));
            (is_marked || browser.scan.is_within_marked(), has_marks(browser, &item))
        }
    };
    let is_partial = browser.is_partial(item.place);
    let change = browser.change(&item).filter(|change| *change != 0);
    let newest = item.totals.newest.filter(|_| !browser.shown.columns.no_times);
    let (has_size, has_share) = match item.branch {
        None => (true, true),
        Some(Branch { kind: None, is_summed, .. }) => (is_summed, false),
        Some(Branch { is_summed, .. }) => (true, is_summed),
    };
    let text = |is_shown: bool, text: String| if is_shown { text } else { String::new() };
    Some(Fields {
        mark: match is_marked {
            true => '●',
            false if has_marks => '◐',
            false if item.is_open => '…',
            false => ' ',
        },
        columns: [
            text(has_size, browser.sized(item.totals.size, is_partial)),
            change.map(|change| browser.format().write_change(change)).unwrap_or_default(),
            Format::Count.write(item.totals.entries),
            text(has_share, percent(item.totals.size, whole)),
            newest.map_or_else(String::new, |newest| browser.age(newest)),
        ],
        name: name(browser, &item),
        aside: aside(browser, &item, is_partial),
        item,
        change,
        whole,
    })
}

/// Whether something in the directories of a line is marked, but not all that is in them.
fn has_marks(browser: &Browser, item: &Item<'_>) -> bool {
    let Scan { tree, marks, directory, .. } = &browser.scan;
    let last = item.place.map(|place| tree.at(place)).filter(Child::is_directory);
    let mut shown = iter::successors(last, Child::parent);
    // Of directories that share a line, the first one has what is in all of them.
    let first = match browser.is_flat() {
        true => shown.next(),
        false => shown.take_while(|it| it.id() != Some(*directory)).last(),
    };
    first.and_then(|it| it.id()).is_some_and(|id| marks.has_below(tree, id))
}

/// The names on the path to `item`, as people read them.
pub(super) fn name(browser: &Browser, item: &Item<'_>) -> String {
    if let Some(branch) = item.branch {
        let sign = if branch.is_open { "▾" } else { "▸" };
        return match branch {
            Branch { kind: None, .. } => format!("{sign} {}", browser.text(&item.name)),
            Branch { entry: None, .. } => format!("  {sign} {}", browser.text(&item.name)),
            _ => format!("      {}", own_name(browser, item)),
        };
    }
    let mut names: Vec<_> =
        browser.scan.names(item).into_iter().map(|it| browser.text(it)).collect();
    names.pop();
    names.push(own_name(browser, item));
    names.join("/")
}

/// The same, as the title of what is said about it.
pub(super) fn title(browser: &Browser, item: &Item<'_>) -> String {
    if item.branch.is_some() { own_name(browser, item) } else { name(browser, item) }
}

/// The name of `item` itself.
pub(super) fn own_name(browser: &Browser, item: &Item<'_>) -> String {
    browser.text(&item.name) + if item.is_directory() { "/" } else { "" }
}

/// What deleting it alone frees, if that is not its size, and its links.
fn aside(browser: &Browser, item: &Item<'_>, is_partial: bool) -> String {
    let mut parts = Vec::new();
    if item.gone.is_some() {
        parts.push("gone".to_owned());
    }
    if !item.note.is_empty() {
        parts.push(item.note.to_string());
    }
    if let Links::Of(links @ 2..) = item.links()
        && !item.is_directory()
    {
        parts.push(format!("{links} links"));
    }
    let freed = browser.freed(item);
    let shown = browser.write_freed(freed, is_partial);
    let is_all = shown == browser.sized(item.totals.size, is_partial);
    if browser.knows_freed() && !item.is_open && item.place.is_some() && !is_all {
        parts.push(match freed.most {
            0 if !is_partial => "frees 0".to_owned(),
            _ => format!("frees {shown}"),
        });
    }
    parts.join(", ")
}

/// The columns that fit beside names. The most important ones come first; names get room before bars do.
fn layout(browser: &Browser, lines: &[Fields<'_>], width: usize) -> ListLayout {
    /// The least and the most room that a column leaves to names, if they need it.
    const NAME: (usize, usize) = (8, 24);
    const BAR: usize = 6;
    let ListColumns { bars, counts, no_times, .. } = browser.shown.columns;
    let (has_percent, has_bar) = BARS[bars];
    let counts = counts || browser.lists_groups();
    let is_wanted = [true, true, counts, has_percent, !no_times];
    let mut all = [0; 5];
    for (i, column) in all.iter_mut().enumerate() {
        let widest = lines.iter().map(|fields| cells(&fields.columns[i])).max().unwrap_or(0);
        // Sizes keep their position from one directory to the next.
        let least = if i == SIZE { 7 } else { cells(HEADINGS[i]) };
        *column = if is_wanted[i] && widest > 0 { widest.max(least) } else { 0 };
    }
    let longest = browser.scan.index.longest;
    // The bar has a blank on each side.
    let mut room = width.saturating_sub(BEFORE + longest.clamp(NAME.0, NAME.1) + 2);
    let has_text = all.map(|width| width > 0);
    for i in [SIZE, CHANGE, PERCENT, COUNT, TIME].into_iter().filter(|i| has_text[*i]) {
        // After a column that does not fit, no less important one is shown.
        let is_shown = all[i] < room || i == SIZE;
        room = if is_shown { room.saturating_sub(all[i] + gap(i)) } else { 0 };
        all[i] = if is_shown { all[i] } else { 0 };
    }
    // What is above the names gets room before bars do, too. The position has two blanks before it, and one after.
    let heading = match browser.len() > lines.len() {
        true => cells(NAME_HEADING) + 2 + cells(&position(browser.len(), browser.len())) + 1,
        false => 0,
    };
    let room = room.saturating_sub(heading.saturating_sub(longest.clamp(NAME.0, NAME.1)));
    let most = room.saturating_sub(longest.saturating_sub(NAME.1)).min(width / 3);
    // Where all are small, a column of bars would be blank.
    let is_seen = browser.scan.index.largest_change.is_some()
        || lines.iter().any(|it| it.item.totals.size.saturating_mul(32) >= it.whole);
    let bar = if has_bar && is_seen && room > BAR { most.max(BAR) } else { 0 };
    let mut layout = ListLayout::default();
    let mut x = BEFORE;
    for (i, column) in all.into_iter().enumerate() {
        if i == PERCENT {
            // Names of groups are short: bars come after them.
            if browser.lists_groups() {
                layout.name = (x, longest.clamp(NAME.0, NAME.1));
                x += layout.name.1 + 1;
            }
            layout.bar = (x + 1, bar);
            x += if bar > 0 { bar + 2 } else { 0 };
        }
        layout.columns[i] = (x, column);
        x += if column > 0 { column + gap(i) } else { 0 };
    }
    if !browser.lists_groups() {
        layout.name = (x, width.saturating_sub(x));
    }
    layout
}

/// The blanks after a column.
fn gap(column: usize) -> usize {
    if column == PERCENT || column == TIME { 2 } else { 1 }
}

/// Writes the headings of the columns. Bars stand under the heading of the shares, unless they show changes
/// (`are_changes`).
fn headings(
    canvas: &mut Canvas<'_>,
    y: usize,
    layout: &ListLayout,
    (is_of_frees, are_changes): (bool, bool),
) {
    for (i, (x, width)) in layout.columns.into_iter().enumerate() {
        let heading = if i == SIZE && is_of_frees { "frees" } else { HEADINGS[i] };
        let x = match layout.bar {
            (bar, 1..) if i == PERCENT && !are_changes => bar,
            _ => x + width.saturating_sub(cells(heading)),
        };
        canvas.write((x, y), heading, if width > 0 { usize::MAX } else { 0 }, canvas.aside());
    }
    canvas.write((layout.name.0, y), NAME_HEADING, usize::MAX, canvas.aside());
}

fn line(
    browser: &Browser,
    canvas: &mut Canvas<'_>,
    y: usize,
    fields: &Fields<'_>,
    layout: &ListLayout,
) {
    let Fields { item, mark, columns, whole, .. } = fields;
    let (size, whole) = (item.totals.size, *whole);
    let change = match columns[CHANGE].as_bytes().first() {
        Some(b'+') => Some(Ordering::Greater),
        Some(b'-') => Some(Ordering::Less),
        _ => None,
    };
    // Sizes that are in no sum draw no attention.
    let share = match item.branch.is_none_or(|it| it.is_summed) {
        true => canvas.style(|it| it.share(size, whole), Modifier::empty()),
        false => canvas.aside(),
    };
    let styles = [
        share,
        canvas.style(|it| it.change(change), Modifier::empty()),
        Style::new(),
        Style::new(),
        canvas.aside(),
    ];
    let of_mark = if matches!(mark, '●' | '◐') { canvas.of_mark() } else { canvas.aside() };
    canvas.write((1, y), &mark.to_string(), 1, of_mark);
    for (i, (x, width)) in layout.columns.into_iter().enumerate() {
        let x = x + width.saturating_sub(cells(&columns[i]));
        canvas.write((x, y), &columns[i], width, styles[i]);
    }
    let (bar, bar_width) = layout.bar;
    let index = &browser.scan.index;
    let (drawn, of_bar) = match index.largest_change {
        None => (
            palette::bar(size, whole, bar_width, canvas.charset),
            canvas.style(|it| it.bar(size, whole), Modifier::empty()),
        ),
        Some(most) => {
            let changed = fields.change.map_or(0, i128::unsigned_abs);
            let changed = u64::try_from(changed).unwrap_or(u64::MAX);
            (palette::bar(changed, most, bar_width, canvas.charset), styles[CHANGE])
        }
    };
    let has_bar = !columns[PERCENT].is_empty();
    let drawn = if has_bar { drawn } else { String::new() };
    canvas.write((bar, y), &drawn, bar_width, of_bar);
    let (at, room) = layout.name;
    // Names need the room more; of a kind, the whole name.
    let is_kind = item.branch.is_some_and(|it| it.entry.is_none());
    let least = if is_kind { room } else { room / 2 };
    let most = room.saturating_sub(cells(&fields.name).min(least) + 2);
    let beside = match &*item.note {
        "" if cells(&fields.aside) > most => String::new(),
        _ => shorten(&fields.aside, most),
    };
    let taken = if beside.is_empty() { 0 } else { cells(&beside) + 2 };
    let (above, name) = shorten_path(&fields.name, room.saturating_sub(taken));
    let x = canvas.write((at, y), &above, room, canvas.aside());
    let end = canvas.write((x, y), &name, room, name_style(browser, item));
    if let Some(pattern) = browser.sought() {
        let (start, part) = pattern.part_of(&name);
        let of_part = name_style(browser, item).add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        canvas.write((x + cells(&name[..start]), y), part, room, of_part);
    }
    canvas.write((end + 2, y), &beside, room, canvas.aside());
    if *mark == '●' {
        canvas.paint(y, at + layout.name.1, BOLD);
    }
}

/// The style of the name of `item`.
pub(super) fn name_style(browser: &Browser, item: &Item<'_>) -> Style {
    match &browser.options.colors {
        _ if item.branch.is_some_and(|it| it.kind.is_none()) => BOLD,
        Some(_) if item.branch.is_some_and(|it| it.entry.is_none()) => Style::new(),
        Some(colors) => style(colors.name(&item.name, item.mode)),
        None if item.is_directory() => BOLD,
        None => Style::new(),
    }
}
