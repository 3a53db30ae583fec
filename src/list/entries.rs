//! The entries of a list. They are sorted, so that what is in a directory comes together, right after the directory.
//! So the tree depends on no order of lines, and a tally gets it as from a walk, in memory that grows only with depth.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indexmap::IndexSet;

use super::find::LONGEST;
use super::sorted::{ListRecord, Sorter};
use crate::inode::{Identity, Links};
use crate::measure::{Figures, Kind, Mode};
use crate::snapshot::DEEPEST;
use crate::tally::Tally;
use crate::total::{Replay, Rules, Shown};
use crate::tree::{Inode, Node, Sums, Tree, record};

/// How a list is to be understood.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListOptions {
    /// Whether the line of a directory has its total, and not its own size.
    pub totals: bool,
    /// Whether the last line for a path counts. If not, several are an error.
    pub last: bool,
    /// Whether to leave out what is on another device than its root. The line of a root comes before the others.
    pub one_file_system: bool,
}

/// More roots than a command line has room for in practice. Their names have at most [`LONGEST`] bytes together.
const MOST_ROOTS: usize = 10_000;

/// What stands between the names in a key. It is less than any byte of a name, so that what is in a directory comes
/// right after it, before all siblings.
const BETWEEN: u8 = 0;

/// The bytes of a key that say which root it is below: all keys begin with them.
const ROOT: usize = size_of::<u16>();

/// The entries that were read so far.
pub struct ListEntries {
    options: ListOptions,
    roots: IndexSet<Vec<u8>>,
    /// How many bytes their names have.
    length: usize,
    /// The device of each root, if that is known.
    devices: Vec<Option<u64>>,
    /// What tells the inode of each root from others, if that is known.
    identities: Vec<Option<Identity>>,
    sorter: Sorter,
    /// The line that is being read.
    pub(super) line: u64,
    /// How many lines have begun. The number is only shown.
    pub count: Arc<AtomicU64>,
}

impl ListEntries {
    /// None so far.
    pub fn new(options: ListOptions) -> Self {
        Self {
            options,
            roots: IndexSet::new(),
            length: 0,
            devices: Vec::new(),
            identities: Vec::new(),
            sorter: Sorter::default(),
            line: 0,
            count: Arc::default(),
        }
    }

    /// Says which line is being read.
    pub fn begin(&mut self, line: u64) {
        self.line = line;
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds what is at `path` below a `root`, or the root itself if the path is empty. A `node` with no mode is a
    /// directory if something is below it, and else a file. It needs no name.
    ///
    /// # Errors
    /// The system's, and of what is no path: it has no slash at its start or end, and no name that is empty, `.` or
    /// `..`.
    pub fn add(&mut self, root: &[u8], path: &[u8], node: &Node<'_>) -> io::Result<()> {
        let number = match self.roots.get_index_of(root) {
            Some(number) => number,
            None => {
                self.length += root.len();
                if self.roots.len() == MOST_ROOTS || self.length > LONGEST {
                    return Err(self.error("too many roots"));
                }
                self.roots.insert_full(root.to_vec()).0
            }
        };
        let device = node.inode.map(|inode| inode.identity.device);
        if number == self.devices.len() {
            self.devices.push(device);
            self.identities.push(None);
        }
        if self.options.one_file_system && device != self.devices[number] {
            return Ok(());
        }
        let mut key = Vec::with_capacity(ROOT + 1 + path.len());
        key.extend_from_slice(&(number as u16).to_be_bytes());
        if path.is_empty() {
            self.identities[number] = node.inode.map(|inode| inode.identity);
        }
        let names = (!path.is_empty()).then(|| path.split(|byte| *byte == b'/'));
        for (depth, name) in names.into_iter().flatten().enumerate() {
            match name {
                _ if depth == DEEPEST => return Err(self.error("a path that is too deep")),
                b"" => return Err(self.error("a path with an empty name in it")),
                b"." | b".." => return Err(self.error("a path with . or .. in it")),
                _ if name.contains(&BETWEEN) => return Err(self.error("a path with a NUL in it")),
                _ => {}
            }
            key.push(BETWEEN);
            key.extend_from_slice(name);
        }
        let mut packed = Vec::new();
        record::push(&mut packed, &Node { name: b"", ..*node });
        self.sorter.push(ListRecord { key, line: self.line, node: packed })
    }

    /// Adds an entry at a path as programs print it: relative, perhaps after `./`, or absolute, if all are. A slash at
    /// its end says that it is a directory, and so is what it begins at.
    pub(super) fn add_printed(&mut self, path: &[u8], node: &Node<'_>) -> io::Result<()> {
        let (root, below) = match path.strip_prefix(b"/") {
            Some(below) => (&b"/"[..], below),
            None => (&b"."[..], path.strip_prefix(b"./").unwrap_or(path)),
        };
        let below = if path == b"." { b"" } else { below };
        let names = below.strip_suffix(b"/").unwrap_or(below);
        match self.roots.first() {
            _ if path.is_empty() => return Err(self.error("no path")),
            Some(first) if first != root => {
                return Err(self.error("absolute paths among relative ones"));
            }
            _ => {}
        }
        let is_directory = names.is_empty() || names.len() < below.len();
        let mode = if is_directory { Mode::usual(Kind::Directory) } else { Mode::default() };
        self.add(root, names, &Node { mode, ..*node })
    }

    /// The names of the roots that there are so far.
    pub fn roots(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.roots.iter()
    }

    /// The error that something is wrong in the line that is being read.
    #[cold]
    pub fn error(&self, what: &str) -> io::Error {
        error(self.line, what)
    }

    /// Feeds `tally` with all of them, with their times if it `has_times`.
    ///
    /// # Errors
    /// The system's, of lines that contradict each other, and if there are none.
    pub fn replay<T: Tally>(self, tally: T, has_times: bool) -> io::Result<Tree> {
        let Self { options, roots, identities, sorter, .. } = self;
        if roots.is_empty() {
            return Err(io::Error::new(ErrorKind::InvalidData, "nothing is in the list"));
        }
        let are_several = roots.len() > 1;
        let mut replay = Replay::adding_up(tally, are_several.into(), Rules::default());
        if are_several {
            replay.open();
        }
        let numbered = identities.into_iter().zip(0_u16..);
        let numbers: HashMap<_, _> =
            numbered.filter_map(|(it, number)| Some((it?, number))).collect();
        let mut place = ListPlace { roots, totals: options.totals, ..ListPlace::default() };
        let mut records = sorter.sorted()?.peekable();
        while let Some(record) = records.next().transpose()? {
            let next = records.peek().and_then(|next| next.as_ref().ok());
            if let Some(next) = next.filter(|next| next.key == record.key) {
                if options.last {
                    continue;
                }
                return Err(error(next.line, &format!("the path of line {} again", record.line)));
            }
            let rest = next.and_then(|next| next.key.strip_prefix(&record.key[..]));
            let has_below = rest.is_some_and(|rest| rest.first() == Some(&BETWEEN));
            let (key, line) = (&record.key, EntryLine::new(&record, has_below, has_times)?);
            let shared = place.shared(key);
            let root = line.identity().and_then(|identity| numbers.get(&identity));
            if root.is_some_and(|root| !key.starts_with(&root.to_be_bytes())) {
                return Err(error(line.number, "one of the PATHs is in another, or the same"));
            }
            while !place.contains(key, shared) {
                replay.close(&place.close()?, Shown::Always);
            }
            for _ in 0..place.open(key, &line) {
                replay.open();
            }
            if line.is_directory() {
                continue;
            }
            if place.directories.is_empty() && !are_several {
                return Ok(replay.finish(&place.leaf(&line)));
            }
            replay.leaf(&place.leaf(&line), true);
        }
        let root_depth = usize::from(!are_several);
        while place.directories.len() > root_depth {
            replay.close(&place.close()?, Shown::Always);
        }
        match are_several {
            true => Ok(replay.finish(&Node { mode: Mode::DIRECTORY, ..Node::default() })),
            false => Ok(replay.finish(&place.close()?)),
        }
    }
}

/// The error that something is wrong in a line.
fn error(line: u64, what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("line {line}: {what}"))
}

/// What a line says of an entry.
#[derive(Clone, Copy)]
struct EntryLine {
    number: u64,
    mode: Mode,
    figures: Figures,
    inode: Option<Inode>,
}

impl EntryLine {
    fn new(record: &ListRecord, has_below: bool, has_times: bool) -> io::Result<Self> {
        let ListRecord { line: number, node, .. } = record;
        let node = record::take(&mut &node[..]).ok_or(ErrorKind::InvalidData)?;
        let Node { mode, sums, inode, .. } = node;
        let mode = match (mode == Mode::default(), has_below) {
            (true, true) => Mode::usual(Kind::Directory),
            (true, false) => Mode::usual(Kind::File),
            (false, true) if mode.kind() != Kind::Directory => {
                return Err(error(*number, "something is below it, and it is no directory"));
            }
            (false, _) => mode,
        };
        let Figures { disk, length, newest, .. } = sums.all;
        let newest = newest.filter(|_| has_times);
        let figures = Figures { disk, length, newest, ..Figures::counts_of(mode.kind()) };
        Ok(Self { number: *number, mode, figures, inode })
    }

    /// What tells its inode from others, if that counts with each line.
    fn identity(&self) -> Option<Identity> {
        let inode = self.inode?;
        (self.is_directory() || inode.links == Links::Alone).then_some(inode.identity)
    }

    fn is_directory(&self) -> bool {
        self.mode.kind() == Kind::Directory
    }
}

/// A directory whose content is being fed.
struct ListedDirectory {
    /// Where its name begins in the key, and where it ends.
    start: usize,
    end: usize,
    /// None if it has no line.
    line: Option<EntryLine>,
    /// The bytes on disk and of content below it.
    below: [u64; 2],
}

/// The place of the entry that is being fed.
#[derive(Default)]
struct ListPlace {
    roots: IndexSet<Vec<u8>>,
    totals: bool,
    key: Vec<u8>,
    directories: Vec<ListedDirectory>,
}

impl ListPlace {
    /// How many bytes at its start this key has in common with that of the entry.
    fn shared(&self, key: &[u8]) -> usize {
        self.key.iter().zip(key).take_while(|(one, other)| one == other).count()
    }

    /// Whether the innermost directory contains what has this key, of which so many bytes are `shared`.
    fn contains(&self, key: &[u8], shared: usize) -> bool {
        let Some(&ListedDirectory { end, .. }) = self.directories.last() else { return true };
        end <= shared && key.get(end) == Some(&BETWEEN)
    }

    /// Goes to the entry with this key, and opens the directories that it is in, and itself if it is one. Returns how
    /// many.
    fn open(&mut self, key: &[u8], line: &EntryLine) -> usize {
        let before = self.directories.len();
        self.key.clear();
        self.key.extend_from_slice(key);
        // The name of the root is not in its key.
        let from = self.start().max(ROOT);
        let ends = (from..key.len()).filter(|at| key[*at] == BETWEEN);
        let itself = line.is_directory().then_some((key.len(), Some(*line)));
        for (end, line) in ends.map(|end| (end, None)).chain(itself) {
            let start = self.start();
            self.directories.push(ListedDirectory { start, end, line, below: [0; 2] });
        }
        self.directories.len() - before
    }

    /// Where the name begins that is right below the innermost directory.
    fn start(&self) -> usize {
        self.directories.last().map_or(0, |directory| directory.end + 1)
    }

    /// What has a name in the key, or is a root.
    fn name(&self, start: usize, end: usize) -> &[u8] {
        if start > 0 {
            return &self.key[start..end];
        }
        let root = self.key.first_chunk().map_or(0, |root| u16::from_be_bytes(*root));
        self.roots.get_index(root.into()).map_or(b"", |name| name)
    }

    /// What a line says of what is no directory.
    fn leaf(&mut self, line: &EntryLine) -> Node<'_> {
        let Figures { disk, length, .. } = line.figures;
        self.count([disk, length]);
        let name = self.name(self.start(), self.key.len());
        let sums = Sums::of(line.figures);
        Node { name, mode: line.mode, sums, inode: line.inode, ..Node::default() }
    }

    /// Closes the innermost directory.
    fn close(&mut self) -> io::Result<Node<'_>> {
        let Some(ListedDirectory { start, end, line, below }) = self.directories.pop() else {
            return Ok(Node::default());
        };
        let mut own = line.map(|line| line.figures);
        if let (Some(own), Some(line), true) = (&mut own, line, self.totals) {
            let (disk, length) = (own.disk.checked_sub(below[0]), own.length.checked_sub(below[1]));
            (own.disk, own.length) = disk.zip(length).ok_or_else(|| {
                error(line.number, "its total is less than the sizes of what is in it")
            })?;
        }
        let Figures { disk, length, .. } = own.unwrap_or_default();
        self.count([below[0].saturating_add(disk), below[1].saturating_add(length)]);
        let mode = line.map_or(Mode::usual(Kind::Directory), |line| line.mode);
        // The links of a directory do not count.
        let inode = line.and_then(|line| line.inode);
        let inode = inode.map(|inode| Inode { links: Links::Alone, ..inode });
        Ok(Node { name: self.name(start, end), mode, own, inode, ..Node::default() })
    }

    /// Counts what is in the innermost directory.
    fn count(&mut self, amounts: [u64; 2]) {
        let Some(ListedDirectory { below, .. }) = self.directories.last_mut() else { return };
        for (below, amount) in below.iter_mut().zip(amounts) {
            *below = below.saturating_add(amount);
        }
    }
}
