//! Keeps everything: for JSON without limits, and for everything that is processed again later.

use crate::base::inode::Links;
use crate::tree::tally::{Entry, Tally};
use crate::tree::{Content, Inode, Node, Shape, Tree};

/// Keeps every entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole {
    /// What to keep of inodes.
    pub inodes: Inodes,
}

/// What is kept of inodes besides what they come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inodes {
    /// Whose identity and links are kept.
    pub of: Entries,
    /// Whose details are kept too, as far as they are known: nobody's, those of directories, or all.
    pub details: Entries,
    /// Whether a fingerprint of each entry is kept ([`Stat::fingerprint`](crate::sys::Stat::fingerprint)).
    pub fingerprints: bool,
}

/// Some of the entries, each time with all of the ones before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entries {
    /// None.
    #[default]
    None,
    /// Those that have other links: as much as a walk tells another tally.
    Linked,
    /// Directories: enough to recognize one that was moved.
    Directories,
    /// All.
    All,
}

impl Inodes {
    /// Nothing.
    pub const NONE: Self = Self::of(Entries::None);
    /// Which names lead to the same inode.
    pub const LINKED: Self = Self::of(Entries::Linked);
    /// The same, and which directory is which.
    pub const DIRECTORIES: Self = Self::of(Entries::Directories);
    /// The same, with the details of directories.
    pub const DATED_DIRECTORIES: Self = Self { details: Entries::Directories, ..Self::DIRECTORIES };
    /// Everything but fingerprints.
    pub const ALL: Self = Self { details: Entries::All, ..Self::of(Entries::All) };
    /// What deleting needs to know.
    pub const FINGERPRINTS: Self = Self { fingerprints: true, ..Self::DIRECTORIES };

    const fn of(of: Entries) -> Self {
        Self { of, details: Entries::None, fingerprints: false }
    }

    /// What either keeps.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            of: self.of.max(other.of),
            details: self.details.max(other.details),
            fingerprints: self.fingerprints || other.fingerprints,
        }
    }

    /// Whether the details of all entries are kept.
    pub fn has_details(self) -> bool {
        self.details == Entries::All
    }
}

impl Whole {
    /// Always inlined, with what it calls and what packs it: copying a node takes as long as packing it.
    #[inline(always)]
    fn node<'a>(self, entry: &Entry<'a>, has_inode: bool) -> Node<'a> {
        let inode = if has_inode { self.inode(entry) } else { None };
        let has_fingerprint = self.inodes.fingerprints && entry.stat.inode != 0;
        let fingerprint = has_fingerprint.then(|| entry.stat.fingerprint());
        Node { inode, fingerprint, ..entry.node() }
    }

    /// None if it is unknown, as in a snapshot without details. No inode has the number 0.
    #[inline(always)]
    fn inode(self, &Entry { stat, mount, links, .. }: &Entry<'_>) -> Option<Inode> {
        let has_details = match self.inodes.details {
            // Where they are unknown, this time is 0.
            Entries::Directories => stat.is_directory() && stat.changed != 0,
            details => details == Entries::All,
        };
        (stat.inode != 0).then(|| Inode::new(stat, mount, links, has_details))
    }
}

impl Tally for Whole {
    type Part = Content;
    type Answer = Tree;

    fn leaf(&self, part: &mut Content, entry: &Entry<'_>) {
        let is_kept = match self.inodes.of {
            Entries::None => false,
            Entries::Linked | Entries::Directories => entry.links.are_several(),
            Entries::All => true,
        };
        let mut node = self.node(entry, is_kept);
        if entry.stat.mount_point {
            // Something else is mounted on it: what has the name there was not seen, and is never removed.
            node.fingerprint = None;
        }
        part.push(&node);
    }

    fn merge(&self, part: &mut Content, other: Content) {
        part.append(other);
    }

    fn close(&self, parent: &mut Content, directory: &Entry<'_>, part: Content) {
        let directory = Entry { links: Links::Alone, ..*directory };
        parent.close(&self.node(&directory, self.inodes.of >= Entries::Directories), part);
    }

    /// The root's inode is always kept. Entries on the same file system can then do with the inode number alone. Of a
    /// file, another root may be another link.
    fn finish(&self, root: &Entry<'_>, part: Content) -> Tree {
        part.finish(&self.node(root, self.inodes.of != Entries::None), Shape::Directory)
    }
}
