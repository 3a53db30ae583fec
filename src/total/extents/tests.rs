//! Extents are compared with an oracle that marks every byte.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// The address space of a file system in these tests.
const END: u64 = 200;

type Extent = (u64, Range<u64>);

fn extent() -> impl Strategy<Value = Extent> {
    (0..3_u64, 0..END, 0..60_u64).prop_map(|(device, at, length)| (device, at..at + length))
}

fn added<const MOST: usize>(extents: &[Extent]) -> Extents<MOST> {
    let mut all = Extents::default();
    extents.iter().for_each(|(file_system, extent)| all.add(*file_system, extent.clone()));
    all
}

/// How many bytes are in any of the extents, and in how many segments, by looking at each byte.
fn marked(extents: &[Extent]) -> (u64, usize) {
    let mut bytes = BTreeSet::new();
    let mut cuts: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (file_system, extent) in extents.iter().filter(|(_, extent)| !extent.is_empty()) {
        bytes.extend(extent.clone().map(|byte| (*file_system, byte)));
        cuts.entry(*file_system).or_default().extend([extent.start, extent.end]);
    }
    let begins = |(file_system, byte): &&(u64, u64)| {
        let is_first = byte.checked_sub(1).is_none_or(|one| !bytes.contains(&(*file_system, one)));
        is_first || cuts[file_system].contains(byte)
    };
    (bytes.len() as u64, bytes.iter().filter(begins).count())
}

fn sum(extents: &[Extent]) -> u64 {
    extents.iter().map(|(_, extent)| extent.end - extent.start).sum()
}

fn check_order(extents: &Extents<MOST_SEGMENTS>) {
    for (_, segments) in &extents.file_systems {
        assert!(segments.chunks.iter().all(|chunk| !chunk.is_empty()));
        let all: Vec<_> = segments.chunks.iter().flatten().copied().collect();
        assert!(all.iter().all(|segment| segment.start < segment.end));
        assert!(all.windows(2).all(|two| two[0].end <= two[1].start));
        assert_eq!(all.len(), segments.count);
        assert_eq!(all.iter().map(|one| one.end - one.start).sum::<u64>(), segments.bytes);
    }
}

proptest! {
    #[test]
    fn every_byte_counts_once(extents in vec(extent(), 0..40)) {
        let all = added::<MOST_SEGMENTS>(&extents);
        check_order(&all);
        let (bytes, segments) = marked(&extents);
        prop_assert_eq!(all.covered(), Covered { bytes, is_exact: true });
        prop_assert_eq!(all.segments(), segments);
    }

    /// Threads add the files of a directory in any order, and its parts meet in any order.
    #[test]
    fn parts_and_order_make_no_difference(
        (extents, shuffled) in vec(extent(), 0..40)
            .prop_flat_map(|extents| (Just(extents.clone()), Just(extents).prop_shuffle())),
        parts in vec(0..10_usize, 1..10),
    ) {
        const MOST: usize = 12;
        let whole = added::<MOST>(&extents);
        let mut rest = &shuffled[..];
        let mut merged = Extents::<MOST>::default();
        for part in parts {
            let (these, others) = rest.split_at(part.min(rest.len()));
            rest = others;
            let mut part = added(these);
            // Whichever is absorbed by the other.
            if these.len() % 2 == 0 { mem::swap(&mut merged, &mut part) }
            merged.absorb(part);
        }
        merged.absorb(added(rest));
        prop_assert_eq!(merged.covered(), whole.covered());
        let (bytes, segments) = marked(&extents);
        let is_exact = segments <= MOST;
        let bytes = if is_exact { bytes } else { sum(&extents) };
        prop_assert_eq!(whole.covered(), Covered { bytes, is_exact });
    }

    /// A bound is never too small, and adds up what directories cover and not what their files do.
    #[test]
    fn a_bound_is_the_sum_of_closed_directories(
        directories in vec(vec(extent(), 0..8), 0..8),
        files in vec(extent(), 0..8),
        order in any::<prop::sample::Index>(),
    ) {
        const MOST: usize = 10;
        let mut closed: Vec<_> = directories.iter().map(|files| added::<MOST>(files)).collect();
        let sums: u64 = closed.iter_mut().map(|directory| directory.close().bytes).sum();
        let first = order.index(closed.len() + 1);
        let mut above = Extents::<MOST>::default();
        let mut own = Some(added(&files));
        for (at, directory) in closed.into_iter().enumerate() {
            if at == first {
                own.take().into_iter().for_each(|own| above.absorb(own));
            }
            above.absorb(directory);
        }
        own.take().into_iter().for_each(|own| above.absorb(own));
        let all: Vec<_> = directories.concat().into_iter().chain(files.clone()).collect();
        let (bytes, segments) = marked(&all);
        let covered = above.close();
        prop_assert_eq!(covered.is_exact, segments <= MOST);
        prop_assert!(covered.bytes >= bytes);
        let expected = if covered.is_exact { bytes } else { sums + sum(&files) };
        prop_assert_eq!(covered.bytes, expected);
    }
}

/// Enough for many chunks, in an order that splits them in the middle.
#[test]
fn chunks_stay_in_order() {
    const COUNT: u64 = 40_000;
    let mut all = Extents::default();
    for i in 0..COUNT {
        // 7,919 is prime, and no factor of the count.
        let start = i * 7_919 % COUNT * 10;
        all.add(1, start..start + 4);
    }
    check_order(&all);
    assert_eq!((all.segments() as u64, all.covered().bytes), (COUNT, COUNT * 4));
    let room: usize = all.file_systems[0].1.chunks.iter().map(Vec::capacity).sum();
    assert!(room as u64 <= 2 * COUNT, "{room}");
    // One over everything fills the gaps, and the other adds nothing.
    all.add(1, 0..COUNT * 10);
    all.add(1, 3..COUNT * 10 - 7);
    check_order(&all);
    assert_eq!(all.covered(), Covered { bytes: COUNT * 10, is_exact: true });
}

#[test]
fn segments_in_order_fill_their_chunks() {
    let mut all = Extents::<MOST_SEGMENTS>::default();
    (0..10_000).for_each(|i| all.add(1, i * 8..i * 8 + 4));
    assert_eq!(all.file_systems[0].1.chunks.len(), 10_000_usize.div_ceil(Segments::LARGEST_CHUNK));
}

#[test]
fn the_ends_of_the_address_space_do_not_overflow() {
    let mut all = Extents::<MOST_SEGMENTS>::default();
    all.add(1, 0..u64::MAX);
    all.add(1, u64::MAX - 1..u64::MAX);
    all.add(2, 0..u64::MAX);
    assert_eq!(all.covered(), Covered { bytes: u64::MAX, is_exact: true });
    all.add(3, Range { start: 9, end: 3 });
    assert_eq!(all.segments(), 3);
}
