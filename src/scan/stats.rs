//! What a walk did, with each number of threads, and what it could not do. The walk measures it, and render shows it.

use std::time::Duration;

use crate::scan::containers::ContainersFound;

/// What a walk did.
#[derive(Clone, Debug, Default)]
pub struct WalkStats {
    /// What was done with each number of threads, in the order of their first use; empty if no thread could be
    /// started.
    pub stages: Vec<Stage>,
    /// The roots that were walked although they were to be read in bulk.
    pub not_in_bulk: Vec<NotInBulk>,
    /// What the walk could not find out about shared space, with `--frees`.
    pub sharing: SharingStats,
    /// The overlays that it met some of whose layers it weighs, or may weigh.
    pub overlays: Vec<OverlayStats>,
    /// The directories that it met which may be in the storage of a container engine, by their paths.
    pub storages: Vec<Vec<u8>>,
    /// What is known of directories beside their names, by their paths: a few words that are safe to print; and the
    /// images and containers.
    pub known: ContainersFound,
    /// Whether everything comes to nothing because the file system reports no blocks.
    pub has_no_blocks: bool,
    /// Of several snapshots: whether they were saved in different measures.
    pub measures_differ: bool,
}

/// An overlay.
#[derive(Clone, Debug)]
pub struct OverlayStats {
    /// Its path: the root as given, and the names below it.
    pub path: Vec<u8>,
    /// If the walk did not enter it because it weighs all of its layers, the path of the topmost,
    /// from the directory with the mount point if it is near.
    pub layer: Option<Vec<u8>>,
}

/// What a walk could not find out about shared space, with `--frees`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharingStats {
    /// The files that were not asked because they are small.
    pub small: Unasked,
    /// The files that could not be asked.
    pub unknown: Unasked,
    /// Whether there were more extents than are remembered.
    pub has_too_many_extents: bool,
}

/// Files of which it is not known what they share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unasked {
    /// How many.
    pub files: u64,
    /// What they take on disk, in bytes.
    pub bytes: u64,
}

/// A root that was walked although it was to be read in bulk.
#[derive(Clone, Debug)]
pub struct NotInBulk {
    /// The root, as given.
    pub root: Vec<u8>,
    /// The reason, in one line.
    pub reason: String,
}

/// What was done in one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// The largest number of threads at work.
    pub threads: usize,
    /// The time it lasted.
    pub wall: Duration,
    /// CPU time of all threads of the process.
    pub cpu: Duration,
    /// Entries weighed.
    pub entries: u64,
    /// System calls made to list and examine them.
    pub calls: u64,
    /// The bytes of a prefetch; 0 during the walk.
    pub prefetched: u64,
    /// The bytes of inodes that were read in bulk before the walk; 0 during the walk.
    pub bulk: u64,
}

impl Stage {
    /// Whether it is part of the walk.
    pub fn is_walk(&self) -> bool {
        self.prefetched == 0 && self.bulk == 0
    }
}
