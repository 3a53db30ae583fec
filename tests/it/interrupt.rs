//! Ctrl-C: what is weighed so far is shown, said to be partial, with status 130. The signal meets
//! the walk at any moment, so a run may also have ended before; then its output is whole.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::weigh;

const RUNS: usize = 12;

/// How a run ended that was interrupted.
struct Ended {
    stdout: Vec<u8>,
    stderr: String,
    code: Option<i32>,
}

fn large() -> Fixture {
    let mut fixture = Fixture::in_memory();
    for i in 0..300 {
        for j in 0..100 {
            fixture = fixture.sparse(format!("top/{i}/{}/{j}", j % 10), 1);
        }
    }
    fixture
}

#[test]
fn json_is_whole_and_says_that_it_is_partial() {
    let fixture = large();
    let whole = weigh("-j -s -T 1").arg(fixture.at("top")).run().clean();
    let partial = interrupted(&fixture, "-j -s -T 1", &whole);
    for ended in &partial {
        let document = Document::parse(&ended.stdout);
        assert_eq!(document.header["complete"], false);
        assert!(document.root().size <= 30_000);
        assert_eq!(document.root().name, fixture.at("top").as_os_str().as_encoded_bytes());
    }
}

#[test]
fn a_picture_says_that_it_is_partial() {
    let fixture = large();
    let flags = "-s -c -b -o b -n 5 -T 1";
    let whole = weigh(flags).arg(fixture.at("top")).run().clean();
    for ended in interrupted(&fixture, flags, &whole) {
        let picture = String::from_utf8(ended.stdout).unwrap();
        let said = ended.stderr.contains("interrupted") || ended.stderr.contains("partial");
        assert!(said, "{}", ended.stderr);
        assert!(picture.lines().last().is_some_and(|root| root.contains("top")), "{picture}");
    }
}

/// Nobody reads it, and whoever waits for the status learns that it is partial all the same.
#[test]
fn it_says_that_it_is_partial_where_nobody_reads_it() {
    let fixture = large();
    let mut codes = Vec::new();
    for _ in 0..RUNS {
        let mut child = weigh("-j -T 1").arg(fixture.at("top")).spawn();
        drop(child.stdout.take().unwrap());
        interrupt(&mut child);
        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        let code = child.wait().unwrap().code();
        let is_said = complaint == "weigh: interrupted; totals are a lower bound\n";
        assert!(code == Some(0) && complaint.is_empty() || is_said, "{code:?}: {complaint}");
        codes.push(code);
    }
    assert!(codes.contains(&Some(130)), "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 130))), "{codes:?}");
}

/// The runs that the signal reached in time. Every other one must be as if there had been none.
fn interrupted(fixture: &Fixture, flags: &str, whole: &[u8]) -> Vec<Ended> {
    let mut reached = Vec::new();
    for _ in 0..RUNS {
        let mut child = weigh(flags).arg(fixture.at("top")).spawn();
        interrupt(&mut child);
        let (mut stdout, mut stderr) = (Vec::new(), String::new());
        child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = child.wait().unwrap().code();
        if code == Some(0) {
            assert!(stdout == whole && stderr.is_empty(), "{stderr}");
        } else {
            assert_eq!(code, Some(130), "{stderr}");
            reached.push(Ended { stdout, stderr, code });
        }
    }
    assert!(!reached.is_empty(), "none of {RUNS} runs was interrupted");
    assert!(reached.iter().all(|ended| ended.code == Some(130)));
    reached
}

/// Sends SIGINT once the program listens for it. It is stopped meanwhile, so that it cannot come to
/// its end between the two.
fn interrupt(child: &mut Child) {
    let pid = Pid::from_child(child);
    while !listens(child.id()) {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::yield_now();
    }
    // Not yet waited for, so the number is still its own even if it has ended.
    for signal in [Signal::STOP, Signal::INT, Signal::CONT] {
        kill_process(pid, signal).unwrap();
    }
}

/// Whether the process catches SIGINT, signal 2, from the mask that the kernel shows of it.
fn listens(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 2 != 0)
}
