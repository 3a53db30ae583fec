//! What filters leave out, flag by flag, on one small tree: by name, by path, by regular expression.

use std::fs::{File, FileTimes};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::fixture::{Fixture, raw};
use crate::run::{Weigh, flags, weigh};

/// A project, with sizes that tell every sum apart.
fn project() -> Fixture {
    Fixture::new()
        .file("top/README.md", 1)
        .file("top/src/main.py", 10)
        .file("top/src/main.pyc", 100)
        .file("top/src/node_modules/x.py", 1000)
        .file("top/node_modules/y.js", 10_000)
        .file("top/target/debug/z.o", 100_000)
        .file("top/.git/config", 1_000_000)
}

/// What is below the root, directories with a slash at the end, and the root's size.
pub fn seen(run: Weigh) -> (Vec<String>, u64) {
    let document = run.run().document();
    let nodes = document.by_path();
    let below = nodes.iter().filter(|(path, _)| !path.is_empty());
    let line = |(path, node): (&Vec<u8>, &&crate::document::Node)| {
        let slash = if node.kind == "directory" { "/" } else { "" };
        format!("{}{slash}", path.escape_ascii())
    };
    (below.map(line).collect(), document.root().size)
}

fn of(fixture: &Fixture, flags: &[&str]) -> (Vec<String>, u64) {
    let run = flags.iter().fold(weigh("-j -s"), |run, flag| run.arg(flag));
    seen(run.arg("top").within(fixture.path()))
}

fn sum(fixture: &Fixture, flags: &[&str]) -> u64 {
    of(fixture, flags).1
}

#[test]
fn a_bare_name_is_left_out_wherever_it_is() {
    let fixture = project();
    let (seen, size) = of(&fixture, &["-X", "node_modules", "-X", ".git/"]);
    assert_eq!(size, 100_111, "{seen:?}");
    assert!(!seen.iter().any(|path| path.contains("node_modules") || path.contains(".git")));
    assert_eq!(sum(&fixture, &["-X", "main.py"]), 1_111_101);
    // As a whole, and nothing else.
    assert_eq!(sum(&fixture, &["-X", "main", "-X", "y"]), 1_111_111);
}

#[test]
fn a_path_is_left_out_below_a_root_and_from_where_we_stand() {
    let fixture = project();
    let absolute = fixture.at("top/target");
    let linked = Fixture::new().symlink(fixture.path(), "link");
    let through_a_link = linked.at("link/top/target/debug");
    for (path, size) in [
        (Path::new("src/node_modules"), 1_110_111),
        (Path::new("./node_modules"), 1_101_111),
        (Path::new("top/node_modules"), 1_101_111),
        (Path::new("top/../top//src/./main.py"), 1_111_101),
        (Path::new("/node_modules"), 1_111_111),
        (Path::new("nowhere/at/all"), 1_111_111),
        (Path::new("top"), 1_111_111),
        (&absolute, 1_011_111),
        (&through_a_link, 1_011_111),
    ] {
        let run = weigh("-j -s -X").arg(path).arg("top").within(fixture.path());
        assert_eq!(seen(run).1, size, "{}", path.display());
    }
}

#[test]
fn names_that_are_not_utf_8_are_left_out_too() {
    let fixture = Fixture::new().file(raw(b"top/\xff/f"), 1).file(raw(b"top/a/\xfe"), 10);
    for (flag, name, size) in [
        ("-X", b"\xff".as_slice(), 10),
        ("-X", b"a/\xfe", 1),
        ("-v", b"\xff", 10),
        ("-e", b"/\xfe$", 10),
    ] {
        let run = weigh("-j -s").arg(flag).arg(raw(name)).arg("top").within(fixture.path());
        assert_eq!(seen(run).1, size, "{flag} {}", name.escape_ascii());
    }
}

/// A directory that is left out as a whole is not opened.
#[test]
fn what_is_left_out_by_name_is_not_read() {
    let fixture = Fixture::new().file("top/a/f", 7).unreadable("top/closed").unreadable("top/.h");
    let run = || weigh("-j -s").by_nobody(&fixture).arg(fixture.at("top"));
    assert_eq!(run().run().code(), 1);
    assert_eq!(seen(run().arg("-i").arg("-X").arg("closed")).1, 7);
}

#[test]
fn regular_expressions_go_for_files_and_paths() {
    let fixture = project();
    assert_eq!(
        of(&fixture, &["-e", r"\.py$"]),
        (
            ["src/", "src/main.py", "src/node_modules/", "src/node_modules/x.py"]
                .map(str::to_owned)
                .into(),
            1010
        )
    );
    for (flags, size) in [
        (&["-e", r"\.py$", "-e", "README"][..], 1011),
        (&["-e", "^top/src/"], 1110),
        (&["-e", "^src/"], 0),
        (&["-v", r"\.py"], 1_110_001),
        (&["-v", "node_modules", "-v", "git"], 100_111),
        (&["-e", "node_modules", "-v", "js$"], 1000),
        (&["-e", r"(?i)MAIN\.PY$"], 10),
    ] {
        assert_eq!(sum(&fixture, flags), size, "{flags:?}");
    }
}

/// A directory's own blocks are an entry like any other: they count if its path matches.
#[test]
fn a_directory_that_does_not_match_counts_only_what_is_in_it() {
    let fixture = project();
    for (flag, regex, whole, src, modules, target) in [
        ("-v", "^$", 14, Some(5), Some(2), Some(3)),
        ("-v", "node_modules", 10, Some(3), None, Some(3)),
        ("-e", "node_modules", 4, Some(2), Some(2), None),
        ("-e", r"\.py$", 2, Some(2), Some(1), None),
        ("-e", "/src$", 1, Some(1), None, None),
        ("-e", "^top$", 1, None, None, None),
    ] {
        let document = weigh("-j --inodes").arg(flag).arg(regex).arg("top").within(fixture.path());
        let document = document.run().document();
        let of = |path: &str| document.by_path().get(path.as_bytes()).map(|node| node.size);
        let found = (document.root().size, of("src"), of("src/node_modules"), of("target"));
        assert_eq!(found, (whole, src, modules, target), "{flag} {regex}");
        assert_eq!(document.root().entries, Some(whole), "{flag} {regex}");
    }
}

#[test]
fn a_file_of_regular_expressions_adds_to_them() {
    let fixture = project();
    std::fs::write(fixture.at("list"), "\\.pyc$\n\nnode_modules/\r\n^top/\\.git").unwrap();
    std::fs::write(fixture.at("more"), "README").unwrap();
    assert_eq!(sum(&fixture, &["-I", "list"]), 100_011);
    assert_eq!(sum(&fixture, &["-I", "list", "-I", "more", "-v", "z"]), 10);
}

/// The tables of Unicode's other properties are left out, and these two kinds must not go with them.
#[test]
fn categories_and_scripts_of_unicode_are_known() {
    let fixture =
        ["ab", "αβ", "12"].iter().fold(Fixture::new(), |it, name| it.file(format!("t/{name}"), 5));
    for (regex, length) in [(r"/\p{L}+$", 10), (r"/\p{Greek}+$", 5), (r"/\p{Nd}+$", 5)] {
        let run = weigh("-j -s -e").arg(regex).arg(fixture.at("t"));
        assert_eq!(seen(run).1, length, "{regex}");
    }
}

#[test]
fn a_bad_pattern_is_named_in_one_line() {
    let fixture = project();
    std::fs::write(fixture.at("list"), "fine\n\n[a-\n").unwrap();
    for (flags, complaint) in [
        (
            &["-e", "a", "-e", "(b"][..],
            "invalid value '(b' for '--filter <REGEX>': unclosed group\nhint: put a backslash before a character that is part of a name",
        ),
        (
            &["-v", "*"],
            "invalid value '*' for '--invert-filter <REGEX>': repetition operator missing expression\n\
             hint: --include and --exclude take globs",
        ),
        (
            &["-I", "list"],
            "invalid line list:3 for '--ignore-all-in-file <FILE>': unclosed character class\nhint: put a backslash before a character that is part of a name",
        ),
        (
            &["-I", "no\nne"],
            r"cannot read 'no\nne' for '--ignore-all-in-file <FILE>': No such file or directory",
        ),
        (
            &["-z", "1q"],
            "invalid value '1q' for '--min-size <SIZE>'\nhint: a size is a number and a unit, as in 512, 10k, 10KiB, 10kB, 1.5G",
        ),
    ] {
        let shown = flags.iter().fold(weigh(""), |run, flag| run.arg(flag));
        let shown = shown.within(fixture.path()).run();
        assert_eq!(shown.complaint(), format!("weigh: error: {complaint}\n"));
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0));
    }
}

/// The root itself is never filtered by its name. Entries in it are filtered by their paths.
#[test]
fn a_root_is_weighed_whatever_its_name() {
    let fixture = project();
    let run = |flags: &str| seen(weigh(flags).within(fixture.path())).1;
    assert_eq!(run("-j -s -i -X .git -v config_ top/.git"), 1_000_000);
    assert_eq!(run("-j -s -X README.md -e py$ top/README.md"), 1);
    assert_eq!(run("-j -s -X node_modules top top/node_modules"), 1_110_111);
    assert_eq!(run("-j -s -v README top top/README.md"), 1_111_111);
}

/// A file for each of `ages`, in seconds: last read and written to so long ago.
fn aged(ages: &[i64]) -> Fixture {
    let mut fixture = Fixture::new();
    for age in ages {
        let name = format!("top/dir/{age}");
        fixture = fixture.file(&name, 1);
        let span = Duration::from_secs(age.unsigned_abs());
        let now = SystemTime::now();
        set_time(&fixture.at(name), if *age < 0 { now + span } else { now - span });
    }
    fixture
}

fn set_time(path: &Path, time: SystemTime) {
    let times = FileTimes::new().set_modified(time).set_accessed(time);
    File::open(path).unwrap().set_times(times).unwrap();
}

#[test]
fn ages_are_what_find_takes_them_for() {
    const DAY: i64 = 24 * 60 * 60;
    // A minute on either side of each boundary, for tests that run slowly.
    let ages: Vec<i64> = (-1..=3).flat_map(|day| [day * DAY - 60, day * DAY + 60]).collect();
    let fixture = aged(&ages);
    for (flag, test) in [("-M", "-mtime"), ("-A", "-atime"), ("-y", "-ctime")] {
        for days in ["0", "1", "2", "7", "+0", "+1", "-1", "-2"] {
            let (seen, size) = of(&fixture, &[flag, days]);
            let files: Vec<_> = seen.into_iter().filter(|path| !path.ends_with('/')).collect();
            let output = Command::new("find")
                .args([".", "-mindepth", "2", test, days, "-printf", "%P\n"])
                .current_dir(fixture.at("top"))
                .output()
                .unwrap();
            let mut found: Vec<_> =
                String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
            found.sort();
            assert_eq!(files, found, "{flag} {days}");
            assert_eq!(size, found.len() as u64, "{flag} {days}");
        }
    }
}

#[test]
fn a_directory_counts_by_its_own_time() {
    let fixture = Fixture::new().file("top/new/old", 1);
    for old in ["top/new/old", "top"] {
        set_time(&fixture.at(old), SystemTime::UNIX_EPOCH);
    }
    let inodes = |days| weigh("-j --inodes -M").arg(days).arg(fixture.at("top")).run().document();
    assert_eq!(inodes("+365").root().size, 2);
    let new = inodes("-1");
    assert_eq!((new.root().size, new.node("new").size, new.nodes.len()), (1, 1, 2));
}

#[test]
fn bad_days_are_named() {
    for flag in ["--mtime", "--atime", "--ctime"] {
        let shown = weigh(&format!("{flag} 1w")).run();
        let help = "give a number of days, as in 0 (the last 24 hours), -7 (the last week), +365 (over a year ago)";
        let complaint =
            format!("weigh: error: invalid value '1w' for '{flag} <DAYS>'\nhint: {help}\n");
        assert_eq!((shown.complaint(), shown.code()), (complaint, 2));
    }
}

#[test]
fn globs_are_those_of_gitignore_from_each_root_on() {
    let fixture = project();
    for (flags, size) in [
        (&["--exclude", "*.py"][..], 1_110_101),
        (&["--exclude", "*.py", "--exclude", "!main.py"], 1_110_111),
        (&["--exclude", "/node_modules"], 1_101_111),
        (&["--exclude", "node_modules/"], 1_100_111),
        (&["--exclude", "README.md/"], 1_111_111),
        (&["--exclude", "src/**/x.py", "--exclude", "target/**"], 1_010_111),
        (&["--exclude", "/top"], 1_111_111),
        (&["--exclude", "src", "--exclude", "!main.py"], 1_110_001),
        (&["--include", "*.py"], 1010),
        (&["--include", "src"], 1110),
        (&["--include", "src/", "--exclude", "*.pyc"], 1010),
        (&["--include", "*.py", "--include", "!x.*"], 10),
        (&["--include", "nothing"], 0),
        (&["--exclude", "#README.md", "--include", "#a"], 0),
        (&["--type", "py"], 1010),
        (&["--type", "py", "--type", "md", "--type-not", "markdown"], 1010),
        (&["--type-not", "js"], 1_101_111),
        (&["--type", "py", "--exclude", "x.py"], 10),
    ] {
        assert_eq!(sum(&fixture, flags), size, "{flags:?}");
    }
    // With several roots, a leading slash is each one's.
    let run = weigh("-j -s --exclude /main.py --exclude /x.py").arg("top/src");
    assert_eq!(seen(run.arg("top/node_modules").within(fixture.path())).1, 11_100);
}

#[test]
fn an_ignore_file_comes_before_the_flags() {
    let fixture = project();
    std::fs::write(fixture.at("list"), "# nothing\n\n*.py\n/README.md  \r\n").unwrap();
    let ignore = |flags: &[&str]| sum(&fixture, &[&["--exclude-from", "list"], flags].concat());
    assert_eq!(ignore(&[]), 1_110_100);
    assert_eq!(ignore(&["--exclude", "!main.py"]), 1_110_110);
    // What is left out whole cannot be brought back from within.
    assert_eq!(ignore(&["--exclude", "src", "--exclude", "!main.py"]), 1_110_000);
}

#[test]
fn directories_count_where_globs_and_types_ask_for_them() {
    let fixture = project();
    for (flags, inodes) in [
        ("--include src", 5),
        ("--include *.py", 2),
        ("--include node_modules/", 4),
        ("--type py", 2),
        ("--type-not py", 12),
        ("--exclude target", 11),
    ] {
        let run = weigh(&format!("-j --inodes {flags} top")).within(fixture.path());
        assert_eq!(seen(run).1, inodes, "{flags}");
    }
}

#[test]
fn what_globs_leave_out_whole_is_not_read() {
    let fixture = Fixture::new().file("top/a/f", 7).unreadable("top/sub/closed");
    let run = weigh("-j -s --exclude sub/closed").by_nobody(&fixture).arg(fixture.at("top"));
    assert_eq!(seen(run).1, 7);
}

#[test]
fn types_are_listed() {
    let list = weigh("--type-list").run().text();
    assert!(list.lines().any(|line| line == "py: *.py, *.pyi"), "{list}");
    let names: Vec<_> = list.lines().filter_map(|line| line.split(':').next()).collect();
    assert!(names.is_sorted() && names.len() > 100, "{list}");
}

#[test]
fn a_bad_glob_or_type_is_named_in_one_line() {
    let fixture = Fixture::new();
    std::fs::write(fixture.at("list"), "fine\n\n[a-\n").unwrap();
    let unclosed = "a bracket is not closed, or a backslash stands at the end\n\
                    hint: put a backslash before a character that is part of a name";
    for (flags, complaint) in [
        (["--exclude", "[a"], format!("invalid value '[a' for '--exclude <GLOB>': {unclosed}")),
        (["--include", "a\\"], format!("invalid value 'a\\' for '--include <GLOB>': {unclosed}")),
        (
            ["--exclude-from", "list"],
            format!("invalid line list:3 for '--exclude-from <FILE>': {unclosed}"),
        ),
        (
            ["--exclude-from", "none"],
            "cannot read 'none' for '--exclude-from <FILE>': No such file or directory".into(),
        ),
        (
            ["--type", "rusty"],
            "invalid value 'rusty' for '--type <NAME>'\nhint: did you mean 'rust'? --type-list lists the types".into(),
        ),
        (
            ["--type-not", "x\ny"],
            "invalid value 'x\\ny' for '--type-not <NAME>'\nhint: --type-list lists the types".into(),
        ),
    ] {
        let shown = weigh("").arg(flags[0]).arg(flags[1]).within(fixture.path()).run();
        assert_eq!(shown.complaint(), format!("weigh: error: {complaint}\n"));
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0));
    }
}

/// Totals and numbers of entries do not change. Only what is in the directory is not shown.
#[test]
fn what_is_collapsed_counts_and_is_not_shown() {
    let fixture = project();
    let absolute = fixture.at("top/src");
    let (x, y) = ("src/node_modules/x.py", "node_modules/y.js");
    let in_src = ["src/main.py", "src/main.pyc", "src/node_modules/", x];
    for (path, hidden) in [
        (Path::new("node_modules"), &[x, y][..]),
        (Path::new("src"), &in_src),
        (Path::new("./node_modules/"), &[y]),
        (Path::new("src/node_modules"), &[x]),
        (&absolute, &in_src),
        (Path::new("top"), &[]),
        (Path::new("README.md"), &[]),
    ] {
        let (mut expected, size) = of(&fixture, &[]);
        expected.retain(|line| !hidden.contains(&line.as_str()));
        let run = weigh("-j -s --collapse").arg(path).arg("top").within(fixture.path());
        assert_eq!(seen(run), (expected, size), "{}", path.display());
    }
    // Entries in it do not count towards the number of lines.
    let picture = |flags: &str| {
        let run = weigh(&format!("-s -b -c -o b {flags} top")).within(fixture.path());
        let lines = crate::picture::lines(&run.run().text());
        lines.into_iter().map(|line| (line.name, line.size)).collect::<Vec<_>>()
    };
    let expected = [("node_modules/y.js", 10_000), ("target", 100_000), (".git", 1_000_000)];
    let lines = picture("-n 3 --collapse .git --collapse target");
    assert_eq!(lines[..3], expected.map(|(name, size)| (name.to_owned(), size)));
}

/// In `.gitignore`, braces are nothing special, and so they are not in a file of such lines.
#[test]
fn braces_in_globs_have_alternates() {
    let fixture = Fixture::new()
        .file("top/a.jpg", 1)
        .file("top/d/b.png", 10)
        .file("top/c.txt", 100)
        .file("top/x.{jpg,png}", 1000);
    std::fs::write(fixture.at("lines"), "*.{jpg,png}\n").unwrap();
    std::fs::write(fixture.at("top/.ignore"), "*.{jpg,png}\n").unwrap();
    for (flags, size) in [
        (&["--exclude", "*.{jpg,png}"][..], 1100),
        (&["--include", "*.{jpg,png}"], 11),
        (&["--include", "{d/,c}.txt"], 100),
        (&["--exclude", "/{a.{jpg,gif},d}"], 1100),
        (&["--exclude", r"*.\{jpg,png\}"], 111),
        (&["--exclude-from", "lines"], 111),
        (&["--gitignore"], 111),
    ] {
        let flags = [flags, &["--exclude", ".ignore"]].concat();
        assert_eq!(sum(&fixture, &flags), size, "{flags:?}");
    }
    for glob in ["*.{jpg", "*.jpg}", &"{a,b}".repeat(11)] {
        let shown = weigh("top --exclude").arg(glob).within(fixture.path()).run();
        assert!(shown.complaint().contains("brace"), "{}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0));
    }
}

#[test]
fn a_name_or_glob_that_matches_nothing_is_named() {
    let fixture = project();
    for (flags, said) in [
        (
            &["-X", "*modules"][..],
            "-X '*modules' matched nothing\nhint: -X takes names and paths, and --exclude takes globs",
        ),
        (
            &["--exclude", "node_modules,target"],
            "--exclude 'node_modules,target' matched nothing\nhint: repeat --exclude for each of several",
        ),
        (
            &["-X", "src,target"],
            "-X 'src,target' matched nothing\nhint: repeat -X for each of several",
        ),
        (&["--include", "*.rs", "--include", "*.py"], "--include '*.rs' matched nothing"),
        (
            &["--exclude", "/top/src"],
            "--exclude '/top/src' matched nothing\nhint: a glob that begins with a slash begins at each PATH",
        ),
        (&["-X", "a\tb"], r"-X 'a\tb' matched nothing"),
        // All of these match.
        (&["-X", "node_modules", "-X", "top/target", "-X", "src/main.py"], ""),
        (&["-i", "-X", ".git", "--exclude", ".git"], ""),
        (
            &[
                "--exclude",
                "*.py",
                "--exclude",
                "main.py",
                "--exclude",
                "!x.py",
                "--exclude",
                "src/*.py",
            ],
            "",
        ),
        (&["--exclude", "{debug,nothing}"], ""),
        (&["-q", "-X", "nothing"], ""),
    ] {
        let run = flags.iter().fold(weigh("-c -s"), |run, flag| run.arg(flag));
        let shown = run.arg("top").within(fixture.path()).run();
        let line = if said.is_empty() { String::new() } else { format!("weigh: note: {said}\n") };
        assert_eq!((shown.code(), shown.complaint()), (0, line), "{flags:?}");
    }
    // The config file is for all trees.
    std::fs::write(
        fixture.at("config"),
        "exclude = [\"nothing\"]\nignore-directory = [\"none\"]\n",
    )
    .unwrap();
    let shown = weigh("-c -s top --config").arg(fixture.at("config")).within(fixture.path()).run();
    assert_eq!((shown.code(), shown.complaint()), (0, String::new()));
}

/// An empty tree looks as if nothing were there.
#[test]
fn filters_that_select_nothing_are_named() {
    let fixture = project().file("empty/of/x.rs", 0).dir("none");
    let save = "-s --save all.weigh top";
    weigh(save).within(fixture.path()).run().clean();
    let old = "older = '100y'";
    std::fs::write(fixture.at("old.toml"), old).unwrap();
    for (flags, said) in [
        ("-e zzz top", "-e zzz matched nothing\n"),
        ("--filter=[z]$ top", "-e '[z]$' matched nothing\n"),
        ("--older 100y --type rust top none", "--type rust --older 100y matched nothing\n"),
        ("-M +36500 top", "-M +36500 matched nothing\n"),
        ("--config old.toml top", "--older 100y matched nothing\n"),
        ("--from all.weigh -e zzz", "-e zzz matched nothing\n"),
        // The glob is named already.
        ("--include *.none -e zzz top", "--include '*.none' matched nothing\n"),
        // An empty file is an entry.
        ("-e x.rs empty", ""),
        ("none", ""),
        ("-q -e zzz top", ""),
    ] {
        let shown = weigh(flags).within(fixture.path()).run();
        let said = if said.is_empty() { String::new() } else { format!("weigh: note: {said}") };
        assert_eq!((shown.code(), shown.complaint()), (0, said), "{flags}");
    }
}

#[test]
fn a_path_that_exclude_takes_for_its_pattern_is_named() {
    let fixture = project();
    let said = |flags: &str| weigh(flags).within(fixture.path()).run().complaint();
    let note = "weigh: note: top is the pattern of --exclude, and the current directory is shown\n\
        hint: add a PATH, as in --exclude top .\n";
    assert_eq!(said("-s --exclude top"), note);
    assert_eq!(said("-s --exclude top ."), "");
    assert_eq!(said("-q --exclude top"), "");
    assert!(!said("-s --exclude nothing").contains("pattern"));
}

/// A new filter has to say whether two snapshots can be compared with it, and whether `find` on another machine can do
/// it. Without these cases, nobody notices that it was forgotten there.
#[test]
fn every_filter_is_tried_with_snapshots_and_other_machines() {
    let compared = crate::alike::CASES.iter().flat_map(|(saved, given, _)| [*saved, *given]);
    let compared: Vec<&str> = compared.flat_map(str::split_whitespace).collect();
    let elsewhere = crate::ssh::WITH_FIND.into_iter().chain(crate::ssh::ONLY_WEIGH);
    let elsewhere: Vec<&str> = elsewhere.flat_map(str::split_whitespace).collect();
    for (_, names) in flags().iter().filter(|(heading, _)| heading == "What to leave out") {
        let is_in = |tried: &[&str]| names.iter().any(|name| tried.contains(&&**name));
        assert!(is_in(&compared), "{names:?} is not in alike::CASES");
        assert!(is_in(&elsewhere), "{names:?} is in no list of ssh.rs");
    }
}
