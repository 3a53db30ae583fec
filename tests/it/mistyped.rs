//! Wrong command lines, each with its answer, in one table: `mistyped.txt`. To add one, add its line and nothing below it.
//! After a change of a message: `UPDATE_GENERATED=1 cargo test --test it mistyped::`, then read the difference.

use std::path::Path;

use crate::fixture::Fixture;
use crate::run::{is_kept, weigh};

const TABLE: &str = "tests/it/mistyped.txt";

/// The words of a line, split at spaces, but not between single quotes.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

#[test]
fn each_wrong_line_is_answered_with_the_way_out() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE);
    let kept = std::fs::read_to_string(&table).unwrap();
    let fixture = Fixture::new().file("ann/src/f", 100_000).file("bob/g", 1).dir("home");
    weigh("--save").arg("old.weigh").arg("ann").within(fixture.path()).run().clean();
    let (mut answered, mut without_way_out) = (String::new(), Vec::new());
    let lines = kept.lines().filter_map(|line| line.strip_prefix("$ weigh "));
    for (number, line) in lines.enumerate() {
        // Each has kept no scan yet.
        let state = fixture.at(format!("state/{number}"));
        let run = weigh("").args(words(line)).env("HOME", fixture.at("home"));
        let shown = run.env("XDG_STATE_HOME", state).within(fixture.path()).run();
        let complaint = shown.complaint().replace(fixture.path().to_str().unwrap(), "HERE");
        let complaint = match complaint.split_once("This one is kept (") {
            Some((before, size)) => {
                let (_, after) = size.split_once(')').unwrap();
                format!("{before}This one is kept (SIZE){after}")
            }
            None => complaint,
        };
        // The name says enough of a file that is not there.
        let is_missing = complaint.ends_with(": No such file or directory\n");
        let is_mistake = shown.code() == 2 && !is_missing;
        if is_mistake && (!shown.stdout.is_empty() || !complaint.contains("\nhint: ")) {
            without_way_out.push(line.to_owned());
        }
        answered += &format!("$ weigh {line}\n{complaint}[{}]\n\n", shown.code());
    }
    is_kept(TABLE, &answered, "");
    assert_eq!(without_way_out, [""; 0]);
}
