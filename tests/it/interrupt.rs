//! Ctrl-C: what is weighed so far is shown, said to be partial, with status 130. The signal meets
//! the walk at any moment, so a run may also have ended before; then its output is whole. Where there is
//! no walk to be shown, it is the end.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::{PATIENCE, take_place, weigh};

const RUNS: usize = 12;

/// How a run ended that was interrupted.
struct Ended {
    stdout: Vec<u8>,
    stderr: String,
    code: Option<i32>,
}

pub fn large() -> Fixture {
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

/// A walk was "interrupted", and the save after it had an "operation interrupted".
#[test]
fn what_is_not_saved_is_interrupted_too() {
    let fixture = large();
    let whole = weigh("-j -s -T 1").arg(fixture.at("top")).run().clean();
    let flags = format!("-j -s -T 1 --save {}", fixture.at("saved").display());
    let said: String =
        interrupted(&fixture, &flags, &whole).into_iter().map(|ended| ended.stderr).collect();
    let mut unsaved = said.lines().filter(|line| line.contains("cannot save")).peekable();
    assert!(unsaved.peek().is_some(), "{said}");
    assert!(unsaved.all(|line| line.contains("saved: interrupted")), "{said}");
}

/// Even if nobody reads the output, the exit status says that it is partial.
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
        let is_said = complaint == "weigh: error: interrupted; totals are a lower bound\n";
        assert!(code == Some(0) && complaint.is_empty() || is_said, "{code:?}: {complaint}");
        codes.push(code);
    }
    assert!(codes.contains(&Some(130)), "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 130))), "{codes:?}");
}

/// However long the next entry has to wait for its turn.
#[test]
fn a_slow_rate_does_not_hold_up_the_end() {
    let fixture = large();
    let mut child = weigh("--rate 1").arg(fixture.at("top")).spawn();
    interrupt(&mut child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for (flags, said) in [
        ("--rate 0", "invalid value '0' for '--rate <NUMBER>'"),
        ("--rate 10 --read bulk", "leave out one of them"),
        ("--rate 10 --from x.weigh", "has no effect"),
    ] {
        let run = weigh(flags).within(fixture.path()).run();
        assert_eq!(run.code(), 2, "{flags}");
        assert!(run.complaint().contains(said), "{flags}: {}", run.complaint());
    }
}

/// After Ctrl-C, every directory was marked as a lower bound, also those that were finished.
#[test]
fn finished_directories_stay_exact() {
    let fixture = large();
    let flags = "-s -c -b -r -d 1 -n 1000 -o b -T 1";
    let whole = weigh(flags).arg(fixture.at("top")).run().text();
    let line_of =
        |line: &str| line.split_once("── ").map(|(size, name)| (name.to_owned(), size.to_owned()));
    let exact: std::collections::BTreeMap<_, _> = whole.lines().filter_map(line_of).collect();
    assert_eq!(exact.len(), 300, "{whole}");
    let (mut complete, mut partial) = (0, 0);
    let mut runs = (0..10).flat_map(|_| interrupted(&fixture, flags, whole.as_bytes()));
    while complete == 0 {
        let ended = runs.next().unwrap_or_else(|| panic!("only {partial} partial directories"));
        let text = String::from_utf8(ended.stdout).unwrap();
        assert!(text.lines().next().is_none_or(|root| root.contains('≥')), "{text}");
        for (name, size) in text.lines().filter_map(line_of) {
            if size.contains('≥') {
                partial += 1;
            } else {
                assert_eq!(
                    size.split_whitespace().next(),
                    exact[&name].split_whitespace().next(),
                    "{name}"
                );
                complete += 1;
            }
        }
    }
}

/// The runs that the signal reached in time: the first as soon as it can, each further one later in the walk. All
/// others must be complete.
fn interrupted(fixture: &Fixture, flags: &str, whole: &[u8]) -> Vec<Ended> {
    let started = Instant::now();
    weigh(flags).arg(fixture.at("top")).run();
    let lasts = started.elapsed();
    let mut reached = Vec::new();
    for run in 0..RUNS as u32 {
        let mut child = weigh(flags).arg(fixture.at("top")).spawn();
        std::thread::sleep(lasts * run / (2 * RUNS as u32));
        interrupt(&mut child);
        let (mut stdout, mut stderr) = (Vec::new(), String::new());
        child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        take_place(&mut stdout);
        let code = child.wait().unwrap().code();
        if code == Some(0) {
            assert!(stdout == whole && stderr.is_empty(), "{stderr}");
        } else if stderr.is_empty() {
            // It came after the walk.
            assert!(code == Some(130) && whole.starts_with(&stdout));
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
pub fn interrupt(child: &mut Child) {
    let pid = Pid::from_child(child);
    while !listens(child.id()) {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::yield_now();
    }
    // Nobody has waited for it, so its number is not used again, even if it has ended.
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

/// While nothing is walked, the first Ctrl-C ends it: a snapshot that is loaded, or compared with, comes from
/// a FIFO that nobody writes to, or has begun and does not go on; or one is saved to a FIFO that nobody
/// reads.
#[test]
fn the_first_ctrl_c_ends_what_waits() {
    let fixture = Fixture::new().file("top/f", 1).fifo("pipe");
    let (reader, writer) = std::io::pipe().unwrap();
    for flags in ["--from pipe", "--from -", "diff top --since pipe", "top --save pipe"] {
        let stdin = File::from(OwnedFd::from(reader.try_clone().unwrap()));
        let mut child = weigh(flags).within(fixture.path()).stdin(stdin).spawn();
        // Once it waits at the FIFO, it walks no more.
        let _held = flags.contains("since").then(|| write_end(&fixture.at("pipe"), &mut child));
        if flags.contains("save") {
            wait_until_asleep(&child);
        }
        interrupt(&mut child);
        let (code, stdout, _) = end(child);
        assert_eq!((code, stdout.len()), (Some(130), 0), "weigh {flags}");
    }
    drop(writer);
}

/// Nobody reads its output, so it waits for ever.
#[test]
fn the_first_ctrl_c_ends_what_is_written() {
    let fixture = large();
    for flags in ["-j", "-c -n 20000"] {
        let mut child = weigh(flags).arg(fixture.at("top")).spawn();
        // As long as nobody reads more, it cannot end.
        let mut first = [0];
        child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        assert_eq!(end(child).0, Some(130), "weigh {flags}");
    }
}

/// While a snapshot is saved, Ctrl-C leaves the old one and nothing beside it. SIGTERM ends weigh at once: the old one
/// stays, too, and what is beside it goes with the next one that is saved.
#[test]
fn the_first_ctrl_c_ends_saving_and_leaves_no_draft() {
    let place = Fixture::new();
    let leaf = r#",{"name":"somewhat long","kind":"file","size":4096}"#;
    let snapshot = format!(
        r#"{{"schema":1,"measure":"disk","complete":true,"time":1,"name":"r","kind":"directory",
        "size":0,"children":[{}{}]}}"#,
        &leaf[1..],
        leaf.repeat(200_000)
    );
    crate::saved::write(place.at("large"), &snapshot);
    let is_draft = || {
        let mut names = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().starts_with(".weigh-draft-of-"))
    };
    end(weigh("large --save first").within(place.path()).spawn());
    let old = place.bytes("first");
    let mut reached = 0;
    let save = |file| weigh("--from large --save").arg(file).within(place.path());
    for file in ["saved", "saved.weigh"] {
        for _ in 0..RUNS {
            fs::write(place.at(file), &old).unwrap();
            let mut child = save(file).spawn();
            while !is_draft() && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            interrupt(&mut child);
            let (code, stdout, stderr) = end(child);
            assert!(!is_draft(), "{stderr}");
            let is_old = place.bytes(file) == old;
            if code == Some(0) {
                assert!(!is_old && stderr.is_empty());
                continue;
            }
            assert_eq!((code, stdout.len()), (Some(130), 0), "{stderr}");
            assert!(!is_old || stderr.contains("cannot save saved"), "{stderr}");
            reached += usize::from(is_old);
        }
        fs::write(place.at(file), &old).unwrap();
        let mut child = save(file).spawn();
        // On a busy machine, the draft may come and go between two looks.
        while !is_draft() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        if child.try_wait().unwrap().is_none() {
            kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        }
        let status = child.wait_with_output().unwrap().status;
        let is_old = place.bytes(file) == old;
        assert!(is_old && status.signal() == Some(15) || status.success(), "{file}: {status}");
        save(file).run().clean();
        assert!(!is_draft() && place.bytes(file) != old);
    }
    assert!(reached > 0, "none of {RUNS} was interrupted");
}

/// How it ended, which it has to in time.
fn end(mut child: Child) -> (Option<i32>, Vec<u8>, String) {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it goes on");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

/// The FIFO's end to write to, as soon as the program has opened the other.
fn write_end(fifo: &Path, child: &mut Child) -> File {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    loop {
        match rustix::fs::open(fifo, flags, Mode::empty()) {
            Ok(end) => return File::from(end),
            Err(error) => assert_eq!(error, Errno::NXIO),
        }
        assert!(child.try_wait().unwrap().is_none(), "it does not wait");
        std::thread::yield_now();
    }
}

/// Waits until it waits for who opens the other end of a FIFO (fs/pipe.c).
fn wait_until_asleep(child: &Child) {
    let path = format!("/proc/{}/wchan", child.id());
    while fs::read_to_string(&path).unwrap() != "wait_for_partner" {
        std::thread::yield_now();
    }
}
