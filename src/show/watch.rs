//! Places that grow right now: a table for people, and one JSON object at a time for programs.

use std::io::{self, Write};
use std::time::Duration;

use super::name::{cells, padded, right_aligned, shorten};
use super::palette::Charset;
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
    let WatchOptions { format, charset, size: (width, height), .. } = options;
    let mut lines: Vec<String> =
        shown(&report.ways).map(|way| header(way, report, options)).collect();
    let mut after = held(report, options);
    after.extend(report.notes.iter().cloned());
    let mut figures: Vec<[String; 2]> = Vec::new();
    let mut texts: Vec<(String, (String, String))> = Vec::new();
    let room = height.saturating_sub(lines.len() + after.len() + 5).max(1);
    let (rows, rest) = report.rows.split_at(report.rows.len().min(room));
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
        lines.push("   nothing has changed yet".to_owned());
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
        let draw = |figures: &[String; 2], place: &str, (writer, about): (&str, &str)| {
            let one = right_aligned(&figures[0], rate);
            let two = right_aligned(&figures[1], sum);
            let place = padded(&shorten(place, room), room);
            let writer = padded(&shorten(writer, name), name);
            format!(" {one}  {two}  {place}  {writer}  {about}").trim_end().to_owned()
        };
        lines.push(draw(&head, "where", ("written by", "")));
        for (figures, (place, (writer, about))) in figures.iter().zip(&texts) {
            lines.push(draw(figures, place, (writer, about)));
        }
    }
    lines.append(&mut after);
    lines.iter().map(|line| charset.cut(line, *width)).collect()
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
    let state = match way.full_in {
        Some(seconds) => format!(
            "{name} is full in {}: {available} available, growing {rate} a second",
            in_words(seconds)
        ),
        None if way.rate <= -1024.0 => {
            format!("{name}: {available} available, shrinking {rate} a second")
        }
        None => format!("{name}: {available} available, not growing"),
    };
    format!("{state}   {}, {}", followed(way), in_words(report.elapsed.as_secs_f64()))
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
        format!("{grows} held by a deleted file: {size}  {name}, {about} (a restart frees it)")
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
