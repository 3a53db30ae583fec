//! The entries of the current directory, one per line.

use ratatui_core::style::{Color, Modifier, Style};

use super::canvas::{AROUND, Canvas, format, sized, style};
use crate::program::browse::browser::{Bar, Browser, ListColumns};
use crate::program::browse::item::Item;
use weigh::internal::escape::escape;
use weigh::internal::inode::Links;
use weigh::internal::measure::Kind;
use weigh::internal::render::name::{cells, shorten};
use weigh::internal::render::partial;
use weigh::internal::render::percent::percent;
use weigh::internal::render::size::Format;
use weigh::internal::tree::Freeable;

/// What a line shows.
struct Fields<'a> {
    item: Item<'a>,
    mark: char,
    /// Its size, change, freed space, count and time.
    columns: [String; 5],
}

/// Which of the columns is the change.
const CHANGE: usize = 1;

/// The width of each column; 0 if it is not shown.
#[derive(Default)]
struct Widths {
    columns: [usize; 5],
    bar: usize,
    percent: usize,
}

/// The width of the cursor, the mark and a blank.
const BEFORE: usize = 3;
/// The least room for names: a column that would leave less is dropped.
const NAME: usize = 8;

pub(super) fn draw(browser: &Browser, canvas: &mut Canvas<'_>) {
    let format = format(browser);
    let height = canvas.height().saturating_sub(usize::from(AROUND));
    let lines: Vec<_> = (browser.first..browser.len().min(browser.first + height))
        .filter_map(|line| fields(browser, line, &format))
        .collect();
    if lines.is_empty() {
        let has_nothing = browser.tree().root().name().is_empty() && browser.way.is_empty();
        let text = match &browser.pattern {
            _ if browser.is_walking() => "nothing yet",
            Some(_) => "nothing is called so",
            None if has_nothing => "nothing could be read: e says why",
            None => "nothing in it",
        };
        canvas.write((BEFORE, 1), text, canvas.width().saturating_sub(BEFORE), Style::new());
    }
    let widths = widths(browser, &lines, canvas.width());
    let whole = (browser.totals().size, browser.scan.index.largest);
    for (i, fields) in lines.iter().enumerate() {
        let is_chosen = browser.first + i == browser.chosen;
        line(browser, canvas, i + 1, fields, &widths, whole, is_chosen);
    }
}

fn fields<'a>(browser: &'a Browser, line: usize, format: &Format) -> Option<Fields<'a>> {
    let item = browser.item(line)?;
    let is_marked = item.place.is_some_and(|place| browser.scan.marks.is_marked(place));
    let is_marked = is_marked || browser.is_held;
    let is_partial = browser.is_partial(item.place);
    let freed = match browser.freed(&item) {
        _ if !browser.knows_freed() || item.is_open => String::new(),
        Freeable { most: 0, .. } if item.totals.size > 0 && !is_partial => "–".to_owned(),
        freed => partial::freed(freed, format, is_partial),
    };
    let change = browser.change(&item).filter(|change| *change != 0);
    let change = change.map(|change| format.write_change(change)).unwrap_or_default();
    let newest = item.totals.newest.filter(|_| browser.columns.times);
    let time = newest.map_or_else(String::new, |newest| browser.time(newest));
    Some(Fields {
        mark: match (is_marked, item.is_open) {
            (true, _) => '*',
            (false, true) => '…',
            _ => ' ',
        },
        columns: [
            sized(browser, item.totals.size, is_partial),
            change,
            freed,
            Format::Count.write(item.totals.entries),
            time,
        ],
        item,
    })
}

/// The widths of the columns that fit beside names. The most important columns come first.
fn widths(browser: &Browser, lines: &[Fields<'_>], width: usize) -> Widths {
    const BAR: (usize, usize) = (8, 24);
    // Sizes keep their position from one directory to the next.
    let mut widest = [6, 0, 6, 0, 0];
    for (i, widest) in widest.iter_mut().enumerate() {
        let all = lines.iter().map(|fields| cells(&fields.columns[i]));
        *widest = all.max().unwrap_or(0).max(*widest);
    }
    let [size, change, freed, count, time] = widest;
    let ListColumns { bars, counts, times } = browser.columns;
    let bar = if width < 60 { 0 } else { (width / 4).clamp(BAR.0, BAR.1) };
    let mut all = [
        size,
        change,
        if browser.knows_freed() { freed } else { 0 },
        if counts { count } else { 0 },
        if times { time } else { 0 },
        if matches!(bars, Bar::Both | Bar::Percent) { 4 } else { 0 },
        if matches!(bars, Bar::Both | Bar::Graph) { bar } else { 0 },
    ];
    let mut room = width.saturating_sub(BEFORE + NAME);
    for width in all.iter_mut().filter(|width| **width > 0) {
        // After a column that does not fit, no less important one is shown.
        room = room.saturating_sub(*width + 1);
        if room == 0 {
            *width = 0;
        }
    }
    let [size, change, freed, count, time, percent, bar] = all;
    Widths { columns: [size, change, freed, count, time], bar, percent }
}

fn line(
    browser: &Browser,
    canvas: &mut Canvas<'_>,
    y: usize,
    fields: &Fields<'_>,
    widths: &Widths,
    (whole, largest): (u64, u64),
    is_chosen: bool,
) {
    let Fields { item, mark, columns } = fields;
    let width = canvas.width();
    let plain = Style::new();
    let cursor = if is_chosen { '>' } else { ' ' };
    let mut x = canvas.write((0, y), &format!("{cursor}{mark} "), BEFORE, plain);
    let of_change = match (&browser.options.colors, columns[CHANGE].as_bytes().first()) {
        (Some(_), Some(b'+')) => plain.fg(Color::Red),
        (Some(_), Some(b'-')) => plain.fg(Color::Green),
        _ => plain,
    };
    for (i, (text, width)) in columns.iter().zip(widths.columns).enumerate() {
        if width > 0 {
            let style = if i == CHANGE { of_change } else { plain };
            canvas.write((x + width.saturating_sub(cells(text)), y), text, width, style);
            x += width + 1;
        }
    }
    if widths.bar > 0 {
        canvas.write((x, y), &bar(item.totals.size, largest, widths.bar), widths.bar, plain);
        x += widths.bar + 1;
    }
    if widths.percent > 0 {
        let text = percent(item.totals.size, whole);
        canvas.write((x + 4usize.saturating_sub(cells(&text)), y), &text, 4, plain);
        x += widths.percent + 1;
    }
    let room = width.saturating_sub(x);
    let remark = match item.links() {
        Links::Of(links) if links > 1 && !item.is_directory() => {
            format!("  {links} links")
        }
        _ if item.note.is_empty() => String::new(),
        _ => format!("  {}", item.note),
    };
    let ending = if item.mode.kind() == Kind::Directory { "/" } else { "" };
    let most = room.saturating_sub(NAME);
    let aside = match item.note {
        "" if cells(&remark) > most => String::new(),
        _ => shorten(&remark, most),
    };
    let name = shorten(&escape(item.name), room.saturating_sub(cells(&aside) + ending.len()));
    let of_name = match &browser.options.colors {
        Some(colors) => style(colors.name(item.name, item.mode)),
        None => plain,
    };
    let end = canvas.write((x, y), &name, room, of_name);
    let end = canvas.write((end, y), ending, room, plain);
    canvas.write((end, y), &aside, room, plain.add_modifier(Modifier::DIM));
    if *mark == '*' {
        canvas.paint(y, plain.add_modifier(Modifier::BOLD));
    }
    if is_chosen {
        canvas.paint(y, plain.add_modifier(Modifier::REVERSED));
    }
}

/// A bar of up to `width` cells; the largest entry fills it.
fn bar(size: u64, largest: u64, width: usize) -> String {
    let cells = u128::from(size) * width as u128 / u128::from(largest.max(1));
    "█".repeat((cells.min(width as u128) as usize).max(usize::from(size > 0)))
}
