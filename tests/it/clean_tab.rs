//! The view "clean" of the screen: what it lists, what can be marked in it, and what the review says of that. And what
//! else the screen says of free space: the sign before directories with marks, the gauge, and the trash that is emptied.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::{Fixture, entries_at};
use crate::mounted::{Mounted, free};
use crate::run::{is_kept, weigh};
use crate::session::{self, Session, Setup, Wanted};

const DAY: i64 = 86_400;

fn now() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A project of npm, whose packages have so many bytes.
fn project(top: &Path, bytes: usize) {
    write(&top.join("package.json"), "{}");
    write(&top.join("package-lock.json"), "{\"packages\": {\"node_modules/in\": {}}}");
    write(&top.join("node_modules/in/package.json"), "{}");
    write(&top.join("node_modules/in/payload.js"), &"w".repeat(bytes));
}

/// A repository with one commit, which ignores packages.
fn commit(top: &Path) {
    write(&top.join(".gitignore"), "node_modules\n");
    for arguments in ["init -q", "add .", "-c user.name=a -c user.email=a@b commit -q -m a"] {
        let arguments = arguments.split(' ');
        assert!(Command::new("git").current_dir(top).args(arguments).status().unwrap().success());
    }
}

fn aged(fixture: Fixture, path: &str, days: i64) -> Fixture {
    let time = now() - days * DAY - 60;
    let paths = entries_at(&fixture.at(path)).into_iter().map(|(path, _)| path);
    paths.fold(fixture, |fixture, path| fixture.modified(path, time))
}

/// Two old projects, one of today, a cache that only its program can remove, and packages with somebody's own code.
fn home() -> Fixture {
    let fixture = Fixture::new().dir("home");
    project(&fixture.at("tree/src/large"), 300_000);
    project(&fixture.at("tree/src/small"), 100_000);
    project(&fixture.at("tree/src/today"), 50_000);
    project(&fixture.at("tree/src/own"), 70_000);
    write(&fixture.at("tree/src/own/node_modules/mine/package.json"), "{}");
    write(&fixture.at("tree/go/pkg/mod/cache/download/x"), &"w".repeat(90_000));
    write(&fixture.at("tree/go/pkg/mod/cache/lock"), "");
    let large = fixture.at("tree/src/large");
    write(&large.join(".gitignore"), "node_modules\n");
    for arguments in ["init -q", "add .", "-c user.name=a -c user.email=a@b commit -q -m a"] {
        let arguments = arguments.split(' ');
        assert!(
            Command::new("git").current_dir(&large).args(arguments).status().unwrap().success()
        );
    }
    let fixture = aged(fixture, "tree", 40);
    aged(fixture, "tree/src/today", 0)
}

fn tab(fixture: &Fixture) -> Setup {
    let setup = session::of([fixture.at("tree")]).home(fixture.at("home"));
    setup.built_in_rules(Some(now() - DAY)).at(now())
}

/// The view, with the cursor on the line that begins so.
fn at_line(session: &mut Session, start: &str) {
    session.press("");
    let line = session.names().iter().position(|name| name.starts_with(start));
    let line = line.unwrap_or_else(|| panic!("{start}: {:?}", session.names()));
    session.press(&format!("⇱{}", "↓".repeat(line)));
}

/// What `weigh clean` finds: paths, and what all of them free.
fn found(fixture: &Fixture) -> (Vec<PathBuf>, u64) {
    let run = weigh("clean -j").arg(fixture.at("tree")).env("HOME", fixture.at("home")).run();
    let json = run.json();
    let found = json["reclaimable"]["found"].as_array().unwrap();
    let mut paths: Vec<PathBuf> =
        found.iter().map(|one| PathBuf::from(one["path"].as_str().unwrap())).collect();
    paths.sort();
    (paths, json["reclaimable"]["frees_most"].as_u64().unwrap())
}

/// The tab has the entries and the sum of `weigh clean`, and what is marked there is what that would remove.
#[test]
fn the_tab_lists_what_clean_lists() {
    let fixture = home();
    let (expected, sum) = found(&fixture);
    assert_eq!(expected.len(), 2);
    let mut screen = tab(&fixture).clean().open();
    screen.press("");
    let names = screen.names();
    let groups = ["Can go", "Written today", "Only its own program can remove it", "Look first"];
    let at = |name: &str| names.iter().position(|it| it == name);
    let lines: Vec<_> = groups.iter().map(|group| at(group).unwrap()).collect();
    assert!(lines.is_sorted(), "{names:?}");
    assert_eq!(screen.listed()[0], ("Can go".to_owned(), sum));
    screen.press("⇱ ");
    assert_eq!(screen.marked(), expected);
    assert_eq!(screen.frees(), [sum, sum]);
    let shown = screen.screen();
    assert!(shown.contains("clean") && shown.contains("● "), "{shown}");
    // The same key takes the marks away, and `A` marks nothing but these.
    screen.press("⇱ ");
    assert_eq!(screen.marks(), 0);
    screen.press("A");
    assert_eq!(screen.marked(), expected);
}

/// A kind unfolds to its entries, each can be marked, and Enter leads to its place.
#[test]
fn a_kind_unfolds_to_its_projects() {
    let fixture = home();
    let mut screen = tab(&fixture).clean().open();
    at_line(&mut screen, "npm packages");
    let folded = screen.len();
    screen.press("\n");
    assert_eq!(screen.len(), folded + 2);
    let shown = screen.resize((200, 24)).screen();
    assert!(shown.contains("tree/src/large/node_modules/  git"), "{shown}");
    assert!(shown.contains("tree/src/small/node_modules/  no git"), "{shown}");
    screen.resize((80, 24));
    screen.press("↓ ");
    assert_eq!(screen.marked(), [fixture.at("tree/src/large/node_modules")]);
    // Of a group and a kind of which only some entries are marked, the sign says that.
    let signs = |screen: &mut Session| -> Vec<char> {
        screen.screen().lines().skip(4).take(4).map(|line| line.chars().nth(1).unwrap()).collect()
    };
    assert_eq!(signs(&mut screen), ['◐', '◐', '●', ' ']);
    screen.press(" ");
    assert_eq!(signs(&mut screen), ['●', '●', '●', '●']);
    screen.press("↑←");
    assert_eq!(screen.len(), folded);
    screen.press("\n↓\n");
    assert_eq!(screen.paths()[0], "src/large/node_modules/in");
}

/// What is in no sum cannot be marked here, and the last line says why.
#[test]
fn what_may_not_go_cannot_be_marked() {
    let fixture = home();
    let mut screen = tab(&fixture).clean().open();
    for (group, why) in [
        ("Written today", "lately"),
        ("Only its own", "its own program"),
        ("Look first", "its place"),
    ] {
        at_line(&mut screen, group);
        for keys in [" ", "↓ ", "\n↓ ", "d"] {
            screen.press(keys);
            assert_eq!(screen.marks(), 0, "{group} {keys:?}: {:?}", screen.marked());
        }
        at_line(&mut screen, group);
        screen.press(" ");
        assert!(screen.said().contains(why), "{group}: {}", screen.said());
    }
    screen.press("+*\n");
    let (expected, _) = found(&fixture);
    assert_eq!(screen.marked(), expected);
}

/// Marks that were set because rules find the entries go when the rules find them no more. A mark that you set stays.
#[test]
fn marks_go_when_the_rules_find_their_entries_no_more() {
    for is_yours in [false, true] {
        let fixture = home();
        let mut screen = tab(&fixture).open();
        // In the tree, a directory with one directory in it shares a line with that.
        let names = if is_yours { "node_modules/in" } else { "node_modules" };
        let path = fixture.at("tree/src/large").join(names);
        match is_yours {
            true => screen.press("/node_modules\n"),
            false => screen.press("⇤"),
        };
        screen.press(if is_yours { " " } else { "A" });
        assert!(screen.marked().contains(&path), "{is_yours}: {}", screen.screen());
        fs::remove_file(fixture.at("tree/src/large/package-lock.json")).unwrap();
        screen.press("\x1b\x1b\x1br");
        assert_eq!(screen.marked().contains(&path), is_yours, "{}", screen.said());
        assert_eq!(screen.said().contains("marks lost: 1"), !is_yours, "{}", screen.said());
    }
}

/// The review applies the rules again, and looks for processes in what was marked in the tab.
#[test]
fn the_review_checks_again_what_rules_found() {
    let fixture = home();
    let mut screen = tab(&fixture).clean().open();
    screen.press("A");
    let held = File::open(fixture.at("tree/src/large/node_modules/in/payload.js")).unwrap();
    let mut reader = Command::new("sleep").arg("100").stdin(held).spawn().unwrap();
    fs::remove_file(fixture.at("tree/src/small/package-lock.json")).unwrap();
    let shown = screen.press("d").resize((150, 30)).screen();
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert!(shown.contains("small/node_modules/: with in"), "{shown}");
    assert!(shown.contains("large/node_modules/: ") && shown.contains("sleep"), "{shown}");
    screen.press("D");
    assert!(screen.said().contains("none of them"), "{}", screen.said());
    assert!(fixture.at("tree/src/large/node_modules").exists());
}

/// What the view says against an entry was gone in the review, where it matters.
#[test]
fn the_review_repeats_a_warning() {
    let fixture = home();
    let mut screen = tab(&fixture).clean().open();
    at_line(&mut screen, "Look first");
    assert!(screen.foot().contains("Enter fold"), "{}", screen.foot());
    let shown = screen.press("↓\n").resize((150, 30)).screen();
    assert!(shown.contains("Enter to its place") || shown.contains("Enter fold"), "{shown}");
    screen.press("↓\n");
    assert!(
        screen.names().iter().any(|name| name == "node_modules" || name == "mine"),
        "{:?}",
        screen.names()
    );
    let shown = screen.press("d").screen();
    assert!(shown.contains("look first: with mine"), "{shown}");
    let mut screen = tab(&fixture).clean().open();
    at_line(&mut screen, "Only its own");
    let shown = screen.resize((150, 30)).press("↓\n↓\nd").screen();
    assert!(shown.contains("Go modules: only its own program can remove it"), "{shown}");
}

/// What is deleted from the tab is gone, and the list is what `weigh clean` lists then.
#[test]
fn what_is_marked_in_the_tab_can_be_deleted() {
    let fixture = home();
    let mut screen = tab(&fixture).clean().open();
    at_line(&mut screen, "npm packages");
    screen.press("\n↓ dD");
    let entries = screen.asked_entries().unwrap();
    assert_eq!(entries, entries_at(&fixture.at("tree/src/large/node_modules")).len() as u64);
    screen.press(&format!("{entries}\n"));
    assert!(!fixture.at("tree/src/large/node_modules").exists());
    let (left, sum) = found(&fixture);
    assert_eq!(left, [fixture.at("tree/src/small/node_modules")]);
    assert_eq!(screen.listed()[0], ("Can go".to_owned(), sum));
    screen.press("A");
    assert_eq!(screen.marked(), left);
}

/// As root, entries with files of somebody else are not removed.
#[test]
#[ignore = "needs root"]
fn what_belongs_to_others_is_kept_by_the_review() {
    let fixture = home().owned("tree/src/large/node_modules/in/payload.js", 1234);
    let mut screen = tab(&fixture).clean().open();
    screen.press("A");
    let shown = screen.press("d").resize((120, 30)).screen();
    assert!(shown.contains("in/payload.js belongs to 1234"), "{shown}");
}

/// A filter may hide the files that prove what can go, and a stopped scan lacks them.
#[test]
fn where_it_is_not_known_the_tab_says_why() {
    let fixture = home();
    for (mut screen, why) in [
        (tab(&fixture).ignore_hidden().clean().open(), "a filter is on"),
        (tab(&fixture).clean().open_stopped(), "the scan was stopped"),
    ] {
        screen.press("");
        let shown = screen.screen();
        assert!(shown.contains(why), "{shown}");
        assert_eq!(screen.press("A d").marks(), 0);
    }
    let empty = Fixture::new().dir("home").file("tree/x", 1);
    let mut screen = tab(&empty).clean().open();
    screen.press("");
    assert!(screen.screen().contains("found nothing that can be made"), "{}", screen.screen());
}

/// A directory with marks in it has a sign, and a marked one keeps its own.
#[test]
fn directories_with_marks_have_a_sign() {
    let fixture = Fixture::new()
        .file("tree/a/b/c/one", 50_000)
        .file("tree/a/b/c/two", 40_000)
        .file("tree/d/e", 30_000)
        .file("tree/f", 10);
    let mut screen = session::of([fixture.at("tree")]).own_home().open();
    let signs = |screen: &mut Session| -> Vec<char> {
        screen.screen().lines().skip(4).take(3).map(|line| line.chars().nth(1).unwrap()).collect()
    };
    assert_eq!(signs(&mut screen), [' ', ' ', ' ']);
    screen.press("→ ←");
    assert_eq!(signs(&mut screen), ['◐', ' ', ' ']);
    screen.press("⇱ ");
    assert_eq!(signs(&mut screen), ['●', ' ', ' ']);
    screen.press("⇱ ");
    assert_eq!(signs(&mut screen), [' ', ' ', ' ']);
    screen.press("⇱↓→ ←U");
    assert_eq!(signs(&mut screen), [' ', ' ', ' ']);
}

/// A directory that shares the line of the one in it, and is marked elsewhere, looked unmarked.
#[test]
fn a_line_of_two_directories_is_marked_if_the_outer_one_is() {
    let fixture = home();
    let mut screen = tab(&fixture).clean().open();
    let shown = screen.press("A\x1b/large\n→").screen();
    let line = shown.lines().nth(4).unwrap();
    assert!(line[1..].starts_with('●') && line.ends_with("node_modules/in/"), "{shown}");
}

/// `E` in the list of the trash deletes what is in it, once the number of entries is typed; and the notes beside it.
#[test]
fn the_trash_is_emptied_by_a_key() {
    let fixture = Fixture::new().dir("home").file("tree/a/one", 5000).file("tree/a/two", 10);
    let fixture = fixture.file("tree/b", 10).file("tree/c", 10);
    let trash = fixture.at("home/.local/share/Trash");
    write(&trash.join("files/older"), "stays");
    write(&trash.join("info/older.trashinfo"), "[Trash Info]\nPath=/x\n");
    let mut screen = session::of([fixture.at("tree")]).home(fixture.at("home")).open();
    screen.press("Adtz");
    assert!(screen.foot().contains("E empty it"), "{}", screen.foot());
    screen.press("E");
    assert!(screen.foot().contains("delete 5 entries for ever"), "{}", screen.foot());
    screen.press("4\n");
    assert!(screen.said().contains("wrong number"), "{}", screen.said());
    screen.press("\x1bq");
    assert_eq!(fixture.names(trash.join("files")), ["a", "b", "c", "older"]);
    screen.press("zE5\n");
    assert_eq!(fixture.names(trash.join("files")), ["older"]);
    assert_eq!(fixture.names(trash.join("info")), ["older.trashinfo"]);
    assert!(screen.said().contains("3 deleted, 5 entries"), "{}", screen.said());
    assert!(!screen.failed().0);
    screen.press("\x1bu");
    assert!(screen.said().contains("put nothing in the trash"), "{}", screen.said());
}

/// What somebody has changed in the trash stays there.
#[test]
fn what_has_changed_in_the_trash_is_kept() {
    let fixture = Fixture::new().dir("home").file("tree/a/one", 5000).file("tree/b", 10);
    let files = fixture.at("home/.local/share/Trash/files");
    let mut screen = session::of([fixture.at("tree")]).home(fixture.at("home")).open();
    screen.press("Adtz");
    fs::write(files.join("b"), "another text").unwrap();
    screen.press("E");
    assert!(screen.said().contains("has changed there"), "{}", screen.said());
    // After the question, too.
    write(&files.join("a/new"), "new");
    screen.press("2\n");
    assert_eq!(fixture.names(&files), ["a", "b"]);
    assert_eq!(fixture.names(files.join("a")), ["new"]);
    assert!(screen.failed().0);
}

/// Without consent, nothing is asked of the trash; and nothing is removed with --read-only.
#[test]
fn the_trash_is_emptied_only_where_deleting_is_on() {
    let fixture = Fixture::new().dir("home").file("tree/a", 10);
    let mut screen = session::of([fixture.at("tree")]).home(fixture.at("home")).read_only().open();
    assert_eq!(screen.press("z").ask("E"), Vec::<Wanted>::new());
    assert!(screen.said().contains("--read-only"), "{}", screen.said());
}

/// The gauge has what `df` has, and what would be available without the marks comes true.
#[test]
#[ignore = "mounts a tmpfs"]
fn the_gauge_says_what_is_available_then() {
    let place = Mounted::tmpfs();
    let home = Fixture::new().dir("home");
    fs::create_dir(place.path().join("d")).unwrap();
    fs::write(place.path().join("d/big"), vec![0; 50 << 20]).unwrap();
    fs::write(place.path().join("small"), vec![0; 5 << 20]).unwrap();
    let mut screen = session::of([place.path()]).home(home.at("home")).df().open();
    let mebi = |bytes: u64| format!("{}Mi", bytes >> 20);
    let line = |screen: &mut Session| screen.screen().lines().nth(1).unwrap().to_owned();
    let before = free(place.path());
    let now = format!("{} available", mebi(before));
    let narrow = line(screen.resize((70, 24)));
    assert!(narrow.ends_with(&now), "{now}: {narrow}");
    assert!(line(screen.resize((90, 24))).ends_with(&format!("{now} of 256Mi")));
    screen.press(" ");
    let then = format!("{} → {} available", mebi(before), mebi(before + (50 << 20)));
    assert!(line(&mut screen).contains(&then), "{then}: {}", line(&mut screen));
    // Where there is no room for it, it is left out.
    assert!(!line(screen.resize((25, 24))).contains("available"));
    let wide = line(screen.resize((120, 40)));
    assert!(wide.contains("▒▒░") && wide.ends_with(" of 256Mi"), "{wide}");
    screen.resize((90, 24)).press("dD2\n");
    let after = free(place.path());
    assert_eq!(after, before + (50 << 20));
    assert!(line(&mut screen).contains(&format!("{} available", mebi(after))));
}

/// `docs/browse.md` shows the tab as it is.
#[test]
fn the_page_shows_the_tab_as_it_is() {
    let fixture = Fixture::in_memory();
    for (name, bytes) in [("app", 12_000_000), ("site", 5_600_000), ("today", 3_000_000)] {
        project(&fixture.at("ann/src").join(name), bytes);
    }
    commit(&fixture.at("ann/src/app"));
    let target = fixture.at("ann/src/old/target");
    write(&fixture.at("ann/src/old/Cargo.toml"), "[package]");
    write(&target.join(".rustc_info.json"), "{}");
    write(&target.join("CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n");
    write(&target.join("debug/deps/libold.rlib"), &"w".repeat(21_000_000));
    for name in ["one", "two"] {
        let module = fixture.at("ann/src").join(name);
        write(&module.join("m.py"), "");
        write(&module.join("__pycache__/m.cpython-312.pyc"), &"w".repeat(200_000));
    }
    write(&fixture.at("ann/go/pkg/mod/cache/download/x"), &"w".repeat(8_000_000));
    write(&fixture.at("ann/go/pkg/mod/cache/lock"), "");
    write(&fixture.at("ann/.local/share/Trash/files/x"), &"w".repeat(2_000_000));
    write(&fixture.at("ann/.local/share/Trash/info/x.trashinfo"), "");
    let fixture = aged(fixture, "ann", 100);
    let fixture = aged(aged(fixture, "ann/src/today", 0), "ann/src/old", 800);
    let home = fixture.at("ann");
    let setup = session::of([&home]).home(&home).built_in_rules(Some(now() - DAY)).at(now());
    let mut screen = setup.clean().open();
    at_line(&mut screen, "npm packages");
    let shown = screen.press("\n↓ ⇱").resize((80, 40)).screen();
    let lines = shown.lines().skip(3).take_while(|line| !line.is_empty());
    let shown: String =
        lines.map(|line| line.replace('>', " ").trim_end().to_owned() + "\n").collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/browse.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("```text\n").unwrap();
    let (_, after) = rest.split_once("```\n").unwrap();
    is_kept(&page, &[before, "```text\n", &shown, "```\n", after].concat(), &shown);
}
