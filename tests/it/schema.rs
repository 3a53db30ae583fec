//! docs/schema-1.json describes what the program prints: a validator that we did not write accepts it in every form,
//! and refuses what is broken. (`pip install jsonschema`; `tests/schema/validate.py` calls it.)
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, entries_at, raw};
use crate::rounds::{for_each, rounds};
use crate::run::{in_namespace, python, weigh};

/// Forms of one tree, beside a plain `-j`: each random tree has one of them.
const FORMS: [&str; 20] = [
    "-j -s",
    "-j -f",
    "-j --inodes",
    "-j -m m",
    "-j -m c -n 9",
    "-j -n 5",
    "-j -d 1",
    "-j -D",
    "-j -F",
    "-j -p",
    "-j -z 4k -r",
    "-j -t",
    "-j --by owner",
    "-j --by age -m m",
    "-j --by size -s",
    "-j --frees",
    "-j -L",
    "-j -n 0",
    "-j -i",
    "-j -M 0",
];

/// The same tree after a change.
const SINCE: [&str; 6] = ["", "-n 4", "-s -d 1", "-t", "--by age", "-p -F"];

/// What a document has to be, a space, and the document, in a line.
fn line(expected: &str, document: &[u8]) -> Vec<u8> {
    let document = document.trim_ascii();
    assert!(document.starts_with(b"{") && !document.contains(&b'\n'), "one object in one line");
    [expected.as_bytes(), b" ", document, b"\n"].concat()
}

/// Documents of one random tree, one of each kind that is its turn.
fn documents(seed: u64) -> Vec<Vec<u8>> {
    let mut dice = Dice::new(seed);
    let fixture = dice.tree(Fixture::in_memory(), Names::Hostile).dir("dated");
    let run =
        |flags: &str, roots: &[&Path]| weigh(flags).within(fixture.path()).args(roots).run().stdout;
    let turn = usize::try_from(seed).unwrap();
    let several = [Path::new("tree"), Path::new("elsewhere"), raw(b"gone \xff")];
    let mut documents = vec![run("-j", &several[..1])];
    let form = FORMS[turn % FORMS.len()];
    let roots = 1 + turn / FORMS.len() % 3;
    documents.push(run(form, &several[..roots]));
    if turn % 4 == 0 {
        weigh("--save dated/ tree").within(fixture.path()).run().clean();
        fs::write(fixture.at("tree").join(raw(b"new\xff")), [0; 9000]).unwrap();
        fs::rename(fixture.at("elsewhere"), fixture.at("tree/moved \u{202e}")).unwrap();
        let flags = SINCE[turn / 4 % SINCE.len()];
        documents.push(run(&format!("diff -j {flags} --since dated"), &several[..1]));
        weigh("--save dated/ tree").within(fixture.path()).run().clean();
        documents.push(run("-j --from dated", &[]));
        documents.push(run("history -j dated", &[]));
    }
    documents
}

/// What [`documents`] are rarely or never: what can be made or downloaded again, what is in no file, kept scans, and errors.
fn others() -> Vec<Vec<u8>> {
    const DAYS_AGO: i64 = 1_700_000_000;
    // Each group of weigh clean has one of these projects.
    let fixture = Fixture::new().dir("m").file("h/pnpm/store/v10/files/00/f", 5_000);
    for name in ["sure", "doubtful", "recent", "bytes \u{202e}"] {
        let at = |path: &str| fixture.at(format!("h/{name}/{path}"));
        fs::create_dir_all(at("node_modules/in")).unwrap();
        fs::write(at("package.json"), "{}").unwrap();
        fs::write(at("package-lock.json"), r#"{"node_modules/in": {}}"#).unwrap();
        fs::write(at("node_modules/in/package.json"), "{}").unwrap();
    }
    fs::write(fixture.at("h/doubtful/node_modules").join(raw(b"mine \xff")), "x").unwrap();
    fs::rename(fixture.at("h/bytes \u{202e}"), fixture.at("h").join(raw(b"bytes \xff"))).unwrap();
    let all = entries_at(&fixture.at("h")).into_iter().map(|(path, _)| path);
    let fixture = all.fold(fixture, |fixture, path| fixture.modified(path, DAYS_AGO));
    fs::write(fixture.at("h/recent/node_modules/in/new"), "x").unwrap();
    std::os::unix::fs::lchown(fixture.at("h/doubtful/node_modules"), Some(65_534), None).unwrap();
    let found = weigh("clean -j h").within(fixture.path()).env("HOME", fixture.path()).run();
    let json: Value = serde_json::from_slice(&found.stdout).unwrap();
    let groups = ["found", "by_program", "recent", "others"];
    let numbers = groups.map(|it| json["reclaimable"][it].as_array().unwrap().len());
    assert_eq!(numbers, [2, 1, 1, 1], "{json}");
    assert!(json["reclaimable"]["plan"].is_object(), "{json}");
    let kept = |flags: &str| {
        weigh(flags).within(fixture.path()).env("XDG_STATE_HOME", fixture.at("state")).run().stdout
    };
    kept("--remember h");
    let scans = kept("history --scans -j");
    let failed = ["clean -j --yes", "-j --from gone", "diff -j gone"];
    let failed = failed.map(|flags| weigh(flags).within(fixture.path()).run().failure);
    let script = "set -e; mount -t tmpfs none m; mkdir m/a; echo x >m/a/f; mount -t tmpfs none m/a
        exec 3>m/gone; echo x >&3; rm m/gone; \"$0\" df -j m; \"$0\" df -j ";
    let in_no_file = in_namespace(&fixture, script).stdout;
    let lines = in_no_file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(<[u8]>::to_vec).chain([found.stdout, scans]).chain(failed).collect()
}

/// Members that an object has to have, wherever they are.
const NEEDED: [&str; 27] = [
    "schema",
    "tool",
    "version",
    "measure",
    "unit",
    "complete",
    "errors",
    "name",
    "kind",
    "size",
    "entries",
    "children",
    "path",
    "change",
    "error",
    "found",
    "by_program",
    "recent",
    "others",
    "more",
    "rule",
    "what",
    "written",
    "mount",
    "evidence",
    "user",
    "more_others",
];

/// A member of a root, and what is there instead.
fn mistakes() -> Vec<(&'static str, Value)> {
    vec![
        ("schema", json!(2)),
        ("schema", json!("1")),
        ("tool", json!("du")),
        ("version", json!("new")),
        ("measure", json!("blocks")),
        ("measure", json!("files")),
        ("unit", json!("seconds")),
        ("complete", json!("yes")),
        ("kind", json!("door")),
        ("kind", json!("file")),
        ("kind", json!("group")),
        ("size", json!(-1)),
        ("size", json!(1.5)),
        ("size", json!("7")),
        ("size", json!(1e20)),
        ("size", Value::Null),
        ("entries", json!(-1)),
        ("shared", json!(0)),
        ("name_bytes", json!("not base64!")),
        ("children", json!([[]])),
        ("children", Value::Null),
        ("errors", json!([{"path": "x"}])),
        ("errors", json!([{"path": "x", "operation": "eat", "error": "EIO", "message": "x"}])),
        ("errors", json!([{"path": "x", "operation": "open", "error": "bad", "message": "x"}])),
        ("frees_least", json!(1)),
        ("links", json!(2)),
        ("roots", json!([])),
        ("share", json!({"number": 1, "of": 2})),
        ("time", json!("now")),
        ("mode", json!(65_536)),
    ]
}

/// `document` with something wrong in it, in each way. `known` are the places that were broken before.
fn broken(document: &[u8], known: &mut Vec<String>) -> Vec<Vec<u8>> {
    let document: Value = serde_json::from_slice(document).unwrap();
    let (mut places, mut ahead) = (Vec::new(), vec![(String::new(), &document)]);
    while let Some((at, value)) = ahead.pop() {
        if let Value::Array(items) = value {
            // All of them alike.
            ahead.extend(items.first().map(|item| (format!("{at}/0"), item)));
        }
        for (member, value) in value.as_object().into_iter().flatten() {
            let place = format!("{at}/{member}");
            places.push(place.clone());
            ahead.push((place, value));
        }
    }
    let mut all = Vec::new();
    let is_change = document.get("change").is_some();
    for place in places {
        let what = format!("{place} of {is_change}");
        if known.contains(&what) {
            continue;
        }
        known.push(what);
        let mut other = document.clone();
        *other.pointer_mut(&place).unwrap() = json!({});
        all.push(other);
        let (at, member) = place.rsplit_once('/').unwrap();
        // The system may refuse to tell how large what is in no file is.
        let is_part = at.contains("/parts/") || at.contains("/not_in_df/");
        let may_lack = is_change && member == "children"
            || is_part && member == "size"
            || at.starts_with("/roots");
        if NEEDED.contains(&member) && !may_lack {
            let mut other = document.clone();
            other.pointer_mut(at).unwrap().as_object_mut().unwrap().remove(member);
            all.push(other);
        }
    }
    all.iter().map(|value| value.to_string().into_bytes()).collect()
}

/// What the validator says of these `lines`.
fn validated(lines: &[u8]) -> String {
    let at = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let fixture = Fixture::new();
    fs::write(fixture.at("lines"), lines).unwrap();
    let mut command = python();
    command.arg(at("tests/schema/validate.py")).arg(at("docs/schema-1.json"));
    let run = command.stdin(File::open(fixture.at("lines")).unwrap()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
#[ignore = "needs jsonschema for Python"]
fn what_is_printed_is_what_the_schema_says() {
    let seeds: Vec<u64> = (0..rounds(96, 10_000) as u64).collect();
    for batch in seeds.chunks(500) {
        let lines = Mutex::new(Vec::new());
        for_each(batch, |seed| {
            for document in documents(*seed) {
                lines.lock().unwrap().extend(line("valid", &document));
            }
        });
        eprint!("{}", validated(&lines.into_inner().unwrap()));
    }
}

#[test]
#[ignore = "needs root, and jsonschema for Python"]
fn what_is_broken_is_refused() {
    let (mut lines, mut known, mut count) = (Vec::new(), Vec::new(), 0);
    let samples = (0..FORMS.len() as u64).flat_map(documents).chain(others());
    for document in samples {
        lines.extend(line("valid", &document));
        for document in broken(&document, &mut known) {
            lines.extend(line("broken", &document));
            count += 1;
        }
    }
    let sample = documents(0).swap_remove(0);
    for (member, value) in mistakes() {
        let mut document: Value = serde_json::from_slice(&sample).unwrap();
        document[member] = value;
        lines.extend(line("broken", document.to_string().as_bytes()));
        count += 1;
    }
    for place in ["", "/children/0"] {
        // New versions may add members.
        let mut document: Value = serde_json::from_slice(&sample).unwrap();
        document.pointer_mut(place).unwrap()["new"] = json!(1);
        lines.extend(line("unknown", document.to_string().as_bytes()));
    }
    assert!(count >= 100, "{count}");
    eprint!("{}", validated(&lines));
}
