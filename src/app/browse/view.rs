//! Draws the state. Pure: the result depends only on the state and the size of the screen.
//!
//! `canvas` says where the parts are. `list` drops columns in a narrow terminal; sizes and names stay.

mod canvas;
mod dialogs;
mod gauge;
mod list;
mod map;
mod pane;
mod text;

use std::cell::OnceCell;
use std::mem;
use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use ratatui_core::terminal::Frame;

use self::canvas::{Areas, BOLD, Canvas};
use super::browser::{Browser, Dialog, DialogText, PendingWork, Question, ViewKind};
use super::keys::{Act, Key};
use super::listing::Item;
use super::map::Cells;
use weigh::internal::base::measure::Measure;
use weigh::internal::remove::Manner;
use weigh::internal::show::name::{cells, shorten};
use weigh::internal::show::palette::Palette;
use weigh::internal::show::size::{self, Format};

/// The cells of the gauge, without its bar.
const GAUGE: usize = 28;

/// How many lines of the list fit on a screen of this height.
pub fn list_height(height: u16) -> usize {
    Areas::of(0, height.into()).lines(height.into()).max(1)
}

/// Where the parts of the screen are. The treemap has the whole width, and so has a list of groups: about a group, there
/// is nothing more to say.
fn areas(browser: &Browser, (width, height): (u16, u16)) -> Areas {
    let areas = Areas::of(width.into(), height.into());
    match browser.lists_groups() || browser.shows_map() {
        true => Areas { list: width.into(), pane: None, ..areas },
        false => areas,
    }
}

/// Tells the browser what fits on a screen of this size.
pub fn fit(browser: &mut Browser, (width, height): (u16, u16)) {
    let lines = list_height(height);
    let y = Areas::of(width.into(), height.into()).head;
    let area = Cells { x: 0, y, width: width.into(), height: lines };
    if mem::replace(&mut browser.shown.map_area, area) != area {
        browser.shown.map = OnceCell::new();
    }
    browser.shown.has_pane = areas(browser, (width, height)).pane.is_some();
    // What a text says may depend on the height.
    browser.resize(lines, usize::MAX);
    if let Some((text, at)) = browser.dialogs.open.as_ref().and_then(Dialog::text) {
        browser.resize(lines, dialogs::end(browser, text, (width.into(), height.into())));
        browser.dialogs.text_first = choices(browser, (text, at), (width, height)).1.start;
    }
}

/// Where the first line is that can be chosen in a text over the list, and the numbers of those on a screen of this
/// size. What is drawn says that.
fn choices(
    browser: &Browser,
    (text, at): (DialogText, usize),
    (width, height): (u16, u16),
) -> (usize, Range<usize>) {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    let mut canvas = Canvas::new(browser, &mut buffer);
    dialogs::draw(browser, text, at, &mut canvas);
    canvas.choices
}

/// The line of the list or of the text over it, or the name of a view, that is in this column and row of a screen of
/// this size.
pub fn click(browser: &Browser, at: (u16, u16), (width, height): (u16, u16)) -> Option<Key> {
    let areas = areas(browser, (width, height));
    let (x, y) = (usize::from(at.0), usize::from(at.1));
    if let Some(Dialog::Text(text, at)) = browser.dialogs.open {
        let (top, lines) = choices(browser, (text, at), (width, height));
        let line = y.checked_sub(top)? + lines.start;
        return lines.contains(&line).then_some(Key::Click(line));
    }
    if y == 1 && areas.head > 2 {
        let mut tabs = tabs(browser, width.into()).into_iter();
        let tab = tabs.find(|(start, _, name)| (*start..start + cells(name)).contains(&x));
        return tab.map(|(_, kind, _)| Key::ClickView(kind));
    }
    let line = y.checked_sub(areas.head).filter(|line| *line < areas.lines(height.into()))?;
    if browser.shows_map() {
        return browser.map().line_at((x, y)).map(Key::Click);
    }
    (x < areas.list).then_some(Key::Click(browser.shown.first + line))
}

/// Draws the whole screen.
pub fn draw(browser: &Browser, frame: &mut Frame<'_>) {
    let area = frame.area();
    let canvas = &mut Canvas::new(browser, frame.buffer_mut());
    if area.width == 0 || area.height == 0 {
        return;
    }
    let areas = areas(browser, (area.width, area.height));
    head(browser, canvas);
    let has_room = areas.lines(canvas.height()) > 0;
    let is_text = browser.dialogs.open.as_ref().is_some_and(|dialog| dialog.text().is_some());
    if areas.head > 2 {
        let end = if is_text { 0 } else { views(browser, canvas) };
        gauge::draw(browser, end, canvas);
    }
    match browser.dialogs.open.as_ref().and_then(Dialog::text) {
        _ if !has_room => {}
        Some((text, first)) => dialogs::draw(browser, text, first, canvas),
        None if browser.shows_map() => map::draw(browser, areas, canvas),
        None => {
            list::draw(browser, areas, canvas);
            if let Some(x) = areas.pane {
                pane::draw(browser, x, areas, canvas);
            }
        }
    }
    let typed = if area.height > 1 { foot(browser, areas, canvas) } else { None };
    if let Some(x) = typed {
        let last = area.width.saturating_sub(1);
        let x = u16::try_from(x).unwrap_or(last).min(last);
        frame.set_cursor_position((x, area.height.saturating_sub(1)));
    }
}

/// The path of the current directory, what it comes to, and what goes on.
fn head(browser: &Browser, canvas: &mut Canvas<'_>) {
    let width = canvas.width();
    let path = browser.absolute_path();
    // That of several paths has no name.
    let path =
        browser.text(if path.is_empty() { browser.tree().root().shown_name() } else { &path });
    // The path keeps a third, and its last name, after `…/`, is never cut for the rest.
    let last = text::last_name(&path);
    let room = width.saturating_sub((width / 3).max(cells(&path[last..]) + 5));
    let state = fitting(&state(browser, width), room);
    let room = width.saturating_sub(cells(&state) + 3);
    let (above, name) = text::shorten_path(&path, room);
    let x = canvas.write((1, 0), &above, room, canvas.aside());
    canvas.write((x, 0), &name, width, BOLD);
    let x = width.saturating_sub(cells(&state) + 1);
    // What the directory comes to comes first.
    let (total, rest) = state.split_at(state.find(" · ").unwrap_or(state.len()));
    let x = canvas.write((x, 0), total, width, Style::new());
    canvas.write((x, 0), rest, width, canvas.aside());
}

/// The names of the views. Returns the column after them.
fn views(browser: &Browser, canvas: &mut Canvas<'_>) -> usize {
    let mut end = 0;
    for (x, kind, name) in tabs(browser, canvas.width()) {
        let style = match kind == browser.shown.view {
            true => {
                let style = canvas.style(Palette::accent, Modifier::BOLD);
                // Without a colour, bold alone is hardly seen.
                if style.fg.is_some() { style } else { style.add_modifier(Modifier::UNDERLINED) }
            }
            false => canvas.aside(),
        };
        end = canvas.write((x, 1), name, canvas.width(), style);
    }
    end
}

/// The views whose names have room, each with the column where its name begins.
fn tabs(browser: &Browser, width: usize) -> Vec<(usize, ViewKind, &'static str)> {
    let all: usize = browser.views().map(|(_, name)| cells(name) + 1).sum();
    let count = browser.views().count();
    // The gauge needs room, too.
    let gap = match width {
        _ if width >= all + 2 * count + GAUGE => 3,
        _ if width >= all + count => 2,
        _ => 1,
    };
    let shown = browser.views().filter(|(kind, _)| *kind == browser.shown.view || all < width);
    let mut next = 1;
    let tabs = shown.map(|(kind, name)| {
        let x = next;
        next += cells(name) + gap;
        (x, kind, name)
    });
    tabs.collect()
}

/// What the current directory comes to, and the activities; the most important first.
fn state(browser: &Browser, width: usize) -> Vec<String> {
    let totals = browser.totals();
    let is_partial = browser.is_partial(browser.scan.here().place());
    let size = browser.sized(totals.size, is_partial);
    let progress = scanning(browser);
    // While it scans, there is one count: that of the progress, if there is no percentage.
    let counts = progress.as_ref().is_none_or(|progress| progress.contains('%'));
    let mut parts = match counts && width >= 60 {
        true => vec![format!("{size} in {}", size::entries(totals.entries))],
        false => vec![size],
    };
    parts.extend(browser.in_trash().map(|size| format!("{size} in the trash")));
    parts.extend(progress);
    match &browser.pending {
        Some(PendingWork::All | PendingWork::Directory(_)) => {
            parts.push("scanning again".to_owned())
        }
        Some(PendingWork::Removal) => parts.push(removing(browser).to_owned()),
        Some(PendingWork::Trash) => parts.push("looking at the trash".to_owned()),
        Some(PendingWork::Ignored) => parts.push("looking for what git ignores".to_owned()),
        Some(PendingWork::Kept) => parts.push("loading the last kept scan".to_owned()),
        None => {}
    }
    let (unread, _) = browser.unread();
    if unread > 0 {
        parts.push(format!("{} unread", Format::Count.write(unread as u64)));
    }
    if let Some(group) = &browser.shown.group {
        parts.push(browser.text(group));
    }
    if let Some(pattern) = &browser.shown.pattern {
        parts.push(format!("only {}", browser.message(&pattern.text)));
    }
    if browser.scan.browsed.is_some() {
        parts.push(match browser.measure() {
            Measure::Disk => "on disk".to_owned(),
            measure => measure.name().to_owned(),
        });
    }
    parts.extend(browser.order().map(|order| order.name().to_owned()));
    parts
}

/// The progress of the scan, if one is running: a percentage and the time left, if that can be told.
fn scanning(browser: &Browser) -> Option<String> {
    match &browser.scan.browsed {
        Some(browsed) if browsed.snapshot.report.is_interrupted => {
            return Some("stopped".to_owned());
        }
        Some(_) => return None,
        None if !browser.is_of_roots() => {
            let arrived = browser.walk.progress.entries;
            let arrived = (arrived > 0).then(|| format!(", {} so far", size::entries(arrived)));
            return Some(format!("loading{}", arrived.unwrap_or_default()));
        }
        None if browser.walk.is_stopping => return Some("stopping".to_owned()),
        None => {}
    }
    let done = browser.walk.progress.entries;
    let Some(all) = browser.walk.used_inodes.filter(|all| done < *all) else {
        return Some(format!("scanning, {}", size::entries(done)));
    };
    let percent = done * 100 / all;
    // A `Duration` has a limit, and a file system may claim any number of inodes.
    let left = browser.walk.elapsed.as_secs_f64() * (all - done) as f64 / done.max(1) as f64;
    Some(match browser.walk.elapsed.as_secs() {
        // Too early to tell.
        0..2 => format!("scanning {percent}%"),
        _ => format!("scanning {percent}%, {} left", duration(left as u64)),
    })
}

/// So many seconds in the largest unit that fits.
fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{} s", seconds.max(1)),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

/// What a removal does.
fn removing(browser: &Browser) -> &'static str {
    match &browser.removals.running {
        None if browser.removals.is_emptying => "emptying the trash",
        None => "putting back",
        Some(_) if browser.removals.is_cancelled => "ending",
        Some(running) if running.manner == Manner::Delete => "deleting",
        Some(_) => "moving",
    }
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

fn asked(browser: &Browser, question: Question) -> String {
    match question {
        Question::Search => "find ".to_owned(),
        Question::Filter => "list only ".to_owned(),
        Question::Mark => "mark listed ".to_owned(),
        // Its keys have room on every screen.
        Question::Stop if browser.is_walking() => "stop scan? y/Esc ".to_owned(),
        Question::Stop => "the scan is over ".to_owned(),
        Question::Delete(entries) | Question::Empty(entries) => {
            format!("delete {} for ever? type how many: ", size::entries(entries))
        }
    }
}

/// The prompt, the message or the progress of a removal, if there is one: its parts from left to right.
fn message(browser: &Browser, canvas: &Canvas<'_>) -> Option<Vec<(String, Style)>> {
    let (width, plain) = (canvas.width().saturating_sub(1), Style::new());
    if let Some(Dialog::Prompt(question, text)) = &browser.dialogs.open {
        let asked = asked(browser, *question);
        // The end of what is typed stays visible, and so does the number that is asked for.
        let most = width.saturating_sub(cells(&asked).min(width / 2) + 1);
        let text = shorten(&browser.message(text), most);
        let room = width.saturating_sub(cells(&text) + 1);
        // A message stays until the next key, and matters more than the question.
        let said = browser.said().map_or_else(String::new, |said| format!("{said}; "));
        let said = canvas.charset.drawing(&said);
        let said = shorten(&said, room.saturating_sub(cells(&asked).min(room / 4)));
        let asked = shorten(&asked, room.saturating_sub(cells(&said)));
        let room = room.saturating_sub(cells(&said) + cells(&asked));
        let help = match question {
            Question::Search => {
                let found = match browser.is_searching() && !browser.is_asking() {
                    true => format!("; {}", browser.found()),
                    false => String::new(),
                };
                format!("(↑ ↓ choose, Enter shows it, Esc goes back{found}): ")
            }
            Question::Filter => "(Enter lists them, Esc goes back): ".to_owned(),
            Question::Mark => format!("({}): ", super::pattern::MarkedBy::EXAMPLES),
            Question::Stop if browser.is_walking() => {
                "(y stops it, and all that is not read yet stays unknown): ".to_owned()
            }
            Question::Stop => "(any key): ".to_owned(),
            Question::Delete(_) | Question::Empty(_) => String::new(),
        };
        let help = canvas.charset.drawing(&help);
        // What is said, and what is typed, matter more.
        let help = if said.is_empty() { shorten(&help, room) } else { String::new() };
        let help = (help, canvas.aside());
        return Some(vec![(said, plain), (asked, BOLD), help, (text, plain)]);
    }
    let progress = browser.removals.running.as_ref().map(|running| {
        let of = Format::Count.write(running.entries);
        let done = Format::Count.write(running.progress.removed);
        let name = browser.text(&running.progress.name);
        let what = if running.manner == Manner::Delete { "deleted" } else { "moved" };
        format!("Esc cancels: {done} of {of} entries {what}: {name}")
    });
    let said = browser.said().map(str::to_owned).or(progress)?;
    Some(vec![(shorten(&canvas.charset.drawing(&said), width), plain)])
}

/// The marks, and below them the message or else hints; on a low screen all in one line. A text over the list says
/// itself what is marked. Returns the column after what is typed below the list.
fn foot(browser: &Browser, areas: Areas, canvas: &mut Canvas<'_>) -> Option<usize> {
    let (width, y) = (canvas.width(), canvas.height() - 1);
    let is_text = browser.dialogs.open.as_ref().is_some_and(|dialog| dialog.text().is_some());
    let is_low = areas.foot < 2;
    let (hints, message) = (hints(browser), message(browser, canvas));
    let needed = hints.iter().filter(|hint| hint.stays).map(Hint::cells).sum();
    let room = if is_low { width.saturating_sub(needed) } else { width };
    let marks = if is_text { String::new() } else { summary(browser, room) };
    let y_of_marks = if is_low { y } else { y - 1 };
    let mut x = 1;
    if !marks.is_empty() && (message.is_none() || !is_low) {
        let after = canvas.write((1, y_of_marks), "● ", 2, canvas.of_mark());
        let end = canvas.write((after, y_of_marks), &marks, width, BOLD);
        x = if is_low { end + 3 } else { x };
    }
    if marks.is_empty() && !is_low && !is_text {
        if browser.shows_map() {
            map::legend(browser, y_of_marks, canvas);
        } else if let Some(since) = browser.since() {
            canvas.write((1, y_of_marks), &shorten(&since, width - 1), width, Style::new());
        }
    }
    if let Some(parts) = message {
        let end =
            parts.iter().fold(1, |x, (text, style)| canvas.write((x, y), text, width, *style));
        return browser.dialogs.open.is_some().then_some(end).filter(|_| !is_text);
    }
    let mut room = (width + 2).saturating_sub(x + needed);
    for hint in hints {
        let taken = if hint.stays { 0 } else { hint.cells() };
        if taken > room {
            // What is less important is not shown either.
            room = 0;
            continue;
        }
        room -= taken;
        x = canvas.write((x, y), &hint.key, width.saturating_sub(x), BOLD) + 1;
        x = canvas.write((x, y), hint.what, width.saturating_sub(x), canvas.aside()) + 3;
    }
    None
}

/// A key, and what it does now.
struct Hint {
    key: String,
    what: &'static str,
    /// Whether it deletes, leaves, or is about all keys: that is shown even where others have no room.
    stays: bool,
}

impl Hint {
    fn cells(&self) -> usize {
        cells(&self.key) + 1 + cells(self.what) + 3
    }
}

/// What can be done now. The most important come first, and help last.
fn hints(browser: &Browser) -> Vec<Hint> {
    const MARK: (Act, &str) = (Act::Mark, "mark");
    const HELP: (Act, &str) = (Act::Help, "help");
    const BACK: (&str, &str, bool) = ("Esc q", "back", true);
    let open = match browser.item(browser.shown.chosen) {
        Some(Item { branch: Some(it), place: None, .. }) if it.entry.is_none() => {
            match it.is_open {
                true => (Act::Open, "fold"),
                false => (Act::Open, "unfold"),
            }
        }
        Some(item) if item.branch.is_some() => (Act::Open, "to its place"),
        Some(item) if item.is_directory() && item.gone.is_none() => (Act::Open, "open"),
        Some(item)
            if browser.is_flat() && (item.place.is_some() || browser.found_so_far().is_some()) =>
        {
            (Act::Open, "to its place")
        }
        Some(_) if browser.is_flat() && browser.shown.group.is_none() => (Act::Open, "its files"),
        None if browser.may_ask_owners() => (Act::Open, "find owners"),
        _ => (Act::Details, "about it"),
    };
    let sort = (Act::BySize, "sort");
    let acts: &[(Act, &str)] = match browser.dialogs.open {
        Some(Dialog::Text(DialogText::Review, _)) => {
            let removing = [("t", "trash", true), ("D", "delete", true)];
            let others = [("Space", "unmark", false), ("p", "print", false), BACK];
            let is_off = browser.no_removal_of_marks().is_some();
            // Without a review, marks have no lines to unmark. During a walk, their paths cannot be printed either.
            let left_out = match browser.removals.review {
                None if browser.is_walking() => 2,
                None => 1,
                Some(_) => 0,
            };
            let removing = if is_off { &[] } else { &removing[..] };
            return fixed(&[removing, &others[left_out..]].concat());
        }
        Some(Dialog::Text(DialogText::Trash, _)) if !browser.removals.trashed.is_empty() => {
            return fixed(&[("Enter", "put back", true), ("E", "empty it", true), BACK]);
        }
        Some(Dialog::Text(DialogText::Errors, _)) if !browser.unread().1.is_empty() => {
            return fixed(&[("Enter", "to its place", true), BACK]);
        }
        Some(Dialog::Prompt(..)) => &[],
        Some(Dialog::Text(text, _)) if browser.stops(text) < 2 => return fixed(&[BACK]),
        Some(Dialog::Text(..)) => return fixed(&[("↑ ↓", "scroll", false), BACK]),
        None if browser.is_removing() => &[(Act::Stop, "cancel"), HELP],
        None if browser.is_walking() => {
            let (find, view) = ((Act::Search, "find"), (Act::NextView, "view"));
            let is_left = browser.is_flat()
                || browser.sought().is_some()
                || browser.shown.pattern.is_some()
                || browser.shows_map();
            let stop = if is_left { "back" } else { "stop" };
            &[(Act::Stop, stop), open, MARK, find, sort, view, (Act::Quit, "quit"), HELP]
        }
        // The way back to the list stays there, also with marks.
        None if browser.shows_map() => {
            let delete = if browser.marked().0 > 0 { "review, delete" } else { "delete…" };
            &[open, MARK, (Act::Delete, delete), (Act::Map, "list"), (Act::Search, "find"), HELP]
        }
        None if browser.marked().0 > 0 => {
            let (review, none) = ((Act::Delete, "review, delete"), (Act::UnmarkAll, "unmark all"));
            &[MARK, review, none, (Act::Paths, "print paths"), open, HELP]
        }
        None if browser.shown.pattern.is_some() => {
            &[(Act::Stop, "show all"), open, MARK, (Act::Filter, "list others"), HELP]
        }
        None => {
            let (delete, find) = ((Act::Delete, "delete…"), (Act::Search, "find"));
            let (view, map) = ((Act::NextView, "view"), (Act::Map, "map"));
            &[open, MARK, delete, find, view, map, sort, HELP]
        }
    };
    let hints = acts.iter().filter(|(act, _)| does_something(browser, *act));
    let hints = hints.filter_map(|&(act, what)| {
        let key = browser.options.keys.keys(act).first()?.name();
        let stays = matches!(act, Act::Delete | Act::Stop | Act::Quit | Act::Help);
        Some(Hint { key, what, stays })
    });
    hints.collect()
}

/// Whether an action that may be hinted at has something to act on.
fn does_something(browser: &Browser, act: Act) -> bool {
    let item = browser.item(browser.shown.chosen);
    match act {
        Act::Open if browser.may_ask_owners() => browser.pending.is_none(),
        Act::Open | Act::Details => item.is_some(),
        Act::Delete if browser.marked().0 > 0 => true,
        Act::Map => !browser.is_flat(),
        Act::Mark | Act::Delete => item.is_some_and(|item| browser.places_of(&item).is_ok()),
        Act::BySize => browser.order().is_some(),
        Act::Search | Act::NextView => browser.has_all() || browser.scan.is_walked_now(),
        _ => true,
    }
}

/// Hints of keys that the user cannot set, each with whether it stays.
fn fixed(hints: &[(&str, &'static str, bool)]) -> Vec<Hint> {
    let hints = hints.iter().map(|&(key, what, stays)| Hint { key: key.to_owned(), what, stays });
    hints.collect()
}

/// The total of the marks; empty if nothing is marked.
fn summary(browser: &Browser, width: usize) -> String {
    let (count, marked) = browser.marked();
    if count == 0 {
        return String::new();
    }
    let (count, is_partial) = (Format::Count.write(count as u64), browser.is_marked_partial());
    let long = match marked {
        None if browser.is_walking() => {
            format!("{count} marked: what that frees is known once the scan is over")
        }
        None => format!("{count} marked: the snapshot is too large to say what that frees"),
        Some((totals, Some(freed))) => {
            let freed = browser.write_freed(freed, is_partial);
            format!("{count} marked {}, frees {freed}", browser.sized(totals.size, is_partial))
        }
        Some((totals, None)) => {
            format!("{count} marked {}", browser.sized(totals.size, is_partial))
        }
    };
    if cells(&long) + 4 <= width { long } else { shorten(&format!("{count} marked"), width) }
}
