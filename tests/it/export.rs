//! Other programs' formats: what ncdu exports and what it loads, and tables.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::dice::{Dice, Names};
use crate::document::{Document, exact};
use crate::fixture::{Fixture, raw};
use crate::run::{python, said_by, weigh};

fn exported() -> Fixture {
    Fixture::of_each_kind()
        .file("top/b/h", 9000)
        .hard_link("top/b/h", "top/b/i")
        .file(raw(b"top/c/not utf-8 \xff\n\"\\\x1b\x7f"), 700)
}

/// ncdu with `args`; none if there is no ncdu.
fn ncdu(args: &[&str], place: &Path) -> Option<()> {
    if Command::new("ncdu").arg("-v").stdout(Stdio::null()).status().is_err() {
        eprintln!("there is no ncdu");
        return None;
    }
    let done = Command::new("ncdu").args(["-0"]).args(args).current_dir(place).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(())
}

/// Every directory and file, and what it comes to.
fn sizes(json: &[u8]) -> Vec<(Vec<u8>, u64, Option<u64>, u64)> {
    let document = Document::parse(json);
    let by_path = document.by_path().into_iter();
    by_path.map(|(path, node)| (path, node.size, node.entries, node.shared)).collect()
}

#[test]
fn what_ncdu_exports_is_what_weigh_weighs() {
    let mut fixtures = vec![exported()];
    fixtures.extend((0..8).map(|seed| Dice::new(seed).tree(Fixture::new(), Names::Hostile)));
    for fixture in fixtures {
        let place = Fixture::new();
        let file = place.at("export");
        let top = fixture.path().to_str().unwrap();
        if ncdu(&["-o", file.to_str().unwrap(), top], place.path()).is_none() {
            return;
        }
        for flags in ["-j", "-j -s"] {
            let direct = weigh(flags).arg(top).run().clean();
            let loaded = weigh(flags).arg("--from").arg(&file).run().clean();
            assert_eq!(sizes(&loaded), sizes(&direct));
        }
        for flags in ["-c", "-c -n 3"] {
            let direct = weigh(flags).arg(top).run().clean();
            assert_eq!(weigh(flags).arg("--from").arg(&file).run().clean(), direct);
        }
        let saved = place.at("saved.weigh");
        weigh("--from").arg(&file).arg("--save").arg(&saved).run().clean();
        let both = [&file, &saved].map(|file| weigh("-j --from").arg(file).run().clean());
        assert_eq!(both[0], both[1]);
    }
}

#[test]
fn what_weigh_exports_is_what_ncdu_loads() {
    for (seed, counting) in [(0, ""), (1, "-s"), (2, "")] {
        let fixture = Dice::new(seed).tree(exported(), Names::Hostile);
        let place = Fixture::new();
        let run = |flags: &str| weigh(&format!("{flags} {counting}")).arg(fixture.path());
        let direct = run("-j").run().clean();
        fs::write(place.at("ours"), run("--as ncdu").run().clean()).unwrap();
        let loaded = weigh(&format!("-j {counting} --from")).arg(place.at("ours")).run().clean();
        assert_eq!(sizes(&loaded), sizes(&direct));
        if ncdu(&["-f", "ours", "-o", "theirs"], place.path()).is_none() {
            return;
        }
        let again = weigh(&format!("-j {counting} --from")).arg(place.at("theirs")).run().clean();
        assert_eq!(sizes(&again), sizes(&direct));
    }
}

/// The names of roots are paths. Any other name that is one is refused.
#[test]
fn exports_of_several_roots_are_read_again() {
    let fixture = Fixture::new()
        .file("x/a/f", 5000)
        .file("x/b/g", 300)
        .hard_link("x/b/g", "x/a/h")
        .file("x/one", 20);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    let keep = |name: &str, written: Vec<u8>| fs::write(fixture.at(name), written).unwrap();
    for (roots, counting) in
        [("x/a x/b x/one", ""), ("x/a x/b", "-s"), ("x/one x/b", ""), ("x/one", "")]
    {
        let direct = run(&format!("-j {counting} {roots}"));
        keep("ours", run(&format!("--as ncdu {counting} {roots}")).clean());
        let loaded = run(&format!("-j {counting} --from ours")).clean();
        if roots.contains(' ') {
            assert_eq!(sizes(&loaded), sizes(&direct.clean()), "{roots}");
        } else {
            assert_eq!(direct.json()["size"], Document::parse(&loaded).root().size);
        }
        let saved = "saved.weigh";
        run(&format!("-q {counting} --from ours --save {saved}")).clean();
        assert_eq!(run(&format!("-j {counting} --from {saved}")).clean(), loaded, "{saved}");
        if ncdu(&["-f", "ours", "-o", "theirs"], fixture.path()).is_some() {
            let again = run(&format!("-j {counting} --from theirs")).clean();
            assert_eq!(Document::parse(&again).root().size, Document::parse(&loaded).root().size);
        }
    }
    // Of several machines, each has a line.
    for (host, root) in [("web1", "x/a"), ("web1", "x/b"), ("web2", "x/one")] {
        let file = root.replace('/', "-");
        run(&format!("-q {root} --save {file}")).clean();
        crate::saved::change(&fixture.at(file), |header| header["host"] = host.into());
    }
    let all = "--from x-a --from x-b --from x-one";
    keep("ours", run(&format!("--as ncdu {all}")).clean());
    assert_eq!(sizes(&run("-j --from ours").clean()), sizes(&run(&format!("-j {all}")).clean()));
    // One inode may have the same number on two machines.
    for host in ["web1", "web2"] {
        run(&format!("-q x --save {host}")).clean();
        crate::saved::change(&fixture.at(host), |header| header["host"] = host.into());
    }
    let all = "--from web1 --from web2";
    keep("ours", run(&format!("--as ncdu {all}")).clean());
    assert_eq!(sizes(&run("-j --from ours").clean()), sizes(&run(&format!("-j {all}")).clean()));
    for bad in [
        r#"[1,0,{},[{"name":"(total)"},[{"name":"a"},{"name":"b/c"}]]]"#,
        r#"[1,0,{},[{"name":"(total)","asize":1},{"name":"b/c"}]]"#,
        r#"[1,0,{},[{"name":"(total)"},[{"name":"a:","dsize":1},{"name":"b/c"}]]]"#,
        r#"[1,0,{},[{"name":"(total)"},[{"name":"a:"},[{"name":"b/c"},{"name":"b/c"}]]]]"#,
    ] {
        keep("bad", bad.into());
        let shown = run("--from bad");
        assert_eq!(shown.code(), 2, "{bad}");
        assert!(shown.complaint().contains("a slash in its name, b/c"), "{}", shown.complaint());
    }
}

/// A list of lengths came back as 0 bytes.
#[test]
fn an_export_of_one_size_is_shown_in_that() {
    let fixture = Fixture::new();
    fs::write(fixture.at("list"), "5000000\ta\n7000000\td/b\n").unwrap();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    let listed = run("--from list").text();
    fs::write(fixture.at("export"), run("--from list --as ncdu").clean()).unwrap();
    assert_eq!(run("--from export").text(), listed);
    run("-q --from export --save saved.weigh").clean();
    assert_eq!(run("--from saved.weigh").text(), listed);
    let shown = run("--no-apparent-size --from export");
    assert_eq!(shown.code(), 2);
    assert!(shown.complaint().contains("no disk usage"), "{}", shown.complaint());
    // The same for the other size.
    fs::write(fixture.at("list"), "path,disk\na,8192\nd/b,4096\n").unwrap();
    fs::write(fixture.at("export"), run("--from list --as ncdu").clean()).unwrap();
    assert_eq!(run("--from export").text(), run("--from list").text());
    let shown = run("-s --from export");
    assert_eq!(shown.code(), 2, "{}", shown.complaint());
}

/// Its directories have the totals of what is in them, where ncdu's have their own sizes.
#[test]
fn what_gdu_exports_counts_once() {
    let export = br#"[1,2,{"progname":"gdu","progver":"v5.31.0","timestamp":1795450818},
[{"name":"/d","asize":5001,"dsize":12288,"items":5,"mtime":1795450818},
{"name":"g","asize":5000,"dsize":8192,"mtime":1795450818,"ino":7,"hlnkc":true},
{"name":"l","asize":1,"mtime":1795450818,"notreg":true},
[{"name":"e","asize":12000,"dsize":12288,"items":3,"mtime":1795450818},
{"name":"h","asize":7000,"dsize":4096,"mtime":1795450818},
{"name":"f","asize":5000,"dsize":8192,"mtime":1795450818,"ino":7,"hlnkc":true}]]]"#;
    let place = Fixture::new();
    fs::write(place.at("export"), export).unwrap();
    let loaded = |flags: &str| {
        let loaded = weigh(&format!("-j {flags} --from export")).within(place.path()).run();
        loaded.json()["size"].as_u64()
    };
    assert_eq!((loaded(""), loaded("-s")), (Some(12_288), Some(12_001)));
    // The same of ncdu are own sizes.
    let export = String::from_utf8_lossy(export).replace("gdu", "ncdu");
    fs::write(place.at("export"), export).unwrap();
    assert_eq!(loaded(""), Some(3 * 12_288));
}

/// What programs wrote of one tree, in which an inode has three names (`tests/exports/README.md`): each comes to what
/// `du` says of it, less what the program leaves out.
#[test]
fn real_exports_come_to_what_du_says() {
    const DISK: u64 = 5_029_888;
    const LENGTH: u64 = 6_065_666 - 4 * 4096;
    for (name, disk, length, files) in [
        ("ncdu-1.18.json", DISK, LENGTH, 5),
        ("ncdu-1.18-extended.json", DISK, LENGTH, 5),
        ("ncdu-2.8.json", DISK, LENGTH, 5),
        ("ncdu-2.8-extended.json", DISK, LENGTH, 5),
        // It has no sizes of directories, and takes a pipe for a file.
        ("gdu-5.22.json", DISK - 4 * 4096, LENGTH, 6),
        // It has only lengths, in whole sectors, none of symlinks, and modes without a type.
        ("restic-0.18.json", 6_050_816, LENGTH - 3, 5),
    ] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports").join(name);
        let loaded =
            |flags: &str| weigh(flags).arg("--from").arg(&file).run().json()["size"].as_u64();
        let sizes = ["-j", "-j -s", "-j -f"].map(loaded);
        assert_eq!(sizes, [Some(disk), Some(length), Some(files)], "{name}");
        let largest = weigh("-d 0 -j").arg("--from").arg(&file).run().json();
        assert_eq!(largest["size"], disk, "{name}");
        check_times_and_owners(&file, name);
    }
}

/// All entries of the tree are of root, and were made in one second. gdu has times, extended exports of ncdu and those
/// of restic owners as well, and others neither.
fn check_times_and_owners(file: &Path, name: &str) {
    const MADE: u64 = 1_795_877_439;
    let has_times = !name.starts_with("ncdu") || name.contains("extended");
    let has_owners = has_times && !name.starts_with("gdu");
    let fixture = Fixture::new();
    let saved = |more: &str| {
        let run = weigh(&format!("-q {more} --save x --from")).arg(file);
        run.within(fixture.path()).run();
        fixture.at("x")
    };
    let run = |flags: &str, from: &Path| weigh(flags).arg("--from").arg(from).run();
    for from in [file, &saved(if has_owners { "--details" } else { "" })] {
        for (flags, has, why) in [
            ("-m m -j", has_times, "it has no times"),
            ("--by age -j", has_times, "it has no times"),
            ("-M +0 -j", has_times, "it has no times"),
            ("--by owner -j", has_owners, "without owners"),
        ] {
            let shown = run(flags, from);
            let said = shown.complaint();
            assert_eq!(shown.code(), if has { 0 } else { 2 }, "{name} {flags}: {said}");
            assert!(has || said.contains(why), "{name} {flags}: {said}");
        }
        if has_times {
            assert_eq!(run("-m m -j", from).json()["size"], MADE, "{name}");
        }
        if has_owners {
            let groups = run("--by owner -j", from).json();
            let groups = groups["children"].as_array().unwrap();
            assert_eq!((groups.len(), &groups[0]["name"]), (1, &"root".into()), "{name}");
        }
    }
}

/// Once, an entry needed `hlnkc`, as only ncdu and gdu write it; and all that had it without `ino` were one inode.
#[test]
fn exports_say_in_several_ways_that_inodes_have_links() {
    let place = Fixture::new();
    let size = |members: [&str; 3], gdu: &str| {
        let entry =
            |(name, members): (&str, &str)| format!(r#",{{"name":"{name}","dsize":512{members}}}"#);
        let entries: String = ["x", "y", "z"].into_iter().zip(members).map(entry).collect();
        let export = format!(r#"[1,2,{{{gdu}}},[{{"name":"/d","dev":3}}{entries}]]"#);
        fs::write(place.at("export"), export).unwrap();
        weigh("-j --from export").within(place.path()).run().json()["size"].as_u64().unwrap() / 512
    };
    for (one, other, expected) in [
        (r#","ino":7,"hlnkc":true"#, r#","ino":7,"hlnkc":true"#, 2),
        (r#","ino":7,"nlink":2"#, r#","nlink":2,"ino":7"#, 2),
        (r#","ino":7,"nlink":2"#, r#","ino":7,"hlnkc":true"#, 2),
        (r#","ino":7,"nlink":2,"hlnkc":false"#, r#","ino":7,"nlink":2,"hlnkc":false"#, 2),
        (r#","ino":7,"nlink":2,"notreg":true"#, r#","ino":7,"nlink":2,"notreg":true"#, 2),
        (r#","ino":7,"nlink":99999999999"#, r#","ino":7,"nlink":99999999999"#, 2),
        (r#","ino":0,"nlink":2"#, r#","ino":0,"nlink":2"#, 2),
        (r#","ino":7,"nlink":2,"dev":3"#, r#","ino":7,"nlink":2"#, 2),
        (r#","ino":7,"nlink":2,"dev":4"#, r#","ino":7,"nlink":2"#, 3),
        (r#","ino":7,"nlink":2"#, r#","ino":8,"nlink":2"#, 3),
        (r#","ino":7,"nlink":1"#, r#","ino":7,"nlink":1"#, 3),
        (r#","ino":7"#, r#","ino":7"#, 3),
        (r#","hlnkc":true"#, r#","hlnkc":true"#, 3),
        (r#","nlink":2"#, r#","nlink":2"#, 3),
    ] {
        assert_eq!(size([one, other, ""], ""), expected, "{one} {other}");
    }
    // Before version 5.30, gdu did not mark the first link, and marked the others.
    let links = ["", r#","ino":7,"hlnkc":true"#, r#","ino":7,"hlnkc":true"#];
    for (version, expected) in
        [("5.22.0-1+b1", 1), ("v5.29.0", 1), ("v5.30.0", 2), ("x", 2), ("v6", 2)]
    {
        let gdu = format!(r#""progname":"gdu","progver":"{version}""#);
        assert_eq!(size(links, &gdu), expected, "{version}");
    }
}

/// ncdu writes lists for them, gdu objects.
#[test]
fn what_was_excluded_does_not_count() {
    let place = Fixture::new();
    let export = br#"[1,2,{},[{"name":"/d","dsize":512},[{"name":"a","dev":9,"excluded":"othfs"}],
        [{"name":"b","dsize":4096,"excluded":"kernfs"}],{"name":"c","dsize":4096,"excluded":"pattern"}]]"#;
    fs::write(place.at("export"), export).unwrap();
    for (flags, expected) in [("-j", 512), ("-j --inodes", 1)] {
        let shown = weigh(&format!("{flags} --from export")).within(place.path()).run();
        let document = shown.document();
        assert_eq!((document.root().size, document.by_path().len()), (expected, 1), "{flags}");
    }
}

/// ncdu writes them without a sign.
#[test]
fn times_before_1970_are_read() {
    let place = Fixture::new();
    for (written, read) in [("18446744073709551615", -1), ("-1", -1), ("0", 0)] {
        let export = format!(
            r#"[1,2,{{"progname":"ncdu","progver":"1.18"}},[{{"name":"/d","mtime":{written}}},{{"name":"f","dsize":512,"mtime":{written}}}]]"#
        );
        fs::write(place.at("export"), export).unwrap();
        for (flags, expected) in [("-j", 512), ("-j -m m", read)] {
            let shown = weigh(&format!("{flags} --from export")).within(place.path()).run();
            assert_eq!(shown.json()["size"], expected, "{written} {flags}");
        }
    }
}

/// ncdu reads nothing of it.
#[test]
fn anything_may_be_in_the_header_of_an_export() {
    let place = Fixture::new();
    for header in [
        r#""timestamp":1795450818.25"#,
        r#""timestamp":"2026-11-28","progname":7,"progver":null"#,
        r#""progname":"gdu","progver":["x"],"timestamp":null,"timestamp":{"a":[]}"#,
    ] {
        let export = format!(
            r#"[1,2,{{{header}}},[{{"name":"/d"}},{{"name":"f","dsize":512,"uid":0,"gid":0,"mode":420,"mtime":1.5,"more":{{"x":[1]}}}}]]"#
        );
        fs::write(place.at("export"), export).unwrap();
        for (flags, expected) in [("-j", 512), ("-j -f", 1)] {
            let shown = weigh(&format!("{flags} --from export")).within(place.path()).run();
            assert_eq!(shown.json()["size"], expected, "{header} {flags}");
        }
    }
}

#[test]
fn what_ncdu_could_not_read_is_remembered() {
    let fixture = Fixture::new();
    let export = br#"[1,2,{"progname":"ncdu","progver":"1.18","timestamp":1},
        [{"name":"/x","asize":4096,"dsize":4096,"dev":5},
        [{"name":"closed","dsize":4096,"read_error":true}],
        {"name":"out","excluded":"pattern"},
        {"name":"f","asize":10,"dsize":8192,"ino":7,"hlnkc":true},
        {"name":"g","asize":10,"dsize":8192,"ino":7,"hlnkc":true},
        {"name":"lost","read_error":true}]]"#;
    let file = fixture.at("export");
    fs::write(&file, export).unwrap();
    let shown = weigh("-j --from").arg(&file).run();
    assert_eq!(shown.code(), 1);
    let document = Document::parse(&shown.stdout);
    assert_eq!(document.root().size, 4096 * 2 + 8192);
    assert_eq!(document.root().entries, Some(4));
    let paths: Vec<_> = document.errors().iter().map(|error| &error["path"]).collect();
    assert_eq!(paths, ["/x/closed", "/x/lost"]);
    for (bad, said) in [
        (r#"[2,0,{},[{"name":"x"}]]"#, "format 2"),
        (r#"[1,0,{},[{"name":"x"}]"#, "ends too early"),
        (r#"[1,0,{},[{"name":"x"},[]]]"#, "'{'"),
        (r#"[1,0,{},[{"dsize":5}]]"#, "name"),
        // A file in weigh's own form could not be loaded with these.
        (r#"[1,0,{},[{"name":"/x"},{"name":"a/b"}]]"#, "a slash in its name, a/b"),
        (r#"[1,0,{},[{"name":"/x"},[{"name":"a/b"}]]]"#, "a slash in its name, a/b"),
        (r#"[1,0,{"timestamp":-1},[{"name":"x"}]]"#, "before 1970"),
        (r#"[1,0,{"timestamp":253402300800},[{"name":"x"}]]"#, "after the year 9999"),
        (r#"[1,0,{},[{"name":"x"}],[{"name":"y"}]]"#, "one tree"),
    ] {
        fs::write(&file, bad).unwrap();
        let shown = weigh("--from").arg(&file).run();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{bad}");
        assert!(shown.complaint().contains(said), "{}", shown.complaint());
    }
}

#[test]
fn what_was_not_read_is_told_to_ncdu() {
    let fixture = Fixture::new().file("top/f", 10).unreadable("top/closed");
    let shown = weigh("--as ncdu top").within(fixture.path()).by_nobody(&fixture).run();
    assert_eq!(shown.code(), 1);
    let text = String::from_utf8(shown.stdout).unwrap();
    let line = text.lines().find(|line| line.contains("closed")).unwrap();
    assert!(line.contains("\"read_error\":true"), "{text}");
    assert_eq!(text.matches("read_error").count(), 1);
}

#[test]
fn an_export_as_deep_as_it_may_be_is_read() {
    native_only!("paths are bounded there");
    let fixture = Fixture::in_memory().chain("d", 100_000, 10);
    let export = weigh("--as ncdu").arg(fixture.at("d")).run().clean();
    fs::write(fixture.at("export"), export).unwrap();
    let direct = weigh("-j").arg(fixture.at("d")).run().clean();
    assert_eq!(weigh("-j --from").arg(fixture.at("export")).run().clean(), direct);
}

#[test]
fn rows_are_what_json_says() {
    let fixture = exported();
    let run = |flags: &str| weigh(flags).arg("top").within(fixture.path()).run();
    let document = run("-j -s").document();
    let lines = String::from_utf8(run("--as ndjson -s").clean()).unwrap();
    let mut rows: Vec<(Vec<u8>, String, u64, u64)> = Vec::new();
    for line in lines.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let path = exact(&row, "path");
        let depth = path.iter().filter(|byte| **byte == b'/').count();
        assert_eq!(row["depth"], depth, "{line}");
        let number = |key: &str| row[key].as_u64().unwrap();
        let kind = row["kind"].as_str().unwrap().to_owned();
        rows.push((path, kind, number("size"), number("entries")));
    }
    rows.sort();
    let nodes = document.by_path().into_iter();
    let expected: Vec<_> = nodes
        .map(|(path, node)| {
            let path = if path.is_empty() { b"top".to_vec() } else { [b"top/", &*path].concat() };
            (path, node.kind.clone(), node.size, node.entries.unwrap_or(1))
        })
        .collect();
    assert_eq!(rows, expected);

    let csv = run("--as csv -s").text();
    assert_eq!(csv.lines().count(), rows.len() + 1);
    assert!(csv.starts_with("path,kind,size,entries,depth\n\"top\",directory,"), "{csv}");
    assert!(csv.contains("\"top/c/not utf-8 \\xff\\n\"\"\\\\\\x1b\\x7f\",file,700,1,2\n"), "{csv}");
    assert_eq!(run("--as csv -s -n 2").text().lines().count(), 4);
    assert!(run("--as csv -s -F -n 1").text().contains("\n\"top/big\",file,70000,1,1\n"));
    assert!(run("--as csv -s -t").text().contains(",group,"));
    assert_eq!(run("--as json").clean(), run("-j").clean());
}

/// Where nothing has several links, what begins with a directory adds up to its total.
#[test]
fn stacks_add_up_to_what_directories_come_to() {
    let fixture = Fixture::new()
        .file("top/a b/one;two", 5000)
        .file("top/a b/c/three", 9000)
        .file("top/four\n5", 7)
        .file("top/empty", 0);
    for flags in ["", "-s", "-f", "-s -F", "-n 2", "-s -t"] {
        let run = |form: &str| {
            let run = weigh(&format!("{flags} {form}")).arg("top").within(fixture.path());
            run.run().clean()
        };
        let stacks = String::from_utf8(run("--as folded")).unwrap();
        let lines: Vec<(Vec<&str>, u64)> = stacks
            .lines()
            .map(|line| line.rsplit_once(' ').unwrap())
            .map(|(stack, own)| (stack.split(';').collect(), own.parse().unwrap()))
            .collect();
        let document = Document::parse(&run("-j"));
        assert_eq!(lines.iter().map(|(_, own)| own).sum::<u64>(), document.root().size, "{flags}");
        assert!(lines.iter().all(|(stack, own)| stack[0] == "top" && *own > 0), "{stacks}");
        if flags == "-s" {
            let below = |frames: &[&str]| {
                let inside = lines.iter().filter(|(stack, _)| stack.starts_with(frames));
                inside.map(|(_, own)| own).sum::<u64>()
            };
            assert_eq!(below(&["top", "a b"]), 14_000, "{stacks}");
            assert_eq!(below(&["top", "a b", "one\\x3btwo"]), 5000, "{stacks}");
            assert_eq!(below(&["top", "four\\n5"]), 7, "{stacks}");
        }
    }
}

/// Once, a directory with several links to a file had no line of its own.
#[test]
fn a_stack_has_the_size_of_its_directory_beside_links() {
    let fixture = Fixture::new().file("top/a", 500_000).hard_link("top/a", "top/b");
    let run = |flags: &str| weigh(flags).arg("top").within(fixture.path()).run();
    let document = run("-j").document();
    let file = document.by_path()[&b"a"[..]].size;
    let top = document.root().size - file;
    let stacks = run("--as folded").text();
    assert_eq!(stacks, format!("top {top}\ntop;a {file}\ntop;b {file}\n"));
    for flags in ["-n 1", "-t", "-d 0", "--by size"] {
        let total = run(&format!("-j {flags}")).document().root().size;
        let stacks = run(&format!("--as folded {flags}")).text();
        let sizes = stacks.lines().map(|line| line.rsplit_once(' ').unwrap().1);
        assert_eq!(sizes.map(|it| it.parse::<u64>().unwrap()).sum::<u64>(), total, "{stacks}");
    }
}

/// CSV has one of them as `\n`, and the other as `\\n`, as pictures do.
#[test]
fn a_line_break_is_told_from_a_backslash() {
    let fixture = Fixture::new().file("top/a\nb", 10).file("top/a\\nb", 20);
    let table = |form: &str| weigh("-s top --as").arg(form).within(fixture.path()).run().text();
    let paths: Vec<Value> = table("ndjson")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["path"].clone())
        .collect();
    assert_eq!(paths, ["top", "top/a\\nb", "top/a\nb"]);
    for path in [r#""top/a\nb""#, r#""top/a\\nb""#] {
        assert_eq!(table("csv").matches(path).count(), 1, "{path}");
    }
}

#[test]
fn what_does_not_fit_a_form_is_said() {
    for flags in [
        "--as ncdu -n 5",
        "--as ncdu -f",
        "--as md -m m",
        "--as md --frees",
        "df --as csv",
        "history --as md",
        "diff --as ncdu --since x",
        "diff --as folded --since x",
        "diff --as prometheus --since x",
        "--as prometheus -m m",
        "--as csv -j",
        "--as x",
    ] {
        let shown = weigh(flags).run();
        assert_eq!(shown.code(), 2, "weigh {flags}: {}", shown.complaint());
    }
}

/// What a snapshot counts is known once it is loaded.
#[test]
fn counts_that_were_saved_are_no_bytes_for_ncdu() {
    let fixture = exported();
    let file = fixture.at("snapshot");
    for counting in ["-f", "--inodes"] {
        weigh(counting).arg("--save").arg(&file).arg(fixture.at("top")).run().clean();
        let shown = weigh("--as ncdu --from").arg(&file).run();
        let expected = format!(
            "weigh: error: cannot show {}: what is asked for needs bytes, and ",
            file.display()
        );
        assert!(shown.complaint().starts_with(&expected), "{}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{counting}");
        assert!(!weigh("--as csv --from").arg(&file).run().clean().is_empty());
    }
}

/// DuckDB looks at the first 20,480 lines to find out what quotes are, and failed on the first path in quotes
/// after those. It reads what `find` lists.
#[test]
#[ignore = "needs DuckDB for Python"]
fn a_path_that_needs_quotes_may_come_late_in_a_table() {
    let mut fixture = Fixture::in_memory();
    for i in 0..30_000 {
        fixture = fixture.sparse(format!("top/{i}"), 10);
    }
    let fixture = fixture.sparse("top/a, b", 3).sparse("top/say \"x\"", 2).sparse("top/2", 1);
    let table = weigh("-s --as csv top").within(fixture.path()).run().clean();
    fs::write(fixture.at("table.csv"), table).unwrap();
    let query = "SELECT count(*), sum(size), list(path) FILTER (size < 10) FROM 'table.csv' \
        WHERE kind = 'file'";
    let expected = "[(30002, 299996, ['top/a, b', 'top/say \"x\"', 'top/2'])]\n";
    assert_eq!(duckdb(query, &fixture), expected);
}

/// The blocks of `kind` in the page on scripting.
fn documented(kind: &'static str) -> impl Iterator<Item = &'static str> {
    let page = include_str!("../../docs/scripting.md");
    let blocks = page.split("```").skip(1).step_by(2);
    blocks.filter_map(move |block| block.strip_prefix(kind)?.strip_prefix('\n'))
}

/// The query in the docs, by DuckDB itself (`pip install duckdb`).
#[test]
#[ignore = "needs DuckDB for Python"]
fn the_query_in_the_docs_runs() {
    let query = documented("sql").next().expect("there is one");
    let fixture = Fixture::new().file("top/a/x", 50_000).dir("top/b");
    let save = |name| {
        let rows = weigh("-s --as ndjson top").within(fixture.path()).run().clean();
        fs::write(fixture.at(name), rows).unwrap();
    };
    save("2026-11-01.ndjson");
    fs::write(fixture.at("top/b/y"), vec![0; 90_000]).unwrap();
    fs::create_dir(fixture.at("top/c")).unwrap();
    fs::write(fixture.at("top/c/z"), vec![0; 7]).unwrap();
    save("2026-11-08.ndjson");
    let expected = "[('top', 90007), ('top/b', 90000), ('top/c', 7), ('top/a', 0)]\n";
    assert_eq!(duckdb(query, &fixture), expected);
}

/// DuckDB, pandas and sqlite3 read tables with their defaults, and their sums are those of `find`. So do the lines in
/// the docs.
#[test]
#[ignore = "needs DuckDB and pandas for Python, and sqlite3"]
fn other_programs_read_tables() {
    let fixture = Fixture::new()
        .sparse("project/a, b", 30)
        .sparse("project/say \"x\"", 200)
        .sparse("project/two\nlines", 1000)
        .sparse("project/NULL", 5)
        .sparse("project/1e5", 7)
        .sparse("project/sub/.x", 60_000)
        .sparse(raw(b"project/\xff\xfe"), 800_000);
    let find = "find project -type f -printf '%s\\n' | awk '{ n++; s += $1 } END { print n, s }'";
    let expected = said_by(Command::new("sh").args(["-c", find]), &fixture);
    assert_eq!(expected, "7 861242\n");
    let mut tables = Vec::new();
    for form in ["csv", "ndjson"] {
        let table = weigh("-s project --as").arg(form).within(fixture.path()).run().clean();
        let name = format!("project.{form}");
        fs::write(fixture.at(&name), table).unwrap();
        tables.push(name);
    }
    for name in &tables {
        let query = format!("SELECT count(path), sum(size)::INT FROM '{name}' WHERE kind = 'file'");
        assert_eq!(duckdb(&query, &fixture), "[(7, 861242)]\n", "{name}");
    }
    for read in ["read_csv('project.csv')", "read_json('project.ndjson', lines=True)"] {
        let script = format!(
            "import pandas; t = pandas.{read}; t = t[t.kind == 'file']; print(t.path.count(), t['size'].sum())"
        );
        assert_eq!(said_by(python().args(["-c", &script]), &fixture), expected, "{read}");
    }
    let query = "SELECT count(path), sum(size) FROM t WHERE kind = 'file'";
    let mut sqlite = Command::new("sqlite3");
    sqlite.args(["-separator", " ", ":memory:", ".import --csv project.csv t", query]);
    assert_eq!(said_by(&mut sqlite, &fixture), expected);

    let script = documented("python").next().expect("there is one");
    let largest = said_by(python().args(["-c", script]), &fixture);
    assert!(largest.contains(r"project/\xff\xfe") && largest.contains("800000"), "{largest}");
    let script = documented("sh").find(|block| block.contains("sqlite3")).expect("there is one");
    let largest = said_by(Command::new("sh").args(["-c", script]), &fixture);
    assert!(largest.contains("project/\\xff\\xfe|800000\n"), "{largest}");
}

/// What DuckDB answers to `query` within `fixture`, as Python prints it.
fn duckdb(query: &str, fixture: &Fixture) -> String {
    let script = "import duckdb, sys; print(duckdb.sql(sys.argv[1]).fetchall())";
    said_by(python().args(["-c", script, query]), fixture)
}
