//! `strace` makes the k-th call of one kind fail. weigh names what it could not read, with the error's symbol.
//! Everything else is exact, and nothing hangs.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::fixture::{Fixture, raw};
use crate::oracle::{self, Entry, Eyes, Measure, Weight};
use crate::rounds::{for_each, rounds};
use crate::run::{Shown, is_portable, weigh};

const CALLS: [&str; 3] = ["openat", "getdents64", "statx"];
/// The errors of a broken disk, missing permissions, a lost network mount, and too few handles or too little memory.
const ERRORS: [&str; 6] = ["EIO", "EACCES", "ESTALE", "EMFILE", "ENFILE", "ENOMEM"];
/// The errors for an entry that is gone, or has become something else.
const VANISHED: [&str; 4] = ["ENOENT", "ENOTDIR", "ELOOP", "ESRCH"];
/// The calls that may fail, and how many of them in the usual run.
const CALL_NUMBERS: (usize, usize) = (12, 50);

/// 60 directories, so that each kind of call is made more than 50 times. Two names of each inode
/// are far apart: with one of them lost, what is shared changes.
fn branched() -> Fixture {
    branched_in(Fixture::new())
}

fn branched_in(empty: Fixture) -> Fixture {
    (0..60).fold(empty, |fixture, i| {
        let dir = format!("top/{}/{}/{i}", i % 3, i % 7);
        let file = format!("{dir}/f");
        fixture.file(&file, 100 * i).hard_link(&file, format!("top/links/{i}"))
    })
}

/// The tree, and how `strace` makes calls on it fail.
struct Injection<'a> {
    fixture: &'a Fixture,
    top: PathBuf,
    /// Everything in the tree. Calls on other paths, as the dynamic linker makes them, do not fail.
    entries: Vec<Entry>,
}

impl<'a> Injection<'a> {
    fn into(fixture: &'a Fixture) -> Self {
        let top = fixture.at("top");
        let entries = oracle::find(&top, Eyes::Mine);
        Self { fixture, top, entries }
    }

    /// Runs `weigh -j -T THREADS top` with calls that fail as `what` says; also tells how many did.
    fn run(&self, what: &str, threads: usize) -> (Shown, usize) {
        let log = tempfile::Builder::new().tempfile_in(self.fixture.path()).unwrap();
        let mut strace: Vec<_> =
            ["strace", "-f", "-q", "-e", "signal=none", "-o"].map(PathBuf::from).into();
        strace.push(log.path().to_owned());
        for entry in &self.entries {
            strace.extend(["-P".into(), self.path(entry)]);
        }
        strace.extend(["-e".into(), format!("inject={what}").into()]);
        let shown = weigh(&format!("-j -T {threads}")).arg(&self.top).under(strace).run();
        let log = std::fs::read_to_string(log.path()).unwrap();
        (shown, log.matches("(INJECTED)").count())
    }

    fn path(&self, entry: &Entry) -> PathBuf {
        if entry.path.is_empty() { self.top.clone() } else { self.top.join(raw(&entry.path)) }
    }

    /// What is shown is exact, and what is missing lies at or below a path that a message names.
    fn check_rest(&self, document: &Document, what: &str) {
        let nodes =
            if document.nodes[0].kind.is_empty() { Default::default() } else { document.by_path() };
        let named: Vec<_> =
            document.errors().iter().map(|error| error["path"].as_str().unwrap()).collect();
        let is_named = |path: &Path| named.iter().any(|named| path.starts_with(named));
        let (shown, lost): (Vec<_>, Vec<_>) =
            self.entries.iter().cloned().partition(|entry| nodes.contains_key(&entry.path));
        for entry in lost {
            let path = self.path(&entry);
            assert!(is_named(&path), "{what}: {} is missing", path.display());
        }
        assert_eq!(shown.len(), nodes.len(), "{what}: something is listed that is not there");
        for (path, expected) in oracle::directories(&shown, Measure::Disk) {
            let node = nodes[&path];
            assert_eq!(Weight::of(node), expected, "{what}: {}", String::from_utf8_lossy(&path));
        }
    }
}

/// The numbers of the calls that fail: each of the first few, then here and there, or all.
fn call_numbers() -> Vec<usize> {
    let (usual, full) = CALL_NUMBERS;
    let count = rounds(usual, full);
    (1..=count).map(|k| if count == full || k < 5 { k } else { k * 4 }).collect()
}

/// Each call, each of the `errors` that it fails with, and the number of the call that does.
fn cases(errors: &[&'static str]) -> Vec<(&'static str, &'static str, usize)> {
    let mut cases = Vec::new();
    for k in call_numbers() {
        for call in CALLS {
            cases.extend(errors.iter().map(|error| (call, *error, k)));
        }
    }
    cases
}

#[test]
#[ignore = "needs strace"]
fn a_call_that_fails_is_named_and_the_rest_is_exact() {
    let fixture = branched();
    let injection = Injection::into(&fixture);
    let cases = cases(&ERRORS);
    for_each(&cases, |&(call, error, k)| {
        // Each thread counts for itself: only one thread is sure to come to its k-th call.
        let threads = [1, 1, 2][k % 3];
        let what = format!("{call}:error={error}:when={k}");
        let (shown, injected) = injection.run(&what, threads);
        assert!(injected > 0 || threads > 1, "{what}: no call failed");
        let document = Document::parse(&shown.stdout);
        let errors = document.errors();
        // Handles may come back, so opening is tried again; by paths, that takes a statx as well.
        let opens = call == "openat" || is_portable();
        let is_tried_again = opens && matches!(error, "EMFILE" | "ENFILE");
        let is_reported = errors.len() == injected || is_tried_again && errors.len() < injected;
        assert!(is_reported, "{what}: {injected} calls failed, {} are reported", errors.len());
        assert_eq!(shown.code(), i32::from(!errors.is_empty()), "{what}");
        for one in errors {
            assert_eq!(one["error"], error, "{what}");
            let path = one["path"].as_str().unwrap();
            assert!(shown.complaint().contains(path), "{what}: {}", shown.complaint());
        }
        assert_eq!(document.header["complete"], errors.is_empty(), "{what}");
        injection.check_rest(&document, &what);
    });
}

/// From the k-th call on, every call fails, as after a cable is pulled.
#[test]
#[ignore = "needs strace"]
fn calls_that_fail_from_now_on_end_it_in_good_order() {
    let fixture = branched();
    let injection = Injection::into(&fixture);
    for call in CALLS {
        for error in ["EIO", "ENOMEM"] {
            for k in [1, 2, 5, 30] {
                let what = format!("{call}:error={error}:when={k}+");
                let (shown, injected) = injection.run(&what, 2);
                assert_eq!(shown.code(), 1, "{what}");
                let document = Document::parse(&shown.stdout);
                assert_eq!(document.errors().len(), injected, "{what}");
                injection.check_rest(&document, &what);
            }
        }
    }
}

/// Weigh waits two seconds for a free handle. It once did so for each directory, which seemed to be for ever.
#[test]
#[ignore = "needs strace"]
fn what_waits_for_a_handle_in_vain_does_not_wait_again() {
    native_only!("a path is opened by more than one call");
    const TRIES: usize = 2_000;
    let fixture = branched();
    let (shown, injected) = Injection::into(&fixture).run("openat:error=EMFILE:when=3+", 1);
    assert_eq!(shown.code(), 1);
    let errors = Document::parse(&shown.stdout).errors().len();
    assert!(errors > 3 && (TRIES..TRIES + 50).contains(&injected), "{errors}, {injected}");
}

/// With 5 handles, some directories can be opened and others cannot. Each that could once made weigh wait two seconds for
/// the next one that could not.
#[test]
#[ignore = "needs strace"]
fn what_waits_in_vain_does_not_wait_as_long_again_because_others_are_opened() {
    native_only!("a path is opened by more than one call");
    let below = ["/a/b/c", ""];
    let dirs = (0..10).map(|i| format!("top/{i}{}", below[i % 2]));
    let fixture = dirs.fold(Fixture::new(), |fixture, dir| fixture.dir(dir));
    let traced = ["strace", "-f", "-q", "-o", "log", "-e", "trace=openat"];
    let weigh = weigh("-j -T 1 top").within(fixture.path()).under(traced);
    let shown = weigh.limited("-n 5").run();
    assert_eq!(shown.code(), 1);
    let (document, log) = (Document::parse(&shown.stdout), fixture.text("log"));
    let (opened, errors) = (document.nodes.len(), document.errors().len());
    assert!(opened > 10 && errors > 3, "{opened}, {errors}");
    let tried = log.matches("EMFILE").count();
    assert!((2_000..2_500).contains(&tried), "{tried}");
}

/// Slow storage gets more threads than there are cores. Their handles were once not among those that are kept free. Then
/// files of rules could not be opened, and what they leave out counted.
#[test]
#[ignore = "needs strace"]
fn threads_for_slow_storage_have_enough_handles() {
    const LEVELS: u32 = 12;
    let mut fixture = Fixture::in_memory();
    for number in 1..1_usize << LEVELS {
        // The path to a node of a binary tree.
        let bits = format!("{number:b}").replace('0', "/0").replace('1', "/1");
        fixture = fixture.file(format!("top{bits}/out"), 1);
        fs::write(fixture.at(format!("top{bits}/.ignore")), "out\n").unwrap();
    }
    let slow = ["strace", "-f", "-q", "-o", "log", "-e", "inject=openat:delay_enter=10000"];
    let weigh = weigh("-j -f --gitignore top").within(fixture.path()).under(slow);
    let document = weigh.limited("-n 128").run().document();
    assert_eq!(document.root().size, (1 << LEVELS) - 1);
    let log = fixture.text("log");
    assert!(!log.contains("EMFILE"), "{} failed", log.matches("EMFILE").count());
}

/// One call says that an existing entry does not exist. The next one finds it. Once, weigh took the entry for one that
/// was removed during the walk, and left it out without a message.
#[test]
#[ignore = "needs strace"]
fn what_is_said_to_have_vanished_is_found_if_it_is_there() {
    let fixture = branched();
    let injection = Injection::into(&fixture);
    let mut cases = cases(&VANISHED);
    // The C library takes it for the end of the listing (readdir(3), glibc).
    let is_end = |call, error| is_portable() && (call, error) == (CALLS[1], "ENOENT");
    cases.retain(|(call, error, _)| !is_end(*call, *error));
    for_each(&cases, |&(call, error, k)| {
        let what = format!("{call}:error={error}:when={k}");
        let (shown, injected) = injection.run(&what, 1);
        assert!(injected > 0, "{what}: no call failed");
        let document = Document::parse(&shown.stdout);
        let reported = document.errors().len();
        match call {
            // A directory that was listed in part is not listed again.
            "getdents64" => assert_eq!(reported, injected, "{what}"),
            // The first calls are about the root, which must be there.
            _ if k < 5 => assert!(reported <= injected, "{what}"),
            _ => assert_eq!(reported, 0, "{what}"),
        }
        assert_eq!(shown.code(), i32::from(reported > 0), "{what}");
        assert_eq!(document.header["complete"], reported == 0, "{what}");
        injection.check_rest(&document, &what);
    });
}

/// From the k-th call on, every call says that the entry does not exist, although it is listed.
#[test]
#[ignore = "needs strace"]
fn what_is_said_to_have_vanished_for_good_is_named() {
    native_only!("std makes the calls there");
    let fixture = branched();
    let injection = Injection::into(&fixture);
    for call in CALLS {
        for error in VANISHED {
            for k in [1, 2, 3, 4, 5, 9, 30] {
                for threads in [1, 2] {
                    let what = format!("{call}:error={error}:when={k}+");
                    let (shown, injected) = injection.run(&what, threads);
                    assert!(injected > 0, "{what}: no call failed");
                    assert_eq!(shown.code(), 1, "{what}");
                    injection.check_rest(&Document::parse(&shown.stdout), &what);
                }
            }
        }
    }
}

/// A call that a signal interrupts (EINTR) is made again. The portable source leaves that to std.
#[test]
#[ignore = "needs strace"]
fn an_interrupted_call_is_made_again() {
    native_only!("std makes the calls there");
    let fixture = branched();
    let injection = Injection::into(&fixture);
    let mut cases: Vec<String> = Vec::new();
    for call in CALLS {
        let each = call_numbers().into_iter().map(|k| k.to_string());
        cases.extend(each.chain(["1+2".into()]).map(|k| format!("{call}:error=EINTR:when={k}")));
    }
    for_each(&cases, |what| {
        let (shown, injected) = injection.run(what, 1);
        assert!(injected > 0, "{what}: no call was interrupted");
        let document = shown.document();
        assert_eq!(document.nodes.len(), injection.entries.len(), "{what}");
        injection.check_rest(&document, what);
    });
}

/// A call that lists a directory stops early for a signal, with room left for more.
#[test]
#[ignore = "needs strace"]
fn a_listing_that_was_cut_short_is_read_on() {
    for empty in [Fixture::new(), Fixture::in_memory()] {
        let fixture = branched_in(empty);
        let injection = Injection::into(&fixture);
        let what = "getdents64:signal=SIGWINCH";
        let document = injection.run(what, 2).0.document();
        assert_eq!(document.nodes.len(), injection.entries.len());
        injection.check_rest(&document, what);
    }
}

/// Docker's rules of before 2021 refuse calls that they do not know with EPERM. Others are only of use, as for which
/// file system there is.
#[test]
#[ignore = "needs strace"]
fn a_call_that_is_refused_is_done_without() {
    native_only!("the other source does not ask for the kind of a file system");
    let fixture = branched();
    let whole = weigh("-j top").within(fixture.path()).run().clean();
    for call in ["faccessat2", "fstatfs"] {
        let refuse = format!("inject={call}:error=EPERM");
        let strace = ["strace", "-f", "-q", "-o", "log", "-e", &refuse];
        let shown = weigh("-j --save saved top").within(fixture.path()).under(strace).run();
        assert!(fixture.text("log").contains("(INJECTED)"), "{call} is not called");
        assert!(shown.clean() == whole, "{call}");
    }
}
