//! What could not be read reaches `≥` and status 1: on every source, in every format, and on every way through a file.
//! Each directory around it is marked, and nothing else.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::{Shown, Weigh, said_by, values_of, weigh};

/// Shows every entry, with its path and all its bytes.
const PICTURE: &str = "-c -s -b -o b -p -n 99 -w 250";

/// What it takes to leave something unread.
struct Kind {
    /// The flags that need it.
    flags: &'static str,
    hide: fn(Fixture) -> Fixture,
}

const KINDS: [Kind; 4] = [
    // A directory that cannot be opened.
    Kind { flags: "", hide: |fixture| fixture.unreadable("top/a/in/lost") },
    // Entries that cannot be examined. They are in no tree.
    Kind { flags: "", hide: |fixture| fixture.mode("top/a/in/lost", 0o444) },
    // Rules for what to leave out, and a tag. Their own files lack nothing.
    Kind {
        flags: "--gitignore",
        hide: |fixture| {
            fixture.file("top/a/in/lost/.ignore", 7).unreadable("top/a/in/lost/.ignore")
        },
    },
    Kind {
        flags: "--exclude-caches",
        hide: |fixture| {
            let tag = "top/a/in/lost/CACHEDIR.TAG";
            fixture.file(tag, 43).unreadable(tag)
        },
    },
];

/// What each of them leaves incomplete.
const PARTIAL: [&str; 4] = ["top", "top/a", "top/a/in", "top/a/in/lost"];

fn tree(kind: &Kind) -> Fixture {
    let fixture = Fixture::new()
        .file("top/a/in/f", 5_000)
        .file("top/a/in/whole/f", 10)
        .file("top/a/in/lost/deeper/f", 60_000)
        .file("top/a/in/lost/secret", 70_000)
        .file("top/a/in/lost.and/found", 20)
        .file("top/a/g", 200)
        .file("top/b/f", 4_000)
        .file("top/g", 300)
        .file("other/f", 100)
        .dir("saved")
        .mode("saved", 0o777);
    (kind.hide)(fixture)
}

/// Runs weigh as a plain user.
fn run(fixture: &Fixture, flags: &str) -> Shown {
    started(fixture, flags).run()
}

fn started(fixture: &Fixture, flags: &str) -> Weigh {
    weigh(flags).within(fixture.path()).by_nobody(fixture)
}

/// Puts what `flags` print into a file.
fn print(fixture: &Fixture, flags: &str, name: &str) {
    let shown = run(fixture, flags);
    assert_eq!(shown.code(), 1, "{flags}: {}", shown.complaint());
    fs::write(fixture.at(name), shown.stdout).unwrap();
}

/// The figure and the path of each line of a picture, sorted by path.
fn lines(shown: &Shown) -> Vec<(String, String)> {
    let text = String::from_utf8(shown.stdout.clone()).unwrap();
    let mut lines: Vec<_> = text
        .lines()
        .filter(|line| line.contains(['─', '┴']))
        .map(|line| {
            let path = line.split(['─', '┴']).next_back().unwrap().trim().to_owned();
            (path, line.split_whitespace().next().unwrap().to_owned())
        })
        .collect();
    lines.sort();
    lines
}

/// The paths of the lines that are marked.
fn marked(lines: &[(String, String)]) -> Vec<&str> {
    let marked = lines.iter().filter(|(_, figure)| figure.starts_with('≥'));
    marked.map(|(path, _)| path.as_str()).collect()
}

#[test]
fn each_way_through_a_file_keeps_all_marks() {
    for kind in KINDS {
        let (fixture, flags) = (tree(&kind), kind.flags);
        let direct = run(&fixture, &format!("{PICTURE} {flags} top"));
        let expected = lines(&direct);
        assert_eq!(direct.code(), 1, "{flags}");
        assert_eq!(marked(&expected), PARTIAL, "{flags}: {expected:?}");
        let name = "x.weigh";
        run(&fixture, &format!("-q {flags} top --save saved/{name}"));
        print(&fixture, &format!("--as ncdu {flags} top"), "saved/ncdu");
        print(&fixture, "--as ncdu --from saved/x.weigh", "saved/x.ncdu");
        run(&fixture, "-q --from saved/x.ncdu --save saved/again.weigh");
        run(&fixture, "-q --from saved/x.weigh --save saved/once-more.weigh");
        let files = fixture.names("saved");
        assert_eq!(files.len(), 5, "{files:?}");
        for name in files {
            let shown = run(&fixture, &format!("{PICTURE} --from saved/{name}"));
            assert_eq!((lines(&shown), shown.code()), (expected.clone(), 1), "{flags}: {name}");
            let said = shown.complaint();
            assert!(said.contains("top/a/in/lost") && said.contains("lower bound"), "{said}");
        }
        // Beside a snapshot that is whole.
        run(&fixture, &format!("-q {flags} other --save saved/other.weigh"));
        let both = ["", "--save saved/both.weigh"];
        let joined = both.map(|save| {
            let flags = format!("{PICTURE} --from saved/x.weigh --from saved/other.weigh");
            run(&fixture, &format!("{flags} {save}"))
        });
        let again = [run(&fixture, &format!("{PICTURE} --from saved/both.weigh"))];
        for shown in joined.iter().chain(&again) {
            let lines = lines(shown);
            let mut all = vec!["(total)"];
            all.extend(PARTIAL);
            assert_eq!((marked(&lines), shown.code()), (all, 1), "{flags}: {lines:?}");
            assert!(expected.iter().all(|line| lines.contains(line)), "{flags}: {lines:?}");
        }
    }
}

/// Makes the program `rsh` of a `script`. Another one writes it: while one thread has it open, a fork in another keeps it
/// so, and it cannot be started.
fn rsh(fixture: &Fixture, script: &str) {
    let write = "printf '#!/bin/sh\n%s\n' \"$0\" > rsh && chmod 755 rsh";
    said_by(Command::new("sh").args(["-c", write, script]), fixture);
}

/// The same from another machine, with weigh there and without.
#[test]
fn each_way_from_a_host_keeps_all_marks() {
    for kind in KINDS.iter().filter(|kind| kind.flags.is_empty()) {
        let fixture = tree(kind).dir("bin");
        rsh(&fixture, "for last do :; done; exec sh -c \"$last\"");
        let expected = lines(&run(&fixture, &format!("{PICTURE} top")));
        std::os::unix::fs::symlink(fixture.at("a copy of weigh"), fixture.at("bin/weigh")).unwrap();
        let top = format!("web:{}/", fixture.path().display());
        for path in
            [format!("{}:/usr/bin:/bin", fixture.at("bin").display()), "/usr/bin:/bin".into()]
        {
            let flags = format!("{PICTURE} --rsh ./rsh {top}top");
            let shown = started(&fixture, &flags).env("PATH", &path).run();
            let lines =
                lines(&shown).into_iter().map(|(path, figure)| (path.replace(&top, ""), figure));
            assert_eq!(lines.collect::<Vec<_>>(), expected, "{path}: {}", shown.complaint());
            assert_eq!(shown.code(), 1);
        }
    }
}

/// What a format shows of it. Others have no place for it: stderr and the status say it then.
#[test]
fn each_format_says_it() {
    let says: [(&str, Option<&str>); 25] = [
        ("-c", Some("≥")),
        ("-c -p", Some("≥")),
        ("-c -F", Some("≥")),
        ("-c -D", Some("≥")),
        ("-c -t", Some("≥")),
        ("-c --by size", Some("≥")),
        ("-c --by age", Some("≥")),
        ("-c -d 0", Some("≥")),
        ("-c -n 1", Some("≥")),
        ("-c -z 4000", Some("≥")),
        ("-c -R", Some("≥")),
        ("-c -f", Some("≥")),
        ("-c --inodes", Some("≥")),
        ("-j", Some("\"complete\":false")),
        ("--as json", Some("\"complete\":false")),
        ("--as html", Some("marked with ≥")),
        ("--as svg", Some("≥")),
        ("--as prometheus", Some("weigh_errors{path=\"top\"} ")),
        ("--as ncdu", Some("\"read_error\":true")),
        ("--as md", Some("≥")),
        ("--as csv", None),
        ("--as ndjson", None),
        ("--as folded", None),
        ("--summarize", None),
        // A limit that is not reached may be exceeded.
        ("-c --fail-over 1G", Some("≥")),
    ];
    // Parquet is no text, and has a column for it, as CSV: `export::` reads it.
    for form in values_of("--as").into_iter().filter(|form| form != "parquet") {
        assert!(says.iter().any(|(said, _)| *said == format!("--as {form}")), "{form}");
    }
    for kind in KINDS {
        let (fixture, flags) = (tree(&kind), kind.flags);
        run(&fixture, &format!("-q {flags} top --save saved/x.weigh"));
        for source in [format!("{flags} top"), "--from saved/x.weigh".into()] {
            for (format, says) in says {
                let shown = run(&fixture, &format!("-q {format} {source}"));
                let text = String::from_utf8_lossy(&shown.stdout);
                assert_eq!(shown.code(), 1, "{format} {source}: {text}");
                assert!(shown.complaint().contains("top/a/in/lost"), "{format} {source}");
                assert!(says.is_none_or(|says| text.contains(says)), "{format} {source}: {text}");
                assert!(!text.contains("weigh_errors{path=\"top\"} 0"), "{source}: {text}");
            }
        }
    }
}

/// What else can be made again may be where nothing could be read.
#[test]
fn what_can_be_made_again_is_a_lower_bound() {
    let fixture = Fixture::new()
        .file("top/web/node_modules/ww/index.js", 50_000)
        .file("top/web/node_modules/ww/package.json", 2)
        .file("top/web/package.json", 2)
        // The lock file names the package: its content is `ww`.
        .file("top/web/package-lock.json", 2)
        .unreadable("top/locked");
    // Entries of others are not listed as what can go.
    let is_root = rustix::process::geteuid().is_root();
    let names = ["", "/ww", "/ww/index.js", "/ww/package.json"];
    let fixture = names
        .iter()
        .filter(|_| is_root)
        .fold(fixture, |fixture, name| fixture.owned(format!("top/web/node_modules{name}"), 65534));
    let shown = run(&fixture, "clean -c --older 0h top");
    let text = String::from_utf8(shown.stdout.clone()).unwrap();
    let all = text.lines().find(|line| line.contains("  in all")).expect(&text);
    assert!(all.trim_start().starts_with('≥'), "{text}");
    assert_eq!(shown.code(), 1);
}

/// Paths that do not exist, and rules outside all PATHs, are in no line that an export could mark but the topmost.
#[test]
fn what_is_lost_outside_the_tree_is_kept_in_an_export() {
    let fixture = Fixture::new().file("top/f", 5).file("other/f", 6).dir("saved");
    for paths in ["none top", "none top other", "top none"] {
        print(&fixture, &format!("--as ncdu {paths}"), "saved/ncdu");
        let shown = run(&fixture, &format!("{PICTURE} --from saved/ncdu"));
        let lines = lines(&shown);
        assert_eq!(shown.code(), 1, "{paths}");
        let topmost = if paths.contains("other") { "(total)" } else { "top" };
        assert_eq!(marked(&lines), [topmost], "{paths}: {lines:?}");
    }
}

/// Every PATH may lack something, where the index of the work tree around them cannot be read. A metric was at the
/// index, and 0 at the PATHs.
#[test]
fn rules_outside_count_at_each_path() {
    let fixture = Fixture::new().file("top/a/f", 5).file("top/b/f", 6);
    let git = |arguments: &[&str]| {
        said_by(Command::new("git").args(["-C", "top"]).args(arguments), &fixture);
    };
    git(&["init", "-q"]);
    git(&["add", "a"]);
    let fixture = fixture.file("top/.gitignore", 1);
    let fixture = fixture.unreadable("top/.git/index");
    let shown = run(&fixture, "-s --gitignore --as prometheus top/a top/b");
    let text = String::from_utf8(shown.stdout.clone()).unwrap();
    let errors: Vec<_> = text.lines().filter(|line| line.starts_with("weigh_errors{")).collect();
    assert_eq!(errors, ["weigh_errors{path=\"top/a\"} 1", "weigh_errors{path=\"top/b\"} 1"]);
    assert_eq!(shown.code(), 1);
}

/// Rules hold below a repository. If that cannot be read, nobody knows what they leave out: it was as if there were none.
#[test]
fn a_repository_that_cannot_be_read_may_ignore_something() {
    for lost in [".git", ".git/HEAD", ".git/info/exclude", ".gitignore"] {
        let fixture = Fixture::new().file("top/a/f.o", 5000).file("top/a/f", 6);
        said_by(Command::new("git").args(["init", "-q", "top"]), &fixture);
        fs::write(fixture.at("top/.gitignore"), "*.o\n").unwrap();
        assert_eq!(run(&fixture, "-s --gitignore top/a").code(), 0);
        let fixture = fixture.unreadable(format!("top/{lost}"));
        for path in ["top/a", "top"] {
            let shown = run(&fixture, &format!("-F {PICTURE} --gitignore {path}"));
            assert_eq!(shown.code(), 1, "{lost} {path}");
            assert!(shown.complaint().contains(lost), "{lost} {path}: {}", shown.complaint());
            assert!(marked(&lines(&shown)).contains(&path), "{lost} {path}");
            let said = shown.complaint();
            let once: std::collections::BTreeSet<_> = said.lines().collect();
            assert_eq!(once.len(), said.lines().count(), "{said}");
        }
    }
    // Git says that these are no repositories.
    for text in ["", "gitdir: elsewhere", "x"] {
        let fixture = Fixture::new().file("top/a/f.o", 5000);
        fs::write(fixture.at("top/.git"), text).unwrap();
        fs::write(fixture.at("top/.gitignore"), "*.o\n").unwrap();
        assert_eq!(run(&fixture, "-s --gitignore top/a").code(), 0, "{text}");
    }
}

/// A scan that was interrupted, in a file.
fn interrupted(fixture: &Fixture, name: &str, errors: &serde_json::Value) {
    let snapshot = json!({
        "schema": 1, "tool": "weigh", "measure": "apparent", "complete": false, "name": name, "kind": "directory",
        "size": 9, "entries": 3, "errors": errors, "children": [
            {"name": "d", "kind": "directory", "size": 9, "entries": 1, "children": []},
            {"name": "f", "kind": "file", "size": 0}
        ]
    });
    crate::saved::save(&fixture.at(format!("saved/{name}")), &snapshot);
}

/// Nobody knows where an interrupted scan lacks something. The status was that of an interrupted run, once its output
/// was loaded; and beside an error, the interruption was lost.
#[test]
fn an_interrupted_scan_stays_one_in_each_format() {
    let fixture = Fixture::new().dir("saved").mode("saved", 0o777);
    interrupted(&fixture, "cut", &json!([]));
    let name = "cut";
    let run = |flags: &str| run(&fixture, &format!("-s {flags} --from saved/{name}"));
    let direct = self::run(&fixture, &format!("{PICTURE} --from saved/{name}"));
    let expected = lines(&direct);
    let directory = format!("{name}/d");
    assert!(marked(&expected).starts_with(&[name, &directory]), "{expected:?}");
    assert_eq!(direct.code(), 1);
    assert!(direct.complaint().contains("interrupted"), "{}", direct.complaint());
    let printed = run("-j");
    assert_eq!(Document::parse(&printed.stdout).header["interrupted"], true);
    fs::write(fixture.at("saved/ncdu"), run("--as ncdu").stdout).unwrap();
    let again = self::run(&fixture, &format!("{PICTURE} --from saved/ncdu"));
    assert_eq!((marked(&lines(&again))[0], again.code()), (name, 1));
    let unsaved = run("--save saved/new.weigh");
    assert_eq!(unsaved.code(), 1, "{}", unsaved.complaint());
    for format in ["--as csv", "--as folded", "--as html", "--summarize", "-c -F"] {
        let shown = run(format);
        assert_eq!(shown.code(), 1, "{format}");
        assert!(shown.complaint().contains("interrupted"), "{format}");
    }
}

/// A whole snapshot of a tree that could not be read as a whole before, and then not again.
fn twice() -> Fixture {
    let fixture = tree(&KINDS[0]);
    run(&fixture, "-q top --save saved/some.weigh");
    let fixture = fixture.mode("top/a/in/lost", 0o755);
    assert_eq!(run(&fixture, "-q top --save saved/all.weigh").code(), 0);
    fixture
}

/// What is new may have been there before. The status was 0.
#[test]
fn a_comparison_is_as_complete_as_both_sides() {
    let fixture = twice();
    for (now, before, code) in
        [("all", "some", 1), ("some", "all", 1), ("some", "some", 1), ("all", "all", 0)]
    {
        for format in ["-c", "-c -t", "-j", "--as csv", "--as html", "-c --fail-growth 1G"] {
            let flags = format!(
                "diff -q -s {format} --from saved/{now}.weigh --since saved/{before}.weigh"
            );
            let shown = run(&fixture, &flags);
            assert_eq!(shown.code(), code, "{flags}");
            assert_eq!(shown.complaint().contains("top/a/in/lost"), code == 1, "{flags}");
            if format == "-j" {
                let json: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
                assert_eq!(json["complete"], code == 0, "{flags}");
            }
        }
    }
    let shown = run(
        &fixture,
        "diff -c -s --from saved/all.weigh --since saved/some.weigh --fail-growth 1B",
    );
    assert_eq!(shown.code(), 3);
}

/// Sizes were shown without a mark, and an incomplete snapshot between others was not mentioned.
#[test]
fn a_history_says_which_sizes_are_lower_bounds() {
    let fixture = twice();
    for (name, time) in [("some", 100_000), ("all", 200_000), ("some", 300_000)] {
        let load = format!("--from saved/{name}.weigh --save saved/{time}.weigh");
        run(&fixture, &format!("-q {load}"));
        let file = fixture.at(format!("saved/{time}.weigh"));
        crate::saved::change(&file, |header| header["time"] = time.into());
    }
    let history = |times: &[u32]| {
        let files: Vec<_> =
            times.iter().map(|time| format!("history saved/{time}.weigh")).collect();
        run(&fixture, &format!("-c -s -p {}", files.join(" ")))
    };
    let last = history(&[200_000, 300_000]);
    let text = String::from_utf8(last.stdout.clone()).unwrap();
    let marked: Vec<_> = text
        .lines()
        .filter(|line| line.contains('≥'))
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!((marked, last.code()), (PARTIAL.to_vec(), 1), "{text}");
    let first = history(&[100_000, 200_000]);
    let text = String::from_utf8(first.stdout.clone()).unwrap();
    assert!(!text.contains('≥'), "{text}");
    assert_eq!(first.code(), 1, "{text}");
    assert!(first.complaint().contains("1 snapshot is incomplete"), "{}", first.complaint());
}

/// Of several hosts that cannot be reached, only the last was named.
#[test]
fn each_host_that_cannot_be_reached_is_named() {
    let fixture = Fixture::new();
    rsh(&fixture, "exit 255");
    for format in ["-c", "-j", "--as csv", "--summarize"] {
        let flags = format!("{format} --print-errors --rsh ./rsh one:/x two:/y three:/z");
        let shown = started(&fixture, &flags).env("PATH", "/usr/bin:/bin").run();
        let said = shown.complaint();
        assert_eq!(shown.code(), 1, "{format}: {said}");
        assert!(["one:/x", "two:/y", "three:/z"].iter().all(|host| said.contains(host)), "{said}");
    }
    let one = started(&fixture, "-c --rsh ./rsh one:/x").env("PATH", "/usr/bin:/bin").run();
    assert_eq!((one.code(), one.complaint().lines().count()), (1, 1), "{}", one.complaint());
}

/// Where a host did not answer and one root is left, nothing in the picture or the page said that the sum lacks something.
#[test]
fn the_line_above_all_roots_is_marked_if_one_is_left() {
    let fixture = Fixture::new().file("a/f", 5000).dir("saved").mode("saved", 0o777);
    rsh(&fixture, "case $* in *two*) exit 255; esac; for last do :; done; exec sh -c \"$last\"");
    let a = fixture.at("a").display().to_string();
    let both = format!("--rsh ./rsh one:{a} two:{a}");
    let run = |flags: &str| {
        let shown = started(&fixture, &format!("{flags} {both}")).env("PATH", "/usr/bin:/bin");
        let shown = shown.run();
        assert_eq!(shown.code(), 1, "{}", shown.complaint());
        String::from_utf8(shown.stdout).unwrap()
    };
    let picture = run("-s -c");
    let marked: Vec<_> = picture.lines().filter(|line| line.contains('≥')).collect();
    assert!(marked.len() == 1 && marked[0].contains("(total)"), "{picture}");
    for format in ["html", "svg"] {
        let page = run(&format!("-s --as {format}"));
        assert!(page.contains('≥'), "{format}");
    }
    // The same from a file.
    run("-s -q --save saved/one.weigh");
    let loaded = started(&fixture, "-s -c --from saved/one.weigh").run();
    assert_eq!((loaded.code(), String::from_utf8(loaded.stdout).unwrap()), (1, picture));
    // A single root has no line above it, and neither has one beside a PATH that does not exist.
    for roots in ["a", "a none"] {
        let one = started(&fixture, &format!("-s -c {roots}")).run();
        assert!(!String::from_utf8(one.stdout).unwrap().contains("(total)"), "{roots}");
    }
}

/// It said only that the roots differ, and not why.
#[test]
fn a_comparison_names_hosts_that_cannot_be_reached() {
    let fixture = Fixture::new().file("a/f", 5000).file("b/g", 300).file("c/h", 20);
    let fixture = fixture.dir("saved").mode("saved", 0o777);
    let [a, b, c] = ["a", "b", "c"].map(|name| fixture.at(name).display().to_string());
    let hosts = format!("--rsh ./rsh one:{a} two:{b} three:{c}");
    rsh(&fixture, "for last do :; done; exec sh -c \"$last\"");
    let run = |flags: &str| {
        started(&fixture, &format!("-s {hosts} {flags}")).env("PATH", "/usr/bin:/bin").run()
    };
    run("-q --save saved/before.weigh").clean();
    run("diff --since saved/before.weigh").clean();
    rsh(
        &fixture,
        "case $* in *two*|*three*) exit 255; esac; for last do :; done; exec sh -c \"$last\"",
    );
    for flags in [
        "diff --since saved/before.weigh",
        "diff -j --since saved/before.weigh",
        "diff --since saved --by type",
    ] {
        let shown = run(flags);
        let said = shown.complaint();
        assert_eq!((shown.code(), shown.stdout.len()), (1, 0), "{flags}: {said}");
        assert!(
            [format!("two:{b}"), format!("three:{c}")].iter().all(|it| said.contains(it)),
            "{said}"
        );
    }
}

/// The screen marks it, and its status tells.
#[test]
#[cfg(all(target_os = "linux", feature = "tui"))]
fn the_screen_says_it() {
    for kind in KINDS {
        let fixture = tree(&kind);
        run(&fixture, &format!("-q {} top --save saved/x.weigh", kind.flags));
        print(&fixture, &format!("--as ncdu {} top", kind.flags), "saved/ncdu");
        for name in ["x.weigh", "ncdu"] {
            let mut terminal = crate::pty::Terminal::new();
            let flags = format!("--ui -s --from saved/{name}");
            let mut child = weigh(&flags).within(fixture.path()).on(&terminal).into_pipe().spawn();
            terminal.wait_for("≥");
            terminal.wait_for("unread");
            terminal.type_in(b"q");
            assert_eq!(child.wait().unwrap().code(), Some(1), "{name}");
        }
    }
}

/// Calls that fail, as on a broken disk, a network mount that is gone, or one of another user.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs strace"]
fn calls_that_fail_leave_marks_on_each_way() {
    native_only!("its calls have other paths");
    let whole = Kind { flags: "", hide: |fixture| fixture };
    let (deeper, secret) = ("top/a/in/lost/deeper", "top/a/in/lost/secret");
    for (call, at) in [("getdents64", deeper), ("openat", deeper), ("statx", secret)] {
        let mut expected = PARTIAL.to_vec();
        expected.extend((at == deeper).then_some(deeper));
        for error in ["EIO", "EACCES", "ESTALE", "ENOTCONN"] {
            let fixture = tree(&whole);
            let marked_in = |flags: &str| {
                let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-P"].map(String::from);
                let inject = format!("inject={call}:error={error}");
                // The path of a handle, or a name in the call.
                let path = match call {
                    "getdents64" => fixture.at(at).display().to_string(),
                    _ => at.rsplit('/').next().unwrap().to_owned(),
                };
                let strace = strace.into_iter().chain([path, "-e".into(), inject]);
                weigh(flags).arg(fixture.at("top")).within(fixture.path()).under(strace).run()
            };
            let place = format!("{}/", fixture.path().display());
            let partial = |shown: &Shown| -> Vec<String> {
                marked(&lines(shown)).iter().map(|path| path.replace(&place, "")).collect()
            };
            let what = format!("{call} {error}");
            let direct = marked_in(PICTURE);
            assert_eq!(
                (partial(&direct), direct.code()),
                (expected.iter().map(ToString::to_string).collect(), 1),
                "{what}"
            );
            marked_in("-q --save saved/x.weigh");
            fs::write(fixture.at("saved/x.ncdu"), marked_in("--as ncdu").stdout).unwrap();
            for name in ["x.weigh", "x.ncdu"] {
                let shown = run(&fixture, &format!("{PICTURE} --from saved/{name}"));
                assert_eq!((lines(&shown), shown.code()), (lines(&direct), 1), "{what} {name}");
            }
        }
    }
}
