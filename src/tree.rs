//! The tree that a walk comes to: what every picture and every JSON is drawn from, and what two snapshots are
//! compared by. Everything is packed, a block a directory: its own record, and then those of its leaves.
//!
//! The directories lie in one row, each after all that is below it, so that what is below one is a stretch of
//! that row. They know each other by distances. So a part of a tree moves to another place, or another tree,
//! as it is; it takes 24 bytes a directory beside its block; and dropping a tree is dropping a row of blocks,
//! however deep it is.

mod content;
mod edit;
mod record;
mod traversal;

use std::cmp::{Ordering, Reverse};
use std::iter;

use crate::measure::{Kind, Mode};
use crate::path;
use crate::sys::{MountedIdentity, Stat};

pub use content::Content;
pub use traversal::{Named, Step, Traversal};

/// A directory with what is kept of its content, or a root that is no directory.
#[derive(Debug)]
pub struct Tree {
    /// The root is the last.
    directories: Vec<PackedDirectory>,
    shape: Shape,
}

/// The number of a directory in its tree, as long as nothing in that is replaced or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DirectoryId(u32);

/// Four billion directories are as many as there can be: they would take 200 GB.
#[derive(Debug)]
struct PackedDirectory {
    /// How many directories are below it. They come right before it.
    below: u32,
    /// How many places after it its parent comes; 0 for the root.
    up: u32,
    /// Its record and those of its leaves.
    block: Box<[u8]>,
}

/// What the names in a [`Tree`] mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// They lie in one another.
    #[default]
    Directory,
    /// A flat list: its leaves' names are paths below it.
    List,
    /// Headings under which things are counted that lie anywhere below the root.
    Groups,
}

/// In which order siblings come. What is equal comes in the order of size, then of name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The largest first.
    #[default]
    Size,
    /// By name, as bytes.
    Name,
    /// The one with the most inodes first.
    Count,
    /// As their names stand in a list; what is not in it comes last.
    Listed(&'static [&'static str]),
}

/// A node in its place in a [`Tree`].
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    tree: &'a Tree,
    /// Begins with its record.
    block: &'a [u8],
    size: u64,
    /// The directory that it is, or that it is a leaf in.
    directory: DirectoryId,
    is_leaf: bool,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its name, as bytes: a root's path as given; empty for the node above several roots; in a flat list, the
    /// path below the root.
    pub name: &'a [u8],
    /// File type and permissions.
    pub mode: Mode,
    /// A directory's own weight, without what is in it, if that is kept.
    pub own: Option<u64>,
    /// What it comes to, whatever is kept of it.
    pub totals: Totals,
    /// Which inode it is, if that is known.
    pub inode: Option<Inode>,
}

/// What a node comes to, every inode once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Its weight and that of all below it, in the measure's unit; saturated at `u64::MAX`.
    pub size: u64,
    /// The inodes counted, itself included.
    pub entries: u64,
    /// The part of `size` in inodes that also have links outside it.
    pub shared: u64,
    /// What it weighs, where `size` is a time.
    pub beside: Option<u64>,
}

impl Totals {
    /// One inode's, of this size.
    pub fn of(size: u64) -> Self {
        Self { size, entries: 1, ..Self::default() }
    }
}

/// Which inode something is, and what else is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inode {
    /// Its mount, device and inode number.
    pub identity: MountedIdentity,
    /// How many names it has, if they all count once; `u32::MAX` where more lead to it than it
    /// knows.
    pub links: Option<u32>,
    /// What only those want who ask for it.
    pub details: Option<Details>,
}

/// What else is kept of an inode for those who ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Details {
    /// When it was last written to, in seconds since the epoch, as the next two.
    pub modified: i64,
    /// When it was last written to, renamed, linked, or changed in owner or mode; 0 if that is not known.
    pub changed: i64,
    /// When it was made; 0 if that is not known.
    pub born: i64,
    /// The user id of its owner.
    pub owner: u32,
    /// The group id of its owner, if it is known.
    pub group: Option<u32>,
}

impl Inode {
    /// What to keep of an inode seen through `mount`, of which `links` names count once.
    pub fn new(stat: &Stat, mount: u64, links: Option<u32>, has_details: bool) -> Self {
        let Stat { modified, changed, born, owner, group, .. } = *stat;
        let details = Details { modified, changed, born, owner, group };
        let identity = (mount, stat.identity());
        Self { identity, links, details: has_details.then_some(details) }
    }

    /// Which inode it is, if it may be met again.
    pub fn linked(&self) -> Option<MountedIdentity> {
        self.links.map(|_| self.identity)
    }
}

impl DirectoryId {
    /// The number itself: less than there are directories in its tree.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Tree {
    /// The root.
    pub fn root(&self) -> Child<'_> {
        self.directory(self.root_id())
    }

    /// What its names mean.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether its root is the node above several roots.
    pub fn is_above_roots(&self) -> bool {
        self.root().name().is_empty()
    }

    /// What a child called `name` is called where its place is clear.
    pub fn label<'a>(&self, name: &'a [u8]) -> &'a [u8] {
        let slash = || name.iter().rposition(|byte| *byte == b'/');
        match (self.shape == Shape::List).then(slash).flatten() {
            Some(slash) => &name[slash + 1..],
            None => name,
        }
    }

    /// The directory that has this number.
    pub fn directory(&self, directory: DirectoryId) -> Child<'_> {
        let block = self.directories.get(directory.0 as usize).map_or(&[][..], |it| &it.block);
        let size = record::take(&mut { block }).map_or(0, |node| node.totals.size);
        Child { tree: self, block, size, directory, is_leaf: false }
    }

    fn root_id(&self) -> DirectoryId {
        DirectoryId(self.directories.len().saturating_sub(1) as u32)
    }
}

impl<'a> Child<'a> {
    /// Its name, as bytes.
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        record::name(self.block)
    }

    /// Its weight, in the measure's unit.
    pub fn size(&self) -> u64 {
        self.size
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

    /// Whether it is a heading, and no file.
    pub fn is_group(&self) -> bool {
        self.tree.shape == Shape::Groups && self.directory != self.tree.root_id()
    }

    /// All that is known of it.
    pub fn node(&self) -> Node<'a> {
        let mut block = self.block;
        let node = if self.is_leaf {
            record::take(&mut block)
        } else {
            record::take_directory(&mut block)
        };
        node.unwrap_or_default()
    }

    /// What it comes to, without what is beside the size of a leaf.
    pub fn totals(&self) -> Totals {
        if self.is_leaf { Totals::of(self.size) } else { self.node().totals }
    }

    /// Which inode it is, if that is kept.
    pub fn inode(&self) -> Option<Inode> {
        self.node().inode
    }

    /// Its number, if it is a directory.
    pub fn id(&self) -> Option<DirectoryId> {
        (!self.is_leaf).then_some(self.directory)
    }

    /// The directory that it lies in; none for a root.
    pub fn parent(&self) -> Option<Child<'a>> {
        let DirectoryId(number) = self.directory;
        let up = if self.is_leaf { 0 } else { self.tree.directories.get(number as usize)?.up };
        let parent = DirectoryId(number.checked_add(up)?);
        (self.is_leaf || up > 0).then(|| self.tree.directory(parent))
    }

    /// The names from the root's on, put together.
    pub fn path(&self) -> Vec<u8> {
        let mut names: Vec<_> =
            iter::successors(Some(*self), Child::parent).map(|node| node.name()).collect();
        names.reverse();
        path::join_all(names)
    }

    /// What is directly in it and no directory, in no particular order.
    pub fn leaves(self) -> impl Iterator<Item = Child<'a>> {
        let mut rest = if self.is_leaf { &[] } else { self.block };
        record::take_directory(&mut rest);
        iter::from_fn(move || {
            let block = rest;
            let size = record::take(&mut rest)?.totals.size;
            Some(Child { block, size, is_leaf: true, ..self })
        })
    }

    /// The directories directly in it, in no particular order.
    pub fn directories(self) -> impl Iterator<Item = Child<'a>> {
        let id = self.id().map(|DirectoryId(number)| number);
        let directories = id.map_or(&[][..], |_| &self.tree.directories);
        children(directories, id.unwrap_or(0)).map(|id| self.tree.directory(DirectoryId(id)))
    }

    /// How many directories are below it.
    pub fn directories_below(&self) -> u64 {
        let directory =
            self.id().and_then(|DirectoryId(id)| self.tree.directories.get(id as usize));
        directory.map_or(0, |it| it.below.into())
    }

    /// What is directly in it, in no particular order.
    pub fn unsorted(self) -> impl Iterator<Item = Child<'a>> {
        self.directories().chain(self.leaves())
    }

    /// What is directly in it.
    pub fn children(self, order: Order) -> Vec<Child<'a>> {
        let mut children: Vec<_> = self.unsorted().collect();
        match order {
            Order::Size => children.sort_unstable_by(Child::compare),
            Order::Name => children.sort_unstable_by_key(Child::name),
            Order::Count => children.sort_by_cached_key(|child| {
                let Totals { size, entries, .. } = child.totals();
                (Reverse(entries), Reverse(size), child.name())
            }),
            Order::Listed(names) => children.sort_by_cached_key(|child| {
                let place = names.iter().position(|name| name.as_bytes() == child.name());
                (place.unwrap_or(names.len()), Reverse(child.size()), child.name())
            }),
        }
        children
    }

    /// The larger comes first, then the name that does.
    #[inline]
    pub fn compare(&self, other: &Self) -> Ordering {
        other.size.cmp(&self.size).then_with(|| self.name().cmp(other.name()))
    }
}

impl Named for Child<'_> {
    fn name(&self) -> &[u8] {
        Child::name(self)
    }
}

/// The numbers of the directories directly in the one that has this `number`, the last first.
fn children(directories: &[PackedDirectory], number: u32) -> impl Iterator<Item = u32> {
    let below = |number: u32| directories.get(number as usize).map_or(0, |it| it.below);
    let (first, mut end) = (number.saturating_sub(below(number)), number);
    iter::from_fn(move || {
        let child = end.checked_sub(1).filter(|child| *child >= first)?;
        end = child.saturating_sub(below(child));
        Some(child)
    })
}

/// Tells the directories directly in the one that has this `number` how far it is.
fn adopt(directories: &mut [PackedDirectory], number: u32) {
    let children: Vec<_> = children(directories, number).collect();
    for child in children {
        directories[child as usize].up = number - child;
    }
}
