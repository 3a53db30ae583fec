//! Other machines: what arrives from one is what a walk there finds, or it is not said to be complete. Most tests
//! reach "another machine" by a program that runs the command here, as a login shell there would.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
#[cfg(feature = "tui")]
use crate::pty::Terminal;
use crate::rounds::{for_seeds, rounds};
use crate::run::{PATIENCE, Shown, Weigh, weigh};

const SEEDS: (usize, usize) = (24, 200);

/// Where programs are, without weigh.
const PATH: &str = "/usr/bin:/bin";

/// Runs the command, its last argument, as sh as a login shell does.
const SH: &str = "#!/bin/sh\nfor last do :; done\nexec sh -c \"$last\"\n";

/// What is on the other side.
#[derive(Clone, Copy, Debug, PartialEq)]
enum There {
    Weigh,
    Find,
    /// A find without -printf.
    Plain,
}

/// A machine beside this one.
struct Machine {
    fixture: Fixture,
}

impl Machine {
    /// Its tree is in `fixture`.
    fn new(fixture: Fixture) -> Self {
        let machine = Self { fixture: fixture.dir("bin").dir("plain") };
        machine.script("rsh", SH);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_weigh"), machine.fixture.at("bin/weigh"))
            .unwrap();
        machine
    }

    /// A program on it.
    fn script(&self, name: &str, script: &str) -> PathBuf {
        let path = self.fixture.at(name);
        let _ = fs::remove_file(&path);
        // Not fs::write: another thread may fork meanwhile, and then it cannot be started.
        let mut cat = Command::new("sh");
        cat.args(["-c", "cat > \"$0\" && chmod +x \"$0\""]).arg(&path).stdin(Stdio::piped());
        let mut cat = cat.spawn().unwrap();
        std::io::Write::write_all(&mut cat.stdin.take().unwrap(), script.as_bytes()).unwrap();
        assert!(cat.wait().unwrap().success());
        path
    }

    /// Where programs are looked for on it.
    fn search_path(&self, there: There) -> String {
        match there {
            There::Weigh => format!("{}:{PATH}", self.fixture.text_path("bin")),
            There::Find => PATH.to_owned(),
            There::Plain => {
                let find =
                    "#!/bin/sh\ncase $* in *-printf*) exit 1; esac\nexec /usr/bin/find \"$@\"\n";
                self.script("plain/find", find);
                format!("{}:{PATH}", self.fixture.text_path("plain"))
            }
        }
    }

    /// weigh here, which reaches it.
    fn weigh(&self, flags: &str, there: There) -> Weigh {
        let path = self.search_path(there);
        weigh(flags).arg("--rsh").arg(self.fixture.at("rsh")).env("PATH", path)
    }

    /// What is called `name` on it.
    fn named(&self, host: &str, name: &str) -> std::ffi::OsString {
        let mut path = std::ffi::OsString::from(format!("{host}:"));
        path.push(self.fixture.at(name));
        path
    }
}

/// What a walk here prints, as it is printed of `host`: the root has its name before its own, and so have paths in
/// errors. Mounts are not known by find, and the members for them are removed.
fn as_of(shown: &[u8], host: &str, root: &Path) -> String {
    let text = String::from_utf8(shown.to_vec()).unwrap();
    let root = root.to_str().unwrap();
    ["name", "path"].iter().fold(text, |text, member| {
        let [here, there] = ["", host].map(|host| format!("\"{member}\":\"{host}{root}"));
        text.replace(&here, &there)
    })
}

/// The members that find cannot tell.
fn without_mounts(text: &str) -> String {
    let mut parts = text.split("\"mount\":");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| all + part.split_once(',').unwrap().1)
}

#[test]
fn what_arrives_is_what_a_walk_there_finds() {
    for_seeds(rounds(SEEDS.0, SEEDS.1), |seed| {
        let mut dice = Dice::new(seed + 39_000_000);
        let machine = Machine::new(dice.tree(Fixture::new(), Names::Hostile));
        let root = machine.fixture.at("tree");
        for flags in ["-j", "-j -s", "-j -n 5", "-j -F -n 7", "-j --inodes", "-j -i", "-j -e a"] {
            let here = weigh(flags).arg(&root).run();
            let expected = as_of(&here.clean(), "web:", &root);
            let weighed = machine.weigh(flags, There::Weigh).arg(machine.named("web", "tree"));
            assert!(weighed.run().text() == expected, "seed {seed}: {flags}");
            for there in [There::Find, There::Plain] {
                let found = machine.weigh(flags, there).arg(machine.named("web", "tree")).run();
                let found = without_mounts(&found.text());
                assert_eq!(found, without_mounts(&expected), "seed {seed}: {flags} {there:?}");
            }
        }
    });
}

#[test]
fn what_cannot_be_read_there_is_named_with_its_host() {
    for there in [There::Weigh, There::Find, There::Plain] {
        let mut fixture =
            Fixture::new().file("top/a", 5000).file("top/no\nway/b", 1).unreadable("top/no\nway");
        for name in ["top/5", "top/2", "top/8", "top/1", "top/9"] {
            fixture = fixture.dir(name).unreadable(name);
        }
        let machine = Machine::new(fixture);
        let root = machine.fixture.at("top");
        let here = weigh("-j").arg(&root).by_nobody(&machine.fixture).run();
        let flags = "-j --print-errors";
        let shown = machine.weigh(flags, there).arg(machine.named("web", "top"));
        let shown = shown.by_nobody(&machine.fixture).run();
        assert_eq!((here.code(), shown.code()), (1, 1), "{there:?}: {}", shown.complaint());
        let [here, there_is] = [as_of(&here.stdout, "web:", &root), shown.stdout_text()];
        assert_eq!(without_mounts(&there_is), without_mounts(&here), "{there:?}");
        let path = escaped(&machine.named("web", "top/no\nway"));
        let expected = format!("weigh: error: cannot open {path}: Permission denied\n");
        assert!(shown.complaint().contains(&expected), "{there:?}: {}", shown.complaint());
    }
}

/// A directory whose names can be listed, and nothing else of what is in it.
#[test]
fn what_has_only_a_name_there_is_missing() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000).file("top/x/b", 5000));
    let machine = Machine { fixture: machine.fixture.mode("top/x", 0o444) };
    let root = machine.fixture.at("top");
    let here = weigh("-j").arg(&root).by_nobody(&machine.fixture).run();
    assert_eq!(here.code(), 1);
    for there in [There::Weigh, There::Find, There::Plain] {
        let shown = machine.weigh("-j --print-errors", there).arg(machine.named("web", "top"));
        let shown = shown.by_nobody(&machine.fixture).run();
        assert_eq!(shown.code(), 1, "{there:?}");
        let [here, shown_size] = [&here, &shown].map(|shown| {
            let document: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
            (document["size"].clone(), document["complete"].clone())
        });
        assert_eq!(shown_size, here, "{there:?}");
        let path = escaped(&machine.named("web", "top/x/b"));
        let complaint = shown.complaint();
        assert!(complaint.contains(&format!("{path}: Permission denied\n")), "{complaint}");
        assert!(!complaint.contains("cannot load"), "{complaint}");
    }
}

/// A symlink to nothing is a root of its own.
#[test]
fn a_root_that_leads_nowhere_is_weighed() {
    let machine = Machine::new(Fixture::new().symlink("nothing", "link"));
    let root = machine.fixture.at("link");
    let here = as_of(&weigh("-j").arg(&root).run().clean(), "web:", &root);
    for there in [There::Weigh, There::Find, There::Plain] {
        let shown = machine.weigh("-j", there).arg(machine.named("web", "link")).run();
        assert_eq!(without_mounts(&shown.text()), without_mounts(&here), "{there:?}");
    }
    machine.script("rsh", "#!/bin/sh\necho weigh-answers 1 find; printf '\\0\\0found\\n0\\n'\n");
    let shown = machine.weigh("-j", There::Find).arg(machine.named("web", "link")).run();
    assert_eq!(shown.code(), 1);
    assert!(!shown.stdout_text().contains("\"complete\":true"), "{}", shown.stdout_text());
    assert!(shown.complaint().contains("cannot load web:/"), "{}", shown.complaint());
}

/// As it does here: what goes during a walk is not missed. But only if find says so, and nothing else.
#[test]
fn what_goes_meanwhile_is_not_missing() {
    const GONE: &str = "echo \"find: '/gone/a': No such file or directory\" >&2\n";
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    machine.script("bin/weigh", "#!/bin/sh\n");
    for (says, code) in [
        (format!("{GONE}exit 1"), 0),
        (format!("echo oh >&2\n{GONE}{GONE}exit 1"), 0),
        (format!("{GONE}exit 2"), 1),
        (format!("{GONE}kill -9 $$"), 1),
        (format!("{GONE}echo oh >&2; exit 1"), 1),
        (format!("{GONE}echo find: oh >&2; exit 1"), 1),
        (format!("{GONE}echo 'find: /no: Permission denied' >&2; exit 1"), 1),
        (format!("{GONE}/usr/bin/find {} >&2; exit 1", machine.fixture.text_path("none")), 0),
        ("exit 1".to_owned(), 1),
    ] {
        for probe in ["*maxdepth*) exit", "*-printf*) exit 1"] {
            let find = format!("#!/bin/sh\ncase $* in {probe}; esac\n/usr/bin/find \"$@\"\n");
            machine.script("bin/find", &(find + &says));
            let shown = machine.weigh("-j", There::Weigh).arg(machine.named("web", "top")).run();
            let complete = format!("\"complete\":{}", code == 0);
            assert_eq!(shown.code(), code, "{says} {probe}: {}", shown.complaint());
            assert!(shown.stdout_text().contains(&complete), "{says} {probe}");
        }
    }
}

/// Between find and stat.
#[test]
fn what_goes_before_stat_sees_it_is_not_missing() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000).file("top/b", 5000));
    machine.script("bin/weigh", "#!/bin/sh\n");
    machine.script(
        "bin/find",
        "#!/bin/sh\ncase $* in *-printf*) exit 1; esac\nexec /usr/bin/find \"$@\"\n",
    );
    let victim = machine.fixture.text_path("top/b");
    let stat = format!(
        "#!/bin/sh\ncase $* in *{victim}*) rm -f {victim}; esac\nexec /usr/bin/stat \"$@\"\n"
    );
    machine.script("bin/stat", &stat);
    let shown = machine.weigh("-j", There::Weigh).arg(machine.named("web", "top")).run();
    let shown = without_mounts(&shown.text());
    assert!(!machine.fixture.at("top/b").exists());
    let root = machine.fixture.at("top");
    let here = as_of(&weigh("-j").arg(&root).run().clean(), "web:", &root);
    assert_eq!(shown, without_mounts(&here));
}

fn escaped(path: &std::ffi::OsStr) -> String {
    path.to_str().unwrap().replace('\n', "\\n")
}

impl Shown {
    fn stdout_text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }
}

#[test]
fn several_hosts_and_paths_here_are_roots_of_one_result() {
    let fixture = Fixture::new().file("a/x", 9000).hard_link("a/x", "b/y");
    let machine = Machine::new(fixture.file("c/z", 5000).file("d/w", 5000));
    for there in [There::Weigh, There::Find, There::Plain] {
        let shown = machine.weigh("-j", there).args([
            machine.named("one", "a"),
            machine.named("ann@two", "c"),
            machine.named("one", "b"),
            machine.fixture.at("c").into(),
            machine.fixture.at("d").into(),
        ]);
        let document = shown.run().document();
        let name = |child: &usize| String::from_utf8(document.nodes[*child].name.clone()).unwrap();
        let mut names: Vec<_> = document.root().children.iter().map(name).collect();
        names.sort();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| machine.fixture.text_path(name));
        let expected = [c.clone(), d.clone(), format!("ann@two:{c}"), "one:".to_owned()];
        assert_eq!(names, expected, "{there:?}");
        // What both share on one host counts once there.
        let both = weigh("-j").args([&a, &b]).run().document().root().size;
        let alone = weigh("-j").arg(&c).run().document().root().size;
        let other = weigh("-j").arg(&d).run().document().root().size;
        assert_eq!(document.root().size, both + 2 * alone + other, "{there:?}");
    }
}

/// The filters that `find` there and this machine do together. RULES and REGEXES are files.
pub const WITH_FIND: [&str; 15] = [
    "-i",
    "-X sub",
    r"-e \.o$",
    "-v it's",
    "--exclude *.o --exclude !b.o",
    "--include *.c",
    "--exclude-from RULES",
    "-I REGEXES",
    "--type c",
    "--type-not c",
    "-M +100",
    "--older 100d",
    "--newer 100d",
    "-x",
    "--collapse sub",
];

/// The filters that need weigh there.
pub const ONLY_WEIGH: [&str; 9] = [
    "--gitignore",
    "--only-ignored",
    "--exclude-caches",
    "-A +1",
    "-y +1",
    "-l",
    "-L",
    "--owner root",
    "--skip network",
];

#[test]
fn filters_leave_out_what_they_leave_out_here() {
    let fixture = Fixture::new()
        .file("top/a.o", 5000)
        .file("top/sub/b.o", 5000)
        .file("top/sub/.hidden", 5000)
        .file("top/sub/it's.c", 5000)
        .modified("top/a.o", 1_000_000_000)
        .file("rules", 0)
        .file("regexes", 0);
    fs::write(fixture.at("rules"), "# none\n*.o\n!a.o\n").unwrap();
    fs::write(fixture.at("regexes"), "hid+en\n").unwrap();
    let machine = Machine::new(fixture);
    let root = machine.fixture.at("top");
    let (rules, regexes) =
        (machine.fixture.text_path("rules"), machine.fixture.text_path("regexes"));
    for flags in WITH_FIND {
        let flags = flags.replace("RULES", &rules).replace("REGEXES", &regexes);
        let flags = format!("-j {flags}");
        let here = weigh(&flags).arg(&root).run().clean();
        for there in [There::Weigh, There::Find, There::Plain] {
            let shown = machine.weigh(&flags, there).arg(machine.named("web", "top")).run();
            assert_eq!(shown.text(), as_of(&here, "web:", &root), "{flags} {there:?}");
        }
    }
}

/// Without weigh there, nobody sees that a path is in another, but by the numbers of inodes.
#[test]
fn a_path_there_counts_once() {
    let machine = Machine::new(Fixture::new().file("top/a/x", 5000).file("top/b", 5000));
    let [top, inside] = ["top", "top/a"].map(|name| machine.named("web", name));
    for there in [There::Weigh, There::Find, There::Plain] {
        let run = |paths: [&std::ffi::OsString; 2]| machine.weigh("-f -j", there).args(paths).run();
        assert_eq!(run([&top, &top]).json()["size"], 2, "{there:?}");
        let nested = run([&top, &inside]);
        if there == There::Weigh {
            assert_eq!(nested.json()["size"], 2);
            continue;
        }
        let said = "one of the PATHs is in another, or the same";
        assert!(nested.complaint().contains(said), "{there:?}: {}", nested.complaint());
        assert_eq!((nested.code(), nested.stdout.len()), (1, 0), "{there:?}");
    }
}

/// The host was named. Weigh there would call another one.
#[test]
fn a_path_with_a_colon_names_no_host_there() {
    let machine = Machine::new(Fixture::new());
    for there in [There::Weigh, There::Find, There::Plain] {
        for path in ["web:gone:top", "web:ssh://gone/top"] {
            let shown = machine.weigh("-j", there).arg(path).run();
            assert_eq!(shown.code(), 1, "{there:?}: {path}");
            let said = path.replace("web:", "weigh: error: web:./") + ": No such file";
            assert!(shown.complaint().starts_with(&said), "{there:?}: {}", shown.complaint());
        }
    }
}

#[test]
fn what_find_cannot_do_is_refused() {
    let machine = Machine::new(Fixture::new().file("top/a", 5));
    for flag in ONLY_WEIGH {
        let shown = machine.weigh(flag, There::Find).arg(machine.named("web", "top")).run();
        assert_eq!((shown.code(), shown.stdout.len()), (1, 0), "{flag}");
        assert!(shown.complaint().contains("needs weigh"), "{flag}: {}", shown.complaint());
        // Some of them match nothing there.
        let flag = format!("-q {flag}");
        let shown = machine.weigh(&flag, There::Weigh).arg(machine.named("web", "top")).run();
        assert_eq!((shown.code(), shown.complaint().as_str()), (0, ""), "{flag}");
    }
    // A number is the same there.
    let root = machine.fixture.at("top");
    for flags in ["-j --owner 0", "-j --owner 54321"] {
        let size = weigh(flags).arg(&root).run().json()["size"].clone();
        for there in [There::Weigh, There::Find, There::Plain] {
            let shown = machine.weigh(flags, there).arg(machine.named("web", "top")).run();
            assert_eq!(shown.json()["size"], size, "{flags} {there:?}");
        }
    }
    for flag in ["ui --df", "--frees", "clean", "--shard 1/2", "--by image", "-m a"] {
        let shown = machine.weigh(flag, There::Weigh).arg(machine.named("web", "top")).run();
        assert_eq!(shown.code(), 2, "{flag}: {}", shown.complaint());
        assert!(!shown.complaint().contains("--from"), "{flag}: {}", shown.complaint());
    }
}

/// Nothing is installed there but a shell, df and find; or also weigh.
#[test]
#[ignore = "needs root"]
fn df_explains_the_file_system_of_another_machine() {
    for there in [There::Weigh, There::Find, There::Plain] {
        let machine = Machine::new(Fixture::new().dir("m'\" x").dir("less").dir("none"));
        // It has no `stat -f`.
        let stat = "#!/bin/sh\ncase $* in *-f*) exit 1; esac\nexec /usr/bin/stat \"$@\"\n";
        machine.script("less/stat", stat);
        machine.script("none/df", "#!/bin/sh\necho df: not known >&2; exit 127\n");
        let path = machine.search_path(there);
        let script = format!(
            r#"set -e; cd "m'\" x"; mount -t tmpfs -o size=20M,mode=700 none .; cd .; cd ..; m="$PWD/m'\" x"
            mkdir "$m/a" "$m/sub"; head -c 3000000 /dev/zero > "$m/a/f"
            exec 3>"$m/gone"; head -c 1000000 /dev/zero >&3; rm "$m/gone"
            mount -t tmpfs none "$m/sub"; head -c 5000000 /dev/zero > "$m/sub/g"
            df -B1 --output=size,used,avail "$m" | tail -n 1; du -sxB1 "$m"
            far() {{ PATH="$1{path}" "$0" df --rsh "$PWD/rsh" "$2" -o b -c -w 300 "web:$3" "web:$4"; }}
            far "" -c "$m/a" "$m/" > shown 2> said; far "" -j "$m" "$m" > json 2>&1
            far "$PWD/less:" -c "$m" "$m" > less-shown 2> less-said
            far "" -c "$m" "$m/nowhere" > nowhere 2> nowhere-said && exit 1
            far "$PWD/none:" -c "$m" "$m" > none-shown 2> none-said && exit 1; true"#
        );
        let output = crate::run::in_namespace(&machine.fixture, &script);
        let text = String::from_utf8(output.stdout).unwrap();
        let numbers: Vec<i64> = text.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let [size, used, available, seen] = numbers[..] else { panic!("{text}") };
        let name = format!("web:{}", machine.fixture.text_path("m'\" x"));
        let shown = machine.fixture.text("shown");
        let start =
            format!("{name}  {available}B available of {size}B   inodes <1% used\nscanned in ");
        assert!(shown.starts_with(&start), "{there:?} {start} {shown}");
        let (parts, sum) = crate::space::parts(&shown);
        assert_eq!((sum, parts), (used, vec![seen, used - seen]), "{there:?} {shown}");
        assert!(
            shown.contains("not explained (weigh does not see metadata, deleted files"),
            "{shown}"
        );
        let note = format!("weigh: note: {name}/a is on {name}, and weigh scans all of that\n");
        assert_eq!(machine.fixture.text("said"), note, "{there:?}");
        let json = machine.fixture.json("json");
        let one = &json["file_systems"][0];
        assert_eq!(
            (&one["path"], &one["size"], &json["size"]),
            (&(*name).into(), &size.into(), &seen.into())
        );
        let less = machine.fixture.text("less-shown");
        assert!(
            less.starts_with(&format!("{name}  {available}B available of {size}B\nscanned")),
            "{less}"
        );
        let said = "weigh: note: there is no stat -f on web: inodes are not known, and sizes are exact to 1 KiB\n";
        assert_eq!(machine.fixture.text("less-said"), said);
        let said = format!("weigh: error: {name}/nowhere: No such file or directory\n");
        assert!(machine.fixture.text("nowhere-said").starts_with(&said), "{there:?}");
        assert!(machine.fixture.text("nowhere").contains("in files"));
        assert_eq!(machine.fixture.text("none-shown"), "");
        assert!(machine.fixture.text("none-said").contains(": not known\n"));
    }
}

#[test]
fn snapshots_of_other_machines_can_be_saved_and_compared() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    for there in [There::Weigh, There::Find, There::Plain] {
        let saved = machine.fixture.at(format!("{there:?}.weigh"));
        machine
            .weigh("", there)
            .arg("--save")
            .arg(&saved)
            .arg(machine.named("web", "top"))
            .run()
            .text();
        let loaded = weigh("-j --from").arg(&saved).run().clean();
        let direct = machine.weigh("-j", there).arg(machine.named("web", "top")).run().clean();
        assert_eq!(loaded, direct, "{there:?}");
        let since = machine
            .weigh("diff -j", there)
            .arg("--since")
            .arg(&saved)
            .arg(machine.named("web", "top"));
        assert_eq!(since.run().json()["change"], 0, "{there:?}");
    }
}

/// A version whose snapshots may be written in another way is not asked for one.
#[test]
fn another_version_there_is_left_alone() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    let before = machine.weigh("-j", There::Find).arg(machine.named("web", "top")).run().clean();
    machine.script("bin/weigh", "#!/bin/sh\necho weigh 0.1.99\n[ \"$1\" = --version ]\n");
    let shown = machine.weigh("-j", There::Weigh).arg(machine.named("web", "top")).run().clean();
    assert_eq!(shown, before);
    // And where there is nothing, that is said.
    machine
        .script("rsh", "#!/bin/sh\nfor last do :; done\nPATH=/nowhere exec /bin/sh -c \"$last\"\n");
    let shown = machine.weigh("-j", There::Find).arg(machine.named("web", "top")).run();
    assert_eq!((shown.code(), shown.stdout.len()), (1, 0));
    assert!(
        shown.complaint().starts_with("weigh: error: cannot load web:/"),
        "{}",
        shown.complaint()
    );
}

/// A shell that prints something first.
#[test]
fn a_banner_is_skipped_if_it_is_short() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    for there in [There::Weigh, There::Find, There::Plain] {
        machine.script("rsh", SH);
        let whole = machine.weigh("-j", there).arg(machine.named("web", "top")).run().clean();
        let banner = "echo Welcome; printf 'no newline \\033[31m'; echo oh >&2";
        machine.script("rsh", &SH.replace("exec", &format!("{banner}\nexec")));
        let shown = machine.weigh("-j", there).arg(machine.named("web", "top")).run();
        assert_eq!(shown.clean(), whole, "{there:?}");
        machine.script("rsh", &SH.replace("exec", "yes\nexec"));
        let shown = machine.weigh("-j", there).arg(machine.named("web", "top")).run();
        assert_eq!((shown.code(), shown.stdout.len()), (1, 0), "{there:?}");
    }
}

/// OpenSSH says on stdout that only sftp is allowed, as nologin does that nothing is.
#[test]
fn why_there_is_no_shell_is_said() {
    let machine = Machine::new(Fixture::new());
    let refusal = "This service allows sftp connections only.";
    machine.script("rsh", &format!("#!/bin/sh\necho Welcome; echo '{refusal}'; echo; exit 1\n"));
    let shown = machine.weigh("-j one:/top", There::Weigh).run();
    let said = format!("its shell prints no answer, but: {refusal} (exit status: 1)");
    assert_eq!(shown.complaint(), format!("weigh: error: cannot load one:/top: {said}\n"));
    assert_eq!(shown.code(), 1);
}

/// The connection is cut, or the program there is killed.
#[test]
fn what_is_cut_is_never_complete() {
    let mut dice = Dice::new(39);
    let machine = Machine::new(dice.tree(Fixture::new(), Names::Hostile));
    for there in [There::Weigh, There::Find, There::Plain] {
        machine
            .script("rsh", &SH.replace("exec sh -c \"$last\"", "sh -c \"$last\" | tee \"$0.all\""));
        machine.weigh("-j", there).arg(machine.named("web", "tree")).run().clean();
        let length = fs::metadata(machine.fixture.at("rsh.all")).unwrap().len() as usize;
        for round in 0..rounds(40, 100) {
            let (cut, status) = (dice.below(length), dice.of(&[0, 1, 255]).to_string());
            let cut_off = format!("head -c {cut} \"$0.all\"; exit {status}");
            machine.script("rsh", &SH.replace("exec sh -c \"$last\"", &cut_off));
            let shown = machine.weigh("-j", there).arg(machine.named("web", "tree")).run();
            assert_eq!(shown.code(), 1, "{there:?}, round {round}: {cut} of {length}");
            assert!(shown.complaint().contains("web:"), "{}", shown.complaint());
            if !shown.stdout.is_empty() {
                assert!(shown.stdout_text().contains("\"complete\":false"), "{there:?}, {cut}");
            }
        }
    }
    let program = if Path::new("/usr/bin/find").exists() { "/usr/bin/find" } else { "/bin/find" };
    machine.script("rsh", SH);
    let killed =
        format!("#!/bin/sh\ncase $* in *maxdepth*) exit; esac\n{program} \"$@\"; kill -9 $$\n");
    machine.script("bin/find", &killed);
    machine.script("bin/weigh", "#!/bin/sh\n");
    let shown = machine.weigh("-j", There::Weigh).arg(machine.named("web", "tree")).run();
    assert_eq!(shown.code(), 1, "{}", shown.complaint());
}

#[test]
fn lies_are_errors() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    let find = "find 1 2 1 8 5 1.0 1.0 1.0 0 0 644";
    for lie in [
        "echo hello",
        "echo 'weigh-answers 1 weigh'; echo hello",
        "echo 'weigh-answers 1 weigh'; cat /dev/zero",
        "echo 'weigh-answers 1 other'",
        "echo 'weigh-answers 1 find'; echo hello",
        "echo 'weigh-answers 1 find'; cat /dev/zero",
        "echo 'weigh-answers 1 find'; yes",
        &format!("echo 'weigh-answers 1 find'; printf '{find} d /etc\\0\\0\\0\\0found\\n0\\n'"),
        &format!("echo 'weigh-answers 1 find'; printf '{find} f /x\\0../y\\0\\0\\0found\\n0\\n'"),
        &format!(
            "echo 'weigh-answers 1 find'; printf '{find} f /x\\0\\0{find} f /x\\0\\0\\0\\0found\\n0\\n'"
        ),
        "exit 0",
        "exit 255",
        "echo 'ssh: no such \\033[31mhost' >&2; exit 255",
    ] {
        machine.script("rsh", &SH.replace("exec sh -c \"$last\"", lie));
        let shown = machine.weigh("-j", There::Weigh).arg(machine.named("web", "top")).run();
        assert_eq!((shown.code(), shown.stdout.len()), (1, 0), "{lie}: {}", shown.complaint());
        let complaint = shown.complaint();
        assert!(complaint.starts_with("weigh: error: cannot load web:/"), "{lie}: {complaint}");
        assert!(!complaint.contains('\x1b') && complaint.lines().count() == 1, "{lie}");
    }
}

/// Where what arrives cannot be kept, it said that the pipe was closed over there.
#[test]
fn what_fails_here_is_said_and_not_what_follows_from_it_there() {
    let machine = Machine::new(Fixture::new());
    let list = r#"#!/bin/sh
trap '' PIPE
echo 'weigh-answers 1 find'
long=$(head -c 100000 /dev/zero | tr '\0' x)
for i in $(seq 1000); do printf 'find 1 2 1 8 5 1.0 1.0 1.0 0 0 644 f /top\0%s\0' "$i$long"; done
printf '\0\0found\n0\n'
"#;
    machine.script("rsh", list);
    let run = machine.weigh("-j one:/top", There::Find).env("TMPDIR", "/nowhere");
    let said = "cannot load one:/top: a temporary file: No such file or directory\n";
    let shown = run.run();
    assert_eq!((shown.code(), &*shown.complaint()), (1, &*format!("weigh: error: {said}")));

    // The symbol was EIO.
    let run = machine.weigh("-j one:/top", There::Find).env("TMPDIR", "/nowhere");
    let shown = run.arg(machine.fixture.path()).run();
    let document = crate::document::Document::parse(&shown.stdout);
    let symbols: Vec<_> = document.errors().iter().map(|error| &error["error"]).collect();
    assert_eq!(symbols, ["ENOENT"]);
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let shown = weigh("-j --rsh /nope web:/tmp").run();
    let expected =
        "weigh: error: cannot load web:/tmp: cannot start /nope: No such file or directory\n";
    assert_eq!((shown.code(), shown.complaint().as_str()), (1, expected));
}

/// Something that goes on, as a connection shared with others, may hold stderr.
#[test]
fn what_was_said_counts_although_stderr_stays_open() {
    let machine = Machine::new(Fixture::new());
    let rsh = "#!/bin/sh\nsleep 1000 >/dev/null & echo $! > \"$0.pid\"\necho no such host >&2; exit 255\n";
    machine.script("rsh", rsh);
    let shown = machine.weigh("-j", There::Weigh).arg("web:/top").run();
    let pid = pid_in(&machine.fixture.at("rsh.pid"));
    let _ = Command::new("kill").arg(pid.trim()).status();
    assert_eq!(shown.complaint(), "weigh: error: cannot load web:/top: no such host\n");
}

/// A name with a colon was looked for on another machine, without a word of how to reach a file here.
#[test]
fn a_name_with_a_colon_that_is_no_machine_has_a_way_out() {
    let machine = Machine::new(Fixture::new());
    machine.script("rsh", "#!/bin/sh\necho no such host >&2; exit 255\n");
    let said = |path: &str| {
        let shown = machine.weigh("-j", There::Weigh).arg(path).run();
        assert_eq!(shown.code(), 1, "{path}");
        shown.complaint()
    };
    // The hint has what was typed, and not what that comes to over there.
    for (path, there) in [
        ("a:b", "a:b"),
        ("12:30.txt", "12:30.txt"),
        ("a:b/c", "a:b/c"),
        ("a:b:c", "a:./b:c"),
        ("a:-b", "a:./-b"),
        ("nope:", "nope:."),
    ] {
        let host = path.split(':').next().unwrap();
        let hint = format!(
            "weigh: note: {path} was taken for a path on the machine {host}\nhint: for a file here, type ./{path}\n"
        );
        assert_eq!(said(path), format!("weigh: error: cannot load {there}: no such host\n{hint}"));
    }
    for path in ["a:/b", "a:~/b", "ssh://a/b"] {
        assert!(!said(path).contains("./"), "{}", said(path));
    }
    // Something else is wrong: no machine was asked, or no PATH named it.
    let shown = weigh("-j --rsh /nope a:b").run();
    assert_eq!(
        shown.complaint(),
        "weigh: error: cannot load a:b: cannot start /nope: No such file or directory\n"
    );
    let shown = weigh("-j --from a:b").run();
    assert!(!shown.complaint().contains("machine"), "{}", shown.complaint());
}

/// Once, it was waited for without end.
#[test]
fn a_host_that_only_complains_is_given_up() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    for before in ["", "echo 'weigh-answers 1 find'; ", "echo 'weigh-answers 1 weigh'; "] {
        let rsh = format!("#!/bin/sh\n{before}exec yes 'no \x1b[31mway' >&2\n");
        machine.script("rsh", &rsh);
        let shown = machine.weigh("-j", There::Weigh).arg("web:/top").run();
        let said = "weigh: error: cannot load web:/top: it says more and more on stderr, and lists no more: no \\x1b[31mway\n";
        assert_eq!((shown.code(), shown.complaint().as_str()), (1, said), "{before}");
    }
}

/// As find does where little may be read.
#[test]
fn a_host_that_complains_much_and_lists_is_waited_for() {
    let machine = Machine::new(Fixture::new());
    let list = r#"#!/bin/sh
entry() { printf "find 1 %s 1 8 5 1.0 1.0 1.0 0 0 644 $2 /top@$1@" $3 | tr @ '\0'; }
echo 'weigh-answers 1 find'
entry '' d 1
for i in 1 2 3 4 5 6; do
    entry %s f "$(seq -s ' ' $((1000 * i)) $((1000 * i + 999)) | sed 's/[0-9]*/& &/g')"
    head -c 6000000 /dev/zero >&2
done
printf '\0\0found\n0\n'
"#;
    machine.script("rsh", list);
    let shown = machine.weigh("-j", There::Weigh).arg("web:/top").run();
    assert_eq!(shown.json()["entries"], 6_001);
}

#[test]
fn one_host_that_fails_leaves_the_others() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    machine.script("rsh", &SH.replace("exec", "[ $3 = web ] || exit 255\nexec"));
    let shown = machine.weigh("-j", There::Weigh);
    let shown = shown.args([machine.named("web", "top"), machine.named("gone", "top")]).run();
    assert_eq!(shown.code(), 1, "{}", shown.complaint());
    let text = shown.stdout_text();
    assert!(text.contains("\"complete\":false") && text.contains("web:/"), "{text}");
    assert!(shown.complaint().contains("gone:/"), "{}", shown.complaint());
}

/// Only the last was named.
#[test]
fn each_host_that_cannot_be_reached_is_named() {
    let machine = Machine::new(Fixture::new());
    machine.script("rsh", "#!/bin/sh\necho \"no route to $3\" >&2\nexit 255\n");
    let hosts = ["one:/a", "two:/b", "three:/c"];
    let shown = machine.weigh("-j", There::Weigh).args(hosts).run();
    assert_eq!(shown.code(), 1);
    let document = shown.stdout_text();
    assert!(document.contains("\"complete\":false"), "{document}");
    for host in hosts {
        let name = host.split(':').next().unwrap();
        let said = format!("weigh: error: cannot load {host}: no route to {name}\n");
        assert!(shown.complaint().contains(&said), "{}", shown.complaint());
        assert!(document.contains(&format!("\"path\":\"{host}\"")), "{document}");
    }
    // Nothing is saved, as of one host.
    let saved = machine.fixture.at("saved.weigh");
    let shown = machine.weigh("", There::Weigh).args(hosts).arg("--save").arg(&saved).run();
    assert_eq!((shown.code(), saved.exists()), (1, false), "{}", shown.complaint());
}

/// A command has no room for so many. Where find has no -printf, each is a process of its own.
#[test]
fn many_paths_of_one_host_arrive() {
    const MOST: usize = 25_000;
    let fixture = Fixture::in_memory().dir("top");
    for number in 0..MOST {
        fs::write(fixture.at(format!("top/{number}")), "x").unwrap();
    }
    let machine = Machine::new(fixture);
    let place = machine.fixture.at("top");
    machine.script("rsh", &SH.replace("exec", &format!("cd {place:?}\nexec")));
    for (there, count) in [(There::Weigh, MOST), (There::Find, MOST), (There::Plain, 300)] {
        let names = (0..count).map(|number| format!("web:{number}"));
        let shown = machine.weigh("-f -j -n 3", there).args(names).run();
        assert_eq!((shown.code(), shown.complaint().as_str()), (0, ""), "{there:?}");
        assert_eq!(shown.json()["size"], count, "{there:?}");
    }
}

/// Neither has it room for so many flags.
#[test]
fn many_filters_for_a_host_arrive() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000).file("top/b", 5000));
    let rules: String = (0..20_000).map(|number| format!("name-{number}\n")).collect();
    fs::write(machine.fixture.at("rules"), rules + "a\n").unwrap();
    let flags = format!("-f -j --exclude-from {}", machine.fixture.text_path("rules"));
    for there in [There::Weigh, There::Find, There::Plain] {
        let shown = machine.weigh(&flags, there).arg(machine.named("web", "top")).run();
        assert_eq!(shown.json()["size"], 1, "{there:?}");
    }
}

/// The real weigh there, which gets what `change` makes of the paths.
fn changed(machine: &Machine, change: &str) {
    let real = env!("CARGO_BIN_EXE_weigh");
    let _ = fs::remove_file(machine.fixture.at("bin/weigh"));
    machine.script(
        "bin/weigh",
        &format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && exec {real} --version\n{change} | {real} \"$@\"\n"
        ),
    );
}

/// It was complete.
#[test]
fn a_path_without_an_answer_is_missing() {
    let machine = Machine::new(Fixture::new().file("a/x", 5000).file("b/y", 5000));
    let names = ["a", "b"].map(|name| machine.named("web", name));
    let missing = |shown: &Shown, path: &str, why: &str| {
        assert_eq!(shown.code(), 1, "{why}: {}", shown.complaint());
        let said = format!("weigh: error: cannot load web:{path}: it does not list this\n");
        assert!(shown.complaint().contains(&said), "{why}: {}", shown.complaint());
        assert!(shown.stdout_text().contains("\"complete\":false"), "{why}");
    };
    let [a, b] = ["a", "b"].map(|name| machine.fixture.text_path(name));
    changed(&machine, "head -z -n 1");
    missing(&machine.weigh("-j", There::Weigh).args(&names).run(), &b, "weigh");
    // An export of ncdu does not say what it is of.
    let ncdu = format!(r#"[1,0,{{}},[{{"name":"{a}"}},{{"name":"x","dsize":4096}}]]"#);
    let answer = |list: &str| format!("#!/bin/sh\necho 'weigh-answers 1 {list}");
    machine.script("rsh", &answer(&format!("weigh'; echo '{ncdu}'\n")));
    missing(&machine.weigh("-j", There::Weigh).arg(&names[0]).run(), &a, "ncdu");

    let line = |kind: &str, root: &str, path: &str| {
        let number = usize::from(root.as_bytes()[root.len() - 1]) + 100 * path.len();
        format!("find 1 {number} 1 8 5 1.0 1.0 1.0 0 0 644 {kind} {root}\\0{path}\\0")
    };
    let end = "\\0\\0found\\n0\\n";
    for (list, path) in [
        (line("d", &a, ""), &b),
        (line("f", &b, ""), &a),
        // Its own size is missing.
        (line("d", &a, "") + &line("f", &b, "y"), &b),
    ] {
        machine.script("rsh", &answer(&format!("find'; printf '{list}{end}'\n")));
        missing(&machine.weigh("-j", There::Find).args(&names).run(), path, &list);
    }
    // Neither of them.
    machine.script("rsh", &answer(&format!("find'; printf '{end}'\n")));
    let shown = machine.weigh("-j", There::Find).args(&names).run();
    let said = format!("weigh: error: 2 × cannot load: it does not list this: web:{a}, web:{b}\n");
    assert_eq!((shown.code(), shown.complaint()), (1, said));
    // In another order, nothing is.
    let list = line("f", &b, "") + &line("d", &a, "");
    machine.script("rsh", &answer(&format!("find'; printf '{list}{end}'\n")));
    let shown = machine.weigh("-j", There::Find).args(&names).run();
    assert_eq!((shown.code(), shown.complaint().as_str()), (0, ""));
}

#[test]
fn what_was_not_asked_for_is_refused() {
    let machine = Machine::new(Fixture::new().file("a/x", 5000).file("b/\x1b[31m", 5000));
    let (a, b) = (machine.fixture.text_path("a"), machine.fixture.text_path("b/\x1b[31m"));
    changed(&machine, &format!("{{ cat; printf '%s\\0' '{b}'; }}"));
    let find = "find 1 2 1 8 5 1.0 1.0 1.0 0 0 644";
    let found = |lines: &str| {
        format!("#!/bin/sh\necho 'weigh-answers 1 find'; printf '{lines}\\0\\0found\\n0\\n'\n")
    };
    for rsh in [
        SH.to_owned(),
        found(&format!("{find} d {a}\\0\\0find 1 3 1 8 5 1.0 1.0 1.0 0 0 644 f {b}\\0\\0")),
        found(&format!("{find} f {b}\\0\\0")),
    ] {
        machine.script("rsh", &rsh);
        let shown = machine.weigh("-j", There::Weigh).arg(format!("web:{a}")).run();
        assert_eq!((shown.code(), shown.stdout.len()), (1, 0), "{}", shown.complaint());
        let said = format!(
            "weigh: error: cannot load web:{a}: it lists {}, which was not asked for\n",
            b.replace('\x1b', "\\x1b")
        );
        assert_eq!(shown.complaint(), said);
    }
    // Once is enough.
    machine.script("rsh", &found(&format!("{find} f {a}\\0\\0{find} f {a}\\0\\0")));
    let shown = machine.weigh("-j", There::Find).arg(format!("web:{a}")).run();
    assert_eq!((shown.code(), shown.stdout.len()), (1, 0), "{}", shown.complaint());
}

/// Cut at every byte, whatever the program that leads there ends with.
#[test]
fn no_beginning_of_an_answer_is_complete() {
    let machine = Machine::new(Fixture::new().file("t/a", 5000).file("t/b/c", 5000));
    for there in [There::Weigh, There::Find, There::Plain] {
        let keep = SH.replace("exec sh -c \"$last\"", "sh -c \"$last\" | tee \"$0.all\"");
        machine.script("rsh", &keep);
        machine.weigh("-j", there).arg(machine.named("web", "t")).run().clean();
        let length = fs::metadata(machine.fixture.at("rsh.all")).unwrap().len() as usize;
        machine.script("rsh", "#!/bin/sh\nhead -c $CUT \"$0.all\"\nexit $STATUS\n");
        for cut in (0..length).step_by(rounds(7, 1)) {
            let status = ["0", "1", "2", "141", "255"][cut % 5];
            let run = machine.weigh("-j", there).env("CUT", cut.to_string());
            let shown = run.env("STATUS", status).arg(machine.named("web", "t")).run();
            assert_eq!(shown.code(), 1, "{there:?}: {cut} of {length}, {status}");
            let is_complete = shown.stdout_text().contains("\"complete\":true");
            assert!(!is_complete && shown.complaint().contains("web:"), "{there:?}: {cut}");
        }
        for status in ["1", "2", "141", "255"] {
            let run = machine.weigh("-j", there).env("CUT", length.to_string());
            let shown = run.env("STATUS", status).arg(machine.named("web", "t")).run();
            assert_eq!(shown.code(), 1, "{there:?}: {status}");
            assert!(!shown.stdout_text().contains("\"complete\":true"), "{there:?}: {status}");
        }
    }
}

/// A way back that tells no exit status, or nothing of what is said there.
#[test]
fn what_find_cannot_read_is_missing_although_the_way_back_hides_it() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000).file("top/no/b", 1));
    let machine = Machine { fixture: machine.fixture.unreadable("top/no") };
    for there in [There::Weigh, There::Find, There::Plain] {
        for hides in ["; exit 0", " 2>/dev/null; exit 0", " 2>/dev/null"] {
            let hides = format!("sh -c \"$last\"{hides}");
            machine.script("rsh", &SH.replace("exec sh -c \"$last\"", &hides));
            let shown = machine.weigh("-j", there).arg(machine.named("web", "top"));
            let shown = shown.by_nobody(&machine.fixture).run();
            assert_eq!(shown.code(), 1, "{there:?} {hides}: {}", shown.complaint());
            let is_said = shown.stdout_text().contains("\"complete\":false");
            assert!(is_said && shown.complaint().contains("web:/"), "{there:?} {hides}");
        }
    }
    // A warning is no error.
    machine.script("bin/weigh", "#!/bin/sh\n");
    let warns = "#!/bin/sh\necho \"find: warning: oh: dear\" >&2\nexec /usr/bin/find \"$@\"\n";
    machine.script("bin/find", warns);
    machine.script("rsh", SH);
    let shown = machine.weigh("-j", There::Weigh).arg(machine.named("web", "top/a")).run();
    assert_eq!((shown.code(), shown.complaint().as_str()), (0, ""));
}

/// What a program that the shell there starts first reads of standard input is missing.
#[test]
fn paths_that_do_not_arrive_are_missing() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    for there in [There::Weigh, There::Find, There::Plain] {
        for eats in ["head -c 1", "head -c 20", "read -r line", "exec </dev/null;"] {
            machine.script("rsh", &SH.replace("exec", &format!("{eats} >/dev/null\nexec")));
            let shown = machine.weigh("-j", there).arg(machine.named("web", "top")).run();
            assert_eq!((shown.code(), shown.stdout.len()), (1, 0), "{there:?} {eats}");
            let is_said = shown.complaint().contains("what to weigh did not arrive");
            assert!(is_said, "{there:?} {eats}: {}", shown.complaint());
        }
    }
}

/// However it ends here, find there ends, too.
#[test]
fn find_there_ends_with_this_program() {
    for probe in ["*maxdepth*) exec /usr/bin/find \"$@\"", "*-printf*) exit 1"] {
        let machine = Machine::new(Fixture::new().file("top/a", 5000));
        machine.script("bin/weigh", "#!/bin/sh\n");
        let pid = machine.fixture.text_path("pid");
        let find =
            format!("#!/bin/sh\ncase $* in {probe}; esac\necho $$ > {pid}\nexec sleep 1000\n");
        machine.script("bin/find", &find);
        let child = machine.weigh("-j", There::Weigh).arg(machine.named("web", "top")).spawn();
        let pid = pid_in(&machine.fixture.at("pid"));
        interrupt(&child);
        ensure_interrupted(&child.wait_with_output().unwrap());
        until("gone", || !is_there(&pid));
    }
}

/// It filled the directory for temporary files.
#[test]
#[ignore = "needs root"]
fn an_endless_list_leaves_room() {
    let machine = Machine::new(Fixture::new().dir("tmp"));
    let endless = "base64 -w 250 /dev/urandom | tr / _";
    let found =
        r"sed 's/.*/find 1 2 1 8 5 1.0 1.0 1.0 0 0 644 f \/top@&@/' | tr -d '\n' | tr @ '\0'";
    machine
        .script("rsh", &format!("#!/bin/sh\necho 'weigh-answers 1 find'\n{endless} | {found}\n"));
    for (run, name, status) in [
        ("\"$0\" -j --rsh ./rsh web:/top", "web:/top", 1),
        (&*format!("{endless} | sed 's/^/1 /' | \"$0\" -j --from -"), "-", 2),
    ] {
        let script =
            format!("mount -t tmpfs -o size=64m none tmp; TMPDIR=$PWD/tmp; export TMPDIR\n{run}");
        let output = crate::run::try_in_namespace(&machine.fixture, &script);
        let said = String::from_utf8(output.stderr).unwrap();
        let tmp = machine.fixture.text_path("tmp");
        let expected = format!(
            "weigh: error: cannot load {name}: a temporary file: the list is too long for {tmp}, where it takes half of the \
             available space\nhint: set TMPDIR to a directory with more\n"
        );
        assert!(said.contains(&expected), "{said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(status), 0));
    }
}

/// The kernel's own file systems below a path count neither in a walk nor by find: not under odd names, and not if
/// another mount covers them. What covers them counts.
#[test]
#[ignore = "needs root and busybox"]
fn what_the_kernel_makes_up_counts_nowhere() {
    native_only!("mounts cannot be told apart there");
    let machine = Machine::new(Fixture::new().file("top/f", 5000).file("under/g", 5000).dir("bb"));
    for applet in ["find", "stat", "sh", "sed", "cat", "printf"] {
        std::os::unix::fs::symlink("/usr/bin/busybox", machine.fixture.at("bb").join(applet))
            .unwrap();
    }
    // It makes the program.
    let _ = machine.weigh("-j", There::Plain);
    let names = ["proc", "sys", "a *[b]\\c?", "it's\nhere", "devices", "groups", "debug"];
    let fixture = names.iter().fold(machine.fixture, |it, name| it.dir(format!("top/{name}")));
    let fixture = fixture.dir("top/data").dir("top/same").dir("top/above/sys").dir("top/bind");
    let machine = Machine { fixture };
    let script = r#"set -e
        mount -t proc none top/proc; mount -t sysfs none top/sys
        mount -t proc none 'top/a *[b]\c?'
        mount -t sysfs none "$(printf "top/it's\nhere")"
        mount -t devpts none top/devices
        mount -t cgroup2 none top/groups 2>/dev/null || :
        mount -t debugfs none top/debug 2>/dev/null || :
        mount -t tmpfs none top/data; mkdir top/data/sys top/data/x; echo 1 > top/data/x/y
        mount -t sysfs none top/data/sys
        mount -t tmpfs none top/sys/fs; echo 1 > top/sys/fs/beyond
        mount -t proc none top/same; mount -t tmpfs none top/same; echo 1 > top/same/z
        mount -t proc none top/above/sys
        mount -t tmpfs none top/above; mkdir top/above/sys; echo 1 > top/above/sys/z
        mount --bind under top/bind; ln -s top link
        for roots in top link "top/data top/sys/fs" "top top/sys/fs" top/sys/kernel/mm; do
            here= there=
            for root in $roots; do here="$here $PWD/$root" there="$there web:$PWD/$root"; done
            "$0" -j $here
            for path in bin:/usr/bin:/bin /usr/bin:/bin plain:/usr/bin:/bin bb; do
                PATH=$PWD/$path "$0" -j --rsh ./rsh $there
            done
        done"#;
    let output = crate::run::in_namespace(&machine.fixture, script);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).unwrap();
    let documents: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(documents.len(), 5 * 5, "{text}");
    for documents in documents.chunks(5) {
        let [here, there @ ..] = documents else { unreachable!() };
        assert!(!here.contains("\"uptime\"") && !here.contains("\"power\""), "{here}");
        for there in there {
            let there = there.replace("web:", "");
            assert_eq!(without_mounts(&there), without_mounts(here));
        }
    }
    assert!(documents[0].contains("\"z\"") && !documents[0].contains("beyond"));
}

#[test]
fn no_argument_becomes_an_option_or_a_command() {
    let machine = Machine::new(Fixture::new().dir("here"));
    machine.script("rsh", &SH.replace("exec", "echo \"$#: $*\" >> \"$0.log\"\nexec"));
    let here = machine.fixture.at("here");
    for path in [
        "-oProxyCommand=touch x:/",
        "-oProxyCommand=touch x@web:/",
        "web@-oProxyCommand=touch x:/",
        ":/",
        "@web:/",
        "we\nb:/",
        "ssh://-web/",
        "ssh:///",
        "ssh://web:0/",
    ] {
        let shown = machine.weigh("-j --", There::Weigh).arg(path).within(&here).run();
        // The shell that --rsh names comes before the two dashes.
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{path:?}: {}", shown.complaint());
    }
    let shown =
        machine.weigh("-j", There::Weigh).arg("ssh://ann@[::1]:2222/none").within(&here).run();
    assert_eq!(shown.code(), 1);
    let log = machine.fixture.bytes("rsh.log");
    assert!(log.starts_with(b"6: -T -p 2222 -- ann@::1 exec sh -c '"), "{}", log.escape_ascii());
    assert_eq!(fs::read_dir(&here).unwrap().count(), 0);
}

/// Names that a shell would read in another way.
const NAMES: [&[u8]; 9] = [
    b"it's",
    b"a b",
    b"$(touch x)",
    b"`touch x`",
    b"!x",
    b"a\nb",
    b"\xff\xfe",
    b"\\n\\047",
    b"-delete",
];

fn quoted_names_arrive(script: &str) {
    let mut fixture = Fixture::new().dir("top");
    for name in NAMES {
        fixture = fixture.file(Path::new("top").join(raw(name)).join("in"), 5000);
    }
    let machine = Machine::new(fixture);
    machine
        .script("rsh", &SH.replace("exec", &format!("cd {:?}\nexec", machine.fixture.at("top"))));
    machine.script(
        "rsh",
        &fs::read_to_string(machine.fixture.at("rsh")).unwrap().replace("sh -c", script),
    );
    for there in [There::Weigh, There::Find, There::Plain] {
        for name in NAMES {
            let path = raw(&[b"web:", name].concat()).to_owned();
            let shown = machine.weigh("-j", there).arg(path).run();
            assert_eq!(shown.code(), 0, "{}: {}", name.escape_ascii(), shown.complaint());
            assert!(shown.stdout_text().contains("\"name\":\"in\""), "{}", name.escape_ascii());
        }
    }
    assert_eq!(fs::read_dir(machine.fixture.at("top")).unwrap().count(), NAMES.len());
}

#[test]
fn names_arrive_through_sh() {
    quoted_names_arrive("sh -c");
}

#[test]
#[ignore = "needs csh and fish"]
fn names_arrive_through_csh_and_fish() {
    quoted_names_arrive("csh -c");
    quoted_names_arrive("fish -c");
}

#[test]
fn what_is_here_wins_and_lists_name_no_hosts() {
    let machine = Machine::new(Fixture::new().file("web:top", 5000).file("list", 0));
    machine.script("rsh", "#!/bin/sh\ntouch \"$0.ran\"\nexit 1\n");
    let place = machine.fixture.path().to_owned();
    let here = weigh("-j web:top").within(&place).run().clean();
    assert_eq!(machine.weigh("-j web:top", There::Weigh).within(&place).run().clean(), here);
    fs::write(machine.fixture.at("list"), "far:/top\n").unwrap();
    for flags in ["-j --files-from list", "-j ./far:top", "-j a/far:top"] {
        let shown = machine.weigh(flags, There::Weigh).within(&place).run();
        assert_eq!(shown.code(), 1, "{flags}");
        assert!(shown.complaint().contains("No such file"), "{}", shown.complaint());
    }
    assert!(!machine.fixture.at("rsh.ran").exists());
    let config = machine.fixture.at("config.toml");
    fs::write(&config, "rsh = \"touch x\"\n").unwrap();
    let shown = weigh("-j . --config").arg(&config).run();
    assert_eq!(shown.code(), 2, "{}", shown.complaint());
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

/// Waits until `is_so`.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "not {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_there(pid: &str) -> bool {
    let pid = pid.trim().parse().ok().and_then(Pid::from_raw).expect("a process");
    test_kill_process(pid).is_ok()
}

/// The number of the process that wrote it to `file`.
fn pid_in(file: &Path) -> String {
    until("started", || fs::read_to_string(file).is_ok_and(|pid| pid.ends_with('\n')));
    fs::read_to_string(file).unwrap()
}

#[test]
fn a_host_that_never_answers_is_given_up_after_ctrl_c() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    // The one that waits is not the one that was started.
    machine.script("rsh", "#!/bin/sh\nsleep 1000 & echo $! > \"$0.pid\"\nwait\n");
    let child = machine.weigh("-j", There::Weigh).arg(machine.named("web", "top")).spawn();
    let pid = pid_in(&machine.fixture.at("rsh.pid"));
    interrupt(&child);
    let output = child.wait_with_output();
    let _ = Command::new("kill").arg(pid.trim()).status();
    ensure_interrupted(&output.unwrap());
}

/// It said that the connection was cut.
#[test]
fn what_has_arrived_before_ctrl_c_is_interrupted() {
    let machine = Machine::new(Fixture::new());
    let list = r#"#!/bin/sh
echo 'weigh-answers 1 find'
printf 'find 1 2 1 8 5 1.0 1.0 1.0 0 0 755 d /top\0\0'
echo $$ > "$0.pid"
exec sleep 1000
"#;
    machine.script("rsh", list);
    let child = machine.weigh("-j one:/top", There::Find).spawn();
    pid_in(&machine.fixture.at("rsh.pid"));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.starts_with("weigh: error: cannot load one:/top: interrupted\n"),
        "{complaint}"
    );
    assert_eq!(output.status.code(), Some(130));
}

/// However it ends here, the program there ends, too.
#[test]
fn the_program_there_ends_with_this_one() {
    for signal in [Signal::INT, Signal::KILL] {
        let machine = Machine::new(Fixture::new().file("top/a", 5000));
        let there = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo weigh {} && exit\necho $$ > \"{}\"\nexec sleep 1000\n",
            env!("CARGO_PKG_VERSION"),
            machine.fixture.text_path("pid"),
        );
        machine.script("bin/weigh", &there);
        let child = machine.weigh("-j", There::Weigh).arg(machine.named("web", "top")).spawn();
        let pid = pid_in(&machine.fixture.at("pid"));
        assert!(is_there(&pid));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        if signal == Signal::INT {
            ensure_interrupted(&output);
        }
        until("gone", || !is_there(&pid));
    }
}

/// Ctrl-C comes after the walk here, while weigh reads the names of Docker's images. Once, ssh was not ended.
#[test]
#[ignore = "needs strace"]
fn the_program_there_ends_when_the_walk_here_has_ended() {
    let machine = Machine::new(Fixture::new().dir("here/overlay2").dir("here/image/overlay2"));
    let repositories = machine.fixture.at("here/image/overlay2/repositories.json");
    fs::write(repositories, r#"{"Repositories":{}}"#).unwrap();
    machine.script("rsh", "#!/bin/sh\necho $$ > \"$0.pid\"\nexec sleep 20\n");
    let inject = "inject=openat,openat2:signal=INT:when=1";
    let strace = ["strace", "-qq", "-o", "/dev/null", "-P", "repositories.json", "-e", inject];
    let paths = [machine.named("web", "top"), machine.fixture.at("here").into()];
    let output = machine.weigh("-j", There::Weigh).args(paths).under(strace).run();
    assert!(output.complaint().contains(": interrupted\n"), "{}", output.complaint());
    assert_eq!(output.code(), 130, "{}", output.complaint());
    // It may be killed before it writes its process id.
    let pid = fs::read_to_string(machine.fixture.at("rsh.pid")).unwrap_or_default();
    assert!(pid.is_empty() || !is_there(&pid));
}

/// Once, it was "not a snapshot".
fn ensure_interrupted(output: &Output) {
    let complaint = String::from_utf8_lossy(&output.stderr);
    let is_said = complaint.starts_with("weigh: error: cannot load web:/");
    assert!(is_said && complaint.ends_with(": interrupted\n"), "{complaint}");
    assert_eq!(output.status.code(), Some(130));
}

/// Nothing is deleted, opened or scanned again there, and a host that fails is no reason to show nothing.
#[test]
#[cfg(feature = "tui")]
fn a_screen_shows_what_arrives() {
    let machine = Machine::new(Fixture::new().file("top/only", 5000));
    machine.script("rsh", &SH.replace("exec", "[ $3 = web ] || exit 255\nexec"));
    let terminal = &mut Terminal::new();
    let [web, gone] = ["web", "gone"].map(|host| machine.named(host, "top"));
    let child = machine.weigh("--ui", There::Weigh).args([&web, &gone]).on(terminal).spawn();
    terminal.wait_for("1 unread");
    terminal.type_in(b"\r");
    terminal.wait_for("only");
    // Single words, because only cells that change are drawn.
    for (keys, said) in [("r", "another"), ("o", "opened"), ("n d", "deleting")] {
        terminal.type_in(keys.as_bytes());
        terminal.wait_for(said);
    }
    terminal.type_in(b"\x1bqq");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(machine.fixture.at("top/only").exists());
}

/// A real server on this machine, with a key made for it.
struct Server {
    fixture: Fixture,
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn new(fixture: Fixture) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let fixture = fixture.dir("ssh");
        let at = |name: &str| fixture.text_path(&format!("ssh/{name}"));
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)])
                .status();
            assert!(made.unwrap().success());
        }
        fs::copy(at("user.pub"), at("authorized")).unwrap();
        let _ = fs::create_dir_all("/run/sshd");
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nPidFile none\nPermitRootLogin yes\nSetEnv PATH={}:{PATH}\n",
            at("host"),
            at("authorized"),
            fixture.text_path("bin"),
        );
        fs::write(at("config"), config).unwrap();
        let mut command = Command::new("/usr/sbin/sshd");
        command.args(["-D", "-e", "-f", &at("config")]).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let server = Self { fixture, child, port };
        until("listening", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        server
    }

    fn weigh(&self, flags: &str) -> Weigh {
        let key = self.fixture.text_path("ssh/user");
        let ssh = format!(
            "ssh -F none -i {key} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes"
        );
        weigh(flags).arg("--rsh").arg(ssh).env("PATH", PATH).env("HOME", self.fixture.path())
    }

    fn named(&self, name: &str) -> String {
        format!("ssh://127.0.0.1:{}{}", self.port, self.fixture.text_path(name))
    }
}

#[test]
#[ignore = "needs sshd"]
fn what_arrives_through_ssh_is_what_a_walk_there_finds() {
    for there in [There::Weigh, There::Find, There::Plain] {
        let mut dice = Dice::new(39);
        let mut fixture = dice.tree(Fixture::new(), Names::Hostile).dir("bin");
        for file in 0..3000 {
            fixture = fixture.sparse(format!("tree/many/{}/{file}", file % 7), 1);
        }
        if there == There::Weigh {
            let bin = fixture.at("bin/weigh");
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_weigh"), bin).unwrap();
        }
        let server = Server::new(fixture);
        let root = server.fixture.at("tree");
        for flags in ["-j", "-j -n 5"] {
            let host = format!("ssh://127.0.0.1:{}", server.port);
            let here = as_of(&weigh(flags).arg(&root).run().clean(), &host, &root);
            let shown = server.weigh(flags).arg(server.named("tree")).run();
            assert_eq!(shown.code(), 0, "{}", shown.complaint());
            let shown = shown.stdout_text();
            assert_eq!(without_mounts(&shown), without_mounts(&here), "{there:?} {flags}");
        }
    }
}

/// The figures of `df` there, and the list of find, over one connection.
#[test]
#[ignore = "needs sshd"]
fn df_explains_a_file_system_through_ssh() {
    let server = Server::new(Fixture::new().dir("m"));
    let mounted = crate::mounted::Mounted::tmpfs_at(&server.fixture.at("m"));
    fs::create_dir(mounted.path().join("a")).unwrap();
    fs::write(mounted.path().join("a/f"), vec![1; 3_000_000]).unwrap();
    let shown = server.weigh("df -c -o b -w 300").arg(server.named("m/a")).run();
    assert_eq!(shown.code(), 0, "{}", shown.complaint());
    let (parts, used) = crate::space::parts(&shown.stdout_text());
    let df = ["-B1", "--output=used"];
    let df = Command::new("df").args(df).arg(mounted.path()).output().unwrap().stdout;
    let df = String::from_utf8(df).unwrap();
    assert_eq!(
        (parts.iter().sum(), Some(used)),
        (used, df.lines().nth(1).unwrap().trim().parse().ok())
    );
    assert!(shown.stdout_text().starts_with(&server.named("m")), "{}", shown.stdout_text());
}

/// What a walk elsewhere did is not known here: not even its headings were.
#[test]
fn stats_of_elsewhere_are_none() {
    let machine = Machine::new(Fixture::new().file("top/a", 5000));
    let shown = machine.weigh("-j --stats", There::Weigh).arg(machine.named("h", "top")).run();
    assert_eq!((shown.complaint().as_str(), shown.code()), ("", 0));
}

/// Whatever ends here: after that, nothing runs there.
#[test]
#[ignore = "needs sshd"]
fn the_program_at_the_other_end_of_ssh_ends() {
    for signal in [Signal::INT, Signal::KILL] {
        let fixture = Fixture::new().dir("bin").file("top/a", 5000);
        let machine = Machine { fixture };
        let there = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo weigh {} && exit\necho $$ > \"{}\"\nexec sleep 1000\n",
            env!("CARGO_PKG_VERSION"),
            machine.fixture.text_path("pid"),
        );
        machine.script("bin/weigh", &there);
        let server = Server::new(machine.fixture);
        let mut child = server.weigh("-j").arg(server.named("top")).spawn();
        let pid = pid_in(&server.fixture.at("pid"));
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        until("gone", || !is_there(&pid));
    }
}
