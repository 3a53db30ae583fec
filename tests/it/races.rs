//! Deleting while another process interferes: between any two calls, it replaces what is to be deleted, through
//! directories that it has open, so that moving them does not stop it. And deleting that ends anywhere, by errors or by
//! kill -9.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::denied::{without_room, without_safe_move};
use crate::dice::Dice;
use crate::fixture::{Fixture, entries_at};
use crate::removal::{
    Fate, Manner, RemovalEvent, Removed, Scanned, UserDirectories, look, remove, undo,
};
use crate::rounds::rounds;

/// What another process does, with the directories that it has open.
struct Intruder<'f> {
    fixture: &'f Fixture,
    open: Vec<File>,
    dice: Dice,
    /// What it made: by inode, and what is in it.
    made: BTreeMap<u64, Vec<u8>>,
    /// Where it has mounted something.
    mounts: Vec<PathBuf>,
    swaps: usize,
    can_mount: bool,
}

const NAMES: [&str; 9] = ["a", "b", "c", "d", "one", "two", "three", "four", "five"];

impl<'f> Intruder<'f> {
    fn new(fixture: &'f Fixture, seed: u64, can_mount: bool) -> Self {
        let places = ["tree", "tree/a", "tree/a/b", "tree/d"];
        let open = places.iter().map(|place| File::open(fixture.at(place)).unwrap()).collect();
        let (made, mounts) = (BTreeMap::new(), Vec::new());
        Self { fixture, open, dice: Dice::new(seed), made, mounts, swaps: 0, can_mount }
    }

    /// Removes an entry, and puts another one in its place.
    fn swap(&mut self) {
        let directory = self.open[self.dice.below(self.open.len())].as_raw_fd();
        let name = *self.dice.of(&NAMES);
        let path = PathBuf::from(format!("/proc/self/fd/{directory}/{name}"));
        let serial = self.swaps;
        let aside = self.fixture.at(format!("stash/{serial}"));
        if fs::rename(&path, &aside).is_err() {
            return;
        }
        self.swaps += 1;
        let content = format!("intruder {serial}").into_bytes();
        match self.dice.below(if self.can_mount { 6 } else { 5 }) {
            0 => {
                if fs::write(&path, &content).is_ok() {
                    self.made.insert(fs::symlink_metadata(&path).unwrap().ino(), content);
                }
            }
            1 => {
                if fs::create_dir(&path).is_ok() {
                    let inner = path.join("one");
                    fs::write(&inner, &content).unwrap();
                    self.made.insert(fs::symlink_metadata(&path).unwrap().ino(), Vec::new());
                    self.made.insert(fs::symlink_metadata(&inner).unwrap().ino(), content);
                }
            }
            2 => {
                if symlink(self.fixture.at("canary"), &path).is_ok() {
                    self.made.insert(fs::symlink_metadata(&path).unwrap().ino(), Vec::new());
                }
            }
            3 => {
                // A link to a file that has others: the canary.
                let _ = fs::hard_link(self.fixture.at("canary/bird"), &path);
            }
            4 => {
                // What was there comes back, but for its content.
                let is_its_own = |stat: fs::Metadata| stat.is_file() && stat.nlink() == 1;
                if fs::symlink_metadata(&aside).is_ok_and(is_its_own) {
                    fs::write(&aside, &content).unwrap();
                    self.made.insert(fs::symlink_metadata(&aside).unwrap().ino(), content);
                }
                let _ = fs::rename(&aside, &path);
            }
            _ => {
                let _ = fs::rename(&aside, &path);
                if fs::symlink_metadata(&path).is_ok_and(|stat| stat.is_dir())
                    && rustix::mount::mount_bind(self.fixture.at("canary"), &path).is_ok()
                {
                    self.mounts.push(path);
                }
            }
        }
    }
}

impl Drop for Intruder<'_> {
    fn drop(&mut self) {
        for mount in &self.mounts {
            let detach = rustix::mount::UnmountFlags::DETACH;
            while rustix::mount::unmount(mount, detach).is_ok() {}
        }
    }
}

/// All that is below `top`, by inode, with what is in files; and nothing of what is mounted.
fn inodes(top: &Path) -> BTreeMap<u64, Vec<u8>> {
    let device = fs::symlink_metadata(top).unwrap().dev();
    let entries = entries_at(top).into_iter().filter(|(_, stat)| stat.dev() == device);
    entries
        .map(|(path, stat)| {
            let content = if stat.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            (stat.ino(), content)
        })
        .collect()
}

fn with_canary() -> Fixture {
    Fixture::in_memory()
        .dir("home")
        .dir("stash")
        .file("tree/a/one", 10_000)
        .file("tree/a/five", 10_000)
        .file("tree/a/b/two", 5_000)
        .file("tree/a/b/three", 5_000)
        .file("tree/a/b/four", 5_000)
        .file("tree/c", 9_000)
        .file("tree/d/four", 1)
        .file("tree/d/three", 1)
        .file("canary/bird", 3)
        .file("canary/one", 3)
        .file("canary/b/two", 3)
}

/// Deletes while something is swapped before one call in `one_in`. Returns how many swaps there were.
fn raced(seed: u64, can_mount: bool, manner: Manner) -> usize {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let canary = inodes(&fixture.at("canary"));
    let targets = scanned.targets(&["a", "c", "d"]);
    let mut intruder = Intruder::new(&fixture, seed, can_mount);
    let one_in = [1, 2, 3, 8, 20][intruder.dice.below(5)];
    let mut watch = |_: RemovalEvent<'_>| {
        if intruder.dice.below(one_in) == 0 {
            intruder.swap();
        }
        ControlFlow::Continue(())
    };
    // Every third time as on a file system without room for a private directory, and every third time as on one without
    // a move that never replaces.
    let removed = match (manner, seed % 3) {
        (Manner::Delete, 0) => scanned.delete_without_room(&targets, watch),
        (_, 1) => scanned.remove_without_safe_move(&targets, manner, watch),
        _ => remove(&targets, manner, &scanned.directories, &mut watch),
    };
    let (made, swaps) = (std::mem::take(&mut intruder.made), intruder.swaps);
    drop(intruder);
    assert_eq!(inodes(&fixture.at("canary")), canary, "seed {seed}");
    let there = inodes(fixture.path());
    for (inode, content) in made {
        assert_eq!(there.get(&inode), Some(&content), "seed {seed}: {removed:#?}");
    }
    check_named(&fixture, &scanned, &removed, seed);
    swaps
}

/// Asserts that each entry left in a private directory is named.
fn check_named(fixture: &Fixture, scanned: &Scanned, removed: &Removed, seed: u64) {
    let log = scanned.log();
    for entry in fs::read_dir(fixture.at("tree")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_string_lossy().into_owned();
        if !path.file_name().unwrap().to_string_lossy().starts_with(".weigh-") {
            continue;
        }
        let is_logged = |end| log.contains(&format!(r#""at":"{name}{end}"#));
        assert!(is_logged('/') || is_logged('"'), "seed {seed}: {name} is in no line");
        let is_left =
            |fate: &Fate| matches!(fate, Fate::Left(at) if at.starts_with(name.as_bytes()));
        let is_said = removed.outcomes.iter().any(|outcome| is_left(&outcome.fate))
            || removed.left.iter().any(|one| one.path == name.as_bytes());
        assert!(is_said, "seed {seed}: {name} is not said: {removed:#?}");
    }
}

#[test]
fn what_is_swapped_between_two_calls_is_kept() {
    let (mut swaps, mut seed) = (0, 0);
    while swaps < rounds(1_500, 10_000) {
        let manner = if seed % 4 == 0 { Manner::Trash } else { Manner::Delete };
        swaps += raced(seed, false, manner);
        seed += 1;
    }
    eprintln!("{swaps} swaps in {seed} rounds");
}

#[test]
#[ignore = "mounts"]
fn what_is_swapped_or_mounted_between_two_calls_is_kept() {
    let (mut swaps, mut seed) = (0, 1_000_000);
    while swaps < rounds(300, 10_000) {
        swaps += raced(seed, true, Manner::Delete);
        seed += 1;
    }
    eprintln!("{swaps} swaps in {seed} rounds");
}

/// The directory in which the other process deletes; set there only.
const DELETED: &str = "WEIGH_TEST_DELETED";

/// How many directories, and how many files in each, it deletes.
const SHAPE: (usize, usize) = (20, 20);

fn many() -> Fixture {
    // The log needs no directory, so that none of the calls that fail is for it.
    let mut fixture = Fixture::in_memory().dir("home/.local/state/weigh");
    for directory in 0..SHAPE.0 {
        for file in 0..SHAPE.1 {
            let name = format!("tree/{}/d{directory}/f{file}", directory % 4);
            fixture = fixture.file(name, 10);
        }
    }
    fixture
}

/// What the other process does: deletes all in the tree, and writes down what came of it.
fn delete_all(top: &Path) {
    let scanned = Scanned::new(&top.join("tree"), &top.join("home"));
    let mut targets = scanned.unreviewed(&["0", "1", "2", "3"]);
    let mut said = String::new();
    targets.retain_mut(|target| match look(target) {
        Ok(()) => true,
        Err(refusal) => {
            said += &format!("  {refusal}\n");
            false
        }
    });
    // A call that hangs can be cancelled once it has come back.
    let mut calls = 0;
    // Into the trash of the mount, or into that of the home and back, if there is such a file.
    let directories = scanned.directories.clone();
    let (manner, directories) = match ["to the trash", "and back"].map(|it| top.join(it).exists()) {
        [true, _] => (Manner::Trash, UserDirectories { data: None, ..directories }),
        [_, true] => (Manner::Trash, directories),
        _ => (Manner::Delete, directories),
    };
    let mut go_on = |_: RemovalEvent<'_>| {
        calls += 1;
        ControlFlow::Continue(())
    };
    let mut removed = || remove(&targets, manner, &directories, &mut go_on);
    let removed = match ["no safe move", "no room"].map(|it| top.join(it).exists()) {
        [true, _] => without_safe_move(removed),
        [_, true] => without_room(removed),
        _ => removed(),
    };
    for outcome in &removed.outcomes {
        if let (Fate::Trashed(trashed), true) = (&outcome.fate, top.join("and back").exists()) {
            undo(trashed, &directories, &mut |_| ControlFlow::Continue(()));
        }
        said += &format!("{} {:?}\n", outcome.removed, outcome.fate);
        let problems = outcome.left.iter().chain(&outcome.problems);
        said.extend(problems.map(|one| format!("  {}\n", one.message)));
    }
    said.extend(removed.left.iter().map(|one| format!("left {}\n", one.message)));
    fs::write(top.join("said"), said).unwrap();
}

/// This test again, as another process that deletes in `fixture`.
fn other_process(fixture: &Fixture, test: &str, under: &[String]) -> Command {
    let this = std::env::current_exe().unwrap();
    let mut words: Vec<_> = under.to_vec();
    words.push(this.to_string_lossy().into_owned());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["--exact", test, "--include-ignored", "--test-threads=1"]);
    command.env(DELETED, fixture.path()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// By inode, each file of the tree, and where it is.
fn files(top: &Path) -> BTreeMap<u64, PathBuf> {
    let files = entries_at(top).into_iter().filter(|(_, stat)| !stat.is_dir());
    files.map(|(path, stat)| (stat.ino(), path)).collect()
}

/// What is not in its place is below a path that a line of the log names. Returns how much is gone.
fn check_log(fixture: &Fixture, before: &BTreeMap<u64, PathBuf>, what: &str) -> usize {
    let after = files(&fixture.at("tree"));
    let log = fs::read_to_string(fixture.at("home/.local/state/weigh/deleted.ndjson"));
    let log = log.unwrap_or_default();
    let named: BTreeSet<PathBuf> = log
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|line| {
            let at = PathBuf::from(line.get("at")?.as_str()?);
            let parent = at.parent()?;
            let is_private = parent.file_name()?.to_string_lossy().starts_with(".weigh-");
            Some(if is_private { parent.to_owned() } else { at })
        })
        .collect();
    for (inode, place) in &after {
        let is_named = named.iter().any(|at| place.starts_with(at));
        assert!(before.get(inode) == Some(place) || is_named, "{what}: {}", place.display());
    }
    for entry in fs::read_dir(fixture.at("tree")).unwrap() {
        let path = entry.unwrap().path();
        let is_private = path.file_name().unwrap().to_string_lossy().starts_with(".weigh-");
        assert!(!is_private || named.contains(&path), "{what}: {} in no line", path.display());
    }
    before.len() - after.len()
}

#[test]
#[ignore = "starts itself, and kills that"]
fn whatever_is_killed_is_named() {
    if let Some(top) = std::env::var_os(DELETED) {
        return delete_all(Path::new(&top));
    }
    let (mut dice, mut halfway, mut kills) = (Dice::new(1), 0, 0);
    // How long it takes when it is left alone, from the first line of the log on.
    let mut longest = Duration::from_millis(20);
    while halfway < rounds(6, 35) {
        let mut fixture = many();
        if kills % 2 == 1 {
            fixture = fixture.file("no safe move", 0);
        }
        let before = files(&fixture.at("tree"));
        let mut child =
            other_process(&fixture, "races::whatever_is_killed_is_named", &[]).spawn().unwrap();
        let log = fixture.at("home/.local/state/weigh/deleted.ndjson");
        let limit = Instant::now() + crate::run::PATIENCE;
        while fs::metadata(&log).map_or(0, |log| log.len()) == 0 {
            assert!(Instant::now() < limit, "it does not begin");
            assert!(child.try_wait().unwrap().is_none_or(|status| status.success()));
        }
        let begun = Instant::now();
        if kills == 0 {
            assert!(child.wait().unwrap().success());
            longest = begun.elapsed();
            assert_eq!(check_log(&fixture, &before, "left alone"), before.len());
            kills = 1;
            continue;
        }
        let wait = longest.as_micros() as usize;
        std::thread::sleep(Duration::from_micros(dice.below(wait.max(1)) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let gone = check_log(&fixture, &before, &format!("kill {kills}"));
        // A machine may have had more to do when it was left alone.
        if gone == before.len() {
            longest = longest * 3 / 4;
        } else if gone == 0 {
            longest = longest * 3 / 2 + Duration::from_micros(100);
        } else {
            halfway += 1;
        }
        assert!(kills < 400, "only {halfway} of {kills} were killed halfway");
        kills += 1;
    }
    eprintln!("{kills} kills, {halfway} of them halfway");
}

#[test]
#[ignore = "needs strace"]
fn whatever_fails_is_named_and_the_rest_is_in_its_place() {
    if let Some(top) = std::env::var_os(DELETED) {
        return delete_all(Path::new(&top));
    }
    let mut cases = Vec::new();
    for call in ["renameat2", "unlinkat", "openat2", "mkdirat"] {
        for error in ["EACCES", "EIO", "EROFS", "ENOTEMPTY"] {
            let ks: &[usize] = match call {
                "mkdirat" => &[1, 2],
                "openat2" if rounds(0, 1) == 1 => &[1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20, 24],
                _ if rounds(0, 1) == 1 => &[1, 2, 3, 4, 5, 21, 22, 40, 101, 250, 300, 420],
                _ => &[2, 23],
            };
            cases.extend(ks.iter().map(|k| format!("{call}:error={error}:when={k}")));
            cases.push(format!("{call}:error={error}:when={}+", ks[ks.len() - 1]));
        }
    }
    // A file system that is full: alone, and with one more fault.
    cases.push("mkdirat:error=ENOSPC".to_owned());
    // One that has no move that never replaces, in the same ways.
    cases.push("renameat2:error=EINVAL".to_owned());
    for call in ["linkat", "renameat", "unlinkat"] {
        let ks: &[usize] = if rounds(0, 1) == 1 { &[1, 2, 3, 21, 40, 101, 250] } else { &[1, 2] };
        for error in ["EIO", "EEXIST"] {
            let case =
                |when: String| format!("renameat2:error=EINVAL {call}:error={error}:when={when}");
            cases.extend(ks.iter().map(|k| case(k.to_string())));
            cases.push(case("30+".to_owned()));
        }
    }
    for call in ["renameat2", "unlinkat"] {
        let ks: &[usize] = if rounds(0, 1) == 1 { &[1, 2, 3, 21, 40, 101, 250] } else { &[1, 2] };
        cases.extend(ks.iter().map(|k| format!("mkdirat:error=ENOSPC {call}:error=EIO:when={k}")));
        cases.push(format!("mkdirat:error=ENOSPC {call}:error=EIO:when=30+"));
    }
    crate::rounds::for_each(&cases, |what| {
        let fixture = many();
        let (before, scanned) = (files(&fixture.at("tree")), directories(&fixture.at("tree")));
        let trace = fixture.at("trace").to_string_lossy().into_owned();
        let mut strace = ["strace", "-f", "-q", "-o", &trace].map(str::to_owned).to_vec();
        let calls: Vec<_> = what.split(' ').filter_map(|fault| fault.split(':').next()).collect();
        strace.extend(["-e".to_owned(), format!("trace={}", calls.join(","))]);
        for fault in what.split(' ') {
            strace.extend(["-e".to_owned(), format!("inject={fault}")]);
        }
        let test = "races::whatever_fails_is_named_and_the_rest_is_in_its_place";
        assert!(other_process(&fixture, test, &strace).status().unwrap().success());
        let injected = fs::read_to_string(&trace).unwrap().matches("(INJECTED)").count();
        assert!(injected > 0, "{what}: no call failed");
        let gone = check_log(&fixture, &before, what);
        let said = fs::read_to_string(fixture.at("said")).unwrap();
        // Directories are counted too: each that is gone.
        let counted: usize =
            said.lines().filter_map(|line| line.split(' ').next()?.parse::<usize>().ok()).sum();
        let left = directories(&fixture.at("tree")).intersection(&scanned).count();
        assert_eq!(counted, gone + scanned.len() - left, "{what}: {said}");
        let is_all = gone == before.len() && left == 0;
        let is_possible = ["mkdirat:error=ENOSPC", "renameat2:error=EINVAL"].contains(&&**what);
        assert!(is_all || !is_possible, "{what}: {said}");
        // The review of the first target may be the first to fail.
        let is_named = said.lines().any(|line| line.starts_with("  "));
        assert!(is_all || is_named || said.contains("left "), "{what}: {said}");
    });
    eprintln!("{} faults", cases.len());
}

/// Another process that deletes where no move is one that never replaces: it takes links instead, and lets `strace` delay
/// the first one so that this test can act meanwhile.
fn delete_by_links(fixture: &Fixture, test: &str, delay: &str) -> Child {
    let strace = ["strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=renameat2,linkat"];
    let faults = ["renameat2:error=EINVAL".to_owned(), format!("linkat:{delay}:when=1")];
    let faults = faults.map(|fault| ["-e".to_owned(), format!("inject={fault}")]);
    let strace = [strace.map(str::to_owned).to_vec(), faults.concat()].concat();
    other_process(fixture, test, &strace).spawn().unwrap()
}

/// Four files to delete, and one to put in the place of the first.
fn four_and_theirs() -> Fixture {
    let fixture = Fixture::in_memory().dir("home/.local/state/weigh");
    fs::write(fixture.at("theirs"), "theirs").unwrap();
    (0..4).fold(fixture, |fixture, n| fixture.file(format!("tree/{n}"), 10))
}

/// Where no move is one that never replaces, an entry has two names for a moment.
#[test]
#[ignore = "needs strace"]
fn what_is_exchanged_while_it_has_two_names_is_kept() {
    if let Some(top) = std::env::var_os(DELETED) {
        return delete_all(Path::new(&top));
    }
    let fixture = four_and_theirs();
    let test = "races::what_is_exchanged_while_it_has_two_names_is_kept";
    let mut child = delete_by_links(&fixture, test, "delay_exit=1000000");
    let limit = Instant::now() + crate::run::PATIENCE;
    while fs::metadata(fixture.at("tree/0")).unwrap().nlink() < 2 {
        assert!(Instant::now() < limit, "it does not begin");
    }
    fs::rename(fixture.at("theirs"), fixture.at("tree/0")).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!((fixture.names("tree"), &*fixture.text("tree/0")), (vec!["0".to_owned()], "theirs"));
    let said = fixture.text("said");
    assert!(said.starts_with("0 Kept\n  it is another inode"), "{said}");
}

/// Another file was linked while it was in the place of this one. Its link stayed in the private directory.
#[test]
#[ignore = "needs strace"]
fn what_is_exchanged_and_back_while_it_is_linked_leaves_nothing_behind() {
    if let Some(top) = std::env::var_os(DELETED) {
        return delete_all(Path::new(&top));
    }
    let fixture = four_and_theirs();
    let test = "races::what_is_exchanged_and_back_while_it_is_linked_leaves_nothing_behind";
    let mut child = delete_by_links(&fixture, test, "delay_enter=1000000:delay_exit=1000000");
    let limit = Instant::now() + crate::run::PATIENCE;
    // Both private directories are there.
    while !entries_at(&fixture.at("tree")).iter().any(|(path, stat)| {
        let of_tree = path.strip_prefix(fixture.at("tree")).unwrap_or(path);
        stat.is_dir() && of_tree.components().count() == 2
    }) {
        assert!(Instant::now() < limit, "it does not begin");
    }
    let file = fixture.at("tree/0");
    fs::rename(&file, fixture.at("aside")).unwrap();
    fs::rename(fixture.at("theirs"), &file).unwrap();
    while fs::metadata(&file).unwrap().nlink() < 2 {
        assert!(Instant::now() < limit, "it is not linked");
    }
    fs::rename(fixture.at("aside"), &file).unwrap();
    assert!(child.wait().unwrap().success());
    let said = fixture.text("said");
    assert_eq!(fixture.names("tree"), ["0"], "{said}");
    assert!(said.starts_with("0 Kept\n  it is another inode"), "{said}");
}

/// The same without room for a private directory, in a directory that is deleted; and on the way back from the trash.
#[test]
#[ignore = "needs strace"]
fn what_is_exchanged_while_it_has_two_names_is_kept_beside_them() {
    if let Some(top) = std::env::var_os(DELETED) {
        return delete_all(Path::new(&top));
    }
    const TRASH: &str = "home/.local/share/Trash/files";
    let no_room = ["renameat2:error=EINVAL", "mkdirat:error=ENOSPC"];
    // Each of the four is moved into the trash first.
    let back = ["renameat2:error=EINVAL:when=5+", "mkdirat:error=EINTR:when=100"];
    for (name, around, flag, faults) in
        [("tree/0/f", "tree/0", "without room", no_room), ("tree/0", TRASH, "and back", back)]
    {
        let mut fixture = Fixture::in_memory().dir("home/.local/state/weigh").dir(TRASH);
        for number in ["0", "1", "2", "3"] {
            fixture = fixture.file(name.replace('0', number), 10);
        }
        let fixture = fixture.file(flag, 0);
        fs::write(fixture.at("theirs"), "theirs").unwrap();
        let held = File::open(fixture.at(around)).unwrap();
        let place =
            format!("/proc/self/fd/{}/{}", held.as_raw_fd(), name.rsplit('/').next().unwrap());
        let faults = [faults.as_slice(), &["linkat:delay_exit=1000000:when=1"]].concat();
        let mut strace =
            ["strace", "-f", "-q", "-o", "/dev/null", "-e"].map(str::to_owned).to_vec();
        strace.push("trace=renameat2,mkdirat,linkat".to_owned());
        strace.extend(faults.iter().flat_map(|it| ["-e".to_owned(), format!("inject={it}")]));
        let test = "races::what_is_exchanged_while_it_has_two_names_is_kept_beside_them";
        let mut child = other_process(&fixture, test, &strace).spawn().unwrap();
        let limit = Instant::now() + crate::run::PATIENCE;
        while !fs::metadata(&place).is_ok_and(|it| it.nlink() == 2) {
            assert!(Instant::now() < limit, "it does not begin");
        }
        fs::rename(fixture.at("theirs"), &place).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(fs::read(&place).unwrap(), b"theirs", "{flag}: {}", fixture.text("said"));
        // In its place again.
        assert!(flag == "and back" || fixture.text(name) == "theirs");
    }
}

/// What an editor saves over an entry that was just put back was removed.
#[test]
#[ignore = "needs strace"]
fn what_replaces_an_entry_that_is_put_back_stays() {
    if let Some(top) = std::env::var_os(DELETED) {
        return delete_all(Path::new(&top));
    }
    let fixture = Fixture::in_memory().dir("home/.local/state/weigh");
    fs::write(fixture.at("theirs"), "theirs").unwrap();
    let fixture = (0..4).fold(fixture, |fixture, n| fixture.file(format!("tree/{n}"), 10));
    let faults = ["renameat2:error=EINVAL", "linkat:delay_exit=1000000:when=1..2"];
    let faults = faults.map(|fault| ["-e".to_owned(), format!("inject={fault}")]);
    let strace = ["strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=renameat2,linkat"];
    let strace = [strace.map(str::to_owned).to_vec(), faults.concat()].concat();
    let test = "races::what_replaces_an_entry_that_is_put_back_stays";
    let mut child = other_process(&fixture, test, &strace).spawn().unwrap();
    let limit = Instant::now() + crate::run::PATIENCE;
    let file = fixture.at("tree/0");
    let wait_for_link = |since: i64| {
        while !fs::metadata(&file).is_ok_and(|it| it.nlink() == 2 && it.ctime() >= since) {
            assert!(Instant::now() < limit, "it does not begin");
        }
    };
    wait_for_link(0);
    // So that it is put back.
    fs::write(&file, "written to").unwrap();
    let written = fs::metadata(&file).unwrap().ctime();
    wait_for_link(written + 1);
    fs::rename(fixture.at("theirs"), &file).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(fixture.text("tree/0"), "theirs");
    let said = fixture.text("said");
    assert!(said.starts_with("0 Left("), "{said}");
}

/// Whoever may write to the directory of a target can exchange a private one as soon as that has its name.
#[test]
#[ignore = "needs root and strace"]
fn a_private_directory_of_somebody_else_or_on_another_mount_is_not_used() {
    if let Some(top) = std::env::var_os(DELETED) {
        return delete_all(Path::new(&top));
    }
    // The outer one, and the one in it.
    for (is_mounted, when) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
        let fixture = Fixture::in_memory().dir("home/.local/state/weigh").dir("empty");
        let fixture = (0..4).fold(fixture, |fixture, n| fixture.file(format!("tree/{n}"), 10));
        let fault = format!("inject=mkdirat:delay_exit=1000000:when={when}");
        let strace = ["strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=mkdirat", "-e", &fault];
        let test = "races::a_private_directory_of_somebody_else_or_on_another_mount_is_not_used";
        let mut child = other_process(&fixture, test, &strace.map(str::to_owned)).spawn().unwrap();
        let limit = Instant::now() + crate::run::PATIENCE;
        let private = loop {
            assert!(Instant::now() < limit, "it does not begin");
            let names = entries_at(&fixture.at("tree")).into_iter().map(|(path, _)| path);
            let made: Vec<_> =
                names.filter(|path| path.to_string_lossy().contains("/.weigh-")).collect();
            if made.len() == when {
                break made.into_iter().max().unwrap();
            }
        };
        match is_mounted {
            true => rustix::mount::mount_bind(fixture.at("empty"), &private).unwrap(),
            false => std::os::unix::fs::chown(&private, Some(65534), Some(65534)).unwrap(),
        }
        let status = child.wait().unwrap();
        if is_mounted {
            rustix::mount::unmount(&private, rustix::mount::UnmountFlags::DETACH).unwrap();
        }
        assert!(status.success());
        let said = fixture.text("said");
        let why = match is_mounted {
            true => "it cannot be moved within its file system",
            false => "no private directory can be made beside it",
        };
        assert!(said.starts_with(&format!("0 Kept\n  {why}")), "{is_mounted} {when}: {said}");
        assert!(fixture.at("tree/0").exists());
    }
}

/// The inodes of the directories below `top`.
fn directories(top: &Path) -> BTreeSet<u64> {
    let below = entries_at(top).into_iter().skip(1);
    below.filter(|(_, stat)| stat.is_dir()).map(|(_, stat)| stat.ino()).collect()
}

/// Each is mounted at `tree`, and filled with `$fill`; then all in it is deleted. What is left, and why.
const KINDS: [(&str, &str, &[&str]); 14] = [
    ("tmpfs", "mount -t tmpfs none tree; fill", &[]),
    ("xfs", "truncate -s 400M disk; mkfs.xfs -q disk; mount -o loop disk tree; fill", &[]),
    ("btrfs", "truncate -s 200M disk; mkfs.btrfs -q disk; mount -o loop disk tree; fill", &[]),
    (
        "btrfs with a subvolume and a snapshot in what is deleted",
        "truncate -s 200M disk; mkfs.btrfs -q disk; mount -o loop disk tree; fill; \
         btrfs -q subvolume create tree/0/sub; echo x > tree/0/sub/x; \
         btrfs -q subvolume snapshot tree/0/sub tree/1/shot",
        &["another subvolume", "another subvolume"],
    ),
    (
        "btrfs with a subvolume, and without room for a private directory",
        "truncate -s 200M disk; mkfs.btrfs -q disk; mount -o loop disk tree; fill; \
         btrfs -q subvolume create tree/0/sub; echo x > tree/0/sub/x; \
         mkdir -p home/.local/state/weigh; touch 'no room'",
        &["another subvolume"],
    ),
    (
        "overlay, all in its upper layer",
        "mount -t tmpfs none image; mkdir image/lower image/upper image/work; \
         mount -t overlay none -o lowerdir=image/lower,upperdir=image/upper,workdir=image/work tree; fill",
        &[],
    ),
    (
        "overlay, all in its lower layer",
        "mount -t tmpfs none image; mkdir image/lower image/upper image/work; (ln -s image/lower tree2; fill tree2); \
         mount -t overlay none -o lowerdir=image/lower,upperdir=image/upper,workdir=image/work tree",
        &["in a lower layer of an overlay", "lower layer", "lower layer", "lower layer"],
    ),
    (
        "mounted read-only",
        "mount -t tmpfs none tree; fill; mount -o remount,ro tree",
        &["read-only"; 4],
    ),
    (
        "ext4 without a free block",
        "truncate -s 16M disk; mkfs.ext4 -q -m 0 disk; mount -o loop disk tree; rmdir tree/lost+found; fill; \
         cat /dev/zero 2> /dev/null > tree/0/d0/full || true",
        &[],
    ),
    (
        "xfs without a free block",
        "truncate -s 400M disk; mkfs.xfs -q disk; mount -o loop disk tree; fill; \
         cat /dev/zero 2> /dev/null > tree/0/d0/full || true",
        &[],
    ),
    (
        "btrfs without a free block",
        "truncate -s 200M disk; mkfs.btrfs -q disk; mount -o loop disk tree; fill; \
         cat /dev/zero 2> /dev/null > tree/0/d0/full || true; sync; for i in $(seq 9999); do echo > tree/1/d1/e/$i || break; done",
        &[],
    ),
    (
        "tmpfs without a free inode",
        "mount -t tmpfs -o nr_inodes=100 none tree; fill; i=0; while mkdir tree/3/d3/e/$i 2> /dev/null; do i=$((i+1)); done",
        &[],
    ),
    (
        "NTFS, where everything has mode 0777",
        "truncate -s 30M disk; mkfs.ntfs -q -F disk; ntfs-3g disk tree; trap 'umount tree' EXIT; fill",
        &["gets mode 0777 here: t moves it into the trash, and rm deletes it"; 4],
    ),
    (
        "with something mounted in it",
        "mount -t tmpfs none tree; fill; mount -t tmpfs none tree/2/d2; echo x > tree/2/d2/x",
        &["mount"],
    ),
];

#[test]
#[ignore = "mounts images"]
fn every_file_system_is_deleted_from_or_refused_with_the_reason() {
    if let Some(top) = std::env::var_os(DELETED) {
        return delete_all(Path::new(&top));
    }
    const FILL: &str = "fill() { for i in 0 1 2 3; do mkdir -p ${1:-tree}/$i/d$i/e; \
                        for f in a b c; do echo $f > ${1:-tree}/$i/d$i/$f; done; \
                        ln ${1:-tree}/$i/d$i/a ${1:-tree}/$i/link; ln -s ../0 ${1:-tree}/$i/s; done; }";
    for (kind, mount, reasons) in KINDS {
        let fixture = Fixture::new().dir("tree").dir("home").dir("image");
        let this = std::env::current_exe().unwrap();
        let script = format!(
            "set -e; {FILL}; {mount}; find tree -name x > before; \
             {} --exact races::every_file_system_is_deleted_from_or_refused_with_the_reason --include-ignored >&2; \
             ls -A tree > left; find tree -name x > after; rm -f disk",
            this.display()
        );
        let output = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", &script])
            .current_dir(fixture.path())
            .env(DELETED, fixture.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
        let said = fs::read_to_string(fixture.at("said")).unwrap();
        let left = fs::read_to_string(fixture.at("left")).unwrap();
        // What is in subvolumes and on other mounts.
        assert_eq!(fixture.text("before"), fixture.text("after"), "{kind}: {said}");
        // XFS and btrfs have none of their own in their top directory.
        assert_eq!(left.lines().count(), reasons.len(), "{kind}: {left} {said}");
        assert!(!left.contains(".weigh-"), "{kind}: {left}");
        let problems: Vec<_> = said.lines().filter(|line| line.starts_with("  ")).collect();
        for reason in reasons {
            assert!(problems.iter().any(|line| line.contains(reason)), "{kind}: {said}");
        }
        assert_eq!(problems.is_empty(), reasons.is_empty(), "{kind}: {said}");
    }
}

/// A plain user, in directories that are not all theirs.
#[test]
#[ignore = "needs root"]
fn a_plain_user_deletes_what_is_theirs_and_is_told_why_not() {
    if let Some(top) = std::env::var_os(DELETED) {
        return delete_all(Path::new(&top));
    }
    let fixture = Fixture::new()
        .dir("home")
        .file("tree/0/a", 10)
        .file("tree/1/theirs/a", 10)
        .file("tree/2/a", 10)
        .file("tree/3/sticky/other", 10);
    for path in ["", "home", "tree", "tree/0", "tree/0/a", "tree/1", "tree/2", "tree/3"] {
        std::os::unix::fs::chown(fixture.at(path), Some(65534), Some(65534)).unwrap();
    }
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(fixture.at("tree/3/sticky"), fs::Permissions::from_mode(0o1777)).unwrap();
    let copy = fixture.at("copy of the tests");
    assert!(
        Command::new("cp")
            .arg(std::env::current_exe().unwrap())
            .arg(&copy)
            .status()
            .unwrap()
            .success()
    );
    let mut command = Command::new(&copy);
    let test = "races::a_plain_user_deletes_what_is_theirs_and_is_told_why_not";
    command.args(["--exact", test, "--include-ignored"]).env(DELETED, fixture.path());
    command.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
    crate::run::become_nobody(&mut command);
    // They may make no trash at the top of the mount.
    fs::write(fixture.at("to the trash"), "").unwrap();
    assert!(command.status().unwrap().success());
    let said = fs::read_to_string(fixture.at("said")).unwrap();
    assert_eq!(
        said.matches("no trash on its file system, and you may not make one").count(),
        4,
        "{said}"
    );
    fs::remove_file(fixture.at("to the trash")).unwrap();
    assert!(command.status().unwrap().success());
    let said = fs::read_to_string(fixture.at("said")).unwrap();
    // What is in a directory of theirs they may remove, whoever owns it; not what is in another's.
    assert!(!fixture.at("tree/0").exists() && !fixture.at("tree/2").exists(), "{said}");
    assert!(fixture.at("tree/1/theirs/a").exists() && fixture.at("tree/3/sticky/other").exists());
    assert!(said.contains("Permission denied"), "{said}");
    assert_eq!(said.matches("its directory is sticky").count(), 1, "{said}");
    assert!(said.contains("only its owner may remove it (Operation not permitted)"), "{said}");
    fs::remove_file(copy).unwrap();
}
