//! A treemap in cells: the entries of the selected directory, each as large as its share.

use ratatui_core::style::Modifier;

use super::canvas::Canvas;
use super::list;
use crate::app::browse::browser::Browser;
use crate::app::browse::item::Item;
use weigh::internal::show::name::{cells, padded, shorten};
use weigh::internal::show::page::treemap::{Rectangle, squarify};

/// A cell is about twice as high as it is wide.
const RATIO: f64 = 2.0;

/// What is left of a name in fewer cells says nothing.
const LEAST_NAME: usize = 6;

/// Draws it at `x` and `y`, and returns how many lines it takes.
pub(super) fn draw(
    browser: &Browser,
    (x, y, width, height): (usize, usize, usize, usize),
    canvas: &mut Canvas<'_>,
) -> usize {
    let (places, _) = browser.inside();
    let items: Vec<_> = places.iter().map(|place| Item::of(&browser.tree().at(*place))).collect();
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
        let tile = style.add_modifier(Modifier::REVERSED);
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
