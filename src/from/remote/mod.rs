//! Other machines: what `host:/path` names is weighed there, and the result is read here while it arrives, as a
//! snapshot is. The way there is the user's own ssh, one connection for each machine. Nothing is written there.
//!
//! * `host`: which machine and which path a PATH names.
//! * `script`: what runs there: weigh, or else find.
//! * `connection`: the program that leads there, and the bytes that arrive.
//! * `found`: what find prints.
//! * `space`: how full file systems there are, as df prints it.

mod connection;
mod found;
mod host;
mod script;
mod space;

use std::collections::HashSet;
use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, mem, thread};

use connection::{Answer, ArrivedRoots, Arriving, Connection, ConnectionEnd, Program};
use indexmap::IndexMap;
use script::Way;

use crate::base::interrupt::Interrupt;
use crate::from::snapshot::{self, FileSystem, Origin, Snapshot, Unknown, Wanted};
use crate::sys::SnapshotFile;
use crate::sys::problem::{Operation, Problem};
use crate::tree::total::BeginReplay;

pub use host::Host;

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
    /// Whether they are asked how full the file systems around the paths are, and list all of these.
    pub tells_space: bool,
    /// The machines that have answered by now, in their order. All clones share them, and the first that needs them
    /// takes them.
    answered: Arc<Mutex<Vec<Result<Called, Problem>>>>,
    /// How many entries have arrived from all machines. The number guards nothing.
    entries: Arc<AtomicU64>,
}

/// A machine that was called: the way there, its output, and the answer, if that was waited for.
type Called = (Connection, SnapshotFile, Option<io::Result<Answer>>);

/// What arrives from all machines, each of which a thread reads.
pub struct Arrivals<'r> {
    remote: &'r Remote,
    programs: Vec<Arc<Mutex<Program>>>,
    receiver: Receiver<(usize, Result<Snapshot, Problem>)>,
    /// How many machines have not answered. The programs that lead there may ask for passwords on the terminal. The
    /// number guards nothing.
    silent: Arc<AtomicUsize>,
}

impl Remote {
    /// That of `hosts`, reached through the command `rsh`, with these `flags` for weigh there.
    pub fn new(hosts: Vec<Host>, rsh: &str, flags: Vec<OsString>) -> Self {
        let rsh = rsh.split_whitespace().map(OsString::from).collect();
        let mut joined: IndexMap<Vec<u8>, Host> = IndexMap::new();
        for host in hosts {
            match joined.get_mut(&host.prefix) {
                Some(other) => other.paths.extend(host.paths),
                None => _ = joined.insert(host.prefix.clone(), host),
            }
        }
        Self { hosts: joined.into_values().collect(), rsh, flags, ..Self::default() }
    }

    /// The paths, as they were typed, of machines that could not be reached, as the `problems` say, although the program
    /// that leads there has started.
    pub fn unreached<'r>(&'r self, problems: &'r [Problem]) -> impl Iterator<Item = &'r [u8]> {
        let is_of = |host: &Host, problem: &Problem| {
            problem.operation == Operation::Load
                && problem.path == host.first()
                && !problem.message.starts_with(connection::NOT_STARTED)
        };
        let hosts = self.hosts.iter();
        let hosts = hosts.filter(move |host| problems.iter().any(|problem| is_of(host, problem)));
        hosts.map(|host| &*host.typed)
    }

    /// Waits until all machines answer, or fail. Programs that lead there may meanwhile ask for passwords on the
    /// terminal.
    pub fn call(&self) {
        let mut called: Vec<_> = self.hosts.iter().map(|host| self.open(host)).collect();
        for (_, output, way) in called.iter_mut().flatten() {
            *way = Some(connection::answer(output));
        }
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = called;
    }

    /// Waits until all machines answer, and returns how full the file systems around the paths are, each once. From then
    /// on, these are the paths.
    pub fn call_about_space(&mut self) -> ToldSpaces {
        self.call();
        let mut all = ToldSpaces::default();
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let called = mem::take(&mut self.hosts).into_iter().zip(mem::take(&mut *answered));
        for (mut host, called) in called {
            if let Ok((_, _, Some(Ok(answer)))) = &called {
                all.add(&mut host, space::read(&answer.told));
            }
            // The scan says why a machine cannot be reached.
            if !host.paths.is_empty() {
                self.hosts.push(host);
                answered.push(called);
            }
        }
        drop(answered);
        all
    }

    /// Begins to weigh on `host`.
    fn open(&self, host: &Host) -> Result<Called, Problem> {
        let asked = script::asked(&host.paths, &self.flags, self.one_file_system, self.tells_space);
        let entries = Arc::clone(&self.entries);
        let opened = Connection::open(&self.rsh, host, asked, entries);
        let (connection, output) = opened.map_err(|error| problem(host, &error))?;
        Ok((connection, output, None))
    }

    /// Begins to weigh on all machines at the same time, each with one of the `replays`.
    pub fn begin(&self, wanted: Wanted, replays: Vec<BeginReplay<'static>>) -> Arrivals<'_> {
        let answered =
            mem::take(&mut *self.answered.lock().unwrap_or_else(PoisonError::into_inner));
        let (mut answered, silent) = (answered.into_iter(), Arc::new(AtomicUsize::new(0)));
        let (sender, receiver) = mpsc::channel();
        let mut programs = Vec::new();
        for (number, (host, begin)) in self.hosts.iter().zip(replays).enumerate() {
            let called = match answered.next().unwrap_or_else(|| self.open(host)) {
                Ok(called) => called,
                Err(problem) => {
                    let _ = sender.send((number, Err(problem)));
                    continue;
                }
            };
            programs.push(Arc::clone(&called.0.program));
            silent.fetch_add(1, Ordering::Relaxed);
            let (remote, sender, silent) = (self.clone(), sender.clone(), Arc::clone(&silent));
            // If no thread can be started, nothing arrives. The receiver is gone after an interrupt.
            let _ = thread::Builder::new().spawn(move || {
                let host = &remote.hosts[number];
                let arrived = remote.weigh(host, called, &silent, wanted, begin);
                let _ = sender.send((number, arrived.map_err(|error| problem(host, &error))));
            });
        }
        Arrivals { remote: self, programs, receiver, silent }
    }

    /// Weighs on a `host` that was called, up to the end of what does so there.
    fn weigh(
        &self,
        host: &Host,
        (mut connection, mut output, way): Called,
        silent: &AtomicUsize,
        wanted: Wanted,
        begin: BeginReplay<'static>,
    ) -> io::Result<Snapshot> {
        let answer = way.unwrap_or_else(|| connection::answer(&mut output));
        let way = answer.map(|answer| answer.way);
        silent.fetch_sub(1, Ordering::Relaxed);
        // Closes the output, so that who still writes there ends.
        let read = way.and_then(|way| {
            let (snapshot, status) = self.read(host, (way, output), wanted, begin)?;
            Ok((way, snapshot, status))
        });
        let ended = connection.finish();
        match read {
            Ok((way, snapshot, status)) => finished(host, (way, status), snapshot, &ended),
            // What arrived is not what it should be, because of what the program there says.
            Err(error) if is_of_content(&error) => Err(ended.failure(&error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// Reads the `output` of `host` after the line that says how that weighs. Counts what arrives. Returns as well the
    /// exit status of find there.
    fn read(
        &self,
        host: &Host,
        (way, output): (Way, SnapshotFile),
        wanted: Wanted,
        begin: BeginReplay<'static>,
    ) -> io::Result<(Snapshot, Option<i32>)> {
        let (prefix, count) = (host.prefix.clone(), &self.entries);
        // What find prints is counted while it is sorted, before it is replayed.
        let counted = if way == Way::Weigh { Arc::clone(count) } else { Arc::default() };
        let roots = ArrivedRoots::new(&host.paths);
        let arrived = Arc::clone(&roots);
        let begin: BeginReplay<'_> = Box::new(move |view, root_depth, rules| {
            let replay = begin(view, root_depth, rules);
            Box::new(Arriving { replay, root_depth, open: 0, prefix, roots, count: counted })
        });
        let (mut snapshot, status) = match (way, self.needs_weigh) {
            (Way::Weigh, _) => (snapshot::read_from(output, wanted, begin)?, None),
            (Way::Find, Some(flag)) => {
                let version = script::version();
                let message = format!("{flag} needs weigh {version} there, and there is none");
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
            (Way::Find, None) => {
                found::read(output, (host, count), self.one_file_system, wanted, begin)?
            }
        };
        ArrivedRoots::ensure_asked(&arrived)?;
        add_missing(host, &mut snapshot);
        for problem in &mut snapshot.report.problems {
            problem.path = [&host.prefix, &*problem.path].concat();
        }
        let origin = snapshot.origin.get_or_insert_with(Origin::default);
        origin.host = host.name();
        for name in origin.roots.iter_mut().filter_map(|root| root.name.as_mut()) {
            *name = [&*host.prefix, name].concat();
        }
        Ok((snapshot, status))
    }
}

/// The answers of machines about their file systems.
#[derive(Debug, Default)]
pub struct ToldSpaces {
    /// How full they are, each once.
    pub file_systems: Vec<FileSystem>,
    /// Each PATH that is no mount point, and the mount point of its file system.
    pub inside: Vec<(Vec<u8>, Vec<u8>)>,
    /// The machines whose programs know no inodes.
    pub without_inodes: Vec<Vec<u8>>,
    /// Why nothing is known of others.
    pub unread: Vec<Problem>,
}

impl ToldSpaces {
    /// Adds what `host` has `told` of the file systems around its paths, which become its paths.
    fn add(&mut self, host: &mut Host, mut told: Vec<Result<space::ToldSpace, String>>) {
        const NOT_SEEN: &str = "metadata, deleted files and files under mounts on another machine";
        const HOME: &[u8] = b"/~/";
        told.resize_with(host.paths.len(), || Err("df there says nothing about it".to_owned()));
        let (given, paths) = (host.prefix.clone(), mem::take(&mut host.paths));
        // A mount point is not below the home directory there.
        host.prefix = given.strip_suffix(HOME).unwrap_or(&given).to_vec();
        for (path, told) in paths.into_iter().zip(told) {
            let name = [&*given, &*path].concat();
            let space::ToldSpace { point, space, is_exact } = match told {
                Ok(told) => told,
                Err(why) => {
                    let problem = Problem::new(name, Operation::Stat, &io::Error::other(why));
                    self.unread.push(problem);
                    continue;
                }
            };
            let root = [&*host.prefix, &*point].concat();
            // A slash at the end changes nothing.
            let is_here = path == point || path.strip_suffix(b"/") == Some(&*point);
            if !is_here {
                self.inside.push((name, root.clone()));
            }
            if !is_exact && self.without_inodes.last() != Some(&host.name()) {
                self.without_inodes.push(host.name());
            }
            if host.paths.insert(point) {
                let unknown = vec![Unknown::new(NOT_SEEN)];
                let is_near = false;
                let one = FileSystem { is_near, unknown, ..FileSystem::new(root, space, 0) };
                self.file_systems.push(one);
            }
        }
    }
}

impl Arrivals<'_> {
    /// Waits for what arrives. Once all machines have answered, calls `watch` about ten times a second, with the number
    /// of entries that have arrived, and a machine that is waited for.
    pub fn collect(
        self,
        interrupt: &Interrupt,
        mut watch: impl FnMut(u64, &[u8]),
    ) -> Vec<Result<Snapshot, Problem>> {
        /// How long a machine has to end after an interrupt.
        const PATIENCE: Duration = Duration::from_secs(1);
        let Self { remote: Remote { hosts, entries, .. }, programs, receiver, silent } = self;
        let mut results: Vec<Option<_>> = hosts.iter().map(|_| None).collect();
        let mut killed: Option<Instant> = None;
        while let Some(next) = results.iter().position(Option::is_none) {
            match receiver.recv_timeout(Duration::from_millis(100)) {
                // Because of that, whatever it says.
                Ok((number, part))
                    if interrupt.is_asked()
                        && part.as_ref().map_or(true, |it| it.report.answer.is_none()) =>
                {
                    results[number] = Some(Err(interrupted(&hosts[number])));
                }
                Ok((number, Ok(mut part))) if interrupt.is_asked() => {
                    let problems = &mut part.report.problems;
                    let before = problems.len();
                    problems.retain(|it| it.operation != Operation::Load);
                    if problems.len() < before {
                        problems.push(interrupted(&hosts[number]));
                    }
                    results[number] = Some(Ok(part));
                }
                Ok((number, arrived)) => results[number] = Some(arrived),
                Err(RecvTimeoutError::Timeout) => {}
                // A thread has panicked, or none could be started.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if silent.load(Ordering::Relaxed) == 0 {
                watch(entries.load(Ordering::Relaxed), &hosts[next].first());
            }
            match killed {
                None if interrupt.is_asked() => {
                    killed = Some(Instant::now());
                    programs.iter().for_each(|program| connection::kill(program));
                }
                Some(begin) if begin.elapsed() > PATIENCE => break,
                _ => {}
            }
        }
        let unread = |host: &Host| match interrupt.is_asked() {
            true => interrupted(host),
            false => problem(host, &io::Error::other("no thread has read what arrives")),
        };
        let results = hosts.iter().zip(results);
        results.map(|(host, it)| it.unwrap_or_else(|| Err(unread(host)))).collect()
    }
}

/// Adds a problem to the `snapshot` from `host` for each path that was asked for, if the snapshot neither has a root of
/// that name nor says why not. weigh there names all roots, also those that it leaves out because they are in others.
fn add_missing(host: &Host, snapshot: &mut Snapshot) {
    let roots = snapshot.origin.iter().flat_map(|origin| &origin.roots);
    let roots = roots.map(|root| root.name.as_ref().unwrap_or(&root.path));
    let problems = snapshot.report.problems.iter().map(|problem| &problem.path);
    let known: HashSet<_> = roots.chain(problems).collect();
    let missing = host.paths.iter().filter(|path| !known.contains(path)).map(|path| {
        Problem::new(path.clone(), Operation::Load, &io::Error::other("it does not list this"))
    });
    let missing: Vec<_> = missing.collect();
    snapshot.report.problems.extend(missing);
}

/// The `snapshot` from `host`, where all has `ended`: with what is missing; or why it may be no whole one. find there
/// may have told its own `status`.
fn finished(
    host: &Host,
    (way, status): (Way, Option<i32>),
    mut snapshot: Snapshot,
    ended: &ConnectionEnd,
) -> io::Result<Snapshot> {
    let has_answer = snapshot.report.answer.is_some();
    let problems = &mut snapshot.report.problems;
    match (way, ended.status.map(|status| status.code())) {
        // What arrived says whether something is missing.
        (Way::Weigh, Some(Some(0))) => {}
        (Way::Weigh, Some(Some(1))) => {
            if !problems.iter().any(Problem::is_loss) {
                problems.push(problem(host, &ended.failure("weigh has failed")));
            }
        }
        // What find prints does not; or the connection was cut.
        (Way::Find, Some(code)) => {
            let code = if code == Some(0) { status.or(code) } else { code };
            let (unread, has_only_gone) = found::problems(&ended.said, host);
            let named: HashSet<_> = unread.iter().map(|problem| problem.path.clone()).collect();
            // find says why.
            problems.retain(|problem| !named.contains(&problem.path));
            problems.extend(unread);
            problems.sort_unstable();
            let has_gone = has_only_gone && ended.has_all() && code == Some(1);
            let is_complete = has_answer && (code == Some(0) || has_gone);
            if problems.is_empty() && !is_complete {
                problems.push(problem(host, &ended.failure("find has failed")));
            }
        }
        _ => return Err(ended.failure("it did not end as it should")),
    }
    Ok(snapshot)
}

/// Whether an error is one of what was read, and not of this machine.
fn is_of_content(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | Other | UnexpectedEof)
}

fn interrupted(host: &Host) -> Problem {
    problem(host, &io::Error::other("interrupted"))
}

fn problem(host: &Host, error: &io::Error) -> Problem {
    Problem::new(host.first(), Operation::Load, error)
}
