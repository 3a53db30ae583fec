//! What is shown: the tree with its marks, and the list of the current directory.

use std::{iter, mem};

use super::listing::{Item, SortedList, Sorting, below};
use super::marks::{Marks, descend};
use super::pattern::NamePattern;
use weigh::internal::ask::Outcome;
use weigh::internal::base::measure::View;
use weigh::internal::from::snapshot::{self, SavedListings, Snapshot};
use weigh::internal::show::partial::Partial;
use weigh::internal::tree::{Child, DirectoryId, Place, Tree};

/// A walk, a finished walk or a snapshot, and the marks in it.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The result, without its tree. None until the walk has ended, or the snapshot is loaded.
    pub(super) browsed: Option<Outcome>,
    /// The snapshot, as long as only its listings are read.
    pub(super) listings: Option<Box<SavedListings>>,
    /// Empty if nothing could be read. During the walk, and with listings, it has only the current directory, and those
    /// that lead to it.
    pub(super) tree: Tree,
    /// What could not be read.
    pub(super) partial: Partial,
    /// The current directory.
    pub(super) directory: DirectoryId,
    pub(super) index: SortedList,
    pub(super) marks: Marks,
    /// Whether it was asked what files share.
    pub(super) knows_sharing: bool,
    /// Whether it has the owner of each file.
    pub(super) knows_owners: bool,
}

impl Scan {
    /// The result of a walk, or a snapshot.
    pub(super) fn of(mut browsed: Outcome) -> Self {
        let tree = browsed.snapshot.report.answer.take().unwrap_or_default();
        let tree = tree.in_view(browsed.snapshot.view);
        // A directory that is in several snapshots has no figures of its own, but its files have.
        let file = tree.root().all_directories().flat_map(Child::leaf_nodes).next();
        let nodes = [Some(tree.root().node()), file];
        let knows_sharing = nodes.iter().flatten().any(|node| node.sums.frees.is_some());
        let inode = file.and_then(|file| file.inode);
        let knows_owners = inode.is_some_and(|inode| inode.details.is_some());
        let partial = Partial::of(&browsed.snapshot.report);
        let browsed = Some(browsed);
        Self { browsed, tree, partial, knows_sharing, knows_owners, ..Self::default() }
    }

    /// Shows the current directory of a walk as it is now, or of a snapshot.
    pub(super) fn show(&mut self, tree: Tree) {
        let named = self.marks.named(&self.tree);
        self.tree = tree.in_view(self.tree.view());
        self.knows_sharing = self.tree.root().totals().frees.is_some();
        let (marks, elsewhere) = Marks::find(&self.tree, named, |_| true);
        self.marks = marks;
        self.marks.elsewhere = elsewhere;
    }

    /// Goes to the directory at the path `way`; if it is gone, shortens `way` to that of the innermost one that is
    /// there.
    pub(super) fn go(&mut self, way: &mut Vec<Vec<u8>>) {
        self.directory = loop {
            match descend(&self.tree, way).and_then(|directory| directory.id()) {
                Some(id) => break id,
                None if way.is_empty() => break self.tree.root().id().unwrap_or_default(),
                None => _ = way.pop(),
            }
        };
    }

    /// Lists the current directory, which is at the path `way`; perhaps beside what it was before.
    pub(super) fn list(
        &mut self,
        way: &[Vec<u8>],
        has_changes: bool,
        sorting: Sorting,
        pattern: Option<&NamePattern>,
    ) {
        let before = self.browsed.as_ref().and_then(|browsed| browsed.before.as_ref());
        let before = before.filter(|_| has_changes).map(|before| descend(before, way));
        self.index = SortedList::new(self, None, (sorting, pattern), before);
    }

    /// Lists what was found in the current directory.
    pub(super) fn list_found(
        &mut self,
        found: &[Place],
        sorting: Sorting,
        pattern: Option<&NamePattern>,
    ) {
        self.index = SortedList::new(self, Some(found), (sorting, pattern), None);
    }

    /// Has the earlier scan `before` to be compared with.
    pub(super) fn compare_with(&mut self, before: Snapshot) {
        let Some(browsed) = &mut self.browsed else { return };
        let view = before.view;
        // The name of its root tells which problems both have.
        browsed.snapshot.report.answer = Some(mem::take(&mut self.tree));
        let doubts = snapshot::doubts(&before, &browsed.snapshot, false);
        browsed.compare_with(before, doubts);
        self.tree = browsed.snapshot.report.answer.take().unwrap_or_default();
        self.set_view(view);
    }

    /// The entry on a line of the list.
    pub(super) fn item(&self, line: usize) -> Option<Item<'_>> {
        let item = self.index.item(&self.tree, line)?;
        let is_open = item.place.is_some_and(|place| self.is_open(&self.tree.at(place)));
        Some(Item { is_open: item.is_open || is_open, ..item })
    }

    /// What a line is found by when the list is another.
    pub(super) fn name(&self, line: usize) -> Option<Vec<u8>> {
        self.index.name(&self.tree, self.directory, line)
    }

    /// The names on the path from the current directory to `item`: several where directories share a line.
    pub(super) fn names(&self, item: &Item<'_>) -> Vec<&[u8]> {
        let place = item.place.map(|place| self.tree.at(place));
        place.map_or_else(Vec::new, |last| below(&last, self.directory))
    }

    /// Whether `child` is a directory that is still open: nothing is known of it then, but what it comes to so far.
    pub(super) fn is_open(&self, child: &Child<'_>) -> bool {
        self.is_walked_now() && child.is_directory() && child.inode().is_none()
    }

    /// Whether the tree is of a walk that goes on.
    pub(super) fn is_walked_now(&self) -> bool {
        self.browsed.is_none() && self.listings.is_none()
    }

    /// The directory that shares the line of `directory`: its only entry, if nothing is to be said of `directory`
    /// alone. What it lacks is not in the figures of that entry.
    pub(super) fn only_directory<'t>(&'t self, directory: Child<'t>) -> Option<Child<'t>> {
        let mut directories = directory.directories();
        let only = directories.next().filter(|_| directories.next().is_none())?;
        let says_more = !directory.node().note.is_empty()
            || directory.leaf_nodes().next().is_some()
            || self.partial.has(&directory) && !self.partial.has(&only);
        (!says_more).then_some(only)
    }

    /// Whether the current directory, or one above it, is marked.
    pub(super) fn is_within_marked(&self) -> bool {
        let here = self.directory.into();
        self.marks.is_marked(here) || self.marks.is_held(&self.tree, here)
    }

    /// The current directory.
    pub(super) fn here(&self) -> Child<'_> {
        self.tree.directory(self.directory)
    }

    /// Sees everything in another `view`.
    pub(super) fn set_view(&mut self, view: View) {
        let before = self.browsed.iter_mut().flat_map(|browsed| &mut browsed.before);
        for tree in iter::once(&mut self.tree).chain(before) {
            *tree = mem::take(tree).in_view(view);
        }
        self.marks.add_up(&self.tree);
    }
}
