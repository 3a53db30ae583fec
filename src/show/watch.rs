//! Places that grow right now: a table for people, and one JSON object at a time for programs.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::time::Duration;

use nu_ansi_term::Style;

use super::name::{cells, padded, right_aligned, shorten};
use super::palette::{Charset, Palette};
use super::size::{Format, percent};
use crate::base::escape::{escape, json_bytes as bytes, json_string as string};
use crate::base::path;
use crate::from::snapshot::header::{list, tool};
use crate::watch::{Followed, Growth, HeldFile, Report, Row, Writer};

/// How to show it.
#[derive(Clone, Debug, Default)]
pub struct WatchOptions {
    /// How sizes are written.
    pub format: Format,
    /// What the terminal can draw.
    pub charset: Charset,
    /// The columns and lines that it has.
    pub size: (usize, usize),
    /// The home directory, which `~` stands for.
    pub home: Vec<u8>,
    /// Whether rows are sorted by growth since the start, and not by rates.
    pub by_so_far: bool,
    /// Colours, if any.
    pub palette: Option<Palette>,
    /// The path of the row that is selected.
    pub selected: Option<Vec<u8>>,
}

/// A piece of a line, in its style.
type Piece = (String, Style);

impl WatchOptions {
    fn style(&self, style: impl Fn(Palette) -> Style) -> Style {
        self.palette.map_or(Style::new(), style)
    }

    /// A line of these pieces, cut to the width. The one that is selected has a background.
    fn line(&self, pieces: &[Piece], is_selected: bool) -> String {
        let drawn: Vec<_> =
            pieces.iter().map(|(text, style)| (self.charset.drawing(text), style)).collect();
        let all: String = drawn.iter().map(|(text, _)| &**text).collect();
        let shown = self.charset.cut(all.trim_end(), self.size.0);
        if self.palette.is_none() {
            return shown;
        }
        let band = if is_selected { self.style(Palette::band) } else { Style::new() };
        let (mut rest, mut line) = (&*shown, String::new());
        for (text, style) in drawn {
            // The last one may be cut.
            let (start, after) = rest.split_at_checked(text.len()).unwrap_or((rest, ""));
            rest = after;
            let style = match band.is_reverse {
                true => band,
                false => Style { background: band.background, ..*style },
            };
            let is_blank = start.trim().is_empty() && !is_selected;
            line += &if is_blank { start.to_owned() } else { style.paint(start).to_string() };
        }
        line
    }
}

/// How many rows there is room for, beside the other lines and one for keys.
pub fn room(report: &Report, options: &WatchOptions) -> usize {
    let others = shown(&report.ways).count() + held(report, options).len() + report.notes.len();
    options.size.1.saturating_sub(others + 5).max(1)
}

/// Sorts the rows of a `report`. One of about the same rate stays where it was in the order `before`.
pub fn sort(report: &mut Report, by_so_far: bool, before: &[Vec<u8>]) {
    let figure = |row: &Row| match by_so_far {
        true => (row.growth.so_far, row.growth.recent),
        false => (row.growth.recent, row.growth.so_far),
    };
    let place = |row: &Row| before.iter().position(|path| *path == row.path);
    report.rows.sort_by(|one, other| {
        figure(other).cmp(&figure(one)).then_with(|| one.path.cmp(&other.path))
    });
    // A row moves up past another only if it is a tenth larger.
    for end in 1..report.rows.len() {
        for at in (1..=end).rev() {
            let [above, below] = [&report.rows[at - 1], &report.rows[at]];
            let is_near =
                figure(below).0 > 0 && figure(above).0 - figure(below).0 < figure(above).0 / 10;
            let was_above = place(below).zip(place(above)).is_some_and(|(one, other)| one < other);
            if !(is_near && was_above) {
                break;
            }
            report.rows.swap(at - 1, at);
        }
    }
}

/// The lines for people.
pub fn lines(report: &Report, options: &WatchOptions) -> Vec<String> {
    let WatchOptions { format, size: (width, _), .. } = options;
    let (aside, accent) = (options.style(Palette::aside), options.style(Palette::accent));
    let mut lines: Vec<String> =
        shown(&report.ways).map(|way| header(way, report, options)).collect();
    let mut figures: Vec<[String; 2]> = Vec::new();
    let mut texts: Vec<(String, (String, String))> = Vec::new();
    let (rows, rest) = report.rows.split_at(report.rows.len().min(room(report, options)));
    for row in rows {
        figures.push(both(row.growth, report.window, format));
        texts.push((place(&row.path, options), written_by(row)));
    }
    let elsewhere = rest.iter().fold(report.elsewhere, |sum, row| sum.plus(row.growth));
    if elsewhere != Growth::default() {
        figures.push(both(elsewhere, report.window, format));
        texts.push(("elsewhere".to_owned(), Default::default()));
    }
    if let Some(part) = not_attributed(report) {
        let more = if report.is_all { "" } else { ", or outside PATH" };
        figures.push([String::new(), format.write_change(report.not_attributed.into())]);
        texts.push((format!("not attributed ({part}{more})"), Default::default()));
    }
    if texts.is_empty() {
        lines.push(options.line(&[("   nothing has changed yet".to_owned(), aside)], false));
    } else {
        let head = ["per second", "so far"].map(str::to_owned);
        let [rate, sum] = [0, 1].map(|column| {
            figures.iter().chain([&head]).map(|it| cells(&it[column])).max().unwrap_or(0)
        });
        let name = texts.iter().map(|(_, (name, _))| cells(name)).max().unwrap_or(0).clamp(10, 24);
        // Beside the figures and the names of writers, two thirds of the width are for places, and one for details of
        // processes.
        let left = width.saturating_sub(rate + sum + name + 8);
        let longest = texts.iter().map(|(place, _)| cells(place)).max().unwrap_or(0).max(5);
        let room = longest.min((left * 2 / 3).max(12));
        let pieces = |figures: &[String; 2], (place, writer, about): (&str, &str, &str)| {
            [
                right_aligned(&figures[0], rate) + "  ",
                right_aligned(&figures[1], sum) + "  ",
                padded(&shorten(place, room), room) + "  ",
                padded(&shorten(writer, name), name) + "  ",
                about.to_owned(),
            ]
        };
        let head = pieces(&head, ("where", "written by", "")).map(|text| (text, aside));
        lines.push(options.line(&[&[(" ".to_owned(), aside)][..], &head].concat(), false));
        let growth =
            |row: &Row| if options.by_so_far { row.growth.so_far } else { row.growth.recent };
        let whole = rows.iter().map(|row| growth(row).unsigned_abs()).fold(0, u64::saturating_add);
        for (number, (figures, (place, (writer, about)))) in figures.iter().zip(&texts).enumerate()
        {
            let [rate, sum, place, writer, about] = pieces(figures, (place, writer, about));
            let row = rows.get(number);
            let is_selected =
                row.is_some_and(|row| options.selected.as_deref() == Some(&*row.path));
            let mark = if is_selected { "▸" } else { " " };
            let of = |bytes: i64, is_sorted_by: bool| match row {
                None => aside,
                Some(_) if bytes < 0 => options.style(|it| it.change(Some(Ordering::Less))),
                Some(_) if is_sorted_by => {
                    options.style(|it| it.share(bytes.unsigned_abs(), whole))
                }
                Some(_) => Style::new(),
            };
            let Growth { recent, so_far } = row.map(|row| row.growth).unwrap_or_default();
            let pieces = [
                (mark.to_owned(), accent),
                (rate, of(recent, !options.by_so_far)),
                (sum, of(so_far, options.by_so_far)),
                (place, if row.is_some() { accent } else { aside }),
                (writer, Style::new()),
                (about, aside),
            ];
            lines.push(options.line(&pieces, is_selected));
        }
    }
    lines.extend(held(report, options));
    lines.extend(report.notes.iter().map(|note| options.line(&[(note.clone(), aside)], false)));
    lines
}

/// The line about keys.
pub fn keys(is_paused: bool, opens: bool, options: &WatchOptions) -> String {
    let order = if options.by_so_far { "growth per second" } else { "growth so far" };
    let enter = if opens { "Enter opens a place, " } else { "" };
    let text = match is_paused {
        true => format!("paused: p goes on, {enter}q ends"),
        false => format!("q ends, p pauses, {enter}s sorts by {order}"),
    };
    options.line(&[(text, options.style(Palette::aside))], false)
}

/// The file systems to show: the first, and others that grow.
fn shown(ways: &[Followed]) -> impl Iterator<Item = &Followed> {
    let is_shown = |(number, way): &(usize, &Followed)| *number == 0 || way.full_in.is_some();
    ways.iter().enumerate().filter(is_shown).map(|(_, way)| way)
}

fn header(way: &Followed, report: &Report, options: &WatchOptions) -> String {
    let format = &options.format;
    let name = place(&way.path, options);
    let available = format.write(way.space.available);
    // Of a float, a cast saturates.
    let rate = format.write(way.rate.abs() as u64);
    let changes = match way.rate {
        1024.0.. => format!("growing {rate} a second"),
        ..=-1024.0 => format!("shrinking {rate} a second"),
        _ => "not growing".to_owned(),
    };
    let full = way.full_in.map(|seconds| format!(" is full in {}", in_words(seconds)));
    let how = format!("   {}, {}", followed(way), in_words(report.elapsed.as_secs_f64()));
    let pieces = [
        (name, options.style(Palette::accent)),
        (
            full.unwrap_or_default(),
            Style { is_bold: true, ..options.style(|it| it.change(Some(Ordering::Greater))) },
        ),
        (format!(": {available} available, {changes}"), Style::new()),
        (how, options.style(Palette::aside)),
    ];
    options.line(&pieces, false)
}

/// How a file system is followed.
fn followed(way: &Followed) -> String {
    match (&way.how, way.interval) {
        (None, _) => "as root".to_owned(),
        (Some(why), None) => format!("scanned again and again ({why})"),
        (Some(why), Some(interval)) => {
            format!("scanned every {} ({why})", in_words(interval.as_secs_f64()))
        }
    }
}

/// A time in its largest unit.
fn in_words(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] =
        [(31_556_952.0, "years"), (86_400.0, "days"), (3_600.0, "h"), (60.0, "min")];
    let unit = UNITS.iter().find(|(length, _)| seconds >= 2.0 * length);
    match unit {
        Some((length, name)) => format!("{:.0} {name}", seconds / length),
        None => format!("{seconds:.0} s"),
    }
}

/// A change in bytes a second.
fn per_second(bytes: i64, window: Duration) -> i64 {
    (bytes as f64 / window.as_secs_f64().max(1.0)) as i64
}

/// A rate, and a change since the start.
fn both(growth: Growth, window: Duration, format: &Format) -> [String; 2] {
    let rate = per_second(growth.recent, window);
    let size = format.write(rate.unsigned_abs());
    let rate = match rate {
        0 => String::new(),
        1.. => size,
        _ => format!("-{size}"),
    };
    [rate, format.write_change(growth.so_far.into())]
}

/// A path with a slash at its end, and `~` for the home directory.
fn place(path: &[u8], options: &WatchOptions) -> String {
    let in_home = Some(&*options.home).filter(|home| home.len() > 1);
    let in_home = in_home.and_then(|home| path::below(path, home));
    let mut text = match in_home {
        Some(b"") => b"~".to_vec(),
        Some(rest) => [b"~/", rest].concat(),
        None => path.to_vec(),
    };
    if !text.ends_with(b"/") {
        text.push(b'/');
    }
    options.charset.text(escape(&text))
}

/// Who wrote in a place: a name, and what is known about it.
fn written_by(row: &Row) -> (String, String) {
    let is_recent = row.writers.iter().any(|(.., growth)| growth.recent != 0);
    let amount = |growth: &Growth| {
        if is_recent { growth.recent.unsigned_abs() } else { growth.so_far.unsigned_abs() }
    };
    let all: u64 = row.writers.iter().map(|(.., growth)| amount(growth)).sum();
    let writers: Vec<_> = row.writers.iter().filter(|it| amount(&it.2) > 0).collect();
    let Some((first, user, growth)) = writers.first() else { return Default::default() };
    let is_one = writers.len() == 1 || amount(growth) as f64 >= 0.8 * all as f64;
    if is_one {
        return (named(first), about(first, user.as_deref()));
    }
    let count = format!("{} processes", writers.len());
    let are_alike = |what: fn(&Writer) -> &[u8]| {
        let same = what(first);
        !same.is_empty() && writers.iter().all(|(it, ..)| what(it) == same)
    };
    if are_alike(|it| it.unit.as_bytes()) {
        return (escape(first.unit.as_bytes()), count);
    }
    if are_alike(|it| &it.process.command) {
        return (escape(&first.process.command), count);
    }
    (format!("{} and others", named(first)), count)
}

fn named(writer: &Writer) -> String {
    match (writer.process.pid, &*writer.process.command) {
        (0, _) => "not known".to_owned(),
        (pid, b"") => format!("ended ({pid})"),
        (_, command) => escape(command),
    }
}

fn about(writer: &Writer, user: Option<&str>) -> String {
    let (pid, is_there) = (writer.process.pid, !writer.process.command.is_empty());
    let pid = (pid != 0 && is_there).then(|| format!("pid {pid}"));
    let user = user.filter(|_| is_there).map(|user| escape(user.as_bytes()));
    let unit = Some(escape(writer.unit.as_bytes())).filter(|unit| !unit.is_empty());
    let parts: Vec<_> = [pid, user, unit].into_iter().flatten().collect();
    parts.join(", ")
}

/// The part of the change of file systems that has no place, if it is worth a line.
fn not_attributed(report: &Report) -> Option<String> {
    const LARGE: u64 = 1 << 20;
    let (rest, all) = (report.not_attributed.unsigned_abs(), report.of.unsigned_abs());
    let is_large = rest >= LARGE && rest >= all / 100;
    is_large.then(|| percent(rest, all.max(rest)))
}

/// Lines about files without a name.
fn held(report: &Report, options: &WatchOptions) -> Vec<String> {
    const MOST: usize = 3;
    let line = |it: &HeldFile| {
        let grows = if it.grown > 0 { "Growing, and" } else { "Not growing, but" };
        let size = options.format.write(it.size);
        let (name, about) = (named(&it.writer), about(&it.writer, it.user.as_deref()));
        let pieces = [
            (format!("{grows} held by a deleted file: "), Style::new()),
            (size, options.style(|it| it.change(Some(Ordering::Greater)))),
            (format!("  {name}, {about} "), Style::new()),
            ("(a restart frees it)".to_owned(), options.style(Palette::aside)),
        ];
        options.line(&pieces, false)
    };
    report.held.iter().take(MOST).map(line).collect()
}

/// Writes one line of JSON (docs/schema-watch-1.json). The `last` one sums up.
///
/// # Errors
/// The writer's.
pub fn json(out: &mut dyn Write, report: &Report, time: i64, last: bool) -> io::Result<()> {
    let rate = |bytes| per_second(bytes, report.window);
    tool(out)?;
    let seconds = report.elapsed.as_secs_f64();
    write!(out, r#","time":{time},"seconds":{seconds:.1},"summary":{last}"#)?;
    let Growth { recent, so_far } = report.growth;
    write!(out, r#","per_second":{},"so_far":{so_far}"#, rate(recent))?;
    list(out, r#","file_systems":"#, &report.ways, |out, way| {
        bytes(out, r#"{"path":"#, &way.path)?;
        out.write_all(br#","followed":"#)?;
        string(out, &followed(way))?;
        let (size, available) = (way.space.size, way.space.available);
        write!(out, r#","size":{size},"available":{available},"per_second":{:.0}"#, way.rate)?;
        if let Some(seconds) = way.full_in {
            write!(out, r#","full_in_seconds":{seconds:.0}"#)?;
        }
        out.write_all(b"}")
    })?;
    list(out, r#","places":"#, &report.rows, |out, row| {
        bytes(out, r#"{"path":"#, &row.path)?;
        let Growth { recent, so_far } = row.growth;
        write!(out, r#","per_second":{},"so_far":{so_far}"#, rate(recent))?;
        list(out, r#","writers":"#, &row.writers, |out, (writer, user, growth)| {
            out.write_all(b"{")?;
            process(out, writer, user.as_deref())?;
            let Growth { recent, so_far } = growth;
            write!(out, r#""per_second":{},"so_far":{so_far}}}"#, rate(*recent))
        })?;
        out.write_all(b"}")
    })?;
    let Growth { recent, so_far } = report.elsewhere;
    write!(out, r#","elsewhere":{{"per_second":{},"so_far":{so_far}}}"#, rate(recent))?;
    write!(out, r#","not_attributed":{},"of":{}"#, report.not_attributed, report.of)?;
    list(out, r#","deleted":"#, &report.held, |out, held| {
        out.write_all(b"{")?;
        process(out, &held.writer, held.user.as_deref())?;
        write!(out, r#""size":{},"grown":{}}}"#, held.size, held.grown)
    })?;
    list(out, r#","notes":"#, &report.notes, |out, note| string(out, note))?;
    out.write_all(b"}\n")
}

/// The members that say which process it is, each with a comma after it.
fn process(out: &mut dyn Write, writer: &Writer, user: Option<&str>) -> io::Result<()> {
    if writer.process.pid > 0 {
        write!(out, r#""pid":{},"#, writer.process.pid)?;
    }
    let texts = [
        (r#""command":"#, &*writer.process.command),
        (r#""user":"#, user.unwrap_or_default().as_bytes()),
        (r#""unit":"#, writer.unit.as_bytes()),
    ];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        bytes(out, name, text)?;
        out.write_all(b",")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table() {
        let growth =
            |recent: i64, so_far: i64| Growth { recent: recent << 20, so_far: so_far << 20 };
        let writer = |pid, command: &[u8], unit: &str| {
            let process = crate::watch::Holder { pid, command: command.to_vec() };
            Writer { process, user: None, unit: unit.to_owned() }
        };
        let python = (writer(3120, b"python", ""), Some("ann".to_owned()), growth(410, 3_900));
        let units = [7, 8].map(|pid| (writer(pid, b"app", "app.service"), None, growth(6, 65)));
        let ended = (writer(9, b"", ""), None, growth(0, 1));
        let row = |path: &str, growth, writers| Row { path: path.into(), growth, writers };
        let space =
            crate::watch::Space { available: 71 << 30, size: 1 << 40, ..Default::default() };
        let mut report = Report {
            elapsed: Duration::from_secs(120),
            window: Duration::from_secs(10),
            ways: vec![Followed {
                path: b"/".to_vec(),
                space,
                rate: f64::from(42 << 20),
                full_in: Some(1_731.0),
                ..Followed::default()
            }],
            rows: vec![
                row("/srv/\x1b[31m", growth(0, 1), vec![ended]),
                row("/var/log/app", growth(12, 130), units.to_vec()),
                row("/home/ann/.cache/x", growth(410, 3_900), vec![python]),
            ],
            not_attributed: 70 << 20,
            of: 4_100 << 20,
            is_all: true,
            ..Report::default()
        };
        sort(&mut report, false, &[]);
        let home = b"/home/ann".to_vec();
        let options = WatchOptions { size: (90, 24), home, ..WatchOptions::default() };
        assert_eq!(
            lines(&report, &options),
            [
                "/ is full in 29 min: 71.0Gi available, growing 42.0Mi a second   as root, 2 min",
                " per second   so far  where                written by",
                "     41.0Mi  +3.81Gi  ~/.cache/x/          python       pid 3120, ann",
                "     1.20Mi   +130Mi  /var/log/app/        app.service  2 processes",
                "             +1.00Mi  /srv/\\x1b[31m/       ended (9)",
                "             +70.0Mi  not attributed (2%)",
            ]
        );
        // One that is nearly as large stays where it was.
        report.rows[1].growth.recent = report.rows[0].growth.recent + 1;
        let before: Vec<_> = report.rows.iter().map(|row| row.path.clone()).collect();
        sort(&mut report, false, &before);
        assert_eq!(report.rows[0].path, before[0]);
        sort(&mut report, false, &[]);
        assert_eq!(report.rows[0].path, before[1]);
    }
}
