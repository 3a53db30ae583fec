//! What is never deleted, by whatever mounts it is reached: roots, homes, mount points, and what holds them. And that
//! nothing is deleted without the log, which only the user chooses.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::ffi::OsString;
use std::fs;
use std::process::Child;

use weigh::remove::Places;

use crate::fixture::Fixture;
use crate::pty::Terminal;
use crate::run::weigh;

/// `weigh --ui ROOTS` on `terminal`, as root within `fixture`, after the shell has done `mounts`, which nobody else
/// sees. Its home is `home`, if there is one.
fn screen(
    fixture: &Fixture,
    mounts: &str,
    home: Option<&str>,
    roots: &str,
    terminal: &Terminal,
) -> Child {
    let script = format!("set -e; {mounts}; exec \"$0\" \"$@\"");
    let under = ["unshare", "--mount", "--propagation", "private", "sh", "-c", &script];
    let mut run = weigh("--ui").args(roots.split(' ')).within(fixture.path()).under(under);
    if let Some(home) = home {
        run = run.env("HOME", fixture.at(home));
    }
    run.env("PATH", OsString::from("/usr/sbin:/usr/bin:/sbin:/bin")).on(terminal).spawn()
}

/// Marks all that are called `name`, until the screen says `text`.
fn mark(terminal: &mut Terminal, name: &str, text: &str) {
    terminal.type_until(format!("+{name}\r").as_bytes(), text);
}

/// Deletes what is called `name`, which is one entry, until the screen says `text`.
fn delete(terminal: &mut Terminal, name: &str, text: &str) {
    terminal.type_in(format!("+{name}\rd").as_bytes());
    // It is refused until the marked entries have been looked at.
    terminal.type_until(b"D", "many");
    terminal.type_in(b"1\r");
    // Draws everything again.
    terminal.type_until(b"", text);
}

fn quit(mut terminal: Terminal, mut child: Child) {
    terminal.type_in(b"q");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A home that is a bind mount of a directory in what is scanned was deleted with the directory that holds that.
#[test]
#[ignore = "needs root"]
fn a_home_that_is_a_bind_mount_of_what_is_scanned_is_not_marked() {
    let fixture = Fixture::new().file("data/homes/u/file", 10).file("data/other", 10).dir("home");
    let mut terminal = Terminal::new();
    let child = screen(&fixture, "mount --bind data/homes/u home", Some("home"), "data", &terminal);
    terminal.wait_for("other");
    mark(&mut terminal, "homes", "it holds your home directory");
    terminal.type_in(b"n\r");
    mark(&mut terminal, "u", "it is your home directory");
    quit(terminal, child);
}

/// A root that is a bind mount of a directory in another root was deleted with the directory that holds that.
#[test]
#[ignore = "needs root"]
fn a_root_that_is_a_bind_mount_of_what_is_in_another_is_not_marked() {
    let fixture = Fixture::new().file("first/sub/x/file", 10).dir("second").dir("home");
    let mut terminal = Terminal::new();
    let child = screen(
        &fixture,
        "mount --bind first/sub/x second",
        Some("home"),
        "first second",
        &terminal,
    );
    terminal.wait_for("second");
    terminal.type_in(b"n\r");
    mark(&mut terminal, "sub", "a root lies in it");
    quit(terminal, child);
}

/// Through a bind mount, what is mounted in the directory itself is not seen.
#[test]
#[ignore = "needs root"]
fn what_holds_a_mount_point_is_not_marked_through_a_bind_mount() {
    let fixture = Fixture::new().file("A/x/m/file", 10).file("A/other", 10).dir("B").dir("home");
    let mut terminal = Terminal::new();
    let mounts = "mount --bind A B; mount -t tmpfs none A/x/m";
    let child = screen(&fixture, mounts, Some("home"), "B", &terminal);
    terminal.wait_for("other");
    mark(&mut terminal, "x", "something is mounted in it");
    quit(terminal, child);
}

/// People's homes are protected from root: those that a symlink leads to, too. Nothing is asked of a home on storage
/// that may not answer.
#[test]
#[ignore = "needs root"]
fn homes_of_others_on_what_is_scanned_are_not_marked() {
    let fixture = Fixture::new()
        .file("data/homes/u/file", 10)
        .file("data/service/file", 10)
        .file("data/other", 10)
        .dir("far")
        .symlink("data/homes", "homes")
        .dir("home");
    let passwd = "mount -t ramfs none far; \
        echo \"root:x:0:0::$PWD/home:/bin/sh
service:x:999:999::$PWD/data/service:/bin/sh
far:x:1001:1001::$PWD/far/u:/bin/sh
u:x:1000:1000::$PWD/homes/u:/bin/sh\" > passwd; mount --bind passwd /etc/passwd";
    let passwd = format!("{passwd}; exec strace -f -o trace -e trace=file \"$0\" \"$@\"");
    let mut terminal = Terminal::new();
    let child = screen(&fixture, &passwd, Some("home"), "data", &terminal);
    terminal.wait_for("other");
    mark(&mut terminal, "homes", "it holds a home directory");
    terminal.type_in(b"+service\rd");
    terminal.type_until(b"D", "many");
    terminal.type_in(b"\x1b\x1b");
    quit(terminal, child);
    let trace = fs::read_to_string(fixture.at("trace")).unwrap();
    assert!(trace.contains("homes/u\"") && !trace.contains("far/"), "{trace}");
}

/// Without HOME no home was protected, and nothing logged.
#[test]
#[ignore = "needs root"]
fn without_a_variable_the_home_is_that_of_the_user_database() {
    let fixture = Fixture::new().file("data/home/file", 10).file("data/other", 10);
    let passwd = "echo \"root:x:0:0::$PWD/data/home:/bin/sh\" > passwd; \
                  mount --bind passwd /etc/passwd";
    let mut terminal = Terminal::new();
    let mut child = screen(&fixture, passwd, None, "data", &terminal);
    terminal.wait_for("other");
    mark(&mut terminal, "home", "it is your home directory");
    delete(&mut terminal, "other", "1 deleted");
    terminal.type_in(b"q");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!fixture.at("data/other").exists());
    let log = fs::read_to_string(fixture.at("data/home/.local/state/weigh/deleted.ndjson"));
    assert_eq!(log.unwrap().lines().count(), 2);
}

/// Nothing is deleted that is not in the log, and the log is no file that another user chooses.
#[test]
#[ignore = "needs root"]
fn root_logs_nothing_where_a_user_chooses_and_deletes_nothing() {
    const LOG: &str = "home/.local/state/weigh/deleted.ndjson";
    let user = 1000;
    let theirs = |fixture: Fixture| {
        ["home", "home/.local", "home/.local/state"]
            .iter()
            .fold(fixture, |fixture, name| fixture.dir(name).owned(name, user))
    };
    let new =
        || theirs(Fixture::new().file("tree/first", 10).file("tree/other", 20).file("victim", 7));
    let weigh_dir = "home/.local/state/weigh";
    let link = |fixture: Fixture, target: &str, name: &str| {
        let fixture = fixture.symlink(target, name);
        std::os::unix::fs::lchown(fixture.at(name), Some(user), Some(user)).unwrap();
        fixture
    };
    let cases: [(&str, &str, Fixture); 7] = [
        ("a symlink in their directory", "it lies in a directory of another user", {
            link(new().dir(weigh_dir).owned(weigh_dir, user), "../../../../victim", LOG)
        }),
        ("a symlink in root's directory", "it is not a regular file", {
            new().dir(weigh_dir).symlink("../../../../victim", LOG)
        }),
        ("a symlink on the way", "a symlink of another user leads to it", {
            link(new().dir("etc"), "../../../etc", weigh_dir)
        }),
        ("a hard link", "it has several hard links", new().dir(weigh_dir).hard_link("victim", LOG)),
        ("their file", "it belongs to another user", {
            new().dir(weigh_dir).file(LOG, 7).owned(LOG, user)
        }),
        ("a pipe", "it is not a regular file", new().dir(weigh_dir).fifo(LOG)),
        ("nothing", "it lies in a directory of another user", new()),
    ];
    for (what, why, fixture) in cases {
        let home = fixture.at("home");
        let places = Places::of(|name| (name == "HOME").then(|| home.clone()));
        let refused = places.check_log().unwrap_err().to_string();
        assert_eq!(refused, format!("no log: {why}"), "{what}");
        let mut terminal = Terminal::new();
        let child = screen(&fixture, ":", Some("home"), "tree", &terminal);
        terminal.wait_for("other");
        terminal.type_in(b"+first\rd");
        terminal.type_until(b"D", "none of them can be removed");
        terminal.type_in(b"\x1b\x1b");
        quit(terminal, child);
        assert!(fixture.at("tree/first").exists(), "{what}");
        assert_eq!(fs::read(fixture.at("victim")).unwrap(), b"wwwwwww", "{what}");
        assert!(!fixture.at("etc/deleted.ndjson").exists(), "{what}");
    }
}
