//! What git's configuration says of what is ignored, against git itself: every file and variable that it
//! comes from, its syntax, what it includes, and names that differ in case alone.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::gitignore::{IGNORED, checkout, git, rules, weighed};
use crate::rounds::{for_seeds, rounds};
use crate::run::weigh;

type Env<'a> = &'a [(&'static str, &'a str)];

/// A work tree of which some file named in a configuration ignores some.
fn world() -> Fixture {
    let names = ["a.o", "b.c", "sub/a.o", "sub/b.c", "A.O"];
    let files: Vec<(&[u8], &str)> = names.iter().map(|name| (name.as_bytes(), "")).collect();
    let fixture = checkout(Fixture::new(), "top", &files);
    for (path, text) in [
        ("top/o", "*.o\n"),
        ("top/sub/o", "*.c\n"),
        ("home/o", "/a.o\n"),
        ("home/c", "*.c\n"),
        ("home/ s p\t#\"\\", "b*\n"),
        ("home/.config/git/ignore", "/sub\n"),
    ] {
        fs::create_dir_all(fixture.at(path).parent().unwrap()).unwrap();
        fs::write(fixture.at(path), text).unwrap();
    }
    fixture
}

/// What git says is ignored, in an environment with `env`.
fn by_git(fixture: &Fixture, dir: &str, env: Env) -> Output {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z"]).args(IGNORED).current_dir(fixture.at(dir)).env_clear();
    git.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", fixture.at("home"));
    git.env("GIT_CONFIG_SYSTEM", "").envs(env.iter().copied()).output().unwrap()
}

/// Compares `--ignored` with git. If git refuses to answer, weigh must, too. If the repository is at fault, all its
/// files count as not ignored. Otherwise it is a usage error.
fn agrees_with_git(fixture: &Fixture, env: Env, what: &str) {
    let git = by_git(fixture, "top", env);
    let mut run =
        weigh("-j --only-ignored top").within(fixture.path()).env("HOME", fixture.at("home"));
    run = run.env("GIT_CONFIG_SYSTEM", "");
    for (name, value) in env {
        run = run.env(name, value);
    }
    let shown = run.run();
    if !git.status.success() {
        let said = String::from_utf8_lossy(&git.stderr).into_owned();
        assert_eq!((shown.code(), shown.complaint().lines().count()), (2, 1), "{what}: {said}");
        return;
    }
    let document = shown.document();
    let seen: BTreeSet<_> = document
        .by_path()
        .into_iter()
        .filter(|(_, node)| node.kind != "directory")
        .map(|(path, _)| path.escape_ascii().to_string())
        .collect();
    let names = git.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let expected: BTreeSet<_> = names.map(|name| name.escape_ascii().to_string()).collect();
    assert_eq!(seen, expected, "{what}");
}

#[test]
fn every_way_to_write_a_value() {
    let fixture = world();
    for text in [
        "[core] excludesFile=o",
        "[core] excludesFile=o ; comment\n[user]name=x",
        "\u{feff}[core]\nexcludesFile = o\n",
        "\u{feff}[core] excludesFile = ~/o",
        "\r\n[core]\r\n\texcludesFile = ~/o\r\n",
        "[CORE]\nEXCLUDESFILE = ~/o # comment\n",
        "[core]\n\texcludesFile = \"~/\\\no\"\n",
        "[core]\n\texcludesFile = ~\\\n/\\\r\no\\\n\n",
        "[core]\n\texcludesFile = \"~/\"o\"\"\n",
        "[core]\nexcludesFile = \"~/ s p\\t#\\\"\\\\\"  \t; x",
        "[core]\nexcludesFile = \"~\"/\" s p\\t#\"\\\"\\\\\n",
        "[core]\nexcludesFile = o \\\n\n",
        "[core]\nexcludesFile = sub/o\n[core \"x\"]\nexcludesFile = o\n[core.y]\nexcludesFile = o",
        "[core]\nexcludesFile = o\nexcludesFile = ~/c\n[user]\n\tname = x\n",
        "[core]excludesFile=o\n[core]excludesFile=\n",
        "[core]\nexcludesFile = \"\"\n",
        "[core]\nexcludesFile = ~/nothing\n",
        "[core]\nexcludesFile = o\0p\n",
        "[core]\n# [user]\n; \\\nexcludesFile = o\n",
        "[core]\npager\nexcludesFile = o\n",
        "[user \"a ] b\\\"c\"] x = y\n[core]excludesFile=o",
        "[core]\nexcludes-file = o\nexcludesfile.x = o",
        // What git refuses.
        "[core]\nexcludesFile\n",
        "[core]\nexcludesFile o\n",
        "[core]\nexcludesFile = o\\q\n",
        "[core]\nexcludesFile = \"o\nx = \"\n",
        "[core]\nexcludesFile = \"o",
        "[core\nexcludesFile = o\n",
        "[]\nexcludesFile = o\n",
        "[core \"x]\nexcludesFile = o\n",
        "[core \"x\" ]\nexcludesFile = o\n",
        "[core]\nexcludesFile = o\n1 = 2\n",
        "[core]\n = o\n",
        "[core]\nignoreCase = perhaps\n",
        "\u{fe00}[core]\nexcludesFile = o\n",
        "[core]\nexcludesFile = o\n[include]\npath\n",
        "excludesFile\n[core]excludesFile=o\n",
        "",
    ] {
        fs::write(fixture.at("home/.gitconfig"), text).unwrap();
        agrees_with_git(&fixture, &[], &format!("{text:?}"));
    }
    let said = {
        fs::write(fixture.at("home/.gitconfig"), "\n[core]\n\nexcludesFile\n").unwrap();
        weigh("--only-ignored top").within(fixture.path()).env("HOME", fixture.at("home")).run()
    };
    let name = fixture.at("home/.gitconfig");
    let expected = format!("cannot read git's file '{}': line 4 ", name.display());
    assert!(said.complaint().contains(&expected), "{}", said.complaint());
}

#[test]
fn every_way_to_write_a_boolean() {
    let fixture = world();
    fs::write(fixture.at("top/.gitignore"), "/a.o\n").unwrap();
    for value in [
        "",
        "=",
        "= true",
        "= YES",
        "= on",
        "= 1",
        "= -3",
        "= 2k",
        "= false",
        "= No",
        "= off",
        "= 0",
        "= 0k",
        "= 1 2",
        "= tru",
        "= 99999999999999999999",
        "= \"\"",
    ] {
        let text = format!("[core]\nignoreCase {value}\n");
        fs::write(fixture.at("home/.gitconfig"), &text).unwrap();
        agrees_with_git(&fixture, &[], &text);
    }
}

#[test]
fn every_variable_of_the_environment() {
    let fixture = world();
    let at = |path: &str| fixture.at(path).into_os_string().into_string().unwrap();
    let write = |path: &str, file: &str| {
        fs::write(fixture.at(path), format!("[core]\nexcludesFile = {file}\n")).unwrap();
    };
    write("system", "~/o");
    write("global", "~/c");
    let (system, global, home) = (at("system"), at("global"), at("home"));
    let (c, o, nothing) = (at("home/c"), at("home/o"), at("nothing"));
    let count = |count| [("GIT_CONFIG_COUNT", count)];
    let set = |name, value| {
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", name), ("GIT_CONFIG_VALUE_0", value)]
    };
    let two = [("GIT_CONFIG_KEY_1", "core.excludesfile"), ("GIT_CONFIG_VALUE_1", &*o)];
    let cases: &[Env] = &[
        &[],
        &[("GIT_CONFIG_SYSTEM", &system)],
        &[("GIT_CONFIG_SYSTEM", &system), ("GIT_CONFIG_NOSYSTEM", "1")],
        &[("GIT_CONFIG_SYSTEM", &system), ("GIT_CONFIG_NOSYSTEM", "no")],
        &[("GIT_CONFIG_SYSTEM", &system), ("GIT_CONFIG_NOSYSTEM", "")],
        &[("GIT_CONFIG_SYSTEM", &system), ("GIT_CONFIG_NOSYSTEM", "perhaps")],
        &[("GIT_CONFIG_SYSTEM", &system), ("GIT_CONFIG_GLOBAL", &global)],
        &[("GIT_CONFIG_GLOBAL", &nothing)],
        &[("GIT_CONFIG_GLOBAL", "")],
        &[("GIT_CONFIG_GLOBAL", "/dev/null")],
        &[("XDG_CONFIG_HOME", &home)],
        &[("XDG_CONFIG_HOME", "")],
        &count(""),
        &count("0"),
        &count(" 0"),
        &count("1"),
        &count("x"),
        &count("-1"),
        &count("99999999999"),
        &set("core.excludesfile", "o"),
        &set("CORE.ExcludesFile", &c),
        &set("core.excludesfile", "~/c"),
        &set("core.excludesfile", ""),
        &set("core.x.excludesfile", "o"),
        &set("core.ignorecase", "perhaps"),
        &set("include.path", &global),
        &set("include.path", "~/../global"),
        &[&set("core.excludesfile", &c)[1..], &two, &count("2")].concat(),
        &[&set("core.excludesfile", &c)[..], &[("GIT_CONFIG_GLOBAL", &global)]].concat(),
        &[("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.excludesfile")],
    ];
    for written in ["", "top/.git/config", "home/.gitconfig"] {
        if !written.is_empty() {
            write(written, "o");
        }
        for env in cases {
            agrees_with_git(&fixture, env, &format!("{env:?} with {written}"));
        }
    }
}

#[test]
fn every_file_that_is_included() {
    let fixture = world();
    let home = fixture.at("home");
    fs::create_dir(home.join("more")).unwrap();
    for (name, text) in [
        ("more/o", "[core]\nexcludesFile = ~/o\n[include]\npath = c"),
        ("more/c", "[core]\nexcludesFile = ~/c\n"),
        ("more/broken", "[core\n"),
        ("more/self", "[include]\npath = self\n"),
    ] {
        fs::write(home.join(name), text).unwrap();
    }
    let absolute = home.join("more/c");
    for path in [
        "more/c",
        "~/more/o",
        &absolute.display().to_string(),
        "nothing",
        "more/broken",
        "more/self",
    ] {
        for (before, after) in
            [("", ""), ("[core]excludesFile=sub/o", ""), ("", "[core]excludesFile=o")]
        {
            let text = format!("{before}\n[include]\npath = {path}\n{after}\n");
            fs::write(home.join(".gitconfig"), &text).unwrap();
            agrees_with_git(&fixture, &[], &text);
        }
    }
    // Ten files in one another, and eleven.
    for deepest in [10, 11] {
        for depth in 0..deepest {
            let text = format!("[include]\npath = {}\n", depth + 1);
            fs::write(
                home.join(if depth == 0 { ".gitconfig".into() } else { depth.to_string() }),
                text,
            )
            .unwrap();
        }
        fs::write(home.join(deepest.to_string()), "[core]\nexcludesFile = o\n").unwrap();
        agrees_with_git(&fixture, &[], &format!("{deepest} levels"));
    }
}

/// Files that include two of the next kind each would be read a thousand times; git does that.
#[test]
fn what_is_included_is_bounded() {
    let fixture = world();
    for depth in 0..9 {
        let name = if depth == 0 { ".gitconfig".to_owned() } else { depth.to_string() };
        let text = format!("[include]\npath = {0}\npath = {0}\n", depth + 1);
        fs::write(fixture.at("home").join(name), text).unwrap();
    }
    let shown =
        weigh("--only-ignored top").within(fixture.path()).env("HOME", fixture.at("home")).run();
    assert_eq!(shown.code(), 2);
    assert!(shown.complaint().contains("too many files are included"), "{}", shown.complaint());
}

#[test]
fn what_a_repository_says_for_itself() {
    let fixture = world();
    let at = |path: &str| fixture.at(path).display().to_string();
    fs::write(fixture.at("top/.git/more"), "[core]\nexcludesFile = ~/c\n").unwrap();
    let plain = fixture.text("top/.git/config");
    for text in [
        "[core]excludesFile=o",
        "[core]excludesFile=sub/../sub/o",
        "[core]excludesFile=~/o",
        "[core]excludesFile=",
        &format!("[core]excludesFile={}", at("home/c")),
        "[include]path=more",
        &format!("[include]path={}", at("top/.git/more")),
        "[include]path=../../home/nothing",
        "[core]ignoreCase",
        "[core]ignoreCase=no",
        "[extensions]worktreeConfig\n[core]excludesFile=o",
        "[extensions]worktreeConfig=no",
        "",
    ] {
        fs::write(fixture.at("top/.git/config"), format!("{plain}\n{text}")).unwrap();
        for worktree in ["", "[core]excludesFile=~/o"] {
            fs::write(fixture.at("top/.git/config.worktree"), worktree).unwrap();
            for user in ["", "[core]excludesFile=sub/o\nignoreCase=yes"] {
                fs::write(fixture.at("home/.gitconfig"), user).unwrap();
                agrees_with_git(&fixture, &[], &format!("{text} {worktree} {user}"));
            }
        }
    }
    // From a root inside, and in a work tree besides the first one, whose configuration is the first one's.
    fs::write(fixture.at("top/.git/config"), format!("{plain}\n[core]excludesFile=o")).unwrap();
    fs::remove_file(fixture.at("home/.gitconfig")).unwrap();
    let seen = weighed(weigh("--only-ignored top/sub").within(fixture.path()), &fixture);
    assert_eq!(seen, [b"a.o".to_vec()].into());
    let identity = ["-c", "user.name=n", "-c", "user.email=e"];
    let commit = ["commit", "-q", "--allow-empty", "-m", "m"];
    git(&fixture, &fixture.at("top"), &[&identity[..], &commit].concat());
    git(&fixture, &fixture.at("top"), &["worktree", "add", "-q", "../second"]);
    let fixture = fixture.file("second/x.o", 0).file("second/y.c", 0);
    fs::write(fixture.at("second/o"), "*.c\n").unwrap();
    let seen = weighed(weigh("--only-ignored second").within(fixture.path()), &fixture);
    let expected = by_git(&fixture, "second", &[]).stdout;
    assert_eq!((seen, &*expected), ([b"y.c".to_vec()].into(), &b"y.c\0"[..]));
}

/// Git would refuse to work. weigh names the error, and counts as if that repository had no configuration. It neither
/// waits for the files that the configuration names, nor reads them without a limit.
#[test]
fn a_repository_that_is_set_up_badly() {
    let fixture = world().fifo("top/pipe").sparse("top/.git/large", 11 << 20);
    let config = fixture.at("top/.git/config");
    let run = || {
        weigh("-j --only-ignored top").within(fixture.path()).env("HOME", fixture.at("home")).run()
    };
    for (text, file, message) in [
        ("[core]\nexcludesFile = o\nx = \"", "config", "line 3 is not valid"),
        ("[core]excludesFile=o\n[include]path=config", "config", "too many files are included"),
        ("[core]excludesFile=o\n[include]path=large", "large", "it is larger than 10 MiB"),
        ("[core]excludesFile=o\n[core]ignoreCase=x", "config", "line 2 is not valid"),
    ] {
        fs::write(&config, text).unwrap();
        let shown = run();
        let said = format!("cannot read top/.git/{file}: {message}");
        assert!(shown.complaint().contains(&said), "{text}: {}", shown.complaint());
        assert_eq!(shown.code(), 1, "{text}");
        let document = crate::document::Document::parse(&shown.stdout);
        let files = document.by_path().into_values().filter(|node| node.kind != "directory");
        // The user's own say that `sub` is ignored.
        assert_eq!(files.count(), 3, "{text}");
    }
    for text in ["[core]excludesFile=pipe", "[include]path=../pipe", "[core]excludesFile=/dev/zero"]
    {
        fs::write(&config, text).unwrap();
        assert_eq!(run().code(), 0, "{text}");
    }
}

/// A pipe in place of a file of the user's, or of one that this names, would be waited for.
#[test]
fn a_pipe_is_none_of_the_users_files() {
    for (pipe, config) in [
        ("home/.gitconfig", None),
        ("home/pipe", Some("[include]path=pipe")),
        ("home/pipe", Some("[core]excludesFile=~/pipe")),
    ] {
        let fixture = world().fifo(pipe);
        if let Some(config) = config {
            fs::write(fixture.at("home/.gitconfig"), config).unwrap();
        }
        let run = weigh("-j -q --only-ignored top")
            .within(fixture.path())
            .env("HOME", fixture.at("home"));
        let shown = run.run();
        assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0), "{pipe} {config:?}");
    }
}

/// On a file system that knows case: `a` is ignored or tracked if `A` is. Git lists what is tracked by
/// the name in its index, so only what it ignores can be compared.
#[test]
fn names_that_differ_in_case_alone() {
    let fixture = world().file("top/TRACKED.C", 0).file("top/Deep/Er/tracked.o", 0);
    let top = fixture.at("top");
    fs::write(top.join(".gitignore"), "*.O\nSUB/B.c\n[D]eep2/\ndeep/\n\\A*\n[A-C].c\n*.c\n")
        .unwrap();
    git(&fixture, &top, &["config", "core.ignoreCase", "true"]);
    git(&fixture, &top, &["add", "-f", "TRACKED.C", "Deep/Er/tracked.o"]);
    fs::rename(top.join("TRACKED.C"), top.join("Tracked.c")).unwrap();
    fs::rename(top.join("Deep/Er"), top.join("Deep/er")).unwrap();
    fs::rename(top.join("Deep"), top.join("deep")).unwrap();
    let fixture = fixture.file("top/deep/er/other.o", 0).file("top/sub/.Git/x.o", 0);
    agrees_with_git(&fixture, &[], "ignoreCase");
    git(&fixture, &top, &["config", "core.ignoreCase", "false"]);
    fs::remove_dir_all(top.join("sub/.Git")).unwrap();
    agrees_with_git(&fixture, &[], "no ignoreCase");
}

#[test]
fn random_rules_without_regard_to_case() {
    const NAMES: [&str; 12] = ["a", "A", "ab", "AB", "aB", "a.o", "A.O", "c", "C", "d", "[", "\\"];
    const MORE: [&[u8]; 8] =
        [b"A", b"AB", b".O", b"[A]", b"[A-C]", b"[!A-B]", b"[[:upper:]]", b"\\A"];
    for_seeds(rounds(40, 3_000), |seed| {
        let mut dice = Dice::new(seed + 6_000_000);
        let fixture = Fixture::in_memory().dir("home").dir("top");
        let top = fixture.at("top");
        git(&fixture, &top, &["init", "-q", "--template="]);
        for _ in 0..10 + dice.below(30) {
            let names: Vec<&str> = (0..1 + dice.below(3)).map(|_| *dice.of(&NAMES)).collect();
            let path = top.join(names.join("/"));
            // What is in the way as a file stays.
            if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.exists() {
                fs::write(path, "").unwrap();
            }
        }
        let text = rules(&mut dice, &MORE);
        fs::write(top.join(".gitignore"), &text).unwrap();
        let all = git(&fixture, &top, &["ls-files", "-z", "--others"]);
        let tracked: Vec<&[u8]> =
            all.split(|byte| *byte == 0).filter(|_| dice.below(4) == 0).collect();
        fs::write(fixture.at("tracked"), tracked.join(&0)).unwrap();
        let add = ["--literal-pathspecs", "add", "-f", "--pathspec-file-nul"];
        git(&fixture, &top, &[&add[..], &["--pathspec-from-file=../tracked"]].concat());
        git(&fixture, &top, &["config", "core.ignoreCase", "true"]);
        agrees_with_git(&fixture, &[], &format!("seed {seed}: {}", text.escape_ascii()));
    });
}

#[test]
fn a_configuration_may_be_a_symlink() {
    let fixture = world();
    let top = fixture.at("top");
    git(&fixture, &top, &["config", "core.excludesFile", "named"]);
    symlink(fixture.at("home/c"), top.join("named")).unwrap();
    fs::rename(top.join(".git/config"), fixture.at("config")).unwrap();
    symlink(fixture.at("config"), top.join(".git/config")).unwrap();
    agrees_with_git(&fixture, &[], "symlinks");
}
