//! What is known about a node, and what a view shows of it.

use std::cell::Cell;
use std::{iter, mem};

use super::{Child, DirectoryId, PackedDirectory, Shape, Tree, adopt, children, record};
use crate::base::inode::{Identity, Links};
use crate::base::measure::{Change, Figures, Kind, Measure, Mode, View};
use crate::sys::Stat;

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

    /// What `view` shows of it.
    pub fn totals_in(&self, view: View) -> Totals {
        let totals = self.sums.totals_in(view);
        match self.change {
            None => totals,
            Some(Change { churn, entries, .. }) => Totals { weight: churn, entries, ..totals },
        }
    }

    /// What an entry counts that is not a directory; and its inode, if that may have other links.
    pub(super) fn counted(&self) -> (Figures, Option<Inode>) {
        (self.sums.all, self.inode.filter(|inode| inode.links.are_several()))
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

impl Sums {
    /// Those of one inode.
    pub fn of(all: Figures) -> Self {
        Self { all, entries: 1, ..Self::default() }
    }

    /// What is left without `part`, which may have links in common with other parts.
    #[must_use]
    pub fn without(&self, part: &Self) -> Self {
        let all = Measure::ALL.into_iter().fold(Figures::default(), |left, measure| {
            left.with(measure, self.all.get(measure).saturating_sub(part.all.get(measure)))
        });
        Self { all, entries: self.entries.saturating_sub(part.entries), ..Self::default() }
    }

    /// What `view` shows of them.
    pub fn totals_in(&self, view: View) -> Totals {
        let Self { all, shared, entries, frees } = self;
        let shared = if view.by_time { 0 } else { view.size(shared) };
        let (size, newest) = (view.size(all), all.newest);
        Totals { size, weight: size, entries: *entries, shared, newest, frees: *frees }
    }
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

// What deleting a node frees, and what a walk remembers for that.

/// Smaller files are not asked what they share. In a home directory, 3.6% of the files have this size or more, with 78%
/// of the bytes.
pub const LEAST_ASKED: u64 = 64 << 10;

/// The most shared extents that one walk remembers: they take up to 40 MiB. If there are more, only directories with at
/// most [`FEW_EXTENTS`] keep theirs.
pub const MOST_EXTENTS: u64 = 1 << 20;

/// So many shared extents of a directory are always remembered.
pub const FEW_EXTENTS: u64 = 1 << 13;

/// What deleting a node frees, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freeable {
    /// At least this: space that no other file uses, of inodes all of whose links are in the node.
    pub least: u64,
    /// At most this: the same with shared space, every byte once.
    pub most: u64,
    /// How many shared extents the files in it have; [`Freeable::TOO_MANY`] if they were not remembered. Then `most` is
    /// its size, without inodes that have links elsewhere.
    pub extents: u64,
}

impl Freeable {
    /// Whether it is not known exactly how much comes free.
    pub fn is_range(&self) -> bool {
        self.least < self.most
    }

    /// More extents than are remembered.
    pub const TOO_MANY: u64 = u64::MAX;

    /// Whether bytes that files share count once in `most`.
    pub fn is_exact(&self) -> bool {
        self.extents != Self::TOO_MANY
    }

    /// What snapshots have of it, for a node of this `size` on disk: no more than that.
    pub fn saved(self, size: u64) -> Self {
        let most = self.most.min(size);
        let extents = if self.is_exact() { 0 } else { Self::TOO_MANY };
        Self { least: self.least.min(most), most, extents }
    }

    /// The same for a node with these `sums`, without the extents of large directories if its tree `has_too_many`.
    /// Whether the walk kept them depends on timing. The result must not.
    pub(crate) fn reproducible(self, sums: &Sums, has_too_many: impl FnOnce() -> bool) -> Self {
        if self.extents <= FEW_EXTENTS || !has_too_many() {
            return self;
        }
        let most = sums.all.disk.saturating_sub(sums.shared.disk);
        Self { most, extents: Self::TOO_MANY, ..self }
    }
}

// The content of open directories, from which a tree is built.

/// What is kept of one open directory, or of a part of a large one: its leaves, packed, and its subdirectories with
/// everything below them.
#[derive(Debug, Default)]
pub struct Content {
    leaves: Vec<u8>,
    /// A tree without its root.
    below: Tree,
}

thread_local! {
    /// Memory for leaves that this thread reuses for the next directory.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// More memory than this is not kept for the next directory, in bytes.
const LARGE: usize = 64 << 10;

/// Keeps the memory of `leaves` for the next directory, if it is more than what was kept before, and not too much.
fn spare(mut leaves: Vec<u8>) {
    let before = SPARE.take();
    let capacity = leaves.capacity();
    let is_better = capacity > before.capacity() && capacity <= LARGE;
    leaves.clear();
    SPARE.set(if is_better { leaves } else { before });
}

impl Content {
    /// Adds an entry that is not a directory.
    #[inline(always)]
    pub fn push(&mut self, leaf: &Node<'_>) {
        if self.leaves.capacity() == 0 {
            self.leaves = SPARE.take();
        }
        record::push(&mut self.leaves, leaf);
    }

    /// Adds everything in `other`. If this was empty, it takes only as much memory as needed.
    pub fn append(&mut self, other: Content) {
        if !other.leaves.is_empty() {
            // A directory's own record, which it gets at the end, mostly fits too.
            self.leaves.reserve(other.leaves.len() + 64);
            self.leaves.extend_from_slice(&other.leaves);
        }
        spare(other.leaves);
        self.append_directories(other.below.directories);
    }

    /// A copy of what is directly in it so far, without what is in its subdirectories.
    pub fn copy(&self) -> Content {
        Self::copied(self.directories(), &self.leaves)
    }

    /// A copy of the directory at the path `way` in it, and of what is directly in that. Only the directories on the
    /// way are around it. None if there is no such directory.
    pub fn copy_at(&self, way: &[Vec<u8>]) -> Option<Content> {
        let here = self.directory_at(way)?;
        let mut copy = Self::copied(here.directories(), here.packed_leaves());
        for directory in iter::successors(Some(here), Child::parent) {
            let mut above = Content::default();
            above.close(&directory.node(), copy);
            copy = above;
        }
        Some(copy)
    }

    /// `directories` without what is in them, and packed `leaves`.
    fn copied<'a>(directories: impl Iterator<Item = Child<'a>>, leaves: &[u8]) -> Content {
        let mut copy = Content { leaves: leaves.to_vec(), ..Content::default() };
        for directory in directories {
            copy.close(&directory.node(), Content::default());
        }
        copy
    }

    /// The entries directly in it so far that are not directories.
    pub fn leaf_nodes(&self) -> impl Iterator<Item = Node<'_>> {
        record::leaves(&self.leaves)
    }

    /// The directory at the path `way` in it.
    pub fn directory_at(&self, way: &[Vec<u8>]) -> Option<Child<'_>> {
        let (first, rest) = way.split_first()?;
        let first = self.directories().find(|child| child.name() == first)?;
        rest.iter().try_fold(first, |here, name| here.directories().find(|it| it.name() == name))
    }

    /// The subdirectories, in no particular order.
    pub fn directories(&self) -> impl Iterator<Item = Child<'_>> {
        // The root would come next.
        let root = self.below.directories.len() as u32;
        let ids = children(&self.below.directories, 0, root);
        ids.map(|id| self.below.directory(DirectoryId(id)))
    }

    /// Adds a directory with its content.
    pub fn close(&mut self, directory: &Node<'_>, content: Content) {
        self.append_directories(content.closed(directory));
    }

    /// Adds the root of a tree, if it is a directory, with everything below it.
    pub fn adopt(&mut self, tree: Tree) {
        self.append_directories(tree.directories);
    }

    /// The tree whose root has this content.
    pub fn finish(self, root: &Node<'_>, shape: Shape) -> Tree {
        Tree { directories: self.closed(root), shape, ..Tree::default() }
    }

    /// Moves the smaller list, because the order does not matter.
    fn append_directories(&mut self, mut others: Vec<PackedDirectory>) {
        let directories = &mut self.below.directories;
        if directories.len() < others.len() {
            mem::swap(directories, &mut others);
        }
        directories.append(&mut others);
    }

    fn closed(self, node: &Node<'_>) -> Vec<PackedDirectory> {
        let Self { mut leaves, below: Tree { mut directories, .. } } = self;
        if leaves.capacity() == 0 {
            leaves = SPARE.take();
        }
        if leaves.len() > LARGE {
            // Exactly, because a block may be most of the memory in use. Apart from the name, records are short.
            leaves.reserve_exact(node.name.len() + 256);
        }
        // Its own record comes first.
        let end = leaves.len();
        record::push_directory(&mut leaves, node);
        let block = if leaves.capacity() <= LARGE {
            // The memory in which leaves were collected is for the next directory.
            let (leaves_alone, own) = leaves.split_at(end);
            let block = [own, leaves_alone].concat().into_boxed_slice();
            spare(leaves);
            block
        } else {
            // In place, for the same reason.
            leaves.rotate_left(end);
            leaves.into_boxed_slice()
        };
        let below = directories.len() as u32;
        directories.push(PackedDirectory { below, up: 0, block });
        adopt(&mut directories, below);
        directories
    }
}
