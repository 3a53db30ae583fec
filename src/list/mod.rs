//! Lists: what other programs say of entries, in any order, made into a tree.
//!
//! * `entries`: the entries of a list, from whatever reads one, fed to a tally as in a walk.
//! * `sorted`: sorts them in bounded memory.
//! * `find`: reads what GNU find prints.

mod entries;
mod find;
mod sorted;

pub use entries::{Duplicates, Entries, ListOptions};
pub use find::{FIND_FORMAT, read_find};
