//! What became of a tree over time: rates, and the day when its file system is full; and which snapshots of a directory
//! of them are kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use crate::fixture::Fixture;
use crate::picture::cells;
#[cfg(target_os = "linux")]
use crate::run::in_namespace;
use crate::run::{Shown, is_portable, weigh};
use crate::saved;
use crate::snapshots::sizes_alone;

const DAY: i64 = 86_400;
/// 2026-01-01T12:00:00Z, a Thursday.
const START: i64 = 1_767_268_800;

/// Saves what is at `t`, as if it were at that time, on a file system with so much available of 100 GB, and 5 GB more
/// free.
fn save(fixture: &Fixture, name: &str, time: i64, available: i64) {
    weigh("-q -s t --save").arg(name).within(fixture.path()).run().clean();
    saved::change(&fixture.at(name), |header| {
        header["time"] = time.into();
        let on = &mut header["roots"][0]["file_system"];
        on["size"] = 100_000_000_000_u64.into();
        on["free"] = (available + 5_000_000_000).into();
        on["available"] = available.into();
    });
}

/// Thirty days, in which one directory grows by 3 MB a day, one shrinks by 1 MB, and others stay. Two days are missing.
fn thirty() -> (Fixture, Vec<String>) {
    let mut fixture = Fixture::new().dir("t/stays").sparse("t/stays/f", 7_000_000);
    let mut names = Vec::new();
    for day in 0..32 {
        fixture = fixture
            .sparse("t/grows/deep/log", 5_000_000 + 3_000_000 * day)
            .sparse("t/shrinks/f", 90_000_000 - 1_000_000 * day)
            .sparse("t/x", 1);
        if day == 9 || day == 20 {
            continue;
        }
        let (name, day) = (format!("day-{day}.weigh"), day as i64);
        save(&fixture, &name, START + day * DAY, 90_000_000_000 - 400_000_000 * day);
        names.push(name);
    }
    (fixture, names)
}

fn history(flags: &str, place: &Path, names: &[String]) -> Shown {
    weigh(&format!("history {flags}")).within(place).args(names).run()
}

fn json(shown: Shown) -> Value {
    serde_json::from_slice(&shown.stdout).unwrap()
}

fn line<'a>(shown: &'a Value, path: &str) -> &'a Value {
    let all = shown["directories"].as_array().unwrap();
    all.iter().find(|line| line["path"] == path).unwrap_or_else(|| panic!("{path}: {shown}"))
}

fn is_near(number: &Value, expected: f64) -> bool {
    number.as_f64().is_some_and(|number| (number - expected).abs() <= expected.abs() / 100.0)
}

#[test]
fn rates_and_the_day_it_is_full_are_right() {
    let (fixture, mut names) = thirty();
    // In any order.
    names.rotate_left(11);
    let text = history("-j", fixture.path(), &names);
    let shown: Value = text.json();
    assert_eq!(shown["snapshots"].as_array().unwrap().len(), 30);
    for (path, rate, last) in [
        ("t", 2_000_000.0, 7_000_001 + 98_000_000 + 59_000_000),
        ("grows", 3_000_000.0, 98_000_000),
        ("grows/deep", 3_000_000.0, 98_000_000),
        ("shrinks", -1_000_000.0, 59_000_000),
    ] {
        let line = line(&shown, path);
        assert!(is_near(&line["rate"], rate), "{line}");
        let sizes = line["sizes"].as_array().unwrap();
        assert_eq!((sizes.len(), &sizes[29]), (30, &last.into()), "{line}");
    }
    assert_eq!(shown["directories"].as_array().unwrap().len(), 4, "what stays is none of it");
    let file_system = &shown["file_systems"][0];
    assert!(is_near(&file_system["rate"], 400_000_000.0), "{file_system}");
    // 77.6 GB are available on the last day. It counted 82.6 GB, which are free: programs fail 12 days earlier.
    let days = (file_system["full"].as_i64().unwrap() - START - 31 * DAY) as f64 / DAY as f64;
    assert!((days - 194.0).abs() < 1.94, "{days}");
}

/// Also in other words.
#[test]
fn what_is_named_twice_counts_once() {
    let fixture = Fixture::new().file("t/f", 1);
    for (day, name) in
        ["weigh-2026-01-01T120000Z.weigh", "weigh-2026-01-02T120000Z.weigh"].iter().enumerate()
    {
        save(&fixture, name, START + day as i64 * DAY, 0);
    }
    for again in [".", "./", "t/..", "weigh-2026-01-01T120000Z.weigh"] {
        let shown = json(history("-j", fixture.path(), &[".".to_owned(), again.to_owned()]));
        assert_eq!(shown["snapshots"].as_array().unwrap().len(), 2, "{again}: {shown}");
    }
}

/// Snapshots of one second, as a script makes them, stay in the order in which they are given, or were saved.
#[test]
fn of_one_second() {
    let names = ["", "-2", "-10"].map(|number| format!("weigh-2026-01-01T120000Z{number}.weigh"));
    let mut fixture = Fixture::new();
    for (length, name) in (1..).zip(&names) {
        fixture = fixture.sparse("t/f", length);
        save(&fixture, name, START, 0);
    }
    for files in [&names[..], &[".".to_owned()]] {
        let shown = json(history("-s -j", fixture.path(), files));
        assert_eq!(line(&shown, "t")["sizes"], serde_json::json!([1, 2, 3]));
    }
}

/// Numbers of files were written like bytes: `2B`.
#[test]
fn counts_are_not_written_like_bytes() {
    let fixture = Fixture::new().file("t/a", 1).file("t/b", 1);
    weigh("-f t --save 1.weigh").within(fixture.path()).run();
    let picture = history("", fixture.path(), &["1.weigh".into()]).text();
    let line = picture.lines().nth(1).unwrap();
    assert!(line.trim_start().starts_with("2 ") && line.ends_with(" t"), "{picture}");
}

#[test]
fn a_picture_has_a_line_for_each_and_a_date() {
    let (fixture, names) = thirty();
    let run = |flags: &str| {
        let run = weigh(&format!("history {flags}")).within(fixture.path()).env("TZ", "UTC");
        run.args(&names).run().text()
    };
    let picture = run("-o si -w 100");
    // The portable source does not know the type of a file system.
    let kind = match is_portable() {
        true => String::new(),
        false => {
            let after = picture.split_once("file system of t (").unwrap().1;
            format!("{}, ", after.split_once(',').unwrap().0)
        }
    };
    let expected = "t grew by 62.0M in 31 days: 102M → 164M
PLOT  now   a day  30 snapshots from 2026-01-01 to 2026-02-01
 164M  +2.00M  ▁▂▂▂▂▂▃▃▃▃▃▄▄▄▄▅▅▅▅▅▅▆▆▆▆▇▇▇▇█  t
98.0M  +3.00M  ▁▂▂▂▂▂▃▃▃▃▃▄▄▄▄▅▅▅▅▅▅▆▆▆▆▇▇▇▇█    grows
98.0M  +3.00M  ▁▂▂▂▂▂▃▃▃▃▃▄▄▄▄▅▅▅▅▅▅▆▆▆▆▇▇▇▇█      deep
59.0M  -1.00M  █▇▇▇▇▇▆▆▆▆▆▅▅▅▅▄▄▄▄▄▄▃▃▃▃▂▂▂▂▁    shrinks
file system of t (KIND, 100G, 77.6G available): +400M a day, full in 194 days, on 2026-08-14
";
    let bars = |line: &str| line.replace(['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'], "#");
    let expected = expected.replace("KIND, ", &kind);
    let (answer, rest) = picture.split_once('\n').unwrap();
    let (plot, table) = rest.split_once("  now ").unwrap();
    let without_plot = format!("{answer}\nPLOT  now {table}");
    assert_eq!(bars(&without_plot), bars(&expected), "{picture}");
    // As many lines as a step has, round sizes at the left, and dates below.
    let lines: Vec<_> = plot.lines().collect();
    let labels: Vec<_> = lines.iter().map(|line| line.split('│').next().unwrap().trim()).collect();
    assert_eq!(labels[..8], ["180M", "", "160M", "", "140M", "", "120M", ""], "{picture}");
    let [.., axis, dates] = lines[..] else { panic!("{picture}") };
    assert!(axis.starts_with("100M └┴──") && axis.ends_with("─┴"), "{picture}");
    assert!(dates.starts_with("      2026-01-01 ") && dates.ends_with(" 2026-02-01"), "{picture}");
    assert!(lines.iter().all(|line| cells(line) <= 100), "{picture}");
    assert!(picture.contains("  ▁▁▁") && picture.contains("███  t\n"), "{picture}");
    assert!(picture.contains("  ███") && picture.contains("▁▁▁    shrinks\n"), "{picture}");
    assert_eq!(run("-n 1 -p -R -o si").lines().filter(|line| line.contains("t/grows")).count(), 1);
    assert!(run("-w 30").lines().all(|line| line.chars().count() <= 30));
    // The last day was cut off.
    assert!(run("").lines().any(|line| line.ends_with(" to 2026-02-01")));
}

/// A line in a name was drawn as one of the picture, so that it read as another name.
#[test]
fn names_are_escaped_where_only_ascii_can_be_shown() {
    let mut fixture = Fixture::new();
    for day in 0..2 {
        fixture = fixture.sparse("t/a─b/f", 5_000_000 * day + 1);
        save(&fixture, &format!("{day}.weigh"), START + day as i64 * DAY, 1);
    }
    let shown = weigh("history 0.weigh 1.weigh").within(fixture.path()).env("LC_ALL", "C");
    let shown = shown.run().text();
    assert!(shown.contains(r"a\xe2\x94\x80b"), "{shown}");
}

/// The day when it is full was cut off, and might be in the year 7621. Now it is no further than ten times as far as the
/// scans are back.
#[test]
fn the_day_when_it_is_full_is_near_and_fits() {
    let fixture = Fixture::new().file("t/a", 1);
    for (a_day, expected) in [
        (400_000_000, "  +400M a day, full in 195 days, on 2026-08-12"),
        (
            30_000_000,
            "+30.0M a day, not full within 280 days\n  \
             (snapshots cover 28 days; weigh looks 10 times as far ahead, and no further)",
        ),
        (-30_000_000, " available): -30.0M a day"),
    ] {
        let names: Vec<_> = (0..=28).map(|day| format!("{day}")).collect();
        for (name, day) in names.iter().zip(0..) {
            save(&fixture, name, START + day * DAY, 89_200_000_000 - a_day * day);
        }
        let picture = history("-o si", fixture.path(), &names).text();
        assert!(picture.trim_end().ends_with(expected), "{picture}");
        assert!(picture.lines().all(|line| line.chars().count() <= 80), "{picture}");
    }
}

/// The line through all points took one copied film for growth, and a week without its weekend for all of it.
#[test]
fn the_day_it_is_full_is_right_where_growth_is_uneven() {
    const GB: i64 = 1_000_000_000;
    type Grow = fn(i64) -> i64;
    let fixture = Fixture::new().file("t/a", 1);
    // START is a Thursday.
    let weekdays: Grow = |day| if (day + 3) % 7 < 5 { GB / 2 } else { 0 };
    let step: Grow = |day| if day == 20 { 9 * GB } else { GB / 5 };
    let cleaned: Grow = |day| if day % 7 == 0 { -2 * GB } else { GB / 2 };
    let shrinks: Grow = |day| if day % 7 == 0 { -4 * GB } else { GB / 2 };
    for (grow, days, has_day) in [
        (weekdays, 42, Some(true)),
        (step, 60, Some(true)),
        (cleaned, 42, Some(true)),
        (weekdays, 5, Some(false)),
        (shrinks, 42, None),
    ] {
        let mut available = 60 * GB;
        let mut names = Vec::new();
        for day in 0..days {
            available -= if day > 0 { grow(day) } else { 0 };
            names.push(format!("{day}"));
            save(&fixture, &names[names.len() - 1], START + day * DAY, available);
        }
        let last = START + (days - 1) * DAY;
        let mut day = days;
        while available > 0 && day < 2_000 {
            available -= grow(day);
            day += 1;
        }
        let truth = (day - days) as f64;
        let shown: Value = history("-j", fixture.path(), &names).json();
        let one = &shown["file_systems"][0];
        let in_days = |time: &Value| time.as_i64().map(|time| (time - last) as f64 / DAY as f64);
        let (full, between) = (in_days(&one["full"]), &one["full_between"]);
        let picture = history("-o si", fixture.path(), &names).text();
        match has_day {
            Some(true) => {
                let full = full.unwrap_or_else(|| panic!("{truth}: {one}"));
                assert!((full - truth).abs() <= truth * 0.1, "{truth}, and not {full}: {one}");
                assert!(picture.contains(", full in "), "{picture}");
            }
            Some(false) => {
                let [early, late] = [0, 1].map(|i| in_days(&between[i]).unwrap_or(f64::NAN));
                let is_within = (early..=late).contains(&truth) || full.is_none();
                assert!(is_within, "{truth}: {one}");
                assert!(!picture.contains(", on 20"), "{picture}");
            }
            None => {
                assert_eq!((full, between), (None, &Value::Null), "{one}");
                assert!(!picture.contains("full"), "{picture}");
            }
        }
    }
}

/// What could not be read, and what nobody scanned, was drawn like everything else.
#[test]
fn incomplete_scans_and_gaps_are_marked_and_left_out() {
    let mut fixture = Fixture::new();
    let mut names = Vec::new();
    for day in [0, 1, 2, 3, 4, 20, 21, 22, 23, 24] {
        // Half of it could not be read on one day.
        let size = if day == 22 { 1_000 } else { 1_000_000 + 100_000 * day };
        fixture = fixture.sparse("t/d/f", size as u64);
        let name = format!("{day}");
        save(&fixture, &name, START + day * DAY, 50_000_000_000);
        saved::change(&fixture.at(&name), |header| header["complete"] = (day != 22).into());
        names.push(name);
    }
    let run = |flags: &str| {
        let run = weigh(&format!("history -o si {flags}")).within(fixture.path()).env("TZ", "UTC");
        String::from_utf8(run.args(&names).run().stdout).unwrap()
    };
    for width in [30, 40, 80, 120, 300] {
        let picture = run(&format!("-w {width}"));
        let lines: Vec<_> = picture.lines().collect();
        assert!(lines.iter().all(|line| cells(line) <= width), "{width}: {picture}");
        let axis = lines.iter().position(|line| line.contains('└')).unwrap();
        assert_eq!(lines[axis].matches('×').count(), 1, "{picture}");
        // The axis fills the width, and the area over it has a hole.
        assert_eq!(cells(lines[axis]), width, "{picture}");
        let area = lines[axis - 1].split_once('│').unwrap().1;
        let hole = area.trim_start_matches(|bar| bar != ' ').trim_start_matches(' ');
        let hole = cells(area) - cells(area.split(' ').next().unwrap()) - cells(hole);
        assert!((hole as f64 / cells(area) as f64 - 16.0 / 24.0).abs() < 0.15, "{hole}: {picture}");
        assert!(lines[axis + 1].trim_start().starts_with("2026-01-01"), "{picture}");
        assert!(lines[axis + 1].ends_with("2026-01-25"), "{picture}");
        assert!(picture.contains("× 1 incomplete snapshot"), "{picture}");
        assert!(picture.contains("no snapshot between 2026"), "{picture}");
        assert!(picture.contains("+100K"), "{picture}");
    }
    // The same in colour, in words, and in ASCII.
    let colored = run("-C");
    assert!(colored.contains("\u{1b}["), "{colored}");
    let plain = |text: &str| {
        let mut parts = text.split("\u{1b}[");
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
    };
    assert_eq!(plain(&colored), run(""));
    assert!(!run("-R").contains('│'), "{}", run("-R"));
    let ascii = weigh("history -o si").within(fixture.path()).env("LC_ALL", "C").args(&names).run();
    let ascii = String::from_utf8(ascii.stdout).unwrap();
    assert!(ascii.is_ascii() && ascii.contains("|###"), "{ascii}");
}

/// A day that was computed from free space came too late. An old snapshot has nothing else.
#[test]
fn a_snapshot_without_available_space_gives_no_day() {
    let fixture = Fixture::new().file("t/a", 1);
    let names = ["0", "1"].map(str::to_owned);
    for (name, day) in names.iter().zip(0..) {
        save(&fixture, name, START + 2 * day * DAY, 3_000_000_000 - 400_000_000 * day);
    }
    let shown: Value = history("-j", fixture.path(), &names).json();
    assert_eq!(shown["file_systems"][0]["available"], 2_600_000_000_u64);
    assert!(shown["file_systems"][0]["full"].is_i64(), "{shown}");
    saved::change(&fixture.at("1"), |header| {
        let on = header["roots"][0]["file_system"].as_object_mut().unwrap();
        assert_eq!(on.remove("available"), Some(2_600_000_000_u64.into()));
    });
    let shown: Value = history("-j", fixture.path(), &names).json();
    let one = &shown["file_systems"][0];
    assert_eq!([&one["available"], &one["full"]], [&Value::Null; 2]);
    assert!(is_near(&one["rate"], 200_000_000.0), "{one}");
    let picture = history("-o si", fixture.path(), &names).text();
    assert!(picture.contains("7.60G free): +200M a day\n"), "{picture}");
}

/// ext4 keeps a part for root.
#[test]
#[ignore = "needs root"]
#[cfg(target_os = "linux")]
fn what_is_available_is_what_df_says() {
    let fixture = Fixture::new().dir("m");
    let script = "set -e; truncate -s 300M disk; mkfs.ext4 -q disk; mount -o loop disk m; sync -f m
                  \"$0\" --save s.weigh m >&2; \"$0\" history -j s.weigh; \"$0\" history -o b -w 300 s.weigh
                  df -B1 --output=avail m";
    let text = String::from_utf8(in_namespace(&fixture, script).stdout).unwrap();
    let (json, picture) = text.split_once("}\n").unwrap();
    let available: u64 = picture.lines().last().unwrap().trim().parse().unwrap();
    let json: Value = serde_json::from_str(&format!("{json}}}")).unwrap();
    let one = &json["file_systems"][0];
    assert_eq!(one["available"], available);
    assert!(one["free"].as_u64() > Some(available + (14 << 20)), "{one}");
    assert!(picture.contains(&format!("{available}B available)")), "{picture}");
}

/// The end of the line was cut off: the size, and how much is free.
#[test]
fn a_long_path_is_shortened_before_the_size_of_its_file_system() {
    let long = format!("{}last", "directory/".repeat(20));
    let fixture = Fixture::new().file(format!("{long}/f"), 1);
    weigh("--save file").within(fixture.path()).arg(&long).run().clean();
    let picture = history("", fixture.path(), &["file".to_owned()]).text();
    let line = picture.lines().find(|line| line.starts_with("file system")).unwrap();
    assert!(line.starts_with("file system of directory/") && line.contains('…'), "{picture}");
    assert!(line.contains("/last (") && line.ends_with(" available)"), "{picture}");
    assert!(cells(line) < 80, "{picture}");
}

/// Two seconds say nothing about a day, so there is no rate, and weigh says why.
#[test]
fn a_rate_needs_half_a_day() {
    const SAID: &str = "no rates: they need snapshots over 12 hours or more";
    let half = DAY / 2;
    for (times, rate) in [
        (vec![0], None),
        (vec![0, 2], None),
        (vec![0, 2, half - 1], None),
        (vec![0, half], Some(18_000_000.0)),
    ] {
        let mut fixture = Fixture::new().sparse("t/late/f", 1);
        let mut names = Vec::new();
        for (i, time) in times.into_iter().enumerate() {
            let size = 1_000_000 + 9_000_000 * i as u64;
            fixture = fixture.sparse("t/a/f", size);
            names.push(format!("{i}"));
            save(&fixture, &names[i], START + time, 60_000_000 - 9_000_000 * i as i64);
        }
        let picture = history("", fixture.path(), &names).text();
        let shown: Value = history("-j", fixture.path(), &names).json();
        let rates = [&line(&shown, "t")["rate"], &shown["file_systems"][0]["rate"]];
        match rate {
            Some(rate) => assert!(rates.iter().all(|found| is_near(found, rate)), "{shown}"),
            None => assert_eq!(rates, [&Value::Null; 2]),
        }
        assert_eq!(shown["file_systems"][0]["full"].is_null(), rate.is_none());
        assert_eq!(picture.contains(SAID), rate.is_none(), "{picture}");
        assert_eq!(picture.contains("full in"), rate.is_some(), "{picture}");
        assert_eq!(picture.contains(" +"), rate.is_some(), "{picture}");
    }
    // A directory that came an hour ago has none either.
    let fixture = Fixture::new().sparse("t/f", 1);
    save(&fixture, "0", START, 1);
    for hour in 23..=24 {
        let size = 1_000_000 * hour as u64;
        let file = fs::create_dir_all(fixture.at("t/new"))
            .and_then(|()| fs::File::create(fixture.at("t/new/f")));
        file.unwrap().set_len(size).unwrap();
        save(&fixture, &format!("{hour}"), START + hour * 3_600, 1);
    }
    let names = ["0", "23", "24"].map(str::to_owned);
    let shown = json(history("-j", fixture.path(), &names));
    assert!(line(&shown, "new")["rate"].is_null() && !line(&shown, "t")["rate"].is_null());
}

/// One of them is cut off, wherever it stands: it has its line, and the others are shown.
#[test]
fn a_snapshot_that_cannot_be_read_has_a_line_and_the_others_are_shown() {
    let (fixture, names) = thirty();
    for broken in [&names[0], &names[13], &names[29]] {
        let whole = fixture.bytes(broken);
        for length in [whole.len() - 5, whole.len() / 2, 10, 0] {
            fs::write(fixture.at(broken), &whole[..length]).unwrap();
            let shown = history("-j", fixture.path(), &names);
            let complaint = shown.complaint();
            assert_eq!((shown.code(), complaint.lines().count()), (1, 1), "{complaint}");
            assert!(
                complaint.starts_with(&format!("weigh: error: cannot load {broken}: ")),
                "{complaint}"
            );
            let shown = json(shown);
            assert_eq!(shown["snapshots"].as_array().unwrap().len(), 29, "{broken}");
            assert!(is_near(&line(&shown, "grows")["rate"], 3_000_000.0), "{broken}");
        }
        fs::write(fixture.at(broken), whole).unwrap();
    }
}

/// A time that nothing can have been saved at was taken as it was: by `--since DIR` as the oldest
/// or the newest there is, and by `--history` as a moment in the year 292,277,026,596.
#[test]
fn a_snapshot_with_an_absurd_time_is_named() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s");
    save(&fixture, "whole", START, 1);
    let absurd = "s/weigh-2026-11-01T000000Z.weigh";
    for time in [-1, i64::MIN, 253_402_300_800, i64::MAX] {
        let _ = fs::remove_file(fixture.at(absurd));
        save(&fixture, absurd, time, 1);
        for flags in ["--from s", "diff t --since s", "history whole s"] {
            let shown = weigh(flags).within(fixture.path()).run();
            let said = shown.complaint();
            let begin = format!(
                "weigh: error: cannot load {absurd}: a time before 1970, or after the year 9999"
            );
            assert!(said.starts_with(&begin) && said.lines().count() == 1, "{time}: {said}");
            // A history shows the other one.
            let code = if flags.starts_with("history") { 1 } else { 2 };
            assert_eq!(shown.code(), code, "{time}: {flags}");
        }
    }
}

/// The clock was wrong once. What was saved then was the last snapshot until that day came: its tree was the one now.
/// Clocks of two hosts differ by less.
#[test]
fn a_snapshot_dated_in_the_future_or_not_at_all_is_named_and_left_out() {
    let fixture = Fixture::new().sparse("t/f", 1_000);
    let now = jiff::Timestamp::now().as_second();
    save(&fixture, "1", now - DAY, 1);
    save(&fixture, "2", now + 3_600, 1);
    let fixture = fixture.sparse("t/f", 9_000);
    save(&fixture, "later", now + 40 * DAY, 1);
    save(&fixture, "never", 0, 1);
    let names = ["1", "later", "2", "never"].map(str::to_owned);
    let shown = history("-s -j", fixture.path(), &names);
    let mut said: Vec<_> = shown.complaint().lines().map(str::to_owned).collect();
    said.sort();
    let expected = [
        "weigh: error: cannot load later: it is dated in the future",
        "weigh: error: cannot load never: it does not say when it was made",
    ];
    assert_eq!((shown.code(), said), (1, expected.map(str::to_owned).to_vec()));
    assert_eq!(line(&json(shown), "t")["sizes"], serde_json::json!([1_000, 1_000]));
    let alone = history("", fixture.path(), &names[1..2]);
    assert_eq!((alone.code(), alone.stdout.len()), (2, 0));
    assert_eq!(alone.complaint().trim_end(), expected[0]);
}

#[test]
fn snapshots_of_another_kind_are_named_and_left_out() {
    let fixture = Fixture::new().sparse("t/a/f", 1_000).sparse("u/f", 1);
    save(&fixture, "1", START, 1);
    save(&fixture, "2", START + DAY, 1);
    weigh("-s u --save u.weigh").within(fixture.path()).run().clean();
    weigh("t --save disk").within(fixture.path()).run().clean();
    sizes_alone(&fixture.at("disk"));
    weigh("-s t -i --save hidden").within(fixture.path()).run().clean();
    let fixture = fixture.extended("t/a/f", 9_000);
    save(&fixture, "9", jiff::Timestamp::now().as_second() + 3_600, 1);
    for (other, why) in [
        ("u.weigh", "it is of another root"),
        ("disk", "it has disk usage, and no apparent sizes"),
        ("hidden", "it was saved with --ignore-hidden"),
        ("nothing", "No such file"),
    ] {
        let names = ["1", "2", other, "9"].map(str::to_owned);
        let shown = history("-j", fixture.path(), &names);
        let complaint = shown.complaint();
        let messages = complaint.lines().filter(|line| !line.starts_with("hint: ")).count();
        assert_eq!((shown.code(), messages), (1, 1), "{other}: {complaint}");
        assert!(complaint.contains(why), "{complaint}");
        assert_eq!(json(shown)["snapshots"].as_array().unwrap().len(), 3);
    }
    // One alone has sizes and no rate.
    let shown: Value = history("-j", fixture.path(), &["1".to_owned()]).json();
    assert_eq!(
        shown["directories"],
        serde_json::json!([
            {"path": "t", "depth": 0, "sizes": [1000], "rate": null}
        ])
    );
    for flags in ["-e x", "-x", "--as csv", "-t", "diff --since 1", "-L", "--ui"] {
        let shown = history(flags, fixture.path(), &["1".to_owned()]);
        assert_eq!(shown.code(), 2, "{flags}");
    }
}

fn snapshots(fixture: &Fixture) -> BTreeSet<String> {
    fixture.names("s").into_iter().collect()
}

#[test]
fn a_directory_gets_a_new_file_each_time() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s");
    for count in 1..=3 {
        weigh("-s t --save s/").within(fixture.path()).run().clean();
        assert_eq!(snapshots(&fixture).len(), count);
    }
    for name in snapshots(&fixture) {
        assert!(name.starts_with("weigh-20") && name.ends_with(".weigh"), "{name}");
        weigh("--from").arg(format!("s/{name}")).within(fixture.path()).run().clean();
    }
    for (directory, why) in [("none/", "No such file"), ("t/f/", "Not a directory")] {
        let shown = weigh("t --save").arg(directory).within(fixture.path()).run();
        assert_eq!((shown.code(), shown.stdout.len()), (1, 0));
        assert!(shown.complaint().contains(why), "{}", shown.complaint());
    }
    for flags in ["t --save x --keep 3", "t --keep 3", "t --save s/ --keep 0"] {
        assert_eq!(weigh(flags).within(fixture.path()).run().code(), 2, "{flags}");
    }
}

/// A snapshot in `s` of so many days before now, at noon, if it is whole.
fn old(fixture: &Fixture, days: i64, is_complete: bool) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let noon = now.as_secs() as i64 / DAY * DAY + DAY / 2 - days * DAY;
    let time = Timestamp::from_second(noon).unwrap();
    let name = time.strftime("weigh-%Y-%m-%dT%H%M%SZ.weigh").to_string();
    let file = fixture.at("s").join(&name);
    weigh("-q -s t --save").arg(&file).within(fixture.path()).run().clean();
    saved::change(&file, |header| {
        header["time"] = noon.into();
        header["complete"] = is_complete.into();
    });
    name
}

#[test]
fn the_last_of_days_weeks_and_months_are_kept_and_what_others_made() {
    let fixture = Fixture::new().sparse("t/f", 1_000).sparse("u/f", 1).dir("s");
    let all: Vec<_> = (1..100).map(|days| old(&fixture, days, true)).collect();
    let others = ["mine.weigh", "weigh-2020-01-01T000000Z.txt", "weigh-2020-01-01T999999Z.weigh"];
    for name in others {
        fs::copy(fixture.at("s").join(&all[90]), fixture.at("s").join(name)).unwrap();
    }
    // It has the name, and is none.
    fs::write(fixture.at("s/weigh-2019-01-01T000000Z.weigh"), "{\"schema\":1}").unwrap();
    weigh("-s u --save s/").within(fixture.path()).run().clean();
    let keep = || weigh("-s t --save s/ --keep 3").within(fixture.path()).env("TZ", "UTC").run();
    let shown = keep();
    let left = snapshots(&fixture);
    assert!(others.iter().all(|name| left.contains(*name)), "{left:?}");
    assert!(left.contains("weigh-2019-01-01T000000Z.weigh"), "{left:?}");
    let kept = all.iter().filter(|name| left.contains(*name)).count();
    // Today's is new. Two days before; the last of two weeks before; of two months before: some may be the same.
    assert!((4..=6).contains(&kept), "{left:?}");
    assert!(left.contains(&all[0]) && left.contains(&all[1]), "{left:?}");
    assert_eq!(left.len(), kept + others.len() + 1 + 2, "{left:?}");
    // One line says what it removed, and names the newest three.
    let (named, count) = (&all[2..], all.len() - kept);
    let named: Vec<_> = named.iter().filter(|name| !left.contains(*name)).take(3).collect();
    let expected = format!(
        "weigh: note: --keep removed {count} snapshots: s/{}, s/{}, s/{}, …\n",
        named[0], named[1], named[2]
    );
    assert_eq!((shown.code(), shown.complaint()), (0, expected));
    // Again: the same stay.
    assert_eq!(keep().complaint().lines().count(), 1);
    let again = snapshots(&fixture);
    assert_eq!(again.len(), left.len(), "{again:?}");
}

/// The clock was wrong once. Snapshots dated in the future replace none, least of all the one that was just saved.
#[test]
fn a_new_snapshot_stays_beside_ones_dated_in_the_future() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s");
    let yesterday = old(&fixture, 1, true);
    let later: Vec<_> = [-1, -2, -40].map(|days| old(&fixture, days, true)).into();
    // Some are saved in the same second.
    for _ in 0..4 {
        let before = snapshots(&fixture);
        let shown = weigh("-s t --save s/ --keep 1").within(fixture.path()).env("TZ", "UTC").run();
        assert_eq!(shown.code(), 0, "{}", shown.complaint());
        let after = snapshots(&fixture);
        assert_eq!(after.difference(&before).count(), 1, "{after:?}");
        assert!(later.iter().all(|name| after.contains(name)), "{after:?}");
        assert_eq!(shown.complaint().lines().count(), before.difference(&after).count().min(1));
    }
    // Today's, and that of yesterday if it is of another week or month.
    let left = snapshots(&fixture).len() - later.len();
    assert!((1..=2).contains(&left), "{left} beside {yesterday}");
}

/// One with a filter once took the place of that day's, and nothing could be compared with the directory any more.
#[test]
fn snapshots_with_other_flags_neither_replace_nor_hide_the_usual_ones() {
    let fixture = Fixture::new().sparse("t/f", 1_000).sparse("t/g", 10).dir("s");
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    for flags in ["-X g", "", "-e f", "-l"] {
        run(&format!("-s t {flags} --save s/ --keep 1")).clean();
    }
    assert_eq!(snapshots(&fixture).len(), 4);
    for (flags, before) in [("", 1_010), ("-e f", 1_000), ("-X f", 10), ("-l", 1_010)] {
        let shown = run(&format!("diff -s -j t {flags} --since s/"));
        assert_eq!(json(shown)["before"], before, "{flags}");
    }
    // A filter that is given now does not count as one of the loaded snapshot.
    run("-s t -X g --save now.weigh").clean();
    run("-s t --save plain.weigh").clean();
    for (loaded, flags, before) in
        [("now", "", 1_000), ("plain", "", 1_010), ("plain", "-X f", 10), ("now", "-X g", 1_000)]
    {
        let shown = run(&format!("diff -s -j --from {loaded}.weigh {flags} --since s/"));
        assert_eq!(json(shown)["before"], before, "{loaded} {flags}");
    }
    assert_eq!(run("-s t --save s/ --keep 1").code(), 0);
    assert_eq!(snapshots(&fixture).len(), 4);
    // Where all have other flags, the error says which.
    let complaint = run("diff t -x --since s/").complaint();
    assert!(complaint.contains("it was saved without --limit-filesystem"), "{complaint}");
}

/// The clock was wrong once. The snapshot from then was shown, and compared with, until that day came.
#[test]
fn a_directory_does_not_stand_for_a_snapshot_dated_in_the_future() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s");
    let shown =
        |flags: &str, member: &str| json(weigh(flags).within(fixture.path()).run())[member].clone();
    old(&fixture, -40, true);
    let none = weigh("diff t --since s/").within(fixture.path()).run();
    assert_eq!(none.code(), 2, "{}", none.complaint());
    // There is no other.
    assert_eq!(shown("-s -j --from s/", "size"), 1_000);
    drop(fs::File::options().write(true).open(fixture.at("t/f")).unwrap().set_len(2_000));
    old(&fixture, 1, true);
    assert_eq!(shown("diff -s -j t --since s/", "before"), 2_000);
    assert_eq!(shown("-s -j --from s/", "size"), 2_000);
}

/// A snapshot that is saved again keeps its time, and so its place among the others. What is older is not even read.
#[test]
fn names_in_a_directory_are_in_the_order_of_times() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s");
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    let first = old(&fixture, 3, true);
    drop(fs::File::options().write(true).open(fixture.at("t/f")).unwrap().set_len(2_000));
    old(&fixture, 2, true);
    run(&format!("-s --from s/{first} --save s/")).clean();
    let again = first.replace(".weigh", "-2.weigh");
    assert!(snapshots(&fixture).contains(&again), "{:?}", snapshots(&fixture));
    fs::write(fixture.at("s").join(first), "{\"schema\":1}").unwrap();
    assert_eq!(run("-s -j --from s").document().root().size, 2_000);
    assert_eq!(json(run("diff -s -j t --since s"))["before"], 2_000);
}

/// Each may find snapshots that another one has just removed.
#[test]
fn several_at_once_do_not_disturb_each_other() {
    let fixture = Fixture::in_memory().sparse("t/f", 1_000).dir("s");
    for _ in 0..crate::rounds::rounds(5, 50) {
        let old: Vec<_> = (20..60).map(|days| old(&fixture, days, true)).collect();
        let spawn = |_| weigh("-s t --save s/ --keep 1").within(fixture.path()).spawn();
        let children: Vec<_> = (0..8).map(spawn).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let complaint = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{complaint}");
            assert!(complaint.lines().all(|line| line.starts_with("weigh: note: --keep removed ")));
        }
        assert!(snapshots(&fixture).iter().any(|name| !old.contains(name)));
    }
}

/// A directory stands for the dated snapshots in it.
#[test]
fn a_directory_is_its_newest_snapshot_or_all_of_them() {
    let fixture = Fixture::new().sparse("t/f", 1_000).sparse("u/f", 10).sparse("v/f", 1).dir("s");
    let fixture = fixture.file("s/weigh-2020-01-01T000000Z.txt", 10).dir("none");
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    for (flags, code, message) in [
        ("--from none", 2, "cannot load none: there is no snapshot in it that --save DIR/ wrote"),
        (
            "history none",
            2,
            "cannot load none: there is no snapshot in it that --save DIR/ wrote, and no scan of it is remembered\n\
             hint: run weigh diff once to keep one, or scan it with --save DIR/",
        ),
        (
            "diff t --since none/",
            2,
            "cannot compare with none/: there is no complete snapshot of the same PATHs in it",
        ),
    ] {
        let shown = run(flags);
        assert_eq!((shown.code(), shown.complaint()), (code, format!("weigh: error: {message}\n")));
        assert!(shown.stdout.is_empty());
    }
    let size = |bytes: u64| {
        drop(fs::File::options().write(true).open(fixture.at("t/f")).unwrap().set_len(bytes))
    };
    old(&fixture, 9, true);
    size(2_000);
    let wanted = old(&fixture, 8, true);
    size(3_000);
    old(&fixture, 7, false);
    size(4_000);
    let elsewhere = old(&fixture, 6, true);
    saved::change(&fixture.at("s").join(elsewhere), |header| header["host"] = "another".into());
    size(5_000);
    let newest = old(&fixture, 5, true);
    size(6_000);
    for flags in ["-j --from s", "-j --from s/"] {
        assert_eq!(run(flags).document().root().size, 5_000);
    }
    // Its header says that it is whole.
    let newest = fixture.at("s").join(newest);
    let whole = fs::read(&newest).unwrap();
    fs::write(&newest, &whole[..whole.len() - 3]).unwrap();
    let since = run(&format!("diff -s -j t --since s/{wanted}")).clean();
    assert_eq!(run("diff -s -j t --since s").clean(), since);
    assert_eq!(json(run("diff -s -j t/../t --since s/"))["before"], 2_000);
    weigh("-s u v --save s/").within(fixture.path()).run().clean();
    let loaded = run("-j --from s").document();
    assert_eq!(loaded.root().size, 11);
    assert_eq!(json(run("diff -s -j v u --since s"))["change"], 0);
    assert_eq!(json(run("diff -s -j --from s --since s"))["change"], 0);
    // All snapshots are what a shell pattern for them would name.
    let is_dated = |name: &String| name.ends_with(".weigh");
    let all: Vec<_> = snapshots(&fixture).into_iter().filter(is_dated).collect();
    let all: Vec<_> = all.into_iter().map(|name| format!("s/{name}")).collect();
    let (one, other) =
        (history("-j", fixture.path(), &["s".to_owned()]), history("-j", fixture.path(), &all));
    assert_eq!((one.code(), one.complaint()), (other.code(), other.complaint()));
    assert_eq!(String::from_utf8(one.stdout), String::from_utf8(other.stdout));
}

/// The end of a file tells only that all of it was written. What was damaged since is found out where it is read.
#[test]
fn a_damaged_snapshot_in_a_directory_is_never_taken_for_a_whole_one() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s");
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    old(&fixture, 3, true);
    let newest = format!("s/{}", old(&fixture, 2, true));
    drop(fs::File::options().write(true).open(fixture.at("t/f")).unwrap().set_len(2_000));
    let mut file = fixture.bytes(&newest);
    let listings = saved::places(&file).into_iter().find(|(kind, _)| *kind == b'D').unwrap().1;
    file[listings.end - 1] ^= 1;
    fs::write(fixture.at(&newest), file).unwrap();
    let refused = format!("weigh: error: cannot load {newest}: ");
    for flags in ["diff t --since s", "diff -j t --since s", "diff --from s --since s", "--from s"]
    {
        let shown = run(flags);
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}: {}", shown.text());
        assert!(shown.complaint().starts_with(&refused), "{flags}: {}", shown.complaint());
    }
    run("-s t --save now.weigh").clean();
    let shown = history("-j", fixture.path(), &["s".to_owned(), "now.weigh".to_owned()]);
    assert_eq!(shown.code(), 1);
    let (complaint, shown) = (shown.complaint(), json(shown));
    assert!(complaint.starts_with(&refused) && complaint.lines().count() == 1, "{complaint}");
    assert_eq!(shown["snapshots"].as_array().unwrap().len(), 2);
}

/// `11 shorter gaps` was `1a shorter gap`.
#[test]
fn gaps_are_counted() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s");
    let mut clusters = 0;
    for (count, said) in [(3, ", and a shorter gap\n"), (13, ", and 11 shorter gaps\n")] {
        for cluster in clusters..count {
            // The later ones are closer together, so that one gap is the longest.
            let day = 200 - cluster * 10 - i64::from(cluster > 0);
            old(&fixture, day, true);
            old(&fixture, day - 1, true);
        }
        clusters = count;
        let shown = weigh("history -w 200 s").within(fixture.path()).run().text();
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

/// A snapshot of an interrupted walk, or one that is cut off, replaces none.
#[test]
fn the_last_good_one_always_stays() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s").unreadable("t/closed");
    let open = fixture.mode("t/closed", 0o755);
    let good = old(&open, 70, true);
    let partial: Vec<_> = (1..20).map(|days| old(&open, days, false)).collect();
    // Its header says that it is whole.
    let cut = old(&open, 40, true);
    let text = fs::read(open.at("s").join(&cut)).unwrap();
    fs::write(open.at("s").join(&cut), &text[..text.len() - 3]).unwrap();
    let fixture = open.unreadable("t/closed").mode("s", 0o777);
    let shown = weigh("-s t --save s/ --keep 1").within(fixture.path()).by_nobody(&fixture).run();
    assert_eq!(shown.code(), 1, "{}", shown.complaint());
    let left = snapshots(&fixture);
    assert!(left.contains(&good), "{left:?}");
    assert!(!left.contains(&partial[3]), "{left:?}");
}

/// weigh says what it cannot remove, and the new snapshot stays.
#[test]
fn what_cannot_be_removed_is_said() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s").mode("s", 0o777);
    let name = old(&fixture, 3, true);
    let another = old(&fixture, 2, true);
    // The sticky bit: the user nobody may add files, and remove only those that belong to them.
    let fixture = fixture.mode("s", 0o1777);
    let is_root = rustix::process::geteuid().is_root();
    let shown = weigh("-s t --save s/ --keep 1").within(fixture.path()).by_nobody(&fixture).run();
    if !is_root {
        return;
    }
    assert_eq!(shown.code(), 1);
    for name in [name, another] {
        let expected = format!("weigh: error: cannot remove s/{name}: Operation not permitted\n");
        assert!(shown.complaint().contains(&expected), "{}", shown.complaint());
    }
    assert_eq!(snapshots(&fixture).len(), 3);
}

/// Whenever it is killed, older snapshots stay complete, and the next run removes what was left.
#[test]
fn killed_it_leaves_all_snapshots_whole() {
    let mut fixture = Fixture::in_memory().dir("s");
    for i in 0..3_000 {
        fixture = fixture.sparse(format!("t/{}/f{i}", i % 40), 1);
    }
    let good = old(&fixture, 1, true);
    for i in 0..crate::rounds::rounds(12, 100) {
        let mut child = weigh("-s t --save s/ --keep 1").within(fixture.path()).spawn();
        std::thread::sleep(std::time::Duration::from_millis((i % 12) as u64 * 2));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = snapshots(&fixture);
        let whole = left.iter().filter(|name| name.starts_with("weigh-"));
        let whole: Vec<_> = whole.collect();
        assert!(!whole.is_empty(), "{left:?}");
        for name in whole {
            weigh("-n 1 --from").arg(fixture.at("s").join(name)).run().clean();
        }
    }
    // The last one may have ended in time, and left one snapshot.
    old(&fixture, 2, true);
    let shown = weigh("-s t --save s/ --keep 1").within(fixture.path()).run();
    assert_eq!((shown.code(), shown.complaint().lines().count()), (0, 1));
    let left = snapshots(&fixture);
    assert!(left.iter().all(|name| name.starts_with("weigh-")), "{left:?}");
    assert!(!left.contains(&good) || left.len() < 4, "{left:?}");
}

/// If the disk is full, the new file is removed, and those before it stay, whatever `--keep` says.
#[test]
#[ignore = "mounts a small tmpfs"]
fn a_full_disk_costs_no_snapshot() {
    let fixture = Fixture::new().sparse("t/f", 1_000).dir("s");
    let script = "mount -t tmpfs -o size=64k tmpfs s && \"$0\" -s t --save s/
        head -c 1M /dev/zero >s/filler 2>/dev/null
        \"$0\" -s t --save s/ --keep 1; echo $?
        ls -A s; cat s/weigh-*.weigh >saved";
    let shown = weigh("").within(fixture.path()).under(["unshare", "-m", "sh", "-c", script]).run();
    let printed = String::from_utf8(shown.stdout.clone()).unwrap();
    let lines: Vec<_> = printed.lines().collect();
    let [.., "1", "filler", snapshot] = lines[..] else { panic!("{printed}") };
    assert!(snapshot.starts_with("weigh-20") && snapshot.ends_with(".weigh"), "{printed}");
    assert!(shown.complaint().contains("No space left"), "{}", shown.complaint());
    weigh("-n 1 --from").arg(fixture.at("saved")).run().clean();
}
