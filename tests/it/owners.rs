//! `--owner`: the entries of some users, as `find -user` finds them.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::{become_nobody, weigh};

/// A number that no user has.
const NAMELESS: u32 = 54_321;
const NOBODY: u32 = 65_534;

/// A tree of three users, with hard links between directories of different users, and a directory that only its owner
/// can read.
fn of_three() -> Fixture {
    Fixture::new()
        .file("top/mine", 5000)
        .file("top/theirs/a", 70_000)
        .owned("top/theirs/a", NOBODY)
        .hard_link("top/theirs/a", "top/b/a")
        .hard_link("top/theirs/a", "outside")
        .symlink("a", "top/theirs/link")
        .owned("top/theirs/link", NOBODY)
        .file("top/theirs/mine", 300)
        .fifo("top/nameless/pipe")
        .owned("top/nameless/pipe", NAMELESS)
        .file("top/nameless/deep/f", 9000)
        .owned("top/nameless/deep/f", NAMELESS)
        .owned("top/nameless", NAMELESS)
        .file("top/closed/f", 1234)
        .owned("top/closed/f", NOBODY)
        .owned("top/closed", NAMELESS)
        .unreadable("top/closed")
        .owned("top/theirs", NOBODY)
}

/// What `find` adds up to, in bytes on disk and in inodes.
fn found(top: &Path, tests: &str, by_nobody: bool) -> (u64, u64) {
    let mut command = Command::new("find");
    command.arg("top").args(tests.split(' ')).args(["-printf", "%i %b\n"]).current_dir(top);
    if by_nobody {
        become_nobody(&mut command);
    }
    let output = command.output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let inodes: HashMap<&str, u64> = lines
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(inode, blocks)| (inode, blocks.parse().unwrap()))
        .collect();
    (inodes.values().sum::<u64>() * 512, inodes.len() as u64)
}

const CASES: [(&str, &str); 6] = [
    ("--owner nobody", "-user nobody"),
    ("--owner 65534", "-user nobody"),
    ("--owner root", "-user root"),
    ("--owner 54321", "-user 54321"),
    ("--owner nobody --owner 54321", "( -user nobody -o -user 54321 )"),
    ("--owner nobody --exclude b --newer 1d", "-user nobody -not -path top/b/a"),
];

#[test]
#[ignore = "needs root"]
fn entries_of_users_count_as_find_finds_them() {
    let fixture = of_three();
    for (flags, tests) in CASES {
        for by_nobody in [false, true] {
            let run = |more: &str| {
                let run = weigh(&format!("-j {flags} {more} top")).within(fixture.path());
                let shown = if by_nobody { run.by_nobody(&fixture).run() } else { run.run() };
                assert_eq!(shown.code(), i32::from(by_nobody), "{}", shown.complaint());
                Document::parse(&shown.stdout).root().size
            };
            let expected = found(fixture.path(), tests, by_nobody);
            let shown = (run(""), run("--inodes"));
            assert_eq!(shown, expected, "{flags} {by_nobody}");
            assert_eq!(run("-T 1"), expected.0, "{flags}");
        }
    }
    // Directories without entries that count are not shown.
    let shown = weigh("-c -b --owner 54321 top").within(fixture.path()).run().text();
    assert!(!shown.contains("theirs") && shown.contains("deep"), "{shown}");
}

#[test]
#[ignore = "needs root"]
fn a_snapshot_with_owners_is_filtered_like_the_tree() {
    let fixture = of_three();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("top --details --save owners.weigh").clean();
    run("top --save plain.weigh").clean();
    for (flags, _) in CASES {
        let walked = run(&format!("-j {flags} top")).document();
        let loaded = run(&format!("-j {flags} --from owners.weigh")).document();
        assert_eq!(loaded.root().size, walked.root().size, "{flags}");
        let changed = run(&format!("diff -j {flags} owners.weigh top")).json();
        assert_eq!(changed["change"], 0, "{flags}: {changed}");
    }
    let refused = run("--owner nobody --from plain.weigh");
    assert_eq!(refused.code(), 2, "{}", refused.complaint());
    assert!(refused.complaint().contains("without --details"), "{}", refused.complaint());
    let refused = run("diff --owner nobody plain.weigh top");
    assert_eq!(refused.code(), 2, "{}", refused.complaint());
    assert!(refused.complaint().contains("without --owner=nobody"), "{}", refused.complaint());
}

#[test]
fn an_unknown_user_is_refused() {
    for (name, said) in [
        ("nobdy", "there is no user 'nobdy' here\nhint: did you mean 'nobody'?"),
        (
            "zzzzzzzz",
            "there is no user 'zzzzzzzz' here\nhint: use a number, or a name that id NAME",
        ),
        ("+0", "there is no user '+0' here"),
        ("4294967296", "there is no user '4294967296' here"),
        ("", "there is no user '' here"),
        ("a\u{1b}b", r"there is no user 'a\x1bb' here"),
    ] {
        let shown = weigh("--owner").arg(name).arg("/dev").run();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{name}");
        assert!(shown.complaint().contains(said), "{name}: {}", shown.complaint());
    }
}
