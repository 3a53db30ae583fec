//! The state of `--ui` without a terminal: what is listed, what marks come to, and that removing all that is marked
//! frees what is said, to the block.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::program::browse::BrowseOptions;
use crate::program::browse::browser::Browser;
use crate::program::browse::event::{Command, Ending, Event};
use crate::program::browse::keys::Key;
use crate::program::browse::protected::Protected;
use weigh::internal::measure::Time;
use weigh::internal::report::{self, Input, Keep, Outcome, Request};
use weigh::internal::sys;
use weigh::internal::tally::{Entry, Inodes, Live, LivePart, Tally, Whole};
use weigh::internal::tree::{Step, Totals, Traversal, Tree};
use weigh::internal::walk::{WalkOptions, walk};

use crate::dice::{Dice, Names};
use crate::fixture::Fixture;
use crate::rounds::rounds;
use crate::run::weigh;
use crate::snapshots::sizes_alone;

/// What `--ui` asks for to show what is at `roots`.
pub fn request<'p>(roots: impl IntoIterator<Item = &'p Path>) -> Request {
    let keep = Keep::Everything(Inodes::FINGERPRINTS);
    let roots = roots.into_iter().map(|root| root.as_os_str().to_owned());
    let source = Input::Roots(roots.collect());
    let mut request = Request { source, keep, ..Request::default() };
    request.walk.rules.time = Some(Time::Modified);
    request
}

/// What `request` comes to.
pub fn scanned(request: &Request) -> Outcome {
    report::browse(request, Arc::default(), |_| {}).unwrap()
}

/// Shows `browsed` in place of what was shown.
pub fn show(browser: &mut Browser, browsed: Outcome) {
    assert!(browser.on(Event::Scanned(Ok(Box::new(browsed)))).is_empty());
}

/// A screen with `height` lines on it, of what `request` asks for.
pub fn opened(request: &Request, options: BrowseOptions, height: usize) -> Browser {
    let homes = options.homes.clone();
    let mut browser = Browser::new(request.clone(), options);
    if let Input::Roots(roots) = &request.source {
        let roots = roots.iter().map(|root| root.as_encoded_bytes());
        browser.on(Event::Protected(Box::new(Protected::ask(roots, &homes))));
    }
    browser.resize(height, usize::MAX);
    show(&mut browser, scanned(request));
    browser
}

/// A screen with `height` lines on it, of what is at `root`.
fn browser(root: &Path, height: usize) -> Browser {
    opened(&request([root]), BrowseOptions::default(), height)
}

/// What is at `root`, as `--ui` walks it.
fn browsed(root: &Path) -> Outcome {
    scanned(&request([root]))
}

/// The names that are listed, and how they are marked.
fn listed(browser: &Browser) -> Vec<String> {
    let items = (0..browser.len()).filter_map(|line| browser.item(line));
    items.map(|item| String::from_utf8_lossy(&item.name).into_owned()).collect()
}

/// What the last of `keys` asks for.
fn press(browser: &mut Browser, keys: &str) -> Vec<Command> {
    let mut is_typing = false;
    keys.chars().fold(Vec::new(), |_, key| {
        is_typing = matches!(key, '+' | '/' | 'f') || is_typing && key != '\n';
        browser.on(Event::Key(match key {
            '\n' => Key::Enter,
            '\x1b' => Key::Escape,
            '>' if !is_typing => Key::Right,
            '^' => Key::Home,
            key => Key::Char(key),
        }))
    })
}

/// Keys without end took memory without end, and each searched for all of them.
#[test]
fn a_pattern_has_a_bounded_length() {
    const MOST: usize = 10_000;
    let fixture = Fixture::new().file("t/four", 1);
    let mut browser = browser(&fixture.at("t"), 9);
    press(&mut browser, &("f".to_owned() + &"x".repeat(2 * MOST)));
    browser.on(Event::Pasted("x".repeat(MOST)));
    for _ in 0..MOST {
        browser.on(Event::Key(Key::Backspace));
    }
    press(&mut browser, "four\n");
    assert_eq!(listed(&browser), ["four"]);
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
        assert!(browser.on(Event::Key(key)).is_empty());
    }
}

/// What the file system at `path` has free, in bytes.
pub fn free(path: &Path) -> u64 {
    let space = rustix::fs::fstatvfs(synced(path)).unwrap();
    space.f_bfree * space.f_frsize
}

/// The directory at `path`, after its file system was written to its device: before, files may still get blocks.
fn synced(path: &Path) -> fs::File {
    let directory = fs::File::open(path).unwrap();
    rustix::fs::syncfs(&directory).unwrap();
    directory
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
fn removed_is_freed(place: &Mounted, seed: u64) -> u64 {
    let mut dice = Dice::new(seed);
    let fixture = dice.tree(Fixture::within(place.path()), Names::Hostile);
    let tree = fixture.at("tree");
    let mut browser = browser(&tree, 5);
    mark_at_random(&mut browser, &mut dice);
    let (count, marked) = browser.marked();
    let (totals, freed) = marked.unwrap();
    let paths: Vec<PathBuf> = browser.marked_paths().into_iter().map(sys::into_path).collect();
    assert_eq!(paths.len(), count);
    let weighed: u64 = weight_of(&paths);
    assert_eq!(totals.size, weighed, "seed {seed}: what is marked weighs something else");
    let before = place.free();
    paths.iter().for_each(|path| remove(path));
    let freed = freed.unwrap();
    assert_eq!(freed.least, freed.most, "seed {seed}: {paths:?}");
    place.assert_free(before + freed.most, &format!("seed {seed}: {paths:?}"));
    freed.most
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
pub struct Mounted {
    path: PathBuf,
    /// What is free and what is used in it, together, in bytes.
    whole: u64,
    /// What it is mounted on, if that is to go too.
    _top: Option<tempfile::TempDir>,
}

impl Mounted {
    pub fn tmpfs() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut mounted = Self::tmpfs_at(dir.path());
        mounted._top = Some(dir);
        mounted
    }

    pub fn tmpfs_at(path: &Path) -> Self {
        let args = ["-t", "tmpfs", "-o", "size=256m", "tmpfs"].map(std::ffi::OsString::from);
        succeed("mount", args.into_iter().chain([path.into()]));
        Self::at(path.to_owned(), None)
    }

    /// An overlay of two directories.
    pub fn overlay_at(path: &Path, [one, two]: [&Path; 2]) -> Self {
        let lower = format!("lowerdir={}:{}", one.display(), two.display());
        let args = ["-t", "overlay", "-o", &lower, "overlay"].map(std::ffi::OsString::from);
        succeed("mount", args.into_iter().chain([path.into()]));
        Self::at(path.to_owned(), None)
    }

    /// What was just mounted at `path`.
    fn at(path: PathBuf, top: Option<tempfile::TempDir>) -> Self {
        let mut mounted = Self { path, whole: 0, _top: top };
        mounted.whole = free(&mounted.path) + mounted.used();
        mounted
    }

    /// What is used in it, in bytes.
    fn used(&self) -> u64 {
        synced(&self.path);
        weight_of(std::slice::from_ref(&self.path))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it has free, in bytes, as soon as nothing that was removed is open any more: a child that another test has
    /// just forked holds what is open here, until it runs its program.
    pub fn free(&self) -> u64 {
        self.whole - self.used()
    }

    /// Asserts that it comes to have so much free, in bytes.
    pub fn assert_free(&self, expected: u64, what: &str) {
        for _ in 0..500 {
            if free(&self.path) == expected {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(free(&self.path), expected, "{what}");
    }

    pub fn ext4() -> Self {
        Self::image("mkfs.ext4", 256 << 20)
    }

    pub fn image(mkfs: &str, size: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().with_extension("image");
        fs::File::create(&image).unwrap().set_len(size).unwrap();
        succeed(mkfs, ["-q".into(), image.clone().into()]);
        succeed("mount", ["-o".into(), "loop".into(), image.clone().into(), dir.path().into()]);
        fs::remove_file(image).unwrap();
        Self::at(dir.path().to_owned(), Some(dir))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Something may be open in it for a moment longer.
        succeed("umount", ["-l".into(), self.path.clone().into()]);
    }
}

fn succeed(program: &str, args: impl IntoIterator<Item = std::ffi::OsString>) {
    let status = std::process::Command::new(program).args(args).status().unwrap();
    assert!(status.success(), "{program}: {status}");
}

#[test]
#[ignore = "mounts a tmpfs"]
fn what_is_said_to_be_freed_is_freed_on_tmpfs() {
    native_only!("the library is asked, and not the program");
    let place = Mounted::tmpfs();
    let freed = (0..rounds(100, 2_000) as u64).map(|seed| removed_is_freed(&place, seed));
    assert!(freed.sum::<u64>() > 1 << 20);
}

#[test]
#[ignore = "mounts an ext4 image"]
fn what_is_said_to_be_freed_is_freed_on_ext4() {
    native_only!("the library is asked, and not the program");
    let place = Mounted::ext4();
    let seeds = 1_000_000..1_000_000 + rounds(30, 2_000) as u64;
    let freed = seeds.map(|seed| removed_is_freed(&place, seed));
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
    let freed = |browser: &Browser| browser.marked().1.unwrap().1.unwrap().most;
    press(&mut browser, "n");
    assert_eq!(listed(&browser), ["a", "b", "c"]);
    press(&mut browser, " ");
    assert_eq!(freed(&browser), size("a"));
    press(&mut browser, " ");
    assert_eq!(freed(&browser), size("a") + size("b") + size("a/one"));
    press(&mut browser, " ");
    assert_eq!(freed(&browser), size("a") + size("b") + size("a/one") + size("a/two"));
    let (count, marked) = browser.marked();
    // Each link is one of them.
    assert_eq!((count, marked.unwrap().0.entries), (3, 6));
    // The last line stays chosen: its mark is taken off again.
    press(&mut browser, " ");
    assert_eq!(freed(&browser), size("a") + size("b") + size("a/one"));
    let paths = ["a", "b"].map(|name| fixture.at(name).into_os_string().into_encoded_bytes());
    let commands = press(&mut browser, "p");
    assert!(matches!(&commands[..], [Command::End(Ending::Print)]), "{commands:?}");
    assert_eq!(browser.printed_paths(), [paths.join(&b'\n'), b"\n".to_vec()].concat());
}

/// What is in a marked directory is marked with it, and marks in it are none of their own any more.
#[test]
fn a_marked_directory_holds_what_is_in_it() {
    let fixture = Fixture::new().file("a/b/c", 10_000).file("a/b/d", 10_000).file("a/x", 1);
    let fixture = fixture.file("e", 1);
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
    press(&mut browser, "f7\n");
    assert_eq!(listed(&browser), ["7"]);
    press(&mut browser, "f");
    browser.on(Event::Key(Key::Backspace));
    press(&mut browser, "\n");
    assert_eq!(browser.len(), 8);
    assert_eq!(browser.marked().0, 2);
}

/// Sizes, shared sizes and entries by path.
fn figures(tree: &Tree) -> BTreeMap<Vec<u8>, Totals> {
    let mut figures = BTreeMap::new();
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        if let Step::Node(node) = step {
            figures.insert(traversal.path().to_vec(), node.totals());
            traversal.enter((), node.unsorted().collect());
        }
    }
    figures
}

/// What is looked at anew, with what is above it, is what a fresh scan says, whatever changed in it meanwhile.
#[test]
fn a_directory_that_is_scanned_again_is_as_it_would_be_at_first() {
    let mut replaced = 0;
    for seed in 0..rounds(100, 2_000) as u64 {
        let mut dice = Dice::new(seed);
        let fixture = dice.tree(Fixture::in_memory(), Names::Hostile);
        let root = fixture.at("tree");
        let mut browser = browser(&root, 5);
        mark_at_random(&mut browser, &mut dice);
        let marked = sorted(browser.marked_paths());
        let commands = press(&mut browser, "r");
        let [Command::Scan(request, _)] = &commands[..] else { panic!("{commands:?}") };
        let Input::Roots(roots) = &request.source else { panic!("{request:?}") };
        let directory = PathBuf::from(&roots[0]);
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
        let next = browser.on(Event::Scanned(Ok(Box::new(scanned(request)))));
        match &next[..] {
            [] => replaced += 1,
            [Command::Scan(request, _)] => show(&mut browser, scanned(request)),
            next => panic!("{next:?}"),
        }
        let fresh = browsed(&root).snapshot.weighed.report.unwrap();
        assert_eq!(figures(browser.tree()), figures(&fresh), "seed {seed}: {directory:?}");
        // What is still there, and the same, is still marked; and comes to what marking it anew would.
        let still = sorted(browser.marked_paths());
        assert!(still.iter().all(|path| marked.contains(path)), "seed {seed}");
        let (_, Some((totals, freed))) = browser.marked() else { panic!("it is whole") };
        let paths: Vec<_> = still.into_iter().map(sys::into_path).collect();
        assert_eq!(totals.size, weight_of(&paths), "seed {seed}");
        let before = freed.unwrap().most;
        assert!(before <= totals.size);
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
    let request = request(roots.iter().map(PathBuf::as_path));
    let mut browser = opened(&request, BrowseOptions::default(), 10);
    press(&mut browser, "n^ ");
    assert_eq!(browser.said(), Some("not marked: a: a root lies in it"));
    press(&mut browser, "^> ");
    assert_eq!(browser.said(), Some("not marked: root: it is a root"));
    press(&mut browser, "hj ");
    assert_eq!(browser.marked().0, 1);
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
        let mut request = request([fixture.path()]);
        request.walk.one_file_system = one_file_system;
        let homes = vec![fixture.at("home/me")];
        opened(&request, BrowseOptions { homes, ..BrowseOptions::default() }, 10)
    };
    let mut said = Vec::new();
    for one_file_system in [false, true] {
        let mut browser = scan(one_file_system);
        press(&mut browser, "n");
        for keys in ["^ ", "^j ", "^> ", "h^j>^ ", "^>^ "] {
            press(&mut browser, keys);
            said.push(browser.said().unwrap_or("marked").to_owned());
        }
        assert_eq!(browser.marked_paths(), Vec::<Vec<u8>>::new());
        press(&mut browser, "hA");
        said.push(browser.said().unwrap_or("marked").to_owned());
        let expected = fixture.at("media/image").into_os_string().into_encoded_bytes();
        assert_eq!(browser.marked_paths(), [expected]);
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
    let keep = Keep::Everything(Inodes::DATED_DIRECTORIES);
    let mut request = Request {
        keep,
        source: Input::Files(vec![file.clone()], Default::default()),
        ..Request::default()
    };
    request.walk.rules.time = Some(Time::Modified);
    for browsed in [browsed(fixture.path()), scanned(&request)] {
        let mut browser = browser(fixture.path(), 10);
        show(&mut browser, browsed);
        press(&mut browser, "n>A");
        let by_disk = (browser.totals(), browser.marked(), listed(&browser));
        for (measure, key) in [("-s", 'a'), ("", 'a'), ("-s", 'a')] {
            assert!(browser.on(Event::Key(Key::Char(key))).is_empty());
            let walk = weigh(&format!("{measure} -j")).arg(&path).run().document();
            let a = walk.nodes.iter().find(|node| node.name == b"a").unwrap();
            assert_eq!(browser.totals().size, a.size, "{measure}");
            let marked = browser.marked();
            assert_eq!(marked.0, 2, "{measure}");
            let own = fs::metadata(fixture.at("a")).unwrap().blocks() * 512;
            let own = if measure.is_empty() { own } else { 0 };
            assert_eq!(marked.1.map(|(totals, _)| totals.size), Some(a.size - own), "{measure}");
            let newest = fs::metadata(fixture.at("a/f")).unwrap().mtime();
            assert_eq!(browser.item(0).and_then(|item| item.totals.newest), Some(newest));
        }
        press(&mut browser, "a");
        assert_eq!((browser.totals(), browser.marked(), listed(&browser)), by_disk);
    }
    sizes_alone(&file);
    let mut browser = opened(&request, BrowseOptions::default(), 10);
    for (key, said) in [('a', "it has only disk usage"), ('m', "it has no times: save it again")] {
        browser.on(Event::Key(Key::Char(key)));
        assert_eq!(browser.said(), Some(said));
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
    let mut browser = browser(fixture.path(), 10);
    for (asked, names) in [
        ("*.o", &["a.o", "b.o", "d.o"][..]),
        (">100k", &["b.o", "c.c"]),
        ("older 90d", &["a.o", "old"]),
        ("older 10y", &["a.o", "old"]),
        ("newer 90d", &["b.o", "c.c", "d.o", "mixed"]),
        ("*.x", &[]),
    ] {
        press(&mut browser, &format!("U+{asked}\n"));
        let paths = names.iter().map(|name| fixture.at(name).into_os_string().into_encoded_bytes());
        assert_eq!(sorted(browser.marked_paths()), paths.collect::<Vec<_>>(), "{asked}");
    }
    for (asked, said) in [
        (">x", "a size is a number"),
        ("older 99999999999d", "an age is a number of days or years, as in 90d or 1y"),
    ] {
        press(&mut browser, &format!("+{asked}\n"));
        assert!(browser.said().unwrap().starts_with(said), "{asked}: {:?}", browser.said());
        press(&mut browser, "\x1b");
    }
}

/// Marks that are made while the walk goes on are found when it is over, and only in what is the same.
#[test]
fn marks_by_name_are_found_again() {
    let fixture = Fixture::new().file("a/one", 10_000).file("a/two", 10_000).file("b", 10_000);
    let mut browser = browser(fixture.path(), 10);
    press(&mut browser, "n>A");
    assert_eq!(browser.marked().0, 2);
    fs::remove_file(fixture.at("a/two")).unwrap();
    fs::write(fixture.at("a/two"), "another").unwrap();
    show(&mut browser, browsed(fixture.path()));
    assert_eq!(browser.marked_paths(), [fixture.at("a/one").into_os_string().into_encoded_bytes()]);
    assert!(browser.said().unwrap().contains("marks lost: 1 ("), "{:?}", browser.said());
}

/// Walks what is in `fixture`, and calls `look` whenever a directory has closed, while the walk waits. Returns also the
/// tree of the walk.
fn during_walk(fixture: &Fixture, mut look: impl FnMut(&mut Browser)) -> (Browser, Tree) {
    let mut browser = Browser::new(request([fixture.path()]), BrowseOptions::default());
    let commands = browser.on(Event::Start);
    let [.., Command::Scan(_, top)] = &commands[..] else { panic!("{commands:?}") };
    browser.resize(20, usize::MAX);
    let roots = vec![fixture.path().as_os_str().to_owned()];
    let (started, is_started) = std::sync::mpsc::channel();
    let (step, steps) = std::sync::mpsc::sync_channel::<()>(0);
    let inodes = Inodes::FINGERPRINTS;
    let live = Live::new(Whole { inodes }, Arc::clone(top), Arc::default());
    let tally = Stepwise { live, steps: Mutex::new((started, steps)) };
    let options = WalkOptions { threads: NonZeroUsize::new(2), ..WalkOptions::default() };
    let walk = std::thread::spawn(move || walk(roots, options, tally, |_| {}));
    while is_started.recv().is_ok() {
        browser.on(Event::Tick);
        look(&mut browser);
        if step.send(()).is_err() {
            break;
        }
    }
    (browser, walk.join().unwrap().weighed.report.unwrap())
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
    let (_, tree) = during_walk(&fixture, |browser| {
        let mut names = listed(browser);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "one is seen twice: {names:?}");
        assert!(names.iter().all(|name| all.contains(name)), "{names:?}");
        let entries = browser.totals().entries;
        assert!(entries >= most, "less is seen than before: {entries} after {most}");
        (seen, most) = (seen.max(names.len()), entries);
    });
    assert_eq!(seen, 7);
    assert_eq!(tree.root().totals().entries, 1 + 7 + 35 + 200);
    // The root itself counts once it closes.
    assert!(most > 200 && most < 1 + 7 + 35 + 200, "{most}");
}

/// A mark stays wherever one goes, while its directory is still open, once it has closed, and when the walk is over.
#[test]
fn marks_stay_while_the_walk_goes_on() {
    for seed in 0..rounds(10, 200) as u64 {
        let mut dice = Dice::new(seed);
        let fixture = dice.tree(Fixture::in_memory(), Names::Hostile);
        let (mut marked, mut count) = (BTreeSet::new(), 0);
        let (mut browser, tree) = during_walk(&fixture, |browser| {
            for _ in 0..4 {
                let keys = ["n", ">", ">", "j", "h", "A", " "];
                press(browser, dice.of::<&str>(&keys));
                marked.extend(browser.marked_paths());
            }
            count = browser.marked().0;
            browser.on(Event::Tick);
            assert_eq!(browser.marked().0, count, "seed {seed}");
        });
        let mut finished = browsed(fixture.path());
        finished.snapshot.weighed.report = Some(tree);
        show(&mut browser, finished);
        assert!(!browser.said().unwrap_or_default().contains("lost"), "{:?}", browser.said());
        let paths = browser.marked_paths();
        assert!(paths.iter().all(|path| marked.contains(path)), "seed {seed}");
        assert!(count == 0 || !paths.is_empty(), "seed {seed}: {count}");
    }
}

/// It offered to unmark a line and to print paths, without a line and paths.
#[cfg(feature = "tui")]
#[test]
fn the_review_of_a_walk_that_goes_on_offers_no_more_than_it_can() {
    let fixture = Fixture::in_memory().file("a/one", 1).file("b/two", 1);
    during_walk(&fixture, |browser| {
        press(browser, "A");
        if browser.marked().0 == 0 {
            return;
        }
        press(browser, "d");
        let shown = crate::view::screen(browser, (80, 24));
        assert!(shown.contains("marked; more is known once the scan is over"), "{shown}");
        assert!(shown.ends_with("\n Esc q back\n"), "{shown}");
        press(browser, "q");
    });
}

/// A tally that waits wherever a directory has closed.
struct Stepwise {
    live: Live,
    steps: Mutex<(std::sync::mpsc::Sender<()>, std::sync::mpsc::Receiver<()>)>,
}

impl Tally for Stepwise {
    type Part = LivePart;
    type Answer = Tree;

    fn is_live(&self) -> bool {
        true
    }

    fn open(&self, parent: Option<&LivePart>, name: &[u8]) -> LivePart {
        self.live.open(parent, name)
    }

    fn leaf(&self, part: &mut LivePart, entry: &Entry<'_>) {
        self.live.leaf(part, entry);
    }

    fn merge(&self, part: &mut LivePart, other: LivePart) {
        self.live.merge(part, other);
    }

    fn close(&self, parent: &mut LivePart, directory: &Entry<'_>, part: LivePart) {
        self.live.close(parent, directory, part);
        let steps = self.steps.lock().unwrap();
        steps.0.send(()).unwrap();
        steps.1.recv().unwrap();
    }

    fn finish(&self, root: &Entry<'_>, part: LivePart) -> Tree {
        self.live.finish(root, part)
    }
}
