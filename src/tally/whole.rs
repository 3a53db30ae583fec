//! Everything: for JSON without limits, and whatever wants to look at it again later.

use crate::sys::Stat;
use crate::tally::{Closed, Entry, Tally};
use crate::tree::{Content, Inode, Node, Shape, Totals, Tree};

/// Keeps every entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole {
    /// Of which entries to keep which inode they are.
    pub inodes: Inodes,
}

/// Of which entries is kept which inode they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inodes {
    /// Of none.
    #[default]
    None,
    /// Of those that may be met again: as much as a walk would tell another tally.
    Linked,
    /// Of those, and of all directories: enough to know a directory again in another place.
    Directories,
    /// The same, and of directories the details too, where those are known.
    DatedDirectories,
    /// Of directories, and of those that may be met again; and of each entry what tells it from others in its place
    /// ([`Stat::fingerprint`]).
    Fingerprints,
    /// Of all, directories too, with their details.
    All,
}

impl Whole {
    fn node<'a>(self, directory: &Closed<'a>, has_inode: bool) -> Node<'a> {
        let Closed { stat, mount, .. } = *directory;
        let inode = if has_inode { self.inode(stat, mount, None) } else { None };
        Node { inode, fingerprint: self.fingerprint(stat), ..directory.node() }
    }

    fn fingerprint(self, stat: &Stat) -> Option<u32> {
        (self.inodes == Inodes::Fingerprints && stat.inode != 0).then(|| stat.fingerprint())
    }

    /// None if it is not known, as in a snapshot without details: no inode has the number 0.
    fn inode(self, stat: &Stat, mount: u64, links: Option<u32>) -> Option<Inode> {
        let is_dated = self.inodes == Inodes::DatedDirectories && stat.is_directory();
        // A time that is not known is 0.
        let has_details = self.inodes == Inodes::All || is_dated && stat.modified != 0;
        (stat.inode != 0).then(|| Inode::new(stat, mount, links, has_details))
    }
}

impl Tally for Whole {
    type Part = Content;
    type Report = Tree;

    fn leaf(&self, part: &mut Content, entry: &Entry<'_>) {
        let Entry { name, stat, size, beside, mount, .. } = *entry;
        // Where something is mounted on a file there is no link to count, nor a name to remove.
        let is_covered = self.inodes == Inodes::Fingerprints && stat.mount_point;
        let links = if is_covered { Some(u32::MAX) } else { entry.identity.map(|_| entry.links) };
        // The walk may look through all mounts alike.
        let mount = entry.identity.map_or(mount, |(mount, _)| mount);
        let inode = match self.inodes {
            Inodes::None => None,
            Inodes::All => self.inode(stat, mount, links),
            _ => links.and_then(|_| self.inode(stat, mount, links)),
        };
        let totals = Totals { beside, ..Totals::of(size) };
        let fingerprint = self.fingerprint(stat);
        part.push(&Node { name, mode: stat.mode, own: None, totals, inode, fingerprint });
    }

    fn merge(&self, part: &mut Content, other: Content) {
        part.append(other);
    }

    fn close(&self, parent: &mut Content, directory: &Closed<'_>, part: Content) {
        parent.close(&self.node(directory, self.inodes >= Inodes::Directories), part);
    }

    /// The root's inode is kept with any other: what is on the same file system can then be told
    /// by the number alone.
    fn finish(&self, root: &Closed<'_>, part: Content) -> Tree {
        part.finish(&self.node(root, self.inodes != Inodes::None), Shape::Directory)
    }
}
