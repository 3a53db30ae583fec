//! `--gitignore` and `--ignored` against git itself, file for file, on difficult checkouts and on random ones.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use crate::dice::Dice;
use crate::fixture::{Fixture, raw};
use crate::rounds::{for_seeds, rounds};
use crate::run::{Weigh, weigh};

type Files = BTreeSet<Vec<u8>>;

pub const NOT_IGNORED: &[&str] = &["--cached", "--others", "--exclude-standard"];
pub const IGNORED: &[&str] = &["--others", "--ignored", "--exclude-standard"];

/// Everything that is not a directory, less what is in a `.git`.
pub fn weighed(run: Weigh, fixture: &Fixture) -> Files {
    let run = run.env("HOME", fixture.at("home")).env("GIT_CONFIG_NOSYSTEM", "1");
    let document = run.arg("-j").run().document();
    let files = document.by_path().into_iter().filter(|(path, node)| {
        node.kind != "directory" && !path.split(|byte| *byte == b'/').any(|name| name == b".git")
    });
    files.filter(|(path, _)| !path.is_empty()).map(|(path, _)| path).collect()
}

/// What git writes, run in `dir`.
pub fn git(fixture: &Fixture, dir: &Path, args: &[&str]) -> Vec<u8> {
    let mut git = Command::new("git");
    git.args(args).current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    git.env("HOME", fixture.at("home")).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", output.stderr.escape_ascii());
    output.stdout
}

/// The files that git lists in the work tree at `dir`, if they exist, and in the work trees `nested` inside it: for
/// those, git has to be run again, because it names only their top.
pub fn listed(fixture: &Fixture, dir: &Path, flags: &[&str], nested: &[&str]) -> Files {
    let mut files = Files::new();
    let prefixes = [""].iter().chain(nested);
    for prefix in prefixes {
        let args = [&["ls-files", "-z", "--full-name"], flags].concat();
        let output = git(fixture, &dir.join(prefix), &args);
        for name in output.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let path = Path::new(prefix).join(raw(name));
            let is_nested = nested.iter().any(|nested| path == Path::new(nested));
            if !is_nested && std::fs::symlink_metadata(dir.join(&path)).is_ok() {
                add_files(&mut files, dir, &path);
            }
        }
    }
    files
}

/// The file at `path` in `dir`, or those below it, less what is in a `.git`: of a work tree that is
/// ignored itself, git gives the name alone.
fn add_files(files: &mut Files, dir: &Path, path: &Path) {
    if !std::fs::symlink_metadata(dir.join(path)).unwrap().is_dir() {
        files.insert(path.as_os_str().as_bytes().to_vec());
        return;
    }
    for entry in std::fs::read_dir(dir.join(path)).unwrap() {
        let name = entry.unwrap().file_name();
        if name != ".git" {
            add_files(files, dir, &path.join(name));
        }
    }
}

/// A work tree at `top/NAME` in `fixture`, with `files` in it.
pub fn checkout(mut fixture: Fixture, top: &str, files: &[(&[u8], &str)]) -> Fixture {
    for (name, text) in files {
        let name = Path::new(top).join(raw(name));
        fixture = fixture.file(&name, 0);
        std::fs::write(fixture.at(&name), text).unwrap();
    }
    let fixture = fixture.dir("home");
    git(&fixture, &fixture.at(top), &["init", "-q"]);
    fixture
}

/// Holds both flags against git.
pub fn compare(fixture: &Fixture, top: &str, nested: &[&str]) {
    let run = |flag| weighed(weigh(flag).arg(top).within(fixture.path()), fixture);
    let show = |files: &Files| -> Vec<String> {
        files.iter().map(|path| path.escape_ascii().to_string()).collect()
    };
    let top = fixture.at(top);
    assert_eq!(show(&run("--gitignore")), show(&listed(fixture, &top, NOT_IGNORED, nested)));
    assert_eq!(show(&run("--only-ignored")), show(&listed(fixture, &top, IGNORED, nested)));
}

/// The output of a compiler is ignored, with exceptions.
#[test]
fn a_project_with_negations_and_anchors() {
    let fixture = checkout(
        Fixture::new(),
        "top",
        &[
            (
                b".gitignore",
                "# built\n/target/\n*.o\n!keep.o\n/doc/*\n!/doc/book/\n/doc/book/*.html\n\
                 build\n!src/build\n*.log\nlogs/**/old\n/only-top\n\\#odd\n\\!odd\ntrail\\ \n",
            ),
            (b"target/debug/x", ""),
            (b"src/target/y", ""),
            (b"a.o", ""),
            (b"keep.o", ""),
            (b"src/deep/er/keep.o", ""),
            (b"src/deep/er/other.o", ""),
            (b"doc/index.html", ""),
            (b"doc/book/page.md", ""),
            (b"doc/book/page.html", ""),
            (b"doc/book/sub/page.html", ""),
            (b"build/x", ""),
            (b"src/build/x", ""),
            (b"lib/build", ""),
            (b"logs/old", ""),
            (b"logs/2025/12/old", ""),
            (b"logs/2025/new", ""),
            (b"only-top", ""),
            (b"src/only-top", ""),
            (b"#odd", ""),
            (b"!odd", ""),
            (b"trail ", ""),
            (b"trail", ""),
        ],
    );
    compare(&fixture, "top", &[]);
}

/// Inner files overrule outer ones, unless they are in an ignored directory.
#[test]
fn nested_files_that_overrule_each_other() {
    let fixture = checkout(
        Fixture::new(),
        "top",
        &[
            (b".gitignore", "*.tmp\n/vendor/*\n!/vendor/ours\nsecret/\na/b/c\n"),
            (b"sub/.gitignore", "!*.tmp\n/local\n*.dat\r\n"),
            (b"sub/deeper/.gitignore", "*.tmp\n!important.tmp\n!local\n"),
            (b"secret/.gitignore", "!*\n"),
            (b"all/.gitignore", "*\n!.gitignore\n!*/\n!*.keep\n"),
            (b"vendor/theirs/.gitignore", "!theirs.c\n"),
            (b"x.tmp", ""),
            (b"sub/x.tmp", ""),
            (b"sub/x.dat", ""),
            (b"sub/local/f", ""),
            (b"sub/deeper/x.tmp", ""),
            (b"sub/deeper/important.tmp", ""),
            (b"sub/deeper/local/g", ""),
            (b"sub/deeper/even/x.tmp", ""),
            (b"sub/deeper/even/important.tmp", ""),
            (b"secret/known", ""),
            (b"all/x", ""),
            (b"all/x.keep", ""),
            (b"all/in/y", ""),
            (b"all/in/y.keep", ""),
            (b"vendor/theirs/theirs.c", ""),
            (b"vendor/ours/ours.c", ""),
            (b"a/b/c/d", ""),
            (b"x/a/b/c", ""),
        ],
    );
    compare(&fixture, "top", &[]);
}

/// Names of any bytes, rules from every place, and work trees in one another.
#[test]
fn hostile_names_and_rules_from_everywhere() {
    let fixture = checkout(
        Fixture::new(),
        "top",
        &[
            (b".gitignore", "with space\n*\u{fc}*\n[[:digit:]]?\n{a,b}\nline*feed\n**/cache/**\n"),
            (b".git/info/exclude", "/private\n*.swp\n!kept.bak\n"),
            (b"with space/f", ""),
            (b"without space", ""),
            (b"g\xc3\xbcte", ""),
            (b"g\xfcte", ""),
            (b"7x", ""),
            (b"77x", ""),
            (b"{a,b}", ""),
            (b"a", ""),
            (b"line\nfeed", ""),
            (b"\xff\xfe/\xfd", ""),
            (b"cache/x", ""),
            (b"d/cache/x/y", ""),
            (b"d/cache-not/x", ""),
            (b"private/f", ""),
            (b"d/private/f", ""),
            (b"x.swp", ""),
            (b"x.bak", ""),
            (b"kept.bak", ""),
            (b"nested/x.o", ""),
            (b"nested/.gitignore", "*.o\n"),
            (b"nested/with space", ""),
            (b"nested/y.bak", ""),
            (b"-rf", ""),
        ],
    );
    let fixture = checkout(fixture, "top/nested", &[(b"in/z.o", "")]);
    let fixture = fixture.file("home/.config/git/ignore", 0);
    std::fs::write(fixture.at("home/.config/git/ignore"), "*.bak\n*.swp~\n!x.swp\n").unwrap();
    std::fs::write(fixture.at("top/\u{fd}.gitignore"), "").unwrap();
    // Git must believe that there is something in it.
    let identity = ["-c", "user.name=n", "-c", "user.email=e"];
    let commit = ["commit", "-q", "--allow-empty", "-m", "m"];
    git(&fixture, &fixture.at("top/nested"), &[&identity[..], &commit].concat());
    compare(&fixture, "top", &["nested"]);
    // The same rules when they are named in a configuration.
    std::fs::write(fixture.at("home/.gitconfig"), "[core]\nexcludesfile = ~/named\n").unwrap();
    std::fs::write(fixture.at("home/named"), "*rf\n").unwrap();
    compare(&fixture, "top", &["nested"]);
}

/// Rules above a root hold in it; where the root itself is ignored, all in it is.
#[test]
fn roots_inside_a_work_tree() {
    let fixture = checkout(
        Fixture::new(),
        "top",
        &[
            (b".gitignore", "*.o\n/sub/deep/x\n!sub/y.o\nbuilt/\n"),
            (b"sub/.gitignore", "*.c\n"),
            (b"sub/x.o", ""),
            (b"sub/y.o", ""),
            (b"sub/deep/x", ""),
            (b"sub/deep/y", ""),
            (b"sub/deep/z.c", ""),
            (b"built/in/f", ""),
        ],
    );
    let run = |flag, root| weighed(weigh(flag).arg(root).within(fixture.path()), &fixture);
    let set = |files: &[&str]| files.iter().map(|file| file.as_bytes().to_vec()).collect::<Files>();
    assert_eq!(run("--gitignore", "top/sub"), set(&[".gitignore", "deep/y", "y.o"]));
    assert_eq!(run("--only-ignored", "top/sub/deep"), set(&["x", "z.c"]));
    assert_eq!(run("--gitignore", "top/built/in"), set(&[]));
    assert_eq!(run("--only-ignored", "top/built/in"), set(&["f"]));
    // What the outer root leaves out is weighed as the root that it is.
    let both = weigh("--gitignore").arg("top").arg("top/built").arg("-n1000");
    let both = both.arg("--inodes").arg("-b").within(fixture.path()).run().text();
    assert!(both.contains("top/built"), "{both}");
    // Inside the repository nothing is ignored.
    let repository = run("--only-ignored", "top/.git");
    assert_eq!(repository, set(&[]));
    let git_dir = weigh("-j --gitignore --inodes top").within(fixture.path()).run().document();
    let alone = weigh("-j --inodes top/.git").within(fixture.path()).run().document();
    assert_eq!(git_dir.node(".git").size, alone.root().size);
}

/// Without git there is no `.gitignore`; `.ignore` holds anyway, and says more than git.
#[test]
fn ignore_files_hold_everywhere_and_gitignore_only_in_a_work_tree() {
    let files: [(&[u8], &str); 6] = [
        (b".gitignore", "*.o\n"),
        (b".ignore", "*.c\n!y.o\n"),
        (b"x.o", ""),
        (b"y.o", ""),
        (b"x.c", ""),
        (b"sub/x.c", ""),
    ];
    let fixture = checkout(Fixture::new(), "top", &files);
    let run = |flag| weighed(weigh(flag).arg("top").within(fixture.path()), &fixture).len();
    assert_eq!((run("--gitignore"), run("--only-ignored")), (3, 2));
    std::fs::remove_dir_all(fixture.at("top/.git")).unwrap();
    assert_eq!((run("--gitignore"), run("--only-ignored")), (4, 0));
    // An empty directory by that name is no repository.
    std::fs::create_dir(fixture.at("top/.git")).unwrap();
    assert_eq!((run("--gitignore"), run("--only-ignored")), (4, 0));
}

/// A repository has a HEAD that leads somewhere, objects and refs.
#[test]
fn what_makes_a_repository() {
    let sha_1 = "0123456789abcdefABCDEF0123456789abcdef01";
    let sha_256 = &format!("{sha_1}0123456789abcdefABCDEF01");
    let whole = ["objects", "refs"];
    let cases: [(&str, &[&str], bool); 15] = [
        ("ref: refs/heads/main\n", &whole, true),
        ("ref:\t\n refs/", &whole, true),
        (sha_1, &whole, true),
        (sha_256, &whole, true),
        (&format!("{sha_1} and more"), &whole, true),
        ("ref: refs/heads/main\n", &[], false),
        ("ref: refs/heads/main\n", &["objects"], false),
        ("ref: refs/heads/main\n", &["refs"], false),
        ("ref: HEAD\n", &whole, false),
        ("ref : refs/heads/main\n", &whole, false),
        (&sha_1[1..], &whole, false),
        (&format!("g{sha_1}"), &whole, false),
        ("", &whole, false),
        ("\n", &whole, false),
        ("refs/heads/main", &whole, false),
    ];
    for (head, dirs, is_repository) in cases {
        let files: [(&[u8], &str); 2] = [(b".gitignore", "inner/*.o\n"), (b"inner/x.o", "")];
        let mut fixture = checkout(Fixture::new(), "top", &files).file("top/inner/.git/HEAD", 0);
        for dir in dirs {
            fixture = fixture.dir(format!("top/inner/.git/{dir}"));
        }
        std::fs::write(fixture.at("top/inner/.git/HEAD"), head).unwrap();
        // The outer repository's rules hold in what is none.
        let seen = weighed(weigh("--only-ignored top").within(fixture.path()), &fixture);
        assert_eq!(seen.is_empty(), is_repository, "{head:?} {dirs:?}");
        // Git says of itself whether it takes it for one.
        let top = git(&fixture, &fixture.at("top/inner"), &["rev-parse", "--show-toplevel"]);
        let is_so = top.trim_ascii_end().ends_with(b"/inner");
        assert_eq!(is_so, is_repository, "{head:?} {dirs:?}: {}", top.escape_ascii());
    }
}

/// A second work tree has its repository elsewhere, and the rules of the first one's exclude file.
#[test]
fn a_second_work_tree_knows_the_rules_of_the_first() {
    let fixture = checkout(Fixture::new(), "first", &[(b".git/info/exclude", "*.o\n")]);
    let identity = ["-c", "user.name=n", "-c", "user.email=e"];
    let commit = ["commit", "-q", "--allow-empty", "-m", "m"];
    let first = fixture.at("first");
    git(&fixture, &first, &[&identity[..], &commit].concat());
    git(&fixture, &first, &["worktree", "add", "-q", "../top"]);
    let fixture = fixture.file("top/x.o", 1).file("top/x.c", 1);
    compare(&fixture, "top", &[]);
}

/// Git follows symlinks to all that is its own, and to nothing in the work tree.
#[test]
fn what_git_follows() {
    let files: [(&[u8], &str); 4] =
        [(b"a.o", ""), (b"b.c", ""), (b"sub/a.o", ""), (b"sub/b.c", "")];
    let fixture = checkout(Fixture::new(), "top", &files);
    let top = fixture.at("top");
    let move_out = |path: &Path, to: &str| {
        std::fs::rename(path, fixture.at(to)).unwrap();
        std::os::unix::fs::symlink(fixture.at(to), path).unwrap();
    };
    git(&fixture, &top, &["add", "-f", "sub/a.o"]);
    std::fs::write(top.join(".git/info/exclude"), "*.o\n").unwrap();
    for name in ["info/exclude", "info", "index", "refs"] {
        move_out(&top.join(".git").join(name), &name.replace('/', " "));
        compare(&fixture, "top", &[]);
    }
    let repository = top.join(".git");
    std::fs::rename(&repository, fixture.at("with a blank ")).unwrap();
    std::fs::write(&repository, "gitdir: ../with a blank \r\n\n").unwrap();
    compare(&fixture, "top", &[]);
    // What such a file says begins where the symlink is.
    move_out(&repository, "home/gitdir");
    compare(&fixture, "top", &[]);
    std::fs::remove_file(&repository).unwrap();
    std::os::unix::fs::symlink("../with a blank ", &repository).unwrap();
    compare(&fixture, "top", &[]);
}

/// No rule applies to `.git` itself. The root counts for `--ignored` only if it is ignored.
#[test]
fn no_rule_speaks_of_a_repository() {
    let rules = ".*\nbuilt/\n";
    let fixture = checkout(Fixture::new(), "top", &[(b".gitignore", rules), (b"built/f", "")]);
    let inodes = |flags: &str| {
        let run = weigh(&format!("-j --inodes {flags}")).within(fixture.path());
        run.run().document().root().size
    };
    assert_eq!(inodes("--gitignore top"), 1 + inodes("top/.git"));
    assert_eq!(inodes("--only-ignored top"), 3);
    assert_eq!(inodes("--only-ignored top/built"), 2);
}

#[test]
fn rules_that_cannot_be_read_are_a_problem() {
    let fixture = checkout(Fixture::new(), "top", &[(b"sub/.gitignore", "*.o\n"), (b"sub/f", "")]);
    let fixture = fixture.mode("top/sub/.gitignore", 0o000);
    let run = weigh("--gitignore").by_nobody(&fixture).arg("top").within(fixture.path()).run();
    assert_eq!(run.code(), 1);
    assert!(run.complaint().contains("cannot read top/sub/.gitignore: "), "{}", run.complaint());
    // What is no regular file is not opened, and holds no rules; nor does what a symlink leads to.
    let fixture = checkout(Fixture::new(), "top", &[(b"rules", "*\n"), (b"f", "")]);
    let fixture = fixture.fifo("top/sub/.gitignore").symlink("rules", "top/.gitignore");
    let seen = weighed(weigh("--gitignore top").within(fixture.path()), &fixture);
    assert_eq!(seen.len(), 4);
}

const NAMES: [&[u8]; 14] = [
    b"a", b"b", b"ab", b"abc", b"a.o", b"b.o", b"c", b"{a,b}", b"*", b"[", b"a b", b"\\", b"\xff",
    b"-",
];

const ATOMS: [&[u8]; 26] = [
    b"a",
    b"b",
    b"ab",
    b"c",
    b".o",
    b"*",
    b"*.o",
    b"**",
    b"**/",
    b"/**",
    b"/**/",
    b"/",
    b"?",
    b"[ab]",
    b"[!a]",
    b"[^b-z]",
    b"[a-c]",
    b"[[:alpha:]]",
    b"[]-a]",
    b"[",
    b"\\a",
    b"\\*",
    b"\\",
    b"{a,b}",
    b" ",
    b"\xff",
];

/// Rules of [`ATOMS`] and `more`.
pub fn rules(dice: &mut Dice, more: &[&[u8]]) -> Vec<u8> {
    const ENDS: [&[u8]; 8] = [b"\n", b"\n", b"\n", b"/\n", b" \n", b"\r\n", b"\0a\n", b"\r\0\n"];
    let atoms = [&ATOMS, more].concat();
    let mut text = Vec::new();
    for _ in 0..1 + dice.below(5) {
        if dice.below(4) == 0 {
            text.push(b'!');
        }
        for _ in 0..1 + dice.below(4) {
            text.extend_from_slice(dice.of::<&[u8]>(&atoms));
        }
        text.extend_from_slice(dice.of::<&[u8]>(&ENDS));
    }
    text
}

#[test]
fn random_rules() {
    for_seeds(rounds(60, 5_000), |seed| {
        let mut dice = Dice::new(seed + 9_000_000);
        let mut fixture = Fixture::in_memory().dir("home").dir("top");
        git(&fixture, &fixture.at("top"), &["init", "-q", "--template="]);
        let mut dirs = vec![std::path::PathBuf::from("top")];
        for _ in 0..10 + dice.below(30) {
            let path = dice.of(&dirs).join(raw(dice.of::<&[u8]>(&NAMES)));
            if std::fs::symlink_metadata(fixture.at(&path)).is_ok() {
                continue;
            }
            fixture = match dice.below(3) {
                0 => fixture.dir(&path),
                _ => fixture.file(&path, 0),
            };
            if std::fs::metadata(fixture.at(&path)).unwrap().is_dir() {
                dirs.push(path);
            }
        }
        let mut written = Vec::new();
        for dir in &dirs {
            if dir == Path::new("top") || dice.below(4) == 0 {
                let rules = rules(&mut dice, &[]);
                written.push(format!("{}: {}", dir.display(), rules.escape_ascii()));
                std::fs::write(fixture.at(dir).join(".gitignore"), rules).unwrap();
            }
        }
        // Whatever the rules say, some of it is tracked.
        let top = fixture.at("top");
        let all = listed(&fixture, &top, &["--others"], &[]);
        let version = *dice.of(&["2", "4"]);
        let tracked: Vec<&[u8]> =
            all.iter().map(Vec::as_slice).filter(|_| dice.below(3) == 0).collect();
        std::fs::write(fixture.at("tracked"), tracked.join(&0)).unwrap();
        let add = ["--literal-pathspecs", "add", "-f", "--pathspec-file-nul"];
        git(&fixture, &top, &["update-index", "--index-version", version]);
        git(&fixture, &top, &[&add[..], &["--pathspec-from-file=../tracked"]].concat());
        let run = |flag| weighed(weigh(flag).arg("top").within(fixture.path()), &fixture);
        for (flag, flags) in [("--gitignore", NOT_IGNORED), ("--only-ignored", IGNORED)] {
            let (seen, expected) = (run(flag), listed(&fixture, &top, flags, &[]));
            let odd: Vec<String> = seen
                .symmetric_difference(&expected)
                .map(|path| path.escape_ascii().to_string())
                .collect();
            assert_eq!(odd, [""; 0], "seed {seed}, {flag}, {written:#?}");
        }
    });
}
