//! `weigh watch`: a tick every few seconds, drawn anew on a terminal, and a line of JSON anywhere else.

use std::io;
use std::thread;
use std::time::Duration;

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
}

/// The exit statuses: something was not read, or could not be written; a bound is exceeded; Ctrl-C.
const INCOMPLETE: u8 = 1;
const OVER: u8 = 3;
const INTERRUPTED: u8 = SIGNALLED + 2;

/// So often, weigh looks for events, keys and signals.
const STEP: Duration = Duration::from_millis(50);

/// Why it ends.
enum End {
    /// Somebody typed `q`, or nobody reads any more.
    Left,
    Signal(u8),
    Time,
    /// Growth beyond the limit.
    Limit(String),
    Failed(io::Error),
}

/// Watches the roots of a `request`, and returns the exit status.
pub fn run(request: &Request, watching: Watching, messages: &Messages, progress: bool) -> u8 {
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
    let is_complete = !watch.problems().iter().any(|problem| problem.is_loss());
    let signals = TerminalSignals::default();
    if !watching.is_json {
        // If this fails, a signal ends the program at once.
        let _ = signals::listen_for_lines(&signals, &request.interrupt, second);
        signals::end_soon(&signals);
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
    session.silence = None;
    match end {
        End::Left | End::Time => u8::from(!is_complete) * INCOMPLETE,
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
            for key in keys {
                match key {
                    b'q' => return End::Left,
                    b'p' => self.is_paused = !self.is_paused,
                    b's' => self.watching.options.by_so_far = !self.watching.options.by_so_far,
                    _ => continue,
                }
                self.order.clear();
                if let Some(report) = &mut last
                    && let Err(error) = self.show(report, false)
                {
                    return End::Failed(error);
                }
            }
            if self.signals.is_stopped.swap(false, std::sync::atomic::Ordering::SeqCst) {
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
        let mut lines = watch::lines(report, &self.watching.options);
        let height = self.watching.options.size.1.saturating_sub(1).max(1);
        let keys = match (self.is_paused, self.watching.options.by_so_far) {
            (true, _) => "paused: p goes on, q ends",
            (_, false) => "q ends, p pauses, s sorts by growth so far",
            (_, true) => "q ends, p pauses, s sorts by growth per second",
        };
        let WatchOptions { charset, size: (width, _), .. } = self.watching.options;
        let keys =
            (self.silence.is_some() && !is_last && height > 1).then(|| charset.cut(keys, width));
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
