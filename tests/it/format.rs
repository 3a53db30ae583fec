//! docs/format.md is true: a reader that was written from it alone reads what weigh saves, and its example is what
//! weigh writes.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::dice::{Dice, Names};
use crate::fixture::Fixture;
use crate::rounds::{for_seeds, rounds};
use crate::run::{is_kept, python, said_by, weigh};
use crate::saved;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/format.md");

/// The tree of the example.
const EXAMPLE: &str = r#"{"schema":1,"tool":"weigh","version":"0.3.0","measure":"disk","unit":"bytes","complete":true,"time":1750000000,"host":"home","roots":[{"path":"/t","name":"t"}],"options":[],"figures":["disk","apparent","files","inodes","modified"],"details":false,"name":"t","kind":"directory","size":12288,"apparent":8197,"files":2,"entries":4,"own":4096,"own_apparent":4096,"modified":1704067200,"newest":1704067210,"children":[{"name":"d","kind":"directory","size":8192,"apparent":4101,"files":1,"entries":2,"own":4096,"own_apparent":4096,"modified":1704067200,"newest":1704067210,"children":[{"name":"b","kind":"file","size":4096,"apparent":5,"modified":1704067210}]},{"name":"a","kind":"file","size":0,"modified":1704067200}],"errors":[]}"#;

/// The bytes of the example, in lines that each have one part, and what it is.
const PARTS: &[(usize, &str)] = &[
    (1, "the first listing is that of directory 0"),
    (2, "the root's record: a name of 1 byte, and `kept` 2; `t`"),
    (3, "mode 40755, exclusive or 100644"),
    (2, "`disk` 12288"),
    (2, "`length` 8197, near it: -4091"),
    (1, "`more`: 32 and 4"),
    (2, "2 files, 4 inodes"),
    (1, "newest time: 10 s after 1704067200"),
    (1, "4 entries, near 4"),
    (1, "nothing is shared"),
    (1, "`own` 6"),
    (5, "4096 bytes on disk, length 4096, 0 files, 1 inode"),
    (5, "modified at 1704067200"),
    (1, "1 directory is below"),
    (1, "a piece: 27 bytes of subdirectories, the last of its listing"),
    (1, "7 bytes of other entries"),
    (26, "the record of `d`, in the same form"),
    (1, "no directory is below"),
    (2, "the record of `a`: a name of 1 byte, and `kept` 2; `a`"),
    (1, "mode 100644"),
    (2, "`disk` and `length` 0"),
    (2, "`more` 4; modified at 1704067200"),
    (2, "a piece of directory 1: no subdirectories, the last; 9 bytes of other entries"),
    (9, "the record of `b`"),
];

#[test]
fn the_example_is_what_is_written() {
    let fixture = Fixture::new();
    saved::write(fixture.at("t.weigh"), EXAMPLE);
    let mut sections = saved::sections(&fixture.bytes("t.weigh")).into_iter();
    let (_, content) = sections.find(|(kind, _)| *kind == b'D').expect("it has a block");
    let (mut rest, mut shown) = (content.as_slice(), String::new());
    for (length, what) in PARTS {
        let (part, others) = rest.split_at((*length).min(rest.len()));
        let bytes: Vec<_> = part.iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes: Vec<_> = bytes.chunks(12).map(|line| line.join(" ")).collect();
        writeln!(shown, "{:<36}{what}", bytes[0]).unwrap();
        bytes[1..].iter().for_each(|line| writeln!(shown, "{line}").unwrap());
        rest = others;
    }
    assert!(rest.is_empty(), "{} bytes are not explained:\n{shown}", rest.len());
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, after) = page.split_once("```text\n").expect("there is an example");
    let (_, after) = after.split_once("```").expect("it ends");
    is_kept(PAGE, &format!("{before}```text\n{shown}```{after}"), &shown);
}

/// The same with what is in directories in the order of names, however JSON has it.
fn sorted(mut node: Value) -> Value {
    if let Some(children) = node.get_mut("children").and_then(Value::as_array_mut) {
        let mut those: Vec<Value> = std::mem::take(children).into_iter().map(sorted).collect();
        those.sort_by_key(|child| format!("{}{}", child["name"], child["name_bytes"]));
        *children = those;
    }
    node
}

/// What the page says of a node is what weigh reads; and that is all, but for what follows from other figures.
fn assert_agree(page: &Value, weigh: &Value, what: &str) {
    const FOLLOWS: [&str; 6] = ["device", "files", "inodes", "mount", "newest", "own_inodes"];
    match (page, weigh) {
        (Value::Object(page), Value::Object(weigh)) => {
            for name in page.keys().chain(weigh.keys()) {
                let what = format!("{what} {name}");
                match (page.get(name), weigh.get(name)) {
                    (Some(one), Some(other)) => assert_agree(one, other, &what),
                    (one, other) => {
                        let lacks = one.is_none() && FOLLOWS.contains(&name.as_str())
                            // The tests do not look at these.
                            || name.starts_with("frees");
                        let is_zero = one.or(other).is_some_and(|it| *it == 0);
                        assert!(lacks || is_zero, "{what}: {one:?} and {other:?}");
                    }
                }
            }
        }
        (Value::Array(page), Value::Array(weigh)) => {
            assert_eq!(page.len(), weigh.len(), "{what}");
            page.iter().zip(weigh).for_each(|(one, other)| assert_agree(one, other, what));
        }
        _ => assert_eq!(page, weigh, "{what}"),
    }
}

#[test]
#[ignore = "needs Python with zstandard"]
fn a_reader_that_was_written_from_the_page_reads_the_same() {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format/read.py");
    for_seeds(rounds(16, 300), |seed| {
        let fixture = Dice::new(seed).tree(Fixture::in_memory(), Names::Hostile);
        let flags = ["", "--details", "-s", "-f --details", "--frees", "-L", "-X none"];
        let flags = flags[seed as usize % flags.len()];
        let roots = [&["tree"][..], &["tree", "elsewhere"], &["."]][seed as usize % 3];
        let run = weigh(&format!("{flags} --save all.weigh")).within(fixture.path());
        run.args(roots).run().clean();
        let read = said_by(python().arg(&reader).arg("all.weigh"), &fixture).into_bytes();
        let read = sorted(serde_json::from_slice(&read).unwrap());
        let saved = sorted(saved::read(&fixture.at("all.weigh")));
        assert_agree(&read, &saved, &format!("seed {seed}, {flags} {roots:?}:"));
    });
}
