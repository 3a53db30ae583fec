//! The program that leads to another machine: the user's ssh, or what `--rsh` names. It asks for passwords itself, on
//! the terminal. What it says on stderr is kept, as far as that is little, for a message.

use std::ffi::OsString;
use std::io::{self, Read};
use std::mem;
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::host::Host;
use super::script::{ANSWER, Way};
use crate::sys::{self, SnapshotFile};

/// How much of what is said on stderr is kept: thousands of lines.
pub(super) const MOST_SAID: usize = 1 << 20;

/// A machine that was called.
#[derive(Debug)]
pub(super) struct Connection {
    child: Child,
    /// As long as it is open, the other side goes on.
    stdin: Option<ChildStdin>,
    /// The beginning of what was said on stderr.
    said: Arc<Mutex<Vec<u8>>>,
    /// Is closed once stderr has ended.
    ended: Receiver<()>,
}

impl Connection {
    /// Runs `command` on `host` through the program and arguments in `rsh`. Returns its output, too.
    pub(super) fn open(
        rsh: &[OsString],
        host: &Host,
        command: &[u8],
    ) -> io::Result<(Self, SnapshotFile)> {
        let (program, options) = rsh.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut program = Command::new(program);
        program.args(options).arg("-T");
        if let Some(port) = host.port {
            program.arg("-p").arg(port.to_string());
        }
        program.arg("--").arg(&*sys::to_path(&host.destination)).arg(&*sys::to_path(command));
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().map_err(|error| {
            let name = program.get_program().display();
            io::Error::new(error.kind(), format!("cannot start {name}: {error}"))
        })?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let stdin = child.stdin.take();
        let (open, ended) = mpsc::channel();
        let said = Arc::<Mutex<_>>::default();
        let kept = Arc::clone(&said);
        // If no thread can be started, stderr is closed.
        let _ = thread::Builder::new().spawn(move || {
            keep(stderr, &kept);
            drop(open);
        });
        Ok((Self { child, stdin, said, ended }, sys::pipe(stdout)))
    }

    /// Ends it, and what it started on the other side.
    pub(super) fn kill(&mut self) {
        self.stdin = None;
        // It may have ended.
        let _ = self.child.kill();
    }

    /// Waits for its end after that of its output; not for long, because then nothing can come from it. Returns how it
    /// ended, and what was said on stderr, which others may hold open after that.
    pub(super) fn finish(&mut self) -> (Option<ExitStatus>, Vec<u8>) {
        /// The end of a session takes a few round trips.
        const PATIENCE: Duration = Duration::from_secs(10);
        self.stdin = None;
        let begin = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if begin.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(2)),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        if status.is_none() {
            self.kill();
        }
        let _ = self.ended.recv_timeout(Duration::from_secs(1));
        (status, mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Drop for Connection {
    /// A program that has ended stays a zombie until somebody waits for it.
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.try_wait();
    }
}

/// Reads all of `stderr`, and keeps the beginning in `said`.
fn keep(mut stderr: ChildStderr, said: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4 << 10];
    loop {
        let length = match stderr.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // What was said until an error is all that there is.
            Ok(0) | Err(_) => return,
            Ok(length) => length,
        };
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let length = length.min(MOST_SAID - said.len());
        said.extend_from_slice(&piece[..length]);
    }
}

/// Skips what a shell prints before the answer in `output`, and the line that begins the answer. Returns what that
/// says.
pub(super) fn answer(output: &mut SnapshotFile) -> io::Result<Way> {
    /// More than any shell prints.
    const MOST: usize = 64 << 10;
    let mut line = Vec::new();
    for _ in 0..MOST {
        let mut byte = [0];
        // One by one, because what follows is for others.
        output.read_exact(&mut byte)?;
        if byte != *b"\n" {
            line.push(byte[0]);
            continue;
        }
        let way = line.strip_prefix(ANSWER.as_bytes());
        let way = way.and_then(|way| Way::ALL.iter().find(|(name, _)| name.as_bytes() == way));
        if let Some((_, way)) = way {
            return Ok(*way);
        }
        line.clear();
    }
    Err(io::Error::other("its shell prints something else than the answer"))
}
