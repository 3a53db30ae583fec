//! Where a snapshot is saved: standard output is written to, a regular file is replaced and keeps its
//! permissions and its owner, everything else is written to, and a symlink stays one.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::pty::Terminal;
use crate::run::{Shown, Weigh, weigh};

/// The user and the group called nobody.
const NOBODY: u32 = 65534;

fn small() -> Fixture {
    Fixture::new().file("top/big", 70_000).file("top/a/f", 5000).dir("top/empty").dir("place")
}

/// `weigh FLAGS --save`, where the file to save in is still to be named.
fn save(fixture: &Fixture, flags: &str) -> Weigh {
    weigh(&format!("top {flags} --save")).within(fixture.path())
}

/// What is said by a run that a shell starts as `script` has it, where `$0 "$@"` is the program.
fn scripted(fixture: &Fixture, script: &str, flags: &str) -> Shown {
    weigh(flags).within(fixture.path()).under(["/bin/sh", "-c", script]).run()
}

/// The tree is in that snapshot.
fn assert_snapshot(fixture: &Fixture, snapshot: &[u8]) {
    let file = fixture.at("loaded");
    fs::write(&file, snapshot).unwrap();
    let loaded = weigh("-j --from").arg(&file).run().clean();
    let weighed = weigh("-j top").within(fixture.path()).run().clean();
    assert_eq!(String::from_utf8_lossy(&loaded), String::from_utf8_lossy(&weighed));
    fs::remove_file(file).unwrap();
}

fn assert_silent(shown: &Shown) {
    assert_eq!((shown.code(), shown.complaint().as_str()), (0, ""));
}

fn is_symlink(path: &Path) -> bool {
    path.symlink_metadata().unwrap().is_symlink()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

#[test]
fn what_is_saved_to_standard_output_is_all_there_is_on_it() {
    let fixture = small().symlink("/proc/self/fd/1", "link");
    for to in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"] {
        assert_snapshot(&fixture, &save(&fixture, "").arg(to).run().clean());
    }
    // A file that has a name: it is neither replaced, nor written from its start.
    for to in ["-", "link", "named"] {
        let named = fixture.at("named");
        fs::write(&named, "what was there\n").unwrap();
        let inode = named.metadata().unwrap().ino();
        let appending = File::options().append(true).open(&named).unwrap();
        assert_silent(&save(&fixture, "").arg(to).stdout(appending).run());
        assert_eq!(named.metadata().unwrap().ino(), inode, "{to}");
        let content = fs::read(&named).unwrap();
        let saved = content.strip_prefix(b"what was there\n").unwrap();
        assert_snapshot(&fixture, saved);
    }
    // And one that has none any more.
    for to in ["-", "link"] {
        let mut gone = tempfile::tempfile_in(fixture.path()).unwrap();
        assert_silent(&save(&fixture, "").arg(to).stdout(gone.try_clone().unwrap()).run());
        let mut content = Vec::new();
        gone.rewind().unwrap();
        gone.read_to_end(&mut content).unwrap();
        assert_snapshot(&fixture, &content);
    }
    assert!(is_symlink(&fixture.at("link")));
    assert_eq!(fixture.names(""), ["link", "named", "place", "top"]);
}

#[test]
fn standard_output_is_for_one_thing() {
    let fixture = small();
    for flags in ["-j", "--as csv", "--as ndjson", "--as ncdu"] {
        for to in ["-", "/dev/stdout"] {
            let shown = save(&fixture, flags).arg(to).run();
            assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "weigh {flags} --save {to}");
            let complaint = shown.complaint();
            assert!(complaint.contains("save to a file, or leave them out"), "{complaint}");
        }
    }
    // What is not printed there says how it ended all the same.
    let shown = save(&fixture, "--fail-over 1").arg("-").run();
    assert_eq!((shown.code(), shown.complaint().lines().count()), (3, 1));
    assert_snapshot(&fixture, &shown.stdout);
}

#[test]
fn a_terminal_is_shown_no_snapshot() {
    let fixture = small().symlink("/dev/stdout", "link");
    let run = |to| {
        let terminal = Terminal::new();
        let status = save(&fixture, "-P").arg(to).on(&terminal).spawn().wait().unwrap();
        (status.code(), String::from_utf8(terminal.close()).unwrap())
    };
    for to in ["-", "link"] {
        let (code, screen) = run(to);
        assert_eq!(code, Some(2), "{screen}");
        assert!(screen.contains("a snapshot is not written to a terminal"), "{screen}");
    }
}

#[test]
fn a_reader_of_the_snapshot_who_leaves_ends_it_quietly() {
    let fixture = small();
    for to in ["-", "/dev/stdout"] {
        let mut child = save(&fixture, "").arg(to).spawn();
        drop(child.stdout.take().unwrap());
        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert_eq!((child.wait().unwrap().code(), complaint.as_str()), (Some(0), ""), "{to}");
    }
}

#[test]
fn a_symlink_stays_one() {
    let fixture = small()
        .symlink("place/later", "to nothing")
        .symlink("place/snapshot.weigh", "to a file.weigh")
        .file("place/snapshot.weigh", 0)
        .symlink("/dev/full", "to a device")
        .symlink("/proc/self/fd/3", "to what has no name")
        .symlink("itself", "itself")
        .symlink("to nothing yet", "place/to what leads to nothing")
        .symlink("../to a free name", "place/to nothing yet")
        .symlink("place/free", "to a free name");
    let picture = weigh("top").within(fixture.path()).run().clean();
    let shown = save(&fixture, "").arg("to nothing").run().clean();
    assert_eq!(shown, picture);
    assert_snapshot(&fixture, &fixture.bytes("place/later"));

    let before = fixture.at("place/snapshot.weigh").metadata().unwrap().ino();
    save(&fixture, "").arg("to a file.weigh").run().clean();
    let saved = fixture.bytes("place/snapshot.weigh");
    assert!(saved.starts_with(b"\x89weigh"));
    assert_ne!(
        fixture.at("place/snapshot.weigh").metadata().unwrap().ino(),
        before,
        "it is replaced"
    );
    assert_snapshot(&fixture, &saved);
    save(&fixture, "").arg("place/to what leads to nothing").run().clean();
    assert_snapshot(&fixture, &fixture.bytes("place/free"));
    let links = ["to nothing yet", "to what leads to nothing"];
    assert_eq!(fixture.names("place"), [&["free", "later", "snapshot.weigh"][..], &links].concat());
    assert!(links.iter().all(|link| is_symlink(&fixture.at("place").join(link))));

    let full = save(&fixture, "").arg("to a device").run();
    assert_eq!(
        full.complaint(),
        "weigh: error: cannot save to a device: No space left on device\n"
    );
    assert_eq!(full.stdout, picture);
    let looping = save(&fixture, "").arg("itself").run();
    assert!(looping.complaint().contains("symbolic links"), "{}", looping.complaint());
    assert_eq!(looping.code(), 1);

    // It is written anew, however long it was. What lies where its name leads is another file.
    let script = |content| {
        format!(
            "exec 3<>gone; {content} >&3; rm gone; echo another > 'gone (deleted)'
            \"$0\" top --save 'to what has no name' > /dev/null; code=$?; cat /proc/self/fd/3; exit $code"
        )
    };
    let long = script("{ \"$0\" top --save -; yes '' | head -n 9999; }");
    assert_snapshot(&fixture, &scripted(&fixture, &long, "").clean());
    let refused = scripted(&fixture, &script("echo thesis"), "");
    assert_eq!((refused.code(), &refused.stdout[..]), (2, &b"thesis\n"[..]));
    assert_eq!(fixture.text("gone (deleted)"), "another\n");

    let links = ["to nothing", "to a file.weigh", "to a device", "to what has no name", "itself"];
    assert!(links.iter().all(|link| is_symlink(&fixture.at(link))));
}

#[test]
fn a_directory_needs_a_slash() {
    let fixture = Fixture::new().dir("t/d");
    let shown = weigh("t --save t/d").within(fixture.path()).run();
    let said = "weigh: error: cannot save t/d: it is a directory\nhint: end its name in a slash to save a dated snapshot there\n";
    assert_eq!((shown.code(), shown.complaint().as_str()), (1, said));
}

#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    let fixture = small();
    let file = fixture.at("place/snapshot");
    for umask in ["022", "077", "000"] {
        let script = format!("umask {umask}; exec \"$0\" \"$@\"");
        let run = || scripted(&fixture, &script, "top --save place/snapshot").clean();
        run();
        let masked = !u32::from_str_radix(umask, 8).unwrap();
        assert_eq!(mode(&file), 0o666 & masked, "a new file is as the umask says");
        for bits in [0o600, 0o644, 0o640, 0o400, 0o666, 0o060, 0o000] {
            // If its owner may not read it, only root can see that it is a snapshot. Everybody sees that a file is
            // empty.
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(bits)).unwrap();
            let before = file.metadata().unwrap().ino();
            run();
            assert_ne!(file.metadata().unwrap().ino(), before);
            assert_eq!(mode(&file), bits, "{bits:o} with umask {umask}");
        }
        fs::remove_file(&file).unwrap();
    }
    assert!(fixture.names("place").is_empty());
}

#[test]
#[ignore = "needs root"]
fn a_file_that_is_replaced_keeps_its_owner_or_lets_nobody_else_in() {
    let fixture = small().mode("place", 0o777).mode("top/empty", 0o755);
    let file = fixture.at("place/snapshot");
    let saved = |user, group, bits, is_root| {
        fs::write(&file, "").unwrap();
        chown(&file, Some(user), Some(group)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(bits)).unwrap();
        let run = save(&fixture, "").arg("place/snapshot");
        let run = if is_root { run } else { run.by_nobody(&fixture) };
        run.run().clean();
        let is = file.metadata().unwrap();
        (is.uid(), is.gid(), mode(&file))
    };

    for bits in [0o600, 0o640, 0o400] {
        assert_eq!(saved(1234, 5678, bits, true), (1234, 5678, bits), "{bits:o}");
    }
    // Only root can give a file to another user, and only members can give it to a group.
    for (bits, left) in [
        (0o600, 0o600),
        (0o640, 0o600),
        (0o664, 0o644),
        (0o644, 0o644),
        (0o604, 0o600),
        (0o666, 0o666),
    ] {
        let expected = (NOBODY, NOBODY, left);
        assert_eq!(saved(1234, 5678, bits, false), expected, "{bits:o} of others");
        assert_eq!(saved(NOBODY, 5678, bits, false), expected, "{bits:o} of another group");
        assert_eq!(saved(1234, NOBODY, bits, false), (NOBODY, NOBODY, bits), "{bits:o}");
    }
}

/// An access list (acl(5)) by which the user 1234 may do `rights` as well, and the group nothing.
fn access_list(rights: u16) -> Vec<u8> {
    const NO_ID: u32 = u32::MAX;
    let entries = [
        (0x01, 6, NO_ID),
        (0x02, rights, 1234),
        (0x04, 0, NO_ID),
        (0x10, 4, NO_ID),
        (0x20, 0, NO_ID),
    ];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(u16::to_le_bytes(tag).into_iter().chain(u16::to_le_bytes(rights)));
        list.extend(id.to_le_bytes());
    }
    list
}

/// An access list says who else may read a file. The bits of the group then only limit these rights.
#[test]
#[ignore = "needs root, and a file system with access lists"]
fn a_file_that_is_replaced_keeps_its_access_list() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    const OF_FILE: &str = "system.posix_acl_access";
    const OF_NEW_FILES: &str = "system.posix_acl_default";
    let fixture = small().mode("place", 0o777).mode("top/empty", 0o755);
    let file = fixture.at("place/snapshot");
    let set = |path: &Path, name, list: &[u8]| {
        setxattr(path, name, list, XattrFlags::empty()).unwrap();
    };
    let list = || {
        let mut buffer = [0; 100];
        getxattr(&file, OF_FILE, &mut buffer).map_or(Vec::new(), |length| buffer[..length].to_vec())
    };
    let begin = || {
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    };
    begin();
    set(&file, OF_FILE, &access_list(4));
    save(&fixture, "").arg("place/snapshot").run().clean();
    assert_eq!((list(), mode(&file)), (access_list(4), 0o640));
    // One that cannot be kept: the group's bits would let the group read it. Who cannot read a file may replace it if
    // it is empty.
    fs::write(&file, "").unwrap();
    save(&fixture, "").arg("place/snapshot").by_nobody(&fixture).run().clean();
    assert_eq!((list(), mode(&file)), (Vec::new(), 0o600));
    fs::remove_file(&file).unwrap();
    // A file without one gets none from its directory.
    begin();
    set(&fixture.at("place"), OF_NEW_FILES, &access_list(6));
    save(&fixture, "").arg("place/snapshot").run().clean();
    assert_eq!((list(), mode(&file)), (Vec::new(), 0o640));
}

/// From its first moment on, the draft can be read by nobody who could not read the file.
#[test]
#[ignore = "needs strace"]
fn a_draft_is_never_more_readable_than_the_file() {
    let fixture = small();
    let file = fixture.at("place/snapshot");
    for (bits, created) in [(0o600, "0600"), (0o644, "0600"), (0o400, "0400")] {
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(bits)).unwrap();
        let calls = traced(&fixture, &["-e", "trace=openat,fchmod,chmod"], 0);
        let line = calls.lines().find(|line| line.contains("O_EXCL")).unwrap();
        assert!(line.contains(&format!(", {created}")), "{line}");
        let modes: Vec<_> = calls.lines().filter(|line| line.contains("chmod(")).collect();
        assert!(modes.iter().all(|line| line.contains(&format!(", 0{bits:o}"))), "{modes:?}");
        fs::remove_file(&file).unwrap();
    }
}

/// Saves `place/snapshot` under strace with `args`, which must end with `code`; the calls.
fn traced(fixture: &Fixture, args: &[&str], code: i32) -> String {
    let log = fixture.at("log");
    let strace = ["strace", "-f", "-q", "-o", log.to_str().unwrap()];
    let shown = save(fixture, "-T 1").arg("place/snapshot").under(strace.iter().chain(args)).run();
    assert_eq!(shown.code(), code, "{args:?}: {}", shown.complaint());
    if code == 0 {
        assert_eq!(shown.complaint(), "", "{args:?}");
        assert_snapshot(fixture, &fixture.bytes("place/snapshot"));
    }
    let calls = fs::read_to_string(&log).unwrap();
    fs::remove_file(log).unwrap();
    calls
}

/// Saving works on a file system without locks, or without syncing.
#[test]
#[ignore = "needs strace"]
fn a_file_system_without_locks_or_syncing_is_saved_to() {
    let fixture = small();
    for error in ["ENOSYS", "EOPNOTSUPP", "ENOLCK"] {
        let calls = traced(&fixture, &["-e", &format!("inject=flock:error={error}")], 0);
        assert!(calls.contains("(INJECTED)"), "{calls}");
    }
    for error in ["EINVAL", "EIO"] {
        let inject = format!("inject=fsync:error={error}:when=2");
        let calls = traced(&fixture, &["-e", &inject], 0);
        assert!(calls.contains("(INJECTED)"), "it is the directory's: {calls}");
    }
    traced(&fixture, &["-e", "inject=fsync:error=EINVAL:when=1"], 0);
    // That what was written may be lost is another matter.
    traced(&fixture, &["-e", "inject=fsync:error=EIO:when=1"], 1);
    assert_eq!(fixture.names("place"), ["snapshot"]);
}

#[test]
fn a_directory_that_may_be_written_to_and_not_read_is_saved_in() {
    let fixture = small();
    // Where this is not allowed, no root runs it, and the directory is ours already.
    let _ = chown(fixture.at("place"), Some(NOBODY), Some(NOBODY));
    let fixture = fixture.mode("place", 0o300);
    let shown = save(&fixture, "-c").arg("place/snapshot").by_nobody(&fixture).run();
    assert_silent(&shown);
    let fixture = fixture.mode("place", 0o700);
    assert_snapshot(&fixture, &fixture.bytes("place/snapshot"));
    assert_eq!(fixture.names("place"), ["snapshot"]);
}

#[test]
fn a_file_larger_than_may_be_is_an_error() {
    let mut fixture = small().dir("place").symlink("free", "place/to-a-free-name");
    let old = cut_off(&fixture);
    for name in ["snapshot", "snapshot.weigh"] {
        fs::write(fixture.at("place").join(name), &old).unwrap();
    }
    let mut dice = Dice::new(1);
    for _ in 0..1000 {
        fixture = fixture.sparse(format!("top/{}", dice.below(usize::MAX)), 1);
    }
    for (script, to) in [
        ("ulimit -f 1; exec \"$0\" \"$@\"", "place/snapshot"),
        ("ulimit -f 1; exec \"$0\" \"$@\"", "place/snapshot.weigh"),
        ("ulimit -f 1; exec \"$0\" \"$@\"", "place/to-a-free-name"),
        ("ulimit -f 1; exec \"$0\" \"$@\" > large", "-"),
    ] {
        let shown = scripted(&fixture, script, &format!("-c top --save {to}"));
        let expected = format!("weigh: error: cannot save {to}: File too large\n");
        assert_eq!((shown.complaint(), shown.code()), (expected, 1));
    }
    let script = "ulimit -f 1; exec \"$0\" \"$@\" > large";
    let shown = scripted(&fixture, script, "-j top");
    let expected = "weigh: error: cannot write the output: File too large\n";
    assert_eq!((shown.complaint().as_str(), shown.code()), (expected, 1));
    assert_eq!(fixture.bytes("place/snapshot"), old);
    assert_eq!(fixture.bytes("place/snapshot.weigh"), old);
    // Nothing is left of half a snapshot, not where a symlink leads either.
    assert_eq!(fixture.names("place"), ["snapshot", "snapshot.weigh", "to-a-free-name"]);
}

/// The beginning of a snapshot, cut off soon after its header.
fn cut_off(fixture: &Fixture) -> Vec<u8> {
    let mut file = weigh("top --save -").within(fixture.path()).run().clean();
    file.truncate(file.len() - 20);
    file
}

/// A file that somebody else wrote is not replaced, whatever leads to it. The message comes before the walk, and names
/// the way out.
#[test]
fn only_a_snapshot_or_an_empty_file_is_replaced() {
    let fixture = small()
        .file("place/thesis.txt", 5000)
        .symlink("place/thesis.txt", "link")
        .symlink("link", "link to link")
        .sparse("place/zeros", 100_000);
    let json = weigh("-j top").within(fixture.path()).run().clean();
    let ncdu = weigh("top --as ncdu").within(fixture.path()).run().clean();
    let parquet = [&b"PAR1"[..], &[0; 100], b"PAR1"].concat();
    for (name, content) in [
        ("printed", &json[..]),
        ("export", &ncdu),
        ("table.parquet", &parquet),
        ("main.rs", b"//! A program.\n"),
        ("one", b"\n"),
        ("text-gz", &[0x1f, 0x8b, 8, 0, 0]),
        ("text-zst", &[0x28, 0xb5, 0x2f, 0xfd, 0]),
        ("text.weigh", b"\x89weigh\r\n"),
        ("other.weigh", b"\x89weigh\r\nH\x04\0\0\0text"),
    ] {
        fs::write(fixture.at("place").join(name), content).unwrap();
    }
    let others = fixture.names("place").into_iter().map(|name| format!("place/{name}"));
    for to in others.chain(["link".into(), "link to link".into()]) {
        let before = fixture.bytes(&to);
        let shown = save(&fixture, "").arg(&to).run();
        let expected = format!(
            "weigh: error: cannot replace {to}: it is not a snapshot from --save\nhint: save to another file, or remove it first\n"
        );
        assert_eq!((shown.code(), shown.complaint(), shown.stdout.len()), (2, expected, 0));
        assert_eq!(fixture.bytes(&to), before, "{to}");
    }
    assert!(is_symlink(&fixture.at("link")));
    // What --save wrote is replaced, also if it is cut off; and so is an empty file.
    for name in ["new", "new.weigh"] {
        for _ in 0..2 {
            save(&fixture, "").arg(name).run().clean();
        }
        assert_snapshot(&fixture, &fixture.bytes(name));
    }
    for content in [cut_off(&fixture), Vec::new()] {
        fs::write(fixture.at("new"), content).unwrap();
        save(&fixture, "").arg("new").run().clean();
        assert_snapshot(&fixture, &fixture.bytes("new"));
    }
    save(&fixture, "").arg("/dev/null").run().clean();
}

/// A mistyped name must not overwrite a disk.
#[test]
#[ignore = "needs root and loop devices"]
fn a_disk_is_not_written_to() {
    let fixture = small();
    let script = "truncate -s 1M disk; at=$(losetup -f --show disk) || exit
        \"$0\" top --save $at; code=$?; losetup -d $at; tr -d '\\0' < disk; exit $code";
    let shown = scripted(&fixture, script, "");
    let complaint = shown.complaint();
    assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{complaint}");
    assert!(complaint.starts_with("weigh: error: cannot replace /dev/loop"), "{complaint}");
}

/// A file that cannot be read may be anything.
#[test]
fn a_file_that_cannot_be_read_is_not_replaced() {
    let fixture = small().mode("place", 0o777).mode("top/empty", 0o755).file("place/closed", 5);
    let fixture = fixture.mode("place/closed", 0o000);
    let shown = save(&fixture, "").arg("place/closed").by_nobody(&fixture).run();
    let expected = "weigh: error: cannot replace place/closed: it cannot be read to see whether it is a snapshot \
        (Permission denied)\nhint: save to another file, or remove it first\n";
    assert_eq!((shown.code(), shown.complaint().as_str(), shown.stdout.len()), (2, expected, 0));
    let fixture = fixture.mode("place/closed", 0o600);
    assert_eq!(fixture.text("place/closed"), "wwwww");
}

/// A file that came there during the walk is as safe as one that was there before. The walk waits for a pipe.
#[test]
fn what_comes_during_the_walk_is_not_replaced_either() {
    let fixture = small().fifo("earlier").symlink("place/later", "link");
    for (to, place) in [("place/later", "place/later"), ("link", "place/later")] {
        for is_there in [false, true] {
            let fixture_at = fixture.at(place);
            if is_there {
                fs::write(&fixture_at, cut_off(&fixture)).unwrap();
            }
            // It first checks the place, and then reads the snapshot to compare with.
            let child = save(&fixture, "diff").arg(to).args(["--since", "earlier"]).spawn();
            let mut pipe = File::options().write(true).open(fixture.at("earlier")).unwrap();
            fs::write(&fixture_at, "a thesis").unwrap();
            let old = weigh("top --save -").within(fixture.path()).run().clean();
            std::io::Write::write_all(&mut pipe, &old).unwrap();
            drop(pipe);
            let output = child.wait_with_output().unwrap();
            let complaint = String::from_utf8(output.stderr).unwrap();
            assert!(
                complaint.starts_with(&format!("weigh: error: cannot replace {to}: ")),
                "{complaint}"
            );
            assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), false));
            assert_eq!(fs::read_to_string(&fixture_at).unwrap(), "a thesis");
            assert_eq!(fixture.names("place"), ["later"], "no draft is left");
            fs::remove_file(&fixture_at).unwrap();
        }
    }
}
