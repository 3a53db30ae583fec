//! Which parts of a file share their space with others, as the file system maps them (FIEMAP). Only on Linux: on
//! other systems weigh never knows what is shared.

/// What a file has besides the extents that it may share, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    /// What nobody shares: deleting the file frees at least that.
    pub own: u64,
    /// What may be shared, and has no place of its own: content inside the file system's metadata.
    pub unplaced: u64,
}
