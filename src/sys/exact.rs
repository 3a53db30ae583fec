//! What is asked of an entry before it is moved or removed: more than a walk asks, and to the nanosecond.

use super::Stat;

/// Seconds since the epoch, and nanoseconds of a second.
pub type Moment = (i64, u32);

/// All that tells an inode from another that comes to have its name, or its number.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactStat {
    /// What a walk would know, with times.
    pub stat: Stat,
    /// Through which mount it is seen; 0 where the system does not tell.
    pub mount: u64,
    /// When it was made; zeros where the file system does not tell.
    pub born: Moment,
    /// When it was last written to.
    pub modified: Moment,
    /// When it was last written to, renamed, linked, or changed in owner or mode.
    pub changed: Moment,
    /// Whether nothing can be done to it (chattr(1), `i`).
    pub is_immutable: bool,
    /// Whether it can only grow (chattr(1), `a`).
    pub is_append_only: bool,
}

impl ExactStat {
    /// Whether `other` is this inode, and of what is no directory also with the same content, as far as length and
    /// time of writing tell. A move changes neither, but it changes when the inode was last `changed`.
    pub fn is_same(&self, other: &Self) -> bool {
        let inode = |it: &Self| (it.mount, it.stat.identity(), it.stat.mode.file_type(), it.born);
        let content = |it: &Self| (it.stat.length, it.modified);
        inode(self) == inode(other) && (self.is_directory() || content(self) == content(other))
    }

    /// Whether nothing at all has been done to it since `earlier`, as far as it is no directory: what is done in one
    /// changes its times.
    pub fn is_untouched_since(&self, earlier: &Self) -> bool {
        self.is_same(earlier) && (self.is_directory() || self.changed == earlier.changed)
    }

    /// Whether this is a directory.
    pub fn is_directory(&self) -> bool {
        self.stat.is_directory()
    }

    /// Whether only the owner of an entry of this directory may remove it (sticky(7), in inode(7)).
    pub fn is_sticky(&self) -> bool {
        self.stat.mode.0 & 0o1000 != 0
    }
}
