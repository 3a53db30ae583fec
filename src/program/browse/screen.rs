//! The loop: the only module with a terminal, threads and signals. It passes keys, signals and the walk's messages to
//! the state, carries out the commands that result, and draws the screen again.
//!
//! It draws on the terminal itself, because standard output is for paths. It restores the terminal at the end, while
//! the process is stopped, and after a panic, when no destructor runs any more.

use std::io;
use std::iter;
use std::mem::{self, ManuallyDrop};
use std::ops::ControlFlow;
use std::panic;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;

use super::update::Command;
use super::{BrowseOptions, Browser, Ended, Key, Protected, RemovalProgress, view};
use crate::program::signals::{self, HANGUP, ScreenSignals};
use weigh::internal::git::{Git, Ignored};
use weigh::internal::problem::{Operation, Problem};
use weigh::internal::remove::{self, Manner, Removed, Target, Trashed};
use weigh::internal::render::errors;
use weigh::internal::report::{self, Browsed, Input, Request};
use weigh::internal::sys;
use weigh::internal::tally::LiveDirectory;
use weigh::internal::total::Rules;
use weigh::internal::walk::{Progress, WalkOptions};

/// Whether there is a screen to browse on.
pub const IS_BUILT: bool = true;

/// The interval between checks of the walk in progress and of signals.
const INTERVAL: Duration = Duration::from_millis(100);

/// The longest wait for background work at the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// A message from a background thread.
enum Told {
    Protected(Box<Protected>),
    Progress(Progress),
    Done(WorkKind, Result<Box<Browsed>, Problem>),
    /// The targets of the review with this number, and why some must not be removed.
    Looked(u64, Vec<(usize, Target, Option<String>)>),
    Removing(RemovalProgress),
    Removed(Box<Removed>),
    Undone(Arc<Trashed>, Box<Removed>),
}

/// The task of a background thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkKind {
    /// Scans everything.
    All,
    /// Scans one directory again.
    Directory,
    /// Finds what git ignores in one directory.
    Ignored,
}

/// Browses what `request` asks for, until the user ends it.
///
/// # Errors
/// If there is no terminal, or if a snapshot cannot be loaded or compared.
pub fn run(request: &Request, options: BrowseOptions) -> Result<Ended, Problem> {
    let on_screen =
        |error: io::Error| Problem::new(b"the terminal".to_vec(), Operation::Open, &error);
    let signals = ScreenSignals::default();
    signals.listen().map_err(on_screen)?;
    let mut screen = Screen::open().map_err(on_screen)?;
    let top = Arc::<LiveDirectory>::default();
    let (roots, is_walk) = match &request.source {
        Input::Roots(roots) => (roots.as_slice(), true),
        Input::Snapshots(..) | Input::History(..) => (&[][..], false),
    };
    let (roots, homes) = (roots.to_vec(), options.homes.clone());
    let mut browser =
        Browser::new(options.clone(), Protected::default(), Arc::clone(&top), is_walk);
    if let [root] = &roots[..] {
        browser.call_root(root.as_encoded_bytes());
    }
    // Before any access to the file system.
    let drawn = enter().and_then(|()| screen.draw(&mut browser));
    let (sender, told) = channel();
    if is_walk {
        let sender = sender.clone();
        // The file system of the roots may not answer.
        thread::spawn(move || {
            let roots = roots.iter().map(|root| root.as_encoded_bytes());
            let _ = sender.send(Told::Protected(Box::new(Protected::ask(roots, &homes))));
        });
    }
    let is_cancelled = Arc::<AtomicBool>::default();
    let signals_of_work = signals.clone();
    let mut work = Work {
        request: request.clone(),
        options: &options,
        sender,
        told,
        is_cancelled,
        signals: signals_of_work,
    };
    work.start(WorkKind::All, request.clone(), top);
    let ended = drawn.and_then(|()| browse(&mut browser, &mut screen, &signals, &mut work));
    drop(screen);
    // A terminal that fails is gone, whether or not a signal says so.
    let ended = ended.unwrap_or_else(|error| LoopEnd {
        signal: Some(signals.ended_by().unwrap_or(HANGUP)),
        failure: Some(on_screen(error)),
        ..LoopEnd::default()
    });
    let unfinished = browser.is_removing() && !work.end_removal(&mut browser);
    let kept = if browser.is_quitting() { browser.kept().to_vec() } else { Vec::new() };
    if let Some(problem) = ended.problem {
        return Err(problem);
    }
    let printed = (ended.command == Some(Command::PrintPaths)).then(|| browser.printed_paths());
    let browsed = if browser.is_walking() { work.end() } else { browser.into_browsed() };
    let LoopEnd { signal, failure, .. } = ended;
    Ok(Ended { browsed, printed, signal, failure, kept, unfinished })
}

/// Why the loop ended.
#[derive(Default)]
struct LoopEnd {
    command: Option<Command>,
    signal: Option<u8>,
    /// Why the terminal failed.
    failure: Option<Problem>,
    /// What leaves nothing to browse.
    problem: Option<Problem>,
}

fn browse(
    browser: &mut Browser,
    screen: &mut Screen,
    signals: &ScreenSignals,
    work: &mut Work<'_>,
) -> io::Result<LoopEnd> {
    let (mut looked, mut pause) = (Instant::now(), INTERVAL);
    let (mut is_changed, mut is_known) = (true, Instant::now());
    loop {
        // Sends nothing to the terminal, which may be remote, while nothing changes.
        if mem::take(&mut is_changed) {
            screen.draw(browser)?;
        }
        let mut is_event = event::poll(INTERVAL)?;
        let start = Instant::now();
        // If SIGHUP is ignored, as with nohup, only this shows that the terminal is gone.
        if is_known.elapsed() >= Duration::from_secs(1) {
            sys::terminal()?;
            is_known = start;
        }
        // Handles all typed keys before the next drawing.
        while is_event && start.elapsed() < INTERVAL {
            let event = event::read()?;
            is_changed |= matches!(event, Event::Resize(..));
            if let Some(key) = screen.key(&event) {
                is_changed = true;
                match key {
                    // If nobody could continue it, Ctrl-Z does nothing.
                    Typed::Stop if sys::stop_others() => {
                        screen.stop()?;
                        // The signal for the group was sent to this process too.
                        signals.is_stopped.store(false, Ordering::SeqCst);
                    }
                    Typed::Stop => {}
                    Typed::Key(key) => {
                        let command = browser.press(key);
                        let is_end = matches!(command, Some(Command::Quit | Command::PrintPaths));
                        if is_end && browser.is_removing() && work.cancel() {
                            // First puts back the entry that it is working on. A second time does not wait for that.
                            browser.quit_after_removal();
                        } else if is_end {
                            return Ok(LoopEnd { command, ..LoopEnd::default() });
                        }
                        if let Some(command) = command {
                            work.command(browser, command);
                        }
                    }
                }
            }
            // A poll without a timeout would not look for new events.
            is_event = event::poll(Duration::from_millis(1))?;
        }
        let signal = signals.ended_by();
        if signal.is_some() {
            return Ok(LoopEnd { signal, ..LoopEnd::default() });
        }
        if signals.is_stopped.swap(false, Ordering::SeqCst) {
            screen.stop()?;
            is_changed = true;
        }
        let (is_told, problem) = work.take_told(browser);
        if problem.is_some() {
            return Ok(LoopEnd { problem, ..LoopEnd::default() });
        }
        is_changed |= is_told;
        if browser.is_quitting() && !browser.is_removing() {
            return Ok(LoopEnd { command: Some(Command::Quit), ..LoopEnd::default() });
        }
        if browser.is_removing() && looked.elapsed() >= pause {
            let start = Instant::now();
            is_changed |= browser.follow(&work.rules());
            // However large the tree is, keys are answered most of the time.
            pause = INTERVAL.max(start.elapsed() * 10);
            looked = Instant::now();
        }
        if browser.is_walking() && looked.elapsed() >= pause {
            let start = Instant::now();
            browser.refresh();
            is_changed = true;
            // However large the directory is, its locks stay free for the walk most of the time.
            pause = INTERVAL.max(start.elapsed() * 10);
            looked = Instant::now();
        }
    }
}

/// The work in the background.
struct Work<'a> {
    /// The last request for everything.
    request: Request,
    options: &'a BrowseOptions,
    sender: Sender<Told>,
    told: Receiver<Told>,
    /// Whether the removal is cancelled.
    is_cancelled: Arc<AtomicBool>,
    signals: ScreenSignals,
}

impl Work<'_> {
    fn start(&self, task: WorkKind, request: Request, top: Arc<LiveDirectory>) {
        let sender = self.sender.clone();
        request.interrupt.is_asked.store(false, Ordering::SeqCst);
        thread::spawn(move || {
            // If nobody receives it, the program is ending.
            let done = report::browse(&request, top, |progress| {
                if let Some(progress) = progress {
                    let _ = sender.send(Told::Progress(progress.clone()));
                }
            });
            let _ = sender.send(Told::Done(task, done.map(Box::new)));
        });
    }

    fn command(&mut self, browser: &mut Browser, command: Command) {
        let walk = &self.request.walk;
        match command {
            Command::Stop if browser.is_removing() => {
                self.cancel();
                browser.end_removal();
            }
            Command::Stop => self.request.interrupt.is_asked.store(true, Ordering::SeqCst),
            Command::Look => self.look(browser),
            Command::Remove(manner) => self.remove(browser, manner),
            Command::Undo => self.undo(browser),
            // The effect of filters and symlinks depends on where the walk began.
            Command::Rescan(path) if walk.filter.is_off() && !walk.follow => {
                self.start(WorkKind::Directory, self.of(path, walk.clone()), Arc::default());
            }
            Command::Rescan(_) => {
                browser.look_at_all();
                self.again(browser);
            }
            Command::Again => self.again(browser),
            Command::FindIgnored(path) => {
                let mut walk = walk.clone();
                walk.filter.git = Git { ignored: Ignored::Only, ..self.options.ignored.clone() };
                self.start(WorkKind::Ignored, self.of(path, walk), Arc::default());
            }
            Command::Quit | Command::PrintPaths => {}
        }
    }

    /// Cancels the removal; false if it is cancelled already.
    fn cancel(&self) -> bool {
        !self.is_cancelled.swap(true, Ordering::SeqCst)
    }

    fn look(&self, browser: &mut Browser) {
        let sender = self.sender.clone();
        let (number, targets) = browser.take_looks();
        let directories = self.options.directories.clone().unwrap_or_default();
        thread::spawn(move || {
            let unlogged = directories.check_log().err().map(|error| error.to_string());
            let looked = targets.into_iter().map(|(number, mut target)| {
                let refusal = remove::look(&mut target).err().map(|error| error.to_string());
                (number, target, refusal.or_else(|| unlogged.clone()))
            });
            let _ = sender.send(Told::Looked(number, looked.collect()));
        });
    }

    fn remove(&self, browser: &mut Browser, manner: Manner) {
        let (sender, is_cancelled) = (self.sender.clone(), Arc::clone(&self.is_cancelled));
        let signals = self.signals.clone();
        let directories = self.options.directories.clone().unwrap_or_default();
        let targets = browser.begin_removal(manner);
        is_cancelled.store(false, Ordering::SeqCst);
        thread::spawn(move || {
            let (mut told, mut now) = (Instant::now(), RemovalProgress::default());
            let removed = remove::remove(&targets, manner, &directories, &mut |event| {
                now.take(event);
                if told.elapsed() >= INTERVAL {
                    told = Instant::now();
                    let _ = sender.send(Told::Removing(mem::take(&mut now)));
                }
                // The loop may be waiting for a terminal that takes no more output.
                match is_cancelled.load(Ordering::SeqCst) || signals.ended_by().is_some() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
            let _ = sender.send(Told::Removing(now));
            let _ = sender.send(Told::Removed(Box::new(removed)));
        });
    }

    fn undo(&self, browser: &mut Browser) {
        let Some(trashed) = browser.begin_undo() else { return };
        let sender = self.sender.clone();
        let directories = self.options.directories.clone().unwrap_or_default();
        thread::spawn(move || {
            let removed = remove::undo(&trashed, &directories, &mut |_| ControlFlow::Continue(()));
            let _ = sender.send(Told::Undone(trashed, Box::new(removed)));
        });
    }

    /// The rules by which the tree is added up again. Only a walk can tell what files share.
    fn rules(&self) -> Rules {
        Rules { frees: false, ..self.request.walk.rules() }
    }

    /// A walk of the directory at `path`.
    fn of(&self, path: Vec<u8>, walk: WalkOptions) -> Request {
        let source = Input::Roots(vec![sys::into_path(path).into()]);
        Request { source, walk, since: None, file_systems: false, ..self.request.clone() }
    }

    /// Scans everything again, in the measure that is shown.
    fn again(&mut self, browser: &mut Browser) {
        if let Input::Snapshots(paths) = &self.request.source
            && paths.iter().any(|path| path == Path::new("-"))
        {
            return browser.give_up("standard input cannot be read again");
        }
        self.request.measure = Some(browser.measure());
        self.request.walk.view = browser.measure().into();
        self.start(WorkKind::All, self.request.clone(), Arc::default());
    }

    /// Receives all pending messages. Returns whether there were any, and the problem that leaves nothing to browse.
    fn take_told(&mut self, browser: &mut Browser) -> (bool, Option<Problem>) {
        for is_told in iter::once(false).chain(iter::repeat(true)) {
            match self.told.try_recv() {
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return (is_told, None),
                Ok(Told::Protected(protected)) => browser.protect(*protected),
                Ok(Told::Progress(progress)) => browser.progress(&progress),
                Ok(Told::Done(WorkKind::All, Ok(browsed))) => browser.finish(*browsed),
                Ok(Told::Looked(number, looked)) => browser.looked(number, looked),
                Ok(Told::Removing(progress)) => browser.removal_progress(progress),
                Ok(Told::Removed(removed)) => {
                    let next = browser.removed(*removed, &self.rules());
                    next.into_iter().for_each(|next| self.command(browser, next));
                }
                Ok(Told::Undone(trashed, removed)) => {
                    let next = browser.undone(&trashed, *removed);
                    next.into_iter().for_each(|next| self.command(browser, next));
                }
                Ok(Told::Done(WorkKind::Directory, Ok(browsed))) => {
                    if !browser.replace(&self.rules(), *browsed) {
                        // It may be gone, and then the directories above it have changed too.
                        browser.look_at_all();
                        self.again(browser);
                    } else if let Some(next) = browser.next_rescan() {
                        self.command(browser, next);
                    }
                }
                Ok(Told::Done(WorkKind::Ignored, Ok(browsed))) => {
                    let ignored = browsed.snapshot.weighed.report.unwrap_or_default();
                    browser.mark_ignored(&ignored);
                }
                Ok(Told::Done(_, Err(problem))) if browser.is_walking() => {
                    return (true, Some(problem));
                }
                Ok(Told::Done(_, Err(problem))) => {
                    browser.give_up(errors::one(&problem));
                }
            }
        }
        (true, None)
    }

    /// Waits until the removal has ended and has put back what it had moved; at most [`PATIENCE`]. False if it has not.
    fn end_removal(&self, browser: &mut Browser) -> bool {
        self.cancel();
        browser.quit_after_removal();
        let end = Instant::now() + PATIENCE;
        loop {
            match self.told.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Told::Removed(removed)) => {
                    browser.removed(*removed, &self.rules());
                    return true;
                }
                Ok(Told::Undone(..)) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    /// Stops the walk and returns its result. Does not wait for a walk that does not stop.
    fn end(&self) -> Option<Browsed> {
        self.request.interrupt.is_asked.store(true, Ordering::SeqCst);
        let end = Instant::now() + PATIENCE;
        loop {
            match self.told.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Told::Done(WorkKind::All, browsed)) => {
                    return browsed.ok().map(|browsed| *browsed);
                }
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }
}

/// The terminal in use.
struct Screen {
    /// Never dropped: that would show the cursor once more, and panic if the terminal is gone, because it complains on
    /// stderr.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Box<dyn io::Write>>>>,
}

/// What the user typed.
enum Typed {
    Key(Key),
    /// Ctrl-Z.
    Stop,
}

impl Screen {
    fn open() -> io::Result<Self> {
        let out: Box<dyn io::Write> = Box::new(io::BufWriter::new(sys::terminal()?));
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        Ok(Self { terminal: ManuallyDrop::new(Terminal::new(CrosstermBackend::new(out))?) })
    }

    fn draw(&mut self, browser: &mut Browser) -> io::Result<()> {
        // If it is gone, crossterm would start tput(1) to ask for its size.
        sys::terminal()?;
        self.terminal.draw(|frame| {
            browser.resize(view::list_height(frame.area().height));
            view::draw(browser, frame);
        })?;
        Ok(())
    }

    /// Stops the process until it is continued, and restores the terminal meanwhile.
    fn stop(&mut self) -> io::Result<()> {
        restore();
        signals::stop()?;
        enter()?;
        // This clears it; Terminal::clear would wait for the terminal to report its cursor position.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }

    fn key(&self, event: &Event) -> Option<Typed> {
        const HEAD: u16 = 1;
        let key = match *event {
            Event::Key(KeyEvent { kind: KeyEventKind::Release, .. }) => return None,
            Event::Key(KeyEvent { code, modifiers, .. }) => {
                let is_control = modifiers.contains(KeyModifiers::CONTROL);
                match code {
                    KeyCode::Char('z') if is_control => return Some(Typed::Stop),
                    KeyCode::Char('c') if is_control => Key::Interrupt,
                    KeyCode::Char('h') if is_control => Key::Backspace,
                    KeyCode::Char(_) if is_control => return None,
                    KeyCode::Char(c) => Key::Char(c),
                    KeyCode::Up => Key::Up,
                    KeyCode::Down => Key::Down,
                    KeyCode::Left => Key::Left,
                    KeyCode::Right => Key::Right,
                    KeyCode::PageUp => Key::PageUp,
                    KeyCode::PageDown => Key::PageDown,
                    KeyCode::Home => Key::Home,
                    KeyCode::End => Key::End,
                    KeyCode::Enter => Key::Enter,
                    KeyCode::Backspace => Key::Backspace,
                    KeyCode::Esc => Key::Escape,
                    KeyCode::F(1) => Key::Char('?'),
                    _ => return None,
                }
            }
            Event::Mouse(MouseEvent { kind, row, .. }) => match kind {
                MouseEventKind::ScrollUp => Key::ScrollUp,
                MouseEventKind::ScrollDown => Key::ScrollDown,
                MouseEventKind::Down(MouseButton::Left) => {
                    Key::Click(row.checked_sub(HEAD)?.into())
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(Typed::Key(key))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
        // The hook would restore a terminal that is already restored. During a panic, it cannot be taken.
        if !thread::panicking() {
            drop(panic::take_hook());
        }
    }
}

/// Takes over the terminal.
fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(sys::terminal()?, EnterAlternateScreen, EnableMouseCapture, Hide)
}

/// Restores the terminal. If that fails, for example because it is gone, nothing is left to restore.
fn restore() {
    if let Ok(mut terminal) = sys::terminal() {
        let _ = execute!(terminal, Show, DisableMouseCapture, LeaveAlternateScreen);
    }
    let _ = disable_raw_mode();
}
