//! A line of the list, with everything that it shows.

use std::borrow::Cow;

use super::sorting::SortKey;
use weigh::internal::base::inode::Links;
use weigh::internal::base::measure::{Kind, Mode};
use weigh::internal::tree::{Child, Inode, Place, Totals};

/// An entry; or a group, a cause of --df, or an entry that is gone, which have no place in the tree.
#[derive(Clone, Debug, Default)]
pub struct Item<'a> {
    /// Its name, as bytes.
    pub name: Cow<'a, [u8]>,
    /// What else is known of it, in a few words.
    pub note: Cow<'a, str>,
    /// File type and permissions.
    pub mode: Mode,
    /// Its totals; of an open directory, so far.
    pub totals: Totals,
    /// A directory's own weight, if it counts itself.
    pub own: Option<u64>,
    /// Its inode, if the scan keeps it.
    pub inode: Option<Inode>,
    /// Its place in the tree.
    pub place: Option<Place>,
    /// Whether it is a directory that is still open, so that its totals may grow.
    pub is_open: bool,
    /// What it was in the earlier snapshot, if it is gone.
    pub gone: Option<u64>,
}

impl<'a> Item<'a> {
    /// The item of `child` in the tree.
    pub fn of(child: &Child<'a>) -> Self {
        let node = child.node();
        Self {
            name: node.name.into(),
            note: node.note.into(),
            mode: node.mode,
            totals: node.sums.seen_as(child.view()),
            own: child.own(),
            inode: node.inode,
            place: child.place(),
            ..Self::default()
        }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.mode.kind() == Kind::Directory
    }

    /// The names that lead to its inode.
    pub fn links(&self) -> Links {
        self.inode.map_or(Links::Alone, |inode| inode.links)
    }

    /// How much removing it alone would free at most, judging by its link count.
    pub fn freed(&self) -> u64 {
        self.totals.freed(self.is_directory(), self.links())
    }

    /// Its sort key: larger keys come first.
    pub(super) fn number(&self, key: SortKey) -> (i128, u64) {
        let number = match key {
            SortKey::Size | SortKey::Change => self.totals.size.into(),
            SortKey::Name => 0,
            SortKey::Count => self.totals.entries.into(),
            SortKey::Modified => self.totals.newest.map_or(i128::MIN, i128::from),
        };
        (number, if key == SortKey::Name { 0 } else { self.totals.size })
    }
}
