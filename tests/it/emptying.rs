//! `weigh clean --empty-trash`: the user's own trash, after the number of its entries, and nothing else.
#![cfg(all(target_os = "linux", feature = "cli"))]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::getuid;
use serde_json::Value;

use crate::cleaning::{Asking, Idle, kept_at};
use crate::dice::Dice;
use crate::fixture::{Fixture, entries_at};
use crate::mounted::{Mounted, succeed};
use crate::rounds::{for_seeds, rounds};
use crate::run::{Weigh, weigh};

const TRASH: &str = "home/.local/share/Trash";

/// A home on a file system that has no other trash.
fn home() -> Fixture {
    let fixture = Fixture::in_memory().dir("home/.local/share");
    let top = fixture.path().parent().unwrap().to_owned();
    for name in [".Trash".to_owned(), format!(".Trash-{}", getuid().as_raw())] {
        assert!(!top.join(&name).exists(), "{name} is nothing to test with");
    }
    fixture
}

/// Puts these into the trash at `trash`, as a file manager does.
fn trashed(fixture: &Fixture, trash: &str, names: &[&str]) {
    let at = |path: &str| fixture.at(trash).join(path);
    for directory in ["files", "info"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    for name in names {
        let info = format!("[Trash Info]\nPath=/old/{name}\nDeletionDate=2026-01-02T03:04:05\n");
        fs::write(at(&format!("info/{name}.trashinfo")), info).unwrap();
        let entry = at(&format!("files/{name}"));
        if name.starts_with("dir") {
            for inside in ["a", "deep/b", "deep/er/c"] {
                fs::create_dir_all(entry.join(inside).parent().unwrap()).unwrap();
                fs::write(entry.join(inside), format!("{name} {inside}").repeat(1_000)).unwrap();
            }
        } else {
            fs::write(entry, name.repeat(2_000)).unwrap();
        }
    }
}

/// A run of `clean --empty-trash FLAGS home` within `fixture`.
fn empty(flags: &str, fixture: &Fixture) -> Weigh {
    empty_at(flags, "home", fixture)
}

fn empty_at(flags: &str, path: &str, fixture: &Fixture) -> Weigh {
    let run = weigh("clean --empty-trash").args(flags.split_whitespace()).arg(path);
    let run = run.within(fixture.path()).env("HOME", fixture.at("home"));
    run.env("XDG_STATE_HOME", fixture.at("state")).env("XDG_DATA_HOME", "").env("PATH", "/bin")
}

fn asking(fixture: &Fixture) -> Asking {
    Asking::of(empty("", fixture), "permanently: ")
}

fn mount<const N: usize>(args: [PathBuf; N]) {
    succeed("mount", args.map(PathBuf::into_os_string));
}

fn unmount(at: &Path) {
    succeed("umount", [at.into()]);
}

fn names(fixture: &Fixture, inside: &str) -> Vec<String> {
    fixture.names(format!("{TRASH}/{inside}"))
}

#[test]
fn the_trash_is_empty_after_the_right_number() {
    let fixture = home().file("precious/one", 9_000).file("precious/two", 9_000);
    trashed(&fixture, TRASH, &["file", "dir", "ä\n"]);
    let files = fixture.at(TRASH).join("files");
    // Without an info file; a link, a symlink, and directories with other names and modes.
    fs::write(files.join("orphan"), "x").unwrap();
    fs::hard_link(fixture.at("precious/one"), files.join("link")).unwrap();
    symlink(fixture.at("precious"), files.join("out")).unwrap();
    symlink(fixture.at("precious"), files.join("dir/deep/out")).unwrap();
    // A program that moves an entry here writes its info file first.
    fs::write(fixture.at(TRASH).join("info/coming.trashinfo"), "[Trash Info]\n").unwrap();
    let outside = kept_at(&fixture.at("precious"));
    let all = entries_at(&fixture.at(TRASH)).len();
    for typed in ["\r", "y\r", "13\r", "\x04"] {
        let asking = asking(&fixture);
        // Three infos; file, ä, orphan, link, out; dir, a, deep, b, er, c, out.
        assert_eq!(asking.entries, "15");
        let (status, said) = asking.answer(typed);
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("nothing was removed: that is not the number"), "{said}");
        assert_eq!(entries_at(&fixture.at(TRASH)).len(), all);
    }
    let (status, said) = asking(&fixture).agree();
    assert_eq!(status, Some(0), "{said}");
    let last = said.trim_end().lines().last().unwrap();
    let (freed, announced) = last.split_once(" (announced ").unwrap();
    assert_eq!(freed.strip_prefix("freed ").unwrap(), announced.strip_suffix(')').unwrap());
    assert_eq!(
        (names(&fixture, "files"), names(&fixture, "info")),
        (Vec::new(), vec!["coming.trashinfo".to_owned()])
    );
    assert_eq!(kept_at(&fixture.at("precious")), outside);
    let log = fixture.text("state/weigh/deleted.ndjson");
    assert_eq!(log.matches(r#""result":"deleted""#).count(), 9, "{log}");
}

#[test]
fn without_a_terminal_it_lists_and_refuses() {
    let fixture = home();
    assert!(empty("", &fixture).run().text().contains("the trash is empty"));
    trashed(&fixture, TRASH, &["file", "dir"]);
    let all = kept_at(&fixture.at(TRASH));
    let run = empty("-a", &fixture).run();
    assert_eq!(run.code(), 1);
    assert!(run.complaint().contains("there is no terminal"), "{}", run.complaint());
    let shown = String::from_utf8(run.stdout).unwrap();
    for name in ["Trash/files/file", "Trash/files/dir"] {
        assert!(shown.contains(name), "{shown}");
    }
    let json = empty("-j", &fixture).run().json();
    let found = json["reclaimable"]["found"].as_array().unwrap();
    assert_eq!((found.len(), &found[0]["rule"]), (2, &"trash".into()));
    assert!(json["reclaimable"].get("plan").is_none(), "{json}");
    assert_eq!(kept_at(&fixture.at(TRASH)), all);
}

#[test]
fn rules_and_plans_have_nothing_to_do_with_it() {
    let fixture = home();
    trashed(&fixture, TRASH, &["file"]);
    for flags in [
        "--apply",
        "--free 1G",
        "--only cargo",
        "--older 3d",
        "--trash",
        "-z 1M",
        "-X a",
        "--exclude a",
        "--owner root",
        "-x",
        "--skip network",
        "--frees",
        "--from plan.json",
        "-n 3",
        "-q",
        "--yes",
    ] {
        let run = empty(flags, &fixture).run();
        assert_eq!(run.code(), 2, "{flags}: {}", run.complaint());
        assert!(run.complaint().contains("hint: "), "{flags}: {}", run.complaint());
    }
    fs::write(fixture.at("config.toml"), "empty-trash = true\n").unwrap();
    let run = weigh("clean").arg("home").within(fixture.path());
    assert_eq!(run.env("WEIGH_CONFIG_PATH", fixture.at("config.toml")).run().code(), 2);
    let fixture = fixture.file("--empty-trash", 1);
    let run = empty("", &fixture).run();
    assert!(run.complaint().contains("is called --empty-trash"), "{}", run.complaint());
    assert_eq!(names(&fixture, "files"), ["file"]);
}

/// Somebody else could choose what is in it.
#[test]
fn symlinks_and_directories_of_others_are_left_alone() {
    for (inside, way, why) in [
        ("", "symlink", "it is a symlink"),
        ("files", "symlink", "files: it is a symlink"),
        ("info", "symlink", "info: it is a symlink"),
        ("", "owner", "it belongs to somebody else"),
        ("files", "owner", "files: it belongs to somebody else"),
        ("info", "owner", "info: it belongs to somebody else"),
        ("..", "owner", "its directory belongs to somebody else"),
    ] {
        if way == "owner" && !getuid().is_root() {
            continue;
        }
        let fixture = home();
        trashed(&fixture, TRASH, &["file", "dir"]);
        let at = fixture.at(format!("{TRASH}/{inside}"));
        let at: PathBuf = at.components().collect();
        match way {
            "symlink" => {
                fs::rename(&at, fixture.at("elsewhere")).unwrap();
                symlink(fixture.at("elsewhere"), &at).unwrap();
            }
            _ => std::os::unix::fs::lchown(&at, Some(65_534), None).unwrap(),
        }
        let all = kept_at(fixture.path());
        let run = empty("", &fixture).run();
        assert!(run.complaint().contains(&format!("is left alone: {why}")), "{}", run.complaint());
        assert_eq!(run.code(), 0, "{inside} {way}: {}", run.complaint());
        assert!(
            String::from_utf8_lossy(&run.stdout).contains("found nothing that weigh may delete")
        );
        assert_eq!(kept_at(fixture.path()), all, "{inside} {way}");
    }
}

/// What happens between the look and the answer, and what it says then.
const MEANWHILE: [(&str, &str); 8] = [
    ("written", "changed"),
    ("a new file in a directory", "changed"),
    ("another entry has its name", "changed"),
    ("another info file", "changed"),
    ("files is a symlink", "changed"),
    ("the trash is a symlink", "changed"),
    ("a process has it open", "in use by "),
    ("a file of somebody else", "belongs to"),
];

#[test]
fn what_changes_while_the_question_waits_stays() {
    for (trap, why) in MEANWHILE {
        if trap.contains("somebody") && !getuid().is_root() {
            continue;
        }
        let fixture = home().file("precious/files/dir/a", 9).file("precious/files/file", 9);
        trashed(&fixture, TRASH, &["file", "dir", "other"]);
        let asking = asking(&fixture);
        std::thread::sleep(Duration::from_millis(20));
        let at = |path: &str| fixture.at(TRASH).join(path);
        let (mut idle, mut stay) = (None, vec!["dir"]);
        match trap {
            "written" => fs::write(at("files/dir/deep/b"), "mine").unwrap(),
            "a new file in a directory" => fs::write(at("files/dir/deep/new"), "mine").unwrap(),
            "another entry has its name" => {
                fs::rename(at("files/dir"), fixture.at("moved")).unwrap();
                fs::create_dir(at("files/dir")).unwrap();
            }
            "another info file" => fs::write(at("info/dir.trashinfo"), "another").unwrap(),
            "files is a symlink" => {
                fs::rename(at("files"), at("moved")).unwrap();
                symlink(fixture.at("precious/files"), at("files")).unwrap();
                stay = vec!["dir", "file"];
            }
            "the trash is a symlink" => {
                fs::rename(at(""), fixture.at("moved")).unwrap();
                symlink(fixture.at("precious"), at("").components().as_path()).unwrap();
                stay = vec!["dir", "file"];
            }
            "a process has it open" => idle = Some(Idle::with_open(&at("files/dir/deep/b"))),
            "a file of somebody else" => {
                std::os::unix::fs::lchown(at("files/dir/a"), Some(65_534), None).unwrap();
            }
            other => panic!("{other}"),
        }
        let outside = kept_at(&fixture.at("precious"));
        let dir = kept_at(&at("files/dir"));
        let (status, said) = asking.agree();
        assert_eq!(status, Some(1), "{trap}: {said}");
        assert!(said.contains("; kept ") && said.contains(why), "{trap}: {said}");
        assert_eq!(kept_at(&fixture.at("precious")), outside, "{trap}: {said}");
        assert_eq!(kept_at(&at("files/dir")), dir, "{trap}: {said}");
        assert_eq!(names(&fixture, "files"), stay, "{trap}: {said}");
        if stay.len() == 1 {
            assert_eq!(names(&fixture, "info"), ["dir.trashinfo"], "{trap}: {said}");
        }
        drop(idle);
    }
}

/// kill -9 while it removes: an entry that is still there has its info file, so that it can be put back; and at most one
/// info file names nothing.
#[test]
fn after_a_kill_each_entry_can_still_be_put_back() {
    for_seeds(rounds(6, 60), |seed| {
        let fixture = home().file("precious/one", 9);
        let all: Vec<_> = (0..300).map(|number| format!("dir{number}")).collect();
        trashed(&fixture, TRASH, &all.iter().map(String::as_str).collect::<Vec<_>>());
        let outside = kept_at(&fixture.at("precious"));
        let Asking { mut terminal, mut child, entries } = asking(&fixture);
        terminal.type_in(format!("{entries}\r").as_bytes());
        let files = fixture.at(TRASH).join("files");
        while fs::read_dir(&files).unwrap().count() >= 300 {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(Dice::new(seed).below(30_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let left: BTreeSet<_> = names(&fixture, "files").into_iter().collect();
        let (private, infos): (Vec<_>, Vec<_>) =
            names(&fixture, "info").into_iter().partition(|name| name.starts_with(".weigh-"));
        assert!(private.len() <= 1, "{seed}: {private:?}");
        let infos: BTreeSet<_> = infos
            .into_iter()
            .map(|name| name.strip_suffix(".trashinfo").unwrap().to_owned())
            .collect();
        let own = left.iter().filter(|name| name.starts_with(".weigh-")).count();
        assert!(own <= 1, "{seed}: {left:?}");
        for name in left.iter().filter(|name| name.starts_with("dir")) {
            assert!(infos.contains(name), "{seed}: {name}");
        }
        assert!(infos.difference(&left).count() <= 1, "{seed}: {left:?} {infos:?}");
        assert_eq!(kept_at(&fixture.at("precious")), outside, "{seed}");
        // The next run takes what is left, but for an info file of which the entry may be coming.
        let (status, said) = asking(&fixture).agree();
        assert_eq!(status, Some(0), "{said}");
        assert!(names(&fixture, "files").is_empty() && names(&fixture, "info").len() <= 2);
    });
}

/// Each trash of the user on the file system of PATH, and no other.
#[test]
#[ignore = "mounts a tmpfs"]
fn each_trash_of_the_file_system_is_found() {
    let (user, place) = (getuid().as_raw(), Mounted::tmpfs());
    let fixture = home().dir("pictures");
    trashed(&fixture, TRASH, &["of home"]);
    let on = |name: &str| place.path().join(name);
    for name in [format!(".Trash/{user}"), format!(".Trash-{user}"), ".Trash-65534".to_owned()] {
        fs::create_dir_all(on(&name).join("files")).unwrap();
        fs::write(on(&name).join("files/x"), "x").unwrap();
    }
    fs::create_dir(on("pictures")).unwrap();
    let found = || {
        let run = empty_at("-j", on("pictures").to_str().unwrap(), &fixture).run();
        let complaint = run.complaint();
        let json: Value = serde_json::from_slice(&run.stdout).unwrap();
        let found = json["reclaimable"]["found"].as_array().unwrap().iter();
        let paths = found.map(|one| one["path"].as_str().unwrap());
        let top = format!("{}/", place.path().display());
        let mut paths: Vec<_> = paths.map(|path| path.replace(&top, "")).collect();
        paths.sort();
        (paths, complaint)
    };
    // A shared one must be sticky.
    let (paths, complaint) = found();
    assert_eq!(paths, [format!(".Trash-{user}/files/x")], "{complaint}");
    assert!(
        complaint.contains(".Trash is left alone: it is not a sticky directory"),
        "{complaint}"
    );
    fs::set_permissions(on(".Trash"), fs::Permissions::from_mode(0o1777)).unwrap();
    let (paths, _) = found();
    assert_eq!(paths, [format!(".Trash-{user}/files/x"), format!(".Trash/{user}/files/x")]);
    fs::rename(on(".Trash"), on("shared")).unwrap();
    symlink("shared", on(".Trash")).unwrap();
    assert_eq!(found().0, [format!(".Trash-{user}/files/x")]);
    let run = empty_at("", on("pictures").to_str().unwrap(), &fixture);
    let (status, said) = Asking::of(run, "permanently: ").agree();
    assert_eq!(status, Some(0), "{said}");
    assert!(on("shared").join(format!("{user}/files/x")).exists(), "{said}");
    assert!(on(".Trash-65534/files/x").exists(), "{said}");
    assert_eq!(names(&fixture, "files"), ["of home"]);
}

#[test]
#[ignore = "mounts directories"]
fn other_mounts_are_left_alone() {
    for inside in ["", "files", "info"] {
        for is_bind in [true, false] {
            let fixture = home().dir("home/.local/share/Trash").file("other/files/one", 9);
            trashed(&fixture, TRASH, &["file"]);
            let at = fixture.at(TRASH).join(inside);
            match is_bind {
                true => mount([PathBuf::from("--bind"), fixture.at("other"), at.clone()]),
                false => {
                    let tmpfs = || PathBuf::from("tmpfs");
                    mount([PathBuf::from("-t"), tmpfs(), tmpfs(), at.clone()]);
                }
            }
            let run = empty("", &fixture).run();
            assert!(run.complaint().contains("it is a mount point"), "{}", run.complaint());
            assert_eq!(run.code(), 0);
            unmount(&at);
            assert_eq!(names(&fixture, "files"), ["file"]);
            assert!(fixture.at("other/files/one").exists());
        }
    }
}

/// An entry with something mounted in it stays, whenever that was mounted.
#[test]
#[ignore = "mounts directories"]
fn what_is_mounted_in_an_entry_stays() {
    for is_before in [true, false] {
        let fixture = home().file("precious/one", 9);
        trashed(&fixture, TRASH, &["dir", "other"]);
        let outside = kept_at(&fixture.at("precious"));
        let inside = fixture.at(TRASH).join("files/dir/deep");
        let mount_it = || mount([PathBuf::from("--bind"), fixture.at("precious"), inside.clone()]);
        if is_before {
            mount_it();
        }
        let asking = asking(&fixture);
        if !is_before {
            mount_it();
        }
        let (status, said) = asking.agree();
        assert_eq!(status, Some(i32::from(!is_before)), "{said}");
        assert_eq!(kept_at(&fixture.at("precious")), outside, "{said}");
        unmount(&inside);
        assert!(inside.join("b").exists() && inside.join("../a").exists(), "{said}");
        assert_eq!(names(&fixture, "files"), ["dir"], "{said}");
        assert_eq!(names(&fixture, "info"), ["dir.trashinfo"], "{said}");
    }
}

#[test]
#[ignore = "mounts an ext4 image"]
fn as_much_comes_free_as_the_list_says() {
    let place = Mounted::ext4();
    let fixture = Fixture::within(place.path()).file("precious/one", 50_000);
    trashed(&fixture, TRASH, &["file", "dir", "dir2"]);
    let files = fixture.at(TRASH).join("files");
    fs::hard_link(fixture.at("precious/one"), files.join("link")).unwrap();
    fs::hard_link(files.join("file"), files.join("dir/again")).unwrap();
    let frees = empty("-j", &fixture).run().json()["reclaimable"]["frees_most"].as_u64();
    // The log is not there yet.
    let state = Fixture::new();
    let run = empty("", &fixture).env("XDG_STATE_HOME", state.path());
    let before = place.free();
    let (status, said) = Asking::of(run, "permanently: ").agree();
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(frees, Some(place.free() - before), "{said}");
    assert_eq!(fs::metadata(fixture.at("precious/one")).unwrap().nlink(), 1);
}

/// An entry in which a process works is not offered.
#[test]
fn the_trash_around_the_shell_stays() {
    let fixture = home();
    trashed(&fixture, TRASH, &["dir", "other"]);
    let idle = Idle::in_directory(&fixture.at(TRASH).join("files/dir/deep"));
    let asking = asking(&fixture);
    // It and its info file.
    assert_eq!(asking.entries, "2");
    let (status, said) = asking.agree();
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(names(&fixture, "files"), ["dir"]);
    drop(idle);
    let missing = empty_at("", "missing", &fixture).run();
    assert_eq!(missing.code(), 1, "{}", missing.complaint());
    assert!(missing.complaint().contains("missing"), "{}", missing.complaint());
    let file = fixture.file("some file", 3);
    let run = empty_at("", "some file", &file).run();
    assert!(run.complaint().contains("there is no terminal"), "{}", run.complaint());
}
