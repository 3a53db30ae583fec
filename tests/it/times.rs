//! The newest time of what is in a directory, before 1970 too, and how times are written.

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
use crate::oracle::{self, Eyes};
use crate::rounds::for_seeds;
use crate::run::weigh;

/// What a tree in memory takes for a time; a file system on a disk may take less.
const TIMES: [i64; 7] = [-3_000_000_000, -1, 0, 1, 1_000_000_000, 1_763_683_441, 40_000_000_000];

#[test]
fn a_directory_is_as_new_as_the_newest_in_it() {
    for_seeds(40, |seed| {
        let mut dice = Dice::new(seed + 6_000_000);
        let mut fixture = dice.tree(Fixture::in_memory(), Names::Hostile);
        let root = fixture.at("tree");
        for entry in oracle::find(&root, Eyes::Mine) {
            // A directory from the future would be accessed anew by each listing (relatime, mount(8)).
            let times = if entry.kind == b'd' { &TIMES[..6] } else { &TIMES };
            fixture = fixture.modified(root.join(raw(&entry.path)), *dice.of(times));
        }
        // The first listing is an access; the second may be, where the first was in the same tick of
        // the clock as the change before it.
        for _ in 0..2 {
            weigh("").arg(&root).run().clean();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let entries = oracle::find(&root, Eyes::Mine);
        for (which, time) in ["a", "c", "m"].into_iter().enumerate() {
            for threads in [1, 2, 8] {
                let flags = format!("-j -m {time} -T {threads}");
                let what = format!("seed {seed}, weigh {flags}");
                let document = weigh(&flags).arg(&root).run().document();
                assert_eq!(document.header["measure"], "newest", "{what}");
                assert_eq!(document.header["unit"], "seconds", "{what}");
                let nodes = document.by_path();
                assert_eq!(nodes.len(), entries.len(), "{what}");
                for entry in &entries {
                    let prefix = [&entry.path, b"/".as_slice()].concat();
                    let below = entries.iter().filter(|other| {
                        other.path == entry.path
                            || entry.path.is_empty()
                            || other.path.starts_with(&prefix)
                    });
                    let newest = below.map(|below| below.times[which]).max().unwrap();
                    let path = String::from_utf8_lossy(&entry.path);
                    assert_eq!(nodes[&entry.path].time, newest, "{what}: {path}");
                    assert_eq!(nodes[&entry.path].shared, 0, "{what}: {path}");
                }
            }
        }
    });
}

/// A directory with one file of each time, and nothing newer than that in it.
fn ages() -> Fixture {
    Fixture::in_memory()
        .file("top/old/file", 5000)
        .modified("top/old/file", -1)
        .modified("top/old", -86_400)
        .file("top/new.rs", 1)
        .modified("top/new.rs", 1_000_000_000)
        .modified("top", 0)
}

fn shown(flags: &str) -> String {
    let fixture = ages();
    // POSIX's own way of naming a zone: five hours behind UTC, and no database needed.
    weigh(&format!("-c -s {flags}"))
        .arg("top")
        .within(fixture.path())
        .env("TZ", "EST5")
        .run()
        .text()
}

#[test]
fn the_newest_is_nearest_to_the_root_and_has_no_bar() {
    assert_eq!(
        shown("-m m"),
        "1969-12-31T18:59:59 4.88Ki     ┌── file\n\
         1969-12-31T18:59:59 4.88Ki   ┌─┴ old\n\
         2001-09-08T20:46:40     1B   ├── new.rs\n\
         2001-09-08T20:46:40 4.88Ki ┌─┴ top\n"
    );
    assert_eq!(
        shown("-m modified -r -n 2 -R"),
        "top    0 2001-09-08T20:46:40 4.88Ki\n\
         new.rs 1 2001-09-08T20:46:40     1B\n\
         old    1 1969-12-31T18:59:59 4.88Ki\n"
    );
}

#[test]
fn a_time_is_written_as_asked() {
    for (style, expected) in [
        ("full-iso", "2001-09-08 20:46:40 -0500 4.88Ki ┌── top\n"),
        ("long-iso", "2001-09-08 20:46 4.88Ki ┌── top\n"),
        ("iso", "2001-09-08 4.88Ki ┌── top\n"),
        ("+%s;%b", "1000000000;Sep 4.88Ki ┌── top\n"),
    ] {
        assert_eq!(shown(&format!("-m m -d 0 --time-style {style}")), expected);
    }
    let relative = shown("-m m -d 0 --time-style relative");
    assert!(relative.ends_with(" years ago 4.88Ki ┌── top\n"), "{relative}");
}

#[test]
fn times_by_group() {
    assert_eq!(
        shown("-m m -t"),
        "1969-12-31T18:59:59   ┌── (no extension)\n\
         1969-12-31T19:00:00   ├── (directories)\n\
         2001-09-08T20:46:40   ├── .rs\n\
         2001-09-08T20:46:40 ┌─┴ top\n"
    );
}

/// Nothing of a size is to be had from a time.
#[test]
fn what_makes_no_sense_of_times_is_refused() {
    for flags in ["-m m -z 1k", "-m m -f", "-m m --inodes", "-m x", "-m m --time-style +%"] {
        let shown = weigh(flags).run();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}");
    }
}
