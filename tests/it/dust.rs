//! Whoever types `dust` all day: every flag of dust 1.2.7, short and long, is there and does what it
//! does there. But for `-S`, which does nothing in dust either.

use crate::fixture::Fixture;
use crate::run::{Weigh, weigh};

const DAY: i64 = 86_400;

/// Sizes that no two things have in common, so that there is one order.
fn project() -> Fixture {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    Fixture::in_memory()
        .file("top/src/main.rs", 40_000)
        .file("top/src/lib.rs", 30_000)
        .file("top/doc/page.txt", 20_000)
        .file("top/.hidden", 10_000)
        .file("top/old.log", 5_000)
        .modified("top/old.log", now - 10 * DAY - DAY / 2)
        .file("elsewhere/far.rs", 15_000)
        .symlink("../../elsewhere/far.rs", "top/doc/link")
        .file("patterns", 0)
        .file("roots", 0)
}

fn within(fixture: &Fixture, flags: &str) -> Weigh {
    weigh(flags).within(fixture.path()).env("TZ", "UTC0")
}

/// The names in a picture of `top`, from the root on, the largest first.
fn names(fixture: &Fixture, flags: &str) -> String {
    // With paths, every entry has its line; a list has paths already.
    let is_list = flags.contains("-F") || flags.contains("--only-file");
    // Groups have none.
    let is_group = flags.contains("-t") || flags.contains("--file-types");
    let paths = if is_list || is_group { "" } else { "-p" };
    let separators = if is_list { &[' '][..] } else { &[' ', '/'] };
    let flags = format!("-s -b -c -w 100 {paths} {flags}");
    let text = within(fixture, &flags).arg("top").run().text();
    let name = |line: &str| line.rsplit(separators).next().unwrap().to_owned();
    // A line that ends so says what is not shown.
    let is_shown = |line: &&str| ![" entries", " entry"].iter().any(|end| line.ends_with(end));
    // Groups have headings.
    let headings = if is_group { "type" } else { " entries" };
    let lines = text.lines().filter(is_shown).filter(|line| !line.ends_with(headings));
    lines.rev().map(name).collect::<Vec<_>>().join(" ")
}

const ALL: &str = "top src main.rs lib.rs doc page.txt link .hidden old.log";

/// Short flag, long flag, value, and the names that are then shown.
const NAMES: [(&str, &str, &str, &str); 20] = [
    ("-d", "--depth", "1", "top src doc .hidden old.log"),
    ("-n", "--number-of-lines", "3", "top src main.rs lib.rs"),
    ("-T", "--threads", "2", ALL),
    ("-P", "--no-progress", "", ALL),
    ("-x", "--limit-filesystem", "", ALL),
    ("", "--print-errors", "", ALL),
    ("-X", "--ignore-directory", "doc", "top src main.rs lib.rs .hidden old.log"),
    ("-I", "--ignore-all-in-file", "patterns", "top src lib.rs .hidden old.log doc link"),
    ("-L", "--dereference-links", "", "top src main.rs lib.rs doc page.txt link .hidden old.log"),
    ("-z", "--min-size", "20k", "top src main.rs lib.rs"),
    ("-z", "--min-size", "20000", "top src main.rs lib.rs doc page.txt"),
    ("-i", "--ignore-hidden", "", "top src main.rs lib.rs doc page.txt link old.log"),
    ("-v", "--invert-filter", r"\.rs$", "top doc page.txt link .hidden old.log src"),
    ("-e", "--filter", r"\.rs$", "top src main.rs lib.rs"),
    ("-D", "--only-dir", "", "top src doc"),
    ("-F", "--only-file", "", "top src/main.rs src/lib.rs doc/page.txt .hidden old.log doc/link"),
    ("-M", "--mtime", "+9", "top old.log"),
    ("-A", "--atime", "10", "top old.log"),
    ("-y", "--ctime", "-1", ALL),
    ("-t", "--file-types", "", "top .rs .txt extension) .log (directories)"),
];

#[test]
fn every_flag_that_chooses_what_is_shown() {
    let fixture = project();
    std::fs::write(fixture.at("patterns"), "main\\.\n\\.txt$\n").unwrap();
    assert_eq!(names(&fixture, ""), ALL);
    for (short, long, value, expected) in NAMES {
        for flag in [short, long].into_iter().filter(|flag| !flag.is_empty()) {
            assert_eq!(names(&fixture, &format!("{flag} {value}")), expected, "{flag} {value}");
        }
        if !value.is_empty() {
            assert_eq!(names(&fixture, &format!("{long}={value}")), expected, "{long}={value}");
        }
    }
}

/// Short flag, long flag, value, and what is then to be found in the picture of two files.
const LOOKS: [(&str, &str, &str, &str); 16] = [
    ("-p", "--full-paths", "", "3000B   ┌── two/b "),
    ("-r", "--reverse", "", "8000B └─┬ two "),
    ("-b", "--no-percent-bars", "", "3000B   ┌── b\n5000B   ├── a\n8000B ┌─┴ two\n"),
    ("-B", "--bars-on-right", "", "┌── b                   "),
    ("-R", "--screen-reader", "", "b   1 3000B  38%\n"),
    ("", "--skip-total", "", "5000B ├── a "),
    ("-c", "--no-colors", "", "3000B   ┌── b "),
    ("-C", "--force-colors", "", "\u{1b}[1m5000B\u{1b}[0m \u{1b}[2m  ├──\u{1b}[0m a "),
    ("-C", "--force-colors", "--dim", "\u{1b}[2m  ┌──\u{1b}[0m b \u{1b}[2m█"),
    ("-w", "--terminal-width", "40", "3000B   ┌── b ███████▉               38%\n"),
    ("-o", "--output-format", "kb", "3.00K   ┌── b "),
    ("-o", "--output-format", "SI", "3.00K   ┌── b "),
    ("-o", "--output-format", "m", "0.00Mi   ┌── b "),
    ("-j", "--output-json", "", "{\"schema\":1,"),
    (
        "-m",
        "--filetime",
        "m",
        "1970-01-01T00:00:01 3000B   ┌── b\n1970-01-02T00:00:00 5000B   ├── a\n",
    ),
    ("-m", "--filetime", "modified", "1970-01-01T00:00:01 3000B   ┌── b\n"),
];

#[test]
fn every_flag_that_chooses_how_it_is_shown() {
    let fixture = Fixture::in_memory()
        .file("two/a", 5000)
        .file("two/b", 3000)
        .modified("two/a", DAY)
        .modified("two/b", 1);
    for (short, long, value, expected) in LOOKS {
        for flag in [short, long].into_iter().filter(|flag| !flag.is_empty()) {
            let flags = format!("-s -o b {flag} {value}");
            let text = within(&fixture, &flags).arg("two").run().text();
            assert!(text.contains(expected), "{flags}\n{text}");
        }
    }
}

#[test]
fn every_flag_that_chooses_what_is_counted() {
    let fixture = Fixture::new().sparse("top/sparse", 1 << 20).file("top/dir/file", 5000);
    let lines = |flags: &str| within(&fixture, &format!("{flags} -b")).arg("top").run().text();
    for flag in ["-s", "--apparent-size"] {
        assert!(lines(&format!("{flag} -o b")).contains("1048576B   ├── sparse\n"), "{flag}");
    }
    for flag in ["-f", "--filecount"] {
        assert!(lines(flag).ends_with("\n2 ┌─┴ top\n"), "{flag}");
    }
}

/// `--collapse` shows a directory and nothing in it; lists of roots stand for roots.
#[test]
fn every_flag_that_has_a_long_name_only() {
    let fixture = project();
    assert_eq!(names(&fixture, "--collapse src"), "top src doc page.txt link .hidden old.log");
    std::fs::write(fixture.at("roots"), "top/src\ntop/doc\n").unwrap();
    let both = |flags: &str| within(&fixture, &format!("-s -b -c -d 1 {flags}")).run().text();
    let expected = both("top/src top/doc");
    assert_eq!(both("--files-from roots"), expected);
    std::fs::write(fixture.at("roots"), "top/src\0top/doc\0").unwrap();
    assert_eq!(both("--files0-from roots"), expected);
}

#[test]
fn a_config_file_can_be_named() {
    let fixture = project();
    std::fs::write(fixture.at("mine.toml"), "depth = 0").unwrap();
    assert_eq!(names(&fixture, "--config mine.toml"), "top");
    assert_eq!(names(&fixture, "--config=mine.toml"), "top");
}
