//! What is gathered on the way up: the seam through which a new kind of report is one new file.
//!
//! A [`Tally`] sees each entry once, while its directory is being weighed, and each directory once,
//! when everything below it is done. It knows nothing of threads or of the order of the walk:
//! whatever order the calls come in, the report is the same.

mod by;
mod carrier;
mod groups;
mod links;
mod live;
mod settled;
mod top;
mod whole;

pub use by::{By, Needs};
pub use groups::Groups;
pub use live::{Live, LiveDirectory, LivePart, Seen};
pub use top::{Limits, Show, Top};
pub use whole::{Inodes, Whole};

pub(crate) use links::{Link, Links};
pub(crate) use settled::{Settled, saturate};

use crate::sys::{MountedIdentity, Stat};
use crate::tree::{Node, Totals};

/// What is gathered from a walk.
pub trait Tally: Send + Sync {
    /// What one directory, or a part of a large one, has gathered so far.
    type Part: Default + Send;
    /// What it comes to in the end.
    type Report: Send;

    /// Whether it keeps every inode with several links, and says itself what all comes to. Then nobody else
    /// keeps them for it.
    const ADDS_UP: bool = false;

    /// Whether it is told where each directory begins.
    const IS_LIVE: bool = false;

    /// A directory called `name` begins in that of `parent`, or the root, or what is above several roots: what is
    /// gathered in it as a whole. Called only if it [`IS_LIVE`](Self::IS_LIVE).
    fn open(&self, _parent: Option<&Self::Part>, _name: &[u8]) -> Self::Part {
        Self::Part::default()
    }

    /// An entry that is not a directory, in the directory that `part` belongs to.
    fn leaf(&self, part: &mut Self::Part, entry: &Entry<'_>);

    /// Another part of the same directory.
    fn merge(&self, part: &mut Self::Part, other: Self::Part);

    /// A directory all of whose content is in `part` hands itself to its parent.
    fn close(&self, parent: &mut Self::Part, directory: &Closed<'_>, part: Self::Part);

    /// What the `root` comes to with all that was gathered in it, for a tally that adds up itself.
    fn totals(&self, root: &Closed<'_>, _part: &Self::Part) -> Totals {
        root.totals
    }

    /// The root is closed.
    fn finish(&self, root: &Closed<'_>, part: Self::Part) -> Self::Report;
}

/// An entry that is not a directory, as it is weighed.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its name, as bytes.
    pub name: &'a [u8],
    /// How many levels below the root it lies; the root's own entries are at 1.
    pub depth: u32,
    /// What the system says of it.
    pub stat: &'a Stat,
    /// Its weight, in the measure's unit.
    pub size: u64,
    /// What it weighs where that is a time, and its weight is known too.
    pub beside: Option<u64>,
    /// Which inode it is, where that inode may be met again under another name.
    pub identity: Option<MountedIdentity>,
    /// How many names that inode has; `u32::MAX` where more lead to it than it knows.
    pub links: u32,
    /// Through which mount it is seen.
    pub mount: u64,
}

impl<'a> Entry<'a> {
    /// An entry whose inode is not met again, as far as is known yet.
    pub(crate) fn new(name: &'a [u8], depth: u32, stat: &'a Stat, size: u64, mount: u64) -> Self {
        let (identity, links, beside) = (None, stat.links, None);
        Self { name, depth, stat, size, beside, identity, links, mount }
    }
}

/// A directory that is done.
#[derive(Clone, Copy, Debug)]
pub struct Closed<'a> {
    /// Its name, as bytes; a root's path as given.
    pub name: &'a [u8],
    /// How many levels below the root it lies; a root is at 0.
    pub depth: u32,
    /// What the system says of it; of the node above several roots, only that it is a directory.
    pub stat: &'a Stat,
    /// Through which mount it is seen.
    pub mount: u64,
    /// Its own weight, without what is in it; none for the node above several roots.
    pub own: Option<u64>,
    /// What it comes to with all that is in it.
    pub totals: Totals,
}

impl<'a> Closed<'a> {
    /// What the tree of any report has of it.
    fn node(&self) -> Node<'a> {
        let Closed { name, stat, own, totals, .. } = *self;
        Node { name, mode: stat.mode, own, totals, ..Node::default() }
    }
}
