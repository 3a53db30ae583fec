//! What is looked at follows what was removed, so that every figure is what a fresh scan would say.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::browser::Scan;
use super::marks::{NamedMarks, descend};
use crate::path;
use crate::sys::Identity;
use crate::total::{Rules, add_up_all};
use crate::tree::{Child, DirectoryId, Place, Tree};

/// What has happened to a scan.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// The names of what is gone, by the way to the directory that it was in.
    pub(super) names: BTreeMap<Vec<Vec<u8>>, BTreeSet<Vec<u8>>>,
    /// Whether its inodes have lost links: not if it has been moved away.
    pub(super) are_unlinked: bool,
    /// What directories weigh themselves now.
    pub(super) own: Vec<(Vec<Vec<u8>>, u64)>,
}

impl Gone {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.own.is_empty()
    }

    fn contains(&self, way: &[Vec<u8>], name: &[u8]) -> bool {
        self.names.get(way).is_some_and(|names| names.contains(name))
    }
}

impl Scan {
    /// Takes out what is `gone`, and adds up anew by `rules`. Returns what was marked and is still there, to be marked
    /// again.
    pub(super) fn follow(&mut self, gone: &Gone, rules: &Rules) -> NamedMarks {
        let mut named = self.marks.named(&self.tree);
        named.retain(|way, name| !gone.contains(way, name));
        let mut places: BTreeSet<Place> = BTreeSet::new();
        let mut paths = Vec::new();
        for (way, names) in &gone.names {
            let Some(directory) = descend(&self.tree, way) else { continue };
            let of_them = |child: &Child<'_>| names.contains(child.name());
            for child in directory.unsorted().filter(of_them) {
                places.extend(child.place());
                if child.id().is_some() {
                    paths.push(child.path());
                }
            }
        }
        let lost = if gone.are_unlinked { self.links_at(&places) } else { HashMap::new() };
        self.tree.remove_all(&places);
        let relinked = if lost.is_empty() { Vec::new() } else { self.tree.unlink(&lost, None) };
        for (way, own) in &gone.own {
            if let Some(id) = descend(&self.tree, way).and_then(|directory| directory.id()) {
                self.tree.set_own(id, *own);
            }
        }
        let ways: HashSet<&Vec<Vec<u8>>> =
            gone.names.keys().chain(gone.own.iter().map(|(way, _)| way)).collect();
        let changed: Vec<_> =
            ways.iter().filter_map(|way| descend(&self.tree, way)?.id()).chain(relinked).collect();
        add_up_all(&mut self.tree, rules, changed);
        let is_below = |path: &[u8], above: &Vec<u8>| {
            let rest = path.strip_prefix(&**above);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let problems = &mut self.browsed.snapshot.weighed.problems;
        problems.retain(|problem| !paths.iter().any(|path| is_below(&problem.path, path)));
        named
    }

    /// Puts `new` where the directory `old` is, and adds up anew by `rules`. If what is not there any more has lost
    /// links, their inodes have, wherever the others are.
    pub(super) fn replace(
        &mut self,
        old: DirectoryId,
        new: Tree,
        rules: &Rules,
        are_unlinked: bool,
    ) {
        let mut lost = match are_unlinked {
            true => self.links_at(&BTreeSet::from([old.into()])),
            false => HashMap::new(),
        };
        let place = self.tree.replace(old, new, |above| above.totals);
        if !lost.is_empty() {
            for (inode, left) in self.links_at(&BTreeSet::from([place.into()])) {
                lost.entry(inode).and_modify(|links| *links = links.saturating_sub(left));
            }
            lost.retain(|_, links| *links > 0);
        }
        let relinked = match lost.is_empty() {
            true => Vec::new(),
            false => self.tree.unlink(&lost, Some(place)),
        };
        add_up_all(&mut self.tree, rules, relinked.into_iter().chain([place]));
    }

    /// How many links of which inodes are at `places`.
    fn links_at(&self, places: &BTreeSet<Place>) -> HashMap<Identity, u32> {
        let mut lost = HashMap::new();
        let mut leaf = |leaf: Child<'_>| {
            if let Some(inode) = leaf.inode().filter(|inode| inode.links.is_some()) {
                *lost.entry(inode.identity.1).or_default() += 1;
            }
        };
        for place in places {
            let child = self.tree.at(*place);
            match child.id() {
                None => leaf(child),
                Some(id) => {
                    let within = self.tree.directories_within(id);
                    within.flat_map(Child::leaves).for_each(&mut leaf);
                }
            }
        }
        lost
    }

    /// The way to the innermost directory that was scanned on the way to the absolute `path`, where `roots` has what
    /// each root really is, by its name.
    pub(super) fn way_to(
        &self,
        path: &[u8],
        roots: &HashMap<Vec<u8>, Vec<u8>>,
    ) -> Option<Vec<Vec<u8>>> {
        roots.iter().find_map(|(name, real)| {
            let mut slashed = real.clone();
            path::join(&mut slashed, b"");
            let rest = if path == real { b"" } else { path.strip_prefix(&*slashed)? };
            let mut way = if self.tree.is_above_roots() { vec![name.clone()] } else { Vec::new() };
            let mut at = descend(&self.tree, &way)?;
            for name in rest.split(|byte| *byte == b'/') {
                let Some(below) = at.directories().find(|child| child.name() == name) else {
                    break;
                };
                way.push(name.to_vec());
                at = below;
            }
            Some(way)
        })
    }
}
