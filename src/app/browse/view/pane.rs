//! The second pane: what is in the selected directory, largest first, and what is known about the selected entry. In a
//! list of what is anywhere, it also has what is beside the selected file.

use ratatui_core::style::Modifier;

use super::canvas::{Areas, Canvas};
use super::text::pairs;
use super::{dialogs, list};
use crate::app::browse::browser::Browser;
use crate::app::browse::listing::Item;
use weigh::internal::show::name::{cells, padded, shorten};
use weigh::internal::show::page::treemap::{Rectangle, squarify};
use weigh::internal::show::palette;
use weigh::internal::show::size::Format;
use weigh::internal::tree::Child;

/// Draws it from the column `x` on.
pub(super) fn draw(browser: &Browser, x: usize, areas: Areas, canvas: &mut Canvas<'_>) {
    let (width, lines) = (canvas.width().saturating_sub(x), areas.lines(canvas.height()));
    let Some(item) = browser.item(browser.shown.chosen) else { return };
    let end = areas.head + lines;
    (areas.head - 1..end).for_each(|y| _ = canvas.write((x - 2, y), "│", 1, canvas.aside()));
    let title = shorten(&list::title(browser, &item), width);
    let of_name = list::name_style(browser, &item).add_modifier(Modifier::BOLD);
    canvas.write((x, areas.head - 1), &title, width, of_name);
    let details = dialogs::details(browser);
    let details = pairs(&details, (x, canvas.width()), [canvas.aside(); 2]);
    let room = lines.saturating_sub(details.len());
    let mut y = areas.head;
    if let Some(directory) = browser.directory_in_pane().filter(|_| room > 2) {
        if item.is_directory() {
            y += inside(browser, &directory, (x, y, width, room - 1), canvas) + 1;
        } else {
            // Below what is known about the file, and a blank line.
            let heading = end - room + 1;
            canvas.write((x, heading), "in the same directory", width, canvas.aside());
            inside(browser, &directory, (x, heading + 1, width, room - 2), canvas);
        }
    }
    for (line, y) in details.iter().zip(y..end) {
        canvas.line(y, line);
    }
}

/// What is in a directory, as a list or a treemap. Returns how many lines that takes.
fn inside(
    browser: &Browser,
    directory: &Child<'_>,
    (x, y, width, height): (usize, usize, usize, usize),
    canvas: &mut Canvas<'_>,
) -> usize {
    if browser.inside().1 == 0 {
        canvas.write((x, y), browser.nothing(directory.place()), width, canvas.aside());
        1
    } else if browser.shown.columns.map {
        map(browser, (x, y, width, height), canvas)
    } else {
        content(browser, directory.size(), (x, y, width, height), canvas)
    }
}

/// The largest entries of a directory, whose size is the `whole`. The chosen one stands out. Returns how many lines they
/// take.
fn content(
    browser: &Browser,
    whole: u64,
    (x, y, width, height): (usize, usize, usize, usize),
    canvas: &mut Canvas<'_>,
) -> usize {
    let chosen = browser.item(browser.shown.chosen).and_then(|item| item.place);
    let (places, count) = browser.inside();
    let bar = (width / 4).clamp(6, 20);
    // The last line says how many more there are.
    let shown = if count > height { height - 1 } else { count };
    for (child, y) in places.iter().take(shown).zip(y..) {
        let (is_partial, child) = (browser.scan.partial.has(child), Item::of(child));
        let size = child.totals.size;
        let text = browser.sized(size, is_partial);
        let share = canvas.style(|it| it.share(size, whole), Modifier::empty());
        canvas.write((x + 7usize.saturating_sub(cells(&text)), y), &text, width, share);
        let drawn = palette::bar(size, whole, bar, canvas.charset);
        let of_bar = canvas.style(|it| it.bar(size, whole), Modifier::empty());
        canvas.write((x + 8, y), &drawn, bar, of_bar);
        let at = x + 8 + bar + 1;
        let room = canvas.width().saturating_sub(at);
        let mut of_name = list::name_style(browser, &child);
        if chosen.is_some() && chosen == child.place && !browser.is_walking() {
            of_name = of_name.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        }
        canvas.write((at, y), &shorten(&list::own_name(browser, &child), room), room, of_name);
    }
    let shown = shown.min(places.len());
    if count > shown {
        let more = format!("{} more", Format::Count.write((count - shown) as u64));
        canvas.write((x + 8, y + shown), &more, width, canvas.aside());
    }
    shown + usize::from(count > shown)
}

// A treemap in cells: the entries of the selected directory, each as large as its share.

/// A cell is about twice as high as it is wide.
const RATIO: f64 = 2.0;

/// What is left of a name in fewer cells says nothing.
const LEAST_NAME: usize = 6;

/// Draws it at `x` and `y`, and returns how many lines it takes.
fn map(
    browser: &Browser,
    (x, y, width, height): (usize, usize, usize, usize),
    canvas: &mut Canvas<'_>,
) -> usize {
    let (places, _) = browser.inside();
    let items: Vec<_> = places.iter().map(Item::of).collect();
    let sizes: Vec<f64> = items.iter().map(|item| item.totals.size as f64).collect();
    let whole = items.iter().fold(0u64, |sum, item| sum.saturating_add(item.totals.size));
    let area =
        Rectangle { width: width as f64, height: height as f64 * RATIO, ..Default::default() };
    for (item, part) in items.iter().zip(squarify(&sizes, area)) {
        let size = item.totals.size;
        let [left, right] = [part.x, part.x + part.width].map(|at| at.round() as usize);
        let [top, end] = [part.y, part.y + part.height].map(|at| (at / RATIO).round() as usize);
        let style = canvas.style(|it| it.bar(size, whole), Modifier::empty());
        // Half a cell to the right and below stays free between two parts.
        let room = (right - left).saturating_sub(usize::from(right - left > 1));
        let tile = canvas.style(|it| it.tile(size, whole), Modifier::REVERSED);
        let texts = [list::own_name(browser, item), browser.sized(size, false)];
        for line in top..end {
            let is_last = line + 1 == end && end - top > 1;
            let text = texts.get(line - top).map_or("", String::as_str);
            let has_room = cells(text) < room || line == top && room >= LEAST_NAME;
            let text = if has_room { shorten(text, room) } else { String::new() };
            let (text, style) = match is_last {
                true => ("▀".repeat(room), style),
                false => (padded(&text, room), tile),
            };
            canvas.write((x + left, y + line), &text, room, style);
        }
    }
    height
}
