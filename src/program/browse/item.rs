//! An entry of the current directory, with everything that its line shows.

use std::borrow::Cow;

use super::marks::Identification;
use super::sorting::SortKey;
use weigh::internal::inode::Links;
use weigh::internal::measure::{Kind, Mode};
use weigh::internal::tree::{Child, Details, Place, Totals};

/// An entry of the current directory.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// Its name, as bytes.
    pub name: Cow<'a, [u8]>,
    /// File type and permissions.
    pub mode: Mode,
    /// Its totals; of an open directory, so far.
    pub totals: Totals,
    /// A directory's own weight, if it counts itself.
    pub own: Option<u64>,
    /// The names that lead to its inode.
    pub links: Links,
    /// Its times and owner, if the scan keeps them.
    pub details: Option<Details>,
    /// Whether it is a directory that is still open, so that its totals may grow.
    pub is_open: bool,
    /// Tells it from another entry of the same name.
    pub identification: Option<Identification>,
    /// Its place in the tree, once the tree is complete.
    pub place: Option<Place>,
}

impl<'a> Item<'a> {
    /// The item of `child` in the tree.
    pub fn of(child: &Child<'a>) -> Self {
        let node = child.node();
        Self {
            name: Cow::Borrowed(node.name),
            mode: node.mode,
            totals: node.sums.seen_as(child.view()),
            own: child.own(),
            links: node.inode.map_or(Links::Alone, |inode| inode.links),
            details: node.inode.and_then(|inode| inode.details),
            is_open: false,
            identification: Some(Identification::of(child)),
            place: child.place(),
        }
    }

    /// The item of a child that is not in the tree yet.
    pub(super) fn into_owned(self) -> Item<'static> {
        Item { name: Cow::Owned(self.name.into_owned()), ..self }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.mode.kind() == Kind::Directory
    }

    /// How much removing it alone would free at most, judging by its link count.
    pub fn freed(&self) -> u64 {
        match (self.is_directory(), self.links) {
            (true, _) => self.totals.size.saturating_sub(self.totals.shared),
            (false, Links::Alone | Links::Of(1)) => self.totals.size,
            (false, _) => 0,
        }
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
