//! Deletes marked entries, or moves them into the trash. Nobody can undo a delete, so in doubt it refuses and says why.
//!
//! What happens to each [`Target`]:
//!
//! 1. It opens the target's directory by names, from a held directory of the same mount. It follows no symlink and
//!    enters no other mount. The directory must be the one that was scanned.
//! 2. It looks at the target, which must be what was scanned and what the review showed.
//! 3. It writes to the log where the target goes. Then it makes a private directory beside the target, and moves the
//!    target into it without replacing anything. No other program reaches the target by its old path.
//! 4. It looks again. If this is something else, it puts it back. If not, it removes it. In a directory, it moves,
//!    looks at, and removes one scanned entry after the other. It names new entries, and puts back what is left.
//! 5. It writes the result to the log.
//!
//! An inode number is no identity, because file systems use it again. The scan keeps a fingerprint of the inode, its
//! birth, length and times; the review keeps them exactly, in nanoseconds. Between looking at a name and removing it,
//! another file may get that name, as when a program writes a file again. A move takes whatever has the name, and no
//! other program expects it at its new path. The price is one more system call for each entry.
//!
//! A full file system has no room for a private directory. There, entries get a random name in their own directory.
//! Other file systems, such as NFS, have no move that never replaces. There, an entry gets its new name by a link, which
//! never replaces either, and then loses the old one.
//!
//! * `consent`: to how many entries somebody has agreed. `target`: the targets, and how to find them. `held`: their
//!   directories, held open. `protected`: entries that are never removed. `outcome`: the result, and the reasons why
//!   entries are kept.
//! * `aside`: the rule of 3 and 4 for one entry. Everything that is moved is moved by it.
//! * `run`: the targets one by one, and the effect of each on other links. `private`: the private directory beside a
//!   target. `below`: the content of a directory.
//! * `trash`: the freedesktop trash on the same mount. `log`: a line before each target, and one after; and the
//!   directories of the user.
//!
//! Nothing recurses, and the number of open directories is bounded. Errors do not stop it. It can be cancelled between
//! two system calls, and then puts back what it has moved.

mod aside;
mod below;
mod consent;
mod held;
mod log;
mod outcome;
mod private;
mod protected;
mod run;
mod target;
mod trash;

pub use aside::ASIDE;
pub use consent::Consent;
pub use log::UserDirectories;
pub use outcome::{Fate, RemovalEvent, RemovalStep, Removed, TargetOutcome};
pub use protected::{ProtectedLocations, ProtectedPaths, Refusal};
pub use run::{Manner, remove, undo};
pub use target::{KnownEntry, Target, look, targets};
pub use trash::{INFO, OwnTrash, Trashed, trashes_around};
