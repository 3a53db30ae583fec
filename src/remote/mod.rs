//! Other machines: what `host:/path` names is weighed there, and the result is read here while it arrives, as a
//! snapshot is. The way there is the user's own ssh, one connection for each machine. Nothing is written there.
//!
//! * `host`: which machine and which path a PATH names.
//! * `script`: what runs there: weigh, or else find.
//! * `connection`: the program that leads there.
//! * `arriving`: counts and names what arrives. `found`: what find prints.

mod arriving;
mod connection;
mod found;
mod host;
mod script;

pub use host::Host;

use std::ffi::OsString;
use std::io;
use std::mem;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;
use crate::measure::View;
use crate::problem::{Operation, Problem};
use crate::snapshot::{self, Origin, Snapshot, Wanted};
use crate::sys::SnapshotFile;
use crate::tally::Tally;
use arriving::Arriving;
use connection::Connection;
use script::Way;

/// What is to be weighed on other machines, and how to get there.
#[derive(Clone, Debug, Default)]
pub struct Remote {
    /// The machines, each once.
    pub hosts: Vec<Host>,
    /// The program that leads there, with its first arguments.
    pub rsh: Vec<OsString>,
    /// The flags for weigh on the other side.
    pub flags: Vec<OsString>,
    /// A flag that only weigh understands, if there is one.
    pub needs_weigh: Option<&'static str>,
    /// Whether find stays on one file system.
    pub one_file_system: bool,
    /// The machines that have answered by now, in their order. All clones share them, and the first that needs them
    /// takes them.
    answered: Arc<Mutex<Vec<Answered>>>,
}

/// A machine that has answered: with what, and its output.
type Answered = (Connection, SnapshotFile, Option<Way>);

/// What has come so far from all machines. The numbers guard nothing.
#[derive(Default)]
struct SoFar {
    /// How many entries have arrived.
    entries: Arc<AtomicU64>,
    /// How many machines have not answered. The programs that lead there may ask for passwords on the terminal.
    silent: AtomicUsize,
}

/// What arrived from a machine.
#[derive(Debug)]
pub struct Arrived {
    /// The result, as that of a snapshot.
    pub snapshot: Snapshot,
    /// Whether filters were applied there.
    pub is_filtered: bool,
}

impl Remote {
    /// That of `hosts`, reached through the command `rsh`, with these `flags` for weigh there.
    pub fn new(hosts: Vec<Host>, rsh: &str, flags: Vec<OsString>) -> Self {
        let rsh = rsh.split_whitespace().map(OsString::from).collect();
        let mut joined: Vec<Host> = Vec::new();
        for mut host in hosts {
            match joined.iter_mut().find(|other| other.prefix == host.prefix) {
                Some(other) => {
                    // find would list it twice.
                    host.paths.retain(|path| !other.paths.contains(path));
                    other.paths.append(&mut host.paths);
                }
                None => joined.push(host),
            }
        }
        Self { hosts: joined, rsh, flags, ..Self::default() }
    }

    /// Waits until all machines answer. Programs that lead there may meanwhile ask for passwords on the terminal.
    ///
    /// # Errors
    /// Why the first that fails does so.
    pub fn call(&self) -> Result<(), Problem> {
        let mut opened = Vec::new();
        for host in &self.hosts {
            opened.push(self.open(host).map_err(|error| problem(host, &error))?);
        }
        for (host, (connection, output, way)) in self.hosts.iter().zip(&mut opened) {
            *way = Some(connection::answer(output).map_err(|error| why(host, connection, &error))?);
        }
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = opened;
        Ok(())
    }

    /// Begins to weigh on `host`.
    fn open(&self, host: &Host) -> io::Result<Answered> {
        let command = script::command(&host.paths, &self.flags, self.one_file_system);
        let (connection, output) = Connection::open(&self.rsh, host, &command)?;
        Ok((connection, output, None))
    }

    /// Weighs on all machines at the same time, each with one of the `tallies`. Once all have answered, calls `watch`
    /// about ten times a second, with the number of entries that have arrived, and a machine that is waited for.
    pub fn weigh<T: Tally + 'static>(
        &self,
        wanted: Wanted,
        tallies: impl IntoIterator<Item = impl FnOnce(View) -> T + Send + 'static>,
        interrupt: &Interrupt,
        watch: impl FnMut(u64, &[u8]),
    ) -> Vec<Result<Arrived, Problem>> {
        let answered =
            mem::take(&mut *self.answered.lock().unwrap_or_else(PoisonError::into_inner));
        let (mut answered, so_far) = (answered.into_iter(), Arc::new(SoFar::default()));
        let (sender, receiver) = mpsc::channel();
        let mut connections = Vec::new();
        for (number, (host, tally)) in self.hosts.iter().zip(tallies).enumerate() {
            let opened = answered.next().map_or_else(|| self.open(host), Ok);
            let (sender, so_far, host) = (sender.clone(), Arc::clone(&so_far), host.clone());
            let limits = (self.needs_weigh, self.one_file_system);
            connections.push(opened.and_then(|(connection, mut output, way)| {
                so_far.silent.fetch_add(1, Ordering::Relaxed);
                let read = move || {
                    let way = way.map_or_else(|| connection::answer(&mut output), Ok);
                    so_far.silent.fetch_sub(1, Ordering::Relaxed);
                    let from = (&host, Arc::clone(&so_far.entries));
                    let arrived =
                        way.and_then(|way| read((output, way), from, limits, wanted, tally));
                    // The receiver is gone after an interrupt.
                    let _ = sender.send((number, arrived));
                };
                thread::Builder::new().spawn(read).map(|_| connection)
            }));
        }
        drop(sender);
        self.collect(connections, &receiver, &so_far, interrupt, watch)
    }

    /// Collects what arrives through the `connections`, each of which a thread reads and hands to the `receiver`.
    fn collect(
        &self,
        mut connections: Vec<io::Result<Connection>>,
        receiver: &Receiver<(usize, io::Result<Arrived>)>,
        so_far: &SoFar,
        interrupt: &Interrupt,
        mut watch: impl FnMut(u64, &[u8]),
    ) -> Vec<Result<Arrived, Problem>> {
        /// How long a machine has to end after an interrupt.
        const PATIENCE: Duration = Duration::from_secs(1);
        let hosts = self.hosts.iter().zip(&connections);
        let mut results: Vec<Option<_>> = hosts
            .map(|(host, it)| it.as_ref().err().map(|error| Err(problem(host, error))))
            .collect();
        let mut interrupted: Option<Instant> = None;
        while let Some(next) = results.iter().position(Option::is_none) {
            match receiver.recv_timeout(Duration::from_millis(100)) {
                Ok((number, arrived)) => {
                    let Ok(connection) = &mut connections[number] else { continue };
                    results[number] = Some(finished(&self.hosts[number], connection, arrived));
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The thread has panicked.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if so_far.silent.load(Ordering::Relaxed) == 0 {
                watch(so_far.entries.load(Ordering::Relaxed), &self.hosts[next].first());
            }
            match interrupted {
                None if interrupt.is_asked() => {
                    interrupted = Some(Instant::now());
                    connections.iter_mut().flatten().for_each(Connection::kill);
                }
                Some(begin) if begin.elapsed() > PATIENCE => break,
                _ => {}
            }
        }
        let unfinished = io::Error::other("interrupted");
        let results = self.hosts.iter().zip(results);
        results.map(|(host, it)| it.unwrap_or_else(|| Err(problem(host, &unfinished)))).collect()
    }
}

/// Reads `output` of `host`, after the line that says how that weighs. Counts what arrives.
fn read<T: Tally>(
    (output, way): (SnapshotFile, Way),
    (host, count): (&Host, Arc<AtomicU64>),
    (needs_weigh, one_file_system): (Option<&str>, bool),
    wanted: Wanted,
    tally: impl FnOnce(View) -> T,
) -> io::Result<Arrived> {
    let prefix = host.prefix.clone();
    // What find prints is counted while it is sorted, before the tally gets it.
    let counted = if way == Way::Weigh { Arc::clone(&count) } else { Arc::default() };
    let tally = move |view| Arriving { tally: tally(view), prefix, count: counted };
    let mut snapshot = match (way, needs_weigh) {
        (Way::Weigh, _) => snapshot::read_from(output, wanted, tally)?,
        (Way::Find, Some(flag)) => {
            let version = script::version();
            let message = format!("{flag} needs weigh {version} there, and there is none");
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        (Way::Find, None) => found::read(output, (host, &count), one_file_system, wanted, tally)?,
    };
    for problem in &mut snapshot.weighed.problems {
        problem.path = [&host.prefix, &*problem.path].concat();
    }
    let origin = snapshot.origin.get_or_insert_with(Origin::default);
    origin.host = host.name();
    for name in origin.roots.iter_mut().filter_map(|root| root.name.as_mut()) {
        *name = [&*host.prefix, name].concat();
    }
    Ok(Arrived { snapshot, is_filtered: way == Way::Weigh })
}

/// What was `read` from `host`, once the `connection` has ended, too.
fn finished(
    host: &Host,
    connection: &mut Connection,
    read: io::Result<Arrived>,
) -> Result<Arrived, Problem> {
    let mut arrived = read.map_err(|error| why(host, connection, &error))?;
    let (status, said) = connection.finish();
    let weighed = &mut arrived.snapshot.weighed;
    let (problems, has_report) = (&mut weighed.problems, weighed.report.is_some());
    match status {
        Some(status) if status.success() && (has_report || arrived.is_filtered) => {}
        // What arrived says that something is missing.
        Some(status) if status.code() == Some(1) && arrived.is_filtered => {}
        // find does not; or the connection was cut.
        Some(status) if !arrived.is_filtered => {
            let (mut unread, has_only_gone) = found::problems(&said, host);
            problems.append(&mut unread);
            let has_all = said.len() < connection::MOST_SAID && has_report;
            let is_complete = has_only_gone && has_all && status.code() == Some(1);
            if problems.is_empty() && !is_complete {
                problems.push(problem(host, &failure((Some(status), said), "find has failed")));
            }
        }
        status => {
            return Err(problem(host, &failure((status, said), "it did not end as it should")));
        }
    }
    Ok(arrived)
}

/// Why nothing can be read from `host`: what the program that leads there says, or the `error`.
fn why(host: &Host, connection: &mut Connection, error: &io::Error) -> Problem {
    if error.kind() == io::ErrorKind::Unsupported {
        return problem(host, error);
    }
    let ended = connection.finish();
    problem(host, &failure(ended, &error.to_string()))
}

/// The last line of what was said on stderr; or if nothing was, how the program ended, and what happened.
fn failure((status, said): (Option<ExitStatus>, Vec<u8>), otherwise: &str) -> io::Error {
    /// Far longer than any message.
    const MOST: usize = 500;
    let mut lines = said.split(|byte| b"\r\n".contains(byte)).map(<[u8]>::trim_ascii);
    let last = lines.rfind(|line| !line.is_empty());
    let last = last.map(|line| String::from_utf8_lossy(&line[..line.len().min(MOST)]));
    io::Error::other(match (last, status.filter(|status| !status.success())) {
        (Some(last), _) => last.into_owned(),
        (None, Some(status)) => format!("{otherwise} ({status})"),
        (None, None) => otherwise.to_owned(),
    })
}

fn problem(host: &Host, error: &io::Error) -> Problem {
    Problem::new(host.first(), Operation::Load, error)
}
