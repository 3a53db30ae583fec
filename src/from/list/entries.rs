//! The entries of a list, from whatever reads one. Each is a record: its key, an end, its line, how many entries come
//! before it in that line, and what it says. They sort so that what is in a directory comes together, right after the
//! directory, and entries of one path in their order.

use std::io::{self, ErrorKind};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indexmap::IndexMap;

use super::find::LONGEST;
use super::sorted::{Sorter, of_temporary_file};
use crate::base::inode::{Identity, Links};
use crate::base::measure::{Figures, Kind, Mode};
use crate::base::path;
use crate::from::snapshot::DEEPEST;
use crate::sys::problem::hinted;
use crate::tree::{Inode, Node, Sums, record};

/// How a list is to be understood.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListOptions {
    /// Whether the line of a directory has its total, and not its own size. If that is not said, a list that looks like
    /// that is refused.
    pub totals: Option<bool>,
    /// What several lines for a path are.
    pub duplicates: Duplicates,
    /// Whether to leave out what is on another device than its root. The line of a root comes before the others.
    pub one_file_system: bool,
}

/// What it means that a path comes again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Something is wrong.
    #[default]
    Refused,
    /// The last line replaces those before.
    Last,
    /// Each is something else, and all count.
    All,
}

/// More roots than a command line has room for. Their names have at most [`LONGEST`] bytes together.
const MOST_ROOTS: usize = 1 << 20;

/// What stands between the names in a key. It is less than any byte of a name, so that what is in a directory comes
/// right after it, before all siblings.
pub(super) const BETWEEN: u8 = 0;

/// The bytes of a key that say which root it is below: all keys begin with them.
pub(super) const ROOT: usize = size_of::<u32>();

/// What ends a key. No key has it in it, because no name is empty; and it is less than what may follow instead.
const KEY_END: [u8; 2] = [BETWEEN; 2];

/// The entries that were read so far.
#[derive(Default)]
pub struct ListEntries {
    pub(super) options: ListOptions,
    /// The name of each root, and what tells its inode from others, if that is known.
    pub(super) roots: IndexMap<Vec<u8>, Option<Identity>>,
    /// How many bytes their names have.
    length: usize,
    /// The last entry.
    record: Vec<u8>,
    pub(super) sorter: Sorter,
    /// How many lists were begun, and the line that is being read in the last.
    files: u64,
    pub(super) line: u64,
    /// The line of the last entry, and how many before it were in the same: JSON needs no lines.
    last: (u64, u32),
    /// How many there are. The number is only shown.
    pub count: Arc<AtomicU64>,
}

/// What a line says of an entry. With no mode, it is a directory if something is below it, and else a file.
#[derive(Clone, Copy, Default)]
pub(super) struct EntryLine {
    pub(super) number: u64,
    pub(super) mode: Mode,
    /// What an inode counts follows from the mode.
    pub(super) figures: Figures,
    pub(super) inode: Option<Inode>,
    /// Whether the program that made the list does not know its size.
    pub(super) is_unsized: bool,
}

impl ListEntries {
    /// None so far.
    pub fn new(options: ListOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Adds what is at `path` below a `root`, or the root itself if the path is empty.
    ///
    /// # Errors
    /// The system's, and of what is no path: it has no slash at its start or end, and names that entries can
    /// have.
    pub(super) fn add(&mut self, root: &[u8], path: &[u8], entry: EntryLine) -> io::Result<()> {
        let number = self.root(root)?;
        let identity = entry.inode.map(|inode| inode.identity);
        if path.is_empty() {
            self.roots[number] = identity;
        }
        let device = |identity: Option<Identity>| identity.map(|identity| identity.device);
        if self.options.one_file_system && device(identity) != device(self.roots[number]) {
            return Ok(());
        }
        let mut record = mem::take(&mut self.record);
        record.clear();
        record.extend_from_slice(&(number as u32).to_be_bytes());
        let names = (!path.is_empty()).then(|| path.split(|byte| *byte == b'/'));
        for (depth, name) in names.into_iter().flatten().enumerate() {
            if depth == DEEPEST {
                return Err(self.error("a path that is too deep"));
            }
            if name.is_empty() {
                let what = "a path with an empty name in it: tr -s / makes one slash of several";
                return Err(self.error(what));
            }
            path::ensure_name(name, false).map_err(|what| self.error(&what))?;
            record.push(BETWEEN);
            record.extend_from_slice(name);
        }
        record.extend_from_slice(&KEY_END);
        let before = if self.last.0 == self.line { self.last.1.saturating_add(1) } else { 0 };
        self.last = (self.line, before);
        record.extend_from_slice(&self.number().to_be_bytes());
        record.extend_from_slice(&before.to_be_bytes());
        entry.pack(&mut record);
        self.sorter.push(&record).map_err(of_temporary_file)?;
        self.record = record;
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// The number of the root with this name.
    fn root(&mut self, name: &[u8]) -> io::Result<usize> {
        if let Some(number) = self.roots.get_index_of(name) {
            return Ok(number);
        }
        path::ensure_name(name, true).map_err(|what| self.error(&what))?;
        self.length += name.len();
        if self.roots.len() == MOST_ROOTS || self.length > LONGEST {
            return Err(self.error("too many roots"));
        }
        Ok(self.roots.insert_full(name.to_vec(), None).0)
    }

    /// Adds an entry at a path as programs print it: relative, perhaps after `./`, or absolute, if all are. Several
    /// slashes at its start count as one: `find //` prints them. A slash at its end says that it is a directory, and so
    /// is what the path begins at; else the entry's mode says what it is.
    pub(super) fn add_printed(&mut self, path: &[u8], entry: EntryLine) -> io::Result<()> {
        let (root, below) = match path {
            b"." => (&b"."[..], &b""[..]),
            [b'/', below @ ..] => (&b"/"[..], without_slashes(below)),
            [b'.', b'/', below @ ..] => (&b"."[..], without_slashes(below)),
            below => (&b"."[..], below),
        };
        let names = below.strip_suffix(b"/").unwrap_or(below);
        match self.roots.first() {
            _ if path.is_empty() => return Err(self.error("no path")),
            Some((first, _)) if first != root => {
                return Err(self.error("absolute paths among relative ones: put ./ before all"));
            }
            _ => {}
        }
        let is_directory = names.is_empty() || names.len() < below.len();
        let mode = if is_directory { Mode::usual(Kind::Directory) } else { entry.mode };
        self.add(root, names, EntryLine { mode, ..entry })
    }

    /// The number of the line that is being read, which no other has.
    pub(super) fn number(&self) -> u64 {
        self.files.saturating_sub(1) << LINES | self.line
    }

    /// Begins another list, whose entries are added to those before.
    pub(super) fn begin_file(&mut self) {
        (self.files, self.line, self.last) = (self.files + 1, 0, (0, 0));
    }

    /// The names of the roots that there are so far.
    pub fn roots(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.roots.keys()
    }

    /// The names of the roots that have a line themselves.
    pub fn roots_with_lines(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.roots.iter().filter_map(|(name, identity)| identity.map(|_| name))
    }

    /// The error that something is wrong in the line that is being read.
    #[cold]
    pub(super) fn error(&self, what: &str) -> io::Error {
        error(self.line, what)
    }

    /// The same, with what to do about it.
    #[cold]
    pub(super) fn error_with(&self, what: &str, hint: &str) -> io::Error {
        let what = format!("{}: {what}\n{hint}", line_name(self.line));
        hinted(ErrorKind::InvalidData, what)
    }
}

/// `path` without the slashes at its start.
fn without_slashes(mut path: &[u8]) -> &[u8] {
    while let [b'/', rest @ ..] = path {
        path = rest;
    }
    path
}

/// The key of a record, and what comes after its end.
pub(super) fn split(record: &[u8]) -> (&[u8], &[u8]) {
    let names = record.get(ROOT..).unwrap_or_default();
    let end = names.windows(KEY_END.len()).position(|bytes| bytes == KEY_END);
    let (key, rest) = record.split_at(end.map_or(record.len(), |end| ROOT + end));
    (key, rest.strip_prefix(&KEY_END).unwrap_or_default())
}

/// Above these bits of the number of a line is how many lists come before its own.
const LINES: u32 = 40;

/// The words for the line with this number.
pub(super) fn line_name(number: u64) -> String {
    match number >> LINES {
        0 => format!("line {number}"),
        before => format!("line {} of file {}", number & ((1 << LINES) - 1), before + 1),
    }
}

/// The error that something is wrong in a line.
#[cold]
pub(super) fn error(number: u64, what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("{}: {what}", line_name(number)))
}

impl EntryLine {
    /// Adds it to a `record`.
    fn pack(&self, record: &mut Vec<u8>) {
        let Self { mode, figures, inode, is_unsized, .. } = *self;
        let Figures { disk, length, newest, .. } = figures;
        let figures = Figures { disk, length, newest, ..Figures::counts_of(mode.kind()) };
        record.push(is_unsized.into());
        record::push(record, &Node { mode, sums: Sums::of(figures), inode, ..Node::default() });
    }

    /// Takes it from the `rest` of a record, after the key. `has_times` says whether its time is kept. Until it
    /// is [`known`](Self::known), what has no mode counts as a file.
    pub(super) fn unpack(rest: &[u8], has_times: bool) -> io::Result<Self> {
        let (number, rest) = rest.split_first_chunk().ok_or(ErrorKind::InvalidData)?;
        let (_, rest) =
            rest.split_first_chunk::<{ size_of::<u32>() }>().ok_or(ErrorKind::InvalidData)?;
        let (is_unsized, mut node) = rest.split_first().ok_or(ErrorKind::InvalidData)?;
        let Node { mode, sums, inode, .. } =
            record::take(&mut node).ok_or(ErrorKind::InvalidData)?;
        let kind = if mode == Mode::default() { Kind::File } else { mode.kind() };
        let Figures { disk, length, newest, .. } = sums.all;
        let newest = newest.filter(|_| has_times);
        let figures = Figures { disk, length, newest, ..Figures::counts_of(kind) };
        let number = u64::from_be_bytes(*number);
        Ok(Self { number, mode, figures, inode, is_unsized: *is_unsized != 0 })
    }

    /// Adds what another line says of something else at the same path.
    pub(super) fn add(&mut self, other: &Self) {
        let is_same = |inode: &Inode| {
            let other = other.inode.map(|other| other.identity);
            inode.links.are_several() && Some(inode.identity) == other
        };
        if self.inode.as_ref().is_some_and(is_same) {
            return;
        }
        let (one, two) = (self.figures, other.figures);
        self.figures = Figures {
            disk: one.disk.saturating_add(two.disk),
            length: one.length.saturating_add(two.length),
            files: one.files + two.files,
            inodes: one.inodes + two.inodes,
            newest: one.newest.max(two.newest),
        };
        if other.is_directory() || self.mode == Mode::default() {
            self.mode = other.mode;
        }
        self.inode = self.inode.map(|inode| Inode { links: Links::Alone, ..inode });
        self.is_unsized |= other.is_unsized;
    }

    /// The same, as it is known when all lines have been read: `has_below` says whether something is below it.
    pub(super) fn known(mut self, has_below: bool) -> io::Result<Self> {
        match (self.mode == Mode::default(), has_below) {
            (true, true) => {
                self.mode = Mode::usual(Kind::Directory);
                self.figures.files = 0;
            }
            (true, false) => self.mode = Mode::usual(Kind::File),
            (false, true) if !self.is_directory() => {
                return Err(error(self.number, "something is below it, and it is no directory"));
            }
            (false, _) => {}
        }
        Ok(self)
    }

    pub(super) fn is_directory(&self) -> bool {
        self.mode.kind() == Kind::Directory
    }
}
