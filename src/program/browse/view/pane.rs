//! The second pane: what is in the selected directory, largest first, and what is known about the selected entry.

use ratatui_core::style::Modifier;

use super::areas::Areas;
use super::canvas::{Canvas, sized};
use super::text::pairs;
use super::{dialogs, list, map};
use crate::program::browse::browser::Browser;
use crate::program::browse::item::Item;
use weigh::internal::render::name::{cells, shorten};
use weigh::internal::render::palette;
use weigh::internal::render::size::Format;

/// Draws it from the column `x` on.
pub(super) fn draw(browser: &Browser, x: usize, areas: Areas, canvas: &mut Canvas<'_>) {
    let (width, lines) = (canvas.width().saturating_sub(x), areas.lines(canvas.height()));
    let Some(item) = browser.item(browser.chosen) else { return };
    let end = areas.head + lines;
    (areas.head - 1..end).for_each(|y| _ = canvas.write((x - 2, y), "│", 1, canvas.aside()));
    let title = shorten(&list::name(browser, &item), width);
    let of_name = list::name_style(browser, &item).add_modifier(Modifier::BOLD);
    canvas.write((x, areas.head - 1), &title, width, of_name);
    let details = dialogs::details(browser);
    let details = pairs(&details, (x, canvas.width()), [canvas.aside(); 2]);
    let room = lines.saturating_sub(details.len());
    let mut y = areas.head;
    if item.is_directory() && item.gone.is_none() && room > 2 {
        y += 1 + match (browser.inside().1, browser.columns.map) {
            (0, _) => {
                canvas.write((x, y), browser.nothing(item.place), width, canvas.aside());
                1
            }
            (_, true) => map::draw(browser, (x, y, width, room - 1), canvas),
            (_, false) => content(browser, &item, (x, y, width, room - 1), canvas),
        };
    }
    for (line, y) in details.iter().zip(y..end) {
        canvas.line(y, line);
    }
}

/// The largest entries of the selected directory. Returns how many lines they take.
fn content(
    browser: &Browser,
    item: &Item<'_>,
    (x, y, width, height): (usize, usize, usize, usize),
    canvas: &mut Canvas<'_>,
) -> usize {
    let (places, count) = browser.inside();
    let bar = (width / 4).clamp(6, 20);
    let whole = item.totals.size;
    let largest = places.first().map_or(0, |place| browser.tree().at(*place).size());
    // The last line says how many more there are.
    let shown = if count > height { height - 1 } else { count };
    for (place, y) in places.iter().take(shown).zip(y..) {
        let child = Item::of(&browser.tree().at(*place));
        let size = child.totals.size;
        let text = sized(browser, size, browser.is_partial(Some(*place)));
        let share = canvas.style(|it| it.share(size, whole), Modifier::empty());
        canvas.write((x + 7usize.saturating_sub(cells(&text)), y), &text, width, share);
        let drawn = palette::bar(size, largest, bar, canvas.charset);
        let of_bar = canvas.style(|it| it.bar(size, whole), Modifier::empty());
        canvas.write((x + 8, y), &drawn, bar, of_bar);
        let at = x + 8 + bar + 1;
        let room = canvas.width().saturating_sub(at);
        let of_name = list::name_style(browser, &child);
        canvas.write((at, y), &shorten(&list::own_name(browser, &child), room), room, of_name);
    }
    let shown = shown.min(places.len());
    if count > shown {
        let more = format!("{} more", Format::Count.write((count - shown) as u64));
        canvas.write((x + 8, y + shown), &more, width, canvas.aside());
    }
    shown + usize::from(count > shown)
}
