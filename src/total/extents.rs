//! The shared extents below a directory, every byte once, to tell what deleting the directory frees at most.
//!
//! Extents overlap in part: a clone may share any range of another file. So a set keeps segments: what the extents
//! cover, cut wherever one of them begins or ends. A set of segments follows from the extents alone, in whatever order
//! and in however many parts they are added.
//!
//! Segments take 16 bytes each, in sorted chunks. One sorted list would be moved for each segment that is added, and a
//! `BTreeMap` takes about 28 bytes. The set of the crate rangemap 1 joins what touches. For a million extents, each added
//! twice, it takes 0.64 s and 35 MB in order, and 2.7 s and 25 MB at random places that hardly overlap; this takes 0.07 s and
//! 15 MB, and 1.2 s and 20 MB. Only where nearly all overlap, it is faster: 1.1 s and 2 MB, and this 2.8 s and 17 MB.
//!
//! One limit holds for all sets of a walk. It counts extents, whose number does not depend on threads or order. The
//! number of segments does.

use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::tree::{FEW_EXTENTS, MOST_EXTENTS};

/// How many extents all files of a walk have.
#[derive(Debug)]
pub struct ExtentCount {
    /// Relaxed: it only grows, and each set that is too large is dropped by the next extent.
    listed: AtomicU64,
    most: u64,
    few: u64,
}

impl ExtentCount {
    /// None yet. With more than `most`, sets of more than `few` are not kept.
    fn up_to(most: u64, few: u64) -> Self {
        Self { listed: AtomicU64::new(0), most, few }
    }

    fn add(&self, extents: u64) {
        self.listed.fetch_add(extents, Ordering::Relaxed);
    }

    /// Whether there are so many that large sets are not kept.
    pub fn is_exceeded(&self) -> bool {
        self.listed.load(Ordering::Relaxed) > self.most
    }
}

impl Default for ExtentCount {
    fn default() -> Self {
        Self::up_to(MOST_EXTENTS, FEW_EXTENTS)
    }
}

/// The shared extents of a directory, or of a part of one.
#[derive(Clone, Debug)]
pub struct Extents {
    /// By the file system they are on. Nearly always there is one.
    file_systems: Vec<(u64, Segments)>,
    /// How many extents were added, those of the same place included.
    listed: u64,
    count: Arc<ExtentCount>,
}

impl Extents {
    /// An empty set of the walk with this `count`.
    pub fn new(count: &Arc<ExtentCount>) -> Self {
        Self { file_systems: Vec::new(), listed: 0, count: Arc::clone(count) }
    }

    /// Adds an extent: a range of bytes in the address space of a file system.
    pub fn add(&mut self, file_system: u64, extent: Range<u64>) {
        self.count.add(1);
        self.listed += 1;
        if !self.is_dropped() {
            self.cover(file_system, extent);
        }
    }

    /// Adds another part of the same directory, or a closed subdirectory.
    pub fn absorb(&mut self, mut other: Self) {
        let listed = self.listed.saturating_add(other.listed);
        if self.segments() < other.segments() {
            mem::swap(self, &mut other);
        }
        self.listed = listed;
        if self.is_dropped() {
            return;
        }
        for (file_system, segments) in mem::take(&mut other.file_systems) {
            for Segment { start, end } in segments.chunks.into_iter().flatten() {
                self.cover(file_system, start..end);
            }
        }
    }

    /// The same extents, found at another link of their file.
    pub fn again(&self) -> Self {
        self.count.add(self.listed);
        self.clone()
    }

    /// How many extents were added.
    pub fn listed(&self) -> u64 {
        self.listed
    }

    /// How many bytes they cover, saturated at `u64::MAX`; none if the set is too large to be kept.
    pub fn covered(&self) -> Option<u64> {
        let bytes = self.file_systems.iter().map(|(_, segments)| segments.bytes);
        (!self.is_too_large()).then(|| bytes.fold(0, u64::saturating_add))
    }

    /// Once it is, it stays so.
    fn is_too_large(&self) -> bool {
        self.listed > self.count.few && self.count.is_exceeded()
    }

    /// Whether it is too large. If so, what it holds is freed.
    fn is_dropped(&mut self) -> bool {
        if self.is_too_large() {
            self.file_systems = Vec::new();
        }
        self.is_too_large()
    }

    fn cover(&mut self, file_system: u64, extent: Range<u64>) {
        if extent.is_empty() {
            return;
        }
        let known = self.file_systems.iter().position(|(known, _)| *known == file_system);
        let at = known.unwrap_or_else(|| {
            self.file_systems.push((file_system, Segments::default()));
            self.file_systems.len() - 1
        });
        if let Some((_, segments)) = self.file_systems.get_mut(at) {
            segments.add(extent);
        }
    }

    fn segments(&self) -> usize {
        self.file_systems.iter().map(|(_, segments)| segments.count).sum()
    }
}

/// A range of bytes that no extent begins or ends within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    start: u64,
    end: u64,
}

/// Segments of one file system. No two overlap.
#[derive(Clone, Debug, Default)]
struct Segments {
    /// All in order. No chunk is empty.
    chunks: Vec<Vec<Segment>>,
    /// How many there are in all chunks.
    count: usize,
    /// How much they cover.
    bytes: u64,
}

/// Where a segment is, or would be: the number of its chunk, and its place in that.
type SegmentPlace = (usize, usize);

impl Segments {
    /// A chunk is 8 KiB, half of which is moved for a segment that is added.
    const LARGEST_CHUNK: usize = 512;

    /// Adds an extent.
    fn add(&mut self, extent: Range<u64>) {
        // Nearly every extent is known or touches no other, and one search tells.
        let place = self.first_that_ends_after(extent.start);
        match self.get(place) {
            Some(Segment { start, end }) if (start..end) == extent => return,
            Some(next) if next.start < extent.end => {}
            _ => return self.fill(place, extent.start, extent.end),
        }
        self.cut(extent.start);
        self.cut(extent.end);
        let mut at = extent.start;
        while at < extent.end {
            let place = self.first_that_ends_after(at);
            match self.get(place) {
                Some(segment) if segment.start <= at => {
                    at = self.end_of_cover(place, segment).min(extent.end);
                }
                next => {
                    let end = next.map_or(extent.end, |next| next.start.min(extent.end));
                    self.fill(place, at, end);
                    at = end;
                }
            }
        }
    }

    /// Adds a segment that covers nothing of the others, before the one at `place`.
    fn fill(&mut self, place: SegmentPlace, start: u64, end: u64) {
        self.insert(place, Segment { start, end });
        self.bytes += end - start;
    }

    /// Where the cover of `segment` ends, as far as a look at its chunk tells. A large extent over very many segments
    /// is added chunk by chunk, if these have no gaps.
    fn end_of_cover(&self, (chunk, at): SegmentPlace, segment: Segment) -> u64 {
        let rest = self.chunks.get(chunk).and_then(|chunk| chunk.get(at..)).unwrap_or_default();
        let touching = rest.windows(2).take_while(|two| two[0].end == two[1].start);
        touching.last().map_or(segment.end, |two| two[1].end)
    }

    /// Makes two segments of the one around `position`, if there is one.
    fn cut(&mut self, position: u64) {
        let (chunk, at) = self.first_that_ends_after(position);
        let segment = self.chunks.get_mut(chunk).and_then(|chunk| chunk.get_mut(at));
        if let Some(segment) = segment.filter(|segment| segment.start < position) {
            let start = mem::replace(&mut segment.start, position);
            self.insert((chunk, at), Segment { start, end: position });
        }
    }

    fn first_that_ends_after(&self, position: u64) -> SegmentPlace {
        let is_before = |segment: &Segment| segment.end <= position;
        let chunk = self.chunks.partition_point(|chunk| chunk.last().is_some_and(is_before));
        let at = self.chunks.get(chunk).map_or(0, |chunk| chunk.partition_point(is_before));
        (chunk, at)
    }

    fn get(&self, (chunk, at): SegmentPlace) -> Option<Segment> {
        self.chunks.get(chunk)?.get(at).copied()
    }

    /// Puts `segment` before the one at `place`.
    fn insert(&mut self, (chunk, at): SegmentPlace, segment: Segment) {
        self.count += 1;
        // The end of the chunk before is the same place. So chunks are full if segments come in order.
        let before = chunk.checked_sub(1).and_then(|before| self.chunks.get_mut(before));
        if let Some(before) = before.filter(|before| at == 0 && before.len() < Self::LARGEST_CHUNK)
        {
            return before.push(segment);
        }
        let Some(into) = self.chunks.get_mut(chunk) else {
            return self.chunks.push(vec![segment]);
        };
        if into.len() < Self::LARGEST_CHUNK {
            return into.insert(at, segment);
        }
        let half = into.len() / 2;
        let mut rest = into.split_off(half);
        if at <= half {
            into.insert(at, segment)
        } else {
            rest.insert(at - half, segment)
        }
        self.chunks.insert(chunk + 1, rest);
    }
}

#[cfg(test)]
mod tests;
