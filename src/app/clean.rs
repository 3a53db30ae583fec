//! `weigh clean --apply` and `--empty-trash`: show what would go, ask for the number of entries, and remove them.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::signals::{self, SIGNALLED, SecondCtrlC, TerminalSignals};
use crate::app::terminal::{self, Message, say};
use weigh::internal::ask::reclaimable::{EVIDENCE, Reclaimable, used_within};
use weigh::internal::ask::{self, Input, Keep, Outcome, Request};
use weigh::internal::base::interrupt::Interrupt;
use weigh::internal::remove::{
    self, Consent, Fate, Manner, ProtectedPaths, Target, UserDirectories, trashes_near,
};
use weigh::internal::show::reclaimable::{KeptEntry, freed, question, trash};
use weigh::internal::show::size::Format;
use weigh::internal::sys::{self, InUse};
use weigh::internal::tree::sum::Freed;
use weigh::internal::tree::{Child, Place, Tree};

/// How to remove what is found.
#[derive(Clone, Debug)]
pub struct Cleaning {
    /// Where the log and the trash are.
    pub directories: UserDirectories,
    /// Whether entries are deleted, or moved into the trash.
    pub manner: Manner,
    /// Whether it is about the trash, and not about what rules find.
    pub is_of_trash: bool,
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
    let unplanned = found.unplanned.iter().map(|path| KeptEntry {
        path: path.clone().into_bytes(),
        why: "it is not as the plan says".to_owned(),
    });
    let unplanned: Vec<_> = unplanned.collect();
    if checked.is_empty() && unplanned.is_empty() {
        return 0;
    }
    let entries = checked.iter().map(|(_, it)| it.target.totals.0).sum();
    let is_planned = request.reclaimable.as_ref().is_some_and(|search| search.plan.is_some());
    let consent = match is_planned {
        true => Some(Consent::planned(entries)),
        false => ask_for(entries, cleaning.manner, found),
    };
    let Some(mut removing) = Removing::begin(
        tree,
        cleaning,
        consent.map(|it| (it, entries)),
        &request.interrupt,
        second,
    ) else {
        return REFUSED;
    };
    removing.kept = unplanned;
    // A directory goes into the trash with everything in it, and so with what is new there: a third look has to find the
    // same.
    let third = match cleaning.manner {
        Manner::Delete => None,
        Manner::Trash => ask::run(request, |_| ()).ok().and_then(|third| third.reclaimable),
    };
    let is_same = |path: &[u8], evidence: &str| {
        let again = third.iter().flat_map(|third| &third.found).find(|one| one.path == *path);
        let again = again.and_then(|one| one.checked.as_ref());
        cleaning.manner == Manner::Delete || again.is_some_and(|it| it.evidence == evidence)
    };
    let mut items = Vec::new();
    for (one, checked) in checked {
        let target = checked.target.clone();
        if is_same(&one.path, &checked.evidence) {
            items.push((checked.place, target));
        } else {
            removing.keep(&target, "it has changed since the question".to_owned());
        }
    }
    removing.remove(items);
    removing.end(found, format)
}

/// Asks for the number of entries, on the terminal.
fn ask_for(entries: u64, manner: Manner, found: &Reclaimable) -> Option<Consent> {
    // If this fails, nobody knows what to type.
    io::stderr().write_all(question(entries, manner, found).as_bytes()).ok()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed).ok()?;
    Consent::typed(entries, typed.trim())
}

/// Deletes what is in the user's trash on the file systems of the PATHs, after a question. Returns the exit status.
pub fn empty_trash(
    request: &Request,
    cleaning: &Cleaning,
    format: &Format,
    second: Option<SecondCtrlC>,
) -> u8 {
    let Input::Roots(roots) = &request.source else { return 0 };
    let paths: Vec<_> = roots.iter().map(PathBuf::from).collect();
    let trashes = trashes_near(&paths, &cleaning.directories);
    let homes = request.reclaimable.as_ref().map(|search| search.homes.clone()).unwrap_or_default();
    let source = Input::Roots(trashes.iter().map(Into::into).collect());
    let keep = Keep::Everything(EVIDENCE);
    let request = Request { source, keep, reclaimable: None, ..request.clone() };
    let looked = match trashes.is_empty() {
        true => Ok(Outcome::default()),
        false => ask::run(&request, |_| ()),
    };
    let outcome = match looked {
        Ok(outcome) => outcome,
        Err(problem) => {
            say(Message::Error, [problem.lines()]);
            return REFUSED;
        }
    };
    let report = &outcome.snapshot.report;
    if report.is_interrupted {
        return SIGNALLED + 2;
    }
    say(Message::Error, report.problems.iter().map(ToString::to_string));
    let nothing = Tree::default();
    let tree = report.answer.as_ref().unwrap_or(&nothing);
    let places_in = |name: &[u8]| -> Vec<Place> {
        let directories = tree.roots().flat_map(Child::directories);
        let directories = directories.filter(|it| it.name() == name);
        directories.flat_map(Child::unsorted).filter_map(|it| it.place()).collect()
    };
    let files = places_in(b"files");
    let mut all = Freed::default();
    files.iter().for_each(|place| all.mark(tree, *place));
    let home = homes.first().cloned();
    let found = Reclaimable { frees: all.freed(false), home, ..Reclaimable::default() };
    let listed = files.iter().map(|place| tree.at(*place));
    let listed = listed.map(|it| (it.path(), it.size())).collect();
    let printed = terminal::print(trash(listed, &found, format).as_bytes());
    if files.is_empty() || printed.is_err() {
        return u8::from(printed.is_err());
    }
    let (real, protected) = ProtectedPaths::around(tree.roots().map(|it| it.name()), &homes);
    let protected = Arc::new(protected);
    let mut kept = Vec::new();
    let mut targets_at = |places: Vec<Place>| -> Vec<(Place, Target)> {
        let root = |name: &[u8]| Some(sys::to_path(real.get(name)?).into_owned());
        let targets = remove::targets(tree, places.iter().copied(), root, &protected);
        let looked = places.into_iter().zip(targets).filter_map(|(place, target)| {
            let looked = target.and_then(|mut target| remove::look(&mut target).map(|()| target));
            let path = tree.at(place).path();
            looked
                .map_err(|why| kept.push(KeptEntry { path, why: why.to_string() }))
                .ok()
                .map(|it| (place, it))
        });
        looked.collect()
    };
    let (files, mut infos) = (targets_at(files), targets_at(places_in(b"info")));
    // An info file goes with the entry that it is about.
    let about = |target: &Target, names: &HashSet<(Vec<Vec<u8>>, Vec<u8>)>| {
        let name = target.name.strip_suffix(b".trashinfo").map(<[u8]>::to_vec);
        let top = target.way.split_last().map_or(Vec::new(), |(_, top)| top.to_vec());
        name.is_some_and(|name| names.contains(&(top, name)))
    };
    let key = |target: &Target| {
        let top = target.way.split_last().map_or(Vec::new(), |(_, top)| top.to_vec());
        (top, target.name.clone())
    };
    let names: HashSet<_> = files.iter().map(|(_, target)| key(target)).collect();
    infos.retain(|(_, target)| about(target, &names));
    let entries = files.iter().chain(&infos).map(|(_, target)| target.totals.0).sum();
    let consent = ask_for(entries, Manner::Delete, &found).map(|it| (it, entries));
    let begun = Removing::begin(tree, cleaning, consent, &request.interrupt, second);
    let Some(mut removing) = begun else { return REFUSED };
    removing.kept = kept;
    let names = removing.remove(files).iter().map(key).collect();
    infos.retain(|(_, target)| about(target, &names));
    removing.remove(infos);
    removing.end(&found, format)
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
    has_failed: bool,
}

impl<'a> Removing<'a> {
    /// Says why nothing is removed, if that is so. From now on, a signal ends it between two system calls.
    fn begin(
        tree: &'a Tree,
        cleaning: &'a Cleaning,
        consent: Option<(Consent, u64)>,
        interrupt: &Interrupt,
        second: Option<SecondCtrlC>,
    ) -> Option<Self> {
        let refused = |why: String| say(Message::Error, [format!("nothing was removed: {why}")]);
        let Some((consent, entries)) = consent else {
            refused("that is not the number".to_owned());
            return None;
        };
        let signals = TerminalSignals::default();
        let listening = signals::listen_for_lines(&signals, interrupt, second);
        if let Err(error) = listening.and_then(|()| cleaning.directories.check_log()) {
            refused(error.to_string());
            return None;
        }
        // Somebody may have begun to use something while the question waited.
        let in_use = sys::in_use().unwrap_or_default();
        let (kept, gone, has_failed) = Default::default();
        Some(Self { tree, cleaning, consent, entries, signals, in_use, kept, gone, has_failed })
    }

    fn keep(&mut self, target: &Target, why: String) {
        self.kept.push(KeptEntry { path: target.path(), why });
    }

    /// Removes these, each at its place in the tree, unless a process uses something in it. Returns those that are gone.
    fn remove(&mut self, items: Vec<(Place, Target)>) -> Vec<Target> {
        let manner = self.cleaning.manner;
        let (mut places, mut targets) = (Vec::new(), Vec::new());
        for (place, target) in items {
            let used = used_within(&self.in_use, self.tree, place);
            let used = used.or_else(|| self.in_use.within(&target.path()).map(ToString::to_string));
            match (used, manner) {
                (Some(why), _) => self.keep(&target, why),
                (None, Manner::Delete) => {
                    places.push(place);
                    targets.push(target.with_content(self.tree, place));
                }
                (None, Manner::Trash) => {
                    places.push(place);
                    targets.push(target);
                }
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
        let mut gone = Vec::new();
        for ((outcome, place), target) in removed.outcomes.into_iter().zip(places).zip(targets) {
            if matches!(outcome.fate, Fate::Deleted | Fate::Trashed(_)) {
                self.gone.mark(self.tree, place);
                gone.push(target);
                continue;
            }
            let problem = outcome.left.into_iter().chain(outcome.problems).next();
            self.keep(&target, problem.map_or_else(|| "cancelled".to_owned(), |it| it.message));
        }
        gone
    }

    /// Says how it went. Returns the exit status.
    fn end(self, found: &Reclaimable, format: &Format) -> u8 {
        let is_range = found.frees.least < found.frees.most;
        let gone = self.gone.freed(is_range);
        let line = freed(gone, self.cleaning.manner, found, &self.kept, format);
        let printed = terminal::print(format!("{line}\n").as_bytes());
        match self.signals.ended_by() {
            Some(signal) => SIGNALLED + signal,
            None => u8::from(self.has_failed || !self.kept.is_empty() || printed.is_err()),
        }
    }
}
