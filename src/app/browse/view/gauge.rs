//! How full the file system of the current directory is, and how much would be available without the marked entries.

use ratatui_core::style::{Modifier, Style};

use super::canvas::{BOLD, Canvas};
use crate::app::browse::browser::Browser;
use weigh::internal::show::name::cells;
use weigh::internal::show::palette::{self, Charset, Palette};
use weigh::internal::show::partial;

/// The cells of the bar, and of the blank after it.
const BAR: usize = 12;

/// Draws it at the right end of the second line, as far as it fits behind the names of the views, which end in the
/// column `end`: first the bar is left out, then the size of the file system, then all of it.
pub(super) fn draw(browser: &Browser, end: usize, canvas: &mut Canvas<'_>) {
    let Some((space, then)) = browser.space() else { return };
    let format = &browser.options.format;
    let [available, size] = [space.available, space.size].map(|bytes| format.write(bytes));
    let now = available.trim_start().to_owned();
    // Too little to be seen is not said.
    let then = then.filter(|(then, _)| format.write(*then) != available).map(|(then, is_least)| {
        (
            then,
            format!(" → {}", partial::mark(format.write(then).trim_start().to_owned(), is_least)),
        )
    });
    let after = then.as_ref().map_or("", |(_, text)| text);
    let of = format!(" of {}", size.trim_start());
    let text = |of: &str| format!("{now}{after} available{of}");
    // Two blanks before it, and one after.
    let room = canvas.width().saturating_sub(end + 3);
    let Some(of) = [&*of, ""].into_iter().find(|of| cells(&text(of)) <= room) else { return };
    let taken = cells(&text(of));
    let mut x = canvas.width().saturating_sub(taken + 1);
    if !of.is_empty() && taken + BAR <= room {
        let (start, width) = (x - BAR, BAR - 1);
        let used = space.size.saturating_sub(space.available);
        let left = then.as_ref().map_or(used, |(then, _)| space.size.saturating_sub(*then));
        let [rest, gone] = match canvas.charset {
            Charset::Ascii => [".", "+"],
            Charset::Unicode | Charset::Console => ["░", "▒"],
        };
        // Whole cells: a part of one would be a hole.
        let whole = match canvas.charset {
            Charset::Unicode => Charset::Console,
            charset => charset,
        };
        let bar = |bytes| palette::bar(bytes, space.size, width, whole);
        // It draws attention only where that is needed.
        let is_full = space.available < space.size / 10;
        let bar_style = |it: Palette| if is_full { it.bar(used, space.size) } else { it.quiet() };
        let style = canvas.style(bar_style, Modifier::empty());
        let (all, bar) = (bar(used), bar(left));
        canvas.write((start, 1), &rest.repeat(width), width, canvas.aside());
        canvas.write((start, 1), &gone.repeat(cells(&all)), width, canvas.of_mark());
        canvas.write((start, 1), &bar, width, style);
    }
    x = canvas.write(
        (x, 1),
        &now,
        taken,
        if after.is_empty() { Style::new() } else { canvas.aside() },
    );
    x = canvas.write((x, 1), after, taken, BOLD);
    canvas.write((x, 1), &format!(" available{of}"), taken, canvas.aside());
}
