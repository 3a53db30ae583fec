//! What is kept during the walk. A new kind of report is one new file here.
//!
//! A [`Tally`] gets each entry once, while its directory is being weighed, and each directory once, when everything
//! below it is done. It knows nothing of threads or of the order of the walk: the report is the same in whatever
//! order it is called.

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
use crate::tree::{Freeable, Node, Totals};

/// Keeps what a report needs.
pub trait Tally: Send + Sync {
    /// What it keeps for one directory, or for a part of a large one.
    type Part: Default + Send;
    /// The result.
    type Report: Send;

    /// Whether it keeps every inode with several links, and computes totals itself. Then `total` does not keep them.
    const ADDS_UP: bool = false;

    /// Whether it is told where each directory begins.
    const IS_LIVE: bool = false;

    /// A directory called `name` begins in that of `parent`, or the root, or what is above several roots: what is
    /// gathered in it as a whole. Called only if it [`IS_LIVE`](Self::IS_LIVE).
    fn open(&self, _parent: Option<&Self::Part>, _name: &[u8]) -> Self::Part {
        Self::Part::default()
    }

    /// Adds an entry that is not a directory to `part`, that of its directory.
    fn leaf(&self, part: &mut Self::Part, entry: &Entry<'_>);

    /// Adds another part of the same directory.
    fn merge(&self, part: &mut Self::Part, other: Self::Part);

    /// Adds a directory to its `parent`. `part` has everything in it.
    fn close(&self, parent: &mut Self::Part, directory: &Closed<'_>, part: Self::Part);

    /// The totals of the `root`, for a tally that computes totals itself.
    fn totals(&self, root: &Closed<'_>, _part: &Self::Part) -> Totals {
        root.totals
    }

    /// Finishes the report: the root is closed.
    fn finish(&self, root: &Closed<'_>, part: Self::Part) -> Self::Report;
}

/// An entry that is not a directory, with its weight.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its name, as bytes.
    pub name: &'a [u8],
    /// Its depth below the root; the root's own entries are at 1.
    pub depth: u32,
    /// Its attributes.
    pub stat: &'a Stat,
    /// Its weight, in the measure's unit.
    pub size: u64,
    /// Its size, if `size` is a time and the size is known.
    pub beside: Option<u64>,
    /// Its inode, if the walk may find it again under another name.
    pub identity: Option<MountedIdentity>,
    /// How many links the inode has; `u32::MAX` if more than its link count may lead to it.
    pub links: u32,
    /// The mount through which it is seen.
    pub mount: u64,
    /// What deleting it frees, if that was asked for.
    pub frees: Option<Freeable>,
}

impl<'a> Entry<'a> {
    /// An entry whose inode has no other link, as far as is known.
    pub(crate) fn new(name: &'a [u8], depth: u32, stat: &'a Stat, size: u64, mount: u64) -> Self {
        let (identity, links, beside) = (None, stat.links, None);
        Self { name, depth, stat, size, beside, identity, links, mount, frees: None }
    }
}

/// A finished directory.
#[derive(Clone, Copy, Debug)]
pub struct Closed<'a> {
    /// Its name, as bytes; a root's path as given.
    pub name: &'a [u8],
    /// Its depth below the root; a root is at 0.
    pub depth: u32,
    /// Its attributes; of the node above several roots, only that it is a directory.
    pub stat: &'a Stat,
    /// The mount through which it is seen.
    pub mount: u64,
    /// Its own weight, without its content; none for the node above several roots.
    pub own: Option<u64>,
    /// Its total.
    pub totals: Totals,
}

impl<'a> Closed<'a> {
    /// Its node in the tree of a report.
    fn node(&self) -> Node<'a> {
        let Closed { name, stat, own, totals, .. } = *self;
        Node { name, mode: stat.mode, own, totals, ..Node::default() }
    }
}
