//! The terminal: it gives the loop keys and signals, and draws the state.
//!
//! It draws on the terminal itself, because standard output is for paths. It restores the terminal at the end, while
//! the process is stopped, and after a panic, when no destructor runs any more.

use std::io::{self, Write as _};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
    Event as TerminalEvent, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent,
    MouseEventKind,
};
use crossterm::execute;
use crossterm::terminal::{
    self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::tty::IsTty as _;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;

use super::background::{Background, QUESTION};
use super::browser::Browser;
use super::event::{Ending, Event};
use super::keys::Key;
use super::options::{BrowseOptions, Ended};
use super::view;
use super::work::{Console, INTERVAL, Work};
use crate::program::signals::{self, HANGUP, TerminalSignals};
use weigh::internal::problem::{Operation, Problem};
use weigh::internal::report::Request;
use weigh::internal::sys;

/// Whether there is a screen to browse on.
pub const IS_BUILT: bool = true;

/// Browses what `request` asks for, until the user ends it.
///
/// # Errors
/// If there is no terminal, or if a snapshot cannot be loaded or compared.
pub fn run(request: &Request, options: BrowseOptions) -> Result<Ended, Problem> {
    let signals = TerminalSignals::default();
    signals::listen_for_screen(&signals).map_err(|error| problem(&error))?;
    let mut screen = Screen::open(signals.clone()).map_err(|error| problem(&error))?;
    screen.may_ask = options.asks_background && options.colors.is_some();
    let work = Work::new(request, &options, signals.clone(), INTERVAL);
    let mut browser = Browser::new(request.clone(), options);
    // Before any access to the file system.
    let drawn = enter().and_then(|()| screen.draw(&mut browser));
    work.pass(&mut browser, Event::Start);
    let ending = drawn.and_then(|()| work.browse(&mut browser, &mut screen));
    drop(screen);
    let unfinished = browser.is_removing() && !work.end_removal(&mut browser);
    let (has_failed, kept) = browser.failed_removals();
    let mut ended =
        Ended { kept, has_failed: has_failed || unfinished, unfinished, ..Ended::default() };
    match ending {
        Ok(Ending::Quit) => {}
        Ok(Ending::Print) => ended.printed = Some(browser.printed_paths()),
        Ok(Ending::Signal(signal)) => ended.signal = Some(signal),
        Ok(Ending::Fail(problem)) => return Err(problem),
        Err(error) => {
            // A terminal that fails is gone, whether or not a signal says so.
            ended.signal = Some(signals.ended_by().unwrap_or(HANGUP));
            ended.failure = Some(problem(&error));
        }
    }
    ended.browsed = if browser.is_walking() { work.end_scan() } else { browser.scan.browsed };
    Ok(ended)
}

fn problem(error: &io::Error) -> Problem {
    Problem::new(b"the terminal".to_vec(), Operation::Open, error)
}

/// The terminal in use.
struct Screen {
    /// Never dropped: that would show the cursor once more, and panic if the terminal is gone, because it complains on
    /// stderr.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Box<dyn io::Write>>>>,
    signals: TerminalSignals,
    /// Whether the terminal is to be asked for its background.
    may_ask: bool,
    background: Background,
    /// When it was last certain that the terminal is there.
    last_seen: Instant,
}

impl Console for Screen {
    fn draw(&mut self, browser: &mut Browser) -> io::Result<()> {
        // If it is gone, crossterm would start tput(1) to ask for its size.
        sys::terminal()?;
        ensure_size()?;
        self.terminal.draw(|frame| {
            let area = frame.area();
            view::fit(browser, (area.width, area.height));
            view::draw(browser, frame);
        })?;
        Ok(())
    }

    fn next(&mut self, browser: &Browser, wait: Duration) -> io::Result<Option<Event>> {
        // A wrong command line or a damaged snapshot ends weigh at once. Then nobody would take the answer.
        if self.may_ask && browser.has_begun() {
            self.may_ask = false;
            self.background = Background::asked_now();
            sys::terminal()?.write_all(QUESTION.as_bytes())?;
        }
        let is_event = event::poll(wait)?;
        // If SIGHUP is ignored, as with nohup, only this shows that the terminal is gone.
        if self.last_seen.elapsed() >= Duration::from_secs(1) {
            sys::terminal()?;
            self.last_seen = Instant::now();
        }
        if let Some(signal) = self.signals.ended_by() {
            return Ok(Some(Event::Signal(signal)));
        }
        if self.signals.is_stopped.swap(false, Ordering::SeqCst) {
            self.stop()?;
            return Ok(Some(Event::Redraw));
        }
        if self.signals.is_continued.swap(false, Ordering::SeqCst) {
            self.enter_again()?;
            return Ok(Some(Event::Redraw));
        }
        if !is_event {
            return Ok(None);
        }
        match event::read()? {
            TerminalEvent::Key(key) if key.kind != KeyEventKind::Release => {
                match self.background.take(key) {
                    Some(theme) => Ok(theme.map(Event::Theme)),
                    None => self.key(key),
                }
            }
            TerminalEvent::Mouse(MouseEvent { kind, column, row, .. }) => {
                let size = self.terminal.size().map(|it| (it.width, it.height))?;
                Ok(mouse(browser, kind, (column, row), size).map(Event::Key))
            }
            TerminalEvent::Paste(text) => Ok(Some(Event::Pasted(text))),
            TerminalEvent::Resize(..) => Ok(Some(Event::Redraw)),
            _ => Ok(None),
        }
    }
}

impl Screen {
    fn open(signals: TerminalSignals) -> io::Result<Self> {
        let out: Box<dyn io::Write> = Box::new(io::BufWriter::new(sys::terminal()?));
        ensure_size()?;
        // crossterm reads on until a key is whole. After a part of one, it would wait for the rest, and heed no signal.
        if io::stdin().is_tty() {
            sys::read_keys_without_waiting()?;
        }
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        let terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(out))?);
        let (background, last_seen) = (Background::default(), Instant::now());
        Ok(Self { terminal, signals, may_ask: false, background, last_seen })
    }

    /// Stops the process until it is continued, and restores the terminal meanwhile.
    fn stop(&mut self) -> io::Result<()> {
        self.background.drain();
        restore();
        signals::stop()?;
        self.signals.is_continued.store(false, Ordering::SeqCst);
        self.enter_again()
    }

    /// Takes over the terminal after others, such as the shell, had it.
    fn enter_again(&mut self) -> io::Result<()> {
        // crossterm would take it for raw, if it left it so.
        disable_raw_mode()?;
        enter()?;
        self.clear()
    }

    /// Clears the screen, so that everything is drawn anew. Terminal::clear would wait for the terminal to report its
    /// cursor position.
    fn clear(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }

    fn key(&mut self, KeyEvent { code, modifiers, .. }: KeyEvent) -> io::Result<Option<Event>> {
        if !modifiers.contains(KeyModifiers::CONTROL) {
            return Ok(key(code).map(Event::Key));
        }
        match code {
            KeyCode::Char('c') => Ok(Some(Event::Key(Key::Interrupt))),
            KeyCode::Char('h') => Ok(Some(Event::Key(Key::Backspace))),
            KeyCode::Char('l') => self.clear().map(|()| Some(Event::Redraw)),
            // If nobody could continue it, Ctrl-Z does nothing.
            KeyCode::Char('z') if sys::stop_others() => {
                self.stop()?;
                // The signal for the group was sent to this process too.
                self.signals.is_stopped.store(false, Ordering::SeqCst);
                Ok(Some(Event::Redraw))
            }
            KeyCode::Char(letter) => Ok(Some(Event::Key(Key::Control(letter)))),
            _ => Ok(key(code).map(Event::Key)),
        }
    }
}

fn key(code: KeyCode) -> Option<Key> {
    Some(match code {
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
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Esc => Key::Escape,
        KeyCode::F(1) => Key::Char('?'),
        _ => return None,
    })
}

fn mouse(browser: &Browser, kind: MouseEventKind, at: (u16, u16), size: (u16, u16)) -> Option<Key> {
    match kind {
        MouseEventKind::ScrollUp => Some(Key::ScrollUp),
        MouseEventKind::ScrollDown => Some(Key::ScrollDown),
        MouseEventKind::Down(MouseButton::Left) => view::click(browser, at, size),
        _ => None,
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.background.drain();
        restore();
        // The hook would restore a terminal that is already restored. During a panic, it cannot be taken.
        if !thread::panicking() {
            drop(panic::take_hook());
        }
    }
}

/// An error if the terminal says that it is larger than any screen: two buffers take about 80 bytes a cell each.
fn ensure_size() -> io::Result<()> {
    const MOST: u32 = 1 << 20;
    let (columns, lines) = terminal::size()?;
    if u32::from(columns) * u32::from(lines) <= MOST {
        return Ok(());
    }
    Err(io::Error::other(format!("{columns} columns and {lines} lines are more than a screen has")))
}

/// Takes over the terminal. Not every one has an alternate screen, which would be blank.
fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    let mut terminal = sys::terminal()?;
    execute!(terminal, EnterAlternateScreen, Clear(ClearType::All), EnableMouseCapture, Hide)?;
    // Old consoles of Windows cannot tell pasted text from keys.
    let _ = execute!(sys::terminal()?, EnableBracketedPaste);
    Ok(())
}

/// Restores the terminal. If that fails, for example because it is gone, nothing is left to restore.
fn restore() {
    if let Ok(mut terminal) = sys::terminal() {
        let _ = execute!(terminal, DisableBracketedPaste);
        // Without an alternate screen, the prompt would come anywhere between the lines.
        let _ = execute!(terminal, Clear(ClearType::All), MoveTo(0, 0));
        let _ = execute!(terminal, Show, DisableMouseCapture, LeaveAlternateScreen);
    }
    let _ = disable_raw_mode();
}
