//! A node at its place in a tree: what its record says, what is around it, and its children in an order.

use std::cmp::{Ordering, Reverse};
use std::iter;

use super::{DirectoryId, Inode, Named, Node, Place, Shape, Totals, Tree, record};
use crate::base::inode::{Links, MountedDevice};
use crate::base::measure::{Change, Figures, Kind, Mode, View};
use crate::base::path;

/// The order of siblings. Equal ones are in the order of rank, then of name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Those that rank highest in the tree's view first: the largest, or the newest.
    #[default]
    Size,
    /// By name, as bytes.
    Name,
    /// The one with the most inodes first.
    Count,
    /// In the order of this list of names; all others come last.
    Listed(&'static [&'static str]),
}

/// A node at its place in a [`Tree`], in a view of it.
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    pub(super) tree: &'a Tree,
    /// It begins with the node's record.
    pub(super) block: &'a [u8],
    size: u64,
    newest: Option<i64>,
    /// Whether its record says how it changed.
    has_change: bool,
    /// The directory itself, or the one that contains the leaf.
    directory: DirectoryId,
    is_leaf: bool,
}

/// Of a leaf, the name, the size in the view, and the packed record.
pub type LeafRecord<'a> = (&'a [u8], u64, &'a [u8]);

impl<'a> Child<'a> {
    #[inline]
    pub(super) fn new(
        tree: &'a Tree,
        block: &'a [u8],
        (figures, has_change): (Figures, bool),
        directory: DirectoryId,
        is_leaf: bool,
    ) -> Self {
        let (size, newest) = (tree.view.size(&figures), figures.newest);
        Self { tree, block, size, newest, has_change, directory, is_leaf }
    }

    /// Its name, as bytes.
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        record::name(self.block)
    }

    /// Its size, as the view measures it.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// In a comparison, how it changed.
    #[inline]
    pub fn change(&self) -> Option<Change<'a>> {
        if self.has_change { record::change(self.block) } else { None }
    }

    /// What the largest are chosen by ([`View::rank`]).
    #[inline]
    fn rank(&self) -> i128 {
        let weight = self.change().map_or(self.size, |change| change.churn);
        self.tree.view.rank_of(weight, self.newest)
    }

    /// File type and permissions.
    #[inline]
    pub fn mode(&self) -> Mode {
        record::mode(self.block)
    }

    /// Whether it is a directory.
    #[inline]
    pub fn is_directory(&self) -> bool {
        !self.is_leaf && self.mode().kind() == Kind::Directory
    }

    /// Whether it is a file that is called like a snapshot.
    pub fn seems_snapshot(&self) -> bool {
        self.mode().kind() == Kind::File && self.name().ends_with(b".weigh")
    }

    /// Whether it is the node above several roots, which has no name.
    pub fn is_total(&self) -> bool {
        !self.is_leaf && self.directory == self.tree.root_id() && self.name().is_empty()
    }

    /// Whether it is a root that was given, or the node above several.
    pub fn is_root(&self) -> bool {
        self.parent().is_none_or(|parent| parent.is_total())
    }

    /// Its name, or what the node above several roots is called.
    pub fn shown_name(&self) -> &'a [u8] {
        if self.is_total() { b"(total)" } else { self.name() }
    }

    /// What JSON calls its kind.
    pub fn kind(&self) -> &'static str {
        match self.change() {
            _ if self.is_total() => "total",
            Some(change) => change.kind_name(),
            None if self.is_group() => "group",
            None => self.mode().kind().name(),
        }
    }

    /// Whether it is a group, and not an entry.
    pub fn is_group(&self) -> bool {
        self.tree.shape == Shape::Groups && self.directory != self.tree.root_id()
    }

    /// Everything that is known about it.
    pub fn node(&self) -> Node<'a> {
        let mut block = self.block;
        let node = if self.is_leaf {
            record::take(&mut block)
        } else {
            record::take_directory(&mut block)
        };
        let mut node = node.unwrap_or_default();
        if let Some(frees) = node.sums.frees {
            let frees = frees.reproducible(&node.sums, || self.tree.has_too_many_extents());
            node.sums.frees = Some(frees);
        }
        node
    }

    /// What it comes to in the view.
    pub fn totals(&self) -> Totals {
        self.node().totals_in(self.tree.view)
    }

    /// The size of a directory without its content, if it counts.
    pub fn own(&self) -> Option<u64> {
        self.node().own.map(|own| self.tree.view.size(&own))
    }

    /// The tree that it is in.
    pub fn tree(&self) -> &'a Tree {
        self.tree
    }

    /// The view in which it is seen.
    pub fn view(&self) -> View {
        self.tree.view
    }

    /// Its inode, if it is kept.
    pub fn inode(&self) -> Option<Inode> {
        self.node().inode
    }

    /// The mount and the device that it is on, if they are known.
    pub fn mounted_device(&self) -> Option<MountedDevice> {
        Some(self.inode()?.identity.mounted_device())
    }

    /// Its number, if it is a directory.
    pub fn id(&self) -> Option<DirectoryId> {
        (!self.is_leaf).then_some(self.directory)
    }

    /// Where it is; none where no number can say that, in a directory whose entries take more than 4 GiB.
    pub fn place(&self) -> Option<Place> {
        let block = self.tree.block(self.directory);
        // Its own block goes on to the end of the directory's.
        let offset = if self.is_leaf { block.len().checked_sub(self.block.len())? } else { 0 };
        Some(Place { directory: self.directory, offset: u32::try_from(offset).ok()? })
    }

    /// The directory that contains it; none for a root.
    pub fn parent(&self) -> Option<Child<'a>> {
        let DirectoryId(number) = self.directory;
        let up = if self.is_leaf { 0 } else { self.tree.directories.get(number as usize)?.up };
        let parent = DirectoryId(number.checked_add(up)?);
        (self.is_leaf || up > 0).then(|| self.tree.directory(parent))
    }

    /// Its path: all [names](Self::names).
    pub fn path(&self) -> Vec<u8> {
        path::join_all(self.names())
    }

    /// The names on the path to it, that of the root first.
    pub fn names(&self) -> Vec<&'a [u8]> {
        let up = iter::successors(Some(*self), Child::parent);
        let mut names: Vec<_> = up.map(|node| node.name()).collect();
        names.reverse();
        names
    }

    /// Its entries that are not directories, in no particular order.
    pub fn leaves(self) -> impl Iterator<Item = Child<'a>> {
        self.leaves_in(self.packed_leaves())
    }

    /// Leaves of it, whose packed records are `rest`.
    pub(super) fn leaves_in(self, mut rest: &'a [u8]) -> impl Iterator<Item = Child<'a>> {
        iter::from_fn(move || {
            let block = rest;
            let (_, figures) = record::take_brief(&mut rest)?;
            Some(Child::new(self.tree, block, figures, self.directory, true))
        })
    }

    /// The records of its entries that are not directories.
    pub fn leaf_records(self) -> impl Iterator<Item = LeafRecord<'a>> {
        let mut rest = self.packed_leaves();
        iter::from_fn(move || {
            let begin = rest;
            let (name, (figures, _)) = record::take_brief(&mut rest)?;
            let (record, _) = begin.split_at(begin.len() - rest.len());
            Some((name, self.tree.view.size(&figures), record))
        })
    }

    /// The same entries, as their records have them, each unpacked once. Unlike that of [`Self::node`], `frees` is not
    /// for showing: with too many extents it depends on the threads.
    pub fn leaf_nodes(self) -> impl Iterator<Item = Node<'a>> {
        record::leaves(self.packed_leaves())
    }

    /// Their records.
    pub(super) fn packed_leaves(self) -> &'a [u8] {
        if self.is_leaf { &[] } else { record::split(self.block).1 }
    }

    /// How much deleting it alone frees at most, judging by link counts.
    pub fn freed(self) -> u64 {
        let node = self.node();
        let links = node.inode.map_or(Links::Alone, |inode| inode.links);
        node.sums.totals_in(self.view()).freed(self.is_directory(), links)
    }

    /// What counts at and below it: each directory's own figures, and those of every other entry. With its inode, if
    /// that may have other links.
    pub fn counted(self) -> impl Iterator<Item = (Figures, Option<Inode>)> {
        let leaf = self.is_leaf.then(|| self.node().counted());
        leaf.into_iter().chain(self.all_directories().flat_map(Child::counted_here))
    }

    /// The same of a directory without its subdirectories.
    pub fn counted_here(self) -> impl Iterator<Item = (Figures, Option<Inode>)> {
        let own = self.node().own.map(|own| (own, None));
        own.into_iter().chain(self.leaf_nodes().map(|leaf| leaf.counted()))
    }

    /// Its subdirectories, in no particular order.
    pub fn directories(self) -> impl Iterator<Item = Child<'a>> {
        let ids = self.id().into_iter().flat_map(|id| self.tree.subdirectories(id));
        ids.map(|id| self.tree.directory(id))
    }

    /// How many directories are below it.
    pub fn directories_below(&self) -> u64 {
        self.id().map_or(0, |id| self.tree.below(id))
    }

    /// This directory and all below it, each after everything below it.
    pub fn all_directories(self) -> impl DoubleEndedIterator<Item = Child<'a>> {
        self.all_directories_from(0)
    }

    /// The same without the first `skipped`.
    pub fn all_directories_from(self, skipped: u64) -> impl DoubleEndedIterator<Item = Child<'a>> {
        let DirectoryId(last) = self.directory;
        let first = u64::from(last).saturating_sub(self.directories_below());
        let first = first.saturating_add(skipped);
        let row = if self.is_leaf { 0..0 } else { first..u64::from(last) + 1 };
        row.map(move |number| self.tree.directory(DirectoryId(number as u32)))
    }

    /// The number of entries that removing it removes: itself, and all in it. Each link is one. A directory that a
    /// filter leaves out stays, and so does every directory above it.
    pub fn removable(self) -> u64 {
        if self.is_leaf {
            return 1;
        }
        let (mut entries, mut kept) = (0, None);
        for directory in self.all_directories() {
            let last = directory.directory.index() as u64;
            if directory.node().own.is_none() {
                kept = Some(last);
            }
            // The directories below it are right before it.
            let is_removed = kept.is_none_or(|kept| kept + directory.directories_below() < last);
            entries += u64::from(is_removed) + directory.leaf_nodes().count() as u64;
        }
        entries
    }

    /// Its entries, in no particular order.
    pub fn unsorted(self) -> impl Iterator<Item = Child<'a>> {
        self.directories().chain(self.leaves())
    }

    /// Its entries, in `order`.
    pub fn children(self, order: Order) -> Vec<Child<'a>> {
        let mut children: Vec<_> = self.unsorted().collect();
        match order {
            Order::Size => children.sort_unstable_by(Child::compare),
            Order::Name => children.sort_unstable_by_key(Child::name),
            Order::Count => children.sort_by_cached_key(|child| {
                (Reverse(child.totals().entries), Reverse(child.rank()), child.name())
            }),
            Order::Listed(names) => children.sort_by_cached_key(|child| {
                let place = names.iter().position(|name| name.as_bytes() == child.name());
                (place.unwrap_or(names.len()), Reverse(child.rank()), child.name())
            }),
        }
        children
    }

    /// Compares by rank, highest first, and then by name. A damaged snapshot may have two siblings with one name: the
    /// one with more directories below it comes first, and equal ones stay in their order.
    #[inline]
    pub fn compare(&self, other: &Self) -> Ordering {
        let by_rank = other.rank().cmp(&self.rank());
        by_rank.then_with(|| self.name().cmp(other.name())).then_with(|| {
            // Content::append_directories keeps the order of equally many only. The blocks of two leaves in a
            // directory end where its block does.
            let [one, two] = [self, other]
                .map(|it| (Reverse(it.directories_below()), it.directory, Reverse(it.block.len())));
            one.cmp(&two)
        })
    }
}

impl Named for Child<'_> {
    fn name(&self) -> &[u8] {
        Child::name(self)
    }
}
