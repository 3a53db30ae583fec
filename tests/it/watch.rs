//! `weigh watch`: as root on several file systems, as a plain user, and what it refuses.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::Fixture;
use crate::pty::Terminal;
use crate::rounds::rounds;
use crate::run::{become_nobody, in_namespace, python, weigh};

/// How long something may take, however busy the machine is.
const WAIT: Duration = Duration::from_secs(180);

/// weigh, watching; ended at the end.
struct Watched {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watched {
    fn new(mut child: Child) -> Self {
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next tick.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let mut messages = String::new();
        if line.is_empty() {
            self.child.stderr.as_mut().unwrap().read_to_string(&mut messages).unwrap();
        }
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}{messages}"))
    }

    /// The first tick that `is_it`.
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + WAIT;
        loop {
            let tick = self.next();
            if is_it(&tick) {
                return tick;
            }
            assert!(Instant::now() < end, "{tick:#}");
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The row of the place whose path ends in `end`.
fn place<'t>(tick: &'t Value, end: &str) -> Option<&'t Value> {
    let mut places = tick["places"].as_array().unwrap().iter();
    places.find(|place| place["path"].as_str().unwrap().ends_with(end))
}

/// The writers of that place.
fn writers(tick: &Value, end: &str) -> Vec<String> {
    let writers = place(tick, end).and_then(|it| it["writers"].as_array());
    let name = |it: &Value| it["command"].as_str().unwrap_or("?").to_owned();
    writers.into_iter().flatten().map(name).collect()
}

/// Mounts a new file system at `top`.
const KINDS: [(&str, &str); 4] = [
    ("ext4", "truncate -s 300M disk; mkfs.ext4 -q disk; mount -o loop disk top"),
    ("xfs", "truncate -s 400M disk; mkfs.xfs -q disk; mount -o loop disk top"),
    (
        "btrfs",
        "truncate -s 400M disk; mkfs.btrfs -q disk; mount -o loop disk top; \
         btrfs -q subvolume create top/sub; umount top; mount -o loop,subvol=sub disk top; \
         btrfs -q subvolume create top/a",
    ),
    ("tmpfs", "mount -t tmpfs none top"),
];

/// In it, `ticks` has the lines of weigh, `wait_for` waits for one that has both of these texts, and `ended` waits for the
/// end of weigh, whose last line is then in `last`.
const FUNCTIONS: &str = r#"set -e
wait_for() {
    tries=0
    until grep -F -e "$1" ticks | grep -q -F -e "$2"; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { cat ticks; echo "no $1 $2" >&2; exit 1; }
        sleep 0.1
    done
}
slowly() {
    for n in $(seq $1); do head -c 1000000 /dev/zero; sleep 0.1; done
}
used() { du -s -B1 top | cut -f1; }
ended() { wait $weigh; tail -n 1 ticks > last; }
"#;

/// The last line of weigh, after a script in which it `ended`.
fn last(fixture: &Fixture) -> Value {
    serde_json::from_slice(&fixture.bytes("last")).unwrap()
}

/// The growth by `du`, of which a script wrote the sizes.
fn growth(fixture: &Fixture) -> i64 {
    let used = |name: &str| String::from_utf8(fixture.bytes(name)).unwrap();
    let used = ["before", "after"].map(|name| used(name).trim().parse::<i64>().unwrap());
    used[1] - used[0]
}

#[test]
#[ignore = "needs root"]
fn place_and_process_are_named_on_every_file_system() {
    for (kind, mount) in KINDS {
        let fixture = Fixture::new().dir("top");
        let script = format!(
            r#"{FUNCTIONS}{mount}
mkdir -p top/a/known
echo x > top/a/known/file
"$0" watch --every 1s --for 6s top > ticks &
weigh=$!
wait_for '"seconds":1' '"as root"'
used > before
mkdir -p top/a/new/deep/tree
cp /bin/dd top/a/scribe
slowly 20 | top/a/scribe of=top/a/new/deep/tree/big bs=64k 2>/dev/null
slowly 9 | top/a/scribe of=top/a/known/file bs=64k 2>/dev/null
mkdir top/many
for n in 1 2 3 4 5 6 7 8 9; do echo $n > top/many/$n; done
rm top/many/3; mv top/many/4 top/many/5; ln top/many/6 top/many/link; rm top/many/6
sync -f top
wait_for 'a/new/deep/tree"' '"command":"scribe"'
wait_for 'a/known"' '"command":"scribe"'
ended
used > after
"#
        );
        in_namespace(&fixture, &script);
        let (last, grown) = (last(&fixture), growth(&fixture));
        assert_eq!(last["summary"], true, "{kind}");
        assert_eq!(last["so_far"], grown, "{kind} {last:#}");
    }
}

#[test]
#[ignore = "needs root"]
fn deleted_and_rotated_files_are_told() {
    let fixture = Fixture::new().dir("top");
    let script = format!(
        r#"{FUNCTIONS}mount -t tmpfs none top
mkdir top/log
head -c 5000000 /dev/zero > top/log/app.log
exec 7>top/gone; head -c 8000000 /dev/zero >&7; rm top/gone
"$0" watch --every 1s --for 6s top > ticks &
weigh=$!
wait_for '"deleted":[{{"pid"' '"size":80'
mv top/log/app.log top/log/app.log.1
head -c 3000000 /dev/zero > top/log/app.log
wait_for 'top/log"' '"so_far":30'
rm -r top/log
ended
"#
    );
    in_namespace(&fixture, &script);
    let last = last(&fixture);
    // It was there before.
    assert!(last["so_far"].as_i64().unwrap() < -4_900_000, "{last:#}");
    assert!(last["not_attributed"].as_i64().unwrap().abs() < 100_000, "{last:#}");
}

/// Names of one inode come and go before weigh looks, and deleted files stay open.
#[test]
#[ignore = "needs root"]
fn names_that_are_gone_again_leave_the_others() {
    for (kind, mount) in KINDS {
        let fixture = Fixture::new().dir("top");
        let script = format!(
            r#"{FUNCTIONS}{mount}
mkdir top/dir
for n in 1 2 3; do head -c 1000000 /dev/zero > top/dir/$n; done
used > before
"$0" watch --every 1s --for 8s top > ticks &
weigh=$!
wait_for '"seconds":1' '"as root"'
ln top/dir/1 top/one; rm top/one; ln top/dir/1 top/one; rm top/one
ln top/dir/2 top/two; head -c 2000000 /dev/zero >> top/two; rm top/two
exec 8>>top/dir/3; rm top/dir/3; head -c 5000000 /dev/zero >&8
sync -f top
ended
used > after
"#
        );
        in_namespace(&fixture, &script);
        let (last, grown) = (last(&fixture), growth(&fixture));
        assert_eq!(last["so_far"], grown, "{kind} {last:#}");
    }
}

/// Files that come and go need no scan, even if other files get their inode numbers.
#[test]
#[ignore = "needs root"]
fn temporary_files_need_no_scan() {
    let fixture = Fixture::new().dir("top");
    let script = format!(
        r#"{FUNCTIONS}truncate -s 100M disk; mkfs.ext4 -q disk; mount -o loop,strictatime disk top
mkdir top/quiet top/busy
"$0" watch --every 1s --for 5s top > ticks &
weigh=$!
wait_for '"seconds":1' '"as root"'
stat -c %x top/quiet > before
for n in 1 2 3 4 5 6 7 8; do
    echo $n > top/busy/temporary; sleep 0.2; rm top/busy/temporary; echo $n > top/busy/$n
    echo $n > top/busy/lock; mv top/busy/lock top/busy/file; echo $n > top/busy/lock; mv top/busy/lock top/busy/file
done
wait $weigh
stat -c %x top/quiet > after
"#
    );
    in_namespace(&fixture, &script);
    assert_eq!(fixture.bytes("before"), fixture.bytes("after"), "it was listed again");
}

/// Directories that come from outside are listed, and those that leave are subtracted. Nothing outside is shown.
#[test]
#[ignore = "needs root"]
fn only_what_is_below_path_is_told() {
    let fixture = Fixture::new().dir("top");
    let script = format!(
        r#"{FUNCTIONS}mount -t tmpfs none top
mkdir -p top/in/old/deep top/out/new/deep
head -c 200000 /dev/zero > top/in/old/deep/f
head -c 7000000 /dev/zero > top/out/new/deep/f
"$0" watch --every 1s --for 5s top/in > ticks &
weigh=$!
wait_for '"seconds":1' '"places"'
mv top/out/new top/in/new
mv top/in/old top/out/old
head -c 9000000 /dev/zero > top/out/secret
wait_for '"so_far":67' '"places"'
slowly 9 | tee -a top/in/new/deep/f > /dev/null
wait_for 'top/in/new/deep"' '"command":"tee"'
ended
"#
    );
    in_namespace(&fixture, &script);
    let ticks = std::fs::read_to_string(fixture.at("ticks")).unwrap();
    assert!(!ticks.contains("secret") && !ticks.contains("top/out"), "{ticks}");
}

/// 30,000 files in a few seconds: each counts, or a scan finds it.
#[test]
#[ignore = "needs root"]
fn many_files_are_counted() {
    let fixture = Fixture::new().dir("top");
    let script = format!(
        r#"{FUNCTIONS}mount -t tmpfs none top
"$0" watch --every 1s --for 12s top > ticks &
weigh=$!
wait_for '"seconds":1' '"places"'
python3 -c '
import os
for n in range(30000):
    d = "top/%d" % (n % 100)
    if n < 100: os.mkdir(d)
    with open("%s/%d" % (d, n), "w") as f: f.write("x")
'
ended
"#
    );
    in_namespace(&fixture, &script);
    let last = last(&fixture);
    assert_eq!(last["so_far"], 30_000 * 4096, "{last:#}");
}

/// ext4 gives a new directory the inode number of the one that was just removed. Once, weigh took it for the old one, and
/// nothing that was written there counted.
#[test]
#[ignore = "needs root"]
fn a_directory_that_is_made_anew_is_followed() {
    for (kind, mount) in [KINDS[0], KINDS[3]] {
        let fixture = Fixture::new().dir("top");
        let script = format!(
            r#"{FUNCTIONS}{mount}
mkdir -p top/w/build
touch top/w/build/old
sync -f top
used > before
"$0" watch --every 1s --for 6s top > ticks &
weigh=$!
wait_for '"seconds":1' '"places"'
python3 -c '
import os, shutil
for n in range(3):
    shutil.rmtree("top/w/build")
    os.mkdir("top/w/build")
    with open("top/w/build/out", "w") as out: out.write("x" * 30000000)
'
ended
used > after
"#
        );
        in_namespace(&fixture, &script);
        let last = last(&fixture);
        assert_eq!(last["so_far"], growth(&fixture), "{kind}: {last:#}");
    }
}

#[test]
fn a_plain_user_gets_the_same_table_by_scanning() {
    let fixture = Fixture::new().dir("top/a").file("top/old", 10_000);
    let flags = "watch --every 1s";
    let child = weigh(flags).arg(fixture.at("top")).by_nobody(&fixture).spawn();
    let mut watched = Watched::new(child);
    watched.next();
    std::fs::set_permissions(
        fixture.at("top/a"),
        std::os::unix::fs::PermissionsExt::from_mode(0o777),
    )
    .unwrap();
    let mut writer = Command::new("sh");
    // It ends by itself if the test fails.
    let code = "exec 3>big; for i in $(seq 2000); do head -c 100000 /dev/zero >&3; sleep 0.1; done";
    writer.args(["-c", code]).current_dir(fixture.at("top/a"));
    become_nobody(&mut writer);
    let mut writer = writer.spawn().unwrap();
    let is_named = |name: &String| name == "sh" || name == "head";
    let tick = watched.until(|tick| writers(tick, "top/a").iter().any(is_named));
    writer.kill().unwrap();
    writer.wait().unwrap();
    let followed = tick["file_systems"][0]["followed"].as_str().unwrap().to_owned();
    assert!(
        followed.starts_with("scanned every ") && followed.ends_with(" (not root)"),
        "{followed}"
    );
    let row = place(&tick, "top/a").unwrap();
    assert!(row["so_far"].as_i64().unwrap() > 0, "{tick:#}");
}

/// Each member is one of the schema, with its type.
#[test]
fn the_schema_accepts_what_it_prints() {
    let fixture = Fixture::new().dir("top");
    let shown = weigh("watch --every 1s --for 2s").arg(fixture.at("top")).run();
    let lines = shown.text();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schema-watch-1.json");
    let check = "import json, sys, jsonschema\nschema = json.load(open(sys.argv[1]))\n\
                 for line in sys.argv[2].splitlines(): jsonschema.validate(json.loads(line), schema)";
    let run = python().args(["-c", check, schema, &lines]).output().unwrap();
    let message = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() || message.contains("No module named"), "{message}");
}

#[test]
fn growth_beyond_the_limit_ends_it_with_status_3() {
    let fixture = Fixture::new().dir("top");
    let path = fixture.at("top");
    let child = weigh("watch --every 1s --fail-growth 1M").arg(&path).spawn();
    let mut watched = Watched::new(child);
    watched.next();
    std::fs::write(path.join("big"), vec![1; 2_000_000]).unwrap();
    let last = watched.until(|tick| tick["summary"] == true);
    assert!(last["so_far"].as_i64().unwrap() >= 2_000_000, "{last:#}");
    assert_eq!(watched.child.wait().unwrap().code(), Some(3));
    let mut message = String::new();
    watched.child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert!(message.contains("over the limit of 1.00Mi (--fail-growth)"), "{message}");
}

#[test]
fn it_ends_when_nobody_reads() {
    let fixture = Fixture::new().dir("top");
    let mut watched = Watched::new(weigh("watch --every 1s").arg(fixture.at("top")).spawn());
    watched.next();
    let (closed, _) = std::io::pipe().unwrap();
    watched.lines = BufReader::new(ChildStdout::from(std::os::fd::OwnedFd::from(closed)));
    let end = Instant::now() + WAIT;
    while watched.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(watched.child.wait().unwrap().code(), Some(0));
}

#[test]
fn keys_and_signals_end_it_and_leave_the_terminal_as_it_was() {
    for (keys, status) in [(&b"q"[..], 0), (b"\x03", 130)] {
        let fixture = Fixture::new().dir("top").file("top/old\x1b[31m", 10);
        let mut terminal = Terminal::new();
        let before = terminal.settings();
        let mut child = weigh("watch --every 1s").arg(fixture.at("top")).on(&terminal).spawn();
        terminal.wait_for("p pauses");
        terminal.type_in(b"s");
        terminal.wait_for("growth per second");
        terminal.type_in(b"p");
        terminal.wait_for("paused");
        terminal.type_in(keys);
        assert_eq!(child.wait().unwrap().code(), Some(status));
        assert_eq!(terminal.settings(), before);
    }
}

/// Names are escaped, in JSON and on a terminal.
#[test]
fn names_cannot_control_the_terminal() {
    let fixture = Fixture::new().dir("top/a\x1b[31mb");
    let terminal = Terminal::new();
    let mut child = weigh("watch --every 1s --for 4s").arg(fixture.at("top")).on(&terminal).spawn();
    terminal.wait_for("available");
    std::fs::write(fixture.at("top/a\x1b[31mb/f"), vec![1; 3_000_000]).unwrap();
    terminal.wait_for("\\x1b[31mb/");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A root that gets another name is said, and its files are still followed.
#[test]
fn a_root_that_moves_is_said() {
    let fixture = Fixture::new().dir("top");
    let mut watched = Watched::new(weigh("watch --every 1s").arg(fixture.at("top")).spawn());
    watched.next();
    std::fs::rename(fixture.at("top"), fixture.at("other")).unwrap();
    let tick = watched.until(|tick| tick["notes"] != Value::Array(Vec::new()));
    assert!(tick["notes"][0].as_str().unwrap().contains("top was moved"), "{tick:#}");
    std::fs::remove_dir(fixture.at("other")).unwrap();
    watched.next();
    watched.next();
}

/// While weigh is stopped, more happens than the kernel keeps.
#[test]
#[ignore = "needs root"]
fn lost_events_are_said_and_found_by_a_scan() {
    let fixture = Fixture::new().dir("top");
    let script = format!(
        r#"{FUNCTIONS}mount -t tmpfs none top
"$0" watch --every 1s --for 8s top > ticks &
weigh=$!
wait_for '"seconds":1' '"places"'
kill -STOP $weigh
python3 -c '
for n in range(20000):
    with open("top/%d" % n, "w") as f: f.write("x")
'
kill -CONT $weigh
wait_for 'too much happened at once' '"places"'
ended
"#
    );
    in_namespace(&fixture, &script);
    let last = last(&fixture);
    assert_eq!(last["so_far"], 20_000 * 4096, "{last:#}");
}

/// Once, the file system below the mount point was taken for the one that was there.
#[test]
#[ignore = "needs root"]
fn a_file_system_that_goes_away_is_said() {
    let fixture = Fixture::new().dir("top");
    let script = format!(
        r#"{FUNCTIONS}mount -t tmpfs -o size=9M none top
"$0" watch --every 1s --for 4s top > ticks &
weigh=$!
wait_for '"seconds":1' '"places"'
umount -l top
ended
"#
    );
    in_namespace(&fixture, &script);
    let last = last(&fixture);
    assert!(last["notes"][0].as_str().unwrap().contains("unmounted"), "{last:#}");
    assert_eq!(last["file_systems"][0]["size"], 9 << 20, "{last:#}");
}

/// Whatever ends it, the last line sums up.
#[test]
fn signals_end_it_with_a_summary() {
    for (signal, status) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        let fixture = Fixture::new().dir("top");
        let child = weigh("watch --every 1s").arg(fixture.at("top")).spawn();
        let mut watched = Watched::new(child);
        watched.next();
        let pid = watched.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        watched.until(|tick| tick["summary"] == true);
        assert_eq!(watched.child.wait().unwrap().code(), Some(status), "{signal}");
    }
}

/// After `q`, the table has the last figures, and no line about keys.
#[test]
fn the_last_table_has_what_happened_before_q() {
    let fixture = Fixture::new().dir("top");
    let mut terminal = Terminal::new();
    let mut child = weigh("watch --every 1h").arg(fixture.at("top")).on(&terminal).spawn();
    std::thread::sleep(Duration::from_millis(500));
    terminal.type_in(b"q");
    // Other programs may write to the same file system.
    terminal.wait_for(" available");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let shown = terminal.close();
    assert!(!String::from_utf8_lossy(&shown).contains("q ends"));
}

#[test]
#[cfg(feature = "tui")]
fn enter_opens_a_place_and_q_comes_back() {
    let fixture = Fixture::new().dir("top/a").file("top/a/letters", 10);
    let mut terminal = Terminal::new();
    let mut child = weigh("watch --every 1s").arg(fixture.at("top")).on(&terminal).spawn();
    terminal.wait_for("q ends");
    std::fs::write(fixture.at("top/a/new"), vec![1; 3_000_000]).unwrap();
    terminal.wait_for("Enter opens a place");
    terminal.type_in(b"\x1b[B");
    terminal.wait_for("▸");
    terminal.type_in(b"\r");
    terminal.wait_for("letters");
    terminal.type_in(b"q");
    terminal.wait_for("Enter opens a place");
    terminal.type_in(b"q");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The first seconds say little about the time until a file system is full.
#[test]
#[ignore = "needs root"]
fn the_time_until_full_is_that_of_a_steady_writer() {
    let fixture = Fixture::new().dir("top");
    let script = format!(
        r#"{FUNCTIONS}mount -t tmpfs -o size=900M none top
"$0" watch --every 1s --for 20s top > ticks &
weigh=$!
wait_for '"seconds":1' '"places"'
slowly 170 > top/log
wait $weigh
"#
    );
    in_namespace(&fixture, &script);
    let ticks = std::fs::read_to_string(fixture.at("ticks")).unwrap();
    let ticks: Vec<Value> = ticks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |tick: &Value, name: &str| tick["file_systems"][0][name].as_f64();
    let mut told = 0;
    for tick in &ticks {
        let seconds = tick["seconds"].as_f64().unwrap();
        let Some(full_in) = of(tick, "full_in_seconds") else { continue };
        assert!(seconds >= 10.0, "{tick:#}");
        let available = of(tick, "available").unwrap();
        let written = of(&ticks[0], "available").unwrap() - available;
        let since = seconds - ticks[0]["seconds"].as_f64().unwrap();
        let expected = available / (written / since);
        assert!((full_in / expected - 1.0).abs() < 0.2, "{full_in} {expected} {tick:#}");
        told += 1;
    }
    assert!(told > 5, "{ticks:#?}");
}

/// The content that a mount brings or takes is no growth; what is written there later is.
#[test]
#[ignore = "needs root"]
fn later_mounts_are_followed() {
    let fixture = Fixture::new().dir("top");
    let script = format!(
        r#"{FUNCTIONS}mount -t tmpfs none top
mkdir top/m
"$0" watch --every 1s top > ticks &
weigh=$!
wait_for '"seconds":1' '"places"'
mount -t tmpfs none top/m
head -c 7000000 /dev/zero > top/m/old
wait_for 'top/m was mounted' 'top/m","followed'
head -c 3000000 /dev/zero > top/m/new
wait_for '"so_far":3002368,"file' '"path"'
umount top/m
wait_for 'top/m was unmounted' '"so_far":3002368,"file'
# A new one gets the same device number.
mount -t tmpfs none top/m
sleep 2
head -c 4000000 /dev/zero > top/m/new
wait_for '"so_far":7004160,"file' '"path"'
umount -l top
kill -TERM $weigh
wait $weigh || true
"#
    );
    in_namespace(&fixture, &script);
}

/// `tests/watching` on each file system, in rounds.
fn watching(what: &str, kinds: [(&str, usize, usize); 5]) {
    for (kind, usual, full) in kinds {
        let fixture = Fixture::new();
        let rounds = rounds(usual, full);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/watching");
        let script = format!("TMPDIR=. python3 {script} \"$0\" {what} {kind} {rounds}");
        let run = in_namespace(&fixture, &script);
        print!("{}", String::from_utf8_lossy(&run.stdout));
    }
}

#[test]
#[ignore = "needs root"]
fn random_writers_are_named() {
    let kinds =
        [("ext4", 2, 100), ("xfs", 1, 30), ("btrfs", 1, 30), ("tmpfs", 1, 30), ("overlay", 1, 30)];
    watching("named", kinds);
}

#[test]
#[ignore = "needs root"]
fn random_changes_are_those_of_du() {
    let kinds =
        [("ext4", 2, 100), ("xfs", 1, 30), ("btrfs", 1, 30), ("tmpfs", 1, 30), ("overlay", 1, 30)];
    watching("totals", kinds);
}

#[test]
#[ignore = "needs root"]
fn nearly_all_of_the_change_has_a_place() {
    let kinds =
        [("ext4", 2, 100), ("xfs", 1, 30), ("btrfs", 1, 30), ("tmpfs", 1, 30), ("overlay", 1, 30)];
    watching("parts", kinds);
}
