//! Errors are reported and counted, and the walk goes on. The exit status is 1 if something was not read, and 2 if the
//! command line makes no sense.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::fd::OwnedFd;

use serde_json::Value;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::weigh;

/// 5,300 bytes to be seen, and more in two directories that a plain user cannot read.
fn closed() -> Fixture {
    Fixture::new()
        .file("top/open/f", 5000)
        .file("top/g", 300)
        .file("top/closed/secret", 70_000)
        .file("top/open/shut/secret", 70_000)
        .unreadable("top/closed")
        .unreadable("top/open/shut")
}

#[test]
fn an_unreadable_directory_leaves_the_rest_right() {
    let fixture = closed();
    let shown = weigh("-j -s").arg("top").within(fixture.path()).by_nobody(&fixture).run();
    assert_eq!(shown.code(), 1);
    let complaint = shown.complaint();
    assert!(complaint.contains("top/closed"), "{complaint}");
    assert!(complaint.contains("top/open/shut"), "{complaint}");

    let document = Document::parse(&shown.stdout);
    assert_eq!(document.header["complete"], false);
    assert_eq!(document.root().size, 5300);
    // Directories are counted that cannot be read: top, g, open, f, closed, shut.
    assert_eq!(document.root().entries, Some(6));
    let mut errors: Vec<[&str; 4]> = document
        .errors()
        .iter()
        .map(|error| ["path", "operation", "error", "message"].map(|k| error[k].as_str().unwrap()))
        .collect();
    errors.sort_unstable();
    let of = |path| [path, "open", "EACCES", "Permission denied"];
    assert_eq!(errors, [of("top/closed"), of("top/open/shut")]);
}

/// The walk may know their inode from another directory, but only if it reads that first. So they never count.
#[test]
fn links_in_a_directory_that_may_only_be_listed_are_named() {
    let mut fixture = Fixture::in_memory().file("top/open/f", 5000);
    for link in 0..50 {
        fixture = fixture.hard_link("top/open/f", format!("top/open/{link}"));
        for listed in 0..10 {
            fixture = fixture.hard_link("top/open/f", format!("top/listed{listed}/{link}"));
        }
    }
    for listed in 0..10 {
        fixture = fixture.mode(format!("top/listed{listed}"), 0o444);
    }
    for threads in [1, 2, 8] {
        let flags = format!("-j -s -T {threads}");
        let shown = weigh(&flags).arg(fixture.at("top")).by_nobody(&fixture).run();
        assert_eq!(shown.code(), 1);
        let document = Document::parse(&shown.stdout);
        assert_eq!((document.root().size, document.errors().len()), (5000, 500));
    }
}

#[test]
fn a_picture_is_drawn_beside_the_complaint() {
    let fixture = closed();
    let start = |flags: &str| weigh(flags).arg("top").within(fixture.path()).by_nobody(&fixture);
    let shown = start("-s -b -c -o b").run();
    assert_eq!(shown.code(), 1);
    let picture = String::from_utf8(shown.stdout.clone()).unwrap();
    assert!(picture.lines().last().unwrap().contains("5300B"), "{picture}");
    let complaint = shown.complaint();
    assert!(complaint.contains("top/closed") && complaint.contains("ermission"), "{complaint}");
}

#[test]
fn print_errors_names_every_path() {
    let mut fixture = Fixture::new();
    for i in 0..100 {
        fixture = fixture.unreadable(format!("top/closed-{i:02}-"));
    }
    let start = |flags: &str| weigh(flags).arg(fixture.at("top")).by_nobody(&fixture).run();
    let named = |complaint: &str| {
        (0..100).filter(|i| complaint.contains(&format!("closed-{i:02}-"))).count()
    };
    let few = start("-c").complaint();
    assert!(few.contains("100"), "{few}");
    assert!((1..20).contains(&named(&few)), "{few}");
    let all = start("-c --print-errors").complaint();
    assert_eq!(named(&all), 100, "{all}");
    let json = Document::parse(&start("-j").stdout);
    assert_eq!(json.errors().len(), 100);
}

/// Once, all errors stood in one long line, which did not say what to do.
#[test]
fn a_kind_of_error_has_a_line_and_the_last_one_says_what_to_do() {
    let mut fixture = Fixture::new().mode("top/listed", 0o755).file("top/listed/f", 1);
    for i in 0..9 {
        fixture = fixture.unreadable(format!("top/{i}"));
    }
    let fixture = fixture.mode("top/listed", 0o444);
    let run = |flags: &str| {
        weigh(flags).args(["top", "none"]).within(fixture.path()).by_nobody(&fixture).run()
    };
    let expected = "\
        weigh: error: none: No such file or directory\n\
        weigh: error: cannot stat top/listed/f: Permission denied\n\
        weigh: error: 9 × cannot open: Permission denied: top/0, top/1, top/2, …\n";
    let complaint = run("-c").complaint();
    let mut lines: Vec<_> = complaint.split_inclusive('\n').collect();
    assert_eq!(lines.pop(), Some("weigh: note: totals are a lower bound\n"));
    let what_to_do = "hint: --print-errors names every path, and sudo weigh may read more\n";
    assert_eq!(lines.pop(), Some(what_to_do));
    lines.sort_unstable();
    let mut expected: Vec<_> = expected.split_inclusive('\n').collect();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    let all = run("-c --print-errors").complaint();
    assert_eq!(all.lines().count(), 13, "{all}");
    assert!(
        all.ends_with("\nhint: sudo weigh may read more\nweigh: note: totals are a lower bound\n"),
        "{all}"
    );
}

/// The message was once "cannot stat : No such file or directory".
#[test]
fn an_empty_path_is_a_usage_error() {
    for arguments in [&[""][..], &["-d1", ""], &[".", ""]] {
        let shown = weigh("").args(arguments).run();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{arguments:?}");
        let said = "weigh: error: invalid value '' for '[PATH]...': it is empty\n\
                    hint: without a PATH, weigh shows the current directory\n";
        assert_eq!(shown.complaint(), said);
    }
}

/// Other programs' -t takes a value. Here it was taken for a PATH, and answered with "cannot stat age".
#[test]
fn a_value_for_t_is_answered_with_the_flag_that_takes_it() {
    let fixture = Fixture::new().file("d/f", 10).file("size", 10);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    for (value, instead) in [
        ("age", "--by age"),
        ("owner", "--by owner"),
        ("rust", "--type rust"),
        ("f", "-F"),
        ("100M", "-z 100M"),
    ] {
        for flags in [format!("-t {value}"), format!("-t {value} d"), format!("d -t {value}")] {
            let shown = run(&flags);
            assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}");
            let said = format!(
                "weigh: error: -t takes no value, because it is --by type\nhint: use {instead}\n"
            );
            assert_eq!(shown.complaint(), said, "{flags}");
        }
    }
    // There is a file of that name, or no such value.
    run("-t size").clean();
    assert_eq!(run("-t nope").complaint(), "weigh: error: nope: No such file or directory\n");
    assert_eq!(run("age").complaint(), "weigh: error: age: No such file or directory\n");
}

/// As `du` and `ls` say it; several have one line.
#[test]
fn a_missing_path_is_named_with_the_reason_alone() {
    let fixture = Fixture::new().file("d/f", 10);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run().complaint();
    assert_eq!(run("nope"), "weigh: error: nope: No such file or directory\n");
    assert_eq!(run("one two"), "weigh: error: 2 × No such file or directory: one, two\n");
    // It is there, and a file.
    assert_eq!(run("d/f/x"), "weigh: error: cannot stat d/f/x: Not a directory\n");
}

/// Errors are still printed, and notes are not.
#[test]
fn quiet_leaves_only_errors() {
    let fixture = closed();
    let run = |flags: &str| weigh(flags).within(fixture.path()).by_nobody(&fixture).run();
    let denied = run("-q top");
    assert_eq!(denied.code(), 1);
    assert!(denied.complaint().contains("cannot open"), "{}", denied.complaint());
    let limit = run("-q -s --fail-over 10 top/g");
    assert_eq!(limit.code(), 3);
    assert!(limit.complaint().contains("--fail-over"), "{}", limit.complaint());
}

/// A missing path is missing for root, too.
#[test]
fn sudo_is_suggested_only_for_denied_paths() {
    let fixture = closed();
    let complaint =
        |flags: &str| weigh(flags).within(fixture.path()).by_nobody(&fixture).run().complaint();
    assert!(complaint("top").contains("sudo"), "{}", complaint("top"));
    let expected = "weigh: error: none: No such file or directory\n\
                    weigh: note: totals are a lower bound\n";
    assert_eq!(complaint("none top/g"), expected);
}

/// Root can already read everything, and a snapshot has nothing more to read.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs strace"]
fn sudo_is_suggested_only_to_plain_users() {
    let fixture = closed();
    let denied = |flags: &str| {
        let mut refuse: Vec<OsString> =
            ["strace", "-qq", "-f", "-o", "/dev/null", "-P"].map(OsString::from).into();
        refuse.extend([fixture.at("top").into(), "-e".into()]);
        refuse.push("inject=openat:error=EACCES".into());
        weigh(flags).arg(fixture.at("top")).within(fixture.path()).under(refuse).run()
    };
    let shown = denied("-c --save saved");
    let said = "Permission denied\n";
    assert!(shown.complaint().contains(said), "{}", shown.complaint());
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(shown.complaint().contains("sudo"), !is_root, "{}", shown.complaint());
    let loaded = weigh("-c --from saved").within(fixture.path()).by_nobody(&fixture).run();
    assert!(loaded.complaint().contains(said), "{}", loaded.complaint());
    assert!(!loaded.complaint().contains("sudo"), "{}", loaded.complaint());
}

/// If something below an entry was lost, its figure is marked. Other figures are not.
#[test]
fn partial_figures_say_so() {
    let fixture = closed();
    let marked = |flags: &str, path: &str| {
        let shown = weigh(flags).arg(path).within(fixture.path()).by_nobody(&fixture).run();
        assert_eq!(shown.code(), 1);
        let text = String::from_utf8(shown.stdout).unwrap();
        let is_marked = |line: &&str| line.trim_start().starts_with('≥');
        let name = |line: &str| line.split(['─', '┴']).next_back().unwrap().trim().to_owned();
        let mut names: Vec<_> = text.lines().filter(is_marked).map(name).collect();
        names.sort();
        (names, text)
    };
    for path in ["top", "./top", "top/", ".//top"] {
        let all = [path, "closed", "open", "shut"].map(String::from);
        let (mut names, text) = marked("-c -b", path);
        let mut expected = all.to_vec();
        expected.sort();
        names.sort();
        assert_eq!(names, expected, "{text}");
    }
    assert_eq!(marked("-c -b -d 1", "top").0, ["closed", "open", "top"]);
    assert_eq!(marked("-c -b -s -F", "top").0, ["top"]);
    assert_eq!(marked("-c -b -s", "top/closed").0, ["top/closed"]);
    let (_, text) = marked("-c -b -s -o b -d 0", "top");
    assert!(text.starts_with("≥5300B "), "{text}");
    // Lost entries may belong to any group.
    let (names, text) = marked("-c -b -s -t", "top");
    assert_eq!(names.len(), text.lines().skip(1).count(), "{text}");
    // Several roots, of which one is whole.
    let shown = weigh("-c -b -s top/g top/open").within(fixture.path()).by_nobody(&fixture).run();
    let text = String::from_utf8(shown.stdout).unwrap();
    let of = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().contains('≥');
    assert!(of("(total)") && of("top/open") && !of("top/g"), "{text}");
    // A missing root takes nothing from the other one.
    for flags in ["", "-F", "-t", "-d 0", "--as svg"] {
        let shown = weigh(flags).arg("-c").args(["none", "top/g"]).within(fixture.path()).run();
        assert_eq!(shown.code(), 1);
        let text = String::from_utf8(shown.stdout).unwrap();
        assert!(text.contains("top/g") && !text.contains('≥'), "{flags}: {text}");
    }
    // Times are no sums; the sizes beside them are.
    let (names, text) = marked("-c -m m -b -s", "top");
    assert!(names.is_empty() && text.lines().last().unwrap().contains(" ≥5.18Ki "), "{text}");
    let (_, text) = marked("-c -R -s", "top");
    assert!(text.contains('≥'), "{text}");
}

/// The line of the smaller entries is marked if an entry without a line of its own was lost, and only then.
#[test]
fn the_line_of_smaller_entries_marks_what_was_lost() {
    let fixture = Fixture::new()
        .file("top/large", 90_000)
        .file("top/small", 5_000)
        .unreadable("top/2 smaller")
        .file("whole/large", 90_000)
        .file("whole/small", 5_000)
        .file("whole/smaller", 400);
    let shown = |path: &str, lines: u32| {
        let run = weigh(&format!("-c -b -s -n {lines} {path}")).within(fixture.path());
        String::from_utf8(run.by_nobody(&fixture).run().stdout).unwrap()
    };
    let first = |text: &str| text.lines().next().unwrap().trim_start().to_owned();
    let text = shown("top", 1);
    assert!(first(&text).starts_with('≥'), "{text}");
    let text = shown("whole", 1);
    assert!(!text.contains('≥'), "{text}");
}

/// The errors come in the same order, whichever thread found them.
#[test]
fn complaints_do_not_depend_on_threads() {
    let mut fixture = Fixture::new();
    for i in 0..40 {
        fixture = fixture.unreadable(format!("top/{}/{i}", i % 7));
    }
    let outputs = |flags: &str| {
        let mut outputs: Vec<(Vec<u8>, Vec<u8>)> = [1, 2, 8, 8, 8, 64]
            .into_iter()
            .map(|threads| {
                let flags = format!("{flags} -T {threads}");
                let shown = weigh(&flags).arg(fixture.at("top")).by_nobody(&fixture).run();
                assert!(!shown.stdout.is_empty() && !shown.stderr.is_empty());
                (shown.stdout, shown.stderr)
            })
            .collect();
        outputs.dedup();
        outputs.len()
    };
    for flags in ["-j", "-c", "-c --print-errors"] {
        assert_eq!(outputs(flags), 1, "weigh {flags}");
    }
}

#[test]
fn a_root_that_cannot_be_read_is_an_error() {
    let fixture = closed();
    let shown = weigh("-j -s").arg(fixture.at("top/closed")).by_nobody(&fixture).run();
    assert_eq!(shown.code(), 1);
    assert!(shown.complaint().contains("closed"), "{}", shown.complaint());
    let document = Document::parse(&shown.stdout);
    assert_eq!(document.header["complete"], false);
    assert_eq!((document.root().size, document.root().entries), (0, Some(1)));
}

#[test]
fn a_full_device_is_an_error() {
    let fixture = Fixture::new().file("top/f", 1);
    for flags in ["-c", "-j", "-h", "--version"] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let shown = weigh(flags).arg(fixture.at("top")).stdout(full).run();
        assert_eq!(shown.code(), 1, "weigh {flags}");
        assert!(shown.complaint().contains("No space left"), "{}", shown.complaint());
        assert_eq!(shown.complaint().lines().count(), 1, "{}", shown.complaint());
    }
}

/// `weigh | head -1`: the reader has what it wants, so this is no error.
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut fixture = Fixture::in_memory();
    for i in 0..3000 {
        fixture = fixture.sparse(format!("top/{i}-{}", "x".repeat(100)), 1);
    }
    for flags in ["-c -n 3000", "-j"] {
        let whole = weigh(flags).arg(fixture.at("top")).run().clean();
        assert!(whole.len() > 1 << 16, "it would fit into a pipe that nobody reads");
        let (reader, writer) = std::io::pipe().unwrap();
        let writer = std::fs::File::from(OwnedFd::from(writer));
        drop(reader);
        let shown = weigh(flags).arg(fixture.at("top")).stdout(writer).run();
        assert_eq!(shown.complaint(), "", "weigh {flags}");
        assert_eq!(shown.status.code(), Some(0), "weigh {flags}: {}", shown.status);
    }
}

#[test]
fn a_closed_standard_error_changes_nothing() {
    let fixture = closed();
    let mut child =
        weigh("-j -s --print-errors").arg(fixture.at("top")).by_nobody(&fixture).spawn();
    drop(child.stderr.take());
    let mut json = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut json).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(Document::parse(&json).root().size, 5300);
}

#[test]
fn a_command_line_that_makes_no_sense_is_2_and_says_why() {
    let bad = [
        ("--no-such-flag", "--no-such-flag"),
        ("-n many", "many"),
        ("-n -1", "-1"),
        ("-d x", "'x'"),
        ("-w 80x", "80x"),
        ("-z 10q", "10q"),
        ("-z -5", "-5"),
        ("-o furlongs", "furlongs"),
        ("-T zero", "zero"),
        ("-T 0", "0"),
        ("-n", "-n"),
    ];
    for (flags, said) in bad {
        let shown = weigh(flags).run();
        assert_eq!(shown.code(), 2, "weigh {flags}: {}", shown.complaint());
        assert!(shown.stdout.is_empty(), "weigh {flags}");
        let complaint = shown.complaint();
        let first = complaint.lines().next().expect("it says why");
        assert!(first.contains(said), "weigh {flags}: {complaint}");
    }
}

#[test]
fn what_is_wrong_with_a_value_is_said_in_one_line() {
    let fixture = Fixture::new().file("top/f", 1);
    let zstd = b"\x28\xb5\x2f\xfdxxxxxxxxxxxxxxxxxx";
    std::fs::write(fixture.at("snapshot.zst"), zstd).unwrap();
    std::fs::write(fixture.at("snapshot.gz"), b"\x1f\x8bxxxxxxxxxxxxxxxxxxxx").unwrap();
    for (flags, said) in [
        ("-T 0", "'0' for '--threads <NUMBER>'\nhint: give 1 or more"),
        ("--save x/ --keep 0", "'0' for '--keep <N>'\nhint: give 1 or more"),
        ("-T x", "'x' for '--threads <NUMBER>'\nhint: give a whole number, as in 20"),
        ("-n -1", "'-1' for '--number-of-lines <NUMBER>'\nhint: give a whole number, as in 20"),
        ("-n 99999999999999999999999", "give a smaller number"),
        ("-d 4294967296", "hint: give 4294967295 or less"),
        ("-w 65536", "hint: give 65535 or less"),
        ("help --man top", "--man stands alone\nhint: leave out other flags and PATHs"),
        ("-m m --time-style +%!", "+%! is no format of strftime(3)"),
        ("-m m --time-style +%s.%N", "+%s.%N has fractions of a second"),
        (
            "--from snapshot.zst",
            "cannot load snapshot.zst: it is damaged, or takes too much memory",
        ),
        ("--from snapshot.gz", "cannot load snapshot.gz: it is damaged, or takes too much memory"),
    ] {
        let complaint = weigh(flags).within(fixture.path()).run().complaint();
        assert!(complaint.contains(said) && complaint.lines().count() <= 2, "{flags}: {complaint}");
    }
}

/// Once, the error for `--from FILE PATH` also named `--rsh` and two more, and that for `--history FILE -i` all filters.
#[test]
fn a_conflict_names_only_what_was_typed() {
    for (flags, said) in [
        ("--from x top", "--from and PATH cannot be combined"),
        ("--from x --rsh y", "--from and --rsh cannot be combined"),
        ("history x -i", "-i does nothing in weigh history"),
    ] {
        let complaint = weigh(flags).run().complaint();
        assert!(complaint.starts_with(&format!("weigh: error: {said}")), "{complaint}");
    }
}

#[test]
fn measures_and_kinds_exclude_each_other() {
    for flags in ["-D -F", "-s -f", "-f --inodes", "-s --inodes", "-c -C"] {
        let shown = weigh(flags).run();
        assert_eq!(shown.code(), 2, "weigh {flags}: {}", shown.complaint());
    }
}

/// Once, the second one that read it said that the snapshot is none.
#[test]
fn standard_input_is_read_once() {
    for flags in ["--from - --from -", "diff --from - --since -", "history -", "history - x"] {
        let shown = weigh(flags).run();
        assert_eq!(shown.code(), 2, "weigh {flags}: {}", shown.complaint());
        assert!(
            shown.complaint().starts_with("weigh: error: standard input can be read only once")
        );
    }
}

#[test]
fn help_and_version_are_no_errors() {
    let help = weigh("--help").run().text();
    for flag in ["--inodes", "--count-links", "--skip-total", "--print-errors", "-T", "-j"] {
        assert!(help.contains(flag), "{flag} is not in the help");
    }
    let version = weigh("--version").run().text();
    assert_eq!(version, format!("weigh {}\n", env!("CARGO_PKG_VERSION")));
}

/// In a locale that is not UTF-8, a message had bytes that the terminal cannot show.
#[test]
fn messages_are_ascii_where_only_that_can_be_shown() {
    let fixture = Fixture::new().file("é", 10).file("list", 3);
    let run = |flags: &str, locale: &str| {
        let shown = weigh(flags).within(fixture.path()).env("LC_ALL", locale).run();
        assert!(locale == "C.UTF-8" || shown.complaint().is_ascii(), "{}", shown.complaint());
        shown.complaint()
    };
    assert_eq!(run("ü ö", "C.UTF-8"), "weigh: error: 2 × No such file or directory: ö, ü\n");
    let said = "weigh: error: 2 x No such file or directory: \\xc3\\xb6, \\xc3\\xbc\n";
    assert_eq!(run("ü ö", "C"), said);
    assert_eq!(
        run("ü", "de_DE.ISO-8859-1"),
        "weigh: error: \\xc3\\xbc: No such file or directory\n"
    );
    for flags in ["-X ü .", "--depth ü", "--from é", "a b c d é", "--stats .", "history --forget ü"]
    {
        run(flags, "C");
    }
}

/// Names and flags that a file records stay within their line, and only weigh begins a hint.
#[test]
fn no_file_forges_a_hint() {
    let fixture = Fixture::new().file("top/f", 1).file("a\nhint: b/f", 1);
    let run = |flags: &str| weigh(flags).within(fixture.path());
    run("top --save old.weigh").run().clean();
    std::fs::copy(fixture.at("old.weigh"), fixture.at("forged.weigh")).unwrap();
    crate::saved::change(&fixture.at("forged.weigh"), |header| {
        header["options"] = serde_json::json!(["--x\nhint: forged"]);
    });
    std::fs::write(fixture.at("x\nhint: y"), "{\"schema\":1}").unwrap();
    for (shown, said) in [
        (
            run("diff forged.weigh top"),
            "compare with forged.weigh: it was saved with --x\\nhint: forged\n\
             hint: give --x\\nhint: forged here too, or save a new snapshot without it",
        ),
        (
            run("--from").arg("x\nhint: y"),
            "load x\\nhint: y: it is JSON from weigh, which is for other programs\n\
             hint: weigh reads snapshots: weigh --save FILE.weigh PATH",
        ),
    ] {
        let shown = shown.run();
        assert_eq!(
            (shown.code(), shown.complaint()),
            (2, format!("weigh: error: cannot {said}\n"))
        );
    }
    let shown = run("diff old.weigh").arg("a\nhint: b").run();
    let complaint = shown.complaint();
    let lines: Vec<_> = complaint.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("/a\\nhint: b"), "{complaint}");
    assert!(lines[1].starts_with("hint: compare /"), "{complaint}");
}

/// Scripts and agents read standard output. Where `-j` has no result, they find the same error and hint there.
#[test]
fn programs_get_an_error_as_json() {
    let fixture = Fixture::new().file("top/f", 1).file("plan.json", 9).file("bad.toml", 9);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    for flags in [
        "-j --yes top",
        "--yes -j top",
        "top -sj --yes",
        "--as json --yes top",
        "--as=JSON --yes top",
        "--output-json -d x top",
        "-j --from gone",
        "-j --from plan.json",
        "-j --config bad.toml top",
        "clean -j --apply top",
        "clean -j --apply --from plan.json",
        "diff -j gone",
        "history -j --from gone",
        "df -j --frees",
        "ui -j top",
    ] {
        let shown = run(flags);
        assert!(shown.code() > 0, "{flags}");
        let json: Value = serde_json::from_slice(&shown.failure).expect(flags);
        let (error, hint) = (json["error"].as_str().unwrap(), json["hint"].as_str());
        let hint = hint.map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        let complaint = format!("weigh: error: {error}\n{hint}");
        assert!(shown.complaint().starts_with(&complaint), "{flags}: {}", shown.complaint());
        assert_eq!((&json["schema"], &json["tool"]), (&1.into(), &"weigh".into()), "{flags}");
    }
    // Others read a table or a tree there, or a value only looks like the flag.
    for flags in ["--yes top", "-Xj --yes top", "--as csv --yes top", "--yes -- -j"] {
        let shown = run(flags);
        let printed = [&*shown.stdout, &*shown.failure].concat();
        assert_eq!((shown.code(), &*printed), (2, &b""[..]), "{flags}");
    }
    // A result with errors in it is a result.
    let json: Value = serde_json::from_slice(&run("-j gone").stdout).unwrap();
    assert!(json["errors"].is_array() && json["error"].is_null(), "{json}");
}
