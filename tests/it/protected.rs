//! What is never deleted, by whatever mounts it is reached: roots, homes, mount points, and what holds them. And that
//! nothing is deleted without the log, which only the user chooses.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive, unmount};

use crate::dice::Dice;
use crate::fixture::{Fixture, entries_at};
use crate::pty::Terminal;
use crate::removal::{
    Fate, Manner, ProtectedPaths, Scanned, Target, UserDirectories, look, remove, reviewed,
};
use crate::rounds::rounds;
use crate::run::weigh;
use crate::session;

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
    terminal.delete(1);
    // Draws everything again.
    terminal.type_until(b"", text);
}

fn quit(mut terminal: Terminal, mut child: Child) {
    terminal.type_in(b"q");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A home, and a file beside it, so that they do not share a line.
fn with_a_home() -> Fixture {
    let fixture = Fixture::new().file("data/homes/u/file", 10).file("data/homes/v", 10);
    fixture.file("data/other", 10)
}

/// `..` was another directory once this one was in the trash, whose content was then listed in its place; or it was none
/// once this one was deleted.
#[test]
fn the_working_directory_is_not_marked_where_a_root_begins_there() {
    let fixture = Fixture::new().file("tree/around/here/file", 10).file("tree/around/z", 10);
    let fixture = fixture.file("tree/other", 10).dir("home");
    let mut terminal = Terminal::new();
    let run = weigh("--ui").arg("../..").within(fixture.at("tree/around/here"));
    let child = run.env("HOME", fixture.at("home")).on(&terminal).spawn();
    terminal.wait_for("other");
    mark(&mut terminal, "around", "the working directory lies in it");
    terminal.type_in(b"n\r");
    mark(&mut terminal, "here", "it is the working directory");
    quit(terminal, child);
}

/// A home that is a bind mount of a directory in what is scanned was deleted with the directory that holds that.
#[test]
#[ignore = "needs root"]
fn a_home_that_is_a_bind_mount_of_what_is_scanned_is_not_marked() {
    let fixture = with_a_home().dir("home");
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
    let fixture = Fixture::new().file("first/sub/x/file", 10).file("first/sub/z", 10);
    let fixture = fixture.file("first/z", 10).dir("second").dir("home");
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
    let fixture = Fixture::new().file("A/x/m/file", 10).file("A/x/z", 10).file("A/other", 10);
    let fixture = fixture.dir("B").dir("home");
    let mut terminal = Terminal::new();
    let mounts = "mount --bind A B; mount -t tmpfs none A/x/m";
    let child = screen(&fixture, mounts, Some("home"), "B", &terminal);
    terminal.wait_for("other");
    mark(&mut terminal, "x", "something is mounted in it");
    quit(terminal, child);
}

/// It was said to be a mount point.
#[test]
#[ignore = "needs root and loop devices"]
fn a_subvolume_is_not_marked_and_is_called_one() {
    let fixture = Fixture::new().dir("top").dir("home");
    let mut terminal = Terminal::new();
    let mounts = "truncate -s 200M disk; mkfs.btrfs -q disk; mount -o loop disk top; mkdir top/d; \
                  btrfs -q subvolume create top/d/sub; touch top/d/file top/other";
    let child = screen(&fixture, mounts, Some("home"), "top", &terminal);
    terminal.wait_for("other");
    mark(&mut terminal, "d", "another subvolume or device lies in it");
    terminal.type_in(b"n\r");
    mark(&mut terminal, "sub", "it is another subvolume or device");
    quit(terminal, child);
}

/// The mounts of another namespace are not listed. There, only the inode tells the home.
#[test]
#[ignore = "needs root"]
fn a_home_that_is_seen_in_another_namespace_is_not_marked() {
    let fixture = with_a_home();
    let other = "unshare --mount --propagation private sh -c 'echo > ready; exec sleep 60' & \
                 ln -s /proc/$!/root$PWD/data seen; while ! [ -e ready ]; do sleep 0.01; done";
    let mut terminal = Terminal::new();
    let child = screen(&fixture, other, Some("data/homes/u"), "seen/.", &terminal);
    terminal.wait_for("other");
    mark(&mut terminal, "homes", "it holds your home directory");
    quit(terminal, child);
}

/// People's homes are protected from root: those that a symlink leads to, too. Nothing is asked of a home on storage
/// that may not answer.
#[test]
#[ignore = "needs root"]
fn homes_of_others_on_what_is_scanned_are_not_marked() {
    let fixture = with_a_home()
        .file("data/service/file", 10)
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
    terminal.type_until(b"D", "ever?");
    terminal.type_in(b"\x1b\x1b");
    quit(terminal, child);
    let trace = fixture.text("trace");
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
        let directories = UserDirectories::of(|name| (name == "HOME").then(|| home.clone()));
        let refused = directories.check_log().unwrap_err().to_string();
        assert_eq!(refused, format!("no log: {why}"), "{what}");
        let mut terminal = Terminal::new();
        let child = screen(&fixture, ":", Some("home"), "tree", &terminal);
        terminal.wait_for("other");
        terminal.type_in(b"+first\rd");
        terminal.type_until(b"D", "none of them can be removed");
        terminal.type_in(b"\x1b\x1b");
        quit(terminal, child);
        assert!(fixture.at("tree/first").exists(), "{what}");
        assert_eq!(fixture.bytes("victim"), b"wwwwwww", "{what}");
        assert!(!fixture.at("etc/deleted.ndjson").exists(), "{what}");
    }
}

/// Where the other process mounts; set there only.
const MOUNTED: &str = "WEIGH_TEST_MOUNTED";

/// Directories and files in `world`, of which `view` is a bind mount without what is mounted in it. Every entry is
/// called by its path in `view`, by whatever mounts it is reached.
struct World {
    top: PathBuf,
    dice: Dice,
    /// By inode.
    names: BTreeMap<u64, PathBuf>,
    mounts: Vec<PathBuf>,
    protected: BTreeSet<PathBuf>,
    roots: Vec<PathBuf>,
    homes: Vec<PathBuf>,
}

impl World {
    fn new(top: &Path, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut directories = vec![top.join("world")];
        for serial in 0..8 + dice.below(20) {
            let directory = dice.of(&directories).join(format!("d{serial}"));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(format!("f{serial}")), "some").unwrap();
            directories.push(directory);
        }
        for outside in ["view", "home", "root", "other"] {
            fs::create_dir_all(top.join(outside)).unwrap();
        }
        fs::write(top.join("passwd"), "").unwrap();
        let mut world = Self {
            top: top.to_owned(),
            dice,
            names: BTreeMap::new(),
            mounts: Vec::new(),
            protected: BTreeSet::new(),
            roots: vec![top.join("world"), top.join("root")],
            homes: vec![top.join("home")],
        };
        world.bind("world", "view");
        world.names = world.left();
        world
    }

    /// All that is left, by inode.
    fn left(&self) -> BTreeMap<u64, PathBuf> {
        let entries = entries_at(&self.top.join("view"));
        entries.into_iter().map(|(path, stat)| (stat.ino(), path)).collect()
    }

    fn name(&self, path: &Path) -> Option<PathBuf> {
        self.names.get(&fs::symlink_metadata(path).ok()?.ino()).cloned()
    }

    /// Any directory in the world, by any mounts.
    fn directory(&mut self) -> PathBuf {
        let mut at = self.top.join("world");
        loop {
            let mut inside: Vec<_> =
                fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path()).collect();
            inside.retain(|path| path.is_dir());
            inside.sort();
            if inside.is_empty() || at.ends_with("world") == (self.dice.below(3) == 0) {
                return at;
            }
            at = self.dice.of(&inside).clone();
        }
    }

    fn bind(&mut self, from: impl AsRef<Path>, to: impl AsRef<Path>) {
        let (from, to) = (self.top.join(from), self.top.join(to));
        self.protected.extend(self.name(&to));
        match self.dice.below(3) {
            0 => mount_bind_recursive(from, &to).unwrap(),
            _ => mount_bind(from, &to).unwrap(),
        }
        self.mounts.push(to);
    }

    /// Mounts anything anywhere, and chooses a root and homes: directories of the world, or elsewhere bind mounts of
    /// them, as they must be if it `is_late`, when these paths are known.
    fn arrange(&mut self, is_late: bool) {
        for _ in 0..self.dice.below(5) {
            let (from, to) = (self.directory(), self.directory());
            if to.ends_with("world") {
                continue;
            }
            if self.dice.below(6) == 0 {
                self.protected.extend(self.name(&to));
                mount("none", &to, "tmpfs", MountFlags::empty(), None).unwrap();
                self.mounts.push(to);
            } else {
                self.bind(from, to);
            }
        }
        let [home, root, other] = ["home", "root", "other"].map(|outside| {
            let directory = self.directory();
            self.protected.extend(self.name(&directory));
            if self.dice.below(2) == 0 && (!is_late || outside == "other") {
                return directory;
            }
            self.bind(&directory, outside);
            self.top.join(outside)
        });
        let service = self.directory();
        (self.homes, self.roots) = (vec![home], vec![self.top.join("world"), root]);
        let line = |home: &Path, id| format!("u:x:{id}:{id}::{}:/bin/sh\n", home.display());
        let passwd = line(&other, 1000) + &line(&service, 999);
        fs::write(self.top.join("passwd"), passwd).unwrap();
    }

    fn paths(&self) -> Arc<ProtectedPaths> {
        let real = |path: &PathBuf| path.canonicalize().unwrap();
        let (roots, homes) = (self.roots.iter().map(real).collect(), self.homes.clone());
        Arc::new(ProtectedPaths { roots, homes, working: None })
    }

    /// Whether the entry at `path` must be kept.
    fn is_protected(&self, path: &Path) -> bool {
        let stat = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS).unwrap();
        let is_mounted = stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
        let name = self.name(path);
        is_mounted
            || name.is_none_or(|name| self.protected.iter().any(|kept| kept.starts_with(&name)))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for mount in self.mounts.iter().rev() {
            unmount(mount, UnmountFlags::DETACH).unwrap();
        }
        fs::remove_dir_all(self.top.join("world")).unwrap();
    }
}

/// Deletes at random. With `is_late`, everything is mounted after the review.
fn round(top: &Path, seed: u64, is_late: bool) -> (usize, usize) {
    let mut world = World::new(top, seed);
    if !is_late {
        world.arrange(false);
    }
    let what = |path: &Path| format!("seed {seed}, late {is_late}: {}", path.display());
    let paths = world.paths();
    let mut known: Vec<(PathBuf, Target)> = Vec::new();
    for (path, looked) in reviewed(&world.roots, &paths) {
        let is_root = world.roots.contains(&path);
        let is_kept = is_root || world.is_protected(&path);
        assert_eq!(looked.is_err(), is_kept, "{}: {:?}", what(&path), looked.err());
        known.extend(looked.ok().map(|target| (path, target)));
    }
    if !is_late {
        marked_on_screen(&mut world, &what);
    }
    let mut chosen: Vec<(PathBuf, bool, Target)> = Vec::new();
    for _ in 0..3.min(known.len()) {
        let number = world.dice.below(known.len());
        let (path, target) = known.swap_remove(number);
        let name = world.name(&path).unwrap();
        let meets = |(other, ..): &(PathBuf, bool, Target)| {
            other.starts_with(&name) || name.starts_with(other)
        };
        if !chosen.iter().any(meets) {
            chosen.push((name, false, target));
        }
    }
    if is_late {
        world.arrange(true);
        for (name, is_kept, _) in &mut chosen {
            *is_kept = world.protected.iter().any(|kept| kept.starts_with(&*name));
        }
    }
    let directories = UserDirectories::of(|name| (name == "HOME").then(|| top.join("log")));
    let kept: Vec<_> = chosen.iter().map(|(name, is_kept, _)| (name.clone(), *is_kept)).collect();
    let targets: Vec<_> = chosen.into_iter().map(|(.., target)| target).collect();
    let removed =
        remove(&targets, Manner::Delete, &directories, &mut |_| ControlFlow::Continue(()));
    let mut expected = world.names.clone();
    let (mut deleted, mut refused) = (0, 0);
    for ((name, is_kept), outcome) in kept.into_iter().zip(&removed.outcomes) {
        match outcome.fate {
            Fate::Deleted => {
                assert!(!is_kept, "{}", what(&name));
                expected.retain(|_, it| !it.starts_with(&name));
                deleted += 1;
            }
            // What is mounted on its directory keeps it, too.
            Fate::Kept => {
                assert!(is_kept || is_late, "{}: {outcome:?}", what(&name));
                refused += 1;
            }
            _ => panic!("{}: {outcome:?}", what(&name)),
        }
    }
    assert_eq!(world.left(), expected, "seed {seed}, late {is_late}: {removed:#?}");
    (deleted, refused)
}

/// Marks whatever can be marked.
fn marked_on_screen(world: &mut World, what: &impl Fn(&Path) -> String) {
    let mut browser = session::of(&world.roots).homes(world.homes.clone()).lines(54).open();
    for _ in 0..60 {
        browser.press(world.dice.of::<&str>(&["A", "→", "→", "↓", "↓", "h"]));
    }
    for path in browser.marked() {
        assert!(!world.is_protected(&path), "marked: {}", what(&path));
    }
}

/// With bind mounts of homes, roots, and directories above and below them, before and after the review, nothing goes
/// but what was marked and holds none of them.
#[test]
#[ignore = "mounts"]
fn with_bind_mounts_in_every_place_only_what_was_confirmed_goes() {
    const NAME: &str = "protected::with_bind_mounts_in_every_place_only_what_was_confirmed_goes";
    let Some(top) = std::env::var_os(MOUNTED) else {
        let fixture = Fixture::in_memory().dir("log").file("passwd", 0);
        let script = "mount --bind passwd /etc/passwd; exec \"$0\" \"$@\"";
        let status = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-ec", script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--include-ignored", "--nocapture"])
            .current_dir(fixture.path())
            .env(MOUNTED, fixture.path())
            .status();
        assert!(status.unwrap().success());
        return;
    };
    let (mut deleted, mut refused) = (0, 0);
    for seed in 0..rounds(25, 500) as u64 {
        for is_late in [false, true] {
            let (gone, kept) = round(Path::new(&top), seed, is_late);
            (deleted, refused) = (deleted + gone, refused + kept);
        }
    }
    eprintln!("{deleted} deleted, {refused} kept");
    assert!(deleted > 20 && refused > 10);
}

/// Docker's storage in `D`, with a volume; and a home.
fn docker() -> Fixture {
    let parts = ["overlay2", "image", "containers", "network", "buildkit", "volumes/v/_data"];
    let fixture = Fixture::new().dir("home").file("D/volumes/v/_data/db", 10);
    parts.iter().fold(fixture, |fixture, part| fixture.dir(format!("D/{part}")))
}

/// Types `keys` to delete the volume's file, and asserts that it is refused, because it is in a storage.
fn assert_kept(fixture: &Fixture, mounts: &str, arguments: &str, keys: &str) {
    let mut terminal = Terminal::new();
    let child = screen(fixture, mounts, Some("home"), arguments, &terminal);
    // During the scan, an entry can be marked that then loses its mark. So they are typed again.
    terminal.wait_for("delete…");
    terminal.type_until(keys.as_bytes(), "'s storage");
    terminal.type_in(b"D1\r\x1b\x1b\x1b");
    quit(terminal, child);
}

/// Each was deleted.
#[test]
#[ignore = "needs root"]
fn a_volume_is_kept_by_whatever_mount_it_is_reached() {
    let keeps = |mounts: &str, arguments: &str| {
        let fixture = docker().dir("m").dir("n").dir("old").file("m/unseen", 1);
        assert_kept(&fixture, mounts, arguments, " d");
        assert!(fixture.at("D/volumes/v/_data/db").exists(), "{mounts}");
    };
    keeps("mount --bind D/volumes/v/_data m", "m");
    // The directories around the volume are on two file systems.
    keeps(
        "mount -t tmpfs none n; mkdir -p n/v/_data; touch n/v/_data/db; mount --bind n D/volumes; \
         mount --bind n/v/_data m",
        "m",
    );
    // Nothing but the path in its file system is left to tell.
    keeps(
        "mount -t tmpfs none old; d=old/var/lib/docker/volumes/v/_data; mkdir -p $d; touch $d/db; \
         mount --bind $d m; umount old",
        "m",
    );
    keeps(
        "mount -t tmpfs none old; d=old/docker/volumes/v/_data; mkdir -p $d; touch $d/db; \
         mount --bind $d m; umount old",
        "m",
    );
}

/// What only looks like one is no storage: homes are often mounted so.
#[test]
#[ignore = "needs root"]
fn a_directory_of_which_only_a_part_is_mounted_is_deleted() {
    let fixture = Fixture::new().dir("home").dir("old").dir("m");
    let mut terminal = Terminal::new();
    let mounts = "mount -t tmpfs none old; mkdir -p old/data/storage/u; \
                  touch old/data/storage/u/db old/data/storage/u/other; \
                  mount --bind old/data/storage/u m; umount old";
    let child = screen(&fixture, mounts, Some("home"), "m", &terminal);
    terminal.wait_for("other");
    delete(&mut terminal, "db", "1 deleted");
    quit(terminal, child);
}

/// A filter, `-x` and many other directories hid the storage's layout: so each was deleted.
#[test]
#[ignore = "needs root"]
fn a_volume_is_kept_if_the_scan_did_not_see_its_storage() {
    let parts =
        "for d in overlay2 image containers network buildkit; do mount -t tmpfs x D/$d; done";
    for (mounts, arguments) in [
        (":", "-e volumes/ D"),
        (parts, "-x D"),
        ("for i in `seq 300`; do mkdir D/a$i D/z$i; done", "-e volumes/ D"),
        ("for i in `seq 300`; do mkdir D/a$i D/z$i; done", "D"),
    ] {
        let fixture = docker();
        assert_kept(&fixture, mounts, arguments, " d");
        assert!(fixture.at("D/volumes/v/_data/db").exists(), "{mounts} {arguments}");
    }
}

/// They are known by their paths, whatever is in them.
#[test]
#[ignore = "needs root"]
fn the_usual_storages_are_kept() {
    const STORAGES: [&str; 6] =
        ["docker", "containers/storage", "containerd", "rancher/k3s", "lxc", "incus"];
    for storage in STORAGES {
        let (top, storage) = (storage.split('/').next().unwrap(), format!("/var/lib/{storage}"));
        let fixture = Fixture::new().dir("home");
        let mounts = format!(
            "mount -t tmpfs x /var/lib; mkdir -p {storage}/odd; touch {storage}/odd/db {storage}/z"
        );
        let mut terminal = Terminal::new();
        let child = screen(&fixture, &mounts, Some("home"), "/var/lib", &terminal);
        terminal.wait_for(top);
        terminal.type_until(b" ", "engine's storage");
        quit(terminal, child);
    }
    let fixture = STORAGES
        .iter()
        .fold(Fixture::new().file("tree/u/.local/share/other/f", 1), |fixture, storage| {
            fixture.file(format!("tree/u/.local/share/{storage}/odd/f"), 1)
        });
    let scanned = Scanned::new(&fixture.at("tree"), &fixture.at("tree/u"));
    for storage in STORAGES {
        for (name, why) in [
            (format!("{storage}/odd"), "it is in a container engine's storage"),
            (format!("{storage}/odd/f"), "it is in a container engine's storage"),
            (storage.to_owned(), "it is in a container engine's storage"),
        ] {
            let mut targets = scanned.unreviewed(&[&*format!("u/.local/share/{name}")]);
            assert_eq!(look(&mut targets[0]).unwrap_err().to_string(), why, "{name}");
        }
    }
    look(&mut scanned.unreviewed(&["u/.local/share/other"])[0]).unwrap();
    let why = look(&mut scanned.unreviewed(&["u/.local/share"])[0]).unwrap_err();
    assert_eq!(why.to_string(), "a container engine's storage lies in it");
}

/// `D` on what is around a storage: a filter leaves out the directories that tell it, or with `-x` they are mounted.
#[test]
#[ignore = "needs root"]
fn a_storage_below_what_is_marked_is_kept_if_the_scan_did_not_see_it() {
    let names = ["overlay2", "image", "containers", "network", "buildkit"];
    let each = |flag: &str| names.map(|name| format!("{flag} {name} ")).concat();
    for (mounts, arguments, number) in [
        (":", each("-X"), Some(8)),
        (":", each("--exclude"), Some(8)),
        (":", "--exclude overlay2 --exclude image --exclude containers ".to_owned(), Some(10)),
        ("mount --bind kept/D u/in", "-x ".to_owned(), None),
        ("mount -t tmpfs none kept/D/volumes/v", "-x ".to_owned(), None),
    ] {
        let fixture = docker().dir("u/in").dir("kept").file("u/other", 10).file("z", 1);
        let around = if mounts.contains("u/in") { "kept" } else { "u/in" };
        fs::rename(fixture.at("D"), fixture.at(around).join("D")).unwrap();
        let mounts = mounts.replace("kept/D/volumes", "u/in/D/volumes");
        let mut terminal = Terminal::new();
        let mut child =
            screen(&fixture, &mounts, Some("home"), &format!("{arguments}."), &terminal);
        terminal.wait_for("delete…");
        match number {
            None => mark(&mut terminal, "u", "in it"),
            Some(number) => {
                terminal.type_in(b"+u\rd");
                terminal.delete(number);
                terminal.type_until(b"", "'s storage");
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(fixture.at(around).join("D/volumes/v/_data/db").exists(), "{mounts} {arguments}");
        assert_eq!(fixture.at("u/other").exists(), number.is_none(), "{mounts} {arguments}");
    }
}
