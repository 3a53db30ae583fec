//! Schema 1, weigh's own JSON, which `-j` and `--save` write and `--load` reads: one object, the root node with the
//! header beside it. In a snapshot, the header says where it comes from, and nodes have all that is needed to draw
//! every picture from it.

mod header;
mod read;
mod write;

use crate::measure::{Figures, Kind};
pub(super) use header::Header;
pub use header::{end, head, list};
pub(super) use read::read;
pub use write::{ExportOptions, begin, change, write};

/// The newest schema that can be read, and the one that is written.
const SCHEMA: u64 = 1;

/// The figures that a node of this kind usually has: a snapshot writes only others. A directory usually has as many
/// inodes as `entries`.
fn usual(kind: Kind, entries: u64) -> Figures {
    match kind {
        Kind::Directory => Figures { inodes: entries, ..Figures::default() },
        kind => Figures::counts_of(kind),
    }
}
