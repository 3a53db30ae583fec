//! Reads the bbolt databases of containerd: pages, buckets and keys.
//!
//! Written from page.go, meta.go, node.go and bucket.go of bbolt 1.3 and 1.4. The file is never written or locked, and
//! its writer need not stop. This part imports nothing else of weigh, and could be a crate of its own.
//!
//! Nothing that is read is trusted. A reader begins at the meta page that has a right checksum and the highest
//! transaction. Each page is charged to a budget, so cycles end. The pages on the way to a key are kept in a list with a
//! limit, so nothing recurses. The free list is not read.
//!
//! bbolt never writes to pages of the newest transaction, but may use those of the one before. So all that was read is
//! right if the newest transaction is still the same afterwards. Numbers are those of the processor, and so little-endian on
//! all for which containerd is built.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;

use super::{u16_at, u32_at, u64_at};

/// How often to start again if the database changes while it is read.
const ATTEMPTS: usize = 3;
/// More pages on the way to a key than any database of containerd has: it nests eight buckets.
const MOST_LEVELS: usize = 64;
/// No key is longer (bucket.go: MaxKeySize).
const MOST_KEY: usize = 32_768;

/// The length of a page's header, and of each element after it (page.go: pageHeaderSize, leafPageElementSize).
const HEADER: usize = 16;
const BRANCH: u16 = 1;
const LEAF: u16 = 2;
/// The flag of an element whose value is a bucket (bucketLeafFlag).
const IS_BUCKET: u32 = 1;

/// A meta page: where the newest keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Meta {
    page_size: u64,
    root: u64,
    /// No page has this number or a higher one.
    end: u64,
    transaction: u64,
}

/// A page on the way to a key.
#[derive(Debug)]
struct Level {
    /// The name of the bucket that begins here.
    bucket: Option<Vec<u8>>,
    page: Vec<u8>,
    /// Which element of how many comes next, and where the data of the one before ended.
    next: usize,
    count: usize,
    end: usize,
}

/// An element of a page: the number of another page, or where key and value are.
#[derive(Debug)]
enum Element {
    Page(u64),
    Value(Range<usize>, Range<usize>),
    Bucket(Range<usize>, Range<usize>),
}

/// Calls `each` with every key of the database and its value, in order. Of a key, it gets the names of all buckets around
/// it, and its own name. If the database changes meanwhile, it starts again with another `T`. Takes each byte that it reads
/// from `budget`.
///
/// # Errors
/// Those of `file`, and an error if the database is damaged, larger than the budget, or changes all the time.
pub fn read<T: Default>(
    file: &mut (impl Read + Seek),
    budget: &mut u64,
    mut each: impl FnMut(&mut T, &[&[u8]], &[u8]),
) -> io::Result<T> {
    for _ in 0..ATTEMPTS {
        let (meta, mut found) = (newest(file)?, T::default());
        let read = read_all(file, &meta, budget, |path, value| each(&mut found, path, value));
        // An error counts only if the pages were those of this transaction.
        if newest(file)? == meta {
            return read.map(|()| found);
        }
    }
    Err(io::Error::other("the database changes too often"))
}

/// The valid meta page with the highest transaction.
fn newest(file: &mut (impl Read + Seek)) -> io::Result<Meta> {
    // 64 KiB is the largest page of any processor.
    let sizes = (10..=16).map(|bits| 1 << bits);
    let first = meta_at(file, 0)?;
    let second = match first {
        Some(first) => meta_at(file, first.page_size)?.filter(|it| it.page_size == first.page_size),
        None => {
            let mut second = None;
            for size in sizes {
                second = second.or(meta_at(file, size)?.filter(|it| it.page_size == size));
            }
            second
        }
    };
    let all = first.into_iter().chain(second);
    all.max_by_key(|meta| meta.transaction).ok_or_else(|| damaged("no meta page is valid"))
}

/// The meta page `at` this offset, if there is a valid one.
fn meta_at(file: &mut (impl Read + Seek), at: u64) -> io::Result<Option<Meta>> {
    const MAGIC: u32 = 0xed0c_daed;
    const VERSION: u32 = 2;
    let mut page = [0; HEADER + 64];
    match read_at(file, at, &mut page) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let meta = &page[HEADER..];
    let page_size = u64::from(u32_at(meta, 8));
    let is_valid = u32_at(meta, 0) == MAGIC
        && u32_at(meta, 4) == VERSION
        && u64_at(meta, 56) == checksum(&meta[..56])
        && page_size.is_power_of_two()
        && (1 << 10..=1 << 16).contains(&page_size);
    let [root, end, transaction] = [16, 40, 48].map(|at| u64_at(meta, at));
    Ok(is_valid.then_some(Meta { page_size, root, end, transaction }))
}

/// FNV-1a, of 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn read_all(
    file: &mut (impl Read + Seek),
    meta: &Meta,
    budget: &mut u64,
    mut each: impl FnMut(&[&[u8]], &[u8]),
) -> io::Result<()> {
    let mut levels = vec![Level::new(None, page(file, meta, meta.root, budget)?)?];
    while let Some(mut level) = levels.pop() {
        let Some(element) = level.take()? else { continue };
        let below = match element {
            Element::Page(number) => Some(Level::new(None, page(file, meta, number, budget)?)?),
            Element::Bucket(name, value) => {
                let (name, value) = (level.page[name].to_vec(), &level.page[value]);
                // A small bucket is in the value, after its header, on a page without a number. No other is in it.
                let page = match (u64_at(value, 0), value.get(16..)) {
                    _ if level.is_inline() => return Err(damaged("a bucket")),
                    (0, Some(inline)) if u64_at(inline, 0) == 0 => inline.to_vec(),
                    (root, Some(_)) => page(file, meta, root, budget)?,
                    (_, None) => return Err(damaged("a bucket")),
                };
                Some(Level::new(Some(name), page)?)
            }
            Element::Value(key, value) => {
                let around = levels.iter().chain([&level]).filter_map(|it| it.bucket.as_deref());
                let path: Vec<_> = around.chain([&level.page[key]]).collect();
                each(&path, &level.page[value]);
                None
            }
        };
        levels.push(level);
        levels.extend(below);
        if levels.len() > MOST_LEVELS {
            return Err(damaged("too many levels"));
        }
    }
    Ok(())
}

/// The page with this number, with those into which it overflows.
fn page(
    file: &mut (impl Read + Seek),
    meta: &Meta,
    number: u64,
    budget: &mut u64,
) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let mut grow = |page: &mut Vec<u8>, more: u64| {
        let bytes = more.checked_mul(meta.page_size).filter(|bytes| *bytes <= *budget);
        let bytes = bytes.ok_or_else(|| io::Error::other("the database is too large"))?;
        *budget -= bytes;
        let start = page.len();
        page.resize(start + usize::try_from(bytes).unwrap_or(usize::MAX), 0);
        let at = number.checked_mul(meta.page_size).ok_or_else(|| damaged("a page number"))?;
        read_at(file, at.saturating_add(start as u64), &mut page[start..])
    };
    // The first two are the meta pages.
    if number < 2 || number >= meta.end {
        return Err(damaged("a page number"));
    }
    grow(&mut page, 1)?;
    let overflow = u64::from(u32_at(&page, 12));
    if u64_at(&page, 0) != number || overflow >= meta.end - number {
        return Err(damaged("the header of a page"));
    }
    grow(&mut page, overflow)?;
    Ok(page)
}

impl Level {
    fn new(bucket: Option<Vec<u8>>, page: Vec<u8>) -> io::Result<Self> {
        let count = usize::from(u16_at(&page, 10));
        let end = HEADER * (1 + count);
        if !matches!(u16_at(&page, 8), BRANCH | LEAF) || end > page.len() {
            return Err(damaged("the header of a page"));
        }
        Ok(Self { bucket, page, next: 0, count, end })
    }

    /// Whether the page is in a value: those have no number. Nothing in them is a bucket.
    fn is_inline(&self) -> bool {
        u64_at(&self.page, 0) == 0
    }

    /// The next element, if there is one. Those of a page share no bytes: so all values together are no longer than what
    /// was read.
    fn take(&mut self) -> io::Result<Option<Element>> {
        if self.next == self.count {
            return Ok(None);
        }
        let at = HEADER * (1 + self.next);
        self.next += 1;
        let is_leaf = u16_at(&self.page, 8) == LEAF;
        let number = |offset: usize| u32_at(&self.page, at + offset) as usize;
        let [start, key, value] = match is_leaf {
            true => [number(4), number(8), number(12)],
            false => [number(0), number(4), 0],
        };
        let start = at.checked_add(start).filter(|start| *start >= self.end);
        let middle = start.and_then(|start| start.checked_add(key));
        let end = middle.and_then(|middle| middle.checked_add(value));
        let end = end.filter(|end| *end <= self.page.len() && key <= MOST_KEY);
        let (Some(start), Some(middle), Some(end)) = (start, middle, end) else {
            return Err(damaged("an element of a page"));
        };
        let is_bucket = u32_at(&self.page, at) & IS_BUCKET != 0;
        self.end = end;
        Ok(Some(match (is_leaf, is_bucket) {
            (false, _) if self.is_inline() => return Err(damaged("a bucket")),
            (false, _) => Element::Page(u64_at(&self.page, at + 8)),
            (true, true) => Element::Bucket(start..middle, middle..end),
            (true, false) => Element::Value(start..middle, middle..end),
        }))
    }
}

/// The error for a damaged database.
fn damaged(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the database is damaged: {what}"))
}

fn read_at(file: &mut (impl Read + Seek), at: u64, buffer: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(buffer)
}

#[cfg(test)]
mod tests;
