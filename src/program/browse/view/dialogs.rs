//! The dialogs over the list: help, details of a line, marks, errors.

use ratatui_core::style::{Modifier, Style};

use super::canvas::{AROUND, Canvas, format, number_of, sized};
use crate::program::browse::browser::{Browser, Dialog, DialogText};
use crate::program::browse::item::Item;
use crate::program::browse::keys::{ACTIONS, Key};
use weigh::internal::inode::{Identity, Links};
use weigh::internal::measure::Kind;
use weigh::internal::render::name::{cells, shorten};
use weigh::internal::render::partial;
use weigh::internal::render::size::Format;

pub(super) fn draw(browser: &Browser, dialog: &Dialog, canvas: &mut Canvas<'_>) {
    let height = canvas.height().saturating_sub(usize::from(AROUND));
    let (text, first) = match dialog {
        Dialog::Text(text, first) => (*text, *first),
        Dialog::Delete { .. } => (DialogText::Review, 0),
        Dialog::Prompt(..) => return,
    };
    let (title, lines) = match text {
        DialogText::Help => ("keys", help(browser, canvas.width())),
        DialogText::Info => ("about it", info(browser)),
        DialogText::Review => return review(browser, first, height, canvas),
        DialogText::Trash => return trash(browser, first, height, canvas),
        DialogText::Path => (
            "the path, also for the clipboard if the terminal has one",
            path(browser, canvas.width()),
        ),
        DialogText::Errors => return problems(browser, first, height, canvas),
        DialogText::Kept => {
            let kept = browser.kept().iter().map(ToString::to_string).collect();
            ("not everything was removed", kept)
        }
    };
    // The title is shown only if all lines fit below it.
    let has_title = lines.len() < height;
    let height = height - usize::from(has_title);
    let first = first.min(lines.len().saturating_sub(height));
    let y = 1 + usize::from(has_title);
    if has_title {
        canvas.write((0, 1), title, canvas.width(), Style::new().add_modifier(Modifier::BOLD));
    }
    for (i, line) in lines.iter().skip(first).take(height).enumerate() {
        canvas.write((0, y + i), line, canvas.width(), Style::new());
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
    let half = widest(left.iter().map(String::as_str)) + 2;
    if half + widest(right.iter().map(String::as_str)) > width {
        return help_column(&actions);
    }
    let lines = left.iter().enumerate().map(|(i, line)| {
        let blank = " ".repeat(half.saturating_sub(cells(line)));
        format!("{line}{blank}{}", right.get(i).map_or("", String::as_str))
    });
    lines.collect()
}

fn help_column(actions: &[(String, &str)]) -> Vec<String> {
    let widest = widest(actions.iter().map(|(names, _)| names.as_str()));
    let lines = actions.iter().map(|(names, help)| {
        let blank = " ".repeat(widest + 2 - cells(names));
        format!("  {names}{blank}{help}")
    });
    lines.collect()
}

fn widest<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts.map(cells).max().unwrap_or(0)
}

/// The path of the chosen entry in full, over several lines if it has to be.
fn path(browser: &Browser, width: usize) -> Vec<String> {
    let path = browser.text(&browser.chosen_path().unwrap_or_default());
    let mut lines = vec![String::new()];
    for letter in path.chars() {
        match lines.last_mut() {
            Some(line) if cells(line) + 2 <= width => line.push(letter),
            _ => lines.push(letter.to_string()),
        }
    }
    lines
}

/// All details of the chosen entry.
fn info(browser: &Browser) -> Vec<String> {
    let place = browser.item(browser.chosen).and_then(|item| item.place);
    let path = place.map(|place| ("path", browser.text(&browser.tree().at(place).path())));
    let lines = path.into_iter().chain(details(browser));
    lines.map(|(name, value)| format!("  {name:<22} {value}")).collect()
}

/// The same without its path.
pub(super) fn details(browser: &Browser) -> Vec<(&'static str, String)> {
    let Some(item) = browser.item(browser.chosen) else { return Vec::new() };
    let format = format(browser);
    let mut lines = Vec::new();
    lines.push(match (item.place, item.gone) {
        (None, Some(was)) => ("gone", format!("it was {}", format.write(was).trim_start())),
        (None, None) => ("entries", Format::Count.write(item.totals.entries)),
        (Some(_), _) if item.is_open => ("kind", kind(&item).to_owned()),
        _ => ("kind", format!("{}, mode {:04o}", kind(&item), item.mode.0 & 0o7777)),
    });
    if !item.note.is_empty() {
        lines.push(("what it is", item.note.to_owned()));
    }
    let is_partial = browser.is_partial(item.place);
    lines.push(("size", sized(browser, item.totals.size, is_partial)));
    if item.is_directory() && item.gone.is_none() {
        lines.push(("entries", Format::Count.write(item.totals.entries)));
        lines.extend(item.own.map(|own| ("by itself", format.write(own))));
        let shared = item.totals.shared;
        lines.extend((shared > 0).then(|| ("also linked elsewhere", format.write(shared))));
    }
    if browser.knows_freed() && !item.is_open && item.place.is_some() {
        let freed = partial::freed(browser.freed(&item), &format, is_partial);
        lines.push(("removing it frees", freed));
    }
    match item.links() {
        Links::Unknown => lines.push(("links", "more than it knows".to_owned())),
        Links::Of(links) if !item.is_directory() => {
            lines.push(("links", Format::Count.write(links.into())))
        }
        _ => {}
    }
    lines.extend(item.totals.newest.map(|newest| ("last written to", browser.time(newest))));
    if let Some(details) = item.inode.and_then(|inode| inode.details) {
        for (name, time) in [("changed", details.changed), ("made", details.born)] {
            if time != 0 {
                lines.push((name, browser.time(time)));
            }
        }
        lines.push(("owner", details.owner.to_string()));
    }
    if let Some(inode) = item.inode {
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
        Kind::Directory => "directory",
        Kind::File => "file",
        Kind::Symlink => "symlink",
        Kind::Other => "special file",
    }
}

/// The marked entries, their total, and how much removing them frees.
fn review(browser: &Browser, chosen: usize, height: usize, canvas: &mut Canvas<'_>) {
    let (width, format) = (canvas.width(), format(browser));
    let marks = browser.removals.review.as_ref().map_or(&[][..], |review| &review.marks);
    let refused = marks.iter().filter(|mark| mark.refusal.is_some()).count();
    let mut head = review_head(browser, refused);
    head.truncate(height.saturating_sub(1).max(1));
    for (i, line) in head.iter().enumerate() {
        let style = Style::new().add_modifier(Modifier::BOLD);
        canvas.write((0, 1 + i), &shorten(line, width), width, style);
    }
    if !browser.has_all() {
        return;
    }
    let room = height.saturating_sub(head.len());
    let first = (chosen + 1).saturating_sub(room);
    for (i, mark) in marks.iter().enumerate().skip(first).take(room) {
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
        let room = width.saturating_sub(cells(&size) + ending.len());
        let path = match &mark.refusal {
            Some(why) => shorten(&format!("{why}: {}", browser.text(&child.path())), room),
            None => shorten(&browser.text(&child.path()), room),
        };
        let y = 1 + head.len() + i - first;
        canvas.write((0, y), &format!("{size}{path}{ending}"), width, Style::new());
        if i == chosen {
            canvas.band(y, width);
        }
    }
}

/// What this run has moved into the trash, the last first.
fn trash(browser: &Browser, chosen: usize, height: usize, canvas: &mut Canvas<'_>) {
    let (trashed, width) = (&browser.removals.trashed, canvas.width());
    let title = match trashed.len() {
        0 => "nothing was put in the trash".to_owned(),
        _ => "in the trash, and frees nothing until that is emptied: Enter puts it back".to_owned(),
    };
    let bold = Style::new().add_modifier(Modifier::BOLD);
    canvas.write((0, 1), &shorten(&title, width), width, bold);
    let room = height.saturating_sub(1);
    let first = (chosen + 1).saturating_sub(room);
    for (i, (_, trashed)) in trashed.iter().rev().enumerate().skip(first).take(room) {
        let y = 2 + i - first;
        canvas.write((0, y), &shorten(&browser.text(&trashed.path()), width), width, Style::new());
        if i == chosen {
            canvas.band(y, width);
        }
    }
}

/// What the review says about all marks, of which so many must not be removed.
fn review_head(browser: &Browser, refused: usize) -> Vec<String> {
    let (count, marked) = browser.marked();
    let is_partial = browser.is_marked_partial();
    let mut head = Vec::new();
    match marked {
        _ if count == 0 => {
            head.push(browser.no_removal().unwrap_or("nothing is marked: Space marks").to_owned())
        }
        None if browser.is_walking() => {
            head.push(format!("{count} marked; more is known once the scan is over"));
        }
        None => head.push(format!("{count} marked; the snapshot is too large to say more")),
        Some((totals, freed)) => {
            let entries = number_of(totals.entries);
            let size = sized(browser, totals.size, is_partial);
            head.push(format!("{count} marked: {entries}, {size}"));
            match freed {
                Some(freed) => {
                    let frees = partial::freed(freed, &format(browser), is_partial);
                    let frees = format!("removing them frees {frees}");
                    head.push(match freed.least {
                        least if least == totals.size => frees,
                        _ if browser.knows_sharing() => frees + ": the rest is shared or linked",
                        _ => frees + ": the rest has links that are not marked",
                    });
                }
                None => head.push("symlinks are followed: what is freed is not known".to_owned()),
            }
        }
    }
    if is_partial {
        head.push("not all could be read: there may be more in what is marked".to_owned());
    }
    if let Some(why) = browser.no_removal().filter(|_| count > 0) {
        head.push(why.to_owned());
    }
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
fn problems(browser: &Browser, first: usize, height: usize, canvas: &mut Canvas<'_>) {
    let (count, problems) = browser.unread();
    let title = match (count, problems.len()) {
        (0, _) => "everything was read".to_owned(),
        (count, 0) => format!("{count} could not be read: they are listed once the scan is over"),
        (count, _) => format!("{count} could not be read, and are missing from the totals"),
    };
    let style = Style::new().add_modifier(Modifier::BOLD);
    let width = canvas.width();
    canvas.write((0, 1), &shorten(&title, width), width, style);
    let room = height.saturating_sub(1);
    let first = first.min(problems.len().saturating_sub(room));
    for (i, problem) in problems.iter().skip(first).take(room).enumerate() {
        let line = shorten(&problem.to_string(), width);
        canvas.write((0, 2 + i), &line, width, Style::new());
    }
}
