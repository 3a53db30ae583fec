//! The loop, and the work in the background. It passes keys, and what threads find out, to the state, and does what
//! that wants to be done.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{CString, OsString};
use std::io::{self, ErrorKind, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use std::{mem, thread};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::browser::Browser;
use super::event::{Command, Ending, Event, Recheck};
use super::marks::Protected;
use super::options::BrowseOptions;
use super::review::RemovalProgress;
use crate::app::kept::KeptScans;
use crate::app::signals::{self, TerminalSignals};
use weigh::internal::ask::reclaimable::{self, Reclaimable, Search};
use weigh::internal::ask::{self, Input, Keep, Outcome, Request};
use weigh::internal::base::interrupt::Interrupt;
use weigh::internal::base::measure::View;
use weigh::internal::base::path;
use weigh::internal::from::series::Day;
use weigh::internal::from::snapshot::Snapshot;
use weigh::internal::remove::{
    self, Consent, Fate, Manner, ProtectedPaths, Removed, Target, Trashed, UserDirectories,
};
use weigh::internal::sys::problem::{Operation, Problem, reason};
use weigh::internal::sys::{self, Symlinks};
use weigh::internal::tree::tally::Inodes;

/// The interval between looks at what goes on in the background, and at signals.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// The longest wait for background work at the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where keys come from, and where the state is drawn.
pub trait Console {
    /// Draws the state.
    ///
    /// # Errors
    /// The terminal's.
    fn draw(&mut self, browser: &mut Browser) -> io::Result<()>;

    /// The next thing that the user does, if that comes in time. The `browser` says what a click is on.
    ///
    /// # Errors
    /// The terminal's.
    fn next(&mut self, browser: &Browser, wait: Duration) -> io::Result<Option<Event>>;
}

/// The work in the background.
#[derive(Debug)]
pub struct Work {
    /// The roots that are browsed, unless they were read from a file.
    roots: Vec<OsString>,
    directories: UserDirectories,
    signals: TerminalSignals,
    /// The least time between two reports about work.
    interval: Duration,
    /// What ends a scan early.
    interrupt: Interrupt,
    /// Whether the removal is cancelled.
    is_cancelled: Arc<AtomicBool>,
    sender: Sender<Event>,
    events: Receiver<Event>,
}

impl Work {
    /// For what `request` asks for, with reports about it once in an `interval`. A removal ends with the `signals`.
    pub fn new(
        request: &Request,
        options: &BrowseOptions,
        signals: TerminalSignals,
        interval: Duration,
    ) -> Self {
        let (sender, events) = channel();
        let roots = match &request.source {
            Input::Roots(roots) => roots.clone(),
            _ => Vec::new(),
        };
        Self {
            roots,
            directories: options.directories.clone(),
            signals,
            interval,
            interrupt: request.interrupt.clone(),
            is_cancelled: Arc::default(),
            sender,
            events,
        }
    }

    /// Browses until something ends that.
    ///
    /// # Errors
    /// The terminal's.
    pub fn browse(&self, browser: &mut Browser, console: &mut impl Console) -> io::Result<Ending> {
        let (mut last_tick, mut pause) = (Instant::now(), self.interval);
        let mut is_changed = true;
        loop {
            // Sends nothing to the terminal, which may be remote, while nothing changes.
            if mem::take(&mut is_changed) {
                console.draw(browser)?;
            }
            let wait = if browser.is_asking() { Duration::ZERO } else { INTERVAL };
            let mut input = console.next(browser, wait)?;
            let start = Instant::now();
            // Handles all typed keys before the next drawing.
            while let Some(event) = input {
                is_changed = true;
                if let Some(ending) = self.pass(browser, event) {
                    return Ok(ending);
                }
                if start.elapsed() >= INTERVAL {
                    break;
                }
                // Without a timeout, it would not look for new keys.
                input = console.next(browser, Duration::from_millis(1))?;
            }
            while let Ok(event) = self.events.try_recv() {
                is_changed = true;
                if let Some(ending) = self.pass(browser, event) {
                    return Ok(ending);
                }
            }
            if browser.is_asking() {
                self.pass(browser, Event::Slice);
                // Drawn again only when the list is there.
                is_changed |= !browser.is_asking();
            }
            if browser.is_busy() && last_tick.elapsed() >= pause {
                let start = Instant::now();
                self.pass(browser, Event::Tick);
                is_changed = true;
                // However large the tree is, keys are answered most of the time; and however large the current
                // directory is, its lock stays free for the walk.
                pause = self.interval.max(start.elapsed() * 10);
                last_tick = Instant::now();
            }
        }
    }

    /// Passes `event` to the state, and begins what that wants to be done. Returns how browsing ends, if it does.
    pub fn pass(&self, browser: &mut Browser, event: Event) -> Option<Ending> {
        browser.on(event).into_iter().find_map(|command| self.begin(command))
    }

    /// Begins what the state wants to be done. Returns how browsing ends, if it does.
    pub fn begin(&self, command: Command) -> Option<Ending> {
        match command {
            Command::End(ending) => return Some(ending),
            Command::StopScan => self.interrupt.is_asked.store(true, Ordering::SeqCst),
            Command::CancelRemoval => self.is_cancelled.store(true, Ordering::SeqCst),
            Command::Protect { roots, homes, one_file_system } => self.spawn(move |sender| {
                let names = roots.iter().map(|root| root.as_encoded_bytes());
                send(sender, Event::Protected(Box::new(Protected::ask(names, &homes))));
                send(sender, spaces(&roots));
                if let Some(inodes) = sys::used_inodes(&roots, one_file_system) {
                    send(sender, Event::UsedInodes(inodes));
                }
            }),
            Command::Scan(request, top) => {
                self.interrupt.is_asked.store(false, Ordering::SeqCst);
                let (start, roots) = (Instant::now(), self.roots.clone());
                self.spawn(move |sender| {
                    if let Some((browsed, listings)) = ask::listings(&request) {
                        let (is_large, view) = (listings.is_large(), browsed.snapshot.view);
                        send(sender, Event::Opened(Box::new(listings), view));
                        if is_large {
                            return send(sender, Event::Scanned(Ok(Box::new(browsed))));
                        }
                    }
                    let done = ask::browse(&request, top, |progress| {
                        if let Some(progress) = progress {
                            send(sender, Event::Progress(progress.clone(), start.elapsed()));
                        }
                    });
                    send(sender, spaces(&roots));
                    send(sender, Event::Scanned(done.map(Box::new)));
                });
            }
            Command::LoadKept(request, kept, time, view) => self.spawn(move |sender| {
                send(sender, Event::LoadedKept(load_kept(&request, &kept, time, view)));
            }),
            Command::FindUnused(number, findable, search, report) => self.spawn(move |sender| {
                let found = reclaimable::find(Some(&findable), &report, &search, None);
                let in_git = in_git(&found);
                send(sender, Event::FoundUnused(number, Box::new(found), in_git));
            }),
            Command::Look(number, targets, recheck) => {
                let directories = self.directories.clone();
                self.spawn(move |sender| {
                    let mut looked = look(targets, &directories);
                    if let Some(recheck) = recheck {
                        check_again(&recheck, &mut looked);
                    }
                    send(sender, Event::Looked(number, looked));
                });
            }
            Command::Remove(manner, consent, targets) => self.remove(manner, consent, targets),
            Command::Copy(text) => self.copy(&text),
            Command::Open(path, fingerprint) => self.spawn(move |sender| {
                let failed = open(&path, fingerprint).err().map(|error| error.to_string());
                send(sender, Event::OpenedOutside(failed));
            }),
            Command::ReadLink(path) => self.spawn(move |sender| {
                let target = sys::link_target(&sys::to_path(&path)).ok();
                send(sender, Event::LinkTarget(path, target));
            }),
            Command::Undo(trashed) => self.undo(trashed),
            Command::LookInTrash(trashed, homes) => self.spawn(move |sender| {
                send(sender, Event::LookedInTrash(look_in_trash(trashed, &homes)));
            }),
            Command::Empty(consent, looked) => self.empty(consent, looked),
        }
        None
    }

    /// Gives `text` to the terminal for the clipboard (OSC 52), if it takes that.
    fn copy(&self, text: &str) {
        let text = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
        let _ = send_to_terminal(text.as_bytes(), &self.signals);
    }

    /// Does `work` on another thread. If none can be started, browsing ends.
    fn spawn(&self, work: impl FnOnce(&Sender<Event>) + Send + 'static) {
        let sender = self.sender.clone();
        if let Err(error) = thread::Builder::new().spawn(move || work(&sender)) {
            let problem = Problem::new(b"a thread".into(), Operation::Start, &error);
            send(&self.sender, Event::Failed(problem));
        }
    }

    /// Returns whether a removal that begins now is to go on.
    fn until_ended(&self) -> impl Fn() -> ControlFlow<()> + use<> {
        let (signals, is_cancelled) = (self.signals.clone(), Arc::clone(&self.is_cancelled));
        is_cancelled.store(false, Ordering::SeqCst);
        // The loop may be waiting for a terminal that takes no more output.
        move || match is_cancelled.load(Ordering::SeqCst) || signals.ended_by().is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn remove(&self, manner: Manner, consent: Consent, targets: Vec<Target>) {
        let (directories, interval) = (self.directories.clone(), self.interval);
        let (roots, goes_on) = (self.roots.clone(), self.until_ended());
        self.spawn(move |sender| {
            let (mut last_report, mut now) = (Instant::now(), RemovalProgress::default());
            let removed = remove::remove(&targets, manner, consent, &directories, &mut |event| {
                now.add(event);
                if last_report.elapsed() >= interval {
                    last_report = Instant::now();
                    send(sender, Event::Removing(mem::take(&mut now)));
                }
                goes_on()
            });
            send(sender, Event::Removing(now));
            send(sender, spaces(&roots));
            send(sender, Event::Removed(Box::new(removed)));
        });
    }

    fn undo(&self, trashed: Vec<Arc<Trashed>>) {
        let (directories, is_cancelled) =
            (self.directories.clone(), Arc::clone(&self.is_cancelled));
        is_cancelled.store(false, Ordering::SeqCst);
        self.spawn(move |sender| {
            let mut undone = Vec::new();
            for one in trashed.into_iter().rev() {
                let removed = match is_cancelled.load(Ordering::SeqCst) {
                    true => Removed::default(),
                    false => remove::undo(&one, &directories, &mut |_| ControlFlow::Continue(())),
                };
                let path = one.path();
                undone.push((one, removed, path));
            }
            send(sender, Event::Undone(undone));
        });
    }

    /// Deletes from the trash, and then the info files of what is deleted.
    fn empty(&self, consent: Consent, looked: Vec<(Arc<Trashed>, Target)>) {
        let (directories, roots) = (self.directories.clone(), self.roots.clone());
        let goes_on = self.until_ended();
        self.spawn(move |sender| {
            let (trashed, targets): (Vec<_>, Vec<_>) = looked.into_iter().unzip();
            let delete = Manner::Delete;
            let removed =
                remove::remove(&targets, delete, consent, &directories, &mut |_| goes_on());
            let done = trashed.iter().zip(&removed.outcomes);
            let deleted = done.filter(|(_, outcome)| matches!(outcome.fate, Fate::Deleted));
            deleted.for_each(|(one, _)| one.forget());
            send(sender, spaces(&roots));
            send(sender, Event::Emptied(trashed, Box::new(removed)));
        });
    }

    /// Cancels the removal and waits until it has put back what it had moved; at most [`PATIENCE`]. False if it has
    /// not.
    pub fn end_removal(&self, browser: &mut Browser) -> bool {
        self.begin(browser.end_after_removal(Ending::Quit));
        let ended = self.wait_for(|event| match event {
            // It says what is gone.
            Event::Removing(_) => {
                browser.on(event);
                None
            }
            Event::Removed(_) | Event::Undone(_) | Event::Emptied(..) => Some(browser.on(event)),
            _ => None,
        });
        ended.is_some()
    }

    /// Stops the scan and returns its result. Does not wait for one that does not stop.
    pub(super) fn end_scan(&self) -> Option<Outcome> {
        self.begin(Command::StopScan);
        let browsed = self.wait_for(|event| match event {
            Event::Scanned(browsed) => Some(browsed.ok()),
            _ => None,
        });
        browsed.flatten().map(|browsed| *browsed)
    }

    /// Waits for the event that `is_it` takes; at most [`PATIENCE`].
    fn wait_for<T>(&self, mut is_it: impl FnMut(Event) -> Option<T>) -> Option<T> {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if let Some(found) = is_it(self.events.recv_timeout(left).ok()?) {
                return Some(found);
            }
        }
    }
}

/// The newest kept scan to compare with a scan of the roots of `request`, which began at a `time` and is seen in this
/// `view`, and what is to be said of it; or why there is none.
fn load_kept(
    request: &Request,
    kept: &KeptScans,
    time: i64,
    view: View,
) -> Result<(Box<Snapshot>, Option<String>), String> {
    let mut now = request.unscanned(time, view);
    let origin = now.origin.clone().unwrap_or_default();
    let Some((file, note)) = kept.find(Day::Last, &origin)? else {
        let (why, instead) = kept.nothing(&origin);
        // The last line has no room for PATHs twice, nor for more than one thing to do.
        let instead = instead.replacen(&kept.paths, "", 1);
        let first = instead.split([',', ';']).next().unwrap_or_default();
        return Err(format!("{why}: {first}"));
    };
    let loaded = request.loaded_after(&file, &mut now).map_err(|problem| problem.to_string())?;
    Ok((Box::new(loaded), note))
}

/// How much is available on the file system of each root that has one.
fn spaces(roots: &[OsString]) -> Event {
    let spaces = roots.iter().filter_map(|root| {
        let name = root.as_encoded_bytes();
        let path = CString::new(sys::to_path(name).as_os_str().as_encoded_bytes()).ok()?;
        let space = sys::space_around(&path).ok().filter(|space| space.size > 0)?;
        Some((name.to_vec(), space))
    });
    Event::Space(spaces.collect())
}

/// Sends `event` to the loop. If nobody receives it, the program is ending.
fn send(sender: &Sender<Event>, event: Event) {
    let _ = sender.send(event);
}

/// Writes `bytes` to the terminal, and waits while that takes nothing, as after Ctrl-S. An error if it still takes nothing
/// when a signal ends the program.
pub(super) fn send_to_terminal(mut bytes: &[u8], signals: &TerminalSignals) -> io::Result<()> {
    const PAUSE: Duration = Duration::from_millis(5);
    let (mut terminal, mut end) = (sys::terminal()?, None);
    while !bytes.is_empty() {
        match terminal.write(bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if signals.ended_by().is_some()
                    && *end.get_or_insert_with(|| Instant::now() + signals::PATIENCE)
                        <= Instant::now()
                {
                    return Err(error);
                }
                thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens what is at `path` in another program, if it still has this fingerprint.
fn open(path: &Path, fingerprint: u32) -> io::Result<()> {
    if sys::fingerprint(path)? != fingerprint {
        return Err(io::Error::other("it has changed since the scan: r scans it again"));
    }
    let opener = sys::OPENER;
    let why = match sys::open_outside(path) {
        Ok(status) if status.success() => return Ok(()),
        // As xdg-open(1) has it.
        Ok(status) if status.code() == Some(3) => {
            format!("{opener} found no program for it (status 3)")
        }
        Ok(status) => match status.code() {
            Some(code) => format!("{opener} failed (status {code})"),
            None => format!("{opener} failed ({status})"),
        },
        Err(error) => format!("cannot start {opener}: {}", reason(&error)),
    };
    Err(io::Error::other(format!("{why}; y copies the path")))
}

/// Looks at `targets` for the review, or says why one must not be removed.
fn look(
    targets: Vec<(usize, Target)>,
    directories: &UserDirectories,
) -> Vec<(usize, Result<Target, String>)> {
    let log = directories.check_log().map_err(|error| error.to_string());
    let looked = targets.into_iter().map(|(number, mut target)| {
        let looked = remove::look(&mut target).map_err(|error| error.to_string());
        (number, looked.and_then(|()| log.clone()).map(|()| target))
    });
    looked.collect()
}

/// The paths of the output of projects in a git repository, which the name `.git` tells.
fn in_git(found: &Reclaimable) -> BTreeSet<Vec<u8>> {
    let mut known: HashMap<PathBuf, bool> = HashMap::new();
    let lists = [&found.found, &found.recent, &found.by_program, &found.others];
    let all = lists.into_iter().flatten().filter(|one| one.rule.is_of_project());
    let in_git = all.filter(|one| {
        let real = sys::real_path(&sys::to_path(&one.path), Symlinks::Follow);
        let mut above = real.iter().flat_map(|path| path.ancestors().skip(1));
        above.any(|directory| match known.get(directory) {
            Some(has_git) => *has_git,
            None => {
                let has_git = sys::exists(&directory.join(".git"));
                known.insert(directory.to_owned(), has_git);
                has_git
            }
        })
    });
    in_git.map(|one| one.path.clone()).collect()
}

/// Looks at the moved entries in the trash, with everything in them as it is now. Others may lie there now.
fn look_in_trash(
    trashed: Vec<Arc<Trashed>>,
    homes: &[PathBuf],
) -> Vec<(Arc<Trashed>, Result<Target, String>)> {
    const ANOTHER: &str = "it is not in the trash any more, or has changed there";
    let mut places: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Arc<Trashed>>> = BTreeMap::new();
    for one in &trashed {
        let directory = one.place().0.to_vec();
        places.entry(directory).or_default().insert(one.path_in_trash(), Arc::clone(one));
    }
    let mut looked = Vec::new();
    for (directory, inside) in places {
        let keep = Keep::Everything(Inodes::FINGERPRINTS);
        let source = Input::Roots(vec![sys::into_path(directory.clone()).into()]);
        let request = Request { source, keep, ..Request::default() };
        let scanned = ask::browse(&request, Arc::default(), |_| ()).ok();
        let tree = scanned.and_then(|it| it.snapshot.report.answer).unwrap_or_default();
        let found = tree.at_paths(&inside);
        let (roots, protected) = ProtectedPaths::around([&*directory], homes);
        let root = |name: &[u8]| Some(sys::to_path(roots.get(name)?).into_owned());
        let targets =
            remove::targets(&tree, found.iter().map(|it| it.0), root, &Arc::new(protected));
        let mut known = BTreeMap::new();
        for ((place, one), target) in found.into_iter().zip(targets) {
            let target = target.and_then(|mut target| {
                remove::look(&mut target)?;
                match target.seen.as_ref().is_some_and(|seen| one.is(seen)) {
                    true => Ok(target.with_content(&tree, place)),
                    false => Err(io::Error::other(ANOTHER)),
                }
            });
            known.insert(one.path_in_trash(), target.map_err(|error| error.to_string()));
        }
        looked.extend(inside.into_iter().map(|(path, one)| {
            let target = known.remove(&path).unwrap_or_else(|| Err(ANOTHER.to_owned()));
            (one, target)
        }));
    }
    looked
}

/// Applies the rules again to entries that were marked because of them, and scans all of these: an entry stays if the rules
/// do not find it any more, or if something in it belongs to somebody else or is in use.
fn check_again(recheck: &Recheck, looked: &mut [(usize, Result<Target, String>)]) {
    let Recheck { findable, search, report, request, marks } = recheck;
    let found = reclaimable::find(Some(findable), report, search, None);
    let can_go: HashSet<_> = found.found.iter().map(|one| &one.path).collect();
    let others = found.others.iter().filter_map(|one| Some((&one.path, one.doubt.clone()?)));
    let mut doubts: HashMap<_, _> = others.collect();
    for (_, path) in marks.iter().filter(|(_, path)| !can_go.contains(path)) {
        doubts.entry(path).or_insert_with(|| "weigh's rules do not find it any more".to_owned());
    }
    let scanned: Vec<_> = marks.iter().map(|(_, it)| it).filter(|it| can_go.contains(it)).collect();
    let in_them = doubts_in(&scanned, search, request);
    doubts
        .extend(scanned.into_iter().zip(in_them).filter_map(|(path, doubt)| Some((path, doubt?))));
    let paths: HashMap<_, _> = marks.iter().map(|(number, path)| (*number, path)).collect();
    for (number, target) in looked.iter_mut().filter(|(_, target)| target.is_ok()) {
        if let Some(doubt) = paths.get(number).and_then(|path| doubts.get(path)) {
            *target = Err(doubt.clone());
        }
    }
}

/// Why each of the entries at these `paths` must not go, if a scan of all of them finds a reason.
fn doubts_in(paths: &[&Vec<u8>], search: &Search, request: &Request) -> Vec<Option<String>> {
    if paths.is_empty() {
        return Vec::new();
    }
    let roots = paths.iter().map(|path| sys::into_path((*path).clone()).into());
    let request = Request { source: Input::Roots(roots.collect()), ..request.clone() };
    let scanned = ask::browse(&request, Arc::default(), |_| ());
    let report = scanned.map(|it| it.snapshot.report).unwrap_or_default();
    let tree = report.answer.filter(|_| !report.is_interrupted).unwrap_or_default();
    let roots: HashSet<_> = tree.roots().map(|root| root.name()).collect();
    let lost: Vec<_> = report.problems.iter().filter(|it| it.is_loss()).collect();
    let is_read =
        |at: &[u8]| roots.contains(at) && !lost.iter().any(|it| path::is_within(&it.path, at));
    let doubts = reclaimable::doubts(&tree, search);
    let doubt = |path: &&Vec<u8>| match is_read(path) {
        true => doubts.get(*path).cloned(),
        false => Some("it could not be read completely".to_owned()),
    };
    paths.iter().map(doubt).collect()
}
