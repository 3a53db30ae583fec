//! Following symlinks: every directory is entered once, whatever leads to it.
//!
//! Which way in is taken must not depend on timing. So directories found where they really are
//! come first; the links to directories wait, and hold their own directory open for business, until
//! everything that can be reached without them is weighed. Then they are taken one after the other,
//! sorted by path, each with all that it leads to.

use std::collections::HashSet;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Walk;
use super::dir::Dir;
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
    waiting: Vec<Link<P>>,
}

/// A symlink to a directory.
#[derive(Debug)]
struct Link<P> {
    path: Vec<u8>,
    /// The directory it leads to, in the one that the link is in.
    target: Arc<Dir<P>>,
}

impl<P> Default for Follows<P> {
    fn default() -> Self {
        Self { met: Mutex::new(Met { entered: HashSet::new(), waiting: Vec::new() }) }
    }
}

impl<P: Default + Send> Follows<P> {
    /// Notes that the directory `identity` is entered.
    pub(super) fn enter(&self, identity: Identity) -> bool {
        self.met().entered.insert(identity)
    }

    /// Keeps a directory, to which a symlink was followed, for when its turn comes.
    pub(super) fn wait(&self, target: Arc<Dir<P>>) {
        let path = target.path();
        self.met().waiting.push(Link { path, target });
    }

    /// Weighs what the waiting links lead to, and what the links found there lead to. Called when
    /// nothing else is on its way.
    pub(super) fn walk<T: Tally<Part = P>>(&self, walk: &Walk<T>) {
        loop {
            let mut links = mem::take(&mut self.met().waiting);
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
        let links = mem::take(&mut self.met().waiting);
        for dir in links.into_iter().filter_map(|link| link.target.parent.clone()) {
            settle(walk, dir);
        }
    }

    fn met(&self) -> MutexGuard<'_, Met<P>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
