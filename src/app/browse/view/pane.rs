//! The second pane: what is in the selected directory, largest first, and what is known about the selected entry. In a
//! list of what is anywhere, it also has what is beside the selected file.

use ratatui_core::style::Modifier;

use super::canvas::{Areas, Canvas};
use super::text::pairs;
use super::{dialogs, list};
use crate::app::browse::browser::Browser;
use crate::app::browse::listing::Item;
use weigh::internal::show::name::{cells, shorten};
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

/// The entries of a directory. Returns how many lines they take.
fn inside(
    browser: &Browser,
    directory: &Child<'_>,
    (x, y, width, height): (usize, usize, usize, usize),
    canvas: &mut Canvas<'_>,
) -> usize {
    if browser.inside().1 == 0 {
        canvas.write((x, y), browser.nothing(directory.place()), width, canvas.aside());
        1
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
