//! Scans file systems: the walk, the filters that decide what counts, and the storages of containers.

pub mod containers;
pub mod filter;
pub mod stats;
pub mod walk;
