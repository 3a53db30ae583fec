//! Two snapshots are compared only if they count alike: by what was given when they were made. Of a tree that has
//! not changed, what is compared has not changed either; everything else is refused, with the reason.

use std::fs;

use serde_json::Value;

use crate::fixture::Fixture;
use crate::run::{Shown, beside_unmatched, weigh};

/// Something for each flag to leave out, or to count differently.
fn one_for_each_flag() -> Fixture {
    Fixture::new()
        .dir("top/.git")
        .file("top/.gitignore", 0)
        .file("top/a.o", 5000)
        .file("top/b.o", 6000)
        .file("top/src/main.py", 7000)
        .file("top/cache/c.py", 8000)
        .file("top/cache/deep/c.rs", 9000)
        .hard_link("top/a.o", "top/src/link.o")
        .hard_link("top/b.o", "outside")
        .symlink("../outside", "top/src/out")
        .modified("top/b.o", 1_000_000_000)
        .modified("top/cache", 1_000_000_000)
}

fn run(fixture: &Fixture, flags: &str) -> Shown {
    weigh(flags).within(fixture.path()).run()
}

/// It is shown, and nothing has changed. Some of the filters have nothing to leave out.
fn same(shown: Shown, what: &str) {
    let complaint = shown.complaint();
    assert_eq!((shown.code(), beside_unmatched(&complaint)), (0, Vec::new()), "{what}");
    let root: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&root["change"], &root["churn"]), (&0.into(), &0.into()), "{what}: {root}");
}

/// It is refused, as a mistake on the command line, in a line that says `why`.
fn refused(shown: &Shown, why: &str, what: &str) {
    let complaint = shown.complaint();
    assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{what}: {complaint}");
    assert!(
        complaint.starts_with("weigh: error: cannot compare with snapshot: it was saved "),
        "{complaint}"
    );
    assert!(complaint.contains(why) && complaint.lines().count() == 2, "{what}: {complaint}");
}

/// What was given to save, what is given to compare, and why that is refused, if it is.
pub const CASES: &[(&str, &str, &str)] = &[
    ("", "", ""),
    ("-l", "-l", ""),
    ("", "-l", "without --count-links\nhint: leave --count-links out here"),
    ("-l", "", "with --count-links\nhint: give --count-links here too"),
    ("-L", "-L", ""),
    ("", "-L", "without --dereference-links"),
    ("-L", "", "with --dereference-links"),
    ("-L -e o$", "-L -e o$", ""),
    ("-x", "-x", ""),
    ("", "-x", "without --limit-filesystem"),
    ("-x", "", "with --limit-filesystem"),
    ("--skip network", "--skip network", ""),
    ("", "--skip network", "without --skip=network"),
    ("--exclude-caches", "--exclude-caches", ""),
    ("", "--exclude-caches", "without --exclude-caches"),
    ("--gitignore", "--gitignore -X cache", ""),
    ("", "--gitignore", "without --gitignore"),
    ("--gitignore", "", "with --gitignore"),
    ("--gitignore", "--only-ignored", "with --gitignore"),
    ("", "--only-ignored", "without --only-ignored"),
    ("-A -30", "-A -30", ""),
    ("", "-A -30", "without --atime=-30"),
    ("-y -30", "", "with --ctime=-30"),
    // The time of last modification is saved.
    ("-M +30", "-M +30", ""),
    ("-M +30", "-M +31", "with --mtime=+30, and not with --mtime=+31"),
    ("", "-M +30", ""),
    ("--details -M +30", "", "with --mtime=+30"),
    ("", "--older 1d", ""),
    ("--newer 1d", "--newer 2d", "with --newer=1d, and not with --newer=2d"),
    ("--details", "--owner 0", ""),
    ("", "--owner 0", "without --owner=0"),
    // What is left out here is left out there too.
    ("", "-X cache -i -v py$ --exclude *.rs --type-not c", ""),
    ("", "-e o$ --include *.o --type py", ""),
    ("-X cache", "-X cache", ""),
    ("-X cache", "-X cache -X src", ""),
    ("-X cache -X src", "-X src -X cache", ""),
    ("-X cache", "", "with --ignore-directory=cache\nhint: give --ignore-directory=cache here too"),
    ("-X cache", "-X src", "with --ignore-directory=cache"),
    ("-i -v py$", "-v rs$ -v py$ -i -s", ""),
    ("-v py$", "-v rs$", r"with --invert-filter=py$"),
    // Of these, more of them lets more through.
    ("-e o$ -e py$", "-e py$ -e o$", ""),
    ("-e o$", "-e py$ -e o$", "with --filter=o$, and not with --filter=o$ --filter=py$"),
    ("--type py", "--type py --type rust", "with --type=py, and not"),
    ("--include *.o", "--include *.o --include *.py", "with --include=*.o, and not"),
    ("--include *.py --include *.o", "--include *.o --include *.py -X cache", ""),
    // The last one that matches decides, if one of them takes something back.
    ("--exclude *.o", "--exclude *.py --exclude *.o", ""),
    ("--exclude *.o --exclude !a.o", "--exclude *.o --exclude !a.o", ""),
    ("--exclude *.o", "--exclude *.o --exclude !a.o", "with --exclude=*.o, and not"),
    ("--exclude *.o --exclude !a.o", "--exclude !a.o --exclude *.o", "--exclude=!a.o, and not"),
    ("", "--exclude *.o --exclude !a.o", ""),
    ("--exclude-from rules", "--exclude-from rules --exclude *.py", ""),
    (
        "--exclude-from rules",
        "--exclude-from rules --exclude !a.o",
        "with --exclude-from=rules, and not",
    ),
    ("--exclude-from rules", "--exclude *.o", "with --exclude-from=rules"),
    // What is shown is another matter.
    ("-X cache -n 1", "-X cache --collapse src --sort name", ""),
];

#[test]
fn what_does_not_count_alike_is_refused_and_says_why() {
    let fixture = one_for_each_flag();
    fs::write(fixture.at("rules"), "*.o\n").unwrap();
    fs::write(fixture.at("top/.gitignore"), "src\n").unwrap();
    for (saved, given, why) in CASES {
        // What was weighed by lengths is compared by lengths.
        let measure = if given.contains("-s") { "-s" } else { "" };
        let given = given.trim_end_matches("-s");
        run(&fixture, &format!("{measure} {saved} top --save snapshot")).clean();
        let what = format!("{saved:?}, then {given:?}");
        let shown =
            run(&fixture, &format!("diff -j {measure} {given} top --since snapshot --save again"));
        let is_saved = fs::remove_file(fixture.at("again")).is_ok();
        let shown = if given.contains("--collapse") {
            run(&fixture, &format!("diff -j {measure} {given} top --since snapshot"))
        } else {
            // Nothing is walked for nothing.
            assert_eq!(is_saved, why.is_empty(), "{what}");
            shown
        };
        if why.is_empty() { same(shown, &what) } else { refused(&shown, why, &what) }
    }
}

#[test]
fn two_snapshots_are_compared_if_they_count_alike() {
    let fixture = one_for_each_flag();
    let save = |flags: &str, file: &str| {
        run(&fixture, &format!("{flags} top --save {file}")).clean();
    };
    for (now, before, given, why) in [
        ("-l", "-l", "", ""),
        ("-l", "", "", "without --count-links\nhint: save both snapshots with the same flags"),
        ("", "-l", "", "with --count-links\nhint: save both snapshots with the same flags"),
        ("-l -x", "-x -l -X cache", "-X cache", ""),
        ("-X cache", "", "", "without --ignore-directory=cache"),
        ("", "-X cache", "", "with --ignore-directory=cache"),
        ("-X cache", "", "-X cache", ""),
        ("", "-X cache", "-X cache -X src", ""),
        ("-X src", "-X cache", "-X cache -X src", ""),
        ("-e o$", "", "-e o$", ""),
        ("", "", "-M +30", ""),
    ] {
        save(now, "later");
        save(before, "snapshot");
        let what = format!("{now:?} and {before:?}, with {given:?}");
        let shown = run(&fixture, &format!("diff -j {given} --from later --since snapshot"));
        if why.is_empty() { same(shown, &what) } else { refused(&shown, why, &what) }
    }
}

#[test]
fn what_the_config_file_says_counts_too() {
    let fixture = one_for_each_flag();
    fs::write(fixture.at("config"), "ignore-directory = ['cache']\ncount-links = true").unwrap();
    run(&fixture, "--config config top --save snapshot").clean();
    same(run(&fixture, "diff -j --config config top --since snapshot"), "config file");
    same(run(&fixture, "diff -j -l -X cache top --since snapshot"), "flags");
    refused(&run(&fixture, "diff -j top --since snapshot"), "with --count-links", "no config file");
    let plain = run(&fixture, "diff -j --config config --no-count-links top --since snapshot");
    refused(&plain, "with --count-links", "the counterpart");
}

/// Otherwise a filter would leave entries out now, and nothing of the export: they seemed to be gone, with status 0.
#[test]
fn an_export_that_lacks_what_a_filter_needs_is_refused() {
    let fixture = Fixture::new().file("top/a", 9_000);
    let export = |name: &str, more: &str| {
        let entry = |name: &str| format!(r#"{{"name":"{name}","asize":9000,"dsize":12288{more}}}"#);
        let head = r#"{"progname":"ncdu","progver":"1.18","timestamp":1}"#;
        let text = format!("[1,2,{head},[{},{}]]", entry("top"), entry("a"));
        fs::write(fixture.at(name), text).unwrap();
    };
    export("plain", "");
    export("whole", r#","uid":4321,"gid":0,"mtime":1700000000"#);
    for filter in ["--owner 4321", "--newer 1d", "--older 1w", "-M -7"] {
        for compared in ["diff plain top", "diff --since plain --from whole"] {
            let refused = run(&fixture, &format!("{compared} {filter}"));
            let complaint = refused.complaint();
            assert_eq!((refused.code(), refused.stdout.len()), (2, 0), "{filter}: {complaint}");
            assert!(complaint.contains("compare with plain: it has no "), "{complaint}");
        }
        run(&fixture, &format!("diff whole top {filter}")).clean();
    }
}

/// An export for ncdu does not say how it was counted.
#[test]
fn what_does_not_say_how_it_counts_is_compared() {
    let fixture = one_for_each_flag();
    for (printed, given) in [("--as ncdu -x", "-x"), ("--as ncdu --gitignore", "--gitignore")] {
        let snapshot = run(&fixture, &format!("{printed} top")).clean();
        fs::write(fixture.at("snapshot"), snapshot).unwrap();
        same(run(&fixture, &format!("diff -j {given} top --since snapshot")), printed);
    }
    // Nor does what was loaded from it, and saved.
    run(&fixture, "--from snapshot --save again").clean();
    same(run(&fixture, "diff -j --gitignore top --since again"), "saved again");
}

/// What is saved may take the place of what it is compared with.
#[test]
fn a_snapshot_is_compared_before_it_is_replaced() {
    let fixture = one_for_each_flag();
    run(&fixture, "-s top --save snapshot").clean();
    let fixture = fixture.file("top/new", 12_345);
    let shown = run(&fixture, "diff -s -j top --since snapshot --save snapshot").clean();
    let root: Value = serde_json::from_slice(&shown).unwrap();
    assert_eq!(root["change"], 12_345);
    same(run(&fixture, "diff -s -j top --since snapshot"), "after that");
}
