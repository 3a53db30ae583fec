//! What the keys of `--ui` lead to, without a terminal: the views, the search, the clipboard and other programs; and
//! that no keys in any order delete what was not asked for.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use weigh::internal::remove::{self, Manner, UserDirectories};
use weigh::internal::render::percent::percent;
use weigh::internal::report::{Input, Keep, Request};
use weigh::internal::snapshot::{Cause, FileSystem, Unseen};
use weigh::internal::sys::{self, Holder, Space};
use weigh::internal::tally::Inodes;
use weigh::program::browse::browser::{Browser, ViewKind};
use weigh::program::browse::event::{Command, Event};
use weigh::program::browse::keys::Key;
use weigh::program::browse::{Binding, Bindings, BrowseOptions, view};

use crate::browse::{opened, request, scanned, show};
use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, entries_at, raw};
use crate::pty::Terminal;
use crate::rounds::{for_seeds, rounds};
use crate::run::{PATIENCE, weigh};
use crate::view::screen;

/// The tree at `root`, with the owner of each file.
fn detailed(root: &Path) -> Request {
    let inodes = Inodes { fingerprints: true, ..Inodes::ALL };
    Request { keep: Keep::Everything(inodes), ..request([root]) }
}

fn browser(root: &Path) -> Browser {
    opened(&detailed(root), deleting(root), 20)
}

/// With a place for the log, so that deleting is not off.
fn deleting(root: &Path) -> BrowseOptions {
    let directories = UserDirectories::of(|name| (name == "HOME").then(|| root.join("home")));
    BrowseOptions { directories, ..BrowseOptions::default() }
}

fn key(letter: char) -> Key {
    match letter {
        '\t' => Key::Tab,
        '\n' => Key::Enter,
        '\x1b' => Key::Escape,
        '\x7f' => Key::Backspace,
        '↑' => Key::Up,
        '↓' => Key::Down,
        '←' => Key::Left,
        '→' => Key::Right,
        '⇤' => Key::BackTab,
        letter => Key::Char(letter),
    }
}

/// Presses `keys`, and waits for what they ask. Returns what the last one wants to be done.
fn press(browser: &mut Browser, keys: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    for letter in keys.chars() {
        commands = browser.on(Event::Key(key(letter)));
        while browser.is_asking() {
            assert!(browser.on(Event::Slice).is_empty());
        }
    }
    commands
}

/// What is listed: paths below the root, or the names of groups, with their sizes.
fn listed(browser: &Browser) -> Vec<(String, u64)> {
    let items = (0..browser.len()).filter_map(|line| browser.item(line));
    let lines = items.map(|item| {
        let root = browser.tree().root().name().len() + 1;
        let path = item.place.map(|place| browser.tree().at(place).path()[root..].to_vec());
        let name = path.unwrap_or_else(|| item.name.to_vec());
        (String::from_utf8_lossy(&name).into_owned(), item.totals.size)
    });
    lines.collect()
}

fn names(browser: &Browser) -> Vec<String> {
    listed(browser).into_iter().map(|(name, _)| name).collect()
}

fn said(browser: &Browser) -> &str {
    browser.said().unwrap_or_default()
}

fn fixture() -> Fixture {
    Fixture::new()
        .file("tree/a/deep/one.log", 50_000)
        .file("tree/a/two.rs", 20_000)
        .file("tree/b/three.rs", 40_000)
        .file("tree/b/four", 10_000)
        .hard_link("tree/b/four", "tree/link.log")
        .file("tree/one.rs", 30_000)
        .modified("tree/b/three.rs", 1_000_000_000)
}

/// The largest file anywhere is the first line, and Enter goes to where it is.
#[test]
fn the_largest_files_are_listed_and_lead_into_the_tree() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    press(&mut browser, "\t");
    let all = ["a/deep/one.log", "b/three.rs", "one.rs", "a/two.rs", "b/four"];
    let found = names(&browser);
    assert_eq!(found[..4], all[..4]);
    assert!(found.len() == 5 && (found[4] == "b/four" || found[4] == "link.log"), "{found:?}");
    let shown = screen(&mut browser, (100, 22));
    assert!(shown.contains("a/deep/one.log"), "{shown}");
    press(&mut browser, "↓\n");
    assert_eq!(names(&browser), ["b/three.rs", "b/four"]);
    // From there on, it is the tree, and the file is chosen.
    press(&mut browser, " h");
    let path = fixture.at("tree/b/three.rs");
    assert_eq!(browser.marked_paths(), [path.as_os_str().as_bytes()]);
    assert_eq!(browser.len(), 4);
    // In a directory, it is about what is in it.
    press(&mut browser, "Ung\n\t");
    assert_eq!(names(&browser), ["a/deep/one.log", "a/two.rs"]);
    press(&mut browser, "n");
    assert_eq!(names(&browser), ["a/two.rs", "a/deep/one.log"], "by name, backwards");
    press(&mut browser, "A");
    assert_eq!(browser.marked().0, 2);
    press(&mut browser, "←");
    assert_eq!(names(&browser).len(), 2, "the tree again");
}

/// What --df found is a view of its own. Nothing in it can be marked or deleted, and the screen says what to do instead.
#[test]
fn what_is_in_no_file_can_be_entered_but_neither_marked_nor_deleted() {
    let fixture = fixture();
    let root = fixture.at("tree");
    let request = detailed(&root);
    let mut browser = opened(&request, deleting(&root), 20);
    press(&mut browser, "⇤");
    assert_ne!(names(&browser), ["deleted but open"], "nobody asked for it");
    press(&mut browser, "\t");
    let mut browsed = scanned(&request);
    let holder = Holder { pid: 812, command: b"nginx".to_vec() };
    let log =
        Unseen { holders: vec![holder], held_by: 1, ..Unseen::of("/log/access\x1b[2J", 40_000) };
    let mapped = Unseen { name: b"/usr/lib/old.so".to_vec(), held_by: 1, ..Unseen::default() };
    let parts = vec![log, mapped];
    let deleted =
        Cause { name: "deleted but open", size: 40_000, shared: 0, files: Some(2), parts };
    browsed.file_systems.push(FileSystem {
        root: root.into_os_string().into_encoded_bytes(),
        space: Space { size: 1_000_000, free: 800_000, available: 800_000, used_inodes: 9 },
        for_root: 0,
        seen: Some(150_000),
        causes: vec![deleted],
        unknown: vec!["some processes (Permission denied)".to_owned()],
        left_out: vec![Unseen::of("journal", 8_192)],
    });
    show(&mut browser, browsed);
    let in_tree = names(&browser);
    press(&mut browser, "⇤");
    let expected = [("deleted but open", 40_000), ("not explained", 10_000), ("not in df", 8_192)];
    assert_eq!(listed(&browser), expected.map(|(name, size)| (name.to_owned(), size)));
    let shown = screen(&mut browser, (100, 22));
    assert!(shown.contains("20%") && shown.contains("2 files"), "of what is used: {shown}");
    // The middle of this was cut out.
    press(&mut browser, "d");
    let shown = screen(&mut browser, (80, 22));
    let refused = "not to be removed: deleted but open: it has no name: restart the process";
    assert!(shown.contains(refused), "{shown}");
    press(&mut browser, "\n");
    let shown = screen(&mut browser, (140, 22));
    assert!(shown.contains(r"/log/access\x1b[2J  held by nginx (812)"), "{shown}");
    assert!(shown.contains("/usr/lib/old.so  size unknown"), "{shown}");
    for keys in [" ", "d", "D", "A", "\n"] {
        press(&mut browser, keys);
        let what = format!("{keys:?}: {}", said(&browser));
        assert!(browser.marked_paths().is_empty() && !browser.is_removing(), "{what}");
        assert!(keys == "D" || what.contains("restart the process"), "{what}");
    }
    press(&mut browser, "←↓\n");
    assert_eq!(names(&browser), ["not looked at: some processes (Permission denied)"]);
    press(&mut browser, "←←");
    assert_eq!(names(&browser), in_tree);
}

/// They were in the order in which the walk came to their directories.
#[test]
fn files_of_one_size_and_name_are_sorted_by_path() {
    let paths: Vec<_> = (10..40).map(|i| format!("{i}/{}/same", i % 7)).collect();
    let fixture = paths.iter().rev().fold(Fixture::in_memory(), |it, path| it.file(path, 5000));
    let mut browser = browser(fixture.path());
    for keys in ["\t", "/same"] {
        press(&mut browser, keys);
        assert_eq!(names(&browser), paths, "{keys:?}");
    }
}

/// More files than a view lists were kept by their order in the walk: each scan listed others.
#[test]
fn of_too_many_files_of_one_size_the_first_are_listed() {
    let names: Vec<_> = (0..11_000).map(|i| format!("{:02}/{:03}", i / 1000, i % 1000)).collect();
    let fixture = names.iter().fold(Fixture::in_memory(), |it, name| it.file(name, 1));
    let mut browser = browser(fixture.path());
    press(&mut browser, "\t");
    let listed: BTreeSet<_> = self::names(&browser).into_iter().collect();
    assert!(listed.iter().eq(&names[..10_000]), "{:?}", listed.last());
    press(&mut browser, "A");
    let shown = screen(&mut browser, (80, 24));
    assert!(shown.contains("● 10,000 marked"), "{shown}");
    // A search said that it had found 10,000.
    for (text, expected) in [("*", "; more than 10,000 found"), ("777", "; 11 found")] {
        press(&mut browser, &format!("/{text}"));
        let shown = foot(&mut browser, (120, 24));
        assert!(shown.contains(expected), "{shown}");
        press(&mut browser, "\x1b");
    }
}

/// The second pane had 200 of them, as they were listed.
#[test]
fn of_entries_of_one_size_the_second_pane_has_the_first() {
    let mut fixture = Fixture::in_memory();
    for number in 0..500 {
        fixture = fixture.file(format!("d/{number:03}"), 1);
    }
    let shown = screen(&mut browser(fixture.path()), (120, 30));
    assert!((0..5).all(|number| shown.contains(&format!(" 00{number}\n"))), "{shown}");
}

/// In the list of the largest files, most of the second pane was empty; beside groups, all of it was.
#[test]
fn the_second_pane_has_what_is_beside_a_file() {
    let fixture = Fixture::in_memory().file("d/large", 90_000).file("d/other", 50_000);
    let mut browser = browser(fixture.file("e", 1).path());
    press(&mut browser, "\t");
    let shown = screen(&mut browser, (120, 30));
    let (_, beside) = shown.split_once("in the same directory").expect(&shown);
    let names = beside.lines().filter_map(|line| line.rsplit(' ').next());
    let names: Vec<_> = names.filter(|name| ["large", "other", "e"].contains(name)).collect();
    assert_eq!(names, ["large", "other"], "{shown}");
    press(&mut browser, "\t");
    let shown = screen(&mut browser, (120, 30));
    assert!(!shown.contains('│') && shown.contains(" entries "), "{shown}");
}

/// A search kept all names on the path to each match: in a tree 20,000 directories deep, 8 GB.
#[test]
fn of_very_deep_files_few_are_listed() {
    let fixture = Fixture::in_memory();
    let way = "a/".repeat(5_000);
    let list: String = (0..600).map(|number| format!("1 {way}f{number}\n")).collect();
    fs::write(fixture.at("list"), list).unwrap();
    let source = Input::Files(vec![fixture.at("list")], Default::default());
    let request = Request { keep: Keep::Everything(Inodes::NONE), source, ..Request::default() };
    let mut browser = opened(&request, BrowseOptions::default(), 20);
    press(&mut browser, "\t");
    assert_eq!(browser.len(), 200);
    press(&mut browser, "/f\n");
    assert_eq!(said(&browser), "1 of 200: f; n N go on");
}

/// To ask where they are now would stop the screen until a dead server answers.
#[test]
fn the_list_of_the_trash_asks_the_system_nothing() {
    let fixture = Fixture::in_memory().dir("home").file("tree/d/a", 1);
    let mut storm = Storm::new(&fixture.at("tree"), &fixture.at("home"));
    for letter in "dt".chars() {
        let before = screen(&mut storm.browser, (200, 20));
        storm.pass(Event::Key(key(letter)), Some(key(letter)), &before);
    }
    fs::rename(fixture.at("tree"), fixture.at("renamed")).unwrap();
    press(&mut storm.browser, "z");
    let shown = screen(&mut storm.browser, (200, 20));
    // What it freed in the list is beside it, without another look.
    assert!(shown.contains(" 4.00Ki  ") && shown.contains("/tree/d\n"), "{shown}");
}

/// Each view has the figures that the program prints.
#[test]
fn the_views_have_the_figures_of_the_program() {
    for_seeds(rounds(12, 400), |seed| {
        let fixture = Dice::new(seed).tree(Fixture::in_memory(), Names::Hostile);
        let root = fixture.at("tree");
        let mut browser = browser(&root);
        press(&mut browser, "\t");
        let mut inodes = BTreeMap::new();
        for (_, stat) in entries_at(&root).into_iter().filter(|(_, stat)| !stat.is_dir()) {
            inodes.insert(stat.ino(), stat.blocks() * 512);
        }
        let mut sizes: Vec<_> = inodes.into_values().collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let found: Vec<_> = listed(&browser).into_iter().map(|(_, size)| size).collect();
        assert_eq!(found, sizes, "seed {seed}");
        for by in ["type", "age", "owner"] {
            press(&mut browser, "\t");
            let printed = weigh(&format!("-j -P --by {by}")).arg(&root).run().document();
            let printed = printed.nodes.iter().skip(1);
            let printed = printed.map(|it| (String::from_utf8_lossy(&it.name).into(), it.size));
            let printed: BTreeMap<String, u64> = printed.collect();
            assert_eq!(BTreeMap::from_iter(listed(&browser)), printed, "seed {seed}: {by}");
        }
        press(&mut browser, "\t");
        assert_eq!(browser.len(), fs::read_dir(&root).unwrap().count(), "the tree again");
        press(&mut browser, "⇤");
        assert!(listed(&browser).iter().all(|(name, _)| !name.contains('/')), "owners");
    });
}

/// Enter on a group lists its files, and each way back leads where one came from.
#[test]
fn a_group_lists_its_files() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    press(&mut browser, "\t\t");
    let types = names(&browser);
    assert_eq!(types[..2], [".rs", ".log"], "{types:?}");
    press(&mut browser, " ");
    assert_eq!(said(&browser), "not marked: .rs: it is no entry: Enter shows what is in it");
    press(&mut browser, "d");
    assert_eq!(
        said(&browser),
        "not to be removed: .log: it is no entry: Enter shows what is in it"
    );
    for keys in ["A", "+.rs\n"] {
        press(&mut browser, keys);
        assert_eq!(said(&browser), "nothing marked: it is no entry: Enter shows what is in it");
    }
    press(&mut browser, "g\n");
    assert_eq!(names(&browser), ["b/three.rs", "one.rs", "a/two.rs"]);
    press(&mut browser, "A←");
    assert_eq!((browser.marked().0, names(&browser)), (3, types.clone()));
    press(&mut browser, "U\t");
    assert_eq!(names(&browser), ["under 1 day", "5 years or more"]);
    press(&mut browser, "G\n");
    assert_eq!(names(&browser), ["b/three.rs"]);
    press(&mut browser, "\x1b\x1b");
    assert_eq!(browser.len(), 4, "the tree");
    // A walk keeps no owners unless it is asked to.
    let mut plain = opened(&request([fixture.at("tree").as_path()]), BrowseOptions::default(), 20);
    // Until another view is shown, whatever else is said.
    for keys in ["⇤", "Q"] {
        press(&mut plain, keys);
        let shown = screen(&mut plain, (80, 24));
        assert!(shown.contains("owners are not known: scan with --details"), "{shown}");
        assert!(!shown.contains("nothing in it"), "{shown}");
    }
    press(&mut plain, "\t");
    assert_eq!(plain.len(), 4);
}

/// In a list of groups, `Space mark` stood there with a filter or with marks, and `i about it` where nothing was listed.
#[test]
fn the_foot_offers_only_what_can_be_done() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    let mut foot = |keys: &str| {
        press(&mut browser, keys);
        let shown = screen(&mut browser, (120, 24));
        let hints = shown.lines().last().unwrap().split("   ").map(|it| it.trim().to_owned());
        hints.filter(|it| !it.is_empty()).collect::<Vec<_>>()
    };
    let mut check = |keys, offered: &[&str]| assert_eq!(foot(keys), offered);
    let [find, view, help] = ["/ find", "Tab view", "? help"];
    let groups = ["Enter its files", find, view, help];
    check(
        "\t",
        &["Enter to its place", "Space mark", "d delete…", find, "s sort", view, "T map", help],
    );
    check("\t", &groups);
    let [all, others] = ["Esc show all", "f list others"];
    check("frs\n", &[all, "Enter its files", others, help]);
    check("f\x7f\x7fnone\n", &[all, others, help]);
    check("\x1b", &groups);
    let marks = ["d review, delete", "U unmark all", "p print paths"];
    check("\t\t\tAg", &[&["Space mark"], &marks[..], &["Enter open", help]].concat());
    check("\t\t", &[&marks[..], &["Enter its files", help]].concat());
}

/// `Enter` on a file, `U` without marks and, where there is no second pane, `T` did nothing, and nothing said so. `T map`
/// stood in the last line all the same.
#[test]
fn a_key_that_does_nothing_here_says_why() {
    let fixture = Fixture::new().file("tree/d/file", 50_000).file("tree/file", 5_000);
    let mut browser = browser(&fixture.at("tree"));
    const SMALL: &str = "the treemap needs 100 columns and 8 lines";
    for (size, has_pane) in [((99, 24), false), ((100, 7), false), ((100, 8), true)] {
        assert_eq!(screen(&mut browser, size).contains("T map"), has_pane, "{size:?}");
        press(&mut browser, "T");
        assert_eq!(said(&browser), if has_pane { "" } else { SMALL }, "{size:?}");
        press(&mut browser, "g");
    }
    for keys in ["GT", "\t\tT"] {
        press(&mut browser, keys);
        assert_eq!(said(&browser), "a treemap shows what is in a directory");
        assert!(!foot(&mut browser, (120, 24)).contains("T map"));
        screen(&mut browser, (100, 8));
    }
    press(&mut browser, "c");
    assert_eq!(said(&browser), "the entries of groups are always shown");
    press(&mut browser, "\x1bG\n");
    assert_eq!(said(&browser), "there is nothing to open");
    press(&mut browser, "U");
    assert_eq!(said(&browser), "nothing is marked: Space marks");
}

/// A click on the name of a view opens it, where all have room.
#[test]
fn a_click_on_a_name_opens_that_view() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    for (name, size) in [("types", (120, 30)), ("owners", (60, 20)), ("tree", (80, 24))] {
        let shown = screen(&mut browser, size);
        let names = shown.lines().nth(1).unwrap();
        let x = names.find(name).unwrap() as u16;
        for (x, is_on) in [(x - 1, false), (x + name.len() as u16, false), (x, true)] {
            let key = view::click(&browser, (x, 1), size);
            assert_eq!(key.is_some(), is_on, "{name} {x}: {names}");
            key.into_iter().for_each(|key| drop(browser.on(Event::Key(key))));
        }
        let mut turned = self::browser(&fixture.at("tree"));
        press(
            &mut turned,
            match name {
                "types" => "\t\t",
                "owners" => "⇤",
                _ => "",
            },
        );
        assert_eq!(screen(&mut browser, size), screen(&mut turned, size));
    }
    // The names are not there.
    let low = view::click(&browser, (1, 1), (80, 9));
    assert_eq!(low, None);
    press(&mut browser, "?");
    assert_eq!(view::click(&browser, (1, 1), (80, 24)), None, "help stays");
}

/// In the list, a click chooses a line. In the review, the trash and the errors, it did nothing.
#[test]
fn a_click_chooses_a_line_of_a_text() {
    let fixture = fixture();
    for size in [(80, 24), (60, 9)] {
        let mut browser = reviewed(&fixture.at("tree"), "Ad");
        let top = screen(&mut browser, size).lines().position(|it| it.contains(">●")).unwrap();
        for y in [0, top - 1, size.1 as usize - 1] {
            assert_eq!(view::click(&browser, (5, y as u16), size), None, "{y}");
        }
        let click = view::click(&browser, (5, top as u16 + 1), size).unwrap();
        assert!(browser.on(Event::Key(click)).is_empty());
        let mut moved = reviewed(&fixture.at("tree"), "Ad");
        press(&mut moved, "j");
        assert_eq!(screen(&mut browser, size), screen(&mut moved, size));
    }
}

/// A click on a line moved it to the bottom, so that the pointer was on another one then.
#[test]
fn a_click_on_a_line_of_a_long_text_does_not_move_it() {
    let fixture = (0..40).fold(Fixture::in_memory(), |it, i| it.file(format!("{i:02}"), 9));
    let mut browser = reviewed(fixture.path(), "Ad");
    let size = (80, 24);
    let top = screen(&mut browser, size).lines().position(|it| it.contains(">●")).unwrap();
    for keys in ["", "G", "kkkk", "g"] {
        press(&mut browser, keys);
        let before = screen(&mut browser, size);
        let click = view::click(&browser, (5, top as u16 + 4), size).unwrap();
        browser.on(Event::Key(click));
        let after = screen(&mut browser, size);
        let [before, after] = [before, after].map(|it| it.lines().nth(top + 4).unwrap().to_owned());
        assert_eq!(after, before.replacen(' ', ">", 1).replace('█', "▒"), "{keys}");
    }
    screen(&mut browser, (0, 50));
}

/// Enter on a line of another list that is not in the tree leads to its place, and so does a click on the chosen line.
#[test]
fn enter_leads_to_what_could_not_be_read() {
    let fixture = Fixture::in_memory().file("tree/a/f", 9_000).unreadable("tree/a/closed");
    let fixture = fixture.file("tree/a/last", 20_000).file("tree/other", 1);
    let json = weigh("-P -j tree").within(fixture.path()).by_nobody(&fixture).run().stdout;
    crate::saved::write(fixture.at("saved.weigh"), str::from_utf8(&json).unwrap());
    let source = Input::Files(vec![fixture.at("saved.weigh")], Default::default());
    let keep = Keep::Everything(Inodes::DATED_DIRECTORIES);
    let request = Request { keep, source, ..Request::default() };
    let mut browser = opened(&request, BrowseOptions::default(), 20);
    press(&mut browser, "e");
    let hint = foot(&mut browser, (80, 24));
    assert!(hint.contains("Enter to its place"), "{hint}");
    let mut clicked = opened(&request, BrowseOptions::default(), 20);
    press(&mut clicked, "e");
    clicked.on(Event::Key(Key::Click(0)));
    press(&mut browser, "\n");
    assert_eq!(screen(&mut clicked, (80, 24)), screen(&mut browser, (80, 24)));
    assert_eq!(names(&browser), ["a/last", "a/f", "a/closed"]);
    let shown = screen(&mut browser, (80, 24));
    let chosen = shown.lines().find(|line| line.starts_with('>')).unwrap();
    assert!(chosen.ends_with("closed/"), "{shown}");
    // What is not in the tree any more.
    let mut outcome = scanned(&request);
    outcome.snapshot.weighed.problems[0].path = b"tree/a/gone".to_vec();
    show(&mut browser, outcome);
    press(&mut browser, "e\n");
    assert_eq!(said(&browser), "nothing of it is in the tree");
    let hint = foot(&mut browser, (80, 24));
    press(&mut browser, "j");
    assert_ne!(foot(&mut browser, (80, 24)), hint, "the list of errors is still there");
}

/// What is deleted from a view is gone from it; the size that is shown is another with `a`.
#[test]
fn a_view_follows_the_tree() {
    let fixture = fixture().sparse("tree/b/sparse", 1 << 20);
    let mut browser = browser(&fixture.at("tree"));
    press(&mut browser, "\t");
    assert_eq!(names(&browser)[0], "a/deep/one.log");
    press(&mut browser, "a");
    assert_eq!(listed(&browser)[0], ("b/sparse".to_owned(), 1 << 20));
    fs::remove_file(fixture.at("tree/b/sparse")).unwrap();
    show(&mut browser, scanned(&detailed(&fixture.at("tree"))));
    press(&mut browser, "");
    assert_eq!(names(&browser)[0], "a/deep/one.log");
}

/// A message and the keys of the prompt left no room for what is typed.
#[test]
fn what_is_typed_is_seen() {
    let fixture = Fixture::new().file("t/four", 1);
    let mut browser = browser(&fixture.at("t"));
    press(&mut browser, "/[");
    let shown = screen(&mut browser, (80, 24));
    assert!(shown.trim_end().ends_with("find ["), "{shown}");
    // And what is wrong with it, also where little room is left.
    for size in [(40, 15), (20, 5)] {
        let line = foot(&mut browser, size);
        assert!(line.ends_with('[') && line.contains("; fi"), "{line}");
    }
}

/// As in fd, ripgrep and vi with smartcase.
#[test]
fn text_in_lower_case_matches_both_cases() {
    let fixture = fixture().file("tree/Readme", 10);
    let mut browser = browser(&fixture.at("tree"));
    press(&mut browser, "/read\n");
    assert_eq!(said(&browser), "1 of 1: read; n N go on");
    press(&mut browser, "\x1bfr*me\n");
    assert_eq!(names(&browser), ["Readme"]);
    press(&mut browser, "fREADME\n");
    assert_eq!(browser.len(), 0);
    press(&mut browser, "\x1bf[[:upper:]]*\n");
    assert_eq!(names(&browser), ["Readme"]);
    // What is marked may be deleted: only what was typed is.
    press(&mut browser, "\x1b+read*\n");
    assert_eq!((browser.marked().0, said(&browser)), (0, "nothing marked"));
    // The line of the marks says how many, and the last line keeps its hints.
    press(&mut browser, "+Read*\n");
    assert_eq!((browser.marked().0, browser.said()), (1, None));
}

/// Where nothing is left to close or leave, the keys for that did nothing and said nothing.
#[test]
fn esc_in_the_root_says_which_key_quits() {
    let fixture = fixture();
    let keys = bound(&["quit=x"]);
    let options = BrowseOptions { keys, ..BrowseOptions::default() };
    let mut browser = opened(&request([fixture.at("tree").as_path()]), options, 20);
    for keys in ["\x1b", "Q←"] {
        press(&mut browser, keys);
        assert_eq!(said(&browser), "x quits");
    }
}

/// The screen was empty, with the reason only in the list of errors.
#[test]
fn where_nothing_can_be_shown_there_is_no_screen() {
    let fixture = fixture().file("list", 3);
    fs::write(fixture.at("list"), "no\0nope\0").unwrap();
    for (flags, said) in [
        ("-u gone", "weigh: error: gone: No such file or directory\r\n"),
        ("-u gone lost", "weigh: error: 2 × No such file or directory: gone, lost\r\n"),
        ("-u --files0-from list", "weigh: error: 2 × No such file or directory: no, nope\r\n"),
    ] {
        let terminal = Terminal::new();
        let mut child = weigh(flags).within(fixture.path()).on(&terminal).spawn();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{flags}");
        let shown = String::from_utf8(terminal.close()).unwrap();
        assert!(shown.ends_with(said), "{flags}: {shown:?}");
    }
    // What is there is shown, and what is not, is said in the end.
    let mut terminal = Terminal::new();
    let mut child = weigh("-u gone tree").within(fixture.path()).on(&terminal).spawn();
    terminal.type_until(b"", "1 unread");
    terminal.type_in(b"q");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// Above several paths, the first line had no name.
#[test]
fn several_paths_have_a_name_as_in_a_picture() {
    let fixture = fixture();
    let paths = ["tree/a", "tree/b"].map(|path| fixture.at(path));
    let paths = request([paths[0].as_path(), paths[1].as_path()]);
    let mut browser = opened(&paths, BrowseOptions::default(), 20);
    let shown = screen(&mut browser, (80, 24));
    assert!(shown.starts_with(" (total) "), "{shown}");
}

/// `lib/ frees 5.33Gi` beside 5.33Gi said nothing.
#[test]
fn what_is_freed_is_said_if_it_reads_as_another_figure() {
    let fixture = Fixture::in_memory().file("tree/a/large", 10_000_000).file("tree/b/small", 4096);
    let fixture = fixture.hard_link("tree/b/small", "tree/a/link");
    let mut browser = browser(&fixture.at("tree"));
    let shown = screen(&mut browser, (80, 24));
    assert!(!shown.contains("a/  frees") && shown.contains("b/  frees 0"), "{shown}");
}

/// Those of one size are in the order of their paths, as in the list.
#[test]
fn the_review_is_in_the_order_of_the_list() {
    let mut fixture = Fixture::in_memory();
    for i in 10..40 {
        fixture = fixture.file(format!("tree/{i}"), 4096);
    }
    let mut browser = browser(&fixture.at("tree"));
    press(&mut browser, "Ad");
    let shown = screen(&mut browser, (80, 60));
    let at = |i: i32| shown.find(&format!("tree/{i} ")).or(shown.find(&format!("tree/{i}\n")));
    let places: Vec<_> = (10..40).map(|i| at(i).expect("it is listed")).collect();
    assert!(places.is_sorted(), "{shown}");
}

/// As one types, with the largest first; Enter shows it in its directory, and `n` and `N` go on.
#[test]
fn a_search_finds_what_is_anywhere() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    let whole = browser.totals().size;
    press(&mut browser, "n\n/one");
    assert_eq!(names(&browser), ["a/deep/one.log"], "from the current directory down");
    press(&mut browser, "\x7f\x7f\x7fthree");
    assert_eq!(names(&browser), ["b/three.rs"], "and if nothing is there, everywhere");
    // Once, shares were those of a directory that it is not in.
    let share = format!(" {} ", percent(listed(&browser)[0].1, whole));
    let shown = screen(&mut browser, (80, 24));
    assert!(shown.contains(&share), "{share} in\n{shown}");
    press(&mut browser, "\x1b");
    assert_eq!(names(&browser), ["a/deep", "a/two.rs"], "where it began");
    for (typed, found) in [("one", 1), ("nil", 0)] {
        press(&mut browser, &format!("/{typed}"));
        let asked = format!("Esc goes back; {found} found): {typed}");
        assert!(foot(&mut browser, (80, 24)).ends_with(&asked), "{}", foot(&mut browser, (80, 24)));
        press(&mut browser, "\x1b");
    }
    press(&mut browser, "h/one");
    assert_eq!(names(&browser), ["a/deep/one.log", "one.rs"]);
    press(&mut browser, "\n");
    assert_eq!(names(&browser), ["a/deep/one.log"]);
    assert_eq!(said(&browser), "1 of 2: one; n N go on");
    press(&mut browser, "n");
    assert_eq!((browser.len(), said(&browser)), (4, "2 of 2: one; n N go on"));
    press(&mut browser, " ");
    assert_eq!(browser.marked_paths(), [fixture.at("tree/one.rs").as_os_str().as_bytes()]);
    press(&mut browser, "n");
    assert_eq!(said(&browser), "1 of 2: one; n N go on");
    press(&mut browser, "N");
    assert_eq!(said(&browser), "2 of 2: one; n N go on");
    // Without a search, n sorts.
    press(&mut browser, "\x1bn");
    assert_eq!(names(&browser), ["one.rs", "link.log", "b", "a"], "backwards");
    // An arrow chooses another one of the list; directories are found, too; globs are globs.
    press(&mut browser, "s/*e*↓↓\n");
    assert_eq!(said(&browser), "3 of 4: *e*; n N go on");
    press(&mut browser, "/nothing like it");
    let shown = screen(&mut browser, (80, 24));
    assert!(shown.contains("no name matches") && !shown.contains("nothing in it"), "{shown}");
    press(&mut browser, "\n");
    assert_eq!(said(&browser), "no name matches");
    press(&mut browser, "/[");
    assert!(!said(&browser).is_empty());
    press(&mut browser, "\x1b");
}

#[test]
fn a_match_that_is_gone_is_called_so() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    press(&mut browser, "/one\nn");
    assert_eq!(said(&browser), "2 of 2: one; n N go on");
    fs::remove_file(fixture.at("tree/a/deep/one.log")).unwrap();
    show(&mut browser, scanned(&detailed(&fixture.at("tree"))));
    press(&mut browser, "n");
    assert_eq!(said(&browser), "1 of 2 (gone): one; n N go on");
    press(&mut browser, "n");
    assert_eq!(said(&browser), "2 of 2: one; n N go on");
}

/// A file that was given as PATH looked like an empty directory.
#[test]
fn a_file_says_that_it_is_one() {
    let fixture = Fixture::new().file("f", 100);
    let mut browser = opened(&request([fixture.at("f").as_path()]), BrowseOptions::default(), 20);
    let shown = screen(&mut browser, (80, 24));
    assert!(shown.contains("it is a file") && !shown.contains("nothing in it"), "{shown}");
    assert!(!shown.contains("--from"), "{shown}");
    let fixture = Fixture::new().file("f.weigh", 100);
    let mut browser =
        opened(&request([fixture.at("f.weigh").as_path()]), BrowseOptions::default(), 20);
    let shown = screen(&mut browser, (80, 24));
    assert!(shown.contains("it is a file: --from shows the snapshot in it"), "{shown}");
}

/// Keys are answered while a large tree is searched.
#[test]
fn a_large_tree_is_searched_in_slices() {
    let mut fixture = Fixture::in_memory();
    for directory in 0..12 {
        fixture = fixture.dir(format!("tree/{directory}"));
        for file in 0..10_000 {
            fs::File::create(fixture.at(format!("tree/{directory}/{file}"))).unwrap();
        }
    }
    fs::write(fixture.at("tree/7/needle"), [1; 9_000]).unwrap();
    let mut browser =
        opened(&request([fixture.at("tree").as_path()]), BrowseOptions::default(), 20);
    browser.on(Event::Key(Key::Tab));
    assert!(browser.is_asking() && browser.is_empty());
    browser.on(Event::Key(Key::Tab));
    assert!(browser.is_asking(), "the other view is asked for then");
    press(&mut browser, "\x1b");
    assert_eq!(browser.len(), 12, "and the tree is there at once");
    for letter in "/needle\n".chars() {
        browser.on(Event::Key(key(letter)));
        browser.on(Event::Tick);
    }
    assert!(browser.is_asking() && !said(&browser).contains("1 of 1"));
    press(&mut browser, "↓");
    assert_eq!(said(&browser), "1 of 1: needle; n N go on");
    press(&mut browser, "\t");
    assert_eq!(names(&browser)[0], "7/needle");
    press(&mut browser, "hh\t\t");
    let files: u64 =
        (0..browser.len()).map(|line| browser.item(line).unwrap().totals.entries).sum();
    assert_eq!(files, 12 + 120_000 + 2);
}

/// Each key of other programs does something, and what does nothing says so.
#[test]
fn no_key_is_silent() {
    let mut fixture = Fixture::in_memory();
    for i in 0..50 {
        fixture = fixture.file(format!("tree/{i:02}"), 10);
    }
    let mut browser = browser(&fixture.at("tree"));
    press(&mut browser, "n");
    let mut line_after = |key: Key| {
        browser.on(Event::Key(key));
        let shown = screen(&mut browser, (60, 24));
        assert!(!shown.contains("does nothing"), "{key:?}: {shown}");
        press(&mut browser, " ");
        let marked = browser.marked_paths();
        press(&mut browser, "U↑");
        String::from_utf8(marked[0].clone()).unwrap().rsplit('/').next().unwrap().to_owned()
    };
    for (key, expected) in [
        (Key::Char('G'), "49"),
        (Key::Char('g'), "00"),
        (Key::Control('d'), "10"),
        (Key::Control('u'), "00"),
        (Key::End, "49"),
    ] {
        // The last line stays chosen when it is marked.
        let line: usize = line_after(key).parse().unwrap();
        let expected: usize = expected.parse().unwrap();
        assert!(line.abs_diff(expected) <= 1, "{key:?}: {line}");
    }
    browser.on(Event::Key(Key::Delete));
    let review = screen(&mut browser, (60, 24));
    assert!(review.contains("1 marked: 4.00Ki in 1 entry"), "Delete reviews: {review}");
    press(&mut browser, "\x1b");
    for key in [Key::Char('ä'), Key::Char('\u{202e}'), Key::Control('x'), Key::Char('Q')] {
        browser.on(Event::Key(key));
        assert!(said(&browser).ends_with("does nothing here: ? shows all keys"), "{key:?}");
        assert!(!said(&browser).contains('\u{202e}'));
    }
}

/// The head said "by name" or "smallest first" over groups, which stayed as they were.
#[test]
fn the_head_has_the_order_of_the_list() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    let orders = ["by size", "smallest first", "by name", "by entries", "newest first"];
    for view in ["\t\t", "\t\t\t", "\t\t\t\t"] {
        press(&mut browser, view);
        let groups = names(&browser);
        for key in ["s", "s", "n", "C", "M", "t"] {
            press(&mut browser, key);
            assert_eq!(said(&browser), "the order of this list is fixed", "{key}");
            assert_eq!(names(&browser), groups);
            let head = screen(&mut browser, (100, 22)).lines().next().unwrap().to_owned();
            assert!(!orders.iter().any(|order| head.contains(order)), "{head}");
        }
        press(&mut browser, "\x1b");
    }
    // Their names are listed like others, and their files are in any order.
    press(&mut browser, "\t\tf.rs\n");
    assert_eq!(names(&browser), [".rs"]);
    press(&mut browser, "\nn");
    assert_eq!(names(&browser), ["one.rs", "b/three.rs", "a/two.rs"]);
    assert!(screen(&mut browser, (100, 22)).contains("by name"));
}

pub fn bound(keys: &[&str]) -> Bindings {
    Bindings::new(keys.iter().map(|key| Binding::parse(key).unwrap()).collect()).unwrap()
}

#[test]
fn keys_are_what_the_user_sets() {
    let fixture = fixture();
    let keys = bound(&["by-name=x", "mark=m", "mark=Ctrl-s", "delete=Space"]);
    let options = BrowseOptions { keys, ..BrowseOptions::default() };
    let mut browser = opened(&request([fixture.at("tree").as_path()]), options, 20);
    press(&mut browser, "xm");
    assert_eq!(names(&browser)[0], "a/deep/one.log".split('/').next().unwrap());
    assert_eq!(browser.marked().0, 1);
    browser.on(Event::Key(Key::Control('s')));
    assert_eq!(browser.marked().0, 2);
    press(&mut browser, "n");
    assert!(said(&browser).contains("n does nothing"), "its own key is no key of it any more");
    press(&mut browser, "?");
    let help = screen(&mut browser, (100, 60));
    assert!(help.contains("m ^S"), "{help}");
    press(&mut browser, "\x1b ");
    assert!(screen(&mut browser, (100, 30)).contains("2 marked:"), "Space deletes");
    for (text, why) in [
        ("delete", "it is ACTION=KEY"),
        ("delet=x", "no action is called 'delet'"),
        ("delete=", "'' is no key"),
        ("delete=xy", "'xy' is no key"),
        ("delete=Ctrl-c", "'Ctrl-c' is no key"),
        ("delete=\x1b", "is no key"),
    ] {
        let error = Binding::parse(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    let twice = ["mark=x", "delete=x"].map(|key| Binding::parse(key).unwrap());
    let error = Bindings::new(twice.to_vec()).unwrap_err();
    assert_eq!(error, "one key, x, is set for mark and for delete");
}

/// The config file names the line and the key that is wrong.
#[test]
fn keys_in_the_config_file() {
    let fixture = fixture();
    let run = |config: &str| {
        fs::write(fixture.at("config.toml"), config).unwrap();
        weigh("ui -P --config").arg(fixture.at("config.toml")).arg(fixture.at("tree")).run()
    };
    let said = run("[keys]\ndelete = 'x'\nmark = ['m', 'Space']\n").complaint();
    assert!(!said.contains("config.toml"), "{said}");
    for (config, line, why) in [
        ("[keys]\ndelete = 'x'\ndelet = 'y'\n", 3, "no action is called 'delet'"),
        ("reverse = true\n\n[keys]\nmark = ['m', 'Meta']\n", 4, "'Meta' is no key"),
        ("[keys]\nmark = true\n", 2, "takes a string or a number"),
        ("[key]\nmark = 'x'\n", 2, "no"),
    ] {
        let shown = run(config);
        let complaint = shown.complaint();
        assert_eq!(shown.code(), 2, "{config}");
        if line > 2 || config.starts_with("[keys]") {
            assert!(complaint.contains(&format!("config.toml:{line}:")), "{config}: {complaint}");
            assert!(complaint.contains(why), "{config}: {complaint}");
        }
    }
}

/// The path goes to the clipboard only if it cannot control the terminal, and is shown in any case.
#[test]
fn paths_are_copied_without_control_characters() {
    let hostile = b"tree/\x1b]0;title\x07";
    let fixture = Fixture::new().file("tree/漢字 \\ 'x'", 90_000).file(raw(hostile), 9_000);
    let fixture = fixture.file(raw(b"tree/\xff"), 10);
    let mut browser = browser(&fixture.at("tree"));
    let path = fixture.at("tree/漢字 \\ 'x'").into_os_string().into_string().unwrap();
    let commands = press(&mut browser, "y");
    let [Command::Copy(copied)] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(*copied, path);
    assert!(said(&browser).starts_with("copied /") && said(&browser).ends_with("漢字 \\\\ 'x'"));
    let commands = press(&mut browser, "↓y");
    assert!(commands.is_empty(), "{commands:?}");
    let said_of_it = said(&browser);
    assert!(said_of_it.starts_with("not copied, because it has control"), "{said_of_it}");
    // This one was said to have control characters.
    assert!(press(&mut browser, "↓y").is_empty());
    let said_of_it = said(&browser);
    assert!(said_of_it.starts_with("not copied, because it is not UTF-8: /"), "{said_of_it}");
    press(&mut browser, "\t\ty");
    assert_eq!(said(&browser), "a group has no path");
}

/// Only what was scanned, by nobody who may do more than the user, and nothing of a snapshot.
#[test]
fn what_is_opened_in_another_program() {
    let fixture = fixture().symlink("one.rs", "tree/symlink").fifo("tree/pipe");
    let request = request([fixture.at("tree").as_path()]);
    let of = |options: BrowseOptions| opened(&request, options, 20);
    let mut browser = of(BrowseOptions::default());
    press(&mut browser, "nG");
    for (keys, why) in [
        ("o", "only files and directories are opened"),
        ("↑o", "only files and directories are opened"),
    ] {
        assert!(press(&mut browser, keys).is_empty());
        assert_eq!(said(&browser), why);
    }
    for name in ["one.rs", "link.log"] {
        let commands = press(&mut browser, "↑o");
        let [Command::Open(path, fingerprint)] = &commands[..] else { panic!("{commands:?}") };
        assert_eq!(*path, fixture.at("tree").join(name));
        // What the scan says of it, and what is said now.
        assert_eq!(*fingerprint, sys::fingerprint(path).unwrap(), "{name}");
    }
    let root = of(BrowseOptions { is_root: true, ..BrowseOptions::default() });
    let read_only = of(BrowseOptions { read_only: true, ..BrowseOptions::default() });
    let saved = fixture.at("saved.weigh");
    weigh::run(&weigh::Request::of([fixture.at("tree")]).save_to(&saved)).unwrap();
    let source = Input::Files(vec![saved], Default::default());
    let loaded = Request { source, ..Request::default() };
    let loaded = opened(&loaded, BrowseOptions::default(), 20);
    let walking = Browser::new(request.clone(), BrowseOptions::default());
    for (mut browser, why) in [
        (root, "nothing is opened as root"),
        (read_only, "nothing is opened with --read-only"),
        (loaded, "nothing is opened: this was not scanned here"),
        (walking, "you can do this when the scan is over"),
    ] {
        assert!(press(&mut browser, "o").is_empty(), "{why}");
        assert_eq!(said(&browser), why);
    }
}

/// xdg-open gets one absolute path, whatever is in it; not if another file has the name by then.
#[test]
fn another_program_gets_one_path() {
    let name = "$(id) 'x' -y\n.txt";
    let fixture = Fixture::new().file(Path::new("tree").join(name), 10_000).dir("bin").dir("said");
    fs::write(
        fixture.at("bin/xdg-open"),
        "#!/bin/sh\nprintf '%s|' \"$#\" \"$1\" > \"$SAID.new\"; mv \"$SAID.new\" \"$SAID\"\n",
    )
    .unwrap();
    let all = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(fixture.at("bin/xdg-open"), all(0o755)).unwrap();
    fs::set_permissions(fixture.at("said"), all(0o777)).unwrap();
    let path = format!("{}:/usr/bin:/bin", fixture.at("bin").display());
    let mut terminal = Terminal::new();
    let child = weigh("-u tree").within(fixture.path()).by_nobody(&fixture).env("PATH", path);
    let mut child = child.env("SAID", fixture.at("said/x")).on(&terminal).spawn();
    terminal.wait_for("$(id)");
    terminal.type_in(b"o");
    let end = Instant::now() + PATIENCE;
    while !fixture.at("said/x").exists() {
        assert!(Instant::now() < end, "nothing is opened");
        std::thread::sleep(Duration::from_millis(10));
    }
    let expected =
        format!("1|{}|", fixture.at("tree").canonicalize().unwrap().join(name).display());
    assert_eq!(fixture.text("said/x"), expected);
    fs::remove_file(fixture.at("said/x")).unwrap();
    fs::rename(fixture.at("tree").join(name), fixture.at("other")).unwrap();
    fs::write(fixture.at("tree").join(name), [b'x'; 10_000]).unwrap();
    terminal.type_in(b"o");
    terminal.wait_for("it has changed");
    assert!(!fixture.at("said/x").exists());
    terminal.type_in(b"q");
    child.wait().unwrap();
}

/// The bar took the room of the remark, and the name was cut: `go…/  gone`.
#[test]
fn the_name_of_what_is_gone_has_room() {
    let fixture = Fixture::new().file("tree/stays", 50_000).file("tree/empty/f", 90_000);
    let saved = fixture.at("saved.weigh");
    weigh("-P --save").arg(&saved).arg(fixture.at("tree")).run().clean();
    fs::remove_dir_all(fixture.at("tree/empty")).unwrap();
    let request = Request { since: Some(saved), ..request([fixture.at("tree").as_path()]) };
    let mut browser = opened(&request, BrowseOptions::default(), 20);
    for width in 50..130 {
        let shown = screen(&mut browser, (width, 24));
        assert!(shown.contains(" empty/  gone"), "{width} columns:\n{shown}");
    }
}

/// It opens by change; what is gone is listed; when and where the other one was made, is said.
#[test]
fn a_comparison_shows_what_is_gone() {
    let fixture = fixture().file("tree/gone/f", 100_000).file("tree/old", 4_000).dir("home");
    let saved = fixture.at("saved.weigh");
    weigh("-P --save").arg(&saved).arg(fixture.at("tree")).run().clean();
    fs::remove_dir_all(fixture.at("tree/gone")).unwrap();
    fs::remove_file(fixture.at("tree/old")).unwrap();
    fs::write(fixture.at("tree/new"), [1; 50_000]).unwrap();
    let mut terminal = Terminal::new();
    let child = weigh("-u --since").arg(&saved).arg(fixture.at("tree"));
    let mut child = child.env("HOME", fixture.at("home")).on(&terminal).spawn();
    terminal.type_until(b"", "by change");
    terminal.type_until(b"", " since ");
    terminal.type_in(b"q");
    child.wait().unwrap();
    terminal.close();
    let mut request = request([fixture.at("tree").as_path()]);
    request.since = Some(saved);
    let mut browser = opened(&request, deleting(fixture.path()), 20);
    press(&mut browser, "~");
    let lines: Vec<_> = names(&browser).into_iter().take(3).collect();
    assert_eq!(lines, ["gone", "new", "old"]);
    let shown = screen(&mut browser, (110, 24));
    let mut lines_of_list = shown.lines().filter(|line| line.contains('%'));
    let mut line = |name: &str| lines_of_list.find(|line| line.contains(name)).unwrap();
    assert!(line(" gone/").contains("-1"), "{shown}");
    assert!(line(" new").contains('+'), "{shown}");
    assert!(shown.contains(" since "), "{shown}");
    // It is not there: nothing can be done with it.
    for (key, why) in [
        ("d", "not to be removed: gone: it is gone"),
        ("o", "only files"),
        ("+old\n", "nothing marked: it is gone"),
    ] {
        assert!(press(&mut browser, &format!("g{key}")).is_empty());
        assert!(said(&browser).starts_with(why), "{key}: {}", said(&browser));
    }
    press(&mut browser, "g\n");
    assert_eq!(browser.len(), lines.len() + 4, "it is not opened");
    press(&mut browser, "fol\n");
    assert_eq!(names(&browser), ["old"]);
    // Of what is anywhere, changes are not known.
    press(&mut browser, "\t");
    assert_eq!(names(&browser)[..2], ["new", "a/deep/one.log"]);
    assert!(screen(&mut browser, (110, 24)).lines().next().unwrap().ends_with("by size"));
    press(&mut browser, "~");
    assert_eq!(said(&browser), "changes are listed in the tree only");
}

/// A review of what `keys` mark at `root`, looked at again.
fn reviewed(root: &Path, keys: &str) -> Browser {
    let mut browser = browser(root);
    let mut commands = press(&mut browser, keys);
    let Some(Command::Look(number, targets)) = commands.pop() else { panic!("{commands:?}") };
    let looked = targets.into_iter().map(|(number, target)| (number, Ok(target))).collect();
    browser.on(Event::Looked(number, looked));
    browser
}

fn foot(browser: &mut Browser, size: (u16, u16)) -> String {
    screen(browser, size).trim_end().lines().last().unwrap().to_owned()
}

/// The review at 60 columns showed all keys but the one that deletes, and with marks at 40 none at all.
#[test]
fn keys_that_delete_or_leave_have_room() {
    let fixture = fixture();
    let root = fixture.at("tree");
    for width in [40, 60, 80] {
        for height in [6, 10, 24] {
            let size = (width, height);
            let line = foot(&mut reviewed(&root, "Ad"), size);
            for hint in ["t trash", "D delete", "Esc q back"] {
                assert!(line.contains(hint), "{size:?}: {line}");
            }
            let mut asked = reviewed(&root, "Ad");
            press(&mut asked, "D");
            let line = foot(&mut asked, size);
            assert!(line.contains("delete ") && line.contains(" many"), "{size:?}: {line}");
            for (keys, expected) in [
                ("", ["d delete…", "? help"]),
                (" ", ["d review, delete", "? help"]),
                ("?", ["Esc q back", ""]),
                ("Ai", ["Esc q back", ""]),
                ("e", ["Esc q back", ""]),
                ("z", ["Esc q back", ""]),
                // It was empty.
                ("+", ["mark (", "):"]),
            ] {
                let mut browser = browser(&root);
                press(&mut browser, keys);
                let line = foot(&mut browser, size);
                for hint in expected {
                    assert!(line.contains(hint), "{keys:?} {size:?}: {line}");
                }
            }
        }
    }
}

/// Any key that nobody meant closed a text, and a review with it; the keys of a list that scroll it closed it, too.
#[test]
fn only_what_is_shown_closes_a_text() {
    let fixture = fixture();
    let root = fixture.at("tree");
    let size = (80, 9);
    for (keys, other) in [("Ad", "xdyn"), ("?", "x?tD"), ("i", "xi \n"), ("e", "e\n"), ("z", "zD")]
    {
        let mut browser = if keys == "Ad" { reviewed(&root, keys) } else { browser(&root) };
        if keys != "Ad" {
            press(&mut browser, keys);
        }
        let text = |browser: &mut Browser| {
            let shown = screen(browser, size);
            shown.lines().take(8).map(str::to_owned).collect::<Vec<_>>()
        };
        let shown = text(&mut browser);
        for letter in other.chars() {
            assert!(browser.on(Event::Key(key(letter))).is_empty());
            assert_eq!(text(&mut browser), shown, "{keys} {letter}");
        }
        assert_eq!(view::click(&browser, (3, 0), size), None, "{keys}");
        for (there, back) in [('f', 'b'), ('d', 'u')] {
            browser.on(Event::Key(Key::Control(there)));
            let has_moved = text(&mut browser) != shown;
            // In the review, another line is chosen.
            assert_eq!(has_moved, matches!(keys, "Ad" | "?" | "i"), "{keys} {there}");
            browser.on(Event::Key(Key::Control(back)));
            assert_eq!(text(&mut browser), shown, "{keys} {back}");
        }
        press(&mut browser, "q");
        assert!(foot(&mut browser, size).contains("? help"), "{keys}");
    }
}

const KEYS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ019 /+~?<>.*[";

fn any_key(dice: &mut Dice) -> Key {
    let others = [
        Key::Up,
        Key::Down,
        Key::Left,
        Key::Right,
        Key::PageUp,
        Key::PageDown,
        Key::Home,
        Key::End,
        Key::Enter,
        Key::Enter,
        Key::Tab,
        Key::Tab,
        Key::BackTab,
        Key::Backspace,
        Key::Delete,
        Key::Escape,
        Key::Escape,
        Key::Interrupt,
        Key::ScrollUp,
        Key::ScrollDown,
    ];
    match dice.below(10) {
        0..5 => Key::Char(char::from(*dice.of(KEYS.as_bytes()))),
        5 => Key::Control(char::from(*dice.of(b"bdfuxs"))),
        6 if dice.below(4) == 0 => {
            let kinds = [ViewKind::Tree, ViewKind::Types, ViewKind::Ages, ViewKind::Causes];
            Key::ClickView(*dice.of(&kinds))
        }
        6 => Key::Click(dice.below(30)),
        _ => *dice.of(&others),
    }
}

/// One run: whatever is typed, only what a review showed goes, and only by `t`, or by the number of its entries.
struct Storm {
    browser: Browser,
    directories: UserDirectories,
    /// How many entries were deleted, and how many removals there were.
    deleted: u64,
    removals: usize,
}

impl Storm {
    fn new(root: &Path, home: &Path) -> Self {
        let home = home.to_owned();
        let directories = UserDirectories::of(|name| (name == "HOME").then(|| home.clone()));
        let options =
            BrowseOptions { directories: directories.clone(), ..BrowseOptions::default() };
        let browser = opened(&detailed(root), options, 20);
        Self { browser, directories, deleted: 0, removals: 0 }
    }

    /// Does what the state wants to be done. Returns false if it ends.
    fn pass(&mut self, event: Event, key: Option<Key>, before: &str) -> bool {
        let marked: BTreeSet<_> = self.browser.marked_paths().into_iter().collect();
        let mut ahead = self.browser.on(event);
        while let Some(command) = ahead.pop() {
            let event = match command {
                Command::End(_) => return false,
                Command::Scan(request, _) => {
                    let Input::Roots(roots) = &request.source else { panic!("{request:?}") };
                    assert!(!roots.is_empty());
                    Event::Scanned(Ok(Box::new(scanned(&request))))
                }
                Command::Look(number, targets) => {
                    let looked = targets.into_iter().map(|(number, mut target)| {
                        let looked = remove::look(&mut target);
                        (number, looked.map(|()| target).map_err(|error| error.to_string()))
                    });
                    Event::Looked(number, looked.collect())
                }
                Command::Remove(manner, targets) => {
                    self.check_removal(manner, &targets, key, before, &marked);
                    let go_on = &mut |_: remove::RemovalEvent<'_>| ControlFlow::Continue(());
                    let removed = remove::remove(&targets, manner, &self.directories, go_on);
                    self.removals += 1;
                    self.deleted += removed.outcomes.iter().map(|it| it.removed).sum::<u64>();
                    Event::Removed(Box::new(removed))
                }
                Command::Undo(trashed) => {
                    let undone = trashed.into_iter().rev().map(|one| {
                        let go_on = &mut |_: remove::RemovalEvent<'_>| ControlFlow::Continue(());
                        let removed = remove::undo(&one, &self.directories, go_on);
                        let path = one.path();
                        (one, removed, path)
                    });
                    Event::Undone(undone.collect())
                }
                Command::Copy(text) => {
                    assert!(!text.contains(char::is_control), "{text:?}");
                    continue;
                }
                Command::Open(path, _) => {
                    assert!(path.is_absolute() && !path.is_symlink(), "{path:?}");
                    continue;
                }
                Command::StopScan | Command::CancelRemoval | Command::Protect { .. } => continue,
            };
            ahead.extend(self.browser.on(event));
        }
        true
    }

    fn check_removal(
        &self,
        manner: Manner,
        targets: &[remove::Target],
        key: Option<Key>,
        before: &str,
        marked: &BTreeSet<Vec<u8>>,
    ) {
        let entries: u64 = targets.iter().map(|target| target.totals.0).sum();
        match manner {
            Manner::Trash => {
                assert_eq!(key, Some(Key::Char('t')));
                assert!(before.contains("t trash"), "{before}");
            }
            Manner::Delete => {
                assert_eq!(key, Some(Key::Enter));
                let (_, typed) = before.trim_end().rsplit_once("how many: ").expect("it was asked");
                assert_eq!(typed.replace(',', ""), entries.to_string(), "{before}");
            }
        }
        assert!(!targets.is_empty());
        for target in targets {
            assert!(marked.contains(&target.path()), "{target:?} is not of {marked:?}");
        }
    }
}

/// One entry whose old name is taken again was tried first each time, and kept all others of its batch in the trash.
#[test]
fn what_cannot_be_put_back_keeps_no_other_in_the_trash() {
    for taken in ["a", "b", "c"] {
        let fixture = Fixture::in_memory().dir("home");
        let fixture = fixture.file("tree/a", 3000).file("tree/b", 2000).file("tree/c", 1000);
        let root = fixture.at("tree");
        let mut storm = Storm::new(&root, &fixture.at("home"));
        let mut types = |keys: &str| {
            for letter in keys.chars() {
                let before = screen(&mut storm.browser, (220, 40));
                let key = key(letter);
                assert!(storm.pass(Event::Key(key), Some(key), &before));
            }
            said(&storm.browser).to_owned()
        };
        types("Adtr");
        assert_eq!(fixture.names("tree"), [""; 0]);
        fs::write(root.join(taken), "new").unwrap();
        let said = types("u");
        assert_eq!(fixture.names("tree"), ["a", "b", "c"]);
        assert_eq!(fs::read(root.join(taken)).unwrap(), b"new");
        assert!(
            said.starts_with("1 not put back, 2 put back: ")
                && said.contains(&format!("/{taken}: ")),
            "{said}"
        );
        fs::remove_file(root.join(taken)).unwrap();
        assert!(types("u").starts_with("put back: "));
        fs::remove_file(root.join("a")).unwrap();
        assert_eq!(types("Adt").split(':').next(), Some("2 in the trash"));
        fs::write(root.join("a"), "unseen").unwrap();
        types("rAd");
        fs::write(root.join("a"), "changed").unwrap();
        let said = types("t");
        assert!(
            said.starts_with("1 kept; nothing is moved into the trash; marks lost: 1 ("),
            "{said}"
        );
    }
}

/// Each directory that was scanned again added a sentence of its own.
#[test]
fn lost_marks_of_several_directories_are_one_number() {
    let paths = ["a/one", "b/two", "c/three"].map(|path| format!("tree/{path}"));
    let fixture = Fixture::in_memory().dir("home");
    let fixture = paths.iter().fold(fixture, |fixture, path| fixture.file(path, 1000));
    let mut storm = Storm::new(&fixture.at("tree"), &fixture.at("home"));
    press(&mut storm.browser, "\tA");
    let mut types = |letter| {
        let before = screen(&mut storm.browser, (220, 40));
        assert!(storm.pass(Event::Key(key(letter)), Some(key(letter)), &before));
        said(&storm.browser).to_owned()
    };
    types('d');
    for path in paths {
        fs::write(fixture.at(path), "changed").unwrap();
    }
    assert_eq!(
        types('t'),
        "3 kept; nothing is moved into the trash; marks lost: 3 (gone, changed, or not to be marked)"
    );
}

fn storm(seed: u64, keys: usize) -> usize {
    let mut dice = Dice::new(seed);
    let fixture = dice.tree(Fixture::in_memory().dir("home"), Names::Hostile);
    let (root, home) = (fixture.at("tree"), fixture.at("home"));
    let all = entries_at(&root).len();
    let mut storm = Storm::new(&root, &home);
    let mut ahead: Vec<Key> = Vec::new();
    for _ in 0..keys {
        let key = ahead.pop().unwrap_or_else(|| any_key(&mut dice));
        if ahead.is_empty() && dice.below(15) == 0 {
            ahead = vec![*dice.of(&[Key::Char('t'), Key::Char('D')]), Key::Char('d')];
        }
        let size = [(80, 24), (100, 30), (40, 10), (7, 3), (200, 50), (1, 1)][dice.below(6)];
        let before = match key {
            Key::Char('t') | Key::Enter => screen(&mut storm.browser, (220, 40)),
            _ if dice.below(4) == 0 => screen(&mut storm.browser, size),
            _ => String::new(),
        };
        // Sometimes the right number is typed.
        if let Some((_, asked)) = before.lines().last().and_then(|it| it.rsplit_once("delete "))
            && dice.below(2) == 0
        {
            let number: String = asked.chars().take_while(|it| *it != ' ').collect();
            let typed = number.replace(',', "");
            ahead = [vec![Key::Enter], typed.chars().rev().map(Key::Char).collect()].concat();
            ahead.extend([Key::Backspace; 30]);
        }
        let is_open = storm.pass(Event::Key(key), Some(key), &before)
            && storm.pass(Event::Slice, None, "")
            && storm.pass(Event::Tick, None, "");
        if !is_open {
            let Storm { deleted, removals, .. } = storm;
            storm = Storm { deleted, removals, ..Storm::new(&root, &home) };
        }
    }
    let trash = home.join(".local/share/Trash/files");
    let trashed = if trash.exists() { entries_at(&trash).len() - 1 } else { 0 };
    let left = entries_at(&root).len();
    assert_eq!(left + trashed + storm.deleted as usize, all, "seed {seed}");
    storm.removals
}

/// 100,000 keys, clicks and sizes of the screen in a full run.
#[test]
fn any_keys_delete_only_what_was_asked_for() {
    let removals = std::sync::atomic::AtomicUsize::new(0);
    for_seeds(rounds(16, 200), |seed| {
        removals.fetch_add(storm(seed, 500), std::sync::atomic::Ordering::Relaxed);
    });
    let removals = removals.into_inner();
    println!("{removals} removals");
    assert!(removals > 0);
}

/// Programs that go by single characters (wcwidth(3)) drew flags, families and hearts wider than the screen took them,
/// and bits of a name stayed inside the next one.
#[test]
fn each_cell_has_one_character_of_its_width() {
    use weigh::internal::render::name::cells;
    const NAMES: [&str; 9] = [
        "🇩🇪🇫🇷 flags",
        "👩\u{200d}👩\u{200d}👧\u{200d}👦 family",
        "❤\u{fe0f} heart",
        "👍\u{1f3fd} thumb",
        "1\u{fe0f}\u{20e3} key",
        "\u{9ac}\u{9be}\u{982}\u{9b2}\u{9be}",
        "\u{644}\u{627} lam alef",
        "ภาษาไทย",
        "क\u{94d}\u{200d}ष 漢字 🚀",
    ];
    let fixture = NAMES.iter().zip(1..).fold(Fixture::new(), |fixture, (name, size)| {
        fixture.file(format!("tree/{name}/{name}"), 10_000 * size)
    });
    let mut browser = browser(&fixture.at("tree"));
    for keys in ["", "↓↓", "A", "d", "\x1bU/🇩🇪", "\x1b→y", "i"] {
        press(&mut browser, keys);
        for width in [30, 80, 140] {
            let mut terminal = ratatui_core::terminal::Terminal::new(
                ratatui_core::backend::TestBackend::new(width, 22),
            )
            .unwrap();
            view::fit(&mut browser, (width, 22));
            terminal.draw(|frame| view::draw(&browser, frame)).unwrap();
            let buffer = terminal.backend().buffer();
            for y in 0..22 {
                let mut x = 0;
                while x < width {
                    let symbol = buffer[(x, y)].symbol();
                    let wide = symbol.chars().filter(|c| cells(&c.to_string()) > 0).count();
                    let joined = ['\u{fe0f}', '\u{20e3}', '\u{1f3fd}', '🇩', '🇫'];
                    assert!(wide == 1 && !symbol.contains(joined), "{keys:?} {width}: {symbol:?}");
                    assert!(!symbol.contains("👩\u{200d}"), "{symbol:?}");
                    x += u16::try_from(cells(symbol)).unwrap();
                }
                assert_eq!(x, width);
            }
        }
    }
}

/// The screen in tmux is, after it was drawn over, as it is when it is drawn anew.
#[test]
#[ignore = "needs tmux"]
fn nothing_of_a_name_stays_on_the_screen() {
    let fixture = Fixture::new()
        .file("tree/a/🇩🇪🇫🇷🇩🇪", 50_000)
        .file("tree/a/👩\u{200d}👩\u{200d}👧\u{200d}👦👩\u{200d}🚀", 40_000)
        .file("tree/a/❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}", 30_000)
        .file("tree/a/\u{9ac}\u{9be}\u{982}\u{9b2}\u{9be}", 25_000)
        .file("tree/b/plain", 20_000);
    let tmux = |args: &[&str]| {
        let mut command = std::process::Command::new("tmux");
        command.args(["-u", "-L", "names", "-f", "/dev/null"]).args(args);
        command.env("LC_ALL", "C.UTF-8").env("TMUX_TMPDIR", fixture.path());
        let output = command.current_dir(fixture.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let wait_for = |text: &str| {
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = tmux(&["capture-pane", "-p"]);
            if screen.contains(text) {
                return;
            }
            assert!(Instant::now() < end, "no {text}: {screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let settled = || {
        std::thread::sleep(Duration::from_millis(500));
        tmux(&["capture-pane", "-p"])
    };
    let program = env!("CARGO_BIN_EXE_weigh");
    let start = format!("{program} -u tree; echo end; sleep 60");
    tmux(&["new-session", "-d", "-x", "60", "-y", "20", &start]);
    wait_for(" a/");
    tmux(&["send-keys", "Enter"]);
    wait_for("tree/a");
    tmux(&["send-keys", "Left"]);
    wait_for(" b/");
    let drawn_over = settled();
    tmux(&["send-keys", "C-l"]);
    let drawn_anew = settled();
    tmux(&["kill-server"]);
    assert_eq!(drawn_over, drawn_anew);
}

/// The number of entries, the wrong one of which was answered with nothing.
#[test]
fn a_wrong_number_is_called_so_on_any_screen() {
    let fixture = fixture();
    for size in [(20, 5), (40, 15), (80, 24)] {
        let mut asked = reviewed(&fixture.at("tree"), "Ad");
        press(&mut asked, "D");
        assert!(!foot(&mut asked, size).contains("wrong"));
        press(&mut asked, "77\n");
        let line = foot(&mut asked, size);
        assert!(line.contains("wrong number; d"), "{size:?}: {line}");
        press(&mut asked, "1");
        assert!(foot(&mut asked, size).ends_with('1') && said(&asked).is_empty());
    }
}

/// `not opened: exit status: 3`
#[test]
fn another_program_that_fails_is_named() {
    let fixture = Fixture::new().file("tree/one", 10_000).dir("bin");
    let opener = fixture.at("bin/xdg-open");
    let path = format!("{}:/usr/bin:/bin", fixture.at("bin").display());
    for (script, said) in [
        ("#!/bin/sh\nexit 3\n", "xdg-open found no program for it (status 3); y copies the path"),
        ("#!/bin/sh\nexit 4\n", "xdg-open failed (status 4); y copies the path"),
        ("", "cannot start xdg-open: No such file or directory; y copies the path"),
    ] {
        let _ = fs::remove_file(&opener);
        if script.is_empty() && Path::new("/usr/bin/xdg-open").exists() {
            continue;
        }
        if !script.is_empty() {
            fs::write(&opener, script).unwrap();
            fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut terminal = Terminal::new();
        terminal.resize(120, 20);
        let child = weigh("-u tree").within(fixture.path()).by_nobody(&fixture);
        let mut child = child.env("PATH", &path).on(&terminal).spawn();
        terminal.wait_for("delete");
        terminal.type_in(b"o");
        terminal.wait_for(&format!("not opened: {said}"));
        terminal.type_in(b"q");
        child.wait().unwrap();
    }
}
