//! Deleting removes only entries that were scanned and have not changed, whatever happens meanwhile. What cannot be
//! deleted stays where it was, and is named. The tests call the library; a hook before each of its calls acts as
//! another process.
#![cfg(target_os = "linux")]

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::denied::{without_openat2, without_removal, without_room, without_safe_move};
use crate::fixture::{Fixture, entries_at};
use crate::mounted::Mounted;
use crate::removal::{
    Fate, HeldDirectory, Manner, RemovalEvent, RemovalStep, Removed, Scanned, UserDirectories,
    look, one, remove, to_path, undo,
};

/// Why the only target was kept.
fn kept(removed: Removed) -> String {
    let outcome = one(removed);
    assert!(matches!(outcome.fate, Fate::Kept), "{outcome:?}");
    assert_eq!(outcome.removed, 0);
    outcome.problems[0].message.clone()
}

/// All that is at `top` and below, by path, as `find` has it.
fn listing(top: &Path) -> Vec<String> {
    let mut found: Vec<_> = entries_at(top)
        .into_iter()
        .map(|(path, stat)| format!("{} {:o} {}", path.display(), stat.mode(), stat.ino()))
        .collect();
    found.sort_unstable();
    found
}

fn exists(path: impl AsRef<Path>) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn with_canary() -> Fixture {
    Fixture::new()
        .dir("home")
        .file("tree/a/one", 10_000)
        .file("tree/a/b/two", 5_000)
        .file("tree/a/b/three", 5_000)
        .symlink("../../canary", "tree/a/link")
        .file("tree/c", 9_000)
        .file("tree/d/four", 1)
        .file("canary/bird", 3)
}

#[test]
fn what_is_marked_is_gone_and_nothing_else() {
    for by_steps in [false, true] {
        let fixture = with_canary().hard_link("tree/a/one", "canary/same").fifo("tree/a/pipe");
        let scanned = Scanned::of(&fixture);
        let before = listing(&fixture.at("canary"));
        let delete = || scanned.delete(&["a", "c"]);
        let removed = if by_steps { without_openat2(delete) } else { delete() };
        assert!(removed.outcomes.iter().all(|outcome| matches!(outcome.fate, Fate::Deleted)));
        assert_eq!(removed.outcomes[0].removed, 7);
        assert_eq!(listing(&fixture.at("canary")), before);
        assert_eq!(fs::read_dir(fixture.at("tree")).unwrap().count(), 1);
        assert!(exists(fixture.at("tree/d/four")));
        let log = scanned.log();
        assert_eq!(log.lines().count(), 4, "{log}");
        assert!(log.contains(r#""entries":7,"bytes":"#), "{log}");
        assert!(log.contains(r#""result":"deleted","removed":7"#), "{log}");
    }
}

/// A scan that cannot tell mounts knows none that an entry could have left.
#[test]
fn what_was_scanned_without_mounts_is_removed() {
    let fixture = with_canary();
    let removed = Scanned::by_paths(&fixture).delete(&["a", "c"]);
    assert!(
        removed.outcomes.iter().all(|outcome| matches!(outcome.fate, Fate::Deleted)),
        "{removed:?}"
    );
    assert_eq!(fs::read_dir(fixture.at("tree")).unwrap().count(), 1);
}

/// dua #24: it followed a symlink, and deleted what it leads to.
#[test]
fn no_symlink_is_followed() {
    let fixture = with_canary().symlink("canary", "tree/s").symlink("../canary/bird", "tree/t");
    let scanned = Scanned::of(&fixture);
    let before = listing(&fixture.at("canary"));
    assert_eq!(scanned.delete(&["s", "t", "a"]).outcomes.len(), 3);
    assert_eq!(listing(&fixture.at("canary")), before);
    assert!(!exists(fixture.at("tree/s")) && !exists(fixture.at("tree/a")));

    // A directory becomes a symlink: as the target, on the way to it, and in it.
    for (name, replaced) in [("a", "a"), ("a/b/two", "a"), ("a/b/two", "a/b"), ("a", "a/b")] {
        for by_steps in [false, true] {
            let fixture = with_canary().file("canary/two", 5_000).file("canary/b/two", 5_000);
            let scanned = Scanned::of(&fixture);
            let targets = scanned.targets(&[name]);
            let replaced = fixture.at("tree").join(replaced);
            fs::rename(&replaced, fixture.at("moved")).unwrap();
            symlink(fixture.at("canary"), &replaced).unwrap();
            let before = (listing(&fixture.at("canary")), listing(&fixture.at("moved")));
            let delete = || scanned.delete_with(&targets, |_| ControlFlow::Continue(()));
            let removed = if by_steps { without_openat2(delete) } else { delete() };
            assert!(!matches!(removed.outcomes[0].fate, Fate::Deleted), "{name}: {removed:?}");
            let after = (listing(&fixture.at("canary")), listing(&fixture.at("moved")));
            assert_eq!(before, after);
            assert!(exists(&replaced));
        }
    }
}

/// gdu #22: `..` could be deleted, up to `/`.
#[test]
fn nothing_that_is_no_name_of_an_entry_is_removed() {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let before = listing(&fixture.at(""));
    for name in ["..", ".", "", "b/two", "../../canary", "/", "/etc", "a\0b"] {
        for way in [vec![b"a".to_vec()], vec![b"a".to_vec(), b"..".to_vec()], vec![b"/".to_vec()]] {
            let mut targets = scanned.targets(&["a/b"]);
            targets[0].name = name.as_bytes().to_vec();
            assert!(look(&mut targets[0]).is_err());
            targets[0].seen = scanned.targets(&["a/b"])[0].seen;
            targets[0].way = way;
            kept(scanned.delete_with(&targets, |_| ControlFlow::Continue(())));
        }
    }
    assert_eq!(listing(&fixture.at("")).len(), before.len() + 4, "nothing but the log is new");
    // The root is none, and cannot become one.
    let refused = scanned.root();
    assert_eq!(refused[0].as_ref().unwrap_err().to_string(), "it is a root of the scan");
}

/// btdu #51: what was never shown was deleted.
#[test]
fn what_was_not_scanned_is_kept_and_named() {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let targets = scanned.targets(&["a"]);
    fs::write(fixture.at("tree/a/b/new"), "new").unwrap();
    fs::create_dir(fixture.at("tree/a/fresh")).unwrap();
    let outcome = one(scanned.delete_with(&targets, |_| ControlFlow::Continue(())));
    assert!(matches!(outcome.fate, Fate::Partly), "{outcome:?}");
    assert_eq!(outcome.removed, 4);
    let messages: Vec<_> = outcome.problems.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(messages, ["it contains entries that were not scanned: new"]);
    assert_eq!(fixture.bytes("tree/a/b/new"), b"new");
    assert!(exists(fixture.at("tree/a/fresh")));
    assert_eq!(fs::read_dir(fixture.at("tree")).unwrap().count(), 3);
    assert!(scanned.log().contains(r#""result":"partly","removed":4,"why":"it contains"#));
}

/// Another directory has the name of a scanned one, and files of the same names: nothing in it is looked at.
#[test]
fn a_directory_in_a_marked_one_that_was_replaced_is_kept_as_it_is() {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let targets = scanned.targets(&["a"]);
    fs::rename(fixture.at("tree/a/b"), fixture.at("moved")).unwrap();
    fs::create_dir(fixture.at("tree/a/b")).unwrap();
    fs::write(fixture.at("tree/a/b/two"), "theirs").unwrap();
    let outcome = one(scanned.delete_with(&targets, |_| ControlFlow::Continue(())));
    assert!(matches!(outcome.fate, Fate::Partly), "{outcome:?}");
    let [problem] = &outcome.problems[..] else { panic!("{outcome:?}") };
    assert_eq!(problem.message, "it has changed since the scan");
    assert!(problem.path.ends_with(b"tree/a/b"));
    assert_eq!(fixture.text("tree/a/b/two"), "theirs");
    assert_eq!(listing(&fixture.at("moved")).len(), 3);
}

#[test]
fn what_has_changed_since_the_scan_is_kept() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 6] = [
        ("written to", |file| fs::write(file, "other").unwrap()),
        ("replaced", |file| {
            fs::write(file.with_extension("new"), vec![b'w'; 9_000]).unwrap();
            fs::rename(file.with_extension("new"), file).unwrap();
        }),
        ("linked", |file| fs::hard_link(file, file.with_extension("link")).unwrap()),
        ("a directory", |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
        ("a symlink", |file| {
            fs::remove_file(file).unwrap();
            symlink("d", file).unwrap();
        }),
        ("gone", |file| fs::remove_file(file).unwrap()),
    ];
    for (what, change) in changes {
        let fixture = with_canary().modified("tree/c", 1_000_000);
        let scanned = Scanned::of(&fixture);
        // Before the review, and after it.
        let mut reviewed = scanned.targets(&["c"]);
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        change(&fixture.at("tree/c"));
        let is_there = exists(fixture.at("tree/c"));
        assert!(look(&mut scanned.unreviewed(&["c"])[0]).is_err(), "{what}");
        let why = kept(scanned.delete_with(&reviewed, |_| ControlFlow::Continue(())));
        assert!(why.contains("changed") || why.contains("not there"), "{what}: {why}");
        assert_eq!(exists(fixture.at("tree/c")), is_there, "{what}");
        reviewed[0].seen = None;
        kept(scanned.delete_with(&reviewed, |_| ControlFlow::Continue(())));
    }
}

/// Of what is in a marked directory, only the scan is known. Within one second, only nanoseconds tell.
#[test]
fn what_is_written_again_in_the_same_second_is_kept() {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let reviewed = scanned.targets(&["a"]);
    // So that a file system with a coarse clock has another time.
    std::thread::sleep(std::time::Duration::from_millis(50));
    let file = find_file(&fixture.at("tree/a"));
    let before = fs::metadata(&file).unwrap();
    fs::write(&file, vec![b'w'; before.len() as usize]).unwrap();
    File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(before.modified().unwrap())
        .unwrap();
    scanned.delete_with(&reviewed, |_| ControlFlow::Continue(()));
    assert!(exists(&file), "what was written again is gone");
}

/// A file somewhere below `directory`.
fn find_file(directory: &Path) -> PathBuf {
    let mut entries = entries_at(directory).into_iter();
    let file = entries.find(|(_, stat)| stat.is_file() && stat.len() > 0 && stat.nlink() == 1);
    file.expect("there is a file").0
}

/// The home directory, and every directory above it, by any path.
#[test]
fn home_and_what_holds_it_are_refused() {
    let fixture = with_canary();
    let scanned = Scanned::new(&fixture.at("tree"), &fixture.at("tree/a/b"));
    for (name, refusal) in [
        ("a/b", Err("it is your home directory")),
        ("a", Err("it holds your home directory")),
        ("d", Ok(())),
    ] {
        let looked = look(&mut scanned.unreviewed(&[name])[0]);
        assert_eq!(looked.map_err(|error| error.to_string()), refusal.map_err(str::to_owned));
    }
}

/// Told by its layout, wherever it is.
#[test]
fn what_is_in_the_storage_of_an_engine_or_around_it_is_refused() {
    for (driver, other) in [("vfs", "image"), ("io.containerd.content.v1.content", "tmp")] {
        let fixture = with_canary().file(format!("tree/u/moved/{driver}/f"), 1);
        let fixture = fixture.file(format!("tree/u/moved/{other}/x/f"), 1).file("tree/u/other", 1);
        let scanned = Scanned::of(&fixture);
        let refused = |name: String| look_again(&scanned, &name).unwrap_err().to_string();
        for inside in ["", "/x", "/x/f"] {
            let why = refused(format!("u/moved/{other}{inside}"));
            assert!(why.contains("'s storage: "), "{inside}: {why}");
        }
        assert_eq!(refused("u".to_owned()), "a container engine's storage lies in it");
        look_again(&scanned, "u/other").unwrap();
        // Around a root, nothing was scanned.
        let scanned =
            Scanned::new(&fixture.at(format!("tree/u/moved/{other}")), &fixture.at("tree/u"));
        let why = look_again(&scanned, "x").unwrap_err().to_string();
        assert!(why.starts_with("it is in a container engine's storage"), "{why}");
    }
}

fn look_again(scanned: &Scanned, name: &str) -> std::io::Result<()> {
    look(&mut scanned.target(name)?)
}

/// A storage whose layout appears once its content, or what it is in, is marked: it was deleted.
#[test]
fn what_becomes_part_of_a_storage_after_the_review_is_kept() {
    let new = || with_canary().file("tree/u/in/volumes/v/db", 9).file("tree/u/z", 1);
    let becomes = |fixture: &Fixture| {
        for part in ["overlay2", "image", "containers"] {
            fs::create_dir(fixture.at(format!("tree/u/in/{part}"))).unwrap();
        }
    };
    for name in ["u/in/volumes/v/db", "u/in/volumes/v", "u/in/volumes", "u/in", "u"] {
        for is_late in [false, true] {
            let fixture = new();
            let scanned = Scanned::of(&fixture);
            let targets = scanned.targets(&["d", name]);
            if !is_late {
                becomes(&fixture);
            }
            let removed = scanned.delete_with(&targets, |event| {
                if is_late && matches!(event, RemovalEvent::Done { target: 0, .. }) {
                    becomes(&fixture);
                }
                ControlFlow::Continue(())
            });
            assert!(fixture.at("tree/u/in/volumes/v/db").exists(), "{name}, {is_late}");
            let why = &removed.outcomes[1].problems[0].message;
            assert!(why.contains("'s storage"), "{name}, {is_late}: {why}");
        }
        for deeper in ["", "new/one/"] {
            let fixture = new();
            let scanned = Scanned::of(&fixture);
            let targets = scanned.targets(&[name]);
            let is_around = deeper.is_empty() || matches!(name, "u/in" | "u");
            match deeper {
                "" => becomes(&fixture),
                _ => fs::create_dir_all(fixture.at("tree/u/in/new/one/io.containerd.x")).unwrap(),
            }
            let mut nothing = |_: RemovalEvent<'_>| ControlFlow::Continue(());
            let removed = remove(&targets, Manner::Trash, &scanned.directories, &mut nothing);
            let is_there = fixture.at("tree/u/in/volumes/v/db").exists();
            assert_eq!(is_there, is_around, "{name}: {removed:?}");
            if is_around {
                assert!(kept(removed).contains("'s storage"), "{name}");
            }
        }
    }
}

/// The look for storages ends with few handles, however deep the tree is.
#[test]
fn a_deep_tree_goes_into_the_trash() {
    let fixture = with_canary().dir("tree/u");
    let mut at = fixture.at("tree/u");
    for _ in 0..200 {
        at.push("d");
        fs::create_dir(&at).unwrap();
        fs::write(at.join("f"), "x").unwrap();
    }
    let scanned = Scanned::of(&fixture);
    scanned.trash("u");
    assert!(!fixture.at("tree/u").exists());
}

/// With more than 256 other directories in it, it was not known as a storage.
#[test]
fn a_storage_with_many_other_directories_is_refused() {
    let fixture = (0..300).fold(with_canary(), |fixture, number| {
        fixture.dir(format!("tree/u/in/a{number}")).dir(format!("tree/u/in/z{number}"))
    });
    let fixture = fixture.file("tree/u/in/volumes/v/db", 9).dir("tree/u/in/overlay2");
    let scanned = Scanned::of(&fixture);
    assert_refused(&scanned, "u/in", &["/volumes", "/volumes/v", "/volumes/v/db", "/a7"], "u");
    assert!(look_again(&scanned, "u/in").unwrap_err().to_string().contains("'s storage"));
}

/// And where one has mounted a layer.
#[test]
#[ignore = "mounts"]
fn what_is_in_the_storage_of_an_engine_that_runs_is_refused() {
    let fixture = with_canary().file("tree/u/data/volumes/f", 1).dir("one").dir("two");
    let merged = "tree/u/data/overlay2/1f/merged";
    let fixture = fixture.dir(merged).file("tree/u/other", 1);
    let scanned = Scanned::of(&fixture);
    let place = Mounted::overlay_at(&fixture.at(merged), [&fixture.at("one"), &fixture.at("two")]);
    assert_refused(&scanned, "u/data", &["", "/volumes", "/volumes/f"], "u");
    drop(place);
    look(&mut scanned.unreviewed(&["u/other"])[0]).unwrap();
}

/// Asserts that nothing is removed in the `storage`, nor what it is in.
fn assert_refused(scanned: &Scanned, storage: &str, inside: &[&str], around: &str) {
    let refused = |name: &str| look_again(scanned, name).unwrap_err().to_string();
    for inside in inside {
        let why = refused(&format!("{storage}{inside}"));
        assert!(why.contains("'s storage"), "{inside}: {why}");
    }
    assert!(refused(around).contains(" lies in it") || refused(around).contains("mounted in it"));
}

#[test]
fn links_of_one_inode_go_one_after_the_other() {
    let fixture = with_canary()
        .hard_link("tree/c", "tree/d/c")
        .hard_link("tree/c", "tree/e")
        .hard_link("tree/c", "tree/f")
        .hard_link("tree/d/four", "tree/d/five");
    let scanned = Scanned::of(&fixture);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let removed = scanned.delete(&["c", "d", "e"]);
    assert!(removed.outcomes.iter().all(|outcome| matches!(outcome.fate, Fate::Deleted)));
    assert_eq!(removed.relinked.len(), 1);
    // Their inode has changed. Who deletes the last has to know why.
    let looked = look(&mut scanned.unreviewed(&["f"])[0]);
    assert_eq!(looked.unwrap_err().to_string(), "it has changed since the scan");
}

/// Writes another content of the same length, and sets the time of writing back.
fn rewrite_secretly(file: &Path) {
    let before = fs::metadata(file).unwrap();
    // The clock of the file system goes in steps.
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(file, vec![b'S'; before.len() as usize]).unwrap();
    let times = fs::FileTimes::new().set_modified(before.modified().unwrap());
    fs::File::options().append(true).open(file).unwrap().set_times(times).unwrap();
}

/// A file with several links was deleted with what had been written to it after the review.
#[test]
fn links_that_were_secretly_rewritten_are_kept() {
    let linked = || with_canary().hard_link("tree/c", "tree/d/c").hard_link("tree/c", "tree/e");
    for names in [&["c", "d/c", "e"][..], &["c"], &["d/c", "e"]] {
        let fixture = linked();
        let scanned = Scanned::of(&fixture);
        let targets = scanned.targets(names);
        rewrite_secretly(&fixture.at("tree/e"));
        let removed = scanned.delete_with(&targets, |_| ControlFlow::Continue(()));
        for outcome in &removed.outcomes {
            let why = &outcome.problems[0].message;
            assert!(why.starts_with("it has changed since the "), "{names:?}: {why}");
            assert!(matches!(outcome.fate, Fate::Kept));
        }
        assert_eq!(fs::metadata(fixture.at("tree/c")).unwrap().nlink(), 3);
    }
    // Once some of them are gone.
    let fixture = linked();
    let scanned = Scanned::of(&fixture);
    let removed = scanned.delete_with(&scanned.targets(&["c", "d/c", "e"]), |event| {
        if matches!(event, RemovalEvent::Done { target: 1, .. }) {
            rewrite_secretly(&fixture.at("tree/e"));
        }
        ControlFlow::Continue(())
    });
    assert!(matches!(removed.outcomes[1].fate, Fate::Deleted));
    assert!(matches!(removed.outcomes[2].fate, Fate::Kept), "{removed:#?}");
    assert_eq!(fixture.bytes("tree/e"), [b'S'; 9_000]);
    // In a directory that is deleted, all of them.
    for (top, names) in [("", &["d"][..]), ("c", &["c", "d"])] {
        let fixture = with_canary().hard_link("tree/d/four", "tree/d/five");
        let fixture = if top == "c" { fixture.hard_link("tree/d/four", "tree/f") } else { fixture };
        let scanned = Scanned::of(&fixture);
        let targets = scanned.targets(names);
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        rewrite_secretly(&fixture.at("tree/d/four"));
        let removed = scanned.delete_with(&targets, |_| ControlFlow::Continue(()));
        let outcome = removed.outcomes.last().unwrap();
        assert!(matches!(outcome.fate, Fate::Kept), "{outcome:#?}");
        assert_eq!(outcome.problems.len(), 2, "{outcome:#?}");
        assert_eq!(outcome.problems[0].message, "it has changed since the scan");
    }
}

#[test]
fn a_tree_that_is_deeper_than_any_path_is_removed_with_few_handles() {
    let depth = crate::rounds::rounds(3_000, 100_000);
    let fixture = Fixture::in_memory().dir("home").chain("tree", 1, 1);
    let (top, mut at) = (fixture.at("tree"), fixture.at("tree"));
    // Made a part at a time, each moved below the next.
    for part in 0..depth / 500 {
        let deep = fixture.at(format!("part{part}"));
        fs::create_dir_all(deep.join("d/".repeat(500))).unwrap();
        at = deep;
        if part > 0 {
            let last = fixture.at(format!("part{part}")).join("d/".repeat(500)).join("below");
            fs::rename(fixture.at(format!("part{}", part - 1)), last).unwrap();
        }
    }
    fs::rename(at, top.join("deep")).unwrap();
    let scanned = Scanned::of(&fixture);
    let targets = scanned.targets(&["deep"]);
    let before = fs::read_dir("/proc/self/fd").unwrap().count();
    let mut most = 0;
    let outcome = one(scanned.delete_with(&targets, |event| {
        if matches!(event, RemovalEvent::Before { step: RemovalStep::Enter, .. }) {
            most = most.max(fs::read_dir("/proc/self/fd").map_or(0, |open| open.count()));
        }
        ControlFlow::Continue(())
    }));
    assert!(matches!(outcome.fate, Fate::Deleted), "{:?}", outcome.problems);
    assert_eq!(outcome.removed, depth as u64 / 500 * 501);
    // Other tests open files too.
    assert!(most < before + 300, "{most} handles");
    assert_eq!(fs::read_dir(top).unwrap().count(), 1);
}

#[test]
fn it_can_be_cancelled_between_any_two_calls() {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let mut calls = 0;
    scanned.delete_with(&scanned.targets(&["a", "c"]), |event| {
        calls += usize::from(matches!(event, RemovalEvent::Before { .. }));
        ControlFlow::Continue(())
    });
    assert!(calls > 20);
    for (last, lack) in (1..=calls).flat_map(|last| [(last, ""), (last, "room"), (last, "move")]) {
        let fixture = with_canary();
        let scanned = Scanned::of(&fixture);
        let targets = scanned.targets(&["a", "c"]);
        let mut call = 0;
        let watch = |_: RemovalEvent<'_>| {
            call += 1;
            if call < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let removed = match lack {
            "room" => scanned.delete_without_room(&targets, watch),
            "move" => scanned.remove_without_safe_move(&targets, Manner::Delete, watch),
            _ => scanned.delete_with(&targets, watch),
        };
        assert!(removed.is_cancelled);
        assert_eq!(removed.left, [], "{last}");
        // What is left is in its place, and whatever is not there is counted as removed.
        let gone: u64 = removed.outcomes.iter().map(|outcome| outcome.removed).sum();
        let left = listing(&fixture.at("tree")).len() as u64;
        assert_eq!(left + gone, 10, "{last}: {removed:?}");
        for outcome in &removed.outcomes {
            let is_whole = outcome.removed == 0 || matches!(outcome.fate, Fate::Deleted);
            assert_eq!(matches!(outcome.fate, Fate::Partly), !is_whole, "{last}: {outcome:?}");
        }
    }
}

/// On NFS, nothing could be deleted: it has no move that never replaces.
#[test]
fn a_file_system_needs_no_move_that_never_replaces() {
    let fixture = with_canary().symlink("nowhere", "tree/symlink").fifo("tree/pipe");
    let fixture = fixture.hard_link("tree/c", "tree/linked").hard_link("tree/a/one", "canary/same");
    let scanned = Scanned::of(&fixture);
    let (all, before) = (["a", "c", "d", "linked", "pipe", "symlink"], listing(fixture.path()));
    let go_on = |_: RemovalEvent<'_>| ControlFlow::Continue(());
    let removed = scanned.remove_without_safe_move(&scanned.targets(&all), Manner::Trash, go_on);
    assert_eq!(fixture.names("tree"), [""; 0]);
    for outcome in removed.outcomes {
        let Fate::Trashed(trashed) = &outcome.fate else { panic!("{outcome:?}") };
        let back = without_safe_move(|| undo(trashed, &scanned.directories, &mut { go_on }));
        assert!(matches!(one(back).fate, Fate::Restored));
    }
    let now = listing(fixture.path());
    assert_eq!(before.iter().filter(|line| !now.contains(line)).count(), 0, "{before:?} {now:?}");

    let scanned = Scanned::of(&fixture);
    let removed = scanned.remove_without_safe_move(&scanned.targets(&all), Manner::Delete, go_on);
    assert!(removed.outcomes.iter().all(|one| matches!(one.fate, Fate::Deleted)), "{removed:?}");
    assert_eq!((removed.left.len(), fixture.names("tree").len()), (0, 0));
    assert_eq!(listing(&fixture.at("canary")).len(), 3);
}

/// A file system on a network may lose the answer to a move that it has made. The entry was then said to be in its place,
/// and in the trash nothing told what it was.
#[test]
fn a_move_whose_answer_is_lost_is_a_move() {
    for (manner, is_cancelled) in
        [(Manner::Delete, false), (Manner::Delete, true), (Manner::Trash, false)]
    {
        let fixture = Fixture::new().file("tree/f", 5).dir("home");
        let scanned = Scanned::of(&fixture);
        let (tree, trash) = (fixture.at("tree"), fixture.at("home/.local/share/Trash"));
        let aside = || match manner {
            Manner::Trash => trash.join("files"),
            Manner::Delete => {
                let mut entries = fs::read_dir(&tree).unwrap().map(|entry| entry.unwrap().path());
                entries.find(|path| path.is_dir()).unwrap()
            }
        };
        // Before weigh does it, so that weigh's own call fails.
        let mut moves = |event: RemovalEvent<'_>| {
            let RemovalEvent::Before { step, .. } = event else { return ControlFlow::Continue(()) };
            let here = tree.join("f");
            match step {
                RemovalStep::Move if exists(&here) => {
                    fs::rename(here, aside().join("f")).unwrap();
                }
                RemovalStep::Move | RemovalStep::PutBack => {
                    fs::rename(aside().join("f"), here).unwrap();
                }
                RemovalStep::LookAgain if is_cancelled => return ControlFlow::Break(()),
                _ => {}
            }
            ControlFlow::Continue(())
        };
        let outcome =
            one(remove(&scanned.targets(&["f"]), manner, &scanned.directories, &mut moves));
        match (manner, outcome.fate) {
            (Manner::Delete, Fate::Kept) => assert!(is_cancelled && exists(tree.join("f"))),
            (Manner::Delete, Fate::Deleted) => assert!(!is_cancelled && !exists(tree.join("f"))),
            (Manner::Trash, Fate::Trashed(trashed)) => {
                assert!(exists(trash.join("files/f")) && exists(trash.join("info/f.trashinfo")));
                let back = one(undo(&trashed, &scanned.directories, &mut moves));
                assert!(matches!(back.fate, Fate::Restored), "{back:?}");
                assert!(exists(tree.join("f")));
            }
            (_, fate) => panic!("{fate:?}"),
        }
        assert_eq!(
            scanned.log().matches("\"end\"").count(),
            1 + usize::from(manner == Manner::Trash)
        );
    }
}

/// And if somebody writes to it meanwhile, or replaces it, it is put back. It stayed where nobody looks for it, and was
/// said to be kept.
#[test]
fn what_has_changed_when_the_answer_to_its_move_is_lost_is_put_back() {
    let lacks = [(true, true), (true, false), (false, true), (false, false)];
    for (manner, (has_safe_move, is_replaced)) in
        [Manner::Delete, Manner::Trash].into_iter().flat_map(|it| lacks.map(|lack| (it, lack)))
    {
        let fixture = Fixture::new().file("tree/f", 5).dir("home");
        let scanned = Scanned::of(&fixture);
        let files = fixture.at("home/.local/share/Trash/files");
        let write_to_it = |event: RemovalEvent<'_>| {
            if let RemovalEvent::Before { step: RemovalStep::Move, .. } = event {
                let mut entries = fs::read_dir(fixture.at("tree")).unwrap();
                let private =
                    entries.find_map(|it| Some(it.unwrap().path()).filter(|it| it.is_dir()));
                let aside = private.unwrap_or_else(|| files.clone()).join("f");
                let to = if is_replaced { fixture.at("old") } else { aside.clone() };
                fs::rename(fixture.at("tree/f"), to).unwrap();
                fs::write(aside, "written to").unwrap();
            }
            ControlFlow::Continue(())
        };
        let targets = scanned.targets(&["f"]);
        kept(match has_safe_move {
            true => remove(&targets, manner, &scanned.directories, &mut { write_to_it }),
            false => scanned.remove_without_safe_move(&targets, manner, write_to_it),
        });
        assert_eq!(fixture.names("tree"), ["f"]);
        assert_eq!(fixture.text("tree/f"), "written to");
        if manner == Manner::Trash {
            assert_eq!(fixture.names("home/.local/share/Trash/files"), [""; 0]);
            assert_eq!(fixture.names("home/.local/share/Trash/info"), [""; 0]);
        }
    }
}

/// The same for a removal. What was gone "could not be put back".
#[test]
fn a_removal_whose_answer_is_lost_is_a_removal() {
    let fixture = Fixture::new().file("tree/a/b/f", 5).file("tree/a/g", 6).dir("tree/a/empty");
    let fixture = fixture.file("tree/h", 7).dir("home");
    let scanned = Scanned::of(&fixture);
    // Before weigh does it, so that weigh's own call fails.
    let removed = scanned.delete_with(&scanned.targets(&["a"]), |event| {
        let RemovalEvent::Before { step: RemovalStep::Remove, .. } = event else {
            return ControlFlow::Continue(());
        };
        for (path, stat) in entries_at(&fixture.at("tree")) {
            let is_private = stat.is_dir() && stat.mode() & 0o777 == 0o700;
            let mut names = path.iter().rev().take(2).map(|name| name.as_encoded_bytes());
            if !is_private && names.any(|name| name.starts_with(b".weigh-")) {
                let _ = if stat.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
            }
        }
        ControlFlow::Continue(())
    });
    let outcome = one(removed);
    assert!(matches!(outcome.fate, Fate::Deleted), "{outcome:?}");
    assert_eq!((outcome.removed, outcome.problems.len()), (5, 0));
    assert_eq!(fixture.names("tree"), ["h"]);
}

/// Where there is no move that never replaces, an entry has two names for a moment. One of them stayed, and nothing said so.
#[test]
fn a_name_that_cannot_be_removed_is_said() {
    for (manner, has_room, name) in [
        (Manner::Delete, true, "f"),
        (Manner::Delete, false, "f"),
        // Its path was the one from before its directory was put back.
        (Manner::Delete, false, "d"),
        (Manner::Trash, true, "f"),
    ] {
        let fixture = Fixture::new().file("tree/f", 5).file("tree/d/f", 5);
        let fixture = fixture.dir("home/.local/state/weigh");
        let fixture = ["files", "info"].iter().fold(fixture, |fixture, name| {
            fixture.dir(Path::new("home/.local/share/Trash").join(name))
        });
        let scanned = Scanned::of(&fixture);
        let (targets, before) = (scanned.targets(&[name]), listing(fixture.path()));
        let go_on = |_: RemovalEvent<'_>| ControlFlow::Continue(());
        let refused = || scanned.remove_without_safe_move(&targets, manner, go_on);
        let refused = || without_removal(refused);
        let removed = if has_room { refused() } else { without_room(refused) };
        assert_named(&fixture, &before, &scanned.log(), &removed);
        assert!(exists(fixture.at("tree/f")) && exists(fixture.at("tree/d/f")));
    }
    let fixture = Fixture::new().file("tree/f", 5).dir("home");
    let scanned = Scanned::of(&fixture);
    let mut go_on = |_: RemovalEvent<'_>| ControlFlow::Continue(());
    let removed = remove(&scanned.targets(&["f"]), Manner::Trash, &scanned.directories, &mut go_on);
    let Fate::Trashed(trashed) = one(removed).fate else { panic!() };
    let before = listing(fixture.path());
    let undo = || undo(&trashed, &scanned.directories, &mut { go_on });
    let removed = without_safe_move(|| without_removal(undo));
    assert_named(&fixture, &before, "", &removed);
    kept(removed);
    assert!(exists(fixture.at("home/.local/share/Trash/files/f")));
}

/// Asserts that each entry that was not there `before`, or a new directory around it, is named.
fn assert_named(fixture: &Fixture, before: &[String], log: &str, removed: &Removed) {
    let problems = removed.outcomes.iter().flat_map(|one| one.left.iter().chain(&one.problems));
    let problems = problems.chain(&removed.left);
    let said = problems.map(|one| format!("{} {}\n", to_path(&one.path).display(), one.message));
    let said = log.to_owned() + &said.collect::<String>();
    for line in listing(fixture.path()).iter().filter(|line| !before.contains(line)) {
        let path = Path::new(line.split(' ').next().unwrap());
        let is_new = |at: &&Path| at.to_string_lossy().contains("/.weigh-") || *at == path;
        let mut named = path.ancestors().take_while(is_new);
        let mut is_said = named.any(|at| said.contains(&*at.to_string_lossy()));
        if let (Some(above), Some(name)) = (path.parent(), path.file_name()) {
            let (above, name) = (format!("{}/", above.display()), name.to_string_lossy());
            let beside = format!("is still beside it, as {name}:");
            is_said |= said.lines().any(|line| line.starts_with(&above) && line.contains(&beside));
        }
        let is_note = ["/deleted.ndjson ", ".trashinfo "].iter().any(|end| line.contains(end));
        assert!(is_said || is_note, "{line}: {said}");
    }
}

/// A file took the name of a directory just before it was moved, and another one the new name: that was replaced.
#[test]
fn nothing_but_a_directory_is_renamed_as_one() {
    let fixture = Fixture::new().file("tree/f", 5).dir("tree/d");
    let path = CString::new(fixture.at("tree").as_os_str().as_encoded_bytes()).unwrap();
    let held = HeldDirectory::open(&path).unwrap();
    held.rename(c"d", &held, c"e", true).unwrap();
    let refused = held.rename(c"f", &held, c"g", true).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotADirectory);
    assert_eq!(fixture.names("tree"), ["e", "f"]);
    held.rename(c"f", &held, c"g", false).unwrap();
    assert_eq!(fixture.names("tree"), ["e", "g"]);
}

/// It was linked to its place a second time, and "could not be put back".
#[test]
fn what_is_written_to_all_the_time_has_one_name() {
    for manner in [Manner::Delete, Manner::Trash].repeat(50) {
        let fixture = Fixture::in_memory().file("tree/f", 5).dir("home");
        let scanned = Scanned::of(&fixture);
        let targets = scanned.targets(&["f"]);
        let file = File::options().append(true).open(fixture.at("tree/f")).unwrap();
        let (writes, is_done) = (AtomicUsize::new(0), AtomicBool::new(false));
        let removed = std::thread::scope(|scope| {
            let write = || {
                while !is_done.load(Ordering::Relaxed) {
                    (&file).write_all(b"x").unwrap();
                    writes.fetch_add(1, Ordering::Relaxed);
                }
            };
            let removed = scanned.remove_without_safe_move(&targets, manner, |event| {
                if let RemovalEvent::Before { step: RemovalStep::Move, .. } = event {
                    scope.spawn(write);
                    while writes.load(Ordering::Relaxed) == 0 {
                        std::hint::spin_loop();
                    }
                }
                ControlFlow::Continue(())
            });
            is_done.store(true, Ordering::Relaxed);
            removed
        });
        // Not that it is another one.
        assert_eq!(kept(removed), "it has changed since the scan");
        assert_eq!(
            (fixture.names("tree"), file.metadata().unwrap().nlink()),
            (vec!["f".to_owned()], 1)
        );
    }
}

/// A log that nobody reads, and that would block, is none: nothing is deleted.
#[test]
fn nothing_is_deleted_if_the_log_is_a_pipe() {
    let fixture = with_canary().fifo("home/.local/state/weigh/deleted.ndjson");
    let scanned = Scanned::of(&fixture);
    let targets = scanned.targets(&["a"]);
    let directories = scanned.directories.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut watch = |_: RemovalEvent<'_>| ControlFlow::Continue(());
        let _ = sender.send(remove(&targets, Manner::Delete, &directories, &mut watch));
    });
    let removed = receiver.recv_timeout(crate::run::PATIENCE).expect("it waits for a reader");
    assert_eq!(removed.unlogged.unwrap().message, "it is not a regular file");
    assert!(exists(fixture.at("tree/a")));
}

/// What is mounted in a target while another one is deleted keeps all of it, and not only what it covers.
#[test]
#[ignore = "mounts"]
fn what_is_mounted_between_two_targets_keeps_the_second_as_it_is() {
    for manner in [Manner::Delete, Manner::Trash] {
        let fixture = with_canary();
        let scanned = Scanned::of(&fixture);
        let (covered, mut before) = (fixture.at("tree/a/b"), Vec::new());
        let removed =
            remove(&scanned.targets(&["c", "a"]), manner, &scanned.directories, &mut |event| {
                if matches!(event, RemovalEvent::Done { target: 0, .. }) {
                    before = listing(&fixture.at("tree/a"));
                    rustix::mount::mount_bind(fixture.at("canary"), &covered).unwrap();
                }
                ControlFlow::Continue(())
            });
        let detach = rustix::mount::UnmountFlags::DETACH;
        let unmounted = rustix::mount::unmount(&covered, detach);
        let [_, second] = &removed.outcomes[..] else { panic!("{removed:?}") };
        assert!(matches!(second.fate, Fate::Kept), "{second:?}");
        assert_eq!(second.problems[0].message, "something is mounted in it");
        unmounted.unwrap();
        assert_eq!(listing(&fixture.at("tree/a")), before);
        assert!(exists(fixture.at("canary/bird")) && !exists(fixture.at("tree/c")));
    }
}

/// If another entry takes that name in the trash between the check and the move, it is moved back there.
#[test]
fn what_is_swapped_in_the_trash_is_not_put_back() {
    for has_safe_move in [true, false] {
        let fixture = with_canary();
        let scanned = Scanned::of(&fixture);
        let trashed = scanned.trash("c");
        let place = to_path(&trashed.path_in_trash()).into_owned();
        let other = fixture.at("home/other");
        let mut swap = |event: RemovalEvent<'_>| {
            if let RemovalEvent::Before { step: RemovalStep::Move, .. } = event {
                fs::rename(&place, &other).unwrap();
                fs::write(&place, "other").unwrap();
            }
            ControlFlow::Continue(())
        };
        let mut undo = || undo(&trashed, &scanned.directories, &mut swap);
        let why = kept(if has_safe_move { undo() } else { without_safe_move(undo) });
        let expected = "it is another inode since it was moved: somebody replaced it";
        assert!(why.starts_with(expected), "{why}");
        assert!(!exists(fixture.at("tree/c")));
        assert_eq!(fs::read(&place).unwrap(), b"other");
        assert_eq!(fs::metadata(other).unwrap().len(), 9_000);
    }
}

/// A file may have got another link at its old path, before or after weigh looks. That is no reason to say that it was
/// moved, nor to remove the link.
#[test]
fn a_link_that_has_the_name_of_its_entry_in_the_trash_stays() {
    for is_late in [false, true] {
        let fixture = with_canary();
        let scanned = Scanned::of(&fixture);
        let trashed = scanned.trash("c");
        let place = to_path(&trashed.path_in_trash()).into_owned();
        let link = || fs::hard_link(&place, fixture.at("tree/c")).unwrap();
        if !is_late {
            link();
        }
        let mut watch = |event: RemovalEvent<'_>| {
            if let (RemovalEvent::Before { step: RemovalStep::Move, .. }, true) = (event, is_late) {
                link();
            }
            ControlFlow::Continue(())
        };
        let why = kept(undo(&trashed, &scanned.directories, &mut watch));
        assert_eq!(why, "something else has its name now");
        assert!(exists(fixture.at("tree/c")) && exists(&place));
        assert!(exists(fixture.at("home/.local/share/Trash/info/c.trashinfo")));
    }
}

/// If an entry cannot be moved back, because its name is taken, the message says where it is.
#[test]
fn what_cannot_be_put_back_is_where_it_is_said_to_be() {
    for lack in ["", "room", "move"] {
        let fixture = with_canary();
        let scanned = Scanned::of(&fixture);
        let targets = scanned.targets(&["a"]);
        let held = fs::File::open(fixture.at("tree/a/b")).unwrap();
        let inode = fs::metadata(fixture.at("tree/a/b/two")).unwrap().ino();
        let watch = |event: RemovalEvent<'_>| {
            let RemovalEvent::Before { step, name: b"two", .. } = event else {
                return ControlFlow::Continue(());
            };
            if step != RemovalStep::LookAgain {
                return ControlFlow::Continue(());
            }
            let place = format!("/proc/self/fd/{}/two", std::os::fd::AsRawFd::as_raw_fd(&held));
            fs::write(place, "theirs").unwrap();
            ControlFlow::Break(())
        };
        let removed = match lack {
            "room" => scanned.delete_without_room(&targets, watch),
            "move" => scanned.remove_without_safe_move(&targets, Manner::Delete, watch),
            _ => scanned.delete_with(&targets, watch),
        };
        let Fate::Left(at) = &removed.outcomes[0].fate else { panic!("{removed:?}") };
        let left = fs::metadata(to_path(at)).unwrap();
        assert_eq!(left.ino(), inode, "{removed:?}");
        assert_eq!(fixture.bytes("tree/a/b/two"), b"theirs");
        let at = std::str::from_utf8(at).unwrap();
        assert_eq!(at.contains("/a/b/.weigh-"), lack == "room", "{at}");
        assert!(scanned.log().contains(&format!(r#""at":"{at}","why""#)), "{}", scanned.log());
    }
}

/// Without room for a private directory, it is beside its place, even if weigh is killed then.
#[test]
fn the_log_says_where_an_entry_is_that_has_another_name() {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let mut is_said = false;
    scanned.delete_without_room(&scanned.targets(&["c"]), |event| {
        if matches!(event, RemovalEvent::Before { step: RemovalStep::LookAgain, .. }) {
            let names = fixture.names("tree");
            let name = names.iter().find(|name| name.starts_with(".weigh-")).unwrap();
            is_said = scanned.log().contains(&format!("/tree/{name}\"}}"));
        }
        ControlFlow::Continue(())
    });
    assert!(is_said, "{}", scanned.log());
}

/// A crash leaves half a line, and so does another weigh on a full disk. The next one, which says where an entry is, was
/// a part of it.
#[test]
fn what_follows_half_a_line_of_the_log_has_a_line_of_its_own() {
    let fixture = with_canary().dir("home/.local/state/weigh");
    let log = fixture.at("home/.local/state/weigh/deleted.ndjson");
    fs::write(&log, "{}\n{\"time\":1,\"ru").unwrap();
    let scanned = Scanned::of(&fixture);
    let removed = scanned.delete_with(&scanned.targets(&["c", "d/four"]), |event| {
        if matches!(event, RemovalEvent::Done { target: 0, .. }) {
            let mut other = File::options().append(true).open(&log).unwrap();
            other.write_all(b"{\"ti").unwrap();
        }
        ControlFlow::Continue(())
    });
    assert_eq!(removed.unlogged, None);
    let log = scanned.log();
    let whole = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
    let expected = [true, false, true, true, false, true, true];
    assert_eq!(whole.collect::<Vec<_>>(), expected, "{log}");
}

/// If a private directory cannot be removed, its path is named, and other targets are still deleted.
#[test]
fn a_private_directory_that_stays_stops_no_other_target() {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let removed = scanned.delete_with(&scanned.targets(&["a/one", "d/four", "c"]), |event| {
        if let RemovalEvent::Before { step: RemovalStep::Remove, target: 0, .. } = event {
            let mut entries = fs::read_dir(fixture.at("tree/a")).unwrap().map(Result::unwrap);
            let is_private =
                |it: &fs::DirEntry| it.file_name().to_string_lossy().starts_with(".weigh-");
            fs::write(entries.find(is_private).unwrap().path().join("theirs"), "x").unwrap();
        }
        ControlFlow::Continue(())
    });
    for outcome in &removed.outcomes {
        assert!(matches!(outcome.fate, Fate::Deleted), "{removed:#?}");
    }
    let [left] = &removed.left[..] else { panic!("{removed:#?}") };
    let place = to_path(&left.path);
    assert!(place.starts_with(fixture.at("tree/a").canonicalize().unwrap()), "{left:?}");
    assert_eq!(fs::read(place.join("theirs")).unwrap(), b"x");
}

#[test]
fn nothing_is_deleted_without_the_log() {
    let full = with_canary().dir("home/.local/state/weigh");
    symlink("/dev/full", full.at("home/.local/state/weigh/deleted.ndjson")).unwrap();
    for (fixture, directories, why) in [
        (with_canary().file("home/.local/state", 1), None, "Not a directory"),
        (full, None, "it is not a regular file"),
        (with_canary(), Some(UserDirectories::default()), "neither XDG_STATE_HOME nor HOME is set"),
    ] {
        let scanned = Scanned::of(&fixture);
        let before = listing(&fixture.at("tree"));
        let directories = directories.unwrap_or_else(|| scanned.directories.clone());
        for manner in [Manner::Delete, Manner::Trash] {
            let mut watch = |_: RemovalEvent<'_>| ControlFlow::Continue(());
            let removed = remove(&scanned.targets(&["a", "c"]), manner, &directories, &mut watch);
            let unlogged = removed.unlogged.unwrap();
            assert_eq!(unlogged.message, why);
            assert!(unlogged.path.ends_with(b"deleted.ndjson"));
            for outcome in &removed.outcomes {
                assert!(matches!(outcome.fate, Fate::Kept), "{outcome:?}");
            }
            assert_eq!(listing(&fixture.at("tree")), before);
        }
    }
}

#[test]
fn the_trash_is_that_of_the_specification_and_gives_back() {
    let name = "ä b%\n";
    let fixture = with_canary().file(format!("tree/{name}/x"), 4);
    let scanned = Scanned::of(&fixture);
    let before = listing(&fixture.at("tree"));
    let mut nothing = |_: RemovalEvent<'_>| ControlFlow::Continue(());
    for round in 0..3 {
        let targets = scanned.targets(&[name, "a"]);
        let removed = remove(&targets, Manner::Trash, &scanned.directories, &mut nothing);
        assert_eq!(removed.left, []);
        assert!(!exists(fixture.at("tree").join(name)) && !exists(fixture.at("tree/a")));
        let trash = fixture.at("home/.local/share/Trash");
        let info = fs::read_to_string(trash.join(format!("info/{name}.trashinfo"))).unwrap();
        let top = fixture.at("tree").canonicalize().unwrap();
        let path = format!("Path={}/%C3%A4%20b%25%0A\n", top.display());
        assert!(info.starts_with(&format!("[Trash Info]\n{path}DeletionDate=2")), "{info}");
        assert_eq!(fs::read(trash.join("files").join(name).join("x")).unwrap(), b"wwww");
        let mode = fs::metadata(&trash).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        for outcome in removed.outcomes {
            let Fate::Trashed(trashed) = outcome.fate else { panic!("{outcome:?}") };
            if round == 1 {
                // What has its name now is not replaced.
                fs::write(to_path(&trashed.path()), "new").unwrap();
                let why = kept(undo(&trashed, &scanned.directories, &mut nothing));
                assert_eq!(why, "something else has its name now");
                fs::remove_file(to_path(&trashed.path())).unwrap();
            }
            let back = one(undo(&trashed, &scanned.directories, &mut nothing));
            assert!(matches!(back.fate, Fate::Restored), "{back:?}");
        }
        assert_eq!(fs::read_dir(trash.join("info")).unwrap().count(), 0);
        assert_eq!(listing(&fixture.at("tree")), before);
    }
}

/// Once, the message said that a symlink leads to the entry.
#[test]
fn a_trash_that_cannot_be_used_is_named() {
    type Made = fn(Fixture) -> Fixture;
    let cases: [(&str, &str, Made); 3] = [
        ("Trash", "is a symlink", |it| it.symlink("/tmp", "home/.local/share/Trash")),
        ("Trash/files", "is a symlink", |it| it.symlink("/tmp", "home/.local/share/Trash/files")),
        ("Trash/info", "is not a directory", |it| it.file("home/.local/share/Trash/info", 1)),
    ];
    for (place, why, made) in cases {
        let fixture = made(with_canary());
        let scanned = Scanned::of(&fixture);
        let targets = scanned.targets(&["c"]);
        let mut nothing = |_: RemovalEvent<'_>| ControlFlow::Continue(());
        let said = kept(remove(&targets, Manner::Trash, &scanned.directories, &mut nothing));
        let place = fixture.at("home/.local/share").join(place);
        let place = place.display();
        assert_eq!(said, format!("the trash {place} cannot be used: it {why}; D deletes it"));
        assert!(exists(fixture.at("tree/c")));
    }
}

/// `D` was said to delete what is on a file system that is mounted read-only.
#[test]
#[ignore = "mounts"]
fn a_trash_that_is_mounted_read_only_promises_no_delete() {
    use rustix::mount::{MountFlags, UnmountFlags, mount_bind, mount_remount, unmount};
    let fixture = with_canary();
    let top = fixture.at("tree");
    mount_bind(&top, &top).unwrap();
    let scanned = Scanned::of(&fixture);
    let targets = scanned.targets(&["c"]);
    let remounted = mount_remount(&top, MountFlags::BIND | MountFlags::RDONLY, c"");
    let mut nothing = |_: RemovalEvent<'_>| ControlFlow::Continue(());
    let removed = remove(&targets, Manner::Trash, &scanned.directories, &mut nothing);
    unmount(&top, UnmountFlags::DETACH).unwrap();
    remounted.unwrap();
    let said = kept(removed);
    assert!(
        said.ends_with("the file system is mounted read-only (Read-only file system)"),
        "{said}"
    );
    assert!(exists(fixture.at("tree/c")));
}

/// Who owns a directory on the way to the trash could exchange what is in it, and so could anybody in a trash for all
/// users that is not as the specification says.
#[test]
#[ignore = "mounts"]
fn no_trash_is_used_that_another_user_could_exchange() {
    for (made, used) in [
        ("", "home/Trash"),
        ("chown 65534 home", ".Trash-0"),
        ("chown 65534 home; mkdir -m 1777 .Trash", ".Trash/0"),
        ("chown 65534 home; mkdir -m 777 .Trash", ".Trash-0"),
        ("chown 65534 home; mkdir -m 1777 all; ln -s all .Trash", ".Trash-0"),
        (
            "chown 65534 home; mkdir -p .Trash/0; chmod 1777 .Trash; chown 65534 .Trash/0",
            ".Trash-0",
        ),
    ] {
        let place = Mounted::tmpfs();
        let script = format!("set -e; mkdir home tree; echo > tree/f; {made}");
        let mut shell = Command::new("sh");
        let made = shell.args(["-c", &script]).current_dir(place.path()).status().unwrap();
        assert!(made.success(), "{script}");
        let fixture = Fixture::new();
        let [home, state] = [place.path().join("home"), fixture.at("state")];
        let scanned = Scanned::new(&place.path().join("tree"), &home);
        let directories = UserDirectories { data: Some(home), state: Some(state) };
        let mut nothing = |_: RemovalEvent<'_>| ControlFlow::Continue(());
        let removed = remove(&scanned.targets(&["f"]), Manner::Trash, &directories, &mut nothing);
        let Fate::Trashed(trashed) = one(removed).fate else { panic!("{script}") };
        let expected = place.path().join(used).join("files/f");
        assert_eq!(to_path(&trashed.path_in_trash()), expected, "{script}");
        assert!(exists(expected));
    }
}

/// The line named the old path twice. So whoever looked there after a kill found nothing.
#[test]
fn what_is_still_in_the_trash_is_where_the_log_says() {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let trashed = scanned.trash("d/four");
    let undone = undo(&trashed, &scanned.directories, &mut |event| match event {
        RemovalEvent::Before { step: RemovalStep::Move, .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(one(undone).fate, Fate::Kept));
    let place = to_path(&trashed.path_in_trash()).into_owned();
    assert!(exists(&place));
    let said = format!(r#""at":"{}""#, place.display());
    let log = scanned.log();
    let begun = log.lines().find(|line| line.contains(r#""begin","action":"restore""#));
    assert!(begun.is_some_and(|line| line.contains(&said)), "{log}");
}

/// Once, the message still had the path from before.
#[test]
fn what_is_moved_meanwhile_is_said_to_be_where_it_is() {
    let fixture = with_canary();
    let scanned = Scanned::of(&fixture);
    let trashed = scanned.trash("d/four");
    fs::rename(fixture.at("tree"), fixture.at("renamed")).unwrap();
    let place = fixture.at("renamed").canonicalize().unwrap().join("d/four");
    let back = one(undo(&trashed, &scanned.directories, &mut |_| ControlFlow::Continue(())));
    assert!(matches!(back.fate, Fate::Restored), "{back:?}");
    assert_eq!(to_path(&trashed.path()), place);
    assert!(exists(&place));
    let log = scanned.log();
    let said = format!(r#""action":"restore","path":"{}""#, place.display());
    assert_eq!(log.matches(&said).count(), 2, "{log}");

    // While several entries of it are deleted.
    for (old, new, is_kept) in [("tree", "renamed", false), ("tree/d", "tree/new", true)] {
        let fixture = with_canary().file("tree/d/five", 2);
        let scanned = Scanned::of(&fixture);
        let removed = scanned.delete_with(&scanned.targets(&["d/five", "d/four"]), |event| {
            if matches!(event, RemovalEvent::Done { target: 0, .. }) {
                fs::rename(fixture.at(old), fixture.at(new)).unwrap();
            }
            ControlFlow::Continue(())
        });
        let [_, second] = &removed.outcomes[..] else { panic!("{removed:?}") };
        assert_eq!(matches!(second.fate, Fate::Kept), is_kept, "{second:?}");
        let place = fixture.at(new).canonicalize().unwrap().join("d/four");
        let log = scanned.log();
        let said = format!(r#""path":"{}""#, place.display());
        assert_eq!(log.matches(&said).count(), if is_kept { 0 } else { 2 }, "{log}");
        if is_kept {
            assert_eq!(second.problems[0].message, "its directory is not there any more");
            assert!(exists(fixture.at("tree/new/four")) && !log.contains("four"));
        }
    }
}

/// Two of one name, and one whose note would have too long a name.
#[test]
fn the_trash_has_room_for_several_of_one_name() {
    let long = "x".repeat(255);
    let fixture = with_canary().file("tree/d/c", 7).file(format!("tree/{long}"), 5);
    let scanned = Scanned::of(&fixture);
    let targets = scanned.targets(&["c", "d/c", &long]);
    let mut nothing = |_: RemovalEvent<'_>| ControlFlow::Continue(());
    let removed = remove(&targets, Manner::Trash, &scanned.directories, &mut nothing);
    let files = fixture.at("home/.local/share/Trash/files");
    assert_eq!(fs::metadata(files.join("c")).unwrap().len(), 9_000);
    assert_eq!(fs::metadata(files.join("c.2")).unwrap().len(), 7);
    assert_eq!(fs::metadata(files.join("x".repeat(245))).unwrap().len(), 5);
    for outcome in removed.outcomes {
        let Fate::Trashed(trashed) = outcome.fate else { panic!("{outcome:?}") };
        one(undo(&trashed, &scanned.directories, &mut nothing));
    }
    assert_eq!(fs::metadata(fixture.at("tree").join(long)).unwrap().len(), 5);
    // Once, the trash was full then, and until then each took longer than the one before.
    File::create(files.join("c")).unwrap();
    (2..=100_000).for_each(|number| drop(File::create(files.join(format!("c.{number}"))).unwrap()));
    let scanned = Scanned::of(&fixture);
    let mut moved = Vec::new();
    let removed =
        remove(&scanned.targets(&["c", "d"]), Manner::Trash, &scanned.directories, &mut |event| {
            if let RemovalEvent::Before { step: RemovalStep::Move, removed, .. } = event {
                moved.push(removed);
            }
            ControlFlow::Continue(())
        });
    assert!(removed.outcomes.iter().all(|it| matches!(it.fate, Fate::Trashed(_))), "{removed:?}");
    // What is moved counts, as what is deleted does.
    assert_eq!(moved, [0, 1]);
}

/// What was in the trash was moved into it again if a symlink leads to the home, and then had the trash as its old path.
/// With its directory `info`, all in it lost theirs. After the log, `u` found that weigh had made another one there.
#[test]
fn the_trash_takes_neither_itself_nor_what_is_in_it_nor_the_log() {
    let fixture = with_canary().file("tree/d/x", 7).symlink("home", "link");
    let scan = || Scanned::new(&fixture.at(""), &fixture.at("link"));
    let mut nothing = |_: RemovalEvent<'_>| ControlFlow::Continue(());
    let first = scan();
    let removed =
        remove(&first.targets(&["tree/d"]), Manner::Trash, &first.directories, &mut nothing);
    assert!(matches!(one(removed).fate, Fate::Trashed(_)));
    let scanned = scan();
    let [is_log, is_trash] = ["it is weigh's log or contains it", "it is the trash or contains it"];
    let is_there = "it is already in the trash; D deletes it";
    for (name, why) in [
        (".local", is_log),
        (".local/state", is_log),
        (".local/state/weigh/deleted.ndjson", is_log),
        (".local/share/Trash", is_trash),
        (".local/share/Trash/files", is_trash),
        (".local/share/Trash/info", is_trash),
        (".local/share/Trash/files/d", is_there),
        (".local/share/Trash/files/d/x", is_there),
        (".local/share/Trash/info/d.trashinfo", is_there),
    ] {
        let targets = scanned.targets(&[&format!("home/{name}")]);
        let mut said = |manner| kept(remove(&targets, manner, &scanned.directories, &mut nothing));
        assert_eq!(said(Manner::Trash), why, "{name}");
        if why == is_log {
            assert_eq!(said(Manner::Delete), why, "{name}");
        }
    }
}

/// Why something is kept: said in words, with what the system says of it.
#[test]
#[ignore = "needs root"]
fn what_may_not_be_removed_is_refused_with_the_reason() {
    let chattr = |flag: &str, path: PathBuf| {
        assert!(
            std::process::Command::new("chattr").arg(flag).arg(path).status().unwrap().success()
        );
    };
    type Prepared = (&'static str, &'static str, &'static str);
    let cases: [Prepared; 4] = [
        ("+i", "c", "it is immutable"),
        ("+a", "c", "it is append-only"),
        ("+i", "", "its directory is immutable"),
        ("+a", "", "its directory is append-only"),
    ];
    for (flag, name, why) in cases {
        let fixture = with_canary();
        fs::create_dir_all(fixture.at("home/.local/state/weigh")).unwrap();
        let scanned = Scanned::of(&fixture);
        let reviewed = scanned.targets(&["c"]);
        let before = listing(&fixture.at("tree"));
        chattr(flag, fixture.at("tree").join(name));
        let looked = look(&mut scanned.unreviewed(&["c"])[0]).map_err(|error| error.to_string());
        // What was reviewed before has changed; the reason comes first all the same.
        let said = kept(scanned.delete_with(&reviewed, |_| ControlFlow::Continue(())));
        chattr(&flag.replace('+', "-"), fixture.at("tree").join(name));
        assert_eq!(before, listing(&fixture.at("tree")));
        assert!(looked == Err(why.to_owned()) || looked.is_err_and(|it| it.contains("changed")));
        assert!(said == why || said.contains("changed"), "{said}");
    }
    // In a directory that is removed, all else goes.
    for flag in ["i", "a"] {
        let fixture = with_canary();
        chattr(&format!("+{flag}"), fixture.at("tree/a/b/two"));
        let scanned = Scanned::of(&fixture);
        let outcome = one(scanned.delete(&["a"]));
        chattr(&format!("-{flag}"), fixture.at("tree/a/b/two"));
        assert!(matches!(outcome.fate, Fate::Partly));
        assert_eq!(outcome.removed, 3);
        let what = if flag == "i" { "it is immutable" } else { "it is append-only" };
        let said = &outcome.problems[0].message;
        assert!(said.starts_with(what), "{said}");
        assert_eq!(outcome.problems.len(), 1);
    }
}
