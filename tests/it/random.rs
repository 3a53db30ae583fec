//! In hundreds of random trees, each directory comes to what `find` says, in all measures, on 1, 2 and 8 threads.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::dice::{Dice, Names};
use crate::document::Document;
use crate::fixture::{Fixture, raw};
use crate::oracle::{self, Entry, Eyes, Measure};
use crate::rounds::{for_seeds, rounds};
use crate::run::weigh;

const SEEDS: (usize, usize) = (160, 2_000);

/// Seeds for several roots.
const MIXES: (usize, usize) = (100, 500);

/// Seeds whose tree loses directories to permissions.
const UNREADABLE_SEEDS: (usize, usize) = (60, 500);

/// Directories that cannot be opened, that can be listed but not entered, and the other way round.
const MODES: [u32; 4] = [0o000, 0o000, 0o444, 0o111];

#[test]
fn every_directory_is_what_find_says() {
    for_seeds(rounds(SEEDS.0, SEEDS.1), |seed| {
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
                oracle::compare(
                    &document,
                    &entries,
                    measure,
                    &format!("seed {seed}, weigh {flags}"),
                );
            }
        }
    });
}

#[test]
fn what_a_plain_user_cannot_read_leaves_the_rest_right() {
    for_seeds(rounds(UNREADABLE_SEEDS.0, UNREADABLE_SEEDS.1), |seed| {
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
                oracle::compare(&document, &entries, measure, &what);
            }
        }
    });
}

/// Roots that are repeated, lie in one another, share links, and are spelled in every way.
#[test]
fn any_mix_of_roots_is_what_du_says() {
    for_seeds(rounds(MIXES.0, MIXES.1), |seed| {
        let mut dice = Dice::new(seed + 2_000_000);
        let place = if seed % 4 == 0 { Fixture::new() } else { Fixture::in_memory() };
        let mut fixture = dice.tree(place, Names::Hostile).symlink(".", "again");
        let mut entries = oracle::find(&fixture.at("tree"), Eyes::Mine);
        // A symlink that is a root means where it leads; one to a file is weighed as itself, and du
        // has no such way.
        entries.retain(|entry| entry.kind != b'l');
        let mut roots = vec![PathBuf::from("elsewhere")];
        for i in 0..2 + dice.below(7) {
            let entry = dice.of(&entries);
            let plain = PathBuf::from("tree").join(raw(&entry.path));
            if entry.kind == b'd' && dice.below(6) == 0 {
                let link = format!("to-{i}");
                fixture = fixture.symlink(&plain, &link);
                roots.push(link.into());
            } else {
                roots.push(spelled(&mut dice, &plain, entry.kind == b'd', &fixture));
            }
        }
        for (flag, size_of) in [("-j", "-sB1"), ("-j --inodes", "--inodes")] {
            let expected = oracle::du_total(&["-D", size_of], fixture.path(), &roots);
            for threads in [1, 2, 8] {
                let start = weigh(&format!("{flag} -T {threads} --")).within(fixture.path());
                let weigh = roots.iter().fold(start, |weigh, root| weigh.arg(root));
                let found = weigh.run().document().root().size;
                assert_eq!(found, expected, "seed {seed}, weigh {flag} -T {threads} {roots:?}");
            }
        }
    });
}

/// The path `plain`, written in another way.
pub fn spelled(dice: &mut Dice, plain: &Path, is_directory: bool, fixture: &Fixture) -> PathBuf {
    let bytes = plain.as_os_str().as_bytes();
    let doubled = || {
        let twice = bytes.iter().flat_map(|&byte| vec![byte; 1 + usize::from(byte == b'/')]);
        twice.collect::<Vec<u8>>()
    };
    match dice.below(8) {
        0 => Path::new(".").join(plain),
        1 => raw(&doubled()).to_owned(),
        2 => Path::new("tree/..").join(plain),
        3 => Path::new("again/again").join(plain),
        4 => fixture.at(plain),
        5 if is_directory => raw(&[bytes, b"//"].concat()).to_owned(),
        6 if is_directory => raw(&[bytes, b"/."].concat()).to_owned(),
        _ => plain.to_owned(),
    }
}
