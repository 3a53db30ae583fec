//! Extents are compared with an oracle that marks every byte.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// The address space of a file system in these tests.
const END: u64 = 200;

type Extent = (u64, Range<u64>);

fn extent() -> impl Strategy<Value = Extent> {
    (0..3_u64, 0..END, 0..60_u64).prop_map(|(device, at, length)| (device, at..at + length))
}

fn none() -> Extents {
    Extents::new(&Arc::default())
}

fn added(extents: &[Extent], count: &Arc<ExtentCount>) -> Extents {
    let mut all = Extents::new(count);
    extents.iter().for_each(|(file_system, extent)| all.add(*file_system, extent.clone()));
    all
}

/// How many bytes are in any of the extents, and in how many ranges, by looking at each byte.
fn marked(extents: &[Extent]) -> (u64, usize) {
    let mut bytes = BTreeSet::new();
    for (file_system, extent) in extents {
        bytes.extend(extent.clone().map(|byte| (*file_system, byte)));
    }
    let first = bytes.iter().filter(|(file_system, byte)| {
        byte.checked_sub(1).is_none_or(|before| !bytes.contains(&(*file_system, before)))
    });
    (bytes.len() as u64, first.count())
}

fn check_order(extents: &Extents) {
    for Ranges { ends, bytes } in extents.file_systems.values() {
        let all: Vec<_> = ends.iter().collect();
        assert!(all.iter().all(|(start, end)| start < end));
        assert!(all.windows(2).all(|two| two[0].1 < two[1].0));
        assert_eq!(all.iter().map(|(start, end)| *end - *start).sum::<u64>(), *bytes);
    }
}

proptest! {
    #[test]
    fn every_byte_counts_once(extents in vec(extent(), 0..40)) {
        let all = added(&extents, &Arc::default());
        check_order(&all);
        let (bytes, ranges) = marked(&extents);
        prop_assert_eq!((all.covered(), all.listed()), (Some(bytes), extents.len() as u64));
        prop_assert_eq!(all.ranges(), ranges);
    }

    /// Threads add the files of a directory in any order, and its parts meet in any order. Only small sets are kept if
    /// there are too many extents.
    #[test]
    fn parts_and_order_make_no_difference(
        (extents, shuffled) in vec(extent(), 0..40)
            .prop_flat_map(|extents| (Just(extents.clone()), Just(extents).prop_shuffle())),
        parts in vec(0..10_usize, 1..10),
        elsewhere in 0..20_u64,
    ) {
        const MOST: u64 = 30;
        const FEW: u64 = 12;
        let count = Arc::new(ExtentCount { most: MOST, few: FEW, ..ExtentCount::default() });
        let mut rest = &shuffled[..];
        let mut merged = Extents::new(&count);
        for part in parts {
            let (these, others) = rest.split_at(part.min(rest.len()));
            rest = others;
            let mut part = added(these, &count);
            // Whichever is absorbed by the other.
            if these.len() % 2 == 0 { mem::swap(&mut merged, &mut part) }
            merged.absorb(part);
        }
        count.add(elsewhere);
        merged.absorb(added(rest, &count));
        let listed = extents.len() as u64;
        prop_assert_eq!(merged.listed(), listed);
        let (bytes, ranges) = marked(&extents);
        let is_kept = listed <= FEW || listed + elsewhere <= MOST;
        prop_assert_eq!(merged.covered(), is_kept.then_some(bytes));
        // What is not kept takes nothing.
        merged.absorb(Extents::new(&count));
        prop_assert_eq!(merged.ranges(), if is_kept { ranges } else { 0 });
    }
}

/// What a file said at one of its links counts again at another.
#[test]
fn links_count_their_extents() {
    let count = Arc::new(ExtentCount { most: 3, few: 1, ..ExtentCount::default() });
    let mut all = added(&[(1, 0..5), (1, 10..15)], &count);
    assert!(!count.is_exceeded());
    all.absorb(all.again());
    assert!(count.is_exceeded());
    assert_eq!((all.listed(), all.covered(), all.ranges()), (4, None, 0));
}

#[test]
fn ranges_stay_in_order() {
    const COUNT: u64 = 40_000;
    let mut all = none();
    for i in 0..COUNT {
        // 7,919 is prime, and no factor of the count.
        let start = i * 7_919 % COUNT * 10;
        all.add(1, start..start + 4);
    }
    check_order(&all);
    assert_eq!((all.ranges() as u64, all.covered()), (COUNT, Some(COUNT * 4)));
    // One over everything fills the gaps, and the other adds nothing.
    all.add(1, 0..COUNT * 10);
    all.add(1, 3..COUNT * 10 - 7);
    check_order(&all);
    assert_eq!((all.ranges(), all.covered()), (1, Some(COUNT * 10)));
}

#[test]
fn the_ends_of_the_address_space_do_not_overflow() {
    let mut all = none();
    all.add(1, 0..u64::MAX);
    all.add(1, u64::MAX - 1..u64::MAX);
    all.add(2, 0..u64::MAX);
    assert_eq!(all.covered(), Some(u64::MAX));
    all.add(3, Range { start: 9, end: 3 });
    assert_eq!(all.ranges(), 2);
}
