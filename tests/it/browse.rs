//! The state of `--ui` without a terminal: what is listed, and what marks come to.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::dice::{Dice, Names};
use crate::fixture::Fixture;
use crate::mounted::{Mounted, weight_of};
use crate::rounds::rounds;
use crate::run::weigh;
use crate::session::{self, Session, Wanted, open};
use crate::snapshots::sizes_alone;

/// Keys without end took memory without end, and each searched for all of them.
#[test]
fn a_pattern_has_a_bounded_length() {
    const MOST: usize = 10_000;
    let fixture = Fixture::new().file("t/four", 1);
    let mut browser = open(fixture.at("t"));
    browser.ask(&("f".to_owned() + &"x".repeat(2 * MOST)));
    browser.paste(&"x".repeat(MOST));
    browser.ask(&"\x7f".repeat(MOST));
    browser.press("four\n");
    assert_eq!(browser.names(), ["four"]);
}

/// Walks around at random, and marks and unmarks as it comes.
fn mark_at_random(browser: &mut Session, dice: &mut Dice) {
    for _ in 0..dice.below(60) {
        let key = match dice.below(20) {
            0..6 => "↓",
            6..9 => "↑",
            9..13 => "→",
            13..15 => "←",
            15 => "n",
            16 => "s",
            17 if dice.below(3) == 0 => "A",
            _ => " ",
        };
        assert!(browser.ask(key).is_empty());
    }
}

fn remove(path: &Path) {
    if fs::symlink_metadata(path).unwrap().is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
}

/// A mark frees what has no link outside: with the last link, all at once.
#[test]
fn links_are_freed_with_the_last_of_them() {
    let fixture = Fixture::new()
        .file("a/one", 100_000)
        .hard_link("a/one", "b/one")
        .file("a/two", 200_000)
        .hard_link("a/two", "c");
    let mut browser = open(fixture.path());
    let size = |name: &str| fs::symlink_metadata(fixture.at(name)).unwrap().blocks() * 512;
    let freed = |browser: &Session| browser.frees()[1];
    browser.press("n");
    assert_eq!(browser.names(), ["a", "b", "c"]);
    browser.press(" ");
    assert_eq!(freed(&browser), size("a"));
    browser.press(" ");
    assert_eq!(freed(&browser), size("a") + size("b") + size("a/one"));
    browser.press(" ");
    assert_eq!(freed(&browser), size("a") + size("b") + size("a/one") + size("a/two"));
    // Each link is one of them.
    assert_eq!((browser.marks(), browser.marked_size().unwrap().1), (3, 6));
    // The last line stays chosen: its mark is taken off again.
    browser.press(" ");
    assert_eq!(freed(&browser), size("a") + size("b") + size("a/one"));
    assert_eq!(browser.press("p").outside(), [Wanted::Print]);
    let paths = ["a", "b"].map(|name| format!("{}\n", fixture.at(name).display()));
    assert_eq!(browser.printed(), paths.concat().into_bytes());
}

/// What is in a marked directory is marked with it, and marks in it are none of their own any more.
#[test]
fn a_marked_directory_holds_what_is_in_it() {
    let fixture = Fixture::new().file("a/b/c", 10_000).file("a/b/d", 10_000).file("a/x", 1);
    let fixture = fixture.file("e", 1);
    let mut browser = open(fixture.path());
    browser.press("n→→ ");
    assert_eq!(browser.marks(), 1);
    browser.press("hh");
    assert_eq!(browser.names(), ["a", "e"]);
    browser.press(" ");
    assert_eq!(browser.marked(), [fixture.at("a")]);
    browser.press("k→→ ");
    let said = browser.said();
    assert_eq!(said, "not marked: c: the directory it lies in is marked");
    assert_eq!(browser.marks(), 1);
}

/// Sorting moves rows, and not marks.
#[test]
fn marks_and_the_cursor_stay_with_the_entry() {
    let mut fixture = Fixture::new();
    for size in 1..9 {
        fixture = fixture.file(format!("{size}"), size * 5_000);
    }
    let mut browser = session::of([fixture.path()]).lines(7).open();
    browser.press("jj ");
    let marked = browser.marked();
    assert_eq!(marked, [fixture.at("6")]);
    for keys in ["n", "C", "s", "s", "t"] {
        browser.press(keys);
        assert_eq!(browser.marked(), marked, "{keys}");
    }
    // What was chosen is the one after it, wherever that is now.
    browser.press("n ");
    let expected = ["6", "5"].map(|name| fixture.at(name));
    assert_eq!(BTreeSet::from_iter(browser.marked()), BTreeSet::from(expected));
    browser.press("f7\n");
    assert_eq!(browser.names(), ["7"]);
    browser.press("f");
    browser.press("\x7f");
    browser.press("\n");
    assert_eq!(browser.len(), 8);
    assert_eq!(browser.marks(), 2);
}

/// What is looked at anew, with what is above it, is what a fresh scan says, whatever changed in it meanwhile.
#[test]
fn a_directory_that_is_scanned_again_is_as_it_would_be_at_first() {
    let mut replaced = 0;
    for seed in 0..rounds(100, 2_000) as u64 {
        let mut dice = Dice::new(seed);
        let fixture = dice.tree(Fixture::in_memory(), Names::Hostile);
        let root = fixture.at("tree");
        let mut browser = session::of([&root]).lines(9).open();
        mark_at_random(&mut browser, &mut dice);
        let marked = browser.marked();
        let [Wanted::Scan(roots)] = &browser.ask("r")[..] else { panic!("seed {seed}") };
        let directory = roots[0].clone();
        if directory == root {
            continue;
        }
        for new in 0..3 {
            fs::write(directory.join(format!("new {new}")), vec![0; 5_000 * new]).unwrap();
        }
        let entries = || fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
        if let Some(gone) = entries().nth(dice.below(4)) {
            remove(&gone);
        }
        let links = entries().filter(|path| fs::symlink_metadata(path).unwrap().is_file());
        for (number, file) in links.collect::<Vec<_>>().into_iter().enumerate().take(2) {
            fs::hard_link(file, directory.join(format!("link {number}"))).unwrap();
        }
        match &browser.scan()[..] {
            [] => replaced += 1,
            [Wanted::Scan(_)] => assert_eq!(browser.scan(), []),
            next => panic!("{next:?}"),
        }
        browser.check(&format!("seed {seed}: {directory:?}"));
        // What is still there, and the same, is still marked; and comes to what marking it anew would.
        let still = browser.marked();
        assert!(still.iter().all(|path| marked.contains(path)), "seed {seed}");
        let (size, _) = browser.marked_size().expect("it is whole");
        assert_eq!(size, weight_of(&still), "seed {seed}");
        assert!(browser.frees()[1] <= size);
    }
    assert!(replaced > 10, "{replaced}");
}

/// A root, the user's home, and what holds it are never marked; nor where something is mounted, nor what holds that.
/// A root that lies in another one is counted there, and is a root all the same.
#[test]
fn a_root_within_another_is_not_marked() {
    let fixture = Fixture::new().file("tree/a/root/file", 10_000).file("tree/b", 20_000);
    let fixture = fixture.file("tree/a/x", 1);
    let roots = [fixture.at("tree"), fixture.at("tree/a/root")];
    let mut browser = session::of(&roots).open();
    browser.press("n⇱ ");
    assert_eq!(browser.said(), "not marked: a: a root lies in it");
    browser.press("⇱→ ");
    assert_eq!(browser.said(), "not marked: root: it is a root");
    browser.press("hj ");
    assert_eq!(browser.marks(), 1);
}

/// What is said of a mark, if it is not set.
fn said_of_mark(browser: &Session) -> String {
    if browser.said().is_empty() { "marked".to_owned() } else { browser.said().to_owned() }
}

#[test]
#[ignore = "mounts a tmpfs"]
fn what_is_protected_is_not_marked() {
    let fixture = Fixture::new()
        .dir("home/me/files")
        .file("home/other/file", 10_000)
        .dir("media/disk/mounted")
        .file("media/image", 10_000)
        // So that no directories share a line.
        .file("home/me/z", 5)
        .dir("media/disk/too");
    let _mounted =
        ["mounted", "too"].map(|name| Mounted::tmpfs_at(&fixture.at(format!("media/disk/{name}"))));
    let scan = |one_file_system: bool| {
        let tree = session::of([fixture.path()]).homes(vec![fixture.at("home/me")]);
        if one_file_system { tree.one_file_system().open() } else { tree.open() }
    };
    let mut said = Vec::new();
    for one_file_system in [false, true] {
        let mut browser = scan(one_file_system);
        browser.press("n");
        for keys in ["⇱ ", "⇱j ", "⇱→ ", "h⇱j→⇱ ", "⇱→⇱ "] {
            said.push(said_of_mark(browser.press(keys)));
        }
        assert_eq!(browser.marked(), Vec::<PathBuf>::new());
        said.push(said_of_mark(browser.press("hA")));
        let expected = fixture.at("media/image");
        assert_eq!(browser.marked(), [expected]);
    }
    let expected = [
        "not marked: home: it holds your home directory",
        "not marked: media: something is mounted in it",
        "not marked: me: it is your home directory",
        "not marked: disk: something is mounted in it",
        "not marked: mounted: it is a mount point",
        "1 marked; not all: something is mounted in it",
    ];
    assert_eq!(said[..6], expected);
    // On one file system what is mounted is not seen, and is there all the same.
    let unseen = |text: &str| text.replace("not marked: mounted: it is a mount point", "marked");
    assert_eq!(said[6..], expected.map(unseen));
}

/// In a tree that was walked, and in one that was saved: sizes, marks and times, without another scan.
#[test]
fn the_other_size_is_shown_at_once() {
    let fixture = Fixture::new()
        .file("a/f", 5_000)
        .sparse("a/sparse", 1 << 30)
        .hard_link("a/f", "link")
        .file("b", 70_000);
    let place = Fixture::new();
    let (file, path) = (place.at("saved"), fixture.path().as_os_str().to_owned());
    weigh("--save").arg(&file).arg(&path).run().clean();
    let saved = session::files([&file]).times();
    for other in [session::of([fixture.path()]), saved.clone()] {
        let mut browser = open(fixture.path());
        browser.show_other(&other).press("n→A");
        let by_disk = (browser.totals(), browser.marked_totals(), browser.names());
        for (measure, key) in [("-s", "a"), ("", "a"), ("-s", "a")] {
            assert!(browser.ask(key).is_empty());
            let walk = weigh(&format!("{measure} -j")).arg(&path).run().document();
            let a = walk.nodes.iter().find(|node| node.name == b"a").unwrap();
            assert_eq!(browser.size(), a.size, "{measure}");
            assert_eq!(browser.marks(), 2, "{measure}");
            let own = fs::metadata(fixture.at("a")).unwrap().blocks() * 512;
            let own = if measure.is_empty() { own } else { 0 };
            let marked = browser.marked_size().map(|(size, _)| size);
            assert_eq!(marked, Some(a.size - own), "{measure}");
            let newest = fs::metadata(fixture.at("a/f")).unwrap().mtime();
            assert_eq!(browser.newest(0), Some(newest));
        }
        browser.press("a");
        assert_eq!((browser.totals(), browser.marked_totals(), browser.names()), by_disk);
    }
    sizes_alone(&file);
    let mut browser = saved.open();
    for (key, said) in [("a", "it has only disk usage"), ("m", "it has no times: save it again")] {
        assert_eq!(browser.press(key).said(), said);
    }
}

/// By name, size and age, and what git ignores.
#[test]
fn many_are_marked_at_once() {
    let fixture = Fixture::new()
        .file("a.o", 1_000)
        .file("b.o", 200_000)
        .file("c.c", 300_000)
        .dir("d.o")
        .modified("a.o", 1_000_000_000);
    let fixture = fixture.file("old/f", 1).modified("old/f", 1_000_000_000);
    let fixture = fixture.modified("old", 1_000_000_000);
    let fixture = fixture.file("mixed/f", 1).modified("mixed", 1_000_000_000);
    let mut browser = open(fixture.path());
    for (asked, names) in [
        ("*.o", &["a.o", "b.o", "d.o"][..]),
        (">100k", &["b.o", "c.c"]),
        ("older 90d", &["a.o", "old"]),
        ("older 10y", &["a.o", "old"]),
        ("newer 90d", &["b.o", "c.c", "d.o", "mixed"]),
        ("*.x", &[]),
    ] {
        browser.press(&format!("U+{asked}\n"));
        let paths = names.iter().map(|name| fixture.at(name));
        assert_eq!(browser.marked(), paths.collect::<Vec<_>>(), "{asked}");
    }
    for (asked, said) in [
        (">x", "a size is a number"),
        ("older 99999999999d", "an age is a number of days or years, as in 90d or 1y"),
    ] {
        browser.press(&format!("+{asked}\n"));
        assert!(browser.said().starts_with(said), "{asked}: {:?}", browser.said());
        browser.press("\x1b");
    }
}

/// Marks that are made while the walk goes on are found when it is over, and only in what is the same.
#[test]
fn marks_by_name_are_found_again() {
    let fixture = Fixture::new().file("a/one", 10_000).file("a/two", 10_000).file("b", 10_000);
    let mut browser = open(fixture.path());
    browser.press("n→A");
    assert_eq!(browser.marks(), 2);
    fs::remove_file(fixture.at("a/two")).unwrap();
    fs::write(fixture.at("a/two"), "another").unwrap();
    browser.scan_all();
    assert_eq!(browser.marked(), [fixture.at("a/one")]);
    assert!(browser.said().contains("marks lost: 1 ("), "{:?}", browser.said());
}

/// A directory is the same whatever its time: that changes with each entry that comes or goes.
#[test]
fn a_mark_on_a_directory_is_found_in_a_later_snapshot() {
    let fixture = Fixture::new().file("t/a/one", 10_000).file("t/b", 10_000);
    let save = || weigh("--details --save of.weigh t").within(fixture.path()).run().text();
    save();
    let mut browser = session::files([fixture.at("of.weigh")]).open();
    browser.press("+a\n");
    assert_eq!(browser.marks(), 1);
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
    File::open(fixture.at("t/a")).unwrap().set_modified(later).unwrap();
    save();
    browser.scan_all();
    assert_eq!(browser.marks(), 1, "{}", browser.said());
}

/// What is seen of a walk that goes on is there, once; and all of it when it stands still.
#[test]
fn a_walk_that_goes_on_is_seen() {
    let mut fixture = Fixture::in_memory();
    for i in 0..200 {
        fixture = fixture.sparse(format!("{}/{}/{i}", i % 7, i % 5), 1);
    }
    let all: Vec<_> = (0..7).map(|name| name.to_string()).collect();
    let (mut seen, mut most) = (0, 0);
    let (_, whole) = session::during_scan(fixture.path(), |browser| {
        let mut names = browser.names();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "one is seen twice: {names:?}");
        assert!(names.iter().all(|name| all.contains(name)), "{names:?}");
        let entries = browser.entries();
        assert!(entries >= most, "less is seen than before: {entries} after {most}");
        (seen, most) = (seen.max(names.len()), entries);
    });
    assert_eq!(seen, 7);
    assert_eq!(whole, 1 + 7 + 35 + 200);
    // The root itself counts once it closes.
    assert!(most > 200 && most < 1 + 7 + 35 + 200, "{most}");
}

/// A directory has its line as soon as it is open: where large ones take long, nothing else is there yet.
#[test]
fn a_directory_that_is_open_is_listed() {
    let paths = ["one", "two"].map(|top| (0..5).map(move |i| format!("{top}/{i}/f")));
    let fixture = paths.into_iter().flatten().fold(Fixture::in_memory(), |it, f| it.file(f, 1));
    let mut listed = Vec::new();
    session::during_scan(fixture.path(), |browser| listed.push(browser.names()));
    // No directory of the first level has closed before all that are in it.
    assert!(!listed[0].is_empty() && listed[0].len() <= 2, "{listed:?}");
}

/// While a walk goes on, the second pane shows what is in a directory, and a search and the largest files show what is
/// there; all of it once, the largest first. `Enter` leads to its place.
#[test]
fn a_walk_that_goes_on_can_be_searched() {
    let mut fixture = Fixture::in_memory();
    for i in 0..60 {
        let path = format!("top{}/deep{}/f{i}.iso", i % 4, i % 3);
        fixture = fixture.file(path, 4096 * (1 + i)).file(format!("top{}/other{i}", i % 4), 1);
    }
    let (mut in_pane, mut found, mut listed) = (0, 0, 0);
    session::during_scan(fixture.path(), |browser| {
        let shown = browser.resize((120, 30)).screen();
        let of_pane = shown.lines().filter_map(|line| Some(line.split_once('│')?.1));
        in_pane = in_pane.max(of_pane.filter(|line| line.contains("deep")).count());
        for (keys, ending) in [("/iso", ".iso"), ("\t", "")] {
            browser.ask(keys);
            browser.tick();
            let (names, sizes): (Vec<_>, Vec<_>) = browser.listed().into_iter().unzip();
            assert!(sizes.is_sorted_by(|one, two| one >= two), "{names:?} {sizes:?}");
            assert!(names.iter().all(|name| name.ends_with(ending)), "{names:?}");
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
            let many = if ending.is_empty() { &mut listed } else { &mut found };
            *many = names.len().max(*many);
            if names.is_empty() {
                browser.ask("\x1b");
                continue;
            }
            browser.ask("\n");
            let name = names[0].rsplit('/').next().unwrap();
            assert!(browser.names().iter().any(|it| it == name), "{name}: {:?}", browser.names());
            // The message goes first, then the search, and then it asks whether to stop.
            assert_eq!(browser.ask("\x1b\x1b"), []);
            browser.ask("←←←←←");
        }
    });
    assert_eq!((in_pane, found, listed), (3, 60, 120));
}

/// A mark stays wherever one goes, while its directory is still open, once it has closed, and when the walk is over.
#[test]
fn marks_stay_while_the_walk_goes_on() {
    for seed in 0..rounds(10, 200) as u64 {
        let mut dice = Dice::new(seed);
        let fixture = dice.tree(Fixture::in_memory(), Names::Hostile);
        let (mut marked, mut count) = (BTreeSet::new(), 0);
        let (browser, _) = session::during_scan(fixture.path(), |browser| {
            for _ in 0..4 {
                let keys = ["n", "→", "→", "j", "h", "A", " "];
                browser.ask(dice.of::<&str>(&keys));
                marked.extend(browser.marked());
            }
            count = browser.marks();
            browser.tick();
            assert_eq!(browser.marks(), count, "seed {seed}");
        });
        assert!(!browser.said().contains("lost"), "{:?}", browser.said());
        let paths = browser.marked();
        assert!(paths.iter().all(|path| marked.contains(path)), "seed {seed}");
        assert!(count == 0 || !paths.is_empty(), "seed {seed}: {count}");
    }
}

/// It offered to unmark a line and to print paths, without a line and paths.
#[test]
fn the_review_of_a_walk_that_goes_on_offers_no_more_than_it_can() {
    let fixture = Fixture::in_memory().file("a/one", 1).file("b/two", 1);
    session::during_scan(fixture.path(), |browser| {
        browser.ask("A");
        if browser.marks() == 0 {
            return;
        }
        browser.ask("d");
        let shown = browser.screen();
        assert!(shown.contains("marked; more is known once the scan is over"), "{shown}");
        assert!(shown.ends_with("\n Esc q back\n"), "{shown}");
        browser.ask("q");
    });
}
