//! Following symlinks: every directory is entered once, whatever leads to it.
//!
//! Which way in is taken must not depend on timing. So directories found where they really are
//! come first; the links to directories wait, and hold their own directory open for business, until
//! everything that can be reached without them is weighed. Then they are taken one after the other,
//! sorted by path, each with all that it leads to.

use std::collections::HashSet;
use std::ffi::CStr;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::dir::Dir;
use super::{Walk, visit};
use crate::problem::Problem;
use crate::sys::{Identity, Stat, Symlinks};
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
    dir: Arc<Dir<P>>,
    name: Box<CStr>,
    target: Stat,
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

    /// Whether the directory called `name` in `dir` is to be entered now. If a symlink was followed
    /// to it, that waits.
    pub(super) fn admit(
        &self,
        dir: &Arc<Dir<P>>,
        name: &CStr,
        stat: &Stat,
        symlinks: Symlinks,
    ) -> bool {
        if symlinks == Symlinks::Stay {
            return self.enter(stat.identity());
        }
        let path = dir.path_of(name);
        dir.hand_out();
        let (dir, name) = (Arc::clone(dir), name.into());
        self.met().waiting.push(Link { path, dir, name, target: *stat });
        false
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
            for Link { path, dir, name, target } in links {
                let identity = target.identity();
                if dir.is_within(identity) {
                    walk.record(Problem::cycle(path));
                    visit::settle(walk, dir);
                } else if self.enter(identity) {
                    let below = Arc::new(Dir::below(dir, name, target, 0));
                    rayon::scope(|scope| visit::directory(walk, scope, below, None));
                } else {
                    visit::settle(walk, dir);
                }
            }
        }
    }

    fn met(&self) -> MutexGuard<'_, Met<P>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
