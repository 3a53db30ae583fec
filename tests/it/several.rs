//! Snapshots that are loaded together are what a walk of all their roots is: in every format, for roots that are equal,
//! lie in one another, or share links. Also snapshots of several hosts, and ones that do not fit together.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
use crate::oracle::{self, Eyes};
use crate::rounds::{for_seeds, rounds};
use crate::run::weigh;
use crate::saved;
use crate::snapshots::same;

const SEEDS: (usize, usize) = (30, 300);

/// What is shown of both.
const SHOWN: [&str; 22] = [
    "",
    "-n 3",
    "-d 1",
    "-D -p",
    "-F",
    "-F -n 5",
    "-r -R",
    "-t",
    "--by size",
    "-j",
    "-j -p -d 2",
    "-t -j",
    "--sort count",
    "--as csv",
    "--as ndjson",
    "--as md",
    "--as ncdu",
    "--as prometheus",
    "--as folded",
    "--summarize",
    "-e 1 -X b2 -j",
    "-v 2 -i",
];

const MEASURES: [&str; 4] = ["", "-s", "-f", "--inodes"];

/// What does not fit what is measured.
fn fits(flags: &str, measure: &str) -> bool {
    let is_bytes = matches!(measure, "" | "-s");
    is_bytes || !(flags.contains("ncdu") || flags.contains("by size"))
}

#[test]
fn loaded_together_they_are_a_walk_of_all() {
    for_seeds(rounds(SEEDS.0, SEEDS.1), |seed| {
        let mut dice = Dice::new(seed + 21_000_000);
        let place = if seed % 8 == 0 { Fixture::new() } else { Fixture::in_memory() };
        let fixture = dice.tree(place, Names::Hostile);
        let top = fixture.at("tree");
        let entries = oracle::find(&top, Eyes::Mine);
        // Each is saved alone, or with the next one.
        let (mut given, mut snapshots) = (Vec::new(), Vec::<Vec<PathBuf>>::new());
        for _ in 0..2 + dice.below(7) {
            let entry = dice.of(&entries);
            let below = PathBuf::from("tree").join(raw(&entry.path));
            let root = match dice.below(8) {
                0 => PathBuf::from("elsewhere"),
                1 => fixture.at(&below),
                2 if entry.kind == b'd' => below.join("."),
                _ => below,
            };
            if snapshots.is_empty() || dice.below(4) > 0 {
                snapshots.push(Vec::new());
            }
            snapshots.last_mut().unwrap().push(root.clone());
            given.push(root);
        }
        let measure = *dice.of(&MEASURES);
        let details = if dice.below(2) == 0 { "--details" } else { "" };
        let saved: Vec<_> = (0..snapshots.len())
            .map(|i| format!("{seed}-{i}.{}", ["txt", "weigh"][(i + seed as usize) % 2]))
            .collect();
        let place = Fixture::in_memory();
        for (roots, name) in snapshots.iter().zip(&saved) {
            let save = weigh(&format!("{measure} {details}")).within(fixture.path());
            save.arg("--save").arg(place.at(name)).arg("--").args(roots).run();
        }
        // Every PATH has its line; of a snapshot that may be of a long list, no more than there are lines.
        let are_single = snapshots.iter().all(|roots| roots.len() == 1);
        let shown = SHOWN.iter().filter(|flags| fits(flags, measure));
        for flags in shown.filter(|flags| are_single || !flags.contains("-n")) {
            let walk = weigh(&format!("{flags} {measure}")).within(fixture.path());
            let walk = walk.arg("--").args(&given).run();
            let mut load = weigh(&format!("{flags} {measure}")).within(place.path());
            for name in &saved {
                load = load.arg("--from").arg(name);
            }
            let load = load.run();
            let what = format!("seed {seed}: weigh {flags} {measure} {details} {snapshots:?}");
            same(&load, &walk, &what);
        }
    });
}

/// A snapshot of `root` in `fixture`, whose header says that it is of `host`.
fn save_of_host(fixture: &Fixture, root: &str, host: &str, name: &str) {
    weigh("-q -s --save").arg(name).within(fixture.path()).arg(root).run().clean();
    saved::change(&fixture.at(name), |header| header["host"] = host.into());
}

fn lines(shown: &Value) -> Vec<(String, u64)> {
    let line = |node: &Value| (node["name"].as_str().unwrap().to_owned(), node["size"].as_u64());
    let children = shown["children"].as_array().unwrap().iter();
    children.map(|node| (line(node).0, line(node).1.unwrap())).collect()
}

/// The same numbers on two machines are two inodes.
#[test]
fn each_of_several_hosts_has_a_line() {
    let fixture =
        Fixture::new().file("a/f", 1000).hard_link("a/f", "b/g").file("b/h", 500).file("c/i", 30);
    let place = fixture.path().display().to_string();
    save_of_host(&fixture, "a", "web1", "1");
    save_of_host(&fixture, "b", "web2", "2");
    save_of_host(&fixture, "c", "web2", "3");
    save_of_host(&fixture, "a", "web2", "4");
    let load = |names: &[&str]| {
        let mut load = weigh("-j").within(fixture.path());
        for name in names {
            load = load.arg("--from").arg(name);
        }
        serde_json::from_slice::<Value>(&load.run().clean()).unwrap()
    };
    let shown = load(&["1", "2"]);
    assert_eq!(shown["size"], 2500);
    let expected = [(format!("web2:{place}/b"), 1500), (format!("web1:{place}/a"), 1000)];
    assert_eq!(lines(&shown), expected);
    // What is on one of them counts there once.
    let shown = load(&["2", "1", "3", "4"]);
    assert_eq!(shown["size"], 2530);
    assert_eq!(lines(&shown), [("web2:".into(), 1530), (format!("web1:{place}/a"), 1000)]);
    let below = &shown["children"][0];
    let expected = [("b", 1500), ("a", 1000), ("c", 30)];
    assert_eq!(lines(below), expected.map(|(name, size)| (format!("{place}/{name}"), size)));
    // Paths are those that the host has.
    let table = weigh("--as csv --from 1 --from 2 --from 3").within(fixture.path()).run().text();
    assert!(table.contains(&format!("\"web2:{place}/b/h\"")), "{table}");
    let picture = weigh("-d 0 -R --from 1 --from 2").within(fixture.path()).run().text();
    assert_eq!(picture.matches("web1:").count(), 1, "{picture}");
    assert_eq!(picture.matches("web2:").count(), 1, "{picture}");
}

/// The paths of a host's roots begin with a slash below the line of the host.
#[test]
fn what_a_host_could_not_read_is_marked() {
    let fixture =
        Fixture::new().file("a/d/f", 1000).file("a/d/g", 7).file("b/f", 500).file("c/f", 30);
    for (root, host) in [("a", "web1"), ("b", "web1"), ("c", "web2")] {
        save_of_host(&fixture, root, host, &format!("{root}.weigh"));
    }
    let lost = json!([{"path": "a/d/lost", "operation": "open", "message": "denied"}]);
    saved::change(&fixture.at("a.weigh"), |header| header["errors"] = lost);
    let load = "-s -c --from a.weigh --from b.weigh --from c.weigh";
    let shown = weigh(load).within(fixture.path()).run();
    let text = String::from_utf8(shown.stdout).unwrap();
    let marked: Vec<_> = text.lines().filter(|line| line.contains('≥')).collect();
    let ends = ["/a/d", "web1:", "(total)"];
    assert!(marked.len() == ends.len(), "{text}");
    for (line, end) in marked.iter().zip(ends) {
        assert!(line.split_whitespace().any(|word| word.ends_with(end)), "{text}");
    }
}

/// Below a line of their host they would look like paths from its root.
#[test]
fn paths_from_a_home_directory_have_lines_of_their_own() {
    let fixture = Fixture::new().file("a/f", 1000).file("b/g", 500).file("c/h", 30);
    for (name, host) in [("a", "web1"), ("b", "web1"), ("c", "web2")] {
        let file = format!("{name}.weigh");
        save_of_host(&fixture, name, host, &file);
        saved::change(&fixture.at(&file), |header| header["roots"][0]["path"] = name.into());
    }
    let flags = "-j --from a.weigh --from b.weigh --from c.weigh";
    let shown = weigh(flags).within(fixture.path()).run().clean();
    let names = lines(&serde_json::from_slice(&shown).unwrap());
    let expected = [("web1:a", 1000), ("web1:b", 500), ("web2:c", 30)];
    assert_eq!(names, expected.map(|(name, size)| (name.to_owned(), size)));
}

/// What is saved needs all of every file, and what is shown only the largest in each: both show the same.
#[test]
fn of_several_hosts_only_what_is_shown_is_read() {
    let mut fixture = Fixture::new();
    for (i, name) in ["x", "y", "z"].into_iter().enumerate() {
        for file in 0..30 {
            let path = format!("a/{name}/{file}/f");
            fixture = fixture.file(&path, 1000 + 10 * file + i);
            fixture = fixture.hard_link(&path, format!("b/{name}{file}"));
        }
    }
    for (root, host, name) in [("a", "web1", "1"), ("b", "web2", "2"), ("a", "web3", "3")] {
        save_of_host(&fixture, root, host, &format!("{name}.weigh"));
    }
    for flags in
        ["-n 7", "-d 1 -n 99", "-F -n 5", "-D -n 20", "-s -n 3", "-m m -n 5", "-z 1100 -n 9"]
    {
        let load = "--from 1.weigh --from 2.weigh --from 3.weigh";
        let run = |more: &str| {
            let run = weigh(&format!("{flags} {load} {more}")).within(fixture.path()).run();
            String::from_utf8(run.clean()).unwrap()
        };
        assert_eq!(run(""), run("--save all.weigh"), "{flags}");
        assert_eq!(run("-j"), run("-j --save all.weigh"), "{flags}");
    }
}

/// Those that were saved in different measures are shown in one: the largest by that.
#[test]
fn of_several_hosts_the_largest_by_one_measure_are_shown() {
    let mut fixture = Fixture::new();
    for directory in 1..=8 {
        let path = format!("a/{directory}");
        fixture = fixture.file(format!("{path}/large"), (9 - directory) * 10_000);
        for number in 0..directory {
            fixture = fixture.file(format!("{path}/{number}"), 0);
        }
    }
    for (measure, host) in [("-s", "web1"), ("-f", "web2")] {
        let saved = weigh(&format!("-q {measure} a --save {host}.weigh")).within(fixture.path());
        saved.run().clean();
        let file = fixture.at(format!("{host}.weigh"));
        saved::change(&file, |header| header["host"] = host.into());
    }
    for flags in ["-n 6", "-F -n 5", "-z 4k -n 9"] {
        let load = |more: &str| {
            let flags = format!("{flags} --from web1.weigh --from web2.weigh {more}");
            weigh(&format!("-q {flags}")).within(fixture.path()).run().clean()
        };
        // What is saved needs all of both.
        assert_eq!(load(""), load("--save both.weigh"), "{flags}");
    }
}

/// After a file system was mounted anew, its number is another, and its inodes are the same.
#[test]
fn a_mount_that_has_another_number_now_has_the_same_inodes() {
    native_only!("it cannot tell mounts");
    let fixture = Fixture::new().file("a/f", 1000).hard_link("a/f", "b/g");
    for (root, name) in [("a", "1"), ("b", "2")] {
        let run = weigh("-s").within(fixture.path()).arg(root);
        run.arg("--save").arg(name).run().clean();
    }
    let mut other = saved::read(&fixture.at("2"));
    for at in ["", "/children/0"] {
        other.pointer_mut(at).unwrap()["mount"] = 987_654.into();
    }
    saved::save(&fixture.at("2"), &other);
    let shown = weigh("-j --from 1 --from 2").within(fixture.path()).run().clean();
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    assert_eq!((&shown["size"], &shown["entries"]), (&1000.into(), &3.into()));
}

/// Where two roots were called alike, they are called by their paths.
#[test]
fn roots_of_one_name_are_told_apart() {
    let fixture = Fixture::new().file("a/x/f", 1000).file("b/x/g", 300);
    for (dir, name) in [("a", "1"), ("b", "2")] {
        let save = weigh("-s x --save").within(fixture.at(dir));
        save.arg(fixture.at(name)).run().clean();
    }
    let shown = weigh("-j --from 1 --from 2").within(fixture.path()).run().clean();
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    let place = fixture.path().display();
    assert_eq!(lines(&shown), [(format!("{place}/a/x"), 1000), (format!("{place}/b/x"), 300)]);
}

/// Each root and each problem was once looked for among all roots, which took 20 seconds of a core.
#[test]
fn many_roots_with_many_problems_are_joined() {
    const COUNT: usize = 20_000;
    let fixture = Fixture::new().file("a/f", 1000).dir("b");
    save_of_host(&fixture, "a", "", "1");
    save_of_host(&fixture, "b", "", "2");
    let mut many = saved::read(&fixture.at("2"));
    let (directories, files) = (0..COUNT, COUNT..2 * COUNT);
    let given =
        (0..2 * COUNT).map(|i| json!({"path": format!("/many/{i}"), "name": i.to_string()}));
    many["roots"] = given.collect();
    let error = |i| json!({"path": format!("{i}/shut"), "operation": "open", "error": "EACCES", "message": "no"});
    many["errors"] = directories.clone().map(error).collect();
    let directory = |i: usize| json!({"name": i.to_string(), "kind": "directory", "size": 0, "own": 0, "children": []});
    let file = |i: usize| json!({"name": i.to_string(), "kind": "file", "size": 1});
    many["children"] = directories.map(directory).chain(files.map(file)).collect();
    (many["name"], many["kind"], many["complete"]) =
        ("(total)".into(), "total".into(), false.into());
    for of_one in ["inode", "device", "mount", "own", "modified"] {
        many.as_object_mut().unwrap().remove(of_one);
    }
    saved::save(&fixture.at("2"), &many);
    let weigh = weigh("-s -j --from 1 --from 2").within(fixture.path()).limited("-t 5");
    let shown: Value = serde_json::from_slice(&weigh.run().stdout).unwrap();
    assert_eq!(shown["size"], 1000 + COUNT);
    assert_eq!(shown["errors"].as_array().unwrap().len(), COUNT);
}

#[test]
fn what_is_saved_of_several_is_what_they_were() {
    let fixture = Fixture::new().file("a/f", 1000).hard_link("a/f", "b/g").file("b/h", 30);
    for (root, name) in [("a", "1"), ("b", "2")] {
        weigh("-s").within(fixture.path()).arg(root).arg("--save").arg(name).run().clean();
    }
    let run = |flags: &str| weigh(flags).within(fixture.path()).run().text();
    let picture = run("-s a b");
    assert_eq!(run("--from 1 --from 2 --save both.weigh"), picture);
    assert_eq!(run("--from both.weigh"), picture);
    assert_eq!(run("--from both.weigh --from 1"), picture);
    fs::write(fixture.at("b/h"), [b'w'; 90]).unwrap();
    let since = run("diff -s a b --since both.weigh");
    assert!(since.contains("+60B"), "{since}");
}

/// The names of roots are paths, also below the line of their host. Files in the .weigh format could not be read again,
/// and in JSON two roots became one. Any other name that is a path is refused.
#[test]
fn roots_of_a_host_are_read_again_from_each_format() {
    let fixture = Fixture::new()
        .file("a/log/f", 5000)
        .file("b/log/g", 3000)
        .file("b/one", 100)
        .file("c/h", 30)
        .mode("a/log/f", 0o644);
    for (name, root, host) in
        [("1", "a/log", "web1"), ("2", "b/log", "web1"), ("3", "b/one", "web1"), ("4", "c", "web2")]
    {
        save_of_host(&fixture, root, host, name);
    }
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    let all = "--from 1 --from 2 --from 3 --from 4";
    let shown = ["-s -R -F", "-s -R -n 4", "-s -R -n 99", "-j", "--as csv", "-t"];
    let expected = shown.map(|flags| run(&format!("{flags} {all}")).text());
    for name in ["all.weigh"] {
        run(&format!("-q {all} --save {name}")).clean();
        for (flags, expected) in shown.iter().zip(&expected) {
            assert_eq!(run(&format!("{flags} --from {name}")).text(), *expected, "{name} {flags}");
        }
        let since = run(&format!("diff -s {all} --since {name}"));
        assert_eq!((since.code(), since.complaint().as_str()), (0, ""), "{name}");
    }
    // What changed below such a line is found.
    let mut more = saved::read(&fixture.at("1"));
    more["children"][0]["size"] = 9000.into();
    more["size"] = (more["size"].as_u64().unwrap() + 4000).into();
    saved::save(&fixture.at("1"), &more);
    let since = run(&format!("diff -s {all} --since all.weigh")).text();
    assert!(since.contains("+4,000B") || since.contains("+3.91Ki"), "{since}");
    assert!(!since.contains("gone") && !since.contains("new"), "{since}");
    // Below a root, or a directory that is called like such a line, a name is not a path.
    let saved = saved::text(&fixture.at("all.weigh"));
    let with_own = saved.replace(r#""name":"web1:""#, r#""own":5,"name":"web1:""#);
    for bad in [saved.replace(r#""f""#, r#""/x/..""#), with_own.replace("/a/log\"", "/a/..\"")] {
        assert!(bad.contains("/..\"") && bad != saved, "{bad}");
        saved::write(fixture.at("bad"), &bad);
        let shown = run("--from bad");
        assert_eq!(shown.code(), 2);
        assert!(shown.complaint().contains("a slash in its name"), "{}", shown.complaint());
    }
}

/// They were shown in the measure of the first one, and nothing said so.
#[test]
fn what_was_saved_in_several_measures_says_in_which_it_is_shown() {
    let fixture = Fixture::new().file("a/f", 5000).file("b/g", 3000);
    for (measure, root) in [("-s", "a"), ("", "b")] {
        let save = weigh(measure).within(fixture.path()).arg(root);
        save.arg("--save").arg(format!("{root}.weigh")).run().clean();
    }
    for (flags, shown) in [
        ("--from a.weigh --from b.weigh", Some("apparent sizes")),
        ("--from b.weigh --from a.weigh", Some("disk usage")),
        ("-s --from b.weigh --from a.weigh", None),
        ("-f --from a.weigh --from b.weigh", None),
        ("-q --from a.weigh --from b.weigh", None),
        ("--from a.weigh --from a.weigh", None),
    ] {
        let said = weigh(flags).within(fixture.path()).run();
        let expected = shown.map_or_else(String::new, |shown| {
            format!(
                "weigh: note: the snapshots were saved in different measures, and show {shown} here\n\
                 hint: -s, --no-apparent-size, -f or --inodes shows another\n"
            )
        });
        assert_eq!((said.code(), said.complaint()), (0, expected), "{flags}");
    }
}

/// Exports do not say of which machine they are. Only the first of one root counted, and nothing said so.
#[test]
fn exports_of_one_root_are_refused_by_name() {
    let fixture = Fixture::new().file("d/f", 5000);
    let export = |name: &str, root: &str| {
        let file = format!(r#"{{"name":"f{name}","asize":5,"dsize":{name}000}}"#);
        let rest = format!(r#"{{"name":"{root}","dsize":0}},[{{"name":"sub"}},{file}]]"#);
        fs::write(fixture.at(name), format!(r#"[1,2,{{"progname":"restic"}},[{rest}]"#)).unwrap();
    };
    for (name, root) in [("1", "/"), ("2", "/"), ("3", "/sub"), ("4", "/other")] {
        export(name, root);
    }
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    for (flags, file, root, other) in [
        ("--from 1 --from 2", "2", "/", "1"),
        ("--from 2 --from 4 --from 1", "1", "/", "2"),
        ("--from 1 --from 3", "3", "/sub", "1"),
        ("--from 3 --from 1", "3", "/sub", "1"),
        ("-q --from 1 --from 2 --save both.weigh", "2", "/", "1"),
    ] {
        let shown = run(flags);
        let said = shown.complaint();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}: {said}");
        let expected = format!(
            "weigh: error: cannot show {file}: it does not say on which machine {root} is, and neither does {other}, which"
        );
        assert!(said.starts_with(&expected) && said.contains("\nhint: load them one"), "{said}");
    }
    assert!(!fixture.at("both.weigh").exists());
    // Other roots are added up, and one of a host counts once.
    assert_eq!(run("-j --from 1 --from 4").json()["size"], 5000);
    run("-q --save a.weigh d").clean();
    run("-q --from a.weigh --from a.weigh").clean();
}

#[test]
fn what_does_not_go_together_is_refused_by_name() {
    let fixture = Fixture::new().file("a/f", 1000);
    for (flags, name) in [("-s", "1"), ("-s -x", "3"), ("-s", "4")] {
        weigh(flags).within(fixture.path()).arg("a").arg("--save").arg(name).run().clean();
    }
    let plain = weigh("-s -j a").within(fixture.path()).run().clean();
    fs::write(fixture.at("5"), plain).unwrap();
    fs::write(fixture.at("6"), saved::MAGIC).unwrap();
    for (other, code, expected) in [
        ("3", 2, "cannot show 3: it was saved with -x"),
        ("5", 2, "cannot load 5: it is JSON from weigh, which is for other programs"),
        ("6", 2, "cannot load 6: "),
        ("7", 2, "cannot load 7: No such file"),
    ] {
        let shown = weigh("--from 1 --from 4 --from").arg(other).within(fixture.path()).run();
        assert_eq!(shown.code(), code, "{other}");
        assert_eq!(shown.stdout, b"");
        let complaint = shown.complaint();
        let expected = expected.replace("-x", "--limit-filesystem");
        assert!(complaint.starts_with(&format!("weigh: error: {expected}")), "{complaint}");
        assert!(complaint.lines().count() <= 2, "{complaint}");
    }
}
