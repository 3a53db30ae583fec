//! The lines of `weigh df`: how full file systems are, and what uses their space besides the files that the scan saw.

use std::time::Duration;
use std::{array, iter};

use super::errors::SHOWN;
use super::markdown::code;
use super::name::{cells, right_aligned, shorten, widest, wrapped};
use super::palette::{self, Charset, Palette};
use super::partial::mark;
use super::size::{Format, percent};
use super::tree::{Bars, PictureOptions};
use crate::ask::Outcome;
use crate::base::escape::escape;
use crate::base::path;
use crate::from::snapshot::{Cause, FileSystem, Unknown, Unseen};
use crate::sys::problem::Problem;

/// How full `file_systems` are: a table of all that are mounted, or a line for each that is going to be scanned.
pub fn capacities(
    file_systems: &[FileSystem],
    are_listed: bool,
    options: &PictureOptions,
) -> String {
    match are_listed {
        true => table(file_systems, options),
        false => file_systems.iter().map(|one| capacity(one, options)).collect(),
    }
}

/// The deleted files that are still open on `file_systems`, which stand above.
pub fn deleted(file_systems: &[FileSystem], are_listed: bool, options: &PictureOptions) -> String {
    let asked: Vec<_> = file_systems.iter().filter(|one| one.is_near).collect();
    let with_some = asked.iter().filter(|one| !one.causes.is_empty());
    let on_each = with_some.map(|one| {
        format!("{INDENT}on {}: {}", shown_root(one, options), open_files(one, options))
    });
    let lines: Vec<_> = match &asked[..] {
        [] => Vec::new(),
        [one] if !are_listed => vec![format!("{INDENT}{DELETED}: {}", open_files(one, options))],
        [first, ..] if asked.iter().all(|one| one.causes.is_empty()) => {
            vec![format!("{DELETED}: {}", open_files(first, options))]
        }
        _ => iter::once(format!("{DELETED}, until the process closes them or ends"))
            .chain(on_each)
            .collect(),
    };
    lines.iter().map(|line| options.charset.cut(line, options.width) + "\n").collect()
}

fn capacity(one: &FileSystem, options: &PictureOptions) -> String {
    let PictureOptions { format, charset, width, .. } = options;
    let [size, available, for_root] =
        [one.space.size, one.space.available, one.for_root].map(|it| format.write(it));
    let root = charset.text(escape(&one.root));
    let facts = [
        Some(format!("{available} available of {size}")),
        (one.for_root > 0).then(|| format!("{for_root} more only for root")),
        used_inodes(one).map(|share| format!("inodes {share} used")),
    ];
    let mut text = options.paint(&root, Palette::accent);
    let (mut column, mut between) = (cells(&root), "  ");
    for fact in facts.into_iter().flatten() {
        column += between.len() + fact.len();
        if column > *width {
            (column, between) = (INDENT.len() + fact.len(), "\n   ");
        }
        text += between;
        text += &fact;
        between = "   ";
    }
    text + "\n"
}

/// The indentation of the lines of a file system.
const INDENT: &str = "   ";

/// The heading of files without a name.
const DELETED: &str = "deleted but still open";

/// The deleted files that are still open: how much they take, and the largest.
fn open_files(one: &FileSystem, options: &PictureOptions) -> String {
    let cause = one.causes.iter().find(|cause| cause.name == "deleted but open");
    let needs_root = one.unseen_processes.iter().any(|it| it.needs_root);
    match (cause, one.unseen_processes.is_empty()) {
        (None, true) => "none".to_owned(),
        (None, false) if needs_root => "none that you may see (sudo sees all)".to_owned(),
        (None, false) => "none that weigh sees".to_owned(),
        (Some(cause), is_all) => {
            let size = mark(options.format.write(cause.size), !is_all);
            format!("{size}   {}", listed_parts(cause, options)).trim_end().to_owned()
        }
    }
}

/// All parts of the used space on each file system of an `outcome`, which add up to it, and how long the scan `took`.
pub(super) fn parts(outcome: &Outcome, took: Option<Duration>, options: &PictureOptions) -> String {
    let scanned = match (took, outcome.snapshot.report.is_interrupted) {
        (None, _) => String::new(),
        (Some(took), true) => format!("interrupted after {}", time(took)),
        (Some(took), false) => format!("scanned in {}", time(took)),
    };
    let used = |one: &FileSystem| format!("{} used", options.format.write(one.used()));
    let mut text = String::new();
    match &outcome.file_systems[..] {
        [one] => {
            let between = if scanned.is_empty() { "" } else { ": " };
            text += &format!("{scanned}{between}{}\n", used(one));
            text += &parts_of(one, outcome, options);
        }
        several => {
            text.extend((!scanned.is_empty()).then(|| scanned + "\n"));
            for one in several {
                let root = options.charset.text(escape(&one.root));
                text += &options.charset.cut(&format!("{root}: {}", used(one)), options.width);
                text += "\n";
                text += &parts_of(one, outcome, options);
            }
        }
    }
    text
}

fn time(took: Duration) -> String {
    match took.as_secs() {
        0 => format!("{} ms", took.as_millis().max(1)),
        1..60 => format!("{:.1} s", took.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn parts_of(one: &FileSystem, outcome: &Outcome, options: &PictureOptions) -> String {
    let (format, report) = (&options.format, &outcome.snapshot.report);
    let is_lost = |it: &Problem| it.is_loss() && path::is_within(&it.path, &one.root);
    let is_partial = report.is_interrupted || report.problems.iter().any(is_lost);
    let used = one.used();
    // Of each part, its size, as it is written, too, and its name.
    let mut lines: Vec<(u64, String, String)> = Vec::new();
    let line = |size, what| (size, format.write(size), what);
    lines.extend(
        one.seen.map(|seen| (seen, mark(format.write(seen), is_partial), "in files".to_owned())),
    );
    // A hundredth of what is used explains little.
    let (small, large): (Vec<&Cause>, Vec<_>) =
        one.causes.iter().partition(|cause| cause.size < used / 100);
    let (small, large) = match &small[..] {
        [_, _, ..] => (small, large),
        _ => (Vec::new(), one.causes.iter().collect()),
    };
    lines.extend(large.into_iter().map(|cause| line(cause.size, explained(cause, options))));
    if !small.is_empty() {
        let each = small.iter().map(|it| format!("{} {}", format.write(it.size), title(it)));
        let each = each.collect::<Vec<_>>().join(", ");
        lines.push(line(small.iter().map(|cause| cause.size).sum(), each));
    }
    let left = one.unexplained().unwrap_or(0);
    if left > 0 {
        let is_whole = !report.is_interrupted;
        let what = if is_whole { unexplained(one) } else { "not scanned".to_owned() };
        lines.push(line(u64::try_from(left).unwrap_or(u64::MAX), what));
    }
    if left < 0 {
        let what = "too much in the lines above: files share space, are compressed or in an overlay, or have \
            changed since";
        lines.push((0, format.write_change(left), what.to_owned()));
    }
    let widest = widest(lines.iter().map(|(_, written, _)| written));
    let mut text = String::new();
    for (size, written, what) in lines {
        let blanks = " ".repeat(widest - cells(&written));
        let written = options.paint(&options.charset.drawing(&written), |it| it.share(size, used));
        let room = options.width.saturating_sub(INDENT.len() + widest + 2);
        let what = wrapped(&options.charset.drawing(&what), room.max(ROOM), "");
        let after = format!("\n{INDENT}{}  ", " ".repeat(widest));
        text += &format!("{INDENT}{blanks}{written}  {}\n", what.join(&after));
    }
    let left_out: u64 = one.left_out.iter().filter_map(|part| part.size).sum();
    if left_out > 0 {
        let (left_out, parts) = (format.write(left_out), listed(&one.left_out, options));
        let line = format!("df leaves {left_out} out of the size: {parts}");
        let room = options.width.saturating_sub(INDENT.len()).max(ROOM);
        let lines = wrapped(&options.charset.drawing(&line), room, "");
        text.extend(lines.iter().map(|line| format!("{INDENT}{line}\n")));
    }
    text
}

/// A line has at least so many cells for words.
const ROOM: usize = 20;

/// The words for the rest: who could look where it may be.
fn unexplained(one: &FileSystem) -> String {
    let (for_root, others): (Vec<_>, Vec<_>) = one.all_unknown().partition(|it| it.needs_root);
    let parts = [("sudo reads", for_root), ("weigh does not see", others)];
    let part = |(who, unknown): (&str, Vec<&Unknown>)| {
        let names: Vec<_> = unknown.iter().map(|it| it.what.as_str()).collect();
        match &names[..] {
            [] => None,
            [only] => Some(format!("{who} {only}")),
            [first @ .., last] => Some(format!("{who} {} and {last}", first.join(", "))),
        }
    };
    let parts: Vec<_> = parts.into_iter().filter_map(part).collect();
    match &parts[..] {
        [] => "not explained".to_owned(),
        _ => format!("not explained ({})", parts.join("; ")),
    }
}

/// The lines of `outcome` on a page.
pub(super) fn lines(outcome: &Outcome, options: &PictureOptions) -> String {
    match &outcome.file_systems[..] {
        [] => String::new(),
        all => {
            let first = [capacities(all, false, options), deleted(all, false, options)].concat();
            first + &parts(outcome, None, options)
        }
    }
}

/// The headings of a table, without the last one, for the mount point.
const HEADINGS: [&str; 5] = ["size", "used", "avail", "use%", "inodes"];

/// The figures of a file system in a table.
fn figures(one: &FileSystem, format: &Format) -> [String; 5] {
    let [size, used, available] =
        [one.space.size, one.used(), one.space.available].map(|it| format.write(it));
    let share = percent(one.used(), whole(one));
    [size, used, available, share, used_inodes(one).unwrap_or_else(|| "-".to_owned())]
}

fn used_inodes(one: &FileSystem) -> Option<String> {
    (one.space.inodes > 0).then(|| percent(one.space.used_inodes, one.space.inodes))
}

/// A line for each as df has it.
fn table(file_systems: &[FileSystem], options: &PictureOptions) -> String {
    /// The least room for a path beside bars.
    const PATH: usize = 12;
    let rows = file_systems.iter().map(|one| figures(one, &options.format));
    let rows: Vec<_> = iter::once(HEADINGS.map(str::to_owned)).chain(rows).collect();
    let widths: [usize; 5] = array::from_fn(|column| widest(rows.iter().map(|row| &row[column])));
    let figures: usize = widths.iter().map(|width| width + 1).sum();
    let draws_bars = !options.screen_reader
        && options.bars != Bars::None
        && figures + BAR + 2 + PATH <= options.width;
    let bar = if draws_bars { BAR + 1 } else { 0 };
    let room = options.width.saturating_sub(figures + bar + 1);
    let mut text = String::new();
    for (row, one) in rows.iter().zip(iter::once(None).chain(file_systems.iter().map(Some))) {
        let mut cells = row.iter().zip(widths).map(|(it, width)| right_aligned(it, width) + " ");
        text.extend(cells.by_ref().take(4));
        if draws_bars {
            text += &(usage(one, options) + " ");
        }
        text.extend(cells);
        let point = one.map_or_else(|| "mounted on".to_owned(), |one| shown_root(one, options));
        let point = if options.shortens_paths { shorten(&point, room) } else { point };
        text += &format!(" {point}\n");
    }
    text
}

fn shown_root(one: &FileSystem, options: &PictureOptions) -> String {
    options.charset.text(escape(&one.root))
}

/// The table of an `outcome` in Markdown, and after a scan the parts of what is used, as code.
pub(super) fn markdown(outcome: &Outcome, options: &PictureOptions) -> String {
    let file_systems = &outcome.file_systems;
    let headings = HEADINGS.map(|heading| format!("| {heading} ")).concat();
    let mut text =
        format!("{headings}| mounted on |\n{}| :-- |\n", "| --: ".repeat(HEADINGS.len()));
    for one in file_systems {
        text += &figures(one, &options.format).map(|figure| format!("| {figure} ")).concat();
        text += &format!("| {} |\n", code(&shown_root(one, options)));
    }
    if file_systems.iter().any(|one| one.seen.is_some()) {
        text.push('\n');
        // Lines that begin with four blanks are code, whatever is in them (GFM 4.4).
        let lines = parts(outcome, outcome.took, options);
        text.extend(lines.lines().map(|line| format!("    {line}\n")));
    }
    text
}

/// How wide the bar in a table is.
const BAR: usize = 10;

/// What of a file system users can fill, which df takes its percentage of.
fn whole(one: &FileSystem) -> u64 {
    one.used().saturating_add(one.space.available)
}

/// How full one is, as a bar; blank for the head.
fn usage(one: Option<&FileSystem>, options: &PictureOptions) -> String {
    let Some(one) = one else { return " ".repeat(BAR) };
    let bar = palette::bar(one.used(), whole(one), BAR, options.charset);
    let behind = if options.charset == Charset::Ascii { "." } else { "░" };
    let behind = behind.repeat(BAR - cells(&bar));
    options.paint(&bar, |palette| palette.bar(one.used(), whole(one)))
        + &options.paint(&behind, Palette::aside)
}

/// The name of a cause in a line.
fn title(cause: &Cause) -> &'static str {
    if cause.name == "deleted but open" { DELETED } else { cause.name }
}

/// A cause, and the largest parts of it. Those of files without a name stand above.
fn explained(cause: &Cause, options: &PictureOptions) -> String {
    let title = title(cause);
    match &*listed_parts(cause, options) {
        _ if title == DELETED => format!("{title} (restart the process to free this)"),
        "" => title.to_owned(),
        parts => format!("{title}: {parts}"),
    }
}

/// The largest parts of a cause, and how many files it has.
fn listed_parts(cause: &Cause, options: &PictureOptions) -> String {
    let more = cause.files.filter(|files| *files > cause.parts.len() as u64);
    let more = more.map(|files| format!(", {files} files")).unwrap_or_default();
    least(cause, &options.format) + &listed(&cause.parts, options) + &more
}

/// What a cause comes to at least, if clones may share some of it.
pub fn least(Cause { size, shared, .. }: &Cause, format: &Format) -> String {
    match shared {
        0 => String::new(),
        _ => format!("frees at least {}; ", format.write(size.saturating_sub(*shared))),
    }
}

/// The first few of `parts`, each with its size unless it is alone.
fn listed(parts: &[Unseen], options: &PictureOptions) -> String {
    let shown = parts.iter().take(SHOWN).map(|part| {
        let size = match part.size {
            None => "size unknown ".to_owned(),
            Some(_) if parts.len() == 1 => String::new(),
            Some(size) => options.format.write(size) + " ",
        };
        size + &options.charset.text(held(part) + &escape(&part.name))
    });
    let mut shown: Vec<_> = shown.collect();
    shown.extend((parts.len() > SHOWN).then(|| "…".to_owned()));
    shown.join("; ")
}

/// Who holds a part open.
pub fn held(Unseen { holders, held_by, .. }: &Unseen) -> String {
    let Some(first) = holders.first() else { return String::new() };
    let more = match held_by.saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} ({}){more} ", escape(&first.command), first.pid)
}
