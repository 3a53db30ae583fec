//! A tracked file is not ignored, whatever the rules say: `--gitignore` and `--ignored` against git itself, on indexes
//! of every kind that git writes.

use std::fs;
use std::path::Path;

use crate::dice::Dice;
use crate::fixture::{Fixture, raw};
use crate::gitignore::{IGNORED, NOT_IGNORED, checkout, compare, git, listed, weighed};
use crate::rounds::{for_seeds, rounds};
use crate::run::weigh;

pub const COMMIT: &[&str] =
    &["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "m"];

/// Rules ignore nearly everything, but some files are tracked nevertheless, also in ignored directories. Names have all
/// lengths, so that entries of the index differ in their padding.
fn against_the_rules() -> Fixture {
    let rules = ("*.o\n/ign/\n/sub/*\n!/sub/in\n", "/sub/in/*\n");
    let mut fixture = checkout(
        Fixture::new(),
        "top",
        &[
            (b".gitignore", rules.0),
            (b"sub/.gitignore", rules.1),
            (b"f", ""),
            (b"x.o", ""),
            (b"y.o", ""),
            (b"ign/untracked", ""),
            (b"ign/deep/er/kept", ""),
            (b"ign/deep/er/not", ""),
            (b"ign/deep/er.not", ""),
            (b"ign/deep-not/f", ""),
            (b"sub/kept", ""),
            (b"sub/not", ""),
            (b"sub/in/kept\xff\n", ""),
            (b"sub/in/not", ""),
        ],
    );
    let mut kept: Vec<String> =
        ["f", "x.o", "ign/deep/er/kept", "sub/kept"].map(str::to_owned).into();
    for length in 1..=200 {
        let name = format!("long/{}.o", "n".repeat(length));
        fixture = fixture.file(format!("top/{name}"), 0);
        if length % 3 > 0 {
            kept.push(name);
        }
    }
    let fixture = fixture.symlink("nowhere", "top/ign/link").symlink("nowhere", "top/ign/other");
    kept.push("ign/link".to_owned());
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    let top = fixture.at("top");
    git(&fixture, &top, &[&["add", "-f", "--"], &kept[..]].concat());
    // As a pathspec, this is whatever begins so.
    git(&fixture, &top, &["add", "-f", "--", "sub/in/kept*"]);
    // Longer than an entry can say, and than a path may be. The id is that of an empty file.
    for length in [4094, 4095, 4096, 5000] {
        let id = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        let entry = format!("100644,{id},middle/{}", "n".repeat(length - "middle/".len()));
        git(&fixture, &top, &["update-index", "--add", "--cacheinfo", &entry]);
    }
    fixture
}

#[test]
fn what_is_tracked_counts_in_every_version_of_the_index() {
    let fixture = against_the_rules();
    let top = fixture.at("top");
    let version = || fs::read(top.join(".git/index")).unwrap()[7];
    assert_eq!(version(), 2);
    compare(&fixture, "top", &[]);
    git(&fixture, &top, &["update-index", "--index-version", "4"]);
    assert_eq!(version(), 4);
    compare(&fixture, "top", &[]);
    // To be added, but not yet: what needs another flag of version 3.
    git(&fixture, &top, &["add", "-f", "--intent-to-add", "ign/deep-not/f"]);
    compare(&fixture, "top", &[]);
    git(&fixture, &top, &["update-index", "--index-version", "3"]);
    assert_eq!(version(), 3);
    compare(&fixture, "top", &[]);
    // With extensions.
    git(&fixture, &top, &["update-index", "--force-untracked-cache"]);
    git(&fixture, &top, COMMIT);
    git(&fixture, &top, &["status"]);
    compare(&fixture, "top", &[]);
}

#[test]
fn ids_may_be_of_sha_256() {
    let fixture = Fixture::new().dir("home").dir("top");
    let top = fixture.at("top");
    git(&fixture, &top, &["init", "-q", "--object-format=sha256"]);
    let files: [(&[u8], &str); 4] =
        [(b".gitignore", "*.o\n"), (b"x.o", ""), (b"yy.o", ""), (b"zzz.o", "")];
    let fixture = checkout(fixture, "top", &files);
    for version in ["2", "4"] {
        git(&fixture, &top, &["update-index", "--index-version", version]);
        git(&fixture, &top, &["add", "-f", "x.o", "zzz.o"]);
        compare(&fixture, "top", &[]);
    }
}

/// In conflict, a name is in the index three times.
#[test]
fn what_is_in_conflict_is_tracked() {
    let files: [(&[u8], &str); 2] = [(b".gitignore", "*.o\n"), (b"x.o", "one\n")];
    let fixture = checkout(Fixture::new(), "top", &files);
    let top = fixture.at("top");
    let commit = |text: &str| {
        fs::write(top.join("x.o"), text).unwrap();
        git(&fixture, &top, &["add", "-f", "x.o"]);
        git(&fixture, &top, COMMIT);
    };
    commit("one\n");
    git(&fixture, &top, &["checkout", "-q", "-b", "other"]);
    commit("two\n");
    git(&fixture, &top, &["checkout", "-q", "-"]);
    commit("three\n");
    git(&fixture, &top, &["read-tree", "-m", "HEAD~1", "HEAD", "other"]);
    assert!(!git(&fixture, &top, &["ls-files", "--unmerged"]).is_empty(), "there is no conflict");
    compare(&fixture, "top", &[]);
}

/// In a sparse index a directory of which nothing is checked out is one entry. What lies there all
/// the same is what the build left.
#[test]
fn a_sparse_index_has_directories_in_it() {
    let files: [(&[u8], &str); 5] = [
        (b".gitignore", "*.o\n"),
        (b"in/x.o", ""),
        (b"out/deep/f", ""),
        (b"out/y.o", ""),
        (b"outer/z.o", ""),
    ];
    let fixture = checkout(Fixture::new(), "top", &files);
    let top = fixture.at("top");
    git(&fixture, &top, &["add", "-f", "."]);
    git(&fixture, &top, COMMIT);
    git(&fixture, &top, &["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    let index = fs::read(top.join(".git/index")).unwrap();
    assert!(index.windows(4).any(|name| name == b"sdir"), "the index is not sparse");
    let fixture = fixture.file("top/out/left.o", 0).file("top/in/new.o", 0);
    compare(&fixture, "top", &[]);
}

/// Submodules have rules and an index of their own, also in what is ignored; work trees that are
/// ignored and not tracked have neither.
#[test]
fn work_trees_in_one_another_track_for_themselves() {
    let fixture = checkout(Fixture::new(), "top", &[(b".gitignore", "*.o\n/ign/\n")]);
    let nested: [(&[u8], &str); 5] = [
        (b".gitignore", "*.c\n/ign\n"),
        (b"x.o", ""),
        (b"x.c", ""),
        (b"y.c", ""),
        (b"ign/deep/f", ""),
    ];
    let mut fixture = fixture;
    for place in ["top/ign/module", "top/module.o", "top/ign/deep/other", "top/plain"] {
        fixture = checkout(fixture, place, &nested);
        let at = fixture.at(place);
        git(&fixture, &at, &["add", "-f", ".gitignore", "x.c", "ign/deep/f"]);
        git(&fixture, &at, COMMIT);
    }
    git(&fixture, &fixture.at("top"), &["add", "-f", "ign/module", "module.o"]);
    compare(&fixture, "top", &["ign/module", "module.o", "plain"]);
    // What deinit leaves, and what a clone without submodules has: a directory alone.
    fs::remove_dir_all(fixture.at("top/module.o")).unwrap();
    fs::create_dir(fixture.at("top/module.o")).unwrap();
    compare(&fixture, "top", &["ign/module", "plain"]);
}

/// The same in random work trees inside one another, with random rules, and random files tracked in spite of them.
#[test]
fn random_work_trees() {
    for_seeds(rounds(20, 1_000), |seed| {
        let fixture = Fixture::in_memory().dir("home").dir("top");
        let top = fixture.at("top");
        throw_work_tree(&fixture, &top, &mut Dice::new(seed + 8_000_000), 0);
        let mut nested = Vec::new();
        find_nested(&fixture, &top, "", &mut nested);
        let nested: Vec<&str> = nested.iter().map(String::as_str).collect();
        for (flag, flags) in [("--gitignore", NOT_IGNORED), ("--only-ignored", IGNORED)] {
            let seen = weighed(weigh(flag).arg("top").within(fixture.path()), &fixture);
            let expected = listed(&fixture, &top, flags, &nested);
            let odd: Vec<_> = seen.symmetric_difference(&expected).map(|path| raw(path)).collect();
            assert!(odd.is_empty(), "seed {seed}, {flag}: {odd:?}");
        }
    });
}

fn throw_work_tree(fixture: &Fixture, top: &Path, dice: &mut Dice, depth: usize) {
    const RULES: [&str; 12] =
        ["*.o", "/a", "b/", "ign", "!b.o", "a/b", "c/*", "!/c/a", "*", "!*/", "!x", "/ign/"];
    git(fixture, top, &["init", "-q", "--template="]);
    let rules: Vec<&str> = (0..1 + dice.below(3)).map(|_| *dice.of(&RULES)).collect();
    fs::write(top.join(".gitignore"), rules.join("\n")).unwrap();
    throw_entries(fixture, top, dice, depth);
    git(fixture, top, COMMIT);
    let all = git(fixture, top, &["ls-files", "-z", "--others"]);
    let tracked: Vec<&[u8]> = all.split(|byte| *byte == 0).filter(|_| dice.below(3) == 0).collect();
    fs::write(fixture.at("tracked"), tracked.join(&0)).unwrap();
    let list = format!("--pathspec-from-file={}", fixture.at("tracked").display());
    git(fixture, top, &["add", "-f", "--pathspec-file-nul", &list]);
}

fn throw_entries(fixture: &Fixture, dir: &Path, dice: &mut Dice, depth: usize) {
    const DEEPEST: usize = 4;
    for _ in 0..3 + dice.below(6) {
        let path = dir.join(dice.of(&["a", "b", "c", "a.o", "b.o", "x", "ign"]));
        let kind = dice.below(8);
        if path.exists() {
            continue;
        }
        if kind < 4 || depth == DEEPEST {
            fs::write(path, "").unwrap();
            continue;
        }
        fs::create_dir(&path).unwrap();
        if kind < 6 {
            throw_entries(fixture, &path, dice, depth + 1);
        } else {
            throw_work_tree(fixture, &path, dice, depth + 1);
        }
    }
}

/// The work trees below `prefix` in `top` that are not ignored.
fn find_nested(fixture: &Fixture, top: &Path, prefix: &str, nested: &mut Vec<String>) {
    let names = git(fixture, &top.join(prefix), &[&["ls-files", "-z"], NOT_IGNORED].concat());
    for name in String::from_utf8(names).unwrap().split_terminator('\0') {
        let path = format!("{prefix}{}", name.trim_end_matches('/'));
        if top.join(&path).join(".git").exists() {
            find_nested(fixture, top, &format!("{path}/"), nested);
            nested.push(path);
        }
    }
}

/// As `git submodule` and `git worktree` have it: the index is where the `.git` file says.
#[test]
fn an_index_may_be_elsewhere() {
    let files: [(&[u8], &str); 2] = [(b".gitignore", "*.o\n"), (b"first.o", "")];
    let fixture = checkout(Fixture::new(), "first", &files);
    let first = fixture.at("first");
    git(&fixture, &first, &["add", "-f", "first.o"]);
    git(&fixture, &first, COMMIT);
    git(&fixture, &first, &["worktree", "add", "-q", "../second"]);
    let fixture = fixture.file("second/second.o", 1).file("second/third.o", 1);
    git(&fixture, &fixture.at("second"), &["add", "-f", "second.o"]);
    for top in ["first", "second"] {
        compare(&fixture, top, &[]);
    }
    let at = fixture.at("first").into_os_string().into_string().unwrap();
    let module = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &at, "mod"];
    let fixture = checkout(fixture, "top", &[(b"mod.o", "")]);
    git(&fixture, &fixture.at("top"), &module);
    let fixture = fixture.file("top/mod/third.o", 1);
    compare(&fixture, "top", &["mod"]);
}

/// What a copied submodule has: a `.git` that leads nowhere. Git takes no notice of it.
#[test]
fn a_repository_that_is_gone_is_none() {
    let files: [(&[u8], &str); 5] = [
        (b".gitignore", "*.o\n"),
        (b"gone/.git", "gitdir: ../nowhere\n"),
        (b"gone/x.o", ""),
        (b"gone/y.o", ""),
        (b"gone/z", ""),
    ];
    let fixture = checkout(Fixture::new(), "top", &files);
    git(&fixture, &fixture.at("top"), &["add", "-f", "gone/x.o"]);
    compare(&fixture, "top", &[]);
}

/// A root may lie in what is ignored, under another name, or be one that nothing tracked is in.
#[test]
fn roots_inside_what_is_ignored() {
    let fixture = against_the_rules();
    let fixture = fixture.symlink("top/ign/deep", "short");
    for root in ["top/ign", "top/ign/deep/er", "top/ign/deep-not", "top/sub/in", "short"] {
        let real = fixture.at(root).canonicalize().unwrap();
        for (flag, flags) in [("--gitignore", NOT_IGNORED), ("--only-ignored", IGNORED)] {
            let run = weigh(flag).arg(root).within(fixture.path());
            let from = real.strip_prefix(fixture.at("top")).unwrap();
            let all = listed(&fixture, &fixture.at("top"), flags, &[]);
            let expected: Vec<_> =
                all.iter().filter_map(|path| raw(path).strip_prefix(from).ok()).collect();
            let seen = weighed(run, &fixture);
            let seen: Vec<_> = seen.iter().map(|path| raw(path)).collect();
            assert_eq!(seen, expected, "{flag} {root}");
        }
    }
    // A directory is ignored if nothing in it is tracked.
    let inodes = |root| weigh("-j --inodes --only-ignored").arg(fixture.at(root)).run().document();
    assert_eq!(inodes("top/ign/deep/er").root().size, 1);
    assert_eq!(inodes("top/ign/deep-not").root().size, 2);
}

/// Git knows nothing of `.ignore`, so what it says of a tracked file holds.
#[test]
fn an_ignore_file_is_stronger_than_the_index() {
    let fixture = against_the_rules();
    fs::write(fixture.at("top/.ignore"), "x.o\n/ign/deep\n").unwrap();
    let seen = weighed(weigh("--gitignore").arg(fixture.at("top")), &fixture);
    let mut expected = listed(&fixture, &fixture.at("top"), NOT_IGNORED, &[]);
    for path in ["x.o", "ign/deep/er/kept"] {
        assert!(expected.remove(path.as_bytes()), "git does not list {path}");
    }
    assert_eq!(seen, expected);
}

/// weigh reads neither a split index nor a damaged one. It names the index, and counts no more than it would if it knew
/// it. Once, `--ignored` counted what was tracked, and called that a lower bound.
#[test]
fn an_index_that_cannot_be_read_is_a_problem() {
    let fixture = against_the_rules();
    let index = fixture.at("top/.git/index");
    let whole = fs::read(&index).unwrap();
    let untracked = {
        fs::remove_file(&index).unwrap();
        weighed(weigh("--gitignore").arg(fixture.at("top")), &fixture)
    };
    let damaged = "it is damaged, or newer than version 4";
    let split = "it is split, and the other half is not read";
    // What is replaced in the other half has no name here.
    let entry = [[0; 24].as_slice(), &0o100_644_u32.to_be_bytes(), &[0; 36]].concat();
    let nameless = [b"DIRC\0\0\0\x02\0\0\0\x01", &*entry, b"link\0\0\0\0", &[0; 20]].concat();
    for (content, message) in [
        (nameless, split),
        (Vec::new(), damaged),
        (b"DIRC".to_vec(), damaged),
        (whole[..whole.len() / 2].to_vec(), damaged),
        (whole[..whole.len() - 1].to_vec(), damaged),
        ([b"DIRC\0\0\0\x05".as_slice(), &whole[8..]].concat(), damaged),
        ([b"DIRC\0\0\0\x02\xff\xff\xff\xff".as_slice(), &whole[12..]].concat(), damaged),
    ] {
        fs::write(&index, content).unwrap();
        for root in ["top", "top/sub/in"] {
            let shown = weigh("-j --gitignore").arg(root).within(fixture.path()).run();
            assert_eq!(shown.code(), 1);
            // From inside, the top of the work tree is found by its real path.
            let top = if root == "top" { "top".into() } else { fixture.at("top") };
            let said = format!("cannot read {}/.git/index: {message}\n", top.display());
            assert!(shown.complaint().contains(&said), "{}", shown.complaint());
            for flag in ["--gitignore", "--only-ignored"] {
                let shown = weigh(flag).arg(root).within(fixture.path()).run();
                let text = String::from_utf8(shown.stdout).unwrap();
                assert!(text.contains('≥'), "{flag} {root}: {text}");
            }
        }
        // Of several roots below it, the total alone was marked.
        let shown =
            weigh("-c -d 1 --gitignore").arg("top/long").arg("top/sub").within(fixture.path());
        let text = String::from_utf8(shown.run().stdout).unwrap();
        let is_marked = |root: &&str| text.lines().any(|it| it.contains(root) && it.contains('≥'));
        assert!(["(total)", "top/long", "top/sub"].iter().all(is_marked), "{text}");
        let shown = weigh("-j --gitignore top").within(fixture.path()).run();
        let document = crate::document::Document::parse(&shown.stdout);
        let files = document.by_path().into_iter().filter(|(_, node)| node.kind != "directory");
        let files = files.map(|(path, _)| path).filter(|path| !path.starts_with(b".git/"));
        assert_eq!(files.collect::<std::collections::BTreeSet<_>>(), untracked);
        let shown = weigh("-j --only-ignored top").within(fixture.path()).run();
        assert_eq!(shown.code(), 1);
        let document = crate::document::Document::parse(&shown.stdout);
        let mut files = document.by_path().into_values().filter(|node| node.kind != "directory");
        assert!(files.next().is_none());
    }
    fs::write(&index, &whole).unwrap();
    for version in ["2", "4"] {
        let top = fixture.at("top");
        git(&fixture, &top, &["update-index", "--index-version", version]);
        git(&fixture, &top, &["update-index", "--split-index"]);
        // Some of it is in the other half now, some of that taken back, and some here without its name.
        git(&fixture, &top, &["rm", "-q", "--cached", "--ignore-unmatch", "f"]);
        fs::write(top.join("x.o"), version).unwrap();
        git(&fixture, &top, &["add", "-f", "x.o"]);
        let shown = weigh("-j --gitignore top").within(fixture.path()).run();
        let message = "cannot read top/.git/index: it is split, and the other half is not read\n";
        assert!(shown.complaint().contains(message), "{version}: {}", shown.complaint());
    }
}

/// Once, it was taken for none. A pipe is not waited for.
#[test]
fn an_index_that_is_no_file_is_a_problem() {
    for kind in [Fixture::fifo, Fixture::dir, |it: Fixture, path: &str| it.symlink("gone", path)] {
        let fixture = against_the_rules();
        fs::remove_file(fixture.at("top/.git/index")).unwrap();
        let fixture = kind(fixture, "top/.git/index");
        let shown = weigh("-j --gitignore top").within(fixture.path()).run();
        let said = "cannot read top/.git/index: it is no regular file\n";
        assert!(shown.complaint().contains(said), "{}", shown.complaint());
        assert_eq!(shown.code(), 1);
    }
}

/// Without rules nothing can be ignored, and without the flags nobody asks.
#[test]
fn an_index_is_read_only_if_it_matters() {
    let files: [(&[u8], &str); 2] = [(b"sub/.gitignore", "*.o\n"), (b"sub/x.o", "")];
    let fixture = checkout(Fixture::new(), "top", &files);
    fs::write(fixture.at("top/.git/info/exclude"), "# nothing\n").unwrap();
    fs::write(fixture.at("top/.git/index"), "damaged").unwrap();
    let run = |flags: &str| weigh(flags).arg("top").within(fixture.path()).run();
    assert_eq!(run("-j").code(), 0);
    let shown = run("-j --gitignore");
    assert_eq!(shown.code(), 1);
    assert!(shown.complaint().contains("cannot read top/.git/index: "), "{}", shown.complaint());
    fs::write(fixture.at("top/sub/.gitignore"), "").unwrap();
    assert_eq!(run("-j --gitignore").code(), 0);
    assert_eq!(run("-j --only-ignored").code(), 0);
}

/// Bytes are changed, removed or inserted anywhere. The index is read or named, and nothing panics or hangs.
#[test]
fn a_damaged_index_breaks_nothing() {
    let fixture = against_the_rules();
    let index = fixture.at("top/.git/index");
    let of_version = |version| {
        git(&fixture, &fixture.at("top"), &["update-index", "--index-version", version]);
        fs::read(&index).unwrap()
    };
    let whole = [of_version("2"), of_version("4")];
    for_seeds(rounds(60, 3_000), |seed| {
        let mut dice = Dice::new(seed + 7_000_000);
        let mut bytes = dice.of(&whole).clone();
        for _ in 0..1 + dice.below(4) {
            // Mostly near the start, where a mistake shifts all the rest.
            let end = if dice.below(2) == 0 { 300 } else { bytes.len() };
            let at = dice.below(end.min(bytes.len()));
            let byte = u8::try_from(dice.below(256)).unwrap();
            match dice.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, byte),
                2 => drop(bytes.drain(at..(at + 1 + dice.below(9)).min(bytes.len()))),
                _ => bytes[at] = byte,
            }
            if bytes.is_empty() {
                break;
            }
        }
        let home = Fixture::in_memory().dir("top/.git/objects").dir("top/.git/refs");
        fs::write(home.at("top/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(home.at("top/.gitignore"), "*.o\n/ign/\n").unwrap();
        fs::write(home.at("top/.git/index"), bytes).unwrap();
        let home = home.file("top/x.o", 1).file("top/ign/deep/er/kept", 1);
        let shown = weigh("-j --gitignore top").within(home.path()).run();
        let is_named = shown.complaint().contains("cannot read top/.git/index: ");
        assert_eq!(shown.code(), i32::from(is_named), "seed {seed}: {}", shown.complaint());
    });
}
