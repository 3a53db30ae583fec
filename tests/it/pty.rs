//! A pseudo-terminal. The program runs on it in a session of its own, in the foreground, so that a typed Ctrl-C reaches
//! it as at a prompt.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// How long something may take to come to the screen, however busy the machine is.
const WAIT: Duration = Duration::from_secs(60);

/// A terminal of 72 columns and 50 lines.
pub struct Terminal {
    /// The program's end, kept open so that the terminal outlives the program.
    line: File,
    /// Our end: what is written to it is typed.
    keyboard: File,
    /// What came to the screen.
    shown: Arc<Mutex<Vec<u8>>>,
    /// Collects it, until the line is closed, or this end is to be.
    screen: JoinHandle<()>,
    is_closing: Arc<AtomicBool>,
}

impl Terminal {
    pub fn new() -> Self {
        let ours = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let keyboard = openpt(ours).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let theirs = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let line = File::from(rustix::fs::open(name, theirs, Mode::empty()).unwrap());
        let keyboard = File::from(keyboard);
        let mut reader = keyboard.try_clone().unwrap();
        let shown = Arc::<Mutex<Vec<u8>>>::default();
        let seen = Arc::clone(&shown);
        let is_closing = Arc::<AtomicBool>::default();
        let closing = Arc::clone(&is_closing);
        let screen = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // When the line is closed, reading ends with an error (EIO).
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                seen.lock().unwrap().extend_from_slice(&buffer[..length]);
                if closing.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        let terminal = Terminal { line, keyboard, shown, screen, is_closing };
        terminal.stty(&["cols", "72", "rows", "50"]);
        terminal
    }

    /// The program's end, for its standard streams.
    pub fn line(&self) -> File {
        self.line.try_clone().unwrap()
    }

    pub fn type_in(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
    }

    /// Makes it as large as this.
    pub fn resize(&self, columns: usize, lines: usize) {
        self.stty(&["cols", &columns.to_string(), "rows", &lines.to_string()]);
    }

    /// Everything that can be set of it, as `stty -a` has it.
    pub fn settings(&self) -> String {
        self.stty(&["-a"])
    }

    /// Everything that came to the screen.
    pub fn close(self) -> Vec<u8> {
        drop(self.line);
        self.screen.join().unwrap();
        std::mem::take(&mut *self.shown.lock().unwrap())
    }

    /// Takes nothing more, as a window that is frozen.
    pub fn freeze(&mut self) {
        self.is_closing.store(true, Ordering::SeqCst);
        // Wakes the thread that reads.
        self.line.write_all(b"\n").unwrap();
    }

    /// Hangs up, as when a window is closed: the program's end is dead at once, whoever holds it open.
    pub fn hang_up(mut self) {
        self.is_closing.store(true, Ordering::SeqCst);
        // Wakes the thread that reads, so that it closes our end too.
        self.line.write_all(b"\n").unwrap();
        self.screen.join().unwrap();
    }

    /// Waits until `text` has come to the screen since this was asked last, and forgets what came before.
    pub fn wait_for(&self, text: &str) {
        if let Err(shown) = self.comes(text, WAIT) {
            panic!("no {text}: {shown}");
        }
    }

    /// Waits for `text`, and takes what has come to the screen before and with it.
    pub fn until(&self, text: &str) -> String {
        let end = Instant::now() + WAIT;
        loop {
            let mut shown = self.shown.lock().unwrap();
            if let Some(end) = end_of(text, &shown) {
                return String::from_utf8_lossy(&shown.drain(..end).collect::<Vec<_>>()).into();
            }
            assert!(Instant::now() < end, "no {text}: {}", String::from_utf8_lossy(&shown));
            drop(shown);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Types `keys` again and again until `text` comes to the screen. Only what changes is written to a screen, and
    /// that may be a part of `text`; so its width changes, and everything is written.
    pub fn type_until(&mut self, keys: &[u8], text: &str) {
        let end = Instant::now() + WAIT;
        loop {
            self.type_in(keys);
            self.stty(&["cols", "73"]);
            let found = self.comes(text, Duration::from_millis(500));
            self.stty(&["cols", "72"]);
            match found {
                Ok(()) => return,
                Err(shown) => assert!(Instant::now() < end, "no {text}: {shown}"),
            }
        }
    }

    /// Deletes what the review shows, which has so many entries. `D` is refused until the marked entries have been
    /// looked at; one that was typed too often comes into the answer, and is taken back.
    pub fn delete(&mut self, entries: u32) {
        self.type_until(b"D", "ever?");
        self.type_in(format!("{}{entries}\r", "\x7f".repeat(200)).as_bytes());
    }

    /// Waits for `text` so long; or else says what came.
    fn comes(&self, text: &str, long: Duration) -> Result<(), String> {
        let end = Instant::now() + long;
        loop {
            let mut shown = self.shown.lock().unwrap();
            if let Some(end) = end_of(text, &shown) {
                shown.drain(..end);
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(String::from_utf8_lossy(&shown).into_owned());
            }
            drop(shown);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn stty(&self, args: &[&str]) -> String {
        let output = Command::new("stty").args(args).stdin(self.line()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Where `text` ends in what was `shown`. Blanks do not count, unless it is a command for the terminal: cells that stay
/// blank are not written, and the cursor moves over them.
fn end_of(text: &str, shown: &[u8]) -> Option<usize> {
    if text.starts_with('\x1b') {
        let at = shown.windows(text.len()).position(|it| it == text.as_bytes())?;
        return Some(at + text.len());
    }
    let (mut letters, mut at) = (Vec::new(), 0);
    while let Some(byte) = shown.get(at) {
        if *byte != b'\x1b' {
            letters.extend((*byte != b' ').then_some((*byte, at + 1)));
            at += 1;
            continue;
        }
        let is_end: fn(&u8) -> bool = match shown.get(at + 1) {
            Some(b'[') => |it| (0x40..0x7f).contains(it),
            Some(b']') => |it| *it == 7,
            _ => |_| true,
        };
        let rest = shown.get(at + 2..).unwrap_or_default();
        at += 3 + rest.iter().position(is_end)?;
    }
    let text: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    let found = letters
        .windows(text.len())
        .find(|it| it.iter().map(|(byte, _)| *byte).eq(text.iter().copied()));
    found.and_then(|it| it.last()).map(|(_, end)| *end)
}
