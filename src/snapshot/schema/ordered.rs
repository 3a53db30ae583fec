//! Writes output in order while several threads make it: text, and between it parts of a tree that other threads
//! write.

use std::io::{self, Write};
use std::mem;
use std::num::NonZeroUsize;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::tree::Child;

/// A writer for text about a tree.
pub(super) trait Sink<'a>: Write {
    /// Leaves `directory` to another thread, which writes it at this place, if that is worth it. Returns whether it
    /// does.
    ///
    /// # Errors
    /// The writer's.
    fn takes_over(&mut self, directory: Child<'a>) -> io::Result<bool>;
}

impl<'a> Sink<'a> for Vec<u8> {
    fn takes_over(&mut self, _: Child<'a>) -> io::Result<bool> {
        Ok(false)
    }
}

/// Lets several threads write parts of a tree with `write`, and puts them out in order.
pub(super) struct Ordered<'a, W, F> {
    out: W,
    write: F,
    threads: Option<NonZeroUsize>,
    /// Made when first needed.
    pool: Option<ThreadPool>,
    waiting: Vec<Chunk<'a>>,
    /// How many entries are in the queued parts.
    entries: u64,
}

/// A part of a tree that is not written yet.
struct Chunk<'a> {
    directory: Child<'a>,
    /// What comes after it.
    after: Vec<u8>,
}

/// How many entries one thread writes at a time: few enough that all threads are busy, and enough that handing them
/// out costs nothing.
const PART: u64 = 1_024;
/// How many entries are queued: about 1 MB of JSON. With four times as many, and parts four times as large, it took
/// as long, and 3 MiB more memory.
const BATCH: u64 = 8_192;

impl<'a, W, F> Ordered<'a, W, F>
where
    W: Write,
    F: Fn(&mut Vec<u8>, Child<'a>) -> io::Result<()> + Sync,
{
    /// Writes to `out` with so many threads; by default one for each core.
    pub(super) fn new(out: W, threads: Option<NonZeroUsize>, write: F) -> Self {
        Self { out, write, threads, pool: None, waiting: Vec::new(), entries: 0 }
    }

    /// Puts out everything that is queued.
    ///
    /// # Errors
    /// The writer's.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        let (parts, entries) = (mem::take(&mut self.waiting), mem::take(&mut self.entries));
        if entries > PART && self.pool.is_none() {
            // With 0, rayon starts one thread for each core. If it can start none, this thread does the work.
            let threads = self.threads.map_or(0, NonZeroUsize::get);
            self.pool = ThreadPoolBuilder::new().num_threads(threads).build().ok();
        }
        let write = |part: &Chunk<'a>| {
            let mut text = Vec::new();
            (self.write)(&mut text, part.directory).map(|()| text)
        };
        let texts: Vec<_> = match &self.pool {
            Some(pool) => pool.install(|| parts.par_iter().map(write).collect()),
            None => parts.iter().map(write).collect(),
        };
        for (part, text) in parts.iter().zip(texts) {
            self.out.write_all(&text?)?;
            self.out.write_all(&part.after)?;
        }
        Ok(())
    }
}

impl<'a, W, F> Sink<'a> for Ordered<'a, W, F>
where
    W: Write,
    F: Fn(&mut Vec<u8>, Child<'a>) -> io::Result<()> + Sync,
{
    fn takes_over(&mut self, directory: Child<'a>) -> io::Result<bool> {
        // A file may claim fewer entries than it has.
        let entries = directory.totals().entries.max(directory.directories_below());
        if entries > PART {
            return Ok(false);
        }
        if self.entries >= BATCH {
            self.settle()?;
        }
        self.entries += entries;
        self.waiting.push(Chunk { directory, after: Vec::new() });
        Ok(true)
    }
}

impl<'a, W, F> Write for Ordered<'a, W, F>
where
    W: Write,
    F: Fn(&mut Vec<u8>, Child<'a>) -> io::Result<()> + Sync,
{
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        /// So much text may be queued behind a part, in bytes.
        const LONG: usize = 64 << 10;
        if self.waiting.last().is_some_and(|last| last.after.len() > LONG) {
            self.settle()?;
        }
        match self.waiting.last_mut() {
            Some(last) => last.after.write(text),
            None => self.out.write(text),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.settle()?;
        self.out.flush()
    }
}
