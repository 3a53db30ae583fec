//! Lists as CSV (RFC 4180), or with tabs or semicolons. A header names the columns, in any order.

use std::io::{self, Read};
use std::num::IntErrorKind;

use csv::{ByteRecord, DeserializeErrorKind, ErrorKind, Position, ReaderBuilder};
use jiff::civil::{DateTime, date};
use jiff::fmt::temporal::Pieces;
use serde::Deserialize;

use super::ListEntries;
use super::entries::EntryLine;
use super::find::{LONGEST, seconds};
use crate::inode::{Identity, Links};
use crate::measure::{Figures, Measure, Measures};
use crate::snapshot::Origin;
use crate::tree::{Details, Inode};

/// What a row says. Other columns are skipped.
#[derive(Deserialize)]
struct TableRow<'r> {
    #[serde(borrow)]
    path: &'r [u8],
    size: Option<u64>,
    disk: Option<u64>,
    time: Option<&'r str>,
    owner: Option<u32>,
    group: Option<u32>,
    links: Option<u32>,
    inode: Option<u64>,
    device: Option<u64>,
}

/// Other names of columns.
const ALIASES: [(&str, &str); 8] = [
    ("key", "path"),
    ("length", "size"),
    ("modified", "time"),
    ("mtime", "time"),
    ("lastmodified", "time"),
    ("lastmodifieddate", "time"),
    ("uid", "owner"),
    ("gid", "group"),
];

/// What separates columns, if a list starts with a header.
pub(super) fn delimiter(start: &[u8]) -> Option<u8> {
    let header = start.split(|byte| *byte == b'\n').next()?;
    // Then it is a size, whatever the name of the first file is.
    if header.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    [b',', b'\t', b';'].into_iter().find(|delimiter| {
        let columns: ByteRecord = header.split(|byte| byte == delimiter).map(column).collect();
        has(&columns, "path") && (has(&columns, "size") || has(&columns, "disk"))
    })
}

fn has(header: &ByteRecord, column: &str) -> bool {
    header.iter().any(|name| name == column.as_bytes())
}

/// The name of a column in a row, for one that may be another one, or in quotes.
fn column(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name).to_lowercase();
    let name = name.trim_matches(|c: char| c == '"' || c.is_whitespace());
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    alias.map_or(name, |(_, column)| column).to_owned()
}

/// Reads a list, header first, into `entries`.
pub(super) fn read(
    input: impl Read,
    delimiter: u8,
    entries: &mut ListEntries,
) -> io::Result<(Measures, Origin)> {
    let mut builder = ReaderBuilder::new();
    // Where tabs separate, nothing is quoted.
    builder.has_headers(false).delimiter(delimiter).quoting(delimiter != b'\t');
    let mut reader = builder.from_reader(Limited { input, left: LONGEST, ends: 0 });
    let (mut header, mut record) = (ByteRecord::new(), ByteRecord::new());
    let mut required = Vec::new();
    loop {
        reader.get_mut().left = LONGEST;
        entries.line = reader.position().line();
        let read = reader.read_byte_record(&mut record);
        if matches!(read, Ok(false)) {
            break;
        }
        // The newline before the end is in the row, because that is in quotes.
        if reader.get_ref().ends > 1 {
            return Err(entries.error("a quote that does not end"));
        }
        read.map_err(|error| explained(error, &header, entries))?;
        if header.is_empty() {
            header = record.iter().map(column).collect();
            required =
                ["size", "disk", "owner"].into_iter().filter(|it| has(&header, it)).collect();
            continue;
        }
        let row = record.deserialize(Some(&header));
        let row = row.map_err(|error| explained(error, &header, entries))?;
        entries.line = record.position().map_or(0, Position::line);
        add(&row, &required, entries)?;
    }
    let known = [(Measure::Apparent, "size"), (Measure::Disk, "disk")];
    let known = known.into_iter().filter(|(_, name)| has(&header, name)).map(|known| known.0);
    let origin = Origin {
        has_times: has(&header, "time"),
        has_details: has(&header, "owner") && has(&header, "time"),
        lacks_modes: true,
        ..Origin::default()
    };
    Ok((known.chain([Measure::Files, Measure::Inodes]).collect(), origin))
}

/// Adds the entry that a row says, if nothing is missing in the `required` columns.
fn add(row: &TableRow<'_>, required: &[&str], entries: &mut ListEntries) -> io::Result<()> {
    let TableRow { size, disk, time: text, owner, group, .. } = *row;
    let newest = text.and_then(time);
    if text.is_some() && newest.is_none() {
        return Err(entries.error("its time is neither a number of seconds nor a date"));
    }
    let present = [("size", size.is_some()), ("disk", disk.is_some()), ("owner", owner.is_some())];
    if let Some((name, _)) = present.iter().find(|(name, is)| !is && required.contains(name)) {
        return Err(entries.error(&format!("no {name}")));
    }
    let modified = newest.unwrap_or(0);
    let details = owner.map(|owner| Details { modified, changed: 0, born: 0, owner, group });
    let links = match row.links {
        Some(links @ 2..) if row.inode.is_some() => Links::Of(links),
        _ => Links::Alone,
    };
    // Where inodes are not listed, each line is one.
    let number = row.inode.unwrap_or(entries.line);
    let identity = Identity { mount: 0, device: row.device.unwrap_or(0), number };
    let has_inode = row.inode.is_some() || owner.is_some();
    let inode = has_inode.then_some(Inode { identity, links, details });
    let (disk, length) = (disk.unwrap_or(0), size.unwrap_or(0));
    let figures = Figures { disk, length, newest, ..Figures::default() };
    entries.add_printed(row.path, EntryLine { figures, inode, ..EntryLine::default() })
}

/// Seconds since the epoch, or a date and a time as RFC 3339 has them, in UTC if they do not say where.
fn time(text: &str) -> Option<i64> {
    const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);
    seconds(text.as_bytes()).or_else(|| {
        let said = Pieces::parse(text).ok()?;
        let local = said.date().to_datetime(said.time().unwrap_or_default());
        let ahead = said.to_numeric_offset().map_or(0, |offset| offset.seconds());
        // Not by a Timestamp, which ends a day before the year 9999 does.
        Some(local.duration_since(EPOCH).as_secs() - i64::from(ahead))
    })
}

/// An error of the system, or what is wrong in which line.
fn explained(error: csv::Error, header: &ByteRecord, entries: &mut ListEntries) -> io::Error {
    if let Some(position) = error.position() {
        entries.line = position.line();
    }
    match error.into_kind() {
        ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            entries.error("it is too long")
        }
        ErrorKind::Io(error) => error,
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            entries.error(&format!("the header has {expected_len} columns, and this line {len}"))
        }
        ErrorKind::Deserialize { err, .. } => {
            let name = err.field().and_then(|number| header.get(number as usize));
            let name = String::from_utf8_lossy(name.unwrap_or_default());
            entries.error(&match err.kind() {
                DeserializeErrorKind::ParseInt(error) => match error.kind() {
                    IntErrorKind::PosOverflow => format!("{name} is too large"),
                    _ => format!("{name} is no whole number"),
                },
                DeserializeErrorKind::InvalidUtf8(_) => format!("{name} is not UTF-8"),
                _ => "two columns of the header mean the same".to_owned(),
            })
        }
        _ => entries.error("not CSV"),
    }
}

/// A source that gives only so many bytes at a time, because a row may have no end; and a newline at the end, which
/// only an open quote makes a part of the last row.
struct Limited<R> {
    input: R,
    left: usize,
    /// How often it has come to its end.
    ends: u32,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = buffer.len().min(self.left);
        let count = self.input.read(&mut buffer[..length])?;
        self.left -= count;
        if count > 0 {
            return Ok(count);
        }
        self.ends = self.ends.saturating_add(1);
        let mut end: &[u8] = if self.ends == 1 { b"\n" } else { b"" };
        end.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        for (start, expected) in [
            ("path,size\n", Some(b',')),
            ("\"Size\";\"other\";\"Key\"\r\n", Some(b';')),
            ("disk\tpath\n1\tx", Some(b'\t')),
            ("4\tpath\n", None),
            ("4 a,size,path\n", None),
            ("path,name\n", None),
            ("", None),
        ] {
            assert_eq!(delimiter(start.as_bytes()), expected, "{start}");
        }
    }

    #[test]
    fn times() {
        for (text, expected) in [
            ("1700000000", Some(1_700_000_000)),
            ("-1.5", Some(-1)),
            ("2026-11-23T10:00:00.000Z", Some(1_795_428_000)),
            ("2026-11-23 10:00:00", Some(1_795_428_000)),
            ("2026-11-23T11:00:00+01:00", Some(1_795_428_000)),
            ("2026-11-23", Some(1_795_392_000)),
            ("1969-12-31T23:59:58.5Z", Some(-1)),
            ("0001-01-01T00:00:00Z", Some(-62_135_596_800)),
            ("9999-12-31T23:59:59Z", Some(253_402_300_799)),
            ("9999-12-31T23:59:59-14:00", Some(253_402_351_199)),
            ("2026-02-30", None),
            ("yesterday", None),
        ] {
            assert_eq!(time(text), expected, "{text}");
        }
    }
}
