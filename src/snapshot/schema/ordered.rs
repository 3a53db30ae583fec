//! Writes text about a tree in order while several threads make it.

use std::io::{self, Write};
use std::mem;
use std::num::NonZeroUsize;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::tree::Child;

/// Lets several threads write parts of a tree, and puts them out in order.
pub(super) struct Ordered<'a, 'w> {
    out: &'w mut dyn Write,
    /// Writes one part.
    write: &'w (dyn Fn(&mut Vec<u8>, Child<'a>) -> io::Result<()> + Sync),
    threads: Option<NonZeroUsize>,
    /// Made when first needed.
    pool: Option<ThreadPool>,
    /// The parts that are not written yet, each after the text before it.
    waiting: Vec<(Vec<u8>, Child<'a>)>,
    /// How many entries are in these parts.
    entries: u64,
    /// How many bytes of text are before these parts.
    length: usize,
}

/// How many entries one thread writes at a time: few enough that all threads are busy, and enough that handing them
/// out costs nothing.
const PART: u64 = 1_024;
/// How many entries are queued: about 1 MB of JSON. With four times as many, and parts four times as large, it took
/// as long, and 3 MiB more memory.
const BATCH: u64 = 8_192;
/// How much text is queued between them, in bytes.
const LONG: usize = 1 << 20;

impl<'a, 'w> Ordered<'a, 'w> {
    /// Writes to `out` with so many threads; by default one for each core.
    pub(super) fn new(
        out: &'w mut dyn Write,
        threads: Option<NonZeroUsize>,
        write: &'w (dyn Fn(&mut Vec<u8>, Child<'a>) -> io::Result<()> + Sync),
    ) -> Self {
        Self { out, write, threads, pool: None, waiting: Vec::new(), entries: 0, length: 0 }
    }

    /// Leaves `directory`, which comes after `text`, to another thread, if that is worth it. Returns whether it does.
    ///
    /// # Errors
    /// The writer's.
    pub(super) fn takes_over(
        &mut self,
        text: &mut Vec<u8>,
        directory: Child<'a>,
    ) -> io::Result<bool> {
        // A file may claim fewer entries than it has.
        let entries = directory.totals().entries.max(directory.directories_below());
        if entries > PART {
            return Ok(false);
        }
        if self.entries >= BATCH || self.length >= LONG {
            self.put(text)?;
        }
        self.entries += entries;
        self.length += text.len();
        self.waiting.push((mem::take(text), directory));
        Ok(true)
    }

    /// Puts out everything that is queued, and then `text`, which is empty afterwards.
    ///
    /// # Errors
    /// The writer's.
    pub(super) fn put(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        let (parts, entries) = (mem::take(&mut self.waiting), mem::take(&mut self.entries));
        self.length = 0;
        if entries > PART && self.pool.is_none() {
            // With 0, rayon starts one thread for each core. If it can start none, this thread does the work.
            let threads = self.threads.map_or(0, NonZeroUsize::get);
            self.pool = ThreadPoolBuilder::new().num_threads(threads).build().ok();
        }
        let write = |(_, directory): &(Vec<u8>, Child<'a>)| {
            let mut text = Vec::new();
            (self.write)(&mut text, *directory).map(|()| text)
        };
        let texts: Vec<_> = match &self.pool {
            Some(pool) => pool.install(|| parts.par_iter().map(write).collect()),
            None => parts.iter().map(write).collect(),
        };
        for ((before, _), text) in parts.iter().zip(texts) {
            self.out.write_all(before)?;
            self.out.write_all(&text?)?;
        }
        self.out.write_all(text)?;
        text.clear();
        Ok(())
    }
}
