//! What the program says of itself.

use crate::fixture::Fixture;
use crate::run::weigh;

/// The flags in `text`.
fn flags(text: &str) -> Vec<&str> {
    let words = text.split([' ', ',', ';', ':', '(', ')', '\n', '[', ']']);
    words.filter(|word| word.starts_with('-') && *word != "-").collect()
}

/// On 24 lines of 80 columns, with what weigh has and others lack.
#[test]
fn the_short_help_fits_a_screen_and_has_what_makes_weigh_weigh() {
    let short = weigh("-h").run().text();
    assert!(short.lines().count() <= 24, "{short}");
    for line in short.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let long = weigh("--help").run().text() + &weigh("diff --help").run().text();
    let own: String = short.lines().filter(|line| !line.starts_with("tar ")).collect();
    for flag in flags(&own) {
        assert!(flags(&long).contains(&flag), "{flag}");
    }
    for told in [
        "weigh ui",
        "weigh clean",
        "weigh diff",
        "weigh history",
        "weigh df",
        "weigh watch",
        "-n",
        "-d",
        "-F",
        "--by",
        "--frees",
        "| weigh --from -",
    ] {
        assert!(short.contains(told), "{told}");
    }
    // Whatever the locale is.
    assert!(short.is_ascii(), "{short}");
    // Colours change no word.
    let colored = weigh("-h").env("CLICOLOR_FORCE", "1").run().text();
    let plain: String = colored
        .split('\x1b')
        .enumerate()
        .map(|(i, part)| if i == 0 { part } else { part.split_once('m').unwrap().1 })
        .collect();
    assert_eq!(plain, short);
}

#[test]
fn each_command_has_a_screen_of_help_that_begins_with_lines_to_type() {
    for command in ["ui", "clean", "diff", "history", "df", "watch", "help", "completions"] {
        let help = weigh(&format!("help {command}")).run().text();
        assert_eq!(weigh(&format!("{command} -h")).run().text(), help, "{command}");
        assert!(help.lines().count() <= 40, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        let third = help.lines().nth(2).unwrap();
        assert!(third.trim_start().starts_with("weigh "), "{help}");
        let all = weigh(&format!("{command} --help")).run().text();
        assert!(all.lines().count() + 8 >= help.lines().count(), "{all}");
    }
}

#[test]
fn the_long_help_has_all_flags_in_groups_and_rare_ones_last() {
    let long = weigh("--help").run().text();
    let headings = [
        "What to weigh:",
        "What to leave out:",
        "What to show:",
        "What can go:",
        "Snapshots and lists:",
        "Output:",
        "Rarely needed:",
    ];
    let places: Vec<_> =
        headings.iter().map(|heading| long.find(heading).expect(heading)).collect();
    assert!(places.is_sorted(), "{long}");
    assert!(long.contains("tar xf FILE --to-command="), "{long}");
    let (_, rare) = long.split_once("Rarely needed:").unwrap();
    for flag in ["--files0-from", "--threads", "--stats", "--config", "--version"] {
        assert!(rare.contains(flag), "{flag}");
    }
    // As terse as the short one: a flag takes a line, or two where its words do not fit one.
    let flags = long.lines().filter(|line| line.trim().starts_with('-')).count();
    assert!(flags > 60 && long.lines().count() < 2 * flags, "{long}");
    // No counterpart of a switch is in the way.
    assert!(!long.contains("--no-reverse"), "{long}");
}

/// Of flags that say nearly the same, each says how it differs.
#[test]
fn similar_flags_say_how_they_differ() {
    let long = weigh("--help").run().text();
    let long = long.split_whitespace().collect::<Vec<_>>().join(" ");
    for (flag, word) in [
        ("--frees Also", "hard links, clones or snapshots"),
        ("--only-ignored Count", "weigh clean lists only what can be made again"),
        ("--ignore-directory <PATH>", "exactly this name or path; --exclude and -v take patterns"),
        ("--exclude <GLOB>", "as in .gitignore"),
        ("--invert-filter <REGEX>", "any part of their path"),
        ("--exclude-from <FILE>", "what --exclude would"),
    ] {
        let (_, words) = long.split_once(flag).expect(flag);
        assert!(words[..120].contains(word), "{flag}: {}", &words[..120]);
    }
}

/// Once, the error for `--nope` suggested `--no-print-errors`.
#[test]
fn an_unlike_word_gets_no_suggestion() {
    let far = ["--nope", "--no", "--frobnicate", "--xyz=3", "--type=zzz", "-m=created", "-o=bytes"];
    for typed in far {
        let complaint = weigh(typed).run().complaint();
        assert!(!complaint.contains("similar") && !complaint.contains("mean"), "{complaint}");
        assert!(complaint.contains("\nhint: "), "{complaint}");
    }
    let complaint = weigh("--nope").run().complaint();
    assert!(complaint.ends_with("\nhint: weigh --help explains all flags\n"), "{complaint}");
}

/// Once, the error for `--quite` had "Usage: weigh --ui", and that for `--json` suggested `-- --json`.
#[test]
fn an_unknown_flag_shows_no_usage_of_another() {
    for typed in ["--human-readable", "--json", "-k", "--nope", "--quite", "-gh"] {
        let complaint = weigh(typed).run().complaint();
        assert!(complaint.starts_with("weigh: error: unexpected argument '-"), "{complaint}");
        assert!(!complaint.contains("Usage") && !complaint.contains("as a value"), "{complaint}");
    }
}

/// They are words of du, ncdu, gdu, dua, fd and ripgrep.
#[test]
fn flags_of_other_programs_get_a_tip() {
    for (typed, answer) in [
        ("--human-readable", "hint: sizes are for people anyway"),
        ("--json", "hint: use -j"),
        ("--threshold=1M", "hint: use -z SIZE"),
        ("-k", "hint: use -o k"),
        ("--stay-on-filesystem", "hint: use -x"),
        ("--extension", "hint: use --include GLOB, as in --include '*.rs'"),
    ] {
        let complaint = weigh(typed).run().complaint();
        assert!(complaint.contains(answer), "{complaint}");
    }
}

#[test]
fn flags_of_other_programs_work() {
    let fixture = Fixture::new().file("top/a/b/c", 1).file("top/.hidden", 1);
    let shown = |flags: &str| weigh(flags).arg("top").within(fixture.path()).run().text();
    for (theirs, ours) in [
        ("--max-depth 1", "-d 1"),
        ("--max-depth=0", "-d 0"),
        ("--one-file-system", "-x"),
        ("--color=always", "-C"),
        ("--color always -r", "-C -r"),
        ("--color never", "-c"),
        ("--color=auto", ""),
        ("-q", ""),
        ("--quiet", ""),
    ] {
        assert_eq!(shown(theirs), shown(ours), "{theirs}");
    }
    for both in ["-c --color=always", "-C --color=never", "--color=sometimes"] {
        assert_eq!(weigh(both).run().code(), 2, "{both}");
    }
}

/// Many type `-sh` from habit with `du`. Once, weigh printed its help with status 0.
#[test]
fn h_among_other_letters_gets_a_hint() {
    for letters in ["-sh", "-hs", "-xsh"] {
        let shown = weigh(letters).run();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{letters}");
        let complaint = shown.complaint();
        assert!(
            complaint.contains("weigh -d 0 PATH") && complaint.contains(letters),
            "{complaint}"
        );
        assert_eq!(complaint.lines().count(), 2, "{complaint}");
    }
    for asked in ["-h", "-s -h", "-sh -h"] {
        assert!(weigh(asked).run().text().contains("weigh [PATH]..."), "{asked}");
    }
}

#[test]
fn a_similar_word_is_suggested() {
    for (typed, near) in [
        ("--revers", "--reverse"),
        ("--aparent-size", "--apparent-size"),
        ("--by=tipe", "type"),
        ("--no-revers", "--no-reverse"),
        ("--colour", "--color?"),
        ("--max-dept", "--max-depth?"),
        ("--as=cvs", "csv?"),
        ("--sort=nam", "name?"),
        ("--type=rus", "'rust'"),
        ("--type-not=pyhton", "'python'"),
        ("--type=rs", "'rust'"),
        ("--type=*.py", "'py'"),
        ("-e=*.rs", "--include and --exclude take globs"),
        ("-v=*.o", "--include and --exclude take globs"),
    ] {
        let shown = weigh(typed).run();
        assert_eq!(shown.code(), 2);
        assert!(shown.complaint().contains(near), "{}", shown.complaint());
    }
}

/// Readers of the help of clean did not find what makes a directory count, nor what diff needs on its first day.
#[test]
fn help_says_what_a_command_needs() {
    let help = |command: &str| weigh(&format!("help {command}")).run().text();
    assert!(help("clean").contains("target counts only beside a\nCargo.toml"), "{}", help("clean"));
    assert!(help("diff").contains("The first time, there is no earlier scan"), "{}", help("diff"));
}

/// Settings of the config file are no flags: nothing lists them, and the answer is the line to write.
#[test]
fn settings_are_listed_nowhere() {
    let pages = ["--help", "ui --help", "help --man", "completions bash", "completions zsh"];
    let pages = pages.map(|flags| weigh(flags).run().text().replace('\\', ""));
    for flag in ["--theme", "--color-of", "--key-of", "--hyperlink", "--remember-bound"] {
        assert!(pages.iter().all(|page| !page.contains(flag)), "{flag}");
        for flags in [flag.to_owned(), format!("ui {flag}=x"), format!("clean {flag} x")] {
            let shown = weigh(&flags).run();
            let said =
                format!("weigh: error: {flag} is a setting of the config file\nhint: write ");
            assert!(shown.complaint().starts_with(&said), "{flags}: {}", shown.complaint());
            assert_eq!(shown.code(), 2, "{flags}");
        }
    }
    // After --, it is a PATH.
    assert_eq!(weigh("-- --theme").run().code(), 1);
}
