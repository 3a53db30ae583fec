//! The program that leads to another machine: the user's ssh, or what `--rsh` names. It asks for passwords itself, on
//! the terminal. What it says on stderr is kept, as far as that is little, for a message.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indexmap::IndexSet;

use super::host::Host;
use super::script::{ANSWER, COMMAND, TOLD, Way};
use crate::sys::{self, SnapshotFile};
use crate::tree::total::{AnyReplay, Shown};
use crate::tree::{Node, Tree};

/// How the message begins if the program that leads there cannot be started.
pub(super) const NOT_STARTED: &str = "cannot start";

/// How much of what is said on stderr is kept: thousands of lines.
const MOST_SAID: usize = 1 << 20;

/// How many bytes of a line are shown: far more than any message has.
pub(super) const MOST_SHOWN: usize = 500;

/// A machine that was called.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) program: Arc<Mutex<Program>>,
    /// The first lines on stderr, while they come.
    said: Receiver<Vec<u8>>,
    /// Whether it was ended because it said more and more there, and nothing else.
    is_flooded: Arc<AtomicBool>,
}

/// The program that leads there.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    /// As long as its standard input is open, the other side goes on. The thread that writes there keeps it open until
    /// this is dropped.
    input: Option<Sender<Infallible>>,
}

/// How a connection ended.
pub(super) struct ConnectionEnd {
    /// None if it did not end.
    pub(super) status: Option<ExitStatus>,
    /// The first lines on stderr.
    pub(super) said: Vec<Vec<u8>>,
    is_flooded: bool,
}

impl Connection {
    /// Runs the script on `host` through the program and arguments in `rsh`, with what is `asked` as its input. Returns
    /// its output, too. `entries` is how many have arrived from all machines: while one of them lists, none is given
    /// up.
    pub(super) fn open(
        rsh: &[OsString],
        host: &Host,
        asked: Vec<u8>,
        entries: Arc<AtomicU64>,
    ) -> io::Result<(Self, SnapshotFile)> {
        let (program, options) = rsh.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut program = Command::new(program);
        program.args(options).arg("-T");
        if let Some(port) = host.port {
            program.arg("-p").arg(port.to_string());
        }
        program.arg("--").arg(&*sys::to_path(&host.destination)).arg(COMMAND);
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().map_err(|error| {
            let name = program.get_program().display();
            io::Error::new(error.kind(), format!("{NOT_STARTED} {name}: {error}"))
        })?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (input, is_needed) = mpsc::channel();
        let (sender, said) = mpsc::channel();
        let program = Arc::new(Mutex::new(Program { child, input: Some(input) }));
        let is_flooded = Arc::<AtomicBool>::default();
        let connection = Self { program, said, is_flooded };
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        // Beside what is read, because nobody may read more there before something is read here.
        thread::Builder::new().spawn(move || {
            // Who has not read it does not answer for all of it.
            let _ = stdin.write_all(&asked).and_then(|()| stdin.flush());
            let _ = is_needed.recv();
        })?;
        let (listened, has_flooded) =
            (Arc::clone(&connection.program), Arc::clone(&connection.is_flooded));
        // If no thread can be started, stderr is closed.
        let _ = thread::Builder::new().spawn(move || {
            if listen(stderr, &sender, &entries) {
                has_flooded.store(true, Ordering::Relaxed);
                kill(&listened);
            }
        });
        Ok((connection, sys::pipe(stdout)))
    }

    /// Waits for its end after that of its output; not for long, because then nothing can come from it. Others may hold
    /// stderr open after that.
    pub(super) fn finish(&mut self) -> ConnectionEnd {
        /// The end of a session takes a few round trips.
        const PATIENCE: Duration = Duration::from_secs(10);
        let begin = Instant::now();
        let status = loop {
            match ended(&self.program) {
                Ok(None) if begin.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(2)),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        if status.is_none() {
            kill(&self.program);
        }
        let end = Instant::now() + Duration::from_secs(1);
        let mut said = Vec::new();
        while let Ok(line) = self.said.recv_timeout(end.saturating_duration_since(Instant::now())) {
            said.push(line);
        }
        ConnectionEnd { status, said, is_flooded: self.is_flooded.load(Ordering::Relaxed) }
    }
}

impl Drop for Connection {
    /// A program that has ended stays a zombie until somebody waits for it.
    fn drop(&mut self) {
        kill(&self.program);
        let _ = ended(&self.program);
    }
}

impl ConnectionEnd {
    /// Whether nothing is left out of what was said.
    pub(super) fn has_all(&self) -> bool {
        self.said.iter().map(|line| line.len() + 1).sum::<usize>() < MOST_SAID
    }

    /// The last line of what was said on stderr; or if nothing was, what happened, and how the program ended.
    pub(super) fn failure(&self, what: &str) -> io::Error {
        // What follows was left out, and may be the end of the last line.
        let whole = self.said.len() - usize::from(!self.has_all() && self.said.len() > 1);
        let mut lines =
            self.said[..whole].iter().flat_map(|line| line.split(|byte| *byte == b'\r'));
        let last = lines.rfind(|line| !line.trim_ascii().is_empty()).map(<[u8]>::trim_ascii);
        let last = last.map(|line| String::from_utf8_lossy(&line[..line.len().min(MOST_SHOWN)]));
        io::Error::other(match (last, self.status.filter(|status| !status.success())) {
            (Some(last), _) if self.is_flooded => {
                format!("it says more and more on stderr, and lists no more: {last}")
            }
            (Some(last), _) => last.into_owned(),
            (None, Some(status)) => format!("{what} ({status})"),
            (None, None) => what.to_owned(),
        })
    }
}

/// Ends a program, and what it started on the other side.
pub(super) fn kill(program: &Mutex<Program>) {
    let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
    program.input = None;
    // It may have ended.
    let _ = program.child.kill();
}

/// How a program ended, if it has. Nothing more is asked of it.
fn ended(program: &Mutex<Program>) -> io::Result<Option<ExitStatus>> {
    let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
    program.input = None;
    program.child.try_wait()
}

/// Reads all of `stderr`, and passes on the first lines. True as soon as too much was said while none of the `entries`
/// arrived.
fn listen(mut stderr: ChildStderr, said: &Sender<Vec<u8>>, entries: &AtomicU64) -> bool {
    /// find may say as much about entries that are still on their way, because stat is given many at once.
    const MOST_AHEAD: u64 = 16 << 20;
    let first = BufReader::new(stderr.by_ref().take(MOST_SAID as u64));
    for line in first.split(b'\n').map_while(Result::ok) {
        // Nobody may want to know.
        let _ = said.send(line);
    }
    loop {
        let before = entries.load(Ordering::Relaxed);
        let more = io::copy(&mut stderr.by_ref().take(MOST_AHEAD), &mut io::sink());
        match more {
            Ok(MOST_AHEAD) if entries.load(Ordering::Relaxed) == before => return true,
            Ok(MOST_AHEAD) => {}
            _ => return false,
        }
    }
}

/// The answer of the other side, before it lists anything.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) way: Way,
    /// The lines about file systems, without their beginning.
    pub(super) told: Vec<Vec<u8>>,
}

/// Skips what a shell prints before the answer in `output`, and the line that begins the answer. Returns what that
/// says.
pub(super) fn answer(output: &mut SnapshotFile) -> io::Result<Answer> {
    /// More than any shell prints.
    const MOST: u64 = 64 << 10;
    let (mut last, mut told) = (Vec::new(), Vec::new());
    // Byte by byte, because what follows is for others.
    for line in BufReader::with_capacity(1, output.take(MOST)).split(b'\n') {
        let line = line?;
        let name = line.strip_prefix(ANSWER.as_bytes()).unwrap_or_default();
        if let Some((_, way)) = Way::ALL.iter().find(|(way, _)| way.as_bytes() == name) {
            return Ok(Answer { way: *way, told });
        }
        if let Some(line) = line.strip_prefix(TOLD.as_bytes()) {
            told.push(line.to_vec());
            continue;
        }
        if !line.trim_ascii().is_empty() {
            last = line;
        }
    }
    // Where only sftp is allowed, that is said here.
    let last = String::from_utf8_lossy(&last[..last.len().min(MOST_SHOWN)]);
    let but = if last.is_empty() { "" } else { ", but: " };
    Err(io::Error::other(format!("its shell prints no answer{but}{}", last.trim())))
}

// What arrives from another machine: it is counted, and its roots get the name of the machine before their own. They
// must be those that were asked for, each once: the program there may be broken, or lie.

/// The roots that were asked for, and whether each has arrived.
#[derive(Debug, Default)]
pub(super) struct ArrivedRoots {
    asked: HashMap<Vec<u8>, bool>,
    /// What is wrong with the first that should not have arrived.
    wrong: Option<String>,
}

impl ArrivedRoots {
    /// None of the `paths` yet.
    pub(super) fn new(paths: &IndexSet<Vec<u8>>) -> Arc<Mutex<Self>> {
        let asked = paths.iter().map(|path| (path.clone(), false)).collect();
        Arc::new(Mutex::new(Self { asked, wrong: None }))
    }

    fn arrive(&mut self, name: &[u8]) {
        let why = match self.asked.get_mut(name) {
            Some(has_arrived) if !*has_arrived => {
                *has_arrived = true;
                return;
            }
            Some(_) => "twice",
            None => "which was not asked for",
        };
        let name = String::from_utf8_lossy(&name[..name.len().min(MOST_SHOWN)]);
        self.wrong.get_or_insert_with(|| format!("it lists {name}, {why}"));
    }

    /// Fails if a root arrived that was not asked for, or one arrived twice.
    pub(super) fn ensure_asked(this: &Mutex<Self>) -> io::Result<()> {
        let wrong = this.lock().unwrap_or_else(PoisonError::into_inner).wrong.take();
        wrong.map_or(Ok(()), |wrong| Err(io::Error::other(wrong)))
    }
}

/// A replay of what arrives.
pub(super) struct Arriving {
    pub(super) replay: Box<dyn AnyReplay>,
    /// How many directories are open above roots, and how many are open now.
    pub(super) root_depth: usize,
    pub(super) open: usize,
    /// How the names of roots begin.
    pub(super) prefix: Vec<u8>,
    pub(super) roots: Arc<Mutex<ArrivedRoots>>,
    /// How many entries have arrived. The number is only shown.
    pub(super) count: Arc<AtomicU64>,
}

impl Arriving {
    /// Counts `node`, and passes it on to `take`; a root, which is not the node above several, under its name here.
    fn pass<R>(
        &mut self,
        node: &Node<'_>,
        take: impl FnOnce(&mut dyn AnyReplay, &Node<'_>) -> R,
    ) -> R {
        self.count.fetch_add(1, Ordering::Relaxed);
        if self.open > self.root_depth || node.name.is_empty() {
            return take(&mut *self.replay, node);
        }
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).arrive(node.name);
        let name = [&self.prefix, node.name].concat();
        take(&mut *self.replay, &Node { name: &name, ..*node })
    }
}

impl AnyReplay for Arriving {
    fn open(&mut self) {
        self.open += 1;
        self.replay.open();
    }

    fn leaf(&mut self, node: &Node<'_>, is_shown: bool) {
        self.pass(node, |replay, node| replay.leaf(node, is_shown));
    }

    fn close(&mut self, node: &Node<'_>, shown: Shown) {
        self.open = self.open.saturating_sub(1);
        self.pass(node, |replay, node| replay.close(node, shown));
    }

    fn finish(&mut self, node: &Node<'_>) -> Tree {
        self.open = 0;
        self.pass(node, |replay, node| replay.finish(node))
    }
}
