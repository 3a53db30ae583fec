//! What is looked at: the state that keys change and that is drawn. It knows no terminal, and asks no file system.

use std::path::PathBuf;
use std::sync::Arc;

use super::freed::Freed;
use super::item::Item;
use super::listing::{Page, SortedDirectory};
use super::marks::{Marks, NamedMarks, descend};
use super::pattern::NamePattern;
use super::protected::Protected;
use super::removal::Removals;
use super::sorting::Sorting;
use crate::filter::Git;
use crate::measure::{Measure, weight_of_time};
use crate::problem::Problem;
use crate::remove::Places;
use crate::render::colors::Colors;
use crate::render::size::{Format, Formats};
use crate::render::time::TimeFormat;
use crate::report::Browsed;
use crate::tally::LiveDirectory;
use crate::total::Rules;
use crate::tree::{Child, DirectoryId, Totals, Tree};
use crate::walk::Progress;

/// How to browse.
#[derive(Clone, Debug, Default)]
pub struct BrowseOptions {
    /// How sizes are written.
    pub formats: Formats,
    /// What they count, until that is known of what is looked at.
    pub measure: Measure,
    /// How times are written.
    pub times: Option<TimeFormat>,
    /// In which order entries are listed at first.
    pub sorting: Sorting,
    /// Whether what one inode frees is known: not where symlinks are followed, for they lead to it too.
    pub knows_freed: bool,
    /// Whether paths end in NUL on standard output, rather than in a newline.
    pub print0: bool,
    /// Whether nothing is to be removed.
    pub read_only: bool,
    /// Where the trash and the log are; if nobody knows, nothing is removed.
    pub places: Option<Places>,
    /// The user's home directory, as the environment says.
    pub home: Option<PathBuf>,
    /// How git's rules are to be read, to mark what git ignores.
    pub ignored: Git,
    /// Colours, if any.
    pub colors: Option<Colors>,
}

/// How browsing ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// What was looked at, without its tree; nothing if its end was not waited for.
    pub browsed: Option<Browsed>,
    /// What is to be printed of it.
    pub printed: Option<Vec<u8>>,
    /// The number of the signal that ended it, if one did.
    pub signal: Option<u8>,
    /// Whether something was being removed, and did not come to its end.
    pub unfinished: bool,
}

/// What is looked at, and how.
#[derive(Debug)]
pub struct Browser {
    pub(super) options: BrowseOptions,
    pub(super) protected: Protected,
    /// What the root is called, as far as that is known before it is whole.
    pub(super) root: Vec<u8>,
    pub(super) seen: Watched,
    /// The names on the way from the root, which is none of them, to the directory looked at.
    pub(super) way: Vec<Vec<u8>>,
    /// Which line is chosen, and which is the first on the screen.
    pub(super) chosen: usize,
    pub(super) first: usize,
    /// What is called so stays chosen, wherever it comes to be listed.
    pub(super) name: Option<Vec<u8>>,
    pub(super) sorting: Sorting,
    pub(super) pattern: Option<NamePattern>,
    pub(super) columns: ListColumns,
    pub(super) dialog: Option<Dialog>,
    /// What was said last.
    pub(super) said: Option<String>,
    /// How many lines of the list there are on the screen.
    pub(super) height: usize,
    /// What is being looked at anew, if anything.
    pub(super) pending: Option<Pending>,
    /// Whether the directory looked at lies in a marked one, or is one.
    pub(super) is_held: bool,
    pub(super) removals: Removals,
}

/// What there is to be seen.
#[derive(Debug)]
pub(super) enum Watched {
    /// A walk, or nothing yet while a snapshot is loaded.
    Walk {
        top: Arc<LiveDirectory>,
        progress: Progress,
        page: Page,
        marks: NamedMarks,
        is_walk: bool,
        is_stopping: bool,
    },
    /// What it came to.
    Whole(Box<Scan>),
}

/// What a walk or a snapshot came to, and what is marked in it.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) browsed: Browsed,
    /// Empty if nothing could be read.
    pub(super) tree: Tree,
    pub(super) directory: DirectoryId,
    pub(super) index: SortedDirectory,
    pub(super) marks: Marks,
}

/// What has a column beside names and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListColumns {
    pub(super) bars: Bar,
    pub(super) counts: bool,
    pub(super) times: bool,
}

/// What shows how large something is among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bar {
    Both,
    Percent,
    Graph,
    None,
}

/// What lies over the list.
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
    /// Why not all is gone that was to be removed.
    Kept {
        first: usize,
    },
    /// How many entries there are is to be typed before they are deleted.
    Delete {
        entries: u64,
        typed: String,
    },
    Prompt(Question, String),
}

/// What is to be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// What to list.
    Filter,
    /// What to mark.
    Mark,
}

/// What is under way beside the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// All of it is looked at anew.
    All,
    /// The directory at this way is.
    Directory(Vec<Vec<u8>>),
    /// What git ignores in the directory at this way.
    Ignored(Vec<Vec<u8>>),
    /// Something is removed, or put back.
    Removal,
}

impl Browser {
    /// Nothing yet: a walk is seen from `top` on; a snapshot once it is loaded.
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
                page: Page::default(),
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

    /// What a walk, or a snapshot, has come to. What was marked, and chosen, still is, if it is there.
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
        self.seen = Watched::Whole(Box::new(Scan { browsed, tree, directory, index, marks }));
        self.mark_again(&named);
        self.relist();
    }

    /// What a directory that was looked at anew comes to now, by the `rules` of the walk: what was there is replaced,
    /// and all above it added up. False if that would not be right: it is gone, or an inode in it has, or had, links
    /// elsewhere. Then all is to be looked at anew.
    pub fn replace(&mut self, rules: &Rules, browsed: Browsed) -> bool {
        let Some(Pending::Directory(way)) = self.pending.take() else { return false };
        let Watched::Whole(scan) = &mut self.seen else { return false };
        let named = scan.marks.named(&scan.tree);
        let mut weighed = browsed.snapshot.weighed;
        let old = descend(&scan.tree, &way).filter(|old| old.parent().is_some());
        let (Some(new), Some((old, path))) =
            (weighed.report.take(), old.and_then(|old| Some((old.id()?, old.path()))))
        else {
            return false;
        };
        // How many links an inode has is known where each of them is; and elsewhere nobody looks now.
        let root = new.root().id().filter(|_| new.root().is_directory());
        if !root.is_some_and(|root| Freed::is_apart(&new, root) && Freed::is_apart(&scan.tree, old))
        {
            return false;
        }
        scan.replace(old, new, rules, std::mem::take(&mut self.removals.takes_links));
        let known = &mut scan.browsed.snapshot.weighed;
        known.is_interrupted |= weighed.is_interrupted;
        let is_below = |problem: &Problem| {
            let rest = problem.path.strip_prefix(&*path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        known.problems.retain(|problem| !is_below(problem));
        known.problems.append(&mut weighed.problems);
        known.problems.sort_by(|one, two| one.path.cmp(&two.path));
        self.mark_again(&named);
        self.end_review();
        self.relist();
        true
    }

    /// Marks what is found of `named`, and says if not all is.
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

    /// How far the walk has come.
    pub fn progress(&mut self, now: &Progress) {
        if let Watched::Walk { progress, .. } = &mut self.seen {
            *progress = now.clone();
        }
    }

    /// Looks again at a directory of a walk that goes on.
    pub fn refresh(&mut self) {
        let most = (self.first + self.height).max(self.chosen + 1).max(256);
        let (sorting, pattern) = (self.sorting, self.pattern.as_ref());
        let Watched::Walk { top, page, is_walk: true, .. } = &mut self.seen else { return };
        match Page::of(top, &self.way, sorting, pattern, most) {
            Some(now) => *page = now,
            // All is closed, and what it came to is on its way.
            None if top.is_closed() || self.way.is_empty() => return,
            None => {
                self.way.pop();
                return self.refresh();
            }
        }
        self.choose_again();
    }

    /// Lists the directory looked at anew.
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

    /// Chooses what is called as what was chosen, or what is in its place now.
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

    /// Chooses a line, the last one if there are not so many, and shows it.
    pub(super) fn choose(&mut self, line: usize) {
        self.chosen = line.min(self.len().saturating_sub(1));
        let height = self.height.max(1);
        self.first = self.first.min(self.chosen).max((self.chosen + 1).saturating_sub(height));
        // No blank lines below the last one while there are others above.
        self.first = self.first.min(self.len().saturating_sub(height));
    }

    /// Chooses a line, which stays chosen.
    pub(super) fn pin(&mut self, line: usize) {
        self.choose(line);
        self.name = self.item(self.chosen).map(|item| item.name.into_owned());
    }

    /// Says something in the last line, until the next key.
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

    /// What a line of the list shows.
    pub fn item(&self, line: usize) -> Option<Item<'_>> {
        match &self.seen {
            Watched::Walk { page, .. } => page.items.get(line).cloned(),
            Watched::Whole(scan) => {
                scan.index.place(line).map(|place| Item::of(&scan.tree.at(place)))
            }
        }
    }

    /// What the size of an item has changed by, if it is known what it was.
    pub fn change(&self, item: &Item<'_>) -> Option<i128> {
        let scan = self.scan()?;
        scan.index.change(&scan.tree.at(item.place?))
    }

    /// A time, in seconds since the epoch, as text.
    pub fn time(&self, seconds: i64) -> String {
        let times = self.options.times.clone();
        times.map_or_else(String::new, |times| Format::Time(times).write(weight_of_time(seconds)))
    }

    /// What the directory looked at comes to.
    pub fn totals(&self) -> Totals {
        match &self.seen {
            Watched::Walk { page, .. } => page.totals,
            Watched::Whole(scan) => scan.here().totals(),
        }
    }

    /// What is marked comes to, and what removing it frees; the latter only once the walk is over.
    pub fn marked(&self) -> (usize, Option<(Totals, Option<u64>)>) {
        match &self.seen {
            Watched::Walk { marks, .. } => (marks.len(), None),
            Watched::Whole(scan) => {
                let freed = scan.marks.freed();
                let known = self.options.knows_freed.then(|| freed.freed());
                (scan.marks.len(), Some((freed.marked(), known)))
            }
        }
    }

    /// The names on the way from the root, which is none of them, to the directory looked at.
    pub fn way(&self) -> &[Vec<u8>] {
        &self.way
    }

    /// What was said last.
    pub fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }

    /// What could not be read; while a walk goes on, only how much it is.
    pub fn unread(&self) -> (usize, &[Problem]) {
        match &self.seen {
            Watched::Walk { progress, .. } => (progress.problems, &[]),
            Watched::Whole(scan) => {
                let problems = &scan.browsed.snapshot.weighed.problems;
                (problems.len(), problems)
            }
        }
    }

    /// What the walk, or the snapshot, came to, if it has come to an end.
    pub fn browsed(&self) -> Option<&Browsed> {
        self.scan().map(|scan| &scan.browsed)
    }

    /// The tree, once it is whole.
    pub fn tree(&self) -> Option<&Tree> {
        self.scan().map(|scan| &scan.tree)
    }

    /// The paths of all that is marked, as bytes, in the order of the tree.
    pub fn marked_paths(&self) -> Vec<Vec<u8>> {
        let Some(scan) = self.scan() else { return Vec::new() };
        scan.marks.places().map(|place| scan.tree.at(place).path()).collect()
    }

    /// What came of it all, without the tree.
    pub fn into_browsed(self) -> Option<Browsed> {
        match self.seen {
            Watched::Whole(scan) => Some(scan.browsed),
            Watched::Walk { .. } => None,
        }
    }

    /// What must not be marked.
    pub fn protect(&mut self, protected: Protected) {
        self.protected = protected;
    }

    /// What the root is called, where there is one.
    pub fn call_root(&mut self, name: &[u8]) {
        self.root = name.to_vec();
    }

    /// All is to be looked at anew.
    pub fn look_at_all(&mut self) {
        self.pending = Some(Pending::All);
    }

    /// What sizes count.
    pub fn measure(&self) -> Measure {
        self.browsed().map_or(self.options.measure, |browsed| browsed.snapshot.measure)
    }

    /// Whether a walk is still on its way.
    pub fn is_walking(&self) -> bool {
        matches!(self.seen, Watched::Walk { .. })
    }

    /// Nothing is under way any more: it did not come to its end, and why.
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
    /// The directory looked at.
    pub(super) fn here(&self) -> Child<'_> {
        self.tree.directory(self.directory)
    }
}
