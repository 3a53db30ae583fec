//! What deleting a node frees, and what a walk remembers for that.

use super::Sums;

/// Smaller files are not asked what they share. In a home directory, 3.6% of the files have this size or more, with 78%
/// of the bytes.
pub const LEAST_ASKED: u64 = 64 << 10;

/// The most shared extents that one walk remembers: they take up to 40 MiB. If there are more, only directories with at
/// most [`FEW_EXTENTS`] keep theirs.
pub const MOST_EXTENTS: u64 = 1 << 20;

/// So many shared extents of a directory are always remembered.
pub const FEW_EXTENTS: u64 = 1 << 13;

/// What deleting a node frees, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freeable {
    /// At least this: space that no other file uses, of inodes all of whose links are in the node.
    pub least: u64,
    /// At most this: the same with shared space, every byte once.
    pub most: u64,
    /// How many shared extents the files in it have; [`Freeable::TOO_MANY`] if they were not remembered. Then `most` is
    /// its size, without inodes that have links elsewhere.
    pub extents: u64,
}

impl Freeable {
    /// More extents than are remembered.
    pub const TOO_MANY: u64 = u64::MAX;

    /// Whether bytes that files share count once in `most`.
    pub fn is_exact(&self) -> bool {
        self.extents != Self::TOO_MANY
    }

    /// What snapshots have of it, for a node of this `size` on disk: no more than that.
    pub fn saved(self, size: u64) -> Self {
        let most = self.most.min(size);
        let extents = if self.is_exact() { 0 } else { Self::TOO_MANY };
        Self { least: self.least.min(most), most, extents }
    }

    /// The same for a node with these `sums`, without the extents of large directories if its tree `has_too_many`.
    /// Whether the walk kept them depends on timing. The result must not.
    pub(crate) fn settled(self, sums: &Sums, has_too_many: impl FnOnce() -> bool) -> Self {
        if self.extents <= FEW_EXTENTS || !has_too_many() {
            return self;
        }
        let most = sums.all.disk.saturating_sub(sums.shared.disk);
        Self { most, extents: Self::TOO_MANY, ..self }
    }
}
