//! The history of a tree: a line for each directory that changed most, with its size, its growth per day and a
//! sparkline; and when file systems will be full. As JSON, with all sizes as they were.

use std::io::{self, Write};

use serde_json::to_string;

use super::markdown::code;
use super::name::{cells, shorten, widest};
use super::palette::Charset;
use super::partial;
use super::size::Format;
use super::tree::PictureOptions;
use crate::ask::history::{Filling, History, LEAST_SPAN, Trace};
use crate::base::escape::{escape, json_bytes as bytes};
use crate::base::measure::{DAY, Measure};
use crate::base::path;
use crate::from::snapshot::header;

/// Draws a history.
///
/// # Errors
/// The writer's.
pub fn draw(out: &mut dyn Write, history: &History, options: &PictureOptions) -> io::Result<()> {
    let rows = rows(history, options);
    let [sizes, rates] = [0, 1].map(|i| widest(rows.iter().map(|(row, _)| &row[i])));
    // The title of the last column is over the names, too.
    let sparks = widest(rows.iter().skip(1).map(|(row, _)| &row[2]));
    let mut lines = Vec::new();
    for ([size, rate, spark], name) in &rows {
        let gap = if sparks > 0 && !name.is_empty() { "  " } else { "" };
        lines.push(format!("{size:>sizes$}  {rate:>rates$}  {spark:<sparks$}{gap}{name}"));
    }
    lines.extend(remarks(history, options));
    lines.iter().try_for_each(|line| writeln!(out, "{}", options.charset.cut(line, options.width)))
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
    for (i, ([size, rate, spark], name)) in rows(history, options).into_iter().enumerate() {
        match i {
            0 => writeln!(out, "{spark}\n\n| {size} | {rate} | directory |\n| --: | --: | :-- |")?,
            // Blanks at the start of a code span may be removed, and others collapse.
            _ => writeln!(out, "| {size} | {rate} | {} |", code(&name.replace(' ', "\u{a0}")))?,
        }
    }
    remarks(history, options).iter().try_for_each(|line| writeln!(out, "\n{}", code(line)))
}

/// The texts of the columns, with their headings first, and the name beside them.
fn rows(history: &History, options: &PictureOptions) -> Vec<([String; 3], String)> {
    let format = &options.format;
    let titles = ["now".to_owned(), "a day".to_owned(), over(history, options)];
    let mut rows = vec![(titles, String::new())];
    for line in &history.lines {
        let now = match line.sizes.last() {
            Some(Some(size)) => {
                let path = path_of(line, history);
                partial::mark(format.write(*size), options.partial.has_at(&path, true))
            }
            _ => "gone".to_owned(),
        };
        let rate = line.rate.map_or_else(|| "-".to_owned(), |rate| per_day(rate, format));
        // Screen readers cannot read them, and ASCII has none.
        let has_sparks = !options.screen_reader && options.charset == Charset::Unicode;
        let spark = if has_sparks { sparkline(&line.sizes) } else { String::new() };
        rows.push(([now, rate, spark], options.charset.text(name(line, history, options))));
    }
    rows
}

/// The lines about file systems, and about rates that are missing.
fn remarks(history: &History, options: &PictureOptions) -> Vec<String> {
    let file_systems = history.file_systems.iter();
    let mut lines: Vec<_> = file_systems.flat_map(|one| filling(one, history, options)).collect();
    let [first, last] =
        [history.moments.first(), history.moments.last()].map(|it| it.map_or(0, |it| it.time));
    if last.saturating_sub(first) < LEAST_SPAN {
        let hours = LEAST_SPAN / 3_600;
        lines.push(format!("no rates: they need snapshots over {hours} hours or more"));
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

/// What a file system is, and when it will be full: in two lines if one is too narrow.
fn filling(one: &Filling, history: &History, options: &PictureOptions) -> Vec<String> {
    /// No disk is used for much longer at the same rate.
    const MOST_DAYS: i64 = 10 * 365;
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
    let room = options.width.saturating_sub(cells(START) + cells(&kept) + 1);
    let root = options.charset.text(escape(&one.root));
    let about = [START, &shorten(&root, room), &kept].concat();
    let Some(rate) = one.rate else { return vec![about] };
    let mut growth = format!("{} a day", per_day(rate, &format));
    let last = history.moments.last().map_or(0, |moment| moment.time);
    if let Some(full) = one.full {
        let days = full.saturating_sub(last).saturating_add(DAY / 2) / DAY;
        if days <= MOST_DAYS {
            let plural = if days == 1 { "" } else { "s" };
            let date = options.dates.write(full);
            growth += &format!(", full in {days} day{plural}, on {date}");
        }
    }
    match format!("{about}: {growth}") {
        line if cells(&line) <= options.width => vec![line],
        _ => vec![format!("{about}:"), format!("  {growth}")],
    }
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
        let (sizes, rate) = (to_string(&line.sizes)?, to_string(&line.rate)?);
        write!(out, r#","depth":{},"sizes":{sizes},"rate":{rate}}}"#, line.depth)
    })?;
    header::list(out, r#","file_systems":"#, &history.file_systems, |out, one| {
        bytes(out, r#"{"path":"#, &one.root)?;
        bytes(out, r#","type":"#, &one.volume.kind)?;
        let (size, free) = (one.volume.size, one.volume.free);
        let available = to_string(&one.volume.available)?;
        let (rate, full) = (to_string(&one.rate)?, to_string(&one.full)?);
        write!(out, r#","size":{size},"free":{free},"available":{available}"#)?;
        write!(out, r#","rate":{rate},"full":{full}}}"#)
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
