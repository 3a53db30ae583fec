//! Writes a `.weigh` file of a tree that is not there: `large FILE [ENTRIES]`, by default of 100 million entries. It
//! writes while it makes them up, as docs/format.md says and without weigh, in the memory of a few thousand totals.
//!
//! Half of the files are in directories of 10,000 files, and half in trees of 500 directories with 20 files each. A
//! hundred directories in the root contain these in turn. Every size and time hangs on where the file is.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: large FILE [ENTRIES]";

/// Directories in the root.
const GROUPS: u64 = 100;
/// Files in each of the directories below these.
const FILES: u64 = 10_000;
/// Subdirectories of every second of them, with an equal part of its files in each.
const DIRECTORIES: u64 = 500;

/// What a section unpacks to, when it is closed.
const SECTION: usize = 256 << 10;

/// When directories were modified; and the time from which records count.
const TIME: i64 = 1_750_000_000;
const USUAL_TIME: i64 = 1_704_067_200;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let entries = arguments.get(1).map_or(Ok(100_000_000), |it| it.replace('_', "").parse());
    let (Some(path), Ok(entries), 1..=2) = (arguments.first(), entries, arguments.len()) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match File::create(path).and_then(|file| write(BufWriter::new(file), entries)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("large: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What is known of an entry, or a directory comes to.
#[derive(Clone, Copy, Default)]
struct Figures {
    disk: u64,
    length: u64,
    files: u64,
    inodes: u64,
    newest: i64,
}

impl Figures {
    const DIRECTORY: Self = Self { disk: 4096, length: 4096, files: 0, inodes: 1, newest: TIME };

    /// Those of a file: mostly small, and a few large ones.
    fn of_file(unit: u64, number: u64) -> Self {
        let random = mixed(unit * FILES + number);
        let length = (random >> 8) % (1 << (4 + random % 20)) + 1;
        let newest = TIME - (random >> 40) as i64;
        Self { disk: length.div_ceil(4096) * 4096, length, files: 1, inodes: 1, newest }
    }

    fn sum(own: Self, parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(own, |sum, part| Self {
            disk: sum.disk + part.disk,
            length: sum.length + part.length,
            files: sum.files + part.files,
            inodes: sum.inodes + part.inodes,
            newest: sum.newest.max(part.newest),
        })
    }
}

/// A number that looks random (splitmix64).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// How many directories are in each directory below the groups.
fn directories_in(unit: u64) -> u64 {
    if unit.is_multiple_of(2) { DIRECTORIES } else { 0 }
}

/// What the directory with this number in a unit comes to.
fn directory_figures(unit: u64, directory: u64) -> Figures {
    Figures::sum(Figures::DIRECTORY, files_of(directory).map(|it| Figures::of_file(unit, it)))
}

/// The numbers of its files.
fn files_of(directory: u64) -> std::ops::Range<u64> {
    let each = FILES / DIRECTORIES;
    directory * each..(directory + 1) * each
}

fn write(out: impl Write, entries: u64) -> io::Result<()> {
    // Half of them have as many files, and their directories.
    let units = entries.div_ceil(FILES + DIRECTORIES / 2 + 1).max(GROUPS);
    let figures: Vec<Figures> = (0..units)
        .map(|unit| {
            let files = (0..FILES).map(|file| Figures::of_file(unit, file));
            let directories = (0..directories_in(unit)).map(|_| Figures::DIRECTORY);
            Figures::sum(Figures::DIRECTORY, files.chain(directories))
        })
        .collect();
    let of_group = |group: u64| (group * units / GROUPS)..((group + 1) * units / GROUPS);
    let below = |units: std::ops::Range<u64>| units.map(|unit| 1 + directories_in(unit)).sum();
    let groups: Vec<(Figures, u64)> = (0..GROUPS)
        .map(|group| {
            let parts = of_group(group).map(|unit| figures[unit as usize]);
            (Figures::sum(Figures::DIRECTORY, parts), below(of_group(group)))
        })
        .collect();
    let root = Figures::sum(Figures::DIRECTORY, groups.iter().map(|group| group.0));
    let root_below = groups.iter().map(|group| group.1 + 1).sum::<u64>();

    let mut sections = Sections::new(out, root_below + 1)?;
    sections.start();
    push_directory(&mut sections.content, b"made-up", &root, root_below);
    for (group, (figures, below)) in groups.iter().enumerate() {
        push_directory(
            &mut sections.directories,
            format!("group-{group:02}").as_bytes(),
            figures,
            *below,
        );
    }
    sections.end_listing()?;
    for group in 0..GROUPS {
        for unit in of_group(group) {
            let name = format!("unit-{unit:06}");
            push_directory(
                &mut sections.directories,
                name.as_bytes(),
                &figures[unit as usize],
                directories_in(unit),
            );
        }
        sections.end_listing()?;
        for unit in of_group(group) {
            unit_listings(&mut sections, unit)?;
        }
    }
    sections.finish()
}

/// Writes the listing of a unit, and those of the directories in it.
fn unit_listings<W: Write>(sections: &mut Sections<W>, unit: u64) -> io::Result<()> {
    if directories_in(unit) == 0 {
        for file in 0..FILES {
            sections.push_file(unit, file)?;
        }
        return sections.end_listing();
    }
    for directory in 0..DIRECTORIES {
        let figures = directory_figures(unit, directory);
        let name = format!("dir-{directory:03}");
        push_directory(&mut sections.directories, name.as_bytes(), &figures, 0);
    }
    sections.end_listing()?;
    for directory in 0..DIRECTORIES {
        for file in files_of(directory) {
            sections.push_file(unit, file)?;
        }
        sections.end_listing()?;
    }
    Ok(())
}

/// Writes sections.
struct Sections<W> {
    out: W,
    /// How many bytes were written.
    length: u64,
    content: Vec<u8>,
    /// The next piece.
    directories: Vec<u8>,
    leaves: Vec<u8>,
    /// The number of the directory whose listing is being written, and of the first one in the section.
    number: u64,
    first: u64,
    index: Vec<u8>,
    /// The first directory of the section before.
    before: u64,
}

impl<W: Write> Sections<W> {
    fn new(mut out: W, directories: u64) -> io::Result<Self> {
        out.write_all(b"\x89weigh\r\n")?;
        let (content, leaves, index) = (Vec::new(), Vec::new(), Vec::new());
        let mut sections = Self {
            out,
            length: 8,
            content,
            directories: Vec::new(),
            leaves,
            number: 0,
            first: 0,
            index,
            before: 0,
        };
        let header = format!(
            r#"{{"schema":1,"tool":"weigh","version":"0.3.0","measure":"disk","unit":"bytes","complete":true,"time":{TIME},"host":"nowhere","roots":[{{"path":"/made-up","name":"made-up"}}],"options":[],"figures":["disk","apparent","files","inodes","modified"],"details":false,"errors":[],"format":1,"directories":{directories}}}"#
        );
        sections.section(b'H', header.as_bytes())?;
        Ok(sections)
    }

    /// Writes a section, and returns how long it is.
    fn section(&mut self, kind: u8, content: &[u8]) -> io::Result<u64> {
        let mut packer = zstd::bulk::Compressor::new(3)?;
        packer.include_checksum(true)?;
        let frame = packer.compress(content)?;
        let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
        self.out.write_all(&[kind])?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&frame)?;
        self.length += 5 + u64::from(length);
        Ok(5 + u64::from(length))
    }

    /// Begins a section of directories with the listing that comes next.
    fn start(&mut self) {
        self.first = self.number;
        push_number(&mut self.content, self.number);
    }

    fn push_file(&mut self, unit: u64, number: u64) -> io::Result<()> {
        let name = format!("{number:05}-{:06x}.dat", mixed(number ^ unit) & 0xff_ffff);
        let figures = Figures::of_file(unit, number);
        push(&mut self.leaves, name.as_bytes(), 0o100_644, &figures, 4);
        if self.content.len() + self.leaves.len() > SECTION {
            self.piece(false);
            self.close()?;
            self.start();
        }
        Ok(())
    }

    fn end_listing(&mut self) -> io::Result<()> {
        self.piece(true);
        self.number += 1;
        if self.content.len() > SECTION {
            self.close()?;
            self.start();
        }
        Ok(())
    }

    fn piece(&mut self, is_last: bool) {
        let Self { content, directories, leaves, .. } = self;
        push_number(content, directories.len() as u64 * 2 + u64::from(is_last));
        push_number(content, leaves.len() as u64);
        content.append(directories);
        content.append(leaves);
    }

    /// Writes a section of directories.
    fn close(&mut self) -> io::Result<()> {
        let content = std::mem::take(&mut self.content);
        let length = self.section(b'D', &content)?;
        push_number(&mut self.index, length);
        push_number(&mut self.index, self.first - self.before);
        self.before = self.first;
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        // Without a listing there is no section.
        if self.first < self.number {
            self.close()?;
        }
        let (begin, index) = (self.length, std::mem::take(&mut self.index));
        for part in index.chunks(SECTION) {
            self.section(b'I', part)?;
        }
        self.out.write_all(b"E")?;
        self.out.write_all(&begin.to_le_bytes())?;
        self.out.flush()
    }
}

/// Packs an entry with its time, and whatever else is in `more`.
fn push(to: &mut Vec<u8>, name: &[u8], mode: u64, figures: &Figures, more: u64) {
    push_number(to, (name.len() as u64) << 2 | 2);
    to.extend_from_slice(name);
    push_number(to, mode ^ 0o100_644);
    push_number(to, figures.disk);
    push_signed(to, figures.length.wrapping_sub(figures.disk).cast_signed());
    push_number(to, more);
    if more & 32 != 0 {
        push_number(to, figures.files);
        push_number(to, figures.inodes);
    }
    push_signed(to, figures.newest - USUAL_TIME);
}

fn push_directory(to: &mut Vec<u8>, name: &[u8], figures: &Figures, below: u64) {
    push(to, name, 0o040_755, figures, 4 | 32);
    // As many entries as inodes, and nothing shared.
    to.extend_from_slice(&[0, 0]);
    // Its own figures: all of them, as long as they are large, with a time.
    push_number(to, 6);
    push_number(to, Figures::DIRECTORY.disk);
    to.extend_from_slice(&[0, 0, 1]);
    push_signed(to, TIME);
    push_number(to, below);
}

fn push_signed(to: &mut Vec<u8>, number: i64) {
    push_number(to, (number << 1 ^ number >> 63) as u64);
}

fn push_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}
