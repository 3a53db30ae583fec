//! Pages have the figures of JSON, for any names, and stay small. `.ci/page.py` opens them in a browser.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::dice::{Dice, HOSTILE, Names};
use crate::fixture::{Fixture, raw};
use crate::pty::Terminal;
use crate::run::weigh;

/// A row of the table.
#[derive(Debug)]
struct Row {
    name: Vec<u8>,
    depth: usize,
    /// What its cells sort by, or show.
    cells: Vec<String>,
}

fn rows(page: &str) -> Vec<Row> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("<tr data-d="));
    lines
        .map(|line| {
            let (depth, line) = line.split_once("><th scope=row").unwrap();
            let mut cells = line.split("<td");
            let head = cells.next().unwrap();
            let name = match head.strip_prefix(" data-bytes=\"") {
                Some(head) => STANDARD.decode(head.split_once('"').unwrap().0).unwrap(),
                None => {
                    let text = head[1..].split('<').next().unwrap();
                    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'")];
                    let text = plain
                        .iter()
                        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
                    text.replace("&amp;", "&").into_bytes()
                }
            };
            let value = |cell: &str| {
                let (value, text) = cell.split_once('>').unwrap();
                value.strip_prefix(" data-v=").unwrap_or(text).to_owned()
            };
            Row { name, depth: depth.parse().unwrap(), cells: cells.map(value).collect() }
        })
        .collect()
}

/// Each row by its path below the root.
fn by_path(page: &str) -> BTreeMap<Vec<u8>, Row> {
    let (mut above, mut all): (Vec<Vec<u8>>, _) = (Vec::new(), BTreeMap::new());
    for row in rows(page) {
        above.truncate(row.depth);
        above.push(row.name.clone());
        assert_eq!(above.len(), row.depth + 1, "no row lacks those above it");
        assert!(all.insert(above[1..].join(&b'/'), row).is_none());
    }
    all
}

fn drawn() -> Fixture {
    Fixture::of_each_kind().file("top/b/h", 9_000).file(raw(b"top/c/<b>&\"'\xff\n"), 7_000)
}

#[test]
fn every_figure_is_that_of_json() {
    let fixture = drawn();
    for flags in ["", "-s", "-f", "-n 5", "-n 3", "-d 1", "-z 6k", "-D", "-F", "-X b"] {
        let page = weigh(&format!("--as html {flags} top")).within(fixture.path()).run().text();
        let limits = if flags.contains("-n") { "" } else { "-n 5000" };
        let said =
            weigh(&format!("-j {limits} {flags} top")).within(fixture.path()).run().document();
        let sizes = said.by_path().into_iter().map(|(path, node)| (path, node.size.to_string()));
        let shown = by_path(&page).into_iter().map(|(path, row)| (path, row.cells[0].clone()));
        if flags == "-F" {
            // Its names are paths.
            assert_eq!(shown.map(|it| it.1).collect::<Vec<_>>().len(), sizes.count(), "{flags}");
            continue;
        }
        assert_eq!(shown.collect::<Vec<_>>(), sizes.collect::<Vec<_>>(), "{flags}");
    }
}

#[test]
fn every_figure_of_a_random_tree_is_that_of_json() {
    for seed in 0..20 {
        let fixture = Dice::new(seed).tree(Fixture::new(), Names::Hostile);
        let page = weigh("--as html tree").within(fixture.path()).run().text();
        let said = weigh("-j -n 5000 tree").within(fixture.path()).run().document();
        let sizes = said.by_path().into_iter().map(|(path, node)| (path, node.size.to_string()));
        let shown = by_path(&page).into_iter().map(|(path, row)| (path, row.cells[0].clone()));
        assert_eq!(shown.collect::<Vec<_>>(), sizes.collect::<Vec<_>>(), "{seed}");
    }
}

#[test]
fn what_is_too_small_for_a_row_is_summed_up() {
    let fixture = drawn();
    let page = weigh("--as html -n 2 -s top").within(fixture.path()).run().text();
    let picture = weigh("-n 2 -s top").within(fixture.path()).run().text();
    let rest = picture.lines().next().unwrap().split_whitespace().next().unwrap();
    let foot = page.lines().find(|line| line.starts_with("<tfoot>")).unwrap();
    assert!(picture.contains("smaller") && foot.contains("smaller"), "{picture}{foot}");
    assert!(foot.contains(&format!("<td>{rest}<td>")), "{picture}{foot}");
}

/// No name is anything but text.
#[test]
fn names_are_text() {
    let mut fixture = Fixture::new();
    for (i, name) in HOSTILE.iter().enumerate() {
        fixture = fixture.file(raw(&[b"top/", *name, b"<", &[b'a' + i as u8]].concat()), 5_000);
    }
    for (i, name) in
        ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'`&amp;", "]]>"]
            .iter()
            .enumerate()
    {
        fixture = fixture.file(format!("top/{i}{}", name.replace('/', "\u{2215}")), 5_000);
    }
    let page = weigh("--as html top").within(fixture.path()).run().text();
    let said = weigh("-j top").within(fixture.path()).run().document();
    let names: Vec<_> = said.by_path().into_keys().collect();
    assert_eq!(by_path(&page).into_keys().collect::<Vec<_>>(), names);
    let empty = Fixture::new().file("top/f", 5_000);
    let plain = weigh("--as html top").within(empty.path()).run().text();
    for tag in ["<script", "<img", "<style", "onerror=\"", " on"] {
        let outside = |page: &str| {
            let (before, rest) = page.split_once("<style>").unwrap();
            let (_, rest) = rest.split_once("</style>").unwrap();
            let (middle, _) = rest.split_once("<script>").unwrap();
            [before, middle].concat().matches(tag).count()
        };
        if tag != " on" {
            assert_eq!(outside(&page), outside(&plain), "{tag}");
        }
    }
    let svg = weigh("--as svg top").within(fixture.path()).run().text();
    assert!(!svg.contains("<script") && !svg.contains("<img"));
}

/// XML 1.0 has no way to write some characters, and HTML forbids those and some more.
#[test]
fn every_character_of_a_name_may_be_in_xml() {
    let all = ('\u{1}'..='\u{ffff}').chain('\u{10fff0}'..=char::MAX);
    let all: Vec<char> = all.filter(|c| !matches!(c, '/' | '.')).collect();
    let mut fixture = Fixture::new();
    for (i, some) in all.chunks(60).enumerate() {
        let name: String = some.iter().collect();
        fixture = fixture.file(format!("top/{i:04}{name}"), 5_000);
    }
    let shown =
        |form: &str| weigh(&format!("--as {form} -n 9999 top")).within(fixture.path()).run().text();
    let (page, svg) = (shown("html"), shown("svg"));
    // Section 2.2 of XML 1.0, and of Unicode section 23.7.
    let is_allowed = |c| matches!(c, '\n' | ' '..='\u{fffd}' | '\u{10000}'..);
    let is_character =
        |c| u32::from(c) & 0xfffe != 0xfffe && !('\u{fdd0}'..='\u{fdef}').contains(&c);
    for text in [&page, &svg] {
        let refused = text.chars().find(|c| !is_allowed(*c) || !is_character(*c));
        assert_eq!(refused, None);
    }
    assert!(svg.contains(r"\u{fffe}") && svg.contains(r"\u{10ffff}"));
    std::fs::write(fixture.at("map.svg"), &svg).unwrap();
    let parse = "import xml.etree.ElementTree as tree, sys; tree.parse(sys.argv[1])";
    let parsed = Command::new("python3").args(["-c", parse]).arg(fixture.at("map.svg")).output();
    let parsed = parsed.unwrap();
    assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
    let said = weigh("-j top").within(fixture.path()).run().document();
    assert!(by_path(&page).into_keys().eq(said.by_path().into_keys()));
}

/// 20,000 files with names of 200 characters.
#[test]
fn a_page_stays_below_a_megabyte() {
    let mut fixture = Fixture::in_memory();
    for i in 0..8_000 {
        fixture = fixture.file(format!("top/{}/{i:04}{}", i % 50, "n".repeat(200)), 1 + i % 9_000);
    }
    let page = weigh("--as html top").within(fixture.path()).run().text();
    assert!((500_000..=1_000_000).contains(&page.len()), "{}", page.len());
    // What is asked for is all there.
    let page = weigh("--as html -n 6000 top").within(fixture.path()).run().text();
    assert_eq!(rows(&page).len(), 6001);
}

#[test]
fn what_changed_is_shown() {
    let fixture = drawn();
    weigh("-s --save before top").within(fixture.path()).run().clean();
    let fixture = fixture.file("top/new", 30_000);
    std::fs::remove_file(fixture.at("top/big")).unwrap();
    let page = weigh("diff -s --as html --since before top").within(fixture.path()).run().text();
    let rows = by_path(&page);
    assert_eq!(rows[&b"new"[..]].cells[..2], ["30000", "30000"]);
    assert_eq!(rows[&b"big"[..]].cells[..2], ["0", "-70000"]);
    assert!(page.contains("<span> (gone)</span>") && page.contains("<span> (new)</span>"));
    assert!(
        page.contains("class=\"c2 ") && page.contains("class=\"c0 "),
        "what grew, and what shrank"
    );
    assert!(page.contains("<main class=\"map by-growth\">") && page.contains("value=\"kind\""));
    assert!(page.contains(" since ") && !page.contains("since the snapshot"), "{page}");
    assert!(!page.contains(" since 20"), "a day has its name: {page}");
    let list = "<h2>Files that changed most</h2><ol><li><b>-68.4Ki</b> top/big<li>";
    assert!(page.contains(list), "{page}");
    // As from a snapshot.
    weigh("-s --save after top").within(fixture.path()).run().clean();
    let loaded =
        weigh("diff -s --as html --since before --from after").within(fixture.path()).run().text();
    assert_eq!(
        by_path(&loaded).into_keys().collect::<Vec<_>>(),
        rows.into_keys().collect::<Vec<_>>()
    );
}

/// Times come from a walk or from what `--save` wrote. What `--as ncdu` prints has none.
#[test]
fn colours_say_kind_and_age_where_they_are_known() {
    let old = 1_000_000_000;
    let fixture = drawn().file("top/a.RS", 20_000).modified("top/a.RS", old);
    weigh("-s --save saved top").within(fixture.path()).run().clean();
    let ncdu = weigh("-s --as ncdu top").within(fixture.path()).run().clean();
    std::fs::write(fixture.at("printed"), ncdu).unwrap();
    let page = |flags: &str| weigh(&format!("-s {flags}")).within(fixture.path()).run().text();
    for flags in ["--as html top", "--as html --from saved"] {
        let page = page(flags);
        assert!(page.contains("<main class=\"map by-kind\">"), "{flags}");
        // A source that is 5 years old or more.
        assert!(page.contains("<path class=\"k1 a8\""), "{flags}");
        assert!(page.contains("value=\"age\"") && page.contains(">5 years or more<"), "{flags}");
        let row = &by_path(&page)[&b"a.RS"[..]];
        assert_eq!(row.cells[3..], ["2001-09-09", "source"], "{flags}");
        assert!(!page.contains("value=\"growth\""), "{flags}");
    }
    let without = page("--as html --from printed");
    assert!(without.contains("value=\"kind\"") && !without.contains("value=\"age\""));
    assert!(without.contains("<path class=\"k1\"") && !without.contains(">Modified<"));
    // Where there are only directories, only their age says something.
    let directories = page("--as html -D top");
    assert!(directories.contains("by-age") && !directories.contains("value=\"kind\""));
    let svg = page("--as svg top");
    assert!(svg.contains("class=\"map by-kind\"") && svg.contains(">source</text>"), "{svg}");
}

/// The script finds the shape of a row by its number.
#[test]
fn every_row_has_a_shape() {
    let fixture = drawn().file("top/x/y/z/f", 500_000).file("top/empty/f", 0);
    for flags in ["", "-n 3", "-F", "--by size"] {
        let page = weigh(&format!("--as html {flags} top")).within(fixture.path()).run().text();
        let (_, map) = page.split_once("</defs><g>").unwrap();
        let (map, _) = map.split_once("</g>").unwrap();
        assert_eq!(map.matches("<path ").count(), rows(&page).len(), "{flags}");
    }
}

/// The paths in the list of the largest `what`.
fn listed(page: &str, what: &str) -> Vec<String> {
    let (_, list) = page.split_once(&format!("<section class={what}>")).unwrap_or_default();
    let (list, _) = list.split_once("</ol>").unwrap_or_default();
    let paths = list.split("</b> ").skip(1);
    paths.map(|item| item.split('<').next().unwrap().to_owned()).collect()
}

/// A chain of directories would be a list of the same size.
#[test]
fn the_largest_directories_are_listed() {
    let fixture = Fixture::new().file("top/a/b/c/f", 8_000_000).file("top/a/b/g", 1_000_000);
    let fixture = fixture.file("top/d/e/f", 790_000).file("top/d/g", 210_000).file("top/x/f", 100);
    let page = |flags: &str| {
        weigh(&format!("-s --as html {flags} top")).within(fixture.path()).run().text()
    };
    // All of `a` is in `b`, and 89 % of `b` in `c`, but only 79 % of `d` in `e`.
    let expected = ["top/a/b/c", "top/d", "top/d/e", "top/x"];
    assert_eq!(listed(&page(""), "directories"), expected);
    assert_eq!(listed(&page("-D"), "directories"), expected);
    assert!(page("").contains("<h2>Largest directories</h2>"));
    for flags in ["-F", "--by size", "-d 0"] {
        assert!(listed(&page(flags), "directories").is_empty(), "{flags}");
    }
    let roots = weigh("-s --as html top/a top/d").within(fixture.path()).run().text();
    let expected = ["top/a/b/c", "top/d", "top/d/e"];
    assert_eq!(listed(&roots, "directories"), expected);
}

/// The area of each row of a map, by its path below the root.
fn areas(page: &str) -> BTreeMap<Vec<u8>, f64> {
    let (_, map) = page.split_once("</defs><g>").unwrap();
    let shapes = map.split("</g>").next().unwrap().split("<path ").skip(1);
    let area = |shape: &str| {
        let (_, sides) = shape.split_once('h')?;
        let (width, sides) = sides.split_once('v')?;
        Some(width.parse::<f64>().ok()? * sides.split_once('h')?.0.parse::<f64>().ok()?)
    };
    let rows = rows(page);
    let (mut above, mut all): (Vec<Vec<u8>>, _) = (Vec::new(), BTreeMap::new());
    for (row, shape) in rows.into_iter().zip(shapes) {
        above.truncate(row.depth);
        above.push(row.name);
        all.extend(area(shape).map(|area| (above[1..].join(&b'/'), area)));
    }
    all
}

/// Each frame took a part of all that was in it: a file 20 directories down had a third of its area.
#[test]
fn frames_take_little_of_the_area() {
    const WHOLE: f64 = 1200.0 * 800.0;
    let way =
        |levels| (0..levels).fold("top/".to_owned(), |way, level| way + &format!("d{level}/"));
    let alone = Fixture::new().file(way(20) + "deep", 10_000_000).file("top/other", 10_000_000);
    // Beside each directory, there is one more file.
    let mut beside = Fixture::new().file(way(20) + "deep", 10_000_000).file("top/other", 8_000_000);
    for level in 1..=20 {
        beside = beside.file(way(level) + "beside", 100_000);
    }
    for fixture in [alone, beside] {
        let page = weigh("-s --as html top").within(fixture.path()).run().text();
        let areas = areas(&page);
        let file = way(20).replacen("top/", "", 1) + "deep";
        let area = areas[file.as_bytes()];
        assert!(area >= 0.45 * WHOLE, "{}", area / WHOLE);
    }
}

#[test]
fn files_of_the_same_size_have_the_same_area_at_any_depth() {
    let mut fixture = Fixture::new();
    for depth in 0..12 {
        for number in 0..4 {
            let way: String = (0..depth).map(|level| format!("d{level}/")).collect();
            fixture = fixture.file(format!("top/{way}f{number}"), 1_000_000);
            fixture = fixture.file(format!("top/{way}e{depth}/f{number}"), 1_000_000);
        }
    }
    let page = weigh("-s --as html top").within(fixture.path()).run().text();
    let mut areas = areas(&page);
    areas.retain(|path, _| path.rsplit(|byte| *byte == b'/').next().unwrap().starts_with(b"f"));
    let (least, most) = areas
        .values()
        .fold((f64::MAX, 0.0_f64), |(least, most), area| (least.min(*area), most.max(*area)));
    assert_eq!(areas.len(), 96);
    assert!(most <= 1.15 * least, "{least} {most}");
}

#[test]
fn the_largest_files_are_listed() {
    let mut fixture = drawn();
    for i in 1..=12 {
        fixture = fixture.file(format!("top/{}/{i}", i % 3), i * 100_000);
    }
    let listed = |flags: &str| {
        let page = weigh(&format!("-s --as html {flags} top")).within(fixture.path()).run().text();
        listed(&page, "files")
    };
    let expected: Vec<_> = (3..=12).rev().map(|i| format!("top/{}/{i}", i % 3)).collect();
    assert_eq!(listed(""), expected);
    assert_eq!(listed("-F"), expected);
    assert!(listed("-D").is_empty() && listed("--by size").is_empty());
}

#[test]
fn a_chain_of_directories_is_drawn_as_one() {
    let fixture = Fixture::new().file("top/a/b/c/f", 3_000_000).file("top/d/e", 2_000_000);
    let fixture = fixture.file("top/d/f/g", 1_000_000);
    for form in ["html", "svg"] {
        let page = weigh(&format!("-s --as {form} top")).within(fixture.path()).run().text();
        assert!(page.contains(">a/b/c <tspan>2.86Mi</tspan>") && !page.contains(">b <"), "{page}");
        assert!(page.contains(">d <tspan>2.86Mi"), "{page}");
    }
}

/// A page of a snapshot may be about another machine.
#[test]
fn a_page_says_which_host_its_snapshot_is_of() {
    let fixture = drawn();
    weigh("--save saved.weigh top").within(fixture.path()).run();
    crate::saved::change(&fixture.at("saved.weigh"), |header| header["host"] = "<other>\n".into());
    let said = |flags: &str| {
        let page = weigh(&format!("--as html {flags}")).within(fixture.path()).run().text();
        page.lines().find(|line| line.contains("Made by weigh ")).unwrap().to_owned()
    };
    let saved = said("--from saved.weigh");
    assert!(saved.starts_with(r"<p>On &lt;other&gt;\n, "), "{saved}");
    assert!(!said("top").contains("&lt;"), "{}", said("top"));
}

/// Who gets a page does not know the directory in which it was made.
#[test]
fn a_page_says_where_and_when() {
    let fixture = drawn().file("second/f", 1).file("third/f", 1).file("4/f", 1);
    let here = fixture.path().canonicalize().unwrap();
    let here = here.to_str().unwrap();
    let [host, date] = [&["uname", "-n"][..], &["date", "-u", "+%A, %-d %B %Y, "]].map(|words| {
        let said = Command::new(words[0]).args(&words[1..]).env("LC_ALL", "C").output().unwrap();
        String::from_utf8(said.stdout).unwrap().trim_end_matches('\n').to_owned()
    });
    weigh("--save saved.weigh top second").within(fixture.path()).run();
    for (flags, heading) in [
        ("top", format!("{here}/top")),
        ("-D top/../top", format!("{here}/top")),
        ("-F top second", format!("{here}/top and {here}/second")),
        ("--from saved.weigh", format!("{here}/top and {here}/second")),
        ("top second third", format!("{here}/top, {here}/second and {here}/third")),
        ("top second third 4", "4 paths".to_owned()),
    ] {
        let page = weigh(&format!("--as html {flags}")).within(fixture.path()).run().text();
        assert!(page.contains(&format!("<h1>{heading}</h1>\n<p>On {host}, {date}")), "{page}");
        let svg = weigh(&format!("--as svg {flags}")).within(fixture.path()).run().text();
        let (_, title) = svg.split_once("<title id=\"title\">").unwrap();
        let (title, _) = title.split_once("</title>").unwrap();
        assert!(title.starts_with(&format!("{heading}: ")), "{title}");
        assert!(title.contains(&format!(". On {host}, {date}")), "{title}");
    }
    let page = weigh("--as html --time-style iso top").within(fixture.path()).run().text();
    assert!(page.contains(&format!("<p>On {host}, 2")), "{page}");
}

/// Every class of a shape has a line, and no other.
#[test]
fn everything_in_the_map_is_in_the_legend() {
    let fixture = drawn().file("top/a.rs", 9_000).file("top/x/y/f", 500_000);
    for flags in ["", "-n 6", "-D", "-d 1", "-F", "--by size"] {
        let made = |form: &str| {
            weigh(&format!("-s --as {form} {flags} top")).within(fixture.path()).run().text()
        };
        let page = made("html");
        let (key, map) = page.split_once("</defs><g>").unwrap();
        let (map, _) = map.split_once("</g>").unwrap();
        assert_eq!(key.contains("\"dir key\""), map.contains("<path class=\"dir\""), "{flags}");
        for class in ["k", "a", "g"].iter().flat_map(|it| (0..8).map(move |i| format!("{it}{i}"))) {
            let classes = map.split("<path class=\"").map(|it| it.split('"').next().unwrap());
            let is_used = classes.skip(1).any(|it| it.split(' ').any(|it| it == class));
            let is_named = key.contains(&format!("<path class=\"{class}\""));
            assert_eq!(is_named, is_used, "{flags} {class}");
        }
        // The directories that are hatched have no entries of their own in the map.
        let is_hatched = map.contains("<path class=\"k8") || flags == "-n 6";
        assert_eq!(key.contains("<path class=\"rest\""), is_hatched, "{flags}");
        assert_eq!(
            made("svg").contains(">directory</text>"),
            key.contains(">directory<"),
            "{flags}"
        );
    }
}

/// The paths in it, which are what most of it is, did not count, and then without the escapes in them.
#[test]
fn a_map_alone_is_as_small_as_a_page() {
    let fixture = Fixture::new();
    for letter in ["d", "&"] {
        let way = format!("{}/", letter.repeat(99)).repeat(4);
        let list: String = (0..5_000).map(|number| format!("1 {way}{number}\n")).collect();
        fs::write(fixture.at("list"), list).unwrap();
        let [all, map] = ["-n 9999 ", ""].map(|flags| {
            let flags = format!("{flags}--from list --as svg");
            weigh(&flags).within(fixture.path()).run().text().len()
        });
        assert!(all > 2_000_000 && (500_000..1_000_000).contains(&map), "{letter}: {all} {map}");
    }
}

#[test]
fn groups_have_colours() {
    let fixture = drawn();
    let page = weigh("--as html --by size top").within(fixture.path()).run().text();
    assert!(page.contains("class=\"g0\"") && page.contains("class=\"g1\""), "{page}");
    assert!(page.contains("<td>group"));
}

#[test]
fn a_page_is_not_written_to_a_terminal() {
    let fixture = drawn();
    for form in ["html", "svg"] {
        let terminal = Terminal::new();
        let shown =
            weigh(&format!("--as {form} top")).within(fixture.path()).stdout(terminal.line()).run();
        assert_eq!(shown.code(), 2);
        assert!(shown.complaint().contains("redirect it: weigh --as "), "{}", shown.complaint());
    }
    let shown = weigh("--as svg top")
        .within(fixture.path())
        .stdout(File::create(fixture.at("map")).unwrap())
        .run();
    assert_eq!(shown.code(), 0);
}

#[test]
fn what_could_not_be_read_is_said() {
    let fixture = drawn().unreadable("top/a");
    let shown = weigh("--as html top").within(fixture.path()).by_nobody(&fixture).run();
    assert_eq!(shown.code(), 1);
    let page = String::from_utf8(shown.stdout).unwrap();
    assert!(page.contains("marked with ≥") && page.contains("at least "), "{page}");
    assert!(rows(&page)[0].name == b"top" && page.contains(">≥"));
}

#[test]
fn deep_and_empty_trees_have_pages() {
    let fixture = Fixture::new().chain("deep", 700, 100).dir("nothing").file("one", 10);
    for root in ["deep", "nothing", "one", "nothing one"] {
        for form in ["html", "svg"] {
            let page = weigh(&format!("--as {form} {root}")).within(fixture.path()).run().text();
            assert!(!page.contains("NaN") && !page.contains("inf"), "{root}");
            assert!(!page.contains("(total)/"), "{root}");
        }
    }
    let page = weigh("--as html nothing one").within(fixture.path()).run().text();
    assert_eq!(rows(&page)[0].name, b"(total)");
}
