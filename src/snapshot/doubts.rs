//! What a comparison of two snapshots cannot tell. If something was not read on one side, it may be neither new nor
//! gone.
//!
//! The names of the machines do not matter, because a container has another name each time.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use super::{GivenRoot, Snapshot};
use crate::sys;
use crate::tree::Tree;

/// Why an apparent change may be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The snapshots are of different roots: these before, and these now.
    OtherRoots(Vec<Vec<u8>>, Vec<Vec<u8>>),
    /// Paths that the earlier snapshot could not read, and this one could. What is new there may have been there
    /// before.
    UnreadBefore(Vec<Vec<u8>>),
    /// Paths that this snapshot could not read, and the earlier one could. What is gone there may still be there.
    UnreadNow(Vec<Vec<u8>>),
    /// The earlier snapshot was interrupted.
    InterruptedBefore,
    /// This snapshot was interrupted.
    InterruptedNow,
}

impl Doubt {
    /// Whether it is that something was not read, on either side.
    pub fn is_loss(&self) -> bool {
        use Doubt::{InterruptedBefore, InterruptedNow, UnreadBefore, UnreadNow};
        matches!(self, UnreadBefore(_) | UnreadNow(_) | InterruptedBefore | InterruptedNow)
    }
}

/// The doubts about a comparison of `now` with `before`.
pub fn doubts(before: &Snapshot, now: &Snapshot) -> Vec<Doubt> {
    let (was, is) = (Roots::of(before), Roots::of(now));
    let (unread_before, unread_now) = (losses(before), losses(now));
    let only_before = only(&unread_before, &unread_now);
    let only_now = only(&unread_now, &unread_before);
    let doubts = [
        (!was.may_be(&is), Doubt::OtherRoots(was.shown(), is.shown())),
        (!only_before.is_empty(), Doubt::UnreadBefore(only_before)),
        (!only_now.is_empty(), Doubt::UnreadNow(only_now)),
        (before.weighed.is_interrupted, Doubt::InterruptedBefore),
        (now.weighed.is_interrupted, Doubt::InterruptedNow),
    ];
    doubts.into_iter().filter(|(holds, _)| *holds).map(|(_, doubt)| doubt).collect()
}

/// The paths that were not read: each relative to the root, and in full. The name of a single root may differ between
/// snapshots. Several roots are compared by their names.
fn losses(snapshot: &Snapshot) -> Vec<(&[u8], &[u8])> {
    let root = snapshot.weighed.report.as_ref().map_or(&[][..], |tree| tree.root().name());
    let mut losses = Vec::new();
    for problem in &snapshot.weighed.problems {
        // A root that does not exist has nothing to read.
        if problem.is_loss() && problem.symbol() != "ENOENT" {
            let mut below = problem.path.strip_prefix(root).unwrap_or(&problem.path);
            while let Some(rest) = below.strip_prefix(b"/") {
                below = rest;
            }
            losses.push((below, &*problem.path));
        }
    }
    losses
}

/// The paths of `these` losses that are not among the others.
fn only(these: &[(&[u8], &[u8])], others: &[(&[u8], &[u8])]) -> Vec<Vec<u8>> {
    let others: HashSet<_> = others.iter().map(|(below, _)| below).collect();
    let only = these.iter().filter(|(below, _)| !others.contains(below));
    only.map(|(_, path)| path.to_vec()).collect()
}

/// The roots of a snapshot, as far as they are known, without those inside others, which add nothing.
struct Roots<'a> {
    /// Their real paths.
    places: Vec<Cow<'a, Path>>,
    /// Their names.
    names: Vec<Cow<'a, Path>>,
}

impl<'a> Roots<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        let given = snapshot.origin.as_ref().map_or(&[][..], |origin| &origin.roots);
        let roots = snapshot.weighed.report.iter().flat_map(Tree::roots);
        Self {
            places: outermost(given.iter().map(GivenRoot::place).collect()),
            names: outermost(roots.map(|root| sys::to_path(root.name())).collect()),
        }
    }

    /// Whether they may be the same. If a snapshot does not contain real paths, only absolute names can tell.
    fn may_be(&self, others: &Self) -> bool {
        if !self.places.is_empty() && !others.places.is_empty() {
            return self.places == others.places;
        }
        self.names == others.places
            || self.names == others.names
            || self.places == others.names && !self.places.is_empty()
            || !self.are_known()
            || !others.are_known()
    }

    fn are_known(&self) -> bool {
        !self.places.is_empty()
            || !self.names.is_empty() && self.names.iter().all(|name| name.is_absolute())
    }

    fn shown(&self) -> Vec<Vec<u8>> {
        let shown = if self.places.is_empty() { &self.names } else { &self.places };
        shown.iter().map(|path| path.as_os_str().as_encoded_bytes().to_vec()).collect()
    }
}

/// Sorts `paths`, and leaves out those inside others: in this order, a path inside another comes after it.
fn outermost(mut paths: Vec<Cow<'_, Path>>) -> Vec<Cow<'_, Path>> {
    paths.sort_unstable();
    paths.dedup_by(|path, before| path.starts_with(before));
    paths
}
