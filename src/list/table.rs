//! Lists as CSV (RFC 4180), or with tabs or semicolons. A header names the columns, in any order.

use std::io::{self, Read};

use csv::{ByteRecord, ErrorKind, Position, ReaderBuilder};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::find::{LONGEST, seconds, unsigned};
use super::lines::size;
use super::{Entries, Known};
use crate::inode::{Identity, Links};
use crate::measure::{Figures, Measure, Measures};
use crate::tree::{Details, Inode, Node, Sums};

/// A column that matters. All others are skipped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Path,
    Size,
    Disk,
    Time,
    Owner,
    Group,
    Links,
    Inode,
    Device,
}

/// What headers call them, in lower case.
const NAMES: [(&str, Column); 16] = [
    ("path", Column::Path),
    ("key", Column::Path),
    ("size", Column::Size),
    ("length", Column::Size),
    ("disk", Column::Disk),
    ("time", Column::Time),
    ("modified", Column::Time),
    ("mtime", Column::Time),
    ("lastmodifieddate", Column::Time),
    ("owner", Column::Owner),
    ("uid", Column::Owner),
    ("group", Column::Group),
    ("gid", Column::Group),
    ("links", Column::Links),
    ("inode", Column::Inode),
    ("device", Column::Device),
];

/// What separates columns, if a list starts with a header.
pub(super) fn delimiter(start: &[u8]) -> Option<u8> {
    let header = start.split(|byte| *byte == b'\n').next()?;
    // Then it is a size, whatever the name of the first file is.
    if header.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    [b',', b'\t', b';'].into_iter().find(|delimiter| {
        let columns: Vec<_> = header.split(|byte| byte == delimiter).filter_map(column).collect();
        let has_size = columns.contains(&Column::Size) || columns.contains(&Column::Disk);
        has_size && columns.contains(&Column::Path)
    })
}

/// The column with this name, perhaps in quotes or after a byte order mark.
fn column(name: &[u8]) -> Option<Column> {
    let name = str::from_utf8(name).ok()?;
    let name = name.trim_matches(|c: char| matches!(c, '"' | '\u{feff}') || c.is_whitespace());
    NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, column)| *column)
}

/// Reads a list, header first, into `entries`.
pub(super) fn read(input: impl Read, delimiter: u8, entries: &mut Entries) -> io::Result<Known> {
    let mut builder = ReaderBuilder::new();
    // Where tabs separate, nothing is quoted.
    builder.has_headers(false).delimiter(delimiter).quoting(delimiter != b'\t');
    let mut reader = builder.from_reader(Limited { input, left: LONGEST });
    let (mut columns, mut row) = (None, ByteRecord::new());
    loop {
        reader.get_mut().left = LONGEST;
        match reader.read_byte_record(&mut row) {
            Ok(true) => entries.begin(row.position().map_or(0, Position::line)),
            Ok(false) => break,
            Err(error) => return Err(explained(error, entries)),
        }
        match &columns {
            None => columns = Some(Columns::new(&row, entries)?),
            Some(columns) => columns.add(&row, entries)?,
        }
    }
    columns.map(|columns| columns.known()).ok_or_else(|| entries.error("no header"))
}

/// What each column of a row is.
struct Columns(Vec<Option<Column>>);

impl Columns {
    fn new(header: &ByteRecord, entries: &Entries) -> io::Result<Self> {
        let mut columns = Vec::new();
        for name in header {
            let column = column(name);
            if column.is_some() && columns.contains(&column) {
                let name = String::from_utf8_lossy(name);
                return Err(entries.error(&format!("a second column for what {name} is")));
            }
            columns.push(column);
        }
        Ok(Self(columns))
    }

    fn has(&self, column: Column) -> bool {
        self.0.contains(&Some(column))
    }

    fn known(&self) -> Known {
        let size = self.has(Column::Size).then_some(Measure::Apparent);
        let disk = self.has(Column::Disk).then_some(Measure::Disk);
        let measures = [size, disk, Some(Measure::Files), Some(Measure::Inodes)];
        let times = self.has(Column::Time);
        let owners = times && self.has(Column::Owner);
        Known { measures: measures.into_iter().flatten().collect::<Measures>(), times, owners }
    }

    /// Adds the entry that a row says.
    fn add(&self, row: &ByteRecord, entries: &mut Entries) -> io::Result<()> {
        let length = self.value(row, Column::Size, size, entries)?.unwrap_or(0);
        let disk = self.value(row, Column::Disk, size, entries)?.unwrap_or(0);
        let newest = self.value(row, Column::Time, time, entries)?;
        let owner = self.value(row, Column::Owner, narrow, entries)?;
        let group = self.value(row, Column::Group, narrow, entries)?;
        let links = self.value(row, Column::Links, narrow, entries)?;
        let number = self.value(row, Column::Inode, unsigned, entries)?;
        let device = self.value(row, Column::Device, unsigned, entries)?.unwrap_or(0);
        if owner.is_none() && self.known().owners {
            return Err(entries.error("no owner"));
        }
        let modified = newest.unwrap_or(0);
        let details = owner.map(|owner| Details { modified, changed: 0, born: 0, owner, group });
        let has_inode = number.is_some() || details.is_some();
        let links = match links {
            Some(links @ 2..) if number.is_some() => Links::Of(links),
            _ => Links::Alone,
        };
        // Where inodes are not listed, each line is one.
        let number = number.unwrap_or(entries.line);
        let identity = Identity { mount: 0, device, number };
        let inode = has_inode.then_some(Inode { identity, links, details });
        let sums = Sums::of(Figures { disk, length, newest, ..Figures::default() });
        let path = self.field(row, Column::Path).unwrap_or_default();
        entries.add_printed(path, &Node { sums, inode, ..Node::default() })
    }

    fn field<'r>(&self, row: &'r ByteRecord, column: Column) -> Option<&'r [u8]> {
        row.get(self.0.iter().position(|it| *it == Some(column))?)
    }

    /// What a column says; none if it is empty, or is not there.
    fn value<V>(
        &self,
        row: &ByteRecord,
        column: Column,
        parse: fn(&[u8]) -> Option<V>,
        entries: &Entries,
    ) -> io::Result<Option<V>> {
        let text = self.field(row, column).unwrap_or_default().trim_ascii();
        if text.is_empty() {
            return Ok(None);
        }
        let (text, value) = (String::from_utf8_lossy(text), parse(text));
        value.map(Some).ok_or_else(|| entries.error(&format!("{text} is no {}", column.noun())))
    }
}

impl Column {
    /// What is in it.
    fn noun(self) -> &'static str {
        match self {
            Column::Path => "path",
            Column::Size | Column::Disk => "size in bytes",
            Column::Time => "time",
            Column::Owner | Column::Group => "numeric id",
            Column::Links | Column::Inode | Column::Device => "number",
        }
    }
}

fn narrow(text: &[u8]) -> Option<u32> {
    unsigned(text)?.try_into().ok()
}

/// Seconds since the epoch, or a date and a time as RFC 3339 has them, in UTC if they do not say where.
fn time(text: &[u8]) -> Option<i64> {
    let date = str::from_utf8(text).ok()?;
    let utc = |date: DateTime| Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp());
    seconds(text).or_else(|| {
        let time = date.parse::<Timestamp>().ok().or_else(|| utc(date.parse().ok()?))?;
        Some(time.as_second())
    })
}

/// An error of the system, or what is wrong in which line.
fn explained(error: csv::Error, entries: &mut Entries) -> io::Error {
    match error.into_kind() {
        ErrorKind::Io(error) if error.kind() != io::ErrorKind::FileTooLarge => error,
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            entries.begin(pos.map_or(0, |position| position.line()));
            entries.error(&format!("{len} columns, where the header has {expected_len}"))
        }
        _ => {
            entries.begin(entries.line + 1);
            entries.error("it is too long")
        }
    }
}

/// A source that gives only so many bytes at a time, because a row may have no end.
struct Limited<R> {
    input: R,
    left: usize,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = buffer.len().min(self.left);
        let count = self.input.read(&mut buffer[..length])?;
        self.left -= count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        for (start, expected) in [
            ("path,size\n", Some(b',')),
            ("\u{feff}\"Size\";\"other\";\"Key\"\r\n", Some(b';')),
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
            ("-0.5", Some(-1)),
            ("2026-11-23T10:00:00.000Z", Some(1_795_428_000)),
            ("2026-11-23 10:00:00", Some(1_795_428_000)),
            ("2026-11-23T11:00:00+01:00", Some(1_795_428_000)),
            ("yesterday", None),
        ] {
            assert_eq!(time(text.as_bytes()), expected, "{text}");
        }
    }
}
