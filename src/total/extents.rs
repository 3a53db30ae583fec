//! The shared extents below a directory, every byte once, to tell what deleting the directory frees at most.
//!
//! Extents overlap in part: a clone may share any range of another file. So a set keeps segments: what the extents
//! cover, cut wherever one of them begins or ends. A set of segments follows from the extents alone, in whatever order
//! and in however many parts they are added, and it never gets smaller. That is why a directory with too many
//! segments has too many on any number of threads, and gets the same bound.
//!
//! Segments take 16 bytes each, in sorted chunks. One sorted list would be moved for each segment that is added, and a
//! `BTreeMap` takes about 28 bytes.

use std::mem;
use std::ops::Range;

/// The most segments of one directory: 32 MiB of them, and 64 MiB if every chunk is half empty.
const MOST_SEGMENTS: usize = 1 << 21;

/// The shared extents of a directory, or of a part of one. Above `MOST` segments, only a bound is kept.
#[derive(Debug, Default)]
pub struct Extents<const MOST: usize = MOST_SEGMENTS> {
    /// By the file system they are on. Nearly always there is one.
    file_systems: Vec<(u64, Segments)>,
    /// The sum of what was added: as it was, and each closed directory as [`Covered::bytes`] says.
    added: u64,
    has_too_many: bool,
}

/// How much extents cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// How many bytes, saturated at `u64::MAX`.
    pub bytes: u64,
    /// Whether this counts every byte once. Otherwise there were too many segments, and it is a bound: bytes that are
    /// in several files or subdirectories may count several times.
    pub is_exact: bool,
}

impl<const MOST: usize> Extents<MOST> {
    /// Adds an extent: a range of bytes in the address space of a file system.
    pub fn add(&mut self, file_system: u64, extent: Range<u64>) {
        self.added = self.added.saturating_add(extent.end.saturating_sub(extent.start));
        self.cover(file_system, extent);
    }

    /// Adds another part of the same directory, or a closed subdirectory.
    pub fn absorb(&mut self, mut other: Self) {
        let added = self.added.saturating_add(other.added);
        if self.segments() < other.segments() {
            mem::swap(self, &mut other);
        }
        self.added = added;
        if other.has_too_many {
            self.give_up();
        }
        for (file_system, segments) in mem::take(&mut other.file_systems) {
            for Segment { start, end } in segments.chunks.into_iter().flatten() {
                self.cover(file_system, start..end);
            }
        }
    }

    /// How much they cover.
    pub fn covered(&self) -> Covered {
        let bytes = self.file_systems.iter().map(|(_, segments)| segments.bytes);
        match self.has_too_many {
            true => Covered { bytes: self.added, is_exact: false },
            false => Covered { bytes: bytes.fold(0, u64::saturating_add), is_exact: true },
        }
    }

    /// Closes the directory, to which nothing is added any more. If the one above has too many segments, it adds up
    /// what its subdirectories cover.
    pub fn close(&mut self) -> Covered {
        let covered = self.covered();
        self.added = covered.bytes;
        covered
    }

    fn cover(&mut self, file_system: u64, extent: Range<u64>) {
        if self.has_too_many || extent.is_empty() {
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
        if self.segments() > MOST {
            self.give_up();
        }
    }

    fn segments(&self) -> usize {
        self.file_systems.iter().map(|(_, segments)| segments.count).sum()
    }

    fn give_up(&mut self) {
        self.has_too_many = true;
        self.file_systems = Vec::new();
    }
}

/// A range of bytes that no extent begins or ends within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    start: u64,
    end: u64,
}

/// Segments of one file system. No two overlap.
#[derive(Debug, Default)]
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
