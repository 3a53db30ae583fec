//! The texts over the list: help, all about a line, marks, the trash, errors. They look like the list: the same margins,
//! dim headings, sizes and bars in the colours of shares, one band.

use ratatui_core::style::{Modifier, Style};

use super::canvas::{BOLD, Canvas};
use super::list;
use super::text::{Line, is_low, page, pairs, paragraph, room, shorten_path, titled};
use crate::app::browse::browser::{Browser, Dialog, DialogText, Question};
use crate::app::browse::keys::{ACTIONS, Act, Key};
use crate::app::browse::listing::Item;
use crate::app::browse::removal::{NOTHING_IN_TRASH, NOTHING_MARKED};
use crate::app::browse::review::Review;
use weigh::internal::base::inode::{Identity, Links};
use weigh::internal::base::measure::{Kind, Measure};
use weigh::internal::show::name::{cells, shorten};
use weigh::internal::show::palette;
use weigh::internal::show::size::{Format, entries};
use weigh::internal::sys::problem::Problem;
use weigh::internal::tree::Place;

/// Draws `text`, from the line `first` on.
pub(super) fn draw(browser: &Browser, text: DialogText, first: usize, canvas: &mut Canvas<'_>) {
    let title = match text {
        DialogText::Help => "keys",
        DialogText::Info => {
            let name = browser.item(browser.shown.chosen).map(|item| list::title(browser, &item));
            let name = shorten(&name.unwrap_or_default(), canvas.width().saturating_sub(8));
            &format!("about {name}")
        }
        DialogText::Review => return review(browser, first, canvas),
        DialogText::Trash => return trash(browser, first, canvas),
        DialogText::Errors => {
            let (count, unread) = browser.unread();
            let title = match (count, unread.len()) {
                (0, _) if browser.is_walking() => "everything was read so far".to_owned(),
                (0, _) => "everything was read".to_owned(),
                (_, 0) => {
                    format!("{count} could not be read: listed once the scan is over")
                }
                _ => format!("{count} could not be read: missing from the totals"),
            };
            let head = (titled(&title, canvas.width()), Vec::new());
            let lines = (browser.dialogs.text_first, first, unread.len());
            return paths(canvas, head, 1, lines, |_, line| {
                (Line::new(), said(browser, &unread[line]), Style::new())
            });
        }
        DialogText::Kept => "not everything was done",
    };
    let lines = text_lines(browser, text, canvas.width(), canvas.aside());
    let head = (titled(title, canvas.width()), Vec::new());
    page(canvas, head, (first, None), lines.len(), |_, line| lines[line].clone());
}

/// How many lines of a text that scrolls can be the first one on a screen of this size.
pub(super) fn end(browser: &Browser, text: DialogText, (width, height): (usize, usize)) -> usize {
    text_lines(browser, text, width, Style::new()).len().saturating_sub(room(height)) + 1
}

/// The lines of a text that scrolls as a whole, on a screen of this width.
fn text_lines(browser: &Browser, text: DialogText, width: usize, aside: Style) -> Vec<Line> {
    match text {
        DialogText::Help => help(browser, width, aside),
        DialogText::Info => pairs(&info(browser), (1, width.saturating_sub(1)), [aside; 2]),
        DialogText::Kept => {
            let kept = browser.kept().iter().map(|problem| said(browser, problem).concat());
            kept.flat_map(|problem| paragraph(&problem, width, Style::new())).collect()
        }
        DialogText::Review | DialogText::Trash | DialogText::Errors => Vec::new(),
    }
}

/// What could not be done with a path, and why.
pub(super) fn said(
    browser: &Browser,
    Problem { path, operation, message, .. }: &Problem,
) -> [String; 2] {
    let what = format!("cannot {} {}", operation.name(), browser.text(path));
    [what, format!(": {}", browser.message(message))]
}

/// The actions that begin a group of the help, its name, and its column if there are three.
const GROUPS: [(Act, &str, usize); 7] = [
    (Act::Up, "move", 0),
    (Act::NextView, "find", 0),
    (Act::BySize, "sort", 0),
    (Act::Apparent, "look", 1),
    (Act::Mark, "mark", 1),
    (Act::Delete, "free", 2),
    (Act::Copy, "other", 2),
];

/// All keys, and beside them what they do, in the number of columns that takes the fewest lines.
fn help(browser: &Browser, width: usize, aside: Style) -> Vec<Line> {
    let most = (width / 40).clamp(1, 3);
    let layouts = (1..=most).map(|count| help_in(browser, count, width, aside));
    layouts.min_by_key(Vec::len).unwrap_or_default()
}

/// The same in `count` columns.
fn help_in(browser: &Browser, count: usize, width: usize, aside: Style) -> Vec<Line> {
    let (mut x, mut lines) = (1, Vec::new());
    for rows in help_columns(browser, count, browser.shown.height > 24) {
        let column = pairs(&rows, (x, width.saturating_sub(1)), [BOLD, aside]);
        lines.resize(column.len().max(lines.len()), Line::new());
        let ends = column.iter().flatten().map(|(x, text, _)| x + cells(text));
        x = ends.max().unwrap_or(0) + width / 24;
        lines.iter_mut().zip(column).for_each(|(line, parts)| line.extend(parts));
    }
    lines
}

/// The keys of all groups and what they do, in so many columns; with blank lines between groups if there `is_room`.
fn help_columns(browser: &Browser, count: usize, is_room: bool) -> Vec<Vec<(String, &str)>> {
    let (mut columns, mut at) = (vec![Vec::new(); count], 0);
    for (act, _, _, help) in ACTIONS {
        if let Some((_, name, column)) = GROUPS.iter().find(|group| group.0 == *act) {
            at = count.min(column + 1) - 1;
            if is_room && !columns[at].is_empty() {
                columns[at].push((String::new(), ""));
            }
            columns[at].push(((*name).to_owned(), ""));
        }
        let keys = browser.options.keys.keys(*act).into_iter().map(Key::name);
        let keys = keys.collect::<Vec<_>>().join(" ");
        columns[at].push((keys, help));
    }
    // The user may have set all keys of an action for others.
    for rows in &mut columns {
        rows.retain(|(keys, help)| !keys.is_empty() || help.is_empty());
    }
    columns
}

/// All that is known of the chosen entry.
fn info(browser: &Browser) -> Vec<(&'static str, String)> {
    let item = browser.item(browser.shown.chosen);
    let place = item.as_ref().and_then(|item| item.place);
    let path = place.map(|place| ("path", browser.text(&browser.tree().at(place).path())));
    let exact = place.map(|place| exactly(browser, place)).unwrap_or_default();
    let inode = item.filter(|item| item.branch.is_none());
    let inode = inode.map(|item| of_inode(browser, &item)).unwrap_or_default();
    path.into_iter().chain(details(browser)).chain(exact).chain(inode).collect()
}

/// What only few want to know of an entry: its mode, its links, its times and its inode.
fn of_inode(browser: &Browser, item: &Item<'_>) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if item.place.is_some() && !item.is_open && browser.knows_modes() {
        lines.push(("mode", format!("{:04o}", item.mode.0 & 0o7777)));
    }
    match item.links() {
        Links::Unknown => lines.push(("links", "more than it knows".to_owned())),
        Links::Of(links) if !item.is_directory() => {
            lines.push(("links", Format::Count.write(links.into())))
        }
        _ => {}
    }
    if let Some(details) = item.inode.and_then(|inode| inode.details) {
        for (name, time) in [("inode changed", details.changed), ("made", details.born)] {
            if time != 0 {
                lines.push((name, browser.time(time)));
            }
        }
    }
    if let Some(inode) = item.inode.filter(|_| browser.knows_inodes()) {
        let Identity { device, number, .. } = inode.identity;
        lines.push(("inode", format!("{number} on device {device}")));
    }
    lines
}

/// Both sizes of an entry, to the byte, as far as they are known.
fn exactly(browser: &Browser, place: Place) -> Vec<(&'static str, String)> {
    let sums = browser.tree().at(place).node().sums;
    let known = browser.scan.browsed.as_ref().map(|it| it.snapshot.known).unwrap_or_default();
    let measures = [(Measure::Disk, "on disk"), (Measure::Apparent, "apparent size")];
    let known = measures.into_iter().filter(|it| known.contains(it.0) || it.0 == browser.measure());
    let lines = known.map(|(measure, name)| {
        (name, format!("{} bytes", Format::Count.write(sums.totals_in(measure.into()).size)))
    });
    lines.collect()
}

/// The same without its path.
pub(super) fn details(browser: &Browser) -> Vec<(&'static str, String)> {
    let Some(item) = browser.item(browser.shown.chosen) else { return Vec::new() };
    let mut lines = Vec::new();
    if let Some(branch) = item.branch {
        if branch.kind.is_some() || branch.is_summed {
            lines.push(("frees", browser.write_freed(browser.freed(&item), false)));
        }
        lines.extend(item.totals.newest.map(|newest| ("last written", browser.time(newest))));
        lines.extend(browser.unused_details(branch));
        return lines;
    }
    lines.push(match (item.place, item.gone) {
        (None, Some(was)) => ("gone", format!("it was {}", browser.sized(was, false))),
        (None, None) if browser.found_so_far().is_some() => ("kind", kind(&item).to_owned()),
        (None, None) => ("entries", Format::Count.write(item.totals.entries)),
        (Some(_), _) => ("kind", kind(&item).to_owned()),
    });
    lines.extend(browser.link_target().map(|target| ("leads to", target)));
    if !item.note.is_empty() {
        lines.push(("what it is", item.note.to_string()));
    }
    let is_partial = browser.is_partial(item.place);
    lines.push(("size", browser.sized(item.totals.size, is_partial)));
    if item.is_directory() && item.gone.is_none() {
        lines.push(("entries", in_words(browser, &item)));
        lines.extend(browser.largest_inside().map(|(name, size)| {
            ("largest file", format!("{} {name}", browser.sized(size, false)))
        }));
        lines.extend(item.own.map(|own| ("by itself", browser.sized(own, false))));
        let shared = item.totals.shared;
        lines.extend((shared > 0).then(|| ("links outside", browser.sized(shared, false))));
    }
    if browser.knows_freed() && !item.is_open && item.place.is_some() {
        lines.push(("frees", browser.write_freed(browser.freed(&item), is_partial)));
    }
    let written = item.totals.newest.map(|newest| match browser.age(newest) {
        age if age == browser.time(newest) => age,
        age => format!("{age}, {}", browser.time(newest)),
    });
    lines.extend(written.map(|written| ("last written", written)));
    if let Some(details) = item.inode.and_then(|inode| inode.details) {
        lines.push(("owner", details.owner.to_string()));
    }
    lines.extend(browser.repository_around().map(|it| ("git", it)));
    lines.extend(browser.may_go_inside().map(|it| ("can go", it)));
    if item.is_open {
        lines.push(("so far", "it is still being read".to_owned()));
    }
    lines
}

/// How many entries a directory has, and how many of these are files, if that is known.
fn in_words(browser: &Browser, item: &Item<'_>) -> String {
    let entries = Format::Count.write(item.totals.entries);
    let known = browser.scan.browsed.as_ref().map(|it| it.snapshot.known).unwrap_or_default();
    let place = item.place.filter(|_| known.contains(Measure::Files) || browser.is_walking());
    let Some(place) = place else { return entries };
    let files = browser.tree().at(place).node().sums.all.files;
    format!("{entries}, {} of them files", Format::Count.write(files))
}

fn kind(item: &Item<'_>) -> &'static str {
    match item.mode.kind() {
        Kind::Other => "special file",
        kind => kind.name(),
    }
}

/// Draws paths from the column `x` on, each with other parts of its line and with what is said about it; from the line
/// `first` on, if `chosen` is on the screen then. What does not fit into the chosen line is below the others.
fn paths(
    canvas: &mut Canvas<'_>,
    (head, mut foot): (Vec<Line>, Vec<Line>),
    x: usize,
    (first, chosen, count): (usize, usize, usize),
    row: impl Fn(&Canvas<'_>, usize) -> (Line, [String; 2], Style),
) {
    let width = canvas.width();
    let full = if chosen < count { row(canvas, chosen).1.concat() } else { String::new() };
    if x + cells(&full) >= width {
        foot.push(Line::new());
        foot.extend(paragraph(&full, width, canvas.aside()));
    }
    page(canvas, (head, foot), (first, Some(chosen)), count, |canvas, line| {
        let (mut parts, [path, said], of_name) = row(canvas, line);
        // The path has at least half of the room, and its last name stands out.
        let room = width.saturating_sub(x + 1);
        let said = shorten(&said, room.saturating_sub(cells(&path).min(room / 2)));
        let (above, name) = shorten_path(&path, room - cells(&said));
        let at = x + cells(&above);
        let end = at + cells(&name);
        let aside = canvas.aside();
        parts.extend([(x, above, aside), (at, name, of_name), (end, said, aside)]);
        parts
    });
}

/// The marked entries, what removing each of them and all of them frees, and how that is done.
fn review(browser: &Browser, chosen: usize, canvas: &mut Canvas<'_>) {
    let (width, plain) = (canvas.width(), Style::new());
    let marks = browser.removals.review.as_ref().map_or(&[][..], |review| &review.marks);
    let count = if browser.has_all() { marks.len() } else { 0 };
    let item = |line: usize| Item::of(&browser.scan.tree.at(marks[line].place));
    let largest = if count > 0 { item(0).totals.size } else { 0 };
    let whole = browser.marked().1.map_or(0, |(totals, _)| totals.size);
    // Two bounds take more room than one figure.
    let frees = if browser.knows_sharing() { 16 } else { 8 };
    let frees = if browser.knows_freed() && width > 30 { frees } else { 0 };
    let bar = if width < 60 { 0 } else { width / 5 };
    let start = frees + bar + if bar > 0 { 15 } else { 13 };
    let line = |[size, freed, drawn, path]: [&str; 4], styles: [Style; 4]| {
        let freed = if frees > 0 { freed } else { "" };
        let texts = [format!("{size:>7}"), format!("{freed:>frees$}"), drawn.into(), path.into()];
        let parts = [3, 11, frees + 13, start].into_iter().zip(texts).zip(styles);
        parts.map(|((x, text), style)| (x, text, style)).collect::<Line>()
    };
    let sum = together(browser);
    let mut head = review_head(browser, &sum, canvas);
    let mut foot = Vec::new();
    if count > 0 {
        let share = if bar > 0 { "share" } else { "" };
        head.extend([Line::new(), line(["size", "frees", share, "path"], [canvas.aside(); 4])]);
    }
    if count > 1 {
        foot.push(line([&sum[0], &sum[1], "", "together"], [BOLD; 4]));
        let sizes = (0..count).map(|line| u128::from(item(line).totals.size));
        let why = "a file with several marked links counts once in this sum";
        let has_room = !is_low(canvas.height()) && cells(why) < width;
        if has_room && sizes.sum::<u128>() > whole.into() {
            foot.push(vec![(1, why.to_owned(), canvas.aside())]);
        }
    }
    let lines = (browser.dialogs.text_first, chosen, count);
    paths(canvas, (head, foot), start, lines, |canvas, number| {
        let (item, mark) = (item(number), &marks[number]);
        let (size, is_partial) = (item.totals.size, browser.is_partial(item.place));
        let freed = browser.write_freed(browser.freed(&item), is_partial);
        let (dot, freed, why) = match &mark.target {
            Ok(_) => {
                let warning = mark.warning.as_ref().map(|it| format!(": {it}"));
                ("●", &*freed, warning.unwrap_or_default())
            }
            Err(why) => ("", "", format!(": {why}")),
        };
        let drawn = palette::bar(size, largest, bar, canvas.charset);
        let share = canvas.style(|it| it.share(size, whole), Modifier::empty());
        let of_bar = canvas.style(|it| it.bar(size, whole), Modifier::empty());
        let shown = browser.sized(size, is_partial);
        let mut parts = line([&shown, freed, &drawn, ""], [share, plain, of_bar, plain]);
        parts.push((1, dot.to_owned(), canvas.of_mark()));
        let slash = if item.is_directory() { "/" } else { "" };
        let path = browser.text(&browser.scan.tree.at(mark.place).path()) + slash;
        (parts, [path, why], list::name_style(browser, &item))
    });
}

/// What this run has moved into the trash, the last first.
fn trash(browser: &Browser, chosen: usize, canvas: &mut Canvas<'_>) {
    let trashed = &browser.removals.trashed;
    let title = match trashed.len() {
        0 => NOTHING_IN_TRASH,
        _ => {
            "in the trash: that frees nothing until it is emptied; Enter puts this back, E empties it"
        }
    };
    let head = (titled(title, canvas.width()), Vec::new());
    let lines = (browser.dialogs.text_first, chosen, trashed.len());
    paths(canvas, head, 10, lines, |_, line| {
        let entry = &trashed[trashed.len() - 1 - line];
        let size = vec![(1, format!("{:>7}", entry.size), Style::new())];
        (size, [browser.text(&entry.trashed.old_path), String::new()], Style::new())
    });
}

/// The size of all that is marked, and what removing it frees, if that is known: not if some of it is refused.
fn together(browser: &Browser) -> [String; 2] {
    let Some((totals, freed)) = browser.marked().1 else { return Default::default() };
    let is_partial = browser.is_marked_partial();
    let refused = browser.removals.review.as_ref().map_or(0, Review::refused);
    let freed = freed.filter(|_| refused == 0);
    let frees = freed.map(|freed| browser.write_freed(freed, is_partial));
    [browser.sized(totals.size, is_partial), frees.unwrap_or_default()]
}

/// What the review says about all marks, which come to `sum`.
fn review_head(browser: &Browser, sum: &[String; 2], canvas: &Canvas<'_>) -> Vec<Line> {
    const FOR_EVER: &str = "deletes them for ever, once you have typed the number of entries";
    const TRASH: &str = "moves them into the trash: u puts them back, emptying it frees the space";
    let (width, is_low) = (canvas.width(), is_low(canvas.height()));
    let (marked_count, marked) = browser.marked();
    let count = Format::Count.write(marked_count as u64);
    let title = match marked {
        _ if marked_count == 0 => browser.no_removal().unwrap_or(NOTHING_MARKED).to_owned(),
        None if browser.is_walking() => {
            format!("{count} marked; more is known once the scan is over")
        }
        None => format!("{count} marked; the snapshot is too large to say more"),
        Some((totals, _)) => format!("{count} marked: {} in {}", sum[0], entries(totals.entries)),
    };
    let mut head = paragraph(&title, width, BOLD);
    if marked_count == 0 {
        return head;
    }
    for text in remarks(browser, &sum[1], is_low) {
        head.extend(paragraph(&text, width, Style::new()));
    }
    // On a low screen, the last line has to do.
    if browser.no_removal_of_marks().is_none() && !is_low {
        let keys = match browser.dialogs.open {
            Some(Dialog::Prompt(Question::Delete(count), _)) => [
                (format!("{} Enter", Format::Count.write(count)), "deletes them for ever"),
                ("Esc".to_owned(), "deletes nothing"),
            ],
            _ => [("t".to_owned(), TRASH), ("D".to_owned(), FOR_EVER)],
        };
        head.push(Line::new());
        head.extend(pairs(&keys, (1, width.saturating_sub(1)), [BOLD; 2]));
    }
    head
}

/// What is said about the marks: what removing all of them `frees`, what is not known, and what cannot be removed.
fn remarks(browser: &Browser, frees: &str, is_low: bool) -> Vec<String> {
    let (count, marked) = browser.marked();
    let review = browser.removals.review.as_ref();
    let refused = review.map_or(0, Review::refused);
    let mut said = Vec::new();
    // If some are refused, what the others free together is not known.
    match marked.filter(|_| refused == 0) {
        None => {}
        Some((_, None)) => said.push("what removing them frees is not known".to_owned()),
        Some((totals, Some(freed))) => {
            let whole = browser.sized(totals.size, browser.is_marked_partial());
            let rest = match freed.least == totals.size || whole == frees {
                true => "",
                false if browser.knows_sharing() => ": the rest is shared or linked",
                false => ": the rest has links that are not marked",
            };
            // On a low screen, the line of the sum has to do if that is all.
            if !rest.is_empty() || !is_low || count == 1 {
                said.push(format!("removing them frees {frees}{rest}"));
            }
        }
    }
    if browser.is_marked_partial() {
        said.push("some of what is marked could not be read: it may hold more".to_owned());
    }
    if review.is_some_and(|it| it.marks.iter().any(|mark| mark.warning.is_some())) {
        said.push("weigh's rules say: look first. The reason is beside the path".to_owned());
    }
    let no_removal = browser.no_removal_of_marks();
    said.extend(no_removal.map(str::to_owned));
    if review.is_some_and(|review| !review.is_looked) {
        said.push("checking again what is marked …".to_owned());
    }
    match (no_removal, refused) {
        (None, 1) => said.push("1 of them cannot be removed, and is left out".to_owned()),
        (None, 2..) => said.push(format!("{refused} of them cannot be removed, and are left out")),
        _ => {}
    }
    said
}
