//! Columns of a group of rows, in memory until they are written.

use std::io::{self, Write};

use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::file::writer::SerializedRowGroupWriter;

use super::failed;

/// A column of texts or bytes, in one buffer, so that no value needs an allocation of its own.
#[derive(Default)]
pub(super) struct TextColumn {
    bytes: Vec<u8>,
    /// The end of each value in the buffer.
    ends: Vec<usize>,
    /// For each row, 1 if it has a value and 0 if not.
    are_there: Vec<i16>,
}

/// A column of numbers.
#[derive(Default)]
pub(super) struct NumberColumn {
    numbers: Vec<i64>,
    are_there: Vec<i16>,
}

impl TextColumn {
    /// Adds text. In invalid UTF-8, U+FFFD takes the place of what is invalid, and `beside` gets the bytes. For valid
    /// text, `beside` gets nothing.
    pub(super) fn push_text(&mut self, bytes: &[u8], beside: Option<&mut TextColumn>) {
        let is_text = std::str::from_utf8(bytes).is_ok();
        match is_text {
            true => self.bytes.extend_from_slice(bytes),
            false => self.bytes.extend_from_slice(String::from_utf8_lossy(bytes).as_bytes()),
        }
        self.end();
        match beside {
            Some(beside) if is_text => beside.push_none(),
            Some(beside) => {
                beside.bytes.extend_from_slice(bytes);
                beside.end();
            }
            None => {}
        }
    }

    /// Adds a row without a value.
    pub(super) fn push_none(&mut self) {
        self.are_there.push(0);
    }

    fn end(&mut self) {
        self.ends.push(self.bytes.len());
        self.are_there.push(1);
    }

    fn values(self) -> (Vec<ByteArray>, Vec<i16>) {
        let (bytes, mut start) = (ByteArray::from(self.bytes), 0);
        let value = |end: usize| {
            let value = bytes.slice(start, end - start);
            start = end;
            value
        };
        let values = self.ends.into_iter().map(value).collect();
        (values, self.are_there)
    }

    /// Writes a column in which every row has a value.
    pub(super) fn write<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> io::Result<()> {
        column::<ByteArrayType, W>(group, &self.values().0, None)
    }

    /// Writes a column in which rows may have no value.
    pub(super) fn write_optional<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> io::Result<()> {
        let (values, are_there) = self.values();
        column::<ByteArrayType, W>(group, &values, Some(&are_there))
    }
}

impl NumberColumn {
    /// Adds a number. Larger ones than the column can have saturate.
    pub(super) fn push(&mut self, number: u64) {
        self.numbers.push(i64::try_from(number).unwrap_or(i64::MAX));
        self.are_there.push(1);
    }

    /// Adds a number, or nothing.
    pub(super) fn push_option(&mut self, number: Option<u64>) {
        match number {
            Some(number) => self.push(number),
            None => self.are_there.push(0),
        }
    }

    /// Adds the bits of a number that is only compared, such as that of an inode, or nothing.
    pub(super) fn push_bits(&mut self, number: Option<u64>) {
        self.numbers.extend(number.map(u64::cast_signed));
        self.are_there.push(number.is_some().into());
    }

    /// Adds a time in seconds since the epoch, or nothing. Times out of range saturate.
    pub(super) fn push_time(&mut self, seconds: Option<i64>) {
        /// The end of the year 9999. Some readers refuse a whole column with a later time.
        const LAST: i64 = 253_402_300_799;
        let seconds = seconds.map(|seconds| seconds.clamp(-LAST, LAST));
        self.numbers.extend(seconds.map(|seconds| seconds * 1_000_000));
        self.are_there.push(seconds.is_some().into());
    }

    /// Writes a column in which every row has a value.
    pub(super) fn write<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> io::Result<()> {
        column::<Int64Type, W>(group, &self.numbers, None)
    }

    /// Writes a column in which rows may have no value.
    pub(super) fn write_optional<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> io::Result<()> {
        column::<Int64Type, W>(group, &self.numbers, Some(&self.are_there))
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    are_there: Option<&[i16]>,
) -> io::Result<()> {
    let column = group.next_column().map_err(failed)?;
    let mut column = column.ok_or_else(|| io::Error::other("more columns than the schema has"))?;
    column.typed::<T>().write_batch(values, are_there, None).map_err(failed)?;
    column.close().map_err(failed)
}
