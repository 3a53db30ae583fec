//! Several roots: the same one twice, one in another, one that is not there. Each inode counts once
//! in the whole, whatever it is spelled like.

use crate::fixture::Fixture;
use crate::run::{Weigh, weigh};

fn two() -> Fixture {
    Fixture::new()
        .file("a/f", 5000)
        .file("a/sub/g", 300)
        .file("b/h", 20)
        .hard_link("a/f", "b/f")
        .symlink("a", "to-a")
        .symlink("../a/sub", "b/to-sub")
}

fn run(fixture: &Fixture, roots: &[&str]) -> crate::document::Document {
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
        let document = run(&fixture, &roots);
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

/// `-i` leaves a directory out of the outer root, but not as the root that it is itself. It was
/// weighed neither way.
#[test]
fn a_hidden_root_inside_another_is_weighed() {
    let fixture = Fixture::new().file("top/seen", 300).file("top/.hidden/f", 5000);
    for roots in [["top", "top/.hidden"], ["top/.hidden", "top"]] {
        let document = start(&fixture, "-j -s -i").arg(roots[0]).arg(roots[1]).run().document();
        assert_eq!(document.root().size, 5300, "{roots:?}");
    }
}

/// A directory that can be entered but not listed does not give away what is in it; but that can be
/// named. It was not weighed.
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

#[test]
fn distinct_roots_stand_below_a_total() {
    let fixture = two();
    let document = run(&fixture, &["b", "./a/"]);
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
    let document = run(&fixture, &["a/f"]);
    let root = document.root();
    assert_eq!((root.kind.as_str(), root.size, root.name.as_slice()), ("file", 5000, &b"a/f"[..]));
    assert!(!root.listed && root.entries.is_none());

    let document = run(&fixture, &["b/h", "a/sub"]);
    assert_eq!((document.root().kind.as_str(), document.root().size), ("total", 320));

    let picture = start(&fixture, "-s -c -b -o b").arg("b/h").run().text();
    assert_eq!(picture.lines().count(), 1, "{picture}");
    assert!(picture.contains("20B") && picture.contains('h'), "{picture}");
}

/// Two links to one inode are two names of one root.
#[test]
fn two_links_to_one_file_count_once() {
    let fixture = two();
    let document = run(&fixture, &["a/f", "b/f"]);
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
