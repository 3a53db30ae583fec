//! The terminal: it gives the loop keys and signals, and draws the state.
//!
//! It draws on the terminal itself, because standard output is for paths. It restores the terminal at the end, while
//! the process is stopped, and after a panic, when no destructor runs any more.

use std::io;
use std::mem::{self, ManuallyDrop};
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
use crossterm::queue;
use crossterm::terminal::{
    self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::tty::IsTty as _;
use ratatui_core::layout::Rect;
use ratatui_core::terminal::{Terminal, TerminalOptions, Viewport};
use ratatui_crossterm::CrosstermBackend;

use super::background::Background;
use super::browser::Browser;
use super::event::{Ending, Event};
use super::keys::Key;
use super::options::{BrowseOptions, Ended};
use super::view;
use super::work::{Console, INTERVAL, Work, send_to_terminal};
use crate::app::signals::{self, HANGUP, TerminalSignals};
use crate::app::terminal::background::QUESTION;
use weigh::internal::ask::Request;
use weigh::internal::sys;
use weigh::internal::sys::problem::{Operation, Problem};

/// Whether there is a screen to browse on.
pub const IS_BUILT: bool = true;

/// What to do without a terminal.
const HINT: &str =
    "ui needs one, as with ssh -t or docker run -it; weigh PATH prints a tree without it";

/// Browses what `request` asks for, until the user ends it.
///
/// # Errors
/// If there is no terminal, or if a snapshot cannot be loaded or compared.
pub fn run(request: &Request, options: BrowseOptions) -> Result<Ended, Problem> {
    let signals = TerminalSignals::default();
    signals::listen_for_screen(&signals).map_err(|error| problem(&error))?;
    let has_16_colors = options.colors.as_ref().is_some_and(|it| it.palette.has_16_colors());
    let screen = Screen::open(signals.clone(), options.size, has_16_colors);
    let mut screen =
        screen.map_err(|error| Problem { hint: Some(HINT.to_owned()), ..problem(&error) })?;
    screen.may_ask = options.asks_background && options.colors.is_some();
    let work = Work::new(request, &options, signals.clone(), INTERVAL);
    let mut browser = Browser::new(request.clone(), options);
    // Before any access to the file system.
    let drawn = enter(&signals).and_then(|()| screen.draw(&mut browser));
    work.pass(&mut browser, Event::Start);
    let ending = drawn.and_then(|()| work.browse(&mut browser, &mut screen));
    drop(screen);
    let unfinished = browser.is_removing() && !work.end_removal(&mut browser);
    let (has_failed, kept) = browser.failed_removals();
    let in_trash = browser.in_trash().map(|size| (browser.removals.trashed.len(), size));
    let mut ended = Ended {
        kept,
        in_trash,
        has_failed: has_failed || unfinished,
        unfinished,
        ..Ended::default()
    };
    match ending {
        Ok(Ending::Quit) => ended.printed = browser.printed_directory(),
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
    // Messages go to the terminal, too.
    signals::end_soon(&signals);
    Ok(ended)
}

fn problem(error: &io::Error) -> Problem {
    Problem::new(b"the terminal".to_vec(), Operation::Open, error)
}

/// The terminal in use.
struct Screen {
    /// Never dropped: that would show the cursor once more, and panic if the terminal is gone, because it complains on
    /// stderr.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Picture>>>,
    size: (u16, u16),
    usual_size: (u16, u16),
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
        let size = size(self.usual_size)?;
        if size != self.size {
            self.size = size;
            self.clear()?;
        }
        self.terminal.draw(|frame| {
            view::fit(browser, size);
            view::draw(browser, frame);
        })?;
        Ok(())
    }

    fn next(&mut self, browser: &Browser, wait: Duration) -> io::Result<Option<Event>> {
        // A wrong command line or a damaged snapshot ends weigh at once. Then nobody would take the answer.
        if self.may_ask && browser.has_begun() {
            self.may_ask = false;
            self.background = Background::asked_now();
            send_to_terminal(QUESTION.as_bytes(), &self.signals)?;
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
                Ok(mouse(browser, kind, (column, row), self.size).map(Event::Key))
            }
            TerminalEvent::Paste(text) => Ok(Some(Event::Pasted(text))),
            TerminalEvent::Resize(..) => Ok(Some(Event::Redraw)),
            _ => Ok(None),
        }
    }
}

impl Screen {
    fn open(
        signals: TerminalSignals,
        usual_size: (u16, u16),
        has_16_colors: bool,
    ) -> io::Result<Self> {
        // That there is one.
        sys::terminal()?;
        let out = Picture { bytes: Vec::new(), signals: signals.clone(), has_16_colors };
        let size = size(usual_size)?;
        // crossterm reads on until a key is whole. After a part of one, it would wait for the rest, and heed no signal.
        if io::stdin().is_tty() {
            sys::read_keys_without_waiting()?;
        }
        let (before, heard) = (panic::take_hook(), signals.clone());
        panic::set_hook(Box::new(move |panic| {
            restore(&heard);
            before(panic);
        }));
        // A viewport that is all of the terminal would ask for its size, and some do not know that.
        let viewport = Viewport::Fixed(Rect::new(0, 0, size.0, size.1));
        let terminal =
            Terminal::with_options(CrosstermBackend::new(out), TerminalOptions { viewport });
        let terminal = ManuallyDrop::new(terminal?);
        let (background, last_seen) = (Background::default(), Instant::now());
        Ok(Self { terminal, size, usual_size, signals, may_ask: false, background, last_seen })
    }

    /// Stops the process until it is continued, and restores the terminal meanwhile.
    fn stop(&mut self) -> io::Result<()> {
        self.drain();
        restore(&self.signals);
        signals::stop()?;
        self.signals.is_continued.store(false, Ordering::SeqCst);
        self.enter_again()
    }

    /// Takes over the terminal after others, such as the shell, had it.
    fn enter_again(&mut self) -> io::Result<()> {
        // crossterm would take it for raw, if it left it so.
        disable_raw_mode()?;
        enter(&self.signals)?;
        self.clear()
    }

    fn drain(&mut self) {
        self.background.drain(|question| send_to_terminal(question.as_bytes(), &self.signals));
    }

    /// Clears the screen, so that everything is drawn anew. Terminal::clear would wait for the terminal to report its
    /// cursor position.
    fn clear(&mut self) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), Clear(ClearType::All))?;
        self.terminal.resize(Rect::new(0, 0, self.size.0, self.size.1))
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
        self.drain();
        restore(&self.signals);
        // The hook would restore a terminal that is already restored. During a panic, it cannot be taken.
        if !thread::panicking() {
            drop(panic::take_hook());
        }
    }
}

/// The columns and lines of the terminal; the `usual` ones if it does not know them, as on a serial line. An error if it
/// says that it is larger than any screen: two buffers take about 80 bytes a cell each.
fn size(usual: (u16, u16)) -> io::Result<(u16, u16)> {
    const MOST: u32 = 1 << 20;
    let (columns, lines) = match terminal::size()? {
        (0, _) | (_, 0) => usual,
        size => size,
    };
    if u32::from(columns) * u32::from(lines) <= MOST {
        return Ok((columns, lines));
    }
    Err(io::Error::other(format!("{columns} columns and {lines} lines are more than a screen has")))
}

/// Collects the bytes of a drawing, and gives them to the terminal in one piece.
struct Picture {
    bytes: Vec<u8>,
    signals: TerminalSignals,
    /// Whether the terminal may have only 16 colours.
    has_16_colors: bool,
}

impl io::Write for Picture {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut bytes = mem::take(&mut self.bytes);
        if self.has_16_colors {
            bytes = with_16_colors(&String::from_utf8_lossy(&bytes)).into_bytes();
        }
        send_to_terminal(&bytes, &self.signals)
    }
}

/// `text` with each of the first 16 colours as all terminals know it, as in `ESC [ 35 m`. crossterm writes `38;5;5`,
/// which is for 256 colours: a terminal that does not know it takes 5 for blinking, and 2 for dim.
fn with_16_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str("\x1b[");
        let (style, rest) = match part.split_once('m') {
            Some((style, rest)) if style.bytes().all(|it| it.is_ascii_digit() || it == b';') => {
                (style, rest)
            }
            _ => {
                shown.push_str(part);
                continue;
            }
        };
        let mut numbers = style.split(';');
        let mut first = true;
        while let Some(number) = numbers.next() {
            if !mem::take(&mut first) {
                shown.push(';');
            }
            let color = match number {
                "38" | "48" => {
                    let mut color = numbers.clone();
                    (color.next() == Some("5")).then(|| color.next()?.parse::<u8>().ok()).flatten()
                }
                _ => None,
            };
            match color {
                Some(color @ ..16) => {
                    numbers.nth(1);
                    let base = if number == "38" { 30 } else { 40 };
                    let bright = if color < 8 { base } else { base + 60 };
                    shown.push_str(&(bright + color % 8).to_string());
                }
                _ => shown.push_str(number),
            }
        }
        shown.push('m');
        shown.push_str(rest);
    }
    shown
}

/// Takes over the terminal. Not every one has an alternate screen, which would be blank.
fn enter(signals: &TerminalSignals) -> io::Result<()> {
    enable_raw_mode()?;
    let mut text = Vec::new();
    queue!(text, EnterAlternateScreen, Clear(ClearType::All), EnableMouseCapture, Hide)?;
    // Old consoles of Windows cannot tell pasted text from keys.
    let _ = queue!(text, EnableBracketedPaste);
    send_to_terminal(&text, signals)
}

/// Restores the terminal. If that fails, for example because it is gone, nothing is left to restore.
fn restore(signals: &TerminalSignals) {
    let mut text = Vec::new();
    let _ = queue!(text, DisableBracketedPaste);
    // Without an alternate screen, the prompt would come anywhere between the lines.
    let _ = queue!(text, Clear(ClearType::All), MoveTo(0, 0));
    let _ = queue!(text, Show, DisableMouseCapture, LeaveAlternateScreen);
    let _ = send_to_terminal(&text, signals);
    let _ = disable_raw_mode();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_16_colors_are_written_for_all_terminals() {
        for (text, expected) in [
            ("a\x1b[38;5;5;49mb", "a\x1b[35;49mb"),
            ("\x1b[38;5;9;48;5;12m\x1b[48;5;0mx", "\x1b[91;104m\x1b[40mx"),
            // Of 256 and of 16 M, as LS_COLORS may have them.
            ("\x1b[38;5;208m\x1b[1;38;2;5;5;5m", "\x1b[38;5;208m\x1b[1;38;2;5;5;5m"),
            ("\x1b[2J\x1b[1;2Hm 38;5;5m\x1b[0m", "\x1b[2J\x1b[1;2Hm 38;5;5m\x1b[0m"),
            ("\x1b[38;5m\x1b[m", "\x1b[38;5m\x1b[m"),
        ] {
            assert_eq!(with_16_colors(text), expected);
        }
    }
}
