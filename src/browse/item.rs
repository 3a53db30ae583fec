//! An entry of the directory looked at, with all that its line shows.

use std::borrow::Cow;

use super::marks::Identification;
use super::sorting::SortKey;
use crate::measure::{Kind, Mode, weight_of_time};
use crate::tree::{Child, Details, Place, Totals};

/// An entry of the directory looked at.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// Its name, as bytes.
    pub name: Cow<'a, [u8]>,
    /// File type and permissions.
    pub mode: Mode,
    /// What it comes to; so far, of a directory that is open.
    pub totals: Totals,
    /// A directory's own weight, if it counts itself.
    pub own: Option<u64>,
    /// How many links its inode has, if there may be several; `u32::MAX` if more lead to it than it knows.
    pub links: Option<u32>,
    /// Its times and owner, if they are kept.
    pub details: Option<Details>,
    /// Whether it is a directory that is still open: more may come.
    pub is_open: bool,
    /// What tells it from another of its name.
    pub identification: Option<Identification>,
    /// Where it is in the tree, once that is whole.
    pub place: Option<Place>,
}

impl<'a> Item<'a> {
    /// What the tree says of `child`.
    pub fn of(child: &Child<'a>) -> Self {
        let node = child.node();
        let totals = if child.id().is_some() { node.totals } else { Totals::of(child.size()) };
        Self {
            name: Cow::Borrowed(node.name),
            mode: node.mode,
            totals,
            own: node.own,
            links: node.inode.and_then(|inode| inode.links),
            details: node.inode.and_then(|inode| inode.details),
            is_open: false,
            identification: Some(Identification::of(child)),
            place: child.place(),
        }
    }

    /// The same, beside the tree.
    pub(super) fn into_owned(self) -> Item<'static> {
        Item { name: Cow::Owned(self.name.into_owned()), ..self }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.mode.kind() == Kind::Directory
    }

    /// What removing it alone would give back, as far as links tell.
    pub fn freed(&self) -> u64 {
        match (self.is_directory(), self.links) {
            (true, _) => self.totals.size.saturating_sub(self.totals.shared),
            (false, Some(links)) if links != 1 => 0,
            (false, _) => self.totals.size,
        }
    }

    /// What it is sorted by: the larger, the earlier.
    pub(super) fn number(&self, key: SortKey) -> (u64, u64) {
        let number = match key {
            SortKey::Size | SortKey::Change => self.totals.size,
            SortKey::Name => 0,
            SortKey::Count => self.totals.entries,
            SortKey::Modified => self.details.map_or(0, |details| weight_of_time(details.modified)),
        };
        (number, if key == SortKey::Name { 0 } else { self.totals.size })
    }
}
