//! Small files that would take much memory: what is read of a file is bounded by what the file is worth,
//! and what goes beyond is refused with an error that names the bound. Run with room for a few hundred
//! megabytes, where it used to take gigabytes.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::fixture::Fixture;
use crate::run::{Shown, Weigh, weigh};

/// No scan here is larger.
const SMALL: usize = 100_000;

/// As many levels as a scan may have.
const DEEPEST: usize = 300_000;

/// `weigh` with room for 600 MB, of which it reserves a part that it does not use.
fn confined(flags: &str) -> Weigh {
    let weigh = weigh(flags);
    #[cfg(not(feature = "portable"))]
    let weigh = weigh.limited("-v 600000");
    weigh
}

/// It was refused in one line that says `why`.
fn check_refused(shown: &Shown, why: &str, what: &str) {
    let complaint = shown.complaint();
    assert!(complaint.contains(why), "{what}: {complaint}");
    assert_eq!((shown.code(), complaint.lines().count()), (1, 1), "{what}: {complaint}");
    assert!(shown.stdout.is_empty(), "{what}");
}

/// Writes the text that `pieces` come to, each so many times, compressed as a bomb is.
fn pack(path: &Path, pieces: &[(&str, usize)]) {
    let mut encoder = zstd::Encoder::new(File::create(path).unwrap(), 3).unwrap();
    for (piece, times) in pieces {
        // In chunks, so that packing takes no time.
        let chunk = piece.repeat(1 + 65_536 / piece.len());
        let length = piece.len() * times;
        for _ in 0..length / chunk.len() {
            encoder.write_all(chunk.as_bytes()).unwrap();
        }
        encoder.write_all(&chunk.as_bytes()[..length % chunk.len()]).unwrap();
    }
    encoder.finish().unwrap();
}

const HEAD: (&str, usize) = (r#"{"schema":1,"measure":"disk","complete":true"#, 1);
const ROOT: (&str, usize) = (r#","name":"r","kind":"file","size":5}"#, 1);

#[test]
fn a_small_scan_takes_little_memory_or_is_refused() {
    let place = Fixture::new();
    let file = place.at("bomb.zst");
    let deep = DEEPEST + 1;
    // Somewhat more than is unpacked in any case.
    let long = 65 << 20;
    let cases: &[(&str, &[(&str, usize)])] = &[
        ("a number or word without end", &[(r#","x":1"#, 1), ("1", long)]),
        ("a number or word without end", &[(r#","x":[{"y":1"#, 1), ("e", long)]),
        ("a string without end", &[(r#","x":""#, 1), ("x", long)]),
        ("a string without end", &[(r#",""#, 1), ("x", long)]),
        ("no whole number", &[(r#","time":1"#, 1), ("1", long)]),
        ("deeper than", &[(r#","x":"#, 1), ("[", long)]),
        ("deeper than", &[(r#","x":"#, 1), (r#"{"a":"#, long / 5)]),
        ("deeper than", &[(r#","children":["#, 1), (r#"{"children":["#, deep)]),
        ("1,032 times its size", &[(" ", long), ROOT]),
        ("a root without a path", &[(r#","roots":[{}"#, 1), (",{}", long / 3), ("]", 1), ROOT]),
        (
            "more than 1048576 items",
            &[(r#","options":["-s""#, 1), (r#","-s""#, long / 5), ("]", 1), ROOT],
        ),
    ];
    for (why, pieces) in cases {
        pack(&file, &[&[HEAD][..], pieces].concat());
        assert!(fs::metadata(&file).unwrap().len() < SMALL as u64);
        check_refused(&confined("-j --load").arg(&file).run(), why, &format!("{pieces:?}"));
    }
}

/// A path of each of many that could not be read, which are all as deep as can be.
#[test]
fn a_small_export_takes_little_memory_or_is_refused() {
    let place = Fixture::new();
    let file = place.at("bomb.zst");
    let level = r#"[{"name":"d"},"#;
    let unread = r#"{"name":"f","read_error":true},"#;
    for (why, pieces) in [
        ("deeper than", &[(level, DEEPEST + 2)][..]),
        ("paths of what could not be read", &[(level, 100_000), (unread, 100_000)]),
    ] {
        pack(&file, &[&[("[1,2,{},", 1)][..], pieces].concat());
        assert!(fs::metadata(&file).unwrap().len() < SMALL as u64);
        check_refused(&confined("--load").arg(&file).run(), why, "an export");
    }
}

/// What is at the bound is loaded: levels of nodes, of an export and of a member that nobody knows.
#[test]
fn a_scan_as_deep_as_it_may_be_is_loaded() {
    let place = Fixture::new();
    let file = place.at("deep.zst");
    let level = r#"{"name":"d","kind":"directory","size":5,"children":["#;
    let root = r#","name":"d","kind":"directory","size":5,"children":["#;
    for pieces in [
        &[HEAD, (r#","x":"#, 1), ("[", DEEPEST), ("]", DEEPEST), ROOT][..],
        &[HEAD, (root, 1), (level, DEEPEST), ("]}", DEEPEST + 1)],
        &[
            (r#"[1,2,{},"#, 1),
            (r#"[{"name":"d","dsize":0},"#, DEEPEST),
            (r#"[{"name":"d","dsize":5}]"#, 1),
            ("]", DEEPEST + 1),
        ],
    ] {
        pack(&file, pieces);
        let shown = confined("-b -n 1 -o b --load").arg(&file).run();
        assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0), "{:?}", &pieces[1..]);
        assert!(shown.stdout.starts_with(b"5B"), "{}", String::from_utf8_lossy(&shown.stdout));
    }
}

/// Frames with a larger window than zstd itself takes unasked.
#[test]
fn a_window_of_a_gigabyte_is_refused() {
    let place = Fixture::new();
    let file = place.at("wide.zst");
    let mut encoder = zstd::Encoder::new(File::create(&file).unwrap(), 3).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(30).unwrap();
    encoder.write_all(&vec![b' '; 1 << 20]).unwrap();
    encoder.finish().unwrap();
    check_refused(&confined("--load").arg(&file).run(), "memory", "a wide window");
}
