//! The history of a tree: a line for each directory that changed most, with its size, its growth per day and a
//! sparkline; and when file systems will be full. As JSON, with all sizes as they were.

use std::io::{self, Write};

use super::name::{cells, fit};
use super::size::Format;
use super::time::TimeFormat;
use crate::escape::escape;
use crate::escape::json_bytes as bytes;
use crate::history::{Filling, History, LEAST_SPAN, Trace};
use crate::measure::{DAY, Measure};
use crate::path;
use crate::snapshot::schema;

/// How to draw a history.
#[derive(Clone, Debug)]
pub struct HistoryOptions {
    /// How to write sizes, in their measure.
    pub format: Format,
    /// How to write dates.
    pub dates: TimeFormat,
    /// The width in cells.
    pub width: usize,
    /// Whether to show paths instead of names.
    pub full_paths: bool,
    /// Whether to leave out sparklines: screen readers cannot read them.
    pub screen_reader: bool,
}

/// Draws a history.
///
/// # Errors
/// The writer's.
pub fn draw(out: &mut impl Write, history: &History, options: &HistoryOptions) -> io::Result<()> {
    let HistoryOptions { format, width, .. } = options;
    let size = |line: &Trace| line.sizes.last().copied().flatten();
    let figures = history.lines.iter().map(|line| {
        let now = size(line).map_or_else(|| "gone".to_owned(), |size| format.write(size));
        let rate = line.rate.map_or_else(|| "-".to_owned(), |rate| signed(rate, format));
        let spark = if options.screen_reader { String::new() } else { sparkline(&line.sizes) };
        (now, rate, spark)
    });
    let head = ("now".to_owned(), "a day".to_owned(), String::new());
    let figures: Vec<_> = std::iter::once(head).chain(figures).collect();
    let widest = |of: fn(&(String, String, String)) -> &String| {
        figures.iter().map(|figures| cells(of(figures))).max().unwrap_or(0)
    };
    let (sizes, rates, sparks) = (widest(|it| &it.0), widest(|it| &it.1), widest(|it| &it.2));
    let names = std::iter::once(over(history, options));
    let names = names.chain(history.lines.iter().map(|line| name(line, history, options)));
    for ((size, rate, spark), name) in figures.iter().zip(names) {
        let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(cells(text)));
        let spark = match sparks {
            0 => String::new(),
            _ => format!("{spark}{}  ", pad(spark, sparks)),
        };
        let line = format!("{}{size}  {}{rate}  {spark}{name}", pad(size, sizes), pad(rate, rates));
        writeln!(out, "{}", fit(&line, *width))?;
    }
    for one in &history.file_systems {
        writeln!(out, "{}", fit(&filling(one, history, options), *width))?;
    }
    let [first, last] = [history.moments.first(), history.moments.last()];
    let [first, last] = [first, last].map(|moment| moment.map_or(0, |moment| moment.time));
    if last.saturating_sub(first) < LEAST_SPAN {
        let hours = LEAST_SPAN / 3_600;
        let line = format!("no rates: they need snapshots over {hours} hours or more");
        writeln!(out, "{}", fit(&line, *width))?;
    }
    Ok(())
}

/// The number of snapshots, and their first and last date.
fn over(history: &History, options: &HistoryOptions) -> String {
    let date = |time: i64| options.dates.write(time);
    match &history.moments[..] {
        [first, .., last] => {
            let (count, from, to) = (history.moments.len(), date(first.time), date(last.time));
            format!("{count} snapshots from {from} to {to}")
        }
        [only] => format!("1 snapshot, of {}", date(only.time)),
        [] => String::new(),
    }
}

fn name(line: &Trace, history: &History, options: &HistoryOptions) -> String {
    let root = history.lines.first().map_or(&[][..], |root| &root.name);
    if options.full_paths && line.depth > 0 {
        let names = [root, &line.path].into_iter().filter(|name| !name.is_empty());
        return escape(&path::join_all(names));
    }
    let name = if line.name.is_empty() { "(total)".to_owned() } else { escape(&line.name) };
    // Deep trees would leave no room for names.
    const DEEPEST: usize = 20;
    format!("{}{name}", "  ".repeat(line.depth.min(DEEPEST)))
}

/// A rate in bytes a day. A cast from a float saturates.
fn signed(rate: f64, format: &Format) -> String {
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
    // If several sizes share a cell, it shows the last one.
    let shown = (1..=cells).map(|cell| sizes.get((cell * sizes.len()).div_ceil(cells) - 1));
    let bar = |size: Option<&Option<u64>>| match size.copied().flatten() {
        None => ' ',
        Some(size) => {
            let (part, all) = (u128::from(size - low), u128::from(high - low).max(1));
            BARS[((part * 7 + all / 2) / all).min(7) as usize]
        }
    };
    shown.map(bar).collect()
}

/// When a file system will be full.
fn filling(one: &Filling, history: &History, options: &HistoryOptions) -> String {
    let (volume, bytes) = (&one.volume, &options.dates);
    // Space is in bytes, whatever the measure.
    let format = match options.format {
        Format::Count => Format::Binary,
        ref format => format.clone(),
    };
    let kind = match volume.kind.is_empty() {
        true => String::new(),
        false => format!("{}, ", escape(&volume.kind)),
    };
    let (size, free) = (format.write(volume.size), format.write(volume.free));
    let about = format!("file system of {} ({kind}{size}, {free} free)", escape(&one.root));
    let last = history.moments.last().map_or(0, |moment| moment.time);
    match (one.rate, one.full) {
        (Some(rate), Some(full)) => {
            let days = full.saturating_sub(last).saturating_add(DAY / 2) / DAY;
            let rate = signed(rate, &format);
            let plural = if days == 1 { "" } else { "s" };
            let date = bytes.write(full);
            format!("{about}: {rate} a day, full in {days} day{plural}, on {date}")
        }
        (Some(rate), None) => format!("{about}: {} a day", signed(rate, &format)),
        _ => about,
    }
}

/// Writes a history as JSON.
///
/// # Errors
/// The writer's.
pub fn json(out: &mut impl Write, history: &History, measure: Measure) -> io::Result<()> {
    schema::head(out, measure.into())?;
    out.write_all(br#","snapshots":["#)?;
    for (i, moment) in history.moments.iter().enumerate() {
        out.write_all(if i == 0 { b"" } else { b"," })?;
        write!(out, r#"{{"time":{},"complete":{}}}"#, moment.time, moment.is_complete)?;
    }
    out.write_all(br#"],"directories":["#)?;
    for (i, line) in history.lines.iter().enumerate() {
        out.write_all(if i == 0 { b"{" } else { b",{" })?;
        let path = match line.depth {
            0 if line.name.is_empty() => b"(total)",
            0 => &line.name[..],
            _ => &line.path,
        };
        bytes(out, "path", path)?;
        write!(out, r#","depth":{},"sizes":"#, line.depth)?;
        serde_json::to_writer(&mut *out, &line.sizes)?;
        number(out, "rate", line.rate)?;
        out.write_all(b"}")?;
    }
    out.write_all(br#"],"file_systems":["#)?;
    for (i, one) in history.file_systems.iter().enumerate() {
        out.write_all(if i == 0 { b"{" } else { b",{" })?;
        bytes(out, "path", &one.root)?;
        out.write_all(b",")?;
        bytes(out, "type", &one.volume.kind)?;
        write!(out, r#","size":{},"free":{}"#, one.volume.size, one.volume.free)?;
        number(out, "rate", one.rate)?;
        match one.full {
            Some(full) => write!(out, r#","full":{full}}}"#)?,
            None => out.write_all(br#","full":null}"#)?,
        }
    }
    out.write_all(b"]}\n")
}

fn number(out: &mut impl Write, name: &str, number: Option<f64>) -> io::Result<()> {
    write!(out, r#","{name}":"#)?;
    serde_json::to_writer(out, &number).map_err(io::Error::from)
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
