//! Following symlinks: every directory is entered once, whatever leads to it.
//!
//! Which way in is taken must not depend on timing. On one mount there is a single way to each directory
//! by names alone, so these come first. A symlink or a mount may lead to a directory that something else
//! leads to as well. These wait, and keep their directory from closing until everything that can
//! be reached without them is weighed. Then they are taken one after the other, sorted by path, each with
//! all that it leads to: the mounts first, and symlinks when there is no mount left.

use std::collections::HashSet;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};

use super::Walk;
use super::dir::Dir;
use super::lock;
use super::task::settle;
use crate::problem::Problem;
use crate::sys::Identity;
use crate::tally::Tally;

/// What following has met.
#[derive(Debug)]
pub(super) struct Follows<P> {
    /// Guards both sets; no system call is made under it.
    met: Mutex<Met<P>>,
}

#[derive(Debug)]
struct Met<P> {
    entered: HashSet<Identity>,
    mounts: Vec<Link<P>>,
    symlinks: Vec<Link<P>>,
}

/// How a directory is come to from the one that it is found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is what the name says.
    Name,
    /// It is mounted there.
    Mount,
    /// A symlink leads to it.
    Symlink,
}

/// A mount or a symlink that waits for its turn.
#[derive(Debug)]
struct Link<P> {
    path: Vec<u8>,
    /// The directory it leads to, in the one that the link is in.
    target: Arc<Dir<P>>,
}

impl<P> Default for Follows<P> {
    fn default() -> Self {
        let (mounts, symlinks) = (Vec::new(), Vec::new());
        Self { met: Mutex::new(Met { entered: HashSet::new(), mounts, symlinks }) }
    }
}

impl<P: Default + Send> Follows<P> {
    /// Notes that the directory `identity` is entered.
    pub(super) fn enter(&self, identity: Identity) -> bool {
        self.met().entered.insert(identity)
    }

    /// Keeps a directory, to which a symlink or a mount leads, for when its turn comes.
    pub(super) fn wait(&self, target: Arc<Dir<P>>, way: Way) {
        let link = Link { path: target.path(), target };
        let mut met = self.met();
        if way == Way::Mount { met.mounts.push(link) } else { met.symlinks.push(link) }
    }

    /// The links whose turn it is.
    fn next(&self) -> Vec<Link<P>> {
        let mut met = self.met();
        if met.mounts.is_empty() {
            mem::take(&mut met.symlinks)
        } else {
            mem::take(&mut met.mounts)
        }
    }

    /// Weighs what the waiting links lead to, and what the links found there lead to. Called when
    /// nothing else is on its way.
    pub(super) fn walk<T: Tally<Part = P>>(&self, walk: &Walk<T>) {
        loop {
            let mut links = self.next();
            if links.is_empty() {
                return;
            }
            links.sort_unstable_by(|one, two| one.path.cmp(&two.path));
            for Link { path, target } in links {
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
    }

    /// Leaves the waiting links alone.
    pub(super) fn give_up<T: Tally<Part = P>>(&self, walk: &Walk<T>) {
        for links in [self.next(), self.next()] {
            for dir in links.into_iter().filter_map(|link| link.target.parent.clone()) {
                settle(walk, dir);
            }
        }
    }

    fn met(&self) -> MutexGuard<'_, Met<P>> {
        lock(&self.met)
    }
}
