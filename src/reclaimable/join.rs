//! One line for all that a rule finds in a directory with nothing else in it: a repository of Maven has a directory for
//! each version of each artifact.

use std::collections::BTreeMap;

use super::rule::is_at;
use super::{Finder, Reclaim};
use crate::git::WorkTrees;
use crate::tree::{Child, Tree};

/// Directories further below the place that a rule names stay apart: each join looks at all below it.
const MOST_LEVELS: usize = 32;

impl Finder<'_> {
    /// What is found, with directories in place of all that is in them, where rules join them.
    pub(super) fn joined(
        &self,
        tree: &Tree,
        work_trees: &mut WorkTrees,
        found: Vec<Reclaim>,
    ) -> Vec<Reclaim> {
        let mut joined = Vec::new();
        // By the number of names on their paths: the deepest are joined first.
        let mut levels: BTreeMap<usize, Vec<Reclaim>> = BTreeMap::new();
        for one in found {
            let depth = one.path.iter().filter(|byte| **byte == b'/').count();
            levels.entry(depth).or_default().push(one);
        }
        while let Some((depth, level)) = levels.pop_last() {
            let mut directories: BTreeMap<_, Vec<Reclaim>> = BTreeMap::new();
            for one in level {
                let child = tree.at(one.place);
                let may_join = !one.rule.join.is_empty() && !child.is_root();
                let parent = if may_join { child.parent() } else { None };
                let Some(id) = parent.and_then(|parent| parent.id()) else {
                    joined.push(one);
                    continue;
                };
                directories.entry((id, one.rule.name.clone())).or_default().push(one);
            }
            for ((id, _), inside) in directories {
                match self.in_place_of(work_trees, tree.directory(id), &inside) {
                    Some(one) => levels.entry(depth.saturating_sub(1)).or_default().push(one),
                    None => joined.extend(inside),
                }
            }
        }
        joined
    }

    /// The directory in place of what was found `inside`, if that is all that is in it.
    fn in_place_of(
        &self,
        work_trees: &mut WorkTrees,
        directory: Child<'_>,
        inside: &[Reclaim],
    ) -> Option<Reclaim> {
        let rule = &inside.first()?.rule;
        let names: Vec<_> = self.names(directory).collect();
        let mut levels = 0..names.len().min(MOST_LEVELS);
        let is_joined = levels.any(|i| is_at(&rule.join, names.iter().skip(i).copied()));
        let is_all = directory.directories().count() == inside.len();
        if is_joined && is_all { self.reclaim(work_trees, rule, directory) } else { None }
    }
}
