//! The bytes of a stream, buffered.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

/// A stream, and the position in it.
pub(super) struct Bytes<R> {
    stream: R,
    buffer: Vec<u8>,
    /// How many bytes of the buffer were read from the stream, and how many of those are not taken yet.
    end: usize,
    at: usize,
    /// How many bytes of the stream came before the buffer.
    passed: u64,
}

impl<R: Read> Bytes<R> {
    pub(super) fn new(stream: R) -> Self {
        const BUFFER: usize = 256 * 1024;
        Self { stream, buffer: vec![0; BUFFER], end: 0, at: 0, passed: 0 }
    }

    /// How many bytes have been taken.
    pub(super) fn position(&self) -> u64 {
        self.passed + self.at as u64
    }

    /// The next bytes, at least one; none at the end.
    #[inline]
    pub(super) fn ahead(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            self.refill()?;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// The bytes that have been read from the stream and not taken. It may be empty although the stream goes on.
    #[inline]
    pub(super) fn at_hand(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Takes the next `count` bytes; no more than [`Self::ahead`] returned.
    #[inline]
    pub(super) fn take(&mut self, count: usize) {
        self.at += count;
    }

    /// Takes the next `count` bytes, likewise. Returns where [`Self::at`] finds them, until more bytes are read.
    #[inline]
    pub(super) fn pass(&mut self, count: usize) -> Range<usize> {
        let start = self.at;
        self.take(count);
        start..self.at
    }

    /// The bytes at this place in the buffer.
    #[inline]
    pub(super) fn at(&self, place: Range<usize>) -> &[u8] {
        self.buffer.get(place).unwrap_or_default()
    }

    /// Takes the next byte, if there is one and it `is_wanted`.
    #[inline]
    pub(super) fn next_if(&mut self, is_wanted: impl Fn(u8) -> bool) -> io::Result<Option<u8>> {
        let next = self.ahead()?.first().copied().filter(|byte| is_wanted(*byte));
        self.take(usize::from(next.is_some()));
        Ok(next)
    }

    fn refill(&mut self) -> io::Result<()> {
        self.passed += self.end as u64;
        (self.at, self.end) = (0, 0);
        self.end = loop {
            match self.stream.read(&mut self.buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        Ok(())
    }
}
