//! What is removed of what is marked: the review, which looks at it again; the question; and what came of it. The
//! targets are those that the review showed, whatever is listed, sorted or chosen meanwhile.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::browser::{Browser, Dialog, PendingWork, Watched};
use super::follow::Gone;
use super::marks::names;
use super::update::Command;
use crate::path;
use crate::problem::Problem;
use crate::remove::{self, Fate, Manner, RemovalEvent, Removed, Target, Trashed};
use crate::render::errors;
use crate::render::name::escape;
use crate::render::size::Format;
use crate::sys::ExactStat;
use crate::total::Rules;
use crate::tree::Place;

/// All about removing.
#[derive(Debug, Default)]
pub(super) struct Removals {
    pub(super) review: Option<Review>,
    /// How many reviews there have been: what belongs to an earlier one comes too late.
    reviews: u64,
    pub(super) running: Option<RunningRemoval>,
    /// What is in the trash, the last one last.
    trashed: Vec<Arc<Trashed>>,
    /// Why not all is gone that was to go, the last time.
    pub(super) problems: Vec<Problem>,
    /// Whether all is to end with what is running.
    is_quitting: bool,
    /// The ways to directories that are to be looked at anew.
    rescans: VecDeque<Rescan>,
    /// Whether what is being looked at anew has lost links.
    pub(super) takes_links: bool,
}

/// A directory that is to be looked at anew.
#[derive(Debug)]
struct Rescan {
    way: Vec<Vec<u8>>,
    /// Whether something in it has been deleted that no figure has followed.
    takes_links: bool,
}

/// What is marked, looked at again.
#[derive(Debug)]
pub(super) struct Review {
    number: u64,
    pub(super) marks: Vec<ReviewedMark>,
    pub(super) is_looked: bool,
}

/// Something marked.
#[derive(Debug)]
pub(super) struct ReviewedMark {
    pub(super) place: Place,
    /// The way to the directory that it is in.
    way: Vec<Vec<u8>>,
    target: Option<Target>,
    /// Why it is not to be removed.
    pub(super) refusal: Option<String>,
}

/// What is being removed.
#[derive(Debug)]
pub(super) struct RunningRemoval {
    pub(super) manner: Manner,
    /// What the targets are called in the tree.
    names: Vec<(Vec<Vec<u8>>, Vec<u8>)>,
    /// How many entries there are.
    pub(super) entries: u64,
    pub(super) removed: u64,
    /// The name of the last one.
    pub(super) name: Vec<u8>,
    pub(super) is_ending: bool,
    gone: Gone,
}

/// How far a removal has come since it was last told.
#[derive(Debug, Default)]
pub struct RemovalProgress {
    /// How many entries are gone.
    pub removed: u64,
    /// The name of the last one.
    pub name: Vec<u8>,
    /// The numbers of the targets that are gone since.
    pub gone: Vec<usize>,
    /// What directories are now in which targets were, by the number of one in each.
    pub directories: Vec<(usize, ExactStat)>,
}

impl RemovalProgress {
    /// Takes what `event` says.
    pub fn take(&mut self, event: RemovalEvent<'_>) {
        match event {
            RemovalEvent::Before { name, removed, .. } => {
                self.removed = removed;
                self.name.clear();
                self.name.extend_from_slice(name);
            }
            RemovalEvent::Done { target, outcome } => {
                if matches!(outcome.fate, Fate::Deleted | Fate::Trashed(_)) {
                    self.gone.push(target);
                }
            }
            RemovalEvent::Left { target, stat } => self.directories.push((target, *stat)),
        }
    }
}

impl Browser {
    /// Whether something is removed, or put back.
    pub fn is_removing(&self) -> bool {
        self.pending == Some(PendingWork::Removal)
    }

    /// How many entries are to be deleted, where that is asked.
    pub fn asked_entries(&self) -> Option<u64> {
        match &self.dialog {
            Some(Dialog::Delete { entries, .. }) => Some(*entries),
            _ => None,
        }
    }

    /// Whether something lies over the list.
    pub fn has_dialog(&self) -> bool {
        self.dialog.is_some()
    }

    /// It is to come to its end.
    pub fn end_removal(&mut self) {
        if let Some(running) = &mut self.removals.running {
            running.is_ending = true;
        }
    }

    /// The same, and then all is.
    pub fn quit_after_removal(&mut self) {
        self.end_removal();
        self.removals.is_quitting = true;
        self.say("finishing the current entry; q again quits at once");
    }

    /// Whether all is to end with the removal.
    pub fn is_quitting(&self) -> bool {
        self.removals.is_quitting
    }

    /// Why nothing is to be removed, if nothing is.
    pub(super) fn no_removal(&self) -> Option<&'static str> {
        match &self.seen {
            _ if self.options.read_only => {
                Some("deleting is off: weigh was started with --read-only")
            }
            Watched::Walk { is_walk: false, .. } => Some("deleting is off: this is a snapshot"),
            Watched::Walk { .. } => Some("deleting is off during the scan: Esc stops the scan"),
            Watched::Whole(scan) if !scan.browsed.is_walked => {
                Some("deleting is off: this is a snapshot")
            }
            _ if !self.options.knows_freed => Some("deleting is off: symlinks are followed (-L)"),
            _ if self.options.places.is_none() => {
                Some("deleting is off: weigh does not know where to log it")
            }
            _ if self.pending.is_some() => Some("deleting is off while weigh does something else"),
            _ => None,
        }
    }

    /// Opens the review; whoever has threads is to look at what it shows.
    pub(super) fn open_review(&mut self) -> Option<Command> {
        self.dialog = Some(Dialog::Review { first: 0 });
        self.removals.review = None;
        if self.no_removal().is_some() {
            return None;
        }
        let Watched::Whole(scan) = &self.seen else { return None };
        let places: Vec<_> = scan.marks.places().collect();
        if places.is_empty() {
            return None;
        }
        let (tree, protected) = (&scan.tree, &self.protected);
        let root = |name: &[u8]| {
            let real = protected.roots().get(name)?;
            Some(PathBuf::from(path::from_bytes(real)))
        };
        let home = self.options.home.as_deref();
        let targets = remove::targets(tree, places.iter().copied(), root, home);
        let marks = places.iter().zip(targets).map(|(place, target)| {
            let child = tree.at(*place);
            let refused = protected.refusal(tree, &child).map(str::to_owned);
            let way = child.parent().map(|parent| names(&parent)).unwrap_or_default();
            let (target, refusal) = match (target, refused) {
                (_, Some(refusal)) => (None, Some(refusal)),
                (Ok(target), None) => (Some(target), None),
                (Err(error), None) => (None, Some(error.to_string())),
            };
            ReviewedMark { place: *place, way, target, refusal }
        });
        let marks = marks.collect();
        self.removals.reviews += 1;
        let number = self.removals.reviews;
        self.removals.review = Some(Review { number, marks, is_looked: false });
        Some(Command::Look)
    }

    /// What is to be looked at for the review: the review's number, and the targets, each with its own.
    pub fn to_be_looked_at(&mut self) -> (u64, Vec<(usize, Target)>) {
        let Some(review) = &mut self.removals.review else { return (0, Vec::new()) };
        let marks = review.marks.iter_mut().enumerate();
        let targets = marks.filter_map(|(number, mark)| Some((number, mark.target.take()?)));
        (review.number, targets.collect())
    }

    /// What came of looking, and why what is not to be removed is not.
    pub fn looked(&mut self, number: u64, looked: Vec<(usize, Target, Option<String>)>) {
        let review = self.removals.review.as_mut().filter(|review| review.number == number);
        let Some(review) = review else { return };
        for (number, target, refusal) in looked {
            if let Some(mark) = review.marks.get_mut(number) {
                mark.target = Some(target).filter(|_| refusal.is_none());
                mark.refusal = refusal;
            }
        }
        review.is_looked = true;
    }

    /// How many entries the review would remove, if it has come to an end and there are any; or else why not.
    fn reviewed(&self) -> Result<u64, String> {
        if let Some(why) = self.no_removal() {
            return Err(why.to_owned());
        }
        let Some(review) = &self.removals.review else {
            return Err("nothing is marked: Space marks".to_owned());
        };
        if !review.is_looked {
            return Err("weigh is still looking at the marked entries".to_owned());
        }
        let targets = review.marks.iter().filter_map(|mark| mark.target.as_ref());
        match targets.map(|target| target.totals.0).sum() {
            0 => Err("none of them can be removed".to_owned()),
            entries => Ok(entries),
        }
    }

    /// Asks for the number of entries, before they are deleted.
    pub(super) fn ask_to_delete(&mut self, review: Dialog) {
        match self.reviewed() {
            Ok(entries) => {
                self.dialog = Some(Dialog::Delete { entries, typed: String::new() });
            }
            Err(why) => {
                self.say(why);
                self.dialog = Some(review);
            }
        }
    }

    /// Puts what was reviewed in the trash.
    pub(super) fn ask_to_trash(&mut self, review: Dialog) -> Option<Command> {
        let targets = self.removals.review.iter().flat_map(|review| &review.marks);
        let mut targets = targets.filter_map(|mark| mark.target.as_ref());
        let reviewed = match self.reviewed() {
            // A directory would take along what is not listed.
            Ok(_) if self.options.is_filtered && targets.any(Target::is_directory) => Err(
                "a filter is on, and a directory goes into the trash with everything in it: D deletes what is listed"
                    .to_owned(),
            ),
            reviewed => reviewed,
        };
        match reviewed {
            Ok(_) => Some(Command::Remove(Manner::Trash)),
            Err(why) => {
                self.say(why);
                self.dialog = Some(review);
                None
            }
        }
    }

    /// What was typed when it asked how many entries there are.
    pub(super) fn answer_delete(&mut self, entries: u64, typed: &str) -> Option<Command> {
        if typed.trim().parse() == Ok(entries) && self.reviewed() == Ok(entries) {
            return Some(Command::Remove(Manner::Delete));
        }
        self.removals.review = None;
        self.say("nothing is deleted: that is not the number of entries");
        None
    }

    /// The targets that were reviewed, with what was scanned in them; from now on they are being removed.
    pub fn begin_removal(&mut self, manner: Manner) -> Vec<Target> {
        let Watched::Whole(scan) = &self.seen else { return Vec::new() };
        let Some(review) = self.removals.review.take() else { return Vec::new() };
        let (mut targets, mut names) = (Vec::new(), Vec::new());
        for ReviewedMark { place, way, target, .. } in review.marks {
            if let Some(target) = target {
                names.push((way, target.name.clone()));
                targets.push(match manner {
                    Manner::Delete => target.with_content(&scan.tree, place),
                    Manner::Trash | Manner::Restore => target,
                });
            }
        }
        let entries = targets.iter().map(|target| target.totals.0).sum();
        let gone = Gone { are_unlinked: manner == Manner::Delete, ..Gone::default() };
        self.removals.problems.clear();
        self.removals.running = Some(RunningRemoval {
            manner,
            names,
            entries,
            removed: 0,
            name: Vec::new(),
            is_ending: false,
            gone,
        });
        self.pending = Some(PendingWork::Removal);
        targets
    }

    /// How far it has come.
    pub fn removal_progress(&mut self, progress: RemovalProgress) {
        let measure = self.measure();
        let Some(running) = &mut self.removals.running else { return };
        running.removed = progress.removed;
        running.name = progress.name;
        for number in progress.gone {
            if let Some((way, name)) = running.names.get(number) {
                running.gone.names.entry(way.clone()).or_default().insert(name.clone());
            }
        }
        for (number, stat) in progress.directories {
            if let Some((way, _)) = running.names.get(number) {
                running.gone.own.push((way.clone(), stat.stat.weight(measure)));
            }
        }
    }

    /// What is listed follows what is gone, by the `rules` of the walk. Returns whether anything has changed.
    pub fn follow(&mut self, rules: &Rules) -> bool {
        let Some(running) = &mut self.removals.running else { return false };
        if running.gone.is_empty() {
            return false;
        }
        let are_unlinked = running.gone.are_unlinked;
        let gone = std::mem::replace(&mut running.gone, Gone { are_unlinked, ..Gone::default() });
        let Watched::Whole(scan) = &mut self.seen else { return false };
        let named = scan.follow(&gone, rules);
        self.mark_again(&named);
        self.relist();
        true
    }

    /// It has come to its end. What was touched and cannot be followed is looked at anew, one after the other.
    pub fn removed(&mut self, removed: Removed, rules: &Rules) -> Option<Command> {
        self.follow(rules);
        let running = self.removals.running.take()?;
        self.pending = None;
        let (mut gone, mut kept, mut entries) = (0_u64, 0_u64, 0_u64);
        let mut places = Vec::new();
        for (outcome, (way, name)) in removed.outcomes.into_iter().zip(running.names) {
            entries += outcome.removed;
            let is_said = !outcome.problems.is_empty();
            self.removals.problems.extend(outcome.problems);
            let mut inside = way.clone();
            inside.push(name);
            match outcome.fate {
                Fate::Deleted => gone += 1,
                Fate::Trashed(trashed) => {
                    gone += 1;
                    places.push(trashed.place());
                    self.removals.trashed.push(Arc::from(trashed));
                }
                Fate::Restored => {}
                Fate::Kept => {
                    kept += 1;
                    // Something that is new may be in it.
                    if is_said {
                        self.rescan_later(inside, false);
                    }
                }
                Fate::Partly => {
                    kept += 1;
                    self.rescan_later(inside, true);
                }
                Fate::Left(_) => {
                    kept += 1;
                    self.rescan_later(way, true);
                }
            }
        }
        self.removals.problems.extend(removed.left);
        self.removals.problems.extend(removed.unlogged);
        if running.manner == Manner::Trash && places.is_empty() {
            // It may have been made for what then could not be moved there.
            let data = self.options.places.as_ref().and_then(|places| places.data.as_ref());
            let trash = data.map(|data| data.join("Trash/files/x"));
            places.extend(trash.map(|trash| trash.into_os_string().into_encoded_bytes()));
        }
        self.rescan_places(&places);
        let count = |count| Format::Count.write(count);
        let mut said = match running.manner {
            Manner::Delete => format!("{} deleted, {} entries", count(gone), count(entries)),
            _ => format!(
                "{} in the trash: that frees nothing until it is emptied; u puts the last back",
                count(gone)
            ),
        };
        if removed.is_cancelled {
            said.push_str("; cancelled");
        }
        if kept > 0 {
            said.push_str(&format!("; {} kept", count(kept)));
        }
        if !self.removals.problems.is_empty() {
            self.dialog = Some(Dialog::Kept { first: 0 });
        }
        self.say(said);
        self.next_rescan()
    }

    /// What is to be put back from the trash, if anything is there.
    pub(super) fn ask_to_undo(&mut self) -> Option<Command> {
        match self.no_removal() {
            Some(why) => self.say(why),
            None if self.removals.trashed.is_empty() => self.say("nothing was put in the trash"),
            None => return Some(Command::Undo),
        }
        None
    }

    /// What is put back now.
    pub fn begin_undo(&mut self) -> Option<Arc<Trashed>> {
        let trashed = self.removals.trashed.last().cloned()?;
        self.pending = Some(PendingWork::Removal);
        Some(trashed)
    }

    /// What came of it.
    pub fn undone(&mut self, trashed: &Trashed, removed: Removed) -> Option<Command> {
        self.pending = None;
        let path = escape(&trashed.path());
        let outcome = removed.outcomes.into_iter().next();
        match outcome.map(|outcome| (outcome.fate, outcome.problems)) {
            Some((Fate::Restored, _)) => {
                self.removals.trashed.pop();
                self.rescan_places(&[trashed.path(), trashed.place()]);
                self.say(format!("put back: {path}"));
                self.next_rescan()
            }
            Some((_, problems)) => {
                let why = problems.first().map_or("cancelled", |problem| &problem.message);
                self.say(format!("not put back: {path}: {why}"));
                // The log may have grown.
                self.rescan_places(&[]);
                self.next_rescan()
            }
            None => None,
        }
    }

    /// The directories that these are in, and the log, if they were scanned, are to be looked at anew.
    fn rescan_places(&mut self, places: &[Vec<u8>]) {
        let log = self.options.places.as_ref().and_then(remove::Places::log);
        let log = log.map(|log| log.into_os_string().into_encoded_bytes());
        let info = places.iter().filter_map(|place| {
            // Beside the files in the trash are their notes.
            let end = place.windows(7).rposition(|part| part == b"/files/")?;
            Some(place[..end].iter().chain(b"/x").copied().collect())
        });
        let all: Vec<Vec<u8>> = places.iter().cloned().chain(info).chain(log).collect();
        for place in all {
            let end = place.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
            let way =
                self.scan().and_then(|scan| scan.way_to(&place[..end], self.protected.roots()));
            way.into_iter().for_each(|way| self.rescan_later(way, false));
        }
    }

    fn rescan_later(&mut self, way: Vec<Vec<u8>>, mut takes_links: bool) {
        let rescans = &mut self.removals.rescans;
        let around = rescans.iter_mut().find(|known| way.starts_with(&known.way));
        if let Some(around) = around {
            around.takes_links |= takes_links;
            return;
        }
        rescans.retain(|known| {
            let is_in_it = known.way.starts_with(&way);
            takes_links |= is_in_it && known.takes_links;
            !is_in_it
        });
        rescans.push_back(Rescan { way, takes_links });
    }

    /// The next directory that is to be looked at anew.
    pub fn next_rescan(&mut self) -> Option<Command> {
        self.removals.takes_links = false;
        while let Some(Rescan { way, takes_links }) = self.removals.rescans.pop_front() {
            let Watched::Whole(scan) = &self.seen else { return None };
            let Some(directory) = super::marks::descend(&scan.tree, &way) else { continue };
            let is_root =
                directory.parent().is_none() || scan.tree.is_above_roots() && way.len() == 1;
            if is_root {
                self.removals.rescans.clear();
                self.pending = Some(PendingWork::All);
                return Some(Command::Again { is_other_measure: false });
            }
            let path = directory.path();
            self.removals.takes_links = takes_links;
            self.pending = Some(PendingWork::Directory(way));
            return Some(Command::Rescan(path));
        }
        None
    }

    /// The tree has become another: what was reviewed may not be what is marked any more.
    pub(super) fn end_review(&mut self) {
        if self.removals.review.take().is_some() {
            self.dialog = None;
            self.say("the scan has changed: review the marks again");
        }
    }

    /// Why not all is gone that was to be removed, the last time.
    pub fn kept(&self) -> &[Problem] {
        &self.removals.problems
    }

    /// The same, a line each.
    pub(super) fn kept_lines(&self) -> Vec<String> {
        let line = |problem: &Problem| {
            let line = errors::one(problem);
            line.trim_end().trim_start_matches("weigh: ").to_owned()
        };
        self.removals.problems.iter().map(line).collect()
    }
}
