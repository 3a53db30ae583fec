//! The newest time of what is in a directory, before 1970 too, and how times are written.

use std::ffi::OsString;

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
use crate::oracle::{self, Eyes};
use crate::rounds::for_seeds;
use crate::run::weigh;

/// What a tree in memory takes for a time; a file system on a disk may take less.
const TIMES: [i64; 7] = [-3_000_000_000, -1, 0, 1, 1_000_000_000, 1_763_683_441, 40_000_000_000];

#[test]
fn a_directory_is_as_new_as_the_newest_in_it() {
    for_seeds(40, |seed| {
        let mut dice = Dice::new(seed + 6_000_000);
        let mut fixture = dice.tree(Fixture::in_memory(), Names::Hostile);
        let root = fixture.at("tree");
        for entry in oracle::find(&root, Eyes::Mine) {
            // A directory from the future would be accessed anew by each listing (relatime, mount(8)).
            let times = if entry.kind == b'd' { &TIMES[..6] } else { &TIMES };
            fixture = fixture.modified(root.join(raw(&entry.path)), *dice.of(times));
        }
        // The first listing is an access; the second may be, where the first was in the same tick of
        // the clock as the change before it.
        for _ in 0..2 {
            weigh("").arg(&root).run().clean();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let entries = oracle::find(&root, Eyes::Mine);
        for (which, time) in ["a", "c", "m"].into_iter().enumerate() {
            for threads in [1, 2, 8] {
                let flags = format!("-j -m {time} -T {threads}");
                let what = format!("seed {seed}, weigh {flags}");
                let document = weigh(&flags).arg(&root).run().document();
                assert_eq!(document.header["measure"], "newest", "{what}");
                assert_eq!(document.header["unit"], "seconds", "{what}");
                let nodes = document.by_path();
                assert_eq!(nodes.len(), entries.len(), "{what}");
                for entry in &entries {
                    let prefix = [&entry.path, b"/".as_slice()].concat();
                    let below = entries.iter().filter(|other| {
                        other.path == entry.path
                            || entry.path.is_empty()
                            || other.path.starts_with(&prefix)
                    });
                    let newest = below.map(|below| below.times[which]).max().unwrap();
                    let path = String::from_utf8_lossy(&entry.path);
                    assert_eq!(nodes[&entry.path].time, newest, "{what}: {path}");
                    assert_eq!(nodes[&entry.path].shared, 0, "{what}: {path}");
                }
            }
        }
    });
}

/// A directory with one file of each time, and nothing newer than that in it.
fn ages() -> Fixture {
    Fixture::in_memory()
        .file("top/old/file", 5000)
        .modified("top/old/file", -1)
        .modified("top/old", -86_400)
        .file("top/new.rs", 1)
        .modified("top/new.rs", 1_000_000_000)
        .modified("top", 0)
}

fn shown(flags: &str) -> String {
    let fixture = ages();
    // POSIX's own way of naming a zone: five hours behind UTC, and no database needed.
    weigh(&format!("-c -s {flags}"))
        .arg("top")
        .within(fixture.path())
        .env("TZ", "EST5")
        .run()
        .text()
}

#[test]
fn the_newest_is_nearest_to_the_root_and_has_no_bar() {
    assert_eq!(
        shown("-m m"),
        "             newest   size\n\
         1969-12-31T18:59:59 4.88Ki   ┌── old/file\n\
         2001-09-08T20:46:40     1B   ├── new.rs\n\
         2001-09-08T20:46:40 4.88Ki ┌─┴ top\n"
    );
    assert_eq!(
        shown("-m modified -r -n 2 -R"),
        "name, level, newest, size\n\
         top    0 2001-09-08T20:46:40 4.88Ki\n\
         new.rs 1 2001-09-08T20:46:40     1B\n\
         old    1 1969-12-31T18:59:59 4.88Ki\n"
    );
}

#[test]
fn a_time_is_written_as_asked() {
    for (style, expected) in [
        ("full-iso", "2001-09-08 20:46:40 -0500 4.88Ki ┌── top\n"),
        ("long-iso", "2001-09-08 20:46 4.88Ki ┌── top\n"),
        ("iso", "2001-09-08 4.88Ki ┌── top\n"),
        ("+%s;%b", "1000000000;Sep 4.88Ki ┌── top\n"),
    ] {
        let text = shown(&format!("-m m -d 0 --time-style {style}"));
        let (headings, line) = text.split_once('\n').unwrap();
        assert_eq!((headings.trim_start(), line), ("newest   size", expected));
    }
    let relative = shown("-m m -d 0 --time-style relative");
    assert!(relative.ends_with(" years ago 4.88Ki ┌── top\n"), "{relative}");
}

/// A zone five hours behind UTC (tzfile(5)): no change of the clock, and the rule for all times at the end.
fn zone() -> Vec<u8> {
    let header = |counts: [u32; 6]| {
        [&b"TZif2"[..], &[0; 15], &counts.map(u32::to_be_bytes).concat()].concat()
    };
    let offset = (-5 * 3_600_i32).to_be_bytes();
    let body = [&offset[..], &[0, 0], b"EST\0"].concat();
    let one = [header([0, 0, 0, 0, 1, 4]), body].concat();
    [&one[..], &one, b"\nEST5\n"].concat()
}

/// `top`, and files that TZ and TZDIR may name.
fn zones() -> Fixture {
    let fixture = ages().fifo("zones/fifo").symlink("/dev/zero", "zones/zero");
    let fixture = fixture.sparse("zones/sparse", 1 << 40).symlink("here", "zones/link").dir("own");
    std::fs::write(fixture.at("zones/here"), zone()).unwrap();
    fixture
}

/// TZ and TZDIR may name an endless file, or a FIFO.
#[test]
fn a_time_zone_is_a_small_file() {
    let fixture = zones();
    let at = |name: &str| fixture.at(name).display().to_string();
    let (behind, utc) = ("2001-09-08T20:46:40", "2001-09-09T01:46:40");
    for (zone, directory, expected) in [
        (":/dev/zero".to_owned(), None, utc),
        ("/dev/zero".to_owned(), None, utc),
        (at("zones/zero"), None, utc),
        (at("zones/fifo"), None, utc),
        (at("zones/sparse"), None, utc),
        (at("zones"), None, utc),
        ("zero".to_owned(), Some(at("zones")), utc),
        ("fifo".to_owned(), Some(at("zones")), utc),
        ("here".to_owned(), Some("/proc/self/root".to_owned()), utc),
        (String::new(), Some(at("zones")), utc),
        ("EST5".to_owned(), None, behind),
        (at("zones/here"), None, behind),
        (format!(":{}", at("zones/link")), None, behind),
        ("here".to_owned(), Some(at("zones")), behind),
        (":link".to_owned(), Some(at("zones")), behind),
        ("zones/here".to_owned(), Some(at("")), behind),
    ] {
        let weigh = weigh("-c -m m -d 0 -R").arg("top").within(fixture.path()).env("TZ", &zone);
        let weigh = directory.iter().fold(weigh, |weigh, at| weigh.env("TZDIR", at));
        let shown = weigh.limited("-v 600000").run().text();
        assert!(shown.contains(expected), "TZ={zone} TZDIR={directory:?}: {shown}");
    }
}

/// Neither JSON nor a screen without times needs one.
#[test]
#[ignore = "needs strace"]
#[cfg(target_os = "linux")]
fn the_time_zone_is_read_when_a_time_is_shown() {
    let fixture = zones();
    for (flags, keys, is_shown) in [
        ("-c -m m --time-style iso", "", true),
        ("-j -m m", "", false),
        ("-c", "", false),
        ("--ui", "q", false),
        ("--ui --time-style iso", "q", true),
    ] {
        let mut terminal = crate::pty::Terminal::new();
        let log = fixture.at("log");
        let strace = ["strace", "-f", "-q", "-e", "trace=openat,open", "-o"].map(OsString::from);
        let run = weigh(flags).arg("top").within(fixture.path()).on(&terminal);
        let run = run.under(strace.into_iter().chain([log.clone().into()]));
        let mut child = run.env("TZ", fixture.at("zones/here")).spawn();
        for key in keys.chars() {
            terminal.wait_for("new.rs");
            terminal.type_in(key.to_string().as_bytes());
        }
        assert_eq!(child.wait().unwrap().code(), Some(0), "{flags}");
        terminal.close();
        let calls = std::fs::read_to_string(log).unwrap();
        assert_eq!(calls.contains("zones/here"), is_shown, "{flags} {keys}: {calls}");
    }
}

#[test]
fn times_by_group() {
    assert_eq!(
        shown("-m m -t"),
        "             newest       type\n\
         1969-12-31T18:59:59   ┌── (no extension)\n\
         1969-12-31T19:00:00   ├── (directories)\n\
         2001-09-08T20:46:40   ├── .rs\n\
         2001-09-08T20:46:40 ┌─┴ top\n"
    );
}

/// Times have no sizes.
#[test]
fn what_makes_no_sense_of_times_is_refused() {
    for flags in ["-m m -z 1k", "-m m -f", "-m m --inodes", "-m x", "-m m --time-style +%"] {
        let shown = weigh(flags).run();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}");
    }
}
