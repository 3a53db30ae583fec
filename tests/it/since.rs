//! What changed since a snapshot was saved, against two lists by `find` and a script that knows nothing
//! of weigh.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::dice::{Dice, Names};
use crate::document::exact;
use crate::fixture::{Fixture, entries_at};
use crate::rounds::deeper_than_any_stack;
use crate::run::{Shown, weigh};
use crate::saved;
use crate::saved::{sealed, sections};
use crate::snapshots::sizes_alone;

/// A project of which one file grows, one shrinks, a directory goes and another comes.
fn project() -> Fixture {
    Fixture::new()
        .sparse("top/log/access.log", 10_000_000)
        .sparse("top/log/error.log", 2_000_000)
        .sparse("top/old build/a.o", 30_000_000)
        .sparse("top/old build/b.o", 5_000_000)
        .sparse("top/src/main.rs", 40_000)
        .sparse("top/src/lib.rs", 60_000)
        .dir("top/empty")
}

fn change(fixture: Fixture) -> Fixture {
    fs::remove_dir_all(fixture.at("top/old build")).unwrap();
    fixture
        .sparse("top/log/access.log", 90_000_000)
        .sparse("top/log/error.log", 1_000_000)
        .sparse("top/new/model.bin", 50_000_000)
        .sparse("top/new/empty", 0)
}

fn save(fixture: &Fixture, flags: &str) {
    let run = weigh(flags).arg("top").within(fixture.path()).arg("--save").arg("snapshot");
    run.run().clean();
}

#[test]
fn what_grew_and_what_shrank() {
    let fixture = project();
    save(&fixture, "-s");
    let fixture = change(fixture);
    let run = |flags: &str| {
        let run = weigh(&format!("diff -s -w 80 {flags} --since snapshot"));
        let text = run.arg("top").within(fixture.path()).run().text();
        // It depends on the time.
        let (before, rest) = text.split_once("since today ").expect(&text);
        let (_, after) = rest.split_once(": ").expect(&text);
        format!("{before}since then: {after}")
    };
    insta::assert_snapshot!("since", run("-c"));
    insta::assert_snapshot!("since_in_colours", run("-C -n 4"));
    insta::assert_snapshot!("since_reverse_with_paths", run("-c -r -p -d 1"));
    insta::assert_snapshot!("since_only_files", run("-c -F -n 3"));
    insta::assert_snapshot!("since_screen_reader", run("-c -R"));
}

#[test]
fn nothing_changed_is_the_answer_alone() {
    let fixture = project();
    save(&fixture, "-s");
    let run = weigh("diff -s -c -w 60 top --since snapshot").within(fixture.path());
    let text = run.run().text();
    assert!(text.starts_with("top did not change since today "), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// Every root has its answer, and all of them together.
#[test]
fn each_of_several_roots_has_an_answer() {
    let fixture = Fixture::new().file("same/below/f", 9_000).file("other/f", 9_000);
    let fixture = fixture.file("file", 5_000);
    weigh("-s --save old.weigh same other file").within(fixture.path()).run().clean();
    let fixture = fixture.file("other/new", 90_000);
    let run =
        weigh("diff -s -cP -w 60 --since old.weigh same other file").within(fixture.path()).run();
    let picture = String::from_utf8(run.clean()).unwrap();
    for answer in ["same did not change", "other grew by 87.9Ki", "file did not change", "All grew"]
    {
        assert!(picture.lines().any(|line| line.starts_with(answer)), "{answer}: {picture}");
    }
    assert!(
        picture.lines().last().is_some_and(|line| line.ends_with("other/new  new")),
        "{picture}"
    );
}

#[test]
fn a_snapshot_compared_with_a_snapshot_is_a_tree_compared_with_a_snapshot() {
    let fixture = project();
    save(&fixture, "-s");
    let fixture = change(fixture);
    weigh("-s top --save later").within(fixture.path()).run().clean();
    for flags in ["-c", "-j", "-c -F"] {
        let run = |flags: &str| weigh(flags).within(fixture.path()).run().clean();
        let direct = run(&format!("diff {flags} -s top --since snapshot"));
        assert_eq!(run(&format!("diff {flags} --from later --since snapshot")), direct);
    }
}

#[test]
fn a_directory_that_moved_is_neither_gone_nor_new() {
    let fixture = project().sparse("top/deep/er/inside/x", 7_000_000).dir("top/other");
    save(&fixture, "-s --details");
    fs::rename(fixture.at("top/deep/er"), fixture.at("top/other/er")).unwrap();
    let run = |flags: &str| weigh(flags).arg("top").within(fixture.path()).run();
    let text = run("diff -s -c -w 100 --since snapshot").text();
    let moved = "1 directory moved, same size: deep/er → other/er\n";
    let (answer, rest) = text.split_once('\n').unwrap();
    assert!(answer.starts_with("top neither grew nor shrank since today "), "{text}");
    assert_eq!(rest, moved);
    let json: Value = serde_json::from_slice(&run("diff -s -j --since snapshot").clean()).unwrap();
    let other = &json["children"][0];
    let moved = if other["name"] == "other" { other } else { &json["children"][1] };
    assert_eq!(moved["children"][0]["moved_from"], "deep/er", "{json}");
    assert_eq!(moved["children"][0]["change"], 0);
    assert_eq!(moved["change"], 7_000_000);
    // Its own time stays what it was.
    run("-s --details --save later").clean();
    let load = weigh("diff -s -c -w 100 --from later --since snapshot").within(fixture.path());
    assert_eq!(load.run().text(), text);

    // Without details nobody can know.
    fs::rename(fixture.at("top/other/er"), fixture.at("top/deep/er")).unwrap();
    save(&fixture, "-s");
    fs::rename(fixture.at("top/deep/er"), fixture.at("top/other/er")).unwrap();
    let text = run("diff -s -c -w 100 --since snapshot").text();
    assert!(text.contains("  gone\n") && text.contains("  new\n"), "{text}");
}

/// Makes the saved `snapshot` of what was at `was` say that it had the inode number of what is at `is`: as
/// if the file system had used it anew at once. Numbers that are asked for are not to be had.
fn reuse(fixture: &Fixture, (was, is): (u64, &str)) {
    let file = fixture.at("snapshot.weigh");
    let snapshot = saved::text(&file);
    let inode = |number| format!("\"inode\":{number},");
    let is = number(fixture, is);
    let reused = snapshot.replace(&inode(was), &inode(is));
    // Now and then it is, without being asked.
    assert!(was == is || reused != snapshot);
    saved::write(&file, &reused);
}

fn number(fixture: &Fixture, path: &str) -> u64 {
    fs::symlink_metadata(fixture.at(path)).unwrap().ino()
}

/// A new inode with the number of a removed one is another inode, and does not change its line.
#[test]
fn what_is_gone_has_its_line_whatever_its_number_is_by_now() {
    let fixture = Fixture::new()
        .sparse("top/a/gone", 50_000)
        .hard_link("top/a/gone", "top/b/gone too")
        .file("top/stays", 1);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-s top --save snapshot.weigh").clean();
    let was = number(&fixture, "top/a/gone");
    fs::remove_file(fixture.at("top/a/gone")).unwrap();
    fs::remove_file(fixture.at("top/b/gone too")).unwrap();
    let fixture = fixture.sparse("top/c/new", 70_000).hard_link("top/c/new", "top/new too");
    reuse(&fixture, (was, "top/c/new"));
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-s top --save later").clean();
    for from in ["top", "--from later"] {
        let lines = |flags: &str| {
            let shown = run(&format!("diff {flags} -s {from} --since snapshot.weigh")).text();
            let is_line = |line: &&str| line.contains("gone") || line.contains("new");
            shown.lines().filter(is_line).map(str::to_owned).collect::<Vec<_>>()
        };
        // Each inode takes one line, and in what is not limited, every link does.
        let picture = lines("-c -R -F");
        assert_eq!(picture.len(), 2, "{picture:?}");
        let table = lines("--as csv -n 9 -F");
        assert_eq!(
            table,
            ["\"top/c/new\",file,,70000,70000,2,", "\"top/a/gone\",file,50000,,-50000,2,"]
        );
        let mut table = lines("--as csv");
        table.sort();
        assert_eq!(
            table,
            [
                "\"top/a/gone\",file,50000,,-50000,2,",
                "\"top/b/gone too\",file,50000,,-50000,2,",
                "\"top/c/new\",file,,70000,70000,2,",
                "\"top/new too\",file,,70000,70000,1,",
            ]
        );
        let json = lines("-j").concat();
        for name in ["gone", "gone too", "new", "new too"] {
            assert!(json.contains(&format!("\"name\":\"{name}\"")), "{json}");
        }
    }
}

/// A line may stand for several links only if they were one inode and are one.
#[test]
fn a_file_of_its_own_has_a_line_of_its_own() {
    let fixture = Fixture::new().file("top/gone", 3_000).file("top/parts/one", 1_000);
    let fixture = fixture.file("top/parts/two", 1_000).file("top/target", 5_000);
    let fixture = fixture.hard_link("top/gone", "top/cut").hard_link("top/gone", "top/gone too");
    weigh("-s top --save snapshot").within(fixture.path()).run().clean();
    // Of one inode, two links go, and one makes room for an empty file. Two files become links to one inode.
    for name in ["gone", "gone too", "cut", "parts/one", "parts/two"] {
        fs::remove_file(fixture.at("top").join(name)).unwrap();
    }
    let fixture = fixture.file("top/cut", 0).hard_link("top/target", "top/parts/one");
    let fixture = fixture.hard_link("top/target", "top/parts/two");
    let shown =
        weigh("diff -s -F --as csv top --since snapshot").within(fixture.path()).run().text();
    let lines: Vec<_> = shown.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "\"top/parts/one\",file,1000,5000,4000,2,",
            "\"top/parts/two\",file,1000,5000,4000,2,",
            "\"top/cut\",file,3000,0,-3000,1,",
            "\"top/gone\",file,3000,,-3000,1,",
        ]
    );
}

/// If a directory becomes a file, or a file a directory, its entries have lines beside that of the file.
#[test]
fn what_was_in_a_directory_that_is_a_file_has_lines() {
    let fixture =
        Fixture::new().file("top/d/a", 20_000).file("top/d/e/x", 5_000).file("top/f", 700);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run().text();
    run("-s top --save directory");
    fs::remove_dir_all(fixture.at("top/d")).unwrap();
    fs::write(fixture.at("top/d"), [0; 100]).unwrap();
    run("-s top --save file");
    for (from, flags, expected) in [
        (
            "diff --from file --since directory",
            "",
            "top,directory,25700,800,-24900,0, top/d,file,25000,100,-24900,1, \
             top/d/a,file,20000,,-20000,2, top/d/e,directory,5000,,-5000,2, \
             top/d/e/x,file,5000,,-5000,3,",
        ),
        (
            "diff --from file --since directory",
            "-F",
            "top,directory,25700,800,-24900,0, top/d/a,file,20000,,-20000,2, \
             top/d/e/x,file,5000,,-5000,3, top/d,file,,100,100,1,",
        ),
        (
            "diff --from directory --since file",
            "",
            "top,directory,800,25700,24900,0, top/d,directory,100,25000,24900,1, \
             top/d/a,file,,20000,20000,2, top/d/e,directory,,5000,5000,2, \
             top/d/e/x,file,,5000,5000,3,",
        ),
        (
            "diff --from directory --since file",
            "-F",
            "top,directory,800,25700,24900,0, top/d/a,file,,20000,20000,2, \
             top/d/e/x,file,,5000,5000,3, top/d,file,100,,-100,1,",
        ),
    ] {
        let lines = |limit: &str| {
            let table = run(&format!("-s --as csv {limit} {flags} {from}"));
            table.lines().skip(1).collect::<Vec<_>>().join(" ").replace('"', "")
        };
        for limit in ["", "-n 9", "-d 9"] {
            assert_eq!(lines(limit), expected, "{limit} {flags} {from}");
        }
        // Without -d, a picture does not go into what is new or gone.
        let picture = run(&format!("-s -c -R -d 9 {flags} {from}"));
        assert!(picture.contains("  d/a ") && picture.contains("  d/e"), "{picture}");
    }
}

/// The number of a directory that went may be that of a new one at once, and the size may be the same.
#[test]
fn another_directory_of_the_same_number_and_size_has_not_moved() {
    let cases: [(&[&str], &[&str], &[&str]); 5] = [
        (&["a.o", "b.o"], &["a.rs", "b.rs"], &["", "later"]),
        (&["a.o", "b.o"], &["b.o", "c.o"], &["", "later"]),
        (&["a/x", "b/y"], &["a/x", "b/z/y"], &["", "later"]),
        // Of the same names only its times say that it is another.
        (&["a.o", "b.o"], &["a.o", "b.o"], &["later"]),
        // Nothing is no evidence.
        (&[], &[], &["", "later"]),
    ];
    for (gone, new, loads) in cases {
        let fill = |mut fixture: Fixture, dir: &str, names: &[&str]| {
            for (name, len) in names.iter().zip([9_000_000, 70_000]) {
                fixture = fixture.sparse(format!("{dir}/{name}"), len);
            }
            fixture.dir(dir)
        };
        let fixture = fill(Fixture::new().dir("top/stays"), "top/gone", gone);
        let fixture = fixture.modified("top/gone", 1_000_000_000);
        let run = |flags: &str| weigh(flags).within(fixture.path()).run();
        run("top --details --save snapshot.weigh").clean();
        let was = number(&fixture, "top/gone");
        fs::rename(fixture.at("top/gone"), fixture.at("aside")).unwrap();
        let fixture = fill(fixture, "top/stays/new", new);
        reuse(&fixture, (was, "top/stays/new"));
        let run = |flags: &str| weigh(flags).within(fixture.path()).run();
        run("top --details --save later").clean();
        for load in loads {
            let from = if load.is_empty() { "top" } else { "--from later" };
            let shown = run(&format!("diff --as csv {from} --since snapshot.weigh")).text();
            assert!(shown.contains("\n\"top/gone\",directory,"), "{gone:?} {new:?}: {shown}");
            assert!(shown.contains("\n\"top/stays/new\",directory,,"), "{gone:?} {new:?}: {shown}");
            assert!(!shown.contains(",gone\n"), "{gone:?} {new:?} moved: {shown}");
        }
    }
}

/// Reads two lists, `type size path`, and says of every path what it was and is, when that differs:
/// a directory is what the files below it come to.
const SCRIPT: &str = r#"
import sys, json
def read(name):
    sizes = {}
    for line in open(name, "rb").read().split(b"\0")[:-1]:
        kind, size, path = line.split(b" ", 2)
        parts = path.split(b"/")
        for i in range(len(parts)):
            above = b"/".join(parts[:i])
            sizes[above] = sizes.get(above, 0) + (int(size) if kind in b"fl" else 0)
        if kind != b"d" or path not in sizes:
            sizes[path] = int(size) if kind in b"fl" else 0
    return sizes
before, now = read(sys.argv[1]), read(sys.argv[2])
changes = {}
for path in before.keys() | now.keys():
    was, size = before.get(path), now.get(path)
    if was != size and ((was or 0) != (size or 0)):
        changes[path.decode("latin-1")] = [was, size, (size or 0) - (was or 0)]
print(json.dumps(changes))
"#;

#[test]
fn every_change_is_what_an_independent_script_says() {
    for seed in 0..6 {
        let fixture = Dice::new(seed).tree(Fixture::new(), Names::Hostile);
        let place = Fixture::new();
        let (top, file) = (fixture.path().to_owned(), place.at("snapshot"));
        // Most of so many directories do not change.
        for i in 0..if seed < 4 { 0 } else { 2_500 } {
            let dir = top.join(format!("many/{}/{i}", i % 40));
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("file"), vec![b'x'; i]).unwrap();
        }
        list(&top, &place.at("before"));
        let once = place.at("each inode once");
        weigh("-s -l").arg(&top).arg("--save").arg(&file).run().clean();
        weigh("-s").arg(&top).arg("--save").arg(&once).run().clean();
        shake(&top, seed);
        list(&top, &place.at("now"));
        let json = weigh("diff -s -l -j").arg(&top).arg("--since").arg(&file).run().clean();
        let root: Value = serde_json::from_slice(&json).unwrap();
        let script = Command::new("python3")
            .args(["-c", SCRIPT])
            .args([place.at("before"), place.at("now")])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
        let mut expected: BTreeMap<String, Value> = serde_json::from_slice(&script.stdout).unwrap();
        assert!(expected.len() > 5, "seed {seed}: {}", expected.len());
        let mut found = BTreeMap::new();
        collect(&root, &mut Vec::new(), &mut found);
        assert_eq!(found, expected, "seed {seed}");

        // What a directory comes to is another matter, where each inode counts once. Its links are all
        // there.
        let json = weigh("diff -s -j").arg(&top).arg("--since").arg(&once).run().clean();
        let root: Value = serde_json::from_slice(&json).unwrap();
        let mut found = BTreeMap::new();
        collect(&root, &mut Vec::new(), &mut found);
        let directories = ["before", "now"].map(|list| directories(&place.at(list))).concat();
        for changes in [&mut found, &mut expected] {
            changes.retain(|path, _| !path.is_empty() && !directories.contains(path));
        }
        assert_eq!(found, expected, "seed {seed}, each inode once");
    }
}

/// Of a `.weigh` file only what changed is read, and JSON is read as a whole: both show the same.
#[test]
fn what_is_read_of_a_snapshot_is_all_that_changed() {
    for seed in 0..6 {
        let (fixture, place) =
            (Dice::new(seed).tree(Fixture::in_memory(), Names::Hostile), Fixture::new());
        let top = fixture.path();
        // They take several blocks, and so do the files of one directory; or so many that several threads share them.
        for i in 0..[0, 0, 2_000, 9_000, 2_000, 2_000][seed as usize] {
            let dir = top.join(format!("many/{}/{i:x<240}", i % 40));
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("file"), vec![b'x'; i % 2_000]).unwrap();
            fs::write(top.join(format!("many/{i:y<240}")), vec![b'y'; i % 2_000]).unwrap();
        }
        for path in ["moved/from/here", "wide/there", "gone"] {
            fs::create_dir_all(top.join(path)).unwrap();
            fs::write(top.join(path).join("file"), [b'x'; 70_000]).unwrap();
        }
        let roots = [top.to_owned(), top.join("many")];
        let roots = &roots[..if seed % 3 == 2 { 2 } else { 1 }];
        let flags = ["", "-s --details", "-l"][seed as usize % 3];
        let run = |more: &str| weigh(&format!("{flags} {more}")).within(place.path());
        run("-q --save a.weigh").args(roots).run();
        // Without digests, all of it is read.
        let mut parts = sections(&place.bytes("a.weigh"));
        parts.retain(|(kind, _)| *kind != b'C');
        fs::write(place.at("b.weigh"), sealed(&parts, true)).unwrap();
        shake(top, seed);
        fs::rename(top.join("moved/from/here"), top.join("wide/here")).unwrap();
        fs::remove_dir_all(top.join("gone")).unwrap();
        fs::write(top.join("gone"), "a file").unwrap();
        for form in
            ["-n 12", "-n 1000 -c", "-d 2", "-F -n 20", "-D -n 20", "-j -n 30", "-z 5k", "-w 99"]
        {
            let [packed, text] = ["a.weigh", "b.weigh"].map(|since| {
                let run = run(&format!("diff {form} --since {since}")).args(roots).run();
                (
                    run.code(),
                    String::from_utf8_lossy(&run.stdout).replace(since, ""),
                    run.complaint(),
                )
            });
            assert_eq!(packed, text, "seed {seed}, {form}");
        }
    }
}

/// If the end of a snapshot is damaged, nothing is compared and nothing is saved, although the walk has begun.
#[test]
fn a_snapshot_that_is_damaged_far_behind_its_beginning_is_none() {
    let fixture = project();
    let save = || weigh("--save old.weigh top").within(fixture.path()).run().clean();
    save();
    let old = fs::read(fixture.at("old.weigh")).unwrap();
    for (damaged, message) in [
        (&old[..old.len() - 40], "its end does not say where the index is"),
        (&[&*old, b"x"].concat(), "its end does not say where the index is"),
    ] {
        fs::write(fixture.at("old.weigh"), damaged).unwrap();
        let run = weigh("diff --since old.weigh --save old.weigh top").within(fixture.path()).run();
        assert_eq!((run.code(), run.stdout.len()), (2, 0));
        let complaint = run.complaint();
        assert!(complaint.contains("cannot load old.weigh"), "{complaint}");
        assert!(complaint.contains(message), "{complaint}");
        assert_eq!(fs::read(fixture.at("old.weigh")).unwrap(), damaged);
    }
    save();
    let run = weigh("diff -j --since old.weigh --save old.weigh top").within(fixture.path()).run();
    assert_eq!(run.document().header["change"], 0);
}

/// The header of a snapshot is checked before the rest is read.
#[test]
fn what_cannot_be_compared_is_known_before_the_tree_is_read() {
    let fixture = project().fifo("pipe");
    weigh("-s -x --save saved.weigh top").within(fixture.path()).run().clean();
    sizes_alone(&fixture.at("saved.weigh"));
    let saved = fs::read(fixture.at("saved.weigh")).unwrap();
    let tree = saved.len() - 20;
    for (flags, code, message) in [
        ("diff top -x -f --since pipe", 2, "it has apparent sizes, and no numbers of files"),
        ("diff top -s --since pipe", 2, "--limit-filesystem"),
        ("diff top -s -x --since pipe --by age", 2, "it has no times"),
        ("diff top -s -x --since pipe --by owner", 2, "without --details"),
    ] {
        let mut child = weigh(flags).within(fixture.path()).spawn();
        let mut pipe = fs::OpenOptions::new().write(true).open(fixture.at("pipe")).unwrap();
        pipe.write_all(&saved[..tree]).unwrap();
        // As long as the pipe is open, there is no end.
        let status = child.wait().unwrap();
        let complaint = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        assert_eq!(status.code(), Some(code), "weigh {flags}: {complaint}");
        assert!(complaint.contains(message), "weigh {flags}: {complaint}");
    }
}

/// The directories in a list by `find`, with a character for each byte.
fn directories(list: &Path) -> Vec<String> {
    let list = fs::read(list).unwrap();
    let lines = list.split(|byte| *byte == 0).filter_map(|line| line.strip_prefix(b"d "));
    let paths = lines.filter_map(|line| line.splitn(2, |byte| *byte == b' ').nth(1));
    paths.map(|path| path.iter().map(|byte| *byte as char).collect()).collect()
}

/// Every third file grows, every fifth is removed, a file becomes a directory and a directory a file, and a new
/// directory appears.
pub fn shake(top: &Path, seed: u64) {
    let (mut files, mut dirs) = (Vec::new(), Vec::new());
    for (path, stat) in entries_at(top).into_iter().skip(1) {
        if stat.is_dir() {
            dirs.push(path);
        } else if stat.is_file() {
            files.push(path);
        }
    }
    files.sort();
    for (i, file) in files.iter().enumerate() {
        match i {
            i if i % 5 == 0 => fs::remove_file(file).unwrap(),
            i if i % 3 == 0 => {
                let mut file = fs::OpenOptions::new().append(true).open(file).unwrap();
                file.write_all(&vec![b'x'; 1000 + i]).unwrap();
            }
            _ => {}
        }
    }
    files.retain(|file| file.exists());
    if let Some(file) = files.last() {
        fs::remove_file(file).unwrap();
        fs::create_dir(file).unwrap();
        fs::write(file.join("in a directory that was a file"), [0; 77]).unwrap();
    }
    if let Some(dir) = dirs.iter().max() {
        fs::remove_dir_all(dir).unwrap();
        fs::write(dir, [0; 55]).unwrap();
    }
    fs::create_dir_all(top.join("came/here")).unwrap();
    fs::write(top.join("came/here/x"), vec![0; 123 + seed as usize]).unwrap();
}

fn list(top: &Path, file: &Path) {
    let list = fs::File::create(file).unwrap();
    let done = Command::new("find")
        .arg(top)
        .args(["-mindepth", "1", "-printf", "%y %s %P\\0"])
        .stdout(list)
        .status();
    assert!(done.unwrap().success());
}

/// Every node that changed, by its path with a character for each byte.
fn collect(node: &Value, path: &mut Vec<String>, found: &mut BTreeMap<String, Value>) {
    let change = serde_json::json!([node["before"], node["size"], node["change"]]);
    if node["change"] != 0 {
        assert!(found.insert(path.join("/"), change).is_none());
    }
    assert!(node["churn"].as_u64() >= node["change"].as_i64().map(i64::unsigned_abs));
    for child in node["children"].as_array().into_iter().flatten() {
        assert!(child["churn"].as_u64() <= node["churn"].as_u64());
        let name = exact(child, "name");
        path.push(name.iter().map(|byte| *byte as char).collect());
        collect(child, path, found);
        path.pop();
    }
}

/// A row a line, by its path: what it was, is, and the difference.
fn rows(json: &[u8]) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for line in String::from_utf8_lossy(json).lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let path: String = exact(&row, "path").iter().map(|byte| *byte as char).collect();
        let depth = path.trim_start_matches("top").matches('/').count();
        assert_eq!(row["depth"], depth, "{line}");
        let change = serde_json::json!([row["before"], row["size"], row["change"]]);
        assert!(found.insert(path, change).is_none(), "{line}");
    }
    found
}

#[test]
fn tables_of_changes_are_what_json_says() {
    for seed in 0..3 {
        let fixture = Dice::new(seed).tree(Fixture::new(), Names::Hostile);
        let (top, place) = (fixture.at("tree"), Fixture::new());
        let top = top.as_path();
        std::os::unix::fs::symlink(top, place.at("top")).unwrap();
        let run = |flags: &str| weigh(flags).within(place.path()).run().clean();
        run("-s top --save snapshot");
        shake(top, seed);
        for limits in ["", "-F", "-n 5", "-D -d 2"] {
            let json = run(&format!("diff -s -j {limits} top --since snapshot"));
            let root: Value = serde_json::from_slice(&json).unwrap();
            let mut expected = BTreeMap::new();
            collect(&root, &mut vec!["top".to_owned()], &mut expected);
            let lines = run(&format!("diff -s --as ndjson {limits} top --since snapshot"));
            let mut found = rows(&lines);
            if limits == "-F" {
                // There, JSON has names and no paths.
                assert_eq!(found.len(), expected.len());
            } else {
                found.retain(|_, change| change[2] != 0);
                assert_eq!(found, expected, "seed {seed}, {limits}");
            }
            let table =
                String::from_utf8(run(&format!("diff -s --as csv {limits} top --since snapshot")));
            let mut table = table.unwrap();
            let header = "path,kind,before,size,change,depth,moved_from\n";
            assert!(table.starts_with(header), "{table}");
            for (line, row) in
                String::from_utf8_lossy(&lines).lines().zip(table.split_off(header.len()).lines())
            {
                let node: Value = serde_json::from_str(line).unwrap();
                let number =
                    |key: &str| node[key].as_i64().map_or_else(String::new, |n| n.to_string());
                let [before, size, change] = ["before", "size", "change"].map(number);
                let end = format!(",{before},{size},{change},{},", node["depth"]);
                assert!(row.ends_with(&end), "{row} is not {line}");
            }
        }
    }
}

#[test]
fn a_table_says_what_moved_and_where_from() {
    let fixture = project().sparse("top/deep/er/x", 7_000_000).dir("top/other");
    save(&fixture, "-s --details");
    fs::rename(fixture.at("top/deep/er"), fixture.at("top/other/er")).unwrap();
    let run = |form: &str| {
        let flags = format!("diff -s --as {form} top --since snapshot");
        weigh(&flags).within(fixture.path()).run().text()
    };
    let row = "\n\"top/other/er\",directory,,7000000,0,2,\"deep/er\"\n";
    assert!(run("csv").contains(row), "{}", run("csv"));
    assert!(run("ndjson").contains(r#""change":0,"moved_from":"deep/er","depth":2}"#));
}

/// What `find` says files come to by their ending; `/` are directories.
fn endings(fixture: &Fixture) -> BTreeMap<String, i64> {
    let find = Command::new("find")
        .args(["top", "-printf", "%y %b %f\n"])
        .current_dir(fixture.path())
        .output()
        .unwrap();
    let mut sizes = BTreeMap::new();
    for line in String::from_utf8(find.stdout).unwrap().lines() {
        let mut parts = line.splitn(3, ' ');
        let [kind, blocks, name] = [(); 3].map(|()| parts.next().unwrap());
        let ending = match name.rfind('.') {
            _ if kind == "d" => "(directories)",
            Some(dot) if dot > 0 => &name[dot..],
            _ => "(no extension)",
        };
        *sizes.entry(ending.to_owned()).or_default() += blocks.parse::<i64>().unwrap() * 512;
    }
    sizes
}

#[test]
fn groups_grow_and_shrink_too() {
    let fixture = Fixture::new()
        .file("top/a.rs", 5000)
        .file("top/old/b.rs", 9000)
        .file("top/gone.o", 20_000)
        .file("top/same.txt", 6000)
        .file("top/Makefile", 700);
    weigh("top --details --save snapshot").within(fixture.path()).run().clean();
    let before = endings(&fixture);
    fs::remove_file(fixture.at("top/gone.o")).unwrap();
    let fixture =
        fixture.file("top/new/c.rs", 50_000).file("top/d.py", 8000).file("top/Makefile", 0);
    let now = endings(&fixture);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("top --details --save later").clean();
    for from in ["top", "--from later", "top --save again", "--from later -X nowhere"] {
        let json = run(&format!("diff -j -t {from} --since snapshot")).clean();
        let json: Value = serde_json::from_slice(&json).unwrap();
        let mut found = BTreeMap::new();
        for group in json["children"].as_array().unwrap() {
            assert_eq!(group["kind"], "group");
            let change = [&group["before"], &group["size"], &group["change"]].map(Value::as_i64);
            found.insert(group["name"].as_str().unwrap().to_owned(), change);
        }
        let names = before.keys().chain(now.keys()).cloned();
        let changed = names.filter(|name| before.get(name) != now.get(name)).map(|name| {
            let sides = (before.get(&name).copied(), now.get(&name).copied());
            let change = sides.1.unwrap_or(0) - sides.0.unwrap_or(0);
            (name, [sides.0, sides.1, Some(change)])
        });
        assert_eq!(found, changed.collect(), "{from}");
        assert_eq!(json["size"].as_i64(), Some(now.values().sum()));
    }
    let picture = run("diff -c -t -n 1 top --since snapshot").text();
    assert!(picture.contains("  .rs") && picture.lines().count() == 1 + 2, "{picture}");
    let text = run("diff -c -t top --since snapshot").text();
    assert!(text.lines().any(|line| line.contains("  .o ") && line.ends_with("gone")), "{text}");
    assert!(
        run("diff -c --as csv -t top --since snapshot")
            .text()
            .contains("\n\"top/.py\",group,,8192,8192,1,\n")
    );
    let owner = run("diff -j --by owner top --since snapshot").clean();
    let owner: Value = serde_json::from_slice(&owner).unwrap();
    assert_eq!(owner["children"][0]["change"], owner["change"]);
    run("top --save plain").clean();
    assert!(run("diff --by owner top --since plain").complaint().contains("without --details"));
    assert_eq!(run("diff --by age top --since plain").code(), 0);
    assert_eq!(run("diff -t top --since plain").code(), 0);
}

/// Each root may have slashes in its name, and at its end.
#[test]
fn files_below_several_roots_are_found_again() {
    let fixture = Fixture::new().file("a/b/x", 10).file("a/c/y", 20).file("d/z", 30);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-s a/b a/c/ d --save snapshot").clean();
    fs::write(fixture.at("a/c/y"), vec![0; 25]).unwrap();
    fs::write(fixture.at("a/b/x"), vec![0; 7]).unwrap();
    for flags in ["", "-F"] {
        let table = run(&format!("diff -s --as csv {flags} a/b a/c/ d --since snapshot")).text();
        assert!(table.contains("\n\"a/c/y\",file,20,25,5,"), "{table}");
        assert!(table.contains("\n\"a/b/x\",file,10,7,-3,"), "{table}");
    }
}

/// Once, all of several roots were new and gone if they were typed in another way.
#[test]
fn several_roots_are_compared_however_they_are_spelled() {
    let fixture = Fixture::new().file("a/x", 10).file("b/y", 20).file("c", 30);
    weigh("-s a b c --save snapshot.weigh").within(fixture.path()).run().clean();
    fs::write(fixture.at("b/y"), vec![0; 25]).unwrap();
    fs::write(fixture.at("c"), vec![0; 31]).unwrap();
    let run = |flags: &str| weigh(flags).within(fixture.at("a")).run();
    run("-s . ../b/ ../c --save ../now").clean();
    for now in [". ../b/ ../c", "-n 9 . ../b/ ../c", "--from ../now"] {
        let table = run(&format!("diff -s --as csv --since ../snapshot.weigh {now}")).text();
        assert!(table.contains("\n\"../b/y\",file,20,25,5,2,\n"), "{table}");
        assert!(table.contains("\n\"../c\",file,30,31,1,1,\n"), "{table}");
        // Besides them, the header, the total and the root above y.
        assert_eq!(table.lines().count(), 5, "{table}");
    }
}

/// Once, each file was looked up among all others, which took minutes.
#[test]
fn one_directory_of_many_files_is_compared_at_once() {
    let mut fixture = Fixture::in_memory();
    for i in 0..60_000 {
        fixture = fixture.sparse(format!("top/{i}"), 1);
    }
    weigh("-s -n 1 top --save snapshot").within(fixture.path()).run().clean();
    for i in 0..60_000 {
        fixture = fixture.sparse(format!("top/{i}"), 3);
    }
    let shown =
        weigh("diff -s -F --as csv top --since snapshot").within(fixture.path()).run().text();
    assert_eq!(shown.matches(",file,1,3,2,1,\n").count(), 60_000);
}

#[test]
fn bounds_end_with_a_status_of_their_own() {
    let fixture = project();
    save(&fixture, "-s");
    let fixture = change(fixture);
    // It was 47.1 MB and is 141.1 MB: 94 MB or 199.6% more.
    for (flags, status) in [
        ("--fail-over 141MB", 3),
        ("--fail-over 142MB", 0),
        ("-j --fail-over 1", 3),
        ("diff --since snapshot --fail-growth 93MB", 3),
        ("diff --since snapshot --fail-growth 95MB", 0),
        ("diff --since snapshot --fail-growth 199%", 3),
        ("diff --since snapshot --fail-growth 200.5%", 0),
        ("diff --since snapshot --fail-over 141MB -j", 3),
        ("--save again --fail-over 141MB", 3),
    ] {
        let shown = weigh(&format!("-s top {flags}")).within(fixture.path()).run();
        assert_eq!(shown.code(), status, "{flags}");
        let lines = if status == 3 { 1 } else { 0 };
        assert_eq!(shown.complaint().lines().count(), lines, "{flags}: {}", shown.complaint());
        assert!(!shown.stdout.is_empty());
    }
    let said = |flags: &str| {
        weigh(&format!("-s -o b top {flags}")).within(fixture.path()).run().complaint()
    };
    let size = weigh("-j -s top").within(fixture.path()).run().document().root().size;
    let before = weigh("-j --from snapshot").within(fixture.path()).run().document().root().size;
    let grown = size - before;
    assert_eq!(
        said("--fail-over 1kB"),
        format!(
            "weigh: error: top is {size}B, {}B over the limit of 1000B (--fail-over)\n",
            size - 1000
        )
    );
    assert_eq!(
        said("diff --since snapshot --fail-growth 1kB"),
        format!(
            "weigh: error: top grew by {grown}B, from {before}B to {size}B, {}B over the limit of 1000B (--fail-growth)\n",
            grown - 1000
        )
    );
    let percent = said("diff --since snapshot --fail-growth 100% --fail-over 141MB");
    assert!(
        percent.contains(" over the limit of 141000000B (--fail-over)\nweigh: error: top grew by "),
        "{percent}"
    );
    let by = format!(", {}B over the limit of 100% (--fail-growth)\n", grown - before);
    assert!(percent.contains(&by), "{percent}");
    let times = weigh("-m m --fail-over 1 top").within(fixture.path()).run();
    assert_eq!(times.code(), 2, "a time is no size");
    for flags in
        ["--fail-growth 5%", "diff --since x --fail-growth 5x", "diff --since x --fail-growth -5%"]
    {
        assert_eq!(weigh(flags).run().code(), 2, "{flags}");
    }
    let shrunk = weigh("diff -s top --since snapshot --fail-growth 0").within(fixture.path());
    assert_eq!(shrunk.run().code(), 3);
}

/// What is more already cannot become less by what was not read; what could not be kept is lost.
#[test]
fn a_bound_that_is_passed_says_more_than_what_was_not_read() {
    let fixture = Fixture::new().file("top/f", 5000).unreadable("top/closed");
    let run = |flags: &str| {
        weigh(&format!("-s -o b {flags} top")).within(fixture.path()).by_nobody(&fixture).run()
    };
    let shown = run("--fail-over 1000");
    assert_eq!(shown.code(), 3);
    let complaint = shown.complaint();
    assert!(complaint.starts_with("weigh: error: cannot open top/closed: "), "{complaint}");
    let said =
        "\nweigh: error: top is ≥5000B, 4000B or more over the limit of 1000B (--fail-over)\n";
    assert!(complaint.contains(said), "{complaint}");
    assert_eq!(run("--fail-over 5000").code(), 1);
    let shown = run("--fail-over 1000 --save /dev/full");
    assert!(shown.complaint().contains("cannot save /dev/full: No space left on device\n"));
    assert!(shown.complaint().contains(said) && shown.code() == 1, "{}", shown.complaint());
}

/// All of another directory was new, and all of the old one gone, with status 0.
#[test]
fn snapshots_of_other_directories_are_not_compared() {
    let fixture = Fixture::new().file("top/f", 5000).file("top/log/g", 700).file("other/f", 9000);
    let fixture = fixture.symlink("top", "link");
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    let keep = |shown: Shown, name: &str| fs::write(fixture.at(name), shown.stdout).unwrap();
    let at = |names: &[&str]| {
        let paths = names.iter().map(|name| fixture.at(name).display().to_string());
        paths.collect::<Vec<_>>().join(", ")
    };
    for (roots, file) in [("top", "all"), ("other", "others"), ("top other", "both")] {
        run(&format!("-s {roots} --save {file}.weigh")).clean();
        fs::create_dir(fixture.at(file)).unwrap();
        run(&format!("-s {roots} --save {file}/")).clean();
    }
    // The same root, whatever it is called, and in any order.
    for same in
        ["top", "./top/", "other/../top", "link", "link/", "top top/log", "--from all.weigh"]
    {
        run(&format!("diff -s -c {same} --since all.weigh")).clean();
    }
    run("diff -s -c other top --since both.weigh").clean();
    run("diff -s -c --from others.weigh --from all.weigh --since both.weigh").clean();
    // An export knows its root only by the name that was given.
    keep(run("-s --as ncdu top"), "ncdu");
    run("diff -s -c top --since ncdu").clean();
    keep(run(&format!("--as ncdu {}", at(&["other"]))), "ncdu");
    for (flags, was, is) in [
        ("diff other --since all", &["top"][..], &["other"][..]),
        ("diff -n 3 other --since all", &["top"], &["other"]),
        ("diff -t other --since all", &["top"], &["other"]),
        ("diff --from others --since all", &["top"], &["other"]),
        ("diff top --since both", &["other", "top"], &["top"]),
        ("diff top other --since all", &["top"], &["other", "top"]),
        ("diff --from both --since others", &["other"], &["other", "top"]),
        ("diff top --since ncdu", &["other"], &["top"]),
    ] {
        let [was, is] = [was, is].map(at);
        let why = format!(
            "it is of {was}, and not of {is}\nhint: compare {was} with it, or save a snapshot of {is} first"
        );
        let is_plain = flags.ends_with("ncdu");
        for form in if is_plain { &[""][..] } else { &[".weigh", "/"] } {
            let flags = match flags.strip_prefix("--from ").and_then(|it| it.split_once(' ')) {
                Some((file, rest)) => format!("--from {file}.weigh {rest}{form}"),
                None => format!("{flags}{form}"),
            };
            let shown = run(&format!("-s -c {flags}"));
            let said = shown.complaint();
            assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}: {said}");
            assert!(said.starts_with("weigh: error: cannot compare with "), "{flags}: {said}");
            assert!(said.contains(&why) && said.lines().count() == 2, "{flags}: {said}");
        }
    }
}

/// What was not seen on one side is not what came or went.
#[test]
fn a_comparison_says_what_it_cannot_tell() {
    let fixture = Fixture::new()
        .file("top/f", 5000)
        .file("top/closed/g", 700)
        .file("top/shut/h", 700)
        .file("other/f", 9000)
        .dir("kept")
        .mode("kept", 0o777);
    let root = |flags: &str| weigh(flags).within(fixture.path()).run();
    root("-s top --save all").clean();
    // The same root, whatever it is called.
    for same in ["top", "./top/", "other/../top"] {
        root(&format!("diff -s -c {same} --since all")).clean();
    }
    let by_nobody = |flags: &str| weigh(flags).within(fixture.path()).by_nobody(&fixture).run();
    let set =
        |mode| fs::set_permissions(fixture.at("top/closed"), fs::Permissions::from_mode(mode));
    set(0o000).unwrap();
    by_nobody("-s -q top --save kept/some");
    fs::rename(fixture.at("kept/some"), fixture.at("some")).unwrap();
    set(0o755).unwrap();
    let complaint = root("diff -s -c ./top --since some").complaint();
    set(0o000).unwrap();
    assert_eq!(
        complaint,
        "weigh: error: some is incomplete: what is new in top/closed may have been there before\n"
    );
    // On neither side.
    let complaint = by_nobody("diff -s -c ./top --since some").complaint();
    assert!(!complaint.contains("some"), "{complaint}");
    let complaint = by_nobody("diff -s -c top --since all").complaint();
    let said = "\nweigh: error: more could be read for all: what is gone in top/closed may still be there\n";
    assert!(complaint.contains(said), "{complaint}");

    set(0o755).unwrap();
    root("-s -q top --save half");
    saved::change(&fixture.at("half"), |header| header["complete"] = false.into());
    assert_eq!(
        root("diff -s -c top --since half").complaint(),
        "weigh: error: half was interrupted: what is new may have been there before\n"
    );
    let complaint = root("diff -s -c --from half --since all").complaint();
    assert!(
        complaint.contains("weigh: error: interrupted: what is gone may still be there\n"),
        "{complaint}"
    );
}

/// What is gone is gone. And where one root is left of two, it is compared with itself, not with both.
/// The root `top/log` is gone, and the directory of that path is new in another root.
#[test]
fn a_root_is_not_taken_for_a_directory_in_another_root() {
    let fixture = project();
    let run = |flags: &str| weigh(&format!("-s {flags}")).within(fixture.path());
    // Only what does not know where its roots are is compared with another root.
    let printed = run("--as ncdu").args(["top/log", "top/src"]).run().clean();
    fs::write(fixture.at("snapshot.weigh"), printed).unwrap();
    let shown = run("diff -j --since snapshot.weigh").arg("top").run().stdout;
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    let lines = shown["children"].as_array().unwrap();
    let of = |name: &str| lines.iter().find(|line| line["name"] == name).unwrap();
    assert_eq!((&of("top")["before"], &of("top/log")["size"]), (&Value::Null, &Value::Null));
    assert_eq!(of("top/log")["change"], -12_000_000);
}

#[test]
fn a_root_that_is_missing_is_gone() {
    let fixture = Fixture::new().file("a/f", 5000).file("b/f", 700);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-s a b --save both").clean();
    run("-s b --save one").clean();
    fs::rename(fixture.at("b"), fixture.at("elsewhere")).unwrap();
    let missing = "weigh: error: b: No such file or directory\n\
                   weigh: note: totals are a lower bound\n";
    let shown = run("diff -s -c a b --since both");
    assert_eq!((shown.code(), shown.complaint().as_str()), (1, missing));
    let picture = String::from_utf8(shown.stdout).unwrap();
    assert!(picture.contains("a did not change ") && picture.contains("b is gone "), "{picture}");
    assert!(picture.contains("All shrank by 700B "), "{picture}");
    let shown = run("diff -s -c b --since one");
    assert_eq!(shown.complaint(), "weigh: error: b: No such file or directory\n");
    // The other way round: it was missing before, and is new.
    let mut shown = run("-s a b --save both");
    assert_eq!(shown.code(), 1);
    fs::rename(fixture.at("elsewhere"), fixture.at("b")).unwrap();
    shown = run("diff -s -c a b --since both");
    assert_eq!((shown.code(), shown.complaint().as_str()), (0, ""));
    let picture = String::from_utf8(shown.stdout).unwrap();
    assert!(picture.contains("b is new ") && !picture.contains("gone"), "{picture}");
}

#[test]
fn a_chain_deeper_than_any_stack_is_compared() {
    native_only!("paths are bounded there");
    let fixture = Fixture::in_memory().chain("d", deeper_than_any_stack(), 10);
    weigh("-s d -n 1 --save snapshot").within(fixture.path()).run().clean();
    let fixture = fixture.chain("d/d/d/e", 1, 10);
    let shown = weigh("diff -s d -j --since snapshot").within(fixture.path()).run();
    assert!(String::from_utf8(shown.clean()).unwrap().contains("\"e\""));
}

/// Of two snapshots, flags that only a scan can heed showed all that they leave out as gone; a list was dropped, and so
/// was a word too many.
#[test]
fn two_snapshots_take_only_what_works_on_them() {
    let fixture = Fixture::new().file("top/f", 5000);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("top --save old.weigh").clean();
    run("top --save new.weigh").clean();
    fs::write(fixture.at("list"), "5 top/f\n").unwrap();
    assert!(run("diff old.weigh new.weigh").clean().starts_with(b"top did not change since "));
    for (flags, said) in [
        ("diff --only-ignored old.weigh new.weigh", "--from and --only-ignored cannot be combined"),
        ("diff -x old.weigh new.weigh", "--from and -x cannot be combined"),
        ("diff --from new.weigh old.weigh top", "--from takes the place of PATH"),
        ("diff --from list old.weigh new.weigh", "--from takes the place of PATH"),
        ("diff --from new.weigh 7d", "kept scans are of PATHs here"),
        ("df -d 1", "-d needs a PATH"),
    ] {
        let shown = run(flags);
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}");
        assert!(
            shown.complaint().starts_with(&format!("weigh: error: {said}")),
            "{flags}: {}",
            shown.complaint()
        );
    }
    // A word that is nearly a command cannot forge a line.
    for word in ["diff\nx", "dif\u{1b}", "df\u{9b}"] {
        let shown = weigh("").arg(word).within(fixture.path()).run();
        let said = shown.complaint();
        assert!(
            said.lines().all(|line| line.starts_with("weigh: ") || line.starts_with("hint: ")),
            "{said}"
        );
        assert!(!said.contains(['\u{1b}', '\u{9b}']), "{said:?}");
    }
}

/// A directory called `today` was taken for a PATH, and a file that is no snapshot for SINCE.
#[test]
fn a_time_comes_before_an_entry_and_a_file_can_be_path() {
    let fixture = Fixture::new().file("today/f", 10).file("7d/f", 10).file("notes.txt", 100);
    let run = |flags: &str| {
        let state = fixture.at("state");
        weigh(flags).within(fixture.path()).env("XDG_STATE_HOME", state).run()
    };
    for (flags, of) in [
        ("diff today", "."),
        ("diff 7d", "."),
        ("diff today today", "today"),
        ("diff notes.txt", "notes.txt"),
        ("diff ./7d", "./7d"),
    ] {
        let shown = run(&format!("{flags} --no-remember"));
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}");
        let none = format!("weigh: error: no earlier scan of {of} was kept\n");
        assert!(shown.complaint().starts_with(&none), "{flags}: {}", shown.complaint());
    }
    run("-s -q --remember .");
    run("-s -q --remember today");
    assert_eq!(run("diff -s today").code(), 0);
    assert!(run("diff -s today today").text().contains("today"));
    assert!(run("diff -s ./today").text().contains("./today"));
    // Damaged, or not to be read: an error says so.
    fs::write(fixture.at("bad.weigh"), "x").unwrap();
    for flags in ["diff bad.weigh .", "diff gone.weigh ."] {
        let shown = run(flags);
        assert_eq!(shown.code(), 2, "{flags}");
        let said = shown.complaint();
        assert!(said.starts_with("weigh: error: cannot load "), "{flags}: {said}");
    }
}

/// `--fail-growth 10` was ten bytes, which everybody read as percent.
#[test]
fn a_growth_has_a_unit() {
    let fixture = Fixture::new().file("t/f", 10);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-s t --save s").clean();
    run("-f t --save f").clean();
    let refused = run("diff s t --fail-growth 10");
    let said = "weigh: error: --fail-growth 10: 10 what?\nhint: as in 10% or 10M\n";
    assert_eq!((refused.code(), &*refused.complaint()), (2, said));
    for flags in ["s -s t --fail-growth 0", "s -s t --fail-growth 10B", "f -f t --fail-growth 10"] {
        assert_eq!(run(&format!("diff {flags}")).code(), 0, "{flags}");
    }
}
