//! Names are bytes. None can move the cursor, hide a line or forge one, and JSON has each of them exactly.

use std::collections::BTreeSet;
use std::fs;

use crate::dice::{Dice, HOSTILE};
use crate::document::{Document, exact};
use crate::fixture::{Fixture, raw};
use crate::run::{Shown, weigh};
use crate::saved::{sealed, sections};

/// Every hostile name, as a file and as a directory with a file of the same name.
fn hostile() -> Fixture {
    let mut fixture = Fixture::new();
    for name in HOSTILE {
        let below = |dir: &[u8]| [b"top/", dir, b"/", name].concat();
        fixture = fixture
            .file(raw(&below(b"files")), 5000)
            .file(raw(&[&below(b"dirs"), b"/".as_slice(), name].concat()), 300);
    }
    fixture
}

/// Every hostile name, as a directory that a plain user cannot read.
fn closed() -> Fixture {
    HOSTILE
        .into_iter()
        .fold(Fixture::new(), |fixture, name| fixture.unreadable(raw(&[b"top/", name].concat())))
}

/// Characters that a terminal obeys, or that hide what a text is.
fn is_dangerous(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub fn check_text(bytes: &[u8], what: &str) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
    for line in text.split('\n') {
        assert!(!line.contains(is_dangerous), "{what}: {line:?}");
    }
}

fn check_streams(shown: &Shown, what: &str) {
    check_text(&shown.stdout, what);
    check_text(&shown.stderr, what);
}

#[test]
fn a_picture_holds_no_control_but_its_own() {
    let fixture = hostile();
    let all = 1 + 2 + HOSTILE.len() * 3;
    for flags in ["", "-p", "-r", "-b", "-B", "-R", "-p -R", "-F", "-D", "-F -p", "-w 30", "-i"] {
        let flags = format!("-c -n 1000 -s {flags}");
        let shown = weigh(&flags).arg(fixture.at("top")).run();
        check_streams(&shown, &flags);
        assert_eq!(shown.code(), 0, "weigh {flags}");
        if flags.ends_with("-s -p") {
            // A line feed in a name would make more lines of it.
            let lines = String::from_utf8(shown.stdout).unwrap().lines().count();
            assert_eq!(lines, all, "weigh {flags}");
        }
    }
}

#[test]
fn complaints_hold_no_control() {
    let fixture = closed();
    for flags in ["-c", "-c --print-errors", "-j", "-j --print-errors"] {
        let shown = weigh(flags).arg(fixture.at("top")).by_nobody(&fixture).run();
        assert_eq!(shown.code(), 1);
        assert!(!shown.stderr.is_empty());
        check_text(&shown.stderr, flags);
    }
}

#[test]
fn a_root_that_is_missing_is_named_without_its_controls() {
    for name in HOSTILE {
        let shown = weigh("-c --").arg(raw(name)).run();
        assert_eq!(shown.code(), 1, "{name:?}");
        check_streams(&shown, "a missing root");
    }
}

#[test]
fn a_root_with_a_hostile_name_is_drawn_without_its_controls() {
    let fixture = hostile();
    for name in HOSTILE {
        for flags in ["-c -s --", "-c -s -p --", "-c -s -R --"] {
            let shown = weigh(flags).arg(raw(name)).within(fixture.at("top/dirs")).run();
            check_streams(&shown, flags);
            shown.clean();
        }
    }
}

#[test]
fn a_usage_error_holds_no_control() {
    for flag in ["-n", "-w", "-z", "-o", "-d", "-T"] {
        for name in HOSTILE {
            let shown = weigh(flag).arg(raw(name)).run();
            assert_eq!(shown.code(), 2, "{flag} {name:?}");
            check_streams(&shown, flag);
        }
    }
    for name in HOSTILE {
        let flag = [b"--no-such-flag".as_slice(), name].concat();
        let shown = weigh("").arg(raw(&flag)).run();
        assert_eq!(shown.code(), 2, "{name:?}");
        check_streams(&shown, "an unknown flag");
    }
}

#[test]
fn with_colours_the_only_escapes_are_colours() {
    let fixture = hostile();
    let shown = weigh("-C -s -n 1000").arg(fixture.at("top")).run();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains('\x1b'), "no colours");
    for line in text.lines() {
        crate::picture::cells(line); // Panics at an escape that is no colour.
        let plain = line.replace('\x1b', "");
        assert!(!plain.contains(is_dangerous), "{line:?}");
    }
}

/// What an escaped name was, as the docs say.
fn unescaped(text: &str) -> Vec<u8> {
    let (mut name, mut rest) = (Vec::new(), text);
    while let Some((before, escape)) = rest.split_once('\\') {
        name.extend(before.bytes());
        let kind = escape.chars().next().unwrap();
        rest = &escape[1..];
        match kind {
            '\\' => name.push(b'\\'),
            'n' => name.push(b'\n'),
            'r' => name.push(b'\r'),
            't' => name.push(b'\t'),
            'x' => {
                name.push(u8::from_str_radix(&rest[..2], 16).unwrap());
                rest = &rest[2..];
            }
            'u' => {
                let (digits, after) = rest[1..].split_once('}').unwrap();
                let c = char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
                name.extend(c.to_string().bytes());
                rest = after;
            }
            other => panic!("\\{other} in {text}"),
        }
    }
    name.extend(rest.bytes());
    name
}

/// What is not seen, or is taken for something else.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{a0}'
            | '\u{ad}'
            | '\u{200b}'
            | '\u{2060}'
            | '\u{feff}'
            | '\u{2003}'
            | '\u{e0041}'
            | '\u{34f}'
    ) || is_dangerous(c)
}

/// A name with `\n` in it was not to be told from one with a newline, nor one with a no-break space from one with a
/// space.
#[test]
fn escaped_names_can_be_read_back() {
    const PARTS: [&[u8]; 30] = [
        b"\\",
        b"\\",
        b"\\n",
        b"\\x1b",
        b"\\u{200b}",
        b"\\x5c",
        b"x5c",
        b"n",
        b"u{",
        b"\n",
        b"\r",
        b"\t",
        b"\x1b",
        b"\xff",
        b"\xc3",
        b" ",
        b" ",
        "\u{a0}".as_bytes(),
        "\u{200b}".as_bytes(),
        "\u{feff}".as_bytes(),
        "\u{2003}".as_bytes(),
        "\u{301}".as_bytes(),
        "e\u{301}".as_bytes(),
        "é".as_bytes(),
        "\u{202e}".as_bytes(),
        "漢\u{fe00}\u{3000}".as_bytes(),
        "👩\u{200d}".as_bytes(),
        "\u{34f}\u{e0041}".as_bytes(),
        b"\";,",
        b"a",
    ];
    let mut dice = Dice::new(72);
    let mut names: BTreeSet<Vec<u8>> = BTreeSet::new();
    while names.len() < 1_000 {
        let parts = 1 + dice.below(6);
        names.insert((0..parts).flat_map(|_| dice.of(&PARTS).to_vec()).collect());
    }
    let fixture = names.iter().fold(Fixture::in_memory(), |fixture, name| {
        fixture.sparse(raw(&[b"top/".as_slice(), name].concat()), 1)
    });
    let shown = |flags: &str, locale: &str| {
        let run = weigh(flags).arg("top").within(fixture.path()).env("LC_ALL", locale).run();
        run.text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let check = |found: Vec<String>, what: &str| {
        assert_eq!(found.len(), names.len(), "{what}");
        for name in &found {
            assert!(!name.contains(is_hidden), "{what}: {name:?}");
            // CSV has quotes around them.
            assert!(
                what == "csv" || name.trim() == name,
                "{what}: {name:?} has blanks that are not seen"
            );
        }
        let read: BTreeSet<_> = found.iter().map(|name| unescaped(name)).collect();
        assert!(read == names, "{what}");
    };
    for locale in ["C.UTF-8", "C"] {
        for flags in ["-c -s -b -n 2000 -w 300", "-c -s -b -n 2000 -w 300 -r"] {
            let branch = if locale == "C" { "--" } else { "──" };
            let lines = shown(flags, locale);
            let found = lines
                .iter()
                .filter_map(|line| Some(line.split_once(&format!("{branch} "))?.1.to_owned()));
            check(found.filter(|name| !name.starts_with("top")).collect(), flags);
        }
    }
    let csv = shown("-s --as csv", "C.UTF-8");
    let paths = csv.iter().filter_map(|line| line.strip_prefix("\"top/")?.rsplit_once("\",file"));
    check(paths.map(|(name, _)| name.replace("\"\"", "\"")).collect(), "csv");
    let folded = shown("-s --as folded", "C.UTF-8");
    let stacks = folded.iter().filter_map(|line| line.strip_prefix("top;")?.rsplit_once(' '));
    check(stacks.map(|(name, _)| name.to_owned()).collect(), "folded");
}

/// Files of these names are shown as the texts beside them.
fn are_shown(names: &[(&str, &str)]) {
    let file = |fixture: Fixture, name: &str| fixture.file(format!("top/{name}"), 1);
    let fixture = names.iter().fold(Fixture::new(), |fixture, (name, _)| file(fixture, name));
    let text = weigh("-b -w 200 -n 100").arg(fixture.at("top")).run().text();
    let shown = text.lines().filter_map(|line| line.split_once("── "));
    let shown: BTreeSet<_> = shown.map(|(_, name)| name).collect();
    assert_eq!(shown, names.iter().map(|(_, shown)| *shown).collect());
}

/// Joiners and selectors that select nothing were printed as they are: two names looked alike.
#[test]
fn what_joins_nothing_is_shown() {
    are_shown(&[
        ("漢\u{200d}字", r"漢\u{200d}字"),
        ("漢\u{200c}字", r"漢\u{200c}字"),
        ("漢\u{fe0f}", r"漢\u{fe0f}"),
        ("漢\u{fe0e}", r"漢\u{fe0e}"),
        ("ש\u{200d}ל", r"ש\u{200d}ל"),
        ("ש\u{200c}ל", r"ש\u{200c}ל"),
        ("ש\u{fe0f}", r"ש\u{fe0f}"),
        ("ש\u{fe00}", r"ש\u{fe00}"),
        ("ไ\u{200d}ท", r"ไ\u{200d}ท"),
        ("한\u{200d}국", r"한\u{200d}국"),
        ("한\u{e0100}", r"한\u{e0100}"),
        ("漢\u{180b}", r"漢\u{180b}"),
        ("👩\u{200d}a", r"👩\u{200d}a"),
        ("👩\u{200c}🚀", r"👩\u{200c}🚀"),
        ("a\u{200d}👩", r"a\u{200d}👩"),
        ("👩\u{200d}\u{200d}🚀", r"👩\u{200d}\u{200d}🚀"),
        ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}"),
        // In these, they are part of a word, of a name or of an emoji.
        ("می\u{200c}خواهم", "می\u{200c}خواهم"),
        ("क\u{94d}\u{200d}ष", "क\u{94d}\u{200d}ष"),
        ("ක\u{dca}\u{200d}ර", "ක\u{dca}\u{200d}ර"),
        ("葛\u{e0100}", "葛\u{e0100}"),
        ("👩\u{200d}❤\u{fe0f}\u{200d}👨", "👩\u{200d}❤\u{fe0f}\u{200d}👨"),
        ("🏳\u{fe0f}\u{200d}🌈", "🏳\u{fe0f}\u{200d}🌈"),
    ]);
}

/// People read these.
#[test]
fn ordinary_names_are_shown_as_they_are() {
    let names = [
        "plain name.txt",
        "é ö ñ",
        "漢字",
        "日本語\u{3000}資料",
        "ภาษาไทย",
        "हिन्दी",
        "עִבְרִית",
        "می\u{200c}خواهم",
        "👩\u{200d}🚀",
        "1\u{fe0f}\u{20e3}",
        "❤\u{fe0f}",
        "🇨🇭",
        "한국어",
        "Ελληνικά",
        "Русский",
        "'$x' (1) [2] {3} ~&%#@!=+,;^`",
    ];
    are_shown(&names.map(|name| (name, name)));
}

#[test]
fn json_gives_back_every_name() {
    let fixture = hostile();
    let json = weigh("-j -s").arg(fixture.at("top")).run().clean();
    serde_json::from_slice::<serde_json::Value>(&json).expect("valid JSON");
    let document = Document::parse(&json);
    let expected: BTreeSet<&[u8]> = HOSTILE.into_iter().collect();
    for dir in ["files", "dirs"] {
        let children = &document.node(dir).children;
        let found: BTreeSet<&[u8]> =
            children.iter().map(|&child| &*document.nodes[child].name).collect();
        assert_eq!(found, expected, "{dir}");
        assert_eq!(children.len(), HOSTILE.len(), "{dir}");
    }
}

/// `weigh -j` at a prompt goes to the terminal too, and JSON has escapes for all of these.
#[test]
fn json_holds_no_control_either() {
    let fixture = hostile();
    for flags in ["-j", "-j -p", "-j -n 1000"] {
        check_streams(&weigh(flags).arg(fixture.at("top")).run(), flags);
    }
}

#[test]
fn a_name_that_is_not_utf8_has_its_bytes_beside_it() {
    let fixture = Fixture::new().file(raw(b"top/\xff\xfe"), 1).file("top/plain", 1);
    let json = weigh("-j -s").arg(fixture.at("top")).run().clean();
    let root: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let [plain, odd] = root["children"].as_array().unwrap().as_slice() else { panic!("{root}") };
    assert_eq!(plain["name"], "plain");
    assert_eq!(plain.get("name_bytes"), None);
    assert_eq!(odd["name"], "\u{fffd}\u{fffd}");
    assert_eq!(odd["name_bytes"], "//4=");
    // A root of that kind, and with -p every path below it.
    let root = weigh("-j -s -p").arg(raw(b"./\xff\xfe")).within(fixture.at("top")).run().document();
    assert_eq!(root.root().name, b"./\xff\xfe");
}

#[test]
fn an_error_gives_back_its_path() {
    let fixture = Fixture::new().unreadable(raw(b"top/\xff\xfe")).unreadable("top/line\nfeed");
    let top = fixture.at("top");
    let shown = weigh("-j").arg(&top).by_nobody(&fixture).run();
    let document = Document::parse(&shown.stdout);
    let mut found: Vec<_> = document.errors().iter().map(|error| exact(error, "path")).collect();
    found.sort();
    let path = |name: &[u8]| {
        use std::os::unix::ffi::OsStrExt;
        [top.as_os_str().as_bytes(), b"/", name].concat()
    };
    assert_eq!(found, [path(b"line\nfeed"), path(b"\xff\xfe")]);
}

/// Arguments cannot forge a line of a message either.
#[test]
fn a_usage_error_holds_no_line_of_its_own() {
    for arg in ["--no-such\nweigh: all is well", "-n1\nweigh: all is well", "-zx\u{202e}\u{9b}\x1b"]
    {
        let shown = weigh("").arg(arg).run();
        assert_eq!(shown.code(), 2);
        check_text(&shown.stderr, arg);
        assert!(shown.complaint().lines().all(|line| !line.starts_with("weigh: all")), "{arg}");
    }
}

/// So many names, of every kind of byte there is, in every place where names are shown.
const COUNT: usize = 1000;

/// Names made of hostile pieces and of random bytes.
pub fn thousand() -> Vec<Vec<u8>> {
    let mut dice = Dice::new(9);
    let mut names = BTreeSet::new();
    while names.len() < COUNT {
        let mut name = Vec::new();
        for _ in 0..=dice.below(4) {
            match dice.below(3) {
                0 => name.extend_from_slice(dice.of::<&[u8]>(&HOSTILE)),
                1 => {
                    name.extend((0..dice.below(20)).map(|_| u8::try_from(dice.below(256)).unwrap()))
                }
                _ => {
                    // Any character, and those around where controls, bidi controls and the
                    // invisible ones are.
                    let start =
                        *dice.of(&[0, 0x80, 0x600, 0x2000, 0xfe00, 0xfff0, 0x1f000, 0xe0000]);
                    let char = char::from_u32(start + u32::try_from(dice.below(256)).unwrap());
                    name.extend(char.unwrap_or('x').to_string().bytes());
                }
            }
        }
        name.retain(|byte| !matches!(byte, 0 | b'/'));
        name.truncate(200);
        if !matches!(name.as_slice(), b"" | b"." | b"..") {
            names.insert(name);
        }
    }
    names.into_iter().collect()
}

#[test]
fn a_thousand_names_are_shown_without_a_control_and_given_back_exactly() {
    let names = thousand();
    let fixture = names.iter().fold(Fixture::in_memory(), |fixture, name| {
        fixture.file(raw(&[b"top/", name.as_slice()].concat()), 10)
    });
    for flags in ["-c", "-c -p", "-c -F -p", "-c -R", "-c -w 30"] {
        let flags = format!("{flags} -s -n 5000");
        let shown = weigh(&flags).arg(fixture.at("top")).run();
        check_streams(&shown, &flags);
        let headings = usize::from(flags.contains("-R"));
        assert_eq!(shown.text().lines().count(), COUNT + 1 + headings, "weigh {flags}");
    }
    for flags in ["-j", "-j -n 5000"] {
        let shown = weigh(&format!("{flags} -s")).arg(fixture.at("top")).run();
        check_streams(&shown, flags);
        let document = shown.document();
        let back: BTreeSet<&[u8]> =
            document.nodes[1..].iter().map(|node| node.name.as_slice()).collect();
        assert_eq!(document.nodes.len(), COUNT + 1);
        assert!(back.into_iter().eq(names.iter().map(Vec::as_slice)), "weigh {flags}");
    }
}

#[test]
fn a_thousand_names_are_complained_of_without_a_control() {
    let names = thousand();
    let fixture = names.iter().fold(Fixture::in_memory(), |fixture, name| {
        fixture.unreadable(raw(&[b"top/", name.as_slice()].concat()))
    });
    for flags in ["-c", "-c --print-errors", "-j --print-errors"] {
        let shown = weigh(flags).arg("top").within(fixture.path()).by_nobody(&fixture).run();
        check_streams(&shown, flags);
        assert_eq!(shown.code(), 1);
        if flags.contains("--print-errors") {
            let reported =
                shown.complaint().lines().filter(|line| line.contains("cannot open")).count();
            assert_eq!(reported, COUNT, "weigh {flags}");
        }
    }
    let document = Document::parse(
        &weigh("-j").arg("top").within(fixture.path()).by_nobody(&fixture).run().stdout,
    );
    let back: BTreeSet<_> = document.errors().iter().map(|error| exact(error, "path")).collect();
    assert!(back.into_iter().eq(names.iter().map(|name| [b"top/", name.as_slice()].concat())));
}

/// A name of another kind would lead to another place than the one that is shown: `top/..` and all that is in it, for
/// `xargs rm -r`. So no reader takes one.
#[test]
fn a_name_that_no_entry_can_have_is_refused_with_the_file_and_the_name() {
    let fixture = Fixture::new().file("top/~~", 5).file("dir/~~/f", 5).file("short/~", 5);
    let save = |top: &str| {
        weigh("--save good.weigh").arg(top).within(fixture.path()).run().clean();
        sections(&fixture.bytes("good.weigh"))
    };
    let replaced = |top: &str, was: &[u8], is: &[u8]| {
        let mut parts = save(top);
        for (_, content) in parts.iter_mut().filter(|(kind, _)| *kind == b'D') {
            let at = content.windows(was.len()).position(|bytes| bytes == was).unwrap();
            content.splice(at..at + was.len(), is.iter().copied());
        }
        sealed(&parts, true)
    };
    let nameless = {
        let mut parts = save("short");
        let (_, content) = parts.iter_mut().find(|(kind, _)| *kind == b'D').unwrap();
        let at = content.iter().position(|byte| *byte == b'~').unwrap();
        // The length of the name, and that of the listing.
        content[at - 1] -= 1 << 2;
        content[at - 2] -= 1;
        content.remove(at);
        sealed(&parts, true)
    };
    let header = |text: &str| {
        let mut parts = save("top");
        let was = String::from_utf8(parts[0].1.clone()).unwrap();
        let name = r#""name":"top""#;
        assert!(was.contains(name), "{was}");
        parts[0].1 = was.replace(name, &format!(r#""name":"{text}""#)).into();
        sealed(&parts, true)
    };
    let ncdu = |entry: &str| format!(r#"[1,0,{{}},[{{"name":"/x"}},{entry}]]"#).into_bytes();
    let called = |name: &str| format!("an entry that is called {name}, as none can be");
    let slash = |name: &str| format!("an entry with a slash in its name, {name}");
    let nul = |name: &str| format!("an entry with a NUL in its name, {name}");
    let none = "an entry without a name".to_owned();
    let snapshots = [
        (replaced("top", b"~~", b".."), called("..")),
        (replaced("dir", b"~~", b".."), called("..")),
        (replaced("short", b"~", b"."), called(".")),
        (replaced("top", b"~~", b"/x"), slash("/x")),
        (replaced("dir", b"~~", b"x/"), slash("x/")),
        (replaced("top", b"~~", b"x\0"), nul("x\\x00")),
        (replaced("top", b"top", b"t\0p"), nul("t\\x00p")),
        (nameless, none.clone()),
        (header("t\\u0000p"), nul("t\\x00p")),
        (ncdu(r#"{"name":".."}"#), called("..")),
        (ncdu(r#"[{"name":"."}]"#), called(".")),
        (ncdu(r#"{"name":"..","excluded":"pattern"}"#), called("..")),
        (ncdu(r#"{"name":"a/b"}"#), slash("a/b")),
        (ncdu(r#"{"name":""}"#), none.clone()),
        (ncdu(r#"{"name":"x\u0000y"}"#), nul("x\\x00y")),
        (br#"[1,0,{},[{"name":"/x\u0000"}]]"#.to_vec(), nul("/x\\x00")),
    ];
    weigh("--save good.weigh top").within(fixture.path()).run().clean();
    for (bytes, what) in snapshots {
        fs::write(fixture.at("bad"), bytes).unwrap();
        let run = |flags: &str| weigh(flags).within(fixture.path()).run();
        // Only with the root that its header says, the tree is read.
        let since = ["top", "dir", "short"].map(|root| run(&format!("diff {root} --since bad")));
        let since = since.into_iter().find(|it| !it.complaint().contains("compare with")).unwrap();
        let loaded = ["-t --from bad", "-n 1 --from bad", "--from bad -j"].map(run);
        for shown in loaded.into_iter().chain([since]) {
            let said = shown.complaint();
            assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{what}: {said}");
            assert!(
                said.starts_with("weigh: error: cannot load bad: ") && said.contains(&what),
                "{said}"
            );
        }
    }
    for (list, what) in [
        (&b"5 top/../x\n"[..], called("..")),
        (b"5 top/./x\n", called(".")),
        (b"5 ..\n", called("..")),
        (b"path,size\ntop/..,5\n", called("..")),
        (b"path,size\n\"top/x\0y\",5\n", nul("x\\x00y")),
    ] {
        fs::write(fixture.at("bad"), list).unwrap();
        let shown = weigh("--from bad").within(fixture.path()).run();
        let said = shown.complaint();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{what}: {said}");
        assert!(said.contains("bad: line ") && said.contains(&what), "{said}");
    }
    // Roots may be called so.
    for root in [".", "..", "/proc/self/fdinfo"] {
        let place = fixture.at("dir");
        weigh("--save ../root.weigh").arg(root).within(&place).run();
        assert_eq!(weigh("--from ../root.weigh").within(&place).run().code(), 0, "{root}");
    }
}
