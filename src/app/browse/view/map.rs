//! The treemap on the whole screen, and above it the chosen entry.

use std::cmp::Reverse;

use ratatui_core::style::{Color, Modifier, Style};

use super::canvas::{Areas, Canvas};
use super::list;
use crate::app::browse::browser::Browser;
use crate::app::browse::map::{Cells, Tile};
use weigh::internal::show::kinds::{DIRECTORY, KINDS};
use weigh::internal::show::name::{cells, padded, shorten};
use weigh::internal::show::palette::{Charset, Palette};
use weigh::internal::show::size::{self, percent};

/// A name that is cut to fewer cells tells nothing.
const LEAST_NAME: usize = 6;

pub(super) fn draw(browser: &Browser, areas: Areas, canvas: &mut Canvas<'_>) {
    if areas.head > 1 {
        heading(browser, areas.head - 1, canvas);
    }
    let (map, marks) = (browser.map(), &browser.scan.marks);
    let are_all_marked = browser.scan.is_within_marked();
    for tile in &map.tiles {
        let is_marked = tile.place.is_some_and(|it| marks.covers(&browser.scan.tree, it));
        let mark = if is_marked || are_all_marked { "● " } else { "" };
        match tile.has_inside {
            true => title(browser, tile, mark, canvas),
            false => fill(browser, tile, mark, canvas),
        }
    }
    if let Some(chosen) = map.tile(browser.shown.chosen) {
        frame(chosen, canvas);
    }
}

/// The name of the chosen entry, its size, and when it was written.
fn heading(browser: &Browser, y: usize, canvas: &mut Canvas<'_>) {
    let Some(item) = browser.item(browser.shown.chosen) else { return };
    let size = browser.sized(item.totals.size, browser.is_partial(item.place));
    let mut parts = match item.gone {
        Some(_) => vec!["gone".to_owned()],
        None => vec![size, percent(item.totals.size, browser.whole())],
    };
    if item.is_directory() && item.gone.is_none() {
        parts.push(size::entries(item.totals.entries));
    }
    let change = browser.change(&item).filter(|change| *change != 0);
    parts.extend(change.map(|change| browser.format().write_change(change)));
    parts.extend(item.totals.newest.map(|newest| format!("written {}", browser.age(newest))));
    let width = canvas.width();
    let about = super::fitting(&parts, width / 2);
    let room = width.saturating_sub(cells(&about) + 4);
    let name = shorten(&list::title(browser, &item), room);
    let of_name = list::name_style(browser, &item).add_modifier(Modifier::BOLD);
    let end = canvas.write((1, y), &name, room, of_name);
    canvas.write((end + 2, y), &about, width, Style::new());
}

/// A directory's name and size, in a line above what is in it.
fn title(browser: &Browser, tile: &Tile, mark: &str, canvas: &mut Canvas<'_>) {
    let Cells { x, y, width, .. } = tile.area;
    let room = width.saturating_sub(2);
    let size = browser.sized(tile.size, browser.is_partial(tile.place));
    let name = format!("{mark}{}", tile.name);
    // A name needs the room more.
    let beside = room.saturating_sub(cells(&size) + 1);
    let has_size = beside >= cells(&name).min(LEAST_NAME);
    let name = shorten(&name, if has_size { beside } else { room });
    let size = if has_size { format!(" {size}") } else { String::new() };
    let of_name = canvas.style(Palette::accent, Modifier::BOLD);
    let end = x + 1 + room;
    canvas.write((x, y), "─", 1, canvas.aside());
    let x = canvas.write((x + 1, y), &name, room, of_name);
    let x = canvas.write((x, y), &size, end - x, Style::new());
    let rule = "─".repeat(end.saturating_sub(x + 1));
    canvas.write((x + 1, y), &rule, room, canvas.aside());
}

/// The area of an entry, with its name and size if they have room.
fn fill(browser: &Browser, tile: &Tile, mark: &str, canvas: &mut Canvas<'_>) {
    let Cells { x, y, width, height } = tile.area;
    // Half a cell to the right and below stays free between two tiles.
    let room = width - usize::from(width > 1);
    let size = browser.sized(tile.size, browser.is_partial(tile.place));
    let texts = [format!("{mark}{}", tile.name), size];
    let (area, text_style) = match tile.kind {
        Some(kind) => (
            canvas.style(|it| it.kind(kind), Modifier::empty()),
            canvas.style(|it| it.on_kind(kind), Modifier::REVERSED),
        ),
        None => (Style::new(), canvas.aside()),
    };
    for line in 0..height {
        let is_last = line + 1 == height && height > 1;
        let text = texts.get(line).map_or("", String::as_str);
        // The first column is for a frame.
        let inside = room.saturating_sub(1);
        let has_room = cells(text) < inside || line == 0 && inside >= LEAST_NAME;
        let text = if has_room { format!(" {}", shorten(text, inside)) } else { String::new() };
        let (text, style) = match (is_last, tile.kind, canvas.charset) {
            (true, Some(_), Charset::Unicode) => ("▀".repeat(room), area),
            (true, ..) => continue,
            _ => (padded(&text, room), text_style),
        };
        canvas.write((x, y + line), &text, room, style);
    }
}

/// Draws a frame over the outermost cells of the chosen tile, or makes a small one a band.
fn frame(tile: &Tile, canvas: &mut Canvas<'_>) {
    let Cells { x, y, width, height } = tile.area;
    let accent = canvas.style(Palette::accent, Modifier::BOLD);
    // It has no colours of the tile below it.
    let style = Style { fg: accent.fg.or(Some(Color::Reset)), ..accent }.bg(Color::Reset);
    let style = style.remove_modifier(Modifier::REVERSED | Modifier::DIM);
    let (end, last) = (x + width - 1, y + height - 1);
    if width < 3 || height < 2 {
        let band = canvas.style(Palette::band, Modifier::BOLD);
        let [fg, bg] = [band.fg, band.bg].map(|color| color.or(Some(Color::Reset)));
        let band = Style { fg, bg, ..band }.remove_modifier(Modifier::REVERSED);
        for line in y..=last {
            let name = if line == y { format!(">{}", tile.name) } else { String::new() };
            canvas.write((x, line), &padded(&shorten(&name, width), width), width, band);
        }
        return;
    }
    canvas.write((x, y), ">", 1, style);
    canvas.write((end, y), "┐", 1, style);
    for y in y + 1..last {
        canvas.write((x, y), "│", 1, style);
        canvas.write((end, y), "│", 1, style);
    }
    canvas.write((x, last), &format!("└{}┘", "─".repeat(width - 2)), width, style);
}

/// The colours of the kinds on the map, the largest kind first.
pub(super) fn legend(browser: &Browser, y: usize, canvas: &mut Canvas<'_>) {
    if canvas.palette.is_none() {
        return;
    }
    let mut sums = KINDS.map(|_| 0u64);
    for tile in browser.map().tiles.iter().filter(|tile| !tile.has_inside) {
        if let Some(sum) = tile.kind.and_then(|kind| sums.get_mut(kind)) {
            *sum = sum.saturating_add(tile.size);
        }
    }
    let mut kinds: Vec<_> = (0..KINDS.len()).filter(|kind| sums[*kind] > 0).collect();
    kinds.sort_by_key(|kind| Reverse(sums[*kind]));
    let mut x = 1;
    for kind in kinds {
        let name = if kind == DIRECTORY { "directory" } else { KINDS[kind] };
        if x + 2 + cells(name) > canvas.width() {
            break;
        }
        let area = canvas.style(|it| it.kind(kind), Modifier::empty());
        x = canvas.write((x, y), "■", 1, area) + 1;
        x = canvas.write((x, y), name, usize::MAX, canvas.aside()) + 2;
    }
}
