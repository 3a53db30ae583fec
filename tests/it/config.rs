//! The config file beneath the flags: where it is looked for, what it says, who has the last word.

use crate::fixture::Fixture;
use crate::run::{Shown, Weigh, weigh};

/// A tree, and beside it the usual config file in a home.
fn home(config: &str) -> Fixture {
    let fixture = Fixture::in_memory()
        .file("top/a.rs", 5000)
        .file("top/b.txt", 300)
        .file("top/c.log", 20)
        .dir("home/.config/weigh");
    // Two of them are the same at any time.
    let fixture = ["top/a.rs", "top/b.txt", "top/c.log", "top"]
        .into_iter()
        .fold(fixture, |fixture, name| fixture.modified(name, 1_000_000));
    std::fs::write(fixture.at("home/.config/weigh/config.toml"), config).unwrap();
    fixture
}

fn within(fixture: &Fixture, flags: &str) -> Weigh {
    weigh(&format!("-s -b {flags}"))
        .arg("top")
        .within(fixture.path())
        .env("HOME", fixture.at("home"))
}

fn shown(config: &str, flags: &str) -> String {
    within(&home(config), flags).run().text()
}

/// How many lines there are, but for that of what has none.
fn lines(picture: &str) -> usize {
    picture.lines().filter(|line| !line.contains(" smaller entr")).count()
}

fn refused(config: &str, flags: &str) -> String {
    let fixture = home(config);
    let Shown { stdout, stderr, status, .. } = within(&fixture, flags).run();
    let complaint =
        String::from_utf8(stderr).unwrap().replace(fixture.at("home").to_str().unwrap(), "home");
    assert_eq!((status.code(), stdout.len()), (Some(2), 0), "{complaint}");
    complaint
}

#[test]
fn what_the_file_says_holds_unless_the_command_line_says_otherwise() {
    let all = shown("", "");
    let upside_down = shown("", "-r");
    assert_ne!(all, upside_down);
    assert_eq!(shown("reverse = true", ""), upside_down);
    assert_eq!(shown("reverse = false", ""), all);
    assert_eq!(shown("reverse = true", "--no-reverse"), all);
    assert_eq!(shown("reverse = true", "--no-reverse --reverse"), upside_down);
    assert_eq!(shown("", "-r --no-reverse"), all);
    assert_eq!(lines(&shown("number-of-lines = 1", "")), 2);
    assert_eq!(lines(&shown("number-of-lines = 1", "-n 2")), 3);
    assert_eq!(shown("min-size = '1k'", ""), shown("", "-z 1k"));
    let coloured = shown("force-colors = true", "");
    assert!(coloured.contains('\x1b'), "{coloured}");
    assert!(!shown("force-colors = true\n", "--no-force-colors").contains('\x1b'));
    assert!(!shown("no-colors = true", "--colors").contains('\x1b'));
    assert!(shown("no-colors = true", "--color=always").contains('\x1b'));
    assert!(!shown("color = 'always'", "-c").contains('\x1b'));
    assert_eq!(shown("max-depth = 0", ""), shown("", "-d 0"));
    assert_eq!(shown("one-file-system = true", "--no-one-file-system"), all);
}

#[test]
fn what_can_be_given_several_times_adds_up() {
    assert_eq!(
        shown("exclude = ['*.rs', '*.log']", "--exclude *.txt"),
        shown("", "--exclude *.rs --exclude *.log --exclude *.txt")
    );
    assert_eq!(shown("exclude = '*.rs'", ""), shown("", "--exclude *.rs"));
}

/// What counted is said in a snapshot, wherever it was asked for.
#[test]
fn a_snapshot_says_what_counted_in_it() {
    let config = "exclude = '*.rs'\nignore-hidden = true\nfilecount = true\nreverse = true";
    let saved = |flags| {
        let fixture = home(config);
        within(&fixture, flags).arg("--save").arg(fixture.at("snapshot")).run().clean();
        let snapshot = crate::saved::header(&fixture.at("snapshot"));
        snapshot["options"].to_string()
    };
    let own = "\"--apparent-size\"";
    assert_eq!(saved(""), format!("[{own},\"--ignore-hidden\",\"--exclude=*.rs\"]"));
    assert_eq!(
        saved("--no-ignore-hidden --exclude *.log -x"),
        format!("[{own},\"--limit-filesystem\",\"--exclude=*.rs\",\"--exclude=*.log\"]")
    );
}

/// Two flags that exclude each other are a mistake in one place, and an override in two.
#[test]
fn a_flag_takes_the_place_of_one_it_excludes() {
    assert_eq!(shown("only-dir = true", "-F"), shown("", "-F"));
    assert_eq!(shown("min-size = '1k'", "-m m"), shown("", "-m m"));
    assert_eq!(shown("file-types = true", "--by age"), shown("", "--by age"));
    // Also where only the value says so.
    assert!(shown("number-of-lines = 1\ndepth = 1", "--as ncdu").contains("c.log"));
    assert_eq!(shown("filetime = 'm'\nreverse = true", "--as csv"), shown("", "--as csv"));
    assert_eq!(shown("frees = true", "--sort time"), shown("", "--sort time"));
    let complaint = refused("fail-over = '1k'\nreverse = true", "--sort time");
    assert!(complaint.contains("config.toml: --fail-over and --sort cannot"), "{complaint}");
    let complaint = refused("only-dir = true\nonly-file = true", "");
    assert!(complaint.contains("/config.toml: -D and -F cannot be combined"), "{complaint}");
}

#[test]
fn a_mistake_is_one_line_that_says_where_and_what() {
    for (config, expected) in [
        ("\nrevers = true", ":2: unknown key revers\nhint: did you mean reverse?"),
        ("reverse = 1", ":1: reverse takes true or false, not a number"),
        ("depth = [1]", ":1: depth takes a string or a number, not a list"),
        ("depth = 1\nmin-size = 'x'", ":2: invalid value 'x' for min-size"),
        ("a b", ":1: "),
        ("depth = 1\nexclude = ['a', 'b[']", ":2: invalid value 'b[' for exclude"),
        ("filter = 'a'\ninvert-filter = '('", ":2: invalid value '(' for invert-filter"),
        ("type = 'none'", ":1: invalid value 'none' for type"),
        ("exclude-from = 'none'", ":1: cannot read 'none' for exclude-from"),
        ("fail-over = '1 x'", ":1: invalid value '1 x' for fail-over"),
        // What needs another flag is no mistake where that stands, too.
        ("details = true\nsave = 'x'\nfilter = '('", ":3: invalid value '(' for filter"),
        ("config = 'x'", ":1: unknown key config"),
        ("help = true", ":1: unknown key help"),
        ("since = '7d'", ":1: unknown key since"),
        ("as = 'cvs'", ":1: invalid value 'cvs' for as\nhint: did you mean csv?"),
        // Also where nothing is near.
        ("theme = 1", ":1: invalid value '1' for theme\nhint: use one of auto, dark, light, none"),
        // As the file calls it.
        (
            "colors.accent = 'nothing'",
            ":1: invalid value 'nothing' for accent\nhint: a color is a name as in blue",
        ),
        ("[keys]\nmark = true", ":2: mark takes a string or a number, not true or false"),
        // It would not take the key away.
        ("[keys]\ndelete = []", ":2: delete needs at least one value"),
        // What a terminal would obey is escaped, and not dropped.
        ("\"re\\u001b[31mverse\" = 1", ":1: unknown key re\\x1b[31mverse"),
        ("as = \"j\\u001b[31mson\"", ":1: invalid value 'j\\x1b[31mson' for as"),
        ("filter = \"\\u001b[1m(\"", ":1: invalid value '\\x1b[1m(' for filter"),
    ] {
        let complaint = refused(config, "");
        let expected = format!("weigh: error: home/.config/weigh/config.toml{expected}");
        assert!(complaint.starts_with(&expected), "{config}\n{complaint}");
        assert!(complaint.lines().count() <= 2, "{complaint}");
    }
    // What is wrong on the command line is not the file's fault.
    for (config, flags) in [("filter = 'a'", "-e ("), ("filter = ')'", "-e ( --exclude a[")] {
        let complaint = refused(config, flags);
        assert!(complaint.starts_with("weigh: error: invalid value '"), "{complaint}");
    }
    // With a mistake in the file it is still to be found out what flags there are.
    for flags in ["--help", "--version"] {
        assert_eq!(within(&home("revers = true"), flags).run().code(), 0, "{flags}");
    }
}

/// What goes with another flag says nothing without it. Once, each of these made every other run fail.
#[test]
fn a_setting_that_goes_with_another_flag_concerns_no_other_run() {
    let config = "keep = 1\nfail-growth = '1%'\nread-only = true\ndetails = true\n\
        from-format = 'tar'\n";
    let fixture = home(config).dir("s");
    let run = |flags: &str| within(&fixture, flags).run();
    let plain = shown("", "");
    assert_eq!(run("").text(), plain);
    assert_eq!(run("--save one.weigh").text(), plain);
    assert_eq!(crate::saved::header(&fixture.at("one.weigh"))["details"], true);
    run("--as csv").clean();
    for _ in 0..2 {
        assert_eq!(run("--save s/").code(), 0);
    }
    assert_eq!(fixture.names("s").len(), 1, "--keep went with it");
    let fixture = fixture.file("top/new", 90_000);
    let run = |flags: &str| within(&fixture, flags).run();
    assert_eq!(run("diff --since one.weigh").code(), 3, "fail-growth is for it");
    // What is typed is meant.
    for flags in ["--keep 1", "--keep 1 --save x", "--fail-growth 1B", "--read-only", "--details"] {
        refused("", flags);
    }
    for (flags, said) in [
        ("clean --older 3", "invalid value '3' for '--older <TIME>'"),
        ("--keep 1 -d 0", "--keep needs --save DIR/"),
        ("--read-only -n 3", "--read-only does nothing in weigh\n"),
        ("clean --print0", "--print0 does nothing in weigh clean\n"),
        ("clean --rsh ssh", "--rsh does nothing in weigh clean\nhint: leave it out\n"),
        ("clean -p", "-p does nothing in weigh clean\nhint: leave it out\n"),
        ("history -D", "-D does nothing in weigh history\nhint: leave it out\n"),
        ("history -r", "-r does nothing in weigh history\nhint: leave it out\n"),
        ("history -b", "-b does nothing in weigh history\nhint: leave it out\n"),
        ("--from-format du -d 0", "--from-format needs --from"),
    ] {
        let shown = weigh(flags).run();
        let expected = format!("weigh: error: {said}");
        assert_eq!(shown.code(), 2, "{flags}");
        assert!(shown.complaint().starts_with(&expected), "{flags}: {}", shown.complaint());
    }
    refused("", "--from-format du");
    // There is a tree to walk, and no PATH.
    let fixture = home("");
    let run = |more: &str| weigh(&format!("--from-format du{more}")).within(fixture.path()).run();
    assert_eq!([run("").code(), run(" -x").code()], [2; 2]);
    assert!(run("").complaint().contains("needs --from\n"), "{}", run("").complaint());
    // Lists get what is set for them; without a PATH, others are not concerned either.
    let fixture = home(config).dir("empty");
    std::fs::write(fixture.at("list"), "5 a/b\n6 a\n1 a/\n2 .\n").unwrap();
    let run = |flags| weigh(flags).within(fixture.path()).env("HOME", fixture.at("home")).run();
    assert_eq!(run("-j -s").code(), 0);
    assert_eq!(run("-j --from list").json()["size"], 8);
    std::fs::write(fixture.at("home/.config/weigh/config.toml"), format!("{config}from = 'list'"))
        .unwrap();
    assert_eq!(run("-j").json()["size"], 8);
    assert_eq!(run("-j top").json()["name"], "top");
}

/// A counterpart is for the command line; in the file, there is `false`.
#[test]
fn a_counterpart_is_no_key() {
    for flags in ["", "-r", "--no-dim"] {
        let complaint = refused("no-reverse = true", flags);
        assert!(
            complaint.contains("unknown key no-reverse\nhint: did you mean reverse?"),
            "{complaint}"
        );
    }
}

/// A comparison that finds no snapshot is not made without the settings that say what counts.
#[test]
fn a_setting_stays_where_the_snapshot_is_missing() {
    let fixture = home("");
    let run = |flags| within(&fixture, flags).env("XDG_STATE_HOME", fixture.at("state")).run();
    assert_eq!(run("--remember").code(), 0);
    assert_eq!(run("diff --since last").code(), 0);
    std::fs::write(fixture.at("home/.config/weigh/config.toml"), "limit-filesystem = true")
        .unwrap();
    let shown = run("diff --no-remember --since last");
    assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{}", shown.complaint());
}

/// A history shows snapshots as they are, whatever else is left out.
#[test]
fn filters_in_the_file_are_not_for_a_history() {
    let fixture = home("exclude = ['*.rs']\nlimit-filesystem = true\nnumber-of-lines = 1");
    let run = |flags| weigh(flags).within(fixture.path()).env("HOME", fixture.at("home")).run();
    run("top --save one.weigh --no-limit-filesystem").clean();
    assert!(run("history one.weigh").text().contains("top"));
}

#[test]
fn another_file_can_be_named() {
    let fixture = home("number-of-lines = 1");
    std::fs::write(fixture.at("mine.toml"), "number-of-lines = 2").unwrap();
    std::fs::create_dir_all(fixture.at("xdg/weigh")).unwrap();
    std::fs::write(fixture.at("xdg/weigh/config.toml"), "number-of-lines = 0").unwrap();
    let lines = |weigh: Weigh| lines(&weigh.run().text()) - 1;
    assert_eq!(lines(within(&fixture, "")), 1);
    assert_eq!(lines(within(&fixture, "--config mine.toml")), 2);
    assert_eq!(lines(within(&fixture, "").env("WEIGH_CONFIG_PATH", "mine.toml")), 2);
    assert_eq!(lines(within(&fixture, "").env("WEIGH_CONFIG_PATH", "")), 3);
    // A relative one does not count.
    assert_eq!(lines(within(&fixture, "").env("XDG_CONFIG_HOME", "xdg")), 1);
    for (flags, name) in [("--config none.toml", "WEIGH"), ("", "WEIGH_CONFIG_PATH")] {
        let shown = within(&fixture, flags).env(name, "none.toml").run();
        let complaint = shown.complaint();
        assert_eq!(shown.code(), 2, "{complaint}");
        assert!(
            complaint
                .starts_with("weigh: error: cannot read the config file none.toml: No such file"),
            "{complaint}"
        );
    }
}

#[test]
fn no_file_is_no_mistake() {
    let fixture = home("");
    std::fs::remove_dir_all(fixture.at("home/.config")).unwrap();
    assert_eq!(within(&fixture, "").run().code(), 0);
    std::fs::write(fixture.at("home/.config"), "a file").unwrap();
    assert_eq!(within(&fixture, "").run().code(), 0);
    // Nobody named it, so nobody waits for what it would say.
    let fixture = home("").fifo("xdg/weigh/config.toml");
    assert_eq!(within(&fixture, "").env("XDG_CONFIG_HOME", fixture.at("xdg")).run().code(), 0);
}

/// To find the wrong one of 60,000 took more than a minute.
#[test]
fn a_file_has_a_bounded_number_of_settings() {
    let keys: String = (0..60_000).map(|i| format!("k{i} = 'x'\n")).collect();
    let complaint = refused(&format!("[keys]\n{keys}"), "");
    assert!(complaint.contains("config.toml:1002: more than 1000 settings"), "{complaint}");
}

/// Without a home, the current directory was one, which may be another user's.
#[test]
fn a_home_is_an_absolute_path() {
    let fixture = home("number-of-lines = 0");
    for name in ["", "."] {
        let weigh = weigh("-s -b ../top").within(fixture.at("home")).env("HOME", name);
        assert_eq!(lines(&weigh.run().text()), 4, "{name:?}");
    }
}

/// `n = 30` was answered by "one is called no-dim".
#[test]
fn a_letter_as_a_key_is_answered_by_its_long_name() {
    let complaint = refused("n = 30", "");
    assert!(
        complaint.contains("unknown key n\nhint: use the long name of the flag, number-of-lines")
    );
    assert!(!refused("nope = true", "").contains("did you mean"));
    assert!(refused("revers = true", "").contains("did you mean reverse?"));
}
