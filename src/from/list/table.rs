//! Lists as CSV (RFC 4180), or with tabs or semicolons. A header names the columns, in any order.
//!
//! The header also says how rows end, for it has no names of files: with a newline, or a carriage return and a newline,
//! or a NUL. What else is in a row is data.

use std::io::{self, Read};
use std::num::IntErrorKind;
use std::sync::atomic::Ordering;

use csv::{ByteRecord, DeserializeErrorKind, ErrorKind, Position, ReaderBuilder, Terminator};
use jiff::civil::{DateTime, date};
use jiff::fmt::temporal::Pieces;
use serde::Deserialize;

use super::ListEntries;
use super::entries::EntryLine;
use super::find::{LONGEST, seconds};
use crate::base::inode::{Identity, Links};
use crate::base::measure::{Figures, Measure, Measures, Mode};
use crate::from::snapshot::Origin;
use crate::tree::{Details, Inode};

/// What separates columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableForm {
    delimiter: u8,
    end: u8,
}

/// What a row says. Other columns are skipped.
#[derive(Deserialize)]
struct TableRow<'r> {
    #[serde(borrow)]
    path: &'r [u8],
    /// Wide enough for a size, and for the -1 of one that is not known.
    size: Option<i128>,
    disk: Option<i128>,
    time: Option<&'r str>,
    owner: Option<u32>,
    group: Option<u32>,
    links: Option<u32>,
    inode: Option<u64>,
    device: Option<u64>,
}

/// What is known of an entry besides its path.
#[derive(Clone, Copy, Default)]
pub(super) struct EntryAttributes {
    pub(super) mode: Mode,
    pub(super) size: Option<i128>,
    pub(super) disk: Option<i128>,
    pub(super) time: Option<i64>,
    pub(super) owner: Option<u32>,
    pub(super) group: Option<u32>,
    pub(super) links: Option<u32>,
    pub(super) inode: Option<u64>,
    pub(super) device: Option<u64>,
}

/// Other names of columns.
const ALIASES: [(&str, &str); 9] = [
    ("key", "path"),
    ("length", "size"),
    ("modified", "time"),
    ("mtime", "time"),
    ("modtime", "time"),
    ("lastmodified", "time"),
    ("lastmodifieddate", "time"),
    ("uid", "owner"),
    ("gid", "group"),
];

/// The form of a list, if it starts with a header.
pub(super) fn form(start: &[u8]) -> Option<TableForm> {
    let length = start.iter().position(|byte| matches!(byte, b'\n' | 0)).unwrap_or(start.len());
    let (header, rest) = start.split_at(length);
    let end = rest.first().copied().unwrap_or(b'\n');
    // Then it is a size, whatever the name of the first file is.
    if header.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let delimiter = [b',', b'\t', b';'].into_iter().find(|delimiter| {
        let columns: ByteRecord = header.split(|byte| byte == delimiter).map(column).collect();
        has(&columns, "path") && (has(&columns, "size") || has(&columns, "disk"))
    })?;
    Some(TableForm { delimiter, end })
}

fn has(header: &ByteRecord, column: &str) -> bool {
    header.iter().any(|name| name == column.as_bytes())
}

/// The name of a column in a row, for one that may be another one, or in quotes.
pub(super) fn column(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name).to_lowercase();
    let name = name.trim_matches(|c: char| c == '"' || c.is_whitespace());
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    alias.map_or(name, |(_, column)| column).to_owned()
}

/// Reads a list, header first, into `entries`.
pub(super) fn read(
    input: impl Read,
    TableForm { delimiter, end }: TableForm,
    entries: &mut ListEntries,
) -> io::Result<(Measures, Origin)> {
    let mut builder = ReaderBuilder::new();
    // Where tabs separate, nothing is quoted.
    builder.has_headers(false).delimiter(delimiter).quoting(delimiter != b'\t');
    builder.terminator(Terminator::Any(end)).flexible(true);
    let mut reader = builder.from_reader(Limited { input, left: LONGEST, end, ends: 0 });
    let before = entries.count.load(Ordering::Relaxed);
    let (mut header, mut record) = (ByteRecord::new(), ByteRecord::new());
    let mut required = Vec::new();
    // Of the header, and of all rows so far: whether they end in a carriage return.
    let (mut has_return, mut have_returns) = (false, true);
    loop {
        reader.get_mut().left = LONGEST;
        entries.line = reader.position().line();
        let read = reader.read_byte_record(&mut record);
        if matches!(read, Ok(false)) {
            break;
        }
        let is_last = reader.get_ref().ends > 0;
        // The end that was added is in the row, because that is in quotes.
        if reader.get_ref().ends > 1 {
            return Err(entries.error("a quote that does not end"));
        }
        read.map_err(|error| explained(error, &header, entries))?;
        entries.line = match end {
            0 => record.position().map_or(0, Position::record) + 1,
            _ => record.position().map_or(0, Position::line),
        };
        let ends_in_return =
            end == b'\n' && record.iter().next_back().is_some_and(|last| last.ends_with(b"\r"));
        if header.is_empty() {
            has_return = ends_in_return;
            header = record.iter().map(column).collect();
            required =
                ["size", "disk", "owner"].into_iter().filter(|it| has(&header, it)).collect();
            continue;
        }
        if end == 0 && is_last {
            return Err(entries.error("it is cut off"));
        }
        let ends_in_path = header.iter().next_back() == Some(&b"path"[..]);
        if has_return && ends_in_path && !ends_in_return && !is_last {
            return Err(entries.error("it does not end in a carriage return, as the header does"));
        }
        have_returns &= ends_in_return;
        if ends_in_return && (has_return || !ends_in_path) {
            record = without_return(&record);
        }
        if record.is_empty() {
            continue;
        }
        // Between tabs, nothing is quoted, so a path at the end has tabs of its own.
        if delimiter == b'\t' && ends_in_path && record.len() > header.len() {
            record = without_more(&record, header.len());
        }
        if record.len() != header.len() {
            let (expected, count) = (header.len(), record.len());
            let what = format!("the header has {expected} columns, and this line {count}");
            return Err(entries.error(&what));
        }
        let row = record.deserialize(Some(&header));
        let row = row.map_err(|error| explained(error, &header, entries))?;
        add(&row, &required, entries)?;
    }
    if !has_return
        && have_returns
        && entries.count.load(Ordering::Relaxed) > before
        && header.iter().next_back() == Some(&b"path"[..])
    {
        let what = "all lines but the first end in a carriage return: remove them with tr -d '\\r'";
        return Err(entries.error(what));
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

/// The same row without the carriage return at its end; without any field if it has nothing else.
fn without_return(record: &ByteRecord) -> ByteRecord {
    let mut trimmed = record.clone();
    let last =
        record.iter().next_back().and_then(|last| last.strip_suffix(b"\r")).unwrap_or_default();
    trimmed.truncate(record.len() - 1);
    if !trimmed.is_empty() || !last.is_empty() {
        trimmed.push_field(last);
    }
    trimmed
}

/// The same row with so many fields, of which the last has all that follows.
fn without_more(record: &ByteRecord, count: usize) -> ByteRecord {
    let mut joined = record.clone();
    joined.truncate(count - 1);
    let rest: Vec<_> = record.iter().skip(count - 1).collect();
    joined.push_field(&rest.join(&b'\t'));
    joined
}

/// Adds the entry that a row says, if nothing is missing in the `required` columns.
fn add(row: &TableRow<'_>, required: &[&str], entries: &mut ListEntries) -> io::Result<()> {
    let TableRow { path, size, disk, time: text, owner, group, links, inode, device } = *row;
    let time = text.and_then(time);
    if text.is_some() && time.is_none() {
        return Err(entries.error("its time is neither a number of seconds nor a date"));
    }
    let present = [("size", size.is_some()), ("disk", disk.is_some()), ("owner", owner.is_some())];
    if let Some((name, _)) = present.iter().find(|(name, is)| !is && required.contains(name)) {
        return Err(entries.error(&format!("no {name}")));
    }
    let mode = Mode::default();
    let attributes = EntryAttributes { mode, size, disk, time, owner, group, links, inode, device };
    add_entry(path, &attributes, entries)
}

/// Adds the entry with these attributes.
pub(super) fn add_entry(
    path: &[u8],
    attributes: &EntryAttributes,
    entries: &mut ListEntries,
) -> io::Result<()> {
    let EntryAttributes { mode, size, disk, time: newest, owner, group, .. } = *attributes;
    let modified = newest.unwrap_or(0);
    let details = owner.map(|owner| Details { modified, changed: 0, born: 0, owner, group });
    let links = match attributes.links {
        Some(links @ 2..) if attributes.inode.is_some() => Links::Of(links),
        _ => Links::Alone,
    };
    // Where inodes are not listed, each line is one.
    let number = attributes.inode.unwrap_or(entries.number());
    let identity = Identity { mount: 0, device: attributes.device.unwrap_or(0), number };
    let has_inode = attributes.inode.is_some() || owner.is_some();
    let inode = has_inode.then_some(Inode { identity, links, details });
    // So rclone lists documents of Google.
    const UNKNOWN: i128 = -1;
    let is_unsized = [size, disk].contains(&Some(UNKNOWN));
    let bytes = |name: &str, size: Option<i128>| {
        let size = size.filter(|size| *size != UNKNOWN).unwrap_or(0);
        let what = if size < 0 { "is no whole number" } else { "is too large" };
        u64::try_from(size).map_err(|_| entries.error(&format!("{name} {what}")))
    };
    let (disk, length) = (bytes("disk", disk)?, bytes("size", size)?);
    let figures = Figures { disk, length, newest, ..Figures::default() };
    let entry = EntryLine { mode, figures, inode, is_unsized, ..EntryLine::default() };
    entries.add_printed(path, entry)
}

/// Seconds since the epoch, or a date and a time as RFC 3339 has them, in UTC if they do not say where.
pub(super) fn time(text: &str) -> Option<i64> {
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

/// A source that gives only so many bytes at a time, because a row may have no end; and the end of a row at the end,
/// which only an open quote makes a part of the last row.
struct Limited<R> {
    input: R,
    left: usize,
    end: u8,
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
        let end = [self.end];
        let mut end: &[u8] = if self.ends == 1 { &end } else { b"" };
        end.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        for (start, expected) in [
            ("path,size\n", Some((b',', b'\n'))),
            ("\"Size\";\"other\";\"Key\"\r\n", Some((b';', b'\n'))),
            ("disk\tpath\n1\tx\0", Some((b'\t', b'\n'))),
            ("disk\tpath\x001\tx\n", Some((b'\t', 0))),
            ("4\tpath\n", None),
            ("4 a,size,path\n", None),
            ("path,name\n", None),
            ("", None),
        ] {
            let expected = expected.map(|(delimiter, end)| TableForm { delimiter, end });
            assert_eq!(form(start.as_bytes()), expected, "{start}");
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
