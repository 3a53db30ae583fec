//! The history of a tree: by how much it grew, as a plot; a line for each directory that changed most, with its size,
//! its growth per day and a sparkline; and when file systems will be full. As JSON, with all sizes as they were.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::to_string;

use super::markdown::code;
use super::name::{cells, cut, padded, right_aligned, shorten, widest, wrapped};
use super::palette::{Charset, Palette};
use super::partial;
use super::plot::{self, Point};
use super::size::Format;
use super::tree::PictureOptions;
use crate::ask::history::{FileSystem, History, Trace};
use crate::ask::trend::{FURTHEST, Filling, LEAST_SPAN};
use crate::base::escape::{escape, json_bytes as bytes};
use crate::base::measure::{DAY, Measure};
use crate::base::path;
use crate::from::snapshot::header;

/// However much is to be said of it, a root has so many cells for its name.
const LEAST_NAME: usize = 8;

/// Draws a history: the answer, a plot of all, a line for each directory, and when file systems will be full.
///
/// # Errors
/// The writer's.
pub fn draw(out: &mut dyn Write, history: &History, options: &PictureOptions) -> io::Result<()> {
    let folded = |line: String| folded(&line, options);
    let mut lines: Vec<_> = answer(history, options).into_iter().flat_map(folded).collect();
    if !options.screen_reader {
        lines.extend(plot::plot(&points(history), options));
    }
    lines.extend(table(history, options));
    lines.extend(remarks(history, options).into_iter().flat_map(folded));
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// A line of words in as many lines as it needs. A word that is too long is cut.
fn folded(line: &str, options: &PictureOptions) -> Vec<String> {
    let line = options.charset.drawing(line);
    let indent = line.len() - line.trim_start().len();
    let lines = wrapped(&line, options.width, &" ".repeat(indent + 2)).into_iter();
    lines.map(|line| cut(&line, options.width)).collect()
}

/// The lines of the directories.
fn table(history: &History, options: &PictureOptions) -> Vec<String> {
    /// Names have so many cells, before there are sparklines.
    const LEAST: usize = 12;
    let rows = rows(history, options);
    let texts = |i: usize| rows.iter().map(move |row| &row.texts[i]);
    let [sizes, rates] = [0, 1].map(|i| widest(texts(i)));
    // The title of the last column is over the names, too.
    let sparks = widest(texts(2).skip(1));
    let room = options.width.saturating_sub(sizes + rates + 4);
    let sparks = if sparks + 2 + LEAST > room { 0 } else { sparks };
    let gap = if sparks > 0 { sparks + 2 } else { 0 };
    let lines =
        rows.iter().enumerate().map(|(i, Row { texts: [size, rate, spark], name, grows })| {
            let rate = right_aligned(rate, rates);
            if i == 0 {
                let title = options.charset.cut(spark, room);
                let titles = format!("{}  {rate}  {title}", right_aligned(size, sizes));
                return options.paint(&options.charset.cut(&titles, options.width), Palette::aside);
            }
            let rate = options.paint(&rate, |palette| palette.change(*grows));
            let spark = if sparks == 0 { String::new() } else { padded(spark, gap) };
            let name = options.charset.cut(name, room.saturating_sub(gap));
            let spark = options.paint(&spark, Palette::aside);
            let size = right_aligned(&options.charset.drawing(size), sizes);
            format!("{size}  {rate}  {spark}{name}")
        });
    lines.collect()
}

/// By how much all of it grew, from the first size of the trend to the last.
fn answer(history: &History, options: &PictureOptions) -> Option<String> {
    let root = history.lines.first()?;
    let sizes = history.of_trend().filter_map(|i| Some((history.moments[i].time, root.sizes[i]?)));
    let sizes: Vec<_> = sizes.collect();
    let ((from, was), (to, is)) = (*sizes.first()?, *sizes.last()?);
    if from == to {
        return None;
    }
    let format = &options.format;
    let by = format.write(was.abs_diff(is));
    let [was_text, is_text] = [was, is].map(|size| format.write(size));
    let over = duration(to.saturating_sub(from));
    let said = match was.cmp(&is) {
        Ordering::Less => format!("grew by {by} in {over}: {was_text} → {is_text}"),
        Ordering::Greater => format!("shrank by {by} in {over}: {was_text} → {is_text}"),
        Ordering::Equal => format!("neither grew nor shrank in {over}: {is_text}"),
    };
    let name = match &*root.name {
        b"" => "All".to_owned(),
        b"." => "This directory".to_owned(),
        name => options.charset.text(escape(name)),
    };
    let room = options.width.saturating_sub(cells(&said) + 1).max(LEAST_NAME);
    Some(format!("{} {said}", shorten(&name, room)))
}

/// So many `seconds` in words.
fn duration(seconds: i64) -> String {
    const HOUR: i64 = 3_600;
    let (count, unit) = match seconds {
        ..HOUR => (seconds / 60, "minute"),
        HOUR..172_800 => (seconds / HOUR, "hour"),
        _ => ((seconds + DAY / 2) / DAY, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

/// The sizes of the root; none where something is missing.
fn points(history: &History) -> Vec<Point> {
    let used: HashSet<_> = history.of_trend().collect();
    let sizes = history.lines.first().map_or(&[][..], |root| &root.sizes);
    let points = history.moments.iter().zip(sizes).enumerate().map(|(i, (moment, size))| {
        let size = size.filter(|_| used.contains(&i));
        Point { time: moment.time, size }
    });
    points.collect()
}

/// Writes a history as a table in Markdown, and below it the lines about file systems.
///
/// # Errors
/// The writer's.
pub fn markdown(
    out: &mut dyn Write,
    history: &History,
    options: &PictureOptions,
) -> io::Result<()> {
    for (i, Row { texts: [size, rate, spark], name, .. }) in
        rows(history, options).into_iter().enumerate()
    {
        match i {
            0 => writeln!(out, "{spark}\n\n| {size} | {rate} | directory |\n| --: | --: | :-- |")?,
            // Blanks at the start of a code span may be removed, and others collapse.
            _ => writeln!(out, "| {size} | {rate} | {} |", code(&name.replace(' ', "\u{a0}")))?,
        }
    }
    remarks(history, options).iter().try_for_each(|line| writeln!(out, "\n{}", code(line)))
}

/// A directory, or the titles.
struct Row {
    /// The texts of the columns.
    texts: [String; 3],
    /// Its name, beside them.
    name: String,
    /// Whether it grows or shrinks.
    grows: Option<Ordering>,
}

/// The rows, with the titles first.
fn rows(history: &History, options: &PictureOptions) -> Vec<Row> {
    let format = &options.format;
    let texts = ["now".to_owned(), "a day".to_owned(), over(history, options)];
    let mut rows = vec![Row { texts, name: String::new(), grows: None }];
    let used: Vec<_> = history.of_trend().collect();
    for line in &history.lines {
        let last = line.sizes.last().copied().flatten();
        let now = match last {
            Some(size) => {
                let path = path_of(line, history);
                partial::mark(format.write(size), options.partial.has_at(&path, true))
            }
            None => "gone".to_owned(),
        };
        // A directory that is gone does not grow.
        let rate = line.rate.filter(|_| last.is_some());
        let grows = rate.and_then(|rate| rate.partial_cmp(&0.0));
        let rate = rate.map_or_else(|| "-".to_owned(), |rate| per_day(rate, format));
        // Screen readers cannot read them, and ASCII has none.
        let has_sparks = !options.screen_reader && options.charset == Charset::Unicode;
        let sizes = || used.iter().map(|i| line.sizes[*i]).collect::<Vec<_>>();
        let spark = if has_sparks { sparkline(&sizes()) } else { String::new() };
        let from = line.moved_from.as_ref();
        let from = from.map_or_else(String::new, |from| format!("  moved from {}", escape(from)));
        let name = options.charset.text(name(line, history, options) + &from);
        rows.push(Row { texts: [now, rate, spark], name, grows });
    }
    rows
}

/// The lines about scans that are left out, about file systems, and about rates that are missing.
fn remarks(history: &History, options: &PictureOptions) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(above) = &history.above {
        let above = options.charset.text(escape(above));
        lines.push(format!("from the kept scans of {above}, which contains this directory"));
    }
    lines.extend(left_out(history, options));
    lines.extend(history.file_systems.iter().flat_map(|one| filling(one, history, options)));
    let [first, last] =
        [history.moments.first(), history.moments.last()].map(|it| it.map_or(0, |it| it.time));
    if last.saturating_sub(first) < LEAST_SPAN {
        let hours = LEAST_SPAN / 3_600;
        lines.push(format!("no rates: they need snapshots over {hours} hours or more"));
    }
    lines
}

/// The lines about incomplete scans, and about the longest time without a scan.
fn left_out(history: &History, options: &PictureOptions) -> Vec<String> {
    let mut lines = Vec::new();
    let count = history.moments.len() - history.of_trend().count();
    let dates = &options.dates;
    if count > 0 {
        let mark = if options.screen_reader { String::new() } else { format!("{} ", plot::MARK) };
        let (plural, are) = if count == 1 { ("", "is") } else { ("s", "are") };
        lines.push(format!(
            "{mark}{count} incomplete snapshot{plural} {are} left out of the growth"
        ));
    }
    let times: Vec<_> = history.of_trend().map(|i| history.moments[i].time).collect();
    let gaps = plot::gaps(&times);
    if let Some((from, to)) = gaps.iter().max_by_key(|(from, to)| to.saturating_sub(*from)) {
        let more = match gaps.len() {
            1 => String::new(),
            2 => ", and a shorter gap".to_owned(),
            count => format!(", and {} shorter gaps", count - 1),
        };
        let [from, to] = [from, to].map(|time| dates.write(*time));
        lines.push(format!("no snapshot between {from} and {to}{more}"));
    }
    lines
}

/// The number of snapshots, and their first and last date.
fn over(history: &History, options: &PictureOptions) -> String {
    let dates = &options.dates;
    match &history.moments[..] {
        [first, .., last] => {
            let [from, to] = [first, last].map(|moment| dates.write(moment.time));
            format!("{} snapshots from {from} to {to}", history.moments.len())
        }
        [only] => format!("1 snapshot, of {}", dates.write(only.time)),
        [] => String::new(),
    }
}

/// The path of a line: the root as given, and the names below it.
fn path_of(line: &Trace, history: &History) -> Vec<u8> {
    let root = history.lines.first().map_or(&[][..], |root| &root.name);
    path::join_all([root, &line.path].into_iter().filter(|name| !name.is_empty()))
}

fn name(line: &Trace, history: &History, options: &PictureOptions) -> String {
    if options.full_paths && line.depth > 0 {
        return escape(&path_of(line, history));
    }
    let name = if line.name.is_empty() { "(total)".to_owned() } else { escape(&line.name) };
    // Deep trees would leave no room for names.
    const DEEPEST: usize = 20;
    format!("{}{name}", "  ".repeat(line.depth.min(DEEPEST)))
}

/// A change a day, in the measure of the sizes. A cast from a float saturates.
fn per_day(rate: f64, format: &Format) -> String {
    format.write_change(rate.round() as i128)
}

/// A sparkline, scaled between the lowest and the highest size of its own line. Blank while the directory did not
/// exist.
fn sparkline(sizes: &[Option<u64>]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    /// More cells would show nothing more.
    const MOST: usize = 30;
    let cells = sizes.len().min(MOST);
    let (low, high) = (sizes.iter().flatten().min(), sizes.iter().flatten().max());
    let (Some(low), Some(high)) = (low, high) else { return String::new() };
    let mut sparkline = String::new();
    for cell in 1..=cells {
        // If several sizes share a cell, it shows the last one.
        sparkline.push(match sizes[(cell * sizes.len()).div_ceil(cells) - 1] {
            None => ' ',
            Some(size) => {
                let (part, all) = (u128::from(size - low), u128::from(high - low).max(1));
                BARS[((part * 7 + all / 2) / all).min(7) as usize]
            }
        });
    }
    sparkline
}

/// A file system, and when it will be full: in two lines if one is too narrow. If weigh does not look further ahead, the
/// reason follows.
fn filling(one: &FileSystem, history: &History, options: &PictureOptions) -> Vec<String> {
    const START: &str = "file system of ";
    let volume = &one.volume;
    // Space is in bytes, whatever the measure.
    let format = match options.format {
        Format::Count => Format::Binary,
        ref format => format.clone(),
    };
    let kind = match volume.kind.is_empty() {
        true => String::new(),
        false => format!("{}, ", escape(&volume.kind)),
    };
    let left = match volume.available {
        Some(available) => format!("{} available", format.write(available)),
        None => format!("{} free", format.write(volume.free)),
    };
    let kept = format!(" ({kind}{}, {left})", format.write(volume.size));
    let room = options.width.saturating_sub(cells(START) + cells(&kept) + 1).max(LEAST_NAME);
    let root = options.charset.text(escape(&one.root));
    let about = [START, &shorten(&root, room), &kept].concat();
    let Some(rate) = one.rate else { return vec![about] };
    let mut growth = format!("{} a day", per_day(rate, &format));
    let last = history.moments.last().map_or(0, |moment| moment.time);
    if let Some(day) = one.filling.and_then(|filling| day(filling, last, options)) {
        growth = format!("{growth}, {day}");
    }
    let mut lines = match format!("{about}: {growth}") {
        line if cells(&line) <= options.width => vec![line],
        _ => vec![format!("{about}:"), format!("  {growth}")],
    };
    if let Some(Filling::NotWithin(days)) = one.filling {
        let covered = duration((days / FURTHEST * DAY as f64).round() as i64);
        lines.push(format!(
            "  (snapshots cover {covered}; weigh looks {FURTHEST} times as far ahead, and no further)"
        ));
    }
    lines
}

/// When a file system will be full, after its last scan at the time `last`, in words.
fn day(filling: Filling, last: i64, options: &PictureOptions) -> Option<String> {
    /// No disk is used for much longer at the same rate.
    const MOST: f64 = 10.0 * 365.0;
    /// Days that differ by less are one day.
    const ONE: f64 = 1.2;
    let plural = |days: f64| if days.round() == 1.0 { "day" } else { "days" };
    let date = |days: f64| options.dates.write(after(last, days));
    Some(match filling {
        Filling::Never => return None,
        Filling::Uneven => "too unevenly to tell when it is full".to_owned(),
        Filling::NotWithin(days) => format!("not full within {days:.0} {}", plural(days)),
        Filling::After(days, _) if days > MOST => return None,
        Filling::After(days, [early, late]) if late <= early * ONE => {
            format!("full in {days:.0} {}, on {}", plural(days), date(days))
        }
        Filling::After(_, [early, late]) => format!(
            "full in {early:.0} to {late:.0} days, between {} and {}",
            date(early),
            date(late)
        ),
    })
}

/// The time so many `days` after `last`. A cast from a float saturates.
fn after(last: i64, days: f64) -> i64 {
    last.saturating_add((days * DAY as f64).round() as i64)
}

/// Writes a history as JSON.
///
/// # Errors
/// The writer's.
pub fn json(out: &mut dyn Write, history: &History, measure: Measure) -> io::Result<()> {
    header::head(out, measure.into())?;
    header::list(out, r#","snapshots":"#, &history.moments, |out, moment| {
        write!(out, r#"{{"time":{},"complete":{}}}"#, moment.time, moment.is_complete)
    })?;
    header::list(out, r#","directories":"#, &history.lines, |out, line| {
        let path = match line.depth {
            0 if line.name.is_empty() => b"(total)",
            0 => &line.name[..],
            _ => &line.path,
        };
        bytes(out, r#"{"path":"#, path)?;
        if let Some(from) = &line.moved_from {
            bytes(out, r#","moved_from":"#, from)?;
        }
        let (sizes, rate) = (to_string(&line.sizes)?, to_string(&line.rate)?);
        write!(out, r#","depth":{},"sizes":{sizes},"rate":{rate}}}"#, line.depth)
    })?;
    header::list(out, r#","file_systems":"#, &history.file_systems, |out, one| {
        bytes(out, r#"{"path":"#, &one.root)?;
        bytes(out, r#","type":"#, &one.volume.kind)?;
        let (size, free) = (one.volume.size, one.volume.free);
        let available = to_string(&one.volume.available)?;
        let last = history.moments.last().map_or(0, |moment| moment.time);
        let full = match one.filling {
            Some(Filling::After(days, between)) => Some((days, between)),
            _ => None,
        };
        let between = full.map(|(_, between)| between.map(|days| after(last, days)));
        let full = full.map(|(days, _)| after(last, days));
        let (rate, full) = (to_string(&one.rate)?, to_string(&full)?);
        let between = to_string(&between)?;
        write!(out, r#","size":{size},"free":{free},"available":{available}"#)?;
        write!(out, r#","rate":{rate},"full":{full},"full_between":{between}}}"#)
    })?;
    out.write_all(b"}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_small() {
        let all = |sizes: &[u64]| sizes.iter().map(|size| Some(*size)).collect::<Vec<_>>();
        for (sizes, expected) in [
            (all(&[0, 1, 2, 3, 4, 5, 6, 7]), "▁▂▃▄▅▆▇█"),
            (all(&[5, 5, 5]), "▁▁▁"),
            (vec![None, Some(1), None, Some(u64::MAX)], " ▁ █"),
            (vec![None, None], ""),
            (all(&(0..60).collect::<Vec<_>>()), "▁▁▂▂▂▂▃▃▃▃▃▄▄▄▄▅▅▅▅▆▆▆▆▇▇▇▇███"),
        ] {
            assert_eq!(sparkline(&sizes), expected, "{sizes:?}");
        }
    }
}
