//! Sorts records, which are bytes, in bounded memory: a block of them at a time, which is sorted and written to a
//! temporary file without a name; in the end, and whenever there are many files, they are merged. An endless list does
//! not fill the disk: half of the space that was available at first stays available.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::mem;
use std::ops::Range;

use thiserror::Error;

use crate::sys::problem::{hinted, named};
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

/// A temporary file that leaves room for others.
struct RoomyFile {
    file: SnapshotFile,
    /// How many bytes are to stay available on its file system; 0 if that does not tell how many there are.
    spared: u64,
}

impl Write for RoomyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.spared > 0 {
            let (space, directory) = sys::temporary_space()?;
            if space.available < self.spared.saturating_add(bytes.len() as u64) {
                let message = format!(
                    "the list is too long for {}, where it takes half of the available space\n\
                     set TMPDIR to a directory with more",
                    named(directory.as_os_str().as_encoded_bytes())
                );
                return Err(hinted(io::ErrorKind::StorageFull, message));
            }
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What went wrong with a temporary file.
#[derive(Debug, Error)]
#[error("a temporary file: {0}")]
struct TemporaryFile(#[source] io::Error);

/// The error that something went wrong with a temporary file: all of a [`Sorter`] and of its records.
pub(super) fn of_temporary_file(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), TemporaryFile(error))
}

/// Records that come in their order.
pub(super) trait SortedRecords {
    /// Replaces `record` by the next. False if there is none. [`RecordFile`] needs the one there that it gave before;
    /// the others need nothing.
    fn next(&mut self, record: &mut Vec<u8>) -> io::Result<bool>;
}

/// Records in any order.
#[derive(Default)]
pub(super) struct Sorter {
    block: RecordBlock,
    /// How many bytes the longest record in it has.
    longest: usize,
    files: Vec<Box<dyn SortedRecords>>,
    /// How many bytes the longest record of each file has.
    heads: Vec<usize>,
    /// How many bytes files leave available, since the first of them.
    spared: Option<u64>,
}

impl Sorter {
    pub(super) fn push(&mut self, record: &[u8]) -> io::Result<()> {
        self.longest = self.longest.max(record.len());
        let RecordBlock { bytes, places, .. } = &mut self.block;
        places.push(bytes.len()..bytes.len() + record.len());
        bytes.extend_from_slice(record);
        if bytes.len() + size_of_val(&**places) < BLOCK {
            return Ok(());
        }
        self.block.sort();
        let spared = match self.spared {
            Some(spared) => spared,
            None => *self.spared.insert(sys::temporary_space()?.0.available / 2),
        };
        self.files.push(Box::new(RecordFile::written(&mut self.block, spared)?));
        self.heads.push(mem::take(&mut self.longest));
        self.block.bytes.clear();
        self.block.places.clear();
        self.block.read = 0;
        if self.files.len() == MOST_FILES || self.heads.iter().sum::<usize>() > MOST_HEADS {
            let mut merged = MergedRecords::new(mem::take(&mut self.files))?;
            self.files.push(Box::new(RecordFile::written(&mut merged, spared)?));
            let longest = self.heads.drain(..).max();
            self.heads.extend(longest);
        }
        Ok(())
    }

    /// All of them, sorted.
    pub(super) fn sorted(mut self) -> io::Result<MergedRecords> {
        self.block.sort();
        self.files.push(Box::new(self.block));
        MergedRecords::new(self.files)
    }
}

/// Records in memory.
#[derive(Default)]
struct RecordBlock {
    bytes: Vec<u8>,
    /// Where each of them is.
    places: Vec<Range<usize>>,
    /// How many have been read.
    read: usize,
}

impl RecordBlock {
    fn sort(&mut self) {
        let Self { bytes, places, .. } = self;
        places.sort_unstable_by(|one, other| bytes[one.clone()].cmp(&bytes[other.clone()]));
    }
}

impl SortedRecords for RecordBlock {
    fn next(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        let Some(place) = self.places.get(self.read) else { return Ok(false) };
        self.read += 1;
        record.clear();
        record.extend_from_slice(&self.bytes[place.clone()]);
        Ok(true)
    }
}

/// Records in a file: of each, how many bytes it has in common with the one before, how many more it has, and these.
struct RecordFile(BufReader<zstd::Decoder<'static, BufReader<SnapshotFile>>>);

impl RecordFile {
    /// A new file with these `records`, which leaves `spared` bytes available.
    fn written(records: &mut dyn SortedRecords, spared: u64) -> io::Result<Self> {
        let file = RoomyFile { file: sys::unnamed_file()?, spared };
        let mut file = zstd::Encoder::new(file, ZSTD_LEVEL)?;
        file.window_log(WINDOW_LOG)?;
        let mut out = BufWriter::new(file);
        let (mut record, mut before) = (Vec::new(), Vec::new());
        while records.next(&mut record)? {
            let (_, more) = record.split_at(shared(&before, &record));
            for length in [record.len() - more.len(), more.len()] {
                out.write_all(&(length as u32).to_le_bytes())?;
            }
            out.write_all(more)?;
            before.clone_from(&record);
        }
        let RoomyFile { mut file, .. } = out.into_inner()?.finish()?;
        file.rewind()?;
        Ok(Self(BufReader::new(zstd::Decoder::new(file)?)))
    }

    fn length(&mut self) -> io::Result<usize> {
        let mut length = [0; size_of::<u32>()];
        self.0.read_exact(&mut length)?;
        Ok(u32::from_le_bytes(length) as usize)
    }
}

impl SortedRecords for RecordFile {
    fn next(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        if self.0.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let [shared, more] = [self.length()?, self.length()?];
        record.truncate(shared);
        record.resize(shared + more, 0);
        self.0.read_exact(&mut record[shared..])?;
        Ok(true)
    }
}

/// How many bytes at their start both have in common.
pub(super) fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Records of several sources.
pub(super) struct MergedRecords {
    sources: Vec<Box<dyn SortedRecords>>,
    /// The next record of each source.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
}

impl MergedRecords {
    fn new(mut sources: Vec<Box<dyn SortedRecords>>) -> io::Result<Self> {
        let mut heads = BinaryHeap::new();
        for (number, source) in sources.iter_mut().enumerate() {
            let mut head = Vec::new();
            if source.next(&mut head)? {
                heads.push(Reverse((head, number)));
            }
        }
        Ok(Self { sources, heads })
    }
}

impl SortedRecords for MergedRecords {
    fn next(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        let Some(mut first) = self.heads.peek_mut() else { return Ok(false) };
        let Reverse((head, source)) = &mut *first;
        record.clone_from(head);
        if !self.sources[*source].next(head)? {
            PeekMut::pop(first);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file that is merged has one of them in memory.
    #[test]
    fn files_with_long_keys_are_merged_early() {
        const LONG: usize = 16 << 20;
        const COUNT: u8 = 60;
        let (mut sorter, mut record) = (Sorter::default(), vec![0; LONG]);
        for number in (0..COUNT).rev() {
            record[0] = number;
            sorter.push(&record).unwrap();
            assert!(sorter.files.len() * LONG <= 2 * BLOCK, "{}", sorter.files.len());
        }
        let mut sorted = sorter.sorted().unwrap();
        for number in 0..COUNT {
            assert!(sorted.next(&mut record).unwrap());
            assert_eq!((record[0], record.len()), (number, LONG));
        }
        assert!(!sorted.next(&mut record).unwrap());
    }
}
