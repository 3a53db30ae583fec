//! The dialogs over the list: help, details of a line, marks, errors.

use ratatui_core::style::Style;

use super::canvas::{AROUND, BOLD, Canvas, format, sized};
use crate::program::browse::browser::{Browser, DialogText};
use crate::program::browse::item::Item;
use crate::program::browse::keys::{ACTIONS, Key};
use crate::program::browse::removal::NOTHING_MARKED;
use weigh::internal::inode::{Identity, Links};
use weigh::internal::measure::{Kind, Measure};
use weigh::internal::render::name::{cells, padded, shorten, start, widest};
use weigh::internal::render::partial;
use weigh::internal::render::size::{Format, entries};
use weigh::internal::tree::Place;

/// Draws `text`, from the line `first` on.
pub(super) fn draw(browser: &Browser, text: DialogText, first: usize, canvas: &mut Canvas<'_>) {
    let title = match text {
        DialogText::Help => "keys",
        DialogText::Info => "about it",
        DialogText::Review => return review(browser, first, canvas),
        DialogText::Trash => return trash(browser, first, canvas),
        DialogText::Path => "the path, also for the clipboard if the terminal has one",
        DialogText::Errors => return problems(browser, first, canvas),
        DialogText::Kept => "not everything was removed",
    };
    let lines = text_lines(browser, text, canvas.width());
    // The title is shown only if all lines fit below it.
    let has_title = lines.len() < room(canvas);
    let title = has_title.then(|| title.to_owned());
    page(canvas, title.as_slice(), (first, None), lines.len(), |line| lines[line].clone());
}

/// The lines of a text that are others on a screen of another width.
pub(in crate::program::browse) fn text_lines(
    browser: &Browser,
    text: DialogText,
    width: usize,
) -> Vec<String> {
    match text {
        DialogText::Help => help(browser, width),
        DialogText::Info => info(browser),
        DialogText::Path => {
            wrapped(&browser.text(&browser.chosen_path().unwrap_or_default()), width)
        }
        DialogText::Kept => {
            browser.kept().iter().flat_map(|problem| wrapped(&problem.to_string(), width)).collect()
        }
        DialogText::Review | DialogText::Trash | DialogText::Errors => Vec::new(),
    }
}

/// How many lines a dialog has.
fn room(canvas: &Canvas<'_>) -> usize {
    canvas.height().saturating_sub(usize::from(AROUND))
}

/// Draws the lines of `head`, and below them those from `first` on of `count` others, which `line` writes; or, if one
/// is `chosen`, those around it.
fn page(
    canvas: &mut Canvas<'_>,
    head: &[String],
    (first, chosen): (usize, Option<usize>),
    count: usize,
    line: impl Fn(usize) -> String,
) {
    let (width, room) = (canvas.width(), room(canvas));
    let head = &head[..head.len().min(room.saturating_sub(1).max(1))];
    for (text, y) in head.iter().zip(1..) {
        canvas.write((0, y), &shorten(text, width), width, BOLD);
    }
    let room = room.saturating_sub(head.len());
    let first = match chosen {
        Some(chosen) => (chosen + 1).saturating_sub(room),
        None => first.min(count.saturating_sub(room)),
    };
    for (number, y) in (first..count).take(room).zip(1 + head.len()..) {
        canvas.write((0, y), &shorten(&line(number), width), width, Style::new());
        if chosen == Some(number) {
            canvas.band(y, width);
        }
    }
}

/// All keys, and beside them what they do, in two columns if there is room.
fn help(browser: &Browser, width: usize) -> Vec<String> {
    let mut actions: Vec<(String, &str)> = Vec::new();
    for (act, _, _, help) in ACTIONS {
        let keys = browser.options.keys.keys(*act).into_iter().map(Key::name);
        let keys = keys.collect::<Vec<_>>().join(" ");
        match actions.last_mut() {
            Some((names, _)) if help.is_empty() => *names = format!("{names} {keys}"),
            _ => actions.push((keys, help)),
        }
    }
    let (left, right) = actions.split_at(actions.len().div_ceil(2));
    let (left, right) = (help_column(left), help_column(right));
    let half = widest(&left) + 2;
    if half + widest(&right) > width {
        return help_column(&actions);
    }
    let lines = left
        .iter()
        .enumerate()
        .map(|(i, line)| padded(line, half) + right.get(i).map_or("", String::as_str));
    lines.collect()
}

fn help_column(actions: &[(String, &str)]) -> Vec<String> {
    let widest = widest(actions.iter().map(|(names, _)| names));
    let lines =
        actions.iter().map(|(names, help)| format!("  {}{help}", padded(names, widest + 2)));
    lines.collect()
}

/// The whole text, over several lines if it has to be.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut rest) = (Vec::new(), text);
    loop {
        // A letter may be wider than the screen, and millions may have no width.
        let most = rest.char_indices().nth(4 * width + 4).map_or(rest.len(), |(most, _)| most);
        let piece = &rest[..most];
        let end = match cells(piece) <= width {
            true => piece.len(),
            false => start(piece, width).len().max(piece.chars().next().map_or(0, char::len_utf8)),
        };
        lines.push(rest[..end].to_owned());
        rest = &rest[end..];
        if rest.is_empty() {
            return lines;
        }
    }
}

/// All details of the chosen entry.
fn info(browser: &Browser) -> Vec<String> {
    let place = browser.item(browser.chosen).and_then(|item| item.place);
    let path = place.map(|place| ("path", browser.text(&browser.tree().at(place).path())));
    let exact = place.map(|place| exactly(browser, place)).unwrap_or_default();
    let lines = path.into_iter().chain(details(browser)).chain(exact);
    lines.map(|(name, value)| format!("  {name:<13}  {value}")).collect()
}

/// Both sizes of an entry, to the byte, as far as they are known.
fn exactly(browser: &Browser, place: Place) -> Vec<(&'static str, String)> {
    let sums = browser.tree().at(place).node().sums;
    let known = browser.scan.browsed.as_ref().map(|it| it.snapshot.known).unwrap_or_default();
    let measures = [(Measure::Disk, "on disk"), (Measure::Apparent, "apparent size")];
    let known = measures.into_iter().filter(|it| known.contains(it.0) || it.0 == browser.measure());
    let lines = known.map(|(measure, name)| {
        (name, format!("{} bytes", Format::Count.write(sums.seen_as(measure.into()).size)))
    });
    lines.collect()
}

/// The same without its path.
pub(super) fn details(browser: &Browser) -> Vec<(&'static str, String)> {
    let Some(item) = browser.item(browser.chosen) else { return Vec::new() };
    let format = format(browser);
    let mut lines = Vec::new();
    lines.push(match (item.place, item.gone) {
        (None, Some(was)) => ("gone", format!("it was {}", format.write(was))),
        (None, None) => ("entries", Format::Count.write(item.totals.entries)),
        (Some(_), _) if item.is_open || !browser.knows_modes() => ("kind", kind(&item).to_owned()),
        _ => ("kind", format!("{}, mode {:04o}", kind(&item), item.mode.0 & 0o7777)),
    });
    if !item.note.is_empty() {
        lines.push(("what it is", item.note.to_string()));
    }
    let is_partial = browser.is_partial(item.place);
    lines.push(("size", sized(browser, item.totals.size, is_partial)));
    if item.is_directory() && item.gone.is_none() {
        lines.push(("entries", Format::Count.write(item.totals.entries)));
        lines.extend(item.own.map(|own| ("by itself", format.write(own))));
        let shared = item.totals.shared;
        lines.extend((shared > 0).then(|| ("links outside", format.write(shared))));
    }
    if browser.knows_freed() && !item.is_open && item.place.is_some() {
        let freed = partial::freed(browser.freed(&item), &format, is_partial);
        lines.push(("frees", freed));
    }
    match item.links() {
        Links::Unknown => lines.push(("links", "more than it knows".to_owned())),
        Links::Of(links) if !item.is_directory() => {
            lines.push(("links", Format::Count.write(links.into())))
        }
        _ => {}
    }
    lines.extend(item.totals.newest.map(|newest| ("last written", browser.time(newest))));
    if let Some(details) = item.inode.and_then(|inode| inode.details) {
        for (name, time) in [("inode changed", details.changed), ("made", details.born)] {
            if time != 0 {
                lines.push((name, browser.time(time)));
            }
        }
        lines.push(("owner", details.owner.to_string()));
    }
    if let Some(inode) = item.inode.filter(|_| browser.knows_inodes()) {
        let Identity { device, number, .. } = inode.identity;
        lines.push(("inode", format!("{number} on device {device}")));
    }
    if item.is_open {
        lines.push(("so far", "it is still being read".to_owned()));
    }
    lines
}

fn kind(item: &Item<'_>) -> &'static str {
    match item.mode.kind() {
        Kind::Other => "special file",
        kind => kind.name(),
    }
}

/// The marked entries, their total, and how much removing them frees.
fn review(browser: &Browser, chosen: usize, canvas: &mut Canvas<'_>) {
    let (width, format) = (canvas.width(), format(browser));
    let marks = browser.removals.review.as_ref().map_or(&[][..], |review| &review.marks);
    let refused = marks.iter().filter(|mark| mark.target.is_err()).count();
    let count = if browser.has_all() { marks.len() } else { 0 };
    page(canvas, &review_head(browser, refused), (0, Some(chosen)), count, |line| {
        let mark = &marks[line];
        let child = browser.scan.tree.at(mark.place);
        let item = Item::of(&child);
        let ending = if item.is_directory() { "/" } else { "" };
        let is_partial = browser.is_partial(Some(mark.place));
        let freed = match browser.knows_freed() {
            true => partial::freed(browser.freed(&item), &format, is_partial),
            false => String::new(),
        };
        let size = sized(browser, item.totals.size, is_partial);
        let size = format!("{size:>8} {freed:>8} ");
        let refusal = mark.target.as_ref().err().map(|why| format!("{why}: "));
        let path = refusal.unwrap_or_default() + &browser.text(&child.path());
        let room = width.saturating_sub(cells(&size) + ending.len());
        size + &shorten(&path, room) + ending
    });
}

/// What this run has moved into the trash, the last first.
fn trash(browser: &Browser, chosen: usize, canvas: &mut Canvas<'_>) {
    let trashed = &browser.removals.trashed;
    let title = match trashed.len() {
        0 => "nothing was put in the trash",
        _ => "in the trash, and frees nothing until that is emptied: Enter puts it back",
    };
    page(canvas, &[title.to_owned()], (0, Some(chosen)), trashed.len(), |line| {
        browser.text(&trashed[trashed.len() - 1 - line].1.path())
    });
}

/// What the review says about all marks, of which so many must not be removed.
fn review_head(browser: &Browser, refused: usize) -> Vec<String> {
    let (count, marked) = browser.marked();
    let (is_partial, no_removal) = (browser.is_marked_partial(), browser.no_removal());
    let mut head = Vec::new();
    match marked {
        _ if count == 0 => return vec![no_removal.unwrap_or(NOTHING_MARKED).to_owned()],
        None if browser.is_walking() => {
            head.push(format!("{count} marked; more is known once the scan is over"));
        }
        None => head.push(format!("{count} marked; the snapshot is too large to say more")),
        Some((totals, freed)) => {
            let (entries, size) =
                (entries(totals.entries), sized(browser, totals.size, is_partial));
            head.push(format!("{count} marked: {entries}, {size}"));
            let frees = freed.map(|freed| partial::freed(freed, &format(browser), is_partial));
            let frees = frees.map(|frees| format!("removing them frees {frees}"));
            head.push(match frees.zip(freed) {
                None => "what removing them frees is not known".to_owned(),
                Some((frees, freed)) if freed.least == totals.size => frees,
                Some((frees, _)) if browser.knows_sharing() => {
                    frees + ": the rest is shared or linked"
                }
                Some((frees, _)) => frees + ": the rest has links that are not marked",
            });
        }
    }
    if is_partial {
        head.push("not all could be read: there may be more in what is marked".to_owned());
    }
    head.extend(no_removal.map(str::to_owned));
    match &browser.removals.review {
        Some(review) if !review.is_looked => {
            head.push("weigh is looking at them again …".to_owned())
        }
        Some(_) if refused > 0 => {
            head.push(format!("{refused} of them are left out"));
        }
        _ => {}
    }
    head
}

/// The paths that could not be read.
fn problems(browser: &Browser, first: usize, canvas: &mut Canvas<'_>) {
    let (count, problems) = browser.unread();
    let title = match (count, problems.len()) {
        (0, _) => "everything was read".to_owned(),
        (count, 0) => format!("{count} could not be read: they are listed once the scan is over"),
        (count, _) => format!("{count} could not be read, and are missing from the totals"),
    };
    page(canvas, &[title], (first, None), problems.len(), |line| problems[line].to_string());
}
