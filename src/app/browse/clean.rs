//! The view "clean": groups, the kinds in each, and the entries of each kind. It lists the same entries as `weigh clean`,
//! by the same rules. They are applied to the scanned tree, so nothing is scanned for it. Then a thread looks at the
//! files that prove each entry.
//!
//! Marking a kind marks its entries. Only entries that may go can be marked here. Before they are removed, the review
//! applies the rules again, and looks for owners and processes in each entry.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::{Arc, LazyLock};
use std::vec;

use super::browser::{Browser, ViewKind};
use super::event::{Command, Recheck};
use super::listing::{Branch, Item, SortedList};
use super::marks::Refusal;
use weigh::internal::ask::reclaimable::{
    EVIDENCE, Findable, Reclaim, ReclaimRule, Reclaimable, RuleTally, Search,
};
use weigh::internal::ask::{Keep, Request};
use weigh::internal::base::interrupt::Interrupt;
use weigh::internal::base::measure::Mode;
use weigh::internal::base::path;
use weigh::internal::scan::filter::Filter;
use weigh::internal::show::reclaimable::{self, BY_PROGRAM, CAN_GO, LOOK_FIRST, from_home};
use weigh::internal::tree::total::{AnyReplay as _, Replay, Shown};
use weigh::internal::tree::{Child, DirectoryId, Freeable, Place, Report, Totals, Tree};

/// How many entries a slice of the tally has, about.
const SLICE: usize = 100_000;

/// The view.
#[derive(Default)]
pub(super) struct CleanView {
    look: CleanLook,
    /// The number of the last look. Results of earlier ones are ignored, because the tree has changed.
    number: u64,
    /// The groups that are folded, and the kinds that are unfolded.
    toggled: BTreeSet<(usize, Option<String>)>,
    /// The current directory before this view was opened, which is of the whole scan.
    pub(super) way: Vec<Vec<u8>>,
}

/// How far the look for what can go is.
#[derive(Default)]
enum CleanLook {
    #[default]
    Unknown,
    /// The rules are applied to the tree, in slices.
    Tallying(Box<RunningTally>),
    /// Files are to be looked at.
    Tallied(Arc<Findable>),
    /// A thread looks at them.
    Finding(Arc<Findable>),
    Known(Arc<Findable>, Vec<CleanGroup>, &'static str),
}

/// The tally of the rules over the tree.
struct RunningTally {
    replay: Replay<RuleTally>,
    /// The open directories, each with those in it that are still to come.
    open: Vec<(DirectoryId, vec::IntoIter<DirectoryId>)>,
}

/// A group of kinds.
struct CleanGroup {
    title: &'static str,
    /// The space that all of it frees together, if it can be marked; or why not.
    frees: Result<Freeable, Refusal>,
    kinds: Vec<CleanKind>,
}

/// Entries of one kind.
struct CleanKind {
    what: String,
    /// How many there are, and where.
    note: String,
    frees: Freeable,
    entries: Vec<CleanEntry>,
}

/// Something that can go, or that is listed beside it.
struct CleanEntry {
    path: Vec<u8>,
    /// Its path from the home directory, as people write it.
    name: Vec<u8>,
    is_directory: bool,
    frees: Freeable,
    written: i64,
    /// Whether a repository is around it, if it is of a project.
    git_state: Option<&'static str>,
    doubt: Option<String>,
    command: Option<String>,
    rule: Arc<ReclaimRule>,
    place: Option<Place>,
}

impl RunningTally {
    fn new(search: &Search, tree: &Tree) -> Self {
        let mut replay = Replay::new(RuleTally::new(search), tree.root_depth(), None);
        let root = tree.root();
        let mut open = Vec::new();
        if let Some(id) = root.id() {
            enter(&mut replay, &mut open, &root, id);
        }
        Self { replay, open }
    }

    /// Looks at the next slice of `tree`. Returns what rules may find if it was the last.
    fn step(mut self: Box<Self>, tree: &Tree) -> Result<Findable, Box<Self>> {
        let mut seen = 0;
        while seen < SLICE {
            let Some((id, inside)) = self.open.last_mut() else {
                return Ok(self.replay.finish(&tree.root().node()).1);
            };
            if let Some(next) = inside.next() {
                seen += 1 + enter(&mut self.replay, &mut self.open, &tree.directory(next), next);
                continue;
            }
            let directory = tree.directory(*id);
            self.open.pop();
            if !self.open.is_empty() {
                self.replay.close(&directory.node(), Shown::Always);
            }
        }
        Err(self)
    }
}

/// Opens a directory, with the entries in it that are no directories. Returns how many these are.
fn enter(
    replay: &mut Replay<RuleTally>,
    open: &mut Vec<(DirectoryId, vec::IntoIter<DirectoryId>)>,
    directory: &Child<'_>,
    id: DirectoryId,
) -> usize {
    replay.open();
    let leaves = directory.leaf_nodes().map(|leaf| replay.leaf(&leaf, true)).count();
    let inside: Vec<_> = directory.directories().filter_map(|it| it.id()).collect();
    open.push((id, inside.into_iter()));
    leaves
}

impl Browser {
    /// Whether this view is shown.
    pub(super) fn is_cleaning(&self) -> bool {
        self.shown.view == ViewKind::Clean && !self.is_searching()
    }

    fn search_of_rules(&self) -> Option<&Arc<Search>> {
        self.options.search.as_deref().map(LazyLock::force)
    }

    /// Why the view cannot be shown, if that is so.
    pub(super) fn lacks_for_clean(&self) -> Option<&'static str> {
        let is_stopped = || {
            let browsed = self.scan.browsed.as_ref();
            browsed.is_some_and(|it| it.snapshot.report.is_interrupted)
        };
        match () {
            () if self.options.search.is_none() || !self.is_of_roots() => {
                Some("only in what has been scanned here")
            }
            () if !self.request.walk.filter.is_off() => {
                Some("a filter is on: it may leave out files that prove what can go")
            }
            () if is_stopped() => Some("not known: the scan was stopped"),
            () => None,
        }
    }

    /// Whether it is still being found out what can go.
    pub(super) fn is_looking_for_unused(&self) -> bool {
        let is_running = matches!(self.clean.look, CleanLook::Tallied(_) | CleanLook::Finding(_));
        is_running || self.is_tallying()
    }

    /// Whether the list of this view is still to come.
    pub(super) fn awaits_unused(&self) -> bool {
        let is_known = matches!(self.clean.look, CleanLook::Known(..));
        self.is_cleaning() && !is_known && self.lacks_for_clean().is_none()
    }

    pub(super) fn is_tallying(&self) -> bool {
        matches!(self.clean.look, CleanLook::Tallying(_))
    }

    /// Whether marks on what rules find are to be checked before they can be removed.
    pub(super) fn has_unchecked_marks(&self) -> bool {
        let is_known = matches!(self.clean.look, CleanLook::Known(..));
        !is_known && !self.selection.by_rules.is_empty() && !self.scan.marks.is_empty()
    }

    /// Begins to look for what can go, or goes on, if that is to be listed, or if marks depend on it.
    pub(super) fn look_for_unused(&mut self) -> Option<Command> {
        let is_wanted = self.is_cleaning() || self.has_unchecked_marks();
        if is_wanted && self.has_all() && self.lacks_for_clean().is_some() {
            // The last scan was stopped.
            self.lose_marks(&BTreeSet::new());
            return None;
        }
        let may_begin = is_wanted && self.has_all() && self.pending.is_none();
        match &self.clean.look {
            CleanLook::Unknown if may_begin => {
                let search = self.search_of_rules()?;
                let tally = RunningTally::new(search, &self.scan.tree);
                self.clean.look = CleanLook::Tallying(Box::new(tally));
                self.tally_unused();
                self.look_for_tallied()
            }
            _ => self.look_for_tallied(),
        }
    }

    fn look_for_tallied(&mut self) -> Option<Command> {
        let CleanLook::Tallied(findable) = &self.clean.look else { return None };
        let findable = Arc::clone(findable);
        let search = Arc::clone(self.search_of_rules()?);
        self.clean.number += 1;
        self.clean.look = CleanLook::Finding(Arc::clone(&findable));
        Some(Command::FindUnused(self.clean.number, findable, search, self.problems()))
    }

    /// The problems of the scan, for the rules.
    fn problems(&self) -> Box<Report> {
        let problems = self.unread().1.to_vec();
        Box::new(Report { problems, ..Report::default() })
    }

    /// Goes on with the tally.
    pub(super) fn tally_unused(&mut self) {
        match mem::take(&mut self.clean.look) {
            CleanLook::Tallying(tally) => {
                self.clean.look = match tally.step(&self.scan.tree) {
                    Ok(findable) => CleanLook::Tallied(Arc::new(findable)),
                    Err(tally) => CleanLook::Tallying(tally),
                };
            }
            other => self.clean.look = other,
        }
    }

    /// Takes the entries that a thread has found. Marks on other entries are lost. A repository is around those in `in_git`.
    pub(super) fn found_unused(
        &mut self,
        number: u64,
        found: Reclaimable,
        in_git: &BTreeSet<Vec<u8>>,
    ) {
        let CleanLook::Finding(findable) = &self.clean.look else { return };
        if number != self.clean.number {
            return;
        }
        let (findable, hint) = (Arc::clone(findable), found.hint);
        let groups = self.groups(&found, in_git);
        let can_go = groups.iter().filter(|group| group.frees.is_ok());
        let can_go = can_go.flat_map(|group| &group.kinds).flat_map(|kind| &kind.entries);
        let can_go: BTreeSet<&[u8]> = can_go.map(|entry| &*entry.path).collect();
        self.lose_marks(&can_go);
        self.clean.look = CleanLook::Known(findable, groups, hint);
        self.relist();
    }

    /// Takes away marks that were set in this view, but for those on entries that still `can_go`.
    fn lose_marks(&mut self, can_go: &BTreeSet<&[u8]>) {
        let gone = self.selection.by_rules.iter().filter(|path| !can_go.contains(&***path));
        let gone: BTreeMap<_, _> = gone.map(|path| (path.clone(), ())).collect();
        let places = self.scan.tree.at_paths(&gone).into_iter().map(|(place, ())| place);
        let lost: Vec<_> = places.filter(|place| self.scan.marks.is_marked(*place)).collect();
        for place in &lost {
            self.scan.marks.unmark(&self.scan.tree, *place);
        }
        self.selection.by_rules.retain(|path| !gone.contains_key(path));
        if !lost.is_empty() {
            self.end_review();
            self.say(format!("marks lost: {} (weigh's rules do not find it any more)", lost.len()));
        }
    }

    /// Forgets what can go, because the tree has changed.
    pub(super) fn forget_unused(&mut self) {
        self.clean.look = CleanLook::Unknown;
    }

    fn groups(&self, found: &Reclaimable, in_git: &BTreeSet<Vec<u8>>) -> Vec<CleanGroup> {
        let groups: [(&str, &[Reclaim], Result<Freeable, Refusal>); 4] = [
            (CAN_GO, &found.found, Ok(found.frees)),
            (
                "Written today",
                &found.recent,
                Err("somebody wrote to it lately: start with --clean --older 0h"),
            ),
            (BY_PROGRAM, &found.by_program, Err("only its own program can remove it")),
            (LOOK_FIRST, &found.others, Err("Enter goes to its place, where it can be marked")),
        ];
        let paths = groups.iter().flat_map(|(_, list, _)| list.iter());
        let paths: BTreeMap<_, _> = paths.map(|one| (one.path.clone(), one.path.clone())).collect();
        let places: BTreeMap<&[u8], Place> =
            self.scan.tree.at_paths(&paths).into_iter().map(|(at, path)| (&**path, at)).collect();
        let groups = groups.into_iter().map(|(title, list, frees)| {
            let mut kinds: BTreeMap<&str, Vec<&Reclaim>> = BTreeMap::new();
            for one in list {
                kinds.entry(&one.rule.what).or_default().push(one);
            }
            let kinds = kinds.into_iter().map(|(what, some)| {
                let together = found.by_kind.get(what).filter(|_| frees.is_ok());
                CleanKind {
                    what: what.to_owned(),
                    note: reclaimable::place_in_words(found, &some, self.options.charset, false),
                    frees: together.copied().unwrap_or_else(|| reclaimable::sum_of(&some)),
                    entries: some
                        .into_iter()
                        .map(|one| entry(one, found, &places, in_git))
                        .collect(),
                }
            });
            let mut kinds: Vec<_> = kinds.collect();
            // Stable, so that equal ones stay in the order of their names.
            kinds.sort_by_key(|kind| Reverse(kind.frees.most));
            CleanGroup { title, frees, kinds }
        });
        groups.filter(|group| !group.kinds.is_empty()).collect()
    }

    /// Lists what can go.
    pub(super) fn list_unused(&mut self) {
        let (items, pattern) = (self.unused(), self.shown.pattern.as_ref());
        let largest = items.iter().filter(|it| it.branch.is_some_and(|it| it.kind.is_some()));
        let largest = largest.filter(|it| it.branch.is_some_and(|it| it.is_summed));
        let largest = largest.map(|it| it.totals.size).max().unwrap_or(0);
        self.scan.index = SortedList::of_others(items, &self.scan.tree, pattern);
        self.scan.index.largest = largest;
    }

    fn unused(&self) -> Vec<Item<'static>> {
        let CleanLook::Known(_, groups, _) = &self.clean.look else { return Vec::new() };
        let mut items = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let is_open = !self.clean.toggled.contains(&(number, None));
            let (is_summed, sum) = (group.frees.is_ok(), group.frees.unwrap_or_default());
            let top = Branch { group: number, is_summed, is_open, ..Branch::default() };
            items.push(item(group.title.as_bytes().to_vec(), String::new(), sum, None, top));
            for (i, kind) in group.kinds.iter().enumerate().filter(|_| is_open) {
                let is_open = self.clean.toggled.contains(&(number, Some(kind.what.clone())));
                let branch = Branch { kind: Some(i), is_open, ..top };
                let written = kind.entries.iter().map(|entry| entry.written).max();
                let name = kind.what.clone().into_bytes();
                items.push(item(name, kind.note.clone(), kind.frees, written, branch));
                for (j, entry) in kind.entries.iter().enumerate().filter(|_| is_open) {
                    let branch = Branch { entry: Some(j), ..branch };
                    let note = [entry.git_state, entry.doubt.as_deref()];
                    let note = note.into_iter().flatten().collect::<Vec<_>>().join(", ");
                    let (name, written) = (entry.name.clone(), Some(entry.written));
                    let mode = if entry.is_directory { Mode::DIRECTORY } else { Mode::default() };
                    let one = item(name, note, entry.frees, written, branch);
                    items.push(Item { place: entry.place, mode, ..one });
                }
            }
        }
        items
    }

    /// The text in place of an empty list.
    pub(super) fn no_unused(&self) -> Option<String> {
        let CleanLook::Known(_, _, hint) = &self.clean.look else { return None };
        Some(format!("found nothing that can be made or downloaded again{hint}"))
    }

    /// Folds or unfolds a line.
    pub(super) fn toggle(&mut self, branch: Branch) {
        let CleanLook::Known(_, groups, _) = &self.clean.look else { return };
        let Some(group) = groups.get(branch.group) else { return };
        let kind = branch.kind.and_then(|kind| group.kinds.get(kind));
        let key = (branch.group, kind.map(|kind| kind.what.clone()));
        if !self.clean.toggled.remove(&key) {
            self.clean.toggled.insert(key);
        }
        self.shown.name = self.scan.name(self.shown.chosen);
        self.relist();
    }

    /// Folds the kind around the chosen line, and chooses it. False if nothing can be folded.
    pub(super) fn fold(&mut self) -> bool {
        let branch = self.item(self.shown.chosen).and_then(|item| item.branch);
        let Some(branch) = branch.filter(|it| it.kind.is_some()) else { return false };
        let around = match branch {
            Branch { entry: None, is_open: true, .. } => branch,
            Branch { entry: None, .. } => return false,
            _ => Branch { entry: None, ..branch },
        };
        let mut lines = (0..self.len()).rev().filter(|line| *line <= self.shown.chosen);
        let line = lines.find(|line| {
            let item = self.item(*line).and_then(|item| item.branch);
            item.is_some_and(|it| {
                (it.group, it.kind, it.entry) == (around.group, around.kind, None)
            })
        });
        self.choose(line.unwrap_or(self.shown.chosen));
        self.toggle(around);
        true
    }

    /// The entries that a line stands for.
    fn entries_of(&self, branch: Branch) -> (Option<&CleanGroup>, Vec<&CleanEntry>) {
        let CleanLook::Known(_, groups, _) = &self.clean.look else { return (None, Vec::new()) };
        let Some(group) = groups.get(branch.group) else { return (None, Vec::new()) };
        let kinds = group.kinds.iter().enumerate();
        let kinds = kinds.filter(|(number, _)| branch.kind.is_none_or(|it| it == *number));
        let entries = kinds.flat_map(|(_, kind)| kind.entries.iter().enumerate());
        let entries = entries.filter(|(number, _)| branch.entry.is_none_or(|it| it == *number));
        (Some(group), entries.map(|(_, entry)| entry).collect())
    }

    /// The places that a line stands for, if they can be marked.
    pub(super) fn places_of(&self, item: &Item<'_>) -> Result<Vec<Place>, Refusal> {
        let Some(branch) = item.branch else {
            return item.place.map(|place| vec![place]).ok_or_else(|| self.refusal_of(item));
        };
        let (group, entries) = self.entries_of(branch);
        let group = group.ok_or("it is not there any more")?;
        if let Some(refusal) = Self::refusal_of_branch(group, branch) {
            return Err(refusal);
        }
        let places: Vec<_> = entries.iter().filter_map(|entry| entry.place).collect();
        if places.len() < entries.len() { Err("it has changed since the scan") } else { Ok(places) }
    }

    /// Whether all that a line stands for is marked, or something of it.
    pub(super) fn are_marked(&self, branch: Branch) -> (bool, bool) {
        let (marks, tree) = (&self.scan.marks, &self.scan.tree);
        if marks.is_empty() {
            // This is asked for each line that is drawn.
            return (false, false);
        }
        let (_, entries) = self.entries_of(branch);
        let is_covered = |place| marks.covers(tree, place);
        let count = entries.iter().filter(|it| it.place.is_some_and(is_covered)).count();
        (count > 0 && count == entries.len(), count > 0)
    }

    /// Remembers that the marks at these places were set because rules find the entries.
    pub(super) fn mark_by_rules(&mut self, places: &[Place]) {
        let tree = &self.scan.tree;
        let marked = places.iter().filter(|place| self.scan.marks.is_marked(**place));
        let paths: Vec<_> = marked.map(|place| tree.at(*place).path()).collect();
        self.selection.by_rules.extend(paths);
    }

    /// The check that the review makes for `marks` that were set in this view, which are given by number and path.
    pub(super) fn recheck(&self, marks: Vec<(usize, Vec<u8>)>) -> Option<Box<Recheck>> {
        let CleanLook::Known(findable, ..) = &self.clean.look else { return None };
        let marks: Vec<_> =
            marks.into_iter().filter(|(_, path)| self.selection.by_rules.contains(path)).collect();
        let search = self.search_of_rules().filter(|_| !marks.is_empty())?;
        let mut walk = self.request.walk.clone();
        walk.filter = Filter::default();
        let keep = Keep::Everything(EVIDENCE);
        Some(Box::new(Recheck {
            findable: Arc::clone(findable),
            search: Arc::clone(search),
            report: self.problems(),
            request: Request {
                keep,
                // Another scan may have been stopped.
                interrupt: Interrupt::default(),
                ..self.request_of(Vec::new(), walk)
            },
            marks,
        }))
    }

    /// What of the chosen directory can go, if the view "clean" has found that out.
    pub(super) fn may_go_inside(&self) -> Option<String> {
        let CleanLook::Known(_, groups, _) = &self.clean.look else { return None };
        let path = self.scan.tree.at(self.item(self.shown.chosen)?.place?).path();
        let entries = groups.iter().filter(|group| group.frees.is_ok()).flat_map(|it| &it.kinds);
        let inside = entries.flat_map(|kind| &kind.entries);
        let inside = inside.filter(|entry| path::is_within(&entry.path, &path));
        let (count, most) = inside.fold((0u64, 0u64), |(count, sum), entry| {
            (count + 1, sum.saturating_add(entry.frees.most))
        });
        let of = if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") };
        (count > 0).then(|| format!("{} in {of}, see clean", self.sized(most, false)))
    }

    /// Entries that the view lists, and not among those that can go, by path: each with its kind and the reason.
    pub(super) fn warnings(&self) -> BTreeMap<Vec<u8>, String> {
        let CleanLook::Known(_, groups, _) = &self.clean.look else { return BTreeMap::new() };
        let mut warnings = BTreeMap::new();
        for group in groups.iter().filter(|group| group.frees.is_err()) {
            for kind in &group.kinds {
                for entry in &kind.entries {
                    let why = match (&entry.doubt, group.title) {
                        (Some(doubt), _) => format!("look first: {}", self.message(doubt)),
                        (None, BY_PROGRAM) => "only its own program can remove it".to_owned(),
                        (None, _) => "written lately".to_owned(),
                    };
                    // A path ends with a slash, so that all below it comes next.
                    let path = [&*entry.path, b"/"].concat();
                    warnings.insert(path, format!("{}: {why}", self.message(&kind.what)));
                }
            }
        }
        warnings
    }

    /// Why a line cannot be marked, and what to do instead.
    fn refusal_of_branch(group: &CleanGroup, branch: Branch) -> Option<Refusal> {
        match group.frees {
            Err(_) if group.title == LOOK_FIRST && branch.entry.is_none() => {
                Some("look first: Enter unfolds it, and on an entry goes to its place")
            }
            refused => refused.err(),
        }
    }

    /// The details of a line of the view.
    pub(super) fn unused_details(&self, branch: Branch) -> Vec<(&'static str, String)> {
        let (group, entries) = self.entries_of(branch);
        let (Some(group), [first, ..]) = (group, &entries[..]) else { return Vec::new() };
        let mut lines = Vec::new();
        if let Some(refusal) = Self::refusal_of_branch(group, branch) {
            lines.push(("not in the sum", refusal.to_owned()));
        }
        if branch.kind.is_none() {
            return lines;
        }
        let ReclaimRule { back, hand, program, doc, .. } = &*first.rule;
        // weigh removes all that may be removed by hand.
        let command = first.command.as_ref().filter(|_| entries.len() == 1 && hand.is_empty());
        let texts = [
            ("why look first", first.doubt.as_ref().filter(|_| entries.len() == 1)),
            // A doubtful entry may hold something that does not come back.
            ("comes back by", Some(back).filter(|_| first.doubt.is_none())),
            ("may go because", Some(hand).filter(|_| first.doubt.is_none())),
            ("only its program", Some(program)),
            ("command", command),
            ("documented at", Some(doc)),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let texts = texts.filter(|(_, text)| !text.is_empty());
        lines.extend(texts.map(|(name, text)| (name, self.message(text))));
        lines
    }
}

fn entry(
    one: &Reclaim,
    all: &Reclaimable,
    places: &BTreeMap<&[u8], Place>,
    in_git: &BTreeSet<Vec<u8>>,
) -> CleanEntry {
    let git_state = if in_git.contains(&one.path) { "git" } else { "no git" };
    CleanEntry {
        path: one.path.clone(),
        name: from_home(&one.path, all),
        is_directory: one.is_directory,
        frees: one.frees,
        written: one.written,
        git_state: one.rule.is_of_project().then_some(git_state),
        doubt: one.doubt.clone(),
        command: one.command.clone(),
        rule: Arc::clone(&one.rule),
        place: places.get(&*one.path).copied(),
    }
}

fn item(
    name: Vec<u8>,
    note: String,
    frees: Freeable,
    newest: Option<i64>,
    branch: Branch,
) -> Item<'static> {
    let size = frees.most;
    let totals = Totals { size, weight: size, newest, frees: Some(frees), ..Totals::default() };
    Item { name: name.into(), note: note.into(), totals, branch: Some(branch), ..Item::default() }
}
