//! What the state makes of scans: of the first one, and of those that are done again.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::browser::{Browser, Dialog, PendingWork, Question, ViewKind};
use super::event::{Command, Ending};
use super::listing::{SortKey, Sorting};
use super::marks::{Marks, NamedMarks, descend};
use super::review::Rescan;
use super::scan::Scan;
use super::update::AFTER_SCAN;
use weigh::internal::ask::{Input, Outcome, Request};
use weigh::internal::from::series::Remembering;
use weigh::internal::from::snapshot::Snapshot;
use weigh::internal::fs::git::{Git, Ignored};
use weigh::internal::scan::walk::{Rules, WalkOptions};
use weigh::internal::show::errors;
use weigh::internal::sys;
use weigh::internal::sys::problem::Problem;
use weigh::internal::tree::{Child, Place, Report, Step, Traversal};

/// A directory that is compared with what git ignores in it.
struct Ignoring<'a> {
    /// None if git does not ignore the directory itself.
    place: Option<Place>,
    listed: HashMap<&'a [u8], Child<'a>>,
    /// How many of these are ignored with all that is in them.
    counted: usize,
    /// How many entries were found before it.
    first: usize,
}

impl Browser {
    /// Asks for everything.
    pub(super) fn start(&self) -> Vec<Command> {
        let request = Box::new(self.request.clone());
        let scan = Command::Scan(request, Arc::clone(&self.walk.top));
        match &self.request.source {
            // The file system of the roots may not answer.
            Input::Roots(roots) => {
                let one_file_system = self.request.walk.one_file_system;
                let homes = self.options.homes.clone();
                vec![Command::Protect { roots: roots.clone(), homes, one_file_system }, scan]
            }
            _ => vec![scan],
        }
    }

    /// Takes the result of a scan.
    pub(super) fn scanned(&mut self, browsed: Outcome) -> Option<Command> {
        // The question whether to stop stays, so that its answer does nothing else.
        match self.end_work() {
            Some(PendingWork::Directory(directory)) => {
                return self.replace(directory, browsed.snapshot.report);
            }
            Some(PendingWork::Ignored) => self.mark_ignored(browsed.snapshot.report),
            _ => return self.finish(browsed),
        }
        None
    }

    /// Shows the finished walk or the loaded snapshot. Marks and the chosen entry are kept, if they still exist.
    fn finish(&mut self, mut browsed: Outcome) -> Option<Command> {
        let is_first = self.scan.browsed.is_none();
        let is_stopped = browsed.snapshot.report.is_interrupted;
        let named = self.scan.marks.named(&self.scan.tree);
        let listings = self.scan.listings.take();
        let listings = listings.filter(|_| browsed.snapshot.report.answer.is_none());
        if let Some(former) = self.scan.browsed.take().filter(|_| self.is_of_roots()) {
            (browsed.before, browsed.earlier) = (former.before, former.earlier);
            browsed.snapshot.known = browsed.snapshot.known.and(former.snapshot.known);
        }
        let is_nothing = is_first
            && self.is_of_roots()
            && !is_stopped
            && browsed.snapshot.report.answer.is_none();
        self.scan = Scan { listings, ..Scan::of(browsed) };
        if is_nothing {
            // The errors are printed after the screen.
            return self.end(Ending::Quit);
        }
        match self.scan.listings {
            Some(_) => self.scan.marks.elsewhere = named,
            None => self.mark_again(named),
        }
        if is_first && self.options.begins_with_clean && self.dialogs.open.is_none() {
            self.show_view(ViewKind::Clean);
        }
        self.relist();
        // Searches for the text that was typed during the scan.
        if let Some(Dialog::Prompt(Question::Search, text)) = &self.dialogs.open {
            let text = text.clone();
            self.search(&text);
        }
        self.accept_entered_search();
        None
    }

    /// Replaces a directory by the result of its new scan. If the totals would be wrong, everything is scanned again.
    fn replace(&mut self, directory: Rescan, new: Report) -> Option<Command> {
        let (rules, Rescan { way, takes_links }) = (self.rules(), directory);
        let Some(named) = self.scan.replace(&way, new, &rules, takes_links) else {
            // It may be gone, and then the directories above it have changed too.
            return self.scan_all();
        };
        self.mark_again(named);
        self.relist();
        self.next_rescan()
    }

    /// Restores the marks of `named` that still exist, and reports how many are lost.
    pub(super) fn mark_again(&mut self, named: NamedMarks) {
        self.forget_found();
        let (tree, protected) = (&self.scan.tree, &self.selection.protected);
        let (marks, lost) =
            Marks::find(tree, named, |child| protected.refusal(tree, child).is_none());
        self.scan.marks = marks;
        let lost = lost.len();
        if lost > 0 {
            let count =
                |lost: usize| format!("marks lost: {lost} (gone, changed, or not to be marked)");
            let said = self.dialogs.said.take().map_or_else(String::new, |said| said + "; ");
            // Several directories may have been scanned again.
            let before = said.strip_suffix(&(count(self.selection.lost) + "; "));
            self.selection.lost = lost + before.map_or(0, |_| self.selection.lost);
            self.say(before.unwrap_or(&said).to_owned() + &count(self.selection.lost));
        }
    }

    /// Shows changes since the newest kept scan, sorted by them. Goes back if they are shown so already.
    pub(super) fn changes(&mut self) -> Option<Command> {
        let Some(browsed) = &self.scan.browsed else { return self.refuse(AFTER_SCAN) };
        if browsed.before.is_some() {
            let is_back =
                !self.shown.columns.no_changes && self.shown.sorting.by == SortKey::Change;
            self.show_changes(!is_back);
            return None;
        }
        let Some(kept) = self.options.kept.clone() else {
            return self.refuse("weigh compares only scans of this machine with kept scans");
        };
        if self.pending.is_some() {
            return self.refuse(AFTER_SCAN);
        }
        self.pending = Some(PendingWork::Kept);
        // This scan may have been kept, too, and begun in the same second.
        let is_kept = matches!(browsed.remembered, Some(Remembering::Kept { .. }));
        let time = self.walk.began - i64::from(is_kept);
        let request = Box::new(self.request.clone());
        Some(Command::LoadKept(request, kept, time, self.scan.tree.view()))
    }

    /// Shows changes since the kept scan that is loaded, or says why there is none.
    pub(super) fn loaded_kept(&mut self, loaded: Result<(Box<Snapshot>, Option<String>), String>) {
        // Nobody waits for it any more.
        if self.pending != Some(PendingWork::Kept) {
            return;
        }
        self.end_work();
        match loaded {
            Ok((before, note)) => {
                let view = self.scan.tree.view();
                self.scan.compare_with(*before);
                if self.scan.tree.view() != view {
                    self.forget_found();
                }
                let doubts = self.scan.browsed.iter().flat_map(|browsed| &browsed.doubts);
                let doubt = errors::doubts(doubts, errors::KEPT).into_iter().next();
                self.dialogs.said = note.or(doubt).map(|it| it.replace('\n', ": "));
                self.show_changes(true);
            }
            Err(why) => self.say(why.replace('\n', ": ")),
        }
    }

    fn show_changes(&mut self, are_shown: bool) {
        let former = self.shown.sorting;
        self.shown.columns.no_changes = !are_shown;
        if are_shown {
            self.shown.former_sorting = former;
            self.shown.sorting = Sorting { by: SortKey::Change, is_reversed: false, ..former };
        } else {
            let Sorting { by, is_reversed, .. } = self.shown.former_sorting;
            self.shown.sorting = Sorting { by, is_reversed, ..former };
        }
        self.relist();
    }

    /// Scans the current directory again.
    pub(super) fn again(&mut self) -> Option<Command> {
        if self.is_walking() || self.pending.is_some() {
            return self.refuse(AFTER_SCAN);
        }
        match self.path_to_walk() {
            Some(path) if !self.shown.way.is_empty() && !self.needs_all() => self
                .scan_directory(Rescan { way: self.shown.way.clone(), takes_links: false }, path),
            _ => self.scan_all(),
        }
    }

    /// Whether a change anywhere may change something elsewhere: what files share, or what uses the file system.
    pub(super) fn needs_all(&self) -> bool {
        let Request { walk, file_systems, .. } = &self.request;
        walk.rules.frees || *file_systems
    }

    /// Scans everything again, in the measure that is shown.
    pub(super) fn scan_all(&mut self) -> Option<Command> {
        self.removals.rescans.clear();
        let is_stdin = match &self.request.source {
            Input::Files(paths, _) => paths.iter().any(|path| path == Path::new("-")),
            // ssh may ask for a password, where the screen is.
            Input::Remote(..) => {
                return self.give_up("another machine is asked only once: start weigh again");
            }
            _ => false,
        };
        if is_stdin {
            return self.give_up("standard input cannot be read again");
        }
        self.pending = Some(PendingWork::All);
        self.walk.began = sys::now();
        self.request.measure = Some(self.measure());
        self.request.walk.view = self.measure().into();
        let mut request = Box::new(self.request.clone());
        if self.is_of_roots() {
            // It is in memory, and what is remembered may have replaced its file.
            request.since = None;
        }
        Some(Command::Scan(request, Arc::default()))
    }

    /// Scans one directory again, which is at `path`.
    pub(super) fn scan_directory(&mut self, directory: Rescan, path: Vec<u8>) -> Option<Command> {
        let walk = &self.request.walk;
        let has_notes = descend(&self.scan.tree, &directory.way)
            .is_some_and(|it| it.all_directories().any(|it| !it.node().note.is_empty()));
        // The effect of filters and symlinks depends on where the walk began. So does what counts in an overlay, and
        // what is known of a container engine's directories.
        if !walk.filter.is_off() || walk.rules.follow || has_notes {
            return self.scan_all();
        }
        let request = Box::new(self.request_of(path, walk.clone()));
        self.pending = Some(PendingWork::Directory(directory));
        Some(Command::Scan(request, Arc::default()))
    }

    /// Finds what git ignores in the current directory.
    pub(super) fn find_ignored(&mut self) -> Option<Command> {
        let Some(path) = self.path_to_walk().filter(|_| self.pending.is_none()) else {
            return self.refuse("only in what has been scanned here");
        };
        let mut walk = self.request.walk.clone();
        let (ignored, spares_repositories) = (Ignored::Only, true);
        walk.filter.git = Git { ignored, spares_repositories, ..self.options.ignored.clone() };
        let request = Box::new(self.request_of(path, walk));
        self.pending = Some(PendingWork::Ignored);
        Some(Command::Scan(request, Arc::default()))
    }

    /// Marks what git ignores, by a walk in which only that counts. A directory is marked if all that is listed in it
    /// counts there: a repository in it does not.
    fn mark_ignored(&mut self, walked: Report) {
        // What git tracks counts where its rules or its index cannot be read.
        let known = if self.request.walk.filter.git.is_off() { self.unread().1 } else { &[] };
        // A file of rules that could not be examined then cannot be read now, which says more.
        let is_known = |Problem { path, operation, .. }: &Problem| {
            known.binary_search_by(|it| (&it.path, it.operation).cmp(&(path, *operation))).is_ok()
        };
        if let Some(problem) = walked.problems.iter().find(|it| !is_known(it)) {
            return self.say(format!("nothing marked: {problem}"));
        }
        if walked.is_interrupted {
            return self.say("nothing marked: it was stopped");
        }
        let (tree, ignored) = (&self.scan.tree, walked.answer.unwrap_or_default());
        let root = BTreeMap::from([(ignored.root().path(), ())]);
        let root = tree.at_paths(&root).first().map(|(place, ())| tree.at(*place));
        let (mut found, mut is_all) = (Vec::new(), true);
        let mut traversal: Traversal<_, Ignoring<'_>> = Traversal::new(ignored.root());
        while let Some(step) = traversal.next() {
            match step {
                Step::Node(node) => {
                    let around = traversal.innermost();
                    let listed =
                        around.as_ref().map_or(root, |it| it.listed.get(node.name()).copied());
                    let listed = listed.filter(|it| it.id().is_some() == node.id().is_some());
                    let Some(listed) = listed else {
                        // It was made since the scan, and may be a repository.
                        around.into_iter().for_each(|around| around.place = None);
                        is_all = false;
                        continue;
                    };
                    if node.id().is_none() {
                        found.extend(listed.place().map(Ok));
                        around.into_iter().for_each(|around| around.counted += 1);
                        continue;
                    }
                    let inside = Ignoring {
                        place: listed.place().filter(|_| node.node().own.is_some()),
                        listed: listed.unsorted().map(|child| (child.name(), child)).collect(),
                        counted: 0,
                        first: found.len(),
                    };
                    traversal.enter(inside, node.unsorted().collect());
                }
                Step::End(inside) => {
                    let Some(around) = traversal.innermost() else { break };
                    let Some(place) = inside.place else { continue };
                    let is_read = !self.is_partial(Some(place));
                    if is_read && inside.counted == inside.listed.len() {
                        found.truncate(inside.first);
                        found.push(Ok(place));
                        around.counted += 1;
                    } else {
                        is_all = false;
                    }
                }
            }
        }
        if !is_all {
            found.push(Err("a repository may be in it, it was not read, or it has changed"));
        }
        self.mark_places(found, " that git ignores");
    }

    /// The rules by which the tree is added up again. Only a walk can tell what files share.
    pub(super) fn rules(&self) -> Rules {
        Rules { frees: false, ..self.request.walk.rules }
    }

    /// A walk of the directory at `path`.
    pub(super) fn request_of(&self, path: Vec<u8>, walk: WalkOptions) -> Request {
        let source = Input::Roots(vec![sys::into_path(path).into()]);
        let request = self.request.clone();
        Request { source, walk, since: None, remember: None, file_systems: false, ..request }
    }

    /// The path of the current directory, if it can be scanned by itself.
    fn path_to_walk(&self) -> Option<Vec<u8>> {
        let here = self.scan.here();
        let is_walked = !self.is_walking() && self.is_of_roots();
        (is_walked && !here.is_total()).then(|| here.path())
    }
}
