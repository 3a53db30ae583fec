//! Trees that no scan of this run found: saved, listed by other programs, or sent by other machines.

pub mod list;
pub mod remote;
pub mod series;
pub mod snapshot;
