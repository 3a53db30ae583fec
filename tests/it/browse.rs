//! The state of `--ui` without a terminal: what is listed, what marks come to, and that removing all that is marked
//! frees what is said, to the block.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weigh::browse::{BrowseOptions, Browser, Command, Key, Protected};
use weigh::path;
use weigh::report::{self, Browsed, Keep, Request};
use weigh::tally::Inodes;

use crate::dice::{Dice, Names};
use crate::fixture::Fixture;
use crate::rounds::rounds;

/// What is at `root`, as `--ui` walks it.
fn browsed(root: &Path) -> Browsed {
    let keep = Keep::Everything(Inodes::Fingerprints);
    let request = Request { keep, ..Request::of_roots([root.as_os_str().to_owned()]) };
    report::browse(&request, Arc::default(), |_| {}).unwrap()
}

/// A screen with `height` lines on it, of what is at `root`.
fn browser(root: &Path, height: usize) -> Browser {
    let options = BrowseOptions { knows_freed: true, ..BrowseOptions::default() };
    let protected = Protected::ask([root.as_os_str().as_encoded_bytes()], None);
    let mut browser = Browser::new(options, protected, Arc::default(), true);
    browser.resize(height);
    browser.finish(browsed(root));
    browser
}

/// The names that are listed, and how they are marked.
fn listed(browser: &Browser) -> Vec<String> {
    let items = (0..browser.len()).filter_map(|line| browser.item(line));
    items.map(|item| String::from_utf8_lossy(&item.name).into_owned()).collect()
}

fn press(browser: &mut Browser, keys: &str) -> Option<Command> {
    keys.chars().fold(None, |_, key| {
        browser.press(match key {
            '\n' => Key::Enter,
            '\x1b' => Key::Escape,
            '>' => Key::Right,
            key => Key::Char(key),
        })
    })
}

/// Walks around at random, and marks and unmarks as it comes.
fn mark_at_random(browser: &mut Browser, dice: &mut Dice) {
    for _ in 0..dice.below(60) {
        let key = match dice.below(20) {
            0..6 => Key::Down,
            6..9 => Key::Up,
            9..13 => Key::Right,
            13..15 => Key::Left,
            15 => Key::Char('n'),
            16 => Key::Char('s'),
            17 if dice.below(3) == 0 => Key::Char('A'),
            _ => Key::Char(' '),
        };
        assert_eq!(browser.press(key), None);
    }
}

/// What the file system at `path` has free, in bytes.
fn free(path: &Path) -> u64 {
    let file = fs::File::open(path).unwrap();
    rustix::fs::syncfs(&file).unwrap();
    let space = rustix::fs::fstatvfs(&file).unwrap();
    space.f_bfree * space.f_frsize
}

fn sorted(mut paths: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    paths.sort_unstable();
    paths
}

fn remove(path: &Path) {
    if fs::symlink_metadata(path).unwrap().is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
}

/// Grows a tree in `place`, which is a file system of its own, marks some of it, removes that, and holds what that
/// freed against what was said.
/// Returns how much that was.
fn removed_is_freed(place: &Path, seed: u64) -> u64 {
    let mut dice = Dice::new(seed);
    let fixture = dice.tree(Fixture::within(place), Names::Hostile);
    let tree = fixture.at("tree");
    let mut browser = browser(&tree, 5);
    mark_at_random(&mut browser, &mut dice);
    let (count, marked) = browser.marked();
    let (totals, freed) = marked.unwrap();
    let paths: Vec<PathBuf> = browser.marked_paths().into_iter().map(path::from_vec).collect();
    assert_eq!(paths.len(), count);
    let weighed: u64 = weight_of(&paths);
    assert_eq!(totals.size, weighed, "seed {seed}: what is marked weighs something else");
    let before = free(place);
    paths.iter().for_each(|path| remove(path));
    let after = free(place);
    assert_eq!(freed, Some(after - before), "seed {seed}: {paths:?}");
    after - before
}

/// What `find` says: each inode below `paths` once.
fn weight_of(paths: &[PathBuf]) -> u64 {
    let mut inodes = std::collections::BTreeMap::new();
    let mut ahead = paths.to_vec();
    while let Some(path) = ahead.pop() {
        let stat = fs::symlink_metadata(&path).unwrap();
        inodes.insert(stat.ino(), stat.blocks() * 512);
        if stat.is_dir() {
            ahead.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    inodes.values().sum()
}

/// A file system of its own at a temporary directory, for as long as this is there.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn tmpfs() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let args = ["-t", "tmpfs", "-o", "size=256m", "tmpfs"].map(std::ffi::OsString::from);
        run("mount", args.into_iter().chain([dir.path().into()]));
        Self(dir)
    }

    fn ext4() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().with_extension("image");
        fs::File::create(&image).unwrap().set_len(256 << 20).unwrap();
        run("mkfs.ext4", ["-q".into(), image.clone().into()]);
        run("mount", ["-o".into(), "loop".into(), image.clone().into(), dir.path().into()]);
        fs::remove_file(image).unwrap();
        Self(dir)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run("umount", [self.0.path().into()]);
    }
}

fn run(program: &str, args: impl IntoIterator<Item = std::ffi::OsString>) {
    let status = std::process::Command::new(program).args(args).status().unwrap();
    assert!(status.success(), "{program}: {status}");
}

#[test]
#[ignore = "mounts a tmpfs"]
fn what_is_said_to_be_freed_is_freed_on_tmpfs() {
    native_only!("the library is asked, and not the program");
    let place = Mounted::tmpfs();
    let freed = (0..rounds(100, 2_000) as u64).map(|seed| removed_is_freed(place.0.path(), seed));
    assert!(freed.sum::<u64>() > 1 << 20);
}

#[test]
#[ignore = "mounts an ext4 image"]
fn what_is_said_to_be_freed_is_freed_on_ext4() {
    native_only!("the library is asked, and not the program");
    let place = Mounted::ext4();
    let seeds = 1_000_000..1_000_000 + rounds(30, 2_000) as u64;
    let freed = seeds.map(|seed| removed_is_freed(place.0.path(), seed));
    assert!(freed.sum::<u64>() > 1 << 20);
}

/// A mark frees what has no link outside: with the last link, all at once.
#[test]
fn links_are_freed_with_the_last_of_them() {
    let fixture = Fixture::new()
        .file("a/one", 100_000)
        .hard_link("a/one", "b/one")
        .file("a/two", 200_000)
        .hard_link("a/two", "c");
    let mut browser = browser(fixture.path(), 10);
    let size = |name: &str| fs::symlink_metadata(fixture.at(name)).unwrap().blocks() * 512;
    let freed = |browser: &Browser| browser.marked().1.unwrap().1.unwrap();
    press(&mut browser, "n");
    assert_eq!(listed(&browser), ["a", "b", "c"]);
    press(&mut browser, " ");
    assert_eq!(freed(&browser), size("a"));
    press(&mut browser, " ");
    assert_eq!(freed(&browser), size("a") + size("b") + size("a/one"));
    press(&mut browser, " ");
    assert_eq!(freed(&browser), size("a") + size("b") + size("a/one") + size("a/two"));
    let (count, marked) = browser.marked();
    assert_eq!((count, marked.unwrap().0.entries), (3, 4));
    // The last line stays chosen: its mark is taken off again.
    press(&mut browser, " ");
    assert_eq!(freed(&browser), size("a") + size("b") + size("a/one"));
    assert_eq!(press(&mut browser, "p"), Some(Command::PrintPaths));
    let paths = ["a", "b"].map(|name| fixture.at(name).into_os_string().into_encoded_bytes());
    assert_eq!(browser.printed_paths(), [paths.join(&b'\n'), b"\n".to_vec()].concat());
}

/// What is in a marked directory is marked with it, and marks in it are none of their own any more.
#[test]
fn a_marked_directory_holds_what_is_in_it() {
    let fixture = Fixture::new().file("a/b/c", 10_000).file("a/b/d", 10_000).file("e", 1);
    let mut browser = browser(fixture.path(), 10);
    press(&mut browser, "n>> ");
    assert_eq!(browser.marked().0, 1);
    press(&mut browser, "hh");
    assert_eq!(listed(&browser), ["a", "e"]);
    press(&mut browser, " ");
    assert_eq!(browser.marked_paths(), [fixture.at("a").into_os_string().into_encoded_bytes()]);
    press(&mut browser, "k>> ");
    let said = browser.said().unwrap();
    assert_eq!(said, "not marked: c: the directory it lies in is marked");
    assert_eq!(browser.marked().0, 1);
}

/// Sorting moves rows, and not marks.
#[test]
fn marks_and_the_cursor_stay_with_the_entry() {
    let mut fixture = Fixture::new();
    for size in 1..9 {
        fixture = fixture.file(format!("{size}"), size * 5_000);
    }
    let mut browser = browser(fixture.path(), 3);
    press(&mut browser, "jj ");
    let marked = browser.marked_paths();
    assert_eq!(marked, [fixture.at("6").into_os_string().into_encoded_bytes()]);
    for keys in ["n", "C", "s", "s", "t"] {
        press(&mut browser, keys);
        assert_eq!(browser.marked_paths(), marked, "{keys}");
    }
    // What was chosen is the one after it, wherever that is now.
    press(&mut browser, "n ");
    let expected = ["6", "5"].map(|name| fixture.at(name).into_os_string().into_encoded_bytes());
    assert_eq!(sorted(browser.marked_paths()), sorted(expected.to_vec()));
    press(&mut browser, "/7\n");
    assert_eq!(listed(&browser), ["7"]);
    press(&mut browser, "/");
    browser.press(Key::Backspace);
    press(&mut browser, "\n");
    assert_eq!(browser.len(), 8);
    assert_eq!(browser.marked().0, 2);
}
