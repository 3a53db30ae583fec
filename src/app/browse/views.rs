//! The views: what they list, the search, and the way from a line into the tree. Each view is computed once for a scan
//! and a directory, and anew when the tree changes.

use std::collections::BTreeMap;
use std::{iter, mem};

use super::browser::{Browser, Dialog, Question, ViewKind, position};
use super::event::Command;
use super::listing::{Item, SortKey, SortedList, Sorting};
use super::marks::names;
use super::pattern::NamePattern;
use super::query::{Answer, RunningQuery, TreeQuery};
use super::removal::NOTHING_MARKED;
use super::update::AFTER_SCAN;
use weigh::internal::ask::{Keep, NO_OWNERS_LISTED};
use weigh::internal::base::inode::{Identity, Links};
use weigh::internal::base::path;
use weigh::internal::show::size::Format;
use weigh::internal::sys;
use weigh::internal::tree::tally::{By, Inodes};
use weigh::internal::tree::{Child, DirectoryId};

/// What an answer belongs to: a directory, the view, the group whose files it lists, and what is searched for.
pub(super) type AnswerKey = (DirectoryId, ViewKind, Option<Vec<u8>>, Option<String>);

/// How many answers are kept.
const MOST_ANSWERS: usize = 20;

/// A search by name.
#[derive(Debug)]
pub(super) struct NameSearch {
    pattern: NamePattern,
    /// The way and the line from where it began.
    from: (Vec<Vec<u8>>, usize),
    /// Whether the first match is to be shown in its directory as soon as it is known.
    is_entered: bool,
    /// The matches, by the names on the path from the root, once one is shown.
    found: Option<Vec<Vec<Vec<u8>>>>,
    shown: usize,
}

impl Browser {
    /// Whether the list is not that of the current directory.
    pub(super) fn is_flat(&self) -> bool {
        self.shown.view != ViewKind::Tree || self.is_searching()
    }

    pub(super) fn is_searching(&self) -> bool {
        self.shown.search.as_ref().is_some_and(|search| search.found.is_none())
    }

    /// What is searched for, until Esc.
    pub(super) fn sought(&self) -> Option<&NamePattern> {
        self.shown.search.as_ref().map(|search| &search.pattern)
    }

    /// Whether a search can go on.
    pub(super) fn has_matches(&self) -> bool {
        self.shown.search.as_ref().is_some_and(|search| search.found.is_some())
    }

    /// The order of the list; none if it is fixed, as that of groups is. Changes are known only in the list of a
    /// directory. Other lists are sorted by size instead.
    pub(super) fn order(&self) -> Option<Sorting> {
        let is_fixed = match self.shown.view {
            ViewKind::Causes | ViewKind::Clean => !self.is_searching(),
            _ => self.lists_groups() || self.is_flat() && self.scan.is_walked_now(),
        };
        let by = match self.shown.sorting.by {
            SortKey::Change if self.is_flat() => SortKey::Size,
            by => by,
        };
        (!is_fixed).then_some(Sorting { by, ..self.shown.sorting })
    }

    /// Whether the lines are groups, and not entries.
    pub(super) fn lists_groups(&self) -> bool {
        let has_groups =
            matches!(self.shown.view, ViewKind::Types | ViewKind::Ages | ViewKind::Owners);
        has_groups && self.shown.group.is_none() && !self.is_searching()
    }

    /// Whether a query is being answered.
    pub fn is_asking(&self) -> bool {
        self.shown.asking.is_some() || self.is_tallying() || self.shown.is_searched_next
    }

    /// Goes to the next view, or the one before.
    pub(super) fn turn(&mut self, by: isize) {
        let kinds: Vec<_> = self.views().map(|(kind, _)| kind).collect();
        let at = kinds.iter().position(|kind| *kind == self.shown.view).unwrap_or(0);
        let to = at.saturating_add_signed(by + kinds.len().cast_signed()) % kinds.len();
        self.show_view(kinds[to]);
    }

    /// Shows another view of the current directory.
    pub(super) fn show_view(&mut self, kind: ViewKind) {
        if self.can_search() {
            self.set_view(kind);
            self.enter(None);
        }
    }

    /// Sets the view. The views "clean" and "marked" are of everything that was scanned, other views are of the current
    /// directory.
    fn set_view(&mut self, kind: ViewKind) {
        let is_of_all = |view| matches!(view, ViewKind::Clean | ViewKind::Marked);
        let (was, is) = (is_of_all(self.shown.view), is_of_all(kind));
        if is && !was {
            self.clean.way = mem::take(&mut self.shown.way);
        } else if was && !is {
            self.shown.way = mem::take(&mut self.clean.way);
        }
        (self.shown.view, self.shown.group) = (kind, None);
    }

    /// Whether everything can be searched, as far as a walk has come; if not, says so.
    pub(super) fn can_search(&mut self) -> bool {
        self.scan.is_walked_now() || self.has_whole_tree()
    }

    /// Whether everything can be searched; if not, says so.
    pub(super) fn has_whole_tree(&mut self) -> bool {
        if self.is_walking() {
            self.say(AFTER_SCAN);
        } else if !self.has_all() {
            self.say("the snapshot is too large: only its directories can be shown");
        }
        self.has_all()
    }

    /// What the view needs and the scan has not, if that is why it lists nothing.
    pub(super) fn lacks(&self) -> Option<&'static str> {
        match self.shown.view {
            _ if self.is_searching() => None,
            ViewKind::Tree | ViewKind::LargestFiles => None,
            _ if self.is_walking() => Some("known once the scan is over"),
            ViewKind::Clean => self.lacks_for_clean(),
            ViewKind::Marked => self.scan.marks.is_empty().then_some(NOTHING_MARKED),
            ViewKind::Ages if !self.has_times() => Some(self.no_times()),
            ViewKind::Owners if self.scan.knows_owners => None,
            ViewKind::Owners if self.is_list() => Some(NO_OWNERS_LISTED),
            ViewKind::Owners if self.may_ask_owners() && self.pending.is_some() => {
                Some("scanning everything again, to find owners …")
            }
            ViewKind::Owners if self.may_ask_owners() => {
                Some("owners are not known yet: Enter scans everything again, and finds them")
            }
            ViewKind::Owners => Some("owners are not in this snapshot: save it with --details"),
            _ => None,
        }
    }

    /// Whether another scan can find the owners that the view needs.
    pub(super) fn may_ask_owners(&self) -> bool {
        let is_shown = self.shown.view == ViewKind::Owners && !self.is_searching();
        is_shown && self.is_of_roots() && self.has_all() && !self.scan.knows_owners
    }

    /// Scans everything again, with owners.
    pub(super) fn ask_owners(&mut self) -> Option<Command> {
        if self.pending.is_some() {
            return self.refuse(AFTER_SCAN);
        }
        if let Keep::Everything(inodes) = &mut self.request.keep {
            *inodes = inodes.and(Inodes::ALL);
        }
        self.scan_all()
    }

    /// What is asked for the list; none where that is known to have no answer.
    fn query(&self) -> Option<TreeQuery> {
        if let Some(search) = self.shown.search.as_ref().filter(|search| search.found.is_none()) {
            return Some(TreeQuery::Named(search.pattern.clone()));
        }
        let by = match self.shown.view {
            ViewKind::Tree | ViewKind::Clean | ViewKind::Marked | ViewKind::Causes => return None,
            _ if self.lacks().is_some() => return None,
            ViewKind::LargestFiles => return Some(TreeQuery::Files),
            ViewKind::Types => By::Type,
            ViewKind::Ages => By::Age { now: sys::now() },
            ViewKind::Owners => By::Owner { name: sys::user_name },
        };
        Some(match &self.shown.group {
            Some(group) => TreeQuery::Group(by, group.clone()),
            None => TreeQuery::Groups(by),
        })
    }

    fn key(&self) -> AnswerKey {
        let search = self.shown.search.as_ref().filter(|_| self.is_searching());
        let text = search.map(|search| search.pattern.text.clone());
        (self.scan.directory, self.shown.view, self.shown.group.clone(), text)
    }

    /// Lists what the view has found, or begins to find it.
    pub(super) fn list_found(&mut self) {
        if self.shown.view == ViewKind::Causes && !self.is_searching() {
            let (causes, pattern) = (self.causes(), self.shown.pattern.as_ref());
            self.scan.index = SortedList::of_others(causes, &self.scan.tree, pattern);
            return;
        }
        if self.scan.is_walked_now() {
            return self.list_so_far();
        }
        if self.is_cleaning() {
            return self.list_unused();
        }
        if self.shown.view == ViewKind::Marked && !self.is_searching() {
            let places: Vec<_> = self.scan.marks.places().collect();
            let sorting = self.order().unwrap_or_default();
            let pattern = self.shown.pattern.as_ref();
            return self.scan.list_found(&places, sorting, pattern);
        }
        let key = self.key();
        let is_free = match &self.shown.asking {
            None => true,
            Some((other, it)) => *other != key && !matches!(it.query, TreeQuery::Links(_)),
        };
        if is_free
            && !self.shown.answers.contains_key(&key)
            && let Some(query) = self.query()
        {
            self.ask(query, self.scan.directory);
        }
        let (sorting, pattern) = (self.order().unwrap_or_default(), self.shown.pattern.as_ref());
        let places = match self.shown.answers.get(&key) {
            Some(Answer::Groups(groups)) => {
                self.scan.index = SortedList::of_others(groups.clone(), &self.scan.tree, pattern);
                return;
            }
            Some(Answer::Entries { places, .. }) => &places[..],
            Some(Answer::SoFar { .. }) | None => &[],
        };
        self.scan.list_found(places, sorting, pattern);
    }

    /// Lists the largest entries that the view has found so far, while the walk goes on.
    fn list_so_far(&mut self) {
        /// More than a screen has, and few enough to be found ten times a second.
        const MOST: usize = 1_000;
        self.shown.is_searched_next = false;
        self.shown.answers.clear();
        let search = self.shown.search.as_ref().filter(|search| search.found.is_none());
        let filter = self.shown.pattern.as_ref();
        let (found, has_more) = match self.query() {
            None => Default::default(),
            Some(_) => {
                let limits = (self.scan.tree.view(), MOST);
                self.walk.top.find(&self.shown.way, limits, |name, is_directory| {
                    let is_meant = search.map_or(!is_directory, |search| {
                        search.pattern.is_match(name, is_directory)
                    });
                    is_meant && filter.is_none_or(|it| it.is_match(name, is_directory))
                })
            }
        };
        let items = found.iter().map(|it| Item {
            name: path::join_all(it.names.iter().map(|name| &**name)).into(),
            mode: it.mode,
            totals: it.totals,
            is_open: it.is_open,
            ..Item::default()
        });
        self.scan.index = SortedList::of_others(items.collect(), &self.scan.tree, None);
        let ways = found.into_iter().map(|it| it.names).collect();
        self.shown.answers.insert(self.key(), Answer::SoFar { ways, has_more });
    }

    /// The names on the path to each entry on a line, from the current directory, if these were found while the walk
    /// goes on.
    pub(super) fn found_so_far(&self) -> Option<&[Vec<Vec<u8>>]> {
        match self.shown.answers.get(&self.key())? {
            Answer::SoFar { ways, .. } if self.scan.is_walked_now() => Some(ways),
            _ => None,
        }
    }

    /// Begins a query, whose first slice may answer it.
    fn ask(&mut self, query: TreeQuery, below: DirectoryId) {
        let running = RunningQuery::new(query, &self.scan.tree, below);
        self.step(self.key(), running);
    }

    /// Goes on with the query.
    pub(super) fn go_on(&mut self) {
        match self.shown.asking.take() {
            Some((key, running)) => self.step(key, running),
            None if self.shown.is_searched_next => self.shown.is_searched_next = false,
            None => return self.tally_unused(),
        }
        if self.shown.asking.is_some() {
            return;
        }
        self.relist();
        self.accept_entered_search();
    }

    /// Shows the first match in its directory, if Enter was pressed before it was known.
    pub(super) fn accept_entered_search(&mut self) {
        let search = self.shown.search.as_ref();
        if search.is_some_and(|search| search.is_entered && search.found.is_none()) {
            self.accept_search();
        }
    }

    /// Looks at the next slice, and takes the answer if it was the last.
    fn step(&mut self, key: AnswerKey, mut running: RunningQuery) {
        if running.step(&self.scan.tree) {
            self.shown.asking = Some((key, running));
            return;
        }
        let below = running.below;
        let (query, answer) = running.answer(&self.scan.tree);
        let root = self.scan.tree.root().id().unwrap_or_default();
        match (query, answer) {
            (TreeQuery::Links(_), Answer::Entries { places, has_more }) => {
                let marks = &self.scan.marks;
                let unmarked = places.into_iter().filter(|place| !marks.is_marked(*place));
                let what = if has_more { " of its links; it has more" } else { " of its links" };
                self.mark_places(unmarked.map(Ok).collect(), what);
            }
            (query @ TreeQuery::Named(_), Answer::Entries { places, .. })
                if places.is_empty() && below != root =>
            {
                self.ask(query, root);
            }
            (_, answer) => {
                if self.shown.answers.len() >= MOST_ANSWERS {
                    self.shown.answers.clear();
                }
                self.shown.answers.insert(key, answer);
            }
        }
    }

    /// Forgets what was found, because the tree has changed.
    pub(super) fn forget_found(&mut self) {
        (self.shown.asking, self.shown.is_searched_next) = (None, false);
        self.shown.answers.clear();
        self.forget_unused();
    }

    /// Shows where an entry is in the tree.
    fn show_at(&mut self, mut way: Vec<Vec<u8>>) {
        let name = way.pop();
        self.set_view(ViewKind::Tree);
        self.shown.way = way;
        self.enter(name);
    }

    /// Goes to what could not be read, from its line in the list of errors. False if it is not in the tree.
    pub(super) fn show_unread(&mut self, line: usize) -> bool {
        let Some(problem) = self.unread().1.get(line) else { return false };
        let path = BTreeMap::from([(problem.path.clone(), ())]);
        if !self.has_whole_tree() {
            return false;
        }
        let tree = &self.scan.tree;
        let Some((place, ())) = tree.at_paths(&path).pop() else {
            self.say("nothing of it is in the tree");
            return false;
        };
        self.show_at(names(&tree.at(place)));
        true
    }

    /// Goes from a line that is not in the list of a directory to what it stands for.
    pub(super) fn follow_line(&mut self) {
        let Some(item) = self.item(self.shown.chosen) else { return };
        match item.place {
            _ if self.is_searching() => self.accept_search(),
            None if let Some(branch) = item.branch.filter(|it| it.entry.is_none()) => {
                self.toggle(branch);
            }
            None if item.branch.is_some() => self.say("it has changed since the scan"),
            None if self.found_so_far().is_some() => {
                self.way_to(&item).into_iter().for_each(|way| self.show_at(way));
            }
            Some(place) => self.show_at(names(&self.scan.tree.at(place))),
            None if self.shown.group.is_some() => self.say(self.refusal_of(&item)),
            None => {
                self.shown.group = Some(item.name.to_vec());
                self.enter(None);
            }
        }
    }

    /// Goes back from the files of a group to the groups, and from a view to the tree. False if it is the tree already.
    pub(super) fn leave_view(&mut self) -> bool {
        if self.is_searching() {
            self.cancel_search();
        } else if let Some(group) = self.shown.group.take() {
            self.enter(Some(group));
        } else if self.shown.view != ViewKind::Tree {
            self.set_view(ViewKind::Tree);
            self.enter(None);
        } else {
            return false;
        }
        true
    }

    /// Asks for the text to search, also if the search comes later: its letters must do nothing else.
    pub(super) fn begin_search(&mut self) {
        self.can_search();
        self.shown.search = None;
        self.dialogs.open = Some(Dialog::Prompt(Question::Search, String::new()));
    }

    /// Searches for what has been typed so far.
    pub(super) fn search(&mut self, text: &str) {
        if text.is_empty() {
            return self.cancel_search();
        }
        if !self.can_search() {
            return;
        }
        let pattern = match NamePattern::parse(text) {
            Ok(pattern) => pattern,
            Err(why) => return self.say(why),
        };
        let from = self.shown.search.take().map(|search| search.from);
        let from = from.unwrap_or_else(|| (self.shown.way.clone(), self.shown.chosen));
        self.shown.asking = None;
        let (is_entered, found, shown) = (false, None, 0);
        self.shown.search = Some(NameSearch { pattern, from, is_entered, found, shown });
        if self.scan.is_walked_now() {
            // All letters that have been typed come first: it may take longer than to type one.
            (self.shown.chosen, self.shown.first, self.shown.name) = (0, 0, None);
            self.shown.pattern = None;
            self.shown.is_searched_next = true;
        } else {
            self.enter(None);
        }
    }

    /// Ends the search, and goes back to where it began.
    pub(super) fn cancel_search(&mut self) {
        self.shown.asking = None;
        if let Some(NameSearch { from: (way, chosen), .. }) = self.shown.search.take() {
            self.shown.way = way;
            self.enter(None);
            self.pin(chosen);
        }
    }

    /// Shows the chosen match in its directory, now or as soon as it is known.
    pub(super) fn accept_search(&mut self) {
        let key = self.key();
        let Some(search) = &mut self.shown.search else { return };
        search.is_entered = true;
        let found: Vec<_>;
        (found, search.shown) = match self.shown.answers.get(&key) {
            _ if self.shown.is_searched_next => return,
            Some(Answer::Entries { places, .. }) => {
                // The list may be in another order.
                let chosen = self.scan.item(self.shown.chosen).and_then(|item| item.place);
                let shown = places.iter().position(|place| Some(*place) == chosen).unwrap_or(0);
                (places.iter().map(|place| names(&self.scan.tree.at(*place))).collect(), shown)
            }
            Some(Answer::SoFar { ways, .. }) => {
                let above = &self.shown.way;
                (ways.iter().map(|it| [above, &**it].concat()).collect(), self.shown.chosen)
            }
            _ => return,
        };
        let is_empty = found.is_empty();
        search.found = Some(found);
        if is_empty {
            self.cancel_search();
            return self.say("no name matches");
        }
        self.go_to_match(0);
    }

    /// How many names match, of which the list may have only the largest; and whether all are elsewhere, because no name
    /// below the current directory matches.
    pub(super) fn found(&self) -> String {
        let (first, has_more) = match self.shown.answers.get(&self.key()) {
            Some(Answer::Entries { places, has_more }) => (places.first(), *has_more),
            Some(Answer::SoFar { has_more, .. }) => (None, *has_more),
            _ => (None, false),
        };
        let is_here = |child: Child<'_>| {
            iter::successors(Some(child), Child::parent).any(|it| it.id() == self.scan.here().id())
        };
        let more = if has_more { "more than " } else { "" };
        let listed = Format::Count.write(self.len() as u64);
        match first.is_none_or(|place| is_here(self.scan.tree.at(*place))) {
            true => format!("{more}{listed} found"),
            false => format!("none here, {more}{listed} elsewhere"),
        }
    }

    /// Goes so many matches on, or back.
    pub(super) fn go_to_match(&mut self, by: isize) {
        let Some(search) = &mut self.shown.search else { return };
        let Some(found) = &search.found else { return };
        let all = found.len();
        let shown = search.shown.saturating_add_signed(by + all.cast_signed()) % all.max(1);
        search.shown = shown;
        let text = search.pattern.text.clone();
        let Some(way) = found.get(shown).cloned() else { return };
        self.show_at(way.clone());
        let is_there = way.split_last().is_some_and(|(name, above)| {
            above == self.shown.way && self.scan.here().unsorted().any(|it| it.name() == name)
        });
        let text = self.message(&text);
        let position = position(shown + 1, all);
        let gone = if is_there { "" } else { " (gone)" };
        self.say(format!("{position}{gone}: {text}; n N go on"));
    }

    /// Marks all links to the inode of the chosen line.
    pub(super) fn mark_links(&mut self) {
        if !self.has_whole_tree() {
            return;
        }
        match self.item(self.shown.chosen).and_then(|item| linked(&item)) {
            Some(inode) if self.shown.asking.is_none() => {
                let root = self.scan.tree.root().id().unwrap_or_default();
                self.ask(TreeQuery::Links(inode), root);
            }
            Some(_) => self.say("once the list is complete"),
            None => self.say("it has no other links"),
        }
    }
}

/// The inode of an entry that has several links.
fn linked(item: &Item<'_>) -> Option<Identity> {
    let inode = item.inode.filter(|_| !item.is_directory())?;
    matches!(inode.links, Links::Of(2..)).then_some(inode.identity)
}
