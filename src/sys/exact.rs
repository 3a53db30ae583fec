//! The attributes of an entry before it is moved or removed: more than a walk asks for, with times in nanoseconds.

use super::Stat;
use crate::base::inode::Identity;

/// Seconds since the epoch, and nanoseconds of a second.
pub type Moment = (i64, u32);

/// Everything that tells an inode from another that gets its name or its number.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactStat {
    /// The attributes that a walk asks for, with times.
    pub stat: Stat,
    /// The ID of its mount; 0 if the system does not tell.
    pub mount: u64,
    /// When it was made; zeros if the file system does not tell.
    pub born: Moment,
    /// When it was last written to.
    pub modified: Moment,
    /// When it was last written to, renamed, linked, or changed in owner or mode.
    pub changed: Moment,
    /// Whether it is immutable (chattr(1), `i`).
    pub is_immutable: bool,
    /// Whether it is append-only (chattr(1), `a`).
    pub is_append_only: bool,
}

impl ExactStat {
    /// Whether `other` is the same inode and, unless it is a directory, has the same content, as far as its length and
    /// its time of writing tell. A move keeps both, but sets `changed`.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same_content =
            (self.stat.length, self.modified) == (other.stat.length, other.modified);
        self.is_same_inode(other) && (self.is_directory() || is_same_content)
    }

    /// Whether `other` is the same inode.
    pub fn is_same_inode(&self, other: &Self) -> bool {
        self.inode() == other.inode()
    }

    fn inode(&self) -> (u64, Identity, u16, Moment) {
        (self.mount, self.stat.identity(), self.stat.mode.file_type(), self.born)
    }

    /// Whether it has not changed at all since `earlier`. A directory only has to be the same inode, because changes of
    /// its content change its times.
    pub fn is_untouched_since(&self, earlier: &Self) -> bool {
        self.is_same(earlier) && (self.is_directory() || self.changed == earlier.changed)
    }

    /// Whether this is a directory.
    pub fn is_directory(&self) -> bool {
        self.stat.is_directory()
    }

    /// Whether only owners may remove entries of this directory (the sticky bit, inode(7)).
    pub fn is_sticky(&self) -> bool {
        self.stat.mode.0 & 0o1000 != 0
    }
}
