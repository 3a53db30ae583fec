//! Sorts records in bounded memory: a block of them at a time, which is sorted and written to a temporary file without
//! a name; in the end, and whenever there are many, these files are merged.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, Write};
use std::mem;

use crate::tree::{Node, record};

/// How long a block is, in bytes, before it is written to a file.
const BLOCK: usize = 32 << 20;

/// How many files are merged at once. Each takes half a megabyte meanwhile.
const MOST_FILES: usize = 64;

/// How far back zstd looks, as a power of two: it keeps so much for each file that is read.
const WINDOW_LOG: u32 = 17;

/// A level that takes about as long as the sorting.
const ZSTD_LEVEL: i32 = 1;

/// Records, in the order in which they came: eight bytes of a number, and then a packed node.
#[derive(Default)]
pub(super) struct Sorter {
    block: Vec<u8>,
    /// Where each of them begins and ends in the block.
    places: Vec<(u32, u32)>,
    /// Sorted ones, and how often they were merged.
    files: Vec<(u32, File)>,
}

/// Records in the order of their names. Those of one name are in the order of their numbers.
pub(super) struct Sorted {
    heads: BinaryHeap<Head>,
}

/// The next record of a source, and what comes after it.
struct Head {
    record: Vec<u8>,
    source: Source,
}

enum Source {
    Block { block: Vec<u8>, places: std::vec::IntoIter<(u32, u32)> },
    File(Box<zstd::Decoder<'static, BufReader<File>>>),
}

/// The number and the node of a record.
pub(super) fn parts(record: &[u8]) -> io::Result<(u64, Node<'_>)> {
    let parts = record.split_first_chunk().and_then(|(number, mut node)| {
        Some((u64::from_be_bytes(*number), record::take(&mut node)?))
    });
    parts.ok_or_else(|| ErrorKind::InvalidData.into())
}

/// What records are sorted by.
fn order(record: &[u8]) -> (&[u8], &[u8]) {
    let (number, node) = record.split_at_checked(size_of::<u64>()).unwrap_or_default();
    (record::name(node), number)
}

impl Sorter {
    /// Adds a node that is not packed as a directory.
    pub(super) fn push(&mut self, number: u64, node: &Node<'_>) -> io::Result<()> {
        if self.block.len() >= BLOCK {
            self.write_block()?;
        }
        let start = self.block.len();
        self.block.extend_from_slice(&number.to_be_bytes());
        record::push(&mut self.block, node);
        // A block and one more record are far below four gigabytes.
        self.places.push((start as u32, self.block.len() as u32));
        Ok(())
    }

    /// All of them, sorted.
    pub(super) fn sorted(mut self) -> io::Result<Sorted> {
        let block = self.take_block();
        let files = self.files.drain(..).map(|(_, file)| Source::file(file));
        let sources: Vec<_> = files.chain([Ok(block)]).collect::<io::Result<_>>()?;
        Sorted::new(sources)
    }

    /// What is in memory, sorted.
    fn take_block(&mut self) -> Source {
        let (block, mut places) = (mem::take(&mut self.block), mem::take(&mut self.places));
        let at = |&(start, end): &(u32, u32)| order(&block[start as usize..end as usize]);
        places.sort_unstable_by(|one, other| at(one).cmp(&at(other)));
        Source::Block { block, places: places.into_iter() }
    }

    fn write_block(&mut self) -> io::Result<()> {
        let block = self.take_block();
        let file = Sorted::new(vec![block])?.write()?;
        self.files.push((0, file));
        // What was merged once is merged with its like, so that each record is written a few times only.
        while let Some((merges, _)) = self.files.last()
            && let Some(first) = self.files.len().checked_sub(MOST_FILES)
            && self.files[first].0 == *merges
        {
            let merges = merges + 1;
            let sources = self.files.drain(first..).map(|(_, file)| Source::file(file));
            let merged = Sorted::new(sources.collect::<io::Result<_>>()?)?.write()?;
            self.files.push((merges, merged));
        }
        Ok(())
    }
}

impl Sorted {
    fn new(sources: Vec<Source>) -> io::Result<Self> {
        let mut heads = BinaryHeap::new();
        for mut source in sources {
            let mut record = Vec::new();
            if source.next(&mut record)? {
                heads.push(Head { record, source });
            }
        }
        Ok(Self { heads })
    }

    /// Puts the next record in the place of `record`, or nothing if there is none.
    pub(super) fn next(&mut self, record: &mut Vec<u8>) -> io::Result<()> {
        let Some(mut head) = self.heads.peek_mut() else {
            record.clear();
            return Ok(());
        };
        mem::swap(&mut head.record, record);
        let Head { record, source } = &mut *head;
        if !source.next(record)? {
            PeekMut::pop(head);
        }
        Ok(())
    }

    fn write(mut self) -> io::Result<File> {
        let mut file = zstd::Encoder::new(tempfile::tempfile()?, ZSTD_LEVEL)?;
        file.window_log(WINDOW_LOG)?;
        let (mut out, mut record) = (BufWriter::new(file), Vec::new());
        loop {
            self.next(&mut record)?;
            if record.is_empty() {
                break;
            }
            out.write_all(&(record.len() as u32).to_le_bytes())?;
            out.write_all(&record)?;
        }
        let mut file = out.into_inner()?.finish()?;
        file.rewind()?;
        Ok(file)
    }
}

impl Source {
    fn file(file: File) -> io::Result<Self> {
        zstd::Decoder::new(file).map(|file| Self::File(Box::new(file)))
    }

    /// Puts the next record in the place of `record`. False if there is none.
    fn next(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        record.clear();
        match self {
            Self::Block { block, places } => {
                let Some((start, end)) = places.next() else { return Ok(false) };
                record.extend_from_slice(&block[start as usize..end as usize]);
            }
            Self::File(file) => {
                let mut length = [0; size_of::<u32>()];
                match file.read_exact(&mut length) {
                    Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
                    read => read?,
                }
                record.resize(u32::from_le_bytes(length) as usize, 0);
                file.read_exact(record)?;
            }
        }
        Ok(true)
    }
}

impl Ord for Head {
    /// A heap has its greatest on top.
    fn cmp(&self, other: &Self) -> Ordering {
        order(&other.record).cmp(&order(&self.record))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}
