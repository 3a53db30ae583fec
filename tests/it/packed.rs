//! The `.weigh` format: what is saved in it and loaded again is the walk, and whatever is
//! wrong in a file is found.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
use crate::fuzz::throw;
use crate::rounds::{for_seeds, rounds};
use crate::run::{values_of, weigh};
use crate::saved::{self, FORMAT, LARGEST, MAGIC, Parts, push, sealed, sections};
use crate::snapshots::same;

/// Trees that are saved and loaded, and files that are damaged.
const TREES: (usize, usize) = (12, 1_000);
const FILES: (usize, usize) = (400, 100_000);

/// Every form of output, and what decides what is in it.
const FORMS: &[&str] = &[
    "",
    "-p -C @theme=light",
    "-j",
    "-j -p",
    "-j -n 4",
    "-n 3 -r --skip-total",
    "-d 1 -B",
    "-z 2000 -b",
    "-D",
    "-D -j -d 2",
    "-F",
    "-F -n 3 -j",
    "-R -w 60",
    "-o si --dim -C",
    "--collapse a1",
    "-i -X b2",
    "-e [1-4] -j",
    "-M -7 -j",
    "-s",
    "-f -j",
    "--inodes",
    "-m m -j",
    "-m m --time-style full-iso",
    "--sort size",
    "--sort name",
    "--sort count",
    "--sort time",
    "-t",
    "-t -j",
    "--by type",
    "--by age -j",
    "--by size",
    "--by owner -j",
    "--as json",
    "--as csv",
    "--as csv -F -n 3",
    "--as ndjson",
    "--as md",
    "--as ncdu",
    "--as folded",
    "--as prometheus",
    "--as svg",
    "--as html",
    #[cfg(feature = "parquet")]
    "--as parquet",
    "--summarize",
    "--print-errors",
    "-q",
];

/// The flags take no value that is not among the forms, but for one that reads other files than a snapshot.
#[test]
fn every_form_of_output_is_among_the_forms() {
    for flag in ["--as", "--by", "--sort"] {
        for value in values_of(flag).into_iter().filter(|value| value != "image") {
            let form = format!("{flag} {value}");
            assert!(FORMS.iter().any(|it| it.starts_with(&form)), "{form}");
        }
    }
}

/// A random tree with everything in it, also what only root can read, and roots of it.
fn random(seed: u64) -> (Fixture, &'static [&'static str]) {
    let fixture = Dice::new(seed).tree(Fixture::in_memory(), Names::Hostile);
    let fixture = fixture.sparse("tree/sparse", 1 << 40).file("tree/shut/f", 5_000);
    let fixture = match seed % 3 {
        0 => fixture.unreadable(raw(b"tree/closed \xff")).mode("tree/shut", 0o311),
        _ => fixture,
    };
    let roots =
        [&["tree"][..], &["tree", "elsewhere"], &["elsewhere", "tree", "."], &["none", "tree"]];
    (fixture, roots[seed as usize % roots.len()])
}

#[test]
fn a_random_tree_comes_back_in_every_form_of_output() {
    let program = Fixture::new();
    // Made before several threads want it.
    weigh("--version").by_nobody(&program).run().clean();
    for_seeds(rounds(TREES.0, TREES.1), |seed| {
        let ((fixture, roots), place) = (random(seed), Fixture::in_memory().mode("", 0o777));
        let [file, dated] = ["snapshot.weigh", "dated.weigh"].map(|name| place.at(name));
        let flags = ["--details", "", "-l --details", "-L --details"][seed as usize / 2 % 4];
        let run = |flags: &str| weigh(flags).within(fixture.path()).by_nobody(&program);
        let saved = run(flags).arg("--save").arg(&file).args(roots).run();
        assert!(fs::read(&file).unwrap().starts_with(MAGIC), "{}", saved.complaint());
        let counting = flags.trim_end_matches("--details");
        let is_without = |form: &&&str| {
            let is_filtered =
                ["-X", "-e ", "-M", "--collapse"].iter().any(|filter| form.contains(filter));
            form.contains("owner") && flags.is_empty() || is_filtered && flags.contains("-L")
        };
        // Owners are among the details, and a snapshot of followed links cannot be filtered.
        for form in FORMS.iter().filter(|form| !is_without(form)) {
            let (mut direct, mut from) = (run(&format!("{counting} {form}")).args(roots), &file);
            // These say when they were made, so a walk that is saved has to make them.
            if ["html", "svg", "parquet"].iter().any(|dated| form.contains(dated)) {
                (direct, from) = (direct.arg("--save").arg(&dated), &dated);
            }
            let direct = direct.run();
            let loaded = run(&format!("{form} --from")).arg(from).run();
            let what = format!("seed {seed}, weigh {flags} {form} {roots:?}");
            assert!(matches!(direct.code(), 0 | 1), "{what}: {}", direct.complaint());
            same(&loaded, &direct, &what);
        }
    });
}

/// Loads `from` and saves it again: what is saved of that is the same.
fn check_same(place: &Fixture, from: &str, what: &str) {
    let save = |from: &str, to: &str| {
        let shown = weigh(&format!("--from {from} --save {to}")).within(place.path()).run();
        assert!(place.at(to).exists(), "{what}, to {to}: {}", shown.complaint());
    };
    // What is loaded and saved again may have lost what only the walk knew.
    save(from, "1.weigh");
    save("1.weigh", "2.weigh");
    assert!(place.bytes("1.weigh") == place.bytes("2.weigh"), "{what}: it differs");
}

#[test]
fn random_trees_are_saved_again_as_they_were() {
    for_seeds(rounds(TREES.0, TREES.1), |seed| {
        let ((fixture, roots), place) = (random(seed), Fixture::in_memory());
        let flags = ["", "--details", "-l", "-L", "--frees", "-s", "-f", "--shard 1/2"];
        let flags = flags[seed as usize % flags.len()];
        let roots = if flags.starts_with("--shard") { &["tree"][..] } else { roots };
        let run = weigh(&format!("{flags} --save")).arg(place.at("walked.weigh")).args(roots);
        let shown = run.within(fixture.path()).run();
        assert!(place.at("walked.weigh").exists(), "seed {seed}, {flags}: {}", shown.complaint());
        check_same(&place, "walked.weigh", &format!("seed {seed}, {flags}"));
    });
}

#[test]
fn nothing_is_lost_of_what_is_no_usual_tree() {
    let fixture = Fixture::new()
        .file("top/big", 70_000)
        .file(raw(b"top/\xff not utf-8"), 5_000)
        .dir("top/empty")
        .hard_link("top/big", "other/link")
        .unreadable("top/closed");
    let fixture = fixture.mode("", 0o777);
    for roots in [
        &["top"][..],
        &["top/big"],
        &["top", "other"],
        &["top/big", "other/link"],
        &["none"],
        &["none", "none either"],
        &["top/empty"],
        &["."],
    ] {
        for flags in ["", "--details", "-x", "-X big"] {
            let to = "walked.weigh";
            let what = format!("{flags} {roots:?} {to}");
            let _ = fs::remove_file(fixture.at(to));
            let run = weigh(flags).within(fixture.path()).by_nobody(&fixture);
            let shown = run.args(roots).args(["--save", to]).run();
            assert!(fixture.at(to).exists(), "{what}: {}", shown.complaint());
            check_same(&fixture, to, &what);
        }
    }
    // What other programs wrote.
    let ncdu = weigh("--as ncdu top").within(fixture.path()).run().stdout;
    fs::write(fixture.at("ncdu.json"), ncdu).unwrap();
    // The modes say the opposite of the brackets.
    let forged = r#"[1,0,{},[{"name":"top","mode":16877},{"name":"f","asize":5,"mode":16877},[{"name":"d","mode":33188}]]]"#;
    fs::write(fixture.at("forged.json"), forged).unwrap();
    for from in ["ncdu.json", "forged.json"] {
        check_same(&fixture, from, from);
    }
}

/// A tree that takes several blocks, and a directory that does.
fn large() -> Fixture {
    let mut fixture = Fixture::in_memory();
    for i in 0..6_000 {
        let name = format!("{:0>9}{:x<200}", i * 7_919 % 1_000_003, "");
        let directory =
            if i % 3 == 0 { "wide".to_owned() } else { format!("{}/{}", i % 7, i % 61) };
        fixture = fixture.sparse(format!("top/{directory}/{name}"), i);
    }
    for i in 0..3_000 {
        fixture = fixture.dir(format!("top/many/{:0>9}{:x<200}", i * 7_919 % 1_000_003, ""));
    }
    fixture
}

/// The same tree makes the same blocks on any number of threads, each of a size that suits.
#[test]
fn blocks_depend_on_the_tree_alone() {
    let fixture = large();
    let mut first = None;
    for threads in [1, 2, 3, 8, 64] {
        for _ in 0..rounds(2, 20) {
            let run = weigh(&format!("top -n 1 -T {threads} --save x.weigh"));
            run.within(fixture.path()).run().clean();
            let mut sections = sections(&fixture.bytes("x.weigh"));
            let header = sections.remove(0);
            assert_eq!(header.0, b'H');
            assert!(String::from_utf8(header.1).unwrap().contains(r#""format":1,"directories":3"#));
            let blocks = sections.iter().filter(|(kind, _)| *kind == b'D').count();
            assert!(blocks > 4, "{blocks}");
            assert!(sections.iter().all(|(_, content)| content.len() < 520 << 10));
            assert!(*first.get_or_insert(sections.clone()) == sections, "{threads} threads");
        }
    }
    let direct = weigh("-j top").within(fixture.path()).run();
    same(&weigh("-j --from x.weigh").within(fixture.path()).run(), &direct, "loaded");
}

/// What compresses well enough to be taken for a bomb is saved so that it is not.
#[test]
fn what_is_saved_is_never_taken_for_a_bomb() {
    let place = Fixture::new();
    let mut text = String::from(
        r#"{"schema":1,"tool":"weigh","measure":"disk","complete":true,"time":1,"details":false,
           "figures":["disk","apparent","files","inodes"],"name":"r","kind":"directory","size":1,"children":["#,
    );
    let name = "x".repeat(250);
    for i in 0..rounds(60, 3_000) {
        text += &format!(
            r#"{}{{"name":"{i}","kind":"directory","size":0,"children":["#,
            if i == 0 { "" } else { "," }
        );
        text += &vec![format!(r#"{{"name":"{name}","kind":"file","size":0}}"#); 100].join(",");
        text += "]}";
    }
    text += r#"],"errors":[]}"#;
    saved::write(place.at("b.weigh"), &text);
    weigh("-j -n 9 --from b.weigh").within(place.path()).run().clean();
    let file = place.bytes("b.weigh");
    let unpacked: usize = sections(&file).iter().map(|(_, content)| content.len()).sum();
    assert!(unpacked < file.len() * 1_032, "{unpacked} {}", file.len());
}

/// What is done to the sections of a file.
#[derive(Clone, Debug)]
enum Forgery {
    /// A byte of one is set, removed or doubled.
    Byte(Index, Index, u8, u8),
    /// A number in one is another.
    Number(Index, Index, u64),
    /// It comes twice, or not at all, or in another place, or it is cut.
    Twice(Index),
    Never(Index),
    Moved(Index, Index),
    Cut(Index, Index),
    /// One of another file comes there.
    Spliced(Index, Index),
    /// It is of another kind.
    Kind(Index, u8),
}

fn forgery() -> impl Strategy<Value = Forgery> {
    let index = any::<Index>;
    let edge = prop_oneof![0..9_u64, Just(u64::MAX), Just(1 << 63), Just(1 << 32), any::<u64>()];
    prop_oneof![
        8 => (index(), index(), 0..3_u8, any::<u8>()).prop_map(|(a, b, c, d)| Forgery::Byte(a, b, c, d)),
        8 => (index(), index(), edge).prop_map(|(a, b, c)| Forgery::Number(a, b, c)),
        1 => index().prop_map(Forgery::Twice),
        1 => index().prop_map(Forgery::Never),
        1 => (index(), index()).prop_map(|(a, b)| Forgery::Moved(a, b)),
        1 => (index(), index()).prop_map(|(a, b)| Forgery::Cut(a, b)),
        2 => (index(), index()).prop_map(|(a, b)| Forgery::Spliced(a, b)),
        1 => (index(), prop::sample::select(b"HDCIEX")).prop_map(|(a, b)| Forgery::Kind(a, b)),
    ]
}

impl Forgery {
    fn apply(&self, sections: &mut Parts, others: &[(u8, Vec<u8>)]) {
        if sections.is_empty() {
            return;
        }
        let count = sections.len();
        match self {
            Self::Byte(section, at, kind, byte) => {
                let content = &mut sections[section.index(count)].1;
                let Some(at) = (!content.is_empty()).then(|| at.index(content.len())) else {
                    return;
                };
                match kind {
                    0 => content[at] = *byte,
                    1 => drop(content.remove(at)),
                    _ => content.insert(at, *byte),
                }
            }
            Self::Number(section, at, number) => {
                let content = &mut sections[section.index(count)].1;
                let Some(at) = (!content.is_empty()).then(|| at.index(content.len())) else {
                    return;
                };
                let mut packed = Vec::new();
                push(&mut packed, *number);
                content.splice(at..=at, packed);
            }
            Self::Twice(section) => {
                let at = section.index(count);
                sections.insert(at, sections[at].clone());
            }
            Self::Never(section) => drop(sections.remove(section.index(count))),
            Self::Moved(from, to) => {
                let section = sections.remove(from.index(count));
                sections.insert(to.index(count), section);
            }
            Self::Cut(section, at) => {
                let content = &mut sections[section.index(count)].1;
                content.truncate(at.index(content.len() + 1));
            }
            Self::Spliced(section, other) => {
                sections.insert(section.index(count), other.get(others).clone());
            }
            Self::Kind(section, kind) => sections[section.index(count)].0 = *kind,
        }
        sections.iter_mut().for_each(|(_, content)| content.truncate(LARGEST));
    }
}

/// Small trees with everything in them, and one that takes several blocks.
fn files(place: &Fixture) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    let large = large();
    weigh("top -n 1 --save").arg(place.at("x.weigh")).within(large.path()).run().clean();
    files.push(place.bytes("x.weigh"));
    for (seed, flags) in ["", "--details", "--frees", "-L", "-l", ""].into_iter().enumerate() {
        let fixture = Dice::new(seed as u64).tree(Fixture::in_memory(), Names::Hostile);
        let run = weigh(&format!("{flags} -n 1 tree elsewhere --save"));
        run.arg(place.at("x.weigh")).within(fixture.path()).run().clean();
        files.push(place.bytes("x.weigh"));
    }
    files
}

/// A flipped bit, a cut, or a piece of another file is found by a checksum, or by what is around it. A few bits of a
/// compressed block mean nothing.
#[test]
fn a_damaged_file_is_refused_or_read_rightly() {
    let place = Fixture::in_memory();
    let files = files(&place);
    let (one, two) = (place.at("one"), place.at("two"));
    let damage = vec((any::<Index>(), 0..6_u8, any::<u8>()), 1..4);
    let file = (any::<Index>(), any::<bool>());
    throw(FILES, (file, damage), |((file, is_small), damage)| {
        let original = file.get(&files[usize::from(is_small)..]);
        let mut bytes = original.clone();
        for (at, kind, byte) in damage {
            let at = at.index(bytes.len().max(1));
            match kind {
                0 | 1 if at < bytes.len() => bytes[at] ^= 1 << (byte % 8),
                2 => bytes.truncate(at),
                3 => bytes.extend_from_within(at..),
                4 => bytes.insert(at, byte),
                _ => drop(bytes.drain(at..bytes.len().min(at + usize::from(byte)))),
            }
        }
        fs::write(&one, &bytes).unwrap();
        if let Ok(taken) = saved::read_every_way(&one, &two) {
            fs::write(&one, original).unwrap();
            assert!(saved::read_every_way(&one, &two) == Ok(taken), "it was read wrongly");
        }
    });
}

/// The same with sections that are whole, as somebody may forge them.
#[test]
fn a_forged_file_is_refused_or_can_be_shown() {
    let place = Fixture::in_memory();
    let files: Vec<_> = files(&place).iter().map(|file| sections(file)).collect();
    let (one, two) = (place.at("one"), place.at("two"));
    let file = (any::<Index>(), any::<Index>(), any::<bool>());
    let taken = std::cell::Cell::new(0);
    throw(
        FILES,
        (file, vec(forgery(), 1..4), any::<bool>()),
        |((file, other, is_small), forgeries, is_indexed)| {
            let mut sections = file.get(&files[usize::from(is_small)..]).to_vec();
            forgeries
                .iter()
                .for_each(|it| it.apply(&mut sections, &files[other.index(files.len())]));
            fs::write(&one, sealed(&sections, is_indexed)).unwrap();
            taken.set(taken.get() + usize::from(saved::read_every_way(&one, &two).is_ok()));
        },
    );
    assert!(taken.get() > 0, "each was refused: nothing but checksums was tried");
}

/// Each thing that is checked, and what is said of it.
#[test]
fn what_is_wrong_is_said_with_the_file_and_the_block() {
    let fixture = large();
    weigh("top -n 1 --save x.weigh").within(fixture.path()).run().clean();
    let good = fixture.bytes("x.weigh");
    let parts = sections(&good);
    let header = String::from_utf8(parts[0].1.clone()).unwrap();
    let with_header = |was: &str, is: &str| {
        assert!(header.contains(was), "{header}");
        let mut parts = parts.clone();
        parts[0].1 = header.replacen(was, is, 1).into_bytes();
        sealed(&parts, true)
    };
    let with = |change: &dyn Fn(&mut Parts)| {
        let mut parts = parts.clone();
        change(&mut parts);
        sealed(&parts, true)
    };
    let edited = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut file = good.clone();
        change(&mut file);
        file
    };
    let block = |number: usize| {
        let mut at = MAGIC.len();
        for _ in 0..=number {
            at += 5 + u32::from_le_bytes(good[at + 1..at + 5].try_into().unwrap()) as usize;
        }
        at
    };
    let end = good.len() - 9;
    assert_eq!(sealed(&parts, true), good);
    let future = format!("it has format 7, and this weigh reads format {FORMAT}");
    let directories = r#""directories":"#;
    fs::rename(fixture.at("top"), fixture.at("elsewhere")).unwrap();
    fs::create_dir(fixture.at("top")).unwrap();
    // What is said from front to back, and what by the index, if that differs.
    let cases: Vec<(Vec<u8>, &str, &str)> = vec![
        (with_header(r#""format":1"#, r#""format":7"#), &future, ""),
        (with_header(r#","format":1"#, ""), "a header without schema, format", ""),
        (
            with_header(r#""schema":1"#, r#""schema":2"#),
            "it has schema 2, and this weigh reads schema 1",
            "",
        ),
        (
            with_header(directories, r#""directories":1"#),
            "another number of directories",
            "fewer digests than directories",
        ),
        (with_header(directories, r#""x":"#), "a header without schema, format", ""),
        (edited(&|file| file[block(2) + 1000] ^= 1), "block 2 is damaged: ", ""),
        (edited(&|file| file[block(3) - 1] ^= 1), "block 2 is damaged: its checksum differs", ""),
        (edited(&|file| file[block(1) + 4] = 1), "a section is longer than any can be", ""),
        (edited(&|file| file[block(1)] = b'X'), "a section of no known kind", ""),
        (
            edited(&|file| file[block(1)] = b'I'),
            "it ends before its tree does",
            "block 1 is not what the index says",
        ),
        (
            edited(&|file| file[block(1)] = b'H'),
            "it ends before its tree does",
            "block 1 is not what the index says",
        ),
        (
            with(&|parts| parts.push((b'D', Vec::new()))),
            "a section that is not in its place",
            "the index does not end where the file does",
        ),
        (
            edited(&|file| file[end + 1] ^= 1),
            "its end does not say where the index is",
            "a section of no known kind",
        ),
        (
            // A 0 would make an end of the last nine bytes where the index begins at a place with an E.
            edited(&|file| file.push(1)),
            "something after the end",
            "its end does not say where the index is",
        ),
        (
            edited(&|file| file.truncate(end)),
            "it ends too early",
            "its end does not say where the index is",
        ),
        (
            edited(&|file| file.truncate(block(2))),
            "it ends too early",
            "its end does not say where the index is",
        ),
        (
            edited(&|file| file.truncate(block(2) + 100)),
            "it ends too early",
            "its end does not say where the index is",
        ),
        (
            with(&|parts| drop(parts.remove(2))),
            "block 1 is wrong: it does not go on where",
            "block 1 does not go on where",
        ),
        (
            with(&|parts| parts.swap(2, 3)),
            "block 1 is wrong: it does not go on where",
            "block 1 does not go on where",
        ),
        (with(&|parts| parts.truncate(2)), "it ends before its tree does", "the index is wrong"),
        (with(&|parts| parts.truncate(1)), "it has no tree", ""),
        (with(&|parts| drop(parts.pop())), "the index is wrong", ""),
        (
            with(&|parts| {
                let last = parts.iter().rposition(|(kind, _)| *kind == b'D').unwrap();
                parts[last].1.extend([1, 0]);
            }),
            "is wrong: a listing of no directory",
            "a listing of no directory",
        ),
    ];
    for (file, expected, by_index) in cases {
        fs::write(fixture.at("bad.weigh"), file).unwrap();
        for (flags, expected) in [
            ("-t --from bad.weigh", expected),
            ("--from bad.weigh --from x.weigh", expected),
            // All that is there has changed.
            (
                "diff top -n 1 --since bad.weigh",
                if by_index.is_empty() { expected } else { by_index },
            ),
        ] {
            let shown = weigh(flags).within(fixture.path()).run();
            let complaint = shown.complaint();
            assert!(complaint.starts_with("weigh: error: cannot load bad.weigh: "), "{complaint}");
            assert!(complaint.contains(expected), "{flags}, {expected}: {complaint}");
            assert_eq!((shown.code(), complaint.lines().count()), (2, 1), "{complaint}");
        }
    }
    // By the index, the second one is as good as the first.
    fs::write(fixture.at("bad.weigh"), with(&|parts| parts.insert(2, parts[2].clone()))).unwrap();
    for flags in ["-t --from bad.weigh", "--from bad.weigh --from x.weigh"] {
        let shown = weigh(flags).within(fixture.path()).run();
        assert!(shown.complaint().contains("block 2 is wrong: "), "{}", shown.complaint());
    }
    let [twice, once] = ["bad.weigh", "x.weigh"].map(|file| {
        let shown = weigh(&format!("diff top -n 30 --since {file}")).within(fixture.path()).run();
        (shown.code(), shown.stdout)
    });
    assert_eq!(twice, once);
    let mut index = good.clone();
    let forged: Vec<_> = sections(&index)
        .iter()
        .map(|(kind, content)| match kind {
            b'I' => (*kind, [&content[..2], &content[..]].concat()),
            _ => (*kind, content.clone()),
        })
        .collect();
    index = sealed(&forged, false);
    fs::write(fixture.at("bad.weigh"), index).unwrap();
    let shown = weigh("-t --from bad.weigh").within(fixture.path()).run();
    assert!(shown.complaint().contains("the index is wrong"), "{}", shown.complaint());
}

/// Digests save the work of reading what they say is unchanged. They may be missing, and hide no growth.
#[test]
fn a_comparison_needs_no_digests_and_trusts_them_with_no_sizes() {
    let fixture = large();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    let since = |file: &[u8]| {
        fs::write(fixture.at("since.weigh"), file).unwrap();
        run("diff top -n 30 --since since.weigh").clean()
    };
    run("top -n 1 --save x.weigh").clean();
    let unchanged = fixture.bytes("x.weigh");
    let expected = since(&unchanged);
    let mut damaged = unchanged.clone();
    let end = damaged.len() - 9;
    let last = u64::from_le_bytes(damaged[end + 1..].try_into().unwrap()) as usize;
    let digests = sections(&unchanged).iter().find(|(kind, _)| *kind == b'C').unwrap().1.len();
    damaged[last - digests - 1_000] ^= 1;
    assert!(since(&damaged) == expected, "what is unchanged was read");
    assert_eq!(run("-t --from since.weigh").code(), 2, "it is damaged");

    fs::write(fixture.at("top/3/4/new"), [b'x'; 70_000]).unwrap();
    run("top -n 1 --save y.weigh").clean();
    let grown = since(&unchanged);
    assert!(grown != expected);
    let mut parts = sections(&unchanged);
    parts.retain(|(kind, _)| *kind != b'C');
    assert!(since(&sealed(&parts, true)) == grown, "without digests");
    let mut parts = sections(&unchanged);
    let newer = sections(&fixture.bytes("y.weigh"));
    for (was, is) in parts.iter_mut().zip(newer).filter(|(was, _)| was.0 == b'C') {
        assert!(was.1.len() == is.1.len() && was.1 != is.1);
        *was = is;
    }
    assert!(since(&sealed(&parts, true)) == grown, "with those of the tree as it is now");
}

/// From a file, and through a pipe, which cannot be read twice.
#[test]
fn a_snapshot_is_read_from_standard_input() {
    let fixture = Fixture::new().file("top/f", 5_000);
    let saved = weigh("top --save -").within(fixture.path()).run().clean();
    assert!(saved.starts_with(MAGIC));
    fs::write(fixture.at("x"), &saved).unwrap();
    let piped = weigh("-j --from -").stdin(fs::File::open(fixture.at("x")).unwrap());
    let direct = weigh("-j top").within(fixture.path()).run();
    same(&piped.run(), &direct, "a file");
    let script = "cat x | \"$0\" \"$@\"";
    let run = weigh("-j --from -").within(fixture.path()).under(["/bin/sh", "-c", script]);
    same(&run.run(), &direct, "a pipe");
}

/// A block of many small listings that are alike was as large as any, and such a file could not be loaded.
#[test]
fn small_listings_that_are_alike_are_never_taken_for_a_bomb() {
    let place = Fixture::new();
    let file = format!(r#"{{"name":"{}","kind":"file","size":0}}"#, "x".repeat(250));
    let files = vec![file; 20].join(",");
    let directory =
        |i| format!(r#"{{"name":"{i}","kind":"directory","size":0,"children":[{files}]}}"#);
    let directories: Vec<_> = (0..rounds(400, 20_000)).map(directory).collect();
    let text = format!(
        r#"{{"schema":1,"tool":"weigh","measure":"disk","complete":true,"time":1,"details":false,
           "figures":["disk","apparent","files","inodes"],"name":"r","kind":"directory","size":1,
           "children":[{}],"errors":[]}}"#,
        directories.join(",")
    );
    saved::write(place.at("b.weigh"), &text);
    weigh("-j -n 9 --from b.weigh").within(place.path()).run().clean();
    let file = place.bytes("b.weigh");
    let unpacked: usize = sections(&file).iter().map(|(_, content)| content.len()).sum();
    assert!(unpacked < file.len() * 1_032, "{unpacked} {}", file.len());
}
