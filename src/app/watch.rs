//! `weigh watch`: a tick every few seconds, drawn anew on a terminal, and a line of JSON anywhere else.

use std::ffi::OsString;
use std::io;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::app::browse::{self, BrowseOptions};
use crate::app::cli::{self, Messages};
use crate::app::signals::{self, SIGNALLED, TerminalSignals};
use crate::app::terminal::{self, Message, ProgressLine, say};
use weigh::internal::ask::{Bounds, Input, Request};
use weigh::internal::base::measure::Measure;
use weigh::internal::scan::walk::WalkOptions;
use weigh::internal::show::errors;
use weigh::internal::show::watch::{self, WatchOptions};
use weigh::internal::sys;
use weigh::internal::sys::problem::unless_closed;
use weigh::internal::watch::{Report, Watch};

/// How to watch.
#[derive(Clone, Debug)]
pub struct Watching {
    /// How much time there is between two ticks.
    pub every: Duration,
    /// When it ends, if it ends by itself.
    pub until: Option<Duration>,
    /// Whether each tick is a line of JSON.
    pub is_json: bool,
    /// How to draw it.
    pub options: WatchOptions,
    /// Whether the terminal is asked for its background.
    pub asks_background: bool,
    /// How to browse a directory.
    pub open: fn(OsString) -> Result<(Request, BrowseOptions), String>,
}

/// The exit statuses: something was not read, or could not be written; a bound is exceeded; Ctrl-C.
const INCOMPLETE: u8 = 1;
const OVER: u8 = 3;
const INTERRUPTED: u8 = SIGNALLED + 2;

/// So often, weigh looks for events, keys and signals.
const STEP: Duration = Duration::from_millis(50);

/// Why it ends.
enum End {
    /// Somebody typed `q`.
    Quit,
    /// Nobody reads any more.
    Left,
    Signal(u8),
    Time,
    /// Growth beyond the limit.
    Limit(String),
    Failed(io::Error),
}

/// Watches the roots of a `request`, and returns the exit status.
pub fn run(request: &Request, mut watching: Watching, messages: &Messages, progress: bool) -> u8 {
    let Input::Roots(roots) = &request.source else { return INCOMPLETE };
    // If these fail, weigh ends like any other program.
    let second = signals::listen(&request.interrupt, INTERRUPTED).ok();
    let _ = signals::outlive_size_limit();
    let format = watching.options.format.clone();
    let one_file_system = request.walk.one_file_system;
    let mut line = progress.then(|| ProgressLine::new(format, roots.clone(), one_file_system));
    let interrupt = std::sync::Arc::clone(&request.interrupt.is_asked);
    let options = WalkOptions { interrupt, ..request.walk.clone() };
    let watch = Watch::start(roots, options, watching.every, |progress| {
        if let Some(line) = &mut line {
            line.show(progress);
        }
    });
    let watch = match watch {
        Ok(_) if request.interrupt.is_asked() => return INTERRUPTED,
        Ok(watch) => watch,
        Err(problem) => {
            terminal::fail(&problem.lines(), watching.is_json);
            return INCOMPLETE;
        }
    };
    let losses = errors::losses(watch.problems(), messages.print_errors, messages.may_need_root);
    say(Message::Error, losses);
    let signals = TerminalSignals::default();
    // If this fails, a signal ends the program at once.
    let _ = signals::listen_for_lines(&signals, &request.interrupt, second);
    signals::end_soon(&signals);
    if let Some(palette) = &mut watching.options.palette
        && watching.asks_background
        && !watching.is_json
        && let Some(theme) = terminal::background::ask()
    {
        *palette = palette.on(theme);
    }
    let silence = (!watching.is_json).then(sys::silence).and_then(Result::ok);
    let mut session = Session {
        watch,
        watching,
        signals,
        silence,
        bounds: request.bounds,
        order: Vec::new(),
        drawn: 0,
        is_paused: false,
    };
    let end = session.go_on(|| request.interrupt.is_asked());
    if let End::Quit | End::Signal(_) = end {
        // Nothing is scanned any more.
        request.interrupt.is_asked.store(true, Ordering::SeqCst);
        let mut report = session.watch.tick(true);
        // The terminal may be gone.
        let _ = session.show(&mut report, true);
    }
    session.silence = None;
    let is_complete = !session.watch.problems().iter().any(|problem| problem.is_loss());
    match end {
        End::Quit | End::Left | End::Time => u8::from(!is_complete) * INCOMPLETE,
        End::Signal(signal) => SIGNALLED + signal,
        End::Limit(why) => {
            say(Message::Error, [why]);
            OVER
        }
        // The terminal may be gone.
        End::Failed(error) => {
            if let Some(signal) = session.signals.ended_by() {
                return SIGNALLED + signal;
            }
            say(Message::Error, [cli::unprinted(&error)]);
            INCOMPLETE
        }
    }
}

struct Session {
    watch: Watch,
    watching: Watching,
    signals: TerminalSignals,
    /// While it is there, keys come at once, and are not shown.
    silence: Option<sys::Silence>,
    bounds: Bounds,
    /// The paths of the rows as they were drawn.
    order: Vec<Vec<u8>>,
    /// How many lines were drawn.
    drawn: usize,
    is_paused: bool,
}

impl Session {
    fn go_on(&mut self, is_asked: impl Fn() -> bool) -> End {
        let elapsed = sys::stopwatch();
        let mut next = self.watching.every;
        let mut last = None;
        loop {
            let now = elapsed();
            let is_last = self.watching.until.is_some_and(|until| now >= until);
            if now >= next || is_last {
                let mut report = self.watch.tick(is_last);
                // A scan may have taken longer.
                next = (next + self.watching.every).max(elapsed());
                let exceeded = self.exceeded();
                let is_end = is_last || exceeded.is_some();
                let shown = match self.is_paused && !is_end {
                    true => Ok(true),
                    false => self.show(&mut report, is_end),
                };
                last = Some(report);
                match shown {
                    Ok(true) => {}
                    Ok(false) => return End::Left,
                    Err(error) => return End::Failed(error),
                }
                if let Some(why) = exceeded {
                    return End::Limit(why);
                }
                if is_last {
                    return End::Time;
                }
            }
            if let Some(signal) = self.signals.ended_by() {
                return End::Signal(signal);
            }
            if is_asked() {
                return End::Signal(INTERRUPTED - SIGNALLED);
            }
            let keys = match &self.silence {
                Some(_) => sys::typed(Duration::ZERO).unwrap_or_default(),
                None => Vec::new(),
            };
            for key in keys_in(&keys) {
                match key {
                    Key::Other(b'q') => return End::Quit,
                    Key::Other(b'p') => self.is_paused = !self.is_paused,
                    Key::Other(b's') => {
                        self.watching.options.by_so_far = !self.watching.options.by_so_far;
                        self.order.clear();
                    }
                    Key::Up | Key::Other(b'k') => self.select(last.as_ref(), -1),
                    Key::Down | Key::Other(b'j') => self.select(last.as_ref(), 1),
                    Key::Other(b'\r' | b'\n') => {
                        if self.watching.options.selected.is_none() {
                            self.select(last.as_ref(), 1);
                        }
                        if let Some(signal) = self.open() {
                            return End::Signal(signal);
                        }
                    }
                    Key::Other(_) => continue,
                }
                if let Some(report) = &mut last
                    && let Err(error) = self.show(report, false)
                {
                    return End::Failed(error);
                }
            }
            if self.signals.is_stopped.swap(false, Ordering::SeqCst) {
                self.silence = None;
                if let Err(error) = signals::stop() {
                    return End::Failed(error);
                }
                self.drawn = 0;
                self.silence = sys::silence().ok();
            }
            thread::sleep(STEP.min(next.saturating_sub(elapsed())));
            self.watch.listen();
        }
    }

    /// Selects the row so many below the selected one.
    fn select(&mut self, report: Option<&Report>, by: isize) {
        let Some(report) = report else { return };
        let most = watch::room(report, &self.watching.options).min(report.rows.len());
        let selected = &mut self.watching.options.selected;
        let at = report.rows.iter().position(|row| selected.as_ref() == Some(&row.path));
        let next = at.map_or(0, |at| at.saturating_add_signed(by)).min(most.saturating_sub(1));
        *selected = report.rows.get(next).map(|row| row.path.clone());
    }

    /// Opens the selected place in `weigh ui`, until that ends. Returns the signal that ended it. Nothing can be removed
    /// there, because a signal ends a watch without waiting for a removal.
    fn open(&mut self) -> Option<u8> {
        let path = self.watching.options.selected.clone().filter(|_| browse::IS_BUILT)?;
        self.silence = None;
        let path = sys::into_path(path).into_os_string();
        let ended = (self.watching.open)(path).and_then(|(request, options)| {
            let options = BrowseOptions { read_only: true, ..options };
            browse::run(&request, options).map_err(|problem| problem.lines())
        });
        // A signal for the screen is none for this one.
        self.signals.is_stopped.store(false, Ordering::SeqCst);
        self.silence = sys::silence().ok();
        let (signal, problems) = match ended {
            Ok(ended) => (ended.signal, errors::losses(&ended.kept, true, false)),
            Err(why) => (None, vec![why]),
        };
        if !problems.is_empty() {
            // The table comes below them.
            self.drawn = 0;
            say(Message::Error, problems);
        }
        signal
    }

    /// Shows a report. Returns false if nobody reads it.
    fn show(&mut self, report: &mut Report, is_last: bool) -> io::Result<bool> {
        let by_so_far = self.watching.options.by_so_far;
        watch::sort(report, by_so_far, &self.order);
        let text = if self.watching.is_json {
            let mut line = Vec::new();
            watch::json(&mut line, report, sys::now(), is_last)?;
            line
        } else {
            self.picture(report, is_last)
        };
        self.order = report.rows.iter().map(|row| row.path.clone()).collect();
        let printed = terminal::print(&text);
        let is_read = printed.is_ok();
        unless_closed(printed).map(|()| is_read)
    }

    /// The lines of a report, over those that were drawn before; the last line says what keys do, unless it `is_last`.
    fn picture(&mut self, report: &Report, is_last: bool) -> Vec<u8> {
        if let Some(size) = terminal::size() {
            self.watching.options.size = size;
        }
        if is_last {
            self.watching.options.selected = None;
        }
        let mut lines = watch::lines(report, &self.watching.options);
        let height = self.watching.options.size.1.saturating_sub(1).max(1);
        let opens = browse::IS_BUILT && !report.rows.is_empty();
        let has_keys = self.silence.is_some() && !is_last && height > 1;
        let keys = has_keys.then(|| watch::keys(self.is_paused, opens, &self.watching.options));
        lines.truncate(height - usize::from(keys.is_some()));
        lines.extend(keys);
        let mut text = String::new();
        if terminal::shows_colors() {
            if self.drawn > 0 {
                text += &format!("\x1b[{}A\r", self.drawn.min(height));
            }
            for line in &lines {
                text += &format!("{line}\x1b[K\n");
            }
            text += "\x1b[J";
        } else {
            text = lines.iter().map(|line| format!("{line}\n")).collect();
        }
        self.drawn = lines.len();
        text.into_bytes()
    }

    /// The growth that is too large, in words.
    fn exceeded(&self) -> Option<String> {
        let (before, grown) = self.watch.size();
        let now = before.saturating_add_signed(grown);
        let exceeded = self.bounds.exceeded((Some(before), Some(now)));
        let format = (Measure::Disk, &self.watching.options.format);
        exceeded.first().map(|it| errors::exceeded(it, None, format, false))
    }
}

/// A key that was typed.
enum Key {
    Up,
    Down,
    Other(u8),
}

/// The keys in `bytes`. Other sequences of escape are no keys.
fn keys_in(bytes: &[u8]) -> Vec<Key> {
    let (mut keys, mut rest) = (Vec::new(), bytes);
    while let [first, after @ ..] = rest {
        rest = after;
        let ([b'[' | b'O', sequence @ ..], 0x1b) = (after, first) else {
            keys.push(Key::Other(*first));
            continue;
        };
        let end = sequence.iter().position(|byte| matches!(byte, 0x40..=0x7e));
        match end.map(|end| sequence.split_at(end)) {
            Some((b"", [last, after @ ..])) => {
                rest = after;
                match last {
                    b'A' => keys.push(Key::Up),
                    b'B' => keys.push(Key::Down),
                    _ => {}
                }
            }
            Some((_, [_, after @ ..])) => rest = after,
            _ => rest = &[],
        }
    }
    keys
}
