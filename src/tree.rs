//! The tree that a walk results in. Every picture and all JSON are made from it, and snapshots are compared by it. It
//! is packed, with one block for each directory: its own record and those of its leaves.
//!
//! Directories are in one list, each after everything below it, so that a subtree is a slice of the list. They refer
//! to each other by distances, so a subtree can be moved to another place, or to another tree, without change. This
//! takes 32 bytes for each directory besides its block. To drop a tree is to drop a list of blocks, however deep it
//! is.

mod alike;
mod content;
pub mod digest;
mod edit;
mod freeable;
pub mod record;
mod traversal;

use std::cmp::{Ordering, Reverse};
use std::iter;
use std::ops::RangeInclusive;

use crate::inode::{Identity, Links, MountedDevice};
use crate::measure::{Change, Figures, Kind, Mode, View};
use crate::path;
use crate::sys::Stat;

pub use alike::Alike;
pub use content::Content;
pub use freeable::{FEW_EXTENTS, Freeable, LEAST_ASKED, MOST_EXTENTS};
pub use traversal::{Named, Step, Traversal};

/// A directory and what is kept of its content, or a root that is not a directory.
#[derive(Debug, Default)]
pub struct Tree {
    /// The root is the last.
    directories: Vec<PackedDirectory>,
    shape: Shape,
    view: View,
}

/// The number of a directory in its tree. Valid until something in the tree is replaced or removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId(u32);

/// Where a node is in its tree, as long as nothing in that is replaced or removed. What is below a directory comes
/// before the places of all that comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The directory that it is, or that it is a leaf in.
    directory: DirectoryId,
    /// Where in the block of that it begins: a directory's own record comes first.
    offset: u32,
}

/// There can be at most four billion directories, which would take 200 GB.
#[derive(Clone, Debug)]
struct PackedDirectory {
    /// How many directories are below it. They are right before it in the list.
    below: u32,
    /// How many places after it its parent is; 0 for the root.
    up: u32,
    /// Its record and those of its leaves.
    block: Box<[u8]>,
}

/// What the names in a [`Tree`] mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Entries of a directory.
    #[default]
    Directory,
    /// Paths below the root, in a flat list of leaves.
    List,
    /// Names of groups, whose entries are anywhere below the root.
    Groups,
}

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
    tree: &'a Tree,
    /// It begins with the node's record.
    block: &'a [u8],
    size: u64,
    newest: Option<i64>,
    /// Whether its record says how it changed.
    has_change: bool,
    /// The directory itself, or the one that contains the leaf.
    directory: DirectoryId,
    is_leaf: bool,
}

/// What is known about a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its name, as bytes: a root's path as given; empty for the node above several roots; in a flat list, the
    /// path below the root.
    pub name: &'a [u8],
    /// File type and permissions.
    pub mode: Mode,
    /// What a directory comes to without its content, if it counts.
    pub own: Option<Figures>,
    /// What it comes to, whatever is kept of its content.
    pub sums: Sums,
    /// Its inode, if it is known.
    pub inode: Option<Inode>,
    /// What tells it from whatever else may come to have its name, if that is kept ([`Stat::fingerprint`]).
    pub fingerprint: Option<u32>,
    /// In a comparison, how it changed.
    pub change: Option<Change<'a>>,
    /// What is known of a directory beside its name, in a few words that are safe to print; mostly empty.
    pub note: &'a str,
}

impl Node<'_> {
    /// When it was last modified, if that is kept.
    pub fn modified(&self) -> Option<i64> {
        let details = self.inode.and_then(|inode| inode.details);
        let itself = match self.mode.kind() {
            Kind::Directory => self.own.and_then(|own| own.newest),
            _ => self.sums.all.newest,
        };
        details.map(|details| details.modified).or(itself)
    }
}

/// What a node comes to, every inode once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Its figures and those of all below it.
    pub all: Figures,
    /// The part of these in inodes that also have links outside it.
    pub shared: Figures,
    /// The inodes below it, itself included, counted or not.
    pub entries: u64,
    /// What deleting it frees, if that was asked for.
    pub frees: Option<Freeable>,
}

/// What a view shows of [`Sums`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The figure that the view measures.
    pub size: u64,
    /// What bars compare ([`View::weight`]).
    pub weight: u64,
    /// The inodes counted, itself included; in a comparison, those that changed.
    pub entries: u64,
    /// The part of `size` in inodes that also have links outside it; times are not shared.
    pub shared: u64,
    /// The newest time, if times are kept.
    pub newest: Option<i64>,
    /// What deleting it frees, if that was asked for.
    pub frees: Option<Freeable>,
}

impl Totals {
    /// How much deleting it alone frees at most, judging by the `links` of its inode, if it is no directory.
    pub fn freed(&self, is_directory: bool, links: Links) -> u64 {
        match links {
            _ if is_directory => self.size.saturating_sub(self.shared),
            Links::Alone | Links::Of(1) => self.size,
            _ => 0,
        }
    }
}

impl Sums {
    /// Those of one inode.
    pub fn of(all: Figures) -> Self {
        Self { all, entries: 1, ..Self::default() }
    }

    /// What `view` shows of them.
    pub fn seen_as(&self, view: View) -> Totals {
        let Self { all, shared, entries, frees } = self;
        let shared = if view.by_time { 0 } else { view.size(shared) };
        let (size, newest) = (view.size(all), all.newest);
        Totals { size, weight: size, entries: *entries, shared, newest, frees: *frees }
    }
}

impl Node<'_> {
    /// What `view` shows of it.
    pub fn seen_as(&self, view: View) -> Totals {
        let totals = self.sums.seen_as(view);
        match self.change {
            None => totals,
            Some(Change { churn, entries, .. }) => Totals { weight: churn, entries, ..totals },
        }
    }
}

/// An inode, and what else is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inode {
    /// Its mount, device and inode number.
    pub identity: Identity,
    /// The names that lead to it.
    pub links: Links,
    /// The details, only if they are asked for.
    pub details: Option<Details>,
}

/// What else is kept of an inode, if it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Details {
    /// When it was last modified, in seconds since the epoch, like the next two.
    pub modified: i64,
    /// When it was last modified, renamed, linked, or changed in owner or mode; 0 if that is unknown.
    pub changed: i64,
    /// When it was created; 0 if that is unknown.
    pub born: i64,
    /// The user id of its owner.
    pub owner: u32,
    /// The group id of its owner, if it is known.
    pub group: Option<u32>,
}

impl Inode {
    /// What to keep of an inode seen through `mount`.
    pub fn new(stat: &Stat, mount: u64, links: Links, has_details: bool) -> Self {
        let Stat { modified, changed, born, owner, group, .. } = *stat;
        let details = Details { modified, changed, born, owner, group };
        let identity = stat.identity_on(mount);
        Self { identity, links, details: has_details.then_some(details) }
    }

    /// Its identity, if it may have other links.
    pub fn linked(&self) -> Option<Identity> {
        self.links.are_several().then_some(self.identity)
    }
}

impl Node<'_> {
    /// What an entry counts that is not a directory; and its inode, if that may have other links.
    fn counted(&self) -> (Figures, Option<Inode>) {
        (self.sums.all, self.inode.filter(|inode| inode.links.are_several()))
    }
}

impl DirectoryId {
    /// The number. It is less than the number of directories in the tree.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Tree {
    /// The root.
    pub fn root(&self) -> Child<'_> {
        self.directory(self.root_id())
    }

    /// The view in which its nodes are seen.
    pub fn view(&self) -> View {
        self.view
    }

    /// The same tree in another view. What it keeps stays as it is.
    #[must_use]
    pub fn seen_as(self, view: View) -> Self {
        Self { view, ..self }
    }

    /// What its names mean.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The level of the roots that were given: 1 if they are below a [total](Child::is_total), else 0.
    pub fn root_depth(&self) -> usize {
        self.root().is_total().into()
    }

    /// The roots that were given, in no particular order; none of them in a list of files or groups of several roots.
    pub fn roots(&self) -> impl Iterator<Item = Child<'_>> {
        let root = self.root();
        let alone = Some(root).filter(|root| !root.is_total());
        let several = (alone.is_none() && self.shape == Shape::Directory).then(|| root.unsorted());
        alone.into_iter().chain(several.into_iter().flatten())
    }

    /// Whether the files in it have more shared extents than are remembered.
    fn has_too_many_extents(&self) -> bool {
        let frees = self.directories.last().and_then(|root| root.node().sums.frees);
        frees.is_some_and(|frees| frees.extents > MOST_EXTENTS)
    }

    /// The last part of a child's `name`: in a list, the name without the path before it.
    pub fn label<'a>(&self, name: &'a [u8]) -> &'a [u8] {
        match self.shape {
            Shape::List => name.rsplit(|byte| *byte == b'/').next().unwrap_or(name),
            Shape::Directory | Shape::Groups => name,
        }
    }

    /// The directory that has this number.
    pub fn directory(&self, directory: DirectoryId) -> Child<'_> {
        let block = self.block(directory);
        Child::new(self, block, record::figures(block), directory, false)
    }

    /// The records of a directory and of its leaves.
    pub fn block(&self, DirectoryId(id): DirectoryId) -> &[u8] {
        self.directories.get(id as usize).map_or(&[], |it| &it.block)
    }

    /// How many directories are below a directory.
    pub fn below(&self, DirectoryId(id): DirectoryId) -> u64 {
        below(&self.directories, id).into()
    }

    /// The subdirectories of a directory, in no particular order.
    pub fn subdirectories(
        &self,
        DirectoryId(id): DirectoryId,
    ) -> impl Iterator<Item = DirectoryId> {
        let first = id.saturating_sub(below(&self.directories, id));
        children(&self.directories, first, id).map(DirectoryId)
    }

    /// What is at `place`.
    pub fn at(&self, place: Place) -> Child<'_> {
        let directory = self.directory(place.directory);
        match directory.block.get(place.offset as usize..) {
            Some(block) if place.offset > 0 => {
                Child::new(self, block, record::figures(block), place.directory, true)
            }
            _ => directory,
        }
    }

    /// A directory and all that are below it, each after those below it.
    pub fn directories_within(&self, directory: DirectoryId) -> impl Iterator<Item = Child<'_>> {
        self.directory(directory).all_directories()
    }

    /// The leaves in `block`, which are in `directory`.
    fn leaves_in<'a>(
        &'a self,
        mut rest: &'a [u8],
        directory: DirectoryId,
    ) -> impl Iterator<Item = Child<'a>> {
        iter::from_fn(move || {
            let block = rest;
            let (_, figures) = record::take_brief(&mut rest)?;
            Some(Child::new(self, block, figures, directory, true))
        })
    }

    fn root_id(&self) -> DirectoryId {
        DirectoryId(self.directories.len().saturating_sub(1) as u32)
    }
}

impl<'a> Child<'a> {
    #[inline]
    fn new(
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
        match self.mode().kind() {
            _ if self.is_total() => "total",
            _ if self.is_group() => "group",
            kind => kind.name(),
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
            let settled = frees.settled(&node.sums, || self.tree.has_too_many_extents());
            node.sums.frees = Some(settled);
        }
        node
    }

    /// What it comes to in the view.
    pub fn totals(&self) -> Totals {
        self.node().seen_as(self.tree.view)
    }

    /// The size of a directory without its content, if it counts.
    pub fn own(&self) -> Option<u64> {
        self.node().own.map(|own| self.tree.view.size(&own))
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

    /// Its path: all names from the root's on.
    pub fn path(&self) -> Vec<u8> {
        let mut names: Vec<_> =
            iter::successors(Some(*self), Child::parent).map(|node| node.name()).collect();
        names.reverse();
        path::join_all(names)
    }

    /// Its entries that are not directories, in no particular order.
    pub fn leaves(self) -> impl Iterator<Item = Child<'a>> {
        self.tree.leaves_in(self.packed_leaves(), self.directory)
    }

    /// Of each of its entries that are not directories, the name, the size in the view, and the packed record.
    pub fn leaf_records(self) -> impl Iterator<Item = (&'a [u8], u64, &'a [u8])> {
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
    fn packed_leaves(self) -> &'a [u8] {
        if self.is_leaf { &[] } else { record::split(self.block).1 }
    }

    /// How much deleting it alone frees at most, judging by link counts.
    pub fn freed(self) -> u64 {
        let node = self.node();
        let links = node.inode.map_or(Links::Alone, |inode| inode.links);
        node.sums.seen_as(self.view()).freed(self.is_directory(), links)
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

    /// Compares by rank, highest first, and then by name. A damaged snapshot may have two siblings with one name: they
    /// stay in their order.
    #[inline]
    pub fn compare(&self, other: &Self) -> Ordering {
        let by_rank = other.rank().cmp(&self.rank());
        by_rank.then_with(|| self.name().cmp(other.name())).then_with(|| {
            // The blocks of two leaves in a directory end where its block does.
            let [one, two] = [self, other].map(|it| (it.directory, Reverse(it.block.len())));
            one.cmp(&two)
        })
    }
}

impl Named for Child<'_> {
    fn name(&self) -> &[u8] {
        Child::name(self)
    }
}

impl Place {
    /// Bytes that stand for it.
    pub fn to_bytes(self) -> [u8; 8] {
        let Self { directory: DirectoryId(directory), offset } = self;
        ((u64::from(directory) << 32) | u64::from(offset)).to_be_bytes()
    }

    /// The place for which these bytes stand.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bits = u64::from_be_bytes(bytes.try_into().ok()?);
        Some(Self { directory: DirectoryId((bits >> 32) as u32), offset: bits as u32 })
    }

    /// All places in the directory with this number, and below it: where one of `tree` is.
    pub fn within(tree: &Tree, DirectoryId(id): DirectoryId) -> RangeInclusive<Place> {
        let first = DirectoryId(id.saturating_sub(below(&tree.directories, id)));
        let last = Place { directory: DirectoryId(id), offset: u32::MAX };
        Place { directory: first, offset: 0 }..=last
    }
}

impl From<DirectoryId> for Place {
    fn from(directory: DirectoryId) -> Self {
        Self { directory, offset: 0 }
    }
}

/// Of the directories from the one with the number `first` on, those that are in no other before `end`, which may be
/// their parent; the last first.
fn children(
    directories: &[PackedDirectory],
    first: u32,
    mut end: u32,
) -> impl Iterator<Item = u32> {
    iter::from_fn(move || {
        let child = end.checked_sub(1).filter(|child| *child >= first)?;
        end = child.saturating_sub(below(directories, child));
        Some(child)
    })
}

/// How many directories are below the one with this `number`.
fn below(directories: &[PackedDirectory], number: u32) -> u32 {
    directories.get(number as usize).map_or(0, |it| it.below)
}

/// Stores in the subdirectories of the one with this `number` how far away it is.
fn adopt(directories: &mut [PackedDirectory], number: u32) {
    let first = number.saturating_sub(below(directories, number));
    let mut end = number;
    while end > first {
        let child = end - 1;
        directories[child as usize].up = number - child;
        end = child.saturating_sub(below(directories, child));
    }
}
