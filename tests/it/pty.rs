//! A terminal of our own: a program on it runs in a session of its own, in the foreground, so that
//! a Ctrl-C that is typed reaches it as it would at a prompt.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A terminal of 72 columns and 50 lines.
pub struct Terminal {
    /// The program's end. Held open, so that the terminal outlives the program.
    line: File,
    /// Our end: what is written to it is typed.
    keyboard: File,
    /// Collects what comes to the screen, until the line is closed.
    screen: JoinHandle<Vec<u8>>,
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
        let screen = std::thread::spawn(move || {
            let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
            // When the line is closed, reading ends with an error (EIO).
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                shown.extend_from_slice(&buffer[..length]);
            }
            shown
        });
        let terminal = Terminal { line, keyboard, screen };
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

    /// Everything that can be set of it, as `stty -a` has it.
    pub fn settings(&self) -> String {
        self.stty(&["-a"])
    }

    /// Everything that came to the screen.
    pub fn close(self) -> Vec<u8> {
        drop(self.line);
        self.screen.join().unwrap()
    }

    fn stty(&self, args: &[&str]) -> String {
        let output = Command::new("stty").args(args).stdin(self.line()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}
