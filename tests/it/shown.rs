//! What a person sees in a picture: bars whatever names there are, a line for each root, a hint at what is hidden,
//! and nothing that misleads.

use crate::fixture::Fixture;
use crate::picture::{cells, lines};
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
    line.matches('█').count()
}

#[test]
fn a_long_name_costs_no_bar() {
    let long = "deb.debian.org_debian_dists_bookworm_main_binary-";
    let fixture = Fixture::in_memory()
        .sparse(format!("top/{long}amd64.yml"), 70_000)
        .sparse(format!("top/{long}arm64.yml"), 20_000)
        .sparse(format!("top/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/{long}s390x.yml"), 10_000);
    for width in [60, 80, 120, 200] {
        for look in ["", "-B", "-r", "-p"] {
            let text = shown(&fixture, &format!("-s -c -n 40 -w {width} {look} top"));
            for line in text.lines() {
                assert!(line.ends_with('%'), "{text}");
                assert_eq!(cells(line), width, "{text}");
                // Size, blank, tree and name, bar, percentage.
                let before_bar = line.rsplitn(3, '│').last().unwrap();
                let size = 1 + before_bar.trim_start().find(' ').unwrap();
                let indent = before_bar.len() - before_bar.trim_start().len();
                let names = cells(before_bar) - size - indent;
                assert!(names <= width * 45 / 100, "{names} of {width}\n{text}");
            }
            assert!(text.contains("amd64.yml") && text.contains("arm64.yml"), "{text}");
            assert!(solid(line(&text, "amd64.yml")) > solid(line(&text, "arm64.yml")), "{text}");
        }
    }
    let text = shown(&fixture, "-s -c -n 40 -w 80 top");
    assert!(text.contains("deb.debian") && text.contains('…'), "{text}");
}

#[test]
fn nothing_has_no_cell_and_a_little_is_less_than_one_percent() {
    let fixture = Fixture::in_memory()
        .sparse("top/all", 1_000_000)
        .sparse("top/little", 10)
        .sparse("top/nothing", 0);
    let text = shown(&fixture, "-s -c -w 80 top");
    assert!(line(&text, "nothing").ends_with("   0%"), "{text}");
    assert_eq!(solid(line(&text, "nothing")), 0, "{text}");
    assert!(line(&text, "little").ends_with("  <1%"), "{text}");
    assert_eq!(solid(line(&text, "little")), 1, "{text}");
    assert!(shown(&fixture, "-s -c -R top").contains("<1%"));
}

/// Cells of more than a tenth of the whole each make 12% and 36% alike.
#[test]
fn a_bar_that_says_nothing_is_left_out_and_the_percentage_stays() {
    let fixture = Fixture::in_memory()
        .sparse("top/a-name-of-medium-length.flac", 36)
        .sparse("top/another-of-such-a-length.flac", 12)
        .sparse("top/the-third-of-that-length.flac", 52);
    let text = shown(&fixture, "-s -c -w 40 top");
    assert!(!text.contains('█'), "{text}");
    for percent in ["12%", "36%", "52%", "100%"] {
        assert!(text.lines().any(|line| line.ends_with(percent)), "{text}");
    }
    assert!(text.lines().all(|line| cells(line) <= 40), "{text}");
    // Short names leave room for a bar.
    let fixture = Fixture::in_memory().sparse("top/a", 36).sparse("top/b", 12);
    assert!(shown(&fixture, "-s -c -w 40 top").contains('█'));
}

#[test]
fn one_unit_has_a_digit_more_below_ten() {
    let fixture =
        Fixture::in_memory().sparse("top/a", 7_852_056_576).sparse("top/b", 12_600_000_000);
    let text = shown(&fixture, "-s -c -b -o gb top");
    let sizes: Vec<_> = text.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(sizes, ["7.9G", "12G", "20G"], "{text}");
    let bytes = shown(&fixture, "-s -c -b -o b top");
    assert!(bytes.starts_with(" 7852056576B"), "{bytes}");
}

#[test]
fn files_have_paths_and_bars_on_the_scale_of_the_largest() {
    let mut fixture = Fixture::in_memory()
        .sparse("top/one/library/modules", 400)
        .sparse("top/two/library/modules", 200);
    for i in 0..60 {
        fixture = fixture.sparse(format!("top/rest/{i}"), 100);
    }
    let text = shown(&fixture, "-s -c -F -n 2 -w 80 top");
    let (one, two) = (line(&text, " one/library/modules"), line(&text, " two/library/modules"));
    let width = one.rsplit('│').nth(1).unwrap().trim_end().chars().count();
    assert!(solid(one) >= 35 && solid(one) == width, "{text}");
    assert!(solid(two).abs_diff(width / 2) <= 1, "{text}");
    assert!(one.ends_with("   6%") && two.ends_with("   3%"), "{text}");
    // What is not on that scale has no bar.
    assert_eq!(solid(text.lines().last().unwrap()), 0, "{text}");
    let deep = Fixture::in_memory().sparse(format!("top/{}end.iso", "directory/".repeat(12)), 9);
    let text = shown(&deep, "-s -c -F -w 80 top");
    assert!(
        text.contains("directory/") && text.contains('…') && text.contains("/end.iso"),
        "{text}"
    );
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
    assert_eq!(names("--by age -n 3"), ["7 to 30 days", "1 to 2 years", "(others)"]);
    assert_eq!(names("--by size"), ["up to 4 KiB", "up to 64 KiB", "up to 1 MiB", "(directories)"]);
    // Types have no order of their own.
    assert_eq!(names("-t"), ["(directories)", "(no extension)"]);
}

/// Red is what grew, green what shrank, and what is largest is bold.
#[test]
fn a_colour_has_one_meaning() {
    const RED: &str = "\x1b[31m";
    let fixture = Fixture::in_memory()
        .sparse("top/shrinks/most", 90_000)
        .sparse("top/grows", 1_000)
        .sparse("top/stays", 5_000);
    shown(&fixture, "-s --save before.json top");
    let plain = shown(&fixture, "-s -C top");
    assert!(!plain.contains("31m") && !plain.contains("32m"), "{plain:?}");
    assert!(line(&plain, "most").starts_with("\x1b[1m"), "{plain:?}");
    let fixture = fixture.sparse("top/shrinks/most", 10).sparse("top/grows", 30_000);
    let text = shown(&fixture, "-s -C --since before.json top");
    for (name, sign, colour, other) in [("grows", '+', "31m", "32m"), ("most", '-', "32m", "31m")] {
        let line = line(&text, name);
        assert!(line.contains(sign) && line.contains(colour) && !line.contains(other), "{line:?}");
    }
    assert!(line(&text, "most").starts_with("\x1b[1;32m"), "{text:?}");
    assert!(!line(&text, "shrinks").contains(RED), "{text:?}");
}
