//! Scans file systems.

pub mod containers;
pub mod filter;
pub mod stats;
pub mod walk;
