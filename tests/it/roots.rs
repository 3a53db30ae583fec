//! Several roots: the same one twice, one in another, one that is not there. Each inode counts once
//! in the whole, whatever it is spelled like.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::document::Document;
use crate::fixture::{Fixture, raw};
use crate::run::{Weigh, source, weigh};

const PROGRAM: &str = env!("CARGO_BIN_EXE_weigh");

fn two() -> Fixture {
    Fixture::new()
        .file("a/f", 5000)
        .file("a/sub/g", 300)
        .file("b/h", 20)
        .hard_link("a/f", "b/f")
        .symlink("a", "to-a")
        .symlink("../a/sub", "b/to-sub")
}

fn weighed(fixture: &Fixture, roots: &[&str]) -> crate::document::Document {
    roots.iter().fold(start(fixture, "-j -s"), |weigh, root| weigh.arg(root)).run().document()
}

fn start(fixture: &Fixture, flags: &str) -> Weigh {
    weigh(flags).within(fixture.path())
}

#[test]
fn the_same_root_is_weighed_once() {
    let fixture = two();
    for roots in [
        ["a", "a"],
        ["a", "./a/"],
        ["a", "a/../a"],
        ["a", "to-a"],
        ["a", "b/../to-a/."],
        ["a", "a//"],
    ] {
        let document = weighed(&fixture, &roots);
        let root = document.root();
        assert_eq!(root.name, b"a", "{roots:?}");
        assert_eq!((root.size, root.entries), (5300, Some(4)), "{roots:?}");
    }
}

#[test]
fn a_root_inside_another_is_weighed_once() {
    let fixture = two();
    let alone = |flags: &str| start(&fixture, flags).arg("a").run().clean();
    for roots in
        [["a", "a/sub"], ["a/sub", "a"], ["a", "a/f"], ["b/to-sub/", "a"], ["a", "b/to-sub"]]
    {
        for flags in ["-j -s", "-s -c -w 60", "-j --inodes"] {
            let both = start(&fixture, flags).arg(roots[0]).arg(roots[1]).run().clean();
            let (both, alone) = (String::from_utf8(both), String::from_utf8(alone(flags)));
            assert_eq!(both, alone, "{flags} {roots:?}");
        }
    }
}

/// `-i` leaves a directory out of the outer root, but not as a root of its own. Once, it was weighed neither way.
#[test]
fn a_hidden_root_inside_another_is_weighed() {
    let fixture = Fixture::new().file("top/seen", 300).file("top/.hidden/f", 5000);
    for roots in [["top", "top/.hidden"], ["top/.hidden", "top"]] {
        let document = start(&fixture, "-j -s -i").arg(roots[0]).arg(roots[1]).run().document();
        assert_eq!(document.root().size, 5300, "{roots:?}");
    }
}

/// The entries of a directory that can be entered but not listed cannot be found, but they can be named as roots. Once,
/// they were not weighed.
#[test]
fn a_root_inside_what_cannot_be_listed_is_weighed() {
    let fixture = Fixture::new().file("top/closed/in/f", 70).mode("top/closed", 0o111);
    for roots in [["top", "top/closed/in"], ["top/closed/in", "top"]] {
        let both = start(&fixture, "-j -s").arg(roots[0]).arg(roots[1]);
        let shown = both.by_nobody(&fixture).run();
        assert_eq!(shown.code(), 1);
        let document = crate::document::Document::parse(&shown.stdout);
        assert_eq!(document.root().size, 70, "{roots:?}");
    }
}

/// In a directory without search permission, not even `..` is found. Once, such a root counted twice.
#[test]
fn a_root_inside_another_is_weighed_once_where_it_may_not_be_searched() {
    let fixture = Fixture::new().dir("top/in").mode("top/in", 0o444);
    for roots in ["top top/in", "top/in top", "-i top ./top/in", "-v zzz top/../top/in top"] {
        let shown = start(&fixture, &format!("-j --inodes {roots}")).by_nobody(&fixture).run();
        assert_eq!(shown.document().root().size, 2, "{roots}");
    }
}

/// A path is left out of one root but not of a second one, which lies in the first. Once, neither counted it.
#[test]
fn what_is_named_and_left_out_of_the_root_around_it_is_weighed() {
    let fixture = Fixture::new().file("top/b/c/f", 5000).file("top/b/g", 300).file("top/h", 20);
    for roots in ["top top/b top/b/c", "top/b/c top/b top", "top/b/c top/b/c/f top top/b"] {
        for filter in ["-X b/c", "--exclude /b/c", "-v ^top/b/c/f"] {
            let document = start(&fixture, &format!("-j -s {filter} {roots}")).run().document();
            let is_by_path = filter.starts_with("-v") && !roots.contains("/f");
            assert_eq!(
                document.root().size,
                if is_by_path { 320 } else { 5320 },
                "{filter} {roots}"
            );
        }
    }
}

/// Once, they were read again for each root, even git's index.
#[test]
#[ignore = "needs strace"]
fn rules_are_read_once_however_many_roots_lie_below_them() {
    let fixture = (0..100).fold(Fixture::new(), |fixture, i| fixture.file(format!("top/{i}"), 10));
    fs::write(fixture.at("top/.ignore"), "*5\n").unwrap();
    let roots: Vec<_> = (0..100).map(|i| format!("top/{i}")).collect();
    let strace = ["strace", "-f", "-q", "-o", "log", "-e", "trace=openat"];
    let weigh = start(&fixture, &format!("-j -s --gitignore top {}", roots.join(" ")));
    // The ten that are left out of it are weighed because they are named.
    assert_eq!(weigh.under(strace).run().document().root().size, 1000 + 3);
    let log = fixture.text("log");
    let times = log.matches(".ignore\"").count();
    assert!((1..10).contains(&times), "{times}");
}

/// The same where no path leads from outside. Once, such a root counted twice.
#[test]
fn a_root_inside_another_is_weighed_once_below_what_is_closed() {
    const NOBODY: u32 = 65534;
    let mut fixture = Fixture::new()
        .file("shut/in/f", 5000)
        .file("shut/in/s/g", 300)
        .file("shut/in/s/.h/i", 20)
        .symlink("s", "shut/in/to-s");
    if rustix::process::geteuid().is_root() {
        fixture = fixture.owned("shut", NOBODY);
    }
    let shut = |mode: u32, dir: &str, flags: &str| {
        let script = format!(
            "chmod {mode} {} && exec \"$0\" \"$@\"",
            "../".repeat(dir.matches('/').count())
        );
        fs::set_permissions(fixture.at("shut"), fs::Permissions::from_mode(0o755)).unwrap();
        let weigh = weigh(&format!("-j -s {flags}")).within(fixture.at("shut").join(dir));
        weigh.under(["/bin/sh", "-c", &script]).by_nobody(&fixture).run().document().root().size
    };
    // Neither listed nor searched, only searched, only listed.
    for mode in [0, 111, 444] {
        for roots in
            [". s", "s .", ". s/g", ". s s/g s", "to-s s", ". to-s", "s/.h . s", ". s/../s"]
        {
            let expected = if roots.contains(". ") || roots.ends_with('.') { 5321 } else { 320 };
            assert_eq!(shut(mode, "in/", roots), expected, "{mode}, {roots}");
        }
        // What is left out of the outer root is weighed as the root that it is itself.
        for (dir, roots, size) in [
            ("in/", "-i . s/.h", 5321),
            ("in/", "-i . s", 5301),
            ("in/s/.h/", "-i ../.. .", 5321),
            ("in/s/.h/", "-i .. .", 320),
            ("in/s/.h/", "../.. .", 5321),
            ("in/s/.h/", "-X ../s ../.. .", 5321),
        ] {
            assert_eq!(shut(mode, dir, roots), size, "{mode}, {dir}, {roots}");
        }
    }
}

/// There, no path is short enough.
#[test]
fn a_root_inside_another_is_weighed_once_at_any_depth() {
    let fixture = Fixture::in_memory().chain("directory", 600, 5000);
    let script = r#"mkdir -p s; head -c 300 /dev/zero > s/f; "$0" $SOURCE -j -s "$@""#;
    for (roots, size) in [(". s", 5300), ("s . s/f", 5300), ("-i .. .", 5300), ("s s/f", 300)] {
        let find = ["find", "directory", "-name", "end", "-execdir", "/bin/sh", "-c", script];
        let end = roots.split(' ').chain([";"]);
        let words = find.into_iter().map(OsString::from).chain([PROGRAM.into()]);
        let output = Command::new("env")
            .args(words)
            .args(end)
            .env("PATH", "/usr/bin:/bin")
            .env("SOURCE", source().join(" "))
            .current_dir(fixture.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{roots}");
        let document = crate::document::Document::parse(&output.stdout);
        assert_eq!(document.root().size, size, "{roots}");
    }
}

#[test]
fn distinct_roots_stand_below_a_total() {
    let fixture = two();
    let document = weighed(&fixture, &["b", "./a/"]);
    let root = document.root();
    assert_eq!((root.kind.as_str(), root.name.as_slice()), ("total", b"(total)".as_slice()));
    // 5000 and 300 in `a`, 20 and the link's 8 in `b`; `f` is in both and counts once.
    assert_eq!(root.size, 5000 + 300 + 20 + 8);
    let names: Vec<&[u8]> = root.children.iter().map(|&i| &*document.nodes[i].name).collect();
    assert_eq!(names, [b"./a/".as_slice(), b"b"]);
    let of = |i: usize| &document.nodes[root.children[i]];
    assert_eq!((of(0).size, of(0).shared), (5300, 5000));
    assert_eq!((of(1).size, of(1).shared), (5028, 5000));
    assert_eq!(root.entries, Some(7), "a, sub, b, f, g, h, to-sub");
}

#[test]
fn a_file_is_a_root_too() {
    let fixture = two();
    let document = weighed(&fixture, &["a/f"]);
    let root = document.root();
    assert_eq!((root.kind.as_str(), root.size, root.name.as_slice()), ("file", 5000, &b"a/f"[..]));
    assert!(!root.listed && root.entries.is_none());

    let document = weighed(&fixture, &["b/h", "a/sub"]);
    assert_eq!((document.root().kind.as_str(), document.root().size), ("total", 320));

    let picture = start(&fixture, "-s -c -b -o b").arg("b/h").run().text();
    assert_eq!(picture.lines().count(), 1, "{picture}");
    assert!(picture.contains("20B") && picture.contains('h'), "{picture}");
}

/// Two links to one inode are two names of one root.
#[test]
fn two_links_to_one_file_count_once() {
    let fixture = two();
    let document = weighed(&fixture, &["a/f", "b/f"]);
    assert_eq!(document.root().size, 5000);
}

#[test]
fn what_is_missing_does_not_hide_the_rest() {
    let fixture = two();
    for roots in [["nope", "a"], ["a", "nope"]] {
        let shown = start(&fixture, "-j -s").arg(roots[0]).arg(roots[1]).run();
        assert_eq!(shown.code(), 1);
        assert!(shown.complaint().contains("nope"), "{}", shown.complaint());
        let document = crate::document::Document::parse(&shown.stdout);
        assert_eq!(document.root().name, b"a", "the only root that is there is the root");
        assert_eq!(document.root().size, 5300);
        assert_eq!(document.header["complete"], false);
        assert_eq!(document.errors().len(), 1);
        assert_eq!(document.errors()[0]["path"], "nope");
        assert_eq!(document.errors()[0]["error"], "ENOENT");

        let shown = start(&fixture, "-s -c -b -o b").arg(roots[0]).arg(roots[1]).run();
        let picture = String::from_utf8(shown.stdout).unwrap();
        assert!(picture.lines().last().unwrap().contains("5300B"), "{picture}");
    }
}

#[test]
fn nothing_there_is_an_error() {
    let fixture = two();
    let shown = start(&fixture, "").arg("nope").run();
    assert_eq!(shown.code(), 1);
    assert!(shown.complaint().contains("nope"), "{}", shown.complaint());
}

#[test]
fn no_root_is_the_current_directory() {
    let fixture = two();
    let document = weigh("-j -s").within(fixture.at("a")).run().document();
    assert_eq!((document.root().name.as_slice(), document.root().size), (b".".as_slice(), 5300));
}

#[test]
fn the_order_of_roots_changes_nothing() {
    let fixture = two();
    for flags in ["-j -s", "-s -c -w 80", "-j -s -n 3"] {
        let one = start(&fixture, flags).arg("a").arg("b").run().clean();
        let other = start(&fixture, flags).arg("b").arg("a").run().clean();
        assert_eq!(String::from_utf8(one), String::from_utf8(other), "{flags}");
    }
}

/// As the shell's completion writes them.
#[test]
fn a_slash_at_the_end_is_not_doubled() {
    let fixture = Fixture::new().file("a/f", 5000).file("b/g", 70);
    let text = weigh("-s -c -F -p").arg("a/").arg("b/").within(fixture.path()).run().text();
    assert!(text.contains("a/f") && !text.contains("//"), "{text}");
    let text = weigh("-s -j -F -p").arg("a/").arg("b/").within(fixture.path()).run().text();
    assert!(text.contains("\"a/f\"") && !text.contains("//"), "{text}");
}

#[test]
fn roots_from_a_list_are_added_to_those_given() {
    let fixture = two();
    std::fs::write(fixture.at("lines"), "a/sub\n\nb").unwrap();
    std::fs::write(fixture.at("nuls"), b"a/sub\0b\0").unwrap();
    let run = |flags: &str| start(&fixture, &format!("-j -s {flags}")).run().document();
    for flags in ["--files-from lines", "--files0-from nuls"] {
        let (listed, given) = (run(flags), run("a/sub b"));
        assert_eq!(
            (listed.root().size, listed.nodes.len()),
            (given.root().size, given.nodes.len())
        );
        assert_eq!(run(&format!("{flags} a")).root().size, run("a b").root().size);
    }
}

/// Only the last one counted.
#[test]
fn several_lists_of_roots_count_together() {
    let fixture = two();
    std::fs::write(fixture.at("one"), "a/sub\0").unwrap();
    std::fs::write(fixture.at("other"), "b").unwrap();
    let run = |flags: &str| start(&fixture, &format!("-j -s {flags}")).run().document();
    for flag in ["--files-from", "--files0-from"] {
        let end = if flag == "--files-from" { "a/sub\n" } else { "a/sub\0" };
        std::fs::write(fixture.at("one"), end).unwrap();
        let listed = run(&format!("{flag} one {flag} other"));
        assert_eq!(listed.root().size, run("a/sub b").root().size, "{flag}");
    }
}

#[test]
fn roots_come_from_standard_input() {
    let fixture = two().file(raw(b"odd\n\xff/f"), 9);
    let run = |flag: &str, list: &[u8]| {
        std::fs::write(fixture.at("list"), list).unwrap();
        let list = std::fs::File::open(fixture.at("list")).unwrap();
        start(&fixture, "-j -s").arg(flag).arg("-").stdin(list).run()
    };
    assert_eq!(run("--files-from", b"a/sub\nb/h").document().root().size, 320);
    assert_eq!(run("--files0-from", b"odd\n\xff\0b/h\0").document().root().size, 29);
    // An empty list is not the same as no list.
    let nothing = run("--files0-from", b"");
    assert_eq!(nothing.code(), 0);
    assert!(!String::from_utf8(nothing.stdout).unwrap().contains("\"size\""));
    // A path that is not there is a problem, as it would be on the command line.
    let shown = run("--files0-from", b"b\0none\0");
    assert_eq!(shown.code(), 1);
    assert!(
        shown.complaint().contains("weigh: error: none: No such file"),
        "{}",
        shown.complaint()
    );
}

/// `du` names it, goes on, and exits with 1. weigh said nothing.
#[test]
fn an_empty_name_between_nuls_is_a_problem() {
    let fixture = two();
    let run = |flags: &str, list: &[u8]| {
        std::fs::write(fixture.at("list"), list).unwrap();
        let list = std::fs::File::open(fixture.at("list")).unwrap();
        start(&fixture, flags).stdin(list).run()
    };
    let said = "weigh: error: an empty name: No such file or directory\n";
    for list in [&b"a/sub\0\0b/h\0"[..], b"\0a/sub\0b/h", b"a/sub\0b/h\0\0"] {
        let shown = run("-j -s --files0-from -", list);
        assert_eq!(shown.code(), 1);
        assert!(shown.complaint().starts_with(said), "{}", shown.complaint());
        assert_eq!(Document::parse(&shown.stdout).root().size, 320);
    }
    let shown = run("--files0-from -", b"\0");
    assert_eq!((shown.code(), shown.complaint().as_str()), (1, said));
    // Among others, it was not to be seen.
    let shown = run("-j -s --files0-from -", b"a/sub\0\0nope\0");
    let several = "weigh: error: 2 × No such file or directory: an empty name, nope\n";
    assert!(shown.complaint().starts_with(several), "{}", shown.complaint());
    // Its snapshot can be loaded.
    assert_eq!(run("--save saved --files0-from -", b"a/sub\0\0").code(), 1);
    let loaded = run("-j -s --from saved", b"");
    assert_eq!(loaded.code(), 1);
    assert!(loaded.complaint().starts_with(said), "{}", loaded.complaint());
    // An empty line is nothing.
    assert_eq!(run("-j -s --files-from -", b"a/sub\n\nb/h\n").document().root().size, 320);
}

#[test]
fn a_list_that_cannot_be_read_is_named() {
    let fixture = two();
    for flag in ["--files-from", "--files0-from"] {
        let shown = start(&fixture, flag).arg("none\n").run();
        let complaint = format!(
            "weigh: error: cannot read 'none\\n' for '{flag} <FILE>': No such file or directory\n"
        );
        assert_eq!((shown.complaint(), shown.code()), (complaint, 2));
    }
}

/// Who gives a path wants to see its line.
#[test]
fn a_path_that_is_given_has_a_line_however_small_it_is() {
    let large = (0..100).fold(Fixture::new(), |it, n| it.sparse(format!("large/{n}"), 1_000_000));
    let fixture = large.sparse("tiny/f", 1);
    for flags in ["-z 1000", "-n 3"] {
        let run = weigh("-s -c").args(flags.split(' ')).args(["large", "tiny"]);
        let text = run.within(fixture.path()).run().text();
        assert!(text.lines().any(|line| line.contains("── tiny")), "{flags}: {text}");
    }
}
