//! What a person sees in a picture: bars whatever names there are, a line for each root, a hint at what is hidden,
//! and nothing that misleads.

use std::process::Command;

use crate::fixture::Fixture;
use crate::oracle::{self, Eyes};
use crate::picture::{cells, lines, rest};
use crate::run::weigh;

fn shown(fixture: &Fixture, flags: &str) -> String {
    weigh(flags).within(fixture.path()).run().text()
}

/// The line about `name`.
fn line<'t>(text: &'t str, name: &str) -> &'t str {
    text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("no {name} in\n{text}"))
}

/// How many cells of its bar are solid.
fn solid(line: &str) -> usize {
    line.chars().filter(|c| ('█'..='▏').contains(c)).count()
}

/// Of a file that is most of its directory and a small one beside it, once the small one was shown, by its name.
#[test]
fn no_entry_hides_behind_a_smaller_one_beside_it() {
    let fixture = Fixture::in_memory()
        .sparse("top/data/a", 5_000_000)
        .sparse("top/data/z", 45_000_000)
        .sparse("top/other", 40_000_000);
    let text = shown(&fixture, "-s -n 3 top");
    assert!(text.contains("── z") && !text.contains("── a"), "{text}");
}

#[test]
fn a_long_name_costs_no_bar() {
    let long = "deb.debian.org_debian_dists_bookworm_main_binary-";
    let fixture = Fixture::in_memory()
        .sparse(format!("top/{long}amd64.yml"), 70_000)
        .sparse(format!("top/{long}arm64.yml"), 20_000)
        .sparse(format!("top/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/{long}s390x.yml"), 10_000);
    for width in [60, 80, 120, 200] {
        for look in ["", "-B", "-r"] {
            let text = shown(&fixture, &format!("-s -c -n 40 -w {width} {look} top"));
            for line in text.lines() {
                assert!(line.ends_with('%'), "{text}");
                assert_eq!(cells(line), width, "{text}");
                // Size, blank, tree and name, bar, percentage.
                let is_of_bar = |c: char| "0123456789%< █▉▊▋▌▍▎▏▐▕░".contains(c);
                let before_bar = line.trim_end_matches(is_of_bar);
                let size = 1 + before_bar.trim_start().find(' ').unwrap();
                let indent = before_bar.len() - before_bar.trim_start().len();
                let names = cells(before_bar) - size - indent;
                let most = (width * 45 / 100).max(width - width / 4 - 12);
                assert!(names <= most, "{names} of {width}\n{text}");
            }
            assert!(text.contains("amd64.yml") && text.contains("arm64.yml"), "{text}");
            assert!(solid(line(&text, "amd64.yml")) > solid(line(&text, "arm64.yml")), "{text}");
        }
    }
    let text = shown(&fixture, "-s -c -n 40 -w 80 top");
    assert!(text.contains("deb.debian") && text.contains('…'), "{text}");
}

/// A name without room was a pair of colours around nothing, after two blanks.
#[test]
fn a_narrow_line_ends_in_no_blanks() {
    let fixture = Fixture::in_memory().dir("top/d").file("top/f", 5000);
    for width in 1..8 {
        let text = shown(&fixture, &format!("-C -w {width} top"));
        assert!(!text.contains("m\x1b[0m"), "{text:?}");
    }
}

#[test]
fn a_little_is_less_than_one_percent_and_has_no_bar() {
    let fixture = Fixture::in_memory()
        .sparse("top/all", 1_000_000)
        .sparse("top/little", 10)
        .sparse("top/nothing", 0);
    let text = shown(&fixture, "-s -c -w 80 top");
    assert!(line(&text, "nothing").ends_with("   0%"), "{text}");
    assert_eq!(solid(line(&text, "nothing")), 0, "{text}");
    assert!(line(&text, "little").ends_with("  <1%"), "{text}");
    // The smallest one would be a hundred times as much.
    assert_eq!(solid(line(&text, "little")), 0, "{text}");
    assert!(shown(&fixture, "-s -c -R top").contains("<1%"));
}

/// If a cell is more than a tenth of the whole, bars for 12% and 36% look alike.
#[test]
fn a_bar_of_few_cells_is_left_out_and_the_percentage_stays() {
    let fixture = Fixture::in_memory()
        .sparse("top/a-name-of-medium-length.flac", 36)
        .sparse("top/another-of-such-a-length.flac", 12)
        .sparse("top/the-third-of-that-length.flac", 52);
    let text = shown(&fixture, "-s -c -w 36 top");
    assert_eq!(solid(&text), 0, "{text}");
    for percent in ["12%", "36%", "52%", "100%"] {
        assert!(text.lines().any(|line| line.ends_with(percent)), "{text}");
    }
    assert!(text.lines().all(|line| cells(line) <= 36), "{text}");
    // Short names leave room for a bar.
    let fixture = Fixture::in_memory().sparse("top/a", 36).sparse("top/b", 12);
    assert!(shown(&fixture, "-s -c -w 40 top").contains('█'));
}

/// Once, 10.9 MiB was `10Mi`, and 28.6 MiB `28Mi`.
#[test]
fn sizes_are_rounded_to_three_digits() {
    let sizes = [("a", 11_429_478), ("b", 30_000_000), ("c", 1000), ("d", 1_023_488), ("e", 4096)];
    let fixture = sizes.iter().fold(Fixture::in_memory(), |fixture, (name, size)| {
        fixture.sparse(format!("top/{name}"), *size)
    });
    for (flags, expected) in [
        ("", "0.98Ki 4.00Ki 0.98Mi 10.9Mi 28.6Mi 40.5Mi"),
        ("-o si", "1.00K 4.10K 1.02M 11.4M 30.0M 42.5M"),
        ("-o k", "0.98Ki 4.00Ki 1000Ki 11162Ki 29297Ki 41463Ki"),
        ("-o gb", "0.00G 0.00G 0.00G 0.01G 0.03G 0.04G"),
        ("-o b", "1000B 4096B 1023488B 11429478B 30000000B 42458062B"),
    ] {
        let text = shown(&fixture, &format!("-s -c -b {flags} top"));
        let sizes: Vec<_> =
            text.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(sizes.join(" "), expected, "{text}");
    }
}

#[test]
fn one_unit_has_as_many_decimals_as_fit() {
    let fixture =
        Fixture::in_memory().sparse("top/a", 7_852_056_576).sparse("top/b", 12_600_000_000);
    let text = shown(&fixture, "-s -c -b -o gb top");
    let sizes: Vec<_> = text.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(sizes, ["7.85G", "12.6G", "20.5G"], "{text}");
    let bytes = shown(&fixture, "-s -c -b -o b top");
    assert!(bytes.starts_with(" 7852056576B"), "{bytes}");
}

#[test]
fn the_order_of_counts_shows_counts() {
    let fixture = (0..1100).fold(Fixture::in_memory().sparse("top/big", 5000), |fixture, i| {
        fixture.sparse(format!("top/many/{i}"), 1)
    });
    let text = shown(&fixture, "-s -c -b -d 1 --sort count top");
    let count = |name| line(&text, name).split_whitespace().nth(1).unwrap().to_owned();
    let find = |path: &str| {
        let output = Command::new("find").arg(fixture.at(path)).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    let plain = |count: String| count.replace(',', "").parse::<usize>().unwrap();
    assert_eq!(count("many"), "1,101");
    assert_eq!(plain(count("many")), find("top/many"));
    assert_eq!(plain(count("big")), 1);
    assert_eq!(plain(count("top")), find("top"));
    assert!(!shown(&fixture, "-s -c -b -d 1 top").contains("1,101"));
}

#[test]
fn files_have_paths_and_bars_on_the_scale_of_the_total() {
    let mut fixture = Fixture::in_memory()
        .sparse("top/one/library/modules", 400)
        .sparse("top/two/library/modules", 200);
    for i in 0..60 {
        fixture = fixture.sparse(format!("top/rest/{i}"), 100);
    }
    let text = shown(&fixture, "-s -c -F -n 2 -w 80 top");
    let (one, two) = (line(&text, " one/library/modules"), line(&text, " two/library/modules"));
    // The root has all of the bar. What sums up the rest has none.
    let whole = solid(text.lines().last().unwrap());
    assert!(whole >= 35 && text.lines().last().unwrap().ends_with("█ 100%"), "{text}");
    assert!(solid(one).abs_diff(whole * 6 / 100) <= 1, "{text}");
    assert!(solid(two).abs_diff(whole * 3 / 100) <= 1, "{text}");
    assert!(one.ends_with("   6%") && two.ends_with("   3%"), "{text}");
    assert_eq!(solid(text.lines().next().unwrap()), 0, "{text}");
    let deep = Fixture::in_memory().sparse(format!("top/{}end.iso", "directory/".repeat(12)), 9);
    let text = shown(&deep, "-s -c -F -w 80 top");
    assert!(text.contains(&format!(" {}end.iso ", "directory/".repeat(12))), "{text}");
}

#[test]
fn ages_and_sizes_stand_in_their_own_order() {
    const DAY: i64 = 86_400;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    let mut fixture = Fixture::in_memory();
    for (i, (days, size)) in [(2, 500), (20, 9_000), (60, 70), (400, 80_000)].iter().enumerate() {
        let name = format!("top/{i}");
        fixture = fixture.sparse(&name, *size).modified(&name, now - days * DAY);
    }
    let names = |flags: &str| {
        let text = shown(&fixture, &format!("-s -c -b -o b {flags} top"));
        lines(&text)
            .into_iter()
            .map(|line| line.name)
            .filter(|name| name != "top")
            .collect::<Vec<_>>()
    };
    let ages = ["under 1 day", "1 to 7 days", "7 to 30 days", "30 to 90 days", "1 to 2 years"];
    assert_eq!(names("--by age"), ages);
    assert_eq!(names("--by age -r"), ages, "names are read from top to bottom");
    let by_size = ["under 1 day", "30 to 90 days", "1 to 7 days", "7 to 30 days", "1 to 2 years"];
    assert_eq!(names("--by age --sort size"), by_size);
    assert_eq!(names("--by age -n 2"), ["7 to 30 days", "1 to 2 years", "(others)"]);
    assert_eq!(names("--by size"), ["up to 4 KiB", "up to 64 KiB", "up to 1 MiB", "(directories)"]);
    // Types have no order of their own.
    assert_eq!(names("-t"), ["(directories)", "(no extension)"]);
}

/// In a comparison, red is what grew, green what shrank, and nothing else has a colour of its own.
#[test]
fn a_colour_has_one_meaning() {
    let fixture = Fixture::in_memory()
        .sparse("top/shrinks/most", 90_000)
        .sparse("top/grows", 1_000)
        .sparse("top/stays", 5_000);
    shown(&fixture, "-s --save before.weigh top");
    let plain = shown(&fixture, "-s -C top");
    assert!(line(&plain, "most").starts_with("\x1b[1m"), "{plain:?}");
    let fixture = fixture.sparse("top/shrinks/most", 10).sparse("top/grows", 30_000);
    let text = shown(&fixture, "diff -s -C --since before.weigh top");
    for (name, sign, colour, other) in [("grows", '+', "31m", "32m"), ("most", '-', "32m", "31m")] {
        let line = line(&text, name);
        assert!(line.contains(sign) && line.contains(colour) && !line.contains(other), "{line:?}");
    }
    assert!(line(&text, "most").starts_with("\x1b[32m"), "{text:?}");
}

/// Lines without any other below them, and what is hidden, come to the whole: by `find`.
#[test]
fn what_is_hidden_is_one_line() {
    let mut fixture = Fixture::in_memory().sparse("top/large/file", 50_000).sparse("top/b", 40_000);
    for i in 0..30 {
        fixture = fixture.sparse(format!("top/large/{i}"), 100).sparse(format!("top/{i}"), 10);
    }
    let text = shown(&fixture, "-s -c -b -o b -n 3 top");
    let hidden = rest(&text).unwrap();
    assert_eq!((hidden.count, hidden.size, hidden.is_at_least), (60, 3_300, false), "{text}");
    let with_bars = shown(&fixture, "-s -c -w 80 -n 3 top");
    let first = with_bars.lines().next().unwrap();
    assert!(
        first.contains(" 60 smaller entries")
            && first.contains("3.22Ki")
            && first.ends_with("   4%"),
        "{with_bars}"
    );
    // Last from the root on, and never a line of the tree.
    assert!(!first.contains("──"), "{with_bars}");
    assert!(
        shown(&fixture, "-s -c -r -n 3 top").lines().last().unwrap().contains("60 smaller entries")
    );
    assert!(shown(&fixture, "-s -c -R -n 3 top").contains("60 smaller entries"));
    // What is in a directory that is shown without what is in it has its line.
    assert_eq!(rest(&shown(&fixture, "-s -c -b -o b -d 1 top")), None);
    assert_eq!(rest(&shown(&fixture, "-s -c -b -o b -n 0 top")), None);
    assert_eq!(rest(&shown(&fixture, "-s -c -b -o b -n 100 top")), None);
    // Where nothing is large enough, everything is hidden.
    let hidden = rest(&shown(&fixture, "-s -c -b -o b -z 1M top")).unwrap();
    assert_eq!((hidden.count, hidden.size), (63, 93_300));
    // Of one kind alone, what has no line may be larger.
    let directories = shown(&fixture, "-s -c -b -o b -D top");
    assert!(directories.lines().next().unwrap().ends_with("31 other entries"), "{directories}");
    assert_eq!(rest(&directories).unwrap().size, 40_300);
    let files = Fixture::in_memory().file("top/a", 9000).file("top/b", 5000);
    let files = shown(&files, "-s -c -b -F -n 1 top");
    assert!(files.lines().next().unwrap().ends_with(" 1 other entry"), "{files}");
    assert!(shown(&fixture, "-m m -c -n 3 top").contains("60 older"));
    for form in ["-j -n 3", "--as csv -n 3"] {
        assert!(!shown(&fixture, &format!("-s {form} top")).contains("smaller"), "{form}");
    }
}

/// Two directories that share an inode both count it, so what is left is not known exactly.
#[test]
fn what_is_hidden_beside_shared_links_is_a_lower_bound() {
    let mut fixture =
        Fixture::in_memory().sparse("top/a/f", 10_000).hard_link("top/a/f", "top/b/f");
    for i in 0..9 {
        fixture = fixture.sparse(format!("top/{i}"), 5_000);
    }
    let text = shown(&fixture, "-s -c -b -o b -n 2 -D top");
    let hidden = rest(&text).unwrap();
    assert_eq!((hidden.count, hidden.size, hidden.is_at_least), (8, 35_000, true), "{text}");
    assert!(hidden.size <= 45_000);
    let each = rest(&shown(&fixture, "-s -l -c -b -o b -n 2 -D top")).unwrap();
    assert_eq!((each.count, each.size, each.is_at_least), (9, 45_000, false));
}

#[test]
fn what_is_hidden_is_counted_also_where_directories_do_not_count() {
    let mut fixture = Fixture::in_memory();
    for i in 0..30 {
        fixture =
            fixture.sparse(format!("top/a/b/{i}.py"), 100 + i).sparse(format!("top/a/{i}.c"), 7);
    }
    let text = shown(&fixture, "-s -c -b -o b -n 12 -e \\.py$ top");
    let hidden = rest(&text).unwrap();
    assert_eq!((hidden.count, hidden.size), (19, (0..19).map(|i| 100 + i).sum()), "{text}");
    shown(&fixture, "-s --save top.weigh top");
    assert_eq!(shown(&fixture, "-c -b -o b -n 12 -e \\.py$ --from top.weigh"), text);
}

#[test]
fn changes_that_are_hidden_are_one_line_too() {
    let grow = |mut fixture: Fixture, by: u64| {
        for i in 0..20 {
            fixture = fixture.sparse(format!("top/{i}"), 1_000 + i * by);
        }
        fixture
    };
    let fixture = grow(Fixture::in_memory().sparse("top/same", 5), 0);
    shown(&fixture, "-s --save before.weigh top");
    let fixture = grow(fixture, 10);
    let text = shown(&fixture, "diff -s -c -w 80 -n 4 --since before.weigh top");
    let first = text.lines().nth(1).unwrap();
    assert!(first.starts_with("+1.17Ki ") && first.ends_with("  smaller changes"), "{text}");
    assert!(!shown(&fixture, "diff -s -c -n 40 --since before.weigh top").contains("smaller"));
}

#[test]
fn depth_and_least_size_show_all_that_they_admit() {
    let mut fixture = Fixture::in_memory();
    for i in 0..60 {
        fixture =
            fixture.sparse(format!("top/dir{i}/f"), 1_000 + i).sparse(format!("top/dir{i}/g"), 5);
    }
    let count = |flags: &str| lines(&shown(&fixture, &format!("-s -c -b -o b {flags} top"))).len();
    assert_eq!(count(""), 21);
    assert_eq!(count("-d 1"), 61);
    assert_eq!(count("-D -z 1000"), 61);
    assert_eq!(count("-z 1000"), 121);
    assert_eq!(count("-d 1 -n 5"), 6);
    assert_eq!(count("-z 1000 -n 5"), 6);
    let hidden = rest(&shown(&fixture, "-s -c -b -o b -z 1000 top")).unwrap();
    assert_eq!((hidden.count, hidden.size), (60, 300));
}

#[test]
fn every_root_that_is_given_has_its_line() {
    let mut fixture = Fixture::in_memory().sparse("root/f", 1).sparse("alone", 0);
    for i in 0..40 {
        fixture = fixture.sparse(format!("var/{i}"), 10_000 + i);
    }
    let names = |flags: &str| {
        let text = shown(&fixture, &format!("-s -c -b -o b {flags}"));
        lines(&text).into_iter().map(|line| line.name).collect::<Vec<_>>()
    };
    let has = |flags: &str, name: &str| names(flags).iter().any(|found| found == name);
    for flags in ["", "-n 14", "-n 1", "-z 10k", "-T 1", "-T 8"] {
        for root in ["root", "var", "alone"] {
            assert!(has(&format!("{flags} root var alone"), root), "{flags} {root}");
        }
    }
    let lines_of_fourteen = names("-n 14 root var alone");
    assert_eq!(lines_of_fourteen.len(), 15, "{lines_of_fourteen:?}");
    assert_eq!(&lines_of_fourteen[14], "(total)");
    // A list may be long: it keeps to the limits.
    let list: String = (0..40).map(|i| format!("var/{i}\n")).collect();
    std::fs::write(fixture.at("list"), list).unwrap();
    assert_eq!(names("-n 5 --files-from list").len(), 6);
    // A snapshot shows what the walk does, and JSON what it did.
    shown(&fixture, "-s --save saved.weigh root var alone");
    assert_eq!(
        shown(&fixture, "-c -b -n 14 --from saved.weigh"),
        shown(&fixture, "-s -c -b -n 14 root var alone")
    );
    assert!(!shown(&fixture, "-s -j -n 3 root var alone").contains("\"root\""));
    shown(&fixture, "-s --save before.weigh root var");
    let changes = shown(&fixture, "diff -s -c --since before.weigh root var");
    assert!(changes.starts_with("root did not change since "), "{changes}");
}

/// `du --time` shows both, and so does `-m`; sizes are those of the same picture without it.
#[test]
fn times_stand_beside_sizes() {
    let fixture = Fixture::new()
        .file("top/dir/old", 5_000)
        .file("top/dir/new", 70_000)
        .hard_link("top/dir/new", "top/again/new")
        .modified("top/dir/old", 86_400)
        .modified("top/dir/new", 172_800)
        .modified("top/dir", 5)
        .modified("top/again", 5)
        .modified("top", 5);
    let du = |flags: &[&str]| {
        let output = Command::new("du")
            .args(["--time", "--time-style=+%s", "-B1"])
            .args(flags)
            .arg("top")
            .current_dir(fixture.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for (mine, theirs) in [("-o b", &["-s"][..]), ("-o b -l", &["-s", "-l"])] {
        let text = shown(&fixture, &format!("-m m --time-style +%s -c {mine} top"));
        let root = text.lines().last().unwrap();
        let (time, size) = {
            let mut words = root.split_whitespace();
            (words.next().unwrap().to_owned(), words.next().unwrap().to_owned())
        };
        let du = du(theirs);
        let expected: Vec<_> = du.split_whitespace().collect();
        assert_eq!([size.trim_end_matches('B'), &time], expected[..2], "{text}");
    }
    for flags in ["", "-s", "-l"] {
        let sizes = shown(&fixture, &format!("-c -b -o b {flags} top"));
        let both = shown(&fixture, &format!("-c -m m -o b {flags} top"));
        for name in ["old", "dir", "again", "top"] {
            let size = line(&sizes, name).split_whitespace().next().unwrap().to_owned();
            let found = line(&both, name).split_whitespace().nth(1).unwrap().to_owned();
            assert_eq!(found, size, "{name}\n{both}");
        }
    }
    // A snapshot with details shows the same.
    shown(&fixture, "--save top.weigh --details top");
    assert_eq!(shown(&fixture, "-c -m m --from top.weigh"), shown(&fixture, "-c -m m top"));
    assert_eq!(shown(&fixture, "-c -m m --save other.weigh top"), shown(&fixture, "-c -m m top"));
}

/// Each line said "frees" with its own size again.
#[test]
fn what_is_freed_in_full_is_said_once() {
    let fixture = Fixture::in_memory().file("top/a", 5_000).file("top/b", 6_000);
    let text = shown(&fixture, "--frees -c -b top");
    assert!(text.starts_with("everything shown frees its full size\n"), "{text}");
    assert_eq!(text.matches("frees").count(), 1, "{text}");
    let fixture = fixture.hard_link("top/a", "elsewhere");
    let text = shown(&fixture, "--frees -c -b top");
    assert!(line(&text, " a").contains(" frees 0B "), "{text}");
    assert!(!line(&text, " b").contains("frees") && !text.contains("everything"), "{text}");
}

/// The hint agrees with what `find` says is left, whatever the tree.
#[test]
fn what_is_hidden_is_what_find_counts() {
    use crate::dice::{Dice, Names};
    for seed in 0..40 {
        let fixture = Dice::new(seed + 9_000_000).tree(Fixture::in_memory(), Names::Tame);
        let root = fixture.at("tree");
        let entries = oracle::find(&root, Eyes::Mine);
        let text = weigh("-l -s -p -c -b -o b -w 900 -n 9").arg(&root).run().text();
        let prefix = root.to_str().unwrap();
        let paths: Vec<String> = lines(&text).into_iter().map(|line| line.name).collect();
        let is_inner =
            |path: &str| paths.iter().any(|other| other.starts_with(&format!("{path}/")));
        let is_hidden = |path: &str| {
            !paths.iter().any(|shown| {
                shown == path || !is_inner(shown) && path.starts_with(&format!("{shown}/"))
            })
        };
        let expected = entries
            .iter()
            .map(|entry| String::from_utf8(entry.path.clone()).unwrap())
            .filter(|path| !path.is_empty() && is_hidden(&format!("{prefix}/{path}")))
            .count() as u64;
        let found = rest(&text).map_or(0, |rest| rest.count);
        assert_eq!(found, expected, "seed {seed}\n{text}");
    }
}
