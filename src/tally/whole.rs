//! Keeps everything: for JSON without limits, and for everything that is processed again later.

use crate::inode::Links;
use crate::sys::Stat;
use crate::tally::{Directory, Entry, Tally};
use crate::tree::{Content, Inode, Node, Shape, Sums, Tree};

/// Keeps every entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole {
    /// For which entries to keep the inode.
    pub inodes: Inodes,
}

/// For which entries the inode is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inodes {
    /// For none.
    #[default]
    None,
    /// For those that have other links: as much as a walk tells another tally.
    Linked,
    /// For those, and for all directories: enough to recognize a moved directory.
    Directories,
    /// The same, with details of directories if they are known.
    DatedDirectories,
    /// For directories and hard links, with a fingerprint of each entry ([`Stat::fingerprint`]).
    Fingerprints,
    /// For all, with their details.
    All,
    /// For all, with their details and a fingerprint of each.
    AllFingerprints,
}

impl Inodes {
    /// Whether the details of all entries are kept.
    pub fn has_details(self) -> bool {
        matches!(self, Inodes::All | Inodes::AllFingerprints)
    }

    /// Whether the fingerprints of all entries are kept.
    pub fn has_fingerprints(self) -> bool {
        matches!(self, Inodes::Fingerprints | Inodes::AllFingerprints)
    }

    /// The same without fingerprints.
    #[must_use]
    pub fn without_fingerprints(self) -> Self {
        match self {
            Inodes::Fingerprints => Inodes::Directories,
            Inodes::AllFingerprints => Inodes::All,
            other => other,
        }
    }
}

impl Whole {
    fn node<'a>(self, directory: &Directory<'a>, has_inode: bool) -> Node<'a> {
        let Directory { stat, mount, .. } = *directory;
        let inode = if has_inode { self.inode(stat, mount, Links::Alone) } else { None };
        Node { inode, fingerprint: self.fingerprint(stat), ..directory.node() }
    }

    fn fingerprint(self, stat: &Stat) -> Option<u32> {
        (self.inodes.has_fingerprints() && stat.inode != 0).then(|| stat.fingerprint())
    }

    /// None if it is unknown, as in a snapshot without details. No inode has the number 0.
    fn inode(self, stat: &Stat, mount: u64, links: Links) -> Option<Inode> {
        let is_dated = self.inodes == Inodes::DatedDirectories && stat.is_directory();
        // Where details are unknown, this time is 0.
        let has_details = self.inodes.has_details() || is_dated && stat.changed != 0;
        (stat.inode != 0).then(|| Inode::new(stat, mount, links, has_details))
    }
}

impl Tally for Whole {
    type Part = Content;

    fn leaf(&self, part: &mut Content, entry: &Entry<'_>) {
        let Entry { name, stat, figures, links, mount, frees, change, .. } = *entry;
        let is_kept = self.inodes.has_details() || links.are_several();
        let inode = match self.inodes {
            Inodes::None => None,
            _ if is_kept => self.inode(stat, mount, links),
            _ => None,
        };
        let sums = Sums { frees, ..Sums::of(figures) };
        // Something else is mounted on it: what has the name there was not seen, and is never removed.
        let fingerprint = self.fingerprint(stat).filter(|_| !stat.mount_point);
        let (mode, change) = (stat.mode, change.copied());
        part.push(&Node { name, mode, own: None, sums, inode, fingerprint, change });
    }

    fn merge(&self, part: &mut Content, other: Content) {
        part.append(other);
    }

    fn close(&self, parent: &mut Content, directory: &Directory<'_>, part: Content) {
        parent.close(&self.node(directory, self.inodes >= Inodes::Directories), part);
    }

    /// The root's inode is always kept. Entries on the same file system can then do with the inode number alone.
    fn finish(&self, root: &Directory<'_>, part: Content) -> Tree {
        let mut node = self.node(root, self.inodes != Inodes::None);
        if let Some(inode) = &mut node.inode {
            // Of a file, another root may be another link.
            inode.links = root.links;
        }
        part.finish(&node, Shape::Directory)
    }
}
