//! What `--remember` keeps, and which of it `--since`, `--history` and `--forget` take.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::interrupt::{interrupt, large};
#[cfg(feature = "tui")]
use crate::pty::Terminal;
use crate::rounds::rounds;
use crate::run::{Shown, Weigh, in_namespace, weigh};
use crate::saved;

const DAY: i64 = 86_400;
/// 2026-01-01T12:00:00Z, a Thursday.
const START: i64 = 1_767_268_800;

/// `weigh FLAGS`, as a user whose state is in the fixture.
fn at_home(fixture: &Fixture, flags: &str) -> Weigh {
    let state = fixture.at("state");
    weigh(flags).within(fixture.path()).env("XDG_STATE_HOME", state).env("TZ", "UTC")
}

/// That a scan is remembered, and nothing else is said than where. Returns where.
fn keep(shown: Shown) -> PathBuf {
    let said = shown.complaint();
    assert_eq!((shown.code(), said.lines().count()), (0, 1), "{said}");
    let path = said.trim_end().strip_prefix("weigh: note: kept this scan: ");
    let path = PathBuf::from(path.unwrap_or_else(|| panic!("{said}")));
    assert!(path.exists(), "{said}");
    path
}

/// Everything that is remembered, by its path.
fn remembered(fixture: &Fixture) -> BTreeSet<PathBuf> {
    let Ok(series) = fs::read_dir(fixture.at("state/weigh/snapshots")) else {
        return BTreeSet::new();
    };
    let files = series.flat_map(|series| fs::read_dir(series.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

/// Turns what was remembered since `before` into a walk of the `time`, as a clock that was set would have. Returns its
/// path.
fn set_back(fixture: &Fixture, before: &BTreeSet<PathBuf>, time: i64) -> PathBuf {
    let new: Vec<_> = remembered(fixture).difference(before).cloned().collect();
    let [new] = &new[..] else { panic!("{new:?}") };
    saved::change(new, |header| header["time"] = time.into());
    let name = Timestamp::from_second(time).unwrap().strftime("weigh-%Y-%m-%dT%H%M%SZ.weigh");
    let set = new.with_file_name(name.to_string());
    fs::rename(new, &set).unwrap();
    set
}

/// A walk of `t` that is remembered as one of the `time`.
fn walk_on(fixture: &Fixture, time: i64) -> PathBuf {
    let before = remembered(fixture);
    keep(at_home(fixture, "--remember t").run());
    set_back(fixture, &before, time)
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

#[test]
fn after_three_days_it_says_what_grew() {
    let fixture = Fixture::new().sparse("t/log/access", 1_000).sparse("t/data", 5_000);
    let config = fixture.at("config.toml");
    fs::write(&config, "remember = true\n").unwrap();
    let run = |flags: &str| at_home(&fixture, flags).env("WEIGH_CONFIG_PATH", &config);
    for (days, length) in [(2, 1_000), (1, 3_000)] {
        fs::write(fixture.at("t/log/access"), vec![1; length]).unwrap();
        let before = remembered(&fixture);
        run("t").run().clean();
        set_back(&fixture, &before, now() - days * DAY);
    }
    fs::write(fixture.at("t/log/access"), vec![1; 7_000]).unwrap();
    run("t").run().clean();
    fs::write(fixture.at("t/log/access"), vec![1; 15_000]).unwrap();
    for (day, was) in
        [("last", 7_000), ("yesterday", 3_000), ("12h", 3_000), ("1d", 3_000), ("2d", 1_000)]
    {
        // Before midnight, a day ago is yesterday; the walks were then, to the second.
        let text = run(&format!("diff -s -c -o b -F t --since {day}")).run().text();
        let line =
            text.lines().find(|line| line.contains("access")).unwrap_or_else(|| panic!("{text}"));
        assert!(line.contains(&format!("+{}", 15_000 - was)), "{day}: {text}");
        let grew = format!("t grew by {}B since ", 15_000 - was);
        assert!(text.starts_with(&grew), "{day}: {text}");
    }
    let history = run("history -c t").run().text();
    assert!(history.contains("3 snapshots") && history.contains("log"), "{history}");
    let here = run("history -c").within(fixture.at("t")).run().text();
    assert_eq!(here.lines().next(), history.lines().next());
}

#[test]
fn a_day_is_the_last_scan_until_its_end() {
    let fixture = Fixture::new().file("t/f", 1);
    let file = |length| fs::write(fixture.at("t/f"), vec![1; length]).unwrap();
    for (day, length) in [(0, 1), (3, 2), (9, 3)] {
        file(length);
        walk_on(&fixture, START + day * DAY);
    }
    file(10);
    let grown = |day: &str| {
        let shown = at_home(&fixture, "diff -s -j t --no-remember --since").arg(day).run();
        (shown.code() == 0).then(|| shown.json()["change"].as_i64().unwrap())
    };
    for (day, expected) in [
        ("2025-12-31", None),
        ("2026-01-01", Some(9)),
        ("2026-01-03", Some(9)),
        ("2026-01-04", Some(8)),
        ("2026-01-09", Some(8)),
        ("2026-01-10", Some(7)),
        ("2026-12-31", Some(7)),
        ("last", Some(7)),
        ("65535d", None),
    ] {
        assert_eq!(grown(day), expected, "{day}");
    }
    for day in ["2025-12-31", "65536d", "99999999999999999999d"] {
        let said = at_home(&fixture, "diff t --no-remember --since").arg(day).run();
        assert_eq!(said.code(), 2);
        assert!(said.complaint().contains("is of 2026-01-01 12:00"), "{}", said.complaint());
    }
    for word in ["+1d", "d", "2026-02-30", "yesterdays", "Last"] {
        let said = at_home(&fixture, "diff t --since").arg(word).run();
        assert!(
            said.complaint().contains("is neither a file nor a time"),
            "{word}: {}",
            said.complaint()
        );
    }
    // A walk that a wrong clock dated in the future is not the last one.
    file(20);
    walk_on(&fixture, now() + 9 * DAY);
    file(10);
    assert_eq!(grown("last"), Some(7));
    // The word wins over a file of that name.
    file(4);
    weigh("-s t --save last").within(fixture.path()).run().clean();
    file(10);
    assert_eq!((grown("last"), grown("./last")), (Some(7), Some(6)));
}

/// Once, a history of several roots began anew wherever they were typed in another way.
#[test]
fn a_history_of_several_roots_goes_on_however_they_are_spelled() {
    let fixture = Fixture::new().file("t/f", 1).file("u/f", 1).dir("s");
    at_home(&fixture, "-s --save s/ t u").run().clean();
    fs::write(fixture.at("u/f"), [0; 5]).unwrap();
    at_home(&fixture, "-s --save s/ ./t u/").run().clean();
    let shown = at_home(&fixture, "history -s s -j").run().text();
    assert!(shown.contains(r#","depth":1,"sizes":[1,5]"#), "{shown}");
}

#[test]
fn what_is_missing_says_how_to_begin() {
    let fixture = Fixture::new().file("t/f", 1);
    for flags in ["diff --no-remember t", "history", "history ."] {
        let said = at_home(&fixture, flags).run();
        assert_ne!(said.code(), 0, "{flags}");
        assert!(said.complaint().contains("run weigh "), "{flags}: {}", said.complaint());
    }
    // Other flags count something else.
    keep(at_home(&fixture, "--remember t").run());
    assert_eq!(at_home(&fixture, "diff -s --exclude f --since last t").run().code(), 0);
}

/// What `diff` answers where it has no scan to compare with: each time, which scans there are, and what to type. Where there
/// is one that will do, it is used, and a note says which.
#[test]
fn what_diff_says_of_the_scans_there_are() {
    let fixture = Fixture::new();
    let trees = ["alone", "young", "flags", "plain", "part/a", "part/b", "other", "half", "whole"];
    let fixture = trees.iter().fold(fixture, |it, tree| it.file(format!("{tree}/f"), 1_000));
    let half_a_day = now() - DAY / 2;
    let kept = |flags: &str| {
        let before = remembered(&fixture);
        keep(at_home(&fixture, &format!("--remember {flags}")).run());
        set_back(&fixture, &before, half_a_day)
    };
    let top = fixture.path().display().to_string();
    let forgotten = |tree: &str| at_home(&fixture, "history --forget").arg(tree).run();
    // The scans there are; what is typed; what is said, and the hint.
    let nothing = [
        ("", "alone", "no earlier scan of alone was kept", "run weigh diff alone once"),
        ("", "last alone", "no earlier scan of alone was kept", "run weigh diff alone once"),
        (
            "young",
            "7d young",
            "no scan of young from then or before was kept: the oldest is of 20",
            "weigh diff 20",
        ),
        (
            "-x flags",
            "flags",
            "the kept scans of flags were made with --limit-filesystem",
            "make this one with --limit-filesystem, too",
        ),
        (
            "plain",
            "-x plain",
            "the kept scans of plain were made without flags",
            "make this one without flags, too",
        ),
        (
            "half",
            "--fail-growth 1b half",
            "no complete scan of half was kept: the scan of 20",
            "leave out --fail-growth",
        ),
        // Of a directory above it, but younger; or of one in it.
        ("part", "7d part/a", "no earlier scan of part/a was kept", "run weigh diff part/a once"),
        ("part/b", "part", "no earlier scan of part was kept", "run weigh diff part once"),
    ];
    for (scan, flags, why, hint) in nothing {
        let tree = flags.rsplit(' ').next().unwrap();
        if !scan.is_empty() {
            let file = kept(scan);
            let is_complete = tree != "half";
            saved::change(&file, |header| header["complete"] = is_complete.into());
        }
        // Without keeping this scan it is an error; the same run, if it keeps its own scan, says the same in a note.
        for (keeps, code, kind) in [("--no-remember ", 2, "error"), ("", 0, "note")] {
            let shown = at_home(&fixture, &format!("diff {keeps}{flags}")).run();
            let said = shown.complaint();
            let case = format!("{scan:?}, diff {keeps}{flags}: {said}");
            assert_eq!((shown.code(), shown.stdout.len()), (code, 0), "{case}");
            assert!(said.starts_with(&format!("weigh: {kind}: {why}")), "{case}");
            let (_, way_out) = said.split_once('\n').unwrap();
            match code {
                0 => assert!(said.contains("This one is kept ("), "{case}"),
                _ => assert!(way_out.starts_with(&format!("hint: {hint}")), "{case}"),
            }
        }
        forgotten(tree);
        forgotten(scan.rsplit(' ').next().unwrap());
    }
    // There is one that will do.
    for (scan, flags, note) in [
        ("part", "part/a", Some("compared with the scan of TOP/part, which contains part/a")),
        ("other", "other", Some("compared with a scan of host another, as ")),
        ("half", "half", None),
        ("whole", "--fail-growth 1b whole", None),
    ] {
        let file = kept(scan);
        saved::change(&file, |header| {
            header["complete"] = (scan != "half").into();
            if scan == "other" {
                header["host"] = "another".into();
            }
        });
        let shown = at_home(&fixture, &format!("diff -s --no-remember {flags}")).run();
        let said = shown.complaint().replace(&top, "TOP");
        let tree = flags.rsplit(' ').next().unwrap();
        let answer = String::from_utf8(shown.stdout.clone()).unwrap();
        assert!(answer.starts_with(&format!("{tree} did not change since ")), "{flags}: {answer}");
        match note {
            Some(note) => assert!(said.starts_with(&format!("weigh: note: {note}")), "{said}"),
            None if scan == "half" => assert_eq!(shown.code(), 1, "{said}"),
            None => assert_eq!((shown.code(), &*said), (0, "")),
        }
    }
}

/// From a scan of a directory above it, a directory is compared with itself.
#[test]
fn a_scan_of_a_directory_answers_for_a_part_of_it() {
    let fixture = Fixture::new()
        .file("home/src/a", 5_000)
        .file("home/src/old/b", 700)
        .file("home/other", 9_000)
        .hard_link("home/src/a", "home/link");
    let run = |flags: &str| at_home(&fixture, flags).run();
    keep(run("--remember home"));
    run("-s home --save home.weigh").clean();
    run("-s home --save dated/").code();
    fs::create_dir(fixture.at("dated")).unwrap();
    run("-s home --save dated/").clean();
    run("-s home/src --save src.weigh").clean();
    fs::write(fixture.at("home/src/new"), [1; 2_000]).unwrap();
    fs::remove_file(fixture.at("home/src/old/b")).unwrap();
    fs::write(fixture.at("home/other"), [1; 1]).unwrap();
    fs::create_dir(fixture.at("home/fresh")).unwrap();
    fs::write(fixture.at("home/fresh/f"), [1; 300]).unwrap();
    // The same as from a snapshot of the part itself, to the byte.
    for flags in ["", "-j", "--as csv", "--as md", "--as ndjson", "-d 1", "-F", "-t", "-X old"] {
        let of_part = run(&format!("diff -s {flags} src.weigh home/src")).clean();
        let of_part = String::from_utf8(of_part).unwrap();
        for whole in ["home.weigh", "dated/", "last"] {
            let shown = run(&format!("diff -s --no-remember {flags} {whole} home/src"));
            let text = String::from_utf8(shown.stdout.clone()).unwrap();
            let without = |text: &str| {
                // When each was made.
                let (before, after) = text.split_once("\"time\":").unwrap_or((text, ""));
                format!("{before}{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
            };
            assert_eq!(without(&text), without(&of_part), "{flags} {whole}");
            assert_eq!(shown.code(), 0, "{}", shown.complaint());
        }
    }
    // As a limit, too: 1,300 of 5,700 more is 23 %.
    for (limit, code) in [("10%", 3), ("1.2K", 3), ("30%", 0), ("2K", 0)] {
        for whole in ["home.weigh", "last"] {
            let flags = format!("diff -s --no-remember {whole} home/src --fail-growth {limit}");
            assert_eq!(run(&flags).code(), code, "{flags}");
        }
    }
    // What was not there is new, and two snapshots do as well.
    let text = run("diff -s home.weigh home/fresh").text();
    assert!(text.starts_with("home/fresh grew by 300B ") && text.contains("0B → 300B"), "{text}");
    run("-s home/src --save now.weigh").clean();
    let text = run("diff -s home.weigh now.weigh").text();
    assert!(text.starts_with("home/src grew by 1.27Ki "), "{text}");
    // Where flags depend on the start of the scan, a part is not the same.
    run("-s -x home --save mounts.weigh").clean();
    let shown = run("diff -s -x mounts.weigh home/src");
    assert_eq!(shown.code(), 2, "{}", shown.complaint());
    assert!(shown.complaint().contains("it is of "), "{}", shown.complaint());
}

/// What could not be read above a part may have been all of it.
#[test]
fn a_part_that_could_not_be_read_is_not_new() {
    let fixture = Fixture::new().file("home/shut/a/f", 5_000).file("home/open/f", 1).dir("kept");
    let fixture = fixture.mode("kept", 0o777).mode("home/shut", 0o000);
    let run = |flags: &str| weigh(flags).within(fixture.path());
    run("-s -q home --save kept/home.weigh").by_nobody(&fixture).run();
    let fixture = fixture.mode("home/shut", 0o755);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    let shown = run("diff -s kept/home.weigh home/shut/a");
    assert_eq!((shown.code(), shown.stdout.len()), (2, 0));
    let said = shown.complaint();
    assert!(said.contains("home/shut could not be read when it was made"), "{said}");
    // The directory itself, and others.
    assert_eq!(run("diff -s kept/home.weigh home/shut").code(), 1);
    let text = run("diff -s kept/home.weigh home/open").text();
    assert!(text.starts_with("home/open did not change "), "{text}");
}

/// The scans that weigh keeps are no growth of the home they are in.
#[test]
fn kept_scans_are_left_out_of_a_comparison() {
    let fixture = Fixture::new().file("home/f", 10_000);
    let run = |flags: &str| {
        let home = fixture.at("home");
        weigh(&format!("diff -s {flags}")).env("HOME", &home).within(fixture.path()).run()
    };
    run("home");
    run("home").text();
    for round in 0..3 {
        let text = run("home").text();
        assert!(text.starts_with("home did not change since today "), "{round}: {text}");
        assert_eq!(text.lines().count(), 1, "{round}: {text}");
        let json: serde_json::Value = serde_json::from_slice(&run("home -j").clean()).unwrap();
        assert_eq!(json["change"], 0, "{json}");
    }
    fs::write(fixture.at("home/f"), [0; 10_500]).unwrap();
    let text = run("home").text();
    assert!(text.starts_with("home grew by 500B "), "{text}");
}

#[test]
fn a_day_in_other_words_is_answered_by_those_there_are() {
    let fixture = Fixture::new().file("t/f", 1);
    for day in ["someday", "2026-13-45", "\u{1b}[2J"] {
        let said = at_home(&fixture, "diff t --since").arg(day).run();
        let complaint = said.complaint();
        assert_eq!(said.code(), 2, "{day:?}: {complaint}");
        assert!(complaint.contains("is neither a file nor a time"), "{complaint}");
        assert!(!complaint.contains('\u{1b}'), "{complaint:?}");
    }
    for file in ["2w.weigh", "./2w", "saved/"] {
        let said = at_home(&fixture, "diff t --since").arg(file).run();
        assert_eq!(said.code(), 2, "{file}");
        assert!(said.complaint().starts_with("weigh: error: cannot load"), "{}", said.complaint());
    }
}

/// Once, `--remember --since last` failed until a run without `--since`, so a line of cron with both never began to work.
#[test]
fn the_first_scan_has_nothing_to_compare_with_and_is_remembered() {
    for (day, days_ago) in [("last", 0), ("yesterday", 1), ("7d", 7)] {
        let fixture = Fixture::new().file("t/f", 1);
        let flags = "diff -s -j --fail-growth 1b --remember t --since";
        let run = |day: &str| at_home(&fixture, flags).arg(day).run();
        // A date does not come again, and a scan with a filter begins nothing.
        assert_eq!(run("2026-01-01").code(), 2);
        let filtered = at_home(&fixture, "diff --remember -X g t --since").arg(day).run();
        assert_eq!((filtered.code(), remembered(&fixture).len()), (2, 0), "{day}");

        let first = run(day);
        let said = first.complaint();
        assert_eq!(first.code(), 0, "{day}: {said}");
        let is_said = said.contains(" kept. This one is kept (");
        assert!(is_said && said.lines().count() == 2, "{day}: {said}");
        let shown: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
        assert!(shown.get("change").is_none() && shown["size"] == 1, "{day}: {shown}");
        assert_eq!(remembered(&fixture).len(), 1);
        if days_ago > 0 {
            let second = run(day);
            assert_eq!(second.code(), 0, "{day}");
            assert!(second.complaint().contains("the oldest is of 20"), "{}", second.complaint());
            at_home(&fixture, flags).args([day, "-q"]).run().clean();
        }
        at_home(&fixture, "history --forget").run().text();
        walk_on(&fixture, now() - days_ago * DAY);
        fs::write(fixture.at("t/f"), [0; 5]).unwrap();
        let grown = run(day);
        assert_eq!(grown.code(), 3, "{day}: {}", grown.complaint());
    }
}

/// Once, a signal ended weigh, and a part of the snapshot stayed.
#[test]
fn a_snapshot_larger_than_a_file_may_be_is_an_error_and_is_removed() {
    let fixture = (0..1000).fold(Fixture::new(), |it, i| it.sparse(format!("t/{i}-{}", i * i), i));
    let shown = at_home(&fixture, "--remember t").limited("-f 1").run();
    assert_eq!(shown.code(), 0, "{}", shown.complaint());
    assert!(shown.complaint().contains("File too large\n"), "{}", shown.complaint());
    assert_eq!(remembered(&fixture), BTreeSet::new());
}

#[test]
fn only_the_user_can_read_it() {
    let fixture = Fixture::new().file("t/f", 1);
    keep(at_home(&fixture, "--remember t").run());
    let files = remembered(&fixture);
    let file = files.first().unwrap();
    assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600);
    for directory in file.ancestors().skip(1).take(4) {
        assert_eq!(directory.metadata().unwrap().mode() & 0o7777, 0o700, "{directory:?}");
    }
}

#[test]
fn only_whole_walks_of_directories_are_kept() {
    let fixture = Fixture::new().file("t/f", 1).file("t/u/g", 1).file("list", 0);
    fs::write(fixture.at("list"), "t\n").unwrap();
    weigh("t --save s.weigh").within(fixture.path()).run().clean();
    at_home(&fixture, "t").run().clean();
    let filter = "a filter leaves something out";
    let config = fixture.at("config.toml");
    fs::write(&config, "remember = true\n").unwrap();
    for (flags, why) in [
        ("--exclude x t", filter),
        ("-M -3 t", filter),
        ("--gitignore t", filter),
        ("--collapse u t", filter),
        ("-i t", filter),
        ("t/f", "only scans of directories are"),
        ("--files-from list", "the PATHs are from a list"),
        ("--from s.weigh", "nothing is scanned here"),
    ] {
        let shown = at_home(&fixture, "--remember").args(flags.split(' ')).run();
        let said = shown.complaint();
        assert_eq!(shown.code(), 0, "{flags}: {said}");
        assert!(
            said.contains(&format!("weigh: note: this scan is not kept: {why}\n")),
            "{flags}: {said}"
        );
        // Who has it in the config file is not told every time: this is no terminal.
        let shown = at_home(&fixture, flags).env("WEIGH_CONFIG_PATH", &config).run();
        assert!(!shown.complaint().contains("remembered"), "{flags}: {}", shown.complaint());
        assert_eq!(remembered(&fixture), BTreeSet::new(), "{flags}");
    }
    // The same flags, and what is read in full.
    keep(at_home(&fixture, "--remember t -n 1").run());
    assert_eq!(remembered(&fixture).len(), 1);
    keep(at_home(&fixture, "--remember -x -s --by type t").run());
    assert_eq!(remembered(&fixture).len(), 2);
}

/// Nothing was kept of a home with one directory that the user cannot read, and nothing said so.
#[test]
fn what_could_not_be_read_is_kept_as_incomplete_and_limits_nothing() {
    let fixture = Fixture::new().file("t/f", 1).file("t/closed/g", 1_000).unreadable("t/closed");
    let mut fixture = fixture.dir("state");
    if rustix::process::geteuid().is_root() {
        fixture = fixture.owned("state", 65534);
    }
    let run = |flags: &str| at_home(&fixture, flags).by_nobody(&fixture).run();
    let shown = run("--remember t");
    let said = shown.complaint();
    assert_eq!(shown.code(), 1, "{said}");
    assert!(said.contains("weigh: note: kept this scan: ") && said.contains("t/closed"), "{said}");
    let kept = remembered(&fixture);
    let [file] = &kept.iter().collect::<Vec<_>>()[..] else { panic!("{kept:?}") };
    assert_eq!(weigh("-j --from").arg(file).run().code(), 1);
    // It is the last scan. What was not read then is neither growth nor a reason to fail.
    fs::set_permissions(fixture.at("t/closed"), PermissionsExt::from_mode(0o755)).unwrap();
    let shown = run("diff -s t --no-remember --since last");
    assert_eq!(shown.code(), 1, "{}", shown.complaint());
    assert!(shown.complaint().contains("is incomplete: what is new in"), "{}", shown.complaint());
    let shown = run("diff -s t --no-remember --since last --fail-growth 1b");
    assert_eq!(shown.code(), 2, "{}", shown.complaint());
    assert!(shown.complaint().contains("no complete scan of t was kept"), "{}", shown.complaint());
    let shown = run("diff -s t --since last --fail-growth 1b");
    assert_eq!(shown.code(), 0, "{}", shown.complaint());
    assert!(shown.complaint().contains("This one is kept"), "{}", shown.complaint());
    fs::write(fixture.at("t/f"), [0; 500]).unwrap();
    assert_eq!(run("diff -s t --since last --fail-growth 1b").code(), 3);
}

/// A trend counted what could not be read at one time as growth by the next.
#[test]
fn a_trend_leaves_out_what_is_incomplete() {
    let fixture = Fixture::new().sparse("t/f", 1_000);
    for (days, length, is_complete) in [(3, 1_000, true), (2, 0, false), (1, 2_000, true)] {
        fs::File::create(fixture.at("t/f")).unwrap().set_len(length).unwrap();
        let file = walk_on(&fixture, now() - days * DAY);
        saved::change(&file, |header| header["complete"] = is_complete.into());
    }
    let shown = at_home(&fixture, "history -s -j t").run();
    assert_eq!(shown.code(), 1, "one is incomplete");
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["directories"][0]["sizes"], serde_json::json!([1_000, 0, 2_000]));
    let rate = shown["directories"][0]["rate"].as_f64().unwrap();
    assert!((rate - 500.0).abs() < 0.1, "{shown}");
}

/// A container and a job of CI have another host name each time. To read, that does not matter; to remove, it does: what
/// another machine saved is its own.
#[test]
#[ignore = "changes the name of the host, for itself alone"]
fn what_another_host_saved_is_read_and_never_removed() {
    let fixture = Fixture::new().file("t/f", 1).dir("keep").dir("ci");
    let run = |script: &str| {
        let on = "export XDG_STATE_HOME=$PWD/state
            on() { unshare --uts sh -c 'hostname $0; exec \"$@\"' \"$@\"; }";
        let output = in_namespace(&fixture, &format!("{on}\n{script} 2>&1 >shown"));
        String::from_utf8(output.stdout).unwrap()
    };
    let save = |host: &str, flags: &str| run(&format!("on {host} \"$0\" t --save {flags}"));
    // Of one day, one of each host.
    for host in ["web1", "web2", "web1", "web2"] {
        save(host, "keep/ --keep 1");
    }
    assert_eq!(fixture.names("keep").len(), 2);
    let said = save("web1", "keep/ --keep 1");
    assert!(said.contains("--keep left 1 snapshot of other hosts\nhint: --series NAME"), "{said}");
    assert_eq!(fixture.names("keep").len(), 2);
    for host in ["web1", "web2", "web3"] {
        assert!(!save(host, "ci/ --keep 1 --series ci").contains("other hosts"));
        assert_eq!(fixture.names("ci").len(), 1, "{host}");
    }
    // Which of the two is newer, names do not say within a second.
    let said = run("on web3 \"$0\" diff -s t --since keep/");
    let said = said.replace("host web2", "host web1");
    assert!(
        said.starts_with("weigh: note: compared with a scan of host web1, as web3 has none"),
        "{said}"
    );
    assert_eq!(run("on web1 \"$0\" diff -s t --since keep/"), "");
    assert_eq!(run("on web9 \"$0\" diff -s t --since ci/ --series ci"), "");

    run("on web1 \"$0\" --remember t");
    // Names have seconds, and the next scan may be of the same one.
    let first = set_back(&fixture, &BTreeSet::new(), now() - 60);
    let bound = first.metadata().unwrap().len() * 3 / 2;
    fs::write(fixture.at("bound.toml"), format!("remember-bound = '{bound}b'")).unwrap();
    let said = run("on web2 \"$0\" --config bound.toml --remember t");
    assert!(said.contains("scans of other hosts take more than remember-bound"), "{said}");
    assert!(first.exists() && remembered(&fixture).len() == 2);
    let said = run("on web3 \"$0\" diff -s t --no-remember --since last");
    assert!(
        said.starts_with("weigh: note: compared with a scan of host web2, as web3 has none"),
        "{said}"
    );
    let said = run("on web3 \"$0\" history -s t");
    assert!(said.contains("these are scans of 2 hosts"), "{said}");
    assert!(fixture.text("shown").contains("2 snapshots"), "{}", fixture.text("shown"));
    let said = run("on web2 \"$0\" history --forget t");
    assert!(said.contains("left 1 of other hosts"), "{said}");
    assert_eq!(remembered(&fixture), BTreeSet::from([first.clone()]));
    run("on web2 \"$0\" history --forget t --series web1");
    assert_eq!(remembered(&fixture), BTreeSet::new());
}

#[test]
fn a_walk_that_was_interrupted_is_not_kept() {
    let fixture = large();
    let mut is_reached = false;
    for _ in 0..30 {
        let before = remembered(&fixture);
        let mut child = at_home(&fixture, "-d 0 -T 1 --remember top").spawn();
        interrupt(&mut child);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if said.contains("weigh: note: this scan is not kept: the scan was interrupted\n") {
            assert_eq!((output.status.code(), remembered(&fixture)), (Some(130), before), "{said}");
            is_reached = true;
        }
    }
    assert!(is_reached, "no run was interrupted");
}

#[test]
fn a_directory_that_others_can_change_is_not_used() {
    let said = |fixture: &Fixture| {
        let shown = at_home(fixture, "--remember t").run();
        assert_eq!(shown.code(), 0, "the walk is fine");
        assert!(!shown.stdout.is_empty());
        let complaint = shown.complaint();
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        assert!(complaint.starts_with("weigh: note: this scan is not kept: "), "{complaint}");
        assert_eq!(remembered(fixture), BTreeSet::new());
        complaint
    };
    let tree = || Fixture::new().file("t/f", 1);
    said(&tree().file("state", 1));
    said(&tree().file("state/weigh", 1));
    let open = tree();
    keep(at_home(&open, "--remember t").run());
    at_home(&open, "history --forget").run();
    for series in fs::read_dir(open.at("state/weigh/snapshots")).unwrap() {
        fs::set_permissions(series.unwrap().path(), PermissionsExt::from_mode(0o770)).unwrap();
    }
    assert!(said(&open).contains("0700"));
    if rustix::process::geteuid().is_root() {
        let theirs = "another user";
        assert!(said(&tree().dir("state").owned("state", 65534)).contains(theirs));
        let link = tree().dir("elsewhere");
        fs::create_dir(link.at("state")).unwrap();
        symlink(link.at("elsewhere"), link.at("state/weigh")).unwrap();
        rustix::fs::chownat(
            rustix::fs::CWD,
            link.at("state/weigh"),
            Some(rustix::fs::Uid::from_raw(65534)),
            None,
            rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
        )
        .unwrap();
        assert!(said(&link).contains(theirs));
    }
}

/// Once, that was said only when the screen was left.
#[test]
#[cfg(feature = "tui")]
fn a_screen_says_that_there_is_no_comparison_yet() {
    let fixture = Fixture::new().file("t/only", 1);
    let terminal = &mut Terminal::new();
    let child = at_home(&fixture, "--remember --ui --since last t").on(terminal).spawn();
    // A single word: blanks are not written to a screen that has them already.
    terminal.type_until(b"", "earlier");
    terminal.type_in(b"q");
    // It is said before the scan ends, so this may be an interrupt.
    assert!(matches!(child.wait_with_output().unwrap().status.code(), Some(0 | 1)));
}

/// Of random walks of several trees: those of a series that `--keep 7` would keep, and of all of them as many of the
/// newest as fit.
#[test]
fn what_is_old_goes_as_the_documentation_says() {
    let mut dice = Dice::new(40);
    let mut fixture = Fixture::new();
    for tree in 0..10 {
        fixture = fixture.file(format!("t{tree}/f"), 1);
    }
    // The time and the length of each file.
    let mut left: BTreeMap<PathBuf, (i64, u64)> = BTreeMap::new();
    let mut time = START;
    let mut gone = [0, 0];
    for walk in 0..rounds(80, 1_000) {
        time += dice.below(DAY as usize / 2) as i64 * if walk < 20 { 12 } else { 1 };
        let bound = 12_000;
        let flags = format!("--remember @remember-bound={bound}b t{}", dice.below(10));
        let shown = at_home(&fixture, &flags).run();
        assert_eq!(shown.code(), 0, "{}", shown.complaint());
        let known: BTreeSet<_> = left.keys().cloned().collect();
        let new: Vec<_> = remembered(&fixture).difference(&known).cloned().collect();
        let [new] = &new[..] else { panic!("{new:?}") };
        left.insert(new.clone(), (now(), new.metadata().unwrap().len()));

        let of_series = left.iter().filter(|(file, _)| file.parent() == new.parent());
        let mut of_series: Vec<_> =
            of_series.map(|(file, (time, _))| (*time, file.clone())).collect();
        of_series.sort_by(|one, other| other.cmp(one));
        let mut spans: [BTreeSet<String>; 3] = Default::default();
        for (time, file) in of_series {
            let date = Timestamp::from_second(time).unwrap().to_zoned_datetime(TimeZone::UTC);
            let mut is_kept = false;
            for (seen, format) in spans.iter_mut().zip(["%F", "%G-%V", "%Y-%m"]) {
                is_kept |= seen.len() < 7 && seen.insert(date.strftime(format).to_string());
            }
            if !is_kept {
                left.remove(&file);
                gone[0] += 1;
            }
        }
        while left.values().map(|(_, length)| length).sum::<u64>() > bound {
            let oldest = left.iter().min_by_key(|(_, (time, _))| *time).unwrap().0.clone();
            assert_ne!(oldest, *new, "what was just kept stays");
            left.remove(&oldest);
            gone[1] += 1;
            let name = oldest.file_name().unwrap().to_str().unwrap();
            assert!(shown.complaint().contains("remember-bound removed"), "{name}");
        }
        assert_eq!(remembered(&fixture), left.keys().cloned().collect(), "walk {walk}");

        let before = left.keys().filter(|file| *file != new).cloned().collect();
        let set = set_back(&fixture, &before, time);
        left.remove(new);
        let length = set.metadata().unwrap().len();
        left.insert(set, (time, length));
    }
    assert!(gone[0] > 5 && gone[1] > 5, "{gone:?}");
}

/// The second one of a second went first, because its number begins with what sorts before a dot.
#[test]
fn of_one_second_the_first_goes_first() {
    let fixture = Fixture::new().file("t/f", 1).file("u/f", 1).file("v/f", 1);
    let before = remembered(&fixture);
    keep(at_home(&fixture, "--remember u").run());
    let second = set_back(&fixture, &before, START);
    let numbered = second.with_file_name("weigh-2026-01-01T120000Z-2.weigh");
    fs::rename(&second, &numbered).unwrap();
    let first = walk_on(&fixture, START);
    let bound = first.metadata().unwrap().len() * 5 / 2;
    let shown = at_home(&fixture, &format!("--remember @remember-bound={bound}b v")).run();
    assert_eq!(shown.code(), 0, "{}", shown.complaint());
    assert!(numbered.exists() && !first.exists(), "{}", shown.complaint());
}

#[test]
fn a_walk_that_alone_takes_too_much_is_not_kept_and_others_stay() {
    let fixture = Fixture::new().file("t/f", 1);
    keep(at_home(&fixture, "--remember t").run());
    let before = remembered(&fixture);
    let fixture = fixture.file("u/f", 1);
    let shown = at_home(&fixture, "--remember @remember-bound=100b u").run();
    assert_eq!(shown.code(), 0);
    assert!(
        shown.complaint().contains("more than remember-bound in the config file"),
        "{}",
        shown.complaint()
    );
    assert_eq!(remembered(&fixture), before);
}

#[test]
fn files_of_others_in_its_directory_stay() {
    let fixture = Fixture::new().file("t/f", 1);
    let old = walk_on(&fixture, START);
    let theirs = old.with_file_name("weigh-2020-01-01T000000Z.weigh");
    fs::write(&theirs, vec![1; 50_000]).unwrap();
    let notes = old.with_file_name("notes.txt");
    fs::write(&notes, "mine").unwrap();
    let shown = at_home(&fixture, "--remember @remember-bound=1k t").run();
    assert_eq!(shown.code(), 0);
    assert!(theirs.exists() && notes.exists());
    at_home(&fixture, "history --forget").run();
    assert!(theirs.exists() && notes.exists() && !old.exists());
}

/// The list had no heading, and `-p` and `-j` changed nothing in it.
#[test]
fn kept_scans_are_listed_with_headings_their_files_and_as_json() {
    let fixture = Fixture::new().file("t/f", 1).file("u\x1b/f", 1);
    let first = walk_on(&fixture, START);
    let second = keep(at_home(&fixture, "-x --remember u\x1b").run());
    let run = |flags: &str| at_home(&fixture, flags).run().text();
    let listed = run("history --scans");
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(lines[0], "scanned           takes  PATH and flags");
    assert!(lines[1].starts_with("2026-01-01 12:00  ") && lines[1].ends_with("/t"), "{listed}");
    assert!(lines[2].ends_with(" --limit-filesystem") && !listed.contains('\x1b'), "{listed}");
    let files = run("history --scans -p");
    for (line, file) in files.lines().skip(1).zip([&first, &second]) {
        assert!(line.ends_with(&format!("  {}", file.display())), "{files}");
    }
    let (json, again) = (run("history --scans -j"), run("history --scans -j t"));
    let [all, of_t] =
        [json, again].map(|it| serde_json::from_str::<serde_json::Value>(&it).unwrap());
    assert_eq!(all["scans"].as_array().unwrap().len(), 2);
    let scan = &of_t["scans"][0];
    assert_eq!(of_t["scans"].as_array().unwrap().len(), 1);
    assert_eq!((&scan["time"], &scan["complete"]), (&START.into(), &true.into()));
    assert_eq!(scan["file"], first.to_str().unwrap());
    assert_eq!(scan["bytes"], fs::metadata(&first).unwrap().len());
    assert_eq!(scan["roots"][0]["path"], fixture.at("t").canonicalize().unwrap().to_str().unwrap());
    assert_eq!(all["scans"][1]["options"], serde_json::json!(["--limit-filesystem"]));
    assert_eq!(run("history --forget -j").matches("\"file\"").count(), 2);
    assert!(at_home(&fixture, "history --scans").run().stdout.is_empty());
}

/// A directory that was moved was gone, and another one new.
#[test]
fn a_history_tells_moved_directories() {
    let fixture = Fixture::new().file("t/old/in/f", 50_000).file("t/old/g", 9_000).file("t/a/h", 1);
    walk_on(&fixture, START);
    walk_on(&fixture, START + DAY);
    fs::rename(fixture.at("t/old"), fixture.at("t/a/n\x1bw")).unwrap();
    walk_on(&fixture, START + 2 * DAY);
    let text = at_home(&fixture, "history t").run().text();
    assert!(text.contains(r"n\x1bw  moved from old") && !text.contains("gone"), "{text}");
    let json = at_home(&fixture, "history -j t").run().text();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let moved = json["directories"].as_array().unwrap().iter();
    let moved: Vec<_> = moved.filter(|it| it["moved_from"] == "old").collect();
    assert_eq!(moved.len(), 1, "{json}");
    assert_eq!(
        moved[0]["sizes"].as_array().unwrap()[..2],
        [(); 2].map(|()| serde_json::Value::Null)
    );
}

/// It refused a directory below a kept one, and did not name that.
#[test]
fn a_history_of_a_part_is_that_of_the_scans_above() {
    let fixture = Fixture::new().file("t/a/b/log", 10_000).file("t/other", 900_000);
    for day in 0..3 {
        fs::write(fixture.at("t/a/b/log"), vec![1; 10_000 + 20_000 * day]).unwrap();
        walk_on(&fixture, START + day as i64 * DAY);
    }
    let part = at_home(&fixture, "history -s t/a").run();
    let text = part.text();
    assert!(text.starts_with("t/a grew by 39.1Ki in 2 days: 9.77Ki → 48.8Ki"), "{text}");
    assert!(text.contains("  b\n") && !text.contains("other"), "{text}");
    let above = fixture.at("t").canonicalize().unwrap();
    let note = format!("from the kept scans of {}, which contains this directory", above.display());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&note), "{text}");
    // Within it, without a PATH; and beside its own scans, those above do not count.
    let here = at_home(&fixture, "history -s").within(fixture.at("t/a")).run().text();
    assert!(here.starts_with("This directory grew by 39.1Ki in 2 days"), "{here}");
    keep(at_home(&fixture, "--remember t/a").run());
    let own = at_home(&fixture, "history -s t/a").run().text();
    assert!(own.contains("1 snapshot, of") && !own.contains("which contains"), "{own}");
    // With other flags, and of what is elsewhere, there is none.
    for tree in ["t/a/b/log", "elsewhere"] {
        fs::create_dir_all(fixture.at("elsewhere")).unwrap();
        assert_eq!(at_home(&fixture, "history").arg(tree).run().code(), 2, "{tree}");
    }
}

/// `diff -x` kept a scan, and `history`, which has no `-x`, said that nothing was kept.
#[test]
fn scans_with_flags_have_a_history_where_there_are_no_others() {
    let fixture = Fixture::new().dir("home").file("t/log", 9_000);
    let walk_on = |flags: &str, time| {
        let before = remembered(&fixture);
        keep(at_home(&fixture, &format!("--remember {flags} t")).run());
        set_back(&fixture, &before, time)
    };
    for days in [3, 2] {
        walk_on("-x", now() - days * DAY);
    }
    let shown = at_home(&fixture, "history -s -c t").run().text();
    assert!(shown.contains("2 snapshots"), "{shown}");
    // Those without flags come first.
    walk_on("", now() - DAY);
    let shown = at_home(&fixture, "history -s t").run().text();
    assert!(shown.contains("1 snapshot, of"), "{shown}");
}

#[test]
fn what_is_forgotten_is_named_and_gone() {
    let fixture = Fixture::new().file("t/f", 1).file("u/\x1b[31m/f", 1).file("v/f", 1);
    for tree in ["t", "t u", "u/\x1b[31m", "v"] {
        keep(at_home(&fixture, "--remember").args(tree.split(' ')).run());
    }
    assert_eq!(remembered(&fixture).len(), 4);
    let text = at_home(&fixture, "history --forget t").run().text();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.lines().all(|line| line.starts_with("20") && line.contains("/t")), "{text}");
    assert_eq!(remembered(&fixture).len(), 2);
    let text = at_home(&fixture, "history --forget").run().text();
    assert!(!text.contains('\x1b') && text.lines().count() == 2, "{text}");
    assert_eq!(remembered(&fixture), BTreeSet::new());
    let shown = at_home(&fixture, "history --forget").run();
    assert_eq!((shown.code(), shown.stdout.len()), (0, 0));
    assert!(shown.complaint().contains("nothing is remembered"), "{}", shown.complaint());
    assert!(fixture.at("t/f").exists());
}

/// What somebody saved there is not remembered.
#[test]
fn what_was_saved_beside_it_stays() {
    let fixture = Fixture::new().file("t/f", 1).dir("state/weigh/snapshots/mine");
    at_home(&fixture, "t --save state/weigh/snapshots/mine/").run().clean();
    let saved = remembered(&fixture);
    for path in ["state", "state/weigh", "state/weigh/snapshots"] {
        fs::set_permissions(fixture.at(path), PermissionsExt::from_mode(0o700)).unwrap();
    }
    keep(at_home(&fixture, "--remember @remember-bound=1k t").run());
    at_home(&fixture, "history --forget").run().clean();
    assert_eq!(remembered(&fixture), saved);
}

#[test]
fn two_at_once_both_stay() {
    let fixture = Fixture::new().file("t/f", 1).file("u/f", 1);
    for _ in 0..rounds(5, 200) {
        let both = ["t", "u", "t"].map(|tree| at_home(&fixture, "--remember").arg(tree).spawn());
        for child in both {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_kept =
                said.starts_with("weigh: note: kept this scan: ") && said.lines().count() == 1;
            assert!(output.status.success() && is_kept, "{said}");
        }
        let files = remembered(&fixture);
        assert!((2..=3).contains(&files.len()), "{files:?}");
        for tree in ["t", "u"] {
            at_home(&fixture, "diff --since last").arg(tree).run().clean();
        }
    }
}

#[test]
fn killed_at_any_moment_the_rest_stays() {
    let mut fixture = Fixture::new();
    for file in 0..3_000 {
        fixture = fixture.file(format!("t/d{}/f{file}", file % 50), 0);
    }
    keep(at_home(&fixture, "--remember t").run());
    for round in 0..rounds(12, 200) {
        let mut child = at_home(&fixture, "--remember t").spawn();
        thread::sleep(Duration::from_millis(round as u64 * 7 % 60));
        child.kill().unwrap();
        child.wait().unwrap();
        at_home(&fixture, "diff --since last t").run().clean();
    }
    keep(at_home(&fixture, "--remember t").run());
    let files = remembered(&fixture);
    assert_eq!(files.len(), 1, "no drafts, and one walk of this day: {files:?}");
}

#[test]
#[ignore = "mounts a small tmpfs"]
fn a_full_disk_costs_no_walk() {
    let fixture = Fixture::new().file("t/f", 1).dir("state");
    let output = in_namespace(
        &fixture,
        "export XDG_STATE_HOME=$PWD/state; mount -t tmpfs -o size=64k tmpfs state
        \"$0\" --remember t >shown && head -c 1M /dev/zero >state/filler 2>/dev/null
        \"$0\" --remember t >shown-full 2>said; echo $?
        cmp shown shown-full && cat said && rm state/filler && \"$0\" diff t --since last",
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut lines = printed.lines();
    assert_eq!(lines.next(), Some("0"), "{printed}");
    assert!(lines.next().is_some_and(|said| said.contains("No space left")), "{printed}");
    assert!(printed.contains("t did not change since today"), "{printed}");
}
