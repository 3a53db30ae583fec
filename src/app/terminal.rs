//! The terminal, and the line on it that shows the progress.

pub mod background;

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, StdoutLock, Write};
use std::mem;
use std::process;
use std::sync::LazyLock;
use std::sync::atomic::Ordering;
use std::time::Instant;

use terminal_size::{Height, Width, terminal_size};

use crate::app::signals::{self, SIGNALLED, SecondCtrlC, TerminalSignals};
use weigh::internal::base::interrupt::Interrupt;
use weigh::internal::scan::walk::Progress;
use weigh::internal::show::palette::{Charset, Depth, Theme};
use weigh::internal::show::size::Format;
use weigh::internal::show::{json, progress};
use weigh::internal::sys::{self, is_capable_terminal};

/// The columns and lines of the terminal, if any.
pub fn size() -> Option<(usize, usize)> {
    terminal_size().map(|(Width(width), Height(height))| (width.into(), height.into()))
}

/// The columns and lines of a terminal that does not know them: those of LINES and COLUMNS, or else a VT100's.
pub fn usual_size() -> (u16, u16) {
    let set = |name: &str| -> Option<u16> {
        let number: u16 = env::var(name).ok()?.parse().ok()?;
        (number > 0).then_some(number)
    };
    (set("COLUMNS").unwrap_or(80), set("LINES").unwrap_or(24))
}

/// The columns that COLUMNS asks for, where stdout is no terminal and so has none of its own.
pub fn asked_columns() -> Option<usize> {
    let columns: u16 = env::var("COLUMNS").ok().filter(|_| !is_stdout())?.parse().ok()?;
    (columns > 0).then_some(columns.into())
}

/// Whether stdin is a terminal.
pub fn is_stdin() -> bool {
    io::stdin().is_terminal()
}

/// Whether stdout is a terminal. The system is asked once.
pub fn is_stdout() -> bool {
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());
    *IS_TERMINAL
}

/// Whether stdout wants colours: NO_COLOR (no-color.org), CLICOLOR_FORCE and CLICOLOR (bixense.com/clicolors), then
/// whether it is a terminal that can show them.
pub fn wants_colors() -> bool {
    !forbids_colors() && (forces_colors() || shows_colors())
}

/// Whether stdout is a terminal that can show colours and links.
pub fn shows_colors() -> bool {
    is_stdout() && is_capable_terminal()
}

/// Whether drawings on the terminal itself may have colours: unless NO_COLOR or CLICOLOR forbids it.
pub fn allows_colors() -> bool {
    !forbids_colors() && is_capable_terminal()
}

fn forbids_colors() -> bool {
    env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || env::var_os("CLICOLOR").is_some_and(|value| value == "0") && !forces_colors()
}

fn forces_colors() -> bool {
    env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether stdout shows links. Linux's own console would show them as text.
pub fn wants_links() -> bool {
    shows_colors() && !is_linux_console()
}

/// Whether the terminal is Linux's own console: `linux`, and in terminfo also `linux-16color` and others.
pub fn is_linux_console() -> bool {
    let term = env::var_os("TERM").unwrap_or_default();
    term == "linux" || term.as_encoded_bytes().starts_with(b"linux-")
}

/// Why there can be no screen on the terminal, if that is so.
pub fn lacks_screen() -> Option<String> {
    let term = env::var_os("TERM").unwrap_or_default();
    let why = match &*term.to_string_lossy() {
        // Consoles of Windows do without it, and without escape sequences.
        "" if cfg!(windows) => return None,
        _ if is_capable_terminal() => return None,
        "" => "TERM is not set".to_owned(),
        term => format!("TERM is {term}"),
    };
    Some(format!(
        "ui needs a terminal that can draw a screen, and {why}\nTERM=xterm weigh ui tries it"
    ))
}

/// The background, as COLORFGBG says: `15;0` is white on black. Some terminals set it. Linux's own console does
/// not, and is black.
pub fn theme() -> Theme {
    let colors = env::var("COLORFGBG").unwrap_or_default();
    match colors.rsplit(';').next().unwrap_or_default().parse() {
        Ok(0..=6 | 8) => Theme::Dark,
        Ok(7 | 9..=15) => Theme::Light,
        _ if is_linux_console() => Theme::Dark,
        _ => Theme::None,
    }
}

/// How many colours there are, as COLORTERM and TERM say. Every console of Windows that shows colours has all.
pub fn depth() -> Depth {
    let [all, term] = ["COLORTERM", "TERM"].map(|name| env::var(name).unwrap_or_default());
    match (&*all, &*term) {
        ("truecolor" | "24bit", _) => Depth::Rgb,
        (_, "") if cfg!(windows) => Depth::Rgb,
        (_, term) if term.contains("direct") => Depth::Rgb,
        (_, term) if term.contains("256color") => Depth::Fixed,
        _ => Depth::Ansi,
    }
}

/// What can be shown, as the locale says (locale(7)). Where no locale is set, terminals show UTF-8.
pub fn charset() -> Charset {
    let mut set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(env::var_os);
    let locale = set.find(|locale| !locale.is_empty()).unwrap_or_default();
    let locale = locale.to_string_lossy().to_ascii_lowercase();
    let is_utf8 = locale.is_empty() || locale.contains("utf-8") || locale.contains("utf8");
    match is_utf8 || cfg!(windows) {
        true if is_linux_console() => Charset::Console,
        true => Charset::Unicode,
        false => Charset::Ascii,
    }
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The reason for an exit status other than 0.
    Error,
    /// Anything else.
    Note,
}

/// Writes messages to stderr, a line each. The part of a message after a newline is the way out, on a line of its own.
pub fn say(message: Message, texts: impl IntoIterator<Item = impl Display>) {
    let kind = match message {
        Message::Error => "error",
        Message::Note => "note",
    };
    let texts = texts.into_iter().map(|text| text.to_string().replace('\n', "\nhint: "));
    let lines: String = texts.map(|text| format!("weigh: {kind}: {text}\n")).collect();
    // Most often, there is nothing to say.
    if !lines.is_empty() {
        complain(&lines);
    }
}

/// Says why weigh ends without a result: on stderr for people, and for a program that asked for JSON also on stdout.
pub fn fail(text: &str, is_json: bool) {
    say(Message::Error, [text]);
    if is_json {
        let mut object = Vec::new();
        // If writing fails, the exit status still says that there is no result.
        let _ = json::failure(&mut object, text).and_then(|()| print(&object));
    }
}

/// Stdout, if that can be written to.
///
/// # Errors
/// The system's.
pub fn output() -> io::Result<StdoutLock<'static>> {
    sys::ensure_output()?;
    Ok(io::stdout().lock())
}

/// Writes `bytes` to stdout.
///
/// # Errors
/// The system's.
pub fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = output()?;
    out.write_all(bytes).and_then(|()| out.flush())
}

/// Writes `text` to stderr, with what the locale can show. If that fails, there is nowhere left to say so.
pub fn complain(text: &str) {
    let _ = io::stderr().write_all(charset().drawing(text).as_bytes());
}

/// Whether somebody may read stderr now.
pub fn is_stderr() -> bool {
    io::stderr().is_terminal()
}

/// Whether somebody can read a list and a question, and type an answer.
pub fn is_for_questions() -> bool {
    is_stdin() && is_stdout() && is_stderr()
}

/// Whether stderr can show a line that is redrawn.
pub fn wants_progress() -> bool {
    io::stderr().is_terminal() && is_capable_terminal()
}

/// Ends whatever a line that was cut short has begun: a control string, a link, colours.
const PLAIN: &[u8] = b"\x1b\\\x1b]8;;\x1b\\\x1b[0m";

/// Stdout, where it is a terminal. A signal ends or stops the program once colours and links are off: the kernel cuts
/// a line short.
#[derive(Debug)]
pub struct Lines<'a> {
    out: StdoutLock<'static>,
    interrupt: &'a Interrupt,
    second: Option<SecondCtrlC>,
    signals: TerminalSignals,
    is_begun: bool,
}

impl<'a> Lines<'a> {
    /// From the first line on, signals wait for the write to `out` that is going on, also a `second` Ctrl-C.
    pub fn new(
        out: StdoutLock<'static>,
        interrupt: &'a Interrupt,
        second: Option<SecondCtrlC>,
    ) -> Self {
        let signals = TerminalSignals::default();
        Self { out, interrupt, second, signals, is_begun: false }
    }

    /// The terminal's background, if it says so. Signals wait, because what is typed is not shown meanwhile.
    ///
    /// # Errors
    /// The system's.
    pub fn background(&mut self) -> io::Result<Option<Theme>> {
        self.begin();
        let theme = background::ask();
        self.flush()?;
        Ok(theme)
    }

    /// From now on, signals wait.
    fn begin(&mut self) {
        if !mem::replace(&mut self.is_begun, true) {
            // If this fails, a signal ends the program at once.
            let _ = signals::listen_for_lines(&self.signals, self.interrupt, self.second);
            signals::end_soon(&self.signals);
        }
    }
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin();
        let written = self.out.write(bytes);
        // Also if that failed: a signal may say why.
        self.flush()?;
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        let ended = self.signals.ended_by();
        let is_stopped = self.signals.is_stopped.swap(false, Ordering::SeqCst);
        if is_stopped || ended.is_some() {
            // The terminal may be gone.
            let _ = self.out.write_all(PLAIN).and_then(|()| self.out.flush());
        }
        if let Some(signal) = ended {
            process::exit(i32::from(SIGNALLED + signal));
        }
        flushed?;
        if is_stopped { signals::stop() } else { Ok(()) }
    }
}

/// The progress line, on stderr.
#[derive(Debug)]
pub struct ProgressLine {
    format: Format,
    start: Instant,
    is_drawn: bool,
    roots: Vec<OsString>,
    one_file_system: bool,
    /// The inodes in use of all roots, once they were asked for; 0 if a root is no mount point.
    inodes: Option<u64>,
}

impl ProgressLine {
    /// A line about a walk of `roots`, which stays on `one_file_system` or does not. Sizes are in `format`.
    pub fn new(format: Format, roots: Vec<OsString>, one_file_system: bool) -> Self {
        let start = Instant::now();
        Self { format, start, is_drawn: false, roots, one_file_system, inodes: None }
    }

    /// Redraws the line, or erases it when there is no progress any more.
    pub fn show(&mut self, progress: Option<&Progress>) {
        let Some(progress) = progress else {
            if self.is_drawn {
                replace("");
            }
            return;
        };
        // Some terminals wrap after the last column, and all echo "^C" after the line.
        let width = size().map_or(80, |(width, _)| width).saturating_sub(3);
        let Progress { entries, size, directory, prefetch, .. } = progress;
        let elapsed = self.start.elapsed();
        let inodes = *self.inodes.get_or_insert_with(|| {
            sys::used_inodes(&self.roots, self.one_file_system).unwrap_or(0)
        });
        let line = match *prefetch {
            Some((read, of)) => progress::prefetch(read, of),
            None => progress::line((*entries, inodes), *size, elapsed, directory, &self.format),
        };
        replace(&charset().cut(&line, width));
        self.is_drawn = true;
    }
}

/// Writes `line` over the one at the cursor, in one call, so that it does not flicker.
fn replace(line: &str) {
    const CLEAR: &str = "\r\x1b[2K";
    // An error here does not change the totals.
    let _ = io::stderr().write_all(format!("{CLEAR}{line}").as_bytes());
}
