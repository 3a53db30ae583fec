//! Compressed exports and lists. The first bytes of a file say how it is compressed.

use std::cell::Cell;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use crate::sys::problem::hinted;

/// Any file may unpack to this many bytes.
const FREE: u64 = 64 << 20;

/// Beyond that, a file may unpack to so many times its size. This is the most that gzip can reach (258 bytes from 2
/// bits); zstd can reach 33,000 from one byte. Snapshots in JSON unpacked to 20 to 90 times their size. A million files
/// with the same thousand names and one length reached 3,900.
pub(super) const MOST_TIMES: u64 = 1032;

/// Counts the bytes that are read.
struct ByteCount<S> {
    stream: S,
    count: Rc<Cell<u64>>,
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
            return Err(hinted(
                ErrorKind::Other,
                "it unpacks to more than 64 MiB and 1,032 times its size, like a decompression bomb\n\
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
            "it is damaged, or takes too much memory to unpack\n\
             if zstd -d or gunzip can do it, load what they make of it"
        }
    };
    hinted(error.kind(), message)
}

impl<S> ByteCount<S> {
    fn new(stream: S) -> Self {
        Self { stream, count: Rc::default() }
    }
}

impl<R: Read> Read for ByteCount<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.count.set(self.count.get() + count as u64);
        Ok(count)
    }
}
