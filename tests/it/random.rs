//! Is every directory of any tree what `find` says it is? Hundreds of trees, each from a seed, in
//! all measures, on 1, 2 and 8 threads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::dice::{Dice, Names};
use crate::document::Document;
use crate::fixture::{Fixture, raw};
use crate::oracle::{self, Entry, Eyes, Measure, Weight};
use crate::run::weigh;

const SEEDS: u64 = 320;

/// Seeds whose tree loses directories to permissions.
const UNREADABLE_SEEDS: u64 = 60;

/// Directories that cannot be opened, that can be listed but not entered, and the other way round.
const MODES: [u32; 4] = [0o000, 0o000, 0o444, 0o111];

#[test]
fn every_directory_is_what_find_says() {
    for_seeds(SEEDS, |seed| {
        let mut dice = Dice::new(seed);
        // Directories have no blocks in memory, so every eighth tree is on the disk.
        let place = if seed % 8 == 0 { Fixture::new() } else { Fixture::in_memory() };
        let fixture = dice.tree(place, Names::Hostile);
        let root = fixture.at("tree");
        let entries = oracle::find(&root, Eyes::Mine);
        for measure in Measure::ALL {
            for threads in [1, 2, 8] {
                let flags = format!("-j -T {threads} {}", measure.flag());
                let document = weigh(&flags).arg(&root).run().document();
                compare(&document, &entries, measure, &format!("seed {seed}, weigh {flags}"));
            }
        }
    });
}

#[test]
fn what_a_plain_user_cannot_read_leaves_the_rest_right() {
    for_seeds(UNREADABLE_SEEDS, |seed| {
        let mut dice = Dice::new(seed + 1_000_000);
        let mut fixture = dice.tree(Fixture::in_memory(), Names::Hostile);
        let root = fixture.at("tree");
        let all = oracle::find(&root, Eyes::Mine);
        let dirs: Vec<&Entry> = all.iter().filter(|entry| entry.kind == b'd').collect();
        let mut closed: Vec<&Entry> = (0..3).map(|_| *dice.of(&dirs[1..])).collect();
        // The deepest first: a plain user cannot reach what is below one that is closed.
        closed.sort_by_key(|dir| std::cmp::Reverse(dir.path.len()));
        for dir in closed {
            fixture = fixture.mode(root.join(raw(&dir.path)), *dice.of(&MODES));
        }
        let entries = oracle::find(&root, Eyes::Nobodys);
        for measure in Measure::ALL {
            for threads in [1, 2, 8] {
                let flags = format!("-j -T {threads} {}", measure.flag());
                let shown = weigh(&flags).arg(&root).by_nobody(&fixture).run();
                let what = format!("seed {seed}, weigh {flags}");
                let document = Document::parse(&shown.stdout);
                let all_read = entries.len() == all.len() && document.errors().is_empty();
                assert_eq!(shown.code() == 0, all_read, "{what}: {}", shown.complaint());
                assert_eq!(document.header["complete"], all_read, "{what}");
                compare(&document, &entries, measure, &what);
            }
        }
    });
}

/// Every entry is there once, and every directory weighs what the oracle says.
fn compare(document: &Document, entries: &[Entry], measure: Measure, what: &str) {
    let nodes = document.by_path();
    let weights = oracle::directories(entries, measure);
    for entry in entries {
        let path = String::from_utf8_lossy(&entry.path);
        let Some(node) = nodes.get(&entry.path) else { panic!("{what}: {path} is missing") };
        assert_eq!(node.kind, entry.kind(), "{what}: {path}");
        match weights.get(&entry.path) {
            Some(&expected) => {
                let entries = node.entries.expect("a directory has entries");
                let found = Weight { size: node.size, entries, shared: node.shared };
                assert_eq!(found, expected, "{what}: {path}/");
            }
            None => assert_eq!(node.size, measure.of(entry), "{what}: {path}"),
        }
    }
    assert_eq!(nodes.len(), entries.len(), "{what}: something is listed that is not there");
}

/// Runs `check` for every seed, a few at a time. A failure names its seed.
pub fn for_seeds(seeds: u64, check: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        break;
                    }
                    check(seed);
                }
            });
        }
    });
}
