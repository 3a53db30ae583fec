//! Following symlinks: every directory is entered once, whatever leads to it. What tells directories apart is their inode
//! and their location: where numbers collide, as they may in FUSE and on network file systems, one of two directories
//! with the same number would be missing.
//!
//! The way in must not depend on timing. On one mount, names alone lead to each directory in one way, so these ways
//! come first. A symlink or a mount may lead to a directory that can be reached in another way, too. So symlinks and
//! mounts wait, and keep their directory from closing, until everything that can be reached without them is weighed.
//! Then they are taken one after the other, sorted by path, each with everything that it leads to: first the mounts,
//! and symlinks only when no mount is left.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use super::Walk;
use super::dir::Dir;
use super::lock;
use super::task::settle;
use crate::base::inode::Identity;
use crate::sys::problem::Problem;
use crate::tree::tally::Tally;

/// What the walk found while it follows symlinks.
#[derive(Debug, Default)]
pub(super) struct Follows<P> {
    /// Guards all of it; no system call is made under it.
    met: Mutex<Followed<P>>,
}

#[derive(Debug, Default)]
struct Followed<P> {
    /// The directories that were entered, and where the first one with each number is, if that is known.
    entered: HashMap<Identity, Option<u64>>,
    /// Where others with the same number are.
    others: HashSet<(Identity, u64)>,
    waiting: Vec<Waiting<P>>,
    /// Those whose turn it is, the next one last.
    turn: Vec<Waiting<P>>,
}

/// How a directory is reached from the one that contains it, in the order in which ways are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Via {
    /// By its name.
    Name,
    /// By a mount.
    Mount,
    /// By a symlink.
    Symlink,
}

/// A mount or a symlink that waits for its turn.
#[derive(Debug)]
struct Waiting<P> {
    way: Via,
    path: Vec<u8>,
    /// The directory that it leads to, as a child of the directory that contains the link.
    target: Arc<Dir<P>>,
}

impl<P: Default + Send> Follows<P> {
    /// Notes that the directory `identity` is entered, at the location with this hash if that is known. False if it was
    /// entered before.
    pub(super) fn enter(&self, identity: Identity, location: Option<u64>) -> bool {
        let Followed { entered, others, .. } = &mut *lock(&self.met);
        match entered.entry(identity) {
            Entry::Vacant(vacant) => {
                vacant.insert(location);
                true
            }
            Entry::Occupied(first) => match location.zip(*first.get()) {
                Some((location, first)) if location != first => others.insert((identity, location)),
                _ => false,
            },
        }
    }

    /// Keeps a directory, to which a symlink or a mount leads, until its turn.
    pub(super) fn wait(&self, target: Arc<Dir<P>>, way: Via) {
        let link = Waiting { way, path: target.path(), target };
        lock(&self.met).waiting.push(link);
    }

    /// The next link. The others stay here, so that the walk can give them up.
    fn next(&self) -> Option<Waiting<P>> {
        let mut met = lock(&self.met);
        if met.turn.is_empty() {
            let way = met.waiting.iter().map(|link| link.way).min()?;
            met.turn = met.waiting.extract_if(.., |link| link.way == way).collect();
            met.turn.sort_unstable_by(|one, two| two.path.cmp(&one.path));
        }
        met.turn.pop()
    }

    /// Weighs the targets of waiting links, and those of the links found there. Called when nothing else is being
    /// weighed.
    pub(super) fn walk<T: Tally<Part = P>>(&self, walk: &Walk<T>) {
        while let Some(Waiting { path, target, .. }) = self.next() {
            let identity = target.stat.identity();
            let Some(dir) = target.parent.clone() else { continue };
            if walk.is_within(&dir, identity, &path, target.mount.id) {
                walk.record(Problem::cycle(path));
                settle(walk, dir, None);
            } else if self.enter(identity, target.location) {
                walk.weigh_below(target);
            } else {
                settle(walk, dir, None);
            }
        }
    }

    /// Gives up the waiting links.
    pub(super) fn give_up<T: Tally<Part = P>>(&self, walk: &Walk<T>) {
        while let Some(link) = self.next() {
            if let Some(dir) = link.target.parent.clone() {
                settle(walk, dir, None);
            }
        }
    }
}
