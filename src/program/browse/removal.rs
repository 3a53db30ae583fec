//! Removes marked entries: the review, which looks at them again; the question; the progress and the result. The
//! targets are those that the review showed, even if the list changes meanwhile.

use std::mem;
use std::sync::Arc;

use super::browser::{Browser, Dialog, DialogText, PendingWork};
use super::event::{Command, Ending};
use super::follow::Gone;
use super::marks::{descend, names};
use super::review::{Review, ReviewedMark, RunningRemoval};
use super::scan::Scan;
use weigh::internal::escape::escape;
use weigh::internal::remove::{self, Fate, Manner, Removed, Target, Trashed, UserDirectories};
use weigh::internal::render::size::Format;
use weigh::internal::sys;

impl Browser {
    /// Ends the program. During a removal, that first puts back the entry that it is working on; a second time does not
    /// wait for that.
    pub(super) fn end(&mut self, ending: Ending) -> Option<Command> {
        if self.is_removing() && !self.removals.is_cancelled {
            return Some(self.quit_after_removal());
        }
        Some(Command::End(ending))
    }

    /// Cancels the removal, and ends the program after it.
    pub(super) fn quit_after_removal(&mut self) -> Command {
        self.removals.is_cancelled = true;
        self.removals.is_quitting = true;
        self.say("finishing the current entry; q again quits at once");
        Command::CancelRemoval
    }

    /// Why deleting is off, if it is.
    pub(super) fn no_removal(&self) -> Option<&'static str> {
        let is_walked = self.scan.browsed.as_ref().map(|browsed| browsed.is_walked);
        if self.options.read_only {
            Some("deleting is off: weigh was started with --read-only")
        } else if !is_walked.unwrap_or_else(|| self.is_of_roots()) {
            Some("deleting is off: this is a snapshot")
        } else if self.is_walking() {
            Some("deleting is off during the scan: Esc stops the scan")
        } else if !self.knows_freed() {
            Some("deleting is off: symlinks are followed (-L)")
        } else if self.options.directories.is_none() {
            Some("deleting is off: weigh does not know where to log it")
        } else if self.pending.is_some() {
            Some("deleting is off while weigh does something else")
        } else {
            None
        }
    }

    /// Opens the review. The marked entries must be looked at.
    pub(super) fn open_review(&mut self) -> Option<Command> {
        self.dialog = Some(Dialog::Text(DialogText::Review, 0));
        self.removals.review = None;
        if self.no_removal().is_some() || self.scan.marks.is_empty() {
            return None;
        }
        let (Scan { tree, marks, .. }, protected) = (&self.scan, &self.protected);
        let targets = remove::targets(
            tree,
            marks.places(),
            |root| Some(sys::to_path(protected.roots().get(root)?).into()),
            protected.paths(),
        );
        let (mut reviewed, mut to_look_at) = (Vec::new(), Vec::new());
        for (place, target) in marks.places().zip(targets) {
            let child = tree.at(place);
            let way = child.parent().map(|parent| names(&parent)).unwrap_or_default();
            let refusal = match (protected.refusal(tree, &child), target) {
                (Some(refusal), _) => Some(refusal.to_owned()),
                (None, Err(error)) => Some(error.to_string()),
                (None, Ok(target)) => {
                    to_look_at.push((reviewed.len(), target));
                    None
                }
            };
            reviewed.push(ReviewedMark { place, way, target: None, refusal });
        }
        self.removals.reviews += 1;
        let number = self.removals.reviews;
        self.removals.review = Some(Review { number, marks: reviewed, is_looked: false });
        Some(Command::Look(number, to_look_at))
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
        match review.targets().map(|target| target.totals.0).sum() {
            0 => Err("none of them can be removed".to_owned()),
            entries => Ok(entries),
        }
    }

    /// The same for the trash.
    fn reviewed_for_trash(&self) -> Result<u64, String> {
        let entries = self.reviewed()?;
        let mut targets = self.removals.review.iter().flat_map(Review::targets);
        // A directory would take along what is not listed.
        if !self.request.walk.filter.is_off() && targets.any(Target::is_directory) {
            return Err(
                "a filter is on, and a directory goes into the trash with everything in it: D deletes what is listed"
                    .to_owned(),
            );
        }
        Ok(entries)
    }

    /// Asks for the number of entries before it deletes them. The review is shown from the line `first` on.
    pub(super) fn ask_to_delete(&mut self, first: usize) {
        match self.reviewed() {
            Ok(entries) => self.dialog = Some(Dialog::Delete { entries, typed: String::new() }),
            Err(why) => self.stay_in_review(first, why),
        }
    }

    /// Moves the reviewed entries into the trash.
    pub(super) fn move_to_trash(&mut self, first: usize) -> Option<Command> {
        match self.reviewed_for_trash() {
            Ok(_) => self.begin_removal(Manner::Trash),
            Err(why) => {
                self.stay_in_review(first, why);
                None
            }
        }
    }

    fn stay_in_review(&mut self, first: usize, why: String) {
        self.say(why);
        self.dialog = Some(Dialog::Text(DialogText::Review, first));
    }

    /// Checks the typed number of entries: its digits and nothing else, or as the question shows it.
    pub(super) fn answer_delete(&mut self, entries: u64, typed: &str) -> Option<Command> {
        let is_it = typed == entries.to_string() || typed == Format::Count.write(entries);
        if is_it && self.reviewed() == Ok(entries) {
            return self.begin_removal(Manner::Delete);
        }
        self.removals.review = None;
        self.say("nothing is deleted: that is not the number of entries");
        None
    }

    /// Begins the removal of what was reviewed.
    fn begin_removal(&mut self, manner: Manner) -> Option<Command> {
        let (mut targets, mut names) = (Vec::new(), Vec::new());
        for ReviewedMark { place, way, target, .. } in self.removals.review.take()?.marks {
            if let Some(target) = target {
                names.push((way, target.name.clone()));
                targets.push(match manner {
                    Manner::Delete => target.with_content(&self.scan.tree, place),
                    Manner::Trash => target,
                });
            }
        }
        let entries = targets.iter().map(|target| target.totals.0).sum();
        let gone = Gone { are_unlinked: manner == Manner::Delete, ..Gone::default() };
        let (removed, name) = (0, Vec::new());
        self.removals.problems.clear();
        self.removals.is_cancelled = false;
        self.removals.running =
            Some(RunningRemoval { manner, names, entries, removed, name, gone });
        self.pending = Some(PendingWork::Removal);
        Some(Command::Remove(manner, targets))
    }

    /// Takes what has been removed out of the tree.
    pub(super) fn follow(&mut self) {
        let rules = self.rules();
        let Some(running) = &mut self.removals.running else { return };
        if running.gone.is_empty() {
            return;
        }
        let are_unlinked = running.gone.are_unlinked;
        let gone = mem::replace(&mut running.gone, Gone { are_unlinked, ..Gone::default() });
        let named = self.scan.follow(&gone, &rules);
        self.mark_again(named);
        self.relist();
    }

    /// Ends the removal. Directories that cannot be updated are scanned again, one after the other.
    pub(super) fn removed(&mut self, removed: Removed) -> Option<Command> {
        self.follow();
        self.scan.tree.set_fingerprints(&removed.relinked);
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
                        self.removals.rescan_later(inside, false);
                    }
                }
                Fate::Partly => {
                    kept += 1;
                    self.removals.rescan_later(inside, true);
                }
                Fate::Left(_) => {
                    kept += 1;
                    self.removals.rescan_later(way, true);
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
        if !self.removals.problems.is_empty() {
            self.dialog = Some(Dialog::Text(DialogText::Kept, 0));
        }
        self.say(summary(running.manner, (gone, entries, kept), removed.is_cancelled));
        self.next_rescan()
    }

    /// Starts an undo, if this run has moved anything into the trash.
    pub(super) fn undo(&mut self) -> Option<Command> {
        match (self.no_removal(), self.removals.trashed.last()) {
            (Some(why), _) => self.say(why),
            (None, None) => self.say("nothing was put in the trash"),
            (None, Some(trashed)) => {
                self.removals.is_cancelled = false;
                self.pending = Some(PendingWork::Removal);
                return Some(Command::Undo(Arc::clone(trashed)));
            }
        }
        None
    }

    /// Takes the result of the undo.
    pub(super) fn undone(&mut self, trashed: &Trashed, removed: Removed) -> Option<Command> {
        self.pending = None;
        self.scan.tree.set_fingerprints(&removed.relinked);
        let path = escape(&trashed.path());
        let outcome = removed.outcomes.into_iter().next()?;
        if let Fate::Restored = outcome.fate {
            self.removals.trashed.pop();
            self.rescan_around(&[trashed.path(), trashed.path_in_trash()]);
            self.say(format!("put back: {path}"));
        } else {
            let why = outcome.problems.first().map_or("cancelled", |problem| &problem.message);
            self.say(format!("not put back: {path}: {why}"));
            // The log may be in the tree, and is longer now.
            self.rescan_around(&[]);
        }
        self.next_rescan()
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
            if let Some(way) = self.scan.way_to(&path[..end], self.protected.roots()) {
                self.removals.rescan_later(way, false);
            }
        }
    }

    /// The next directory to scan again.
    pub(super) fn next_rescan(&mut self) -> Option<Command> {
        if self.request.walk.frees {
            // What is gone may have shared space with files anywhere.
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
    let gone = Format::Count.write(gone);
    let mut said = match manner {
        Manner::Delete => {
            let word = if entries == 1 { "entry" } else { "entries" };
            format!("{gone} deleted, {} {word}", Format::Count.write(entries))
        }
        Manner::Trash => format!(
            "{gone} in the trash: that frees nothing until it is emptied; u puts the last back"
        ),
    };
    if is_cancelled {
        said.push_str("; cancelled");
    }
    if kept > 0 {
        said.push_str(&format!("; {} kept", Format::Count.write(kept)));
    }
    said
}
