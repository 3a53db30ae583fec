//! The forms of snapshots, and compression. A flag or the file's name says how one is written, and its first bytes how
//! one is read.

use std::cell::Cell;
use std::ffi::OsStr;
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Write};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::check;
use crate::interrupt::Interrupt;

/// The form in which a snapshot is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotForm {
    /// weigh's own.
    Packed,
    /// JSON.
    Json,
    /// The same, compressed with zstd.
    Zstd,
    /// The same, compressed with gzip.
    Gzip,
}

impl SnapshotForm {
    /// All forms.
    pub const ALL: [SnapshotForm; 4] =
        [SnapshotForm::Packed, SnapshotForm::Json, SnapshotForm::Zstd, SnapshotForm::Gzip];

    /// What the names of files in this form end in, after a dot.
    pub fn ending(self) -> &'static str {
        match self {
            SnapshotForm::Packed => "weigh",
            SnapshotForm::Json => "json",
            SnapshotForm::Zstd => "json.zst",
            SnapshotForm::Gzip => "json.gz",
        }
    }

    /// The form of a snapshot at `path`, going by its extension.
    pub fn of(path: &Path) -> Self {
        let last = path.extension().and_then(OsStr::to_str);
        let form = Self::ALL.into_iter().find(|form| form.ending().rsplit('.').next() == last);
        form.unwrap_or(SnapshotForm::Json)
    }
}

/// Compresses what is written to it, and fails once an interrupt was requested.
pub struct Packer<'a, W: Write> {
    encoder: Encoder<W>,
    interrupt: &'a Interrupt,
    /// How many bytes were written, before compression.
    length: u64,
}

enum Encoder<W: Write> {
    Plain(W),
    /// As gzip (RFC 1952).
    Gzip(Box<GzEncoder<W>>),
    /// As zstd (RFC 8878). Counts the compressed bytes.
    Zstd(zstd::Encoder<'static, ByteCount<W>>),
}

/// Any file may unpack to this many bytes.
const FREE: u64 = 64 << 20;

/// Beyond that, a file may unpack to so many times its size. This is the most that gzip can reach (258 bytes from 2
/// bits); zstd can reach 33,000 from one byte. Snapshots unpack to 20 to 90 times their size. A million files with
/// the same thousand names and one length reach 3,900.
pub(super) const MOST_TIMES: u64 = 1032;

/// Counts the bytes that pass through.
pub struct ByteCount<S> {
    stream: S,
    count: Rc<Cell<u64>>,
}

impl<'a, W: Write> Packer<'a, W> {
    /// A packer for a snapshot in this `form`.
    pub(super) fn new(form: SnapshotForm, out: W, interrupt: &'a Interrupt) -> io::Result<Self> {
        /// This level takes 11.9 bytes an entry on a package store of 5 million. Two threads are hardly slower with
        /// it than the one that writes the JSON. The next level takes a third longer.
        const ZSTD_LEVEL: i32 = 5;
        const ZSTD_THREADS: u32 = 2;
        let encoder = match form {
            SnapshotForm::Gzip => {
                Encoder::Gzip(Box::new(GzEncoder::new(out, flate2::Compression::default())))
            }
            SnapshotForm::Zstd => {
                let mut encoder = zstd::Encoder::new(ByteCount::new(out), ZSTD_LEVEL)?;
                // A checksum detects a flipped bit in the file.
                encoder.include_checksum(true)?;
                encoder.multithread(ZSTD_THREADS)?;
                Encoder::Zstd(encoder)
            }
            // It compresses each block by itself.
            SnapshotForm::Json | SnapshotForm::Packed => Encoder::Plain(out),
        };
        Ok(Self { encoder, interrupt, length: 0 })
    }

    /// Writes the rest, and returns the file.
    pub(super) fn finish(self) -> io::Result<W> {
        match self.encoder {
            Encoder::Plain(out) => Ok(out),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => {
                let mut out = encoder.finish()?;
                pad(&mut out, self.length)?;
                Ok(out.stream)
            }
        }
    }

    fn encoder(&mut self) -> &mut dyn Write {
        match &mut self.encoder {
            Encoder::Plain(out) => out,
            Encoder::Gzip(encoder) => encoder,
            Encoder::Zstd(encoder) => encoder,
        }
    }
}

/// Pads a file to which `length` bytes were compressed, so that loading does not refuse it as a bomb. The padding is
/// a skippable frame (RFC 8878, 3.1.2).
fn pad<W: Write>(out: &mut ByteCount<W>, length: u64) -> io::Result<()> {
    const SKIPPABLE: u32 = 0x184d_2a50;
    let least = if length > FREE { length.div_ceil(MOST_TIMES) } else { 0 };
    let Some(missing @ 1..) = least.checked_sub(out.count.get()) else { return Ok(()) };
    let padding = u32::try_from(missing).map_err(io::Error::other)?;
    out.write_all(&SKIPPABLE.to_le_bytes())?;
    out.write_all(&padding.to_le_bytes())?;
    io::copy(&mut io::repeat(0).take(missing), out).map(|_| ())
}

impl<W: Write> Write for Packer<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check(self.interrupt, "interrupted")?;
        let written = self.encoder().write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder().flush()
    }
}

/// Unpacks a file of `size` bytes: its `start`, and then the `rest`. The size of a pipe is unknown, so what was read of
/// it counts instead.
pub(super) fn unpack(
    start: Vec<u8>,
    rest: impl Read + 'static,
    size: u64,
) -> io::Result<Box<dyn Read>> {
    const GZIP: &[u8] = &[0x1f, 0x8b];
    const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
    let (is_gzip, is_zstd) = (start.starts_with(GZIP), start.starts_with(ZSTD));
    let source = ByteCount::new(Cursor::new(start).chain(rest));
    let count = Rc::clone(&source.count);
    let unpacked: Box<dyn Read> = if is_gzip {
        Box::new(MultiGzDecoder::new(BufReader::new(source)))
    } else if is_zstd {
        // The limit of the zstd program (zstd(1), --memory).
        const WINDOW_LOG: u32 = 27;
        let mut decoder = zstd::Decoder::new(source)?;
        decoder.window_log_max(WINDOW_LOG)?;
        Box::new(decoder)
    } else {
        return Ok(Box::new(source));
    };
    Ok(Box::new(Bounded { unpacked: ByteCount::new(unpacked), size, read: count }))
}

/// The output of a decompressor, up to the limits above.
struct Bounded {
    unpacked: ByteCount<Box<dyn Read>>,
    /// The size of the file, in bytes.
    size: u64,
    /// How many bytes of it were read.
    read: Rc<Cell<u64>>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.unpacked.read(buffer).map_err(in_our_words)?;
        let size = self.size.max(self.read.get());
        if is_bomb(self.unpacked.count.get(), size) {
            return Err(io::Error::other(
                "it unpacks to more than 64 MiB and 1,032 times its size, like a decompression bomb; \
                 if you trust it, unpack it first with zstd -d or gunzip",
            ));
        }
        Ok(count)
    }
}

/// Whether a file of `size` bytes may not unpack to so many.
pub(super) fn is_bomb(unpacked: u64, size: u64) -> bool {
    unpacked > FREE.max(size.saturating_mul(MOST_TIMES))
}

/// A decompressor's error in our words. Errors of the system stay as they are.
fn in_our_words(error: io::Error) -> io::Error {
    let message = match error.kind() {
        _ if error.raw_os_error().is_some() => return error,
        ErrorKind::Interrupted => return error,
        ErrorKind::UnexpectedEof => "it ends too early",
        _ => {
            "it is damaged, or takes too much memory to unpack; \
             if zstd -d or gunzip can do it, load what they make of it"
        }
    };
    io::Error::new(error.kind(), message)
}

impl<S> ByteCount<S> {
    fn new(stream: S) -> Self {
        Self { stream, count: Rc::default() }
    }

    fn add(&self, count: usize) -> usize {
        self.count.set(self.count.get() + count as u64);
        count
    }
}

impl<R: Read> Read for ByteCount<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer).map(|count| self.add(count))
    }
}

impl<W: Write> Write for ByteCount<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes).map(|count| self.add(count))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However regular a tree is, its snapshot can be loaded.
    #[test]
    fn what_is_packed_here_is_unpacked_here() {
        const LENGTH: u64 = FREE + FREE / 4;
        for form in [SnapshotForm::Zstd, SnapshotForm::Gzip, SnapshotForm::Json] {
            let interrupt = Interrupt::default();
            let mut packer = Packer::new(form, Vec::new(), &interrupt).unwrap();
            io::copy(&mut io::repeat(b' ').take(LENGTH), &mut packer).unwrap();
            let mut start = packer.finish().unwrap();
            let size = start.len() as u64;
            let rest = Cursor::new(start.split_off(4));
            let mut unpacked = unpack(start, rest, size).unwrap();
            assert_eq!(io::copy(&mut unpacked, &mut io::sink()).unwrap(), LENGTH, "{form:?}");
        }
    }
}
