//! Every parser accepts or refuses any input, and none panics or hangs. proptest makes the input and finds the shortest
//! one that fails. [`rounds`] says how much it makes.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use weigh::app::cli::config;
use weigh::internal::from::snapshot::{self, Wanted, packed};
use weigh::internal::fs::git::IgnoreRules;
use weigh::internal::scan::filter::{Days, Filter, any_pattern};
use weigh::internal::show::name;
use weigh::internal::show::palette::Charset;
use weigh::internal::show::progress;
use weigh::internal::show::size::Format;
use weigh::internal::show::time::{Style, TimeFormat};
use weigh::internal::show::tree::{self, Bars};
use weigh::internal::tree::tally::{Inodes, Limits, Show, Top, Whole};
use weigh::internal::tree::{Order, Shape, Tree};

use crate::dice::HOSTILE;
use crate::fixture::Fixture;
use crate::names::{check_text, thousand};
use crate::rounds::rounds;
use crate::run::weigh;

/// Inputs for a parser.
const INPUTS: (usize, usize) = (500, 200_000);

/// Inputs for a loader or for a whole run, which take longer.
const FILES: (usize, usize) = (300, 50_000);
const RUNS: (usize, usize) = (60, 5_000);

/// Runs `check` on so many inputs.
pub fn throw<S: Strategy>(count: (usize, usize), inputs: S, check: impl Fn(S::Value)) {
    let cases = u32::try_from(rounds(count.0, count.1)).unwrap();
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = proptest::test_runner::TestRunner::new(config).run(&inputs, |input| {
        check(input);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// Mostly plausible values, with numbers at the limits, and sometimes anything.
fn text(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(pieces).prop_map(str::to_owned),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => "\\PC{0,3}",
        1 => any::<String>(),
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

#[test]
fn sizes_days_and_numbers_are_taken_or_refused() {
    const PIECES: &[&str] = &[
        "0",
        "1",
        "9",
        "18446744073709551615",
        "18446744073709551616",
        "1.5",
        ".",
        "-",
        "+",
        "e9",
        "k",
        "K",
        "kB",
        "KiB",
        "Ei",
        "E",
        "B",
        " ",
        "inf",
        "NaN",
        "_",
        "é",
        "\u{663}",
        "\n",
        "\x1b[2J",
    ];
    throw(INPUTS, text(PIECES), |days| drop(Days::parse(&days)));
    // By a whole run, the flag being its own. A NUL cannot be given.
    let flag =
        prop::sample::select(&["-z", "-n", "-d", "-w", "-T", "-M", "--by", "-o", "-m", "--config"]);
    let fixture = Fixture::in_memory().file("top/f", 10);
    throw(RUNS, (flag, text(PIECES)), |(flag, value)| {
        // A thousand threads take long, and prove nothing.
        let is_many = flag == "-T" && value.parse::<u64>().is_ok_and(|threads| threads > 64);
        if value.contains('\0') || is_many {
            return;
        }
        let shown = weigh(flag).arg(&value).arg("top").within(fixture.path()).run();
        assert!(matches!(shown.code(), 0 | 2), "{flag} {value:?}: {}", shown.complaint());
        assert_eq!(shown.code() == 0, !shown.stdout.is_empty(), "{flag} {value:?}");
        check_text(&shown.stderr, &value);
    });
}

#[test]
fn regexes_and_globs_are_taken_or_refused() {
    const PIECES: &[&str] = &[
        "a",
        ".",
        "*",
        "**",
        "?",
        "[",
        "]",
        "[!a]",
        "[a-",
        "[[:alpha:]]",
        "(",
        ")",
        "{",
        "}",
        "{9999}",
        "|",
        "^",
        "$",
        "\\",
        "\\pL",
        "(?i)",
        "(?x)",
        "/",
        "!",
        "#",
        " ",
        "\n",
        "é",
        "x{1000}{1000}",
    ];
    throw(INPUTS, (text(PIECES), any::<Vec<u8>>()), |(pattern, name)| {
        let patterns = [pattern.clone().into_bytes()];
        let _ = any_pattern(&patterns);
        let mut rules = IgnoreRules::parse(pattern.as_bytes());
        let _ = rules.add_line(&name);
        let _ = rules.add(&name);
    });
}

#[test]
fn config_files_are_taken_or_refused() {
    const PIECES: &[&str] = &[
        "reverse",
        "min-size",
        "exclude",
        "number-of-lines",
        " = ",
        "=",
        "true",
        "false",
        "'",
        "\"",
        "1",
        "-1",
        "[",
        "]",
        "[[",
        "{",
        "}",
        ",",
        "\n",
        "#",
        "'*.rs'",
        "1979-05-27",
        "0x",
        "inf",
        "\\u0000",
        ".",
        "\"\"\"",
    ];
    let command = clap::Command::new("weigh").args([
        clap::Arg::new("reverse").long("reverse").action(clap::ArgAction::SetTrue),
        clap::Arg::new("exclude").long("exclude").action(clap::ArgAction::Append),
        clap::Arg::new("min-size").long("min-size"),
    ]);
    throw(INPUTS, text(PIECES), |text| {
        if let Err(mistake) = config::read(&text, &command) {
            assert!(mistake.line >= 1 && mistake.message.lines().count() <= 2, "{mistake:?}");
        }
    });
}

/// A name, in bytes or not, that does not look as if it was cut.
fn named() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::sample::select(&HOSTILE).prop_map(<[u8]>::to_vec),
        any::<String>().prop_map(|name| name.replace('…', "").into_bytes()),
        vec(any::<u8>(), 0..20),
    ]
}

fn edge() -> impl Strategy<Value = u64> {
    prop_oneof![0..5_u64, 0..100_000_u64, Just(u64::MAX), Just(1 << 63), any::<u64>()]
}

/// An export as ncdu might have written it, with numbers that no walk would have come to.
fn document() -> impl Strategy<Value = Vec<u8>> {
    let links = prop_oneof![
        Just(String::new()),
        (edge(), any::<u32>()).prop_map(|(inode, links)| {
            format!(r#","ino":{inode},"nlink":{links},"hlnkc":true"#)
        })
    ];
    let extended = prop_oneof![
        Just(String::new()),
        (any::<i64>(), any::<u32>(), any::<u16>()).prop_map(|(time, owner, mode)| {
            format!(r#","mtime":{time},"uid":{owner},"gid":{owner},"mode":{mode}"#)
        })
    ];
    let node = (named(), edge(), edge(), links, extended).prop_map(
        |(name, disk, length, links, extended)| {
            let mut node = b"{\"name\":\"".to_vec();
            for byte in name {
                match byte {
                    b'"' | b'\\' => node.extend([b'\\', byte]),
                    ..b' ' => node.extend(format!("\\u{byte:04x}").into_bytes()),
                    _ => node.push(byte),
                }
            }
            node.extend(format!(r#"","dsize":{disk},"asize":{length}{links}{extended}}}"#).bytes());
            node
        },
    );
    let node = node.boxed();
    let leaf = node.clone();
    let branch = move |inner| {
        (node.clone(), vec(inner, 0..6)).prop_map(|(node, children): (_, Vec<Vec<u8>>)| {
            let parts: Vec<_> = [node].into_iter().chain(children).collect();
            [b"[", &*parts.join(&b","[..]), b"]"].concat()
        })
    };
    leaf.prop_recursive(6, 40, 6, branch).prop_map(|tree| {
        [b"[1,2,{\"progname\":\"ncdu\"},[{\"name\":\"/r\"},", &*tree, b"]]"].concat()
    })
}

/// Damage to a file: bytes changed, removed or doubled, or the end cut off.
fn damage() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    prop_oneof![Just(Vec::new()), vec((any::<prop::sample::Index>(), 0..5_u8, any::<u8>()), 0..6),]
}

fn damaged(mut bytes: Vec<u8>, damage: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    for (place, kind, byte) in damage {
        if bytes.is_empty() {
            break;
        }
        let at = place.index(bytes.len());
        match kind {
            0 => bytes[at] = *byte,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, *byte),
            3 => bytes.truncate(at),
            _ => bytes.extend_from_within(at..),
        }
    }
    bytes
}

/// Loads what `filter` leaves of what is at `path`; what is saved of it.
fn load_and_write(path: &Path, filter: &Filter) -> Option<(Tree, Vec<u8>)> {
    let inodes = Inodes::ALL;
    let wanted = Wanted { times: true, ..Wanted::default() };
    let mut loaded = snapshot::load(path, wanted, |_| Whole { inodes }).ok()?;
    snapshot::reweigh(&mut loaded, filter, inodes).ok()?;
    let mut saved = Vec::new();
    packed::write(&mut saved, &loaded, None).unwrap();
    Some((loaded.report.answer?, saved))
}

/// An export may have a name twice.
#[test]
fn directories_of_one_name_are_saved_as_they_were() {
    let fixture = Fixture::in_memory();
    let (export, snapshot) = (fixture.at("export"), fixture.at("snapshot"));
    let twice =
        r#"[1,2,{"progname":"ncdu"},[{"name":"/r"},[{"name":"c"}],[{"name":"c"},{"name":"n"}]]]"#;
    fs::write(&export, twice).unwrap();
    let (_, saved) = load_and_write(&export, &Filter::default()).unwrap();
    fs::write(&snapshot, &saved).unwrap();
    let (_, again) = load_and_write(&snapshot, &Filter::default()).unwrap();
    assert!(saved == again);
}

/// What is taken is saved as it was, and can be drawn whatever its numbers are.
#[test]
fn exports_are_taken_or_refused_and_what_is_taken_can_be_shown() {
    let fixture = Fixture::in_memory();
    let (one, two) = (fixture.at("one"), fixture.at("two"));
    let looks = (0..100_usize, 0..64_u8);
    let mut filter = Filter { leaves_out_hidden: true, ..Filter::default() };
    filter.globs.exclude.add(b"*e*").unwrap();
    filter.regexes.never = any_pattern(&[b"[0-9]$".to_vec()]).unwrap();
    throw(FILES, (document(), damage(), looks), |(document, damage, (width, look))| {
        fs::write(&one, damaged(document, &damage)).unwrap();
        let limits = Limits {
            lines: width,
            depth: u32::from(look),
            min_size: 3,
            show: Show::default(),
            roots: width,
            opens_new: look % 2 == 0,
        };
        let _ = snapshot::load(&one, Wanted::default(), |view| Top::new(view, limits));
        let all = Filter::default();
        let Some((tree, saved)) = load_and_write(&one, &all) else { return };
        fs::write(&two, &saved).unwrap();
        assert!(load_and_write(&two, &all).map(|(_, again)| again) == Some(saved));
        // What filters leave, they leave again.
        if let Some((_, left)) = load_and_write(&one, &filter) {
            fs::write(&two, &left).unwrap();
            assert!(load_and_write(&two, &filter).map(|(_, again)| again) == Some(left));
        }
        let by_time = Wanted { by_time: true, times: true, ..Wanted::default() };
        let _ = snapshot::load(&one, by_time, |_| Whole { inodes: Inodes::ALL });

        let is = |bit: u8| look & (1 << bit) != 0;
        let options = tree::PictureOptions {
            width,
            format: [Format::Binary, Format::Decimal, Format::Count][usize::from(look) % 3].clone(),
            bars: [Bars::Left, Bars::Right, Bars::None][width % 3],
            is_root_first: is(0),
            full_paths: is(1),
            times: is(5).then(|| TimeFormat {
                style: Style::default(),
                zone: Arc::new(LazyLock::new(|| jiff::tz::TimeZone::UTC)),
                now: 0,
            }),
            root_alone: look & 4 > 0,
            one_kind: look & 1 > 0,
            knows_own: look & 2 > 0,
            skip_total: is(2),
            screen_reader: is(3),
            order: [Order::Size, Order::Name, Order::Count][width % 3],
            dim: is(4),
            colors: None,
            ..tree::PictureOptions::default()
        };
        let mut picture = Vec::new();
        tree::draw(&mut picture, &tree, &options).unwrap();
        check_text(&picture, "a picture");
        for line in String::from_utf8(picture).unwrap().lines().filter(|_| width >= 40) {
            // Paths are whole unless they are too long to be opened.
            let is_whole = (is(1) || tree.shape() == Shape::List) && !line.contains('…');
            assert!(name::cells(line) <= width || is_whole, "{width}: {line}");
        }
    });
}

#[test]
fn a_thousand_names_are_shown_in_progress_without_a_control() {
    for name in thousand() {
        for width in [20, 80, 500] {
            let second = Duration::from_secs(1);
            let line = progress::line((1, 1), 1, second, &name, &Format::Binary);
            let line = Charset::Unicode.cut(&line, width);
            check_text(line.as_bytes(), "progress");
        }
    }
}
