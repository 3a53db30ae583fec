//! The `.weigh` format (docs/format.md): a tree as it is in memory, parents first, in blocks that are compressed each
//! by itself, with an index at the end.
//!
//! * `blocks`: the sections of a file, whatever is in them.
//! * `pieces`: what is in a block: the listings of directories.
//! * `listings`: those that a picture shows, or a directory, by the index.
//! * `changed`: those that differ from what is in memory.
//! * `write`: a tree to blocks, on several threads; `read`: all blocks, from front to back, into a tally.

pub mod blocks;
mod changed;
mod listings;
pub mod pieces;
mod read;
mod write;

pub use changed::Digested;
pub use listings::SavedListings;
pub(super) use read::{digested, listings, read};
pub use write::write;
