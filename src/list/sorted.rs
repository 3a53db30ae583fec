//! Sorts records in bounded memory: a block of them at a time, which is sorted and written to a temporary file without
//! a name; in the end, and whenever there are many files, they are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::mem;

use crate::sys::{self, SnapshotFile};

/// How many bytes are kept in memory before they are written to a file.
const BLOCK: usize = 64 << 20;

/// How many files are merged at once. Each takes half a megabyte meanwhile, and a record.
const MOST_FILES: usize = 128;

/// How many bytes these records may have together.
const MOST_HEADS: usize = 2 * BLOCK;

/// How far back zstd looks, as a power of two: it keeps so much for each file that is read.
const WINDOW_LOG: u32 = 17;

/// This takes about as long as the sorting.
const ZSTD_LEVEL: i32 = 1;

/// In the order of keys, and then of lines.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListRecord {
    pub(super) key: Vec<u8>,
    pub(super) line: u64,
    /// The rest of it, packed.
    pub(super) node: Vec<u8>,
}

/// Records in any order.
#[derive(Default)]
pub(super) struct Sorter {
    block: Vec<ListRecord>,
    /// How many bytes that is.
    length: usize,
    /// How many bytes the longest of them has.
    longest: usize,
    files: Vec<Source>,
    /// How many bytes the longest record of each file has.
    heads: Vec<usize>,
}

type Source = Box<dyn Iterator<Item = io::Result<ListRecord>>>;

impl Sorter {
    pub(super) fn push(&mut self, record: ListRecord) -> io::Result<()> {
        /// What an allocation takes besides its content.
        const ALLOCATION: usize = 16;
        let length =
            record.key.len() + record.node.len() + 2 * ALLOCATION + size_of::<ListRecord>();
        self.length += length;
        self.longest = self.longest.max(length);
        self.block.push(record);
        if self.length < BLOCK {
            return Ok(());
        }
        let block = self.take_block();
        self.files.push(written(block)?);
        self.heads.push(mem::take(&mut self.longest));
        if self.files.len() == MOST_FILES || self.heads.iter().sum::<usize>() > MOST_HEADS {
            let merged = Sorted::new(mem::take(&mut self.files))?;
            self.files.push(written(merged)?);
            let longest = self.heads.drain(..).max();
            self.heads.extend(longest);
        }
        Ok(())
    }

    /// All of them, sorted.
    pub(super) fn sorted(mut self) -> io::Result<Sorted> {
        let block = Box::new(self.take_block());
        self.files.push(block);
        Sorted::new(self.files)
    }

    fn take_block(&mut self) -> impl Iterator<Item = io::Result<ListRecord>> + use<> {
        self.length = 0;
        let mut block = mem::take(&mut self.block);
        block.sort_unstable();
        block.into_iter().map(Ok)
    }
}

/// Merged records of several sources.
pub(super) struct Sorted {
    sources: Vec<Source>,
    /// The next record of each source.
    heads: BinaryHeap<Reverse<(ListRecord, usize)>>,
}

impl Sorted {
    fn new(sources: Vec<Source>) -> io::Result<Self> {
        let count = sources.len();
        let mut sorted = Self { sources, heads: BinaryHeap::new() };
        (0..count).try_for_each(|source| sorted.read(source))?;
        Ok(sorted)
    }

    /// Reads the next record of a source.
    fn read(&mut self, source: usize) -> io::Result<()> {
        let record = self.sources[source].next().transpose()?;
        self.heads.extend(record.map(|record| Reverse((record, source))));
        Ok(())
    }
}

impl Iterator for Sorted {
    type Item = io::Result<ListRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((record, source)) = self.heads.pop()?;
        Some(self.read(source).map(|()| record))
    }
}

/// Writes records to a file, and reads them from there.
fn written(records: impl Iterator<Item = io::Result<ListRecord>>) -> io::Result<Source> {
    let mut file = zstd::Encoder::new(sys::unnamed_file()?, ZSTD_LEVEL)?;
    file.window_log(WINDOW_LOG)?;
    let mut out = BufWriter::new(file);
    for record in records {
        let ListRecord { key, line, node } = record?;
        for part in [&key, &node] {
            out.write_all(&(part.len() as u32).to_le_bytes())?;
            out.write_all(part)?;
        }
        out.write_all(&line.to_le_bytes())?;
    }
    let mut file = out.into_inner()?.finish()?;
    file.rewind()?;
    let mut file = BufReader::new(zstd::Decoder::new(file)?);
    Ok(Box::new(std::iter::from_fn(move || next(&mut file).transpose())))
}

/// The next record in a file, if there is one.
fn next(
    file: &mut BufReader<zstd::Decoder<'_, BufReader<SnapshotFile>>>,
) -> io::Result<Option<ListRecord>> {
    if file.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let (key, node) = (next_part(file)?, next_part(file)?);
    let mut line = [0; size_of::<u64>()];
    file.read_exact(&mut line)?;
    Ok(Some(ListRecord { key, line: u64::from_le_bytes(line), node }))
}

fn next_part(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; size_of::<u32>()];
    file.read_exact(&mut length)?;
    let mut part = vec![0; u32::from_le_bytes(length) as usize];
    file.read_exact(&mut part)?;
    Ok(part)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot get what it needs should stop there")]
mod tests {
    use super::*;

    /// Each file that is merged has one of them in memory.
    #[test]
    fn files_with_long_keys_are_merged_early() {
        const LONG: usize = 16 << 20;
        const COUNT: u64 = 60;
        let mut sorter = Sorter::default();
        for line in 0..COUNT {
            let mut key = vec![0; LONG];
            key[0] = 255 - line as u8;
            sorter.push(ListRecord { key, line, node: Vec::new() }).unwrap();
            assert!(sorter.files.len() * LONG <= 2 * BLOCK, "{}", sorter.files.len());
        }
        let lines: Vec<_> = sorter.sorted().unwrap().map(|record| record.unwrap().line).collect();
        assert_eq!(lines, (0..COUNT).rev().collect::<Vec<_>>());
    }
}
