//! Slow storage, and storage that fails: the walk reads a FUSE file system (`benches/storage.rs`) with the wanted
//! faults. Every mount ends with its test, by force, so that nothing waits on it for ever.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::Read;
use std::mem::MaybeUninit;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fuser::Errno;
use rustix::fs::{CWD, Mode, OFlags, RawDir};
use rustix::process::{Pid, Signal, kill_process};

use crate::document::Document;
use crate::fixture::Fixture;
use crate::oracle::{self, Eyes, Measure};
use crate::rounds::rounds;
use crate::run::{is_portable, weigh};
use crate::storage::{Mounted, Storage, Trouble};

/// Directories and files as given, and answers at once.
fn storage(directories: u64, files: u64) -> Storage {
    Storage { directories, files, delay: Duration::ZERO, ..Storage::default() }
}

/// The storage, mounted at `top` in a fixture. The mount has to be dropped before the fixture.
fn mounted(storage: Storage) -> (Fixture, Mounted) {
    let fixture = Fixture::new().dir("top");
    let mounted = storage.mount(&fixture.at("top")).unwrap();
    (fixture, mounted)
}

/// Waits until no thread of `child` ran in 30 checks.
fn settle(child: &Child) {
    let tasks = format!("/proc/{}/task", child.id());
    let is_busy = || {
        std::fs::read_dir(&tasks).unwrap().flatten().any(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            stat.contains(") R ")
        })
    };
    let mut idle = 0;
    for _ in 0..6_000 {
        std::thread::sleep(Duration::from_millis(10));
        idle = if is_busy() { 0 } else { idle + 1 };
        if idle == 30 {
            return;
        }
    }
    panic!("it is always busy");
}

#[test]
#[ignore = "mounts a file system"]
fn weigh_finds_what_find_finds_on_slow_storage() {
    let network = Storage { delay: Duration::from_micros(200), ..storage(30, 7) };
    let disk = Storage { seek: Duration::from_micros(500), ..storage(20, 9) };
    for (storage, entries) in [(network, 241), (storage(0, 5000), 5001), (disk, 201)] {
        let (fixture, _mounted) = mounted(storage);
        let top = fixture.at("top");
        let found = oracle::find(&top, Eyes::Mine);
        assert_eq!(found.len(), entries);
        let inodes: BTreeSet<_> = found.iter().map(|entry| &entry.inode).collect();
        assert_eq!(inodes.len(), entries, "an inode of its own for each");
        for measure in Measure::ALL {
            let flags = format!("-j -n {} {}", 2 * entries, measure.flag());
            let document = weigh(&flags).arg(&top).run().document();
            oracle::compare(&document, &found, measure, &flags);
        }
        let size = weigh("-j -n 1").arg(&top).run().document().root().size;
        assert_eq!(size, oracle::du(&["-s", "-B1"], &top));
    }
}

/// On all threads together, weigh never looks up more names than `--rate` allows.
#[test]
#[ignore = "mounts a file system"]
fn a_rate_is_kept() {
    const RATE: usize = 400;
    // The portable source gives whole paths to the system, which looks up the directory, too.
    let lookups_an_entry = if is_portable() { 2.0 } else { 1.0 };
    let (fixture, mounted) =
        mounted(Storage { delay: Duration::from_millis(2), ..storage(8, 120) });
    for flags in ["-j --rate 400", "-j --rate 400 -T 1", "-j --rate 400 -T 64"] {
        let (begin, before) = (Instant::now(), mounted.lookups());
        let mut child = weigh(flags).arg(fixture.at("top")).spawn();
        let mut output = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        while child.try_wait().unwrap().is_none() {
            let (lookups, elapsed) = (mounted.lookups() - before, begin.elapsed());
            // Opening a directory looks its name up once more; and a tenth of a second may be made up for.
            let most = elapsed.as_secs_f64().mul_add(RATE as f64, RATE as f64 / 10.0) + 8.0 + 64.0;
            assert!(
                (lookups as f64) < most * lookups_an_entry,
                "{flags}: {lookups} in {elapsed:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        reader.join().unwrap().unwrap();
        assert!(begin.elapsed() > Duration::from_secs(2), "{flags}: 968 entries");
        assert!(mounted.lookups() - before >= 968, "{flags}");
    }
    let sum = |flags: &str| weigh(flags).arg(fixture.at("top")).run().text();
    assert_eq!(sum("--summarize -o b --rate 2000"), sum("--summarize -o b"));
}

/// However few entries fit into the buffer, the next call goes on where the last one ended.
#[test]
#[ignore = "mounts a file system"]
fn a_small_buffer_lists_everything() {
    let (fixture, _mounted) = mounted(storage(0, 1000));
    let names = |size: usize| -> Vec<CString> {
        let top = rustix::fs::openat(CWD, fixture.at("top"), OFlags::DIRECTORY, Mode::empty());
        let (top, mut buffer) = (top.unwrap(), vec![MaybeUninit::uninit(); size]);
        let mut listing = RawDir::new(top, &mut buffer);
        let mut names = Vec::new();
        while let Some(entry) = listing.next() {
            names.push(entry.unwrap().file_name().to_owned());
        }
        names
    };
    let all = names(64 << 10);
    assert_eq!(all.len(), 1002);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 1002);
    assert!(!all.is_sorted(), "a file system's order is none");
    assert_eq!(names(100), all);
    assert_eq!(names(4096), all);
}

/// Errors of both kinds are reported with their paths, and the rest counts.
#[test]
#[ignore = "mounts a file system"]
fn input_output_errors_leave_the_rest_right() {
    let troubles = ["d0003/f00002", "d0005/", "d0007"]
        .map(|path| (path.to_owned(), Trouble::Fails(Errno::EIO)));
    let (fixture, _mounted) = mounted(Storage { troubles: troubles.into(), ..storage(10, 4) });
    let shown = weigh("-j --inodes").arg("top").within(fixture.path()).run();
    assert_eq!(shown.code(), 1);
    let document = Document::parse(&shown.stdout);
    assert_eq!(document.header["complete"], false);
    // Of 51: one file less, one directory without its four files, one with all of its five.
    assert_eq!(document.root().size, 51 - 1 - 4 - 5);
    let expected = [["top/d0003/f00002", "stat"], ["top/d0005", "open"], ["top/d0007", "stat"]];
    assert_eq!(reported(&document), expected.map(|[path, operation]| [path, operation, "EIO"]));
}

/// Of each error its path, what was tried, and its symbol; sorted.
fn reported(document: &Document) -> Vec<[&str; 3]> {
    const KEYS: [&str; 3] = ["path", "operation", "error"];
    let errors = document.errors().iter();
    let mut reported: Vec<_> =
        errors.map(|error| KEYS.map(|key| error[key].as_str().unwrap())).collect();
    reported.sort_unstable();
    reported
}

/// Some file systems on networks and in FUSE do not say what takes space. All of it was 0, without a word.
#[test]
#[ignore = "mounts a file system"]
fn storage_without_blocks_gets_a_hint() {
    native_only!("it cannot tell who serves a mount");
    let (fixture, _mounted) = mounted(Storage { has_no_blocks: true, ..storage(3, 4) });
    let run = |flags: &str| weigh(flags).arg("top").within(fixture.path()).run();
    let hint = "weigh: note: all sizes are 0, because the file system reports no disk blocks\nhint: -s counts lengths\n";
    for flags in ["-c", "-j", "-t -c"] {
        let shown = run(flags);
        assert_eq!((shown.code(), shown.complaint().as_str()), (0, hint), "{flags}");
    }
    for flags in ["-s -c", "-f -c", "-q -c"] {
        run(flags).clean();
    }
    // An empty file needs no blocks.
    let (fixture, _mounted) = mounted(storage(0, 0));
    weigh("-c top").within(fixture.path()).run().clean();
}

/// A name that is still listed has not vanished, even if looking it up says so. Once, weigh took it for one that had,
/// and exited with status 0.
#[test]
#[ignore = "mounts a file system"]
fn what_is_listed_and_never_found_is_named() {
    let errors = [("ENOENT", Errno::ENOENT), ("ELOOP", Errno::ELOOP), ("ESRCH", Errno::ESRCH)];
    for (symbol, error) in errors {
        let places = ["d0003/f00002", "d0005/", "d0007"];
        let troubles = places.map(|path| (path.to_owned(), Trouble::Fails(error)));
        let (fixture, _mounted) = mounted(Storage { troubles: troubles.into(), ..storage(10, 4) });
        for flags in ["-j --inodes -T 1", "-j --inodes -T 2", "-j --inodes", "-j --inodes -L"] {
            let shown = weigh(flags).arg("top").within(fixture.path()).run();
            assert_eq!(shown.code(), 1, "{symbol}, {flags}: {}", shown.complaint());
            let document = Document::parse(&shown.stdout);
            assert_eq!(document.root().size, 51 - 1 - 4 - 5, "{symbol}, {flags}");
            let expected =
                [["top/d0003/f00002", "stat"], ["top/d0005", "open"], ["top/d0007", "stat"]];
            let expected = expected.map(|[path, operation]| [path, operation, symbol]);
            assert_eq!(reported(&document), expected);
        }
    }
}

/// Every name in a large directory fails so. The directory is listed a few times more, not once for each name.
#[test]
#[ignore = "mounts a file system"]
fn a_large_directory_of_what_is_never_found_is_named_in_full() {
    let files = rounds(5_000, 20_000) as u64;
    let trouble = |file| (format!("f{file:05}"), Trouble::Fails(Errno::ENOENT));
    let troubles = (0..files).filter(|file| file % 10 > 0).map(trouble).collect();
    let (fixture, _mounted) = mounted(Storage { troubles, ..storage(0, files) });
    for flags in ["-j --inodes -T 1", "-j --inodes -T 8", "-j --inodes"] {
        let shown = weigh(flags).arg("top").within(fixture.path()).run();
        let document = Document::parse(&shown.stdout);
        assert_eq!(document.root().size, 1 + files / 10, "{flags}");
        assert_eq!(document.errors().len() as u64, files - files / 10, "{flags}");
    }
}

/// What was read before stays. Everything after is an error, and the walk ends.
#[test]
#[ignore = "mounts a file system"]
fn storage_that_goes_away_is_a_loss_and_no_more() {
    let (fixture, mounted) = mounted(Storage { dies_after: Some(700), ..storage(100, 10) });
    let shown = weigh("-j --inodes -T 2").arg("top").within(fixture.path()).run();
    assert_eq!(shown.code(), 1, "{}", shown.complaint());
    let document = Document::parse(&shown.stdout);
    assert_eq!(document.header["complete"], false);
    assert!((1..1101).contains(&document.root().size), "{}", document.root().size);
    assert!(document.errors().iter().any(|error| error["error"] == "ENOTCONN"));
    while !mounted.is_gone() {
        std::thread::yield_now();
    }
}

/// Storage that never answers blocks the thread that asked it, but not the end: weigh shows what the other threads have
/// read by then.
#[test]
#[ignore = "mounts a file system"]
fn hung_storage_does_not_hold_up_the_end() {
    for path in ["d0003/f00002", "d0003", "d0003/"] {
        // If every thread hangs, here the only one, weigh shows what it has.
        for flags in ["-j --inodes -T 1", "-j --inodes -T 4"] {
            let troubles = vec![(path.to_owned(), Trouble::Hangs)];
            let (fixture, mounted) = mounted(Storage { troubles, ..storage(10, 4) });
            let mut child = weigh(flags).arg("top").within(fixture.path()).spawn();
            while mounted.hung() == 0 {
                std::thread::yield_now();
            }
            // The others may go on meanwhile, where there are any.
            settle(&child);
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            let (mut json, mut complaint) = (Vec::new(), String::new());
            child.stdout.take().unwrap().read_to_end(&mut json).unwrap();
            child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(130), "{path}, {flags}: {complaint}");
            let document = Document::parse(&json);
            assert_eq!(document.header["complete"], false);
            let size = document.root().size;
            let least = if flags.ends_with("-T 4") { 30 } else { 1 };
            assert!((least..51).contains(&size), "{path}, {flags}: {size} are shown");
        }
    }
}

/// Symlinks are followed later, several together. Once, if the storage behind one of them never answered, those that
/// waited with it were never closed, and nothing was shown.
#[test]
#[ignore = "mounts a file system"]
fn hung_storage_behind_a_symlink_does_not_hold_up_the_end() {
    let fixture = (0..10).fold(Fixture::new().dir("top").file("links/here/f", 1), |fixture, i| {
        fixture.symlink(format!("../top/d000{i}"), format!("links/{i}"))
    });
    let troubles = vec![("d0003/f00002".to_owned(), Trouble::Hangs)];
    let mounted = Storage { troubles, ..storage(10, 4) }.mount(&fixture.at("top")).unwrap();
    for flags in ["-j --inodes -L -T 1", "-j --inodes -L -T 4"] {
        let hung = mounted.hung();
        let mut child = weigh(flags).arg("links").within(fixture.path()).spawn();
        while mounted.hung() == hung {
            std::thread::yield_now();
        }
        settle(&child);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let mut json = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut json).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{flags}");
        let document = Document::parse(&json);
        assert_eq!(document.header["complete"], false);
        // `links`, `here` and `f`; three directories with four files each; and what there is of the fourth.
        let size = document.root().size;
        assert!((18..24).contains(&size), "{flags}: {size} are shown");
    }
}

/// These tests rely on it: a process that waits for an answer can be killed, and the storage can be unmounted.
#[test]
#[ignore = "mounts a file system"]
fn a_request_without_an_answer_can_be_ended() {
    let hung = || {
        let troubles = vec![("d0001/f00002".to_owned(), Trouble::Hangs)];
        let (fixture, mounted) = mounted(Storage { troubles, ..storage(3, 3) });
        let mut stat = Command::new("stat");
        stat.arg(fixture.at("top/d0001/f00002")).stdout(Stdio::null()).stderr(Stdio::null());
        let child = stat.spawn();
        while mounted.hung() == 0 {
            std::thread::yield_now();
        }
        (fixture, mounted, child.unwrap())
    };
    let (_fixture, _mounted, mut child) = hung();
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "it was killed");

    let (_fixture, mounted, mut child) = hung();
    drop(mounted);
    assert_eq!(child.wait().unwrap().code(), Some(1), "it got an error");
}
