//! Shared by all layers: measures, times, paths, limits. Nothing here knows a file system.

pub mod bounds;
pub mod escape;
pub mod inode;
pub mod interrupt;
pub mod invalid;
pub mod measure;
pub mod parallel;
pub mod path;
pub mod when;
