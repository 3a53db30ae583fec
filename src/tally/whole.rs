//! Everything: for JSON without limits, and whatever wants to look at it again later.

use crate::sys::Stat;
use crate::tally::leaves::{Inode, Leaf, Leaves};
use crate::tally::tree::Tree;
use crate::tally::{Closed, Entry, Tally};

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
    /// Of all, directories too, with their details.
    All,
}

/// What is kept of one directory.
#[derive(Debug, Default)]
pub struct Part {
    leaves: Leaves,
    branches: Vec<Tree>,
}

impl Whole {
    fn tree(self, directory: &Closed<'_>, mut part: Part, has_inode: bool) -> Tree {
        part.branches.shrink_to_fit();
        let Closed { name, stat, mount, own, totals, .. } = *directory;
        let mut tree = Tree::new(name, stat.mode, totals, part.leaves, part.branches);
        tree.own = own;
        if has_inode {
            tree.inode = self.inode(stat, mount, None).map(Box::new);
        }
        tree
    }

    /// None if it is not known, as in a saved scan without details: no inode has the number 0.
    fn inode(self, stat: &Stat, mount: u64, links: Option<u32>) -> Option<Inode> {
        let is_dated = self.inodes == Inodes::DatedDirectories && stat.is_directory();
        // A time that is not known is 0.
        let has_details = self.inodes == Inodes::All || is_dated && stat.modified != 0;
        (stat.inode != 0).then(|| Inode::new(stat, mount, links, has_details))
    }
}

impl Tally for Whole {
    type Part = Part;
    type Report = Tree;

    fn leaf(&self, part: &mut Part, entry: &Entry<'_>) {
        let Entry { name, stat, size, mount, .. } = *entry;
        let links = entry.identity.map(|_| entry.links);
        // The walk may look through all mounts alike.
        let mount = entry.identity.map_or(mount, |(mount, _)| mount);
        let inode = match self.inodes {
            Inodes::None => None,
            Inodes::All => self.inode(stat, mount, links),
            _ => links.and_then(|_| self.inode(stat, mount, links)),
        };
        part.leaves.push(&Leaf { name, mode: stat.mode, size, inode });
    }

    fn merge(&self, part: &mut Part, mut other: Part) {
        part.leaves.append(other.leaves);
        part.branches.append(&mut other.branches);
    }

    fn close(&self, parent: &mut Part, directory: &Closed<'_>, part: Part) {
        parent.branches.push(self.tree(directory, part, self.inodes >= Inodes::Directories));
    }

    /// The root's inode is kept with any other: what is on the same file system can then be told
    /// by the number alone.
    fn finish(&self, root: &Closed<'_>, part: Part) -> Tree {
        self.tree(root, part, self.inodes != Inodes::None)
    }
}
