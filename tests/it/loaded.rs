//! The strings of a loaded snapshot are not trusted: none of them can move the cursor or forge a line, in any form of
//! output or in any message.

use std::fs;

use serde_json::{Value, json};

use crate::dice::HOSTILE;
use crate::fixture::Fixture;
use crate::names::check_text;
use crate::run::weigh;
use crate::saved;
use crate::saved::sealed;

/// Everything that a terminal obeys, in one string of text, and what a forged line would say.
const TEXT: &str = "a\x1b[2J\r\nweigh: forged\u{7f}\t\u{9b}31m\u{85}\u{2028}\u{202e}b\"\\";

/// The same, as bytes that are no text.
const BYTES: &[u8] = b"a\x1b[2J\r\nweigh: forged\xff\xc3\x9bb";

/// What is printed of a loaded snapshot: pictures, documents, tables, exports, groups, what went wrong.
const SHOWN: &[&str] = &[
    "",
    "-p",
    "-C",
    "-C -p",
    "-R",
    "-F",
    "-r",
    "-w 20",
    "-t",
    "-D",
    "--by owner",
    "--print-errors",
    "-j",
    "-j -p",
    "-j --print-errors",
    "-t -j",
    "--as csv",
    "--as ndjson",
    "--as md",
    "--as ncdu",
    "--as prometheus -z 0",
    "--stats",
    "-X nothing",
    "--mtime +1",
];

/// Runs weigh on `snapshots`, and looks at all that it prints. Colours are its own.
fn is_harmless(place: &Fixture, flags: &str, snapshots: &[&str]) {
    let limits = if flags.contains("--as") { "" } else { "-n 1000" };
    let run = weigh(&format!("{limits} {flags}"));
    let mut run = run.within(place.path()).env("LS_COLORS", "ex=32");
    for arg in snapshots.iter().copied() {
        run = run.arg(arg);
    }
    let shown = run.run();
    assert!(matches!(shown.code(), 0 | 1), "{flags} {snapshots:?}: {}", shown.complaint());
    assert!(!shown.stdout.is_empty(), "{flags} {snapshots:?}: {}", shown.complaint());
    let is_ncdu = flags.contains("ncdu");
    for stream in [&shown.stdout, &shown.stderr] {
        let text = String::from_utf8_lossy(stream);
        // ncdu's names are bytes: what is no text in them has no other way.
        assert!(is_ncdu || !text.contains('\u{fffd}') || is_replaced(flags), "{flags}: {text:?}");
        let plain = without_colours(&text);
        check_text(plain.as_bytes(), flags);
        assert!(!plain.contains("\nweigh: forged"), "{flags}: {plain}");
        assert!(!plain.starts_with("weigh: forged"), "{flags}: {plain}");
    }
}

/// In JSON what is no text is replaced, and stands beside it in base64. In metrics it is only replaced.
fn is_replaced(flags: &str) -> bool {
    ["-j", "ndjson", "prometheus"].iter().any(|flag| flags.contains(flag))
}

fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let colour =
            piece.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        match piece[colour..].strip_prefix('m') {
            Some(rest) => plain += rest,
            None => plain += &format!("\x1b[{piece}"),
        }
    }
    plain
}

/// A snapshot with `text`, and `bytes` beside it, in every member that is a string.
fn snapshot(text: &str, bytes: Option<&[u8]>, size: u64) -> Value {
    let mut snapshot = json!({
        "schema": 1, "tool": text, "version": text, "unit": text, "measure": "disk",
        "complete": false, "time": 1, "host": text, "details": true,
        "roots": [named("path", text, bytes)],
        "options": [text, format!("--{text}")],
        "kind": "directory", "size": size + 7, "entries": 5, "own": 1, "mode": 16877,
        "inode": 1, "device": 1, "mount": 1, "modified": 5, "owner": 7,
        text: {text: [text]},
        "children": [
            {"kind": "file", "size": size, "mode": 33261, "inode": 2, "links": 2, "modified": 5,
             "owner": 8, text: text},
            {"name": "d", "kind": "directory", "size": 6, "entries": 2, "own": 1, "inode": 3,
             "modified": 5, "owner": 9, "children": [
                {"kind": "symlink", "size": 5, "inode": 4, "modified": 5, "owner": 9}]},
        ],
        "errors": (["stat", "open", "read", "enter"].map(|operation| {
            let mut error = named("path", text, bytes);
            error["operation"] = operation.into();
            error["error"] = text.into();
            error["message"] = text.into();
            error
        })),
    });
    for node in ["", "/children/0", "/children/1/children/0"] {
        let name = named("name", text, bytes);
        let node = snapshot.pointer_mut(node).unwrap().as_object_mut().unwrap();
        node.extend(name.as_object().unwrap().clone());
    }
    snapshot
}

fn named(member: &str, text: &str, bytes: Option<&[u8]>) -> Value {
    use base64::Engine as _;
    let mut named = json!({ member: text });
    if let Some(bytes) = bytes {
        let bytes = base64::engine::general_purpose::STANDARD.encode(bytes);
        named[format!("{member}_bytes")] = bytes.into();
    }
    named
}

/// An ncdu export whose every string is `text`, and whose names are `bytes`, as they are.
fn export(text: &str, bytes: &[u8]) -> Vec<u8> {
    let text = Value::from(text).to_string();
    let mut name = Vec::from(b"\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => name.extend([b'\\', *byte]),
            ..b' ' => name.extend(format!("\\u{byte:04x}").into_bytes()),
            _ => name.push(*byte),
        }
    }
    name.push(b'"');
    let mut export =
        format!("[1,2,{{\"progname\":{text},\"progver\":{text},{text}:{text},").into_bytes();
    export.extend_from_slice(b"\"timestamp\":1},\n");
    for (before, after) in [
        ("[{\"name\":", ",\"dsize\":5,\"read_error\":true,\"asize\":3},"),
        ("{\"name\":", ",\"dsize\":9,\"excluded\":0},"),
        ("{\"name\":", ",\"dsize\":9,\"ino\":4,\"hlnkc\":true,\"nlink\":2,\"read_error\":true},"),
        ("[{\"name\":", &format!(",\"dsize\":5,\"read_error\":true,{text}:{text}}}]]]")),
    ] {
        export.extend_from_slice(before.as_bytes());
        export.extend_from_slice(&name);
        export.extend_from_slice(after.as_bytes());
    }
    export
}

#[test]
fn no_string_of_a_snapshot_reaches_a_terminal_as_it_is() {
    let place = Fixture::new();
    for (number, bytes) in [None, Some(BYTES)].into_iter().enumerate() {
        let [one, two] = ["one", "two"].map(|name| format!("{name}{number}"));
        saved::save(&place.at(&one), &snapshot(TEXT, bytes, 40));
        saved::save(&place.at(&two), &snapshot(TEXT, bytes, 4000));
        for flags in SHOWN {
            is_harmless(&place, flags, &["--from", &one]);
        }
        for flags in ["", "-p", "-C", "-j", "--as csv", "--as ndjson", "--print-errors"] {
            is_harmless(&place, &format!("diff {flags}"), &["--from", &two, "--since", &one]);
        }
    }
}

#[test]
fn no_string_of_an_export_reaches_a_terminal_as_it_is() {
    let place = Fixture::new();
    for (number, name) in [TEXT.as_bytes(), BYTES].into_iter().chain(HOSTILE).enumerate() {
        let file = format!("export{number}");
        fs::write(place.at(&file), export(TEXT, name)).unwrap();
        for flags in ["", "-p", "-F", "--print-errors", "-j", "--as csv", "--as ncdu"] {
            is_harmless(&place, flags, &["--from", &file]);
        }
    }
}

/// A refusal takes one line, whatever text the file contributes to it.
#[test]
fn what_is_wrong_with_a_snapshot_is_said_in_one_line() {
    let place = Fixture::new();
    let text = Value::from(TEXT).to_string();
    let header = |text: String| sealed(&[(b'H', text.into_bytes())], false);
    for wrong in [
        header(format!("{{\"schema\":1,\"measure\":{text}}}")),
        header(format!("{{\"schema\":1,\"errors\":[{{\"operation\":{text}}}]}}")),
        header(format!("{{\"schema\":1,{text}:{TEXT}}}")),
        header(format!("{{\"schema\":{text}}}")),
        format!("{{\"schema\":1,{text}:{TEXT}}}").into_bytes(),
        format!("[{text}]").into_bytes(),
        format!("[1,2,{{}},[{{\"name\":{text},{text}:{TEXT}").into_bytes(),
        TEXT.as_bytes().to_vec(),
    ] {
        fs::write(place.at("wrong"), &wrong).unwrap();
        let shown = weigh("--from wrong").within(place.path()).run();
        assert_eq!(shown.code(), 2, "{wrong:?}");
        assert_eq!(shown.messages(), 1, "{}", shown.complaint());
        check_text(&shown.stderr, &String::from_utf8_lossy(&wrong));
    }
}

/// By symbol they are the numbers of the system that loads them; what it does not know is EIO.
#[test]
fn the_errors_of_a_snapshot_come_back_by_their_symbols() {
    let place = Fixture::new();
    let given = ["EACCES", "EIO", "ESTALE", "E4095", "E9999", "ENOSUCH", ""];
    let expected = ["EACCES", "EIO", "ESTALE", "E4095", "EIO", "EIO", "EIO"];
    let errors = given
        .map(|symbol| json!({"path": "p", "operation": "open", "error": symbol, "message": "m"}));
    let snapshot = json!({"schema": 1, "measure": "disk", "complete": false, "errors": errors});
    saved::save(&place.at("snapshot"), &snapshot);
    let shown = weigh("-j --from snapshot").within(place.path()).run();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let symbols: Vec<_> = shown["errors"].as_array().unwrap().iter().map(|e| &e["error"]).collect();
    assert_eq!(symbols, expected);
}

/// The picture of one file seemed to be all that is in it.
#[test]
fn a_snapshot_that_is_given_as_path_says_how_it_is_loaded() {
    let fixture = Fixture::new().file("top/f", 5000);
    weigh("--save x.weigh top").within(fixture.path()).run().clean();
    let said = |flags: &str| weigh(flags).within(fixture.path()).run().complaint();
    assert_eq!(
        said("x.weigh"),
        "weigh: note: x.weigh is a file: --from shows the snapshot in it\n"
    );
    for flags in ["-q x.weigh", "top/f", "--from x.weigh", "."] {
        assert_eq!(said(flags), "", "{flags}");
    }
}
