//! Draws the state. Pure: the result depends only on the state and the size of the screen.
//!
//! In a narrow terminal, columns are dropped in this order: bars, percentages, times, counts, freed space, changes.
//! Sizes and names stay.

mod dialogs;
mod list;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::terminal::Frame;

use super::browser::{Browser, Dialog, PendingWork, Question, Watched};
use weigh::internal::escape::escape;
use weigh::internal::measure::Measure;
use weigh::internal::remove::Manner;
use weigh::internal::render::name::{cells, shorten};
use weigh::internal::render::partial;
use weigh::internal::render::size::Format;

/// The lines of the screen outside the list: the head and the foot.
const AROUND: u16 = 2;

/// How many lines of the list fit on a screen of this height.
pub fn list_height(height: u16) -> usize {
    height.saturating_sub(AROUND).max(1).into()
}

/// Draws the whole screen.
pub fn draw(browser: &Browser, frame: &mut Frame<'_>) {
    let area = frame.area();
    let canvas = &mut Canvas { buffer: frame.buffer_mut(), area };
    if area.width == 0 || area.height == 0 {
        return;
    }
    head(browser, canvas);
    if area.height > AROUND {
        match &browser.dialog {
            Some(dialog) if !matches!(dialog, Dialog::Prompt(..)) => {
                dialogs::draw(browser, dialog, canvas);
            }
            _ => list::draw(browser, canvas),
        }
    }
    if area.height > 1 {
        foot(browser, canvas);
    }
    if let Some(Dialog::Prompt(question, text)) = &browser.dialog {
        let at = cells(&asked(*question)) + cells(&escape(text.as_bytes()));
        let last = area.width.saturating_sub(1);
        let x = u16::try_from(at).unwrap_or(last).min(last);
        frame.set_cursor_position((x, area.height.saturating_sub(1)));
    }
}

/// The drawing area.
struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
}

impl Canvas<'_> {
    /// Writes `text`, which is already escaped, from the column `x` of a line on, in at most `width` cells. Returns
    /// the column after it.
    fn write(&mut self, (x, y): (usize, usize), text: &str, width: usize, style: Style) -> usize {
        let (Ok(column), Ok(line)) = (u16::try_from(x), u16::try_from(y)) else { return x };
        if column >= self.area.width || line >= self.area.height {
            return x;
        }
        self.buffer.set_stringn(column, line, text, width, style).0.into()
    }

    /// Styles a whole line.
    fn paint(&mut self, y: usize, style: Style) {
        let Ok(y) = u16::try_from(y) else { return };
        self.buffer.set_style(Rect { y, height: 1, ..self.area }.intersection(self.area), style);
    }

    fn width(&self) -> usize {
        self.area.width.into()
    }

    fn height(&self) -> usize {
        self.area.height.into()
    }
}

/// The path of the current directory, and how complete it is.
fn head(browser: &Browser, canvas: &mut Canvas<'_>) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let width = canvas.width();
    let state = fitting(&state(browser), width / 2);
    let room = width.saturating_sub(cells(&state) + 1);
    let path = shorten(&escape(&browser.path()), room);
    canvas.write((0, 0), &path, room, bold);
    let x = width.saturating_sub(cells(&state));
    canvas.write((x, 0), &state, width, Style::new());
}

/// The activities, the most important first.
fn state(browser: &Browser) -> Vec<String> {
    let mut parts = Vec::new();
    let count = |count: usize| Format::Count.write(count as u64);
    match &browser.seen {
        Watched::Walk { is_walk: false, .. } => parts.push("loading".to_owned()),
        Watched::Walk { is_stopping: true, .. } => parts.push("stopping".to_owned()),
        Watched::Walk { progress, .. } => {
            parts.push(format!("scanning {}", short(progress.entries)));
        }
        Watched::Whole(scan) => {
            let weighed = &scan.browsed.snapshot.weighed;
            if weighed.is_interrupted {
                parts.push("stopped".to_owned());
            }
        }
    }
    match &browser.pending {
        Some(PendingWork::All | PendingWork::Directory(_)) => {
            parts.push("scanning again".to_owned())
        }
        Some(PendingWork::Removal) => parts.push(removing(browser)),
        Some(PendingWork::Ignored(_)) => parts.push("looking for what git ignores".to_owned()),
        None => {}
    }
    let (unread, _) = browser.unread();
    if unread > 0 {
        parts.push(format!("{} unread", count(unread)));
    }
    if let Some(pattern) = &browser.pattern {
        parts.push(format!("/{}", escape(pattern.text().as_bytes())));
    }
    if let Some(browsed) = browser.browsed() {
        match browsed.snapshot.view.measure {
            Measure::Disk => {}
            measure => parts.push(measure.name().to_owned()),
        }
        if let Some(file_system) = browsed.file_systems.first() {
            let free = browser.options.formats.bytes.write(file_system.space.available);
            parts.push(format!("{free} available"));
        }
    }
    parts.push(browser.sorting.name().to_owned());
    parts
}

/// The progress of a removal.
fn removing(browser: &Browser) -> String {
    let Some(running) = &browser.removals.running else { return "putting back".to_owned() };
    let verb = match running.manner {
        _ if running.is_ending => "ending",
        Manner::Delete => "deleting",
        Manner::Trash => "moving",
    };
    format!("{verb} {}", short(running.removed))
}

/// As many of `parts` as fit, with separators.
fn fitting(parts: &[String], width: usize) -> String {
    let mut text = String::new();
    for part in parts {
        let more = if text.is_empty() { part.clone() } else { format!("{text} · {part}") };
        if cells(&more) > width {
            break;
        }
        text = more;
    }
    text
}

/// A short count: `1.2M`.
fn short(count: u64) -> String {
    Format::Decimal.write(count).trim_end_matches('B').to_owned()
}

fn asked(question: Question) -> String {
    match question {
        Question::Filter => "list only: ".to_owned(),
        Question::Mark => format!("mark ({}): ", super::pattern::MarkedBy::EXAMPLES),
    }
}

/// The message, the prompt or the marks.
fn foot(browser: &Browser, canvas: &mut Canvas<'_>) {
    let (width, y) = (canvas.width(), canvas.height().saturating_sub(1));
    canvas.paint(y, Style::new().add_modifier(Modifier::REVERSED));
    let style = Style::new();
    if let Some(Dialog::Prompt(question, text)) = &browser.dialog {
        let text = escape(text.as_bytes());
        let asked = asked(*question);
        // The end of the typed text stays visible.
        let asked = if cells(&asked) + cells(&text) < width { asked } else { String::new() };
        canvas.write((0, y), &shorten(&format!("{asked}{text}"), width), width, style);
        return;
    }
    if let Some(Dialog::Delete { entries, typed }) = &browser.dialog {
        let (count, typed) = (number_of(*entries), escape(typed.as_bytes()));
        let asked = format!("delete {count} for ever? type how many: {typed}");
        canvas.write((0, y), &shorten(&asked, width), width, style);
        return;
    }
    if let (None, Some(running)) = (browser.said(), &browser.removals.running) {
        let of = Format::Count.write(running.entries);
        let removed = Format::Count.write(running.removed);
        let name = escape(&running.name);
        let text = format!("{removed} of {of} entries removed, Esc cancels: {name}");
        canvas.write((0, y), &shorten(&text, width), width, style);
        return;
    }
    if let Some(said) = browser.said() {
        canvas.write((0, y), &shorten(said, width), width, style);
        return;
    }
    let hints = match browser.dialog {
        Some(Dialog::Review { .. }) if browser.no_removal().is_none() => {
            ["t trash  D delete  p print paths  Esc back", "t trash  D delete"].as_slice()
        }
        Some(_) => &["any other key ends it"],
        None => &["d review  ? help", "? help"],
    };
    let text = summary(browser, width);
    let room = width.saturating_sub(cells(&text) + 2);
    canvas.write((0, y), &text, width, style);
    if let Some(hint) = hints.iter().find(|hint| cells(hint) <= room) {
        canvas.write((width - cells(hint), y), hint, width, style);
    }
}

/// A number of entries.
fn number_of(entries: u64) -> String {
    let word = if entries == 1 { "entry" } else { "entries" };
    format!("{} {word}", Format::Count.write(entries))
}

/// The total of the marks, or else of the list.
fn summary(browser: &Browser, width: usize) -> String {
    let (count, marked) = browser.marked();
    let is_partial = browser.is_marked_partial();
    let write = |size| sized(browser, size, is_partial);
    let long = match marked {
        _ if count == 0 => {
            let totals = browser.totals();
            let here = browser.scan().and_then(|scan| scan.here().place());
            let size = sized(browser, totals.size, browser.is_partial(here));
            let entries = number_of(totals.entries);
            return shorten(&format!("{size} in {entries}"), width);
        }
        None => format!("{count} marked: what that frees is known once the scan is over"),
        Some((totals, Some(freed))) => {
            let freed = partial::freed(freed, &format(browser), is_partial);
            format!("{count} marked {}, frees {freed}", write(totals.size))
        }
        Some((totals, None)) => format!("{count} marked {}", write(totals.size)),
    };
    if cells(&long) <= width { long } else { shorten(&format!("{count} marked"), width) }
}

/// A size, marked if it is a lower bound.
fn sized(browser: &Browser, size: u64, is_partial: bool) -> String {
    partial::mark(format(browser).write(size), is_partial)
}

/// The format of sizes.
fn format(browser: &Browser) -> Format {
    browser.options.formats.of(browser.measure())
}

/// Converts a style of `nu_ansi_term` to ratatui's.
fn style(style: nu_ansi_term::Style) -> Style {
    let color = |color: nu_ansi_term::Color| match color {
        nu_ansi_term::Color::Black => Color::Black,
        nu_ansi_term::Color::DarkGray => Color::DarkGray,
        nu_ansi_term::Color::Red => Color::Red,
        nu_ansi_term::Color::LightRed => Color::LightRed,
        nu_ansi_term::Color::Green => Color::Green,
        nu_ansi_term::Color::LightGreen => Color::LightGreen,
        nu_ansi_term::Color::Yellow => Color::Yellow,
        nu_ansi_term::Color::LightYellow => Color::LightYellow,
        nu_ansi_term::Color::Blue => Color::Blue,
        nu_ansi_term::Color::LightBlue => Color::LightBlue,
        nu_ansi_term::Color::Purple | nu_ansi_term::Color::Magenta => Color::Magenta,
        nu_ansi_term::Color::LightPurple | nu_ansi_term::Color::LightMagenta => Color::LightMagenta,
        nu_ansi_term::Color::Cyan => Color::Cyan,
        nu_ansi_term::Color::LightCyan => Color::LightCyan,
        nu_ansi_term::Color::White => Color::Gray,
        nu_ansi_term::Color::LightGray => Color::White,
        nu_ansi_term::Color::Fixed(number) => Color::Indexed(number),
        nu_ansi_term::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
        nu_ansi_term::Color::Default => Color::Reset,
    };
    let modifiers = [
        (style.is_bold, Modifier::BOLD),
        (style.is_dimmed, Modifier::DIM),
        (style.is_italic, Modifier::ITALIC),
        (style.is_underline, Modifier::UNDERLINED),
        (style.is_reverse, Modifier::REVERSED),
    ];
    let modifiers = modifiers.into_iter().filter(|(is_on, _)| *is_on);
    Style {
        fg: style.foreground.map(color),
        bg: style.background.map(color),
        add_modifier: modifiers.map(|(_, modifier)| modifier).collect(),
        ..Style::new()
    }
}
