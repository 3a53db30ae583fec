//! The sections of a file, whatever is in them: written one after the other, and read from front to back, or each by
//! its place. What a section says is checked before memory is taken.

use std::cell::RefCell;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::mem;
use std::rc::Rc;

use zstd::bulk::{Compressor, decompress};
use zstd::zstd_safe::{compress_bound, find_frame_compressed_size, get_frame_content_size};

use crate::from::snapshot::compression::is_bomb;
use crate::from::snapshot::header::Header;
use crate::from::snapshot::tokens::Tokens;
use crate::sys::{ReadFrom, SnapshotFile};
use crate::tree::record::{push_number, take_number};

/// The first bytes of a file.
pub const MAGIC: &[u8] = b"\x89weigh\r\n";

/// The version that is written, and the newest that can be read.
pub const FORMAT: u64 = 1;

/// The most bytes in a section.
pub const LARGEST: usize = 1 << 20;

/// The most bytes in an index: that of more than a thousand million entries. Each block takes two or more, and 24 in
/// memory.
const LONGEST_INDEX: usize = 16 << 20;

/// The kinds of sections, in their order, and the end.
const HEADER: u8 = b'H';
const DIRECTORIES: u8 = b'D';
const DIGESTS: u8 = b'C';
const INDEX: u8 = b'I';
const END: u8 = b'E';

/// The bytes of a section before its frame: its kind, and how long the frame is.
const START: usize = 5;

/// Compresses the content of a section. A package store of 5 million entries takes 76 MB with level 1, 72 with 2, and
/// 68 with 3; each level takes a fifth longer than the one before.
///
/// # Errors
/// If there is no memory.
pub fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    const LEVEL: i32 = 2;
    thread_local! {
        /// To make these for each section took a tenth of the time.
        static COMPRESSOR: RefCell<(Compressor<'static>, Vec<u8>)> = RefCell::default();
    }
    COMPRESSOR.with_borrow_mut(|(compressor, frame)| {
        compressor.set_compression_level(LEVEL)?;
        compressor.include_checksum(true)?;
        frame.clear();
        frame.reserve(compress_bound(content.len()));
        compressor.compress_to_buffer(content, frame)?;
        Ok(frame.clone())
    })
}

/// Writes the sections of a file.
pub struct Writer<W> {
    out: W,
    at: u64,
    /// What is said of each block: how long it is in the file, and how much greater the number of its first directory
    /// is than that of the block before.
    index: Vec<u8>,
    last: u64,
}

impl<W: Write> Writer<W> {
    /// Begins.
    ///
    /// # Errors
    /// The writer's, as in all that follows.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out, at: MAGIC.len() as u64, index: Vec::new(), last: 0 })
    }

    /// Adds a block, which is [packed](pack), and whose first listing is that of the directory with this number.
    pub fn block(&mut self, first: u64, frame: &[u8]) -> io::Result<()> {
        push_number(&mut self.index, (START + frame.len()) as u64);
        push_number(&mut self.index, first.saturating_sub(self.last));
        self.last = first;
        self.section(DIRECTORIES, frame)
    }

    /// Adds the digests of all directories, by their numbers.
    pub fn digests(&mut self, digests: impl Iterator<Item = u64>) -> io::Result<()> {
        let mut content = Vec::new();
        for digest in digests {
            if content.len() == LARGEST {
                self.section(DIGESTS, &pack(&content)?)?;
                content.clear();
            }
            content.extend_from_slice(&digest.to_le_bytes());
        }
        if content.is_empty() { Ok(()) } else { self.section(DIGESTS, &pack(&content)?) }
    }

    /// Adds the index, and ends the file.
    pub fn finish(mut self) -> io::Result<()> {
        let (index, begin) = (mem::take(&mut self.index), self.at);
        if index.len() > LONGEST_INDEX {
            return Err(io::Error::other("it is too large for a .weigh file"));
        }
        for part in index.chunks(LARGEST) {
            self.section(INDEX, &pack(part)?)?;
        }
        self.out.write_all(&[END])?;
        self.out.write_all(&begin.to_le_bytes())
    }

    fn section(&mut self, kind: u8, frame: &[u8]) -> io::Result<()> {
        let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
        self.out.write_all(&[kind])?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(frame)?;
        self.at += (START + frame.len()) as u64;
        Ok(())
    }
}

/// Writes text to it in sections of the header. They are so small that no text is taken for a bomb.
pub struct HeaderText<'w, W>(pub &'w mut Writer<W>);

impl<W: Write> Write for HeaderText<'_, W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        const PART: usize = 16 << 10;
        for part in text.chunks(PART) {
            self.0.section(HEADER, &pack(part)?)?;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A section as it is in the file.
pub struct Section {
    kind: u8,
    /// Which of its kind it is.
    pub number: usize,
    /// Where in the file it begins.
    offset: u64,
    frame: Vec<u8>,
}

impl Section {
    /// Its content.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn unpack(&self) -> io::Result<Vec<u8>> {
        let damaged = |what| match self.kind {
            HEADER => damaged(format_args!("the header is damaged: {what}")),
            INDEX => damaged(format_args!("the index is damaged: {what}")),
            DIGESTS => damaged(format_args!("the digests are damaged: {what}")),
            _ => damaged(format_args!("block {} is damaged: {what}", self.number)),
        };
        content_length(&self.frame).map_err(damaged)?;
        decompress(&self.frame, LARGEST).map_err(|error| {
            damaged(match error.to_string().contains("checksum") {
                true => "its checksum differs",
                false => "it cannot be unpacked",
            })
        })
    }

    /// Where it is, if it is a block that begins with the directory that has this number.
    pub fn place(&self, first: u64) -> BlockPlace {
        BlockPlace { offset: self.offset, length: (START + self.frame.len()) as u64, first }
    }
}

/// How many bytes are in a `frame`, if it has a checksum, and is of the allowed length.
fn content_length(frame: &[u8]) -> Result<usize, &'static str> {
    /// The start of a frame, in whose descriptor the lowest bits say that there is a checksum, and no dictionary (RFC
    /// 8878, 3.1.1).
    const START: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
    const CHECKED: u8 = 4;
    let descriptor = frame.strip_prefix(START).and_then(|rest| rest.first());
    if descriptor.is_none_or(|descriptor| descriptor & 7 != CHECKED) {
        return Err("it is no frame with a checksum");
    }
    if find_frame_compressed_size(frame) != Ok(frame.len()) {
        return Err("it is not as long as it says");
    }
    let length = get_frame_content_size(frame).ok().flatten();
    let length = length.ok_or("it does not say how much is in it")?;
    let length = usize::try_from(length).ok().filter(|length| *length <= LARGEST);
    length.ok_or("it says that it has more than 1 MiB")
}

/// What is wrong with a file that unpacks to too much.
pub const BOMB: &str =
    "it unpacks to more than 64 MiB and 1,032 times its size, like a decompression bomb";

/// An error of a file that is not as it should be.
#[cold]
pub fn damaged(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.to_string())
}

/// Reads the sections of a file from front to back.
pub struct Sections<R> {
    file: R,
    /// The size of the file in bytes; 0 if it is unknown.
    size: u64,
    /// How many bytes were taken.
    at: u64,
    /// How many they unpack to.
    unpacked: u64,
    /// What comes next, if that was looked at.
    next: Option<u8>,
    /// How many of the last kind there were.
    count: (u8, usize),
}

impl<R: Read> Sections<R> {
    /// Reads `file` of `size` bytes. The [`MAGIC`] bytes have been taken.
    fn new(file: R, size: u64) -> Self {
        let at = MAGIC.len() as u64;
        Self { file, size, at, unpacked: 0, next: None, count: (HEADER, 0) }
    }

    /// What comes next.
    fn kind(&mut self) -> io::Result<u8> {
        if let Some(kind) = self.next {
            return Ok(kind);
        }
        let [kind] = self.take()?;
        if ![HEADER, DIRECTORIES, DIGESTS, INDEX, END].contains(&kind) {
            return Err(damaged("a section of no known kind"));
        }
        self.next = Some(kind);
        Ok(kind)
    }

    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(early_end)?;
        self.at += N as u64;
        Ok(bytes)
    }

    /// The next section, if it is of this kind.
    fn next_of(&mut self, kind: u8) -> io::Result<Option<Section>> {
        if self.kind()? != kind {
            return Ok(None);
        }
        self.next = None;
        let offset = self.at - 1;
        let length = u32::from_le_bytes(self.take()?) as usize;
        if length > compress_bound(LARGEST) {
            return Err(damaged("a section is longer than any can be"));
        }
        let mut frame = Vec::new();
        self.file.by_ref().take(length as u64).read_to_end(&mut frame)?;
        if frame.len() < length {
            return Err(early_end(ErrorKind::UnexpectedEof.into()));
        }
        self.at += length as u64;
        self.unpacked += content_length(&frame).unwrap_or(0) as u64;
        if is_bomb(self.unpacked, self.size.max(self.at)) {
            return Err(damaged(BOMB));
        }
        let number = if self.count.0 == kind { self.count.1 } else { 0 };
        self.count = (kind, number + 1);
        Ok(Some(Section { kind, number, offset, frame }))
    }

    /// The next block; none after the last one.
    pub fn block(&mut self) -> Option<io::Result<Section>> {
        self.next_of(DIRECTORIES).transpose()
    }

    /// Passes the digests of so many `directories` to `take`, if the file has them.
    fn digests(&mut self, directories: u64, mut take: impl FnMut(u64)) -> io::Result<()> {
        let mut left = directories;
        while let Some(section) = self.next_of(DIGESTS)? {
            let content = section.unpack()?;
            let (digests, rest) = content.as_chunks();
            let more = Some(digests.len() as u64).filter(|_| rest.is_empty());
            let after = more.and_then(|more| left.checked_sub(more));
            left = after.ok_or_else(|| damaged("digests that are not of its directories"))?;
            digests.iter().for_each(|digest| take(u64::from_le_bytes(*digest)));
        }
        match left {
            left if left == 0 || left == directories => Ok(()),
            _ => Err(damaged("fewer digests than directories")),
        }
    }

    /// Reads the digests of so many `directories`, the index, which says that the blocks are at these `places`, the end,
    /// and that nothing follows.
    ///
    /// # Errors
    /// The system's, and an error if the file says otherwise.
    pub fn finish(mut self, directories: u64, places: &[BlockPlace]) -> io::Result<()> {
        let end = self.at - u64::from(self.next.is_some());
        let begin = places.first().map_or(end, |first| first.offset);
        self.digests(directories, |_| ())?;
        let index = self.at - u64::from(self.next.is_some());
        if self.places((begin, end))? != places {
            return Err(damaged("the index is wrong"));
        }
        self.end(index)?;
        match self.file.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(damaged("something after the end")),
        }
    }

    /// Reads the index: the blocks, which come one after the other between the end of the header and the index.
    fn places(&mut self, (begin, end): (u64, u64)) -> io::Result<Vec<BlockPlace>> {
        let wrong = || damaged("the index is wrong");
        let mut packed = Vec::new();
        while let Some(section) = self.next_of(INDEX)? {
            packed.extend(section.unpack()?);
            if packed.len() > LONGEST_INDEX {
                return Err(wrong());
            }
        }
        let (mut places, mut rest) = (Vec::new(), packed.as_slice());
        let (mut offset, mut first) = (begin, 0_u64);
        while !rest.is_empty() {
            let length = take_number(&mut rest).filter(|length| *length > START as u64);
            let next =
                length.and_then(|length| offset.checked_add(length)).filter(|next| *next <= end);
            let more = take_number(&mut rest).and_then(|more| first.checked_add(more));
            let ((length, next), more) = length.zip(next).zip(more).ok_or_else(wrong)?;
            first = more;
            places.push(BlockPlace { offset, length, first });
            offset = next;
        }
        Ok(places)
    }

    /// Takes the end, which says that the index begins there.
    fn end(&mut self, index: u64) -> io::Result<()> {
        if self.kind()? != END {
            return Err(damaged("a section that is not in its place"));
        }
        if u64::from_le_bytes(self.take()?) != index {
            return Err(damaged("its end does not say where the index is"));
        }
        Ok(())
    }
}

#[cold]
fn early_end(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::UnexpectedEof { damaged("it ends too early") } else { error }
}

/// Reads the header of `file`, of which the [`MAGIC`] bytes have been taken; what follows comes next.
///
/// # Errors
/// The system's, and those of an invalid header.
pub fn header<R: Read + 'static>(file: R, size: u64) -> io::Result<(Header, Sections<R>)> {
    let sections = Rc::new(RefCell::new(Sections::new(file, size)));
    let text = SavedHeader { sections: Rc::clone(&sections), part: Cursor::default() };
    let mut tokens = Tokens::new(Box::new(text));
    tokens.is_recognized = true;
    let header = Header::read(&mut tokens)?;
    drop(tokens);
    let sections = Rc::into_inner(sections).ok_or_else(|| io::Error::other("it is still read"))?;
    Ok((header, sections.into_inner()))
}

/// The text of a header, of which only one section is in memory.
struct SavedHeader<R> {
    sections: Rc<RefCell<Sections<R>>>,
    part: Cursor<Vec<u8>>,
}

impl<R: Read> Read for SavedHeader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.part.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            let Some(section) = self.sections.borrow_mut().next_of(HEADER)? else { return Ok(0) };
            self.part = Cursor::new(section.unpack()?);
        }
    }
}

/// How long the end is.
const END_LENGTH: u64 = 9;

/// Checks that `file` was written to its end, which says where the index begins. Nothing is unpacked.
///
/// # Errors
/// The system's, and an error if the end is missing.
pub fn ensure_end(mut file: SnapshotFile) -> io::Result<()> {
    let missing = || damaged("it ends too early");
    let end = file.seek(SeekFrom::End(0))?.checked_sub(END_LENGTH).ok_or_else(missing)?;
    let read = |at| ReadFrom { file: &file, at };
    let (mut kind, mut index, mut first) = ([0], [0; 8], [0]);
    read(end).read_exact(&mut kind)?;
    read(end + 1).read_exact(&mut index)?;
    let index = u64::from_le_bytes(index);
    if kind != [END] || index > end {
        return Err(missing());
    }
    // Without a tree, there is no index.
    read(index).read_exact(&mut first)?;
    if first == [INDEX] || index == end { Ok(()) } else { Err(missing()) }
}

/// The blocks of a file, each read by its place.
#[derive(Debug)]
pub struct Blocks {
    file: SnapshotFile,
    /// Where they are.
    pub places: Vec<BlockPlace>,
    /// Where they end, and where the index begins. The digests are between.
    end: u64,
    index: u64,
}

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPlace {
    /// Where in the file it begins.
    pub offset: u64,
    /// How many bytes it takes there.
    pub length: u64,
    /// The number of the directory whose listing is first.
    pub first: u64,
}

impl Blocks {
    /// Opens `file`: reads its header, its index and its end.
    ///
    /// # Errors
    /// The system's, and those of a file that is damaged there.
    pub fn open(mut file: SnapshotFile) -> io::Result<(Header, Self)> {
        let size = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).map_err(early_end)?;
        if magic != MAGIC {
            return Err(damaged("it is not a .weigh file"));
        }
        let (header, mut sections) = header(file, size)?;
        let begin = sections.at - u64::from(sections.next.take().is_some());
        let end = size.checked_sub(END_LENGTH).filter(|end| *end >= begin);
        let end = end.ok_or_else(|| damaged("it ends too early"))?;
        sections.at = sections.file.seek(SeekFrom::Start(end))?;
        let [kind] = sections.take()?;
        let index = u64::from_le_bytes(sections.take()?);
        if kind != END || !(begin..=end).contains(&index) {
            return Err(damaged("its end does not say where the index is"));
        }
        sections.at = sections.file.seek(SeekFrom::Start(index))?;
        let places = sections.places((begin, index))?;
        if sections.at != end + 1 {
            return Err(damaged("the index does not end where the file does"));
        }
        sections.end(index)?;
        let end = places.last().map_or(begin, |last| last.offset + last.length);
        let blocks = Self { file: sections.file, places, end, index };
        if end < index && blocks.sections(end).kind()? != DIGESTS {
            return Err(damaged("the index is wrong"));
        }
        Ok((header, blocks))
    }

    /// The digests of all directories, of which there are so many; none if the file has none.
    ///
    /// # Errors
    /// The system's, and an error if they are damaged.
    pub fn digests(&self, directories: u64) -> io::Result<Vec<u64>> {
        let (mut digests, index) = (Vec::new(), self.index);
        let mut sections = self.sections(self.end);
        // A file of this size at least.
        sections.size = index;
        sections.digests(directories, |digest| digests.push(digest))?;
        if sections.at - u64::from(sections.next.is_some()) != index {
            return Err(damaged("a section that is not in its place"));
        }
        Ok(digests)
    }

    /// The sections from this place on.
    fn sections(&self, at: u64) -> Sections<ReadFrom<'_>> {
        Sections { at, ..Sections::new(ReadFrom { file: &self.file, at }, u64::MAX) }
    }

    /// The content of the block with this number, after the number that it begins with, which is that of its first
    /// directory.
    ///
    /// # Errors
    /// The system's, and an error if it is damaged, or not what the index says.
    pub fn content(&self, number: usize) -> io::Result<Vec<u8>> {
        let Some(&place) = self.places.get(number) else {
            return Err(damaged(format_args!("there is no block {number}")));
        };
        let mut sections = self.sections(place.offset);
        sections.count = (DIRECTORIES, number);
        let section = sections.next_of(DIRECTORIES)?;
        let section = section.filter(|section| section.place(place.first) == place);
        let mut content = section.ok_or_else(|| other_block(number))?.unpack()?;
        let mut rest = content.as_slice();
        if take_number(&mut rest) != Some(place.first) {
            return Err(other_block(number));
        }
        let start = content.len() - rest.len();
        content.drain(..start);
        Ok(content)
    }
}

#[cold]
fn other_block(number: usize) -> io::Error {
    damaged(format_args!("block {number} is not what the index says"))
}
