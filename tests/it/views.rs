//! What the keys of `--ui` lead to, without a terminal: the views, the search, the clipboard and other programs; and
//! that no keys in any order delete what was not asked for.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ratatui_core::style::Modifier;
use weigh::Operation;

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, entries_at, raw};
use crate::pty::Terminal;
use crate::rounds::{for_seeds, rounds};
use crate::run::{PATIENCE, weigh};
use crate::session::{self, Session, Setup, Wanted, open};

/// The tree at `root`, with the owner of each file, and with a place for the log, so that deleting is not off.
fn detailed(root: &Path) -> Setup {
    session::of([root]).details().own_home()
}

fn browser(root: &Path) -> Session {
    detailed(root).open()
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
    browser.press("\t");
    let all = ["a/deep/one.log", "b/three.rs", "one.rs", "a/two.rs", "b/four"];
    let found = browser.paths();
    assert_eq!(found[..4], all[..4]);
    assert!(found.len() == 5 && (found[4] == "b/four" || found[4] == "link.log"), "{found:?}");
    let shown = browser.resize((100, 22)).screen();
    assert!(shown.contains("a/deep/one.log"), "{shown}");
    browser.press("↓\n");
    assert_eq!(browser.paths(), ["b/three.rs", "b/four"]);
    // From there on, it is the tree, and the file is chosen.
    browser.press(" h");
    let path = fixture.at("tree/b/three.rs");
    assert_eq!(browser.marked(), [path]);
    assert_eq!(browser.len(), 4);
    // In a directory, it is about what is in it.
    browser.press("Ung\n\t");
    assert_eq!(browser.paths(), ["a/deep/one.log", "a/two.rs"]);
    browser.press("n");
    assert_eq!(browser.paths(), ["a/two.rs", "a/deep/one.log"], "by name, backwards");
    browser.press("A");
    assert_eq!(browser.marks(), 2);
    browser.press("←");
    assert_eq!(browser.paths().len(), 2, "the tree again");
}

/// What --df found is a view of its own. Nothing in it can be marked or deleted, and the screen says what to do instead.
#[test]
fn what_is_in_no_file_can_be_entered_but_neither_marked_nor_deleted() {
    let fixture = fixture();
    let root = fixture.at("tree");
    let mut browser = browser(&root);
    browser.press("⇤");
    assert_ne!(browser.paths(), ["deleted but open"], "nobody asked for it");
    browser.press("\t");
    browser.scan_with_causes(&root);
    let in_tree = browser.paths();
    browser.press("⇤");
    let expected = [("deleted but open", 40_000), ("not explained", 10_000), ("not in df", 8_192)];
    assert_eq!(browser.listed(), expected.map(|(name, size)| (name.to_owned(), size)));
    let shown = browser.resize((100, 22)).screen();
    assert!(shown.contains("20%") && shown.contains("2 files"), "of what is used: {shown}");
    // The middle of this was cut out.
    browser.press("d");
    let shown = browser.resize((80, 22)).screen();
    let refused = "not to be removed: deleted but open: it has no name: restart the process";
    assert!(shown.contains(refused), "{shown}");
    browser.press("\n");
    let shown = browser.resize((140, 22)).screen();
    assert!(shown.contains(r"/log/access\x1b[2J  held by nginx (812)"), "{shown}");
    assert!(shown.contains("/usr/lib/old.so  size unknown"), "{shown}");
    for keys in [" ", "d", "D", "A", "\n"] {
        browser.press(keys);
        let what = format!("{keys:?}: {}", browser.said());
        assert!(browser.marked().is_empty() && !browser.is_removing(), "{what}");
        assert!(keys == "D" || what.contains("restart the process"), "{what}");
    }
    browser.press("←↓\n");
    assert_eq!(browser.paths(), ["not looked at: other users' processes (Permission denied)"]);
    browser.press("←←");
    assert_eq!(browser.paths(), in_tree);
}

/// They were in the order in which the walk came to their directories.
#[test]
fn files_of_one_size_and_name_are_sorted_by_path() {
    let paths: Vec<_> = (10..40).map(|i| format!("{i}/{}/same", i % 7)).collect();
    let fixture = paths.iter().rev().fold(Fixture::in_memory(), |it, path| it.file(path, 5000));
    let mut browser = browser(fixture.path());
    for keys in ["\t", "/same"] {
        browser.press(keys);
        assert_eq!(browser.paths(), paths, "{keys:?}");
    }
}

/// More files than a view lists were kept by their order in the walk: each scan listed others.
#[test]
fn of_too_many_files_of_one_size_the_first_are_listed() {
    let names: Vec<_> = (0..11_000).map(|i| format!("{:02}/{:03}", i / 1000, i % 1000)).collect();
    let fixture = names.iter().fold(Fixture::in_memory(), |it, name| it.file(name, 1));
    let mut browser = browser(fixture.path());
    browser.press("\t");
    let listed: BTreeSet<_> = browser.paths().into_iter().collect();
    assert!(listed.iter().eq(&names[..10_000]), "{:?}", listed.last());
    browser.press("A");
    let shown = browser.resize((80, 24)).screen();
    assert!(shown.contains("● 10,000 marked"), "{shown}");
    // A search said that it had found 10,000.
    for (text, expected) in [("*", "; more than 10,000 found"), ("777", "; 11 found")] {
        browser.press(&format!("/{text}"));
        let shown = browser.resize((120, 24)).foot();
        assert!(shown.contains(expected), "{shown}");
        browser.press("\x1b");
    }
}

/// A search in a directory without a match showed those of everything, and said nothing of it.
#[test]
fn a_search_says_that_its_matches_are_elsewhere() {
    let fixture = Fixture::in_memory().file("a/x.iso", 9_000).file("b/other", 5_000);
    let mut browser = browser(fixture.path());
    browser.resize((120, 24)).press("\n");
    for (keys, expected) in
        [("/iso", "; 1 found): iso"), ("\x1bhj\n/iso", "; none here, 1 elsewhere): iso")]
    {
        browser.press(keys);
        assert!(browser.foot().contains(expected), "{keys}: {}", browser.screen());
    }
}

/// The second pane had 200 of them, as they were listed.
#[test]
fn of_entries_of_one_size_the_second_pane_has_the_first() {
    let mut fixture = Fixture::in_memory();
    for number in 0..500 {
        fixture = fixture.file(format!("d/{number:03}"), 1);
    }
    let shown = browser(fixture.path()).resize((120, 30)).screen();
    assert!((0..5).all(|number| shown.contains(&format!(" 00{number}\n"))), "{shown}");
}

/// In the list of the largest files, most of the second pane was empty; beside groups, all of it was.
#[test]
fn the_second_pane_has_what_is_beside_a_file() {
    let fixture = Fixture::in_memory().file("d/large", 90_000).file("d/other", 50_000);
    let mut browser = browser(fixture.file("e", 1).path());
    browser.press("\t");
    let shown = browser.resize((120, 30)).screen();
    let (_, beside) = shown.split_once("in the same directory").expect(&shown);
    let names = beside.lines().filter_map(|line| line.rsplit(' ').next());
    let names: Vec<_> = names.filter(|name| ["large", "other", "e"].contains(name)).collect();
    assert_eq!(names, ["large", "other"], "{shown}");
    browser.press("\t");
    let shown = browser.resize((120, 30)).screen();
    assert!(!shown.contains('│') && shown.contains(" entries "), "{shown}");
}

/// A search kept all names on the path to each match: in a tree 20,000 directories deep, 8 GB.
#[test]
fn of_very_deep_files_few_are_listed() {
    let fixture = Fixture::in_memory();
    let way = "a/".repeat(5_000);
    let list: String = (0..600).map(|number| format!("1 {way}f{number}\n")).collect();
    fs::write(fixture.at("list"), list).unwrap();
    let mut browser = session::files([fixture.at("list")]).open();
    browser.press("\t");
    assert_eq!(browser.len(), 200);
    browser.press("/f\n");
    assert_eq!(browser.said(), "1 of 200: f; n N go on");
}

/// To ask where they are now would stop the screen until a dead server answers.
#[test]
fn the_list_of_the_trash_asks_the_system_nothing() {
    let fixture = Fixture::in_memory().dir("home").file("tree/d/a", 1);
    let mut browser = detailed(&fixture.at("tree")).home(fixture.at("home")).open();
    browser.press("dt");
    fs::rename(fixture.at("tree"), fixture.at("renamed")).unwrap();
    browser.press("z");
    let shown = browser.resize((200, 20)).screen();
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
        browser.press("\t");
        let mut inodes = BTreeMap::new();
        for (_, stat) in entries_at(&root).into_iter().filter(|(_, stat)| !stat.is_dir()) {
            inodes.insert(stat.ino(), stat.blocks() * 512);
        }
        let mut sizes: Vec<_> = inodes.into_values().collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let found: Vec<_> = browser.listed().into_iter().map(|(_, size)| size).collect();
        assert_eq!(found, sizes, "seed {seed}");
        for by in ["type", "age", "owner"] {
            browser.press("\t");
            let printed = weigh(&format!("-j -P --by {by}")).arg(&root).run().document();
            let printed = printed.nodes.iter().skip(1);
            let printed = printed.map(|it| (String::from_utf8_lossy(&it.name).into(), it.size));
            let printed: BTreeMap<String, u64> = printed.collect();
            assert_eq!(BTreeMap::from_iter(browser.listed()), printed, "seed {seed}: {by}");
        }
        browser.press("\t");
        assert_eq!(browser.len(), fs::read_dir(&root).unwrap().count(), "the tree again");
        browser.press("⇤");
        assert!(browser.listed().iter().all(|(name, _)| !name.contains('/')), "owners");
    });
}

/// Enter on a group lists its files, and each way back leads where one came from.
#[test]
fn a_group_lists_its_files() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    browser.press("\t\t");
    let types = browser.paths();
    assert_eq!(types[..2], [".rs", ".log"], "{types:?}");
    browser.press(" ");
    assert_eq!(browser.said(), "not marked: .rs: it is no entry: Enter shows what is in it");
    browser.press("d");
    assert_eq!(
        browser.said(),
        "not to be removed: .log: it is no entry: Enter shows what is in it"
    );
    for keys in ["A", "+.rs\n"] {
        browser.press(keys);
        assert_eq!(browser.said(), "nothing marked: it is no entry: Enter shows what is in it");
    }
    browser.press("g\n");
    assert_eq!(browser.paths(), ["b/three.rs", "one.rs", "a/two.rs"]);
    browser.press("A←");
    assert_eq!((browser.marks(), browser.paths()), (3, types.clone()));
    browser.press("U\t");
    assert_eq!(browser.paths(), ["under 1 day", "5 years or more"]);
    browser.press("G\n");
    assert_eq!(browser.paths(), ["b/three.rs"]);
    browser.press("\x1b\x1b");
    assert_eq!(browser.len(), 4, "the tree");
    // A walk keeps no owners unless it is asked to.
    let mut plain = open(fixture.at("tree"));
    // Until another view is shown, whatever else is said.
    for keys in ["⇤", "Q"] {
        plain.press(keys);
        let shown = plain.resize((80, 24)).screen();
        assert!(
            shown.contains("owners are not known yet: Enter scans everything again"),
            "{shown}"
        );
        assert!(!shown.contains("nothing in it"), "{shown}");
    }
    plain.press("\t");
    assert_eq!(plain.len(), 4);
}

/// In a list of groups, `Space mark` stood there with a filter or with marks, and `i about it` where nothing was listed.
#[test]
fn the_foot_offers_only_what_can_be_done() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    let mut foot = |keys: &str| {
        browser.press(keys);
        let shown = browser.resize((120, 24)).foot();
        let hints = shown.split("   ").map(|it| it.trim().to_owned());
        hints.filter(|it| !it.is_empty()).collect::<Vec<_>>()
    };
    let mut check = |keys, offered: &[&str]| assert_eq!(foot(keys), offered);
    let [find, view, help] = ["/ find", "Tab view", "? help"];
    let groups = ["Enter its files", find, view, help];
    check("\t", &["Enter to its place", "Space mark", "d delete…", find, view, "s sort", help]);
    check("\t", &groups);
    let [all, others] = ["Esc show all", "f list others"];
    check("frs\n", &[all, "Enter its files", others, help]);
    check("f\x7f\x7fnone\n", &[all, others, help]);
    check("\x1b", &groups);
    let marks = ["d review, delete", "U unmark all", "p print paths"];
    check("\t\t\tAg", &[&["Space mark"], &marks[..], &["Enter open", help]].concat());
    check("\t\t", &[&marks[..], &["Enter its files", help]].concat());
}

/// `Enter` on a file, `U` without marks and, in a list of what is anywhere, `T` did nothing, and nothing said so.
#[test]
fn a_key_that_does_nothing_here_says_why() {
    let fixture = Fixture::new().file("tree/d/file", 50_000).file("tree/file", 5_000);
    let mut browser = browser(&fixture.at("tree"));
    assert!(browser.resize((120, 24)).foot().contains("T map"));
    browser.press("\t\tT");
    assert_eq!(browser.said(), "the treemap shows the view \"tree\"");
    assert!(!browser.resize((120, 24)).foot().contains("T map"));
    browser.press("c");
    assert_eq!(browser.said(), "the entries of groups are always shown");
    browser.press("\x1bG\n");
    assert_eq!(browser.said(), "there is nothing to open");
    browser.press("U");
    assert_eq!(browser.said(), "nothing is marked: Space marks");
}

/// The owners needed another command line, and the marks were listed only in the review.
#[test]
fn no_view_is_a_dead_end() {
    let fixture = fixture();
    let mut browser = session::of([fixture.at("tree")]).own_home().open();
    let shown = browser.press("⇤").resize((120, 24)).screen();
    assert!(shown.contains("Enter scans everything again"), "{shown}");
    assert!(shown.contains("Enter find owners"), "{shown}");
    let shown = browser.press("\n").screen();
    assert!(browser.len() > 0 && !shown.contains("not known"), "{shown}");
    // Of everything that was scanned, and with what can be done in any list.
    browser.press("\t→ h\t");
    let marked = browser.marked();
    browser.press("⇤⇤");
    assert!(browser.screen().contains("marked"), "{}", browser.screen());
    assert_eq!((browser.len(), marked.len()), (1, 1), "{}", browser.screen());
    browser.press(" ");
    assert_eq!((browser.len(), browser.marks()), (0, 0), "{}", browser.screen());
    assert!(browser.screen().contains("nothing is marked: Space marks"), "{}", browser.screen());
}

/// The pane says what people ask for, and `i` the rest.
#[test]
fn the_pane_answers() {
    let fixture = Fixture::new()
        .file("tree/repo/a/b/large.bin", 90_000)
        .file("tree/repo/a/small", 5_000)
        .file("tree/repo/.git/HEAD", 10)
        .symlink("over/there", "tree/repo/z-link");
    let mut browser = session::of([fixture.at("tree")]).own_home().open();
    let shown = browser.resize((120, 30)).press("").screen();
    for line in ["large.bin", "of them files", "a repository", "last written"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let about = browser.press("i").screen();
    for (what, text) in [("inode", "on device"), ("mode", "mode")] {
        assert!(!shown.contains(text) && about.contains(text), "{what}: {shown} {about}");
    }
    browser.press("q→G");
    let begin = Instant::now();
    while !browser.press("").screen().contains("leads to") {
        assert!(begin.elapsed() < PATIENCE, "{}", browser.screen());
        std::thread::sleep(Duration::from_millis(5));
    }
    let shown = browser.screen();
    assert!(shown.contains("over/there") && shown.contains("in the repository repo"), "{shown}");
}

/// What lies in the trash is said at once.
#[test]
fn the_head_has_what_lies_in_the_trash() {
    let fixture = Fixture::new().dir("home").file("tree/one", 50_000).file("tree/two", 9_000);
    let mut browser = session::of([fixture.at("tree")]).home(fixture.at("home")).open();
    assert!(!browser.head().contains("trash"));
    browser.press("dt");
    assert!(browser.head().contains("52.0Ki in the trash"), "{}", browser.head());
    browser.press("u");
    assert!(!browser.head().contains("trash"), "{}", browser.head());
}

/// The part of a name that was searched for stands out.
#[test]
fn a_match_stands_out() {
    let fixture = Fixture::new().file("tree/a/libSYNC.so", 5_000);
    let mut browser = browser(&fixture.at("tree"));
    let cells = browser.press("/sync").cells();
    // Not in the names of the views.
    let cells = &cells.content()[3 * 80..];
    let marked = cells.iter().filter(|it| it.modifier.contains(Modifier::UNDERLINED));
    assert_eq!(marked.map(|it| it.symbol()).collect::<String>(), "SYNC");
}

/// A click on the name of a view opens it, where all have room.
#[test]
fn a_click_on_a_name_opens_that_view() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    for (name, size) in [("types", (120, 30)), ("owners", (60, 20)), ("tree", (80, 24))] {
        let shown = browser.resize(size).screen();
        let names = shown.lines().nth(1).unwrap();
        let x = names.find(name).unwrap() as u16;
        for (x, is_on) in [(x - 1, false), (x + name.len() as u16, false), (x, true)] {
            assert_eq!(browser.click((x, 1)), is_on, "{name} {x}: {names}");
        }
        let mut turned = self::browser(&fixture.at("tree"));
        turned.press(match name {
            "types" => "\t\t",
            "owners" => "⇤",
            _ => "",
        });
        assert_eq!(browser.resize(size).screen(), turned.resize(size).screen());
    }
    // The names are not there.
    assert!(!browser.resize((80, 9)).click((1, 1)));
    browser.resize((80, 24)).press("?");
    assert!(!browser.click((1, 1)), "help stays");
}

/// In the list, a click chooses a line. In the review, the trash and the errors, it did nothing.
#[test]
fn a_click_chooses_a_line_of_a_text() {
    let fixture = fixture();
    for size in [(80, 24), (60, 9)] {
        let mut browser = reviewed(&fixture.at("tree"), "Ad");
        let top = browser.resize(size).screen().lines().position(|it| it.contains(">●")).unwrap();
        for y in [0, top - 1, size.1 as usize - 1] {
            assert!(!browser.click((5, y as u16)), "{y}");
        }
        assert!(browser.click((5, top as u16 + 1)));
        let mut moved = reviewed(&fixture.at("tree"), "Ad");
        moved.press("j");
        assert_eq!(browser.resize(size).screen(), moved.resize(size).screen());
    }
}

/// A click on a line moved it to the bottom, so that the pointer was on another one then.
#[test]
fn a_click_on_a_line_of_a_long_text_does_not_move_it() {
    let fixture = (0..40).fold(Fixture::in_memory(), |it, i| it.file(format!("{i:02}"), 9));
    let mut browser = reviewed(fixture.path(), "Ad");
    let size = (80, 24);
    let top = browser.resize(size).screen().lines().position(|it| it.contains(">●")).unwrap();
    for keys in ["", "G", "kkkk", "g"] {
        browser.press(keys);
        let before = browser.resize(size).screen();
        assert!(browser.click((5, top as u16 + 4)));
        let after = browser.resize(size).screen();
        let [before, after] = [before, after].map(|it| it.lines().nth(top + 4).unwrap().to_owned());
        assert_eq!(after, before.replacen(' ', ">", 1).replace('█', "▒"), "{keys}");
    }
    browser.resize((0, 50)).screen();
}

/// Enter on a line of another list that is not in the tree leads to its place, and so does a click on the chosen line.
#[test]
fn enter_leads_to_what_could_not_be_read() {
    let fixture = Fixture::in_memory().file("tree/a/f", 9_000).unreadable("tree/a/closed");
    let fixture = fixture.file("tree/a/last", 20_000).file("tree/other", 1);
    let json = weigh("-P -j tree").within(fixture.path()).by_nobody(&fixture).run().stdout;
    crate::saved::write(fixture.at("saved.weigh"), str::from_utf8(&json).unwrap());
    let saved = session::files([fixture.at("saved.weigh")]);
    let mut browser = saved.clone().open();
    browser.press("e");
    let hint = browser.resize((80, 24)).foot();
    assert!(hint.contains("Enter to its place"), "{hint}");
    let mut clicked = saved.open();
    let shown = clicked.press("e").screen();
    let line = shown.lines().position(|it| it.contains("closed")).unwrap();
    assert!(clicked.click((5, line as u16)));
    browser.press("\n");
    assert_eq!(clicked.resize((80, 24)).screen(), browser.resize((80, 24)).screen());
    assert_eq!(browser.paths(), ["a/last", "a/f", "a/closed"]);
    let shown = browser.resize((80, 24)).screen();
    let chosen = shown.lines().find(|line| line.starts_with('>')).unwrap();
    assert!(chosen.ends_with("closed/"), "{shown}");
    // What is not in the tree any more.
    browser.scan_all_but("tree/a/gone", Operation::Open, ErrorKind::PermissionDenied);
    browser.press("e\n");
    assert_eq!(browser.said(), "nothing of it is in the tree");
    let hint = browser.resize((80, 24)).foot();
    browser.press("j");
    assert_ne!(browser.resize((80, 24)).foot(), hint, "the list of errors is still there");
}

/// What is deleted from a view is gone from it; the size that is shown is another with `a`.
#[test]
fn a_view_follows_the_tree() {
    let fixture = fixture().sparse("tree/b/sparse", 1 << 20);
    let mut browser = browser(&fixture.at("tree"));
    browser.press("\t");
    assert_eq!(browser.paths()[0], "a/deep/one.log");
    browser.press("a");
    assert_eq!(browser.listed()[0], ("b/sparse".to_owned(), 1 << 20));
    fs::remove_file(fixture.at("tree/b/sparse")).unwrap();
    browser.scan_all();
    browser.press("");
    assert_eq!(browser.paths()[0], "a/deep/one.log");
}

/// A message and the keys of the prompt left no room for what is typed.
#[test]
fn what_is_typed_is_seen() {
    let fixture = Fixture::new().file("t/four", 1);
    let mut browser = browser(&fixture.at("t"));
    browser.press("/[");
    let shown = browser.resize((80, 24)).screen();
    assert!(shown.trim_end().ends_with("find ["), "{shown}");
    // And what is wrong with it, also where little room is left.
    for size in [(40, 15), (20, 5)] {
        let line = browser.resize(size).foot();
        assert!(line.ends_with('[') && line.contains("; fi"), "{line}");
    }
}

/// As in fd, ripgrep and vi with smartcase.
#[test]
fn text_in_lower_case_matches_both_cases() {
    let fixture = fixture().file("tree/Readme", 10);
    let mut browser = browser(&fixture.at("tree"));
    browser.press("/read\n");
    assert_eq!(browser.said(), "1 of 1: read; n N go on");
    browser.press("\x1bfr*me\n");
    assert_eq!(browser.paths(), ["Readme"]);
    browser.press("fREADME\n");
    assert_eq!(browser.len(), 0);
    browser.press("\x1bf[[:upper:]]*\n");
    assert_eq!(browser.paths(), ["Readme"]);
    // What is marked may be deleted: only what was typed is.
    browser.press("\x1b+read*\n");
    assert_eq!((browser.marks(), browser.said()), (0, "nothing marked"));
    // The line of the marks says how many, and the last line keeps its hints.
    browser.press("+Read*\n");
    assert_eq!((browser.marks(), browser.said()), (1, ""));
}

/// Where nothing is left to close or leave, the keys for that did nothing and said nothing.
#[test]
fn esc_in_the_root_says_which_key_quits() {
    let fixture = fixture();
    let mut browser = session::of([fixture.at("tree")]).keys(&["quit=x"]).open();
    browser.press("\x1b");
    assert_eq!(browser.said(), "x quits");
    // Where there is nothing above.
    let mut top = session::of(["/proc/self/fdinfo"]).keys(&["quit=x"]).scanning();
    top.scan_all();
    top.press("Q←");
    assert_eq!(top.said(), "x quits");
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
    let mut browser = session::of(paths).open();
    let shown = browser.resize((80, 24)).screen();
    assert!(shown.starts_with(" (total) "), "{shown}");
}

/// `lib/ frees 5.33Gi` beside 5.33Gi said nothing.
#[test]
fn what_is_freed_is_said_if_it_reads_as_another_figure() {
    let fixture = Fixture::in_memory().file("tree/a/large", 10_000_000).file("tree/b/small", 4096);
    let fixture = fixture.hard_link("tree/b/small", "tree/a/link");
    let mut browser = browser(&fixture.at("tree"));
    let shown = browser.resize((80, 24)).screen();
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
    browser.press("Ad");
    let shown = browser.resize((80, 60)).screen();
    let at = |i: i32| shown.find(&format!("tree/{i} ")).or(shown.find(&format!("tree/{i}\n")));
    let places: Vec<_> = (10..40).map(|i| at(i).expect("it is listed")).collect();
    assert!(places.is_sorted(), "{shown}");
}

/// As one types, with the largest first; Enter shows it in its directory, and `n` and `N` go on.
#[test]
fn a_search_finds_what_is_anywhere() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    let whole = browser.size();
    browser.press("n\n/one");
    assert_eq!(browser.paths(), ["a/deep/one.log"], "from the current directory down");
    browser.press("\x7f\x7f\x7fthree");
    assert_eq!(browser.paths(), ["b/three.rs"], "and if nothing is there, everywhere");
    // Once, shares were those of a directory that it is not in.
    let share = format!(" {:.0}% ", browser.listed()[0].1 as f64 / whole as f64 * 100.0);
    let shown = browser.resize((80, 24)).screen();
    assert!(shown.contains(&share), "{share} in\n{shown}");
    browser.press("\x1b");
    assert_eq!(browser.paths(), ["a/deep", "a/two.rs"], "where it began");
    for (typed, found) in [("one", 1), ("nil", 0)] {
        browser.press(&format!("/{typed}"));
        let asked = format!("Esc goes back; {found} found): {typed}");
        assert!(
            browser.resize((80, 24)).foot().ends_with(&asked),
            "{}",
            browser.resize((80, 24)).foot()
        );
        browser.press("\x1b");
    }
    browser.press("h/one");
    assert_eq!(browser.paths(), ["a/deep/one.log", "one.rs"]);
    browser.press("\n");
    assert_eq!(browser.paths(), ["a/deep/one.log"]);
    assert_eq!(browser.said(), "1 of 2: one; n N go on");
    browser.press("n");
    assert_eq!((browser.len(), browser.said()), (4, "2 of 2: one; n N go on"));
    browser.press(" ");
    assert_eq!(browser.marked(), [fixture.at("tree/one.rs")]);
    browser.press("n");
    assert_eq!(browser.said(), "1 of 2: one; n N go on");
    browser.press("N");
    assert_eq!(browser.said(), "2 of 2: one; n N go on");
    // Without a search, n sorts.
    browser.press("\x1bn");
    assert_eq!(browser.paths(), ["one.rs", "link.log", "b", "a"], "backwards");
    // An arrow chooses another one of the list; directories are found, too; globs are globs.
    browser.press("s/*e*↓↓\n");
    assert_eq!(browser.said(), "3 of 4: *e*; n N go on");
    browser.press("/nothing like it");
    let shown = browser.resize((80, 24)).screen();
    assert!(shown.contains("no name matches") && !shown.contains("nothing in it"), "{shown}");
    browser.press("\n");
    assert_eq!(browser.said(), "no name matches");
    browser.press("/[");
    assert!(!browser.said().is_empty());
    browser.press("\x1b");
}

#[test]
fn a_match_that_is_gone_is_called_so() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    browser.press("/one\nn");
    assert_eq!(browser.said(), "2 of 2: one; n N go on");
    fs::remove_file(fixture.at("tree/a/deep/one.log")).unwrap();
    browser.scan_all();
    browser.press("n");
    assert_eq!(browser.said(), "1 of 2 (gone): one; n N go on");
    browser.press("n");
    assert_eq!(browser.said(), "2 of 2: one; n N go on");
}

/// A file that was given as PATH looked like an empty directory.
#[test]
fn a_file_says_that_it_is_one() {
    let fixture = Fixture::new().file("f", 100);
    let mut browser = open(fixture.at("f"));
    let shown = browser.resize((80, 24)).screen();
    assert!(shown.contains("it is a file") && !shown.contains("nothing in it"), "{shown}");
    assert!(!shown.contains("--from"), "{shown}");
    let fixture = Fixture::new().file("f.weigh", 100);
    let mut browser = open(fixture.at("f.weigh"));
    let shown = browser.resize((80, 24)).screen();
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
    let mut browser = open(fixture.at("tree"));
    browser.ask("\t");
    assert!(browser.is_asking() && browser.len() == 0);
    browser.ask("\t");
    assert!(browser.is_asking(), "the other view is asked for then");
    browser.ask("\x1b");
    assert_eq!(browser.len(), 12, "and the tree is there at once");
    for letter in "/needle\n".chars() {
        browser.ask(letter.encode_utf8(&mut [0; 4]));
        browser.tick();
    }
    assert!(browser.is_asking() && !browser.said().contains("1 of 1"));
    browser.ask("↓");
    browser.press("");
    assert_eq!(browser.said(), "1 of 1: needle; n N go on");
    browser.press("\t");
    assert_eq!(browser.paths()[0], "7/needle");
    browser.press("hh\t\t");
    assert_eq!(browser.entries_listed(), 12 + 120_000 + 2);
}

/// Each key of other programs does something, and what does nothing says so.
#[test]
fn no_key_is_silent() {
    let mut fixture = Fixture::in_memory();
    for i in 0..50 {
        fixture = fixture.file(format!("tree/{i:02}"), 10);
    }
    let mut browser = browser(&fixture.at("tree"));
    browser.press("n");
    let mut line_after = |key: &str| {
        browser.press(key);
        let shown = browser.resize((60, 24)).screen();
        assert!(!shown.contains("does nothing"), "{key:?}: {shown}");
        browser.press(" ");
        let marked = browser.marked();
        browser.press("U↑");
        marked[0].file_name().unwrap().to_str().unwrap().to_owned()
    };
    for (key, expected) in [("G", "49"), ("g", "00"), ("\x04", "10"), ("\x15", "00"), ("⇲", "49")]
    {
        // The last line stays chosen when it is marked.
        let line: usize = line_after(key).parse().unwrap();
        let expected: usize = expected.parse().unwrap();
        assert!(line.abs_diff(expected) <= 1, "{key:?}: {line}");
    }
    browser.press("⌦");
    let review = browser.resize((60, 24)).screen();
    assert!(review.contains("1 marked: 4.00Ki in 1 entry"), "Delete reviews: {review}");
    browser.press("\x1b");
    for key in ["ä", "\u{202e}", "\x18", "Q"] {
        browser.press(key);
        assert!(browser.said().ends_with("does nothing here: ? shows all keys"), "{key:?}");
        assert!(!browser.said().contains('\u{202e}'));
    }
}

/// The head said "by name" or "smallest first" over groups, which stayed as they were.
#[test]
fn the_head_has_the_order_of_the_list() {
    let fixture = fixture();
    let mut browser = browser(&fixture.at("tree"));
    let orders = ["by size", "smallest first", "by name", "by entries", "newest first"];
    for view in ["\t\t", "\t\t\t", "\t\t\t\t"] {
        browser.press(view);
        let groups = browser.paths();
        for key in ["s", "s", "n", "C", "M", "t"] {
            browser.press(key);
            assert_eq!(browser.said(), "the order of this list is fixed", "{key}");
            assert_eq!(browser.paths(), groups);
            let head = browser.resize((100, 22)).screen().lines().next().unwrap().to_owned();
            assert!(!orders.iter().any(|order| head.contains(order)), "{head}");
        }
        browser.press("\x1b");
    }
    // Their names are listed like others, and their files are in any order.
    browser.press("\t\tf.rs\n");
    assert_eq!(browser.paths(), [".rs"]);
    browser.press("\nn");
    assert_eq!(browser.paths(), ["one.rs", "b/three.rs", "a/two.rs"]);
    assert!(browser.resize((100, 22)).screen().contains("by name"));
}

#[test]
fn keys_are_what_the_user_sets() {
    let fixture = fixture();
    let keys = ["by-name=x", "mark=m", "mark=Ctrl-s", "delete=Space"];
    let mut browser = session::of([fixture.at("tree")]).keys(&keys).open();
    browser.press("xm");
    assert_eq!(browser.paths()[0], "a/deep/one.log".split('/').next().unwrap());
    assert_eq!(browser.marks(), 1);
    browser.press("\x13");
    assert_eq!(browser.marks(), 2);
    browser.press("n");
    assert!(browser.said().contains("n does nothing"), "its own key is no key of it any more");
    browser.press("?");
    let help = browser.resize((100, 60)).screen();
    assert!(help.contains("m ^S"), "{help}");
    browser.press("\x1b ");
    assert!(browser.resize((100, 30)).screen().contains("2 marked:"), "Space deletes");
    for (text, why) in [
        ("delete", "it is ACTION=KEY"),
        ("delet=x", "no action is called 'delet'"),
        ("delete=", "'' is no key"),
        ("delete=xy", "'xy' is no key"),
        ("delete=Ctrl-c", "'Ctrl-c' is no key"),
        ("delete=\x1b", "is no key"),
    ] {
        let error = session::bindings(&[text]).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    let error = session::bindings(&["mark=x", "delete=x"]).unwrap_err();
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
    assert_eq!(browser.press("y").outside(), [Wanted::Copy(path)]);
    assert!(browser.said().starts_with("copied /") && browser.said().ends_with("漢字 \\\\ 'x'"));
    assert_eq!(browser.press("↓y").outside(), []);
    let said_of_it = browser.said();
    assert!(said_of_it.starts_with("not copied, because it has control"), "{said_of_it}");
    // This one was said to have control characters.
    assert_eq!(browser.press("↓y").outside(), []);
    let said_of_it = browser.said();
    assert!(said_of_it.starts_with("not copied, because it is not UTF-8: /"), "{said_of_it}");
    browser.press("\t\ty");
    assert_eq!(browser.said(), "a group has no path");
}

/// Only what was scanned, by nobody who may do more than the user, and nothing of a snapshot.
#[test]
fn what_is_opened_in_another_program() {
    let fixture = fixture().symlink("one.rs", "tree/symlink").fifo("tree/pipe");
    let tree = || session::of([fixture.at("tree")]);
    let mut browser = tree().open();
    browser.press("nG");
    for (keys, why) in [
        ("o", "only files and directories are opened"),
        ("↑o", "only files and directories are opened"),
    ] {
        assert_eq!(browser.press(keys).outside(), []);
        assert_eq!(browser.said(), why);
    }
    for name in ["one.rs", "link.log"] {
        // What the scan says of it, and what is said now.
        let path = fixture.at("tree").join(name);
        let fingerprint = session::fingerprint(&path);
        assert_eq!(browser.press("↑o").outside(), [Wanted::Open(path, fingerprint)]);
    }
    let (root, read_only) = (tree().by_root().open(), tree().read_only().open());
    let saved = fixture.at("saved.weigh");
    weigh::run(&weigh::Request::of([fixture.at("tree")]).save_to(&saved)).unwrap();
    let (loaded, walking) = (session::files([saved]).open(), tree().scanning());
    for (mut browser, why) in [
        (root, "nothing is opened as root"),
        (read_only, "nothing is opened with --read-only"),
        (loaded, "nothing is opened: this was not scanned here"),
        (walking, "you can do this when the scan is over"),
    ] {
        assert!(browser.ask("o").is_empty(), "{why}");
        assert_eq!(browser.said(), why);
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
    let mut browser = session::of([fixture.at("tree")]).since(&saved).open();
    for width in 50..130 {
        let shown = browser.resize((width, 24)).screen();
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
    let tree = session::of([fixture.at("tree")]).since(&saved);
    let mut browser = tree.home(fixture.at("home")).open();
    browser.press("~");
    let lines: Vec<_> = browser.paths().into_iter().take(3).collect();
    assert_eq!(lines, ["gone", "new", "old"]);
    let shown = browser.resize((110, 24)).screen();
    let mut lines_of_list = shown.lines().filter(|line| line.contains('%'));
    let mut line = |name: &str| lines_of_list.find(|line| line.contains(name)).unwrap();
    // Bars are changes: what stays has none, however large it is.
    let bar = |line: &str| line.matches(['█', '▒']).count();
    let (gone, new) = (line(" gone/"), line(" new"));
    assert!(gone.contains("-1") && new.contains('+'), "{shown}");
    assert!(bar(gone) > bar(new) && bar(new) * 3 > bar(gone), "{shown}");
    let stays = shown.lines().filter(|line| line.contains('%') && !line.contains(['+', '-']));
    assert!(stays.clone().count() > 1 && stays.map(bar).sum::<usize>() == 0, "{shown}");
    assert!(shown.contains(" since "), "{shown}");
    // It is not there: nothing can be done with it.
    for (key, why) in [
        ("d", "not to be removed: gone: it is gone"),
        ("o", "only files"),
        ("+old\n", "nothing marked: it is gone"),
    ] {
        assert_eq!(browser.press(&format!("g{key}")).outside(), []);
        assert!(browser.said().starts_with(why), "{key}: {}", browser.said());
    }
    browser.press("g\n");
    assert_eq!(browser.len(), lines.len() + 4, "it is not opened");
    browser.press("fol\n");
    assert_eq!(browser.paths(), ["old"]);
    // Of what is anywhere, changes are not known.
    browser.press("\t");
    assert_eq!(browser.paths()[..2], ["new", "a/deep/one.log"]);
    assert!(browser.resize((110, 24)).screen().lines().next().unwrap().ends_with("by size"));
    browser.press("~");
    assert_eq!(browser.said(), "changes are listed in the tree only");
}

/// A review of what `keys` mark at `root`, looked at again.
fn reviewed(root: &Path, keys: &str) -> Session {
    let mut browser = browser(root);
    browser.press(keys);
    browser
}

/// The review at 60 columns showed all keys but the one that deletes, and with marks at 40 none at all.
#[test]
fn keys_that_delete_or_leave_have_room() {
    let fixture = fixture();
    let root = fixture.at("tree");
    for width in [40, 60, 80] {
        for height in [6, 10, 24] {
            let size = (width, height);
            let line = reviewed(&root, "Ad").resize(size).foot();
            for hint in ["t trash", "D delete", "Esc q back"] {
                assert!(line.contains(hint), "{size:?}: {line}");
            }
            let mut asked = reviewed(&root, "Ad");
            asked.press("D");
            let line = asked.resize(size).foot();
            assert!(line.contains("delete ") && line.contains(" many"), "{size:?}: {line}");
            for (keys, expected) in [
                ("", ["d delete…", "? help"]),
                (" ", ["d review, delete", "? help"]),
                ("?", ["Esc q back", ""]),
                ("Ai", ["Esc q back", ""]),
                ("e", ["Esc q back", ""]),
                ("z", ["Esc q back", ""]),
                // It was empty.
                ("+", ["mark listed (", "):"]),
            ] {
                let mut browser = browser(&root);
                browser.press(keys);
                let line = browser.resize(size).foot();
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
        let mut browser = reviewed(&root, keys);
        let text = |browser: &mut Session| {
            let shown = browser.resize(size).screen();
            shown.lines().take(8).map(str::to_owned).collect::<Vec<_>>()
        };
        let shown = text(&mut browser);
        for letter in other.chars() {
            assert!(browser.ask(letter.encode_utf8(&mut [0; 4])).is_empty());
            assert_eq!(text(&mut browser), shown, "{keys} {letter}");
        }
        assert!(!browser.click((3, 0)), "{keys}");
        for (there, back) in [("\x06", "\x02"), ("\x04", "\x15")] {
            browser.press(there);
            let has_moved = text(&mut browser) != shown;
            // In the review, another line is chosen.
            assert_eq!(has_moved, matches!(keys, "Ad" | "?" | "i"), "{keys} {there:?}");
            browser.press(back);
            assert_eq!(text(&mut browser), shown, "{keys} {back:?}");
        }
        browser.press("q");
        assert!(browser.resize(size).foot().contains("? help"), "{keys}");
    }
}

const KEYS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ019 /+~?<>.*[";
const OTHERS: &str = "↑↓←→⇞⇟⇱⇲\n\n\t\t⇤\x7f⌦\x1b\x1b\x03⇡⇣";

/// Any key; none stands for a click.
fn any_key(dice: &mut Dice) -> Option<char> {
    let of = |dice: &mut Dice, keys: &str| *dice.of(&keys.chars().collect::<Vec<_>>());
    match dice.below(10) {
        0..5 => Some(of(dice, KEYS)),
        5 => Some(of(dice, "\x02\x04\x06\x15\x18\x13")),
        6 => None,
        _ => Some(of(dice, OTHERS)),
    }
}

/// One run: whatever is typed, only what a review showed goes, and only by `t`, or by the number of its entries.
struct Storm {
    browser: Session,
    removals: usize,
}

impl Storm {
    fn new(root: &Path, home: &Path) -> Self {
        let setup = detailed(root).home(home).built_in_rules(None);
        Self { browser: setup.open(), removals: 0 }
    }

    /// Passes a key, if it is one, does what the screen wants to be done then, and looks at that first. False if it ends.
    fn pass(&mut self, key: Option<char>, dice: &mut Dice, before: &str) -> bool {
        let marked = self.browser.marked();
        // What is around the tree must stay.
        let key = match key {
            Some('y') if self.browser.resize((220, 40)).foot().contains("directory above?") => {
                Some('\x1b')
            }
            key => key,
        };
        let wanted = match key {
            Some(key) => self.browser.ask(key.encode_utf8(&mut [0; 4])),
            None => self.browser.click_any(dice.below(30)),
        };
        for wanted in wanted {
            match wanted {
                Wanted::Quit | Wanted::Print | Wanted::Fail => return false,
                Wanted::Scan(roots) => assert!(!roots.is_empty()),
                Wanted::Trash(paths, _) => {
                    assert_eq!(key, Some('t'));
                    assert!(before.contains("t trash"), "{before}");
                    self.check_removal(&paths, &marked);
                }
                Wanted::Delete(paths, entries) => {
                    assert_eq!(key, Some('\n'));
                    let (_, typed) =
                        before.trim_end().rsplit_once("how many: ").expect("it was asked");
                    assert_eq!(typed.replace(',', ""), entries.to_string(), "{before}");
                    self.check_removal(&paths, &marked);
                }
                Wanted::Empty(_, entries) => {
                    assert_eq!(key, Some('\n'));
                    let (_, typed) =
                        before.trim_end().rsplit_once("how many: ").expect("it was asked");
                    assert_eq!(typed.replace(',', ""), entries.to_string(), "{before}");
                }
                Wanted::Copy(text) => assert!(!text.contains(char::is_control), "{text:?}"),
                Wanted::Open(path, _) => {
                    assert!(path.is_absolute() && !path.is_symlink(), "{path:?}");
                }
                Wanted::Protect
                | Wanted::ReadLink
                | Wanted::StopScan
                | Wanted::LoadKept
                | Wanted::Look
                | Wanted::FindUnused
                | Wanted::LookInTrash
                | Wanted::Cancel
                | Wanted::Undo(_) => {}
            }
        }
        self.browser.go_on();
        let ended = self.browser.outside();
        !ended.iter().any(|it| matches!(it, Wanted::Quit | Wanted::Print | Wanted::Fail))
    }

    fn check_removal(&mut self, paths: &[PathBuf], marked: &[PathBuf]) {
        self.removals += 1;
        assert!(!paths.is_empty());
        for path in paths {
            assert!(marked.contains(path), "{path:?} is not of {marked:?}");
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
        let mut browser = detailed(&root).home(fixture.at("home")).open();
        let mut types = |keys: &str| browser.press(keys).said().to_owned();
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
    let mut browser = detailed(&fixture.at("tree")).home(fixture.at("home")).open();
    let mut types = |keys: &str| browser.press(keys).said().to_owned();
    types("\tAd");
    for path in paths {
        fs::write(fixture.at(path), "changed").unwrap();
    }
    assert_eq!(
        types("t"),
        "3 kept; nothing is moved into the trash; marks lost: 3 (gone, changed, or not to be marked)"
    );
}

/// How many entries were deleted, as the log says.
fn deleted(home: &Path) -> usize {
    let log = fs::read_to_string(home.join(".local/state/weigh/deleted.ndjson"));
    let log = log.unwrap_or_default();
    let ends = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    ends.filter_map(|line| line["removed"].as_u64()).sum::<u64>() as usize
}

fn storm(seed: u64, keys: usize) -> usize {
    let mut dice = Dice::new(seed);
    let fixture = dice.tree(Fixture::in_memory().dir("home"), Names::Hostile);
    let (root, home) = (fixture.at("tree"), fixture.at("home"));
    let all = entries_at(&root).len();
    let mut storm = Storm::new(&root, &home);
    let mut ahead: Vec<char> = Vec::new();
    for _ in 0..keys {
        let key = ahead.pop().or_else(|| any_key(&mut dice));
        if ahead.is_empty() && dice.below(15) == 0 {
            ahead = dice.of(&["td", "Dd", "Ez"]).chars().collect();
        }
        let size = [(80, 24), (100, 30), (40, 10), (7, 3), (200, 50), (1, 1)][dice.below(6)];
        let before = match key {
            Some('t' | '\n') => storm.browser.resize((220, 40)).screen(),
            _ if dice.below(4) == 0 => storm.browser.resize(size).screen(),
            _ => String::new(),
        };
        // Sometimes the right number is typed.
        if let Some((_, asked)) = before.lines().last().and_then(|it| it.rsplit_once("delete "))
            && dice.below(2) == 0
        {
            let number: String = asked.chars().take_while(|it| *it != ' ').collect();
            let typed = number.replace(',', "");
            ahead = ['\n'].into_iter().chain(typed.chars().rev()).collect();
            ahead.extend(['\x7f'; 30]);
        }
        if !storm.pass(key, &mut dice, &before) {
            storm = Storm { removals: storm.removals, ..Storm::new(&root, &home) };
        }
    }
    let trash = home.join(".local/share/Trash/files");
    let trashed = if trash.exists() { entries_at(&trash).len() - 1 } else { 0 };
    let left = entries_at(&root).len();
    assert_eq!(left + trashed + deleted(&home), all, "seed {seed}");
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
        browser.press(keys);
        for width in [30, 80, 140] {
            let buffer = browser.resize((width, 22)).cells();
            for y in 0..22 {
                let mut x = 0;
                while x < width {
                    let symbol = buffer[(x, y)].symbol();
                    let wide =
                        symbol.chars().filter(|c| session::width(&c.to_string()) > 0).count();
                    let joined = ['\u{fe0f}', '\u{20e3}', '\u{1f3fd}', '🇩', '🇫'];
                    assert!(wide == 1 && !symbol.contains(joined), "{keys:?} {width}: {symbol:?}");
                    assert!(!symbol.contains("👩\u{200d}"), "{symbol:?}");
                    x += u16::try_from(session::width(symbol)).unwrap();
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
        asked.press("D");
        assert!(!asked.resize(size).foot().contains("wrong"));
        asked.press("77\n");
        let line = asked.resize(size).foot();
        assert!(line.contains("wrong number; d"), "{size:?}: {line}");
        asked.press("1");
        assert!(asked.resize(size).foot().ends_with('1') && asked.said().is_empty());
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
        let before = terminal.until("delete");
        terminal.type_in(b"o");
        let drawn = terminal.until("pened");
        terminal.type_in(b"q");
        child.wait().unwrap();
        let after = terminal.close();
        let line = drawn_in(20, &(before + &drawn + &String::from_utf8_lossy(&after)));
        assert!(line.contains(&format!("not opened: {said}")), "{line}");
    }
}

/// All that was drawn in a line of the screen, one over the other: only what changes is drawn.
fn drawn_in(line: usize, shown: &str) -> String {
    let (mut drawn, mut at) = (vec![' '; 200], (1, 1));
    for (i, part) in shown.split("\x1b[").enumerate() {
        let (codes, text) = match part.find(|c: char| c.is_ascii_alphabetic()) {
            Some(end) if i > 0 => part.split_at(end),
            _ => ("", part),
        };
        if let (Some((row, column)), true) = (codes.split_once(';'), text.starts_with('H')) {
            at = (row.parse().unwrap(), column.parse().unwrap());
        }
        for c in text.chars().skip(usize::from(i > 0)) {
            if let Some(cell) = drawn.get_mut(at.1).filter(|_| at.0 == line) {
                *cell = c;
            }
            at.1 += 1;
        }
    }
    drawn.into_iter().collect()
}
