//! The dialogs over the list: help, details of a line, marks, errors.

use std::collections::HashMap;

use ratatui_core::style::{Modifier, Style};

use super::canvas::{AROUND, Canvas, format, number_of, sized};
use crate::program::browse::browser::{Browser, Dialog, DialogText};
use crate::program::browse::item::Item;
use crate::program::browse::keys::{KEYS, KeyLine};
use weigh::internal::escape::escape;
use weigh::internal::inode::{Identity, Links};
use weigh::internal::measure::Kind;
use weigh::internal::path;
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
        DialogText::Help => ("keys", help(canvas.width())),
        DialogText::Info => ("about it", info(browser)),
        DialogText::Review => return review(browser, first, height, canvas),
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

/// All keys, in two columns if there is room.
fn help(width: usize) -> Vec<String> {
    let (left, right) = KEYS.split_at(KEYS.len().div_ceil(2));
    let (left, right) = (help_column(left), help_column(right));
    let half = widest(&left) + 2;
    if half + widest(&right) > width {
        return help_column(KEYS);
    }
    let lines = left.iter().enumerate().map(|(i, line)| {
        let blank = " ".repeat(half.saturating_sub(cells(line)));
        format!("{line}{blank}{}", right.get(i).map_or("", String::as_str))
    });
    lines.collect()
}

/// Keys, and beside them what they do.
fn help_column(keys: &[KeyLine]) -> Vec<String> {
    let widest = keys.iter().map(|(_, names, _)| cells(names)).max().unwrap_or(0);
    let lines = keys.iter().map(|(_, names, help)| {
        let blank = " ".repeat(widest + 2 - cells(names));
        format!("  {names}{blank}{help}")
    });
    lines.collect()
}

fn widest(lines: &[String]) -> usize {
    lines.iter().map(|line| cells(line)).max().unwrap_or(0)
}

/// All details of the chosen entry.
fn info(browser: &Browser) -> Vec<String> {
    let Some(item) = browser.item(browser.chosen) else { return Vec::new() };
    let format = format(browser);
    let mut full = browser.path();
    path::join(&mut full, item.name);
    let mut lines = vec![("path", escape(&full))];
    lines.push(match item.is_open {
        true => ("kind", kind(&item).to_owned()),
        false => ("kind", format!("{}, mode {:04o}", kind(&item), item.mode.0 & 0o7777)),
    });
    let is_partial = browser.is_partial(item.place);
    lines.push(("size", sized(browser, item.totals.size, is_partial)));
    if item.is_directory() {
        lines.push(("entries", Format::Count.write(item.totals.entries)));
        lines.extend(item.own.map(|own| ("by itself", format.write(own))));
        let shared = item.totals.shared;
        lines.extend((shared > 0).then(|| ("also linked elsewhere", format.write(shared))));
    }
    if browser.knows_freed() && !item.is_open {
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
    lines.into_iter().map(|(name, value)| format!("  {name:<22} {value}")).collect()
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
fn review(browser: &Browser, first: usize, height: usize, canvas: &mut Canvas<'_>) {
    let (width, format) = (canvas.width(), format(browser));
    let refusals: HashMap<_, _> = browser
        .removals
        .review
        .iter()
        .flat_map(|it| &it.marks)
        .filter_map(|mark| Some((mark.place, mark.refusal.as_ref()?)))
        .collect();
    let mut head = review_head(browser, refusals.len());
    head.truncate(height.saturating_sub(1).max(1));
    for (i, line) in head.iter().enumerate() {
        let style = Style::new().add_modifier(Modifier::BOLD);
        canvas.write((0, 1 + i), &shorten(line, width), width, style);
    }
    if !browser.has_all() {
        return;
    }
    let scan = &browser.scan;
    let room = height.saturating_sub(head.len());
    let first = first.min(scan.marks.len().saturating_sub(room));
    for (i, place) in scan.marks.places().skip(first).take(room).enumerate() {
        let child = scan.tree.at(place);
        let item = Item::of(&child);
        let ending = if item.is_directory() { "/" } else { "" };
        let is_partial = browser.is_partial(Some(place));
        let freed = match browser.knows_freed() {
            true => partial::freed(browser.freed(&item), &format, is_partial),
            false => String::new(),
        };
        let size = sized(browser, item.totals.size, is_partial);
        let size = format!("{size:>8} {freed:>8} ");
        let room = width.saturating_sub(cells(&size) + ending.len());
        let refusal = refusals.get(&place);
        let path = match refusal {
            Some(why) => shorten(&format!("{why}: {}", escape(&child.path())), room),
            None => shorten(&escape(&child.path()), room),
        };
        canvas.write(
            (0, 1 + head.len() + i),
            &format!("{size}{path}{ending}"),
            width,
            Style::new(),
        );
    }
}

/// What the review says about all marks, of which so many must not be removed.
fn review_head(browser: &Browser, refused: usize) -> Vec<String> {
    let (count, marked) = browser.marked();
    let is_partial = browser.is_marked_partial();
    let mut head = Vec::new();
    match marked {
        _ if count == 0 => head.push("nothing is marked: Space marks".to_owned()),
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
