//! Keeps everything: for JSON without limits, and for everything that is processed again later.

use crate::sys::Stat;
use crate::tally::{Closed, Entry, Tally};
use crate::tree::{Content, Inode, Node, Shape, Totals, Tree};

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
    fn node<'a>(self, directory: &Closed<'a>, has_inode: bool) -> Node<'a> {
        let Closed { stat, mount, .. } = *directory;
        let inode = if has_inode { self.inode(stat, mount, None) } else { None };
        Node { inode, fingerprint: self.fingerprint(stat), ..directory.node() }
    }

    fn fingerprint(self, stat: &Stat) -> Option<u32> {
        (self.inodes.has_fingerprints() && stat.inode != 0).then(|| stat.fingerprint())
    }

    /// None if it is unknown, as in a snapshot without details. No inode has the number 0.
    fn inode(self, stat: &Stat, mount: u64, links: Option<u32>) -> Option<Inode> {
        let is_dated = self.inodes == Inodes::DatedDirectories && stat.is_directory();
        // An unknown time is 0.
        let has_details = self.inodes.has_details() || is_dated && stat.modified != 0;
        (stat.inode != 0).then(|| Inode::new(stat, mount, links, has_details))
    }
}

impl Tally for Whole {
    type Part = Content;
    type Report = Tree;

    fn leaf(&self, part: &mut Content, entry: &Entry<'_>) {
        let Entry { name, stat, size, beside, mount, frees, .. } = *entry;
        // Where something is mounted on a file there is no link to count, nor a name to remove.
        let is_covered = self.inodes.has_fingerprints() && stat.mount_point;
        let links = if is_covered { Some(u32::MAX) } else { entry.identity.map(|_| entry.links) };
        // The walk may look through all mounts alike.
        let mount = entry.identity.map_or(mount, |(mount, _)| mount);
        let inode = match self.inodes {
            Inodes::None => None,
            inodes if inodes.has_details() => self.inode(stat, mount, links),
            _ => links.and_then(|_| self.inode(stat, mount, links)),
        };
        let totals = Totals { beside, frees, ..Totals::of(size) };
        let fingerprint = self.fingerprint(stat);
        part.push(&Node { name, mode: stat.mode, own: None, totals, inode, fingerprint });
    }

    fn merge(&self, part: &mut Content, other: Content) {
        part.append(other);
    }

    fn close(&self, parent: &mut Content, directory: &Closed<'_>, part: Content) {
        parent.close(&self.node(directory, self.inodes >= Inodes::Directories), part);
    }

    /// The root's inode is always kept. Entries on the same file system can then do with the inode number alone.
    fn finish(&self, root: &Closed<'_>, part: Content) -> Tree {
        let mut node = self.node(root, self.inodes != Inodes::None);
        if let Some(inode) = &mut node.inode {
            // Of a file, another root may be another link.
            let is_linked = !root.stat.is_directory() && root.stat.links > 1;
            inode.links = is_linked.then_some(root.stat.links);
        }
        part.finish(&node, Shape::Directory)
    }
}
