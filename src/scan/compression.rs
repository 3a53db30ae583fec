//! How a saved scan is compressed: written as its name's ending says, read as its first bytes say.

use std::io::{self, BufReader, BufWriter, Cursor, Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// Whether what is saved at `path` is compressed, as its ending says.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == GZIP || ending == ZSTD)
}

const GZIP: &str = "gz";
const ZSTD: &str = "zst";

/// Compresses what is written to it.
pub enum Packer<W: Write> {
    /// Not at all.
    Plain(BufWriter<W>),
    /// As gzip (RFC 1952).
    Gzip(Box<GzEncoder<W>>),
    /// As zstd (RFC 8878).
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Packer<W> {
    /// As the ending of `path` says.
    pub(super) fn new(path: &Path, out: W) -> io::Result<Self> {
        /// Takes 11.9 bytes an entry on a package store of 5 million, and so long that two threads are
        /// not much slower than the one that writes the JSON; one level more takes a third longer.
        const ZSTD_LEVEL: i32 = 5;
        const ZSTD_THREADS: u32 = 2;
        let ending = path.extension().unwrap_or_default();
        if ending == GZIP {
            let encoder = GzEncoder::new(out, flate2::Compression::default());
            return Ok(Packer::Gzip(Box::new(encoder)));
        }
        if ending != ZSTD {
            return Ok(Packer::Plain(BufWriter::new(out)));
        }
        let mut encoder = zstd::Encoder::new(out, ZSTD_LEVEL)?;
        // A flipped bit in the file is not to go unnoticed.
        encoder.include_checksum(true)?;
        encoder.multithread(ZSTD_THREADS)?;
        Ok(Packer::Zstd(encoder))
    }

    /// Writes what is left, and gives back where it was written.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Packer::Plain(out) => Ok(out.into_inner()?),
            Packer::Gzip(encoder) => encoder.finish(),
            Packer::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packer::Plain(out) => out.write(bytes),
            Packer::Gzip(encoder) => encoder.write(bytes),
            Packer::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packer::Plain(out) => out.flush(),
            Packer::Gzip(encoder) => encoder.flush(),
            Packer::Zstd(encoder) => encoder.flush(),
        }
    }
}

/// What `source` holds, decompressed.
pub(super) fn unpack(mut source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    const GZIP: &[u8] = &[0x1f, 0x8b];
    const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
    let mut start = Vec::new();
    source.by_ref().take(ZSTD.len() as u64).read_to_end(&mut start)?;
    let (is_gzip, is_zstd) = (start.starts_with(GZIP), start == ZSTD);
    let source = Cursor::new(start).chain(source);
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(BufReader::new(source)))
    } else if is_zstd {
        Box::new(zstd::Decoder::new(source)?)
    } else {
        Box::new(source)
    })
}
