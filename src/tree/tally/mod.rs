//! The part of a tree that is kept during the walk. A new kind of answer is one new file here.
//!
//! A [`Tally`] gets each entry once, while its directory is being weighed, and each directory once, when everything
//! below it is done. It knows nothing of threads or of the order of the walk: the answer is the same in whatever
//! order it is called.

mod groups;
mod live;
mod top;
mod whole;

use crate::base::inode::{Identity, Links};
use crate::base::measure::{Change, Figures};
use crate::sys::Stat;
use crate::tree::{Node, Sums};

pub use groups::{AGE_NAMES, By, Groups, age};
pub use live::{Found, Live, LiveDirectory, LivePart};
pub use top::{Limits, Show, Top};
pub use whole::{Entries, Inodes, Whole};

/// Keeps what an answer needs.
pub trait Tally: Send + Sync + 'static {
    /// What it keeps for one directory, or for a part of a large one.
    type Part: Default + Send + 'static;

    /// What comes of it: a tree, or whatever else it answers.
    type Answer: Send + 'static;

    /// Whether it keeps every inode with several links, and adds up itself. Then `total` does not keep them: for groups
    /// of a package store that would take a fifth more instructions.
    fn adds_up(&self) -> bool {
        false
    }

    /// Whether it is told where each directory begins.
    fn is_live(&self) -> bool {
        false
    }

    /// A directory called `name` begins in that of `parent`, or the root, or what is above several roots: what is
    /// gathered in it as a whole. Called only if it [is live](Self::is_live).
    fn open(&self, _parent: Option<&Self::Part>, _name: &[u8]) -> Self::Part {
        Self::Part::default()
    }

    /// Where another part of a directory begins, of which `so_far` is known.
    fn begin_part(&self, _so_far: &Self::Part) -> Self::Part {
        Self::Part::default()
    }

    /// Adds an entry that is not a directory to `part`, that of its directory.
    fn leaf(&self, part: &mut Self::Part, entry: &Entry<'_>);

    /// Adds another part of the same directory.
    fn merge(&self, part: &mut Self::Part, other: Self::Part);

    /// Adds a directory to its `parent`. `part` has everything in it.
    fn close(&self, parent: &mut Self::Part, directory: &Entry<'_>, part: Self::Part);

    /// What the `root` comes to, for a tally that adds up itself.
    fn sums(&self, root: &Entry<'_>, _part: &Self::Part) -> Sums {
        root.sums
    }

    /// The answer: the root is closed.
    fn finish(&self, root: &Entry<'_>, part: Self::Part) -> Self::Answer;
}

/// An entry, with what it comes to.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its name, as bytes; a root's path as given.
    pub name: &'a [u8],
    /// Its depth below the root: 0 for a root, and 1 for what is in it.
    pub depth: u32,
    /// The attributes of its inode, as far as they are known; of the node above several roots, only that it is a
    /// directory.
    pub stat: &'a Stat,
    /// The mount through which it is seen; 0 if the walk looks through all mounts alike.
    pub mount: u64,
    /// The names that lead to its inode.
    pub links: Links,
    /// What a directory comes to without its content, if it counts.
    pub own: Option<Figures>,
    /// What it comes to, itself included; of a directory before it closes, whatever its source knows of it.
    pub sums: Sums,
    /// In a comparison, how it changed.
    pub change: Option<&'a Change<'a>>,
}

impl<'a> Entry<'a> {
    /// An entry whose inode has no other link, as far as is known.
    pub(crate) fn new(
        name: &'a [u8],
        depth: u32,
        stat: &'a Stat,
        figures: Figures,
        mount: u64,
    ) -> Self {
        let (links, sums) = (Links::Alone, Sums::of(figures));
        Self { name, depth, stat, mount, links, own: None, sums, change: None }
    }

    /// Its inode, if the walk may find it again under another name.
    pub fn linked(&self) -> Option<Identity> {
        self.links.are_several().then(|| self.stat.identity_on(self.mount))
    }

    /// Its node in the tree of an answer.
    #[inline(always)]
    pub(crate) fn node(&self) -> Node<'a> {
        let Self { name, stat, own, sums, change, .. } = *self;
        Node { name, mode: stat.mode, own, sums, change: change.copied(), ..Node::default() }
    }
}

// Two answers of one walk, for example everything, to be saved, and the largest, to be shown. So nobody looks for the
// largest in the whole tree afterwards. Neither may add up by itself.

impl<A: Tally, B: Tally> Tally for (A, B) {
    type Part = (A::Part, B::Part);
    type Answer = (A::Answer, B::Answer);

    fn is_live(&self) -> bool {
        self.0.is_live() || self.1.is_live()
    }

    fn open(&self, parent: Option<&Self::Part>, name: &[u8]) -> Self::Part {
        let (one, other) = (parent.map(|it| &it.0), parent.map(|it| &it.1));
        (self.0.open(one, name), self.1.open(other, name))
    }

    fn begin_part(&self, (one, other): &Self::Part) -> Self::Part {
        (self.0.begin_part(one), self.1.begin_part(other))
    }

    fn leaf(&self, (one, other): &mut Self::Part, entry: &Entry<'_>) {
        self.0.leaf(one, entry);
        self.1.leaf(other, entry);
    }

    fn merge(&self, (one, other): &mut Self::Part, more: Self::Part) {
        self.0.merge(one, more.0);
        self.1.merge(other, more.1);
    }

    fn close(&self, parent: &mut Self::Part, directory: &Entry<'_>, part: Self::Part) {
        self.0.close(&mut parent.0, directory, part.0);
        self.1.close(&mut parent.1, directory, part.1);
    }

    fn finish(&self, root: &Entry<'_>, (one, other): Self::Part) -> Self::Answer {
        (self.0.finish(root, one), self.1.finish(root, other))
    }
}
