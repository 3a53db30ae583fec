//! Deleting from the review of `--ui`, without a terminal: that only what it showed goes, after a question, and that
//! every figure on the screen is then what a fresh scan says.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use weigh::Operation;

use crate::dice::{Dice, Names};
use crate::fixture::Fixture;
use crate::gitignore::{checkout, git};
use crate::mounted::Mounted;
use crate::removal::{RemovalEvent, RemovalStep, Removed};
use crate::rounds::rounds;
use crate::run::weigh;
use crate::session::{self, Problem, Session, Setup, Wanted};

/// What is at `root`, with the home directory at `home`.
fn at(root: &Path, home: &Path) -> Setup {
    session::of([root]).home(home)
}

/// How many entries are marked.
fn entries(screen: &Session) -> u64 {
    screen.marked_size().unwrap().1
}

/// All paths below `top`, sorted.
fn listed(top: &Path) -> Vec<String> {
    let (mut found, mut ahead) = (Vec::new(), vec![top.to_owned()]);
    while let Some(path) = ahead.pop() {
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
            found.push(entry.path().strip_prefix(top).unwrap().to_str().unwrap().to_owned());
            ahead.extend(entry.file_type().unwrap().is_dir().then(|| entry.path()));
        }
    }
    found.sort_unstable();
    found
}

fn fixture() -> Fixture {
    Fixture::new()
        .dir("home")
        .file("tree/a/one", 10_000)
        .file("tree/a/two", 20_000)
        .file("tree/b", 30_000)
        .file("tree/c", 40_000)
        .hard_link("tree/a/one", "tree/d/one")
}

/// dua #248: one key deleted, without a question. And only the review's keys delete.
#[test]
fn nothing_is_deleted_without_the_number_of_entries() {
    let fixture = fixture();
    let setup = at(&fixture.at("tree"), &fixture.at("home"));
    let before = setup.figures();
    for keys in [
        "D",
        "x",
        "X",
        "\n",
        "n D",
        "d\x1bD",
        "dD\n",
        "dD1\n",
        "dD4\n",
        "dD33\x1b",
        "d\x1bD3\n",
        "dqD3\n",
        "dDt\n",
        "dD-3\n",
        "dD+3\n",
        "dD0x3\n",
        "dD3x\n",
        "dD03\n",
        "dD 3\n",
        "dD3.\n",
        "dD4\n3\x1b",
        "dD4\n4\n",
    ] {
        let mut screen = setup.clone().open();
        screen.press("nkkkk ").press(keys);
        assert_eq!(setup.figures(), before, "{keys}");
    }
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("nkkkk ");
    assert_eq!(entries(&screen), 3);
    screen.press("dD3\n");
    assert_eq!(screen.said(), "1 deleted, 3 entries");
    assert!(!fixture.at("tree/a").exists() && fixture.at("tree/d/one").exists());
    assert_eq!(screen.marks(), 0);
    screen.check("deleted");
}

#[test]
fn the_number_may_be_typed_as_it_is_shown() {
    for typed in ["1,201", "1201"] {
        let fixture = (0..1_200).fold(Fixture::in_memory().dir("home"), |fixture, number| {
            fixture.file(format!("tree/a/{number}"), 1)
        });
        let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
        screen.press(&format!(" dD{typed}\n"));
        assert_eq!(screen.said(), "1 deleted, 1,201 entries");
    }
}

/// gdu #388: marks were rows, and after sorting the wrong files went. gdu #203: what is scrolled behind a dialog.
#[test]
fn what_goes_is_what_was_marked_however_it_is_sorted_and_scrolled() {
    for keys in ["s", "C", "nn", "t", "ss", "↓↓↓", "↑", "fb\n"] {
        let fixture = fixture();
        let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
        screen.press("nkkkk↓ ");
        assert_eq!(screen.marked(), [fixture.at("tree/b")]);
        screen.press(keys);
        screen.press("d");
        // In the review, arrows and the wheel scroll, and nothing else.
        for key in ["↓", "⇣", "⇟", "↑", "⇱"] {
            assert!(screen.ask(key).is_empty());
        }
        screen.press("D1\n");
        assert!(!fixture.at("tree/b").exists(), "{keys}");
        assert_eq!(fs::read_dir(fixture.at("tree")).unwrap().count(), 3, "{keys}");
        screen.check(keys);
    }
}

/// With a filter, a directory holds more than is listed, and the trash would take it.
#[test]
fn with_a_filter_no_directory_goes_into_the_trash() {
    let fixture = fixture();
    let tree = at(&fixture.at("tree"), &fixture.at("home")).never(b"nothing is called so");
    let mut screen = tree.open();
    screen.press("nkkkk ↓dt");
    assert!(screen.said().starts_with("a filter is on"), "{}", screen.said());
    assert!(fixture.at("tree/a").exists());
    screen.press("\x1bU↑↑↑↓ dt");
    assert!(screen.said().starts_with("1 in the trash"), "{}", screen.said());
    assert!(!fixture.at("tree/b").exists());
    screen.check("with a filter");
}

/// A directory that a filter leaves out was removed with what counts in it: 1 was typed, and 3 went.
#[test]
fn with_a_filter_what_goes_is_what_was_typed() {
    let fixture = Fixture::new()
        .dir("home")
        .file("tree/a/b/x.rs", 10_000)
        .hard_link("tree/a/b/x.rs", "tree/a/y.rs")
        .file("tree/a/c/counts/left out/z.rs", 10)
        .file("tree/a/d/counts/z.rs", 10);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).only(br"\.rs$|/counts$").open();
    screen.press(" ");
    // Four files, and the one directory that counts and holds none that does not.
    assert_eq!(entries(&screen), 5);
    screen.press("dD4\n\x1bU dD6\n\x1b");
    assert!(fixture.at("tree/a/b/x.rs").exists());
    screen.press("dD5\n");
    assert_eq!(screen.said(), "1 kept; 0 deleted, 5 entries");
    assert_eq!(screen.reasons(), ["directories that a filter leaves out stay"]);
    let paths = listed(&fixture.at("tree"));
    assert_eq!(paths, ["a", "a/b", "a/c", "a/c/counts", "a/c/counts/left out", "a/d"]);
    screen.check("deleted");
}

/// A directory that a filter leaves out counted after the first delete in it, and went with the second.
#[test]
fn with_a_filter_no_directory_counts_after_a_delete_in_it() {
    let fixture =
        Fixture::new().dir("home").file("tree/a/x.rs", 10_000).file("tree/a/y.rs", 20_000);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).only(br"\.rs$").open();
    screen.press("→ dD1\n");
    assert_eq!(screen.said(), "1 deleted, 1 entry");
    screen.check("the first");
    screen.press("h dD1\n");
    assert_eq!(screen.kept().len(), 1);
    assert_eq!(listed(&fixture.at("tree")), ["a"]);
}

/// A directory that a filter leaves out stayed in the list after all that counted in it was gone. A scan does not list
/// it.
#[test]
fn with_a_filter_no_directory_is_listed_in_which_nothing_counts_any_more() {
    let fixture = Fixture::new()
        .dir("home")
        .file("tree/a/b/c/x.rs", 10_000)
        .file("tree/a/y.rs", 20_000)
        .file("tree/d/e/z.rs", 30_000);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).only(br"\.rs$").open();
    screen.press("/x.rs\n dD1\n");
    assert_eq!(screen.said(), "1 deleted, 1 entry");
    screen.check("the first");
    screen.press("hhh/z.rs\n dt");
    assert_eq!(listed(&fixture.at("tree")), ["a", "a/b", "a/b/c", "a/y.rs", "d", "d/e"]);
    screen.check("into the trash");
}

/// It said "entity not found".
#[test]
#[ignore = "mounts a tmpfs"]
fn what_is_mounted_over_the_root_is_named_as_why_all_is_kept() {
    let fixture = fixture();
    let tree = fixture.at("tree");
    let mut screen = at(&tree, &fixture.at("home")).open();
    screen.press("+b\ndD");
    mount("none", &tree, "tmpfs", MountFlags::empty(), None).unwrap();
    screen.press("1\n");
    unmount(&tree, UnmountFlags::DETACH).unwrap();
    assert_eq!(screen.reasons(), ["no path leads to its directory any more"]);
    assert!(tree.join("b").exists());
}

/// Directories of one name in two roots are two.
#[test]
fn what_goes_of_two_roots_is_what_was_marked_in_both() {
    let fixture = Fixture::new().dir("home").file("one/x/f", 10_000).file("two/x/f", 20_000);
    let roots = [fixture.at("one"), fixture.at("two")];
    let mut screen = session::of(&roots).home(fixture.at("home")).open();
    screen.press("AdD4\n");
    assert_eq!(screen.said(), "2 deleted, 4 entries");
    assert!(!fixture.at("one/x").exists() && !fixture.at("two/x").exists());
}

/// The inode counts once, and each of its links goes.
#[test]
fn each_link_is_one_of_the_entries_that_are_typed() {
    let fixture = fixture().hard_link("tree/a/one", "tree/a/three");
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("nkkkk ↓↓ ");
    assert_eq!(entries(&screen), 6);
    screen.press("dD6\n");
    assert_eq!(screen.said(), "2 deleted, 6 entries");
    screen.check("deleted");
}

/// To remove or to move a link changes the inode of the others. They can be deleted nevertheless.
#[test]
fn links_are_deleted_one_after_the_other() {
    let fixture = fixture().hard_link("tree/a/one", "tree/e").hard_link("tree/a/one", "tree/f");
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    // A scan keeps times in seconds.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    screen.press("nkkkkk");
    for (keys, said) in [
        (" dD3\n", "1 deleted, 3 entries"),
        ("\x1bfe\n dt", "1 in the trash"),
        ("\x1bfd\n dD2\n", "1 deleted, 2 entries"),
        ("u", "put back"),
        ("\x1bff\n dD1\n", "1 deleted, 1 entry"),
        ("\x1bfe\n dD1\n", "1 deleted, 1 entry"),
    ] {
        screen.press(keys);
        assert!(screen.said().starts_with(said), "{keys}: {} {:?}", screen.said(), screen.kept());
        screen.check(keys);
    }
}

/// A rescan that ends while the review is open ends that: the marks may be others.
#[test]
fn a_review_ends_when_the_scan_becomes_another() {
    let fixture = fixture();
    // And with it the question, also one that is asked again after a wrong number.
    for (keys, rest, is_asked) in [
        ("+b\nd", "D1\n", false),
        ("+b\ndD", "1\n", true),
        ("+b\ndD", "1\nD1\n", true),
        ("+b\ndD", "2\n1\n", true),
        ("+b\ndD2\n", "1\nD1\nt", true),
    ] {
        let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
        screen.press(keys);
        // A wrong number takes the place of the question.
        let asks = screen.asked_entries() == Some(1) || screen.said() == "wrong number";
        assert_eq!(asks, is_asked, "{keys}");
        screen.scan_all();
        screen.press(rest);
        assert!(fixture.at("tree/b").exists(), "{keys}, {rest}");
    }
}

/// dua 2.45: deleting while the walk went on. Nor from a snapshot, nor with --read-only, nor with -L.
#[test]
fn nothing_is_deleted_where_it_is_not_to_be() {
    let fixture = fixture();
    let (root, home) = (fixture.at("tree"), fixture.at("home"));
    let is_refused = |mut screen: Session, why: &str| {
        screen.press("nkkkk ");
        for keys in ["D", "t"] {
            screen.press("d");
            screen.press(keys);
            assert_eq!(screen.said(), why);
            screen.press("\x1b");
        }
        assert!(fixture.at("tree/a/one").exists());
    };
    let why = "deleting is off: weigh was started with --read-only";
    is_refused(at(&root, &home).read_only().open(), why);
    let saved = fixture.at("saved.weigh");
    weigh::run(&weigh::Request::of([&root]).save_to(&saved)).unwrap();
    let loaded = session::files([saved]).home(&home).open();
    is_refused(loaded, "deleting is off: this was not scanned here");
    let mut walking = session::of([root]).scanning();
    for keys in ["n ", "d", "Dd", "td"] {
        assert_eq!(walking.ask(keys), []);
        let off = "deleting is off during the scan: in the list, Esc stops it";
        assert_eq!(walking.said(), if keys == "n " { "" } else { off });
    }
}

/// After a stopped walk, only what was read to its end goes.
#[test]
fn after_a_stopped_walk_only_what_was_read_to_its_end_goes() {
    let fixture = (0..300).fold(Fixture::new().dir("home"), |fixture, i| {
        fixture.file(format!("tree/a{}/b{i}/f", i % 5), 10)
    });
    let entries = crate::removal::stopped(&fixture.at("tree"));
    for (known, refusal) in &entries {
        let why = refusal.as_deref().unwrap_or("it was not read completely");
        assert!(why.contains("was not read completely"), "{why}");
        assert!(
            refusal.is_some() || *known == 1 + 60 * 2,
            "{known} of it are known, and all of it goes"
        );
    }
    assert!(entries.iter().any(|(_, refusal)| refusal.is_some()), "{entries:?}");
}

#[test]
fn what_is_put_in_the_trash_comes_back() {
    let fixture = fixture();
    let mut screen = at(&fixture.at(""), &fixture.at("home")).open();
    screen.press("ftree\n→nkkkk ↓ dt");
    assert!(screen.said().starts_with("2 in the trash: that frees nothing"), "{}", screen.said());
    assert!(!fixture.at("tree/a").exists() && !fixture.at("tree/c").exists());
    screen.check("in the trash");
    screen.press("u");
    assert_eq!(screen.said(), "2 put back");
    assert!(fixture.at("tree/a/two").exists() && fixture.at("tree/c").exists());
    screen.check("both are back");
    screen.press("u");
    assert!(screen.said().starts_with("this session put nothing in the trash"));
}

/// An undo sets the time of change of all links.
#[test]
fn marks_on_other_links_stay_after_an_undo() {
    let links = ["tree/e", "tree/f", "tree/g"];
    let fixture = links.iter().fold(fixture(), |it, link| it.hard_link("tree/a/one", link));
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+[ef]\ndt");
    assert!(screen.said().starts_with("2 in the trash"), "{}", screen.said());
    screen.press("+g\n");
    assert_eq!(screen.marks(), 1);
    screen.press("u");
    assert_eq!((screen.said(), screen.marks()), ("2 put back", 1));
    screen.check("both are back");
}

/// Each directory was scanned again by itself: nine of them in a second.
#[test]
fn what_is_put_back_in_many_directories_is_scanned_at_once() {
    let fixture = (0..60).fold(fixture(), |it, number| it.file(format!("tree/e/{number}/x"), 10));
    let home = fixture.at("home");
    let mut screen = at(&fixture.at("tree"), &home).open();
    screen.press("\t+x\ndt");
    assert!(screen.said().starts_with("60 in the trash"), "{}", screen.said());
    assert_eq!(screen.ask("u"), [Wanted::Undo(60)]);
    assert!(matches!(screen.undo()[..], [Wanted::Scan(_)]));
    assert_eq!(screen.scan(), []);
    assert_eq!(screen.said(), "60 put back");
    screen.check("all are back");
}

/// An undo after a delete that was cancelled counted as cancelled, too: `q` did not wait for it.
#[test]
fn an_undo_after_a_cancelled_delete_is_waited_for() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("nkkkk↓ dt dD1");
    assert!(matches!(screen.ask("\n")[..], [Wanted::Delete(..)]));
    assert_eq!(screen.ask("\x1b"), [Wanted::Cancel]);
    screen.removed(Removed { is_cancelled: true, ..Removed::default() });
    assert!(matches!(screen.ask("u")[..], [Wanted::Undo(_)]));
    // Once.
    assert_eq!(screen.ask("u"), []);
    assert_eq!(screen.ask("q"), [Wanted::Cancel]);
}

#[test]
fn a_delete_after_a_cancelled_one_is_waited_for() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+b\n");
    for last in ["\x1b", "q"] {
        screen.press("dD1");
        assert!(matches!(screen.ask("\n")[..], [Wanted::Delete(..)]));
        assert_eq!(screen.ask(last), [Wanted::Cancel]);
        screen.removed(Removed { is_cancelled: true, ..Removed::default() });
    }
}

/// The list of what was kept took the place of a pattern that was being typed. The letters that followed closed it and
/// acted on the list.
#[test]
fn a_pattern_can_be_typed_to_its_end() {
    for question in ["+", "f", "/"] {
        let fixture = fixture();
        let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
        screen.press("nkkkk↓ dD1");
        assert!(matches!(screen.ask("\n")[..], [Wanted::Delete(..)]));
        screen.ask(&format!("U{question}q"));
        let why = io::Error::other("of a reason");
        let left = vec![Problem::new(b"tree/b".to_vec(), Operation::Remove, &why)];
        screen.removed(Removed { left, ..Removed::default() });
        screen.press("qAp");
        assert_eq!(screen.marks(), 0, "{question}");
        let shown = screen.resize((100, 22)).screen();
        assert!(shown.contains("qqAp"), "{question} {shown}");
        screen.press("\n");
        let shown = screen.resize((100, 22)).screen();
        assert!(shown.contains("cannot remove tree/b: of a reason"), "{question} {shown}");
        screen.press("q");
        let shown = screen.resize((100, 22)).screen();
        assert!(!shown.contains("of a reason"), "{question} {shown}");
    }
}

/// A directory that stays where weigh had moved it was "kept". Where it is came last, and the status was 0.
#[test]
fn what_stays_under_another_name_is_said_first() {
    for keys in ["D3\n", "t"] {
        let fixture = Fixture::new().file("tree/a/one", 30_000).file("tree/a/two", 20_000);
        let fixture = fixture.file("tree/z", 10).dir("home");
        let (tree, home) = (fixture.at("tree"), fixture.at("home"));
        let mut screen = at(&tree, &home).open();
        screen.press(" d");
        let (last, _) = keys.char_indices().last().unwrap();
        screen.press(&keys[..last]).ask(&keys[last..]);
        let mut moved = None;
        let removal = screen.pending();
        screen.remove(removal, |_, event| {
            if let (RemovalEvent::Before { step: RemovalStep::LookAgain, .. }, None) =
                (event, &moved)
            {
                let hidden = fixture.names("tree").into_iter().find(|it| it.starts_with(".weigh-"));
                let at = match hidden {
                    Some(hidden) => tree.join(hidden).join("a"),
                    None => home.join(".local/share/Trash/files/a"),
                };
                // A build that goes on makes its directory again, and writes into the one it has open.
                fs::create_dir(tree.join("a")).unwrap();
                if keys == "t" {
                    // Into the trash, it may take along what is new.
                    fs::rename(&at, fixture.at("elsewhere")).unwrap();
                    fs::create_dir(&at).unwrap();
                }
                fs::write(at.join("new"), "of the build").unwrap();
                moved = Some(at);
            }
            ControlFlow::Continue(())
        });
        let at = moved.unwrap();
        assert!(at.join("new").exists() && fixture.names("tree/a").is_empty());
        let said = screen.said().to_owned();
        assert!(said.starts_with(&format!("left behind: {}", at.display())), "{said}");
        assert!(!said.contains("kept"), "{said}");
        let first = screen.kept()[0].clone();
        let expected = format!("cannot put back {}: something else has its name now", at.display());
        assert!(first.starts_with(&expected), "{first}");
        // It is said once more at the end, also if what came later was done.
        screen.press("q+z\ndD1\n");
        assert!(screen.said().starts_with("1 deleted"), "{}", screen.said());
        let (has_failed, left) = screen.failed();
        assert!(has_failed && left[0] == first, "{left:?}");
    }
}

/// An undo that `q` or Esc ended did not say what stays in the trash.
#[test]
fn an_undo_that_ends_early_says_what_stays_in_the_trash() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+b\n+c\ndt");
    fs::write(fixture.at("tree/c"), "another").unwrap();
    fs::write(fixture.at("tree/b"), "another").unwrap();
    assert!(screen.hurry("u").end_removal());
    let kept = screen.kept();
    assert_eq!(kept.len(), 2, "{kept:?}");
    for (kept, name) in kept.iter().zip(["b", "c"]) {
        let start = format!("cannot put back {}: ", fixture.at("tree").join(name).display());
        assert!(kept.starts_with(&start), "{kept}");
    }
}

/// An undo said neither that it could not be logged, nor, for several entries, why the second one was not put back.
#[test]
fn an_undo_shows_every_reason_and_that_it_is_not_logged() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    let shown = |screen: &mut Session| screen.resize((200, 22)).screen();
    screen.press("+b\n+c\ndt");
    for name in ["tree/b", "tree/c"] {
        fs::write(fixture.at(name), "another").unwrap();
    }
    screen.press("u");
    let kept = shown(&mut screen);
    for name in ["tree/b", "tree/c"] {
        let start = format!("cannot put back {}: something else", fixture.at(name).display());
        assert!(kept.contains(&start), "{kept}");
        fs::remove_file(fixture.at(name)).unwrap();
    }
    let log = fixture.at("home/.local/state/weigh/deleted.ndjson");
    fs::rename(&log, fixture.at("log")).unwrap();
    fs::create_dir(&log).unwrap();
    screen.press("qu");
    assert_eq!(screen.said(), "2 put back");
    let reason = format!("cannot save {}: it is not a regular file", log.display());
    assert_eq!(shown(&mut screen).matches(&reason).count(), 1, "{}", shown(&mut screen));
}

/// What `+ignored` marks in `top`, without what is still to be there.
fn left_by_ignored(screen: &mut Session, top: &Path) -> Vec<String> {
    screen.press("+ignored\n");
    let marked = screen.marked();
    let mut left = listed(top);
    left.retain(|path| !marked.iter().any(|marked| top.join(path).starts_with(marked)));
    left
}

/// The mark of an ignored directory covered a repository in it, which nothing else may have: `git clean -X` spares it.
#[test]
fn what_is_marked_as_ignored_is_what_git_would_remove() {
    for seed in 0..rounds(30, 1_000) as u64 {
        let (mut dice, mut fixture) = (Dice::new(seed), Fixture::new().dir("home"));
        let mut repositories = vec!["tree".to_owned()];
        let (mut directories, mut is_exact) = (repositories.clone(), true);
        for number in 0..6 {
            let around = dice.of(&directories).clone();
            let name = ["build", "src", "out"][number % 3];
            directories.push(format!("{around}/{name}{}", dice.below(2)));
        }
        for directory in &directories {
            fixture = fixture.dir(directory);
            for name in ["a.o", "b.c"] {
                if dice.below(3) > 0 {
                    fixture = fixture.file(format!("{directory}/{name}"), 10);
                }
            }
        }
        for (number, directory) in directories.iter().enumerate() {
            let kind = if number == 0 { 0 } else { dice.below(8) };
            let apart = fixture.at("home").join(number.to_string());
            let args: &[&str] = match kind {
                0 => &["init", "-q"],
                1 => &["init", "-q", "--separate-git-dir", apart.to_str().unwrap()],
                2 => &["init", "-q", "--bare"],
                _ => continue,
            };
            git(&fixture, &fixture.at(directory), args);
            match kind {
                2 => is_exact = false,
                _ => repositories.push(directory.clone()),
            }
            if dice.below(2) == 0 || number == 0 {
                let rules = dice.of(&["build?\n", "*.o\n", "src0/\n", "out1/\n*.o\n", "/src?/\n"]);
                fs::write(fixture.at(directory).join(".gitignore"), rules).unwrap();
            }
        }
        let top = fixture.at("tree");
        let mut screen = at(&top, &fixture.at("home")).open();
        let by_weigh = left_by_ignored(&mut screen, &top);
        let mut screen = at(&top, &fixture.at("home")).never(br"/\.git(/|$)").open();
        let by_filtered = left_by_ignored(&mut screen, &top);
        // Git is run in each repository that it does not ignore.
        repositories.sort();
        repositories.dedup();
        let mut ignored: Vec<String> = Vec::new();
        for repository in &repositories[1..] {
            let around = |other: &&String| repository.starts_with(&format!("{other}/"));
            let outer = repositories.iter().filter(around).max_by_key(|other| other.len()).unwrap();
            let is_ignored = || {
                let mut git = std::process::Command::new("git");
                git.args(["check-ignore", "-q", &repository[outer.len() + 1..]]);
                git.current_dir(fixture.at(outer)).status().unwrap().success()
            };
            if ignored.contains(outer) || is_ignored() {
                ignored.push(repository.clone());
            }
        }
        for repository in repositories.iter().filter(|it| !ignored.contains(it)) {
            git(&fixture, &fixture.at(repository), &["clean", "-fdXq"]);
        }
        let by_git = listed(&top);
        let lost = |left: &[String]| -> Vec<String> {
            by_git.iter().filter(|path| !left.contains(path)).cloned().collect()
        };
        assert_eq!(lost(&by_weigh), Vec::<String>::new(), "{seed} {directories:?}");
        // A directory with nothing but what is filtered is marked, but stays when it is to be removed. Git also removes
        // directories that become empty.
        let files = |left: &[String]| -> Vec<String> {
            left.iter().filter(|it| it.ends_with(".o") || it.ends_with(".c")).cloned().collect()
        };
        assert_eq!(files(&lost(&by_filtered)), Vec::<String>::new(), "{seed} {directories:?}");
        if is_exact {
            assert_eq!(files(&by_weigh), files(&by_git), "{seed} {directories:?}");
        }
    }
}

/// What could not be read may be a repository.
#[test]
fn what_was_not_read_is_not_marked_as_ignored() {
    let files: [(&[u8], &str); 3] =
        [(b".gitignore", "out\n"), (b"a/out/x/y", "1"), (b"out/y", "2")];
    let fixture = checkout(Fixture::new(), "tree", &files);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    let denied = io::ErrorKind::PermissionDenied;
    screen.scan_all_but(fixture.at("tree/a/out/x"), Operation::Open, denied);
    screen.press("+ignored\n");
    let marked = screen.marked();
    assert_eq!(marked, [fixture.at("tree/a/out/x/y"), fixture.at("tree/out")]);
    assert!(screen.said().contains("; not all: a repository may be in it"), "{}", screen.said());
}

/// Where git's index cannot be read, weigh marked what git tracks.
#[test]
fn nothing_is_marked_as_ignored_where_git_may_track_it() {
    let files: [(&[u8], &str); 2] = [(b".gitignore", "*.o\n"), (b"x.o", "one")];
    let fixture = checkout(Fixture::new(), "tree", &files);
    git(&fixture, &fixture.at("tree"), &["add", "-f", "x.o"]);
    git(&fixture, &fixture.at("tree"), &["update-index", "--split-index"]);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+ignored\n");
    assert!(screen.said().starts_with("nothing marked: cannot "), "{}", screen.said());
    assert_eq!(screen.marks(), 0);
}

/// Rules above the directory that could not be read were taken for none, without a word.
#[test]
fn nothing_is_marked_as_ignored_where_rules_above_cannot_be_read() {
    let files: [(&[u8], &str); 3] =
        [(b".gitignore", "*.o\n"), (b"a/.gitignore", "!x.o\n"), (b"a/b/x.o", "one")];
    let fixture = checkout(Fixture::new(), "tree", &files);
    let mut screen = at(&fixture.at("tree/a/b"), &fixture.at("home")).open();
    screen.press("+ignored\n");
    assert_eq!(screen.said(), "nothing marked that git ignores");
    let rules = fs::File::options().write(true).open(fixture.at("tree/a/.gitignore")).unwrap();
    rules.set_len(200 << 20).unwrap();
    screen.press("+ignored\n");
    assert!(screen.said().starts_with("nothing marked: cannot read "), "{}", screen.said());
    assert_eq!(screen.marks(), 0);
}

/// A file that the first scan could not examine is known to be one of those that cannot be read. Rules and the index
/// are none of these: without them, what git tracks was marked.
#[test]
fn nothing_is_marked_as_ignored_where_rules_could_never_be_read() {
    let files: [(&[u8], &str); 4] =
        [(b".gitignore", "*.o\n"), (b"x.o", "1"), (b"a/.gitignore", "!y.o\n"), (b"a/y.o", "2")];
    for broken in ["a/.gitignore", ".git/index"] {
        let fixture = checkout(Fixture::new(), "tree", &files);
        git(&fixture, &fixture.at("tree"), &["add", "-f", "x.o"]);
        let broken = fixture.at("tree").join(broken);
        let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
        screen.scan_all_but(&broken, Operation::Stat, io::ErrorKind::Other);
        fs::File::create(&broken).unwrap().set_len(200 << 20).unwrap();
        screen.press("+ignored\n");
        assert!(screen.said().starts_with("nothing marked: cannot read "), "{}", screen.said());
        assert_eq!(screen.marks(), 0);
    }
}

/// What looks like a repository may be one that cannot be read: then nobody knows what it tracks.
#[test]
fn what_may_be_a_repository_is_not_marked_as_ignored() {
    let files: [(&[u8], &str); 3] =
        [(b".gitignore", "*.o\n"), (b"sub/deep/x.o", "one"), (b"y.o", "two")];
    let fixture = checkout(Fixture::new(), "tree", &files);
    fs::create_dir(fixture.at("tree/sub/.git")).unwrap();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+ignored\n");
    assert_eq!(screen.marked(), [fixture.at("tree/y.o")]);
}

/// Other scans of a part, and of what git ignores, were remembered. They replaced the one of everything.
#[test]
fn only_a_scan_of_everything_is_remembered() {
    let files: [(&[u8], &str); 3] = [(b".gitignore", "*.o\n"), (b"sub/x.o", "one"), (b"y", "two")];
    let fixture = checkout(Fixture::new(), "tree", &files);
    let tree = at(&fixture.at("tree"), &fixture.at("home")).remember(fixture.at("home/kept"));
    let mut screen = tree.open();
    let kept = listed(&fixture.at("home/kept"));
    let content = |path: &String| fs::read(fixture.at("home/kept").join(path)).ok();
    let before: Vec<_> = kept.iter().map(content).collect();
    assert!(before.iter().flatten().count() > 0);
    screen.press("+ignored\n");
    assert_eq!(screen.said(), "1 marked that git ignores");
    screen.press("n→rdD1\n");
    assert_eq!(listed(&fixture.at("home/kept")), kept);
    assert_eq!(kept.iter().map(content).collect::<Vec<_>>(), before);
}

/// What is remembered may replace the snapshot that it was compared with. Then `r` could not load that.
#[test]
fn what_is_scanned_again_is_compared_with_the_same_snapshot() {
    let fixture = fixture();
    let (root, saved) = (fixture.at("tree"), fixture.at("saved.weigh"));
    weigh("--save").arg(&saved).arg(&root).run().clean();
    fs::write(root.join("new"), [0; 50_000]).unwrap();
    let mut screen = at(&root, &fixture.at("home")).since(&saved).open();
    fs::remove_file(saved).unwrap();
    fs::write(root.join("newer"), [0; 50_000]).unwrap();
    screen.press("~r");
    let shown = screen.resize((100, 22)).screen();
    assert!(shown.contains("+104Ki since "), "{shown}");
}

/// What could not be read may be large and new: `<1M` and `older 1d` marked its directory.
#[test]
fn what_was_not_read_is_neither_small_nor_old() {
    let fixture = fixture();
    for path in ["a/one", "a/two", "a", "b", "c", "d"] {
        let file = fs::File::open(fixture.at("tree").join(path)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    for (pattern, marked) in [("<1M", 2), ("older 1d", 2), ("*", 4), ("older 1y", 2)] {
        let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
        screen.press(&format!("+{pattern}\n"));
        assert_eq!(screen.marks(), 4, "{pattern}");
        screen.scan_some();
        screen.press(&format!("U+{pattern}\n"));
        assert_eq!(screen.marks(), marked, "{pattern}");
        let says_why = screen.said() == "2 marked; not all: not all of it was read";
        assert_eq!(says_why, marked == 2, "{pattern} {}", screen.said());
    }
}

/// The content of a cache stays with --exclude-caches, but the tag went. Then nothing says that it is a cache.
#[test]
fn the_tag_of_a_cache_stays_with_its_content() {
    let fixture = Fixture::new().dir("home").file("tree/p/target/debug/x", 9_000);
    let fixture = fixture.file("tree/p/src/a", 10).file("tree/p/target/CACHEDIR.TAG", 0);
    let tag = fixture.at("tree/p/target/CACHEDIR.TAG");
    fs::write(&tag, "Signature: 8a477f597d28d172789f06886806bc55").unwrap();
    for root in ["tree", "tree/p"] {
        let tree = at(&fixture.at(root), &fixture.at("home"));
        let mut screen = tree.exclude_caches().open();
        screen.press("AdD");
        let entries = screen.asked_entries().unwrap();
        screen.press(&format!("{entries}\n"));
        let kept = screen.reasons();
        assert!(kept.iter().any(|kept| kept.contains("it marks a cache")), "{kept:?}");
        assert!(tag.exists() && fixture.at("tree/p/target/debug/x").exists());
        assert!(!fixture.at("tree/p/src").exists());
    }
}

/// The same, where what stays is deeper in the cache.
#[test]
fn the_tag_of_a_cache_stays_with_what_is_deep_in_it() {
    let tag = "tree/p/target/CACHEDIR.TAG";
    let fixture = Fixture::new().dir("home").file(tag, 43).file("tree/p/target/a/b/x.o", 10);
    let fixture = fixture.file("tree/p/target/a/y", 10).file("tree/p/all/CACHEDIR.TAG", 43);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).never(br"\.o$").open();
    screen.press("AdD");
    let entries = screen.asked_entries().unwrap();
    screen.press(&format!("{entries}\n"));
    let kept = listed(&fixture.at("tree/p"));
    assert_eq!(kept, ["target", "target/CACHEDIR.TAG", "target/a", "target/a/b", "target/a/b/x.o"]);
}

/// Without a mark, `d` is about the chosen line, which has no mark before or after.
#[test]
fn without_marks_the_chosen_line_is_deleted() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("nkkkk↓d");
    assert_eq!(screen.marked(), [fixture.at("tree/b")]);
    screen.press("\x1b");
    assert_eq!(screen.marks(), 0, "it was marked only for the review");
    screen.press("dD\x1b");
    assert_eq!(screen.marks(), 0);
    // The first number is wrong, and it asks again.
    screen.press("dD2\n1\n");
    assert_eq!(screen.said(), "1 deleted, 1 entry");
    screen.check("deleted");
    assert_eq!(listed(&fixture.at("tree")), ["a", "a/one", "a/two", "c", "d", "d/one"]);
    // What must not be deleted is not.
    fs::write(fixture.at("home/file"), "").unwrap();
    let mut screen = at(&fixture.at(""), &fixture.at("home")).open();
    screen.press("nkkkkd");
    assert_eq!(screen.said(), "not to be removed: home: it is your home directory");
    screen.press("D1\nt");
    assert!(fixture.at("home").exists());
}

/// In the review, a mark can be taken away; what goes then is what is left.
#[test]
fn marks_are_taken_away_in_the_review() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("Ad");
    let shown = screen.resize((100, 22)).screen();
    let sizes = ["/tree/c", "/tree/a/", "/tree/b", "/tree/d/"].map(|it| shown.find(it).unwrap());
    assert!(sizes.is_sorted(), "the largest first: {shown}");
    // The second, and the last.
    screen.press("↓ ↓↓ ");
    assert_eq!(screen.marked(), ["b", "c"].map(|name| fixture.at("tree").join(name)));
    screen.press("D2\n");
    let kept = ["a", "a/one", "a/two", "d", "d/one"];
    assert_eq!(listed(&fixture.at("tree")), kept);
    screen.check("deleted");
    screen.press("Ad  ");
    assert_eq!((screen.said(), screen.marks()), ("nothing is marked any more", 0));
    screen.press("t");
    assert_eq!(listed(&fixture.at("tree")), kept);
}

/// A long reason was cut at the width of the screen.
#[test]
fn all_of_why_something_is_kept_can_be_read() {
    let (fixture, long) =
        (Fixture::new().file("tree/a/b", 5).dir("home"), "long ".repeat(29) + "long");
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("d");
    for i in 0..9 {
        fs::write(fixture.at(format!("tree/a/{i}{long}")), "").unwrap();
    }
    screen.press("D2\n");
    let mut shown = |keys: &str, height: u16| {
        screen.press(keys);
        let lines = screen.resize((40, height)).screen();
        let text: Vec<_> = lines.lines().skip(1).take(usize::from(height) - 2).collect();
        text.concat().replace(' ', "")
    };
    let all = shown("", 40);
    assert!(all.contains("cannotremove") && all.contains("/tree/a:itcontainsentries"), "{all}");
    assert!(all.ends_with("longlong,…"), "{all}");
    let (top, end) = (shown("", 8), shown("G", 8));
    assert!(all.contains(&top) && all.ends_with(&end), "{top} {end}");
    assert_ne!(shown("kkk", 8), end);
}

/// The review said what removing frees, and by which keys, where all of it had changed since the scan.
#[test]
fn a_review_promises_nothing_that_it_refuses() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    // Marks b and c.
    screen.press("n+b\n+c\n");
    assert_eq!(screen.marks(), 2);
    let promises = ["frees", "moves them into the trash", "deletes them for ever"];
    for (changed, said, is_some_left) in [
        ("tree/b", "1 of them cannot be removed, and is left out", true),
        ("tree/c", "none of them can be removed", false),
    ] {
        fs::write(fixture.at(changed), "now it is short").unwrap();
        screen.press("d");
        let shown = screen.resize((100, 22)).screen();
        assert!(shown.contains(said), "{shown}");
        // The head of the column stays.
        let text = shown.replace(" frees ", " ");
        let found = promises.map(|promise| text.contains(promise));
        assert_eq!(found, [false, is_some_left, is_some_left], "{shown}");
        assert_eq!(shown.contains("t trash"), is_some_left, "{shown}");
        screen.press("q");
    }
}

/// A review that was opened during a removal listed what was gone, without names, and offered to remove it.
#[test]
fn a_review_ends_when_something_is_removed() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("n+b\n+c\ndD2");
    // Before anything of the removal is known.
    assert!(screen.hurry("\nd").is_removing());
    screen.press("");
    let shown = screen.resize((100, 22)).screen();
    assert!(!shown.contains("together"), "{shown}");
    assert_eq!(listed(&fixture.at("tree")), ["a", "a/one", "a/two", "d", "d/one"]);
}

/// Until the end of the removal, it would show other entries in place of what is gone, and its keys would act on them.
#[test]
fn a_review_ends_when_the_screen_follows_a_removal() {
    let fixture = fixture();
    let home = fixture.at("home");
    let mut screen = at(&fixture.at("tree"), &home).open();
    screen.press("+b\n+c\ndD2");
    screen.ask("\n");
    let removal = screen.pending();
    screen.ask("d");
    screen.remove(removal, |screen, event| {
        if let RemovalEvent::Done { target, .. } = event {
            let shown = screen.resize((100, 22)).screen();
            assert_eq!(shown.contains("together"), target == 0, "{shown}");
            screen.follow();
            let shown = screen.screen();
            assert!(!shown.contains("together"), "{shown}");
            if target == 0 {
                assert_eq!(screen.said(), "the scan has changed: review the marks again");
            }
        }
        ControlFlow::Continue(())
    });
    assert_eq!(listed(&fixture.at("tree")), ["a", "a/one", "a/two", "d", "d/one"]);
}

/// A review that was opened during other work stayed after it: what that marked counted in it but had no line, and its
/// keys were offered and removed nothing.
#[test]
fn a_review_ends_with_the_work_during_which_it_was_opened() {
    let during = |screen: &mut Session, key: &str| {
        let shown = screen.hurry(key).hurry("d").resize((100, 22)).screen();
        assert!(shown.contains("deleting is off while weigh does something else"), "{shown}");
        screen.press("");
    };
    let files: [(&[u8], &str); 3] = [(b".gitignore", "*.o\n"), (b"x.o", "one"), (b"y", "two")];
    let fixture = checkout(Fixture::new(), "tree", &files);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+y\n+ignored");
    during(&mut screen, "\n");
    assert_eq!(screen.said(), "1 marked that git ignores");
    screen.press("dD2\n");
    assert_eq!(screen.said(), "2 deleted, 2 entries");
    // Nothing is put back, so nothing is scanned again.
    let fixture = self::fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+b\ndt+c\n");
    fs::write(fixture.at("tree/b"), "another").unwrap();
    during(&mut screen, "u");
    assert!(screen.said().starts_with("not put back: "), "{}", screen.said());
    screen.press("dD1\n");
    assert_eq!(screen.said(), "1 deleted, 1 entry");
}

/// They would be taken for those of what is marked now.
#[test]
fn the_results_of_an_earlier_review_are_ignored() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    let mut looks = Vec::new();
    // The first review ends when its only mark is taken away.
    for keys in ["+b\nd", " +c\nd"] {
        for key in keys.chars() {
            screen.ask(key.encode_utf8(&mut [0; 4]));
            looks.push(screen.pending());
        }
    }
    looks.retain(|look| !look.is_empty());
    assert_eq!(looks.len(), 2);
    for (look, entries) in looks.into_iter().zip([None, Some(1)]) {
        screen.look(look);
        screen.ask("D");
        assert_eq!(screen.asked_entries(), entries);
    }
    screen.press("1\n");
    assert!(fixture.at("tree/b").exists() && !fixture.at("tree/c").exists());
}

/// The review said what removing frees, and by which keys, until all was looked at, even if none was to be.
#[test]
fn a_review_promises_nothing_that_is_refused_at_once() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open_unprotected();
    let reviewed = |screen: &mut Session| {
        screen.ask("qAd");
        screen.resize((100, 22)).screen()
    };
    let shown = reviewed(&mut screen);
    assert!(shown.contains("none of them can be removed"), "{shown}");
    assert!(!shown.contains("removing them frees") && !shown.contains("t trash"), "{shown}");
    screen.protect(&[fixture.at("tree/a")]);
    let shown = reviewed(&mut screen);
    assert!(shown.contains("1 of them cannot be removed, and is left out"), "{shown}");
    assert!(shown.contains("checking again") && shown.contains("t trash"), "{shown}");
    assert!(!shown.contains("removing them frees"), "{shown}");
}

/// The trash can be looked at, and one entry put back; `u` puts back what is left of the last batch.
#[test]
fn one_of_the_trash_is_put_back() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("nkkkk↓dt↑  dt");
    assert_eq!(listed(&fixture.at("tree")), ["d", "d/one"]);
    screen.press("z");
    let shown = screen.resize((100, 22)).screen();
    assert_eq!(shown.matches("/tree/").count(), 3, "{shown}");
    // The last is first: the one below it was in the same batch, the one below that is b.
    screen.press("↓↓\n");
    assert_eq!(listed(&fixture.at("tree")), ["b", "d", "d/one"]);
    screen.check("one is back");
    screen.press("u");
    assert_eq!(screen.said(), "2 put back");
    assert_eq!(listed(&fixture.at("tree")).len(), 7);
    screen.press("u");
    assert!(screen.said().starts_with("this session put nothing in the trash"));
}

/// The line that was chosen became another one when the one above it was put back.
#[test]
fn the_trash_is_not_listed_while_it_changes() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("dtdtdtr");
    let left = listed(&fixture.at("tree"));
    // Each is typed before the undo has been heard of.
    screen.hurry("uz↓").press("\n");
    let back: Vec<_> =
        listed(&fixture.at("tree")).into_iter().filter(|path| !left.contains(path)).collect();
    assert_eq!(back.len(), 1, "{back:?}");
}

/// What is protected is found out during the scan. A review that was opened before refused everything, and stayed.
#[test]
fn a_review_is_made_anew_once_it_is_known_what_is_protected() {
    let fixture = fixture();
    let (root, home) = (fixture.at("tree"), fixture.at("home"));
    let mut screen = at(&root, &home).open();
    screen.forget_protected();
    screen.press(" d");
    assert_eq!(screen.asked_entries(), None);
    screen.protect(&[home]);
    screen.press("D");
    assert_eq!(screen.asked_entries(), Some(1));
}

/// What was marked before that was known stayed marked, and was refused only by the review.
#[test]
fn what_must_not_be_marked_loses_its_mark_once_that_is_known() {
    let fixture = fixture();
    let root = fixture.at("tree");
    let mut screen = at(&root, &fixture.at("home")).open();
    screen.forget_protected();
    screen.press("A");
    assert_eq!(screen.marks(), 4);
    screen.protect(&[fixture.at("tree/a")]);
    assert_eq!(screen.marks(), 3);
    assert_eq!(screen.said(), "marks lost: 1 (gone, changed, or not to be marked)");
}

/// After such a review of a line, the line stayed marked.
#[test]
fn a_line_whose_review_is_made_anew_has_no_mark_afterwards() {
    let fixture = fixture();
    let (root, home) = (fixture.at("tree"), fixture.at("home"));
    let mut screen = at(&root, &home).open();
    screen.forget_protected();
    screen.press("d");
    screen.protect(&[home]);
    screen.press("D");
    assert_eq!(screen.asked_entries(), Some(1));
    screen.press("\x1b");
    assert_eq!(screen.marks(), 0);
}

/// What was written again or removed by others stayed in the list as it had been scanned.
#[test]
fn what_is_kept_because_it_changed_is_listed_as_it_is() {
    let fixture = fixture().file("tree/e/x", 100).file("tree/e/y", 100);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+b\ndD");
    fs::write(fixture.at("tree/b"), [0; 90_000]).unwrap();
    screen.press("1\n\x1b");
    assert_eq!(screen.kept().len(), 1);
    screen.check("changed");
    screen.press("n↑↑↑↑↑↓↓↓↓→AdD");
    fs::remove_file(fixture.at("tree/e/x")).unwrap();
    fs::write(fixture.at("tree/e/y"), [0; 50_000]).unwrap();
    screen.press("2\n\x1b");
    assert_eq!(screen.kept().len(), 2);
    screen.check("removed");
}

/// So did a file that was removed by others, if nothing else in its directory was kept.
#[test]
fn what_others_have_removed_is_not_listed() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+b\nd");
    fs::remove_file(fixture.at("tree/b")).unwrap();
    screen.press("t");
    assert_eq!(screen.kept().len(), 1);
    screen.check("gone");
}

/// The path to the trash and the log may lead through a symlink: then neither was listed anew.
#[test]
fn what_is_put_in_a_trash_behind_a_symlink_is_listed() {
    let fixture = fixture().dir("tree/me").symlink("tree/me", "link");
    let mut screen = at(&fixture.at("tree"), &fixture.at("link")).open();
    screen.press("+b\ndt");
    assert!(fixture.at("tree/me/.local/share/Trash/files/b").exists());
    screen.check("in the trash");
    screen.press("u");
    screen.check("put back");
    screen.press("+c\ndD1\n");
    assert!(fixture.at("tree/me/.local/state/weigh").exists());
    screen.check("deleted");
}

/// The trash may be in the inner one of two roots: then it depended on chance whether it was listed.
#[test]
#[ignore = "mounts a tmpfs"]
fn what_is_put_in_the_trash_of_an_inner_root_is_listed() {
    let outer = Mounted::tmpfs();
    let at = outer.path().join("m/home");
    fs::create_dir_all(&at).unwrap();
    let place = Mounted::tmpfs_at(&at);
    let file = place.path().join("docs/big");
    fs::create_dir(place.path().join("docs")).unwrap();
    for _ in 0..8 {
        let _ = fs::remove_dir_all(place.path().join(".local"));
        fs::write(&file, [0; 90_000]).unwrap();
        let roots = session::of([outer.path(), place.path()]).one_file_system();
        let mut screen = roots.home(place.path()).open();
        screen.press("/big\n");
        screen.press("dt");
        assert!(!file.exists(), "{}", screen.said());
        screen.check("in the trash");
    }
}

/// A directory that has become a symlink showed what the symlink leads to, as if that were in the tree.
#[test]
fn a_directory_that_is_a_symlink_now_is_not_entered() {
    let fixture = fixture().file("tree/e/x", 100).file("elsewhere/secret", 90_000);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("n↑↑↑↑↑↓↓↓↓→");
    fs::rename(fixture.at("tree/e"), fixture.at("moved")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", fixture.at("tree/e")).unwrap();
    screen.press("r");
    screen.check("a symlink");
}

/// With --df, the space that is available stayed as it was before the delete.
#[test]
#[ignore = "mounts a tmpfs"]
fn after_a_delete_the_available_space_is_what_it_is_now() {
    let place = Mounted::tmpfs();
    let home = Fixture::new().dir("home");
    fs::create_dir(place.path().join("d")).unwrap();
    fs::write(place.path().join("d/big"), vec![0; 50 << 20]).unwrap();
    let mut screen = at(place.path(), &home.at("home")).df().open();
    let available = |screen: &mut Session| {
        let head = screen.resize((100, 22)).screen();
        let (before, _) = head.lines().nth(1).unwrap().split_once(" available").unwrap();
        before.rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(available(&mut screen), "206Mi");
    fs::write(place.path().join("d/other"), vec![0; 20 << 20]).unwrap();
    screen.press("→r");
    assert_eq!(available(&mut screen), "186Mi");
    screen.press("dD1\n");
    assert_eq!(available(&mut screen), "236Mi");
}

/// One key marks all links, wherever they are; removing them frees the inode.
#[test]
fn all_links_are_marked_by_one_key() {
    let fixture = fixture().hard_link("tree/a/one", "tree/e");
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("nkkkk↓↓↓↓H");
    assert_eq!(screen.said(), "3 marked of its links");
    let (size, entries) = screen.marked_size().unwrap();
    assert_eq!((entries, screen.frees()[1]), (3, size));
    screen.press("dD3\n");
    assert_eq!(listed(&fixture.at("tree")), ["a", "a/two", "b", "c", "d"]);
    screen.check("deleted");
}

/// No more than 10,000 links are found at once.
#[test]
fn links_that_are_not_marked_are_said_to_be_there() {
    let fixture = Fixture::in_memory().dir("home").file("tree/one", 1);
    let fixture = (0..10_000).fold(fixture, |it, i| it.hard_link("tree/one", format!("tree/{i}")));
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("H");
    assert_eq!(screen.said(), "10,000 marked of its links; it has more");
}

/// All that can be done, in any order, with newcomers in what is being deleted. In `place`, if that is a file system of
/// its own, what is freed is held against what was said. How often it deleted, and put in the trash.
fn sequence(place: Option<&Mounted>, seed: u64) -> (u64, u64) {
    let mut dice = Dice::new(seed);
    let fixture = dice.tree(
        place.map_or_else(Fixture::in_memory, |place| Fixture::within(place.path())),
        Names::Hostile,
    );
    // The log, and perhaps the trash, are in what is scanned.
    let is_home_in = place.is_none() && dice.below(3) == 0;
    let elsewhere = Fixture::in_memory().dir("home");
    let home = if is_home_in { fixture.at("home") } else { elsewhere.at("home") };
    fs::create_dir_all(&home).unwrap();
    let root = fixture.at(if is_home_in { "" } else { "tree" });
    let mut roots = vec![root];
    if dice.below(3) == 0 {
        // One root lies in the other, or several are side by side.
        let inside = fs::read_dir(&roots[0]).unwrap().map(|entry| entry.unwrap().path());
        roots.extend(inside);
        let first = dice.below(2);
        roots.drain(..first);
    }
    let mut setup = session::of(&roots).home(&home);
    if dice.below(3) == 0 {
        setup = setup.times_of_change();
    }
    let mut screen = setup.open();
    let (mut deleted, mut trashed) = (0, 0);
    for step in 0..3 + dice.below(5) {
        let what = format!("seed {seed}, step {step}");
        for _ in 0..dice.below(40) {
            let keys = ["↓", "↓", "↓", "↑", "→", "→", "h", " ", " ", "n", "s", "\t"];
            screen.press(dice.of::<&str>(&keys));
        }
        let before = place.map(Mounted::free);
        match dice.below(8) {
            0 => {
                screen.press("dt");
                trashed += u64::from(screen.said().contains("in the trash"));
            }
            number @ 1..4 => drop(screen.press(["u", "r", "U"][number - 1])),
            _ => {
                screen.press("d");
                // If nothing was marked, the line is.
                let marked = screen.marked();
                let [least, freed] = screen.frees();
                assert_eq!(least, freed, "{what}: {marked:?}");
                let mut is_new = false;
                if dice.below(3) == 0 && !marked.is_empty() {
                    // Somebody makes something where nobody has looked.
                    let mut at = dice.of(&marked).clone();
                    while at.is_dir() {
                        is_new |= fs::write(at.join("new"), [b'n'; 9_000]).is_ok();
                        let mut below =
                            fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path());
                        let Some(next) = below.find(|path| path.is_dir()) else { break };
                        at = next;
                    }
                }
                screen.press("D");
                if let Some(entries) = screen.asked_entries() {
                    screen.press(&entries.to_string());
                    let is_cancelled = !is_new && dice.below(4) == 0;
                    if is_cancelled {
                        screen.hurry("\n");
                        std::thread::sleep(Duration::from_micros(dice.below(1_000) as u64));
                        screen.hurry("\x1b");
                    }
                    screen.press(if is_cancelled { "" } else { "\n" });
                    deleted += u64::from(screen.said().contains(" deleted"));
                    // What is scanned again after it may lose a mark on what was kept, and then says that instead.
                    // An info file of the trash, which may be marked, goes with its entry.
                    let is_trash = |path: &PathBuf| {
                        path.as_os_str().as_bytes().windows(12).any(|it| it == b"/Trash/files")
                    };
                    let is_all = !is_new
                        && !is_cancelled
                        && !marked.iter().any(is_trash)
                        && !screen.said().contains("kept")
                        && !screen.said().contains("lost");
                    let gone = screen.said().replace(',', "");
                    let word = if entries == 1 { "entry" } else { "entries" };
                    let is_typed = gone.contains(&format!(" deleted {entries} {word}"));
                    assert!(is_typed || !is_all, "{what}: {entries} typed, {gone}");
                    if let (Some(place), Some(before), true) = (place, before, is_all) {
                        place.assert_free(before + freed, &format!("{what}: {marked:?}"));
                    }
                }
            }
        }
        screen.check(&what);
        // Whatever is asked or said.
        screen.press("\x1b\x1b");
    }
    (deleted, trashed)
}

fn sequences(place: Option<&Mounted>, seeds: std::ops::Range<u64>) {
    let (mut deleted, mut trashed) = (0, 0);
    for seed in seeds.clone() {
        let (more, others) = sequence(place, seed);
        if let Some(place) = place {
            // Emptied: it would fill what is a small file system.
            let _ = fs::remove_dir_all(place.path().join(".Trash-0"));
        }
        (deleted, trashed) = (deleted + more, trashed + others);
    }
    eprintln!("{} trees, {deleted} deletes, {trashed} times the trash", seeds.end - seeds.start);
    assert!(deleted > (seeds.end - seeds.start) / 4);
}

#[test]
fn after_each_delete_every_figure_is_that_of_a_fresh_scan() {
    sequences(None, 0..rounds(60, 2_000) as u64);
}

#[test]
#[ignore = "mounts a tmpfs"]
fn what_is_deleted_frees_what_was_said_on_tmpfs() {
    let place = Mounted::tmpfs();
    sequences(Some(&place), 10_000..10_000 + rounds(40, 2_000) as u64);
}

#[test]
#[ignore = "mounts an ext4 image"]
fn what_is_deleted_frees_what_was_said_on_ext4() {
    let place = Mounted::ext4();
    sequences(Some(&place), 20_000..20_000 + rounds(20, 500) as u64);
}

/// They were printed although they were gone, and something else could have their names by then.
#[test]
fn what_is_deleted_meanwhile_is_not_printed() {
    let fixture = Fixture::in_memory().dir("home").file("tree/a", 10).file("tree/b", 20);
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("AdD2");
    screen.hurry("\n");
    // Until then, one of them may be in a private directory, from which the first key would put it back.
    while fs::read_dir(fixture.at("tree")).unwrap().next().is_some() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // The state does not know yet what is gone. The first key waits for the removal, and the second does not.
    assert_eq!(screen.hurry("p").outside(), []);
    assert_eq!(screen.hurry("p").outside(), [Wanted::Print]);
    assert!(screen.end_removal());
    assert_eq!(screen.printed(), b"");
}

/// `p` during a removal ended after it, and printed nothing.
#[test]
fn what_is_marked_is_printed_after_a_removal() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).open();
    screen.press("+b\n+c\ndD2");
    assert!(matches!(screen.ask("\n")[..], [Wanted::Delete(..)]));
    assert_eq!(screen.ask("p"), [Wanted::Cancel]);
    screen.removed(Removed::default());
    assert_eq!(screen.outside(), [Wanted::Print]);
}

/// What was moved and put back has another time of change. That was taken for a change by somebody else.
#[test]
fn what_is_put_back_after_a_cancel_can_be_deleted_then() {
    for (name, entries, number) in [("b", 1, 1), ("a", 3, 1), ("a", 3, 2)] {
        let fixture = fixture();
        let home = fixture.at("home");
        let mut screen = at(&fixture.at("tree"), &home).times_of_change().open();
        // Times are shown in seconds.
        std::thread::sleep(Duration::from_millis(1_100));
        let keys = format!("+{name}\ndD{entries}\n");
        screen.cancel_at(&keys, RemovalStep::LookAgain, number);
        assert!(fixture.at("tree").join(name).exists());
        screen.check(name);
        screen.press(&format!("U{keys}"));
        let word = if entries == 1 { "entry" } else { "entries" };
        assert_eq!(screen.said(), format!("1 deleted, {entries} {word}"));
        screen.check(name);
    }
}

/// Marks on them were lost.
#[test]
fn marks_on_other_links_stay_after_a_cancel() {
    let fixture = fixture().hard_link("tree/a/one", "tree/e").hard_link("tree/a/one", "tree/f");
    let home = fixture.at("home");
    let mut screen = at(&fixture.at("tree"), &home).open();
    screen.cancel_at("+[ef]\ndD2\n", RemovalStep::LookAgain, 1);
    assert!(fixture.at("tree/e").exists() && fixture.at("tree/f").exists());
    assert_eq!(screen.marks(), 2, "{}", screen.said());
    screen.check("cancelled");
}

/// With the time of change (-m c), they kept the one from before.
#[test]
fn links_have_a_new_time_after_one_of_them_is_deleted() {
    let fixture = fixture();
    let mut screen = at(&fixture.at("tree"), &fixture.at("home")).times_of_change().open();
    std::thread::sleep(Duration::from_millis(1_100));
    screen.press("+d\ndD2\n");
    assert_eq!(screen.said(), "1 deleted, 2 entries");
    screen.check("deleted");
}

/// It was listed only if it was the one in the home directory.
#[test]
#[ignore = "mounts a tmpfs"]
fn a_trash_that_stays_empty_is_listed() {
    let (place, elsewhere) = (Mounted::tmpfs(), Fixture::in_memory().dir("home"));
    let _fixture = Fixture::within(place.path()).file("tree/b", 10_000);
    let home = elsewhere.at("home");
    let mut screen = at(place.path(), &home).open();
    screen.cancel_at("\t+b\ndt", RemovalStep::Move, 1);
    assert!(place.path().join(".Trash-0").exists());
    screen.check("cancelled");
}
