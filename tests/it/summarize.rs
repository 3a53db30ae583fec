//! One number a PATH: what `weigh --summarize` prints is what `du -sB1` prints, line by line.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
use crate::pty::Terminal;
use crate::run::weigh;

/// What `du` prints within `fixture`; what it complains of is left to it.
fn du(fixture: &Fixture, flags: &str, paths: &[&str]) -> String {
    let flags = flags.split_whitespace();
    let output = Command::new("du").args(flags).args(paths).current_dir(fixture.path()).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// Links between directories, and within them.
fn linked() -> Fixture {
    Fixture::new()
        .file("a/f", 5000)
        .file("a/in/g", 70_000)
        .hard_link("a/f", "b/f")
        .hard_link("a/f", "b/in/f")
        .file("b/h", 9000)
        .hard_link("b/h", "b/i")
        .hard_link("b/h", "c/h")
        .file("c/deep/er/x", 300)
        .symlink("a", "to a")
        .symlink("../a/in", "c/to in")
        .file("d", 12_000)
        .hard_link("d", "e")
        .file("alone", 20_000)
        .dir("empty")
}

const LISTS: [&[&str]; 8] = [
    &["a"],
    &["a", "b", "c"],
    &["c", "b", "a"],
    &["d", "alone"],
    &["a/f", "b"],
    &["alone", "a/in/g", "c"],
    &["empty", "c"],
    &["none", "a", "also none"],
];

/// Each on its own: an inode that several share counts in each of them.
#[test]
fn a_line_a_path_is_what_du_prints() {
    let fixture = linked();
    for paths in LISTS {
        for (flags, theirs) in [
            ("", "-sB1"),
            ("--inodes", "-s --inodes"),
            ("-l", "-slB1"),
            ("-x", "-sxB1"),
            ("-T 1", "-sB1"),
        ] {
            let shown = weigh(&format!("--summarize {flags}")).args(paths).within(fixture.path());
            let shown = String::from_utf8(shown.run().stdout).unwrap();
            let expected: String =
                paths.iter().map(|path| du(&fixture, theirs, &[*path])).collect();
            assert_eq!(shown, expected, "{paths:?} {flags}");
        }
    }
}

#[test]
fn random_trees_come_to_what_du_says() {
    for seed in 0..12 {
        let fixture = Dice::new(seed).tree(Fixture::new(), Names::Hostile);
        let mut paths: Vec<String> = fs::read_dir(fixture.path())
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
            .filter(|name| !fixture.at(name).is_symlink() && !name.starts_with('-'))
            .collect();
        paths.sort();
        // Links to one inode are one root.
        let mut inodes = HashSet::new();
        paths.retain(|path| {
            let metadata = fs::metadata(fixture.at(path)).unwrap();
            inodes.insert(metadata.ino())
        });
        let paths: Vec<_> = paths.iter().map(String::as_str).collect();
        let shown = weigh("--summarize").args(&paths).within(fixture.path()).run();
        let expected: String = paths.iter().map(|path| du(&fixture, "-sB1", &[*path])).collect();
        assert_eq!(String::from_utf8(shown.stdout).unwrap(), expected, "{seed}");
    }
}

/// Those that are one, or lie in another, are weighed once; those of a snapshot are as they were given.
#[test]
fn each_root_has_one_line() {
    let fixture = linked();
    let shown = |flags: &str| {
        let run = weigh(&format!("--summarize -s {flags}")).within(fixture.path());
        run.run().text()
    };
    assert_eq!(shown("a a ./a/ alone"), "75000\ta\n20000\talone\n");
    assert_eq!(shown("a/in alone a"), "20000\talone\n75000\ta\n");
    weigh("-s --save scan c b").within(fixture.path()).run().clean();
    assert_eq!(shown("--from scan"), shown("c b"));
}

#[test]
fn names_are_raw_in_a_pipe_and_harmless_on_a_terminal() {
    let name = raw(b"new\nline \xff\x1b[2J");
    let fixture = Fixture::new().file(name, 5000);
    let run = || weigh("--summarize -s -P").arg(name).within(fixture.path());
    assert_eq!(run().run().clean(), b"5000\tnew\nline \xff\x1b[2J\n");
    let terminal = Terminal::new();
    assert!(run().on(&terminal).spawn().wait().unwrap().success());
    let screen = String::from_utf8(terminal.close()).unwrap();
    assert_eq!(screen.trim_end(), "5000\tnew\\nline \\xff\\x1b[2J");
}

#[test]
fn sizes_are_written_as_asked() {
    let fixture = linked();
    let shown = |flags: &str| {
        let shown = weigh(&format!("--summarize {flags}")).args(["alone", "a"]);
        shown.within(fixture.path()).run().text()
    };
    assert_eq!(shown("-s"), "20000\talone\n75000\ta\n");
    assert_eq!(shown("-s -o si"), "20.0K\talone\n75.0K\ta\n");
    assert_eq!(shown("-s -o kb"), "20.0K\talone\n75.0K\ta\n");
    assert_eq!(shown("-f"), "1\talone\n2\ta\n");
    assert_eq!(shown("-s --files0-from /dev/null"), shown("-s"));
}

#[test]
fn what_is_lost_or_too_much_is_said_as_ever() {
    let fixture = Fixture::new().file("top/f", 5000).unreadable("top/closed").file("g", 70);
    let run = |flags: &str| {
        let run = weigh(&format!("--summarize -s {flags}")).args(["top", "none", "g"]);
        run.within(fixture.path()).by_nobody(&fixture).run()
    };
    let shown = run("");
    assert_eq!((shown.code(), &*shown.stdout), (1, b"5000\ttop\n70\tg\n".as_slice()));
    let complaint = shown.complaint();
    for said in ["weigh: error: none: ", "cannot open top/closed: ", "lower bound"] {
        assert!(complaint.contains(said), "{complaint}");
    }
    assert_eq!((run("--fail-over 5070").code(), run("--fail-over 5069").code()), (1, 3));
    assert!(
        run("--fail-over 5069")
            .complaint()
            .contains("1B or more over the limit of 4.95Ki (--fail-over)")
    );
    for flags in ["-j", "-n 3", "-d 1", "-F", "-t", "-m m", "diff --since x"] {
        assert_eq!(weigh(&format!("--summarize {flags}")).run().code(), 2, "{flags}");
    }
}
