//! `weigh clean --apply`: nothing goes that the second look did not see, whatever happens to the tree before and after it.
#![cfg(all(target_os = "linux", feature = "cli"))]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::dice::Dice;
use crate::fixture::{Fixture, entries_at};
use crate::gitignore::git;
use crate::mounted::{self, Mounted};
use crate::pty::Terminal;
use crate::rounds::{for_seeds, rounds};
use crate::run::{Weigh, weigh};

/// How long ago everything was written.
const DAYS: i64 = 40;

fn aged(fixture: Fixture) -> Fixture {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let time = now.as_secs() as i64 - DAYS * 86_400 - 60;
    let paths = entries_at(fixture.path()).into_iter().map(|(path, _)| path);
    paths.fold(fixture, |fixture, path| fixture.modified(path, time))
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The packages of a project.
fn project(fixture: &Fixture, name: &str) {
    let at = |path: &str| fixture.at(format!("h/{name}/{path}"));
    write(at("package.json"), "{}");
    write(at("package-lock.json"), r#"{"node_modules/in": {}}"#);
    write(at("node_modules/in/package.json"), "{}");
    for file in ["a", "lib/b", "lib/deep/c", "lib/deep/d/e"] {
        write(at("node_modules/in").join(file), &format!("{name} {file} {}", "x".repeat(5_000)));
    }
}

/// A run of `clean FLAGS h` within `fixture`.
fn clean(flags: &str, fixture: &Fixture) -> Weigh {
    let run = weigh("clean").args(flags.split_whitespace()).arg("h").within(fixture.path());
    run.env("HOME", fixture.at("home")).env("PATH", "/usr/bin:/bin")
}

/// A run that waits for the number of entries.
pub struct Asking {
    pub terminal: Terminal,
    pub child: Child,
    pub entries: String,
}

impl Asking {
    fn new(flags: &str, fixture: &Fixture) -> Self {
        Self::new_for(flags, "permanently: ", fixture)
    }

    /// Waits for the `end` of the question.
    fn new_for(flags: &str, end: &str, fixture: &Fixture) -> Self {
        Self::of(clean(flags, fixture), end)
    }

    pub fn of(run: Weigh, end: &str) -> Self {
        let terminal = Terminal::new();
        let child = run.on(&terminal).spawn();
        let shown = terminal.until(end);
        let (_, number) = shown.rsplit_once("Type ").unwrap();
        let entries = number.split(' ').next().unwrap().to_owned();
        Self { terminal, child, entries }
    }

    /// Types it: the exit status, and what is said then.
    pub fn answer(mut self, typed: &str) -> (Option<i32>, String) {
        self.terminal.type_in(typed.as_bytes());
        self.ended()
    }

    pub fn agree(self) -> (Option<i32>, String) {
        let typed = format!("{}\r", self.entries);
        self.answer(&typed)
    }

    fn ended(self) -> (Option<i32>, String) {
        let status = self.child.wait_with_output().unwrap().status;
        let shown = String::from_utf8_lossy(&self.terminal.close()).replace("\r\n", "\n");
        (status.code(), shown)
    }
}

#[test]
fn entries_go_after_the_right_number() {
    let fixture = Fixture::new().dir("home").dir("h");
    project(&fixture, "p");
    project(&fixture, "q");
    let fixture = aged(fixture);
    let listed = || entries_at(&fixture.at("h")).len();
    let all = listed();
    for typed in ["\r", "y\r", "yes\r", "17\r", "\x04", "018\r"] {
        let asking = Asking::new("--apply", &fixture);
        // Two of node_modules, in, lib, deep, d, package.json, a, b, c, e.
        assert_eq!(asking.entries, "20");
        let (status, said) = asking.answer(typed);
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("nothing was removed: that is not the number"), "{said}");
        assert_eq!(listed(), all);
    }
    let (status, said) = Asking::new("--apply", &fixture).agree();
    assert_eq!(status, Some(0), "{said}");
    let last = said.trim_end().lines().last().unwrap();
    let (freed, announced) = last.split_once(" (announced ").unwrap();
    assert_eq!(freed.strip_prefix("freed ").unwrap(), announced.strip_suffix(')').unwrap());
    assert_eq!(listed(), all - 20);
    assert!(fixture.at("h/p/package-lock.json").exists());
    let log = fixture.text("home/.local/state/weigh/deleted.ndjson");
    assert_eq!(log.matches(r#""result":"deleted""#).count(), 2, "{log}");
}

/// Consent is a number that somebody types. `weigh clean *` must be harmless where a file has the name of the flag.
#[test]
fn nothing_else_is_consent() {
    let fixture = Fixture::new().dir("home").dir("h");
    project(&fixture, "p");
    let fixture = aged(fixture);
    let all = entries_at(&fixture.at("h")).len();
    for (flags, said) in [
        ("--apply", "asks for a number on a terminal"),
        ("--apply -j", "asks for a number on a terminal"),
        ("--apply=yes", "unexpected value 'yes'"),
        ("--yes", "unexpected argument '--yes'"),
        ("--apply --yes", "unexpected argument '--yes'"),
    ] {
        let run = clean(flags, &fixture).run();
        assert_eq!(run.code(), 2, "{flags}");
        assert!(run.complaint().contains(said), "{flags}: {}", run.complaint());
    }
    let config = fixture.at("config.toml");
    fs::write(&config, "apply = true\n").unwrap();
    let run = clean("", &fixture).env("WEIGH_CONFIG_PATH", &config).run();
    assert_eq!(run.code(), 2, "{}", run.complaint());
    // The shell puts the name of a file there.
    let fixture = fixture.file("--apply", 1);
    let terminal = Terminal::new();
    let child = clean("--apply", &fixture).on(&terminal).spawn();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(2));
    let said = String::from_utf8_lossy(&terminal.close()).into_owned();
    assert!(said.contains("an entry here is called --apply"), "{said}");
    assert_eq!(entries_at(&fixture.at("h")).len(), all);
}

/// Everything that must still be there: by its path, its content, or where it leads.
pub fn kept_at(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let content = |path: &Path| match fs::read_link(path) {
        Ok(to) => to.into_os_string().into_encoded_bytes(),
        Err(_) => fs::read(path).unwrap_or_default(),
    };
    let entries = entries_at(top).into_iter().filter(|(_, stat)| !stat.is_dir());
    entries.map(|(path, _)| (path.clone(), content(&path))).collect()
}

/// What the second look sees of an entry.
fn seen_at(top: &Path) -> BTreeMap<PathBuf, (u64, u64, i64, i64)> {
    let seen = |path: PathBuf| {
        let stat = fs::symlink_metadata(&path).unwrap();
        (path, (stat.ino(), stat.len(), stat.ctime(), stat.ctime_nsec()))
    };
    entries_at(top).into_iter().map(|(path, _)| seen(path)).collect()
}

/// What is in the tree before the first look. A project with some of these is kept.
const BEFORE: [&str; 9] = [
    "nothing",
    "a symlink to the outside",
    "a link elsewhere",
    "a file that git tracks",
    "a file that no rule foresees",
    "a file of another user",
    "a new file",
    "a repository",
    "a process that works in it",
];

/// What happens between the look and the removal.
const AFTER: [&str; 16] = [
    "nothing",
    "written",
    "written with the same length and time",
    "replaced",
    "a new file",
    "a new directory",
    "a directory is now a symlink",
    "it is moved, and made again",
    "it is now a symlink",
    "a new link",
    "another mode",
    "another name",
    "another user",
    "git tracks a file in it",
    "a process that has a file open",
    "a process that works in it",
];

/// These keep a project as it is, although its files did not change.
const KEEPING: [&str; 3] =
    ["git tracks a file in it", "a process that has a file open", "a process that works in it"];

/// A process that does nothing until it is killed.
pub struct Idle(Child);

impl Idle {
    pub fn in_directory(path: &Path) -> Self {
        Self::of(Command::new("sleep").current_dir(path).stdin(Stdio::null()))
    }

    pub fn with_open(path: &Path) -> Self {
        Self::of(Command::new("sleep").stdin(fs::File::open(path).unwrap()))
    }

    fn of(command: &mut Command) -> Self {
        Self(command.arg("1000").spawn().unwrap())
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Whether the project is kept as it is.
fn trap_before(fixture: &Fixture, name: &str, trap: &str, idle: &mut Vec<Idle>) -> bool {
    let at = |path: &str| fixture.at(format!("h/{name}/{path}"));
    match trap {
        "nothing" => return false,
        "a symlink to the outside" => {
            symlink(fixture.at("precious"), at("node_modules/in/lib/out")).unwrap();
            return false;
        }
        "a link elsewhere" => {
            fs::hard_link(at("node_modules/in/a"), fixture.at(format!("precious/{name}"))).unwrap();
            return false;
        }
        "a file that git tracks" => {
            git(fixture, &at(""), &["init", "-q"]);
            git(fixture, &at(""), &["add", "-f", "node_modules/in/lib/deep/c"]);
        }
        "a file that no rule foresees" => write(at("node_modules/thesis.txt"), "mine"),
        "a file of another user" if rustix::process::geteuid().is_root() => {
            std::os::unix::fs::lchown(at("node_modules/in/lib/deep/d/e"), Some(65_534), None)
                .unwrap();
        }
        "a file of another user" => return false,
        "a new file" => {}
        "a repository" => write(at("node_modules/in/lib/.git/HEAD"), "ref: refs/heads/main\n"),
        "a process that works in it" => {
            idle.push(Idle::in_directory(&at("node_modules/in/lib/deep")));
        }
        other => panic!("{other}"),
    }
    true
}

fn trap_after(fixture: &Fixture, name: &str, trap: &str, dice: &mut Dice, idle: &mut Vec<Idle>) {
    let at = |path: &str| fixture.at(format!("h/{name}/{path}"));
    let file = at("node_modules/in").join(dice.of(&["a", "lib/b", "lib/deep/c", "lib/deep/d/e"]));
    let directory = at("node_modules/in").join(dice.of(&["lib", "lib/deep", "lib/deep/d"]));
    let moved = fixture.at(format!("precious/moved {name}"));
    match trap {
        "nothing" => {}
        "written" => fs::write(&file, "mine, and longer or shorter").unwrap(),
        "written with the same length and time" => {
            let stat = fs::metadata(&file).unwrap();
            fs::write(&file, "m".repeat(stat.len() as usize)).unwrap();
            let file = fs::File::open(&file).unwrap();
            file.set_modified(stat.modified().unwrap()).unwrap();
        }
        "replaced" => {
            write(moved.clone(), "mine");
            fs::rename(&moved, &file).unwrap();
        }
        "a new file" => write(directory.join("new"), "mine"),
        "a new directory" => write(directory.join("fresh/in/it"), "mine"),
        "a directory is now a symlink" => {
            fs::rename(&directory, &moved).unwrap();
            symlink(&moved, &directory).unwrap();
        }
        "it is moved, and made again" => {
            fs::rename(at("node_modules"), &moved).unwrap();
            write(at("node_modules/in/package.json"), "mine");
        }
        "it is now a symlink" => {
            fs::rename(at("node_modules"), &moved).unwrap();
            symlink(fixture.at("precious"), at("node_modules")).unwrap();
        }
        "a new link" => fs::hard_link(&file, moved).unwrap(),
        "another mode" => {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        "another user" if rustix::process::geteuid().is_root() => {
            std::os::unix::fs::lchown(&file, Some(65_534), None).unwrap();
        }
        "another user" => fs::write(&file, "mine").unwrap(),
        "git tracks a file in it" => {
            git(fixture, &at(""), &["init", "-q"]);
            git(fixture, &at(""), &["add", "-f", file.to_str().unwrap()]);
        }
        "another name" => fs::rename(&file, file.with_file_name("renamed")).unwrap(),
        "a process that has a file open" => idle.push(Idle::with_open(&file)),
        "a process that works in it" => idle.push(Idle::in_directory(&directory)),
        other => panic!("{other}"),
    }
}

/// Traps before the first look and between the second look and the removal, at any depth. In full, there are 1,000.
#[test]
fn nothing_goes_that_the_second_look_did_not_see() {
    const PROJECTS: usize = 6;
    for_seeds(rounds(8, 84), |seed| {
        let mut dice = Dice::new(seed);
        let fixture = Fixture::new().dir("home").dir("h").file("precious/one", 1_000);
        let names: Vec<_> = (0..PROJECTS).map(|number| format!("p{number}")).collect();
        names.iter().chain([&"plain".to_owned()]).for_each(|name| project(&fixture, name));
        let fixture = aged(fixture);
        let (mut idle, mut kept) = (Vec::new(), Vec::new());
        let before: Vec<_> = names.iter().map(|_| *dice.of(&BEFORE)).collect();
        for (name, trap) in names.iter().zip(&before) {
            kept.push(trap_before(&fixture, name, trap, &mut idle));
        }
        let fixture = aged(fixture);
        for (name, _) in names.iter().zip(&before).filter(|(_, trap)| **trap == "a new file") {
            write(fixture.at(format!("h/{name}/node_modules/in/lib/new")), "mine");
        }
        let asking = Asking::new("--apply", &fixture);
        let seen = seen_at(&fixture.at("h"));
        // Many file systems advance their time only every few milliseconds.
        std::thread::sleep(Duration::from_millis(20));
        let after: Vec<_> = names.iter().map(|_| *dice.of(&AFTER)).collect();
        for (name, trap) in names.iter().zip(&after) {
            trap_after(&fixture, name, trap, &mut dice, &mut idle);
        }
        let now = seen_at(&fixture.at("h"));
        let may_go = |path: &Path| {
            let inside = path.strip_prefix(fixture.at("h")).unwrap();
            let project = inside.iter().next().and_then(|name| name.to_str()).unwrap();
            let number = names.iter().position(|name| name == project);
            let is_kept =
                number.is_some_and(|number| kept[number] || KEEPING.contains(&after[number]));
            let is_in_it = inside.iter().nth(1).is_some_and(|name| name == "node_modules");
            is_in_it && !is_kept && seen.get(path) == now.get(path)
        };
        let all = kept_at(&fixture.at("h"));
        let must_stay: BTreeMap<_, _> = all.into_iter().filter(|(path, _)| !may_go(path)).collect();
        let outside = kept_at(&fixture.at("precious"));
        let (status, said) = asking.agree();
        let traps = format!("{seed}: {before:?} {after:?}\n{said}");
        let rest = kept_at(&fixture.at("h"));
        for (path, content) in must_stay {
            assert_eq!(rest.get(&path), Some(&content), "{}: {traps}", path.display());
        }
        assert_eq!(kept_at(&fixture.at("precious")), outside, "{traps}");
        assert!(!fixture.at("h/plain/node_modules").exists(), "{traps}");
        // Where nothing happened, everything went; and a trap was named.
        let mut is_trapped = false;
        for ((name, kept), trap) in names.iter().zip(&kept).zip(&after) {
            let at = fixture.at(format!("h/{name}/node_modules"));
            let is_harmless = *trap == "nothing";
            assert!(*kept || !is_harmless || !at.exists(), "{name}: {traps}");
            is_trapped |= !kept && !is_harmless;
            if !kept && at.exists() {
                let named = format!("{name}/node_modules");
                assert!(said.contains(&named), "{named}: {traps}");
            }
        }
        assert!(status == Some(i32::from(is_trapped)), "{status:?}: {traps}");
        assert_eq!(said.contains("; kept "), is_trapped, "{traps}");
        for (path, _) in entries_at(fixture.path()) {
            assert!(!path.to_string_lossy().contains("/.weigh-"), "{}: {traps}", path.display());
        }
        let log = fixture.text("home/.local/state/weigh/deleted.ndjson");
        let [begun, ended] =
            ["begin", "end"].map(|event| log.matches(&format!(r#""event":"{event}""#)).count());
        assert_eq!(begun, ended, "{log}");
    });
}

/// Many files, to be removed for a while.
fn large_project(fixture: &Fixture, files: usize) -> PathBuf {
    project(fixture, "p");
    let many = fixture.at("h/p/node_modules/in/many");
    for number in 0..files {
        write(many.join(format!("{}/{number}", number % 50)), &format!("x{number}"));
    }
    many
}

/// Whatever other programs put into the tree while it is removed stays: new files, and files in the place of others.
#[test]
fn what_others_write_meanwhile_stays() {
    use std::sync::atomic::{AtomicBool, Ordering};
    for_seeds(rounds(8, 84), |seed| {
        let fixture = Fixture::new().dir("home").dir("h").dir("staging").file("precious/one", 9);
        let many = large_project(&fixture, 1_500);
        let fixture = aged(fixture);
        let outside = kept_at(&fixture.at("precious"));
        let asking = Asking::new("--apply", &fixture);
        let is_over = AtomicBool::new(false);
        let (written, (_, said)) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                // The last text of each name.
                let (mut dice, mut written) = (Dice::new(seed), BTreeMap::new());
                for turn in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    let text = format!("mine {turn}");
                    let number = dice.below(1_500);
                    let names = [text.clone(), number.to_string()];
                    let directory = many.join((number % 50).to_string());
                    let new = fixture.at("staging").join(&text);
                    fs::write(&new, &text).unwrap();
                    let name = dice.of(&names);
                    if fs::rename(&new, directory.join(name)).is_ok() {
                        written.insert(name.clone(), text.clone());
                    }
                    let aside = fixture.at(format!("staging/d{turn}"));
                    if dice.below(20) == 0 && fs::rename(&directory, &aside).is_ok() {
                        // weigh may be faster in any of these.
                        let _ = symlink(fixture.at("precious"), &directory);
                        let _ = fs::remove_file(&directory);
                        let _ = fs::rename(&aside, &directory);
                    }
                }
                written
            });
            let ended = asking.agree();
            is_over.store(true, Ordering::SeqCst);
            (writer.join().unwrap(), ended)
        });
        let all: Vec<_> = kept_at(fixture.path()).into_values().collect();
        for (name, text) in written {
            assert!(all.contains(&text.clone().into_bytes()), "{seed}: {name}: {text}: {said}");
        }
        assert_eq!(kept_at(&fixture.at("precious")), outside, "{seed}: {said}");
    });
}

/// kill -9 while it removes: each file is in its place, gone, or beside the place that the log names.
#[test]
fn after_a_kill_the_log_says_where_everything_is() {
    for_seeds(rounds(6, 60), |seed| {
        let fixture = Fixture::new().dir("home").dir("h").file("precious/one", 9);
        let many = large_project(&fixture, 3_000);
        project(&fixture, "q");
        let fixture = aged(fixture);
        let before = kept_at(&fixture.at("h"));
        let outside = kept_at(&fixture.at("precious"));
        let Asking { mut terminal, mut child, entries } = Asking::new("--apply", &fixture);
        terminal.type_in(format!("{entries}\r").as_bytes());
        while many.exists() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(Dice::new(seed).below(20_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let log = fixture.text("home/.local/state/weigh/deleted.ndjson");
        let lines =
            log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let (begun, ended): (Vec<_>, Vec<_>) = lines.partition(|line| line["event"] == "begin");
        let is_open = |path: &str| !ended.iter().any(|end| end["path"] == path);
        let places = begun.iter().filter(|begin| is_open(begin["path"].as_str().unwrap()));
        let places: Vec<_> = places.map(|begin| begin["at"].as_str().unwrap()).collect();
        for (path, content) in kept_at(&fixture.at("h")) {
            let is_moved = path.to_string_lossy().contains("/.weigh-");
            let beside =
                |at: &&str| path.starts_with(Path::new(at).parent().unwrap().parent().unwrap());
            assert!(before.get(&path) == Some(&content) || is_moved, "{seed}: {}", path.display());
            assert!(!is_moved || places.iter().any(beside), "{seed}: {}: {log}", path.display());
        }
        for (path, content) in before {
            let is_evidence = path.to_string_lossy().contains("/node_modules/");
            assert!(
                is_evidence || fs::read(&path).unwrap() == content,
                "{seed}: {}",
                path.display()
            );
        }
        assert_eq!(kept_at(&fixture.at("precious")), outside, "{seed}");
    });
}

/// What is mounted in it before the first look or while the question waits is not entered, and the project stays.
#[test]
#[ignore = "mounts directories"]
fn what_is_mounted_in_it_stays() {
    for is_before in [true, false] {
        let fixture = Fixture::new().dir("home").dir("h").file("precious/one", 9);
        project(&fixture, "p");
        project(&fixture, "q");
        let fixture = aged(fixture);
        let outside = kept_at(&fixture.at("precious"));
        let inside = fixture.at("h/p/node_modules/in/lib/deep");
        let mount = || {
            let mut command = Command::new("mount");
            command.arg("--bind").arg(fixture.at("precious")).arg(&inside);
            assert!(command.status().unwrap().success());
        };
        if is_before {
            mount();
        }
        let asking = Asking::new("--apply", &fixture);
        if !is_before {
            mount();
        }
        let (status, said) = asking.agree();
        assert_eq!(status, Some(i32::from(!is_before)), "{said}");
        assert_eq!(kept_at(&fixture.at("precious")), outside, "{said}");
        assert!(Command::new("umount").arg(&inside).status().unwrap().success());
        assert!(
            inside.join("c").exists() && fixture.at("h/p/node_modules/in/a").exists(),
            "{said}"
        );
        assert!(!fixture.at("h/q/node_modules").exists(), "{said}");
    }
}

/// On a full disk there is no room for a private directory, and none for a log: that is elsewhere, or nothing goes.
#[test]
#[ignore = "mounts a tmpfs and an ext4 image"]
fn a_full_disk_is_freed() {
    for place in [Mounted::tmpfs(), Mounted::ext4()] {
        let (fixture, state) = (Fixture::within(place.path()).dir("h").dir("home"), Fixture::new());
        for name in ["p", "q"] {
            project(&fixture, name);
        }
        let fixture = aged(fixture);
        let mut fill = fs::File::create(fixture.at("fill")).unwrap();
        while std::io::Write::write_all(&mut fill, &[1; 4096]).is_ok() {}
        drop(fill);
        let all = entries_at(&fixture.at("h")).len();
        let (status, said) = Asking::new("--apply", &fixture).agree();
        assert_eq!(status, Some(1), "{said}");
        let whys = ["nothing was removed: ", "nothing is removed without the log"];
        assert!(whys.iter().any(|why| said.contains(why)), "{said}");
        assert_eq!(entries_at(&fixture.at("h")).len(), all, "{said}");
        let frees = clean("-j", &fixture).run().json()["reclaimable"]["frees_most"].as_u64();
        let before = place.free();
        let run = clean("--apply", &fixture).env("XDG_STATE_HOME", state.path());
        let (status, said) = Asking::of(run, "permanently: ").agree();
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(frees, Some(place.free() - before), "{said}");
    }
}

/// Ctrl-C while it removes: everything is in its place, or gone.
#[test]
fn an_interrupt_leaves_nothing_half_renamed() {
    let fixture = Fixture::new().dir("home").dir("h");
    let many = large_project(&fixture, rounds(5_000, 30_000));
    let fixture = aged(fixture);
    let Asking { mut terminal, child, entries } = Asking::new("--apply", &fixture);
    terminal.type_in(format!("{entries}\r").as_bytes());
    while many.exists() {
        std::thread::yield_now();
    }
    terminal.type_in(b"\x03");
    terminal.type_in(b"\x03");
    let (status, said) = Asking { terminal, child, entries }.ended();
    assert_eq!(status, Some(130), "{said}");
    assert!(said.contains("; kept 1: "), "{said}");
    let rest = entries_at(fixture.path());
    assert!(rest.iter().all(|(path, _)| !path.to_string_lossy().contains("/.weigh-")), "{said}");
    assert!(rest.len() > 100, "it was over before");
    assert!(fixture.at("h/p/node_modules/in/package.json").exists() || rest.len() > 1_000);
}

/// The oldest go first, until so much is free.
#[test]
fn as_much_goes_as_is_asked_for() {
    let fixture = Fixture::new().dir("home").dir("h");
    for (name, days) in [("a", 300), ("b", 200), ("c", 100)] {
        project(&fixture, name);
        write(fixture.at(format!("h/{name}/node_modules/in/large")), &"x".repeat(1_000_000));
        let now = std::time::SystemTime::now();
        let time = now - Duration::from_secs(days * 86_400);
        for (path, _) in entries_at(&fixture.at(format!("h/{name}"))) {
            fs::File::open(path).unwrap().set_modified(time).unwrap();
        }
    }
    let paths = |flags: &str| -> Vec<String> {
        let json = clean(&format!("-j {flags}"), &fixture).run().json();
        let found = json["reclaimable"]["found"].as_array().unwrap().iter();
        let mut paths: Vec<_> = found.map(|one| one["path"].as_str().unwrap().to_owned()).collect();
        paths.sort_unstable();
        paths
    };
    let of = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("h/{name}/node_modules")).collect()
    };
    assert_eq!(paths(""), of(&["a", "b", "c"]));
    assert_eq!(paths("--free 1"), of(&["a"]));
    assert_eq!(paths("--free 1M"), of(&["a"]));
    assert_eq!(paths("--free 1.5M"), of(&["a", "b"]));
    let run = clean("-j --free 1G", &fixture).run();
    assert_eq!(run.complaint(), "weigh: note: less than the 1.00Gi of --free can go\n");
    assert_eq!(paths("--only npm"), of(&["a", "b", "c"]));
    assert_eq!(paths("--only cargo,pip-cache"), of(&[]));
    assert_eq!(paths("-X h/a"), of(&["b", "c"]));
    // Each has a file of this name.
    assert_eq!(paths("-X a"), of(&[]));
    assert_eq!(paths("-X node_modules"), of(&[]));
    assert_eq!(paths("--exclude h2 --exclude b/node_modules"), of(&["a", "c"]));
    write(fixture.at("h/c/node_modules/in/lib/deep/mine.keep"), "x");
    let fixture_c = fixture.at("h/c");
    for (path, _) in entries_at(&fixture_c) {
        let time = std::time::SystemTime::now() - Duration::from_secs(100 * 86_400);
        fs::File::open(path).unwrap().set_modified(time).unwrap();
    }
    assert_eq!(paths("--exclude *.keep"), of(&["a", "b"]));
    let json = clean("-j --exclude *.keep", &fixture).run().json();
    let doubt = json["reclaimable"]["others"][0]["doubt"].as_str().unwrap();
    assert_eq!(doubt, "-X or --exclude spares in/lib/deep/mine.keep");
    let run = clean("--only nmp", &fixture).run();
    assert_eq!(run.code(), 2);
    assert!(run.complaint().contains("no rule has this name"), "{}", run.complaint());
    let (status, said) = Asking::new("--apply --free 1.5M", &fixture).agree();
    assert_eq!(status, Some(0), "{said}");
    assert!(!fixture.at("h/a/node_modules").exists() && !fixture.at("h/b/node_modules").exists());
    assert!(fixture.at("h/c/node_modules").exists());
}

/// A plan only narrows: what the rules find otherwise, or what it does not name as it is, stays.
#[test]
fn a_plan_removes_what_it_names_as_it_was() {
    let fixture = Fixture::new().dir("home").dir("h");
    for name in ["a", "b", "c"] {
        project(&fixture, name);
    }
    let fixture = aged(fixture);
    let plan = || {
        let text = clean("-j", &fixture).run().clean();
        fs::write(fixture.at("plan.json"), &text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let apply = || {
        let run = weigh("clean --from plan.json --apply").within(fixture.path());
        run.env("HOME", fixture.at("home")).run()
    };
    let text = plan();
    let is_there = |name: &str| fixture.at(format!("h/{name}/node_modules/in")).exists();
    let all = || ["a", "b", "c"].iter().filter(|name| is_there(name)).count();
    // Forged, old, of others, for others.
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let origin = json["reclaimable"]["plan"].clone();
    let (time, host) = (origin["time"].as_i64().unwrap(), origin["host"].as_str().unwrap());
    let user = origin["user"].as_u64().unwrap();
    let first = json["reclaimable"]["found"][0]["evidence"].as_str().unwrap();
    for (from, to, said) in [
        (format!("\"time\":{time}"), format!("\"time\":{}", time - 90_000), "older than a day"),
        (format!("\"time\":{time}"), format!("\"time\":{}", time + 9_000), "from the future"),
        (format!("\"user\":{user}"), format!("\"user\":{}", user + 1), "another user"),
        (format!("\"host\":\"{host}\""), "\"host\":\"elsewhere\"".into(), "another machine"),
        ("\"reclaimable\"".to_owned(), "\"tree\"".to_owned(), "it is no plan"),
    ] {
        let forged = text.replacen(&from, &to, 1);
        assert_ne!(forged, text, "{from}");
        fs::write(fixture.at("plan.json"), forged).unwrap();
        let run = apply();
        assert_eq!(run.code(), 2, "{said}");
        assert!(run.complaint().contains(said), "{said}: {}", run.complaint());
        assert_eq!(all(), 3, "{said}");
    }
    let of_others = |mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        fs::write(fixture.at("plan.json"), &text).unwrap();
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(fixture.at("plan.json"), mode).unwrap();
    };
    for mode in [0o622, 0o660, 0o602] {
        of_others(mode);
        let run = apply();
        assert_eq!(run.code(), 2);
        assert!(run.complaint().contains("others may write to it"), "{}", run.complaint());
        assert_eq!(all(), 3);
    }
    of_others(0o600);
    // Another rule, inode or evidence is no entry of it.
    for (from, to) in [
        ("\"npm-packages\"", "\"pip-cache\""),
        ("\"inode\":", "\"inode\":1"),
        (first, &*"0".repeat(64)),
    ] {
        fs::write(fixture.at("plan.json"), text.replace(from, to)).unwrap();
        let run = apply();
        assert_eq!(run.code(), 1, "{from}");
        let gone = if from == first { 1 } else { 3 };
        assert!(all() >= gone, "{from}");
        if from == first {
            break;
        }
    }
    let (before, text) = (all(), plan());
    assert!(before > 0 && text.contains("evidence"));
    // One is changed, one is new, and the rest goes.
    project(&fixture, "new");
    let fixture_new = fixture.at("h/new");
    for (path, _) in entries_at(&fixture_new) {
        let time = std::time::SystemTime::now() - Duration::from_secs(40 * 86_400);
        fs::File::open(path).unwrap().set_modified(time).unwrap();
    }
    let changed = ["a", "b", "c"].into_iter().find(|name| is_there(name)).unwrap();
    let file = fixture.at(format!("h/{changed}/node_modules/in/lib/b"));
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "mine").unwrap();
    fs::File::open(&file).unwrap().set_modified(modified).unwrap();
    let run = apply();
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &run.complaint();
    assert_eq!(run.code(), 1, "{said}");
    assert!(said.contains("it is not as the plan says"), "{said}");
    assert_eq!((all(), is_there(changed), is_there("new")), (1, true, true), "{said}");
    // Nor is it consent to other PATHs.
    let run = weigh("clean --from plan.json --apply h").within(fixture.path());
    assert_eq!(run.env("HOME", fixture.at("home")).run().code(), 2);
}

#[test]
fn entries_go_into_the_trash_and_out_of_it() {
    let fixture = Fixture::new().dir("home").dir("h");
    project(&fixture, "p");
    project(&fixture, "q");
    let fixture = aged(fixture);
    let asking = Asking::new_for("--apply --trash", "trash: ", &fixture);
    // It would go with everything in it.
    write(fixture.at("h/q/node_modules/in/new"), "mine");
    let (status, said) = asking.agree();
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("kept 1: ") && said.contains("changed since the question"), "{said}");
    let trash = fixture.at("home/.local/share/Trash");
    assert!(
        trash.join("files/node_modules/in/a").exists() && !fixture.at("h/p/node_modules").exists()
    );
    assert!(trash.join("info/node_modules.trashinfo").exists());
    assert_eq!(fs::read_to_string(fixture.at("h/q/node_modules/in/new")).unwrap(), "mine");
}

/// What was typed before the question is no answer; a plan needs rules that come with weigh; and only the command line
/// widens what goes.
#[test]
fn nobody_consents_by_accident() {
    let fixture = Fixture::new().dir("home").dir("h");
    project(&fixture, "p");
    let fixture = aged(fixture);
    let all = entries_at(&fixture.at("h")).len();
    let is_whole = || entries_at(&fixture.at("h")).len() == all;
    let mut terminal = Terminal::new();
    terminal.type_in(b"10\r");
    let child = clean("--apply", &fixture).on(&terminal).spawn();
    terminal.until("permanently: ");
    terminal.type_in(b"n\r");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(1));
    assert!(is_whole());
    // The list has to be seen, and all of it.
    let terminal = Terminal::new();
    let run = clean("--apply -n 1", &fixture).on(&terminal).spawn();
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(2));
    // A rule of the user's own in a plan, and settings.
    write(fixture.at("h/Documents/thesis"), "mine");
    let fixture = aged(fixture);
    let rule = "older = '0h'\n[[rule]]\nname = 'docs'\nwhat = 'docs'\nback = 'x'\nhand = 'x'\n\
        at = ['Documents']\nhas = ['*']\n";
    fs::write(fixture.at("rules.toml"), rule).unwrap();
    let plan = clean("--config rules.toml --only docs -j", &fixture).run();
    fs::write(fixture.at("plan.json"), &plan.stdout).unwrap();
    assert!(String::from_utf8_lossy(&plan.stdout).contains("Documents"));
    let run = weigh("clean --config rules.toml --from plan.json --apply").within(fixture.path());
    let run = run.env("HOME", fixture.at("home")).run();
    assert_eq!(run.code(), 1, "{}", run.complaint());
    assert!(fixture.at("h/Documents/thesis").exists());
    // Git begins to track something while the question waits.
    let asking = Asking::new("--apply --only npm", &fixture);
    git(&fixture, &fixture.at("h/p"), &["init", "-q"]);
    git(&fixture, &fixture.at("h/p"), &["add", "-f", "node_modules/in/a"]);
    let (status, said) = asking.agree();
    assert_eq!(status, Some(1), "{said}");
    assert!(fixture.at("h/p/node_modules/in/a").exists(), "{said}");
}

/// A thread that works in a directory of its own, and a first thread that has ended, use what they use.
#[test]
fn what_a_thread_uses_stays() {
    let fixture = Fixture::new().dir("home").dir("h");
    project(&fixture, "p");
    let fixture = aged(fixture);
    let script = "import os, threading, time, ctypes\n\
        def work():\n    ctypes.CDLL(None).unshare(0x200)\n    os.chdir('h/p/node_modules/in')\n\
        \x20   open('/proc/self/comm').read(); print('ready', flush=True); time.sleep(600)\n\
        threading.Thread(target=work).start()\n";
    let mut child = Command::new("python3")
        .args(["-c", script])
        .current_dir(fixture.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 5];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let json = clean("-j", &fixture).run().json();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(json["reclaimable"]["found"].as_array().unwrap().len(), 0, "{json}");
    assert!(json.to_string().contains("in use by python3"), "{json}");
}

/// With hidepid=1, other users' processes are listed, and nobody else may open their directories.
#[test]
#[ignore = "needs root and mounts proc"]
fn processes_that_may_not_be_looked_at_are_counted() {
    let fixture = Fixture::new().dir("home").dir("h");
    project(&fixture, "p");
    let fixture = aged(fixture);
    let program = fixture.at("weigh");
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_weigh")).arg(&program).status();
    assert!(copied.unwrap().success());
    let owned = Command::new("chown").args(["-R", "65534:65534"]).arg(fixture.path()).status();
    assert!(owned.unwrap().success());
    let mut terminal = Terminal::new();
    let by_nobody = "mount -t proc -o hidepid=1 none /proc\n\
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" \"$@\"";
    let run = clean("--apply", &fixture).replaced_by(program).on(&terminal);
    let run = run.under(["unshare", "--mount", "--propagation", "private", "sh", "-ec", by_nobody]);
    let child = run.spawn();
    let shown = terminal.until("permanently: ");
    terminal.type_in(b"\r");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(1));
    let unseen = " processes could not be asked what they use";
    assert!(shown.contains(unseen), "{shown}");
    // A plan asks nothing, so a note says it.
    let plan = "mount -t proc -o hidepid=1 none /proc\n\
        setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'umask 077; \"$0\" clean -j h >plan.json; \
        \"$0\" clean --from plan.json --apply' \"$0\"";
    let run = weigh("").replaced_by(fixture.at("weigh")).within(fixture.path());
    let run = run.env("HOME", fixture.at("home")).env("PATH", "/usr/bin:/bin");
    let run =
        run.under(["unshare", "--mount", "--propagation", "private", "sh", "-ec", plan]).run();
    assert!(run.complaint().contains(unseen), "{}", run.complaint());
}

/// A plan of what was written today does not go by itself, and weigh says what is missing.
#[test]
fn a_plan_of_what_was_written_today_names_the_flag_that_it_needs() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new().dir("home").dir("h");
    project(&fixture, "a");
    fs::write(fixture.at("plan.json"), clean("-j --older 0h", &fixture).run().clean()).unwrap();
    fs::set_permissions(fixture.at("plan.json"), fs::Permissions::from_mode(0o600)).unwrap();
    let apply = |flags: &str| {
        let run = weigh("clean --from plan.json --apply").args(flags.split_whitespace());
        run.within(fixture.path()).env("HOME", fixture.at("home")).run()
    };
    let run = apply("");
    assert_eq!(run.code(), 1);
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("it was written lately: --older 0h includes it"), "{text}");
    assert_eq!(apply("--older 0h").code(), 0);
    assert!(!fixture.at("h/a/node_modules").exists());
}

/// Without `--apply`, a plan is shown: what of it would go now, and why the rest would not. Nothing else is listed.
#[test]
fn a_plan_is_shown_before_it_is_applied() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new().dir("home").dir("h");
    for name in ["a", "b", "c"] {
        project(&fixture, name);
    }
    let fixture = aged(fixture);
    let all: serde_json::Value =
        serde_json::from_slice(&clean("-j", &fixture).run().clean()).unwrap();
    let mut plan = all.clone();
    let is_named = |one: &serde_json::Value| !one["path"].as_str().unwrap().contains("/c/");
    plan["reclaimable"]["found"].as_array_mut().unwrap().retain(is_named);
    fs::write(fixture.at("plan.json"), plan.to_string()).unwrap();
    fs::set_permissions(fixture.at("plan.json"), fs::Permissions::from_mode(0o600)).unwrap();
    let show = || {
        let run = weigh("clean --from plan.json").within(fixture.path());
        run.env("HOME", fixture.at("home")).run()
    };
    let text = String::from_utf8(show().clean()).unwrap();
    assert!(text.starts_with("Nothing was removed.\n"), "{text}");
    let is_shown = |text: &str, name: &str| text.contains(&format!("h/{name}/node_modules"));
    let names = ["a", "b", "c"].map(|name| is_shown(&text, name));
    assert_eq!(names, [true, true, false], "{text}");
    assert!(text.contains("weigh clean --apply --from plan.json\n"), "{text}");
    write(fixture.at("h/a/node_modules/in/new"), "x");
    let run = show();
    assert_eq!(run.code(), 1);
    let said = run.complaint();
    assert!(said.contains("h/a/node_modules would be kept: it was written lately"), "{said}");
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(["a", "b", "c"].map(|name| is_shown(&text, name)), [false, true, false], "{text}");
    assert!(fixture.at("h/b/node_modules/in").exists());
}

/// Slow storage is read in small portions. Once, the second look lost whatever came after the first of them in its
/// directory: nobody asked whose that was, and directories "had changed" that nobody had touched.
#[test]
#[ignore = "needs strace"]
fn slow_storage_shows_the_same_evidence() {
    let fixture = Fixture::new().dir("home").dir("h");
    for number in 0..10 {
        project(&fixture, &format!("p{number}"));
        for file in 0..20 {
            write(fixture.at(format!("h/p{number}/node_modules/in/many/{file}")), "x");
        }
    }
    let fixture = aged(fixture);
    let slow = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=statx:delay_enter=2000"];
    let found = |run: Weigh| run.run().json()["reclaimable"]["found"].clone();
    let (all, all_slowly) =
        (found(clean("-j", &fixture)), found(clean("-j", &fixture).under(slow)));
    assert_eq!(all.as_array().unwrap().len(), 10);
    assert_eq!(all_slowly, all);
}

/// To the block, also where files have other links.
#[test]
#[ignore = "mounts a tmpfs and an ext4 image"]
fn as_much_comes_free_as_was_announced() {
    for place in [Mounted::tmpfs(), Mounted::ext4()] {
        // The log is elsewhere.
        let (fixture, state) = (Fixture::within(place.path()).dir("h"), Fixture::new());
        for number in 0..40 {
            let name = format!("p{number}");
            project(&fixture, &name);
            let at = |path: &str| fixture.at(format!("h/{name}/node_modules/in/{path}"));
            write(at("large"), &"x".repeat(7_777 * number));
            match number % 3 {
                0 => fs::hard_link(at("large"), fixture.at(format!("kept {number}"))).unwrap(),
                1 => fs::hard_link(at("large"), at("lib/large")).unwrap(),
                _ => {}
            }
        }
        fs::hard_link(fixture.at("h/p2/node_modules/in/a"), fixture.at("h/p5/node_modules/in/b"))
            .unwrap();
        let fixture = aged(fixture);
        let run = || clean("--apply", &fixture).env("XDG_STATE_HOME", state.path());
        let json = clean("-j", &fixture).run().json();
        let before = place.free();
        let (status, said) = Asking::of(run(), "permanently: ").agree();
        assert_eq!(status, Some(0), "{said}");
        let list = &json["reclaimable"];
        assert_eq!(list["found"].as_array().unwrap().len(), 40);
        assert_eq!(list["frees_most"].as_u64(), Some(place.free() - before), "{said}");
    }
}

/// What a file system has free, once it is done with what was removed: btrfs frees in the background.
fn settled(path: &Path) -> u64 {
    let mut last = Vec::new();
    while last.len() < 5 || last[last.len() - 5..].iter().any(|one| *one != last[last.len() - 1]) {
        last.push(mounted::free(path));
        std::thread::sleep(Duration::from_millis(100));
    }
    last[last.len() - 1]
}

/// Within 1 % on XFS and btrfs, also where files are clones of each other. If they may be clones of files elsewhere, less
/// comes free: `--frees` has bounds, and the last line says "at most".
#[test]
#[ignore = "mounts XFS and btrfs images"]
fn about_as_much_comes_free_where_files_may_share_space() {
    for (mkfs, clones) in ["mkfs.xfs", "mkfs.btrfs"]
        .into_iter()
        .flat_map(|mkfs| ["none", "inside", "outside"].map(|clones| (mkfs, clones)))
    {
        let place = Mounted::image(mkfs, 512 << 20);
        let (fixture, state) = (Fixture::within(place.path()).dir("h").dir("kept"), Fixture::new());
        for number in 1..=12 {
            let name = format!("p{number}");
            project(&fixture, &name);
            let at = |path: &str| fixture.at(format!("h/{name}/node_modules/in/{path}"));
            write(at("large"), &"x".repeat(700_000 * number));
            let clone = match clones {
                "inside" if number % 2 == 0 => at("lib/large"),
                "outside" if number % 2 == 0 => fixture.at(format!("kept/{number}")),
                _ => continue,
            };
            let mut copy = Command::new("cp");
            copy.arg("--reflink=always").arg(at("large")).arg(clone);
            assert!(copy.status().unwrap().success());
        }
        let fixture = aged(fixture);
        let flags = if clones == "none" { "" } else { "--frees" };
        let plan = clean(&format!("-q -j {flags}"), &fixture).run();
        fs::write(state.at("plan.json"), &plan.stdout).unwrap();
        let json = plan.json();
        let [least, most] =
            ["frees_least", "frees_most"].map(|it| json["reclaimable"][it].as_u64().unwrap());
        let before = settled(place.path());
        let run = weigh("clean --apply").args(flags.split_whitespace()).arg("--from");
        let run = run.arg(state.at("plan.json")).within(fixture.path());
        let run = run.env("HOME", fixture.at("home")).env("XDG_STATE_HOME", state.path()).run();
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        assert_eq!(run.code(), 0, "{said}{}", run.complaint());
        let freed = settled(place.path()) - before;
        let what = format!("{mkfs}, clones {clones}: {least} to {most}, freed {freed}\n{said}");
        eprintln!("{what}");
        let room = most / 100;
        assert!(least <= freed + room && freed <= most + room, "{what}");
        assert!(clones == "outside" || freed + room >= most, "{what}");
        assert_eq!(said.contains("freed at most"), flags.is_empty(), "{what}");
    }
}
