//! Removes marked entries: the review, which looks at them again; the question; the progress and the result. The
//! targets are those that the review showed, even if the list changes meanwhile.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::mem;
use std::sync::Arc;

use super::browser::{Browser, Dialog, DialogText, PendingWork, Question, ViewKind};
use super::event::{Command, Ending};
use super::follow::Gone;
use super::listing::last_names;
use super::marks::{self, Refusal, descend};
use super::review::{
    RemovalProgress, Review, ReviewedMark, RunningRemoval, RunningTarget, TrashedEntry,
};
use super::scan::Scan;
use weigh::internal::base::measure::Time;
use weigh::internal::base::path;
use weigh::internal::remove::{self, Consent, Fate, Manner, Removed, Target, Trashed};
use weigh::internal::show::size::{self, Format};
use weigh::internal::sys;
use weigh::internal::sys::problem::{Operation, Problem};
use weigh::internal::tree::Place;

pub(super) const NOTHING_MARKED: &str = "nothing is marked: Space marks";

pub(super) const NOTHING_IN_TRASH: &str =
    "this session put nothing in the trash: your file manager puts back earlier entries";

const STILL_THERE: &str = "cancelled: it is still in the trash";

/// What the review and its keys say if all marks are refused.
const NONE_LEFT: &str = "none of them can be removed";

/// Nobody reads more lines of one size in a review, so their order does not matter.
const MOST_READ: usize = 10_000;

impl Browser {
    /// Ends the program. During a removal, that first puts back the entry that it is working on; a second time does not
    /// wait for that.
    pub(super) fn end(&mut self, ending: Ending) -> Option<Command> {
        if self.is_removing() && !self.removals.is_cancelled {
            return Some(self.end_after_removal(ending));
        }
        Some(Command::End(ending))
    }

    /// Cancels the removal, and ends the program after it.
    pub(super) fn end_after_removal(&mut self, ending: Ending) -> Command {
        self.removals.is_cancelled = true;
        self.removals.ending = Some(ending);
        self.say("finishing the current entry; q again quits at once");
        Command::CancelRemoval
    }

    /// Why deleting is off, if it is.
    pub(super) fn no_removal(&self) -> Option<&'static str> {
        let reasons = [
            (self.options.read_only, "deleting is off: weigh was started with --read-only"),
            (!self.is_of_roots(), "deleting is off: this was not scanned here"),
            (self.is_walking(), "deleting is off during the scan: in the list, Esc stops it"),
            (self.request.walk.rules.follow, "deleting is off: symlinks are followed (-L)"),
            (
                self.options.directories.log().is_none(),
                "deleting is off: weigh does not know where to log it",
            ),
            (self.pending.is_some(), "deleting is off while weigh does something else"),
            (self.has_unchecked_marks(), "deleting is off while weigh applies its rules again"),
        ];
        reasons.into_iter().find(|(is_off, _)| *is_off).map(|(_, why)| why)
    }

    /// Why nothing of what is marked can be removed, if that is so.
    pub(super) fn no_removal_of_marks(&self) -> Option<&'static str> {
        let review = self.removals.review.as_ref();
        let is_none_left = review.is_some_and(|it| it.refused() == it.marks.len());
        self.no_removal().or(is_none_left.then_some(NONE_LEFT))
    }

    /// Opens the review: of the marked entries or, if none is marked, of the chosen one. They must be looked at.
    pub(super) fn open_review(&mut self) -> Option<Command> {
        if self.is_asking() {
            return self.refuse("once the list is complete");
        }
        let is_of_line = self.scan.marks.is_empty();
        if let Some(why) = self.no_removal().filter(|_| is_of_line) {
            return self.refuse(why);
        }
        if is_of_line && !self.mark_line("not to be removed") {
            self.dialogs.said.get_or_insert_with(|| NOTHING_MARKED.to_owned());
            return None;
        }
        self.dialogs.open = Some(Dialog::Text(DialogText::Review, 0));
        self.removals.review = None;
        if !self.has_all() || self.scan.marks.is_empty() {
            return None;
        }
        let (Scan { tree, marks, .. }, protected) = (&self.scan, &self.selection.protected);
        let mut places: Vec<_> = marks.places().collect();
        places.sort_by_cached_key(|place| Reverse(tree.at(*place).size()));
        let size = |place: &Place| tree.at(*place).size();
        for same in places.chunk_by_mut(|one, other| size(one) == size(other)) {
            if same.len() <= MOST_READ {
                same.sort_by_cached_key(|place| last_names(&tree.at(*place)));
            }
        }
        let targets = remove::targets(
            tree,
            places.iter().copied(),
            |root| Some(sys::to_path(protected.roots.get(root)?).into()),
            &protected.paths,
        );
        let (is_off, warnings) = (self.no_removal().is_some(), self.warnings());
        let (mut reviewed, mut to_look_at, mut paths) = (Vec::new(), Vec::new(), Vec::new());
        for (place, target) in places.into_iter().zip(targets) {
            let child = tree.at(place);
            let number = reviewed.len();
            let target = match (protected.refusal(tree, &child), target) {
                _ if is_off => Ok(None),
                (Some(refusal), _) => Err(refusal.to_owned()),
                (None, Err(error)) => Err(error.to_string()),
                (None, Ok(target)) => {
                    to_look_at.push((number, target));
                    paths.push((number, child.path()));
                    Ok(None)
                }
            };
            let warning = warning(&warnings, &child.path());
            reviewed.push(ReviewedMark { number, place, target, warning });
        }
        self.removals.reviews += 1;
        let number = self.removals.reviews;
        let is_looked = to_look_at.is_empty();
        self.removals.review = Some(Review { number, marks: reviewed, is_looked, is_of_line });
        let recheck = self.recheck(paths);
        (!is_looked).then_some(Command::Look(number, to_look_at, recheck))
    }

    /// Marks `place`.
    ///
    /// # Errors
    /// Why it must not be marked.
    pub(super) fn mark(&mut self, place: Place) -> Result<(), Refusal> {
        let Scan { tree, marks, .. } = &self.scan;
        let child = tree.at(place);
        let refusal = if marks.is_held(tree, place) {
            Some("the directory it lies in is marked")
        } else if self.scan.is_walked_now() {
            // What must not be marked loses its mark once the walk is over.
            self.scan.is_open(&child).then_some("it is still being read")
        } else {
            self.selection.protected.refusal(tree, &child)
        };
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        if !self.selection.by_rules.is_empty() {
            // From now on, it is yours.
            self.selection.by_rules.remove(&child.path());
        }
        self.scan.marks.mark(&self.scan.tree, place);
        Ok(())
    }

    /// Marks these places, and says how many of them, and why not all; `what` says more about them.
    pub(super) fn mark_places(&mut self, places: Vec<Result<Place, Refusal>>, what: &str) {
        let (mut marked, mut refused) = (0, None);
        for place in places {
            match place.and_then(|place| self.mark(place)) {
                Ok(()) => marked += 1,
                Err(refusal) => refused = Some(refusal),
            }
        }
        if marked > 0 && refused.is_none() && what.is_empty() {
            // The line above says how many are.
            return;
        }
        let many = Format::Count.write(marked);
        self.say(match refused {
            Some(why) if marked == 0 => format!("nothing marked: {why}"),
            Some(why) => format!("{many} marked{what}; not all: {why}"),
            None if marked == 0 => format!("nothing marked{what}"),
            None => format!("{many} marked{what}"),
        });
    }

    /// Marks the chosen line. If that must not be, says so, and why, and returns false.
    pub(super) fn mark_line(&mut self, refused: &str) -> bool {
        let Some(item) = self.item(self.shown.chosen) else { return false };
        let (places, name) = (self.places_of(&item), self.text(&item.name));
        let is_by_rules = item.branch.is_some();
        let marked = places.and_then(|mut places| {
            places.retain(|place| !self.scan.marks.is_marked(*place));
            let marked: Vec<_> = places.iter().map(|place| self.mark(*place)).collect();
            if is_by_rules {
                self.mark_by_rules(&places);
            }
            let refusal = marked.iter().find_map(|it| it.err());
            match refusal {
                // Some of a kind are better than none.
                Some(refusal) if marked.iter().any(Result::is_ok) => {
                    self.say(format!("not all marked: {name}: {refusal}"));
                    Ok(())
                }
                Some(refusal) => Err(refusal),
                None => Ok(()),
            }
        });
        if let Err(refusal) = marked {
            self.say(format!("{refused}: {name}: {refusal}"));
        }
        marked.is_ok()
    }

    /// Takes away the mark on a line of the review.
    pub(super) fn take_mark_away(&mut self, line: usize) {
        let Some(review) = self.removals.review.as_mut().filter(|it| line < it.marks.len()) else {
            return self.close_review();
        };
        let mark = review.marks.remove(line);
        self.scan.marks.unmark(&self.scan.tree, mark.place);
        let left = review.marks.len();
        if self.shown.view == ViewKind::Marked {
            self.relist();
        }
        match left {
            0 => {
                self.close_review();
                self.say("nothing is marked any more");
            }
            left => {
                let line = line.min(left - 1);
                self.dialogs.open = Some(Dialog::Text(DialogText::Review, line));
            }
        }
    }

    /// Ends the review. A line that was marked only for it has no mark then.
    pub(super) fn close_review(&mut self) {
        if self.removals.review.take().is_some_and(|review| review.is_of_line) {
            self.scan.marks.clear();
        }
    }

    /// Closes the review, because the tree has changed and the marks may be others.
    pub(super) fn end_review(&mut self) {
        let shown = self.dialogs.open.as_ref().and_then(Dialog::text);
        let is_open = shown.is_some_and(|(text, _)| text == DialogText::Review);
        self.close_review();
        if is_open {
            self.dialogs.open = None;
            self.say("the scan has changed: review the marks again");
        }
    }

    /// The number of entries that the review would remove in this `manner`, or why it cannot remove any.
    fn reviewed(&self, manner: Manner) -> Result<u64, &'static str> {
        if let Some(why) = self.no_removal() {
            return Err(why);
        }
        let review = self.removals.review.as_ref().ok_or(NOTHING_MARKED)?;
        if !review.is_looked {
            return Err("weigh is still looking at the marked entries");
        }
        // A directory would take along what is not listed.
        let is_trash_off = manner == Manner::Trash && !self.request.walk.filter.is_off();
        if is_trash_off && review.targets().any(Target::is_directory) {
            return Err(
                "a filter is on, and a directory goes into the trash with everything in it: D deletes what is listed",
            );
        }
        match review.targets().map(|target| target.totals.0).sum() {
            0 => Err(NONE_LEFT),
            entries => Ok(entries),
        }
    }

    /// Moves the reviewed entries into the trash, or asks for their number before it deletes them. If that cannot be,
    /// the review stays, with the line `first` chosen.
    pub(super) fn remove_reviewed(&mut self, manner: Manner, first: usize) -> Option<Command> {
        match self.reviewed(manner) {
            Ok(_) if manner == Manner::Trash => {
                return self.begin_removal(manner, Consent::to_trash());
            }
            Ok(entries) => self.ask_for_number(entries),
            Err(why) => self.stay_in_review(first, why),
        }
        None
    }

    fn ask_for_number(&mut self, entries: u64) {
        self.dialogs.open = Some(Dialog::Prompt(Question::Delete(entries), String::new()));
    }

    fn stay_in_review(&mut self, first: usize, why: &str) {
        self.say(why);
        self.dialogs.open = Some(Dialog::Text(DialogText::Review, first));
    }

    /// Checks the typed number of entries: its digits and nothing else, or as the question shows it.
    pub(super) fn answer_delete(&mut self, entries: u64, typed: &str) -> Option<Command> {
        match self.reviewed(Manner::Delete) {
            Ok(now) => {
                let consent = Consent::typed(entries, typed).filter(|_| now == entries);
                if let Some(consent) = consent {
                    return self.begin_removal(Manner::Delete, consent);
                }
                self.say("wrong number");
                self.ask_for_number(entries);
            }
            Err(why) => self.stay_in_review(0, why),
        }
        None
    }

    /// Begins the removal of what was reviewed.
    fn begin_removal(&mut self, manner: Manner, consent: Consent) -> Option<Command> {
        let (mut targets, mut running) = (Vec::new(), Vec::new());
        let review = self.removals.review.take()?;
        for ReviewedMark { place, target, .. } in review.marks {
            if let Ok(Some(target)) = target {
                let child = self.scan.tree.at(place);
                let way = child.parent().map(|parent| marks::names(&parent)).unwrap_or_default();
                let size = self.sized(child.size(), self.is_partial(Some(place)));
                let (name, is_directory) = (target.name.clone(), child.is_directory());
                let bytes = child.node().sums.all.disk;
                running.push(RunningTarget { way, name, is_directory, size, bytes });
                targets.push(match manner {
                    Manner::Delete => target.with_content(&self.scan.tree, place),
                    Manner::Trash => target,
                });
            }
        }
        if review.is_of_line {
            self.scan.marks.clear();
        }
        let entries = targets.iter().map(|target| target.totals.0).sum();
        let (progress, gone) = (RemovalProgress::default(), Gone::default());
        self.removals.problems.clear();
        self.removals.is_cancelled = false;
        self.removals.running =
            Some(RunningRemoval { manner, targets: running, entries, progress, gone });
        self.pending = Some(PendingWork::Removal);
        Some(Command::Remove(manner, consent, targets))
    }

    /// Takes what has been removed out of the tree.
    pub(super) fn follow(&mut self) {
        let Some(running) = &mut self.removals.running else { return };
        if running.gone.is_empty() {
            return;
        }
        let (gone, are_unlinked) = (mem::take(&mut running.gone), running.manner == Manner::Delete);
        self.end_review();
        let named = self.scan.follow(&gone, &self.rules(), are_unlinked);
        self.mark_again(named);
        self.relist();
    }

    /// Ends the removal. Directories that cannot be updated are scanned again, one after the other.
    pub(super) fn removed(&mut self, removed: Removed) -> Option<Command> {
        self.follow();
        self.scan.tree.set_fingerprints(&removed.relinked);
        let running = self.removals.running.take()?;
        self.end_work();
        if self.request.walk.rules.time == Some(Time::Changed) && !removed.relinked.is_empty() {
            // The other links have a new time, wherever they are.
            self.removals.rescan_later(Vec::new(), false);
        }
        let (mut gone, mut kept, mut entries) = (0_u64, 0_u64, 0_u64);
        let (mut left, mut problems) = (Vec::new(), Vec::new());
        self.removals.batches += 1;
        for (outcome, target) in removed.outcomes.into_iter().zip(running.targets) {
            let RunningTarget { way, name, is_directory, size, bytes } = target;
            entries += outcome.removed;
            let is_said = !outcome.problems.is_empty();
            // Not if the system refused to remove what is still there.
            let is_gone = |code| sys::is_vanished(&io::Error::from_raw_os_error(code));
            let may_be_another = outcome.problems.iter().any(|it| it.code.is_none_or(is_gone));
            kept += u64::from(matches!(outcome.fate, Fate::Kept | Fate::Partly));
            left.extend(outcome.left);
            problems.extend(outcome.problems);
            let mut inside = way.clone();
            inside.push(name);
            match outcome.fate {
                Fate::Deleted => gone += 1,
                Fate::Trashed(trashed) => {
                    gone += 1;
                    let (batch, trashed) = (self.removals.batches, Arc::from(trashed));
                    self.removals.trashed.push(TrashedEntry { batch, size, bytes, trashed });
                }
                // It may have new entries, or the time of change of some is new.
                Fate::Kept if is_directory && (is_said || outcome.is_put_back) => {
                    self.removals.rescan_later(inside, false);
                }
                Fate::Kept if may_be_another || outcome.is_put_back => {
                    self.removals.rescan_later(way, false);
                }
                Fate::Kept | Fate::Restored => {}
                Fate::Partly => self.removals.rescan_later(inside, true),
                Fate::Left(_) => self.removals.rescan_later(way, true),
            }
        }
        let in_trash = removed.trashes.iter().map(|files| path::join_all([&**files, b"x"]));
        let mut changed: Vec<_> = in_trash.chain([removed.log]).collect();
        changed.extend(removed.left.iter().map(|problem| problem.path.clone()));
        self.rescan_around(&changed);
        left.extend(removed.left);
        let done = summary(running.manner, (gone, entries, kept), removed.is_cancelled);
        self.conclude(left, removed.unlogged.into_iter().chain(problems), &done)
    }

    /// Ends a removal, with the problems of entries that it `left` behind, others, and a message that says what is `done`.
    fn conclude(
        &mut self,
        left: Vec<Problem>,
        problems: impl Iterator<Item = Problem>,
        done: &str,
    ) -> Option<Command> {
        let behind = self.behind(&left);
        self.removals.fail(left, problems);
        self.removals.has_news = !self.removals.problems.is_empty();
        self.say(behind + done);
        self.next_rescan()
    }

    /// How a message begins if something was `left` under a name that weigh made: no other news is as bad.
    fn behind(&self, left: &[Problem]) -> String {
        let [first, others @ ..] = left else { return String::new() };
        let more = match others.len() as u64 {
            0 => String::new(),
            more => format!(" and {} more", Format::Count.write(more)),
        };
        format!("left behind: {}{more}; ", self.text(&first.path))
    }

    /// How much this run has moved into the trash that is still there; none if nothing is.
    pub(super) fn in_trash(&self) -> Option<String> {
        let trashed = &self.removals.trashed;
        let bytes = trashed.iter().fold(0u64, |sum, entry| sum.saturating_add(entry.bytes));
        (!trashed.is_empty()).then(|| self.options.format.write(bytes).trim_start().to_owned())
    }

    /// Begins to put back what was moved into the trash last, all of it.
    pub(super) fn undo(&mut self) -> Option<Command> {
        let trashed = &self.removals.trashed;
        let last = trashed.last().map(|entry| entry.batch);
        let of_last = trashed.iter().filter(|entry| Some(entry.batch) == last);
        self.put_back(of_last.map(|entry| Arc::clone(&entry.trashed)).collect())
    }

    /// Begins to put back what is on a line of the list of the trash, which begins with the last.
    pub(super) fn undo_chosen(&mut self, line: usize) -> Option<Command> {
        let chosen = self.removals.trashed.iter().rev().nth(line);
        self.put_back(chosen.map(|entry| Arc::clone(&entry.trashed)).into_iter().collect())
    }

    fn put_back(&mut self, trashed: Vec<Arc<Trashed>>) -> Option<Command> {
        if let Some(why) = self.no_removal() {
            return self.refuse(why);
        }
        if trashed.is_empty() {
            return self.refuse(NOTHING_IN_TRASH);
        }
        self.removals.is_cancelled = false;
        self.removals.problems.clear();
        self.pending = Some(PendingWork::Removal);
        Some(Command::Undo(trashed))
    }

    /// Takes what came of putting entries back.
    pub(super) fn undone(
        &mut self,
        undone: Vec<(Arc<Trashed>, Removed, Vec<u8>)>,
    ) -> Option<Command> {
        self.end_work();
        let (mut back, mut kept, mut restored) = (Vec::new(), Vec::new(), HashSet::new());
        let mut relinked: HashMap<_, (u32, u32)> = HashMap::new();
        let (mut left, mut unlogged, mut problems) = (Vec::new(), None, Vec::new());
        for (trashed, removed, path) in undone {
            unlogged = unlogged.or(removed.unlogged);
            // Of one inode, several links may be put back.
            for (inode, (before, after)) in removed.relinked {
                relinked.entry(inode).or_insert((before, after)).1 = after;
            }
            let shown = self.text(&path);
            // What is not put back may have changed, or something else has its name.
            self.rescan_around(&[path.clone(), trashed.path_in_trash(), removed.log]);
            let outcome = removed.outcomes.into_iter().next().unwrap_or_default();
            if let Fate::Restored = outcome.fate {
                restored.insert(Arc::as_ptr(&trashed));
                back.push(shown);
            } else {
                let problem = outcome.problems.into_iter().next();
                let why = problem.map_or(STILL_THERE.to_owned(), |problem| problem.message);
                kept.push(format!("{shown}: {why}"));
                let operation = Operation::Restore;
                problems.push(Problem { path, operation, code: None, message: why, hint: None });
                left.extend(outcome.left);
            }
        }
        // Marks on other links are found again by these.
        self.scan.tree.set_fingerprints(&relinked);
        self.removals.trashed.retain(|entry| !restored.contains(&Arc::as_ptr(&entry.trashed)));
        // The message has room for one reason.
        self.removals.has_news |= kept.len() > 1 || unlogged.is_some() || !left.is_empty();
        let behind = self.behind(&left);
        self.removals.fail(left, unlogged.into_iter().chain(problems));
        let [many, others] = [&back, &kept].map(|all| Format::Count.write(all.len() as u64));
        let done = match (&back[..], &kept[..]) {
            ([path], []) => format!("put back: {path}"),
            (_, []) => format!("{many} put back"),
            ([], [first]) => format!("not put back: {first}"),
            (_, [first, ..]) => format!("{others} not put back, {many} put back: {first}"),
        };
        self.say(behind + &done);
        self.next_rescan()
    }

    /// Begins to look at what this run has moved into the trash, so that it can be deleted there.
    pub(super) fn look_in_trash(&mut self, line: usize) -> Option<Command> {
        self.dialogs.open = Some(Dialog::Text(DialogText::Trash, line));
        if let Some(why) = self.no_removal() {
            return self.refuse(why);
        }
        if self.removals.trashed.is_empty() {
            return self.refuse(NOTHING_IN_TRASH);
        }
        self.pending = Some(PendingWork::Trash);
        let trashed = self.removals.trashed.iter().map(|entry| Arc::clone(&entry.trashed));
        Some(Command::LookInTrash(trashed.collect(), self.options.homes.clone()))
    }

    /// Asks for the number of entries that would be deleted from the trash.
    pub(super) fn looked_in_trash(&mut self, looked: Vec<(Arc<Trashed>, Result<Target, String>)>) {
        self.pending = None;
        if !matches!(self.dialogs.open, Some(Dialog::Text(DialogText::Trash, _))) {
            return;
        }
        let mut why = None;
        self.removals.emptying.clear();
        for (trashed, target) in looked {
            match target {
                Ok(target) => self.removals.emptying.push((trashed, target)),
                Err(reason) => {
                    let name = self.text(&trashed.old_path);
                    why.get_or_insert(format!("it keeps {name}: {reason}"));
                }
            }
        }
        let all = self.removals.emptying.iter();
        let entries = all.map(|(_, target)| target.totals.0).sum();
        if let Some(why) = why {
            self.say(why);
        }
        if entries > 0 {
            self.dialogs.open = Some(Dialog::Prompt(Question::Empty(entries), String::new()));
        }
    }

    /// Checks the typed number of entries, and begins to delete them from the trash.
    pub(super) fn answer_empty(&mut self, entries: u64, typed: &str) -> Option<Command> {
        let list = Dialog::Text(DialogText::Trash, 0);
        if let Some(why) = self.no_removal() {
            self.dialogs.open = Some(list);
            return self.refuse(why);
        }
        let Some(consent) = Consent::typed(entries, typed) else {
            self.dialogs.open = Some(Dialog::Prompt(Question::Empty(entries), String::new()));
            return self.refuse("wrong number");
        };
        self.dialogs.open = Some(list);
        self.removals.is_cancelled = false;
        self.removals.problems.clear();
        self.pending = Some(PendingWork::Removal);
        self.removals.is_emptying = true;
        Some(Command::Empty(consent, mem::take(&mut self.removals.emptying)))
    }

    /// Takes the outcome of deleting these from the trash.
    pub(super) fn emptied(
        &mut self,
        trashed: &[Arc<Trashed>],
        removed: Removed,
    ) -> Option<Command> {
        self.end_work();
        self.removals.is_emptying = false;
        let (mut gone, mut entries, mut deleted) = (0_u64, 0, HashSet::new());
        let (mut left, mut problems) = (removed.left, Vec::new());
        let mut changed = vec![removed.log];
        for (outcome, one) in removed.outcomes.into_iter().zip(trashed) {
            entries += outcome.removed;
            changed.push(one.path_in_trash());
            if let Fate::Deleted = outcome.fate {
                gone += 1;
                deleted.insert(Arc::as_ptr(one));
            }
            left.extend(outcome.left);
            problems.extend(outcome.problems);
        }
        self.removals.trashed.retain(|entry| !deleted.contains(&Arc::as_ptr(&entry.trashed)));
        self.scan.tree.set_fingerprints(&removed.relinked);
        self.rescan_around(&changed);
        let kept = trashed.len() as u64 - gone;
        let done = summary(Manner::Delete, (gone, entries, kept), removed.is_cancelled);
        self.conclude(left, removed.unlogged.into_iter().chain(problems), &done)
    }

    /// Scans the directories around `paths` again, if they are in the tree.
    fn rescan_around(&mut self, paths: &[Vec<u8>]) {
        /// The directory of the trash with what was moved there. Info files are in one beside it.
        const FILES: &[u8] = b"/files/";
        let info = paths.iter().filter_map(|path| {
            let end = path.windows(FILES.len()).rposition(|part| part == FILES)?;
            Some(path[..end].iter().chain(b"/info/x").copied().collect())
        });
        let all: Vec<Vec<u8>> = paths.iter().cloned().chain(info).collect();
        for path in all {
            let Some(end) = path.iter().rposition(|byte| *byte == b'/') else { continue };
            if let Some(way) = self.scan.way_to(&path[..end], &self.selection.protected.roots) {
                self.removals.rescan_later(way, false);
            }
        }
    }

    /// The next directory to scan again.
    pub(super) fn next_rescan(&mut self) -> Option<Command> {
        if self.needs_all() {
            return self.scan_all();
        }
        while let Some(rescan) = self.removals.rescans.pop_front() {
            let Some(directory) = descend(&self.scan.tree, &rescan.way) else { continue };
            if directory.is_root() {
                return self.scan_all();
            }
            let path = directory.path();
            return self.scan_directory(rescan, path);
        }
        None
    }
}

/// The message after a removal: how many targets are `gone`, with how many `entries`, and how many are `kept`.
fn summary(manner: Manner, (gone, entries, kept): (u64, u64, u64), is_cancelled: bool) -> String {
    let many = Format::Count.write(gone);
    let mut said = Vec::new();
    if kept > 0 {
        said.push(format!("{} kept", Format::Count.write(kept)));
    }
    if is_cancelled {
        said.push("cancelled".to_owned());
    }
    said.push(match manner {
        Manner::Trash if gone == 0 => "nothing is moved into the trash".to_owned(),
        Manner::Delete => format!("{many} deleted, {}", size::entries(entries)),
        Manner::Trash => {
            format!("{many} in the trash: that frees nothing until it is emptied; u puts them back")
        }
    });
    said.join("; ")
}

/// The warning about the entry at `path`: its own, that of one around it, or one about an entry in it.
fn warning(warnings: &BTreeMap<Vec<u8>, String>, path: &[u8]) -> Option<String> {
    let path = [path, b"/"].concat();
    let mut ends = (0..path.len()).rev().filter(|end| path[*end] == b'/');
    let around = ends.find_map(|end| warnings.get(&path[..=end]));
    let inside = || warnings.range(path.clone()..).next().filter(|(it, _)| it.starts_with(&path));
    around.cloned().or_else(|| inside().map(|(_, warning)| format!("has {warning}")))
}
