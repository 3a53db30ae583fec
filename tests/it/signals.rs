//! Signals at any moment of a run on a terminal: it ends, with the status that shells expect, and
//! leaves the terminal as it was. How soon it ended is printed rather than asserted: a busy machine
//! is not to blame for a test (`cargo test signals -- --nocapture`).
#![cfg(target_os = "linux")]

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::pty::Terminal;
use crate::rounds::rounds;
use crate::run::weigh;

/// For each signal.
const MOMENTS: (usize, usize) = (2, 100);

const CTRL_C: &[u8] = b"\x03";

fn large() -> Fixture {
    let mut fixture = Fixture::in_memory();
    for i in 0..10_000 {
        fixture = fixture.sparse(format!("top/{}/{}/{i}.tar", i % 150, i % 7), i);
    }
    fixture
}

/// What ends the run.
#[derive(Clone, Copy, Debug)]
enum End {
    Sent(Signal),
    Typed,
    TypedTwice,
}

/// Runs it on a terminal, ends it after `moment`, and says how it ended and after how long.
fn end(fixture: &Fixture, flags: &str, end: End, moment: Duration) -> (ExitStatus, Duration) {
    let mut terminal = Terminal::new();
    let before = terminal.settings();
    let mut child = weigh(flags).arg("top").within(fixture.path()).on(&terminal).spawn();
    std::thread::sleep(moment);
    let start = Instant::now();
    match end {
        // Nobody has waited for it, so its number is not used again, even if it has ended.
        End::Sent(signal) => kill_process(Pid::from_child(&child), signal).unwrap(),
        End::Typed => terminal.type_in(CTRL_C),
        End::TypedTwice => {
            terminal.type_in(CTRL_C);
            terminal.type_in(CTRL_C);
        }
    }
    let status = child.wait().unwrap();
    let duration = start.elapsed();
    assert_eq!(terminal.settings(), before, "{end:?} after {moment:?}");
    let screen = terminal.close();
    // At a Ctrl-C that is typed, the kernel throws away what the terminal has not read yet. If the program had ended by
    // then, or was about to, nobody turns its colours off.
    if !(status.success() && matches!(end, End::Typed | End::TypedTwice)) {
        let screen = String::from_utf8_lossy(&screen);
        check_screen(&screen, &format!("{end:?} after {moment:?}"));
    }
    (status, duration)
}

/// How long a run on a terminal takes without a signal.
fn undisturbed(fixture: &Fixture, flags: &str) -> Duration {
    let terminal = Terminal::new();
    let start = Instant::now();
    let mut child = weigh(flags).arg("top").within(fixture.path()).on(&terminal).spawn();
    assert!(child.wait().unwrap().success());
    terminal.close();
    start.elapsed()
}

/// Asserts that the cursor is visible, and that text typed now would have no colour.
fn check_screen(screen: &str, what: &str) {
    let [hidden, shown] = ["\x1b[?25l", "\x1b[?25h"].map(|code| screen.rfind(code));
    assert!(hidden <= shown, "{what}: the cursor is hidden: {screen:?}");
    assert!(!screen.contains("panicked"), "{what}: {screen}");
    let is_colour = |code: &&str| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
    let escapes = screen.split("\x1b[").skip(1);
    // One that is cut short has no `m`, and takes what follows for its own.
    let colours = escapes.map(|rest| rest.split_once('m').map_or(rest, |(code, _)| code));
    let last = colours.filter(is_colour).last();
    assert!(matches!(last, None | Some("0")), "{what}: a colour stays: {screen:?}");
}

#[test]
fn a_signal_at_any_moment_ends_it_and_leaves_the_terminal_as_it_was() {
    let fixture = large();
    let mut dice = Dice::new(5);
    for flags in ["", "-n 1000 -C"] {
        for (ends, expected) in [
            (End::Sent(Signal::INT), 130),
            (End::Typed, 130),
            (End::TypedTwice, 130),
            (End::Sent(Signal::TERM), 143),
            (End::Sent(Signal::HUP), 129),
            // That a pipe is gone is no end in itself, once it runs.
            (End::Sent(Signal::PIPE), 0),
        ] {
            let (mut slowest, mut reached) = (Duration::ZERO, 0);
            let mut whole = undisturbed(&fixture, flags);
            while reached < rounds(MOMENTS.0, MOMENTS.1) {
                let moment = Duration::from_micros(dice.below(whole.as_micros() as usize) as u64);
                let (status, duration) = end(&fixture, flags, ends, moment);
                let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap();
                let is_ended = code == expected || code == 141 && expected == 0;
                assert!(is_ended || code == 0, "{ends:?} after {moment:?}: {status}");
                slowest = slowest.max(duration);
                if is_ended {
                    reached += 1;
                } else {
                    // It came too late, or before anybody listened. How long a run takes depends on
                    // what else the machine does now.
                    whole = undisturbed(&fixture, flags);
                }
            }
            println!("weigh {flags}: {ends:?}: {reached} reached it, the slowest took {slowest:?}");
        }
    }
}

#[test]
fn a_terminal_that_takes_nothing_more_keeps_no_signal_from_ending_it() {
    let fixture = large();
    let signals = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];
    let runs = ["-q -n 100000 -C", "--ui"].map(|flags| signals.map(|signal| (flags, signal)));
    for (flags, (signal, expected)) in runs.into_iter().flatten() {
        let mut terminal = Terminal::new();
        terminal.freeze();
        let within = weigh(flags).arg("top").within(fixture.path());
        let mut child = within.on(&terminal).spawn();
        // Long enough to fill what the kernel keeps for the terminal; a signal before that ends it, too.
        std::thread::sleep(Duration::from_secs(1));
        for _ in 0..if flags == "--ui" { 200 } else { 0 } {
            terminal.type_in(b"\t");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(child.try_wait().unwrap().is_none());
        kill_process(Pid::from_child(&child), signal).unwrap();
        let limit = Instant::now() + Duration::from_secs(30);
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > limit => {
                    child.kill().unwrap();
                    panic!("{signal:?} does not end weigh {flags}");
                }
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        assert_eq!(status.code(), Some(expected), "weigh {flags}: {signal:?}");
    }
}

/// The status says so, although writing fails.
#[test]
fn a_terminal_that_hangs_up_ends_it() {
    let fixture = large();
    let mut terminal = Terminal::new();
    terminal.freeze();
    let within = weigh("-q -n 100000 -C").arg("top").within(fixture.path());
    let mut child = within.on(&terminal).spawn();
    std::thread::sleep(Duration::from_secs(1));
    drop(terminal);
    let status = child.wait().unwrap();
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    assert_eq!(code, Some(129), "{status}");
}
