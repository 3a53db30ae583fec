//! The browser's state, which events change and the view draws. It does not use the terminal, and of the file system
//! only the listings of a snapshot.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::iter;
use std::sync::Arc;
use std::time::Duration;

use super::clean::CleanView;
use super::event::Command;
use super::listing::{Item, Sorting, below, first};
use super::map::{Cells, TreeMap};
use super::marks::{Protected, descend};
use super::options::BrowseOptions;
use super::pattern::NamePattern;
use super::query::{Answer, RunningQuery};
use super::review::{Removals, Rescan};
use super::scan::Scan;
use super::views::{AnswerKey, NameSearch};
use weigh::internal::ask::{Input, Request};
use weigh::internal::base::escape::{escape, harmless, single};
use weigh::internal::base::measure::Measure;
use weigh::internal::base::path;
use weigh::internal::scan::walk::Progress;
use weigh::internal::show::partial;
use weigh::internal::show::size::Format;
use weigh::internal::sys::problem::Problem;
use weigh::internal::sys::{self, Space};
use weigh::internal::tree::tally::LiveDirectory;
use weigh::internal::tree::{Child, DirectoryId, Freeable, Place, Totals, Tree};

/// The state, in its parts.
#[derive(Default)]
pub struct Browser {
    /// The last request for everything.
    pub(super) request: Request,
    pub(super) options: BrowseOptions,
    pub(super) walk: WalkState,
    /// The result, and the marks in it.
    pub(super) scan: Scan,
    pub(super) shown: Shown,
    pub(super) clean: CleanView,
    pub(super) selection: Selection,
    pub(super) dialogs: Dialogs,
    /// The work that runs in the background, if any.
    pub(super) pending: Option<PendingWork>,
    pub(super) removals: Removals,
    /// How much is available on the file system of each root, by the root's name.
    pub(super) spaces: Vec<(Vec<u8>, Space)>,
}

/// The first walk, while it goes on.
#[derive(Default)]
pub(super) struct WalkState {
    /// Where it can be read.
    pub(super) top: Arc<LiveDirectory>,
    pub(super) progress: Progress,
    /// How long it has taken until then.
    pub(super) elapsed: Duration,
    /// When the last scan of everything began, in seconds since the epoch.
    pub(super) began: i64,
    /// How many inodes it will find, if it is of a whole file system that can tell.
    pub(super) used_inodes: Option<u64>,
    /// Whether it was asked to stop.
    pub(super) is_stopping: bool,
}

/// What is listed, and where.
#[derive(Default)]
pub(super) struct Shown {
    /// The names on the path from the root (without its own) to the current directory.
    pub(super) way: Vec<Vec<u8>>,
    pub(super) view: ViewKind,
    /// The group whose files are listed, if it is one of the view's.
    pub(super) group: Option<Vec<u8>>,
    pub(super) search: Option<NameSearch>,
    /// The query that is being answered, and what for.
    pub(super) asking: Option<(AnswerKey, RunningQuery)>,
    pub(super) answers: HashMap<AnswerKey, Answer>,
    pub(super) sorting: Sorting,
    /// The order before changes were shown.
    pub(super) former_sorting: Sorting,
    pub(super) pattern: Option<NamePattern>,
    pub(super) columns: ListColumns,
    /// The chosen line, and the first line on the screen.
    pub(super) chosen: usize,
    pub(super) first: usize,
    /// The entry with this name stays chosen, wherever it is listed.
    pub(super) name: Option<Vec<u8>>,
    /// How many lines of the list fit on the screen.
    pub(super) height: usize,
    /// Whether the screen has a second pane.
    pub(super) has_pane: bool,
    /// During a walk, the directory that the second pane shows, as it was at the last look.
    live: Option<(Tree, DirectoryId)>,
    /// What the second pane shows of a directory; looked up again once that is another one, or the tree has changed.
    inside: OnceCell<DirectoryInPane>,
    /// Where the treemap is on the screen.
    pub(super) map_area: Cells,
    /// The treemap; made once it is needed after a change of the list or of the screen.
    pub(super) map: OnceCell<TreeMap>,
    /// The path of the chosen symlink, and what it leads to, once that is known; nothing if it could not be read.
    pub(super) link: Option<(Vec<u8>, Option<Vec<u8>>)>,
    /// Whether a search is to begin as soon as no key waits, while the walk goes on.
    pub(super) is_searched_next: bool,
}

/// What may be marked, and who marked it. The marks are with the tree.
#[derive(Default)]
pub(super) struct Selection {
    pub(super) protected: Protected,
    /// The paths that were marked in the view "clean", because rules find them.
    pub(super) by_rules: BTreeSet<Vec<u8>>,
    /// How many lost marks the last message counts.
    pub(super) lost: usize,
}

/// What covers the list, and what is said below it.
#[derive(Default)]
pub(super) struct Dialogs {
    pub(super) open: Option<Dialog>,
    /// The last message.
    pub(super) said: Option<String>,
    /// Where a text over the list ends, if it scrolls.
    pub(super) text_end: usize,
    /// Its first line on the screen, if its lines can be chosen.
    pub(super) text_first: usize,
}

/// What is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ViewKind {
    /// The entries of the current directory.
    #[default]
    Tree,
    /// The largest files below it.
    LargestFiles,
    /// What is below it, by type.
    Types,
    /// The same by age.
    Ages,
    /// The same by owner.
    Owners,
    /// Entries that can be made or downloaded again, of everything that was scanned.
    Clean,
    /// The marked entries.
    Marked,
    /// What uses the file system besides the files.
    Causes,
}

impl ViewKind {
    /// All of them with their names, in the order of the head of the screen.
    pub(super) const ALL: [(Self, &str); 8] = [
        (Self::Tree, "tree"),
        (Self::LargestFiles, "files"),
        (Self::Types, "types"),
        (Self::Ages, "ages"),
        (Self::Owners, "owners"),
        (Self::Clean, "clean"),
        (Self::Marked, "marked"),
        (Self::Causes, "besides files"),
    ];
}

/// The optional columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ListColumns {
    /// Which of [`BARS`].
    pub(super) bars: usize,
    pub(super) counts: bool,
    /// Whether there are no times.
    pub(super) no_times: bool,
    /// Whether changes are hidden that are known.
    pub(super) no_changes: bool,
    /// Whether the tree is shown as a treemap.
    pub(super) map: bool,
}

/// How the list can show an entry's share of the directory: whether as a percentage, and whether as a bar.
pub(super) const BARS: [(bool, bool); 4] =
    [(true, true), (true, false), (false, true), (false, false)];

/// Which of how many, as people read it.
pub(super) fn position(number: usize, all: usize) -> String {
    let [number, all] = [number, all].map(|number| Format::Count.write(number as u64));
    format!("{number} of {all}")
}

/// From so many columns and lines on, a second pane shows more about the selected line.
pub(super) const PANE_WIDTH: usize = 100;
pub(super) const PANE_HEIGHT: usize = 8;

/// What covers the list, or the last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dialog {
    /// A text, from this line on.
    Text(DialogText, usize),
    /// A question, and what has been typed.
    Prompt(Question, String),
}

impl Dialog {
    /// Whether it shows all about a line.
    pub(super) fn is_info(&self) -> bool {
        matches!(self, Self::Text(DialogText::Info, _))
    }

    /// The text that covers the list, and its first line.
    pub(super) fn text(&self) -> Option<(DialogText, usize)> {
        match *self {
            Self::Text(text, first) => Some((text, first)),
            Self::Prompt(Question::Delete(_), _) => Some((DialogText::Review, 0)),
            Self::Prompt(Question::Empty(_), _) => Some((DialogText::Trash, 0)),
            Self::Prompt(..) => None,
        }
    }
}

/// A text that covers the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DialogText {
    Help,
    Info,
    /// Its number is that of the chosen line, as in the trash.
    Review,
    /// What this run has moved into the trash.
    Trash,
    Errors,
    /// Why the last removal kept entries.
    Kept,
}

/// What the user is asked to type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// A pattern for the entries to search for.
    Search,
    /// A pattern for the entries to list.
    Filter,
    /// A pattern for the entries to mark.
    Mark,
    /// The number of entries, before it deletes so many.
    Delete(u64),
    /// The number of entries, before it deletes so many in the trash.
    Empty(u64),
    /// `y`, before it stops the scan: what is not read by then stays unknown.
    Stop,
}

/// Work in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PendingWork {
    /// Scans everything again.
    All,
    /// Scans a directory again.
    Directory(Rescan),
    /// Finds what git ignores in a directory.
    Ignored,
    /// Loads the kept scan to compare with.
    Kept,
    /// Removes entries, or puts them back.
    Removal,
    /// Looks at what was moved into the trash.
    Trash,
}

/// What the second pane shows of a directory.
#[derive(Debug)]
struct DirectoryInPane {
    id: Option<DirectoryId>,
    /// Its largest entries, the largest first.
    largest: Vec<Place>,
    /// How many it has.
    count: usize,
    /// The largest file anywhere in it: its path from there, and its size.
    largest_file: Option<(Vec<u8>, u64)>,
}

/// The largest entries in `directory`, the largest first, `most` at most; and how many it has.
pub(super) fn largest(directory: Child<'_>, most: usize) -> (Vec<Place>, usize) {
    let children = directory.unsorted();
    let keyed =
        children.filter_map(|child| Some((Reverse(child.size()), child.name(), child.place()?)));
    let (largest, count) = first(keyed, most);
    (largest.into_iter().map(|(.., place)| place).collect(), count)
}

/// The largest file below `directory`: its path from there, and its size. None if it would take long to find.
fn largest_file(directory: Child<'_>) -> Option<(Vec<u8>, u64)> {
    /// About 10 ms.
    const MOST: usize = 100_000;
    let (mut largest, mut seen) = (None::<Child<'_>>, 0);
    // No file in a directory is larger than that, so few directories have to be looked at.
    let mut next = BinaryHeap::from([(directory.size(), directory.id()?.index(), directory.id()?)]);
    let tree = directory.tree();
    while let Some((size, _, id)) = next.pop()
        && largest.is_none_or(|it| it.size() < size)
    {
        let here = tree.directory(id);
        let leaves = here.leaves().inspect(|_| seen += 1);
        let leaf = leaves.max_by(|one, two| two.compare(one)).filter(|it| it.size() > 0);
        largest = [largest, leaf].into_iter().flatten().max_by_key(Child::size);
        let inside =
            here.directories().filter_map(|it| Some((it.size(), it.id()?.index(), it.id()?)));
        next.extend(inside.inspect(|_| seen += 1));
        if seen > MOST {
            return None;
        }
    }
    let largest = largest?;
    Some((path::join_all(below(&largest, directory.id()?)), largest.size()))
}

impl Browser {
    /// An empty browser, which is to show what `request` asks for.
    pub fn new(request: Request, options: BrowseOptions) -> Self {
        let view = request.walk.view;
        let shown = Shown { sorting: options.sorting, ..Shown::default() };
        let dialogs = Dialogs { said: options.note.clone(), ..Dialogs::default() };
        let walk = WalkState { began: sys::now(), ..WalkState::default() };
        let mut browser = Self { request, options, walk, shown, dialogs, ..Self::default() };
        browser.scan.set_view(view);
        browser.relist();
        browser
    }

    /// Lists the current directory again.
    pub(super) fn relist(&mut self) {
        (self.shown.inside, self.shown.map) = (OnceCell::new(), OnceCell::new());
        if !self.has_all() && !self.look() {
            return;
        }
        self.scan.go(&mut self.shown.way);
        if self.is_flat() {
            self.list_found();
            if self.shown.asking.is_some() || self.awaits_unused() {
                // The chosen line is kept until the list is there.
                return;
            }
        } else {
            let Shown { way, sorting, pattern, columns, .. } = &self.shown;
            self.scan.list(way, !columns.no_changes, *sorting, pattern.as_ref());
        }
        if let Some(name) = self.shown.name.take() {
            // If it is gone, the same line is chosen.
            let mut lines = 0..self.len();
            let position = lines.find(|line| self.scan.name(*line).as_ref() == Some(&name));
            self.shown.chosen = position.unwrap_or(self.shown.chosen);
            // While the walk goes on, it may still come.
            let is_awaited = position.is_some() || self.scan.is_walked_now();
            self.shown.name = Some(name).filter(|_| is_awaited);
        }
        self.choose(self.shown.chosen);
    }

    /// Takes the current directory from the walk or the snapshot, or the innermost one above it that is there. False if
    /// there is none: of the walk, everything is closed then, and the result on its way.
    fn look(&mut self) -> bool {
        let inodes = self.request.kept().unwrap_or_default();
        loop {
            let listing = match &mut self.scan.listings {
                Some(listings) => listings.at(&self.shown.way, inodes),
                None => Ok(self.listing(&self.shown.way)),
            };
            match listing {
                Ok(Some(tree)) => {
                    self.scan.show(tree);
                    return true;
                }
                Ok(None) if self.scan.is_walked_now() && self.walk.top.is_closed() => return false,
                Ok(None) => {}
                Err(error) => {
                    self.dialogs.said = Some(format!("cannot read the snapshot: {error}"))
                }
            }
            if self.shown.way.pop().is_none() {
                return false;
            }
        }
    }

    /// The directory at the path `way`, as the walk knows it now.
    pub(super) fn listing(&self, way: &[Vec<u8>]) -> Option<Tree> {
        let root = match &self.request.source {
            Input::Roots(roots) if roots.len() == 1 => roots[0].as_encoded_bytes(),
            _ => b"",
        };
        self.walk.top.listing(root, way)
    }

    /// Looks into the directory for the second pane, while the walk goes on.
    fn look_inside(&mut self) {
        (self.shown.live, self.shown.inside) = (None, OnceCell::new());
        let item = self.item(self.shown.chosen).filter(|_| self.shown.has_pane);
        let Some(item) = item.filter(|item| item.is_directory() || self.is_flat()) else { return };
        let Some(mut way) = self.way_to(&item) else { return };
        if !item.is_directory() {
            way.pop();
        }
        let live = self.listing(&way).map(|tree| tree.in_view(self.scan.tree.view()));
        self.shown.live = live.and_then(|tree| {
            let id = descend(&tree, &way)?.id()?;
            Some((tree, id))
        });
    }

    /// The names on the path from the root (without its own) to the entry on the chosen line, which is `item`.
    pub(super) fn way_to(&self, item: &Item<'_>) -> Option<Vec<Vec<u8>>> {
        let names = match item.place {
            Some(_) => self.scan.names(item).into_iter().map(<[u8]>::to_vec).collect(),
            None => self.found_so_far()?.get(self.shown.chosen)?.clone(),
        };
        Some([&*self.shown.way, &names].concat())
    }

    /// Chooses a line, or the last one if there are fewer, and scrolls to it.
    pub(super) fn choose(&mut self, line: usize) {
        self.shown.chosen = line.min(self.len().saturating_sub(1));
        let directory = self.directory_in_pane().and_then(|child| child.id());
        // Each file of a large directory may be chosen in turn: to look up 500,000 entries takes 35 ms.
        if self.scan.is_walked_now() {
            self.look_inside();
        } else if self.shown.inside.get().is_some_and(|inside| inside.id != directory) {
            self.shown.inside = OnceCell::new();
        }
        let height = self.shown.height.max(1);
        self.shown.first = self
            .shown
            .first
            .min(self.shown.chosen)
            .max((self.shown.chosen + 1).saturating_sub(height));
        // No blank lines below the last one while lines above are hidden.
        self.shown.first = self.shown.first.min(self.len().saturating_sub(height));
    }

    /// Chooses a line; its entry stays chosen wherever it moves.
    pub(super) fn pin(&mut self, line: usize) {
        self.choose(line);
        self.shown.name = self.scan.name(self.shown.chosen);
    }

    /// Sets how many lines of the list fit on the screen, and how many lines of the text over it can be the first one
    /// there.
    pub fn resize(&mut self, height: usize, text_end: usize) {
        self.dialogs.text_end = text_end;
        if self.shown.height != height {
            self.shown.height = height;
            self.choose(self.shown.chosen);
        }
    }

    /// Shows a message in the last line, until the next key.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.dialogs.said = Some(text.into());
    }

    /// Says why something is not done.
    pub(super) fn refuse(&mut self, why: impl Into<String>) -> Option<Command> {
        self.say(why);
        None
    }

    /// The background work has ended, and with it a review that was opened meanwhile: it offers nothing to remove.
    pub(super) fn end_work(&mut self) -> Option<PendingWork> {
        self.end_review();
        self.pending.take()
    }

    /// The background work has failed; shows why.
    pub(super) fn give_up(&mut self, why: impl Into<String>) -> Option<Command> {
        self.end_work();
        self.refuse(why)
    }

    /// Whether there is something to browse: until then, weigh may still end with an error.
    pub(super) fn has_begun(&self) -> bool {
        !self.is_walking() || self.scan.listings.is_some() || self.walk.progress.entries > 0
    }

    /// Whether a walk is still running, or a snapshot being loaded.
    pub fn is_walking(&self) -> bool {
        self.scan.browsed.is_none()
    }

    /// Whether all of it is in memory, and so can be added up.
    pub(super) fn has_all(&self) -> bool {
        !self.is_walking() && self.scan.listings.is_none()
    }

    /// Why nothing is shown of what is in an entry.
    pub(super) fn nothing(&self, place: Option<Place>) -> &'static str {
        match () {
            () if self.scan.is_walked_now() => match self.item(self.shown.chosen) {
                Some(item) if !item.is_open => "nothing in it",
                _ => "nothing yet",
            },
            () if self.is_walking() => "known once the scan is over",
            () if !self.has_all() => "opening it shows what is in it",
            () if self.is_partial(place) => "nothing found, but not all was read",
            () => "nothing in it",
        }
    }

    /// Whether a removal or an undo is in progress.
    pub fn is_removing(&self) -> bool {
        self.pending == Some(PendingWork::Removal)
    }

    /// Whether anything goes on in the background that will change what is shown.
    pub fn is_busy(&self) -> bool {
        let review = self.removals.review.as_ref();
        self.is_walking()
            || self.is_asking()
            || self.is_looking_for_unused()
            || self.pending.is_some()
            || self.shown.link.as_ref().is_some_and(|(_, target)| target.is_none())
            || review.is_some_and(|it| !it.is_looked)
    }

    /// Whether the program ends after the removal.
    pub fn is_quitting(&self) -> bool {
        self.removals.ending.is_some()
    }

    /// Whether the list is shown as a treemap. It is not if all sizes are 0.
    pub(super) fn shows_map(&self) -> bool {
        self.shown.columns.map && !self.is_flat() && self.map().has_lines()
    }

    /// The treemap of the list.
    pub(super) fn map(&self) -> &TreeMap {
        self.shown.map.get_or_init(|| TreeMap::of(self, self.shown.map_area))
    }

    /// Whether entries are read from directories, and not from a snapshot.
    pub(super) fn is_of_roots(&self) -> bool {
        matches!(self.request.source, Input::Roots(_))
    }

    /// How many lines the list has.
    pub fn len(&self) -> usize {
        self.scan.index.len()
    }

    /// Whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry on a line of the list.
    pub fn item(&self, line: usize) -> Option<Item<'_>> {
        self.scan.item(line)
    }

    /// The directory whose entries the second pane shows: the chosen one or, in a list of what is anywhere, that of the
    /// chosen file.
    pub(super) fn directory_in_pane(&self) -> Option<Child<'_>> {
        if self.scan.is_walked_now() {
            return self.shown.live.as_ref().map(|(tree, id)| tree.directory(*id));
        }
        let chosen = self.scan.tree.at(self.item(self.shown.chosen)?.place?);
        if chosen.is_directory() {
            Some(chosen)
        } else {
            chosen.parent().filter(|_| self.is_flat())
        }
    }

    /// Its largest entries, the largest first, and how many it has.
    pub(super) fn inside(&self) -> (Vec<Child<'_>>, usize) {
        /// As many as a second pane can show.
        const MOST: usize = 200;
        let inside = self.shown.inside.get_or_init(|| {
            let directory = self.directory_in_pane();
            let (largest, count) = directory.map_or_else(Default::default, |it| largest(it, MOST));
            let id = directory.and_then(|child| child.id());
            let largest_file = directory.filter(|_| self.has_all()).and_then(largest_file);
            DirectoryInPane { id, largest, count, largest_file }
        });
        let live = self.shown.live.as_ref().filter(|_| self.scan.is_walked_now());
        let tree = live.map_or(&self.scan.tree, |(tree, _)| tree);
        (inside.largest.iter().map(|place| tree.at(*place)).collect(), inside.count)
    }

    /// The largest file in the chosen directory, if that is known: its path from there, and its size.
    pub(super) fn largest_inside(&self) -> Option<(String, u64)> {
        self.item(self.shown.chosen).filter(Item::is_directory)?;
        self.inside();
        let (path, size) = self.shown.inside.get()?.largest_file.as_ref()?;
        Some((self.text(path), *size))
    }

    /// The repository that the chosen entry is, or lies in, as far as the scan knows it.
    pub(super) fn repository_around(&self) -> Option<String> {
        let chosen = self.scan.tree.at(self.item(self.shown.chosen)?.place?);
        let is_one = |it: &Child<'_>| it.directories().any(|inside| inside.name() == b".git");
        let mut around = iter::successors(Some(chosen), Child::parent);
        let repository = around.find(is_one).filter(|_| self.has_all())?;
        Some(match repository.id() == chosen.id() && chosen.is_directory() {
            true => "a repository".to_owned(),
            false => format!("in the repository {}", self.text(repository.shown_name())),
        })
    }

    /// By how much the size of an item has changed, if its former size is known. Of directories that share a line, it
    /// is that of the first.
    pub(super) fn change(&self, item: &Item<'_>) -> Option<i128> {
        if let Some(was) = item.gone {
            return Some(-i128::from(was));
        }
        let here = self.scan.directory;
        let up = iter::successors(Some(self.scan.tree.at(item.place?)), Child::parent);
        self.scan.index.change(&up.take_while(|it| it.id() != Some(here)).last()?)
    }

    /// How long ago a time was, or the time itself if the user has chosen how it is written.
    pub(super) fn age(&self, seconds: i64) -> String {
        match &self.options.times {
            Some(times) if !self.options.has_time_style => times.age(seconds),
            _ => self.time(seconds),
        }
    }

    /// By how much the current directory has changed, since when, and on which host that was scanned.
    pub(super) fn since(&self) -> Option<String> {
        let browsed = self.scan.browsed.as_ref()?;
        let before = browsed.before.as_ref().filter(|_| !self.shown.columns.no_changes)?;
        let origin = browsed.earlier.as_ref()?;
        let was = descend(before, &self.shown.way).map_or(0, |was| was.size());
        let change = i128::from(self.totals().size) - i128::from(was);
        let change = self.format().write_change(change);
        let (time, host) = (self.time(origin.time), self.text(&origin.host));
        Some(format!("{change} since {time} on {host}"))
    }

    /// A time, in seconds since the epoch, as text.
    pub(super) fn time(&self, seconds: i64) -> String {
        let times = self.options.times.clone();
        times.map_or_else(String::new, |times| times.write(seconds))
    }

    /// A name or a path as it is shown.
    pub(super) fn text(&self, name: &[u8]) -> String {
        self.options.charset.text(single(&escape(name)).into_owned())
    }

    /// A message, or what the user has typed, as it is shown.
    pub(super) fn message(&self, text: &str) -> String {
        self.options.charset.text(single(&harmless(text.as_bytes())).into_owned())
    }

    /// The absolute path of the current directory, as far as the system has told it.
    pub(super) fn absolute_path(&self) -> Vec<u8> {
        let real = self.selection.protected.real_path(&self.scan.tree, &self.scan.here());
        real.unwrap_or_else(|| self.path())
    }

    /// The path of the current directory, as the user names its root.
    pub(super) fn path(&self) -> Vec<u8> {
        let names = self.shown.way.iter().map(|name| &**name);
        path::join_all([self.scan.tree.root().name()].into_iter().chain(names))
    }

    /// The totals of the current directory.
    pub fn totals(&self) -> Totals {
        self.scan.here().totals()
    }

    /// Whether the space that one inode frees is known: not if symlinks are followed, because they lead to it too, and
    /// not in a list, which has no blocks.
    pub(super) fn knows_freed(&self) -> bool {
        !self.request.walk.rules.follow && !self.is_list()
    }

    /// Whether another program listed the entries.
    pub(super) fn is_list(&self) -> bool {
        self.scan.browsed.as_ref().is_some_and(|browsed| browsed.snapshot.is_list)
    }

    /// Whether the permissions of entries are known, and not only the usual ones.
    pub(super) fn knows_modes(&self) -> bool {
        let browsed = self.scan.browsed.as_ref().filter(|_| !self.is_of_roots());
        let Some(browsed) = browsed else { return cfg!(unix) };
        browsed.snapshot.origin.as_ref().is_some_and(|origin| !origin.lacks_modes)
    }

    /// Whether inodes have their own numbers, and not those of lines in a list.
    pub(super) fn knows_inodes(&self) -> bool {
        !self.is_list() || self.knows_modes()
    }

    /// Whether the scan asked what files share.
    pub(super) fn knows_sharing(&self) -> bool {
        self.request.walk.rules.frees || self.scan.knows_sharing
    }

    /// Whether files may share space in other ways than through links. If not, their links say what marks free.
    fn may_share(&self) -> bool {
        let root = self.scan.tree.root();
        let least = root.totals().frees.map(|frees| frees.least);
        self.knows_sharing() && least != Some(root.freed())
    }

    /// Whether the figures of what is at `place` lack something that could not be read.
    pub(super) fn is_partial(&self, place: Option<Place>) -> bool {
        place.is_some_and(|place| self.scan.partial.has(&self.scan.tree.at(place)))
    }

    /// The same for the total of the marked entries.
    pub(super) fn is_marked_partial(&self) -> bool {
        let Scan { partial, marks, tree, .. } = &self.scan;
        // Looking a file up takes time, and nothing is below it.
        let mut marked = marks.places().map(|place| tree.at(place));
        !partial.is_empty() && marked.any(|child| child.is_directory() && partial.has(&child))
    }

    /// How much removing `item` alone frees.
    pub(super) fn freed(&self, item: &Item<'_>) -> Freeable {
        let most = item.freed();
        // A file that changed since the walk may share its space.
        let least = if self.knows_sharing() { 0 } else { most };
        item.totals.frees.unwrap_or(Freeable { least, most, extents: 0 })
    }

    /// The number of marks, the total of the marked entries, and how much removing them frees; the last two only if all
    /// of it is in memory.
    pub fn marked(&self) -> (usize, Option<(Totals, Option<Freeable>)>) {
        let marks = &self.scan.marks;
        if !self.has_all() {
            return (marks.len(), None);
        }
        let known = self.knows_freed().then(|| marks.freed.freed(self.may_share()));
        (marks.len(), Some((marks.freed.marked(), known)))
    }

    /// How much is available on the file system of the current directory, and how much would be without the marked
    /// entries, if that is known; whether it could be more. None if another file system may be meant.
    pub(super) fn space(&self) -> Option<(Space, Option<(u64, bool)>)> {
        let (here, path) = (self.scan.here(), self.path());
        let asked = self.scan.browsed.iter().flat_map(|browsed| &browsed.file_systems);
        let asked = asked.map(|one| (&*one.root, &one.space));
        let spaces = asked.chain(self.spaces.iter().map(|(root, space)| (&**root, space)));
        let around = spaces.filter(|(root, _)| path::is_within(&path, root));
        let (root, space) = around.max_by_key(|(root, _)| root.len())?;
        let device = here.mounted_device();
        let above = iter::successors(Some(here), Child::parent);
        let root = above.filter(|it| it.is_root()).find(|it| it.name() == root);
        let of_root = root.and_then(|root| root.mounted_device());
        if device.zip(of_root).is_some_and(|(one, other)| one != other) {
            return None;
        }
        let (_, marked) = self.marked();
        let freed = marked.and_then(|(_, freed)| freed).filter(|freed| freed.least > 0);
        let freed = freed.filter(|_| self.measure() == Measure::Disk).filter(|_| {
            let mut around =
                self.scan.marks.places().map(|place| self.scan.tree.at(place).parent());
            around.all(|it| it.is_some_and(|it| it.mounted_device() == device))
        });
        let then = freed.map(|freed| {
            let is_least = freed.least < freed.most || self.is_marked_partial();
            (space.available.saturating_add(freed.least).min(space.size), is_least)
        });
        Some((*space, then))
    }

    /// The paths of all marked entries, as bytes, sorted: the order of the tree depends on the walk.
    pub fn marked_paths(&self) -> Vec<Vec<u8>> {
        let Scan { tree, marks, .. } = &self.scan;
        let here = marks.places().map(|place| tree.at(place).path());
        let mut paths: Vec<_> = here.chain(marks.elsewhere.paths(tree.root().name())).collect();
        paths.sort_unstable();
        paths
    }

    /// The last message.
    pub fn said(&self) -> Option<&str> {
        self.dialogs.said.as_deref()
    }

    /// The paths that could not be read; during a walk, only their number.
    pub(super) fn unread(&self) -> (usize, &[Problem]) {
        match &self.scan.browsed {
            None => (self.walk.progress.problems, &[]),
            Some(browsed) => {
                let problems = &browsed.snapshot.report.problems;
                (problems.len(), problems)
            }
        }
    }

    /// What the last removal left behind, and then why it kept entries.
    pub fn kept(&self) -> &[Problem] {
        &self.removals.problems
    }

    /// Whether a removal or an undo did not do everything; and what is to be said of that after the screen: what stays
    /// under a name that weigh made, and what the screen could not say any more.
    pub fn failed_removals(&self) -> (bool, Vec<Problem>) {
        let Removals { left, problems, has_failed, .. } = &self.removals;
        let unsaid = problems.iter().filter(|it| self.is_quitting() && !left.contains(it));
        (*has_failed, left.iter().chain(unsaid).cloned().collect())
    }

    /// The format of sizes.
    pub(super) fn format(&self) -> Format {
        self.options.format.of(self.measure())
    }

    /// A size, marked if it is a lower bound.
    pub(super) fn sized(&self, size: u64, is_partial: bool) -> String {
        partial::mark(self.format().write(size), is_partial)
    }

    /// What deleting something frees, which may be a lower bound.
    pub(super) fn write_freed(&self, freed: Freeable, is_partial: bool) -> String {
        partial::freed(freed, &self.format(), is_partial)
    }

    /// What sizes measure.
    pub(super) fn measure(&self) -> Measure {
        self.scan.tree.view().measure
    }

    /// The tree; during a walk, only of the current directory.
    pub fn tree(&self) -> &Tree {
        &self.scan.tree
    }
}
