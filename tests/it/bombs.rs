//! Small files that would take much memory. Memory is bounded, and a file that needs more is refused with an error that
//! names the bound. The runs have a few hundred megabytes; some once took gigabytes.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::rounds::rounds;
use crate::run::{Shown, Weigh, weigh};
use crate::saved;
use crate::saved::{LARGEST, MAGIC, Parts, push, sealed};

/// No snapshot here is larger.
const SMALL: usize = 100_000;

/// As many levels as a snapshot may have.
const DEEPEST: usize = 300_000;

/// `weigh` with room for 600 MB, of which it reserves a part that it does not use.
fn confined(flags: &str) -> Weigh {
    weigh(flags).limited("-v 600000")
}

/// Asserts that it was refused in one line, which contains `why`.
fn check_refused(shown: &Shown, why: &str, what: &str) {
    let complaint = shown.complaint();
    assert!(complaint.contains(why), "{what}: {complaint}");
    assert_eq!((shown.code(), shown.messages()), (2, 1), "{what}: {complaint}");
    assert!(shown.stdout.is_empty(), "{what}");
}

/// Writes each of `pieces` so many times, compressed.
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

/// How a header begins.
const HEAD: &str = r#"{"schema":1,"measure":"disk","complete":true"#;

#[test]
fn a_small_header_takes_little_memory_or_is_refused() {
    let place = Fixture::new();
    let file = place.at("bomb.weigh");
    // Somewhat more than is unpacked in any case.
    let long = 65 << 20;
    let cases: &[(&str, &[(&str, usize)])] = &[
        ("a number or word without end", &[(r#","x":1"#, 1), ("1", long)]),
        ("a number or word without end", &[(r#","x":[{"y":1"#, 1), ("e", long)]),
        ("string of more than 16777216 bytes", &[(r#","x":""#, 1), ("x", long)]),
        ("string of more than 16777216 bytes", &[(r#",""#, 1), ("x", long)]),
        (
            "string of more than 16777216 bytes",
            &[(r#","x":""#, 1), ("x", (16 << 20) + 1), ("\"", 1)],
        ),
        ("a number or word without end", &[(r#","time":1"#, 1), ("1", long)]),
        ("deeper than", &[(r#","x":"#, 1), ("[", long)]),
        ("deeper than", &[(r#","x":"#, 1), (r#"{"a":"#, long / 5)]),
        ("1,032 times its size", &[(" ", long)]),
        ("a root without a path", &[(r#","roots":[{}"#, 1), (",{}", long / 3)]),
        ("more than 1048576 items", &[(r#","options":["-s""#, 1), (r#","-s""#, long / 5)]),
    ];
    for (why, pieces) in cases {
        let rest = pieces
            .iter()
            .flat_map(|(piece, times)| piece.bytes().cycle().take(piece.len() * times));
        let text: Vec<_> = HEAD.bytes().chain(rest).collect();
        let parts: Parts = text.chunks(LARGEST).map(|part| (b'H', part.to_vec())).collect();
        fs::write(&file, sealed(&parts, false)).unwrap();
        assert!(fs::metadata(&file).unwrap().len() < SMALL as u64);
        check_refused(&confined("-j --from").arg(&file).run(), why, &format!("{pieces:?}"));
    }
}

/// The paths of many errors, all as deep as possible.
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
        check_refused(&confined("--from").arg(&file).run(), why, "an export");
    }
}

/// Packs the record of a directory of this size, with so many below it.
fn push_directory(content: &mut Vec<u8>, name: &[u8], size: u64, below: u64) {
    push(content, (name.len() as u64) << 2);
    content.extend(name);
    for number in [0o040_755 ^ 0o100_644, size, 0, 0, 0, 0, below] {
        push(content, number);
    }
}

/// What has this header, and the root's record, which says that so many directories are below it.
fn rooted(directories: u64, below: u64) -> Parts {
    let head = r#"{"schema":1,"tool":"weigh","measure":"disk","complete":true,"time":1,"host":"h","details":false"#;
    let head = format!(r#"{head},"format":1,"directories":{directories}}}"#);
    let mut content = vec![0];
    push_directory(&mut content, b"r", 9, below);
    vec![(b'H', head.into_bytes()), (b'D', content)]
}

/// Adds `piece` so many times, in blocks as large as may be. They begin with the root's listing, or with the next one
/// for each of the pieces.
fn push_blocks(parts: &mut Parts, are_listings: bool, piece: &[u8], mut times: usize) {
    let mut number = 0;
    while times > 0 {
        let mut content = Vec::new();
        push(&mut content, number);
        let fitting = times.min((LARGEST - content.len()) / piece.len());
        content.extend(piece.repeat(fitting));
        parts.push((b'D', content));
        number += if are_listings { fitting as u64 } else { 0 };
        times -= fitting;
    }
}

/// So many levels of directories, each of which says how many are below it. `beside` says whether the root has an empty
/// directory besides, whose listing is still to come.
fn levels(deepest: u64, beside: bool) -> Parts {
    let below = deepest + u64::from(beside);
    let mut parts = rooted(below + 1, below);
    for number in 0..deepest {
        if parts.last().unwrap().1.len() > LARGEST / 2 {
            let mut content = Vec::new();
            push(&mut content, number);
            parts.push((b'D', content));
        }
        let mut directory = Vec::new();
        push_directory(&mut directory, b"d", 5, deepest - number - 1);
        if number == 0 && beside {
            push_directory(&mut directory, b"e", 0, 0);
        }
        let content = &mut parts.last_mut().unwrap().1;
        push(content, (directory.len() as u64) << 1 | 1);
        content.push(0);
        content.extend(directory);
    }
    parts.last_mut().unwrap().1.extend(EMPTY);
    parts
}

/// A listing that ends, and has nothing in it.
const EMPTY: &[u8] = &[1, 0];

/// Runs that read a file from front to back, by its blocks, and with others.
const READERS: [&str; 8] = [
    "-n 5 --from bomb",
    "-F -n 5 --from bomb",
    "-D -n 100000 --from bomb",
    "-t --from bomb",
    "-j -d 2 --from bomb",
    "-n 5 --from bomb --from bomb",
    "diff -n 5 top --since bomb",
    "history bomb",
];

/// The same of `.weigh`. Each takes a second, and has a minute.
#[test]
fn a_small_weigh_file_takes_little_memory_and_time_or_is_refused() {
    let many = rounds(100_000, 500_000);
    let place = Fixture::in_memory().file("top/f", 1);
    // Pieces of the root's listing.
    let mut directory = Vec::new();
    push_directory(&mut directory, b"d", 5, 0);
    let directory = [&[directory.len() as u8 * 2, 0][..], &directory].concat();
    let file = [0, 5, 1 << 2, b'f', 0, 5, 0];
    let mut long = Vec::new();
    push(&mut long, u64::MAX);
    push(&mut long, u64::MAX);

    let cases = [
        ("", vec![(directory, many, false), (EMPTY.to_vec(), many + 1, true)], many as u64),
        ("", vec![(file.to_vec(), many, false), (EMPTY.to_vec(), 1, true)], 0),
        ("1,032 times its size", vec![(vec![0, 0], 36_000_000, false)], 0),
        ("longer than its block", vec![(long, 1, false)], 0),
        ("fewer directories than it says", vec![(EMPTY.to_vec(), 1, true)], u64::MAX - 1),
        ("number of directories", vec![], u64::MAX),
    ];
    let cases = cases.into_iter().map(|(why, blocks, below)| {
        let mut parts = rooted(below.wrapping_add(1), below);
        for (piece, times, are_listings) in blocks {
            push_blocks(&mut parts, are_listings, &piece, times);
        }
        (why, parts)
    });
    let spaces = vec![(b'H', vec![b' '; LARGEST]); 80];
    // One more than there may be, and so many that they would not fit into memory.
    let [deeper, deepest] =
        [DEEPEST as u64 + 2, 1_500_000].map(|count| ("deeper than", levels(count, false)));
    for (why, mut parts) in cases.chain([deeper, deepest, ("1,032 times its size", spaces)]) {
        parts.push((b'I', Vec::new()));
        let packed = sealed(&parts, true);
        assert!(why == "deeper than" || packed.len() < SMALL, "{why}: {}", packed.len());
        fs::write(place.at("bomb"), packed).unwrap();
        check_readers(&place, why);
    }
}

/// In a file of so many blocks, listings are read one by one. Each level of them takes memory, too.
#[test]
fn listings_are_not_read_one_by_one_at_any_depth() {
    const BLOCKS: usize = 90_000;
    let (place, deepest) = (Fixture::in_memory(), DEEPEST as u64 + 2);
    let mut parts = levels(deepest, true);
    // As many files as are asked for.
    let bottom = &mut parts.last_mut().unwrap().1;
    bottom.truncate(bottom.len() - EMPTY.len());
    bottom.extend([1, 25]);
    bottom.extend([1 << 2, b'f', 0, 5, 0].repeat(5));
    let mut content = Vec::new();
    push(&mut content, deepest + 1);
    parts.extend(vec![(b'D', [&content[..], &[0, 0]].concat()); BLOCKS]);
    parts.extend([(b'D', [&content, EMPTY].concat()), (b'I', Vec::new())]);
    fs::write(place.at("bomb"), sealed(&parts, true)).unwrap();
    let shown = bounded("-F -n 5 --from bomb").within(place.path()).run();
    check_refused(&shown, "deeper than", "-F");
}

/// [`confined`] on any number of threads, for each of which a heap of its own would reserve 64 MiB. It has a minute of
/// CPU time.
fn bounded(flags: &str) -> Weigh {
    weigh(flags).env("MALLOC_ARENA_MAX", "1").limited("-v 600000; ulimit -t 60")
}

/// Asserts that each reader shows what is in `bomb`, or says in one line `why` it does not, unless that is nothing.
fn check_readers(place: &Fixture, why: &str) {
    for flags in READERS {
        let shown = bounded(flags).within(place.path()).run();
        let complaint = shown.complaint();
        let is_refused =
            complaint.starts_with("weigh: error: cannot load bomb: ") && shown.messages() == 1;
        // What is not shown need not be read.
        let is_partial = flags.contains("-n ") || flags.contains("-d ");
        match shown.code() {
            0 => assert!(
                !shown.stdout.is_empty() && (why.is_empty() || is_partial),
                "{why}: {flags}"
            ),
            code => assert!(
                code == 2 && is_refused && !why.is_empty() && complaint.contains(why),
                "{why}: {flags}: {code} {complaint}"
            ),
        }
    }
}

/// What an index says of millions of blocks takes a few kilobytes, and in a sparse file there is room for them.
#[test]
fn an_index_of_millions_of_blocks_is_refused() {
    let place = Fixture::in_memory().file("top/f", 1);
    let mut content = sealed(&rooted(1, 0), false);
    content.truncate(content.len() - 9);
    fs::write(place.at("bomb"), content).unwrap();
    let place = place.extended("bomb", HUGE);
    // Each block takes 6 bytes, and begins with the same directory.
    let index = sealed(&vec![(b'I', [6, 0].repeat(LARGEST / 2)); 1_000], false);
    let mut file = File::options().append(true).open(place.at("bomb")).unwrap();
    file.write_all(&index[MAGIC.len()..index.len() - 8]).unwrap();
    file.write_all(&HUGE.to_le_bytes()).unwrap();
    for flags in ["-n 5 --from bomb", "-F -n 5 --from bomb"] {
        let shown = bounded(flags).within(place.path()).run();
        check_refused(&shown, "the index is wrong", flags);
    }
}

/// Once, all of a header was in memory before it was read.
#[test]
fn a_header_takes_no_memory() {
    let place = Fixture::new();
    let mut dice = Dice::new(1);
    let noise: String = (0..900_000).map(|_| char::from(b' ' + 1 + dice.below(90) as u8)).collect();
    let unknown = format!(r#""x":"{}","#, noise.replace(['"', '\\'], "x"));
    let [head, tree] = &rooted(1, 0)[..] else { panic!() };
    let parts = [
        ("head", (b'H', b"{".to_vec())),
        ("unknown", (b'H', unknown.into_bytes())),
        ("rest", (b'H', head.1[1..].to_vec())),
        ("tree", (b'D', [&tree.1, EMPTY].concat())),
    ];
    for (name, part) in parts {
        let file = sealed(&[part], false);
        let start = if name == "head" { 0 } else { MAGIC.len() };
        fs::write(place.at(name), &file[start..file.len() - 9]).unwrap();
    }
    let script = "ulimit -v 600000; { cat head; for i in $(seq 800); do cat unknown; done; cat rest tree; } | \"$0\" \"$@\"";
    let run = weigh("-n 5 --from -").within(place.path()).under(["/bin/sh", "-c", script]);
    // Its end is missing.
    check_refused(&run.run(), "it ends too early", "a header of 700 MB");
}

/// Each level has a little that is left to do. Once, threads unpacked a block for each of these, and kept it.
#[test]
fn a_comparison_with_a_deep_snapshot_takes_no_memory() {
    const DEPTH: u64 = 40_000;
    let place = Fixture::in_memory().file("top/f", 1);
    // Names that hardly compress.
    let name = |number: u64| format!("{:x}", u128::from(number).pow(5) % 0x1234_5678_9abc_def1);
    let level = |number| {
        let [beside, below] = [name(2 * number), name(2 * number + 1)];
        format!(r#",[{{"name":"a{beside}"}}],[{{"name":"b{below}"}}"#)
    };
    let levels: String = (0..DEPTH).map(level).collect();
    let ends = "]".repeat(DEPTH as usize);
    let text = format!(r#"[1,2,{{}},[{{"name":"top"}}{levels}{ends}]]"#);
    fs::write(place.at("deep.json"), text).unwrap();
    weigh("-q --from deep.json --save deep.weigh").within(place.path()).run().clean();
    let shown = bounded("diff -n 1 --since deep.weigh top").within(place.path()).run();
    assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0));
}

/// A file exactly at the bound is loaded, and saved again.
#[test]
fn a_snapshot_as_deep_as_it_may_be_is_loaded() {
    let place = Fixture::new();
    let file = place.at("deep.zst");
    let pieces = [
        (r#"[1,2,{},"#, 1),
        (r#"[{"name":"d","dsize":0},"#, DEEPEST),
        (r#"[{"name":"d","dsize":5}]"#, 1),
        ("]", DEEPEST + 1),
    ];
    pack(&file, &pieces);
    weigh("-q --from deep.zst --save deep.weigh").within(place.path()).run().clean();
    for name in ["deep.zst", "deep.weigh"] {
        let shown = confined("-b -n 1 -o b --from").arg(place.at(name)).run();
        assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0));
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
    check_refused(&confined("--from").arg(&file).run(), "memory", "a wide window");
}

/// Eight gigabytes of nothing, in what a weighed tree may have for git.
const HUGE: u64 = 8 << 30;

/// A work tree: of a repository, git wants no more than this.
fn work_tree() -> Fixture {
    let fixture = Fixture::new().file("top/f.o", 5000).file("top/kept", 100);
    let fixture = fixture.dir("top/.git/objects").dir("top/.git/refs");
    fs::write(fixture.at("top/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fixture
}

#[test]
fn a_sparse_list_of_rules_is_refused_or_costs_nothing() {
    // As for git, 100 MiB is the most.
    for (length, code) in [(HUGE, 1), ((100 << 20) + 1, 1), (100 << 20, 0)] {
        for name in [".gitignore", ".ignore", ".git/info/exclude"] {
            let fixture = work_tree().sparse(format!("top/{name}"), length);
            let shown = confined("--gitignore -j -f -d 0").arg(fixture.at("top")).run();
            assert_eq!(shown.code(), code, "{name} {length}: {}", shown.complaint());
            let complaint = shown.complaint();
            let is_named = complaint.contains(name) && complaint.contains("larger than 100 MiB");
            assert_eq!(is_named, code == 1, "{complaint}");
        }
    }
}

/// Where there are many of them, one in the other, none of what they lack is kept.
#[test]
fn sparse_lists_of_rules_cost_nothing_together() {
    let mut fixture = work_tree();
    let mut path = "top".to_owned();
    for _ in 0..12 {
        path += "/d";
        fixture = fixture.sparse(format!("{path}/.gitignore"), 90 << 20);
    }
    weigh("--gitignore -j -f").arg(fixture.at("top")).run().clean();
    let shown = confined("--gitignore -j -f -d 0 -T 2").arg(fixture.at("top")).run();
    assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0));
}

#[test]
fn a_sparse_index_is_refused_early() {
    let header = |count: u32| [b"DIRC\0\0\0\x02".as_slice(), &count.to_be_bytes()].concat();
    for (start, what) in [
        (vec![], "nothing"),
        (header(u32::MAX), "a header"),
        (header(1 << 27), "a header with a count that fits"),
    ] {
        let fixture = work_tree().file("top/.gitignore", 1);
        fs::write(fixture.at("top/.gitignore"), "*.o\n").unwrap();
        fs::write(fixture.at("top/.git/index"), start).unwrap();
        let fixture = fixture.extended("top/.git/index", HUGE);
        let shown = confined("--gitignore -j -f -d 0").arg(fixture.at("top")).run();
        assert_eq!(shown.code(), 1, "{what}: {}", shown.complaint());
        assert!(shown.complaint().contains("it is damaged"), "{what}: {}", shown.complaint());
    }
}

/// In version 4 a name begins as the last one does: a few bytes an entry make long names of it.
#[test]
fn an_index_of_long_names_is_refused() {
    const LONG: usize = 400_000;
    const COUNT: u32 = 10_000;
    let mut index = [b"DIRC\0\0\0\x04".as_slice(), &COUNT.to_be_bytes()].concat();
    for i in 0..COUNT {
        index.extend([[0; 24].as_slice(), &0o100_644_u32.to_be_bytes(), &[0; 32]].concat());
        index.extend([0x0f, 0xff]);
        index.extend([0]);
        index.extend(if i == 0 { vec![b'x'; LONG] } else { vec![b'y'] });
        index.push(0);
    }
    index.extend([0; 20]);
    let fixture = work_tree();
    fs::write(fixture.at("top/.gitignore"), "*.o\n").unwrap();
    fs::write(fixture.at("top/.git/index"), index).unwrap();
    let shown = confined("--gitignore -j -f -d 0").arg(fixture.at("top")).run();
    assert_eq!(shown.code(), 1, "{}", shown.complaint());
    assert!(shown.complaint().contains("it is damaged"), "{}", shown.complaint());
}

/// Git takes no `.git` file of more than a mebibyte.
#[test]
fn a_sparse_file_that_should_name_a_repository_names_none() {
    let fixture = Fixture::new().file("top/f.o", 5000).sparse("top/.git", HUGE);
    let shown = confined("--gitignore -j -f -d 0").arg(fixture.at("top")).run();
    assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0));
}

/// Every flag that names a file to read refuses a file without an end.
#[test]
fn what_has_no_end_is_refused() {
    for (flags, why) in [
        ("--config /dev/zero", "larger than 100 MiB"),
        ("--exclude-from /dev/zero", "larger than 100 MiB"),
        ("-I /dev/zero", "larger than 100 MiB"),
        ("--files-from /dev/zero", "a path of more than 16 MiB"),
        ("--files0-from /dev/zero", "more than 1 GiB of paths"),
        ("--from /dev/zero", "it is neither a snapshot, nor"),
    ] {
        let shown = confined(flags).run();
        assert!(matches!(shown.code(), 1 | 2), "{flags}: {}", shown.complaint());
        assert!(shown.complaint().contains(why), "{flags}: {}", shown.complaint());
    }
    let endless = File::open("/dev/zero").unwrap();
    let shown = confined("--files-from -").stdin(endless).run();
    assert_eq!(shown.code(), 2);
    assert!(shown.complaint().contains("a path of more than 16 MiB"), "{}", shown.complaint());
}

/// A snapshot with a few members of the header and a root, each in a line.
fn write_snapshot(fixture: &Fixture, name: &str, members: &[String]) {
    saved::write(fixture.at(name), &format!("{HEAD},{}}}", members.join(",")));
}

/// `weigh` with a minute of the processor for what takes a second.
fn hurried(fixture: &Fixture, flags: &str) -> Shown {
    weigh(flags).within(fixture.path()).limited("-t 60").run()
}

fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",")
}

const ORIGIN: &str = r#""time":1,"host":"h","details":false"#;

fn directory(name: &str, children: &str) -> String {
    let own = r#""kind":"directory","size":9,"own":0"#;
    format!(r#""name":"{name}",{own},"children":[{children}]"#)
}

fn file(name: &str) -> String {
    format!(r#"{{"name":"{name}","kind":"file","size":5}}"#)
}

/// For a screen reader, a line may have any width. Once, this panicked.
#[test]
fn a_name_of_any_length_is_read_out() {
    let fixture = Fixture::new();
    let file = fixture.at("scan.weigh");
    let child = |name: &str| format!(r#"{{"name":"{name}","kind":"file","size":5}}"#);
    let children = [child(&"x".repeat(70_000)), child("b")].join(",");
    let root = r#""name":"r","kind":"directory","size":10"#;
    let scan = format!(
        r#"{{"schema":1,"measure":"disk","complete":true,{root},"children":[{children}]}}"#
    );
    saved::write(&file, &scan);
    let text = weigh("-c -R --from").arg(&file).run().text();
    assert!(text.lines().any(|line| line.len() > 70_000));
}

/// A name with many characters of no width is measured once, not once for each of them.
#[test]
fn a_long_name_is_cut_at_once() {
    let fixture = Fixture::new();
    let name = "\u{301}".repeat(1 << 20) + &"a".repeat(200);
    // No .weigh file has such a name.
    let export = format!(r#"[1,2,{{}},[{{"name":"r"}},{{"name":"{name}","dsize":5}}]]"#);
    fs::write(fixture.at("snapshot"), export).unwrap();
    for flags in ["-w 80", "-w 80 -F -p", "-w 80 -R"] {
        let shown = hurried(&fixture, &format!("{flags} --from snapshot"));
        let text = String::from_utf8_lossy(&shown.stdout);
        assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0), "{flags}");
        assert!(text.contains("…aa") && !text.contains(&"a".repeat(80)), "{flags}");
    }
}

/// Comparing a million flags in each of two snapshots takes linear time.
#[test]
fn many_options_are_compared_at_once() {
    const MANY: usize = 300_000;
    let fixture = Fixture::new();
    let snapshot = |name: &str, flag: &dyn Fn(usize) -> String| {
        let options = joined((0..MANY).map(|i| format!("\"{}\"", flag(i))));
        let options = format!(r#""options":[{options}]"#);
        write_snapshot(&fixture, name, &[ORIGIN.to_owned(), options, directory("r", &file("f"))]);
    };
    snapshot("names", &|i| format!("--{i}"));
    snapshot("globs", &|i| format!("--exclude={i}"));
    snapshot("others", &|i| format!("--exclude=x{i}"));
    for (flags, code) in [
        ("diff --from names --since names", 0),
        ("diff --from globs --since globs", 0),
        ("diff --from globs --since others", 2),
        ("diff --from globs --since names", 2),
    ] {
        assert_eq!(hurried(&fixture, flags).code(), code, "{flags}");
    }
}

/// Roots and errors are many, or their paths are far longer than any that can be opened.
#[test]
fn roots_and_errors_are_found_at_once() {
    const MANY: usize = 60_000;
    let fixture = Fixture::new();
    let root = |path: &str| format!(r#"{{"path":"/{path}","name":"{path}"}}"#);
    let error = |path: &str| {
        format!(r#"{{"path":"{path}","operation":"open","error":"EACCES","message":"denied"}}"#)
    };
    let snapshot = |name: &str, roots: String, tree: &str, errors: String| {
        let lists = [format!(r#""roots":[{roots}]"#), format!(r#""errors":[{errors}]"#)];
        let members = [ORIGIN.to_owned(), lists.join(","), tree.to_owned()];
        write_snapshot(&fixture, name, &members);
    };
    let many = || (0..MANY).map(|i| format!("r/{i}"));
    let opened = || joined(many().map(|path| format!("{{{}}}", directory(&path, &file("f")))));
    let total =
        |nodes: &str| format!(r#""name":"(total)","kind":"total","size":9,"children":[{nodes}]"#);
    let errors = || joined(many().map(|path| error(&(path + "/g"))));
    snapshot("many", joined(many().map(|path| root(&path))), &total(&opened()), errors());
    let inner = joined((0..MANY).map(|i| format!("{{{}}}", directory(&i.to_string(), &file("f")))));
    let roots = joined(many().chain(["r".to_owned()]).map(|path| root(&path)));
    snapshot("inner", roots, &directory("r", &inner), errors());
    let long = "/a".repeat(300_000);
    let roots = joined([root("r"), root(&long)].into_iter());
    snapshot("long", roots, &directory("r", &file("f")), error(&format!("r{long}")));

    for (name, codes) in [("many", [1, 0]), ("inner", [1, 0]), ("long", [1, 1])] {
        for (filter, code) in ["-X f", "-X g"].into_iter().zip(codes) {
            let shown = hurried(&fixture, &format!("{filter} --from {name}"));
            assert_eq!(shown.code(), code, "{name} {filter}: {}", shown.complaint().len());
        }
    }
    // What is marked in a picture, and compared.
    let slashes = "/".repeat(100_000);
    let in_slashes = joined((0..100).map(|i| error(&format!("{slashes}{i}"))));
    snapshot("slashes", root(&slashes), &directory(&slashes, &file("f")), in_slashes);
    for flags in [
        "-n 100000 --from many",
        "--from long",
        "--from slashes",
        "diff --from many --since many",
        "diff --from long --since long",
        "diff --from slashes --since slashes",
    ] {
        let shown = hurried(&fixture, flags);
        assert_eq!(shown.code(), 1, "{flags}: {}", shown.complaint().len());
        assert!(String::from_utf8_lossy(&shown.stdout).contains('≥'), "{flags}");
    }
}

/// Of roots that are nested, or have no names, each was once looked for from each other one.
#[test]
fn roots_are_found_from_outer_ones_at_once() {
    const DEPTH: usize = 2_000;
    const MANY: usize = 50_000;
    let fixture = Fixture::new();
    let paths = (0..DEPTH).map(|depth| format!("/r{}", "/a".repeat(depth)));
    let roots = joined(paths.map(|path| format!(r#"{{"path":"{path}","name":"{path}"}}"#)));
    let levels = r#",[{"name":"a"}"#.repeat(DEPTH) + &"]".repeat(DEPTH);
    let export = format!(r#"[1,2,{{}},[{{"name":"/r"}}{levels}]]"#);
    fs::write(fixture.at("export"), export).unwrap();
    weigh("-q --from export --save nested").within(fixture.path()).run().clean();
    let roots: serde_json::Value = serde_json::from_str(&format!("[{roots}]")).unwrap();
    saved::change(&fixture.at("nested"), |header| header["roots"] = roots);
    let head = |roots: &str| [ORIGIN.to_owned(), format!(r#""roots":[{roots}],"errors":[]"#)];
    let unnamed = joined((0..MANY).map(|i| format!(r#"{{"path":"/x/r{i}"}}"#)));
    let nodes = (0..MANY).map(|i| format!("{{{}}}", directory(&format!("r{i}"), &file("f"))));
    let total = format!(r#""name":"","kind":"total","size":9,"children":[{}]"#, joined(nodes));
    let [origin, given] = head(&unnamed);
    write_snapshot(&fixture, "unnamed", &[origin, given, total]);
    for flags in ["-X a --from nested", "-X f --from unnamed"] {
        let shown = hurried(&fixture, flags);
        assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0), "{flags}");
    }
}

/// Several snapshots with many mounts and devices, or with mounts and roots at long paths.
#[test]
fn snapshots_are_joined_at_once() {
    const MANY: usize = 100_000;
    let fixture = Fixture::in_memory();
    let snapshot = |name: &str, header: &str, children: &str| {
        let origin = format!(r#""time":1,{header},"details":false,"options":[],"errors":[]"#);
        write_snapshot(&fixture, name, &[origin, directory("r", children)]);
    };
    let header = |host: &str, path: &str| {
        format!(r#""host":"{host}","roots":[{{"path":"{path}","name":"r"}}]"#)
    };
    let load = |what: &str| {
        let shown =
            bounded(&format!("-n 3 --from {what}1 --from {what}2")).within(fixture.path()).run();
        assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0), "{what}");
    };
    let long = "/a".repeat(300_000);
    snapshot("long1", &header("h", &long), &file("f"));
    snapshot("long2", &header("h", &(long + "/b")), &file("f"));
    load("long");

    let node = |number: usize, mount: usize, device: usize| {
        let at = format!(r#""inode":5,"links":2,"mount":{mount},"device":{device}"#);
        format!(r#"{{"name":"{number}","kind":"file","size":5,{at}}}"#)
    };
    let mounts = joined((0..MANY).map(|i| node(i, i, 3)));
    for (one, other) in [("h", "h"), ("h", "i")] {
        snapshot("mounts1", &header(one, "/r"), &mounts);
        snapshot("mounts2", &header(other, "/s"), &mounts);
        load("mounts");
    }

    let share = |number: usize| {
        let share = format!(r#""share":{{"number":{number},"of":2,"depth":1}}"#);
        format!("{},{share}", header("h", "/r"))
    };
    let at = |i: usize| format!(r#""inode":2,"mount":1,"device":{i},"name":"d{i}""#);
    let empty = r#""kind":"directory","size":0,"own":0,"children":["#;
    let points = (0..MANY).map(|i| format!("{{{},{empty}]}}", at(i)));
    let leaves = (0..MANY).map(|i| node(i, 1, MANY + i));
    let wide = joined(points.chain(leaves));
    snapshot("wide1", &share(1), &wide);
    snapshot("wide2", &share(2), &wide);
    load("wide");
}

/// The root of an export is a path, and any slash of it may be the end of a name.
#[test]
fn a_name_of_slashes_is_found_at_once() {
    let fixture = Fixture::new();
    let slashes = "/".repeat(2 << 20);
    for (name, size) in [("before", 5), ("now", 7)] {
        let root = format!(r#"{{"name":"{slashes}","dsize":1}}"#);
        let export = format!(r#"[1,2,{{}},[{root},{{"name":"f","dsize":{size}}}]]"#);
        fs::write(fixture.at(name), export).unwrap();
    }
    let shown = hurried(&fixture, "diff --from now --since before --as csv");
    assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0));
    assert!(shown.stdout.ends_with(b"/f\",file,5,7,2,1,\n"));
}

/// A snapshot may claim that there is less in a directory than there is, and then little is thought of it.
#[test]
fn paths_of_a_deep_snapshot_take_no_memory() {
    const DEPTH: usize = 20_000;
    let text = r#",[{"name":"d"}"#.repeat(DEPTH) + &"]".repeat(DEPTH) + "]";
    let text = format!("[1,2,{{}}{text}");
    let fixture = Fixture::new();
    fs::write(fixture.at("snapshot"), text).unwrap();
    let shown = confined("-j -p --from").arg(fixture.at("snapshot")).run();
    assert_eq!((shown.code(), shown.complaint().as_str()), (0, ""));
    assert!(shown.stdout.len() > DEPTH * DEPTH);
}
