//! How a picture looks: chains of directories in one line, whole paths, links, what it compares with; and the same in
//! ASCII, and with 16, 256 and 16 M colours.

use std::fs;

use crate::fixture::{Fixture, raw};
use crate::picture::cells;
use crate::run::{Weigh, weigh};
use crate::saved;

/// Chains that end in a file, one of them with a little beside it, and directories that are no chains.
fn project() -> Fixture {
    Fixture::in_memory()
        .sparse("top/chain/of/many/links.iso", 50_000_000)
        .sparse("top/two/one", 20_000_000)
        .sparse("top/two/other", 10_000_000)
        .sparse("top/almost/all/of it", 9_950_000)
        .sparse("top/almost/rest", 40_000)
        .sparse("top/not/nearly/all", 9_000_000)
        .sparse("top/not/rest", 200_000)
}

fn on(fixture: &Fixture, flags: &str) -> Weigh {
    weigh(&format!("-s {flags}")).arg("top").within(fixture.path())
}

fn shown(fixture: &Fixture, flags: &str) -> String {
    on(fixture, flags).run().text()
}

#[test]
fn a_chain_of_directories_is_one_line() {
    let fixture = project();
    let expected = "\
 222Ki       2 smaller entries
8.58Mi     ┌── nearly/all
8.77Mi   ┌─┴ not
9.49Mi   ├── almost/all/of it
9.54Mi   │ ┌── other
19.1Mi   │ ├── one
28.6Mi   ├─┴ two
47.7Mi   ├── chain/of/many/links.iso
94.6Mi ┌─┴ top
";
    let text = shown(&fixture, "-c -b -n 7");
    assert_eq!(
        text.lines().skip(1).collect::<Vec<_>>(),
        expected.lines().skip(1).collect::<Vec<_>>()
    );
    // What has no line counts as before: here both files called rest.
    assert!(text.starts_with(" 234Ki       2 smaller entries\n"), "{text}");
    // Levels are counted as if nothing was joined, and lines as they are drawn.
    assert!(shown(&fixture, "-c -b -d 2").contains("─ chain/of\n"));
    assert_eq!(shown(&fixture, "-c -b -n 4").lines().count(), 6);
    assert!(shown(&fixture, "-c -b -n 4").contains("─ chain/of/many/links.iso\n"));
    assert_eq!(on(&fixture, "-j -n 4").run().document().nodes.len(), 5);
}

/// Sixty chains of four directories took ten lines of forty, because each directory counted.
#[test]
fn a_chain_counts_as_one_line() {
    let chains = (0..60).fold(Fixture::in_memory(), |fixture, i| {
        fixture.sparse(format!("top/{i:02}/a/b/c/file"), 1_000_000 - i)
    });
    for threads in [1, 2, 8] {
        let text = shown(&chains, &format!("-c -b -n 34 -T {threads}"));
        assert_eq!(text.lines().count(), 34 + 2, "{text}");
        assert!(text.lines().nth(34).unwrap().ends_with("─ 00/a/b/c/file"), "{text}");
        assert!(text.starts_with("24.8Mi       130 smaller entries\n"), "{text}");
    }
}

/// Three of four lines were a chain in which each directory was most of the one above it.
#[test]
fn breadth_comes_before_depth() {
    let home = Fixture::in_memory()
        .sparse("top/src/app/debug/deps", 30_000_000)
        .sparse("top/src/app/debug/rest", 12_000_000)
        .sparse("top/src/app/rest", 8_000_000)
        .sparse("top/src/rest", 15_000_000)
        .sparse("top/Downloads", 28_000_000)
        .sparse("top/Pictures", 27_000_000);
    let names = |flags: &str| {
        let text = shown(&home, &format!("-c -b {flags}"));
        let names =
            text.lines().filter_map(|line| line.rsplit_once("─ ").or(line.rsplit_once("┴ ")));
        names.map(|(_, name)| name.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("-n 3"), ["Pictures", "Downloads", "src", "top"]);
    assert_eq!(names("-n 4"), ["Pictures", "Downloads", "app", "src", "top"]);
}

#[test]
fn a_chain_is_joined_only_if_its_lines_would_say_the_same() {
    let fixture = project();
    // Every entry has its line.
    for (flags, headings) in [("-p", 0), ("-R", 1)] {
        let text = shown(&fixture, &format!("-c -b -n 20 {flags}"));
        assert_eq!(text.lines().count(), 16 + headings, "{flags}");
    }
    // To the byte, they differ.
    assert!(shown(&fixture, "-c -b -n 20 -o b").contains("┴ almost\n"));
    assert!(shown(&fixture, "-c -b -n 20 --sort count").contains("┴ almost\n"));
    // What was given is never joined.
    let only = Fixture::in_memory().sparse("top/only", 5);
    assert_eq!(shown(&only, "-c -b"), "5B   ┌── only\n5B ┌─┴ top\n");
    let two =
        weigh("-s -c -b top other").within(fixture.sparse("other/only", 5).path()).run().text();
    assert!(two.contains("┴ other\n") && two.contains("─ only\n"), "{two}");
    // One of them is a lower bound, and the other is not.
    let lost = Fixture::new().sparse("top/a/b/file", 9_000_000).unreadable("top/a/lost");
    let lost = on(&lost, "-c -b").by_nobody(&lost).run();
    let text = String::from_utf8(lost.stdout.clone()).unwrap();
    assert!(text.contains("≥8.58Mi   ┌─┴ a\n"), "{text}");
    assert!(text.contains("8.58Mi   │ ┌── b/file\n") || text.contains("── b/file\n"), "{text}");
}

/// Once, `-p` and `-F` shortened what people copy.
#[test]
fn paths_are_whole_and_bars_give_way() {
    let long = "a directory with a long name/".repeat(5);
    let fixture = Fixture::in_memory()
        .sparse(format!("top/{long}file"), 1_000_000)
        .sparse("top/short/file", 900_000);
    for width in [20, 40, 80, 120, 300] {
        for flags in ["-p", "-F", "-F -p", "-p -r -B", "-F -b", "-p -R"] {
            let text = shown(&fixture, &format!("-c -w {width} {flags}"));
            assert!(text.contains(&format!("{long}file")), "-w {width} {flags}\n{text}");
            let mut lines = text.lines().skip(flags.contains("-R").into());
            assert!(lines.all(|line| !line.contains('…')), "-w {width} {flags}\n{text}");
        }
    }
    // Only the bars of long paths do.
    let text = shown(&fixture, "-c -w 80 -F");
    let bars: Vec<_> = text.lines().map(|line| line.contains('█')).collect();
    assert_eq!(bars, [true, false, true], "{text}");
    let short = text.lines().next().unwrap();
    assert!(short.contains(" short/file ") && cells(short) == 80, "{text}");
}

/// The grammar of `ls --hyperlink`, which is that of OSC 8.
#[test]
fn names_are_links_if_that_is_asked_for() {
    let fixture = Fixture::new()
        .sparse("top/chain/of/a b%c", 9)
        .sparse(raw(b"top/odd\nname \xff"), 8)
        .sparse("top/ä;x", 7);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let directory = fs::canonicalize(fixture.path()).unwrap();
    let link = |path: &str, text: &str| {
        format!(
            "\x1b]8;;file://{}{}/{path}\x1b\\{text}\x1b]8;;\x1b\\",
            host.trim(),
            directory.display()
        )
    };
    let text = shown(&fixture, "-c -b @hyperlink=always");
    for (path, name) in [
        ("top", "top"),
        ("top/chain/of/a%20b%25c", "chain/of/a b%c"),
        ("top/odd%0aname%20%ff", "odd\\nname \\xff"),
        ("top/%c3%a4%3bx", "ä;x"),
    ] {
        assert!(text.contains(&link(path, name)), "{path}: {text:?}");
    }
    let list = shown(&fixture, "-c -b -F @hyperlink=always");
    assert!(list.contains(&link("top/chain/of/a%20b%25c", "chain/of/a b%c")), "{list:?}");
    // Without colours, and on a pipe only if it is asked for.
    for flags in ["-C", "-C @hyperlink=auto", "-C @hyperlink=never", "-t @hyperlink=always"] {
        let text = shown(&fixture, flags);
        assert!(
            !text.contains("\x1b]8") || text.matches("\x1b]8").count() == 2,
            "{flags} {text:?}"
        );
    }
    // Links take no cells, also where a name has none.
    for width in (1..20).chain([60]) {
        let plain = shown(&fixture, &format!("-c -w {width}"));
        let linked = shown(&fixture, &format!("-c -w {width} @hyperlink=always"));
        assert_eq!(without_links(&linked), plain, "{width}");
        assert!(!linked.contains("\x1b\\\x1b]8;;\x1b\\"), "{width}: {linked:?}");
    }
}

fn without_links(text: &str) -> String {
    let parts = text.split("\x1b]8;;").enumerate();
    parts
        .map(|(i, part)| if i == 0 { part } else { part.split_once("\x1b\\").unwrap().1 })
        .collect()
}

/// Nobody can open what is on another host, or what is relative to another directory.
#[test]
fn a_snapshot_has_links_only_to_what_is_here() {
    let fixture = project();
    on(&fixture, "--save relative.weigh").run().clean();
    let absolute = weigh("-s --save absolute.weigh").arg(fixture.at("top")).within(fixture.path());
    absolute.run().clean();
    fs::copy(fixture.at("absolute.weigh"), fixture.at("other.weigh")).unwrap();
    saved::change(&fixture.at("other.weigh"), |header| header["host"] = "elsewhere".into());
    for (file, has_links) in [("relative", false), ("absolute", true), ("other", false)] {
        let flags = format!("-c @hyperlink=always --from {file}.weigh");
        let text = weigh(&flags).within(fixture.path()).run().text();
        assert_eq!(text.contains("\x1b]8"), has_links, "{file}");
    }
}

#[test]
fn a_comparison_says_with_what_it_compares() {
    let fixture = project();
    on(&fixture, "--save before.weigh").run().clean();
    saved::change(&fixture.at("before.weigh"), |header| {
        header["time"] = 1_000_000_000.into();
        header["host"] = "web\u{1b}1".into();
    });
    let fixture = fixture.sparse("top/two/one", 25_000_000);
    let text = |flags: &str| {
        on(&fixture, &format!("diff -c -w 80 --since before.weigh {flags}"))
            .env("TZ", "UTC0")
            .run()
            .text()
    };
    let answer = "top grew by 4.77Mi since 2001-09-09 01:46 on web\\x1b1: 94.6Mi → 99.4Mi\n";
    for flags in ["", "-b", "-R", "-r"] {
        let shown = text(flags);
        assert!(shown.starts_with(answer), "{flags}: {shown}");
        assert!(
            shown.lines().any(|line| line.starts_with("+4.77Mi  ") && line.ends_with("two/one"))
        );
    }
    assert!(text("--time-style iso").contains(" since 2001-09-09 on web"));
}

/// There is nothing to compare with, and their own lines say it all.
#[test]
fn a_comparison_does_not_go_into_what_is_new_or_gone() {
    let fixture = project().dir("top/place");
    on(&fixture, "--details --save before.weigh").run().clean();
    fs::remove_dir_all(fixture.at("top/two")).unwrap();
    let fixture = fixture.sparse("top/new/dir/file", 7_000_000).sparse("top/new/other", 300_000);
    let text = |flags: &str| shown(&fixture, &format!("diff -c -b --since before.weigh {flags}"));
    let lines = text("");
    assert!(lines.contains("  new  new\n") && lines.contains("  two  gone\n"), "{lines}");
    assert_eq!(lines.lines().count(), 1 + 2, "{lines}");
    let deep = text("-d 9");
    let has = |text: &str, name: &str, remark: &str| {
        let mut lines = text.lines();
        lines.any(|line| line.contains(&format!("  {name} ")) && line.ends_with(remark))
    };
    assert!(has(&deep, "new/other", "new") && has(&deep, "two/one", "gone"), "{deep}");
    // A list of files has no line for a directory.
    assert!(has(&text("-F"), "new/dir/file", "new"), "{}", text("-F"));
    let json = on(&fixture, "diff -j --since before.weigh").run().clean();
    assert!(String::from_utf8(json).unwrap().contains("\"name\":\"other\""));
    // What was moved there is shown, because it is neither.
    fs::rename(fixture.at("top/chain"), fixture.at("top/new/dir/moved")).unwrap();
    let moved = text("");
    assert!(moved.ends_with("same size: chain → new/dir/moved\n"), "{moved}");
    assert!(has(&moved, "new/dir", "new") && !moved.contains("other"), "{moved}");
}

/// What a locale of another charset cannot show is escaped, and drawn in ASCII.
#[test]
fn a_locale_without_unicode_gets_the_same_in_ascii() {
    let fixture = project().sparse("top/bol\u{e9}ro", 30_000_000);
    let text = |locale: &[(&'static str, &str)], flags: &str| {
        let weigh = on(&fixture, flags);
        locale.iter().fold(weigh, |weigh, (name, value)| weigh.env(name, value)).run().text()
    };
    let latin: &[_] = &[("LANG", "de_DE.ISO-8859-1")];
    for flags in ["", "-B", "-r", "-p", "-F", "-b", "-w 30", "-C", "-R"] {
        let plain = text(&[], flags);
        let ascii = text(latin, flags);
        assert!(ascii.is_ascii() && !plain.is_ascii(), "{flags} {ascii}");
        assert_eq!(plain.lines().count(), ascii.lines().count(), "{flags}");
        for (one, other) in plain.lines().zip(ascii.lines()) {
            let figures = |line: &str| {
                let words = line.split_whitespace().map(str::to_owned);
                words.filter(|word| word.ends_with("Mi") || word.ends_with('%')).collect::<Vec<_>>()
            };
            assert_eq!(figures(one), figures(other), "{flags}");
        }
    }
    on(&fixture, "--save saved").run().clean();
    let history = |locale| weigh("history saved -w 30").within(fixture.path()).env("LANG", locale);
    let [plain, ascii] = ["C.UTF-8", "de_DE.ISO-8859-1"].map(|locale| history(locale).run().text());
    let end = "\nno rates: they need snapshots\n  over 12 hours or more\n";
    assert!(plain.contains('▁') && plain.ends_with(end), "{plain}");
    assert!(ascii.is_ascii() && ascii.ends_with(end), "{ascii}");
    assert!(text(latin, "-w 100").contains(" |-- bol\\xc3\\xa9ro "), "{}", text(latin, "-w 100"));
    let is_ascii = |locale: &[(&'static str, &str)]| text(locale, "").is_ascii();
    assert!(is_ascii(&[("LC_ALL", "C"), ("LANG", "C.UTF-8")]));
    assert!(is_ascii(&[("LC_CTYPE", "POSIX"), ("LANG", "de_DE.UTF-8")]));
    assert!(!is_ascii(&[("LC_ALL", ""), ("LANG", "de_DE.utf8")]));
    assert!(!is_ascii(&[("LC_ALL", "C.UTF-8"), ("LANG", "C")]));
}

#[test]
fn colours_are_those_of_the_theme_and_the_terminal() {
    let fixture = project();
    let text = |flags: &str, env: &[(&'static str, &str)]| {
        let weigh = on(&fixture, &format!("-C {flags}"));
        env.iter().fold(weigh, |weigh, (name, value)| weigh.env(name, value)).run().text()
    };
    let [rgb, fixed] = [("COLORTERM", "truecolor"), ("TERM", "xterm-256color")];
    assert!(text("", &[rgb]).contains("[38;2;"));
    assert!(!text("", &[fixed]).contains("[38;2;") && text("", &[fixed]).contains("[38;5;"));
    assert!(!text("", &[("TERM", "xterm")]).contains("[38;"));
    // The bar of the root is as warm as a bar can be, and nothing has a background.
    let [dark, light, unknown] = ["38;2;240;122;98m█", "38;2;178;58;34m█", "38;2;204;84;58m█"];
    for (flags, colors, warmest) in [
        ("", "15;0", dark),
        ("", "15;default;0", dark),
        ("", "0;15", light),
        ("@theme=light", "15;0", light),
        ("@theme=dark", "0;15", dark),
        ("@theme=auto", "0;15", light),
        ("", "", unknown),
        ("", "default;default", unknown),
        ("@theme=none", "15;0", unknown),
    ] {
        let text = text(flags, &[rgb, ("COLORFGBG", colors)]);
        assert!(text.contains(warmest) && !text.contains("48;2"), "{flags} {colors}: {text:?}");
    }
}

/// Bold is what has a fifth of the whole, whatever it is in, and what sums up the rest draws no attention.
#[test]
fn weight_guides_to_what_is_large() {
    let fixture = project();
    let text = on(&fixture, "-C @theme=dark -n 8").env("COLORTERM", "truecolor").run().text();
    let is_bold = |name: &str| {
        let line = text.lines().find(|line| line.contains(name)).unwrap();
        line.starts_with("\x1b[1;")
    };
    assert!(is_bold("top") && is_bold("chain") && is_bold("two") && is_bold("one"), "{text:?}");
    assert!(!is_bold("other") && !is_bold("smaller"), "{text:?}");
}
