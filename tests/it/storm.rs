//! During the walk, eight writers create, rename, unlink and swap entries. What they do not touch is exact every time,
//! and nothing outside the root counts.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::dice::{Dice, Names};
use crate::document::Document;
use crate::fixture::{Fixture, raw};
use crate::oracle::{self, Entry, Eyes, Measure, Weight};
use crate::rounds::rounds;
use crate::run::{Shown, is_portable, weigh};

const WALKS: (usize, usize) = (60, 500);
const WRITERS: u64 = 8;
/// Files outside are longer than all that the writers can create.
const OUTSIDE: u64 = 1 << 50;
/// How many names the writers use in each directory, and in how many directories.
const SLOTS: usize = 12;
const DIRS: usize = 24;
/// Where symlinks lead. The portable source may follow a symlink that replaces a directory. For it, none may lead back
/// to what the writers leave alone.
fn up() -> &'static [&'static str] {
    if is_portable() { &["..", "."] } else { &["..", ".", "../../.."] }
}

/// `top/tree` is left alone; `top/storm` is the writers', and `outside` is where they point. The second fixture lies
/// far down in the first, because the writers make directories behind links that lead up.
fn calm() -> (Fixture, Fixture) {
    let mut dice = Dice::new(77);
    let below = "1/2/3/4/5/6/7/8/9/10/11/12";
    let above = Fixture::in_memory().dir(below);
    let place = Fixture::within(&above.at(below)).dir("top");
    let mut fixture = dice.tree(place, Names::Hostile);
    fs::rename(fixture.at("tree"), fixture.at("top/tree")).unwrap();
    for i in 0..DIRS {
        fixture = fixture.dir(format!("top/storm/{}/{i}", i % 5));
    }
    (above, fixture.sparse("outside/secret", OUTSIDE).sparse("outside/deep/secret", OUTSIDE))
}

/// What one writer does until it is told to stop.
fn write(fixture: &Fixture, seed: u64, is_over: &AtomicBool, done: &AtomicU64) {
    let mut dice = Dice::new(seed);
    let top = fixture.at("top/storm");
    let outside = fixture.at("outside");
    while !is_over.load(Ordering::Relaxed) {
        let [one, other] = [(); 2].map(|()| slot(&mut dice, &top));
        // This may fail, because another writer may have been faster.
        let is_done = match dice.below(9) {
            0 | 1 => fs::create_dir_all(one.join("in/it"))
                .and_then(|()| fs::write(one.join("f"), "wind")),
            2 => fs::write(&one, "rain"),
            3 => std::os::unix::fs::symlink(&outside, &one),
            4 => std::os::unix::fs::symlink(dice.of(up()), &one),
            5 => fs::rename(&one, &other),
            6 => fs::remove_file(&one),
            7 => fs::remove_dir_all(&one),
            _ => renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).map_err(Into::into),
        };
        done.fetch_add(u64::from(is_done.is_ok()), Ordering::Relaxed);
    }
}

fn slot(dice: &mut Dice, top: &Path) -> PathBuf {
    let dir = dice.below(DIRS);
    let name = dice.below(SLOTS);
    let slot = top.join(format!("{}/{dir}/{name}", dir % 5));
    // Sometimes below a name, so that what is walked moves with everything in it.
    if dice.below(4) == 0 { slot.join("in") } else { slot }
}

#[test]
fn what_a_storm_leaves_alone_is_exact_and_nothing_outside_counts() {
    let (_above, fixture) = calm();
    let still = oracle::find(&fixture.at("top/tree"), Eyes::Mine);
    let (is_over, done) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for seed in 0..WRITERS {
            let (fixture, is_over, done) = (&fixture, &is_over, &done);
            scope.spawn(move || write(fixture, seed, is_over, done));
        }
        // If a walk fails, the writers end, too.
        let over = Over(&is_over);
        for walk in 0..rounds(WALKS.0, WALKS.1) {
            let flags = format!("-j -s -T {}", [1, 2, 8, 64][walk % 4]);
            let start = weigh(&flags).arg(fixture.at("top"));
            let start = if walk % 3 == 0 { start.limited("-n 16") } else { start };
            what_is_still_is_exact(&start.run(), &still, &format!("walk {walk}, weigh {flags}"));
        }
        drop(over);
    });
    assert!(done.into_inner() > 1000, "there was no storm");
    assert_eq!(fs::metadata(fixture.at("outside/secret")).unwrap().len(), OUTSIDE);
}

fn what_is_still_is_exact(shown: &Shown, still: &[Entry], what: &str) {
    assert!(matches!(shown.code(), 0 | 1), "{what}: {}", shown.complaint());
    let document = Document::parse(&shown.stdout);
    assert_eq!(document.header["complete"], shown.code() == 0, "{what}");
    if !is_portable() {
        assert!(document.nodes.iter().all(|node| node.name != b"secret"), "{what}: it got outside");
        assert!(document.root().size < OUTSIDE, "{what}: it got outside");
    }
    let nodes = document.by_path();
    let weights = oracle::directories(still, Measure::Apparent);
    for entry in still {
        let path = if entry.path.is_empty() {
            b"tree".to_vec()
        } else {
            [b"tree/", entry.path.as_slice()].concat()
        };
        let node = nodes
            .get(&path)
            .unwrap_or_else(|| panic!("{what}: {} is missing", raw(&path).display()));
        let expected = weights
            .get(&entry.path)
            .copied()
            .unwrap_or(Weight { size: Measure::Apparent.of(entry), ..Weight::default() });
        let found =
            Weight { size: node.size, entries: node.entries.unwrap_or(0), shared: node.shared };
        assert_eq!(found, expected, "{what}: {}", raw(&path).display());
    }
    let below = nodes.keys().filter(|path| path.starts_with(b"tree/")).count();
    assert_eq!(below + 1, still.len(), "{what}: something is listed that is not there");
    // Nothing in the storm has two links, so every directory is the sum of what is in it.
    for (path, node) in nodes.iter().filter(|(path, _)| path.starts_with(b"storm")) {
        let sum: u64 = node.children.iter().map(|&child| document.nodes[child].size).sum();
        assert!(!node.listed || node.size == sum, "{what}: {}", raw(path).display());
    }
}

/// Ends the storm when it goes.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
