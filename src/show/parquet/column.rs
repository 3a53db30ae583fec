//! A column of a group of rows, in memory until it is written.

use std::borrow::Cow;
use std::io;

use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::writer::SerializedRowGroupWriter;

use super::failed;

/// A column of text or bytes, or of numbers.
#[derive(Default)]
pub(super) struct ParquetColumn {
    /// The values of a column of text, in one buffer, so that none needs an allocation of its own.
    bytes: Vec<u8>,
    /// The end of each value in the buffer.
    ends: Vec<usize>,
    /// The values of a column of numbers.
    numbers: Vec<i64>,
    /// For each row, 1 if it has a value and 0 if not.
    are_there: Vec<i16>,
}

/// What a row has in a column.
pub(super) enum Value<'a> {
    None,
    Bytes(Cow<'a, [u8]>),
    Number(i64),
}

impl<'a> Value<'a> {
    /// Text, and beside it the bytes of what is no text, and nothing for text. In invalid UTF-8, U+FFFD takes the place
    /// of what is invalid.
    pub(super) fn text_and_bytes(bytes: &'a [u8]) -> [Self; 2] {
        match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => [Self::Bytes(text.as_bytes().into()), Self::None],
            Cow::Owned(text) => [Self::Bytes(text.into_bytes().into()), Self::Bytes(bytes.into())],
        }
    }

    /// Text alone.
    pub(super) fn text(bytes: &'a [u8]) -> Self {
        let [text, _] = Self::text_and_bytes(bytes);
        text
    }

    /// A number, or nothing. Larger ones than the column can have saturate.
    pub(super) fn number(number: Option<u64>) -> Self {
        number.map_or(Self::None, |it| Self::Number(i64::try_from(it).unwrap_or(i64::MAX)))
    }

    /// The bits of a number that is only compared, such as that of an inode, or nothing.
    pub(super) fn bits(number: Option<u64>) -> Self {
        number.map_or(Self::None, |number| Self::Number(number.cast_signed()))
    }

    /// A time in seconds since the epoch, or nothing. Times out of range saturate.
    pub(super) fn time(seconds: Option<i64>) -> Self {
        /// The end of the year 9999. Some readers refuse a whole column with a later time.
        const LAST: i64 = 253_402_300_799;
        seconds.map_or(Self::None, |it| Self::Number(it.clamp(-LAST, LAST) * 1_000_000))
    }
}

impl ParquetColumn {
    /// How many rows it has.
    pub(super) fn len(&self) -> usize {
        self.are_there.len()
    }

    /// Adds a row.
    pub(super) fn push(&mut self, value: Value<'_>) {
        self.are_there.push(i16::from(!matches!(value, Value::None)));
        match value {
            Value::None => {}
            Value::Bytes(bytes) => {
                self.bytes.extend_from_slice(&bytes);
                self.ends.push(self.bytes.len());
            }
            Value::Number(number) => self.numbers.push(number),
        }
    }

    /// Writes the column as the next one of `group`.
    pub(super) fn write(self, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) -> io::Result<()> {
        let writer = group.next_column().map_err(failed)?;
        let mut writer =
            writer.ok_or_else(|| io::Error::other("more columns than the schema has"))?;
        // Only optional columns use it.
        let are_there = Some(&self.are_there[..]);
        match writer.untyped() {
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                let (bytes, mut start) = (ByteArray::from(self.bytes), 0);
                let mut values = Vec::with_capacity(self.ends.len());
                for end in self.ends {
                    values.push(bytes.slice(start, end - start));
                    start = end;
                }
                writer.write_batch(&values, are_there, None)
            }
            ColumnWriter::Int64ColumnWriter(writer) => {
                writer.write_batch(&self.numbers, are_there, None)
            }
            _ => return Err(io::Error::other("the schema has text and numbers alone")),
        }
        .map_err(failed)?;
        writer.close().map_err(failed)
    }
}
