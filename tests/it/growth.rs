//! The key of the screen that shows what grew since the last kept scan, and goes back.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::fs;
use std::path::PathBuf;

use crate::fixture::Fixture;
use crate::pty::Terminal;
use crate::run::{Weigh, weigh};
use crate::session::{self, Session, Setup, Wanted};

/// `weigh FLAGS`, as a user whose state is in the fixture.
fn at_home(fixture: &Fixture, flags: &str) -> Weigh {
    let state = fixture.at("state");
    weigh(flags).within(fixture.path()).env("XDG_STATE_HOME", state).env("TZ", "UTC")
}

fn fixture() -> Fixture {
    Fixture::new()
        .dir("home")
        .file("t/grows/log", 20_000)
        .file("t/grows/deep/er/f", 50_000)
        .file("t/gone/f", 100_000)
        .file("t/shrinks", 40_000)
        .file("t/stays/large", 900_000)
}

/// What happens to it after the scan.
fn change(fixture: &Fixture) {
    fs::write(fixture.at("t/grows/log"), [1; 70_000]).unwrap();
    fs::write(fixture.at("t/grows/deep/er/new"), [1; 9_000]).unwrap();
    fs::remove_dir_all(fixture.at("t/gone")).unwrap();
    fs::write(fixture.at("t/shrinks"), [1; 10_000]).unwrap();
    fs::write(fixture.at("t/new"), [1; 30_000]).unwrap();
}

/// The scan of `t` that is kept.
fn keep(fixture: &Fixture, tree: &str) -> PathBuf {
    let shown = at_home(fixture, "--remember").arg(tree).run();
    let said = shown.complaint();
    let path = said.trim_end().strip_prefix("weigh: note: kept this scan: ");
    PathBuf::from(path.unwrap_or_else(|| panic!("{said}")))
}

/// A screen of `tree`, as long as nothing is compared.
fn screen(fixture: &Fixture, tree: &str) -> Setup {
    let kept = fixture.at("state/weigh/snapshots");
    session::of([fixture.at(tree)]).home(fixture.at("home")).kept(kept, tree)
}

/// What is on a screen between its first line and the last ones.
fn list(session: &mut Session) -> Vec<String> {
    let shown = session.resize((96, 20)).screen();
    shown.lines().skip(2).take(14).map(str::to_owned).collect()
}

/// The same as `--since` shows from the start: after a look inside, another order, a removal and another scan of a directory,
/// too.
#[test]
fn changes_since_the_kept_scan_are_those_of_since() {
    let fixture = fixture();
    let kept = keep(&fixture, "t");
    change(&fixture);
    let mut one = screen(&fixture, "t").open();
    let plain = list(&mut one);
    assert!(!plain.concat().contains("gone/"), "{plain:#?}");
    // What `--since` shows now, after these keys.
    let since = |keys: &str| {
        let other = session::of([fixture.at("t")]).home(fixture.at("home")).since(&kept);
        list(other.open().press(keys))
    };
    let shown = list(one.press("~"));
    assert_eq!(shown, since("~"));
    assert_eq!(one.said(), "");
    assert_eq!(one.paths(), ["gone", "grows", "new", "shrinks", "stays"]);
    let line = |shown: &[String], name: &str| {
        let mut lines = shown.iter().filter(|line| line.contains(name));
        lines.next().unwrap_or_else(|| panic!("{name}: {shown:#?}")).clone()
    };
    assert!(line(&shown, "gone/  gone").contains("-1"), "{shown:#?}");
    // In any order, bars are changes: what stays has none, however large it is.
    let shown = list(one.press("s"));
    assert_eq!(shown, since("~s"));
    assert_eq!(one.paths()[0], "stays");
    let bar = |name: &str| line(&shown, name).matches(['█', '▒']).count();
    assert!(bar("gone/") > bar("shrinks") && bar("shrinks") > 0, "{shown:#?}");
    assert_eq!(bar("stays/"), 0, "{shown:#?}");
    // Back to the order before, and to changes again.
    assert_eq!(list(one.press("~~")), plain);
    assert_eq!(list(one.press("~")), since("~"));
    // What is removed is gone, too, and what another scan of a directory finds has changed.
    one.press("~g/shrinks\ndD1\n\x1b\x1b");
    assert!(!fixture.at("t/shrinks").exists(), "{}", one.said());
    let shown = list(one.press("~g"));
    assert_eq!(shown, since("~g"));
    assert!(line(&shown, "shrinks  gone").contains("-40.0Ki"), "{shown:#?}");
    fs::write(fixture.at("t/grows/deep/er/new"), [1; 300_000]).unwrap();
    one.press("g/grows\n\n\x1br");
    let inside = list(&mut one);
    assert!(line(&inside, "deep/er/").contains("+296Ki"), "{inside:#?}");
    assert_eq!(list(one.press("h~~g")), since("~g"));
}

/// Where there is nothing to compare with, the last line says why, and what to type.
#[test]
fn it_says_why_there_is_nothing_to_compare_with() {
    let fixture = fixture();
    let mut none = screen(&fixture, "t").open();
    let before = list(&mut none);
    none.press("~");
    assert_eq!(none.said(), "no earlier scan of t was kept: run weigh diff once to keep one");
    assert_eq!(list(&mut none), before);
    // From a scan of the directory above, of a part of it.
    keep(&fixture, "t");
    change(&fixture);
    let mut part = screen(&fixture, "t/grows").open();
    part.press("~");
    assert!(part.said().starts_with("compared with the scan of /"), "{}", part.said());
    assert!(part.said().ends_with("/t, which contains t/grows"), "{}", part.said());
    let shown = list(&mut part).join("\n");
    assert!(shown.contains("+52.0Ki") && shown.contains("deep/er/"), "{shown}");
    // Not while it scans; not where nothing is scanned; and not in other lists.
    let mut during = screen(&fixture, "t").scanning();
    assert_eq!(during.ask("~"), []);
    assert_eq!(during.said(), "you can do this when the scan is over");
    let mut loaded = session::files([keep(&fixture, "t")]).open();
    loaded.press("~");
    assert_eq!(loaded.said(), "weigh compares only scans of this machine with kept scans");
    let mut flat = screen(&fixture, "t").open();
    flat.press("\t~");
    assert_eq!(flat.said(), "changes are listed in the tree only");
}

/// A scan that is kept itself is not compared with itself, and a kept scan that lacks something is doubted.
#[test]
fn it_is_compared_with_an_earlier_scan() {
    let fixture = fixture();
    let state = fixture.at("state/weigh/snapshots");
    let mut first = screen(&fixture, "t").remember(state).open();
    first.press("~");
    assert!(first.said().starts_with("no scan of t from then or before"), "{}", first.said());
    // Esc stops the wait for it, and what comes then is not shown.
    let mut hurried = screen(&fixture, "t").open();
    assert_eq!(hurried.ask("~"), [Wanted::LoadKept]);
    let loading = hurried.head();
    assert!(loading.contains("loading the last kept scan"), "{loading}");
    hurried.ask("\x1b");
    let before = list(&mut hurried);
    hurried.go_on();
    assert_eq!(list(&mut hurried), before);
}

#[test]
fn the_key_shows_what_grew_on_a_terminal() {
    let fixture = fixture();
    keep(&fixture, "t");
    change(&fixture);
    let mut terminal = Terminal::new();
    let mut child = at_home(&fixture, "ui t").env("HOME", fixture.at("home")).on(&terminal).spawn();
    terminal.wait_for("stays");
    terminal.type_until(b"~", "by change");
    terminal.wait_for("gone");
    terminal.wait_for(" since ");
    terminal.type_until(b"~", "by size");
    terminal.type_in(b"q");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
