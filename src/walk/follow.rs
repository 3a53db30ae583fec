//! Following symlinks: every directory is entered once, whatever leads to it.
//!
//! Which way in is taken must not depend on timing. On one mount there is a single way to each directory
//! by names alone, so these come first. A symlink or a mount may lead to a directory that something else
//! leads to as well. These wait, and keep their directory from closing until everything that can
//! be reached without them is weighed. Then they are taken one after the other, sorted by path, each with
//! all that it leads to: the mounts first, and symlinks when there is no mount left.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};

use super::Walk;
use super::dir::Dir;
use super::lock;
use super::task::settle;
use crate::problem::Problem;
use crate::sys::Identity;
use crate::tally::Tally;

/// What following has met.
#[derive(Debug, Default)]
pub(super) struct Follows<P> {
    /// Guards all of it; no system call is made under it.
    met: Mutex<Followed<P>>,
}

#[derive(Debug, Default)]
struct Followed<P> {
    entered: HashSet<Identity>,
    waiting: Vec<Waiting<P>>,
    /// Those whose turn it is, the next one last.
    turn: Vec<Waiting<P>>,
}

/// How a directory is come to from the one that it is found in; the ways that are taken first come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Via {
    /// It is what the name says.
    Name,
    /// It is mounted there.
    Mount,
    /// A symlink leads to it.
    Symlink,
}

/// A mount or a symlink that waits for its turn.
#[derive(Debug)]
struct Waiting<P> {
    way: Via,
    path: Vec<u8>,
    /// The directory it leads to, in the one that the link is in.
    target: Arc<Dir<P>>,
}

impl<P: Default + Send> Follows<P> {
    /// Notes that the directory `identity` is entered.
    pub(super) fn enter(&self, identity: Identity) -> bool {
        self.met().entered.insert(identity)
    }

    /// Keeps a directory, to which a symlink or a mount leads, for when its turn comes.
    pub(super) fn wait(&self, target: Arc<Dir<P>>, way: Via) {
        let link = Waiting { way, path: target.path(), target };
        self.met().waiting.push(link);
    }

    /// The next link. The others stay here, for whoever gives up on this one.
    fn next(&self) -> Option<Waiting<P>> {
        let mut met = self.met();
        if met.turn.is_empty() {
            let way = met.waiting.iter().map(|link| link.way).min()?;
            met.turn = met.waiting.extract_if(.., |link| link.way == way).collect();
            met.turn.sort_unstable_by(|one, two| two.path.cmp(&one.path));
        }
        met.turn.pop()
    }

    /// Weighs what the waiting links lead to, and what the links found there lead to. Called when
    /// nothing else is on its way.
    pub(super) fn walk<T: Tally<Part = P>>(&self, walk: &Walk<T>) {
        while let Some(Waiting { path, target, .. }) = self.next() {
            let identity = target.stat.identity();
            let Some(dir) = target.parent.clone() else { continue };
            if dir.is_within(identity) {
                walk.record(Problem::cycle(path));
                settle(walk, dir);
            } else if self.enter(identity) {
                walk.weigh_below(target);
            } else {
                settle(walk, dir);
            }
        }
    }

    /// Leaves the waiting links alone.
    pub(super) fn give_up<T: Tally<Part = P>>(&self, walk: &Walk<T>) {
        while let Some(link) = self.next() {
            if let Some(dir) = link.target.parent.clone() {
                settle(walk, dir);
            }
        }
    }

    fn met(&self) -> MutexGuard<'_, Followed<P>> {
        lock(&self.met)
    }
}
