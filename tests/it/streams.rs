//! Standard streams that are closed, full, slow, or closed by the reader: no panic, and the exit status says if output
//! was lost. There is one exception. If standard output is closed from the start, std opens /dev/null in its place, and
//! the status is 0.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::time::Duration;

use crate::fixture::Fixture;
use crate::run::{Weigh, take_place, weigh};

/// Much more than a pipe or a buffer holds.
fn long() -> Fixture {
    (0..3000).fold(Fixture::in_memory(), |fixture, i| {
        fixture.sparse(format!("top/{}/{i}-{}", i % 10, "x".repeat(60)), 1)
    })
}

const KINDS: [&str; 2] = ["-c -n 5000", "-j"];

/// Every other form.
const FORMS: [&str; 3] = ["--as csv", "--as ndjson", "--as ncdu"];

/// Started with its streams as `how` has them in the shell's language.
fn with_streams(fixture: &Fixture, flags: &str, how: &str) -> Weigh {
    let script = format!("exec \"$0\" \"$@\" {how}");
    weigh(flags).arg("top").arg("gone").within(fixture.path()).under(["/bin/sh", "-c", &script])
}

#[test]
fn what_is_closed_from_the_start_changes_nothing_else() {
    let fixture = long();
    for flags in KINDS {
        let expected = with_streams(&fixture, flags, "").run();
        assert_eq!(expected.code(), 1, "one root is missing");
        for how in [
            "<&-",
            "2>&-",
            "<&- 2>&-",
            ">&-",
            "<&- >&-",
            ">&- 2>&-",
            "<&- >&- 2>&-",
            "1<>/dev/null",
        ] {
            let shown = with_streams(&fixture, flags, how).run();
            assert_eq!(shown.code(), 1, "weigh {flags} {how}");
            let seen =
                |stream: &[u8], is_closed| if is_closed { Vec::new() } else { stream.to_vec() };
            let is_closed = how.split(' ').any(|word| [">&-", "1<>/dev/null"].contains(&word));
            assert!(shown.stdout == seen(&expected.stdout, is_closed), "weigh {flags} {how}");
            assert!(
                shown.stderr == seen(&expected.stderr, how.contains("2>")),
                "weigh {flags} {how}"
            );
        }
    }
}

#[test]
fn what_is_lost_on_a_full_device_is_a_failure() {
    let fixture = long();
    for flags in ["-c", "-j", "--help", "--version"] {
        for how in [">/dev/full", ">/dev/full 2>&1", ">/dev/full 2>&-"] {
            let script = format!("exec \"$0\" \"$@\" {how}");
            let starter = ["/bin/sh", "-c", &script];
            let shown = weigh(flags).arg("top").within(fixture.path()).under(starter).run();
            assert_eq!(shown.code(), 1, "weigh {flags} {how}: {}", shown.complaint());
        }
    }
    // That the complaint is lost is no second failure.
    let shown = with_streams(&fixture, "-j", "2>/dev/full").run();
    assert_eq!((shown.code(), shown.stdout.is_empty()), (1, false));
}

/// std takes the error of a standard output that is only for reading for success.
#[test]
fn an_output_that_cannot_be_written_to_is_a_failure() {
    let fixture = long();
    for flags in ["-c", "-j", "--as csv", "-F", "--summarize", "--help", "--version", "df"] {
        let starter = ["/bin/sh", "-c", "exec \"$0\" \"$@\" 1</dev/null"];
        let shown = weigh(flags).within(fixture.path()).under(starter).run();
        let expected = "weigh: error: cannot write the output: Bad file descriptor\n";
        assert_eq!((shown.code(), &*shown.complaint()), (1, expected), "weigh {flags}");
    }
}

#[test]
fn a_slow_reader_gets_everything() {
    let fixture = long();
    for flags in KINDS {
        let whole = weigh(flags).arg("top").within(fixture.path()).run().clean();
        let mut child = weigh(flags).arg("top").within(fixture.path()).spawn();
        let (mut pipe, mut read) = (child.stdout.take().unwrap(), Vec::new());
        let mut buffer = [0; 4001];
        while let length @ 1.. = pipe.read(&mut buffer).unwrap() {
            read.extend_from_slice(&buffer[..length]);
            std::thread::sleep(Duration::from_millis(2));
        }
        take_place(&mut read);
        assert!(read == whole, "weigh {flags}");
        assert!(child.wait().unwrap().success());
    }
}

/// `weigh | head`, where the reader leaves in the middle of it all.
#[test]
fn a_reader_who_leaves_ends_it_quietly() {
    let fixture = long();
    for flags in KINDS.into_iter().chain(FORMS) {
        let mut child = weigh(flags).arg("top").within(fixture.path()).spawn();
        child.stdout.take().unwrap().read_exact(&mut [0; 100]).unwrap();
        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert_eq!((child.wait().unwrap().code(), complaint.as_str()), (Some(0), ""), "{flags}");
    }
}

/// What could not be read, and what it came to, is for whoever waits for the status.
#[test]
fn a_reader_who_leaves_silences_nothing_else() {
    let fixture = long();
    for (flags, code) in [("-j", 1), ("-c -n 5000", 1), ("--as csv", 1), ("-j -s --fail-over 1", 3)]
    {
        let expected = with_streams(&fixture, flags, "").run().complaint();
        assert!(expected.starts_with("weigh: error: gone: "), "{expected}");
        let mut child = with_streams(&fixture, flags, "").spawn();
        drop(child.stdout.take().unwrap());
        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert_eq!((child.wait().unwrap().code(), complaint), (Some(code), expected), "{flags}");
    }
}
