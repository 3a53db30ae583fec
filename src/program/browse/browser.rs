//! The browser's state, which keys change and the view draws. It uses neither the terminal nor the file system.

use std::path::PathBuf;
use std::sync::Arc;
use std::{iter, mem};

use super::freed::Freed;
use super::item::Item;
use super::listing::{Page, SortedDirectory};
use super::marks::{Marks, NamedMarks, descend};
use super::pattern::NamePattern;
use super::protected::Protected;
use super::removal::Removals;
use super::sorting::Sorting;
use weigh::internal::git::Git;
use weigh::internal::measure::{Measure, View};
use weigh::internal::path;
use weigh::internal::problem::Problem;
use weigh::internal::remove::UserDirectories;
use weigh::internal::render::colors::Colors;
use weigh::internal::render::partial::Partial;
use weigh::internal::render::size::Formats;
use weigh::internal::render::time::TimeFormat;
use weigh::internal::report::Browsed;
use weigh::internal::tally::LiveDirectory;
use weigh::internal::total::Rules;
use weigh::internal::tree::{Child, DirectoryId, Freeable, Place, Totals, Tree};
use weigh::internal::walk::Progress;

/// How to browse.
#[derive(Clone, Debug, Default)]
pub struct BrowseOptions {
    /// How sizes are written.
    pub formats: Formats,
    /// What sizes measure, until the scan or the snapshot says so.
    pub measure: Measure,
    /// How times are written.
    pub times: Option<TimeFormat>,
    /// The initial order of entries.
    pub sorting: Sorting,
    /// Whether the space that one inode frees is known: not if symlinks are followed, because they lead to it too.
    pub knows_freed: bool,
    /// Whether the walk asks what files share, which only a walk of everything can tell.
    pub frees: bool,
    /// Whether paths on standard output end in NUL instead of a newline.
    pub print0: bool,
    /// Whether those paths are written unchanged. On a terminal they are escaped.
    pub is_raw: bool,
    /// Whether nothing may be removed (`--read-only`).
    pub read_only: bool,
    /// Whether a filter leaves something out: the trash takes no directory then.
    pub is_filtered: bool,
    /// Where the trash and the log are; if this is unknown, nothing is removed.
    pub directories: Option<UserDirectories>,
    /// The user's home directories, from the environment and the user database.
    pub homes: Vec<PathBuf>,
    /// How to read git's rules, for marking ignored files.
    pub ignored: Git,
    /// Colours, if any.
    pub colors: Option<Colors>,
}

/// How browsing ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// The result, without its tree; none if the walk did not end in time.
    pub browsed: Option<Browsed>,
    /// What to print.
    pub printed: Option<Vec<u8>>,
    /// The number of the signal that ended it, if any. [`HANGUP`](crate::program::signals::HANGUP) if the terminal failed.
    pub signal: Option<u8>,
    /// Why the terminal failed, if it did.
    pub failure: Option<Problem>,
    /// Why a removal that ended after the screen kept entries.
    pub kept: Vec<Problem>,
    /// Whether a removal did not finish in time.
    pub unfinished: bool,
}

/// What is shown, and how.
#[derive(Debug)]
pub struct Browser {
    pub(super) options: BrowseOptions,
    pub(super) protected: Protected,
    /// The name of the root, as far as it is known before the walk ends.
    pub(super) root: Vec<u8>,
    pub(super) seen: Watched,
    /// The names on the path from the root (without its own) to the current directory.
    pub(super) way: Vec<Vec<u8>>,
    /// The chosen line, and the first line on the screen.
    pub(super) chosen: usize,
    pub(super) first: usize,
    /// The entry with this name stays chosen, wherever it is listed.
    pub(super) name: Option<Vec<u8>>,
    pub(super) sorting: Sorting,
    pub(super) pattern: Option<NamePattern>,
    pub(super) columns: ListColumns,
    pub(super) dialog: Option<Dialog>,
    /// The last message.
    pub(super) said: Option<String>,
    /// How many lines of the list fit on the screen.
    pub(super) height: usize,
    /// The work that runs in the background, if any.
    pub(super) pending: Option<PendingWork>,
    /// Whether the current directory, or one above it, is marked.
    pub(super) is_held: bool,
    pub(super) removals: Removals,
}

/// What is shown.
#[derive(Debug)]
pub(super) enum Watched {
    /// A walk in progress; empty while a snapshot is loaded.
    Walk {
        top: Arc<LiveDirectory>,
        progress: Progress,
        page: Box<Page>,
        marks: NamedMarks,
        is_walk: bool,
        is_stopping: bool,
    },
    /// The finished walk, or the snapshot.
    Whole(Box<Scan>),
}

/// A finished walk or a snapshot, and the marks in it.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) browsed: Browsed,
    /// Empty if nothing could be read.
    pub(super) tree: Tree,
    /// What could not be read.
    pub(super) partial: Partial,
    pub(super) directory: DirectoryId,
    pub(super) index: SortedDirectory,
    pub(super) marks: Marks,
    /// Whether it was asked what files share.
    pub(super) knows_sharing: bool,
}

/// The optional columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListColumns {
    pub(super) bars: Bar,
    pub(super) counts: bool,
    pub(super) times: bool,
}

/// How the list shows an entry's share of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bar {
    Both,
    Percent,
    Graph,
    None,
}

/// What covers the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dialog {
    Help {
        first: usize,
    },
    Info {
        first: usize,
    },
    Review {
        first: usize,
    },
    Errors {
        first: usize,
    },
    /// Why the last removal kept entries.
    Kept {
        first: usize,
    },
    /// Asks for the number of entries before it deletes them.
    Delete {
        entries: u64,
        typed: String,
    },
    Prompt(Question, String),
}

/// What the user is asked to type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// A pattern for the entries to list.
    Filter,
    /// A pattern for the entries to mark.
    Mark,
}

/// Work in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PendingWork {
    /// Scans everything again.
    All,
    /// Scans the directory with this path again.
    Directory(Vec<Vec<u8>>),
    /// Finds what git ignores in the directory with this path.
    Ignored(Vec<Vec<u8>>),
    /// Removes entries, or puts them back.
    Removal,
}

impl Browser {
    /// An empty browser: shows a walk from `top` on, or a snapshot once it is loaded.
    pub fn new(
        options: BrowseOptions,
        protected: Protected,
        top: Arc<LiveDirectory>,
        is_walk: bool,
    ) -> Self {
        let sorting = options.sorting;
        Self {
            options,
            protected,
            root: Vec::new(),
            seen: Watched::Walk {
                top,
                progress: Progress::default(),
                page: Box::default(),
                marks: NamedMarks::default(),
                is_walk,
                is_stopping: false,
            },
            way: Vec::new(),
            chosen: 0,
            first: 0,
            name: None,
            sorting,
            pattern: None,
            columns: ListColumns { bars: Bar::Both, counts: false, times: false },
            dialog: None,
            said: None,
            height: 1,
            pending: None,
            is_held: false,
            removals: Removals::default(),
        }
    }

    /// Shows the finished walk or the loaded snapshot. Marks and the chosen entry are kept, if they still exist.
    pub fn finish(&mut self, browsed: Browsed) {
        let named = match &self.seen {
            Watched::Walk { marks, .. } => marks.clone(),
            Watched::Whole(scan) => scan.marks.named(&scan.tree),
        };
        self.pending = None;
        self.end_review();
        let mut browsed = browsed;
        let tree = browsed.snapshot.weighed.report.take().unwrap_or_default();
        let (index, marks) = (SortedDirectory::default(), Marks::default());
        let directory = tree.root().id().unwrap_or_default();
        // A directory that is in several snapshots has no figures of its own, but its files have.
        let file = tree.root().all_directories().flat_map(Child::leaf_nodes).next();
        let nodes = [Some(tree.root().node()), file];
        let knows_sharing = nodes.iter().flatten().any(|node| node.sums.frees.is_some());
        let partial = Partial::of(&browsed.snapshot.weighed);
        let scan = Scan { browsed, tree, partial, directory, index, marks, knows_sharing };
        self.seen = Watched::Whole(Box::new(scan));
        self.mark_again(&named);
        self.relist();
    }

    /// Replaces a directory by the result of its new scan, and updates the totals above it by the `rules` of the walk.
    /// Returns false if the totals would be wrong: if the directory is gone, or if one of its inodes has, or had,
    /// links elsewhere. Then everything must be scanned again.
    pub fn replace(&mut self, rules: &Rules, browsed: Browsed) -> bool {
        let Some(PendingWork::Directory(way)) = self.pending.take() else { return false };
        let Watched::Whole(scan) = &mut self.seen else { return false };
        let named = scan.marks.named(&scan.tree);
        let mut weighed = browsed.snapshot.weighed;
        let old = descend(&scan.tree, &way).filter(|old| old.parent().is_some());
        let (Some(new), Some((old, path))) =
            (weighed.report.take(), old.and_then(|old| Some((old.id()?, old.path()))))
        else {
            return false;
        };
        // Totals need every link of an inode, and this scan covers only one directory.
        let root = new.root().id().filter(|_| new.root().is_directory());
        if !root.is_some_and(|root| Freed::is_apart(&new, root) && Freed::is_apart(&scan.tree, old))
        {
            return false;
        }
        // Another root may lie in it that its walk does not reach.
        let roots = scan.tree.roots().map(|root| root.name().to_vec());
        let roots: Vec<_> =
            roots.filter(|root| *root != path && path::is_within(root, &path)).collect();
        scan.replace(old, new, rules, std::mem::take(&mut self.removals.takes_links));
        let known = &mut scan.browsed.snapshot.weighed;
        known.is_interrupted |= weighed.is_interrupted;
        let is_in = |problem: &Problem, path| path::is_within(&problem.path, path);
        known.problems.retain(|problem| {
            !is_in(problem, &path) || roots.iter().any(|root| is_in(problem, root))
        });
        known.problems.append(&mut weighed.problems);
        known.problems.sort_by(|one, two| one.path.cmp(&two.path));
        scan.partial = Partial::of(known);
        self.mark_again(&named);
        self.end_review();
        self.relist();
        true
    }

    /// Restores the marks of `named` that still exist, and reports how many are lost.
    pub(super) fn mark_again(&mut self, named: &NamedMarks) {
        let Watched::Whole(scan) = &mut self.seen else { return };
        let (tree, protected) = (&scan.tree, &self.protected);
        let (marks, lost) =
            Marks::find(tree, named, |child| protected.refusal(tree, child).is_none());
        scan.marks = marks;
        if lost > 0 {
            self.say(format!(
                "{lost} marks are lost: what they named is gone, has changed, or is not to be marked"
            ));
        }
    }

    /// Updates the progress of the walk.
    pub fn progress(&mut self, now: &Progress) {
        if let Watched::Walk { progress, .. } = &mut self.seen {
            *progress = now.clone();
        }
    }

    /// Lists the current directory of a walk in progress again.
    pub fn refresh(&mut self) {
        let most = (self.first + self.height).max(self.chosen + 1).max(256);
        let (sorting, pattern) = (self.sorting, self.pattern.as_ref());
        let view = View::from(self.measure());
        let Watched::Walk { top, page, is_walk: true, .. } = &mut self.seen else { return };
        match Page::of(top, view, &self.way, sorting, pattern, most) {
            Some(now) => **page = now,
            // Everything is closed, and the result is on its way.
            None if top.is_closed() || self.way.is_empty() => return,
            None => {
                self.way.pop();
                return self.refresh();
            }
        }
        self.choose_again();
    }

    /// Lists the current directory again.
    pub(super) fn relist(&mut self) {
        let Watched::Whole(scan) = &mut self.seen else { return self.refresh() };
        let Scan { tree, directory, index, browsed, .. } = &mut **scan;
        let found = (0..=self.way.len())
            .rev()
            .find_map(|depth| Some((depth, descend(tree, &self.way[..depth])?.id()?)));
        let (depth, id) = found.unwrap_or((0, tree.root().id().unwrap_or_default()));
        self.way.truncate(depth);
        *directory = id;
        let before = browsed.before.as_ref().map(|before| descend(before, &self.way));
        *index = SortedDirectory::new(tree, id, self.sorting, self.pattern.as_ref(), before);
        self.choose_again();
    }

    /// Chooses the entry of the same name; if it is gone, the same line.
    fn choose_again(&mut self) {
        if let Some(name) = self.name.take() {
            let position = match &self.seen {
                Watched::Walk { page, .. } => {
                    page.items.iter().position(|item| *item.name == *name)
                }
                Watched::Whole(scan) => scan.index.position(&scan.tree, &name),
            };
            self.chosen = position.unwrap_or(self.chosen);
            self.name = position.map(|_| name);
        }
        self.choose(self.chosen);
    }

    /// Chooses a line, or the last one if there are fewer, and scrolls to it.
    pub(super) fn choose(&mut self, line: usize) {
        self.chosen = line.min(self.len().saturating_sub(1));
        let height = self.height.max(1);
        self.first = self.first.min(self.chosen).max((self.chosen + 1).saturating_sub(height));
        // No blank lines below the last one while lines above are hidden.
        self.first = self.first.min(self.len().saturating_sub(height));
    }

    /// Chooses a line; its entry stays chosen wherever it moves.
    pub(super) fn pin(&mut self, line: usize) {
        self.choose(line);
        self.name = self.item(self.chosen).map(|item| item.name.into_owned());
    }

    /// Shows a message in the last line, until the next key.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.said = Some(text.into());
    }

    /// How many lines the list has.
    pub fn len(&self) -> usize {
        match &self.seen {
            Watched::Walk { page, .. } => page.items.len(),
            Watched::Whole(scan) => scan.index.len(),
        }
    }

    /// Whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry on a line of the list.
    pub fn item(&self, line: usize) -> Option<Item<'_>> {
        match &self.seen {
            Watched::Walk { page, .. } => page.items.get(line).cloned(),
            Watched::Whole(scan) => {
                scan.index.place(line).map(|place| Item::of(&scan.tree.at(place)))
            }
        }
    }

    /// By how much the size of an item has changed, if its former size is known.
    pub fn change(&self, item: &Item<'_>) -> Option<i128> {
        let scan = self.scan()?;
        scan.index.change(&scan.tree.at(item.place?))
    }

    /// A time, in seconds since the epoch, as text.
    pub fn time(&self, seconds: i64) -> String {
        let times = self.options.times.clone();
        times.map_or_else(String::new, |times| times.write(seconds))
    }

    /// The totals of the current directory.
    pub fn totals(&self) -> Totals {
        match &self.seen {
            Watched::Walk { page, .. } => page.totals,
            Watched::Whole(scan) => scan.here().totals(),
        }
    }

    /// Whether the scan asked what files share.
    pub(super) fn knows_sharing(&self) -> bool {
        self.options.frees || self.scan().is_some_and(|scan| scan.knows_sharing)
    }

    /// Whether the figures of what is at `place` lack something that could not be read.
    pub(super) fn is_partial(&self, place: Option<Place>) -> bool {
        let scan = self.scan().zip(place);
        scan.is_some_and(|(scan, place)| scan.partial.has(&scan.tree.at(place)))
    }

    /// The same for the total of the marked entries.
    pub(super) fn is_marked_partial(&self) -> bool {
        let Some(scan) = self.scan().filter(|scan| !scan.partial.is_empty()) else { return false };
        let mut marked = scan.marks.places().map(|place| scan.tree.at(place));
        // Looking a file up takes time, and nothing is below it.
        marked.any(|child| child.is_directory() && scan.partial.has(&child))
    }

    /// How much removing `item` alone frees.
    pub(super) fn freed(&self, item: &Item<'_>) -> Freeable {
        let most = item.freed();
        // A file that changed since the walk may share its space.
        let least = if self.knows_sharing() { 0 } else { most };
        item.totals.frees.unwrap_or(Freeable { least, most, extents: 0 })
    }

    /// The total of the marked entries, and how much removing them frees; the latter only after the walk.
    pub fn marked(&self) -> (usize, Option<(Totals, Option<Freeable>)>) {
        match &self.seen {
            Watched::Walk { marks, .. } => (marks.len(), None),
            Watched::Whole(scan) => {
                let freed = scan.marks.freed();
                let known = self.options.knows_freed.then(|| freed.freed(self.knows_sharing()));
                (scan.marks.len(), Some((freed.marked(), known)))
            }
        }
    }

    /// The names on the path from the root (without its own) to the current directory.
    #[cfg(test)]
    pub fn way(&self) -> &[Vec<u8>] {
        &self.way
    }

    /// The last message.
    pub fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }

    /// The paths that could not be read; during a walk, only their number.
    pub fn unread(&self) -> (usize, &[Problem]) {
        match &self.seen {
            Watched::Walk { progress, .. } => (progress.problems, &[]),
            Watched::Whole(scan) => {
                let problems = &scan.browsed.snapshot.weighed.problems;
                (problems.len(), problems)
            }
        }
    }

    /// The result, once the walk or the loading of the snapshot has ended.
    pub fn browsed(&self) -> Option<&Browsed> {
        self.scan().map(|scan| &scan.browsed)
    }

    /// The tree, once it is complete.
    pub fn tree(&self) -> Option<&Tree> {
        self.scan().map(|scan| &scan.tree)
    }

    /// The paths of all marked entries, as bytes, sorted: the order of the tree depends on the walk.
    pub fn marked_paths(&self) -> Vec<Vec<u8>> {
        let Some(scan) = self.scan() else { return Vec::new() };
        let mut paths: Vec<_> =
            scan.marks.places().map(|place| scan.tree.at(place).path()).collect();
        paths.sort_unstable();
        paths
    }

    /// The result, without the tree.
    pub fn into_browsed(self) -> Option<Browsed> {
        match self.seen {
            Watched::Whole(scan) => Some(scan.browsed),
            Watched::Walk { .. } => None,
        }
    }

    /// Sets what must not be marked.
    pub fn protect(&mut self, protected: Protected) {
        self.protected = protected;
    }

    /// Sets the name of the root, if there is one.
    pub fn call_root(&mut self, name: &[u8]) {
        self.root = name.to_vec();
    }

    /// Notes that everything is scanned again.
    pub fn look_at_all(&mut self) {
        self.pending = Some(PendingWork::All);
    }

    /// What sizes measure.
    pub fn measure(&self) -> Measure {
        self.browsed().map_or(self.options.measure, |browsed| browsed.snapshot.view.measure)
    }

    /// Whether a walk is still running.
    pub fn is_walking(&self) -> bool {
        matches!(self.seen, Watched::Walk { .. })
    }

    /// The background scan has failed; shows why.
    pub fn give_up(&mut self, why: impl Into<String>) {
        self.pending = None;
        self.say(why);
    }

    pub(super) fn scan(&self) -> Option<&Scan> {
        match &self.seen {
            Watched::Whole(scan) => Some(scan),
            Watched::Walk { .. } => None,
        }
    }
}

impl Scan {
    /// Sees everything in another `view`.
    pub(super) fn see_as(&mut self, view: View) {
        for tree in iter::once(&mut self.tree).chain(&mut self.browsed.before) {
            *tree = mem::take(tree).seen_as(view);
        }
        self.browsed.snapshot.view = view;
        self.marks.add_up(&self.tree);
    }

    /// The current directory.
    pub(super) fn here(&self) -> Child<'_> {
        self.tree.directory(self.directory)
    }
}
