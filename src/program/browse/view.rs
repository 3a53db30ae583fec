//! Draws the state. Pure: the result depends only on the state and the size of the screen.
//!
//! In a narrow terminal, columns are dropped in this order: bars, percentages, times, counts, freed space, changes.
//! Sizes and names stay.

mod canvas;
mod dialogs;
mod list;

use ratatui_core::style::{Modifier, Style};
use ratatui_core::terminal::Frame;

use self::canvas::{AROUND, Canvas, format, number_of, sized};
use super::browser::{Browser, Dialog, DialogText, PendingWork, Question};
use weigh::internal::escape::escape;
use weigh::internal::measure::Measure;
use weigh::internal::remove::Manner;
use weigh::internal::render::name::{cells, shorten};
use weigh::internal::render::partial;
use weigh::internal::render::size::Format;

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
    match &browser.scan.browsed {
        Some(browsed) if browsed.snapshot.weighed.is_interrupted => {
            parts.push("stopped".to_owned());
        }
        Some(_) => {}
        None if !browser.is_of_roots() => parts.push("loading".to_owned()),
        None if browser.is_stopping => parts.push("stopping".to_owned()),
        None => parts.push(format!("scanning {}", short(browser.progress.entries))),
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
        parts.push(format!("{} unread", Format::Count.write(unread as u64)));
    }
    if let Some(pattern) = &browser.pattern {
        parts.push(format!("/{}", escape(pattern.text().as_bytes())));
    }
    if let Some(browsed) = &browser.scan.browsed {
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
        _ if browser.removals.is_cancelled => "ending",
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

/// The prompt, the message or the progress of a removal, if there is one.
fn message(browser: &Browser, width: usize) -> Option<String> {
    match &browser.dialog {
        Some(Dialog::Prompt(question, text)) => {
            let (asked, text) = (asked(*question), escape(text.as_bytes()));
            // The end of the typed text stays visible.
            let has_room = cells(&asked) + cells(&text) < width;
            return Some(if has_room { asked + &text } else { text });
        }
        Some(Dialog::Delete { entries, typed }) => {
            let (count, typed) = (number_of(*entries), escape(typed.as_bytes()));
            return Some(format!("delete {count} for ever? type how many: {typed}"));
        }
        _ => {}
    }
    if let Some(said) = browser.said() {
        return Some(said.to_owned());
    }
    let running = browser.removals.running.as_ref()?;
    let of = Format::Count.write(running.entries);
    let removed = Format::Count.write(running.removed);
    let name = escape(&running.name);
    Some(format!("{removed} of {of} entries removed, Esc cancels: {name}"))
}

/// The message or the marks.
fn foot(browser: &Browser, canvas: &mut Canvas<'_>) {
    let (width, y) = (canvas.width(), canvas.height().saturating_sub(1));
    canvas.paint(y, Style::new().add_modifier(Modifier::REVERSED));
    let style = Style::new();
    if let Some(line) = message(browser, width) {
        canvas.write((0, y), &shorten(&line, width), width, style);
        return;
    }
    let hints = match browser.dialog {
        Some(Dialog::Text(DialogText::Review, _)) if browser.no_removal().is_none() => {
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

/// The total of the marks, or else of the list.
fn summary(browser: &Browser, width: usize) -> String {
    let (count, marked) = browser.marked();
    let is_partial = browser.is_marked_partial();
    let long = match marked {
        _ if count == 0 => {
            let totals = browser.totals();
            let is_partial = browser.is_partial(browser.scan.here().place());
            let size = sized(browser, totals.size, is_partial);
            let entries = number_of(totals.entries);
            return shorten(&format!("{size} in {entries}"), width);
        }
        None if browser.is_walking() => {
            format!("{count} marked: what that frees is known once the scan is over")
        }
        None => format!("{count} marked: the snapshot is too large to say what that frees"),
        Some((totals, Some(freed))) => {
            let freed = partial::freed(freed, &format(browser), is_partial);
            format!("{count} marked {}, frees {freed}", sized(browser, totals.size, is_partial))
        }
        Some((totals, None)) => {
            format!("{count} marked {}", sized(browser, totals.size, is_partial))
        }
    };
    if cells(&long) <= width { long } else { shorten(&format!("{count} marked"), width) }
}
