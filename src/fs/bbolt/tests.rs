//! Databases, whole and damaged. `.ci/engines` reads those of containerd itself.

use std::collections::BTreeMap;
use std::io::Cursor;

use super::*;

#[path = "../../../tests/it/bolt.rs"]
mod bolt;

type All = BTreeMap<Vec<String>, Vec<u8>>;

const ENOUGH: u64 = 64 << 20;

fn all(file: &mut (impl Read + Seek), budget: &mut u64) -> io::Result<All> {
    read(file, budget, |all: &mut All, path, value| {
        let names = path.iter().map(|name| String::from_utf8_lossy(name).into_owned());
        all.insert(names.collect(), value.to_vec());
    })
}

/// Many small values, buckets in their own pages and in values, branches of two levels, and values of many pages.
fn database(transaction: u64) -> (Vec<u8>, All) {
    let (mut top, mut all) = (bolt::Bucket::default(), All::new());
    let mut put = |path: String, value: Vec<u8>| {
        top.put(&path, &value);
        all.insert(path.split('/').map(str::to_owned).collect(), value);
    };
    for i in 0..900 {
        put(format!("v1/default/children/{i:04}"), vec![i as u8; i % 7]);
    }
    for i in 0..50 {
        put(format!("v1/default/images/{i}/target/size"), vec![i as u8; i]);
    }
    for i in 0..30 {
        put(format!("v1/k8s/spec/{i}"), vec![b'x'; i * 700]);
    }
    put("v1/k8s/a/b/c/d/e/f".to_owned(), transaction.to_le_bytes().to_vec());
    put("version".to_owned(), vec![3]);
    (top.database(transaction), all)
}

#[test]
fn every_key_is_read_once_with_its_value() {
    for transaction in [2, 3, 4, 5] {
        let (bytes, expected) = database(transaction);
        let mut budget = ENOUGH;
        assert_eq!(all(&mut Cursor::new(&bytes), &mut budget).unwrap(), expected);
        let charged = ENOUGH - budget;
        assert!(charged <= bytes.len() as u64, "{charged}");
        // No page is read that there is no budget for.
        let error = all(&mut Cursor::new(&bytes), &mut (charged - 1)).unwrap_err();
        assert_eq!(error.to_string(), "the database is too large");
    }
}

/// The meta page with the highest transaction has the database, unless its checksum is wrong. Then the other has.
#[test]
fn a_damaged_meta_page_does_not_count() {
    let (bytes, expected) = database(8);
    for (wrong, is_readable) in [(vec![0], true), (vec![1], true), (vec![0, 1], false)] {
        let mut bytes = bytes.clone();
        for number in &wrong {
            bytes[number * 4096 + 16 + 50] ^= 1;
        }
        let read = all(&mut Cursor::new(&bytes), &mut { ENOUGH });
        assert_eq!(read.ok(), is_readable.then(|| expected.clone()), "{wrong:?}");
    }
}

/// A file that becomes another when this many reads were made.
struct Changing {
    now: Cursor<Vec<u8>>,
    /// After how many reads, and with what.
    later: Vec<(usize, Vec<u8>)>,
    reads: usize,
}

impl Read for Changing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.later.first().is_some_and(|(after, _)| self.reads > *after) {
            *self.now.get_mut() = self.later.remove(0).1;
        }
        self.now.read(buffer)
    }
}

impl Seek for Changing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.now.seek(to)
    }
}

/// What is read is a state that the database had, or nothing.
#[test]
fn what_changes_meanwhile_is_read_again() {
    for changes in 1..5 {
        for step in [1, 3, 10, 40, 80] {
            let later = (1..=changes).map(|i| (i as usize * step, database(4 + i).0)).collect();
            let now = Cursor::new(database(4).0);
            let mut file = Changing { now, later, reads: 0 };
            match all(&mut file, &mut { ENOUGH }) {
                Ok(found) => {
                    let is_one = (4..=4 + changes).any(|it| found == database(it).1);
                    assert!(is_one, "{changes} {step}");
                }
                Err(error) => {
                    assert_eq!(error.to_string(), "the database changes too often");
                    assert!(changes >= 3, "{changes} {step}");
                }
            }
        }
    }
}

/// Numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) % most as u64) as usize
    }
}

/// Overwrites something that the reader looks at.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let pages = bytes.len() / 4096;
    // Of most pages, the header and the elements; of a few, any byte.
    let page = random.below(pages);
    let within = [16, 200, 4096][random.below(3)];
    let at = page * 4096 + random.below(within);
    match random.below(8) {
        0 => bytes.truncate(random.below(bytes.len() + 1).max(1)),
        1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = random.below(256) as u8,
        // The page gets another kind and count, or overflows.
        3 => bytes[page * 4096 + 8] = [1, 2, 4, 16, 255][random.below(5)],
        4 => bytes[page * 4096 + 10] = random.below(256) as u8,
        5 => bytes[page * 4096 + 12 + random.below(4)] = random.below(256) as u8,
        // A number of a page: so cycles come about, and pages of several buckets.
        6 => {
            let at = at & !7;
            let number =
                [0, random.below(pages) as u64, u64::MAX, u64::MAX / 4096][random.below(4)];
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        // A page is also another one, with its number.
        _ => {
            let from = random.below(pages) * 4096;
            bytes.copy_within(from..from + 4096, page * 4096);
            bytes[page * 4096..][..8].copy_from_slice(&(page as u64).to_le_bytes());
        }
    }
}

/// However it is damaged, reading ends, and never takes more than the budget. So that what is damaged is looked at, meta
/// pages get right checksums again.
#[test]
fn damaged_databases_are_read_or_refused() {
    let count = match std::env::var("WEIGH_TEST_IMAGES") {
        Ok(count) => count.parse().unwrap(),
        Err(_) => 2_000,
    };
    let (bytes, _) = database(8);
    let mut random = Random(7);
    let (mut whole, mut refused) = (0, 0);
    for _ in 0..count {
        let mut damaged = bytes.clone();
        for _ in 0..=random.below(4) {
            damage(&mut damaged, &mut random);
            damaged.resize(damaged.len().max(4096), 0);
        }
        if random.below(4) > 0 {
            for meta in damaged.chunks_exact_mut(4096).take(2) {
                let sum = bolt::fnv(&meta[16..72]).to_le_bytes();
                meta[72..80].copy_from_slice(&sum);
            }
        }
        damaged.truncate(damaged.len() - random.below(2) * random.below(4096));
        let (mut budget, mut given) = (4 << 20, 0);
        let found = read(&mut Cursor::new(&damaged), &mut budget, |(): &mut (), path, value| {
            // The names around a value are read once for many.
            given += path.last().unwrap().len() + value.len();
        });
        assert!(given as u64 <= ((4 << 20) - budget), "{given} of {budget}");
        match found {
            Ok(()) => whole += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(whole > count / 20 && refused > count / 5, "{whole} read, {refused} refused");
    println!("{whole} read, {refused} refused");
}

/// What a file can ask for at most: pages that lead to each other, and elements that say they are everywhere.
#[test]
fn cycles_and_huge_counts_end() {
    let (bytes, _) = database(8);
    let root = u64_at(&bytes, 4096 + 32) as usize;
    let forge = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = bytes.clone();
        change(&mut bytes[root * 4096..]);
        all(&mut Cursor::new(&bytes), &mut { ENOUGH }).unwrap_err().to_string()
    };
    let number = |page: &mut [u8], at: usize, number: u32| {
        page[at..at + 4].copy_from_slice(&number.to_le_bytes());
    };
    let own = forge(&|page| {
        page[8..12].copy_from_slice(&[1, 0, 1, 0]);
        page[16..32].fill(0);
        page[16] = 16;
        number(page, 24, root as u32);
    });
    assert!(own.contains("too many levels"), "{own}");
    let many = forge(&|page| page[10..12].fill(255));
    assert!(many.contains("the header of a page"), "{many}");
    let long = forge(&|page| number(page, 12, u32::MAX));
    assert!(long.contains("the header of a page"), "{long}");
    let far = forge(&|page| number(page, 20, u32::MAX - 40));
    assert!(far.contains("an element of a page"), "{far}");
    // All elements at the same place.
    let same = forge(&|page| {
        page[10] = 2;
        number(page, 36, u32_at(page, 20) - 16);
    });
    assert!(same.contains("an element of a page"), "{same}");
    for cut in [0, 1, 79, 4096, 5000, 3 * 4096, bytes.len() - 4096] {
        assert!(all(&mut Cursor::new(&bytes[..cut]), &mut { ENOUGH }).is_err(), "{cut}");
    }
}
