//! `weigh clean --apply` and `--empty-trash`: show what would go, ask for the number of entries, and remove them.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::iter;
use std::ops::ControlFlow;

use crate::app::signals::{self, SIGNALLED, SecondCtrlC, TerminalSignals};
use crate::app::terminal::{self, Message, say};
use weigh::internal::ask::reclaimable::{Checked, Reclaimable, used_within};
use weigh::internal::ask::{self, Outcome, Request};
use weigh::internal::base::escape::escape;
use weigh::internal::base::interrupt::Interrupt;
use weigh::internal::remove::{self, Consent, Fate, Manner, Target, UserDirectories};
use weigh::internal::show::reclaimable::{KeptEntry, freed, question, unseen};
use weigh::internal::show::size::Format;
use weigh::internal::sys::problem::reason;
use weigh::internal::sys::{self, InUse};
use weigh::internal::tree::Tree;
use weigh::internal::tree::sum::Freed;

/// How to remove what is found.
#[derive(Clone, Debug)]
pub struct Cleaning {
    /// Where the log and the trash are.
    pub directories: UserDirectories,
    /// Whether entries are deleted, or moved into the trash.
    pub manner: Manner,
}

/// Nothing was removed.
const REFUSED: u8 = 1;

/// Removes what a second look found, after a question. Returns the exit status.
pub fn apply(
    request: &Request,
    outcome: &Outcome,
    cleaning: &Cleaning,
    format: &Format,
    second: Option<SecondCtrlC>,
) -> u8 {
    let (Some(found), Some(tree)) = (&outcome.reclaimable, &outcome.snapshot.report.answer) else {
        return 0;
    };
    let checked = found.found.iter().filter_map(|one| Some((one, one.checked.as_ref()?)));
    let checked: Vec<_> = checked.collect();
    let unplanned = unplanned(found);
    if checked.is_empty() && unplanned.is_empty() {
        return 0;
    }
    let entries = checked.iter().map(|(_, it)| it.entries()).sum();
    let is_planned = request.reclaimable.as_ref().is_some_and(|search| search.plan.is_some());
    if !is_planned && !terminal::is_for_questions() {
        return refused("there is no terminal on which weigh could ask for the number of entries");
    }
    let consent = match is_planned {
        true => {
            say(Message::Note, unseen(found));
            Some(Consent::planned(entries))
        }
        false => ask_for(entries, cleaning.manner, found),
    };
    let Some(consent) = consent else { return refused("that is not the number") };
    // While the question waited, git may have begun to track something; and a directory goes into the trash with everything
    // in it, also with new entries. A third look has to find the same.
    let third = match ask::run(request, |_| ()) {
        Ok(third) => third,
        Err(problem) => return refused(&problem.lines()),
    };
    if third.snapshot.report.is_interrupted {
        return SIGNALLED + 2;
    }
    let begun = Removing::begin(tree, cleaning, (consent, entries), &request.interrupt, second);
    let mut removing = match begun {
        Ok(removing) => removing,
        Err(why) => return refused(&why),
    };
    removing.kept = unplanned;
    let third = third.reclaimable.into_iter().flat_map(|it| it.found.into_iter().chain(it.others));
    let mut now: HashMap<_, _> = third.map(|one| (one.path.clone(), one)).collect();
    let mut items = Vec::new();
    for (one, checked) in checked {
        let now = now.remove(&one.path);
        let (checked_now, doubt) = now.map_or((None, None), |one| (one.checked, one.doubt));
        if doubt.is_none() && checked_now.is_some_and(|now| now.is_same(checked)) {
            items.push(checked);
        } else {
            let why = doubt.unwrap_or_else(|| "it has changed since the question".to_owned());
            removing.keep_whole(&checked.target, why);
        }
    }
    removing.remove(items);
    removing.end(found, format)
}

/// Entries that a plan names, and that do not go.
fn unplanned(found: &Reclaimable) -> Vec<KeptEntry> {
    let unplanned = found.unplanned.iter();
    let kept = unplanned
        .map(|(path, why)| KeptEntry { path: path.clone().into_bytes(), why: (*why).to_owned() });
    kept.collect()
}

/// Names entries of a plan that would not go. Returns the exit status.
pub fn note_unplanned(outcome: &Outcome) -> u8 {
    let unplanned: Vec<_> = outcome.reclaimable.iter().flat_map(unplanned).collect();
    let line = |it: &KeptEntry| format!("{} would be kept: {}", escape(&it.path), it.why);
    say(Message::Note, unplanned.iter().map(line));
    u8::from(!unplanned.is_empty())
}

/// Says why nothing is removed. Returns the exit status.
fn refused(why: &str) -> u8 {
    say(Message::Error, [format!("nothing was removed: {why}")]);
    REFUSED
}

/// Asks for the number of entries, on the terminal.
fn ask_for(entries: u64, manner: Manner, found: &Reclaimable) -> Option<Consent> {
    // What was typed before the question is no answer to it.
    sys::forget_typed().ok()?;
    // If this fails, nobody knows what to type.
    io::stderr().write_all(question(entries, manner, found).as_bytes()).ok()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed).ok()?;
    Consent::typed(entries, typed.trim())
}

/// A removal to which somebody consented.
struct Removing<'a> {
    tree: &'a Tree,
    cleaning: &'a Cleaning,
    consent: Consent,
    /// The number of entries to which that is.
    entries: u64,
    signals: TerminalSignals,
    in_use: InUse,
    kept: Vec<KeptEntry>,
    gone: Freed,
    /// Whether only a part of something is gone. That is not in `gone`.
    is_partly_gone: bool,
    has_failed: bool,
}

impl<'a> Removing<'a> {
    /// Checks that entries can be removed, or returns why not. From now on, a signal ends it between two system calls.
    fn begin(
        tree: &'a Tree,
        cleaning: &'a Cleaning,
        (consent, entries): (Consent, u64),
        interrupt: &Interrupt,
        second: Option<SecondCtrlC>,
    ) -> Result<Self, String> {
        let signals = TerminalSignals::default();
        let listening = signals::listen_for_lines(&signals, interrupt, second);
        let checked = listening.and_then(|()| cleaning.directories.check_log());
        checked.map_err(|error| error.to_string())?;
        // Somebody may have begun to use something while the question waited.
        let in_use = sys::in_use().map_err(|error| {
            format!("nobody can tell which files are in use ({})", reason(&error))
        })?;
        let (kept, gone, is_partly_gone, has_failed) = Default::default();
        Ok(Self {
            tree,
            cleaning,
            consent,
            entries,
            signals,
            in_use,
            kept,
            gone,
            is_partly_gone,
            has_failed,
        })
    }

    /// Something is not removed, and nothing says so before the last line, which names only a few.
    fn keep_whole(&mut self, target: &Target, why: String) {
        let path = escape(&target.path());
        say(Message::Note, [format!("{path} is kept: {why}")]);
        self.keep(target, why);
    }

    fn keep(&mut self, target: &Target, why: String) {
        self.kept.push(KeptEntry { path: target.path(), why });
    }

    /// Removes these, unless a process uses something in them.
    fn remove(&mut self, items: Vec<&Checked>) {
        let manner = self.cleaning.manner;
        let (mut places, mut targets) = (Vec::new(), Vec::new());
        for checked in items {
            let Checked { target, place, .. } = checked;
            let used = used_within(&self.in_use, self.tree, *place);
            let used = used.or_else(|| self.in_use.within(&target.path()).map(ToString::to_string));
            if let Some(why) = used {
                self.keep_whole(target, why);
                continue;
            }
            for Checked { target, place, .. } in iter::once(checked).chain(checked.info.as_deref())
            {
                places.push(*place);
                targets.push(match manner {
                    Manner::Delete => target.clone().with_content(self.tree, *place),
                    Manner::Trash => target.clone(),
                });
            }
        }
        let now = targets.iter().map(|target| target.totals.0).sum();
        let consent = self.consent.less(self.entries.saturating_sub(now));
        let signals = self.signals.clone();
        let removed =
            remove::remove(&targets, manner, consent, &self.cleaning.directories, &mut |_| {
                match signals.ended_by() {
                    Some(_) => ControlFlow::Break(()),
                    None => ControlFlow::Continue(()),
                }
            });
        let problems = removed.outcomes.iter().flat_map(|it| it.left.iter().chain(&it.problems));
        let problems = problems.chain(&removed.left).chain(&removed.unlogged);
        say(Message::Error, problems.map(|problem| problem.lines()));
        self.has_failed |= !removed.left.is_empty() || removed.unlogged.is_some();
        for ((outcome, place), target) in removed.outcomes.into_iter().zip(places).zip(targets) {
            if matches!(outcome.fate, Fate::Deleted | Fate::Trashed(_)) {
                self.gone.mark(self.tree, place);
                continue;
            }
            // Its entry is kept, too, which says why.
            if target.is_info && outcome.problems.is_empty() && outcome.left.is_empty() {
                continue;
            }
            self.is_partly_gone |= matches!(outcome.fate, Fate::Partly);
            let problem = outcome.left.into_iter().chain(outcome.problems).next();
            self.keep(&target, problem.map_or_else(|| "cancelled".to_owned(), |it| it.message));
        }
    }

    /// Says how it went. Returns the exit status.
    fn end(self, found: &Reclaimable, format: &Format) -> u8 {
        let gone = (self.gone.freed(found.frees.is_range()), self.is_partly_gone);
        let line = freed(gone, self.cleaning.manner, found, &self.kept, format);
        let printed = terminal::print(format!("{line}\n").as_bytes());
        match self.signals.ended_by() {
            Some(signal) => SIGNALLED + signal,
            None => u8::from(self.has_failed || !self.kept.is_empty() || printed.is_err()),
        }
    }
}
