//! The `.weigh` format (docs/format.md): a tree as it is in memory, parents first, in blocks that are compressed each
//! by itself, with an index at the end.
//!
//! * `blocks`: the sections of a file, whatever is in them.
//! * `pieces`: what is in a block: the listings of directories.
//! * `listings`: those that a picture shows, or a directory, by the index.
//! * `changed`: those that differ from what is in memory.
//! * `write`: a tree to blocks, on several threads.
//!
//! Reading all blocks, from front to back, into a tally is below.

pub mod blocks;
mod changed;
mod listings;
pub mod pieces;
mod write;

use std::io::{self, Read, Seek, SeekFrom};
use std::iter;

use blocks::{Blocks, MAGIC, Section, Sections, damaged, header};
use pieces::{Piece, Record, ensure_depth, ensure_order, take_directory, take_root};

use crate::base::measure::{Figures, View};
use crate::base::parallel;
use crate::from::snapshot::several::is_line_of_host;
use crate::from::snapshot::{Origin, Snapshot, Wanted};
use crate::sys::SnapshotFile;
use crate::tree::record::{self, take_number};
use crate::tree::total::{AnyReplay, BeginReplay, Shown};
use crate::tree::{Node, Tree};

pub use changed::Digested;
pub use listings::SavedListings;
pub use write::write;

// Reads a file from front to back into a tally. Other threads unpack blocks meanwhile.

/// Reads `file` of `size` bytes into what `replay` begins for its view. `check` gets that view and the origin before.
pub(in crate::from::snapshot) fn read(
    mut file: SnapshotFile,
    size: u64,
    wanted: Wanted,
    replay: BeginReplay<'_>,
    check: impl FnOnce(View, &Origin) -> io::Result<()>,
) -> io::Result<Snapshot> {
    let is_seekable = size > 0 && file.stream_position().is_ok_and(|at| at == MAGIC.len() as u64);
    let (header, sections) = header(file.try_clone()?, size)?;
    let view = header.view(wanted);
    check(view, &header.origin)?;
    let begin = |depth| replay(view, depth, None);
    if let Some(limits) = wanted.limits.filter(|_| is_seekable) {
        let place = file.stream_position()?;
        let listings = listings(file.try_clone()?, wanted)?;
        if let Some((_, mut listings)) = listings
            && let Some(read) = listings.leading(view, limits)?
        {
            let answer = listings.replay(begin, &read, None)?;
            return Ok(header.loaded(wanted, Some(answer)));
        }
        file.seek(SeekFrom::Start(place))?;
    }
    let answer = read_tree(sections, header.directories, begin, wanted.times)?;
    Ok(header.loaded(wanted, answer))
}

/// Opens `file` to read its listings one by one: what it says besides its tree, and the listings. None if there is no
/// root, or if it is not a directory.
///
/// # Errors
/// The system's, and those of a file that is damaged there.
pub(in crate::from::snapshot) fn listings(
    file: SnapshotFile,
    wanted: Wanted,
) -> io::Result<Option<(Snapshot, SavedListings)>> {
    let (header, blocks) = Blocks::open(file)?;
    let Some(listings) = SavedListings::of(blocks, header.directories, wanted.times)? else {
        return Ok(None);
    };
    Ok(Some((header.loaded(wanted, None), listings)))
}

/// The same with the digests of all directories, to find out later what else is to be read. `check` gets the view and the
/// origin before.
pub(in crate::from::snapshot) fn digested(
    file: SnapshotFile,
    wanted: Wanted,
    check: impl FnOnce(View, &Origin) -> io::Result<()>,
) -> io::Result<Option<(Snapshot, Digested)>> {
    let (header, blocks) = Blocks::open(file)?;
    check(header.view(wanted), &header.origin)?;
    let digests = blocks.digests(header.directories)?;
    let listings = SavedListings::of(blocks, header.directories, wanted.times)?;
    let snapshot = header.loaded(wanted, None);
    Ok(listings.map(|listings| (snapshot, Digested { listings, digests })))
}

/// Reads all blocks, and the end: the tree of so many `directories`, if there is one, into what `begin` makes for a depth
/// of roots, with times if they are wanted.
fn read_tree<R: Read>(
    mut sections: Sections<R>,
    directories: u64,
    begin: impl FnOnce(usize) -> Box<dyn AnyReplay>,
    has_times: bool,
) -> io::Result<Option<Tree>> {
    let Some(first) = sections.block() else {
        if directories > 0 {
            return Err(damaged("it has no tree"));
        }
        return sections.finish(0, &[]).map(|()| None);
    };
    let (first, content) = unpack(first)?;
    let mut rest = content.as_slice();
    if take_number(&mut rest) != Some(0) {
        return Err(damaged("block 0 does not begin with the root"));
    }
    let mut root = take_root(&mut rest, directories)?;
    let mut places = vec![first.place(0)];
    let is_total = root.node.name.is_empty();
    let replay = begin(is_total.into());
    let mut reading = Reading { replay, has_times, is_total, open: Vec::new(), number: 0 };
    if directories > 0 {
        reading.enter(root.below, is_total)?;
    }
    reading.pieces(rest).map_err(|error| wrong(&first, &error))?;
    parallel::in_order(0, iter::from_fn(|| sections.block()), unpack, |block| {
        let (block, content) = block?;
        let first = reading.block(&content).map_err(|error| wrong(&block, &error))?;
        places.push(block.place(first));
        io::Result::Ok(())
    })?;
    if !reading.open.is_empty() {
        return Err(damaged("it ends before its tree does"));
    }
    sections.finish(directories, &places)?;
    set_times(&mut root.node, has_times);
    Ok(Some(reading.replay.finish(&root.node)))
}

/// Unpacks a block. Returns it with its content.
fn unpack(section: io::Result<Section>) -> io::Result<(Section, Vec<u8>)> {
    let section = section?;
    let content = section.unpack()?;
    Ok((section, content))
}

#[cold]
fn wrong(block: &Section, error: &io::Error) -> io::Error {
    damaged(format_args!("block {} is wrong: {error}", block.number))
}

/// The directories that are open.
struct Reading {
    replay: Box<dyn AnyReplay>,
    has_times: bool,
    /// Whether the root is the node above several roots.
    is_total: bool,
    open: Vec<OpenListing>,
    /// The number of the innermost one, whose listing comes next.
    number: u64,
}

/// A directory whose listing has begun.
struct OpenListing {
    /// Whether its entries are roots.
    has_roots: bool,
    /// The records of its subdirectories so far.
    directories: Vec<u8>,
    /// Where the one begins whose turn it is, and where the next one.
    current: usize,
    next: usize,
    /// How many directories are below it that were not entered.
    below: u64,
}

impl Reading {
    /// Reads the content of a block. Returns the number that it begins with.
    fn block(&mut self, mut content: &[u8]) -> io::Result<u64> {
        let first = take_number(&mut content);
        let first = first.filter(|first| *first == self.number && !self.open.is_empty());
        let first = first.ok_or_else(|| damaged("it does not go on where the one before ends"))?;
        self.pieces(content)?;
        Ok(first)
    }

    fn pieces(&mut self, mut content: &[u8]) -> io::Result<()> {
        while !content.is_empty() {
            let piece = Piece::take(&mut content)?;
            let Some(level) = self.open.last_mut() else {
                return Err(damaged("a listing of no directory"));
            };
            level.directories.extend_from_slice(piece.directories);
            piece.each_leaf(level.has_roots, |leaf| {
                set_times(leaf, self.has_times);
                self.replay.leaf(leaf, true);
            })?;
            if piece.is_last {
                self.go_on()?;
            }
        }
        Ok(())
    }

    /// Enters the next directory, after the end of those that end before it.
    fn go_on(&mut self) -> io::Result<()> {
        while let depth @ 1.. = self.open.len()
            && let Some(level) = self.open.last_mut()
        {
            let mut rest = level.directories.get(level.next..).unwrap_or_default();
            if !rest.is_empty() {
                let before = level.directories.get(level.current..level.next).unwrap_or_default();
                let Record { node, below } = take_directory(&mut rest, level.has_roots)?;
                ensure_order(record::name(before), node.name)?;
                let left = below.checked_add(1).and_then(|taken| level.below.checked_sub(taken));
                level.below = left.ok_or_else(|| damaged("more directories than it says"))?;
                level.current = level.next;
                level.next = level.directories.len() - rest.len();
                self.number += 1;
                let has_roots =
                    self.is_total && depth == 1 && is_line_of_host(node.name, node.own.is_some());
                return self.enter(below, has_roots);
            }
            if level.below > 0 {
                return Err(damaged("fewer directories than it says"));
            }
            self.open.pop();
            if let Some(above) = self.open.last() {
                let mut record = above.directories.get(above.current..).unwrap_or_default();
                let mut directory = take_directory(&mut record, true)?.node;
                set_times(&mut directory, self.has_times);
                self.replay.close(&directory, Shown::Always);
            }
        }
        Ok(())
    }

    /// Enters a directory with so many `below`, whose entries may be roots.
    fn enter(&mut self, below: u64, has_roots: bool) -> io::Result<()> {
        ensure_depth(self.open.len())?;
        let directories = Vec::new();
        self.open.push(OpenListing { has_roots, directories, current: 0, next: 0, below });
        self.replay.open();
        Ok(())
    }
}

/// Leaves a node its times only if it `has` them.
fn set_times(node: &mut Node<'_>, has: bool) {
    if !has {
        node.sums.all.newest = None;
        node.own = node.own.map(|own| Figures { newest: None, ..own });
    }
}
