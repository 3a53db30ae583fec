//! Writes a tree. One thread goes through the directories, parents first, and others put listings in order, make digests
//! of them, and compress them. What is in which block depends on the tree alone, so the bytes do not depend on threads.

use std::cell::Cell;
use std::hint::black_box;
use std::io::{self, Write};
use std::mem;
use std::num::NonZeroUsize;

use super::blocks::{HeaderText, LARGEST, Writer, pack};
use super::pieces::Piece;
use crate::base::parallel;
use crate::from::snapshot::compression::MOST_TIMES;
use crate::from::snapshot::{Snapshot, header};
use crate::tree::record::{self, push_number};
use crate::tree::{Child, DirectoryId, Node, Tree, digest};

/// A block is full once it has this many bytes. With half of it, a package store takes 4% more, and with twice as many
/// 2% less.
const FULL: usize = 256 << 10;

/// The same where compression is so good that the file would be taken for a bomb.
const REGULAR: usize = 8 << 10;

/// Writes a `snapshot`, with so many threads; by default one for each core.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut impl Write,
    snapshot: &Snapshot,
    threads: Option<NonZeroUsize>,
) -> io::Result<()> {
    let mut writer = Writer::new(out)?;
    let tree = snapshot.report.answer.as_ref();
    let root = tree.map(Tree::root);
    let directories =
        root.filter(Child::is_directory).map_or(0, |root| root.directories_below() + 1);
    let mut text = io::BufWriter::new(HeaderText(&mut writer));
    header::write(&mut text, snapshot, directories)?;
    text.into_inner()?;
    if let Some(tree) = tree {
        let threads = threads.map_or(0, NonZeroUsize::get);
        let mut own = Vec::new();
        parallel::in_order(
            threads,
            Parts::of(tree),
            |part| part.done(),
            |done| {
                let Done { blocks, digests, .. } = done?;
                own.extend(digests);
                blocks.iter().try_for_each(|(first, frame)| writer.block(*first, frame))
            },
        )?;
        let digests = tree.with_below(&own);
        writer.digests(own.iter().map(|(id, _)| digests[id.index()]))?;
    }
    writer.finish()
}

/// The listings of a tree, about as many at a time as a block has.
struct Parts<'t> {
    tree: &'t Tree,
    /// The directories whose listings are next, the last one first.
    ahead: Vec<DirectoryId>,
    /// How many directories were before them.
    number: u64,
    is_begun: bool,
}

impl<'t> Parts<'t> {
    fn of(tree: &'t Tree) -> Self {
        let root = tree.root().id().filter(|_| tree.root().is_directory());
        Self { tree, ahead: root.into_iter().collect(), number: 0, is_begun: false }
    }
}

impl<'t> Iterator for Parts<'t> {
    type Item = Part<'t>;

    fn next(&mut self) -> Option<Part<'t>> {
        let is_first = !mem::replace(&mut self.is_begun, true);
        if self.ahead.is_empty() && !is_first {
            return None;
        }
        let root = self.tree.root().id().filter(|_| is_first);
        let mut part = Part { tree: self.tree, root, first: self.number, listings: Vec::new() };
        let mut length = 0;
        while length < FULL
            && let Some(directory) = self.ahead.pop()
        {
            let listing = SortedListing::of(self.tree, directory);
            self.ahead.extend(listing.directories.iter().rev());
            self.number += 1;
            length += listing.length;
            part.listings.push(listing);
        }
        Some(part)
    }
}

/// A directory, and what is in it.
struct SortedListing {
    directory: DirectoryId,
    /// Its subdirectories, by name.
    directories: Vec<DirectoryId>,
    /// About how many bytes its records take.
    length: usize,
}

impl SortedListing {
    fn of(tree: &Tree, directory: DirectoryId) -> Self {
        /// About how long the record of a directory is.
        const RECORD: usize = 48;
        let mut directories: Vec<_> = tree.subdirectories(directory).collect();
        // Exports may have a name twice. Loading reverses these, so that a snapshot is saved again as it was.
        directories.reverse();
        directories.sort_by_cached_key(|id| record::name(tree.block(*id)));
        // Its own record is in the listing of its parent.
        let leaves = tree.block(directory).len().saturating_sub(RECORD);
        let length = leaves + directories.len() * RECORD;
        Self { directory, directories, length }
    }
}

/// Some listings, which become a block, or several if the last one is large.
struct Part<'t> {
    tree: &'t Tree,
    /// The root, before the first listing.
    root: Option<DirectoryId>,
    /// The number of the first directory.
    first: u64,
    listings: Vec<SortedListing>,
}

/// The result of a part.
#[derive(Default)]
struct Done {
    /// The blocks, each with the number of its first directory.
    blocks: Vec<(u64, Vec<u8>)>,
    /// The digests of its directories, each without its subdirectories.
    digests: Vec<(DirectoryId, u64)>,
    /// Whether the blocks unpack to too many times their size.
    is_regular: bool,
}

/// An entry that is not a directory: the start of its name, its name, and its record.
type Leaf<'t> = (u64, &'t [u8], &'t [u8]);

impl Part<'_> {
    fn done(&self) -> io::Result<Done> {
        self.fetch();
        let done = self.in_blocks_of(FULL)?;
        if done.is_regular { self.in_blocks_of(REGULAR) } else { Ok(done) }
    }

    /// Touches each cache line that its records are in. They are scattered in memory: so the processor waits for many at
    /// once, and not for one after the other.
    fn fetch(&self) {
        const LINE: usize = 64;
        let mut read = 0;
        for listing in &self.listings {
            for byte in self.tree.block(listing.directory).iter().step_by(LINE) {
                read ^= byte;
            }
        }
        black_box(read);
    }

    fn in_blocks_of(&self, full: usize) -> io::Result<Done> {
        let known = self.tree.root().node();
        let is_as_saved = known == as_saved(known);
        let mut block = OpenBlock { full, is_as_saved, ..SPARE.take() };
        block.begin(self.first);
        if let Some(root) = self.root {
            block.push_directory(self.tree, root);
            block.content.append(&mut block.directories);
        }
        let mut leaves = Vec::new();
        for (number, listing) in (self.first..).zip(&self.listings) {
            block.listing(self.tree, number, listing, &mut leaves)?;
        }
        block.close()?;
        let done = mem::take(&mut block.done);
        SPARE.set(block);
        Ok(done)
    }
}

thread_local! {
    /// Memory that this thread reuses for the next part.
    static SPARE: Cell<OpenBlock> = Cell::default();
}

/// The block that is being filled, and those that are done.
#[derive(Default)]
struct OpenBlock {
    full: usize,
    /// Whether a file has the records as they are in memory.
    is_as_saved: bool,
    /// The number of its first directory.
    first: u64,
    content: Vec<u8>,
    /// The records of the piece that goes on.
    directories: Vec<u8>,
    leaves: Vec<u8>,
    done: Done,
}

impl OpenBlock {
    fn begin(&mut self, first: u64) {
        self.first = first;
        self.content.clear();
        push_number(&mut self.content, first);
    }

    /// Adds a listing. Only a large one goes on in other blocks, and any if it is regular. `sorted` is memory that is
    /// reused.
    fn listing<'t>(
        &mut self,
        tree: &'t Tree,
        number: u64,
        listing: &SortedListing,
        sorted: &mut Vec<Leaf<'t>>,
    ) -> io::Result<()> {
        let is_large = listing.length > self.full || self.full < FULL;
        let room = if is_large { self.full } else { LARGEST / 2 };
        for id in &listing.directories {
            self.make_room(number, room)?;
            self.push_directory(tree, *id);
        }
        let mut rest = tree.block(listing.directory);
        let directory = record::take_directory(&mut rest).unwrap_or_default();
        let leaves = if self.is_as_saved {
            self.push_leaves(number, room, rest, sorted)?
        } else {
            let mut others = Vec::new();
            for leaf in tree.directory(listing.directory).leaves() {
                record::push(&mut others, &as_saved(leaf.node()));
            }
            self.push_leaves(number, room, &others, &mut Vec::new())?
        };
        self.end_piece(true);
        let digest = digest::of_directory(&directory, leaves, None);
        self.done.digests.push((listing.directory, digest));
        Ok(())
    }

    /// Adds `records` of entries that are not directories, by name. Returns the sum of their digests.
    fn push_leaves<'t>(
        &mut self,
        number: u64,
        room: usize,
        records: &'t [u8],
        sorted: &mut Vec<Leaf<'t>>,
    ) -> io::Result<u64> {
        /// A record takes more bytes than this, mostly.
        const RECORD: usize = 24;
        sorted.reserve(records.len() / RECORD + 1);
        let (mut rest, mut digests) = (records, 0_u64);
        while let (before, Some((name, (figures, _)))) = (rest, record::take_brief(&mut rest)) {
            digests = digests.wrapping_add(digest::of_leaf(name, &figures, None));
            sorted.push((start(name), name, &before[..before.len() - rest.len()]));
        }
        sorted.sort_unstable();
        for (.., leaf) in sorted.drain(..) {
            self.make_room(number, room)?;
            self.leaves.extend_from_slice(leaf);
        }
        Ok(digests)
    }

    /// Adds the record of a directory, and how many directories are below it.
    fn push_directory(&mut self, tree: &Tree, directory: DirectoryId) {
        let packed = &mut self.directories;
        match self.is_as_saved {
            true => packed.extend_from_slice(record::split(tree.block(directory)).0),
            false => record::push_directory(packed, &as_saved(tree.directory(directory).node())),
        }
        push_number(packed, tree.below(directory));
    }

    /// Begins another block if this one has so many bytes.
    fn make_room(&mut self, number: u64, most: usize) -> io::Result<()> {
        if self.content.len() + self.directories.len() + self.leaves.len() < most {
            return Ok(());
        }
        self.end_piece(false);
        self.close()?;
        self.begin(number);
        Ok(())
    }

    fn end_piece(&mut self, is_last: bool) {
        let Self { directories, leaves, .. } = self;
        Piece { directories, leaves, is_last }.push(&mut self.content);
        directories.clear();
        leaves.clear();
    }

    fn close(&mut self) -> io::Result<()> {
        if self.content.len() > LARGEST {
            let what = "a name is too long for this form: save it as JSON";
            return Err(io::Error::other(what));
        }
        let frame = pack(&self.content)?;
        self.done.is_regular |= self.content.len() as u64 > frame.len() as u64 * MOST_TIMES;
        self.done.blocks.push((self.first, frame));
        Ok(())
    }
}

/// The start of a `name`, by which most comparisons are decided.
pub(super) fn start(name: &[u8]) -> u64 {
    let mut start = [0; 8];
    let length = name.len().min(start.len());
    start[..length].copy_from_slice(&name[..length]);
    u64::from_be_bytes(start)
}

/// What a file has of a node.
fn as_saved(node: Node<'_>) -> Node<'_> {
    let mut node = Node { fingerprint: None, change: None, note: "", ..node };
    node.sums.frees = node.sums.frees.map(|frees| frees.saved(node.sums.all.disk));
    node
}
