//! Feeds a tally with the entries of a list, sorted: so the tree depends on no order of lines, and the tally gets it as
//! from a walk, in memory that grows only with depth.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::mem;

use indexmap::IndexMap;

use super::entries::{BETWEEN, Duplicates, EntryLine, ListEntries, ROOT, error, line_name, split};
use super::sorted::{SortedRecords, of_temporary_file, shared};
use crate::base::inode::{Identity, Links};
use crate::base::measure::{Figures, Kind, Mode, View};
use crate::base::path;
use crate::sys::problem::{Operation, Problem};
use crate::tree::total::{BeginReplay, Rules, Shown};
use crate::tree::{Inode, Node, Sums, Tree};

/// What came up while the entries of a list were fed to a tally.
#[derive(Debug, Default)]
pub struct ListFindings {
    /// Whether the lines of directories seem to have totals, and not their own sizes as it was said.
    pub seem_totals: bool,
    /// The entries of unknown size.
    pub problems: Vec<Problem>,
}

impl ListEntries {
    /// Feeds what `begin` makes for a `view` with all of them, with their times if it `has_times`.
    ///
    /// # Errors
    /// The system's, of lines that contradict each other, and if there are none.
    pub fn replay(
        self,
        begin: BeginReplay<'_>,
        view: View,
        has_times: bool,
    ) -> io::Result<(Tree, ListFindings)> {
        let Self { options, roots, sorter, .. } = self;
        if roots.is_empty() {
            return Err(io::Error::new(ErrorKind::InvalidData, "nothing is in the list"));
        }
        let are_several = roots.len() > 1;
        let mut replay = begin(view, are_several.into(), Some(Rules::default()));
        if are_several {
            replay.open();
        }
        let numbered = roots.values().zip(0_u32..);
        let numbers: HashMap<_, _> =
            numbered.filter_map(|(root, number)| Some(((*root)?, number))).collect();
        let mut place = ListPlace { roots, totals: options.totals, ..ListPlace::default() };
        let mut records = sorter.sorted().map_err(of_temporary_file)?;
        let (mut record, mut next) = (Vec::new(), Vec::new());
        // What lines before said of the path, if all of them count.
        let mut before: Option<EntryLine> = None;
        let mut has_next = records.next(&mut next).map_err(of_temporary_file)?;
        while has_next {
            mem::swap(&mut record, &mut next);
            has_next = records.next(&mut next).map_err(of_temporary_file)?;
            let ((key, rest), (next_key, next_rest)) = (split(&record), split(&next));
            let further = next_key.strip_prefix(key).filter(|_| has_next);
            let is_again = further.is_some_and(<[u8]>::is_empty);
            if is_again && options.duplicates == Duplicates::Last {
                continue;
            }
            let mut line = EntryLine::unpack(rest, has_times)?;
            if let Some(before) = before.take() {
                line.add(&before);
            }
            if is_again && options.duplicates == Duplicates::All {
                before = Some(line);
                continue;
            }
            if is_again {
                let again = EntryLine::unpack(next_rest, false)?.number;
                let what = format!(
                    "the path of {} again: --from-format tar takes the last, and drive counts both",
                    line_name(line.number)
                );
                return Err(error(again, &what));
            }
            let has_below = further.is_some_and(|further| further.first() == Some(&BETWEEN));
            let line = line.known(has_below)?;
            let root = line.alone().and_then(|identity| numbers.get(&identity));
            if root.is_some_and(|root| !key.starts_with(&root.to_be_bytes())) {
                return Err(error(line.number, "one of the PATHs is in another, or the same"));
            }
            let shared = shared(&place.key, key);
            while !place.contains(key, shared) {
                replay.close(&place.close()?, Shown::Always);
            }
            for _ in 0..place.open(key, &line) {
                replay.open();
            }
            if line.is_directory() {
                continue;
            }
            if line.is_unsized {
                place.lacks_size(line.number)?;
            }
            if place.directories.is_empty() && !are_several {
                let tree = replay.finish(&place.leaf(&line)).in_view(view);
                return Ok((tree, place.findings()));
            }
            replay.leaf(&place.leaf(&line), true);
        }
        let root_depth = usize::from(!are_several);
        while place.directories.len() > root_depth {
            replay.close(&place.close()?, Shown::Always);
        }
        let tree = match are_several {
            true => replay.finish(&Node { mode: Mode::DIRECTORY, ..Node::default() }),
            false => replay.finish(&place.close()?),
        };
        Ok((tree.in_view(view), place.findings()))
    }
}

impl EntryLine {
    /// What tells its inode from others, if that counts with each line.
    fn alone(&self) -> Option<Identity> {
        let inode = self.inode?;
        (self.is_directory() || inode.links == Links::Alone).then_some(inode.identity)
    }
}

/// A directory whose content is being fed.
#[derive(Default)]
struct ListedDirectory {
    /// Where its name begins in the key, and where it ends.
    start: usize,
    end: usize,
    /// None if it has no line.
    line: Option<EntryLine>,
    /// The bytes on disk and of content in it, with the lines of directories taken for their totals.
    below: [u64; 2],
    has_files: bool,
}

/// The place of the entry that is being fed.
#[derive(Default)]
struct ListPlace {
    roots: IndexMap<Vec<u8>, Option<Identity>>,
    totals: Option<bool>,
    key: Vec<u8>,
    directories: Vec<ListedDirectory>,
    /// Whether a directory with a line has bytes in it, and whether one of these has less than that by itself.
    has_lined: bool,
    has_less: bool,
    /// How many directories have files, and no line.
    unlined: u64,
    /// The entries of unknown size, and the total length of their paths, in bytes.
    problems: Vec<Problem>,
    length: usize,
}

impl ListPlace {
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
            self.directories.push(ListedDirectory { start, end, line, ..Default::default() });
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
        let root = self.key.first_chunk().map_or(0, |root| u32::from_be_bytes(*root));
        self.roots.get_index(root as usize).map_or(b"", |(name, _)| name)
    }

    /// What a line says of what is no directory.
    fn leaf(&mut self, line: &EntryLine) -> Node<'_> {
        let Figures { disk, length, .. } = line.figures;
        self.count([disk, length]);
        if let Some(directory) = self.directories.last_mut() {
            directory.has_files = true;
        }
        let name = self.name(self.start(), self.key.len());
        let sums = Sums::of(line.figures);
        Node { name, mode: line.mode, sums, inode: line.inode, ..Node::default() }
    }

    /// Closes the innermost directory.
    fn close(&mut self) -> io::Result<Node<'_>> {
        let Some(ListedDirectory { start, end, line, below, has_files }) = self.directories.pop()
        else {
            return Ok(Node::default());
        };
        let mut own = line.map(|line| line.figures);
        if let (Some(own), Some(line), true) = (&mut own, line, self.totals == Some(true)) {
            let (disk, length) = (own.disk.checked_sub(below[0]), own.length.checked_sub(below[1]));
            (own.disk, own.length) = disk.zip(length).ok_or_else(|| {
                error(line.number, "its total is less than the sizes of what is in it")
            })?;
        }
        let total = line.map_or(below, |line| [line.figures.disk, line.figures.length]);
        self.count(total);
        let is_less = total.iter().zip(below).any(|(total, below)| *total < below);
        match line {
            Some(_) => {
                self.has_lined |= below != [0; 2];
                self.has_less |= is_less;
            }
            None => self.unlined += u64::from(has_files),
        }
        let mode = line.map_or(Mode::usual(Kind::Directory), |line| line.mode);
        // The links of a directory do not count.
        let inode = line.and_then(|line| line.inode);
        let inode = inode.map(|inode| Inode { links: Links::Alone, ..inode });
        Ok(Node { name: self.name(start, end), mode, own, inode, ..Node::default() })
    }

    /// Notes that the entry, which has this line, is of unknown size.
    fn lacks_size(&mut self, number: u64) -> io::Result<()> {
        /// As many as an export of ncdu may name (`snapshot/ncdu.rs`).
        const MOST: usize = 64 << 20;
        let names = self.key.get(ROOT + 1..).unwrap_or_default();
        let names = names.split(|byte| *byte == BETWEEN).filter(|name| !name.is_empty());
        let path = path::join_all([self.name(0, 0)].into_iter().chain(names));
        self.length += path.len();
        if self.length > MOST {
            let what = "the paths of what has no known size (-1) take more than 64 MiB";
            return Err(error(number, what));
        }
        let message = "its size is not known to the program that listed it (-1)".to_owned();
        self.problems.push(Problem {
            path,
            operation: Operation::Stat,
            code: None,
            message,
            hint: None,
        });
        Ok(())
    }

    /// What came up. The lines of directories seem to have totals, although nobody says so, if each is at least what is
    /// in it, and all files are in directories with a line, except those that are beside the first of them (`du -a *`).
    fn findings(self) -> ListFindings {
        let seem_totals =
            self.totals.is_none() && self.has_lined && !self.has_less && self.unlined <= 1;
        let mut problems = self.problems;
        problems.sort_unstable();
        ListFindings { seem_totals, problems }
    }

    /// Counts what is in the innermost directory.
    fn count(&mut self, amounts: [u64; 2]) {
        let Some(ListedDirectory { below, .. }) = self.directories.last_mut() else { return };
        for (below, amount) in below.iter_mut().zip(amounts) {
            *below = below.saturating_add(amount);
        }
    }
}
