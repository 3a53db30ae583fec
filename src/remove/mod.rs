//! Deletes what is marked, or puts it in the trash. What cannot be undone is refused where there is a doubt, and the
//! reason is said.
//!
//! The way of each [`Target`]:
//!
//! 1. The directory it lies in is come to by names, from a directory of its mount that is held ([`HeldMount`]): by no
//!    symlink, and onto no other mount. It has to be the directory that was scanned.
//! 2. The target is looked at: it has to be what was scanned, and what the review showed.
//! 3. A line in the log says where it goes; then it is moved into a private directory made beside it, on the same
//!    file system, replacing nothing. Nobody else comes there by the old name.
//! 4. It is looked at again. If it is something else, it is put back. Otherwise it is removed; of a directory, what was
//!    scanned in it, an entry at a time, each moved and looked at again before it is removed. What is new is named,
//!    and what is left of the directory is put back.
//! 5. A line in the log says what came of it.
//!
//! An inode number alone identifies nothing, for file systems use it anew. What was scanned has a fingerprint of the
//! inode, its birth, length and times; the review keeps all of them, to the nanosecond. To look and then remove by
//! name leaves a moment in which another file may get that name: a program that writes a file anew does just that. A
//! move takes along whatever has the name, and what was moved can be looked at in peace. It costs one call more for
//! each entry.
//!
//! * `target`, `targets`, `held`: what is to go, and how it is found. `explain`: why something cannot be done.
//! * `run`: the targets, one after the other. `private`: the directory in which they are looked at again. `below`: what
//!   is in a directory.
//! * `trash`: by the freedesktop specification, on the same mount only. `log`: what was done, a line before and after.
//!
//! Nothing recurses, and a bounded number of directories is open at a time. Errors do not stop it. It can be
//! cancelled between two calls; then what was moved is put back.

mod below;
mod explain;
mod held;
mod log;
mod outcome;
mod private;
mod run;
mod target;
mod targets;
mod trash;

pub use held::HeldMount;
pub use log::Places;
pub use outcome::{Fate, RemovalEvent, RemovalStep, Removed, TargetOutcome};
pub use run::{Manner, remove, undo};
pub use target::{KnownEntry, Target, look};
pub use targets::targets;
pub use trash::Trashed;
