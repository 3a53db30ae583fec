//! Removes marked entries: the review, which looks at them again; the question; the progress and the result. The
//! targets are those that the review showed, even if the list changes meanwhile.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::browser::{Browser, Dialog, PendingWork, Watched};
use super::follow::Gone;
use super::marks::{descend, names};
use super::update::Command;
use weigh::internal::escape::escape;
use weigh::internal::problem::Problem;
use weigh::internal::remove::{
    self, Fate, Manner, RemovalEvent, Removed, Target, Trashed, UserDirectories,
};
use weigh::internal::render::errors;
use weigh::internal::render::size::Format;
use weigh::internal::sys::{self, ExactStat};
use weigh::internal::total::Rules;
use weigh::internal::tree::Place;

/// The state of removing.
#[derive(Debug, Default)]
pub(super) struct Removals {
    pub(super) review: Option<Review>,
    /// The number of the last review. Results of earlier ones are ignored.
    reviews: u64,
    pub(super) running: Option<RunningRemoval>,
    /// What this run has moved into the trash, in this order.
    trashed: Vec<Arc<Trashed>>,
    /// Why the last removal kept entries.
    pub(super) problems: Vec<Problem>,
    /// Whether the program ends after the removal.
    is_quitting: bool,
    /// The directories to scan again.
    rescans: VecDeque<Rescan>,
    /// Whether the directory that is being scanned has lost links.
    pub(super) takes_links: bool,
}

/// A directory to scan again.
#[derive(Debug)]
struct Rescan {
    way: Vec<Vec<u8>>,
    /// Whether entries in it were deleted that are still in the tree.
    takes_links: bool,
}

/// The marked entries, which are looked at again.
#[derive(Debug)]
pub(super) struct Review {
    number: u64,
    pub(super) marks: Vec<ReviewedMark>,
    pub(super) is_looked: bool,
}

/// A marked entry.
#[derive(Debug)]
pub(super) struct ReviewedMark {
    pub(super) place: Place,
    /// The names of its directory.
    way: Vec<Vec<u8>>,
    target: Option<Target>,
    /// The reason why it must not be removed.
    pub(super) refusal: Option<String>,
}

/// A removal in progress.
#[derive(Debug)]
pub(super) struct RunningRemoval {
    pub(super) manner: Manner,
    /// The directory and the name of each target.
    names: Vec<(Vec<Vec<u8>>, Vec<u8>)>,
    /// The number of entries.
    pub(super) entries: u64,
    pub(super) removed: u64,
    /// The name of the last entry.
    pub(super) name: Vec<u8>,
    pub(super) is_ending: bool,
    gone: Gone,
}

/// The progress of a removal since the last report.
#[derive(Debug, Default)]
pub struct RemovalProgress {
    /// The number of removed entries.
    pub removed: u64,
    /// The name of the last entry.
    pub name: Vec<u8>,
    /// The numbers of targets that have been removed since.
    pub gone: Vec<usize>,
    /// The attributes of finished directories, each with the number of a target in it.
    pub directories: Vec<(usize, ExactStat)>,
}

impl RemovalProgress {
    /// Adds `event`.
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
    /// Whether a removal or an undo is in progress.
    pub fn is_removing(&self) -> bool {
        self.pending == Some(PendingWork::Removal)
    }

    /// The number of entries in the question, if it is open.
    #[cfg(test)]
    pub fn asked_entries(&self) -> Option<u64> {
        match &self.dialog {
            Some(Dialog::Delete { entries, .. }) => Some(*entries),
            _ => None,
        }
    }

    /// Whether a dialog is open.
    #[cfg(test)]
    pub fn has_dialog(&self) -> bool {
        self.dialog.is_some()
    }

    /// Shows that the removal is ending.
    pub fn end_removal(&mut self) {
        if let Some(running) = &mut self.removals.running {
            running.is_ending = true;
        }
    }

    /// The same, and ends the program after it.
    pub fn quit_after_removal(&mut self) {
        self.end_removal();
        self.removals.is_quitting = true;
        self.say("finishing the current entry; q again quits at once");
    }

    /// Whether the program ends after the removal.
    pub fn is_quitting(&self) -> bool {
        self.removals.is_quitting
    }

    /// Why deleting is off, if it is.
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
            _ if self.options.directories.is_none() => {
                Some("deleting is off: weigh does not know where to log it")
            }
            _ if self.pending.is_some() => Some("deleting is off while weigh does something else"),
            _ => None,
        }
    }

    /// Opens the review. The loop must look at the marked entries.
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
            Some(PathBuf::from(sys::to_path(real)))
        };
        let targets = remove::targets(tree, places.iter().copied(), root, protected.paths());
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

    /// The number of the review, and its targets with their numbers.
    pub fn take_looks(&mut self) -> (u64, Vec<(usize, Target)>) {
        let Some(review) = &mut self.removals.review else { return (0, Vec::new()) };
        let marks = review.marks.iter_mut().enumerate();
        let targets = marks.filter_map(|(number, mark)| Some((number, mark.target.take()?)));
        (review.number, targets.collect())
    }

    /// Takes the targets back, with the reasons why some must not be removed.
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

    /// The number of entries that the review would remove, or why it cannot remove any.
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

    /// Asks for the number of entries before it deletes them.
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

    /// Moves the reviewed entries into the trash.
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

    /// Checks the typed number of entries: its digits and nothing else, or as the question shows it.
    pub(super) fn answer_delete(&mut self, entries: u64, typed: &str) -> Option<Command> {
        let is_it = typed == entries.to_string() || typed == Format::Count.write(entries);
        if is_it && self.reviewed() == Ok(entries) {
            return Some(Command::Remove(Manner::Delete));
        }
        self.removals.review = None;
        self.say("nothing is deleted: that is not the number of entries");
        None
    }

    /// Begins the removal, and returns its targets with their scanned content.
    pub fn begin_removal(&mut self, manner: Manner) -> Vec<Target> {
        let Watched::Whole(scan) = &self.seen else { return Vec::new() };
        let Some(review) = self.removals.review.take() else { return Vec::new() };
        let (mut targets, mut names) = (Vec::new(), Vec::new());
        for ReviewedMark { place, way, target, .. } in review.marks {
            if let Some(target) = target {
                names.push((way, target.name.clone()));
                targets.push(match manner {
                    Manner::Delete => target.with_content(&scan.tree, place),
                    Manner::Trash => target,
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

    /// Takes a report of progress.
    pub fn removal_progress(&mut self, progress: RemovalProgress) {
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
                running.gone.own.push((way.clone(), stat.stat.figures(None)));
            }
        }
    }

    /// Updates the tree by the `rules` of the walk. Returns whether anything has changed.
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

    /// Ends the removal. Directories that cannot be updated are scanned again, one after the other.
    pub fn removed(&mut self, removed: Removed, rules: &Rules) -> Option<Command> {
        self.follow(rules);
        self.relinked(&removed);
        let running = self.removals.running.take()?;
        self.pending = None;
        let (mut gone, mut kept, mut entries) = (0_u64, 0_u64, 0_u64);
        let mut in_trash = Vec::new();
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
                    in_trash.push(trashed.path_in_trash());
                    self.removals.trashed.push(Arc::from(trashed));
                }
                Fate::Restored => {}
                Fate::Kept => {
                    kept += 1;
                    // It may have new entries.
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
        if running.manner == Manner::Trash && in_trash.is_empty() {
            // The trash may have been made even if nothing could be moved there.
            let directories = self.options.directories.as_ref();
            let data = directories.and_then(|directories| directories.data.as_ref());
            let trash = data.map(|data| data.join("Trash/files/x"));
            in_trash.extend(trash.map(|trash| trash.into_os_string().into_encoded_bytes()));
        }
        self.rescan_around(&in_trash);
        let count = |count| Format::Count.write(count);
        let mut said = match running.manner {
            Manner::Delete => {
                let word = if entries == 1 { "entry" } else { "entries" };
                format!("{} deleted, {} {word}", count(gone), count(entries))
            }
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

    /// Takes over the changes of inodes with several links.
    fn relinked(&mut self, removed: &Removed) {
        if let (Watched::Whole(scan), false) = (&mut self.seen, removed.relinked.is_empty()) {
            scan.tree.set_fingerprints(&removed.relinked);
        }
    }

    /// Starts an undo, if this run has moved anything into the trash.
    pub(super) fn ask_to_undo(&mut self) -> Option<Command> {
        match self.no_removal() {
            Some(why) => self.say(why),
            None if self.removals.trashed.is_empty() => self.say("nothing was put in the trash"),
            None => return Some(Command::Undo),
        }
        None
    }

    /// The entry to put back.
    pub fn begin_undo(&mut self) -> Option<Arc<Trashed>> {
        let trashed = self.removals.trashed.last().cloned()?;
        self.pending = Some(PendingWork::Removal);
        Some(trashed)
    }

    /// Takes the result of the undo.
    pub fn undone(&mut self, trashed: &Trashed, removed: Removed) -> Option<Command> {
        self.pending = None;
        self.relinked(&removed);
        let path = escape(&trashed.path());
        let outcome = removed.outcomes.into_iter().next();
        match outcome.map(|outcome| (outcome.fate, outcome.problems)) {
            Some((Fate::Restored, _)) => {
                self.removals.trashed.pop();
                self.rescan_around(&[trashed.path(), trashed.path_in_trash()]);
                self.say(format!("put back: {path}"));
                self.next_rescan()
            }
            Some((_, problems)) => {
                let why = problems.first().map_or("cancelled", |problem| &problem.message);
                self.say(format!("not put back: {path}: {why}"));
                // The log may be in the tree, and is longer now.
                self.rescan_around(&[]);
                self.next_rescan()
            }
            None => None,
        }
    }

    /// Scans the directories around `paths` and the log again, if they are in the tree.
    fn rescan_around(&mut self, paths: &[Vec<u8>]) {
        /// The directory of the trash with what was moved there. Info files are in one beside it.
        const FILES: &[u8] = b"/files/";
        let log = self.options.directories.as_ref().and_then(UserDirectories::log);
        let log = log.map(|log| log.into_os_string().into_encoded_bytes());
        let info = paths.iter().filter_map(|path| {
            let end = path.windows(FILES.len()).rposition(|part| part == FILES)?;
            Some(path[..end].iter().chain(b"/x").copied().collect())
        });
        let all: Vec<Vec<u8>> = paths.iter().cloned().chain(info).chain(log).collect();
        for path in all {
            let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
            let way =
                self.scan().and_then(|scan| scan.way_to(&path[..end], self.protected.roots()));
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

    /// The next directory to scan again.
    pub fn next_rescan(&mut self) -> Option<Command> {
        self.removals.takes_links = false;
        if self.options.frees {
            // What is gone may have shared space with files anywhere.
            return self.scan_all();
        }
        while let Some(Rescan { way, takes_links }) = self.removals.rescans.pop_front() {
            let Watched::Whole(scan) = &self.seen else { return None };
            let Some(directory) = descend(&scan.tree, &way) else { continue };
            if directory.is_root() {
                return self.scan_all();
            }
            let path = directory.path();
            self.removals.takes_links = takes_links;
            self.pending = Some(PendingWork::Directory(way));
            return Some(Command::Rescan(path));
        }
        None
    }

    fn scan_all(&mut self) -> Option<Command> {
        self.removals.rescans.clear();
        self.pending = Some(PendingWork::All);
        Some(Command::Again)
    }

    /// Closes the review, because the tree has changed and the marks may be others.
    pub(super) fn end_review(&mut self) {
        if self.removals.review.take().is_some() {
            self.dialog = None;
            self.say("the scan has changed: review the marks again");
        }
    }

    /// Why the last removal kept entries.
    pub fn kept(&self) -> &[Problem] {
        &self.removals.problems
    }

    /// The same as lines.
    pub(super) fn kept_lines(&self) -> Vec<String> {
        self.removals.problems.iter().map(errors::one).collect()
    }
}
