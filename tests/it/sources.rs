//! A flag chooses the source of listings. tests/README.md says which tests run on which source.
#![cfg(target_os = "linux")]

use std::process::{Command, Output};

use crate::fixture::Fixture;

const PROGRAM: &str = env!("CARGO_BIN_EXE_weigh");

/// Runs `words` within `fixture`.
fn ended(fixture: &Fixture, words: &[&str]) -> Output {
    let mut command = Command::new(words[0]);
    let command = command.args(&words[1..]).env_clear().env("PATH", "/usr/bin:/bin");
    command.current_dir(fixture.path()).output().unwrap()
}

/// std goes by paths, and Linux' own calls by names in an open directory.
#[test]
#[ignore = "needs strace"]
fn the_source_that_is_named_lists_directories() {
    let fixture = Fixture::new().file("tree/d/file", 100);
    for (source, name) in [
        (&[][..], "\"file\""),
        (&["--source", "native"], "\"file\""),
        (&["--source", "portable"], "\"tree/d/file\""),
    ] {
        let strace = ["strace", "-f", "-q", "-o", "calls", "-e", "trace=statx", PROGRAM];
        let output = ended(&fixture, &[&strace, source, &["tree"]].concat());
        assert!(output.status.success(), "{output:?}");
        let calls = fixture.text("calls");
        let asked = calls.lines().filter(|call| call.contains("file\""));
        assert_eq!(asked.clone().count(), 1, "{source:?}: {calls}");
        assert_eq!(asked.filter(|call| call.contains(name)).count(), 1, "{source:?}: {calls}");
    }
}

/// The flag is for Windows. Elsewhere it is accepted, so that one config file works on all systems.
#[test]
fn exact_links_change_nothing_on_unix() {
    let fixture = Fixture::new().file("tree/a", 5_000).hard_link("tree/a", "tree/b");
    let [usual, exact] = [&[PROGRAM, "-j", "tree"][..], &[PROGRAM, "-j", "--exact-links", "tree"]]
        .map(|words| {
            let output = ended(&fixture, words);
            assert!(output.status.success(), "{output:?}");
            output.stdout
        });
    assert_eq!(usual, exact);
    let refused = ended(&fixture, &[PROGRAM, "-l", "--exact-links", "tree"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn a_source_that_is_unknown_is_named() {
    let fixture = Fixture::new();
    for (source, named) in [("elsewhere", "elsewhere"), ("", ""), ("a\x1b[2Jb", "a\\x1b[2Jb")] {
        let output = ended(&fixture, &[PROGRAM, "--source", source]);
        let complaint = String::from_utf8(output.stderr).unwrap();
        let expected = format!("weigh: error: --source is native or portable, not {named}\n");
        assert_eq!((output.status.code(), complaint), (Some(2), expected));
    }
}
