//! Single listings of a file, found by its index: those that have the largest nodes, or that of one directory. Only
//! the last blocks stay in memory.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::{io, mem};

use super::blocks::{BOMB, Blocks, damaged};
use super::pieces::{Piece, Record, ensure_depth, take_root};
use super::set_times;
use crate::base::inode::Identity;
use crate::base::measure::View;
use crate::from::snapshot::compression::{MOST_TIMES, is_bomb};
use crate::from::snapshot::several::is_line_of_host;
use crate::tree::tally::{Inodes, Limits, Show, Whole};
use crate::tree::total::{AnyReplay, Replay, Shown};
use crate::tree::{Inode, Node, Tree, record};

/// So many blocks stay in memory: 8 MiB, or 32 MiB of a file that weigh did not write.
const CACHED: usize = 32;

/// So many where listings are read in their order: the last, and the one that goes on from there.
const IN_ORDER: usize = 2;

/// To read a block costs so many times what it costs to go through one in memory.
const READ: usize = 16;

/// What a block unpacks to at most, if weigh wrote it and no listing ends in it.
const BLOCK: u64 = 256 << 10;

/// A tree that takes more memory than this is not loaded only to be browsed: that of about two million entries.
const MOST_WHOLE: u64 = 96 << 20;

/// The listings of a file.
#[derive(Clone, Debug)]
pub struct SavedListings {
    blocks: Arc<Blocks>,
    /// The blocks that were used last, the very last one at the end, and how many of them are kept.
    cache: VecDeque<(usize, Arc<Vec<u8>>)>,
    most_cached: usize,
    /// What it took to find listings: 1 for a block that was in memory, and may have a million of them, and [`READ`]
    /// for another one.
    cost: usize,
    /// How many bytes all blocks take in the file.
    size: u64,
    /// Where the last listing ended.
    end: ListingEnd,
    pub(super) root: Directory,
    /// Whether the root is the node above several roots.
    pub(super) is_total: bool,
    /// The numbers of directories whose entries are roots, in order.
    have_roots: Arc<[u64]>,
    /// Whether entries have their times.
    pub(super) has_times: bool,
}

/// Where a listing ends, from where later ones in the same block are found.
#[derive(Clone, Copy, Debug, Default)]
struct ListingEnd {
    block: usize,
    /// The number of the next directory.
    next: u64,
    /// How much of the block is left.
    rest: usize,
}

/// A directory whose listing can be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    /// Its number, and those of all directories below it.
    pub(super) numbers: Range<u64>,
    record: Vec<u8>,
}

impl Directory {
    pub(super) fn new(numbers: Range<u64>, node: &Node<'_>) -> Self {
        let mut record = Vec::new();
        record::push_directory(&mut record, node);
        Self { numbers, record }
    }

    pub(super) fn node(&self) -> Node<'_> {
        record::take_directory(&mut self.record.as_slice()).unwrap_or_default()
    }
}

/// What is in a directory.
pub(super) enum ListedEntry<'l, 'a> {
    /// A subdirectory: its number, and those of all directories below it.
    Directory(&'l Node<'a>, Range<u64>),
    Leaf(&'l Node<'a>),
    /// The records of leaves, which are not checked.
    Leaves(&'a [u8]),
}

impl SavedListings {
    /// Those in `blocks`, with times if they are wanted. None if there is no root, or if it is not a directory.
    ///
    /// # Errors
    /// The system's, and those of a damaged file, as in all that follows.
    pub(super) fn of(
        blocks: Blocks,
        directories: u64,
        has_times: bool,
    ) -> io::Result<Option<Self>> {
        if directories == 0 || blocks.places.is_empty() {
            return Ok(None);
        }
        let size = blocks.places.iter().map(|place| place.length).sum();
        let (cache, end, root) = Default::default();
        let (blocks, most_cached, cost, is_total) = (Arc::new(blocks), CACHED, 0, false);
        let have_roots = Arc::default();
        let mut listings = Self {
            blocks,
            cache,
            most_cached,
            cost,
            size,
            end,
            root,
            is_total,
            have_roots,
            has_times,
        };
        let first = listings.block(0)?;
        let Record { mut node, .. } = take_root(&mut first.as_slice(), directories)?;
        listings.is_total = node.name.is_empty();
        set_times(&mut node, has_times);
        listings.root = Directory::new(0..directories, &node);
        if listings.is_total {
            listings.have_roots = [0].into();
            let mut have_roots = vec![0];
            listings.entries(0..directories, true, |listed| {
                if let ListedEntry::Directory(node, numbers) = listed
                    && is_line_of_host(node.name, node.own.is_some())
                {
                    have_roots.push(numbers.start);
                }
            })?;
            listings.have_roots = have_roots.into();
        }
        Ok(Some(listings))
    }

    /// Whether the entries of the directory with this `number` are roots, whose names are paths.
    pub(super) fn are_roots(&self, number: u64) -> bool {
        self.have_roots.binary_search(&number).is_ok()
    }

    /// The same, to read listings in their order, perhaps on another thread.
    pub(super) fn in_order(&self) -> Self {
        Self { cache: VecDeque::new(), most_cached: IN_ORDER, ..self.clone() }
    }

    /// About how many directories so many blocks have; at least one.
    pub(super) fn directories_in(&self, blocks: u64) -> u64 {
        let directories = self.root.numbers.end.saturating_mul(blocks);
        directories.div_ceil((self.blocks.places.len() as u64).max(1))
    }

    /// Whether all of it may take more memory than browsing should.
    pub fn is_large(&self) -> bool {
        let unpacked = self.blocks.places.len() as u64 * BLOCK;
        unpacked.min(self.size.saturating_mul(MOST_TIMES)) > MOST_WHOLE
    }

    /// The directory at the path `way` below the root: a tree with that and its entries, below the directories on the
    /// way. It keeps these `inodes`. None if there is no such directory.
    ///
    /// # Errors
    /// Those of a damaged file.
    pub fn at(&mut self, way: &[Vec<u8>], inodes: Inodes) -> io::Result<Option<Tree>> {
        let (mut here, mut read) = (self.root.numbers.clone(), HashSet::new());
        for name in way {
            read.insert(here.start);
            let mut found = None;
            self.entries(here, false, |listed| match listed {
                ListedEntry::Directory(node, numbers) if node.name == name => found = Some(numbers),
                _ => {}
            })?;
            let Some(numbers) = found else { return Ok(None) };
            here = numbers;
        }
        read.insert(here.start);
        let begin = |depth| Box::new(Replay::new(Whole { inodes }, depth, None)) as _;
        self.replay(begin, &read, Some(here.start)).map(Some)
    }

    /// The directories whose listings have all that a tally with these `limits` keeps in a `view`. A directory ranks no
    /// lower than what is in it, so those that rank highest are read first, until there are enough lines. None if that
    /// takes so many blocks that all of them are read in less time from front to back.
    pub(super) fn leading(
        &mut self,
        view: View,
        limits: Limits,
    ) -> io::Result<Option<HashSet<u64>>> {
        let most = self.cost + READ * (CACHED + self.blocks.places.len() / 4);
        let mut candidates = Ranking::new(view, limits);
        let mut read = HashSet::new();
        let mut next = Some((self.root.numbers.clone(), u32::from(!self.is_total)));
        while let Some((numbers, depth)) = next {
            // That of what is in it.
            ensure_depth(depth.saturating_sub(1) as usize)?;
            read.insert(numbers.start);
            self.entries(numbers, false, |listed| match listed {
                ListedEntry::Directory(node, numbers) => candidates.add(node, Some(numbers), depth),
                ListedEntry::Leaf(node) => candidates.add(node, None, depth),
                ListedEntry::Leaves(_) => {}
            })?;
            if self.cost > most {
                return Ok(None);
            }
            next = candidates.next_directory();
        }
        Ok(Some(read))
    }

    /// Feeds what `begin` makes for a depth of roots with the directories that are `read`, by their numbers; of others
    /// only their own records. The listings are shown, or `only` that of one, and of the others the directories that
    /// are read.
    pub(super) fn replay(
        &mut self,
        begin: impl FnOnce(usize) -> Box<dyn AnyReplay>,
        read: &HashSet<u64>,
        only: Option<u64>,
    ) -> io::Result<Tree> {
        let mut replay = begin(self.is_total.into());
        // Each directory that is to be opened, or closed after what is in it.
        let mut ahead = vec![(self.root.clone(), false)];
        while let Some((directory, is_open)) = ahead.pop() {
            if is_open && !ahead.is_empty() {
                replay.close(&directory.node(), Shown::Always);
            }
            if is_open {
                continue;
            }
            replay.open();
            let numbers = directory.numbers.clone();
            let is_shown = only.is_none_or(|only| only == numbers.start);
            ahead.push((directory, true));
            let begin = ahead.len();
            self.entries(numbers, false, |listed| match listed {
                ListedEntry::Directory(node, numbers) if read.contains(&numbers.start) => {
                    ahead.push((Directory::new(numbers, node), false));
                }
                ListedEntry::Directory(node, _) if is_shown => {
                    replay.open();
                    replay.close(node, Shown::Always);
                }
                ListedEntry::Leaf(node) if is_shown => replay.leaf(node, true),
                _ => {}
            })?;
            // In the order in which they are in the file.
            ahead[begin..].reverse();
        }
        Ok(replay.finish(&self.root.node()))
    }

    /// Passes what is in the directory with the first of these `numbers` to `take`; its leaves one by one, or `packed`.
    pub(super) fn entries(
        &mut self,
        numbers: Range<u64>,
        packed: bool,
        mut take: impl FnMut(ListedEntry<'_, '_>),
    ) -> io::Result<()> {
        let (has_times, are_roots) = (self.has_times, self.are_roots(numbers.start));
        let mut next = numbers.start + 1;
        self.pieces(numbers.start, |piece| {
            piece.each_directory(are_roots, |Record { mut node, below }| {
                let end = next.checked_add(below).and_then(|last| last.checked_add(1));
                let end = end.filter(|end| *end <= numbers.end);
                let end = end.ok_or_else(|| damaged("more directories than it says"))?;
                set_times(&mut node, has_times);
                take(ListedEntry::Directory(&node, mem::replace(&mut next, end)..end));
                Ok(())
            })?;
            if packed {
                take(ListedEntry::Leaves(piece.leaves));
                return Ok(());
            }
            piece.each_leaf(are_roots, |leaf| {
                set_times(leaf, has_times);
                take(ListedEntry::Leaf(leaf));
            })
        })?;
        if next < numbers.end { Err(damaged("fewer directories than it says")) } else { Ok(()) }
    }

    /// Passes the pieces of the listing of a `directory` to `take`.
    fn pieces(
        &mut self,
        directory: u64,
        mut take: impl FnMut(Piece<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        // It begins in the last block that begins with an earlier directory, or with the next block.
        let next = self.blocks.places.partition_point(|place| place.first < directory);
        let mut number = next.saturating_sub(1);
        let mut here = self.blocks.places.get(number).map(|place| place.first);
        let mut unpacked = 0;
        let end = mem::take(&mut self.end);
        let mut known = Some(end).filter(|end| end.block == number && end.next <= directory);
        while let Some(mut at) = here {
            let block = self.block(number)?;
            unpacked += block.len() as u64;
            if is_bomb(unpacked, self.size) {
                return Err(damaged(BOMB));
            }
            let mut rest = block.as_slice();
            if let Some(ListingEnd { next, rest: left, .. }) = known.take().filter(|it| it.rest > 0)
            {
                at = next;
                rest = &rest[rest.len().saturating_sub(left)..];
            } else if number == 0 {
                take_root(&mut rest, self.root.numbers.end)?;
            }
            while !rest.is_empty() {
                let piece = Piece::take(&mut rest)?;
                if at == directory {
                    take(piece)?;
                    if piece.is_last {
                        let is_end = at + 1 == self.root.numbers.end;
                        if is_end && (!rest.is_empty() || number + 1 < self.blocks.places.len()) {
                            return Err(damaged("a listing of no directory"));
                        }
                        self.end = ListingEnd { block: number, next: at + 1, rest: rest.len() };
                        return Ok(());
                    }
                }
                at += u64::from(piece.is_last);
            }
            number += 1;
            let place = self.blocks.places.get(number);
            here = place.map(|place| place.first).filter(|first| *first == at);
        }
        Err(damaged(format_args!("block {number} does not go on where the one before ends")))
    }

    /// The content of the block with this number.
    fn block(&mut self, number: usize) -> io::Result<Arc<Vec<u8>>> {
        let known = self.cache.iter().position(|(cached, _)| *cached == number);
        if let Some((_, block)) = known.and_then(|known| self.cache.remove(known)) {
            self.cost += 1;
            self.keep(number, &block);
            return Ok(block);
        }
        self.cost += READ;
        let block = Arc::new(self.blocks.content(number)?);
        self.keep(number, &block);
        Ok(block)
    }

    /// Keeps a block as the one that was used last.
    fn keep(&mut self, number: usize, block: &Arc<Vec<u8>>) {
        if self.cache.len() == self.most_cached {
            self.cache.pop_front();
        }
        self.cache.push_back((number, Arc::clone(block)));
    }
}

/// The nodes that may have a line, and directories that may have such nodes in them.
struct Ranking {
    view: View,
    limits: Limits,
    ahead: BinaryHeap<Ranked>,
    /// How many of them trigger the next cut.
    most: usize,
    /// Enough lines rank at least as high as this.
    floor: i128,
    /// The inodes with several links so far. Each has one line.
    linked: HashSet<Identity>,
    /// How many lines are still to be found.
    left: usize,
}

/// The one that ranks highest is the greatest. Of equals, directories are, the first one first: what is in it may come
/// before the others.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    rank: i128,
    /// The numbers of a directory.
    numbers: Option<(Reverse<u64>, u64)>,
    depth: u32,
    is_line: bool,
}

impl Ranking {
    fn new(view: View, limits: Limits) -> Self {
        let (ahead, linked) = Default::default();
        Self { view, limits, ahead, most: 0, floor: i128::MIN, linked, left: limits.lines }
    }

    /// Adds a node at a `depth`, if it may have a line, or anything in it.
    fn add(&mut self, node: &Node<'_>, numbers: Option<Range<u64>>, depth: u32) {
        let Limits { show, min_size, .. } = self.limits;
        let rank = self.view.rank(&node.sums.all, None);
        let is_directory = numbers.is_some();
        let is_shown = is_directory || show != Show::Directories;
        if rank < self.floor || self.view.weight(&node.sums.all, None) < min_size || !is_shown {
            return;
        }
        if !is_directory
            && let Some(identity) = node.inode.as_ref().and_then(Inode::linked)
            && !self.linked.insert(identity)
        {
            return;
        }
        // Roots may have lines besides.
        let is_line = depth > 0 && !(is_directory && show == Show::Files);
        let numbers = numbers.map(|Range { start, end }| (Reverse(start), end));
        self.ahead.push(Ranked { rank, numbers, depth, is_line });
        if self.ahead.len() > self.most {
            self.cut();
        }
    }

    /// Drops what comes after enough lines. Each cut is paid for by as many additions.
    fn cut(&mut self) {
        const SLACK: usize = 1024;
        let mut sorted = mem::take(&mut self.ahead).into_sorted_vec();
        let mut left = self.left;
        let first = sorted.iter().rposition(|candidate| {
            left = left.saturating_sub(candidate.is_line.into());
            left == 0
        });
        if let Some(first) = first {
            self.floor = sorted.get(first).map_or(self.floor, |last| last.rank);
            sorted.drain(..first);
        }
        self.most = sorted.len() * 2 + SLACK;
        self.ahead = sorted.into();
    }

    /// The directory whose listing is next: its numbers, and the depth of what is in it. None if there are enough
    /// lines.
    fn next_directory(&mut self) -> Option<(Range<u64>, u32)> {
        while self.left > 0
            && let Some(Ranked { numbers, depth, is_line, .. }) = self.ahead.pop()
        {
            self.left -= usize::from(is_line);
            let is_read = self.left > 0 && depth < self.limits.depth;
            if let Some((Reverse(start), end)) = numbers.filter(|_| is_read) {
                return Some((start..end, depth + 1));
            }
        }
        None
    }
}
