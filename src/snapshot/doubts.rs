//! What a comparison of two snapshots cannot tell. If something was not read on one side, it may be neither new nor
//! gone.
//!
//! The names of the machines do not matter, because a container has another name each time.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use super::{GivenRoot, Snapshot};
use crate::problem::Problem;
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

/// The doubts about a comparison of `now` with `before`.
pub fn doubts(before: &Snapshot, now: &Snapshot) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let (was, is) = (Roots::of(before), Roots::of(now));
    if !was.may_be(&is) {
        doubts.push(Doubt::OtherRoots(was.shown(), is.shown()));
    }
    let (unread_before, unread_now) = (losses(before), losses(now));
    let only = |these: &[(&[u8], &[u8])], others: &[(&[u8], &[u8])]| {
        let others: HashSet<_> = others.iter().map(|(below, _)| *below).collect();
        let only = these.iter().filter(|(below, _)| !others.contains(below));
        only.map(|(_, path)| path.to_vec()).collect::<Vec<_>>()
    };
    let only_before = only(&unread_before, &unread_now);
    let only_now = only(&unread_now, &unread_before);
    let unread = [Doubt::UnreadBefore(only_before), Doubt::UnreadNow(only_now)];
    doubts.extend(unread.into_iter().filter(|doubt| !doubt.paths().is_empty()));
    let interrupted = [
        (before.weighed.is_interrupted, Doubt::InterruptedBefore),
        (now.weighed.is_interrupted, Doubt::InterruptedNow),
    ];
    doubts.extend(interrupted.into_iter().filter(|(is_so, _)| *is_so).map(|(_, doubt)| doubt));
    doubts
}

impl Doubt {
    /// The paths that the doubt is about.
    fn paths(&self) -> &[Vec<u8>] {
        match self {
            Doubt::UnreadBefore(paths) | Doubt::UnreadNow(paths) => paths,
            _ => &[],
        }
    }
}

/// The paths that were not read: relative to the root, and in full. The name of a single root may differ between
/// snapshots. Several roots are compared by their names.
fn losses(snapshot: &Snapshot) -> Vec<(&[u8], &[u8])> {
    let root = snapshot.weighed.report.as_ref().map_or(&[][..], |tree| tree.root().name());
    // A root that does not exist has nothing to read.
    let is_unread = |problem: &&Problem| problem.is_loss() && problem.symbol() != "ENOENT";
    let losses = snapshot.weighed.problems.iter().filter(is_unread);
    let below = |problem: &'_ Problem| -> usize {
        let rest = problem.path.strip_prefix(root).unwrap_or(&problem.path);
        problem.path.len() - rest.iter().skip_while(|byte| **byte == b'/').count()
    };
    losses.map(|problem| (&problem.path[below(problem)..], &problem.path[..])).collect()
}

/// The roots of a snapshot, as far as they are known.
#[derive(Default)]
struct Roots<'a> {
    /// Their real paths.
    places: BTreeSet<Cow<'a, Path>>,
    /// Their names.
    names: BTreeSet<Cow<'a, Path>>,
}

impl<'a> Roots<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        let given = snapshot.origin.as_ref().map_or(&[][..], |origin| &origin.roots);
        let places = outermost(given.iter().map(GivenRoot::place).collect());
        let roots = snapshot.weighed.report.iter().flat_map(Tree::roots);
        let names = roots.map(|root| sys::to_path(root.name())).collect();
        Self { places, names: outermost(names) }
    }

    /// Whether they may be the same. If a snapshot does not contain real paths, only absolute names can tell.
    fn may_be(&self, others: &Self) -> bool {
        if !self.places.is_empty() && !others.places.is_empty() {
            return self.places == others.places;
        }
        let are_known = |roots: &Self| {
            !roots.names.is_empty() && roots.names.iter().all(|name| name.is_absolute())
        };
        let is_any = |one: &BTreeSet<_>| *one == others.places || *one == others.names;
        is_any(&self.names)
            || self.places == others.names && !self.places.is_empty()
            || self.places.is_empty() && !are_known(self)
            || others.places.is_empty() && !are_known(others)
    }

    fn shown(&self) -> Vec<Vec<u8>> {
        let shown = if self.places.is_empty() { &self.names } else { &self.places };
        shown.iter().map(|path| path.as_os_str().as_encoded_bytes().to_vec()).collect()
    }
}

/// Leaves out paths inside others, which add nothing.
fn outermost(paths: BTreeSet<Cow<'_, Path>>) -> BTreeSet<Cow<'_, Path>> {
    let mut outermost = BTreeSet::new();
    // In sorted order, a path inside another comes after it.
    let mut last: Option<Cow<'_, Path>> = None;
    for path in paths {
        if last.as_ref().is_none_or(|last| !path.starts_with(last)) {
            last = Some(path.clone());
            outermost.insert(path);
        }
    }
    outermost
}
