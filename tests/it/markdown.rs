//! `--as md`: a table whose names are no markup, and whose figures are those of the tree.

use crate::fixture::{Fixture, raw};
use crate::run::weigh;

/// The cells of each row, without the heading.
fn rows(text: &str) -> Vec<Vec<String>> {
    // A pipe in a name has a backslash before it.
    let cells = |line: &str| -> Vec<String> {
        let line = line.replace("\\|", "\u{1}");
        let inner = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")).expect(&line);
        inner.split(" | ").map(|cell| cell.replace('\u{1}', "|")).collect()
    };
    let table = text.lines().skip_while(|line| !line.starts_with('|'));
    table.skip(2).map(cells).collect()
}

/// What a code span contains: the same number of backticks is on both sides, and not within.
fn in_code(cell: &str) -> &str {
    let inner = cell.trim_start_matches('`');
    let fence = &cell[..cell.len() - inner.len()];
    let inner = inner.strip_suffix(fence).expect(cell);
    let runs: Vec<_> = inner.split(|c| c != '`').collect();
    assert!(!fence.is_empty() && runs.iter().all(|run| run.len() != fence.len()), "{cell}");
    let padded = inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' '));
    padded.filter(|inner| inner.starts_with('`') || inner.ends_with('`')).unwrap_or(inner)
}

fn tame() -> Fixture {
    Fixture::new()
        .file("top/a/big", 70_000)
        .file("top/a/small", 500)
        .file("top/b", 20_000)
        .file("top/c", 3_000)
}

#[test]
fn a_table_has_the_lines_of_the_tree() {
    let fixture = tame();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run().text();
    let text = run("-s --as md top");
    let expected = "\
| size | share | entry |
| --: | --: | :-- |
| 91.3Ki | 100% | `top` |
| 68.8Ki | 75% | `├─┬ a` |
| 68.4Ki | 75% | `│\u{a0}├── big` |
| 500B | 1% | `│\u{a0}└── small` |
| 19.5Ki | 21% | `├── b` |
| 2.93Ki | 3% | `└── c` |
";
    assert_eq!(text, expected);
    for flags in
        ["-n 3", "-d 1", "-z 10k", "-F", "-F -n 1", "--by type", "--sort name", "-p", "-n 0"]
    {
        let tree = run(&format!("-s -c -b -r {flags} top"));
        let table = rows(&run(&format!("-s --as md {flags} top")));
        let figures: Vec<&str> = tree
            .lines()
            .map(|line| line.split_whitespace().next().unwrap())
            .filter(|it| *it != "size")
            .collect();
        let sizes: Vec<&String> = table.iter().map(|row| &row[0]).collect();
        assert_eq!(sizes, figures, "{flags}\n{tree}");
    }
    // Without bars there is no share.
    assert!(run("-s -b --as md top").starts_with("| size | entry |\n| --: | :-- |\n"));
    assert_eq!(run("-s --as markdown top"), expected);
}

#[test]
fn the_twenty_largest_are_shown_and_the_rest_is_no_name() {
    let mut fixture = Fixture::new();
    for number in 0..40 {
        fixture = fixture.file(format!("top/f{number}"), 1000 + number);
    }
    let text = weigh("-s --as md top").within(fixture.path()).run().text();
    let rows = rows(&text);
    assert_eq!(rows.len(), 22, "{text}");
    assert_eq!(rows[21][2], "20 smaller entries");
}

#[test]
fn changes_are_a_table_the_largest_growth_first() {
    let fixture = tame();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run().text();
    run("-s top --save before.weigh");
    let fixture = fixture.file("top/a/big", 90_000).file("top/new", 5_000);
    std::fs::remove_file(fixture.at("top/c")).unwrap();
    let text = weigh("diff -s --as md before.weigh top").within(fixture.path()).run().text();
    let (answer, table) = text.split_once("\n\n").unwrap();
    assert!(in_code(answer).starts_with("top grew by 21.5Ki since today "), "{text}");
    let expected = "| change | entry | |\n| --: | :-- | :-- |\n| +19.5Ki | `a/big` |  |\n\
        | +4.88Ki | `new` | new |\n| -2.93Ki | `c` | gone |\n";
    assert_eq!(table, expected);
}

/// Names that would be markup, end the cell, the code span or the table, or start another.
#[test]
fn nothing_in_a_name_is_markup() {
    let names: [&[u8]; 16] = [
        b"@team",
        b"#123",
        b"a|b",
        b"a\\|b",
        b"`",
        b"``x```y`",
        b"` @team `",
        b"<img src=x onerror=alert(1)>",
        b"[link](mailto:a@b.c)",
        b"www.example.com",
        b"new\nline | @team |",
        b" leading",
        b"trailing ",
        b"\xff\x1b[31m",
        b"&lt;&#64;team",
        b"\\",
    ];
    let fixture = names.iter().fold(Fixture::new().dir("top"), |fixture, name| {
        let path = [b"top/", *name].concat();
        fixture.dir("top").file(raw(&path), 100)
    });
    let text = weigh("-s --as md top").within(fixture.path()).run().text();
    let rows = rows(&text);
    assert_eq!(rows.len(), 1 + names.len(), "{text}");
    let mut shown: Vec<String> =
        rows[1..].iter().map(|row| in_code(&row[2])[6 + 1 + 3..].to_owned()).collect();
    let mut expected: Vec<String> = weigh("-s -c -b -R -d 1 top")
        .within(fixture.path())
        .run()
        .text()
        .lines()
        .filter_map(|line| line.strip_suffix(" 100B")?.trim_end().strip_suffix(" 1"))
        .map(|name| name.trim_end().to_owned())
        .collect();
    shown.sort();
    expected.sort();
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn what_was_not_read_is_marked() {
    let fixture = tame().unreadable("top/closed");
    let shown = weigh("-s --as md").by_nobody(&fixture).arg(fixture.at("top")).run();
    assert_eq!(shown.code(), 1);
    let text = String::from_utf8(shown.stdout).unwrap();
    let rows = rows(&text);
    assert_eq!(rows[0][0], "≥91.3Ki", "{text}");
    assert!(rows.iter().any(|row| row[0] == "≥0B"), "{text}");
}

#[test]
fn clean_and_history_have_tables_too() {
    let fixture = Fixture::new()
        .file("top/a|b/Cargo.toml", 1)
        .file("top/a|b/target/CACHEDIR.TAG", 43)
        .file("top/a|b/target/tmp/x", 70_000);
    let tag = "Signature: 8a477f597d28d172789f06886806bc55";
    std::fs::write(fixture.at("top/a|b/target/CACHEDIR.TAG"), tag).unwrap();
    std::fs::write(fixture.at("top/a|b/target/.rustc_info.json"), "{}").unwrap();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run().text();
    let text = run("clean --older 0h --as md top");
    let [row] = &rows(&text)[..] else { panic!("{text}") };
    assert!(text.starts_with("Together: "), "{text}");
    assert_eq!(in_code(&row[2]), "top/a|b/target");
    assert!(in_code(&row[4]).starts_with("rm -rf -- "), "{text}");
    // Nothing is found, and the table is empty.
    assert_eq!(rows(&run("clean --as md top")).len(), 0);

    let fixture = tame();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-s top --save one.weigh").clean();
    std::fs::write(fixture.at("top/b"), vec![1; 90_000]).unwrap();
    run("-s top --save two.weigh").clean();
    let text = run("history --as md one.weigh two.weigh").text();
    let sizes: Vec<_> = text.lines().filter(|line| line.contains("`top`")).collect();
    assert!(text.starts_with("2 snapshots from "), "{text}");
    let size = run("-s -d 0 -b -c top").text();
    let size = size.split_whitespace().next().unwrap();
    assert_eq!(sizes, [format!("| {size} | - | `top` |")], "{text}");
}
